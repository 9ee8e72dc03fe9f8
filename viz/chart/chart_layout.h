/* Shared by the files that draw a chart: where everything lies. Internal. */
#ifndef TILEWALK_VIZ_CHART_CHART_LAYOUT_H
#define TILEWALK_VIZ_CHART_CHART_LAYOUT_H

#include "viz/chart/chart_canvas.h"
#include "viz/chart/chart_draw.h"

/* Where the plane of the chart lies in the drawing, and its scales. */
typedef struct {
  double x, y, width, height;
  Scale x_scale, y_scale;
} ChartPlane;

typedef struct {
  Canvas canvas;
  const Chart *chart;
  ChartPlane plane;
  Ticks x_ticks, y_ticks;
  bool labelled_at_end[CHART_SERIES_MAX]; /* otherwise named in the key */
  double label_width;                     /* of the widest end label, 0 without any */
} ChartLayout;

ChartLayout chart_lay_out(const Chart *chart, cairo_t *cr, double width, double height, const Theme *theme);

/* Where a value lies in the drawing; not finite for what has no place on a logarithmic axis. */
double chart_place_x(const ChartPlane *plane, double value);
double chart_place_y(const ChartPlane *plane, double value);

/* Shaded stretches lie behind the grid, lines behind the series; all words come last. */
void chart_draw_stretches(const ChartLayout *layout);
void chart_draw_note_lines(const ChartLayout *layout);
void chart_draw_notes(const ChartLayout *layout);

#endif
