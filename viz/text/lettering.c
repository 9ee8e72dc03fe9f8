#include "viz/text/lettering.h"

#include <stdlib.h>
#include <string.h>

#include <pango/pangocairo.h>

static const cairo_user_data_key_t layout_key, tap_key, tap_data_key;

/* ---- one layout per drawing context ---- */

static void unref_layout(void *layout) {
  g_object_unref(layout);
}

/* A context keeps its layout, because making one costs more than laying out a label. */
static PangoLayout *layout_of(cairo_t *cr) {
  PangoLayout *layout = cairo_get_user_data(cr, &layout_key);
  if (layout) return layout;
  layout = pango_cairo_create_layout(cr);
  cairo_font_options_t *options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  PangoContext *context = pango_layout_get_context(layout);
  pango_context_set_round_glyph_positions(context, FALSE);
  pango_cairo_context_set_font_options(context, options);
  cairo_font_options_destroy(options);
  pango_layout_context_changed(layout);
  pango_layout_set_single_paragraph_mode(layout, TRUE);
  if (cairo_set_user_data(cr, &layout_key, layout, unref_layout) != CAIRO_STATUS_SUCCESS) {
    g_object_unref(layout);
    return NULL;
  }
  return layout;
}

static void set_font(PangoLayout *layout, const Lettering *lettering) {
  PangoFontDescription *font = pango_font_description_new();
  pango_font_description_set_family(font, lettering->family ? lettering->family : "sans-serif");
  pango_font_description_set_absolute_size(font, lettering->size * PANGO_SCALE);
  if (lettering->bold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
  if (lettering->italic) pango_font_description_set_style(font, PANGO_STYLE_ITALIC);
  pango_layout_set_font_description(layout, font);
  pango_font_description_free(font);
}

/* Lays out one line. Pango wants valid UTF-8; anything else is shown with replacement characters.
 */
static PangoLayout *lay_out(cairo_t *cr, const Lettering *lettering, const char *text) {
  if (cairo_status(cr) != CAIRO_STATUS_SUCCESS) return NULL;
  PangoLayout *layout = layout_of(cr);
  if (!layout) return NULL;
  set_font(layout, lettering);
  char *valid = g_utf8_validate(text, -1, NULL) ? NULL : g_utf8_make_valid(text, -1);
  pango_layout_set_text(layout, valid ? valid : text, -1);
  g_free(valid);
  return layout;
}

static LetterBox box_of(PangoLayout *layout) {
  PangoRectangle logical;
  pango_layout_get_extents(layout, NULL, &logical);
  double baseline = pango_layout_get_baseline(layout);
  return (LetterBox){(double)logical.width / PANGO_SCALE, (baseline - logical.y) / PANGO_SCALE,
                     (logical.y + logical.height - baseline) / PANGO_SCALE};
}

LetterBox letter_measure(cairo_t *cr, const Lettering *lettering, const char *text) {
  PangoLayout *layout = lay_out(cr, lettering, text);
  return layout ? box_of(layout) : (LetterBox){0, 0, 0};
}

/* ---- drawing ---- */

typedef struct {
  LetterTap *call;
} TapHolder;

bool letter_set_tap(cairo_surface_t *surface, LetterTap *tap, void *data) {
  TapHolder *holder = NULL;
  if (tap) {
    holder = malloc(sizeof *holder);
    if (!holder) return false;
    holder->call = tap;
  }
  if (cairo_surface_set_user_data(surface, &tap_key, holder, free) != CAIRO_STATUS_SUCCESS) {
    free(holder);
    return false;
  }
  return cairo_surface_set_user_data(surface, &tap_data_key, data, NULL) == CAIRO_STATUS_SUCCESS;
}

LetterBox letter_draw(cairo_t *cr, const Lettering *lettering, double x, double y,
                      const char *text) {
  PangoLayout *layout = lay_out(cr, lettering, text);
  if (!layout) return (LetterBox){0, 0, 0};
  LetterBox box = box_of(layout);
  if (lettering->anchor == ANCHOR_MIDDLE) x -= box.width / 2;
  if (lettering->anchor == ANCHOR_END) x -= box.width;
  cairo_surface_t *target = cairo_get_target(cr);
  TapHolder *tap = cairo_surface_get_user_data(target, &tap_key);
  if (tap) {
    LetterPiece piece = {lettering, pango_layout_get_text(layout), x, y, box.width, box};
    tap->call(cairo_surface_get_user_data(target, &tap_data_key), cr, &piece);
    return box;
  }
  cairo_save(cr);
  cairo_move_to(cr, x, y);
  pango_cairo_update_layout(cr, layout);
  pango_cairo_show_layout_line(cr, pango_layout_get_line_readonly(layout, 0));
  cairo_restore(cr);
  return box;
}

/* Writes the first `characters` of a text and an ellipsis. */
static void write_cut(char *shown, const char *text, long characters) {
  size_t bytes = (size_t)(g_utf8_offset_to_pointer(text, characters) - text);
  while (bytes > 0 && text[bytes - 1] == ' ')
    bytes--;
  memcpy(shown, text, bytes);
  strcpy(shown + bytes, "\xe2\x80\xa6");
}

/* The longest start of `text` that fits with an ellipsis, found by halving; in a new string. */
static char *cut_text(cairo_t *cr, const Lettering *lettering, double width, const char *text) {
  char *valid = g_utf8_make_valid(text, -1);
  char *shown = malloc(strlen(valid) + 4);
  long low = 0, high = g_utf8_strlen(valid, -1);
  while (shown && low < high) {
    long middle = (low + high + 1) / 2;
    write_cut(shown, valid, middle);
    if (letter_measure(cr, lettering, shown).width <= width)
      low = middle;
    else
      high = middle - 1;
  }
  if (shown) write_cut(shown, valid, low);
  g_free(valid);
  return shown;
}

double letter_draw_cut(cairo_t *cr, const Lettering *lettering, double x, double y, double width,
                       const char *text) {
  if (letter_measure(cr, lettering, text).width <= width)
    return letter_draw(cr, lettering, x, y, text).width;
  char *shown = cut_text(cr, lettering, width, text);
  if (!shown) return 0;
  double drawn = letter_draw(cr, lettering, x, y, shown).width;
  free(shown);
  return drawn;
}

/* The bytes of the next line that fits in `width`: up to the last space before it, at least one
 * word. */
static size_t line_bytes(cairo_t *cr, const Lettering *lettering, double width, const char *text,
                         char *scratch) {
  size_t best = 0, end = 0;
  while (text[end] && text[end] != '\n') {
    while (text[end] == ' ')
      end++;
    end += strcspn(text + end, " \n");
    memcpy(scratch, text, end);
    scratch[end] = '\0';
    if (best > 0 && letter_measure(cr, lettering, scratch).width > width) break;
    best = end;
  }
  return best;
}

int letter_draw_wrapped(cairo_t *cr, const Lettering *lettering, double x, double y, double width,
                        double line_height, int most_lines, const char *text) {
  char *scratch = malloc(strlen(text) + 1);
  if (!scratch) return 0;
  int lines = 0;
  while (*text && lines < most_lines) {
    size_t bytes = line_bytes(cr, lettering, width, text, scratch);
    const char *next = text + bytes;
    while (*next == ' ')
      next++;
    if (*next == '\n') next++;
    if (lines + 1 == most_lines && *next) bytes = strlen(text); /* the last line takes all, cut */
    memcpy(scratch, text, bytes);
    scratch[bytes] = '\0';
    letter_draw_cut(cr, lettering, x, y + lines * line_height * lettering->size, width, scratch);
    text = next;
    lines++;
  }
  free(scratch);
  return lines;
}
