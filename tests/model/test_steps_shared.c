/* When CTAs of fa2_tensor that share SMs asked for tiles of K and V on an H200
 * (assets/counters/h200/steps-shared/first.csv): how long they wait and work, one, two and three on an SM, which
 * sim/l2/clock.h and the kernel's description have as numbers; and what the model of L2 says of the same launches.
 * TILEWALK_DEPTH=2 prints each. */
#include "tests/support/test.h"
#include "sim/l2/clock.h"
#include "tests/support/recorded_rows.h"
#include "tests/support/recorded_steps.h"
#include "tests/support/simulate_kernel.h"

enum { LAUNCHES = 24, BLOCK = 64 };
enum { ASK_2 = 2, ASK_8 = 4, ASK_16 = 5, ASK_48 = 8, ASK_64 = 9 };

static Recorded launches[LAUNCHES];

static int read_recordings(void **state) {
  (void)state;
  read_recorded_steps("h200", "steps-shared", launches, LAUNCHES);
  return 0;
}

static const Recorded *launch_of(int d, int N, int heads, int causal) {
  for (int i = 0; i < LAUNCHES; i++) {
    const Recorded *l = &launches[i];
    if (l->d == d && l->N == N && l->heads == heads && l->causal == causal) return l;
  }
  fail_msg("no launch with d = %d, N = %d, %d heads", d, N, heads);
  return NULL;
}

/* From one ask to another, cycles a tile. */
static double cycles_a_tile(const Cta *c, int from, int to) {
  return (double)(c->asks[to] - c->asks[from]) / (TILES[to] - TILES[from]);
}

static int n_on_sm(const Recorded *l, int smid) {
  int n = 0;
  for (int c = 0; c < l->n_ctas; c++) n += l->ctas[c].smid == smid;
  return n;
}

/* Of a launch without a mask, the mean of the CTAs that share their SMs with so many. */
static double mean_cycles(const Recorded *l, int n_on) {
  double sum = 0;
  int n = 0;
  for (int c = 0; c < l->n_ctas; c++)
    if (n_on_sm(l, l->ctas[c].smid) == n_on) sum += cycles_a_tile(&l->ctas[c], ASK_8, ASK_64), n++;
  assert_true(n > 0);
  return sum / n;
}

/* Beside SMs with two CTAs it takes no longer than where all SMs have one: what a CTA waits depends on its own SM. Two
 * take half as long again. */
TEST(one_alone_goes_as_fast_beside_pairs) {
  for (int d = 64; d <= 128; d *= 2) {
    const Recorded *mixed = launch_of(d, 4224, 3, 0);
    const double all_alone = mean_cycles(launch_of(d, 4224, 2, 0), 1), alone = mean_cycles(mixed, 1),
                 pair = mean_cycles(mixed, 2);
    if (test_depth() > 1)
      printf("d %3d: a tile takes one CTA %.0f cycles, beside pairs %.0f; one of a pair %.0f\n", d, all_alone, alone,
             pair);
    assert_true(fabs(alone / all_alone - 1) < 0.02);
    assert_true(pair / alone > 1.35 && pair / alone < 1.55);
  }
}

/* The middle of CTAs 0 ... 13 of 5120 queries, 3 heads, causal. What they ask for others of their head had before,
 * those that are alone on their SMs; so had what their mates of the next head ask for. Some tiles later the mates, with
 * short rows, are done. */
static double middle_cycles(int d, int from, int to) {
  enum { N_CTAS = 14 };
  const Recorded *l = launch_of(d, 5120, 3, 1);
  double cycles[N_CTAS];
  for (int c = 0; c < N_CTAS; c++) cycles[c] = cycles_a_tile(&l->ctas[c], from, to);
  qsort(cycles, N_CTAS, sizeof *cycles, by_size);
  return cycles[N_CTAS / 2];
}

/* n CTAs of an SM in step, with all they ask for in L2: a tile takes n times its arithmetic, and for each of its rounds
 * 525 + 160 n cycles of waiting; what is left is the same for d = 64 and 128. */
TEST(a_tile_is_waiting_arithmetic_and_latency) {
  const Profile profile = open_profile("fa2_tensor");
  double work[2];
  for (int d = 64; d <= 128; d *= 2) {
    const double rounds = 2.0 * BLOCK * d * 2 / (double)profile.round_bytes, alone = middle_cycles(d, ASK_48, ASK_64),
                 pair = middle_cycles(d, ASK_2, ASK_16);
    work[d / 128] = pair - alone - rounds * CLOCK_CROWDING_CYCLES;
    const double latency = alone - work[d / 128] - rounds * (CLOCK_HIT_CYCLES + CLOCK_CROWDING_CYCLES);
    if (test_depth() > 1)
      printf("d %3d: one %.0f cycles, two %.0f: arithmetic %.0f, latency %.0f\n", d, alone, pair, work[d / 128],
             latency);
    assert_true(fabs(latency / (double)profile.latency_cycles - 1) < 0.08);
  }
  assert_true(fabs(work[1] / work[0] - 2) < 0.12);
}

/* Without a mask, where all CTAs have as many tiles: until the last of them asks for tile 64. */
static double last_cycles(const Recorded *l) {
  int last = 0;
  for (int c = 0; c < l->n_ctas; c++) last = l->ctas[c].asks[ASK_64] > last ? l->ctas[c].asks[ASK_64] : last;
  return (double)last / TILES[ASK_64];
}

/* All CTAs share their SMs, as many on each, and go in step: of four requests that a coalescer can make into one,
 * little more than one is left. */
static bool goes_in_step(const Recorded *l, double counted) {
  return l->n_ctas > SMS && l->n_ctas % SMS == 0 && counted < 0.35;
}

/* How long launches without a mask take, within 6 %; and what is left of their requests when coalescers have joined
 * them, within 0.17. But where SMs have two or three CTAs each, launches without a mask go in step, pairs always
 * (0.28), threes now and then: the model's pairs less so, and its threes not. */
TEST(the_model_goes_as_they_went) {
  double squares = 0;
  int n = 0;
  for (int i = 0; i < LAUNCHES; i++) {
    const Recorded *l = &launches[i];
    const Simulation s =
        simulate_kernel("fa2_tensor", (Shape){.heads = l->heads, .N_q = l->N, .d = l->d, .causal = l->causal});
    const double predicted = s.l2.l2_read_bytes / s.l2.read_bytes,
                 counted = SECTOR_BYTES * l->l2_sectors / l->boundary_bytes;
    const double takes = s.l2.cycles / (double)l->N * BLOCK / last_cycles(l) - 1;
    if (test_depth() > 1)
      printf("d %3d N %d, %d heads %-6s: %.2f of the requests left, %.2f counted", l->d, l->N, l->heads,
             l->causal ? "causal" : "full", predicted, counted);
    if (test_depth() > 1) printf(l->causal ? "\n" : "; takes %+.1f %%\n", 100 * takes);
    if (!goes_in_step(l, counted)) {
      assert_below(fabs(predicted - counted), 0.125); /* each: today's error and a tenth */
      squares += (predicted - counted) * (predicted - counted), n++;
    } else if (l->n_ctas == 2 * SMS) {
      assert_true(predicted < 0.5);
    }
    if (!l->causal) assert_below(fabs(takes), 0.053);
  }
  assert_true(n > 20);
  assert_below(sqrt(squares / n), 0.053);
}

GROUP(read_recordings, NULL)
