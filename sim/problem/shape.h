/* The attention problem: what is asked, before any algorithm or machine is chosen.
 *
 *   Q: batch x heads    x N_q x d        S = Q K^T / sqrt(d)    (masked)
 *   K: batch x kv_heads x N_k x d        P = softmax(S)         (row by row)
 *   V: batch x kv_heads x N_k x d        O = P V                (batch x heads x N_q x d)
 *
 * Symbols are the papers' (FlashAttention, FlashAttention-2): N, d, and B_r, B_c, T_r, T_c in sim/problem/plan.h. */
#ifndef TILEWALK_SIM_PROBLEM_SHAPE_H
#define TILEWALK_SIM_PROBLEM_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/error.h"

/* Element types of Q, K, V, S, P and O. Statistics (m, l) are always fp32. */
typedef enum { DTYPE_FP16 = 0, DTYPE_BF16, DTYPE_FP32, DTYPE_FP8, DTYPE_COUNT } Dtype;
#define DTYPE_INT8 DTYPE_COUNT /* of K and V in memory alone */

int dtype_bytes(Dtype dtype);
/* Of an element of what is computed from that type: of fp8 O is bf16 (Dao-AILab/flash-attention,
 * hopper/flash_api.cpp). */
static inline int dtype_out_bytes(Dtype dtype) { return dtype == DTYPE_FP8 ? 2 : dtype_bytes(dtype); }
extern const char *const DTYPE_NAMES[DTYPE_COUNT + 1], *const KV_NAMES[DTYPE_COUNT + 2]; /* end with NULL */
const char *dtype_name(Dtype dtype);                                                     /* "fp16", ... */
bool dtype_from_name(const char *name, Dtype *dtype);                                    /* false: no such type */

/* Largest sizes accepted. They keep every index in int64_t and every count of bytes of one tile in
 * uint64_t; totals are counted in 128 bits (sim/base/checked.h). */
#define SHAPE_MAX_N     ((int64_t)1 << 40)
#define SHAPE_MAX_D     ((int64_t)1 << 16)
#define SHAPE_MAX_BATCH ((int64_t)1 << 20)
#define SHAPE_MAX_HEADS ((int64_t)1 << 20)

typedef struct {
  int64_t batch;    /* 0: 1 */
  int64_t heads;    /* query heads; 0: 1 */
  int64_t kv_heads; /* 0: as many as heads; fewer is GQA, one is MQA; must divide heads */
  int64_t N_q;      /* queries per head (1 in decode) */
  int64_t N_k;      /* keys per head; 0: as many as queries */
  int64_t d;        /* head dimension of Q and K */
  int64_t d_v;      /* of V and O; 0: d */
  int64_t group; /* packed heads: how many query heads of one KV head are rows of Q, next to each other: row r is query
                    r / group of head r % group. N_q counts rows, heads counts KV heads. 0: 1, not packed */
  Dtype dtype;
  bool varlen;       /* one of several sequences that lie behind one another: kernels check bounds in every tile */
  bool v_in_k;       /* V is the first d_v elements of K (MLA's latent): it is read, kept and stored as a part of K */
  bool has_kv_dtype; /* K and V lie in memory as kv_dtype, a cache of fp8 under queries of bf16; on chip as dtype */
  Dtype kv_dtype;
  bool causal;   /* query i sees key j when j <= i + N_k - N_q: aligned to the bottom right corner, as
                    FlashAttention-2 does since version 2.1 */
  bool top_left; /* causal, and windows, are aligned to the top left corner instead: query i sees key j when j <= i */
  const struct Pattern *pattern; /* blocks that may be seen (sim/problem/pattern.h); NULL: all. Not the shape's own */
  bool sided; /* the window is given by its sides: left keys before the query's own position, right ones after it */
  int64_t left, right; /* -1: no limit */
  int64_t window;      /* 0: none. W: with causal, the W keys that end at the query's own position; without, the
                          keys less than W positions away on both sides */
} Shape;

/* Replaces zeros by their defaults and checks the rest. *shape is unchanged on error. */
Status shape_complete(Shape *shape, Error *error);

/* The same problem with the query heads of each KV head packed as rows (FlashAttention-3's layout, pack_gqa.h), and
 * as people give it: a completed shape; where nothing is shared, or more than SHAPE_MAX_N rows came out, unchanged. */
Shape shape_packed(const Shape *shape);
Shape shape_unpacked(const Shape *shape);

#endif
