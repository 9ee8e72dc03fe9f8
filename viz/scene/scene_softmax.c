/* Online softmax of one row: a larger score shrinks all before it by one factor.
 *
 *     One row
 *     ▁▂█▂ ▉▁▃▁    ▂▅▂▃  ▃     bars are e^(s - m) by key; beside them O and the sum
 *       4  5        O   sum   outlines: before
 *     a larger score shrinks all before it      × 0.37
 *
 * m is the maximum that l and O refer to: until they are rescaled the old one, so that a larger score breaks through
 * the top. */
#include <stdio.h>

#include "viz/scene/score_table.h"
#include "viz/scene/sheet.h"
#include "viz/text/number.h"

enum { BREAKS = 3 }; /* pieces of a bar that goes on above the top */

/* The last pass of fa2-split. */
static bool is_combining(const Snapshot *now) {
  return now->has_event && now->grid.n_laps == 1 && now->grid.lap == 1 && now->event.pass > 0 &&
         now->problem.tiling.n_splits > 1;
}

/* Why there are no bars, and shorter; NULL: there are. */
static bool is_absent(const Snapshot *now, const char *why[2]) {
  static const char *const WHY[][2] = {{"no maximum, no sum: nothing is rescaled", "nothing is rescaled"},
                                       {"a smaller N shows the row", "a smaller N shows it"},
                                       {"the splits' parts of O are combined", "parts of O are combined"},
                                       {"the first block of Q is still in HBM", "Q is still in HBM"},
                                       {"no scores of a row are on chip", "no scores on chip"}};
  const bool holds[] = {!now->roles.is_softmax, !now->row.is_computed, is_combining(now), !now->has_event,
                        now->row.row < 0 || now->row.phase == ROW_NONE};
  size_t k = 0;
  while (k < COUNT_OF(holds) && !holds[k]) k++;
  if (k == COUNT_OF(holds)) return false;
  memcpy(why, WHY[k], sizeof WHY[k]);
  return true;
}

typedef struct {
  const Snapshot *now;
  double top;     /* the largest score before the tile; -inf: none */
  double of_tile; /* and in it */
  double from, m; /* what bars refer to before the present event, and at this moment */
  double shrunk;  /* what is before the tile is multiplied by it */
  bool is_larger, is_rescaled;
  bool is_on_chip; /* scores, or their weights */
} Row;

static bool has_scores(const Snapshot *now) {
  bool has = false;
  for (int k = 0; k < now->schedule->n_values; k++)
    has |= now->slots[k].is_filled && snapshot_lies(now, now->slots[k].tensor) == LIES_BY_TILES;
  return has;
}

static Row read_row(const Pen *pen) {
  const Snapshot *now = pen->now;
  const SnapshotRow *r = &now->row;
  const SnapshotLine *line = &now->line;
  Row row = {.now = now,
             .top = -INFINITY,
             .of_tile = -INFINITY,
             .is_rescaled = r->phase >= ROW_RESCALED,
             .is_on_chip = has_scores(now)};
  for (int64_t k = 0; k < line->n; k++) {
    double *largest = k < line->n_past ? &row.top : &row.of_tile;
    *largest = fmax(*largest, line->scores[k]);
  }
  const double first = isfinite(row.of_tile) ? row.of_tile : 0, old = isfinite(r->m_old) ? r->m_old : first,
               after = isfinite(r->m_new) ? r->m_new : old;
  row.is_larger = isfinite(r->m_old) && row.of_tile > r->m_old && !r->without_max;
  const bool is_moving = now->event.kind == EVENT_RESCALE && row.is_rescaled;
  row.from = r->without_max ? 0 : is_moving || !row.is_rescaled ? old : after;
  row.m = r->without_max ? 0 : row.is_rescaled ? after : old;
  row.m = row.from + pen_happened(pen) * (row.m - row.from);
  row.shrunk = row.is_rescaled && isfinite(r->m_old) ? exp(r->m_old - row.m) : 1;
  return row;
}

/* ---- Bars -------------------------------------------------------------------------------------------------------- */

/* From the base line up; above the top it goes on in pieces. `before`: an outline. */
static void draw_bar(const Pen *pen, Box bar, double part, double before, Colour colour) {
  const double high = floor(fmin(1, part) * bar.height), base = bar.y + bar.height;
  if (before > part + 0.005) {
    const double outer = floor(fmin(1, before) * bar.height);
    const double dash[] = {5 * pen->unit, 4 * pen->unit};
    cairo_set_dash(pen->cr, dash, 2, 0);
    pen_frame(pen, (Box){bar.x, base - outer, bar.width, outer}, pen->theme->ink_soft, 1);
    cairo_set_dash(pen->cr, NULL, 0, 0);
  }
  if (part > 0) pen_fill(pen, (Box){bar.x, base - fmax(1, high), bar.width, fmax(1, high)}, colour, 1);
  const double piece = fmax(2, 0.02 * bar.height);
  for (int k = 0; k < BREAKS && part > 1; k++)
    pen_fill(pen, (Box){bar.x, bar.y - (k + 1) * 1.9 * piece, bar.width, piece}, colour, 0.8 - 0.25 * k);
  pen_body(pen, BODY_LINE, 0, (Box){bar.x, base - high, bar.width, high}, 1);
}

static void draw_base(const Pen *pen, Box box, double left, double right) {
  pen_fill(pen, (Box){left, box.y + box.height, right - left, fmax(1, round(box.height / 250))}, pen->theme->axis, 1);
}

static void draw_score_name(const Pen *pen, double size, double x, double base, double value, Colour ink) {
  if (!isfinite(value)) return;
  const Number score = number_double(value, 3);
  const double half =
      pen_words_width(pen, size, true, score.text) / 2; /* of the first and the last key it stays on the page */
  const double near = pen->page.x + 0.02 * pen->page.width + half, far = near + 0.96 * pen->page.width - 2 * half;
  x = fmax(near, fmin(far, x));
  pen_words(pen, size, ink, true, ANCHOR_MIDDLE, x, base, score.text);
}

/* e^(s - m) of every key so far, of a long row the last; the largest of both parts by its score. */
static void draw_scores(const Pen *pen, Box box, const Row *row, double size) {
  const SnapshotLine *line = &row->now->line;
  const Theme *t = pen->theme;
  const int64_t fit = (int64_t)fmax(1, box.width / 3), keys = row->now->grid.N_k < fit ? row->now->grid.N_k : fit,
                end = line->first + line->n, first = end > keys ? end - keys : 0;
  const double pitch = box.width / (double)keys, gap = fmax(1, floor(0.3 * pitch));
  const bool is_over = row->now->row.phase == ROW_FINISHED, is_done = is_over || !row->is_on_chip;
  double past_x = -1, tile_x = -1;
  for (int64_t k = 0; k < line->n; k++) {
    const int64_t key = line->first + k - first;
    if (key < 0 || !isfinite(line->scores[k])) continue;
    const bool is_past = k < line->n_past, is_new = !is_past && row->now->event.kind == EVENT_PRODUCT;
    const double x = floor(box.x + (double)key * pitch), s = line->scores[k],
                 grown = is_new && row->now->row.phase == ROW_SCORES ? pen_happened(pen) : 1;
    draw_bar(pen, (Box){x, box.y, fmax(1, floor(pitch) - gap), box.height}, grown * exp(s - row->m),
             is_past && row->is_rescaled ? exp(s - row->now->row.m_old) : 0,
             is_past || is_done ? t->series[INK_BLUE] : t->tile[TILE_COLOUR_CURRENT]);
    if (is_past && s == row->top) past_x = x + (pitch - gap) / 2;
    if (!is_past && s == row->of_tile && tile_x < 0) tile_x = x + (pitch - gap) / 2;
  }
  draw_base(pen, box, box.x, box.x + box.width);
  const double base = box.y + box.height + 1.2 * size;
  if (is_over) *(row->of_tile > row->top ? &past_x : &tile_x) = -1; /* the largest alone */
  if (tile_x >= 0) draw_score_name(pen, size, tile_x, base, row->of_tile, is_done ? t->series_text[INK_BLUE] : t->warn);
  if (past_x >= 0 && (tile_x < 0 || is_over || fabs(past_x - tile_x) > 3.2 * size))
    draw_score_name(pen, size, past_x, base, row->top, t->series_text[INK_BLUE]);
  pen_part(pen, "scores", box);
  pen_part(pen, "factor", box);
  pen_part(pen, "maximum", box_at(box.x, box.y + box.height, box.width, 1.6 * size));
}

/* O and the sum, each as a part of the largest that it is in this tile. */
static void draw_outputs(const Pen *pen, Box box, const Row *row, double size) {
  const SnapshotRow *r = &row->now->row;
  const Theme *t = pen->theme;
  const int n = (int)r->n_O;
  const bool is_over = r->phase == ROW_FINISHED, is_scaled = row->is_rescaled && r->phase < ROW_ACCUMULATED;
  const double pitch = box.width / (n + 2), bar = fmax(1, floor(0.7 * pitch)), sum_x = box.x + (n + 1) * pitch;
  double largest = 0, most = fmax(r->l_old, fmax(r->l_scaled, r->l));
  for (int k = 0; k < n; k++) largest = fmax(largest, fmax(fabs(r->O_old[k]), fabs(r->O[k])));
  for (int k = 0; k < n && largest > 0; k++) {
    const double now = is_scaled ? r->O_old[k] * row->shrunk : r->O[k];
    draw_bar(pen, (Box){box.x + k * pitch, box.y, bar, box.height}, fabs(now) / largest,
             is_scaled ? fabs(r->O_old[k]) / largest : 0, t->series[INK_BLUE]);
  }
  if (most > 0 && isfinite(most) && !is_over)
    draw_bar(pen, (Box){sum_x, box.y, bar, box.height}, (is_scaled ? r->l_old * row->shrunk : r->l) / most,
             is_scaled ? r->l_old / most : 0, t->series[INK_BLUE]);
  draw_base(pen, box, box.x, box.x + box.width);
  const double base = box.y + box.height + 1.2 * size;
  const double room = box.width - pen_words_width(pen, size, true, "sum") - size;
  const char *name = is_over ? "O / sum" : "row of O";
  if (!is_over && pen_words_width(pen, size, true, name) > room) name = strrchr(name, ' ') + 1;
  const double half = pen_words_width(pen, size, true, name) / 2, middle = box.x + n * pitch / 2;
  pen_words(pen, size, t->ink_soft, true, ANCHOR_MIDDLE, is_over ? middle : fmin(middle, box.x + room - half), base,
            name);
  if (!is_over) pen_words(pen, size, t->ink_soft, true, ANCHOR_END, box.x + box.width, base, "sum");
  pen_part(pen, "output", box_at(box.x, box.y, n * pitch, box.height + 1.6 * size));
  pen_part(pen, "sum", box_at(sum_x, box.y, box.x + box.width - sum_x, box.height + 1.6 * size));
}

/* ---- Together ---------------------------------------------------------------------------------------------------- */

/* More ulps than roundings alone can explain. O may be rounded once a tile, and roundings add up as a random walk;
 * larger scores, stored rounded, move their exponentials more; in fp32 the sums over keys and over d show too. */
static double most_ulps(const Snapshot *now) {
  const SnapshotGrid *g = &now->grid;
  const double rounded = (4 + 2 * sqrt((double)g->T_c)) * (double)now->row.q_scale;
  return now->problem.shape.dtype != DTYPE_FP32 ? rounded : rounded + (double)g->N_k + 16 * (double)g->d;
}

/* What became of the row, against the fp64 answer. */
static void say_end(const Pen *pen, const Row *row, char number[NUMBER_CHARS], Sheet *sheet) {
  const SnapshotRow *r = &row->now->row;
  const bool is_lost = !isfinite(r->error_ulps), is_wrong = is_lost || r->error_ulps > most_ulps(row->now);
  if (!r->is_judged) {
    sheet->caption[0] = "divided by the sum, once";
    return;
  }
  sheet->caption[0] = is_wrong ? "O is wrong" : "O is right: divided once";
  if (is_lost) sheet->caption[0] = "O is lost: e^s overflowed";
  if (is_wrong) sheet->colour = pen->theme->waste_text;
  if (is_lost) return;
  snprintf(number, NUMBER_CHARS, "%s", number_double(r->error_ulps, 2).text);
  sheet->number = number, sheet->unit = "ulps off";
}

static void say(const Pen *pen, const Row *row, char number[NUMBER_CHARS], Sheet *sheet) {
  const SnapshotRow *r = &row->now->row;
  const Theme *t = pen->theme;
  sheet->colour = t->series_text[INK_BLUE];
  if (r->n_overflowed > 0 && r->phase < ROW_FINISHED) {
    sheet->caption[0] = "without the maximum e^s overflows";
    sheet->caption[1] = "e^s overflows";
    sheet->colour = t->waste_text;
    snprintf(number, NUMBER_CHARS, "%jd", r->n_overflowed);
    sheet->number = number, sheet->unit = "lost";
  } else if (r->phase == ROW_FINISHED) {
    say_end(pen, row, number, sheet);
  } else if (!row->is_on_chip) {
    sheet->caption[0] =
        r->phase < ROW_ACCUMULATED ? "no scores on chip: they are in HBM" : "no scores on chip: they are in O";
    sheet->caption[1] = "no scores on chip";
  } else if (!isfinite(r->m_old) || r->without_max) {
    const bool is_first = row->now->line.n_past == 0;
    sheet->caption[0] = r->without_max ? "without the maximum nothing shrinks"
                        : is_first     ? "the first scores"
                                       : "more scores, and no maximum yet";
    sheet->caption[1] = r->without_max ? "nothing shrinks" : is_first ? NULL : "no maximum yet";
    sheet->colour = t->warn;
  } else if (!row->is_rescaled) {
    sheet->caption[0] = row->is_larger ? "a larger score arrives" : "no larger score arrives";
    sheet->colour = t->warn;
  } else {
    sheet->caption[0] = row->is_larger ? "a larger score shrinks all before it" : "no larger score: nothing shrinks";
    sheet->caption[1] = row->is_larger ? "it shrinks all before it" : "nothing shrinks";
    snprintf(number, NUMBER_CHARS, r->factor == 1 ? "× 1" : "× %.40s", number_double(r->factor, 2).text);
    sheet->number = number;
  }
}

/* Where bars will stand. */
static void draw_places(const Pen *pen, Box scores, Box outputs, double size) {
  const Box boxes[] = {scores, outputs};
  static const char *const NAMES[] = {"scores of a row", "row of O"};
  for (int k = 0; k < 2; k++) {
    const Box b = boxes[k];
    draw_base(pen, b, b.x, b.x + b.width);
    pen_words(pen, size, pen->theme->ink_soft, true, ANCHOR_MIDDLE, b.x + b.width / 2, b.y + b.height + 1.2 * size,
              NAMES[k]);
  }
}

static void draw(const Pen *pen) {
  const Snapshot *now = pen->now;
  const Box page = pen_page_bare(pen);
  char number[NUMBER_CHARS] = "", note[64] = "";
  Row row = {0};
  Sheet sheet = {.title = pen->view->title ? pen->view->title : "One row", .colour = pen->theme->ink_soft};
  const bool absent = is_absent(now, sheet.caption);
  if (!absent) {
    row = read_row(pen);
    say(pen, &row, number, &sheet);
    snprintf(note, sizeof note, "row %jd, tile %jd", now->row.row, now->row.tile);
    sheet.note = note;
  }
  const Box body = pen_sheet(pen, page, &sheet);
  if (!now->roles.is_softmax) return;
  const double size = sheet_letters(pen, page), under = 1.9 * size;
  Box scores = body, outputs = body;
  if (pen->is_tall) {
    scores.height = 0.55 * body.height - under;
    outputs.y += 0.62 * body.height, outputs.height = 0.38 * body.height - under;
  } else {
    scores.width = 0.56 * body.width;
    outputs.x += 0.64 * body.width, outputs.width = 0.36 * body.width;
    scores.height = outputs.height = body.height - under;
  }
  const double above = 0.14 * scores.height; /* for what breaks through */
  scores.y += above, scores.height -= above;
  if (!pen->is_tall) outputs.y += above, outputs.height -= above;
  if (absent) {
    draw_places(pen, scores, outputs, size);
    return;
  }
  draw_scores(pen, scores, &row, size);
  draw_outputs(pen, outputs, &row, size);
}

const Scene SOFTMAX_SCENE = {.title = "Online softmax of one row", .draw = draw};
