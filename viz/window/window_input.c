/* Keys, mouse, and events of the window. */
#include "viz/window/window_parts.h"

#include <math.h>
#include <stdlib.h>

#define DRAG_UNITS 24.0 /* dragged so far, a parameter takes its next value */

/* ---- The panel beside the scene -------------------------------------------------------------------------- */

bool window_side_takes(Window *w, SideEvent event) {
  const bool is_of_mouse = event.kind >= SIDE_PRESS && event.kind <= SIDE_LEFT;
  if (!w->side || (is_of_mouse && w->controls.side.width <= 0)) return false;
  event.x = w->mouse_x;
  event.y = w->mouse_y;
  const bool taken = w->side->event(w->side->data, w->player, &event, w->controls.side);
  if (taken) w->is_dirty = true;
  return taken;
}

/* ---- Keys ------------------------------------------------------------------------------------------------ */

/* While something is open, it has the keys. */
static void on_open_key(Window *w, const SDL_Keysym *key) {
  Player *p = w->player;
  char *text;
  switch (key->sym) {
  case SDLK_RETURN:
  case SDLK_KP_ENTER: window_act(w, player_accept(p)); break;
  case SDLK_BACKSPACE: player_erase(p); break;
  case SDLK_ESCAPE: player_cancel(p); break;
  case SDLK_UP: player_move(p, -1); break;
  case SDLK_DOWN: player_move(p, 1); break;
  case SDLK_HOME: player_move(p, -p->chosen); break;
  case SDLK_END: player_move(p, p->n_choices - 1 - p->chosen); break;
  case SDLK_F1:
    if (p->open == OPEN_HELP) player_cancel(p);
    break;
  case SDLK_TAB: /* takes what is typed, and goes to the next parameter */
    if (p->open != OPEN_ENTRY || p->edited < 0) return;
    p->focus = p->edited;
    player_accept(p);
    if (p->open == OPEN_NOTHING) player_input(p, key->mod & KMOD_SHIFT ? INPUT_FOCUS_BACK : INPUT_FOCUS_NEXT);
    break;
  case SDLK_v:
    if (!(key->mod & KMOD_CTRL) || p->open != OPEN_ENTRY) return;
    text = SDL_GetClipboardText();
    if (text) player_type(p, text);
    SDL_free(text);
    break;
  default: return;
  }
  w->is_dirty = true;
}

/* Up, Down and Return belong to the parameter that has the focus. */
static PlayerInput focused_key(const Player *p, const SDL_Keysym *key) {
  if (p->focus < 0) return INPUT_NONE;
  switch (key->sym) {
  case SDLK_UP: return (PlayerInput)(INPUT_MORE + p->focus);
  case SDLK_DOWN: return (PlayerInput)(INPUT_LESS + p->focus);
  case SDLK_RETURN:
  case SDLK_KP_ENTER: return (PlayerInput)(INPUT_EDIT + p->focus);
  default: return INPUT_NONE;
  }
}

/* Keys without a character of their own; the others come as text, which knows the keyboard's layout. */
static PlayerInput special_key(const SDL_Keysym *key) {
  const bool shift = (key->mod & KMOD_SHIFT) != 0, control = (key->mod & KMOD_CTRL) != 0;
  switch (key->sym) {
  case SDLK_RIGHT: return shift ? INPUT_TILE_NEXT : INPUT_EVENT_NEXT;
  case SDLK_LEFT: return shift ? INPUT_TILE_BACK : INPUT_EVENT_BACK;
  case SDLK_DOWN: return shift ? INPUT_PASS_NEXT : INPUT_ROW_NEXT;
  case SDLK_UP: return shift ? INPUT_PASS_BACK : INPUT_ROW_BACK;
  case SDLK_PAGEDOWN: return INPUT_TILE_NEXT;
  case SDLK_PAGEUP: return INPUT_TILE_BACK;
  case SDLK_HOME: return INPUT_START;
  case SDLK_END: return INPUT_END;
  case SDLK_RETURN:
  case SDLK_KP_ENTER: return INPUT_ENTRY;
  case SDLK_F1: return INPUT_HELP;
  case SDLK_F11: return INPUT_FULLSCREEN;
  case SDLK_TAB: return shift ? INPUT_FOCUS_BACK : INPUT_FOCUS_NEXT;
  case SDLK_c: return control ? INPUT_COPY : INPUT_NONE;
  case SDLK_v: return control ? INPUT_PASTE : INPUT_NONE;
  default: return INPUT_NONE;
  }
}

static SideKey side_key(SDL_Keycode code) {
  static const struct {
    SDL_Keycode code;
    SideKey key;
  } KEYS[] = {{SDLK_RETURN, SIDE_KEY_RETURN}, {SDLK_KP_ENTER, SIDE_KEY_RETURN}, {SDLK_BACKSPACE, SIDE_KEY_BACKSPACE},
              {SDLK_DELETE, SIDE_KEY_DELETE}, {SDLK_ESCAPE, SIDE_KEY_ESCAPE},   {SDLK_TAB, SIDE_KEY_TAB},
              {SDLK_LEFT, SIDE_KEY_LEFT},     {SDLK_RIGHT, SIDE_KEY_RIGHT},     {SDLK_UP, SIDE_KEY_UP},
              {SDLK_DOWN, SIDE_KEY_DOWN},     {SDLK_PAGEUP, SIDE_KEY_PAGE_UP},  {SDLK_PAGEDOWN, SIDE_KEY_PAGE_DOWN},
              {SDLK_HOME, SIDE_KEY_HOME},     {SDLK_END, SIDE_KEY_END}};
  for (size_t k = 0; k < sizeof KEYS / sizeof *KEYS; k++)
    if (KEYS[k].code == code) return KEYS[k].key;
  return (SideKey)0;
}

static bool side_takes_key(Window *w, const SDL_Keysym *key) {
  const bool shift = (key->mod & KMOD_SHIFT) != 0, control = (key->mod & KMOD_CTRL) != 0;
  if (control && key->sym == SDLK_v) {
    char *text = SDL_GetClipboardText();
    const bool taken = text && window_side_takes(w, (SideEvent){.kind = SIDE_PASTE, .text = text});
    SDL_free(text);
    return taken;
  }
  const SideKey name = side_key(key->sym);
  return name && window_side_takes(w, (SideEvent){.kind = SIDE_KEY, .key = name, .shift = shift, .control = control});
}

static void on_key(Window *w, const SDL_Keysym *key) {
  Player *p = w->player;
  if (p->open != OPEN_NOTHING) {
    on_open_key(w, key);
    return;
  }
  if (side_takes_key(w, key)) return;
  if (key->sym == SDLK_ESCAPE) {
    if (p->focus >= 0)
      player_cancel(p);
    else
      w->has_ended = true;
    w->is_dirty = true;
    return;
  }
  PlayerInput input = focused_key(p, key);
  if (input == INPUT_NONE) input = special_key(key);
  if (input != INPUT_NONE) window_act(w, input);
}

static bool is_digit(const char *text) { return text[0] >= '0' && text[0] <= '9' && !text[1]; }

static void on_text(Window *w, const char *text) {
  Player *p = w->player;
  const bool is_help_key = p->open == OPEN_HELP && player_key(text[0]) == INPUT_HELP;
  if (p->open == OPEN_NOTHING && window_side_takes(w, (SideEvent){.kind = SIDE_TEXT, .text = text})) return;
  if (p->open == OPEN_NOTHING && p->focus >= 0 && is_digit(text) && PARAMETERS[p->focus].kind == PARAMETER_NUMBER)
    window_act(w, (PlayerInput)(INPUT_EDIT + p->focus)); /* a digit begins a value */
  if (p->open == OPEN_ENTRY || p->open == OPEN_LIST) {
    window_act(w, player_type(p, text));
    return;
  }
  const PlayerInput input = text[0] && !text[1] ? player_key(text[0]) : INPUT_NONE;
  if (input != INPUT_NONE && (p->open == OPEN_NOTHING || is_help_key)) window_act(w, input);
}

/* ---- Mouse ----------------------------------------------------------------------------------------------- */

static void on_motion(Window *w, double x, double y) {
  const bool had_bar = window_wants_bar(w), was_over_side = window_is_over_side(w);
  const Control *before = controls_at(&w->controls, w->mouse_x, w->mouse_y);
  w->mouse_x = x * w->scale;
  w->mouse_y = y * w->scale;
  if (w->drag == DRAG_SIDE || (w->drag == DRAG_NONE && window_is_over_side(w)))
    window_side_takes(w, (SideEvent){.kind = SIDE_MOTION});
  else if (was_over_side)
    window_side_takes(w, (SideEvent){.kind = SIDE_LEFT});
  if (w->drag == DRAG_SCRUB) {
    player_scrub(w->player, controls_scrub_part(&w->controls, w->mouse_x));
    w->is_dirty = true;
  }
  const double step = fmax(4, DRAG_UNITS * w->controls.unit);
  while (w->drag == DRAG_VALUE && fabs(w->mouse_x - w->drag_x) >= step) {
    const bool more = w->mouse_x > w->drag_x;
    w->drag_x += more ? step : -step;
    w->has_dragged = true;
    window_act(w, more ? w->drag_more : w->drag_less);
  }
  if (before != controls_at(&w->controls, w->mouse_x, w->mouse_y) || had_bar != window_wants_bar(w) ||
      w->hover.kind != HIT_NONE)
    w->is_dirty = true;
}

static void on_press(Window *w, int button) {
  Player *p = w->player;
  const Control *at = controls_at(&w->controls, w->mouse_x, w->mouse_y);
  const bool is_open = p->open != OPEN_NOTHING;
  w->is_dirty = true;
  if (is_open && (!at || at->kind != CONTROL_CHOICE)) player_cancel(p); /* a press elsewhere closes it, and acts */
  if (!at && window_is_over_side(w)) {
    w->drag = DRAG_SIDE;
    window_side_takes(w, (SideEvent){.kind = SIDE_PRESS, .button = button == SDL_BUTTON_RIGHT ? 3 : 1});
    return;
  }
  window_side_takes(w, (SideEvent){.kind = SIDE_LEFT, .button = button == SDL_BUTTON_RIGHT ? 3 : 1});
  if (!at) {
    if (!is_open && p->presentation) window_act(w, button == SDL_BUTTON_RIGHT ? INPUT_TILE_BACK : INPUT_TILE_NEXT);
    return;
  }
  if (at->kind == CONTROL_SCRUB) {
    w->drag = DRAG_SCRUB;
    on_motion(w, w->mouse_x / w->scale, w->mouse_y / w->scale);
    return;
  }
  if (button == SDL_BUTTON_RIGHT) {
    if (at->other != INPUT_NONE) window_act(w, at->other);
    return;
  }
  w->drag = at->more != INPUT_NONE ? DRAG_VALUE : DRAG_BUTTON;
  w->drag_x = w->mouse_x;
  w->has_dragged = false;
  w->drag_click = at->click;
  w->drag_more = at->more;
  w->drag_less = at->less;
}

static void on_release(Window *w) {
  const Drag drag = w->drag;
  const Control *at = controls_at(&w->controls, w->mouse_x, w->mouse_y);
  w->drag = DRAG_NONE;
  w->is_dirty = true;
  if (drag == DRAG_SIDE) window_side_takes(w, (SideEvent){.kind = SIDE_RELEASE, .button = 1});
  const bool is_click = (drag == DRAG_VALUE && !w->has_dragged) || drag == DRAG_BUTTON;
  if (is_click && at && at->click == w->drag_click) window_act(w, w->drag_click);
}

static void on_wheel(Window *w, int turns) {
  const Control *at = controls_at(&w->controls, w->mouse_x, w->mouse_y);
  if (w->player->open == OPEN_LIST) {
    player_move(w->player, -turns);
    w->is_dirty = true;
    return;
  }
  if (!at && window_is_over_side(w)) {
    window_side_takes(w, (SideEvent){.kind = SIDE_WHEEL, .turns = turns});
    return;
  }
  for (int n = abs(turns) < 20 ? abs(turns) : 20; n > 0; n--) {
    if (at && at->more != INPUT_NONE)
      window_act(w, turns > 0 ? at->more : at->less);
    else
      window_act(w, turns > 0 ? INPUT_EVENT_BACK : INPUT_EVENT_NEXT);
  }
}

/* ---- Events ---------------------------------------------------------------------------------------------- */

static void on_window(Window *w, const SDL_WindowEvent *event) {
  switch (event->event) {
  case SDL_WINDOWEVENT_SIZE_CHANGED:
    if (!window_make_canvas(w)) w->has_ended = true;
    break;
  case SDL_WINDOWEVENT_LEAVE: w->mouse_x = w->mouse_y = -1; break;
  case SDL_WINDOWEVENT_CLOSE: w->has_ended = true; break;
  default: break;
  }
  w->is_dirty = true;
}

void window_on_event(Window *w, const SDL_Event *event) {
  switch (event->type) {
  case SDL_QUIT: w->has_ended = true; break;
  case SDL_WINDOWEVENT: on_window(w, &event->window); break;
  case SDL_KEYDOWN: on_key(w, &event->key.keysym); break;
  case SDL_TEXTINPUT: on_text(w, event->text.text); break;
  case SDL_MOUSEMOTION: on_motion(w, event->motion.x, event->motion.y); break;
  case SDL_MOUSEBUTTONDOWN:
    on_motion(w, event->button.x, event->button.y);
    if (event->button.button == SDL_BUTTON_LEFT || event->button.button == SDL_BUTTON_RIGHT)
      on_press(w, event->button.button);
    if (event->button.button == SDL_BUTTON_MIDDLE) window_act(w, INPUT_PRESENTATION);
    break;
  case SDL_MOUSEBUTTONUP:
    if (event->button.button == SDL_BUTTON_LEFT || w->drag == DRAG_SCRUB || w->drag == DRAG_SIDE) on_release(w);
    break;
  case SDL_MOUSEWHEEL:
    on_wheel(w, event->wheel.direction == SDL_MOUSEWHEEL_FLIPPED ? -event->wheel.y : event->wheel.y);
    break;
  case SDL_RENDER_TARGETS_RESET:
  case SDL_RENDER_DEVICE_RESET:
    if (!window_make_canvas(w)) w->has_ended = true;
    break;
  default: break;
  }
}
