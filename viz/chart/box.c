#include "viz/chart/box.h"

#include <math.h>

Box box_at(double x, double y, double width, double height) {
  const double left = floor(x), top = floor(y);
  return (Box){left, top, fmax(0, floor(x + width) - left), fmax(0, floor(y + height) - top)};
}

Box box_inset(Box box, double by) { return box_at(box.x + by, box.y + by, box.width - 2 * by, box.height - 2 * by); }

Box box_cut_left(Box *box, double width, double gap) {
  const Box part = box_at(box->x, box->y, width, box->height);
  *box = box_at(box->x + width + gap, box->y, box->width - width - gap, box->height);
  return part;
}

Box box_cut_right(Box *box, double width, double gap) {
  const Box part = box_at(box->x + box->width - width, box->y, width, box->height);
  *box = box_at(box->x, box->y, box->width - width - gap, box->height);
  return part;
}

Box box_cut_top(Box *box, double height, double gap) {
  const Box part = box_at(box->x, box->y, box->width, height);
  *box = box_at(box->x, box->y + height + gap, box->width, box->height - height - gap);
  return part;
}

Box box_cut_bottom(Box *box, double height, double gap) {
  const Box part = box_at(box->x, box->y + box->height - height, box->width, height);
  *box = box_at(box->x, box->y, box->width, box->height - height - gap);
  return part;
}

Box box_between(Box from, Box to, double part) {
  return (Box){from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part,
               from.width + (to.width - from.width) * part, from.height + (to.height - from.height) * part};
}

bool box_holds(Box b, double x, double y) { return x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + b.height; }

void box_path(cairo_t *cr, Box box) { cairo_rectangle(cr, box.x, box.y, box.width, box.height); }

void box_fill(cairo_t *cr, Box box, Colour colour, double alpha) {
  theme_use(cr, colour, alpha);
  box_path(cr, box);
  cairo_fill(cr);
}

void box_frame(cairo_t *cr, Box box, Colour colour, double t) {
  theme_use(cr, colour, 1);
  cairo_set_line_width(cr, t);
  cairo_rectangle(cr, box.x + t / 2, box.y + t / 2, box.width - t, box.height - t);
  cairo_stroke(cr);
}

void box_line(cairo_t *cr, Colour colour, double thickness, double x1, double y1, double x2, double y2) {
  const double t = fmax(1, round(thickness)), half = fmod(t, 2) / 2;
  if (x1 == x2) x1 = x2 = floor(x1) + half;
  if (y1 == y2) y1 = y2 = floor(y1) + half;
  theme_use(cr, colour, 1);
  cairo_set_line_width(cr, t);
  cairo_move_to(cr, x1, y1);
  cairo_line_to(cr, x2, y2);
  cairo_stroke(cr);
}
