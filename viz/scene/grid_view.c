/* The score matrix as tiles, with what lies by rows at its sides, and what lies by keys on top: inputs first, results
 * opposite.
 *
 *            K  ▪▪▪▪▪▪▪▪       A row of tiles is at most a handful of runs of one look (skipped, full, partial; done or
 *            V  ▪▪▪▪▪▪▪▪       not), because the mask is a band and the walk goes in order. Runs are what is drawn, so
 *       Q ▪  ┌──────────┐ ▪ O  a grid costs its rows, not its tiles. With more tiles than units, each unit shows the
 *         ▪  │ S, P     │ ▪    mix of the tiles it covers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/scene/pen.h"
#include "viz/text/number.h"

typedef struct {
  const Pen *pen;
  const SnapshotGrid *g;
  Box box;                                   /* of the tiles alone */
  Box strips[VALUES_MAX];                    /* along the edges: HBM; of scores where they are shown whole */
  int upright[VALUES_MAX], flat[VALUES_MAX]; /* those by rows and by keys, in order; */
  int n_upright, n_flat;
  int n_left, n_top;     /* inputs among them */
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
  const double cols = (double)((j + 1) * v->g->B_c - v->g->N_k), rows = (double)((i + 1) * v->g->B_r - v->g->N_q);
  const double ragged_x = cols > 0 ? v->cell_x * cols / (double)v->g->B_c : 0, /* the last may be a part of a tile */
      ragged_y = rows > 0 ? v->cell_y * rows / (double)v->g->B_r : 0;
  return box_at(x, y, fmax(1, v->cell_x - v->gap - ragged_x), fmax(1, v->cell_y - v->gap - ragged_y));
}

/* ---- Runs ------------------------------------------------------------------------------------------------ */

enum { LOOK_DONE = 1, LOOK_PARTIAL = 2, LOOK_SKIPPED = 4, RUNS_MAX = 2048 };

typedef struct {
  int64_t begin, end;
  int look;
} TileRun;

/* Tiles of row i that are done in this lap. */
static Span done_in_row(const SnapshotGrid *g, int64_t i) {
  if (g->lap >= g->n_laps) return (Span){0, g->T_c};
  if (g->column_by_column) {
    const int64_t along = g->reversed ? g->T_r - 1 - i : i;
    return (Span){0, g->line + (along < g->n_done)};
  }
  if (i != g->line) return (Span){0, i < g->line ? g->T_c : 0};
  return g->reversed ? (Span){g->T_c - g->n_done, g->T_c} : (Span){0, g->n_done};
}

static int add_run(TileRun *runs, int n, int64_t begin, int64_t end, int look) {
  if (n > 0 && (runs[n - 1].look == look || n == RUNS_MAX)) { /* so many are narrower than a pixel */
    runs[n - 1].end = end;
    return n;
  }
  runs[n] = (TileRun){begin, end, look};
  return n + 1;
}

static int look_of(TileKind kind) {
  return kind == TILE_SKIPPED ? LOOK_SKIPPED : kind == TILE_PARTIAL ? LOOK_PARTIAL : 0;
}

/* Of a mask that is no band: tile by tile. */
static int runs_of_pattern(const SnapshotGrid *g, int64_t i, Span done, TileRun *runs) {
  int n = 0;
  for (int64_t j = 0; j < g->T_c; j++) {
    const int look = (j >= done.begin && j < done.end ? LOOK_DONE : 0) | look_of(snapshot_tile(g, i, j).kind);
    n = add_run(runs, n, j, j + 1, look);
  }
  return n;
}

static int runs_of_row(const SnapshotGrid *g, int64_t i, TileRun *runs) {
  const Span done = done_in_row(g, i);
  if (g->mask.pattern || g->diagonal) return runs_of_pattern(g, i, done, runs);
  const BandRow band = band_row(&g->mask.band, g->B_r, g->B_c, i);
  const Span computed = g->skips ? band.computed : (Span){0, g->T_c};
  enum { CUTS = 8 };
  int64_t cuts[CUTS] = {0, computed.begin, band.full.begin, band.full.end, computed.end, done.begin, done.end, g->T_c};
  int n = 0;
  for (int a = 1; a < CUTS; a++) /* insertion sort */
    for (int b = a; b > 0 && cuts[b] < cuts[b - 1]; b--) {
      const int64_t swap = cuts[b];
      cuts[b] = cuts[b - 1];
      cuts[b - 1] = swap;
    }
  for (int k = 0; k + 1 < CUTS; k++) {
    const int64_t begin = cuts[k], end = cuts[k + 1];
    if (end <= begin || begin < 0 || end > g->T_c) continue;
    int look = begin >= done.begin && begin < done.end ? LOOK_DONE : 0;
    if (begin < computed.begin || begin >= computed.end)
      look |= LOOK_SKIPPED;
    else if (begin < band.full.begin || begin >= band.full.end)
      look |= LOOK_PARTIAL;
    n = add_run(runs, n, begin, end, look);
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
  const double right = (double)g->mask.band.offset + (double)min2((double)g->mask.band.after, far) + 0.5;
  const double left = (double)g->mask.band.offset - (double)min2((double)g->mask.band.before, far) - 0.5;
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

/* The same under a pattern: row by row and pair by pair, of large tiles some of them. */
static void path_of_hidden(const Grid *v, Box tile, int64_t i, int64_t j) {
  enum { MOST = 16 };
  const SnapshotGrid *g = v->g;
  const int64_t n_rows = g->B_r < MOST ? g->B_r : MOST, n_cols = g->B_c < MOST ? g->B_c : MOST;
  const double height = tile.height / (double)n_rows, width = tile.width / (double)n_cols;
  for (int64_t r = 0; r < n_rows; r++) {
    const int64_t row = i * g->B_r + (2 * r + 1) * g->B_r / (2 * n_rows);
    int64_t from = 0; /* of the hidden ones before column c */
    for (int64_t c = 0; c <= n_cols; c++) {
      const int64_t col = j * g->B_c + (2 * c + 1) * g->B_c / (2 * n_cols);
      if (c < n_cols && (row >= g->N_q || col >= g->N_k || !mask_allows(&g->mask, row, col))) continue;
      if (c > from)
        cairo_rectangle(v->pen->cr, tile.x + width * (double)from, tile.y + height * (double)r,
                        width * (double)(c - from), height);
      from = c + 1;
    }
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
        if (v->g->mask.pattern)
          path_of_hidden(v, tile, i, j);
        else
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

/* ---- What moves ---------------------------------------------------------------------------------------------
 *
 *         K ▪▪▪▪▪▪▪        A block drops from its strip to the tile that needs it, or waits at the head of its row or
 *           │  ↓           column when it is there for all of it; scores fill the tile, and flow as weights to O; what
 *       Q ▪→┌──▓──→▪ O     was there before fades. Where a body is follows from the snapshot and the phase alone. */

static bool is_small(const Grid *v) { return min2(v->cell_x, v->cell_y) < 7 * v->pen->unit; }

/* A tile as it is shown where something happens in it: never so small that it cannot be seen. */
static Box shown_tile(const Grid *v, int64_t i, int64_t j) {
  const Box tile = tile_box(v, i, j);
  const double side = round(13 * v->pen->unit);
  if (!is_small(v)) return tile;
  return box_at(tile.x + tile.width / 2 - side / 2, tile.y + tile.height / 2 - side / 2, side, side);
}

static SnapshotLies lies(const Grid *v, int tensor) { return snapshot_lies(v->pen->now, tensor); }
static bool is_upright(const Grid *v, int tensor) { return lies(v, tensor) == LIES_BY_ROWS; }
static bool is_scores(const Grid *v, int tensor) { return lies(v, tensor) == LIES_BY_TILES; }
static const ProgramTensor *value_of(const Grid *v, int tensor) { return &v->pen->now->schedule->tensors[tensor]; }
static bool is_input(const Grid *v, int tensor) { return value_of(v, tensor)->role == TENSOR_INPUT; }
static bool has_strip(const Grid *v, int tensor) { return v->strips[tensor].width > 0 && !is_scores(v, tensor); }

/* Its position among the strips on its side of the tiles, from the tiles outwards. */
static int rank_of(const Grid *v, int tensor) {
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
                   : first ? rank_of(v, tensor)
                           : rank_of(v, tensor) * 2; /* from the tile's edge, or tiles' */
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
    pen_tile(pen, t, box_between(dock, home, part), pen_lit(pen, orange, moves || pen_talks_of(pen, t)),
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
  const Box a = by_column ? tile_box(v, k->first, line) : tile_box(v, line, k->first),
            b = by_column ? tile_box(v, last, line) : tile_box(v, line, last);
  const double thick = fmax(2, round(4 * pen->unit));
  Box strike;
  if (by_column)
    strike = box_at(a.x + a.width / 2 - thick / 2, a.y, thick, b.y + part * v->cell_y - a.y);
  else
    strike = box_at(a.x, a.y + a.height / 2 - thick / 2, b.x + part * v->cell_x - a.x, thick);
  pen_fill(pen, strike, t->tile[TILE_COLOUR_CURRENT], alpha);
  const double end = 2.2 * thick;
  const Box head = by_column ? box_at(strike.x + thick / 2 - end / 2, strike.y + strike.height - end / 2, end, end)
                             : box_at(strike.x + strike.width - end / 2, strike.y + thick / 2 - end / 2, end, end);
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
  const Box a = tile_box(v, now->event.i, now->skips.first),
            b = tile_box(v, now->event.i, now->skips.first + now->skips.n - 1);
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

static void path_of_masked(const Grid *v, Box tile, int64_t i, int64_t j);

static void draw_mask_of(const Grid *v, Box tile, double alpha) {
  const SnapshotGrid *g = v->g;
  if (v->pen->hit || alpha <= 0 || is_small(v)) return;
  cairo_t *cr = v->pen->cr;
  cairo_save(cr);
  cairo_rectangle(cr, tile.x, tile.y, tile.width, tile.height);
  cairo_clip(cr);
  cairo_new_path(cr);
  path_of_masked(v, tile, g->i, g->j);
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

static void draw_current(const Grid *v) {
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

static void point_at_tiles(const Grid *v) {
  const Pen *pen = v->pen;
  if (pen->view->regions && v->g->T_r * v->g->T_c <= SCENE_REGIONS_MAX / 2) {
    for (int64_t i = 0; i < v->g->T_r; i++)
      for (int64_t j = 0; j < v->g->T_c; j++) pen_region(pen, HIT_TILE, 0, i, j, 0, tile_box(v, i, j));
  } else if (pen->hit) {
    const int64_t i = (int64_t)floor((pen->hit_y - v->box.y) / v->cell_y),
                  j = (int64_t)floor((pen->hit_x - v->box.x) / v->cell_x);
    const Box tile = tile_box(v, i, j); /* in a mixed grid it may lie beside the point, by less than a unit */
    if (i >= 0 && j >= 0 && i < v->g->T_r && j < v->g->T_c)
      *pen->hit = (SceneHit){HIT_TILE, 0, i + pen->lens_i, j + pen->lens_j, 0, tile.x, tile.y, tile.width, tile.height};
  } else if (pen->view->hover.kind == HIT_TILE) {
    const int64_t i = pen->view->hover.i - pen->lens_i, j = pen->view->hover.j - pen->lens_j;
    if (i >= 0 && j >= 0 && i < v->g->T_r && j < v->g->T_c) pen_region(pen, HIT_TILE, 0, i, j, 0, tile_box(v, i, j));
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

/* How much of a block of a result is in HBM for good: all of it in lines of tiles that are finished. Where the walk
 * goes across it, it comes and goes, and holds the tiles so far. */
static double part_written(const Snapshot *now, int tensor, bool upright, int64_t block) {
  const SnapshotGrid *g = &now->grid;
  if (now->traffic.write[tensor] == now->whole.write[tensor]) return 1; /* by a pass before this one, too */
  if (!now->has_event || now->event.pass < last_pass(now->schedule, tensor)) return 0;
  if (g->lap >= g->n_laps) return block < (upright ? now->event.i : now->event.j); /* without tiles */
  if (upright != g->column_by_column) return block < g->line;
  if (!upright) return 0;
  const Span all = {0, g->T_c}, tiles = g->skips ? band_row(&g->mask.band, g->B_r, g->B_c, block).computed : all;
  const int64_t along = g->reversed ? g->T_r - 1 - block : block, n = g->line + (along < g->n_done);
  return tiles.end > tiles.begin ? fmin(1, fmax(0, (double)(n - tiles.begin) / (double)(tiles.end - tiles.begin))) : 0;
}

static void draw_written(const Pen *pen, Box block, double part) {
  const Theme *t = pen->theme;
  pen_fill(pen, box_at(block.x, block.y, ceil(part * block.width), block.height),
           t->tile[part < 1 ? TILE_COLOUR_PARTIAL : TILE_COLOUR_DONE], 1);
}

/* One strip of blocks. Blocks in SRAM are in the colour of what is at work. */
static void draw_strip(const Grid *v, int tensor) {
  const Pen *pen = v->pen;
  const Theme *t = pen->theme;
  const Box strip = v->strips[tensor];
  const bool upright = is_upright(v, tensor), input = is_input(v, tensor);
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
    if (!input && !in_sram(v, tensor, k)) draw_written(pen, block, part_written(pen->now, tensor, upright, k));
    if (!small && v->gap >= 1 && k + 1 < n)
      pen_fill(pen,
               upright ? box_at(strip.x, at + cell - v->gap, strip.width, v->gap)
                       : box_at(at + cell - v->gap, strip.y, v->gap, strip.height),
               t->background, 1);
    if (!small || pen->hit == NULL) {
      const SceneHit *hover = &pen->view->hover;
      const bool linked = hover->kind == HIT_TILE && (upright ? hover->i == k : hover->j == k);
      if (in_sram(v, tensor, k) && input) /* a copy of it is on chip */
        pen_fill(pen, block, theme_mix(t->tile[TILE_COLOUR_WAITING], t->tile[TILE_COLOUR_CURRENT], 0.45), 1);
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
    const int t = v->flat[k], rank = rank_of(v, t);
    const double y = k < v->n_top ? b.y - gap - strip - rank * step : b.y + down + gap + rank * step;
    v->strips[t] = box_at(b.x, y, across, strip);
  }
  for (int k = 0; k < v->n_upright; k++) {
    const int t = v->upright[k], rank = rank_of(v, t);
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
  return box_at(v.box.x, v.box.y, v.box.width, v.box.height + below);
}

/* ---- Lens ------------------------------------------------------------------------------------------------ */

enum { LENS_TILES = 9, LENS_FROM = 40 /* tiles a side from which on there is one */ };

static int64_t clamped(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

static void shift(int64_t *index, int64_t by) {
  if (*index >= 0) *index -= by;
}

/* The same moment with rows of tiles from i0 and columns from j0 on alone: all indices count from there. */
static void look_closer(const Snapshot *now, int64_t i0, int64_t j0, Snapshot *lens) {
  *lens = *now;
  SnapshotGrid *g = &lens->grid;
  const int64_t rows = now->grid.N_q - i0 * g->B_r, cols = now->grid.N_k - j0 * g->B_c;
  g->N_q = rows < LENS_TILES * g->B_r ? rows : LENS_TILES * g->B_r;
  g->N_k = cols < LENS_TILES * g->B_c ? cols : LENS_TILES * g->B_c;
  g->T_r = (g->N_q + g->B_r - 1) / g->B_r;
  g->T_c = (g->N_k + g->B_c - 1) / g->B_c;
  g->mask = mask_part(&g->mask, i0 * g->B_r, j0 * g->B_c, g->N_q, g->N_k);
  shift(&g->i, i0);
  shift(&g->j, j0);
  const int64_t first = g->column_by_column ? j0 : i0, along = g->column_by_column ? i0 : j0,
                length = g->column_by_column ? g->T_r : g->T_c;
  g->n_done = g->line < first ? 0 : clamped(g->n_done - along, 0, length);
  g->line = g->line < first ? 0 : g->line - first;
  shift(&lens->event.i, i0);
  shift(&lens->event.j, j0);
  shift(&lens->before.i, i0);
  shift(&lens->before.j, j0);
  lens->skips.first -= along;
  lens->before.skips.first -= along;
  for (int k = 0; k < now->schedule->n_values; k++) {
    shift(&lens->slots[k].i, i0);
    shift(&lens->slots[k].j, j0);
    shift(&lens->before.slots[k].i, i0);
    shift(&lens->before.slots[k].j, j0);
  }
}

bool draw_lens(const Pen *pen, Box box) {
  const SnapshotGrid *g = &pen->now->grid;
  if ((g->T_r < LENS_FROM && g->T_c < LENS_FROM) || box.width < 150 * pen->unit || box.height < 150 * pen->unit)
    return false;
  const int64_t i = g->i >= 0             ? g->i
                    : g->column_by_column ? 0
                                          : clamped(g->line, 0, g->T_r - 1),
                j = g->j >= 0             ? g->j
                    : g->column_by_column ? clamped(g->line, 0, g->T_c - 1)
                                          : 0;
  Pen closer = *pen;
  Snapshot lens;
  /* The window moves by whole windows, so that tiles stay where they are while the walk goes through it. */
  closer.lens_i = clamped(i - LENS_TILES / 2, 0, g->T_r > LENS_TILES ? g->T_r - LENS_TILES : 0);
  closer.lens_j = clamped(j / LENS_TILES * LENS_TILES, 0, g->T_c > LENS_TILES ? g->T_c - LENS_TILES : 0);
  if (g->column_by_column) {
    closer.lens_i = clamped(i / LENS_TILES * LENS_TILES, 0, g->T_r > LENS_TILES ? g->T_r - LENS_TILES : 0);
    closer.lens_j = clamped(j - LENS_TILES / 2, 0, g->T_c > LENS_TILES ? g->T_c - LENS_TILES : 0);
  }
  look_closer(pen->now, closer.lens_i, closer.lens_j, &lens);
  closer.now = &lens;
  const double small = pen_size(pen, TYPE_SMALL);
  char words[96];
  const Box head = box_cut_top(&box, 1.7 * small, 0);
  snprintf(words, sizeof words, "Closer: rows %" PRId64 " to %" PRId64 ", columns %" PRId64 " to %" PRId64 " of tiles",
           closer.lens_i, closer.lens_i + lens.grid.T_r - 1, closer.lens_j, closer.lens_j + lens.grid.T_c - 1);
  if (pen_text_width(pen, TYPE_SMALL, false, words) > head.width) snprintf(words, sizeof words, "Closer");
  pen_text(pen, TYPE_SMALL, pen->theme->ink, false, ANCHOR_START, head.x, head.y + 1.1 * small, head.width, words);
  cairo_save(pen->cr);
  cairo_rectangle(pen->cr, box.x, box.y, box.width, box.height);
  cairo_clip(pen->cr);
  draw_grid(&closer, box, NULL);
  cairo_restore(pen->cr);
  return true;
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
  const Shape *s = &pen->now->problem.shape;
  const bool masked = s->causal || s->window || s->sided || s->pattern;
  const double side = round(0.95 * pen_size(pen, TYPE_SMALL)), base = box.y + 1.35 * pen_size(pen, TYPE_SMALL);
  const double gap = 14 * pen->unit;
  double x = box.x, widths[5], needed = -gap;
  bool shown[5];
  for (int k = 0; k < 5; k++) {
    shown[k] =
        (masked || ITEMS[k].colour < TILE_COLOUR_PARTIAL) && (g->skips || ITEMS[k].colour != TILE_COLOUR_SKIPPED);
    const bool again =
        ITEMS[k].colour == TILE_COLOUR_WAITING && g->n_laps > 1 && g->lap > 0; /* waits for its next pass */
    widths[k] =
        side + 6 * pen->unit + pen_text_width(pen, TYPE_SMALL, false, again ? "waiting for this pass" : ITEMS[k].text);
    if (shown[k]) needed += widths[k] + gap;
  }
  for (int k = 0; k < 4 && needed > box.width;
       k++) { /* what is skipped stays the longest: it looks like nothing else */
    if (shown[k]) needed -= widths[k] + gap;
    shown[k] = false;
  }
  if (needed > box.width) return;
  for (int k = 0; k < 5; k++) {
    if (!shown[k]) continue;
    const bool again = ITEMS[k].colour == TILE_COLOUR_WAITING && g->n_laps > 1 && g->lap > 0;
    const char *text = again ? "waiting for this pass" : ITEMS[k].text;
    const double width = widths[k];
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
    x += width + gap;
  }
}
