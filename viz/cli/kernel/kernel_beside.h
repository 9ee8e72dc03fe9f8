/* A launch beside what Nsight Compute counted of it. */
#ifndef TILEWALK_VIZ_CLI_KERNEL_KERNEL_BESIDE_H
#define TILEWALK_VIZ_CLI_KERNEL_KERNEL_BESIDE_H

#include "viz/cli/reply.h"
#include "viz/kernel/kernel_report.h"

/* Prints the counters of the file's launches of this kernel that are known here too: those that are counted must be
 * equal (*differs), those that are predicted have their error. STATUS_BAD_REQUEST where the file has no such launch. */
Status kernel_print_beside(const KernelReport *report, const OutputRequest *output, const char *path, bool *differs,
                           Io *io, Error *error);

#endif
