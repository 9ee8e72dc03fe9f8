/* For tests that draw: what text was drawn where, in pixels of the surface. Include it in one file
 * of a test program. It also silences two leak reports that are not ours: fontconfig's cache lives
 * as long as the process, and cairo 1.16 loses one surface for every group that is painted with an
 * alpha into an SVG file. */
#ifndef TILEWALK_TESTS_SUPPORT_DRAWING_H
#define TILEWALK_TESTS_SUPPORT_DRAWING_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/text/lettering.h"

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfontconfig\nleak:libcairo\n"; }

typedef struct {
  char text[160];
  double size;                     /* of the type, in pixels */
  double left, top, right, bottom; /* the letters' box: from the ascent of capitals to the base line, roughly */
} DrawnText;

typedef struct {
  DrawnText items[600];
  int n;
} DrawnTexts;

static inline void drawn_text_tap(void *data, cairo_t *cr, const LetterPiece *piece) {
  DrawnTexts *drawn = data;
  if (!*piece->text || drawn->n == 600) return;
  DrawnText *item = &drawn->items[drawn->n++];
  snprintf(item->text, sizeof item->text, "%s", piece->text);
  double x1 = piece->x, y1 = piece->y - 0.73 * piece->lettering->size, x2 = piece->x + piece->width;
  double y2 = piece->y, size_x = piece->lettering->size, size_y = 0;
  cairo_user_to_device(cr, &x1, &y1);
  cairo_user_to_device(cr, &x2, &y2);
  cairo_user_to_device_distance(cr, &size_x, &size_y);
  item->size = hypot(size_x, size_y);
  item->left = fmin(x1, x2);
  item->right = fmax(x1, x2);
  item->top = fmin(y1, y2);
  item->bottom = fmax(y1, y2);
}

/* Do the letters of two texts touch? */
static inline int drawn_texts_touch(const DrawnText *a, const DrawnText *b) {
  return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

static inline const DrawnText *drawn_text_find(const DrawnTexts *drawn, const char *text) {
  for (int i = 0; i < drawn->n; i++)
    if (strcmp(drawn->items[i].text, text) == 0) return &drawn->items[i];
  return NULL;
}

#endif
