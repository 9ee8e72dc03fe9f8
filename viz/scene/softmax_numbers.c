/* The formulas of online softmax with the numbers of a row, and l and O as bars. */
#include <math.h>
#include <stdio.h>

#include "viz/scene/softmax_view.h"

/* The same in fewer digits, for narrow places. */
static const char *shorter_number(double value, char *text, size_t size) {
  if (!isfinite(value) || fabs(value) >= 1000) return softmax_number(value, text, size);
  snprintf(text, size, "%s%.*f", value < 0 ? "−" : "", fabs(value) >= 100 ? 0 : fabs(value) >= 10 ? 1 : 2, fabs(value));
  return text;
}

typedef struct {
  char name[16];
  RowPhase phase; /* when it is worked out */
  char formula[160];
} Line;

/* Standard attention has the whole row before it takes the maximum, so nothing is rescaled. */
static void fill_standard_lines(const Snapshot *now, Line lines[4]) {
  const SnapshotRow *r = &now->row;
  const SnapshotRoles *is = &now->roles;
  const Letters m = softmax_letters(now, is->m), l = softmax_letters(now, is->l), S = softmax_letters(now, is->S),
                P = softmax_letters(now, is->P), O = softmax_letters(now, is->O);
  char a[32];
  const Letters *const names[4] = {&m, &l, &P, &O};
  for (int k = 0; k < 4; k++) {
    lines[k] = (Line){"", k ? ROW_ACCUMULATED : ROW_MAX, ""};
    snprintf(lines[k].name, sizeof lines[k].name, "%s", names[k]->text);
  }
  snprintf(lines[2].formula, sizeof lines[2].formula, "e^(%s − %s) / %s", S.text, m.text, l.text);
  snprintf(lines[3].formula, sizeof lines[3].formula, "%s %s", P.text,
           now->schedule->tensors[snapshot_operand(now, 2)].text);
  if (r->without_max)
    snprintf(lines[0].formula, sizeof lines[0].formula, "0: the maximum is left out");
  else
    snprintf(lines[0].formula, sizeof lines[0].formula, "max of the row = %s", softmax_number(r->m_new, a, sizeof a));
  snprintf(lines[1].formula, sizeof lines[1].formula, "sum of e^(%s − %s) = %s", S.text, m.text,
           softmax_number(r->l_new, a, sizeof a));
}

static void fill_lines(const Snapshot *now, bool is_large, Line lines[4]) {
  const SnapshotRow *r = &now->row;
  const Letters P = softmax_letters(now, now->roles.P), O = softmax_letters(now, now->roles.O);
  const char *V = now->schedule->tensors[snapshot_operand(now, 2)].text;
  char a[32], b[32], c[32], d[32];
  const char *(*number)(double, char *, size_t) = is_large ? softmax_number : shorter_number;
  if (r->without_max)
    snprintf(lines[0].formula, sizeof lines[0].formula, "0: the maximum is left out");
  else
    snprintf(lines[0].formula, sizeof lines[0].formula, "max(%s, %s) = %s", number(r->m_old, a, sizeof a),
             number(r->block_max, b, sizeof b), number(r->m_new, c, sizeof c));
  if (r->without_max)
    snprintf(lines[1].formula, sizeof lines[1].formula, "1: nothing is rescaled");
  else
    snprintf(lines[1].formula, sizeof lines[1].formula, "e^(%s − %s%s%s) = %s", number(r->m_old, a, sizeof a),
             r->m_new < 0 ? "(" : "", number(r->m_new, b, sizeof b), r->m_new < 0 ? ")" : "",
             number(r->factor, c, sizeof c));
  snprintf(lines[2].formula, sizeof lines[2].formula, "%s × %s + %s = %s", number(r->l_old, a, sizeof a),
           number(r->factor, b, sizeof b), number(r->block_sum, c, sizeof c), number(r->l_new, d, sizeof d));
  snprintf(lines[3].formula, sizeof lines[3].formula, "%s × %s + %s %s", O.text, number(r->factor, a, sizeof a), P.text,
           V);
  if (r->is_rescaled || r->phase < ROW_ACCUMULATED || r->without_max) return;
  snprintf(lines[1].formula, sizeof lines[1].formula, "none: no line of the program rescales");
  snprintf(lines[2].formula, sizeof lines[2].formula, "%s + %s = %s", number(r->l_old, a, sizeof a),
           number(r->block_sum, b, sizeof b), number(r->l_new, c, sizeof c));
  snprintf(lines[3].formula, sizeof lines[3].formula, "%s + %s %s", O.text, P.text, V);
}

/* Whether a line's value is worked out at this step, and whether it is the present event that does it. */
static bool is_known(const Snapshot *now, int k, const Line *line) {
  if (now->grid.n_laps > 1 && k == 3) return now->event.pass == 2 && now->row.phase >= ROW_ACCUMULATED;
  return now->row.phase >= line->phase && now->row.tile >= 0;
}

static bool is_now(const Snapshot *now, int k, const Line *line) {
  static const EventKind STANDARD[4] = {EVENT_NEW_MAX, EVENT_NORMALISE, EVENT_NORMALISE, EVENT_ACCUMULATE};
  if (now->grid.n_laps > 1) return now->event.kind == STANDARD[k];
  return now->row.phase == line->phase && !event_moves(now->event.kind) && now->event.kind != EVENT_NORMALISE &&
         now->event.kind != EVENT_SKIP;
}

void softmax_draw_formulas(const Pen *pen, Box box, bool is_large) {
  const Theme *t = pen->theme;
  const TypeSize type = is_large ? TYPE_HEAD : TYPE_SMALL;
  Line lines[4] = {
      {"", ROW_MAX, ""}, {"factor", ROW_RESCALED, ""}, {"", ROW_ACCUMULATED, ""}, {"", ROW_ACCUMULATED, ""}};
  snprintf(lines[0].name, sizeof lines[0].name, "%s′", softmax_letters(pen->now, pen->now->roles.m).text);
  snprintf(lines[2].name, sizeof lines[2].name, "%s′", softmax_letters(pen->now, pen->now->roles.l).text);
  snprintf(lines[3].name, sizeof lines[3].name, "%s′", softmax_letters(pen->now, pen->now->roles.O).text);
  if (pen->now->grid.n_laps > 1)
    fill_standard_lines(pen->now, lines);
  else
    fill_lines(pen->now, is_large, lines);
  const int n = 4;
  const double height = box.height / n, name = 4.0 * pen_size(pen, type);
  for (int k = 0; k < n; k++) {
    const Box row = box_cut_top(&box, height, 0);
    const bool known = is_known(pen->now, k, &lines[k]);
    const bool now = known && is_now(pen->now, k, &lines[k]);
    const double base = row.y + row.height / 2 + 0.36 * pen_size(pen, type);
    if (now)
      pen_fill(pen, box_at(row.x - 8 * pen->unit, row.y + 0.14 * height, 4 * pen->unit, 0.72 * height),
               t->tile[TILE_COLOUR_CURRENT], 1);
    pen_text(pen, type, known ? t->ink : t->ink_soft, true, ANCHOR_START, row.x, base, 0, lines[k].name);
    const char *formula = known ? lines[k].formula : "…";
    pen_text(pen, pen_fitting_type(pen, type, now, row.width - name, formula), known ? t->ink : t->ink_soft, now,
             ANCHOR_START, row.x + name, base, row.width - name, formula);
  }
}

/* A bar up or down from the middle; what is not a number fills its room, in red. */
static void draw_value(const Pen *pen, Box cell, double value, double largest, Colour colour) {
  const double middle = cell.y + floor(cell.height / 2), part = !isfinite(value) ? 1
                                                                : largest > 0    ? value / largest
                                                                                 : 0;
  const double height = fmax(1, fabs(fmax(-1, fmin(1, part))) * (cell.height / 2 - 2));
  pen_fill(pen, box_at(cell.x, part > 0 ? middle - height : middle, cell.width, height),
           isfinite(value) ? colour : pen->theme->bad, 1);
}

/* l, then O, as bars: before, and now. */
static void draw_state(const Pen *pen, Box box, const char *label, double l, double largest_l, const double *O,
                       double largest_O, Colour colour) {
  const int64_t n = pen->now->row.n_O;
  const double letter = 6.6 * pen_size(pen, TYPE_SMALL), middle = box.y + floor(box.height / 2);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, box.x, middle + 0.36 * pen_size(pen, TYPE_SMALL),
           letter, label);
  pen_part(pen, "sum", box_at(box.x, box.y, letter + 46 * pen->unit, box.height));
  box_cut_left(&box, letter, 0);
  pen_part(pen, "output", box);
  const double cell = fmin(floor(box.width / ((double)n + 2)), 46 * pen->unit),
               gap = cell > 10 ? round(3 * pen->unit) : 1;
  pen_fill(pen, box_at(box.x, middle, cell - gap, 1), pen->theme->axis, 1);
  draw_value(pen, box_at(box.x, box.y, floor(cell) - gap, box.height), l, largest_l, colour);
  const double first = box.x + 2 * cell;
  pen_fill(pen, box_at(first, middle, cell * (double)n - gap, 1), pen->theme->axis, 1);
  for (int64_t k = 0; k < n; k++)
    draw_value(pen, box_at(first + cell * (double)k, box.y, floor(cell) - gap, box.height), O[k], largest_O, colour);
}

/* On the way from one value to another, as far as the present event has happened. */
static double between(const Pen *pen, double from, double to) {
  return isfinite(from) && isfinite(to) ? from + (to - from) * pen_happened(pen) : to;
}

/* l and O shrink by the factor when they are rescaled, and grow by the tile. */
void softmax_draw_O(const Pen *pen, Box box) {
  const SnapshotRow *r = &pen->now->row;
  const Theme *t = pen->theme;
  const bool rescales = pen->now->event.kind == EVENT_RESCALE, adds = pen->now->event.kind == EVENT_ACCUMULATE,
             finished = r->phase == ROW_FINISHED;
  double largest = 0, O[SNAPSHOT_O];
  for (int64_t k = 0; k < r->n_O; k++) {
    if (isfinite(r->O_old[k])) largest = fmax(largest, fabs(r->O_old[k]));
    if (isfinite(r->O[k])) largest = fmax(largest, fabs(r->O[k]));
    O[k] = between(pen, rescales ? r->O_old[k] : adds ? r->O_scaled[k] : r->O[k], r->O[k]);
  }
  const double l = between(pen,
                           rescales ? r->l_old
                           : adds   ? r->l_scaled
                                    : r->l,
                           r->l),
               largest_l = fmax(isfinite(r->l_old) ? r->l_old : 0, isfinite(r->l) ? r->l : 0);
  const Box before = box_cut_top(&box, box.height / 2 - 2 * pen->unit, 4 * pen->unit);
  const Letters l_name = softmax_letters(pen->now, pen->now->roles.l),
                O_name = softmax_letters(pen->now, pen->now->roles.O);
  char was[48], is[48];
  snprintf(was, sizeof was, "%s, %s before", l_name.text, O_name.text);
  snprintf(is, sizeof is, finished ? "%s, %s / %s" : "%s, %s now", l_name.text, O_name.text, l_name.text);
  draw_state(pen, before, was, r->l_old, largest_l, r->O_old, largest, t->axis);
  draw_state(pen, box, is, l, largest_l, O, largest,
             rescales || adds ? t->tile[TILE_COLOUR_CURRENT] : t->tile[TILE_COLOUR_DONE]);
}
