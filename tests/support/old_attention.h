/* Attention with real numbers as it was written by hand for four algorithms before programs were evaluated: the oracle
 * of test_attention.c. */
#ifndef TILEWALK_TESTS_OLD_ATTENTION_H
#define TILEWALK_TESTS_OLD_ATTENTION_H

#include "sim/numbers/attention.h"

/* What stands in SRAM about one row of the present row block. */
typedef struct {
  double m_old, m;        /* before and after the last new max */
  double factor;          /* of the last rescale: e^(m_old - m); 0 before the first */
  double l_old, l_scaled; /* before and after it */
  double block_sum;       /* what the last accumulate added to l */
  double l;
} OldRow;

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
} OldPart;

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
} OldAttention;

/* Bytes of the state that follows one head of `plan` under `schedule`. */
Status old_attention_bytes(const Plan *plan, const Schedule *schedule, size_t *bytes, Error *error);

/* Lays out a state in `memory` (old_attention_bytes of it, aligned as malloc does). Inputs are zero, everything
 * that the events must write is NaN. The state begins at `memory`. */
Status old_attention_start(void *memory, const Plan *plan, const Schedule *schedule, const AttentionConfig *config,
                           OldAttention **attention, Error *error);

/* Bytes to copy for a bookmark. */
static inline size_t old_attention_state_bytes(const OldAttention *attention) { return attention->bytes; }

void old_attention_fill(OldAttention *attention, InputKind kind, uint64_t seed, int64_t batch, int64_t head);

/* Does what the event says. On error the state is unchanged. */
Status old_attention_apply(OldAttention *attention, const Event *event, Error *error);

/* Applies up to `n` events from *cursor on; *cursor ends behind the last one applied. */
Status old_attention_walk(OldAttention *attention, const Schedule *schedule, Cursor *cursor, uint64_t n, Error *error);

/* A look at numbers: element (row, col) of the matrix, for row in rows and col in cols, is
 * values[(row - rows.begin) * stride + (col - cols.begin)]. values is NULL when there are none. It stays valid
 * until the next event. */
typedef struct {
  const double *values;
  Span rows, cols;
  int64_t stride;
} OldView;

/* In HBM: Q, K, V, S, P, O, or the statistics (two columns: m, l; or the log-sum-exp in the first). NaN:
 * not written yet. */
OldView old_attention_in_hbm(const OldAttention *attention, Tensor tensor);

/* The parts in HBM that fa2-split combines: O, or the log-sum-exps (one column), of one split. */
OldView old_attention_part_in_hbm(const OldAttention *attention, Tensor tensor, int64_t split);

#endif
