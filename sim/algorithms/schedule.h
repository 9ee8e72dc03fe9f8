/* Schedules: what each algorithm does, in order. One file per algorithm, one row in the table below.
 *
 *   sim/algorithms/schedule_standard.c    three passes; S and P go through HBM
 *   sim/algorithms/schedule_fa1.c         FlashAttention: outer loop over K/V, O and statistics come and go
 *   sim/algorithms/schedule_fa2.c         FlashAttention-2: outer loop over Q, O stays until it is finished
 *   sim/algorithms/schedule_fa2_split.c   FlashAttention-2's split-KV (flash decoding) with its combine pass
 *
 * A schedule is a generator: schedule_next writes the next event of ONE head and moves the cursor. All heads do the
 * same. The cursor is a plain struct without pointers, so copying it is a bookmark and stepping back is going
 * to a bookmark or seeking. schedule_seek jumps to any step in O(log^2 N) time.
 *
 * To add an algorithm: write a file that fills a Schedule, name it in SCHEDULES (sim/algorithms/schedule.c). The tests
 * then compare its events with its closed form on random shapes. */
#ifndef TILEWALK_SIM_SCHEDULE_H
#define TILEWALK_SIM_SCHEDULE_H

#include "sim/base/checked.h"
#include "sim/problem/plan.h"
#include "sim/problem/sram.h"
#include "sim/algorithms/traffic.h"

/* Where a walk stands. Zero is the first event. */
typedef struct {
  uint64_t step;       /* number of events already given */
  uint8_t pass, phase; /* which pass; what comes next within the tile */
  uint8_t tile;        /* TileKind of the present tile */
  bool done;
  int64_t i, j, split; /* present row block, column block, split */
  int64_t row0, row1, col0, col1;
  int64_t stop; /* inner loop ends here */
  BandRow band; /* inner tiles that are computed, and full, for the present outer block */
} Cursor;

typedef struct {
  int64_t Q, K, V; /* most often loaded block of each, per head */
} LoadsPerBlock;

typedef struct {
  const char *name;    /* as typed after --algorithm */
  const char *title;   /* as shown in headings */
  const char *summary; /* one line */
  const char *source;  /* the paper it follows */
  int n_passes;
  bool skips;      /* leaves masked tiles out (else it computes and masks them) */
  bool splits;     /* obeys Tiling.n_splits */
  bool writes_lse; /* obeys Tiling.lse */
  bool whole_head; /* one CTA does all passes of a head: its outer loop is not over rows, which could be dealt out */

  bool (*next)(const Plan *plan, Cursor *cursor, Event *event); /* false: the walk is over */

  /* Random access. Pass p runs outer_count outer iterations; steps_before of them take so many events; enter puts
   * the cursor before the first event of one. Within an outer iteration the same for its inner_count
   * inner iterations. */
  int64_t (*outer_count)(const Plan *plan, int pass);
  Wide (*steps_before)(const Plan *plan, int pass, int64_t outer);
  void (*enter)(const Plan *plan, Cursor *cursor, int pass, int64_t outer);
  int64_t (*inner_count)(const Plan *plan, const Cursor *cursor);
  int64_t (*steps_within)(const Plan *plan, const Cursor *cursor, int64_t inner);
  void (*enter_inner)(const Plan *plan, Cursor *cursor, int64_t inner);

  /* Closed forms, per head, independent of `next`. */
  void (*traffic)(const Plan *plan, Traffic *traffic, bool *overflow);
  LoadsPerBlock (*loads)(const Plan *plan);
  SramTiles sram;                                               /* tiles that live in SRAM together */
  Wide (*intermediate_bytes)(const Plan *plan, bool *overflow); /* extra storage in HBM, per head */
} Schedule;

extern const Schedule *const SCHEDULES[];
extern const int N_SCHEDULES;

const Schedule *schedule_find(const char *name); /* NULL: no such algorithm */

/* The number of events of one head. */
Wide schedule_n_steps(const Schedule *schedule, const Plan *plan);

/* A place between two events: an outer iteration, whole inner iterations within it (-1: what comes before the first is
 * not complete), and the events beyond them. */
typedef struct {
  int pass; /* n_passes: the end */
  int64_t outer, inner;
  uint64_t step;     /* of the place itself */
  uint64_t boundary; /* step at which `inner` whole iterations were over */
  Cursor cursor;     /* at the boundary */
} SchedulePlace;

/* Finds the place of a step in O(log^2 N) time. False beyond the end; the place is then the end. */
bool schedule_place(const Schedule *schedule, const Plan *plan, uint64_t step, SchedulePlace *place);

/* Moves *cursor so that the next event is number `step`. False when the walk has fewer events than that
 * (step == number of events is the end, and fine). */
bool schedule_seek(const Schedule *schedule, const Plan *plan, Cursor *cursor, uint64_t step);

static inline bool schedule_next(const Schedule *schedule, const Plan *plan, Cursor *cursor, Event *event) {
  return schedule->next(plan, cursor, event);
}

#endif
