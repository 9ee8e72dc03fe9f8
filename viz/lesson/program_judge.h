/* Judges a program that answers a task (lessons/engine/program_task.h).
 *
 * It must read, declare what the reference declares (else it could ask for something easier), and compute its outputs
 * on all problems of sim/numbers/program_check.h in fp64, fp16 and bf16. Then bytes, tiles and SRAM are compared with
 * the reference's at each state. The first condition that fails is the verdict; a mutant of the reference that fails in
 * the same way gives its sentence. */
#ifndef TILEWALK_VIZ_LESSON_PROGRAM_JUDGE_H
#define TILEWALK_VIZ_LESSON_PROGRAM_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lessons/engine/program_task.h"
#include "sim/algorithms/program.h"

typedef enum {
  TASK_SOLVED = 0,
  TASK_UNREADABLE, /* the language refuses it */
  TASK_OTHER,      /* it declares other inputs or outputs */
  TASK_WRONG,      /* an output is wrong */
  TASK_MANY_BYTES, /* more than the task allows */
  TASK_MANY_TILES, /* it computes tiles that the reference skips */
  TASK_MUCH_SRAM,  /* it does not fit */
  TASK_MANY_KERNELS,
  TASK_FAULT,          /* of a kernel: a race, a read of what nobody wrote, a missing barrier */
  TASK_MUCH_WORK,      /* it does not end, or is many times as long as the reference */
  TASK_MANY_SECTORS,   /* of global memory */
  TASK_MANY_CONFLICTS, /* of shared memory */
  TASK_VERDICT_COUNT
} TaskVerdict;

/* "solved", "unreadable", "other", "wrong", "bytes", "tiles", "sram", "kernels", "fault", "work", "sectors",
 * "conflicts": keys of JSON. */
const char *task_verdict_name(TaskVerdict verdict);

typedef struct {
  TaskVerdict verdict;
  char why[512];                 /* one line */
  char says[512];                /* the sentence of the mutant that it equals; "": of none */
  int mutant;                    /* its number; -1: none */
  int state;                     /* of the condition that fails; -1: no state's */
  int line;                      /* of the program; 0: not known */
  const char *fault;             /* of a kernel: its kind; NULL: none */
  uint64_t n_faults;             /* how often it was met */
  double bytes, reference_bytes; /* at the first state; 0: not reached */
} TaskJudgement;

/* Judges text[0..length), called `file` in messages. Errors are of the task alone: a reference that is not right, a
 * state that is not possible, no memory. Takes some tenths of a second. */
Status program_judge(const ProgramTask *task, const char *text, size_t length, const char *file,
                     TaskJudgement *judgement, Error *error);

#endif
