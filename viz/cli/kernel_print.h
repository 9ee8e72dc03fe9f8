/* What a launch did, for people and as JSON. */
#ifndef TILEWALK_VIZ_CLI_KERNEL_PRINT_H
#define TILEWALK_VIZ_CLI_KERNEL_PRINT_H

#include "viz/cli/io.h"
#include "viz/cli/kernel_launch.h"
#include "viz/cli/kernel_traffic.h"

/* `verdict` is NULL without --like; `wrong_line`: of the store that left the first wrong element, 0: not known. */
typedef struct {
  const KernelLaunch *launch;
  const PtxResult *result;
  const KernelTraffic *traffic; /* NULL: caches were left out */
  const OutputVerdict *verdict;
  char wrong_by[160]; /* "line 60, thread 3 of block 1", "" */
} KernelReport;

/* With what any launch reads besides its data: its code and some sectors. Of a report with traffic. */
uint64_t kernel_hbm_read_bytes(const KernelReport *report);

Status kernel_print(const KernelReport *report, Io *io, Error *error);
Status kernel_print_json(const KernelReport *report, FILE *out, Error *error);

#endif
