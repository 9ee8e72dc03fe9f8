/* Drawing the viewer, and what lies under the pointer. What scenes remember is kept from frame to frame. */
#include "viz/window/viewer.h"

enum { TOOLTIP_BYTES = 512 };
static const SceneHit NOTHING = {.kind = HIT_NONE, .i = -1, .j = -1};
#define LEAST_SIDE_UNIT 0.8 /* pixels: a panel's letters have 16 of them */

bool viewer_open(Viewer *v, Player *player, const SidePanel *side, ViewerHost host) {
  *v = (Viewer){
      .player = player, .side = side, .host = host, .mouse_x = -1, .mouse_y = -1, .hover = NOTHING, .is_dirty = true};
  v->memo = memo_new();
  viewer_resize(v, 0, 0);
  return v->memo != NULL;
}

void viewer_close(Viewer *v) {
  cairo_surface_destroy(v->measures);
  memo_free(v->memo);
}

void viewer_resize(Viewer *v, int width, int height) {
  cairo_surface_destroy(v->measures);
  v->measures = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
  letter_forget_fonts(); /* of the size before: letters grow with the window, so its next ones are others */
  v->width = width;
  v->height = height;
  v->is_dirty = true;
}

bool viewer_is_covered(const Viewer *v) {
  return v->cover.data && v->cover.width(v->cover.data, v->player, v->width) > 0;
}

bool viewer_is_moving(const Viewer *v) {
  return viewer_is_covered(v) ? v->cover.waits(v->cover.data) : player_is_moving(v->player);
}

void viewer_tick(Viewer *v, double seconds) {
  if (viewer_is_covered(v))
    viewer_side_takes(v, (SideEvent){.kind = SIDE_LOOK, .seconds = seconds});
  else
    v->is_dirty |= player_tick(v->player, seconds);
}

/* A frame has its controls elsewhere. */
static bool is_too_small(const Viewer *v) {
  return v->width < VIEWER_LEAST_WIDTH || v->height < (v->is_framed ? FRAME_LEAST_HEIGHT : VIEWER_LEAST_HEIGHT);
}

bool viewer_wants_bar(const Viewer *v) { return v->drag != DRAG_NONE || v->mouse_y > 0.84 * v->height; }

static void draw_scene(Viewer *v, cairo_t *cr) {
  const Player *p = v->player;
  const Box at = v->controls.scene;
  const SceneView view = {.presentation = p->presentation,
                          .framed = v->is_framed,
                          .memo = v->memo,
                          .phase = player_phase(p),
                          .hover = v->hover};
  cairo_save(cr);
  cairo_rectangle(cr, 0, 0, at.width, at.height);
  cairo_clip(cr);
  scene_draw(p->scene, &p->now, &view, cr, at.width, at.height, player_theme(p));
  cairo_restore(cr);
}

static double side_width(const Viewer *v) {
  if (!v->side) return 0;
  const double wanted = v->side->width(v->side->data, v->player, v->width);
  return floor(fmax(0, fmin(wanted, 0.6 * v->width)));
}

bool viewer_is_over_side(const Viewer *v) { return box_holds(v->controls.side, v->mouse_x, v->mouse_y); }

void viewer_draw(Viewer *v, cairo_t *cr) {
  const Player *p = v->player;
  const Box window = box_at(0, 0, v->width, v->height);
  char tooltip[TOOLTIP_BYTES] = "";
  v->is_dirty = false;
  if (is_too_small(v)) {
    box_fill(cr, window, player_theme(p)->background, 1);
    return;
  }
  if (viewer_is_covered(v)) {
    v->controls = (Controls){.side = window};
    v->cover.draw(v->cover.data, p, cr, window, 1);
    return;
  }
  if (v->is_framed)
    v->controls = (Controls){.scene = window, .foot = v->height, .unit = 1, .is_framed = true};
  else
    controls_layout(&v->controls, p, cr, v->width, v->height, side_width(v), viewer_wants_bar(v));
  const Control *pointed =
      v->drag == DRAG_NONE && v->mouse_x >= 0 ? controls_at(&v->controls, v->mouse_x, v->mouse_y) : NULL;
  draw_scene(v, cr);
  if (!pointed && v->hover.kind != HIT_NONE) scene_tooltip(&p->now, &v->hover, tooltip, sizeof tooltip);
  const Box side = v->controls.side;
  if (side.width > 0 && side.height > 0) {
    cairo_save(cr);
    box_path(cr, side);
    cairo_clip(cr);
    v->side->draw(v->side->data, p, cr, side, fmax(v->controls.unit, LEAST_SIDE_UNIT));
    cairo_restore(cr);
  }
  controls_draw(&v->controls, p, cr, pointed);
  overlay_draw(&v->controls, p, cr, tooltip, v->mouse_x, v->mouse_y);
}

void viewer_find_hover(Viewer *v) {
  const Player *p = v->player;
  const SceneView view = {.presentation = p->presentation, .framed = v->is_framed, .memo = v->memo};
  const Box scene = v->controls.scene;
  const bool over_bar = (v->controls.bar.height > 0 && v->mouse_y >= v->controls.bar.y) || viewer_is_over_side(v);
  SceneHit hit = NOTHING;
  if (v->mouse_x >= 0 && scene.width > 0 && !over_bar && v->drag == DRAG_NONE && !is_too_small(v))
    hit = scene_hit_measured(p->scene, &p->now, &view, v->measures, scene.width, scene.height, v->mouse_x, v->mouse_y);
  if (!pen_is_same_hit(&hit, &v->hover)) v->is_dirty = true;
  v->hover = hit;
}
