/* The algorithm's lines with the present one, the loop variables, and the last events in words. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/code_lines.h"
#include "viz/scene/pen.h"
#include "viz/text/number.h"

/* What stands on one row of the panel: a line, or a part of one that is too long, indented further. */
typedef struct {
  int line, begin, length;
  double x; /* from the panel's left edge */
} CodeRow;

enum { CODE_ROWS_MAX = 2 * PROGRAM_LINES_MAX };

/* How much of the text fits the width: up to a space, or all of a word. */
static int fitting(const Pen *pen, TypeSize type, const char *text, double width) {
  char part[CODE_LINE_BYTES];
  int fits = 0;
  if (pen_mono_width(pen, type, text) <= width) return (int)strlen(text);
  for (int n = 1;; n++) {
    if (text[n] != ' ' && text[n] != '\0') continue;
    snprintf(part, sizeof part, "%.*s", n, text);
    if (fits > 0 && pen_mono_width(pen, type, part) > width) return fits;
    fits = n;
    if (text[n] == '\0') return fits;
  }
}

static int rows_of(const Pen *pen, TypeSize type, const Schedule *schedule, double width, CodeRow *rows) {
  const double step = pen_size(pen, type), room = 0.97 * width;
  int n = 0;
  for (int k = 0; k < code_n_lines(schedule); k++) {
    const CodeLine line = code_line(schedule, k);
    for (int at = 0; line.text[at] && n < CODE_ROWS_MAX;) {
      const double x = step * (line.indent + (at > 0 ? 2 : 0));
      const int length = fitting(pen, type, line.text + at, room - x);
      rows[n++] = (CodeRow){k, at, length, x};
      at += length;
      while (line.text[at] == ' ') at++;
    }
  }
  return n;
}

/* The largest type in which all lines fit the box. */
static TypeSize type_for(const Pen *pen, Box box, const Schedule *schedule, CodeRow *rows, int *n_rows) {
  for (int type = TYPE_HEAD; type > TYPE_SMALL; type--) {
    *n_rows = rows_of(pen, (TypeSize)type, schedule, box.width, rows);
    if (*n_rows == code_n_lines(schedule) && 1.45 * pen_size(pen, (TypeSize)type) * *n_rows <= box.height)
      return (TypeSize)type;
  }
  *n_rows = rows_of(pen, TYPE_SMALL, schedule, box.width, rows);
  return TYPE_SMALL;
}

/* When not all lines fit, those around the present one. */
static int first_line(int n_lines, int n_fit, int present) {
  if (n_lines <= n_fit) return 0;
  const int first = present - n_fit / 2;
  return first < 0 ? 0 : first > n_lines - n_fit ? n_lines - n_fit : first;
}

/* "i = 4,  j = 3;  8 × 8 tiles", or shorter: blocks count from 0. */
static void loop_words(const Snapshot *now, bool is_short, char *text, size_t size) {
  const SnapshotGrid *g = &now->grid;
  const Event *e = &now->event;
  text[0] = '\0';
  if (!now->has_event) return;
  const int64_t i = g->i >= 0 ? g->i : e->i, j = g->j >= 0 ? g->j : e->j;
  const char *gap = is_short ? ", " : ",  ", *is = is_short ? " " : " = ";
  if (i >= 0) snprintf(text, size, "i%s%" PRId64, is, i);
  if (j >= 0) snprintf(text + strlen(text), size - strlen(text), "%sj%s%" PRId64, *text ? gap : "", is, j);
  if (now->problem.tiling.n_splits > 1)
    snprintf(text + strlen(text), size - strlen(text), "%ss%s%d", gap, is, (int)e->split);
  if (!is_short && *text)
    snprintf(text + strlen(text), size - strlen(text), ";  %" PRId64 " × %" PRId64 " tiles", g->T_r, g->T_c);
}

void draw_code(const Pen *pen, Box box) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const Schedule *schedule = now->schedule;
  const double u = pen->unit;
  char loop[96];
  loop_words(now, false, loop, sizeof loop);
  if (pen_text_width(pen, TYPE_SMALL, false, loop) > box.width - pen_text_width(pen, TYPE_HEAD, true, "Code") - 42 * u)
    loop_words(now, true, loop, sizeof loop);
  Box body = pen_panel(pen, box, "Code", loop);
  CodeRow rows[CODE_ROWS_MAX];
  int n_rows, present_row = 0;
  const TypeSize type = type_for(pen, body, schedule, rows, &n_rows);
  while (present_row + 1 < n_rows && rows[present_row].line < now->code_line) present_row++;
  const double size = pen_size(pen, type), height = fmin(2.0 * size, fmax(1.18 * size, floor(body.height / n_rows)));
  const int n_fit = (int)(body.height / height), first = first_line(n_rows, n_fit, present_row);
  for (int k = first; k < n_rows && k < first + n_fit; k++) {
    const Box row = box_cut_top(&body, height, 0);
    const bool present = rows[k].line == now->code_line;
    const double x = row.x + rows[k].x;
    char text[CODE_LINE_BYTES];
    snprintf(text, sizeof text, "%.*s", rows[k].length, code_line(schedule, rows[k].line).text + rows[k].begin);
    if (present) {
      const Box all = box_at(row.x - 8 * u, row.y, row.width + 16 * u, row.height);
      pen_fill(pen, all, theme_mix(t->panel, t->tile[TILE_COLOUR_CURRENT], 0.2), 1); /* and how far it is */
      pen_fill(pen, (Box){all.x, all.y, all.width * pen_happened(pen), all.height},
               theme_mix(t->panel, t->tile[TILE_COLOUR_CURRENT], 0.35), 1);
      pen_fill(pen, box_at(row.x - 8 * u, row.y, 4 * u, row.height), t->tile[TILE_COLOUR_CURRENT], 1);
    }
    pen_mono(pen, type, pen_ink(pen, present || now->code_line < 0), present, ANCHOR_START, x,
             row.y + row.height / 2 + 0.35 * size, row.x + row.width - x + 8 * u, text);
    pen_region(pen, HIT_LINE, 0, -1, -1, rows[k].line, row);
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

static void draw(const Pen *pen) {
  Box body = pen_page(pen, pen->now->schedule->title);
  if (pen->view->presentation) { /* one idea a screen */
    draw_code(pen, body);
    return;
  }
  const Box log = box_cut_side(pen, &body, 0.5, 0.42, 16 * pen->unit);
  draw_code(pen, body);
  draw_log(pen, log);
}

const Scene CODE_SCENE = {.title = "The algorithm, line by line", .key = '8', .draw = draw};
