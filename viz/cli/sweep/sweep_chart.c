#include "viz/chart/algorithm_ink.h"
#include "viz/cli/sweep/sweep.h"

static ValueKind sweep_kind(const FigureRow *metric) {
  return metric->unit == UNIT_SECONDS ? VALUE_SECONDS : metric->unit == UNIT_BYTES ? VALUE_BYTES : VALUE_NUMBER;
}

Chart sweep_chart(const Sweep *s) {
  char state[REQUEST_STATE_BYTES], title[128];
  const bool is_two_level = sweep_is_counted(s->metric) && !s->start.machine.l2_bytes;
  snprintf(title, sizeof title, "%s against %s",
           is_two_level ? "Traffic between SRAM and HBM" : sweep_metric_title(s->metric), s->axis->title);
  title[strcspn(title, ",")] = '\0';
  Chart chart = chart_new(
      &(ChartConfig){.title = title,
                     .subtitle = s->axis->subtitle,
                     .footer = sweep_state(s, state),
                     .x = {.title = s->axis->title, .kind = s->axis->kind, .log = s->n_points > 1},
                     .y = {.title = is_two_level ? "bytes between SRAM and HBM, read and written" : s->metric->why,
                           .kind = sweep_kind(s->metric),
                           .log = !s->axis->behind_l2}});
  for (int k = 0; k < s->n_algorithms; k++) {
    const Schedule *const schedule = s->points[0].runs[k].schedule;
    chart_series(&chart, schedule->name, algorithm_ink(schedule), SERIES_LINE);
    for (int i = 0; i < s->n_points; i++)
      chart_point(&chart, (double)s->points[i].value, s->points[i].runs[k].shown.real);
  }
  if (sweep_has_bound(s->metric)) {
    chart_series(&chart, sweep_asks_gpu(s->metric) ? "every byte once" : "lower bound (order)", INK_PURPLE,
                 SERIES_REFERENCE);
    for (int i = 0; i < s->n_points; i++)
      chart_point(&chart, (double)s->points[i].value, s->points[i].lower_bound_bytes);
  }
  if (s->misfit_to && s->n_points > 1)
    chart_shade(&chart, (double)s->misfit_from, (double)s->misfit_to, "does not fit in SRAM");
  return chart;
}

Bars sweep_bars(const Sweep *s, const char *title) {
  const bool is_time = s->metric->unit == UNIT_SECONDS;
  const char *const bound = time_kind_name(TIME_BOUND);
  bool any_predicted = false;
  for (int i = 0; i < s->n_points; i++)
    for (int k = 0; k < s->n_algorithms; k++) any_predicted = any_predicted || s->points[i].runs[k].time_is != bound;
  const char *const how = !is_time        ? NULL
                          : any_predicted ? "predicted; another card extrapolated; a bound elsewhere"
                                          : "at peak rates, a bound";
  char state[REQUEST_STATE_BYTES], what[64], whole[160];
  snprintf(what, sizeof what, "%s on each GPU", sweep_metric_title(s->metric));
  snprintf(whole, sizeof whole, "%s%s%s", what, how ? ": " : "", how ? how : "");
  const bool is_own = title && *title; /* then what is shown stands below it */
  Bars bars = bars_new(&(BarsConfig){.title = is_own  ? title
                                              : title ? what
                                                      : whole,
                                     .subtitle = is_own  ? whole
                                                 : title ? how
                                                         : NULL,
                                     .kind = sweep_kind(s->metric),
                                     .footer = sweep_state(s, state)});
  for (int i = 0; i < s->n_points; i++) {
    const SweepPoint *p = &s->points[i];
    if (s->n_algorithms > 1) bars_group(&bars, p->machine);
    for (int k = 0; k < s->n_algorithms; k++) {
      const double value = p->runs[k].shown.real;
      char words[NUMBER_CHARS + 16];
      const char *const kind = p->runs[k].time_is;
      const char *const is = !is_time || !any_predicted || kind == time_kind_name(TIME_PREDICTED) ? ""
                             : kind == bound                                                      ? "at least "
                                                                                                  : "about ";
      snprintf(words, sizeof words, "%s%s", is, value_text(bars.config.kind, value).text);
      bars_row(&bars, s->n_algorithms > 1 ? p->runs[k].schedule->name : p->machine, &value, words);
    }
  }
  return bars;
}
