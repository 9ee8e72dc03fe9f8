/* HBM, L2 where there is one, SRAM with registers, and the links between them: what lies where, what is on its way, and
 * how much has crossed. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/pen.h"
#include "viz/text/number.h"

static double base_in(const Pen *pen, Box row, TypeSize type) {
  return row.y + row.height / 2 + 0.36 * pen_size(pen, type);
}

/* ---- HBM ------------------------------------------------------------------------------------------------- */

/* Where things are drawn, for what travels between them. */
typedef struct {
  Box home[VALUES_MAX]; /* the matrices in HBM */
  Box slot[VALUES_MAX]; /* places on chip, by index of snapshot.slots */
  Box l2;
  Box link[2],
      far_link[2]; /* lanes of what travels, reads and writes: to SRAM, and between HBM and L2 where it is drawn */
  bool widened;    /* a matrix would be too narrow to be seen: widths are not to scale */
} Places;

static bool is_moved(const Snapshot *now, int tensor) {
  return tensor < TENSORS_MAX && now->whole.read[tensor] + now->whole.write[tensor] > 0;
}

/* Tiles of scores lie in HBM only where an algorithm stores them: elsewhere what they would take is shown. */
static bool is_by_tiles(const Snapshot *now, int tensor) { return snapshot_lies(now, tensor) == LIES_BY_TILES; }
static bool is_ghost(const Snapshot *now, int tensor) { return !is_moved(now, tensor); }
static bool has_row(const Snapshot *now, int tensor) { return is_moved(now, tensor) || is_by_tiles(now, tensor); }
static bool is_bar(const Snapshot *now, int tensor) { return is_moved(now, tensor) && !is_by_tiles(now, tensor); }
static bool is_input(const Snapshot *now, int tensor) { return now->schedule->tensors[tensor].role == TENSOR_INPUT; }
static bool is_stats(const Snapshot *now, int tensor) { return now->schedule->tensors[tensor].is_stats; }

/* How much of a tensor is there: inputs all, results as far as they were written. */
static double presence(const Snapshot *now, int tensor) {
  if (is_input(now, tensor)) return 1;
  return fmin(1, part_of(now->traffic.write[tensor], now->whole.write[tensor]));
}

/* Elements along a side of a whole matrix. */
static double length_of(const Snapshot *now, uint8_t side) {
  switch (side) {
  case SIDE_ROWS: return (double)now->grid.N_q;
  case SIDE_COLS: return (double)now->grid.N_k;
  case SIDE_D: return (double)now->problem.shape.d;
  case SIDE_DV: return (double)now->problem.shape.d_v;
  default: return 1;
  }
}
static double height_of(const Snapshot *now, int tensor) { return length_of(now, now->schedule->tensors[tensor].rows); }
static double width_of(const Snapshot *now, int tensor) {
  return is_stats(now, tensor) ? 2 : length_of(now, now->schedule->tensors[tensor].cols);
}

/* Rows [from, to) of a matrix, and of one by tiles columns too. */
static Box block_of(const Pen *pen, const Places *places, int tensor, int64_t row0, int64_t row1, int64_t col0,
                    int64_t col1) {
  const SnapshotGrid *g = &pen->now->grid;
  const Box home = places->home[tensor];
  const double least = round(4 * pen->unit);
  const SnapshotLies lies = snapshot_lies(pen->now, tensor);
  if (lies == LIES_APART) return home;
  const bool by_keys = lies == LIES_BY_KEYS;
  const double n = (double)(by_keys ? g->N_k : g->N_q), from = (double)(by_keys ? col0 : row0),
               to = (double)(by_keys ? col1 : row1);
  const double height = fmax(least, home.height * (to - from) / n),
               y = fmin(home.y + home.height * from / n, home.y + home.height - fmin(height, home.height));
  if (lies != LIES_BY_TILES) return (Box){home.x, y, fmax(least, home.width), height};
  const double width = fmax(least, home.width * (double)(col1 - col0) / (double)g->N_k);
  return (Box){fmin(home.x + home.width * (double)col0 / (double)g->N_k, home.x + home.width - width), y, width,
               height};
}

/* The block of a tensor that the pointer is over, here or in another part of the screen. */
static void mark_hovered(const Pen *pen, const Places *places, int tensor) {
  const SceneHit *hover = &pen->view->hover;
  const SnapshotGrid *g = &pen->now->grid;
  const bool by_keys = snapshot_lies(pen->now, tensor) == LIES_BY_KEYS;
  const int64_t block = by_keys ? hover->j : hover->i, B = by_keys ? g->B_c : g->B_r, n = by_keys ? g->N_k : g->N_q;
  if ((hover->kind != HIT_TILE && !(hover->kind == HIT_TENSOR && hover->tensor == tensor)) || block < 0 ||
      block * B >= n)
    return;
  const int64_t end = (block + 1) * B < n ? (block + 1) * B : n;
  pen_frame(pen, block_of(pen, places, tensor, block * B, end, block * B, end), pen->theme->ink, 2);
}

static void draw_matrix(const Pen *pen, const Places *places, int tensor) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const Box bar = places->home[tensor];
  const bool is_subject = pen_moves(pen, tensor);
  if (bar.width <= 0) return;
  if (is_ghost(now, tensor)) {
    pen_dashed(pen, bar, t->axis, 1);
    return;
  }
  const Colour lies =
      is_input(now, tensor) ? theme_mix(t->tile[TILE_COLOUR_WAITING], t->axis, 0.55) : t->tile[TILE_COLOUR_DONE];
  const Event *e = &now->event;
  double there = presence(now, tensor);
  if (is_subject && event_goes_out(e->kind) && now->whole.write[tensor] > 0) /* it is there when it has arrived */
    there -= (1 - pen_happened(pen)) * (double)e->bytes / (double)now->whole.write[tensor];
  pen_fill(pen, bar, t->tile[TILE_COLOUR_WAITING], 1);
  pen_fill(pen, box_at(bar.x, bar.y, bar.width, bar.height * fmax(0, there)), pen_lit(pen, lies, is_subject), 1);
  mark_hovered(pen, places, tensor);
  if (!is_subject) return;
  const Box block = block_of(pen, places, tensor, e->row0, e->row1, e->col0, e->col1);
  pen_body(pen, BODY_HOME, tensor, block, 1);
  pen_fill(pen, box_at(block.x, block.y, block.width, block.height),
           theme_mix(t->tile[TILE_COLOUR_WAITING], t->tile[TILE_COLOUR_CURRENT], 0.6), 1);
}

/* The room of a bar, with its name over it. */
static double bar_room(const Pen *pen, int tensor, double least, double scale) {
  const double name = is_stats(pen->now, tensor) ? 1.7 * pen_size(pen, TYPE_BODY) : least;
  return fmax(name, scale * width_of(pen->now, tensor));
}

/* Matrices side by side, to scale: as many pixels for each byte of one as of another. Those by tiles are as wide as
 * there are keys, in as many columns as make them largest. */
static void place_matrices(const Pen *pen, Box box, Places *places) {
  const Snapshot *now = pen->now;
  const SnapshotGrid *g = &now->grid;
  int bars[VALUES_MAX], tiles[VALUES_MAX];
  const int n_bars = snapshot_values(now, is_bar, bars), n_tiles = snapshot_values(now, is_by_tiles, tiles);
  const double letter = pen_size(pen, TYPE_BODY), gap = (pen->view->presentation ? 4 : 7) * pen->unit;
  double least = (pen->view->presentation ? 1.05 : 1.5) * letter;
  if ((n_bars + 1) * (least + gap) > 0.75 * box.width) least = 3 * pen->unit; /* no room for all of their names */
  const Box all = box_at(box.x, box.y + 1.4 * letter, box.width, box.height - 1.4 * letter);
  double best = 0, rows = 1;
  for (int k = 0; k < n_bars; k++) rows = fmax(rows, height_of(now, bars[k]));
  rows = n_tiles ? fmax(rows, (double)g->N_q) : rows;
  int best_across = 1;
  bool best_fits = false;
  for (int across = n_tiles > 0 ? n_tiles : 1; across > 0; across--) {
    const double down = n_tiles > 0 ? ceil((double)n_tiles / across) : 1;
    double scale = (all.height - (down - 1) * (gap + 1.4 * letter)) / fmax(rows, down * (double)g->N_q);
    bool fits = false;
    for (int k = 0; k < 40 && !fits; k++) { /* until it is not too wide */
      double width = n_tiles > 0 ? across * (fmax(least, scale * (double)g->N_k) + gap) : 0;
      for (int bar = 0; bar < n_bars; bar++) width += bar_room(pen, bars[bar], least, scale) + gap;
      fits = width <= all.width;
      if (!fits) scale *= 0.93;
    }
    if (fits > best_fits || (fits == best_fits && (scale > best || !fits))) { /* where none fits, the narrower */
      best = scale;
      best_fits = fits;
      best_across = across;
    }
  }
  double x = all.x;
  for (int k = 0; k < n_bars; k++) {
    const int t = bars[k];
    const double to_scale = best * width_of(now, t),
                 width = fmax(is_stats(now, t) ? round(3 * pen->unit) : 8 * pen->unit, to_scale);
    places->widened = places->widened || width > 1.05 * to_scale;
    places->home[t] = box_at(x, all.y, width, fmax(8 * pen->unit, best * height_of(now, t)));
    x += bar_room(pen, t, least, best) + gap;
  }
  const double width = fmax(2, best * (double)g->N_k), height = fmax(2, best * (double)g->N_q);
  for (int k = 0; k < n_tiles; k++)
    places->home[tiles[k]] = box_at(x + k % best_across * (fmax(least, width) + gap),
                                    all.y + k / best_across * (height + gap + 1.4 * letter), width, height);
}

/* SRAM as large as it is beside these matrices, where it is small. */
static void draw_sram_to_scale(const Pen *pen, Box box, const Places *places) {
  const Snapshot *now = pen->now;
  int tiles[VALUES_MAX];
  const int n_tiles = snapshot_values(now, is_by_tiles, tiles);
  if (n_tiles == 0) return;
  const Box S = places->home[tiles[0]], P = places->home[tiles[n_tiles - 1]];
  const double small = pen_size(pen, TYPE_SMALL),
               bytes_each = wide(now->grid.element_bytes) * wide(now->grid.N_k) * wide(now->grid.N_q) > 0
                                ? S.width * S.height /
                                      ((double)now->grid.element_bytes * (double)now->grid.N_k * (double)now->grid.N_q)
                                : 0;
  const double side = sqrt((double)now->sram_capacity_bytes * bytes_each);
  const double words = pen_text_width(pen, TYPE_SMALL, false, "SRAM, to scale");
  const Box room = box_at(P.x, P.y + P.height + 6 * pen->unit, box.x + box.width - P.x,
                          box.y + box.height - P.y - P.height - 6 * pen->unit);
  if (side < 2 || side > 0.5 * S.width || room.height < fmax(side, 1.4 * small) ||
      room.width < side + words + 8 * pen->unit)
    return;
  pen_fill(pen, box_at(room.x, room.y, side, side), pen->theme->tile[TILE_COLOUR_CURRENT], 1);
  pen_text(pen, TYPE_SMALL, pen->theme->ink, false, ANCHOR_START, room.x + side + 6 * pen->unit,
           room.y + fmax(side, small) / 2 + 0.4 * small, 0, "SRAM, to scale");
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
             written = pen_moves(pen, t) && event_goes_out(now->event.kind);
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

/* Of statistics those that come and go: "L", where m and l stay on chip. */
static const char *name_in_hbm(const Pen *pen, int tensor, const char *between, char *text, size_t size) {
  const Schedule *s = pen->now->schedule;
  *text = '\0';
  for (int n = 0; n < s->n_names && s->tensors[tensor].is_stats; n++) {
    const ProgramName *name = &s->names[n];
    const int letters = (int)strcspn(name->text, "_'");
    char letter[sizeof name->text];
    if (name->tensor != tensor || !(name->is_loaded || name->is_stored)) continue;
    snprintf(letter, sizeof letter, "%.*s", letters, name->text);
    if (!strstr(text, letter)) snprintf(text + strlen(text), size - strlen(text), "%s%s", *text ? between : "", letter);
  }
  if (!*text) snprintf(text, size, "%s", pen_name(pen, tensor));
  return text;
}

/* Names over matrices: in a row, or where they are narrow in two, every other one higher. */
typedef struct {
  TypeSize type;
  int rows;
} Naming;

static int naming_row(const Places *places, const int *order, int k, Naming naming) {
  return places->home[order[k]].y > places->home[order[0]].y + 1 ? 0 : (naming.rows - 1) * (k % 2);
}

/* As far as the name of the k-th may go: to the next one of its row. */
static double room_to(const Places *places, const int *order, int n, int k, Naming naming, double end) {
  for (int next = k + 1; next < n; next++)
    if (fabs(places->home[order[next]].y - places->home[order[k]].y) <= 1 &&
        naming_row(places, order, next, naming) == naming_row(places, order, k, naming))
      return places->home[order[next]].x;
  return end;
}

static bool names_fit(const Pen *pen, const Places *places, const int *order, int n, Naming naming) {
  for (int k = 0; k < n; k++) {
    char name[32];
    const double width = pen_text_width(pen, naming.type, true, name_in_hbm(pen, order[k], "", name, sizeof name));
    if (places->home[order[k]].x + width + 2 * pen->unit > room_to(places, order, n, k, naming, INFINITY)) return false;
  }
  return true;
}

/* Cut where even two rows have no room for it: the table beside has it whole. */
static void draw_bar_name(const Pen *pen, const Places *places, const int *order, int n, int k, Naming naming,
                          double end) {
  const Box home = places->home[order[k]];
  const double room = room_to(places, order, n, k, naming, end) - home.x - 2 * pen->unit;
  char name[32];
  name_in_hbm(pen, order[k], "", name, sizeof name);
  if (room < 1.7 * pen_size(pen, naming.type) && pen_text_width(pen, naming.type, true, name) > room)
    return; /* no letter of it would be left */
  pen_text(pen, naming.type, pen_ink(pen, pen_moves(pen, order[k])), true, ANCHOR_START, home.x,
           home.y - 5 * pen->unit - 1.1 * pen_size(pen, naming.type) * naming_row(places, order, k, naming), room,
           name);
}

/* The matrices to scale, and beside them a table of what has moved. */
static void draw_hbm(const Pen *pen, Box box, bool is_large, Places *places) {
  const Snapshot *now = pen->now;
  int values[VALUES_MAX];
  const int n = snapshot_values(now, has_row, values);
  const double small = pen_size(pen, TYPE_SMALL), column = 5.9 * small;
  double letter = 2.0 * small;
  for (int k = 0; k < n; k++) {
    char name[32];
    name_in_hbm(pen, values[k], ", ", name, sizeof name);
    const double width = pen_text_width(pen, TYPE_SMALL, true, name) + 0.6 * small;
    if (name[1]) letter = fmax(letter, fmax(3.0 * small, width));
  }
  Box body = pen_panel(pen, box, "HBM", NULL);
  const char *read_word = now->l2.capacity_bytes ? "to SRAM" : "read"; /* with an L2 not all of it comes from HBM */
  const bool is_narrow =
      body.width<2 * column + letter + 16 * small, has_table = body.width> letter + column + 9 * small &&
      body.height > (n + 1) * 1.15 * small;
  if (has_table) {
    Box table = box_cut_right(&body, letter + (is_narrow ? 1 : 2) * column, 10 * pen->unit);
    const double right = table.x + table.width, height = fmin(table.height / (n + 1), 2.6 * small);
    const Box head = box_cut_top(&table, height, 0);
    const double base = base_in(pen, head, TYPE_SMALL);
    if (!is_narrow)
      pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, right - column, base, 0, read_word);
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, right, base, 0, is_narrow ? "moved" : "written");
    for (int k = 0; k < n; k++) {
      const int t = values[k];
      Box row = box_cut_top(&table, height, 0);
      const Box whole = row;
      char name[32];
      pen_text(pen, TYPE_SMALL, pen_ink(pen, pen_moves(pen, t)), true, ANCHOR_START, row.x,
               base_in(pen, row, TYPE_SMALL), 0, name_in_hbm(pen, t, ", ", name, sizeof name));
      box_cut_left(&row, letter, 0);
      draw_moved_bytes(pen, row, base_in(pen, row, TYPE_SMALL), t, is_narrow);
      pen_region(pen, HIT_TENSOR, t, -1, -1, 0, whole);
    }
  }
  place_matrices(pen, body, places);
  if (is_large && !pen->view->presentation)
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, box.x + box.width - 14 * pen->unit,
             box.y + 12 * pen->unit + pen_size(pen, TYPE_HEAD), 0, places->widened ? "heights to scale" : "to scale");
  int bars[VALUES_MAX], order[VALUES_MAX];
  const int n_bars = snapshot_values(now, is_bar, bars), n_tiles = snapshot_values(now, is_by_tiles, order + n_bars);
  memcpy(order, bars, (size_t)n_bars * sizeof *order);
  Naming naming = {TYPE_BODY, 1};
  if (!names_fit(pen, places, order, n_bars + n_tiles, naming)) naming.type = TYPE_SMALL;
  if (!names_fit(pen, places, order, n_bars + n_tiles, naming)) {
    naming.rows = 2;
    box_cut_top(&body, 1.1 * small, 0);
    place_matrices(pen, body, places);
  }
  for (int k = 0; k < n_bars + n_tiles; k++) {
    if (places->home[order[k]].width <= 0) continue;
    draw_matrix(pen, places, order[k]);
    draw_bar_name(pen, places, order, n_bars + n_tiles, k, naming, body.x + body.width);
    pen_region(pen, HIT_TENSOR, order[k], -1, -1, 0, box_inset(places->home[order[k]], -2));
  }
  if (is_large) draw_sram_to_scale(pen, body, places);
}

/* ---- The link -------------------------------------------------------------------------------------------- */

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

static void draw_link(const Pen *pen, Box box, Places *places) {
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
static void draw_l2(const Pen *pen, Box box) {
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
static void draw_gate(const Pen *pen, Box box) {
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
static void draw_far_link(const Pen *pen, Box box, Places *places) {
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

/* ---- SRAM ------------------------------------------------------------------------------------------------ */

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
static void fill_slot(const Pen *pen, Box bar, const SnapshotSlot *s, bool is_subject) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const SnapshotSlot *old = &now->before.slots[s - now->slots];
  const int kind = now->event.kind;
  const Colour orange = t->tile[TILE_COLOUR_CURRENT], still = theme_mix(t->tile[TILE_COLOUR_WAITING], t->axis, 0.55);
  const double part = fmin(1, s->slot_bytes ? (double)s->held_bytes / (double)s->slot_bytes : 0),
               happened = pen_happened(pen), phase = pen->view->phase, fading = phase > 0 && phase < 1 ? 1 - phase : 0;
  const bool is_other =
      old->is_filled && (!s->is_filled || old->tensor != s->tensor || old->i != s->i || old->j != s->j);
  const bool had_left = event_goes_out(now->before.event.kind) && now->before.event.tensor == old->tensor;
  if (is_other && !had_left) pen_fill(pen, bar, still, fading);
  if (!s->is_filled) return;
  const Box held = box_at(bar.x, bar.y, bar.width * part, bar.height);
  const bool is_moved = s->is_touched && event_moves(kind) && now->event.tensor == s->tensor;
  if (is_moved) { /* as far as it has come, or gone */
    pen_fill(pen, box_at(held.x, held.y, held.width * (kind == EVENT_LOAD ? happened : 1 - happened), held.height),
             orange, 1);
    return;
  }
  const Colour colour = pen_lit(pen, s->is_touched ? orange : still, is_subject);
  if (s->is_touched && kind == EVENT_PRODUCT && is_by_tiles(now, s->tensor)) {
    pen_fill(pen, box_at(held.x, held.y, held.width * happened, held.height), colour, 1);
    return;
  }
  pen_fill(pen, held, colour, 1);
}

/* An edge goes over what the event works on; weights that go into a product flow instead. */
static void draw_work(const Pen *pen, Box bar, const SnapshotSlot *s) {
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
  pen_frame(pen, bar, t->axis, 1.2); /* outlined is empty, grey holds data */
  fill_slot(pen, bar, s, is_subject);
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
  pen_fill(pen, box_at(bar.x, bar.y, capacity, bar.height), t->tile[TILE_COLOUR_WAITING], 1);
  uint64_t before = 0;
  for (int k = 0; k < n_slots; k++) {
    const SnapshotSlot *s = &now->slots[slots[k]];
    const double left = floor(bar.width * (double)before / scale),
                 right = floor(bar.width * (double)(before += s->sram_bytes) / scale);
    const Colour fill = !now->fits                              ? t->bad
                        : s->is_touched && !pen->view->undimmed ? t->tile[TILE_COLOUR_CURRENT]
                                                                : t->tile[TILE_COLOUR_DONE];
    const Box part =
        box_at(bar.x + left, bar.y, fmax(k == 0 ? 2 : 0, right - left - (right - left > 6 ? fmax(1, round(u)) : 0)),
               bar.height);
    pen_fill(pen, part, fill, 1);
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
static void draw_sram(const Pen *pen, Box box, bool is_large, Places *places) {
  const Snapshot *now = pen->now;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  Box body = pen_panel(pen, box, "SRAM", is_large ? "and registers" : NULL);
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
      const double width = pen_text_width(pen, TYPE_SMALL, false, "in registers") + 8 * u;
      pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, line.x, line.y + 0.95 * small, 0,
               "in registers");
      pen_fill(pen, box_at(line.x + width, line.y + 0.6 * small, line.width - width, fmax(1, round(u))),
               pen->theme->axis, 1);
      is_parted = true;
    }
    draw_slot(pen, box_cut_top(&body, height, 0), &now->slots[t], largest, title_width, words_width, bytes_width,
              places);
  }
  draw_capacity(pen, capacity, is_large);
}

/* ---- What travels ---------------------------------------------------------------------------------------- */

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
  const Box home = block_of(pen, places, e->tensor, e->row0, e->row1, e->col0, e->col1);
  for (int k = 0; k < now->schedule->n_values; k++) {
    const SnapshotSlot *s = &now->slots[k];
    if (!s->is_touched || s->tensor != e->tensor || places->slot[k].width <= 0) continue;
    const Box end = is_load ? places->slot[k] : home;
    if (pen_passing(pen) > 0)
      draw_chip(pen, places, e->tensor, is_load, from_l2);
    else
      pen_tile(pen, e->tensor, end, pen->theme->tile[TILE_COLOUR_CURRENT], 1);
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
    const double y = home.y + each * (double)now->skips.first,
                 end = fmin(home.y + home.height,
                            home.y + each * ((double)(now->skips.first + now->skips.n - 1) + pen_happened(pen)));
    const Box line = box_at(home.x + home.width / 2 - thick / 2, y, thick, fmax(1, end - y));
    pen_fill(pen, line, pen->theme->tile[TILE_COLOUR_CURRENT], 1);
    const Box head = box_at(line.x - thick, end - 1.5 * thick, 3 * thick, 3 * thick);
    pen_body(pen, BODY_LINE, t, head, 1);
    pen_fill(pen, head, pen->theme->tile[TILE_COLOUR_CURRENT], 1);
    pen_frame(pen, head, pen->theme->ink, 1);
  }
}

static void draw_motion(const Pen *pen, const Places *places) {
  for (int k = 0; k < pen->now->schedule->n_values; k++) {
    const SnapshotSlot *s = &pen->now->slots[k];
    if (places->slot[k].width <= 0) continue;
    draw_work(pen, places->slot[k], s);
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
    const double link = fmax(0.12 * whole, 6.4 * pen_size(pen, TYPE_SMALL));
    draw_hbm(pen, box_cut_left(&box, (is_large ? 0.56 : 0.6) * (whole - link - 2 * gap), gap), is_large, &places);
    draw_sram(pen, box_cut_right(&box, (is_large ? 0.44 : 0.4) * (whole - link - 2 * gap), gap), is_large, &places);
    draw_link(pen, box, &places);
    draw_motion(pen, &places);
    return;
  }
  draw_hbm(pen, box_cut_left(&box, (is_large ? 0.34 : 0.37) * whole, is_large ? 0.6 * gap : 0), is_large, &places);
  draw_sram(pen, box_cut_right(&box, (is_large ? 0.31 : 0.35) * whole, 0.6 * gap), is_large, &places);
  if (is_large && !pen->view->presentation) {
    draw_far_link(pen, box_cut_left(&box, 0.075 * whole, 0.6 * gap), &places);
    places.l2 = box_cut_left(&box, 0.145 * whole, 0.6 * gap);
    draw_l2(pen, places.l2);
  } else {
    Box gate = box_cut_left(&box, 0.11 * whole, 0.6 * gap);
    box_cut_left(&gate, fmax(2, round(3 * pen->unit)), 0);
    places.l2 = gate;
    draw_gate(pen, gate);
  }
  draw_link(pen, box, &places);
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
  int other = -1; /* the run that differs most */
  double most = 1;
  for (int k = 0; k < now->n_runs; k++) {
    const double ratio = part_of(now->runs[k].total_bytes, now->whole_bytes), off = ratio < 1 ? 1 / ratio : ratio;
    if (now->runs[k].schedule == now->schedule || !(off > most)) continue;
    other = k;
    most = off;
  }
  if (other < 0) return;
  snprintf(words, sizeof words, "%s moves %s as much", now->runs[other].schedule->name,
           number_ratio_of(now->runs[other].total_bytes, now->whole_bytes).text);
  if (end + pen_text_width(pen, TYPE_HEAD, true, words) <= box.x + box.width)
    pen_text(pen, TYPE_HEAD, t->ink, true, ANCHOR_END, box.x + box.width, base, 0, words);
}

static void draw(const Pen *pen) {
  const double u = pen->unit;
  Box body = pen_page(pen, pen->now->schedule->title);
  const Box head = box_cut_top(&body, 1.35 * pen_size(pen, TYPE_NUMBER), 6 * u);
  if (pen->view->presentation || pen->is_tall) { /* one idea a screen: the race has a scene of its own */
    draw_headline(pen, head);
    draw_hierarchy(pen, body, !pen->is_tall);
    return;
  }
  Box race = box_cut_bottom(&body, race_height(pen) * 1.15 + 2.2 * pen_size(pen, TYPE_SMALL), 12 * u);
  draw_headline(pen, head);
  draw_hierarchy(pen, body, true);
  const Box label = box_cut_top(&race, 1.9 * pen_size(pen, TYPE_SMALL), 0);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, label.x,
           label.y + 1.2 * pen_size(pen, TYPE_SMALL), label.width,
           pen->now->by_time ? "The race: how far each algorithm gets in the time so far, at peak rates"
                             : "The race: how far each algorithm gets with the bytes moved so far");
  draw_race(pen, race, true);
}

const Scene HIERARCHY_SCENE = {.title = "What crosses between HBM and SRAM", .key = '3', .draw = draw};
