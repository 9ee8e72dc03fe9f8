/* Saves a run of frames: animated WebP (lossless), GIF, MP4, or a sequence of PNG files, by the name.
 *
 *     run.webp    run.gif    run.mp4 (by ffmpeg)    frame-%04d.png
 *
 * Frames are drawn one after the other into one surface, so memory does not grow with their number except by what the
 * encoders keep of the finished file. A file is whole or not there at all;
 * of a sequence that is stopped the frames so far are kept. The same frames give the same bytes. */
#ifndef TILEWALK_VIZ_EXPORT_ANIMATION_H
#define TILEWALK_VIZ_EXPORT_ANIMATION_H

#include <stdbool.h>
#include <stdint.h>

#include <cairo.h>

#include "sim/base/error.h"

typedef void AnimationDraw(cairo_t *cr, double width, double height, uint64_t frame, void *data);

/* Called before each frame; false stops: of a series of files those that are written stay, of a film nothing. */
typedef bool AnimationGoOn(uint64_t frame, uint64_t n_frames, void *data);

typedef struct {
  int width, height; /* pixels */
  uint64_t n_frames;
  int frame_ms;        /* how long each is shown; 0: 125 */
  double frames_per_s; /* the same for an MP4, which need not have whole milliseconds; 0: by frame_ms */
  const char *title;   /* metadata of PNG frames; NULL: none */
  const char *state;
  AnimationDraw *draw;
  AnimationGoOn *go_on; /* NULL: never stops */
  void *data;
} Animation;

enum { ANIMATION_FRAMES_MAX = 100000 };

/* True when the name asks for an animation: .webp, .gif, .mp4, or .png with %d or %04d. */
bool animation_is_named(const char *path);

/* A name that is neither an animation's nor a picture's: STATUS_BAD_REQUEST with all suffixes that there are. */
Status animation_or_picture(const char *path, Error *error);

/* STATUS_BAD_REQUEST: a format that is not built in, sizes and counts that cannot be, a path that cannot be written, or
 * a stop. STATUS_NO_MEMORY. */
Status animation_save(const char *path, const Animation *animation, Error *error);

#endif
