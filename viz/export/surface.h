/* Saves a drawing as PNG, SVG or PDF, by the suffix of the file's name.
 *
 * The drawing is a pure function of a cairo context and a size, so one function serves files,
 * window and tests. The size is in pixels for PNG and in points of 1/96 inch (CSS pixels) for SVG;
 * in PDF one unit is one point of 1/72 inch. Text drawn with viz/text/lettering.h stays text: in
 * PDF by itself; in SVG as <text> elements that are held to the measured width, because cairo 1.16
 * would write outlines. The metadata go into the file, the same input gives the same bytes: no
 * dates, no random names. */
#ifndef TILEWALK_VIZ_EXPORT_SURFACE_H
#define TILEWALK_VIZ_EXPORT_SURFACE_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdio.h>

#include <cairo.h>

typedef void DrawFunction(cairo_t *cr, double width, double height, const void *data);

typedef struct {
  const char *title; /* PNG and PDF Title, SVG <title>; NULL: none */
  const char *state; /* the one-line state: PNG Description, PDF Subject, SVG <desc>; NULL: none */
} SurfaceMetadata;

typedef enum { SURFACE_PNG, SURFACE_SVG, SURFACE_PDF } SurfaceFormat;

/* The format that a file name asks for, in small or capital letters. STATUS_BAD_REQUEST names the
 * three. */
Status surface_format(const char *path, SurfaceFormat *format, Error *error);

/* Draws into a file, which is whole or not there at all. STATUS_BAD_REQUEST: unknown suffix, a size
 * outside 16 to 16384, a path that cannot be written. STATUS_NO_MEMORY. */
Status surface_save(const char *path, double width, double height, DrawFunction *draw, const void *data,
                    const SurfaceMetadata *metadata, Error *error);

/* The same; but the path -.png, -.svg or -.pdf is no file: the picture goes to `out`. */
Status surface_put(const char *path, FILE *out, double width, double height, DrawFunction *draw, const void *data,
                   const SurfaceMetadata *metadata, Error *error);

/* The same into memory: *bytes is the caller's to free. */
Status surface_bytes(SurfaceFormat format, double width, double height, DrawFunction *draw, const void *data,
                     const SurfaceMetadata *metadata, unsigned char **bytes, size_t *n_bytes, Error *error);

#endif
