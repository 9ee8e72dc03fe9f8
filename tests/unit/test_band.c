/* The mask geometry against the definition, pair by pair: guards every count that traffic is made of. */
#include "tests/support/test.h"
#include "sim/problem/mask.h"
#include "tests/support/rand.h"

/* The definition: row i of Q, which is query i / group, sees key j. Position of a query on the key axis is its number +
 * N_k - (number of queries), or its number where the mask is aligned to the top left corner. */
static bool allowed(const Shape *s, int64_t i, int64_t j) {
  const int64_t p = i / s->group + (s->top_left ? 0 : s->N_k - s->N_q / s->group);
  if (s->causal && j > p) return false;
  if (s->sided) return (s->left < 0 || j >= p - s->left) && (s->right < 0 || j <= p + s->right);
  if (s->window && j <= p - s->window) return false;
  if (s->window && !s->causal && j >= p + s->window) return false;
  return true;
}

static TileKind slow_tile(const Shape *s, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
  int64_t n = 0;
  for (int64_t i = r0; i < r1; i++)
    for (int64_t j = c0; j < c1; j++) n += allowed(s, i, j);
  return n == 0 ? TILE_SKIPPED : n == (r1 - r0) * (c1 - c0) ? TILE_FULL : TILE_PARTIAL;
}

/* Every count of band_count for every n, and the longest row, against counting tile by tile. */
static void check_band(const Shape *s, const Band *b, int64_t B_r, int64_t B_c, bool transposed) {
  BandCount want = {0};
  int64_t longest = 0;
  for (int64_t i = 0; i * B_r < b->rows; i++) {
    const int64_t r0 = i * B_r, r1 = min64(r0 + B_r, b->rows);
    int64_t n = 0, n_full = 0;
    const BandRow row = band_row(b, B_r, B_c, i);
    for (int64_t j = 0; j * B_c < b->cols; j++) {
      const int64_t c0 = j * B_c, c1 = min64(c0 + B_c, b->cols);
      const TileKind kind = transposed ? slow_tile(s, c0, c1, r0, r1) : slow_tile(s, r0, r1, c0, c1);
      assert_int_equal(kind, band_tile(b, r0, r1, c0, c1));
      assert_int_equal(kind != TILE_SKIPPED, j >= row.computed.begin && j < row.computed.end);
      assert_int_equal(kind == TILE_FULL, j >= row.full.begin && j < row.full.end);
      if (kind == TILE_SKIPPED) continue;
      n++;
      n_full += kind == TILE_FULL;
      want.cols += wide(c1 - c0);
      want.area += wide((c1 - c0) * (r1 - r0));
    }
    want.computed += wide(n);
    want.full += wide(n_full);
    want.n_empty += n == 0;
    if (n > longest) longest = n;
    const BandCount got = band_count(b, B_r, B_c, i + 1);
    assert_true(got.computed == want.computed);
    assert_true(got.full == want.full);
    assert_true(got.cols == want.cols);
    assert_true(got.area == want.area);
    assert_int_equal(got.n_empty, want.n_empty);
  }
  assert_int_equal(band_longest_row(b, B_r, B_c), longest);
}

/* A rectangle of tiles, which may begin within a group. */
static void check_rectangle(const Shape *s, int64_t B_r, int64_t B_c, Rand *r) {
  const Mask m = mask_of_shape(s);
  const int64_t T_r = ceil_div(s->N_q, B_r), T_c = ceil_div(s->N_k, B_c), i0 = rand_in(r, 0, T_r - 1),
                j0 = rand_in(r, 0, T_c - 1);
  const MaskTiles t = {B_r, B_c, {i0, rand_in(r, i0 + 1, T_r)}, {j0, rand_in(r, j0 + 1, T_c)}};
  Wide computed = 0, full = 0, area = 0, rows_seen = 0;
  for (int64_t i = t.rows.begin; i < t.rows.end; i++) {
    bool any = false;
    for (int64_t j = t.cols.begin; j < t.cols.end; j++) {
      const int64_t r1 = min64((i + 1) * B_r, s->N_q), c1 = min64((j + 1) * B_c, s->N_k);
      const TileKind kind = slow_tile(s, i * B_r, r1, j * B_c, c1);
      any = any || kind != TILE_SKIPPED;
      computed += kind != TILE_SKIPPED;
      full += kind == TILE_FULL;
      if (kind != TILE_SKIPPED) area += wide((r1 - i * B_r) * (c1 - j * B_c));
    }
    rows_seen += any;
  }
  const MaskCount n = mask_count(&m, &t);
  assert_true(n.computed == computed && n.full == full && n.area == area);
  assert_true(mask_rows_seen(&m, &t).blocks == rows_seen);
}

TEST(counts_equal_the_definition_on_random_masks) {
  Rand r = {7};
  for (int k = 0; k < 20000; k++) {
    Shape s = {.N_q = rand_in(&r, 1, 40), .N_k = rand_in(&r, 1, 40), .d = 1, .causal = rand_in(&r, 0, 1)};
    if (rand_in(&r, 0, 1)) s.window = rand_in(&r, 1, 45);
    if (rand_in(&r, 0, 1)) {
      s.group = rand_in(&r, 1, 7);
      s.N_q *= s.group;
    }
    s.top_left = rand_in(&r, 0, 3) == 0;
    if (rand_in(&r, 0, 3) == 0) {
      s.sided = true;
      s.left = rand_in(&r, -1, 20);
      s.right = rand_in(&r, -1, 20);
    }
    must(shape_complete(&s, NULL));
    const Band b = band_of_shape(&s), t = band_transpose(&b);
    const int64_t B_r = rand_in(&r, 1, 12), B_c = rand_in(&r, 1, 12);
    check_band(&s, &b, B_r, B_c, false);
    check_band(&s, &t, B_c, B_r, true);
    check_rectangle(&s, B_r, B_c, &r);
  }
}

/* Four query heads a KV head, two queries, a causal mask: rows 0 to 3 are the first query and see all keys but one. */
TEST(packed_rows_see_what_their_query_sees) {
  const Shape heads = {.heads = 8, .kv_heads = 2, .N_q = 2, .N_k = 10, .d = 4, .causal = true};
  Shape s = heads;
  must(shape_complete(&s, NULL));
  const Shape apart = s;
  s = shape_packed(&s);
  assert_int_equal(s.N_q, 8);
  assert_int_equal(s.heads, 2);
  assert_int_equal(s.group, 4);
  const Band b = band_of_shape(&s), one = band_of_shape(&apart);
  for (int64_t row = 0; row < 8; row++) assert_int_equal(band_columns(&b, row).end, row < 4 ? 9 : 10);
  assert_true(2 * band_pairs(&b) == 8 * band_pairs(&one)); /* packing changes no pair */
  const Shape back = shape_unpacked(&s);
  assert_true(back.heads == apart.heads && back.N_q == apart.N_q && back.group == 1 && back.kv_heads == 2);
}

TEST(a_huge_mask_is_counted_at_once) {
  Shape s = {.N_q = (int64_t)1 << 40, .d = 1, .causal = true};
  must(shape_complete(&s, NULL));
  const Band b = band_of_shape(&s);
  const int64_t T = (int64_t)1 << 33; /* blocks of 128 */
  const BandCount n = band_count(&b, 128, 128, T);
  const Wide triangle = wide(T) * wide(T - 1) / 2;
  assert_true(n.full == triangle);
  assert_true(n.computed == triangle + wide(T));
  assert_true(band_pairs(&b) == (((Wide)1 << 40) + 1) * ((Wide)1 << 39));
}
