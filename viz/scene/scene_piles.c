/* What each algorithm carries, as a pile, below the table that it walks.
 *
 *     Standard                  FlashAttention-2
 *     [table]                   [table]
 *     every score goes ...      no score is ever carried
 *     ▩▩▩▩▩▩▩▩▩▩▩▩▩▩▩▩          ▩▩▩▩  3.8× less
 *     needed once  scores, ...  K, V again
 *
 * All run on one clock of bytes. One size of letters for names, captions and legends of all; what does not fit is said
 * shorter or left out. */
#include <stdio.h>

#include "sim/base/text_add.h"
#include "viz/scene/scene_cache.h"
#include "viz/scene/score_table.h"
#include "viz/text/number.h"

enum { TITLE = PROGRAM_TITLE_BYTES, LEGEND = 128 };

/* ---- In words ------------------------------------------------------------------------------------------------ */

static bool are_alike(const Snapshot *now) {
  bool alike = true;
  for (int k = 0; k < now->n_runs; k++) alike = alike && now->runs[k].is_alike;
  return alike;
}

/* "3.8× less", against the first. */
static void compare(const Snapshot *now, int k, char words[NUMBER_CHARS]) {
  const double ratio = part_of(now->runs[0].total_bytes, now->runs[k].total_bytes);
  const double more = ratio < 1 ? 1 / ratio : ratio;
  if (more < 1.05)
    snprintf(words, NUMBER_CHARS, "as much");
  else
    snprintf(words, NUMBER_CHARS, more < 9.95 ? "%.1f× %s" : "%.0f× %s", floor(10 * more + 0.5) / 10,
             ratio < 1 ? "more" : "less");
}

static void tell(const Snapshot *now, SceneMemo *memo, Narration *said) {
  (void)memo;
  bool is_over = true;
  memset(said, 0, sizeof *said);
  for (int k = 0; k < now->n_runs; k++) is_over = is_over && now->runs[k].is_finished;
  if (!is_over) snprintf(said->what, sizeof said->what, "After %.40s each: ", number_bytes((Wide)now->clock).text);
  for (int k = 0; k < now->n_runs; k++) {
    const SnapshotRun *run = &now->runs[k];
    const Number amount =
        is_over ? number_bytes(run->total_bytes) : number_percent(part_of(run->moved_bytes, run->total_bytes));
    text_add(said->what, sizeof said->what, "%.24s %s %.24s%s", run->schedule->name, is_over ? "carried" : "is at",
             amount.text, k + 1 < now->n_runs ? ", " : ".");
  }
  if (!are_alike(now))
    snprintf(said->why, sizeof said->why, "Their outputs differ, so their bytes have no ratio.");
  else
    snprintf(said->why, sizeof said->why, "Blue is needed once, sand or umber comes again, vermillion lies between.");
}

/* What a panel says: a caption, and a legend for each class. */
typedef struct {
  char name[TITLE], caption[2][LEGEND]; /* and shorter */
  char legend[PILE_CLASSES][LEGEND];
} PanelWords;

static const char *times_words(double times, bool in_digits, char text[NUMBER_CHARS]) {
  static const char *const WORDS[] = {"", "once", "twice", "three times", "four times", "five times", "six times"};
  const int n = (int)lround(times);
  if (n > 0 && n < (in_digits ? 3 : 7))
    snprintf(text, NUMBER_CHARS, "%s", WORDS[n]);
  else
    snprintf(text, NUMBER_CHARS, "%d times", n);
  return text;
}

/* Those with a tenth of all bytes, or more. */
static void list_tensors(const Pile *p, const Wide bytes[TENSORS_MAX], Wide all, const char *end, char *text) {
  *text = '\0';
  for (int t = 0; t < p->schedule->n_tensors; t++)
    if (bytes[t] > 0 && 10 * bytes[t] >= all && strlen(text) + 24 < LEGEND)
      text_add(text, LEGEND, "%s%s", *text ? ", " : "", p->schedule->tensors[t].title);
  if (*text) text_add(text, LEGEND, "%s", end);
}

/* Scores of one table, of one walk and as bytes. */
static double table_bytes(const Pile *p) {
  double visited = 0;
  for (int row = 0; row < p->rows; row++)
    for (int column = 0; column < p->columns; column++) visited += p->is_visited[row][column];
  return visited / (p->rows * p->columns) * (double)p->plan.shape.N_q * (double)p->plan.shape.N_k *
         p->plan.element_bytes * (double)p->n;
}

static void say_panel(const Pile *p, bool is_over, bool is_narrow, PanelWords *w) {
  char times[NUMBER_CHARS];
  memset(w, 0, sizeof *w);
  scores_title(p->schedule, w->name);
  if (!p->is_known) {
    snprintf(w->caption[0], LEGEND, "%s steps: too many", number_count((Wide)p->n_steps).text);
    snprintf(w->caption[1], LEGEND, "too many steps");
    return;
  }
  const char *whole = p->scores > 0 ? "every score goes out and back"
                      : is_over     ? "no score is ever carried"
                                    : "a score lives for one moment";
  const char *shorter = p->scores > 0 ? "scores: out and back" : is_over ? "no score carried" : "scores: for a moment";
  snprintf(w->caption[0], LEGEND, "%s", whole);
  snprintf(w->caption[1], LEGEND, "%s", shorter);
  list_tensors(p, p->again, p->whole[PILE_AGAIN], " again", w->legend[PILE_AGAIN]);
  if (p->scores > 0)
    snprintf(w->legend[PILE_BETWEEN], LEGEND, "scores, %s",
             times_words((double)p->scores / table_bytes(p), is_narrow, times));
  else
    list_tensors(p, p->between, p->whole[PILE_BETWEEN], "", w->legend[PILE_BETWEEN]);
}

/* ---- Where everything is -------------------------------------------------------------------------------------- */

/* Parts of a panel's height: base lines, and edges of the table and of the pile. */
typedef struct {
  double name, table, table_end, caption, pile, pile_end, legend, line; /* of captions and legends that have two */
} Parts;

typedef struct {
  const Pen *pen;
  const Piles *piles;
  PanelWords words[SNAPSHOT_RUNS_MAX];
  PileMoment moments[SNAPSHOT_RUNS_MAX];
  Box panels[SNAPSHOT_RUNS_MAX];
  Parts parts;
  double name, letters, number, square; /* sizes */
  int n, squares_down;
  int caption, lines; /* 0, shorter, or 2: none; that captions and legends may have */
  bool is_over;
} Page;

/* Four beside each other: their words may have two lines. */
static bool is_narrow(const Page *p) { return p->n > 3 && !p->pen->is_tall; }

static Box part_box(const Page *p, int k, double from, double to) {
  const Box at = p->panels[k];
  return (Box){at.x, at.y + from * at.height, at.width, (to - from) * at.height};
}

/* A caption in as many lines as it may have, broken where they are narrowest. */
typedef struct {
  char lines[2][LEGEND];
  double width;
} Broken;

static Broken break_caption(const Page *p, const char *words) {
  Broken best = {.width = pen_words_width(p->pen, p->letters, true, words)};
  snprintf(best.lines[0], LEGEND, "%s", words);
  for (const char *at = words; p->lines > 1 && (at = strchr(at, ' ')); at++) {
    Broken b;
    snprintf(b.lines[0], LEGEND, "%.*s", (int)(at - words), words);
    snprintf(b.lines[1], LEGEND, "%s", at + 1);
    b.width = fmax(pen_words_width(p->pen, p->letters, true, b.lines[0]),
                   pen_words_width(p->pen, p->letters, true, b.lines[1]));
    if (b.width < best.width) best = b;
  }
  return best;
}

static double widest_caption(const Page *p, int caption) {
  double most = 0;
  for (int k = 0; k < p->n; k++) most = fmax(most, break_caption(p, p->words[k].caption[caption]).width);
  return most;
}

static double widest_name(const Page *p) {
  double most = 0;
  for (int k = 0; k < p->n; k++) most = fmax(most, pen_words_width(p->pen, p->name, true, p->words[k].name));
  return most;
}

/* Whether all piles have room; on a tall page with their number beside them. */
static bool fit(const Page *p, Box room) {
  const double number = p->pen->is_tall ? pen_words_width(p->pen, p->number, true, "9.9× more") + 0.4 * p->number : 0;
  for (int k = 0; k < p->n; k++) {
    const double width = room.width - (k > 0 ? number : 0);
    if (floor(room.height / p->square) * floor(width / p->square) < p->piles->piles[k].n_squares) return false;
  }
  return true;
}

static void size_squares(Page *p) {
  const Box room = part_box(p, 0, p->parts.pile, p->parts.pile_end);
  p->square = room.height / 3;
  while (p->square > 2 && !fit(p, room)) p->square -= 0.25;
  p->squares_down = (int)fmax(1, floor(room.height / p->square));
}

static double legend_width(const Page *p, int k, int of) {
  const char *words = p->words[k].legend[of];
  return *words ? pen_words_width(p->pen, p->letters, true, words) + 0.7 * p->letters : 0;
}

/* A legend has its place behind those before it, in the next line where that has more room. Returns its line; as many
 * as there are: it has none. */
static int place_legend(const Page *p, int k, int of, double *x) {
  const double room = p->panels[k].width;
  int line = 0;
  *x = 0;
  for (int c = 0; c <= of; c++) {
    const double width = legend_width(p, k, c);
    if (*x > 0 && *x + width > room + 0.7 * p->letters) line++, *x = 0;
    if (c < of) *x += width;
  }
  return legend_width(p, k, of) > room + 0.7 * p->letters ? p->lines : line;
}

/* What is needed once is said in the first panel that has room for it beside its own, or shorter. */
static void keep_one_blue(Page *p) {
  static const char *const WORDS[] = {"needed once", "once"};
  int at = -1;
  for (int k = 0; k < p->n; k++) *p->words[k].legend[PILE_ONCE] = '\0';
  for (int n = 0; n < 2 * p->n && at < 0; n++) {
    const int k = n % p->n;
    double x;
    if (!p->piles->piles[k].is_known) continue;
    snprintf(p->words[k].legend[PILE_ONCE], LEGEND, "%s", WORDS[n / p->n]);
    if (place_legend(p, k, PILE_CLASSES - 1, &x) < p->lines)
      at = k;
    else
      *p->words[k].legend[PILE_ONCE] = '\0';
  }
}

/* Beside each other, on a tall page below each other. Says where they are. */
static void lay_panels(Page *p, Box page) {
  const bool tall = p->pen->is_tall;
  const double width = page.width, height = page.height;
  const double margin = (tall ? 0.06 : 0.055) * width, gap = tall ? 0 : (p->n > 2 ? 0.03 : 0.05) * width;
  const double across = (width - 2 * margin - gap * (p->n - 1)) / p->n;
  for (int k = 0; k < p->n; k++) {
    p->panels[k] = tall ? (Box){margin, page.y + height * k / p->n, width - 2 * margin, height / p->n}
                        : (Box){margin + k * (across + gap), page.y, across, height};
    pen_region(p->pen, HIT_RUN, 0, -1, -1, k, p->panels[k]);
  }
}

static void size_words(Page *p, Box page) {
  static const Parts WIDE = {.108, .153, .59, .645, .758, .889, .95, 0},
                     NARROW = {.108, .153, .42, .485, .66, .825, .89, .055},
                     TALL = {.118, .165, .653, .72, .765, .9, .965, 0};
  const bool tall = p->pen->is_tall;
  const double width = page.width, height = page.height, least = 12;
  p->parts = tall ? TALL : is_narrow(p) ? NARROW : WIDE;
  p->lines = is_narrow(p) ? 2 : 1;
  const double room = p->panels[0].width, most = tall ? 0.16 * height / p->n : height;
  p->letters = fmax(least, tall ? fmin(0.05 * width, 0.485 * most) : 0.041 * height);
  p->name = fmax(least, tall ? fmin(0.075 * width, 0.6 * most) : 0.058 * height);
  p->number = fmax(least, tall ? fmin(0.1 * width, 0.8 * most) : 0.085 * height);
  p->name = fmax(p->letters, fmin(p->name, 0.99 * p->name * room / widest_name(p)));
  for (p->caption = 0; p->caption < 2 && widest_caption(p, p->caption) > room;) p->caption++;
  size_squares(p);
  keep_one_blue(p);
}

/* ---- A panel ----------------------------------------------------------------------------------------------------- */

static Colour class_colour(const Theme *t, int of, bool is_text) {
  const Colour fills[] = {t->series[INK_BLUE], t->again, t->waste},
               texts[] = {t->series_text[INK_BLUE], t->again_text, t->waste_text};
  return (is_text ? texts : fills)[of];
}

static void draw_scores(const Page *p, int k) {
  const Pile *pile = &p->piles->piles[k];
  const PileMoment *m = &p->moments[k];
  ScoreTable table = {.letters = p->letters};
  table_of_pile(&table, pile, m);
  const TableGrid grid = draw_table(p->pen, part_box(p, k, p->parts.table, p->parts.table_end), &table);
  draw_table_names(&grid);
}

/* Column by column, each from above; returns its right end. */
static double draw_pile(const Page *p, int k) {
  const Pile *pile = &p->piles->piles[k];
  const Box room = part_box(p, k, p->parts.pile, p->parts.pile_end);
  const double line = fmax(1, round(p->square / 14)), unit = (double)p->piles->unit,
               top = room.y + room.height - p->squares_down * p->square;
  double bytes[PILE_CLASSES], right = room.x;
  memcpy(bytes, p->moments[k].bytes, sizeof bytes);
  for (int n = 0; n < pile->n_squares; n++) {
    const int of = pile->squares[n];
    if (bytes[of] <= 0) break; /* this one and all that begin later are still to come */
    const double part = fmin(1, bytes[of] / unit), x = floor(room.x + n / p->squares_down * p->square),
                 y = floor(top + n % p->squares_down * p->square), side = floor(p->square) - line;
    const double filled = part < 1 ? fmax(1, round(part * side)) : side;
    if (part < 1)
      pen_frame(p->pen, (Box){x, y, side, side}, theme_mix(p->pen->theme->background, p->pen->theme->axis, 0.6), 1);
    pen_fill(p->pen, (Box){x, y + side - filled, side, filled}, class_colour(p->pen->theme, of, false), 1);
    bytes[of] -= unit;
    right = x + side;
  }
  return right;
}

static double line_y(const Page *p, int k, double part, int line) {
  return p->panels[k].y + (part + line * p->parts.line) * p->panels[k].height;
}

static void draw_legend_of(const Page *p, int k) {
  for (int c = 0; c < PILE_CLASSES; c++) {
    double x;
    const int line = place_legend(p, k, c, &x);
    if (line < p->lines)
      pen_words(p->pen, p->letters, class_colour(p->pen->theme, c, true), true, ANCHOR_START, p->panels[k].x + x,
                line_y(p, k, p->parts.legend, line), p->words[k].legend[c]);
  }
}

/* Beside the pile, or where there is no room above it. */
static void draw_number(const Page *p, int k, double right) {
  const Box panel = p->panels[k], pile = part_box(p, k, p->parts.pile, p->parts.pile_end);
  const double end = panel.x + panel.width;
  char words[NUMBER_CHARS];
  compare(p->pen->now, k, words);
  const double width = pen_words_width(p->pen, p->number, true, words), x = right + 0.4 * p->number;
  const Colour ink = p->pen->theme->ink;
  if (x + width <= end)
    pen_words(p->pen, p->number, ink, true, ANCHOR_START, x, pile.y + pile.height / 2 + 0.36 * p->number, words);
  else
    pen_words(p->pen, fmin(p->number, 0.9 * p->number * panel.width / width), ink, true, ANCHOR_END, end,
              pile.y - 0.25 * p->number, words);
}

static void draw_page(const Page *p) {
  const Theme *t = p->pen->theme;
  for (int k = 0; k < p->n; k++) {
    const Box panel = p->panels[k];
    const Pile *pile = &p->piles->piles[k];
    const char *name = pen_words_width(p->pen, p->name, true, p->words[k].name) <= panel.width ? p->words[k].name
                                                                                               : pile->schedule->name;
    pen_words(p->pen, p->name, t->ink, true, ANCHOR_START, panel.x, panel.y + p->parts.name * panel.height, name);
    const Broken caption = p->caption < 2 ? break_caption(p, p->words[k].caption[p->caption]) : (Broken){0};
    for (int line = 0; line < 2; line++)
      pen_words(p->pen, p->letters, pile->scores > 0 ? t->waste_text : t->warn, true, ANCHOR_START, panel.x,
                line_y(p, k, p->parts.caption, line), caption.lines[line]);
    if (!pile->is_known) continue;
    draw_scores(p, k);
    const double right = draw_pile(p, k);
    draw_legend_of(p, k);
    if (k > 0 && p->is_over && p->pen->now->runs[k].is_alike && p->pen->now->runs[0].is_alike) draw_number(p, k, right);
  }
}

/* `room` holds the piles where no memo does. */
static void fill_page(Page *p, Box page, Piles *room) {
  const Snapshot *now = p->pen->now;
  p->piles = memo_piles(p->pen->view->memo, now, PILES_ALL, room);
  const double clock = now->clock_before + pen_happened(p->pen) * (now->clock - now->clock_before);
  for (int k = 0; k < p->n; k++) {
    pile_at(&p->piles->piles[k], clock, &p->moments[k]);
    p->is_over = p->is_over && p->moments[k].is_over;
  }
  for (int k = 0; k < p->n; k++) say_panel(&p->piles->piles[k], p->moments[k].is_over, is_narrow(p), &p->words[k]);
  size_words(p, page);
}

static void draw(const Pen *pen) {
  Piles room = {0};
  Page p = {.pen = pen, .n = pen->now->n_runs, .is_over = true};
  const Box page = pen_page_bare(pen);
  lay_panels(&p, page);
  if (pen->hit) return;
  fill_page(&p, page, &room);
  draw_page(&p);
  piles_free(&room);
}

/* Where the first pile grows, as wide as the whole second one: a guess of how many times as much is a place on it. */
static Box guess_track(const Pen *pen) {
  Piles room = {0};
  Page p = {.pen = pen, .n = pen->now->n_runs, .is_over = true};
  const Box page = pen_page_bare(pen);
  if (p.n < 2) return (Box){0};
  lay_panels(&p, page);
  fill_page(&p, page, &room);
  const Box at = part_box(&p, 0, p.parts.pile, p.parts.pile_end);
  const double all = (double)pen->now->runs[1].total_bytes / (double)p.piles->unit;
  const Box track = {at.x, at.y + at.height - p.squares_down * p.square, all / p.squares_down * p.square,
                     p.squares_down * p.square};
  piles_free(&room);
  return track;
}

const Scene PILES_SCENE = {
    .title = "What each algorithm carries", .draw = draw, .narrate = tell, .guess_track = guess_track};
