/* Which pad or swizzle frees the banks: the first block's requests of shared memory, once more where their bytes would
 * lie under each. It is what such a kernel's own run shows, but for loads that ptxas then merges otherwise. */
#ifndef TILEWALK_VIZ_KERNEL_KERNEL_ADVICE_H
#define TILEWALK_VIZ_KERNEL_KERNEL_ADVICE_H

#include "viz/kernel/kernel_lines.h"

enum { KERNEL_ADVICE_BYTES = 480 };

/* Of the array in which a line's lanes wait most for each other; "" where none do. Buffers are left as they are. */
Status kernel_advice(KernelLaunch *launch, const KernelLine *line, char text[KERNEL_ADVICE_BYTES], Error *error);

#endif
