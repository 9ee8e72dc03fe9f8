/* Text on a cairo surface, measured and drawn with pango, or by the browser, behind a small interface.
 *
 * The colour is the current cairo source. Sizes are in user units, so the same call gives the same
 * layout on every surface and resolution: font hinting and metrics hinting are off. A surface may
 * carry a tap that takes each piece of text instead of its glyphs: cairo's SVG backend turns text
 * into outlines, and the tap is how text stays text there (viz/export/surface.c). */
#ifndef TILEWALK_VIZ_TEXT_LETTERING_H
#define TILEWALK_VIZ_TEXT_LETTERING_H

#include <stdbool.h>
#include <stddef.h>

#include <cairo.h>

typedef enum { ANCHOR_START = 0, ANCHOR_MIDDLE, ANCHOR_END } Anchor;

typedef struct {
  const char *family; /* as fontconfig knows it, commas between choices; NULL: "sans-serif" */
  double size;        /* of the em, in user units */
  bool bold;
  bool is_code;  /* cut anywhere, with an ellipsis: the start of a line of code is no clause */
  Anchor anchor; /* which point of the line x is */
} Lettering;

typedef struct {
  double width;
  double ascent, descent; /* of the font, above and below the base line, both positive */
} LetterBox;

/* The room that one line takes. */
LetterBox letter_measure(cairo_t *cr, const Lettering *lettering, const char *text);

/* Draws one line with its base line at y, and returns the room it took. Newlines count as spaces.
 */
LetterBox letter_draw(cairo_t *cr, const Lettering *lettering, double x, double y, const char *text);

/* Draws one line cut to at most `width`: to whole clauses; else, or of code, with an ellipsis. Returns the width
 * drawn. */
double letter_draw_cut(cairo_t *cr, const Lettering *lettering, double x, double y, double width, const char *text);

/* Draws a paragraph broken at spaces to `width`, the first base line at y, lines `line_height`
 * apart (in ems, 1.35 reads well). At most `most_lines`, the last one cut. Returns how many lines
 * there were. */
int letter_draw_wrapped(cairo_t *cr, const Lettering *lettering, double x, double y, double width, double line_height,
                        int most_lines, const char *text);

/* What a tap is given: the start of the base line, with cairo's current matrix still to be applied.
 */
typedef struct {
  const Lettering *lettering;
  const char *text;
  double x, y, width;
  LetterBox box;
} LetterPiece;

typedef void LetterTap(void *data, cairo_t *cr, const LetterPiece *piece);

/* Sends the text drawn on a surface to `tap` from now on; NULL takes the tap away. Returns false
 * when memory is out. */
bool letter_set_tap(cairo_surface_t *surface, LetterTap *tap, void *data);

/* Gives back the fonts that were made for each size drawn so far; surfaces keep those of their own lines. */
void letter_forget_fonts(void);

#endif
