#include "viz/cli/sweep/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/word_list.h"
#include "sim/planner.h"
#include "viz/request/description.h"
#include "viz/request/own.h"

/* Queries and keys grow together, unless the number of keys was given. */
static void set_N(Problem *p, int64_t value) {
  if (p->shape.N_k == p->shape.N_q) p->shape.N_k = value;
  p->shape.N_q = value;
}
static void set_keys(Problem *p, int64_t value) { p->shape.N_k = value; }
static void set_block(Problem *p, int64_t value) { p->tiling.B_r = p->tiling.B_c = value; }
static void set_block_q(Problem *p, int64_t value) { p->tiling.B_r = value; }
static void set_block_k(Problem *p, int64_t value) { p->tiling.B_c = value; }
static void set_sram(Problem *p, int64_t value) { p->machine.sram_bytes = value; }
static void set_l2(Problem *p, int64_t value) { p->machine.l2_bytes = value; }
static void set_skew(Problem *p, int64_t value) {
  p->in_step = true;
  p->skew_turns = value;
}
static void set_heads(Problem *p, int64_t value) {
  if (p->shape.kv_heads == p->shape.heads) p->shape.kv_heads = value;
  p->shape.heads = value;
}
static void set_d(Problem *p, int64_t value) {
  if (p->shape.d_v == p->shape.d) p->shape.d_v = value;
  p->shape.d = value;
}

/* In the same order. */
const char *const SWEEP_AXIS_NAMES[] = {"N",  "keys", "block", "block-q",  "block-k", "sram",
                                        "l2", "skew", "heads", "head-dim", "gpu",     NULL};
static const SweepAxis AXES[] = {
    {.title = "sequence length N, tokens",
     .subtitle = "parallel lines: at a fixed block size the ratio between algorithms settles",
     .kind = VALUE_TOKENS,
     .low = 256,
     .high = 65536,
     .set = set_N},
    {.title = "number of keys, tokens",
     .subtitle = "traffic grows in proportion to the keys",
     .kind = VALUE_TOKENS,
     .low = 256,
     .high = 65536,
     .set = set_keys,
     .key = "seq-len-k"},
    {.title = "block size B = B_r = B_c, rows",
     .subtitle = "twice the block, half the traffic, until the tiles no longer fit",
     .kind = VALUE_TOKENS,
     .low = 16,
     .high = 512,
     .set = set_block},
    {.title = "query block B_r, rows",
     .subtitle = "in FlashAttention-2 the query block alone decides the traffic",
     .kind = VALUE_TOKENS,
     .low = 16,
     .high = 512,
     .set = set_block_q},
    {.title = "key block B_c, rows",
     .subtitle = "in FlashAttention the key block decides the traffic",
     .kind = VALUE_TOKENS,
     .low = 16,
     .high = 512,
     .set = set_block_k},
    {.title = "SRAM for one CTA's tiles",
     .subtitle = "the largest block that fits, against what no algorithm beats",
     .kind = VALUE_BYTES,
     .low = 16 * 1024,
     .high = 1024 * 1024,
     .set = set_sram},
    {.title = "the size of L2, all partitions",
     .subtitle = "what all CTAs share stays in L2 until it grows too large",
     .kind = VALUE_BYTES,
     .low = 1 << 20,
     .high = 256 << 20,
     .set = set_l2,
     .behind_l2 = true},
    {.title = "tiles between the first CTA and the last",
     .subtitle = "how far apart CTAs run decides what they find in L2",
     .kind = VALUE_TOKENS,
     .low = 1,
     .high = 256,
     .set = set_skew,
     .behind_l2 = true,
     .key = "pace"},
    {.title = "query heads",
     .subtitle = "every head does the same work",
     .kind = VALUE_TOKENS,
     .low = 1,
     .high = 128,
     .set = set_heads},
    {.title = "head dimension d",
     .subtitle = "larger heads need larger tiles and move more",
     .kind = VALUE_TOKENS,
     .low = 16,
     .high = 512,
     .set = set_d,
     .key = "d"},
    {.title = "GPU", .subtitle = "the same run on one GPU after another", .kind = VALUE_COUNT, .is_gpu = true},
};
_Static_assert(sizeof AXES / sizeof *AXES == sizeof SWEEP_AXIS_NAMES / sizeof *SWEEP_AXIS_NAMES - 1, "a name each");

const SweepAxis *sweep_axis(const char *name) {
  const int k = word_list_find(SWEEP_AXIS_NAMES, name);
  return k >= 0 ? &AXES[k] : NULL;
}

const char *sweep_axis_name(const SweepAxis *axis) { return SWEEP_AXIS_NAMES[axis - AXES]; }

void sweep_defaults(const SweepAxis *axis, Request *request) {
  if (!axis->behind_l2) return;
  if (!*request->gpu) snprintf(request->gpu, sizeof request->gpu, "h200");
  if (request_take_model(request, NULL, NULL)) return; /* why not is said later */
  if (!request->shape.N_q) request->shape.N_q = 32768;
  if (!request->shape.heads) request->shape.heads = 8;
}

const char *sweep_state(const SweepAxis *axis, const Request *request, char text[REQUEST_STATE_BYTES]) {
  char key[32];
  snprintf(key, sizeof key, "%s=", axis->key ? axis->key : sweep_axis_name(axis));
  question_state(request, text);
  for (char *word = text; *word;) {
    char *next = word + strcspn(word, " ");
    next += *next == ' ';
    if (strncmp(word, key, strlen(key)) == 0)
      memmove(word, next, strlen(next) + 1);
    else
      word = next;
  }
  for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--) text[n - 1] = '\0';
  return text;
}

/* The problem at one value, for one algorithm: with SRAM swept and no block given, the largest block that fits. */
static Problem problem_at(const Sweep *sweep, const Problem *problem, const Schedule *schedule, int64_t value) {
  Problem p = *problem;
  sweep->axis->set(&p, value);
  if (sweep->axis->set != set_sram || p.tiling.B_r || p.tiling.B_c) return p;
  const SramSizes sizes = {.d = p.shape.d,
                           .d_v = p.shape.d_v ? p.shape.d_v : p.shape.d,
                           .element_bytes = dtype_bytes(p.shape.dtype),
                           .v_in_k = p.shape.v_in_k};
  const int64_t largest = sram_max_block(schedule, &sizes, wide(value));
  p.tiling.B_r = p.tiling.B_c = largest > 0 ? largest : 1;
  return p;
}

const char *const SWEEP_METRIC_NAMES[SWEEP_METRICS + 1] = {"boundary", "l2", "hbm", "links", "time", NULL};
static const char *const METRIC_TITLES[SWEEP_METRICS] = {"Traffic across the SRAM boundary", "Traffic with L2",
                                                         "Traffic with HBM", "Traffic over links", "Time"};

static const char *const METRIC_LABELS[SWEEP_METRICS] = {
    "bytes across the SRAM boundary, read and written", "bytes between SMs and L2, read and written",
    "bytes between L2 and HBM, read and written", "bytes that all ranks send", "seconds"};

const char *sweep_metric_title(SweepMetric metric) { return METRIC_TITLES[metric]; }
const char *sweep_metric_label(SweepMetric metric) { return METRIC_LABELS[metric]; }

bool sweep_asks_gpu(SweepMetric metric) { return metric != SWEEP_BOUNDARY && metric != SWEEP_LINKS; }

static double shown(SweepMetric metric, const Simulation *run) {
  switch (metric) {
  case SWEEP_L2: return run->l2.read_bytes + run->l2.write_bytes;
  case SWEEP_HBM: return run->l2.hbm_read_bytes + simulation_hbm_write_bytes(run);
  case SWEEP_LINKS: return (double)run->links.sent_bytes;
  case SWEEP_TIME: return run->timing.seconds;
  default: return (double)run->total_bytes;
  }
}

/* Without L2 there is a time, but nothing behind L2 to show. */
static Status check_l2(const Gpu *gpu, SweepMetric metric, Error *error) {
  if (!sweep_asks_gpu(metric) || (metric == SWEEP_TIME && gpu->n_sm > 0)) return STATUS_OK;
  if (gpu->l2_bytes > 0 && gpu->l2_partitions <= 2) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST,
                   "%s has no L2 of one or two partitions to look behind; take a GPU that has, such as --gpu h200",
                   gpu->name);
}

static Status behind_l2(Simulation *run, const Problem *problem, const Schedule *schedule, SweepMetric metric, Gpu *gpu,
                        Error *error) {
  if (gpu->l2_bytes != problem->machine.l2_bytes) gpu_set_l2(gpu, problem->machine.l2_bytes);
  const Status status = simulation_answer(run, problem, schedule, gpu, error);
  if (status || run->has_l2 || metric == SWEEP_TIME) return status; /* a bound of time needs no walk through L2 */
  return error_set(error, STATUS_TOO_LARGE,
                   "a head of N = %" PRId64 " takes too long to walk through L2; take a shorter one or larger blocks",
                   run->plan.shape.N_q);
}

/* What a kernel writes of each row besides O. */
static double lse_bytes(const Plan *plan) {
  const Shape *s = &plan->shape;
  return plan->tiling.lse ? (double)s->batch * (double)s->heads * (double)s->N_q * STATS_BYTES : 0;
}

/* The problem of *request on the GPU of a point, and the algorithm that its kernel follows there. */
static Status on_gpu(Request *request, const char *name, Problem *problem, Gpu *gpu, Error *error) {
  snprintf(request->gpu, sizeof request->gpu, "%s", name);
  Status status = request_algorithms(request, REQUEST_COMPARED, error);
  if (!status) status = request_problem(request, problem, gpu, error);
  return status ? status : question_has_effect(request, gpu, error);
}

static SweepRun keep(SweepMetric metric, const Simulation *run) {
  return (SweepRun){.schedule = run->schedule,
                    .total_bytes = run->total_bytes,
                    .shown = shown(metric, run),
                    .kind = run->timing.kind,
                    .gaps_s = run->timing.launch_s,
                    .terms = run->timing.run.terms,
                    .fits = run->fits};
}

static const Schedule *schedule_of(const Request *request, int k, const Problem *problem) {
  return request->follows_kernel ? planner_algorithm(problem) : request->algorithms[k];
}

/* Whether every algorithm's tiles have room at this value, as sim says it. */
static bool fits_at(const Sweep *sweep, const Problem *problem, const Request *request, int64_t value) {
  Simulation run;
  for (int k = 0; k < sweep->n_algorithms; k++) {
    Problem p = problem_at(sweep, problem, request->algorithms[k], value);
    p.shape.pattern = NULL; /* a mask changes no tile's size */
    if (simulate(&run, &p, schedule_of(request, k, &p), NULL) || !run.fits) return false;
  }
  return true;
}

static bool all_fit(const Sweep *s, int point) {
  for (int k = 0; k < s->n_algorithms; k++)
    if (!s->points[point].runs[k].fits) return false;
  return true;
}

/* The last value without room on the way from `misfit` to `fit`, to the row or the byte. */
static int64_t border(const Sweep *s, const Problem *problem, const Request *request, int64_t misfit, int64_t fit) {
  while (fit - misfit > 1 || misfit - fit > 1) {
    const int64_t middle = fit + (misfit - fit) / 2;
    if (fits_at(s, problem, request, middle))
      fit = middle;
    else
      misfit = middle;
  }
  return misfit;
}

/* Larger blocks, more SRAM, ...: what has no room lies at one end of the axis. */
static void find_misfits(Sweep *s, const Problem *problem, const Request *request) {
  int before = 0, after = s->n_points; /* points that fit lie between */
  while (before < s->n_points && !all_fit(s, before)) before++;
  while (after > before && !all_fit(s, after - 1)) after--;
  if (s->axis->is_gpu || (before == 0 && after == s->n_points)) return;
  const SweepPoint *const p = s->points;
  s->misfit_from = p[0].value, s->misfit_to = p[s->n_points - 1].value;
  if (after < s->n_points)
    s->misfit_from = border(s, problem, request, p[after].value, p[after - 1].value);
  else if (before < s->n_points)
    s->misfit_to = border(s, problem, request, p[before - 1].value, p[before].value);
}

static Status run_point(Sweep *sweep, SweepPoint *point, Simulation *runs, const Problem *problem,
                        const Request *request, const RankOptions *ranks, Gpu *gpu, Error *error) {
  for (int k = 0; k < sweep->n_algorithms; k++) {
    const Schedule *const named = request->algorithms[k];
    Problem p = sweep->axis->is_gpu ? *problem : problem_at(sweep, problem, named, point->value);
    const Schedule *const schedule = schedule_of(request, k, &p);
    Status status = STATUS_OK;
    if (*request->mask) status = own_mask(request->mask, &p.shape, &p.shape.pattern, error);
    if (!status)
      status = sweep_asks_gpu(sweep->metric) ? behind_l2(&runs[k], &p, schedule, sweep->metric, gpu, error)
                                             : simulate(&runs[k], &p, schedule, error);
    if (!status && ranks) status = rank_options_links(ranks, request, &p, gpu, &runs[k], error);
    if (!status && sweep->metric == SWEEP_LINKS && !runs[k].links.n)
      status = *runs[k].links.why
                   ? error_set(error, STATUS_BAD_REQUEST, "%s", runs[k].links.why)
                   : error_set(error, STATUS_BAD_REQUEST,
                               "%s does not say what ranks do; name a program with 'ranks' (tilewalk list algorithms)",
                               schedule->name);
    if (status) return status;
    point->runs[k] = keep(sweep->metric, &runs[k]);
  }
  const Simulation *first = &runs[0];
  point->lower_bound_bytes = sweep->metric == SWEEP_LINKS ? 0 /* one GPU needs none */
                             : sweep_asks_gpu(sweep->metric)
                                 ? simulation_needed_bytes(&first->plan.shape) + lse_bytes(&first->plan)
                                 : lower_bound_bytes(&first->plan.shape, first->machine.sram_bytes);
  for (int k = 0; k < sweep->n_algorithms; k++) /* of the last 64 masks alone the blocks are kept */
    runs[k].plan.mask.pattern = runs[k].plan.shape.pattern = NULL;
  return STATUS_OK;
}

static Status run_points(Sweep *sweep, const Problem *problem, const Request *request, Gpu *gpu, const SweepConfig *c,
                         Error *error) {
  Simulation runs[REQUEST_ALGORITHMS_MAX];
  const bool gpus = sweep->axis->is_gpu;
  if (!gpus) {
    Status status = description_gpu(request->gpu, gpu, error);
    if (!status)
      status = check_l2(gpu, *request->gpu || sweep->metric != SWEEP_TIME ? sweep->metric : SWEEP_HBM, error);
    if (status) return status;
  }
  for (int i = 0; i < sweep->n_points; i++) {
    const SweepValue *const at = &c->values[c->first + (size_t)i];
    Error inner = {0};
    Request r = *request;
    Problem p = *problem;
    Status status = gpus ? on_gpu(&r, at->gpu, &p, gpu, &inner) : STATUS_OK;
    if (!status && gpus) status = check_l2(gpu, sweep->metric, &inner);
    if (gpus) sweep->n_algorithms = r.n_algorithms;
    sweep->points[i].value = at->value;
    if (!status) status = run_point(sweep, &sweep->points[i], runs, &p, &r, c->ranks, gpu, &inner);
    if (!status && i == 0) sweep->first = runs[0];
    if (!status && gpus) snprintf(sweep->machines[i], sizeof *sweep->machines, "%s", runs[0].machine.name);
    if (!status && c->take) status = c->take(c->context, sweep, i, runs, &inner);
    if (status && gpus) return error_set(error, status, "on %.64s: %s", at->gpu, inner.message);
    if (status)
      return error_set(error, status, "at %s = %" PRId64 ": %s", sweep_axis_name(sweep->axis), at->value,
                       inner.message);
  }
  return STATUS_OK;
}

/* The algorithm; or the kernel, where that follows one here and another there, in this part or in others. */
static void name_series(Sweep *sweep, const Problem *problem, const Request *request, const SweepConfig *c) {
  for (int k = 0; k < sweep->n_algorithms; k++) {
    const Schedule *first = sweep->n_points ? sweep->points[0].runs[k].schedule : request->algorithms[k];
    bool varies = false;
    for (int i = 1; i < sweep->n_points; i++) varies = varies || sweep->points[i].runs[k].schedule != first;
    for (size_t i = 0; i < c->n && request->follows_kernel && !sweep->axis->is_gpu; i++) {
      const Problem p = problem_at(sweep, problem, request->algorithms[k], c->values[i].value);
      if (i == 0) first = planner_algorithm(&p);
      varies = varies || planner_algorithm(&p) != first;
    }
    sweep->series[k] = varies ? request->kernel : first->name;
  }
}

Status sweep_run(Sweep *sweep, const Problem *problem, const Request *request, const SweepConfig *c, Error *error) {
  const size_t n = c->end - c->first, room = n ? n : 1;
  *sweep = (Sweep){.axis = c->axis, .metric = c->metric, .n_algorithms = request->n_algorithms, .n_points = (int)n};
  Gpu *const gpu = calloc(1, sizeof *gpu);
  sweep->points = calloc(room, sizeof *sweep->points);
  sweep->machines = calloc(c->axis->is_gpu ? room : 1, sizeof *sweep->machines);
  Status status = STATUS_OK;
  if (!gpu || !sweep->points || !sweep->machines)
    status = error_set(error, STATUS_NO_MEMORY, "no memory for %zu points", n);
  if (!status) status = run_points(sweep, problem, request, gpu, c, error);
  if (!status) name_series(sweep, problem, request, c);
  if (!status) find_misfits(sweep, problem, request);
  free(gpu);
  if (status) sweep_free(sweep);
  return status;
}

const char *sweep_time_is(const SweepPoint *point, int n_algorithms, char *text, size_t size) {
  bool same = true;
  *text = '\0';
  for (int k = 1; k < n_algorithms; k++) same = same && point->runs[k].kind == point->runs[0].kind;
  for (int k = 0; k < (same ? 1 : n_algorithms); k++)
    snprintf(text + strlen(text), size - strlen(text), "%s%s", k ? ", " : "", time_kind_name(point->runs[k].kind));
  return text;
}

bool sweep_ratio(const Sweep *sweep, const SweepPoint *point, int k, double *ratio) {
  const SweepRun *first = &point->runs[0], *run = &point->runs[k];
  const Timing a = {.kind = first->kind, .seconds = first->shown, .launch_s = first->gaps_s, .run.terms = first->terms},
               b = {.kind = run->kind, .seconds = run->shown, .launch_s = run->gaps_s, .run.terms = run->terms};
  if (sweep->metric == SWEEP_TIME && !timing_comparable(&a, &b)) return false;
  *ratio = first->shown / run->shown;
  return true;
}

void sweep_free(Sweep *sweep) {
  free(sweep->points);
  free(sweep->machines);
  sweep->points = NULL, sweep->machines = NULL;
}
