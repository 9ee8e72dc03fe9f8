/* Which pad or swizzle frees the banks: the first block's requests of shared memory, once more where their bytes would
 * lie under each; and which requests of global memory a transpose would join. It is what such a kernel's own run shows,
 * but for loads that ptxas then merges otherwise. */
#ifndef TILEWALK_VIZ_KERNEL_KERNEL_ADVICE_H
#define TILEWALK_VIZ_KERNEL_KERNEL_ADVICE_H

#include "viz/kernel/kernel_lines.h"

enum { KERNEL_ADVICE_BYTES = 480 };

/* Shared: of the array in which a line's lanes wait most for each other; else of the line's requests of global memory.
 * "" where there is none. Buffers are left as they are. */
Status kernel_advice(KernelLaunch *launch, const KernelLine *line, bool shared, char text[KERNEL_ADVICE_BYTES],
                     Error *error);

#endif
