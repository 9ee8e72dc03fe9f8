/* Where labels go so that they do not overlap: plain geometry, without cairo.
 *
 * Labels at the ends of lines stand in one column and move up and down as little as they can. Words
 * beside a mark have a few places to choose from, and take the one that covers least. */
#ifndef TILEWALK_VIZ_CHART_CHART_PLACE_H
#define TILEWALK_VIZ_CHART_CHART_PLACE_H

#include <stdbool.h>
#include <stddef.h>

enum { PLACE_COLUMN_MAX = 64, PLACE_BOXES_MAX = 512, PLACE_SEGMENTS_MAX = 4096 };

/* Moves `n` labels of the given height (n <= PLACE_COLUMN_MAX), centred on y[i], so that each is at
 * least `height` from the next and all lie between `top` and `bottom`; the sum of squared distances
 * from where they wished to be is the least possible. Order is kept; equal wishes keep the order of
 * the array. Labels that cannot all fit overlap evenly. */
void place_column(double *y, int n, double height, double top, double bottom);

typedef struct {
  double x, y, width, height;
} PlaceBox;

/* What is already on the plane. Too many boxes or segments are forgotten; the drawing is only less
 * tidy then. */
typedef struct {
  PlaceBox bounds;
  PlaceBox boxes[PLACE_BOXES_MAX];
  int n_boxes;
  struct PlaceSegment {
    double x1, y1, x2, y2;
  } segments[PLACE_SEGMENTS_MAX];
  int n_segments;
} PlaceMap;

void place_add_box(PlaceMap *map, PlaceBox box);
void place_add_segment(PlaceMap *map, double x1, double y1, double x2, double y2);

/* True if the segment passes through the box. */
bool place_crosses(const PlaceBox *box, double x1, double y1, double x2, double y2);

/* The candidate that covers least, earlier ones first among equals; it is added to the map. With an
 * `anchor` (x, y), the candidates' distance from it counts too, and what a line from there would
 * run through. Needs n >= 1. */
PlaceBox place_best(PlaceMap *map, const PlaceBox *candidates, int n, const double *anchor);

/* The point of a box that is nearest to (x, y). */
void place_nearest(const PlaceBox *box, double *x, double *y);

#endif
