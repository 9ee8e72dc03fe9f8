/* Does a program compute attention? Its form says nothing about that: one that forgets to rescale is well formed. */
#ifndef TILEWALK_SIM_PROGRAM_CHECK_H
#define TILEWALK_SIM_PROGRAM_CHECK_H

#include "sim/algorithms/schedule.h"
#include "sim/numbers/softmax.h"

enum { PROGRAM_CHECK_BYTES = ERROR_MESSAGE_BYTES + 64 };

/* Tries it in fp64 on a small problem, ragged on both sides, without a mask and with a causal one, against attention
 * from its definition. text: "O is right: ...", "O is wrong: ..." or "O was not tried: ...". Returns whether O is
 * right. Takes about a millisecond. `softmax`, unless NULL, adds a sink or a cap of scores. */
bool program_check(const Schedule *program, const SoftmaxConfig *softmax, char text[PROGRAM_CHECK_BYTES]);

#endif
