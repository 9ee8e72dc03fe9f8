/* A task that is answered with a program, or with a kernel (lessons/tasks, lessons/README.md):
 *
 *     task       Put the rescale where it belongs        '#' begins a comment outside of programs
 *     teaches    what a new maximum does to what was added before
 *     ask        The program below forgets something.    several lines are one paragraph
 *     state      N=256 d=32 block=32 causal=1            where bytes, tiles and SRAM are compared; several
 *     bytes      100%                                    at most this part of the reference's; "any"
 *     kernels    1                                       at most; without the line, any number
 *     sram       96 KiB                                  at most, at each state
 *     hint       Which values were added up under the old maximum?
 *     start                                              programs follow, indented by four spaces
 *         algorithm mine
 *     reference
 *         algorithm mine
 *     mutant     l_i, O_i *= e^(m_i - m') => l_i *= e^(m_i - m')
 *     says       O was added up under the old maximum, and l was rescaled alone.
 *
 * Of a kernel (CUDA) `entry` is its name; a state is a launch, in the words of `tilewalk kernel`, and says which
 * argument is the output:
 *
 *     entry      scale_add
 *     state      grid=4 block=256 arg=i32:1000 arg=f32:2 arg=f32[1000]:normal:1 arg=f32[1000]:none out=3
 *     sectors    105%                                    of global memory, at most this part of the reference's
 *     conflicts  100%                                    of shared memory, likewise
 *
 * A mutant is the reference with one text replaced, wherever it stands. Whose outputs, or else whose bytes, are those
 * of a mutant is told what it says. */
#ifndef TILEWALK_LESSONS_ENGINE_PROGRAM_TASK_H
#define TILEWALK_LESSONS_ENGINE_PROGRAM_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

enum {
  PROGRAM_TASK_BYTES_MAX = 65536,
  PROGRAM_TASK_PROGRAM_BYTES = 6144, /* of one program, as the language allows */
  PROGRAM_TASK_TEXT_BYTES = 2048,
  PROGRAM_TASK_LINE_BYTES = 512,
  PROGRAM_TASK_STATES_MAX = 6,
  PROGRAM_TASK_MUTANTS_MAX = 24,
  PROGRAM_TASK_HINTS_MAX = 4,
};

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
  int n_states, n_hints, n_mutants;
  double bytes;       /* of the reference's, at most; 0: any */
  int64_t kernels;    /* at most; 0: any */
  int64_t sram_bytes; /* at most; 0: any */
  char start[PROGRAM_TASK_PROGRAM_BYTES], reference[PROGRAM_TASK_PROGRAM_BYTES];
  int start_line, reference_line; /* of the file, before their first */
  char entry[64];                 /* of a kernel; "": a program */
  double sectors, conflicts;      /* of the reference's, at most; 0: any */
  ProgramMutant mutants[PROGRAM_TASK_MUTANTS_MAX];
} ProgramTask;

/* Reads text[0..length); NULL with one line that begins with the file and the line. The caller frees it. */
ProgramTask *program_task_read(const char *text, size_t length, const char *file, Error *error);

/* The reference as mutant k has it, into text[PROGRAM_TASK_PROGRAM_BYTES]. */
Status program_task_mutant(const ProgramTask *task, int k, char *text, Error *error);

#endif
