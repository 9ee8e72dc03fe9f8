/* What the model of L2 says of a scan (kernels/probes/scan_lists.h), from the same list that a GPU ran. */
#ifndef TILEWALK_TESTS_SUPPORT_SCAN_PREDICTED_H
#define TILEWALK_TESTS_SUPPORT_SCAN_PREDICTED_H

#include "kernels/probes/scan_lists.h"
#include "sim/l2/clock.h"

/* One launch of a scan on an H200 laid out as `card` says. l2: but for its kinds, which are the pool's granules. */
ClockResult scan_predicted(const ScanList *scan, HierarchyConfig l2, uint64_t seed, const Placement *card);

/* A row of a table of scans: bytes. */
typedef struct {
  char name[80];
  double boundary, fabric, hbm_read;
} ScanCounted;

/* Reads an asset. rows: room for SCAN_ROWS_MAX. Returns how many there are. */
enum { SCAN_ROWS_MAX = 512 };
int scans_counted(ScanCounted *rows, const char *name);

/* Fails the test where there is none. */
const ScanCounted *scan_counted(const ScanCounted *rows, int n, const char *name);

#endif
