/* Marks, reference lines and shaded stretches of a chart, and where their words go. */
#include "viz/chart/chart_layout.h"

#include <math.h>
#include <string.h>

/* ---- words ---- */

static PlaceBox words_box(const ChartLayout *layout, const char *text) {
  double u = layout->canvas.unit;
  return (PlaceBox){0, 0, canvas_text_width(&layout->canvas, TYPE_TICK, false, text), TYPE_TICK * 1.2 * u};
}

/* Words on a patch of what lies behind them, so that lines do not run through letters. */
static void draw_words(const ChartLayout *layout, const PlaceBox *box, Colour behind, const char *text) {
  const Canvas *canvas = &layout->canvas;
  double pad = 3 * canvas->unit;
  theme_use(canvas->cr, behind, 0.85);
  cairo_rectangle(canvas->cr, box->x - pad, box->y - pad, box->width + 2 * pad, box->height + 2 * pad);
  cairo_fill(canvas->cr);
  canvas_text(canvas, canvas->theme->ink, TYPE_TICK, false, ANCHOR_START, box->x, box->y + 0.8 * box->height, text);
}

/* From a mark to the nearest point of words that stand far off. */
static void draw_leader(const ChartLayout *layout, const PlaceBox *box, double x, double y) {
  const Canvas *canvas = &layout->canvas;
  double u = canvas->unit;
  PlaceBox patch = {box->x - 3 * u, box->y - 2 * u, box->width + 6 * u, box->height + 4 * u};
  double to_x = x, to_y = y;
  place_nearest(&patch, &to_x, &to_y);
  double distance = hypot(to_x - x, to_y - y);
  if (distance < 20 * u) return;
  theme_use(canvas->cr, canvas->theme->ink_soft, 1);
  cairo_set_line_width(canvas->cr, 1.2 * u);
  cairo_move_to(canvas->cr, x + (to_x - x) * 9 * u / distance, y + (to_y - y) * 9 * u / distance);
  cairo_line_to(canvas->cr, to_x, to_y);
  cairo_stroke(canvas->cr);
}

enum { N_SIDES = 12 };

/* Places around a mark, then the same further off; right and left first. */
static void mark_words(const ChartLayout *layout, PlaceMap *map, double x, double y, const char *text) {
  static const double sides[N_SIDES][2] = {{1, 0},  {-1, 0}, {1, -1},   {-1, -1},   {1, 1},   {-1, 1},
                                           {0, -1}, {0, 1},  {0.4, -1}, {-0.4, -1}, {0.4, 1}, {-0.4, 1}};
  static const double reaches[] = {1, 2.5, 5, 9};
  enum { N = N_SIDES * 4 };
  PlaceBox candidates[N], size = words_box(layout, text);
  double gap = 13 * layout->canvas.unit;
  for (int i = 0; i < N; i++) {
    double dx = sides[i % N_SIDES][0], dy = sides[i % N_SIDES][1], reach = reaches[i / N_SIDES] * gap;
    candidates[i] = size;
    candidates[i].x = x + dx * reach - (dx < 0 ? size.width : dx > 0 ? 0 : size.width / 2);
    candidates[i].y = y + dy * reach - (dy < 0 ? size.height : dy > 0 ? 0 : size.height / 2);
  }
  PlaceBox box = place_best(map, candidates, N, (const double[]){x, y});
  draw_words(layout, &box, layout->canvas.ground, text);
  draw_leader(layout, &box, x, y);
}

/* Words along an upright line at x, on either side and at several heights; or inside a stretch. */
static void upright_words(const ChartLayout *layout, PlaceMap *map, double x, Colour behind, const char *text) {
  static const double heights[] = {0.02, 0.9, 0.45, 0.25, 0.7};
  PlaceBox candidates[10], size = words_box(layout, text);
  double gap = 9 * layout->canvas.unit;
  for (int i = 0; i < 10; i++) {
    candidates[i] = size;
    candidates[i].x = i % 2 == 0 ? x + gap : x - gap - size.width;
    candidates[i].y = layout->plane.y + heights[i / 2] * layout->plane.height;
  }
  PlaceBox box = place_best(map, candidates, 10, NULL);
  draw_words(layout, &box, behind, text);
}

/* Words along a level line at y: above or below it, near either end or in the middle. */
static void level_words(const ChartLayout *layout, PlaceMap *map, double y, const char *text) {
  PlaceBox candidates[6], size = words_box(layout, text);
  double gap = 7 * layout->canvas.unit, spare = layout->plane.width - size.width - 2 * gap;
  for (int i = 0; i < 6; i++) {
    candidates[i] = size;
    candidates[i].x = layout->plane.x + gap + spare * (i / 2) / 2;
    candidates[i].y = i % 2 == 0 ? y - gap - size.height : y + gap;
  }
  PlaceBox box = place_best(map, candidates, 6, NULL);
  draw_words(layout, &box, layout->canvas.ground, text);
}

/* ---- notes ---- */

/* The part of a shaded stretch that lies on the plane; an end without a place reaches to the edge.
 */
static void stretch(const ChartPlane *plane, const ChartNote *note, double *from, double *to) {
  double right = plane->x + plane->width;
  *from = chart_place_x(plane, note->x);
  *to = chart_place_x(plane, note->y);
  *from = isfinite(*from) ? fmin(fmax(*from, plane->x), right) : plane->x;
  *to = isfinite(*to) ? fmin(fmax(*to, plane->x), right) : right;
}

/* A shaded stretch stands off the ground: the panel's colour, or on a panel the background's. */
static Colour shade_of(const Canvas *canvas) {
  const Theme *theme = canvas->theme;
  return memcmp(&canvas->ground, &theme->panel, sizeof(Colour)) == 0 ? theme->background : theme->panel;
}

void chart_draw_stretches(const ChartLayout *layout) {
  const Canvas *canvas = &layout->canvas;
  for (size_t i = 0; i < layout->chart->n_notes; i++) {
    const ChartNote *note = &layout->chart->notes[i];
    if (note->kind != NOTE_SHADE) continue;
    double from, to;
    stretch(&layout->plane, note, &from, &to);
    theme_use(canvas->cr, shade_of(canvas), 1);
    cairo_rectangle(canvas->cr, from, layout->plane.y, fmax(to - from, 0), layout->plane.height);
    cairo_fill(canvas->cr);
  }
}

void chart_draw_note_lines(const ChartLayout *layout) {
  const Canvas *canvas = &layout->canvas;
  const ChartPlane *plane = &layout->plane;
  double right = plane->x + plane->width, bottom = plane->y + plane->height;
  canvas_dash(canvas, 0, true);
  for (size_t i = 0; i < layout->chart->n_notes; i++) {
    const ChartNote *note = &layout->chart->notes[i];
    double x = chart_place_x(plane, note->x), y = chart_place_y(plane, note->y);
    if (note->kind == NOTE_VERTICAL && x >= plane->x && x <= right)
      canvas_line(canvas, canvas->theme->ink_soft, 1.6, x, plane->y, x, bottom);
    if (note->kind == NOTE_HORIZONTAL && y >= plane->y && y <= bottom)
      canvas_line(canvas, canvas->theme->ink_soft, 1.6, plane->x, y, right, y);
  }
  cairo_set_dash(canvas->cr, NULL, 0, 0);
}

static void draw_mark(const Canvas *canvas, double x, double y) {
  canvas_marker(canvas, canvas->theme->ink, 0, x, y, 7 * canvas->unit);
  canvas_marker(canvas, canvas->theme->tile[TILE_COLOUR_CURRENT], 0, x, y, 4 * canvas->unit);
}

/* Where the note lies, and whether that is on the plane. */
static bool find_note(const ChartPlane *plane, const ChartNote *note, double *x, double *y) {
  *x = chart_place_x(plane, note->x);
  *y = chart_place_y(plane, note->y);
  bool sees_x = *x >= plane->x - 1 && *x <= plane->x + plane->width + 1;
  bool sees_y = *y >= plane->y - 1 && *y <= plane->y + plane->height + 1;
  switch (note->kind) {
  case NOTE_MARK: return sees_x && sees_y;
  case NOTE_VERTICAL: return sees_x;
  case NOTE_HORIZONTAL: return sees_y;
  case NOTE_SHADE: break;
  }
  double from, to;
  stretch(plane, note, &from, &to);
  *x = from;
  return to > from;
}

void chart_draw_notes(const ChartLayout *layout, PlaceMap *map) {
  double x, y, radius = 9 * layout->canvas.unit;
  for (size_t i = 0; i < layout->chart->n_notes; i++) {
    const ChartNote *note = &layout->chart->notes[i];
    if (note->kind != NOTE_MARK || !find_note(&layout->plane, note, &x, &y)) continue;
    draw_mark(&layout->canvas, x, y);
    place_add_box(map, (PlaceBox){x - radius, y - radius, 2 * radius, 2 * radius});
  }
  for (size_t i = 0; i < layout->chart->n_notes; i++) {
    const ChartNote *note = &layout->chart->notes[i];
    const char *text = chart_text(layout->chart, note->text);
    if (!*text || !find_note(&layout->plane, note, &x, &y)) continue;
    if (note->kind == NOTE_MARK) mark_words(layout, map, x, y, text);
    if (note->kind == NOTE_HORIZONTAL) level_words(layout, map, y, text);
    if (note->kind == NOTE_VERTICAL) upright_words(layout, map, x, layout->canvas.ground, text);
    if (note->kind == NOTE_SHADE) upright_words(layout, map, x, shade_of(&layout->canvas), text);
  }
}
