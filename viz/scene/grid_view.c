/* The score matrix as tiles, with Q and O at its sides, K and V on top.
 *
 *            K  ▪▪▪▪▪▪▪▪       A row of tiles is at most a handful of runs of one look (skipped, full, partial; done or
 *            V  ▪▪▪▪▪▪▪▪       not), because the mask is a band and the walk goes in order. Runs are what is drawn, so
 *       Q ▪  ┌──────────┐ ▪ O  a grid costs its rows, not its tiles. With more tiles than units, each unit shows the
 * mix ▪  │ S, P     │ ▪    of the tiles it covers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "viz/scene/pen.h"

typedef struct {
  const Pen *pen;
  const SnapshotGrid *g;
  Box box;               /* of the tiles alone */
  double cell_x, cell_y; /* size of a tile; whole when one or more */
  double gap;            /* between tiles */
} Grid;

static double min2(double a, double b) { return a < b ? a : b; }

/* ---- Places ---------------------------------------------------------------------------------------------- */

static double whole_cell(double size) { return size >= 1 ? floor(size) : size; }

static Grid place_grid(const Pen *pen, Box box) {
  Grid v = {.pen = pen, .g = &pen->now->grid};
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

static Box tile_box(const Grid *v, int64_t i, int64_t j) {
  const double x = v->box.x + v->cell_x * (double)j, y = v->box.y + v->cell_y * (double)i;
  if (v->cell_x < 1 || v->cell_y < 1) return box_at(x, y, fmax(1, v->cell_x), fmax(1, v->cell_y));
  return box_at(x, y, v->cell_x - v->gap, v->cell_y - v->gap);
}

/* ---- Runs ------------------------------------------------------------------------------------------------ */

enum { LOOK_DONE = 1, LOOK_PARTIAL = 2, LOOK_SKIPPED = 4, RUNS_MAX = 12 };

typedef struct {
  int64_t begin, end;
  int look;
} TileRun;

/* Tiles of row i that are done in this lap; they come first. */
static int64_t done_in_row(const SnapshotGrid *g, int64_t i) {
  if (g->lap >= g->n_laps) return g->T_c;
  if (g->column_by_column) return g->line + (i < g->n_done);
  return i < g->line ? g->T_c : i == g->line ? g->n_done : 0;
}

static int runs_of_row(const SnapshotGrid *g, int64_t i, TileRun *runs) {
  const BandRow band = band_row(&g->band, g->B_r, g->B_c, i);
  const int64_t done = done_in_row(g, i);
  const Span computed = g->skips ? band.computed : (Span){0, g->T_c};
  int64_t cuts[8] = {0, computed.begin, band.full.begin, band.full.end, computed.end, done, g->T_c};
  int n = 0;
  for (int a = 1; a < 7; a++) /* insertion sort of seven */
    for (int b = a; b > 0 && cuts[b] < cuts[b - 1]; b--) {
      const int64_t swap = cuts[b];
      cuts[b] = cuts[b - 1];
      cuts[b - 1] = swap;
    }
  for (int k = 0; k < 6; k++) {
    const int64_t begin = cuts[k], end = cuts[k + 1];
    if (end <= begin || begin < 0 || end > g->T_c) continue;
    int look = begin < done ? LOOK_DONE : 0;
    if (begin < computed.begin || begin >= computed.end)
      look |= LOOK_SKIPPED;
    else if (begin < band.full.begin || begin >= band.full.end)
      look |= LOOK_PARTIAL;
    if (n > 0 && runs[n - 1].look == look)
      runs[n - 1].end = end;
    else
      runs[n++] = (TileRun){begin, end, look};
  }
  return n;
}

/* Waiting; the darker, the more passes have been over the tile. */
static Colour lap_colour(const Theme *theme, const SnapshotGrid *g) {
  return g->n_laps > 1 ? theme_mix(theme->tile[TILE_COLOUR_WAITING], theme->tile[TILE_COLOUR_DONE], 0.22 * g->lap)
                       : theme->tile[TILE_COLOUR_WAITING];
}

static Colour colour_of(const Grid *v, int look) {
  const Colour *tile = v->pen->theme->tile;
  if (look & LOOK_SKIPPED) return tile[TILE_COLOUR_SKIPPED];
  if (look & LOOK_DONE) return tile[look & LOOK_PARTIAL ? TILE_COLOUR_PARTIAL : TILE_COLOUR_DONE];
  return lap_colour(v->pen->theme, v->g);
}

/* ---- A grid whose tiles can be told apart ------------------------------------------------------------------ */

static void draw_rows(const Grid *v) {
  TileRun runs[RUNS_MAX];
  for (int64_t i = 0; i < v->g->T_r; i++) {
    const int n = runs_of_row(v->g, i, runs);
    for (int k = 0; k < n; k++) {
      if (runs[k].look & LOOK_SKIPPED) continue;
      const Box first = tile_box(v, i, runs[k].begin), last = tile_box(v, i, runs[k].end - 1);
      pen_fill(v->pen, box_at(first.x, first.y, last.x + last.width - first.x, first.height),
               colour_of(v, runs[k].look), 1);
    }
  }
}

/* Lines in the ground's colour between the tiles: T_r + T_c rectangles, not T_r x T_c. */
static void draw_gaps(const Grid *v) {
  if (v->gap < 1) return;
  for (int64_t j = 1; j < v->g->T_c; j++)
    pen_fill(v->pen, box_at(v->box.x + v->cell_x * (double)j - v->gap, v->box.y, v->gap, v->box.height),
             v->pen->theme->background, 1);
  for (int64_t i = 1; i < v->g->T_r; i++)
    pen_fill(v->pen, box_at(v->box.x, v->box.y + v->cell_y * (double)i - v->gap, v->box.width, v->gap),
             v->pen->theme->background, 1);
}

/* One path over all skipped tiles, or, when a unit covers several rows of tiles, over the first of each. */
static bool path_of_skipped(const Grid *v) {
  TileRun runs[RUNS_MAX];
  bool any = false;
  const double every = fmax(1, v->cell_y);
  int64_t before = -1;
  for (double y = 0; y < v->box.height; y += every) {
    const int64_t i = (int64_t)floor(y / v->cell_y + 1e-9);
    if (i == before || i >= v->g->T_r) continue;
    before = i;
    const int n = runs_of_row(v->g, i, runs);
    for (int k = 0; k < n; k++) {
      if (!(runs[k].look & LOOK_SKIPPED)) continue;
      const double x0 = floor(v->box.x + v->cell_x * (double)runs[k].begin),
                   x1 = floor(v->box.x + v->cell_x * (double)runs[k].end);
      cairo_rectangle(v->pen->cr, x0, v->box.y + y, x1 - x0 - v->gap, every - v->gap);
      any = true;
    }
  }
  return any;
}

static void draw_skipped(const Grid *v) {
  const Theme *t = v->pen->theme;
  if (v->pen->hit) return;
  cairo_save(v->pen->cr);
  cairo_new_path(v->pen->cr);
  if (path_of_skipped(v)) pen_hatch_path(v->pen, v->box, t->background, theme_mix(t->background, t->axis, 0.75));
  cairo_restore(v->pen->cr);
}

/* The part of a partial tile that the mask covers: beyond a line along the diagonal. */
static void path_of_masked(const Grid *v, Box tile, int64_t i, int64_t j) {
  const SnapshotGrid *g = v->g;
  cairo_t *cr = v->pen->cr;
  const double per_col = tile.width / (double)g->B_c, per_row = tile.height / (double)g->B_r;
  const double row0 = (double)(i * g->B_r), col0 = (double)(j * g->B_c), far = (double)g->N_k + (double)g->N_q;
  const double top = row0, bottom = row0 + (double)g->B_r;
  const double right = (double)g->band.offset + (double)min2((double)g->band.after, far) + 0.5;
  const double left = (double)g->band.offset - (double)min2((double)g->band.before, far) - 0.5;
  /* x = column at the height of a row, cut to the tile */
  for (int side = 0; side < 2; side++) {
    const double at = side ? left : right;
    double x0 = tile.x + (top + at - col0) * per_col, x1 = tile.x + (bottom + at - col0) * per_col;
    const double edge = side ? tile.x - 1 : tile.x + tile.width + 1;
    const double limit = 4 * tile.width;
    x0 = fmin(fmax(x0, tile.x - limit), tile.x + limit);
    x1 = fmin(fmax(x1, tile.x - limit), tile.x + limit);
    if (side ? fmax(x0, x1) <= tile.x : fmin(x0, x1) >= tile.x + tile.width) continue;
    cairo_move_to(cr, x0, tile.y);
    cairo_line_to(cr, x1, tile.y + (bottom - top) * per_row);
    cairo_line_to(cr, side ? fmin(edge, x1) : fmax(edge, x1), tile.y + tile.height);
    cairo_line_to(cr, side ? fmin(edge, x0) : fmax(edge, x0), tile.y);
    cairo_close_path(cr);
  }
}

static void draw_masked(const Grid *v) {
  TileRun runs[RUNS_MAX];
  const Theme *t = v->pen->theme;
  if (v->pen->hit || min2(v->cell_x, v->cell_y) < 9) return;
  for (int64_t i = 0; i < v->g->T_r; i++) {
    const int n = runs_of_row(v->g, i, runs);
    for (int k = 0; k < n; k++)
      for (int64_t j = runs[k].begin; (runs[k].look & LOOK_PARTIAL) && j < runs[k].end; j++) {
        const Box tile = tile_box(v, i, j);
        cairo_save(v->pen->cr);
        cairo_rectangle(v->pen->cr, tile.x, tile.y, tile.width, tile.height);
        cairo_clip(v->pen->cr);
        cairo_new_path(v->pen->cr);
        path_of_masked(v, tile, i, j);
        theme_use(v->pen->cr, t->background, 0.62);
        cairo_fill(v->pen->cr);
        cairo_restore(v->pen->cr);
      }
  }
}

/* ---- A grid with more tiles than units: each unit is the mix of what it covers ------------------------------- */

typedef struct {
  double red, green, blue;
} Mix;

/* Where a run begins or ends, the share of the units covered changes by `weight`, over two of them when that is within
 * one: `line` holds changes, so that a run costs its ends and not its length. */
static void mix_edge(Mix *line, double x, Colour colour, double weight) {
  const int at = (int)x;
  const double second = weight * (x - at), first = weight - second;
  line[at].red += first * colour.red;
  line[at].green += first * colour.green;
  line[at].blue += first * colour.blue;
  line[at + 1].red += second * colour.red;
  line[at + 1].green += second * colour.green;
  line[at + 1].blue += second * colour.blue;
}

/* Row y of units: the rows of tiles under it, at most four of them evenly chosen. */
static void mix_line(const Grid *v, int y, int height, Mix *line, int width) {
  TileRun runs[RUNS_MAX];
  const int64_t from = (int64_t)((double)y * (double)v->g->T_r / height),
                to = (int64_t)((double)(y + 1) * (double)v->g->T_r / height);
  const int64_t n_rows = to > from ? to - from : 1, n_taken = n_rows < 4 ? n_rows : 4;
  memset(line, 0, (size_t)(width + 2) * sizeof *line);
  for (int64_t k = 0; k < n_taken; k++) {
    const int64_t i = from + k * n_rows / n_taken;
    const int n = runs_of_row(v->g, i < v->g->T_r ? i : v->g->T_r - 1, runs);
    for (int r = 0; r < n; r++) {
      const double scale = (double)width / (double)v->g->T_c, weight = 1 / (double)n_taken;
      const Colour colour = colour_of(v, runs[r].look);
      mix_edge(line, fmin((double)runs[r].begin * scale, width), colour, weight);
      mix_edge(line, fmin((double)runs[r].end * scale, width), colour, -weight);
    }
  }
}

static void draw_mixed(const Grid *v) {
  const int width = (int)v->box.width, height = (int)v->box.height;
  if (v->pen->hit || width < 1 || height < 1) return;
  cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  Mix *line = malloc((size_t)(width + 2) * sizeof *line);
  if (line && cairo_surface_status(image) == CAIRO_STATUS_SUCCESS) {
    const int stride = cairo_image_surface_get_stride(image);
    unsigned char *bytes = cairo_image_surface_get_data(image);
    for (int y = 0; y < height; y++) {
      uint32_t *pixels = (uint32_t *)(void *)(bytes + (size_t)y * (size_t)stride);
      mix_line(v, y, height, line, width);
      Mix sum = {0.5, 0.5, 0.5};
      for (int x = 0; x < width; x++) {
        sum.red += line[x].red;
        sum.green += line[x].green;
        sum.blue += line[x].blue;
        pixels[x] = (uint32_t)sum.red << 16 | (uint32_t)sum.green << 8 | (uint32_t)sum.blue;
      }
    }
    cairo_surface_mark_dirty(image);
    cairo_set_source_surface(v->pen->cr, image, v->box.x, v->box.y);
    cairo_pattern_set_filter(cairo_get_source(v->pen->cr), CAIRO_FILTER_NEAREST);
    cairo_rectangle(v->pen->cr, v->box.x, v->box.y, v->box.width, v->box.height);
    cairo_fill(v->pen->cr);
  }
  free(line);
  cairo_surface_destroy(image);
}

/* ---- What stands out ------------------------------------------------------------------------------------- */

static void draw_current(const Grid *v) {
  const SnapshotGrid *g = v->g;
  const Theme *t = v->pen->theme;
  const double u = v->pen->unit;
  if (!g->at_work) return;
  const Box tile = tile_box(v, g->i, g->j);
  const bool skip = v->pen->now->event.kind == EVENT_SKIP;
  if (min2(v->cell_x, v->cell_y) < 7 * u) { /* too small to be seen: a cross over the matrix leads to it */
    const double side = round(9 * u);
    const Box mark = box_at(tile.x + tile.width / 2 - side / 2, tile.y + tile.height / 2 - side / 2, side, side);
    pen_fill(v->pen, box_at(v->box.x, tile.y + floor(tile.height / 2), v->box.width, fmax(1, round(u))),
             t->tile[TILE_COLOUR_CURRENT], 0.8);
    pen_fill(v->pen, box_at(tile.x + floor(tile.width / 2), v->box.y, fmax(1, round(u)), v->box.height),
             t->tile[TILE_COLOUR_CURRENT], 0.8);
    pen_fill(v->pen, mark, t->tile[TILE_COLOUR_CURRENT], 1);
    pen_frame(v->pen, mark, t->ink, 1.4);
    return;
  }
  if (!skip) pen_fill(v->pen, tile, t->tile[TILE_COLOUR_CURRENT], 1);
  pen_frame(v->pen, box_at(tile.x - 1, tile.y - 1, tile.width + 2, tile.height + 2),
            skip ? t->tile[TILE_COLOUR_CURRENT] : t->ink, skip ? 3 : 2);
  const SnapshotSlot *s = &v->pen->now->slots[TENSOR_S];
  const bool is_there = !skip && s->is_filled && s->i == g->i && s->j == g->j; /* not those of the tile before */
  const char *letter = !is_there ? "" : s->holds_P ? "P" : "S";
  if (min2(tile.width, tile.height) > 1.5 * pen_size(v->pen, TYPE_BODY))
    pen_text(v->pen, TYPE_BODY, theme_on(t->tile[TILE_COLOUR_CURRENT]), true, ANCHOR_MIDDLE, tile.x + tile.width / 2,
             tile.y + tile.height / 2 + 0.36 * pen_size(v->pen, TYPE_BODY), 0, letter);
}

static void point_at_tiles(const Grid *v) {
  const Pen *pen = v->pen;
  if (pen->hit) {
    const int64_t i = (int64_t)floor((pen->hit_y - v->box.y) / v->cell_y),
                  j = (int64_t)floor((pen->hit_x - v->box.x) / v->cell_x);
    const Box tile = tile_box(v, i, j); /* in a mixed grid it may lie beside the point, by less than a unit */
    if (i >= 0 && j >= 0 && i < v->g->T_r && j < v->g->T_c)
      *pen->hit = (SceneHit){HIT_TILE, TENSOR_S, i, j, 0, tile.x, tile.y, tile.width, tile.height};
  } else if (pen->view->hover.kind == HIT_TILE) {
    const int64_t i = pen->view->hover.i, j = pen->view->hover.j;
    if (i >= 0 && j >= 0 && i < v->g->T_r && j < v->g->T_c)
      pen_region(pen, HIT_TILE, TENSOR_S, i, j, 0, tile_box(v, i, j));
  }
}

/* ---- The edges ------------------------------------------------------------------------------------------- */

static bool in_sram(const Snapshot *now, Tensor tensor, int64_t block) {
  for (int t = 0; t < TENSOR_COUNT; t++) {
    const SnapshotSlot *s = &now->slots[t];
    if (s->is_filled && s->tensor == tensor) return block == (tensor == TENSOR_Q || tensor == TENSOR_O ? s->i : s->j);
  }
  return false;
}

/* Blocks of O that are in HBM for good: those of rows that are finished. */
static bool is_written(const Snapshot *now, int64_t i) {
  const SnapshotGrid *g = &now->grid;
  if (g->lap >= g->n_laps) return true;
  if (g->n_laps > 1 && g->lap + 1 < g->n_laps) return false;
  return !g->column_by_column && i < g->line;
}

/* One strip of blocks: `upright` for Q and O. Blocks in SRAM are in the colour of what is at work. */
static void draw_strip(const Grid *v, Tensor tensor, Box strip, bool upright) {
  const Pen *pen = v->pen;
  const Theme *t = pen->theme;
  const int64_t n = upright ? v->g->T_r : v->g->T_c;
  const double cell = upright ? v->cell_y : v->cell_x;
  pen_fill(pen, strip, t->tile[TILE_COLOUR_WAITING], 1);
  const double side = fmax(cell, round(3 * pen->unit));
  const bool small = cell < 3 * pen->unit;
  for (int64_t k = 0; k < n; k++) {
    const double at = floor((upright ? strip.y : strip.x) + cell * (double)k);
    const Box block = upright ? box_at(strip.x, at, strip.width, small ? side : cell - v->gap)
                              : box_at(at, strip.y, small ? side : cell - v->gap, strip.height);
    const int64_t i = upright ? k : -1, j = upright ? -1 : k;
    if (tensor == TENSOR_O && !in_sram(pen->now, tensor, k) && is_written(pen->now, k))
      pen_fill(pen, block, t->tile[TILE_COLOUR_DONE], 1);
    if (!small && v->gap >= 1 && k + 1 < n)
      pen_fill(pen,
               upright ? box_at(strip.x, at + cell - v->gap, strip.width, v->gap)
                       : box_at(at + cell - v->gap, strip.y, v->gap, strip.height),
               t->background, 1);
    if (!small || pen->hit == NULL) {
      const SceneHit *hover = &pen->view->hover;
      const bool linked = hover->kind == HIT_TILE && (upright ? hover->i == k : hover->j == k);
      if (in_sram(pen->now, tensor, k))
        pen_fill(pen, block, pen_lit(pen, t->tile[TILE_COLOUR_CURRENT], pen_talks_of(pen, (int)tensor)), 1);
      if (linked) pen_frame(pen, block, t->ink, 2);
    }
    if (!small) pen_region(pen, HIT_TENSOR, tensor, i, j, 0, block);
    if (small && n > 4096) k += n / 4096; /* no more blocks than can be seen */
  }
}

static void draw_letter(const Pen *pen, double x, double y, const char *letter) {
  pen_text(pen, TYPE_HEAD, pen->theme->ink, true, ANCHOR_MIDDLE, x, y + 0.36 * pen_size(pen, TYPE_HEAD), 0, letter);
}

static void draw_edges(const Grid *v, double strip, double gap) {
  const Pen *pen = v->pen;
  const Box b = v->box;
  const double across = b.width - v->gap, down = b.height - v->gap; /* no gap behind the last tile */
  const Box V = box_at(b.x, b.y - gap - strip, across, strip),
            K = box_at(b.x, V.y - 4 * pen->unit - strip, across, strip);
  const Box Q = box_at(b.x - gap - strip, b.y, strip, down), O = box_at(b.x + across + gap, b.y, strip, down);
  draw_strip(v, TENSOR_K, K, false);
  draw_strip(v, TENSOR_V, V, false);
  draw_strip(v, TENSOR_Q, Q, true);
  draw_strip(v, TENSOR_O, O, true);
  const double letters = b.x - gap - strip / 2;
  draw_letter(pen, letters, K.y + strip / 2, "K");
  draw_letter(pen, letters, V.y + strip / 2, "V");
  draw_letter(pen, Q.x - 14 * pen->unit, Q.y + fmin(Q.height / 2, 12 * pen->unit), "Q");
  draw_letter(pen, O.x + strip + 14 * pen->unit, O.y + fmin(O.height / 2, 12 * pen->unit), "O");
}

Box draw_grid(const Pen *pen, Box box) {
  const double u = pen->unit, strip = round(17 * u), gap = round(7 * u), letter = 26 * u;
  box_cut_left(&box, strip + gap + letter, 0);
  box_cut_right(&box, strip + gap + letter, 0);
  box_cut_top(&box, 2 * strip + gap + 4 * u, 0);
  Grid v = place_grid(pen, box);
  v.box = box_at(box.x + (box.width - v.box.width) / 2, box.y, v.box.width, v.box.height);
  if (!(v.cell_x > 0 && v.cell_y > 0)) return v.box; /* no room at all */
  draw_edges(&v, strip, gap);
  if (v.cell_x < 1 || v.cell_y < 1) {
    draw_mixed(&v);
  } else {
    draw_rows(&v);
    draw_gaps(&v);
    draw_masked(&v);
  }
  draw_skipped(&v);
  pen_frame(pen, box_at(v.box.x - 1, v.box.y - 1, v.box.width + 2 - v.gap, v.box.height + 2 - v.gap),
            theme_mix(pen->theme->background, pen->theme->axis, 0.6), 1);
  draw_current(&v);
  point_at_tiles(&v);
  return v.box;
}

/* ---- Legend ---------------------------------------------------------------------------------------------- */

double legend_height(const Pen *pen) { return 1.9 * pen_size(pen, TYPE_SMALL); }

void draw_legend(const Pen *pen, Box box) {
  static const struct {
    TileColour colour;
    const char *text;
  } ITEMS[] = {{TILE_COLOUR_WAITING, "waiting"},
               {TILE_COLOUR_CURRENT, "at work"},
               {TILE_COLOUR_DONE, "done"},
               {TILE_COLOUR_PARTIAL, "partial"},
               {TILE_COLOUR_SKIPPED, "skipped"}};
  const Theme *t = pen->theme;
  const SnapshotGrid *g = &pen->now->grid;
  const bool masked = pen->now->problem.shape.causal || pen->now->problem.shape.window;
  const double side = round(0.95 * pen_size(pen, TYPE_SMALL)), base = box.y + 1.35 * pen_size(pen, TYPE_SMALL);
  double x = box.x;
  for (int k = 0; k < 5; k++) {
    if (!masked && ITEMS[k].colour >= TILE_COLOUR_PARTIAL) continue;
    if (!pen->now->grid.skips && ITEMS[k].colour == TILE_COLOUR_SKIPPED) continue;
    const bool again =
        ITEMS[k].colour == TILE_COLOUR_WAITING && g->n_laps > 1 && g->lap > 0; /* waits for its next pass */
    const char *text = again ? "waiting for this pass" : ITEMS[k].text;
    const double width = side + 6 * pen->unit + pen_text_width(pen, TYPE_SMALL, false, text);
    if (x + width > box.x + box.width) return;
    const Box swatch = box_at(x, base - 0.82 * side, side, side);
    pen_fill(pen, swatch, again ? lap_colour(t, g) : t->tile[ITEMS[k].colour], 1);
    if (ITEMS[k].colour == TILE_COLOUR_SKIPPED && !pen->hit) {
      cairo_save(pen->cr);
      cairo_rectangle(pen->cr, swatch.x, swatch.y, swatch.width, swatch.height);
      cairo_clip(pen->cr);
      pen_hatch(pen, swatch, theme_mix(t->background, t->axis, 0.75));
      cairo_restore(pen->cr);
      pen_frame(pen, swatch, t->axis, 1);
    }
    pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, x + side + 6 * pen->unit, base, 0, text);
    x += width + 14 * pen->unit;
  }
}
