#include "viz/chart/chart.h"

#include <math.h>
#include <stdlib.h>

Chart chart_new(const ChartConfig *config) {
  Chart chart = {.x = config->x, .y = config->y};
  chart.title = text_store_add(&chart.text, config->title);
  chart.subtitle = text_store_add(&chart.text, config->subtitle);
  chart.footer = text_store_add(&chart.text, config->footer);
  chart.x_title = text_store_add(&chart.text, config->x.title);
  chart.y_title = text_store_add(&chart.text, config->y.title);
  chart.x.title = chart.y.title = NULL;
  return chart;
}

void chart_set_title(Chart *chart, const char *title) {
  chart->title = text_store_add(&chart->text, title);
  chart->subtitle = text_store_add(&chart->text, NULL);
}

void chart_set_labels(Chart *chart, const char *x, const char *y) {
  if (*x) chart->x_title = text_store_add(&chart->text, x);
  if (*y) chart->y_title = text_store_add(&chart->text, y);
}

void chart_free(Chart *chart) {
  text_store_free(&chart->text);
  free(chart->points);
  free(chart->notes);
  *chart = (Chart){0};
}

static const Ink turn[N_CUES] = {INK_BLUE, INK_ORANGE, INK_NEUTRAL, INK_GREEN, INK_PURPLE, INK_BROWN};

/* The cue of an ink, or the next one that no other series has. Reference lines look different
 * anyway. */
static int free_cue(const Chart *chart, Ink ink) {
  bool taken[N_CUES] = {false};
  int wish = 0;
  for (int i = 0; i < N_CUES; i++)
    if (turn[i] == ink) wish = i;
  for (int s = 0; s < chart->n_series; s++)
    if (chart->series[s].look != SERIES_REFERENCE) taken[chart->series[s].cue] = true;
  for (int i = 0; i < N_CUES; i++)
    if (!taken[(wish + i) % N_CUES]) return (wish + i) % N_CUES;
  return wish;
}

void chart_series(Chart *chart, const char *name, Ink ink, SeriesLook look) {
  if (chart->status) return;
  if (chart->n_series == CHART_SERIES_MAX) {
    chart->status = STATUS_TOO_LARGE;
    return;
  }
  ChartSeries *series = &chart->series[chart->n_series];
  *series = (ChartSeries){.name = text_store_add(&chart->text, name),
                          .ink = ink,
                          .look = look,
                          .cue = free_cue(chart, ink),
                          .first = chart->n_points};
  chart->n_series++;
}

void chart_point(Chart *chart, double x, double y) {
  if (chart->status || chart->n_series == 0) return;
  void *points = chart->points;
  if (!grow_array(&points, &chart->point_capacity, chart->n_points + 1, sizeof(ChartPoint))) {
    chart->status = STATUS_NO_MEMORY;
    return;
  }
  chart->points = points;
  chart->points[chart->n_points++] = (ChartPoint){x, y};
  chart->series[chart->n_series - 1].n++;
}

static void add_note(Chart *chart, ChartNoteKind kind, double x, double y, const char *text) {
  if (chart->status) return;
  void *notes = chart->notes;
  if (!grow_array(&notes, &chart->note_capacity, chart->n_notes + 1, sizeof(ChartNote))) {
    chart->status = STATUS_NO_MEMORY;
    return;
  }
  chart->notes = notes;
  size_t offset = text_store_add(&chart->text, text);
  chart->notes[chart->n_notes++] = (ChartNote){kind, x, y, offset};
}

void chart_horizontal(Chart *chart, double y, const char *text) { add_note(chart, NOTE_HORIZONTAL, 0, y, text); }

void chart_shade(Chart *chart, double x_from, double x_to, const char *text) {
  add_note(chart, NOTE_SHADE, x_from, x_to, text);
}

const char *chart_text(const Chart *chart, size_t offset) { return text_store_get(&chart->text, offset); }

Status chart_check(const Chart *chart, Error *error) {
  Status status = chart->status != STATUS_OK ? chart->status : chart->text.status;
  if (status == STATUS_TOO_LARGE)
    return error_set(error, status, "a chart shows at most %d series, because more cannot be told apart; ask for fewer",
                     CHART_SERIES_MAX);
  if (status) return error_set(error, status, "out of memory while a chart was built; nothing was drawn");
  return STATUS_OK;
}

static bool has_place(const ChartAxis *axis, double value) { return isfinite(value) && (!axis->log || value > 0); }

bool chart_shows(const Chart *chart, ChartPoint point) {
  return has_place(&chart->x, point.x) && has_place(&chart->y, point.y);
}

/* The least and greatest value of one axis so far. */
typedef struct {
  const ChartAxis *axis;
  double low, high;
} Range;

static void include(Range *range, double value) {
  if (!has_place(range->axis, value)) return;
  if (value < range->low) range->low = value;
  if (value > range->high) range->high = value;
}

static Scale scale_of(const Chart *chart, bool is_x, double margin) {
  Range range = {is_x ? &chart->x : &chart->y, INFINITY, -INFINITY};
  const ChartAxis *axis = range.axis;
  if (axis->low < axis->high && has_place(axis, axis->low) && has_place(axis, axis->high))
    return (Scale){axis->kind, axis->log, axis->low, axis->high};
  for (size_t i = 0; i < chart->n_points; i++)
    if (chart_shows(chart, chart->points[i])) include(&range, is_x ? chart->points[i].x : chart->points[i].y);
  for (size_t i = 0; i < chart->n_notes; i++) {
    const ChartNote *note = &chart->notes[i];
    if (!is_x && note->kind == NOTE_HORIZONTAL) include(&range, note->y);
  }
  /* A length of zero would be nothing to compare: x axes may start where the data start. */
  Scale scale = scale_over(range.axis->kind, range.axis->log, range.low, range.high, margin);
  if (is_x && !scale.log && scale.low == 0 && range.low > 0 && range.low > range.high / 2) {
    double more = (range.high - range.low) * margin;
    scale.low = range.high > range.low ? range.low - more : scale.low;
    scale.high = range.high > range.low ? range.high + more : scale.high;
  }
  return scale;
}

Scale chart_x_scale(const Chart *chart, double margin) { return scale_of(chart, true, margin); }
Scale chart_y_scale(const Chart *chart, double margin) { return scale_of(chart, false, margin); }
