/* How long a run takes: a lower bound that no run beats, and what a timed kernel is expected to take.
 *
 *     bytes over HBM's bandwidth -----\
 *     bytes over L2's bandwidth -------\      least_s: the slowest of the five binds, or the busiest SM
 *     bytes through the SRAM's port ----+---> by itself: however well the others overlap with it, no
 *     FLOPs over the arithmetic rate --/      kernel that does this work on this machine takes less
 *     exponentials over their rate ---/
 *     FLOPs of the busiest SM over one SM's rate: with 32 CTAs on 132 SMs, 100 SMs do nothing
 *
 *     makespan of the run through L2 x the kernel's factor + its start ---> predicted_s
 *
 * The roofline model (Williams, Waterman and Patterson, CACM 2009) with a roof for each level and a
 * ceiling for exponentials. Rates are the peaks that a GPU's description gives, the data sheet's
 * where both it and a measurement are there: a bound may not lean on what one program reached.
 * Amounts are the least that any order of work allows (sim/simulate.h), from cold caches.
 *
 * Not modelled in the bound, so that real kernels are slower: latency, launch; tensor instructions that
 * cannot reach the peak (mma.sync reaches about 0.6 of wgmma's rate on Hopper); clocks that fall under
 * load; the vector work of softmax other than exponentials; operands that several warps read from SRAM
 * again; passes that wait for each other.
 * Not a bound where a kernel works around the unit that is counted: exponentials computed as
 * polynomials on the vector units (FlashAttention-4), tiles that several SMs share through a
 * cluster, L1 hits between CTAs of one SM.
 *
 * Predicted: kernels in assets/kernels that have been timed (time_* keys), on the compute capability that
 * they were timed on. How far off: tests/model/test_time.c prints the table and holds it. */
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
  double l2_bytes;   /* that L2 serves */
  double sram_bytes; /* through the ports of the SRAM */
  double flops;      /* of matrix products, as computed: masked entries of a partial tile too */
  double exps;
  double busiest_flops; /* of them, those of the SM that has most; 0: as few as a fair share */
  int n_launches;       /* kernels, one after the other */
  Dtype dtype;
} TimeWork;

typedef struct {
  double part_s[TIME_PART_COUNT]; /* NAN: the machine's rate is not known, or it has no such level */
  TimePart bound;                 /* the longest part */
  double busy_s;                  /* its time */
  double busiest_s;               /* the products of the busiest SM; 0: not known */
  double launch_s;                /* n_launches gaps between kernels; no part of least_s: they can be hidden */
  Dtype computes_in;              /* products; another type than the operands' where the machine lacks its unit */
  double least_s;                 /* no run is faster */
  double predicted_s;             /* what a timed kernel is expected to take; NAN: not known */
} Timing;

/* How a kernel's time follows from the makespan of its run through L2 (sim/l2/l2_run.h), whose rates are those of
 * sim/l2/launch.h: fitted to recorded runs. Zeros: not timed. */
typedef struct {
  int64_t start_ns;       /* of each kernel, launch and latency, besides */
  int64_t alone_permille; /* of the makespan, where no SM has two CTAs; */
  int64_t full_permille;  /* where SMs are full, */
  int64_t wave_permille;  /* and over the number of waves, added to that: the ramp and the tail of a launch */
  int64_t n_runs, median_permille, nine_permille; /* recorded runs; how far off half and nine tenths of them are at
                                                     most */
  bool is_decode, is_split;                       /* what those runs are of: one query; split keys */
  int64_t worst_permille;                         /* of decode, all of them */
} TimeLaw;

/* What a kernel of that law is expected to take. n_kernels: launched one after another. */
double timing_predicted_s(const TimeLaw *law, double makespan_s, double n_kernels, double n_pieces, double n_sm,
                          double ctas_per_sm);

Timing timing_at_best(const TimeWork *work, const Gpu *gpu);

/* The peak rate of a part: bytes, FLOPs or exponentials a second; 0: not known, or no such level.
 * Products of a type without a unit run in what it is converted to (gpu_computes_in). In fp32 they run on the vector
 * units (tensor cores would round them to tf32); other types on tensor cores where there are some. */
double timing_rate(const Gpu *gpu, TimePart part, Dtype dtype);

/* Where the memory roof of a level (TIME_HBM, TIME_L2, TIME_SRAM) meets the ceiling of the products, in
 * FLOPs a byte: what moves fewer FLOPs for each byte is bound by that level. 0: a rate is not known. */
double timing_ridge(const Gpu *gpu, TimePart level, Dtype dtype);

/* The ceiling that exponentials put on the products, in FLOP/s: each takes part in 2 d + 2 d_v FLOPs. */
double timing_exp_ceiling_flops_per_s(const Gpu *gpu, int64_t d, int64_t d_v);

#endif
