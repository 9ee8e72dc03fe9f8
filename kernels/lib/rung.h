/* A rung of the ladder, as the harness and the tests see it: plain data and three functions. */
#ifndef TILEWALK_KERNELS_RUNG_H
#define TILEWALK_KERNELS_RUNG_H

#include <stddef.h>

extern "C" {
#include "kernels/counters/kernel_model.h"
#include "sim/problem/shape.h"
}

/* Bytes asked of memory, per tensor (kernels/counters/kernel_model.h). In the GPU's memory while a counting kernel
 * runs. Additions to sums in memory are writes. */
struct Counts {
  unsigned long long read[KERNEL_TENSORS], write[KERNEL_TENSORS];
};

/* When and where a CTA ran, as its first warp sees it. Written by a marked kernel. */
struct Mark {
  unsigned sm, tiles; /* tiles of K and V that it computes */
  unsigned long long start_ns, end_ns, start_cycles, end_cycles;
};

/* A reading of the timer that all SMs share, and with it of an SM's own clock. */
struct Instant {
  unsigned long long ns, cycles;
};

/* A mark with more: the SM's clock as the CTA asked for each tile of K and V, and readings after its end, each at an
 * edge of the timer. Written by a timed kernel. */
enum { TIMING_EDGES = 16, TIMING_ASKS = 256 };
struct Timing : Mark {
  Instant edges[TIMING_EDGES];
  unsigned long long asks[TIMING_ASKS];
};

/* The SM's clock at moments of a CTA's tile of K and V (backward: of Q and dO), by one thread of each warpgroup; 0: not
 * noted. Role 0 copies, roles 1 to 3 compute; where nobody copies for the others, role 1 is warp 0. Written by a
 * stamped kernel: Attention::marks is then [CTA][STAMP_TILES] of these. */
enum { STAMP_ROLES = 4, STAMP_IDS = 16, STAMP_TILES = 256 };
struct Stamps {
  unsigned at[STAMP_ROLES][STAMP_IDS];
};
enum StampId {
  /* Role 0: K, then V; backward dO, then Q. */
  STAMP_ASKS_FIRST = 0, /* waits until the slot is empty */
  STAMP_ISSUED_FIRST,
  STAMP_ASKS_SECOND,
  STAMP_ISSUED_SECOND,
  /* Roles 1 to 3. */
  STAMP_WAITS = 0,      /* for K; backward: for Q */
  STAMP_HAS,            /* it */
  STAMP_BEGINS,         /* in the first tile of a row block: it begins; rung 9: its S alone is issued */
  STAMP_ISSUED,         /* S; rung 9: and P V of the tile before */
  STAMP_S,              /* is there; by mma.sync: is issued */
  STAMP_SOFTMAX,        /* is done; backward: P is made and rounded */
  STAMP_SECOND_PRODUCT, /* rung 9: P V of the tile before is done; backward: dP is there */
  STAMP_ROUNDED,        /* P is; backward: dS is, and lies in shared memory */
  STAMP_HAS_V,          /* backward: both warpgroups have met */
  STAMP_ISSUED_PV,      /* backward: dQ and dK */
  STAMP_PV,             /* O of this tile is there; backward: dV and dQ */
  STAMP_ADDED,          /* backward: dQ's addition is issued */
  STAMP_DK,             /* backward: dK is there */
  STAMP_ENDS,           /* in the last tile of a row block: its O (backward: dK and dV) is on its way to memory */
  STAMP_SM = 15         /* in a CTA's first tile: 1 + the SM's number */
};

/* What some rungs need besides. Only their host code reads it; pointers are to GPU memory (or, on the CPU, to memory).
 */
struct More {
  /* Decode. With one split nothing is left to combine. */
  int n_splits;
  float *O_parts, *L_parts; /* [split][batch][head][query][d]; log2 of sums: [batch][head][query][split] */
  const int *pages;         /* [batch][page of the sequence]: its number in K and V, [page][KV head][page_keys][d] */
  int page_keys;            /* a multiple of 16 */
  /* Backward. Gradients are laid out as what they are of. */
  const void *dO;
  /* Natural log of a row's sum of exponentials, [batch][head][query]; +infinity: a row that sees no key. */
  const float *L;
  void *dQ, *dK, *dV;
  float *stats, *dQ_sums; /* room for 2 x and d x (rows of a head, padded to whole row blocks), for each head */
};

/* One forward pass, O = softmax(scale Q K^T) V. Pointers are to GPU memory (or, on the CPU, to memory). Larger than 128
 * bytes it would make nvcc compile every kernel another way. */
struct Attention {
  const void *Q, *K, *V;
  void *O;
  void *S, *P;  /* scores and probabilities, for the rungs that keep them in HBM */
  float *m, *l; /* row statistics, for the rung that keeps them in HBM */
  Counts *counts;
  int batch, heads, kv_heads, N_q, N_k, d;
  int causal;
  int B_r, B_c; /* block size; where a rung has few, one of its list */
  float scale;
  const More *more; /* for the rungs that need it, else NULL */
  Mark *marks; /* a CTA each, in launch order; of the marked build, and of the timed build, where each is a Timing */
};

struct Block {
  int B_r, B_c, n_splits = 0; /* n_splits: parts of the keys, for the rungs that split them; 0: their default */
};

/* Its fields are named where one is made: what is not named is not so. */
struct Rung {
  int number = 0;
  const char *name = nullptr, *title = nullptr;
  int oldest_sm = 0;                              /* 75: Turing, 80: Ampere, 90: Hopper */
  bool keeps_scores = false, keeps_stats = false; /* needs S and P, or m and l */
  bool takes_fp32 = false;
  int head_dims[4] = {}; /* supported d, zero ended; none: any */
  Block blocks[8] = {};  /* supported blocks, zero ended, the default first; none: any that fits */
  Block (*default_block)(int d, int element_bytes) = nullptr;
  size_t (*shared_bytes)(int d, Block block, int element_bytes) = nullptr;
  bool (*run)(const Attention &attention, Dtype dtype) = nullptr; /* starts the kernels; false: a launch failed */
  int (*default_splits)(const Attention &attention,
                        int n_sms) = nullptr; /* decode: keys are split, Attention::more is needed */
  bool pages_keys = false;                    /* K and V lie in pages: More::pages is needed */
  bool trains = false;                        /* backward: O and L are given, dQ, dK and dV are wanted */
};

/* The ladder in order, in the build that counts bytes and in the one that does not. */
namespace counted {
extern const Rung *const RUNGS[];
extern const int N_RUNGS;
} // namespace counted
namespace plain {
extern const Rung *const RUNGS[];
extern const int N_RUNGS;
} // namespace plain

#endif
