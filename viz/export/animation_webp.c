/* Animated WebP, lossless. The encoder finds what changes between frames and stores that. */
#ifdef TILEWALK_WEBP

#include <string.h>

#include <webp/encode.h>
#include <webp/mux.h>

#include "viz/export/animation_parts.h"

/* Flat drawings: methods above 1 make the file no smaller; method 0 makes it ten times as large. */
static bool configure(WebPConfig *config, WebPAnimEncoderOptions *options) {
  if (!WebPConfigInit(config) || !WebPAnimEncoderOptionsInit(options)) return false;
  config->lossless = 1;
  config->method = 1;
  config->quality = 20;
  options->anim_params.loop_count = 0; /* for ever */
  options->kmin = options->kmax = 0;   /* no key frames but the first */
  return WebPValidateConfig(config) != 0;
}

static Status add_frame(WebPAnimEncoder *encoder, const WebPConfig *config, cairo_surface_t *surface, const Animation *a, uint64_t frame, Error *error) {
  WebPPicture picture;
  Status status = frame_draw(a, surface, frame, error);
  if (status) return status;
  bool ok = WebPPictureInit(&picture) != 0;
  picture.use_argb = 1;
  picture.width = a->width;
  picture.height = a->height;
  ok = ok && WebPPictureAlloc(&picture);
  for (int y = 0; ok && y < a->height; y++) {
    const uint32_t *row = (const uint32_t *)(const void *)(cairo_image_surface_get_data(surface) + (size_t)y * (size_t)cairo_image_surface_get_stride(surface));
    uint32_t *to = picture.argb + (size_t)y * (size_t)picture.argb_stride;
    for (int x = 0; x < a->width; x++) to[x] = row[x] | 0xff000000u;
  }
  ok = ok && WebPAnimEncoderAdd(encoder, &picture, (int)(frame * (uint64_t)a->frame_ms), config);
  WebPPictureFree(&picture);
  return ok ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "the WebP encoder ran out of memory; ask for fewer or smaller frames");
}

static Status assemble(WebPAnimEncoder *encoder, const Animation *a, FILE *out, Error *error) {
  WebPData data;
  WebPDataInit(&data);
  const bool ok = WebPAnimEncoderAdd(encoder, NULL, (int)(a->n_frames * (uint64_t)a->frame_ms), NULL) && WebPAnimEncoderAssemble(encoder, &data);
  if (ok) fwrite(data.bytes, 1, data.size, out);
  WebPDataClear(&data);
  return ok ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "the WebP file could not be put together: %s", WebPAnimEncoderGetError(encoder));
}

Status animation_write_webp(FILE *out, const Animation *a, Error *error) {
  WebPConfig config;
  WebPAnimEncoderOptions options;
  cairo_surface_t *surface;
  if (!configure(&config, &options)) return error_set(error, STATUS_BAD_REQUEST, "the WebP library here is not the one this was built with");
  if (a->n_frames * (uint64_t)a->frame_ms > INT32_MAX) return error_set(error, STATUS_TOO_LARGE, "a WebP animation lasts at most 24 days");
  Status status = frame_surface(a, &surface, error);
  if (status) return status;
  WebPAnimEncoder *encoder = WebPAnimEncoderNew(a->width, a->height, &options);
  if (!encoder) status = error_set(error, STATUS_NO_MEMORY, "no memory for the WebP encoder");
  for (uint64_t frame = 0; !status && frame < a->n_frames; frame++) status = add_frame(encoder, &config, surface, a, frame, error);
  if (!status) status = assemble(encoder, a, out, error);
  WebPAnimEncoderDelete(encoder);
  cairo_surface_destroy(surface);
  return status;
}

#else
typedef int animation_webp_is_left_out;
#endif
