#include "viz/scene/chart_panels.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/chart/algorithm_ink.h"
#include "viz/text/number.h"

/* The unit of a chart's measures: its smallest text is 17 of them, and pen_size's smallest text is the least allowed.
 */
static double unit_of(const Pen *pen, bool is_alone) {
  return (is_alone ? 1.1 : 0.9) * (pen->view->presentation ? 23.5 / 25 : 1) * pen_size(pen, TYPE_SMALL) / 14.6;
}

static void disc(const Pen *pen, double x, double y, double radius, Colour colour) {
  theme_use(pen->cr, colour, 1);
  cairo_new_path(pen->cr);
  cairo_arc(pen->cr, x, y, fmax(0.5, radius), 0, 6.283185307179586);
  cairo_fill(pen->cr);
}

void draw_dot(const Pen *pen, double x, double y, double radius) {
  disc(pen, x, y, radius + 2 * pen->unit, pen->theme->panel);
  disc(pen, x, y, radius, pen->theme->ink);
  disc(pen, x, y, radius - 2.2 * pen->unit, pen->theme->tile[TILE_COLOUR_CURRENT]);
}

void draw_ring(const Pen *pen, double x, double y, double radius) {
  disc(pen, x, y, radius + 2 * pen->unit, pen->theme->panel);
  disc(pen, x, y, radius, pen->theme->ink);
  disc(pen, x, y, radius - 2.2 * pen->unit, pen->theme->panel);
}

/* A panel whose heading has a key beside it: what the dot and the ring mean. */
static Box keyed_panel(const Pen *pen, Box box, const char *heading, const char *ring, const char *dot) {
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL), base = box.y + 12 * u + pen_size(pen, TYPE_HEAD),
               r = 5.5 * u;
  const Box in = pen_panel(pen, box, heading, NULL);
  const char *words[] = {dot, ring};
  double x = box.x + box.width - 14 * u;
  const double needed = pen_text_width(pen, TYPE_SMALL, false, dot) + pen_text_width(pen, TYPE_SMALL, false, ring) +
                        pen_text_width(pen, TYPE_HEAD, true, heading) + 90 * u;
  for (int k = 0; k < (needed < box.width ? 2 : 0); k++) {
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, x, base, 0, words[k]);
    x -= pen_text_width(pen, TYPE_SMALL, false, words[k]) + 6 * u + r;
    if (k == 0)
      draw_dot(pen, x, base - 0.36 * small, r);
    else
      draw_ring(pen, x, base - 0.36 * small, r);
    x -= r + 12 * u;
  }
  return in;
}

static void ring_on(const Pen *pen, const ChartPlane *plane, double x_value, double y_value) {
  if (plane->width <= 0 || !(x_value > 0) || !(y_value > 0)) return;
  draw_ring(pen, plane->x + plane->width * scale_position(&plane->x_scale, x_value),
            plane->y + plane->height * (1 - scale_position(&plane->y_scale, y_value)), 7 * pen->unit);
}

/* Draws the chart into a box and gives back its plane in the page's coordinates. */
static ChartPlane place_chart(const Pen *pen, Box box, Chart *chart, bool is_alone) {
  ChartPlane plane = {0};
  if (box.width >= 40 * pen->unit && box.height >= 60 * pen->unit) {
    cairo_save(pen->cr);
    cairo_translate(pen->cr, box.x, box.y);
    plane =
        chart_draw_inset(chart, pen->cr, box.width, box.height, pen->theme, unit_of(pen, is_alone), pen->theme->panel);
    cairo_restore(pen->cr);
    plane.x += box.x;
    plane.y += box.y;
  }
  chart_free(chart);
  return plane;
}

/* ---- Traffic --------------------------------------------------------------------------------------------- */

static void add_sweep(Chart *chart, const ChartNumbers *c, const SweepNumbers *points, int n) {
  for (int k = 0; k < c->n_runs; k++) {
    chart_series(chart, c->schedules[k]->name, algorithm_ink(c->schedules[k]), SERIES_LINE);
    for (int p = 0; p < n; p++) chart_point(chart, (double)points[p].value, points[p].bytes[k]);
  }
}

void draw_traffic_by_N(const Pen *pen, Box box, const ChartNumbers *c, bool is_alone, StillPlaces *places) {
  const char *x_title = c->of_keys ? "keys N (tokens)" : "sequence length N (tokens)";
  const Box in = keyed_panel(pen, box, c->of_keys ? "Traffic against keys" : "Traffic against N", "this run", "so far");
  Chart chart = chart_new(
      &(ChartConfig){.x = {.title = is_alone ? x_title : NULL, .kind = VALUE_TOKENS, .log = true},
                     .y = {.title = is_alone ? "bytes read and written" : NULL, .kind = VALUE_BYTES, .log = true}});
  add_sweep(&chart, c, c->by_N, c->n_N);
  places->by_N = place_chart(pen, in, &chart, is_alone);
  ring_on(pen, &places->by_N, (double)c->N, (double)pen->now->whole_bytes);
}

/* Of square tiles; a run with others stands beside the curve, at its B_r. */
void draw_traffic_by_B(const Pen *pen, Box box, const ChartNumbers *c, bool is_alone, StillPlaces *places) {
  const SnapshotGrid *g = &pen->now->grid;
  char words[64];
  const Box in =
      keyed_panel(pen, box, is_alone ? "Traffic against the block" : "Traffic against B", "this run", "so far");
  Chart chart = chart_new(
      &(ChartConfig){.x = {.title = is_alone ? "block B = B_r = B_c (rows)" : NULL, .kind = VALUE_TOKENS, .log = true},
                     .y = {.title = is_alone ? "bytes read and written" : NULL, .kind = VALUE_BYTES, .log = true}});
  const double first = (double)c->by_B[0].value, last = (double)c->by_B[c->n_B - 1].value, fits = (double)c->max_block;
  if (fits < last) {
    snprintf(words, sizeof words, "SRAM holds %" PRId64, c->max_block);
    chart_shade(&chart, fmax(fits, first), last, "");
    if (fits >= first) chart_vertical(&chart, fits, is_alone ? words : "");
  }
  add_sweep(&chart, c, c->by_B, c->n_B);
  places->by_B = place_chart(pen, in, &chart, is_alone);
  ring_on(pen, &places->by_B, (double)g->B_r, (double)pen->now->whole_bytes);
}

/* ---- Misses ---------------------------------------------------------------------------------------------- */

static void misses_note(const ChartNumbers *c, char *text, size_t size) {
  const MissCurve *m = &c->misses;
  snprintf(text, size,
           "Mattson's curve: a fully associative LRU cache behind the SRAM, one CTA after another, in units of %s",
           number_bytes((Wide)m->unit_bytes).text);
  if (m->widening > 1)
    snprintf(text + strlen(text), size - strlen(text), " (%" PRId64 " tiles of the inner loop walked as one)",
             m->widening);
}

void draw_misses(const Pen *pen, Box box, const ChartNumbers *c, bool is_alone) {
  const MissCurve *m = &c->misses;
  char words[256];
  Box in = pen_panel(pen, box, is_alone ? "Miss ratio" : "Misses of a cache", is_alone ? NULL : "by capacity");
  if (!m->is_known) {
    snprintf(words, sizeof words, "No curve: %s.", m->why_not);
    pen_paragraph(pen, TYPE_BODY, pen->theme->ink, in, words);
    return;
  }
  if (is_alone) {
    Box note = box_cut_bottom(&in, 3 * pen_size(pen, TYPE_SMALL), 6 * pen->unit);
    misses_note(c, words, sizeof words);
    pen_paragraph(pen, TYPE_SMALL, pen->theme->ink_soft, note, words);
  }
  Chart chart = chart_new(
      &(ChartConfig){.x = {.title = is_alone ? "capacity of the cache" : NULL, .kind = VALUE_BYTES, .log = true},
                     .y = {.title = is_alone ? "bytes that miss, of all that cross the SRAM boundary" : NULL,
                           .kind = VALUE_PERCENT,
                           .low = 0,
                           .high = 1.04}});
  chart_series(&chart, "", algorithm_ink(pen->now->schedule), SERIES_STEPS);
  for (int k = 0; k < m->n; k++) chart_point(&chart, m->capacity_bytes[k], m->missed_bytes[k] / m->total_bytes);
  if (m->l2_bytes > 0) {
    chart_point(&chart, fmax(m->l2_bytes, m->capacity_bytes[m->n - 1]), m->missed_bytes[m->n - 1] / m->total_bytes);
    snprintf(words, sizeof words, "L2, %s", number_bytes((Wide)m->l2_bytes).text);
    chart_vertical(&chart, m->l2_bytes, words);
    snprintf(words, sizeof words, "%s", number_percent(m->l2_missed_bytes / m->total_bytes).text);
    chart_mark(&chart, m->l2_bytes, m->l2_missed_bytes / m->total_bytes, words);
  }
  place_chart(pen, in, &chart, is_alone);
}

/* ---- Roofline -------------------------------------------------------------------------------------------- */

static double roof(const RooflineNumbers *r, double bytes_per_s, double flops_per_byte) {
  const double from_memory = flops_per_byte * bytes_per_s;
  return r->peak_flops_per_s > 0 ? fmin(from_memory, r->peak_flops_per_s) : from_memory;
}

static void add_roof(Chart *chart, const RooflineNumbers *r, const char *name, Ink ink, double bytes_per_s, double low,
                     double high) {
  if (bytes_per_s <= 0) return;
  const double ridge = r->peak_flops_per_s > 0 ? fmin(fmax(r->peak_flops_per_s / bytes_per_s, low), high) : high;
  chart_series(chart, name, ink, SERIES_REFERENCE);
  chart_point(chart, low, roof(r, bytes_per_s, low));
  chart_point(chart, ridge, roof(r, bytes_per_s, ridge));
}

/* The stretch of the x axis: all that is marked, both ridges, and some more. */
static void span_of(const RooflineNumbers *r, double *low, double *high) {
  *low = fmin(r->low_flops_per_byte, r->end_hbm.flops_per_byte > 0 ? r->end_hbm.flops_per_byte : INFINITY);
  *high = fmax(r->high_flops_per_byte, r->end_hbm.flops_per_byte);
  if (r->peak_flops_per_s > 0 && r->level_bytes_per_s > 0)
    *high = fmax(*high, r->peak_flops_per_s / r->level_bytes_per_s);
  if (r->peak_flops_per_s > 0 && r->hbm_bytes_per_s > 0) *high = fmax(*high, r->peak_flops_per_s / r->hbm_bytes_per_s);
  *low = *low > 0 && isfinite(*low) ? *low / 3 : 0.1;
  *high = fmax(*high * 3, *low * 100);
}

static void name_roof(char *words, size_t size, bool is_alone, const char *level, double bytes_per_s) {
  if (is_alone)
    snprintf(words, size, "%s, %s", level, number_si(bytes_per_s, "B/s").text);
  else
    snprintf(words, size, "%s", level);
}

static void add_ceilings(Chart *chart, const Pen *pen, const RooflineNumbers *r, bool is_alone) {
  char words[160];
  if (r->peak_flops_per_s > 0) {
    snprintf(words, sizeof words, "%s products", dtype_name(pen->now->problem.shape.dtype));
    if (is_alone)
      snprintf(words + strlen(words), sizeof words - strlen(words), ", %s",
               number_si(r->peak_flops_per_s, "FLOP/s").text);
    chart_horizontal(chart, r->peak_flops_per_s, words);
  }
  if (r->exp_flops_per_s > 0 &&
      (r->peak_flops_per_s <= 0 || r->exp_flops_per_s < (pen->view->presentation ? 0.2 : 0.8) * r->peak_flops_per_s)) {
    snprintf(words, sizeof words, "exponentials");
    if (is_alone)
      snprintf(words + strlen(words), sizeof words - strlen(words), ", %s",
               number_si(r->exp_flops_per_s, "FLOP/s").text);
    chart_horizontal(chart, r->exp_flops_per_s, words);
  }
}

/* Where there is room: where all algorithms end, and the one shown by the bytes that reach HBM. */
static void add_ends(Chart *chart, const Pen *pen, const ChartNumbers *c) {
  const RooflineNumbers *r = &c->roofline;
  for (int k = 0; k < c->n_runs; k++) {
    chart_series(chart, c->schedules[k]->name, algorithm_ink(c->schedules[k]), SERIES_POINTS);
    chart_point(chart, r->ends[k].flops_per_byte, r->ends[k].flops_per_s);
  }
  if (!pen->view->presentation && r->level == TIME_L2 && r->end_hbm.flops_per_byte > 0)
    chart_mark(chart, r->end_hbm.flops_per_byte, r->end_hbm.flops_per_s, "by the bytes of HBM");
}

const char *roofline_missing(const RooflineNumbers *r) {
  const bool no_level = r->level_bytes_per_s <= 0, no_peak = r->peak_flops_per_s <= 0;
  return no_level && no_peak ? "L2, products" : no_level ? "L2" : no_peak ? "products" : "";
}

void draw_roofline(const Pen *pen, Box box, const ChartNumbers *c, bool is_alone, StillPlaces *places) {
  const RooflineNumbers *r = &c->roofline;
  char words[320];
  double low, high;
  Box in = is_alone ? pen_panel(pen, box, "Roofline", NULL) : keyed_panel(pen, box, "Roofline", "the end", "now");
  if (is_alone && (!pen->view->presentation || *roofline_missing(r))) {
    Box note = box_cut_bottom(&in, 3 * pen_size(pen, TYPE_SMALL), 6 * pen->unit);
    snprintf(words, sizeof words, "%.160s: peak rates, all SMs busy, everything overlapping; real kernels are slower.",
             pen->now->gpu.product);
    if (*roofline_missing(r))
      snprintf(words + strlen(words), sizeof words - strlen(words),
               " Its description gives no rate of %s, left out here.", roofline_missing(r));
    pen_paragraph(pen, TYPE_SMALL, pen->theme->ink_soft, note, words);
  }
  span_of(r, &low, &high);
  const double bytes_per_s = r->hbm_bytes_per_s > 0 ? r->hbm_bytes_per_s : r->level_bytes_per_s;
  const double low_y = roof(r, bytes_per_s, low),
               high_y = (pen->view->presentation ? 20 : 3) *
                        fmax(r->peak_flops_per_s, roof(r, bytes_per_s, high)); /* words over it */
  Chart chart =
      chart_new(&(ChartConfig){.x = {.title = is_alone ? "FLOPs for each byte across the SRAM boundary" : NULL,
                                     .kind = VALUE_NUMBER,
                                     .log = true,
                                     .low = low,
                                     .high = high},
                               .y = {.title = is_alone && !pen->view->presentation ? "FLOP/s at best" : NULL,
                                     .kind = VALUE_FLOP_RATE,
                                     .log = true,
                                     .low = low_y,
                                     .high = high_y}});
  if (is_alone) add_ends(&chart, pen, c);
  name_roof(words, sizeof words, is_alone, "HBM", r->hbm_bytes_per_s);
  add_roof(&chart, r, words, INK_PURPLE, r->hbm_bytes_per_s, low, high);
  name_roof(words, sizeof words, is_alone, "L2", r->level_bytes_per_s);
  if (r->level == TIME_L2) add_roof(&chart, r, words, INK_BROWN, r->level_bytes_per_s, low, high);
  add_ceilings(&chart, pen, r, is_alone);
  places->roofline = place_chart(pen, in, &chart, is_alone);
  if (c->shown >= 0) ring_on(pen, &places->roofline, r->ends[c->shown].flops_per_byte, r->ends[c->shown].flops_per_s);
}
