/* A prediction that is drawn: tiles marked on a grid, or a height for each of a few columns (a curve; one column is a
 * bar).
 *
 *     tiles     0 . # # #        columns   64  . . . #
 *               1 . . # #                  48  . . . #
 *               2 . . . #                  32  . . # #
 *               3 . . . .                  16  # # # #
 *                 0 1 2 3                      1K 2K 4K 8K
 *
 * A learner presses cells, or types: "0:1-3 1:2,3 2:3" are tiles (row: columns), "8, 16, 32, 64" are heights. What was
 * pressed is written as it would be typed, so that the typed text is all that is kept. */
#ifndef TILEWALK_LESSONS_ENGINE_SKETCH_H
#define TILEWALK_LESSONS_ENGINE_SKETCH_H

#include "lessons/engine/answer.h"

enum {
  SKETCH_SIDE_MAX = 12,    /* rows, columns */
  SKETCH_TEXT_BYTES = 200, /* whatever is drawn, as typed */
  SKETCH_LABEL_BYTES = 16,
  SKETCH_LEVELS = 8, /* rows of a sketch of heights */
  SKETCH_PICTURE_BYTES = SKETCH_SIDE_MAX * (SKETCH_SIDE_MAX + 1) + 1
};

/* All zero: none. */
typedef struct {
  int rows, columns;
  bool has_heights;
  char label[SKETCH_SIDE_MAX][SKETCH_LABEL_BYTES]; /* of columns, where heights are drawn */
  AnswerUnit unit;                                 /* of heights, */
  double top;                                      /* and the upper edge of the highest row, in that unit */
} Sketch;

typedef struct {
  bool is_marked[SKETCH_SIDE_MAX][SKETCH_SIDE_MAX];
  double height[SKETCH_SIDE_MAX]; /* in the sketch's unit */
} SketchDrawing;

/* "4 x 8": rows and columns of tiles. "1K, 2K, 4K": the columns of heights up to `top`, which is set elsewhere. */
Status sketch_tiles(const char *text, Sketch *sketch, Error *error);
Status sketch_columns(const char *text, Sketch *sketch, Error *error);

/* Reads what was typed; "none" marks no tile. The message of STATUS_BAD_REQUEST is for the learner. */
Status sketch_read(const Sketch *sketch, const char *typed, SketchDrawing *drawing, Error *error);
void sketch_write(const Sketch *sketch, const SketchDrawing *drawing, char text[SKETCH_TEXT_BYTES]);

/* Turns a tile, or sets its column's height: cells are counted row by row, from the upper left. */
void sketch_press(const Sketch *sketch, SketchDrawing *drawing, int cell);

/* The cells as letters, a line a row: '#' drawn, '.' not. With `right` '#' is drawn and right, '+' was left out, '-' is
 * too much. */
void sketch_picture(const Sketch *sketch, const SketchDrawing *drawn, const SketchDrawing *right,
                    char picture[SKETCH_PICTURE_BYTES]);

/* What stands beside a row, or below a column. */
void sketch_row_label(const Sketch *sketch, int row, char text[SKETCH_LABEL_BYTES]);
void sketch_column_label(const Sketch *sketch, int column, char text[SKETCH_LABEL_BYTES]);

/* Whether all tiles are as computed, or each height fills as many rows or lies within a tenth; if not, `message` says
 * how far off. */
bool sketch_is_right(const Sketch *sketch, const SketchDrawing *drawn, const SketchDrawing *right, char *message,
                     size_t size);

#endif
