/* Rectangles of a drawing: where they lie, and drawing them. */
#ifndef TILEWALK_VIZ_CHART_BOX_H
#define TILEWALK_VIZ_CHART_BOX_H

#include "viz/chart/theme.h"

typedef struct {
  double x, y, width, height;
} Box;

/* On whole coordinates, as all that come from another box. */
Box box_at(double x, double y, double width, double height);
Box box_inset(Box box, double by);
Box box_cut_left(Box *box, double width, double gap); /* takes a part off, and a gap */
Box box_cut_right(Box *box, double width, double gap);
Box box_cut_top(Box *box, double height, double gap);
Box box_cut_bottom(Box *box, double height, double gap);

/* A box on its way: `part` 0 is at `from`, 1 is at `to`. */
Box box_between(Box from, Box to, double part);

bool box_holds(Box box, double x, double y);

void box_path(cairo_t *cr, Box box); /* added to cairo's path */
void box_fill(cairo_t *cr, Box box, Colour colour, double alpha);
void box_frame(cairo_t *cr, Box box, Colour colour, double thickness); /* inside the box */

/* A line of whole pixels, on whole pixels where it is upright or level. */
void box_line(cairo_t *cr, Colour colour, double thickness, double x1, double y1, double x2, double y2);

#endif
