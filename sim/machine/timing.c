#include "sim/machine/timing.h"

#include <math.h>

static const char *const TERMS[TIME_TERM_COUNT][2] = {{"hbm", "HBM"},
                                                      {"l2", "L2"},
                                                      {"sram", "SRAM"},
                                                      {"math", "products"},
                                                      {"exp", "exponentials"},
                                                      [TIME_TERM_BUSIEST] = {"busiest-sm", "busiest SM"},
                                                      [TIME_TERM_PORT] = {"l2-port", "SM port"},
                                                      [TIME_TERM_KERNELS] = {"kernels", "kernels"}};

static const char *const KINDS[TIME_KIND_COUNT] = {"bound", "extrapolated", "predicted"};
static const char *const REGIMES[REGIME_COUNT] = {"decode", "split", "few",    "grouped", "short_causal",
                                                  "short",  "long",  "varlen", "window",  "card"};

const char *time_kind_name(TimeKind kind) { return KINDS[kind]; }
const char *time_regime_name(TimeRegime regime) { return REGIMES[regime]; }
bool time_regime_is_held_out(TimeRegime regime) {
  return regime != REGIME_DECODE && regime != REGIME_VARLEN && regime != REGIME_WINDOW;
}

const char *timing_term_key(int term) { return term == TIME_NONE ? "none" : TERMS[term][0]; }
const char *timing_term_title(int term) { return term == TIME_NONE ? "nothing" : TERMS[term][1]; }

static double products_rate(const Gpu *gpu, Dtype stored) {
  const Dtype dtype = gpu_computes_in(gpu, stored);
  const double tensor = dtype == DTYPE_FP32 ? 0 : gpu_flops_per_s(gpu, dtype, true);
  return tensor > 0 ? tensor : gpu_flops_per_s(gpu, dtype, false);
}

double timing_rate(const Gpu *gpu, TimePart part, Dtype dtype) {
  switch (part) {
  case TIME_HBM: return gpu->hbm_bytes_per_s;
  case TIME_L2: return gpu->l2_bytes > 0 ? gpu->l2_bytes_per_s : 0;
  case TIME_SRAM: return gpu_sram_bytes_per_s(gpu);
  case TIME_MATH: return products_rate(gpu, dtype);
  case TIME_EXP: return gpu_exp_per_s(gpu);
  default: break;
  }
  return 0;
}

#define PORT_BYTES_PER_CLOCK                                                                                           \
  64.0 /* between an SM and L2, reads: half of an L1 line; assumed of all NVIDIA since Volta */

static void take_term(TimeBound *b, int term, double seconds) {
  if (!(seconds > 0)) return;
  b->terms |= UINT32_C(1) << term;
  b->bound_s = fmax(b->bound_s, seconds);
}

TimeBound timing_bound(const TimeWork *work, const Gpu *gpu) {
  const double amount[TIME_PART_COUNT] = {work->hbm_bytes, work->l2_bytes, work->sram_bytes, work->flops, work->exps};
  TimeBound b = {.bound = TIME_NONE};
  for (int part = 0; part < TIME_PART_COUNT; part++) {
    const double rate = timing_rate(gpu, (TimePart)part, work->dtype);
    b.part_s[part] = rate > 0 ? amount[part] / rate : (double)NAN;
    take_term(&b, part, b.part_s[part]);
    if (b.part_s[part] > b.busy_s) {
      b.busy_s = b.part_s[part];
      b.bound = (TimePart)part;
    }
  }
  const double products = timing_rate(gpu, TIME_MATH, work->dtype);
  if (products > 0 && gpu->n_sm > 0) b.busiest_s = work->busiest_flops / (products / (double)gpu->n_sm);
  if (gpu->l2_bytes > 0 && gpu->clock_hz > 0) b.port_s = work->port_bytes / (PORT_BYTES_PER_CLOCK * gpu->clock_hz);
  take_term(&b, TIME_TERM_BUSIEST, b.busiest_s);
  take_term(&b, TIME_TERM_PORT, b.port_s);
  b.kernels_s = work->kernels_s;
  b.bound_s = fmax(b.bound_s, b.kernels_s); /* a term that a run of one kernel has too: its parts */
  return b;
}

int timing_term(const TimeBound *b) {
  if (b->bound == TIME_NONE || b->busy_s >= b->bound_s) return (int)b->bound;
  if (b->kernels_s >= b->bound_s) return TIME_TERM_KERNELS;
  if (fmax(b->busiest_s, b->port_s) < b->busy_s) return (int)b->bound; /* what no run is under is longer still */
  return b->busiest_s >= b->port_s ? TIME_TERM_BUSIEST : TIME_TERM_PORT;
}

bool timing_comparable(const Timing *a, const Timing *b) {
  if (a->kind != b->kind || !(a->seconds > 0) || !(b->seconds > 0)) return false;
  if (a->kind != TIME_BOUND) return true;
  const bool first = a->seconds < b->seconds, with_gaps = a->seconds + a->launch_s < b->seconds + b->launch_s;
  return a->run.terms == b->run.terms && (first == with_gaps || a->seconds == b->seconds);
}

double timing_ridge(const Gpu *gpu, TimePart level, Dtype dtype) {
  const double bytes_per_s = timing_rate(gpu, level, dtype);
  return bytes_per_s > 0 ? products_rate(gpu, dtype) / bytes_per_s : 0;
}

double timing_exp_ceiling_flops_per_s(const Gpu *gpu, int64_t d, int64_t d_v) {
  return 2 * (double)(d + d_v) * gpu_exp_per_s(gpu);
}
