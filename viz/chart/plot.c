#include "viz/chart/plot.h"

#include "viz/text/glyphs.h"
#include "viz/text/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the plane ---- */

typedef struct {
  uint8_t dots;  /* braille pattern, as Unicode numbers the dots */
  int8_t line;   /* series that drew the dots last, -1: none */
  int8_t marker; /* series whose point lies here, -1: none */
  bool rule;     /* a reference line of the notes passes */
} Cell;

typedef struct {
  const Chart *chart;
  const TextStyle *style;
  Scale x, y;
  int rows, columns;
  int label_columns; /* room for tick labels */
  Cell *cells;
} Plot;

static Cell *cell_at(const Plot *plot, int column, int row) {
  if (column < 0 || row < 0 || column >= plot->columns || row >= plot->rows) return NULL;
  return &plot->cells[row * plot->columns + column];
}

/* Places in dots, from the top left. Values off the plane give places off it, held to a range that
 * an int can take. */
static int dot_x(const Plot *plot, double value) {
  double place = scale_position(&plot->x, value) * (2 * plot->columns - 1);
  return (int)lround(fmin(fmax(place, -1e4), 1e4));
}

static int dot_y(const Plot *plot, double value) {
  double place = (1 - scale_position(&plot->y, value)) * (4 * plot->rows - 1);
  return (int)lround(fmin(fmax(place, -1e4), 1e4));
}

static void put_dot(const Plot *plot, int x, int y, int series) {
  static const uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  Cell *cell = x < 0 || y < 0 ? NULL : cell_at(plot, x / 2, y / 4);
  if (!cell) return;
  cell->dots |= bits[y % 4][x % 2];
  cell->line = (int8_t)series;
}

/* A line of dots; a reference line leaves every other pair out. */
static void put_line(const Plot *plot, int x1, int y1, int x2, int y2, int series, bool is_sparse) {
  int steps = abs(x2 - x1) > abs(y2 - y1) ? abs(x2 - x1) : abs(y2 - y1);
  for (int i = 0; i <= steps; i++) {
    double part = steps ? (double)i / steps : 0;
    if (is_sparse && i / 2 % 2 == 1) continue;
    put_dot(plot, x1 + (int)lround(part * (x2 - x1)), y1 + (int)lround(part * (y2 - y1)), series);
  }
}

static void put_series(const Plot *plot, int index) {
  const ChartSeries *series = &plot->chart->series[index];
  bool is_open = false, has_line = series->look != SERIES_POINTS;
  int last_x = 0, last_y = 0;
  for (size_t i = 0; i < series->n; i++) {
    ChartPoint point = plot->chart->points[series->first + i];
    bool shows = chart_shows(plot->chart, point);
    if (shows) {
      int x = dot_x(plot, point.x), y = dot_y(plot, point.y);
      if (is_open && has_line) put_line(plot, last_x, last_y, x, y, index, series->look == SERIES_REFERENCE);
      last_x = x;
      last_y = y;
    }
    is_open = shows;
  }
}

/* Markers go over all lines; of several on one place the first series is seen. */
static void put_markers(const Plot *plot, int index) {
  const ChartSeries *series = &plot->chart->series[index];
  if (series->look == SERIES_REFERENCE) return;
  for (size_t i = 0; i < series->n; i++) {
    ChartPoint point = plot->chart->points[series->first + i];
    if (!chart_shows(plot->chart, point)) continue;
    int x = dot_x(plot, point.x), y = dot_y(plot, point.y);
    Cell *cell = x < 0 || y < 0 ? NULL : cell_at(plot, x / 2, y / 4);
    if (cell && cell->marker < 0) cell->marker = (int8_t)index;
  }
}

static void put_notes(const Plot *plot) {
  for (size_t i = 0; i < plot->chart->n_notes; i++) {
    const ChartNote *note = &plot->chart->notes[i];
    int row = dot_y(plot, note->y) / 4;
    for (int c = 0; note->kind == NOTE_HORIZONTAL && c < plot->columns; c++)
      if (cell_at(plot, c, row)) cell_at(plot, c, row)->rule = true;
  }
}

/* ---- printing ---- */

static const char *marker_of(const TextStyle *style, int cue) {
  static const char *const unicode[] = {"\xe2\x97\x8f", "\xe2\x96\xa0", "\xe2\x96\xb2",
                                        "\xe2\x97\x86", "\xe2\x96\xbc", "\xe2\x97\x8b"};
  static const char *const ascii[] = {"*", "#", "^", "o", "v", "x"};
  return (style->utf8 ? unicode : ascii)[cue % N_CUES];
}

static TextRole role_of(const Chart *chart, int series) {
  switch (chart->series[series].ink) {
  case INK_BLUE: return ROLE_ACCENT;
  case INK_ORANGE: return ROLE_WARN;
  case INK_GREEN: return ROLE_GOOD;
  case INK_PURPLE: return ROLE_BAD;
  default: return ROLE_PLAIN;
  }
}

static void put_cell(const Plot *plot, FILE *out, const Cell *cell) {
  const TextStyle *style = plot->style;
  char braille[4] = {(char)0xe2, (char)(0xa0 | cell->dots >> 6), (char)(0x80 | (cell->dots & 0x3f)), 0};
  TextRole role = ROLE_PLAIN;
  const char *text = " ";
  if (cell->marker >= 0) {
    role = role_of(plot->chart, cell->marker);
    text = marker_of(style, plot->chart->series[cell->marker].cue);
  } else if (cell->dots) {
    role = role_of(plot->chart, cell->line);
    text = style->utf8 ? braille : ".";
  } else if (cell->rule) {
    role = ROLE_DIM;
    text = style->utf8 ? "\xe2\x94\x8a" : ":"; /* light quadruple dash, upright */
  }
  text_print(out, style, role, "%s", text);
}

/* With its marker before it, or a piece of its line. */
static void put_name(const Plot *plot, FILE *out, int series) {
  const TextStyle *style = plot->style;
  const ChartSeries *s = &plot->chart->series[series];
  const char *name = chart_text(plot->chart, s->name), *dash = style->utf8 ? "\xe2\x94\x84" : "."; /* light, triple */
  text_print(out, style, role_of(plot->chart, series), "%s %.*s",
             s->look == SERIES_REFERENCE ? dash : marker_of(style, s->cue),
             (int)text_fit(style, name, style->width - 2), name);
}

/* One line of the plane: tick label, axis, cells up to the last that is not empty. */
static void put_row(const Plot *plot, FILE *out, int row, const Ticks *ticks) {
  const char *label = "";
  Number number;
  for (int i = 0; i < ticks->n; i++)
    if (dot_y(plot, ticks->values[i]) / 4 == row) {
      number = value_tick_text(plot->y.kind, ticks->values[i]);
      label = number.text;
    }
  text_repeat(out, " ", plot->label_columns - text_columns(plot->style, label));
  fputs(label, out);
  const char *axis = plot->style->utf8 ? (*label ? " \xe2\x94\xa4" : " \xe2\x94\x82") : (*label ? " +" : " |");
  fputs(axis, out);
  int used = plot->columns;
  while (used > 0) {
    const Cell *cell = cell_at(plot, used - 1, row);
    if (cell->dots || cell->marker >= 0 || cell->rule) break;
    used--;
  }
  for (int column = 0; column < used; column++) put_cell(plot, out, cell_at(plot, column, row));
  fputc('\n', out);
}

/* Ticks along x whose labels do not touch. */
static Ticks x_ticks(const Plot *plot) {
  for (int most = 12; most > 2; most--) {
    Ticks ticks = ticks_on(&plot->x, most);
    int last = -100, bad = 0;
    for (int i = 0; i < ticks.n; i++) {
      int columns = (int)strlen(value_tick_text(plot->x.kind, ticks.values[i]).text);
      int start = dot_x(plot, ticks.values[i]) / 2 - columns / 2;
      if (start < last + 2) bad++;
      last = start + columns;
    }
    if (bad == 0) return ticks;
  }
  return ticks_on(&plot->x, 2);
}

static void put_x_axis(const Plot *plot, FILE *out) {
  const TextStyle *style = plot->style;
  Ticks ticks = x_ticks(plot);
  text_repeat(out, " ", plot->label_columns);
  fputs(style->utf8 ? " \xe2\x94\x94" : " +", out);
  for (int column = 0, next = 0; column < plot->columns; column++) {
    while (next < ticks.n && dot_x(plot, ticks.values[next]) / 2 < column) next++;
    bool is_tick = next < ticks.n && dot_x(plot, ticks.values[next]) / 2 == column;
    fputs(style->utf8 ? (is_tick ? "\xe2\x94\xac" : "\xe2\x94\x80") : (is_tick ? "+" : "-"), out);
  }
  fputc('\n', out);
  int column = 0;
  for (int i = 0; i < ticks.n; i++) {
    Number text = value_tick_text(plot->x.kind, ticks.values[i]);
    int columns = (int)strlen(text.text),
        start = plot->label_columns + 2 + dot_x(plot, ticks.values[i]) / 2 - columns / 2;
    if (start + columns > style->width) start = style->width - columns;
    if (start < column) continue; /* only where even two ticks touch */
    text_repeat(out, " ", start - column);
    fputs(text.text, out);
    column = start + columns;
  }
  fputc('\n', out);
  const char *title = chart_text(plot->chart, plot->chart->x_title);
  if (!*title) return;
  int middle = plot->label_columns + 2 + (plot->columns - text_columns(style, title)) / 2;
  text_paragraph(out, style, ROLE_DIM, middle > 0 ? middle : 0, title);
}

/* The key, and what the notes say. */
static void put_below(const Plot *plot, FILE *out) {
  const Chart *chart = plot->chart;
  const TextStyle *style = plot->style;
  int column = 0;
  for (int s = 0; s < chart->n_series; s++) {
    int columns = text_columns(style, chart_text(chart, chart->series[s].name)) + 2;
    if (column > 0 && column + 3 + columns > style->width) {
      fputc('\n', out);
      column = 0;
    }
    text_repeat(out, " ", column > 0 ? 3 : 0);
    put_name(plot, out, s);
    column += columns + (column > 0 ? 3 : 0);
  }
  if (column > 0) fputc('\n', out);
  for (size_t i = 0; i < chart->n_notes; i++) {
    const ChartNote *note = &chart->notes[i];
    Number x = value_text(plot->x.kind, note->x), y = value_text(plot->y.kind, note->y);
    char line[512];
    const char *text = chart_text(chart, note->text);
    if (note->kind == NOTE_HORIZONTAL) snprintf(line, sizeof line, "y = %.90s: %.250s", y.text, text);
    if (note->kind == NOTE_SHADE)
      snprintf(line, sizeof line, "x from %.90s to %.90s: %.250s", x.text, value_text(plot->x.kind, note->y).text,
               text);
    text_paragraph(out, style, ROLE_DIM, 0, line);
  }
}

static void put_plot(const Plot *plot, FILE *out, const Ticks *ticks) {
  const Chart *chart = plot->chart;
  for (int s = 0; s < chart->n_series; s++) put_series(plot, s);
  for (int s = 0; s < chart->n_series; s++) put_markers(plot, s);
  put_notes(plot);
  if (chart->title) text_paragraph(out, plot->style, ROLE_HEADING, 0, chart_text(chart, chart->title));
  if (chart->subtitle) text_paragraph(out, plot->style, ROLE_DIM, 0, chart_text(chart, chart->subtitle));
  if (chart->y_title) text_paragraph(out, plot->style, ROLE_DIM, 0, chart_text(chart, chart->y_title));
  for (int row = 0; row < plot->rows; row++) put_row(plot, out, row, ticks);
  put_x_axis(plot, out);
  put_below(plot, out);
}

Status plot_print(const Chart *chart, FILE *out, const TextStyle *style, int rows, Error *error) {
  Status status = chart_check(chart, error);
  if (status) return status;
  if (rows == 0) rows = PLOT_ROWS_DEFAULT;
  rows = rows < PLOT_ROWS_MIN ? PLOT_ROWS_MIN : rows > PLOT_ROWS_MAX ? PLOT_ROWS_MAX : rows;
  Plot plot = {.chart = chart, .style = style, .rows = rows};
  plot.x = chart_x_scale(chart, 0.01);
  plot.y = chart_y_scale(chart, 0.02);
  Ticks ticks = ticks_on(&plot.y, rows / 2 < 9 ? rows / 2 : 9);
  for (int i = 0; i < ticks.n; i++) {
    const int columns = (int)strlen(value_tick_text(plot.y.kind, ticks.values[i]).text);
    if (columns > plot.label_columns) plot.label_columns = columns;
  }
  plot.columns = style->width - plot.label_columns - 2;
  if (plot.columns < 4) plot.columns = 4;
  size_t n_cells = (size_t)plot.rows * (size_t)plot.columns;
  plot.cells = malloc(n_cells * sizeof(Cell));
  if (!plot.cells) return error_set(error, STATUS_NO_MEMORY, "out of memory while a chart was printed");
  for (size_t i = 0; i < n_cells; i++) plot.cells[i] = (Cell){.line = -1, .marker = -1};
  put_plot(&plot, out, &ticks);
  free(plot.cells);
  return STATUS_OK;
}
