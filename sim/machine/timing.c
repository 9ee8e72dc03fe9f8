#include "sim/machine/timing.h"

#include <math.h>

static const char *const NAMES[TIME_PART_COUNT + 1] = {"hbm", "l2", "sram", "math", "exp", "none"};
static const char *const TITLES[TIME_PART_COUNT + 1] = {"HBM", "L2", "SRAM", "products", "exponentials", "nothing"};

const char *time_part_name(TimePart part) { return NAMES[part]; }
const char *time_part_title(TimePart part) { return TITLES[part]; }

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
  case TIME_PART_COUNT: break;
  }
  return 0;
}

Timing timing_at_best(const TimeWork *work, const Gpu *gpu) {
  const double amount[TIME_PART_COUNT] = {work->hbm_bytes, work->l2_bytes, work->sram_bytes, work->flops, work->exps};
  Timing t = {.bound = TIME_NONE,
              .computes_in = gpu_computes_in(gpu, work->dtype),
              .launch_s = work->n_launches * gpu->launch_overhead_s,
              .predicted_s = (double)NAN};
  for (int part = 0; part < TIME_PART_COUNT; part++) {
    const double rate = timing_rate(gpu, (TimePart)part, work->dtype);
    t.part_s[part] = rate > 0 ? amount[part] / rate : (double)NAN;
    if (t.part_s[part] > t.busy_s) {
      t.busy_s = t.part_s[part];
      t.bound = (TimePart)part;
    }
  }
  const double products = timing_rate(gpu, TIME_MATH, work->dtype);
  if (products > 0 && gpu->n_sm > 0) t.busiest_s = work->busiest_flops / (products / (double)gpu->n_sm);
  t.least_s = fmax(t.busy_s, t.busiest_s);
  return t;
}

/* Between one CTA an SM and full SMs their throughputs add up as in a p-norm, p = 6: with 2 of 4 CTAs an SM is nearly
 * as slow for each as with one. Chosen by mem-efficient-sm90, of which an SM holds four (tests/model/test_time.c). */
static double time_factor(const TimeLaw *law, double n_pieces, double n_sm, double ctas_per_sm) {
  const double alone = (double)law->alone_permille / 1000, full = (double)law->full_permille / 1000;
  if (n_pieces <= n_sm) return alone;
  const double slots = n_sm * ctas_per_sm, waves = fmax(1, n_pieces / slots), ramp = (double)law->wave_permille / 1000;
  if (n_pieces >= slots || ctas_per_sm <= 1) return full + ramp / waves;
  const double on_an_sm = n_pieces / n_sm;
  return fmax(full, pow(pow(alone, 6) + pow(on_an_sm * full, 6), 1.0 / 6) / on_an_sm) + ramp;
}

double timing_predicted_s(const TimeLaw *law, double makespan_s, double n_kernels, double n_pieces, double n_sm,
                          double ctas_per_sm) {
  const double start_s = (double)law->start_ns * 1e-9 * n_kernels;
  return start_s + makespan_s * time_factor(law, n_pieces, n_sm, ctas_per_sm);
}

double timing_ridge(const Gpu *gpu, TimePart level, Dtype dtype) {
  const double bytes_per_s = timing_rate(gpu, level, dtype);
  return bytes_per_s > 0 ? products_rate(gpu, dtype) / bytes_per_s : 0;
}

double timing_exp_ceiling_flops_per_s(const Gpu *gpu, int64_t d, int64_t d_v) {
  return 2 * (double)(d + d_v) * gpu_exp_per_s(gpu);
}
