/* The matrices in HBM to scale, with their names and what has moved of each. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/hierarchy_view.h"
#include "viz/text/number.h"

static bool is_moved(const Snapshot *now, int tensor) {
  return tensor < TENSORS_MAX && now->whole.read[tensor] + now->whole.write[tensor] > 0;
}

static bool is_ghost(const Snapshot *now, int tensor) { return !is_moved(now, tensor); }

static bool has_row(const Snapshot *now, int tensor) { return is_moved(now, tensor) || is_by_tiles(now, tensor); }

static bool is_bar(const Snapshot *now, int tensor) { return is_moved(now, tensor) && !is_by_tiles(now, tensor); }

static bool is_input(const Snapshot *now, int tensor) { return now->schedule->tensors[tensor].role == TENSOR_INPUT; }

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
Box hierarchy_block(const Pen *pen, const Places *places, int tensor, int64_t row0, int64_t row1, int64_t col0,
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
  pen_frame(pen, hierarchy_block(pen, places, tensor, block * B, end, block * B, end), pen->theme->ink, 2);
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
  const Event *e = &now->event;
  double there = presence(now, tensor);
  if (is_subject && event_goes_out(e->kind) && now->whole.write[tensor] > 0) /* it is there when it has arrived */
    there -= (1 - pen_happened(pen)) * (double)e->bytes / (double)now->whole.write[tensor];
  pen_state(pen, bar, TILE_COLOUR_EMPTY);
  const double height = bar.height * fmax(0, there);
  const bool from_end =
      snapshot_lies(now, tensor) == LIES_BY_ROWS ? now->grid.order.rows_reversed : now->grid.order.columns_reversed;
  pen_fill(pen, box_at(bar.x, from_end ? bar.y + bar.height - height : bar.y, bar.width, height),
           t->tile[is_input(now, tensor) ? TILE_COLOUR_HELD : TILE_COLOUR_DONE], 1);
  mark_hovered(pen, places, tensor);
  if (!is_subject) return;
  const Box block = hierarchy_block(pen, places, tensor, e->row0, e->row1, e->col0, e->col1);
  pen_body(pen, BODY_HOME, tensor, block, 1);
  pen_state(pen, box_at(block.x, block.y, block.width, block.height), TILE_COLOUR_CURRENT);
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
  if ((n_bars + 1) * (least + gap) > 0.75 * box.width)
    least = fmax(8, 3 * pen->unit); /* no room for all of their names */
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
                 width = fmax(is_stats(now, t) ? round(3 * pen->unit) : fmax(8, 8 * pen->unit), to_scale);
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

static const char *name_in_hbm(const Pen *pen, int tensor, const char *between, char *text, size_t size) {
  return schedule_moved_title(pen->now->schedule, WHEN_ANY, tensor, between, text, size);
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
void hierarchy_draw_hbm(const Pen *pen, Box box, bool is_large, Places *places) {
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
