/* The model of L2 against the counters of H200s and an H100: recordings as rows, each with its kernel, what is asked,
 * and how far the half of its shapes and the worst may be off. A shape's launches are compared by their mean, as the
 * model's answer is that of its draws. TILEWALK_DEPTH=2 prints every shape. */
#include "tests/support/test.h"
#include "tests/support/predict_counters.h"
#include "tests/support/open_counter_table.h"
#include "tests/support/open_gpu.h"
#include "tests/support/open_profile.h"
#include "tests/support/recorded_rows.h"

enum { SHAPES_MAX = 256 };
typedef enum { HBM, FABRIC, SECTORS, HIT_RATE, QUANTITIES } Quantity;
static const char *const NAMES[QUANTITIES] = {"HBM read", "fabric", "sectors reaching L2", "hit rate"};

/* Relative errors; of the hit rate, its difference. 0: not asked; below 0: at least so far off, as a part of the model
 * is left out, or the model is not told what the row says. */
typedef struct {
  double middle, worst;
} Bound;

typedef enum {
  AS_IT_IS = 0,
  IN_STEP,
  WITHOUT_PARTITIONS,
  ONE_PASS,
  OTHER_LAYOUT,
  THIRD_LAYOUT,
  FOURTH_LAYOUT,
  TOLD_CLOCKS
} Told;

typedef struct {
  const char *file, *kernel;
  bool causal, both; /* masks */
  int shapes;
  Bound bounds[QUANTITIES];
  Told told;
  int64_t longest, heads, d; /* of the shapes; 0: any */
  int kernels;               /* each reads 45 KB of code from HBM besides, which small runs show */
} Row;

#define OF(a, b, c, d) .file = a, .kernel = b, .causal = c, .shapes = d
/* Eighteen shapes of each kernel and mask, six times each, with Q, K, V and O at other addresses, 4K to 64K: short
 * rows first under a mask, with d = 128, fill L2 to the brim. */
#define PLACES(file, told_, fa2_full, fa2_worst, causal, causal_worst, mem, mem_worst, mem_causal, mem_causal_worst,   \
               cudnn, cudnn_worst, cudnn_causal, cudnn_causal_worst)                                                   \
  {OF(file, "fa2-sm90", false, 18), .bounds = {{fa2_full, fa2_worst}}, .told = told_},                                 \
      {OF(file, "fa2-sm90", true, 18), .bounds = {{causal, causal_worst}}, .told = told_},                             \
      {OF(file, "mem-efficient-sm90", false, 18), .bounds = {{mem, mem_worst}}, .told = told_},                        \
      {OF(file, "mem-efficient-sm90", true, 18), .bounds = {{mem_causal, mem_causal_worst}}, .told = told_},           \
      {OF(file, "cudnn-sm90", false, 18), .bounds = {{cudnn, cudnn_worst}}, .told = told_}, {                          \
    OF(file, "cudnn-sm90", true, 18), .bounds = {{cudnn_causal, cudnn_causal_worst}}, .told = told_                    \
  }
static const Row ROWS[] = {
    /* Ours, 4K to 64K, 1 to 16 heads, eleven times on eight cards. */
    {OF("h200/l2/first.csv", "fa2_tensor", false, 12),
     .bounds = {{0.009, 0.035}, {0.01, 0.025}, {0, 0}, {0.003, 0.005}}},
    {OF("h200/l2/first.csv", "fa2_tensor", true, 12), .bounds = {{0.009, 0.035}, {0.01, 0.025}, {0, 0}, {0.003, 0.01}}},
    {OF("h200/l2/first.csv", "fa2_async", false, 30),
     .bounds = {{0.005, 0.034}, {0.01, 0.048}, {0.025, 0.1}, {0.0015, 0.01}}},
    {OF("h200/l2/first.csv", "fa2_async", true, 30),
     .bounds = {{0.005, 0.034}, {0.01, 0.048}, {0.025, 0.1}, {0.0015, 0.0115}}},
    {OF("h200/l2/first.csv", "fa2_async", false, 30), .bounds = {{0, -0.15}, {0, 0}, {-0.5, 0}}, .told = IN_STEP},
    {OF("h200/l2/first.csv", "fa2_async", true, 30), .bounds = {{0, 0}, {0, 0}, {-0.5, 0}}, .told = IN_STEP},
    {OF("h200/l2/first.csv", "fa2_async", false, 30), .bounds = {{0, -0.3}}, .told = WITHOUT_PARTITIONS},
    {OF("h200/l2/first.csv", "fa2_async", true, 30), .bounds = {{0, -0.12}}, .told = WITHOUT_PARTITIONS},
    /* A card laid out in another way, and not told. */
    {OF("h200/l2/other.csv", "fa2_async", false, 30), .bounds = {{0.009, 0.06}, {0.01, 0.095}, {0, 0}, {0.003, 0.023}},
     .told = OTHER_LAYOUT},
    {OF("h200/l2/other.csv", "fa2_async", true, 30), .bounds = {{0.009, 0.06}, {0.0075, 0.06}, {0, 0}, {0.003, 0.023}},
     .told = OTHER_LAYOUT},
    {OF("h200/l2/other.csv", "fa2_tensor", false, 12), .bounds = {{0.009, 0.06}, {0.01, 0.095}, {0, 0}, {0.003, 0.023}},
     .told = OTHER_LAYOUT},
    {OF("h200/l2/other.csv", "fa2_tensor", true, 12), .bounds = {{0.009, 0.06}, {0.0075, 0.06}, {0, 0}, {0.003, 0.023}},
     .told = OTHER_LAYOUT},
    {OF("h200/l2/other.csv", "fa2_async", true, 30), .bounds = {{0, 0}, {-0.0135, 0}}},
    {OF("h200/l2/other.csv", "fa2_tensor", true, 12), .bounds = {{0, 0}, {-0.0135, 0}}},
    /* Shapes between those: the model had them neither to fit nor to choose. */
    {OF("h200/fresh/first.csv", "ours", false, 28), .bounds = {{0.007, 0.06}, {0.011, 0.045}, {0, 0}, {0.0045, 0.026}}},
    {OF("h200/fresh/first.csv", "ours", true, 28), .bounds = {{0.007, 0.02}, {0.011, 0.09}, {0, 0}, {0.0045, 0.026}}},
    {OF("h200/fresh/other.csv", "ours", false, 28), .bounds = {{0.007, 0.055}, {0.013, 0.049}, {0, 0}, {0.0045, 0.026}},
     .told = OTHER_LAYOUT},
    {OF("h200/fresh/other.csv", "ours", true, 28), .bounds = {{0.007, 0.02}, {0.013, 0.09}, {0, 0}, {0.0045, 0.026}},
     .told = OTHER_LAYOUT},
    {OF("h200/fresh/third.csv", "ours", false, 28), .bounds = {{0.007, 0.055}, {0.013, 0.05}, {0, 0}, {0.0045, 0.026}},
     .told = THIRD_LAYOUT},
    {OF("h200/fresh/third.csv", "ours", true, 28), .bounds = {{0.007, 0.02}, {0.013, 0.09}, {0, 0}, {0.0045, 0.026}},
     .told = THIRD_LAYOUT},
    {OF("h200/later/first.csv", "ours", false, 28),
     .bounds = {{0.007, 0.065}, {0.011, 0.055}, {0, 0}, {0.0045, 0.026}}},
    {OF("h200/later/first.csv", "ours", true, 28), .bounds = {{0.007, 0.02}, {0.011, 0.09}, {0, 0}, {0.0045, 0.026}}},
    {OF("h200/later/other.csv", "ours", false, 28), .bounds = {{0.007, 0.05}, {0.015, 0.045}, {0, 0}, {0.0045, 0.026}},
     .told = OTHER_LAYOUT},
    {OF("h200/later/other.csv", "ours", true, 28), .bounds = {{0.007, 0.02}, {0.015, 0.09}, {0, 0}, {0.0045, 0.026}},
     .told = OTHER_LAYOUT},
    {OF("h200/later/third.csv", "ours", false, 28), .bounds = {{0.007, 0.07}, {0.0135, 0.08}, {0, 0}, {0.0045, 0.026}},
     .told = THIRD_LAYOUT},
    {OF("h200/later/third.csv", "ours", true, 28), .bounds = {{0.007, 0.02}, {0.0135, 0.09}, {0, 0}, {0.0045, 0.026}},
     .told = THIRD_LAYOUT},
    /* An H100 differs by its description alone: sides of 25 MiB, its rates. */
    {OF("h100/fresh/first.csv", "ours", false, 28), .bounds = {{0.007, 0.06}, {0.016, 0.05}, {0, 0}, {0.0045, 0.026}}},
    {OF("h100/fresh/first.csv", "ours", true, 28), .bounds = {{0.007, 0.02}, {0.016, 0.09}, {0, 0}, {0.0045, 0.026}}},
    {OF("h100/later/first.csv", "ours", false, 28), .bounds = {{0.007, 0.04}, {0.02, 0.12}, {0, 0}, {0.0045, 0.026}}},
    {OF("h100/later/first.csv", "ours", true, 28), .bounds = {{0.007, 0.02}, {0.02, 0.09}, {0, 0}, {0.0045, 0.026}}},
    /* Launches of 80K to 128K: K and V of one head alone fill L2, or do not fit. Where other people's just do not fit
     * any more under a mask, chance decides. */
    {OF("h200/longer/first.csv", "fa2_async", false, 12), .bounds = {{0.012, 0.105}}},
    {OF("h200/longer/first.csv", "fa2_async", true, 12), .bounds = {{0.01, 0.04}}},
    {OF("h200/longer/first.csv", "fa2_tensor", false, 12), .bounds = {{0.012, 0.11}}},
    {OF("h200/longer/first.csv", "fa2_tensor", true, 12), .bounds = {{0.01, 0.06}}},
    {OF("h200/others-longer/first.csv", "fa2-sm90", false, 12), .bounds = {{0.025, 0.065}}},
    {OF("h200/others-longer/first.csv", "fa2-sm90", true, 12), .bounds = {{0.06, 0.2}}},
    {OF("h200/others-longer/first.csv", "cudnn-sm90", false, 12), .bounds = {{0.02, 0.1}}},
    {OF("h200/others-longer/first.csv", "cudnn-sm90", true, 12), .bounds = {{0.16, 0.7}}},
    {OF("h200/others-longer/first.csv", "mem-efficient-sm90", false, 12), .bounds = {{0.045, 0.1}}},
    {OF("h200/others-longer/first.csv", "mem-efficient-sm90", true, 12), .bounds = {{0.03, 0.8}}},
    PLACES("h200/others-places/first.csv", AS_IT_IS, 0.006, 0.027, 0.0102, 0.178, 0.01, 0.046, 0.004, 0.084, 0.006,
           0.081, 0.002, 0.025),
    PLACES("h200/others-places/second.csv", AS_IT_IS, 0.0071, 0.027, 0.009, 0.178, 0.01, 0.046, 0.004, 0.084, 0.006,
           0.081, 0.002, 0.025),
    PLACES("h200/others-places/third.csv", AS_IT_IS, 0.006, 0.027, 0.009, 0.178, 0.0131, 0.046, 0.004, 0.084, 0.006,
           0.081, 0.002, 0.025),
    PLACES("h200/others-places/fourth.csv", FOURTH_LAYOUT, 0.006, 0.027, 0.009, 0.178, 0.01, 0.046, 0.004, 0.084, 0.006,
           0.081, 0.002, 0.025),
    /* Begun with any GPC, one pass of the profiler each, spilled registers elsewhere now and then. */
    PLACES("h200/others-turns/first.csv", AS_IT_IS, 0.006, 0.035, 0.0125, 0.105, 0.012, 0.041, 0.004, 0.075, 0.01, 0.06,
           0.002, 0.05),
    {OF("h200/others-turns/second.csv", "fa2-sm90", false, 18), .bounds = {{0.006, 0.035}}},
    {OF("h200/others-turns/second.csv", "fa2-sm90", true, 18), .bounds = {{0.0125, 0.105}}},
    /* Told how fast its GPCs are, the model knows what cuDNN reads on a card where that is a fifth more than on
     * others. */
    {OF("h200/cudnn-places/first.csv", "cudnn-sm90", true, 18), .bounds = {{0.0095, 0.079}}, .told = TOLD_CLOCKS,
     .d = 128, .both = true},
    /* One head that fits, counted in one pass: no store is cold, as it is where a profiler puts back what was stored.
     */
    {OF("h200/l2-one-pass/first.csv", "ours", false, 10), .bounds = {{0, 0}, {0.01, 0.01}}, .told = ONE_PASS,
     .longest = 16384, .heads = 1},
    {OF("h200/l2-one-pass/first.csv", "ours", false, 10), .bounds = {{0, 0}, {-0.01, 0}}, .told = AS_IT_IS,
     .longest = 16384, .heads = 1},
    /* Other streams: three kernels, between which the profiler flushes L2; O that comes and goes over the fabric. */
    {OF("h200/kernels/first.csv", "standard_tiled", false, 8), .bounds = {{0, 0.2}, {0, 0.12}}, .kernels = 3},
    {OF("h200/kernels/first.csv", "fa1", false, 15), .bounds = {{0, 0.2}, {0, 0.04}}, .kernels = 1},
};

typedef struct {
  const CounterRow *first;
  double counted[QUANTITIES]; /* means */
  int n;
} Mean;

static bool is_asked(const Row *row, const CounterRow *c) {
  const bool is_kernel = strcmp(row->kernel, "ours") == 0
                             ? strncmp(c->kernel, "fa2_async", 9) == 0 || strncmp(c->kernel, "fa2_tensor", 10) == 0
                             : strcmp(c->kernel, row->kernel) == 0;
  if (!is_kernel || c->shape.dtype != DTYPE_FP16 || (!row->kernels && !row->both && c->shape.causal != row->causal))
    return false;
  if (!row->kernels && c->shape.N_q < 4096) return false;
  return (!row->longest || c->shape.N_q <= row->longest) && (!row->heads || c->shape.heads == row->heads) &&
         (!row->d || c->shape.d == row->d);
}

static int read_means(const Row *row, const CounterTable *table, Mean means[SHAPES_MAX]) {
  int n = 0;
  for (size_t i = 0; i < table->n_rows; i++) {
    const CounterRow *c = &table->rows[i];
    if (!is_asked(row, c)) continue;
    int at = 0;
    while (at < n &&
           (strcmp(means[at].first->kernel, c->kernel) || memcmp(&means[at].first->shape, &c->shape, sizeof c->shape) ||
            means[at].first->tiling.B_r != c->tiling.B_r || means[at].first->tiling.B_c != c->tiling.B_c))
      at++;
    assert_true(at < SHAPES_MAX);
    if (at == n) means[n++] = (Mean){.first = c};
    Mean *m = &means[at];
    const double hit = (double)c->value[COUNTER_LOOKUP_HIT], miss = (double)c->value[COUNTER_LOOKUP_MISS],
                 now[QUANTITIES] = {(double)c->value[COUNTER_HBM_READ], 32 * (double)c->value[COUNTER_FABRIC_SECTORS],
                                    32 * (double)c->value[COUNTER_L2_READ_SECTORS], hit / (hit + miss)};
    m->n++;
    for (int q = 0; q < QUANTITIES; q++) m->counted[q] += (now[q] - m->counted[q]) / m->n;
  }
  return n;
}

/* False: the kernel is launched with other tiles. */
static bool predict(const Row *row, const Mean *m, const Gpu *gpu, double predicted[QUANTITIES]) {
  static const Placement *const PLACEMENTS[] = {[OTHER_LAYOUT] = &PLACEMENT_H200_OTHER,
                                                [THIRD_LAYOUT] = &PLACEMENT_H200_THIRD,
                                                [FOURTH_LAYOUT] = &PLACEMENT_H200_FOURTH,
                                                [TOLD_CLOCKS] = NULL};
  const Profile profile = open_profile(m->first->kernel);
  Placement told =
      PLACEMENT_H200; /* h200/gpcs: cuDNN, d = 128, N = 65536, four heads, of the card of h200/cudnn-places */
  memcpy(told.clocks_ppm, (int32_t[]){-4582, -5365, -592, 2873, -381, 5574, 11768, -9296}, 8 * sizeof(int32_t));
  Problem p = {.shape = m->first->shape,
               .machine = {.sram_bytes = gpu->shared_bytes_per_cta},
               .placement = row->told == TOLD_CLOCKS ? &told : PLACEMENTS[row->told],
               .in_step = row->told == IN_STEP,
               .once = row->told == ONE_PASS,
               .without = row->told == WITHOUT_PARTITIONS ? refinement_bit(REFINEMENT_PARTITIONS) : 0};
  L2Counters c;
  must(profile_config(&profile, &p.shape, &p.launch, fresh_error()));
  p.tiling = (Tiling){.B_r = m->first->tiling.B_r, .B_c = m->first->tiling.B_c, .lse = profile.lse};
  if (!row->kernels && (p.tiling.B_r != p.launch.block_q || p.tiling.B_c != p.launch.block_k)) return false;
  must(predict_counters(&c, &p, profile.schedule, gpu, fresh_error()));
  predicted[HBM] = c.hbm_read_bytes + 45000 * row->kernels;
  predicted[FABRIC] = c.fabric_bytes, predicted[SECTORS] = c.l2_read_bytes, predicted[HIT_RATE] = c.hit_rate;
  return true;
}

static int n_wrong;

static void judge(const Row *row, Quantity q, const char *which, double off, double bound) {
  if (bound == 0 || (bound > 0 ? off < bound : off > -bound)) return;
  print_error("%s %s %s: %s %s is %.4f off, bound %g\n", row->file, row->kernel, row->causal ? "causal" : "full",
              NAMES[q], which, off, bound);
  n_wrong++;
}

static void check(const Row *row) {
  static Mean means[SHAPES_MAX];
  static double errors[QUANTITIES][SHAPES_MAX];
  const Gpu gpu = open_gpu(strncmp(row->file, "h100", 4) == 0 ? "h100-sxm" : "h200");
  char name[96];
  snprintf(name, sizeof name, "counters/%s", row->file);
  CounterTable table = open_counter_table(name);
  int n = 0;
  for (int i = 0, all = read_means(row, &table, means); i < all; i++) {
    double predicted[QUANTITIES];
    if (!predict(row, &means[i], &gpu, predicted)) continue;
    for (int q = 0; q < QUANTITIES; q++) {
      const double counted = means[i].counted[q];
      errors[q][n] = fabs(q == HIT_RATE ? predicted[q] - counted : predicted[q] / counted - 1);
      if (test_depth() > 1 && (row->bounds[q].middle != 0 || row->bounds[q].worst != 0))
        print_message("%s %s N %d heads %d d %d %s: %s %.6g, counted %.6g\n", row->file, means[i].first->kernel,
                      (int)means[i].first->shape.N_q, (int)means[i].first->shape.heads, (int)means[i].first->shape.d,
                      row->causal ? "causal" : "full", NAMES[q], predicted[q], counted);
    }
    n++;
  }
  counter_table_free(&table);
  if (n != row->shapes) print_error("%s %s: %d shapes, not %d\n", row->file, row->kernel, n, row->shapes), n_wrong++;
  for (int q = 0; q < QUANTITIES && n; q++) {
    qsort(errors[q], (size_t)n, sizeof(double), by_size);
    judge(row, (Quantity)q, "half within", (errors[q][(n - 1) / 2] + errors[q][n / 2]) / 2, row->bounds[q].middle);
    judge(row, (Quantity)q, "worst", errors[q][n - 1], row->bounds[q].worst);
  }
}

TEST(counters_are_predicted) {
  EACH (k, ROWS) check(&ROWS[k]);
  assert_int_equal(n_wrong, 0);
}
