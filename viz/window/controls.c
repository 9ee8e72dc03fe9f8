#include "viz/window/controls.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/text/number.h"

#define BAR_UNITS 78.0
#define FOOT_UNITS 22.0 /* of a scene without a footer: its own progress bar, which the scrub bar replaces */
#define ROW_UNITS 31.0
#define SMALL_WINDOW_UNITS 150.0 /* below this height there is no room for a bar */

static const Theme *theme_of(const Player *p) { return p->dark ? &theme_dark : &theme_light; }

static Pen pen_on(const Controls *c, const Player *p, cairo_t *cr, const SceneView *view) {
  return (Pen){.cr = cr, .theme = theme_of(p), .view = view, .now = &p->now, .unit = c->unit, .page = c->scene};
}

/* ---- What there is --------------------------------------------------------------------------------------- */

static Control *add(Controls *c, PlayerInput click, PlayerInput other, const char *label, const char *hint) {
  Control *item = &c->items[c->n < CONTROLS_MAX - 1 ? c->n++ : CONTROLS_MAX - 1];
  *item = (Control){.click = click, .other = other, .hint = hint};
  snprintf(item->label, sizeof item->label, "%s", label);
  return item;
}

static void add_left(Controls *c, const Player *p) {
  add(c, INPUT_START, INPUT_NONE, "|◀", "to the start (Home)");
  add(c, INPUT_PASS_BACK, INPUT_NONE, "◀ pass", "one pass back (Shift + Up)");
  add(c, INPUT_ROW_BACK, INPUT_NONE, "◀ row", "one row of tiles back (Up)");
  add(c, INPUT_TILE_BACK, INPUT_NONE, "◀ tile", "one tile back (Page Up)");
  add(c, INPUT_EVENT_BACK, INPUT_NONE, "◀ op", "one operation back (Left)");
  add(c, INPUT_PLAY, INPUT_NONE, p->is_playing ? "Pause" : "Play ▶", "Space")->is_on = true;
  add(c, INPUT_EVENT_NEXT, INPUT_NONE, "op ▶", "one operation on (Right)");
  add(c, INPUT_TILE_NEXT, INPUT_NONE, "tile ▶", "one tile on (Page Down)");
  add(c, INPUT_ROW_NEXT, INPUT_NONE, "row ▶", "one row of tiles on (Down)");
  add(c, INPUT_PASS_NEXT, INPUT_NONE, "pass ▶", "one pass on (Shift + Down)");
  add(c, INPUT_END, INPUT_NONE, "▶|", "to the end (End)");
}

static void add_right(Controls *c, const Player *p) {
  char speed[NUMBER_CHARS + 4];
  add(c, INPUT_MAX_NEXT, INPUT_MAX_BACK, "max", "to the next new maximum (m); right button: the one before");
  add(c, INPUT_SKIP_NEXT, INPUT_SKIP_BACK, "skip", "to the next skipped tile (s); right button: the one before");
  add(c, INPUT_STORE_NEXT, INPUT_STORE_BACK, "write", "to the next write-back (w); right button: the one before");
  snprintf(speed, sizeof speed, "%s/s", number_count((Wide)player_events_per_s(p)).text);
  add(c, INPUT_FASTER, INPUT_SLOWER, speed, "events a second: click faster (+), right button slower (-), drag")->is_chip = true;
}

static void add_tabs(Controls *c, const Player *p) {
  for (int k = 0; k < SCENE_COUNT; k++) {
    char label[128];
    snprintf(label, sizeof label, "%d %s", k + 1, scene_name((SceneKind)k));
    add(c, (PlayerInput)(INPUT_SCENE + k), INPUT_NONE, label, scene_title((SceneKind)k))->is_on = p->scene == (SceneKind)k;
  }
}

static void add_chip(Controls *c, PlayerInput more, PlayerInput less, const char *name, const char *value, const char *hint) {
  char label[128];
  snprintf(label, sizeof label, "%s%s%s", name, *name ? " " : "", value);
  add(c, more, less, label, hint)->is_chip = true;
}

static void add_parameters(Controls *c, const Player *p) {
  const SnapshotGrid *g = &p->now.grid;
  char block[NUMBER_CHARS];
  if (g->B_r == g->B_c) snprintf(block, sizeof block, "%" PRId64, g->B_r);
  else snprintf(block, sizeof block, "%" PRId64 "x%" PRId64, g->B_r, g->B_c);
  add_chip(c, INPUT_ALGORITHM_NEXT, INPUT_ALGORITHM_BACK, "", p->request.algorithms[0]->name, "algorithm: click or drag for the next (a)");
  add_chip(c, INPUT_N_MORE, INPUT_N_LESS, "N", number_tokens((Wide)g->N_q).text, "N: click doubles (n), right button halves, or drag");
  add_chip(c, INPUT_D_MORE, INPUT_D_LESS, "d", number_count((Wide)g->d).text, "d: click doubles (h), right button halves, or drag");
  add_chip(c, INPUT_BLOCK_MORE, INPUT_BLOCK_LESS, "block", block, "block: click doubles (]), right button halves ([), or drag");
  add_chip(c, INPUT_DTYPE_NEXT, INPUT_DTYPE_BACK, "", dtype_name(p->now.problem.shape.dtype), "data type: click for the next (b)");
  add(c, INPUT_CAUSAL, INPUT_NONE, "causal", "causal mask on or off (c)")->is_on = p->now.problem.shape.causal;
  add(c, INPUT_WITHOUT_MAX, INPUT_NONE, "no max", "softmax without the maximum: it overflows (o)")->is_on = p->without_max;
  add(c, INPUT_ENTRY, INPUT_NONE, "type :", "type any parameters (Return or :)")->is_on = p->is_typing;
}

static void add_tools(Controls *c, const Player *p) {
  add(c, INPUT_COPY, INPUT_PASTE, "copy", "copy the one-line state (y); right button: take one");
  add(c, INPUT_EXPORT_PNG, INPUT_EXPORT_SVG, "save", "save a PNG (e); right button: an SVG (v)");
  add(c, INPUT_DESCRIBE, INPUT_MOTION, "words", "print this step in words (d); right button: reduced motion (r)");
  add(c, INPUT_THEME, INPUT_NONE, p->dark ? "light" : "dark", "theme (t)");
  add(c, INPUT_PRESENTATION, INPUT_FULLSCREEN, "present", "presentation (p); right button: full screen (f)");
  add(c, INPUT_HELP, INPUT_QUIT, "?", "all keys (?); right button: quit (q)")->is_on = p->shows_help;
}

/* ---- Where it lies --------------------------------------------------------------------------------------- */

static Lettering lettering_of(const Controls *c, const Theme *t, double size) {
  return (Lettering){.family = t->sans, .size = size * c->unit, .anchor = ANCHOR_MIDDLE};
}

static double width_of(const Controls *c, const Theme *t, cairo_t *cr, const Control *item) {
  const Lettering lettering = lettering_of(c, t, 13.5);
  return ceil(letter_measure(cr, &lettering, item->label).width + 11 * c->unit);
}

/* Lays items [first, last) side by side, `shrink` of their natural width; returns the width used. */
static double lay(Controls *c, const Theme *t, cairo_t *cr, int first, int last, double x, double y, double shrink) {
  const double start = x, gap = 3 * c->unit;
  for (int k = first; k < last; k++) {
    const double width = width_of(c, t, cr, &c->items[k]) * shrink;
    c->items[k].box = box_at(x, y, width, ROW_UNITS * c->unit);
    x += width + gap * shrink;
  }
  return x - start;
}

static void shift(Controls *c, int first, int last, double by) {
  for (int k = first; k < last; k++) c->items[k].box = box_at(c->items[k].box.x + by, c->items[k].box.y, c->items[k].box.width, c->items[k].box.height);
}

/* The row with the scrub bar between two groups of buttons. */
static void lay_transport(Controls *c, const Player *p, cairo_t *cr) {
  const double u = c->unit, x = c->bar.x + 12 * u, right = c->bar.x + c->bar.width - 12 * u, y = c->bar.y + 6 * u;
  const Theme *t = theme_of(p);
  const int first = c->n;
  add_left(c, p);
  const int middle = c->n;
  add_right(c, p);
  const int last = c->n;
  const double room = right - x, left = lay(c, t, cr, first, middle, x, y, 1), tail = lay(c, t, cr, middle, last, x, y, 1);
  const double shrink = fmin(1, 0.7 * room / (left + tail)); /* a third is for the scrub bar */
  lay(c, t, cr, first, middle, x, y, shrink);
  lay(c, t, cr, middle, last, right - tail * shrink + 3 * u, y, shrink);
  Control *scrub = add(c, INPUT_NONE, INPUT_NONE, "", "drag through the run");
  scrub->is_scrub = true;
  scrub->box = box_at(x + left * shrink + 8 * u, y, room - (left + tail) * shrink - 16 * u, ROW_UNITS * u);
}

static void lay_parameters(Controls *c, const Player *p, cairo_t *cr) {
  const double u = c->unit, x = c->bar.x + 12 * u, y = c->bar.y + (6 + ROW_UNITS + 6) * u, room = c->bar.width - 24 * u;
  const Theme *t = theme_of(p);
  int edge[4] = {c->n};
  add_tabs(c, p);
  edge[1] = c->n;
  add_parameters(c, p);
  edge[2] = c->n;
  add_tools(c, p);
  edge[3] = c->n;
  double width[3], sum = 0;
  for (int k = 0; k < 3; k++) sum += width[k] = lay(c, t, cr, edge[k], edge[k + 1], x, y, 1);
  const double shrink = fmin(1, (room - 24 * u) / sum), gap = (room - sum * shrink) / 2;
  double at = x;
  for (int k = 0; k < 3; k++) {
    lay(c, t, cr, edge[k], edge[k + 1], at, y, shrink);
    at += width[k] * shrink + gap;
  }
  shift(c, edge[2], edge[3], 3 * u);
}

void controls_layout(Controls *c, const Player *p, cairo_t *cr, double width, double height, double side, bool wants_bar) {
  memset(c, 0, sizeof *c);
  c->unit = fmin(width / 1280, height / 720);
  c->scene = box_at(0, 0, width - side, height);
  if (side > 0) c->side = box_at(width - side, 0, side, height);
  if (height < SMALL_WINDOW_UNITS || width < SMALL_WINDOW_UNITS || (p->presentation && !wants_bar)) return;
  const double bar = ceil(BAR_UNITS * c->unit);
  c->bar = box_at(0, height - bar, width, bar);
  if (side > 0) c->side.height -= bar;
  if (!p->presentation) {
    const double unit = fmin(c->scene.width / 1280, (height - bar) / (720 - FOOT_UNITS));
    c->scene = box_at(0, 0, c->scene.width, height - bar + FOOT_UNITS * unit);
  }
  lay_transport(c, p, cr);
  lay_parameters(c, p, cr);
}

const Control *controls_at(const Controls *c, double x, double y) {
  for (int k = 0; k < c->n; k++) {
    const Box b = c->items[k].box;
    if (x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + b.height) return &c->items[k];
  }
  return NULL;
}

static Box scrub_line(const Controls *c) {
  for (int k = 0; k < c->n; k++)
    if (c->items[k].is_scrub) return box_inset(c->items[k].box, 4 * c->unit);
  return (Box){0};
}

double controls_scrub_part(const Controls *c, double x) {
  const Box line = scrub_line(c);
  return line.width > 0 ? fmax(0, fmin(1, (x - line.x) / line.width)) : 0;
}

/* ---- Drawing --------------------------------------------------------------------------------------------- */

static void draw_scrub(const Controls *c, const Player *p, const Pen *pen) {
  const Theme *t = pen->theme;
  const double u = c->unit;
  const Box all = scrub_line(c), line = box_at(all.x, all.y + 0.4 * all.height, all.width, 0.3 * all.height);
  const double at = line.x + line.width * part_of(p->now.step, p->now.n_steps);
  pen_fill(pen, line, t->tile[TILE_COLOUR_WAITING], 1);
  pen_fill(pen, box_at(line.x, line.y, at - line.x, line.height), t->tile[TILE_COLOUR_DONE], 1);
  int column = -1;
  for (int k = 0; k < PLAYER_MARKS; k++) {
    const double x = line.x + floor(line.width * k / (PLAYER_MARKS - 1));
    if (!p->marks[k] || ((int)x == column && !(p->marks[k] & MARK_PASS))) continue;
    column = (int)x;
    if (p->marks[k] & MARK_PASS) pen_fill(pen, box_at(x, all.y, fmax(1, 2 * u), all.height), t->ink, 1);
    if (p->marks[k] & MARK_STORE) pen_fill(pen, box_at(x, all.y, fmax(1, u), 0.35 * all.height), t->series[INK_BLUE], 1);
    if (p->marks[k] & MARK_SKIP) pen_fill(pen, box_at(x, line.y + line.height + u, fmax(1, u), 0.25 * all.height), t->ink_soft, 1);
  }
  pen_fill(pen, box_at(at - 3 * u, all.y + 0.15 * all.height, 6 * u, 0.75 * all.height), t->tile[TILE_COLOUR_CURRENT], 1);
  pen_frame(pen, box_at(at - 3 * u, all.y + 0.15 * all.height, 6 * u, 0.75 * all.height), t->ink, 1);
}

void controls_draw(const Controls *c, const Player *p, cairo_t *cr, const Control *pointed) {
  const SceneView view = {0};
  const Pen pen = pen_on(c, p, cr, &view);
  const Theme *t = pen.theme;
  if (c->bar.height <= 0) return;
  pen_fill(&pen, c->bar, t->panel, 1);
  pen_fill(&pen, box_at(c->bar.x, c->bar.y, c->bar.width, fmax(1, c->unit)), t->axis, 1);
  const Lettering lettering = lettering_of(c, t, 13.5);
  for (int k = 0; k < c->n; k++) {
    const Control *item = &c->items[k];
    if (item->is_scrub) continue;
    const Colour ground = item->is_on ? t->tile[TILE_COLOUR_DONE] : t->background;
    pen_fill(&pen, item->box, ground, 1);
    pen_frame(&pen, item->box, pointed == item ? t->ink : item->is_chip ? t->axis : t->grid, pointed == item ? 2 : 1);
    theme_use(cr, item->is_on ? theme_on(ground) : t->ink, 1);
    const Box b = item->box;
    letter_draw_cut(cr, &lettering, b.x + b.width / 2, b.y + b.height / 2 + 4.8 * c->unit, fmax(1, b.width - 2), item->label);
  }
  draw_scrub(c, p, &pen);
}

/* ---- Over the scene -------------------------------------------------------------------------------------- */

enum { TOOLTIP_LINES = 4 };

static void draw_tooltip(const Controls *c, const Pen *pen, const char *text, double x, double y) {
  char lines[TOOLTIP_LINES][160];
  int n = 0;
  double width = 0;
  for (const char *p = text; *p && n < TOOLTIP_LINES; n++) {
    const size_t length = strcspn(p, "\n");
    snprintf(lines[n], sizeof lines[n], "%.*s", (int)length, p);
    width = fmax(width, pen_text_width(pen, TYPE_BODY, false, lines[n]));
    p += length + (p[length] == '\n');
  }
  const double u = c->unit, step = 1.35 * pen_size(pen, TYPE_BODY), w = width + 20 * u, h = n * step + 14 * u;
  const double floor_y = c->scene.height, left = fmax(0, fmin(x + 16 * u, c->scene.width - w));
  const double top = y + 18 * u + h < floor_y ? y + 18 * u : fmax(0, y - 10 * u - h);
  const Box box = box_at(left, top, w, h);
  pen_fill(pen, box, pen->theme->panel, 1);
  pen_frame(pen, box, pen->theme->axis, 1);
  for (int k = 0; k < n; k++)
    pen_text(pen, TYPE_BODY, pen->theme->ink, k == 0, ANCHOR_START, box.x + 10 * u, box.y + 7 * u + (k + 0.8) * step, 0, lines[k]);
}

/* One or two lines in a box at the bottom of the scene. */
static void draw_banner(const Controls *c, const Pen *pen, Colour accent, const char *text, double lift) {
  const double u = c->unit, size = pen_size(pen, TYPE_BODY), bottom = c->bar.height > 0 ? c->bar.y : c->scene.height;
  const double wanted = pen_text_width(pen, TYPE_BODY, false, text) + 40 * u, width = fmin(wanted, c->scene.width - 40 * u);
  const double height = (wanted > width ? 3.0 : 1.7) * size + 8 * u;
  const Box box = box_at((c->scene.width - width) / 2, bottom - height - (10 + lift) * u, width, height);
  pen_fill(pen, box, pen->theme->panel, 1);
  pen_frame(pen, box, accent, 2);
  pen_fill(pen, box_at(box.x, box.y, 6 * u, box.height), accent, 1);
  pen_paragraph(pen, TYPE_BODY, pen->theme->ink, box_at(box.x + 18 * u, box.y + 6 * u, box.width - 24 * u, box.height), text);
}

static void draw_entry(const Controls *c, const Player *p, const Pen *pen) {
  const double u = c->unit, bottom = c->bar.height > 0 ? c->bar.y : c->scene.height, size = pen_size(pen, TYPE_HEAD);
  const Box box = box_at(40 * u, bottom - 64 * u, c->scene.width - 80 * u, 54 * u);
  char line[PLAYER_ENTRY_BYTES + 8];
  pen_fill(pen, box, pen->theme->background, 1);
  pen_frame(pen, box, pen->theme->ink, 2);
  snprintf(line, sizeof line, "%s_", p->entry);
  pen_mono(pen, TYPE_HEAD, pen->theme->ink, false, ANCHOR_START, box.x + 14 * u, box.y + 8 * u + size, box.width - 28 * u, line);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, box.x + 14 * u, box.y + box.height - 8 * u, box.width - 28 * u,
           "such as  block=16 N=128 gpu=h200 sram=96K causal=0 step=40    Return: take it    Escape: leave it");
}

static void draw_help(const Controls *c, const Pen *pen) {
  const double u = c->unit;
  int n = 0;
  while (KEY_HELP[n].keys) n++;
  const double bottom = c->bar.height > 0 ? c->bar.y : c->scene.height, height = fmin(bottom - 16 * u, 640 * u), width = fmin(900 * u, c->scene.width - 20 * u);
  const Box box = box_at((c->scene.width - width) / 2, (bottom - height) / 2, width, height);
  const double step = (height - 50 * u) / (n + 1);
  pen_fill(pen, box, pen->theme->background, 1);
  pen_frame(pen, box, pen->theme->ink, 2);
  pen_text(pen, TYPE_HEAD, pen->theme->ink, true, ANCHOR_START, box.x + 24 * u, box.y + 34 * u, 0, "Keys");
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, box.x + width - 24 * u, box.y + 34 * u, 0, "Escape or ? closes this page");
  for (int k = 0; k < n; k++) {
    const double y = box.y + 40 * u + (k + 1) * step;
    pen_text(pen, TYPE_BODY, pen->theme->ink, true, ANCHOR_START, box.x + 24 * u, y, 190 * u, KEY_HELP[k].keys);
    pen_text(pen, TYPE_BODY, pen->theme->ink, false, ANCHOR_START, box.x + 225 * u, y, width - 250 * u, KEY_HELP[k].does);
  }
}

void overlay_draw(const Controls *c, const Player *p, cairo_t *cr, const char *tooltip, double x, double y) {
  const SceneView view = {.presentation = p->presentation};
  const Pen pen = pen_on(c, p, cr, &view);
  if (p->shows_help) draw_help(c, &pen);
  if (p->is_typing) draw_entry(c, p, &pen);
  if (*p->message) draw_banner(c, &pen, p->is_warning ? pen.theme->bad : pen.theme->tile[TILE_COLOUR_DONE], p->message, p->is_typing ? 64 : 0);
  if (*tooltip && !p->shows_help) draw_tooltip(c, &pen, tooltip, x, y);
}
