/* Online softmax of one row: the scores of the tile, the old and the new maximum, the factor that shrinks what came
 * before, the formulas with this row's numbers, and m and l of other rows of the tile, small. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/numbers/evaluate.h"
#include "viz/scene/softmax_view.h"
#include "viz/text/number.h"

const char *softmax_number(double value, char *text, size_t size) {
  if (isnan(value))
    snprintf(text, size, "–");
  else if (isinf(value))
    snprintf(text, size, value > 0 ? "∞" : "−∞");
  else if (fabs(value) >= 1e12)
    snprintf(text, size, "%s%.3g", value < 0 ? "−" : "", fabs(value));
  else if (fabs(value) >= 1000)
    snprintf(text, size, "%s%.20s", value < 0 ? "−" : "", number_count((Wide)(fabs(value) + 0.5)).text);
  else
    snprintf(text, size, "%s%.*f", value < 0 ? "−" : "", fabs(value) >= 100 ? 1 : 3, fabs(value));
  return text;
}

/* The first of these names, without subscripts and prime. */
Letters softmax_letters(const Snapshot *now, uint64_t names) {
  Letters l = {""};
  const int name = snapshot_first(names);
  if (name >= 0) {
    const char *text = now->schedule->names[name].text;
    snprintf(l.text, sizeof l.text, "%.*s", (int)strcspn(text, "_'"), text);
  }
  return l;
}

/* The last pass of fa2-split. */
static bool is_combining(const Snapshot *now) {
  return now->has_event && now->grid.n_laps == 1 && now->grid.lap == 1 && now->event.pass > 0 &&
         now->problem.tiling.n_splits > 1;
}

static void draw_absence(const Pen *pen, Box body, bool is_large) {
  const Snapshot *now = pen->now;
  const char *why =
      !now->row.is_computed && !evaluate_follows_rows(now->schedule)
          ? "All rows of this program are computed together, while that is 32 MFLOP at most. A smaller N shows one."
      : !now->row.is_computed
          ? "The numbers of a row are computed while N_k × d is at most 512 K elements. A smaller N shows them."
      : is_combining(now) ? "The parts of O that the splits have made are combined: no scores, no new maximum."
      : !now->has_event   ? "The first block of Q is still in HBM. One step loads it."
                          : "No row of Q is in SRAM at this step.";
  const TypeSize type = is_large ? TYPE_TITLE : TYPE_BODY;
  const Box words =
      is_large ? box_at(body.x + 0.16 * body.width, body.y + 0.4 * body.height, 0.68 * body.width, 0.5 * body.height)
               : box_inset(body, 6 * pen->unit);
  pen_paragraph(pen, type, pen->theme->ink_soft, words, why);
}

/* Ulps as people read them: "0.53", "12", "4,213". */
static const char *ulps_number(double ulps, char *text, size_t size) {
  if (ulps < 9.95)
    snprintf(text, size, "%.2g", ulps);
  else
    snprintf(text, size, "%s", number_count((Wide)(ulps < 1e30 ? ulps + 0.5 : 1e30)).text);
  return text;
}

static bool has_overflowed(const SnapshotRow *r) {
  for (int64_t k = 0; k < r->n_O; k++)
    if (!isfinite(r->O[k])) return true;
  return false;
}

/* More ulps than roundings alone can explain. O may be rounded once a tile, and roundings add up as a random walk;
 * larger scores, stored rounded, move their exponentials more; in fp32 the sums over keys and over d show too. */
static double most_ulps(const Snapshot *now) {
  const SnapshotGrid *g = &now->grid;
  const double rounded = (4 + 2 * sqrt((double)g->T_c)) * (double)now->row.q_scale;
  return now->problem.shape.dtype != DTYPE_FP32 ? rounded : rounded + (double)g->N_k + 16 * (double)g->d;
}

/* What became of the row. Returns whether all is well. */
static bool verdict(const Snapshot *now, bool is_large, char *text, size_t size) {
  const SnapshotRow *r = &now->row;
  const char *dtype = dtype_name(now->problem.shape.dtype);
  char ulps[NUMBER_CHARS];
  const Letters O = softmax_letters(now, now->roles.O);
  text[0] = '\0';
  if (r->phase == ROW_FINISHED && isfinite(r->error_ulps)) {
    ulps_number(r->error_ulps, ulps, sizeof ulps);
    if (r->error_ulps > most_ulps(now)) {
      snprintf(text, size, "%s is wrong: %s ulps of %s from the fp64 answer", O.text, ulps, dtype);
      return false;
    }
    if (is_large)
      snprintf(text, size, "%s is right: within %s ulps of %s of the fp64 answer", O.text, ulps, dtype);
    else
      snprintf(text, size, "%s within %s %s ulps of fp64", O.text, ulps, dtype);
    if (is_large && now->problem.shape.dtype != DTYPE_FP32)
      snprintf(text + strlen(text), size - strlen(text), ", and before it is stored within %s of fp32",
               ulps_number(r->error_fp32_ulps, ulps, sizeof ulps));
    return true;
  }
  if (r->phase == ROW_FINISHED)
    snprintf(text, size, "%s is not a number: e^score overflowed %s", O.text, dtype);
  else if (r->n_overflowed > 0)
    snprintf(text, size, "%" PRId64 " of %" PRId64 " exponentials overflow %s", r->n_overflowed, r->n_cols, dtype);
  else if (has_overflowed(r))
    snprintf(text, size, "%s is not a number any more: e^score overflowed %s", O.text, dtype);
  else if (is_large && r->is_judged)
    snprintf(text, size, "%s is compared with the fp64 answer here, when the row is finished", O.text);
  return *text == '\0' || (r->phase != ROW_FINISHED && r->n_overflowed == 0 && !has_overflowed(r));
}

static void draw_verdict(const Pen *pen, Box *body, bool is_large) {
  char text[192];
  const SnapshotRow *r = &pen->now->row;
  const bool well = verdict(pen->now, is_large, text, sizeof text), is_known = r->phase == ROW_FINISHED || !well;
  if (!*text) return;
  const Box line = box_cut_bottom(body, 1.5 * pen_size(pen, TYPE_BODY), 4 * pen->unit);
  pen_text(pen, TYPE_BODY,
           !is_known ? pen->theme->ink_soft
           : well    ? pen->theme->good
                     : pen->theme->bad,
           is_known, ANCHOR_START, line.x, line.y + 1.1 * pen_size(pen, TYPE_BODY), line.width, text);
}

void draw_softmax(const Pen *pen, Box box, bool is_large) {
  const SnapshotRow *r = &pen->now->row;
  const double u = pen->unit;
  char remark[96] = "";
  if (r->row >= 0) snprintf(remark, sizeof remark, "row %" PRId64, r->row);
  if (r->row >= 0 && r->tile >= 0)
    snprintf(remark + strlen(remark), sizeof remark - strlen(remark), ", tile %" PRId64, r->tile);
  if (r->row >= 0 && r->q_scale != 1)
    snprintf(remark + strlen(remark), sizeof remark - strlen(remark), ", Q × %" PRId64, r->q_scale);
  const bool is_softmax = pen->now->roles.is_softmax;
  Box body = pen_panel(pen, box,
                       !is_softmax                 ? "Values of a row"
                       : pen->now->grid.n_laps > 1 ? "Softmax"
                                                   : "Online softmax",
                       remark);
  if (!r->is_computed || r->row < 0 || is_combining(pen->now)) {
    draw_absence(pen, body, is_large);
    return;
  }
  draw_verdict(pen, &body, is_large);
  if (!is_softmax) {
    softmax_draw_values(pen, body, is_large);
    return;
  }
  if (is_large && pen->view->presentation) { /* one idea a screen: the row */
    Box right = box_cut_right(&body, 0.3 * body.width, 20 * u);
    softmax_draw_row(pen, body);
    softmax_draw_O(pen, box_at(right.x, right.y + 0.1 * right.height, right.width, 0.8 * right.height));
    return;
  }
  if (is_large) {
    const Box rows = box_cut_bottom(&body, 0.27 * body.height, 14 * u);
    Box right = box_cut_right(&body, 0.36 * body.width, 20 * u);
    softmax_draw_row(pen, body);
    if (pen->now->n_rows > 1)
      softmax_draw_small_rows(pen, rows);
    else
      softmax_draw_history(pen, rows);
    softmax_draw_formulas(pen, box_cut_top(&right, 0.44 * right.height, 16 * u), true);
    softmax_draw_O(pen, right);
    return;
  }
  const Box formulas = box_cut_bottom(&body, 4 * 1.55 * pen_size(pen, TYPE_SMALL), 6 * u);
  const Box O = box_cut_bottom(&body, fmin(0.36 * body.height, 60 * u), 8 * u);
  softmax_draw_row(pen, body);
  softmax_draw_O(pen, O);
  softmax_draw_formulas(pen, box_at(formulas.x + 8 * u, formulas.y, formulas.width - 8 * u, formulas.height), false);
}

static void draw(const Pen *pen) {
  const Box body = pen_page(pen, pen->now->schedule->title);
  draw_softmax(pen, body, !pen->is_tall);
}

const Scene SOFTMAX_SCENE = {.title = "Online softmax of one row", .key = '4', .draw = draw};
