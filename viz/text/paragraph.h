/* Paragraphs with emphasis on a cairo surface: wrapped, measured and drawn with pango.
 *
 *     words with *emphasis*, `code` and [links]   ->   spans over one text
 *
 * Sizes are in user units, without hinting, as in viz/text/lettering.h. */
#ifndef TILEWALK_VIZ_TEXT_PARAGRAPH_H
#define TILEWALK_VIZ_TEXT_PARAGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairo.h>

/* Bits of ParagraphSpan.look. */
enum { LOOK_BOLD = 1, LOOK_ITALIC = 2, LOOK_CODE = 4, LOOK_LINK = 8 };

typedef struct {
  size_t begin, end; /* bytes of the text */
  unsigned look;
} ParagraphSpan;

typedef struct {
  const char *text; /* UTF-8; a newline begins a new line */
  const ParagraphSpan *spans;
  size_t n_spans;
  const char *sans, *mono;
  double size; /* of the em */
  bool bold, fixed_width;
  bool right;          /* flush right */
  uint32_t code, link; /* ground of code, colour of links: 0xRRGGBB */
} Paragraph;

typedef struct {
  double width, height; /* of the text; the width without wrapping for `width` 0 */
} ParagraphBox;

ParagraphBox paragraph_measure(cairo_t *cr, const Paragraph *paragraph, double width);

/* Draws with its top left corner at (x, y), in cairo's present colour. Returns what paragraph_measure does. */
ParagraphBox paragraph_draw(cairo_t *cr, const Paragraph *paragraph, double x, double y, double width);

/* The byte of the text at a point of the paragraph, or SIZE_MAX when there is none. */
size_t paragraph_byte_at(cairo_t *cr, const Paragraph *paragraph, double width, double x, double y);

#endif
