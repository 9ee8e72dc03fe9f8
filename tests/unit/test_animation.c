/* Animations: whole files, whatever goes wrong. Formats are checked by tests/cli/test_render.sh. */
#define _POSIX_C_SOURCE 200809L
#include "viz/export/animation.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "tests/support/alloc_fail.h"
#ifdef TILEWALK_GIF
#include <gif_lib.h>
#endif

static char folder[64];

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/tilewalk-animation-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder); /* fails when a test has left something */
}

static int n_files(void) {
  DIR *dir = opendir(folder);
  int n = 0;
  assert_non_null(dir);
  for (struct dirent *e; (e = readdir(dir)) != NULL;)
    n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0; /* hidden ones too */
  closedir(dir);
  return n;
}

typedef struct {
  uint64_t stop_at; /* go_on refuses this frame */
  uint64_t n_drawn;
} Run;

static void draw(cairo_t *cr, double width, double height, uint64_t frame, void *data) {
  ((Run *)data)->n_drawn++;
  cairo_set_source_rgb(cr, 1, 1, 1);
  cairo_paint(cr);
  cairo_set_source_rgb(cr, 0, 0.4, 0.7);
  cairo_rectangle(cr, (double)frame, 0, width / 4, height / 2);
  cairo_fill(cr);
}

static bool go_on(uint64_t frame, uint64_t n_frames, void *data) {
  (void)n_frames;
  return frame != ((Run *)data)->stop_at;
}

static Animation animation_of(Run *run) {
  return (Animation){.width = 64, .height = 32, .n_frames = 8, .draw = draw, .go_on = go_on, .data = run};
}

static const char *path_of(const char *name) {
  static char path[160];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void remove_frames(int n) {
  for (int k = 0; k < n; k++) {
    char name[32];
    snprintf(name, sizeof name, "a-%02d.png", k);
    assert_int_equal(unlink(path_of(name)), 0);
  }
}

TEST(test_names) {
  static const char *const GOOD[] = {"a.webp", "a.GIF", "a-%d.png", "a-%04d.png"};
  static const char *const BAD[] = {"a.png",      "a-%s.png", "a-%d-%d.png", "a-%n.png", "a-%0d.png",
                                    "a-%12d.png", "a-%.png",  ".gif",        "a"};
  EACH (k, GOOD) assert_true(animation_is_named(GOOD[k]));
  EACH (k, BAD) assert_false(animation_is_named(BAD[k]));
}

/* A stop half way leaves no file; of a series it leaves the frames so far. */
TEST(test_stop_leaves_nothing) {
  static const char *const NAMES[] = {"a.webp", "a.gif", "a-%02d.png"};
  for (int k = 0; k < 3; k++) {
    Run run = {.stop_at = 5};
    const Animation a = animation_of(&run);
    assert_int_not_equal(animation_save(path_of(NAMES[k]), &a, fresh_error()), STATUS_OK);
    assert_true(test_error.message[0]);
    assert_int_equal(n_files(), k == 2 ? 5 : 0);
  }
  remove_frames(5);
}

static void write_text(const char *name, const char *text) {
  FILE *out = fopen(path_of(name), "w");
  assert_non_null(out);
  fputs(text, out);
  fclose(out);
}

/* Older files of the same names are replaced, up to the one that cannot be. */
TEST(test_sequence) {
  Run run = {.stop_at = 100};
  const Animation a = animation_of(&run);
  struct stat there;
  write_text("a-03.png", "older");
  assert_int_equal(mkdir(path_of("a-06.png"), 0700), 0); /* in the way of the seventh */
  must_refuse(animation_save(path_of("a-%02d.png"), &a, fresh_error()), STATUS_BAD_REQUEST, "a-06.png");
  assert_int_equal(n_files(), 7);
  assert_int_equal(rmdir(path_of("a-06.png")), 0);
  run.n_drawn = 0;
  must(animation_save(path_of("a-%02d.png"), &a, NULL));
  assert_int_equal(n_files(), 8);
  assert_int_equal(run.n_drawn, 8);
  assert_true(stat(path_of("a-03.png"), &there) == 0 && there.st_size > 50);
  remove_frames(8);
  must_refuse(animation_save("/nowhere/at/all/a-%02d.png", &a, fresh_error()), STATUS_BAD_REQUEST, "no such folder");
}

#ifdef TILEWALK_GIF
static Status save_gif(void *context, Error *error) {
  const Animation a = animation_of(context);
  const Status status = animation_save(path_of("a.gif"), &a, error);
  assert_int_equal(n_files(), status == STATUS_OK);
  unlink(path_of("a.gif"));
  return status;
}

TEST(test_out_of_memory) {
  Run run = {.stop_at = 100};
  assert_true(alloc_fail_each(save_gif, &run) >= 2);
}

/* Puts a frame of a GIF on what was there before it. */
static void put_frame(unsigned char *screen, int width, const SavedImage *image, int transparent) {
  const GifImageDesc *d = &image->ImageDesc;
  for (int y = 0; y < d->Height; y++)
    for (int x = 0; x < d->Width; x++) {
      const unsigned char pixel = image->RasterBits[y * d->Width + x];
      if (pixel != transparent) screen[(d->Top + y) * width + d->Left + x] = pixel;
    }
}

/* Read back by giflib, each frame shows what was drawn: a rectangle that moves by one to the right. */
TEST(test_gif_frames) {
  Run run = {.stop_at = 100};
  const Animation a = animation_of(&run);
  unsigned char screen[64 * 32] = {0};
  int code = 0;
  must(animation_save(path_of("a.gif"), &a, NULL));
  GifFileType *gif = DGifOpenFileName(path_of("a.gif"), &code);
  assert_non_null(gif);
  assert_int_equal(DGifSlurp(gif), GIF_OK);
  assert_int_equal(gif->ImageCount, 8);
  for (int frame = 0; frame < 8; frame++) {
    GraphicsControlBlock control;
    assert_int_equal(DGifSavedExtensionToGCB(gif, frame, &control), GIF_OK);
    assert_int_equal(control.DelayTime, 13); /* hundredths of a second: 125 ms, rounded */
    put_frame(screen, 64, &gif->SavedImages[frame], control.TransparentColor);
    for (int k = 0; k < 64 * 32; k++) {
      const GifColorType colour = gif->SColorMap->Colors[screen[k]];
      const int x = k % 64, y = k / 64, inside = x >= frame && x < frame + 16 && y < 16;
      assert_int_equal(colour.Red, inside ? 0 : 255);
      assert_in_range(colour.Blue, inside ? 178 : 255, inside ? 179 : 255);
    }
  }
  DGifCloseFile(gif, &code);
  unlink(path_of("a.gif"));
}

/* The same frames give the same bytes. */
TEST(test_same_bytes) {
  Run run = {.stop_at = 100};
  const Animation a = animation_of(&run);
  char bytes[2][1 << 16];
  size_t n[2];
  for (int k = 0; k < 2; k++) {
    must(animation_save(path_of("a.gif"), &a, NULL));
    FILE *in = fopen(path_of("a.gif"), "rb");
    n[k] = fread(bytes[k], 1, sizeof bytes[k], in);
    fclose(in);
  }
  assert_true(n[0] > 100 && n[0] == n[1]);
  assert_memory_equal(bytes[0], bytes[1], n[0]);
  unlink(path_of("a.gif"));
}
#endif

GROUP(make_folder, remove_folder)
