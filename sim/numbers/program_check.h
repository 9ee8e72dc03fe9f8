/* Does a program compute what its outputs must be? Its form says nothing about that: one that forgets to rescale is
 * well formed. */
#ifndef TILEWALK_SIM_NUMBERS_PROGRAM_CHECK_H
#define TILEWALK_SIM_NUMBERS_PROGRAM_CHECK_H

#include "sim/algorithms/schedule.h"
#include "sim/numbers/softmax.h"

enum { PROGRAM_CHECK_BYTES = ERROR_MESSAGE_BYTES + 64 };

typedef struct {
  bool is_tried;                   /* else text says why not */
  bool is_right;                   /* every output, on every problem */
  char output[PROGRAM_NAME_BYTES]; /* the first that is wrong; of a right program, the one with the largest error */
  int64_t row;                     /* of the largest error */
  int64_t n_judged, n_unjudged;    /* numbers; for the others the formula itself gives none: it overflows */
  double error; /* against fp64; of the largest number of the output, where that is above 1. Infinity:
                                         no number, or never stored */
  int line;     /* of the file: where a row that is wrong was last stored, or first was no number; 0: never */
  char text[PROGRAM_CHECK_BYTES]; /* "O is right: ...", "dK_j is wrong: ..." or "O was not tried: ..." */
} ProgramVerdict;

/* Tries it on small problems: whole and ragged tiles of two sizes, N_q above and below N_k (rows without keys), a
 * causal mask in both corners, a window, numbers from N(0, 1) and with some 100 times as large, heads in groups where
 * the program loops over them. Each output is held against its formula, in fp64, by code that knows no tiles
 * (sim/numbers/reference.h). Takes some milliseconds.
 *
 * `softmax`, unless NULL: a sink or a cap of scores, and the precision to compute in (then what is rounded once must
 * come out within a few roundings, and outliers are 10 times as large). */
ProgramVerdict program_verdict(const Schedule *program, const SoftmaxConfig *softmax);

/* Whether it is right, asking problem *problem first; sets it to the one that says no. For trying many programs. */
bool program_is_right(const Schedule *program, const SoftmaxConfig *softmax, int *problem);

/* Whether two programs with the same outputs compute the same numbers on every problem, up to 1e-9 and no number for no
 * number: then one is the other, as far as outputs say. */
bool program_same_outputs(const Schedule *a, const Schedule *b);

/* The same in a word and a line. Returns whether all is right. */
bool program_check(const Schedule *program, const SoftmaxConfig *softmax, char text[PROGRAM_CHECK_BYTES]);

#endif
