/* The score matrix as tiles, with what lies by rows at its sides, and what lies by keys on top: inputs first, results
 * opposite.
 *
 *            K  ▪▪▪▪▪▪▪▪       A row of tiles is at most a handful of runs of one look (skipped, full, partial; done or
 *            V  ▪▪▪▪▪▪▪▪       not), because the mask is a band and the walk goes in order. Runs are what is drawn, so
 *       Q ▪  ┌──────────┐ ▪ O  a grid costs its rows, not its tiles. With more tiles than units, each unit shows the
 *         ▪  │ S, P     │ ▪    mix of the tiles it covers. */
#include <string.h>

#include "viz/scene/grid_view.h"

static double whole_cell(double size) { return size >= 1 ? floor(size) : size; }

static Grid place_grid(const Pen *pen, Box box) {
  Grid v = {.pen = pen, .g = &pen->now->grid, .keeps_scores = snapshot_keeps_scores(pen->now)};
  const double u = pen->unit, rows = (double)v.g->T_r, cols = (double)v.g->T_c;
  const double B_r = (double)v.g->B_r, B_c = (double)v.g->B_c;
  const double scale = min2(box.width / (cols * B_c), box.height / (rows * B_r)); /* units a row or column of scores */
  const double thin = 34 * u; /* what a thin matrix (decode) is widened to */
  v.cell_x = whole_cell(fmax(scale * B_c, min2(thin, box.width) / cols));
  v.cell_y = whole_cell(fmax(scale * B_r, min2(thin, box.height) / rows));
  const double smaller = min2(v.cell_x, v.cell_y);
  v.gap = smaller >= 26 * u ? fmax(2, round(2.5 * u)) : smaller >= 5 ? 1 : 0;
  v.box = box_at(box.x, box.y, fmax(1, round(v.cell_x * cols)), fmax(1, round(v.cell_y * rows)));
  return v;
}

Box grid_tile(const Grid *v, int64_t i, int64_t j) {
  const double x = v->box.x + v->cell_x * (double)j, y = v->box.y + v->cell_y * (double)i;
  if (v->cell_x < 1 || v->cell_y < 1) return box_at(x, y, fmax(1, v->cell_x), fmax(1, v->cell_y));
  const double cols = (double)((j + 1) * v->g->B_c - v->g->N_k), rows = (double)((i + 1) * v->g->B_r - v->g->N_q);
  const double ragged_x = cols > 0 ? v->cell_x * cols / (double)v->g->B_c : 0, /* the last may be a part of a tile */
      ragged_y = rows > 0 ? v->cell_y * rows / (double)v->g->B_r : 0;
  return box_at(x, y, fmax(1, v->cell_x - v->gap - ragged_x), fmax(1, v->cell_y - v->gap - ragged_y));
}

static void point_at_tiles(const Grid *v) {
  const Pen *pen = v->pen;
  if (pen->view->regions && v->g->T_r * v->g->T_c <= SCENE_REGIONS_MAX / 2) {
    for (int64_t i = 0; i < v->g->T_r; i++)
      for (int64_t j = 0; j < v->g->T_c; j++) pen_region(pen, HIT_TILE, 0, i, j, 0, grid_tile(v, i, j));
  } else if (pen->hit) {
    const int64_t i = (int64_t)floor((pen->hit_y - v->box.y) / v->cell_y),
                  j = (int64_t)floor((pen->hit_x - v->box.x) / v->cell_x);
    const Box tile = grid_tile(v, i, j); /* in a mixed grid it may lie beside the point, by less than a unit */
    if (i >= 0 && j >= 0 && i < v->g->T_r && j < v->g->T_c)
      *pen->hit = (SceneHit){HIT_TILE, 0, i + pen->lens_i, j + pen->lens_j, 0, tile.x, tile.y, tile.width, tile.height};
  } else if (pen->view->hover.kind == HIT_TILE) {
    const int64_t i = pen->view->hover.i - pen->lens_i, j = pen->view->hover.j - pen->lens_j;
    if (i >= 0 && j >= 0 && i < v->g->T_r && j < v->g->T_c) pen_region(pen, HIT_TILE, 0, i, j, 0, grid_tile(v, i, j));
  }
}

/* ---- The edges ------------------------------------------------------------------------------------------- */

static bool in_sram(const Grid *v, int tensor, int64_t block) {
  const Snapshot *now = v->pen->now;
  for (int t = 0; t < now->schedule->n_values; t++) {
    const SnapshotSlot *s = &now->slots[t];
    if (s->is_filled && s->tensor == tensor) return block == (is_upright(v, tensor) ? s->i : s->j);
  }
  return false;
}

/* The pass that last stores a value. */
static int last_pass(const Schedule *s, int tensor) {
  int pass = 0;
  for (int op = 0; op < s->n_ops; op++)
    for (int k = 0; k < s->ops[op].n_moved; k++)
      if (s->ops[op].kind == OP_EVENT && event_goes_out(s->ops[op].event) &&
          s->names[s->ops[op].moved[k]].tensor == tensor)
        pass = s->ops[op].pass;
  return pass;
}

/* Whether a loop over blocks, of a pass that has no tiles, is through with this one. */
static bool is_behind(const Snapshot *now, bool upright, int64_t block) {
  const ProgramOp *ops = now->schedule->ops;
  const int64_t at = upright ? now->event.i : now->event.j;
  int loop = ops[now->event.op].parent;
  while (loop >= 0 && ops[loop].dim != (upright ? DIM_I : DIM_J)) loop = ops[loop].parent;
  return loop >= 0 && ops[loop].backwards ? block > at : block < at;
}

static bool is_column_over(const SnapshotGrid *g, int64_t j) {
  const int64_t last = g->order.rows_reversed ? 0 : g->order.T_r - 1;
  return place_tiles_before(&g->order, last, g->j0 + j) < g->n_over;
}

static int64_t shared(Span a, Span b) {
  const int64_t begin = max64(a.begin, b.begin), end = min64(a.end, b.end);
  return max64(end - begin, 0);
}

/* How much of a block of a result is in HBM for good: all of it in lines of tiles that are finished. Where the walk
 * goes across it, it comes and goes, and holds the tiles so far. */
static double part_written(const Snapshot *now, int tensor, bool upright, int64_t block) {
  const SnapshotGrid *g = &now->grid;
  if (now->traffic.write[tensor] == now->whole.write[tensor]) return 1; /* by a pass before this one, too */
  if (!now->has_event || now->event.pass < last_pass(now->schedule, tensor)) return 0;
  if (g->lap >= g->n_laps) return is_behind(now, upright, block); /* without tiles */
  if (!upright) return g->column_by_column && block != g->line && is_column_over(g, block);
  Span done[2];
  snapshot_done_in_row(g, block, done);
  const Span tiles = g->skips ? band_row(&g->mask.band, g->B_r, g->B_c, block).computed : (Span){0, g->T_c};
  const int64_t n = shared(done[0], tiles) + shared(done[1], tiles);
  if (!g->column_by_column) return block != g->line && shared(done[0], (Span){0, g->T_c}) == g->T_c;
  return tiles.end > tiles.begin ? (double)n / (double)(tiles.end - tiles.begin) : 0;
}

static void draw_written(const Pen *pen, Box block, double part) {
  const Theme *t = pen->theme;
  pen_fill(pen, box_at(block.x, block.y, ceil(part * block.width), block.height),
           t->tile[part < 1 ? TILE_COLOUR_PARTIAL : TILE_COLOUR_DONE], 1);
}

/* One strip of blocks: inputs hold data, results are empty until they are written. Of an input a block in SRAM is at
 * work. */
static void draw_strip(const Grid *v, int tensor) {
  const Pen *pen = v->pen;
  const Theme *t = pen->theme;
  const Box strip = v->strips[tensor];
  const bool upright = is_upright(v, tensor), input = is_input(v, tensor);
  const int64_t n = upright ? v->g->T_r : v->g->T_c;
  const double cell = upright ? v->cell_y : v->cell_x;
  const bool lined = !input && grid_is_lined(v, cell);
  if (!lined) pen_state(pen, strip, input ? TILE_COLOUR_HELD : TILE_COLOUR_EMPTY);
  const double side = fmax(cell, round(3 * pen->unit));
  const bool small = cell < 3 * pen->unit;
  for (int64_t k = 0; k < n; k++) {
    const double at = floor((upright ? strip.y : strip.x) + cell * (double)k);
    const Box block = upright ? box_at(strip.x, at, strip.width, small ? side : cell - v->gap)
                              : box_at(at, strip.y, small ? side : cell - v->gap, strip.height);
    const int64_t i = upright ? k : -1, j = upright ? -1 : k;
    if (lined) pen_state(pen, block, TILE_COLOUR_EMPTY);
    if (!input && !in_sram(v, tensor, k)) draw_written(pen, block, part_written(pen->now, tensor, upright, k));
    if (!small && !lined && v->gap >= 1 && k + 1 < n)
      pen_fill(pen,
               upright ? box_at(strip.x, at + cell - v->gap, strip.width, v->gap)
                       : box_at(at + cell - v->gap, strip.y, v->gap, strip.height),
               t->background, 1);
    if (!small || pen->hit == NULL) {
      const SceneHit *hover = &pen->view->hover;
      const bool linked = hover->kind == HIT_TILE && (upright ? hover->i == k : hover->j == k);
      if (in_sram(v, tensor, k) && input) pen_state(pen, block, TILE_COLOUR_CURRENT);
      if (linked) pen_frame(pen, block, t->ink, 2);
    }
    if (!small) pen_region(pen, HIT_TENSOR, tensor, i, j, 0, block);
    if (small && n > 4096) k += n / 4096; /* no more blocks than can be seen */
  }
}

/* Around x, or where a name is long up to `end`. */
static void draw_letter(const Pen *pen, double x, double y, double end, const char *letter) {
  const bool is_long = x + pen_text_width(pen, TYPE_HEAD, true, letter) / 2 > end;
  const TypeSize type = is_long ? TYPE_BODY : TYPE_HEAD;
  pen_text(pen, type, pen->theme->ink, true, is_long ? ANCHOR_END : ANCHOR_MIDDLE, is_long ? end : x,
           y + 0.36 * pen_size(pen, type), 0, letter);
}

/* Inputs at the left and on top, the rest opposite. Statistics have no strip. */
static bool is_edge(const Snapshot *now, int tensor) {
  const SnapshotLies lie = snapshot_lies(now, tensor);
  return tensor < now->schedule->n_tensors && !now->schedule->tensors[tensor].is_stats &&
         (lie == LIES_BY_ROWS || lie == LIES_BY_KEYS) && now->whole.read[tensor] + now->whole.write[tensor] > 0;
}

static void find_edges(Grid *v) {
  int edges[VALUES_MAX];
  const int n = snapshot_values(v->pen->now, is_edge, edges);
  for (int k = 0; k < n; k++) {
    const bool upright = is_upright(v, edges[k]), input = is_input(v, edges[k]);
    if (upright) v->upright[v->n_upright++] = edges[k], v->n_left += input;
    if (!upright) v->flat[v->n_flat++] = edges[k], v->n_top += input;
  }
}

/* What strips beside each other take, with the gap to the tiles. */
static double room_of(int n, double strip, double gap, double between) {
  return n > 0 ? n * strip + (n - 1) * between + gap : 0;
}

static void draw_edges(Grid *v, double strip, double gap) {
  const Pen *pen = v->pen;
  const Box b = v->box;
  const double across = b.width - v->gap, down = b.height - v->gap; /* no gap behind the last tile */
  const double between = 4 * pen->unit, step = strip + between;
  for (int k = 0; k < v->n_flat; k++) {
    const int t = v->flat[k], rank = grid_rank(v, t);
    const double y = k < v->n_top ? b.y - gap - strip - rank * step : b.y + down + gap + rank * step;
    v->strips[t] = box_at(b.x, y, across, strip);
  }
  for (int k = 0; k < v->n_upright; k++) {
    const int t = v->upright[k], rank = grid_rank(v, t);
    const double x = k < v->n_left ? b.x - gap - strip - rank * step : b.x + across + gap + rank * step;
    v->strips[t] = box_at(x, b.y, strip, down);
  }
  const double letters = b.x - gap - strip / 2;
  for (int k = 0; k < v->n_flat; k++) {
    const Box at = v->strips[v->flat[k]];
    draw_strip(v, v->flat[k]);
    draw_letter(pen, letters, at.y + strip / 2, b.x - 3 * pen->unit, pen_name(pen, v->flat[k]));
  }
  for (int k = 0; k < v->n_upright; k++) {
    const Box at = v->strips[v->upright[k]];
    const int n = k < v->n_left ? v->n_left : v->n_upright - v->n_left;
    draw_strip(v, v->upright[k]);
    const double width = pen_text_width(pen, TYPE_HEAD, true, pen_name(pen, v->upright[k]));
    if (n > 1 || width > 2 * pen_size(pen, TYPE_HEAD)) /* above its strip */
      pen_text(pen, TYPE_SMALL, pen->theme->ink, true, ANCHOR_MIDDLE, at.x + strip / 2, b.y - 2 * pen->unit, 0,
               pen_name(pen, v->upright[k]));
    else
      draw_letter(pen, k < v->n_left ? at.x - 14 * pen->unit : at.x + strip + 14 * pen->unit,
                  at.y + fmin(at.height / 2, 12 * pen->unit), INFINITY, pen_name(pen, v->upright[k]));
  }
}

Box draw_grid(const Pen *pen, Box box, const Box *tiles) {
  const double u = pen->unit, size = pen_size(pen, TYPE_HEAD), gap = round(13 * u), between = 4 * u,
               letter = 8 * u + size;
  Grid edges = {.pen = pen, .g = &pen->now->grid};
  find_edges(&edges);
  const int n_right = edges.n_upright - edges.n_left, n_below = edges.n_flat - edges.n_top;
  const bool is_crowded = edges.n_left > 1 || n_right > 1 || n_below > 0 || edges.n_top > 2;
  double strip = round(is_crowded ? 0.95 * size : fmax(17 * u, 0.95 * size));
  for (int k = 0; k < edges.n_upright && (edges.n_left > 1 || n_right > 1); k++) /* their names stand over them */
    strip = fmax(strip, ceil(pen_text_width(pen, TYPE_SMALL, true, pen_name(pen, edges.upright[k]))));
  box_cut_left(&box, room_of(edges.n_left > 1 ? edges.n_left : 1, strip, gap, between) + letter, 0);
  box_cut_right(&box, room_of(n_right > 1 ? n_right : 1, strip, gap, between) + letter, 0);
  box_cut_top(&box, room_of(edges.n_top, strip, gap, between), 0);
  const double below = room_of(n_below, strip, gap, between);
  box_cut_bottom(&box, below, 0);
  Grid v = place_grid(pen, box);
  memcpy(v.upright, edges.upright, sizeof v.upright);
  memcpy(v.flat, edges.flat, sizeof v.flat);
  v.n_upright = edges.n_upright, v.n_flat = edges.n_flat, v.n_left = edges.n_left, v.n_top = edges.n_top;
  v.box = box_at(box.x + (box.width - v.box.width) / 2, box.y, v.box.width, v.box.height);
  if (!(v.cell_x > 0 && v.cell_y > 0)) return v.box; /* no room at all */
  for (int t = 0; tiles && t < pen->now->schedule->n_values; t++) v.strips[t] = tiles[t];
  draw_edges(&v, strip, gap);
  grid_draw_tiles(&v);
  if (v.gap < 2)
    pen_frame(pen, box_at(v.box.x - 1, v.box.y - 1, v.box.width + 2 - v.gap, v.box.height + 2 - v.gap),
              pen->theme->tile[TILE_COLOUR_HELD], 1);
  grid_draw_moving(&v);
  point_at_tiles(&v);
  return box_at(v.box.x, v.box.y, v.box.width, v.box.height + below);
}
