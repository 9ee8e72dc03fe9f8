/* Draws a kernel at work (viz/scene/kernel_scene.h), from (0, 0) to (width, height), ground included. */
#ifndef TILEWALK_VIZ_SCENE_KERNEL_SCENE_DRAW_H
#define TILEWALK_VIZ_SCENE_KERNEL_SCENE_DRAW_H

#include "viz/chart/theme.h"
#include "viz/scene/kernel_scene.h"

void kernel_scene_draw(const KernelScene *scene, cairo_t *cr, double width, double height, const Theme *theme);

/* The line that lies at a point of the drawing: an index, or -1. */
int kernel_scene_line_at(const KernelScene *scene, double width, double height, double x, double y);

#endif
