/* What walking, counting and seeking share. Private to sim/algorithms. */
#ifndef TILEWALK_SIM_ALGORITHMS_WALK_WALK_H
#define TILEWALK_SIM_ALGORITHMS_WALK_WALK_H

#include "sim/algorithms/schedule.h"

/* The blocks that a loop runs over; of one in a split, those of `split`. */
Span walk_range(const Plan *plan, const ProgramOp *loop, int64_t split);

/* A cursor that has not begun: in no loop. */
void walk_begin(Cursor *cursor);

void walk_leave_loop(const ProgramOp *loop, Cursor *cursor);

/* Enters a loop, before its first iteration; and makes the iteration at[dim] the present one. */
void walk_enter_loop(const Plan *plan, const ProgramOp *loop, Cursor *cursor);
void walk_set_block(const Plan *plan, const ProgramOp *loop, Cursor *cursor);

/* Whether the loop has a computed tile for the blocks that the cursor is in. */
bool walk_has_tile(const Plan *plan, const ProgramOp *loop, const Cursor *cursor);

#endif
