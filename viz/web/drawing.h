/* cairo's calls written down as a list of numbers, for a canvas that draws them later: the browser's.
 *
 *     scene_draw(..., cr, ...)  ->  cairo_rectangle, cairo_fill, ...  ->  drawing_list(cr)  ->  canvas 2D, SVG, a test
 *
 * Linked in place of cairo, drawing.c gives the calls that scenes, charts and controls make, with cairo's meanings.
 * Points are in pixels: the matrix is applied when a path is made, and may only shift and scale. Surfaces are lists
 * too.
 *
 * NOT MODELLED, since nothing draws so: operators other than over, gradients, curves other than circles, groups, dashes
 * under a scale, antialiasing switched off. */
#ifndef TILEWALK_VIZ_WEB_DRAWING_H
#define TILEWALK_VIZ_WEB_DRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairo.h>

/* What a list holds: an operation plus DRAWING_OPS times the count of its numbers; then those. viz/web/page/canvas.js
 * reads the same. */
typedef enum {
  DRAWING_SAVE = 1,
  DRAWING_RESTORE,
  DRAWING_BEGIN,     /* a new path */
  DRAWING_MOVE,      /* x y */
  DRAWING_LINE,      /* x y */
  DRAWING_RECTANGLE, /* x y width height */
  DRAWING_ARC,       /* x y radius from to */
  DRAWING_CLOSE,
  DRAWING_FILL,
  DRAWING_STROKE,
  DRAWING_CLIP,
  DRAWING_COLOUR,  /* red green blue alpha, 0 to 1 */
  DRAWING_WIDTH,   /* of lines */
  DRAWING_DASH,    /* lengths... */
  DRAWING_JOIN,    /* 0 miter, 1 round, 2 bevel */
  DRAWING_PAINT,   /* all of the clip */
  DRAWING_SURFACE, /* the source is surface number index, of a hash (the same, the same picture), width height, at x y,
                    * repeated or not, smooth or not */
  DRAWING_TEXT,    /* x y size style (1 bold, 4 fixed width) length, and its bytes in as many numbers as they fill */
  DRAWING_OPS = 32,
} DrawingOp;

typedef struct {
  const double *numbers;
  size_t n_numbers;
} DrawingList;

/* A surface that takes a list, as large as said. */
cairo_surface_t *drawing_new(int width, int height);
void drawing_clear(cairo_surface_t *surface); /* an empty list again */
DrawingList drawing_list(const cairo_surface_t *surface);

/* The surfaces that its list draws, by their numbers; they live until the next drawing_clear. */
cairo_surface_t *drawing_surface(const cairo_surface_t *surface, size_t index);

/* The list as an SVG with a title and a state in its head, an element a line, numbers rounded to 1/1000. The caller
 * frees it; NULL: no memory, then or when it was drawn. */
char *drawing_svg(const cairo_surface_t *surface, const char *title, const char *state);

#endif
