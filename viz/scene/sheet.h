/* The frame of a scene with one idea: its name, where it is from, one sentence, one number. Internal to viz/scene.
 *
 *     Name                     note         sizes are parts of the height; of a tall page, where all stand below each
 *      .  the picture  .                    other, of the width. A sentence that meets the number is said shorter. */
#ifndef TILEWALK_VIZ_SCENE_SHEET_H
#define TILEWALK_VIZ_SCENE_SHEET_H

#include "viz/scene/pen.h"

typedef struct {
  const char *title, *note, *caption[2]; /* the sentence, and shorter; NULL: none */
  Colour colour;                         /* of the sentence */
  const char *number, *unit;             /* "36 %", "idle" */
} Sheet;

/* The size of all other words. */
double sheet_letters(const Pen *pen, Box page);

/* Draws all but the picture, whose place is returned. `page` is pen_page_bare's. */
Box pen_sheet(const Pen *pen, Box page, const Sheet *sheet);

#endif
