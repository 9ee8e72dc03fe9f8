/* For tests that draw: what text was drawn where, in pixels of the surface, and whether it can be read. */
#ifndef TILEWALK_TESTS_SUPPORT_DRAWING_H
#define TILEWALK_TESTS_SUPPORT_DRAWING_H

#include "tests/support/test.h"
#include "viz/text/lettering.h"

typedef struct {
  char text[160];
  double size;                     /* of the type, in pixels */
  double left, top, right, bottom; /* the letters' box: from the ascent of capitals to the base line, roughly */
} DrawnText;

typedef struct {
  DrawnText items[1024];
  int n;
} DrawnTexts;

static inline void drawn_text_tap(void *data, cairo_t *cr, const LetterPiece *piece) {
  DrawnTexts *drawn = data;
  if (!*piece->text) return;
  assert_true(drawn->n < (int)COUNT_OF(drawn->items));
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

static inline const DrawnText *drawn_text_find(const DrawnTexts *drawn, const char *text) {
  for (int i = 0; i < drawn->n; i++)
    if (strcmp(drawn->items[i].text, text) == 0) return &drawn->items[i];
  return NULL;
}

/* Where the letters end that go under the line. */
static inline double drawn_foot(const DrawnText *a) { return a->bottom + 0.1 * a->size; }

/* On the page, at least so large, and no two on each other. */
static inline void expect_legible(const DrawnTexts *drawn, const char *where, double least, double width,
                                  double height) {
  for (const DrawnText *a = drawn->items; a < drawn->items + drawn->n; a++) {
    if (a->left < 0 || a->right > width || a->top < 0 || drawn_foot(a) > height)
      fail_msg("%s: '%s' leaves the page of %.0f x %.0f", where, a->text, width, height);
    if (a->size < least - 1e-6) fail_msg("%s: '%s' is set in %.1f pixels, below %.1f", where, a->text, a->size, least);
    for (const DrawnText *b = drawn->items; b < a; b++)
      if (a->left < b->right && b->left < a->right && a->top < drawn_foot(b) && b->top < drawn_foot(a))
        fail_msg("%s: '%s' lies on '%s' at %.0f, %.0f", where, a->text, b->text, a->left, a->top);
  }
}

#endif
