/* Strides: where a key, a press on a tile or a beat leads from a step (viz/scene/snapshot.h). */
#include "viz/scene/snapshot_parts.h"

static PlaceKind place_kind(Stride stride) {
  return stride == STRIDE_PASS ? PLACE_PASS : stride == STRIDE_ROW ? PLACE_ROW : PLACE_TILE;
}

/* The first step of the place that a stride leads to. */
static uint64_t boundary_after(const Stage *stage, uint64_t step, Stride stride) {
  return place_steps(stage_schedule(stage), stage_plan(stage), step, place_kind(stride)).end;
}

static uint64_t boundary_before(const Stage *stage, uint64_t step, Stride stride) {
  return step == 0 ? 0 : place_steps(stage_schedule(stage), stage_plan(stage), step - 1, place_kind(stride)).begin;
}

static bool is_wanted(const Event *e, Stride stride) {
  return stride == STRIDE_NEW_MAX ? e->kind == EVENT_NEW_MAX
         : stride == STRIDE_SKIP  ? e->kind == EVENT_SKIP
                                  : event_goes_out(e->kind);
}

enum { SEARCH_CHUNK = 1024 };

/* The step after the next, or before the last, event of the kind; searched event by event. */
static uint64_t search(const Stage *stage, uint64_t step, Stride stride, int direction) {
  const Schedule *s = stage_schedule(stage);
  const Plan *plan = stage_plan(stage);
  Cursor cursor;
  Event event;
  if (direction > 0) {
    schedule_seek(s, plan, &cursor, step);
    while (cursor.step - step < STAGE_SEARCH_EVENTS) {
      if (!schedule_next(s, plan, &cursor, &event)) return stage->n_steps;
      if (is_wanted(&event, stride)) return cursor.step;
    }
    return step;
  }
  for (uint64_t end = step > 0 ? step - 1 : 0; end > 0;) {
    const uint64_t begin = end > SEARCH_CHUNK ? end - SEARCH_CHUNK : 0;
    uint64_t found = 0;
    schedule_seek(s, plan, &cursor, begin);
    while (cursor.step < end && schedule_next(s, plan, &cursor, &event))
      if (is_wanted(&event, stride)) found = cursor.step;
    if (found) return found;
    if (step - begin > STAGE_SEARCH_EVENTS) return step;
    end = begin;
  }
  return 0;
}

/* How far the walk is over the tiles at a step, in the order in which it takes them; rises with the step. */
static Wide order_at(const Stage *stage, uint64_t step, SnapshotGrid *g) {
  Event event;
  const bool has_event = step > 0 && walk_event(stage_schedule(stage), stage_plan(stage), step - 1, &event);
  snapshot_fill_grid(stage_schedule(stage), stage_plan(stage), has_event ? &event : NULL, false, g);
  if (!has_event) g->at_work = false;
  return snapshot_tiles_done(g) * 2 + (g->at_work ? 2 : 1); /* 2: the first is at work */
}

uint64_t stage_step_of_tile(const Stage *stage, uint64_t from, int64_t i, int64_t j) {
  SnapshotGrid g;
  order_at(stage, from, &g);
  const int64_t lap = g.lap < g.n_laps ? g.lap : g.n_laps - 1;
  const Wide wanted = (wide(lap) * wide(g.T_r) * wide(g.T_c) + place_tiles_before(&g.order, i, j) + 1) * 2;
  uint64_t low = 1, high = stage->n_steps;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (order_at(stage, middle, &g) >= wanted)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

uint64_t stage_beat(const Stage *stage, uint64_t step) {
  enum { MOST = 4096 };
  Cursor cursor;
  Event event = {0};
  int64_t i = -1, j = -1;
  uint64_t n = 0;
  if (step >= stage->n_steps || !schedule_seek(stage_schedule(stage), stage_plan(stage), &cursor, step)) return 1;
  while (n < MOST && schedule_next(stage_schedule(stage), stage_plan(stage), &cursor, &event)) {
    if (event.kind != EVENT_SKIP || (n > 0 && event.i != i && event.j != j)) break; /* of one row, or one column */
    i = event.i;
    j = event.j;
    n++;
  }
  return n > 0 ? n : 1;
}

uint64_t stage_stride(const Stage *stage, uint64_t step, Stride stride, int direction) {
  if (step > stage->n_steps) step = stage->n_steps;
  if (stride == STRIDE_EVENT) {
    if (direction > 0) return step < stage->n_steps ? step + 1 : step;
    return step > 0 ? step - 1 : 0;
  }
  if (stride >= STRIDE_NEW_MAX) return search(stage, step, stride, direction);
  uint64_t to = direction > 0 ? boundary_after(stage, step, stride) : boundary_before(stage, step, stride);
  while (direction > 0 && to <= step && to < stage->n_steps) to++; /* always further */
  return to > stage->n_steps ? stage->n_steps : to;
}
