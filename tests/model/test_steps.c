/* When CTAs asked for tiles of K and V on an H200, and what reached L2 of that (assets/counters/h200/steps/first.csv):
 * the rule of sim/l2/clock.h, followed from the recorded times, gives what was counted. TILEWALK_DEPTH=2 prints every
 * launch. */
#include "tests/support/test.h"
#include "sim/l2/clock.h"
#include "tests/support/open_profile.h"
#include "tests/support/recorded_steps.h"

enum { LAUNCHES = 20, TPC_SMS = 2, ELEMENT_BYTES = 2, HBM_CYCLES = 350 };
static Recorded launches[LAUNCHES];
static int gpc_of[SMS], side_of[SMS]; /* by %smid */

static int64_t described_start_cycles(int d) {
  const Profile profile = open_profile("fa2_async");
  return profile_tile(&profile, d, false)->start_cycles;
}

static int read_recordings(void **state) {
  (void)state;
  read_gpcs("h200", gpc_of, side_of);
  read_recorded_steps("h200", "steps", launches, LAUNCHES);
  for (int i = 0; i < LAUNCHES; i++) assert_true(launches[i].n_ctas <= SMS);
  return 0;
}

static int head_of(const Recorded *l, int cta) { return cta / (l->n_ctas / l->heads); }
static bool has(const Recorded *l, int cta, int head, int tile) {
  return head_of(l, cta) == head && l->ctas[cta].tiles > tile;
}

/* Of the requests for a recorded tile, the share that reaches L2. */
static double share_of(const Recorded *l, int head, int ask) {
  int first = INT32_MAX, requests = 0, groups = 0;
  for (int c = 0; c < l->n_ctas; c++)
    if (has(l, c, head, TILES[ask]) && l->ctas[c].asks[ask] < first) first = l->ctas[c].asks[ask];
  for (int gpc = 0; gpc < PLACEMENT_GPCS_MAX; gpc++) {
    int at[SMS], n = 0;
    for (int c = 0; c < l->n_ctas; c++)
      if (has(l, c, head, TILES[ask]) && gpc_of[l->ctas[c].smid] == gpc) at[n++] = l->ctas[c].asks[ask];
    requests += n;
    groups += groups_of(at, n, first + HBM_CYCLES);
  }
  return (double)groups / requests;
}

/* Of all that crosses the boundary; tiles between recorded ones lie on straight lines. A CTA shares its Q with nobody.
 */
static double joined_share(const Recorded *l) {
  double requests = 0, groups = 0;
  for (int head = 0; head < l->heads; head++) {
    int most = 0, last = 0;
    double shares[N_ASKS];
    for (int c = 0; c < l->n_ctas; c++)
      if (head_of(l, c) == head && l->ctas[c].tiles > most) most = l->ctas[c].tiles;
    for (int ask = 0; ask < N_ASKS && TILES[ask] < most; ask++) shares[last = ask] = share_of(l, head, ask);
    for (int tile = 0, ask = 0; tile < most; tile++) {
      while (ask < last && TILES[ask + 1] <= tile) ask++;
      const double part = ask < last ? (double)(tile - TILES[ask]) / (TILES[ask + 1] - TILES[ask]) : 0;
      const double share = shares[ask] + (part > 0 ? part * (shares[ask + 1] - shares[ask]) : 0);
      for (int c = 0; c < l->n_ctas; c++)
        if (has(l, c, head, tile)) requests++, groups += share;
    }
  }
  const double Q_bytes = (double)ELEMENT_BYTES * l->N * l->heads * l->d;
  return (Q_bytes + groups / requests * (l->boundary_bytes - Q_bytes)) / l->boundary_bytes;
}

/* K and V of a tile are asked for together. Each launch within 0.1 of what was counted, all together within 0.04 (rms),
 * and not to one side. */
TEST(requests_are_joined_as_their_times_say) {
  double errors = 0, squares = 0;
  for (int i = 0; i < LAUNCHES; i++) {
    const Recorded *l = &launches[i];
    const double counted = l->l2_sectors * SECTOR_BYTES / l->boundary_bytes, joined = joined_share(l);
    if (test_depth() > 1)
      printf("%-10s d = %3d  N = %5d  %d heads  %-6s  counted %.3f  joined %.3f\n", l->rung, l->d, l->N, l->heads,
             l->causal ? "causal" : "full", counted, joined);
    const double error = joined - counted;
    assert_true(error > -0.1 && error < 0.1);
    errors += error / LAUNCHES, squares += error * error / LAUNCHES;
  }
  assert_true(errors > -0.02 && errors < 0.02 && sqrt(squares) < 0.04);
}

enum { FIRST_ASK = 1, /* of tile 1: fa2_async asks for it as it has tile 0 */ SIDE_CTAS = 3 };

/* When the first of the CTAs of a head has tile 0, on a GPC; INT32_MAX: none. */
static int first_with_tile_0(const Recorded *l, int head, int gpc) {
  int first = INT32_MAX;
  for (int c = 0; c < l->n_ctas; c++)
    if (has(l, c, head, TILES[FIRST_ASK]) && gpc_of[l->ctas[c].smid] == gpc && l->ctas[c].asks[FIRST_ASK] < first)
      first = l->ctas[c].asks[FIRST_ASK];
  return first;
}

/* GPCs of one side within 40 cycles (rms), sides 95 apart (side_start_cycles of sim/l2/clock.h). */
TEST(one_side_has_the_first_tile_before_the_other) {
  double apart = 0, within = 0;
  int n_apart = 0, n_within = 0;
  for (int i = 0; i < LAUNCHES; i++) {
    const Recorded *l = &launches[i];
    if (strcmp(l->rung, "fa2_async") != 0) continue;
    for (int head = 0; head < l->heads; head++) {
      int firsts[PLACEMENT_SIDES] = {INT32_MAX, INT32_MAX}, ctas[PLACEMENT_SIDES] = {0},
          gpc_side[PLACEMENT_GPCS_MAX] = {0};
      for (int smid = 0; smid < SMS; smid++) gpc_side[gpc_of[smid]] = side_of[smid];
      for (int c = 0; c < l->n_ctas; c++) ctas[side_of[l->ctas[c].smid]] += has(l, c, head, TILES[FIRST_ASK]);
      for (int gpc = 0; gpc < PLACEMENT_GPCS_MAX; gpc++) {
        const int first = first_with_tile_0(l, head, gpc);
        if (first < firsts[gpc_side[gpc]]) firsts[gpc_side[gpc]] = first;
      }
      for (int gpc = 0; gpc < PLACEMENT_GPCS_MAX; gpc++) {
        const int first = first_with_tile_0(l, head, gpc);
        if (first < INT32_MAX && first > firsts[gpc_side[gpc]])
          within += pow(first - firsts[gpc_side[gpc]], 2), n_within++;
      }
      if (ctas[0] < SIDE_CTAS || ctas[1] < SIDE_CTAS) continue;
      apart += pow(firsts[1] - firsts[0], 2), n_apart++;
    }
  }
  if (test_depth() > 1)
    printf("sides apart by %.0f in %d launches and heads, GPCs of one by %.0f in %d\n", sqrt(apart / n_apart), n_apart,
           sqrt(within / n_within), n_within);
  assert_int_equal(n_apart, 20);
  assert_true(fabs(sqrt(apart / n_apart) / 95 - 1) < 0.05);
  assert_true(n_within > 70 && sqrt(within / n_within) < 50);
}

enum { GROUP = 4 };

static int by_first(const void *a, const void *b) { return ((const int *)a)[0] - ((const int *)b)[0]; }

/* Of CTAs that have joined each other's requests for two recorded tiles, the variance of how far one tile is after the
 * other: twice a step's, as those who join have their data together and each then goes on by itself. How well a CTA's
 * start is known falls out of it. */
static void add_steps(const Recorded *l, int ask, double *variances, int *n_groups) {
  for (int gpc = 0; gpc < PLACEMENT_GPCS_MAX; gpc++) {
    int at[SMS][2], n = 0;
    for (int c = 0; c < l->n_ctas; c++)
      if (gpc_of[l->ctas[c].smid] == gpc && l->ctas[c].tiles > TILES[ask + 1])
        at[n][0] = l->ctas[c].asks[ask], at[n++][1] = l->ctas[c].asks[ask + 1];
    qsort(at, (size_t)n, sizeof *at, by_first);
    for (int i = 0; i + GROUP <= n; i += GROUP) {
      int least = INT32_MAX, most = INT32_MIN;
      double sum = 0, squares = 0;
      for (int k = i; k < i + GROUP; k++) {
        const double takes = at[k][1] - at[k][0];
        least = at[k][1] < least ? at[k][1] : least, most = at[k][1] > most ? at[k][1] : most;
        sum += takes, squares += takes * takes;
      }
      if (at[i + GROUP - 1][0] - at[i][0] > WINDOW_CYCLES || most - least > WINDOW_CYCLES) continue;
      *variances += (squares - sum * sum / GROUP) / (GROUP - 1);
      ++*n_groups;
    }
  }
}

/* By 15 cycles (CLOCK_JITTER_CYCLES of sim/l2/clock.h). */
TEST(a_step_of_one_that_waits_varies_by_as_much) {
  double variances = 0;
  int n = 0;
  for (int i = 0; i < LAUNCHES; i++)
    for (int ask = FIRST_ASK; !strcmp(launches[i].rung, "fa2_tensor") && ask + 1 < N_ASKS; ask++)
      add_steps(&launches[i], ask, &variances, &n);
  const double own = sqrt(variances / n / 2);
  if (test_depth() > 1) printf("a step of fa2_tensor varies by %.1f cycles: %d groups\n", own, n);
  assert_true(n > 80 && fabs(own / CLOCK_JITTER_CYCLES - 1) < 0.15);
}

enum {
  SECOND_ASK = 2,
  LATE_ASK = 6 /* of tile 24 */,
  SPREAD_CTAS = 4,
  GPC_TPCS = 8
}; /* fa2_async asks for tile 2 as it comes to tile 1 */

/* One standard deviation over the CTAs of a head on a GPC, mean over those that are enough. */
static double spread_at_tile_1(const Recorded *l) {
  double spreads = 0;
  int n_spreads = 0;
  for (int head = 0; head < l->heads; head++)
    for (int gpc = 0; gpc < PLACEMENT_GPCS_MAX; gpc++) {
      double n = 0, sum = 0, squares = 0;
      for (int c = 0; c < l->n_ctas; c++) {
        if (!has(l, c, head, TILES[SECOND_ASK]) || gpc_of[l->ctas[c].smid] != gpc) continue;
        const double at = l->ctas[c].asks[SECOND_ASK];
        n++, sum += at, squares += at * at;
      }
      if (n >= SPREAD_CTAS) spreads += sqrt(squares / n - sum / n * (sum / n)), n_spreads++;
    }
  assert_true(n_spreads > 0);
  return spreads / n_spreads;
}

static void tpc_at_tile_1(const Recorded *l, double *squares, int *pairs) {
  for (int a = 0; a < l->n_ctas; a++)
    for (int b = 0; b < l->n_ctas; b++) {
      if (l->ctas[a].smid % TPC_SMS || l->ctas[b].smid != l->ctas[a].smid + 1) continue;
      if (!has(l, a, head_of(l, b), TILES[SECOND_ASK]) || !has(l, b, head_of(l, a), TILES[SECOND_ASK])) continue;
      const double apart = l->ctas[a].asks[SECOND_ASK] - l->ctas[b].asks[SECOND_ASK];
      *squares += apart * apart;
      ++*pairs;
    }
}

/* By 60 to 180 cycles. The two SMs of a TPC stay within 30 (rms), much of which is how well a start is known. */
TEST(CTAs_of_a_GPC_part_at_the_first_tile_but_those_of_a_TPC_do_not) {
  double squares_of_all = 0;
  int pairs_of_all = 0;
  for (int i = 0; i < LAUNCHES; i++) {
    const Recorded *l = &launches[i];
    if (strcmp(l->rung, "fa2_async") != 0) continue;
    const double spread = spread_at_tile_1(l);
    double squares = 0;
    int pairs = 0;
    tpc_at_tile_1(l, &squares, &pairs);
    if (test_depth() > 1)
      printf("%-10s d = %3d  N = %5d  %d heads  %-6s  spread of a GPC %3.0f, of %2d TPCs %3.0f (rms)\n", l->rung, l->d,
             l->N, l->heads, l->causal ? "causal" : "full", spread, pairs, pairs ? sqrt(squares / pairs) : 0);
    assert_true(spread > 60 && spread < 180);
    squares_of_all += squares, pairs_of_all += pairs;
  }
  if (test_depth() > 1) printf("%d TPCs in all %.0f (rms)\n", pairs_of_all, sqrt(squares_of_all / pairs_of_all));
  assert_true(pairs_of_all > 100 && sqrt(squares_of_all / pairs_of_all) < 30);
}

/* Where an SM's TPC comes among those of its GPC that are dealt to in turns; -1: it comes before them. SMs are numbered
 * in that order. */
static int tpc_of(int smid) {
  int before = 0;
  if (smid >= SMS - 2 * PLACEMENT_FIRST_TPCS) return -1;
  for (int other = 0; other < smid / TPC_SMS * TPC_SMS; other += TPC_SMS) before += gpc_of[other] == gpc_of[smid];
  return before;
}

/* How long each takes from its first ask of the next tile, which needs the code of the first, to the one after: not by
 * chance, but in every GPC and every launch the same TPCs take long; here the launches with a mask against those
 * without. */
TEST(the_same_tpcs_have_their_code_late) {
  double late[2][GPC_SMS_MOST / TPC_SMS] = {{0}}, n[2][GPC_SMS_MOST / TPC_SMS] = {{0}}, mean[2] = {0}, both = 0,
                                one[2] = {0};
  const int tpcs = GPC_SMS_MOST / TPC_SMS;
  for (int i = 0; i < LAUNCHES; i++) {
    const Recorded *l = &launches[i];
    if (strcmp(l->rung, "fa2_async") != 0 || l->n_ctas < 128) continue;
    for (int c = 0; c < l->n_ctas; c++) {
      const int tpc = tpc_of(l->ctas[c].smid);
      if (tpc < 0 || l->ctas[c].tiles <= TILES[SECOND_ASK]) continue;
      late[l->causal][tpc] += l->ctas[c].asks[SECOND_ASK] - l->ctas[c].asks[SECOND_ASK - 1], n[l->causal][tpc]++;
    }
  }
  for (int causal = 0; causal < 2; causal++)
    for (int tpc = 0; tpc < tpcs; tpc++) {
      assert_true(n[causal][tpc] > 0);
      mean[causal] += (late[causal][tpc] /= n[causal][tpc]) / tpcs;
    }
  for (int tpc = 0; tpc < tpcs; tpc++) {
    const double full = late[0][tpc] - mean[0], masked = late[1][tpc] - mean[1];
    both += full * masked, one[0] += full * full, one[1] += masked * masked;
    if (test_depth() > 1) printf("TPC %d of a GPC: %+4.0f cycles full, %+4.0f causal\n", tpc, full, masked);
  }
  assert_true(both / sqrt(one[0] * one[1]) > 0.9);
}

/* start_cycles of its description, the standard deviation of an exponential distribution, of which the TPCs of a GPC
 * are a sample. Other cards, whose clocks were read less often, gave 160 and 124 where this one has 142 and 118. */
TEST(descriptions_say_how_far) {
  for (int d = 64; d <= 128; d *= 2) {
    double squares = 0;
    int n = 0;
    for (int i = 0; i < LAUNCHES; i++)
      if (!strcmp(launches[i].rung, "fa2_async") && launches[i].d == d)
        squares += pow(spread_at_tile_1(&launches[i]), 2), n++;
    const double apart = sqrt(squares / n * GPC_TPCS / (GPC_TPCS - 1)), said = (double)described_start_cycles(d);
    assert_true(said > 0.85 * apart && said < 1.2 * apart);
  }
}

/* Of a launch, cycles that the CTAs of each GPC take from one tile to a late one. */
static void cycles_by_gpc(const Recorded *l, double takes[PLACEMENT_GPCS_MAX]) {
  for (int gpc = 0; gpc < PLACEMENT_GPCS_MAX; gpc++) {
    double all = 0;
    int ctas = 0;
    for (int c = 0; c < l->n_ctas; c++)
      if (gpc_of[l->ctas[c].smid] == gpc) all += l->ctas[c].asks[LATE_ASK] - l->ctas[c].asks[SECOND_ASK], ctas++;
    takes[gpc] = all / ctas;
  }
}

/* Those that were slow in a long launch on another card (PLACEMENT_CLOCKS_PPM) mostly are here: a correlation of 0.7.
 */
TEST(GPCs_are_slow_in_the_same_order) {
  double both = 0, here = 0, there = 0;
  for (int i = 0; i < LAUNCHES; i++) {
    if (strcmp(launches[i].rung, "fa2_async") != 0 || launches[i].causal || launches[i].n_ctas < 128) continue;
    double takes[PLACEMENT_GPCS_MAX], mean = 0;
    cycles_by_gpc(&launches[i], takes);
    for (int gpc = 0; gpc < PLACEMENT_GPCS_MAX; gpc++) mean += takes[gpc] / PLACEMENT_GPCS_MAX;
    for (int gpc = 0; gpc < PLACEMENT_GPCS_MAX; gpc++) {
      const double faster = 1 - takes[gpc] / mean, ppm = PLACEMENT_CLOCKS_PPM[gpc];
      both += faster * ppm, here += faster * faster, there += ppm * ppm;
    }
  }
  if (test_depth() > 1)
    printf("GPCs' speeds and those of a long launch: correlation %.2f\n", both / sqrt(here * there));
  assert_true(both / sqrt(here * there) > 0.6);
}

/* With the part of the SMs at work: 0.1 % where 32 of them are, 0.15 % where 64, 0.4 % where 128 (one standard
 * deviation; CLOCKS_APART of sim/l2/l2_run.c). */
TEST(GPCs_drift_apart_the_more_the_busier) {
  double squares[3] = {0};
  int n[3] = {0};
  for (int i = 0; i < LAUNCHES; i++) {
    const Recorded *l = &launches[i];
    if (strcmp(l->rung, "fa2_async") != 0 || l->causal) continue;
    const int at = l->n_ctas == 32 ? 0 : l->n_ctas == 64 ? 1 : 2;
    double sum = 0, of_all = 0, takes[PLACEMENT_GPCS_MAX];
    cycles_by_gpc(l, takes);
    for (int gpc = 0; gpc < PLACEMENT_GPCS_MAX; gpc++)
      sum += takes[gpc] / PLACEMENT_GPCS_MAX, of_all += takes[gpc] * takes[gpc] / PLACEMENT_GPCS_MAX;
    squares[at] += of_all / (sum * sum) - 1, n[at]++;
  }
  double spread[3];
  for (int at = 0; at < 3; at++) spread[at] = sqrt(squares[at] / n[at]);
  if (test_depth() > 1)
    printf("GPCs apart by %.2f, %.2f and %.2f %%\n", 100 * spread[0], 100 * spread[1], 100 * spread[2]);
  assert_true(spread[0] > 0.0008 && spread[0] < 0.0016);
  assert_true(spread[1] > 0.0012 && spread[1] < 0.0022);
  assert_true(spread[2] > 0.0035 && spread[2] < 0.0045);
}

GROUP(read_recordings, NULL)
