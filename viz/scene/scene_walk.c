/* One table walked tile by tile, and beside it what lies on chip.
 *
 *     FlashAttention-2
 *     [table]  ~~beam~~      K₃         area is bytes: rows and columns that meet lie in line
 *                        Q₅  S   O₅
 *                        S = Q₅ K₃ᵀ / √d
 *     a score lives for one moment      0 scores stored
 *
 * What an event carries flies between memory and chip. A place on chip stays where it is while a kernel runs; m and l,
 * which are small, are left out. */
#include <stdio.h>

#include "viz/scene/line_words.h"
#include "viz/scene/scene_cache.h"
#include "viz/scene/score_table.h"
#include "viz/scene/sheet.h"
#include "viz/text/number.h"

enum { WORDS = 256 };

typedef struct {
  const Pen *pen;
  Pile pile; /* of the shown run, or its shape alone */
  PileMoment moment;
  ScoreTable table;
  TableGrid grid;
  Box box[VALUES_MAX];          /* places on chip, by index of snapshot.slots; width 0: it has none */
  double gap, label_x, label_y; /* where "on chip" ends: left of what is above the tile; 0: nowhere */
} Walk;

/* ---- In words ------------------------------------------------------------------------------------------------- */

/* "S = Q[5] K[3]ᵀ" with small indices. */
static void lower_indices(const char *from, char *to, size_t size) {
  size_t n = 0;
  for (bool low = false; *from && n + 4 < size; from++) {
    if (*from == '[' || *from == ']')
      low = *from == '[';
    else if (low && *from >= '0' && *from <= '9')
      n += (size_t)snprintf(to + n, size - n, "\xe2\x82%c", 0x80 + *from - '0'); /* U+2080, ... */
    else
      to[n++] = *from;
  }
  to[n] = '\0';
}

/* The one line of the program, or less of it. */
static void line_words(const Snapshot *now, int most_words, char words[WORDS]) {
  char text[WORDS] = "";
  if (!now->has_event) {
    words[0] = '\0';
    return;
  }
  if (now->event.kind == EVENT_SKIP)
    snprintf(text, sizeof text, "skip");
  else if (event_moves(now->event.kind))
    line_put(now->schedule, &now->event, (Phrase){text, sizeof text});
  else
    line_put_statement(now->schedule, &now->event, most_words, (Phrase){text, sizeof text});
  lower_indices(text, words, WORDS);
}

static void slot_name(const Snapshot *now, const SnapshotSlot *s, char words[WORDS]) {
  char text[WORDS];
  const bool is_tile = s->i >= 0 && s->j >= 0;
  const char *name = now->schedule->tensors[s->tensor].title;
  snprintf(text, sizeof text, "%s", name);
  if (s->is_filled && !is_tile && (s->i >= 0 || s->j >= 0))
    snprintf(text, sizeof text, "%s[%lld]", name, (long long)(s->i >= 0 ? s->i : s->j));
  lower_indices(text, words, WORDS);
}

static bool is_score(const Snapshot *now, int tensor) {
  return tensor < now->schedule->n_tensors && now->schedule->tensors[tensor].role == TENSOR_BETWEEN &&
         snapshot_lies(now, tensor) == LIES_BY_TILES;
}

static Wide elements_stored(const Snapshot *now, const Traffic *traffic) {
  Wide bytes = 0;
  for (int t = 0; t < now->schedule->n_tensors; t++)
    if (is_score(now, t)) bytes += traffic->write[t];
  return bytes / wide(now->grid.element_bytes);
}

static const char *caption_of(const Snapshot *now, bool is_stored) {
  const Event *e = &now->event;
  if (!is_stored) return now->step == now->n_steps ? "no score is ever carried" : "a score lives for one moment";
  if (!now->has_event || !event_moves(e->kind) || !is_score(now, e->tensor)) return "every score goes out and back";
  return e->kind == EVENT_LOAD ? "every score comes back" : "every score goes out";
}

/* ---- The chip --------------------------------------------------------------------------------------------------- */

static bool is_placed(const Snapshot *now, int k) {
  return now->slots[k].is_used && now->slots[k].slot_bytes > 0 && !now->schedule->tensors[k].is_stats;
}

/* In a row inputs by rows, tiles, and all else by rows; above it inputs by keys, below it what else lies by keys. */
typedef enum { LEFT = 0, TILES, RIGHT, ABOVE, BELOW, GROUPS } Group;

static Group group_of(const Snapshot *now, int k) {
  const SnapshotLies lies = snapshot_lies(now, k);
  const bool is_input = now->schedule->tensors[k].role == TENSOR_INPUT;
  if (lies == LIES_BY_KEYS) return is_input ? ABOVE : BELOW;
  if (lies == LIES_BY_TILES) return TILES;
  return lies == LIES_BY_ROWS && is_input ? LEFT : RIGHT;
}

/* Places at `scale` pixels an element, from (0, 0) on; returns what they take. K lies on its side above its tile, what
 * else lies by keys upright, from the first output on. */
static Box lay_chip(Walk *w, double scale) {
  const Snapshot *now = w->pen->now;
  const double rows = (double)now->grid.B_r, keys = (double)now->grid.B_c, least = 2;
  const int on_side = snapshot_operand(now, 1);
  double x[GROUPS] = {0}, first[GROUPS] = {0}, high[GROUPS] = {0}, right = 0;
  memset(w->box, 0, sizeof w->box);
  for (int group = LEFT; group < GROUPS; group++) {
    if (group <= RIGHT) x[group] = first[group] = group > LEFT ? x[group - 1] : 0;
    if (group == ABOVE) x[group] = first[RIGHT];
    if (group == BELOW) x[group] = first[TILES];
    for (int k = 0; k < now->schedule->n_values; k++) {
      if (!is_placed(now, k) || (int)group_of(now, k) != group) continue;
      const bool by_keys = group >= ABOVE, lies = by_keys && k == on_side;
      const double long_side = by_keys ? keys : rows,
                   deep = (double)now->slots[k].slot_bytes / (double)now->grid.element_bytes / long_side;
      Box box = {lies ? first[TILES] : x[group], 0, fmax(least, (lies ? long_side : deep) * scale),
                 fmax(least, (lies ? deep : long_side) * scale)};
      w->box[k] = box;
      if (!lies || box.x + box.width + w->gap > x[group]) x[group] = box.x + box.width + w->gap;
      high[group] = fmax(high[group], box.height);
      right = fmax(right, box.x + box.width);
    }
  }
  const double row_y = high[ABOVE] > 0 ? high[ABOVE] + w->gap : 0,
               row = fmax(high[LEFT], fmax(high[TILES], high[RIGHT])), below = row_y + row + w->gap;
  for (int k = 0; k < now->schedule->n_values; k++) {
    const Group group = group_of(now, k);
    w->box[k].y = group == ABOVE ? high[ABOVE] - w->box[k].height : group == BELOW ? below : row_y;
  }
  return (Box){0, 0, right, high[BELOW] > 0 ? below + high[BELOW] : row_y + row};
}

/* As large as the room allows. */
static void place_chip(Walk *w, Box room) {
  double low = 0, high = room.height;
  for (int n = 0; n < 24; n++) {
    const double scale = (low + high) / 2;
    const Box all = lay_chip(w, scale);
    *(all.width <= room.width && all.height <= room.height ? &low : &high) = scale;
  }
  const Box all = lay_chip(w, low);
  const double x = room.x + (room.width - all.width) / 2, y = room.y + (room.height - all.height) / 2;
  for (int k = 0; k < w->pen->now->schedule->n_values; k++) {
    if (w->box[k].width <= 0) continue;
    const Box b = w->box[k];
    const double left = round(x + b.x), top = round(y + b.y);
    if (group_of(w->pen->now, k) == TILES && w->label_x <= 0) w->label_x = left - w->gap, w->label_y = top - w->gap;
    w->box[k] = (Box){left, top, fmax(2, round(x + b.x + b.width) - left), fmax(2, round(y + b.y + b.height) - top)};
    pen_region(w->pen, HIT_SLOT, k, -1, -1, 0, w->box[k]);
  }
}

/* The part of a place that is held: what lies by keys fills from the left where it lies on its side. */
static Box held_part(const Walk *w, int k, const SnapshotSlot *s) {
  Box box = w->box[k];
  const double part = fmin(1, (double)s->held_bytes / (double)fmax(1, (double)s->slot_bytes));
  *(k == snapshot_operand(w->pen->now, 1) ? &box.width : &box.height) *= part;
  return box;
}

/* Of scores: vermillion in flight, amber where the event reads or sets them, grey as they wait. */
static Colour tile_colour(const Walk *w, int tensor, bool is_carried) {
  const Theme *t = w->pen->theme;
  const Snapshot *now = w->pen->now;
  bool is_lit = is_carried;
  if (snapshot_lies(now, tensor) == LIES_BY_TILES) {
    if (is_carried) return t->waste;
    is_lit = snapshot_subjects(now, &now->event) >> tensor & 1;
  } else if (now->schedule->tensors[tensor].role == TENSOR_OUTPUT)
    return theme_mix(t->background, t->series[INK_BLUE], is_carried ? 1 : 0.6);
  return is_lit ? t->tile[TILE_COLOUR_CURRENT] : theme_mix(t->background, t->axis, 0.75);
}

/* Never in smaller letters than other words; where these have no room, without its index, or not at all. */
static void draw_name(const Walk *w, Box box, Colour ink, bool is_large, const char *words) {
  const double letters = w->table.letters, wide = pen_words_width(w->pen, letters, true, words) / letters,
               size = fmax(letters,
                           fmin((is_large ? 1.9 : 1) * letters, fmin(0.55 * box.height, 0.86 * box.width / wide)));
  const size_t name = strcspn(words, "\xe2");
  char only[WORDS];
  if (size * wide <= box.width && size <= 0.9 * box.height) {
    pen_words(w->pen, size, ink, true, ANCHOR_MIDDLE, box.x + box.width / 2, box.y + box.height / 2 + 0.36 * size,
              words);
  } else if (words[name]) {
    snprintf(only, sizeof only, "%.*s", (int)name, words);
    draw_name(w, box, ink, is_large, only);
  }
}

/* What is in flight: a slot, or -1; *to_chip. */
static int flying(const Walk *w, bool *to_chip) {
  const Snapshot *now = w->pen->now;
  const double phase = w->pen->view->phase;
  if (!now->has_event || !now->event.bytes || !(phase > 0 && phase < 1)) return -1;
  *to_chip = now->event.kind == EVENT_LOAD;
  const SnapshotSlot *slots = *to_chip ? now->slots : now->slots_before;
  for (int k = 0; k < now->schedule->n_values; k++)
    if (w->box[k].width > 0 && slots[k].is_filled && slots[k].tensor == now->event.tensor) return k;
  return -1;
}

/* With an event that reads or changes a tile an edge goes over it, which comes and goes softly. */
static void draw_edge(const Pen *pen, int tensor, Box box) {
  const double phase = pen->view->phase, t = pen_thickness(pen, 3), alpha = fmin(1, 8 * fmin(phase, 1 - phase));
  if (!(alpha > 0)) return;
  const Box at = {round(box.x + pen_happened(pen) * (box.width - t)), box.y, t, box.height};
  pen_body(pen, BODY_LINE, tensor, at, alpha);
  pen_fill(pen, at, pen->theme->ink, alpha);
}

/* The event reads or changes it on chip, or the pointer is over it. */
static bool is_talked_of(const Pen *pen, int tensor) {
  const SceneHit *hover = &pen->view->hover;
  return ((hover->kind == HIT_TENSOR || hover->kind == HIT_SLOT) && hover->tensor == tensor) ||
         (pen->now->has_event && (snapshot_subjects(pen->now, &pen->now->event) >> tensor & 1));
}

static void draw_slot(const Walk *w, int k, bool is_away) {
  const Pen *pen = w->pen;
  const SnapshotSlot *s = &pen->now->slots[k], *old = &pen->now->slots_before[k];
  const Colour faint = theme_mix(pen->theme->background, pen->theme->axis, 0.6);
  const bool is_tile = group_of(pen->now, k) == TILES;
  char words[WORDS];
  slot_name(pen->now, s, words);
  if (!s->is_filled || is_away) {
    pen_frame(pen, w->box[k], faint, 1);
    if (!is_away) draw_name(w, w->box[k], pen->theme->ink_soft, is_tile, words);
    return;
  }
  const Box held = held_part(w, k, s);
  const bool is_new = !old->is_filled || old->tensor != s->tensor || old->i != s->i || old->j != s->j;
  const Colour colour = tile_colour(w, s->tensor, false);
  if (held.height < w->box[k].height || held.width < w->box[k].width || is_new) pen_frame(pen, w->box[k], faint, 1);
  const double alpha = is_new ? pen_happened(pen) : 1;
  pen_fill(pen, held, colour, alpha);
  pen_body(pen, BODY_TILE, s->tensor, held, alpha);
  const bool is_under = held.width > 0.6 * w->box[k].width && held.height > 0.6 * w->box[k].height;
  draw_name(w, w->box[k], is_under ? theme_on(colour) : pen->theme->ink_soft, is_tile, words);
  if (!is_new && (is_tile || s->is_touched) && is_talked_of(pen, s->tensor) && !pen->now->event.bytes)
    draw_edge(pen, s->tensor, held);
}

/* ---- Between ----------------------------------------------------------------------------------------------------- */

static int64_t first_of(int cell, int cells, int64_t blocks) { return (cell * blocks + cells - 1) / cells; }

/* Where the block of an event lies in memory. */
static Box home_of(const Walk *w, const Event *e) {
  const Snapshot *now = w->pen->now;
  const ProgramTensor *t = &now->schedule->tensors[e->tensor];
  const SnapshotLies lies = snapshot_lies(now, e->tensor);
  const int row = pile_cell(e->i < 0 ? 0 : e->i, w->table.rows, now->grid.T_r),
            column = pile_cell(e->j < 0 ? 0 : e->j, w->table.columns, now->grid.T_c);
  const TableSide side = lies == LIES_BY_KEYS ? TABLE_KEYS : TABLE_ROWS;
  if (lies == LIES_BY_TILES) return scores_cell(&w->grid, row, column);
  const bool is_out = t->role != TENSOR_INPUT && *w->table.out[side];
  return scores_bar(&w->grid, side, is_out, side == TABLE_KEYS ? column : row);
}

static void draw_flight(const Walk *w, int k, bool to_chip) {
  const Snapshot *now = w->pen->now;
  const int tensor = now->event.tensor;
  const SnapshotSlot *s = &(to_chip ? now->slots : now->slots_before)[k];
  const Box home = home_of(w, &now->event), place = held_part(w, k, s);
  const Box box = box_between(to_chip ? home : place, to_chip ? place : home, pen_happened(w->pen));
  const Colour colour = tile_colour(w, tensor, true);
  pen_body(w->pen, BODY_HOME, tensor, home, 1);
  pen_body(w->pen, BODY_TILE, tensor, box, 1);
  pen_fill(w->pen, box, colour, 1);
  draw_name(w, box, theme_on(colour), true, now->schedule->tensors[tensor].title);
}

/* From the cell at work to its tile on chip. */
static void draw_beam(const Walk *w) {
  const Snapshot *now = w->pen->now;
  cairo_t *cr = w->pen->cr;
  int k = 0;
  while (k < now->schedule->n_values && !(w->box[k].width > 0 && group_of(now, k) == TILES)) k++;
  if (!now->grid.at_work || now->grid.i < 0 || now->grid.j < 0 || w->grid.pitch <= 0) return;
  const Box from = scores_cell(&w->grid, pile_cell(now->grid.i, w->table.rows, now->grid.T_r),
                               pile_cell(now->grid.j, w->table.columns, now->grid.T_c));
  if (now->event.kind == EVENT_SKIP) { /* struck out instead */
    box_line(cr, w->pen->theme->ink_soft, 2 * w->pen->unit, from.x, from.y + from.height / 2,
             from.x + pen_happened(w->pen) * from.width, from.y + from.height / 2);
    return;
  }
  if (k == now->schedule->n_values) return;
  const Box to = w->box[k];
  if (w->pen->is_tall) {
    cairo_move_to(cr, from.x, from.y + from.height);
    cairo_line_to(cr, from.x + from.width, from.y + from.height);
    cairo_line_to(cr, to.x + to.width, to.y);
    cairo_line_to(cr, to.x, to.y);
  } else {
    cairo_move_to(cr, from.x + from.width, from.y);
    cairo_line_to(cr, to.x, to.y);
    cairo_line_to(cr, to.x, to.y + to.height);
    cairo_line_to(cr, from.x + from.width, from.y + from.height);
  }
  theme_use(cr, w->pen->theme->tile[TILE_COLOUR_CURRENT], 0.13);
  cairo_fill(cr);
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* Tiles that can be pointed at: each by itself, or where a cell holds several the one under the pointer. */
static void announce_tile(const Walk *w, int64_t i, int64_t j) {
  const SnapshotGrid *g = &w->pen->now->grid;
  const double high = w->grid.pitch * w->table.rows / (double)g->T_r,
               across = w->grid.pitch * w->table.columns / (double)g->T_c;
  if (i < 0 || j < 0 || i >= g->T_r || j >= g->T_c) return;
  Box box = {w->grid.x + across * (double)j, w->grid.y + high * (double)i, across, high};
  if (w->table.rows == g->T_r && w->table.columns == g->T_c) box = scores_cell(&w->grid, (int)i, (int)j);
  pen_region(w->pen, HIT_TILE, 0, i, j, 0, box);
}

static void announce_table(const Walk *w) {
  const Pen *pen = w->pen;
  const Snapshot *now = pen->now;
  const SnapshotGrid *g = &now->grid;
  if (w->grid.pitch <= 0) return;
  if ((g->T_r <= TABLE_CELLS && g->T_c <= TABLE_CELLS) || pen->view->regions) { /* of a cell its first tile */
    for (int row = 0; row < w->table.rows; row++)
      for (int column = 0; column < w->table.columns; column++)
        announce_tile(w, first_of(row, w->table.rows, g->T_r), first_of(column, w->table.columns, g->T_c));
  } else if (pen->hit) {
    announce_tile(w, (int64_t)floor((pen->hit_y - w->grid.y) / w->grid.pitch / w->table.rows * (double)g->T_r),
                  (int64_t)floor((pen->hit_x - w->grid.x) / w->grid.pitch / w->table.columns * (double)g->T_c));
  } else if (pen->view->hover.kind == HIT_TILE)
    announce_tile(w, pen->view->hover.i, pen->view->hover.j);
  pen_part(pen, "HBM", box_at(w->grid.x, w->grid.y, w->grid.pitch * w->table.columns, w->grid.pitch * w->table.rows));
  bool is_taken[TABLE_SIDES][2] = {{false}};
  for (int t = 0; t < now->schedule->n_tensors; t++) { /* the first of those that lie along a side */
    const SnapshotLies lies = snapshot_lies(now, t);
    const ProgramTensor *of = &now->schedule->tensors[t];
    const bool is_out = of->role == TENSOR_OUTPUT, by_keys = lies == LIES_BY_KEYS;
    if (of->role == TENSOR_BETWEEN || of->is_stats || (lies != LIES_BY_ROWS && !by_keys) || is_taken[by_keys][is_out])
      continue;
    is_taken[by_keys][is_out] = true;
    const int cells = by_keys ? w->table.columns : w->table.rows;
    const int64_t blocks = by_keys ? g->T_c : g->T_r;
    for (int k = 0; k < cells; k++) {
      const int64_t block = first_of(k, cells, blocks);
      pen_region(pen, HIT_TENSOR, t, by_keys ? -1 : block, by_keys ? block : -1, 0,
                 scores_bar(&w->grid, by_keys ? TABLE_KEYS : TABLE_ROWS, is_out, k));
    }
  }
}

/* In place of whole hatched cells: in the lowest stretch of so many rows that has more room, so that hatched ones are
 * around it; else in the widest. */
static void say_never(const Walk *w) {
  static const char WHAT[] = "never loaded";
  const double size = w->table.letters, pitch = w->grid.pitch;
  if (pitch <= 0) return;
  const int high = (int)ceil(1.2 * size / pitch),
            wide = (int)ceil((pen_words_width(w->pen, size, false, WHAT) + 0.6 * size) / pitch);
  int best = 0, row = 0, first = 0;
  for (int i = 0; i + high <= w->table.rows; i++)
    for (int j = 0, n = 0; j < w->table.columns; j++) {
      bool is_never = true;
      for (int k = 0; k < high; k++) is_never = is_never && w->table.is_never[i + k][j];
      n = is_never ? n + 1 : 0;
      if (n > best || (n > wide && i > row)) best = n, row = i, first = j + 1 - n;
    }
  if (best < wide) return;
  first += (best - wide) / 2;
  const Box from = scores_cell(&w->grid, row, first), to = scores_cell(&w->grid, row + high - 1, first + wide - 1);
  const Box ground = {from.x, from.y, to.x + to.width - from.x, to.y + to.height - from.y};
  pen_part(w->pen, WHAT, ground);
  pen_fill(w->pen, ground, w->pen->theme->background, 1);
  pen_words(w->pen, size, w->pen->theme->ink_soft, false, ANCHOR_MIDDLE, ground.x + ground.width / 2,
            ground.y + ground.height / 2 + 0.36 * size, WHAT);
}

/* ---- Together ---------------------------------------------------------------------------------------------------- */

/* Parts of the page: edges of the table and of the chip, and the base line of the program's. */
typedef struct {
  double table, table_end, table_right, chip, chip_end, chip_left, line;
} Parts;

static void take_table(Walk *w) {
  const Snapshot *now = w->pen->now;
  const SnapshotRun *own = snapshot_own_run(now);
  Piles room = {0};
  if (w->pen->hit) { /* its shape is enough */
    w->pile = (Pile){.schedule = now->schedule,
                     .rows = (int)fmin(TABLE_CELLS, (double)now->grid.T_r),
                     .columns = (int)fmin(TABLE_CELLS, (double)now->grid.T_c)};
    table_of_pile(&w->table, &w->pile, &w->moment);
    return;
  }
  const int run = (int)(own - now->runs);
  const Piles *piles = memo_piles(w->pen->view->memo, now, run, &room);
  w->pile = piles->piles[run];
  pile_at_step(&w->pile, now->step - now->has_event, now->has_event ? pen_happened(w->pen) : 0, &w->moment);
  table_of_pile(&w->table, &w->pile, &w->moment);
  if (!w->pile.is_known && now->grid.at_work && now->grid.i >= 0 && now->grid.j >= 0) {
    w->table.row = pile_cell(now->grid.i, w->table.rows, now->grid.T_r);
    w->table.column = pile_cell(now->grid.j, w->table.columns, now->grid.T_c);
    w->table.glow[w->table.row][w->table.column] = 1;
  }
  piles_free(&room);
}

/* In the largest letters that fit, of all of the line or of a part of it; smaller than other words it is left out. */
static void draw_line(const Walk *w, double middle, double width, double base) {
  char words[WORDS];
  const double size = 1.25 * w->table.letters;
  line_words(w->pen->now, 12, words);
  if (pen_words_width(w->pen, size, true, words) > width) line_words(w->pen->now, 0, words);
  const double fits = fmin(1, width / fmax(1, pen_words_width(w->pen, size, true, words)));
  if (fits * size < w->table.letters) return;
  pen_words(w->pen, fits * size, w->pen->theme->ink, true, ANCHOR_MIDDLE, middle, base, words);
  pen_region(w->pen, HIT_LINE, 0, -1, -1, w->pen->now->code_line,
             box_at(middle - width / 2, base - size, width, 1.4 * size));
}

static void draw_words(const Walk *w, Box page) {
  const Snapshot *now = w->pen->now;
  const Theme *t = w->pen->theme;
  const bool is_stored = elements_stored(now, &now->whole) > 0;
  char title[PROGRAM_TITLE_BYTES], number[NUMBER_CHARS];
  scores_title(now->schedule, title);
  Sheet sheet = {.title = w->pen->view->title ? w->pen->view->title : title};
  bool has_scores = false;
  for (int k = 0; k < now->schedule->n_values; k++) has_scores |= snapshot_lies(now, k) == LIES_BY_TILES;
  if (has_scores) { /* a walk without a table of scores says nothing of them */
    snprintf(number, sizeof number, "%s", number_count(elements_stored(now, &now->traffic)).text);
    sheet.caption[0] = caption_of(now, is_stored);
    sheet.caption[1] = is_stored ? "scores: out and back" : "scores: for a moment";
    sheet.colour = is_stored ? t->waste_text : t->warn;
    sheet.number = number, sheet.unit = "scores stored";
  }
  pen_sheet(w->pen, page, &sheet);
}

static void draw(const Pen *pen) {
  static const Parts WIDE = {.17, .8, .5, .17, .67, .54, .745}, TALL = {.085, .41, 1, .435, .69, 0, .745};
  const Parts *p = pen->is_tall ? &TALL : &WIDE;
  const Box page = pen_page_bare(pen);
  const double margin = (pen->is_tall ? 0.06 : 0.055) * page.width;
  Walk w = {.pen = pen};
  w.table.letters = sheet_letters(pen, page);
  w.gap = fmax(2, round(0.36 * w.table.letters));
  take_table(&w);
  const double end = pen->is_tall ? page.width - margin : p->table_right * page.width,
               left = pen->is_tall ? margin : p->chip_left * page.width;
  /* Below the title, which on a tall page goes by its width (pen_sheet). */
  const double title = pen->is_tall ? 0.02 * page.height + 0.08 * page.width + 0.9 * w.table.letters : 0,
               top = fmax(p->table * page.height, title);
  const Box table = {page.x + margin, page.y + top, end - margin, p->table_end * page.height - top},
            chip = {page.x + left, page.y + p->chip * page.height, page.width - margin - left,
                    (p->chip_end - p->chip) * page.height};
  w.grid = draw_table(pen, table, &w.table);
  announce_table(&w);
  place_chip(&w, chip);
  if (!pen->hit) {
    bool to_chip = false;
    const int away = flying(&w, &to_chip);
    draw_beam(&w);
    draw_table_names(&w.grid);
    say_never(&w);
    for (int k = 0; k < pen->now->schedule->n_values; k++)
      if (w.box[k].width > 0) draw_slot(&w, k, k == away);
    if (away >= 0) draw_flight(&w, away, to_chip);
    draw_words(&w, page);
    const double label = pen_words_width(pen, w.table.letters, false, "on chip"),
                 from = page.x + (pen->is_tall ? margin : end),
                 names = *w.table.out[TABLE_KEYS]
                             ? w.grid.y + w.table.rows * w.grid.pitch + w.grid.gap + w.grid.bar + w.table.letters
                             : 0;
    if (w.label_x - label > from && (!pen->is_tall || w.label_y - w.table.letters > names))
      pen_words(pen, w.table.letters, pen->theme->ink_soft, false, ANCHOR_END, w.label_x, w.label_y, "on chip");
  }
  draw_line(&w, chip.x + chip.width / 2, chip.width, page.y + p->line * page.height);
}

const Scene WALK_SCENE = {.title = "One table, tile by tile", .draw = draw};
