#include "viz/window/controls.h"

#include <stdio.h>
#include "sim/base/path.h"
#include "viz/text/number.h"

#define SMALL_WINDOW  150.0 /* pixels: below this there is no room for a bar */
#define LEAST_LETTERS 12.0  /* pixels: smaller ones are not read */
#define LETTERS_PART  0.04  /* of the height; of a tall window at least that of its width */
#define ROW_LETTERS   1.6   /* a row's height, in sizes of its letters */
#define GAP_LETTERS   0.6
#define TALL_SIDE     0.6   /* of a tall window's height is the panel's */
#define MARGIN_PART   0.055 /* of the width, as the scenes' */

/* ---- What there is --------------------------------------------------------------------------------------- */

static Control *add(Controls *c, ControlKind kind, PlayerInput click, const char *label) {
  Control *item = &c->items[c->n++];
  *item = (Control){.kind = kind, .click = click};
  snprintf(item->label, sizeof item->label, "%s", label);
  return item;
}

static void add_run(Controls *c, const Player *p) {
  char N[NUMBER_CHARS + 2];
  add(c, CONTROL_WORD, INPUT_PLAY, p->is_playing ? "❚❚" : "▶")->is_on = true;
  /* of a program of one's own its file's name */
  Control *item = add(c, CONTROL_WORD, INPUT_ALGORITHM_EDIT, path_base(p->request.algorithms[0]->name));
  item->more = INPUT_ALGORITHM_NEXT, item->less = INPUT_ALGORITHM_BACK;
  snprintf(N, sizeof N, "N %s", number_tokens(wide(p->now.grid.N_q)).text);
  item = add(c, CONTROL_WORD, INPUT_N_EDIT, N);
  item->more = INPUT_N_TWICE, item->less = INPUT_N_HALF;
}

static void add_scenes(Controls *c, const Player *p) {
  for (int k = 0; k < SCENE_COUNT; k++) {
    Control *item = add(c, CONTROL_WORD, (PlayerInput)(INPUT_SCENE + k), scene_name((SceneKind)k));
    item->label[0] = (char)(item->label[0] - 'a' + 'A');
    item->is_on = p->scene == (SceneKind)k;
  }
}

/* ---- Where it lies --------------------------------------------------------------------------------------- */

static Lettering lettering_of(const Controls *c, const Theme *t, bool bold) {
  return (Lettering){.family = t->sans, .size = c->size, .bold = bold, .anchor = ANCHOR_MIDDLE};
}

/* Lays items [first, last) side by side from x on, each with half a gap around it; returns the width used. All have
 * room for bold letters, so that none moves when another is chosen. */
static double lay(Controls *c, cairo_t *cr, int first, int last, double x, double y) {
  const Lettering bold = lettering_of(c, &theme_light, true);
  const double start = x, gap = GAP_LETTERS * c->size;
  for (int k = first; k < last; k++) {
    Control *item = &c->items[k];
    const double width = item->click == INPUT_PLAY ? c->size : letter_measure(cr, &bold, item->label).width;
    item->box = box_at(x, y, width + gap, ROW_LETTERS * c->size);
    x += item->box.width;
  }
  return x - start;
}

/* Letters of the wanted size where one row holds all of them; else smaller ones, else two rows. */
static void lay_bar(Controls *c, const Player *p, cairo_t *cr, double width, double height) {
  const double least = fmax(LEAST_LETTERS, LETTERS_PART * fmin(width, height)), margin = MARGIN_PART * width;
  add_run(c, p);
  const int middle = c->n;
  add_scenes(c, p);
  c->size = fmax(least, LETTERS_PART * height);
  const double half = GAP_LETTERS * c->size / 2, room = width - 2 * (margin - half);
  const double run = lay(c, cr, 0, middle, 0, 0), scenes = lay(c, cr, middle, c->n, 0, 0);
  const double one_row = c->size * fmin(1, room / (run + scenes));
  const bool in_one_row = one_row >= least;
  c->size = in_one_row ? one_row : c->size * fmin(1, room / fmax(run, scenes));
  const double row = ROW_LETTERS * c->size, bar = ceil((in_one_row ? 1 : 2) * row);
  const SceneView view = {.presentation = p->presentation};
  const Box strip = scene_scrub(&view, c->scene.width, c->scene.height);
  c->bar = box_at(0, p->presentation && strip.height > 0 ? strip.y - bar : height - bar, width, bar);
  if (c->side.width > 0) c->side.height -= bar;
  if (!p->presentation) c->scene.height = fmin(c->scene.height, height - bar);
  const double left = margin - GAP_LETTERS * c->size / 2;
  lay(c, cr, 0, middle, left, c->bar.y);
  const double second = lay(c, cr, middle, c->n, left, c->bar.y + bar - row);
  lay(c, cr, middle, c->n, in_one_row ? width - left - second : left, c->bar.y + bar - row);
}

void controls_layout(Controls *c, const Player *p, cairo_t *cr, double width, double height, double side,
                     bool wants_bar) {
  memset(c, 0, sizeof *c);
  c->unit = fmin(width / 1280, height / 720);
  c->scene = box_at(0, 0, width, height);
  if (side > 0)
    c->side = height > width ? box_cut_bottom(&c->scene, TALL_SIDE * height, 0) : box_cut_right(&c->scene, side, 0);
  if (height >= SMALL_WINDOW && width >= SMALL_WINDOW && (!p->presentation || wants_bar))
    lay_bar(c, p, cr, width, height);
  c->foot = c->bar.height > 0 ? c->bar.y : c->scene.height;
  const SceneView view = {.presentation = p->presentation};
  c->scrub = scene_scrub(&view, c->scene.width, c->scene.height);
  if (c->scrub.height > 0) add(c, CONTROL_SCRUB, INPUT_NONE, "scrub")->box = c->scrub;
}

const Control *controls_at(const Controls *c, double x, double y) {
  for (int k = c->n - 1; k >= 0; k--)
    if (box_holds(c->items[k].box, x, y)) return &c->items[k];
  return NULL;
}

double controls_scrub_part(const Controls *c, double x) {
  return c->scrub.width > 0 ? fmax(0, fmin(1, (x - c->scrub.x) / c->scrub.width)) : 0;
}

/* ---- Drawing --------------------------------------------------------------------------------------------- */

void controls_draw(const Controls *c, const Player *p, cairo_t *cr, const Control *pointed) {
  const Theme *t = player_theme(p);
  if (c->bar.height <= 0) return;
  box_fill(cr, c->bar, t->background, 1);
  for (int k = 0; k < c->n; k++) {
    const Control *item = &c->items[k];
    const Lettering lettering = lettering_of(c, t, item->is_on);
    if (item->kind == CONTROL_SCRUB) continue;
    theme_use(cr, item->is_on || item == pointed ? t->ink : t->ink_soft, 1);
    letter_draw(cr, &lettering, item->box.x + item->box.width / 2, item->box.y + item->box.height / 2 + 0.36 * c->size,
                item->label);
  }
}
