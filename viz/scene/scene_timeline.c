/* One CTA's events in order, in lanes: what it loads, multiplies, reckons and stores.
 *
 * The axis counts events, not time: how long each takes depends on the machine and on what overlaps, which the event
 * stream does not say. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "viz/scene/pen.h"
#include "viz/text/number.h"

enum { LANE_LOAD = 0, LANE_PRODUCT, LANE_SOFTMAX, LANE_STORE, LANE_SKIP, N_LANES };

static int lane_of(const Event *e) {
  switch (e->kind) {
  case EVENT_LOAD: return LANE_LOAD;
  case EVENT_PRODUCT:
  case EVENT_ACCUMULATE: return LANE_PRODUCT;
  case EVENT_STORE: return LANE_STORE;
  case EVENT_SKIP: return LANE_SKIP;
  default: return LANE_SOFTMAX;
  }
}

static const char *word_of(const Event *e) {
  switch (e->kind) {
  case EVENT_LOAD:
  case EVENT_STORE: return e->tensor == TENSOR_STATS ? "ml" : tensor_name((Tensor)e->tensor);
  case EVENT_PRODUCT: return "S";
  case EVENT_ACCUMULATE: return "O";
  case EVENT_NEW_MAX: return "m";
  case EVENT_RESCALE: return "×";
  case EVENT_MASK: return "▨";
  case EVENT_NORMALISE: return "/l";
  default: return "";
  }
}

static bool plan_of(const Snapshot *now, Plan *plan) {
  return plan_make(plan, &now->problem.shape, &now->problem.tiling, NULL) == STATUS_OK;
}

static void draw_event(const Pen *pen, Box lane, double x, double width, const Event *e, bool present, bool past) {
  const Theme *t = pen->theme;
  const Box block = box_at(x, lane.y + 0.14 * lane.height, width - fmax(1, round(2 * pen->unit)), 0.72 * lane.height);
  const Colour fill = present ? t->tile[TILE_COLOUR_CURRENT] : past ? t->tile[e->kind == EVENT_MASK ? TILE_COLOUR_PARTIAL : TILE_COLOUR_DONE] : t->tile[TILE_COLOUR_WAITING];
  if (e->kind == EVENT_SKIP && !present) {
    pen_frame(pen, block, past ? t->tile[TILE_COLOUR_DONE] : t->axis, 1.4);
  } else {
    pen_fill(pen, block, fill, 1);
  }
  pen_text(pen, TYPE_BODY, e->kind == EVENT_SKIP && !present ? t->ink : theme_on(fill), present, ANCHOR_MIDDLE, block.x + block.width / 2,
           block.y + block.height / 2 + 0.36 * pen_size(pen, TYPE_BODY), 0, word_of(e));
}

/* Upright lines where a tile of scores begins, with its place. */
static void draw_tile_mark(const Pen *pen, Box plane, double x, const Event *e) {
  char words[64];
  snprintf(words, sizeof words, "%" PRId64 ",%" PRId64, e->i, e->j);
  pen_line(pen, pen->theme->grid, 1, x - 2 * pen->unit, plane.y, x - 2 * pen->unit, plane.y + plane.height);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, x, plane.y - 6 * pen->unit, 0, words);
}

void scene_timeline(const Pen *pen) {
  static const char *const LANES[N_LANES] = {"load", "product", "softmax", "store", "skip"};
  const Snapshot *now = pen->now;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL), width = fmax(4, floor(30 * u));
  Box body = pen_page(pen, SCHEDULES[now->schedule]->title);
  const Box foot = box_cut_bottom(&body, 2 * small, 4 * u);
  box_cut_top(&body, 2.2 * small, 0);
  const Box names = box_cut_left(&body, 6.6 * small, 0);
  const int n_shown = (int)(fmax(0, body.width) / width);
  uint64_t first = now->step > (uint64_t)(2 * n_shown / 3) ? now->step - (uint64_t)(2 * n_shown / 3) : 0;
  const double height = fmin(110 * u, body.height / N_LANES);
  for (int k = 0; k < N_LANES; k++) {
    const Box lane = box_at(names.x, body.y + height * k, names.width + body.width, height);
    if (k % 2 == 0) pen_fill(pen, lane, pen->theme->panel, 1);
    pen_text(pen, TYPE_BODY, pen->theme->ink, true, ANCHOR_START, lane.x + 10 * u, lane.y + height / 2 + 0.36 * pen_size(pen, TYPE_BODY), 0, LANES[k]);
  }
  Plan plan;
  Cursor cursor;
  Event event;
  if (!plan_of(now, &plan) || !schedule_seek(SCHEDULES[now->schedule], &plan, &cursor, first)) return;
  int64_t i = -1, j = -1;
  double last_mark = -1000;
  const Box plane = box_at(body.x, body.y, body.width, height * N_LANES);
  for (int k = 0; k < n_shown && schedule_next(SCHEDULES[now->schedule], &plan, &cursor, &event); k++) {
    const double x = body.x + width * k;
    const bool begins = event.i >= 0 && event.j >= 0 && (event.i != i || event.j != j);
    if (begins && x - last_mark > 4.2 * small) {
      draw_tile_mark(pen, plane, x, &event);
      last_mark = x;
    }
    if (event.i >= 0 && event.j >= 0) {
      i = event.i;
      j = event.j;
    }
    draw_event(pen, box_at(body.x, body.y + height * lane_of(&event), body.width, height), x, width, &event, event.step + 1 == now->step, event.step + 1 <= now->step);
  }
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, foot.x, foot.y + 1.4 * small, foot.width,
           "Events in order, from left to right, with the tile i,j they belong to. Widths are not times.");
}
