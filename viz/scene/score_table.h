/* A table of scores with what lies along its sides, as all scenes draw it. Internal to viz/scene.
 *
 *     K, V ▬ ▬ ▬
 *       Q ▮ □ ■ ▨  ▮ O      empty, carried, glowing, or hatched: nobody ever comes there */
#ifndef TILEWALK_VIZ_SCENE_SCORE_TABLE_H
#define TILEWALK_VIZ_SCENE_SCORE_TABLE_H

#include "viz/scene/pen.h"

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

/* The names of a program's tensors that lie along a side, as many as `room` letters have. */
void table_names(ScoreTable *table, const Schedule *schedule);

void draw_table(const Pen *pen, Box box, const ScoreTable *table);

/* One line in any size, and how wide it is. */
double pen_words(const Pen *pen, double size, Colour colour, bool bold, Anchor anchor, double x, double y,
                 const char *text);
double pen_words_width(const Pen *pen, double size, bool bold, const char *text);

#endif
