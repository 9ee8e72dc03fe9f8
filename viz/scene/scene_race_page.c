/* The race: two to four algorithms beside each other, each with its whole HBM to scale, on one clock of bytes, or
 * of time.
 *
 *     standard          fa2            the same bytes have crossed in all of them: one is done, another still writes
 *     Q K V O  S        Q K V O  S     out scores that it will read again. At the end a summary stays.
 *     ▮ ▮ ▮ ▯  ▓▓▓      ▮ ▮ ▮ ▮  ┆ ┆ */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/pen.h"
#include "viz/text/number.h"

static const char *name_of(const SnapshotRun *run) { return run->schedule->name; }
static double done_of(const SnapshotRun *run) { return part_of(run->tiles_done, run->tiles_total); }

/* How long a run is on the race's clock. */
static double length_of(const Snapshot *now, const SnapshotRun *run) {
  return now->by_time ? run->whole_s : (double)run->total_bytes;
}

/* The run that is done first, and the one that is done last. */
static void find_ends(const Snapshot *now, const SnapshotRun **first, const SnapshotRun **last) {
  *first = *last = &now->runs[0];
  for (int k = 1; k < now->n_runs; k++) {
    if (length_of(now, &now->runs[k]) < length_of(now, *first)) *first = &now->runs[k];
    if (length_of(now, &now->runs[k]) > length_of(now, *last)) *last = &now->runs[k];
  }
}

static Number clock_number(const Snapshot *now, double seconds, Wide bytes) {
  return now->by_time ? number_seconds(seconds) : number_bytes(bytes);
}

static double time_so_far(const Snapshot *now) {
  double most = 0;
  for (int k = 0; k < now->n_runs; k++) most = fmax(most, now->runs[k].time_s);
  return most;
}

void race_narrate(const Snapshot *now, Narration *said) {
  const SnapshotRun *first, *last;
  find_ends(now, &first, &last);
  memset(said, 0, sizeof *said);
  if (now->n_runs < 2) {
    snprintf(said->what, sizeof said->what, "One algorithm runs alone.");
    snprintf(said->why, sizeof said->why, "Name several, such as standard,fa2, and they race.");
    return;
  }
  const Number so_far = clock_number(now, time_so_far(now), now->total_bytes),
               first_done = number_percent(done_of(first)), last_done = number_percent(done_of(last)),
               stored = number_bytes(last->stored_bytes), sent = number_bytes(last->stored_so_far),
               most = clock_number(now, last->whole_s, last->total_bytes),
               least = clock_number(now, first->whole_s, first->total_bytes),
               ratio = now->by_time ? number_ratio(last->whole_s / first->whole_s)
                                    : number_ratio_of(last->total_bytes, first->total_bytes);
  const char *verb = now->by_time ? "took" : "moved", *as = now->by_time ? "long" : "much";
#define N(number) (int)sizeof number.text / 4, number.text /* no number is as long as its room */
  if (last->is_finished) {
    snprintf(said->what, sizeof said->what, "All are done: %s %s %.*s as %s as %s.", name_of(last), verb, N(ratio), as,
             name_of(first));
    snprintf(said->why, sizeof said->why, "%.*s against %.*s for the same O%s.", N(most), N(least),
             now->by_time ? ", at peak rates" : "");
    return;
  }
  if (first->is_finished)
    snprintf(said->what, sizeof said->what, "After %.*s %s is done; %s has done %.*s of its work.", N(so_far),
             name_of(first), name_of(last), N(last_done));
  else
    snprintf(said->what, sizeof said->what,
             now->by_time ? "In %.*s %s has done %.*s of its work, %s %.*s."
                          : "With %.*s moved %s has done %.*s of its work, %s %.*s.",
             N(so_far), name_of(first), N(first_done), name_of(last), N(last_done));
  if (last->stored_bytes > 0)
    snprintf(said->why, sizeof said->why, "%s has sent %.*s of its tiles out to HBM, of %.*s.", name_of(last), N(sent),
             N(stored));
  else
    snprintf(said->why, sizeof said->why, "In all, %s %s %.*s as %s.", name_of(last), now->by_time ? "takes" : "moves",
             N(ratio), as);
#undef N
}

/* The matrices of a run: those of rows or keys as bars, and those by tiles, stored or not. */
typedef struct {
  int n_bars, n_tiles;
  int bars[VALUES_MAX], tiles[VALUES_MAX];
} RunMap;

static bool is_by_tiles(const ProgramTensor *t) {
  return (t->rows == SIDE_ROWS && t->cols == SIDE_COLS) || (t->rows == SIDE_COLS && t->cols == SIDE_ROWS);
}

static RunMap map_of(const Schedule *s) {
  RunMap m = {0};
  for (int role = 0; role < 3; role++) { /* inputs, what comes between, outputs */
    static const int ORDER[] = {TENSOR_INPUT, TENSOR_BETWEEN, TENSOR_OUTPUT};
    for (int k = 0; k < s->n_values; k++) {
      const ProgramTensor *t = &s->tensors[k];
      if (t->role != ORDER[role] || t->cols == SIDE_ONE) continue;
      if (is_by_tiles(t))
        m.tiles[m.n_tiles++] = k;
      else if (t->is_moved)
        m.bars[m.n_bars++] = k;
    }
  }
  return m;
}

/* All runs have one scale, and room for the one with most matrices. */
static void most_of(const Snapshot *now, int *n_bars, int *n_tiles) {
  *n_bars = *n_tiles = 0;
  for (int k = 0; k < now->n_runs; k++) {
    const RunMap m = map_of(now->runs[k].schedule);
    if (m.n_bars > *n_bars) *n_bars = m.n_bars;
    if (m.n_tiles > *n_tiles) *n_tiles = m.n_tiles;
  }
}

/* Pixels for a row, with the matrices by tiles beside each other or one above the other. */
static double scale_with(const Pen *pen, Box map, bool beside) {
  const SnapshotGrid *g = &pen->now->grid;
  int n_bars, n_tiles;
  most_of(pen->now, &n_bars, &n_tiles);
  const int across = beside ? n_tiles : n_tiles > 0, down = beside || n_tiles == 0 ? 1 : n_tiles;
  const double rows = fmax((double)g->N_k, down * (double)g->N_q),
               letters = (down - 1) * 1.5 * pen_size(pen, TYPE_BODY);
  double scale = (map.height - letters) / rows;
  for (int k = 0; k < 60; k++, scale *= 0.94) {
    const double bars = n_bars * (fmax(scale * (double)g->d, 1.4 * pen_size(pen, TYPE_BODY)) + 6 * pen->unit);
    const double scores = across * scale * (double)g->N_k + (across > 1 ? (across - 1) * 12 * pen->unit : 0);
    if (bars + scores + 8 * pen->unit <= map.width) break;
  }
  return scale;
}

/* Where that is clearly larger. */
static bool are_beside(const Pen *pen, Box map) {
  return scale_with(pen, map, true) > 1.25 * scale_with(pen, map, false);
}

static double scale_of(const Pen *pen, Box map) { return scale_with(pen, map, are_beside(pen, map)); }

static double height_of(const Pen *pen, double scale, const ProgramTensor *t) {
  const SnapshotGrid *g = &pen->now->grid;
  return fmax(4, scale * (double)(t->rows == SIDE_ROWS ? g->N_q : t->rows == SIDE_COLS ? g->N_k : g->d));
}

/* Where a tensor of this run lies, to scale with the others of the page; empty: nowhere. */
static Box matrix_of(const Pen *pen, Box map, double scale, const SnapshotRun *run, int tensor) {
  const SnapshotGrid *g = &pen->now->grid;
  const RunMap m = map_of(run->schedule);
  const double bar = fmax(round(3 * pen->unit), scale * (double)g->d),
               step = fmax(bar, 1.4 * pen_size(pen, TYPE_BODY)) + 6 * pen->unit,
               height = height_of(pen, scale, &run->schedule->tensors[tensor]);
  for (int k = 0; k < m.n_bars; k++)
    if (m.bars[k] == tensor) return box_at(map.x + step * k, map.y, bar, height);
  const double side = fmax(4, scale * (double)g->N_k), x = map.x + m.n_bars * step + 4 * pen->unit;
  const bool beside = are_beside(pen, map);
  for (int k = 0; k < m.n_tiles; k++)
    if (m.tiles[k] == tensor)
      return box_at(x + (beside ? k * (side + 12 * pen->unit) : 0),
                    map.y + (beside ? 0 : k * (height + 1.5 * pen_size(pen, TYPE_BODY))), side, height);
  return (Box){0};
}

static Wide size_of(const Snapshot *now, const ProgramTensor *t) {
  const SnapshotGrid *g = &now->grid;
  const Wide rows = wide(t->rows == SIDE_ROWS ? g->N_q : t->rows == SIDE_COLS ? g->N_k : g->d);
  const Wide cols = wide(t->cols == SIDE_COLS ? g->N_k : t->cols == SIDE_ROWS ? g->N_q : g->d);
  return rows * cols * wide(g->element_bytes);
}

static void draw_matrix(const Pen *pen, Box map, double scale, const SnapshotRun *run, int tensor) {
  const Theme *t = pen->theme;
  const ProgramTensor *of = &run->schedule->tensors[tensor];
  const Box box = matrix_of(pen, map, scale, run, tensor);
  const bool by_tiles = is_by_tiles(of), is_input = of->role == TENSOR_INPUT;
  pen_part(pen, of->title, box_at(box.x, box.y - 20 * pen->unit, box.width, box.height + 20 * pen->unit));
  pen_text(pen, TYPE_BODY, t->ink_soft, true, ANCHOR_START, box.x, box.y - 4 * pen->unit, 0, of->title);
  if (!of->is_moved) {
    pen_dashed(pen, box, t->axis, 1);
    return;
  }
  const Wide written = run->traffic.write[tensor];
  const double stored =
      of->role == TENSOR_OUTPUT ? (written > 0 ? done_of(run) : 0) : part_of(written, size_of(pen->now, of));
  const double there = is_input ? 1 : fmin(1, stored);
  pen_fill(pen, box, t->tile[TILE_COLOUR_WAITING], 1);
  pen_fill(pen, box_at(box.x, box.y, box.width, box.height * there),
           is_input   ? theme_mix(t->tile[TILE_COLOUR_WAITING], t->axis, 0.55)
           : by_tiles ? t->series[INK_ORANGE]
                      : t->tile[TILE_COLOUR_DONE],
           1);
}

static void draw_matrices(const Pen *pen, Box map, double scale, const SnapshotRun *run) {
  const RunMap m = map_of(run->schedule);
  for (int k = 0; k < m.n_bars; k++) draw_matrix(pen, map, scale, run, m.bars[k]);
  for (int k = 0; k < m.n_tiles; k++) draw_matrix(pen, map, scale, run, m.tiles[k]);
}

/* The last event of this run, if it moves something: between its place in HBM and SRAM. */
static void draw_body(const Pen *pen, Box map, Box sram, double scale, const SnapshotRun *run) {
  const Event *e = &run->event;
  const SnapshotGrid *g = &pen->now->grid;
  if (!run->has_event || run->is_finished || !event_moves(e->kind)) return;
  const ProgramTensor *t = &run->schedule->tensors[e->tensor];
  const Box all = matrix_of(pen, map, scale, run, e->tensor);
  if (all.width <= 0) return;
  const double n = (double)(t->rows == SIDE_COLS ? g->N_k : g->N_q), from = (double)(t->rows == SIDE_COLS   ? e->col0
                                                                                     : t->rows == SIDE_ROWS ? e->row0
                                                                                                            : 0);
  const double side = 1.5 * pen_size(pen, TYPE_BODY);
  const Box home = {all.x, all.y + all.height * from / n, fmax(6 * pen->unit, fmin(all.width, side)), 8 * pen->unit},
            in = {sram.x + sram.width / 2 - side / 2, sram.y + sram.height / 2 - side / 2, side, side};
  const double part = e->kind == EVENT_LOAD ? pen_happened(pen) : 1 - pen_happened(pen);
  pen_body(pen, BODY_HOME, e->tensor, home, 1);
  pen_named_tile(pen, e->tensor, t->title, box_between(home, in, part), pen->theme->tile[TILE_COLOUR_CURRENT], 1);
}

static void draw_runner(const Pen *pen, Box box, int index) {
  const Theme *t = pen->theme;
  const SnapshotRun *run = &pen->now->runs[index];
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL), number = pen_size(pen, TYPE_NUMBER);
  char words[3 * NUMBER_CHARS];
  const char *whole_name = run->schedule->title;
  const bool has_room = pen_text_width(pen, TYPE_HEAD, true, whole_name) < box.width - 30 * u;
  Box body = pen_panel(pen, box, has_room ? whole_name : name_of(run), NULL);
  pen_region(pen, HIT_RUN, 0, -1, -1, index, box);
  const Box head = box_cut_top(&body, 1.05 * number, 4 * u);
  snprintf(words, sizeof words, "%s", run->is_finished ? "done" : number_percent(done_of(run)).text);
  pen_text(pen, TYPE_NUMBER, run->is_finished ? t->good : t->ink, true, ANCHOR_START, head.x, head.y + 0.85 * number, 0,
           words);
  const double after = pen_text_width(pen, TYPE_NUMBER, true, words) + 8 * u;
  if (!run->is_finished && after + pen_text_width(pen, TYPE_SMALL, false, "of its work") < head.width)
    pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, head.x + after, head.y + 0.85 * number, 0,
             "of its work");
  const Box bar = box_cut_top(&body, 14 * u, 6 * u);
  pen_fill(pen, bar, t->tile[TILE_COLOUR_WAITING], 1);
  pen_fill(pen, box_at(bar.x, bar.y, bar.width * done_of(run), bar.height), t->tile[TILE_COLOUR_DONE], 1);
  const Box line = box_cut_top(&body, 1.5 * small, 4 * u);
  pen_part(pen, "total", line);
  snprintf(words, sizeof words, "%s", clock_number(pen->now, run->time_s, run->moved_bytes).text);
  const size_t used = strlen(words);
  snprintf(words + used, sizeof words - used, " of %s", clock_number(pen->now, run->whole_s, run->total_bytes).text);
  if (pen_text_width(pen, TYPE_SMALL, false, words) > line.width) words[used] = '\0';
  pen_text(pen, TYPE_SMALL, t->ink, false, ANCHOR_START, line.x, line.y + 1.1 * small, line.width, words);
  const Box sram = box_cut_bottom(&body, 2.4 * pen_size(pen, TYPE_BODY), 10 * u);
  pen_frame(pen, sram, t->axis, 1.5);
  pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, sram.x + 8 * u, sram.y + sram.height / 2 + 0.36 * small,
           0, "SRAM");
  box_cut_top(&body, 1.4 * pen_size(pen, TYPE_BODY), 0); /* letters stand over the matrices */
  if (body.height < 20 * u) return;
  const double scale = scale_of(pen, body);
  draw_matrices(pen, body, scale, run);
  draw_body(pen, body, sram, scale, run);
}

void scene_race(const Pen *pen) {
  const Snapshot *now = pen->now;
  const double gap = 16 * pen->unit;
  char title[160] = "";
  Narration said;
  race_narrate(now, &said);
  for (int k = 0; k < now->n_runs; k++)
    snprintf(title + strlen(title), sizeof title - strlen(title), "%s%s", k ? " against " : "", name_of(&now->runs[k]));
  const size_t names = strlen(title);
  snprintf(title + names, sizeof title - names, now->by_time ? ": in the same time" : ": for the same bytes");
  if (pen_text_width(pen, TYPE_TITLE, true, title) > pen->page.width - 48 * pen->unit) title[names] = '\0';
  Box body = pen_page_told(pen, title, &said);
  const int n = now->n_runs;
  const bool is_tall = pen->page.height > 1.1 * pen->page.width;
  for (int k = 0; k < n; k++) {
    const double left = n - k;
    if (is_tall)
      draw_runner(pen, box_cut_top(&body, (body.height - gap * (left - 1)) / left, gap), k);
    else
      draw_runner(pen, box_cut_left(&body, (body.width - gap * (left - 1)) / left, gap), k);
  }
}
