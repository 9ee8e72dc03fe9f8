/* Traffic of the algorithms against N, with the present run marked, and how far it is. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/export/chart_draw.h"
#include "viz/scene/pen.h"
#include "viz/text/number.h"

static Ink ink_of(const Schedule *schedule) {
  if (strcmp(schedule->name, "standard") == 0) return INK_NEUTRAL;
  if (strcmp(schedule->name, "fa1") == 0) return INK_ORANGE;
  return strcmp(schedule->name, "fa2") == 0 ? INK_BLUE : INK_GREEN;
}

/* Total bytes with N replaced; 0 when that is not possible. In decode, where there is one query, it is the keys. */
static double bytes_with(const Snapshot *now, const Schedule *schedule, int64_t N) {
  Problem p = now->problem;
  Simulation run;
  if (p.shape.N_k == p.shape.N_q || p.shape.N_q == 1) p.shape.N_k = N;
  if (p.shape.N_q != 1) p.shape.N_q = N;
  return simulate(&run, &p, schedule, NULL) == STATUS_OK ? (double)run.total_bytes : 0;
}

static int64_t power_at_most(int64_t n) {
  int64_t power = 1;
  while (power <= n / 2) power *= 2;
  return power;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) { return value < low ? low : value > high ? high : value; }

/* The chart takes the whole page, so that its smallest text is 1/50 of the height. */
void scene_charts(const Pen *pen) {
  const Snapshot *now = pen->now;
  const int64_t N = now->problem.shape.N_q == 1 ? now->grid.N_k : now->grid.N_q, mid = power_at_most(N);
  if (pen->hit) return;
  Chart chart = chart_new(&(ChartConfig){.title = "Traffic between HBM and SRAM against N",
                                         .footer = pen->view->presentation ? NULL : pen->view->footer,
                                         .x = {.title = "sequence length N (tokens)", .kind = VALUE_TOKENS, .log = true},
                                         .y = {.title = "bytes read and written, one head", .kind = VALUE_BYTES, .log = true}});
  for (int k = 0; k < now->n_runs; k++) {
    const Schedule *schedule = SCHEDULES[now->runs[k].schedule];
    chart_series(&chart, schedule->name, ink_of(schedule), SERIES_LINE);
    for (int64_t n = clamp(mid / 32, 16, (int64_t)1 << 30); n <= clamp(mid * 64, 1024, (int64_t)1 << 36); n *= 2)
      chart_point(&chart, (double)n, bytes_with(now, schedule, n));
  }
  chart_mark(&chart, (double)N, (double)now->whole_bytes, "this run");
  if (now->total_bytes > 0 && now->step < now->n_steps) chart_mark(&chart, (double)N, (double)now->total_bytes, "so far");
  chart_draw(&chart, pen->cr, pen->page.width, pen->page.height, pen->theme);
  chart_free(&chart);
}
