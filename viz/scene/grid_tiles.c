/* The tiles of the score matrix as they stand, and what their looks mean. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "viz/scene/grid_view.h"

/* ---- Runs ------------------------------------------------------------------------------------------------ */

enum { LOOK_DONE = 1, LOOK_PARTIAL = 2, LOOK_SKIPPED = 4, RUNS_MAX = 2048 };

typedef struct {
  int64_t begin, end;
  int look;
} TileRun;

static int add_run(TileRun *runs, int n, int64_t begin, int64_t end, int look) {
  if (n > 0 && (runs[n - 1].look == look || n == RUNS_MAX)) { /* then they are narrower than a pixel */
    runs[n - 1].end = end;
    return n;
  }
  runs[n] = (TileRun){begin, end, look};
  return n + 1;
}

static int look_of(TileKind kind) {
  return kind == TILE_SKIPPED ? LOOK_SKIPPED : kind == TILE_PARTIAL ? LOOK_PARTIAL : 0;
}

static bool is_done(const Span done[2], int64_t j) {
  return (j >= done[0].begin && j < done[0].end) || (j >= done[1].begin && j < done[1].end);
}

/* Of a mask that is no band: tile by tile. */
static int runs_of_pattern(const SnapshotGrid *g, int64_t i, const Span done[2], TileRun *runs) {
  int n = 0;
  for (int64_t j = 0; j < g->T_c; j++) {
    const int look = (is_done(done, j) ? LOOK_DONE : 0) | look_of(snapshot_tile(g, i, j).kind);
    n = add_run(runs, n, j, j + 1, look);
  }
  return n;
}

static int runs_of_row(const SnapshotGrid *g, int64_t i, TileRun *runs) {
  Span done[2];
  snapshot_done_in_row(g, i, done);
  if (g->mask.pattern || g->diagonal) return runs_of_pattern(g, i, done, runs);
  const BandRow band = band_row(&g->mask.band, g->B_r, g->B_c, i);
  const Span computed = g->skips ? band.computed : (Span){0, g->T_c};
  enum { CUTS = 10 };
  int64_t cuts[CUTS] = {0,           computed.begin, band.full.begin, band.full.end, computed.end, done[0].begin,
                        done[0].end, done[1].begin,  done[1].end,     g->T_c};
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
    int look = is_done(done, begin) ? LOOK_DONE : 0;
    if (begin < computed.begin || begin >= computed.end)
      look |= LOOK_SKIPPED;
    else if (begin < band.full.begin || begin >= band.full.end)
      look |= LOOK_PARTIAL;
    n = add_run(runs, n, begin, end, look);
  }
  return n;
}

/* A tile that waits for its next pass holds data where a pass before has stored it. */
static TileColour state_of(const Grid *v, int look) {
  if (look & LOOK_SKIPPED) return TILE_COLOUR_SKIPPED;
  if (look & LOOK_DONE) return look & LOOK_PARTIAL ? TILE_COLOUR_PARTIAL : TILE_COLOUR_DONE;
  return v->g->lap > 0 && v->keeps_scores ? TILE_COLOUR_HELD : TILE_COLOUR_EMPTY;
}

/* ---- A grid whose tiles can be told apart ------------------------------------------------------------------ */

static void draw_rows(const Grid *v) {
  TileRun runs[RUNS_MAX];
  for (int64_t i = 0; i < v->g->T_r; i++) {
    const int n = runs_of_row(v->g, i, runs);
    for (int k = 0; k < n; k++) {
      if (runs[k].look & LOOK_SKIPPED) continue;
      const Box first = grid_tile(v, i, runs[k].begin), last = grid_tile(v, i, runs[k].end - 1);
      pen_fill(v->pen, box_at(first.x, first.y, last.x + last.width - first.x, first.height),
               v->pen->theme->tile[state_of(v, runs[k].look)], 1);
    }
  }
}

/* Each empty tile has its outline; where there is no room for two lines between tiles they share one. */
static void draw_empty(const Grid *v) {
  TileRun runs[RUNS_MAX];
  if (!grid_is_lined(v, fmin(v->cell_x, v->cell_y))) return;
  const double line = fmax(1, round(v->pen->unit));
  const bool shared = v->gap < 2;
  for (int64_t i = 0; i < v->g->T_r; i++) {
    const int n = runs_of_row(v->g, i, runs);
    for (int k = 0; k < n; k++)
      for (int64_t j = runs[k].begin; j < runs[k].end && state_of(v, runs[k].look) == TILE_COLOUR_EMPTY; j++) {
        const Box tile = grid_tile(v, i, j);
        const int right = j == v->g->T_c - 1, below = i == v->g->T_r - 1; /* a cut tile ends before the frame */
        if (shared)
          pen_add_ring(v->pen, (Box){tile.x - 1, tile.y - 1, tile.width + 1 + right, tile.height + 1 + below}, tile);
        else
          pen_add_empty(v->pen, tile, line);
      }
  }
  pen_outline_added(v->pen);
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
void grid_path_of_masked(const Grid *v, Box tile, int64_t i, int64_t j) {
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
        const Box tile = grid_tile(v, i, j);
        cairo_save(v->pen->cr);
        cairo_rectangle(v->pen->cr, tile.x, tile.y, tile.width, tile.height);
        cairo_clip(v->pen->cr);
        cairo_new_path(v->pen->cr);
        if (v->g->mask.pattern)
          path_of_hidden(v, tile, i, j);
        else
          grid_path_of_masked(v, tile, i, j);
        if (state_of(v, runs[k].look) == TILE_COLOUR_EMPTY)
          theme_use(v->pen->cr, t->grid, 1);
        else
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
      const Colour colour = v->pen->theme->tile[state_of(v, runs[r].look)];
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

void grid_draw_tiles(const Grid *v) {
  if (v->cell_x < 1 || v->cell_y < 1) {
    draw_mixed(v);
  } else {
    draw_rows(v);
    draw_gaps(v);
    draw_masked(v);
    draw_empty(v);
  }
  draw_skipped(v);
}

/* ---- Legend ---------------------------------------------------------------------------------------------- */

double legend_height(const Pen *pen) { return 1.9 * pen_size(pen, TYPE_SMALL); }

void draw_legend(const Pen *pen, double x, double y, double width) {
  static const char *const WORDS[N_TILE_COLOURS] = {
      [TILE_COLOUR_EMPTY] = "empty", [TILE_COLOUR_HELD] = "holds data", [TILE_COLOUR_CURRENT] = "at work",
      [TILE_COLOUR_DONE] = "done",   [TILE_COLOUR_PARTIAL] = "partial", [TILE_COLOUR_SKIPPED] = "never loaded"};
  const Shape *s = &pen->now->problem.shape;
  const bool masked = s->causal || s->window || s->sided || s->pattern;
  const double side = round(0.95 * pen_size(pen, TYPE_SMALL)), base = y + 1.35 * pen_size(pen, TYPE_SMALL);
  double widths[N_TILE_COLOURS], needed = 0;
  bool shown[N_TILE_COLOURS];
  int n = 0;
  for (int k = 0; k < N_TILE_COLOURS; k++) {
    shown[k] = (masked || k < TILE_COLOUR_PARTIAL) && (pen->now->grid.skips || k != TILE_COLOUR_SKIPPED);
    widths[k] = side + 6 * pen->unit + pen_text_width(pen, TYPE_SMALL, false, WORDS[k]);
    if (shown[k]) needed += widths[k], n++;
  }
  const double wide = 14 * pen->unit, gap = needed + (n - 1) * wide > width ? wide / 2 : wide;
  needed += (n - 1) * gap;
  for (int k = 0; k < TILE_COLOUR_SKIPPED && needed > width;
       k++) { /* what is skipped stays the longest: it looks like nothing else */
    if (shown[k]) needed -= widths[k] + gap;
    shown[k] = false;
  }
  if (needed > width) return;
  for (int k = 0; k < N_TILE_COLOURS; k++) {
    if (!shown[k]) continue;
    pen_state(pen, box_at(x, base - 0.82 * side, side, side), (TileColour)k);
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, x + side + 6 * pen->unit, base, 0, WORDS[k]);
    x += widths[k] + gap;
  }
}
