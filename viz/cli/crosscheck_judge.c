#include "viz/cli/crosscheck_judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/request/description.h"

#define WRITES_LITTLE_BYTES 1e7 /* twice what sim/l2/l2_run.c takes for little, as elements have two bytes or four */

enum { NAME_BYTES = 128 };

/* A recorded run and its repeats are predicted once. */
typedef struct {
  char kernel[NAME_BYTES];
  PredictedRun run;
  bool done;
  Prediction prediction;
  Error error;
} Job;

struct Judge {
  const Request *request;
  Gpu gpu;
  Profile profile; /* the last one that was loaded */
  Job *jobs;
  size_t n_jobs, capacity;
  bool only_collects;
  Without without;
  const Placement *placement;
  bool once;
  uint32_t draws;
};

Status judge_open(Judge **judge, const Request *r, Without without, Error *error) {
  Judge *j = calloc(1, sizeof *j);
  *judge = j;
  if (!j) return error_set(error, STATUS_NO_MEMORY, "no memory for predictions");
  j->request = r;
  j->without = without;
  return description_gpu(*r->gpu ? r->gpu : JUDGE_DEFAULT_GPU, &j->gpu, error);
}

void judge_close(Judge *j) {
  if (j) free(j->jobs);
  free(j);
}

static Status find_profile(Judge *j, const char *name, Error *error) {
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

/* Where a launch begins hangs on how often it is run only if it writes little (sim/l2/l2_run.h): others are predicted
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
                        .without = j->without,
                        .in_step = j->request->in_step,
                        .skew_turns = j->request->skew_turns,
                        .placement = j->placement,
                        .once = j->once && begins_elsewhere(shape),
                        .draws = j->draws};
}

static Job *find_job(Judge *j, const char *kernel, const PredictedRun *run) {
  for (size_t i = 0; i < j->n_jobs; i++) {
    Job *job = &j->jobs[i];
    if (!strcmp(job->kernel, kernel) && !memcmp(&job->run.shape, &run->shape, sizeof run->shape) &&
        job->run.tiling.B_r == run->tiling.B_r && job->run.tiling.B_c == run->tiling.B_c &&
        job->run.tiling.n_splits == run->tiling.n_splits && job->run.placement == run->placement &&
        job->run.once == run->once)
      return job;
  }
  return NULL;
}

static Status add_job(Judge *j, const char *kernel, const PredictedRun *run, Job **job, Error *error) {
  if (j->n_jobs == j->capacity) {
    const size_t more = j->capacity ? 2 * j->capacity : 64;
    Job *jobs = realloc(j->jobs, more * sizeof *jobs);
    if (!jobs) return error_set(error, STATUS_NO_MEMORY, "no memory for predictions");
    j->jobs = jobs;
    j->capacity = more;
  }
  *job = &j->jobs[j->n_jobs++];
  **job = (Job){.run = *run};
  snprintf((*job)->kernel, NAME_BYTES, "%.*s", NAME_BYTES - 1, kernel);
  return STATUS_OK;
}

static void do_job(Job *job) {
  predict(&job->prediction, &job->run, &job->error);
  job->done = true;
}

/* The prediction of a run; while the judge only collects, none. */
static Status predicted(Judge *j, const char *kernel, const PredictedRun *run, Prediction *prediction, Error *error) {
  Job *job = find_job(j, kernel, run);
  *prediction = (Prediction){0};
  if (!job) {
    const Status status = add_job(j, kernel, run, &job, error);
    if (status) return status;
  }
  if (j->only_collects) return STATUS_OK;
  if (!job->done) do_job(job);
  if (job->error.status) return error_set(error, job->error.status, "%s", job->error.message);
  *prediction = job->prediction;
  return STATUS_OK;
}

void judge_card(Judge *j, const Placement *placement, bool once) {
  j->placement = placement == &PLACEMENT_H200 ? NULL : placement; /* as one that is not known is taken to be */
  j->once = once;
}

void judge_draws(Judge *j, uint32_t draws) { j->draws = draws; }

void judge_collect(Judge *j, bool only_collects) {
  j->only_collects = only_collects;
  if (only_collects) return;
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < j->n_jobs; i++)
    if (!j->jobs[i].done) do_job(&j->jobs[i]);
}

/* Split keys are another kernel's, of which a description says what it spills, and how much its steps vary. */
static void become_split(LaunchConfig *launch, const ProfileTile *tile, const Plan *plan) {
  launch->shared_bytes = launch->spill_block_bytes = launch->slot_spread_permille = 0;
  launch->alone_permille = launch->ahead_percent = launch->start_cycles = launch->busy_spread_cycles = 0;
  launch->step_spread_cycles = tile->split_step_spread_cycles;
  launch->spill_tile_bytes = !plan->shape.causal && plan->tiles_per_split > 1 ? tile->split_spill_tile_bytes : 0;
}

/* A kernel of someone else, as the judge's profile describes it, on a row with or without a shape of its own. */
static Status add_described(Crosscheck *c, Judge *j, const CounterRow *row, const Shape *shape, const Tiling *tiling,
                            Error *error) {
  LaunchConfig launch;
  Launch launched;
  Plan plan;
  const bool is_split = tiling->n_splits > 1;
  const Schedule *schedule = is_split ? schedule_find("fa2-split") : j->profile.schedule;
  Tiling tiles = *tiling;
  tiles.lse = j->profile.lse || is_split;
  Overheads overheads = {0};
  Status status = launch_of(j, shape, &launch, error);
  launch.block_q = tiles.B_r;
  launch.block_k = tiles.B_c;
  launch.n_splits = tiles.n_splits;
  if (status == STATUS_OK) status = plan_make(&plan, shape, &tiles, error);
  if (status == STATUS_OK && is_split) become_split(&launch, profile_tile(&j->profile, shape->d, shape->causal), &plan);
  if (status == STATUS_OK) status = launch_make(&launched, shape, &launch, &j->gpu, error);
  if (status == STATUS_OK) overheads = overheads_of(&launched, &plan);
  if (status == STATUS_OK && (fabs(overheads.read_bytes) >= 0x1p62 || overheads.write_bytes >= 0x1p62))
    status = error_set(error, STATUS_TOO_LARGE, "the kernel would move 2^62 bytes or more: choose a smaller shape");
  if (status) return status;
  const KernelModel model = kernel_model_of_schedule(schedule->name, &overheads);
  status = crosscheck_add_row(c, row, &model, shape, &tiles, error);
  if (status) return status;
  const PredictedRun run = run_of(j, schedule, shape, &tiles, &launch);
  Prediction prediction;
  status = predicted(j, row->kernel, &run, &prediction, error);
  return status ? status : crosscheck_add_predictions(c, row, shape, &tiles, &prediction, error);
}

static Status add_bare(Crosscheck *c, Judge *j, const CounterRow *row, Error *error) {
  const Request *r = j->request;
  if (!r->shape.N_q || r->n_algorithms > 1)
    return error_set(error, STATUS_BAD_REQUEST,
                     "the file says nothing of shapes; give one with -N, -d, --heads, and --kernel, or --block-q and "
                     "--block-k, and one --algorithm (default fa2)");
  Problem problem;
  Status status = request_problem(r, &problem, NULL, error);
  if (status) return status;
  if (*r->kernel) {
    status = find_profile(j, r->kernel, error);
    return status ? status : add_described(c, j, row, &problem.shape, &problem.tiling, error);
  }
  const KernelModel model = kernel_model_of_schedule(r->n_algorithms ? r->algorithms[0]->name : "fa2", NULL);
  return crosscheck_add_row(c, row, &model, &problem.shape, &problem.tiling, error);
}

/* A rung of the ladder is predicted where its profile describes the tile that it ran with. */
Status judge_rung(Crosscheck *c, Judge *j, const CounterRow *row, const KernelModel *model, Error *error) {
  LaunchConfig launch;
  Status status = crosscheck_add_row(c, row, model, &row->shape, &row->tiling, error);
  if (status || !j || !strncmp(model->schedule, "standard", 8)) return status;
  Shape shape = row->shape;
  if (!model->skips_masked) shape.causal = false;
  status = find_profile(j, row->kernel, error);
  if (status == STATUS_OK) status = launch_of(j, &shape, &launch, error);
  if (status || launch.block_q != row->tiling.B_r || launch.block_k != row->tiling.B_c) return status;
  const PredictedRun run = run_of(j, j->profile.schedule, &shape, &row->tiling, &launch);
  Prediction prediction;
  status = predicted(j, row->kernel, &run, &prediction, error);
  return status ? status : crosscheck_add_predictions(c, row, &row->shape, &row->tiling, &prediction, error);
}

static Status add_recorded(Crosscheck *c, Judge *j, const CounterRow *row, Error *error) {
  const Request *r = j->request;
  const KernelModel *model = kernel_model_find(row->kernel);
  if (model) return judge_rung(c, j, row, model, error);
  Error why = {0};
  const char *name = *r->kernel ? r->kernel : row->kernel;
  const Status status = find_profile(j, name, &why);
  if (status && !*r->kernel)
    return error_set(error, STATUS_BAD_FILE,
                     "line %" PRId64
                     ": there is no kernel '%s' in the ladder or in assets/kernels; describe it with --kernel FILE",
                     row->line, quote(row->kernel, strlen(row->kernel)).text);
  if (status) return error_set(error, status, "%s", why.message);
  return add_described(c, j, row, &row->shape, &row->tiling, error);
}

Status judge_row(Crosscheck *c, Judge *j, const CounterRow *row, Error *error) {
  return row->has_shape ? add_recorded(c, j, row, error) : add_bare(c, j, row, error);
}

Status judge_time(Judge *j, const char *kernel, const Shape *shape, double *seconds, Error *error) {
  Shape complete = *shape;
  LaunchConfig launch = {0};
  Prediction p;
  Status status = find_profile(j, kernel, error);
  if (status == STATUS_OK) status = shape_complete(&complete, error);
  if (status == STATUS_OK) status = launch_of(j, &complete, &launch, error);
  if (status) return status;
  const Tiling tiling = {.B_r = launch.block_q, .B_c = launch.block_k, .lse = j->profile.lse};
  const PredictedRun run = run_of(j, j->profile.schedule, &complete, &tiling, &launch);
  status = predict(&p, &run, error);
  if (status == STATUS_OK) *seconds = p.value[PREDICT_TIME];
  return status;
}
