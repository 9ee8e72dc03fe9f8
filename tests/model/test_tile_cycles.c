/* How long CTAs take for a tile of K and V, one, two and three of them on an SM: what the model of time in
 * sim/l2/clock.h says of fa2_tensor, a kernel that waits for its tiles, against the clocks of its CTAs on an H200
 * (assets/counters/h200/pace/first.csv, and for launches whose tiles all come from HBM, h200/steps). */
#include "tests/support/test.h"
#include "sim/l2/clock.h"
#include "tests/support/recorded_rows.h"
#include "tests/support/simulate_kernel.h"

enum { LAUNCHES_MOST = 8, WAVES_MOST = 16 };

typedef struct {
  int N, heads;
  struct {
    double cycles, ctas; /* of a tile: the sum over its CTAs */
  } waves[WAVES_MOST];
} Launched;

/* A tile of each wave, one after another. */
static double all_waves_cycles(const Launched *l) {
  double cycles = 0;
  for (int wave = 0; wave < WAVES_MOST; wave++)
    if (l->waves[wave].ctas > 0) cycles += l->waves[wave].cycles / l->waves[wave].ctas;
  return cycles;
}

/* Rows of a launch follow each other, wave by wave. */
static int read_launches(const char *kernel, int wanted_d, Launched launches[LAUNCHES_MOST]) {
  static RecordedRows rows;
  int n = 0;
  for (recorded_open(&rows, "counters/h200/pace/first.csv"); recorded_next(&rows);) {
    if (!recorded_is(&rows, "rung", kernel) || recorded_whole(&rows, "d") != wanted_d) continue;
    const int64_t wave = recorded_whole(&rows, "wave"), slot = recorded_whole(&rows, "slot");
    const double ctas = recorded_number(&rows, "ctas");
    assert_true((n > 0 || wave + slot == 0) && wave >= 0 && wave < WAVES_MOST);
    if (wave + slot == 0) {
      assert_true(n < LAUNCHES_MOST);
      launches[n++] = (Launched){.N = (int)recorded_whole(&rows, "N"), .heads = (int)recorded_whole(&rows, "heads")};
    }
    launches[n - 1].waves[wave].cycles += recorded_number(&rows, "cycles_per_tile_mean") * ctas;
    launches[n - 1].waves[wave].ctas += ctas;
  }
  return n;
}

/* With L2 emptied before, one CTA to an SM: from its ask for tile 1 to that for tile 48, the mean of all CTAs. */
static double asked_cycles(int wanted_d) {
  enum { FIRST = 1, LAST = 48 };
  static RecordedRows rows;
  double sum = 0;
  int n = 0;
  for (recorded_open(&rows, "counters/h200/steps/first.csv"); recorded_next(&rows);) {
    if (!recorded_is(&rows, "rung", "fa2_tensor") || recorded_whole(&rows, "d") != wanted_d) continue;
    if (!recorded_is(&rows, "N", "4096") || !recorded_is(&rows, "heads", "1") || !recorded_is(&rows, "causal", "0") ||
        !recorded_is(&rows, "tiles", "64"))
      continue;
    sum += (recorded_number(&rows, "ask_48") - recorded_number(&rows, "ask_1")) / (LAST - FIRST), n++;
  }
  assert_int_equal(n, 64);
  return sum / n;
}

/* Of a launch, from its beginning to its end, a tile of every wave. */
static double predicted_cycles(const Launched *l, int d) {
  const Simulation s = simulate_kernel("fa2_tensor", (Shape){.heads = l->heads, .N_q = l->N, .d = d});
  return s.l2.cycles / ((double)l->N / (double)s.launch.config.block_k);
}

/* A CTA alone on its SM. */
TEST(a_tile_takes_as_long_as_on_an_h200) {
  for (int d = 64; d <= 128; d *= 2) {
    const double predicted = predicted_cycles(&(Launched){.N = 4096, .heads = 1}, d), counted = asked_cycles(d);
    if (test_depth() > 1)
      printf("d %3d, N  4096, one head: a tile %.0f cycles, %.0f counted (%+.1f %%)\n", d, predicted, counted,
             100 * (predicted / counted - 1));
    assert_true(fabs(predicted / counted - 1) < 0.07);
  }
}

static double wave_cycles(const Launched *l, int wave) { return l->waves[wave].cycles / l->waves[wave].ctas; }

/* 19 thousand cycles where two share an SM, 27 where three do: not two and three times as long as one alone, as one
 * waits while another works. (The shortest launch was clocked with its K and V in L2, which the model does not know.)
 * Of four heads the last wave has two CTAs for most SMs, unless one has three by chance and the launch takes as much
 * longer: 11.6 ms of one in eleven, 10.4 of the others (h200/l2). */
TEST(those_that_share_an_sm_take_longer) {
  static Launched launches[LAUNCHES_MOST];
  const int n = read_launches("fa2_tensor", 128, launches);
  assert_int_equal(n, 3);
  for (int i = 0; i < n; i++) {
    const Launched *l = &launches[i];
    if (l->N == 4096) continue;
    const double predicted = predicted_cycles(l, 128), counted = all_waves_cycles(l);
    if (test_depth() > 1)
      printf("d 128, N %5d, %d heads, all waves: a tile %.0f cycles, %.0f counted (%+.1f %%)\n", l->N, l->heads,
             predicted, counted, 100 * (predicted / counted - 1));
    const double longer = l->heads == 4 ? counted + wave_cycles(l, 1) - wave_cycles(l, 2) : counted;
    assert_true(fabs(predicted / counted - 1) < 0.07 || fabs(predicted / longer - 1) < 0.07);
  }
}

/* By how much a tile varies, of launches in which all CTAs of a slot had the same to do: how far those of the first
 * wave are from each other after so many tiles, by their root. Where two share an SM, d = 128 alone: with 64 one is
 * ahead of the other for good (test_slot_spread.c). */
static double spread_of_a_tile(int d, int slots, int *n_rows, double *least, double *most) {
  static RecordedRows rows;
  double squares = 0;
  *n_rows = 0, *least = INFINITY, *most = 0;
  for (recorded_open(&rows, "counters/h200/pace/first.csv"); recorded_next(&rows);) {
    const double N = recorded_number(&rows, "N"), sd = recorded_number(&rows, "cycles_per_tile_sd");
    const bool alone = N * recorded_number(&rows, "heads") <= 128 * 128; /* a row block to each of 128 SMs, or fewer */
    if (!recorded_is(&rows, "rung", "fa2_async") || recorded_whole(&rows, "d") != d ||
        recorded_whole(&rows, "wave") > 0 || alone != (slots == 1) ||
        sd > 0.002 * recorded_number(&rows, "cycles_per_tile_mean"))
      continue; /* more: of which some had their SM to themselves */
    const double of_tile = sd * sqrt(N / (d == 64 ? 128.0 : 64.0));
    squares += of_tile * of_tile, ++*n_rows;
    *least = fmin(*least, of_tile), *most = fmax(*most, of_tile);
  }
  return sqrt(squares / *n_rows);
}

/* CLOCK_JITTER_CYCLES_PREFETCH and _SHARED of sim/l2/clock.h. After 128 to 1024 tiles it is as much, so next to
 * nothing of it lasts. */
TEST(tiles_vary_by_as_much) {
  int n[3];
  double least[3], most[3];
  const double alone_64 = spread_of_a_tile(64, 1, &n[0], &least[0], &most[0]);
  const double alone_128 = spread_of_a_tile(128, 1, &n[1], &least[1], &most[1]);
  const double shared = spread_of_a_tile(128, 2, &n[2], &least[2], &most[2]);
  if (test_depth() > 1)
    printf(
        "a tile of fa2_async varies by %.0f and %.0f cycles alone (%d and %d rows), %.0f to %.0f with another (%d)\n",
        alone_64, alone_128, n[0], n[1], least[2], most[2], n[2]);
  assert_true(n[0] == 2 && n[1] == 2 && n[2] >= 5);
  assert_true(fabs(sqrt(alone_64 * alone_128) / CLOCK_JITTER_CYCLES_PREFETCH - 1) < 0.2);
  assert_true(fabs(shared / CLOCK_JITTER_CYCLES_SHARED - 1) < 0.2 && most[2] < 1.5 * least[2]);
}
