#include "sim/numbers/rank_numbers.h"

#include <stdlib.h>

#include "sim/algorithms/rank_program.h"

/* All ranks: their matrices, and copies of those that are on their way. */
typedef struct {
  Attention *whole;
  const Program *p;
  int64_t n, tokens;
  size_t at[PROGRAM_NAMES_MAX]; /* of a name's matrix in those of a rank; EVALUATE_NOWHERE: it never lies in HBM */
  size_t n_numbers;             /* of a rank */
  double *here, *sent;
} Ring;

/* Along a side of a rank's matrix. */
static int64_t side_of(const Ring *ring, int side) {
  const bool is_shared = side == SIDE_ROWS || side == SIDE_COLS;
  return is_shared ? ring->tokens : schedule_side_whole(ring->p, &ring->whole->plan, side);
}

static size_t lay_out(Ring *ring) {
  const Evaluator v = attention_evaluator(ring->whole);
  for (int k = 0; k < ring->p->n_names; k++) {
    const ProgramName *n = &ring->p->names[k];
    ring->at[k] = EVALUATE_NOWHERE;
    if (!evaluate_matrix(&v, k, 0, 0)) continue;
    ring->at[k] = ring->n_numbers;
    ring->n_numbers += (size_t)(side_of(ring, n->rows) * side_of(ring, n->cols));
  }
  return ring->n_numbers * (size_t)ring->n;
}

static double *matrix_of(const Ring *ring, double *numbers, int64_t g, int name) {
  return numbers + (size_t)g * ring->n_numbers + ring->at[name];
}

static int64_t token_of(const Ring *ring, int side, int64_t g, int64_t at) {
  if (side != SIDE_ROWS && side != SIDE_COLS) return at;
  return rank_token((RankLayout)ring->p->ranks.layout, ring->n, ring->tokens, g, at);
}

/* Between a rank's matrix and its tokens of the whole one. */
static void share(const Ring *ring, int64_t g, int name, bool to_rank) {
  const Evaluator v = attention_evaluator(ring->whole);
  const ProgramName *n = &ring->p->names[name];
  const int64_t rows = side_of(ring, n->rows), cols = side_of(ring, n->cols);
  const int64_t stride = schedule_side_whole(ring->p, &ring->whole->plan, n->cols);
  double *whole = evaluate_matrix(&v, name, 0, 0), *own = matrix_of(ring, ring->here, g, name);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < cols; c++) {
      double *there = &whole[token_of(ring, n->rows, g, r) * stride + token_of(ring, n->cols, g, c)];
      double *here = &own[r * cols + c];
      *(to_rank ? here : there) = *(to_rank ? there : here);
    }
}

static Span span_of(const RankPart *part, int side, int64_t length) {
  return side == SIDE_ROWS ? part->rows : side == SIDE_COLS ? part->keys : (Span){0, length};
}

/* Between a rank's matrices and a state of the rows and keys that a kernel runs over. */
static void exchange_part(const Ring *ring, int64_t g, const RankPart *part, const Evaluator *v, bool into) {
  for (int k = 0; k < ring->p->n_names; k++) {
    const ProgramName *n = &ring->p->names[k];
    double *of_part = evaluate_matrix(v, k, 0, 0);
    if (!of_part) continue;
    const int64_t stride = side_of(ring, n->cols);
    const Span rows = span_of(part, n->rows, side_of(ring, n->rows)), cols = span_of(part, n->cols, stride);
    const size_t length = (size_t)(cols.end - cols.begin);
    for (int64_t r = rows.begin; r < rows.end; r++, of_part += length) {
      double *own = matrix_of(ring, ring->here, g, k) + r * stride + cols.begin;
      memcpy(into ? of_part : own, into ? own : of_part, length * sizeof *own);
    }
  }
}

static Status run_part(const Ring *ring, int64_t g, int kernel, const RankPart *part, Error *error) {
  const Attention *whole = ring->whole;
  const Tiling *tiling = &whole->plan.tiling;
  Shape shape = whole->plan.shape;
  Plan plan;
  size_t bytes;
  Attention *a;
  shape.N_q = part->rows.end - part->rows.begin;
  shape.N_k = part->keys.end - part->keys.begin;
  shape.causal = part->causal;
  Status status = plan_make(&plan, &shape, tiling, error);
  if (!status) status = attention_bytes(&plan, ring->p, &bytes, error);
  if (status) return status;
  void *memory = malloc(bytes);
  if (!memory) return error_no_memory(error, "for a rank's numbers");
  status = attention_start(memory, &plan, ring->p, &whole->config, &a, error);
  if (!status) {
    const Evaluator v = attention_evaluator(a);
    const ProgramKernel *k = &ring->p->kernels[kernel];
    exchange_part(ring, g, part, &v, true);
    v.state->cursor.op = k->first_op;
    for (Cursor next = v.state->cursor; (unsigned)evaluate_peek(&v, &next) < k->end_op; next = v.state->cursor)
      evaluate_next(&v);
    exchange_part(ring, g, part, &v, false);
  }
  free(memory);
  return status;
}

static Status run(const Ring *ring, int64_t g, const ProgramRankLine *line, int64_t t, Error *error) {
  const Span own = {0, ring->tokens};
  const RankPart all = {own, own, false};
  const RankPart part = line->in_steps ? rank_part((RankLayout)ring->p->ranks.layout, ring->whole->plan.shape.causal,
                                                   ring->tokens, g, (g - t + ring->n) % ring->n)
                                       : all;
  return part.rows.end > part.rows.begin ? run_part(ring, g, line->kernel, &part, error) : STATUS_OK;
}

/* A line, on all ranks. */
static Status do_line(const Ring *ring, const ProgramRankLine *line, int64_t t, Error *error) {
  Status status = STATUS_OK;
  if (line->not_last && t + 1 == ring->n) return STATUS_OK;
  for (int64_t g = 0; g < ring->n && !status; g++) {
    const int64_t from = line->kind == RANK_RECEIVE ? (g - 1 + ring->n) % ring->n : g;
    if (line->kind == RANK_RUN) status = run(ring, g, line, t, error);
    for (int k = 0; k < ring->p->n_names; k++) {
      const ProgramName *n = &ring->p->names[k];
      if (!(line->names & name_bit(k)) || ring->at[k] == EVALUATE_NOWHERE) continue;
      double *here = matrix_of(ring, ring->here, g, k), *sent = matrix_of(ring, ring->sent, from, k);
      const size_t bytes = (size_t)(side_of(ring, n->rows) * side_of(ring, n->cols)) * sizeof *here;
      memcpy(line->kind == RANK_SEND ? sent : here, line->kind == RANK_SEND ? here : sent, bytes);
    }
  }
  return status;
}

static Status walk(const Ring *ring, Error *error) {
  const ProgramRanks *ranks = &ring->p->ranks;
  Status status = STATUS_OK;
  for (int k = 0; k < ranks->n_lines && !status;) {
    int end = k + 1;
    while (ranks->lines[k].in_steps && end < ranks->n_lines && ranks->lines[end].in_steps) end++;
    for (int64_t t = 0; t < (ranks->lines[k].in_steps ? ring->n : 1); t++)
      for (int at = k; at < end && !status; at++) status = do_line(ring, &ranks->lines[at], t, error);
    k = end;
  }
  return status;
}

Status rank_numbers(Attention *whole, int64_t n, Error *error) {
  Ring ring = {.whole = whole, .p = whole->schedule, .n = n, .tokens = whole->plan.shape.N_q / n};
  const size_t count = lay_out(&ring);
  ring.here = malloc(2 * count * sizeof *ring.here);
  if (!ring.here) return error_no_memory(error, "for the numbers of %d ranks", (int)n);
  ring.sent = ring.here + count;
  for (int pass = 0; pass < 2; pass++) {
    const Status status = pass ? walk(&ring, error) : STATUS_OK;
    for (int64_t g = 0; g < n && !status; g++)
      for (int k = 0; k < ring.p->n_names; k++)
        if (ring.at[k] != EVALUATE_NOWHERE && (pass == 0 || !ring.p->names[k].is_input)) share(&ring, g, k, pass == 0);
    if (status) {
      free(ring.here);
      return status;
    }
  }
  free(ring.here);
  return STATUS_OK;
}
