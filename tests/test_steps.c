/* When CTAs asked for tiles of K and V on an H200, and what reached L2 of that (assets/counters/h200_steps.csv): the rule of
 * sim/pace.h, followed from the recorded times, gives what was counted. TILEWALK_TABLE=1 prints every launch. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/profile.h"
#include "tests/gpcs.h"

enum { LAUNCHES = 20, TPC_SMS = 2, SECTOR_BYTES = 32, ELEMENT_BYTES = 2, HBM_CYCLES = 350, N_ASKS = 13 };
static const int TILES[N_ASKS] = {0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192}; /* whose asks are recorded */

typedef struct {
  int smid, tiles, asks[N_ASKS];
} Cta;

typedef struct {
  char rung[16];
  int d, N, heads, causal, n_ctas;
  double boundary_bytes, l2_sectors;
  Cta ctas[SMS];
} Recorded;

static Recorded launches[LAUNCHES];
static int gpc_of[SMS]; /* by %smid */

static void read_cta(Recorded *launch, const char *row) {
  int cta, at = 0, n_asks = 0;
  assert_true(launch->n_ctas < SMS);
  Cta *c = &launch->ctas[launch->n_ctas];
  assert_int_equal(sscanf(row, "%d,%d,%d%n", &cta, &c->smid, &c->tiles, &at), 3);
  assert_true(cta == launch->n_ctas++ && c->smid >= 0 && c->smid < SMS && c->tiles > 0);
  for (int more; n_asks < N_ASKS && sscanf(row + at, ",%d%n", &c->asks[n_asks], &more) == 1; n_asks++) at += more;
  for (int i = 0; i < N_ASKS; i++) assert_true((TILES[i] < c->tiles) == (i < n_asks));
}

static int64_t described_start_cycles(int d) {
  static char text[1 << 16];
  FILE *file = open_asset("kernels/fa2_async");
  const size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  Profile profile;
  Error error = {0};
  if (profile_parse(text, length, "fa2_async", &profile, &error)) fail_msg("%s", error.message);
  return profile_tile(&profile, d, false)->start_cycles;
}

static int read_recordings(void **state) {
  (void)state;
  read_gpcs("h200", gpc_of);
  FILE *file = open_counters("h200", "steps");
  char line[512];
  int n = 0;
  while (fgets(line, sizeof line, file)) {
    Recorded of = {.d = 0};
    int at = 0;
    if (sscanf(line, "%15[^,],%d,%d,%d,%d,%n", of.rung, &of.d, &of.N, &of.heads, &of.causal, &at) != 5 || !at) continue;
    const bool is_launch = sscanf(line + at, "launch,%lf,%lf", &of.boundary_bytes, &of.l2_sectors) == 2;
    assert_true(n + is_launch > 0 && n + is_launch <= LAUNCHES && of.heads >= 1);
    if (is_launch) launches[n++] = of;
    else read_cta(&launches[n - 1], line + at);
  }
  fclose(file);
  assert_int_equal(n, LAUNCHES);
  return 0;
}

static int head_of(const Recorded *l, int cta) { return cta / (l->n_ctas / l->heads); }
static bool has(const Recorded *l, int cta, int head, int tile) { return head_of(l, cta) == head && l->ctas[cta].tiles > tile; }

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

/* Of all that crosses the boundary; tiles between recorded ones lie on straight lines. A CTA shares its Q with nobody. */
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

/* K and V of a tile are asked for together. Each launch within 0.1 of what was counted, all together within 0.04 (rms), and not to one
 * side. */
static void requests_are_joined_as_their_times_say(void **state) {
  (void)state;
  double errors = 0, squares = 0;
  for (int i = 0; i < LAUNCHES; i++) {
    const Recorded *l = &launches[i];
    const double counted = l->l2_sectors * SECTOR_BYTES / l->boundary_bytes, joined = joined_share(l);
    if (getenv("TILEWALK_TABLE"))
      printf("%-10s d = %3d  N = %5d  %d heads  %-6s  counted %.3f  joined %.3f\n", l->rung, l->d, l->N, l->heads, l->causal ? "causal" : "full",
             counted, joined);
    const double error = joined - counted;
    assert_true(error > -0.1 && error < 0.1);
    errors += error / LAUNCHES, squares += error * error / LAUNCHES;
  }
  assert_true(errors > -0.02 && errors < 0.02 && sqrt(squares) < 0.04);
}

enum { SECOND_ASK = 2, LATE_ASK = 6 /* of tile 24 */, SPREAD_CTAS = 4, GPC_TPCS = 8 }; /* fa2_async asks for tile 2 as it comes to tile 1 */

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
static void CTAs_of_a_GPC_part_at_the_first_tile_but_those_of_a_TPC_do_not(void **state) {
  (void)state;
  double squares_of_all = 0;
  int pairs_of_all = 0;
  for (int i = 0; i < LAUNCHES; i++) {
    const Recorded *l = &launches[i];
    if (strcmp(l->rung, "fa2_async") != 0) continue;
    const double spread = spread_at_tile_1(l);
    double squares = 0;
    int pairs = 0;
    tpc_at_tile_1(l, &squares, &pairs);
    if (getenv("TILEWALK_TABLE"))
      printf("%-10s d = %3d  N = %5d  %d heads  %-6s  spread of a GPC %3.0f, of %2d TPCs %3.0f (rms)\n", l->rung, l->d, l->N, l->heads,
             l->causal ? "causal" : "full", spread, pairs, pairs ? sqrt(squares / pairs) : 0);
    assert_true(spread > 60 && spread < 180);
    squares_of_all += squares, pairs_of_all += pairs;
  }
  if (getenv("TILEWALK_TABLE")) printf("%d TPCs in all %.0f (rms)\n", pairs_of_all, sqrt(squares_of_all / pairs_of_all));
  assert_true(pairs_of_all > 100 && sqrt(squares_of_all / pairs_of_all) < 30);
}

/* start_cycles of its description, the standard deviation of an exponential distribution, of which the TPCs of a GPC are a sample. Other cards,
 * whose clocks were read less often, gave 160 and 124 where this one has 142 and 118. */
static void descriptions_say_how_far(void **state) {
  (void)state;
  for (int d = 64; d <= 128; d *= 2) {
    double squares = 0;
    int n = 0;
    for (int i = 0; i < LAUNCHES; i++)
      if (!strcmp(launches[i].rung, "fa2_async") && launches[i].d == d) squares += pow(spread_at_tile_1(&launches[i]), 2), n++;
    const double apart = sqrt(squares / n * GPC_TPCS / (GPC_TPCS - 1)), said = (double)described_start_cycles(d);
    assert_true(said > 0.85 * apart && said < 1.2 * apart);
  }
}

/* With the part of the SMs at work: 0.1 % where 32 of them are, 0.15 % where 64, 0.4 % where 128 (one standard deviation; CLOCK_SPREAD of
 * sim/many_ctas.c). */
static void GPCs_drift_apart_the_more_the_busier(void **state) {
  (void)state;
  double squares[3] = {0};
  int n[3] = {0};
  for (int i = 0; i < LAUNCHES; i++) {
    const Recorded *l = &launches[i];
    if (strcmp(l->rung, "fa2_async") != 0 || l->causal) continue;
    const int at = l->n_ctas == 32 ? 0 : l->n_ctas == 64 ? 1 : 2;
    double sum = 0, of_all = 0, takes[PLACEMENT_GPCS_MAX];
    for (int gpc = 0; gpc < PLACEMENT_GPCS_MAX; gpc++) {
      double all = 0;
      int ctas = 0;
      for (int c = 0; c < l->n_ctas; c++)
        if (gpc_of[l->ctas[c].smid] == gpc) all += l->ctas[c].asks[LATE_ASK] - l->ctas[c].asks[SECOND_ASK], ctas++;
      takes[gpc] = all / ctas;
      sum += takes[gpc] / PLACEMENT_GPCS_MAX, of_all += takes[gpc] * takes[gpc] / PLACEMENT_GPCS_MAX;
    }
    squares[at] += of_all / (sum * sum) - 1, n[at]++;
  }
  double spread[3];
  for (int at = 0; at < 3; at++) spread[at] = sqrt(squares[at] / n[at]);
  if (getenv("TILEWALK_TABLE")) printf("GPCs apart by %.2f, %.2f and %.2f %%\n", 100 * spread[0], 100 * spread[1], 100 * spread[2]);
  assert_true(spread[0] > 0.0008 && spread[0] < 0.0016);
  assert_true(spread[1] > 0.0012 && spread[1] < 0.0022);
  assert_true(spread[2] > 0.0035 && spread[2] < 0.0045);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(requests_are_joined_as_their_times_say),
      cmocka_unit_test(CTAs_of_a_GPC_part_at_the_first_tile_but_those_of_a_TPC_do_not),
      cmocka_unit_test(descriptions_say_how_far),
      cmocka_unit_test(GPCs_drift_apart_the_more_the_busier),
  };
  return cmocka_run_group_tests_name("steps", tests, read_recordings, NULL);
}
