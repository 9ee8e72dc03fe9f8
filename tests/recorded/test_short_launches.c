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

enum { ROWS_FROM = -1 }; /* of h200/others-rows: one head by its row blocks, from twelve on, as fewer are on one GPC */
#define STEP offsetof(ProfileTile, step_spread_cycles)
#define TURN offsetof(ProfileTile, start_cycles)
#define BUSY offsetof(ProfileTile, busy_spread_cycles)
#define SOON offsetof(ProfileTile, ahead_percent)
#define SOLO offsetof(ProfileTile, alone_permille)

/* Of n shapes: sectors and hit rate are no farther off than this, and sectors nearer than this part of how far they are
 * with so many times what is said. A little more than 1: as near. */
static const struct {
  const char *kernel;
  int d, causal;
  int64_t from, to;
  int n;
  double sectors, hit_rate;
  struct {
    size_t field;
    double times, part;
  } other[4];
} ROWS[] = {
    {"cudnn-sm90", 128, 1, 1, SHORT, 6, 0.06, INFINITY, {{STEP, 0.5, 1}, {STEP, 2, 1}}},
    {"cudnn-sm90", 128, 1, 2 * SHORT, LONG, 9, 0.06, 0.6, {{STEP, 0, 1}}},
    {"cudnn-sm90", 64, -1, 1, SHORT, 12, 0.075, INFINITY, {{TURN, 0.5, 1.03}, {TURN, 2, 1}}},
    {"cudnn-sm90", 64, -1, 2 * SHORT, LONG, 18, 0.06, 0.6, {{0}}},
    /* Alone on its SM a CTA goes on as it started; where SMs have two, their steps vary. */
    {"mem-efficient-sm90", 64, -1, 1, SHORT, 12, 0.105, INFINITY, {{TURN, 0.5, 1}, {TURN, 2, 1.03}}},
    {"mem-efficient-sm90", 64, -1, 2 * SHORT, LONG, 18, INFINITY, 0.3, {{TURN, 0, 0.75}}},
    {"mem-efficient-sm90",
     128,
     -1,
     1,
     SHORT,
     12,
     0.165,
     INFINITY,
     {{TURN, 0.5, 1}, {TURN, 2, 1.02}, {STEP, 0.5, 1}, {STEP, 2, 1.02}}},
    {"mem-efficient-sm90", 128, -1, 2 * SHORT, LONG, 18, INFINITY, 0.3, {{TURN, 0, 0.75}, {STEP, 0, 0.75}}},
    /* Without a mask, keys not split: of up to 2K tokens there are two shapes, whose SMs have one CTA and two. (Twice
     * as far apart at the start would be nearer to both.) Longer ones come out if it is known, too, what a step takes a
     * CTA that has an SM to itself (with d = 128 it is what two take, halved), and how long before it is needed K or V
     * is asked for: from clocks and the kernel's source. */
    {"fa2-sm90", 64, 0, 1, SHORT, 2, 0.11, INFINITY, {{TURN, 0.5, 1}, {STEP, 0.5, 1}, {STEP, 2, 1.04}}},
    {"fa2-sm90", 128, 0, 1, SHORT, 2, 0.11, INFINITY, {{TURN, 0.5, 1}}},
    {"fa2-sm90",
     64,
     0,
     2 * SHORT,
     LONG,
     7,
     0.07,
     0.3,
     {{TURN, 0, 0.6}, {TURN, 3, 0.6}, {SOON, 0, 0.6}, {SOLO, 0, 0.5}}},
    {"fa2-sm90", 128, 0, 2 * SHORT, LONG, 7, 0.07, 0.3, {{TURN, 0, 0.6}, {TURN, 3, 0.6}, {SOON, 0, 0.6}}},
    {"cudnn-sm90", 64, 0, ROWS_FROM, 128, 24, 0.08, 1.7, {{TURN, 0, 1}, {TURN, 2, 1}, {BUSY, 0, 1}, {BUSY, 2, 1.04}}},
    {"cudnn-sm90", 128, 0, ROWS_FROM, 128, 24, 0.08, 1.7, {{TURN, 0, 1}, {TURN, 2, 1}, {BUSY, 0, 1}, {BUSY, 2, 1.04}}},
    /* Other kernels' starts come out there too, but for how much the CTAs of a full machine lose each other. */
    {"mem-efficient-sm90", 64, 0, ROWS_FROM, 64, 24, 0.16, 1.1, {{0}}},
    {"mem-efficient-sm90", 128, 0, ROWS_FROM, 64, 24, 0.16, 1.1, {{0}}},
};

TEST(descriptions_are_nearer_than_others) {
  EACH (k, ROWS) {
    const bool is_rows = ROWS[k].from == ROWS_FROM;
    const int64_t from = is_rows ? 12 * ROWS[k].to : ROWS[k].from, to = is_rows ? MOST_BLOCKS * ROWS[k].to : ROWS[k].to;
    read_counted(is_rows ? "counters/h200/others-rows/first.csv" : "counters/h200/others-one-pass/first.csv",
                 ROWS[k].kernel, is_rows ? to : LONG, is_rows ? ROW_TURNS : TURNS);
    const Far said = with(ROWS[k].kernel, ROWS[k].d, ROWS[k].causal, 0, 1, from, to);
    bool holds = said.n == ROWS[k].n && said.sectors < ROWS[k].sectors && said.hit_rate < ROWS[k].hit_rate;
    for (int o = 0; o < 4 && ROWS[k].other[o].field; o++)
      holds &= said.sectors < ROWS[k].other[o].part * with(ROWS[k].kernel, ROWS[k].d, ROWS[k].causal,
                                                           ROWS[k].other[o].field, ROWS[k].other[o].times, from, to)
                                                          .sectors;
    if (!holds)
      fail_msg("row %zu: %d shapes, sectors %.4f, hit rate %.2f points", k, said.n, said.sectors, said.hit_rate);
  }
}
