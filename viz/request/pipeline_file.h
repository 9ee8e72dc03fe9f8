/* Which recorded pipeline goes with a problem (assets/counters/h100/pipeline). */
#ifndef TILEWALK_VIZ_REQUEST_PIPELINE_FILE_H
#define TILEWALK_VIZ_REQUEST_PIPELINE_FILE_H

#include "sim/algorithms/schedule.h"
#include "sim/problem/shape.h"
#include "viz/scene/pipeline.h"

/* The one of this kernel and d, and of it the nearest; heap memory, freed by free(). A kernel that was not recorded, or
 * "", is as good as fa3_backward where CTAs own columns, else fa3_overlap. NULL: none is recorded, or with *error,
 * which may be NULL: it cannot be read. */
Pipeline *pipeline_for(const char *kernel, const Schedule *schedule, const Shape *shape, Error *error);

#endif
