#include "viz/window/controls.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/text/number.h"

#define BAR_UNITS          115.0 /* three rows */
#define FOLDED_UNITS       41.0  /* one */
#define ROW_UNITS          31.0
#define SMALL_WINDOW_UNITS 150.0 /* below this height there is no room for a bar */
#define LETTERS            13.5
#define LEAST_UNIT         (12 / LETTERS) /* no letters under 12 pixels: below it one row, of what is needed most */

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

/* What has the focus or a list is seen. A small window begins folded, and unfolds by the same key. */
static bool is_folded(const Controls *c, const Player *p) {
  return (p->presentation ? p->is_folded : p->is_folded != c->is_small) && p->focus < 0 && p->open != OPEN_LIST;
}

/* What the row of a small window has: the rest comes by "more". */
static bool is_needed_most(PlayerInput input) {
  return input == INPUT_START || input == INPUT_TILE_BACK || input == INPUT_EVENT_BACK || input == INPUT_PLAY ||
         input == INPUT_EVENT_NEXT || input == INPUT_TILE_NEXT || input == INPUT_END || input == INPUT_FASTER ||
         input == INPUT_FOLD;
}

static int keep_needed_most(Controls *c, int first) {
  int n = first;
  for (int k = first; k < c->n; k++)
    if (is_needed_most(c->items[k].click)) c->items[n++] = c->items[k];
  c->n = n;
  return n;
}

static void add_right(Controls *c, const Player *p) {
  char speed[NUMBER_CHARS + 4];
  add(c, INPUT_COPY, INPUT_PASTE, "copy", "copy the one-line state (y); right button: take one (Ctrl + V)");
  add(c, INPUT_EXPORT, INPUT_EXPORT_SVG, "save",
      "save the screen or the run, in a format of a list (e); right button: an SVG (v)");
  add(c, INPUT_DESCRIBE, INPUT_MOTION, "words", "print this step in words (d); right button: reduced motion (r)");
  add(c, INPUT_THEME, INPUT_CLOCK, p->dark ? "light" : "dark",
      "theme (t); right button: play a step a beat, or by the model's time (k)");
  add(c, INPUT_MAX_NEXT, INPUT_MAX_BACK, "max", "to the next new maximum (m); right button: the one before");
  add(c, INPUT_SKIP_NEXT, INPUT_SKIP_BACK, "skip", "to the next skipped tile (s); right button: the one before");
  add(c, INPUT_STORE_NEXT, INPUT_STORE_BACK, "write", "to the next write-back (w); right button: the one before");
  snprintf(speed, sizeof speed, "%s/s", number_count((Wide)player_events_per_s(p)).text);
  Control *item =
      add(c, INPUT_FASTER, INPUT_SLOWER, speed, "events a second: click faster (+), right button slower (-), drag");
  item->more = INPUT_FASTER;
  item->less = INPUT_SLOWER;
  add(c, INPUT_STORY, INPUT_NONE, "story", "somebody leads you, and asks first (J)");
  add(c, INPUT_GUIDE, INPUT_NONE, "guide", "guided play: it stops at each thing that is new (j)")->is_on = p->is_guided;
  add(c, INPUT_FOLD, INPUT_NOTES, is_folded(c, p) ? "more" : "fewer",
      "all controls, or this row alone (F); right button: the speaker's page (K)");
}

static void add_arrow(Controls *c, int k, bool is_more) {
  Control *item = add(c, (PlayerInput)((is_more ? INPUT_MORE : INPUT_LESS) + k), INPUT_NONE, is_more ? "›" : "‹",
                      PARAMETERS[k].hint);
  item->kind = CONTROL_ARROW;
}

static void add_parameter(Controls *c, const Player *p, int k) {
  const ParameterRow *row = &PARAMETERS[k];
  char value[PARAMETER_VALUE_BYTES], label[128];
  parameter_value(p, (Parameter)k, value);
  if (row->kind == PARAMETER_SWITCH) value[0] = '\0';
  snprintf(label, sizeof label, "%s%s%s", row->label, *row->label && *value ? " " : "", value);
  const bool has_arrows = row->kind != PARAMETER_SWITCH;
  const PlayerInput more = (PlayerInput)(INPUT_MORE + k), less = (PlayerInput)(INPUT_LESS + k);
  if (has_arrows) add_arrow(c, k, false);
  Control *item = add(c, (PlayerInput)(INPUT_EDIT + k), has_arrows ? less : INPUT_NONE, label, row->hint);
  item->kind = CONTROL_VALUE;
  item->widest = row->widest;
  item->is_on = parameter_is_on(p, (Parameter)k);
  item->has_focus = p->focus == k;
  item->more = has_arrows ? more : INPUT_NONE;
  item->less = has_arrows ? less : INPUT_NONE;
  if (has_arrows) add_arrow(c, k, true);
}

static void add_tabs(Controls *c, const Player *p) {
  for (int k = 0; k < SCENE_COUNT; k++) {
    char label[128];
    snprintf(label, sizeof label, "%c %s", scene_key((SceneKind)k), scene_name((SceneKind)k));
    add(c, (PlayerInput)(INPUT_SCENE + k), INPUT_NONE, label, scene_title((SceneKind)k))->is_on =
        p->scene == (SceneKind)k;
  }
}

static void add_tools(Controls *c, const Player *p) {
  add(c, INPUT_PRESENTATION, INPUT_FULLSCREEN, "present", "presentation (p); right button: full screen (f)");
  add(c, INPUT_SIDE, INPUT_EXPORT_PDF, "lesson",
      "lessons beside the scene, or the list of them (l); right button: save a PDF (P)")
      ->is_on = c->side.width > 0;
  add(c, INPUT_ENTRY, INPUT_FOCUS_NEXT,
      "type :", "type any parameters (Return or :); right button: to the next parameter (Tab)")
      ->is_on = p->open == OPEN_ENTRY && p->edited < 0;
  add(c, INPUT_HELP, INPUT_QUIT, "?", "all keys (?); right button: quit (q)")->is_on = p->open == OPEN_HELP;
}

/* ---- Where it lies --------------------------------------------------------------------------------------- */

static Lettering lettering_of(const Controls *c, const Theme *t, double size) {
  return (Lettering){.family = t->sans, .size = size * c->bar_unit, .anchor = ANCHOR_MIDDLE};
}

static double width_of(const Controls *c, const Theme *t, cairo_t *cr, const Control *item) {
  const Lettering lettering = lettering_of(c, t, LETTERS);
  const double margin = item->kind == CONTROL_ARROW                               ? 11
                        : item->kind == CONTROL_VALUE && item->more != INPUT_NONE ? 6
                                                                                  : 11;
  const double least = item->widest ? letter_measure(cr, &lettering, item->widest).width : 0;
  return ceil(fmax(least, letter_measure(cr, &lettering, item->label).width) + margin * c->bar_unit);
}

/* Lays items [first, last) side by side, `gap` apart, `shrink` of their natural width; returns the width used, a gap
 * after the last included. */
static double lay(Controls *c, const Theme *t, cairo_t *cr, int first, int last, double x, double y, double shrink,
                  double gap) {
  const double start = x;
  for (int k = first; k < last; k++) {
    const double width = width_of(c, t, cr, &c->items[k]) * shrink;
    c->items[k].box = box_at(x, y, width, ROW_UNITS * c->bar_unit);
    x += width + gap * shrink;
  }
  return x - start;
}

/* The row with two groups of buttons. */
static void lay_transport(Controls *c, const Player *p, cairo_t *cr) {
  const double u = c->bar_unit, gap = 3 * u, x = c->bar.x + 12 * u, right = c->bar.x + c->bar.width - 12 * u,
               y = c->bar.y + 6 * u;
  const Theme *t = theme_of(p);
  const int first = c->n;
  add_left(c, p);
  const bool is_short = c->is_small && is_folded(c, p);
  const int middle = is_short ? keep_needed_most(c, first) : c->n;
  add_right(c, p);
  const int last = is_short ? keep_needed_most(c, middle) : c->n;
  const double room = right - x, left = lay(c, t, cr, first, middle, x, y, 1, gap),
               tail = lay(c, t, cr, middle, last, x, y, 1, gap);
  const double shrink = fmin(1, room / (left + tail));
  lay(c, t, cr, first, middle, x, y, shrink, gap);
  lay(c, t, cr, middle, last, right - (tail - gap) * shrink, y, shrink, gap);
}

/* The way through the run at the foot of the scene. */
static void lay_scrub(Controls *c, const Player *p) {
  const SceneView view = {.presentation = p->presentation};
  const Box strip = scene_scrub(&view, c->scene.width, c->scene.height);
  if (strip.height <= 0) return;
  Control *scrub = add(c, INPUT_NONE, INPUT_NONE, "", "drag through the run");
  scrub->kind = CONTROL_SCRUB;
  scrub->box = strip;
}

static double row_y(const Controls *c, int row) { return c->bar.y + (6 + row * (ROW_UNITS + 6)) * c->bar_unit; }

static void lay_parameters(Controls *c, const Player *p, cairo_t *cr) {
  const double u = c->bar_unit, room = c->bar.width - 24 * u, least = 3 * u, y = row_y(c, 1);
  const Theme *t = theme_of(p);
  int edge[PARAMETER_COUNT + 1];
  double natural = 0;
  for (int k = 0; k < PARAMETER_COUNT; k++) {
    edge[k] = c->n;
    add_parameter(c, p, k);
    natural += lay(c, t, cr, edge[k], c->n, 0, y, 1, 0); /* its parts touch */
  }
  edge[PARAMETER_COUNT] = c->n;
  const double shrink = fmin(1, (room - (PARAMETER_COUNT - 1) * least) / natural);
  const double gap = fmax(least, fmin(14 * u, (room - natural) / (PARAMETER_COUNT - 1)));
  double x = c->bar.x + 12 * u;
  for (int k = 0; k < PARAMETER_COUNT; k++) x += lay(c, t, cr, edge[k], edge[k + 1], x, y, shrink, 0) + gap;
}

static void lay_tabs(Controls *c, const Player *p, cairo_t *cr) {
  const double u = c->bar_unit, gap = 3 * u, x = c->bar.x + 12 * u, room = c->bar.width - 24 * u, y = row_y(c, 2);
  const Theme *t = theme_of(p);
  const int first = c->n;
  add_tabs(c, p);
  const int middle = c->n;
  add_tools(c, p);
  double left = lay(c, t, cr, first, middle, x, y, 1, gap);
  const double right = lay(c, t, cr, middle, c->n, x, y, 1, gap);
  if (left + right > room - 12 * u) { /* names alone: the page of keys has their keys */
    for (int k = first; k < middle; k++)
      memmove(c->items[k].label, c->items[k].label + 2, strlen(c->items[k].label) - 1);
    left = lay(c, t, cr, first, middle, x, y, 1, gap);
  }
  const double shrink = fmin(1, (room - 12 * u) / (left + right));
  lay(c, t, cr, first, middle, x, y, shrink, gap);
  lay(c, t, cr, middle, c->n, x + room - (right - gap) * shrink, y, shrink, gap);
}

/* The lines of a list, over the control that opened it. */
static void lay_choices(Controls *c, const Player *p) {
  const double u = c->bar_unit, line = 30 * u, width = 580 * u, bottom = c->bar.height > 0 ? c->bar.y : c->scene.height;
  double x = 40 * u;
  for (int k = 0; k < c->n; k++)
    if (c->items[k].click == (p->edited < 0 ? INPUT_EXPORT : (PlayerInput)(INPUT_EDIT + p->edited)))
      x = c->items[k].box.x;
  x = fmin(x, c->scene.width + c->side.width - width - 12 * u);
  for (int k = 0; k < p->n_choices; k++) {
    Control *item = add(c, (PlayerInput)(INPUT_CHOOSE + k), INPUT_NONE, p->choices[k].name, "");
    item->kind = CONTROL_CHOICE;
    item->is_on = k == p->chosen;
    item->box = box_at(x, bottom - 14 * u - (p->n_choices - k) * line, width, line);
  }
}

static void lay_bar(Controls *c, const Player *p, cairo_t *cr, double width, double height) {
  const double bar = ceil((is_folded(c, p) ? FOLDED_UNITS : BAR_UNITS) * c->bar_unit);
  const SceneView view = {.presentation = p->presentation};
  const Box strip = scene_scrub(&view, c->scene.width, c->scene.height);
  c->bar = box_at(0, p->presentation && strip.height > 0 ? strip.y - bar : height - bar, width, bar);
  if (c->side.width > 0) c->side.height -= bar;
  if (!p->presentation) c->scene = box_at(0, 0, c->scene.width, height - bar);
  lay_transport(c, p, cr);
  if (is_folded(c, p)) return;
  lay_parameters(c, p, cr);
  lay_tabs(c, p, cr);
}

void controls_layout(Controls *c, const Player *p, cairo_t *cr, double width, double height, double side,
                     bool wants_bar) {
  memset(c, 0, sizeof *c);
  c->unit = fmin(width / 1280, height / 720);
  c->bar_unit = fmax(c->unit, LEAST_UNIT);
  c->is_small = c->unit < LEAST_UNIT;
  c->scene = box_at(0, 0, width - side, height);
  if (side > 0) c->side = box_at(width - side, 0, side, height);
  if (height >= SMALL_WINDOW_UNITS && width >= SMALL_WINDOW_UNITS && (!p->presentation || wants_bar))
    lay_bar(c, p, cr, width, height);
  lay_scrub(c, p);
  if (p->open == OPEN_LIST) lay_choices(c, p);
}

const Control *controls_at(const Controls *c, double x, double y) {
  for (int k = c->n - 1; k >= 0; k--) {
    const Box b = c->items[k].box;
    if (x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + b.height) return &c->items[k];
  }
  return NULL;
}

double controls_scrub_part(const Controls *c, double x) {
  Box line = {0};
  for (int k = 0; k < c->n; k++)
    if (c->items[k].kind == CONTROL_SCRUB) line = c->items[k].box;
  return line.width > 0 ? fmax(0, fmin(1, (x - line.x) / line.width)) : 0;
}

/* ---- Drawing --------------------------------------------------------------------------------------------- */

static void draw_control(const Controls *c, const Pen *pen, const Control *item, bool is_pointed) {
  const Theme *t = pen->theme;
  const Lettering lettering = lettering_of(c, t, LETTERS);
  const Colour ground = item->is_on ? t->tile[TILE_COLOUR_DONE] : t->background;
  pen_fill(pen, item->box, ground, 1);
  pen_frame(pen, item->box, is_pointed ? t->ink : t->grid, is_pointed ? 2 : 1);
  theme_use(pen->cr, item->is_on ? theme_on(ground) : t->ink, 1);
  const Box b = item->box;
  letter_draw_cut(pen->cr, &lettering, b.x + b.width / 2, b.y + b.height / 2 + 4.8 * c->bar_unit, fmax(1, b.width - 2),
                  item->label);
}

/* One frame around a parameter and its arrows. */
static void frame_parameter(const Controls *c, const Pen *pen, int k) {
  const Control *item = &c->items[k];
  const int side = item->more != INPUT_NONE ? 1 : 0;
  const Box first = c->items[k - side].box, last = c->items[k + side].box;
  pen_frame(pen, box_at(first.x, first.y, last.x + last.width - first.x, first.height),
            item->has_focus ? pen->theme->ink : pen->theme->axis, item->has_focus ? 3 : 1);
}

static void draw_still(const Controls *c, const Player *p, cairo_t *cr, const Control *pointed) {
  const SceneView view = {0};
  const Pen pen = pen_on(c, p, cr, &view);
  pen_fill(&pen, c->bar, pen.theme->panel, 1);
  pen_fill(&pen, box_at(c->bar.x, c->bar.y, c->bar.width, fmax(1, c->bar_unit)), pen.theme->axis, 1);
  for (int k = 0; k < c->n; k++)
    if (c->items[k].kind != CONTROL_SCRUB && c->items[k].kind != CONTROL_CHOICE)
      draw_control(c, &pen, &c->items[k], false);
  for (int k = 0; k < c->n; k++)
    if (c->items[k].kind == CONTROL_VALUE) frame_parameter(c, &pen, k);
  if (pointed && pointed->kind != CONTROL_SCRUB && pointed->kind != CONTROL_CHOICE)
    draw_control(c, &pen, pointed, true);
}

/* Draws it anew into *kept when something in it changed. */
static void keep(const Controls *c, const Player *p, cairo_t *cr, const Control *pointed, KeptBar *kept) {
  const Box at = c->bar;
  const int index = pointed ? (int)(pointed - c->items) : -1;
  if (kept->surface && kept->pointed == index && kept->is_dark == p->dark && memcmp(&kept->controls, c, sizeof *c) == 0)
    return;
  controls_forget(kept);
  kept->surface =
      cairo_surface_create_similar_image(cairo_get_target(cr), CAIRO_FORMAT_RGB24, (int)at.width, (int)at.height);
  cairo_t *to = cairo_create(kept->surface);
  cairo_translate(to, -at.x, -at.y);
  draw_still(c, p, to, pointed);
  cairo_destroy(to);
  kept->controls = *c;
  kept->pointed = index;
  kept->is_dark = p->dark;
}

void controls_draw(const Controls *c, const Player *p, cairo_t *cr, const Control *pointed, KeptBar *kept) {
  if (c->bar.height <= 0) return;
  if (kept) {
    keep(c, p, cr, pointed, kept);
    cairo_save(cr);
    cairo_set_source_surface(cr, kept->surface, c->bar.x, c->bar.y);
    cairo_set_operator(cr, CAIRO_OPERATOR_SOURCE);
    cairo_rectangle(cr, c->bar.x, c->bar.y, c->bar.width, c->bar.height);
    cairo_fill(cr);
    cairo_restore(cr);
  } else {
    draw_still(c, p, cr, pointed);
  }
}

void controls_forget(KeptBar *kept) {
  if (kept->surface) cairo_surface_destroy(kept->surface);
  kept->surface = NULL;
}
