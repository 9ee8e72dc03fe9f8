/* surface.h, svg_text.h: the three formats hold what was drawn, text as text, metadata, and the
 * same bytes every time. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/test.h"
#include "tests/support/alloc_fail.h"
#include "viz/export/surface.h"
#include "viz/export/svg_text.h"

#include <time.h>
#include <unistd.h>

#include <zlib.h>

/* cairo 1.16 loses one surface for every group that is painted with an alpha into an SVG file. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfontconfig\nleak:libcairo\n"; }

static const SurfaceMetadata metadata = {"Traffic & more", "algorithm=fa2 N=64 note=<\xc3\xa4>"};

/* A red square, text in the open, text in a group turned by a quarter, text that needs escaping. */
static void draw_sample(cairo_t *cr, double width, double height, const void *data) {
  (void)data;
  cairo_set_source_rgb(cr, 1, 1, 1);
  cairo_paint(cr);
  cairo_set_source_rgb(cr, 1, 0, 0);
  cairo_rectangle(cr, 10, 10, 20, 20);
  cairo_fill(cr);
  Lettering plain = {.size = 16}, bold = {.size = 12, .bold = true, .anchor = ANCHOR_END};
  cairo_set_source_rgba(cr, 0, 0, 1, 0.5);
  letter_draw(cr, &plain, 40, 30, "first <b> & \"last\"");
  cairo_push_group(cr);
  cairo_translate(cr, width / 2, height / 2);
  cairo_rotate(cr, -1.57079632679489662);
  cairo_set_source_rgb(cr, 0, 0, 0);
  letter_draw(cr, &bold, 0, 0, "turned \xce\xa9");
  cairo_pop_group_to_source(cr);
  cairo_paint_with_alpha(cr, 0.5);
}

typedef struct {
  unsigned char *bytes;
  size_t n;
} File;

static File make(SurfaceFormat format, double width, double height) {
  File file = {0};
  Status status =
      surface_bytes(format, width, height, draw_sample, NULL, &metadata, &file.bytes, &file.n, fresh_error());
  must(status);
  must(test_error.status);
  return file;
}

/* Where a text stands in bytes that may hold zeros; NULL if nowhere. */
static const char *find(const File *file, const char *text) {
  size_t n = strlen(text);
  for (size_t i = 0; i + n <= file->n; i++)
    if (memcmp(file->bytes + i, text, n) == 0) return (const char *)file->bytes + i;
  return NULL;
}

static int count(const File *file, const char *text) {
  int found = 0;
  for (size_t i = 0; i + strlen(text) <= file->n; i++) found += memcmp(file->bytes + i, ALL_OF(text)) == 0;
  return found;
}

/* ---- formats ---- */

TEST(test_suffix) {
  const struct {
    const char *path;
    SurfaceFormat format;
  } good[] = {{"a.png", SURFACE_PNG}, {"a.b/c.SVG", SURFACE_SVG}, {"x.tar.Pdf", SURFACE_PDF}};
  SurfaceFormat format;
  for (size_t i = 0; i < 3; i++) {
    must(surface_format(good[i].path, &format, NULL));
    assert_int_equal(format, good[i].format);
  }
  static const char *const bad[] = {"", "png", ".png", "a.jpg", "a.png.gz", "a.svgz", "a"};
  EACH (i, bad) {
    must_refuse(surface_format(bad[i], &format, fresh_error()), STATUS_BAD_REQUEST, ".png, .svg or .pdf");
  }
}

/* ---- PNG ---- */

static uint32_t word_at(const unsigned char *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Walks the chunks as the PNG specification has them; returns how many iTXt chunks there are. */
static int walk_png(const File *file) {
  static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  assert_true(file->n > 8 && memcmp(file->bytes, signature, 8) == 0);
  int texts = 0;
  for (size_t at = 8; at < file->n;) {
    uint32_t length = word_at(file->bytes + at);
    assert_true(length <= file->n && at + 12 + length <= file->n);
    const unsigned char *type = file->bytes + at + 4;
    assert_int_equal(word_at(type + 4 + length), crc32(0, type, length + 4));
    if (at == 8) assert_memory_equal(type, "IHDR", 4);
    texts += memcmp(type, "iTXt", 4) == 0;
    at += 12 + length;
    if (at == file->n) assert_memory_equal(type, "IEND", 4);
  }
  return texts;
}

TEST(test_png_chunks) {
  File file = make(SURFACE_PNG, 200.4, 100);
  assert_int_equal(walk_png(&file), 3);
  assert_int_equal(word_at(file.bytes + 16), 200);
  assert_int_equal(word_at(file.bytes + 20), 100);
  assert_non_null(find(&file, "algorithm=fa2 N=64 note=<\xc3\xa4>"));
  assert_non_null(find(&file, "Traffic & more"));
  free(file.bytes);
}

/* ---- SVG ---- */

typedef struct {
  double x1, y1, x2, y2; /* start and end of the base line on the page */
} Baseline;

/* Where the <text> element that holds a word puts its base line: matrix times x and y, and on by
 * textLength. */
static Baseline baseline_of(const File *file, const char *word) {
  const char *at = find(file, word);
  assert_non_null(at);
  while (memcmp(at, "<text ", 6) != 0) at--;
  char element[400];
  size_t left = (size_t)((const char *)file->bytes + file->n - at);
  snprintf(element, sizeof element, "%.*s", (int)(left < sizeof element ? left : sizeof element - 1), at);
  double a, b, c, d, e, f, x, y, width;
  assert_int_equal(sscanf(element,
                          "<text transform=\"matrix(%lf,%lf,%lf,%lf,%lf,%lf)\" x=\"%lf\" y=\"%lf\" "
                          "textLength=\"%lf\"",
                          &a, &b, &c, &d, &e, &f, &x, &y, &width),
                   9);
  double x1 = a * x + c * y + e, y1 = b * x + d * y + f;
  return (Baseline){x1, y1, x1 + a * width, y1 + b * width};
}

/* One text begins at (40, 30), level; the turned one ends in the middle of the page and reads upwards. */
TEST(test_svg_text_is_text) {
  File file = make(SURFACE_SVG, 200, 100);
  assert_non_null(find(&file, ">first &lt;b&gt; &amp; &quot;last&quot;</text>"));
  assert_non_null(find(&file, ">turned \xce\xa9</text>"));
  assert_int_equal(count(&file, "<text "), 2);
  assert_null(find(&file, "tilewalk-text:")); /* no stand-in is left */
  assert_null(find(&file, "glyph"));          /* and no outlines */
  assert_non_null(find(&file, "fill=\"#0000ff\" fill-opacity=\"0.500\""));
  assert_non_null(find(&file, "font-weight=\"bold\""));
  assert_non_null(find(&file, "<title>Traffic &amp; more</title>"));
  assert_non_null(find(&file, "<desc>algorithm=fa2 N=64 note=&lt;\xc3\xa4&gt;</desc>"));
  Baseline level = baseline_of(&file, ">first"), turned = baseline_of(&file, ">turned");
  assert_true(fabs(level.x1 - 40) < 0.01 && fabs(level.y1 - 30) < 0.01);
  assert_true(level.x2 > level.x1 + 50 && fabs(level.y2 - 30) < 0.01);
  assert_true(fabs(turned.x2 - 100) < 0.01 && fabs(turned.y2 - 50) < 0.01);
  assert_true(fabs(turned.x1 - 100) < 0.01 && turned.y1 > turned.y2 + 20);
  free(file.bytes);
}

static void draw_nothing(cairo_t *cr, double width, double height, const void *data) {
  (void)cr, (void)width, (void)height, (void)data;
}

/* The name of a file may hold any bytes: the picture is well-formed, and says so with a mark. */
TEST(test_names_of_any_bytes) {
  static const SurfaceMetadata odd = {"a\xff\x1b\xc3\xa9", "gpu=./h\xff.gpu \xef\xbf\xbe"};
  for (int format = SURFACE_PNG; format <= SURFACE_PDF; format++) {
    File file = {0};
    must(surface_bytes((SurfaceFormat)format, 100, 100, draw_nothing, NULL, &odd, &file.bytes, &file.n, fresh_error()));
    if (format == SURFACE_SVG) {
      assert_non_null(find(&file, "<title>a??\xc3\xa9</title>"));
      assert_non_null(find(&file, "<desc>gpu=./h?.gpu ?</desc>"));
    }
    free(file.bytes);
  }
}

/* A document that another cairo may write: what is not understood is copied, not lost. */
TEST(test_svg_rewrite_keeps_the_rest) {
  const char document[] = "<svg a>\n<image id=\"image77\" xlink:href=\"data:,\"/>\n<use "
                          "xlink:href=\"#image77\" transform=\"m\"/>\n"
                          "<g id=\"surface12\"/>\n<use xlink:href=\"#surface12\"/>\n<p d=\"M\"/>";
  SvgText svg = {0};
  unsigned char *bytes;
  size_t n;
  must(svg_text_finish(&svg, document, sizeof document - 1, NULL, NULL, &bytes, &n, NULL));
  File file = {bytes, n};
  assert_non_null(find(&file, "<svg a>\n<image id=\"image0\" xlink:href=\"data:,\"/>\n<use "
                              "xlink:href=\"#image0\" transform=\"m\"/>\n"
                              "<g id=\"surface1\"/>\n<use xlink:href=\"#surface1\"/>\n<p d=\"M\"/>"));
  free(bytes);
}

/* ---- PDF ---- */

TEST(test_pdf) {
  File file = make(SURFACE_PDF, 200, 100);
  assert_memory_equal(file.bytes, "%PDF-", 5);
  assert_null(find(&file, "CreationDate"));
  assert_non_null(find(&file, "/Title (Traffic & more)"));
  assert_non_null(find(&file, "/Subject"));
  assert_non_null(find(&file, "/Creator (Tilewalk)"));
  assert_non_null(find(&file, "/ToUnicode")); /* letters can be read back */
  assert_non_null(find(&file, "/MediaBox [ 0 0 200 100 ]"));
  free(file.bytes);
}

/* ---- all ---- */

/* The clock that cairo asks for a date: a second is gone each time. */
__attribute__((visibility("default"))) time_t time(time_t *at) {
  static time_t now = 1700000000;
  if (at) *at = now;
  return now++;
}

TEST(test_same_bytes_every_time) {
  for (int format = 0; format < 3; format++) {
    File first = make((SurfaceFormat)format, 300, 150);
    cairo_surface_destroy(cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1)); /* moves cairo's counters on */
    File second = make((SurfaceFormat)format, 300, 150);
    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.bytes, second.bytes, first.n);
    free(first.bytes);
    free(second.bytes);
  }
}

TEST(test_bad_sizes) {
  const double sizes[][2] = {{0, 100}, {100, -1}, {15, 100}, {100, 16385}, {1e300, 100}, {NAN, 100}};
  EACH (i, sizes) {
    unsigned char *bytes;
    size_t n;
    must_refuse(
        surface_bytes(SURFACE_PNG, sizes[i][0], sizes[i][1], draw_sample, NULL, NULL, &bytes, &n, fresh_error()),
        STATUS_BAD_REQUEST, "16384");
  }
}

/* libpng reads it back, and the square is where it was drawn. */
TEST(test_save) {
  char folder[] = "/tmp/tilewalk-surface-XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/picture.png", folder);
  must(surface_save(path, 200, 100, draw_sample, NULL, &metadata, NULL));
  cairo_surface_t *page = cairo_image_surface_create_from_png(path);
  assert_int_equal(cairo_surface_status(page), CAIRO_STATUS_SUCCESS);
  const unsigned char *row = cairo_image_surface_get_data(page) + 15 * cairo_image_surface_get_stride(page);
  assert_memory_equal(row + 4 * 15, "\x00\x00\xff", 3); /* blue, green, red */
  assert_memory_equal(row + 4 * 5, "\xff\xff\xff", 3);
  cairo_surface_destroy(page);
  unlink(path);

  /* Nothing is made when the request is refused. */
  snprintf(path, sizeof path, "%s/picture.gif", folder);
  assert_int_equal(surface_save(path, 200, 100, draw_sample, NULL, NULL, fresh_error()), STATUS_BAD_REQUEST);
  assert_int_equal(access(path, F_OK), -1);
  snprintf(path, sizeof path, "%s/no/such.png", folder);
  must_refuse(surface_save(path, 200, 100, draw_sample, NULL, NULL, fresh_error()), STATUS_BAD_REQUEST, "such.png");
  assert_int_equal(rmdir(folder), 0);
}

static Status build(void *context, Error *error) {
  unsigned char *bytes = NULL;
  size_t n;
  Status status = surface_bytes(*(SurfaceFormat *)context, 64, 32, draw_sample, NULL, &metadata, &bytes, &n, error);
  free(bytes);
  return status;
}

TEST(test_out_of_memory) {
  for (int format = 0; format < 3; format++) {
    SurfaceFormat f = (SurfaceFormat)format;
    build(&f, NULL); /* what the libraries keep is kept now */
    assert_true(alloc_fail_each(build, &f) >= 1);
  }
}
