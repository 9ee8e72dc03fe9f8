/* How far recordings of one run are from their median (viz/cli/crosscheck.h: crosscheck_spread), against numbers worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "viz/cli/crosscheck.h"

static void record(Crosscheck *c, const char *kernel, int64_t N, PredictedQuantity quantity, double measured) {
  CrosscheckItem item = {.shape = {.batch = 1, .heads = 1, .kv_heads = 1, .N_q = N, .N_k = N, .d = 64}, .tiling = {.B_r = 128, .B_c = 128},
                         .is_prediction = true, .predicted = quantity, .measured = measured};
  Error error = {0};
  snprintf(item.kernel, sizeof item.kernel, "%s", kernel);
  if (crosscheck_add(c, &item, &error)) fail_msg("%s", error.message);
}

/* 33 recordings of one run, of 1 to 33 bytes, are up to 16 / 17 from their median of 17, half of them 8 / 17 or less; between them one more quantity of
 * that run, another kernel's run and another shape's, recorded twice, of which neither is the median. */
static void all_recordings_of_a_run_count(void **state) {
  (void)state;
  Crosscheck c = {0};
  Error error = {0};
  for (int i = 0; i < 33; i++) {
    record(&c, "fa2_async", 8192, PREDICT_HBM_READ, 1 + (i * 7) % 33);
    record(&c, "fa2_async", 8192, PREDICT_FABRIC, 5);
    if (i % 20 == 3) record(&c, "fa2_tensor", 8192, PREDICT_HBM_READ, 1000 + i), record(&c, "fa2_async", 4096, PREDICT_HBM_READ, 2000 + i);
  }
  CrosscheckGroup spread;
  assert_int_equal(crosscheck_spread(&c, &spread, &error), STATUS_OK);
  const PredictionSummary *hbm = &spread.quantities[PREDICT_HBM_READ], *fabric = &spread.quantities[PREDICT_FABRIC];
  assert_int_equal(hbm->n, 33);
  assert_true(fabs(hbm->median - 8.0 / 17) < 1e-12 && fabs(hbm->worst - 16.0 / 17) < 1e-12);
  assert_true(fabric->n == 33 && fabric->worst == 0);
  crosscheck_free(&c);
}

static void nothing_recorded_is_no_spread(void **state) {
  (void)state;
  Crosscheck c = {0};
  Error error = {0};
  CrosscheckGroup spread;
  assert_int_equal(crosscheck_spread(&c, &spread, &error), STATUS_OK);
  assert_int_equal(spread.quantities[PREDICT_HBM_READ].n, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_recordings_of_a_run_count), cmocka_unit_test(nothing_recorded_is_no_spread)};
  return cmocka_run_group_tests_name("crosscheck_spread", tests, NULL, NULL);
}
