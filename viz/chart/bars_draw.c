#include "viz/chart/chart_canvas.h"
#include "viz/chart/bars_draw.h"

#include <math.h>
#include <stdio.h>

/* ---- layout ---- */

typedef struct {
  Canvas canvas;
  const Bars *bars;
  double largest; /* value of a full bar */
  double x, full; /* bars start at x; a full one is `full` long */
  double label_width;
  double top, row; /* of the first row, and the height of a plain one */
  double type;     /* size of type, in units */
  size_t n_shown;  /* rows that fit */
} BarsPlan;

/* In units. Rows shrink together, down to where the smallest type fits; a few grow to fill a slide. */
#define ROW_MOST   92.0
#define ROW_LEAST  21.0
#define KEY_HEIGHT 38.0
#define KEY_SAMPLE 30.0
#define BAR_PART   0.62 /* of a row that is bar; the rest is air */

/* How many plain rows a row is worth: a heading has air above it, a grouped row has one bar per
 * series. */
static double row_share(const Bars *bars, size_t i) {
  if (bars->rows[i].is_group) return i == 0 ? 1 : 1.3;
  if (bars_stacked(bars)) return 1;
  return (1 - BAR_PART) + BAR_PART * bars->config.n_series;
}

static int n_bars(const Bars *bars) { return bars_stacked(bars) ? 1 : bars->config.n_series; }

/* Rows from the first that fit at a row height. */
static size_t fitting_rows(const Bars *bars, double row, double room) {
  double used = 0;
  for (size_t i = 0; i < bars->n_rows; i++) {
    used += row_share(bars, i) * row;
    if (used > room + 1e-6) return i;
  }
  return bars->n_rows;
}

static void measure(BarsPlan *plan) {
  const Bars *bars = plan->bars;
  double words = 0, u = plan->canvas.unit;
  for (size_t i = 0; i < plan->n_shown; i++) {
    const BarsRow *row = &bars->rows[i];
    if (row->is_group) continue;
    double label = canvas_text_width(&plan->canvas, plan->type, false, bars_text(bars, row->label));
    plan->label_width = fmax(plan->label_width, label);
    for (int s = 0; s < n_bars(bars); s++)
      words = fmax(words, canvas_text_width(&plan->canvas, plan->type, false, bars_words(bars, row, s).text));
  }
  double room = plan->canvas.width - 2 * plan->canvas.margin;
  plan->label_width = fmin(plan->label_width, 0.4 * room);
  plan->x = plan->canvas.margin + plan->label_width + 14 * u;
  plan->full = fmax(room - plan->label_width - words - 28 * u, 0.1 * room);
}

static BarsPlan plan_bars(const Bars *bars, cairo_t *cr, double width, double height, const Theme *theme) {
  BarsPlan plan = {.bars = bars, .largest = bars_largest(bars)};
  plan.canvas = canvas_new(cr, width, height, theme, bars_text(bars, bars->title), bars_text(bars, bars->subtitle),
                           bars_text(bars, bars->footer));
  double u = plan.canvas.unit, shares = 0;
  plan.top = plan.canvas.top + (bars->config.n_series > 1 ? KEY_HEIGHT : 0) * u;
  for (size_t i = 0; i < bars->n_rows; i++) shares += row_share(bars, i);
  double note = bars->config.log_from > 0 ? 24 * u : 0, room = plan.canvas.bottom - plan.top - note;
  plan.row = fmin(fmax(room / fmax(shares, 1), ROW_LEAST * u), ROW_MOST * u);
  plan.n_shown = fitting_rows(bars, plan.row, room);
  if (plan.n_shown < bars->n_rows)
    plan.n_shown = fitting_rows(bars, plan.row, room - 24 * u); /* room for the line that says so */
  plan.type = fmin(TYPE_LABEL, fmax(TYPE_FOOTER, plan.row / u * 0.6));
  measure(&plan);
  return plan;
}

/* ---- drawing ---- */

/* Blue, orange, neutral, green, purple, brown. */
static Colour colour_of(const BarsPlan *plan, int series) {
  static const Ink turn[] = {INK_BLUE, INK_ORANGE, INK_NEUTRAL, INK_GREEN, INK_PURPLE, INK_BROWN};
  return plan->canvas.theme->series[turn[series % 6]];
}

/* A value above zero is at least a hair long. */
static double length_of(const BarsPlan *plan, double value) {
  double length = plan->full * bars_part(plan->bars, plan->largest, value);
  return value > 0 ? fmax(length, 2 * plan->canvas.unit) : 0;
}

static void draw_words(const BarsPlan *plan, Colour colour, Anchor anchor, double x, double middle, const char *text) {
  canvas_text(&plan->canvas, colour, plan->type, false, anchor, x, middle + 0.36 * plan->type * plan->canvas.unit,
              text);
}

/* Segments of one bar side by side; returns where it ends. */
static double draw_stack(const BarsPlan *plan, const BarsRow *row, double y, double thickness) {
  double sum = 0, start = plan->x;
  for (int i = 0; i < plan->bars->config.n_series; i++) {
    sum += row->values[i];
    double end = plan->x + length_of(plan, sum);
    if (row->values[i] > 0 && end > start) {
      PlaceBox box = {start, y, end - start, thickness};
      canvas_hatch(&plan->canvas, colour_of(plan, i), i, &box);
      start = end;
    }
  }
  return start;
}

static void draw_bar(const BarsPlan *plan, const BarsRow *row, double y) {
  const Bars *bars = plan->bars;
  const Theme *theme = plan->canvas.theme;
  int n = n_bars(bars);
  double thickness = floor(plan->row * BAR_PART), height = n * thickness, u = plan->canvas.unit;
  double start = floor(y + (row_share(bars, (size_t)(row - bars->rows)) * plan->row - height) / 2);
  for (int i = 0; i < n; i++) {
    double top = start + i * thickness, end = plan->x + length_of(plan, row->values[i]);
    if (bars_stacked(bars)) {
      end = draw_stack(plan, row, top, thickness);
    } else {
      PlaceBox box = {plan->x, top, end - plan->x, thickness - (n > 1 ? 2 * u : 0)};
      canvas_hatch(&plan->canvas, colour_of(plan, i), i, &box);
    }
    draw_words(plan, theme->ink, ANCHOR_START, end + 10 * u, top + thickness / 2, bars_words(bars, row, i).text);
  }
  draw_words(plan, theme->ink, ANCHOR_END, plan->x - 12 * u, start + height / 2, bars_text(bars, row->label));
}

static void draw_key(const BarsPlan *plan) {
  const Bars *bars = plan->bars;
  double u = plan->canvas.unit, x = plan->canvas.margin, y = plan->canvas.top;
  if (bars->config.n_series < 2) return;
  for (int i = 0; i < bars->config.n_series; i++) {
    const char *name = bars_text(bars, bars->names[i]);
    PlaceBox box = {x, y, KEY_SAMPLE * u, 18 * u};
    canvas_hatch(&plan->canvas, colour_of(plan, i), i, &box);
    x += (KEY_SAMPLE + 9) * u;
    canvas_text(&plan->canvas, plan->canvas.theme->ink, TYPE_LABEL, false, ANCHOR_START, x, y + 16 * u, name);
    x += canvas_text_width(&plan->canvas, TYPE_LABEL, false, name) + 34 * u;
  }
}

/* What the picture does not show by itself. */
static void draw_remarks(const BarsPlan *plan, double y) {
  const Bars *bars = plan->bars;
  double u = plan->canvas.unit;
  char text[200];
  if (plan->n_shown < bars->n_rows) {
    snprintf(text, sizeof text, "and %s more rows", number_count(bars->n_rows - plan->n_shown).text);
    canvas_text(&plan->canvas, plan->canvas.theme->ink_soft, TYPE_FOOTER, false, ANCHOR_START, plan->x, y + 17 * u,
                text);
    y += 24 * u;
  }
  if (!(bars->config.log_from > 0)) return;
  snprintf(text, sizeof text, "logarithmic, from %s", value_text(bars->config.kind, bars->config.log_from).text);
  canvas_text(&plan->canvas, plan->canvas.theme->ink_soft, TYPE_FOOTER, false, ANCHOR_START, plan->x, y + 17 * u, text);
}

void bars_draw(const Bars *bars, cairo_t *cr, double width, double height, const Theme *theme) {
  BarsPlan plan = plan_bars(bars, cr, width, height, theme);
  bool is_good = bars->status == STATUS_OK && bars->text.status == STATUS_OK;
  cairo_save(cr);
  canvas_frame(&plan.canvas, bars_text(bars, bars->title), bars_text(bars, bars->subtitle),
               bars_text(bars, bars->footer));
  double y = plan.top;
  if (is_good) draw_key(&plan);
  for (size_t i = 0; is_good && i < plan.n_shown; i++) {
    const BarsRow *row = &bars->rows[i];
    double height_here = row_share(bars, i) * plan.row;
    if (row->is_group)
      canvas_text(&plan.canvas, theme->ink, plan.type, true, ANCHOR_START, plan.canvas.margin,
                  y + height_here - 0.3 * plan.row, bars_text(bars, row->label));
    else
      draw_bar(&plan, row, y);
    y += height_here;
  }
  if (is_good) draw_remarks(&plan, y);
  cairo_restore(cr);
}
