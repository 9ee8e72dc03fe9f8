/* What moves over the tiles.
 *
 *         K ▪▪▪▪▪▪▪        A block drops from its strip to the tile that needs it, or waits at the head of its row or
 *           │  ↓           column when it is there for all of it; scores fill the tile, and flow as weights to O; what
 *       Q ▪→┌──▓──→▪ O     was there before fades. Where a body is follows from the snapshot and the phase alone. */
#include <stdio.h>

#include "viz/scene/grid_view.h"
#include "viz/text/number.h"

static bool is_small(const Grid *v) { return min2(v->cell_x, v->cell_y) < 7 * v->pen->unit; }

/* A tile as it is shown where something happens in it: never so small that it cannot be seen. */
static Box shown_tile(const Grid *v, int64_t i, int64_t j) {
  const Box tile = grid_tile(v, i, j);
  const double side = round(13 * v->pen->unit);
  if (!is_small(v)) return tile;
  return box_at(tile.x + tile.width / 2 - side / 2, tile.y + tile.height / 2 - side / 2, side, side);
}

static bool has_strip(const Grid *v, int tensor) { return v->strips[tensor].width > 0 && !is_scores(v, tensor); }

int grid_rank(const Grid *v, int tensor) {
  const bool upright = is_upright(v, tensor);
  const int *const order = upright ? v->upright : v->flat, n = upright ? v->n_upright : v->n_flat,
                   n_first = upright ? v->n_left : v->n_top;
  for (int k = 0; k < n; k++)
    if (order[k] == tensor) return k < n_first ? n_first - 1 - k : k - n_first;
  return 0;
}

/* What comes with every tile goes to the tile; what stays for a row or a column of them waits at its head. */
static bool is_inner(const Grid *v, int tensor) { return is_upright(v, tensor) == v->g->column_by_column; }

static double bar_width(const Grid *v) {
  return round(fmax(4 * v->pen->unit, min2(0.17 * min2(v->cell_x, v->cell_y), 14 * v->pen->unit)));
}

/* A block's place in HBM: in the strip at the edge. What has none, statistics and what stays on chip, comes from beyond
 * the last strip at the right, or below. */
static Box home_of(const Grid *v, int tensor, int64_t block) {
  const double least = round(3 * v->pen->unit), beyond = 3 * v->pen->unit;
  const bool upright = is_upright(v, tensor);
  Box strip = v->strips[tensor];
  if (!has_strip(v, tensor)) {
    const int last = upright ? (v->n_upright > v->n_left ? v->upright[v->n_upright - 1] : -1)
                             : (v->n_flat > v->n_top ? v->flat[v->n_flat - 1] : -1);
    strip = last >= 0 ? v->strips[last] : box_at(v->box.x, v->box.y, v->box.width, v->box.height);
    strip = upright ? box_at(strip.x + strip.width + beyond, strip.y, least, strip.height)
                    : box_at(strip.x, strip.y + strip.height + beyond, strip.width, least);
  }
  if (upright)
    return box_at(strip.x, strip.y + floor(v->cell_y * (double)block), strip.width, fmax(least, v->cell_y - v->gap));
  return box_at(strip.x + floor(v->cell_x * (double)block), strip.y, fmax(least, v->cell_x - v->gap), strip.height);
}

/* A tile of scores in HBM: in the whole matrix where it is shown, else left of the row. */
static Box stored_tile(const Grid *v, int tensor, int64_t i, int64_t j) {
  const Box all = v->strips[tensor];
  if (all.width <= 0) {
    if (v->n_left > 0) return home_of(v, v->upright[0], i);
    return box_at(v->box.x - 20 * v->pen->unit, v->box.y + floor(v->cell_y * (double)i), 12 * v->pen->unit,
                  fmax(2, v->cell_y - v->gap));
  }
  const double x = all.width / (double)v->g->T_c, y = all.height / (double)v->g->T_r, least = round(4 * v->pen->unit);
  return (Box){all.x + x * (double)j, all.y + y * (double)i, fmax(least, x), fmax(least, y)};
}

/* Where a block lies while it is on chip: those that come with every tile in it, inputs at its top and left, others at
 * its right and bottom; what stays for a row or column of tiles at its head. Statistics lie inside the results. */
static Box dock_of(const Grid *v, int tensor, int64_t i, int64_t j) {
  const double bar = bar_width(v), rail = round(2 * v->pen->unit), width = fmax(3, round(8 * v->pen->unit));
  const bool upright = is_upright(v, tensor), first = is_input(v, tensor), is_thin = !has_strip(v, tensor);
  const int rank = is_thin ? 1
                   : first ? grid_rank(v, tensor)
                           : grid_rank(v, tensor) * 2; /* from the tile's edge, or tiles' */
  if (is_inner(v, tensor) && i >= 0 && j >= 0) {
    const Box t = shown_tile(v, i, j);
    const int on_top = first && !upright ? v->n_top - 1 - rank : rank; /* in reading order */
    const double at = on_top * (bar + 1);
    if (upright) return box_at(first ? t.x + at : t.x + t.width - bar - at, t.y, bar, t.height);
    return box_at(t.x, first ? t.y + at : t.y + t.height - bar - at, t.width, bar);
  }
  const Box home = home_of(v, tensor, upright ? i : j);
  const double at = rail + rank * (width + 1), size = is_thin ? width / 2 : width;
  if (upright)
    return box_at(first ? v->box.x - at - width : v->box.x + v->box.width - v->gap + at, home.y, size, home.height);
  return box_at(home.x, first ? v->box.y - at - width : v->box.y + v->box.height - v->gap + at, home.width, size);
}

/* The block that fills the side of tiles of what is on chip; -1: none. */
static int64_t block_on_chip(const Grid *v, const SnapshotSlot *slots, bool upright) {
  int64_t block = -1;
  for (int t = v->pen->now->schedule->n_values - 1; t >= 0; t--) {
    if (!slots[t].is_filled || (!is_scores(v, slots[t].tensor) && is_upright(v, slots[t].tensor) != upright)) continue;
    if ((upright ? slots[t].i : slots[t].j) >= 0) block = upright ? slots[t].i : slots[t].j;
  }
  return block;
}

/* The tile that a block on chip belongs to: its own index, and the other one from what is on chip with it. */
static Box dock_of_slot(const Grid *v, const SnapshotSlot *slots, int slot) {
  const SnapshotSlot *s = &slots[slot];
  const bool upright = is_upright(v, s->tensor);
  return dock_of(v, s->tensor, upright ? s->i : block_on_chip(v, slots, true),
                 upright ? block_on_chip(v, slots, false) : s->j);
}

static bool is_same_block(const SnapshotSlot *a, const SnapshotSlot *b) {
  return a->is_filled && b->is_filled && a->tensor == b->tensor && a->i == b->i && a->j == b->j;
}

/* How much of what was there before is still seen. */
static double fading(const Pen *pen) {
  const double phase = pen->view->phase;
  return phase > 0 && phase < 1 ? 1 - phase : 0;
}

/* What is drawn at the sides of the tiles: not the tiles themselves, and not what stays on chip, but statistics. */
static bool is_beside(const Grid *v, int tensor) { return value_of(v, tensor)->is_stats || has_strip(v, tensor); }

/* Blocks on chip, the one on its way, and those that were there before. */
static void draw_blocks(const Grid *v) {
  const Pen *pen = v->pen;
  const Snapshot *now = pen->now;
  const Event *e = &now->event;
  const Colour orange = pen->theme->tile[TILE_COLOUR_CURRENT];
  for (int k = 0; k < now->schedule->n_values; k++) {
    const SnapshotSlot *s = &now->slots[k], *old = &now->before.slots[k];
    const int t = s->tensor;
    const bool has_left = event_goes_out(now->before.event.kind) && now->before.event.tensor == old->tensor;
    if (old->is_filled && !is_same_block(s, old) && !has_left && is_beside(v, old->tensor))
      pen_tile(pen, old->tensor, dock_of_slot(v, now->before.slots, k), orange, fading(pen));
    if (!s->is_filled || !is_beside(v, t)) continue;
    const Box dock = dock_of_slot(v, now->slots, k), home = home_of(v, t, is_upright(v, t) ? s->i : s->j);
    const bool moves = e->bytes > 0 && e->tensor == t;
    const double part = !moves ? 0 : e->kind == EVENT_LOAD ? 1 - pen_happened(pen) : pen_happened(pen);
    const bool is_made = !moves && !is_same_block(s, old); /* by this event, on chip: it comes softly */
    pen_body(pen, BODY_HOME, t, home, 1);
    pen_tile(pen, t, box_between(dock, home, part), pen->theme->tile[pen_on_chip(pen, moves || pen_talks_of(pen, t))],
             is_made ? 1 - fading(pen) : 1);
  }
}

/* What the event does to a result on chip: an edge goes over it. */
static void draw_change(const Grid *v) {
  const Pen *pen = v->pen;
  const Snapshot *now = pen->now;
  const int kind = now->event.kind;
  if (kind != EVENT_RESCALE && kind != EVENT_NORMALISE && kind != EVENT_ACCUMULATE && kind != EVENT_NEW_MAX) return;
  for (int k = 0; k < now->schedule->n_values; k++) {
    const SnapshotSlot *s = &now->slots[k];
    if (!s->is_filled || !s->is_touched || is_input(v, s->tensor) || !is_beside(v, s->tensor)) continue;
    if (value_of(v, s->tensor)->is_stats && kind != EVENT_NEW_MAX) continue;
    pen_edge(pen, s->tensor, box_inset(dock_of_slot(v, now->slots, k), -2 * pen->unit), !is_upright(v, s->tensor),
             pen_happened(pen), pen_passing(pen));
  }
}

/* The tile of scores that is on chip; else what the present event is about. */
static const SnapshotSlot *scores_on_chip(const Snapshot *now) {
  const SnapshotSlot *found = NULL;
  for (int k = 0; k < now->schedule->n_values; k++) {
    const SnapshotSlot *s = &now->slots[k];
    if (!s->is_filled || snapshot_lies(now, s->tensor) != LIES_BY_TILES || s->i != now->grid.i || s->j != now->grid.j)
      continue;
    if (!found || s->is_touched) found = s;
  }
  return found;
}

static int now_scores(const Grid *v) {
  const SnapshotSlot *s = scores_on_chip(v->pen->now);
  return s ? s->tensor : v->pen->now->event.tensor;
}

static void draw_strike(const Grid *v, const SnapshotSkips *k, int64_t line, double part, double alpha) {
  const Pen *pen = v->pen;
  const Theme *t = pen->theme;
  const bool by_column = v->g->column_by_column;
  if (k->n <= 0 || line < 0 || alpha <= 0) return;
  const int64_t last = k->first + k->n - 1;
  const Box a = by_column ? grid_tile(v, k->first, line) : grid_tile(v, line, k->first),
            b = by_column ? grid_tile(v, last, line) : grid_tile(v, line, last);
  const double thick = fmax(2, round(4 * pen->unit));
  const double cell = by_column ? v->cell_y : v->cell_x, from = k->goes_back ? (1 - part) * cell : 0,
               to = (by_column ? b.y - a.y : b.x - a.x) + (k->goes_back ? cell : part * cell),
               at = k->goes_back ? from : to, end = 2.2 * thick;
  Box strike, head;
  if (by_column) {
    strike = box_at(a.x + a.width / 2 - thick / 2, a.y + from, thick, to - from);
    head = box_at(strike.x + thick / 2 - end / 2, a.y + at - end / 2, end, end);
  } else {
    strike = box_at(a.x + from, a.y + a.height / 2 - thick / 2, to - from, thick);
    head = box_at(a.x + at - end / 2, strike.y + thick / 2 - end / 2, end, end);
  }
  pen_fill(pen, strike, t->tile[TILE_COLOUR_CURRENT], alpha);
  pen_body(pen, BODY_LINE, now_scores(v), head, alpha);
  pen_fill(pen, head, t->tile[TILE_COLOUR_CURRENT], alpha);
  if (alpha == 1) pen_frame(pen, head, t->ink, 1.2);
}

/* "spared: 1.75 KiB", on the tiles that are struck out, where they leave room for it. */
static void draw_spared(const Grid *v) {
  const Pen *pen = v->pen;
  const Snapshot *now = pen->now;
  char words[NUMBER_CHARS + 24];
  if (now->skips.n <= 0 || now->skips.bytes == 0 || v->g->column_by_column) return;
  const Box a = grid_tile(v, now->event.i, now->skips.first),
            b = grid_tile(v, now->event.i, now->skips.first + now->skips.n - 1);
  snprintf(words, sizeof words, "spared: %s", number_bytes(now->skips.bytes).text);
  const double size = pen_size(pen, TYPE_BODY), width = pen_text_width(pen, TYPE_BODY, true, words) + 14 * pen->unit;
  if (b.x + b.width - a.x < width || a.height < 1.6 * size) return;
  const Box badge =
      box_at(a.x + (b.x + b.width - a.x - width) / 2, a.y + a.height / 2 - 0.75 * size, width, 1.5 * size);
  if (badge.x < v->box.x || badge.x + badge.width > v->box.x + v->box.width || badge.y < v->box.y ||
      badge.y + badge.height > v->box.y + v->box.height)
    return; /* beyond the lens */
  pen_fill(pen, badge, pen->theme->tile[TILE_COLOUR_CURRENT], 1);
  pen_text(pen, TYPE_BODY, theme_on(pen->theme->tile[TILE_COLOUR_CURRENT]), true, ANCHOR_MIDDLE,
           badge.x + badge.width / 2, badge.y + 1.08 * size, 0, words);
}

static void draw_mask_of(const Grid *v, Box tile, double alpha) {
  const SnapshotGrid *g = v->g;
  if (v->pen->hit || alpha <= 0 || is_small(v)) return;
  cairo_t *cr = v->pen->cr;
  cairo_save(cr);
  cairo_rectangle(cr, tile.x, tile.y, tile.width, tile.height);
  cairo_clip(cr);
  cairo_new_path(cr);
  grid_path_of_masked(v, tile, g->i, g->j);
  theme_use(cr, v->pen->theme->background, alpha);
  cairo_fill(cr);
  cairo_restore(cr);
}

/* The scores of the present tile: they fill it, are looked at, become weights, and flow to O. */
static void draw_scores_of_tile(const Grid *v, Box tile) {
  const Pen *pen = v->pen;
  const Snapshot *now = pen->now;
  const Theme *t = pen->theme;
  const int kind = now->event.kind;
  const SnapshotSlot *scores = scores_on_chip(now);
  const bool there = scores != NULL, comes = kind == EVENT_LOAD && is_scores(v, now->event.tensor);
  const double part = pen_happened(pen);
  const Colour orange = t->tile[TILE_COLOUR_CURRENT], pale = theme_mix(t->background, orange, 0.35);
  const double filled = !there ? 0 : kind == EVENT_PRODUCT ? part : comes && part < 1 ? 0 : 1;
  if (there) pen_body(pen, BODY_HOME, scores->tensor, tile, 1);
  pen_fill(pen, tile, pale, 1);
  pen_fill(pen, box_at(tile.x, tile.y, round(filled * tile.width), tile.height), orange, 1);
  if (there && now->event.tile == TILE_PARTIAL && kind != EVENT_PRODUCT)
    draw_mask_of(v, tile, 0.62 * (kind == EVENT_MASK ? part : 1));
  if (kind == EVENT_PRODUCT || kind == EVENT_NEW_MAX || kind == EVENT_MASK ||
      (kind == EVENT_NORMALISE && is_scores(v, now->event.tensor)))
    pen_edge(pen, now_scores(v), tile, true, part, pen_passing(pen));
}

static void draw_flow_of_tile(const Grid *v, Box tile) {
  const Pen *pen = v->pen;
  const Snapshot *now = pen->now;
  const Event *e = &now->event;
  const Colour orange = pen->theme->tile[TILE_COLOUR_CURRENT];
  const double part = pen_happened(pen);
  const bool is_score = is_scores(v, e->tensor);
  if (e->kind == EVENT_ACCUMULATE && !is_score && lies(v, e->tensor) != LIES_APART && e->j >= 0 &&
      pen_passing(pen) > 0) {
    int weights = snapshot_subject(now, e, LIES_BY_TILES, true);
    if (weights < 0) weights = snapshot_subject(now, e, LIES_BY_TILES, false);
    if (weights >= 0)
      pen_tile(pen, weights, box_between(tile, dock_of(v, e->tensor, e->i, e->j), part), orange,
               fmin(1, 4 * (1 - pen->view->phase)));
  }
  if (is_score && e->bytes > 0) {
    const Box away = stored_tile(v, e->tensor, e->i, e->j);
    pen_body(pen, BODY_HOME, e->tensor, away, 1);
    pen_body(pen, BODY_HOME, e->tensor, tile, 1);
    if (pen_passing(pen) > 0)
      pen_tile(pen, e->tensor, box_between(tile, away, event_goes_out(e->kind) ? part : 1 - part), orange,
               v->strips[e->tensor].width > 0 ? 1 : fmin(1, 4 * (event_goes_out(e->kind) ? 1 - part : part)));
  }
}

/* A result that many add to, in HBM: from the tile to its block. */
static void draw_addition(const Grid *v, Box tile) {
  const Pen *pen = v->pen;
  const Event *e = &pen->now->event;
  if (e->kind != EVENT_ADD || v->strips[e->tensor].width <= 0 || pen->hit) return;
  const double u = pen->unit, y = tile.y + tile.height / 2, right = v->strips[e->tensor].x, from = tile.x + tile.width,
               size = pen_size(pen, TYPE_HEAD);
  if (right - from < 24 * u) return;
  pen_line(pen, pen->theme->ink, 2.5, from, y, right - 8 * u, y);
  theme_use(pen->cr, pen->theme->ink, 1);
  cairo_new_path(pen->cr);
  cairo_move_to(pen->cr, right, y);
  cairo_line_to(pen->cr, right - 9 * u, y - 5 * u);
  cairo_line_to(pen->cr, right - 9 * u, y + 5 * u);
  cairo_close_path(pen->cr);
  cairo_fill(pen->cr);
  const double width = pen_text_width(pen, TYPE_HEAD, true, "+=") + 8 * u;
  if (v->box.x + v->box.width - from < width || tile.height < 1.2 * size) return;
  const Box badge = box_at(right - 14 * u - width, y - 0.62 * size, width, 1.24 * size);
  pen_fill(pen, badge, pen->theme->background, 1);
  pen_text(pen, TYPE_HEAD, pen->theme->ink, true, ANCHOR_MIDDLE, badge.x + width / 2, y + 0.36 * size, 0, "+=");
}

/* The tile at work before this event, on its way to the colour of what is done. */
static void draw_tile_before(const Grid *v) {
  const SnapshotBefore *b = &v->pen->now->before;
  if (!b->at_work || (v->g->at_work && b->i == v->g->i && b->j == v->g->j) || b->event.kind == EVENT_SKIP) return;
  pen_fill(v->pen, shown_tile(v, b->i, b->j), v->pen->theme->tile[TILE_COLOUR_CURRENT], fading(v->pen));
}

static void draw_cross(const Grid *v, Box tile) {
  const Pen *pen = v->pen;
  const Colour orange = pen->theme->tile[TILE_COLOUR_CURRENT];
  pen_fill(pen, box_at(v->box.x, tile.y + floor(tile.height / 2), v->box.width, fmax(1, round(pen->unit))), orange,
           0.8);
  pen_fill(pen, box_at(tile.x + floor(tile.width / 2), v->box.y, fmax(1, round(pen->unit)), v->box.height), orange,
           0.8);
}

void grid_draw_moving(const Grid *v) {
  const SnapshotGrid *g = v->g;
  const Pen *pen = v->pen;
  const Snapshot *now = pen->now;
  const Theme *t = pen->theme;
  const bool skip = now->event.kind == EVENT_SKIP && g->at_work;
  const SnapshotBefore *b = &now->before;
  const int64_t line = g->column_by_column ? b->j : b->i;
  draw_tile_before(v);
  if (b->event.kind == EVENT_SKIP && !(skip && now->skips.n > b->skips.n))
    draw_strike(v, &b->skips, line, 1, fading(pen));
  if (g->at_work) {
    const Box tile = shown_tile(v, g->i, g->j);
    if (is_small(v)) draw_cross(v, tile);
    if (skip) {
      pen_frame(pen, box_at(tile.x - 1, tile.y - 1, tile.width + 2, tile.height + 2), t->tile[TILE_COLOUR_CURRENT], 3);
      draw_strike(v, &now->skips, g->column_by_column ? g->j : g->i, pen_happened(pen), 1);
      draw_spared(v);
    } else {
      draw_scores_of_tile(v, tile);
      pen_frame(pen, box_at(tile.x - 1, tile.y - 1, tile.width + 2, tile.height + 2), t->ink, 2);
      const SnapshotSlot *scores = scores_on_chip(now);
      const char *name = scores ? pen_name(pen, scores->tensor) : "";
      const TypeSize type =
          pen_text_width(pen, TYPE_BODY, true, name) < tile.width - 4 * pen->unit ? TYPE_BODY : TYPE_SMALL;
      if (min2(tile.width, tile.height) > 2.4 * pen_size(pen, TYPE_BODY))
        pen_text(pen, type, theme_on(t->tile[TILE_COLOUR_CURRENT]), true, ANCHOR_MIDDLE, tile.x + tile.width / 2,
                 tile.y + 0.62 * tile.height + 0.36 * pen_size(pen, TYPE_BODY), tile.width - 2 * pen->unit, name);
    }
  }
  draw_blocks(v);
  draw_change(v);
  if (now->has_event && now->event.i >= 0 && now->event.j >= 0 && !skip) {
    draw_addition(v, shown_tile(v, now->event.i, now->event.j));
    draw_flow_of_tile(v, shown_tile(v, now->event.i, now->event.j));
  }
}
