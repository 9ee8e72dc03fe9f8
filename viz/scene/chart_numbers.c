#include "viz/scene/chart_numbers.h"

#include <math.h>
#include <string.h>

#include "sim/algorithms/walk/place.h"

static int64_t power_at_most(int64_t n) {
  int64_t power = 1;
  while (power <= n / 2) power *= 2;
  return power;
}

static int64_t power_at_least(int64_t n) {
  const int64_t power = power_at_most(n);
  return power < n ? 2 * power : power;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- Traffic against one parameter ----------------------------------------------------------------------- */

/* Queries and keys grow together, unless there are other keys; in decode, with one query, the keys grow. */
static void replace_N(Problem *p, int64_t N) {
  const int64_t group = p->shape.group > 0 ? p->shape.group : 1; /* packed heads: rows a query */
  const bool decode = p->shape.N_q == group;
  if (p->shape.N_k * group == p->shape.N_q || decode) p->shape.N_k = N;
  if (!decode) p->shape.N_q = N * group;
}

static int64_t run_group(const Snapshot *now) { return now->problem.shape.group > 0 ? now->problem.shape.group : 1; }

static void replace_B(Problem *p, int64_t B) { p->tiling.B_r = p->tiling.B_c = B; }

static void fill_point(SweepNumbers *point, const Snapshot *now, int64_t value, void (*replace)(Problem *, int64_t)) {
  *point = (SweepNumbers){.value = value};
  for (int k = 0; k < now->n_runs; k++) {
    Problem p = now->problem;
    Simulation run;
    p.tiling = now->runs[k].tiling;
    replace(&p, value);
    if (simulate(&run, &p, now->runs[k].schedule, NULL)) continue;
    point->bytes[k] = (double)run.total_bytes;
    point->fits[k] = run.fits;
  }
}

/* Powers of two from low to high, with the present value among them. */
static int sweep(SweepNumbers *points, const Snapshot *now, int64_t low, int64_t high, int64_t present,
                 void (*replace)(Problem *, int64_t)) {
  int n = 0;
  bool is_in = false;
  for (int64_t value = low; value <= high && n < CHART_SWEEP_POINTS - 1; value *= 2) {
    if (!is_in && present <= value) {
      if (present < value) fill_point(&points[n++], now, present, replace);
      is_in = true;
    }
    fill_point(&points[n++], now, value, replace);
  }
  if (!is_in) fill_point(&points[n++], now, present, replace);
  return n;
}

static void fill_sweeps(ChartNumbers *c, const Snapshot *now) {
  const SnapshotGrid *g = &now->grid;
  const int64_t mid = power_at_most(c->N), most = larger(g->N_q, g->N_k);
  const int64_t low = larger(smaller(16, mid), mid / 32), high = smaller(larger(mid, 32) * 32, (int64_t)1 << 40);
  c->n_N = sweep(c->by_N, now, low, larger(high, mid), c->N, replace_N);
  const int64_t largest =
      smaller(power_at_least(most), power_at_least(4 * larger(now->max_block, larger(g->B_r, g->B_c))));
  c->n_B = sweep(c->by_B, now, smaller(larger(1, largest / 256), power_at_most(g->B_r)), larger(largest, g->B_r),
                 g->B_r, replace_B);
}

/* ---- The map of blocks ----------------------------------------------------------------------------------- */

/* The sizes along one side: powers of two around the present one and the largest that fits, none beyond what N can use.
 */
static int sizes_along(int64_t *sizes, int64_t N, int64_t B, int64_t max_block) {
  int64_t high = smaller(power_at_least(N), power_at_least(4 * larger(B, larger(max_block, 1))));
  high = larger(high, power_at_least(B));
  int64_t low = high;
  for (int n = 1; n < CHART_MAP_SIDE && low > 1; n++) low /= 2;
  int n = 0;
  for (int64_t size = low; size <= high && n < CHART_MAP_SIDE; size *= 2) sizes[n++] = size;
  return n;
}

/* How far from a square, as the logarithm of the longer side by the shorter. */
static double length_of(const BlockMap *map, int q, int k) { return fabs(log2((double)map->q[q] / (double)map->k[k])); }

static void fill_cell(BlockMap *map, int q, int k, const Snapshot *now) {
  Problem p = now->problem;
  Simulation run;
  p.tiling.B_r = map->q[q];
  p.tiling.B_c = map->k[k];
  if (simulate(&run, &p, now->schedule, NULL)) return;
  const double bytes = (double)run.total_bytes, best = map->has_best ? map->bytes[map->best_q][map->best_k] : INFINITY;
  map->bytes[q][k] = bytes;
  map->fits[q][k] = run.fits;
  map->low_bytes = fmin(map->low_bytes, bytes);
  map->high_bytes = fmax(map->high_bytes, bytes);
  if (!run.fits || bytes > best || (bytes == best && length_of(map, q, k) >= length_of(map, map->best_q, map->best_k)))
    return;
  map->has_best = true;
  map->best_q = q;
  map->best_k = k;
}

/* The largest B_c whose tiles fit beside B_r rows of Q; 0: none. */
static int64_t largest_beside(const Snapshot *now, int64_t B_r) {
  const Problem *p = &now->problem;
  int64_t fits = 0, too_large = PLAN_MAX_BLOCK + 1;
  while (too_large - fits > 1) {
    const int64_t middle = fits + (too_large - fits) / 2;
    if (simulation_held(&p->machine, now->schedule, B_r, middle, &p->shape) != HELD_NOWHERE)
      fits = middle;
    else
      too_large = middle;
  }
  return fits;
}

static void fill_map(BlockMap *map, const Snapshot *now) {
  const SnapshotGrid *g = &now->grid;
  map->low_bytes = INFINITY;
  map->n_q = sizes_along(map->q, g->N_q, g->B_r, now->max_block);
  map->n_k = sizes_along(map->k, g->N_k, g->B_c, now->max_block);
  for (int q = 0; q < map->n_q; q++)
    for (int k = 0; k < map->n_k; k++) fill_cell(map, q, k, now);
  const double low = (double)map->q[0] / sqrt(2), high = (double)map->q[map->n_q - 1] * sqrt(2);
  for (int e = 0; e < CHART_FRONTIER; e++) {
    map->edge_q[e] = low * pow(high / low, e / (double)(CHART_FRONTIER - 1));
    map->edge_k[e] = (double)largest_beside(now, larger(1, (int64_t)round(map->edge_q[e])));
  }
}

/* ---- The roofline ---------------------------------------------------------------------------------------- */

static double bytes_of(const Traffic *t) {
  bool overflow = false;
  return (double)traffic_read_bytes(t, &overflow) + (double)traffic_write_bytes(t, &overflow);
}

/* After some of the traffic of the head that is shown: the launch has then done the same part of its work. */
static RooflinePoint point_after(const RooflineNumbers *r, const Traffic *t, const Traffic *whole, const Gpu *gpu) {
  const double bytes = bytes_of(whole) > 0 ? bytes_of(t) / bytes_of(whole) : 0,
               products = whole->flops > 0 ? (double)t->flops / (double)whole->flops : 0;
  TimeWork work = r->work;
  work.hbm_bytes *= bytes, work.l2_bytes *= bytes, work.sram_bytes *= bytes, work.port_bytes *= bytes;
  work.flops *= products, work.exps *= products, work.busiest_flops *= products;
  const double level = r->level == TIME_L2 ? work.l2_bytes : work.hbm_bytes, seconds = timing_bound(&work, gpu).bound_s;
  return (RooflinePoint){.flops_per_byte = level > 0 ? work.flops / level : 0,
                         .flops_per_s = seconds > 0 ? work.flops / seconds : 0};
}

static void widen_span(RooflineNumbers *r, double flops_per_byte) {
  if (flops_per_byte <= 0) return;
  r->low_flops_per_byte = r->low_flops_per_byte > 0 ? fmin(r->low_flops_per_byte, flops_per_byte) : flops_per_byte;
  r->high_flops_per_byte = fmax(r->high_flops_per_byte, flops_per_byte);
}

/* Where the moving point comes by, looked up at some steps of the run, the first ones closely. */
static void span_path(RooflineNumbers *r, const Snapshot *now, const Simulation *run) {
  enum { LOOKS = 128, FIRST = 32 };
  for (int n = 1; n <= LOOKS; n++) {
    Traffic traffic;
    const Wide step = n <= FIRST ? wide(n) : (Wide)now->n_steps * wide(n) / LOOKS;
    place_traffic(run->schedule, &run->plan, step < now->n_steps ? (uint64_t)step : now->n_steps, &traffic);
    widen_span(r, point_after(r, &traffic, &run->traffic, &now->gpu).flops_per_byte);
  }
  for (int k = 0; k < now->n_runs; k++) widen_span(r, r->ends[k].flops_per_byte);
}

static void fill_roofline(RooflineNumbers *r, const Snapshot *now, const Simulation *run) {
  const Gpu *gpu = &now->gpu;
  const Dtype dtype = now->problem.shape.dtype;
  r->level = gpu->l2_bytes > 0 ? TIME_L2 : TIME_HBM;
  r->level_bytes_per_s = timing_rate(gpu, r->level, dtype);
  r->hbm_bytes_per_s = timing_rate(gpu, TIME_HBM, dtype);
  r->peak_flops_per_s = timing_rate(gpu, TIME_MATH, dtype);
  r->exp_flops_per_s = timing_exp_ceiling_flops_per_s(gpu, run->plan.shape.d, run->plan.shape.d_v);
  r->ridge = timing_ridge(gpu, r->level, dtype);
  for (int k = 0; k < now->n_runs; k++) {
    Simulation launch;
    if (simulation_answer(&launch, &now->asked, now->runs[k].schedule, gpu, NULL)) continue;
    r->ends[k] = simulation_roof(&launch, gpu, r->level);
    if (now->runs[k].schedule != now->schedule) continue;
    r->work = simulation_own_work(&launch, gpu);
    r->end_hbm = simulation_roof(&launch, gpu, TIME_HBM);
    r->bound = launch.timing.run.bound;
    r->term = timing_term(&launch.timing.run);
  }
  span_path(r, now, run);
}

RooflinePoint chart_roofline_now(const RooflineNumbers *r, const Snapshot *now) {
  return point_after(r, &now->traffic, &now->whole, &now->gpu);
}

RooflinePoint chart_roofline_before(const RooflineNumbers *r, const Snapshot *now) {
  const Event *e = &now->event;
  Traffic before = now->traffic;
  if (!now->has_event) return chart_roofline_now(r, now);
  before.flops -= e->flops;
  if (e->bytes) {
    Wide *moved = event_goes_out(e->kind) ? &before.write[e->tensor] : &before.read[e->tensor];
    *moved -= e->bytes < *moved ? e->bytes : *moved; /* m and l go under one name */
  }
  return before.flops > 0 ? point_after(r, &before, &now->whole, &now->gpu) : chart_roofline_now(r, now);
}

/* ---- All of them ----------------------------------------------------------------------------------------- */

void chart_numbers_make(ChartNumbers *c, const Snapshot *now) {
  Simulation run;
  memset(c, 0, sizeof *c);
  c->n_runs = now->n_runs;
  c->shown = -1;
  for (int k = 0; k < now->n_runs; k++) {
    c->schedules[k] = now->runs[k].schedule;
    if (now->runs[k].schedule == now->schedule) c->shown = k;
  }
  const int64_t group = run_group(now);
  c->of_keys = now->problem.shape.N_q == group;
  c->N = c->of_keys ? now->grid.N_k : now->grid.N_q / group;
  c->max_block = now->max_block;
  fill_sweeps(c, now);
  fill_map(&c->map, now);
  if (simulate(&run, &now->problem, now->schedule, NULL)) return; /* it was possible when the stage was made */
  fill_roofline(&c->roofline, now, &run);
  chart_misses_make(&c->misses, &run, &now->gpu, now->grid.column_by_column);
}
