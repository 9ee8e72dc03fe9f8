/* A page to draw on, for tests: it goes with the context that is returned. */
#ifndef TILEWALK_TESTS_SUPPORT_CANVAS_H
#define TILEWALK_TESTS_SUPPORT_CANVAS_H

#include <cairo.h>

static inline cairo_t *canvas(cairo_format_t format, int width, int height) {
  cairo_surface_t *page = cairo_image_surface_create(format, width, height);
  cairo_t *cr = cairo_create(page);
  cairo_surface_destroy(page);
  return cr;
}

#endif
