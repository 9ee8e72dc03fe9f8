/* CTAs in time: each waits for its data, works, and asks for the next granule. What it finds in L2 depends on who asked
 * before; how long it waits depends on what it finds. sim/l2/MODEL.md explains the parts and what each buys.
 *
 *     tile   ------------------------------------------------>
 *     CTA 7          o        asks, waits for a hit or a miss, works, asks ...
 *     CTA 6       o           finds what CTA 7 fetched, and so gains on it
 *     CTA 5      o            until it catches up and waits for the same data: a convoy
 *
 * Modelled
 * - Waits for a hit or a miss. A hit takes longer with more CTAs on the SM. Data on their way are not fetched again.
 * - L2 and HBM serve so many bytes a cycle, one request after another.
 * - Work beside waits (`prefetches`), or after them on an SM that its CTAs share (`shared_work`).
 * - The coalescer of each GPC: up to four requests for a granule become one while the first can be joined.
 * - Differences between CTAs: first code, clocks of GPCs, jitter of waits and steps, age, replacement.
 * - Or all in step (`in_step`): each step takes one turn of the clock.
 * Not modelled: the order in which HBM serves, L1, more than one granule on the way.
 *
 * Times are in SM cycles. Random numbers come from the seed: same config, same result. */
#ifndef TILEWALK_SIM_L2_CLOCK_H
#define TILEWALK_SIM_L2_CLOCK_H

#include "sim/l2/hierarchy.h"
#include "sim/l2/placement.h"

enum { CLOCK_CTAS_MAX = 1 << 17 };

/* The wait for a granule, one standard deviation as part of it, and the size it was measured for. Several granules
 * asked for in one step vary as the square root of their size. */
#define CLOCK_REQUEST_SPREAD 0.16
#define CLOCK_SPREAD_BYTES   16384.0

/* A granule from L2: this, and this for each CTA on the SM. */
#define CLOCK_HIT_CYCLES      525.0
#define CLOCK_CROWDING_CYCLES 160.0

/* HBM adds this. Of 16 KiB most is there this long before the last line. */
#define CLOCK_MISS_CYCLES      625.0
#define CLOCK_STREAMING_CYCLES 450.0

/* The lines of 16 KiB arrive over so many cycles, those of smaller granules in proportion. Measured on 8 KiB: 105
 * cycles (fa2_tensor's first to ask, h200/steps-shared). */
#define CLOCK_STREAM_CYCLES 210.0

/* CTAs of fa2_tensor that share an SM (h200/steps-shared; tests/model/test_steps_shared.c). A waiting CTA takes this
 * part of the SM that a working one takes. The work of a step varies by this for each CTA that is out of step. */
#define CLOCK_WAITING_WEIGHT     0.7
#define CLOCK_OUT_OF_STEP_SPREAD 0.03

/* The jitter of a CTA's step, cycles. It grows with the root of the number of tiles, so steps are independent:
 * launches of 64 to 1024 tiles, h200/ends. Alone on an SM; alone and prefetching (19 to 27 measured); sharing the SM
 * (45 to 63). */
#define CLOCK_JITTER_CYCLES          15.0
#define CLOCK_JITTER_CYCLES_PREFETCH 20.0
#define CLOCK_JITTER_CYCLES_SHARED   55.0

/* CTAs of one SM drift apart (h200/ends, h200/pace; tests/model/test_slot_spread.c): the older gains part of a step at
 * once, and the younger loses it. */
#define CLOCK_SLIP_STEPS 0.5

/* Where they prefetch, each starts this long after the one before it. */
#define CLOCK_START_LAG_CYCLES 720.0

/* Two CTAs replace others at the same time: how often the second misses a turn. */
#define CLOCK_MISSED_TURN_RATE 0.2

/* From the end of a CTA to the start of the next in its slot (1059 in the mean of fa2_async, 640 to 1550 of
 * fa2_tensor). */
#define CLOCK_HANDOVER_CYCLES 1100.0

/* What a CTA does next: it reads and stores whole granules, all at once, waits for what it reads, and works. */
enum { CLOCK_ACCESSES_MAX = 6 };
typedef struct {
  uint32_t n_reads, n_writes;
  uint64_t reads[CLOCK_ACCESSES_MAX], writes[CLOCK_ACCESSES_MAX];
  uint64_t renewed;      /* 1 + a granule that each step reads again, which is counted elsewhere; 0: none */
  double work_cycles;    /* alone on its SM */
  double latency_cycles; /* between its data and its work; contention does not stretch it */
  double wait_cycles;    /* the least wait; it varies as waits do */
  bool is_replaced;      /* by another CTA at the end of the step: that one is the youngest of its SM */
} ClockStep;

/* A run in progress. */
typedef struct Clock Clock;

/* The next step of CTA `cta` of the caller's kernel; false: it has nothing left to do in this kernel. *next holds
 * no accesses and no work when called. */
typedef bool ClockProgram(void *context, const Clock *clock, uint32_t cta, ClockStep *next);

/* Zero means the value for an H200 and a kernel of 128 threads a CTA that reads granules of 16 KiB one at a time.
 * Negative cycles and spreads: none. A spread is one standard deviation, as part of what varies. */
typedef struct ClockConfig {
  /* The launch. */
  HierarchyConfig hierarchy; /* its granules are needed */
  uint32_t n_ctas;           /* all resident at once; needed */
  const Place *places;       /* where each runs; NULL: SMs in turns, every other SM on side 1 */
  uint32_t ctas_per_sm;      /* 1 */
  uint32_t slots_per_sm;     /* ctas_per_sm: how many CTAs an SM has room for */
  uint32_t n_kernels;        /* 1: one after the other */
  bool flushed;              /* L2 is emptied between kernels, as profilers do */
  bool in_step;              /* every step takes one turn of the clock */
  double skew_cycles;        /* from the first CTA's start to the last's */
  uint64_t seed;
  /* How a CTA works. */
  bool shared_work;          /* the CTAs of an SM share it: work takes longer beside others */
  double waiting_weight;     /* 0: of the SM, what a waiting CTA takes for each part that a working one takes */
  double out_of_step_spread; /* 0: of the work, for each CTA of the SM that is out of step */
  bool prefetches;           /* a step works on what the one before asked for, while its own data come */
  double prefetch_lead;      /* 1: the part of a step's work that is left when it asks for the next data */
  double tick_cycles;        /* 8: steps closer together may change order; steps over 4096 ticks run slower */
  /* Latencies. */
  double hit_cycles;      /* 525: from L2, alone on the SM [measured] */
  double crowding_cycles; /* 160: more for each CTA on the SM, 132 SMs busy [measured] */
  double miss_cycles;     /* 625: more from HBM [measured] */
  double far_cycles;      /* 200: more from the other side's L2 [measured with atomics] */
  double
      stale_home_cycles;   /* 85: the home learns so late that the other side has asked: a miss until then [measured] */
  double streaming_cycles; /* 450: from most of a granule to its last line [fitted] */
  /* The coalescer of a GPC. */
  double join_cycles; /* 70: how long a request for what L2 has can be joined [measured] */
  uint32_t join_max;  /* 4: requests in one [measured: 0.256 at best]; 1: no coalescer */
  /* Differences between CTAs. */
  double cta_wait_spread;    /* 0.0045: of the wait, for good [measured] */
  double cta_work_spread;    /* 0.0002: of the work, for good [measured: at most] */
  double request_spread;     /* 0.16: of the wait, from one request to the next [measured] */
  double jitter_cycles;      /* 15, or 55 with others on the SM: of a step, one standard deviation [measured] */
  double full_jitter_cycles; /* 0: besides, while all CTAs run; less in proportion when fewer are left */
  double code_fetch_cycles; /* 0: the first arithmetic waits for code: mean of an exponential over TPCs; `prefetches` */
  double start_lag_cycles;  /* 0: each CTA of an SM starts so long after the one before; `prefetches` */
  bool gpc_clocks_differ;   /* as where arithmetic keeps SMs busy */
  double gpc_clock_scale;   /* 1: how far apart they are, of what places say */
  /* The older CTAs of an SM gain on the younger. */
  double age_spread;       /* 0: of the work, in the long run */
  bool steady_aging;       /* a little with every step; else by slips, while all slots are taken */
  double slip_steps;       /* 0.5: steps gained in a slip [measured] */
  double missed_turn_rate; /* 0.2: of two CTAs that begin together, how often the second misses a turn [measured] */
  double steps_per_turn;   /* 1 */
  /* The start. */
  bool starts_together;     /* all first data arrive at the same time on a side */
  double side_start_cycles; /* 95: one side after the other, one standard deviation [measured] */
  /* Bandwidth; 0: no limit. */
  double l2_bytes_per_cycle; /* of each side */
  double hbm_bytes_per_cycle;
} ClockConfig;

typedef struct {
  HierarchyCounts bytes; /* behind the coalescer; but read_bytes is all that SMs asked for */
  double l2_read_bytes;  /* of bytes.read_bytes, what passes the coalescer */
  double l2_miss_bytes;  /* of that, misses and lines on their way from the other side */
  double dirty_bytes;    /* stored, and still in L2 */
  double cycles;         /* until the last CTA ends */
  uint64_t steps;
} ClockResult;

/* Runs the program to its end. STATUS_BAD_REQUEST for sizes out of range, STATUS_NO_MEMORY; *result
 * is unchanged on error. */
Status clock_run(const ClockConfig *config, ClockProgram *program, void *context, ClockResult *result, Error *error);

/* For the program: which of the kernels runs, and what has been counted so far. */
uint32_t clock_kernel(const Clock *clock);
ClockResult clock_so_far(const Clock *clock);

#endif
