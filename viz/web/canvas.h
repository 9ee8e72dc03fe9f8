/* cairo's calls written down as a list of numbers, for a canvas that draws them later: the browser's.
 *
 *     scene_draw(..., cr, ...)  ->  cairo_rectangle, cairo_fill, ...  ->  canvas_list(cr)  ->  canvas 2D, SVG, a test
 *
 * Linked in place of cairo, canvas.c gives the calls that scenes, charts and controls make, with cairo's meanings.
 * Points are in pixels: the matrix is applied when a path is made, and may only shift and scale. Surfaces are lists
 * too, but for those whose pixels were asked for.
 *
 * NOT MODELLED, since nothing draws so: operators other than over, gradients, curves other than circles, groups, dashes
 * under a scale, antialiasing switched off. */
#ifndef TILEWALK_VIZ_WEB_CANVAS_H
#define TILEWALK_VIZ_WEB_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairo.h>

/* What a list holds: an operation, then its numbers. viz/web/page/canvas.js reads the same table. */
typedef enum {
  CANVAS_SAVE = 1,
  CANVAS_RESTORE,
  CANVAS_BEGIN,     /* a new path */
  CANVAS_MOVE,      /* x y */
  CANVAS_LINE,      /* x y */
  CANVAS_RECTANGLE, /* x y width height */
  CANVAS_ARC,       /* x y radius from to */
  CANVAS_CLOSE,
  CANVAS_FILL,
  CANVAS_STROKE,
  CANVAS_CLIP,
  CANVAS_COLOUR,  /* red green blue alpha, 0 to 1 */
  CANVAS_WIDTH,   /* of lines */
  CANVAS_DASH,    /* offset n lengths... */
  CANVAS_JOIN,    /* 0 miter, 1 round, 2 bevel */
  CANVAS_PAINT,   /* all of the clip */
  CANVAS_SURFACE, /* the source is surface number `index` of the frame, at x y, repeated or not, smooth or not */
  CANVAS_TEXT,    /* x y size style (1 bold, 2 italic, 4 fixed width) offset length: of the list's text */
} CanvasOp;

/* A list. A surface in it is named by its place among canvas_surface's. */
typedef struct {
  const double *numbers;
  size_t n_numbers;
  const char *text;
  size_t n_text;
} CanvasList;

typedef struct {
  uint64_t hash; /* of what it shows: the same hash, the same picture */
  int width, height;
  CanvasList list;       /* empty where there are pixels */
  const uint8_t *pixels; /* blue, green, red, unused; rows of `stride` bytes. Or NULL */
  int stride;
} CanvasSurface;

/* A surface that takes a list, as large as said. */
cairo_surface_t *canvas_new(int width, int height);
void canvas_clear(cairo_surface_t *surface); /* an empty list again */
CanvasList canvas_list(const cairo_surface_t *surface);
bool canvas_is_broken(const cairo_surface_t *surface); /* memory was out: the list is not whole */

/* The surfaces that its list draws; they live until the next canvas_clear. */
size_t canvas_n_surfaces(const cairo_surface_t *surface);
CanvasSurface canvas_surface(const cairo_surface_t *surface, size_t index);

/* How wide a line is, in pixels for a size in pixels: the browser's measure, or a test's. */
typedef double CanvasMeasure(void *data, double size, int style, const char *text);
void canvas_set_measure(CanvasMeasure *measure, void *data);

/* Every character as wide as half its size, a bold one a tenth more, in fixed width 0.6: what tests lay out by. */
double canvas_plain_measure(void *data, double size, int style, const char *text);

/* The list, and those of its surfaces, as lines of text: "rectangle 10 20 300 40". The caller frees it; NULL: no
 * memory. Numbers are rounded to 1/1000. */
char *canvas_print(const cairo_surface_t *surface);

#endif
