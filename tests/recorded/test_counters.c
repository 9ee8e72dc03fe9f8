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

/* Bounds without a mask and, behind "/", with one; a mask of which nothing is asked is not counted. */
typedef struct {
  char file[40], kernel[24];
  Told told;
  int shapes; /* of either mask */
  Bound bounds[2][QUANTITIES];
  bool both;             /* masks, under the first's bounds */
  int longest, heads, d; /* of the shapes; 0: any */
  int kernels;           /* each reads 45 KB of code from HBM besides, which small runs show */
} Row;

/* What the model is told, in the order of Told. */
static const char *const TOLD[] = {"as-it-is",     "in-step",      "no-partitions", "one-pass",
                                   "other-layout", "third-layout", "fourth-layout", "clocks"};
static const char *const QUANTITY[QUANTITIES] = {"hbm", "fabric", "sectors", "rate"}; /* the rate of hits */

/* The recording, the kernel ("ours": two), what the model is told, shapes; then of each quantity the half's bound and
 * the worst's, without a mask / with one, or of both; the longest shape, its heads and d, kernels. */
static const char *const ROWS[] = {
    /* Ours, 4K to 64K, 1 to 16 heads, eleven times on eight cards. */
    "h200/l2/first fa2_tensor as-it-is 12 hbm .009 .035 fabric .01 .025 rate .003 .005 "
    "/ hbm .009 .035 fabric .01 .025 rate .003 .01",
    "h200/l2/first fa2_async as-it-is 30 hbm .005 .034 fabric .01 .048 sectors .025 .1 rate .0015 .01 "
    "/ hbm .005 .034 fabric .01 .048 sectors .025 .1 rate .0015 .0115",
    "h200/l2/first fa2_async in-step 30 hbm 0 -.15 sectors -.5 0 / sectors -.5 0",
    "h200/l2/first fa2_async no-partitions 30 hbm 0 -.3 / hbm 0 -.12",
    /* A card laid out in another way, and not told. */
    "h200/l2/other fa2_async other-layout 30 hbm .009 .06 fabric .01 .095 rate .003 .023 "
    "/ hbm .009 .06 fabric .0075 .06 rate .003 .023",
    "h200/l2/other fa2_tensor other-layout 12 hbm .009 .06 fabric .01 .095 rate .003 .023 "
    "/ hbm .009 .06 fabric .0075 .06 rate .003 .023",
    "h200/l2/other fa2_async as-it-is 30 / fabric -.0135 0",
    "h200/l2/other fa2_tensor as-it-is 12 / fabric -.0135 0",
    /* The model had them neither to fit nor to choose. Of an H100, which differs by its description alone: sides of 25
     * MiB, its rates. */
    "h200/fresh/first ours as-it-is 28 hbm .007 .06 fabric .011 .045 rate .0045 .026 "
    "/ hbm .007 .02 fabric .011 .09 rate .0045 .026",
    "h200/fresh/other ours other-layout 28 hbm .007 .055 fabric .013 .049 rate .0045 .026 "
    "/ hbm .007 .02 fabric .013 .09 rate .0045 .026",
    "h200/fresh/third ours third-layout 28 hbm .007 .055 fabric .013 .05 rate .0045 .026 "
    "/ hbm .007 .02 fabric .013 .09 rate .0045 .026",
    "h200/later/first ours as-it-is 28 hbm .007 .065 fabric .011 .055 rate .0045 .026 "
    "/ hbm .007 .02 fabric .011 .09 rate .0045 .026",
    "h200/later/other ours other-layout 28 hbm .007 .05 fabric .015 .045 rate .0045 .026 "
    "/ hbm .007 .02 fabric .015 .09 rate .0045 .026",
    "h200/later/third ours third-layout 28 hbm .007 .07 fabric .0135 .08 rate .0045 .026 "
    "/ hbm .007 .02 fabric .0135 .09 rate .0045 .026",
    "h100/fresh/first ours as-it-is 28 hbm .007 .06 fabric .016 .05 rate .0045 .026 "
    "/ hbm .007 .02 fabric .016 .09 rate .0045 .026",
    "h100/later/first ours as-it-is 28 hbm .007 .04 fabric .02 .12 rate .0045 .026 "
    "/ hbm .007 .02 fabric .02 .09 rate .0045 .026",
    /* Launches of 80K to 128K: K and V of one head alone fill L2, or do not fit. Where other people's just do not fit
     * any more under a mask, chance decides. */
    "h200/longer/first fa2_async as-it-is 12 hbm .012 .105 / hbm .01 .04",
    "h200/longer/first fa2_tensor as-it-is 12 hbm .012 .11 / hbm .01 .06",
    "h200/others-longer/first fa2-sm90 as-it-is 12 hbm .025 .065 / hbm .06 .2",
    "h200/others-longer/first cudnn-sm90 as-it-is 12 hbm .02 .1 / hbm .16 .7",
    "h200/others-longer/first mem-efficient-sm90 as-it-is 12 hbm .045 .1 / hbm .03 .8",
    /* Eighteen shapes of each kernel and mask, six times each, with Q, K, V and O at other addresses, 4K to 64K: short
     * rows first under a mask, with d = 128, fill L2 to the brim. */
    "h200/others-places/first fa2-sm90 as-it-is 18 hbm .006 .027 / hbm .0102 .178",
    "h200/others-places/first mem-efficient-sm90 as-it-is 18 hbm .01 .046 / hbm .004 .084",
    "h200/others-places/first cudnn-sm90 as-it-is 18 hbm .006 .081 / hbm .002 .025",
    "h200/others-places/second fa2-sm90 as-it-is 18 hbm .0071 .027 / hbm .009 .178",
    "h200/others-places/second mem-efficient-sm90 as-it-is 18 hbm .01 .046 / hbm .004 .084",
    "h200/others-places/second cudnn-sm90 as-it-is 18 hbm .006 .081 / hbm .002 .025",
    "h200/others-places/third fa2-sm90 as-it-is 18 hbm .006 .027 / hbm .009 .178",
    "h200/others-places/third mem-efficient-sm90 as-it-is 18 hbm .0131 .046 / hbm .004 .084",
    "h200/others-places/third cudnn-sm90 as-it-is 18 hbm .006 .081 / hbm .002 .025",
    "h200/others-places/fourth fa2-sm90 fourth-layout 18 hbm .006 .027 / hbm .009 .178",
    "h200/others-places/fourth mem-efficient-sm90 fourth-layout 18 hbm .01 .046 / hbm .004 .084",
    "h200/others-places/fourth cudnn-sm90 fourth-layout 18 hbm .006 .081 / hbm .002 .025",
    /* Begun with any GPC, one pass of the profiler each, spilled registers elsewhere now and then. */
    "h200/others-turns/first fa2-sm90 as-it-is 18 hbm .006 .035 / hbm .0125 .105",
    "h200/others-turns/first mem-efficient-sm90 as-it-is 18 hbm .012 .041 / hbm .004 .075",
    "h200/others-turns/first cudnn-sm90 as-it-is 18 hbm .01 .06 / hbm .002 .05",
    "h200/others-turns/second fa2-sm90 as-it-is 18 hbm .006 .035 / hbm .0125 .105",
    /* Told how fast its GPCs are, the model knows what cuDNN reads on a card where that is a fifth more than on
     * others. */
    "h200/cudnn-places/first cudnn-sm90 clocks 18 hbm .0095 .079 both d 128",
    /* One head that fits, counted in one pass: no store is cold, as it is where a profiler puts back what was
     * stored. */
    "h200/l2-one-pass/first ours one-pass 10 fabric .01 .01 longest 16384 heads 1",
    "h200/l2-one-pass/first ours as-it-is 10 fabric -.01 0 longest 16384 heads 1",
    /* Other streams: three kernels, between which the profiler flushes L2; O that comes and goes over the fabric. */
    "h200/kernels/first standard_tiled as-it-is 8 hbm 0 .2 fabric 0 .12 kernels 3",
    "h200/kernels/first fa1 as-it-is 15 hbm 0 .2 fabric 0 .04 kernels 1",
};

static int word_of(const char *word, const char *const *words, int n) {
  int k = 0;
  while (k < n && strcmp(word, words[k]) != 0) k++;
  return k;
}

static Row row_of(const char *text) {
  static const char *const NUMBER[] = {"longest", "heads", "d", "kernels"};
  Row r = {.told = AS_IT_IS};
  int used, mask = 0;
  char word[16];
  assert_int_equal(sscanf(text, "%39s %23s %15s %d%n", r.file, r.kernel, word, &r.shapes, &used), 4);
  r.told = (Told)word_of(word, TOLD, COUNT_OF(TOLD));
  assert_true(r.told < (Told)COUNT_OF(TOLD));
  for (text += used; sscanf(text, "%15s%n", word, &used) == 1; text += used) {
    const int quantity = word_of(word, QUANTITY, QUANTITIES), number = word_of(word, NUMBER, COUNT_OF(NUMBER));
    text += used, used = 0;
    if (quantity < QUANTITIES) {
      Bound *b = &r.bounds[mask][quantity];
      assert_int_equal(sscanf(text, "%lf %lf%n", &b->middle, &b->worst, &used), 2);
    } else if (number < (int)COUNT_OF(NUMBER)) {
      int *const of[] = {&r.longest, &r.heads, &r.d, &r.kernels};
      assert_int_equal(sscanf(text, "%d%n", of[number], &used), 1);
    } else if (strcmp(word, "both") == 0) {
      r.both = true;
    } else {
      assert_string_equal(word, "/");
      mask = 1;
    }
  }
  return r;
}

typedef struct {
  const CounterRow *first;
  double counted[QUANTITIES]; /* means */
  int n;
} Mean;

static bool is_asked(const Row *row, bool causal, const CounterRow *c) {
  const bool is_kernel = strcmp(row->kernel, "ours") == 0
                             ? strncmp(c->kernel, "fa2_async", 9) == 0 || strncmp(c->kernel, "fa2_tensor", 10) == 0
                             : strcmp(c->kernel, row->kernel) == 0;
  if (!is_kernel || c->shape.dtype != DTYPE_FP16 || (!row->kernels && !row->both && c->shape.causal != causal))
    return false;
  if (!row->kernels && c->shape.N_q < 4096) return false;
  return (!row->longest || c->shape.N_q <= row->longest) && (!row->heads || c->shape.heads == row->heads) &&
         (!row->d || c->shape.d == row->d);
}

static int read_means(const Row *row, bool causal, const CounterTable *table, Mean means[SHAPES_MAX]) {
  int n = 0;
  for (size_t i = 0; i < table->n_rows; i++) {
    const CounterRow *c = &table->rows[i];
    if (!is_asked(row, causal, c)) continue;
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

static void judge(const Row *row, bool causal, Quantity q, const char *which, double off, double bound) {
  if (bound == 0 || (bound > 0 ? off < bound : off > -bound)) return;
  print_error("%s %s %s: %s %s is %.4f off, bound %g\n", row->file, row->kernel, causal ? "causal" : "full", NAMES[q],
              which, off, bound);
  n_wrong++;
}

static void check(const Row *row, bool causal) {
  static const Bound NOTHING[QUANTITIES];
  const Bound *bounds = row->bounds[causal];
  if (memcmp(bounds, NOTHING, sizeof NOTHING) == 0) return;
  static Mean means[SHAPES_MAX];
  static double errors[QUANTITIES][SHAPES_MAX];
  const Gpu gpu = open_gpu(strncmp(row->file, "h100", 4) == 0 ? "h100-sxm" : "h200");
  CounterTable table = open_counter_table(test_text("counters/%s.csv", row->file));
  int n = 0;
  for (int i = 0, all = read_means(row, causal, &table, means); i < all; i++) {
    double predicted[QUANTITIES];
    if (!predict(row, &means[i], &gpu, predicted)) continue;
    for (int q = 0; q < QUANTITIES; q++) {
      const double counted = means[i].counted[q];
      errors[q][n] = fabs(q == HIT_RATE ? predicted[q] - counted : predicted[q] / counted - 1);
      if (test_depth() > 1 && (bounds[q].middle != 0 || bounds[q].worst != 0))
        print_message("%s %s N %d heads %d d %d %s: %s %.6g, counted %.6g\n", row->file, means[i].first->kernel,
                      (int)means[i].first->shape.N_q, (int)means[i].first->shape.heads, (int)means[i].first->shape.d,
                      causal ? "causal" : "full", NAMES[q], predicted[q], counted);
    }
    n++;
  }
  counter_table_free(&table);
  if (n != row->shapes) print_error("%s %s: %d shapes, not %d\n", row->file, row->kernel, n, row->shapes), n_wrong++;
  for (int q = 0; q < QUANTITIES && n; q++) {
    qsort(errors[q], (size_t)n, sizeof(double), by_size);
    judge(row, causal, (Quantity)q, "half within", (errors[q][(n - 1) / 2] + errors[q][n / 2]) / 2, bounds[q].middle);
    judge(row, causal, (Quantity)q, "worst", errors[q][n - 1], bounds[q].worst);
  }
}

TEST(counters_are_predicted) {
  EACH (k, ROWS) {
    const Row row = row_of(ROWS[k]);
    for (int causal = 0; causal < 2; causal++) check(&row, causal);
  }
  assert_int_equal(n_wrong, 0);
}
