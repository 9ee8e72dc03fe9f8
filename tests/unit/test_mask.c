/* Masks against their definition, pair by pair: bands, sides, top left, patterns by name and from a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/problem/mask.h"
#include "tests/support/rand.h"

enum { MAX_N = 40, STRIDE = 3, BLOCK = 4 };

/* Written out: what the options say of query i and key j. */
static bool allowed(const Shape *s, int64_t i, int64_t j) {
  const int64_t p = s->top_left ? i : i + s->N_k - s->N_q;
  if (s->causal && j > p) return false;
  if (s->window && (j <= p - s->window || (!s->causal && j >= p + s->window))) return false;
  if (s->sided && ((s->left >= 0 && j < p - s->left) || (s->right >= 0 && j > p + s->right))) return false;
  if (!s->pattern) return true;
  const int64_t rows = (s->N_q + BLOCK - 1) / BLOCK, cols = (s->N_k + BLOCK - 1) / BLOCK;
  return (i / BLOCK + cols - rows - j / BLOCK) % STRIDE == 0;
}

static Shape random_shape(Rand *r) {
  Shape s = {.N_q = rand_in(r, 1, MAX_N), .N_k = rand_in(r, 1, MAX_N), .d = 1, .causal = rand_in(r, 0, 1)};
  s.top_left = rand_in(r, 0, 2) == 0;
  const int64_t kind = rand_in(r, 0, 2);
  if (kind == 1) s.window = rand_in(r, 1, 20);
  if (kind == 2) s.sided = true, s.left = rand_in(r, -1, 9), s.right = rand_in(r, -1, 9);
  return s;
}

/* Of a band, a tile is full, partial or skipped by the pairs in it, and pairs are counted one by one. */
static void bands_are_their_pairs(void **state) {
  (void)state;
  Rand r = {1};
  for (int n = 0; n < 3000; n++) {
    const Shape s = random_shape(&r);
    const Mask m = mask_of_shape(&s);
    const int64_t row0 = rand_in(&r, 0, s.N_q - 1), col0 = rand_in(&r, 0, s.N_k - 1);
    const int64_t row1 = rand_in(&r, row0 + 1, s.N_q), col1 = rand_in(&r, col0 + 1, s.N_k);
    int64_t in_tile = 0, in_all = 0;
    for (int64_t i = 0; i < s.N_q; i++)
      for (int64_t j = 0; j < s.N_k; j++) {
        const bool is = allowed(&s, i, j);
        assert_int_equal(mask_allows(&m, i, j), is);
        in_all += is;
        in_tile += is && i >= row0 && i < row1 && j >= col0 && j < col1;
      }
    assert_true(mask_pairs(&m) == wide(in_all));
    const TileKind want = in_tile == 0                               ? TILE_SKIPPED
                          : in_tile == (row1 - row0) * (col1 - col0) ? TILE_FULL
                                                                     : TILE_PARTIAL;
    assert_int_equal(mask_tile(&m, row0, row1, col0, col1), want);
  }
}

/* Counts of a rectangle of tiles are the sums over its tiles, with a pattern too. */
static void counts_are_sums_over_tiles(void **state) {
  (void)state;
  Rand r = {2};
  for (int n = 0; n < 3000; n++) {
    Shape s = random_shape(&r);
    Pattern *pattern = n % 2 ? pattern_named("strided:3:4", s.N_q, s.N_k, NULL) : NULL;
    s.pattern = pattern;
    const Mask m = mask_of_shape(&s);
    const int64_t B_r = rand_in(&r, 1, 9), B_c = rand_in(&r, 1, 9);
    const int64_t T_r = ceil_div(s.N_q, B_r), T_c = ceil_div(s.N_k, B_c);
    const int64_t i0 = rand_in(&r, 0, T_r - 1), j0 = rand_in(&r, 0, T_c - 1);
    const MaskTiles t = {B_r, B_c, {i0, rand_in(&r, i0, T_r)}, {j0, rand_in(&r, j0, T_c)}};
    MaskCount sum = {0};
    Wide rows_seen = 0, cols_seen = 0;
    bool col_has[MAX_N] = {false};
    for (int64_t i = t.rows.begin; i < t.rows.end; i++) {
      bool has = false;
      for (int64_t j = t.cols.begin; j < t.cols.end; j++) {
        const int64_t row1 = (i + 1) * B_r < s.N_q ? (i + 1) * B_r : s.N_q,
                      col1 = (j + 1) * B_c < s.N_k ? (j + 1) * B_c : s.N_k;
        const TileKind kind = mask_tile(&m, i * B_r, row1, j * B_c, col1);
        sum.tiles++;
        if (kind == TILE_SKIPPED) continue;
        sum.computed++;
        sum.full += kind == TILE_FULL;
        sum.rows += wide(row1 - i * B_r);
        sum.cols += wide(col1 - j * B_c);
        sum.area += wide(row1 - i * B_r) * wide(col1 - j * B_c);
        has = col_has[j] = true;
      }
      rows_seen += has;
    }
    for (int j = 0; j < MAX_N; j++) cols_seen += col_has[j];
    const MaskCount count = mask_count(&m, &t);
    assert_memory_equal(&count, &sum, sizeof sum);
    assert_true(mask_rows_seen(&m, &t).blocks == rows_seen);
    assert_true(mask_cols_seen(&m, &t).blocks == cols_seen);
    free(pattern);
  }
}

static void a_strided_pattern_is_what_its_name_says(void **state) {
  (void)state;
  Rand r = {3};
  for (int n = 0; n < 200; n++) {
    Shape s = random_shape(&r);
    Pattern *pattern = pattern_named("strided:3:4", s.N_q, s.N_k, NULL);
    s.pattern = pattern;
    const Mask m = mask_of_shape(&s);
    for (int64_t i = 0; i < s.N_q; i++)
      for (int64_t j = 0; j < s.N_k; j++) assert_int_equal(mask_allows(&m, i, j), allowed(&s, i, j));
    free(pattern);
  }
}

static void files_of_blocks(void **state) {
  (void)state;
  static const char TEXT[] = "block 2\n#.\n.#\n##\n";
  Error error = {0};
  Pattern *p = pattern_read(TEXT, sizeof TEXT - 1, "m.txt", 5, 4, &error);
  assert_non_null(p);
  const Shape s = {.N_q = 5, .N_k = 4, .d = 1, .pattern = p};
  const Mask m = mask_of_shape(&s);
  assert_true(mask_allows(&m, 1, 1) && !mask_allows(&m, 1, 2) && mask_allows(&m, 4, 0) && mask_allows(&m, 2, 3));
  assert_true(mask_pairs(&m) == 4 + 4 + 4); /* two blocks of 2 x 2, and the last row's four keys */
  free(p);
  static const struct {
    const char *text, *says;
  } BAD[] = {
      {"block x\n", "m.txt:1: after 'block' comes one whole number"},
      {"block 2\n#.\n", "m.txt:3: the file ends after 1 of 3 lines"},
      {"block 2\n#.#\n", "m.txt:2: N_q = 5 and N_k = 4 need 3 lines of 2 blocks of 2"},
      {"block 2\n#x\n", "m.txt:2: a line has # for a block that is seen"},
  };
  for (size_t k = 0; k < sizeof BAD / sizeof *BAD; k++) {
    error = (Error){0};
    assert_null(pattern_read(BAD[k].text, strlen(BAD[k].text), "m.txt", 5, 4, &error));
    if (strncmp(error.message, BAD[k].says, strlen(BAD[k].says)) != 0) fail_msg("%s", error.message);
  }
  static const char *const NAMES[] = {"",           "strided",     "strided:",  "strided:0",
                                      "strided:4:", "strided:4:0", "strided:4x"};
  for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) assert_null(pattern_named(NAMES[k], 64, 64, NULL));
  assert_null(pattern_named("strided:4:1", 1 << 20, 1 << 20, &error)); /* too many blocks */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bands_are_their_pairs),
      cmocka_unit_test(counts_are_sums_over_tiles),
      cmocka_unit_test(a_strided_pattern_is_what_its_name_says),
      cmocka_unit_test(files_of_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
