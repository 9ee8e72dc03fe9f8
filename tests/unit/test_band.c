/* Bands of packed heads and of long sequences, by hand; against the definition, pair by pair: test_mask.c. */
#include "tests/support/test.h"
#include "sim/problem/mask.h"

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
