/* What a launch did, for people, as CSV and as JSON. */
#ifndef TILEWALK_VIZ_CLI_KERNEL_KERNEL_PRINT_H
#define TILEWALK_VIZ_CLI_KERNEL_KERNEL_PRINT_H

#include "viz/kernel/kernel_report.h"
#include "viz/document/document.h"

Status kernel_put(Document *document, const KernelReport *report, Error *error);

/* CSV of what is counted of each line, in the order of the lines, those that nobody ran too: counts of parts add up. */
Status kernel_put_counts(Document *document, const KernelReport *report, Error *error);

/* A launch beside what Nsight Compute counted of it: the counters of the file's launches of this kernel that are known
 * here too. Those that are counted must be equal (*differs), those that are predicted have their error.
 * STATUS_BAD_REQUEST where the file has no such launch. */
Status kernel_put_beside(Document *document, const KernelReport *report, const char *path, bool *differs, Error *error);

#endif
