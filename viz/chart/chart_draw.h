/* Draws charts (viz/chart/chart.h) with cairo: the same object that
 * prints in a terminal.
 *
 * Pure functions of their arguments that fill the rectangle from (0, 0) to (width, height), at any
 * size and on any surface. All measures grow with the smaller of width / 1280 and height / 720; the
 * smallest text is 1/50 of that height. Series are told apart by dash, marker and a label at the
 * end of the line, then by colour; bars by hatching. Labels that would overlap are moved apart, and
 * a thin leader joins a moved label to its line; where there is no room for labels at the ends, a
 * key stands above the plane. */
#ifndef TILEWALK_VIZ_CHART_CHART_DRAW_H
#define TILEWALK_VIZ_CHART_CHART_DRAW_H

#include "viz/chart/theme.h"
#include "viz/chart/chart.h"

/* A chart that cannot be shown (chart_check) is left blank but for its background. */
void chart_draw(const Chart *chart, cairo_t *cr, double width, double height, const Theme *theme);

#endif
