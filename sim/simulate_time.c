/* How long a simulation takes on a machine: part of sim/simulate.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/simulate.h"

enum { COALESCED = 4, ROWS_MAX = 4096 };

double simulation_pair_flops(const Shape *shape) { return 2 * ((double)shape->d + (double)shape->d_v); }

double simulation_exps(const Simulation *s, double flops) {
  const PairCost pair = schedule_pair_cost(s->schedule, &s->plan);
  return pair.flops > 0 ? flops / pair.flops * pair.exps : 0;
}

/* Between two kernels L2 keeps at most its own size of each intermediate; the rest is written to HBM and read back. */
static double intermediates_beyond_l2(const Simulation *s, double l2_bytes) {
  int n_by_tiles = 0;
  for (int t = 0; t < s->schedule->n_tensors; t++) {
    const ProgramTensor *v = &s->schedule->tensors[t];
    n_by_tiles += v->role == TENSOR_BETWEEN && v->rows == SIDE_ROWS && v->cols == SIDE_COLS && s->traffic.write[t] > 0;
  }
  const double n_tensors = n_by_tiles > 1 ? n_by_tiles : 1, one = (double)s->intermediates_bytes / n_tensors;
  return one > l2_bytes ? 2 * n_tensors * (one - l2_bytes) : 0;
}

static int descending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

/* Scores that row block i computes. */
static double row_area(const Simulation *s, int64_t i) {
  const Plan *p = &s->plan;
  const int64_t B_c = p->tiling.B_c, row0 = i * p->tiling.B_r;
  const int64_t row1 = row0 + p->tiling.B_r < p->shape.N_q ? row0 + p->tiling.B_r : p->shape.N_q;
  if (p->mask.pattern) {
    const MaskTiles row = {p->tiling.B_r, B_c, {i, i + 1}, {0, p->T_c}};
    return (double)mask_count(&p->mask, &row).area;
  }
  const Span tiles = band_row(&p->band, p->tiling.B_r, B_c, i).computed;
  if (tiles.end <= tiles.begin) return 0;
  int64_t end = tiles.end * B_c < p->shape.N_k ? tiles.end * B_c : p->shape.N_k;
  if (s->config.clips_k) {
    const int64_t seen = band_columns(&p->band, row1 - 1).end;
    if (seen < end) end = seen;
  }
  return (double)(row1 - row0) * (double)(end - tiles.begin * B_c);
}

/* The products of the SM that has most, at least, where CTAs walk whole row blocks. Of n row blocks that are at least
 * so long, some SM has ceil(n / n_sm). */
static double busiest_rows_flops(const Simulation *s, double heads, double n_sm) {
  const int64_t n = s->plan.T_r;
  double area[ROWS_MAX], most = 0;
  if (n > ROWS_MAX) return 0; /* so many that a fair share is as good */
  for (int64_t i = 0; i < n; i++) area[i] = row_area(s, i);
  qsort(area, (size_t)n, sizeof *area, descending);
  for (int64_t k = 0; k < n; k++) most = fmax(most, ceil(heads * (double)(k + 1) / n_sm) * area[k]);
  return most * schedule_pair_cost(s->schedule, &s->plan).flops;
}

/* By heads that are apart, or packed. */
static bool shares_kv(const Shape *shape) { return shape->kv_heads < shape->heads || shape->group > 1; }

/* The papers' model, SRAM and HBM alone, knows of no SMs. */
static double busiest_flops(const Simulation *s, const Gpu *gpu) {
  const Shape *shape = &s->plan.shape;
  const double heads = (double)shape->batch * (double)shape->heads, n_sm = (double)gpu->n_sm;
  if (!s->tiles_given || s->config.may_split || shares_kv(shape) || n_sm == 0 || gpu->l2_bytes == 0) return 0;
  if (s->schedule->whole_head) return ceil(heads / n_sm) * (double)s->traffic.flops / heads;
  return s->schedule->n_passes == 1 && s->schedule->skips ? busiest_rows_flops(s, heads, n_sm) : 0;
}

/* Products that any tiles need: of the pairs that the mask leaves, where masked tiles are skipped at all. */
static double least_flops(const Simulation *s) {
  const Shape *shape = &s->plan.shape;
  const PairCost pair = schedule_pair_cost(s->schedule, &s->plan);
  if (!s->schedule->skips || !pair.is_all) return (double)s->traffic.flops;
  return (double)mask_pairs(&s->plan.mask) * pair.flops * (double)shape->batch * (double)shape->heads;
}

static double O_bytes(const Plan *p) {
  const Shape *s = &p->shape;
  return (double)s->batch * (double)s->heads * (double)s->N_q * (double)s->d_v * p->element_bytes;
}

TimeWork simulation_work(const Simulation *s, const Gpu *gpu) {
  const double read = (double)s->read_bytes, written = (double)s->write_bytes, l2 = (double)gpu->l2_bytes;
  const double out = (double)s->outputs_bytes;
  const double needed = simulation_needed_bytes(&s->plan.shape) - O_bytes(&s->plan);
  const double in = s->schedule->skips ? fmin(needed, read) : (double)s->inputs_bytes;
  const bool any_tiles = !s->tiles_given || shares_kv(&s->plan.shape);
  TimeWork work = {.hbm_bytes = read + written,
                   .l2_bytes = fmax(in + out, any_tiles ? 0 : (read + written) / COALESCED),
                   .sram_bytes = any_tiles ? 2 * in + out : 2 * read + written,
                   .flops = any_tiles || s->config.clips_k ? least_flops(s) : (double)s->traffic.flops,
                   .busiest_flops = busiest_flops(s, gpu),
                   .n_launches = s->schedule->n_passes,
                   .dtype = s->plan.shape.dtype};
  work.exps = simulation_exps(s, work.flops);
  if (l2 > 0) work.hbm_bytes = fmin(work.hbm_bytes, in + fmax(0, out - l2) + intermediates_beyond_l2(s, l2));
  return work;
}

/* Without L2 the bytes that cross depend on the tile: where it is not given, the least of all that fit. */
static void take_best_tiles(TimeWork *work, const Simulation *s) {
  for (int64_t B_r = 1; B_r <= 1 << 14; B_r *= 2) {
    for (int64_t B_c = 1; B_c <= 256; B_c *= 4) {
      const Problem problem = {.shape = s->plan.shape, .tiling = {.B_r = B_r, .B_c = B_c}, .machine = s->machine};
      Simulation other;
      if (simulate(&other, &problem, s->schedule, NULL) || !other.fits) continue;
      work->hbm_bytes = fmin(work->hbm_bytes, (double)other.total_bytes);
    }
  }
}

/* Kernels were timed on compute capability 9.0 alone. */
static bool is_timed(const Simulation *s, const Gpu *gpu) {
  return s->has_l2 && s->launch.config.time.full_permille > 0 && strcmp(gpu->compute_capability, "9.0") == 0;
}

void simulation_time(Simulation *s, const Gpu *gpu) {
  TimeWork work = simulation_work(s, gpu);
  if (!s->tiles_given && gpu->l2_bytes == 0) take_best_tiles(&work, s);
  s->timing = timing_at_best(&work, gpu);
  if (is_timed(s, gpu)) {
    const double predicted =
        timing_predicted_s(&s->launch.config.time, s->l2.cycles / gpu->clock_hz, s->l2.kernels,
                           (double)s->launch.n_pieces, (double)gpu->n_sm, (double)s->launch.occupancy.ctas_per_sm);
    const double memory = gpu_hbm_bytes_per_s(gpu) > 0 ? work.hbm_bytes / gpu_hbm_bytes_per_s(gpu) : 0;
    s->timing.predicted_s = fmax(fmax(predicted, memory), s->timing.least_s); /* the bandwidth that programs reach */
  }
  s->timed = true;
}
