/* The race as a film: the same chip, the same link, and squares of bytes that fly to their places.
 *
 *     standard   ■■■■■■■□□□□□□□□□□□□□⚑  ▦   blue: what must move, inputs and outputs once; vermillion: what need not
 *     fa2        ■■⚑                   ▦   a flag where each is done; at the end its time and the ratio
 *
 * On a clock of bytes one head moves between HBM and SRAM; on one of time the whole launch moves through HBM, at
 * the rate of the machine, and each is done when its bound says so (one planner). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/pen.h"
#include "viz/text/number.h"

static const char *name_of(const SnapshotRun *run) { return run->schedule->name; }
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

/* How far a run is, by the clock. */
static double part_at(const Snapshot *now, const SnapshotRun *run, double clock) {
  const double length = length_of(now, run);
  return length > 0 ? fmin(1, clock / length) : 0;
}

static Number clock_number(const Snapshot *now, double amount) {
  return now->by_time ? number_seconds(amount) : number_bytes((Wide)amount);
}

static Number bytes_number(double bytes) { return number_bytes((Wide)bytes); }

/* ---- In words -------------------------------------------------------------------------------------------- */

#define N(number) (int)sizeof number.text / 4, number.text /* no number is as long as its room */

/* "O", "dQ, dK, dV": what all of them make. */
static void put_outputs(const Snapshot *now, const Schedule *s, char *text, size_t size) {
  *text = '\0';
  for (int t = 0; t < s->n_tensors; t++)
    if (s->tensors[t].role == TENSOR_OUTPUT && !s->tensors[t].is_stats)
      snprintf(text + strlen(text), size - strlen(text), "%s%s", *text ? ", " : "", s->tensors[t].text);
  if (!now->by_time && now->race_heads > 1)
    snprintf(text + strlen(text), size - strlen(text), " of %" PRId64 " heads", now->race_heads);
}

/* Whether all of them make the same. */
static bool are_alike(const Snapshot *now) {
  bool alike = true;
  for (int k = 0; k < now->n_runs; k++) alike = alike && now->runs[k].is_alike;
  return alike;
}

static const char *its(const SnapshotRun *run) { return run->link.bound < TIME_PART_COUNT ? "" : "its "; }

/* Why the first is the first. */
static void say_why(const Snapshot *now, const SnapshotRun *first, const SnapshotRun *last, Narration *said) {
  const Number least = bytes_number(first->link.bytes), most = bytes_number(last->link.bytes);
  char *why = said->why, outputs[64];
  put_outputs(now, first->schedule, outputs, sizeof outputs);
  if (!are_alike(now))
    snprintf(why, sizeof said->why, "Their outputs differ, so their %s have no ratio.",
             now->by_time ? "times" : "bytes");
  else if (length_of(now, last) < 1.005 * length_of(now, first))
    snprintf(why, sizeof said->why, "They take the same time: %s.",
             last->link.bound == TIME_MATH || last->link.bound == TIME_TERM_BUSIEST ? "the products are as many"
                                                                                    : "the bytes are as many");
  else if (!now->by_time)
    snprintf(why, sizeof said->why, "%.*s against %.*s for the same %s.", N(most), N(least), outputs);
  else if (last->link.bound == TIME_TERM_BUSIEST && last->link.n_ctas < (double)now->gpu.n_sm)
    snprintf(why, sizeof said->why, "%s has %.0f CTAs for %d SMs; the others do nothing.", name_of(last),
             last->link.n_ctas, (int)now->gpu.n_sm);
  else if (last->link.bound == TIME_HBM && last->link.bytes > first->link.bytes)
    snprintf(why, sizeof said->why, "%.*s through HBM against %.*s, for the same %s.", N(most), N(least), outputs);
  else
    snprintf(why, sizeof said->why, "%s waits for %s%s, %s for %s%s.", name_of(last), its(last),
             timing_term_title(last->link.bound), name_of(first), its(first), timing_term_title(first->link.bound));
}

static void tell(const Snapshot *now, SceneMemo *memo, Narration *said) {
  (void)memo;
  const SnapshotRun *first, *last;
  find_ends(now, &first, &last);
  memset(said, 0, sizeof *said);
  if (now->n_runs < 2) {
    snprintf(said->what, sizeof said->what, "One algorithm runs alone.");
    snprintf(said->why, sizeof said->why, "Name several, such as standard,fa2, and they race.");
    return;
  }
  const Number so_far = clock_number(now, now->clock), first_done = number_percent(part_at(now, first, now->clock)),
               last_done = number_percent(part_at(now, last, now->clock)),
               ratio = now->by_time ? number_ratio(last->whole_s / first->whole_s)
                                    : number_ratio_of(last->total_bytes, first->total_bytes);
  say_why(now, first, last, said);
  if (last->is_finished && !are_alike(now)) {
    snprintf(said->what, sizeof said->what, "All are done: %s last, at %.*s.", name_of(last), N(so_far));
  } else if (last->is_finished && !snapshot_order_holds(now, first, last)) {
    snprintf(said->what, sizeof said->what, "All are done; which is the fastest these times do not say.");
    snprintf(said->why, sizeof said->why, "The gaps between launches are left out, and %s has more of them.",
             name_of(first));
  } else if (last->is_finished)
    snprintf(said->what, sizeof said->what, "All are done: %s %s %.*s as %s as %s.", name_of(last),
             now->by_time ? "took" : "moved", N(ratio), now->by_time ? "long" : "much", name_of(first));
  else if (first->is_finished)
    snprintf(said->what, sizeof said->what, "After %.*s %s is done; %s is at %.*s.", N(so_far), name_of(first),
             name_of(last), N(last_done));
  else
    snprintf(said->what, sizeof said->what,
             now->by_time ? "After %.*s %s is at %.*s, %s at %.*s." : "With %.*s moved %s is at %.*s, %s at %.*s.",
             N(so_far), name_of(first), N(first_done), name_of(last), N(last_done));
}
#undef N

/* "S, P need not move", "Q, O more than once", or that there is nothing to spare. */
static void say_load(const SnapshotRun *run, char *words, size_t size) {
  const bool tiles = run->link.tiles != 0;
  const uint32_t names = tiles ? run->link.tiles : run->link.again;
  if (run->link.bytes <= 1.02 * run->link.needed_bytes || !names) {
    snprintf(words, size, "inputs and outputs once");
    return;
  }
  *words = '\0';
  for (int k = 0; k < run->schedule->n_tensors; k++)
    if (names >> k & 1)
      snprintf(words + strlen(words), size - strlen(words), "%s%s", *words ? ", " : "",
               run->schedule->tensors[k].title);
  snprintf(words + strlen(words), size - strlen(words), tiles ? " need not move" : " more than once");
}

/* ---- Lanes ------------------------------------------------------------------------------------------------- */

enum { LEAST_ROWS = 4, MOST_ROWS = 8, FLYING = 4, CHIP_COLUMNS = 12 };

typedef struct {
  double clock, square_bytes; /* now, between events too */
  double x, pitch, rows;      /* of all lanes */
  bool is_over;               /* all are done */
  const SnapshotRun *first;
} Film;

static double squares_of(const Film *f, const SnapshotRun *run) {
  return fmax(1, round(run->link.bytes / f->square_bytes));
}

static double moved_of(const Snapshot *now, const Film *f, const SnapshotRun *run) {
  return fmin(run->link.bytes, now->by_time ? f->clock * run->link.bytes_per_s : f->clock);
}

static bool is_done(const Snapshot *now, const Film *f, const SnapshotRun *run) {
  return f->clock >= length_of(now, run) * (1 - 1e-9) && length_of(now, run) > 0;
}

/* The largest run fills the width; a square is a power of two bytes. */
static Film film_of(const Pen *pen, double x, double width, double height) {
  const Snapshot *now = pen->now;
  const SnapshotRun *last;
  const double phase = pen->view->phase, part = phase > 0 && phase < 1 ? phase : 1;
  Film f = {.clock = now->clock_before + (now->clock - now->clock_before) * part, .x = floor(x), .square_bytes = 1};
  double most = 0;
  find_ends(now, &f.first, &last);
  for (int k = 0; k < now->n_runs; k++) most = fmax(most, now->runs[k].link.bytes);
  const double columns = floor(width / (19 * pen->unit));
  while (ceil(most / f.square_bytes) > columns * LEAST_ROWS) f.square_bytes *= 2;
  for (double rows = LEAST_ROWS; rows <= MOST_ROWS; rows += 2) { /* as many as make squares largest */
    const double used = ceil(ceil(most / f.square_bytes) / rows),
                 pitch = floor(fmin(fmin(width / fmax(1, used), height / rows), 38 * pen->unit));
    if (pitch > f.pitch) f.pitch = pitch, f.rows = rows;
  }
  f.is_over = is_done(now, &f, last);
  return f;
}

static Box square_at(const Film *f, Box lane, double index) {
  const double gap = f->pitch > 8 ? 2 : 1, column = floor(index / f->rows), row = fmod(index, f->rows);
  return (Box){f->x + column * f->pitch, lane.y + row * f->pitch, f->pitch - gap, f->pitch - gap};
}

static void draw_squares(const Pen *pen, const Film *f, Box lane, const SnapshotRun *run, bool shows_all) {
  const Theme *t = pen->theme;
  const double n = squares_of(f, run), needed = round(run->link.needed_bytes / f->square_bytes),
               there = floor(moved_of(pen->now, f, run) / f->square_bytes + 1e-9);
  const double filled = moved_of(pen->now, f, run) >= run->link.bytes ? n : fmin(n, there),
               blue = fmin(filled, fmax(1, needed)), line = fmax(1, round(0.8 * pen->unit));
  for (double k = 0; k < blue; k++) pen_add(pen, square_at(f, lane, k));
  pen_fill_added(pen, t->tile[TILE_COLOUR_DONE]);
  for (double k = blue; k < filled; k++) pen_add(pen, square_at(f, lane, k));
  pen_fill_added(pen, t->waste);
  for (double k = filled; k < n && shows_all; k++) pen_add_empty(pen, square_at(f, lane, k), line);
  pen_outline_added(pen);
}

/* The next squares, on their way from the chip; each flight takes as long as four squares take the link. */
static void draw_flight(const Pen *pen, const Film *f, Box lane, double from, const SnapshotRun *run) {
  const double n = squares_of(f, run), at = moved_of(pen->now, f, run) / f->square_bytes, next = floor(at + 1e-9);
  if (f->clock <= 0) return;
  for (int k = 0; k < FLYING; k++) {
    const double index = next + k, part = (at - next + (FLYING - 1 - k)) / FLYING;
    if (index >= n || at >= n) break;
    const Box home = square_at(f, lane, index), chip = {from - home.width, home.y, home.width, home.height};
    const Box box = box_between(chip, home, part);
    pen_body(pen, BODY_TILE, 0, box, 1);
    pen_fill(pen, box_at(box.x, box.y, box.width, box.height), pen->theme->tile[TILE_COLOUR_CURRENT], 1);
  }
}

static void draw_flag(const Pen *pen, const Film *f, Box lane, const SnapshotRun *run) {
  const double u = pen->unit, columns = ceil(squares_of(f, run) / f->rows), x = f->x + columns * f->pitch + 4 * u,
               top = lane.y - 10 * u, cell = 5 * u;
  pen_fill(pen, box_at(x, top, fmax(2, 2 * u), f->rows * f->pitch + 16 * u), pen->theme->ink, 1);
  for (int k = 0; k < 6; k++)
    if ((k % 3 + k / 3) % 2 == 0)
      pen_fill(pen, (Box){x + 2 * u + (k % 3) * cell, top + (k / 3) * cell, cell, cell}, pen->theme->ink, 1);
  pen_frame(pen, (Box){x + 2 * u, top, 3 * cell, 2 * cell}, pen->theme->ink, 0.8);
}

/* The SMs: at work, done, and those that have nothing to do. */
static void draw_chip(const Pen *pen, Box box, const SnapshotRun *run, bool done) {
  const Theme *t = pen->theme;
  const int n = (int)pen->now->gpu.n_sm, rows = (n + CHIP_COLUMNS - 1) / CHIP_COLUMNS;
  const double cell = fmax(2, floor(fmin(box.width / CHIP_COLUMNS, box.height / fmax(1, rows))));
  if (!pen->now->by_time || n <= 0) {
    pen_frame(pen, box, t->axis, 2);
    pen_text(pen, TYPE_SMALL, t->ink_soft, true, ANCHOR_MIDDLE, box.x + box.width / 2,
             box.y + box.height / 2 + 0.36 * pen_size(pen, TYPE_SMALL), box.width, "SRAM");
    return;
  }
  const int working = run->link.n_ctas < n ? (int)run->link.n_ctas : n;
  for (int k = 0; k < n; k++) {
    const Box sm = {box.x + (k % CHIP_COLUMNS) * cell, box.y + (k / CHIP_COLUMNS) * cell, cell - 1, cell - 1};
    if (k < working)
      pen_add(pen, sm);
    else
      pen_add_empty(pen, sm, 1);
    if (k == working - 1) pen_fill_added(pen, t->tile[done ? TILE_COLOUR_DONE : TILE_COLOUR_CURRENT]);
  }
  pen_outline_added(pen);
}

/* Under the squares: what they are, or once all are done how long it took. */
static void draw_under(const Pen *pen, const Film *f, Box lane, double width, double room, const SnapshotRun *run) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const double u = pen->unit, body = pen_size(pen, TYPE_BODY), y = lane.y + f->rows * f->pitch + 8 * u;
  char words[256], load[192];
  if (f->is_over) {
    double most = 0;
    for (int k = 0; k < now->n_runs; k++) most = fmax(most, length_of(now, &now->runs[k]));
    pen_fill(pen, box_at(f->x, y, width * length_of(now, run) / most, 12 * u), t->series[INK_NEUTRAL], 1);
    return;
  }
  if (pen->view->bare && f->clock <= 0) return; /* whoever asks first shows no answer */
  const bool lean = run->link.bytes <= 1.02 * run->link.needed_bytes;
  say_load(run, load, sizeof load);
  snprintf(words, sizeof words, "%s", load);
  if (is_done(now, f, run))
    snprintf(words, sizeof words, "%.0f squares: %s", squares_of(f, run), load);
  else if (moved_of(now, f, run) >= run->link.bytes)
    snprintf(words, sizeof words, "all bytes are moved; now %s the pace",
             run->link.bound == TIME_EXP                                       ? "exponentials set"
             : run->link.bound == TIME_L2 || run->link.bound == TIME_TERM_PORT ? "L2 sets"
             : run->link.bound == TIME_SRAM                                    ? "SRAM sets"
                                                                               : "the products set");
  const char *second = strstr(words, "; now "); /* alone where there is no room for both */
  const char *said = second && pen_text_width(pen, TYPE_BODY, true, words) > room ? second + 2 : words;
  pen_text(pen, TYPE_BODY, lean ? t->series_text[INK_BLUE] : t->waste_text, true, ANCHOR_START, f->x, y + body, room,
           said);
}

/* On a tall page the name lies above its squares. */
static double name_height(const Pen *pen) { return pen->is_tall ? 1.5 * pen_size(pen, TYPE_TITLE) : 0; }

/* The name, and how far; at the end what it took. */
static void draw_name(const Pen *pen, const Film *f, Box lane, double width, const SnapshotRun *run) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const double head = pen_size(pen, TYPE_HEAD), title = pen_size(pen, TYPE_TITLE);
  const bool done = is_done(now, f, run);
  const Number amount =
      f->is_over ? clock_number(now, length_of(now, run)) : number_percent(part_at(now, run, f->clock));
  const char *whole_name = run->schedule->title;
  const double below = pen->is_tall ? 0 : 1.4 * title;
  pen_text(pen, TYPE_HEAD, t->ink, true, ANCHOR_START, lane.x, lane.y + 0.9 * head, width,
           pen_text_width(pen, TYPE_HEAD, true, whole_name) < width ? whole_name : name_of(run));
  pen_text(pen, TYPE_TITLE,
           f->is_over ? t->ink
           : done     ? t->good
                      : t->waste_text,
           true, pen->is_tall ? ANCHOR_END : ANCHOR_START, lane.x + (pen->is_tall ? width : 0),
           lane.y + 0.9 * head + below, width, done && !f->is_over ? "done" : amount.text);
}

static void draw_lane(const Pen *pen, const Film *f, Box lane, double name_width, double width, double chip, int k) {
  const SnapshotRun *run = &pen->now->runs[k];
  const Snapshot *now = pen->now;
  const double u = pen->unit, right = lane.x + lane.width;
  const bool done = is_done(now, f, run), shows_all = !pen->view->bare || f->is_over;
  pen_region(pen, HIT_RUN, 0, -1, -1, k, lane);
  lane.y += 12 * u;
  draw_name(pen, f, lane, name_width - 10 * u, run);
  if (pen->is_tall) lane.y += name_height(pen);
  draw_squares(pen, f, lane, run, shows_all);
  if (!done) draw_flight(pen, f, lane, right - chip - 10 * u, run);
  if (shows_all || done) draw_flag(pen, f, lane, run);
  draw_under(pen, f, lane, width, right - f->x, run);
  const Box at = {right - chip, lane.y, chip, fmin(chip, f->rows * f->pitch + 30 * u)};
  if (!f->is_over || now->n_runs < 2 || !are_alike(now)) {
    draw_chip(pen, at, run, done);
    return;
  }
  const bool is_first = run == f->first;
  for (int other = 0; other < now->n_runs; other++)
    if (!snapshot_order_holds(now, &now->runs[other], f->first) && (is_first || other == k)) return;
  const double ratio = length_of(now, run) / length_of(now, f->first);
  char words[NUMBER_CHARS];
  snprintf(words, sizeof words, ratio < 9.95 ? "%.1f×" : "%.0f×", ratio);
  pen_text(pen, TYPE_NUMBER, is_first ? pen->theme->good : pen->theme->waste_text, true, ANCHOR_END, right,
           at.y + 0.8 * pen_size(pen, TYPE_NUMBER), 0, is_first ? "1×" : words);
}

static void draw(const Pen *pen) {
  const Snapshot *now = pen->now;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  char title[160] = "", words[256];
  Narration said;
  tell(now, pen->view->memo, &said);
  for (int k = 0; k < now->n_runs; k++)
    snprintf(title + strlen(title), sizeof title - strlen(title), "%s%s", k ? " against " : "", name_of(&now->runs[k]));
  Box body = pen_page_told(pen, title, &said);
  const Box foot = box_cut_bottom(&body, 1.4 * small, 2 * u);
  const double chip = fmax(96 * u, pen_text_width(pen, TYPE_NUMBER, true, "9.9×") + 8 * u),
               beside = pen->is_tall ? 0 : fmin(0.24 * body.width, 11.5 * pen_size(pen, TYPE_HEAD)),
               name_width = pen->is_tall ? body.width + 10 * u : beside, width = body.width - beside - chip - 40 * u,
               high = fmin(300 * u, body.height / fmax(1, now->n_runs)),
               under = 12 * u + 8 * u + 1.3 * pen_size(pen, TYPE_BODY) + name_height(pen);
  const Film f = film_of(pen, body.x + beside, width, high - under - 6 * u);
  if (f.pitch < 3 || width < 40 * u) return;
  for (int k = 0; k < now->n_runs; k++) draw_lane(pen, &f, box_cut_top(&body, high, 0), name_width, width, chip, k);
  char of[64] = "through HBM, at its peak rate";
  if (!now->by_time && now->race_heads > 1)
    snprintf(of, sizeof of, "of %" PRId64 " heads between HBM and SRAM", now->race_heads);
  else if (!now->by_time)
    snprintf(of, sizeof of, "of one head between HBM and SRAM");
  snprintf(words, sizeof words, "One square: %s %s.%s", number_bytes((Wide)f.square_bytes).text, of,
           pen->view->bare ? "" : " Blue must move, vermillion need not move.");
  const Number clock = clock_number(now, f.clock);
  const double room = foot.width - pen_text_width(pen, TYPE_HEAD, true, clock.text) - 16 * u;
  static const char *const ENDS[] = {".", ",", " through", " of "}; /* the last clauses are left out first */
  for (int k = 0; k < 4 && pen_text_width(pen, TYPE_SMALL, false, words) > room; k++) {
    char *end = strstr(words, ENDS[k]);
    if (end) *end = '\0';
  }
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, foot.x, foot.y + small, room, words);
  if (now->n_runs > 1 && !pen->view->bare)
    pen_text(pen, TYPE_HEAD, pen->theme->ink, true, ANCHOR_END, foot.x + foot.width, foot.y + small, 0, clock.text);
}

const Scene RACE_SCENE = {.title = "Algorithms side by side, byte by byte", .key = '9', .draw = draw, .narrate = tell};
