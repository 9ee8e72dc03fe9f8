/* Shared by the drawings of charts and bars: measures, text, the titles above and the footer below.
 * Internal. */
#ifndef TILEWALK_VIZ_CHART_CHART_CANVAS_H
#define TILEWALK_VIZ_CHART_CHART_CANVAS_H

#include "viz/chart/box.h"
#include "viz/chart/chart_place.h"
#include "viz/text/lettering.h"

/* Sizes of type in units of 1/720 of the height. */
#define TYPE_TITLE  29.0
#define TYPE_LABEL  19.0
#define TYPE_TICK   17.0
#define TYPE_FOOTER 14.4 /* 1/50 of the height: the smallest */

typedef struct {
  cairo_t *cr;
  const Theme *theme;
  const char *title, *subtitle, *footer; /* "": none */
  double width, height;
  double unit; /* of all measures: the smaller of width / 1280 and height / 720 */
  double margin;
  double top, bottom; /* what titles and footer leave free, margins included */
} Canvas;

/* Completes the words, the size and what is drawn on: measures titles and footer. Draws nothing yet; theme may be NULL
 * until something is drawn. */
Canvas canvas_measured(Canvas canvas);

/* Fills the background and draws titles and footer. */
void canvas_frame(const Canvas *canvas);

/* A line of text of a type size, in units; `y` is the base line. */
void canvas_text(const Canvas *canvas, Colour colour, double type, bool bold, Anchor anchor, double x, double y,
                 const char *text);
double canvas_text_width(const Canvas *canvas, double type, bool bold, const char *text);

/* The dash pattern and marker of a cue (chart.h). */
void canvas_dash(const Canvas *canvas, int cue, bool is_reference);
void canvas_marker(const Canvas *canvas, Colour colour, int cue, double x, double y, double radius);

#endif
