/* For tests that draw text. */
#ifndef TILEWALK_TESTS_SUPPORT_FONTS_H
#define TILEWALK_TESTS_SUPPORT_FONTS_H

#include <pango/pangocairo.h>

/* A group's teardown. Fonts of many sizes are kept by pango for the thread, where the leak checker does not look. */
static inline int let_go_of_fonts(void **state) {
  (void)state;
  pango_cairo_font_map_set_default(NULL);
  return 0;
}

#endif
