#include "viz/window/kernel_window.h"

#include <SDL.h>

#include "viz/scene/kernel_scene_draw.h"

enum { PLAY_MS = 120, WIDTH = 1280, HEIGHT = 720, LEAST = 320 };

typedef struct {
  const KernelWindowOptions *options;
  SDL_Window *window;
  const KernelScene *scene;
  int64_t step;
  int32_t line;
  int64_t swizzle;
  bool dark, plays, ends, is_dirty;
} KernelWindow;

static const Theme *theme_of(const KernelWindow *w) { return w->dark ? &theme_dark : &theme_light; }

static Status show(KernelWindow *w, Error *error) {
  w->scene = w->options->show(w->options->context, w->step, w->line, w->swizzle, error);
  if (!w->scene) return error->status;
  w->step = w->scene->step;
  w->line = w->scene->chosen + 1;
  w->is_dirty = true;
  return STATUS_OK;
}

/* Into the window's own pixels. */
static void draw(KernelWindow *w) {
  SDL_Surface *pixels = SDL_GetWindowSurface(w->window);
  if (!pixels || SDL_LockSurface(pixels)) return;
  cairo_surface_t *surface =
      cairo_image_surface_create_for_data(pixels->pixels, CAIRO_FORMAT_RGB24, pixels->w, pixels->h, pixels->pitch);
  cairo_t *cr = cairo_create(surface);
  kernel_scene_draw(w->scene, cr, pixels->w, pixels->h, theme_of(w));
  cairo_destroy(cr);
  cairo_surface_destroy(surface);
  SDL_UnlockSurface(pixels);
  SDL_UpdateWindowSurface(w->window);
  w->is_dirty = false;
}

static void go(KernelWindow *w, int64_t by) {
  const int64_t last = w->scene->n_steps - 1;
  w->step = by < 0 && w->step + by < 0 ? 0 : w->step + by > last ? last : w->step + by;
}

/* The next line up or down that moves something. */
static void go_line(KernelWindow *w, int by) {
  for (int k = w->scene->chosen + by; k >= 0 && k < w->scene->n_lines; k += by)
    if (w->scene->lines[k].sectors || w->scene->lines[k].wavefronts) {
      w->line = k + 1;
      return;
    }
}

static void say(const KernelWindow *w) {
  fprintf(w->options->out, "--step %lld --line %d", (long long)w->step, (int)w->line);
  if (w->swizzle) fprintf(w->options->out, " --swizzle %lld", (long long)w->swizzle);
  fputc('\n', w->options->out);
  fflush(w->options->out);
}

static void on_key(KernelWindow *w, SDL_Keycode key) {
  const int64_t n = w->options->n_blocks, block = n > 0 && w->scene->n_steps > n ? w->scene->n_steps / n : 1;
  switch (key) {
  case SDLK_LEFT: go(w, -1); break;
  case SDLK_RIGHT: go(w, 1); break;
  case SDLK_PAGEUP: go(w, -block); break;
  case SDLK_PAGEDOWN: go(w, block); break;
  case SDLK_HOME: w->step = 0; break;
  case SDLK_END: w->step = w->scene->n_steps - 1; break;
  case SDLK_UP: go_line(w, -1); break;
  case SDLK_DOWN: go_line(w, 1); break;
  case SDLK_SPACE: w->plays = !w->plays; break;
  case SDLK_s: w->swizzle = w->swizzle >= 1024 ? 0 : w->swizzle ? 2 * w->swizzle : 128; break;
  case SDLK_t: w->dark = !w->dark, w->is_dirty = true; break;
  case SDLK_q:
  case SDLK_ESCAPE: w->ends = true; break;
  default: break;
  }
}

static void on_event(KernelWindow *w, const SDL_Event *event) {
  int width, height;
  switch (event->type) {
  case SDL_QUIT: w->ends = true; break;
  case SDL_KEYDOWN:
    if (event->key.keysym.mod & KMOD_CTRL && event->key.keysym.sym == SDLK_c)
      say(w);
    else
      on_key(w, event->key.keysym.sym);
    break;
  case SDL_WINDOWEVENT: w->is_dirty = true; break;
  case SDL_MOUSEBUTTONDOWN: {
    SDL_GetWindowSize(w->window, &width, &height);
    const int k = kernel_scene_line_at(w->scene, width, height, event->button.x, event->button.y);
    if (k >= 0) w->line = k + 1;
    break;
  }
  case SDL_MOUSEWHEEL: go(w, -event->wheel.y); break;
  default: break;
  }
}

static Status run(KernelWindow *w, Error *error) {
  Status status = show(w, error);
  if (status == STATUS_OK) draw(w);
  SDL_ShowWindow(w->window); /* SDL may make it anew to draw in it: nobody sees the first */
  while (status == STATUS_OK && !w->ends) {
    if (w->is_dirty) draw(w);
    SDL_Event event;
    const int64_t step = w->step;
    const int32_t line = w->line;
    const int64_t swizzle = w->swizzle;
    bool has_event = w->plays ? SDL_WaitEventTimeout(&event, PLAY_MS) : SDL_WaitEvent(&event);
    if (!has_event && w->plays) go(w, 1);
    for (; has_event && !w->ends; has_event = SDL_PollEvent(&event)) on_event(w, &event);
    if (w->step == w->scene->n_steps - 1) w->plays = false;
    if (w->step != step || w->line != line || w->swizzle != swizzle) status = show(w, error);
  }
  return status;
}

Status kernel_window_run(const KernelWindowOptions *o, Error *error) {
  KernelWindow w = {.options = o, .step = o->step, .line = o->line, .swizzle = o->swizzle, .dark = o->dark};
  SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
  if (SDL_Init(SDL_INIT_VIDEO))
    return error_set(error, STATUS_BAD_REQUEST, "no display for a window (%s); a picture is saved with -o FILE.png",
                     SDL_GetError());
  w.window = SDL_CreateWindow("Tilewalk: a kernel", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                              o->width ? o->width : WIDTH, o->height ? o->height : HEIGHT,
                              SDL_WINDOW_RESIZABLE | SDL_WINDOW_HIDDEN);
  Status status = STATUS_OK;
  if (w.window) {
    SDL_SetWindowMinimumSize(w.window, LEAST, LEAST);
    status = run(&w, error);
    if (status == STATUS_OK) say(&w);
    SDL_DestroyWindow(w.window);
  } else {
    status = error_set(error, STATUS_BAD_REQUEST, "the display gives no window (%s)", SDL_GetError());
  }
  SDL_Quit();
  return status;
}
