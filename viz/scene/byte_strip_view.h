/* Bytes over time at the foot of a page: the scrub bar. */
#ifndef TILEWALK_VIZ_SCENE_BYTE_STRIP_VIEW_H
#define TILEWALK_VIZ_SCENE_BYTE_STRIP_VIEW_H

#include "viz/scene/pen.h"

/* Where it lies in what scene_draw draws. Empty: there is none. */
Box scene_strip(const SceneView *view, double width, double height);
Box pen_strip(const Pen *pen);

/* Draws it with the cursor, the two values there and the view's marks. */
void draw_byte_strip(const Pen *pen);

#endif
