/* The model's numbers against what was measured on an H200 (an H100: h100/sets/, 16 lines and 25 MiB;
 * h100/replacement/): a row says in which recording of assets/counters, what of it, what came out, and how far the
 * model may be from that. Constants first; then what CTAs, sets and tiles of the model do. TILEWALK_DEPTH=2 prints
 * each. */
#include "tests/support/test.h"
#include "tests/support/simulate_kernel.h"
#include "tests/support/two_in_waves.h"

static void judge(const char *file, const char *what, double modelled, double measured, double within) {
  fclose(open_asset(test_text("counters/%sfirst.csv", file)));
  if (test_depth() > 1) print_message("%s: %s: %g, measured %g\n", file, what, modelled, measured);
  if (!(fabs(modelled - measured) <= within)) fail_msg("%s: %s: %g, measured %g", file, what, modelled, measured);
}

/* "latency", of the tile for d "start" or "spread". */
static double described(const char *kernel, int64_t d, const char *what) {
  const Profile profile = open_profile(kernel);
  const ProfileTile *tile = profile_tile(&profile, d, false);
  if (*what == 'l') return (double)profile.latency_cycles;
  return (double)(strcmp(what, "start") ? tile->slot_spread_permille : tile->start_cycles);
}

/* Spread of slots: one standard deviation of the ends (or the stores) of the CTAs that began together on an SM, against
 * how long the next ones take. Starts: that of the CTAs of a head on a GPC as they ask for tile 2, of eight TPCs; six
 * cards have up to 160 and 124. Latency: of a tile's cycles with one CTA what is left beside arithmetic and 525 + 160 a
 * CTA for each round. */
TEST(descriptions_say_what_was_measured) {
  /* the kernel, d, what, the recording; what was measured, and within how much of it */
  const char *rows = "fa2_async 64 spread h200/ends/ 26.7 0.6\n"
                     "fa2_async 128 spread h200/ends/ 0.3 0.6\n"
                     "fa2_tensor 64 spread h200/ends/ 4.2 0.6\n"
                     "fa2_tensor 128 spread h200/ends/ 7.8 0.6\n"
                     "fa2-sm90 64 spread h200/stores/ 21.73 0.6\n"
                     "fa2-sm90 128 spread h200/stores/ 7.97 0.6\n"
                     "mem-efficient-sm90 64 spread h200/stores/ 83.47 0.6\n"
                     "mem-efficient-sm90 128 spread h200/stores/ 81.43 0.6\n"
                     "fa2_async 64 start h200/steps/ 142 28.4\n"
                     "fa2_async 128 start h200/steps/ 118 23.6\n"
                     "fa2_tensor 64 latency h200/steps-shared/ 745 59.6\n"
                     "fa2_tensor 128 latency h200/steps-shared/ 776 62.08";
  char kernel[32], what[16], file[32];
  int d;
  double measured, within;
  while (test_row(&rows, "%31s %d %15s %31s %lf %lf", kernel, &d, what, file, &measured, &within))
    judge(file, what, described(kernel, d, what), measured, within);
}

TEST(constants_are_what_was_measured) {
  static const struct {
    const char *file, *what;
    double modelled, measured, within;
  } ROWS[] = {
      {"h200/ends/", "second CTA behind the first, d = 128, cycles", CLOCK_START_LAG_CYCLES, 745, 0.06 * 745},
      {"h200/ends/", "a slip, tiles: ahead 6.6 of 128 d = 64 tiles, half a tile at a time", CLOCK_SLIP_STEPS, 0.5, 0},
      {"h200/pace/", "from one CTA to the next, cycles", CLOCK_HANDOVER_CYCLES, 1059, 0.06 * 1059},
      {"h200/pace/", "that differs by, of itself", CLOCK_REQUEST_SPREAD, 152.0 / 1059, 0.15 * 0.16},
      {"h200/pace/", "of pairs that begin together miss a turn", CLOCK_MISSED_TURN_RATE, 0.20, 0.03},
      {"h200/pace/", "a tile alone varies by, cycles", CLOCK_JITTER_CYCLES_PREFETCH, 22.7 /* 20.1 and 25.6 */,
       0.2 * 20},
      {"h200/pace/", "with another, d = 128", CLOCK_JITTER_CYCLES_SHARED, 53.4, 0.2 * 55},
      {"h200/steps/", "a step of one that waits varies by", CLOCK_JITTER_CYCLES, 14.7, 0.15 * 15},
      {"h200/sets/", "MiB that a side holds: 8 x 2048 MiB / 558.6 pairs a set", HIERARCHY_SIDE_BYTES / 1048576,
       8 * 2048 / 558.6, 0.002 * 29.3},
      {"h200/replacement/", "lines read in a circle that stay in a set", HIERARCHY_SET_LINES, 16, 0}};
  EACH (i, ROWS) judge(ROWS[i].file, ROWS[i].what, ROWS[i].modelled, ROWS[i].measured, ROWS[i].within);
}

/* ---- CTAs that share an SM ---- */

typedef struct {
  double tiles, spread; /* how far the last is behind the first as a wave ends: mean, standard deviation */
} Behind;

/* Nothing is read: only who is where is asked. */
static Behind behind(const char *kernel, int d, uint32_t ctas, uint32_t tiles, uint32_t waves, uint32_t wave,
                     double tile_cycles) {
  static const Place places[3] = {{.layer = 0}, {.layer = 1}, {.layer = 2}};
  const Profile profile = open_profile(kernel);
  const bool is_ours = strncmp(kernel, "fa2_", 4) == 0;
  const int seeds = profile.steady ? 1 : profile.waits || !is_ours ? 400 : 100;
  double sum = 0, squares = 0;
  for (int seed = 0; seed < seeds; seed++) {
    TwoInWaves w = {.waves = waves,
                    .steps = tiles,
                    .work_cycles = profile.waits ? tile_cycles / ctas : tile_cycles,
                    .handover_cycles = profile.waits ? 0
                                       : is_ours     ? CLOCK_HANDOVER_CYCLES
                                                     : 1};
    ClockResult result;
    const ClockConfig config = {.hierarchy = {.kinds = {{1, 16384}}},
                                .n_ctas = ctas,
                                .ctas_per_sm = ctas,
                                .places = places,
                                .prefetches = !profile.waits,
                                .shared_work = profile.waits,
                                .out_of_step_spread = profile.waits ? CLOCK_OUT_OF_STEP_SPREAD : 0,
                                .start_lag_cycles = is_ours && !profile.waits ? CLOCK_START_LAG_CYCLES : 0,
                                .jitter_cycles = is_ours ? 0 : -1,
                                .steady_aging = profile.steady,
                                .slip_steps = 0.01 * (double)profile.slip_percent,
                                .age_spread = 0.001 * described(kernel, d, "spread"),
                                .seed = (uint64_t)seed};
    must(clock_run(&config, two_in_waves, &w, &result, fresh_error()));
    double first = INFINITY, last = 0;
    for (uint32_t k = 0; k < ctas; k++) first = fmin(first, w.ends[k][wave]), last = fmax(last, w.ends[k][wave]);
    if (profile.steady) { /* how much longer the slower takes for this wave */
      const double a = w.ends[0][wave] - w.ends[0][wave - 1], b = w.ends[1][wave] - w.ends[1][wave - 1];
      return (Behind){fabs(a - b) / (a + b), 0};
    }
    const double apart = (last - first) / tile_cycles;
    sum += apart, squares += apart * apart;
  }
  return (Behind){sum / seeds, sqrt(fmax(0, squares / seeds - sum / seeds * (sum / seeds)))};
}

/* fa2_async: as each is the youngest when it comes, two of an SM end half of one's time apart in the end. fa2_tensor
 * waits: the last of three. fa2-sm90 slips by whole tiles. mem-efficient-sm90 gets ahead steadily: by how much of its
 * time the slower half of the CTAs is slower than all, wave by wave. */
TEST(ctas_of_an_sm_get_apart_as_recorded) {
  /* the recording, the kernel, d, CTAs, tiles, waves, the wave, cycles of a tile; how far, in so many tiles, and within
   * how much; from SM to SM, and within which part of it */
  const char *rows = "h200/pace/ fa2_async 64 2 128 15 0 5307 .049 128 .04 0 0\n"
                     "h200/pace/ fa2_async 64 2 128 15 7 5307 .301 128 .04 0 0\n"
                     "h200/pace/ fa2_async 64 2 128 15 14 5307 .415 128 .04 0 0\n"
                     "h200/pace/ fa2_async 64 2 512 30 14 5307 .433 512 .04 0 0\n"
                     "h200/pace/ fa2_async 64 2 512 30 28 5307 .501 512 .04 0 0\n"
                     "h200/ends/ fa2_tensor 64 3 256 2 0 14000 1 2.30 .12 1.05 .15\n"
                     "h200/ends/ fa2_tensor 128 3 256 2 0 27000 1 4.53 .12 1.46 .15\n"
                     "h200/stores/ fa2-sm90 64 2 256 1 0 1000 1 11.6 .2 2.9 .21\n"
                     "h200/stores/ fa2-sm90 64 2 512 1 0 1000 1 23.1 .2 3.9 .21\n"
                     "h200/stores/ fa2-sm90 128 2 512 1 0 1000 1 8.6 .2 2.6 .21\n"
                     "h200/stores/ fa2-sm90 128 2 1024 1 0 1000 1 16.9 .2 3.5 .21\n"
                     "h200/stores/ mem-efficient-sm90 128 2 256 9 1 1000 .0582 1 .012 0 0\n"
                     "h200/stores/ mem-efficient-sm90 128 2 256 9 3 1000 .0286 1 .012 0 0\n"
                     "h200/stores/ mem-efficient-sm90 128 2 256 9 5 1000 .0148 1 .012 0 0\n"
                     "h200/stores/ mem-efficient-sm90 128 2 256 9 7 1000 .0084 1 .012 0 0";
  char file[32], kernel[32];
  int d;
  uint32_t ctas, tiles, waves, wave;
  double cycles, apart, of, within, spread, part;
  while (test_row(&rows, "%31s %31s %d %u %u %u %u %lf %lf %lf %lf %lf %lf", file, kernel, &d, &ctas, &tiles, &waves,
                  &wave, &cycles, &apart, &of, &within, &spread, &part)) {
    const Behind b = behind(kernel, d, ctas, tiles, waves, wave, cycles);
    judge(file, kernel, b.tiles, of * apart, of * within);
    if (spread > 0) judge(file, "from SM to SM", b.spread, spread, part * spread);
  }
}

/* Cycles of fa2_tensor for a tile of K and V, one, two and three CTAs on an SM: not two and three times as long, as
 * one waits while another works. Of four heads the last wave had three CTAs on an SM by chance in one launch of
 * eleven, 81,383 for 72,977. */
TEST(a_tile_takes_as_long_as_on_an_h200) {
  /* the recording, d, N, heads, cycles of a tile */
  const char *rows = "h200/steps/ 64 4096 1 6798\n"
                     "h200/steps/ 128 4096 1 12947\n"
                     "h200/pace/ 128 16384 1 19023\n"
                     "h200/pace/ 128 16384 4 81383";
  char file[32];
  int d, N, heads;
  double cycles;
  while (test_row(&rows, "%31s %d %d %d %lf", file, &d, &N, &heads, &cycles)) {
    const Simulation s = simulate_kernel("fa2_tensor", (Shape){.heads = heads, .N_q = N, .d = d});
    judge(file, "a tile, cycles", s.l2.cycles / ((double)N / (double)s.launch.config.block_k), cycles, 0.07 * cycles);
  }
}

/* Of fa2_tensor where SMs have one to three CTAs: what is left of their requests when coalescers have joined them, and,
 * without a mask, the cycles of a tile until the last CTA asks for tile 64. Where all SMs have two or three, launches
 * without a mask may go in step (`in_step`): the model's pairs less so, and its threes not. */
TEST(ctas_that_share_sms_go_as_they_went) {
  /* d, N, heads, causal; what is left of requests, cycles of a tile, in step */
  const char *rows = "64 4224 2 0 0.2776 6889.5 0\n"
                     "64 4224 3 0 0.5614 9713.6 0\n"
                     "64 4224 4 0 0.2848 10333.8 1\n"
                     "64 4224 5 0 0.6684 14018.7 0\n"
                     "64 4224 6 0 0.3123 14494.4 1\n"
                     "64 5120 3 0 0.5799 9701.1 0\n"
                     "128 4224 2 0 0.2782 13059.5 0\n"
                     "128 4224 3 0 0.6504 19292.8 0\n"
                     "128 4224 4 0 0.4206 20173.4 0\n"
                     "128 4224 5 0 0.6894 27784.5 0\n"
                     "128 4224 6 0 0.8628 27817.5 0\n"
                     "128 5120 3 0 0.7430 19419.4 0\n"
                     "64 4224 2 1 0.2872 0 0\n"
                     "64 4224 3 1 0.5746 0 0\n"
                     "64 4224 4 1 0.4811 0 0\n"
                     "64 4224 5 1 0.7611 0 0\n"
                     "64 4224 6 1 0.7457 0 0\n"
                     "64 5120 3 1 0.6449 0 0\n"
                     "128 4224 2 1 0.2889 0 0\n"
                     "128 4224 3 1 0.6912 0 0\n"
                     "128 4224 4 1 0.5380 0 0\n"
                     "128 4224 5 1 0.7814 0 0\n"
                     "128 4224 6 1 0.8045 0 0\n"
                     "128 5120 3 1 0.7660 0 0";
  int d, N, heads, causal, in_step;
  double was, cycles;
  double squares = 0;
  int n = 0;
  while (test_row(&rows, "%d %d %d %d %lf %lf %d", &d, &N, &heads, &causal, &was, &cycles, &in_step)) {
    const Simulation s = simulate_kernel("fa2_tensor", (Shape){.heads = heads, .N_q = N, .d = d, .causal = causal});
    const double left = s.l2.l2_read_bytes / s.l2.read_bytes;
    if (cycles > 0) /* each: the error when this was written, and a tenth */
      judge("h200/steps-shared/", "cycles a tile", s.l2.cycles / N * (double)s.launch.config.block_k, cycles,
            0.053 * cycles);
    if (in_step) {
      assert_true(heads != 4 || left < 0.5);
      continue;
    }
    judge("h200/steps-shared/", "part left", left, was, 0.125);
    squares += (left - was) * (left - was), n++;
  }
  assert_below(sqrt(squares / n), 0.053);
}

/* ---- Sets of L2 ---- */

/* By how much sets differ in how much of a piece each has, variance in tiles squared, of pieces of so many MiB wherever
 * they begin: eight probed sets of 2 GiB, and the model's. Were each set's share drawn anew it would be as many tiles
 * squared as there are; did each have one of every 3.66 MiB, a third. */
TEST(sets_differ_as_those_that_are_drawn) {
  enum { GRANULE_BYTES = 16384, SETS_MOST = 256, TILES_MOST = 1024, POOL_MIB = 2048 };
  /* MiB, variance */
  const char *rows = "1 0.202\n"
                     "2 0.292\n"
                     "3 0.337\n"
                     "4 0.405\n"
                     "5 0.474\n"
                     "6 0.504\n"
                     "7 0.486\n"
                     "8 0.488\n"
                     "9 0.479\n"
                     "10 0.432\n"
                     "12 0.336\n"
                     "14 0.272\n"
                     "16 0.308\n"
                     "18 0.404\n"
                     "20 0.398\n"
                     "24 0.368\n"
                     "28 0.321\n"
                     "32 0.360\n"
                     "36 0.461\n"
                     "40 0.413";
  double mib, variance;
  int n_lengths = 0;
  static double at[SETS_MOST][TILES_MOST]; /* MiB */
  static int n_tiles[SETS_MOST];
  const HierarchyConfig config = {
      .kinds = {{.n = (uint64_t)POOL_MIB * 1048576 / GRANULE_BYTES, .bytes = GRANULE_BYTES}}};
  Hierarchy *h = malloc(hierarchy_state_bytes(&config));
  assert_non_null(h);
  must(hierarchy_init(h, &config, NULL));
  assert_in_range(h->n_sets, 1, SETS_MOST);
  for (uint64_t granule = 0; granule < config.kinds[0].n; granule++) {
    const uint32_t set = hierarchy_set(h, granule, 0);
    assert_true(n_tiles[set] < TILES_MOST);
    at[set][n_tiles[set]++] = (double)granule * GRANULE_BYTES / 1048576;
  }
  double off = 0;
  for (; test_row(&rows, "%lf %lf", &mib, &variance); n_lengths++) {
    double n = 0, sum = 0, squares = 0;
    for (uint32_t set = 0; set < h->n_sets; set++)
      for (int first = 0, end = 0, begin = 0; begin + mib < POOL_MIB - 1; begin++) {
        while (first < n_tiles[set] && at[set][first] < begin) first++;
        while (end < n_tiles[set] && at[set][end] < begin + mib) end++;
        n++, sum += end - first, squares += (double)(end - first) * (end - first);
      }
    const double drawn = squares / n - sum / n * (sum / n);
    judge("h200/sets/", "tiles of a piece, variance", drawn, variance, 0.08);
    off += fabs(drawn - variance);
  }
  assert_true(off / n_lengths < 0.03);
  free(h);
}
