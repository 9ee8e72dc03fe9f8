/* The algorithm's lines with the present one, the loop variables, and the last events in words. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/code_lines.h"
#include "viz/scene/pen.h"
#include "viz/text/number.h"

/* The largest type in which all lines fit the box. */
static TypeSize type_for(const Pen *pen, Box box, const Schedule *schedule, int n_lines) {
  for (int type = TYPE_HEAD; type > TYPE_SMALL; type--) {
    double widest = 0;
    for (int k = 0; k < n_lines; k++) {
      const CodeLine line = code_line(schedule, k);
      widest = fmax(widest,
                    pen_mono_width(pen, (TypeSize)type, line.text) + 1.2 * line.indent * pen_size(pen, (TypeSize)type));
    }
    if (widest < box.width && 1.45 * pen_size(pen, (TypeSize)type) * n_lines <= box.height) return (TypeSize)type;
  }
  return TYPE_SMALL;
}

/* When not all lines fit, those around the present one. */
static int first_line(int n_lines, int n_fit, int present) {
  if (n_lines <= n_fit) return 0;
  const int first = present - n_fit / 2;
  return first < 0 ? 0 : first > n_lines - n_fit ? n_lines - n_fit : first;
}

/* "i = 4 of 8,  j = 3 of 8", or shorter. */
static void loop_words(const Snapshot *now, bool is_short, char *text, size_t size) {
  const SnapshotGrid *g = &now->grid;
  const Event *e = &now->event;
  text[0] = '\0';
  if (!now->has_event) return;
  const int64_t i = g->i >= 0 ? g->i : e->i, j = g->j >= 0 ? g->j : e->j;
  const char *gap = is_short ? ", " : ",  ", *is = is_short ? " " : " = ", *of = is_short ? "/" : " of ";
  if (i >= 0) snprintf(text, size, "i%s%" PRId64 "%s%" PRId64, is, i, of, g->T_r);
  if (j >= 0)
    snprintf(text + strlen(text), size - strlen(text), "%sj%s%" PRId64 "%s%" PRId64, *text ? gap : "", is, j, of,
             g->T_c);
  if (now->problem.tiling.n_splits > 1)
    snprintf(text + strlen(text), size - strlen(text), "%ss%s%d", gap, is, (int)e->split);
}

void draw_code(const Pen *pen, Box box) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const Schedule *schedule = SCHEDULES[now->schedule];
  const double u = pen->unit;
  char loop[96];
  loop_words(now, false, loop, sizeof loop);
  if (pen_text_width(pen, TYPE_SMALL, false, loop) > box.width - pen_text_width(pen, TYPE_HEAD, true, "Code") - 42 * u)
    loop_words(now, true, loop, sizeof loop);
  Box body = pen_panel(pen, box, "Code", loop);
  const int n_lines = code_n_lines(schedule);
  if (n_lines == 0) {
    pen_paragraph(pen, TYPE_BODY, t->ink_soft, body, "No pseudo-code is written for this algorithm.");
    return;
  }
  const TypeSize type = type_for(pen, body, schedule, n_lines);
  const double size = pen_size(pen, type), height = fmin(2.0 * size, fmax(1.28 * size, floor(body.height / n_lines)));
  const int n_fit = (int)(body.height / height), first = first_line(n_lines, n_fit, now->code_line);
  for (int k = first; k < n_lines && k < first + n_fit; k++) {
    const Box row = box_cut_top(&body, height, 0);
    const CodeLine line = code_line(schedule, k);
    const bool present = k == now->code_line;
    const double x = row.x + 1.2 * line.indent * size;
    if (present) {
      pen_fill(pen, box_at(row.x - 8 * u, row.y, row.width + 16 * u, row.height),
               theme_mix(t->panel, t->tile[TILE_COLOUR_CURRENT], 0.35), 1);
      pen_fill(pen, box_at(row.x - 8 * u, row.y, 4 * u, row.height), t->tile[TILE_COLOUR_CURRENT], 1);
    }
    pen_mono(pen, type, pen_ink(pen, present || now->code_line < 0), present, ANCHOR_START, x,
             row.y + row.height / 2 + 0.35 * size, row.x + row.width - x + 8 * u, line.text);
    pen_region(pen, HIT_LINE, TENSOR_Q, -1, -1, k, row);
  }
}

void draw_log(const Pen *pen, Box box) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  Box body = pen_panel(pen, box, "Log", now->step > SNAPSHOT_LOG_LINES ? "the last events" : NULL);
  const bool is_narrow = body.width < 28 * pen_size(pen, TYPE_BODY); /* the words alone */
  const TypeSize type = is_narrow ? TYPE_SMALL : TYPE_BODY;
  const double size = pen_size(pen, type),
               height = fmax(1.6 * size, fmin(2.6 * size, floor(body.height / SNAPSHOT_LOG_LINES)));
  const double column =
      is_narrow
          ? 10 * pen->unit
          : fmax(2.4 * size, pen_text_width(pen, TYPE_SMALL, false, number_count(now->n_steps).text)) + 14 * pen->unit;
  const int n_fit = (int)(body.height / height), first = now->n_log > n_fit ? now->n_log - n_fit : 0;
  for (int k = first; k < now->n_log; k++) {
    const Box row = box_cut_top(&body, height, 0);
    const bool present = k + 1 == now->n_log;
    char number[NUMBER_CHARS];
    snprintf(number, sizeof number, "%s", number_count(now->step - (uint64_t)(now->n_log - k) + 1).text);
    const double base = row.y + row.height / 2 + 0.35 * size;
    if (present)
      pen_fill(pen, box_at(row.x - 8 * pen->unit, row.y, 4 * pen->unit, row.height), t->tile[TILE_COLOUR_CURRENT], 1);
    if (!is_narrow)
      pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_END, row.x + column - 14 * pen->unit, base, 0, number);
    pen_text(pen, type, present ? t->ink : t->ink_soft, present, ANCHOR_START, row.x + column, base, row.width - column,
             now->log[k]);
  }
  if (now->n_log == 0) pen_paragraph(pen, TYPE_BODY, t->ink_soft, body, "Nothing has happened yet.");
}

void scene_code(const Pen *pen) {
  Box body = pen_page(pen, SCHEDULES[pen->now->schedule]->title);
  if (pen->view->presentation) { /* one idea a screen */
    draw_code(pen, body);
    return;
  }
  const Box code = box_cut_left(&body, 0.48 * body.width, 16 * pen->unit);
  draw_code(pen, code);
  draw_log(pen, body);
}
