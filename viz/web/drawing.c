/* See drawing.h. Names and meanings of the functions are cairo's: https://www.cairographics.org/manual/ */
#include "viz/web/drawing.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/text/lettering.h"

/* ---- Lists ----------------------------------------------------------------------------------------------- */

typedef struct {
  double *numbers;
  size_t n_numbers, numbers_room;
  char *text;
  size_t n_text, text_room;
} List;

struct _cairo_surface {
  int references;
  int width, height;
  List list;
  uint8_t *pixels; /* once they were asked for */
  cairo_surface_t **surfaces;
  size_t n_surfaces, surfaces_room;
  bool is_broken;
};

struct _cairo_pattern {
  cairo_surface_t *surface;
  double x, y;
  bool repeats, smooth;
};

typedef struct {
  double x, y, scale_x, scale_y;
  cairo_pattern_t source; /* a surface, or none: the colour was written */
} State;

enum { STATES = 32 };

struct _cairo {
  cairo_surface_t *target;
  State states[STATES];
  int depth;
  bool is_path_open; /* points were added since the last fill, stroke or clip */
};

static bool make_room(void **items, size_t *room, size_t needed, size_t item_bytes) {
  if (needed <= *room) return true;
  size_t wanted = *room ? *room * 2 : 256;
  if (wanted < needed) wanted = needed;
  if (wanted > SIZE_MAX / 2 / item_bytes) return false;
  void *grown = realloc(*items, wanted * item_bytes);
  if (!grown) return false;
  *items = grown;
  *room = wanted;
  return true;
}

static void add_numbers(cairo_surface_t *s, const double *numbers, size_t n) {
  List *l = &s->list;
  void *items = l->numbers;
  if (s->is_broken || !make_room(&items, &l->numbers_room, l->n_numbers + n, sizeof *numbers)) {
    s->is_broken = true;
    return;
  }
  l->numbers = items;
  memcpy(l->numbers + l->n_numbers, numbers, n * sizeof *numbers);
  l->n_numbers += n;
}

#define ADD(cr, ...)                                                                                                   \
  add_numbers((cr)->target, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static State *state_of(cairo_t *cr) { return &cr->states[cr->depth]; }
static double at_x(cairo_t *cr, double x) { return state_of(cr)->x + state_of(cr)->scale_x * x; }
static double at_y(cairo_t *cr, double y) { return state_of(cr)->y + state_of(cr)->scale_y * y; }

/* ---- Surfaces -------------------------------------------------------------------------------------------- */

static cairo_surface_t broken_surface = {.references = -1, .is_broken = true};

cairo_surface_t *drawing_new(int width, int height) {
  cairo_surface_t *s = calloc(1, sizeof *s);
  if (!s) return &broken_surface;
  s->references = 1;
  s->width = width;
  s->height = height;
  return s;
}

void drawing_clear(cairo_surface_t *s) {
  if (s == &broken_surface) return;
  for (size_t k = 0; k < s->n_surfaces; k++) cairo_surface_destroy(s->surfaces[k]);
  s->n_surfaces = s->list.n_numbers = s->list.n_text = 0;
  s->is_broken = false;
}

void cairo_surface_destroy(cairo_surface_t *s) {
  if (!s || s->references < 0 || --s->references > 0) return;
  drawing_clear(s);
  free(s->surfaces);
  free(s->list.numbers);
  free(s->list.text);
  free(s->pixels);
  free(s);
}

static cairo_surface_t *reference(cairo_surface_t *s) {
  if (s->references > 0) s->references++;
  return s;
}

cairo_surface_t *cairo_image_surface_create(cairo_format_t format, int width, int height) {
  (void)format;
  return drawing_new(width, height);
}

cairo_surface_t *cairo_surface_create_similar_image(cairo_surface_t *other, cairo_format_t format, int width,
                                                    int height) {
  (void)other;
  return cairo_image_surface_create(format, width, height);
}

cairo_status_t cairo_surface_status(cairo_surface_t *s) {
  return s->is_broken ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

cairo_surface_type_t cairo_surface_get_type(cairo_surface_t *s) {
  (void)s;
  return CAIRO_SURFACE_TYPE_IMAGE;
}

int cairo_image_surface_get_stride(cairo_surface_t *s) { return 4 * s->width; }

unsigned char *cairo_image_surface_get_data(cairo_surface_t *s) {
  if (s->references > 0 && !s->pixels && s->width > 0 && s->height > 0)
    s->pixels = calloc((size_t)s->width * (size_t)s->height, 4);
  return s->pixels;
}

void cairo_surface_mark_dirty(cairo_surface_t *s) { (void)s; }
void cairo_surface_flush(cairo_surface_t *s) { (void)s; }

void cairo_surface_get_device_scale(cairo_surface_t *s, double *x, double *y) {
  (void)s;
  *x = *y = 1;
}

DrawingList drawing_list(const cairo_surface_t *s) {
  return (DrawingList){s->list.numbers, s->list.n_numbers, s->list.text, s->list.n_text};
}

bool drawing_is_broken(const cairo_surface_t *s) { return s->is_broken; }
size_t drawing_n_surfaces(const cairo_surface_t *s) { return s->n_surfaces; }

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/, by words of eight bytes where there are that many. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  uint64_t word;
  for (; n >= sizeof word; n -= sizeof word, p += sizeof word) {
    memcpy(&word, p, sizeof word);
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  while (n--) hash = (hash ^ *p++) * 0x100000001b3u;
  return hash;
}

static uint64_t hash_of(const cairo_surface_t *s) {
  uint64_t hash = hash_bytes(0xcbf29ce484222325u, (const int[]){s->width, s->height}, 2 * sizeof(int));
  if (s->pixels) return hash_bytes(hash, s->pixels, (size_t)s->width * (size_t)s->height * 4);
  hash = hash_bytes(hash, s->list.numbers, s->list.n_numbers * sizeof *s->list.numbers);
  hash = hash_bytes(hash, s->list.text, s->list.n_text);
  for (size_t k = 0; k < s->n_surfaces; k++) {
    const uint64_t inner = hash_of(s->surfaces[k]);
    hash = hash_bytes(hash, &inner, sizeof inner);
  }
  return hash;
}

DrawingSurface drawing_surface(const cairo_surface_t *s, size_t index) {
  const cairo_surface_t *of = s->surfaces[index];
  return (DrawingSurface){.hash = hash_of(of),
                          .width = of->width,
                          .height = of->height,
                          .list = of->pixels ? (DrawingList){0} : drawing_list(of),
                          .pixels = of->pixels,
                          .stride = 4 * of->width,
                          .surface = of};
}

/* ---- Contexts -------------------------------------------------------------------------------------------- */

static cairo_t broken_context = {.target = &broken_surface, .states = {{0, 0, 1, 1, {0}}}};

cairo_t *cairo_create(cairo_surface_t *target) {
  cairo_t *cr = target->references > 0 ? calloc(1, sizeof *cr) : NULL;
  if (!cr) return &broken_context;
  cr->target = reference(target);
  cr->states[0].scale_x = cr->states[0].scale_y = 1;
  return cr;
}

static void drop_source(State *state) {
  if (state->source.surface) cairo_surface_destroy(state->source.surface);
  state->source = (cairo_pattern_t){0};
}

void cairo_destroy(cairo_t *cr) {
  if (!cr || cr == &broken_context) return;
  for (; cr->depth >= 0; cr->depth--) drop_source(state_of(cr));
  cairo_surface_destroy(cr->target);
  free(cr);
}

cairo_status_t cairo_status(cairo_t *cr) { return cairo_surface_status(cr->target); }
cairo_surface_t *cairo_get_target(cairo_t *cr) { return cr->target; }

/* Deeper than STATES nothing is drawn any more: the surface is broken. */
void cairo_save(cairo_t *cr) {
  if (cr->depth + 1 >= STATES) {
    cr->target->is_broken = true;
    return;
  }
  cr->states[cr->depth + 1] = cr->states[cr->depth];
  cr->depth++;
  if (state_of(cr)->source.surface) reference(state_of(cr)->source.surface);
  ADD(cr, DRAWING_SAVE);
}

void cairo_restore(cairo_t *cr) {
  if (cr->depth == 0) return;
  drop_source(state_of(cr));
  cr->depth--;
  ADD(cr, DRAWING_RESTORE);
}

void cairo_translate(cairo_t *cr, double x, double y) {
  State *state = state_of(cr);
  state->x += state->scale_x * x;
  state->y += state->scale_y * y;
}

void cairo_scale(cairo_t *cr, double x, double y) {
  state_of(cr)->scale_x *= x;
  state_of(cr)->scale_y *= y;
}

void cairo_get_matrix(cairo_t *cr, cairo_matrix_t *m) {
  const State *state = state_of(cr);
  *m = (cairo_matrix_t){.xx = state->scale_x, .yy = state->scale_y, .x0 = state->x, .y0 = state->y};
}

/* ---- Sources --------------------------------------------------------------------------------------------- */

void cairo_set_source_rgba(cairo_t *cr, double red, double green, double blue, double alpha) {
  drop_source(state_of(cr));
  ADD(cr, DRAWING_COLOUR, red, green, blue, alpha);
}

void cairo_set_source_rgb(cairo_t *cr, double red, double green, double blue) {
  cairo_set_source_rgba(cr, red, green, blue, 1);
}

void cairo_set_source_surface(cairo_t *cr, cairo_surface_t *surface, double x, double y) {
  State *state = state_of(cr);
  cairo_surface_t *taken = reference(surface);
  drop_source(state);
  if (cr != &broken_context)
    state->source = (cairo_pattern_t){.surface = taken, .x = at_x(cr, x), .y = at_y(cr, y), .smooth = true};
}

cairo_pattern_t *cairo_get_source(cairo_t *cr) { return &state_of(cr)->source; }
void cairo_pattern_set_extend(cairo_pattern_t *pattern, cairo_extend_t extend) {
  pattern->repeats = extend == CAIRO_EXTEND_REPEAT;
}
void cairo_pattern_set_filter(cairo_pattern_t *pattern, cairo_filter_t filter) {
  pattern->smooth = filter != CAIRO_FILTER_NEAREST;
}

/* What is drawn keeps the surface; it is written where it is used, when its extend and filter are known. */
static void write_source(cairo_t *cr) {
  const cairo_pattern_t *source = &state_of(cr)->source;
  cairo_surface_t *s = cr->target;
  void *items = s->surfaces;
  if (!source->surface) return;
  if (!make_room(&items, &s->surfaces_room, s->n_surfaces + 1, sizeof *s->surfaces)) {
    s->is_broken = true;
    return;
  }
  s->surfaces = items;
  s->surfaces[s->n_surfaces] = reference(source->surface);
  ADD(cr, DRAWING_SURFACE, (double)s->n_surfaces++, source->x, source->y, source->repeats, source->smooth);
}

/* ---- Paths ----------------------------------------------------------------------------------------------- */

static void begin(cairo_t *cr) {
  if (!cr->is_path_open) ADD(cr, DRAWING_BEGIN);
  cr->is_path_open = true;
}

void cairo_new_path(cairo_t *cr) { cr->is_path_open = false; }

void cairo_move_to(cairo_t *cr, double x, double y) {
  begin(cr);
  ADD(cr, DRAWING_MOVE, at_x(cr, x), at_y(cr, y));
}

void cairo_line_to(cairo_t *cr, double x, double y) {
  begin(cr);
  ADD(cr, DRAWING_LINE, at_x(cr, x), at_y(cr, y));
}

void cairo_rectangle(cairo_t *cr, double x, double y, double width, double height) {
  begin(cr);
  ADD(cr, DRAWING_RECTANGLE, at_x(cr, x), at_y(cr, y), state_of(cr)->scale_x * width, state_of(cr)->scale_y * height);
}

void cairo_arc(cairo_t *cr, double x, double y, double radius, double from, double to) {
  begin(cr);
  ADD(cr, DRAWING_ARC, at_x(cr, x), at_y(cr, y), state_of(cr)->scale_x * radius, from, to);
}

void cairo_close_path(cairo_t *cr) { ADD(cr, DRAWING_CLOSE); }

static void use_path(cairo_t *cr, DrawingOp op, bool keeps) {
  if (cr->is_path_open) {
    if (op != DRAWING_CLIP) write_source(cr);
    ADD(cr, op);
  }
  cr->is_path_open = cr->is_path_open && keeps;
}

void cairo_fill(cairo_t *cr) { use_path(cr, DRAWING_FILL, false); }
void cairo_fill_preserve(cairo_t *cr) { use_path(cr, DRAWING_FILL, true); }
void cairo_stroke(cairo_t *cr) { use_path(cr, DRAWING_STROKE, false); }
void cairo_stroke_preserve(cairo_t *cr) { use_path(cr, DRAWING_STROKE, true); }

/* Clipping to an empty path leaves nothing to draw on. */
void cairo_clip(cairo_t *cr) {
  begin(cr);
  use_path(cr, DRAWING_CLIP, false);
}

void cairo_paint(cairo_t *cr) {
  write_source(cr);
  ADD(cr, DRAWING_PAINT);
}

void cairo_set_line_width(cairo_t *cr, double width) { ADD(cr, DRAWING_WIDTH, state_of(cr)->scale_x * width); }
void cairo_set_line_join(cairo_t *cr, cairo_line_join_t join) { ADD(cr, DRAWING_JOIN, (double)join); }

void cairo_set_dash(cairo_t *cr, const double *dashes, int n, double offset) {
  ADD(cr, DRAWING_DASH, offset, (double)n);
  if (n > 0) add_numbers(cr->target, dashes, (size_t)n);
}

/* Where pixels are whole, as in all that is drawn without antialiasing, there is nothing to do. */
void cairo_set_antialias(cairo_t *cr, cairo_antialias_t antialias) {
  (void)cr;
  (void)antialias;
}
void cairo_set_operator(cairo_t *cr, cairo_operator_t operator) {
  (void)cr;
  (void)operator;
}

/* ---- Text ------------------------------------------------------------------------------------------------ */

/* DejaVu Sans and DejaVu Sans Mono 2.37, table hhea: 1901 above and 483 below the base line of 2048 units to the em. */
#define ASCENT  (1901.0 / 2048)
#define DESCENT (483.0 / 2048)

enum { STYLE_BOLD = 1, STYLE_ITALIC = 2, STYLE_FIXED = 4 };

static DrawingMeasure *measure_line = drawing_plain_measure;
static void *measure_data;

void drawing_set_measure(DrawingMeasure *measure, void *data) {
  measure_line = measure;
  measure_data = data;
}

double drawing_plain_measure(void *data, double size, int style, const char *text) {
  int characters = 0;
  (void)data;
  for (; *text; text++) characters += ((unsigned char)*text & 0xC0) != 0x80;
  return characters * size * (style & STYLE_FIXED ? 0.6 : style & STYLE_BOLD ? 0.55 : 0.5);
}

static int style_of(const Lettering *lettering) {
  const bool fixed = lettering->family && (strstr(lettering->family, "Mono") || strstr(lettering->family, "mono"));
  return (lettering->bold ? STYLE_BOLD : 0) | (lettering->italic ? STYLE_ITALIC : 0) | (fixed ? STYLE_FIXED : 0);
}

void letter_forget_fonts(void) {} /* the browser's own */

LetterBox letter_measure(cairo_t *cr, const Lettering *lettering, const char *text) {
  if (cairo_status(cr) != CAIRO_STATUS_SUCCESS) return (LetterBox){0, 0, 0};
  return (LetterBox){measure_line(measure_data, lettering->size, style_of(lettering), text), ASCENT * lettering->size,
                     DESCENT * lettering->size};
}

static size_t add_text(cairo_surface_t *s, const char *text, size_t length) {
  List *l = &s->list;
  void *items = l->text;
  const size_t offset = l->n_text;
  if (s->is_broken || !make_room(&items, &l->text_room, offset + length, 1)) {
    s->is_broken = true;
    return offset;
  }
  l->text = items;
  for (size_t k = 0; k < length; k++) l->text[offset + k] = text[k] == '\n' || text[k] == '\t' ? ' ' : text[k];
  l->n_text += length;
  return offset;
}

LetterBox letter_draw(cairo_t *cr, const Lettering *lettering, double x, double y, const char *text) {
  const LetterBox box = letter_measure(cr, lettering, text);
  const size_t length = strlen(text), offset = add_text(cr->target, text, length);
  if (lettering->anchor == ANCHOR_MIDDLE) x -= box.width / 2;
  if (lettering->anchor == ANCHOR_END) x -= box.width;
  ADD(cr, DRAWING_TEXT, at_x(cr, x), at_y(cr, y), state_of(cr)->scale_x * lettering->size, style_of(lettering),
      (double)offset, (double)length);
  cr->is_path_open = false; /* as with pango, which draws over the path */
  return box;
}

/* ---- As text --------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  size_t numbers;
} OPS[] = {[DRAWING_SAVE] = {"save", 0},     [DRAWING_RESTORE] = {"restore", 0}, [DRAWING_BEGIN] = {"begin", 0},
           [DRAWING_MOVE] = {"move", 2},     [DRAWING_LINE] = {"line", 2},       [DRAWING_RECTANGLE] = {"rectangle", 4},
           [DRAWING_ARC] = {"arc", 5},       [DRAWING_CLOSE] = {"close", 0},     [DRAWING_FILL] = {"fill", 0},
           [DRAWING_STROKE] = {"stroke", 0}, [DRAWING_CLIP] = {"clip", 0},       [DRAWING_COLOUR] = {"colour", 4},
           [DRAWING_WIDTH] = {"width", 1},   [DRAWING_DASH] = {"dash", 2},       [DRAWING_JOIN] = {"join", 1},
           [DRAWING_PAINT] = {"paint", 0},   [DRAWING_SURFACE] = {"surface", 5}, [DRAWING_TEXT] = {"text", 6}};

typedef struct {
  char *bytes;
  size_t n, room;
  bool is_broken;
} Printed;

__attribute__((format(printf, 2, 3))) static void print(Printed *to, const char *format, ...) {
  va_list arguments, again;
  void *bytes = to->bytes;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, arguments);
  if (to->is_broken || length < 0 || !make_room(&bytes, &to->room, to->n + (size_t)length + 1, 1)) {
    to->is_broken = true;
  } else {
    to->bytes = bytes;
    vsnprintf(to->bytes + to->n, (size_t)length + 1, format, again);
    to->n += (size_t)length;
  }
  va_end(again);
  va_end(arguments);
}

static void print_list(Printed *to, const cairo_surface_t *s) {
  const List *l = &s->list;
  for (size_t k = 0; k < l->n_numbers;) {
    const int op = (int)l->numbers[k++];
    const double *of = l->numbers + k;
    size_t n = OPS[op].numbers;
    if (op == DRAWING_DASH) n += (size_t)of[1];
    k += n;
    print(to, "%s", OPS[op].name);
    for (size_t i = 0; i < (op == DRAWING_TEXT ? 4 : n); i++) print(to, " %.3f", round(of[i] * 1000) / 1000 + 0.0);
    if (op == DRAWING_TEXT) print(to, " %.*s", (int)of[5], l->text + (size_t)of[4]);
    print(to, "\n");
  }
  for (size_t k = 0; k < s->n_surfaces; k++) {
    const cairo_surface_t *inner = s->surfaces[k];
    print(to, "surface %zu of %d x %d\n", k, inner->width, inner->height);
    if (inner->pixels)
      print(to, "pixels %016llx\n", (unsigned long long)hash_of(inner));
    else
      print_list(to, inner);
  }
}

char *drawing_print(const cairo_surface_t *s) {
  Printed to = {0};
  print_list(&to, s);
  print(&to, "%s", s->is_broken ? "broken\n" : "");
  if (!to.is_broken) return to.bytes;
  free(to.bytes);
  return NULL;
}
