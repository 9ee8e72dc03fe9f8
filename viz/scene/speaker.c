#include "viz/scene/speaker.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/text_add.h"
#include "viz/scene/pen.h"
#include "viz/text/number.h"

/* A heading and below it a paragraph or two; returns the height taken. */
static double draw_told(const Pen *pen, Box box, const char *heading, const Narration *said, double size) {
  const Theme *t = pen->theme;
  const double small = pen_size(pen, TYPE_SMALL);
  const Lettering bold = {.family = t->sans, .size = size, .bold = true}, plain = {.family = t->sans, .size = size};
  double y = box.y + small;
  pen_text(pen, TYPE_SMALL, t->ink_soft, true, ANCHOR_START, box.x, y, 0, heading);
  y += 1.35 * size;
  theme_use(pen->cr, t->ink, 1);
  y += 1.3 * size * letter_draw_wrapped(pen->cr, &bold, box.x, y, box.width, 1.3, 3, said->what);
  y += 1.3 * size * letter_draw_wrapped(pen->cr, &plain, box.x, y, box.width, 1.3, 4, said->why);
  return y - box.y;
}

/* What the class sees, as large as its box is wide. */
static double draw_preview(const SpeakerPage *page, cairo_t *cr, Box box, const Theme *theme) {
  enum { WIDTH = 1280, HEIGHT = 720 };
  const double scale = box.width / WIDTH;
  SceneView view = page->view;
  view.hover = (SceneHit){.kind = HIT_NONE, .i = -1, .j = -1};
  view.memo = NULL; /* what is kept there is of another size */
  view.bodies = NULL;
  cairo_save(cr);
  cairo_translate(cr, box.x, box.y);
  cairo_scale(cr, scale, scale);
  cairo_rectangle(cr, 0, 0, WIDTH, HEIGHT);
  cairo_clip(cr);
  scene_draw(page->scene, page->now, &view, cr, WIDTH, HEIGHT, theme);
  cairo_restore(cr);
  return scale * HEIGHT;
}

static void draw_clock(const Pen *pen, const SpeakerPage *page, Box box) {
  const Theme *t = pen->theme;
  const double number = pen_size(pen, TYPE_NUMBER), body = pen_size(pen, TYPE_BODY);
  char words[2 * NUMBER_CHARS + 32];
  double y = box.y + number;
  if (page->elapsed_s >= 0) {
    const long long s = (long long)fmin(page->elapsed_s, 359999);
    if (s >= 3600)
      snprintf(words, sizeof words, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    else
      snprintf(words, sizeof words, "%lld:%02lld", s / 60, s % 60);
    pen_text(pen, TYPE_NUMBER, t->ink, true, ANCHOR_START, box.x, y, 0, words);
    y += 1.6 * body;
  }
  snprintf(words, sizeof words, "step %s of ", number_count(page->now->step).text);
  text_add(words, sizeof words, "%s", number_count(page->now->n_steps).text);
  pen_text(pen, TYPE_BODY, t->ink, false, ANCHOR_START, box.x, y, box.width, words);
  const Box bar = box_at(box.x, y + 0.6 * body, box.width, 6 * pen->unit);
  const double done = bar.width * part_of(page->now->step, page->now->n_steps);
  pen_frame(pen, bar, t->tile[TILE_COLOUR_HELD], 1);
  pen_fill(pen, box_at(bar.x, bar.y, done, bar.height), t->tile[TILE_COLOUR_DONE], 1);
}

void speaker_draw(const SpeakerPage *page, cairo_t *cr, double width, double height, const Theme *theme) {
  const SceneView plain = {0};
  const double unit = fmin(width / 1280, height / 720);
  const Pen pen = {
      .cr = cr, .theme = theme, .now = page->now, .view = &plain, .page = box_at(0, 0, width, height), .unit = unit};
  if (!(width >= 1 && height >= 1)) return;
  pen_fill(&pen, pen.page, theme->background, 1);
  Box all = box_at(24 * unit, 16 * unit, width - 48 * unit, height - 32 * unit);
  const Box foot = box_cut_bottom(&all, 1.5 * pen_size(&pen, TYPE_SMALL), 4 * unit);
  if (page->state)
    pen_mono(&pen, TYPE_SMALL, theme->ink_soft, false, ANCHOR_START, foot.x, foot.y + pen_size(&pen, TYPE_SMALL),
             foot.width, page->state);
  Box side = box_cut_right(&all, 0.38 * all.width, 30 * unit);
  const double seen = draw_preview(page, cr, side, theme);
  pen_frame(&pen, box_at(side.x, side.y, side.width, seen), theme->axis, 1);
  box_cut_top(&side, seen, 10 * unit);
  draw_clock(&pen, page, side);
  Narration said;
  scene_narrate(page->scene, page->now, NULL, &said);
  box_cut_top(&all, draw_told(&pen, all, "Now", &said, 32 * unit), 6 * unit);
  Snapshot *next = page->now->step < page->now->n_steps ? malloc(sizeof *next) : NULL;
  if (next) {
    stage_snapshot(page->stage, page->now->step + 1, next);
    scene_narrate(page->scene, next, NULL, &said);
    box_cut_top(&all, draw_told(&pen, all, "Next", &said, 25 * unit), 6 * unit);
    free(next);
  }
}
