/* How unevenly the CTAs of an SM share it, as kernels' descriptions say (slot_spread_permille), against the recordings that it is from:
 * when CTAs end that began together, of kernels that note nothing else (assets/counters/h200_ends.csv), and when the first CTAs of other
 * people's kernels store their row blocks, layer by layer (h200_watch.csv). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/profile.h"
#include "tests/open_asset.h"

enum { SLOTS_MOST = 8, CTAS_MOST = 64, SMS = 132 };

static double described_permille(const char *kernel, int64_t d) {
  static char text[1 << 16];
  char name[64];
  snprintf(name, sizeof name, "kernels/%s", kernel);
  FILE *file = open_asset(name);
  const size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  Profile profile;
  Error error = {0};
  if (profile_parse(text, length, kernel, &profile, &error)) fail_msg("%s", error.message);
  return (double)profile_tile(&profile, d, false)->slot_spread_permille;
}

typedef struct {
  double values[SLOTS_MOST];
  int n;
} Slots;

static double mean(const Slots *s) {
  double sum = 0;
  for (int i = 0; i < s->n; i++) sum += s->values[i];
  return sum / s->n;
}

/* One standard deviation. */
static double spread(const Slots *s) {
  double sum = 0;
  for (int i = 0; i < s->n; i++) sum += (s->values[i] - mean(s)) * (s->values[i] - mean(s));
  return sqrt(sum / s->n);
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Of the CTAs that began together on an SM, how far their ends lie apart, against how long the next ones take. */
static double ended_permille(const char *kernel, int d, int ctas_per_sm) {
  static double ends[SMS][CTAS_MOST];
  FILE *file = open_asset("counters/h200_ends.csv");
  char line[256], name[32];
  int row_d, N, heads, cta, smid, n[SMS] = {0}, n_launches = 0, n_full = 0;
  double cycles, squares = 0, lasts = 0;
  bool ours = false;
  for (bool more = true; more;) {
    more = fgets(line, sizeof line, file) != NULL;
    const bool row = more && sscanf(line, ",,,,%d,%d,%lf", &cta, &smid, &cycles) == 3;
    if (row && ours) {
      assert_true(smid >= 0 && smid < SMS && n[smid] < CTAS_MOST);
      ends[smid][n[smid]++] = cycles;
    }
    if (row) continue;
    for (int sm = 0; ours && sm < SMS; sm++) { /* the launch before is complete */
      assert_true(n[sm] >= ctas_per_sm);
      qsort(ends[sm], (size_t)n[sm], sizeof(double), by_size);
      Slots first = {.n = ctas_per_sm}, next = {.n = ctas_per_sm};
      memcpy(first.values, ends[sm], (size_t)ctas_per_sm * sizeof(double));
      squares += spread(&first) * spread(&first);
      if (n[sm] >= 2 * ctas_per_sm) { /* where the next wave is full */
        memcpy(next.values, ends[sm] + ctas_per_sm, (size_t)ctas_per_sm * sizeof(double));
        lasts += mean(&next) - mean(&first), n_full++;
      }
      n[sm] = 0;
    }
    n_launches += ours;
    ours = more && sscanf(line, "%31[^,],%d,%d,%d,launch", name, &row_d, &N, &heads) == 4 && strcmp(name, kernel) == 0 && row_d == d;
  }
  fclose(file);
  assert_true(n_launches == 2 && n_full > SMS);
  const double permille = 1000 * sqrt(squares / (n_launches * SMS)) / (lasts / n_full);
  if (getenv("TILEWALK_TABLE")) print_message("%s, d = %d: %.1f permille\n", kernel, d, permille);
  return permille;
}

/* The next CTAs store theirs one duration after the first. */
static double watched_permille(const char *kernel, int d) {
  Slots layers = {.n = 0};
  FILE *file = open_asset("counters/h200_watch.csv");
  char line[256], name[32];
  int row_d, N, rows, layer, ctas;
  double stored_us, sd_us, next_us = 0, next;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%31[^,],%d,%d,%d,%d,%d,%lf,%lf,%lf", name, &row_d, &N, &rows, &layer, &ctas, &stored_us, &sd_us, &next) != 9) continue;
    if (strcmp(name, kernel) != 0 || row_d != d) continue;
    assert_true(layers.n < SLOTS_MOST);
    layers.values[layers.n++] = stored_us;
    next_us = next;
  }
  fclose(file);
  assert_true(layers.n > 1);
  return 1000 * spread(&layers) / (next_us - mean(&layers));
}

static void descriptions_say_what_was_measured(void **state) {
  (void)state;
  for (int d = 64; d <= 128; d *= 2) {
    static const char *const OURS[] = {"fa2_async", "fa2_tensor"}, *const OTHERS[] = {"fa2-sm90", "mem-efficient-sm90"};
    static const int CTAS_PER_SM[] = {2, 3};
    for (int i = 0; i < 2; i++) {
      assert_true(fabs(described_permille(OURS[i], d) - ended_permille(OURS[i], d, CTAS_PER_SM[i])) < 0.6);
      assert_true(fabs(described_permille(OTHERS[i], d) - watched_permille(OTHERS[i], d)) < 0.6);
    }
  }
}

/* In each of the eight launches: the CTAs that began together on an SM are one of each layer. */
static void who_came_first_is_ahead_on_every_sm(void **state) {
  (void)state;
  static double ends[SMS][SLOTS_MOST];
  FILE *file = open_asset("counters/h200_ends.csv");
  char line[256], name[32];
  int d, N, heads, cta, smid, layers[SMS], n_launches = 0, ctas_per_sm = 0;
  double cycles;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%31[^,],%d,%d,%d,launch", name, &d, &N, &heads) == 4) {
      ctas_per_sm = strcmp(name, "fa2_tensor") == 0 ? 3 : 2;
      memset(layers, 0, sizeof layers);
      n_launches++;
    }
    if (sscanf(line, ",,,,%d,%d,%lf", &cta, &smid, &cycles) != 3 || cta >= ctas_per_sm * SMS) continue;
    assert_true(smid >= 0 && smid < SMS && layers[smid] < ctas_per_sm);
    ends[smid][layers[smid]++] = cycles;
    assert_true(layers[smid] == 1 || cycles > ends[smid][0]);
  }
  fclose(file);
  assert_int_equal(n_launches, 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(descriptions_say_what_was_measured), cmocka_unit_test(who_came_first_is_ahead_on_every_sm)};
  return cmocka_run_group_tests_name("slot_spread", tests, NULL, NULL);
}
