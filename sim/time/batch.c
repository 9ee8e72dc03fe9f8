#include "sim/time/batch.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "sim/algorithms/shipped.h"
#include "sim/base/size.h"

/* ---- Lengths ----------------------------------------------------------------------------------------------- */

static bool is_between(char c) { return c == ',' || c == '+' || c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/* One word: LENGTH or LENGTHxCOUNT. */
static bool read_word(const char *word, size_t n, int64_t *length, int64_t *count) {
  char copy[48];
  if (n >= sizeof copy) return false;
  memcpy(copy, word, n);
  copy[n] = '\0';
  char *times = strchr(copy, 'x');
  *count = 1;
  if (times) *times++ = '\0';
  if (times && size_parse_count(times, count, NULL)) return false;
  return !size_parse_count(copy, length, NULL) && *length > 0 && *length <= SHAPE_MAX_N && *count > 0;
}

Lengths *lengths_read(const char *text, size_t n_bytes, const char *name, Error *error) {
  Lengths *all = NULL;
  int64_t n = 0;
  for (int pass = 0; pass < 2; pass++) { /* counts them; keeps them */
    if (pass == 1 && !(all = malloc(sizeof *all + (size_t)n * sizeof *all->lengths))) {
      error_no_memory(error, "for %jd lengths", n);
      return NULL;
    }
    if (pass == 1) all->n = 0;
    int line = 1;
    for (size_t at = 0; at < n_bytes;) {
      const bool is_empty = at > 0 && text[at] == ',' && text[at - 1] == ','; /* between two commas */
      if (is_between(text[at]) && !is_empty) {
        line += text[at++] == '\n';
        continue;
      }
      size_t end = at;
      int64_t length, count;
      while (end < n_bytes && !is_between(text[end])) end++;
      if (!read_word(text + at, end - at, &length, &count)) {
        error_refuse(error, "%s:%d: '%s' is no length; give tokens, or TOKENSxCOUNT: 3001,777,512x8",
                     quote_text(name).text, line, quote(text + at, end - at).text);
        return NULL;
      }
      if (count > BATCH_SEQUENCES_MAX - n && pass == 0) {
        error_set(error, STATUS_TOO_LARGE, "%s: more than %jd sequences", quote_text(name).text, BATCH_SEQUENCES_MAX);
        return NULL;
      }
      if (pass == 0) n += count;
      for (int64_t k = 0; pass == 1 && k < count; k++) all->lengths[all->n++] = length;
      at = end;
    }
    if (n == 0) {
      error_refuse(error, "%s: no lengths; give some as 3001,777,512x8", quote_text(name).text);
      return NULL;
    }
  }
  all->shortest = all->longest = all->lengths[0];
  for (int64_t k = 1; k < all->n; k++) {
    if (all->lengths[k] < all->shortest) all->shortest = all->lengths[k];
    if (all->lengths[k] > all->longest) all->longest = all->lengths[k];
  }
  return all;
}

Wide lengths_sum(const Lengths *lengths) {
  Wide sum = 0;
  for (int64_t k = 0; k < lengths->n; k++) sum += wide(lengths->lengths[k]);
  return sum;
}

/* ---- Runs -------------------------------------------------------------------------------------------------- */

const char *batch_layout_name(BatchLayout layout) { return layout == BATCH_PADDED ? "padded" : "packed"; }

/* CTAs of one head in the first kernel: iterations of its loops that are CTAs. */
static Wide ctas_of(const Schedule *s, const Plan *plan) {
  Wide ctas = 1;
  for (int k = s->kernels[0].first_op; k < s->kernels[0].end_op; k++) {
    const ProgramOp *op = &s->ops[k];
    if (op->kind != OP_LOOP || !op->every) continue;
    ctas *= wide(op->dim == DIM_I ? plan->T_r : op->dim == DIM_J ? plan->T_c : plan->tiling.n_splits);
  }
  return ctas;
}

typedef struct {
  const Problem *problem; /* of the kernel as it runs over unequal lengths */
  const Lengths *lengths;
  const Gpu *gpu; /* NULL: none */
  int64_t *sorted;
  Plan *plans; /* of each length, ascending */
  int n_plans;
  double exps;
  double least_s; /* of packed sequences: no less than the longest alone, nor than the products of the busiest SM */
} Batch;

enum { PLANS_MAX = 4096, CLASSES_MAX = 6, ROW_STEP = 128 };

/* L of a sequence that does not begin with a sector takes so much more for every 8 rows: a second sector, of which
 * neighbours fill a part [fitted: assets/counters/h100/spills/first.csv]; of one query 32 B for each value. */
enum { LSE_ROWS = 8, LSE_APART_BYTES = 25, LSE_ALONE_BYTES = 28 };

static Problem problem_of_length(const Problem *problem, int64_t length, int64_t count) {
  Problem p = *problem;
  p.shape.N_k = length;
  p.shape.batch = count;
  if (p.shape.N_q == 0) p.shape.N_q = length;
  return p;
}

/* What the kernel of these sequences moves besides; what CTAs after the first wave reload is the whole launch's. */
static void add_besides(BatchRun *run, const Simulation *one, const Gpu *gpu) {
  LaunchConfig config = simulation_launch(one);
  Launch launch;
  if (run->layout == BATCH_PACKED) config.spills.reload_bytes = 0;
  if (launch_make(&launch, &one->plan.shape, &config, gpu, NULL)) return;
  const Overheads o = overheads_of(&launch, &one->plan);
  run->besides_read_bytes += o.read_bytes;
  run->besides_write_bytes += o.write_bytes;
}

/* `count` sequences of one length. */
static Status add_length(BatchRun *run, const Batch *b, int64_t length, int64_t count, Simulation *one, Error *error) {
  const Problem p = problem_of_length(b->problem, length, count);
  bool overflow = false;
  const Status status = simulate(one, &p, run->schedule, error);
  if (status) return status;
  const Wide heads = wide(one->plan.shape.heads);
  run->tokens += wide(length) * wide(count);
  run->ctas += heads * ctas_of(one->schedule, &one->plan) * wide(count);
  for (int t = 0; t < TENSORS_MAX; t++) {
    run->traffic.read[t] = checked_add(run->traffic.read[t], one->traffic.read[t], &overflow);
    run->traffic.write[t] = checked_add(run->traffic.write[t], one->traffic.write[t], &overflow);
  }
  for (int kind = 0; kind < TILE_KIND_COUNT; kind++)
    run->traffic.tiles[kind] += one->traffic.tiles[kind] * heads * wide(count);
  run->traffic.flops = checked_add(run->traffic.flops, one->traffic.flops, &overflow);
  run->read_bytes = checked_add(run->read_bytes, one->read_bytes, &overflow);
  run->write_bytes = checked_add(run->write_bytes, one->write_bytes, &overflow);
  if (b->gpu) add_besides(run, one, b->gpu);
  return overflow ? error_set(error, STATUS_TOO_LARGE, "the totals exceed 128 bits") : STATUS_OK;
}

/* ---- Packed: what is the whole launch's -------------------------------------------------------------------- */

static void add_whole_launch(BatchRun *run, const Batch *b, const Simulation *longest, const Launch *launch) {
  const Spills *s = &longest->config.spills;
  const Shape shape = shape_unpacked(&longest->plan.shape);
  const double later = (double)run->ctas - (double)launch->n_slots;
  run->n_slots = launch->n_slots;
  run->besides_write_bytes += (double)run->idle * (double)s->few_bytes[0];
  if (later > 0) run->besides_read_bytes += later * (double)s->reload_bytes;
  if (!longest->plan.tiling.lse) return;
  double apart = 0;
  int64_t row = 0;
  for (int64_t k = 0; k < b->lengths->n; k++) {
    const int64_t rows = b->problem->shape.N_q ? b->problem->shape.N_q : b->lengths->lengths[k];
    if (rows == 1)
      apart += LSE_ALONE_BYTES;
    else if (row % LSE_ROWS != 0)
      apart += (double)rows / LSE_ROWS * LSE_APART_BYTES;
    row += rows;
  }
  run->besides_write_bytes += apart * (double)shape.heads;
}

/* Lengths within a factor of each other are one class, as many sequences of their mean as all tokens make. */
static void walk_class(BatchRun *run, const Batch *b, int64_t first, int64_t end, double tokens, double in_bytes,
                       double out_bytes) {
  double sum = 0;
  for (int64_t k = first; k < end; k++) sum += (double)b->sorted[k];
  const int64_t mean = (int64_t)(sum / (double)(end - first)) + 1,
                length = mean > ROW_STEP ? ceil_div(mean - 1, ROW_STEP) * ROW_STEP : mean;
  const double count = tokens / (double)length;
  const Problem p = problem_of_length(b->problem, length, count < 1 ? 1 : (int64_t)(count + 0.5));
  Simulation s;
  if (!run->has_l2 || simulation_answer(&s, &p, run->schedule, b->gpu, NULL) || !s.has_l2) {
    run->has_l2 = false;
    return;
  }
  const double out = (double)s.outputs_bytes, in = simulation_needed_bytes(&s.plan.shape) - out;
  run->hbm_read_bytes += in_bytes * (in > 0 ? s.l2.hbm_read_bytes / in : 1);
  run->hbm_write_bytes += out_bytes * (out > 0 ? simulation_hbm_write_bytes(&s) / out : 1);
}

static int n_classes(const Batch *b, double factor) {
  int n = 0;
  for (int64_t first = 0, end; first < b->lengths->n; first = end, n++)
    for (end = first + 1; end < b->lengths->n && (double)b->sorted[end] <= factor * (double)b->sorted[first];) end++;
  return n;
}

static void walk_classes(BatchRun *run, const Batch *b) {
  const double tokens = (double)run->tokens;
  double factor = 1.25;
  while (n_classes(b, factor) > CLASSES_MAX) factor *= factor;
  run->has_l2 = true;
  for (int64_t first = 0, end; first < b->lengths->n; first = end) {
    double in = 0, out = 0;
    for (end = first; end < b->lengths->n && (double)b->sorted[end] <= factor * (double)b->sorted[first]; end++) {
      const Problem p = problem_of_length(b->problem, b->sorted[end], 1);
      Shape shape = p.shape;
      if (shape_complete(&shape, NULL)) continue;
      const double O = (double)shape.heads * (double)shape.N_q * (double)shape.d_v * dtype_bytes(shape.dtype);
      in += simulation_needed_bytes(&shape) - O;
      out += O;
    }
    walk_class(run, b, first, end, tokens, in, out);
  }
}

/* ---- Time ---------------------------------------------------------------------------------------------------- */

static double needed_bytes(const Batch *b) {
  double bytes = 0;
  for (int64_t k = 0; k < b->lengths->n; k++) {
    Shape shape = problem_of_length(b->problem, b->lengths->lengths[k], 1).shape;
    if (!shape_complete(&shape, NULL)) bytes += simulation_needed_bytes(&shape);
  }
  return bytes;
}

static int by_keys(const void *key, const void *plan) {
  const int64_t x = *(const int64_t *)key, y = ((const Plan *)plan)->shape.N_k;
  return (x > y) - (x < y);
}

/* Of the CTAs as they are; NAN: too many lengths, or no memory. */
static double makespan_of(const Batch *b, const Simulation *longest, const Launch *launch) {
  const int64_t n = b->lengths->n;
  int32_t *plan_of = b->plans ? malloc((size_t)n * sizeof *plan_of) : NULL;
  if (!plan_of) return (double)NAN;
  for (int64_t k = 0; k < n; k++) {
    const Plan *plan = bsearch(&b->lengths->lengths[k], b->plans, (size_t)b->n_plans, sizeof *plan, by_keys);
    plan_of[k] = (int32_t)(plan - b->plans);
  }
  const Sequences sequences = {b->plans, b->n_plans, plan_of};
  const double makespan = makespan_s(launch, &sequences, &longest->config.time, simulation_speed(longest, b->gpu));
  free(plan_of);
  return makespan;
}

/* `count` sequences of a length, without the others: these are at least so long. */
static void raise_least(Batch *b, const Simulation *one, int64_t count, bool is_longest) {
  const Problem at_least = problem_of_length(b->problem, one->plan.shape.N_k, count),
                alone = problem_of_length(b->problem, one->plan.shape.N_k, 1);
  Simulation s;
  if (!simulate(&s, &at_least, one->schedule, NULL)) {
    simulation_time(&s, b->gpu);
    b->least_s = fmax(b->least_s, s.timing.run.busiest_s);
  }
  if (is_longest && !simulation_answer(&s, &alone, one->schedule, b->gpu, NULL) && s.timed)
    b->least_s = fmax(b->least_s, s.timing.run.bound_s);
}

static double bound_of(const BatchRun *run, const Batch *b) {
  const double crossed = (double)run->read_bytes + (double)run->write_bytes,
               hbm = run->has_l2 ? run->hbm_read_bytes + run->hbm_write_bytes : crossed;
  const TimeWork work = {.hbm_bytes = hbm,
                         .l2_bytes = b->gpu->l2_bytes > 0 ? crossed : 0,
                         .sram_bytes = 2 * (double)run->read_bytes + (double)run->write_bytes,
                         .flops = (double)run->traffic.flops,
                         .exps = b->exps,
                         .n_launches = run->schedule->n_passes,
                         .dtype = b->problem->shape.dtype};
  return fmax(timing_bound(&work, b->gpu).bound_s, b->least_s);
}

static void time_packed(BatchRun *run, const Batch *b, const Simulation *longest, const Launch *launch) {
  const TimeLaw on_card = simulation_law(longest, b->gpu), *law = &on_card;
  const double bandwidth = gpu_hbm_bytes_per_s(b->gpu);
  run->timed = true;
  run->seconds = bound_of(run, b);
  run->why = !longest->kernel                         ? "no kernel is named (--kernel)"
             : law->tile_ns == 0 || law->row_ns       ? "the kernel's description has no times for such heads"
             : launch->n_splits > 1 || bandwidth <= 0 ? "split keys of unequal lengths are not timed"
                                                      : NULL;
  if (run->why) return;
  const double makespan = makespan_of(b, longest, launch);
  if (isnan(makespan)) {
    run->why = "there are more than 4,096 different lengths";
    return;
  }
  const bool is_recorded = law->varlen_permille && simulation_is_timed_card(b->gpu) && !b->problem->shape.N_q &&
                           b->problem->shape.dtype == DTYPE_FP16;
  run->seconds = fmax(run->seconds, makespan_kernel_s(law, makespan, needed_bytes(b) / bandwidth));
  run->kind = is_recorded ? TIME_PREDICTED : TIME_EXTRAPOLATED;
  run->regime = REGIME_VARLEN;
  if (is_recorded) run->error = law->errors[REGIME_VARLEN];
}

static void take_timing(BatchRun *run, const Simulation *s) {
  run->timed = true;
  run->has_l2 = s->has_l2;
  run->hbm_read_bytes = s->has_l2 ? s->l2.hbm_read_bytes : 0;
  run->hbm_write_bytes = s->has_l2 ? simulation_hbm_write_bytes(s) : 0;
  run->seconds = s->timing.seconds;
  run->kind = s->timing.kind;
  run->error = s->timing.error;
  run->regime = s->timing.regime;
  run->why = s->timing.why;
  if (s->has_launch) run->n_slots = s->launch.n_slots;
}

/* ---- The whole ----------------------------------------------------------------------------------------------- */

static Status run_padded(BatchRun *run, const Batch *b, Error *error) {
  Simulation one;
  const Status status = add_length(run, b, b->lengths->longest, b->lengths->n, &one, error);
  const Problem p = problem_of_length(b->problem, b->lengths->longest, b->lengths->n);
  if (!status && b->gpu && !simulation_answer(&one, &p, run->schedule, b->gpu, NULL)) take_timing(run, &one);
  return status;
}

static Status run_packed(BatchRun *run, Batch *b, Error *error) {
  const int64_t n = b->lengths->n;
  Simulation one;
  Launch launch;
  int64_t n_lengths = 0;
  assert(n > 0);
  for (int64_t k = 0; k < n; k++) n_lengths += k == 0 || b->sorted[k] != b->sorted[k - 1];
  if (b->gpu && n_lengths <= PLANS_MAX) b->plans = malloc((size_t)n_lengths * sizeof *b->plans);
  for (int64_t k = 0, end; k < n; k = end) {
    for (end = k + 1; end < n && b->sorted[end] == b->sorted[k];) end++;
    const Status status = add_length(run, b, b->sorted[k], end - k, &one, error);
    if (status) return status;
    b->exps += simulation_exps(&one, (double)one.traffic.flops);
    if (b->gpu) raise_least(b, &one, n - k, end == n);
    if (b->plans) b->plans[b->n_plans++] = one.plan;
  }
  /* `one` is of the longest now, the grid's */
  run->idle = wide(one.plan.shape.heads) * ctas_of(one.schedule, &one.plan) * wide(n) - run->ctas;
  if (!b->gpu) return STATUS_OK;
  LaunchConfig config = simulation_launch(&one);
  Shape grid = one.plan.shape;
  grid.batch = n;
  if (launch_make(&launch, &grid, &config, b->gpu, NULL)) return STATUS_OK;
  add_whole_launch(run, b, &one, &launch);
  if (b->gpu->l2_bytes > 0) walk_classes(run, b);
  time_packed(run, b, &one, &launch);
  return STATUS_OK;
}

Status batch_run(BatchRun *run, const Problem *problem, const Lengths *lengths, BatchLayout layout,
                 const Schedule *schedule, const Gpu *gpu, Error *error) {
  Problem p = *problem;
  if (layout == BATCH_PACKED) {
    if (p.kernel && schedule != p.kernel->schedule && schedule == shipped_splitting()) schedule = p.kernel->schedule;
    p.shape.varlen = true;
  }
  *run = (BatchRun){.schedule = schedule, .layout = layout};
  Batch b = {.problem = &p, .lengths = lengths, .gpu = gpu};
  if (layout == BATCH_PADDED) return run_padded(run, &b, error);
  b.sorted = malloc((size_t)lengths->n * sizeof *b.sorted);
  if (!b.sorted) return error_no_memory(error, "for %jd lengths", lengths->n);
  memcpy(b.sorted, lengths->lengths, (size_t)lengths->n * sizeof *b.sorted);
  qsort(b.sorted, (size_t)lengths->n, sizeof *b.sorted, ascending_int64);
  const Status status = run_packed(run, &b, error);
  free(b.sorted);
  free(b.plans);
  return status;
}
