/* Reference lines and shaded stretches of a chart, and where their words go. */
#include "viz/chart/chart_layout.h"

#include <math.h>

/* The part of a shaded stretch that lies on the plane; an end without a place reaches to the edge. */
static void stretch(const ChartPlane *plane, const ChartNote *note, double *from, double *to) {
  double right = plane->x + plane->width;
  *from = chart_place_x(plane, note->x);
  *to = chart_place_x(plane, note->y);
  *from = isfinite(*from) ? fmin(fmax(*from, plane->x), right) : plane->x;
  *to = isfinite(*to) ? fmin(fmax(*to, plane->x), right) : right;
}

static bool is_on_plane(const ChartPlane *plane, const ChartNote *note) {
  const double y = chart_place_y(plane, note->y);
  return note->kind == NOTE_HORIZONTAL && y >= plane->y - 1 && y <= plane->y + plane->height + 1;
}

void chart_draw_stretches(const ChartLayout *layout) {
  const Canvas *canvas = &layout->canvas;
  for (size_t i = 0; i < layout->chart->n_notes; i++) {
    const ChartNote *note = &layout->chart->notes[i];
    double from, to;
    if (note->kind != NOTE_SHADE) continue;
    stretch(&layout->plane, note, &from, &to);
    theme_use(canvas->cr, canvas->theme->panel, 1);
    cairo_rectangle(canvas->cr, from, layout->plane.y, fmax(to - from, 0), layout->plane.height);
    cairo_fill(canvas->cr);
  }
}

void chart_draw_note_lines(const ChartLayout *layout) {
  const Canvas *canvas = &layout->canvas;
  const ChartPlane *plane = &layout->plane;
  canvas_dash(canvas, 0, true);
  for (size_t i = 0; i < layout->chart->n_notes; i++) {
    const double y = chart_place_y(plane, layout->chart->notes[i].y);
    if (is_on_plane(plane, &layout->chart->notes[i]))
      canvas_line(canvas, canvas->theme->ink_soft, 1.6, plane->x, y, plane->x + plane->width, y);
  }
  cairo_set_dash(canvas->cr, NULL, 0, 0);
}

/* Words on a patch, so that lines do not run through letters; centred on y, from x on but within the plane. */
static void draw_words(const ChartLayout *layout, double x, double y, Colour behind, const char *text) {
  const Canvas *canvas = &layout->canvas;
  const double u = canvas->unit, width = canvas_text_width(canvas, TYPE_TICK, false, text),
               right = layout->plane.x + layout->plane.width;
  x = fmax(layout->plane.x, fmin(x + 9 * u, right - width - 3 * u));
  theme_use(canvas->cr, behind, 0.85);
  cairo_rectangle(canvas->cr, x - 3 * u, y - 0.75 * TYPE_TICK * u, width + 6 * u, 1.5 * TYPE_TICK * u);
  cairo_fill(canvas->cr);
  canvas_text(canvas, canvas->theme->ink, TYPE_TICK, false, ANCHOR_START, x, y + 0.36 * TYPE_TICK * u, text);
}

/* Those of lines above them at the left, where few lines of data are so high; of a stretch at its foot. */
void chart_draw_notes(const ChartLayout *layout) {
  const ChartPlane *plane = &layout->plane;
  const double high = 1.6 * TYPE_TICK * layout->canvas.unit, bottom = plane->y + plane->height;
  double y[PLACE_COLUMN_MAX];
  const char *words[PLACE_COLUMN_MAX];
  int n = 0;
  for (size_t i = 0; i < layout->chart->n_notes; i++) {
    const ChartNote *note = &layout->chart->notes[i];
    const char *text = chart_text(layout->chart, note->text);
    double from, to;
    if (*text && is_on_plane(plane, note) && n < PLACE_COLUMN_MAX)
      words[n] = text, y[n++] = chart_place_y(plane, note->y) - 0.6 * high;
    if (note->kind != NOTE_SHADE || !*text) continue;
    stretch(plane, note, &from, &to);
    if (to > from) draw_words(layout, from, bottom - 0.6 * high, layout->canvas.theme->panel, text);
  }
  place_column(y, n, high, plane->y - high, bottom - 1.2 * high);
  for (int k = 0; k < n; k++) draw_words(layout, plane->x, y[k], layout->canvas.theme->background, words[k]);
}
