/* How long a simulation takes on a machine: part of sim/simulate.h. */
#include <math.h>
#include <stdlib.h>

#include "sim/algorithms/walk/place.h"
#include "sim/simulate.h"

enum { ROWS_MAX = 4096 };

double simulation_pair_flops(const Shape *shape) { return 2 * ((double)shape->d + (double)shape->d_v); }

double simulation_exps(const Simulation *s, double flops) {
  const PairCost pair = schedule_pair_cost(s->schedule, &s->plan);
  return pair.flops > 0 ? flops / pair.flops * pair.exps : 0;
}

static double heads_of(const Simulation *s) { return (double)s->plan.shape.batch * (double)s->plan.shape.heads; }

/* S, P: rows x columns that lie in HBM between two kernels. */
static bool is_by_tiles(const Simulation *s, int tensor) {
  const ProgramTensor *v = &s->schedule->tensors[tensor];
  return v->role == TENSOR_BETWEEN && v->rows == SIDE_ROWS && v->cols == SIDE_COLS && s->traffic.write[tensor] > 0;
}

static double n_intermediates(const Simulation *s) {
  int n = 0;
  for (int t = 0; t < s->schedule->n_tensors; t++) n += is_by_tiles(s, t);
  return n > 1 ? n : 1;
}

/* Between two kernels L2 keeps at most its own size of each intermediate; the rest is written to HBM and read back. */
static double intermediates_beyond_l2(const Simulation *s, double l2_bytes) {
  const double n = n_intermediates(s), one = (double)s->intermediates_bytes / n;
  return one > l2_bytes ? 2 * n * (one - l2_bytes) : 0;
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
  if (p->mask.pattern) return (double)plan_count(p, (Span){i, i + 1}, (Span){0, p->T_c}).area;
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
static double busiest_rows_flops(const Simulation *s, double n_sm) {
  const int64_t n = s->plan.T_r;
  double area[ROWS_MAX], most = 0;
  if (n > ROWS_MAX) return 0; /* a fair share is as good for that many */
  for (int64_t i = 0; i < n; i++) area[i] = row_area(s, i);
  qsort(area, (size_t)n, sizeof *area, descending);
  for (int64_t k = 0; k < n; k++) most = fmax(most, ceil(heads_of(s) * (double)(k + 1) / n_sm) * area[k]);
  return most * schedule_pair_cost(s->schedule, &s->plan).flops;
}

/* One CTA does all of a head, whatever its tiles. */
static double busiest_head_flops(const Simulation *s, double n_sm) {
  return ceil(heads_of(s) / n_sm) * (double)s->traffic.flops / heads_of(s);
}

static bool is_masked(const Plan *p) { return p->shape.causal || p->shape.window || p->shape.sided || p->mask.pattern; }

/* CTAs of a pass, of one head: one for each of these many blocks of rows, of keys, ... that its loops share out. */
static double ctas_of(const Simulation *s, int pass, const int64_t n_of[DIM_COUNT]) {
  double n = 1;
  for (int op = 0; op < s->schedule->n_ops; op++) {
    const ProgramOp *o = &s->schedule->ops[op];
    if (o->kind == OP_LOOP && o->pass == pass && o->every) n *= (double)n_of[o->dim];
  }
  return n;
}

/* FLOPs of the SM that has most in a pass, times the SMs. Without a mask CTAs are alike, but for those of the last
 * blocks; of n, some SM has ceil(n / n_sm). */
static double pass_flops(const Simulation *s, int pass, double flops, const Gpu *gpu) {
  const double heads = (double)schedule_heads(s->schedule, &s->plan.shape), n_sm = (double)gpu->n_sm;
  if (n_sm == 0 || gpu->l2_bytes == 0 || is_masked(&s->plan)) return flops;
  const Plan *p = &s->plan;
  const int64_t T_r = p->shape.N_q / p->tiling.B_r, T_c = p->shape.N_k / p->tiling.B_c,
                n_splits = p->tiling.n_splits > 1 ? p->shape.N_k / (p->tiles_per_split * p->tiling.B_c) : 0;
  const int64_t all[DIM_COUNT] = {p->T_r, p->T_c, p->tiling.n_splits, schedule_group(p)},
                whole[DIM_COUNT] = {T_r ? T_r : all[DIM_I], T_c ? T_c : all[DIM_J], n_splits ? n_splits : all[DIM_S],
                                    all[DIM_H]}; /* without those of the last blocks, where these are smaller */
  const double a_cta = flops / (heads * ctas_of(s, pass, all));
  return fmax(flops, n_sm * a_cta * ceil(heads * ctas_of(s, pass, whole) / n_sm));
}

/* Tiles of one product, a CTA each, and row blocks of the other. */
static double busiest_products_flops(const Simulation *s, double n_sm) {
  const Plan *p = &s->plan;
  const double T_r = (double)p->T_r, T_c = (double)p->T_c, tile = 2 * (double)p->tiling.B_r * (double)p->tiling.B_c;
  const double first = ceil(heads_of(s) * T_r * T_c / n_sm) * tile * (double)p->shape.d,
               second = ceil(heads_of(s) * T_r / n_sm) * T_c * tile * (double)p->shape.d_v;
  return first + second;
}

/* Of split keys no CTA has fewer than its share, and the longest has all of its tiles; a key block has all rows. */
static double busiest_split_flops(const Simulation *s) {
  const Plan *p = &s->plan;
  const bool of_columns = schedule_owns_columns(s->schedule);
  const double rows = fmin((double)(of_columns ? p->shape.N_q : p->tiling.B_r), (double)p->shape.N_q),
               keys = fmin((double)(of_columns ? 1 : p->tiles_per_split) * (double)p->tiling.B_c, (double)p->shape.N_k);
  return is_masked(p) ? 0 : rows * keys * simulation_pair_flops(&p->shape);
}

/* Of the run as it is launched. */
static double own_busiest_flops(const Simulation *s, const Gpu *gpu) {
  const double n_sm = (double)gpu->n_sm, share = n_sm > 0 ? (double)s->traffic.flops / n_sm : 0;
  if (n_sm == 0 || gpu->l2_bytes == 0) return 0;
  if (s->schedule->whole_head) return busiest_head_flops(s, n_sm);
  if (!s->schedule->skips) return busiest_products_flops(s, n_sm);
  if (s->schedule->n_passes == 1)
    return fmax(pass_flops(s, 0, (double)s->traffic.flops, gpu) / n_sm, busiest_rows_flops(s, n_sm));
  return fmax(share, busiest_split_flops(s));
}

/* Products that any tiles need: of the pairs that the mask leaves, where masked tiles are skipped at all. */
static double least_flops(const Simulation *s) {
  const PairCost pair = schedule_pair_cost(s->schedule, &s->plan);
  if (!s->schedule->skips || !pair.is_all) return (double)s->traffic.flops;
  return (double)mask_pairs(&s->plan.mask) * pair.flops * heads_of(s);
}

/* Inputs once, as far as the mask leaves anything of them. */
static double least_inputs_bytes(const Simulation *s) {
  const Shape *h = &s->plan.shape;
  const double O = heads_of(s) * (double)h->N_q * (double)h->d_v * plan_element(&s->plan, OPERAND_OUT);
  return s->schedule->skips ? fmin(simulation_needed_bytes(h) - O, (double)s->read_bytes) : (double)s->inputs_bytes;
}

/* With L2, which may keep what comes out last. */
static HbmBytes least_hbm_bytes(const Simulation *s, double l2_bytes) {
  const double beyond = intermediates_beyond_l2(s, l2_bytes) / 2;
  return (HbmBytes){fmin((double)s->read_bytes, least_inputs_bytes(s) + beyond),
                    fmin((double)s->write_bytes, fmax(0, (double)s->outputs_bytes - l2_bytes) + beyond)};
}

static HbmBytes hbm_bytes_behind(const Simulation *s, double l2) {
  if (s->has_l2) return (HbmBytes){s->l2.hbm_read_bytes, simulation_hbm_write_bytes(s)};
  return l2 > 0 ? least_hbm_bytes(s, l2) : (HbmBytes){(double)s->read_bytes, (double)s->write_bytes};
}

HbmBytes simulation_hbm_bytes(const Simulation *s) { return hbm_bytes_behind(s, (double)s->machine.l2_bytes); }

/* The number of CTAs that could share the bytes, whatever the tiles: those of the pass with most, in blocks of one. */
static double most_ctas(const Simulation *s) {
  const Plan *p = &s->plan;
  const int64_t ones[DIM_COUNT] = {p->shape.N_q, p->shape.N_k, p->tiling.n_splits, 1}; /* heads_of: all of a group */
  double most = 1;
  if (!s->schedule->skips) return INFINITY;
  for (int pass = 0; pass < s->schedule->n_passes; pass++) most = fmax(most, ctas_of(s, pass, ones));
  return heads_of(s) * most;
}

/* ---- Kernels, one after another ----------------------------------------------------------------------------- */

/* Bytes of HBM in a pass, at least. Without L2, all that cross the SRAM boundary; with it, of each intermediate what it
 * cannot keep. */
static double pass_hbm_bytes(const Simulation *s, const Traffic *pass, double l2_bytes) {
  bool overflow = false;
  if (l2_bytes == 0) return (double)(traffic_read_bytes(pass, &overflow) + traffic_write_bytes(pass, &overflow));
  const double one = (double)s->intermediates_bytes / n_intermediates(s);
  double bytes = 0;
  for (int t = 0; t < s->schedule->n_tensors; t++)
    if (is_by_tiles(s, t))
      bytes +=
          fmax(0, fmin((double)pass->read[t], one) - l2_bytes) + fmax(0, fmin((double)pass->write[t], one) - l2_bytes);
  return bytes;
}

static void take_rate(double *seconds, double amount, double rate) {
  if (rate > 0) *seconds = fmax(*seconds, amount / rate);
}

/* Where there are several passes, one after another, as a kernel begins when the last has ended: the longest part of
 * each, as it is launched, or in any tiles; and what the busiest SM of each multiplies. Exponentials are left out. */
static void take_kernels(const Simulation *s, const Gpu *gpu, bool as_launched, TimeWork *work) {
  const Schedule *p = s->schedule;
  const Wide heads = schedule_heads(p, &s->plan.shape), n_steps = schedule_n_steps(p, &s->plan);
  const double share = s->traffic.flops > 0 ? work->flops / (double)s->traffic.flops : 0;
  Traffic before = {0};
  double busiest = 0;
  if (p->n_passes < 2 || p->whole_head || n_steps >= (Wide)1 << 62) return;
  for (uint64_t step = 0; step < (uint64_t)n_steps;) {
    Traffic after, pass;
    Cursor cursor = {0};
    Event event;
    bool overflow = false;
    double longest = 0;
    if (!schedule_seek(p, &s->plan, &cursor, step) || !schedule_next(p, &s->plan, &cursor, &event)) break;
    step = place_steps(p, &s->plan, step, PLACE_PASS).end;
    place_traffic(p, &s->plan, step, &after);
    pass = traffic_since(&before, &after);
    before = after;
    traffic_scale(&pass, heads, &overflow);
    const double read = (double)traffic_read_bytes(&pass, &overflow),
                 written = (double)traffic_write_bytes(&pass, &overflow), all = share * (double)pass.flops,
                 products = as_launched ? pass_flops(s, event.pass, all, gpu) : all;
    take_rate(&longest, products, timing_rate(gpu, TIME_MATH, work->dtype));
    take_rate(&longest, pass_hbm_bytes(s, &pass, (double)gpu->l2_bytes), timing_rate(gpu, TIME_HBM, work->dtype));
    take_rate(&longest, as_launched ? read + written : 0, timing_rate(gpu, TIME_L2, work->dtype));
    take_rate(&longest, as_launched ? 2 * read + written : 0, timing_rate(gpu, TIME_SRAM, work->dtype));
    work->kernels_s += longest;
    busiest += products;
  }
  if (as_launched && gpu->n_sm > 0 && gpu->l2_bytes > 0)
    work->busiest_flops = fmax(work->busiest_flops, busiest / (double)gpu->n_sm);
}

TimeWork simulation_work(const Simulation *s, const Gpu *gpu) {
  const double l2 = (double)gpu->l2_bytes, n_sm = (double)gpu->n_sm;
  const double in = least_inputs_bytes(s), out = (double)s->outputs_bytes;
  const HbmBytes least = least_hbm_bytes(s, l2);
  TimeWork work = {.hbm_bytes = l2 > 0 ? least.read + least.written : (double)s->read_bytes + (double)s->write_bytes,
                   .l2_bytes = in + out,
                   .sram_bytes = 2 * in + out,
                   .flops = least_flops(s),
                   .busiest_flops = s->schedule->whole_head && l2 > 0 && n_sm > 0 ? busiest_head_flops(s, n_sm) : 0,
                   .port_bytes = l2 > 0 ? (in + out) / fmin(n_sm, most_ctas(s)) : 0,
                   .n_launches = s->schedule->n_passes,
                   .dtype = s->plan.shape.dtype};
  work.exps = simulation_exps(s, work.flops);
  if (l2 > 0) take_kernels(s, gpu, false, &work);
  return work;
}

/* Of the CTA that moves most: its rows of Q and O and the keys that it reads; of a key block, with the rows that see
 * it. At least: what spills, and stored sums, come besides. */
static double busiest_cta_bytes(const Simulation *s) {
  const Plan *p = &s->plan;
  const double row_bytes = (double)p->shape.d * (double)p->element_bytes +
                           (double)p->shape.d_v * (double)plan_element(p, OPERAND_OUT) + (p->tiling.lse ? 4 : 0);
  const double key = plan_key_bytes(p);
  const bool of_columns = schedule_owns_columns(s->schedule), is_split = p->tiling.n_splits > 1;
  const int64_t n = of_columns ? p->T_c : p->T_r, B = of_columns ? p->tiling.B_c : p->tiling.B_r;
  double most = 0;
  if (n > ROWS_MAX || (is_split && (p->shape.window || p->shape.sided || p->mask.pattern))) return 0;
  for (int64_t i = 0; i < n; i++) {
    const double own = fmin((double)B, (double)(of_columns ? p->shape.N_k : p->shape.N_q) - (double)(i * B));
    if (of_columns) {
      const double rows = fmax(0, (double)plan_column_tiles(p, i).computed - 1) * (double)p->tiling.B_r;
      most = fmax(most, own * key + rows * row_bytes);
    } else {
      const double keys = row_area(s, i) / own, share = (double)(p->tiles_per_split * p->tiling.B_c);
      most = fmax(most, own * row_bytes + (is_split ? fmin(keys, share) : keys) * key);
    }
  }
  return most;
}

TimeWork simulation_own_work(const Simulation *s, const Gpu *gpu) {
  const double read = s->has_l2 ? s->l2.read_bytes : (double)s->read_bytes,
               written = s->has_l2 ? s->l2.write_bytes : (double)s->write_bytes, sms = (double)gpu->n_sm;
  const HbmBytes hbm = hbm_bytes_behind(s, (double)gpu->l2_bytes);
  TimeWork work = {.hbm_bytes = hbm.read + hbm.written,
                   .l2_bytes = read + written,
                   .sram_bytes = 2 * (double)s->read_bytes + (double)s->write_bytes,
                   .flops = (double)s->traffic.flops,
                   .busiest_flops = own_busiest_flops(s, gpu),
                   .n_launches = s->schedule->n_passes,
                   .dtype = s->plan.shape.dtype};
  work.exps = simulation_exps(s, work.flops);
  take_kernels(s, gpu, true, &work);
  const double shared = s->has_l2 ? s->l2.shared_bytes : 0; /* it comes through each SM's port all the same */
  const bool is_piece = s->has_launch && s->schedule->n_kernels == 1;
  const double ports = fmin(sms, is_piece ? (double)s->launch.n_pieces : most_ctas(s));
  if (gpu->l2_bytes > 0)
    work.port_bytes =
        fmax((read + shared + written) / ports, s->has_launch && s->schedule->skips ? busiest_cta_bytes(s) : 0);
  return work;
}

/* Without L2 the bytes that cross depend on the tile: the least of this one and of others that fit; without splits. */
static void take_best_tiles(TimeWork *work, const Simulation *s) {
  for (int64_t B_r = 1; B_r <= 1 << 14; B_r *= 2) {
    for (int64_t B_c = 1; B_c <= 256; B_c *= 4) {
      const Problem problem = {
          .shape = s->plan.shape, .tiling = {.B_r = B_r, .B_c = B_c, .n_splits = 1}, .machine = s->machine};
      Simulation other;
      if (simulate(&other, &problem, s->schedule, NULL) || !other.fits) continue;
      work->hbm_bytes = fmin(work->hbm_bytes, (double)other.total_bytes);
    }
  }
}

/* ---- Predicted ------------------------------------------------------------------------------------------- */

/* Kernels were timed on H100 and H200 SXM: 132 SMs, 1.98 GHz, HBM of 3.1 and 4.35 TB/s as read. */
#define TIMED_CLOCK_HZ    1.98e9
#define TIMED_SMS         132
#define TIMED_HBM_BYTES_S 4.35e12 /* where the three kernels of standard attention were */
#define CUBLAS_OF_PEAK    0.9     /* of a unit's peak rate of products, at most; assumed */
enum { TIMED_N_MIN = 512, TIMED_N_MAX = 65536, SHORT_N = 2048 };

bool simulation_is_timed_card(const Gpu *gpu) {
  return strcmp(gpu->compute_capability, "9.0") == 0 && gpu->n_sm == TIMED_SMS && gpu->clock_hz == TIMED_CLOCK_HZ;
}

static const char ANOTHER_CARD[] = "another card: by its clock, SMs and bandwidth";

/* Why a timed kernel's run is none of those that were recorded; NULL: it is. */
static const char *beyond_recorded(const Simulation *s, const Gpu *gpu) {
  const Shape shape = shape_unpacked(&s->plan.shape);
  const Tiling *t = &s->plan.tiling;
  const int64_t shortest = shape.N_q == 1 || shape.N_q > shape.N_k ? shape.N_k : shape.N_q;
  const bool is_other = !simulation_is_timed_card(gpu); /* of which others print bf16 as well */
  if (shape.dtype != DTYPE_FP16 && !(is_other && shape.dtype == DTYPE_BF16)) return "fp16 alone was recorded";
  if (t->B_r != s->config.block_q || t->B_c != s->config.block_k) return "another tile than the kernel's";
  const bool has_window = shape.window || shape.sided;
  const TimeLaw *law = &s->config.time;
  const bool any_mask = law->partial_permille > 0; /* of blocks */
  if (!any_mask && ((has_window && !law->window_permille) || shape.top_left || shape.pattern))
    return "a mask that was not recorded";
  if (shortest < TIMED_N_MIN) return "fewer than 512 tokens were not recorded";
  if (shape.N_k > TIMED_N_MAX || shape.N_q > TIMED_N_MAX) return "more than 64K tokens were not recorded";
  if (is_other && (t->n_splits > 1 || shape.N_q == 1)) return "another card, and split keys: by its bandwidth";
  return is_other ? ANOTHER_CARD : NULL;
}

static TimeRegime regime_of(const Simulation *s, const Gpu *gpu) {
  const Shape shape = shape_unpacked(&s->plan.shape);
  if (shape.varlen) return REGIME_VARLEN;
  if (shape.N_q == 1) return REGIME_DECODE;
  if (s->plan.tiling.n_splits > 1) return REGIME_SPLIT;
  if (shape.window || shape.sided) return REGIME_WINDOW;
  if (s->launch.n_pieces < gpu->n_sm) return REGIME_FEW;
  if (shape.kv_heads < shape.heads) return REGIME_GROUPED;
  if (shape.N_q > SHORT_N) return REGIME_LONG;
  return shape.causal ? REGIME_SHORT_CAUSAL : REGIME_SHORT;
}

/* How far the clock of another card falls under load is not known: consumer cards run above the clock of their data
 * sheet. */
TimeLaw simulation_law(const Simulation *s, const Gpu *gpu) {
  TimeLaw law = s->config.time;
  if (!simulation_is_timed_card(gpu)) law.power_permille = 0;
  return law;
}

/* By the clock, and where the units are slower by their peak. */
SmSpeed simulation_speed(const Simulation *s, const Gpu *gpu) {
  if (simulation_is_timed_card(gpu)) return (SmSpeed){.slower = 1};
  const double products = timing_rate(gpu, TIME_MATH, s->plan.shape.dtype) / (double)gpu->n_sm,
               tile_flops = (double)s->config.time.tile_area * simulation_pair_flops(&s->plan.shape);
  return (SmSpeed){.slower = TIMED_CLOCK_HZ / gpu->clock_hz, .least_tile_s = products > 0 ? tile_flops / products : 0};
}

/* Three kernels: two products by tiles, and a softmax whose rows cost besides (2-norm). */
static double unfused_s(const Simulation *s, const Gpu *gpu, double hbm_bytes_per_s) {
  const TimeLaw *law = &s->config.time;
  const Shape *shape = &s->plan.shape;
  const double n_sm = (double)gpu->n_sm, tile_area = (double)law->tile_area, heads = heads_of(s);
  const double memory = TIMED_HBM_BYTES_S / hbm_bytes_per_s * 1e-9, clock = TIMED_CLOCK_HZ / gpu->clock_hz * 1e-9;
  const double rows = heads * (double)shape->N_q, scores = rows * (double)shape->N_k;
  const double seen = (double)mask_pairs(&s->plan.mask) * heads / scores;
  const double tiles = scores / tile_area, peak = timing_rate(gpu, TIME_MATH, shape->dtype) * CUBLAS_OF_PEAK;
  const double products = fmax(tiles / TIMED_SMS * (double)law->tile_ns * memory, (double)s->traffic.flops / peak),
               stream = tiles / TIMED_SMS * (double)law->softmax_tile_ns * (1 + seen) / 2 * memory,
               each_row = ceil(rows / n_sm) * (double)law->row_ns * clock;
  return 3e-9 * (double)law->start_ns + products + hypot(stream, each_row);
}

/* Split keys fill the SMs, however many parts a library makes: all tiles over all SMs, and what one CTA costs besides.
 * Under a causal mask as many as without: the last part of every row block ends the launch. One query: the first
 * wave's CTAs wait for memory alone. */
static double split_s(const Simulation *s, const Gpu *gpu) {
  const TimeLaw *law = &s->config.time;
  const Plan *p = &s->plan;
  const SmSpeed speed = simulation_speed(s, gpu);
  const bool is_whole = !p->shape.window && !p->shape.sided && !p->mask.pattern;
  const double of_head = is_whole ? (double)p->T_r * (double)p->shape.N_k / (double)p->tiling.B_c
                                  : (double)plan_count(p, (Span){0, p->T_r}, (Span){0, p->T_c}).computed;
  const double waves = (double)s->launch.n_pieces / (double)s->launch.n_slots;
  const double besides = (shape_unpacked(&p->shape).N_q == 1 ? fmax(waves - 1, 0) : 1) *
                         (double)(law->block_permille + (p->shape.causal ? law->mask_permille : 0)) / 1000 *
                         (double)s->launch.occupancy.ctas_per_sm;
  const double tile_s = fmax((double)law->tile_ns * 1e-9 * speed.slower, speed.least_tile_s);
  return tile_s * (heads_of(s) * of_head / (double)gpu->n_sm + besides);
}

/* The same rows by the kernel that does not split: a library splits where that is no slower. */
static double unsplit_s(const Simulation *s, const Gpu *gpu, double hbm_s) {
  const Shape shape = shape_unpacked(&s->plan.shape);
  LaunchConfig config;
  Launch launch;
  Plan plan;
  if (shape.N_q == 1 || profile_config(s->kernel, &shape, &config, NULL)) return INFINITY;
  const Tiling tiling = {.B_r = config.block_q, .B_c = config.block_k, .n_splits = 1};
  if (plan_make(&plan, &shape, &tiling, NULL) || launch_make(&launch, &shape, &config, gpu, NULL)) return INFINITY;
  if (!simulation_is_timed_card(gpu)) config.time.power_permille = 0;
  return makespan_kernel_s(
      &config.time, makespan_s(&launch, &(Sequences){&plan, 1, NULL}, &config.time, simulation_speed(s, gpu)), hbm_s);
}

/* CTAs of a few more tokens may happen to fit an SM's time better (Graham's anomaly): no launch under a mask is said to
 * take less than those with a few tiles of keys fewer, up to two row blocks. */
static double rising_makespan_s(const Simulation *s, const Gpu *gpu) {
  const TimeLaw *law = &s->config.time;
  const Plan *p = &s->plan;
  const SmSpeed speed = simulation_speed(s, gpu);
  double most = makespan_s(&s->launch, &(Sequences){p, 1, NULL}, law, speed);
  const int64_t a_row_block = ceil_div(p->tiling.B_r, p->tiling.B_c);
  for (int64_t fewer = 1; fewer <= 2 * a_row_block && fewer < p->T_c; fewer++) {
    Shape shape = p->shape;
    Launch launch;
    Plan shorter;
    if (!shape.causal || shape.N_q != shape.N_k || shape.pattern || s->config.of_columns) break;
    shape.N_q = shape.N_k = (p->T_c - fewer) * p->tiling.B_c;
    if (plan_make(&shorter, &shape, &p->tiling, NULL) || launch_make(&launch, &shape, &s->launch.config, gpu, NULL))
      break;
    most = fmax(most, makespan_s(&launch, &(Sequences){&shorter, 1, NULL}, law, speed));
  }
  return most;
}

static double predict(const Simulation *s, const Gpu *gpu, double hbm_bytes) {
  const TimeLaw on_card = simulation_law(s, gpu), *law = &on_card;
  const double hbm_s = hbm_bytes / gpu_hbm_bytes_per_s(gpu);
  if (law->softmax_tile_ns) return unfused_s(s, gpu, gpu_hbm_bytes_per_s(gpu));
  if (s->config.of_columns) {
    const double others_s = simulation_others_bytes(s) / gpu_hbm_bytes_per_s(gpu);
    return (double)(s->schedule->n_kernels - 1) * (double)law->start_ns * 1e-9 +
           (double)law->others_permille / 1000 * others_s +
           makespan_kernel_s(
               law, makespan_s(&s->launch, &(Sequences){&s->plan, 1, NULL}, law, simulation_speed(s, gpu)), hbm_s);
  }
  if (s->plan.tiling.n_splits == 1) return makespan_kernel_s(law, rising_makespan_s(s, gpu), hbm_s);
  const double combine =
      1e-9 * (double)((s->schedule->n_passes - 1) * law->start_ns + s->plan.tiling.n_splits * law->part_ns);
  const double unsplit = unsplit_s(s, gpu, hbm_s);
  const bool has_window = s->plan.shape.window || s->plan.shape.sided; /* under which split keys were not timed */
  if (has_window && isfinite(unsplit)) return unsplit;
  return fmin(combine + makespan_kernel_s(law, split_s(s, gpu), hbm_s), unsplit);
}

/* Why no time is predicted; NULL: one is. */
static const char *not_predicted(const Simulation *s, const Gpu *gpu) {
  if (!s->kernel) return "no kernel is named (--kernel)";
  if (s->config.time.tile_ns == 0) return "the kernel's description has no times for such heads";
  if (!s->has_launch || gpu->l2_bytes == 0) return "the kernel is not launched on such a machine";
  return gpu_hbm_bytes_per_s(gpu) > 0 && gpu->clock_hz > 0 ? NULL : "the machine's clock or bandwidth is not known";
}

void simulation_time(Simulation *s, const Gpu *gpu) {
  TimeWork least = simulation_work(s, gpu);
  if (gpu->l2_bytes == 0) take_best_tiles(&least, s);
  const TimeWork own = simulation_own_work(s, gpu);
  Timing t = {.run = timing_bound(&own, gpu),
              .floor = timing_bound(&least, gpu),
              .launch_s = least.n_launches * gpu->launch_overhead_s,
              .computes_in = gpu_computes_in(gpu, least.dtype),
              .predicted_s = (double)NAN};
  t.least_s = t.floor.bound_s;
  t.run.bound_s = t.seconds = fmax(t.run.bound_s, t.least_s);
  t.why = not_predicted(s, gpu);
  if (!t.why) {
    const double predicted = predict(s, gpu, least.hbm_bytes);
    t.why = beyond_recorded(s, gpu);
    if (!t.why && s->config.time.errors[regime_of(s, gpu)].n_runs == 0) t.why = "no run of its sort was recorded";
    t.kind = t.why ? TIME_EXTRAPOLATED : TIME_PREDICTED;
    t.predicted_s = t.seconds = fmax(predicted, t.run.bound_s);
    t.regime = regime_of(s, gpu);
    if (t.why == ANOTHER_CARD) t.regime = REGIME_CARD;
    if (!t.why || t.regime == REGIME_CARD) t.error = s->config.time.errors[t.regime];
  }
  s->timing = t;
  s->timed = true;
}

Status simulation_answer(Simulation *simulation, const Problem *problem, const Schedule *schedule, const Gpu *gpu,
                         Error *error) {
  Status status = simulate(simulation, problem, schedule ? schedule : planner_algorithm(problem), error);
  if (status || !gpu) return status;
  status = simulation_l2(simulation, problem, gpu, error);
  if (!status) simulation_time(simulation, gpu);
  return status;
}
