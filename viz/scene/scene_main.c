/* Every byte at once: tiles, hierarchy, softmax and code together; on a projector or a high page the first two. */
#include <math.h>
#include <stdio.h>

#include "viz/scene/pen.h"
#include "viz/text/number.h"

/* The headline of the main screen: bytes so far, of how many. */
static void draw_moved(const Pen *pen, Box box) {
  char number[NUMBER_CHARS], rest[NUMBER_CHARS + 32];
  const double base = box.y + 0.88 * pen_size(pen, TYPE_NUMBER);
  snprintf(number, sizeof number, "%s", number_bytes(pen->now->total_bytes).text);
  snprintf(rest, sizeof rest, "moved of %s", number_bytes(pen->now->whole_bytes).text);
  pen_text(pen, TYPE_NUMBER, pen->theme->ink, true, ANCHOR_START, box.x, base, 0, number);
  const double x = box.x + pen_text_width(pen, TYPE_NUMBER, true, number) + 12 * pen->unit;
  if (x + pen_text_width(pen, TYPE_BODY, false, rest) <= box.x + box.width)
    pen_text(pen, TYPE_BODY, pen->theme->ink_soft, false, ANCHOR_START, x, base, 0, rest);
}

/* On a projector: where the tiles are, and what crosses for them. */
static void draw_main_idea(const Pen *pen, Box body) {
  Box left = pen->is_tall ? box_cut_top(&body, 0.56 * body.height, 16 * pen->unit)
                          : box_cut_left(&body, 0.42 * body.width, 20 * pen->unit);
  const bool counts = !pen->view->framed;
  const Box count = box_cut_bottom(&left, counts ? 1.12 * pen_size(pen, TYPE_NUMBER) : 0, counts ? 6 * pen->unit : 0);
  draw_grid(pen, left, NULL);
  if (counts) draw_moved(pen, count);
  draw_hierarchy(pen, body, false);
}

static void draw(const Pen *pen) {
  const double u = pen->unit;
  Box body = pen_page(pen, pen->now->schedule->title);
  if (pen->view->presentation || pen->is_tall || pen->view->framed) {
    draw_main_idea(pen, body);
    return;
  }
  Box left = box_cut_left(&body, 0.4 * body.width, 14 * u);
  const Box count = box_cut_bottom(&left, 1.12 * pen_size(pen, TYPE_NUMBER), 6 * u);
  const Box legend = box_cut_bottom(&left, legend_height(pen), 0);
  const Box tiles = draw_grid(pen, left, NULL);
  draw_legend(pen, legend.x, fmin(legend.y, tiles.y + tiles.height + 4 * u), legend.width);
  draw_moved(pen, count);
  const Box upper = box_cut_top(&body, 0.42 * body.height, 14 * u);
  draw_hierarchy(pen, upper, false);
  const Box code = box_cut_right(&body, 0.45 * body.width, 14 * u);
  if (pen->now->row.is_computed)
    draw_softmax(pen, body, false);
  else
    draw_log(pen, body); /* a large N has no numbers of a row */
  draw_code(pen, code);
}

const Scene MAIN_SCENE = {.title = "Every byte at once", .key = '1', .draw = draw, .small = &TILES_SCENE};
