/* Where is the mistake? A program says nothing of what its values must be between inputs and outputs: a line is off
 * only beside one that would be right. So lines are changed, one at a time, until all outputs are right on all
 * problems of program_check.h:
 *
 *     l_i, O_i *= e^(m' - m_i)      a name, an operator, a number, ^T, row max and row sum exchanged, or one more or
 * less
 *     O_i += P^T V_j                a part or a line left out; a line and the next exchanged
 *                                   a line put in: mask S; X, Y *= e^(a - b); X = X / a; a += row sum of S; a = b; X =
 * 0
 *
 * Up to that line both programs do the same, so it is the first after which a value is off. What is said is true of the
 * change that was found; that it is the only one is not said. Mistakes on two lines are not found. */
#ifndef TILEWALK_SIM_NUMBERS_PROGRAM_MEND_H
#define TILEWALK_SIM_NUMBERS_PROGRAM_MEND_H

#include "sim/numbers/program_check.h"

enum { PROGRAM_MEND_BYTES = 192 };

typedef enum {
  MEND_NONE = 0,
  MEND_REPLACE,  /* the line should be `text` */
  MEND_INSERT,   /* `text` should follow it */
  MEND_DELETE,   /* it should not be there */
  MEND_EXCHANGE, /* the next one, `text`, should come first */
} MendKind;

typedef struct {
  MendKind kind;
  int line;         /* of the file */
  int indent;       /* spaces before `text` */
  bool behind_loop; /* of an insertion: behind the loop that the line ends */
  char text[128];
  int n_read, n_tried; /* programs: all, and those that were well formed */
} ProgramMend;

/* Of a program whose verdict is wrong. Takes some tenths of a second. No memory: MEND_NONE. */
ProgramMend program_mend(const Schedule *program, const SoftmaxConfig *softmax);

/* "Line 12 as 'O_i += P V_j' makes it right.", "'mask S' after line 9 makes it right.", "Without line 12 it is right."
 * PROGRAM_MEND_BYTES are enough. */
void program_mend_say(const ProgramMend *mend, char *text, size_t size);

#endif
