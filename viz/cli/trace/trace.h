/* Traces as files for other programs. */
#ifndef TILEWALK_VIZ_CLI_TRACE_TRACE_H
#define TILEWALK_VIZ_CLI_TRACE_TRACE_H

#include <stdio.h>

#include "sim/algorithms/schedule.h"
#include "sim/algorithms/layout.h"
#include "sim/time/recorded.h"

/* Events of one algorithm on their way into a file. */
typedef struct {
  FILE *out;
  const Schedule *schedule;
  const Plan *plan;
  int index; /* of the algorithm */
  Layout layout;
  uint64_t read_bytes, write_bytes; /* since the first event written */
} Trace;

typedef struct {
  const char *head, *tail;                     /* of the file */
  Status (*begin)(Trace *trace, Error *error); /* NULL: nothing to do */
  void (*event)(Trace *trace, const Event *event);
} TraceFormat;

/* The Chrome trace format, which Perfetto and chrome://tracing open: one process per algorithm, one thread (lane) per
 * kind of work, counters for the bytes so far. The time axis is the stream itself: one event is one microsecond. */
extern const TraceFormat CHROME_TRACE;

/* Loads and stores as addresses: Dinero's extended din (xdin), for any cache simulator.
 *
 * Addresses are those of sim/algorithms/layout.h. A tile becomes one record for each line of 128 bytes it touches, in
 * rising order. Only loads and stores are written; what stays in SRAM has no address. STATUS_TOO_LARGE when the tensors
 * of one head do not fit 62 bits of address. */
extern const TraceFormat DIN_TRACE;

/* A measured pipeline in the trace event format of Chrome, for Perfetto. A cycle is a microsecond. A lane for the
 * tensor cores, which are drawn at peak rate, each warpgroup, and each slot. */
void pipeline_trace(FILE *out, const Pipeline *pipeline);

#endif
