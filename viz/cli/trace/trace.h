/* Traces as files for other programs. */
#ifndef TILEWALK_VIZ_CLI_TRACE_TRACE_H
#define TILEWALK_VIZ_CLI_TRACE_TRACE_H

#include <stdio.h>

#include "sim/algorithms/schedule.h"
#include "sim/algorithms/layout.h"
#include "sim/time/recorded.h"

/* Events in the Chrome trace format, which Perfetto and chrome://tracing open.
 *
 * One process per algorithm, one thread (lane) per kind of work, counters for the bytes so far. The time
 * axis is the stream itself: one event is one microsecond. */
typedef struct {
  FILE *out;
  const Schedule *schedule;
  int process;
  uint64_t read_bytes, write_bytes; /* since the first event written */
} ChromeTrace;

void chrome_trace_open(FILE *out); /* once per file */
void chrome_trace_begin(ChromeTrace *trace, FILE *out, const Schedule *schedule, const Plan *plan, int index);
void chrome_trace_event(ChromeTrace *trace, const Event *event);
void chrome_trace_close(FILE *out);

/* Loads and stores as addresses: Dinero's extended din (xdin), for any cache simulator.
 *
 * Addresses are those of sim/algorithms/layout.h. A tile becomes one record for each line of 128 bytes it touches, in
 * rising order. Only loads and stores are written; what stays in SRAM has no address. */
typedef struct {
  FILE *out;
  const Schedule *schedule;
  const Plan *plan;
  Layout layout;
} DinTrace;

/* STATUS_TOO_LARGE when the tensors of one head do not fit 62 bits of address. */
Status din_trace_begin(DinTrace *trace, FILE *out, const Schedule *schedule, const Plan *plan, Error *error);
void din_trace_event(const DinTrace *trace, const Event *event);

/* A measured pipeline in the trace event format of Chrome, for Perfetto. A cycle is a microsecond. A lane for the
 * tensor cores, which are drawn at peak rate, each warpgroup, and each slot. */
void pipeline_trace(FILE *out, const Pipeline *pipeline);

#endif
