/* Draws bars (viz/chart/bars.h) with cairo, as chart_draw.h draws charts. */
#ifndef TILEWALK_VIZ_CHART_BARS_DRAW_H
#define TILEWALK_VIZ_CHART_BARS_DRAW_H

#include "viz/chart/bars.h"
#include "viz/chart/theme.h"

/* Rows that do not fit at a legible size are left out from the end, and a line says how many. */
void bars_draw(const Bars *bars, cairo_t *cr, double width, double height, const Theme *theme);

#endif
