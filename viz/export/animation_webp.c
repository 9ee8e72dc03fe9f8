/* Animated WebP, lossless. A frame holds the rectangle that changed, and in it what did not change is transparent: flat
 * areas that compress to almost nothing. A frame like the one before makes that one last longer. Frames are drawn one
 * after the other, and encoded some at a time on all cores; the file does not depend on how many. (The library's own
 * encoder of animations writes the same bytes, on one core.) */
#ifdef TILEWALK_WEBP

#include <stdlib.h>
#include <string.h>

#include <webp/encode.h>
#include <webp/mux.h>

#include "viz/export/animation_parts.h"

enum { PARTS = 8, MOST_DURATION_MS = (1 << 24) - 1, END_MS = 2000 };

typedef struct {
  int x, y, width, height;
} Dirty;

/* A frame that is drawn and not yet in the file. */
typedef struct {
  Dirty dirty;
  int duration_ms;
  bool is_first, is_encoded;
  WebPPicture picture;
  WebPMemoryWriter encoded;
} Part;

typedef struct {
  const Animation *animation;
  WebPConfig config;
  WebPMux *mux;
  uint32_t *before; /* the frame before, opaque */
  Part parts[PARTS];
  int n_parts;
} Encoder;

static Status refuse_memory(Error *error) {
  return error_set(error, STATUS_NO_MEMORY, "the WebP encoder ran out of memory; ask for fewer or smaller frames");
}

/* Flat drawings: methods above 1 make the file no smaller; method 0 makes it ten times as large. */
static bool configure(WebPConfig *config) {
  if (!WebPConfigInit(config)) return false;
  config->lossless = 1;
  config->method = 1;
  config->quality = 20;
  return WebPValidateConfig(config) != 0;
}

static const uint32_t *row_of(cairo_surface_t *surface, int y) {
  return (const uint32_t *)(const void *)(cairo_image_surface_get_data(surface) +
                                          (size_t)y * (size_t)cairo_image_surface_get_stride(surface));
}

/* What differs from the frame before, from an even pixel on, as the format has it. Width 0: nothing. */
static Dirty find_dirty(const Encoder *e, cairo_surface_t *surface) {
  const int width = e->animation->width;
  int left = width, right = -1, top = -1, bottom = -1;
  for (int y = 0; y < e->animation->height; y++) {
    const uint32_t *now = row_of(surface, y), *before = e->before + (size_t)y * (size_t)width;
    int first = 0, last = width - 1;
    while (first < width && (now[first] | 0xff000000u) == before[first]) first++;
    if (first == width) continue;
    while ((now[last] | 0xff000000u) == before[last]) last--;
    if (first < left) left = first;
    if (last > right) right = last;
    if (top < 0) top = y;
    bottom = y;
  }
  if (top < 0) return (Dirty){0};
  left &= ~1;
  top &= ~1;
  return (Dirty){left, top, right - left + 1, bottom - top + 1};
}

/* Copies the rectangle, and makes it what was before for the next frame. */
static bool take(Encoder *e, Part *part, cairo_surface_t *surface) {
  const Dirty d = part->dirty;
  if (!WebPPictureInit(&part->picture)) return false;
  part->picture.use_argb = 1;
  part->picture.width = d.width;
  part->picture.height = d.height;
  part->picture.writer = WebPMemoryWrite;
  part->picture.custom_ptr = &part->encoded;
  WebPMemoryWriterInit(&part->encoded);
  if (!WebPPictureAlloc(&part->picture)) return false;
  for (int y = 0; y < d.height; y++) {
    const uint32_t *now = row_of(surface, d.y + y) + d.x;
    uint32_t *before = e->before + (size_t)(d.y + y) * (size_t)e->animation->width + (size_t)d.x;
    uint32_t *to = part->picture.argb + (size_t)y * (size_t)part->picture.argb_stride;
    for (int x = 0; x < d.width; x++) {
      const uint32_t pixel = now[x] | 0xff000000u;
      to[x] = !part->is_first && pixel == before[x] ? 0 : pixel;
      before[x] = pixel;
    }
  }
  return true;
}

static void drop_parts(Encoder *e) {
  for (int k = 0; k < e->n_parts; k++) {
    WebPPictureFree(&e->parts[k].picture);
    WebPMemoryWriterClear(&e->parts[k].encoded);
  }
  e->n_parts = 0;
}

/* Encodes what waits, and puts it into the file. */
static Status flush(Encoder *e, Error *error) {
#pragma omp parallel for schedule(dynamic)
  for (int k = 0; k < e->n_parts; k++) e->parts[k].is_encoded = WebPEncode(&e->config, &e->parts[k].picture) != 0;
  bool ok = true;
  for (int k = 0; ok && k < e->n_parts; k++) {
    const Part *part = &e->parts[k];
    const WebPMuxFrameInfo info = {.bitstream = {part->encoded.mem, part->encoded.size},
                                   .x_offset = part->dirty.x,
                                   .y_offset = part->dirty.y,
                                   .duration = part->duration_ms,
                                   .id = WEBP_CHUNK_ANMF,
                                   .dispose_method = WEBP_MUX_DISPOSE_NONE,
                                   .blend_method = part->is_first ? WEBP_MUX_NO_BLEND : WEBP_MUX_BLEND};
    ok = part->is_encoded && WebPMuxPushFrame(e->mux, &info, 1) == WEBP_MUX_OK;
  }
  drop_parts(e);
  return ok ? STATUS_OK : refuse_memory(error);
}

static Status add_frame(Encoder *e, cairo_surface_t *surface, uint64_t frame, Error *error) {
  const Animation *a = e->animation;
  Status status = frame_draw(a, surface, frame, error);
  if (status) return status;
  Dirty dirty = frame == 0 ? (Dirty){0, 0, a->width, a->height} : find_dirty(e, surface);
  if (dirty.width == 0) { /* so there is one before, and it still waits */
    Part *last = &e->parts[e->n_parts - 1];
    if (last->duration_ms <= MOST_DURATION_MS - a->frame_ms) {
      last->duration_ms += a->frame_ms;
      return STATUS_OK;
    }
    dirty = (Dirty){0, 0, 2, 2};
  }
  if (e->n_parts == PARTS && (status = flush(e, error))) return status;
  Part *part = &e->parts[e->n_parts++];
  *part = (Part){.dirty = dirty, .duration_ms = a->frame_ms, .is_first = frame == 0};
  return take(e, part, surface) ? STATUS_OK : refuse_memory(error);
}

static Status assemble(Encoder *e, FILE *out, Error *error) {
  const WebPMuxAnimParams loop = {.bgcolor = 0xffffffffu, .loop_count = 0}; /* for ever */
  WebPData data;
  if (e->n_parts) { /* the end stands a moment before it begins anew */
    Part *end = &e->parts[e->n_parts - 1];
    if (end->duration_ms <= MOST_DURATION_MS - END_MS) end->duration_ms += END_MS;
  }
  const Status status = flush(e, error);
  if (status) return status;
  WebPDataInit(&data);
  const bool ok = WebPMuxSetAnimationParams(e->mux, &loop) == WEBP_MUX_OK &&
                  WebPMuxSetCanvasSize(e->mux, e->animation->width, e->animation->height) == WEBP_MUX_OK &&
                  WebPMuxAssemble(e->mux, &data) == WEBP_MUX_OK;
  if (ok) fwrite(data.bytes, 1, data.size, out);
  WebPDataClear(&data);
  return ok ? STATUS_OK : refuse_memory(error);
}

Status animation_write_webp(FILE *out, const Animation *a, Error *error) {
  cairo_surface_t *surface;
  if (a->n_frames * (uint64_t)a->frame_ms > INT32_MAX)
    return error_set(error, STATUS_TOO_LARGE, "a WebP animation lasts at most 24 days");
  Encoder *e = calloc(1, sizeof *e);
  if (!e) return refuse_memory(error);
  e->animation = a;
  Status status = configure(&e->config) ? STATUS_OK
                                        : error_set(error, STATUS_BAD_REQUEST,
                                                    "the WebP library here is not the one this was built with");
  if (!status && !(status = frame_surface(a, &surface, error))) {
    e->mux = WebPMuxNew();
    e->before = malloc((size_t)a->width * (size_t)a->height * sizeof *e->before);
    if (!e->mux || !e->before) status = refuse_memory(error);
    for (uint64_t frame = 0; !status && frame < a->n_frames; frame++) status = add_frame(e, surface, frame, error);
    if (!status) status = assemble(e, out, error);
    drop_parts(e);
    WebPMuxDelete(e->mux);
    cairo_surface_destroy(surface);
  }
  free(e->before);
  free(e);
  return status;
}

#else
typedef int animation_webp_is_left_out;
#endif
