/* Tiles around the present one, where the whole grid has too many to tell apart. */
#include <inttypes.h>
#include <stdio.h>

#include "viz/scene/pen.h"

enum { LENS_TILES = 9, LENS_FROM = 40 /* tiles a side from which on there is one */ };

static int64_t clamped(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

static void shift(int64_t *index, int64_t by) {
  if (*index >= 0) *index -= by;
}

/* The same moment with rows of tiles from i0 and columns from j0 on alone: all indices count from there. */
static void look_closer(const Snapshot *now, int64_t i0, int64_t j0, Snapshot *lens) {
  *lens = *now;
  SnapshotGrid *g = &lens->grid;
  const int64_t rows = now->grid.N_q - i0 * g->B_r, cols = now->grid.N_k - j0 * g->B_c;
  g->N_q = rows < LENS_TILES * g->B_r ? rows : LENS_TILES * g->B_r;
  g->N_k = cols < LENS_TILES * g->B_c ? cols : LENS_TILES * g->B_c;
  g->T_r = (g->N_q + g->B_r - 1) / g->B_r;
  g->T_c = (g->N_k + g->B_c - 1) / g->B_c;
  g->mask = mask_part(&g->mask, i0 * g->B_r, j0 * g->B_c, g->N_q, g->N_k);
  shift(&g->i, i0);
  shift(&g->j, j0);
  const int64_t along = g->column_by_column ? i0 : j0;
  g->line -= g->column_by_column ? j0 : i0;
  g->i0 = i0;
  g->j0 = j0;
  shift(&lens->event.i, i0);
  shift(&lens->event.j, j0);
  shift(&lens->before.i, i0);
  shift(&lens->before.j, j0);
  lens->skips.first -= along;
  lens->before.skips.first -= along;
  for (int k = 0; k < now->schedule->n_values; k++) {
    shift(&lens->slots[k].i, i0);
    shift(&lens->slots[k].j, j0);
    shift(&lens->before.slots[k].i, i0);
    shift(&lens->before.slots[k].j, j0);
  }
}

bool draw_lens(const Pen *pen, Box box) {
  const SnapshotGrid *g = &pen->now->grid;
  if ((g->T_r < LENS_FROM && g->T_c < LENS_FROM) || box.width < 150 * pen->unit || box.height < 150 * pen->unit)
    return false;
  const int64_t i = g->i >= 0             ? g->i
                    : g->column_by_column ? 0
                                          : clamped(g->line, 0, g->T_r - 1),
                j = g->j >= 0             ? g->j
                    : g->column_by_column ? clamped(g->line, 0, g->T_c - 1)
                                          : 0;
  Pen closer = *pen;
  Snapshot lens;
  /* The window moves by whole windows, so that tiles stay where they are while the walk goes through it. */
  closer.lens_i = clamped(i - LENS_TILES / 2, 0, g->T_r > LENS_TILES ? g->T_r - LENS_TILES : 0);
  closer.lens_j = clamped(j / LENS_TILES * LENS_TILES, 0, g->T_c > LENS_TILES ? g->T_c - LENS_TILES : 0);
  if (g->column_by_column) {
    closer.lens_i = clamped(i / LENS_TILES * LENS_TILES, 0, g->T_r > LENS_TILES ? g->T_r - LENS_TILES : 0);
    closer.lens_j = clamped(j - LENS_TILES / 2, 0, g->T_c > LENS_TILES ? g->T_c - LENS_TILES : 0);
  }
  look_closer(pen->now, closer.lens_i, closer.lens_j, &lens);
  closer.now = &lens;
  const double small = pen_size(pen, TYPE_SMALL);
  char words[96];
  const Box head = box_cut_top(&box, 1.7 * small, 0);
  snprintf(words, sizeof words, "Closer: rows %" PRId64 " to %" PRId64 ", columns %" PRId64 " to %" PRId64 " of tiles",
           closer.lens_i, closer.lens_i + lens.grid.T_r - 1, closer.lens_j, closer.lens_j + lens.grid.T_c - 1);
  if (pen_text_width(pen, TYPE_SMALL, false, words) > head.width) snprintf(words, sizeof words, "Closer");
  pen_text(pen, TYPE_SMALL, pen->theme->ink, false, ANCHOR_START, head.x, head.y + 1.1 * small, head.width, words);
  cairo_save(pen->cr);
  cairo_rectangle(pen->cr, box.x, box.y, box.width, box.height);
  cairo_clip(pen->cr);
  draw_grid(&closer, box, NULL);
  cairo_restore(pen->cr);
  return true;
}
