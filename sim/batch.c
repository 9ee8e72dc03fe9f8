#include "sim/batch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "sim/base/size.h"

/* ---- Lengths ----------------------------------------------------------------------------------------------- */

static bool is_between(char c) { return c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

static int by_value(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

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
      error_set(error, STATUS_NO_MEMORY, "no memory for %" PRId64 " lengths", n);
      return NULL;
    }
    if (pass == 1) all->n = 0;
    int line = 1;
    for (size_t at = 0; at < n_bytes;) {
      if (is_between(text[at])) {
        line += text[at++] == '\n';
        continue;
      }
      size_t end = at;
      int64_t length, count;
      while (end < n_bytes && !is_between(text[end])) end++;
      if (!read_word(text + at, end - at, &length, &count)) {
        error_set(error, STATUS_BAD_REQUEST, "%s:%d: '%s' is no length; give tokens, or TOKENSxCOUNT: 3001,777,512x8",
                  quote(name, strlen(name)).text, line, quote(text + at, end - at).text);
        return NULL;
      }
      if (count > BATCH_SEQUENCES_MAX - n && pass == 0) {
        error_set(error, STATUS_TOO_LARGE, "%s: more than %" PRId64 " sequences", quote(name, strlen(name)).text,
                  BATCH_SEQUENCES_MAX);
        return NULL;
      }
      if (pass == 0) n += count;
      for (int64_t k = 0; pass == 1 && k < count; k++) all->lengths[all->n++] = length;
      at = end;
    }
    if (n == 0) {
      error_set(error, STATUS_BAD_REQUEST, "%s: no lengths; give some as 3001,777,512x8",
                quote(name, strlen(name)).text);
      return NULL;
    }
  }
  qsort(all->lengths, (size_t)all->n, sizeof *all->lengths, by_value);
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

/* `count` sequences of one length. */
static Status add_length(BatchRun *run, const Problem *problem, int64_t length, int64_t count, Wide *ctas_a_sequence,
                         Error *error) {
  Problem p = *problem;
  Simulation one;
  bool overflow = false;
  p.shape.N_k = length;
  p.shape.batch = count;
  if (p.shape.N_q == 0) p.shape.N_q = length;
  const Status status = simulate(&one, &p, run->schedule, error);
  if (status) return status;
  const Wide heads = wide(one.plan.shape.heads);
  *ctas_a_sequence = heads * ctas_of(one.schedule, &one.plan);
  run->tokens += wide(length) * wide(count);
  run->ctas += *ctas_a_sequence * wide(count);
  for (int t = 0; t < TENSORS_MAX; t++) {
    run->traffic.read[t] = checked_add(run->traffic.read[t], one.traffic.read[t], &overflow);
    run->traffic.write[t] = checked_add(run->traffic.write[t], one.traffic.write[t], &overflow);
  }
  for (int kind = 0; kind < TILE_KIND_COUNT; kind++)
    run->traffic.tiles[kind] += one.traffic.tiles[kind] * heads * wide(count);
  run->traffic.flops = checked_add(run->traffic.flops, one.traffic.flops, &overflow);
  run->read_bytes = checked_add(run->read_bytes, one.read_bytes, &overflow);
  run->write_bytes = checked_add(run->write_bytes, one.write_bytes, &overflow);
  return overflow ? error_set(error, STATUS_TOO_LARGE, "the totals exceed 128 bits") : STATUS_OK;
}

/* How many CTAs of the longest sequences a GPU has at work at once. */
static int64_t slots_of(const Problem *problem, const Schedule *schedule, int64_t longest, const Gpu *gpu) {
  Problem p = *problem;
  Simulation one;
  Launch launch;
  p.shape.N_k = longest;
  if (p.shape.N_q == 0) p.shape.N_q = longest;
  if (simulate(&one, &p, schedule, NULL)) return 0;
  const LaunchConfig config = simulation_launch(&one);
  return launch_make(&launch, &one.plan.shape, &config, gpu, NULL) ? 0 : launch.n_slots;
}

Status batch_run(BatchRun *run, const Problem *problem, const Lengths *lengths, BatchLayout layout,
                 const Schedule *schedule, const Gpu *gpu, Error *error) {
  const int64_t n = lengths->n, longest = lengths->lengths[n - 1];
  *run = (BatchRun){.schedule = schedule, .layout = layout};
  if (gpu) run->n_slots = slots_of(problem, schedule, longest, gpu);
  Wide ctas = 0;
  if (layout == BATCH_PADDED) return add_length(run, problem, longest, n, &ctas, error);
  for (int64_t k = 0, end; k < n; k = end) {
    for (end = k + 1; end < n && lengths->lengths[end] == lengths->lengths[k];) end++;
    const Status status = add_length(run, problem, lengths->lengths[k], end - k, &ctas, error);
    if (status) return status;
  }
  run->idle = ctas * wide(n) - run->ctas; /* `ctas`: of the longest, the last */
  return STATUS_OK;
}
