/* How unevenly the CTAs of an SM share it, as kernels' descriptions say (slot_spread_permille), against the recordings that it is from:
 * cycles a tile by wave and slot (assets/counters/h200_pace.csv), and when the first CTAs of other people's kernels store their row blocks,
 * layer by layer (h200_watch.csv). */
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

enum { SLOTS_MOST = 8, WAVES_MOST = 64, SMS = 132 };

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

/* Of the CTAs of the first waves that filled the machine, with more than one CTA to an SM: how far the slots are from each other, and the CTAs
 * of a slot, as which of an SM's CTAs is the faster one differs from SM to SM. A wave's rows follow each other. */
static double paced_permille(const char *kernel, int d) {
  Slots waves[WAVES_MOST] = {0};
  double variances[WAVES_MOST] = {0};
  int n = 0;
  FILE *file = open_asset("counters/h200_pace.csv");
  char line[256], rung[32];
  int row_d, N, heads, wave, slot, ctas;
  double cycles, sd;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%31[^,],%d,%d,%d,%d,%d,%d,%lf,%lf", rung, &row_d, &N, &heads, &wave, &slot, &ctas, &cycles, &sd) != 9) continue;
    if (strcmp(rung, kernel) != 0 || row_d != d || wave > 0 || ctas < SMS) continue;
    if (slot == 0) n++;
    assert_true(n > 0 && n <= WAVES_MOST && slot < SLOTS_MOST);
    waves[n - 1].values[waves[n - 1].n++] = cycles;
    variances[n - 1] += sd * sd;
  }
  fclose(file);
  double sum = 0;
  int n_filled = 0;
  for (int i = 0; i < n; i++)
    if (waves[i].n > 1) sum += sqrt(spread(&waves[i]) * spread(&waves[i]) + variances[i] / waves[i].n) / mean(&waves[i]), n_filled++;
  assert_true(n_filled > 0);
  return 1000 * sum / n_filled;
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
    for (int i = 0; i < 2; i++) {
      assert_true(fabs(described_permille(OURS[i], d) - paced_permille(OURS[i], d)) < 0.6);
      assert_true(fabs(described_permille(OTHERS[i], d) - watched_permille(OTHERS[i], d)) < 0.6);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(descriptions_say_what_was_measured)};
  return cmocka_run_group_tests_name("slot_spread", tests, NULL, NULL);
}
