#include "tests/support/old_schedule.h"

#include <string.h>

extern const OldSchedule OLD_SCHEDULE_STANDARD, OLD_SCHEDULE_FA1, OLD_SCHEDULE_FA2, OLD_SCHEDULE_FA2_SPLIT;

/* The table: to add an algorithm, write sim/schedule_NAME.c and add its row. */
const OldSchedule *const OLD_SCHEDULES[] = {
    &OLD_SCHEDULE_STANDARD,
    &OLD_SCHEDULE_FA1,
    &OLD_SCHEDULE_FA2,
    &OLD_SCHEDULE_FA2_SPLIT,
};
const int N_OLD_SCHEDULES = sizeof OLD_SCHEDULES / sizeof *OLD_SCHEDULES;

const OldSchedule *old_schedule_find(const char *name) {
  for (int k = 0; k < N_OLD_SCHEDULES; k++) {
    if (strcmp(OLD_SCHEDULES[k]->name, name) == 0) return OLD_SCHEDULES[k];
  }
  return NULL;
}

Wide old_schedule_n_steps(const OldSchedule *s, const Plan *plan) {
  Wide n = 0;
  for (int pass = 0; pass < s->n_passes; pass++) n += s->steps_before(plan, pass, s->outer_count(plan, pass));
  return n;
}

/* The last outer iteration of `pass` that starts at or before `step` (counted within the pass). */
static int64_t find_outer(const OldSchedule *s, const Plan *plan, int pass, Wide step) {
  int64_t low = 0, high = s->outer_count(plan, pass); /* low starts at or before step, high after it */
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (s->steps_before(plan, pass, middle) <= step)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* The last inner iteration of the cursor's outer one that starts at or before `step` (counted within the
 * outer one); -1 when even the first starts later. inner_count stands for what follows the last. */
static int64_t find_inner(const OldSchedule *s, const Plan *plan, const OldCursor *c, Wide step) {
  int64_t low = -1, high = s->inner_count(plan, c) + 1;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (wide(s->steps_within(plan, c, middle)) <= step)
      low = middle;
    else
      high = middle;
  }
  return low;
}

bool old_schedule_place(const OldSchedule *s, const Plan *plan, uint64_t step, OldPlace *place) {
  *place = (OldPlace){.step = step};
  Wide before = 0; /* events before the present place */
  for (; place->pass < s->n_passes; place->pass++) {
    const Wide in_pass = s->steps_before(plan, place->pass, s->outer_count(plan, place->pass));
    if (step < before + in_pass) break;
    before += in_pass;
  }
  OldCursor *cursor = &place->cursor;
  if (place->pass == s->n_passes) {
    place->step = place->boundary = cursor->step = (uint64_t)before;
    cursor->done = true;
    return step == before;
  }
  place->outer = find_outer(s, plan, place->pass, step - before);
  before += s->steps_before(plan, place->pass, place->outer);
  s->enter(plan, cursor, place->pass, place->outer);
  place->inner = s->inner_count(plan, cursor) > 0 ? find_inner(s, plan, cursor, step - before) : -1;
  if (place->inner >= 0) {
    before += wide(s->steps_within(plan, cursor, place->inner));
    s->enter_inner(plan, cursor, place->inner);
  }
  place->boundary = cursor->step = (uint64_t)before;
  if (before == 0) *cursor = (OldCursor){0}; /* at step 0 the walk enters its first iteration itself */
  return true;
}

bool old_schedule_seek(const OldSchedule *s, const Plan *plan, OldCursor *cursor, uint64_t step) {
  OldPlace place;
  if (!old_schedule_place(s, plan, step, &place)) return false;
  *cursor = place.cursor;
  Event event;
  while (cursor->step < step) s->next(plan, cursor, &event); /* a few events into the tile */
  return true;
}
