/* HBM, L2 where there is one, SRAM with registers, and the links between them: what lies where, what is on its way, and
 * how much has crossed. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/pen.h"
#include "viz/text/number.h"

static const char *letter_of(int tensor) { return tensor == TENSOR_STATS ? "m, l" : tensor_name((Tensor)tensor); }

static double base_in(const Pen *pen, Box row, TypeSize type) {
  return row.y + row.height / 2 + 0.36 * pen_size(pen, type);
}

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

/* Rows [from, to) of n of a matrix, as a stretch of its bar. */
static Box stretch(const Pen *pen, Box bar, int64_t from, int64_t to, int64_t n) {
  const double width = fmax(3 * pen->unit, bar.width * (double)(to - from) / (double)n);
  return box_at(bar.x + fmin(bar.width * (double)from / (double)n, bar.width - width), bar.y, width, bar.height);
}

/* The block of a tensor that the pointer is over, here or in another part of the screen. */
static void mark_hovered(const Pen *pen, Box bar, int tensor) {
  const SceneHit *hover = &pen->view->hover;
  const SnapshotGrid *g = &pen->now->grid;
  const bool by_rows = tensor != TENSOR_K && tensor != TENSOR_V;
  const int64_t block = by_rows ? hover->i : hover->j, B = by_rows ? g->B_r : g->B_c, n = by_rows ? g->N_q : g->N_k;
  if ((hover->kind != HIT_TILE && !(hover->kind == HIT_TENSOR && (int)hover->tensor == tensor)) || block < 0 ||
      block * B >= n)
    return;
  pen_frame(pen, stretch(pen, bar, block * B, (block + 1) * B < n ? (block + 1) * B : n, n), pen->theme->ink, 2);
}

static void draw_tensor_bar(const Pen *pen, Box bar, int tensor, bool is_subject) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  if (is_ghost(now, tensor)) {
    pen_dashed(pen, bar, t->axis, 1);
    return;
  }
  const Colour lies =
      tensor <= TENSOR_V ? theme_mix(t->tile[TILE_COLOUR_WAITING], t->axis, 0.55) : t->tile[TILE_COLOUR_DONE];
  pen_fill(pen, bar, t->tile[TILE_COLOUR_WAITING], 1);
  pen_fill(pen, box_at(bar.x, bar.y, bar.width * presence(now, tensor), bar.height), pen_lit(pen, lies, is_subject), 1);
  mark_hovered(pen, bar, tensor);
  const Event *e = &now->event;
  if (!pen_moves(pen, tensor)) return;
  const bool by_rows = e->col1 == e->col0 || e->row1 > e->row0;
  pen_fill(pen,
           stretch(pen, bar, by_rows ? e->row0 : e->col0, by_rows ? e->row1 : e->col1,
                   by_rows ? now->grid.N_q : now->grid.N_k),
           t->tile[TILE_COLOUR_CURRENT], 1);
}

static void draw_bytes(const Pen *pen, double right, double base, Wide bytes, bool strong) {
  pen_text(pen, TYPE_SMALL, strong ? pen->theme->ink : pen->theme->ink_soft, strong, ANCHOR_END, right, base, 0,
           bytes ? number_bytes(bytes).text : "–");
}

/* What was read and written of a tensor; in a narrow panel the sum. */
static void draw_moved_bytes(const Pen *pen, Box numbers, double base, int t, bool is_narrow) {
  const Snapshot *now = pen->now;
  const double right = numbers.x + numbers.width, column = numbers.width / 2;
  const bool read = pen_moves(pen, t) && now->event.kind == EVENT_LOAD,
             written = pen_moves(pen, t) && now->event.kind == EVENT_STORE;
  if (is_ghost(now, t)) {
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, right, base, 0,
             is_narrow ? "never" : "never stored");
  } else if (is_narrow) {
    draw_bytes(pen, right, base, now->traffic.read[t] + now->traffic.write[t], read || written);
  } else {
    draw_bytes(pen, right - column, base, now->traffic.read[t], read);
    draw_bytes(pen, right, base, now->traffic.write[t], written);
  }
}

static void draw_hbm(const Pen *pen, Box box) {
  const Snapshot *now = pen->now;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL), column = 6.2 * small,
               letter = (has_row(now, TENSOR_STATS) ? 3.0 : 2.4) * small;
  Box body = pen_panel(pen, box, "HBM", NULL);
  int n = 0;
  for (int t = 0; t < TENSOR_COUNT; t++) n += has_row(now, t);
  const bool is_narrow = body.width < 2 * column + letter + 5 * small;
  const double right = body.x + body.width, head = box.y + 12 * u + pen_size(pen, TYPE_HEAD);
  if (!is_narrow) pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, right - column, head, 0, "read");
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, right, head, 0, is_narrow ? "moved" : "written");
  const double height = fmin(body.height / n, 58 * u);
  for (int t = 0; t < TENSOR_COUNT; t++) {
    if (!has_row(now, t)) continue;
    Box row = box_cut_top(&body, height, 0);
    const Box whole = row;
    const bool is_subject = pen_moves(pen, t);
    pen_text(pen, TYPE_BODY, pen_ink(pen, is_subject), true, ANCHOR_START, row.x, base_in(pen, row, TYPE_BODY), 0,
             letter_of(t));
    box_cut_left(&row, letter, 0);
    const Box numbers = box_cut_right(&row, (is_narrow ? 1 : 2) * column, 8 * u);
    draw_tensor_bar(pen, box_at(row.x, row.y + fmax(2, 0.2 * height), row.width, height - 2 * fmax(2, 0.2 * height)), t,
                    is_subject);
    draw_moved_bytes(pen, numbers, base_in(pen, row, TYPE_SMALL), t, is_narrow);
    pen_region(pen, HIT_TENSOR, (Tensor)t, -1, -1, 0, whole);
  }
}

/* ---- The link -------------------------------------------------------------------------------------------- */

static void draw_arrow(const Pen *pen, Box lane, double thickness, bool to_right, bool active) {
  const Theme *t = pen->theme;
  const Colour colour = active ? t->tile[TILE_COLOUR_CURRENT] : theme_mix(t->background, t->axis, 0.55);
  const double head = fmin(0.4 * lane.width, thickness * 0.9 + 8 * pen->unit), y = lane.y + lane.height / 2;
  const double wing = thickness / 2 + 6 * pen->unit, from = to_right ? lane.x : lane.x + lane.width,
               sign = to_right ? 1 : -1;
  const double neck = from + sign * (lane.width - head), half = fmax(1, round(thickness)) / 2,
               middle = floor(y) + fmod(half, 1);
  if (pen->hit) return;
  theme_use(pen->cr, colour, 1);
  cairo_move_to(pen->cr, from, middle - half);
  cairo_line_to(pen->cr, neck, middle - half);
  cairo_line_to(pen->cr, neck, middle - wing);
  cairo_line_to(pen->cr, neck + sign * head, middle);
  cairo_line_to(pen->cr, neck, middle + wing);
  cairo_line_to(pen->cr, neck, middle + half);
  cairo_line_to(pen->cr, from, middle + half);
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
  pen_text(pen, TYPE_BODY, theme_on(t->tile[TILE_COLOUR_CURRENT]), true, ANCHOR_MIDDLE, parcel.x + parcel.width / 2,
           base_in(pen, parcel, TYPE_BODY), parcel.width,
           e->tensor == TENSOR_STATS ? "m,l" : tensor_name((Tensor)e->tensor));
}

static void draw_lane(const Pen *pen, Box box, const char *word, Wide bytes, Wide of, EventKind kind) {
  const Snapshot *now = pen->now;
  const bool active = now->has_event && now->event.kind == kind, to_right = kind == EVENT_LOAD;
  const double body = pen_size(pen, TYPE_BODY), most = fmin(44 * pen->unit, box.height - 3.4 * body);
  Box label = box_cut_top(&box, 2.9 * body, 0);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_MIDDLE, label.x + label.width / 2, label.y + body, 0,
           word);
  const TypeSize type = label.width < 6.2 * body ? TYPE_SMALL : TYPE_BODY;
  pen_text(pen, type, pen->theme->ink, true, ANCHOR_MIDDLE, label.x + label.width / 2, label.y + 2.3 * body,
           label.width, number_bytes(bytes).text);
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

/* ---- L2 -------------------------------------------------------------------------------------------------- */

static void draw_figure(const Pen *pen, Box *box, const char *label, const char *value) {
  const double small = pen_size(pen, TYPE_SMALL), body = pen_size(pen, TYPE_BODY);
  const Box row = box_cut_top(box, 1.45 * small + 1.3 * body, fmin(8 * pen->unit, 0.02 * box->height));
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, row.x, row.y + small, row.width, label);
  pen_text(pen, TYPE_BODY, pen->theme->ink, true, ANCHOR_START, row.x, row.y + 1.4 * small + body, row.width, value);
}

/* All that crosses the SRAM boundary goes through L2; what it keeps from HBM is known of the whole launch. */
static void draw_l2(const Pen *pen, Box box) {
  const Snapshot *now = pen->now;
  const SnapshotL2 *l2 = &now->l2;
  const Theme *t = pen->theme;
  const Wide heads = wide(now->launched.batch) * wide(now->launched.heads);
  char words[NUMBER_CHARS + 32];
  Box body = pen_panel(pen, box, "L2", number_bytes(l2->capacity_bytes).text);
  pen_region(pen, HIT_L2, TENSOR_Q, -1, -1, 0, box);
  draw_figure(pen, &body, "through it so far", number_bytes(now->total_bytes).text);
  if (!l2->is_known) {
    pen_paragraph(pen, TYPE_SMALL, t->ink_soft, body, "What it keeps from HBM is not known for this launch.");
    return;
  }
  pen_fill(pen, box_at(body.x, body.y, body.width, fmax(1, round(pen->unit))), t->axis, 1);
  box_cut_top(&body, 8 * pen->unit, 0);
  const double small = pen_size(pen, TYPE_SMALL);
  const Box title = box_cut_top(&body, 2.7 * small, 6 * pen->unit);
  snprintf(words, sizeof words, "%s head%s:", number_count(heads).text, heads == 1 ? "" : "s");
  pen_text(pen, TYPE_SMALL, t->ink, true, ANCHOR_START, title.x, title.y + small, title.width, "Whole launch,");
  pen_text(pen, TYPE_SMALL, t->ink, true, ANCHOR_START, title.x, title.y + 2.35 * small, title.width, words);
  draw_figure(pen, &body, "asked of L2", number_bytes(l2->asked_read_bytes + l2->asked_write_bytes).text);
  draw_figure(pen, &body, "read from HBM", number_bytes(l2->hbm_read_bytes).text);
  draw_figure(pen, &body, "written to HBM", number_bytes(l2->hbm_write_bytes).text);
  if (body.height > 2.8 * pen_size(pen, TYPE_BODY)) draw_figure(pen, &body, "hits", number_percent(l2->hit_rate).text);
}

/* In the main scene: a gate that every lane passes through. */
static void draw_gate(const Pen *pen, Box box) {
  const double small = pen_size(pen, TYPE_SMALL), middle = box.x + box.width / 2;
  pen_fill(pen, box, pen->theme->panel, 1);
  pen_text(pen, TYPE_HEAD, pen->theme->ink, true, ANCHOR_MIDDLE, middle,
           box.y + 12 * pen->unit + pen_size(pen, TYPE_HEAD), 0, "L2");
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_MIDDLE, middle,
           box.y + 12 * pen->unit + pen_size(pen, TYPE_HEAD) + 1.6 * small, box.width,
           number_bytes(pen->now->l2.capacity_bytes).text);
  pen_region(pen, HIT_L2, TENSOR_Q, -1, -1, 0, box);
}

/* Between HBM and L2: as thick as the whole launch will make it, on the scale of what is asked of L2. */
static void draw_far_lane(const Pen *pen, Box box, const char *word, Wide bytes, Wide of, bool to_right) {
  const double body = pen_size(pen, TYPE_BODY), most = fmin(44 * pen->unit, box.height - 3.4 * body);
  Box label = box_cut_top(&box, 2.9 * body, 0);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_MIDDLE, label.x + label.width / 2, label.y + body,
           label.width, word);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_MIDDLE, label.x + label.width / 2, label.y + 2.3 * body,
           label.width, pen->now->l2.is_known ? number_bytes(bytes).text : "not known");
  const Box lane = box_at(box.x, box.y, box.width, fmin(box.height, fmax(most + 16 * pen->unit, 2.2 * body)));
  if (pen->now->l2.is_known) draw_arrow(pen, lane, fmax(2 * pen->unit, most * part_of(bytes, of)), to_right, false);
}

static void draw_far_link(const Pen *pen, Box box) {
  const SnapshotL2 *l2 = &pen->now->l2;
  const Wide most = l2->asked_read_bytes > l2->asked_write_bytes ? l2->asked_read_bytes : l2->asked_write_bytes;
  box_cut_top(&box, 8 * pen->unit, 0);
  const Box upper = box_cut_top(&box, box.height / 2, 0);
  draw_far_lane(pen, upper, "launch:", l2->hbm_read_bytes, most, true);
  draw_far_lane(pen, box, "launch:", l2->hbm_write_bytes, most, false);
}

/* ---- SRAM ------------------------------------------------------------------------------------------------ */

static void slot_words(const SnapshotSlot *s, char *text, size_t size) {
  if (!s->is_filled)
    snprintf(text, size, "empty");
  else if (s->i >= 0 && s->j >= 0)
    snprintf(text, size, "%s[%" PRId64 ",%" PRId64 "]", s->holds_P ? "P" : "S", s->i, s->j);
  else if (s->tensor == TENSOR_STATS)
    snprintf(text, size, "[%" PRId64 "]", s->i);
  else
    snprintf(text, size, "%s[%" PRId64 "]", tensor_name((Tensor)s->tensor), s->i >= 0 ? s->i : s->j);
}

/* The pointer is over the tile that lies here, or over one of its blocks. */
static bool is_hovered(const Pen *pen, const SnapshotSlot *s) {
  const SceneHit *hover = &pen->view->hover;
  if (!s->is_filled) return false;
  if (hover->kind == HIT_TENSOR)
    return hover->tensor == s->tensor && (hover->i >= 0 || hover->j >= 0) && hover->i == s->i && hover->j == s->j;
  return hover->kind == HIT_TILE && (s->i < 0 || s->i == hover->i) && (s->j < 0 || s->j == hover->j);
}

/* Bytes of a slot are left out (bytes_width 0) where there is no room. */
static void draw_slot(const Pen *pen, Box row, const SnapshotSlot *s, uint64_t largest, double words_width,
                      double bytes_width) {
  const Theme *t = pen->theme;
  char words[64];
  const Box whole = row;
  const double u = pen->unit, base = base_in(pen, row, TYPE_SMALL);
  const char *letter = s->tensor == TENSOR_P || s->tensor == TENSOR_S ? "S, P" : letter_of(s->tensor);
  const bool is_subject = pen_talks_of(pen, s->tensor) || s->is_touched;
  pen_text(pen, TYPE_BODY, pen_ink(pen, is_subject), true, ANCHOR_START, row.x, base_in(pen, row, TYPE_BODY), 0,
           letter);
  box_cut_left(&row, 2.9 * pen_size(pen, TYPE_SMALL), 0);
  const Box bytes = box_cut_right(&row, bytes_width, bytes_width > 0 ? 6 * u : 0);
  const Box words_box = box_cut_right(&row, words_width, 8 * u);
  const double pad = fmax(2, 0.2 * row.height);
  const Box bar = box_at(row.x, row.y + pad, fmax(3 * u, row.width * (double)s->slot_bytes / (double)largest),
                         row.height - 2 * pad);
  pen_fill(pen, bar, t->tile[TILE_COLOUR_WAITING], 1);
  const bool arrives = s->is_touched && pen->now->event.kind == EVENT_LOAD;
  const double part =
      fmin(1, s->slot_bytes ? (double)s->held_bytes / (double)s->slot_bytes : 0) * (arrives ? pen_happened(pen) : 1);
  const Colour held =
      s->is_touched ? t->tile[TILE_COLOUR_CURRENT] : theme_mix(t->tile[TILE_COLOUR_WAITING], t->axis, 0.55);
  if (s->is_filled)
    pen_fill(pen, box_at(bar.x, bar.y, bar.width * part, bar.height), pen_lit(pen, held, is_subject), 1);
  if (is_hovered(pen, s)) pen_frame(pen, bar, t->ink, 2);
  slot_words(s, words, sizeof words);
  pen_text(pen, TYPE_SMALL, s->is_filled ? pen_ink(pen, is_subject) : t->ink_soft, s->is_touched, ANCHOR_START,
           words_box.x, base, words_box.width, words);
  if (bytes_width > 0)
    pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_END, bytes.x + bytes.width, base, bytes.width + 6 * u,
             number_bytes(s->slot_bytes).text);
  pen_region(pen, HIT_SLOT, (Tensor)(s->tensor == TENSOR_P ? TENSOR_S : s->tensor), -1, -1, 0, whole);
}

static const char *short_letter(int tensor) {
  return tensor == TENSOR_STATS ? "m,l" : tensor == TENSOR_P ? "S" : tensor_name((Tensor)tensor);
}

/* "Q + K + V + S + O + m,l = 322 KiB > 192 KiB", or that it fits. */
static void capacity_words(const Snapshot *now, bool is_large, char *words, size_t size) {
  words[0] = '\0';
  for (int t = 0; t < TENSOR_COUNT && is_large; t++)
    if (now->slots[t].is_used)
      snprintf(words + strlen(words), size - strlen(words), "%s%s", *words ? " + " : "",
               t == TENSOR_S ? "S" : short_letter(t));
  if (is_large) snprintf(words + strlen(words), size - strlen(words), " = ");
  snprintf(words + strlen(words), size - strlen(words), "%s ", number_bytes(now->sram_bytes).text);
  snprintf(words + strlen(words), size - strlen(words), "%s %s", now->fits ? "of" : ">",
           number_bytes(now->sram_capacity_bytes).text);
}

/* All slots side by side, to scale against the capacity. */
static void draw_capacity(const Pen *pen, Box box, bool is_large) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  char words[3 * NUMBER_CHARS];
  const double scale =
      (double)(now->sram_bytes > now->sram_capacity_bytes ? now->sram_bytes : now->sram_capacity_bytes);
  const Box bar = box_at(box.x, box.y + 4 * u, box.width, is_large ? 1.35 * small : 12 * u);
  const double capacity = bar.width * (double)now->sram_capacity_bytes / scale;
  pen_fill(pen, box_at(bar.x, bar.y, capacity, bar.height), t->tile[TILE_COLOUR_WAITING], 1);
  uint64_t before = 0;
  for (int k = 0; k < TENSOR_COUNT; k++) {
    const SnapshotSlot *s = &now->slots[k];
    if (!s->is_used) continue;
    const double left = floor(bar.width * (double)before / scale),
                 right = floor(bar.width * (double)(before += s->slot_bytes) / scale);
    const Colour fill = !now->fits                              ? t->bad
                        : s->is_touched && !pen->view->undimmed ? t->tile[TILE_COLOUR_CURRENT]
                                                                : t->tile[TILE_COLOUR_DONE];
    const Box part =
        box_at(bar.x + left, bar.y,
               fmax(k == TENSOR_Q ? 2 : 0, right - left - (right - left > 6 ? fmax(1, round(u)) : 0)), bar.height);
    pen_fill(pen, part, fill, 1);
    const char *letter = short_letter(s->tensor);
    if (is_large && part.width > pen_text_width(pen, TYPE_SMALL, true, letter) + 4 * u)
      pen_text(pen, TYPE_SMALL, theme_on(fill), true, ANCHOR_MIDDLE, part.x + part.width / 2,
               base_in(pen, part, TYPE_SMALL), 0, letter);
  }
  pen_fill(pen, box_at(bar.x + capacity - 2 * u, bar.y - 4 * u, 2 * u, bar.height + 8 * u), t->ink, 1);
  capacity_words(now, is_large, words, sizeof words);
  pen_text(pen, TYPE_SMALL, now->fits ? t->ink_soft : t->bad, !now->fits, ANCHOR_START, box.x,
           bar.y + bar.height + 6 * u + small, box.width, words);
  if (!is_large || pen->view->presentation) return;
  snprintf(words, sizeof words, "registers, in fp32: %s", number_bytes(now->register_bytes).text);
  if (now->register_capacity_bytes)
    snprintf(words + strlen(words), sizeof words - strlen(words), " of %s",
             number_bytes(now->register_capacity_bytes).text);
  pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, box.x, bar.y + bar.height + 6 * u + 2.5 * small,
           box.width, words);
}

/* SRAM, and below a line what fast kernels keep in registers; the papers count both as SRAM. */
static void draw_sram(const Pen *pen, Box box, bool is_large) {
  const Snapshot *now = pen->now;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  Box body = pen_panel(pen, box, "SRAM", is_large ? "and registers" : NULL);
  uint64_t largest = 1;
  int n = 0;
  bool is_parted = false;
  char widest[64]; /* block there may be */
  snprintf(widest, sizeof widest, "S[%" PRId64 ",%" PRId64 "]", now->grid.T_r - 1, now->grid.T_c - 1);
  const double words_width = fmax(pen_text_width(pen, TYPE_SMALL, true, widest), 3.6 * small) + 4 * u;
  const double bytes_width = body.width > words_width + 9.6 * small + 14 * u ? 4.6 * small : 0;
  for (int t = 0; t < TENSOR_COUNT; t++) {
    if (!now->slots[t].is_used) continue;
    n++;
    if (now->slots[t].slot_bytes > largest) largest = now->slots[t].slot_bytes;
  }
  const double lines = is_large && !pen->view->presentation ? 2.8 : 1.3, bar = is_large ? 1.35 * small : 12 * u;
  const Box capacity = box_cut_bottom(&body, 10 * u + bar + lines * small, 6 * u);
  const double label = 1.35 * small, height = fmin((body.height - label) / (n ? n : 1), 54 * u);
  for (int t = 0; t < TENSOR_COUNT; t++) {
    if (!now->slots[t].is_used) continue;
    if (now->slots[t].in_registers && !is_parted) {
      const Box line = box_cut_top(&body, label, 0);
      const double width = pen_text_width(pen, TYPE_SMALL, false, "in registers") + 8 * u;
      pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, line.x, line.y + 0.95 * small, 0,
               "in registers");
      pen_fill(pen, box_at(line.x + width, line.y + 0.6 * small, line.width - width, fmax(1, round(u))),
               pen->theme->axis, 1);
      is_parted = true;
    }
    draw_slot(pen, box_cut_top(&body, height, 0), &now->slots[t], largest, words_width, bytes_width);
  }
  draw_capacity(pen, capacity, is_large);
}

/* ---- Together -------------------------------------------------------------------------------------------- */

void draw_hierarchy(const Pen *pen, Box box, bool is_large) {
  const double gap = 14 * pen->unit, whole = box.width;
  if (pen->now->l2.capacity_bytes == 0) {
    draw_hbm(pen, box_cut_left(&box, (is_large ? 0.42 : 0.45) * whole, gap));
    draw_sram(pen, box_cut_right(&box, (is_large ? 0.4 : 0.38) * whole, gap), is_large);
    draw_link(pen, box);
    return;
  }
  draw_hbm(pen, box_cut_left(&box, (is_large ? 0.3 : 0.35) * whole, is_large ? 0.6 * gap : 0));
  draw_sram(pen, box_cut_right(&box, (is_large ? 0.34 : 0.36) * whole, 0.6 * gap), is_large);
  if (is_large) {
    draw_far_link(pen, box_cut_left(&box, 0.08 * whole, 0.6 * gap));
    draw_l2(pen, box_cut_left(&box, 0.145 * whole, 0.6 * gap));
  } else {
    Box gate = box_cut_left(&box, 0.11 * whole, 0.6 * gap);
    box_cut_left(&gate, fmax(2, round(3 * pen->unit)), 0);
    draw_gate(pen, gate);
  }
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
    snprintf(words, sizeof words, "%s moves %s as much", other,
             number_ratio_of(run->total_bytes, now->whole_bytes).text);
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
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, label.x,
           label.y + 1.2 * pen_size(pen, TYPE_SMALL), label.width,
           "The race: how far each algorithm gets with the bytes moved so far");
  draw_race(pen, race, true);
}
