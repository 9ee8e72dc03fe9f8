/* Addresses of the tensors of one head: in the documented order, on lines, and apart from each other. */
#include "sim/algorithms/layout.h"

#include "tests/support/test.h"
#include "sim/algorithms/schedule.h"

static Plan plan_of(Shape shape, Tiling tiling) {
  Plan plan;
  must(plan_make(&plan, &shape, &tiling, NULL));
  return plan;
}

static int name_of(const Schedule *s, const char *text) {
  for (int n = 0; n < s->n_names; n++)
    if (strcmp(s->names[n].text, text) == 0) return n;
  fail_msg("%s has no %s", s->name, text);
  return -1;
}

/* By hand: N = 10, d = 5, fp16. Q, K, V, O take 100 bytes, a line of 128 each; S and P 200, two lines; m and l 40, one
 * line; parts of O in fp32, two splits of 200 bytes, four lines; their log-sum-exps two of 40. */
TEST(test_by_hand) {
  /* the program, the name, its first byte */
  const char *rows = "standard Q_i 0\n"
                     "standard K_j 128\n"
                     "standard V_j 256\n"
                     "standard O_i 384\n"
                     "standard S_ij 512\n"
                     "standard P_ij 768\n"
                     "fa2 O_i 384\n"
                     "fa2 L_i 1024\n"
                     "fa1 m_i 1024\n"
                     "fa1 l_i 1152\n"
                     "fa2-split O_i 384\n"
                     "fa2-split L_i 1024\n"
                     "fa2-split O_is 1280\n"
                     "fa2-split L_is 1792";
  char program[24], value[8];
  uint64_t base;
  const Plan plan = plan_of((Shape){.N_q = 10, .d = 5}, (Tiling){.B_r = 4, .B_c = 4, .n_splits = 2});
  while (test_row(&rows, "%23s %7s %" SCNu64, program, value, &base)) {
    const Schedule *s = schedule_find(program);
    const int name = name_of(s, value);
    Layout l;
    must(layout_make(&l, s, &plan, NULL));
    assert_int_equal(l.base[name], base);
    const bool is_column = strchr("mlL", *value), is_part = value[strlen(value) - 1] == 's';
    const bool by_tiles = strchr("SP", *value);
    const uint64_t element = is_column || is_part ? 4 : 2, width = is_column ? 1 : by_tiles ? 10 : 5;
    assert_int_equal(layout_address(&l, name, 0, 3, 0), base + 3 * width * element);
    assert_int_equal(layout_address(&l, name, 1, 0, 0), base + (is_part ? 10 * width * element : 0));
    if (!is_column) assert_int_equal(layout_address(&l, name, 0, 9, 2), base + (9 * width + 2) * element);
  }
}

/* 2^40 queries and keys: S alone has 2^81 bytes. */
TEST(test_too_large) {
  const Plan plan = plan_of((Shape){.N_q = SHAPE_MAX_N, .d = 128}, (Tiling){.B_r = 128, .B_c = 128});
  Layout l;
  assert_int_equal(layout_make(&l, schedule_find("fa2"), &plan, fresh_error()), STATUS_TOO_LARGE);
  assert_true(test_error.message[0]);
}

/* S and P of N rows in fp16 have 2 x 2 N^2 bytes: 2^60 with N = 2^29, which fit, and 2^62 with N = 2^30, which do not.
 */
TEST(test_the_last_that_fits) {
  Layout l;
  const Schedule *s = schedule_find("standard");
  const Plan fits = plan_of((Shape){.N_q = INT64_C(1) << 29, .d = 1}, (Tiling){.B_r = 128, .B_c = 128});
  must(layout_make(&l, s, &fits, NULL));
  const Plan large = plan_of((Shape){.N_q = INT64_C(1) << 30, .d = 1}, (Tiling){.B_r = 128, .B_c = 128});
  assert_int_equal(layout_make(&l, s, &large, NULL), STATUS_TOO_LARGE);
}
