/* Measuring and drawing one line with pango; cutting and wrapping are in viz/text/lettering.c. */
#include "viz/text/lettering.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "viz/text/lettering_pango.h"

static const cairo_user_data_key_t cache_key, tap_key, tap_data_key;

/* ---- lines that were laid out before ----
 *
 * Laying a label out costs ten times what drawing it does, and a window draws the same labels frame after frame. So
 * each surface keeps the lines that were laid out for it, in a table without chains: a line that falls on another one's
 * place takes it. What is drawn does not depend on what is kept. */

enum { CACHE_SLOTS = 2048 };

typedef struct {
  uint64_t hash;
  PangoLayout *layout;
  PangoLayoutLine *line; /* of the layout, which must not be asked for it again: a context that was updated for another
                            line has it laid out anew */
  LetterBox box;
  double size, matrix[4];
  bool bold;
  size_t family_bytes; /* with its final zero */
  char names[];        /* the family, then the text, each with its final zero */
} Line;

typedef struct {
  PangoContext *context; /* one for all lines */
  Line *slots[CACHE_SLOTS];
} LineCache;

static void free_line(Line *line) {
  if (line) pango_layout_line_unref(line->line);
  if (line) g_object_unref(line->layout);
  g_free(line);
}

static void free_cache(void *data) {
  LineCache *cache = data;
  for (int k = 0; k < CACHE_SLOTS; k++) free_line(cache->slots[k]);
  g_object_unref(cache->context);
  g_free(cache);
}

PangoContext *letter_context(cairo_t *cr) {
  PangoContext *context = pango_cairo_create_context(cr);
  cairo_font_options_t *options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  pango_context_set_round_glyph_positions(context, FALSE);
  pango_cairo_context_set_font_options(context, options);
  cairo_font_options_destroy(options);
  return context;
}

static LineCache *cache_of(cairo_t *cr) {
  cairo_surface_t *target = cairo_get_target(cr);
  LineCache *cache = cairo_surface_get_user_data(target, &cache_key);
  if (cache) return cache;
  cache = g_new0(LineCache, 1); /* memory that pango cannot have either */
  cache->context = letter_context(cr);
  if (cairo_surface_set_user_data(target, &cache_key, cache, free_cache) == CAIRO_STATUS_SUCCESS) return cache;
  free_cache(cache);
  return NULL;
}

static void set_font(PangoLayout *layout, const Lettering *lettering, const char *family) {
  PangoFontDescription *font = pango_font_description_new();
  pango_font_description_set_family(font, family);
  pango_font_description_set_absolute_size(font, lettering->size * PANGO_SCALE);
  if (lettering->bold) pango_font_description_set_weight(font, PANGO_WEIGHT_BOLD);
  pango_layout_set_font_description(layout, font);
  pango_font_description_free(font);
}

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  for (size_t k = 0; k < n; k++) hash = (hash ^ p[k]) * 0x100000001b3u;
  return hash;
}

static bool is_line(const Line *line, uint64_t hash, const Lettering *l, const char *family, const double matrix[4],
                    const char *text) {
  return line && line->hash == hash && line->size == l->size && line->bold == l->bold &&
         memcmp(line->matrix, matrix, sizeof line->matrix) == 0 && strcmp(line->names, family) == 0 &&
         strcmp(line->names + line->family_bytes, text) == 0;
}

static LetterBox box_of(PangoLayout *layout);

/* Pango wants valid UTF-8; anything else is shown with replacement characters. */
static Line *new_line(PangoContext *context, const Lettering *lettering, const char *family, const char *text) {
  const size_t family_bytes = strlen(family) + 1, text_bytes = strlen(text) + 1;
  Line *line = g_malloc(sizeof *line + family_bytes + text_bytes);
  memcpy(line->names, family, family_bytes);
  memcpy(line->names + family_bytes, text, text_bytes);
  line->family_bytes = family_bytes;
  line->size = lettering->size;
  line->bold = lettering->bold;
  line->layout = pango_layout_new(context);
  pango_layout_set_single_paragraph_mode(line->layout, TRUE);
  set_font(line->layout, lettering, family);
  char *valid = g_utf8_validate(text, -1, NULL) ? NULL : g_utf8_make_valid(text, -1);
  pango_layout_set_text(line->layout, valid ? valid : text, -1);
  g_free(valid);
  line->box = box_of(line->layout);
  line->line = pango_layout_line_ref(pango_layout_get_line_readonly(line->layout, 0));
  return line;
}

/* The line, laid out now or before; NULL on a broken context. It is the cache's, until the next call. */
static const Line *lay_out(cairo_t *cr, const Lettering *lettering, const char *text) {
  if (cairo_status(cr) != CAIRO_STATUS_SUCCESS) return NULL;
  LineCache *cache = cache_of(cr);
  if (!cache) return NULL;
  const char *family = lettering->family ? lettering->family : "sans-serif";
  cairo_matrix_t m;
  cairo_get_matrix(cr, &m);
  const double matrix[4] = {m.xx, m.yx, m.xy, m.yy};
  uint64_t hash = hash_bytes(0xcbf29ce484222325u, text, strlen(text));
  hash = hash_bytes(hash, &lettering->size, sizeof lettering->size);
  hash = hash_bytes(hash_bytes(hash, &lettering->bold, sizeof lettering->bold), family, strlen(family));
  Line **slot = &cache->slots[(hash ^ (hash >> 32)) % CACHE_SLOTS];
  if (is_line(*slot, hash, lettering, family, matrix, text)) return *slot;
  pango_cairo_update_context(cr, cache->context);
  Line *line = new_line(cache->context, lettering, family, text);
  line->hash = hash;
  memcpy(line->matrix, matrix, sizeof matrix);
  free_line(*slot);
  return *slot = line;
}

static LetterBox box_of(PangoLayout *layout) {
  PangoRectangle logical;
  pango_layout_get_extents(layout, NULL, &logical);
  double baseline = pango_layout_get_baseline(layout);
  return (LetterBox){(double)logical.width / PANGO_SCALE, (baseline - logical.y) / PANGO_SCALE,
                     (logical.y + logical.height - baseline) / PANGO_SCALE};
}

LetterBox letter_measure(cairo_t *cr, const Lettering *lettering, const char *text) {
  const Line *line = lay_out(cr, lettering, text);
  return line ? line->box : (LetterBox){0, 0, 0};
}

void letter_forget_fonts(void) { pango_cairo_font_map_set_default(NULL); }

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

LetterBox letter_draw(cairo_t *cr, const Lettering *lettering, double x, double y, const char *text) {
  const Line *line = lay_out(cr, lettering, text);
  if (!line) return (LetterBox){0, 0, 0};
  const LetterBox box = line->box;
  if (lettering->anchor == ANCHOR_MIDDLE) x -= box.width / 2;
  if (lettering->anchor == ANCHOR_END) x -= box.width;
  cairo_surface_t *target = cairo_get_target(cr);
  TapHolder *tap = cairo_surface_get_user_data(target, &tap_key);
  if (tap) {
    LetterPiece piece = {lettering, pango_layout_get_text(line->layout), x, y, box.width, box};
    tap->call(cairo_surface_get_user_data(target, &tap_data_key), cr, &piece);
    return box;
  }
  cairo_save(cr);
  cairo_move_to(cr, x, y);
  pango_cairo_show_layout_line(cr, line->line);
  cairo_restore(cr);
  return box;
}
