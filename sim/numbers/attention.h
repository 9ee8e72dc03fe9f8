/* Attention with real numbers, following the events: the fold that computes.
 *
 *        HBM                                      SRAM
 *        Q  K  V        -- load -->               the tile of Q, of K, of V
 *        S  P           <- store, load ->         S, P of one tile
 *        O  statistics  <- store, load ->         O; per row m, l and the factor
 *
 * One state follows one head. What each event does is what its line of the program says (sim/numbers/evaluate.h), and
 * nothing happens without one: a number that goes out to HBM is rounded to what it is stored in and comes back rounded.
 * So the result is right only if the program is. Events must come in the walk's order; another one is refused.
 *
 * The state is one flat block of memory that belongs to the caller, with offsets and no pointers inside it:
 * copying its attention_state_bytes is a bookmark, and comparing two states is a memcmp.
 *
 * A row that sees no key gives O = 0 and a log-sum-exp of -infinity; but fp8 has no infinity, so where S is stored in
 * fp8 such a row becomes the mean of V.
 * Not modelled: the order of additions inside tensor cores, and eager frameworks that round S before they scale it. */
#ifndef TILEWALK_SIM_NUMBERS_ATTENTION_H
#define TILEWALK_SIM_NUMBERS_ATTENTION_H

#include "sim/numbers/evaluate.h"

/* More than this is refused: to see numbers, a smaller N will do. */
#define ATTENTION_MAX_BYTES ((Wide)1 << (sizeof(void *) < 8 ? 30 : 34))

typedef struct {
  SoftmaxConfig softmax; /* precision, and the switch that leaves the maximum out */
  double scale;          /* of the scores; 0: 1 / sqrt(d) */
} AttentionConfig;

typedef struct {
  AttentionConfig config;
  Plan plan;
  const Schedule *schedule; /* not its own */
  size_t bytes;             /* of this header, inputs and numbers together */
  size_t numbers;           /* where they lie, inputs first: bytes from the start of the state */
  uint64_t n_applied;       /* events so far */
  Cursor walked;            /* behind the last of them */
  Evaluate evaluate;
} Attention;

/* What a shape's element type is computed in. */
Precision attention_precision(Dtype dtype);

/* Bytes of the state that follows one head of `plan` under `schedule`. */
Status attention_bytes(const Plan *plan, const Schedule *schedule, size_t *bytes, Error *error);

/* Lays out a state in `memory` (attention_bytes of it, aligned as malloc does). Inputs are zero, everything
 * that the events must write is NaN. The state begins at `memory`. A sink or a cap that the program's text has no place
 * for is refused. */
Status attention_start(void *memory, const Plan *plan, const Schedule *schedule, const AttentionConfig *config,
                       Attention **attention, Error *error);

/* Bytes to copy for a bookmark. */
static inline size_t attention_state_bytes(const Attention *attention) { return attention->bytes; }

/* Fills the inputs from a seed, and then those that a formula makes of them. Heads that share a KV head get the same K
 * and V. Peaks: every eleventh number is ATTENTION_PEAK times as large; where numbers are rounded, as much as products
 * of them leave room for in fp16. Far: by turns, the scores of a row lie around 0, far below and far above 0: e^S is 0
 * or infinite in fp64. */
typedef enum { INPUT_NORMAL = 0, INPUT_OUTLIERS, INPUT_PEAKS, INPUT_FAR } InputKind;
enum { ATTENTION_PEAK = 100, ATTENTION_PEAK_ROUNDED = 10, ATTENTION_FAR = 48 };
void attention_fill(Attention *attention, InputKind kind, uint64_t seed, int64_t batch, int64_t head);

/* Does what the event says, and what lines that are no event say before it. On error the state is unchanged. */
Status attention_apply(Attention *attention, const Event *event, Error *error);

/* The program on the state's numbers, for who follows operations himself: then no event is applied. */
Evaluator attention_evaluator(Attention *attention);

/* Applies up to `n` events from *cursor on; *cursor ends behind the last one applied. */
Status attention_walk(Attention *attention, const Schedule *schedule, Cursor *cursor, uint64_t n, Error *error);

/* A name's matrix in HBM, of a query head of the group: an input or what is stored; NULL: neither. */
const double *attention_matrix(const Attention *attention, int name, int64_t head);

/* A name's tile in SRAM, as it was last set. */
const double *attention_tile(const Attention *attention, int name);

/* What a declared tensor must be (sim/numbers/reference.h). False: no memory. */
bool attention_reference(const Attention *attention, const ProgramDeclaration *declaration, int64_t head, double *out);

#endif
