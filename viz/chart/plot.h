/* Prints a chart (chart.h) in the terminal.
 *
 *     traffic (bytes)
 *     16 GiB +                     ..*
 *      1 GiB +          ..*....
 *     64 MiB +*....
 *            +--+--------+----------+
 *              1K       8K         64K
 *     * standard
 *
 * Lines are made of braille dots, two across and four down to a character; points are markers, one
 * shape per series, repeated beside its name. Without Unicode lines are dots and
 * markers letters and signs. Colour only repeats what the markers say. */
#ifndef TILEWALK_VIZ_CHART_PLOT_H
#define TILEWALK_VIZ_CHART_PLOT_H

#include "viz/chart/chart.h"
#include "viz/text/style.h"

enum { PLOT_ROWS_DEFAULT = 16, PLOT_ROWS_MIN = 6, PLOT_ROWS_MAX = 100 };

/* Prints the chart within the style's width; `rows` lines are for the plane itself (0:
 * PLOT_ROWS_DEFAULT; held to the limits above), a few more for titles, axis and notes.
 * STATUS_NO_MEMORY, and what chart_check says. */
Status plot_print(const Chart *chart, FILE *out, const TextStyle *style, int rows, Error *error);

#endif
