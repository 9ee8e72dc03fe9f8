#include "viz/scene/score_table.h"

#include <stdio.h>

#include "sim/base/text_add.h"
#include "sim/base/ascii.h"

double pen_words_width(const Pen *pen, double size, bool bold, const char *text) {
  const Lettering l = {.family = pen->theme->sans, .size = size, .bold = bold};
  return letter_measure(pen->cr, &l, text).width;
}

double pen_words(const Pen *pen, double size, Colour colour, bool bold, Anchor anchor, double x, double y,
                 const char *text) {
  const Lettering l = {.family = pen->theme->sans, .size = size, .bold = bold, .anchor = anchor};
  if (pen->hit || !*text) return 0;
  theme_use(pen->cr, colour, 1);
  return letter_draw(pen->cr, &l, x, y, text).width;
}

/* ---- Names ------------------------------------------------------------------------------------------------- */

static void table_names(ScoreTable *table, const Schedule *s) {
  for (int t = 0; t < s->n_tensors; t++) {
    const ProgramTensor *of = &s->tensors[t];
    const uint8_t blocks = sides_blocks(of->rows, of->cols);
    if (!of->is_moved || of->is_stats || of->role == TENSOR_BETWEEN || (blocks != IN_I && blocks != IN_J)) continue;
    char *to = (of->role == TENSOR_INPUT ? table->in : table->out)[blocks == IN_J ? TABLE_KEYS : TABLE_ROWS];
    if (strlen(to) + strlen(of->title) + 3 < TABLE_NAME) text_add(to, TABLE_NAME, "%s%s", *to ? ", " : "", of->title);
  }
}

const char *scores_title(const Schedule *s, char title[PROGRAM_TITLE_BYTES]) {
  static const char REST[] = " attention";
  snprintf(title, PROGRAM_TITLE_BYTES, "%s", s->title);
  const size_t n = strlen(title), rest = sizeof REST - 1;
  if (n > rest && strcmp(title + n - rest, REST) == 0) title[n - rest] = '\0';
  title[0] = (char)ascii_upper(title[0]);
  return title;
}

/* ---- From a run ----------------------------------------------------------------------------------------------- */

void table_of_pile(ScoreTable *table, const Pile *pile, const PileMoment *m) {
  static const double GLOWS[PILE_TRAIL] = {1, 0.55, 0.35, 0.22, 0.12};
  table->rows = pile->rows, table->columns = pile->columns;
  table->row = table->column = -1;
  table_names(table, pile->schedule);
  if (!pile->is_known) return;
  memcpy(table->burnt, m->burnt, sizeof table->burnt);
  memcpy(table->stored, m->stored, sizeof table->stored);
  for (int row = 0; row < pile->rows; row++)
    for (int column = 0; column < pile->columns; column++)
      table->is_never[row][column] = !pile->is_visited[row][column];
  for (int k = m->n_trail - 1; k >= 0 && !m->is_over; k--) {
    table->row = m->trail[k].row, table->column = m->trail[k].column;
    table->glow[table->row][table->column] = GLOWS[k];
  }
}

/* ---- Cells -------------------------------------------------------------------------------------------------- */

Box scores_cell(const TableGrid *g, int row, int column) {
  const double x = floor(g->x + column * g->pitch), y = floor(g->y + row * g->pitch);
  return (Box){x, y, floor(g->x + (column + 1) * g->pitch) - x - g->line * 2,
               floor(g->y + (row + 1) * g->pitch) - y - g->line * 2};
}

static void draw_never(const TableGrid *g) {
  const Theme *t = g->pen->theme;
  for (int row = 0; row < g->table->rows; row++)
    for (int column = 0; column < g->table->columns; column++)
      if (g->table->is_never[row][column]) box_path(g->pen->cr, scores_cell(g, row, column));
  pen_hatch_path(g->pen, t->background, theme_mix(t->background, t->axis, 0.6));
}

static void draw_cell(const TableGrid *g, int row, int column) {
  const Theme *t = g->pen->theme;
  const Box box = scores_cell(g, row, column);
  const double burnt = g->table->burnt[row][column], glow = g->table->glow[row][column];
  const Colour faint = theme_mix(t->background, t->axis, 0.6);
  const bool is_empty = burnt <= 0 && glow < 1;
  if (burnt > 0) pen_fill(g->pen, box, t->waste, (1 + 2 * burnt) / 3);
  if (glow > 0) pen_fill(g->pen, box, t->tile[TILE_COLOUR_CURRENT], glow);
  if (is_empty) pen_frame(g->pen, box, faint, 1);
}

Box scores_bar(const TableGrid *g, TableSide side, bool is_out, int cell) {
  Box box = side == TABLE_ROWS ? scores_cell(g, cell, 0) : scores_cell(g, 0, cell);
  if (side == TABLE_ROWS) {
    box.x = floor(is_out ? g->x + g->table->columns * g->pitch + g->gap : g->x - g->gap - g->bar);
    box.width = floor(g->bar);
  } else {
    box.y = floor(is_out ? g->y + g->table->rows * g->pitch + g->gap : g->y - g->gap - g->bar);
    box.height = floor(g->bar);
  }
  return box;
}

/* What lies along a side, amber at work; or what goes out, blue as far as it is stored. */
static void draw_bar(const TableGrid *g, TableSide side, bool is_out, int cell) {
  const Theme *t = g->pen->theme;
  const ScoreTable *table = g->table;
  const Box box = scores_bar(g, side, is_out, cell);
  if (!is_out) {
    const bool at_work = cell == (side == TABLE_ROWS ? table->row : table->column);
    pen_fill(g->pen, box, at_work ? t->tile[TILE_COLOUR_CURRENT] : theme_mix(t->background, t->axis, 0.75), 1);
    return;
  }
  Box done = box;
  const double part = table->stored[side][cell];
  *(side == TABLE_ROWS ? &done.height : &done.width) *= part;
  pen_fill(g->pen, done, t->series[INK_BLUE], 1);
  if (part < 1) pen_frame(g->pen, box, theme_mix(t->background, t->axis, 0.6), 1);
}

TableGrid draw_table(const Pen *pen, Box box, const ScoreTable *table) {
  const double size = table->letters, pad = 0.35 * size;
  const bool has_below = *table->out[TABLE_KEYS];
  TableGrid g = {.pen = pen, .table = table, .line = fmax(1, round(size / 28))};
  const double above = pen_words_width(pen, size, false, table->in[TABLE_KEYS]) + pad,
               left = pen_words_width(pen, size, false, table->in[TABLE_ROWS]) + 2 * pad,
               right = pen_words_width(pen, size, false, table->out[TABLE_ROWS]) + pad;
  /* the bars and gaps are 1.1 and 0.5 of a cell of at most 16 */
  g.pitch = fmin((box.width - fmax(left, above) - right) / (table->columns + 1.6),
                 (box.height - (has_below ? size : 0)) / (table->rows + (has_below ? 1.7 : 0.85)));
  g.pitch = fmin(g.pitch, box.height / 4);
  if (g.pitch < 2) return (TableGrid){0};
  g.bar = fmax(fmin(8, g.pitch), 0.55 * g.pitch); /* wide enough to be pointed at */
  g.gap = fmax(2, 0.25 * g.pitch);
  g.x = floor(box.x + fmax(above, left + g.bar + g.gap));
  g.y = floor(box.y + g.bar + g.gap);
  for (int row = 0; row < table->rows; row++)
    for (int column = 0; column < table->columns; column++)
      if (!pen->hit && !table->is_never[row][column]) draw_cell(&g, row, column);
  if (!pen->hit) draw_never(&g);
  for (int side = 0; side < TABLE_SIDES; side++)
    for (int k = 0; k < (side == TABLE_ROWS ? table->rows : table->columns); k++) {
      if (*table->in[side]) draw_bar(&g, (TableSide)side, false, k);
      if (*table->out[side]) draw_bar(&g, (TableSide)side, true, k);
    }
  return g;
}

void draw_table_names(const TableGrid *g) {
  if (g->pitch <= 0) return;
  const Pen *pen = g->pen;
  const ScoreTable *table = g->table;
  const Colour ink = pen->theme->ink_soft;
  const double size = table->letters, pad = 0.35 * size, right = g->x + table->columns * g->pitch + g->gap + g->bar,
               bottom = g->y + table->rows * g->pitch + g->gap, above = g->y - g->gap - g->bar / 2 + 0.36 * size,
               base = fmax(g->y + g->pitch / 2 + 0.36 * size, above + size);
  pen_words(pen, size, ink, false, ANCHOR_END, g->x - pad, above, table->in[TABLE_KEYS]);
  pen_words(pen, size, ink, false, ANCHOR_END, g->x - g->gap - g->bar - pad, base, table->in[TABLE_ROWS]);
  pen_words(pen, size, ink, false, ANCHOR_START, right + pad, base, table->out[TABLE_ROWS]);
  pen_words(pen, size, ink, false, ANCHOR_START, g->x, bottom + g->bar + 0.95 * size, table->out[TABLE_KEYS]);
}
