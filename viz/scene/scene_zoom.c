/* One key on its way down, each level the lit piece of the one before: the keys of a head, a tile, a row, what a warp
 * reads of it at once, and the bank that a lane's four bytes come from.
 *
 *     Head      Tile      Row       Warp      Banks
 *     ▮▮▣▮▮     ▤▤▣▤▤     ▦▦▦▦▦     ▦▣▦▦▦     ▏▏▎▏▏▏
 *
 * Zoom 0 shows all five beside each other; 1 to 5 are the levels, and the camera enters the lit piece: what was a cell
 * becomes the frame. Modelled: sim/machine/warp.h's banks and swizzles. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/machine/warp.h"
#include "viz/scene/pen.h"
#include "viz/text/number.h"

enum { LEVELS = 5, KEY = 11, LANE = 13, TILES_SHOWN = 64, LANES_ACROSS = 8, NUMBERS_ACROSS = 16, KEYS_A_LINE = 8 };
enum { LEVEL_HEAD = 0, LEVEL_TILE, LEVEL_ROW, LEVEL_WARP, LEVEL_BANKS };
static const char *const NAMES[LEVELS] = {"Head", "Tile", "Row", "Warp", "Banks"};

#define STRIP 0.075 /* of the head's square: the keys, above the scores they are for */

/* Sizes, and where the lit piece of each level lies, as parts of its square. */
typedef struct {
  int64_t j, n_tiles, first_tile; /* the tile; those that are shown */
  int64_t key, tile_keys;
  uint64_t line_bytes, lanes, lane, bank, next_bank;
  double lanes_across, lanes_down;
  int distinct; /* banks in which eight keys in a row have that lane's bytes */
  WarpSwizzle swizzle;
  Wide bytes[LEVELS];
  Box lit[LEVELS];
} Zoom;

static uint64_t bank_of(const WarpTile *tile, int64_t key, uint64_t lane) {
  return warp_tile_address(tile, (uint64_t)key, lane * WARP_BANK_BYTES) / WARP_BANK_BYTES % WARP_BANKS;
}

static void find_banks(Zoom *z, uint64_t row_bytes) {
  const WarpTile tile = {.row_bytes = z->line_bytes, .swizzle = warp_swizzle_for(row_bytes)};
  uint32_t banks = 0;
  z->swizzle = tile.swizzle;
  z->bank = bank_of(&tile, z->key, z->lane);
  z->next_bank = bank_of(&tile, (z->key + 1) % z->tile_keys, z->lane);
  for (int64_t k = 0; k < 8; k++) banks |= 1u << bank_of(&tile, z->key / 8 * 8 + k, z->lane);
  for (; banks; banks &= banks - 1) z->distinct++;
}

static Zoom zoom_of(const Snapshot *now) {
  const SnapshotGrid *g = &now->grid;
  const uint64_t row_bytes = (uint64_t)(g->d * g->element_bytes);
  Zoom z = {.j = snapshot_keys_block(now), .tile_keys = g->B_c, .key = KEY % g->B_c};
  if (z.j < 0) z.j = 0;
  z.n_tiles = g->T_c < TILES_SHOWN ? g->T_c : TILES_SHOWN;
  z.first_tile = z.j - z.n_tiles / 2;
  if (z.first_tile > g->T_c - z.n_tiles) z.first_tile = g->T_c - z.n_tiles;
  if (z.first_tile < 0) z.first_tile = 0;
  z.line_bytes = row_bytes < WARP_LINE_BYTES ? row_bytes : WARP_LINE_BYTES;
  z.lanes = z.line_bytes / WARP_BANK_BYTES > 0 ? z.line_bytes / WARP_BANK_BYTES : 1;
  z.lane = LANE % z.lanes;
  z.lanes_across = (double)(z.lanes < LANES_ACROSS ? z.lanes : LANES_ACROSS);
  z.lanes_down = ceil((double)z.lanes / LANES_ACROSS);
  find_banks(&z, row_bytes);
  const Wide bytes[LEVELS] = {(Wide)g->N_k * (Wide)row_bytes, (Wide)g->B_c * (Wide)row_bytes, (Wide)row_bytes,
                              (Wide)z.line_bytes, WARP_BANK_BYTES};
  memcpy(z.bytes, bytes, sizeof bytes);
  z.lit[LEVEL_HEAD] = (Box){(double)(z.j - z.first_tile) / (double)z.n_tiles, 0, 1 / (double)z.n_tiles, STRIP};
  z.lit[LEVEL_TILE] = (Box){0, (double)z.key / (double)g->B_c, 1, 1 / (double)g->B_c};
  z.lit[LEVEL_ROW] = (Box){0, 0, 1, (double)z.line_bytes / (double)row_bytes};
  z.lit[LEVEL_WARP] = (Box){(double)(z.lane % LANES_ACROSS) / z.lanes_across,
                            (double)(z.lane / LANES_ACROSS) / z.lanes_down, 1 / z.lanes_across, 1 / z.lanes_down};
  z.lit[LEVEL_BANKS] = (Box){(double)z.bank / WARP_BANKS, 0, 1.0 / WARP_BANKS, 1};
  return z;
}

/* ---- In words --------------------------------------------------------------------------------------------- */

static void tell(const Snapshot *now, SceneMemo *memo, Narration *said) {
  (void)memo;
  const Zoom z = zoom_of(now);
  const int64_t bytes = now->grid.element_bytes, per_lane = bytes < WARP_BANK_BYTES ? WARP_BANK_BYTES / bytes : 1,
                first = (int64_t)z.lane * per_lane;
  char numbers[64];
  if (per_lane == 1)
    snprintf(numbers, sizeof numbers, "number %" PRId64, first);
  else
    snprintf(numbers, sizeof numbers, "numbers %" PRId64 " %s %" PRId64, first, per_lane == 2 ? "and" : "to",
             first + per_lane - 1);
  snprintf(said->what, sizeof said->what,
           "Lane %" PRIu64 " holds %s of key %" PRId64 " of %s[%" PRId64 "]: bank %" PRIu64 ".", z.lane, numbers, z.key,
           now->schedule->tensors[snapshot_keys(now)].text, z.j, z.bank);
  if (z.tile_keys < 2)
    snprintf(said->why, sizeof said->why, "Each step is the lit piece of the step before.");
  else
    snprintf(said->why, sizeof said->why,
             "Key %" PRId64 " has them in bank %" PRIu64 "; eight keys, swizzled, in %d bank%s.",
             (z.key + 1) % z.tile_keys, z.next_bank, z.distinct, z.distinct == 1 ? "" : "s");
}

static void count_words(const Snapshot *now, const Zoom *z, int level, char *words, size_t size) {
  switch (level) {
  case LEVEL_HEAD:
    snprintf(words, size, "%.24s tiles of %.24s", number_count((Wide)now->grid.T_c).text,
             now->schedule->tensors[snapshot_keys(now)].text);
    break;
  case LEVEL_TILE: snprintf(words, size, "%.40s keys", number_count((Wide)z->tile_keys).text); break;
  case LEVEL_ROW: snprintf(words, size, "%.40s numbers", number_count((Wide)now->grid.d).text); break;
  case LEVEL_WARP: snprintf(words, size, "%" PRIu64 " lanes", z->lanes); break;
  default: snprintf(words, size, "%d banks", WARP_BANKS);
  }
}

/* ---- A level ---------------------------------------------------------------------------------------------- */

static Box within(Box square, Box part) {
  return (Box){square.x + square.width * part.x, square.y + square.height * part.y, square.width * part.width,
               square.height * part.height};
}

/* Lines between `across` by `down` cells. */
static void draw_lines(const Pen *pen, Box box, double across, double down, double alpha) {
  const Colour colour = theme_mix(pen->theme->tile[TILE_COLOUR_HELD], pen->theme->background, alpha);
  for (int k = 1; k < across; k++) {
    const double x = box.x + box.width * k / across;
    pen_line(pen, colour, 1, x, box.y, x, box.y + box.height);
  }
  for (int k = 1; k < down; k++) {
    const double y = box.y + box.height * k / down;
    pen_line(pen, colour, 1, box.x, y, box.x + box.width, y);
  }
}

/* The level in its square, the piece that the next one is of it lit. */
static void draw_level(const Pen *pen, const Zoom *z, int level, Box at, double alpha) {
  const Theme *t = pen->theme;
  Box ground = at;
  if (level == LEVEL_HEAD) {
    const Box lit = z->lit[LEVEL_HEAD];
    pen_fill(pen, within(at, (Box){0, STRIP + 0.02, 1, 0.98 - STRIP}), t->tile[TILE_COLOUR_EMPTY], alpha);
    if (alpha >= 1) pen_state(pen, within(at, (Box){0, STRIP + 0.02, 1, 0.98 - STRIP}), TILE_COLOUR_EMPTY);
    pen_fill(pen, within(at, (Box){lit.x, STRIP + 0.02, lit.width, 0.98 - STRIP}), t->tile[TILE_COLOUR_CURRENT],
             0.35 * alpha);
    ground = within(at, (Box){0, 0, 1, STRIP});
  }
  Box lit = within(at, z->lit[level]);
  const double least = fmax(0, 3 * pen->unit - lit.height) * (level == LEVEL_TILE); /* else a key is not seen */
  lit.y -= least / 2, lit.height += least;
  const double cells[LEVELS][2] = {{(double)z->n_tiles, 1},
                                   {1, fmin(64, ceil((double)z->tile_keys / KEYS_A_LINE))},
                                   {NUMBERS_ACROSS, fmin(64, ceil((double)pen->now->grid.d / NUMBERS_ACROSS))},
                                   {z->lanes_across, z->lanes_down},
                                   {WARP_BANKS, 1}};
  pen_fill(pen, ground, t->tile[TILE_COLOUR_HELD], alpha);
  if (level != LEVEL_TILE) pen_fill(pen, lit, t->tile[TILE_COLOUR_CURRENT], alpha);
  draw_lines(pen, ground, cells[level][0], cells[level][1], alpha);
  if (level == LEVEL_TILE) pen_fill(pen, lit, t->tile[TILE_COLOUR_CURRENT], alpha); /* a key is less than a line */
  if (level < LEVEL_BANKS && alpha >= 1 && fmin(lit.width, lit.height) > 7 * pen->unit) pen_frame(pen, lit, t->ink, 2);
  pen_body(pen, BODY_TILE, snapshot_keys(pen->now), lit, alpha);
}

static void draw_words(const Pen *pen, const Zoom *z, int level, Box box, bool is_on) {
  const Theme *t = pen->theme;
  const double head = pen_size(pen, TYPE_NUMBER), body = pen_size(pen, TYPE_HEAD);
  char words[64];
  count_words(pen->now, z, level, words, sizeof words);
  const Number bytes = number_bytes(z->bytes[level]);
  TypeSize type = TYPE_NUMBER; /* one for all levels */
  for (int k = 0; k < LEVELS; k++) type = pen_fitting_type(pen, type, true, box.width, number_bytes(z->bytes[k]).text);
  pen_text(pen, type,
           !is_on                 ? t->ink_soft
           : level == LEVEL_BANKS ? t->waste_text
                                  : t->series_text[INK_BLUE],
           true, ANCHOR_START, box.x, box.y + head, box.width, bytes.text);
  if (pen_text_width(pen, TYPE_SMALL, false, words) > box.width) return;
  pen_text(pen, pen_fitting_type(pen, TYPE_HEAD, false, box.width, words), is_on ? t->ink : t->ink_soft, false,
           ANCHOR_START, box.x, box.y + head + 1.5 * body, 0, words);
}

/* ---- All of them ------------------------------------------------------------------------------------------- */

/* The squares side by side, or on a tall page below each other with their words at the right. */
static Box square_of(const Pen *pen, Box body, int level) {
  const double u = pen->unit, title = 1.9 * pen_size(pen, TYPE_HEAD),
               words = pen_size(pen, TYPE_NUMBER) + 2.4 * pen_size(pen, TYPE_HEAD);
  if (pen->is_tall) {
    const double pitch = body.height / LEVELS, side = fmin(pitch - title - 10 * u, 0.5 * body.width);
    return box_at(body.x, body.y + pitch * level + title, side, side);
  }
  const double pitch = (body.width + 40 * u) / LEVELS, side = fmin(pitch - 40 * u, body.height - title - words),
               air = fmax(0, (body.height - title - words - side) / 3);
  return box_at(body.x + pitch * level, body.y + title + air, side, side);
}

static void draw_overview(const Pen *pen, const Zoom *z, Box body) {
  const Theme *t = pen->theme;
  const double u = pen->unit;
  for (int level = 0; level < LEVELS; level++) {
    const Box s = square_of(pen, body, level);
    const double right = s.x + s.width + 16 * u;
    draw_level(pen, z, level, s, 1);
    pen_text(pen, TYPE_HEAD, t->ink, true, ANCHOR_START, s.x, s.y - 0.5 * pen_size(pen, TYPE_HEAD), 0, NAMES[level]);
    draw_words(pen, z, level,
               pen->is_tall ? (Box){right, s.y, body.x + body.width - right, s.height}
                            : (Box){s.x, s.y + s.height + 8 * u, s.width + 36 * u, 110 * u},
               true);
    if (level == LEVEL_BANKS || pen->is_tall) continue;
    const Box lit = within(s, z->lit[level]), next = square_of(pen, body, level + 1);
    const double x = next.x - 6 * u;
    pen_line(pen, t->ink, 1.2, lit.x + lit.width, lit.y, x, next.y);
    pen_line(pen, t->ink, 1.2, lit.x + lit.width, lit.y + lit.height, x, next.y + next.height);
    pen_line(pen, t->ink, 1.2, x, next.y, x, next.y + next.height);
  }
}

/* ---- The camera --------------------------------------------------------------------------------------------- */

static double eased(double part) { return part * part * (3 - 2 * part); } /* slow at both ends */

/* One side of what the camera sees, from all of the square to the lit piece, by equal factors a moment. */
static void see(double *from, double *size, double lit_from, double lit_size, double part) {
  const double factor = fmax(lit_size, 1e-6);
  *size = pow(factor, part);
  *from = factor < 1 ? lit_from * (1 - *size) / (1 - factor) : 0;
}

/* Where a level's square is on the page, while the camera is `part` of the way into its lit piece. */
static Box through_camera(Box frame, Box lit, double part) {
  double x, y, width, height;
  see(&x, &width, lit.x, lit.width, part);
  see(&y, &height, lit.y, lit.height, part);
  return (Box){frame.x - frame.width * x / width, frame.y - frame.height * y / height, frame.width / width,
               frame.height / height};
}

static Box frame_of(const Pen *pen, Box body) {
  const double size = pen->is_tall ? fmin(body.width, 0.6 * body.height) : fmin(body.height, 0.55 * body.width);
  return box_at(body.x, body.y, size, size);
}

static void draw_levels(const Pen *pen, const Zoom *z, Box body, double zoom) {
  const Theme *t = pen->theme;
  const Box frame = frame_of(pen, body);
  const int level = (int)fmin(floor(zoom - 1), LEVELS - 1);
  const double u = pen->unit, part = level + 1 < LEVELS ? eased(fmin(1, fmax(0, zoom - 1 - level))) : 0;
  const Box square = through_camera(frame, z->lit[level], part);
  cairo_save(pen->cr);
  cairo_rectangle(pen->cr, frame.x, frame.y, frame.width, frame.height);
  cairo_clip(pen->cr);
  draw_level(pen, z, level, square, 1);
  if (part > 0) draw_level(pen, z, level + 1, within(square, z->lit[level]), part);
  cairo_restore(pen->cr);
  pen_frame(pen, frame, t->ink, 2);
  const double right = frame.x + frame.width + 40 * u, below = frame.y + frame.height + 14 * u;
  const Box side = pen->is_tall ? (Box){body.x, below, body.width, body.y + body.height - below}
                                : (Box){right, body.y, body.x + body.width - right, body.height};
  const double pitch = side.height / LEVELS, name = pen_text_width(pen, TYPE_HEAD, true, "Banks") + 24 * u;
  for (int k = 0; k < LEVELS; k++) {
    const bool is_on = k == (int)floor(zoom - 0.5);
    const Box line = {side.x, side.y + pitch * k, side.width, pitch};
    if (is_on) pen_fill(pen, (Box){line.x, line.y, 6 * u, pitch - 8 * u}, t->tile[TILE_COLOUR_CURRENT], 1);
    pen_text(pen, TYPE_HEAD, is_on ? t->ink : t->ink_soft, is_on, ANCHOR_START, line.x + 16 * u,
             line.y + pen_size(pen, TYPE_TITLE), name, NAMES[k]);
    draw_words(pen, z, k, (Box){line.x + 16 * u + name, line.y, line.width - 16 * u - name, pitch}, is_on);
  }
}

static void draw(const Pen *pen) {
  const Snapshot *now = pen->now;
  const double small = pen_size(pen, TYPE_SMALL);
  const Zoom z = zoom_of(now);
  Narration said;
  char words[160];
  tell(now, pen->view->memo, &said);
  Box body = pen_page_told(pen, ZOOM_SCENE.title, &said);
  if (pen->hit || body.height < 120 * pen->unit) return;
  const Box foot = box_cut_bottom(&body, 1.5 * small, 8 * pen->unit);
  snprintf(words, sizeof words, "%s of one head: N = %s, d = %" PRId64 ". Swizzled as TMA does: %s.",
           now->schedule->tensors[snapshot_keys(now)].text, number_count((Wide)now->grid.N_k).text, now->grid.d,
           warp_swizzle_name(z.swizzle));
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, foot.x, foot.y + 1.1 * small, foot.width, words);
  if (now->zoom <= 0)
    draw_overview(pen, &z, body);
  else if (now->zoom < 1) /* the first square grows to the frame */
    draw_level(pen, &z, 0, box_between(square_of(pen, body, 0), frame_of(pen, body), eased(now->zoom)), 1);
  else
    draw_levels(pen, &z, body, now->zoom);
}

const Scene ZOOM_SCENE = {
    .title = "One key, from its head down to its bank", .key = 'Q', .zooms = LEVELS, .draw = draw, .narrate = tell};
