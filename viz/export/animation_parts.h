/* Shared by the writers of animations. Internal. */
#ifndef TILEWALK_VIZ_EXPORT_ANIMATION_PARTS_H
#define TILEWALK_VIZ_EXPORT_ANIMATION_PARTS_H

#include <stdio.h>

#include "viz/export/animation.h"

/* The surface that all frames are drawn into, and one frame in it. */
Status frame_surface(const Animation *animation, cairo_surface_t **surface, Error *error);
Status frame_draw(const Animation *animation, cairo_surface_t *surface, uint64_t frame, Error *error);

/* Write errors of the stream are left for the caller to find. */
Status animation_write_webp(FILE *out, const Animation *animation, Error *error);
Status animation_write_gif(FILE *out, const Animation *animation, Error *error);
Status animation_write_mp4(FILE *out, const Animation *animation, Error *error);

#endif
