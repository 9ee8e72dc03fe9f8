/* The links between HBM, L2 and SRAM, and L2. */
#include <math.h>
#include <stdio.h>

#include "viz/scene/hierarchy_view.h"
#include "viz/text/number.h"

static void draw_arrow(const Pen *pen, Box lane, double thickness, bool to_right, bool active) {
  const Theme *t = pen->theme;
  const Colour colour =
      active ? theme_mix(t->background, t->tile[TILE_COLOUR_CURRENT], 0.55) : theme_mix(t->background, t->axis, 0.55);
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

/* "4.8 TB/s", or nothing. */
static const char *rate_words(double bytes_per_s, char *text, size_t size) {
  if (!(bytes_per_s > 0))
    text[0] = '\0';
  else
    snprintf(text, size, bytes_per_s >= 1e13 ? "%.0f TB/s" : "%.1f TB/s", bytes_per_s / 1e12);
  return text;
}

/* Bytes so far over an arrow as wide as the link is fast, on the scale of the fastest; `part` where no rate is known.
 * Returns where the arrow lies. */
static Box draw_lane(const Pen *pen, Box box, const char *word, const char *number, bool strong, double part,
                     double bytes_per_s, bool to_right, bool active) {
  const Snapshot *now = pen->now;
  char rate[32];
  pen_part(pen, to_right ? "link-read" : "link-written", box);
  const double body = pen_size(pen, TYPE_BODY), small = pen_size(pen, TYPE_SMALL),
               fastest = fmax(now->gpu.l2_bytes_per_s, gpu_hbm_bytes_per_s(&now->gpu));
  const bool has_rate = bytes_per_s > 0 && fastest > 0 && *rate_words(bytes_per_s, rate, sizeof rate) &&
                        box.height > 3.4 * body + 3.6 * small &&
                        pen_text_width(pen, TYPE_SMALL, false, rate) <= box.width;
  const double most =
      fmin(44 * pen->unit, box.height - (has_rate ? 2.9 * body + 16 * pen->unit + 2.1 * small : 3.4 * body));
  Box label = box_cut_top(&box, 2.9 * body, 0);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_MIDDLE, label.x + label.width / 2, label.y + body,
           label.width, word);
  const TypeSize type = pen_text_width(pen, TYPE_BODY, true, number) > label.width ? TYPE_SMALL : TYPE_BODY;
  if (pen_text_width(pen, type, strong, number) <= label.width)
    pen_text(pen, type, strong ? pen->theme->ink : pen->theme->ink_soft, strong, ANCHOR_MIDDLE,
             label.x + label.width / 2, label.y + 2.3 * body, label.width, number);
  if (has_rate) part = bytes_per_s / fastest;
  const Box lane = box_at(box.x, box.y, box.width, fmin(box.height, fmax(most + 16 * pen->unit, 1.4 * body)));
  if (part >= 0 && lane.height > 4) draw_arrow(pen, lane, fmax(2 * pen->unit, most * part), to_right, active);
  if (has_rate)
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_MIDDLE, box.x + box.width / 2,
             lane.y + lane.height + 1.05 * small, 0, rate);
  return lane;
}

void hierarchy_draw_link(const Pen *pen, Box box, Places *places) {
  const Snapshot *now = pen->now;
  bool overflow = false;
  const Wide read = traffic_read_bytes(&now->whole, &overflow), written = traffic_write_bytes(&now->whole, &overflow);
  const Wide most = read > written ? read : written;
  const double rate = now->l2.capacity_bytes ? now->gpu.l2_bytes_per_s : gpu_hbm_bytes_per_s(&now->gpu);
  box_cut_top(&box, 8 * pen->unit, 0);
  const Box upper = box_cut_top(&box, box.height / 2, 0);
  places->link[0] =
      draw_lane(pen, upper, "read", number_bytes(now->read_bytes).text, true, part_of(now->read_bytes, most), rate,
                true, now->has_event && now->event.kind == EVENT_LOAD);
  places->link[1] =
      draw_lane(pen, box, "written", number_bytes(now->write_bytes).text, true, part_of(now->write_bytes, most), rate,
                false, now->has_event && event_goes_out(now->event.kind));
}

/* ---- L2 -------------------------------------------------------------------------------------------------- */

static void draw_figure(const Pen *pen, Box *box, const char *label, const char *value) {
  const double small = pen_size(pen, TYPE_SMALL), body = pen_size(pen, TYPE_BODY);
  const Box row = box_cut_top(box, 1.45 * small + 1.3 * body, fmin(8 * pen->unit, 0.02 * box->height));
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, row.x, row.y + small, row.width, label);
  pen_text(pen, TYPE_BODY, pen->theme->ink, true, ANCHOR_START, row.x, row.y + 1.4 * small + body, row.width, value);
}

/* All that crosses the SRAM boundary goes through L2; what it keeps from HBM is known of the whole launch. */
void hierarchy_draw_l2(const Pen *pen, Box box) {
  const Snapshot *now = pen->now;
  const SnapshotL2 *l2 = &now->l2;
  const Theme *t = pen->theme;
  const Wide heads = wide(now->launched.batch) * wide(now->launched.heads);
  char words[NUMBER_CHARS + 32];
  Box body = pen_panel(pen, box, "L2", number_bytes(l2->capacity_bytes).text);
  pen_region(pen, HIT_L2, 0, -1, -1, 0, box);
  draw_figure(pen, &body, "through it so far", number_bytes(now->total_bytes).text);
  if (!l2->is_known) {
    pen_paragraph(pen, TYPE_SMALL, t->ink_soft, body,
                  l2->is_awaited ? "What it keeps from HBM is being worked out."
                                 : "What it keeps from HBM is not known for this launch.");
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
  if (body.height > 2.8 * pen_size(pen, TYPE_BODY))
    draw_figure(pen, &body, "hits", number_percent(fmax(0, l2->hit_rate)).text);
}

/* In the main scene: a gate that every lane passes through. */
void hierarchy_draw_gate(const Pen *pen, Box box) {
  const double small = pen_size(pen, TYPE_SMALL), middle = box.x + box.width / 2;
  pen_fill(pen, box, pen->theme->panel, 1);
  pen_text(pen, TYPE_HEAD, pen->theme->ink, true, ANCHOR_MIDDLE, middle,
           box.y + 12 * pen->unit + pen_size(pen, TYPE_HEAD), 0, "L2");
  const Number size = number_bytes(pen->now->l2.capacity_bytes);
  if (pen_text_width(pen, TYPE_SMALL, false, size.text) <= box.width)
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_MIDDLE, middle,
             box.y + 12 * pen->unit + pen_size(pen, TYPE_HEAD) + 1.6 * small, 0, size.text);
  pen_region(pen, HIT_L2, 0, -1, -1, 0, box);
}

/* Between HBM and L2: what the whole launch moves. */
void hierarchy_draw_far_link(const Pen *pen, Box box, Places *places) {
  const SnapshotL2 *l2 = &pen->now->l2;
  const Wide most = l2->asked_read_bytes > l2->asked_write_bytes ? l2->asked_read_bytes : l2->asked_write_bytes;
  const double rate = gpu_hbm_bytes_per_s(&pen->now->gpu);
  const char *none = l2->is_awaited ? "\u2026" : "not known";
  box_cut_top(&box, 8 * pen->unit, 0);
  const Box upper = box_cut_top(&box, box.height / 2, 0);
  places->far_link[0] = draw_lane(pen, upper, "launch:", l2->is_known ? number_bytes(l2->hbm_read_bytes).text : none,
                                  false, l2->is_known ? part_of(l2->hbm_read_bytes, most) : -1, rate, true, false);
  places->far_link[1] = draw_lane(pen, box, "launch:", l2->is_known ? number_bytes(l2->hbm_write_bytes).text : none,
                                  false, l2->is_known ? part_of(l2->hbm_write_bytes, most) : -1, rate, false, false);
}
