/* What is laid over the scene: see controls.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/window/controls.h"

enum { TOOLTIP_LINES = 4 };

static void draw_tooltip(const Controls *c, const Pen *pen, const char *text, double x, double y) {
  char lines[TOOLTIP_LINES][160];
  int n = 0;
  double width = 0;
  for (const char *p = text; *p && n < TOOLTIP_LINES; n++) {
    const size_t length = strcspn(p, "\n");
    snprintf(lines[n], sizeof lines[n], "%.*s", (int)length, p);
    width = fmax(width, pen_text_width(pen, TYPE_BODY, n == 0, lines[n]));
    p += length + (p[length] == '\n');
  }
  const double u = c->unit, step = 1.35 * pen_size(pen, TYPE_BODY), w = width + 20 * u, h = n * step + 14 * u;
  const double floor_y = c->bar.height > 0 ? c->bar.y : c->scene.height;
  const double right =
      y > floor_y ? c->scene.width + c->side.width : c->scene.width; /* what the scene says does not lie on the page */
  const double left = fmax(0, fmin(x + 16 * u, right - w));
  const double top = y > floor_y                ? floor_y - 6 * u - h
                     : y + 18 * u + h < floor_y ? y + 18 * u
                                                : fmax(0, y - 10 * u - h);
  const Box box = box_at(left, top, w, h);
  pen_fill(pen, box, pen->theme->panel, 1);
  pen_frame(pen, box, pen->theme->axis, 1);
  for (int k = 0; k < n; k++)
    pen_text(pen, TYPE_BODY, pen->theme->ink, k == 0, ANCHOR_START, box.x + 10 * u, box.y + 7 * u + (k + 0.8) * step, 0,
             lines[k]);
}

/* One or two lines in a box at the bottom of the scene. */
static void draw_banner(const Controls *c, const Pen *pen, Colour accent, const char *text, double lift) {
  const double u = c->unit, size = pen_size(pen, TYPE_BODY), bottom = c->bar.height > 0 ? c->bar.y : c->scene.height;
  const double wanted = pen_text_width(pen, TYPE_BODY, false, text) + 40 * u,
               width = fmin(wanted, c->scene.width - 40 * u);
  const double height = (wanted > width ? 3.0 : 1.7) * size + 8 * u;
  const Box box = box_at((c->scene.width - width) / 2, bottom - height - (10 + lift) * u, width, height);
  pen_fill(pen, box, pen->theme->panel, 1);
  pen_frame(pen, box, accent, 2);
  pen_fill(pen, box_at(box.x, box.y, 6 * u, box.height), accent, 1);
  pen_paragraph(pen, TYPE_BODY, pen->theme->ink, box_at(box.x + 18 * u, box.y + 6 * u, box.width - 24 * u, box.height),
                text);
}

/* The line for typing: any parameters along the foot of the scene, or one of them over its control. */
static void draw_entry(const Controls *c, const Player *p, const Pen *pen) {
  const double u = c->unit, bottom = c->bar.height > 0 ? c->bar.y : c->scene.height, size = pen_size(pen, TYPE_HEAD);
  const ParameterRow *row = p->edited >= 0 ? &PARAMETERS[p->edited] : NULL;
  const double all = c->scene.width + c->side.width, width = row ? fmin(640 * u, all - 24 * u) : all - 80 * u,
               height = (row ? 88 : 60) * u;
  double x = 40 * u;
  for (int k = 0; row && k < c->n; k++)
    if (c->items[k].click == (PlayerInput)(INPUT_EDIT + p->edited)) x = c->items[k].box.x;
  const Box box = box_at(fmax(0, fmin(x, all - width - 12 * u)), bottom - height - 6 * u, width, height);
  const double left = box.x + 14 * u, room = box.width - 28 * u;
  char line[PLAYER_ENTRY_BYTES + 160], value[PARAMETER_VALUE_BYTES];
  double y = box.y + 8 * u + size;
  pen_fill(pen, box, pen->theme->background, 1);
  pen_frame(pen, box, pen->theme->ink, 2);
  if (row) {
    parameter_value(p, (Parameter)p->edited, value);
    snprintf(line, sizeof line, "%s%s%s", row->title, *value ? ", now " : "", value);
    pen_text(pen, TYPE_BODY, pen->theme->ink, true, ANCHOR_START, left, y, room, line);
    y += 1.5 * size;
  }
  snprintf(line, sizeof line, "%s_", p->entry);
  pen_mono(pen, TYPE_HEAD, pen->theme->ink, false, ANCHOR_START, left, y, room, line);
  snprintf(line, sizeof line, "%s    Return: take it    Escape: leave it",
           row ? row->wants : "such as  block=16 N=128 gpu=h200 sram=96K causal=0 step=40");
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, left, box.y + box.height - 9 * u, room, line);
}

/* A list, each line a control: its key, its name, and what it is. */
static void draw_list(const Controls *c, const Player *p, const Pen *pen, const Control *pointed) {
  const Theme *t = pen->theme;
  const double u = c->unit;
  int first = 0;
  while (first < c->n && c->items[first].kind != CONTROL_CHOICE) first++;
  if (first == c->n) return;
  const Box top = c->items[first].box, last = c->items[c->n - 1].box;
  const Box all = box_at(top.x - 6 * u, top.y - 6 * u, top.width + 12 * u, last.y + last.height - top.y + 12 * u);
  pen_fill(pen, all, t->background, 1);
  pen_frame(pen, all, t->ink, 2);
  for (int k = first; k < c->n; k++) {
    const Control *item = &c->items[k];
    const Choice *choice = &p->choices[k - first];
    const Box b = item->box;
    const double y = b.y + b.height / 2 + 5.4 * u;
    const Colour ground = item->is_on ? t->tile[TILE_COLOUR_DONE] : pointed == item ? t->panel : t->background;
    const Colour ink = item->is_on ? theme_on(ground) : t->ink;
    const char key[2] = {choice->key, '\0'};
    const double name_x = b.x + (choice->key ? 34 : 10) * u, remark_x = b.x + 190 * u;
    pen_fill(pen, b, ground, 1);
    if (choice->key) pen_mono(pen, TYPE_BODY, ink, false, ANCHOR_START, b.x + 10 * u, y, 0, key);
    pen_text(pen, TYPE_BODY, ink, true, ANCHOR_START, name_x, y, remark_x - name_x - 6 * u, choice->name);
    pen_text(pen, TYPE_SMALL, item->is_on ? ink : t->ink_soft, false, ANCHOR_START, remark_x, y,
             b.x + b.width - remark_x - 6 * u, choice->remark);
  }
}

static void draw_help(const Controls *c, const Pen *pen) {
  const double u = c->unit;
  int n = 0;
  while (KEY_HELP[n].keys) n++;
  const double bottom = c->bar.height > 0 ? c->bar.y : c->scene.height, height = fmin(bottom - 16 * u, 640 * u),
               width = fmin(1040 * u, c->scene.width - 20 * u);
  const Box box = box_at((c->scene.width - width) / 2, (bottom - height) / 2, width, height);
  const double step = (height - 50 * u) / (n + 1);
  pen_fill(pen, box, pen->theme->background, 1);
  pen_frame(pen, box, pen->theme->ink, 2);
  pen_text(pen, TYPE_HEAD, pen->theme->ink, true, ANCHOR_START, box.x + 24 * u, box.y + 34 * u, 0, "Keys");
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, box.x + width - 24 * u, box.y + 34 * u, 0,
           "Escape or ? closes this page");
  for (int k = 0; k < n; k++) {
    const double y = box.y + 40 * u + (k + 1) * step;
    pen_text(pen, TYPE_BODY, pen->theme->ink, true, ANCHOR_START, box.x + 24 * u, y, 190 * u, KEY_HELP[k].keys);
    pen_text(pen, TYPE_BODY, pen->theme->ink, false, ANCHOR_START, box.x + 225 * u, y, width - 250 * u,
             KEY_HELP[k].does);
  }
}

static Pen pen_over(const Controls *c, const Player *p, cairo_t *cr, const SceneView *view) {
  return (Pen){.cr = cr,
               .theme = p->dark ? &theme_dark : &theme_light,
               .view = view,
               .now = &p->now,
               .unit = c->unit,
               .page = c->scene};
}

void overlay_tooltip(const Controls *c, const Player *p, cairo_t *cr, const char *text, double x, double y) {
  const SceneView view = {0};
  const Pen pen = pen_over(c, p, cr, &view);
  draw_tooltip(c, &pen, text, x, y);
}

void overlay_draw(const Controls *c, const Player *p, cairo_t *cr, const Control *pointed, const char *tooltip,
                  double x, double y) {
  const SceneView view = {.presentation = p->presentation};
  const Pen pen = pen_over(c, p, cr, &view);
  if (p->open == OPEN_HELP) draw_help(c, &pen);
  if (p->open == OPEN_ENTRY) draw_entry(c, p, &pen);
  if (p->open == OPEN_LIST) draw_list(c, p, &pen, pointed);
  const double lift = p->open != OPEN_ENTRY ? 0 : p->edited < 0 ? 64 : 92;
  if (*p->message && p->open != OPEN_LIST)
    draw_banner(c, &pen, p->is_warning ? pen.theme->bad : pen.theme->tile[TILE_COLOUR_DONE], p->message, lift);
  if (*tooltip && p->open == OPEN_NOTHING) draw_tooltip(c, &pen, tooltip, x, y);
}
