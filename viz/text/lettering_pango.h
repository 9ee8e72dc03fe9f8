/* What makes text of one size the same on every surface. Internal to viz/text. */
#ifndef TILEWALK_VIZ_TEXT_LETTERING_PANGO_H
#define TILEWALK_VIZ_TEXT_LETTERING_PANGO_H

#include <pango/pangocairo.h>

PangoContext *letter_context(cairo_t *cr); /* without hints; freed with g_object_unref */

#endif
