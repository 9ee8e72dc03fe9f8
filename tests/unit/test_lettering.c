/* lettering.h: one layout at every scale, cutting and breaking to a width. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/drawing.h"
#include "tests/support/canvas.h"

static DrawnTexts drawn;

static cairo_t *begin(int width, int height) {
  cairo_t *cr = canvas(CAIRO_FORMAT_A8, width, height);
  assert_true(letter_set_tap(cairo_get_target(cr), drawn_text_tap, &drawn));
  drawn.n = 0;
  return cr;
}

/* Of a surface that is none: said. */
TEST(test_no_tap_without_a_surface) {
  cairo_surface_t *none = cairo_image_surface_create(CAIRO_FORMAT_A8, -1, 1);
  assert_false(letter_set_tap(none, drawn_text_tap, &drawn));
  cairo_surface_destroy(none);
}

/* Twice the size is twice the width, to a thousandth: no rounding to pixels, whatever the surface's
 * scale. */
TEST(test_layout_scales) {
  cairo_t *cr = begin(10, 10);
  Lettering small = {.size = 10}, large = {.size = 20};
  LetterBox a = letter_measure(cr, &small, "Tile by tile, 132 MiB"),
            b = letter_measure(cr, &large, "Tile by tile, 132 MiB");
  assert_near(b.width, 2 * a.width, 0.002 * b.width);
  assert_true(a.ascent > 7 && a.ascent < 13 && a.descent > 1 && a.descent < 5);
  cairo_scale(cr, 3, 3);
  assert_near(letter_measure(cr, &small, "Tile by tile, 132 MiB").width, a.width, 0.001 * a.width);
  cairo_destroy(cr);
}

TEST(test_anchors) {
  cairo_t *cr = begin(400, 100);
  for (int anchor = 0; anchor < 3; anchor++) {
    Lettering lettering = {.size = 20, .anchor = (Anchor)anchor};
    letter_draw(cr, &lettering, 200, 50, "anchor");
  }
  double width = drawn.items[0].right - drawn.items[0].left;
  assert_near(drawn.items[0].left, 200, 0.01);
  assert_near(drawn.items[1].left, 200 - width / 2, 0.01);
  assert_near(drawn.items[2].right, 200, 0.01);
  cairo_destroy(cr);
}

/* What has clauses is cut where one ends, without dots, while one fits. */
TEST(test_cut_between_clauses) {
  static const char TEXT[] = "N = 1,024, causal: each from its start; the rest is left out",
                    *const SHOWN[] = {"N = 1,024, causal: each from its start", "N = 1,024, causal", "N = 1,024",
                                      "N = 1,0…"};
  cairo_t *cr = begin(600, 100);
  const Lettering lettering = {.size = 16};
  for (int k = 0; k < 4; k++) {
    drawn.n = 0;
    letter_draw_cut(cr, &lettering, 0, 20, letter_measure(cr, &lettering, SHOWN[k]).width + 1, TEXT);
    assert_string_equal(drawn.items[0].text, SHOWN[k]);
  }
  cairo_destroy(cr);
}

/* The longest start that fits: adding one more character would be too wide. */
TEST(test_cut) {
  cairo_t *cr = begin(400, 100);
  Lettering lettering = {.size = 16};
  const char *text = "Gr\xc3\xb6\xc3\x9f"
                     "e \xce\xa9(N) and more words than there is room for";
  for (double width = 40; width < 300; width += 7) {
    drawn.n = 0;
    double used = letter_draw_cut(cr, &lettering, 0, 20, width, text);
    const char *shown = drawn.items[0].text, *dots = strstr(shown, "\xe2\x80\xa6");
    assert_true(used <= width);
    assert_non_null(dots);
    size_t kept = (size_t)(dots - shown);
    assert_memory_equal(shown, text, kept);
    size_t next = kept + 1;
    while (text[kept] == ' ' && text[next] == ' ') next++;
    if (text[kept] == ' ') next++; /* a space is never kept before the dots */
    while (((unsigned char)text[next] & 0xc0) == 0x80) next++;
    assert_true(letter_measure(cr, &lettering, test_text("%.*s\xe2\x80\xa6", (int)next, text)).width > width);
  }
  drawn.n = 0;
  letter_draw_cut(cr, &lettering, 0, 20, 1000, text);
  assert_string_equal(drawn.items[0].text, text);
  cairo_destroy(cr);
}

/* Lines together are the text again, none is wider than asked, and the last allowed one is cut. */
TEST(test_wrap) {
  cairo_t *cr = begin(400, 100);
  Lettering lettering = {.size = 16};
  const char *text = "one two three four five six seven eight";
  int lines = letter_draw_wrapped(cr, &lettering, 5, 20, 120, 1.5, 10, text);
  assert_int_equal(lines, drawn.n);
  assert_true(lines > 2);
  char joined[200] = "";
  for (int i = 0; i < drawn.n; i++) {
    if (i > 0) strcat(joined, " ");
    strcat(joined, drawn.items[i].text);
    assert_true(drawn.items[i].right - drawn.items[i].left <= 120);
    assert_near(drawn.items[i].bottom, 20 + 24 * i, 0.01); /* 1.5 x 16 */
  }
  assert_string_equal(joined, text);
  drawn.n = 0;
  assert_int_equal(letter_draw_wrapped(cr, &lettering, 5, 20, 120, 1.5, 2, text), 2);
  assert_non_null(strstr(drawn.items[1].text, "\xe2\x80\xa6"));
  drawn.n = 0;
  assert_int_equal(letter_draw_wrapped(cr, &lettering, 5, 20, 120, 1.5, 9, "a\nb"), 2);
  assert_int_equal(letter_draw_wrapped(cr, &lettering, 5, 20, 120, 1.5, 9, ""), 0);
  cairo_destroy(cr);
}

/* Bytes that are not UTF-8 are shown as replacements; nothing crashes, cairo stays well. */
TEST(test_broken_text) {
  cairo_t *cr = begin(400, 100);
  Lettering lettering = {.size = 16};
  assert_true(letter_draw(cr, &lettering, 0, 20, "a\xff\xc3").width > 0);
  letter_draw_cut(cr, &lettering, 0, 20, 15, "\xff\xff\xff\xff\xff\xff");
  letter_draw_wrapped(cr, &lettering, 0, 20, 15, 1.2, 3, "\xff \xff\xff \xff");
  assert_true(letter_draw(cr, &lettering, 0, 20, "").width == 0);
  assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
  cairo_destroy(cr);
}

/* Without a tap the letters are painted, with one they are not. */
TEST(test_tap_replaces_painting) {
  for (int tapped = 0; tapped < 2; tapped++) {
    cairo_t *cr = canvas(CAIRO_FORMAT_A8, 100, 40);
    cairo_surface_t *page = cairo_get_target(cr);
    if (tapped) assert_true(letter_set_tap(page, drawn_text_tap, &drawn));
    Lettering lettering = {.size = 24};
    drawn.n = 0;
    letter_draw(cr, &lettering, 5, 30, "HBM");
    cairo_surface_flush(page);
    const unsigned char *pixels = cairo_image_surface_get_data(page);
    long sum = 0;
    for (int i = 0; i < 40 * cairo_image_surface_get_stride(page); i++) sum += pixels[i];
    assert_int_equal(sum > 0, !tapped);
    assert_int_equal(drawn.n, tapped);
    cairo_destroy(cr);
  }
}
