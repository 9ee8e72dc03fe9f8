#include "viz/scene/pen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Sizes ----------------------------------------------------------------------------------------------- */

double pen_size(const Pen *pen, TypeSize type) {
  static const double PLAIN[N_TYPES] = {14.6, 16, 18, 22, 40}, LARGE[N_TYPES] = {25, 28.5, 32, 38, 70};
  return (pen->view->presentation ? LARGE : PLAIN)[type] * pen->unit;
}

double pen_happened(const Pen *pen) {
  const double phase = pen->view->phase;
  if (!(phase > 0 && phase < 1)) return 1;
  return phase * phase * (3 - 2 * phase);
}

double pen_passing(const Pen *pen) {
  const double phase = pen->view->phase;
  if (!(phase > 0 && phase < 1)) return 0;
  return fmin(1, fmin(8 * phase, 8 * (1 - phase)));
}

Box box_between(Box from, Box to, double part) {
  return (Box){from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part,
               from.width + (to.width - from.width) * part, from.height + (to.height - from.height) * part};
}

void pen_body(const Pen *pen, SceneBodyKind kind, int tensor, Box box, double alpha) {
  SceneBodies *all = pen->view->bodies;
  if (pen->hit || !all || all->n >= SCENE_BODIES_MAX) return;
  all->bodies[all->n++] = (SceneBody){kind, tensor, box.x, box.y, box.width, box.height, alpha};
}

/* ---- What is talked about -------------------------------------------------------------------------------- */

static bool is_pointed_at(const Pen *pen, int tensor) {
  const SceneHit *hover = &pen->view->hover;
  return (hover->kind == HIT_TENSOR || hover->kind == HIT_SLOT) && (int)hover->tensor == tensor;
}

bool pen_talks_of(const Pen *pen, int tensor) {
  return is_pointed_at(pen, tensor) ||
         (pen->now->has_event && (snapshot_subjects(pen->now, &pen->now->event) >> tensor & 1));
}

/* ---- Boxes ----------------------------------------------------------------------------------------------- */

Box box_at(double x, double y, double width, double height) {
  const double left = floor(x), top = floor(y);
  return (Box){left, top, fmax(0, floor(x + width) - left), fmax(0, floor(y + height) - top)};
}

Box box_inset(Box box, double by) { return box_at(box.x + by, box.y + by, box.width - 2 * by, box.height - 2 * by); }

Box box_cut_left(Box *box, double width, double gap) {
  const Box part = box_at(box->x, box->y, width, box->height);
  *box = box_at(box->x + width + gap, box->y, box->width - width - gap, box->height);
  return part;
}

Box box_cut_right(Box *box, double width, double gap) {
  const Box part = box_at(box->x + box->width - width, box->y, width, box->height);
  *box = box_at(box->x, box->y, box->width - width - gap, box->height);
  return part;
}

Box box_cut_top(Box *box, double height, double gap) {
  const Box part = box_at(box->x, box->y, box->width, height);
  *box = box_at(box->x, box->y + height + gap, box->width, box->height - height - gap);
  return part;
}

Box box_cut_bottom(Box *box, double height, double gap) {
  const Box part = box_at(box->x, box->y + box->height - height, box->width, height);
  *box = box_at(box->x, box->y, box->width, box->height - height - gap);
  return part;
}

/* ---- Shapes ---------------------------------------------------------------------------------------------- */

static double thickness_of(const Pen *pen, double thickness) { return fmax(1, round(thickness * pen->unit)); }

void pen_add(const Pen *pen, Box box) {
  if (!pen->hit && box.width > 0 && box.height > 0) cairo_rectangle(pen->cr, box.x, box.y, box.width, box.height);
}

void pen_fill_added(const Pen *pen, Colour colour) {
  if (pen->hit) return;
  theme_use(pen->cr, colour, 1);
  cairo_fill(pen->cr);
}

void pen_fill(const Pen *pen, Box box, Colour colour, double alpha) {
  if (pen->hit || box.width <= 0 || box.height <= 0) return;
  theme_use(pen->cr, colour, alpha);
  cairo_rectangle(pen->cr, box.x, box.y, box.width, box.height);
  cairo_fill(pen->cr);
}

static void frame(const Pen *pen, Box box, Colour colour, double thickness, bool dashed) {
  if (pen->hit || box.width <= 0 || box.height <= 0) return;
  const double t = thickness_of(pen, thickness), dash[] = {5 * pen->unit, 4 * pen->unit};
  theme_use(pen->cr, colour, 1);
  cairo_set_line_width(pen->cr, t);
  if (dashed) cairo_set_dash(pen->cr, dash, 2, 0);
  cairo_rectangle(pen->cr, box.x + t / 2, box.y + t / 2, box.width - t, box.height - t);
  cairo_stroke(pen->cr);
  if (dashed) cairo_set_dash(pen->cr, NULL, 0, 0);
}

void pen_frame(const Pen *pen, Box box, Colour colour, double thickness) { frame(pen, box, colour, thickness, false); }
void pen_dashed(const Pen *pen, Box box, Colour colour, double thickness) { frame(pen, box, colour, thickness, true); }

void pen_meter(const Pen *pen, Box bar, double part, Colour fill) {
  pen_frame(pen, bar, pen->theme->tile[TILE_COLOUR_HELD], 1);
  pen_fill(pen, box_at(bar.x, bar.y, bar.width * part, bar.height), fill, 1);
}

void pen_edge(const Pen *pen, int tensor, Box box, bool upright, double part, double alpha) {
  const double t = thickness_of(pen, 3);
  if (pen->hit || alpha <= 0 || box.width <= 0 || box.height <= 0) return;
  const Box at = upright ? box_at(round(box.x + part * (box.width - t)), box.y, t, box.height)
                         : box_at(box.x, round(box.y + part * (box.height - t)), box.width, t);
  pen_body(pen, BODY_LINE, tensor, at, alpha);
  pen_fill(pen, at, pen->theme->ink, alpha);
}

static double hatch_step(const Pen *pen) { return fmax(5, round(7 * pen->unit)); }

/* On a pixel surface the lines come from a small tile that repeats: a clip of many boxes and a stroke through it would
 * cost ten times as much. On paper they are lines. */
void pen_hatch_path(const Pen *pen, Box box, Colour ground, Colour colour) {
  cairo_t *cr = pen->cr;
  const int step = (int)hatch_step(pen);
  cairo_save(cr);
  cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
  if (cairo_surface_get_type(cairo_get_target(cr)) == CAIRO_SURFACE_TYPE_IMAGE) {
    cairo_surface_t *tile = cairo_image_surface_create(CAIRO_FORMAT_RGB24, step, step);
    cairo_t *to = cairo_create(tile);
    Pen small = *pen;
    small.cr = to;
    theme_use(to, ground, 1);
    cairo_paint(to);
    pen_hatch(&small, (Box){-step, -step, 3 * step, 3 * step}, colour);
    cairo_destroy(to);
    cairo_set_source_surface(cr, tile, 0, 0);
    cairo_pattern_set_extend(cairo_get_source(cr), CAIRO_EXTEND_REPEAT);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_fill(cr);
    cairo_surface_destroy(tile);
  } else {
    cairo_clip(cr);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_DEFAULT);
    pen_hatch(pen, box, colour);
  }
  cairo_restore(cr);
}

void pen_hatch(const Pen *pen, Box box, Colour colour) {
  if (pen->hit) return;
  const double step = hatch_step(pen);
  theme_use(pen->cr, colour, 1);
  cairo_set_line_width(pen->cr, fmax(1, 1.1 * pen->unit));
  for (double x = ceil((box.x + box.y) / step) * step; x < box.x + box.width + box.y + box.height; x += step) {
    const double top = fmax(box.y, x - box.x - box.width), bottom = fmin(box.y + box.height, x - box.x);
    cairo_move_to(pen->cr, x - top, top);
    cairo_line_to(pen->cr, x - bottom, bottom);
  }
  cairo_stroke(pen->cr);
}

void pen_line(const Pen *pen, Colour colour, double thickness, double x1, double y1, double x2, double y2) {
  if (pen->hit) return;
  const double t = thickness_of(pen, thickness), half = fmod(t, 2) / 2;
  if (x1 == x2) x1 = x2 = floor(x1) + half;
  if (y1 == y2) y1 = y2 = floor(y1) + half;
  theme_use(pen->cr, colour, 1);
  cairo_set_line_width(pen->cr, t);
  cairo_move_to(pen->cr, x1, y1);
  cairo_line_to(pen->cr, x2, y2);
  cairo_stroke(pen->cr);
}

/* ---- Text ------------------------------------------------------------------------------------------------ */

static void text_in(const Pen *pen, const char *family, TypeSize type, Colour colour, bool bold, Anchor anchor,
                    double x, double y, double width, const char *text) {
  if (pen->hit || !*text) return;
  const Lettering lettering = {.family = family,
                               .size = pen_size(pen, type),
                               .bold = bold,
                               .anchor = anchor,
                               .is_code = family == pen->theme->mono};
  theme_use(pen->cr, colour, 1);
  if (width > 0)
    letter_draw_cut(pen->cr, &lettering, x, y, width, text);
  else
    letter_draw(pen->cr, &lettering, x, y, text);
}

void pen_text(const Pen *pen, TypeSize type, Colour colour, bool bold, Anchor anchor, double x, double y, double width,
              const char *text) {
  text_in(pen, pen->theme->sans, type, colour, bold, anchor, x, y, width, text);
}

void pen_mono(const Pen *pen, TypeSize type, Colour colour, bool bold, Anchor anchor, double x, double y, double width,
              const char *text) {
  text_in(pen, pen->theme->mono, type, colour, bold, anchor, x, y, width, text);
}

double pen_text_width(const Pen *pen, TypeSize type, bool bold, const char *text) {
  const Lettering lettering = {.family = pen->theme->sans, .size = pen_size(pen, type), .bold = bold};
  return letter_measure(pen->cr, &lettering, text).width;
}

double pen_mono_width(const Pen *pen, TypeSize type, const char *text) {
  const Lettering lettering = {.family = pen->theme->mono, .size = pen_size(pen, type)};
  return letter_measure(pen->cr, &lettering, text).width;
}

int pen_paragraph(const Pen *pen, TypeSize type, Colour colour, Box box, const char *text) {
  const Lettering lettering = {.family = pen->theme->sans, .size = pen_size(pen, type)};
  const int most = (int)floor(box.height / (1.35 * lettering.size));
  if (pen->hit || most < 1) return 0;
  theme_use(pen->cr, colour, 1);
  return letter_draw_wrapped(pen->cr, &lettering, box.x, box.y + lettering.size, box.width, 1.35, most, text);
}

/* ---- Regions --------------------------------------------------------------------------------------------- */

static bool is_same(const SceneHit *a, const SceneHit *b) {
  return a->kind == b->kind && a->tensor == b->tensor && a->i == b->i && a->j == b->j && a->index == b->index;
}

static void note_region(const Pen *pen, const SceneHit *hit, const char *name) {
  SceneRegions *r = pen->view->regions;
  if (r && r->n < SCENE_REGIONS_MAX) r->regions[r->n++] = (SceneRegion){*hit, name};
}

void pen_part(const Pen *pen, const char *name, Box box) {
  note_region(pen, &(SceneHit){.i = -1, .j = -1, .x = box.x, .y = box.y, .width = box.width, .height = box.height},
              name);
}

void pen_region(const Pen *pen, SceneHitKind kind, int tensor, int64_t i, int64_t j, int index, Box box) {
  const SceneHit here = {kind, tensor, i, j, index, box.x, box.y, box.width, box.height};
  note_region(pen, &here, NULL);
  if (pen->hit) {
    const bool inside =
        pen->hit_x >= box.x && pen->hit_x < box.x + box.width && pen->hit_y >= box.y && pen->hit_y < box.y + box.height;
    if (inside) *pen->hit = here;
  } else if (is_same(&here, &pen->view->hover)) {
    pen_frame(pen, box_at(box.x - 2, box.y - 2, box.width + 4, box.height + 4), pen->theme->ink, 2.2);
  }
}

/* ---- Page and panels ------------------------------------------------------------------------------------- */

Box pen_panel(const Pen *pen, Box box, const char *heading, const char *remark) {
  const double u = pen->unit, base = box.y + 12 * u + pen_size(pen, TYPE_HEAD);
  pen_part(pen, heading, box);
  pen_fill(pen, box, pen->theme->panel, 1);
  const double wide = pen_text_width(pen, TYPE_HEAD, true, heading), used = wide + 40 * u;
  if (wide + 14 * u <= box.width)
    pen_text(pen, TYPE_HEAD, pen->theme->ink, true, ANCHOR_START, box.x + 14 * u, base, 0, heading);
  if (remark && used + pen_text_width(pen, TYPE_SMALL, false, remark) <= box.width)
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, box.x + box.width - 14 * u, base, 0, remark);
  const double head = 12 * u + 1.5 * pen_size(pen, TYPE_HEAD);
  return box_at(box.x + 14 * u, box.y + head, box.width - 28 * u, box.height - head - 12 * u);
}
