/* The chart of a sweep. */
#ifndef TILEWALK_VIZ_CLI_SWEEP_SWEEP_CHART_H
#define TILEWALK_VIZ_CLI_SWEEP_SWEEP_CHART_H

#include "viz/cli/chart_file.h"
#include "viz/cli/sweep/sweep.h"
#include "viz/chart/bars.h"
#include "viz/chart/chart.h"

/* Total traffic of each algorithm against the swept parameter, with the lower bound; what does not fit is shaded. The
 * caller calls chart_free. */
Chart sweep_chart(const Sweep *sweep, const Request *request);

/* The same where GPUs are swept: a bar for each of them and each algorithm. `title`: "" what is shown, NULL that in one
 * line. The caller calls bars_free. */
Bars sweep_bars(const Sweep *sweep, const Request *request, const char *title);

#endif
