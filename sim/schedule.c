#include "sim/schedule.h"

#include <string.h>

extern const Schedule SCHEDULE_STANDARD, SCHEDULE_FA1, SCHEDULE_FA2, SCHEDULE_FA2_SPLIT;

/* The table: to add an algorithm, write sim/schedule_NAME.c and add its row. */
const Schedule *const SCHEDULES[] = {
    &SCHEDULE_STANDARD,
    &SCHEDULE_FA1,
    &SCHEDULE_FA2,
    &SCHEDULE_FA2_SPLIT,
};
const int N_SCHEDULES = sizeof SCHEDULES / sizeof *SCHEDULES;

const Schedule *schedule_find(const char *name) {
  for (int k = 0; k < N_SCHEDULES; k++) {
    if (strcmp(SCHEDULES[k]->name, name) == 0) return SCHEDULES[k];
  }
  return NULL;
}

Wide schedule_n_steps(const Schedule *s, const Plan *plan) {
  Wide n = 0;
  for (int pass = 0; pass < s->n_passes; pass++) n += s->steps_before(plan, pass, s->outer_count(plan, pass));
  return n;
}

/* The last outer iteration of `pass` that starts at or before `step` (counted within the pass). */
static int64_t find_outer(const Schedule *s, const Plan *plan, int pass, Wide step) {
  int64_t low = 0, high = s->outer_count(plan, pass); /* low starts at or before step, high after it */
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (s->steps_before(plan, pass, middle) <= step) low = middle;
    else high = middle;
  }
  return low;
}

/* The last inner iteration of the cursor's outer one that starts at or before `step` (counted within the
 * outer one); -1 when even the first starts later. inner_count stands for what follows the last. */
static int64_t find_inner(const Schedule *s, const Plan *plan, const Cursor *c, Wide step) {
  int64_t low = -1, high = s->inner_count(plan, c) + 1;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (wide(s->steps_within(plan, c, middle)) <= step) low = middle;
    else high = middle;
  }
  return low;
}

bool schedule_seek(const Schedule *s, const Plan *plan, Cursor *cursor, uint64_t step) {
  const Wide n_steps = schedule_n_steps(s, plan);
  if (step > n_steps) return false;
  *cursor = (Cursor){0};
  if (step == n_steps) {
    cursor->step = step;
    cursor->done = true;
    return true;
  }
  int pass = 0;
  Wide before = 0; /* events before the present place */
  for (;; pass++) {
    const Wide in_pass = s->steps_before(plan, pass, s->outer_count(plan, pass));
    if (step < before + in_pass) break;
    before += in_pass;
  }
  const int64_t outer = find_outer(s, plan, pass, step - before);
  before += s->steps_before(plan, pass, outer);
  if (before == 0 && step == 0) return true;
  s->enter(plan, cursor, pass, outer);
  const int64_t inner = s->inner_count(plan, cursor) > 0 ? find_inner(s, plan, cursor, step - before) : -1;
  if (inner >= 0) {
    before += wide(s->steps_within(plan, cursor, inner));
    s->enter_inner(plan, cursor, inner);
  }
  cursor->step = (uint64_t)before;
  Event event;
  /* A few events into the tile. At step 0 schedule_next would start over, so walk from the start instead. */
  if (before == 0) *cursor = (Cursor){0};
  while (cursor->step < step) s->next(plan, cursor, &event);
  return true;
}
