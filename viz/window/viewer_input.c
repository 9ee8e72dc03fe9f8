/* Keys, text and pointer of the viewer. */
#include <stdlib.h>

#include "viz/window/viewer.h"

#define DRAG_UNITS 24.0 /* dragged so far, a parameter takes its next value */

/* ---- The panel beside the scene -------------------------------------------------------------------------- */

bool viewer_side_takes(Viewer *v, SideEvent event) {
  const bool is_of_mouse = event.kind >= SIDE_PRESS && event.kind <= SIDE_LEFT;
  const SidePanel *to = viewer_is_covered(v) ? &v->cover : v->side;
  if (!to || (is_of_mouse && v->controls.side.width <= 0)) return false;
  event.x = v->mouse_x;
  event.y = v->mouse_y;
  const bool taken = to->event(to->data, v->player, &event);
  if (taken) v->is_dirty = true;
  return taken;
}

void viewer_act(Viewer *v, PlayerInput input) {
  v->is_dirty = true;
  const PlayerInput rest = player_input(v->player, input);
  if (rest == INPUT_QUIT)
    v->has_ended = true;
  else if (rest == INPUT_SIDE) {
    if (!viewer_side_takes(v, (SideEvent){.kind = SIDE_TOGGLE}))
      player_say(v->player, false, "No lesson is open: tilewalk view --lesson NAME opens one");
  } else if (rest != INPUT_NONE)
    v->host.act(v->host.data, rest);
}

/* ---- Keys ------------------------------------------------------------------------------------------------ */

/* Whether keys are those of what is open over the scene. */
static bool is_open(const Viewer *v) { return v->player->open != OPEN_NOTHING && !viewer_is_covered(v); }

/* Into what is typed into; else it is a state. */
static void paste(Viewer *v) {
  char *text = v->host.clipboard(v->host.data);
  const bool has_text = text && *text;
  v->player->asks_quit = false;
  if (is_open(v))
    player_type(v->player, has_text ? text : "");
  else if (!has_text)
    player_say(v->player, false, "The clipboard is empty");
  else if (!viewer_side_takes(v, (SideEvent){.kind = SIDE_PASTE, .text = text}))
    player_restore(v->player, text);
  free(text);
}

/* While something is open, it has the keys. */
static void on_open_key(Player *p, SideKey key) {
  if (key == SIDE_KEY_RETURN) player_accept(p);
  if (key == SIDE_KEY_BACKSPACE) player_erase(p);
  if (key == SIDE_KEY_ESCAPE || (key == SIDE_KEY_F1 && p->open == OPEN_HELP)) player_cancel(p);
}

static PlayerInput special_key(SideKey key, bool shift) {
  switch (key) {
  case SIDE_KEY_RIGHT: return shift ? INPUT_TILE_NEXT : INPUT_EVENT_NEXT;
  case SIDE_KEY_LEFT: return shift ? INPUT_TILE_BACK : INPUT_EVENT_BACK;
  case SIDE_KEY_DOWN: return shift ? INPUT_PASS_NEXT : INPUT_ROW_NEXT;
  case SIDE_KEY_UP: return shift ? INPUT_PASS_BACK : INPUT_ROW_BACK;
  case SIDE_KEY_PAGE_DOWN: return INPUT_TILE_NEXT;
  case SIDE_KEY_PAGE_UP: return INPUT_TILE_BACK;
  case SIDE_KEY_HOME: return INPUT_START;
  case SIDE_KEY_END: return INPUT_END;
  case SIDE_KEY_RETURN: return INPUT_ENTRY;
  case SIDE_KEY_ESCAPE: return INPUT_ESCAPE;
  case SIDE_KEY_F1: return INPUT_HELP;
  case SIDE_KEY_F11: return INPUT_FULLSCREEN;
  case SIDE_KEY_COPY: return INPUT_COPY;
  default: return INPUT_NONE;
  }
}

void viewer_key(Viewer *v, SideKey key, bool shift, bool control) {
  const SideEvent event = {.kind = SIDE_KEY, .key = key, .shift = shift, .control = control};
  const PlayerInput input = special_key(key, shift);
  v->is_dirty = true;
  if (key == SIDE_KEY_PASTE)
    paste(v);
  else if (is_open(v))
    on_open_key(v->player, key);
  else if (((key > SIDE_KEY_LAST_OF_PANEL && !viewer_is_covered(v)) || !viewer_side_takes(v, event)) &&
           input != INPUT_NONE)
    viewer_act(v, input);
}

void viewer_text(Viewer *v, const char *text) {
  Player *p = v->player;
  const bool is_help_key = p->open == OPEN_HELP && player_key(text[0]) == INPUT_HELP;
  if (!is_open(v) && viewer_side_takes(v, (SideEvent){.kind = SIDE_TEXT, .text = text})) return;
  if (p->open == OPEN_ENTRY) {
    player_type(p, text);
    v->is_dirty = true;
    return;
  }
  const PlayerInput input = text[0] && !text[1] ? player_key(text[0]) : INPUT_NONE;
  if (input != INPUT_NONE && (p->open == OPEN_NOTHING || is_help_key)) viewer_act(v, input);
}

/* ---- The pointer ----------------------------------------------------------------------------------------- */

void viewer_motion(Viewer *v, double x, double y) {
  const bool had_bar = viewer_wants_bar(v), was_over_side = viewer_is_over_side(v);
  const Control *before = controls_at(&v->controls, v->mouse_x, v->mouse_y);
  v->mouse_x = x;
  v->mouse_y = y;
  if (v->drag == DRAG_SIDE || (v->drag == DRAG_NONE && viewer_is_over_side(v) && !viewer_is_covered(v)))
    viewer_side_takes(v, (SideEvent){.kind = SIDE_MOTION});
  else if (was_over_side)
    viewer_side_takes(v, (SideEvent){.kind = SIDE_LEFT});
  if (v->drag == DRAG_SCRUB) {
    player_scrub(v->player, controls_scrub_part(&v->controls, v->mouse_x));
    v->is_dirty = true;
  }
  const double step = fmax(4, DRAG_UNITS * v->controls.unit);
  while (v->drag == DRAG_VALUE && v->pressed.more != INPUT_NONE && fabs(v->mouse_x - v->drag_x) >= step) {
    const bool more = v->mouse_x > v->drag_x;
    v->drag_x += more ? step : -step;
    v->has_dragged = true;
    viewer_act(v, more ? v->pressed.more : v->pressed.less);
  }
  if (before != controls_at(&v->controls, v->mouse_x, v->mouse_y) || had_bar != viewer_wants_bar(v) ||
      v->hover.kind != HIT_NONE)
    v->is_dirty = true;
}

void viewer_leave(Viewer *v) {
  v->mouse_x = v->mouse_y = -1;
  v->is_dirty = true;
}

void viewer_press(Viewer *v, int button) {
  Player *p = v->player;
  const bool was_open = is_open(v);
  const Control *at = controls_at(&v->controls, v->mouse_x, v->mouse_y);
  v->is_dirty = true;
  if (was_open) player_cancel(p); /* a press elsewhere closes it, and acts */
  if (!at && viewer_is_over_side(v)) {
    v->drag = button == 1 ? DRAG_SIDE : DRAG_NONE;
    viewer_side_takes(v, (SideEvent){.kind = SIDE_PRESS, .button = button});
    return;
  }
  viewer_side_takes(v, (SideEvent){.kind = SIDE_LEFT, .button = button});
  if (!at) {
    viewer_find_hover(v); /* a finger comes down without having moved */
    if (!was_open && p->presentation)
      viewer_act(v, button == 3 ? INPUT_TILE_BACK : INPUT_TILE_NEXT);
    else if (!was_open && v->hover.kind == HIT_TILE)
      player_go_to_tile(p, v->hover.i, v->hover.j);
    return;
  }
  if (at->kind == CONTROL_SCRUB) {
    v->drag = DRAG_SCRUB;
    viewer_motion(v, v->mouse_x, v->mouse_y);
    return;
  }
  if (button == 3) {
    if (at->less != INPUT_NONE) viewer_act(v, at->less);
    return;
  }
  v->drag = DRAG_VALUE;
  v->drag_x = v->mouse_x;
  v->has_dragged = false;
  v->pressed = *at;
}

void viewer_release(Viewer *v, int button) {
  if (button != 1 && v->drag != DRAG_SCRUB) return;
  const Drag drag = v->drag;
  const Control *at = controls_at(&v->controls, v->mouse_x, v->mouse_y);
  v->drag = DRAG_NONE;
  v->is_dirty = true;
  if (drag == DRAG_SIDE) viewer_side_takes(v, (SideEvent){.kind = SIDE_RELEASE, .button = 1});
  if (drag == DRAG_VALUE && !v->has_dragged && at && at->click == v->pressed.click) viewer_act(v, at->click);
}

void viewer_wheel(Viewer *v, int turns) {
  const Control *at = controls_at(&v->controls, v->mouse_x, v->mouse_y);
  if (!at && viewer_is_over_side(v)) {
    viewer_side_takes(v, (SideEvent){.kind = SIDE_WHEEL, .turns = turns});
    return;
  }
  for (int n = abs(turns) < 20 ? abs(turns) : 20; n > 0; n--)
    if (at && at->more != INPUT_NONE)
      viewer_act(v, turns > 0 ? at->more : at->less);
    else
      viewer_act(v, turns > 0 ? INPUT_EVENT_BACK : INPUT_EVENT_NEXT);
}
