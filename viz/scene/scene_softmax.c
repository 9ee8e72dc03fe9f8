/* Online softmax of one row: the scores of the tile, the old and the new maximum, the factor that shrinks what came
 * before, and the formulas with this row's numbers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/pen.h"
#include "viz/text/number.h"

static const char *short_number(double value, char *text, size_t size) {
  if (isnan(value)) snprintf(text, size, "–");
  else if (isinf(value)) snprintf(text, size, value > 0 ? "∞" : "−∞");
  else snprintf(text, size, "%s%.*f", value < 0 ? "−" : "", fabs(value) >= 1000 ? 0 : fabs(value) >= 100 ? 1 : 3, fabs(value));
  return text;
}

/* What the present event has changed so far, if it is of that kind: 0 to 1. */
static double happened(const Pen *pen, EventKind kind) { return pen->now->event.kind == kind ? pen_happened(pen) : 1; }

/* ---- Scores ---------------------------------------------------------------------------------------------- */

typedef struct {
  double low, high;
} Range;

static Range range_of(const SnapshotRow *r) {
  Range v = {-0.25, 0.5};
  for (int64_t k = 0; k < r->n_cols && k < SNAPSHOT_SCORES; k++) {
    if (!isfinite(r->scores[k])) continue;
    v.low = fmin(v.low, r->scores[k]);
    v.high = fmax(v.high, r->scores[k]);
  }
  if (isfinite(r->m_old)) v.high = fmax(v.high, r->m_old);
  if (isfinite(r->m_old)) v.low = fmin(v.low, r->m_old);
  v.low -= 0.12 * (v.high - v.low);
  v.high += 0.12 * (v.high - v.low);
  return v;
}

static double at(Box plot, Range range, double value) { return plot.y + plot.height * (range.high - value) / (range.high - range.low); }

static void draw_level(const Pen *pen, Box plot, double y, const char *label, double value, bool dashed, Colour colour, bool above) {
  char number[32], words[64];
  const double small = pen_size(pen, TYPE_SMALL);
  snprintf(words, sizeof words, "%s = %s", label, short_number(value, number, sizeof number));
  if (dashed && !pen->hit) {
    const double dash[] = {6 * pen->unit, 4 * pen->unit};
    cairo_set_dash(pen->cr, dash, 2, 0);
  }
  pen_line(pen, colour, 2, plot.x, y, plot.x + plot.width, y);
  if (!pen->hit) cairo_set_dash(pen->cr, NULL, 0, 0);
  pen_text(pen, TYPE_SMALL, pen->theme->ink, !dashed, ANCHOR_START, plot.x + plot.width + 8 * pen->unit, y + (above ? -2 * pen->unit : 0.72 * small), 0, words);
}

static int64_t n_shown(const SnapshotRow *r) { return r->n_cols < SNAPSHOT_SCORES ? r->n_cols : SNAPSHOT_SCORES; }

static double gap_of(const Pen *pen, double cell) { return cell > 12 * pen->unit ? round(4 * pen->unit) : cell > 4 ? 1 : 0; }

static void draw_bars(const Pen *pen, Box plot, Range range) {
  const Theme *t = pen->theme;
  const SnapshotRow *r = &pen->now->row;
  const int64_t n = n_shown(r);
  if (n <= 0) return;
  const double cell = floor(plot.width / (double)n), gap = gap_of(pen, cell);
  const double zero = at(plot, range, 0), grown = happened(pen, EVENT_PRODUCT);
  for (int64_t k = 0; k < n; k++) {
    const double x = plot.x + cell * (double)k, score = r->scores[k];
    if (!isfinite(score)) {
      const Box masked = box_at(x, plot.y, cell - gap, plot.height);
      if (pen->hit) continue;
      cairo_save(pen->cr);
      cairo_rectangle(pen->cr, masked.x, masked.y, masked.width, masked.height);
      cairo_clip(pen->cr);
      pen_hatch(pen, masked, theme_mix(t->panel, t->axis, 0.6));
      cairo_restore(pen->cr);
      continue;
    }
    const double y = at(plot, range, score * grown);
    const bool largest = r->phase >= ROW_MAX && score == r->block_max;
    pen_fill(pen, box_at(x, fmin(y, zero), cell - gap, fmax(1, fabs(y - zero))), largest ? t->tile[TILE_COLOUR_CURRENT] : t->tile[TILE_COLOUR_PARTIAL], 1);
  }
  pen_line(pen, t->axis, 1, plot.x, zero, plot.x + plot.width, zero);
}

/* P of the tile, from 0 to 1 (or to the largest, where something overflows). */
static void draw_weights(const Pen *pen, Box box) {
  const Theme *t = pen->theme;
  const SnapshotRow *r = &pen->now->row;
  const int64_t n = n_shown(r);
  double largest = 1;
  for (int64_t k = 0; k < n; k++)
    if (isfinite(r->weights[k])) largest = fmax(largest, r->weights[k]);
  const double cell = n > 0 ? floor(box.width / (double)n) : 0, floor_y = box.y + box.height - 1;
  char label[32];
  snprintf(label, sizeof label, "P, 0 to %.3g", largest);
  for (int64_t k = 0; k < n && r->phase >= ROW_ACCUMULATED; k++) {
    const bool finite = isfinite(r->weights[k]);
    const double height = round((finite ? r->weights[k] / largest : 1) * (box.height - 2) * happened(pen, EVENT_ACCUMULATE));
    pen_fill(pen, box_at(box.x + cell * (double)k, floor_y - height, cell - gap_of(pen, cell), height), finite ? t->tile[TILE_COLOUR_DONE] : t->bad, 1);
  }
  pen_line(pen, t->axis, 1, box.x, floor_y, box.x + box.width, floor_y);
  pen_text(pen, TYPE_SMALL, r->phase >= ROW_ACCUMULATED ? t->ink : t->ink_soft, false, ANCHOR_START, box.x + box.width + 8 * pen->unit, floor_y, 0,
           label);
}

static void draw_scores(const Pen *pen, Box box) {
  const Theme *t = pen->theme;
  const SnapshotRow *r = &pen->now->row;
  const double labels = 7.4 * pen_size(pen, TYPE_SMALL);
  box_cut_top(&box, 0.55 * pen_size(pen, TYPE_SMALL), 0); /* the upper label stands over its line */
  box_cut_right(&box, labels, 0);
  draw_weights(pen, box_cut_bottom(&box, 0.27 * box.height, 8 * pen->unit));
  const Range range = range_of(r);
  draw_bars(pen, box, range);
  const bool online = pen->now->grid.n_laps <= 1;
  const double bottom = box.y + box.height, level = isfinite(r->m_old) ? at(box, range, r->m_old) : bottom;
  if (bottom - level > 2.2 * pen_size(pen, TYPE_SMALL))
    pen_text(pen, TYPE_SMALL, r->phase >= ROW_SCORES ? t->ink : t->ink_soft, false, ANCHOR_START, box.x + box.width + 8 * pen->unit, bottom, 0, "scores S");
  if (r->tile >= 0 && (online || r->phase >= ROW_MAX)) {
    const double old = level;
    const bool rises = r->phase >= ROW_MAX && r->m_new > r->m_old;
    const double goal = isfinite(r->m_new) && r->phase >= ROW_MAX ? at(box, range, r->m_new) : old;
    const double now = old + (goal - old) * happened(pen, EVENT_NEW_MAX);
    draw_level(pen, box, old, "m", r->m_old, true, t->axis, rises && old - now < 1.6 * pen_size(pen, TYPE_SMALL) ? false : !isfinite(r->m_old));
    if (rises) draw_level(pen, box, now, "m′", r->m_new, false, t->series[INK_ORANGE], true);
  }
}

/* ---- Numbers --------------------------------------------------------------------------------------------- */

typedef struct {
  const char *name;
  RowPhase phase;   /* when it is worked out */
  char formula[160];
} Line;

static void fill_lines(const SnapshotRow *r, Line lines[4]) {
  char a[32], b[32], c[32], d[32];
  if (r->without_max) snprintf(lines[0].formula, sizeof lines[0].formula, "0: the maximum is left out");
  else snprintf(lines[0].formula, sizeof lines[0].formula, "max(%s, %s) = %s", short_number(r->m_old, a, sizeof a), short_number(r->block_max, b, sizeof b),
           short_number(r->m_new, c, sizeof c));
  snprintf(lines[1].formula, sizeof lines[1].formula, "e^(%s − %s%s%s) = %s", short_number(r->m_old, a, sizeof a), r->m_new < 0 ? "(" : "",
           short_number(r->m_new, b, sizeof b), r->m_new < 0 ? ")" : "", short_number(r->factor, c, sizeof c));
  snprintf(lines[2].formula, sizeof lines[2].formula, "%s × %s + %s = %s", short_number(r->l_old, a, sizeof a), short_number(r->factor, b, sizeof b),
           short_number(r->block_sum, c, sizeof c), short_number(r->l_new, d, sizeof d));
  snprintf(lines[3].formula, sizeof lines[3].formula, "O × %s + P V", short_number(r->factor, a, sizeof a));
}

static void draw_formulas(const Pen *pen, Box box, bool is_large) {
  const SnapshotRow *r = &pen->now->row;
  const Theme *t = pen->theme;
  const TypeSize type = is_large ? TYPE_HEAD : TYPE_SMALL;
  Line lines[4] = {{"m′", ROW_MAX, ""}, {"factor", ROW_RESCALED, ""}, {"l′", ROW_ACCUMULATED, ""}, {"O′", ROW_ACCUMULATED, ""}};
  fill_lines(r, lines);
  const int n = 4;
  const double height = box.height / n, name = 4.0 * pen_size(pen, type);
  for (int k = 0; k < n; k++) {
    const Box row = box_cut_top(&box, height, 0);
    const bool known = r->phase >= lines[k].phase && r->tile >= 0;
    const bool now = known && (r->phase == lines[k].phase) && r->phase != ROW_FINISHED;
    const double base = row.y + row.height / 2 + 0.36 * pen_size(pen, type);
    if (now) pen_fill(pen, box_at(row.x - 8 * pen->unit, row.y + 0.14 * height, 4 * pen->unit, 0.72 * height), t->tile[TILE_COLOUR_CURRENT], 1);
    pen_text(pen, type, known ? t->ink : t->ink_soft, true, ANCHOR_START, row.x, base, 0, lines[k].name);
    pen_text(pen, type, known ? t->ink : t->ink_soft, now, ANCHOR_START, row.x + name, base, row.width - name, known ? lines[k].formula : "…");
  }
}

/* l and O as bars that shrink by the factor and grow by the tile: before, rescaled, now. */
static void draw_vector(const Pen *pen, Box box, const char *label, const double *values, int64_t n, double largest, Colour colour) {
  const double letter = 6.4 * pen_size(pen, TYPE_SMALL), middle = box.y + floor(box.height / 2);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, box.x, middle + 0.36 * pen_size(pen, TYPE_SMALL), letter, label);
  box_cut_left(&box, letter, 0);
  const double cell = fmin(floor(box.width / (double)n), 46 * pen->unit), gap = cell > 10 ? round(3 * pen->unit) : 1;
  pen_fill(pen, box_at(box.x, middle, cell * (double)n - gap, 1), pen->theme->axis, 1);
  for (int64_t k = 0; k < n; k++) {
    const double part = !isfinite(values[k]) ? 1 : largest > 0 ? values[k] / largest : 0;
    const double height = fmax(1, fabs(fmax(-1, fmin(1, part))) * (box.height / 2 - 2));
    pen_fill(pen, box_at(box.x + cell * (double)k, part > 0 ? middle - height : middle, floor(cell) - gap, height), isfinite(values[k]) ? colour : pen->theme->bad, 1);
  }
}

static void draw_O(const Pen *pen, Box box) {
  const SnapshotRow *r = &pen->now->row;
  const Theme *t = pen->theme;
  double largest = 0;
  for (int64_t k = 0; k < r->n_O; k++) {
    if (isfinite(r->O_old[k])) largest = fmax(largest, fabs(r->O_old[k]));
    if (isfinite(r->O[k])) largest = fmax(largest, fabs(r->O[k]));
  }
  const Box before = box_cut_top(&box, box.height / 2 - 2 * pen->unit, 4 * pen->unit);
  const bool finished = r->phase == ROW_FINISHED;
  double O[SNAPSHOT_O]; /* on its way from what was to what is */
  for (int64_t k = 0; k < r->n_O; k++) {
    const bool rescales = pen->now->event.kind == EVENT_RESCALE, adds = pen->now->event.kind == EVENT_ACCUMULATE;
    const double from = rescales ? r->O_old[k] : adds ? r->O_old[k] * r->factor : r->O[k];
    O[k] = isfinite(from) && isfinite(r->O[k]) ? from + (r->O[k] - from) * pen_happened(pen) : r->O[k];
  }
  draw_vector(pen, before, "O before", r->O_old, r->n_O, largest, t->axis);
  draw_vector(pen, box, finished ? "O / l" : "O now", O, r->n_O, largest,
              r->phase == ROW_RESCALED || r->phase == ROW_ACCUMULATED ? t->tile[TILE_COLOUR_CURRENT] : t->tile[TILE_COLOUR_DONE]);
}

/* m and the factor over the tiles of the row so far. */
static void draw_history(const Pen *pen, Box box) {
  const SnapshotRow *r = &pen->now->row;
  const Theme *t = pen->theme;
  const int64_t n_tiles = pen->now->grid.T_c < SNAPSHOT_HISTORY ? pen->now->grid.T_c : SNAPSHOT_HISTORY;
  const double small = pen_size(pen, TYPE_SMALL);
  pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, box.x, box.y + small, box.width, r->without_max ? "m is left out: 0 at every tile" : "m after each tile; a dot where it rose");
  box_cut_top(&box, 1.6 * small, 0);
  double low = INFINITY, high = -INFINITY;
  for (int64_t k = 0; k < r->n_history; k++) {
    if (!isfinite(r->history_m[k])) continue;
    low = fmin(low, r->history_m[k]);
    high = fmax(high, r->history_m[k]);
  }
  pen_line(pen, t->axis, 1, box.x, box.y + box.height - 1, box.x + box.width, box.y + box.height - 1);
  if (!(high >= low)) return;
  const double cell = floor(box.width / (double)n_tiles), scale = high > low ? 0.62 * box.height / (high - low) : 0;
  double before = -INFINITY;
  for (int64_t k = 0; k < r->n_history; k++) {
    const double m = r->history_m[k];
    if (!isfinite(m)) continue;
    const double y = floor(box.y + 0.86 * box.height - (m - low) * scale), x = box.x + cell * (double)k;
    pen_fill(pen, box_at(x, y, cell, fmax(2, 2.5 * pen->unit)), t->tile[TILE_COLOUR_DONE], 1);
    if (m > before && !r->without_max) pen_fill(pen, box_at(x + cell / 2 - 4 * pen->unit, y - 3 * pen->unit, 8 * pen->unit, 8 * pen->unit), t->tile[TILE_COLOUR_CURRENT], 1);
    before = m;
  }
}

/* ---- Together -------------------------------------------------------------------------------------------- */

static void draw_absence(const Pen *pen, Box body) {
  const SnapshotRow *r = &pen->now->row;
  const char *why = !r->is_computed ? "The numbers of a row are computed while N_k × d is at most 512 K elements. A smaller N shows them."
                                    : "No row of Q is in SRAM at this step.";
  pen_paragraph(pen, TYPE_BODY, pen->theme->ink_soft, box_inset(body, 6 * pen->unit), why);
}

static void verdict(const SnapshotRow *r, char *text, size_t size) {
  char ulps[32];
  text[0] = '\0';
  if (r->phase == ROW_FINISHED && isfinite(r->error_ulps))
    snprintf(text, size, "O is within %s ulps of the fp64 answer", short_number(r->error_ulps, ulps, sizeof ulps));
  else if (r->phase == ROW_FINISHED) snprintf(text, size, "O is not a number: e^score overflowed");
  else if (r->n_overflowed > 0) snprintf(text, size, "%" PRId64 " exponentials overflowed", r->n_overflowed);
}

void draw_softmax(const Pen *pen, Box box, bool is_large) {
  const SnapshotRow *r = &pen->now->row;
  const double u = pen->unit;
  char remark[96] = "", result[96];
  if (r->row >= 0 && r->tile >= 0) snprintf(remark, sizeof remark, "row %" PRId64 ", tile %" PRId64, r->row, r->tile);
  else if (r->row >= 0) snprintf(remark, sizeof remark, "row %" PRId64, r->row);
  Box body = pen_panel(pen, box, pen->now->grid.n_laps > 1 ? "Softmax" : "Online softmax", remark);
  if (!r->is_computed || r->row < 0) {
    draw_absence(pen, body);
    return;
  }
  verdict(r, result, sizeof result);
  if (*result) {
    const Box line = box_cut_bottom(&body, 1.5 * pen_size(pen, TYPE_BODY), 4 * u);
    pen_text(pen, TYPE_BODY, r->n_overflowed > 0 || !isfinite(r->error_ulps) ? pen->theme->bad : pen->theme->good, true, ANCHOR_START, line.x,
             line.y + 1.1 * pen_size(pen, TYPE_BODY), line.width, result);
  }
  if (is_large) {
    Box right = box_cut_right(&body, 0.47 * body.width, 30 * u);
    Box history = box_cut_bottom(&body, 0.3 * body.height, 20 * u);
    draw_scores(pen, body);
    draw_history(pen, history);
    const Box formulas = box_cut_top(&right, 0.46 * right.height, 16 * u);
    draw_formulas(pen, formulas, true);
    draw_O(pen, right);
    return;
  }
  const Box formulas = box_cut_bottom(&body, 4 * 1.55 * pen_size(pen, TYPE_SMALL), 6 * u);
  const Box O = box_cut_bottom(&body, fmin(0.36 * body.height, 60 * u), 8 * u);
  draw_scores(pen, body);
  draw_O(pen, O);
  draw_formulas(pen, box_at(formulas.x + 8 * u, formulas.y, formulas.width - 8 * u, formulas.height), false);
}

void scene_softmax(const Pen *pen) {
  const Box body = pen_page(pen, SCHEDULES[pen->now->schedule]->title);
  draw_softmax(pen, body, true);
}
