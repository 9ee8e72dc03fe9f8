/* Online softmax of one row: the scores of the tile, the old and the new maximum, the factor that shrinks what came
 * before, the formulas with this row's numbers, and m and l of other rows of the tile, small. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/algorithms/walk/live.h"
#include "sim/numbers/evaluate.h"
#include "viz/scene/pen.h"
#include "viz/text/number.h"

static const char *short_number(double value, char *text, size_t size) {
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

/* ---- Names ------------------------------------------------------------------------------------------------- */

typedef struct {
  char text[PROGRAM_NAME_BYTES];
} Letters;

/* The first of these names, without subscripts and prime. */
static Letters letters_of(const Snapshot *now, uint64_t names) {
  Letters l = {""};
  const int name = snapshot_first(names);
  if (name >= 0) {
    const char *text = now->schedule->names[name].text;
    snprintf(l.text, sizeof l.text, "%.*s", (int)strcspn(text, "_'"), text);
  }
  return l;
}

static int tensor_of(const Snapshot *now, uint64_t names) {
  const int name = snapshot_first(names);
  return name < 0 ? 0 : now->schedule->names[name].tensor;
}

/* What the present event has changed so far, if it is of that kind: 0 to 1. */
static double happened(const Pen *pen, EventKind kind) { return pen->now->event.kind == kind ? pen_happened(pen) : 1; }

/* The same in fewer digits, for narrow places. */
static const char *shorter_number(double value, char *text, size_t size) {
  if (!isfinite(value) || fabs(value) >= 1000) return short_number(value, text, size);
  snprintf(text, size, "%s%.*f", value < 0 ? "−" : "", fabs(value) >= 100 ? 0 : fabs(value) >= 10 ? 1 : 2, fabs(value));
  return text;
}

/* ---- The row: scores above, weights below, over the same columns ------------------------------------------------ */

typedef struct {
  const Pen *pen;
  const SnapshotRow *r;
  Box K, V;            /* lanes where blocks wait over and under the columns that they belong to */
  Box scores, weights; /* the two plots */
  int64_t first, n;    /* columns shown: [first, first + n) */
  double low, high, largest;
  bool online;
} RowPlot;

static bool is_past(const RowPlot *p, int64_t col) {
  return p->pen->now->grid.reversed ? col >= p->r->col0 + p->r->n_cols : col < p->r->col0;
}
static bool is_of_tile(const RowPlot *p, int64_t col) {
  return p->r->tile >= 0 && col >= p->r->col0 && col < p->r->col0 + p->r->n_cols;
}

/* The score of a column as it stands: of the present tile only once it is computed; not a number: not known yet. */
static double score_at(const RowPlot *p, int64_t col) {
  const SnapshotLine *line = &p->pen->now->line;
  const int64_t k = col - line->first, of_tile = col - p->r->col0;
  if (p->r->tile < 0 || k < 0 || k >= line->n) return NAN;
  if (is_past(p, col)) return line->scores[k];
  if (p->r->phase < ROW_SCORES) return NAN;
  return of_tile < SNAPSHOT_SCORES ? p->r->scores[of_tile] : line->scores[k];
}

/* What the weights of earlier tiles are measured against: the old maximum, the new one, or on the way between. */
static double weight_of_past(const RowPlot *p, double score) {
  const SnapshotRow *r = p->r;
  if (r->without_max) return exp(score);
  if (!p->online) return r->phase >= ROW_ACCUMULATED ? exp(score - r->m_new) / r->l_new : 0;
  const double old = exp(score - r->m_old), new_ = exp(score - r->m_new);
  if (r->phase < ROW_RESCALED) return old;
  return old + (new_ - old) * happened(p->pen, EVENT_RESCALE);
}

static double weight_at(const RowPlot *p, int64_t col) {
  const SnapshotRow *r = p->r;
  const double score = score_at(p, col);
  if (isnan(score) || score == -INFINITY) return 0;
  if (is_past(p, col)) return weight_of_past(p, score);
  if (r->phase < ROW_ACCUMULATED) return 0;
  const int64_t k = col - r->col0;
  return k < SNAPSHOT_SCORES ? r->weights[k] : exp(score - (r->without_max ? 0 : r->m_new));
}

/* As far as the present event has got with it. */
static double weight_now(const RowPlot *p, int64_t col) {
  const double weight = weight_at(p, col);
  if (!is_of_tile(p, col) || !isfinite(weight)) return weight;
  return weight * happened(p->pen, p->online ? EVENT_ACCUMULATE : EVENT_NORMALISE);
}

/* The scale does not follow the present event, or bars would move with it: it holds all that the row has shown. */
static void set_range(RowPlot *p) {
  const SnapshotRow *r = p->r;
  const SnapshotLine *line = &p->pen->now->line;
  p->low = -0.25;
  p->high = 0.5;
  for (int64_t k = 0; k < line->n; k++) {
    if (!isfinite(line->scores[k])) continue;
    p->low = fmin(p->low, line->scores[k]);
    p->high = fmax(p->high, line->scores[k]);
  }
  if (isfinite(r->m_old)) {
    p->high = fmax(p->high, r->m_old);
    p->low = fmin(p->low, r->m_old);
  }
  const double room = p->high - p->low;
  p->low -= 0.08 * room;
  p->high += 0.12 * room;
  p->largest = p->online ? 1 : 1e-6;
  for (int64_t k = 0; k < p->n; k++) {
    const double weight = weight_at(p, p->first + k);
    if (isfinite(weight)) p->largest = fmax(p->largest, weight);
  }
}

static double level_of(const RowPlot *p, double value) {
  return p->scores.y + p->scores.height * (p->high - value) / (p->high - p->low);
}

static double gap_of(const Pen *pen, double cell) {
  return cell > 14 * pen->unit ? round(4 * pen->unit) : cell > 4 ? 1 : 0;
}

/* Column `col` of a plot. */
static Box column_of(const RowPlot *p, Box plot, int64_t col) {
  const double k = (double)(col - p->first), n = (double)p->n, gap = gap_of(p->pen, plot.width / n);
  const double left = floor(plot.x + plot.width * k / n), right = floor(plot.x + plot.width * (k + 1) / n);
  return box_at(left, plot.y, fmax(1, right - left - gap), plot.height);
}

/* All columns of tile j that are shown. */
static Box tile_columns(const RowPlot *p, Box plot, int64_t j) {
  const SnapshotGrid *g = &p->pen->now->grid;
  const double n = (double)p->n, from = fmax(0, fmin(n, (double)(j * g->B_c - p->first))),
               to = fmax(from, fmin(n, (double)((j + 1) * g->B_c - p->first)));
  const double x = plot.x + plot.width * from / n;
  return (Box){x, plot.y, fmax(3 * p->pen->unit, plot.width * (to - from) / n), plot.height};
}

static void draw_level(const Pen *pen, Box plot, double y, const char *label, double value, bool dashed, Colour colour,
                       bool above) {
  char number[32], words[64];
  const double small = pen_size(pen, TYPE_SMALL);
  snprintf(words, sizeof words, "%s = %s", label, short_number(value, number, sizeof number));
  if (dashed && !pen->hit) {
    const double dash[] = {6 * pen->unit, 4 * pen->unit};
    cairo_set_dash(pen->cr, dash, 2, 0);
  }
  pen_line(pen, colour, dashed ? 2 : 3, plot.x, y, plot.x + plot.width, y);
  pen_body(pen, BODY_LINE, tensor_of(pen->now, pen->now->roles.m), box_at(plot.x, y, plot.width, 2), 1);
  if (!pen->hit) cairo_set_dash(pen->cr, NULL, 0, 0);
  pen_text(pen, TYPE_SMALL, pen->theme->ink, !dashed, ANCHOR_START, plot.x + plot.width + 8 * pen->unit,
           y + (above ? -2 * pen->unit : 0.72 * small), 0, words);
}

static void draw_masked_column(const Pen *pen, Box column, double part) {
  const Box masked = box_at(column.x, column.y, column.width, column.height * part);
  if (pen->hit || masked.height <= 0) return;
  cairo_save(pen->cr);
  cairo_rectangle(pen->cr, masked.x, masked.y, masked.width, masked.height);
  cairo_clip(pen->cr);
  pen_hatch(pen, masked, theme_mix(pen->theme->panel, pen->theme->axis, 0.6));
  cairo_restore(pen->cr);
}

static void draw_scores(const RowPlot *p) {
  const Pen *pen = p->pen;
  const Theme *t = pen->theme;
  const SnapshotRow *r = p->r;
  const double zero = fmin(level_of(p, 0), p->scores.y + p->scores.height), grown = happened(pen, EVENT_PRODUCT);
  for (int64_t k = 0; k < p->n; k++) {
    const int64_t col = p->first + k;
    const Box column = column_of(p, p->scores, col);
    const double score = score_at(p, col);
    if (isnan(score)) { /* still to come */
      pen_fill(pen, box_at(column.x, zero - 2 * pen->unit, column.width, 4 * pen->unit), t->tile[TILE_COLOUR_WAITING],
               1);
      continue;
    }
    const bool is_now = is_of_tile(p, col);
    if (score == -INFINITY) {
      draw_masked_column(pen, column, is_now ? happened(pen, EVENT_MASK) : 1);
      continue;
    }
    const double y = level_of(p, score * (is_now ? grown : 1));
    const bool largest = is_now && r->phase >= ROW_MAX && score == r->block_max;
    const Colour colour = largest  ? t->tile[TILE_COLOUR_CURRENT]
                          : is_now ? t->tile[TILE_COLOUR_PARTIAL]
                                   : theme_mix(t->panel, t->tile[TILE_COLOUR_PARTIAL], 0.55);
    pen_fill(pen, box_at(column.x, fmin(y, zero), column.width, fmax(1, fabs(y - zero))), colour, 1);
  }
  pen_line(pen, t->axis, 1, p->scores.x, zero, p->scores.x + p->scores.width, zero);
}

/* The badge of the rescale: "× 0.773", over all that shrinks. */
static void draw_factor(const RowPlot *p) {
  const Pen *pen = p->pen;
  const SnapshotRow *r = p->r;
  char number[32], words[48];
  if (pen->now->event.kind != EVENT_RESCALE || r->without_max || !isfinite(r->m_old)) return;
  snprintf(words, sizeof words, "× %s", short_number(r->factor, number, sizeof number));
  const TypeSize type = p->weights.height > 4 * pen_size(pen, TYPE_TITLE) ? TYPE_TITLE : TYPE_BODY;
  const double size = pen_size(pen, type), width = pen_text_width(pen, type, true, words) + 16 * pen->unit;
  const double past = p->weights.width * (double)(r->col0 - p->first) / (double)p->n;
  const Box badge = box_at(p->weights.x + fmax(0, fmin(past / 2 - width / 2, p->weights.width - width)), p->weights.y,
                           width, 1.4 * size);
  pen_fill(pen, badge, pen->theme->tile[TILE_COLOUR_CURRENT], 1);
  pen_text(pen, type, theme_on(pen->theme->tile[TILE_COLOUR_CURRENT]), true, ANCHOR_MIDDLE, badge.x + badge.width / 2,
           badge.y + 1.03 * size, 0, words);
}

/* e^(S − m) of all columns so far: they sum to l. */
static void draw_weights(const RowPlot *p) {
  const Pen *pen = p->pen;
  const Theme *t = pen->theme;
  const SnapshotRow *r = p->r;
  const double floor_y = p->weights.y + p->weights.height - 1;
  const bool rescales = pen->now->event.kind == EVENT_RESCALE && r->factor != 1 && isfinite(r->m_old);
  char label[48];
  const Letters P = letters_of(pen->now, pen->now->roles.P);
  for (int64_t k = 0; k < p->n; k++) {
    const int64_t col = p->first + k;
    const double weight = weight_now(p, col);
    if (weight == 0) continue;
    const bool finite = isfinite(weight);
    const double height = round((finite ? weight / p->largest : 1) * (p->weights.height - 2));
    const Box column = column_of(p, p->weights, col);
    const Colour colour = !finite                            ? t->bad
                          : rescales && is_past(p, col)      ? t->tile[TILE_COLOUR_CURRENT]
                          : is_of_tile(p, col) || !p->online ? t->tile[TILE_COLOUR_DONE]
                                                             : theme_mix(t->panel, t->tile[TILE_COLOUR_DONE], 0.75);
    pen_fill(pen, box_at(column.x, floor_y - height, column.width, height), colour, 1);
  }
  pen_line(pen, t->axis, 1, p->weights.x, floor_y, p->weights.x + p->weights.width, floor_y);
  if (p->largest <= 1 && p->online)
    snprintf(label, sizeof label, "%s, 0 to 1", P.text);
  else if (p->largest < 1 && r->phase < ROW_ACCUMULATED)
    snprintf(label, sizeof label, "%s", P.text);
  else
    snprintf(label, sizeof label, "%s, 0 to %.3g", P.text, p->largest);
  if (p->weights.height > 1.3 * pen_size(pen, TYPE_SMALL)) /* below the scores' own words */
    pen_text(pen, TYPE_SMALL, t->ink, false, ANCHOR_START, p->weights.x + p->weights.width + 8 * pen->unit, floor_y, 0,
             label);
  draw_factor(p);
}

static void draw_maximum(const RowPlot *p) {
  const Pen *pen = p->pen;
  const Theme *t = pen->theme;
  const SnapshotRow *r = p->r;
  const Letters m = letters_of(pen->now, pen->now->roles.m);
  char scores[32], risen[16];
  snprintf(scores, sizeof scores, "scores %s", letters_of(pen->now, pen->now->roles.S).text);
  snprintf(risen, sizeof risen, "%s′", m.text);
  const double small = pen_size(pen, TYPE_SMALL), bottom = p->scores.y + p->scores.height,
               level = isfinite(r->m_old) ? level_of(p, r->m_old) : bottom;
  if (bottom - level > 2.2 * small || (!p->online && r->phase < ROW_MAX))
    pen_text(pen, TYPE_SMALL, r->phase >= ROW_SCORES ? t->ink : t->ink_soft, false, ANCHOR_START,
             p->scores.x + p->scores.width + 8 * pen->unit, bottom, 0, scores);
  if (r->tile < 0 || (!p->online && r->phase < ROW_MAX)) return;
  const bool rises = r->phase >= ROW_MAX && r->m_new > r->m_old;
  const double goal = isfinite(r->m_new) && r->phase >= ROW_MAX ? level_of(p, r->m_new) : level;
  const double now = level + (goal - level) * happened(pen, EVENT_NEW_MAX);
  draw_level(pen, p->scores, level, m.text, r->m_old, true, t->axis,
             rises && level - goal < 1.6 * small ? false : !isfinite(r->m_old));
  if (!rises) return;
  const bool is_moving = now != goal; /* its words wait where it goes, the line is on its way */
  if (is_moving) pen_line(pen, t->series[INK_ORANGE], 3, p->scores.x, now, p->scores.x + p->scores.width, now);
  if (is_moving)
    pen_body(pen, BODY_LINE, tensor_of(pen->now, pen->now->roles.m), box_at(p->scores.x, now, p->scores.width, 2), 1);
  char number[32], words[64];
  snprintf(words, sizeof words, "%s = %s", risen, short_number(r->m_new, number, sizeof number));
  if (!is_moving)
    draw_level(pen, p->scores, goal, risen, r->m_new, false, t->series[INK_ORANGE], true);
  else
    pen_text(pen, TYPE_SMALL, t->ink, true, ANCHOR_START, p->scores.x + p->scores.width + 8 * pen->unit,
             goal - 2 * pen->unit, 0, words);
}

/* Blocks that come and go, each in its lane: K over the scores that it makes, V under the weights that it takes, and
 * what else moves from the right. */
static void draw_traffic(const RowPlot *p) {
  const Pen *pen = p->pen;
  const Snapshot *now = pen->now;
  const Event *e = &now->event;
  const Colour orange = pen->theme->tile[TILE_COLOUR_CURRENT];
  const bool moves = event_moves(e->kind);
  const double happened_part = pen_happened(pen);
  for (int k = 0; k < 2; k++) {
    const int t = snapshot_operand(now, k ? 2 : 1);
    const Box lane = k ? p->V : p->K;
    const SnapshotSlot *s = NULL;
    for (int m = 0; m < now->schedule->n_values; m++)
      if (now->slots[m].is_filled && now->slots[m].tensor == t) s = &now->slots[m];
    pen_fill(pen, lane, pen->theme->tile[TILE_COLOUR_WAITING], 0.6);
    if (lane.height > 0.8 * pen_size(pen, TYPE_SMALL))
      pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, true, ANCHOR_START, lane.x + lane.width + 8 * pen->unit,
               lane.y + lane.height / 2 + 0.36 * pen_size(pen, TYPE_SMALL), 0, pen_name(pen, t));
    if (!s) continue;
    const Box dock = tile_columns(p, lane, s->j),
              away = {lane.x + lane.width - dock.width / 2, lane.y, dock.width, lane.height};
    const bool comes = e->kind == EVENT_LOAD && (int)e->tensor == t;
    pen_body(pen, BODY_HOME, t, away, 1);
    pen_tile(pen, t, comes ? box_between(away, dock, happened_part) : dock, pen_lit(pen, orange, pen_talks_of(pen, t)),
             1);
  }
  if (!moves || e->tensor == snapshot_operand(now, 1) || e->tensor == snapshot_operand(now, 2) || pen_passing(pen) <= 0)
    return;
  const double side = 1.5 * pen_size(pen, TYPE_BODY);
  const bool is_score = snapshot_lies(now, e->tensor) == LIES_BY_TILES;
  const Box plot = is_score ? p->scores : p->weights, right = {plot.x + plot.width - side, plot.y, side, side};
  const Box left = is_score && e->j >= 0 ? tile_columns(p, (Box){plot.x, plot.y, plot.width, side}, e->j)
                                         : (Box){plot.x, plot.y, side, side};
  const double part = e->kind == EVENT_LOAD ? 1 - happened_part : happened_part;
  pen_tile(pen, e->tensor, box_between(left, right, part), orange, pen_passing(pen));
}

/* What the event looks at: an edge over it. Skipped tiles are struck out. */
static void draw_row_work(const RowPlot *p) {
  const Pen *pen = p->pen;
  const Snapshot *now = pen->now;
  const Event *e = &now->event;
  const double passing = pen_passing(pen), part = pen_happened(pen);
  if (e->kind == EVENT_SKIP && now->skips.n > 0 && !now->grid.column_by_column) {
    const double thick = fmax(2, round(4 * pen->unit));
    const Box first = tile_columns(p, p->K, now->skips.first), last = tile_columns(p, p->K, e->j);
    const Box strike =
        box_at(first.x, p->K.y + p->K.height / 2 - thick / 2, last.x + part * last.width - first.x, thick);
    pen_fill(pen, strike, pen->theme->tile[TILE_COLOUR_CURRENT], 1);
    const Box head = box_at(strike.x + strike.width - thick, strike.y - thick, 3 * thick, 3 * thick);
    pen_fill(pen, head, pen->theme->tile[TILE_COLOUR_CURRENT], 1);
    pen_body(pen, BODY_LINE, snapshot_operand(now, 1), head, 1);
  }
  if (e->kind == EVENT_SKIP && now->grid.column_by_column)
    pen_edge(pen, snapshot_operand(now, 0), p->K, true, part, passing);
  if (p->r->tile < 0) return;
  const Box tile = tile_columns(p, p->scores, p->r->tile);
  if (e->kind == EVENT_NEW_MAX || e->kind == EVENT_MASK || e->kind == EVENT_PRODUCT)
    pen_edge(pen, tensor_of(now, now->roles.S), box_at(tile.x, tile.y, tile.width, tile.height), true, part, passing);
  if (e->kind == EVENT_RESCALE && p->r->col0 > p->first) {
    const Box past = box_at(p->weights.x, p->weights.y, tile.x - p->weights.x, p->weights.height);
    pen_edge(pen, tensor_of(now, now->roles.m), past, false, part, passing);
  } else if (e->kind == EVENT_RESCALE || e->kind == EVENT_NORMALISE || (e->kind == EVENT_ACCUMULATE && !p->online))
    pen_edge(pen, tensor_of(now, now->roles.O), p->weights, true, part, passing);
}

static void draw_row(const Pen *pen, Box box) {
  const Snapshot *now = pen->now;
  RowPlot p = {.pen = pen, .r = &now->row, .online = now->grid.n_laps <= 1};
  const double labels = 7.4 * pen_size(pen, TYPE_SMALL),
               lane = fmax(4 * pen->unit, fmin(22 * pen->unit, 0.07 * box.height));
  box_cut_right(&box, labels, 0);
  p.K = box_cut_top(&box, lane, 0.95 * pen_size(pen, TYPE_SMALL)); /* the upper label stands over its line */
  p.V = box_cut_bottom(&box, lane, 5 * pen->unit);
  p.weights = box_cut_bottom(&box, 0.42 * box.height, 8 * pen->unit);
  p.scores = box;
  p.first = now->line.n > 0 ? now->line.first : 0;
  const int64_t left = now->grid.N_k - p.first;
  p.n = left < SNAPSHOT_LINE ? left : SNAPSHOT_LINE;
  if (p.n < 1 || p.scores.height < 4 || p.weights.height < 4 || box.width < 8) return;
  set_range(&p);
  const Box past = {p.weights.x, p.weights.y, p.weights.width + labels, p.weights.height};
  pen_part(pen, "scores", (Box){p.scores.x, p.scores.y, p.scores.width, p.scores.height});
  pen_part(pen, "maximum",
           (Box){p.scores.x, p.scores.y - lane / 2, p.scores.width + labels, p.scores.height + lane / 2});
  pen_part(pen, "weights", past);
  pen_part(pen, "factor", past);
  draw_scores(&p);
  draw_weights(&p);
  draw_maximum(&p);
  draw_traffic(&p);
  draw_row_work(&p);
}

/* ---- Numbers --------------------------------------------------------------------------------------------- */

typedef struct {
  char name[16];
  RowPhase phase; /* when it is worked out */
  char formula[160];
} Line;

/* Standard attention has the whole row before it takes the maximum, so nothing is rescaled. */
static void fill_standard_lines(const Snapshot *now, Line lines[4]) {
  const SnapshotRow *r = &now->row;
  const SnapshotRoles *is = &now->roles;
  const Letters m = letters_of(now, is->m), l = letters_of(now, is->l), S = letters_of(now, is->S),
                P = letters_of(now, is->P), O = letters_of(now, is->O);
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
    snprintf(lines[0].formula, sizeof lines[0].formula, "max of the row = %s", short_number(r->m_new, a, sizeof a));
  snprintf(lines[1].formula, sizeof lines[1].formula, "sum of e^(%s − %s) = %s", S.text, m.text,
           short_number(r->l_new, a, sizeof a));
}

static void fill_lines(const Snapshot *now, bool is_large, Line lines[4]) {
  const SnapshotRow *r = &now->row;
  const Letters P = letters_of(now, now->roles.P), O = letters_of(now, now->roles.O);
  const char *V = now->schedule->tensors[snapshot_operand(now, 2)].text;
  char a[32], b[32], c[32], d[32];
  const char *(*number)(double, char *, size_t) = is_large ? short_number : shorter_number;
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

static void draw_formulas(const Pen *pen, Box box, bool is_large) {
  const Theme *t = pen->theme;
  const TypeSize type = is_large ? TYPE_HEAD : TYPE_SMALL;
  Line lines[4] = {
      {"", ROW_MAX, ""}, {"factor", ROW_RESCALED, ""}, {"", ROW_ACCUMULATED, ""}, {"", ROW_ACCUMULATED, ""}};
  snprintf(lines[0].name, sizeof lines[0].name, "%s′", letters_of(pen->now, pen->now->roles.m).text);
  snprintf(lines[2].name, sizeof lines[2].name, "%s′", letters_of(pen->now, pen->now->roles.l).text);
  snprintf(lines[3].name, sizeof lines[3].name, "%s′", letters_of(pen->now, pen->now->roles.O).text);
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
    pen_text(pen, type, known ? t->ink : t->ink_soft, now, ANCHOR_START, row.x + name, base, row.width - name,
             known ? lines[k].formula : "…");
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
static void draw_O(const Pen *pen, Box box) {
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
  const Letters l_name = letters_of(pen->now, pen->now->roles.l), O_name = letters_of(pen->now, pen->now->roles.O);
  char was[48], is[48];
  snprintf(was, sizeof was, "%s, %s before", l_name.text, O_name.text);
  snprintf(is, sizeof is, finished ? "%s, %s / %s" : "%s, %s now", l_name.text, O_name.text, l_name.text);
  draw_state(pen, before, was, r->l_old, largest_l, r->O_old, largest, t->axis);
  draw_state(pen, box, is, l, largest_l, O, largest,
             rescales || adds ? t->tile[TILE_COLOUR_CURRENT] : t->tile[TILE_COLOUR_DONE]);
}

/* ---- Rows beside each other ------------------------------------------------------------------------------ */

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
  snprintf(words, sizeof words, "%s %s", letters_of(pen->now, pen->now->roles.m).text,
           short_number(r->m, number, sizeof number));
  pen_text(pen, TYPE_SMALL, ink, false, ANCHOR_START, m.x, m.y + 1.2 * small, m.width, words);
  snprintf(words, sizeof words, "%s %s", letters_of(pen->now, pen->now->roles.l).text,
           short_number(r->l, number, sizeof number));
  pen_text(pen, TYPE_SMALL, ink, false, ANCHOR_START, l.x, l.y + small, l.width, words);
  const double from = l.x + pen_text_width(pen, TYPE_SMALL, false, words) + 6 * u, room = l.x + l.width - from;
  if (scale->largest_l > 0 && isfinite(r->l) && room > 0)
    pen_fill(pen, box_at(from, l.y + 0.45 * small, room * r->l / scale->largest_l, 0.4 * small), t->axis, 1);
}

static void draw_small_rows(const Pen *pen, Box box) {
  const Snapshot *now = pen->now;
  const SmallScale scale = small_scale(now);
  const double small = pen_size(pen, TYPE_SMALL), gap = 16 * pen->unit, n = fmax(now->n_rows, SNAPSHOT_ROWS / 2),
               width = floor((box.width - gap * (n - 1)) / n);
  const Box head = box_cut_top(&box, 1.7 * small, 0);
  char words[96];
  snprintf(words, sizeof words,
           now->row.without_max ? "Rows of this tile: %s is left out, 0 at every tile"
                                : "Rows of this tile: %s after each tile, a dot where it rose",
           letters_of(now, now->roles.m).text);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, head.x, head.y + small, head.width, words);
  for (int k = 0; k < now->n_rows; k++) draw_small_row(pen, box_cut_left(&box, width, gap), &now->rows[k], &scale);
}

/* The same of the large row alone, where it has none beside it. */
static void draw_history(const Pen *pen, Box box) {
  const SnapshotRow *r = &pen->now->row;
  const double small = pen_size(pen, TYPE_SMALL);
  char words[96];
  snprintf(words, sizeof words,
           r->without_max ? "%s is left out: 0 at every tile" : "%s after each tile; a dot where it rose",
           letters_of(pen->now, pen->now->roles.m).text);
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

/* ---- Values by their own names ----------------------------------------------------------------------------- */

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
static void draw_values(const Pen *pen, Box box, bool is_large) {
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
    short_number((now->live >> names[k] & 1) ? v->before : NAN, before, sizeof before);
    short_number(v->now, after, sizeof after);
    pen_text(pen, type, t->ink_soft, false, ANCHOR_END, x + name + number, base, 0, is_made ? before : "");
    pen_text(pen, type, pen_ink(pen, is_made), is_made, ANCHOR_END, x + name + 2 * number, base, 0, after);
    if (is_tile(of) && x + name + 2 * number + 8 * size < row.x + row.width)
      pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, x + name + 2 * number + size, base, 0,
               "largest of the row");
  }
}

/* ---- Together -------------------------------------------------------------------------------------------- */

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
  const Letters O = letters_of(now, now->roles.O);
  text[0] = '\0';
  if (r->phase == ROW_FINISHED && isfinite(r->error_ulps)) {
    ulps_number(r->error_ulps, ulps, sizeof ulps);
    if (r->error_ulps > most_ulps(now)) {
      snprintf(text, size, "%s is wrong: %s ulps of %s from the fp64 answer", O.text, ulps, dtype);
      return false;
    }
    if (is_large)
      snprintf(text, size, "%s is within %s ulps of %s of the fp64 answer", O.text, ulps, dtype);
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
    snprintf(text, size, "When the row is finished, %s is held against the fp64 answer here", O.text);
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
    draw_values(pen, body, is_large);
    return;
  }
  if (is_large && pen->view->presentation) { /* one idea a screen: the row */
    Box right = box_cut_right(&body, 0.3 * body.width, 20 * u);
    draw_row(pen, body);
    draw_O(pen, box_at(right.x, right.y + 0.1 * right.height, right.width, 0.8 * right.height));
    return;
  }
  if (is_large) {
    const Box rows = box_cut_bottom(&body, 0.27 * body.height, 14 * u);
    Box right = box_cut_right(&body, 0.36 * body.width, 20 * u);
    draw_row(pen, body);
    if (pen->now->n_rows > 1)
      draw_small_rows(pen, rows);
    else
      draw_history(pen, rows);
    draw_formulas(pen, box_cut_top(&right, 0.44 * right.height, 16 * u), true);
    draw_O(pen, right);
    return;
  }
  const Box formulas = box_cut_bottom(&body, 4 * 1.55 * pen_size(pen, TYPE_SMALL), 6 * u);
  const Box O = box_cut_bottom(&body, fmin(0.36 * body.height, 60 * u), 8 * u);
  draw_row(pen, body);
  draw_O(pen, O);
  draw_formulas(pen, box_at(formulas.x + 8 * u, formulas.y, formulas.width - 8 * u, formulas.height), false);
}

static void draw(const Pen *pen) {
  const Box body = pen_page(pen, pen->now->schedule->title);
  draw_softmax(pen, body, !pen->is_tall);
}

const Scene SOFTMAX_SCENE = {.title = "Online softmax of one row", .key = '4', .draw = draw};
