/* m and l of rows beside each other after each tile; and values of a row by their own names. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "sim/algorithms/walk/live.h"
#include "viz/scene/softmax_view.h"

typedef struct {
  double low, high, largest_l; /* of all small rows, so that they can be compared */
} SmallScale;

static SmallScale small_scale(const Snapshot *now) {
  SmallScale s = {INFINITY, -INFINITY, 0};
  for (int k = 0; k < now->n_rows; k++) {
    for (int64_t h = 0; h < now->rows[k].n_history; h++) {
      if (!isfinite(now->rows[k].history_m[h])) continue;
      s.low = fmin(s.low, now->rows[k].history_m[h]);
      s.high = fmax(s.high, now->rows[k].history_m[h]);
    }
    if (isfinite(now->rows[k].l)) s.largest_l = fmax(s.largest_l, now->rows[k].l);
  }
  return s;
}

/* m after each tile as a flight of steps; a dot where it rose. */
static void draw_steps(const Pen *pen, Box box, const double *m, int64_t n, int64_t n_tiles, double low, double high,
                       bool has_dots) {
  const Theme *t = pen->theme;
  const double u = pen->unit, dot = fmin(8 * u, fmax(4 * u, 0.12 * box.height)), room = box.height - dot - 2;
  pen_fill(pen, box_at(box.x, box.y + box.height - 1, box.width, 1), t->axis, 1);
  double before = -INFINITY;
  for (int64_t k = 0; k < n; k++) {
    if (!isfinite(m[k])) continue;
    const double x = floor(box.x + box.width * (double)k / (double)n_tiles),
                 end = floor(box.x + box.width * (double)(k + 1) / (double)n_tiles);
    const double y = floor(box.y + dot / 2 + room * (high > low ? (high - m[k]) / (high - low) : 0.5));
    pen_fill(pen, box_at(x, y, fmax(1, end - x), fmax(2, 2 * u)), t->tile[TILE_COLOUR_DONE], 1);
    if (m[k] > before && has_dots)
      pen_fill(pen, box_at((x + end) / 2 - dot / 2, y - dot / 2 + u, dot, dot), t->tile[TILE_COLOUR_CURRENT], 1);
    before = m[k];
  }
}

static int64_t tiles_in_history(const Snapshot *now) {
  return now->grid.T_c < SNAPSHOT_HISTORY ? now->grid.T_c : SNAPSHOT_HISTORY;
}

static void draw_small_row(const Pen *pen, Box box, const SnapshotSmallRow *r, const SmallScale *scale) {
  const Theme *t = pen->theme;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  const bool is_large_one = r->row == pen->now->row.row;
  const Colour ink = is_large_one ? t->ink : t->ink_soft;
  char number[32], words[64];
  snprintf(words, sizeof words, "row %" PRId64, r->row);
  if (is_large_one) pen_fill(pen, box_at(box.x, box.y, box.width, 3 * u), t->tile[TILE_COLOUR_CURRENT], 1);
  box_cut_top(&box, 5 * u, 0);
  const Box head = box_cut_top(&box, 1.4 * small, 0), l = box_cut_bottom(&box, 1.35 * small, 0),
            m = box_cut_bottom(&box, 1.5 * small, 0);
  pen_text(pen, TYPE_SMALL, ink, is_large_one, ANCHOR_START, head.x, head.y + small, head.width, words);
  if (scale->high >= scale->low)
    draw_steps(pen, box, r->history_m, r->n_history, tiles_in_history(pen->now), scale->low, scale->high,
               !pen->now->row.without_max);
  snprintf(words, sizeof words, "%s %s", softmax_letters(pen->now, pen->now->roles.m).text,
           softmax_number(r->m, number, sizeof number));
  pen_text(pen, TYPE_SMALL, ink, false, ANCHOR_START, m.x, m.y + 1.2 * small, m.width, words);
  snprintf(words, sizeof words, "%s %s", softmax_letters(pen->now, pen->now->roles.l).text,
           softmax_number(r->l, number, sizeof number));
  pen_text(pen, TYPE_SMALL, ink, false, ANCHOR_START, l.x, l.y + small, l.width, words);
  const double from = l.x + pen_text_width(pen, TYPE_SMALL, false, words) + 6 * u, room = l.x + l.width - from;
  if (scale->largest_l > 0 && isfinite(r->l) && room > 0)
    pen_fill(pen, box_at(from, l.y + 0.45 * small, room * r->l / scale->largest_l, 0.4 * small), t->axis, 1);
}

void softmax_draw_small_rows(const Pen *pen, Box box) {
  const Snapshot *now = pen->now;
  const SmallScale scale = small_scale(now);
  const double small = pen_size(pen, TYPE_SMALL), gap = 16 * pen->unit, n = fmax(now->n_rows, SNAPSHOT_ROWS / 2),
               width = floor((box.width - gap * (n - 1)) / n);
  const Box head = box_cut_top(&box, 1.7 * small, 0);
  char words[96];
  snprintf(words, sizeof words,
           now->row.without_max ? "Rows of this tile: %s is left out, 0 at every tile"
                                : "Rows of this tile: %s after each tile, a dot where it rose",
           softmax_letters(now, now->roles.m).text);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, head.x, head.y + small, head.width, words);
  for (int k = 0; k < now->n_rows; k++) draw_small_row(pen, box_cut_left(&box, width, gap), &now->rows[k], &scale);
}

/* The same of the large row alone, where it has none beside it. */
void softmax_draw_history(const Pen *pen, Box box) {
  const SnapshotRow *r = &pen->now->row;
  const double small = pen_size(pen, TYPE_SMALL);
  char words[96];
  snprintf(words, sizeof words,
           r->without_max ? "%s is left out: 0 at every tile" : "%s after each tile; a dot where it rose",
           softmax_letters(pen->now, pen->now->roles.m).text);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, box.x, box.y + small, box.width, words);
  box_cut_top(&box, 1.6 * small, 0);
  double low = INFINITY, high = -INFINITY;
  for (int64_t k = 0; k < r->n_history; k++) {
    if (!isfinite(r->history_m[k])) continue;
    low = fmin(low, r->history_m[k]);
    high = fmax(high, r->history_m[k]);
  }
  draw_steps(pen, box, r->history_m, r->n_history, tiles_in_history(pen->now), low, high, !r->without_max);
}

static bool is_tile(const ProgramName *n) { return n->cols == SIDE_COLS; }

/* Names whose value the present line makes, or that it or a later one reads; and is a number of this row. */
static int shown_values(const Snapshot *now, int names[PROGRAM_NAMES_MAX]) {
  const Schedule *s = now->schedule;
  const uint64_t there = now->live | (now->event.kind == EVENT_SKIP ? 0 : live_sets(s, now->event.op));
  int n = 0;
  for (int name = 0; name < s->n_names; name++)
    if ((there >> name & 1) && !isnan(now->row.values[name].now)) names[n++] = name;
  return n;
}

/* Every value of one column, and the largest of a tile, before the line and after it. */
void softmax_draw_values(const Pen *pen, Box box, bool is_large) {
  const Snapshot *now = pen->now;
  const Theme *t = pen->theme;
  const TypeSize type = is_large ? TYPE_HEAD : TYPE_SMALL;
  const double size = pen_size(pen, type), small = pen_size(pen, TYPE_SMALL), name = 4.6 * size, number = 6.2 * size;
  const uint64_t made = now->event.kind == EVENT_SKIP ? 0 : live_sets(now->schedule, now->event.op);
  int names[PROGRAM_NAMES_MAX];
  const int n = shown_values(now, names);
  const Box head = box_cut_top(&box, 1.7 * small, 0);
  pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, head.x, head.y + small, head.width,
           n == 0     ? "No value of this row is on chip."
           : is_large ? "Values of this row before the present line, and after it; of a tile the largest"
                      : "before the line, and after it");
  const double height = fmin(box.height / fmax(n, 1), 1.9 * size);
  for (int k = 0; k < n && height > 0.9 * size; k++) {
    const SnapshotValue *v = &now->row.values[names[k]];
    const ProgramName *of = &now->schedule->names[names[k]];
    const Box row = box_cut_top(&box, height, 0);
    const double base = row.y + row.height / 2 + 0.36 * size;
    const bool is_made = made >> names[k] & 1;
    char before[32], after[32];
    if (is_made)
      pen_fill(pen, box_at(row.x, row.y + 0.14 * height, 4 * pen->unit, 0.72 * height), t->tile[TILE_COLOUR_CURRENT],
               1);
    const double x = row.x + 10 * pen->unit;
    pen_text(pen, type, pen_ink(pen, is_made), true, ANCHOR_START, x, base, 0, of->text);
    softmax_number((now->live >> names[k] & 1) ? v->before : NAN, before, sizeof before);
    softmax_number(v->now, after, sizeof after);
    pen_text(pen, type, t->ink_soft, false, ANCHOR_END, x + name + number, base, 0, is_made ? before : "");
    pen_text(pen, type, pen_ink(pen, is_made), is_made, ANCHOR_END, x + name + 2 * number, base, 0, after);
    if (is_tile(of) && x + name + 2 * number + 8 * size < row.x + row.width)
      pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, x + name + 2 * number + size, base, 0,
               "largest of the row");
  }
}
