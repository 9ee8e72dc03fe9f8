/* Judges a program that answers a task (lessons/engine/program_task.h).
 *
 * It must read, declare what the reference declares (else it could ask for something easier), and compute its outputs
 * on all problems of sim/numbers/program_check.h in fp64, fp16 and bf16. Then the task's demands are looked at in each
 * state. The first condition that fails is the verdict; a mutant of the reference that fails in the same way gives its
 * sentence, else the demand does. */
#ifndef TILEWALK_VIZ_LESSON_PROGRAM_JUDGE_H
#define TILEWALK_VIZ_LESSON_PROGRAM_JUDGE_H

#include "lessons/engine/program_task.h"
#include "sim/simulate.h"

/* Of each demand, over the events of one head. */
typedef struct {
  double of[PROGRAM_TASK_DEMANDS_MAX];
} DemandFigures;

/* RIGHT, at this size; `plan` NULL: of a kernel. */
double demand_bar(const ProgramDemand *demand, const Plan *plan, double reference);

/* "load K: 72 now; right 36; bar 36". */
void demand_say(const ProgramDemand *demand, double now, double right, double bar, char *text, size_t size);

typedef enum {
  TASK_SOLVED = 0,
  TASK_UNREADABLE, /* the language refuses it */
  TASK_OTHER,      /* it declares other inputs or outputs */
  TASK_WRONG,      /* an output is wrong */
  TASK_FAULT,      /* of a kernel: a race, a read of what nobody wrote, a missing barrier */
  TASK_MUCH_WORK,  /* it does not end, or is many times as long as the reference */
  TASK_DEMAND,     /* its outputs are right, and it does not do what is demanded */
} TaskVerdict;

typedef struct {
  TaskVerdict verdict;
  char why[512];                 /* one line */
  char says[512];                /* the sentence of the mutant that it equals, or of the demand; "": of none */
  int mutant;                    /* its number; -1: none */
  int state;                     /* of the condition that fails; -1: no state's */
  int demand;                    /* that fails, by its number */
  double figure;                 /* of that demand */
  int line;                      /* of the program; 0: not known */
  const char *fault;             /* of a kernel: its kind; NULL: none */
  uint64_t n_faults;             /* how often it was met */
  double bytes, reference_bytes; /* at the first state; 0: not reached */
} TaskJudgement;

/* "solved", "unreadable", "other", "wrong", "fault", "work", or a demand's first word: "bytes", "load", "columns". */
const char *task_verdict_name(const ProgramTask *task, const TaskJudgement *judgement);

/* Notes why an answer fails: a line. */
void task_fails(TaskJudgement *judgement, TaskVerdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An error of the task itself, with its file and line. */
Status task_error(const ProgramTask *task, int line, const Error *own, Error *error);

/* The first demand that is not met in the judgement's state: its figures, and those of the reference. */
void task_check_demands(const ProgramTask *task, const Plan *plan, const DemandFigures *own, const DemandFigures *must,
                        TaskJudgement *judgement);

/* Of a program with wrong outputs, names the line that would have to change in place of the one that stores them,
 * where one line alone makes it right, or a mutant is known. `text` ends in 0. What it should be is not said. Takes
 * some tenths of a second. */
void program_blame(const ProgramTask *task, const char *text, size_t length, TaskJudgement *judgement);

/* What a task's start, or its reference, shows of each demand at the first state, and how that is planned. */
Status program_figures(const ProgramTask *task, bool is_start, DemandFigures *figures, Plan *plan, Error *error);

/* Judges text[0..length), called `file` in messages. Errors are of the task alone: a reference that is not right, a
 * state that is not possible, no memory. Takes some tenths of a second. */
Status program_judge(const ProgramTask *task, const char *text, size_t length, const char *file,
                     TaskJudgement *judgement, Error *error);

#endif
