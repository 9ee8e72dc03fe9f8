/* Launches: the order of CTAs against nested loops; tests/commands/sim.txt has occupancy and waves by hand. */
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

static Launch make(Shape shape, LaunchConfig config) {
  Launch l;
  must(launch_make(&l, &shape, &config, &SM90, fresh_error()));
  return l;
}

/* The four orders as the loops that they are named after, the first name innermost. */
static void expect_piece(const Launch *l, int64_t n, int64_t batch, int64_t head, int64_t row, int64_t nth_split) {
  const LaunchPiece p = launch_piece(l, n);
  const int64_t split = l->config.splits_descending ? l->n_splits - 1 - nth_split : nth_split;
  const int64_t block = l->descending ? l->n_row_blocks - 1 - row : row;
  assert_true(p.batch == batch && p.head == head && p.row_block == block && p.split == split);
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
    must(program_read(&program, text, (size_t)n, "own", fresh_error()));
    must(simulate(&run, &problem, &program, fresh_error()));
    must(simulation_l2(&run, &problem, &gpu, fresh_error()));
    assert_true(run.has_l2);
    assert_int_equal(run.launch.descending, back);
    assert_true((int64_t)(run.l2.hbm_read_bytes / 32768 + 0.5) == BLOCKS[back]);
  }
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
  assert_int_equal(launch_make(&l, &shape, &none, &SM90, fresh_error()), STATUS_BAD_REQUEST);
  assert_int_equal(launch_make(&l, &shape, &negative, &SM90, NULL), STATUS_BAD_REQUEST);
  assert_int_equal(launch_make(&l, &shape, &split, &SM90, NULL), STATUS_BAD_REQUEST);
  assert_int_equal(launch_make(&l, &vast, &one, &SM90, NULL), STATUS_TOO_LARGE);
  assert_memory_equal(&l, &before, sizeof l);
}
