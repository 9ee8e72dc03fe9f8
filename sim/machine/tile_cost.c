#include "sim/machine/tile_cost.h"

#include <math.h>
#include <stdlib.h>

enum {
  WARP = 32,
  WARPGROUP = 128,
  WGMMA_ROWS = 64,
  MMA_ROWS = 16,
  MMA_KEYS = 8,
  WARPS_MOST = 8,
  REGISTER_BYTES = 4,
  REGISTERS_MOST = 255,    /* that a thread can name */
  OVERHEAD_REGISTERS = 30, /* addresses, statistics: assumed */
  COPY_REGISTERS = 24      /* of a warpgroup that copies: what setmaxnreg leaves it, hopper/flash_fwd_kernel_sm90.h */
};

#define SCORES_PER_CLOCK    8.0
#define WGMMA_PRODUCTS      0.803
#define WGMMA_SOFTMAX       0.494
#define MMA_FLOPS_PER_CLOCK 2044.0 /* at most, and of the peak: */
#define MMA_OF_PEAK         0.9    /* assumed */
#define MMA_SOFTMAX         0.392
#define TILE_CLOCKS         250.0 /* barriers, maxima across lanes: assumed */
#define LANES               128.0 /* of an SM, that scale O by a new maximum */
#define FMA_OF_PEAK         0.5   /* assumed */

static bool has_wgmma(const Gpu *gpu, int64_t B_r) {
  return (int)strtod(gpu->compute_capability, NULL) == 9 && B_r % WGMMA_ROWS == 0;
}

static bool has_tensor(const Gpu *gpu, Dtype dtype) {
  const Dtype in = gpu_computes_in(gpu, dtype);
  return in != DTYPE_FP32 && gpu_flops_per_s(gpu, in, true) > 0;
}

static void shape_wgmma(TileCost *c, const Shape *s, int64_t B_r, int64_t B_c, int64_t element_bytes) {
  const int64_t groups = B_r / WGMMA_ROWS;
  c->instruction = "wgmma";
  c->threads = WARPGROUP * (groups + 1);
  const int64_t each = (B_c + s->d_v) / 2 + OVERHEAD_REGISTERS;
  c->registers_per_thread = (each * groups + COPY_REGISTERS + groups) / (groups + 1);
  c->shared_bytes = element_bytes * (B_r * s->d + 2 * B_c * (s->d + s->d_v));
  if (groups > 3) c->misfit = "more than three warpgroups have no registers for S and O";
  if (each > 240) c->misfit = "S and O need more than 240 registers a thread";
}

static int64_t mma_registers(const Shape *s, int64_t B_r, int64_t B_c, int64_t warps) {
  return B_r / warps * (B_c + s->d_v) / WARP + OVERHEAD_REGISTERS;
}

static void find_shared(TileCost *c, const Shape *s, int64_t B_r, int64_t B_c, int64_t element_bytes) {
  c->shared_bytes = element_bytes * (B_r * s->d + B_c * (s->d + s->d_v));
  if (c->registers_per_thread > REGISTERS_MOST) c->misfit = "S and O need more than 255 registers a thread: they spill";
}

static void shape_mma(TileCost *c, const Shape *s, int64_t B_r, int64_t B_c, int64_t element_bytes) {
  int64_t warps = B_r / MMA_ROWS;
  const bool halves = warps > 4 && warps % 2 == 0; /* 32 rows each: K and V are read half as often */
  if (halves && (warps > WARPS_MOST || mma_registers(s, B_r, B_c, warps / 2) <= REGISTERS_MOST)) warps /= 2;
  if (warps > WARPS_MOST) warps = WARPS_MOST;
  if (warps < 1) warps = 1;
  c->instruction = "mma.sync";
  c->threads = WARP * warps;
  c->registers_per_thread = mma_registers(s, B_r, B_c, warps);
  find_shared(c, s, B_r, B_c, element_bytes);
}

static void shape_fma(TileCost *c, const Shape *s, int64_t B_r, int64_t B_c, int64_t element_bytes) {
  c->instruction = "FMA";
  c->threads = B_r < 2 * WARP ? 2 * WARP : B_r > 256 ? 256 : B_r;
  c->registers_per_thread = (B_r * (B_c + s->d_v) + c->threads - 1) / c->threads + OVERHEAD_REGISTERS;
  find_shared(c, s, B_r, B_c, element_bytes);
}

static int64_t rounded_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

static int64_t in_ns(double seconds) { return seconds < 1 ? (int64_t)ceil(seconds * 1e9) : 1000000000; }

TileCost tile_cost(const Gpu *gpu, const Shape *shape, int64_t B_r, int64_t B_c) {
  TileCost c = {0};
  const int64_t element_bytes = dtype_bytes(shape->dtype);
  const bool tensor = has_tensor(gpu, shape->dtype), wgmma = tensor && has_wgmma(gpu, B_r);
  const int64_t rows = tensor ? rounded_up(B_r, MMA_ROWS) : B_r, keys = tensor ? rounded_up(B_c, MMA_KEYS) : B_c;
  (wgmma ? shape_wgmma : tensor ? shape_mma : shape_fma)(&c, shape, rows, keys, element_bytes);
  const double clock = gpu->clock_hz > 0 ? gpu->clock_hz : 1e9, sms = gpu->n_sm > 0 ? (double)gpu->n_sm : 1;
  const double area = (double)rows * (double)keys, flops = 2 * area * (double)(shape->d + shape->d_v);
  const double peak = timing_rate(gpu, TIME_MATH, shape->dtype) / sms;
  const double rate = wgmma    ? peak / WGMMA_PRODUCTS
                      : tensor ? fmin(MMA_FLOPS_PER_CLOCK * clock, MMA_OF_PEAK * peak)
                               : FMA_OF_PEAK * peak;
  const double products = rate > 0 ? flops / rate : 0, softmax = area / SCORES_PER_CLOCK / clock,
               besides = (TILE_CLOCKS + (double)rows * (double)shape->d_v / LANES) / clock;
  const double readers = wgmma ? (double)(rows / WGMMA_ROWS) : (double)(c.threads / WARP);
  const double keys_bytes = (double)keys * (double)(shape->d + shape->d_v) * (double)element_bytes;
  const double sram = gpu_sram_bytes_per_s(gpu) > 0 ? readers * keys_bytes * sms / gpu_sram_bytes_per_s(gpu) : 0,
               l2 = gpu->l2_bytes_per_s > 0 ? keys_bytes * sms / gpu->l2_bytes_per_s : 0;
  const double of_softmax = (wgmma ? WGMMA_SOFTMAX : MMA_SOFTMAX) * softmax;
  const double computes = products + of_softmax + besides, full = fmax(computes, fmax(sram, l2));
  c.binds = full > computes ? sram > l2 ? TIME_SRAM : TIME_L2 : products > of_softmax ? TIME_MATH : TIME_EXP;
  const double quadrants = fmax(1, 4 / (double)(c.threads / WARP)); /* an SM has four, and a warp is in one of them */
  const bool overlaps = wgmma && rows >= 2 * WGMMA_ROWS;
  c.law = (TimeLaw){.start_ns = 5000,
                    .tile_ns = in_ns(full),
                    .alone_ns = in_ns(overlaps ? full : fmax(full, (products + softmax + besides) * quadrants)),
                    .block_permille = 1000,
                    .mask_permille = 400,
                    .power_permille = 50,
                    .tile_area = B_r * B_c};
  return c;
}

TileCost tile_cost_backward(const Gpu *gpu, const Shape *shape, int64_t B_r, int64_t B_c) {
  const int64_t element_bytes = dtype_bytes(shape->dtype), d = shape->d, d_v = shape->d_v;
  const int64_t rows = rounded_up(B_r, MMA_ROWS), keys = rounded_up(B_c, MMA_ROWS),
                V_bytes = element_bytes * keys * d_v;
  TileCost c = {.instruction = has_tensor(gpu, shape->dtype) ? "mma.sync" : "FMA",
                .threads = WARP * WARPS_MOST,
                .binds = TIME_NONE};
  c.shared_bytes = element_bytes * (rows * (d + d_v) + keys * d + 2 * rows * keys) + V_bytes;
  c.registers_per_thread = (keys * (d + d_v) + 2 * rows * keys) / c.threads + OVERHEAD_REGISTERS;
  if (c.shared_bytes > gpu->shared_bytes_per_cta) {
    c.instruction = has_tensor(gpu, shape->dtype) ? "mma.sync, V in registers" : "FMA, V in registers";
    c.shared_bytes -= V_bytes;
    c.registers_per_thread += V_bytes / REGISTER_BYTES / c.threads;
  }
  if (c.registers_per_thread > REGISTERS_MOST) c.misfit = "dK, dV, S and dP need more than 255 registers a thread";
  if (c.shared_bytes > gpu->shared_bytes_per_cta) c.misfit = "Q, dO, K, P and dS do not fit shared memory";
  return c;
}
