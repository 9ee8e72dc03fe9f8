#include "viz/scene/byte_strip_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "viz/scene/scene_cache.h"
#include "viz/text/number.h"

/* ---- Drawing --------------------------------------------------------------------------------------------- */

static double label_height(const Pen *pen) { return 1.25 * pen_size(pen, TYPE_SMALL); }

Box pen_strip(const Pen *pen) {
  const double u = pen->unit, foot = (pen->view->footer && !pen->view->presentation ? 24 : 6) * u;
  const double height = 46 * u + label_height(pen);
  if (pen->view->bare) return (Box){0};
  return box_at(pen->page.x + 24 * u, pen->page.y + pen->page.height - foot - height, pen->page.width - 48 * u, height);
}

/* The areas, under the line of the values. */
static Box plot_of(const Pen *pen, Box strip) {
  const double label = ceil(label_height(pen));
  return box_at(strip.x, strip.y + label, strip.width, strip.height - label);
}

static double y_at(Box plot, const ByteStrip *s, double bytes) {
  return plot.y + plot.height * (1 - (s->most > 0 ? bytes / s->most : 0));
}

static void trace_top(const Pen *pen, Box plot, const ByteStrip *s, const double *tops, bool back) {
  for (int k = 0; k <= STRIP_POINTS; k++) {
    const int at = back ? STRIP_POINTS - k : k;
    cairo_line_to(pen->cr, plot.x + plot.width * at / STRIP_POINTS, y_at(plot, s, tops ? tops[at] : 0));
  }
}

/* By keys blue and light blue in turn, by rows ink, by tiles pale vermillion: what need not move. */
static Colour colour_of(const Pen *pen, const StripRun *run, int band) {
  const Theme *t = pen->theme;
  const SnapshotLies lies = strip_lies(run, band);
  int before = 0;
  for (int b = 0; b < band; b++) before += strip_lies(run, b) == lies;
  if (lies == LIES_BY_TILES) return theme_mix(t->background, t->waste, before % 2 ? 0.5 : 0.3);
  if (lies == LIES_BY_ROWS) return theme_mix(t->series[INK_NEUTRAL], t->background, before % 2 ? 0.25 : 0.05);
  return t->tile[before % 2 ? TILE_COLOUR_PARTIAL : TILE_COLOUR_DONE];
}

static bool ends_in_tiles(const StripRun *run) { return run->n > 0 && strip_lies(run, run->n - 1) == LIES_BY_TILES; }

/* Bands from the ground up, the highest first. */
static void draw_run(const Pen *pen, Box plot, const ByteStrip *s, const StripRun *run) {
  for (int b = run->n - 1; b >= 0; b--) {
    theme_use(pen->cr, colour_of(pen, run, b), 1);
    cairo_new_path(pen->cr);
    trace_top(pen, plot, s, NULL, false);
    trace_top(pen, plot, s, run->tops[b], true);
    cairo_close_path(pen->cr);
    cairo_fill(pen->cr);
  }
}

static void draw_still(const Pen *pen, Box strip, const void *what, Box *plane) {
  const ByteStrip *s = what;
  const Box plot = plot_of(pen, strip);
  const StripRun *top = s->has_behind ? &s->behind : &s->shown;
  (void)plane;
  pen_fill(pen, strip, pen->theme->background, 1);
  pen_fill(pen, plot, pen->theme->panel, 1);
  if (s->has_behind) draw_run(pen, plot, s, &s->behind);
  draw_run(pen, plot, s, &s->shown);
  if (top->n == 0) return;
  cairo_save(pen->cr);
  cairo_rectangle(pen->cr, plot.x, plot.y, plot.width, plot.height);
  cairo_clip(pen->cr);
  trace_top(pen, plot, s, top->tops[top->n - 1], false);
  theme_use(pen->cr, ends_in_tiles(top) ? pen->theme->waste_text : pen->theme->series_text[INK_BLUE], 1);
  cairo_set_line_width(pen->cr, fmax(1, 1.6 * pen->unit));
  cairo_stroke(pen->cr);
  cairo_restore(pen->cr);
}

/* Passes across, stores and new maxima above, skips below. */
static void draw_marks(const Pen *pen, Box plot) {
  const Theme *t = pen->theme;
  const uint8_t *marks = pen->view->marks;
  const double u = pen->unit;
  int column = -1;
  for (int k = 0; marks && k < SCENE_MARKS; k++) {
    const double x = plot.x + floor(plot.width * k / (SCENE_MARKS - 1));
    if (!marks[k] || ((int)x == column && !(marks[k] & MARK_PASS))) continue;
    column = (int)x;
    if (marks[k] & MARK_PASS) pen_fill(pen, box_at(x, plot.y, fmax(1, 2 * u), plot.height), t->ink, 1);
    if (marks[k] & MARK_STORE) pen_fill(pen, box_at(x, plot.y, fmax(1, u), 5 * u), t->series[INK_BLUE], 1);
    if (marks[k] & MARK_MAX) pen_fill(pen, box_at(x - 1.5 * u, plot.y, 4 * u, 4 * u), t->waste, 1);
    if (marks[k] & MARK_SKIP) pen_fill(pen, box_at(x, plot.y + plot.height - 3 * u, fmax(1, u), 3 * u), t->ink_soft, 1);
  }
}

/* The shown run's bytes, and beside it those of the one behind; without their names where there is no room. */
static void draw_values(const Pen *pen, Box strip, const ByteStrip *s, double at, double part) {
  const Theme *t = pen->theme;
  const double u = pen->unit, base = strip.y + 0.95 * pen_size(pen, TYPE_SMALL), gap = 18 * u;
  const Number bytes = number_bytes(pen->now->total_bytes),
               those = s->has_behind ? number_bytes(strip_bytes(&s->behind, part)) : (Number){""};
  const Shape *whole = &pen->now->asked.shape;
  const int64_t packed = pen->now->problem.shape.group;
  char heads[48] = " of a head";
  if (packed > 1) snprintf(heads, sizeof heads, " of %" PRId64 " heads", packed);
  const char *kept = pen->view->strip_of, *of = kept ? kept : whole->heads > 1 || whole->batch > 1 ? heads : "";
  char shown[NUMBER_CHARS + 264], behind[NUMBER_CHARS + 120] = "";
  for (int named = 1; named >= 0; named--) {
    snprintf(shown, sizeof shown, "%s%s%s%s", bytes.text, named || kept ? of : "",
             !named ? ""
             : *of  ? ", "
                    : " ",
             named ? s->shown.schedule->title : "");
    if (s->has_behind) snprintf(behind, sizeof behind, "%s %s", those.text, named ? s->behind.schedule->title : "");
    const double first = pen_text_width(pen, TYPE_SMALL, true, shown),
                 second = s->has_behind ? gap + pen_text_width(pen, TYPE_SMALL, true, behind) : 0;
    double x = at + 6 * u;
    if (x + first + second > strip.x + strip.width) x = at - 6 * u - first - second;
    if (x < strip.x) continue;
    pen_text(pen, TYPE_SMALL, ends_in_tiles(&s->shown) ? t->waste_text : t->series_text[INK_BLUE], true, ANCHOR_START,
             x, base, 0, shown);
    if (s->has_behind) pen_text(pen, TYPE_SMALL, t->waste_text, true, ANCHOR_START, x + first + gap, base, 0, behind);
    return;
  }
}

void draw_byte_strip(const Pen *pen) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const Box strip = pen_strip(pen), plot = plot_of(pen, strip);
  const double u = pen->unit, phase = pen->view->phase;
  Box plane;
  ByteStrip room;
  pen_part(pen, "bytes over time", strip);
  if (pen->hit || strip.height <= 0) return;
  const ByteStrip *s = memo_strip(pen->view->memo, now, &room);
  const double step = (double)now->step - (phase > 0 && phase < 1 && now->step > 0 ? 1 - phase : 0);
  const double part = now->n_steps ? step / (double)now->n_steps : 0, at = plot.x + plot.width * part;
  memo_draw_still(pen, strip, MEMO_STRIP, draw_still, s, &plane);
  pen_fill(pen, (Box){at, plot.y, plot.x + plot.width - at, plot.height}, t->background, 0.55);
  draw_marks(pen, plot);
  pen_fill(pen, (Box){at - 1.5 * u, strip.y, 3 * u, strip.height}, t->ink, 1);
  draw_values(pen, strip, s, at, part_of(now->step, now->n_steps));
}
