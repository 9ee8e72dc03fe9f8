/* What a launch did, for people, as CSV and as JSON. */
#ifndef TILEWALK_VIZ_CLI_KERNEL_KERNEL_PRINT_H
#define TILEWALK_VIZ_CLI_KERNEL_KERNEL_PRINT_H

#include "viz/cli/io.h"
#include "viz/kernel/kernel_report.h"

Status kernel_print(const KernelReport *report, bool csv, bool details, Io *io, Error *error);

/* CSV of what is counted of each line, in the order of the lines, those that nobody ran too: counts of parts add up. */
Status kernel_print_counts(const KernelReport *report, FILE *out, Error *error);
Status kernel_print_json(const KernelReport *report, FILE *out, Error *error);

#endif
