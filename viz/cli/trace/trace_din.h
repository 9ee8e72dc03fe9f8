/* Loads and stores as addresses: Dinero's extended din (xdin), for any cache simulator.
 *
 * Addresses are those of sim/algorithms/layout.h. A tile becomes one record for each line of 128 bytes it touches, in
 * rising order. Only loads and stores are written; what stays in SRAM has no address. */
#ifndef TILEWALK_VIZ_CLI_TRACE_TRACE_DIN_H
#define TILEWALK_VIZ_CLI_TRACE_TRACE_DIN_H

#include <stdio.h>

#include "sim/algorithms/layout.h"
#include "sim/algorithms/schedule.h"

typedef struct {
  FILE *out;
  const Schedule *schedule;
  const Plan *plan;
  Layout layout;
} DinTrace;

/* STATUS_TOO_LARGE when the tensors of one head do not fit 62 bits of address. */
Status din_trace_begin(DinTrace *trace, FILE *out, const Schedule *schedule, const Plan *plan, Error *error);
void din_trace_event(const DinTrace *trace, const Event *event);

#endif
