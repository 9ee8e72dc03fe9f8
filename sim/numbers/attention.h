/* Attention with real numbers, following the events: the fold that computes.
 *
 *        HBM                                      SRAM
 *        Q  K  V        -- load -->               the tile of Q, of K, of V
 *        S  P           <- store, load ->         S, P of one tile (standard: S of a row of tiles)
 *        O  statistics  <- store, load ->         O; per row m, l and the factor
 *
 * One state follows one head. Each event does exactly what it says and nothing happens without one: a
 * product needs its Q and K loaded, a masked score is masked by a mask event, a number that goes out to
 * HBM is rounded to what it is stored in and comes back rounded. So the result is right only if the
 * schedule is; a schedule that forgets a load is refused at the event that needed it.
 *
 * The state is one flat block of memory that belongs to the caller, with offsets and no pointers inside:
 * copying its attention_state_bytes is a bookmark, and comparing two states is a memcmp.
 *
 * Modelled: the arithmetic of sim/numbers/softmax.h in the configured precision, products summed from left to
 * right with one rounding a step; O and the row statistics wherever the schedule sends them: fa1 brings O
 * back from HBM rounded at every tile, fa2-split adds fp32 partial results. O is divided by l before it
 * leaves SRAM, in every schedule, so what a load brings back is multiplied by its l (fa1) or weighted by its
 * log-sum-exp (fa2-split). A row that sees no key gives O = 0 and a log-sum-exp of -infinity; but fp8 has
 * no infinity, so where standard stores S in fp8 such a row becomes the mean of V.
 * Not modelled: the order of additions inside tensor cores, and eager frameworks that round S before they
 * scale it. */
#ifndef TILEWALK_SIM_ATTENTION_H
#define TILEWALK_SIM_ATTENTION_H

#include <stddef.h>

#include "sim/algorithms/schedule.h"
#include "sim/numbers/softmax.h"

/* More than this is refused: to see numbers, a smaller N will do. */
#define ATTENTION_MAX_BYTES ((Wide)1 << 34)

typedef struct {
  SoftmaxConfig softmax; /* precision, and the switch that leaves the maximum out */
  double scale;          /* of the scores; 0: 1 / sqrt(d) */
} AttentionConfig;

/* What stands in SRAM about one row of the present row block. */
typedef struct {
  double m_old, m;        /* before and after the last new max */
  double factor;          /* of the last rescale: e^(m_old - m); 0 before the first */
  double l_old, l_scaled; /* before and after it */
  double block_sum;       /* what the last accumulate added to l */
  double l;
} AttentionRow;

/* Where the parts of the block lie. Sizes are in bytes from the start of the state. */
typedef enum {
  AT_Q = 0,
  AT_K,
  AT_V,
  AT_O,
  AT_STATS,    /* two numbers a row: m and l; or the log-sum-exp alone */
  AT_PART_O,   /* fa2-split, when it combines: one O for each split, */
  AT_PART_LSE, /* and its log-sum-exps */
  AT_S,
  AT_P,
  AT_SRAM_S,
  AT_SRAM_P,
  AT_SRAM_O,
  AT_SRAM_O_LOADED, /* O as it came from HBM: divided by its l */
  AT_SRAM_LSE,
  AT_SRAM_ROWS,
  AT_COUNT
} AttentionPart;

typedef struct {
  AttentionConfig config;
  Plan plan;
  double scale;
  size_t bytes;            /* of header and parts together */
  size_t offset[AT_COUNT]; /* of each part */
  size_t length[AT_COUNT]; /* in numbers; 0: this schedule has no such part */
  int64_t B_r, B_c;        /* the plan's, cut to the matrix */
  int64_t n_parts;         /* of O that a last pass combines; 0: O is stored whole */
  int64_t last_pass;
  uint64_t n_applied; /* events so far */

  /* What is in SRAM now. */
  int64_t pass, i;             /* whose row block; i = -1: none */
  Span rows;                   /* its rows: of S, P, O and statistics */
  Span Q_rows, K_cols, V_cols; /* loaded */
  Span S_cols, P_cols;         /* computed or loaded */
  bool P_loaded;               /* P came from HBM, divided by l already */
  bool O_loaded;
  bool O_stored;   /* O has left: the next event begins anew */
  bool sum_is_due; /* standard: the maximum has moved since l was summed */
} Attention;

/* What a shape's element type is computed in. */
Precision attention_precision(Dtype dtype);

/* Bytes of the state that follows one head of `plan` under `schedule`. */
Status attention_bytes(const Plan *plan, const Schedule *schedule, size_t *bytes, Error *error);

/* Lays out a state in `memory` (attention_bytes of it, aligned as malloc does). Inputs are zero, everything
 * that the events must write is NaN. The state begins at `memory`. */
Status attention_start(void *memory, const Plan *plan, const Schedule *schedule, const AttentionConfig *config,
                       Attention **attention, Error *error);

/* Bytes to copy for a bookmark. */
static inline size_t attention_state_bytes(const Attention *attention) { return attention->bytes; }

/* Copies rows x d numbers into Q, K or V, rounding each to the configured precision. */
void attention_set_input(Attention *attention, Tensor tensor, const double *values);

/* Fills Q, K and V from a seed. Heads that share a KV head get the same K and V. */
typedef enum { INPUT_NORMAL = 0, INPUT_OUTLIERS } InputKind;
void attention_fill(Attention *attention, InputKind kind, uint64_t seed, int64_t batch, int64_t head);

/* Does what the event says. On error the state is unchanged. */
Status attention_apply(Attention *attention, const Event *event, Error *error);

/* Applies up to `n` events from *cursor on; *cursor ends behind the last one applied. */
Status attention_walk(Attention *attention, const Schedule *schedule, Cursor *cursor, uint64_t n, Error *error);

/* A look at numbers: element (row, col) of the matrix, for row in rows and col in cols, is
 * values[(row - rows.begin) * stride + (col - cols.begin)]. values is NULL when there are none. It stays valid
 * until the next event. */
typedef struct {
  const double *values;
  Span rows, cols;
  int64_t stride;
} AttentionView;

/* In SRAM now: Q, K, V, S, P or O (as accumulated, not yet divided by l). Rows and columns as in the whole
 * matrix; for K and V a row is a key. */
AttentionView attention_in_sram(const Attention *attention, Tensor tensor);

/* In HBM: Q, K, V, S, P, O, or the statistics (two columns: m, l; or the log-sum-exp in the first). NaN:
 * not written yet. */
AttentionView attention_in_hbm(const Attention *attention, Tensor tensor);

/* The parts in HBM that fa2-split combines: O, or the log-sum-exps (one column), of one split. */
AttentionView attention_part_in_hbm(const Attention *attention, Tensor tensor, int64_t split);

/* The statistics of query `row`, NULL when it is not in SRAM. */
const AttentionRow *attention_row(const Attention *attention, int64_t row);

#endif
