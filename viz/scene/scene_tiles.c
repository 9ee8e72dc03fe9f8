/* The score matrix, large; beside it the counts, and S and P as they stand in HBM, or do not. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/pen.h"
#include "viz/text/number.h"

static Wide tiles_worked(const Snapshot *now) {
  return now->traffic.tiles[TILE_FULL] + now->traffic.tiles[TILE_PARTIAL];
}

static void draw_counts(const Pen *pen, Box *box) {
  const Snapshot *now = pen->now;
  const Wide all = wide(now->grid.T_r) * wide(now->grid.T_c);
  const Shape *s = &now->problem.shape;
  const bool masked = s->causal || s->window || s->sided || s->pattern;
  char number[NUMBER_CHARS], rest[NUMBER_CHARS + 32];
  snprintf(number, sizeof number, "%s", number_bytes(now->total_bytes).text);
  snprintf(rest, sizeof rest, "of %s", number_bytes(now->whole_bytes).text);
  const char *const moved = now->gpu.l2_bytes > 0 ? "moved across the SRAM boundary" : "moved between HBM and SRAM";
  pen_count(pen, box, TYPE_NUMBER, pen_fitting(pen, box->width, moved, "moved"), number, rest);
  if (now->whole.added > 0) { /* what a walk by columns pays for dQ */
    snprintf(number, sizeof number, "%s", number_bytes(now->traffic.added).text);
    snprintf(rest, sizeof rest, "of %s", number_bytes(now->whole.added).text);
    pen_count(pen, box, TYPE_TITLE, "of them added to sums in HBM", number, rest);
  }
  snprintf(number, sizeof number, "%s", number_count(tiles_worked(now)).text);
  snprintf(rest, sizeof rest, "of %s tiles", number_count(all).text);
  pen_count(pen, box, TYPE_TITLE, "computed", number, rest);
  if (masked && now->grid.skips) {
    snprintf(number, sizeof number, "%s", number_count(now->traffic.tiles[TILE_SKIPPED]).text);
    snprintf(rest, sizeof rest, "spared %s", number_bytes(now->spared_bytes).text);
    pen_count(pen, box, TYPE_TITLE, "skipped by the mask", number, rest);
  }
}

static bool is_by_tiles(const Snapshot *now, int tensor) { return snapshot_lies(now, tensor) == LIES_BY_TILES; }
static bool is_in_hbm(const Snapshot *now, int tensor) { return tensor < TENSORS_MAX && now->whole.write[tensor] > 0; }

/* A matrix by tiles as a square that fills as it is stored; an empty dashed one where it never exists in HBM. */
static void draw_ghost(const Pen *pen, Box box, int tensor) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const bool real = is_in_hbm(now, tensor);
  const double small = pen_size(pen, TYPE_SMALL);
  const Box words = box_cut_bottom(&box, 1.7 * small, 0);
  const double side = fmin(box.width, box.height);
  const Box square = box_at(box.x, box.y, side, side);
  char text[NUMBER_CHARS + 32];
  if (real) {
    pen_state(pen, square, TILE_COLOUR_EMPTY);
    pen_fill(pen,
             box_at(square.x, square.y, square.width,
                    square.height * part_of(now->traffic.write[tensor], now->whole.write[tensor])),
             t->tile[TILE_COLOUR_DONE], 1);
  } else {
    pen_dashed(pen, square, t->axis, 1.5);
  }
  /* The letter lies where the square is filled last, and stands off the edge of what is filled. */
  const double there = real ? part_of(now->traffic.write[tensor], now->whole.write[tensor]) : 0,
               title = pen_size(pen, TYPE_TITLE), low = 0.94 * side, edge = there * side;
  const bool is_on_fill = there >= 1 || edge > low - title;
  const double base = is_on_fill ? fmin(low, edge - 0.2 * title) : low;
  if (side > 1.1 * title)
    pen_text(pen, TYPE_TITLE, is_on_fill ? theme_on(t->tile[TILE_COLOUR_DONE]) : t->ink_soft, true, ANCHOR_MIDDLE,
             square.x + side / 2, square.y + base, 0, pen_name(pen, tensor));
  snprintf(text, sizeof text, "%s", real ? number_bytes(now->traffic.write[tensor]).text : "not stored");
  if (pen_text_width(pen, TYPE_SMALL, false, text) <= fmax(side, words.width))
    pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, words.x, words.y + 1.3 * small, 0, text);
  pen_region(pen, HIT_TENSOR, tensor, -1, -1, 0, square);
  pen_part(pen, "outlines", square);
}

/* The matrices by tiles that the program has, and where they are drawn, under their words; empty where there is no
 * room.
 */
typedef struct {
  int n, tensors[VALUES_MAX];
  Box boxes[VALUES_MAX]; /* by index of Program.tensors */
  bool real;             /* any of them lies in HBM */
} Ghosts;

static Ghosts find_ghosts(const Snapshot *now) {
  Ghosts g = {0};
  g.n = snapshot_values(now, is_by_tiles, g.tensors);
  for (int k = 0; k < g.n; k++) g.real |= is_in_hbm(now, g.tensors[k]);
  return g;
}

static void place_ghosts(const Pen *pen, Box box, Ghosts *ghosts) {
  const double small = pen_size(pen, TYPE_SMALL), gap = 20 * pen->unit, words = 1.7 * small;
  box_cut_top(&box, 1.9 * small, 0);
  const int across = ghosts->n < 2 ? 2 : ghosts->n > 4 ? 3 : ghosts->n, down = (ghosts->n + across - 1) / across;
  if (down == 0) return;
  const double side = fmin((box.width - (across - 1) * gap) / across, fmin(box.height / down - words, 190 * pen->unit));
  if (side < 30 * pen->unit) return;
  for (int k = 0; k < ghosts->n; k++)
    ghosts->boxes[ghosts->tensors[k]] =
        box_at(box.x + k % across * (side + gap), box.y + k / across * (side + words), side, side);
}

static void draw_ghosts(const Pen *pen, Box box, const Ghosts *ghosts) {
  const double small = pen_size(pen, TYPE_SMALL);
  const Snapshot *now = pen->now;
  const Wide bytes = wide(now->grid.N_q) * wide(now->grid.N_k) * wide(now->grid.element_bytes);
  char names[96] = "", words[sizeof names + NUMBER_CHARS + 32];
  if (ghosts->n == 0 || ghosts->boxes[ghosts->tensors[0]].width <= 0) return;
  for (int k = 0; k < ghosts->n; k++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
             k == 0              ? ""
             : k + 1 < ghosts->n ? ", "
                                 : " and ",
             pen_name(pen, ghosts->tensors[k]));
  snprintf(words, sizeof words, ghosts->real ? "%s in HBM, %s%s" : "%s would take %s%s in HBM", names,
           number_bytes(bytes).text, ghosts->n > 1 ? " each" : "");
  if (pen_text_width(pen, TYPE_SMALL, false, words) <= box.width)
    pen_text(pen, TYPE_SMALL, pen->theme->ink, false, ANCHOR_START, box.x, box.y + 1.1 * small, 0, words);
  for (int k = 0; k < ghosts->n; k++) {
    const Box g = ghosts->boxes[ghosts->tensors[k]];
    draw_ghost(pen, box_at(g.x, g.y, g.width, g.height + 1.7 * small), ghosts->tensors[k]);
  }
}

static void draw(const Pen *pen) {
  const double u = pen->unit;
  Box body = pen_page(pen, pen->now->schedule->title);
  Ghosts ghosts = find_ghosts(pen->now);
  const bool is_beside_card = pen->view->bare && !ghosts.real && !pen->is_tall && body.width < 1.4 * body.height;
  Box side = {0}; /* beside the card of a story the tiles have all the room */
  if (!is_beside_card) side = box_cut_side(pen, &body, pen->view->presentation ? 0.4 : 0.34, 0.36, 26 * u);
  Box legend = box_cut_bottom(&body, legend_height(pen), 4 * u);
  box_cut_top(&side, 6 * u, 0);
  if (!is_beside_card) draw_counts(pen, &side);
  box_cut_top(&side, 8 * u, 0);
  const bool real = ghosts.real;
  const bool has_many = pen->now->grid.T_r >= 40 || pen->now->grid.T_c >= 40;
  if (pen->view->presentation && !pen->view->bare && !real && !has_many)
    side.height = 0; /* what is not there is said once, in numbers */
  const bool is_close = !real && !is_beside_card && draw_lens(pen, side);
  if (is_close) side.height = 0;
  place_ghosts(pen, side, &ghosts);
  draw_ghosts(pen, side, &ghosts);
  const Box tiles = draw_grid(pen, body, real ? ghosts.boxes : NULL);
  draw_legend(pen, tiles.x, fmin(legend.y, tiles.y + tiles.height + 4 * u), legend.x + legend.width - tiles.x);
}

const Scene TILES_SCENE = {.title = "The score matrix, tile by tile", .key = '2', .draw = draw};
