/* The table of the parts of the model of L2 (sim/l2/refinements.h): names are read and written, each row says where it
 * is from, and leaving any of them out changes what is predicted of some kernel. */
#include "tests/support/test.h"
#include "tests/support/predict_counters.h"
#include "tests/support/open_gpu.h"
#include "tests/support/open_profile.h"

TEST(names_are_read_and_written) {
  char text[REFINEMENTS_TEXT_BYTES];
  Refinements all = 0, again;
  for (int r = 0; r < N_REFINEMENTS; r++) {
    must(refinements_parse(REFINEMENT_NAMES[r], &again, fresh_error()));
    assert_true(again == refinement_bit((Refinement)r)); /* and so no name stands twice */
    all |= again;
  }
  refinements_text(all, text, sizeof text);
  assert_true(strlen(text) + 1 < sizeof text);
  must(refinements_parse(text, &again, fresh_error()));
  assert_true(again == all);
  refinements_text(0, text, sizeof text);
  assert_string_equal(text, "");
  must(refinements_parse("sets,clock", &again, fresh_error()));
  refinements_text(again, text, sizeof text);
  assert_string_equal(text, "clock,sets");
}

TEST(other_names_are_refused) {
  static const char *const BAD[] = {"",      ",",    "clock,", ",clock",    "clock,,sets",
                                    "Clock", "cloc", "clocks", "clock sets"};
  EACH (i, BAD) {
    Refinements set = 7;
    assert_int_equal(refinements_parse(BAD[i], &set, fresh_error()), STATUS_BAD_REQUEST);
    assert_int_equal(set, 7);
  }
  Refinements set;
  must_refuse(refinements_parse("coalescr", &set, fresh_error()), STATUS_BAD_REQUEST, "'coalescr'");
  assert_said("did you mean coalescer");
}

/* The table of sim/l2/MODEL.md has a row for each, in this order: what it models, constants, and a recording that is
 * there (or more, or what it is from besides); what each buys is beside them (`make ablations`). */
TEST(the_page_has_a_row_with_a_source_for_each) {
  static char page[1 << 17];
  FILE *file = fopen("sim/l2/MODEL.md", "rb");
  assert_non_null(file);
  const size_t length = fread(page, 1, sizeof page - 1, file);
  fclose(file);
  assert_true(length < sizeof page - 1);
  const char *at = strstr(page, "<!-- refinements: begin");
  assert_non_null(at);
  for (int r = 0; r < N_REFINEMENTS; r++) {
    char name[64], models[256], constants[256], source[256];
    for (int line = 0; line < (r ? 1 : 4); line++) at = strchr(at, '\n') + 1; /* heads, and the whole model */
    if (sscanf(at, "| `%63[^`]` | %255[^|] | %255[^|] | %255[^|] |", name, models, constants, source) != 4 ||
        strcmp(name, REFINEMENT_NAMES[r]) != 0)
      fail_msg("sim/l2/MODEL.md has no row '%s' in its place", REFINEMENT_NAMES[r]);
    const char *recording = strstr(source, "h200/");
    assert_non_null(recording);
    for (; recording; recording = strstr(recording + 1, "h200/")) {
      char csv[128];
      snprintf(csv, sizeof csv, "counters/%.*s/first.csv", (int)strcspn(recording, ",; "), recording);
      fclose(open_asset(csv));
    }
  }
}

typedef struct {
  const char *kernel;
  int64_t N, heads, d;
  bool causal, once;
} Run;

static L2Counters counters(const Run *run, const Gpu *gpu, Refinements without) {
  const Profile profile = open_profile(run->kernel);
  Problem problem = {.shape = {.batch = 1,
                               .heads = run->heads,
                               .kv_heads = run->heads,
                               .N_q = run->N,
                               .N_k = run->N,
                               .d = run->d,
                               .causal = run->causal},
                     .machine = {.sram_bytes = gpu->shared_bytes_per_cta, .l2_bytes = gpu->l2_bytes, .n_SM = gpu->n_sm},
                     .once = run->once,
                     .without = without};
  must(profile_config(&profile, &problem.shape, &problem.launch, fresh_error()));
  problem.tiling.B_r = problem.launch.block_q, problem.tiling.B_c = problem.launch.block_k;
  L2Counters c;
  must(predict_counters(&c, &problem, profile.schedule, gpu, fresh_error()));
  return c;
}

/* Short launches, and one whose K and V do not fit. */
TEST(each_of_them_matters) {
  static const Run RUNS[] = {
      {"fa2-sm90", 8192, 16, 64, false, false},  {"fa2_async", 2048, 4, 64, true, false},
      {"fa2-sm90", 4096, 12, 128, true, false},  {"cudnn-sm90", 4096, 4, 128, false, false},
      {"fa2_tensor", 4096, 6, 64, false, false}, {"mem-efficient-sm90", 32768, 2, 128, true, true}};
  enum { N_RUNS = COUNT_OF(RUNS) };
  const Gpu gpu = open_gpu("h200");
  L2Counters whole[N_RUNS];
  for (int i = 0; i < N_RUNS; i++) whole[i] = counters(&RUNS[i], &gpu, 0);
  for (int r = 0; r < N_REFINEMENTS; r++) {
    bool changes = false;
    for (int i = 0; i < N_RUNS && !changes; i++) {
      const L2Counters without = counters(&RUNS[i], &gpu, refinement_bit((Refinement)r));
      changes = memcmp(&whole[i], &without, sizeof without) != 0;
    }
    assert_true(changes);
  }
}
