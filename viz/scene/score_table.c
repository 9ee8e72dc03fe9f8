#include "viz/scene/score_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

void table_names(ScoreTable *table, const Schedule *s) {
  for (int t = 0; t < s->n_tensors; t++) {
    const ProgramTensor *of = &s->tensors[t];
    const uint8_t blocks = sides_blocks(of->rows, of->cols);
    if (!of->is_moved || of->is_stats || of->role == TENSOR_BETWEEN || (blocks != IN_I && blocks != IN_J)) continue;
    char *to = (of->role == TENSOR_INPUT ? table->in : table->out)[blocks == IN_J ? TABLE_KEYS : TABLE_ROWS];
    if (strlen(to) + strlen(of->title) + 3 < TABLE_NAME)
      snprintf(to + strlen(to), TABLE_NAME - strlen(to), "%s%s", *to ? ", " : "", of->title);
  }
}

/* ---- Cells -------------------------------------------------------------------------------------------------- */

typedef struct {
  const Pen *pen;
  const ScoreTable *table;
  double x, y, pitch, gap, bar, line; /* of the cells' corner */
} Grid;

static Box cell_box(const Grid *g, int row, int column) {
  const double x = floor(g->x + column * g->pitch), y = floor(g->y + row * g->pitch);
  return (Box){x, y, floor(g->x + (column + 1) * g->pitch) - x - g->line * 2,
               floor(g->y + (row + 1) * g->pitch) - y - g->line * 2};
}

static void draw_cell(const Grid *g, int row, int column) {
  const Theme *t = g->pen->theme;
  const Box box = cell_box(g, row, column);
  const double burnt = g->table->burnt[row][column], glow = g->table->glow[row][column];
  const Colour faint = theme_mix(t->background, t->axis, 0.6);
  if (g->table->is_never[row][column]) {
    cairo_rectangle(g->pen->cr, box.x, box.y, box.width, box.height);
    pen_hatch_path(g->pen, box, t->background, faint);
    cairo_new_path(g->pen->cr);
    return;
  }
  const bool is_empty = burnt <= 0 && glow < 1;
  if (burnt > 0) pen_fill(g->pen, box, t->waste, (1 + 2 * burnt) / 3);
  if (glow > 0) pen_fill(g->pen, box, t->tile[TILE_COLOUR_CURRENT], glow);
  if (is_empty) pen_frame(g->pen, box, faint, 1);
}

/* A bar along a side: what lies there, amber at work; or what goes out, blue as far as it is stored. */
static void draw_bar(const Grid *g, TableSide side, bool is_out, int cell) {
  const Theme *t = g->pen->theme;
  const ScoreTable *table = g->table;
  Box box = side == TABLE_ROWS ? cell_box(g, cell, 0) : cell_box(g, 0, cell);
  if (side == TABLE_ROWS) {
    box.x = floor(is_out ? g->x + table->columns * g->pitch + g->gap : g->x - g->gap - g->bar);
    box.width = floor(g->bar);
  } else {
    box.y = floor(is_out ? g->y + table->rows * g->pitch + g->gap : g->y - g->gap - g->bar);
    box.height = floor(g->bar);
  }
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

void draw_table(const Pen *pen, Box box, const ScoreTable *table) {
  const Theme *t = pen->theme;
  const double size = table->letters, pad = 0.35 * size;
  const bool has_below = *table->out[TABLE_KEYS];
  Grid g = {.pen = pen, .table = table, .line = fmax(1, round(size / 28))};
  const double above = pen_words_width(pen, size, false, table->in[TABLE_KEYS]) + pad,
               left = pen_words_width(pen, size, false, table->in[TABLE_ROWS]) + 2 * pad,
               right = pen_words_width(pen, size, false, table->out[TABLE_ROWS]) + pad;
  /* the bars and gaps are 1.1 and 0.5 of a cell of at most 16 */
  g.pitch = fmin((box.width - fmax(left, above) - right) / (table->columns + 1.6),
                 (box.height - (has_below ? size : 0)) / (table->rows + (has_below ? 1.7 : 0.85)));
  g.pitch = fmin(g.pitch, box.height / 4);
  if (g.pitch < 2) return;
  g.bar = fmax(3, 0.55 * g.pitch);
  g.gap = fmax(2, 0.25 * g.pitch);
  g.x = floor(box.x + fmax(above, left + g.bar + g.gap));
  g.y = floor(box.y + g.bar + g.gap);
  for (int row = 0; row < table->rows; row++)
    for (int column = 0; column < table->columns; column++)
      if (!pen->hit) draw_cell(&g, row, column);
  for (int side = 0; side < TABLE_SIDES; side++)
    for (int k = 0; k < (side == TABLE_ROWS ? table->rows : table->columns); k++) {
      if (*table->in[side]) draw_bar(&g, (TableSide)side, false, k);
      if (*table->out[side]) draw_bar(&g, (TableSide)side, true, k);
    }
  const double bottom = g.y + table->rows * g.pitch + g.gap, above_y = box.y + g.bar / 2 + 0.36 * size,
               base = fmax(g.y + g.pitch / 2 + 0.36 * size, above_y + size);
  pen_words(pen, size, t->ink_soft, false, ANCHOR_END, g.x - pad, above_y, table->in[TABLE_KEYS]);
  pen_words(pen, size, t->ink_soft, false, ANCHOR_END, g.x - g.gap - g.bar - pad, base, table->in[TABLE_ROWS]);
  pen_words(pen, size, t->ink_soft, false, ANCHOR_START, g.x + table->columns * g.pitch + g.gap + g.bar + pad, base,
            table->out[TABLE_ROWS]);
  if (has_below)
    pen_words(pen, size, t->ink_soft, false, ANCHOR_START, g.x, bottom + g.bar + 0.95 * size, table->out[TABLE_KEYS]);
}
