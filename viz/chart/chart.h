/* What a chart says, apart from how it is shown: series of points over two axes, reference lines,
 * marks, titles.
 *
 * The same chart is printed in a terminal (plot.h) and drawn to PNG, SVG, PDF or the window
 * (viz/chart/chart_draw.h).
 *
 *     Chart chart = chart_new(&(ChartConfig){
 *         .title = "HBM traffic of one head", .footer = "N=256..64K d=128 block=128",
 *         .x = {.title = "sequence length N (tokens)", .kind = VALUE_TOKENS, .log = true},
 *         .y = {.title = "traffic (bytes)", .kind = VALUE_BYTES, .log = true}});
 *     chart_series(&chart, "standard", INK_NEUTRAL, SERIES_LINE);
 *     chart_point(&chart, 4096, 138412032);
 *     ...
 *     chart_free(&chart);
 *
 * The first failure sticks (out of memory); what shows the chart reports it. All strings are
 * copied. */
#ifndef TILEWALK_VIZ_CHART_CHART_H
#define TILEWALK_VIZ_CHART_CHART_H

#include "viz/text/store.h"
#include "viz/chart/ink.h"
#include "viz/chart/ticks.h"

typedef struct {
  const char *title; /* with its unit: "traffic (bytes)" */
  ValueKind kind;
  bool log;
  double low, high; /* the range shown; both 0: what the data need */
} ChartAxis;

typedef struct {
  const char *title, *subtitle;
  const char *footer; /* the one-line state that made the chart */
  ChartAxis x, y;
} ChartConfig;

typedef enum {
  SERIES_LINE = 0,  /* a line with markers */
  SERIES_REFERENCE, /* a thin dashed line without markers: a bound, a model */
  SERIES_POINTS,    /* markers alone: measurements */
} SeriesLook;

enum { CHART_SERIES_MAX = 12, N_CUES = 6 };

typedef struct {
  size_t name; /* offset in the chart's text */
  Ink ink;
  SeriesLook look;
  int cue;         /* which dash and marker: 0 to N_CUES - 1 */
  size_t first, n; /* points of the series, in the order they were added */
} ChartSeries;

typedef struct {
  double x, y;
} ChartPoint;

/* What is noted on the plane beside the series. */
typedef enum { NOTE_HORIZONTAL, NOTE_SHADE } ChartNoteKind;

typedef struct {
  ChartNoteKind kind;
  double x, y; /* the place; a shade reaches from x to y along the x axis */
  size_t text;
} ChartNote;

typedef struct {
  TextStore text;
  Status status;  /* the first error */
  ChartAxis x, y; /* their titles are the offsets below */
  size_t title, subtitle, footer, x_title, y_title;
  int n_series;
  ChartSeries series[CHART_SERIES_MAX];
  ChartPoint *points;
  size_t n_points, point_capacity;
  ChartNote *notes;
  size_t n_notes, note_capacity;
} Chart;

Chart chart_new(const ChartConfig *config);
void chart_free(Chart *chart);

/* Begins a series; the points that follow belong to it. At most CHART_SERIES_MAX; one more is STATUS_TOO_LARGE. */
void chart_series(Chart *chart, const char *name, Ink ink, SeriesLook look);

/* A point of the latest series. A value that is not finite, or not above zero on a logarithmic
 * axis, breaks the line there and is not shown. */
void chart_point(Chart *chart, double x, double y);

/* A line across the plane at y with its name; a shaded stretch of the x axis ("does not fit in SRAM"). */
void chart_horizontal(Chart *chart, double y, const char *text);
void chart_shade(Chart *chart, double x_from, double x_to, const char *text);

/* For what shows charts. */
const char *chart_text(const Chart *chart, size_t offset);
void chart_set_title(Chart *chart, const char *title);             /* in place of the first; no subtitle then */
void chart_set_labels(Chart *chart, const char *x, const char *y); /* of the axes; "": as it is */
Status chart_check(const Chart *chart, Error *error);              /* OK, or why the chart cannot be shown */
Scale chart_x_scale(const Chart *chart, double margin);            /* over all points and notes, or as the axis says */
Scale chart_y_scale(const Chart *chart, double margin);
bool chart_shows(const Chart *chart, ChartPoint point); /* it has a place on the axes */

#endif
