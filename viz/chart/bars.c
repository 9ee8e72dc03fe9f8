#include "viz/chart/bars.h"

#include "viz/text/glyphs.h"
#include "viz/text/print.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { INDENT = 2, BAR_MIN = 8 };

/* ---- building ---- */

Bars bars_new(const BarsConfig *config) {
  Bars bars = {.config = *config};
  if (bars.config.n_series == 0) bars.config.n_series = 1;
  assert(bars.config.n_series > 0 && bars.config.n_series <= BARS_SERIES_MAX);
  bars.title = text_store_add(&bars.text, config->title);
  bars.subtitle = text_store_add(&bars.text, config->subtitle);
  bars.footer = text_store_add(&bars.text, config->footer);
  for (int i = 0; i < bars.config.n_series; i++) bars.names[i] = text_store_add(&bars.text, config->series[i]);
  return bars;
}

void bars_free(Bars *bars) {
  text_store_free(&bars->text);
  free(bars->rows);
  *bars = (Bars){0};
}

static void add_row(Bars *bars, BarsRow row) {
  if (!bars->status) bars->status = bars->text.status;
  if (bars->status) return;
  void *rows = bars->rows;
  if (!grow_array(&rows, &bars->capacity, bars->n_rows + 1, sizeof(BarsRow))) {
    bars->status = STATUS_NO_MEMORY;
    return;
  }
  bars->rows = rows;
  bars->rows[bars->n_rows++] = row;
}

void bars_row(Bars *bars, const char *label, const double *values, const char *shown) {
  BarsRow row = {.label = text_store_add(&bars->text, label)};
  row.shown = text_store_add(&bars->text, shown);
  for (int i = 0; i < bars->config.n_series; i++) row.values[i] = isfinite(values[i]) && values[i] > 0 ? values[i] : 0;
  add_row(bars, row);
}

void bars_group(Bars *bars, const char *heading) {
  add_row(bars, (BarsRow){.is_group = true, .label = text_store_add(&bars->text, heading)});
}

/* ---- layout ---- */

typedef struct {
  const Bars *bars;
  const TextStyle *style;
  int label_columns, bar_columns;
  double largest; /* value of a full bar */
} Frame;

const char *bars_text(const Bars *bars, size_t offset) { return text_store_get(&bars->text, offset); }

double bars_sum(const Bars *bars, const BarsRow *row) {
  double sum = 0;
  for (int i = 0; i < bars->config.n_series; i++) sum += row->values[i];
  return sum;
}

double bars_largest(const Bars *bars) {
  double largest = 0;
  for (size_t r = 0; r < bars->n_rows; r++) largest = fmax(largest, bars_sum(bars, &bars->rows[r]));
  return largest;
}

Number bars_words(const Bars *bars, const BarsRow *row) {
  const char *shown = bars_text(bars, row->shown);
  if (!*shown) return value_text(bars->config.kind, bars_sum(bars, row));
  Number number;
  snprintf(number.text, sizeof number.text, "%s", shown);
  return number;
}

static Frame frame_of(const Bars *bars, const TextStyle *style) {
  Frame frame = {.bars = bars, .style = style, .largest = bars_largest(bars)};
  int value_columns = 0;
  for (size_t r = 0; r < bars->n_rows; r++) {
    const BarsRow *row = &bars->rows[r];
    if (row->is_group) continue;
    int label = text_columns(style, bars_text(bars, row->label));
    if (label > frame.label_columns) frame.label_columns = label;
    int columns = text_columns(style, bars_words(bars, row).text);
    if (columns > value_columns) value_columns = columns;
  }
  int half = style->width / 2 - INDENT;
  if (frame.label_columns > half) frame.label_columns = half;
  frame.bar_columns = style->width - INDENT - frame.label_columns - value_columns - 4;
  if (frame.bar_columns < BAR_MIN) frame.bar_columns = BAR_MIN;
  return frame;
}

/* The length of a bar in eighths of a column. A value above zero has at least one. */
static int eighths(const Frame *frame, double value) {
  int length = (int)lround((value > 0 ? value / frame->largest : 0) * 8 * frame->bar_columns);
  return length < 1 && value > 0 ? 1 : length;
}

/* ---- printing ---- */

static const TextRole series_role[BARS_SERIES_MAX] = {ROLE_ACCENT, ROLE_WARN};

static const char *fill_of(const TextStyle *style, int series) {
  static const char *const blocks[BARS_SERIES_MAX] = {"\xe2\x96\x88", "\xe2\x96\x92"};
  static const char *const ascii[BARS_SERIES_MAX] = {"#", "="};
  return style->utf8 ? blocks[series] : ascii[series];
}

static void put_fill(FILE *out, const Frame *frame, int series, int columns, const char *end) {
  fputs(text_role_begin(frame->style, series_role[series]), out);
  text_repeat(out, fill_of(frame->style, series), columns);
  fputs(end, out);
  fputs(text_role_end(frame->style, series_role[series]), out);
}

/* A bar of one series, its end to the eighth of a column where the fill allows it. Returns the
 * columns used. */
static int put_plain_bar(FILE *out, const Frame *frame, double value) {
  static const char *const ends[] = {"",
                                     "\xe2\x96\x8f",
                                     "\xe2\x96\x8e",
                                     "\xe2\x96\x8d",
                                     "\xe2\x96\x8c",
                                     "\xe2\x96\x8b",
                                     "\xe2\x96\x8a",
                                     "\xe2\x96\x89"};
  int length = eighths(frame, value), whole = length / 8, rest = length % 8;
  if (!frame->style->utf8) {
    whole = length > 0 && length < 8 ? 1 : (length + 4) / 8;
    rest = 0;
  }
  put_fill(out, frame, 0, whole, ends[rest]);
  return whole + (rest > 0);
}

/* Segments end where their running sum does, so that rounding never changes the whole length; each
 * one above zero gets at least a column while there is room. */
static int put_stacked_bar(FILE *out, const Frame *frame, const BarsRow *row) {
  int used = 0;
  double sum = 0;
  for (int i = 0; i < frame->bars->config.n_series; i++) {
    sum += row->values[i];
    int end = (eighths(frame, sum) + 4) / 8;
    if (row->values[i] > 0 && end <= used) end = used + 1;
    if (end > frame->bar_columns) end = frame->bar_columns;
    if (!(row->values[i] > 0) || end <= used) continue;
    put_fill(out, frame, i, end - used, "");
    used = end;
  }
  return used;
}

static void put_label(FILE *out, const Frame *frame, const char *label) {
  size_t bytes = text_fit(frame->style, label, frame->label_columns);
  text_repeat(out, " ", INDENT);
  text_write_n(out, frame->style, label, bytes);
  text_repeat(out, " ", frame->label_columns - text_columns_n(frame->style, label, bytes) + 1);
}

static void put_bar_row(FILE *out, const Frame *frame, const BarsRow *row) {
  const Bars *bars = frame->bars;
  put_label(out, frame, bars_text(bars, row->label));
  const int used =
      bars->config.n_series > 1 ? put_stacked_bar(out, frame, row) : put_plain_bar(out, frame, row->values[0]);
  if (used > 0) fputc(' ', out);
  text_write(out, frame->style, bars_words(bars, row).text);
  fputc('\n', out);
}

/* Which fill is which series. */
static void put_key(FILE *out, const Frame *frame) {
  const Bars *bars = frame->bars;
  if (bars->config.n_series < 2) return;
  text_repeat(out, " ", INDENT + frame->label_columns + 1);
  for (int i = 0; i < bars->config.n_series; i++) {
    if (i > 0) fputs("   ", out);
    put_fill(out, frame, i, 2, "");
    fputc(' ', out);
    text_write(out, frame->style, bars_text(bars, bars->names[i]));
  }
  fputc('\n', out);
}

Status bars_print(const Bars *bars, FILE *out, const TextStyle *style, Error *error) {
  Status status = bars->status != STATUS_OK ? bars->status : bars->text.status;
  if (status) return error_set(error, status, "out of memory while a chart was built; nothing was printed");
  Frame frame = frame_of(bars, style);
  if (bars->title) text_paragraph(out, style, ROLE_HEADING, 0, bars_text(bars, bars->title));
  for (size_t i = 0; i < bars->n_rows; i++) {
    const BarsRow *row = &bars->rows[i];
    if (row->is_group)
      text_paragraph(out, style, ROLE_PLAIN, 0, bars_text(bars, row->label));
    else
      put_bar_row(out, &frame, row);
  }
  put_key(out, &frame);
  return STATUS_OK;
}
