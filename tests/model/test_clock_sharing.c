/* CTAs that share an SM: how their steps vary, who gets ahead, who is replaced, and who works while another waits. */
#include "tests/support/clock_walk.h"

/* How much cycles differ from seed to seed, one standard deviation, of a launch whose first CTA takes so many steps of
 * 1000 cycles. */
static double spread_of_cycles(ClockConfig config, ClockProgram *program, uint32_t n_steps) {
  enum { SEEDS = 1000 };
  double sum = 0, squares = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    Steps steps = {.n = n_steps, .work_cycles = 1000};
    config.seed = seed;
    const double cycles = run(&config, program, &steps).cycles;
    sum += cycles, squares += cycles * cycles;
  }
  const double mean = sum / SEEDS;
  assert_near(mean / (1000.0 * n_steps), 1, 0.001);
  return sqrt(squares / SEEDS - mean * mean);
}

/* A CTA by itself, from seed to seed: the standard deviations that were asked for. */
TEST(steps_vary_as_much_as_asked) {
  enum { STEPS = 100 };
  static const struct {
    double cta_work_spread, jitter_cycles, expected;
  } CASES[] = {{0.01, -1, 0.01 * 1000 * STEPS}, {-1, 20, 20 * 10}};
  EACH (i, CASES) {
    ClockConfig config = steady(1, 1);
    config.cta_work_spread = CASES[i].cta_work_spread, config.jitter_cycles = CASES[i].jitter_cycles;
    assert_near(spread_of_cycles(config, work_alone, STEPS) / CASES[i].expected, 1, 0.1); /* of a thousand: 2 % */
  }
}

static bool one_ends_half_way(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  (void)clock;
  Steps *s = context;
  *next = (ClockStep){.work_cycles = s->work_cycles};
  return s->at[cta]++ < (cta ? s->n / 2 : s->n);
}

/* Two CTAs, one of which ends half way: until then each of the other's steps varies by so much, and after that by half
 * of it; squares add up. */
TEST(steps_vary_the_more_the_more_are_there) {
  enum { STEPS = 100 };
  const struct {
    double jitter_cycles, full_jitter_cycles, expected;
  } cases[] = {{-1, 40, sqrt(50 * 40 * 40 + 50 * 20 * 20)},
               {20, 40, sqrt(50 * 40 * 40 + 50 * 20 * 20 + 100 * 20 * 20)}};
  EACH (i, cases) {
    ClockConfig config = steady(1, 2);
    config.jitter_cycles = cases[i].jitter_cycles, config.full_jitter_cycles = cases[i].full_jitter_cycles;
    assert_near(spread_of_cycles(config, one_ends_half_way, STEPS) / cases[i].expected, 1, 0.1);
  }
}

/* Two CTAs of one SM that share its work. */
static ClockConfig two_sharing(void) {
  static const Place one_sm[2];
  ClockConfig config = steady(1, 2);
  config.places = one_sm, config.shared_work = true;
  return config;
}

static ClockConfig two_ahead(void) {
  static const Place sharing[2] = {{.layer = 0}, {.layer = 1}};
  ClockConfig config = steady(1, 2);
  config.ctas_per_sm = 2, config.places = sharing, config.prefetches = true, config.missed_turn_rate = -1,
  config.request_spread = -1;
  return config;
}

/* By half a step each and at once, after 0 to 40 steps, 20 on average: a renewal process (Cox 1962), whose count has a
 * third of a Poisson process's variance and a mean of t / 20 - 1/3. The run ends with the younger, whose last steps, as
 * many as slips, are after the older one's end. */
TEST(the_older_gets_ahead_by_whole_steps) {
  enum { SEEDS = 1000, STEPS = 400 };
  double sum = 0, squares = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    Steps steps = {.n = STEPS, .work_cycles = 1000};
    ClockConfig config = two_ahead();
    config.seed = seed, config.age_spread = 0.025;
    const double slips = (run(&config, work_alone, &steps).cycles - 1000 * STEPS) / 500;
    assert_near(slips, round(slips), 0.01);
    sum += slips, squares += slips * slips;
  }
  const double mean = sum / SEEDS, variance = squares / SEEDS - mean * mean;
  assert_near(mean, (STEPS - mean) / 20 - 1.0 / 3, 0.3);
  assert_near(variance / mean, 1.0 / 3, 0.05);
}

/* 300 cycles behind, from the first step with work. */
TEST(one_follows_the_other) {
  Steps steps = {.n = 10, .work_cycles = 1000};
  ClockConfig config = two_ahead();
  config.start_lag_cycles = 300;
  assert_near(run(&config, work_alone, &steps).cycles, 10 * 1000 + 300, 2);
}

/* Who is replaced is the youngest, so the gain is less the further they are apart, and ends where they are half a CTA
 * apart: what is between them follows l' = l + g (1 - 2 l), in parts of a CTA, g being what it is in the first wave. */
TEST(who_is_replaced_is_the_youngest) {
  enum { SEEDS = 300, WAVES = 24, STEPS = 100 };
  double apart[WAVES] = {0};
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    TwoInWaves w = {.waves = WAVES, .steps = STEPS, .work_cycles = 1000, .handover_cycles = 1};
    ClockConfig config = two_ahead();
    config.seed = seed, config.age_spread = 0.03;
    run(&config, two_in_waves, &w);
    for (int wave = 0; wave < WAVES; wave++)
      apart[wave] += (w.ends[1][wave] - w.ends[0][wave]) / (1000.0 * STEPS) / SEEDS;
  }
  double expected = 0;
  for (int wave = 0; wave < WAVES; wave++) {
    expected += 0.06 * (1 - 2 * expected);
    assert_near(apart[wave], expected, 0.02);
  }
  assert_true(expected > 0.47);
}

/* 700 cycles from one CTA to the next; the second of two that begin together loses a step one time in four. */
TEST(the_next_cta_takes_its_place_later) {
  enum { SEEDS = 1000, STEPS = 3 };
  double missed = 0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    TwoInWaves w = {.waves = 2, .steps = STEPS, .work_cycles = 1000, .handover_cycles = 700};
    ClockConfig config = two_ahead();
    config.seed = seed, config.start_lag_cycles = 10, config.missed_turn_rate = seed % 2 ? 0.25 : -1;
    const double more = run(&config, two_in_waves, &w).cycles - (2 * STEPS * 1000 + 700 + 10);
    assert_true(fabs(more) < 3 || (seed % 2 && fabs(more - 1000) < 3));
    missed += more > 500;
  }
  assert_near(missed / (SEEDS / 2), 0.25, 0.06); /* of five hundred: 2 % */
}

/* The slowest of four CTAs: where neighbouring seeds only deal the same numbers to other CTAs, it takes as long with
 * each of them. */
TEST(seeds_draw_numbers_of_their_own) {
  double cycles[4];
  for (uint64_t seed = 0; seed < 4; seed++) {
    Walk w = {.n = 1, .work_cycles = 1000};
    ClockConfig config = steady(1, 4);
    config.cta_work_spread = 0.1, config.seed = seed;
    cycles[seed] = run(&config, walk, &w).cycles;
    for (uint64_t other = 0; other < seed; other++) assert_true(fabs(cycles[seed] - cycles[other]) > 0.1);
  }
}

/* Two CTAs work 1000 and 400 cycles, the second then 400 more. With an SM each they are done after 1000, and 800. With
 * one for both: after 800 cycles the second has its 400 and the first as many; 600 and 400 are left, and 800 later the
 * second is done; 200 later the first. */
typedef struct {
  double ends[2][3];
  int steps[2];
} Shared;

static bool two_workers(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  Shared *s = context;
  const int step = s->steps[cta]++;
  s->ends[cta][step] = clock_so_far(clock).cycles;
  *next = (ClockStep){.work_cycles = cta == 0 ? 1000 : 400};
  return step < (cta == 0 ? 1 : 2);
}

TEST(ctas_that_work_share_their_sm) {
  for (uint32_t sm = 0; sm < 2; sm++) {
    const Place places[2] = {{.sm = 0}, {.sm = sm}};
    ClockConfig config = steady(1, 2);
    config.places = places, config.shared_work = true, config.tick_cycles = 1;
    Shared s = {.steps = {0}};
    const double cycles = run(&config, two_workers, &s).cycles;
    const double expected[2][3] = {{1800, 800, 1600}, {1000, 400, 800}};
    assert_near(cycles, expected[sm][0], 5);
    assert_true(fabs(s.ends[1][1] - expected[sm][1]) < 5 && (sm == 1 || fabs(s.ends[1][2] - expected[sm][2]) < 5));
  }
}

/* CTA 0 works ten times for 1000 cycles, CTA 1 waits two times for 4500. */
static bool one_works_one_waits(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  (void)clock;
  Steps *s = context;
  if (cta == 0)
    next->work_cycles = 1000;
  else
    next->wait_cycles = 4500;
  return s->at[cta]++ < (cta == 0 ? 10 : 2);
}

/* With half a share for the one that waits, a step of 1000 takes 1500 beside it, and 1000 when it is gone, after six of
 * them; with none, 1000. */
TEST(one_that_waits_takes_its_part_of_the_sm) {
  for (int half = 0; half < 2; half++) {
    ClockConfig config = two_sharing();
    config.tick_cycles = 1, config.waiting_weight = half ? 0.5 : 0;
    Steps steps = {.n = 0};
    assert_near(run(&config, one_works_one_waits, &steps).cycles, half ? 6 * 1500 + 4 * 1000 : 10 * 1000, 12);
  }
}

/* Latency is waited alone: two CTAs of an SM, in step, take 300 + 2 x 1000 for each tile. */
static bool with_latency(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  (void)clock;
  Steps *s = context;
  next->latency_cycles = 300, next->work_cycles = 1000;
  return s->at[cta]++ < 10;
}

TEST(nobody_shares_latency) {
  ClockConfig config = two_sharing();
  config.tick_cycles = 1;
  Steps steps = {.n = 0};
  assert_near(run(&config, with_latency, &steps).cycles, 10 * 2300, 25);
}

/* In step, the work of two CTAs takes the same time with every seed. Half a step apart, each step of either takes 10 %
 * more or less: twelve of 10,000 cycles, together 120,000 give or take a bit less than 1,000 times the root of twelve
 * (Bienayme), as they come in step now and then. */
TEST(those_not_in_step_vary) {
  enum { SEEDS = 400 };
  for (int apart = 0; apart < 2; apart++) {
    double sum = 0, squares = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      Steps steps = {.n = 6, .work_cycles = 10000};
      ClockConfig config = two_sharing();
      config.out_of_step_spread = 0.1, config.skew_cycles = apart ? 10000 : 0, config.seed = seed;
      const double cycles = run(&config, work_alone, &steps).cycles - 12 * 10000;
      sum += cycles, squares += cycles * cycles;
    }
    const double mean = sum / SEEDS, sd = sqrt(squares / SEEDS - mean * mean);
    if (!apart)
      assert_true(sd < 100);
    else
      assert_true(sd > 0.8 * 1000 * sqrt(12) && sd < 1.05 * 1000 * sqrt(12));
  }
}

/* Two of three that have room. */
TEST(where_there_is_room_nobody_slips) {
  Steps steps = {.n = 200, .work_cycles = 1000};
  ClockConfig config = two_ahead();
  config.age_spread = 0.025, config.slots_per_sm = 3;
  assert_near(run(&config, work_alone, &steps).cycles, 200 * 1000, 4);
}
