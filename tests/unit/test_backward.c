/* Backward programs: traffic against the H100's counters, gradients against closed forms, FLOPs against the forward's.
 */
#include "tests/support/test.h"
#include "sim/algorithms/language/read.h"
#include "sim/simulate.h"
#include "tests/support/recorded_rows.h"

static Program *program_of(const char *name) {
  static char text[PROGRAM_TEXT_BYTES];
  const char *path = test_text("tests/programs/%s.walk", name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  const size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  Program *p = malloc(sizeof *p);
  assert_non_null(p);
  must(program_read(p, text, length, path, fresh_error()));
  return p;
}

static Traffic traffic_of(const Program *p, Shape shape, const Tiling *tiling) {
  Plan plan;
  Traffic t;
  bool overflow = false;
  must(shape_complete(&shape, fresh_error()) || plan_make(&plan, &shape, tiling, fresh_error()));
  schedule_traffic(p, &plan, &t, &overflow);
  traffic_scale(&t, schedule_heads(p, &plan.shape), &overflow);
  assert_false(overflow);
  return t;
}

/* ---- Counters ---------------------------------------------------------------------------------------------- */

typedef struct {
  int n, n_exact;
} Judged;

/* What the program of a rung moves in the shape of its row, against what crossed between the SMs and L2. */
static void judge_row(const RecordedRows *row, const Program *p, Judged *judged) {
  const Shape shape = {.batch = recorded_whole(row, "batch"),
                       .heads = recorded_whole(row, "heads"),
                       .kv_heads = recorded_whole(row, "kv_heads"),
                       .N_q = recorded_whole(row, "seq_q"),
                       .N_k = recorded_whole(row, "seq_k"),
                       .d = recorded_whole(row, "head_dim"),
                       .dtype = DTYPE_FP16,
                       .causal = recorded_is(row, "causal", "1")};
  const Tiling tiling = {.B_r = recorded_whole(row, "block_q"), .B_c = recorded_whole(row, "block_k"), .n_splits = 1};
  const Traffic t = traffic_of(p, shape, &tiling);
  bool overflow = false;
  const int64_t read = recorded_whole(row, "l1tex__m_xbar2l1tex_read_bytes.sum"),
                written = recorded_whole(row, "l1tex__m_l1tex2xbar_write_bytes.sum");
  const bool exact =
      traffic_read_bytes(&t, &overflow) == wide(read) && traffic_write_bytes(&t, &overflow) == wide(written);
  judged->n++;
  judged->n_exact += exact;
  if (!exact)
    print_message("%.60s: read %jd, counted %jd; written %jd, counted %jd\n", row->line,
                  (int64_t)traffic_read_bytes(&t, &overflow), read, (int64_t)traffic_write_bytes(&t, &overflow),
                  written);
}

/* Rows of a rung; a program that does not loop over heads takes those that have a KV head for each query head. */
static Judged judge_file(const char *path, const char *rung, const Program *p) {
  static RecordedRows row;
  Judged judged = {0};
  for (recorded_open(&row, path); recorded_next(&row);)
    if (recorded_is(&row, "rung", rung) &&
        (p->over_heads || recorded_is(&row, "kv_heads", recorded_cell(&row, "heads"))))
      judge_row(&row, p, &judged);
  return judged;
}

/* The ladder's kernels in fp16, bf16 and with grouped heads, and the one for Hopper: 92 runs. */
TEST(traffic_is_what_the_hardware_counts) {
  static const char MORE[] = "counters/h100/more/first.csv", HOPPER[] = "counters/h100/hopper-more/first.csv";
  static const struct {
    const char *path, *rung, *program;
    int n;
  } FILES[] = {{MORE, "fa2_backward", "ladder-backward", 16},
               {MORE, "fa2_backward_twice", "ladder-backward-twice", 16},
               {MORE, "fa2_backward", "ladder-gqa", 20},
               {HOPPER, "fa3_backward", "ladder-gqa", 20},
               {MORE, "fa2_backward_twice", "ladder-twice-gqa", 20}};
  EACH (k, FILES) {
    Program *p = program_of(FILES[k].program);
    const Judged judged = judge_file(FILES[k].path, FILES[k].rung, p);
    print_message("%s: %d of %d rows equal to the byte\n", FILES[k].rung, judged.n_exact, judged.n);
    assert_int_equal(judged.n_exact, judged.n);
    assert_int_equal(judged.n, FILES[k].n);
    free(p);
  }
}

/* What FlashAttention-2 and cuDNN add to dQ, in sectors that L2 reduced: the additions of a program with 128 columns.
 */
TEST(additions_are_the_sectors_reduced_in_L2) {
  static RecordedRows row;
  Program *p = program_of("ladder-backward");
  int n = 0;
  for (recorded_open(&row, "counters/h100/backward/first.csv"); recorded_next(&row);) {
    const char *kernel = recorded_cell(&row, "kernel");
    if (!strstr(kernel, "dq_dk_dv_loop") && !strstr(kernel, "sdpa_sm90_flash_bprop")) continue;
    const Shape shape = {.heads = recorded_whole(&row, "H"),
                         .N_q = recorded_whole(&row, "N"),
                         .d = recorded_whole(&row, "d"),
                         .causal = recorded_is(&row, "causal", "1")};
    const Traffic t = traffic_of(p, shape, &(Tiling){.B_r = 64, .B_c = 128, .n_splits = 1});
    int A = 0;
    while (strcmp(p->tensors[A].text, "A") != 0) A++;
    const Wide zeros = wide(shape.heads * shape.N_q * shape.d * 4);
    assert_true(t.write[A] - zeros == wide(32 * recorded_whole(&row, "l2_red_sectors")));
    n++;
  }
  free(p);
  assert_int_equal(n, 8);
}

/* 2.5 times the forward's products, also under a mask; walked twice, 3.5 times. */
TEST(flops_are_those_of_the_papers) {
  static const struct {
    const char *program;
    int halves;
  } PROGRAMS[] = {{"ladder-backward", 5}, {"ladder-gqa", 5}, {"ladder-backward-twice", 7}, {"ladder-twice-gqa", 7}};
  const Schedule *forward = schedule_find("fa2");
  for (int k = 0; k < 4; k++) {
    Program *p = program_of(PROGRAMS[k].program);
    for (int causal = 0; causal < 2; causal++) {
      const Shape shape = {.heads = 6, .kv_heads = p->over_heads ? 2 : 6, .N_q = 1000, .d = 64, .causal = causal};
      const Tiling tiling = {.B_r = 64, .B_c = 64, .n_splits = 1};
      assert_true(2 * traffic_of(p, shape, &tiling).flops ==
                  (Wide)PROGRAMS[k].halves * traffic_of(forward, shape, &tiling).flops);
    }
    free(p);
  }
}
