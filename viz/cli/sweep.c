#include "viz/cli/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/request/description.h"
#include "viz/request/own_masks.h"

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

const SweepAxis SWEEP_AXES[] = {
    {"N", "sequence length N, tokens", "parallel lines: at a fixed block size the ratio between algorithms settles",
     VALUE_TOKENS, false, 256, 65536, set_N, false, NULL},
    {"keys", "number of keys, tokens", "traffic grows in proportion to the keys", VALUE_TOKENS, false, 256, 65536,
     set_keys, false, "seq-len-k"},
    {"block", "block size B = B_r = B_c, rows", "twice the block, half the traffic, until the tiles no longer fit",
     VALUE_TOKENS, false, 16, 512, set_block, false, NULL},
    {"block-q", "query block B_r, rows", "in FlashAttention-2 the query block alone decides the traffic", VALUE_TOKENS,
     false, 16, 512, set_block_q, false, NULL},
    {"block-k", "key block B_c, rows", "in FlashAttention the key block decides the traffic", VALUE_TOKENS, false, 16,
     512, set_block_k, false, NULL},
    {"sram", "SRAM for one CTA's tiles", "the largest block that fits, against what no algorithm beats", VALUE_BYTES,
     true, 16 * 1024, 1024 * 1024, set_sram, false, NULL},
    {"l2", "the size of L2, all partitions", "what all CTAs share stays in L2 until it grows too large", VALUE_BYTES,
     true, 1 << 20, 256 << 20, set_l2, true, NULL},
    {"skew", "tiles between the first CTA and the last", "how far apart CTAs run decides what they find in L2",
     VALUE_TOKENS, false, 1, 256, set_skew, true, "pace"},
    {"heads", "query heads", "every head does the same work", VALUE_TOKENS, false, 1, 128, set_heads, false, NULL},
    {"head-dim", "head dimension d", "larger heads need larger tiles and move more", VALUE_TOKENS, false, 16, 512,
     set_d, false, "d"},
    {0},
};

const SweepAxis *sweep_axis(const char *name) {
  for (const SweepAxis *a = SWEEP_AXES; a->name; a++)
    if (strcmp(a->name, name) == 0) return a;
  return NULL;
}

void sweep_defaults(const SweepAxis *axis, Request *request) {
  if (!axis->behind_l2) return;
  if (!*request->gpu) snprintf(request->gpu, sizeof request->gpu, "h200");
  if (!request->shape.N_q) request->shape.N_q = 32768;
  if (!request->shape.heads) request->shape.heads = 8;
}

const char *sweep_state(const SweepAxis *axis, const Request *request, char text[REQUEST_STATE_BYTES]) {
  char key[32];
  snprintf(key, sizeof key, "%s=", axis->key ? axis->key : axis->name);
  request_state(request, text);
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
  const int64_t largest = sram_max_block(schedule_sram(schedule), p.shape.d, p.shape.d_v ? p.shape.d_v : p.shape.d,
                                         dtype_bytes(p.shape.dtype), wide(value));
  p.tiling.B_r = p.tiling.B_c = largest > 0 ? largest : 1;
  return p;
}

static const char *const METRIC_NAMES[SWEEP_METRICS] = {"boundary", "l2", "hbm", "time"};
static const char *const METRIC_TITLES[SWEEP_METRICS] = {"Traffic across the SRAM boundary", "Traffic with L2",
                                                         "Traffic with HBM", "Time"};

const char *sweep_metric_name(SweepMetric metric) { return METRIC_NAMES[metric]; }
const char *sweep_metric_title(SweepMetric metric) { return METRIC_TITLES[metric]; }

double sweep_shown(const Sweep *sweep, const Simulation *run) {
  switch (sweep->metric) {
  case SWEEP_L2: return run->l2.l2_read_bytes + run->l2.write_bytes;
  case SWEEP_HBM: return run->l2.hbm_read_bytes + simulation_hbm_write_bytes(run);
  case SWEEP_TIME: return run->timing.predicted_s > 0 ? run->timing.predicted_s : run->timing.least_s;
  default: return (double)run->total_bytes;
  }
}

/* The machine whose L2 is swept, for the caller to free; NULL where none is. */
static Status load_l2_machine(const Request *request, SweepMetric metric, Gpu **gpu, Error *error) {
  *gpu = NULL;
  if (metric == SWEEP_BOUNDARY) return STATUS_OK;
  Gpu *loaded = calloc(1, sizeof *loaded);
  if (!loaded) return error_set(error, STATUS_NO_MEMORY, "no memory for a GPU description");
  Status status = description_gpu(request->gpu, loaded, error);
  if (!status && (loaded->l2_bytes == 0 || loaded->l2_partitions > 2))
    status = error_set(error, STATUS_BAD_REQUEST,
                       "%s has no L2 of one or two partitions to look behind; take a GPU that has, such as --gpu h200",
                       loaded->name);
  if (status)
    free(loaded);
  else
    *gpu = loaded;
  return status;
}

static Status behind_l2(SweepPoint *point, int k, const Problem *problem, Gpu *gpu, Error *error) {
  Simulation *run = &point->runs[k];
  if (gpu->l2_bytes != problem->machine.l2_bytes) gpu_set_l2(gpu, problem->machine.l2_bytes);
  const Status status = simulation_l2(run, problem, gpu, error);
  if (!status) simulation_time(run, gpu);
  if (status || run->has_l2) return status;
  return error_set(error, STATUS_TOO_LARGE,
                   "a head of N = %" PRId64 " takes too long to walk through L2; take a shorter one or larger blocks",
                   run->plan.shape.N_q);
}

/* What a kernel writes of each row besides O. */
static double lse_bytes(const Plan *plan) {
  const Shape *s = &plan->shape;
  return plan->tiling.lse ? (double)s->batch * (double)s->heads * (double)s->N_q * STATS_BYTES : 0;
}

Status sweep_run(Sweep *sweep, const Problem *problem, const Request *request, const SweepAxis *axis,
                 SweepMetric metric, const int64_t *values, int n_values, Error *error) {
  *sweep = (Sweep){.axis = axis, .metric = metric, .n_algorithms = request->n_algorithms, .n_points = n_values};
  Gpu *gpu;
  const Status loaded = load_l2_machine(request, metric, &gpu, error);
  if (loaded) return loaded;
  sweep->points = calloc((size_t)n_values, sizeof *sweep->points);
  if (!sweep->points) {
    free(gpu);
    return error_set(error, STATUS_NO_MEMORY, "no memory for %d points", n_values);
  }
  for (int i = 0; i < n_values; i++) {
    SweepPoint *point = &sweep->points[i];
    point->value = values[i];
    for (int k = 0; k < request->n_algorithms; k++) {
      Problem p = problem_at(sweep, problem, request->algorithms[k], values[i]);
      Error inner = {0};
      if ((*request->mask && own_mask(request->mask, p.shape.N_q, p.shape.N_k, &p.shape.pattern, &inner)) ||
          simulate(&point->runs[k], &p, request->algorithms[k], &inner) ||
          (gpu && behind_l2(point, k, &p, gpu, &inner))) {
        sweep_free(sweep);
        free(gpu);
        return error_set(error, inner.status, "at %s = %" PRId64 ": %s", axis->name, values[i], inner.message);
      }
    }
    const Simulation *first = &point->runs[0];
    point->lower_bound_bytes = gpu ? simulation_needed_bytes(&first->plan.shape) + lse_bytes(&first->plan)
                                   : lower_bound_bytes(&first->plan.shape, first->machine.sram_bytes);
    for (int k = 0; k < request->n_algorithms; k++) /* of the last 64 masks alone the blocks are kept */
      point->runs[k].plan.mask.pattern = point->runs[k].plan.shape.pattern = NULL;
  }
  free(gpu);
  return STATUS_OK;
}

void sweep_free(Sweep *sweep) {
  free(sweep->points);
  sweep->points = NULL;
}
