#include "viz/scene/pen.h"

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

void pen_body(const Pen *pen, SceneBodyKind kind, int tensor, Box box, double alpha) {
  SceneBodies *all = pen->view->bodies;
  if (pen->hit || !all || all->n >= SCENE_BODIES_MAX) return;
  all->bodies[all->n++] = (SceneBody){kind, tensor, box.x, box.y, box.width, box.height, alpha};
}

/* ---- Shapes ---------------------------------------------------------------------------------------------- */

double pen_thickness(const Pen *pen, double units) { return fmax(1, round(units * pen->unit)); }

void pen_fill_path(const Pen *pen, Colour colour) {
  if (pen->hit) return;
  theme_use(pen->cr, colour, 1);
  cairo_fill(pen->cr);
}

void pen_fill(const Pen *pen, Box box, Colour colour, double alpha) {
  if (!pen->hit && box.width > 0 && box.height > 0) box_fill(pen->cr, box, colour, alpha);
}

void pen_frame(const Pen *pen, Box box, Colour colour, double thickness) {
  if (!pen->hit && box.width > 0 && box.height > 0) box_frame(pen->cr, box, colour, pen_thickness(pen, thickness));
}

static void hatch_lines(cairo_t *cr, Box box, double step, Colour colour, double thickness) {
  theme_use(cr, colour, 1);
  cairo_set_line_width(cr, thickness);
  for (double x = ceil((box.x + box.y) / step) * step; x < box.x + box.width + box.y + box.height; x += step) {
    const double top = fmax(box.y, x - box.x - box.width), bottom = fmin(box.y + box.height, x - box.x);
    cairo_move_to(cr, x - top, top);
    cairo_line_to(cr, x - bottom, bottom);
  }
  cairo_stroke(cr);
}

/* On a pixel surface the lines come from a small tile that repeats: a clip and a stroke through it would cost ten times
 * as much. On paper they are lines. */
void pen_hatch_path(const Pen *pen, Colour ground, Colour colour) {
  cairo_t *cr = pen->cr;
  const double thickness = fmax(1, 1.1 * pen->unit);
  const int step = (int)fmax(5, round(7 * pen->unit));
  cairo_save(cr);
  if (cairo_surface_get_type(cairo_get_target(cr)) == CAIRO_SURFACE_TYPE_IMAGE) {
    cairo_surface_t *tile = cairo_image_surface_create(CAIRO_FORMAT_RGB24, step, step);
    cairo_t *to = cairo_create(tile);
    theme_use(to, ground, 1);
    cairo_paint(to);
    hatch_lines(to, (Box){-step, -step, 3 * step, 3 * step}, step, colour, thickness);
    cairo_destroy(to);
    cairo_set_source_surface(cr, tile, 0, 0);
    cairo_pattern_set_extend(cairo_get_source(cr), CAIRO_EXTEND_REPEAT);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
    cairo_fill(cr);
    cairo_surface_destroy(tile);
  } else {
    double left, top, right, bottom;
    cairo_clip(cr);
    cairo_clip_extents(cr, &left, &top, &right, &bottom);
    hatch_lines(cr, box_at(left, top, right - left, bottom - top), step, colour, thickness);
  }
  cairo_restore(cr);
}

void pen_hatch(const Pen *pen, Box box, Colour ground, Colour colour) {
  if (pen->hit) return;
  box_path(pen->cr, box);
  pen_hatch_path(pen, ground, colour);
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

/* ---- Regions --------------------------------------------------------------------------------------------- */

bool pen_is_same_hit(const SceneHit *a, const SceneHit *b) {
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
    if (box_holds(box, pen->hit_x, pen->hit_y)) *pen->hit = here;
  } else if (pen_is_same_hit(&here, &pen->view->hover)) {
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
