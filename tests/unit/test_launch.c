/* Launches: occupancy against NVIDIA's published rules by hand, the order of CTAs against nested loops, waves and
 * tails. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/test.h"
#include "sim/simulate.h"
#include "tests/support/own_programs.h"
#include "tests/support/rand.h"

/* An SM of compute capability 9.0, from the CUDA C++ Programming Guide. */
static const Gpu SM90 = {.name = "sm90",
                         .n_sm = 132,
                         .warp_size = 32,
                         .shared_bytes_per_sm = 228 * 1024,
                         .shared_bytes_per_cta = 227 * 1024,
                         .shared_reserved_bytes = 1024,
                         .registers_per_sm = 65536,
                         .registers_per_thread = 255,
                         .threads_per_sm = 2048,
                         .threads_per_cta = 1024,
                         .warps_per_sm = 64,
                         .ctas_per_sm = 32};

static Occupancy occupancy(LaunchConfig config) {
  Occupancy o;
  Error error = {0};
  if (launch_occupancy(&o, &config, &SM90, &error)) fail_msg("%s", error.message);
  return o;
}

/* Each limit in turn is the one that binds; numbers by hand. */
TEST(each_limit_binds) {
  /* FlashAttention-2, d = 128: 255 registers round up to 8192 a warp; a partition of 16384 holds 2 warps, the SM 8: 2
   * CTAs of 4 */
  Occupancy o = occupancy((LaunchConfig){.threads = 128, .registers_per_thread = 255, .shared_bytes = 65536});
  assert_int_equal(o.limits[LIMIT_SHARED], 3); /* 233472 / (65536 + 1024) */
  assert_int_equal(o.limits[LIMIT_REGISTERS], 2);
  assert_int_equal(o.limits[LIMIT_THREADS], 16);
  assert_int_equal(o.limits[LIMIT_CTAS], 32);
  assert_true(o.limits[LIMIT_KERNEL] == OCCUPANCY_NO_LIMIT);
  assert_int_equal(o.ctas_per_sm, 2);
  assert_int_equal(o.binds, LIMIT_REGISTERS);
  assert_true(o.warps_fraction == 8.0 / 64);

  o = occupancy((LaunchConfig){.threads = 128, .registers_per_thread = 64, .shared_bytes = 100 * 1024});
  assert_int_equal(o.binds, LIMIT_SHARED);
  assert_int_equal(o.ctas_per_sm, 2); /* 233472 / 103424 */
  o = occupancy((LaunchConfig){.threads = 1000, .registers_per_thread = 16});
  assert_int_equal(o.binds, LIMIT_THREADS); /* 1000 threads are 32 warps */
  assert_int_equal(o.ctas_per_sm, 2);
  o = occupancy((LaunchConfig){.threads = 32, .registers_per_thread = 16});
  assert_int_equal(o.binds, LIMIT_CTAS);
  assert_int_equal(o.ctas_per_sm, 32);
  o = occupancy(
      (LaunchConfig){.threads = 384, .registers_per_thread = 168, .shared_bytes = 160 * 1024, .ctas_per_sm = 1});
  assert_int_equal(o.ctas_per_sm, 1);
  assert_int_equal(o.limits[LIMIT_REGISTERS], 1); /* 168 x 32 = 5376: 3 a partition, 12 in all, a CTA has 12 */
}

/* Three warps more in each partition would fit the SM's total of registers, but not its partitions: 40 registers are
 * 1280 a warp; 65536 / 1280 = 51, but 16384 / 1280 = 12 and 4 x 12 = 48. */
TEST(registers_are_lost_between_partitions) {
  const Occupancy o = occupancy((LaunchConfig){.threads = 32, .registers_per_thread = 40});
  assert_int_equal(o.limits[LIMIT_REGISTERS], 48);
}

TEST(the_largest_cta_fits_and_one_byte_more_does_not) {
  assert_int_equal(occupancy((LaunchConfig){.threads = 128, .shared_bytes = 227 * 1024}).ctas_per_sm, 1);
  const LaunchConfig wrong[] = {{.threads = 128, .shared_bytes = 227 * 1024 + 1},
                                {.threads = 1025},
                                {.threads = 128, .registers_per_thread = 256},
                                {.threads = 1024, .registers_per_thread = 65}};
  static const char *const WORDS[] = {"shared memory", "threads", "registers", "registers"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    Occupancy o = {.ctas_per_sm = 77};
    Error error = {0};
    assert_int_equal(launch_occupancy(&o, &wrong[i], &SM90, &error), STATUS_BAD_REQUEST);
    assert_non_null(strstr(error.message, WORDS[i]));
    assert_int_equal(o.ctas_per_sm, 77); /* unchanged */
  }
}

/* What is not known does not limit; where nothing is known, one CTA is taken and said to be unfounded. */
TEST(unknown_numbers_do_not_limit) {
  const Occupancy o = occupancy((LaunchConfig){.block_q = 64});
  assert_int_equal(o.ctas_per_sm, 1);
  assert_int_equal(o.binds, LIMIT_COUNT);
  assert_string_equal(occupancy_limit_name(o.binds), "nothing known");
  const Gpu bare = {.name = "bare", .n_sm = 2};
  Occupancy p;
  const LaunchConfig config = {.threads = 128, .registers_per_thread = 255, .shared_bytes = 1 << 20, .ctas_per_sm = 3};
  assert_int_equal(launch_occupancy(&p, &config, &bare, NULL), STATUS_OK);
  assert_int_equal(p.ctas_per_sm, 3);
  assert_int_equal(p.binds, LIMIT_KERNEL);
}

static Launch make(Shape shape, LaunchConfig config) {
  Launch l;
  Error error = {0};
  if (launch_make(&l, &shape, &config, &SM90, &error)) fail_msg("%s", error.message);
  return l;
}

/* The four orders as the loops that they are named after, the first name innermost. */
static void expect_piece(const Launch *l, int64_t n, int64_t batch, int64_t head, int64_t row, int64_t nth_split) {
  const LaunchPiece p = launch_piece(l, n);
  const int64_t split = l->config.splits_descending ? l->n_splits - 1 - nth_split : nth_split;
  const int64_t block = l->descending ? l->n_row_blocks - 1 - row : row;
  if (p.batch != batch || p.head != head || p.row_block != block || p.split != split)
    fail_msg("order %s, piece %lld", LAUNCH_ORDER_NAMES[l->config.order], (long long)n);
}

TEST(orders_are_nested_loops) {
  Rand r = {7};
  for (int round = 0; round < 200; round++) {
    const int64_t B = rand_in(&r, 1, 4), H = rand_in(&r, 1, 5), S = rand_in(&r, 1, 3), N = rand_in(&r, 1, 700);
    const LaunchConfig config = {.order = (LaunchOrder)(round % ORDER_COUNT),
                                 .rows = (LaunchRows)rand_in(&r, 0, ROWS_COUNT - 1),
                                 .block_q = rand_in(&r, 1, 128),
                                 .block_k = 64,
                                 .splits_descending = round / ORDER_COUNT % 2,
                                 .n_splits = S,
                                 .threads = 128};
    const bool causal = rand_in(&r, 0, 1);
    const Launch l = make((Shape){.batch = B, .heads = H, .N_q = N, .d = 64, .causal = causal}, config);
    assert_int_equal(l.descending, config.rows == ROWS_DESCENDING || (config.rows == ROWS_LONGEST_FIRST && causal));
    const int64_t R = (N + config.block_q - 1) / config.block_q;
    assert_int_equal(l.n_pieces, B * H * R * S);
    int64_t n = 0;
    switch (config.order) {
    case ORDER_QUERY_BATCH_HEAD:
      for (int64_t h = 0; h < H; h++)
        for (int64_t b = 0; b < B; b++)
          for (int64_t i = 0; i < R; i++)
            for (int64_t s = 0; s < S; s++) expect_piece(&l, n++, b, h, i, s);
      break;
    case ORDER_QUERY_HEAD_BATCH:
      for (int64_t b = 0; b < B; b++)
        for (int64_t h = 0; h < H; h++)
          for (int64_t i = 0; i < R; i++)
            for (int64_t s = 0; s < S; s++) expect_piece(&l, n++, b, h, i, s);
      break;
    case ORDER_HEAD_QUERY_BATCH:
      for (int64_t b = 0; b < B; b++)
        for (int64_t i = 0; i < R; i++)
          for (int64_t s = 0; s < S; s++)
            for (int64_t h = 0; h < H; h++) expect_piece(&l, n++, b, h, i, s);
      break;
    default:
      for (int64_t i = 0; i < R; i++)
        for (int64_t s = 0; s < S; s++)
          for (int64_t b = 0; b < B; b++)
            for (int64_t h = 0; h < H; h++) expect_piece(&l, n++, b, h, i, s);
    }
    assert_int_equal(n, l.n_pieces);
  }
}

/* Blocks that HBM is read for, of 4 row blocks under a causal mask on 2 SMs in step, L2 with room for two blocks. CTA i
 * takes blocks 0 to i of K and of V; the second SM finds those of the first if no Q comes between them:
 *
 *     first to last   SM 0: 0  0 1 2         never the same block at once but at 0, with Q: 4 + 2 * 10
 *                     SM 1: 0 1  0 1 2 3
 *     last first      SM 0: 0 1 2 3  0       blocks 1 and 2 at once: 4 less
 *                     SM 1: 0 1 2  0 1       */
TEST(a_program_says_which_ctas_begin) {
  static const char *const LOOPS[] = {"for every row block i", "for every row block i, last first"};
  static const int64_t BLOCKS[] = {4 + 2 * 10, 4 + 2 * 10 - 4};
  static Program program;
  static Simulation run;
  Error error = {0};
  const Gpu gpu = {.name = "two",
                   .n_sm = 2,
                   .l2_bytes = 64 << 10,
                   .l2_partitions = 1,
                   .l2_ways = 16,
                   .l2_line_bytes = 128,
                   .l2_sector_bytes = 32};
  Problem problem = {.shape = {.N_q = 512, .d = 128, .causal = true},
                     .tiling = {.B_r = 128, .B_c = 128},
                     .machine = machine_of_gpu(&gpu),
                     .in_step = true};
  for (int back = 0; back < 2; back++) {
    char text[sizeof OWN_SPARSE + 64];
    const char *rest = strstr(OWN_SPARSE, LOOPS[0]) + strlen(LOOPS[0]);
    const int n = snprintf(text, sizeof text, "%.*s%s%s", (int)(rest - OWN_SPARSE - (ptrdiff_t)strlen(LOOPS[0])),
                           OWN_SPARSE, LOOPS[back], rest);
    if (program_read(&program, text, (size_t)n, "own", &error)) fail_msg("%s", error.message);
    assert_int_equal(simulate(&run, &problem, &program, &error), STATUS_OK);
    assert_int_equal(simulation_l2(&run, &problem, &gpu, &error), STATUS_OK);
    assert_true(run.has_l2);
    assert_int_equal(run.launch.descending, back);
    if ((int64_t)(run.l2.hbm_read_bytes / 32768 + 0.5) != BLOCKS[back])
      fail_msg("%s: %g blocks, not %d", LOOPS[back], run.l2.hbm_read_bytes / 32768, (int)BLOCKS[back]);
  }
}

/* 16 heads of N = 4096 in blocks of 128 are 512 CTAs; 264 run at once: two waves, the second 248 of 264 full. */
TEST(waves_and_the_tail) {
  const Shape shape = {.heads = 16, .N_q = 4096, .d = 128};
  LaunchConfig config = {
      .block_q = 128, .block_k = 64, .threads = 128, .registers_per_thread = 255, .shared_bytes = 65536};
  Launch l = make(shape, config);
  assert_int_equal(l.n_pieces, 512);
  assert_int_equal(l.n_slots, 264);
  assert_int_equal(l.n_ctas, 512);
  assert_int_equal(l.n_waves, 2);
  assert_true(l.tail_fill == 248.0 / 264);
  config.persistent = true;
  assert_int_equal(make(shape, config).n_ctas, 264);
  l = make((Shape){.N_q = 100, .d = 128}, config); /* one CTA: a wave that is nearly empty */
  assert_int_equal(l.n_ctas, 1);
  assert_int_equal(l.n_waves, 1);
  assert_true(l.tail_fill == 1.0 / 264);
  config.whole_head = true; /* FlashAttention-1: a CTA a head */
  assert_int_equal(make(shape, config).n_pieces, 16);
}

TEST(impossible_requests) {
  const Shape shape = {.N_q = 64, .d = 64},
              vast = {.batch = SHAPE_MAX_BATCH, .heads = SHAPE_MAX_HEADS, .N_q = SHAPE_MAX_N, .d = 64};
  const LaunchConfig none = {0}, negative = {.block_q = 64, .block_k = 64, .threads = -1},
                     one = {.block_q = 1, .block_k = 1};
  const LaunchConfig split = {.block_q = 64, .block_k = 64, .n_splits = PLAN_MAX_SPLITS + 1};
  Launch l;
  memset(&l, 0x5A, sizeof l);
  const Launch before = l;
  Error error = {0};
  assert_int_equal(launch_make(&l, &shape, &none, &SM90, &error), STATUS_BAD_REQUEST);
  assert_int_equal(launch_make(&l, &shape, &negative, &SM90, NULL), STATUS_BAD_REQUEST);
  assert_int_equal(launch_make(&l, &shape, &split, &SM90, NULL), STATUS_BAD_REQUEST);
  assert_int_equal(launch_make(&l, &vast, &one, &SM90, NULL), STATUS_TOO_LARGE);
  assert_memory_equal(&l, &before, sizeof l);
}
