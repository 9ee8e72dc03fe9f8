/* See drawing.h. Names and meanings of the functions are cairo's: https://www.cairographics.org/manual/ */
#include "viz/web/drawing.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/export/buffer.h"
#include "viz/text/lettering.h"
#include "viz/web/web_page.h"

/* ---- Lists ----------------------------------------------------------------------------------------------- */

struct _cairo_surface {
  int references;
  int width, height;
  ByteBuffer numbers, surfaces; /* doubles, pointers to surfaces */
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

/* An operation and its numbers; how many they are goes with it. */
static void add(cairo_t *cr, size_t n, double *of) {
  of[0] += DRAWING_OPS * ((double)n - 1);
  buffer_add(&cr->target->numbers, of, n * sizeof *of);
}
#define ADD(cr, ...) add(cr, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

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

static size_t n_surfaces(const cairo_surface_t *s) { return s->surfaces.used / sizeof(cairo_surface_t *); }
cairo_surface_t *drawing_surface(const cairo_surface_t *s, size_t index) {
  return ((cairo_surface_t **)(void *)s->surfaces.bytes)[index];
}

void drawing_clear(cairo_surface_t *s) {
  if (s == &broken_surface) return;
  for (size_t k = 0; k < n_surfaces(s); k++) cairo_surface_destroy(drawing_surface(s, k));
  s->surfaces.used = s->numbers.used = 0;
  s->surfaces.failed = s->numbers.failed = s->is_broken = false;
}

void cairo_surface_destroy(cairo_surface_t *s) {
  if (!s || s->references < 0 || --s->references > 0) return;
  drawing_clear(s);
  buffer_free(&s->surfaces);
  buffer_free(&s->numbers);
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

static bool is_whole(const cairo_surface_t *s) { return !s->is_broken && !s->numbers.failed && !s->surfaces.failed; }

cairo_status_t cairo_surface_status(cairo_surface_t *s) {
  return is_whole(s) ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_NO_MEMORY;
}

cairo_surface_type_t cairo_surface_get_type(cairo_surface_t *s) {
  (void)s;
  return CAIRO_SURFACE_TYPE_IMAGE;
}

DrawingList drawing_list(const cairo_surface_t *s) {
  return (DrawingList){(const double *)(const void *)s->numbers.bytes, s->numbers.used / sizeof(double)};
}

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/, by words of eight bytes; as many of its bits as a double has. */
static double hash_of(const cairo_surface_t *s) {
  uint64_t hash = 0xcbf29ce484222325u, word;
  for (size_t at = 0; at < s->numbers.used; at += sizeof word) {
    memcpy(&word, s->numbers.bytes + at, sizeof word);
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  return (double)(hash >> 11);
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

/* ---- Sources --------------------------------------------------------------------------------------------- */

void cairo_set_source_rgba(cairo_t *cr, double red, double green, double blue, double alpha) {
  drop_source(state_of(cr));
  ADD(cr, DRAWING_COLOUR, red, green, blue, alpha);
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
  if (!source->surface) return;
  ADD(cr, DRAWING_SURFACE, (double)n_surfaces(s), hash_of(source->surface), source->surface->width,
      source->surface->height, source->x, source->y, source->repeats, source->smooth);
  buffer_add(&s->surfaces, &source->surface, sizeof source->surface);
  if (!s->surfaces.failed) reference(source->surface);
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

/* The first point of a path is moved to. */
void cairo_line_to(cairo_t *cr, double x, double y) {
  const DrawingOp op = cr->is_path_open ? DRAWING_LINE : DRAWING_MOVE;
  begin(cr);
  ADD(cr, op, at_x(cr, x), at_y(cr, y));
}

void cairo_rectangle(cairo_t *cr, double x, double y, double width, double height) {
  begin(cr);
  ADD(cr, DRAWING_RECTANGLE, at_x(cr, x), at_y(cr, y), state_of(cr)->scale_x * width, state_of(cr)->scale_y * height);
}

void cairo_arc(cairo_t *cr, double x, double y, double radius, double from, double to) {
  begin(cr);
  ADD(cr, DRAWING_ARC, at_x(cr, x), at_y(cr, y), state_of(cr)->scale_x * fmax(radius, 0), from, to);
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
void cairo_stroke(cairo_t *cr) { use_path(cr, DRAWING_STROKE, false); }
void cairo_stroke_preserve(cairo_t *cr) { use_path(cr, DRAWING_STROKE, true); }

/* Clipping to an empty path leaves nothing to draw on. */
void cairo_clip(cairo_t *cr) {
  begin(cr);
  use_path(cr, DRAWING_CLIP, false);
}

/* All of the surface: clips are not followed. */
void cairo_clip_extents(cairo_t *cr, double *left, double *top, double *right, double *bottom) {
  const State *state = state_of(cr);
  *left = -state->x / state->scale_x;
  *top = -state->y / state->scale_y;
  *right = *left + cr->target->width / state->scale_x;
  *bottom = *top + cr->target->height / state->scale_y;
}

void cairo_paint(cairo_t *cr) {
  write_source(cr);
  ADD(cr, DRAWING_PAINT);
}

void cairo_set_line_width(cairo_t *cr, double width) { ADD(cr, DRAWING_WIDTH, state_of(cr)->scale_x * width); }
void cairo_set_line_join(cairo_t *cr, cairo_line_join_t join) { ADD(cr, DRAWING_JOIN, (double)join); }

void cairo_set_dash(cairo_t *cr, const double *dashes, int n, double offset) {
  (void)offset;
  ADD(cr, DRAWING_DASH + DRAWING_OPS * n);
  buffer_add(&cr->target->numbers, dashes, (size_t)n * sizeof *dashes);
}

/* Where pixels are whole, as in all that is drawn without antialiasing, there is nothing to do. */
void cairo_set_antialias(cairo_t *cr, cairo_antialias_t antialias) {
  (void)cr;
  (void)antialias;
}

/* ---- Text ------------------------------------------------------------------------------------------------ */

/* DejaVu Sans and DejaVu Sans Mono 2.37, table hhea: 1901 above and 483 below the base line of 2048 units to the em. */
#define ASCENT  (1901.0 / 2048)
#define DESCENT (483.0 / 2048)

enum { CAIRO_LINE_WIDTH = 2 }; /* before it is set */
enum { STYLE_BOLD = 1, STYLE_FIXED = 4 };

static int style_of(const Lettering *lettering) {
  const bool fixed = lettering->family && (strstr(lettering->family, "Mono") || strstr(lettering->family, "mono"));
  return (lettering->bold ? STYLE_BOLD : 0) | (fixed ? STYLE_FIXED : 0);
}

void letter_forget_fonts(void) {} /* the browser's own */

LetterBox letter_measure(cairo_t *cr, const Lettering *lettering, const char *text) {
  if (cairo_status(cr) != CAIRO_STATUS_SUCCESS) return (LetterBox){0, 0, 0};
  return (LetterBox){page_measure(lettering->size, style_of(lettering), text, strlen(text)), ASCENT * lettering->size,
                     DESCENT * lettering->size};
}

LetterBox letter_draw(cairo_t *cr, const Lettering *lettering, double x, double y, const char *text) {
  const LetterBox box = letter_measure(cr, lettering, text);
  const size_t length = strlen(text), padded = (length + 7) / 8 * 8;
  if (lettering->anchor == ANCHOR_MIDDLE) x -= box.width / 2;
  if (lettering->anchor == ANCHOR_END) x -= box.width;
  ADD(cr, DRAWING_TEXT + DRAWING_OPS * (double)(padded / 8), at_x(cr, x), at_y(cr, y),
      state_of(cr)->scale_x * lettering->size, style_of(lettering), (double)length);
  for (size_t k = 0; k < padded; k++)
    buffer_add(&cr->target->numbers, k >= length ? "" : strchr("\n\t", text[k]) ? " " : text + k, 1);
  cr->is_path_open = false; /* as with pango, which draws over the path */
  return box;
}

/* ---- As SVG ---------------------------------------------------------------------------------------------- */

static int op_at(const double *at) { return (int)*at % DRAWING_OPS; }
static int count_at(const double *at) { return (int)*at / DRAWING_OPS; }

/* What a shape is painted with. */
typedef struct {
  char paint[40]; /* "#0072b2", "url(#s3)" */
  double alpha, width;
  const double *dash; /* its place in the list; NULL: none */
  int join, n_groups;
} Look;

/* A format whose % are numbers, rounded to 1/1000. */
static void put(ByteBuffer *to, const char *format, ...) {
  va_list numbers;
  va_start(numbers, format);
  for (; *format; format++)
    if (*format == '%')
      buffer_add_format(to, "%.10g", round(va_arg(numbers, double) * 1000) / 1000 + 0.0);
    else
      buffer_add(to, format, 1);
  va_end(numbers);
}

/* As a fill or a stroke. */
static void print_paint(ByteBuffer *to, const char *as, const Look *look) {
  buffer_add_format(to, " %s=\"%s\"", as, look->paint);
  if (look->alpha < 1) buffer_add_format(to, " %s-opacity=\"", as), put(to, "%\"", look->alpha);
}

static void print_stroke(ByteBuffer *to, const Look *look) {
  static const char *const JOINS[] = {"miter", "round", "bevel"};
  const int n_dashes = look->dash ? count_at(look->dash) : 0;
  buffer_add_text(to, " fill=\"none\"");
  print_paint(to, "stroke", look);
  put(to, " stroke-width=\"%\"", look->width);
  if (look->join) buffer_add_format(to, " stroke-linejoin=\"%s\"", JOINS[look->join]);
  for (int k = 1; k <= n_dashes; k++) put(to, k > 1 ? " %" : " stroke-dasharray=\"%", look->dash[k]);
  if (n_dashes) buffer_add_text(to, "\"");
}

static void print_text(ByteBuffer *to, const double *of, const Look *look) {
  const int style = (int)of[3];
  put(to, "<text x=\"%\" y=\"%\" font-size=\"%\"", of[0], of[1], of[2]);
  if (style & STYLE_FIXED) buffer_add_text(to, " font-family=\"DejaVu Sans Mono, monospace\"");
  if (style & STYLE_BOLD) buffer_add_text(to, " font-weight=\"bold\"");
  print_paint(to, "fill", look);
  buffer_add_text(to, " xml:space=\"preserve\">");
  buffer_add_escaped(to, (const char *)(of + 5), (size_t)of[4]);
  buffer_add_text(to, "</text>\n");
}

/* A path that begins at `at`, used at `end`. */
static void print_path(ByteBuffer *to, const double *at, const double *end) {
  buffer_add_text(to, "<path d=\"");
  for (; at < end; at += 1 + count_at(at)) {
    const double *of = at + 1, r = of[2];
    switch (op_at(at)) {
    case DRAWING_MOVE: put(to, "M% %", of[0], of[1]); break;
    case DRAWING_LINE: put(to, "L% %", of[0], of[1]); break;
    case DRAWING_RECTANGLE: put(to, "M% %h%v%h%Z", of[0], of[1], r, of[3], -r); break;
    case DRAWING_ARC: /* nothing draws less than a circle */
      put(to, "M% %a% % 0 1 1 % 0a% % 0 1 1 % 0Z", of[0] + r, of[1], r, r, -2 * r, r, r, 2 * r);
      break;
    case DRAWING_CLOSE: buffer_add_text(to, "Z"); break;
    default: break;
    }
  }
  buffer_add_text(to, "\"");
}

static void end_groups(ByteBuffer *to, Look *look) {
  for (; look->n_groups; look->n_groups--) buffer_add_text(to, "</g>\n");
}

/* An element a line. `id`: the last that was given. A clip opens a group that is closed by the restore of its save. */
static void print_list(ByteBuffer *to, const cairo_surface_t *s, int *id) {
  const DrawingList l = drawing_list(s);
  const double *path = l.numbers;
  Look looks[STATES] = {{.paint = "#000000", .alpha = 1, .width = CAIRO_LINE_WIDTH}}, *look = looks;
  for (const double *at = l.numbers; at < l.numbers + l.n_numbers; at += 1 + count_at(at)) {
    const double *of = at + 1;
    switch (op_at(at)) {
    case DRAWING_SAVE:
      look[1] = look[0];
      (++look)->n_groups = 0;
      break;
    case DRAWING_RESTORE: end_groups(to, look--); break;
    case DRAWING_BEGIN: path = at; break;
    case DRAWING_FILL:
    case DRAWING_STROKE:
      print_path(to, path, at);
      if (op_at(at) == DRAWING_FILL)
        print_paint(to, "fill", look);
      else
        print_stroke(to, look);
      buffer_add_text(to, "/>\n");
      break;
    case DRAWING_CLIP:
      buffer_add_format(to, "<clipPath id=\"s%d\">", ++*id);
      print_path(to, path, at);
      buffer_add_format(to, "/></clipPath><g clip-path=\"url(#s%d)\">\n", *id);
      look->n_groups++;
      break;
    case DRAWING_COLOUR:
      snprintf(look->paint, sizeof look->paint, "#%02x%02x%02x", (unsigned)round(255 * of[0]),
               (unsigned)round(255 * of[1]), (unsigned)round(255 * of[2]));
      look->alpha = of[3];
      break;
    case DRAWING_WIDTH: look->width = of[0]; break;
    case DRAWING_DASH: look->dash = at; break;
    case DRAWING_JOIN: look->join = (int)of[0]; break;
    case DRAWING_PAINT:
      buffer_add_format(to, "<path d=\"M0 0h%dv%dh%dZ\"", s->width, s->height, -s->width);
      print_paint(to, "fill", look);
      buffer_add_text(to, "/>\n");
      break;
    case DRAWING_SURFACE: {
      const cairo_surface_t *of_it = drawing_surface(s, (size_t)of[0]);
      snprintf(look->paint, sizeof look->paint, "url(#s%d)", ++*id);
      look->alpha = 1;
      buffer_add_format(to, "<pattern id=\"s%d\" patternUnits=\"userSpaceOnUse\"", *id);
      put(to, " x=\"%\" y=\"%\" ", of[4], of[5]);
      buffer_add_format(to, "width=\"%d\" height=\"%d\">\n", of_it->width, of_it->height);
      print_list(to, of_it, id);
      buffer_add_text(to, "</pattern>\n");
      break;
    }
    case DRAWING_TEXT: print_text(to, of, look); break;
    }
  }
  for (; look > looks; look--) end_groups(to, look);
  end_groups(to, look);
}

char *drawing_svg(const cairo_surface_t *s, const char *title, const char *state) {
  ByteBuffer to = {.failed = !is_whole(s)};
  int id = 0;
  buffer_add_format(&to, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" ",
                    s->width, s->height, s->width, s->height);
  buffer_add_text(&to, "font-family=\"DejaVu Sans, sans-serif\" stroke-miterlimit=\"10\">\n<title>");
  buffer_add_escaped(&to, title, strlen(title));
  buffer_add_text(&to, "</title>\n<desc>");
  buffer_add_escaped(&to, state, strlen(state));
  buffer_add_text(&to, "</desc>\n");
  print_list(&to, s, &id);
  buffer_add(&to, "</svg>\n", sizeof "</svg>\n");
  if (!to.failed) return (char *)to.bytes;
  buffer_free(&to);
  return NULL;
}
