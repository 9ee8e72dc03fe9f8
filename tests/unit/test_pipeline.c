/* The measured pipeline (assets/counters/h100/pipeline/): phases, products at peak rate, idle time,
 * against sums made from the files by other means, and files that are none; the period of a tile as modelled.
 *
 *     TILEWALK_DEPTH=2 build/tests/test_pipeline     prints model and stamps row by row (sim/machine/TIMES.md) */
#include "tests/support/test.h"
#include "sim/machine/tile_cost.h"
#include "tests/support/open_gpu.h"
#include "tests/support/open_profile.h"
#include "viz/request/pipeline_file.h"

static Pipeline *recorded(int64_t d, int64_t heads, bool causal) {
  const Shape shape = {.batch = 1, .heads = heads, .N_q = 4096, .N_k = 4096, .d = d, .causal = causal};
  Pipeline *p = pipeline_for("fa3_overlap", &shape, fresh_error());
  must(!p);
  return p;
}

static const PipelineSpan *span(const Pipeline *p, int group, int tile, PipelinePhase phase) {
  for (int k = 0; k < p->n_spans; k++)
    if (p->spans[k].group == group && p->spans[k].tile == tile && p->spans[k].phase == phase) return &p->spans[k];
  return NULL;
}

/* Tile 26 of the second group, read off the file: has K 88,892, S 89,840, softmax 91,442, rounded 91,779, next K
 * 92,060. */
TEST(test_a_tile) {
  Pipeline *p = recorded(128, 16, false);
  static const int64_t LENGTHS[] = {948, 1602, 337, 281};
  assert_int_equal(p->n_groups, 2);
  assert_int_equal(p->N, 4096);
  int64_t at = 88892;
  for (int phase = 0; phase < PHASE_COUNT; phase++) {
    const PipelineSpan *s = span(p, 1, 26, (PipelinePhase)phase);
    assert_non_null(s);
    assert_int_equal(s->begin, at);
    assert_int_equal(s->end - s->begin, LENGTHS[phase]);
    at = s->end;
  }
  assert_int_equal(p->product_cycles, 1024);
  assert_int_equal(p->median_tile, 3166); /* of 60 that follow another in their block; 3,164 is below the middle */
  free(p);
}

/* Products are one after the other, none before it is asked for, and all of them are there. */
TEST(test_products_at_peak_rate) {
  Pipeline *p = recorded(128, 16, false);
  int64_t sum = 0;
  for (int k = 0; k < p->n_tensor; k++) {
    const PipelineSpan *s = &p->tensor[k];
    sum += s->end - s->begin;
    assert_true(s->begin >= p->stamps[s->group + 1][s->tile][1]);
    if (k > 0) assert_true(s->begin >= p->tensor[k - 1].end);
  }
  assert_int_equal(sum, 2 * 64 * 1024);
  assert_near(p->idle, 0.36, 0.015);
  free(p);
}

/* At d = 64 three groups, half the products a tile, and more than half of the time idle. */
TEST(test_d_64) {
  Pipeline *p = recorded(64, 32, false);
  assert_int_equal(p->n_groups, 3);
  assert_int_equal(p->product_cycles, 512);
  assert_near(p->idle, 0.54, 0.02);
  free(p);
}

TEST(test_every_record_is_read) {
  free(recorded(128, 16, true));
  free(recorded(128, 1, false));
  const Shape other = {.batch = 1, .heads = 1, .N_q = 4096, .N_k = 4096, .d = 96};
  assert_null(pipeline_for("fa3_overlap", &other, NULL));
}

/* ---- The period of a tile, beside the model's ---- */

#define TENSOR_CLOCKS_PER_NS 1.830 /* under products: data sheet; 1.760 to 1.864 recorded (h100/clocks) */

/* Cycles from a tile to the next of one CTA: `from_rates` by what such a tile costs an SM (sim/machine/tile_cost.h,
 * which knows none of these kernels), `from_times` by what was fitted to the times of the kernel's own launches. */
typedef struct {
  double from_rates, from_times;
  TimePart binds;
  int64_t B_r, B_c, ctas_per_sm;
} Period;

static Period modelled_period(const char *kernel, Shape shape) {
  Gpu gpu = open_gpu("h100-sxm");
  const Profile profile = open_profile(kernel);
  LaunchConfig launch;
  Occupancy occupancy;
  must(shape_complete(&shape, fresh_error()) || profile_config(&profile, &shape, &launch, fresh_error()) ||
       launch_occupancy(&occupancy, &launch, &gpu, fresh_error()));
  if (strcmp(kernel, "fa2_async") == 0) strcpy(gpu.compute_capability, "8.0"); /* mma.sync, on an H100's units */
  const TileCost cost = tile_cost(&gpu, &shape, launch.block_q, launch.block_k);
  const double cycles_per_ns = (double)occupancy.ctas_per_sm * TENSOR_CLOCKS_PER_NS;
  return (Period){.from_rates = (double)cost.law.tile_ns * cycles_per_ns,
                  .from_times = (double)launch.time.tile_ns * cycles_per_ns,
                  .binds = cost.binds,
                  .B_r = launch.block_q,
                  .B_c = launch.block_k,
                  .ctas_per_sm = occupancy.ctas_per_sm};
}

/* The median of all CTAs (assets/counters/h100/stamps): the mean of two runs on each of two cards. */
static double median_of_all(const char *kernel, const Shape *s) {
  static const char *const CARDS[] = {"first", "second"};
  double sum = 0, median;
  int count = 0, d = 0, causal = 0;
  EACH (card, CARDS) {
    char path[96], line[256], name[32] = "";
    snprintf(path, sizeof path, "assets/counters/h100/stamps/%s.csv", CARDS[card]);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
      if (sscanf(line, "launch,%31[^,],%d,4096,%*d,%d,", name, &d, &causal) == 3) continue;
      if (sscanf(line, "span,next,%*d,%*f,%lf", &median) == 1 && strcmp(name, kernel) == 0 && d == s->d &&
          causal == s->causal)
        sum += median, count++;
    }
    fclose(file);
  }
  assert_int_equal(count, 4);
  return sum / count;
}

/* Two warpgroups of 64 rows and one that copies; Q, and two stages of K and V, two bytes an element. */
TEST(test_tile_by_wgmma) {
  const Gpu gpu = open_gpu("h100-sxm");
  Shape shape = {.N_q = 4096, .d = 64, .d_v = 32};
  must(shape_complete(&shape, NULL));
  const TileCost cost = tile_cost(&gpu, &shape, 128, 96);
  assert_string_equal(cost.instruction, "wgmma");
  assert_int_equal(cost.threads, 3 * 128);
  assert_int_equal(cost.shared_bytes, 2 * (128 * 64 + 2 * 96 * (64 + 32)));
}

/* Rungs 7 and 9 by rates within 10 %. Rung 8 waits for each product before it goes on, which a tile of tile_cost does
 * not: below, and within 16. What binds: the units' parts of the time, as stamped and at peak rate. */
TEST(test_period_of_a_tile) {
  static const struct {
    const char *kernel;
    double least, most; /* percent */
  } KERNELS[] = {{"fa2_async", -10, 10}, {"fa2_wgmma", -16, -10}, {"fa3_overlap", -10, 10}};
  EACH (k, KERNELS)
    for (int of = 0; of < 3; of++) {
      const char *kernel = KERNELS[k].kernel;
      const Shape shape = {
          .batch = 1, .heads = 16, .N_q = 4096, .N_k = 4096, .d = of == 2 ? 64 : 128, .causal = of == 1};
      Pipeline *p = pipeline_for(kernel, &shape, fresh_error());
      must(!p);
      const Period m = modelled_period(kernel, shape);
      const double all = median_of_all(kernel, &shape), off = 100 * (m.from_rates / all - 1), tensor = 1 - p->idle,
                   exponentials = (double)(m.ctas_per_sm * m.B_r * m.B_c) / 16 / (double)p->median_tile;
      if (test_depth() > 1)
        printf("| `%s` | %d%s | %d x %d | %d | %.0f | %.0f | %+.1f | %s | %.0f | %.0f | %.0f | %+.1f |\n", kernel,
               (int)shape.d, shape.causal ? ", causal" : "", (int)m.B_r, (int)m.B_c, (int)p->median_tile, all,
               m.from_rates, off, timing_term_title(m.binds), 100 * tensor, 100 * exponentials, m.from_times,
               100 * (m.from_times / all - 1));
      assert_true(off >= KERNELS[k].least && off <= KERNELS[k].most);
      assert_true(m.binds == TIME_MATH ? exponentials < 0.7 * tensor
                                       : m.binds == TIME_EXP && exponentials > 0.9 * tensor);
      free(p);
    }
}

TEST(test_what_is_no_record) {
  static const TextSays BAD[] = {
      {"", "x.csv:1: no line says"},
      {"# kernel fa3_overlap heads 1 N 64 d 64 causal 0\n0,0,0,0\n", "x.csv:1: no line says"},
      {"# kernel fa3_overlap heads 1 N 64 d 64 causal 0\n1,0,1,5\n", "lacks a stamp"},
      {"# kernel fa3_overlap heads 1 N 64 d 64 causal 0\n1,0,1,5\n1,0,4,4\n", "its time goes back"},
      {"# a\n1,0,1\n", "x.csv:2: a stamp is four whole numbers"},
      {"1,0,1,5 6\n", "x.csv:1: a stamp is four whole numbers"},
      {"4,0,1,5\n", "x.csv:1: roles are 0 to 3"},
      {"1,256,1,5\n", "roles are 0 to 3"},
      {"1,0,1,-5\n", "from 0 on"},
      {"1,0,1,5\n1,0,1,6\n", "x.csv:2: this stamp is there twice"}};
  EACH (k, BAD) {
    assert_null(pipeline_read(ALL_OF(BAD[k].text), "x.csv", fresh_error()));
    assert_said(BAD[k].says);
  }
}
