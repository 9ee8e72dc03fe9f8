/* Reference lines and shaded stretches of a chart, and where their words go. */
#include "viz/chart/chart_layout.h"

#include <math.h>

double chart_place_x(const ChartPlane *plane, double value) {
  return plane->x + plane->width * scale_position(&plane->x_scale, value);
}

double chart_place_y(const ChartPlane *plane, double value) {
  return plane->y + plane->height * (1 - scale_position(&plane->y_scale, value));
}

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
    box_fill(canvas->cr, (Box){from, layout->plane.y, fmax(to - from, 0), layout->plane.height}, canvas->theme->panel,
             1);
  }
}

void chart_draw_note_lines(const ChartLayout *layout) {
  const Canvas *canvas = &layout->canvas;
  const ChartPlane *plane = &layout->plane;
  canvas_dash(canvas, 0, true);
  for (size_t i = 0; i < layout->chart->n_notes; i++) {
    const double y = chart_place_y(plane, layout->chart->notes[i].y);
    if (is_on_plane(plane, &layout->chart->notes[i]))
      box_line(canvas->cr, canvas->theme->ink_soft, 1.6 * canvas->unit, plane->x, y, plane->x + plane->width, y);
  }
  cairo_set_dash(canvas->cr, NULL, 0, 0);
}

/* Words on a patch, so that lines do not run through letters; centred on y, from x on but within the plane. */
static void draw_words(const ChartLayout *layout, double x, double y, Colour behind, const char *text) {
  const Canvas *canvas = &layout->canvas;
  const double u = canvas->unit, width = canvas_text_width(canvas, TYPE_TICK, false, text),
               right = layout->plane.x + layout->plane.width;
  x = fmax(layout->plane.x, fmin(x + 9 * u, right - width - 3 * u));
  box_fill(canvas->cr, (Box){x - 3 * u, y - 0.75 * TYPE_TICK * u, width + 6 * u, 1.5 * TYPE_TICK * u}, behind, 0.85);
  canvas_text(canvas, canvas->theme->ink, TYPE_TICK, false, ANCHOR_START, x, y + 0.36 * TYPE_TICK * u, text);
}

/* Whether lines of data, those noted and their words (around y) leave a box free. */
static bool is_free(const ChartLayout *layout, double left, double right, double top, double bottom, const double *y,
                    int n, double high) {
  const Chart *chart = layout->chart;
  const ChartPlane *plane = &layout->plane;
  for (int k = 0; k < n; k++)
    if (y[k] + high / 2 > top && y[k] - high / 2 < bottom) return false;
  for (size_t i = 0; i < chart->n_notes; i++) {
    const double line = chart_place_y(plane, chart->notes[i].y);
    if (is_on_plane(plane, &chart->notes[i]) && line > top && line < bottom) return false;
  }
  for (int s = 0; s < chart->n_series; s++)
    for (size_t p = 0; p + 1 < chart->series[s].n; p++) {
      const ChartPoint *points = &chart->points[chart->series[s].first + p];
      const double x0 = chart_place_x(plane, points[0].x), x1 = chart_place_x(plane, points[1].x),
                   y0 = chart_place_y(plane, points[0].y), slope = (chart_place_y(plane, points[1].y) - y0) / (x1 - x0),
                   from = fmax(left, fmin(x0, x1)), to = fmin(right, fmax(x0, x1));
      const double at[] = {y0 + (from - x0) * slope, y0 + (to - x0) * slope};
      if (from <= to && fmax(at[0], at[1]) > top && fmin(at[0], at[1]) < bottom) return false;
    }
  return true;
}

/* Those of lines above them at the left, where few lines of data are so high; of a stretch at its foot, or above it
 * where that is free. */
void chart_draw_notes(const ChartLayout *layout) {
  const ChartPlane *plane = &layout->plane;
  const double high = 1.6 * TYPE_TICK * layout->canvas.unit, bottom = plane->y + plane->height;
  double y[PLACE_COLUMN_MAX];
  const char *words[PLACE_COLUMN_MAX];
  int n = 0;
  for (size_t i = 0; i < layout->chart->n_notes; i++) {
    const ChartNote *note = &layout->chart->notes[i];
    const char *text = chart_text(layout->chart, note->text);
    if (*text && is_on_plane(plane, note) && n < PLACE_COLUMN_MAX)
      words[n] = text, y[n++] = chart_place_y(plane, note->y) - 0.6 * high;
  }
  place_column(y, n, high, plane->y - high, bottom - 1.2 * high);
  for (int k = 0; k < n; k++) draw_words(layout, plane->x, y[k], layout->canvas.theme->background, words[k]);
  for (size_t i = 0; i < layout->chart->n_notes; i++) {
    const ChartNote *note = &layout->chart->notes[i];
    const char *text = chart_text(layout->chart, note->text);
    double from, to, at = bottom - 0.6 * high;
    if (note->kind != NOTE_SHADE || !*text) continue;
    stretch(plane, note, &from, &to);
    if (to <= from) continue;
    const double width = canvas_text_width(&layout->canvas, TYPE_TICK, false, text) + 12 * layout->canvas.unit,
                 left = fmin(from, plane->x + plane->width - width);
    while (at > plane->y + high / 2 && !is_free(layout, left, left + width, at - high / 2, at + high / 2, y, n, high))
      at -= high / 4;
    draw_words(layout, from, at > plane->y + high / 2 ? at : bottom - 0.6 * high, layout->canvas.theme->panel, text);
  }
}
