/* Which recorded pipeline goes with a problem (assets/counters/h100/pipeline). */
#ifndef TILEWALK_VIZ_REQUEST_PIPELINE_FILE_H
#define TILEWALK_VIZ_REQUEST_PIPELINE_FILE_H

#include "sim/algorithms/schedule.h"
#include "sim/time/recorded.h"

#define PIPELINE_GPU "h100-sxm" /* that all of them are of */

/* The recorded kernel of a request: the one that it names, else that of an algorithm whose launch is one's. "": none.
 */
const char *pipeline_kernel_of(const char *kernel, const Schedule *schedule);

/* The one of this kernel and d, and of it the nearest; heap memory, freed by free(). NULL: none is recorded, or with
 * *error, which may be NULL: it cannot be read. */
Pipeline *pipeline_for(const char *kernel, const Shape *shape, Error *error);

#endif
