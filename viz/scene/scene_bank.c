/* Shared memory as it lies, and the 32 lanes of a warp that read a column of the present tile of K: as the rows come,
 * and with a word of padding behind each, which makes of the column a diagonal. A bank gives one word a pass: an event
 * that reads K goes through the passes, and a block of K that comes in waits for its own. */
#include <stdio.h>

#include "sim/algorithms/walk/live.h"
#include "sim/machine/warp.h"
#include "viz/scene/bank_draw.h"
#include "viz/scene/sheet.h"

/* Where the lines of memory lie that are drawn: all of a range, or where that is long those that are asked for. */
typedef struct {
  uint64_t lines[BANK_WORDS];
  int n;
} Lines;

static Lines lines_of(const BankWords *w) {
  enum { FEW = 80 };
  Lines all = {.n = 0};
  uint64_t first = UINT64_MAX, last = 0;
  for (int k = 0; k < w->n; k++) {
    const uint64_t line = w->words[k].word / BANK_COUNT;
    if (line < first) first = line;
    if (line > last) last = line;
  }
  const bool has_all = w->n > 0 && last - first < FEW;
  for (uint64_t line = first; has_all && line <= last; line++) all.lines[all.n++] = line;
  for (int k = 0; k < w->n && !has_all; k++) { /* rising */
    const uint64_t line = w->words[k].word / BANK_COUNT;
    int at = all.n;
    while (at > 0 && all.lines[at - 1] > line) at--;
    if (at > 0 && all.lines[at - 1] == line) continue;
    memmove(all.lines + at + 1, all.lines + at, (size_t)(all.n++ - at) * sizeof *all.lines);
    all.lines[at] = line;
  }
  return all;
}

static Colour colour_of(const Theme *t, const BankWord *word, int passes) {
  return word->pass < passes - 1    ? t->series[INK_BLUE]
         : word->pass == passes - 1 ? t->tile[TILE_COLOUR_CURRENT]
                                    : t->waste;
}

void draw_bank_words(const Pen *pen, Box box, const BankWords *w, int passes, uint64_t row_words, uint64_t pad_words,
                     bool by_sectors) {
  const Theme *t = pen->theme;
  const Lines all = lines_of(w);
  if (all.n == 0 || pen->hit) return;
  enum { LEAST = 6 }; /* pixels: smaller squares are not seen, and words are wider */
  const double most = box.width / BANK_COUNT, high = fmin(box.height / all.n, most),
               wide = fmin(most, fmax(high, LEAST)), gap = high > LEAST ? 1.5 : 0.5;
  for (int k = 0; k < all.n; k++)
    for (uint64_t bank = 0; bank < BANK_COUNT; bank++) {
      const double x = round(box.x + wide * (double)bank), y = round(box.y + high * k);
      const Box cell = {x, y, fmax(1, round(box.x + wide * (double)(bank + 1)) - x - gap),
                        fmax(1, round(box.y + high * (k + 1)) - y - gap)};
      const uint64_t word = all.lines[k] * BANK_COUNT + bank;
      Colour fill = theme_mix(t->background, t->axis, 0.25);
      for (int n = 0; n < w->n; n++)
        if (w->words[n].word == word)
          fill = colour_of(t, &w->words[n], passes), n = w->n;
        else if (by_sectors && w->words[n].word / 8 == word / 8)
          fill = theme_mix(t->background, t->waste, 0.45);
      pen_fill(pen, cell, fill, 1);
      if (!pad_words || word % (row_words + pad_words) < row_words) continue;
      pen_hatch(pen, cell, t->background, t->axis);
    }
}

/* ---- The tile ---------------------------------------------------------------------------------------------------- */

typedef struct {
  uint64_t row_words;
  BankWords words[2]; /* plain, padded */
  int done;           /* passes of the present request so far; beyond those of both: it is over */
} Column;

/* Lane n in row n. */
static void read_column(const WarpTile *tile, BankWords *words) {
  const WarpAccess access = warp_column(tile, 0, WARP_BANK_BYTES);
  bank_words(access.address, access.active, (int)access.element_bytes, WARP_LANES, words);
}

/* How much of the present block of K has been read: up the program from the present event, to what read it or brought
 * it. */
static double part_read(const Snapshot *now, double happened) {
  const Schedule *s = now->schedule;
  const int K = now->roles.operands[1] - 1;
  if (!now->has_event || K < 0) return 0;
  for (int op = now->event.op; op >= 0; op--) {
    if (s->ops[op].kind != OP_EVENT) continue;
    if (!s->ops[op].moves && live_reads(s, op) >> K & 1) return op == now->event.op ? happened : 1;
    if (s->ops[op].event == EVENT_LOAD && s->ops[op].tensor == s->names[K].tensor) return 0;
  }
  return 0;
}

static Column column_of(const Snapshot *now, double happened) {
  const SnapshotGrid *g = &now->grid;
  const uint64_t row_bytes = (uint64_t)ceil_div(g->d * g->element_bytes, WARP_BANK_BYTES) * WARP_BANK_BYTES;
  Column c = {.row_words = row_bytes / WARP_BANK_BYTES};
  read_column(&(WarpTile){.row_bytes = row_bytes}, &c.words[0]);
  read_column(&(WarpTile){.row_bytes = row_bytes, .pad_bytes = WARP_BANK_BYTES}, &c.words[1]);
  const double part = part_read(now, happened);
  const int most = c.words[0].n_passes > c.words[1].n_passes ? c.words[0].n_passes : c.words[1].n_passes;
  c.done = part >= 1 ? most + 1 : (int)ceil(part * most);
  return c;
}

static const char *passes_word(int n) { return n == 1 ? "pass" : "passes"; }

static void tell(const Snapshot *now, SceneMemo *memo, Narration *said) {
  (void)memo;
  const Column c = column_of(now, 1);
  const int plain = c.words[0].n_passes, padded = c.words[1].n_passes;
  memset(said, 0, sizeof *said);
  snprintf(said->what, sizeof said->what, "32 lanes read a column of K, a row of %ju bytes each: %d %s.",
           4 * c.row_words, plain, passes_word(plain));
  if (padded < plain)
    snprintf(said->why, sizeof said->why,
             "With a word of padding behind each row %d %s: the column becomes a diagonal.", padded,
             passes_word(padded));
  else
    snprintf(said->why, sizeof said->why, "A word of padding behind each row leaves %d %s.", padded,
             passes_word(padded));
}

static void draw_panel(const Pen *pen, Box panel, const Column *c, int padded) {
  static const char *const TITLES[] = {"Plain", "Padded"};
  const BankWords *w = &c->words[padded];
  char number[16], unit[32], caption[2][40];
  int banks = 0;
  for (int bank = 0; bank < BANK_COUNT; bank++) banks += w->longest[bank] > 0;
  const int done = c->done < w->n_passes ? c->done : w->n_passes;
  snprintf(number, sizeof number, "%d", done);
  snprintf(unit, sizeof unit, "of %d %s", w->n_passes, passes_word(w->n_passes));
  snprintf(caption[0], sizeof caption[0], banks == 32 ? "32 lanes, a bank each" : "32 lanes, %d bank%s", banks,
           banks == 1 ? "" : "s");
  snprintf(caption[1], sizeof caption[1], banks == 32 ? "a bank each" : "%d bank%s", banks, banks == 1 ? "" : "s");
  const Theme *t = pen->theme;
  const Sheet sheet = {.title = TITLES[padded],
                       .note = padded ? "a word a row" : "32 banks",
                       .caption = {caption[0], caption[1]},
                       .colour = w->n_passes > 1 ? t->waste_text : t->series_text[INK_BLUE],
                       .number = number,
                       .unit = unit};
  draw_bank_words(pen, pen_sheet(pen, panel, &sheet), w, c->done, c->row_words, (uint64_t)padded, false);
}

static void draw(const Pen *pen) {
  Box page = pen_page_bare(pen);
  if (pen->hit) return;
  const Column c = column_of(pen->now, pen_happened(pen));
  if (!pen->is_tall) page = box_at(page.x + 0.0275 * page.width, page.y, 0.945 * page.width, page.height);
  const Box first = pen->is_tall ? box_cut_top(&page, page.height / 2, 0) : box_cut_left(&page, page.width / 2, 0);
  draw_panel(pen, first, &c, 0);
  draw_panel(pen, page, &c, 1);
}

const Scene BANK_SCENE = {.title = "Shared memory as it lies", .draw = draw, .narrate = tell};
