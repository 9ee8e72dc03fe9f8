/* What the mask spares: the tiles, and bytes and FLOPs against the same run without a mask. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "sim/base/ascii.h"
#include "viz/scene/pen.h"
#include "viz/text/number.h"

typedef struct {
  const char *what;
  Wide with_mask, without; /* so far */
  Wide all;                /* of the whole run without a mask */
  char words[2][NUMBER_CHARS];
} Pair;

/* Two bars on one scale: without the mask, and with it. The lighter rest is what is still to come. */
static void draw_pair(const Pen *pen, Box box, const Pair *pair, Wide whole_with) {
  const Theme *t = pen->theme;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL), head = pen_size(pen, TYPE_HEAD);
  char words[2 * NUMBER_CHARS + 32];
  Box row = box_cut_top(&box, 1.5 * head, 4 * u);
  pen_text(pen, TYPE_HEAD, t->ink, true, ANCHOR_START, row.x, row.y + 1.05 * head, 0, pair->what);
  const double spared = part_of(pair->without - pair->with_mask, pair->without);
  snprintf(words, sizeof words, "%s spared so far", number_percent(spared).text);
  if (pen_text_width(pen, TYPE_HEAD, true, pair->what) + pen_text_width(pen, TYPE_BODY, false, words) + head <
      row.width)
    pen_text(pen, TYPE_BODY, t->ink, false, ANCHOR_END, row.x + row.width, row.y + 1.05 * head, 0, words);
  for (int k = 0; k < 2; k++) {
    Box line = box_cut_top(&box, fmin(46 * u, box.height / 2 - 4 * u), 6 * u);
    const double base = line.y + line.height / 2 + 0.36 * small;
    pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, line.x, base, 0, k ? "with the mask" : "without");
    box_cut_left(&line, 8.2 * small, 0);
    const Box number = box_cut_right(&line, 8.4 * small, 10 * u);
    const Wide so_far = k ? pair->with_mask : pair->without, all = k ? whole_with : pair->all;
    pen_meter(pen, box_at(line.x, line.y, line.width * part_of(all, pair->all), line.height), part_of(so_far, all),
              k ? t->tile[TILE_COLOUR_DONE] : t->axis);
    pen_text(pen, TYPE_BODY, t->ink, k == 1, ANCHOR_END, number.x + number.width, base, number.width + 10 * u,
             pair->words[k]);
  }
}

static void draw_comparison(const Pen *pen, Box box) {
  const Snapshot *now = pen->now;
  const double u = pen->unit, gap = 22 * u;
  const Wide with_tiles = now->traffic.tiles[TILE_FULL] + now->traffic.tiles[TILE_PARTIAL];
  const Wide whole_tiles = now->whole.tiles[TILE_FULL] + now->whole.tiles[TILE_PARTIAL];
  Pair pairs[3] = {
      {.what = "Tiles",
       .with_mask = with_tiles,
       .without = with_tiles + now->traffic.tiles[TILE_SKIPPED],
       .all = wide(now->grid.T_r) * wide(now->grid.T_c)},
      {.what = "Bytes",
       .with_mask = now->total_bytes,
       .without = now->total_bytes + now->spared_bytes,
       .all = now->dense_bytes},
      {.what = "FLOPs",
       .with_mask = now->traffic.flops,
       .without = now->traffic.flops + now->spared_flops,
       .all = now->dense.flops},
  };
  const Wide whole[3] = {whole_tiles, now->whole_bytes, now->whole.flops};
  const bool only_bytes = pen->view->presentation; /* one idea a screen */
  const double height = only_bytes ? fmin(0.6 * box.height, 300 * u) : (box.height - 2 * gap) / 3;
  for (int k = only_bytes ? 1 : 0; k < (only_bytes ? 2 : 3); k++) {
    for (int m = 0; m < 2; m++) {
      const Wide value = m ? pairs[k].with_mask : pairs[k].without;
      const Number n = k == 0 ? number_count(value) : k == 1 ? number_bytes(value) : number_flops(value);
      snprintf(pairs[k].words[m], sizeof pairs[k].words[m], "%s", n.text);
    }
    draw_pair(pen, box_cut_top(&box, height, gap), &pairs[k], whole[k]);
  }
}

static void draw(const Pen *pen) {
  const double u = pen->unit;
  const Snapshot *now = pen->now;
  const Shape *s = &now->problem.shape;
  const bool masked = s->causal || s->window || s->sided || s->pattern;
  Box body = pen_page(pen, now->schedule->title);
  Box side = box_cut_side(pen, &body, 0.46, 0.36, 20 * u);
  Box legend = box_cut_bottom(&body, legend_height(pen), 4 * u);
  const Box tiles = draw_grid(pen, body, NULL);
  draw_legend(pen, tiles.x, fmin(legend.y, tiles.y + tiles.height + 4 * u), legend.x + legend.width - tiles.x);
  box_cut_top(&side, 4 * u, 0);
  if (!masked)
    pen_paragraph(
        pen, TYPE_HEAD, pen->theme->ink, side,
        "Every query sees every key here: there is nothing to skip. Make the problem causal, or press and drag over "
        "tiles: what you paint is hidden.");
  else if (!now->grid.skips) {
    char words[PROGRAM_TITLE_BYTES + 80];
    snprintf(words, sizeof words, "%s computes every tile and masks afterwards: the mask spares it nothing.",
             now->schedule->title);
    words[0] = (char)ascii_upper(words[0]);
    pen_paragraph(pen, TYPE_HEAD, pen->theme->ink, side, words);
  } else
    draw_comparison(pen, side);
}

const Scene CAUSAL_SCENE = {.title = "What the mask spares", .key = '5', .draw = draw};
