/* All CTAs of a launch on the slots of the machine, from the first to the tail. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/timeline_view.h"
#include "viz/text/number.h"

enum { ROWS_MAX = 4096 };

/* Slots of one SM lie next to each other; slots that no CTA ever takes are left out where whole SMs are idle. */
typedef struct {
  Box plane;
  int64_t n_sm, per_sm; /* rows: SMs in use, CTAs on each */
  double scale;         /* units of length for one of time */
} Waves;

static int64_t rows_of(const Waves *w) { return w->n_sm * w->per_sm; }

static Waves waves_in(Box plane, const Timeline *t) {
  Waves w = {.plane = plane, .per_sm = 1};
  for (int k = 0; k < t->n_kernels; k++) {
    const TimelineKernel *kernel = &t->kernels[k];
    const int64_t used = kernel->n_pieces < kernel->launch.n_slots ? kernel->n_pieces : kernel->launch.n_slots;
    const int64_t n_sm = used < kernel->launch.n_sm ? used : kernel->launch.n_sm,
                  per_sm = (used + kernel->launch.n_sm - 1) / kernel->launch.n_sm;
    if (n_sm > w.n_sm) w.n_sm = n_sm;
    if (per_sm > w.per_sm) w.per_sm = per_sm;
  }
  w.plane.height = fmin(plane.height, 34 * (double)rows_of(&w) * plane.height / 100);
  w.scale = t->end > 0 ? plane.width / t->end : 0;
  return w;
}

static int64_t row_of(const Waves *w, const Timeline *t, const TimelinePiece *piece) {
  const int64_t n_sm = t->kernels[piece->kernel].launch.n_sm;
  return piece->slot % n_sm * w->per_sm + piece->slot / n_sm;
}

/* `every` rows share one line of pixels, when there are more rows than those. */
static Box piece_box(const Waves *w, const Timeline *t, const TimelinePiece *piece, int64_t every) {
  const int64_t row = row_of(w, t, piece) / every * every;
  const double n = (double)rows_of(w), x0 = floor(w->plane.x + piece->start * w->scale),
               x1 = floor(w->plane.x + piece->end * w->scale);
  const double y0 = floor(w->plane.y + w->plane.height * (double)row / n),
               y1 = floor(w->plane.y + w->plane.height * fmin(n, (double)(row + every)) / n);
  return (Box){x0, y0, fmax(1, x1 - x0), fmax(1, y1 - y0)};
}

/* From where on some slot has nothing left to do. */
static double tail_start(const Timeline *t) {
  const TimelineKernel *last = &t->kernels[t->n_kernels - 1];
  const int64_t n_slots = last->launch.n_slots;
  double start = t->end;
  if (last->n_pieces < n_slots) return last->start;
  /* The last n_slots pieces to start are the last ones of their slots. */
  for (int64_t n = t->n_pieces - n_slots; n < t->n_pieces; n++) start = fmin(start, t->pieces[n].end);
  return start;
}

/* ---- Rows of CTAs ---------------------------------------------------------------------------------------- */

/* CTAs too narrow to be told apart become one stretch. */
typedef struct {
  Box stretch[ROWS_MAX];
} Rows;

static void add(cairo_t *cr, Box box, double gap) {
  if (box.width <= 0) return;
  cairo_rectangle(cr, box.x, box.y, fmax(1, box.width - gap), fmax(1, box.height - (box.height >= 4 ? 1 : 0)));
}

/* Too many waves to tell one CTA from the next. */
static bool is_crowded(const Waves *w, const Timeline *t, int kernel) {
  const TimelineKernel *k = &t->kernels[kernel];
  return (k->end - k->start) * w->scale * (double)k->launch.n_slots < 6 * (double)k->n_pieces;
}

/* One in two waves at a time, so that a path has one colour. */
static void draw_half(const Pen *pen, const Waves *w, const Timeline *t, int64_t parity, int64_t every, Rows *rows) {
  const Colour done = pen->theme->tile[TILE_COLOUR_DONE],
               fill = parity ? theme_mix(done, pen->theme->panel, 0.45) : done;
  memset(rows, 0, sizeof *rows);
  cairo_new_path(pen->cr);
  for (int64_t n = 0; n < t->n_pieces; n++) {
    const TimelinePiece *piece = &t->pieces[n];
    const int64_t row = row_of(w, t, piece), wave = piece->number / t->kernels[piece->kernel].launch.n_slots;
    if (row % every != 0 || row / every >= ROWS_MAX) continue;
    const Box box = piece_box(w, t, piece, every);
    if (box.width >= 4 && !is_crowded(w, t, piece->kernel)) {
      if (wave % 2 == parity) add(pen->cr, box, 1);
      continue;
    }
    if (parity) continue; /* narrow ones are all drawn with the first half */
    Box *stretch = &rows->stretch[row / every];
    if (stretch->width > 0 && box.x <= stretch->x + stretch->width + 1) {
      stretch->width = fmax(stretch->width, box.x + box.width - stretch->x);
    } else {
      add(pen->cr, *stretch, 0);
      *stretch = box;
    }
  }
  for (int row = 0; row < ROWS_MAX; row++) add(pen->cr, rows->stretch[row], 0);
  theme_use(pen->cr, fill, 1);
  cairo_fill(pen->cr);
}

static void draw_rows(const Pen *pen, const Waves *w, const Timeline *t) {
  Rows rows;
  const int64_t n = rows_of(w), most = (int64_t)fmax(1, w->plane.height), every = n > most ? (n + most - 1) / most : 1;
  cairo_save(pen->cr);
  cairo_set_antialias(pen->cr, CAIRO_ANTIALIAS_NONE);
  draw_half(pen, w, t, 0, every, &rows);
  draw_half(pen, w, t, 1, every, &rows);
  cairo_restore(pen->cr);
}

static void draw_sm_names(const Pen *pen, const Waves *w) {
  const double small = pen_size(pen, TYPE_SMALL), height = w->plane.height / (double)w->n_sm;
  const int64_t every = height >= 1.3 * small ? 1 : w->n_sm - 1 > 0 ? w->n_sm - 1 : 1;
  const bool has_both = w->plane.height >= 2.2 * small;
  char words[32];
  for (int64_t sm = 0; sm < w->n_sm; sm += every) {
    if (every > 1 && sm > 0 && !has_both) break;
    const double middle = w->plane.y + height * ((double)sm + 0.5), top = w->plane.y + 0.8 * small,
                 bottom = w->plane.y + w->plane.height;
    snprintf(words, sizeof words, "SM %" PRId64, sm);
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, w->plane.x - 10 * pen->unit,
             fmin(fmax(middle + 0.36 * small, top), fmax(bottom, top)), 0, words);
  }
}

/* ---- In numbers ------------------------------------------------------------------------------------------ */

const char *wave_numbers(const Timeline *t, char *text, size_t size) {
  const TimelineKernel *k = &t->kernels[0];
  const Launch *l = &k->launch;
  const double use = timeline_use(t);
  text[0] = '\0';
  if (t->n_kernels > 1) snprintf(text, size, "%d kernels, the first of ", t->n_kernels);
  snprintf(text + strlen(text), size - strlen(text), "%s CTA%s on ", number_count((Wide)l->n_pieces).text,
           l->n_pieces == 1 ? "" : "s");
  snprintf(text + strlen(text), size - strlen(text), "%s SMs × %s slots: ", number_count((Wide)l->n_sm).text,
           number_count((Wide)l->occupancy.ctas_per_sm).text);
  snprintf(text + strlen(text), size - strlen(text), "%s wave%s, ", number_count((Wide)l->n_waves).text,
           l->n_waves == 1 ? "" : "s");
  snprintf(text + strlen(text), size - strlen(text), "%s%s full; ", l->n_waves == 1 ? "" : "the last ",
           number_percent(l->tail_fill).text);
  snprintf(text + strlen(text), size - strlen(text), "slots busy %s of the time", number_percent(use).text);
  return text;
}

const char *time_words(const Timeline *t, double time, char *text, size_t size) {
  const Number count = time < 1e5 ? number_count((Wide)(time + 0.5)) : number_si(time, "");
  if (t->in_steps)
    snprintf(text, size, "%s step%s", count.text, time == 1 ? "" : "s");
  else
    snprintf(text, size, "%s", number_seconds(time).text);
  return text;
}

void draw_time_axis(const Pen *pen, Box plane, const Timeline *t, double from, double to) {
  const Scale scale = {t->in_steps ? VALUE_COUNT : VALUE_SECONDS, false, from, to};
  const double small = pen_size(pen, TYPE_SMALL), bottom = plane.y + plane.height;
  if (!(to > from) || plane.width <= 0) return;
  const Ticks ticks = ticks_on(&scale, (int)fmin(9, 2 + plane.width / (9 * small)));
  double free_x = plane.x - 3 * small;
  pen_line(pen, pen->theme->axis, 1, plane.x, bottom, plane.x + plane.width, bottom);
  for (int k = 0; k < ticks.n; k++) {
    char words[NUMBER_CHARS];
    const double x = plane.x + plane.width * scale_position(&scale, ticks.values[k]);
    snprintf(words, sizeof words, "%s", value_tick_text(scale.kind, ticks.values[k]).text);
    const double half = pen_text_width(pen, TYPE_SMALL, false, words) / 2;
    pen_line(pen, pen->theme->axis, 1, x, bottom, x, bottom + 5 * pen->unit);
    if (x - half < free_x || x + half > plane.x + plane.width + 12 * pen->unit) continue;
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_MIDDLE, x, bottom + 1.3 * small, 0, words);
    free_x = x + half + 0.6 * small;
  }
}

static void draw_tail(const Pen *pen, const Waves *w, const Timeline *t, double top) {
  const double small = pen_size(pen, TYPE_SMALL), start = tail_start(t), x = w->plane.x + start * w->scale,
               right = w->plane.x + w->plane.width;
  char words[96], time[48];
  if (!(t->end - start > 1e-9 * t->end) || start <= 0) return;
  pen_fill(pen, box_at(x, w->plane.y, right - x, w->plane.height), pen->theme->background, 1);
  snprintf(words, sizeof words, "tail, %s", time_words(t, t->end - start, time, sizeof time));
  pen_text(pen, TYPE_SMALL, pen->theme->ink, false, ANCHOR_END, right, top - 0.45 * small, 0, words);
}

static void draw_kernel_names(const Pen *pen, const Waves *w, const Timeline *t, double top) {
  static const char *const NAMES[TIMELINE_KERNELS] = {"first kernel",   "second kernel", "third kernel",
                                                      "fourth kernel",  "fifth kernel",  "sixth kernel",
                                                      "seventh kernel", "eighth kernel"};
  double free_x = 0;
  for (int k = 0; k < t->n_kernels && t->n_kernels > 1; k++) {
    const double x = w->plane.x + t->kernels[k].start * w->scale,
                 width = pen_text_width(pen, TYPE_SMALL, false, NAMES[k]);
    if (k > 0) pen_line(pen, pen->theme->ink, 1.4, x, top, x, w->plane.y + w->plane.height);
    if (x < free_x || x + width > w->plane.x + w->plane.width - 11 * pen_size(pen, TYPE_SMALL))
      continue; /* the tail has its words there */
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, x + 4 * pen->unit,
             top - 0.45 * pen_size(pen, TYPE_SMALL), 0, NAMES[k]);
    free_x = x + width + 12 * pen->unit;
  }
}

void draw_waves(const Pen *pen, Box box, const void *timeline, Box *plane) {
  const Timeline *t = timeline;
  const double small = pen_size(pen, TYPE_SMALL);
  char words[512];
  wave_numbers(t, words, sizeof words);
  Box in = pen_panel(pen, box, "All CTAs, wave by wave", words);
  const Box above = box_cut_top(&in, 1.5 * small, 0);
  box_cut_left(&in, 5.2 * small, 0);
  box_cut_bottom(&in, 1.7 * small, 0);
  const double idle_height = 1.6 * small;
  Waves w = waves_in(in, t);
  const int64_t idle = t->kernels[0].launch.n_sm - w.n_sm;
  if (idle > 0) w.plane.height = fmin(w.plane.height, in.height - idle_height);
  if (w.plane.height < 4 || w.plane.width < 20) return;
  draw_tail(pen, &w, t, above.y + above.height);
  draw_rows(pen, &w, t);
  draw_kernel_names(pen, &w, t, above.y + above.height);
  draw_sm_names(pen, &w);
  if (idle > 0) {
    snprintf(words, sizeof words, "%s of %s SMs have nothing to do", number_count((Wide)idle).text,
             number_count((Wide)t->kernels[0].launch.n_sm).text);
    pen_text(pen, TYPE_SMALL, pen->theme->ink, false, ANCHOR_START, w.plane.x,
             w.plane.y + w.plane.height + 1.15 * small, w.plane.width, words);
  }
  draw_time_axis(pen, box_at(in.x, in.y, in.width, in.height), t, 0, t->end);
  *plane = w.plane;
}

void draw_wave_mark(const Pen *pen, Box plane, const Timeline *t, const TimelineMoment *m) {
  if (plane.width <= 0 || m->at < 0) return;
  Waves w = waves_in(plane, t);
  w.plane = plane;
  const TimelinePiece *piece = &t->pieces[m->at];
  Box box = piece_box(&w, t, piece, 1);
  const double least = fmax(4, 5 * pen->unit), x = w.plane.x + (piece->start + m->time) * w.scale;
  if (box.height < least) box.y = floor(box.y + box.height / 2 - least / 2), box.height = ceil(least);
  if (box.width < least) box.width = ceil(least);
  pen_fill(pen, (Box){box.x - 2, box.y - 2, box.width + 4, box.height + 4}, pen->theme->panel, 1);
  pen_fill(pen, box, pen->theme->tile[TILE_COLOUR_CURRENT], 1);
  pen_line(pen, pen->theme->ink, 1.6, x, plane.y, x, plane.y + plane.height);
}
