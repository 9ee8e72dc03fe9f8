/* How fast a run could be at best: a lower bound on its time.
 *
 *     bytes over HBM's bandwidth -----\
 *     bytes over L2's bandwidth -------\      the slowest of the five binds: however well the
 *     bytes through the SRAM's port ----+---> others overlap with it, no kernel that does this
 *     FLOPs over the arithmetic rate --/      work on this machine takes less time
 *     exponentials over their rate ---/
 *
 * The roofline model (Williams, Waterman and Patterson, CACM 2009) with a roof for each level and a
 * ceiling for exponentials. Rates are the peaks that a GPU's description gives, the data sheet's
 * where both it and a measurement are there: a bound may not lean on what one program reached.
 *
 * Modelled: peak rates, all SMs busy from start to end, everything overlapping perfectly.
 * Not modelled, so that real kernels are slower: latency; waves that do not fill the machine and
 * row blocks of unequal length (sim/l2/launch.h); tensor instructions that cannot reach the peak
 * (mma.sync reaches about 0.6 of wgmma's rate on Hopper); clocks that fall under load; the vector
 * work of softmax other than exponentials; operands that several warps read from SRAM again;
 * passes that wait for each other.
 * Not a bound where a kernel works around the unit that is counted: exponentials computed as
 * polynomials on the vector units (FlashAttention-4), tiles that several SMs share through a
 * cluster, L1 hits between CTAs of one SM.
 *
 * How far from the truth (H200, fp16, N = 16384, batch 1, heads x d = 2048; FLOPs 4 N^2 d a head,
 * halved when causal), in TFLOP/s, bound / measured; tests/unit/test_timing.c computes it and holds it:
 *
 *     d, mask        memory-efficient   FlashAttention-2   cuDNN
 *     64  full          565 / 135          990 / 303       990 / 445
 *     64  causal        560 / 129          982 / 289       982 / 427
 *     128 full          565 / 175          990 / 340       990 / 587
 *     128 causal        558 / 167          982 / 305       982 / 529
 *
 * Median ratio 3.2, from 1.7 to 4.3; 1.7 to 2.3 for cuDNN, the only one of the three that uses Hopper's
 * wgmma. Products bind, but L2 where B_r is 64 (its rate was measured on an H800 of the same die). */
#ifndef TILEWALK_SIM_TIMING_H
#define TILEWALK_SIM_TIMING_H

#include <stdbool.h>

#include "sim/machine/gpu.h"

typedef enum {
  TIME_HBM = 0,
  TIME_L2,
  TIME_SRAM,
  TIME_MATH,
  TIME_EXP,
  TIME_PART_COUNT,
  TIME_NONE = TIME_PART_COUNT, /* no rate is known, or there is nothing to do */
} TimePart;

const char *time_part_name(TimePart part);  /* "hbm", "l2", "sram", "math", "exp", "none" */
const char *time_part_title(TimePart part); /* "HBM", "L2", "SRAM", "products", "exponentials" */

/* What a run has to do, over all heads. Doubles, because totals may exceed 64 bits. */
typedef struct {
  double hbm_bytes;  /* read and written in HBM */
  double l2_bytes;   /* across the SRAM boundary, which L2 serves */
  double sram_bytes; /* through the ports of the SRAM */
  double flops;      /* of matrix products, as computed: masked entries of a partial tile too */
  double exps;
  int n_launches; /* kernels, one after the other */
  Dtype dtype;
} TimeWork;

typedef struct {
  double part_s[TIME_PART_COUNT]; /* NAN: the machine's rate is not known, or it has no such level */
  TimePart bound;                 /* the longest part */
  double busy_s;                  /* its time */
  double launch_s;                /* n_launches gaps between kernels; comes on top of busy_s */
} Timing;

Timing timing_at_best(const TimeWork *work, const Gpu *gpu);

/* busy_s + launch_s. */
double timing_total_s(const Timing *timing);

/* The peak rate of a part: bytes, FLOPs or exponentials a second; 0: not known, or no such level.
 * Products in fp32 run on the vector units (tensor cores would round them to tf32); other types on
 * tensor cores where there are some. */
double timing_rate(const Gpu *gpu, TimePart part, Dtype dtype);

/* Where the memory roof of a level (TIME_HBM, TIME_L2, TIME_SRAM) meets the ceiling of the products, in
 * FLOPs a byte: what moves fewer FLOPs for each byte is bound by that level. 0: a rate is not known. */
double timing_ridge(const Gpu *gpu, TimePart level, Dtype dtype);

/* The ceiling that exponentials put on the products, in FLOP/s: each takes part in 4 d FLOPs. */
double timing_exp_ceiling_flops_per_s(const Gpu *gpu, int64_t d);

#endif
