/* Attention on several GPUs, and what crosses the links between them: a walk over steps and ranks.
 *
 *     ring       0 -> 1 -> 2 -> 3 -> 0     Q stays, K and V travel; in step t rank r has the keys of rank r - t
 *
 *     who has which queries and keys, P = 4:
 *       ring     0000 1111 2222 3333       contiguous: under a causal mask rank 0 has one block to do, rank 3 four
 *       striped  0123 0123 0123 0123       every block is half masked (Brandon et al., arXiv 2311.09431)
 *       zigzag   00 11 22 33 33 22 11 00   an early and a late chunk each (ring-flash-attention, Llama 3's CP)
 *
 *     ulysses    all-to-all of Q, K, V; heads over P, whole sequences; all-to-all of O (arXiv 2309.14509)
 *     tensor     heads over P from the start; a ring's all-reduce of the output's rows (Megatron-LM, arXiv 1909.08053)
 *     offload    one GPU; what does not fit its memory comes layer by layer from behind a link (FlexGen, 2303.06865)
 *
 * A step is a kernel beside an exchange; of ulysses and tensor it is one or the other. Rank r's step t + 1 begins when
 * its kernel is done, what it sends has been sent, and what it is to receive is here; neighbours exchange when both are
 * at step t. So who idles follows. Two clocks: `bound`, each kernel's least time and the link's data
 * sheet, both overlapped; `predicted`, a timed kernel and a measured link: the host issues the exchange, then the
 * kernel, and the exchange takes SMs from it.
 *
 * Bytes and pairs are counted by the walk. Ring attention is Liu et al., arXiv 2310.01889. Modelled besides: O, m and l
 * in fp32 between a rank's steps, as HBM traffic; not in times. A program with `ranks` (sim/algorithms/LANGUAGE.md)
 * says itself who has which tokens, which kernels run and what is sent: then all bytes are those of its lines. Not
 * modelled: backward passes, several hops, links that others share. */
#ifndef TILEWALK_SIM_RANKS_H
#define TILEWALK_SIM_RANKS_H

#include "sim/machine/link.h"
#include "sim/serving.h"

typedef enum {
  SCHEME_RING = 0,
  SCHEME_STRIPED,
  SCHEME_ZIGZAG,
  SCHEME_ULYSSES,
  SCHEME_TENSOR,
  SCHEME_OFFLOAD,
  SCHEME_COUNT
} Scheme;

extern const char *const SCHEME_NAMES[SCHEME_COUNT + 1]; /* "ring", ...; ends with NULL */
static inline bool scheme_is_ring(Scheme scheme) { return scheme <= SCHEME_ZIGZAG; }

enum { RANKS_MAX = 1024 };

/* What a rank's kernel does with the block of keys that it has. */
typedef enum {
  RANK_PIECE_NONE = 0, /* nothing: all is masked, or the step only exchanges */
  RANK_PIECE_FULL,
  RANK_PIECE_CAUSAL,
  RANK_PIECE_STRICT, /* causal without the diagonal: striped, keys of a later rank; all but a row and a key */
  RANK_PIECE_KEYS,   /* zigzag: all queries on the first half of the keys */
  RANK_PIECE_ROWS,   /* zigzag: the second half of the queries on all keys */
  RANK_PIECE_COUNT
} RankPieceKind;

typedef struct {
  Wide pairs;                   /* (query, key), all heads of the rank */
  Wide read_bytes, write_bytes; /* across the SRAM boundary */
  Wide carried_bytes;           /* of a program: of these, what it keeps in HBM from one step to the next */
  Traffic traffic;              /* of a program: all of it by tensor */
  double bound_s, predicted_s;  /* NAN: no kernel that was timed */
  TimePart binds;
  TimeKind kind; /* of predicted_s */
} RankPiece;

typedef struct {
  Scheme scheme;
  int64_t n;              /* ranks P; 0: 1 */
  const Problem *problem; /* of all ranks; its kernel, if any, must have been timed for predictions */
  const Gpu *gpu;
  const GpuLink *link;
  const Serving *serving;  /* of offload: the model, with its cache; else NULL */
  const Schedule *program; /* that says what ranks do, and so the scheme; NULL: the scheme does */
} RanksAsked;

typedef struct {
  Scheme scheme;
  int64_t n, n_steps, tokens; /* tokens: of a rank's queries */
  Shape shape;                /* of all ranks, completed */
  Gpu gpu;
  GpuLink link;
  RankPiece pieces[RANK_PIECE_COUNT];
  int64_t kv_copies; /* of each KV head, where there are fewer than ranks that share out heads; else 1 */
  Wide q_bytes, k_bytes, v_bytes, o_bytes; /* that a rank holds at the start, and of O at the end */
  Wide carried_bytes;                      /* O, m and l in fp32 between steps; 0: a rank has one kernel */
  Wide second_bytes;                       /* the second place for what is received */
  Wide exchange_bytes[2];                  /* of a ring: that a rank sends in a step, and in the last one */
  const Schedule *program;                 /* as asked for */
  RankPiece before, after;                 /* of a program: kernels before and after the steps; no pairs, no times */
  Wide sent_bytes[2][TENSORS_MAX]; /* that a rank sends in a step, and in the last one: of a program by tensor */
  Wide weights_bytes, cache_bytes; /* of offload: all of it, wherever it lies */
  double away;                     /* of offload: the part that does not fit the GPU */
} Ranks;

/* Fills in *ranks. Errors: sizes that P does not divide, masks that the scheme does not know. */
Status ranks_make(Ranks *ranks, const RanksAsked *asked, Error *error);

/* What rank r does in step t, whatever the clock. */
typedef struct {
  int64_t keys_of; /* of a ring: the rank whose keys it has; else -1 */
  RankPieceKind piece;
  Wide sent_bytes, received_bytes;
  Wide hbm_bytes;     /* across the rank's SRAM boundary, read and written */
  Wide carried_bytes; /* of these, O, m and l between steps */
} RankStep;
RankStep ranks_step(const Ranks *ranks, int64_t t, int64_t r);

/* All ranks and steps of a program, by tensor: across SRAM boundaries, and sent over links. */
typedef struct {
  Wide read, write, sent;
} RankTensor;
void ranks_tensors(const Ranks *ranks, RankTensor tensors[TENSORS_MAX]);

/* Fills in run->links: the program of the run on n GPUs, with the same problem. gpu NULL: the papers'. Of a program
 * without ranks nothing. Errors: as ranks_make. */
Status ranks_links(Simulation *run, const Problem *problem, int64_t n, const GpuLink *link, const Gpu *gpu,
                   Error *error);

/* When: seconds from the start of step 0. The rank waits from the later of kernel and exchange to the next step; its
 * SMs idle from kernel_end_s to the next kernel. */
typedef struct {
  double start_s, kernel_end_s, exchange_end_s;
  double kernel_s, exchange_s; /* each alone: no host, no neighbour that is waited for */
} RankTimes;

typedef enum { CLOCK_BOUND = 0, CLOCK_PREDICTED, CLOCK_COUNT } RanksClock;
typedef void RankVisit(void *data, int64_t t, int64_t r, const RankStep *step, const RankTimes *times);

/* Walks step by step, in each rank by rank; visit may be NULL. Returns the seconds until the last rank is done; NAN:
 * nothing is predicted (no timed kernel, or a link that was not measured). */
double ranks_walk(const Ranks *ranks, RanksClock clock, RankVisit *visit, void *data);

/* Whether predicted times go beyond what was measured: the kernel's own extrapolations, other exchanges, ranks. */
bool ranks_is_extrapolated(const Ranks *ranks);

/* Tokens of a block whose products take as long as its keys and values need on the link: Ring Attention's c = F/B,
 * where each query head has its own K and V of 2 bytes an element. NAN: no rate of products. */
double ranks_hiding_tokens(const Shape *shape, const Gpu *gpu, double link_bytes_per_s);

#endif
