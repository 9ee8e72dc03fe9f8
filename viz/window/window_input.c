/* SDL's events, told to the viewer. */
#include "viz/window/window_parts.h"

/* Keys with a character of their own come as text, which knows the keyboard's layout. */
static void on_key(Window *w, const SDL_Keysym *key) {
  static const SDL_Keycode CODES[] = {SDLK_UNKNOWN, SDLK_RETURN, SDLK_BACKSPACE, SDLK_ESCAPE, SDLK_TAB,      SDLK_LEFT,
                                      SDLK_RIGHT,   SDLK_UP,     SDLK_DOWN,      SDLK_PAGEUP, SDLK_PAGEDOWN, SDLK_HOME,
                                      SDLK_END,     SDLK_F1,     SDLK_F11,       SDLK_c,      SDLK_v};
  const SDL_Keycode code = key->sym == SDLK_KP_ENTER ? SDLK_RETURN : key->sym;
  const bool control = (key->mod & KMOD_CTRL) != 0;
  int k = SIDE_KEY_PASTE;
  while (k && (CODES[k] != code || (k >= SIDE_KEY_COPY && !control))) k--;
  if (k) viewer_key(&w->viewer, (SideKey)k, (key->mod & KMOD_SHIFT) != 0, control);
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
