/* A task that is answered with a program, or with a kernel (lessons/tasks, lessons/README.md):
 *
 *     task       The largest score of a row              '#' begins a comment outside of programs
 *     teaches    what one number a row is enough for
 *     ask        Write m for every row.                  several lines are one paragraph
 *     input      Q_i: B_r x d                            declarations, put into both programs behind their first line
 *     output     m_i = row max of mask(Q K^T / sqrt(d))
 *     state      N=256 d=32 block=32 causal=1            where demands are looked at; several
 *     draw       n 1..500                                a whole number of the range: small, large, prime, near 2^k ...
 *     draw       a 0 | -1 | 2.5 | -60..60                or one of these in turn
 *     hidden     N={n} seq-len-k=61 d=16                 likewise, not shown, and drawn for each answer
 *     demand     load K <= tiles                         what a run must do
 *     says       One pass over the keys is enough.
 *     hint       What must be known of the keys so far?
 *     start                                              programs follow, indented by four spaces
 *         algorithm mine
 *     reference
 *         algorithm mine
 *     mutant     max(m_i, row max of S) => row max of S
 *     says       That is the maximum of one block.
 *
 * A demand is LEFT <= RIGHT or LEFT = RIGHT. Of the events of one head LEFT is
 *
 *     load X, store X   X: a tensor; `scores`, tiles of rows and columns; `all`
 *     product, rescale  or another kind of event
 *     columns           numbers of a row that wait from tile to tile
 *     longest           tiles that one CTA walks
 *     bytes, kernels, sram
 *
 * and of a kernel (CUDA) `sectors` of global memory, `conflicts` of shared memory, `shared` bytes of a block and
 * `local` bytes of a thread. RIGHT is a number, a size, a part of what the reference does (`100%`), or so many of
 * `tiles` that the mask leaves, `row blocks`, `column blocks` or `split tiles` (tiles of one split): `3 tiles`.
 *
 * Of a kernel `entry` is its name; a state is a launch, in the words of `tilewalk kernel`, and says which argument is
 * the output:
 *
 *     entry      scale_add
 *     state      grid=4 block=256 arg=i32:1000 arg=f32:2 arg=f32[1000]:normal:1 arg=f32[1000]:none out=3
 *     demand     sectors <= 105%
 *
 * Between braces stands what was drawn, with * and / from left to right; / rounds up: grid={n/256}. {seed} is another
 * number each time.
 *
 * A mutant is the reference with one text replaced, wherever it stands. Whose outputs, or else whose figures, are those
 * of a mutant is told what it says; else whoever fails a demand is told what that says. */
#ifndef TILEWALK_LESSONS_ENGINE_PROGRAM_TASK_H
#define TILEWALK_LESSONS_ENGINE_PROGRAM_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

enum {
  PROGRAM_TASK_BYTES_MAX = 65536,
  PROGRAM_TASK_PROGRAM_BYTES = 6144, /* of one program, as the language allows */
  PROGRAM_TASK_TEXT_BYTES = 2048,
  PROGRAM_TASK_LINE_BYTES = 512,
  PROGRAM_TASK_STATES_MAX = 24, /* as written, and the drawn ones */
  PROGRAM_TASK_DRAWS_MAX = 6,
  PROGRAM_TASK_ROUNDS = 10, /* states that are drawn from the hidden line with braces */
  PROGRAM_TASK_MUTANTS_MAX = 24,
  PROGRAM_TASK_HINTS_MAX = 4,
  PROGRAM_TASK_DEMANDS_MAX = 6,
};

/* What a run does, as LEFT of a demand says it. */
typedef enum {
  DEMAND_LOAD = 0, /* of `of` */
  DEMAND_STORE,
  DEMAND_EVENT, /* of kind `event` */
  DEMAND_COLUMNS,
  DEMAND_LONGEST,
  DEMAND_BYTES,
  DEMAND_KERNELS,
  DEMAND_SRAM,
  DEMAND_SECTORS, /* this and the next: of a kernel */
  DEMAND_CONFLICTS,
  DEMAND_SHARED,
  DEMAND_LOCAL,
  DEMAND_COUNT
} DemandKind;

extern const char *const DEMAND_NAMES[DEMAND_COUNT];

typedef enum {
  DEMAND_PLAIN = 0,
  DEMAND_OF_REFERENCE,
  DEMAND_TILES,
  DEMAND_ROW_BLOCKS,
  DEMAND_COLUMN_BLOCKS,
  DEMAND_SPLIT_TILES,
  DEMAND_UNIT_COUNT
} DemandUnit;

typedef struct {
  char left[40], says[PROGRAM_TASK_LINE_BYTES];
  uint8_t kind, unit, event, of; /* DemandKind, DemandUnit, EventKind; where in `left` a name begins, 0: none */
  bool exactly;
  double amount;
  int line;
} ProgramDemand;

typedef struct {
  char find[PROGRAM_TASK_LINE_BYTES], replace[PROGRAM_TASK_LINE_BYTES], says[PROGRAM_TASK_LINE_BYTES];
  int line;
} ProgramMutant;

typedef struct {
  char file[256];
  char title[PROGRAM_TASK_LINE_BYTES], teaches[PROGRAM_TASK_LINE_BYTES], ask[PROGRAM_TASK_TEXT_BYTES];
  char states[PROGRAM_TASK_STATES_MAX][PROGRAM_TASK_LINE_BYTES];
  char hints[PROGRAM_TASK_HINTS_MAX][PROGRAM_TASK_LINE_BYTES];
  int state_lines[PROGRAM_TASK_STATES_MAX];
  bool is_hidden[PROGRAM_TASK_STATES_MAX];
  char draws[PROGRAM_TASK_DRAWS_MAX][PROGRAM_TASK_LINE_BYTES], drawn[PROGRAM_TASK_LINE_BYTES]; /* with braces; "" */
  int n_states, n_hints, n_mutants, n_demands, n_draws, n_written; /* the states behind n_written are drawn */
  int drawn_line;
  ProgramDemand demands[PROGRAM_TASK_DEMANDS_MAX];
  char start[PROGRAM_TASK_PROGRAM_BYTES], reference[PROGRAM_TASK_PROGRAM_BYTES];
  int reference_line; /* of the file, before its first */
  char declarations[PROGRAM_TASK_TEXT_BYTES];
  char entry[64]; /* of a kernel; "": a program */
  ProgramMutant mutants[PROGRAM_TASK_MUTANTS_MAX];
} ProgramTask;

/* Draws the hidden states: in place of those from another seed. */
Status program_task_draw(ProgramTask *task, uint64_t seed, Error *error);

/* What a state is called in messages: its words, or that it is not shown. */
const char *program_task_state(const ProgramTask *task, int state);

/* Reads text[0..length); NULL with one line that begins with the file and the line. The caller frees it. */
ProgramTask *program_task_read(const char *text, size_t length, const char *file, Error *error);

/* The reference as mutant k has it, into text[PROGRAM_TASK_PROGRAM_BYTES]. */
Status program_task_mutant(const ProgramTask *task, int k, char *text, Error *error);

#endif
