/* CTAs in time: cases worked out by hand, and the scans that an H200 was counted on. */
#include "tests/support/clock_walk.h"

static ClockResult run_scan(const ClockConfig *config, const Scan *scan) {
  ScanRun once = {.scan = scan};
  return run(config, scan_step, &once);
}

TEST(one_cta_waits_and_works) {
  Walk w = {.n = 10, .work_cycles = 1000};
  ClockConfig config = timed(10, 1);
  const ClockResult r = run(&config, walk, &w);
  assert_int_equal(r.steps, 10);
  /* Each granule comes from HBM, half of it across the fabric: 500 + 100 + 600 + 200, then 1000 of
   * work. */
  assert_near(r.cycles, 10 * 2400, 1e-6);
  assert_true(r.bytes.hbm_read_bytes == 10 * 16384 && r.bytes.fabric_bytes == 10 * 8192);
  assert_true(r.l2_read_bytes == 10 * 16384);
}

/* Two kernels: the second one begins when the slowest CTA of the first is done, and finds its data in L2, unless that
 * is emptied. */
typedef struct {
  uint64_t at[2][4];
} TwoKernels;

static bool two_kernels(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  TwoKernels *t = context;
  const uint32_t kernel = clock_kernel(clock);
  if (kernel == 1 && t->at[1][cta] == 0) assert_true(clock_so_far(clock).steps >= 1 + 2 + 3 + 4);
  const uint64_t step = t->at[kernel][cta]++;
  *next = (ClockStep){.n_reads = 1, .reads = {step}, .work_cycles = 100};
  return step < (kernel == 0 ? cta + 1 : 2);
}

TEST(kernels_follow_each_other) {
  for (int flushed = 0; flushed < 2; flushed++) {
    TwoKernels t = {0};
    ClockConfig config = steady(8, 4);
    config.n_kernels = 2;
    config.flushed = flushed;
    const ClockResult r = run(&config, two_kernels, &t);
    assert_int_equal(r.steps, 1 + 2 + 3 + 4 + 4 * 2);
    assert_true(r.bytes.hbm_read_bytes == (flushed ? 4 + 2 : 4) * 16384.0);
  }
}

/* Overlapped, a step takes the longer of waiting and work; asked for half a step ahead, half of its work and the longer
 * of the rest and waiting; in step, a turn; from a slow HBM, as long as its bytes take. */
TEST(what_a_step_takes) {
  ClockConfig config = timed(10, 1);
  config.prefetches = true;
  Walk short_work = {.n = 10, .work_cycles = 1000}, long_work = {.n = 10, .work_cycles = 2000},
       turns = {.n = 10, .work_cycles = 2000}, slow = {.n = 10}, late_work = {.n = 10, .work_cycles = 2000};
  assert_near(run(&config, walk, &short_work).cycles, 10 * 1400, 1e-6);
  assert_near(run(&config, walk, &long_work).cycles, 10 * 2000, 1e-6);
  config.prefetch_lead = 0.5;
  assert_near(run(&config, walk, &late_work).cycles, 10 * (1000 + 1400), 1e-6);
  config.hbm_bytes_per_cycle = 2; /* 16 KiB take 8192 cycles, and half of it crosses afterwards */
  assert_near(run(&config, walk, &slow).cycles, 10 * (8192 + 600 + 200), 1e-6);
  config.in_step = true;
  assert_true(run(&config, walk, &turns).cycles == 10);
}

/* Every CTA works until it is its time, then reads granule 0. */
typedef struct {
  double begins[3];
  int n, at[3];
} Late;

static bool late(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  (void)clock;
  Late *l = context;
  if ((int)cta >= l->n || l->at[cta] == 2) return false;
  *next = l->at[cta]++ ? (ClockStep){.n_reads = 1} : (ClockStep){.work_cycles = l->begins[cta]};
  return true;
}

/* A step may take no time at all: the next one has its turn before what comes later. CTA 0 works for nothing, CTA 1 for
 * a while, then both read: from HBM, as 0 is the first. */
TEST(a_step_of_no_time_is_followed_at_once) {
  static const Place together[2] = {{.sm = 0}, {.sm = 1}};
  Late l = {.begins = {0, 200}, .n = 2};
  ClockConfig config = timed(1, 2);
  config.places = together;
  const ClockResult r = run(&config, late, &l);
  assert_true(r.l2_read_bytes == 16384 && fabs(r.cycles - 1400) < 1e-6); /* 1 joins, and is done with 0 */
}

TEST(four_in_step_are_one_for_l2) {
  for (uint32_t ctas = 1; ctas <= 16; ctas++) {
    Walk w = {.n = 50, .work_cycles = 100};
    ClockConfig config = steady(50, ctas);
    static const Place together[16]; /* all on side 0, in one GPC */
    config.places = together;
    const ClockResult r = run(&config, walk, &w);
    assert_true(r.bytes.read_bytes == ctas * 50.0 * 16384);
    assert_true(r.l2_read_bytes == (ctas + 3) / 4 * 50.0 * 16384);
    assert_true(r.bytes.hbm_read_bytes == 50.0 * 16384);
  }
}

/* CTAs by turns walk two heads. */
typedef struct {
  uint64_t n, at[4];
} TwoHeads;

static bool two_heads(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  (void)clock;
  TwoHeads *t = context;
  *next = (ClockStep){.n_reads = 1, .reads = {cta % 2 * t->n + t->at[cta]}, .work_cycles = 100};
  return t->at[cta]++ < t->n;
}

/* However long a head is, the coalescer keeps two of them apart. */
TEST(two_heads_join_each_for_itself) {
  static const uint64_t LENGTHS[] = {50, 64, 100, 128, 256, 1000, 1024, 4096};
  EACH (i, LENGTHS) {
    const uint64_t n = LENGTHS[i];
    TwoHeads heads = {.n = n};
    ClockConfig config = steady(2 * n, 4);
    static const Place together[4];
    config.places = together;
    const double read = run(&config, two_heads, &heads).l2_read_bytes / 16384;
    assert_true(read >= 2 * (double)n && read < 2.02 * (double)n); /* of 4 n; a few are noted in each other's place */
  }
}

/* Two CTAs of a GPC, the second some cycles later, ask for a granule: first it comes from HBM, after 500 + 100 + 600 +
 * 200 cycles, and can be joined for 600 + 200 - 450; then from L2, and can be joined for 70. Who joins has its data
 * with the first. */
TEST(who_is_soon_enough_joins) {
  /* How much later; how many reads reach L2, and when the last ends, from HBM and from L2 each. */
  const char *rows = "0 1 1 1400 600\n"
                     "60 1 1 1400 600\n"
                     "80 1 2 1400 680\n"
                     "340 1 2 1400 940\n"
                     "360 2 2 1400 960";
  double later, ends[2];
  int reach[2];
  while (test_row(&rows, "%lf %d %d %lf %lf", &later, &reach[0], &reach[1], &ends[0], &ends[1]))
    for (int warm = 0; warm < 2; warm++) {
      static const Place places[3] = {
          {.sm = 0}, {.sm = 1}, {.gpc = 1, .sm = 2}}; /* the third, another GPC, reads it long before */
      const double first = warm ? 5000 : 10;
      Late l = {.begins = {first, first + later, 10}, .n = warm ? 3 : 2};
      ClockConfig config = timed(2, 3);
      config.tick_cycles = 1;
      config.places = places;
      const ClockResult r = run(&config, late, &l);
      assert_true(r.l2_read_bytes == (reach[warm] + warm) * 16384.0);
      assert_near(r.cycles - first, ends[warm], 4);
    }
}

/* Busy GPCs have clocks of their own: 1000 ppm faster, a step takes so much less; three times as far apart, three times
 * that. */
TEST(a_fast_gpc_takes_less_time) {
  static const Place fast[1] = {{.clock_ppm = 1000}};
  ClockConfig config = steady(100, 1);
  config.places = fast;
  double cycles[3];
  for (int times = 0; times < 3; times++) {
    Walk w = {.n = 100, .work_cycles = 5000};
    config.gpc_clocks_differ = times > 0;
    config.gpc_clock_scale = times == 2 ? 3 : 0;
    cycles[times] = run(&config, walk, &w).cycles;
  }
  assert_true(fabs(cycles[1] / cycles[0] - 0.999) < 1e-9 && fabs(cycles[2] / cycles[0] - 0.997) < 1e-9);
}

/* CTA 0 asks for nothing first, CTA 1 for a granule that takes 1400 cycles, CTA 2 never for anything. */
static bool beginners(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  (void)clock;
  const int step = ((int *)context)[cta]++;
  *next = (ClockStep){.n_reads = cta == 1, .work_cycles = cta == 0 && step == 1 ? 1000 : 0};
  return cta == 0 ? step < 2 : cta == 1 && step < 1;
}

TEST(all_begin_when_all_can) {
  ClockConfig config = timed(1, 3);
  for (int together = 0; together < 2; together++) {
    int steps[3] = {0};
    config.starts_together = together;
    const double cycles = run(&config, beginners, steps).cycles;
    assert_near(cycles, together ? 2400 : 1400, 3); /* CTAs start a cycle apart */
  }
}

/* CTA 0 works, and CTA 1 asks for nothing and is there. */
static bool two_steps(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  (void)clock;
  *next = (ClockStep){.work_cycles = cta == 0 ? 1000 : 0};
  return ((int *)context)[cta]++ < 2;
}

/* By 95 cycles, one standard deviation, as often the one as the other. The run ends with CTA 0: its second step begins
 * when all have what they asked for first, or so much later. */
TEST(one_side_begins_after_the_other) {
  enum { SEEDS = 1000 };
  static const Place apart[2] = {{.side = 0}, {.side = 1}};
  ClockConfig config = steady(1, 2);
  config.starts_together = true, config.tick_cycles = 1, config.side_start_cycles = 95, config.places = apart;
  double squares = 0;
  int n_later = 0;
  for (config.seed = 0; config.seed < SEEDS; config.seed++) {
    int steps[2] = {0};
    const double later = run(&config, two_steps, steps).cycles - 2000;
    assert_true(later > -1e-6);
    n_later += later > 0;
    squares += later * later;
  }
  assert_true(n_later > 0.45 * SEEDS && n_later < 0.55 * SEEDS);
  assert_near(sqrt(2 * squares / SEEDS) / 95, 1, 0.1); /* the other half of a normal distribution is the other side's */
}

static double alone_on(ClockConfig config, uint32_t sm, uint32_t gpc) {
  const Place place = {.sm = sm, .gpc = gpc};
  Steps steps = {.n = 10, .work_cycles = 1000};
  config.places = &place;
  return run(&config, work_alone, &steps).cycles - 10 * 1000;
}

/* The first work of a CTA that asks ahead takes longer, by as much for the SMs of a TPC, by 200 cycles on average,
 * exponentially distributed; that of one that waits does not. */
TEST(first_code_comes_to_a_TPC_at_once) {
  enum { SEEDS = 1000 };
  ClockConfig config = steady(1, 1);
  config.code_fetch_cycles = 200;
  assert_true(fabs(alone_on(config, 0, 0)) < 1e-6);
  config.prefetches = true;
  double sum = 0, squares = 0;
  for (config.seed = 0; config.seed < SEEDS; config.seed++) {
    const double later = alone_on(config, 0, 0);
    assert_true(later >= 0 && later == alone_on(config, 1, 0) && later != alone_on(config, 2, 0));
    sum += later, squares += later * later;
  }
  const double mean = sum / SEEDS;
  assert_true(fabs(mean / 200 - 1) < 0.1 &&
              fabs(sqrt(squares / SEEDS - mean * mean) / 200 - 1) < 0.15); /* of a thousand: 3 and 4 % */
}

TEST(a_follower_catches_up_and_pays_nothing) {
  /* CTA 1 starts 8 granules behind CTA 0 on a line of 4000; it finds what CTA 0 has fetched and
   * ends with it. */
  Scan s = {.walk = SCAN_FORWARD, .ctas = 2, .rounds = 1, .phase_step = 8, .n_tiles = 4000, .work_cycles = 100};
  ClockConfig config = steady(4000, 2);
  static const Place together[2]; /* both on side 0 */
  config.places = together;
  const ClockResult r = run_scan(&config, &s);
  assert_true(r.bytes.hbm_read_bytes < 1.01 * 4000 * 16384);
  assert_true(r.l2_read_bytes < 1.2 * 4000 * 16384); /* most of the way they ask together */
}

TEST(the_same_config_gives_the_same_result) {
  Scan s = {.walk = SCAN_FORWARD, .ctas = 132, .rounds = 2, .phase_step = 7, .n_tiles = 1024};
  ClockConfig config = scan_config(&s, 5);
  const ClockResult a = run_scan(&config, &s), b = run_scan(&config, &s);
  assert_memory_equal(&a, &b, sizeof a);
  config.seed = 6;
  const ClockResult c = run_scan(&config, &s);
  assert_true(c.cycles != a.cycles);
}

TEST(bad_requests_are_explained) {
  Walk w = {.n = 1};
  ClockResult r;
  ClockConfig config = steady(10, 0);
  must_refuse(clock_run(&config, walk, &w, &r, fresh_error()), STATUS_BAD_REQUEST, "0 CTAs");
  config = steady(0, 4);
  must_refuse(clock_run(&config, walk, &w, &r, fresh_error()), STATUS_BAD_REQUEST, "0 parts of lines");
}

static Status run_small(void *context, Error *error) {
  Walk w = {.n = 3};
  ClockConfig config = steady(3, 2);
  config.shared_work = true;
  return clock_run(&config, walk, &w, context, error);
}

TEST(memory_may_run_out_anywhere) {
  ClockResult r;
  assert_int_equal(alloc_fail_each(run_small, &r),
                   8); /* the clock, L2, CTAs, their places, coalescers, a table of times, SMs, who is on them */
}

/* --- the scans of an H200 --- */

typedef struct {
  double worst_hbm, worst_fabric, sum_hbm;
  int n;
} Errors;

static void predict(const Scan *s, Errors *errors) {
  const ClockConfig config = scan_config(s, 1);
  const ClockResult r = run_scan(&config, s);
  const double hbm = fabs(r.bytes.hbm_read_bytes / s->hbm_read - 1);
  const double fabric = fabs((r.bytes.fabric_bytes + SCAN_FABRIC_BASE_BYTES) / s->fabric - 1);
  if (hbm > errors->worst_hbm) errors->worst_hbm = hbm;
  if (fabric > errors->worst_fabric) errors->worst_fabric = fabric;
  errors->sum_hbm += hbm;
  errors->n++;
}

/* From 1 to 107 readings of the buffer, depending on where the CTAs are when. */
TEST(the_scans_of_an_h200_are_predicted) {
  static Scan rows[SCAN_ROWS_MAX];
  const int n = scan_read_table(rows);
  assert_int_equal(n, 169);
  Errors in_step = {0}, apart = {0}, triangular = {0};
  for (int i = 0; i < n; i++) {
    if (strcmp(rows[i].load, "cp.async.cg") != 0) continue;
    const uint64_t mib = rows[i].n_tiles / 64;
    if (rows[i].walk == SCAN_TRIANGULAR)
      predict(&rows[i], &triangular);
    else if (rows[i].phase_step && mib <= 64 && mib >= 28 && rows[i].ctas == 264)
      predict(&rows[i], &apart);
    else if (!rows[i].phase_step && mib >= 28 && mib <= 36 && rows[i].work_cycles == 0)
      predict(&rows[i], &in_step);
  }
  assert_int_equal(in_step.n, 3); /* each bound: today's error and a tenth of it */
  assert_below(in_step.worst_hbm, 0.064);
  assert_below(in_step.worst_fabric, 0.066);
  assert_int_equal(apart.n, 16);
  assert_below(apart.worst_hbm, 0.264);
  assert_below(apart.worst_fabric, 0.364);
  assert_below(apart.sum_hbm / apart.n, 0.124);
  assert_int_equal(triangular.n, 10);
  assert_below(triangular.worst_hbm, 0.104);
  assert_below(triangular.worst_fabric, 0.075);
  assert_below(triangular.sum_hbm / triangular.n, 0.0243);
}
