/* Traffic of the three algorithms against N and against the block size, with the present problem marked. */
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

/* Total bytes with N or B replaced; 0 when that is not possible. */
static double bytes_with(const Snapshot *now, const Schedule *schedule, int64_t N, int64_t block) {
  Problem p = now->problem;
  Simulation run;
  if (N) {
    p.shape.N_k = p.shape.N_k == p.shape.N_q || p.shape.N_q == 1 ? N : p.shape.N_k;
    if (p.shape.N_q != 1) p.shape.N_q = N;
  }
  if (block) p.tiling.B_r = p.tiling.B_c = block;
  return simulate(&run, &p, schedule, NULL) == STATUS_OK ? (double)run.total_bytes : 0;
}

static void add_curves(const Pen *pen, Chart *chart, bool over_block, int64_t from, int64_t to) {
  const Snapshot *now = pen->now;
  for (int k = 0; k < now->n_runs; k++) {
    const Schedule *schedule = SCHEDULES[now->runs[k].schedule];
    chart_series(chart, schedule->name, ink_of(schedule), SERIES_LINE);
    for (int64_t value = from; value <= to; value *= 2)
      chart_point(chart, (double)value, bytes_with(now, schedule, over_block ? 0 : value, over_block ? value : 0));
  }
}

static void draw_chart(const Pen *pen, Box box, Chart *chart) {
  if (!pen->hit) {
    cairo_save(pen->cr);
    cairo_translate(pen->cr, box.x, box.y);
    cairo_rectangle(pen->cr, 0, 0, box.width, box.height);
    cairo_clip(pen->cr);
    /* The chart's own smallest text is 1/50 of its height, so it is drawn as tall as the page and fits in width. */
    const double scale = fmin(1, fmin(box.width / (0.62 * pen->page.width), box.height / (0.62 * pen->page.height)));
    chart_draw(chart, pen->cr, box.width / scale * 1.0, box.height / scale * 1.0, pen->theme);
    cairo_restore(pen->cr);
  }
  chart_free(chart);
}

static int64_t power_at_most(int64_t n) {
  int64_t power = 1;
  while (power <= n / 2) power *= 2;
  return power;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) { return value < low ? low : value > high ? high : value; }

void scene_charts(const Pen *pen) {
  const Snapshot *now = pen->now;
  Box body = pen_page(pen, "Traffic between HBM and SRAM");
  const Box left = box_cut_left(&body, body.width / 2 - 8 * pen->unit, 16 * pen->unit);
  const int64_t N = now->problem.shape.N_q == 1 ? now->grid.N_k : now->grid.N_q, mid = power_at_most(N);
  const int64_t from = clamp(mid / 32, 16, (int64_t)1 << 30), B = now->grid.B_c;
  Chart chart = chart_new(&(ChartConfig){.title = "against N", .x = {.title = "N (tokens)", .kind = VALUE_TOKENS, .log = true},
                                         .y = {.title = "bytes", .kind = VALUE_BYTES, .log = true}});
  add_curves(pen, &chart, false, from, clamp(mid * 32, 1024, (int64_t)1 << 36));
  chart_mark(&chart, (double)N, (double)now->whole_bytes, "here");
  draw_chart(pen, left, &chart);
  chart = chart_new(&(ChartConfig){.title = "against the block B", .x = {.title = "B_r = B_c (rows)", .kind = VALUE_TOKENS, .log = true},
                                   .y = {.title = "bytes", .kind = VALUE_BYTES, .log = true}});
  add_curves(pen, &chart, true, 1, clamp(power_at_most(N), 2, 1024));
  if (now->grid.B_r == B) chart_mark(&chart, (double)B, (double)now->whole_bytes, "here");
  draw_chart(pen, body, &chart);
}
