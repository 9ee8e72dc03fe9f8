/* The ladder's kernels as PTX, as nvcc made them (kernels/collect/record_ladder.py). */
#ifndef TILEWALK_KERNELS_LIB_LADDER_TEXT_H
#define TILEWALK_KERNELS_LIB_LADDER_TEXT_H

#include <stddef.h>

#include "sim/base/error.h"

/* The module of a kernel, named as people write it ("void counted::fa1<float>(Attention)"), from the folder of
 * recorded ones (assets/ladder). The caller frees *text, which ends in 0. STATUS_BAD_REQUEST: there is no such kernel
 * or folder; STATUS_BAD_FILE, STATUS_NO_MEMORY. */
Status ladder_text(const char *folder, const char *kernel, char **text, size_t *n_bytes, Error *error);

#endif
