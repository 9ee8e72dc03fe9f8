/* Shared by the files that draw the softmax of a row (draw_softmax). */
#ifndef TILEWALK_VIZ_SCENE_SOFTMAX_VIEW_H
#define TILEWALK_VIZ_SCENE_SOFTMAX_VIEW_H

#include "viz/scene/pen.h"

typedef struct {
  char text[PROGRAM_NAME_BYTES];
} Letters;

/* The first of these names, without subscripts and prime. */
Letters softmax_letters(const Snapshot *now, uint64_t names);

/* Three digits behind the point, fewer of larger numbers; "–": none. */
const char *softmax_number(double value, char *text, size_t size);

/* The row's scores over its weights, over the same columns. */
void softmax_draw_row(const Pen *pen, Box box);

/* The formulas of the step with this row's numbers, and l and O before it and after it. */
void softmax_draw_formulas(const Pen *pen, Box box, bool is_large);
void softmax_draw_O(const Pen *pen, Box box);

/* m after each tile: of rows of this tile, or of the large row alone. */
void softmax_draw_small_rows(const Pen *pen, Box box);
void softmax_draw_history(const Pen *pen, Box box);

/* Of a program that is no softmax: every value of one column, and the largest of a tile. */
void softmax_draw_values(const Pen *pen, Box box, bool is_large);

#endif
