#include "viz/chart/chart_canvas.h"
#include "viz/chart/bars_draw.h"

#include <math.h>

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
#define ROW_MOST  92.0
#define ROW_LEAST 21.0
#define BAR_PART  0.62 /* of a row that is bar; the rest is air */

/* How many plain rows a row is worth: a heading has air above it. */
static double row_share(const Bars *bars, size_t i) { return bars->rows[i].is_group && i > 0 ? 1.3 : 1; }

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
    words = fmax(words, canvas_text_width(&plan->canvas, plan->type, false, bars_words(bars, row).text));
  }
  double room = plan->canvas.width - 2 * plan->canvas.margin;
  plan->label_width = fmin(plan->label_width, 0.4 * room);
  plan->x = plan->canvas.margin + plan->label_width + 14 * u;
  plan->full = fmax(room - plan->label_width - words - 28 * u, 0.1 * room);
}

static BarsPlan plan_bars(const Bars *bars, cairo_t *cr, double width, double height, const Theme *theme) {
  BarsPlan plan = {.bars = bars, .largest = bars_largest(bars)};
  plan.canvas = canvas_measured((Canvas){.cr = cr,
                                         .theme = theme,
                                         .title = bars_text(bars, bars->title),
                                         .subtitle = bars_text(bars, bars->subtitle),
                                         .footer = bars_text(bars, bars->footer),
                                         .width = width,
                                         .height = height});
  double u = plan.canvas.unit, shares = 0;
  plan.top = plan.canvas.top;
  for (size_t i = 0; i < bars->n_rows; i++) shares += row_share(bars, i);
  const double room = plan.canvas.bottom - plan.top;
  plan.row = fmin(fmax(room / fmax(shares, 1), ROW_LEAST * u), ROW_MOST * u);
  plan.n_shown = fitting_rows(bars, plan.row, room);
  if (plan.n_shown < bars->n_rows)
    plan.n_shown = fitting_rows(bars, plan.row, room - 24 * u); /* room for the line that says so */
  plan.type = fmin(TYPE_LABEL, fmax(TYPE_FOOTER, plan.row / u * 0.6));
  measure(&plan);
  return plan;
}

/* ---- drawing ---- */

/* A value above zero is at least a hair long. */
static double length_of(const BarsPlan *plan, double value) {
  double length = value > 0 ? plan->full * value / plan->largest : 0;
  return value > 0 ? fmax(length, 2 * plan->canvas.unit) : 0;
}

static void draw_words(const BarsPlan *plan, Colour colour, Anchor anchor, double x, double middle, const char *text) {
  canvas_text(&plan->canvas, colour, plan->type, false, anchor, x, middle + 0.36 * plan->type * plan->canvas.unit,
              text);
}

static void draw_bar(const BarsPlan *plan, const BarsRow *row, double y) {
  const Bars *bars = plan->bars;
  const Theme *theme = plan->canvas.theme;
  const double thickness = floor(plan->row * BAR_PART), u = plan->canvas.unit,
               top = floor(y + (plan->row - thickness) / 2), length = length_of(plan, bars_sum(bars, row)),
               middle = top + thickness / 2;
  box_fill(plan->canvas.cr, (Box){plan->x, top, length, thickness}, theme->series[INK_BLUE], 1);
  draw_words(plan, theme->ink, ANCHOR_START, plan->x + length + 10 * u, middle, bars_words(bars, row).text);
  draw_words(plan, theme->ink, ANCHOR_END, plan->x - 12 * u, middle, bars_text(bars, row->label));
}

/* What the picture does not show by itself. */
static void draw_remark(const BarsPlan *plan, double y) {
  char text[200];
  if (plan->n_shown == plan->bars->n_rows) return;
  snprintf(text, sizeof text, "and %s more rows", number_count(plan->bars->n_rows - plan->n_shown).text);
  canvas_text(&plan->canvas, plan->canvas.theme->ink_soft, TYPE_FOOTER, false, ANCHOR_START, plan->x,
              y + 17 * plan->canvas.unit, text);
}

void bars_draw(const Bars *bars, cairo_t *cr, double width, double height, const Theme *theme) {
  BarsPlan plan = plan_bars(bars, cr, width, height, theme);
  bool is_good = !bars->status && !bars->text.status;
  cairo_save(cr);
  canvas_frame(&plan.canvas);
  double y = plan.top;
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
  if (is_good) draw_remark(&plan, y);
  cairo_restore(cr);
}
