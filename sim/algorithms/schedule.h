/* Schedules: what an algorithm does, in order. A schedule is a program (sim/algorithms/program.h), walked.
 *
 *     sim/algorithms/standard.walk     three kernels; S and P go through HBM
 *     sim/algorithms/fa1.walk          FlashAttention: outer loop over K/V, O and statistics come and go
 *     sim/algorithms/fa2.walk          FlashAttention-2: outer loop over Q, O stays until it is finished
 *     sim/algorithms/fa2-split.walk    FlashAttention-2's split-KV (flash decoding) with its combine kernel
 *
 * To add an algorithm: write its page of text (sim/algorithms/LANGUAGE.md) and name it in the Makefile's list.
 *
 * A walk gives the events of ONE head, one a call. All heads do the same. The cursor is a plain struct without
 * pointers, so copying it is a bookmark, and stepping back is going to a bookmark or seeking. Any step is found, and
 * any prefix counted, from the mask's counts of tiles: at N = 2^31 in microseconds. */
#ifndef TILEWALK_SIM_ALGORITHMS_SCHEDULE_H
#define TILEWALK_SIM_ALGORITHMS_SCHEDULE_H

#include "sim/algorithms/traffic.h"
#include "sim/algorithms/sram.h"

typedef Program Schedule;

/* The shipped programs, compiled when Tilewalk is built. */
extern const Schedule *const SCHEDULES[];
/* The first N_SCHEDULES are attention's forward pass in the papers' forms, which `all` and comparisons are over. */
extern const int N_SCHEDULES, N_PROGRAMS;

/* What a state line calls an algorithm: its name, or the path it was read from. */
static inline const char *schedule_word(const Schedule *s) { return s->path ? s->path : s->name; }
const Schedule *schedule_find(const char *name); /* "naive" is standard. NULL: no such algorithm */

/* Where a walk stands: before operation `op`. Zero is the first event. */
typedef struct {
  uint64_t step; /* number of events already given */
  int64_t i, j;  /* present row block and column block; -1 where no loop runs over them */
  int64_t row0, row1, col0, col1;
  int64_t split, head;   /* present split, or -1; present query head, or 0 */
  int64_t at[DIM_COUNT]; /* iterations of the loop over each that are over */
  int64_t n[DIM_COUNT];  /* iterations it has */
  Span computed, full;   /* tiles of the inner loop, for the present outer block */
  uint8_t op;            /* of the program */
  uint8_t tile;          /* TileKind of the present tile */
  bool begun, done;
} Cursor;

/* Writes the next event and moves the cursor. False: the walk is over. */
bool schedule_next(const Schedule *schedule, const Plan *plan, Cursor *cursor, Event *event);

/* The number of events of one head. */
Wide schedule_n_steps(const Schedule *schedule, const Plan *plan);

/* Moves *cursor so that the next event is number `step`, in O(log^2 N) time. False when the walk has fewer events than
 * that (step == number of events is the end, and fine). */
bool schedule_seek(const Schedule *schedule, const Plan *plan, Cursor *cursor, uint64_t step);

/* The fold of the events before the cursor, counted without walking: equal to traffic_add over all of them. */
void schedule_traffic_before(const Schedule *schedule, const Plan *plan, const Cursor *cursor, Traffic *traffic,
                             bool *overflow);

/* The fold of all events of one head. */
void schedule_traffic(const Schedule *schedule, const Plan *plan, Traffic *traffic, bool *overflow);

/* What of these bytes one line moves, by its index (Event.line). */
Wide schedule_line_bytes(const Schedule *schedule, const Plan *plan, int line);

/* What a line in a loop over tiles costs for each pair of query and key, added up over all lines that happen. Products
 * of other sides are not among them. */
typedef struct {
  double flops, exps;
  bool is_all; /* no line multiplies anything else */
} PairCost;
PairCost schedule_pair_cost(const Schedule *schedule, const Plan *plan);

typedef struct {
  int64_t of[TENSORS_MAX]; /* how often the most often loaded block of each input is loaded, per head */
} LoadsPerBlock;
LoadsPerBlock schedule_loads(const Schedule *schedule, const Plan *plan);

/* Whether a block of the name goes out to HBM under the plan. */
bool schedule_stores(const Schedule *schedule, const Plan *plan, int name);

/* Storage in HBM besides inputs and outputs, per head: what the program stores and loads again, but for the blocks of
 * an output. */
Wide schedule_intermediate_bytes(const Schedule *schedule, const Plan *plan, bool *overflow);

/* Whether a loop goes from the last block to the first. */
static inline bool schedule_backwards(const Plan *plan, const ProgramOp *loop) {
  return loop->backwards || (loop->either_way && plan->tiling.reversed);
}

/* What a tensor is called where it crosses the SRAM boundary: its title, but of statistics those that move under the
 * conditions `when`: "L", where m and l stay on chip. Returns text. */
const char *schedule_moved_title(const Schedule *schedule, unsigned when, int tensor, const char *between, char *text,
                                 size_t size);

/* Whether the CTAs of a kernel begin with the last block of a dimension: their loop over it goes back. */
bool schedule_ctas_go_back(const Schedule *schedule, const Plan *plan, int kernel, Dim dim);

/* Whether the program can be walked under a plan: the diagonal needs B_r = B_c and N_q = N_k, `first d_v of K` no more
 * than there is. Errors: STATUS_BAD_REQUEST, one line. */
Status schedule_takes(const Schedule *schedule, const Plan *plan, Error *error);

/* Heads that do the same: query heads; KV heads where the program loops over the query heads of each itself. */
static inline Wide schedule_heads(const Schedule *schedule, const Shape *shape) {
  return wide(shape->batch) * wide(schedule->over_heads ? shape->kv_heads : shape->heads);
}

/* Query heads of a KV head. */
static inline int64_t schedule_group(const Plan *plan) { return plan->shape.heads / plan->shape.kv_heads; }

/* The length of a side of a tile, but for B_r and B_c of ragged ones. */
static inline int64_t schedule_side(const Schedule *s, const Plan *plan, int side) {
  switch (side) {
  case SIDE_ROWS: return plan->tiling.B_r;
  case SIDE_COLS: return plan->tiling.B_c;
  case SIDE_D: return plan->shape.d;
  case SIDE_DV: return plan->shape.d_v;
  default: return side >= SIDE_OWN && side < SIDE_COUNT ? s->sizes[side - SIDE_OWN].value : 1;
  }
}

/* The same of the whole matrix. */
static inline int64_t schedule_side_whole(const Schedule *s, const Plan *plan, int side) {
  if (side == SIDE_ROWS) return plan->shape.N_q;
  return side == SIDE_COLS ? plan->shape.N_k : schedule_side(s, plan, side);
}

/* How many such matrices a name has: one for each split or query head among its subscripts, and a state that has
 * neither rows nor columns one for each block. */
static inline int64_t schedule_matrices(const Plan *plan, const ProgramName *n) {
  const bool rows = sides_have(n->rows, n->cols, SIDE_ROWS), cols = sides_have(n->rows, n->cols, SIDE_COLS);
  return (n->subscripts & IN_S ? plan->tiling.n_splits : 1) * (n->subscripts & IN_H ? schedule_group(plan) : 1) *
         (n->subscripts & IN_I && !rows && !cols ? plan->T_r : 1) *
         (n->subscripts & IN_J && !rows && !cols ? plan->T_c : 1);
}

/* The kernel that multiplies for the most tiles. */
int schedule_main_kernel(const Schedule *schedule);

/* Whether that one's CTAs own column blocks and walk the rows of each, as in the backward pass. */
bool schedule_owns_columns(const Schedule *schedule);

/* Conditions (WHEN_...) that hold for a plan. */
static inline uint8_t schedule_when(const Plan *plan) {
  return (uint8_t)((plan->tiling.lse ? WHEN_LSE : 0) | (plan->tiling.n_splits > 1 ? WHEN_SPLIT : WHEN_WHOLE));
}

#endif
