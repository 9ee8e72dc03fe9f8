/* The window's canvas, and drawing on it.
 *
 * With OpenGL:    cairo surface  --upload-->  streaming texture  -->  window
 * Without:        cairo draws straight into the memory that SDL shows, one copy of the frame less
 *
 * What stays the same from frame to frame is kept: lines of text that are laid out (viz/text/lettering.c).
 */
#include "viz/window/window_parts.h"

/* ---- Opening --------------------------------------------------------------------------------------------- */

static bool is_headless(void) {
  const char *driver = SDL_GetCurrentVideoDriver();
  return driver && (strcmp(driver, "dummy") == 0 || strcmp(driver, "offscreen") == 0);
}

/* On X11 a pixel is a point, so the window's own memory is as sharp as a texture, and there half a second earlier than
 * OpenGL. Wayland gives such a memory in points alone. SDL_RENDER_DRIVER says otherwise: opengl, opengles2, software.
 */
static bool wants_software(void) {
  const char *name = SDL_getenv("SDL_RENDER_DRIVER"), *driver = SDL_GetCurrentVideoDriver();
  if (is_headless()) return true;
  return name && *name ? strcmp(name, "software") == 0 : driver && strcmp(driver, "x11") == 0;
}

static void drop_canvas(Window *w) {
  cairo_destroy(w->cr);
  cairo_surface_destroy(w->surface);
  if (w->texture) SDL_DestroyTexture(w->texture);
  w->cr = NULL;
  w->surface = NULL;
  w->texture = NULL;
}

/* What SDL shows of this window, when cairo can draw in its form: 32 bits a pixel, blue lowest. */
static cairo_surface_t *shown_surface(SDL_Surface *shown) {
  if (shown->format->format != SDL_PIXELFORMAT_RGB888 && shown->format->format != SDL_PIXELFORMAT_ARGB8888) return NULL;
  if (shown->pitch != cairo_format_stride_for_width(CAIRO_FORMAT_RGB24, shown->w) || SDL_MUSTLOCK(shown)) return NULL;
  return cairo_image_surface_create_for_data(shown->pixels, CAIRO_FORMAT_RGB24, shown->w, shown->h, shown->pitch);
}

static bool make_texture(Window *w, int width, int height) {
  w->texture = SDL_CreateTexture(w->renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STREAMING, width, height);
  return w->texture && SDL_SetTextureBlendMode(w->texture, SDL_BLENDMODE_NONE) == 0;
}

bool window_make_canvas(Window *w) {
  int points_wide = 0, width = 0, height = 0;
  drop_canvas(w);
  SDL_GetWindowSize(w->window, &points_wide, NULL);
  if (w->renderer) {
    SDL_GetRendererOutputSize(w->renderer, &width, &height);
    width = width > 0 ? width : 1;
    height = height > 0 ? height : 1;
    if (!make_texture(w, width, height)) return false;
  } else {
    SDL_Surface *shown = SDL_GetWindowSurface(w->window);
    if (!shown) return false;
    width = shown->w;
    height = shown->h;
    w->surface = shown_surface(shown);
    w->shown_pixels = shown->pixels;
    w->shown_pitch = shown->pitch;
  }
  viewer_resize(&w->viewer, width, height);
  w->scale = points_wide > 0 ? (double)width / points_wide : 1;
  if (!w->surface) w->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  w->cr = cairo_create(w->surface);
  return cairo_status(w->cr) == CAIRO_STATUS_SUCCESS;
}

static bool open_canvas(Window *w, bool waits) {
  const Uint32 flags = SDL_RENDERER_ACCELERATED | (waits ? SDL_RENDERER_PRESENTVSYNC : 0u);
  if (!wants_software()) w->renderer = SDL_CreateRenderer(w->window, -1, flags);
  if (!w->renderer) SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0");
  return window_make_canvas(w);
}

Status window_open(Window *w, const WindowOptions *options, Error *error) {
  SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
  SDL_SetHint(SDL_HINT_APP_NAME, "Tilewalk");
  SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
  if (!SDL_getenv("WAYLAND_DISPLAY") && !SDL_getenv("XDG_RUNTIME_DIR"))
    SDL_SetHint(SDL_HINT_VIDEODRIVER, "x11"); /* Wayland cannot be there, and would complain */
  const bool has_video = SDL_Init(SDL_INIT_VIDEO) == 0;
  if (!has_video ||
      (is_headless() && !SDL_getenv("SDL_VIDEODRIVER"))) /* SDL may fall back to a driver that shows nothing */
    return error_refuse(error,
                        "there is no display for a window (%s); on a desktop, DISPLAY or WAYLAND_DISPLAY names it, and "
                        "'tilewalk render' draws the same scenes to files without one",
                        has_video ? "neither X11 nor Wayland answers" : SDL_GetError());
  const Uint32 flags =
      SDL_WINDOW_ALLOW_HIGHDPI | SDL_WINDOW_RESIZABLE | (options->fullscreen ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0u);
  w->window = SDL_CreateWindow("Tilewalk", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                               options->width ? options->width : WINDOW_DEFAULT_WIDTH,
                               options->height ? options->height : WINDOW_DEFAULT_HEIGHT, flags);
  if (w->window) SDL_SetWindowMinimumSize(w->window, VIEWER_LEAST_WIDTH, VIEWER_LEAST_HEIGHT);
  if (!w->window || !open_canvas(w, options->n_frames == 0))
    return error_refuse(error,
                        "the display gives no window of that size (%s); try --size 1280x720, or 'tilewalk render'",
                        SDL_GetError());
  SDL_StartTextInput();
  return STATUS_OK;
}

void window_close(Window *w) {
  drop_canvas(w);
  if (w->notes) SDL_DestroyWindow(w->notes);
  viewer_close(&w->viewer);
  if (w->renderer) SDL_DestroyRenderer(w->renderer);
  if (w->window) SDL_DestroyWindow(w->window);
  SDL_Quit();
}

const char *window_renderer_name(const Window *w) {
  SDL_RendererInfo info = {0};
  if (!w->renderer) return "software";
  return SDL_GetRendererInfo(w->renderer, &info) == 0 && info.name ? info.name : "no";
}

/* ---- Drawing --------------------------------------------------------------------------------------------- */

void window_copy(cairo_surface_t *surface, SDL_Surface *shown) {
  SDL_Surface *drawn = SDL_CreateRGBSurfaceWithFormatFrom(
      cairo_image_surface_get_data(surface), cairo_image_surface_get_width(surface),
      cairo_image_surface_get_height(surface), 32, cairo_image_surface_get_stride(surface), SDL_PIXELFORMAT_RGB888);
  if (drawn) SDL_BlitSurface(drawn, NULL, shown, NULL);
  SDL_FreeSurface(drawn);
}

static void present(Window *w) {
  cairo_surface_flush(w->surface);
  unsigned char *pixels = cairo_image_surface_get_data(w->surface);
  const int stride = cairo_image_surface_get_stride(w->surface);
  if (w->renderer) {
    SDL_UpdateTexture(w->texture, NULL, pixels, stride);
    SDL_RenderCopy(w->renderer, w->texture, NULL, NULL);
    SDL_RenderPresent(w->renderer);
    return;
  }
  SDL_Surface *shown = SDL_GetWindowSurface(w->window);
  if (!shown || shown->w != w->viewer.width || shown->h != w->viewer.height) return;
  if (shown->pixels != pixels) window_copy(w->surface, shown);
  SDL_UpdateWindowSurface(w->window);
}

/* SDL throws its memory away as soon as it hears of a new size, which may be before we do. */
void window_draw_frame(Window *w) {
  const SDL_Surface *shown = w->renderer ? NULL : SDL_GetWindowSurface(w->window);
  const bool is_kept = shown && shown->pixels == w->shown_pixels && shown->w == w->viewer.width &&
                       shown->h == w->viewer.height && shown->pitch == w->shown_pitch;
  if (!w->renderer && !is_kept && !window_make_canvas(w)) {
    w->viewer.has_ended = true;
    return;
  }
  viewer_draw(&w->viewer, w->cr);
  present(w);
  if (!viewer_is_moving(&w->viewer) || window_notes_are_due(w)) window_draw_notes(w); /* what is next takes time */
}
