/* What descriptions of other people's kernels say of their steps was taken from short launches, up to 2K tokens
 * (assets/counters/h200/others-one-pass/first.csv): with it, what reaches L2 past the coalescers in them is nearer than
 * with half or twice as much. Launches of 4K to 16K tokens, which were not asked, are then nearer too than without it.
 * Of cuDNN's without a mask it was taken from launches of one head by the number of their row blocks, against 4K keys
 * (h200/others-rows): there a GPC gets one CTA after the other, and is full in the end. TILEWALK_DEPTH=2 prints
 * every shape. */
#include "tests/support/test.h"
#include "tests/support/predict_counters.h"
#include "tests/support/open_counter_table.h"
#include "tests/support/open_gpu.h"
#include "tests/support/open_profile.h"

enum { SHAPES_MAX = 136, TURNS = 12, SHORT = 2048, LONG = 16384, ROW_TURNS = 3, MOST_BLOCKS = 132 };

/* A shape, and the mean of its launches. */
typedef struct {
  Shape shape;
  double read_sectors, hits, misses;
  int n;
} Mean;

static Mean means[SHAPES_MAX];
static int n_means;

static double more(double mean, const CounterRow *row, Counter counter, int n) {
  assert_true(row->known[counter]);
  return mean + ((double)row->value[counter] - mean) / n;
}

static bool same(const Shape *a, const Shape *b) {
  return a->N_q == b->N_q && a->N_k == b->N_k && a->heads == b->heads && a->d == b->d && a->causal == b->causal;
}

/* All shapes of one kernel, up to so many rows. */
static void read_counted(const char *name, const char *kernel, int64_t longest, int turns) {
  CounterTable table = open_counter_table(name);
  n_means = 0;
  for (size_t i = 0; i < table.n_rows; i++) {
    const CounterRow *row = &table.rows[i];
    if (strcmp(row->kernel, kernel) || row->shape.N_q > longest || row->shape.batch > 1 || row->tiling.n_splits > 1)
      continue;
    int at = 0;
    while (at < n_means && !same(&means[at].shape, &row->shape)) at++;
    assert_true(at < SHAPES_MAX);
    if (at == n_means) means[n_means++] = (Mean){.shape = row->shape};
    Mean *m = &means[at];
    m->n++;
    m->read_sectors = more(m->read_sectors, row, COUNTER_L2_READ_SECTORS, m->n);
    m->hits = more(m->hits, row, COUNTER_LOOKUP_HIT, m->n);
    m->misses = more(m->misses, row, COUNTER_LOOKUP_MISS, m->n);
  }
  for (int i = 0; i < n_means; i++) assert_int_equal(means[i].n, turns);
  counter_table_free(&table);
}

static void read_shapes(const char *kernel) {
  read_counted("counters/h200/others-one-pass/first.csv", kernel, LONG, TURNS);
}

static L2Counters predict(const Profile *profile, const Shape *shape, const Gpu *gpu) {
  Problem p = {.shape = *shape, .machine = {.sram_bytes = gpu->shared_bytes_per_cta}};
  L2Counters counters;
  must(profile_config(profile, &p.shape, &p.launch, fresh_error()));
  p.tiling = (Tiling){.B_r = p.launch.block_q, .B_c = p.launch.block_k, .lse = profile->lse};
  must(predict_counters(&counters, &p, profile->schedule, gpu, fresh_error()));
  return counters;
}

typedef struct {
  double sectors, hit_rate; /* root of the mean square: of the logarithm of predicted over counted; in points */
  int n;
} Far;

/* How far off predictions are, of shapes with so many tokens. */
static Far how_far(const Profile *profile, int d, int causal /* -1: either */, int64_t from, int64_t to,
                   const char *what) {
  const Gpu gpu = open_gpu("h200");
  Far far = {0};
  for (int i = 0; i < n_means; i++) {
    const Mean *m = &means[i];
    if (m->shape.d != d || (causal >= 0 && m->shape.causal != causal) || m->shape.N_q < from || m->shape.N_q > to)
      continue;
    const L2Counters p = predict(profile, &m->shape, &gpu);
    const double sectors = log(p.l2_read_bytes / 32 / m->read_sectors),
                 points = 100 * (p.hit_rate - m->hits / (m->hits + m->misses));
    far.sectors += sectors * sectors;
    far.hit_rate += points * points;
    far.n++;
    if (test_depth() > 1)
      print_message("%s: N %5d heads %2d %-6s sectors %+5.1f %%, hit rate %+5.1f points\n", what, (int)m->shape.N_q,
                    (int)m->shape.heads, m->shape.causal ? "causal" : "full", 100 * expm1(sectors), points);
  }
  assert_true(far.n > 0);
  far.sectors = sqrt(far.sectors / far.n);
  far.hit_rate = sqrt(far.hit_rate / far.n);
  if (test_depth() > 1)
    print_message("%s: %d shapes, sectors %.3f, hit rate %.2f points\n", what, far.n, far.sectors, far.hit_rate);
  return far;
}

/* Says so many times what a description says; 0: nothing. */
typedef void Set(ProfileTile *tile, double times);

static void set_step_spread(ProfileTile *tile, double times) {
  tile->step_spread_cycles = llround(times * (double)tile->step_spread_cycles);
}
static void set_start(ProfileTile *tile, double times) {
  tile->start_cycles = llround(times * (double)tile->start_cycles);
}

static Far with(const char *kernel, int d, int causal, Set *set, double times, int64_t from, int64_t to) {
  Profile profile = open_profile(kernel);
  for (int mask = 0; mask < 2; mask++)
    for (int i = 0; i < PROFILE_D_COUNT; i++)
      if (causal < 0 || causal == mask) set(&profile.tiles[i][mask], times);
  char what[64];
  snprintf(what, sizeof what, "%s d %d, %.1f times", kernel, d, times);
  return how_far(&profile, d, causal, from, to, what);
}

TEST(steps_of_cudnn_under_a_mask) {
  read_shapes("cudnn-sm90");
  const Far said = with("cudnn-sm90", 128, 1, set_step_spread, 1, 1, SHORT);
  assert_int_equal(said.n, 6);
  assert_true(said.sectors < 0.06);
  assert_true(said.sectors < with("cudnn-sm90", 128, 1, set_step_spread, 0.5, 1, SHORT).sectors);
  assert_true(said.sectors < with("cudnn-sm90", 128, 1, set_step_spread, 2, 1, SHORT).sectors);
  const Far longer = with("cudnn-sm90", 128, 1, set_step_spread, 1, 2 * SHORT, LONG);
  assert_int_equal(longer.n, 9);
  assert_true(longer.sectors < 0.06 && longer.hit_rate < 0.6);
  assert_true(4 * longer.hit_rate < with("cudnn-sm90", 128, 1, set_step_spread, 0, 2 * SHORT, LONG).hit_rate);
}

/* Alone on its SM a CTA goes on as it started; where SMs have two, their steps vary. */
TEST(starts_and_steps_of_the_memory_efficient_kernel) {
  read_shapes("mem-efficient-sm90");
  for (int d = 64; d <= 128; d *= 2) {
    const Far said = with("mem-efficient-sm90", d, -1, set_start, 1, 1, SHORT);
    assert_int_equal(said.n, 12);
    assert_true(said.sectors < (d == 64 ? 0.105 : 0.165));
    assert_true(said.sectors < with("mem-efficient-sm90", d, -1, set_start, 0.5, 1, SHORT).sectors);
    assert_true(said.sectors < with("mem-efficient-sm90", d, -1, set_start, 2, 1, SHORT).sectors + 0.002); /* as near */
    const Far longer = with("mem-efficient-sm90", d, -1, set_start, 1, 2 * SHORT, LONG);
    assert_true(longer.sectors < 0.75 * with("mem-efficient-sm90", d, -1, set_start, 0, 2 * SHORT, LONG).sectors);
    assert_true(longer.hit_rate < 0.3);
  }
  const Far said = with("mem-efficient-sm90", 128, -1, set_step_spread, 1, 1, SHORT);
  assert_true(said.sectors < with("mem-efficient-sm90", 128, -1, set_step_spread, 0.5, 1, SHORT).sectors);
  assert_true(said.sectors <
              with("mem-efficient-sm90", 128, -1, set_step_spread, 2, 1, SHORT).sectors + 0.002); /* as near */
  const Far longer = with("mem-efficient-sm90", 128, -1, set_step_spread, 1, 2 * SHORT, LONG);
  assert_true(longer.sectors < 0.75 * with("mem-efficient-sm90", 128, -1, set_step_spread, 0, 2 * SHORT, LONG).sectors);
}

TEST(starts_of_cudnn) {
  read_shapes("cudnn-sm90");
  const Far said = with("cudnn-sm90", 64, -1, set_start, 1, 1, SHORT);
  assert_int_equal(said.n, 12);
  assert_true(said.sectors < 0.075);
  assert_true(said.sectors < with("cudnn-sm90", 64, -1, set_start, 0.5, 1, SHORT).sectors + 0.002); /* as near */
  assert_true(said.sectors < with("cudnn-sm90", 64, -1, set_start, 2, 1, SHORT).sectors);
  const Far longer = with("cudnn-sm90", 64, -1, set_start, 1, 2 * SHORT, LONG);
  assert_true(longer.sectors < 0.06 && longer.hit_rate < 0.6);
}

static void set_busy_spread(ProfileTile *tile, double times) {
  tile->busy_spread_cycles = llround(times * (double)tile->busy_spread_cycles);
}

/* One head without a mask by its row blocks, from twelve on: with fewer most are on one GPC. */
TEST(starts_and_steps_of_cudnn_by_the_row_blocks) {
  read_counted("counters/h200/others-rows/first.csv", "cudnn-sm90", 128 * MOST_BLOCKS, ROW_TURNS);
  for (int d = 64; d <= 128; d *= 2) {
    const int64_t first = 12 * 128, last = 128 * MOST_BLOCKS;
    const Far said = with("cudnn-sm90", d, 0, set_start, 1, first, last);
    assert_int_equal(said.n, 24);
    assert_true(said.sectors < 0.08 && said.hit_rate < 1.7);
    assert_true(said.sectors < with("cudnn-sm90", d, 0, set_start, 0, first, last).sectors);
    assert_true(said.sectors < with("cudnn-sm90", d, 0, set_start, 2, first, last).sectors);
    assert_true(said.sectors < with("cudnn-sm90", d, 0, set_busy_spread, 0, first, last).sectors);
    assert_true(said.sectors < with("cudnn-sm90", d, 0, set_busy_spread, 2, first, last).sectors + 0.002); /* as near */
  }
}

/* Other kernels' starts come out there too, but for how much the CTAs of a full machine lose each other. */
TEST(row_blocks_of_the_memory_efficient_kernel) {
  read_counted("counters/h200/others-rows/first.csv", "mem-efficient-sm90", 64 * MOST_BLOCKS, ROW_TURNS);
  for (int d = 64; d <= 128; d *= 2) {
    const Far said = with("mem-efficient-sm90", d, 0, set_start, 1, 12 * 64, 64 * MOST_BLOCKS);
    assert_int_equal(said.n, 24);
    assert_true(said.sectors < 0.16 && said.hit_rate < 1.1);
  }
}

static void set_ahead(ProfileTile *tile, double times) {
  tile->ahead_percent = llround(times * (double)tile->ahead_percent);
}
static void set_alone(ProfileTile *tile, double times) {
  tile->alone_permille = llround(times * (double)tile->alone_permille);
}

/* Without a mask, keys not split: of up to 2K tokens there are two shapes, whose SMs have one CTA and two. (Twice as
 * far apart at the start would be nearer to both.) Longer ones come out if it is known, too, what a step takes a CTA
 * that has an SM to itself, and how long before it is needed K or V is asked for: from clocks and the kernel's source.
 */
TEST(starts_and_steps_of_flash_attention) {
  read_shapes("fa2-sm90");
  for (int d = 64; d <= 128; d *= 2) {
    const Far said = with("fa2-sm90", d, 0, set_start, 1, 1, SHORT);
    assert_int_equal(said.n, 2);
    assert_true(said.sectors < 0.11);
    assert_true(said.sectors < with("fa2-sm90", d, 0, set_start, 0.5, 1, SHORT).sectors);
    const Far longer = with("fa2-sm90", d, 0, set_start, 1, 2 * SHORT, LONG);
    assert_int_equal(longer.n, 7);
    assert_true(longer.sectors < 0.07 && longer.hit_rate < 0.3);
    assert_true(longer.sectors < 0.6 * with("fa2-sm90", d, 0, set_start, 0, 2 * SHORT, LONG).sectors);
    assert_true(longer.sectors < 0.6 * with("fa2-sm90", d, 0, set_start, 3, 2 * SHORT, LONG).sectors);
    assert_true(longer.sectors < 0.6 * with("fa2-sm90", d, 0, set_ahead, 0, 2 * SHORT, LONG).sectors);
    if (d == 64)
      assert_true(longer.sectors < 0.5 * with("fa2-sm90", d, 0, set_alone, 0, 2 * SHORT, LONG)
                                             .sectors); /* with 128 it is what two take, halved */
  }
  const Far said = with("fa2-sm90", 64, 0, set_step_spread, 1, 1, SHORT);
  assert_true(said.sectors < with("fa2-sm90", 64, 0, set_step_spread, 0.5, 1, SHORT).sectors);
  assert_true(said.sectors < with("fa2-sm90", 64, 0, set_step_spread, 2, 1, SHORT).sectors + 0.004); /* as near */
}
