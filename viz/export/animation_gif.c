/* Animated GIF: 255 colours for all frames, and of each frame the rectangle that changes, in it the pixels that do.
 *
 * The colours are the most frequent ones of a few frames, at 5 bits a channel (scenes have a dozen flat colours, and
 * the edges of letters between them); every other colour becomes the nearest. */
#ifdef TILEWALK_GIF

#include <stdlib.h>
#include <string.h>

#include <gif_lib.h>

#include "viz/export/animation_parts.h"

enum { BUCKETS = 1 << 15, COLOURS = 255, UNCHANGED = 255, SAMPLES = 5 };

typedef struct {
  uint32_t count[BUCKETS];
  uint32_t exact[BUCKETS]; /* a colour of the bucket: the last one seen */
  uint8_t nearest[BUCKETS];
  GifColorType colours[COLOURS];
  int n_colours;
} Palette;

static int bucket_of(uint32_t pixel) {
  return (int)((pixel >> 9 & 0x7c00) | (pixel >> 6 & 0x3e0) | (pixel >> 3 & 0x1f));
}

static const uint32_t *row_of(cairo_surface_t *surface, int y) {
  return (const uint32_t *)(const void *)(cairo_image_surface_get_data(surface) +
                                          (size_t)y * (size_t)cairo_image_surface_get_stride(surface));
}

static void count_colours(Palette *p, cairo_surface_t *surface, const Animation *a) {
  for (int y = 0; y < a->height; y++) {
    const uint32_t *row = row_of(surface, y);
    for (int x = 0; x < a->width; x++) {
      const int bucket = bucket_of(row[x]);
      p->count[bucket]++;
      p->exact[bucket] = row[x];
    }
  }
}

static void choose_colours(Palette *p) {
  while (p->n_colours < COLOURS) {
    int best = -1;
    for (int k = 0; k < BUCKETS; k++)
      if (p->count[k] > 0 && (best < 0 || p->count[k] > p->count[best])) best = k;
    if (best < 0) break;
    p->colours[p->n_colours++] = (GifColorType){(GifByteType)(p->exact[best] >> 16), (GifByteType)(p->exact[best] >> 8),
                                                (GifByteType)p->exact[best]};
    p->count[best] = 0;
  }
  for (int k = 0; k < BUCKETS; k++) {
    const int red = (k >> 10 << 3) + 4, green = ((k >> 5 & 31) << 3) + 4, blue = ((k & 31) << 3) + 4;
    int nearest = 0, least = 1 << 30;
    for (int c = 0; c < p->n_colours; c++) {
      const int r = red - p->colours[c].Red, g = green - p->colours[c].Green, b = blue - p->colours[c].Blue;
      const int distance = 2 * r * r + 4 * g * g + 3 * b * b;
      if (distance < least) {
        least = distance;
        nearest = c;
      }
    }
    p->nearest[k] = (uint8_t)nearest;
  }
}

/* Frames spread over the run, so that colours that come late are among them. */
static Status sample(Palette *p, cairo_surface_t *surface, const Animation *a, Error *error) {
  Animation quiet = *a;
  quiet.go_on = NULL;
  for (uint64_t k = 0; k < SAMPLES; k++) {
    const Status status =
        frame_draw(&quiet, surface, a->n_frames > 1 ? k * (a->n_frames - 1) / (SAMPLES - 1) : 0, error);
    if (status) return status;
    count_colours(p, surface, a);
  }
  choose_colours(p);
  return STATUS_OK;
}

typedef struct {
  int x, y, width, height;
} Dirty;

/* What differs from the frame before; at least one pixel, since a GIF frame cannot be empty. */
static Dirty find_dirty(const uint8_t *before, const uint8_t *now, const Animation *a) {
  int left = a->width, right = -1, top = a->height, bottom = -1;
  for (int y = 0; y < a->height; y++) {
    const uint8_t *b = before + (size_t)y * (size_t)a->width, *n = now + (size_t)y * (size_t)a->width;
    if (memcmp(b, n, (size_t)a->width) == 0) continue;
    if (top > y) top = y;
    bottom = y;
    for (int x = 0; x < a->width; x++) {
      if (b[x] == n[x]) continue;
      if (x < left) left = x;
      if (x > right) right = x;
    }
  }
  if (bottom < 0) return (Dirty){0, 0, 1, 1};
  return (Dirty){left, top, right - left + 1, bottom - top + 1};
}

static int write_bytes(GifFileType *gif, const GifByteType *bytes, int n) {
  return (int)fwrite(bytes, 1, (size_t)n, gif->UserData);
}

static bool put_header(GifFileType *gif, const Palette *p, const Animation *a) {
  ColorMapObject *map = GifMakeMapObject(COLOURS + 1, NULL);
  if (!map) return false;
  memcpy(map->Colors, p->colours, sizeof p->colours);
  EGifSetGifVersion(gif, true);
  static const unsigned char loop[] = {1, 0, 0};
  const bool ok = EGifPutScreenDesc(gif, a->width, a->height, 8, 0, map) == GIF_OK &&
                  EGifPutExtensionLeader(gif, APPLICATION_EXT_FUNC_CODE) == GIF_OK &&
                  EGifPutExtensionBlock(gif, 11, "NETSCAPE2.0") == GIF_OK &&
                  EGifPutExtensionBlock(gif, 3, loop) == GIF_OK && EGifPutExtensionTrailer(gif) == GIF_OK;
  GifFreeMapObject(map);
  return ok;
}

static bool put_frame(GifFileType *gif, const uint8_t *before, const uint8_t *now, uint8_t *line, Dirty d,
                      const Animation *a) {
  const GraphicsControlBlock control = {
      .DisposalMode = DISPOSE_DO_NOT, .DelayTime = (a->frame_ms + 5) / 10, .TransparentColor = UNCHANGED};
  GifByteType extension[4];
  EGifGCBToExtension(&control, extension);
  if (EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, 4, extension) != GIF_OK) return false;
  if (EGifPutImageDesc(gif, d.x, d.y, d.width, d.height, false, NULL) != GIF_OK) return false;
  for (int y = 0; y < d.height; y++) {
    const size_t at = (size_t)(d.y + y) * (size_t)a->width + (size_t)d.x;
    for (int x = 0; x < d.width; x++)
      line[x] = before && before[at + (size_t)x] == now[at + (size_t)x] ? UNCHANGED : now[at + (size_t)x];
    if (EGifPutLine(gif, line, d.width) != GIF_OK) return false;
  }
  return true;
}

static Status put_frames(GifFileType *gif, Palette *p, cairo_surface_t *surface, uint8_t *pixels, const Animation *a,
                         Error *error) {
  const size_t n = (size_t)a->width * (size_t)a->height;
  uint8_t *now = pixels, *before = pixels + n;
  Status status = put_header(gif, p, a) ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "the GIF could not be begun");
  for (uint64_t frame = 0; !status && frame < a->n_frames; frame++) {
    if ((status = frame_draw(a, surface, frame, error))) break;
    for (int y = 0; y < a->height; y++) {
      const uint32_t *row = row_of(surface, y);
      for (int x = 0; x < a->width; x++) now[(size_t)y * (size_t)a->width + (size_t)x] = p->nearest[bucket_of(row[x])];
    }
    const Dirty dirty = frame == 0 ? (Dirty){0, 0, a->width, a->height} : find_dirty(before, now, a);
    if (!put_frame(gif, frame ? before : NULL, now, pixels + 2 * n, dirty, a))
      status = error_refuse(error, "frame %d of the GIF could not be written", (int)frame);
    uint8_t *swap = before;
    before = now;
    now = swap;
  }
  return status;
}

Status animation_write_gif(FILE *out, const Animation *a, Error *error) {
  cairo_surface_t *surface;
  Status status = frame_surface(a, &surface, error);
  if (status) return status;
  Palette *palette = calloc(1, sizeof *palette);
  uint8_t *pixels = malloc(2 * (size_t)a->width * (size_t)a->height + (size_t)a->width); /* two frames and a line */
  int code = 0;
  GifFileType *gif = palette && pixels ? EGifOpen(out, write_bytes, &code) : NULL;
  if (!gif) status = error_no_memory(error, "for a GIF of %d x %d", a->width, a->height);
  if (!status) status = sample(palette, surface, a, error);
  if (!status) status = put_frames(gif, palette, surface, pixels, a, error);
  if (gif && EGifCloseFile(gif, &code) != GIF_OK && !status)
    status = error_refuse(error, "the end of the GIF could not be written");
  free(pixels);
  free(palette);
  cairo_surface_destroy(surface);
  return status;
}

#else
typedef int animation_gif_is_left_out;
#endif
