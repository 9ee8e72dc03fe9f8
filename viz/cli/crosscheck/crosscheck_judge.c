#include "viz/cli/crosscheck/crosscheck_judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/pool.h"
#include "sim/algorithms/shipped.h"
#include "sim/base/quote.h"
#include "viz/request/description.h"

#define WRITES_LITTLE_BYTES 1e7 /* twice what sim/l2/l2_run.c takes for little, as elements have two bytes or four */

Status judge_open(Judge *j, const Request *r, Error *error) {
  *j = (Judge){.request = r};
  return description_gpu(*r->gpu ? r->gpu : JUDGE_DEFAULT_GPU, &j->gpu, error);
}

void judge_close(Judge *j) { free(j->jobs); }

Status judge_find_profile(Judge *j, const char *name, Error *error) {
  if (!strcmp(j->profile.name, name)) return STATUS_OK;
  j->profile.name[0] = '\0';
  return description_kernel(name, &j->profile, error);
}

/* How the kernel of the judge's profile is launched, with what the request says otherwise. */
static Status launch_of(const Judge *j, const Shape *shape, LaunchConfig *launch, Error *error) {
  const Request *r = j->request;
  const Status status = profile_config(&j->profile, shape, launch, error);
  if (r->has_order) launch->order = r->order;
  if (r->has_walk) launch->walk = r->walk;
  if (r->ctas_per_sm) {
    launch->ctas_per_sm = r->ctas_per_sm;
    launch->threads = launch->registers_per_thread = launch->shared_bytes = 0;
  }
  return status;
}

/* Where a launch begins depends on how often it is run only if it writes little (sim/l2/l2_run.h): others are predicted
 * once for both. */
static bool begins_elsewhere(const Shape *s) {
  return (double)s->batch * (double)s->heads * (double)s->N_q * (double)s->d * 2 < WRITES_LITTLE_BYTES;
}

static PredictedRun run_of(const Judge *j, const Schedule *schedule, const Shape *shape, const Tiling *tiling,
                           const LaunchConfig *launch) {
  return (PredictedRun){.schedule = schedule,
                        .shape = *shape,
                        .tiling = *tiling,
                        .launch = *launch,
                        .gpu = &j->gpu,
                        .without = j->request->without,
                        .in_step = j->request->in_step,
                        .skew_turns = j->request->skew_turns,
                        .placement = j->placement,
                        .once = j->once && begins_elsewhere(shape),
                        .draws = j->draws};
}

/* A run and its repeats are one job. NULL: no memory. */
static JudgeJob *job_of(Judge *j, const char *kernel, const PredictedRun *run) {
  for (JudgeJob *job = j->jobs; job < j->jobs + j->n_jobs; job++)
    if (!strcmp(job->kernel, kernel) && !memcmp(&job->run.shape, &run->shape, sizeof run->shape) &&
        job->run.tiling.B_r == run->tiling.B_r && job->run.tiling.B_c == run->tiling.B_c &&
        job->run.tiling.n_splits == run->tiling.n_splits && job->run.placement == run->placement &&
        job->run.once == run->once)
      return job;
  if (!pool_grow_array((void **)&j->jobs, &j->capacity, j->n_jobs + 1, sizeof *j->jobs)) return NULL;
  JudgeJob *job = &j->jobs[j->n_jobs++];
  *job = (JudgeJob){.run = *run};
  snprintf(job->kernel, JUDGE_NAME_BYTES, "%.*s", JUDGE_NAME_BYTES - 1, kernel);
  return job;
}

/* Of a sample one in so many. */
static void do_job(const Judge *j, JudgeJob *job) {
  if (job->done || (j->one_in > 1 && (size_t)(job - j->jobs) % j->one_in)) return;
  predict(&job->prediction, &job->run, &job->error);
  job->done = true;
}

void judge_collect(Judge *j, bool only_collects) {
  j->only_collects = only_collects;
  if (only_collects) return;
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < j->n_jobs; i++) do_job(j, &j->jobs[i]);
}

/* Predicts what a row counted, and adds it; while the judge only collects, nothing. */
static Status add_predicted(Crosscheck *c, Judge *j, const CounterRow *row, const Shape *shape, const Tiling *tiling,
                            const PredictedRun *run, bool explains, Error *error) {
  JudgeJob *job = job_of(j, row->kernel, run);
  if (!job) return error_set(error, STATUS_NO_MEMORY, "no memory for predictions");
  if (j->only_collects) return STATUS_OK;
  do_job(j, job);
  if (job->error.status) return error_set(error, job->error.status, "%s", job->error.message);
  Cause cause;
  Status status = STATUS_OK;
  if (explains && job->prediction.known[PREDICT_HBM_READ] &&
      counter_explain_background(row, job->prediction.value[PREDICT_HBM_READ], &cause))
    status = crosscheck_add_causes(c, row, shape, tiling, &cause, 1, error);
  return status ? status : crosscheck_add_predictions(c, row, shape, tiling, &job->prediction, error);
}

/* Split keys are another kernel's. The tile is the row's. */
static void become_split(LaunchConfig *launch, const Profile *profile, const Plan *plan) {
  const ProfileTile *tile = profile_tile(profile, plan->shape.d, plan->shape.causal);
  const Tiling *t = &plan->tiling;
  profile_become_split(profile, &plan->shape, t->n_splits, launch);
  launch->block_q = t->B_r;
  launch->block_k = t->B_c;
  if (tile->split_block_q != t->B_r || tile->split_block_k != t->B_c) launch->shared_bytes = 0;
  launch->spills.tile_bytes = !plan->shape.causal && plan->tiles_per_split > 1 ? tile->split_spill_tile_bytes : 0;
}

/* A kernel of someone else, as the judge's profile describes it, on a row with or without a shape of its own. */
Status judge_add_described(Crosscheck *c, Judge *j, const CounterRow *row, const Shape *shape, const Tiling *tiling,
                           Error *error) {
  c->context.n_sm = row->n_sm ? row->n_sm : j->gpu.n_sm;
  c->context.l2_bytes = j->gpu.l2_bytes;
  LaunchConfig launch;
  Launch launched;
  Plan plan;
  const bool is_split = tiling->n_splits > 1;
  const Schedule *schedule = is_split ? shipped_splitting() : j->profile.schedule;
  Tiling tiles = *tiling;
  tiles.lse = j->profile.lse || is_split;
  Overheads overheads = {0};
  Status status = launch_of(j, shape, &launch, error);
  launch.block_q = tiles.B_r;
  launch.block_k = tiles.B_c;
  launch.n_splits = tiles.n_splits;
  if (!status) status = plan_make(&plan, shape, &tiles, error);
  if (!status && is_split) become_split(&launch, &j->profile, &plan);
  if (!status) status = launch_make(&launched, shape, &launch, &j->gpu, error);
  if (!status) overheads = overheads_of(&launched, &plan);
  if (!status && (fabs(overheads.read_bytes) >= 0x1p62 || overheads.write_bytes >= 0x1p62))
    status = error_set(error, STATUS_TOO_LARGE, "the kernel would move 2^62 bytes or more: choose a smaller shape");
  if (status) return status;
  const KernelModel model = kernel_model_of_schedule(schedule->name, &overheads);
  status = crosscheck_add_row(c, row, &model, shape, &tiles, error);
  if (status || j->blind) return status;
  const PredictedRun run = run_of(j, schedule, shape, &tiles, &launch);
  return add_predicted(c, j, row, shape, &tiles, &run, c->explains, error);
}

/* Numbers of a description that nobody measured. */
static void say_assumed(Crosscheck *c, const Gpu *gpu) {
  int n_fields, n_assumed = 0, n_numbers = 0, n_measured = 0;
  const KeyfileField *fields = gpu_fields(&n_fields);
  char names[160] = "";
  for (int f = 0; f < n_fields; f++) {
    if (!gpu->notes[f].line || !keyfile_is_number(fields[f].kind)) continue;
    n_numbers++;
    n_measured += strstr(gpu->notes[f].source, "measured") != NULL;
    if (!gpu->notes[f].assumed) continue;
    if (n_assumed++ < 6)
      snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "", fields[f].name);
  }
  if (!strcmp(gpu->name, "h200") || !strcmp(gpu->name, "h100-sxm")) return; /* their counters are recorded */
  crosscheck_note(
      c,
      "No counters of %s were ever recorded: of its %d numbers %d are measured and %d assumed%s%s; the bands "
      "of predictions are those of an H200.",
      gpu->name, n_numbers, n_measured, n_assumed, n_assumed ? ": " : "", names);
}

Status judge_file(Crosscheck *c, Judge *j, const CounterTable *table, Error *error) {
  const CounterRow *row = NULL;
  for (size_t i = 0; i < table->n_rows && !row; i++)
    if (table->rows[i].capability || *table->rows[i].device) row = &table->rows[i];
  const char *candidates = "", *name = row ? launch_gpu(row, &candidates) : NULL;
  if (*j->request->gpu) {
    char capability[16];
    snprintf(capability, sizeof capability, "%d.%d", row ? row->capability / 10 : 0, row ? row->capability % 10 : 0);
    if (row && row->capability && strcmp(j->gpu.compute_capability, capability))
      crosscheck_note(c, "Warning: the file is of compute capability %s, but --gpu %s has %s.", capability, j->gpu.name,
                      j->gpu.compute_capability);
    say_assumed(c, &j->gpu);
    return STATUS_OK;
  }
  if (!row) return STATUS_OK;
  if (!name) {
    j->blind = true;
    crosscheck_note(
        c,
        "The file is of %s%s%scompute capability %d.%d, of which no GPU is described: bytes are judged, and "
        "nothing is predicted; --gpu FILE describes one.",
        row->device, *row->device ? ", " : "", "", row->capability / 10, row->capability % 10);
    return STATUS_OK;
  }
  const Status status = description_gpu(name, &j->gpu, error);
  if (status) return status;
  snprintf(c->gpu, sizeof c->gpu, "%s", name);
  if (*candidates)
    crosscheck_note(c, "Compute capability %d.%d: %s; taken for %s, --gpu says otherwise.", row->capability / 10,
                    row->capability % 10, candidates, name);
  else
    crosscheck_note(c, "GPU by the file: %s.", name);
  say_assumed(c, &j->gpu);
  return STATUS_OK;
}

/* A rung of the ladder is predicted where its profile describes the tile that it ran with. */
Status judge_rung(Crosscheck *c, Judge *j, const CounterRow *row, const KernelModel *model, Error *error) {
  LaunchConfig launch;
  Status status = crosscheck_add_row(c, row, model, &row->shape, &row->tiling, error);
  if (status || !j || j->blind || !strcmp(model->schedule, shipped_unfused()->name)) return status;
  Shape shape = row->shape;
  if (!model->skips_masked) shape.causal = false;
  status = judge_find_profile(j, row->kernel, error);
  if (!status) status = launch_of(j, &shape, &launch, error);
  if (status || launch.block_q != row->tiling.B_r || launch.block_k != row->tiling.B_c) return status;
  const PredictedRun run = run_of(j, j->profile.schedule, &shape, &row->tiling, &launch);
  return add_predicted(c, j, row, &row->shape, &row->tiling, &run, false, error);
}

Status judge_recorded(Crosscheck *c, Judge *j, const CounterRow *row, Error *error) {
  const Request *r = j->request;
  const KernelModel *model = kernel_model_find(row->kernel);
  if (model) return judge_rung(c, j, row, model, error);
  Error why = {0};
  const char *name = *r->kernel ? r->kernel : row->kernel;
  const Status status = judge_find_profile(j, name, &why);
  if (status && !*r->kernel)
    return error_set(error, STATUS_BAD_FILE,
                     "line %" PRId64
                     ": there is no kernel '%s' in the ladder or in assets/kernels; describe it with --kernel FILE",
                     row->line, quote_text(row->kernel).text);
  if (status) return error_set(error, status, "%s", why.message);
  return judge_add_described(c, j, row, &row->shape, &row->tiling, error);
}
