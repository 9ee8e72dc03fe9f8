/* SRAM with registers: a bar for each place, and how much of the whole they take. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/hierarchy_view.h"
#include "viz/text/number.h"

static void slot_words(const Snapshot *now, const SnapshotSlot *s, char *text, size_t size) {
  const ProgramTensor *t = &now->schedule->tensors[s->tensor];
  const char *name = t->is_stats ? "" : t->text;
  if (!s->is_filled)
    snprintf(text, size, "empty");
  else if (s->i >= 0 && s->j >= 0)
    snprintf(text, size, "%s[%" PRId64 ",%" PRId64 "]", name, s->i, s->j);
  else if (s->i >= 0 || s->j >= 0)
    snprintf(text, size, "%s[%" PRId64 "]", name, s->i >= 0 ? s->i : s->j);
  else
    snprintf(text, size, "%s", name);
}

/* The pointer is over the tile that lies here, or over one of its blocks. */
static bool is_hovered(const Pen *pen, const SnapshotSlot *s) {
  const SceneHit *hover = &pen->view->hover;
  if (!s->is_filled) return false;
  if (hover->kind == HIT_TENSOR)
    return hover->tensor == s->tensor && (hover->i >= 0 || hover->j >= 0) && hover->i == s->i && hover->j == s->j;
  return hover->kind == HIT_TILE && (s->i < 0 || s->i == hover->i) && (s->j < 0 || s->j == hover->j);
}

/* What lies in a place on chip, as far as the present event has got with it. */
static void fill_slot(const Pen *pen, Box bar, const SnapshotSlot *s) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const SnapshotSlot *old = &now->before.slots[s - now->slots];
  const int kind = now->event.kind;
  const Colour orange = t->tile[TILE_COLOUR_CURRENT];
  const double part = fmin(1, s->slot_bytes ? (double)s->held_bytes / (double)s->slot_bytes : 0),
               happened = pen_happened(pen), phase = pen->view->phase, fading = phase > 0 && phase < 1 ? 1 - phase : 0;
  const bool is_other =
      old->is_filled && (!s->is_filled || old->tensor != s->tensor || old->i != s->i || old->j != s->j);
  const bool had_left = event_goes_out(now->before.event.kind) && now->before.event.tensor == old->tensor;
  if (is_other && !had_left) pen_fill(pen, bar, t->tile[TILE_COLOUR_HELD], fading);
  if (!s->is_filled) return;
  const Box held = box_at(bar.x, bar.y, bar.width * part, bar.height);
  const bool is_moved = s->is_touched && event_moves(kind) && now->event.tensor == s->tensor;
  if (is_moved) { /* as far as it has come, or gone */
    pen_fill(pen, box_at(held.x, held.y, held.width * (kind == EVENT_LOAD ? happened : 1 - happened), held.height),
             orange, 1);
    return;
  }
  const Colour colour = t->tile[pen_on_chip(pen, s->is_touched)];
  if (s->is_touched && kind == EVENT_PRODUCT && is_by_tiles(now, s->tensor)) {
    pen_fill(pen, box_at(held.x, held.y, held.width * happened, held.height), colour, 1);
    return;
  }
  pen_fill(pen, held, colour, 1);
}

/* An edge goes over what the event works on; weights that go into a product flow instead. */
void hierarchy_draw_work(const Pen *pen, Box bar, const SnapshotSlot *s) {
  const Event *e = &pen->now->event;
  if (!s->is_filled || !pen->now->has_event || e->bytes > 0) return;
  if (!(snapshot_subjects(pen->now, e) >> s->tensor & 1)) return;
  if (e->kind == EVENT_ACCUMULATE && is_by_tiles(pen->now, s->tensor)) return;
  pen_edge(pen, s->tensor, box_inset(bar, -pen->unit), true, pen_happened(pen), pen_passing(pen));
}

/* All that takes a place: "S, P". */
static void place_title(const Snapshot *now, int slot, char *text, size_t size) {
  const Schedule *s = now->schedule;
  uint64_t named = (uint64_t)1 << slot;
  snprintf(text, size, "%s", s->tensors[slot].title);
  for (int n = 0; n < s->n_names; n++) {
    const int place = sram_place(s, s->ops[now->event.op].kernel, n), t = s->names[n].tensor;
    if (place < 0 || s->names[place].tensor != slot || (named >> t & 1)) continue;
    named |= (uint64_t)1 << t;
    snprintf(text + strlen(text), size - strlen(text), ", %s", s->tensors[t].title);
  }
}

enum { BAR_LEAST = 24 }; /* units */

/* Bytes of a slot are left out (bytes_width 0) where there is no room. */
static void draw_slot(const Pen *pen, Box row, const SnapshotSlot *s, uint64_t largest, double title_width,
                      double words_width, double bytes_width, Places *places) {
  const Theme *t = pen->theme;
  char words[64], title[64];
  const Box whole = row;
  const int slot = (int)(s - pen->now->slots);
  const double u = pen->unit, base = base_in(pen, row, TYPE_SMALL);
  place_title(pen->now, slot, title, sizeof title);
  const bool is_subject = pen_talks_of(pen, s->tensor) || s->is_touched;
  const bool has_room =
      row.height > 1.2 * pen_size(pen, TYPE_BODY) && pen_text_width(pen, TYPE_BODY, true, title) < title_width - 2 * u;
  const TypeSize type = has_room ? TYPE_BODY : TYPE_SMALL;
  pen_text(pen, type, pen_ink(pen, is_subject), true, ANCHOR_START, row.x, base_in(pen, row, type), title_width - 2 * u,
           title);
  box_cut_left(&row, title_width, 0);
  if (words_width + 20 * u > row.width) words_width = 0; /* no room for words: the bar alone */
  const Box bytes = box_cut_right(&row, bytes_width, bytes_width > 0 ? 6 * u : 0);
  const Box words_box = box_cut_right(&row, words_width, 8 * u);
  const double pad = fmax(2, 0.2 * row.height);
  const Box bar = box_at(row.x, row.y + pad, fmax(3 * u, row.width * (double)s->slot_bytes / (double)largest),
                         row.height - 2 * pad);
  pen_state(pen, bar, TILE_COLOUR_EMPTY);
  fill_slot(pen, bar, s);
  places->slot[slot] = bar;
  if (is_hovered(pen, s)) pen_frame(pen, bar, t->ink, 2);
  slot_words(pen->now, s, words, sizeof words);
  if (words_width > 0)
    pen_text(pen, TYPE_SMALL, s->is_filled ? pen_ink(pen, is_subject) : t->ink_soft, s->is_touched, ANCHOR_START,
             words_box.x, base, words_box.width, words);
  if (bytes_width > 0)
    pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_END, bytes.x + bytes.width, base, bytes.width + 6 * u,
             number_bytes(s->slot_bytes).text);
  pen_region(pen, HIT_SLOT, slot, -1, -1, 0, whole);
}

static bool is_place(const Snapshot *now, int tensor) { return now->slots[tensor].is_used; }

static bool is_in_sram(const Snapshot *now, int tensor) { return now->slots[tensor].sram_bytes > 0; }

/* "Q + K + V + S + O + m,l = 322 KiB > 192 KiB", or that it fits. */
static void capacity_words(const Pen *pen, bool is_large, char *words, size_t size) {
  const Snapshot *now = pen->now;
  int places[VALUES_MAX];
  char name[sizeof now->schedule->tensors[0].title];
  const int n = is_large ? snapshot_values(now, is_in_sram, places) : 0;
  words[0] = '\0';
  for (int k = 0; k < n; k++)
    snprintf(words + strlen(words), size - strlen(words), "%s%s", k ? " + " : "",
             pen_name_without(pen, places[k], " ", name));
  if (is_large) snprintf(words + strlen(words), size - strlen(words), " = ");
  snprintf(words + strlen(words), size - strlen(words), "%s ", number_bytes(now->sram_bytes).text);
  snprintf(words + strlen(words), size - strlen(words), "%s %s",
           now->fits || now->sram_bytes <= now->sram_capacity_bytes ? "of" : ">",
           number_bytes(now->sram_capacity_bytes).text);
}

/* All slots side by side, to scale against the capacity. */
static void draw_capacity(const Pen *pen, Box box, bool is_large) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  char words[3 * NUMBER_CHARS + 160], name[sizeof now->schedule->tensors[0].title];
  int slots[VALUES_MAX];
  const int n_slots = snapshot_values(now, is_in_sram, slots);
  const double scale =
      (double)(now->sram_bytes > now->sram_capacity_bytes ? now->sram_bytes : now->sram_capacity_bytes);
  const Box bar = box_at(box.x, box.y + 4 * u, box.width, is_large ? 1.35 * small : 12 * u);
  const double capacity = bar.width * (double)now->sram_capacity_bytes / scale;
  pen_state(pen, box_at(bar.x, bar.y, capacity, bar.height), TILE_COLOUR_EMPTY);
  uint64_t before = 0;
  for (int k = 0; k < n_slots; k++) {
    const SnapshotSlot *s = &now->slots[slots[k]];
    const double left = floor(bar.width * (double)before / scale),
                 right = floor(bar.width * (double)(before += s->sram_bytes) / scale);
    const TileColour state = !s->is_filled                           ? TILE_COLOUR_EMPTY
                             : s->is_touched && !pen->view->undimmed ? TILE_COLOUR_CURRENT
                                                                     : TILE_COLOUR_HELD;
    const Colour fill = now->fits ? t->tile[state] : t->bad;
    const Box part =
        box_at(bar.x + left, bar.y, fmax(k == 0 ? 2 : 0, right - left - (right - left > 6 ? fmax(1, round(u)) : 0)),
               bar.height);
    pen_state(pen, part, state);
    if (!now->fits) pen_fill(pen, part, fill, 1);
    const char *letter = pen_name_without(pen, slots[k], " ", name);
    const double room = pen_text_width(pen, TYPE_SMALL, true, letter) + 4 * u;
    const bool is_crossed = fabs(part.x + part.width / 2 - bar.x - capacity) < room / 2 + 2 * u; /* by the mark */
    if (is_large && part.width > room && !is_crossed)
      pen_text(pen, TYPE_SMALL, theme_on(fill), true, ANCHOR_MIDDLE, part.x + part.width / 2,
               base_in(pen, part, TYPE_SMALL), 0, letter);
  }
  pen_fill(pen, box_at(bar.x + capacity - 2 * u, bar.y - 4 * u, 2 * u, bar.height + 8 * u), t->ink, 1);
  capacity_words(pen, is_large, words, sizeof words);
  if (is_large && pen_text_width(pen, TYPE_SMALL, !now->fits, words) > box.width)
    capacity_words(pen, false, words, sizeof words);
  if (pen_text_width(pen, TYPE_SMALL, !now->fits, words) > box.width) /* the room asked for alone */
    snprintf(words, sizeof words, "%s", number_bytes(now->sram_bytes).text);
  if (pen_text_width(pen, TYPE_SMALL, !now->fits, words) <= box.width)
    pen_text(pen, TYPE_SMALL, now->fits ? t->ink_soft : t->bad, !now->fits, ANCHOR_START, box.x,
             bar.y + bar.height + 6 * u + small, 0, words);
  if (!is_large || pen->view->presentation) return;
  snprintf(words, sizeof words, "registers, in fp32: %s", number_bytes(now->register_bytes).text);
  if (now->register_capacity_bytes)
    snprintf(words + strlen(words), sizeof words - strlen(words), " of %s",
             number_bytes(now->register_capacity_bytes).text);
  pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, box.x, bar.y + bar.height + 6 * u + 2.5 * small,
           box.width, words);
}

/* SRAM, and below a line what fast kernels keep in registers; the papers count both as SRAM. */
void hierarchy_draw_sram(const Pen *pen, Box box, bool is_large, Places *places) {
  const Snapshot *now = pen->now;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  Box body = pen_panel(pen, box, "SRAM", is_large ? pen_fitting(pen, box.width / 2, "and registers", "") : NULL);
  uint64_t largest = 1;
  int slots[VALUES_MAX];
  const int n = snapshot_values(now, is_place, slots);
  bool is_parted = false;
  double title_width = 2.9 * small;
  char widest[64]; /* block there may be */
  snprintf(widest, sizeof widest, "S[%" PRId64 ",%" PRId64 "]", now->grid.T_r - 1, now->grid.T_c - 1);
  const double words_width = fmax(pen_text_width(pen, TYPE_SMALL, true, widest), 3.6 * small) + 4 * u;
  const double bytes_width = body.width > words_width + 9.6 * small + 14 * u ? 4.6 * small : 0;
  for (int k = 0; k < n; k++) {
    char title[64];
    if (now->slots[slots[k]].slot_bytes > largest) largest = now->slots[slots[k]].slot_bytes;
    place_title(now, slots[k], title, sizeof title);
    if (strlen(title) > 4) title_width = fmax(title_width, pen_text_width(pen, TYPE_BODY, true, title) + 4 * u);
  }
  /* names that are too long leave the bar its room, and are cut */
  const double beside = words_width + bytes_width + 14 * u + BAR_LEAST * u;
  title_width = fmin(title_width, fmax(2.9 * small, body.width - beside));
  const double lines = is_large && !pen->view->presentation ? 2.8 : 1.3, bar = is_large ? 1.35 * small : 12 * u;
  const Box capacity = box_cut_bottom(&body, 10 * u + bar + lines * small, 6 * u);
  const double label = 1.35 * small;
  int columns = 1; /* more where rows would be lower than their names */
  while (columns < 3 && (body.height - label) / ceil((double)n / columns) < 1.02 * small) columns++;
  const int per_column = columns > 1 ? (n + columns - 1) / columns : n;
  const double height = fmin((body.height - (columns > 1 ? 0 : label)) / (per_column ? per_column : 1), 54 * u);
  if (columns > 1) {
    const double width = (body.width - (columns - 1) * 8 * u) / columns;
    for (int k = 0; k < n; k++)
      draw_slot(pen, box_at(body.x + k / per_column * (width + 8 * u), body.y + k % per_column * height, width, height),
                &now->slots[slots[k]], largest, title_width, 0, 0, places);
    draw_capacity(pen, capacity, is_large);
    return;
  }
  for (int k = 0; k < n; k++) {
    const int t = slots[k];
    if (now->slots[t].in_registers && !is_parted) {
      const Box line = box_cut_top(&body, label, 0);
      const char *words = pen_fitting(pen, line.width, "in registers", "");
      const double width = *words ? pen_text_width(pen, TYPE_SMALL, false, words) + 8 * u : 0;
      pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, line.x, line.y + 0.95 * small, 0, words);
      pen_fill(pen, box_at(line.x + width, line.y + 0.6 * small, fmax(0, line.width - width), fmax(1, round(u))),
               pen->theme->axis, 1);
      is_parted = true;
    }
    draw_slot(pen, box_cut_top(&body, height, 0), &now->slots[t], largest, title_width, words_width, bytes_width,
              places);
  }
  draw_capacity(pen, capacity, is_large);
}
