/* A mask painted tile by tile: each stroke of the pointer shows or hides what it crosses. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "viz/player/player_parts.h"
#include "viz/text/number.h"

enum { SIDE = PATTERN_PAINTED_SIDE };

typedef struct {
  int64_t block, rows, cols;
  bool cells[SIDE][SIDE];
} Painted;

static int64_t common_divisor(int64_t a, int64_t b) { return b ? common_divisor(b, a % b) : a; }

/* The present mask beside its band, as cells. False: a message says why it cannot be painted. */
static bool painted_of(Player *p, Painted *painted) {
  const SnapshotGrid *g = &p->now.grid;
  Shape s = p->stage.run.plan.shape;
  if (s.pattern && (s.pattern->kind == PATTERN_SINK || s.pattern->kind == PATTERN_PREFIX)) {
    player_say(p, true, "%s shows keys beside the band: blocks cannot say that. Take it out, then paint",
               s.pattern->name);
    return false;
  }
  if (g->N_q != s.N_q || g->N_k != s.N_k) {
    player_say(p, true, "Rows of several heads share a tile here: with pack-gqa=off the mask can be painted");
    return false;
  }
  s.causal = s.sided = false;
  s.window = 0;
  const Mask mask = mask_of_shape(&s);
  painted->block = common_divisor(g->B_r, g->B_c);
  painted->rows = (s.N_q - 1) / painted->block + 1;
  painted->cols = (s.N_k - 1) / painted->block + 1;
  if (painted->rows > SIDE || painted->cols > SIDE) {
    player_say(p, true, "A painted mask has at most %d x %d blocks, and these tiles would make %" PRId64 " x %" PRId64,
               SIDE, SIDE, painted->rows, painted->cols);
    return false;
  }
  for (int64_t i = 0; i < painted->rows; i++)
    for (int64_t j = 0; j < painted->cols; j++) {
      const int64_t b = painted->block, row1 = i + 1 < painted->rows ? (i + 1) * b : s.N_q,
                    col1 = j + 1 < painted->cols ? (j + 1) * b : s.N_k;
      painted->cells[i][j] = mask_tile(&mask, i * b, row1, j * b, col1) != TILE_SKIPPED;
    }
  return true;
}

static bool *cell_of(Painted *painted, const SnapshotGrid *g, int64_t i, int64_t j) {
  return &painted->cells[i * g->B_r / painted->block][j * g->B_c / painted->block];
}

static void paint_tile(Painted *painted, const SnapshotGrid *g, int64_t i, int64_t j, bool seen) {
  const int64_t b = painted->block;
  for (int64_t row = i * g->B_r / b; row < painted->rows && row < (i + 1) * g->B_r / b; row++)
    for (int64_t col = j * g->B_c / b; col < painted->cols && col < (j + 1) * g->B_c / b; col++)
      painted->cells[row][col] = seen;
}

static bool all_seen(const Painted *painted) {
  for (int64_t row = 0; row < painted->rows; row++)
    for (int64_t col = 0; col < painted->cols; col++)
      if (!painted->cells[row][col]) return false;
  return true;
}

static bool take_mask(Player *p, const char *mask) {
  Request r = p->request;
  strcpy(r.mask, mask);
  p->is_playing = false;
  return player_apply(p, &r, p->without_max);
}

static void say_painted(Player *p, int64_t i, int64_t j) {
  const SnapshotGrid *g = &p->now.grid;
  const bool hidden = p->paints_seen && snapshot_tile(g, i, j).kind == TILE_SKIPPED;
  const Wide seen = p->now.whole.tiles[TILE_FULL] + p->now.whole.tiles[TILE_PARTIAL];
  if (hidden)
    player_say(p, false, "This tile is allowed now, and still hidden by the causal mask or the window");
  else
    player_say(p, false, "%s of %s tiles are seen. Backspace takes the stroke back", number_count(seen).text,
               number_count(wide(g->T_r) * wide(g->T_c)).text);
}

void player_paint_to(Player *p, int64_t i, int64_t j) {
  const SnapshotGrid *g = &p->now.grid;
  Painted *painted = malloc(sizeof *painted);
  const int64_t di = i - p->paint_i, dj = j - p->paint_j, down = di < 0 ? -di : di, right = dj < 0 ? -dj : dj,
                n = down > right ? down : right;
  if (painted && painted_of(p, painted)) {
    char name[PATTERN_NAME_BYTES] = "";
    for (int64_t k = 0; k <= n; k++) /* a quick pointer leaves tiles out: those between */
      paint_tile(painted, g, i - (n ? di * k / n : 0), j - (n ? dj * k / n : 0), p->paints_seen);
    if (!all_seen(painted)) pattern_painted_name(painted->block, painted->rows, painted->cols, painted->cells, name);
    p->paint_i = i;
    p->paint_j = j;
    if (take_mask(p, name)) say_painted(p, i, j);
  }
  free(painted);
}

bool player_paint(Player *p, int64_t i, int64_t j) {
  Painted *painted = malloc(sizeof *painted);
  const bool can = painted && painted_of(p, painted);
  if (can) {
    const int most = PLAYER_STROKES;
    if (p->n_strokes == most) memmove(p->strokes, p->strokes + 1, sizeof p->strokes - sizeof *p->strokes);
    strcpy(p->strokes[p->n_strokes < most ? p->n_strokes++ : most - 1], p->request.mask);
    p->paints_seen = !*cell_of(painted, &p->now.grid, i, j);
    p->paint_i = i;
    p->paint_j = j;
    player_paint_to(p, i, j);
  }
  free(painted);
  return can;
}

void player_unpaint(Player *p) {
  if (p->n_strokes == 0)
    player_say(p, false, "Nothing is painted that could be taken back");
  else if (take_mask(p, p->strokes[--p->n_strokes]))
    player_say(p, false, "The last stroke is taken back");
}
