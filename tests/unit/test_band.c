/* The mask geometry against the definition, pair by pair: guards every count that traffic is made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/problem/band.h"
#include "tests/support/rand.h"

/* The definition: query i sees key j. Position of i on the key axis is i + N_k - N_q. */
static bool allowed(const Shape *s, int64_t i, int64_t j) {
  const int64_t p = i + s->N_k - s->N_q;
  if (s->causal && j > p) return false;
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

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

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

static void counts_equal_the_definition_on_random_masks(void **state) {
  (void)state;
  Rand r = {7};
  for (int k = 0; k < 20000; k++) {
    Shape s = {.N_q = rand_in(&r, 1, 40), .N_k = rand_in(&r, 1, 40), .d = 1, .causal = rand_in(&r, 0, 1)};
    if (rand_in(&r, 0, 1)) s.window = rand_in(&r, 1, 45);
    assert_int_equal(shape_complete(&s, NULL), STATUS_OK);
    const Band b = band_of_shape(&s), t = band_transpose(&b);
    const int64_t B_r = rand_in(&r, 1, 12), B_c = rand_in(&r, 1, 12);
    check_band(&s, &b, B_r, B_c, false);
    check_band(&s, &t, B_c, B_r, true);
  }
}

static void the_example_with_eight_tokens(void **state) {
  (void)state;
  Shape s = {.N_q = 8, .d = 4, .causal = true};
  assert_int_equal(shape_complete(&s, NULL), STATUS_OK);
  const Band b = band_of_shape(&s);
  const BandCount n = band_count(&b, 2, 2, 4);
  assert_int_equal((int)n.full, 6);                /* below the diagonal */
  assert_int_equal((int)(n.computed - n.full), 4); /* on it */
  assert_int_equal(16 - (int)n.computed, 6);       /* above: skipped */
  assert_true(band_pairs(&b) == 36);               /* 8 * 9 / 2 */
}

static void a_huge_mask_is_counted_at_once(void **state) {
  (void)state;
  Shape s = {.N_q = (int64_t)1 << 40, .d = 1, .causal = true};
  assert_int_equal(shape_complete(&s, NULL), STATUS_OK);
  const Band b = band_of_shape(&s);
  const int64_t T = (int64_t)1 << 33; /* blocks of 128 */
  const BandCount n = band_count(&b, 128, 128, T);
  const Wide triangle = wide(T) * wide(T - 1) / 2;
  assert_true(n.full == triangle);
  assert_true(n.computed == triangle + wide(T));
  assert_true(band_pairs(&b) == (((Wide)1 << 40) + 1) * ((Wide)1 << 39));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_equal_the_definition_on_random_masks),
      cmocka_unit_test(the_example_with_eight_tokens),
      cmocka_unit_test(a_huge_mask_is_counted_at_once),
  };
  return cmocka_run_group_tests_name("band", tests, NULL, NULL);
}
