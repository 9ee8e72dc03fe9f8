/* A row of scores and, below, its weights over the same columns: the maximum as a level, what is rescaled, blocks of
 * K and V in their lanes. */
#include <math.h>
#include <stdio.h>

#include "viz/scene/softmax_view.h"

static int tensor_of(const Snapshot *now, uint64_t names) {
  const int name = snapshot_first(names);
  return name < 0 ? 0 : now->schedule->names[name].tensor;
}

/* What the present event has changed so far, if it is of that kind: 0 to 1. */
static double happened(const Pen *pen, EventKind kind) { return pen->now->event.kind == kind ? pen_happened(pen) : 1; }

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
  snprintf(words, sizeof words, "%s = %s", label, softmax_number(value, number, sizeof number));
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
      pen_fill(pen, box_at(column.x, zero - 2 * pen->unit, column.width, 4 * pen->unit), t->grid, 1);
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
  snprintf(words, sizeof words, "× %s", softmax_number(r->factor, number, sizeof number));
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
  const Letters P = softmax_letters(pen->now, pen->now->roles.P);
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
  const Letters m = softmax_letters(pen->now, pen->now->roles.m);
  char scores[32], risen[16];
  snprintf(scores, sizeof scores, "scores %s", softmax_letters(pen->now, pen->now->roles.S).text);
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
  snprintf(words, sizeof words, "%s = %s", risen, softmax_number(r->m_new, number, sizeof number));
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
    pen_fill(pen, lane, pen->theme->grid, 0.6);
    if (lane.height > 0.8 * pen_size(pen, TYPE_SMALL))
      pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, true, ANCHOR_START, lane.x + lane.width + 8 * pen->unit,
               lane.y + lane.height / 2 + 0.36 * pen_size(pen, TYPE_SMALL), 0, pen_name(pen, t));
    if (!s) continue;
    const Box dock = tile_columns(p, lane, s->j),
              away = {lane.x + lane.width - dock.width / 2, lane.y, dock.width, lane.height};
    const bool comes = e->kind == EVENT_LOAD && (int)e->tensor == t;
    pen_body(pen, BODY_HOME, t, away, 1);
    pen_tile(pen, t, comes ? box_between(away, dock, happened_part) : dock,
             pen->theme->tile[pen_on_chip(pen, pen_talks_of(pen, t))], 1);
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
    const bool back = now->skips.goes_back;
    const Box first = tile_columns(p, p->K, now->skips.first),
              last = tile_columns(p, p->K, now->skips.first + now->skips.n - 1);
    const double from = first.x + (back ? (1 - part) * first.width : 0),
                 to = last.x + (back ? last.width : part * last.width);
    const Box strike = box_at(from, p->K.y + p->K.height / 2 - thick / 2, to - from, thick);
    pen_fill(pen, strike, pen->theme->tile[TILE_COLOUR_CURRENT], 1);
    const Box head = box_at((back ? from : to) - thick, strike.y - thick, 3 * thick, 3 * thick);
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

void softmax_draw_row(const Pen *pen, Box box) {
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
