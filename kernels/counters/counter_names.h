/* Counters: what they are called, and rows of them as they were measured (kernels/counters/ncu.h reads them). */
#ifndef TILEWALK_KERNELS_COUNTERS_COUNTER_NAMES_H
#define TILEWALK_KERNELS_COUNTERS_COUNTER_NAMES_H

#include "kernels/counters/ncu_number.h"
#include "sim/problem/plan.h"

#define NCU_MAX_BYTES ((size_t)64 << 20) /* of the recorded files, which are read whole */
enum { NCU_NAME_BYTES = 512, NCU_DEVICE_BYTES = 64, NCU_MAX_ROWS = 65536, NCU_MAX_IGNORED = 64, NCU_MAX_NOTES = 8 };

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
  COUNTER_HBM_TOTAL,      /* bytes, read and written */
  COUNTER_L2_RED_SECTORS, /* sectors of atomic additions */
  COUNTER_L2_HIT_RATE,    /* millionths, of all look-ups in L2 */
  COUNTER_L1_HIT_RATE,    /* millionths */
  COUNTER_LOCAL_READ,     /* bytes of local memory, which spilled registers go to */
  COUNTER_LOCAL_WRITE,
  COUNTER_GLOBAL_READ, /* bytes of the sectors that loads from global memory touched */
  COUNTER_GLOBAL_USED, /* bytes of them that the loads asked for */
  COUNTER_GMMA,        /* wgmma instructions */
  COUNTER_COUNT
} Counter;

typedef struct {
  const char *metric; /* ncu's name */
  const char *title;  /* in tables */
  NcuDimension dimension;
  const char *aliases; /* in other versions, on other pages, or with another unit (a sector has 32 bytes), by '|' */
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
  uint64_t slack[COUNTER_COUNT]; /* rounding: the true value lies in [value - slack, value + slack] */
  uint64_t rate[COUNTER_COUNT], rate_slack[COUNTER_COUNT]; /* bytes a second, of which bytes are made
                                                              where the file has a time alone; 0: not known */
  /* What was run; 0 and "" where the file does not say. */
  int64_t grid[3], block[3];
  int capability; /* 90: compute capability 9.0 */
  char device[NCU_DEVICE_BYTES];
  int64_t n_sm, registers, dynamic_shared_bytes;
  int64_t process, id;
  int32_t report;                                     /* which table of the file, from 0 */
  int64_t n_launches;                                 /* that this row is the mean of; 0 and 1: one */
  uint64_t least[COUNTER_COUNT], most[COUNTER_COUNT]; /* over these launches */
} CounterRow;

typedef struct {
  CounterRow *rows;
  size_t n_rows;
  int n_reports;
  char ignored[NCU_MAX_IGNORED][NCU_DEVICE_BYTES]; /* names of columns or metrics that say nothing here */
  int n_ignored;
  bool ignored_more;              /* than have room */
  char notes[NCU_MAX_NOTES][200]; /* what a reader should know */
  int n_notes;
} CounterTable;

#endif
