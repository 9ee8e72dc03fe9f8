/* Horizontal bars in the terminal: where the bytes go.
 *
 *     standard
 *       Q  ██▌                                      1 MiB
 *       S  ████████████████████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒  64 MiB
 *          █ read  ▒ write
 *
 * One series: bars with eighth-of-a-column ends. Several series: stacked in one bar, each with its
 * own fill, or one bar per series. Fills differ in pattern first and in colour second. Every bar
 * carries its value as text, so nothing depends on estimating lengths. A value above zero always
 * shows at least a sliver. Logarithmic bars start at `log_from` and cannot be stacked, because
 * lengths do not add up there. */
#ifndef TILEWALK_VIZ_CHART_BARS_H
#define TILEWALK_VIZ_CHART_BARS_H

#include "viz/text/store.h"
#include "viz/text/style.h"
#include "viz/chart/value.h"

enum { BARS_SERIES_MAX = 6 };

typedef enum { BARS_STACKED = 0, BARS_GROUPED } BarsLayout;

typedef struct {
  const char *title;                   /* NULL: none */
  int n_series;                        /* 0 means 1 */
  const char *series[BARS_SERIES_MAX]; /* names for the key; one series needs none */
  BarsLayout layout;
  ValueKind kind;                /* how values are written */
  double log_from;               /* > 0: logarithmic, bars start here; 0: linear from 0 */
  double largest;                /* value of a full bar; 0: the largest in the data. Set it to compare charts */
  const char *subtitle, *footer; /* drawn charts only; NULL: none */
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

/* A bar (or a group of bars) with one value per series; values that are negative or not finite
 * count as 0. `shown` is written after it; NULL writes the sum (stacked) or each value (grouped) in
 * the configured kind. */
void bars_row(Bars *bars, const char *label, const double *values, const char *shown);

/* A heading over the rows that follow. */
void bars_group(Bars *bars, const char *heading);

/* Prints the chart within the style's width. STATUS_NO_MEMORY if building it failed. */
Status bars_print(const Bars *bars, FILE *out, const TextStyle *style, Error *error);

/* For what shows bars (here and in viz/export): is each row one stacked bar, how long it is as a
 * part of a full one (0 to 1) when it stands for `value`, the value of a full bar, and the words
 * after it. */
bool bars_stacked(const Bars *bars);
double bars_largest(const Bars *bars);
double bars_part(const Bars *bars, double largest, double value);
Number bars_words(const Bars *bars, const BarsRow *row, int series);
const char *bars_text(const Bars *bars, size_t offset);

#endif
