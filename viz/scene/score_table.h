/* A table of scores with what lies along its sides, as all scenes draw it. Internal to viz/scene.
 *
 *     K, V ▬ ▬ ▬
 *       Q ▮ □ ■ ▨  ▮ O      empty, carried, glowing, or hatched: nobody ever comes there */
#ifndef TILEWALK_VIZ_SCENE_SCORE_TABLE_H
#define TILEWALK_VIZ_SCENE_SCORE_TABLE_H

#include "viz/scene/pen.h"
#include "viz/scene/pile.h"

enum { TABLE_CELLS = 16, TABLE_NAME = 32 };

typedef enum { TABLE_ROWS = 0, TABLE_KEYS, TABLE_SIDES } TableSide;

typedef struct {
  int rows, columns, row, column;                                 /* that are at work; -1: none */
  char in[TABLE_SIDES][TABLE_NAME], out[TABLE_SIDES][TABLE_NAME]; /* tensors along the sides; "": none */
  bool is_never[TABLE_CELLS][TABLE_CELLS];
  double burnt[TABLE_CELLS][TABLE_CELLS], glow[TABLE_CELLS][TABLE_CELLS]; /* 0 to 1 */
  double stored[TABLE_SIDES][TABLE_CELLS];
  double letters; /* size of the names */
} ScoreTable;

/* How far a run is: what it has carried and stored, and the cells that it has just left; of a walk that is too long to
 * be known nothing. */
void table_of_pile(ScoreTable *table, const Pile *pile, const PileMoment *moment);

/* Where the table lies. */
typedef struct {
  const Pen *pen;
  const ScoreTable *table;
  double x, y, pitch, gap, bar, line; /* of the cells' corner; pitch 0: there is no room */
} TableGrid;
TableGrid draw_table(const Pen *pen, Box box, const ScoreTable *table);
void draw_table_names(const TableGrid *grid); /* over what may lie between */
Box scores_cell(const TableGrid *grid, int row, int column);
Box scores_bar(const TableGrid *grid, TableSide side, bool is_out, int cell);

/* A program's title as a picture's: "Standard", "FlashAttention-2". */
const char *scores_title(const Schedule *schedule, char title[PROGRAM_TITLE_BYTES]);

/* One line in any size, and how wide it is. */
double pen_words(const Pen *pen, double size, Colour colour, bool bold, Anchor anchor, double x, double y,
                 const char *text);
double pen_words_width(const Pen *pen, double size, bool bold, const char *text);

#endif
