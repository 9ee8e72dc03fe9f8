/* The numbers of a program: what each of its lines does to the tiles in SRAM and to what lies in HBM.
 *
 *     S = Q_i K_j^T / sqrt(d)          a line of the text
 *       DIVIDE                         its expression (sim/algorithms/program.h)
 *       |-- MATMUL -- Q_i, K_j         evaluated over the tiles of the loops' present blocks
 *       `-- SQRT_D
 *
 * Modelled: everything is computed from left to right in the accumulator's format (fp32; fp64 for fp64), with one
 * rounding an operation. Values are rounded to the element type where they are stored, and as operands of a matrix
 * product. A product that is added to a tile (`O += P V`) adds up in that tile, one fused step a key, as tensor cores
 * do. `/ sqrt(d)` multiplies by the scale, as kernels do. e^(-inf - m) is 0 whatever m is, and x / 0 is 0: rows that
 * see no key have l = 0 and become 0.
 * A cap bends scores where the text divides Q K^T by sqrt(d). A sink is where m and l begin: the constants that the
 * text gives them in a kernel that takes the max of rows of scores, of the first split alone. Not modelled: the order
 * of additions inside tensor cores.
 *
 * Lines that are no event count too: constants, and loads that `once` has counted before. So the walk here goes over
 * all operations, not over events. It may follow all rows of a head, or a few: then only their row blocks are walked.
 *
 * The state is plain data: a struct, and one array of numbers at offsets from its start. Copying both is a bookmark. */
#ifndef TILEWALK_SIM_NUMBERS_EVALUATE_H
#define TILEWALK_SIM_NUMBERS_EVALUATE_H

#include "sim/algorithms/schedule.h"
#include "sim/numbers/softmax.h"

typedef struct {
  SoftmaxConfig softmax; /* precision, and the switch that leaves the maximum out */
  double scale;          /* of the scores; 0: 1 / sqrt(d) */
  Span rows;             /* queries that are followed; of one row block, unless they are all */
  bool inputs_apart;     /* Q, K and V are given apart, by pointers; else all inputs lie in HBM, in the numbers */
  int64_t n_v;           /* columns of V and O that are followed, of d_v */
} EvaluateConfig;

/* What is known of one row: of the values that the program calls m and l. */
typedef struct {
  double m_old, m;        /* before and after the last new max */
  double factor;          /* of the last rescale: e^(m_old - m); 0 before the first */
  double l_old, l_scaled; /* before and after it */
  double block_sum;       /* what was added to l last */
  double l;
} EvaluateRow;

/* A tile in SRAM: rows and columns as in the whole matrix; empty: nothing is there yet. Of K and V the rows are keys.
 */
typedef struct {
  Span rows, cols;
  bool is_rounded; /* it was an operand of a product since it was written */
  bool is_set;     /* written by arithmetic, not by a load, in the present kernel */
} EvaluateTile;

typedef struct {
  EvaluateConfig config;
  double scale;                      /* as rounded */
  int64_t n[SIDE_COUNT];             /* numbers along each side of a tile, at most */
  size_t sram[PROGRAM_NAMES_MAX];    /* where tiles begin in the numbers; EVALUATE_NOWHERE: inputs */
  size_t rounded[PROGRAM_NAMES_MAX]; /* the same tile as an operand of a product; EVALUATE_NOWHERE: it is none */
  size_t hbm[PROGRAM_NAMES_MAX];     /* all blocks, of inputs first; EVALUATE_NOWHERE: never stored */
  size_t n_inputs;                   /* numbers of all inputs; the rest is set by evaluate_begin */
  size_t rows_at, chosen_at, scratch_at;
  size_t n_numbers; /* of all parts */
  EvaluateTile tiles[PROGRAM_NAMES_MAX];
  int8_t shown[VALUES_MAX]; /* the name that was written last; -1: none */
  uint8_t kernel;
  Cursor cursor; /* the next operation */
  int64_t block; /* the row block that is walked; -1: all */
} Evaluate;

#define EVALUATE_NOWHERE SIZE_MAX

/* State and inputs together, for the time of a call. */
typedef struct {
  const Schedule *schedule;
  const Plan *plan;
  Evaluate *state;
  double *numbers;
  const double *Q;     /* where inputs are apart: of the rows that are followed, d apart */
  const double *K, *V; /* d and n_v apart */

  /* For inputs that are made when they are needed; NULL: all is there. */
  void *context;
  void (*need_keys)(void *context, int64_t end); /* K and V up to a row */
  /* Of one row that is followed: Q K^T / sqrt(d) up to column `end`; NULL: computed here. */
  const double *(*scores)(void *context, int64_t end);
} Evaluator;

/* Whether the text has a place for what *config asks for; else why not. */
Status evaluate_takes(const Schedule *schedule, const SoftmaxConfig *config, Error *error);

/* Whether a few rows can be followed by themselves, with Q, K and V apart: each row's numbers depend on those alone. */
bool evaluate_follows_rows(const Schedule *schedule);

/* One matrix of a name in HBM: an input, or what is stored; NULL: neither. `head` and `split`, where it has them. */
double *evaluate_matrix(const Evaluator *evaluator, int name, int64_t head, int64_t split);

/* Lays out *state. Returns how many numbers it needs, all of which evaluate_begin sets but for inputs. */
Wide evaluate_layout(Evaluate *state, const Schedule *schedule, const Plan *plan, const EvaluateConfig *config,
                     bool *overflow);

/* Back to the beginning: what is not computed yet is NaN. */
void evaluate_begin(const Evaluator *evaluator);

/* Does the next operation, and returns its position in the program; -1: all is done. An OP_TEST is an iteration that
 * begins, or a tile that is skipped. The cursor still says which blocks it belongs to. */
int evaluate_next(const Evaluator *evaluator);

/* Where that would lead from a cursor, without doing it. */
int evaluate_peek(const Evaluator *evaluator, Cursor *cursor);

/* Whether the operation that was just done is an event's. */
bool evaluate_is_at(const Evaluate *state, int op, const Event *event);

/* What is known of row `row`; NULL: it is not in SRAM. */
const EvaluateRow *evaluate_row(const Evaluator *evaluator, int64_t row);

/* Numbers of a name's tile in SRAM (as a product takes them, if one did and `rounded`), rows state->n[cols] apart. */
const double *evaluate_tile(const Evaluator *evaluator, int name, bool rounded);

#endif
