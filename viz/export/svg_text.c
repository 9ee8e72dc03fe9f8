#define _GNU_SOURCE /* memmem */
#include "viz/export/svg_text.h"

#include "viz/export/buffer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ADDRESS[] = "tilewalk-text:";

/* ---- while drawing ---- */

/* A number with at most three decimals and a point in every locale. */
static void add_number(ByteBuffer *out, const char *name, double value) {
  long long thousandths = llround(value * 1000);
  long long size = llabs(thousandths);
  buffer_add_format(out, " %s=\"%s%lld", name, thousandths < 0 ? "-" : "", size / 1000);
  if (size % 1000) buffer_add_format(out, ".%03lld", size % 1000);
  buffer_add_text(out, "\"");
}

static void add_fill(ByteBuffer *out, cairo_t *cr) {
  double red = 0, green = 0, blue = 0, alpha = 1;
  cairo_pattern_get_rgba(cairo_get_source(cr), &red, &green, &blue, &alpha);
  buffer_add_format(out, " fill=\"#%02lx%02lx%02lx\"", lround(red * 255), lround(green * 255), lround(blue * 255));
  if (alpha < 1) add_number(out, "fill-opacity", alpha);
}

/* Everything of a <text> element but its transform. Its origin is the middle of the line, see
 * svg_text_tap. */
static void add_element(ByteBuffer *out, cairo_t *cr, const LetterPiece *piece) {
  const Lettering *lettering = piece->lettering;
  add_number(out, "x", -piece->width / 2);
  add_number(out, "y", piece->box.ascent / 2);
  add_number(out, "textLength", piece->width);
  buffer_add_text(out, " lengthAdjust=\"spacingAndGlyphs\" font-family=\"");
  const char *family = lettering->family ? lettering->family : "sans-serif";
  buffer_add_escaped(out, family, strlen(family));
  buffer_add_text(out, "\"");
  add_number(out, "font-size", lettering->size);
  if (lettering->bold) buffer_add_text(out, " font-weight=\"bold\"");
  add_fill(out, cr);
  buffer_add_text(out, " xml:space=\"preserve\">");
  buffer_add_escaped(out, piece->text, strlen(piece->text));
  buffer_add_text(out, "</text>");
}

/* Paints the image that stands for a piece. Its place is the middle of the line: cairo leaves out
 * what lies off the page, and the middle goes last. */
static bool paint_stand_in(cairo_t *cr, const LetterPiece *piece, size_t index) {
  char *address = malloc(sizeof ADDRESS + 24);
  cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 1, 1);
  if (address) snprintf(address, sizeof ADDRESS + 24, "%s%zu", ADDRESS, index);
  bool made = address && cairo_surface_set_mime_data(image, CAIRO_MIME_TYPE_URI, (unsigned char *)address,
                                                     strlen(address), free, address) == CAIRO_STATUS_SUCCESS;
  if (made) {
    cairo_save(cr);
    cairo_translate(cr, piece->x + piece->width / 2, piece->y - piece->box.ascent / 2);
    cairo_set_source_surface(cr, image, 0, 0);
    cairo_paint(cr);
    cairo_restore(cr);
  } else {
    free(address);
  }
  cairo_surface_destroy(image);
  return made;
}

void svg_text_tap(void *data, cairo_t *cr, const LetterPiece *piece) {
  SvgText *svg = data;
  if (svg->status || piece->text[0] == '\0') return;
  ByteBuffer element = {0};
  add_element(&element, cr, piece);
  buffer_add(&element, "", 1);
  void *pieces = svg->pieces;
  bool good = !element.failed && grow_array(&pieces, &svg->capacity, svg->n_pieces + 1, sizeof(size_t));
  if (good) {
    svg->pieces = pieces;
    svg->pieces[svg->n_pieces++] = text_store_add(&svg->text, (const char *)element.bytes);
    good = !svg->text.status && paint_stand_in(cr, piece, svg->n_pieces - 1);
  }
  if (!good) svg->status = STATUS_NO_MEMORY;
  buffer_free(&element);
}

void svg_text_free(SvgText *svg) {
  text_store_free(&svg->text);
  free(svg->pieces);
  *svg = (SvgText){0};
}

/* ---- afterwards ---- */

/* The elements that cairo numbers through the process, in the order in which they are met, and the
 * piece of text that an image stands for. */
typedef struct {
  unsigned long number; /* cairo's */
  bool is_text;
  size_t piece;
} Element;

typedef struct {
  const SvgText *svg;
  Element *elements;
  size_t n_elements, capacity;
  ByteBuffer out;
  bool failed;
} Rewrite;

/* The place of an element in the list; it is added when it is new. */
static size_t element_of(Rewrite *rewrite, unsigned long number) {
  for (size_t i = rewrite->n_elements; i-- > 0;)
    if (rewrite->elements[i].number == number) return i;
  void *elements = rewrite->elements;
  if (!grow_array(&elements, &rewrite->capacity, rewrite->n_elements + 1, sizeof(Element))) {
    rewrite->failed = true;
    return 0;
  }
  rewrite->elements = elements;
  rewrite->elements[rewrite->n_elements] = (Element){.number = number};
  return rewrite->n_elements++;
}

/* Finds `needle` in a line that is not ended by a zero byte. Returns what follows it, or NULL. */
static const char *after(const char *line, size_t length, const char *needle) {
  const char *at = memmem(line, length, needle, strlen(needle));
  return at ? at + strlen(needle) : NULL;
}

/* The number at `p`, and what follows it. The document is not ended by a zero byte. */
static unsigned long read_number(const char *p, const char *end, const char **rest) {
  unsigned long number = 0;
  for (; p < end && *p >= '0' && *p <= '9'; p++) number = number * 10 + (unsigned long)(*p - '0');
  if (rest) *rest = p;
  return number;
}

/* Copies a line with the process-wide numbers replaced: id="surface11", id="image9", and references
 * to them. */
static void copy_line(Rewrite *rewrite, const char *line, size_t length) {
  static const char *const stems[] = {"\"surface", "\"image", "#surface", "#image"};
  size_t start = 0;
  for (size_t i = 0; i < length; i++) {
    if (line[i] != '"' && line[i] != '#') continue;
    for (int s = 0; s < 4; s++) {
      size_t n = strlen(stems[s]);
      if (i + n >= length || memcmp(line + i, stems[s], n) != 0) continue;
      if (line[i + n] < '0' || line[i + n] > '9') continue;
      const char *end;
      size_t element = element_of(rewrite, read_number(line + i + n, line + length, &end));
      buffer_add(&rewrite->out, line + start, i + n - start);
      buffer_add_format(&rewrite->out, "%zu", element);
      start = (size_t)(end - line);
    }
  }
  buffer_add(&rewrite->out, line + start, length - start);
}

/* <image id="image5" ... xlink:href="tilewalk-text:0"/>: noted and left out. */
static bool take_image(Rewrite *rewrite, const char *line, size_t length) {
  const char *number = after(line, length, "<image id=\"image");
  const char *piece = after(line, length, ADDRESS);
  if (!number || !piece) return false;
  size_t element = element_of(rewrite, read_number(number, line + length, NULL));
  if (rewrite->failed) return true;
  rewrite->elements[element].is_text = true;
  rewrite->elements[element].piece = read_number(piece, line + length, NULL);
  return true;
}

/* <use xlink:href="#image5" transform="matrix(...)"/>: becomes the text. */
static bool take_use(Rewrite *rewrite, const char *line, size_t length) {
  const char *number = after(line, length, "<use xlink:href=\"#image");
  const char *matrix = after(line, length, "transform=\"");
  const char *end = matrix ? after(matrix, (size_t)(line + length - matrix), "\"") : NULL;
  if (!number || !end) return false;
  size_t element = element_of(rewrite, read_number(number, line + length, NULL));
  if (rewrite->failed || !rewrite->elements[element].is_text) return rewrite->failed;
  size_t piece = rewrite->elements[element].piece;
  if (piece >= rewrite->svg->n_pieces) return false;
  buffer_add_text(&rewrite->out, "<text transform=\"");
  buffer_add(&rewrite->out, matrix, (size_t)(end - matrix));
  buffer_add_text(&rewrite->out, text_store_get(&rewrite->svg->text, rewrite->svg->pieces[piece]));
  buffer_add_text(&rewrite->out, "\n");
  return true;
}

static void add_description(ByteBuffer *out, const char *tag, const char *text) {
  if (!text || !*text) return;
  buffer_add_format(out, "<%s>", tag);
  buffer_add_escaped(out, text, strlen(text));
  buffer_add_format(out, "</%s>\n", tag);
}

Status svg_text_finish(const SvgText *svg, const char *document, size_t n_bytes, const char *title,
                       const char *description, unsigned char **result, size_t *n_result, Error *error) {
  Rewrite rewrite = {.svg = svg};
  for (size_t at = 0; at < n_bytes && !rewrite.failed;) {
    const char *line = document + at, *newline = memchr(line, '\n', n_bytes - at);
    size_t length = newline ? (size_t)(newline - line) + 1 : n_bytes - at;
    if (!take_image(&rewrite, line, length) && !take_use(&rewrite, line, length)) copy_line(&rewrite, line, length);
    if (after(line, length, "<svg ")) {
      add_description(&rewrite.out, "title", title);
      add_description(&rewrite.out, "desc", description);
    }
    at += length;
  }
  free(rewrite.elements);
  if (rewrite.failed || rewrite.out.failed || svg->status || svg->text.status) {
    buffer_free(&rewrite.out);
    return error_set(error, STATUS_NO_MEMORY, "out of memory while an SVG file was made; ask for a smaller drawing");
  }
  *result = rewrite.out.bytes;
  *n_result = rewrite.out.used;
  return STATUS_OK;
}
