/* Addresses of the tensors of one head: in the documented order, on lines, and apart from each other. */
#include "sim/problem/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static Plan plan_of(Shape shape, Tiling tiling) {
  Plan plan;
  assert_int_equal(plan_make(&plan, &shape, &tiling, NULL), STATUS_OK);
  return plan;
}

/* By hand: N = 10, d = 5, fp16. Q, K, V, O take 100 bytes, a line of 128 each; S and P 200, two lines; m 40, one line.
 */
static void test_by_hand(void **state) {
  (void)state;
  const Plan plan = plan_of((Shape){.N_q = 10, .d = 5}, (Tiling){.B_r = 4, .B_c = 4});
  Layout l;
  assert_int_equal(layout_make(&l, &plan, NULL), STATUS_OK);
  assert_int_equal(l.base[TENSOR_Q], 0);
  assert_int_equal(l.base[TENSOR_K], 128);
  assert_int_equal(l.base[TENSOR_V], 256);
  assert_int_equal(l.base[TENSOR_O], 384);
  assert_int_equal(l.base[TENSOR_S], 512);
  assert_int_equal(l.base[TENSOR_P], 768);
  assert_int_equal(l.base[TENSOR_STATS], 1024);
  assert_int_equal(l.l_base, 1152);
  assert_int_equal(l.partial_O_base, 1280);
  assert_int_equal(layout_address(&l, TENSOR_K, 3, 2), 128 + (3 * 5 + 2) * 2);
  assert_int_equal(layout_address(&l, TENSOR_P, 9, 9), 768 + (9 * 10 + 9) * 2);
  assert_int_equal(layout_address(&l, TENSOR_STATS, 9, 0), 1024 + 9 * 4);
}

/* 2^40 queries and keys: S alone has 2^81 bytes. */
static void test_too_large(void **state) {
  (void)state;
  const Plan plan = plan_of((Shape){.N_q = SHAPE_MAX_N, .d = 128}, (Tiling){.B_r = 128, .B_c = 128});
  Layout l;
  Error error = {0};
  assert_int_equal(layout_make(&l, &plan, &error), STATUS_TOO_LARGE);
  assert_true(error.message[0]);
}

/* S and P of N rows in fp16 have 2 x 2 N^2 bytes: 2^60 with N = 2^29, which fit, and 2^62 with N = 2^30, which do not.
 */
static void test_the_last_that_fits(void **state) {
  (void)state;
  Layout l;
  const Plan fits = plan_of((Shape){.N_q = INT64_C(1) << 29, .d = 1}, (Tiling){.B_r = 128, .B_c = 128});
  assert_int_equal(layout_make(&l, &fits, NULL), STATUS_OK);
  const Plan large = plan_of((Shape){.N_q = INT64_C(1) << 30, .d = 1}, (Tiling){.B_r = 128, .B_c = 128});
  assert_int_equal(layout_make(&l, &large, NULL), STATUS_TOO_LARGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_hand),
      cmocka_unit_test(test_too_large),
      cmocka_unit_test(test_the_last_that_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
