/* Text that stays text in the SVG files of cairo 1.16, which by itself draws every letter as an
 * outline.
 *
 * While a drawing runs, each line of text is kept here, and a one-pixel image with a made-up
 * address
 * ("tilewalk-text:7") is painted in its place. cairo writes that as <image> and <use>, with the
 * matrix and in the order of painting. Afterwards svg_text_finish puts a <text> element where each
 * of them stands. The elements carry the measured width (textLength), so that a reader with other
 * fonts keeps the layout. */
#ifndef TILEWALK_VIZ_EXPORT_SVG_TEXT_H
#define TILEWALK_VIZ_EXPORT_SVG_TEXT_H

#include "viz/text/lettering.h"
#include "viz/text/store.h"

typedef struct {
  TextStore text;
  Status status;
  size_t *pieces; /* offsets of the elements without their matrix */
  size_t n_pieces, capacity;
} SvgText; /* all zero: ready */

/* A LetterTap; `data` is the SvgText. */
void svg_text_tap(void *data, cairo_t *cr, const LetterPiece *piece);

/* Makes the final document in memory from cairo's, with a title and a description (either may be
 * NULL). *result is the caller's to free. cairo numbers its elements through the whole process;
 * they are renumbered, so that equal drawings give equal files. STATUS_NO_MEMORY. */
Status svg_text_finish(const SvgText *svg, const char *document, size_t n_bytes, const char *title,
                       const char *description, unsigned char **result, size_t *n_result, Error *error);

void svg_text_free(SvgText *svg);

#endif
