#define _POSIX_C_SOURCE 200809L
#include "viz/export/surface.h"

#include "sim/base/ascii.h"
#include "sim/base/utf8.h"
#include "viz/export/buffer.h"
#include "viz/export/output.h"
#include "viz/export/svg_text.h"
#include "viz/text/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <zlib.h>

static const double SIDE_MIN = 16, SIDE_MAX = 16384;

Status surface_format(const char *path, SurfaceFormat *format, Error *error) {
  static const char *const suffixes[] = {".png", ".svg", ".pdf"};
  size_t length = strlen(path);
  for (int i = 0; i < 3; i++)
    if (length > 4 && ascii_same(path + length - 4, suffixes[i])) {
      *format = (SurfaceFormat)i;
      return STATUS_OK;
    }
  return error_refuse(error, "cannot tell what picture to write to %.160s: the name must end in .png, .svg or .pdf",
                      path);
}

static cairo_status_t take_bytes(void *buffer, const unsigned char *bytes, unsigned int n) {
  buffer_add(buffer, bytes, n);
  return ((ByteBuffer *)buffer)->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

/* ---- PNG ---- */

static void add_word(ByteBuffer *out, uint32_t word) {
  unsigned char bytes[4] = {(unsigned char)(word >> 24), (unsigned char)(word >> 16), (unsigned char)(word >> 8),
                            (unsigned char)word};
  buffer_add(out, bytes, 4);
}

/* An iTXt chunk: keyword, no compression, no language, UTF-8 text. */
static void add_text_chunk(ByteBuffer *out, const char *keyword, const char *text) {
  if (!text || !*text) return;
  ByteBuffer chunk = {0};
  buffer_add_text(&chunk, "iTXt");
  buffer_add_text(&chunk, keyword);
  buffer_add(&chunk, "\0\0\0\0\0", 5);
  buffer_add_text(&chunk, text);
  if (chunk.failed) {
    out->failed = true;
  } else {
    add_word(out, (uint32_t)chunk.used - 4);
    buffer_add(out, chunk.bytes, chunk.used);
    add_word(out, (uint32_t)crc32(0, chunk.bytes, (unsigned)chunk.used));
  }
  buffer_free(&chunk);
}

/* The text chunks go behind the header chunk: 8 bytes of signature and 25 of IHDR. */
static void add_png_metadata(ByteBuffer *png, const SurfaceMetadata *metadata) {
  enum { BEFORE = 8 + 25 };
  ByteBuffer out = {0};
  if (png->failed || png->used < BEFORE) return;
  buffer_add(&out, png->bytes, BEFORE);
  add_text_chunk(&out, "Title", metadata->title);
  add_text_chunk(&out, "Description", metadata->state);
  add_text_chunk(&out, "Software", "Tilewalk");
  buffer_add(&out, png->bytes + BEFORE, png->used - BEFORE);
  buffer_free(png);
  *png = out;
}

/* ---- PDF ---- */

/* cairo writes the present time. The entry is blanked in place, so that no offset in the file
 * moves. */
static void blank_date(ByteBuffer *pdf) {
  static const char entry[] = "/CreationDate (";
  const size_t n = sizeof entry - 1;
  for (size_t i = 0; i + n < pdf->used; i++) {
    if (memcmp(pdf->bytes + i, entry, n) != 0) continue;
    while (i < pdf->used && pdf->bytes[i] != ')') pdf->bytes[i++] = ' ';
    if (i < pdf->used) pdf->bytes[i] = ' ';
    return;
  }
}

static void set_pdf_metadata(cairo_surface_t *surface, const SurfaceMetadata *metadata) {
  if (metadata->title) cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, metadata->title);
  if (metadata->state) cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_SUBJECT, metadata->state);
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "Tilewalk");
}

/* ---- all ---- */

static cairo_status_t run(cairo_surface_t *surface, double width, double height, DrawFunction *draw, const void *data) {
  cairo_t *cr = cairo_create(surface);
  if (cairo_status(cr) == CAIRO_STATUS_SUCCESS) draw(cr, width, height, data);
  cairo_status_t status = cairo_status(cr);
  cairo_destroy(cr);
  return status;
}

static cairo_status_t make_png(ByteBuffer *out, double width, double height, DrawFunction *draw, const void *data,
                               const SurfaceMetadata *metadata) {
  int columns = (int)lround(width), rows = (int)lround(height);
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, columns, rows);
  cairo_status_t status = run(surface, columns, rows, draw, data);
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_write_to_png_stream(surface, take_bytes, out);
  cairo_surface_destroy(surface);
  if (status == CAIRO_STATUS_SUCCESS) add_png_metadata(out, metadata);
  return status;
}

static cairo_status_t make_pdf(ByteBuffer *out, double width, double height, DrawFunction *draw, const void *data,
                               const SurfaceMetadata *metadata) {
  cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(take_bytes, out, width, height);
  set_pdf_metadata(surface, metadata);
  cairo_status_t status = run(surface, width, height, draw, data);
  cairo_surface_finish(surface);
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  blank_date(out);
  return status;
}

static cairo_status_t make_svg(ByteBuffer *out, double width, double height, DrawFunction *draw, const void *data,
                               const SurfaceMetadata *metadata) {
  SvgText svg = {0};
  ByteBuffer plain = {0};
  cairo_surface_t *surface = cairo_svg_surface_create_for_stream(take_bytes, &plain, width, height);
  cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
  cairo_status_t status = CAIRO_STATUS_NO_MEMORY;
  if (letter_set_tap(surface, svg_text_tap, &svg)) status = run(surface, width, height, draw, data);
  cairo_surface_finish(surface);
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
  cairo_surface_destroy(surface);
  if (status == CAIRO_STATUS_SUCCESS) {
    unsigned char *bytes = NULL;
    size_t n = 0;
    if (!svg_text_finish(&svg, (const char *)plain.bytes, plain.used, metadata->title, metadata->state, &bytes, &n,
                         NULL))
      *out = (ByteBuffer){bytes, n, n, false};
    else
      out->failed = true;
  }
  buffer_free(&plain);
  svg_text_free(&svg);
  return status;
}

static Status check_size(double width, double height, Error *error) {
  if (width >= SIDE_MIN && width <= SIDE_MAX && height >= SIDE_MIN && height <= SIDE_MAX) return STATUS_OK;
  return error_refuse(error, "a picture of %s x %s cannot be made: each side must be from %.0f to %.0f",
                      number_double(width, 6).text, number_double(height, 6).text, SIDE_MIN, SIDE_MAX);
}

/* A copy without what is no text (a state may name a file with any bytes); NULL: none, or no memory. */
static char *clean_copy(const char *text) {
  char *copy = text ? malloc(strlen(text) + 1) : NULL;
  if (!copy) return NULL;
  strcpy(copy, text);
  utf8_clean(copy);
  return copy;
}

Status surface_bytes(SurfaceFormat format, double width, double height, DrawFunction *draw, const void *data,
                     const SurfaceMetadata *given, unsigned char **bytes, size_t *n_bytes, Error *error) {
  Status status = check_size(width, height, error);
  if (status) return status;
  char *title = clean_copy(given ? given->title : NULL), *state = clean_copy(given ? given->state : NULL);
  const SurfaceMetadata clean = {title, state}, *metadata = &clean;
  ByteBuffer out = {0};
  cairo_status_t drawn = CAIRO_STATUS_NO_MEMORY;
  if (given && ((given->title && !title) || (given->state && !state)))
    out.failed = true;
  else
    drawn = format == SURFACE_PNG   ? make_png(&out, width, height, draw, data, metadata)
            : format == SURFACE_SVG ? make_svg(&out, width, height, draw, data, metadata)
                                    : make_pdf(&out, width, height, draw, data, metadata);
  free(title);
  free(state);
  if (drawn == CAIRO_STATUS_SUCCESS && !out.failed) {
    *bytes = out.bytes;
    *n_bytes = out.used;
    return STATUS_OK;
  }
  buffer_free(&out);
  if (out.failed || drawn == CAIRO_STATUS_SUCCESS || drawn == CAIRO_STATUS_NO_MEMORY)
    return error_set(error, STATUS_NO_MEMORY,
                     "out of memory while a picture of %.0f x %.0f was made; ask for a smaller one", width, height);
  return error_set(error, STATUS_TOO_LARGE, "a picture of %.0f x %.0f cannot be made: %s", width, height,
                   cairo_status_to_string(drawn));
}

/* To a file or, for another program, to `out`. */
static Status put(const char *path, FileWrite *file, FILE *out, double width, double height, DrawFunction *draw,
                  const void *data, const SurfaceMetadata *metadata, Error *error) {
  SurfaceFormat format;
  unsigned char *bytes = NULL;
  size_t n_bytes = 0;
  Status status = surface_format(path, &format, error);
  if (!status) status = check_size(width, height, error);
  if (!status && file) status = file_write_begin(file, path, error); /* before the work: a bad path fails at once */
  if (status) return status;
  status = surface_bytes(format, width, height, draw, data, metadata, &bytes, &n_bytes, error);
  if (!status) fwrite(bytes, 1, n_bytes, file ? file->stream : out);
  free(bytes);
  if (status && file) file_write_abort(file);
  return status || !file ? status : file_write_commit(file, error);
}

Status surface_save(const char *path, double width, double height, DrawFunction *draw, const void *data,
                    const SurfaceMetadata *metadata, Error *error) {
  FileWrite file;
  return put(path, &file, NULL, width, height, draw, data, metadata, error);
}

Status surface_put(const char *path, FILE *out, double width, double height, DrawFunction *draw, const void *data,
                   const SurfaceMetadata *metadata, Error *error) {
  if (strncmp(path, "-.", 2) != 0) return surface_save(path, width, height, draw, data, metadata, error);
  return put(path, NULL, out, width, height, draw, data, metadata, error);
}
