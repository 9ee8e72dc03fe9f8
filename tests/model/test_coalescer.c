/* What the coalescer in front of L2 did on an H200 and an H100 (assets/counters/h200/coalescer/first.csv,
 * h100/coalescer): who shares one, how many requests become one, and for how long the first of them can be joined.
 * SMs that share one are those of a GPC, which the order of a launch tells (h200/placement, h100/placement);
 * they also share a clock (h200/clocks, h100/clocks). */
#include "tests/support/test.h"
#include "kernels/probes/spread.h"
#include "sim/l2/clock.h"
#include "tests/support/gpcs.h"

enum {
  GPUS = 2,
  APART = 20,
  ROWS_H100 = 4 * 2 + 2 * (SMS - 1) + 2 * 2 * APART + 8 * 8,
  ROWS = ROWS_H100 + 2 * APART,
  SLOTS_MOST = 2
};

typedef struct {
  char name[40];
  double readers, step_bytes, steps, l2_read_sectors, lookup_misses;
} Row;

typedef struct {
  const char *name;
  int n_rows;
  Row rows[ROWS];
  int gpc[SMS]; /* by %smid */
} Gpu;

static Gpu gpus[GPUS] = {{.name = "h200", .n_rows = ROWS},
                         {.name = "h100", .n_rows = ROWS_H100}}; /* the H100 was asked less */

static void read_rows(Gpu *gpu) {
  FILE *file = open_counters(gpu->name, "coalescer");
  char line[1024];
  int n = 0;
  while (fgets(line, sizeof line, file)) {
    Row r;
    double warm_bytes, wait, longest, boundary, l2_write, fabric, hbm_read, hbm_write, hits;
    if (sscanf(line, "%39[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", r.name, &r.readers,
               &r.step_bytes, &r.steps, &warm_bytes, &wait, &longest, &boundary, &r.l2_read_sectors, &l2_write, &fabric,
               &hbm_read, &hbm_write, &hits, &r.lookup_misses) != 15)
      continue;
    assert_true(n < gpu->n_rows);
    gpu->rows[n++] = r;
  }
  fclose(file);
  assert_int_equal(n, gpu->n_rows);
}

static int read_recordings(void **state) {
  (void)state;
  for (int i = 0; i < GPUS; i++) {
    read_rows(&gpus[i]);
    read_gpcs(gpus[i].name, gpus[i].gpc, NULL);
  }
  return 0;
}

static const Row *find_row(const Gpu *gpu, const char *name) {
  for (int i = 0; i < gpu->n_rows; i++)
    if (!strcmp(gpu->rows[i].name, name)) return &gpu->rows[i];
  fail_msg("%s: no launch is called '%s'", gpu->name, name);
  return NULL;
}

/* How much of what was asked for reached L2; but for what the same launch moves when nobody asks. */
static double reached(const Gpu *gpu, const Row *r, int ctas_per_sm, bool warm) {
  char nothing[40];
  snprintf(nothing, sizeof nothing, "nothing %d %.0f %s", ctas_per_sm, r->step_bytes, warm ? "warm" : "cold");
  return (r->l2_read_sectors - find_row(gpu, nothing)->l2_read_sectors) * 32 / (r->readers * r->step_bytes * r->steps);
}

/* Of two requests: 1 when all that the second asks for comes with the first. */
static double joined(const Gpu *gpu, const char *name, bool warm) {
  return 2 - 2 * reached(gpu, find_row(gpu, name), 1, warm);
}

TEST(sms_of_a_gpc_and_no_others_share_one) {
  for (int i = 0; i < GPUS; i++)
    for (int a = 0; a <= 120; a += 120)
      for (int b = 0; b < SMS; b++) {
        if (a == b) continue;
        char name[40];
        snprintf(name, sizeof name, "pair %d %d", a, b);
        const double share = joined(&gpus[i], name, true);
        if (gpus[i].gpc[a] == gpus[i].gpc[b])
          assert_true(share > 0.95 && share < 1.01);
        else
          assert_true(share > -0.01 && share < 0.01);
      }
}

TEST(four_requests_become_one_at_most) {
  for (int i = 0; i < GPUS; i++) {
    double least = 1;
    for (int k = 0; k < gpus[i].n_rows; k++) {
      const Row *r = &gpus[i].rows[k];
      if (r->readers == 0) continue;
      const double share = reached(&gpus[i], r, r->readers > SMS ? 2 : 1, !strstr(r->name, "cold"));
      if (share < least) least = share;
    }
    assert_true(least >= 1.0 / REQUESTS_MOST && least < 1.1 / REQUESTS_MOST);
  }
}

static double joined_after(const Gpu *gpu, int b, bool warm, int cycles) {
  char name[40];
  snprintf(name, sizeof name, "apart 0 %d %s %d", b, warm ? "warm" : "cold", cycles);
  return joined(gpu, name, warm);
}

TEST(data_in_L2_are_joined_for_some_70_cycles) {
  static const int TOO_LATE[] = {150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 1000, 1200, 1500};
  for (int i = 0; i < GPUS; i++)
    for (int b = 1; b <= 16; b += 15) {
      const Gpu *gpu = &gpus[i];
      assert_true(joined_after(gpu, b, true, 0) >= 0.95 && joined_after(gpu, b, true, 25) >= 0.94);
      const double at_50 = joined_after(gpu, b, true, 50), at_75 = joined_after(gpu, b, true, 75);
      assert_true(at_50 > 0.5 && at_75 < 0.5);
      const double half = 50 + 25 * (at_50 - 0.5) / (at_50 - at_75);
      assert_true(half > 60 && half < 85);
      for (size_t k = 0; k < sizeof TOO_LATE / sizeof *TOO_LATE; k++)
        assert_true(joined_after(gpu, b, true, TOO_LATE[k]) <= 0.03);
    }
}

TEST(data_from_hbm_are_joined_until_they_are_there) {
  static const int SOON_ENOUGH[] = {0, 25, 50, 75, 100, 125, 150, 200, 250};
  for (int i = 0; i < GPUS; i++)
    for (int b = 1; b <= 16; b += 15) {
      const Gpu *gpu = &gpus[i];
      for (size_t k = 0; k < sizeof SOON_ENOUGH / sizeof *SOON_ENOUGH; k++)
        assert_true(joined_after(gpu, b, false, SOON_ENOUGH[k]) >= 0.99);
      assert_true(joined_after(gpu, b, false, 350) < 0.95 && joined_after(gpu, b, false, 600) < 0.3);
      assert_true(joined_after(gpu, b, false, 1200) <= 0.01 && joined_after(gpu, b, false, 1500) <= 0.01);
    }
}

/* Of what an SM of the other side has asked for before, the half at home: the part that its own look-up finds missing
 * nevertheless. Each side misses the half that it has to copy, and the first also what is at home. */
static double missed_at_home(const Gpu *gpu, int a, int b, int cycles) {
  char name[40];
  snprintf(name, sizeof name, "apart %d %d cold %d", a, b, cycles);
  const Row *r = find_row(gpu, name);
  const double once = r->step_bytes * r->steps / 32;
  return ((r->lookup_misses - find_row(gpu, "nothing 1 16384 cold")->lookup_misses) / once - 1.5) / 0.5;
}

/* All of it at once, nothing after 200 cycles; in between as much as if all of it for 72 and 92 cycles (on two more
 * cards 83 to 105; the model has 85). */
TEST(a_side_does_not_know_at_once_what_the_other_has_asked_for) {
  static const int AFTER[] = {0, 25, 50, 75, 100, 125, 150, 200};
  enum { N = sizeof AFTER / sizeof *AFTER };
  double mean = 0;
  for (int a = 0; a <= 2; a += 2) {
    double at[N], cycles = 0;
    for (int i = 0; i < N; i++) at[i] = missed_at_home(&gpus[0], a, 2 - a, AFTER[i]);
    for (int i = 1; i < N; i++) cycles += (AFTER[i] - AFTER[i - 1]) * (at[i] + at[i - 1]) / 2;
    assert_true(at[0] > 0.98 && at[N - 1] < 0.02 && missed_at_home(&gpus[0], a, 2 - a, 1500) < 0.02);
    mean += cycles / 2;
  }
  if (test_depth() > 1) print_message("as if all for %.0f cycles\n", mean);
  assert_true(fabs(mean - 85) < 10);
}

static double groups_a_request(const Gpu *gpu, int ctas_per_sm, uint32_t window) {
  int groups = 0;
  for (int gpc = 0; gpc < PLACEMENT_GPCS_MAX; gpc++) {
    int at[SLOTS_MOST * GPC_SMS_MOST], n = 0;
    for (int sm = 0; sm < SMS; sm++)
      for (int slot = 0; slot < ctas_per_sm && gpu->gpc[sm] == gpc; slot++) {
        assert_true(n < SLOTS_MOST * GPC_SMS_MOST);
        at[n++] = (int)spread_offset((uint32_t)sm, (uint32_t)slot, window);
      }
    groups += groups_of(at, n, 0);
  }
  return (double)groups / (ctas_per_sm * SMS);
}

/* All SMs at work, all data in L2: from nothing but the offsets. */
TEST(requests_spread_in_time_are_joined_as_their_offsets_say) {
  for (int i = 0; i < GPUS; i++)
    for (int ctas = 1; ctas <= SLOTS_MOST; ctas++)
      for (int bytes = 16384; bytes <= 32768; bytes *= 2)
        for (uint32_t window = 100; window <= 6400; window *= 2) {
          char name[40];
          snprintf(name, sizeof name, "spread %d %d warm %u", ctas, bytes, window);
          const Row *r = find_row(&gpus[i], name);
          assert_int_equal(r->readers, ctas * SMS);
          const double error = reached(&gpus[i], r, ctas, true) - groups_a_request(&gpus[i], ctas, window);
          assert_true(error > -0.035 && error < 0.035);
        }
}

/* One step of such a launch as sim/l2/clock.h has it: two CTAs, one a side, read the granule long before, or nobody
 * does; then every CTA, at its offset. */
typedef struct {
  double begins[SLOTS_MOST * SMS + 2];
  bool asked[SLOTS_MOST * SMS + 2], worked[SLOTS_MOST * SMS + 2];
} Step;

static bool ask_late(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  (void)clock;
  Step *s = context;
  if (s->asked[cta]) return false;
  if (s->worked[cta])
    s->asked[cta] = true, next->n_reads = 1, next->reads[0] = 0;
  else
    s->worked[cta] = true, next->work_cycles = s->begins[cta];
  return true;
}

static double modelled_share(const Gpu *gpu, uint32_t ctas_per_sm, bool warm, uint32_t window) {
  static Place places[SLOTS_MOST * SMS + 2];
  Step step = {.begins = {0}};
  uint32_t n = 0;
  for (uint32_t side = 0; warm && side < PLACEMENT_SIDES; side++, n++) {
    places[n] = (Place){.side = side, .gpc = PLACEMENT_GPCS_MAX + side, .sm = SMS + side};
    step.begins[n] = 10;
  }
  for (uint32_t sm = 0; sm < SMS; sm++)
    for (uint32_t slot = 0; slot < ctas_per_sm; slot++, n++) {
      const uint32_t gpc = (uint32_t)gpu->gpc[sm];
      places[n] = (Place){.side = PLACEMENT_H200.gpcs[gpc].side, .gpc = gpc, .sm = sm, .layer = slot};
      step.begins[n] = 8000 + spread_offset(sm, slot, window);
    }
  const ClockConfig config = {.hierarchy = {.kinds = {{1, 16384}}},
                              .n_ctas = n,
                              .ctas_per_sm = ctas_per_sm,
                              .places = places,
                              .tick_cycles = 1,
                              .cta_wait_spread = -1,
                              .cta_work_spread = -1,
                              .request_spread = -1,
                              .jitter_cycles = -1,
                              .code_fetch_cycles = -1};
  ClockResult r;
  Error error = {0};
  if (clock_run(&config, ask_late, &step, &r, &error)) fail_msg("%s", error.message);
  const double once = 16384, before = warm ? 2 * once : 0;
  return (r.l2_read_bytes - before) / (r.bytes.read_bytes - before);
}

/* Two CTAs on two sides ask for a granule, one so many cycles after the other. */
static double modelled_missed_at_home(double cycles) {
  const Place places[] = {{.side = 0, .gpc = 0, .sm = 0}, {.side = 1, .gpc = 1, .sm = 1}};
  Step step = {.begins = {0}};
  step.begins[0] = 1000, step.begins[1] = 1000 + cycles;
  const ClockConfig config = {.hierarchy = {.kinds = {{1, 16384}}},
                              .n_ctas = 2,
                              .places = places,
                              .tick_cycles = 1,
                              .cta_wait_spread = -1,
                              .cta_work_spread = -1,
                              .request_spread = -1,
                              .jitter_cycles = -1,
                              .code_fetch_cycles = -1};
  ClockResult r;
  Error error = {0};
  if (clock_run(&config, ask_late, &step, &r, &error)) fail_msg("%s", error.message);
  return (r.l2_miss_bytes / 16384 - 1.5) / 0.5;
}

TEST(the_model_knows_as_late) {
  assert_true(modelled_missed_at_home(0) == 1 && modelled_missed_at_home(80) == 1);
  assert_true(modelled_missed_at_home(90) == 0 && modelled_missed_at_home(1500) == 0);
}

/* Warm and cold, the offsets alone: no fitted number but the two windows. */
TEST(the_model_joins_what_the_gpu_joined) {
  for (int i = 0; i < GPUS; i++)
    for (int ctas = 1; ctas <= SLOTS_MOST; ctas++)
      for (int warm = 0; warm < 2; warm++)
        for (uint32_t window = 100; window <= 6400; window *= 2) {
          char name[40];
          snprintf(name, sizeof name, "spread %d 16384 %s %u", ctas, warm ? "warm" : "cold", window);
          const double counted = reached(&gpus[i], find_row(&gpus[i], name), ctas, warm),
                       modelled = modelled_share(&gpus[i], (uint32_t)ctas, warm, window);
          if (test_depth() > 1) print_message("%s %s: %.3f, modelled %.3f\n", gpus[i].name, name, counted, modelled);
          assert_true(modelled - counted < 0.06 && counted - modelled < 0.06);
        }
}

/* By GPC, the slowest and the fastest clock. */
typedef struct {
  double least[PLACEMENT_GPCS_MAX], most[PLACEMENT_GPCS_MAX];
} Clocks;

static void check_clocks(const Clocks *c, bool idle) {
  double least = c->least[0], most = c->most[0];
  for (int g = 0; g < PLACEMENT_GPCS_MAX; g++) {
    assert_true(c->most[g] / c->least[g] < 1.0001);
    if (c->least[g] < least) least = c->least[g];
    if (c->most[g] > most) most = c->most[g];
  }
  assert_true(most / least < 1.008 && (idle || most / least > 1.0004));
}

TEST(sms_of_a_gpc_share_a_clock) {
  for (int i = 0; i < GPUS; i++) {
    FILE *file = open_counters(gpus[i].name, "clocks");
    Clocks clocks = {.least = {0}};
    char line[256], rung[32];
    int d, N, heads, smid, n = 0;
    double rate;
    while (fgets(line, sizeof line, file)) {
      if (sscanf(line, "%31[^,],%d,%d,%d,%d,%lf", rung, &d, &N, &heads, &smid, &rate) != 6) continue;
      assert_true(smid == n++ % SMS);
      const int gpc = gpus[i].gpc[smid];
      if (!clocks.least[gpc] || rate < clocks.least[gpc]) clocks.least[gpc] = rate;
      if (rate > clocks.most[gpc]) clocks.most[gpc] = rate;
      if (n % SMS) continue;
      check_clocks(&clocks, !strcmp(rung, "idle"));
      clocks = (Clocks){.least = {0}};
    }
    fclose(file);
    assert_int_equal(n, 5 * SMS);
  }
}

/* That of the launch that keeps the H200 busiest, to 10 ppm. */
TEST(the_model_has_a_recorded_pattern_of_clocks) {
  FILE *file = open_counters("h200", "clocks");
  double sum[PLACEMENT_GPCS_MAX] = {0}, mean = 0;
  int n[PLACEMENT_GPCS_MAX] = {0};
  char line[256];
  while (fgets(line, sizeof line, file)) {
    int smid;
    double rate;
    if (sscanf(line, "fa2_async,128,65536,4,%d,%lf", &smid, &rate) == 2)
      sum[gpus[0].gpc[smid]] += rate, n[gpus[0].gpc[smid]]++;
  }
  fclose(file);
  for (int g = 0; g < PLACEMENT_GPCS_MAX; g++) mean += sum[g] / n[g] / PLACEMENT_GPCS_MAX;
  for (int g = 0; g < PLACEMENT_GPCS_MAX; g++) {
    const double ppm = (sum[g] / n[g] / mean - 1) * 1e6;
    assert_true(ppm - PLACEMENT_CLOCKS_PPM[g] < 10 && PLACEMENT_CLOCKS_PPM[g] - ppm < 10);
  }
}

GROUP(read_recordings, NULL)
