/* Lays the models beside rows: those of the ladder and of described kernels, then those of anybody's kernels, of which
 * file, launch and request say what they are. */
#include "viz/cli/crosscheck/crosscheck_judge.h"

#include <stdlib.h>

#include "sim/algorithms/shipped.h"
#include "sim/base/text_add.h"
#include "viz/request/description.h"

#define WRITES_LITTLE_BYTES 1e7 /* twice what sim/l2/l2_run.c takes for little, as elements have two bytes or four */

Status judge_open(Judge *j, const Request *r, Error *error) {
  *j = (Judge){.request = r};
  return description_gpu(*r->gpu ? r->gpu : JUDGE_DEFAULT_GPU, &j->gpu, error);
}

void judge_close(Judge *j) { free(j->jobs); }

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

/* Where a launch begins depends on how often it is run only if it writes little (sim/l2/l2_run.h): others are predicted
 * once for both. */
static bool begins_elsewhere(const Shape *s) {
  return (double)s->batch * (double)s->heads * (double)s->N_q * (double)s->d * 2 < WRITES_LITTLE_BYTES;
}

static Problem run_of(const Judge *j, const Shape *shape, const Tiling *tiling, const LaunchConfig *launch) {
  return (Problem){.shape = *shape,
                   .tiling = *tiling,
                   .launch = *launch,
                   .without = j->request->without,
                   .in_step = j->request->in_step,
                   .skew_turns = j->request->skew_turns,
                   .placement = j->placement,
                   .once = j->once && begins_elsewhere(shape)};
}

/* A run and its repeats are one job. NULL: no memory. */
static JudgeJob *job_of(Judge *j, const char *kernel, const Schedule *schedule, const Problem *run) {
  for (JudgeJob *job = j->jobs; job < j->jobs + j->n_jobs; job++)
    if (!strcmp(job->kernel, kernel) && !memcmp(&job->run.shape, &run->shape, sizeof run->shape) &&
        job->run.tiling.B_r == run->tiling.B_r && job->run.tiling.B_c == run->tiling.B_c &&
        job->run.tiling.n_splits == run->tiling.n_splits && job->run.placement == run->placement &&
        job->run.once == run->once)
      return job;
  if (!grow_array((void **)&j->jobs, &j->capacity, j->n_jobs + 1, sizeof *j->jobs)) return NULL;
  JudgeJob *job = &j->jobs[j->n_jobs++];
  *job = (JudgeJob){.run = *run, .schedule = schedule};
  snprintf(job->kernel, JUDGE_NAME_BYTES, "%.*s", JUDGE_NAME_BYTES - 1, kernel);
  return job;
}

/* Of a sample one in so many. */
static void do_job(const Judge *j, JudgeJob *job) {
  if (job->done || (j->one_in > 1 && (size_t)(job - j->jobs) % j->one_in)) return;
  predict(&job->prediction, &job->run, job->schedule, &j->gpu, j->draws, &job->error);
  job->done = true;
}

void judge_collect(Judge *j, bool only_collects) {
  j->only_collects = only_collects;
  if (only_collects) return;
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < j->n_jobs; i++) do_job(j, &j->jobs[i]);
}

/* Predicts what a row counted, and adds it; while the judge only collects, nothing. */
static Status add_predicted(Crosscheck *c, Judge *j, const CounterRow *row, const Shape *shape,
                            const Schedule *schedule, const Problem *run, bool explains, Error *error) {
  JudgeJob *job = job_of(j, row->kernel, schedule, run);
  if (!job) return error_no_memory(error, "for predictions");
  if (j->only_collects) return STATUS_OK;
  do_job(j, job);
  if (job->error.status) return error_pass(error, &job->error);
  Cause cause;
  Status status = STATUS_OK;
  if (explains && !isnan(job->prediction.value[PREDICT_HBM_READ]) &&
      counter_explain_background(row, job->prediction.value[PREDICT_HBM_READ], &cause))
    status = crosscheck_add_causes(c, row, shape, &run->tiling, &cause, 1, error);
  return status ? status : crosscheck_add_predictions(c, row, shape, &run->tiling, &job->prediction, error);
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
static Status add_described(Crosscheck *c, Judge *j, const CounterRow *row, const Shape *shape, const Tiling *tiling,
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
  const Problem run = run_of(j, shape, &tiles, &launch);
  return add_predicted(c, j, row, shape, schedule, &run, c->explains, error);
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
    if (n_assumed++ < 6) text_add(names, sizeof names, "%s%s", *names ? ", " : "", fields[f].name);
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
  const int is = row ? row->capability : 0;
  char capability[16];
  snprintf(capability, sizeof capability, "%d.%d", is / 10, is % 10);
  if (*j->request->gpu) {
    if (is && strcmp(j->gpu.compute_capability, capability))
      crosscheck_note(c, "Warning: the file is of compute capability %s, but --gpu %s has %s.", capability, j->gpu.name,
                      j->gpu.compute_capability);
  } else if (!row) {
    return STATUS_OK;
  } else if (!name) {
    j->blind = true;
    crosscheck_note(c,
                    "The file is of %s%scompute capability %s, of which no GPU is described: bytes are judged, and "
                    "nothing is predicted; --gpu FILE describes one.",
                    row->device, *row->device ? ", " : "", capability);
    return STATUS_OK;
  } else {
    if (description_gpu(name, &j->gpu, error)) return error->status;
    snprintf(c->gpu, sizeof c->gpu, "%s", name);
    if (*candidates)
      crosscheck_note(c, "Compute capability %s: %s; taken for %s, --gpu says otherwise.", capability, candidates,
                      name);
    else
      crosscheck_note(c, "GPU by the file: %s.", name);
  }
  say_assumed(c, &j->gpu);
  return STATUS_OK;
}

/* A rung of the ladder is predicted where its profile describes the tile that it ran with. */
Status judge_rung(Crosscheck *c, Judge *j, const CounterRow *row, const KernelModel *model, Error *error) {
  LaunchConfig launch;
  Status status = crosscheck_add_row(c, row, model, &row->shape, &row->tiling, error);
  if (status || !j || j->blind || !strcmp(model->schedule, shipped_unfused()->name)) return status;
  Shape shape = row->shape;
  if (model->walks_masked) shape.causal = false;
  status = find_profile(j, row->kernel, error);
  if (!status) status = launch_of(j, &shape, &launch, error);
  if (status || launch.block_q != row->tiling.B_r || launch.block_k != row->tiling.B_c) return status;
  const Problem run = run_of(j, &shape, &row->tiling, &launch);
  return add_predicted(c, j, row, &row->shape, j->profile.schedule, &run, false, error);
}

static Status recorded(Crosscheck *c, Judge *j, const CounterRow *row, Error *error) {
  const Request *r = j->request;
  const KernelModel *model = kernel_model_find(row->kernel);
  if (model) return judge_rung(c, j, row, model, error);
  Error why = {0};
  const char *name = *r->kernel ? r->kernel : row->kernel;
  const Status status = find_profile(j, name, &why);
  if (status && !*r->kernel)
    return error_set(
        error, STATUS_BAD_FILE,
        "line %jd: there is no kernel '%s' in the ladder or in assets/kernels; describe it with --kernel FILE",
        row->line, quote_text(row->kernel).text);
  if (status) return error_pass(error, &why);
  return add_described(c, j, row, &row->shape, &row->tiling, error);
}

/* ---- A run of someone else's kernels ---- */

enum { UNKNOWN_BLOCK = 64 };

static bool says_tiles(const Request *r) { return r->block || r->tiling.B_r || r->tiling.B_c; }

/* What the file says goes where the request says nothing. */
static void take_from_file(Crosscheck *c, Request *r, const LaunchFacts *f) {
  const bool own_shape = r->shape.N_q != 0;
  char taken[160] = "";
#define TAKE(...) text_add(taken, sizeof taken, __VA_ARGS__)
  if (!own_shape && f->shape.N_q && f->d && (f->is_even || f->shape.N_k)) {
    r->shape.N_q = f->shape.N_q;
    r->shape.N_k = f->shape.N_k;
    if (!r->shape.batch) r->shape.batch = f->shape.batch;
    if (!r->shape.heads) r->shape.heads = f->shape.heads;
    if (f->says_causal) r->shape.causal = f->causal;
    TAKE(" N = %jd, batch %jd, %jd heads,", r->shape.N_q, r->shape.batch, r->shape.heads);
    if (r->shape.causal) TAKE(" causal,");
  }
  if (!r->shape.d && f->d) {
    r->shape.d = f->d;
    TAKE(" d = %jd,", f->d);
  }
  if (f->says_dtype && r->shape.dtype == DTYPE_FP16 && f->dtype != DTYPE_FP16) {
    r->shape.dtype = f->dtype;
    TAKE(" %s,", dtype_name(f->dtype));
  }
  if (!says_tiles(r) && f->block_q) {
    r->tiling.B_r = f->block_q;
    r->tiling.B_c = f->block_k;
    TAKE(" tiles of %jd x %jd,", f->block_q, f->block_k);
  }
#undef TAKE
  if (!*taken) return;
  taken[strlen(taken) - 1] = '\0';
  crosscheck_note(c, "Taken from the kernel's name and grid:%s.", taken);
}

static void warn_causal(Crosscheck *c, const LaunchFacts *f, const Shape *shape) {
  if (f->says_causal && f->causal != shape->causal && shape->N_q > 1)
    crosscheck_note(c, f->causal ? "Warning: the kernel's name says causal; add --causal."
                                 : "Warning: the kernel's name says that it is not causal; leave out --causal.");
}

/* Options that the file contradicts. */
static void warn(Crosscheck *c, const Judge *j, const Request *r, const LaunchRun *run, const Shape *shape,
                 const Tiling *tiling) {
  const LaunchFacts *f = &run->facts;
  const CounterRow *row = &run->sum;
  if (f->d && f->d < shape->d)
    crosscheck_note(c, "Warning: the kernel was compiled for d = %jd, but d is %jd.", f->d, shape->d);
  if (f->block_q && (f->block_q != tiling->B_r || (f->block_k && f->block_k != tiling->B_c)))
    crosscheck_note(c, "Warning: the kernel's name has tiles of %jd x %jd, but %jd x %jd are asked for.", f->block_q,
                    f->block_k, tiling->B_r, tiling->B_c);
  warn_causal(c, f, shape);
  if (f->shape.N_q && tiling->B_r && f->block_q == tiling->B_r && shape->N_q > 1 &&
      ceil_div(shape->N_q, tiling->B_r) != row->grid[0])
    crosscheck_note(c, "Warning: the grid has %jd blocks of %jd rows, so N is from %jd to %jd, not %jd.", row->grid[0],
                    tiling->B_r, (row->grid[0] - 1) * tiling->B_r + 1, row->grid[0] * tiling->B_r, shape->N_q);
  const int64_t heads = shape->batch * shape->heads, by_grid = f->shape.batch * f->shape.heads;
  if (by_grid && shape->N_q > 1 && by_grid != heads)
    crosscheck_note(c, "Warning: the grid has %jd times %jd heads, but %jd x %jd are asked for.", f->shape.batch,
                    f->shape.heads, shape->batch, shape->heads);
  if (f->says_dtype && dtype_bytes(f->dtype) != dtype_bytes(shape->dtype) && f->role != LAUNCH_ROLE_OTHER)
    crosscheck_note(c, "Warning: the kernel's name says %s, but elements of %s are asked for.", dtype_name(f->dtype),
                    dtype_name(shape->dtype));
  if (*r->kernel && !strcmp(j->profile.name, r->kernel)) {
    const ProfileTile *tile = profile_tile(&j->profile, shape->d, shape->causal);
    if (tile && tile->shared_bytes && row->dynamic_shared_bytes && row->dynamic_shared_bytes != tile->shared_bytes)
      crosscheck_note(c, "Warning: the launch had %jd B of dynamic shared memory, but %s has %jd.",
                      row->dynamic_shared_bytes, j->profile.name, tile->shared_bytes);
  }
}

/* FlashAttention-2 puts the query heads of a group into the rows of one tile where there is one query. */
static bool is_packed(const LaunchRun *run, const Shape *shape) {
  const CounterRow *row = &run->sum;
  const int64_t own = shape->batch * shape->kv_heads, all = shape->batch * shape->heads;
  if (shape->N_q != 1 || shape->heads == shape->kv_heads) return false;
  const int64_t grid = run->facts.n_splits > 1 ? row->grid[2] : row->grid[1] * row->grid[2];
  return (run->facts.role == LAUNCH_ROLE_SPLIT || run->facts.role == LAUNCH_ROLE_FUSED) && grid == own && grid != all;
}

static Status choose_kernel(Crosscheck *c, Judge *j, Request *r, const LaunchRun *run, Error *error) {
  if (!*r->kernel && !r->n_algorithms && !says_tiles(r) && run->facts.description && run->sum.capability == 90) {
    snprintf(r->kernel, sizeof r->kernel, "%s", run->facts.description);
    crosscheck_note(c, "Taken for %s by its name; --kernel says otherwise.", r->kernel);
  }
  return *r->kernel ? find_profile(j, r->kernel, error) : STATUS_OK;
}

static bool has_bytes(const CounterRow *row) {
  static const Counter counters[] = {COUNTER_BOUNDARY_READ,    COUNTER_BOUNDARY_WRITE, COUNTER_L2_READ_SECTORS,
                                     COUNTER_L2_WRITE_SECTORS, COUNTER_HBM_READ,       COUNTER_HBM_WRITE,
                                     COUNTER_HBM_TOTAL,        COUNTER_COUNTED_READ};
  for (size_t i = 0; i < COUNT_OF(counters); i++)
    if (row->known[counters[i]]) return true;
  return false;
}

static const char *algorithm_of(const Request *r, const LaunchFacts *f) {
  if (r->n_algorithms) return r->algorithms[0]->name;
  if (f->role == LAUNCH_ROLE_SPLIT) return shipped_splitting()->name;
  return f->role == LAUNCH_ROLE_SOFTMAX ? shipped_unfused()->name : shipped_default()->name;
}

Status judge_run(Crosscheck *c, Judge *j, const LaunchRun *run, Error *error) {
  const CounterRow *row = &run->sum;
  const LaunchFacts *f = &run->facts;
  if (row->has_shape) return recorded(c, j, row, error);
  Request own = *j->request, *const r = &own;
  if (run->n_parts > 1) crosscheck_note(c, "One attention, added up: %s.", run->parts);
  if (choose_kernel(c, j, r, run, error)) return error->status;
  take_from_file(c, r, f);
  if (!r->shape.N_q || r->n_algorithms > 1)
    return error_refuse(
        error, "the file says nothing of shapes; give one with -N, -d, --heads, and --kernel, or --block-q and "
               "--block-k, and one --algorithm (default fa2)");
  Problem problem;
  CounterRow named = *row;
  launch_short_name(row->kernel, named.kernel, sizeof named.kernel);
  if (run->n_parts > 1 || !*named.kernel) memcpy(named.kernel, row->kernel, sizeof named.kernel);
  row = &named;
  if (!*r->kernel && !r->algorithm1_blocks && !says_tiles(r)) {
    r->block = UNKNOWN_BLOCK;
    if (f->role != LAUNCH_ROLE_SOFTMAX)
      crosscheck_note(c, "The file does not say the tile: taken as %d x %d; --block-q and --block-k give it.",
                      UNKNOWN_BLOCK, UNKNOWN_BLOCK);
  }
  if (request_problem(r, &problem, NULL, error)) return error->status;
  const Schedule *schedule = r->n_algorithms ? r->algorithms[0] : planner_algorithm(&problem);
  if (problem.kernel && planner_launch(&problem, schedule, error)) return error->status;
  Shape *shape = &problem.shape;
  Tiling *tiling = &problem.tiling;
  if (f->role == LAUNCH_ROLE_SPLIT && !j->request->tiling.n_splits) tiling->n_splits = max64(f->n_splits, 1);
  if (!*r->kernel && !r->n_algorithms && f->description && !strcmp(f->description, "fa2-sm90"))
    tiling->lse = true; /* FlashAttention-2 always writes it */
  warn(c, j, r, run, shape, tiling);
  if (!has_bytes(row))
    crosscheck_note(c,
                    "No counter of bytes is in the file; tilewalk crosscheck --help has the ncu command that records "
                    "all that is used.");
  c->context = (ExplainContext){.threads = row->block[0] * row->block[1] * row->block[2],
                                .n_sm = row->n_sm ? row->n_sm : j->gpu.n_sm,
                                .l2_bytes = j->gpu.l2_bytes};
  if (f->shape.N_q && f->is_even && f->shape.batch && f->shape.heads && !f->n_splits) {
    Shape *by_file = &c->context.by_file;
    *by_file = f->shape;
    by_file->N_k = f->shape.N_q;
    by_file->d = shape->d;
    by_file->dtype = shape->dtype;
    by_file->causal = f->says_causal ? f->causal : shape->causal;
  }
  if (is_packed(run, shape)) {
    const int64_t group = shape->heads / shape->kv_heads;
    crosscheck_note(c,
                    "The %jd query heads of a group are packed into the rows of one tile, as the grid shows: "
                    "each key is read once for them.",
                    group);
    c->context.packed_group = group;
    shape->N_q = group;
    shape->heads = shape->kv_heads;
    shape->causal = false;
  }
  const KernelModel model = kernel_model_of_schedule(algorithm_of(r, f), NULL);
  const Status status = *r->kernel ? add_described(c, j, row, shape, tiling, error)
                                   : crosscheck_add_row(c, row, &model, shape, tiling, error);
  c->context = (ExplainContext){0};
  return status;
}

/* Why a backward pass is not judged; NULL: it can be. */
static const char *why_no_backward(const Request *r, const LaunchRun *run, char text[96]) {
  const LaunchFacts *f = &run->facts;
  if (!strstr(run->parts, "flash_bwd"))
    return "its name does not say its tiles, and only FlashAttention-2's order of the backward pass is described";
  if (run->n_parts != 3)
    return "it is three launches (D = rowsum(dO O), the loop, dQ converted), and the file does not have one of each";
  if (!f->d || !f->block_q || !f->block_k) return "its name does not say its tiles";
  if (!r->shape.N_q) return "the file says nothing of shapes; give one with -N, --batch and --heads";
  if (r->shape.kv_heads && r->shape.kv_heads != r->shape.heads)
    return "with fewer KV heads dK and dV are written for every query head first, which is not described";
  if (r->shape.window) {
    snprintf(text, 96, "a window of %jd keys is not described for it", r->shape.window);
    return text;
  }
  return NULL;
}

/* FlashAttention-2's backward pass goes as kernels/ladder/fa2_backward.cu does: column blocks outside, dQ added to in
 * fp32 by atomics and converted at the end. Its writes are not held to 0.1 %: with 255 registers it spills some. */
Status judge_backward(Crosscheck *c, Judge *j, const LaunchRun *run, Error *error) {
  char text[96], read[64] = "";
  const CounterRow *row = &run->sum;
  const Counter by = row->known[COUNTER_BOUNDARY_READ] ? COUNTER_BOUNDARY_READ : COUNTER_HBM_READ;
  Request own = *j->request, *const r = &own;
  if (!r->shape.N_q) take_from_file(c, r, &run->facts);
  const char *why = why_no_backward(r, run, text);
  if (row->known[by])
    snprintf(read, sizeof read, ", %.3f GB %s", (double)row->value[by] * 1e-9,
             by == COUNTER_HBM_READ ? "read from HBM" : "read across the boundary");
  Shape shape = r->shape;
  const LaunchFacts *f = &run->facts;
  if (why) {
    crosscheck_note(c, "A backward pass, added up and not judged: %s%s; %s.", run->parts, read, why);
    return STATUS_OK;
  }
  crosscheck_note(c, "One backward pass, added up: %s%s; judged by the formulas of fa2_backward.", run->parts, read);
  warn_causal(c, f, &shape);
  if (!shape.d) shape.d = f->d;
  const Tiling tiling = {.B_r = f->block_q, .B_c = f->block_k};
  KernelModel model = *kernel_model_find("fa2_backward");
  model.spills = true;
  const bool explains = c->explains; /* the causes are those of forward passes */
  c->explains = false;
  Status status = shape_complete(&shape, error);
  if (!status) status = crosscheck_add_row(c, row, &model, &shape, &tiling, error);
  c->explains = explains;
  return status;
}
