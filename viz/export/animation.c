#include "viz/export/animation.h"

#include <string.h>

#include "sim/base/ascii.h"
#include "viz/export/animation_parts.h"
#include "viz/export/output.h"
#include "viz/export/surface.h"

/* ---- Names ----------------------------------------------------------------------------------------------- */

static bool ends_with(const char *path, const char *suffix) {
  const size_t length = strlen(path), n = strlen(suffix);
  return length > n && ascii_same(path + length - n, suffix);
}

/* The only conversion a name may have: %d, or %0Nd with one digit N. Returns where it is and how long. */
static const char *find_number(const char *path, size_t *length, int *digits) {
  const char *at = strchr(path, '%');
  *digits = 1;
  if (!at) return NULL;
  if (at[1] == 'd')
    *length = 2;
  else if (at[1] == '0' && at[2] >= '1' && at[2] <= '9' && at[3] == 'd') {
    *length = 4;
    *digits = at[2] - '0';
  } else
    return NULL;
  return strchr(at + *length, '%') ? NULL : at;
}

bool animation_is_named(const char *path) {
  size_t length;
  int digits;
  if (ends_with(path, ".webp") || ends_with(path, ".gif") || ends_with(path, ".mp4")) return true;
  return ends_with(path, ".png") && find_number(path, &length, &digits);
}

Status animation_or_picture(const char *path, Error *error) {
  SurfaceFormat format;
  if (animation_is_named(path) || !surface_format(path, &format, NULL)) return STATUS_OK;
  return error_refuse(
      error,
      "cannot tell what to write to %.160s: the name must end in .png, .svg or .pdf for one picture, in "
      ".webp, .gif or .mp4 for all of them, or be like frame-%%04d.png",
      path);
}

static Status frame_path(const char *path, uint64_t frame, char *out, size_t size, Error *error) {
  size_t length = 0;
  int digits = 1;
  const char *at = find_number(path, &length, &digits);
  const int n = at ? snprintf(out, size, "%.*s%0*ju%s", (int)(at - path), path, digits, frame, at + length) : -1;
  if (n > 0 && (size_t)n < size) return STATUS_OK;
  return error_refuse(
      error, "the name of a frame cannot be made from %.160s; give one %%04d in it, such as frame-%%04d.png", path);
}

/* ---- PNG files ------------------------------------------------------------------------------------------- */

typedef struct {
  const Animation *animation;
  uint64_t frame;
} PngFrame;

static void draw_png(cairo_t *cr, double width, double height, const void *data) {
  const PngFrame *f = data;
  f->animation->draw(cr, width, height, f->frame, f->animation->data);
}

/* Each is whole, or not there. */
static Status save_sequence(const char *path, const Animation *a, Error *error) {
  char place[FILE_WRITE_PATH_BYTES];
  Status status = STATUS_OK;
  for (uint64_t n = 0; n < a->n_frames && !status; n++) {
    const PngFrame frame = {a, n};
    if (a->go_on && !a->go_on(n, a->n_frames, a->data))
      return error_set(error, STATUS_INTERRUPTED, "interrupted after %ju of %ju frames, which are kept", n,
                       a->n_frames);
    status = frame_path(path, n, place, sizeof place, error);
    if (!status)
      status =
          surface_save(place, a->width, a->height, draw_png, &frame, &(SurfaceMetadata){a->title, a->state}, error);
  }
  return status;
}

/* ---- One file -------------------------------------------------------------------------------------------- */

#ifndef TILEWALK_WEBP
Status animation_write_webp(FILE *out, const Animation *animation, Error *error) {
  (void)out;
  (void)animation;
  return error_refuse(error, "this build has no animated WebP: libwebp-dev was missing; frame-%%04d.png always works");
}
#endif

#ifndef TILEWALK_GIF
Status animation_write_gif(FILE *out, const Animation *animation, Error *error) {
  (void)out;
  (void)animation;
  return error_refuse(error, "this build has no GIF: libgif-dev was missing; frame-%%04d.png always works");
}
#endif

static Status check(const char *path, const Animation *a, Error *error) {
  if (!animation_is_named(path))
    return error_refuse(
        error,
        "cannot tell what animation to write to %.160s: the name must end in .webp, .gif or .mp4, or be "
        "like frame-%%04d.png",
        path);
  if (a->width < 16 || a->height < 16 || a->width > 16383 || a->height > 16383)
    return error_refuse(error, "frames of %d x %d cannot be made: each side must be from 16 to 16383", a->width,
                        a->height);
  if (a->n_frames < 1 || a->n_frames > ANIMATION_FRAMES_MAX)
    return error_set(
        error, STATUS_TOO_LARGE,
        "%ju frames; an animation has between 1 and %d. A larger stride takes fewer: --frames 0:END:STRIDE",
        a->n_frames, ANIMATION_FRAMES_MAX);
  return STATUS_OK;
}

Status animation_save(const char *path, const Animation *animation, Error *error) {
  FileWrite file;
  Animation a = *animation;
  if (a.frame_ms <= 0) a.frame_ms = 125;
  Status status = check(path, &a, error);
  if (status) return status;
  if (ends_with(path, ".png")) return save_sequence(path, &a, error);
  if ((status = file_write_begin(&file, path, error))) return status;
  status = (ends_with(path, ".gif")   ? animation_write_gif
            : ends_with(path, ".mp4") ? animation_write_mp4
                                      : animation_write_webp)(file.stream, &a, error);
  if (status) {
    file_write_abort(&file);
    return status;
  }
  return file_write_commit(&file, error);
}
