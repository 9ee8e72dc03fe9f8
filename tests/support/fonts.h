/* For tests that draw text, in one file of a test: what the leak checker has to know of fonts. */
#ifndef TILEWALK_TESTS_SUPPORT_FONTS_H
#define TILEWALK_TESTS_SUPPORT_FONTS_H

#include <pango/pangocairo.h>

/* fontconfig 2.14 keeps one pattern of 288 bytes for good. Asked by the leak checker, where there is one. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfontconfig"; }

/* A group's teardown. Fonts of many sizes are kept by pango for the thread, where the leak checker does not look. */
static inline int let_go_of_fonts(void **state) {
  (void)state;
  pango_cairo_font_map_set_default(NULL);
  return 0;
}

#endif
