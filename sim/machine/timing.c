#include "sim/machine/timing.h"

#include <math.h>

static const char *const NAMES[TIME_PART_COUNT + 1] = {"hbm", "l2", "sram", "math", "exp", "none"};
static const char *const TITLES[TIME_PART_COUNT + 1] = {"HBM", "L2", "SRAM", "products", "exponentials", "nothing"};

const char *time_part_name(TimePart part) { return NAMES[part]; }
const char *time_part_title(TimePart part) { return TITLES[part]; }

static double products_rate(const Gpu *gpu, Dtype dtype) {
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
  case TIME_PART_COUNT: break;
  }
  return 0;
}

Timing timing_at_best(const TimeWork *work, const Gpu *gpu) {
  const double amount[TIME_PART_COUNT] = {work->hbm_bytes, work->l2_bytes, work->sram_bytes, work->flops, work->exps};
  Timing t = {.bound = TIME_NONE, .launch_s = work->n_launches * gpu->launch_overhead_s};
  for (int part = 0; part < TIME_PART_COUNT; part++) {
    const double rate = timing_rate(gpu, (TimePart)part, work->dtype);
    t.part_s[part] = rate > 0 ? amount[part] / rate : (double)NAN;
    if (t.part_s[part] > t.busy_s) {
      t.busy_s = t.part_s[part];
      t.bound = (TimePart)part;
    }
  }
  return t;
}

double timing_total_s(const Timing *timing) { return timing->busy_s + timing->launch_s; }

double timing_ridge(const Gpu *gpu, TimePart level, Dtype dtype) {
  const double bytes_per_s = timing_rate(gpu, level, dtype);
  return bytes_per_s > 0 ? products_rate(gpu, dtype) / bytes_per_s : 0;
}

double timing_exp_ceiling_flops_per_s(const Gpu *gpu, int64_t d) { return 4 * (double)d * gpu_exp_per_s(gpu); }
