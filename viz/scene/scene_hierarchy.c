/* HBM, L2 where there is one, SRAM with registers, and the links between them: what lies where, what is on its way, and
 * how much has crossed. */
#include <math.h>
#include <stdio.h>

#include "viz/scene/hierarchy_view.h"
#include "viz/text/number.h"

/* A block on its way, in the lane of its link: a chip of one size with its name. What does not come from L2 goes
 * through the far lane first. */
static void draw_chip(const Pen *pen, const Places *places, int tensor, bool is_load, bool from_l2) {
  const Box *far_link = &places->far_link[!is_load];
  const bool is_far = is_load && !from_l2 && far_link->width > 0;
  const double part = pen_happened(pen), done = is_far ? fmod(2 * part, 1) : part;
  const Box lane = is_far && part < 0.5 ? *far_link : places->link[!is_load];
  char room[sizeof pen->now->schedule->tensors[tensor].title];
  const char *name = pen_name_without(pen, tensor, " ", room);
  const double height = fmin(lane.height, 1.5 * pen_size(pen, TYPE_BODY)),
               width = fmin(0.6 * lane.width, fmax(height, pen_text_width(pen, TYPE_BODY, true, name) + 0.5 * height)),
               way = lane.width - width, y = lane.y + (lane.height - height) / 2;
  const Box start = box_at(lane.x + (is_load ? 0 : way), y, width, height);
  pen_body(pen, BODY_HOME, tensor, start, 1);
  pen_tile(pen, tensor, box_between(start, box_at(lane.x + (is_load ? way : 0), y, width, height), done),
           pen->theme->tile[TILE_COLOUR_CURRENT], 1);
}

/* What an event moves: on its way, and then where it has come to. */
static void draw_travel(const Pen *pen, const Places *places) {
  const Snapshot *now = pen->now;
  const Event *e = &now->event;
  if (!now->has_event || !event_moves(e->kind)) return;
  const bool is_load = e->kind == EVENT_LOAD, from_l2 = places->l2.width > 0 && snapshot_was_loaded(now, e);
  const Box home = hierarchy_block(pen, places, e->tensor, e->row0, e->row1, e->col0, e->col1);
  for (int k = 0; k < now->schedule->n_values; k++) {
    const SnapshotSlot *s = &now->slots[k];
    if (!s->is_touched || s->tensor != e->tensor || places->slot[k].width <= 0) continue;
    const Box end = is_load ? places->slot[k] : home;
    if (pen_passing(pen) > 0) draw_chip(pen, places, e->tensor, is_load, from_l2);
    if (!is_load && places->home[e->tensor].width <= 0) continue; /* HBM is left out */
    if (pen_passing(pen) <= 0) pen_tile(pen, e->tensor, end, pen->theme->tile[TILE_COLOUR_CURRENT], 1);
    pen_body(pen, BODY_HOME, e->tensor, end, 1);
  }
}

static int slot_of(const Snapshot *now, int tensor) {
  for (int k = 0; k < now->schedule->n_values; k++)
    if (now->slots[k].is_filled && now->slots[k].tensor == tensor) return k;
  return -1;
}

/* A tile of weights flows from its place to that of what the product makes. */
static void draw_flow(const Pen *pen, const Places *places) {
  const Snapshot *now = pen->now;
  if (now->event.kind != EVENT_ACCUMULATE || pen_passing(pen) <= 0) return;
  int tile = snapshot_subject(now, &now->event, LIES_BY_TILES, true);
  if (tile < 0) tile = snapshot_subject(now, &now->event, LIES_BY_TILES, false);
  const int from = tile < 0 ? -1 : slot_of(now, tile), to = slot_of(now, now->event.tensor);
  if (from < 0 || to < 0 || to == from || places->slot[from].width <= 0) return;
  pen_tile(pen, tile, box_between(places->slot[from], places->slot[to], pen_happened(pen)),
           pen->theme->tile[TILE_COLOUR_CURRENT], fmin(1, 4 * (1 - pen->view->phase)));
}

/* Whether the body of the loop that a tile is skipped in loads it. */
static bool is_spared(const Snapshot *now, int tensor) {
  const Schedule *s = now->schedule;
  for (int op = now->event.op + 1; op < s->ops[now->event.op].end; op++)
    for (int k = 0; k < s->ops[op].n_moved; k++)
      if (s->ops[op].kind == OP_EVENT && s->ops[op].event == EVENT_LOAD &&
          s->names[s->ops[op].moved[k]].tensor == tensor)
        return true;
  return false;
}

/* Blocks that a skipped tile would have needed: struck out where they lie. */
static void draw_strike(const Pen *pen, const Places *places) {
  const Snapshot *now = pen->now;
  const SnapshotGrid *g = &now->grid;
  if (!now->has_event || now->event.kind != EVENT_SKIP || now->skips.n <= 0) return;
  const double thick = fmax(2, round(3 * pen->unit));
  for (int t = 0; t < now->schedule->n_values; t++) {
    const Box home = places->home[t];
    const bool is_meant = snapshot_lies(now, t) == (g->column_by_column ? LIES_BY_ROWS : LIES_BY_KEYS) &&
                          !is_stats(now, t) && is_spared(now, t);
    if (!is_meant || home.width <= 0) continue;
    const double n = g->column_by_column ? (double)g->T_r : (double)g->T_c, each = home.height / n;
    const double waiting = 1 - pen_happened(pen); /* part of the present one */
    const bool back = now->skips.goes_back;
    const double y = home.y + each * ((double)now->skips.first + (back ? waiting : 0)),
                 end = fmin(home.y + home.height,
                            home.y + each * ((double)(now->skips.first + now->skips.n) - (back ? 0 : waiting)));
    const Box line = box_at(home.x + home.width / 2 - thick / 2, y, thick, fmax(1, end - y));
    pen_fill(pen, line, pen->theme->tile[TILE_COLOUR_CURRENT], 1);
    const Box head = box_at(line.x - thick, (back ? y : end) - 1.5 * thick, 3 * thick, 3 * thick);
    pen_body(pen, BODY_LINE, t, head, 1);
    pen_fill(pen, head, pen->theme->tile[TILE_COLOUR_CURRENT], 1);
    pen_frame(pen, head, pen->theme->ink, 1);
  }
}

static void draw_motion(const Pen *pen, const Places *places) {
  for (int k = 0; k < pen->now->schedule->n_values; k++) {
    const SnapshotSlot *s = &pen->now->slots[k];
    if (places->slot[k].width <= 0) continue;
    hierarchy_draw_work(pen, places->slot[k], s);
    if (s->is_filled && is_by_tiles(pen->now, s->tensor)) pen_body(pen, BODY_HOME, s->tensor, places->slot[k], 1);
  }
  draw_strike(pen, places);
  draw_flow(pen, places);
  draw_travel(pen, places);
}

/* ---- Together -------------------------------------------------------------------------------------------- */

void draw_hierarchy(const Pen *pen, Box box, bool is_large) {
  const double gap = 14 * pen->unit, whole = box.width;
  Places places = {0};
  if (pen->now->l2.capacity_bytes == 0) {
    const double least = 6.4 * pen_size(pen, TYPE_SMALL), link = fmax(0.12 * whole, least);
    double sram = (is_large ? 0.44 : 0.4) * (whole - link - 2 * gap);
    if (is_large || sram >= least)
      hierarchy_draw_hbm(pen, box_cut_left(&box, whole - link - 2 * gap - sram, gap), is_large, &places);
    else
      sram = whole - link - gap; /* too narrow for both: what is at work stays, HBM is left out */
    hierarchy_draw_sram(pen, box_cut_right(&box, sram, gap), is_large, &places);
    hierarchy_draw_link(pen, box, &places);
    draw_motion(pen, &places);
    return;
  }
  hierarchy_draw_hbm(pen, box_cut_left(&box, (is_large ? 0.34 : 0.37) * whole, is_large ? 0.6 * gap : 0), is_large,
                     &places);
  hierarchy_draw_sram(pen, box_cut_right(&box, (is_large ? 0.31 : 0.35) * whole, 0.6 * gap), is_large, &places);
  if (is_large && !pen->view->presentation) {
    hierarchy_draw_far_link(pen, box_cut_left(&box, 0.075 * whole, 0.6 * gap), &places);
    places.l2 = box_cut_left(&box, 0.145 * whole, 0.6 * gap);
    hierarchy_draw_l2(pen, places.l2);
  } else {
    Box gate = box_cut_left(&box, 0.11 * whole, 0.6 * gap);
    box_cut_left(&gate, fmax(2, round(3 * pen->unit)), 0);
    places.l2 = gate;
    hierarchy_draw_gate(pen, gate);
  }
  hierarchy_draw_link(pen, box, &places);
  draw_motion(pen, &places);
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
  double end = x;
  if (x + pen_text_width(pen, TYPE_HEAD, false, words) <= box.x + box.width) {
    pen_text(pen, TYPE_HEAD, t->ink_soft, false, ANCHOR_START, x, base, 0, words);
    end += pen_text_width(pen, TYPE_HEAD, false, words) + 14 * pen->unit;
  }
  const SnapshotRun *other = snapshot_most_unlike(now);
  if (!other) return;
  snprintf(words, sizeof words, "%s moves %s as much", other->schedule->name,
           number_ratio_of(other->total_bytes, snapshot_own_run(now)->total_bytes).text);
  if (end + pen_text_width(pen, TYPE_HEAD, true, words) <= box.x + box.width)
    pen_text(pen, TYPE_HEAD, t->ink, true, ANCHOR_END, box.x + box.width, base, 0, words);
}

static void draw(const Pen *pen) {
  Box body = pen_page(pen, pen->now->schedule->title);
  const Box head = box_cut_top(&body, 1.35 * pen_size(pen, TYPE_NUMBER), 6 * pen->unit);
  draw_headline(pen, head);
  draw_hierarchy(pen, body, !pen->is_tall);
}

const Scene HIERARCHY_SCENE = {.title = "What crosses between HBM and SRAM", .key = '3', .draw = draw};
