/* A measured pipeline in the trace event format of Chrome, for Perfetto. */
#ifndef TILEWALK_VIZ_CLI_TRACE_TRACE_PIPELINE_H
#define TILEWALK_VIZ_CLI_TRACE_TRACE_PIPELINE_H

#include <stdio.h>

#include "sim/time/recorded.h"

/* A cycle is a microsecond. A lane for the tensor cores, which are drawn at peak rate, each warpgroup, and each
 * slot. */
void pipeline_trace(FILE *out, const Pipeline *pipeline);

#endif
