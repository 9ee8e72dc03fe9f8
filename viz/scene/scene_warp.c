/* One warp at work on the present tile of K: what its 32 lanes ask of HBM, and in which banks of shared memory the
 * rows lie that it reads for a product, as they come and swizzled.
 *
 *     HBM: a line of 128 bytes is 4 sectors        SRAM: 32 banks across, a row of K down
 *     [▮▮▮▮▮▮▮▮|▮▮▮▮▮▮▮▮|▯▯▯▯▯▯▯▯|▯▯▯▯▯▯▯▯]        ▮▮▮▮░░░░░░      ▮▮▮▮░░░░░░
 *                                                  ▮▮▮▮░░░░░░      ░░░░▮▮▮▮░░   swizzled
 *                                                  conflict         none
 *
 * Modelled: sim/machine/warp.h's sectors, banks and swizzles, for an ldmatrix of 8 rows of 16 bytes. Not modelled: in
 * which order a kernel reads the rows; all of them cost the same. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/machine/warp.h"
#include "viz/scene/pen.h"
#include "viz/text/number.h"

enum { ROWS = 8 /* of one ldmatrix */ };

typedef struct {
  uint64_t row_bytes, chunk; /* of K, and what a lane takes */
  uint64_t column;           /* which chunk of the rows */
  int64_t j;
  WarpTile plain, swizzled;
  WarpShared of_plain, of_swizzled;
  WarpGlobal load;
} WarpWork;

/* A tile with a swizzle is at most 128 bytes wide, as TMA's boxes are; wider rows go on in the next such tile, which
 * lies alike. */
static uint64_t place_of(const WarpTile *tile, uint64_t row, const WarpWork *w) {
  return warp_tile_address(tile, row, w->column * w->chunk % tile->row_bytes);
}

/* Eight lanes, a row each. */
static WarpAccess rows_of(const WarpTile *tile, const WarpWork *w) {
  WarpAccess access = {.active = (1u << ROWS) - 1, .element_bytes = (uint32_t)w->chunk};
  for (uint64_t lane = 0; lane < ROWS; lane++) access.address[lane] = place_of(tile, lane, w);
  return access;
}

static WarpWork work_of(const Snapshot *now) {
  const SnapshotGrid *g = &now->grid;
  WarpWork w = {.row_bytes = (uint64_t)(g->d * g->element_bytes), .chunk = 16, .j = snapshot_keys_block(now)};
  if (w.j < 0) w.j = 0;
  while (w.row_bytes % w.chunk) w.chunk /= 2;
  w.column = now->step % (w.row_bytes / w.chunk);
  w.plain = (WarpTile){.row_bytes = w.row_bytes};
  w.swizzled = (WarpTile){.row_bytes = w.row_bytes < WARP_LINE_BYTES ? w.row_bytes : WARP_LINE_BYTES,
                          .swizzle = warp_swizzle_for(w.row_bytes)};
  const WarpAccess plain = rows_of(&w.plain, &w), swizzled = rows_of(&w.swizzled, &w),
                   load = warp_strided((uint64_t)(w.j * g->B_c) * w.row_bytes, (int64_t)w.chunk, (uint32_t)w.chunk);
  w.of_plain = warp_shared(&plain);
  w.of_swizzled = warp_shared(&swizzled);
  w.load = warp_global(&load);
  return w;
}

static void tell(const Snapshot *now, SceneMemo *memo, Narration *said) {
  (void)memo;
  const WarpWork w = work_of(now);
  snprintf(said->what, sizeof said->what, "A warp reads %d rows of K[%" PRId64 "], %" PRIu64 " bytes each: %s.", ROWS,
           w.j, w.chunk, w.of_plain.ways > 1 ? "they share banks" : "each in banks of its own");
  if (w.of_swizzled.ways < w.of_plain.ways)
    snprintf(said->why, sizeof said->why, "As they come that takes %u passes; swizzled, %u.", w.of_plain.wavefronts,
             w.of_swizzled.wavefronts);
  else
    snprintf(said->why, sizeof said->why, "Rows of %" PRIu64 " bytes: %u pass%s, with a swizzle or without.",
             w.row_bytes, w.of_plain.wavefronts, w.of_plain.wavefronts == 1 ? "" : "es");
}

/* Which of eight looks a row or a lane has: told apart by shade, and by its number where there is room. */
static Colour shade(const Theme *t, uint64_t k) {
  return theme_mix(theme_mix(t->panel, t->tile[TILE_COLOUR_DONE], 0.25), t->tile[TILE_COLOUR_DONE],
                   (double)(k % ROWS) / (ROWS - 1));
}

static void draw_lanes_of(const Pen *pen, Box box, const WarpWork *w) {
  const Theme *t = pen->theme;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  char words[160];
  Box in = pen_panel(pen, box, "From HBM", "a frame is a sector of 32 bytes");
  snprintf(words, sizeof words, "%d lanes take %" PRIu64 " bytes each: %u sectors, %s moved for %" PRIu64 " asked",
           WARP_LANES, w->chunk, w->load.sectors, number_bytes(w->load.moved_bytes).text, w->load.requested_bytes);
  const Box foot = box_cut_bottom(&in, 2.9 * small, 4 * u);
  pen_paragraph(pen, TYPE_SMALL, t->ink, foot, words);
  const uint64_t first = (uint64_t)(w->j * pen->now->grid.B_c) * w->row_bytes / WARP_LINE_BYTES,
                 start = (uint64_t)(w->j * pen->now->grid.B_c) * w->row_bytes, end = start + WARP_LANES * w->chunk;
  const int n = (int)w->load.lines;
  const double height = n > 0 ? (in.height - 6 * u) / n : 0, line = height < 60 * u ? height : 60 * u;
  for (int k = 0; k < n; k++) {
    const Box row = box_at(in.x, in.y + line * k, in.width, line - 6 * u);
    for (uint64_t word = 0; word < 32; word++) {
      const uint64_t byte = (first + (uint64_t)k) * WARP_LINE_BYTES + word * 4;
      const double x0 = row.x + row.width * (double)word / 32, x1 = row.x + row.width * (double)(word + 1) / 32;
      const bool asked = byte >= start && byte < end;
      const uint64_t lane = asked ? (byte - start) / w->chunk : 0;
      pen_fill(pen, box_at(x0, row.y, x1 - x0 - 1, row.height), asked ? shade(t, lane) : t->grid, 1);
    }
    for (int sector = 0; sector < 4; sector++)
      pen_frame(pen, box_at(row.x + row.width * sector / 4, row.y - 1, row.width / 4 - 2, row.height + 2), t->ink, 1.4);
  }
  pen_edge(pen, snapshot_keys(pen->now), box_at(in.x, in.y, in.width, line * n), true, pen_happened(pen),
           pen_passing(pen));
}

static void draw_banks(const Pen *pen, Box box, const char *heading, const WarpTile *tile, const WarpShared *cost,
                       const WarpWork *w) {
  const Theme *t = pen->theme;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL), body = pen_size(pen, TYPE_BODY);
  char words[96];
  Box in = pen_panel(pen, box, heading, NULL);
  const Box foot = box_cut_bottom(&in, 1.7 * body, 2 * u), head = box_cut_top(&in, 1.5 * small, 0);
  pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, head.x, head.y + small, head.width,
           "32 banks of 4 bytes");
  const double cell = in.width / WARP_BANKS, height = in.height / ROWS;
  for (uint64_t row = 0; row < ROWS; row++) {
    const uint64_t bank = place_of(tile, row, w) / WARP_BANK_BYTES % WARP_BANKS,
                   n = w->chunk < WARP_BANK_BYTES ? 1 : w->chunk / WARP_BANK_BYTES;
    for (uint64_t b = 0; b < WARP_BANKS; b++) {
      const bool here = b >= bank && b < bank + n;
      const Box at = box_at(in.x + cell * (double)b, in.y + height * (double)row, cell - 1, height - 2);
      pen_fill(pen, at, !here ? t->background : cost->ways > 1 ? t->waste : t->tile[TILE_COLOUR_DONE], 1);
    }
  }
  pen_edge(pen, snapshot_keys(pen->now), in, false, pen_happened(pen), pen_passing(pen));
  snprintf(words, sizeof words, "%u pass%s%s", cost->wavefronts, cost->wavefronts == 1 ? "" : "es",
           cost->ways > 1 ? ": a bank gives one word at a time" : "");
  if (pen_text_width(pen, TYPE_BODY, true, words) > foot.width)
    snprintf(words, sizeof words, "%u pass%s", cost->wavefronts, cost->wavefronts == 1 ? "" : "es");
  pen_text(pen, TYPE_BODY, cost->ways > 1 ? t->bad : t->good, true, ANCHOR_START, foot.x, foot.y + 1.2 * body,
           foot.width, words);
}

static void draw(const Pen *pen) {
  const WarpWork w = work_of(pen->now);
  const double gap = 14 * pen->unit;
  Narration said;
  char heading[48];
  tell(pen->now, pen->view->memo, &said);
  Box body = pen_page_told(pen, pen->now->schedule->title, &said);
  if (!pen->view->presentation) draw_lanes_of(pen, box_cut_top(&body, 0.44 * body.height, gap), &w);
  const Box plain = pen->is_tall ? box_cut_top(&body, (body.height - gap) / 2, gap)
                                 : box_cut_left(&body, (body.width - gap) / 2, gap);
  draw_banks(pen, plain, "In SRAM as it comes", &w.plain, &w.of_plain, &w);
  snprintf(heading, sizeof heading, "In SRAM, swizzle %s", warp_swizzle_name(w.swizzled.swizzle));
  draw_banks(pen, body, heading, &w.swizzled, &w.of_swizzled, &w);
}

const Scene WARP_SCENE = {.title = "One warp: sectors and banks", .key = '0', .draw = draw, .narrate = tell};
