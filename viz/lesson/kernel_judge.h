/* Judges a kernel that answers a task (lessons/engine/program_task.h), on the machine of kernels/ptx.
 *
 * It is CUDA, where there is a compiler, or PTX. It runs on each state, those that are drawn for it, too; it must end,
 * show no fault, and write what the reference writes; then its sectors and bank conflicts are compared
 * with the reference's. The first condition that fails is the verdict, with the line; a mutant of the reference that
 * fails in the same way gives its sentence.
 *
 * Reference and mutants are one module, entries NAME_0, NAME_1, ..., which is recorded in PTX beside the task: so that
 * a judge needs no compiler. */
#ifndef TILEWALK_VIZ_LESSON_KERNEL_JUDGE_H
#define TILEWALK_VIZ_LESSON_KERNEL_JUDGE_H

#include "viz/kernel/cuda_source.h"
#include "viz/lesson/program_judge.h"

enum { KERNEL_TASK_SOURCE_BYTES = (PROGRAM_TASK_MUTANTS_MAX + 2) * (PROGRAM_TASK_PROGRAM_BYTES + 256) };

/* What compiles a .cu here; NULL: nothing. */
extern CudaCompile *const LESSON_COMPILER;

/* Reference, mutants and start as one source of CUDA, into text[KERNEL_TASK_SOURCE_BYTES]. */
Status kernel_task_source(const ProgramTask *task, char *text, Error *error);

/* What a task's start, or its reference, shows of each demand at the first state. */
Status kernel_figures(const ProgramTask *task, const char *recorded, bool is_start, DemandFigures *figures,
                      Error *error);

/* Judges text[0..length), called `file`. `recorded` is the PTX of kernel_task_source. Errors are the task's alone. At
 * most a second or so. */
Status kernel_judge(const ProgramTask *task, const char *recorded, const char *text, size_t length, const char *file,
                    TaskJudgement *judgement, Error *error);

#endif
