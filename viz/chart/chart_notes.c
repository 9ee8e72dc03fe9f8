/* Reference lines and shaded stretches of a chart, and where their words go. */
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
    double y = chart_place_y(plane, note->y);
    if (note->kind == NOTE_HORIZONTAL && y >= plane->y && y <= bottom)
      canvas_line(canvas, canvas->theme->ink_soft, 1.6, plane->x, y, right, y);
  }
  cairo_set_dash(canvas->cr, NULL, 0, 0);
}

/* Where the note lies, and whether that is on the plane. */
static bool find_note(const ChartPlane *plane, const ChartNote *note, double *x, double *y) {
  *x = chart_place_x(plane, note->x);
  *y = chart_place_y(plane, note->y);
  if (note->kind == NOTE_HORIZONTAL) return *y >= plane->y - 1 && *y <= plane->y + plane->height + 1;
  double from, to;
  stretch(plane, note, &from, &to);
  *x = from;
  return to > from;
}

void chart_draw_notes(const ChartLayout *layout, PlaceMap *map) {
  double x, y;
  for (size_t i = 0; i < layout->chart->n_notes; i++) {
    const ChartNote *note = &layout->chart->notes[i];
    const char *text = chart_text(layout->chart, note->text);
    if (!*text || !find_note(&layout->plane, note, &x, &y)) continue;
    if (note->kind == NOTE_HORIZONTAL) level_words(layout, map, y, text);
    if (note->kind == NOTE_SHADE) upright_words(layout, map, x, shade_of(&layout->canvas), text);
  }
}
