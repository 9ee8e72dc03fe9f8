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
 * Not a bound where a card runs above the clock of its data sheet (consumer cards: 5 to 20 %), or
 * where a kernel works around the unit that is counted: exponentials computed as
 * polynomials on the vector units (FlashAttention-4), tiles that several SMs share through a
 * cluster, L1 hits between CTAs of one SM.
 *
 * Predicted: kernels in assets/kernels that have been timed (time_* keys), on the compute capability that
 * they were timed on. How far off: tests/model/test_time.c prints the table and holds it. */
#ifndef TILEWALK_SIM_MACHINE_TIMING_H
#define TILEWALK_SIM_MACHINE_TIMING_H

#include "sim/machine/gpu.h"

typedef enum {
  TIME_HBM = 0,
  TIME_L2,
  TIME_SRAM,
  TIME_MATH,
  TIME_EXP,
  TIME_PART_COUNT,
  TIME_NONE = -1, /* no rate is known, or there is nothing to do */
} TimePart;

/* What a run has to do, over all heads. Doubles, because totals may exceed 64 bits. */
typedef struct {
  double hbm_bytes;  /* read and written in HBM */
  double l2_bytes;   /* that L2 serves */
  double sram_bytes; /* through the ports of the SRAM */
  double flops;      /* of matrix products, as computed: masked entries of a partial tile too */
  double exps;
  double busiest_flops; /* of them, those of the SM that has most; 0: as few as a fair share */
  double port_bytes;    /* through the port to L2 of the SM that has most; 0: not known */
  double kernels_s;     /* kernels one after the other, each as long as its longest part; 0: there is one */
  int n_launches;
  Dtype dtype;
} TimeWork;

/* What a time is. Times of unlike kinds are never divided by each other, nor are bounds that have other terms. */
typedef enum {
  TIME_BOUND = 0,    /* of this run: its bytes, products and exponentials at peak rates, its CTAs on their SMs */
  TIME_EXTRAPOLATED, /* by a timed kernel's costs, outside what was recorded */
  TIME_PREDICTED,    /* by a timed kernel's costs, within what was recorded */
  TIME_KIND_COUNT
} TimeKind;

const char *time_kind_name(TimeKind kind); /* "bound", "extrapolated", "predicted" */

/* What was recorded, sorted by what makes times differ; the error of each is its own. */
typedef enum {
  REGIME_DECODE = 0,   /* one query */
  REGIME_SPLIT,        /* several queries, split keys */
  REGIME_FEW,          /* CTAs, fewer than SMs */
  REGIME_GROUPED,      /* heads share K and V */
  REGIME_SHORT_CAUSAL, /* N of at most 2,048, a mask */
  REGIME_SHORT,        /* the same without a mask */
  REGIME_LONG,
  REGIME_VARLEN, /* sequences of unequal lengths in one launch */
  REGIME_WINDOW,
  REGIME_CARD, /* another card than those that were recorded here: extrapolated, and compared with what is printed */
  REGIME_COUNT
} TimeRegime;

const char *time_regime_name(TimeRegime regime); /* "decode", "few", ...: as in the keys of a description */

/* Whether the recorded runs of a regime were kept out of the fit that its error is of: two halves, each predicted by
 * the other's constants; of another card nothing was fitted. Those of one query, of unequal lengths and of windows were
 * not: their constants know the runs. */
bool time_regime_is_held_out(TimeRegime regime);

/* How far off predictions of a regime are: recorded runs, half of which are within median, nine tenths within nine. */
typedef struct {
  int64_t n_runs, median_permille, nine_permille;
} TimeError;

enum { TIME_TERM_BUSIEST = TIME_PART_COUNT, TIME_TERM_PORT, TIME_TERM_KERNELS, TIME_TERM_COUNT };

typedef struct {
  double part_s[TIME_PART_COUNT]; /* NAN: the machine's rate is not known, or it has no such level */
  TimePart bound;                 /* the longest part */
  double busy_s;                  /* its time */
  double busiest_s;               /* the products of the busiest SM; 0: not known */
  double port_s;                  /* the bytes of an SM through its port to L2, at least; 0: not known */
  double kernels_s;               /* kernels one after the other; 0: there is one */
  double bound_s;                 /* the longest of all of these */
  uint32_t terms;                 /* which of them are known: a bit each, parts first */
} TimeBound;

typedef struct {
  TimeBound run;      /* of the run as it is launched, by the bytes that are said of it */
  TimeBound floor;    /* of any run: with what L2 could hold, and any tiles where none are given */
  double launch_s;    /* n_launches gaps between kernels; no part of a bound: they can be hidden */
  Dtype computes_in;  /* products; another type than the operands' where the machine lacks its unit */
  double least_s;     /* floor.bound_s */
  double predicted_s; /* what a timed kernel is expected to take; NAN: not known */
  TimeKind kind;      /* of `seconds` */
  double seconds;     /* predicted_s, or run.bound_s: what is shown where one figure is */
  TimeRegime regime;  /* where predicted */
  TimeError error;    /* of the regime, or of extrapolations; n_runs 0: not compared */
  const char *why;    /* why it is extrapolated, or no time is predicted; NULL: predicted */
} Timing;

/* The term that a bound is of: a TimePart, TIME_TERM_... or TIME_NONE. Its key, "l2-port", and its
 * name, "busiest SM". */
int timing_term(const TimeBound *bound);
const char *timing_term_key(int term);
const char *timing_term_title(int term);

/* Whether a ratio of their seconds means anything: of one kind; bounds of the same terms, which the gaps between their
 * launches would not turn round. */
bool timing_comparable(const Timing *a, const Timing *b);

/* The kernel's costs. What a kernel's CTAs cost (sim/time/makespan.h), fitted to recorded times. Zeros: not timed. */
typedef struct {
  int64_t start_ns;        /* of each kernel, launch and latency, besides */
  int64_t part_ns;         /* of split keys: what the kernel that combines takes for each part besides */
  int64_t tile_ns;         /* from the end of one tile to the next on an SM full of CTAs */
  int64_t alone_ns;        /* a tile of a CTA that has an SM to itself; 0: as tile_ns */
  int64_t block_permille;  /* of a tile: what comes before and after the tiles of a row block, */
  int64_t mask_permille;   /* what a mask takes it besides, */
  int64_t ragged_permille; /* and by which each tile takes longer where keys are no multiple of 128, without a mask */
  int64_t varlen_permille; /* besides, where sequences lie behind one another, */
  int64_t mask_tile_permille, partial_permille;  /* by which tiles take longer under a mask; that it crosses, besides */
  int64_t window_permille, window_tile_permille; /* and under a window; and by which its tiles take longer */
  int64_t idle_ns;                               /* a CTA without work */
  int64_t others_permille; /* what kernels before and after the main one take, of their bytes over HBM\'s bandwidth */
  int64_t power_permille;  /* by which a long launch takes longer, because the clock falls under load */
  int64_t tile_area;       /* B_r x B_c of the tile that is meant */
  int64_t softmax_tile_ns; /* of three kernels, the softmax's: tile_ns is then that of both products, */
  int64_t row_ns;          /* and what a row of it takes an SM besides */
  TimeError errors[REGIME_COUNT];
} TimeLaw;

TimeBound timing_bound(const TimeWork *work, const Gpu *gpu);

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
