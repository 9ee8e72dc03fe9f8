/* Demands of a task (lessons/engine/program_task.h) over the events of one head.
 *
 *     Simulation, program  ->  walk  ->  figures of all demands, in their order
 *     Plan, the reference's figure   ->  bar */
#ifndef TILEWALK_VIZ_LESSON_PROGRAM_DEMAND_H
#define TILEWALK_VIZ_LESSON_PROGRAM_DEMAND_H

#include "lessons/engine/program_task.h"
#include "sim/simulate.h"

typedef struct {
  double of[PROGRAM_TASK_DEMANDS_MAX];
} DemandFigures;

/* Errors: a run of more than a million events. */
Status demand_measure(const ProgramTask *task, const Simulation *run, DemandFigures *figures, Error *error);

/* RIGHT, at this size; `plan` NULL: of a kernel. */
double demand_bar(const ProgramDemand *demand, const Plan *plan, double reference);

/* "load K: 72 now; right 36; bar 36". */
void demand_say(const ProgramDemand *demand, double now, double right, double bar, char *text, size_t size);

#endif
