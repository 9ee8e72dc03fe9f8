/* A kernel described by a counter file: what its launch, grid and name say of tile, threads, registers and shared
 * memory (kernels/counters/launches.h). */
#ifndef TILEWALK_VIZ_REQUEST_KERNEL_FROM_COUNTERS_H
#define TILEWALK_VIZ_REQUEST_KERNEL_FROM_COUNTERS_H

#include "sim/l2/kernel_profile.h"

/* Whether a file is a table of counters rather than a description. */
bool kernel_is_counters(const char *text, size_t length);

/* The text of a description of the first attention in the file, for profile_parse: short, without sources. `known`: the
 * shipped description that it should begin with; "" where there is none. Errors: no attention in it, no tile said. */
Status kernel_from_counters(const char *text, size_t length, const char *display_name, char *description, size_t size,
                            char *known, size_t known_size, Error *error);

#endif
