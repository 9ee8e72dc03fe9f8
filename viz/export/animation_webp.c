/* Animated WebP, lossless, by the library's own encoder: a frame holds the rectangle that changed, and a frame like the
 * one before makes that one last longer. */
#ifdef TILEWALK_WEBP

#include <webp/encode.h>
#include <webp/mux.h>

#include "viz/export/animation_parts.h"

enum { END_MS = 2000 }; /* the end stands a moment before it begins anew */

static Status refuse_memory(Error *error) {
  return error_set(error, STATUS_NO_MEMORY, "the WebP encoder ran out of memory; ask for fewer or smaller frames");
}

static Status refuse_library(Error *error) {
  return error_refuse(error, "the WebP library here is not the one this was built with");
}

/* Flat drawings: methods above 1 make the file no smaller; method 0 makes it ten times as large. */
static bool configure(WebPConfig *config, WebPAnimEncoderOptions *options) {
  if (!WebPConfigInit(config) || !WebPAnimEncoderOptionsInit(options)) return false;
  config->lossless = 1;
  config->method = 1;
  config->quality = 20;
  options->anim_params.bgcolor = 0xffffffffu;
  options->kmax = 0; /* frames are played, not sought: none begins anew */
  return WebPValidateConfig(config) != 0;
}

static void copy_pixels(cairo_surface_t *surface, WebPPicture *picture) {
  const unsigned char *row = cairo_image_surface_get_data(surface);
  for (int y = 0; y < picture->height; y++, row += cairo_image_surface_get_stride(surface))
    for (int x = 0; x < picture->width; x++)
      picture->argb[y * picture->argb_stride + x] = ((const uint32_t *)(const void *)row)[x] | 0xff000000u;
}

static Status add_frames(const Animation *a, cairo_surface_t *surface, WebPAnimEncoder *encoder,
                         const WebPConfig *config, Error *error) {
  WebPPicture picture;
  if (!WebPPictureInit(&picture)) return refuse_library(error);
  picture.use_argb = 1;
  picture.width = a->width;
  picture.height = a->height;
  Status status = WebPPictureAlloc(&picture) ? STATUS_OK : refuse_memory(error);
  for (uint64_t frame = 0; !status && frame < a->n_frames; frame++) {
    status = frame_draw(a, surface, frame, error);
    if (status) break;
    copy_pixels(surface, &picture);
    if (!WebPAnimEncoderAdd(encoder, &picture, (int)frame * a->frame_ms, config)) status = refuse_memory(error);
  }
  WebPPictureFree(&picture);
  if (!status && !WebPAnimEncoderAdd(encoder, NULL, (int)a->n_frames * a->frame_ms + END_MS, NULL))
    status = refuse_memory(error);
  return status;
}

Status animation_write_webp(FILE *out, const Animation *a, Error *error) {
  cairo_surface_t *surface;
  WebPConfig config;
  WebPAnimEncoderOptions options;
  WebPData data;
  if (a->n_frames * (uint64_t)a->frame_ms > INT32_MAX - END_MS)
    return error_set(error, STATUS_TOO_LARGE, "a WebP animation lasts at most 24 days");
  Status status = frame_surface(a, &surface, error);
  if (status) return status;
  WebPDataInit(&data);
  const bool is_known = configure(&config, &options);
  WebPAnimEncoder *encoder = is_known ? WebPAnimEncoderNew(a->width, a->height, &options) : NULL;
  status = !is_known ? refuse_library(error)
           : encoder ? add_frames(a, surface, encoder, &config, error)
                     : refuse_memory(error);
  if (!status && !WebPAnimEncoderAssemble(encoder, &data)) status = refuse_memory(error);
  if (!status) fwrite(data.bytes, 1, data.size, out);
  WebPDataClear(&data);
  WebPAnimEncoderDelete(encoder);
  cairo_surface_destroy(surface);
  return status;
}

#else
typedef int animation_webp_is_left_out;
#endif
