/* SDL's events, told to the viewer. */
#include "viz/window/window_parts.h"

static SideKey key_named(const SDL_Keysym *key) {
  static const struct {
    SDL_Keycode code;
    SideKey key;
  } KEYS[] = {{SDLK_RETURN, SIDE_KEY_RETURN},
              {SDLK_KP_ENTER, SIDE_KEY_RETURN},
              {SDLK_BACKSPACE, SIDE_KEY_BACKSPACE},
              {SDLK_ESCAPE, SIDE_KEY_ESCAPE},
              {SDLK_TAB, SIDE_KEY_TAB},
              {SDLK_LEFT, SIDE_KEY_LEFT},
              {SDLK_RIGHT, SIDE_KEY_RIGHT},
              {SDLK_UP, SIDE_KEY_UP},
              {SDLK_DOWN, SIDE_KEY_DOWN},
              {SDLK_PAGEUP, SIDE_KEY_PAGE_UP},
              {SDLK_PAGEDOWN, SIDE_KEY_PAGE_DOWN},
              {SDLK_HOME, SIDE_KEY_HOME},
              {SDLK_END, SIDE_KEY_END},
              {SDLK_F1, SIDE_KEY_F1},
              {SDLK_F11, SIDE_KEY_F11}};
  if (key->mod & KMOD_CTRL && key->sym == SDLK_c) return SIDE_KEY_COPY;
  if (key->mod & KMOD_CTRL && key->sym == SDLK_v) return SIDE_KEY_PASTE;
  for (size_t k = 0; k < sizeof KEYS / sizeof *KEYS; k++)
    if (KEYS[k].code == key->sym) return KEYS[k].key;
  return SIDE_KEY_NONE;
}

/* Keys with a character of their own come as text, which knows the keyboard's layout. */
static void on_key(Window *w, const SDL_Keysym *key) {
  const SideKey named = key_named(key);
  if (named) viewer_key(&w->viewer, named, (key->mod & KMOD_SHIFT) != 0, (key->mod & KMOD_CTRL) != 0);
}

static void on_motion(Window *w, int x, int y) { viewer_motion(&w->viewer, x * w->scale, y * w->scale); }

static void on_press(Window *w, const SDL_MouseButtonEvent *event) {
  on_motion(w, event->x, event->y);
  if (event->button == SDL_BUTTON_LEFT) viewer_press(&w->viewer, 1);
  if (event->button == SDL_BUTTON_RIGHT) viewer_press(&w->viewer, 3);
  if (event->button == SDL_BUTTON_MIDDLE) viewer_act(&w->viewer, INPUT_PRESENTATION);
}

static void on_window(Window *w, const SDL_WindowEvent *event) {
  Viewer *v = &w->viewer;
  switch (event->event) {
  case SDL_WINDOWEVENT_SIZE_CHANGED:
    if (!window_make_canvas(w)) v->has_ended = true;
    break;
  case SDL_WINDOWEVENT_LEAVE: viewer_leave(v); break;
  case SDL_WINDOWEVENT_CLOSE: v->has_ended = true; break;
  default: break;
  }
  v->is_dirty = true;
}

void window_on_event(Window *w, const SDL_Event *event) {
  Viewer *v = &w->viewer;
  if (window_notes_take(w, event)) return;
  switch (event->type) {
  case SDL_QUIT: v->has_ended = true; break;
  case SDL_WINDOWEVENT: on_window(w, &event->window); break;
  case SDL_KEYDOWN: on_key(w, &event->key.keysym); break;
  case SDL_TEXTINPUT: viewer_text(v, event->text.text); break;
  case SDL_MOUSEMOTION: on_motion(w, event->motion.x, event->motion.y); break;
  case SDL_MOUSEBUTTONDOWN: on_press(w, &event->button); break;
  case SDL_MOUSEBUTTONUP: viewer_release(v, event->button.button == SDL_BUTTON_LEFT ? 1 : 3); break;
  case SDL_MOUSEWHEEL:
    viewer_wheel(v, event->wheel.direction == SDL_MOUSEWHEEL_FLIPPED ? -event->wheel.y : event->wheel.y);
    break;
  case SDL_RENDER_TARGETS_RESET:
  case SDL_RENDER_DEVICE_RESET:
    if (!window_make_canvas(w)) v->has_ended = true;
    break;
  default: break;
  }
}
