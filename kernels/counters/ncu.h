/* Hardware counters from a file: what Nsight Compute (ncu) measured about kernels.
 *
 *     ncu --csv --page raw --print-units base --metrics ... PROGRAM >FILE.csv
 *
 * Two layouts, told apart by their header line:
 *
 *     "ID",...,"Kernel Name",...,"dram__bytes_read.sum",...     ncu's own: a row per kernel launch
 *     rung,dtype,batch,...,dram__bytes_read.sum,...             recorded (kernels/collect/collect_ncu.py): a row per
 * run, its shape in the first columns; `splits`, if there, says in how many parts the keys were split
 *
 * Both have a line of units under the header. Lines that begin with '#' or "==" (ncu's own messages) are skipped, and
 * so is what a profiled program printed before the header. Columns that are not known are skipped.
 *
 * Files come from anywhere: at most NCU_MAX_BYTES long. Numbers must be whole, as every counter here is in its base
 * unit, with or without commas between groups of three digits; anything else (a number of another locale, a unit
 * like Mbyte, a missing field) is an error that names the line. */
#ifndef TILEWALK_KERNELS_COUNTERS_NCU_H
#define TILEWALK_KERNELS_COUNTERS_NCU_H

#include <stddef.h>

#include "sim/problem/plan.h"

#define NCU_MAX_BYTES ((size_t)64 << 20)
enum { NCU_NAME_BYTES = 160, NCU_MAX_ROWS = 65536, NCU_MAX_COLUMNS = 8192 };

typedef enum {
  COUNTER_BOUNDARY_READ = 0, /* bytes from L2 into the SMs: the papers' "HBM reads" */
  COUNTER_BOUNDARY_WRITE,
  COUNTER_L2_READ_SECTORS, /* 32-byte sectors that reach L2, after the coalescer has merged requests */
  COUNTER_L2_WRITE_SECTORS,
  COUNTER_FABRIC_SECTORS, /* between the two partitions of L2 */
  COUNTER_HBM_READ,       /* bytes */
  COUNTER_HBM_WRITE,
  COUNTER_CONFLICTS_LOAD, /* bank conflicts of shared memory */
  COUNTER_CONFLICTS_STORE,
  COUNTER_HMMA,       /* mma.sync instructions, per warp */
  COUNTER_TIME,       /* ns */
  COUNTER_LOOKUP_HIT, /* sectors: looks of the SMs in L2, reads and writes, that found what they wanted */
  COUNTER_LOOKUP_MISS,
  COUNTER_COUNTED_READ, /* bytes that the counting build of a kernel added up; not from ncu */
  COUNTER_COUNTED_WRITE,
  COUNTER_COUNT
} Counter;

typedef struct {
  const char *metric; /* ncu's name */
  const char *unit;   /* with --print-units base */
  const char *title;  /* in tables */
} CounterName;
extern const CounterName COUNTER_NAMES[COUNTER_COUNT];

typedef struct {
  int64_t line;                /* in the file */
  char kernel[NCU_NAME_BYTES]; /* kernel name or rung; cut when longer */
  bool has_shape;              /* of the recorded layout */
  Shape shape;
  Tiling tiling;
  bool known[COUNTER_COUNT];
  uint64_t value[COUNTER_COUNT];
} CounterRow;

typedef struct {
  CounterRow *rows;
  size_t n_rows;
} CounterTable;

/* Reads text[0..length). *table is for counter_table_free, and empty on error. */
Status counter_table_from_buffer(CounterTable *table, const char *text, size_t length, Error *error);
void counter_table_free(CounterTable *table);

#endif
