/* Shared by the files of the viewer. Private to viz/window. */
#ifndef TILEWALK_VIZ_WINDOW_VIEWER_PARTS_H
#define TILEWALK_VIZ_WINDOW_VIEWER_PARTS_H

#include <stdio.h>

#include "viz/window/viewer.h"

bool viewer_wants_bar(const Viewer *viewer); /* in presentation mode it is away until then */
bool viewer_is_over_side(const Viewer *viewer);

#endif
