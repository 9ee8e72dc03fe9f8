/* Which values a kernel still needs: those that have been loaded or set and that a later line reads. */
#ifndef TILEWALK_SIM_ALGORITHMS_WALK_LIVE_H
#define TILEWALK_SIM_ALGORITHMS_WALK_LIVE_H

#include "sim/algorithms/program.h"

/* Names that an operation reads, and those that it sets or loads. */
NameSet live_reads(const Program *program, int op);
NameSet live_sets(const Program *program, int op);

/* before[op]: names that hold a value before the operation which it or a later one of its kernel reads, where the
 * conditions `holds` (WHEN_...) are those that hold. */
void live_find(const Program *program, uint8_t holds, NameSet before[PROGRAM_OPS_MAX]);

/* met[kernel][name]: names that hold a value which is still to be read when a line of the kernel loads or sets `name`,
 * and those that a product on that line is made beside. Two names of which neither meets the other can share a
 * place. */
void live_meet(const Program *program, NameSet (*met)[PROGRAM_NAMES_MAX]);

#endif
