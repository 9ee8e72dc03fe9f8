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

enum { SHAPES_MAX = 136, TURNS = 12, LONG = 16384, ROW_TURNS = 3, MOST_BLOCKS = 132 };

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

/* With so many times what the description says in this field of each d. */
static Far with(const char *kernel, int d, int causal, size_t field, double times, int64_t from, int64_t to) {
  Profile profile = open_profile(kernel);
  for (int mask = 0; mask < 2; mask++)
    for (int i = 0; i < PROFILE_D_COUNT && times != 1; i++) {
      int64_t *said = (int64_t *)(void *)((char *)&profile.tiles[i][mask] + field);
      if (causal < 0 || causal == mask) *said = llround(times * (double)*said);
    }
  char what[64];
  snprintf(what, sizeof what, "%s d %d, %.1f times", kernel, d, times);
  return how_far(&profile, d, causal, from, to, what);
}

/* A kernel, d, causal (-1: either), shapes of so many tokens from and to (from 0: of h200/others-rows, one head by its
 * row blocks of so many rows, from twelve on, as fewer are on one GPC), how many; sectors and hit rate are no farther
 * off than this, and sectors nearer than this part of how far they are with so many times what is said of a field.
 * Above 1: as near, within what is above. */
static const char *const ROWS[] = {
    "cudnn-sm90 128 1 1 2048 6 0.06 inf step-spread 0.5 1 step-spread 2 1",
    "cudnn-sm90 128 1 4096 16384 9 0.06 0.6",
    "cudnn-sm90 64 -1 1 2048 12 0.075 inf start 0.5 1.002 start 2 1",
    "cudnn-sm90 64 -1 4096 16384 18 0.06 0.6",
    /* Alone on its SM a CTA goes on as it started; where SMs have two, their steps vary. */
    "mem-efficient-sm90 64 -1 1 2048 12 0.105 inf start 0.5 1 start 2 1.002",
    "mem-efficient-sm90 64 -1 4096 16384 18 inf 0.3 start 0 0.75",
    "mem-efficient-sm90 128 -1 1 2048 12 0.165 inf start 0.5 1 start 2 1.002 step-spread 0.5 1 step-spread 2 1.002",
    "mem-efficient-sm90 128 -1 4096 16384 18 inf 0.3 start 0 0.75 step-spread 0 0.75",
    /* Without a mask, keys not split: of up to 2K tokens there are two shapes, whose SMs have one CTA and two. (Twice
     * as far apart at the start would be nearer to both.) Longer ones come out if it is known, too, what a step takes a
     * CTA that has an SM to itself (with d = 128 it is what two take, halved), and how long before it is needed K or V
     * is asked for: from clocks and the kernel's source. */
    "fa2-sm90 64 0 1 2048 2 0.11 inf start 0.5 1 step-spread 0.5 1 step-spread 2 1.004",
    "fa2-sm90 128 0 1 2048 2 0.11 inf start 0.5 1",
    "fa2-sm90 64 0 4096 16384 7 0.07 0.3 start 0 0.6 start 3 0.6 ahead 0 0.6 alone 0 0.5",
    "fa2-sm90 128 0 4096 16384 7 0.07 0.3 start 0 0.6 start 3 0.6 ahead 0 0.6",
    "cudnn-sm90 64 0 0 128 24 0.08 1.7 start 0 1 start 2 1 busy-spread 0 1 busy-spread 2 1.002",
    "cudnn-sm90 128 0 0 128 24 0.08 1.7 start 0 1 start 2 1 busy-spread 0 1 busy-spread 2 1.002",
    /* Other kernels' starts come out there too, but for how much the CTAs of a full machine lose each other. */
    "mem-efficient-sm90 64 0 0 64 24 0.16 1.1",
    "mem-efficient-sm90 128 0 0 64 24 0.16 1.1",
};

static size_t field_of(const char *name) {
  static const struct {
    const char *name;
    size_t at;
  } FIELDS[] = {{"start", offsetof(ProfileTile, start_cycles)},
                {"step-spread", offsetof(ProfileTile, step_spread_cycles)},
                {"busy-spread", offsetof(ProfileTile, busy_spread_cycles)},
                {"ahead", offsetof(ProfileTile, ahead_percent)},
                {"alone", offsetof(ProfileTile, alone_permille)}};
  EACH (k, FIELDS)
    if (strcmp(FIELDS[k].name, name) == 0) return FIELDS[k].at;
  fail_msg("no field '%s'", name);
  return 0;
}

TEST(descriptions_are_nearer_than_others) {
  EACH (k, ROWS) {
    char kernel[24], field[16];
    int d, causal, from, to, n, used;
    double sectors, hit_rate, times, part;
    assert_int_equal(sscanf(ROWS[k], "%23s %d %d %d %d %d %lf %lf%n", kernel, &d, &causal, &from, &to, &n, &sectors,
                            &hit_rate, &used),
                     8);
    const bool is_rows = from == 0;
    if (is_rows) from = 12 * to, to = MOST_BLOCKS * to;
    read_counted(is_rows ? "counters/h200/others-rows/first.csv" : "counters/h200/others-one-pass/first.csv", kernel,
                 is_rows ? to : LONG, is_rows ? ROW_TURNS : TURNS);
    const Far said = with(kernel, d, causal, 0, 1, from, to);
    bool holds = said.n == n && said.sectors < sectors && said.hit_rate < hit_rate;
    for (const char *at = ROWS[k] + used; sscanf(at, " %15s %lf %lf%n", field, &times, &part, &used) == 3; at += used) {
      const double other = with(kernel, d, causal, field_of(field), times, from, to).sectors;
      holds &= said.sectors < (part > 1 ? other + part - 1 : part * other);
    }
    if (!holds)
      fail_msg("%s: %d shapes, sectors %.4f, hit rate %.2f points", ROWS[k], said.n, said.sectors, said.hit_rate);
  }
}

TEST(hit_rates_of_cudnn_need_its_steps) {
  const size_t steps = field_of("step-spread");
  read_counted("counters/h200/others-one-pass/first.csv", "cudnn-sm90", LONG, TURNS);
  const double said = with("cudnn-sm90", 128, 1, steps, 1, 4096, LONG).hit_rate;
  assert_true(4 * said < with("cudnn-sm90", 128, 1, steps, 0, 4096, LONG).hit_rate);
}
