/* What a launch did: its counts, caches, faults, and what it wrote; and all of it by the keys of `kernel --json`. */
#ifndef TILEWALK_VIZ_KERNEL_KERNEL_REPORT_H
#define TILEWALK_VIZ_KERNEL_KERNEL_REPORT_H

#include "sim/answer/report.h"
#include "viz/kernel/kernel_lines.h"
#include "viz/kernel/kernel_traffic.h"

typedef struct {
  KernelLaunch *launch; /* the caller's */
  PtxResult result;
  bool has_caches; /* else they were left out */
  bool is_broken;  /* without leaving out what is wrong it does not run to its end; then without caches */
  KernelTraffic traffic;
  bool is_judged; /* --like */
  OutputVerdict verdict;
  char wrong_by[160]; /* "line 60, thread 3 of block 1", "" */
} KernelReport;

/* Runs a launch that was prepared, and once more where O is wrong, to find who wrote it. What it prints goes to
 * launch->launch.print. Free it in either case. */
Status kernel_report_make(KernelReport *report, KernelLaunch *launch, Error *error);
void kernel_report_free(KernelReport *report);

/* A fault was found, or O is not attention. */
bool kernel_report_is_bad(const KernelReport *report);

/* The one sentence: the fault, or what is wrong with O, or that there is none; and which line moves most. */
enum { KERNEL_VERDICT_BYTES = ERROR_MESSAGE_BYTES + 200 };
void kernel_report_verdict(const KernelReport *report, const KernelLine *lines, int n, char text[KERNEL_VERDICT_BYTES]);

/* Counts of two kinds of requests. */
PtxCounts kernel_counts(const PtxTotals *totals, PtxRequestKind a, PtxRequestKind b);

/* HBM with what any launch reads besides its data: its code and some sectors. Of a report with caches. */
uint64_t kernel_hbm_read_bytes(const KernelReport *report);

/* Of an SM of the GPU: with the registers that were given, else between all that a thread may have and few. False: the
 * launch does not fit. */
typedef struct {
  Occupancy least, most;
  bool known; /* registers were given: one figure */
} OccupancyRange;
bool kernel_occupancy(const KernelLaunch *launch, OccupancyRange *range);

/* Members of the document, into an object that is open. Units and kinds are in the keys. */
Status kernel_report_put(const KernelReport *report, const ReportSink *sink, Error *error);

#endif
