/* The chart of a sweep, and the options of everything that draws a picture. */
#ifndef TILEWALK_VIZ_CLI_SWEEP_CHART_H
#define TILEWALK_VIZ_CLI_SWEEP_CHART_H

#include "viz/cli/sweep.h"
#include "viz/chart/chart.h"

typedef struct {
  int width, height; /* 0: 1280 x 720 */
  char theme[16];    /* "": light */
  bool given;        /* --size or --theme was there */
} ChartRequest;

extern const Option CHART_OPTIONS[]; /* --size, --theme; target: ChartRequest */

/* Refuses a size or theme without a file to draw into. */
Status chart_request_check(const ChartRequest *chart, const OutputRequest *output, Error *error);

/* Total traffic of each algorithm against the swept parameter, with the lower bound; what does not fit is shaded. The
 * caller calls chart_free. */
Chart sweep_chart(const Sweep *sweep, const Request *request);

/* Draws it into a file: PNG, SVG or PDF by its suffix. */
Status sweep_chart_save(const Sweep *sweep, const Request *request, const ChartRequest *how, const char *path,
                        Error *error);

#endif
