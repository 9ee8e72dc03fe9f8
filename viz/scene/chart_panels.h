/* The charts, each in a panel of its own: what of them does not move with the step. Internal to viz/scene. */
#ifndef TILEWALK_VIZ_SCENE_CHART_PANELS_H
#define TILEWALK_VIZ_SCENE_CHART_PANELS_H

#include "viz/chart/chart_draw.h"
#include "viz/scene/chart_numbers.h"
#include "viz/scene/pen.h"

/* Planes on the page, for what moves in them; width 0: not drawn. */
typedef struct {
  ChartPlane by_N, by_B, roofline;
  Box waves; /* of the timeline */
} StillPlaces;

/* Each draws its panel. `is_alone`: the panel has the page to itself, with more words. */
void draw_traffic_by_N(const Pen *pen, Box box, const ChartNumbers *numbers, bool is_alone, StillPlaces *places);
void draw_traffic_by_B(const Pen *pen, Box box, const ChartNumbers *numbers, bool is_alone, StillPlaces *places);
void draw_misses(const Pen *pen, Box box, const ChartNumbers *numbers, bool is_alone);
void draw_roofline(const Pen *pen, Box box, const ChartNumbers *numbers, bool is_alone, StillPlaces *places);
void draw_blocks(const Pen *pen, Box box, const ChartNumbers *numbers, bool is_alone);

/* The map's colours: from the least traffic (part 0) to the most (1), one hue from faint to strong; and words on them.
 */
Colour map_heat(const Theme *theme, double part);
Colour map_ink(Colour fill);

/* Rates of the roofline that the GPU's description does not give: "", "L2", "products", or both. */
const char *roofline_missing(const RooflineNumbers *roofline);

/* A dot that stands off whatever it lies on: where the run is now. A ring: where it will end. */
void draw_dot(const Pen *pen, double x, double y, double radius);
void draw_ring(const Pen *pen, double x, double y, double radius);

#endif
