/* What the files of evaluate share. */
#ifndef TILEWALK_SIM_NUMBERS_EVALUATE_INNER_H
#define TILEWALK_SIM_NUMBERS_EVALUATE_INNER_H

#include "sim/algorithms/walk/walk.h"
#include "sim/numbers/evaluate.h"

static inline int64_t width(Span span) { return span.end > span.begin ? span.end - span.begin : 0; }
static inline const ProgramName *name_of(const Evaluator *v, int name) { return &v->schedule->names[name]; }

static inline Precision accumulator_of(const Evaluator *v) {
  return precision_accumulator(v->state->config.softmax.precision);
}

/* A name by its part in attention(Q, K, V). */
static inline bool is_operand_of(const Schedule *s, int name, int which) { return s->operands[which] == name + 1; }

/* Along a side of a name's whole matrix. */
static inline int64_t whole_side(const Evaluate *e, const Plan *plan, int side) {
  return side == SIDE_ROWS ? width(e->config.rows) : side == SIDE_COLS ? plan->shape.N_k : e->n[side];
}

/* The rows of the present row block that are followed. */
static inline Span present_rows(const Evaluator *v, const Cursor *c) {
  const Span rows = v->state->config.rows;
  if (c->i < 0) return (Span){0, 0};
  const Span present = {max64(c->row0, rows.begin), min64(c->row1, rows.end)};
  return present.begin < present.end ? present : (Span){0, 0};
}

static inline Span present_cols(const Cursor *c) { return c->j < 0 ? (Span){0, 0} : (Span){c->col0, c->col1}; }

static inline int64_t present(const Evaluator *v, const Cursor *c, int side) {
  if (side == SIDE_ROWS) return width(present_rows(v, c));
  if (side == SIDE_COLS) return width(present_cols(c));
  return v->state->n[side];
}

static inline double *tile_of(const Evaluator *v, int name) { return v->numbers + v->state->sram[name]; }

/* Numbers somewhere; a step of 0 repeats what has one row or column. */
typedef struct {
  const double *p;
  int64_t down, across;
  int64_t rows, cols;
} Value;

typedef struct {
  const Evaluator *v;
  const Cursor *c;
  double *free; /* room for the next value */
} Work;

/* The numbers of an expression; they lie in the work's free room, or where a name keeps them. */
Value evaluate_value(Work *work, int node);

/* Adds a product to what `out` holds: rows and columns of the node, `stride` numbers from row to row. */
void evaluate_multiply_into(Work *work, const ProgramNode *node, double *out, int64_t stride);

/* Whether a node is Q times K transposed, in either order of its operands. */
bool evaluate_is_product_of_Q_K(const Schedule *schedule, const ProgramNode *node);

/* The present block of a name in HBM; *stride: numbers from row to row. */
double *evaluate_block_in_hbm(const Evaluator *evaluator, const Cursor *cursor, int name, int64_t *stride);

#endif
