/* The schedules as they were written by hand before algorithms became program text: the oracle of test_programs.c. */
#ifndef TILEWALK_TESTS_OLD_SCHEDULE_H
#define TILEWALK_TESTS_OLD_SCHEDULE_H

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
} OldCursor;

typedef struct {
  int64_t Q, K, V; /* most often loaded block of each, per head */
} OldLoads;

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

  bool (*next)(const Plan *plan, OldCursor *cursor, Event *event); /* false: the walk is over */

  /* Random access. Pass p runs outer_count outer iterations; steps_before of them take so many events; enter puts
   * the cursor before the first event of one. Within an outer iteration the same for its inner_count
   * inner iterations. */
  int64_t (*outer_count)(const Plan *plan, int pass);
  Wide (*steps_before)(const Plan *plan, int pass, int64_t outer);
  void (*enter)(const Plan *plan, OldCursor *cursor, int pass, int64_t outer);
  int64_t (*inner_count)(const Plan *plan, const OldCursor *cursor);
  int64_t (*steps_within)(const Plan *plan, const OldCursor *cursor, int64_t inner);
  void (*enter_inner)(const Plan *plan, OldCursor *cursor, int64_t inner);

  /* Closed forms, per head, independent of `next`. */
  void (*traffic)(const Plan *plan, Traffic *traffic, bool *overflow);
  OldLoads (*loads)(const Plan *plan);
  SramTiles sram;                                               /* tiles that live in SRAM together */
  Wide (*intermediate_bytes)(const Plan *plan, bool *overflow); /* extra storage in HBM, per head */
} OldSchedule;

extern const OldSchedule *const OLD_SCHEDULES[];
extern const int N_OLD_SCHEDULES;

const OldSchedule *old_schedule_find(const char *name); /* NULL: no such algorithm */

/* The number of events of one head. */
Wide old_schedule_n_steps(const OldSchedule *schedule, const Plan *plan);

/* A place between two events: an outer iteration, whole inner iterations within it (-1: what comes before the first is
 * not complete), and the events beyond them. */
typedef struct {
  int pass; /* n_passes: the end */
  int64_t outer, inner;
  uint64_t step;     /* of the place itself */
  uint64_t boundary; /* step at which `inner` whole iterations were over */
  OldCursor cursor;  /* at the boundary */
} OldPlace;

/* Finds the place of a step in O(log^2 N) time. False beyond the end; the place is then the end. */
bool old_schedule_place(const OldSchedule *schedule, const Plan *plan, uint64_t step, OldPlace *place);

/* Moves *cursor so that the next event is number `step`. False when the walk has fewer events than that
 * (step == number of events is the end, and fine). */
bool old_schedule_seek(const OldSchedule *schedule, const Plan *plan, OldCursor *cursor, uint64_t step);

static inline bool old_schedule_next(const OldSchedule *schedule, const Plan *plan, OldCursor *cursor, Event *event) {
  return schedule->next(plan, cursor, event);
}

#endif
