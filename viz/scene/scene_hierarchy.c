/* HBM, SRAM and the link between them: what lies where, what is on its way, and how much has crossed. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/pen.h"
#include "viz/text/number.h"

static const char *letter_of(int tensor) { return tensor == TENSOR_STATS ? "m, l" : tensor_name((Tensor)tensor); }

static double base_in(const Pen *pen, Box row, TypeSize type) { return row.y + row.height / 2 + 0.36 * pen_size(pen, type); }

/* ---- HBM ------------------------------------------------------------------------------------------------- */

/* S and P exist in HBM only where an algorithm stores them. */
static bool is_ghost(const Snapshot *now, int tensor) {
  return (tensor == TENSOR_S || tensor == TENSOR_P) && now->whole.write[tensor] == 0;
}

static bool has_row(const Snapshot *now, int tensor) {
  return tensor != TENSOR_STATS || now->whole.read[TENSOR_STATS] + now->whole.write[TENSOR_STATS] > 0;
}

/* How much of a tensor is there: inputs all, results as far as they were written. */
static double presence(const Snapshot *now, int tensor) {
  if (tensor <= TENSOR_V) return 1;
  return fmin(1, part_of(now->traffic.write[tensor], now->whole.write[tensor]));
}

static void draw_tensor_bar(const Pen *pen, Box bar, int tensor) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  if (is_ghost(now, tensor)) {
    pen_dashed(pen, bar, t->axis, 1);
    return;
  }
  pen_fill(pen, bar, t->tile[TILE_COLOUR_WAITING], 1);
  const Box filled = box_at(bar.x, bar.y, bar.width * presence(now, tensor), bar.height);
  pen_fill(pen, filled, tensor <= TENSOR_V ? theme_mix(t->tile[TILE_COLOUR_WAITING], t->axis, 0.55) : t->tile[TILE_COLOUR_DONE], 1);
  const Event *e = &now->event;
  if (!now->has_event || (e->kind != EVENT_LOAD && e->kind != EVENT_STORE) || e->tensor != tensor) return;
  const bool by_rows = e->col1 == e->col0 || e->row1 > e->row0;
  const double n = (double)(by_rows ? now->grid.N_q : now->grid.N_k);
  const double from = (double)(by_rows ? e->row0 : e->col0) / n, to = (double)(by_rows ? e->row1 : e->col1) / n;
  const double width = fmax(3 * pen->unit, bar.width * (to - from));
  pen_fill(pen, box_at(bar.x + fmin(bar.width * from, bar.width - width), bar.y, width, bar.height), t->tile[TILE_COLOUR_CURRENT], 1);
}

static void draw_bytes(const Pen *pen, double right, double base, Wide bytes, bool strong) {
  pen_text(pen, TYPE_SMALL, strong ? pen->theme->ink : pen->theme->ink_soft, strong, ANCHOR_END, right, base, 0, bytes ? number_bytes(bytes).text : "–");
}

static void draw_hbm(const Pen *pen, Box box) {
  const Snapshot *now = pen->now;
  const double u = pen->unit, column = 5.8 * pen_size(pen, TYPE_SMALL), letter = (has_row(now, TENSOR_STATS) ? 3.0 : 2.4) * pen_size(pen, TYPE_SMALL);
  Box body = pen_panel(pen, box, "HBM", NULL);
  int n = 0;
  for (int t = 0; t < TENSOR_COUNT; t++) n += has_row(now, t);
  const double right = body.x + body.width, head = box.y + 12 * u + pen_size(pen, TYPE_HEAD);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, right - column, head, 0, "read");
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, right, head, 0, "written");
  const double height = fmin(body.height / n, 58 * u);
  for (int t = 0; t < TENSOR_COUNT; t++) {
    if (!has_row(now, t)) continue;
    Box row = box_cut_top(&body, height, 0);
    const Box whole = row;
    const double base = base_in(pen, row, TYPE_SMALL);
    const bool moving = now->has_event && now->event.tensor == t && (now->event.kind == EVENT_LOAD || now->event.kind == EVENT_STORE);
    pen_text(pen, TYPE_BODY, pen->theme->ink, true, ANCHOR_START, row.x, base_in(pen, row, TYPE_BODY), 0, letter_of(t));
    box_cut_left(&row, letter, 0);
    const Box numbers = box_cut_right(&row, 2 * column, 8 * u);
    const Box bar = box_at(row.x, row.y + fmax(2, 0.2 * height), row.width, height - 2 * fmax(2, 0.2 * height));
    draw_tensor_bar(pen, bar, t);
    if (is_ghost(now, t)) {
      pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, right, base, numbers.width, "never stored");
    } else {
      draw_bytes(pen, right - column, base, now->traffic.read[t], moving && now->event.kind == EVENT_LOAD);
      draw_bytes(pen, right, base, now->traffic.write[t], moving && now->event.kind == EVENT_STORE);
    }
    pen_region(pen, HIT_TENSOR, (Tensor)t, -1, -1, 0, whole);
  }
}

/* ---- The link -------------------------------------------------------------------------------------------- */

static void draw_arrow(const Pen *pen, Box lane, double thickness, bool to_right, bool active) {
  const Theme *t = pen->theme;
  const Colour colour = active ? t->tile[TILE_COLOUR_CURRENT] : theme_mix(t->background, t->axis, 0.55);
  const double head = fmin(0.4 * lane.width, thickness * 0.9 + 8 * pen->unit), y = lane.y + lane.height / 2;
  const double wing = thickness / 2 + 6 * pen->unit, from = to_right ? lane.x : lane.x + lane.width, sign = to_right ? 1 : -1;
  const double neck = from + sign * (lane.width - head);
  pen_fill(pen, box_at(fmin(from, neck), y - thickness / 2, fabs(neck - from), fmax(1, thickness)), colour, 1);
  if (pen->hit) return;
  theme_use(pen->cr, colour, 1);
  cairo_move_to(pen->cr, neck, y - wing);
  cairo_line_to(pen->cr, neck + sign * head, y);
  cairo_line_to(pen->cr, neck, y + wing);
  cairo_close_path(pen->cr);
  cairo_fill(pen->cr);
}

/* The tile on its way: half way across in a still picture, else where the view's phase has taken it. */
static void draw_parcel(const Pen *pen, Box lane, bool to_right) {
  const Theme *t = pen->theme;
  const Event *e = &pen->now->event;
  const double size = fmin(lane.height, 2.1 * pen_size(pen, TYPE_BODY));
  const double part = pen->view->phase > 0 ? pen_happened(pen) : 0.45;
  const double x = lane.x + (to_right ? part : 1 - part) * (lane.width - size);
  const Box parcel = box_at(x, lane.y + (lane.height - size) / 2, size, size);
  pen_fill(pen, parcel, t->tile[TILE_COLOUR_CURRENT], 1);
  pen_frame(pen, parcel, t->ink, 1.6);
  pen_text(pen, TYPE_BODY, theme_on(t->tile[TILE_COLOUR_CURRENT]), true, ANCHOR_MIDDLE, parcel.x + parcel.width / 2, base_in(pen, parcel, TYPE_BODY), parcel.width,
           e->tensor == TENSOR_STATS ? "m,l" : tensor_name((Tensor)e->tensor));
}

static void draw_lane(const Pen *pen, Box box, const char *word, Wide bytes, Wide of, EventKind kind) {
  const Snapshot *now = pen->now;
  const bool active = now->has_event && now->event.kind == kind, to_right = kind == EVENT_LOAD;
  const double body = pen_size(pen, TYPE_BODY), most = fmin(44 * pen->unit, box.height - 3.4 * body);
  Box label = box_cut_top(&box, 2.9 * body, 0);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_MIDDLE, label.x + label.width / 2, label.y + body, 0, word);
  pen_text(pen, TYPE_BODY, pen->theme->ink, true, ANCHOR_MIDDLE, label.x + label.width / 2, label.y + 2.3 * body, label.width, number_bytes(bytes).text);
  const Box lane = box_at(box.x, box.y, box.width, fmin(box.height, fmax(most + 16 * pen->unit, 2.2 * body)));
  draw_arrow(pen, lane, fmax(2 * pen->unit, most * part_of(bytes, of)), to_right, active);
  if (active) draw_parcel(pen, lane, to_right);
}

static void draw_link(const Pen *pen, Box box) {
  const Snapshot *now = pen->now;
  bool overflow = false;
  const Wide read = traffic_read_bytes(&now->whole, &overflow), written = traffic_write_bytes(&now->whole, &overflow);
  const Wide most = read > written ? read : written;
  box_cut_top(&box, 8 * pen->unit, 0);
  const Box upper = box_cut_top(&box, box.height / 2, 0);
  draw_lane(pen, upper, "read", now->read_bytes, most, EVENT_LOAD);
  draw_lane(pen, box, "written", now->write_bytes, most, EVENT_STORE);
}

/* ---- SRAM ------------------------------------------------------------------------------------------------ */

static void slot_words(const SnapshotSlot *s, char *text, size_t size) {
  if (!s->is_filled) snprintf(text, size, "empty");
  else if (s->i >= 0 && s->j >= 0) snprintf(text, size, "%s[%" PRId64 ",%" PRId64 "]", s->holds_P ? "P" : "S", s->i, s->j);
  else if (s->tensor == TENSOR_STATS) snprintf(text, size, "rows[%" PRId64 "]", s->i);
  else snprintf(text, size, "%s[%" PRId64 "]", tensor_name((Tensor)s->tensor), s->i >= 0 ? s->i : s->j);
}

static void draw_slot(const Pen *pen, Box row, const SnapshotSlot *s, uint64_t largest) {
  const Theme *t = pen->theme;
  char words[64];
  const Box whole = row;
  const double u = pen->unit, base = base_in(pen, row, TYPE_SMALL);
  const char *letter = s->tensor == TENSOR_P || s->tensor == TENSOR_S ? "S, P" : letter_of(s->tensor);
  pen_text(pen, TYPE_BODY, t->ink, true, ANCHOR_START, row.x, base_in(pen, row, TYPE_BODY), 0, letter);
  box_cut_left(&row, 2.9 * pen_size(pen, TYPE_SMALL), 0);
  const Box bytes = box_cut_right(&row, 4.6 * pen_size(pen, TYPE_SMALL), 6 * u);
  const Box words_box = box_cut_right(&row, 4.6 * pen_size(pen, TYPE_SMALL), 8 * u);
  const double pad = fmax(2, 0.2 * row.height);
  const Box bar = box_at(row.x, row.y + pad, fmax(3 * u, row.width * (double)s->slot_bytes / (double)largest), row.height - 2 * pad);
  pen_fill(pen, bar, t->tile[TILE_COLOUR_WAITING], 1);
  const double part = fmin(1, s->slot_bytes ? (double)s->held_bytes / (double)s->slot_bytes : 0);
  const Colour held = s->is_touched ? t->tile[TILE_COLOUR_CURRENT] : theme_mix(t->tile[TILE_COLOUR_WAITING], t->axis, 0.55);
  if (s->is_filled) pen_fill(pen, box_at(bar.x, bar.y, bar.width * part, bar.height), held, 1);
  slot_words(s, words, sizeof words);
  pen_text(pen, TYPE_SMALL, s->is_filled ? t->ink : t->ink_soft, s->is_touched, ANCHOR_START, words_box.x, base, words_box.width, words);
  pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_END, bytes.x + bytes.width, base, bytes.width + 6 * u, number_bytes(s->slot_bytes).text);
  pen_region(pen, HIT_SLOT, (Tensor)(s->tensor == TENSOR_P ? TENSOR_S : s->tensor), -1, -1, 0, whole);
}

/* All slots together, to scale against the capacity. */
static void draw_capacity(const Pen *pen, Box box) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  char words[3 * NUMBER_CHARS];
  const double scale = (double)(now->sram_bytes > now->sram_capacity_bytes ? now->sram_bytes : now->sram_capacity_bytes);
  const Box bar = box_at(box.x, box.y, box.width, 12 * u);
  const double capacity = bar.width * (double)now->sram_capacity_bytes / scale;
  pen_fill(pen, box_at(bar.x, bar.y, capacity, bar.height), t->tile[TILE_COLOUR_WAITING], 1);
  pen_fill(pen, box_at(bar.x, bar.y, fmax(2, bar.width * (double)now->sram_bytes / scale), bar.height), now->fits ? t->tile[TILE_COLOUR_DONE] : t->bad, 1);
  pen_fill(pen, box_at(bar.x + capacity - 2 * u, bar.y - 4 * u, 2 * u, bar.height + 8 * u), t->ink, 1);
  snprintf(words, sizeof words, "%s ", number_bytes(now->sram_bytes).text);
  snprintf(words + strlen(words), sizeof words - strlen(words), "%s %s", now->fits ? "of" : "wanted, there are", number_bytes(now->sram_capacity_bytes).text);
  pen_text(pen, TYPE_SMALL, now->fits ? t->ink_soft : t->bad, !now->fits, ANCHOR_START, box.x, bar.y + bar.height + 6 * u + small, box.width, words);
}

static void draw_sram(const Pen *pen, Box box) {
  const Snapshot *now = pen->now;
  const double u = pen->unit;
  Box body = pen_panel(pen, box, "SRAM", NULL);
  uint64_t largest = 1;
  int n = 0;
  for (int t = 0; t < TENSOR_COUNT; t++) {
    if (!now->slots[t].is_used) continue;
    n++;
    if (now->slots[t].slot_bytes > largest) largest = now->slots[t].slot_bytes;
  }
  const Box capacity = box_cut_bottom(&body, 20 * u + 1.2 * pen_size(pen, TYPE_SMALL), 6 * u);
  const double height = fmin(body.height / (n ? n : 1), 54 * u);
  for (int t = 0; t < TENSOR_COUNT; t++)
    if (now->slots[t].is_used) draw_slot(pen, box_cut_top(&body, height, 0), &now->slots[t], largest);
  draw_capacity(pen, capacity);
}

/* ---- The race -------------------------------------------------------------------------------------------- */

double race_height(const Pen *pen) { return 1.75 * pen_size(pen, TYPE_SMALL) * pen->now->n_runs; }

void draw_race(const Pen *pen, Box box) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const double u = pen->unit, height = box.height / (now->n_runs ? now->n_runs : 1);
  for (int k = 0; k < now->n_runs; k++) {
    const SnapshotRun *run = &now->runs[k];
    const bool shown = run->schedule == now->schedule;
    char words[2 * NUMBER_CHARS + 32];
    Box row = box_cut_top(&box, height, 0);
    const Box whole = row;
    const double base = base_in(pen, row, TYPE_SMALL);
    pen_text(pen, TYPE_SMALL, shown ? t->ink : t->ink_soft, shown, ANCHOR_START, row.x, base, 0, SCHEDULES[run->schedule]->name);
    box_cut_left(&row, 5.6 * pen_size(pen, TYPE_SMALL), 0);
    const double words_width = 15.9 * pen_size(pen, TYPE_SMALL);
    const Box words_box = box_cut_right(&row, words_width, 12 * u);
    const Box bar = box_at(row.x, row.y + 0.22 * height, row.width, 0.56 * height);
    const double done = part_of(run->tiles_done, run->tiles_total);
    pen_fill(pen, bar, t->tile[TILE_COLOUR_WAITING], 1);
    pen_fill(pen, box_at(bar.x, bar.y, bar.width * done, bar.height), shown ? t->tile[TILE_COLOUR_DONE] : t->axis, 1);
    snprintf(words, sizeof words, "%s done", number_percent(done).text);
    if (shown) snprintf(words + strlen(words), sizeof words - strlen(words), ", %s in all", number_bytes(run->total_bytes).text);
    else if (!run->fits) snprintf(words + strlen(words), sizeof words - strlen(words), ", SRAM too small");
    else snprintf(words + strlen(words), sizeof words - strlen(words), ", %s the bytes", number_ratio_of(run->total_bytes, now->whole_bytes).text);
    pen_text(pen, TYPE_SMALL, shown ? t->ink : t->ink_soft, false, ANCHOR_START, words_box.x, base, words_box.width, words);
    pen_region(pen, HIT_RUN, TENSOR_Q, -1, -1, k, whole);
  }
}

/* ---- Together -------------------------------------------------------------------------------------------- */

void draw_hierarchy(const Pen *pen, Box box, bool is_large) {
  const double u = pen->unit;
  const double whole = box.width;
  draw_hbm(pen, box_cut_left(&box, (is_large ? 0.42 : 0.45) * whole, 14 * u));
  draw_sram(pen, box_cut_right(&box, (is_large ? 0.4 : 0.38) * whole, 14 * u));
  draw_link(pen, box);
}

/* The number to read from the back row: bytes so far, and the whole run against standard (or standard against fa2). */
static void draw_headline(const Pen *pen, Box box) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  char words[2 * NUMBER_CHARS + 64];
  const double base = box.y + pen_size(pen, TYPE_NUMBER);
  snprintf(words, sizeof words, "%s", number_bytes(now->total_bytes).text);
  pen_text(pen, TYPE_NUMBER, t->ink, true, ANCHOR_START, box.x, base, 0, words);
  const double x = box.x + pen_text_width(pen, TYPE_NUMBER, true, words) + 14 * pen->unit;
  snprintf(words, sizeof words, "moved of %s", number_bytes(now->whole_bytes).text);
  pen_text(pen, TYPE_HEAD, t->ink_soft, false, ANCHOR_START, x, base, 0, words);
  const char *other = strcmp(SCHEDULES[now->schedule]->name, "standard") == 0 ? "fa2" : "standard";
  for (int k = 0; k < now->n_runs; k++) {
    const SnapshotRun *run = &now->runs[k];
    if (strcmp(SCHEDULES[run->schedule]->name, other) != 0) continue;
    snprintf(words, sizeof words, "%s moves %s as much", other, number_ratio_of(run->total_bytes, now->whole_bytes).text);
    pen_text(pen, TYPE_HEAD, t->ink, true, ANCHOR_END, box.x + box.width, base, 0, words);
  }
}

void scene_hierarchy(const Pen *pen) {
  const double u = pen->unit;
  Box body = pen_page(pen, SCHEDULES[pen->now->schedule]->title);
  const Box head = box_cut_top(&body, 1.35 * pen_size(pen, TYPE_NUMBER), 6 * u);
  Box race = box_cut_bottom(&body, race_height(pen) * 1.15 + 2.2 * pen_size(pen, TYPE_SMALL), 12 * u);
  draw_headline(pen, head);
  draw_hierarchy(pen, body, true);
  const Box label = box_cut_top(&race, 1.9 * pen_size(pen, TYPE_SMALL), 0);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, label.x, label.y + 1.2 * pen_size(pen, TYPE_SMALL), label.width,
           "The race: how far each algorithm gets with the bytes moved so far");
  draw_race(pen, race);
}
