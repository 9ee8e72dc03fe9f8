/* What is laid over the scene: see controls.h. */
#include <stdio.h>

#include "viz/window/controls.h"

#define ENTRY_LETTERS 3.2 /* the height of the line for typing, in sizes of its letters */

#define HELP_LETTERS 0.025 /* of the width, of which 70 fill it */

enum { TOOLTIP_LINES = 4 };

/* A box with letters in it: what its frame encloses. */
static void draw_box(const Pen *pen, Box box, Colour ground, Colour edge, double thickness) {
  pen_fill(pen, box, ground, 1);
  pen_frame(pen, box, edge, thickness);
}

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
  const double below = y + 18 * u, top = below + h < c->foot ? below : fmax(0, y - 10 * u - h);
  const Box box = box_at(fmax(0, fmin(x + 16 * u, c->scene.width - w)), top, w, h);
  draw_box(pen, box, pen->theme->panel, pen->theme->axis, 1);
  for (int k = 0; k < n; k++)
    pen_text(pen, TYPE_BODY, pen->theme->ink, k == 0, ANCHOR_START, box.x + 10 * u, box.y + 7 * u + (k + 0.8) * step, 0,
             lines[k]);
}

/* One or two lines in a box at the bottom of the scene. */
static void draw_banner(const Controls *c, const Pen *pen, Colour accent, const char *text, double lift) {
  const double u = c->unit, size = pen_size(pen, TYPE_BODY);
  const double wanted = pen_text_width(pen, TYPE_BODY, false, text) + 40 * u,
               width = fmin(wanted, c->scene.width - 40 * u);
  const double height = (wanted > width ? 3.0 : 1.7) * size + 8 * u;
  const Box box = box_at((c->scene.width - width) / 2, c->foot - height - (10 + lift) * u, width, height);
  draw_box(pen, box, pen->theme->panel, accent, 2);
  pen_fill(pen, box_at(box.x, box.y, 6 * u, box.height), accent, 1);
  const Lettering lettering = {.family = pen->theme->sans, .size = size};
  theme_use(pen->cr, pen->theme->ink, 1);
  letter_draw_wrapped(pen->cr, &lettering, box.x + 18 * u, box.y + 6 * u + size, box.width - 24 * u, 1.35,
                      (int)(height / (1.35 * size)), text);
}

/* The line for typing, along the foot of the scene. */
static void draw_entry(const Controls *c, const Player *p, const Pen *pen) {
  const double u = c->unit, size = pen_size(pen, TYPE_BODY);
  const double height = ENTRY_LETTERS * size, width = c->scene.width + c->side.width - 80 * u, room = width - 28 * u;
  const Box box = box_at(40 * u, c->foot - height - 6 * u, width, height);
  char line[PLAYER_ENTRY_BYTES + 1];
  draw_box(pen, box, pen->theme->background, pen->theme->ink, 2);
  snprintf(line, sizeof line, "%s_", p->entry);
  char hint[512] = "such as block=16 N=128 gpu=h200 step=40; Return takes it; Escape leaves it";
  size_t n = 0;
  for (int k = 0; strcmp(p->entry, "algorithm=") == 0 && k < N_PROGRAMS; k++) { /* as many names as fit */
    snprintf(hint + n, sizeof hint - n, n ? ", %s" : "%s", SCHEDULES[k]->name);
    if (pen_text_width(pen, TYPE_SMALL, false, hint) > room) hint[n] = '\0';
    n = strlen(hint);
  }
  pen_mono(pen, TYPE_BODY, pen->theme->ink, false, ANCHOR_START, box.x + 14 * u, box.y + 1.2 * size, room, line);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, box.x + 14 * u, box.y + box.height - 0.5 * size,
           room, hint);
}

/* Three lines over a dimmed scene. */
static void draw_help(const Pen *pen, Box box) {
  static const char *const LINES[] = {"Space plays, arrows step, 1 to 6 change the scene.",
                                      "Return, then what you want: N=4096 causal=1 algorithm=fa3",
                                      "J asks you, e saves, Escape leaves. All keys: tilewalk view --help=all"};
  const Lettering lettering = {
      .family = pen->theme->sans, .size = fmin(0.055 * box.height, HELP_LETTERS * box.width), .anchor = ANCHOR_MIDDLE};
  pen_fill(pen, box, pen->theme->background, 0.85);
  theme_use(pen->cr, pen->theme->ink, 1);
  for (int k = 0; k < 3; k++)
    letter_draw(pen->cr, &lettering, box.width / 2, box.height * (0.41 + 0.105 * k), LINES[k]);
}

void overlay_draw(const Controls *c, const Player *p, cairo_t *cr, const char *tooltip, double x, double y) {
  const SceneView large = {.presentation = true};
  const Theme *t = player_theme(p);
  const Pen pen = {.cr = cr, .theme = t, .view = &large, .now = &p->now, .unit = c->unit, .page = c->scene};
  const bool is_typed = p->open == OPEN_ENTRY;
  const double lift = is_typed ? ENTRY_LETTERS * pen_size(&pen, TYPE_BODY) / c->unit : 0;
  if (!c->is_framed) { /* else it is beside it */
    if (p->open == OPEN_HELP) draw_help(&pen, c->scene);
    if (is_typed) draw_entry(c, p, &pen);
    if (*p->message) draw_banner(c, &pen, p->is_warning ? t->bad : t->tile[TILE_COLOUR_DONE], p->message, lift);
  }
  if (*tooltip && (c->is_framed || p->open == OPEN_NOTHING)) draw_tooltip(c, &pen, tooltip, x, y);
}
