/* Horizontal bars in the terminal: where the bytes go.
 *
 *     standard
 *       Q  ██▌                                      1 MiB
 *       S  ████████████████████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒  64 MiB
 *          █ read  ▒ write
 *
 * One series: bars with eighth-of-a-column ends. Several series: stacked in one bar, each with its
 * own fill. Fills differ in pattern first and in colour second. Every bar
 * carries its value as text, so nothing depends on estimating lengths. A value above zero always
 * shows at least a sliver. */
#ifndef TILEWALK_VIZ_CHART_BARS_H
#define TILEWALK_VIZ_CHART_BARS_H

#include "viz/text/store.h"
#include "viz/text/style.h"
#include "viz/chart/value.h"

enum { BARS_SERIES_MAX = 2 };

typedef struct {
  const char *title;                   /* NULL: none */
  int n_series;                        /* 0 means 1 */
  const char *series[BARS_SERIES_MAX]; /* names for the key; one series needs none */
  ValueKind kind;                      /* how values are written */
  const char *subtitle, *footer;       /* drawn charts only; NULL: none */
} BarsConfig;

typedef struct {
  bool is_group;       /* a heading, not a bar */
  size_t label, shown; /* offsets in the text */
  double values[BARS_SERIES_MAX];
} BarsRow;

typedef struct {
  TextStore text;
  Status status;     /* the first error */
  BarsConfig config; /* its strings are copied: they are the offsets below */
  size_t title, subtitle, footer, names[BARS_SERIES_MAX];
  BarsRow *rows;
  size_t n_rows, capacity;
} Bars;

Bars bars_new(const BarsConfig *config);
void bars_free(Bars *bars);

/* A bar with one value per series; values that are negative or not finite
 * count as 0. `shown` is written after it; NULL writes the sum (stacked) or each value (grouped) in
 * the configured kind. */
void bars_row(Bars *bars, const char *label, const double *values, const char *shown);

/* A heading over the rows that follow. */
void bars_group(Bars *bars, const char *heading);

/* Prints the chart within the style's width. STATUS_NO_MEMORY if building it failed. */
Status bars_print(const Bars *bars, FILE *out, const TextStyle *style, Error *error);

/* For what shows bars: the value of a full one, and the words after a bar. */
double bars_largest(const Bars *bars);
double bars_sum(const Bars *bars, const BarsRow *row);
Number bars_words(const Bars *bars, const BarsRow *row);
const char *bars_text(const Bars *bars, size_t offset);

#endif
