/* Which recorded pipeline goes with a problem (assets/counters/h100/pipeline). */
#ifndef TILEWALK_VIZ_REQUEST_PIPELINE_FILE_H
#define TILEWALK_VIZ_REQUEST_PIPELINE_FILE_H

#include "sim/problem/shape.h"
#include "viz/scene/pipeline.h"

/* The one of this d, and of it the nearest; heap memory, freed by free(). NULL: none is recorded, or with *error,
 * which may be NULL: it cannot be read. */
Pipeline *pipeline_for(const Shape *shape, Error *error);

#endif
