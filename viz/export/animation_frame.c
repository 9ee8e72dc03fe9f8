/* One frame of an animation, drawn into a surface: what the writers of all formats begin with. */

#include "viz/export/animation_parts.h"

Status frame_draw(const Animation *a, cairo_surface_t *surface, uint64_t frame, Error *error) {
  if (a->go_on && !a->go_on(frame, a->n_frames, a->data))
    return error_set(error, STATUS_INTERRUPTED, "interrupted after %ju of %ju frames; nothing was kept", frame,
                     a->n_frames);
  cairo_t *cr = cairo_create(surface);
  a->draw(cr, a->width, a->height, frame, a->data);
  const cairo_status_t drawn = cairo_status(cr);
  cairo_destroy(cr);
  cairo_surface_flush(surface);
  if (!drawn) return STATUS_OK;
  return error_set(error, drawn == CAIRO_STATUS_NO_MEMORY ? STATUS_NO_MEMORY : STATUS_BAD_REQUEST,
                   "frame %ju cannot be drawn: %s", frame, cairo_status_to_string(drawn));
}

Status frame_surface(const Animation *a, cairo_surface_t **surface, Error *error) {
  *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, a->width, a->height);
  if (!cairo_surface_status(*surface)) return STATUS_OK;
  cairo_surface_destroy(*surface);
  *surface = NULL;
  return error_set(error, STATUS_NO_MEMORY, "out of memory for frames of %d x %d; ask for smaller ones", a->width,
                   a->height);
}
