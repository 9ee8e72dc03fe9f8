/* Events in the Chrome trace format, which Perfetto and chrome://tracing open.
 *
 * One process per algorithm, one thread (lane) per kind of work, counters for the bytes so far. The time
 * axis is the stream itself: one event is one microsecond. */
#ifndef TILEWALK_VIZ_CLI_TRACE_TRACE_CHROME_H
#define TILEWALK_VIZ_CLI_TRACE_TRACE_CHROME_H

#include <stdio.h>

#include "sim/algorithms/schedule.h"

typedef struct {
  FILE *out;
  const Schedule *schedule;
  int process;
  uint64_t read_bytes, write_bytes; /* since the first event written */
} ChromeTrace;

void chrome_trace_open(FILE *out); /* once per file */
void chrome_trace_begin(ChromeTrace *trace, FILE *out, const Schedule *schedule, const Plan *plan, int index);
void chrome_trace_event(ChromeTrace *trace, const Event *event);
void chrome_trace_end(ChromeTrace *trace);
void chrome_trace_close(FILE *out);

#endif
