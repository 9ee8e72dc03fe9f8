/* The map of block sizes: a cell for each B_r and B_c, the darker the more bytes; where SRAM ends; this run and the
 * best that fits. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/chart_panels.h"
#include "viz/text/number.h"

typedef struct {
  const BlockMap *map;
  Box plane;            /* n_k x n_q cells, B_r growing upwards */
  double width, height; /* of a cell */
} MapPlane;

static double place_k(const MapPlane *m, double k) {
  return m->plane.x + m->width * (log2(k / (double)m->map->k[0]) + 0.5);
}
static double place_q(const MapPlane *m, double q) {
  return m->plane.y + m->plane.height - m->height * (log2(q / (double)m->map->q[0]) + 0.5);
}

static Box cell_at(const MapPlane *m, int q, int k) {
  return (Box){m->plane.x + k * m->width, m->plane.y + (m->map->n_q - 1 - q) * m->height, m->width, m->height};
}

static bool is_flat(const BlockMap *map) { return !(map->high_bytes > map->low_bytes); }

/* Where neither black nor white letters would be read by all eyes, the ramp has no colours: on white that is its end,
 * on black its middle. */
Colour map_heat(const Theme *t, double part) {
  const double shown = !t->dark ? 0.85 * part : part < 0.5 ? 1.1 * part : 0.66 + 0.68 * (part - 0.5);
  return theme_mix(theme_mix(t->background, t->series[INK_BLUE], 0.08), t->series[INK_BLUE], shown);
}

/* Full black or white: the theme's own inks are a little softer, and in the middle of the ramp too soft. */
Colour map_ink(Colour fill) {
  const Colour black = {0, 0, 0}, white = {255, 255, 255};
  return theme_contrast(black, fill) > theme_contrast(white, fill) ? black : white;
}

static Colour heat(const Theme *t, const BlockMap *map, double bytes) {
  const double part = is_flat(map) ? 0.5 : log(bytes / map->low_bytes) / log(map->high_bytes / map->low_bytes);
  return map_heat(t, part);
}

static void draw_cell(const Pen *pen, const MapPlane *m, int q, int k) {
  const Theme *t = pen->theme;
  const BlockMap *map = m->map;
  const double line = fmax(1, round(pen->unit));
  Box box = cell_at(m, q, k);
  box = (Box){box.x, box.y, box.width - line, box.height - line};
  if (map->fits[q][k]) {
    pen_fill(pen, box, heat(t, map, map->bytes[q][k]), 1);
  } else {
    cairo_new_path(pen->cr);
    cairo_rectangle(pen->cr, box.x, box.y, box.width, box.height);
    pen_hatch_path(pen, box, t->panel, theme_mix(t->panel, t->axis, 0.6));
    cairo_new_path(pen->cr);
  }
}

/* Bytes in two digits, for a cell that has no room for more. */
static void short_bytes(double bytes, char *text, size_t size) {
  static const char *const UNITS[] = {"B", "K", "M", "G", "T", "P", "E"};
  int unit = 0;
  for (; bytes >= 999.5 && unit < 6; unit++) bytes /= 1024;
  snprintf(text, size, "%.*f %s", bytes < 9.95 && unit > 0 ? 1 : 0, bytes, UNITS[unit]);
}

/* Whether the line of what fits goes through a box. */
static bool is_crossed(const MapPlane *m, Box box) {
  enum { PARTS = 8 };
  double x0 = 0, y0 = 0;
  for (int e = 0; e < CHART_FRONTIER; e++) {
    const double x = place_k(m, fmax(1, m->map->edge_k[e])), y = place_q(m, m->map->edge_q[e]);
    for (int part = 0; e > 0 && part <= PARTS; part++) {
      const double at_x = x0 + (x - x0) * part / PARTS, at_y = y0 + (y - y0) * part / PARTS;
      if (at_x > box.x && at_x < box.x + box.width && at_y > box.y && at_y < box.y + box.height) return true;
    }
    x0 = x;
    y0 = y;
  }
  return false;
}

static void write_cell(const Pen *pen, const MapPlane *m, int q, int k) {
  const BlockMap *map = m->map;
  const Box box = cell_at(m, q, k);
  if (map->bytes[q][k] <= 0 || !map->fits[q][k]) return;
  const double room = box.width - 4 * pen->unit;
  char words[NUMBER_CHARS];
  snprintf(words, sizeof words, "%s", number_bytes((Wide)map->bytes[q][k]).text);
  if (pen_text_width(pen, TYPE_SMALL, false, words) > room) short_bytes(map->bytes[q][k], words, sizeof words);
  const double width = pen_text_width(pen, TYPE_SMALL, false, words), small = pen_size(pen, TYPE_SMALL);
  if (width > room) return;
  const Box letters = {box.x + (box.width - width) / 2 - 3 * pen->unit, box.y + 0.3 * small, width + 6 * pen->unit,
                       1.3 * small};
  if (is_crossed(m, letters)) return; /* its neighbours say about the same */
  pen_text(pen, TYPE_SMALL, map_ink(heat(pen->theme, map, map->bytes[q][k])), false, ANCHOR_MIDDLE,
           box.x + box.width / 2, box.y + 1.25 * small, 0, words);
}

static void draw_sizes(const Pen *pen, const MapPlane *m) {
  const double small = pen_size(pen, TYPE_SMALL);
  const int step_q = m->height < 1.3 * small ? 2 : 1, step_k = m->width < 3.2 * small ? 2 : 1;
  for (int q = 0; q < m->map->n_q; q += step_q) {
    const Box cell = cell_at(m, q, 0);
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, m->plane.x - 8 * pen->unit,
             cell.y + cell.height / 2 + 0.36 * small, 0, number_tokens((Wide)m->map->q[q]).text);
  }
  for (int k = 0; k < m->map->n_k; k += step_k) {
    const Box cell = cell_at(m, 0, k);
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_MIDDLE, cell.x + cell.width / 2,
             m->plane.y + m->plane.height + 1.15 * small, 0, number_tokens((Wide)m->map->k[k]).text);
  }
}

/* The largest B_c beside each B_r: what lies to the right of the line and above it does not fit. */
static void draw_edge(const Pen *pen, const MapPlane *m) {
  cairo_t *cr = pen->cr;
  cairo_save(cr);
  cairo_rectangle(cr, m->plane.x, m->plane.y, m->width * m->map->n_k, m->plane.height);
  cairo_clip(cr);
  cairo_new_path(cr);
  for (int e = 0; e < CHART_FRONTIER; e++) {
    const double k = m->map->edge_k[e], x = k >= 1 ? place_k(m, k) : m->plane.x - m->width;
    cairo_line_to(cr, fmin(x, m->plane.x + m->width * (m->map->n_k + 1)), place_q(m, m->map->edge_q[e]));
  }
  theme_use(cr, pen->theme->ink, 1);
  cairo_set_line_width(cr, 2.6 * pen->unit);
  cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
  cairo_stroke(cr);
  cairo_restore(cr);
}

static void diamond(cairo_t *cr, double x, double y, double radius) {
  cairo_new_path(cr);
  cairo_move_to(cr, x, y - radius);
  cairo_line_to(cr, x + radius, y);
  cairo_line_to(cr, x, y + radius);
  cairo_line_to(cr, x - radius, y);
  cairo_close_path(cr);
  cairo_fill(cr);
}

static void draw_best(const Pen *pen, double x, double y, double radius) {
  theme_use(pen->cr, pen->theme->panel, 1);
  diamond(pen->cr, x, y, radius * 1.3 + 3 * pen->unit);
  theme_use(pen->cr, pen->theme->ink, 1);
  diamond(pen->cr, x, y, radius * 1.3);
}

static void draw_marks(const Pen *pen, const MapPlane *m, bool has_words) {
  const SnapshotGrid *g = &pen->now->grid;
  const BlockMap *map = m->map;
  const double radius = fmin(6.5 * pen->unit, 0.3 * fmin(m->width, m->height)), drop = has_words ? 0.24 * m->height : 0;
  const bool has_best = map->has_best && !is_flat(map);
  const bool together = has_best && map->q[map->best_q] == g->B_r && map->k[map->best_k] == g->B_c;
  const double aside = together ? fmin(1.7 * radius, 0.24 * m->width) : 0;
  if (has_best) {
    const Box best = cell_at(m, map->best_q, map->best_k);
    draw_best(pen, best.x + best.width / 2 + aside, best.y + best.height / 2 + drop, radius);
  }
  const double x = place_k(m, (double)g->B_c), y = place_q(m, (double)g->B_r);
  draw_dot(pen, x - aside, y + drop, radius);
}

/* ---- The legend: as many lines as its entries need ------------------------------------------------------- */

typedef enum { KEY_RUN = 0, KEY_BEST, KEY_EDGE, KEY_HEAT, KEY_COUNT } KeyEntry;

static void key_words(const Pen *pen, const BlockMap *map, KeyEntry entry, char *text, size_t size) {
  const SnapshotGrid *g = &pen->now->grid;
  text[0] = '\0';
  if (entry == KEY_RUN) snprintf(text, size, "this run %" PRId64 " × %" PRId64, g->B_r, g->B_c);
  if (entry == KEY_BEST && map->has_best && !is_flat(map))
    snprintf(text, size, "best that fits %" PRId64 " × %" PRId64, map->q[map->best_q], map->k[map->best_k]);
  if (entry == KEY_EDGE) snprintf(text, size, "SRAM, %s", number_bytes((Wide)pen->now->sram_capacity_bytes).text);
  if (entry == KEY_HEAT && is_flat(map)) snprintf(text, size, "the same at every size");
  if (entry == KEY_HEAT && !is_flat(map)) {
    snprintf(text, size, "%s", number_bytes((Wide)map->low_bytes).text);
    snprintf(text + strlen(text), size - strlen(text), " to %s", number_bytes((Wide)map->high_bytes).text);
  }
}

static void draw_key_sign(const Pen *pen, const BlockMap *map, KeyEntry entry, double x, double y, double width) {
  const double u = pen->unit, r = 5.5 * u;
  if (entry == KEY_RUN) draw_dot(pen, x + width / 2, y, r);
  if (entry == KEY_BEST) draw_best(pen, x + width / 2, y, r);
  if (entry == KEY_EDGE) pen_fill(pen, box_at(x, y - 1.3 * u, width, fmax(2, 2.6 * u)), pen->theme->ink, 1);
  for (int part = 0; part < 4 && entry == KEY_HEAT; part++) {
    const double bytes =
        is_flat(map) ? map->low_bytes : map->low_bytes * pow(map->high_bytes / map->low_bytes, part / 3.0);
    pen_fill(pen, box_at(x + part * width / 4, y - 6 * u, ceil(width / 4), 12 * u), heat(pen->theme, map, bytes), 1);
  }
}

/* Returns the number of lines. */
static int draw_key(const Pen *pen, const BlockMap *map, Box box, bool draw) {
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL), line = 1.45 * small;
  double x = box.x;
  int n = 1;
  for (int entry = 0; entry < KEY_COUNT; entry++) {
    char words[2 * NUMBER_CHARS + 32];
    key_words(pen, map, (KeyEntry)entry, words, sizeof words);
    if (!*words) continue;
    const double sign = (entry == KEY_HEAT ? 40 : 18) * u,
                 width = sign + 7 * u + pen_text_width(pen, TYPE_SMALL, false, words);
    if (x > box.x && x + width > box.x + box.width) x = box.x, n++;
    const double y = box.y + line * (n - 0.5);
    if (draw) draw_key_sign(pen, map, (KeyEntry)entry, x, y, sign);
    if (draw)
      pen_text(pen, TYPE_SMALL, pen->theme->ink, false, ANCHOR_START, x + sign + 7 * u, y + 0.36 * small,
               fmax(1, box.x + box.width - x - sign - 7 * u), words);
    x += width + 20 * u;
  }
  return n;
}

void draw_blocks(const Pen *pen, Box box, const ChartNumbers *c, bool is_alone) {
  const BlockMap *map = &c->map;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  Box in = pen_panel(pen, box, is_alone ? "Traffic of every block size" : "Traffic by block", "B_r up, B_c across");
  const int lines = draw_key(pen, map, in, false);
  const Box key = box_cut_bottom(&in, 1.45 * small * lines, 6 * u);
  box_cut_bottom(&in, 1.6 * small, 0);
  box_cut_left(&in, 3.2 * small + 8 * u, 0);
  MapPlane m = {.map = map, .plane = in};
  m.width = floor(in.width / map->n_k);
  m.height = floor(in.height / map->n_q);
  if (m.width < 3 || m.height < 3) return;
  m.plane.height = m.height * map->n_q;
  const bool has_words = is_alone && m.height > 2.6 * small && m.width > 4.4 * small;
  for (int q = 0; q < map->n_q; q++)
    for (int k = 0; k < map->n_k; k++) draw_cell(pen, &m, q, k);
  draw_edge(pen, &m);
  for (int cell = 0; has_words && cell < map->n_q * map->n_k; cell++)
    write_cell(pen, &m, cell / map->n_k, cell % map->n_k);
  draw_marks(pen, &m, has_words);
  draw_sizes(pen, &m);
  draw_key(pen, map, key, true);
}
