#include "viz/chart/chart_draw.h"

#include "viz/chart/chart_layout.h"

#include <math.h>

/* ---- layout ---- */

/* In units. */
#define LABEL_GAP   14.0 /* from the plane to an end label */
#define KEY_HEIGHT  30.0
#define KEY_SAMPLE  44.0
#define KEY_GAP     30.0
#define LINE_WIDTH  3.2
#define MARK_RADIUS 5.6

static const char *series_name(const Chart *chart, int i) { return chart_text(chart, chart->series[i].name); }

static bool is_on_plane(const ChartPlane *plane, ChartPoint point) {
  double x = scale_position(&plane->x_scale, point.x), y = scale_position(&plane->y_scale, point.y);
  return x >= -1e-9 && x <= 1 + 1e-9 && y >= -1e-9 && y <= 1 + 1e-9;
}

/* The last point of a series that is seen; false when there is none. */
static bool last_point(const ChartLayout *layout, int series, ChartPoint *point) {
  const Chart *chart = layout->chart;
  for (size_t i = chart->series[series].n; i-- > 0;) {
    *point = chart->points[chart->series[series].first + i];
    if (chart_shows(chart, *point) && is_on_plane(&layout->plane, *point)) return true;
  }
  return false;
}

/* A series is named at its end if it ends at the right edge of the plane; if the names are too long
 * for that, none is. */
static void choose_labels(ChartLayout *layout) {
  for (int i = 0; i < layout->chart->n_series; i++) {
    ChartPoint end;
    layout->labelled_at_end[i] = layout->chart->series[i].look != SERIES_POINTS && *series_name(layout->chart, i) &&
                                 last_point(layout, i, &end) && scale_position(&layout->plane.x_scale, end.x) > 0.93;
    if (!layout->labelled_at_end[i]) continue;
    double width = canvas_text_width(&layout->canvas, TYPE_LABEL, true, series_name(layout->chart, i));
    layout->label_width = fmax(layout->label_width, width);
  }
  if (layout->label_width <= 0.2 * layout->canvas.width) return;
  layout->label_width = 0;
  for (int i = 0; i < layout->chart->n_series; i++) layout->labelled_at_end[i] = false;
}

/* Goes through the key, row by row; draws it when told to. Returns the number of rows. */
static int key_rows(const ChartLayout *layout, bool draw);

static double widest_tick(const Canvas *canvas, const Scale *scale, const Ticks *ticks) {
  double widest = 0;
  for (int i = 0; i < ticks->n; i++) {
    Number text = value_tick_text(scale->kind, ticks->values[i]);
    widest = fmax(widest, canvas_text_width(canvas, TYPE_TICK, false, text.text));
  }
  return widest;
}

/* As many ticks along x as have room for their labels. */
static Ticks fitting_ticks(const Canvas *canvas, const ChartPlane *plane) {
  for (int most = 12; most > 2; most--) {
    Ticks ticks = ticks_on(&plane->x_scale, most);
    double needed = ticks.n * (widest_tick(canvas, &plane->x_scale, &ticks) + 22 * canvas->unit);
    if (needed <= plane->width) return ticks;
  }
  return ticks_on(&plane->x_scale, 2);
}

ChartLayout chart_lay_out(const Chart *chart, cairo_t *cr, double width, double height, const Theme *theme) {
  ChartLayout layout = {.chart = chart,
                        .canvas = {.cr = cr,
                                   .theme = theme,
                                   .title = chart_text(chart, chart->title),
                                   .subtitle = chart_text(chart, chart->subtitle),
                                   .footer = chart_text(chart, chart->footer),
                                   .width = width,
                                   .height = height}};
  Canvas *canvas = &layout.canvas;
  *canvas = canvas_measured(*canvas);
  ChartPlane *plane = &layout.plane;
  double u = canvas->unit;
  plane->x_scale = chart_x_scale(chart, 0.02);
  plane->y_scale = chart_y_scale(chart, 0.05);
  choose_labels(&layout);
  int rows = key_rows(&layout, false);
  plane->y = canvas->top + (rows * KEY_HEIGHT + (rows ? 8 : 0) + (chart->y_title ? 32 : 8)) * u;
  double below = (chart->x_title ? 62 : 34) * u;
  plane->height = fmax(canvas->bottom - below - plane->y, 40 * u);
  int most = (int)(plane->height / (TYPE_TICK * 2.4 * u));
  int enough = plane->y_scale.log ? 10 : 8;
  layout.y_ticks = ticks_on(&plane->y_scale, most > enough ? enough : most);
  plane->x = canvas->margin + widest_tick(canvas, &plane->y_scale, &layout.y_ticks) + 12 * u;
  double right = layout.label_width > 0 ? layout.label_width + LABEL_GAP * u : 16 * u;
  plane->width = fmax(width - canvas->margin - right - plane->x, 40 * u);
  layout.x_ticks = fitting_ticks(canvas, plane);
  /* The label of the last tick may reach over the plane's edge, but not off the page. */
  double half = widest_tick(canvas, &plane->x_scale, &layout.x_ticks) / 2;
  double over = half - (width - 8 * u - plane->x - plane->width);
  if (over > 0) {
    plane->width = fmax(plane->width - over, 40 * u);
    layout.x_ticks = fitting_ticks(canvas, plane);
  }
  return layout;
}

/* ---- axes ---- */

static void draw_axes(const ChartLayout *layout) {
  const Canvas *canvas = &layout->canvas;
  const ChartPlane *plane = &layout->plane;
  const Theme *theme = canvas->theme;
  double u = canvas->unit, right = plane->x + plane->width, bottom = plane->y + plane->height;
  for (int i = 0; i < layout->y_ticks.n; i++) {
    double y = chart_place_y(plane, layout->y_ticks.values[i]);
    box_line(canvas->cr, theme->grid, 1.2 * u, plane->x, y, right, y);
    Number text = value_tick_text(plane->y_scale.kind, layout->y_ticks.values[i]);
    canvas_text(canvas, theme->ink_soft, TYPE_TICK, false, ANCHOR_END, plane->x - 12 * u, y + 0.36 * TYPE_TICK * u,
                text.text);
  }
  box_line(canvas->cr, theme->axis, 1.4 * u, plane->x, bottom, right, bottom);
  for (int i = 0; i < layout->x_ticks.n; i++) {
    double x = chart_place_x(plane, layout->x_ticks.values[i]);
    box_line(canvas->cr, theme->axis, 1.4 * u, x, bottom, x, bottom + 7 * u);
    Number text = value_tick_text(plane->x_scale.kind, layout->x_ticks.values[i]);
    canvas_text(canvas, theme->ink_soft, TYPE_TICK, false, ANCHOR_MIDDLE, x, bottom + 27 * u, text.text);
  }
  const char *x_title = chart_text(layout->chart, layout->chart->x_title);
  const char *y_title = chart_text(layout->chart, layout->chart->y_title);
  canvas_text(canvas, theme->ink, TYPE_TICK, false, ANCHOR_MIDDLE, plane->x + plane->width / 2, bottom + 56 * u,
              x_title);
  canvas_text(canvas, theme->ink, TYPE_TICK, false, ANCHOR_START, canvas->margin, plane->y - 18 * u, y_title);
}

/* ---- series ---- */

/* The path of a series' line, broken where a point has no place. */
static void trace(const ChartLayout *layout, const ChartSeries *series) {
  cairo_t *cr = layout->canvas.cr;
  bool is_open = false;
  for (size_t i = 0; i < series->n; i++) {
    ChartPoint point = layout->chart->points[series->first + i];
    if (!chart_shows(layout->chart, point)) {
      is_open = false;
      continue;
    }
    double x = chart_place_x(&layout->plane, point.x), y = chart_place_y(&layout->plane, point.y);
    if (is_open)
      cairo_line_to(cr, x, y);
    else
      cairo_move_to(cr, x, y);
    is_open = true;
  }
}

static void draw_markers(const ChartLayout *layout, int index) {
  const Chart *chart = layout->chart;
  const ChartSeries *series = &chart->series[index];
  Colour colour = layout->canvas.theme->series[series->ink];
  double radius = MARK_RADIUS * layout->canvas.unit;
  /* Not more than a dozen and a half along a line; measurements are all shown. */
  size_t every = series->look == SERIES_POINTS || series->n <= 18 ? 1 : (series->n + 17) / 18;
  for (size_t i = 0; i < series->n; i++) {
    ChartPoint point = chart->points[series->first + i];
    if (i % every != 0 && i + 1 != series->n) continue;
    if (!chart_shows(chart, point) || !is_on_plane(&layout->plane, point)) continue;
    double x = chart_place_x(&layout->plane, point.x), y = chart_place_y(&layout->plane, point.y);
    canvas_marker(&layout->canvas, colour, series->cue, x, y, radius);
  }
}

static void draw_series(const ChartLayout *layout, int index) {
  const Canvas *canvas = &layout->canvas;
  const ChartPlane *plane = &layout->plane;
  const ChartSeries *series = &layout->chart->series[index];
  cairo_t *cr = canvas->cr;
  double u = canvas->unit;
  if (series->look != SERIES_POINTS) {
    cairo_save(cr);
    cairo_rectangle(cr, plane->x - 3 * u, plane->y - 3 * u, plane->width + 6 * u, plane->height + 6 * u);
    cairo_clip(cr);
    cairo_new_path(cr);
    trace(layout, series);
    bool is_reference = series->look == SERIES_REFERENCE;
    canvas_dash(canvas, series->cue, is_reference);
    theme_use(cr, canvas->theme->series[series->ink], 1);
    cairo_set_line_width(cr, (is_reference ? 2.2 : LINE_WIDTH) * u);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(cr);
    cairo_restore(cr);
  }
  if (series->look != SERIES_REFERENCE) draw_markers(layout, index);
}

/* Names at the ends of the lines, moved apart; a thin line leads to a name that had to move. */
static void draw_end_labels(const ChartLayout *layout) {
  const Canvas *canvas = &layout->canvas;
  const ChartPlane *plane = &layout->plane;
  const Chart *chart = layout->chart;
  double u = canvas->unit, x = plane->x + plane->width + LABEL_GAP * u;
  double wish[CHART_SERIES_MAX], y[CHART_SERIES_MAX], end_x[CHART_SERIES_MAX];
  int index[CHART_SERIES_MAX], n = 0;
  for (int i = 0; i < chart->n_series; i++) {
    ChartPoint end;
    if (!layout->labelled_at_end[i] || !last_point(layout, i, &end)) continue;
    end_x[n] = chart_place_x(plane, end.x);
    wish[n] = y[n] = chart_place_y(plane, end.y);
    index[n++] = i;
  }
  place_column(y, n, 25 * u, plane->y - 12 * u, plane->y + plane->height + 12 * u);
  for (int k = 0; k < n; k++) {
    const ChartSeries *series = &chart->series[index[k]];
    if (fabs(y[k] - wish[k]) > 4 * u || x - end_x[k] > 60 * u) {
      cairo_set_dash(canvas->cr, NULL, 0, 0);
      theme_use(canvas->cr, canvas->theme->series[series->ink], 0.7);
      cairo_set_line_width(canvas->cr, 1.2 * u);
      cairo_move_to(canvas->cr, end_x[k] + 9 * u, wish[k]);
      cairo_line_to(canvas->cr, x - 4 * u, y[k]);
      cairo_stroke(canvas->cr);
    }
    bool bold = series->look != SERIES_REFERENCE;
    canvas_text(canvas, canvas->theme->series_text[series->ink], TYPE_LABEL, bold, ANCHOR_START, x,
                y[k] + 0.36 * TYPE_LABEL * u, series_name(chart, index[k]));
  }
}

/* ---- key ---- */

/* The length of the sample before a name: a piece of line, or a marker alone. */
static double sample_width(const ChartSeries *series) {
  return series->look == SERIES_POINTS ? 2 * MARK_RADIUS + 2 : KEY_SAMPLE;
}

static void draw_key_entry(const ChartLayout *layout, int index, double x, double y) {
  const Canvas *canvas = &layout->canvas;
  const ChartSeries *series = &layout->chart->series[index];
  cairo_t *cr = canvas->cr;
  double u = canvas->unit, sample = sample_width(series);
  if (series->look != SERIES_POINTS) {
    bool is_reference = series->look == SERIES_REFERENCE;
    canvas_dash(canvas, series->cue, is_reference);
    theme_use(cr, canvas->theme->series[series->ink], 1);
    cairo_set_line_width(cr, (is_reference ? 2.2 : LINE_WIDTH) * u);
    cairo_move_to(cr, x, y);
    cairo_line_to(cr, x + sample * u, y);
    cairo_stroke(cr);
  }
  if (series->look != SERIES_REFERENCE)
    canvas_marker(canvas, canvas->theme->series[series->ink], series->cue, x + sample / 2 * u, y, MARK_RADIUS * u);
  cairo_set_dash(cr, NULL, 0, 0);
  canvas_text(canvas, canvas->theme->series_text[series->ink], TYPE_LABEL, false, ANCHOR_START, x + (sample + 9) * u,
              y + 0.36 * TYPE_LABEL * u, series_name(layout->chart, index));
}

static int key_rows(const ChartLayout *layout, bool draw) {
  const Canvas *canvas = &layout->canvas;
  double u = canvas->unit, x = canvas->margin, right = canvas->width - canvas->margin;
  int rows = 0;
  for (int i = 0; i < layout->chart->n_series; i++) {
    if (layout->labelled_at_end[i] || (layout->chart->n_series == 1 && !*series_name(layout->chart, i))) continue;
    double width = canvas_text_width(canvas, TYPE_LABEL, false, series_name(layout->chart, i));
    width += (sample_width(&layout->chart->series[i]) + 9 + KEY_GAP) * u;
    bool is_new_row = rows == 0 || x + width - KEY_GAP * u > right;
    if (is_new_row) {
      rows++;
      x = canvas->margin;
    }
    if (draw) draw_key_entry(layout, i, x, canvas->top + ((rows - 1) * KEY_HEIGHT + 12) * u);
    x += width;
  }
  return rows;
}

void chart_draw(const Chart *chart, cairo_t *cr, double width, double height, const Theme *theme) {
  ChartLayout layout = chart_lay_out(chart, cr, width, height, theme);
  cairo_save(cr);
  canvas_frame(&layout.canvas);
  if (!chart_check(chart, NULL)) {
    chart_draw_stretches(&layout);
    draw_axes(&layout);
    chart_draw_note_lines(&layout);
    for (int i = 0; i < chart->n_series; i++) draw_series(&layout, i);
    draw_end_labels(&layout);
    key_rows(&layout, true);
    chart_draw_notes(&layout);
  }
  cairo_restore(cr);
}
