/* The measured pipeline (assets/counters/h100/pipeline/): phases, products at peak rate, idle time and the ring,
 * against sums made from the files by other means, and files that are none. */
#include "tests/support/test.h"
#include "sim/algorithms/shipped.h"
#include "viz/request/pipeline_file.h"

static Pipeline *recorded(int64_t d, int64_t heads, bool causal) {
  Error error = {0};
  const Shape shape = {.batch = 1, .heads = heads, .N_q = 4096, .N_k = 4096, .d = d, .causal = causal};
  Pipeline *p = pipeline_for("", shipped_default(), &shape, &error);
  if (!p) fail_msg("%s", error.message);
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

/* Products are one after the other, none before it is asked for, and all of them are there: a row block is 32 tiles of
 * both groups, 65,536 cycles of 105,281. */
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
  assert_int_equal(p->block_cycles, 105281);
  assert_true(fabs((double)p->block_products / 65536 - 1) < 0.02); /* what reaches over the ends of the block */
  const double between = (double)p->block_idle / 105281, seam = 1 - between - (double)p->block_products / 105281;
  assert_true(between > 0.30 && between < 0.34 && seam > 0.03 && seam < 0.09);
  assert_true(fabs(p->idle - 0.36) < 0.015);
  assert_true(fabs(p->idle_in_softmax[2] - 0.27) < 0.015); /* idle while both are in softmax or rounding, */
  assert_true(fabs(p->idle_in_softmax[1] - 0.09) < 0.015); /* or one */
  free(p);
}

/* At d = 64 three groups, half the products a tile, and more than half of the time idle. */
TEST(test_d_64) {
  Pipeline *p = recorded(64, 32, false);
  assert_int_equal(p->n_groups, 3);
  assert_int_equal(p->product_cycles, 512);
  assert_true(fabs(p->idle - 0.54) < 0.02);
  static const double PARTS[] = {0, 0.22, 0.51, 0.27};
  for (int n = 0; n <= 3; n++) assert_true(fabs(p->in_softmax[n] - PARTS[n]) < 0.03);
  double all = 0;
  for (int n = 0; n <= 3; n++) all += p->in_softmax[n];
  assert_true(fabs(all - 1) < 1e-9);
  free(p);
}

/* K of tile 2 takes the slot that tile 0 had: issued at 6,781, there for the first group at its stamp. */
TEST(test_the_ring) {
  Pipeline *p = recorded(128, 16, false);
  assert_int_equal(pipeline_slot(p, 0, 3341), SLOT_EMPTY);
  assert_int_equal(pipeline_slot(p, 0, 3342), SLOT_LOADING);
  const int64_t has = p->stamps[1][0][1] < p->stamps[2][0][1] ? p->stamps[1][0][1] : p->stamps[2][0][1];
  assert_int_equal(pipeline_slot(p, 0, has), SLOT_FULL);
  assert_int_equal(pipeline_slot(p, 0, 6780), SLOT_FULL);
  assert_int_equal(pipeline_slot(p, 0, 6781), SLOT_LOADING);
  assert_int_equal(pipeline_slot(p, 1, 3653), SLOT_EMPTY); /* V */
  assert_int_equal(pipeline_slot(p, 1, 3654), SLOT_LOADING);
  assert_int_equal(pipeline_slot(p, 2, 4052), SLOT_EMPTY);
  free(p);
}

TEST(test_every_record_is_read) {
  free(recorded(128, 16, true));
  free(recorded(128, 1, false));
  const Shape other = {.batch = 1, .heads = 1, .N_q = 4096, .N_k = 4096, .d = 96};
  assert_null(pipeline_for("", shipped_default(), &other, NULL));
}

/* ---- Every kernel, and two cards ---- */

typedef struct {
  char kernel[32], id[8];
  int run, d, causal;
  double tenth, median, nine_tenths;
} Moments;

enum { SPANS = 512 };

/* What two runs on a card printed (assets/counters/h100/stamps): for every id the spread over all CTAs. */
static int read_spans(const char *card, Moments *spans) {
  char path[96], line[256];
  snprintf(path, sizeof path, "assets/counters/h100/stamps/%s.csv", card);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  Moments now = {0};
  int n = 0;
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, "launch,rung", 11) == 0) now.run++;
    if (sscanf(line, "launch,%31[^,],%d,4096,%*d,%d,", now.kernel, &now.d, &now.causal) == 3) continue;
    if (sscanf(line, "span,%7[^,],%*d,%lf,%lf,%lf", now.id, &now.tenth, &now.median, &now.nine_tenths) != 4) continue;
    assert_true(n < SPANS);
    spans[n++] = now;
  }
  fclose(file);
  return n;
}

/* The SM whose stamps are kept has a median tile within the spread of all; rung 9's is of another day: 8 %. */
static void compare_kept(const Moments *next) {
  Error error = {0};
  const Shape shape = {.batch = 1, .heads = 16, .N_q = 4096, .N_k = 4096, .d = next->d, .causal = next->causal};
  const double slack = strcmp(next->kernel, "fa3_overlap") == 0 ? 0.08 : 0;
  Pipeline *p = pipeline_for(next->kernel, shipped_default(), &shape, &error);
  if (!p) fail_msg("%s", error.message);
  assert_string_equal(p->kernel->name, next->kernel);
  if ((double)p->median_tile < next->tenth * (1 - slack) || (double)p->median_tile > next->nine_tenths * (1 + slack))
    fail_msg("%s d %d causal %d: a tile takes %d cycles", next->kernel, next->d, next->causal, (int)p->median_tile);
  assert_true(p->idle > 0.2 && p->idle < 0.7);
  free(p);
}

/* Runs and cards agree: every median is within 9 % or 70 cycles of the other card's and the other run's. */
TEST(test_two_cards_agree) {
  static Moments first[SPANS], second[SPANS];
  const int n = read_spans("first", first);
  assert_int_equal(n, read_spans("second", second));
  assert_true(n > 200 && n % 2 == 0);
  for (int k = 0; k < n; k++) {
    const Moments *others[2] = {&second[k], &first[(k + n / 2) % n]};
    for (int o = 0; o < 2; o++) {
      assert_string_equal(first[k].kernel, others[o]->kernel);
      assert_string_equal(first[k].id, others[o]->id);
      if (fabs(first[k].median - others[o]->median) > fmax(70, 0.09 * first[k].median))
        fail_msg("%s d %d id %s: %g and %g", first[k].kernel, first[k].d, first[k].id, first[k].median,
                 others[o]->median);
    }
    if (strcmp(first[k].id, "next") == 0 && first[k].run == 1 && (first[k].d == 128 || !first[k].causal))
      compare_kept(&first[k]);
  }
}

TEST(test_what_is_no_record) {
  static const struct {
    const char *text, *says;
  } BAD[] = {{"", "x.csv:1: no line says"},
             {"# kernel fa3_overlap heads 1 N 64 d 64 causal 0\n0,0,0,0\n", "x.csv:1: no line says"},
             {"# kernel fa3_overlap heads 1 N 64 d 64 causal 0\n1,0,1,5\n", "lacks a stamp"},
             {"# kernel fa3_overlap heads 1 N 64 d 64 causal 0\n1,0,1,5\n1,0,4,4\n", "its time goes back"},
             {"# a\n1,0,1\n", "x.csv:2: a stamp is four whole numbers"},
             {"1,0,1,5 6\n", "x.csv:1: a stamp is four whole numbers"},
             {"4,0,1,5\n", "x.csv:1: roles are 0 to 3"},
             {"1,256,1,5\n", "roles are 0 to 3"},
             {"1,0,1,-5\n", "not below 0"},
             {"1,0,1,5\n1,0,1,6\n", "x.csv:2: this stamp is there twice"}};
  for (size_t k = 0; k < sizeof BAD / sizeof *BAD; k++) {
    Error error = {0};
    assert_null(pipeline_read(BAD[k].text, strlen(BAD[k].text), "x.csv", &error));
    if (!strstr(error.message, BAD[k].says)) fail_msg("'%s': %s", BAD[k].text, error.message);
  }
}
