/* Program text: what is refused, and where; a program of one's own in events and totals worked out by hand. */
#include "tests/support/test.h"
#include "sim/algorithms/walk/place.h"
#include "sim/numbers/program_check.h"
#include "tests/support/own_programs.h"
#include "tests/support/rand.h"

#define HEAD "algorithm mine\nkernel forward\n"
#define LOOP HEAD "  for every row block i\n"

static const char *const REFUSED[] = {
    " => :1: the text holds no program",
    "kernel forward\n => :1: the program begins with 'algorithm NAME'",
    HEAD " => :3: kernel 'forward' has no lines",
    HEAD "for every row block i\n => :3: the lines of a kernel are indented",
    LOOP "  for every row block i\n => :4: the loop of line 3 has no lines in it",
    HEAD "  for all row block i\n => :3: after 'for' comes 'every'",
    LOOP "    load Q_j\n => :4: 'Q_j' has the subscript j",
    HEAD
    "  for every row block i\n    load Q_i\n    for each column block j of i\n      load K_j\n"
    "      S = Q_i K_j / sqrt(d)\n => :7: a product of B_r x d with B_c x d: the inner sides differ; transpose the "
    "second: ^T",
    HEAD "  for every row block i\n    load Q_i\n    O_i = 0\n    for each column block j of i\n      load K_j\n"
         "      P = Q_i K_j^T / sqrt(d)\n      O_i += P V_j\n    store O_i\n => :9: 'V_j' is used before it is loaded; "
         "put 'load V_j' above this line",
    HEAD
    "  for every row block i\n    load Q_i\n    for each column block j\n      load K_j\n      load V_j\n"
    "    for each column block j\n      S = Q_i K_j^T\n => :9: 'K_j' is what line 6 left when the loop of line 5 ended",
    HEAD "  for every row block i\n     load Q_i\n    O_i = 0\n => :5: the line is indented by 4, but its block by 5",
    LOOP "    store Q_i\n => :4: 'Q_i' is an input; it is never stored",
    LOOP "    load Q_i\n    S_i = Q_i\n    for each column block j\n      load K_j\n"
         "      P_i = Q_i K_j^T\n      store P_i\n => :9: 'P_i' is B_r x B_c; it is a block of i and j",
    "algorithm mine\ninput S_ij: B_r x B_c\noutput O_i: B_r x 1\nkernel k\n  for every row block i\n"
    "    for each column block j\n      load S_ij\n      mask S_ij\n => :8: 'S_ij' is an input, which stays as it "
    "is; mask a copy: 'A = S_ij', then 'mask A'",
    LOOP "    load m_i\n => :4: 'm_i' is loaded, but no line above has stored it",
    LOOP "    O_i = 0 when splits\n => :4: after 'splits' comes '> 1' or '= 1'",
    LOOP "    O_i = 0 0 ]\n => :4: ']' cannot stand here",
    LOOP "    O_i = 0\n => :5: the program never stores O_i",
    HEAD
    "  for every row block i\n    for every split s\n      for each column block j of i\n        load K_j\n => :5: a "
    "masked loop inside the loop over split s walks all keys",
    HEAD "\tfor every row block i\n => :3: a tab; indent with spaces",
    LOOP "    load K_0\n => :4: a subscript is i, j, s or h",
    HEAD "  load Q_i\n => :3: 'load' stands inside a loop over blocks",
    HEAD "  H = 0; G = H\n => :3: outside loops names are set to numbers alone, such as H = 0",
    HEAD
    "  for every row block i\n    add O_i = 1\n => :4: 'O_i' is added to, but no kernel above has set it; 'store O_i "
    "= 0' in one",
    HEAD "  for every row block i\n    store x_i = 0\n    store O_i = 0\n => :4: 'x_i' is only ever set to numbers, so "
         "its shape is not known; declare it: 'tensor x_i: B_r x 1'",
    HEAD
    "  for every row block i\n    store O_i = 0 when 1 > 0\n => :4: a condition here is lse, splits > 1 or splits = "
    "1, joined by and; what moves never depends on "
    "values",
    HEAD
    "  for every row block i\n    load Q_i\n    m = row max of Q_i when row sum of Q_i > 0\n => :5: 'm' has no value "
    "in the rows that 'when' leaves out; set it above this line",
    HEAD "  for every row block i\n    load Q_i\n    m = 0\n    m = 1 when Q_i > 0\n => :6: 'when' chooses rows; the "
         "comparison is B_r x d and should have one column",
    HEAD "  for every row block i with split s\n => :3: 'row block i with column block j' is the diagonal",
    "algorithm mine\ninput Q_i\n => :2: an input has a shape, 'input Q_i: B_r x d', or a formula",
    "algorithm mine\ninput Q: B_r x d\n => :2: 'Q' is B_r x d; write its block: Q_i",
    "algorithm mine\ninput Q_i: B_r x c\n => :2: a shape is two of B_r, B_c, d, d_v, 1 or a size",
    "algorithm mine\ninput Q_i: B_r x d bf16\n => :2: 'bf16' is too much here; a declaration is",
    "algorithm mine\ninput Q_i: B_r x d\noutput O_i = K Q\n => :3: 'K' is no input declared above; a formula is over "
    "inputs",
    "algorithm mine\ninput Q_i: B_r x d\noutput O_i = attention(Q, Q, Q)\n => :3: attention takes B_r x d, B_c x d, "
    "B_c x d_v; these are B_r x d, B_r x d, B_r x d",
    LOOP "    load Q_i\n    for each column block j of i\n      load K_j\n"
         "      S = Q_i K_j^T\n      mask S = -S\n => :8: what a mask leaves is one number",
    "algorithm mine\nsize d = 3\n => :2: 'size c = 16' names a side",
    "algorithm mine\ninput Q_i: B_r x d\noutput O_i\nkernel k\n  for every row block i\n    load Q_i\n => :7: the "
    "program never stores O_i, an output; 'store O_i'",
};

/* A size of one's own, a state of d x c in HBM, a formula of one's own: by hand, N = 6 in blocks of 2 and 3, d = 4. */
static const char STATES[] =
    "algorithm states\nsize e = 7\nsize c = 5\ninput Q_i: B_r x d\ninput K_j: B_c x d\ninput W_j: B_c x c\n"
    "output O_i = Q (K^T W)\nkernel make\n  H = 0\n  for each column block j\n    load K_j, W_j\n"
    "    H += K_j^T W_j\n    store H\nkernel use\n  for every row block i\n    load Q_i\n"
    "    load H\n    store O_i = Q_i H\n";

TEST(sizes_and_states_of_ones_own) {
  Program *p = own_program(STATES);
  Plan plan;
  Traffic t;
  bool overflow = false;
  const Shape shape = {.N_q = 6, .d = 4, .dtype = DTYPE_FP16};
  must(plan_make(&plan, &shape, &(Tiling){.B_r = 2, .B_c = 3, .n_splits = 1}, NULL));
  schedule_traffic(p, &plan, &t, &overflow);
  assert_int_equal(t.steps, 2 * 4 + 3 * 3);
  assert_int_equal(traffic_read_bytes(&t, &overflow), 2 * (6 * 4 + 6 * 4 + 6 * 5 + 3 * 4 * 5));
  assert_int_equal(traffic_write_bytes(&t, &overflow), 2 * (2 * 4 * 5 + 6 * 5));
  assert_int_equal(t.flops, 2 * (4 * 6 * 5) + 2 * (6 * 4 * 5));
  const ProgramVerdict v = program_verdict(p, NULL);
  if (!v.is_right) fail_msg("%s", v.text);
  free(p);
}

TEST(refused_with_file_and_line) {
  EACH_SAYS (row, REFUSED) {
    Program p = {.n_ops = 77};
    must_refuse(program_read(&p, ALL_OF(row.text), "mine.walk", fresh_error()), STATUS_BAD_FILE, row.says);
    assert_begins("mine.walk:");
    assert_int_equal(p.n_ops, 77); /* nothing half-written */
  }
}

/* 15 inputs, an output and 8 that are stored on the way are as many tensors as there may be. */
TEST(tensors_are_counted) {
  for (int n = 8; n <= 9; n++) {
    char text[1024];
    int used = sprintf(text, "algorithm mine\n");
    for (int k = 0; k < 15; k++) used += sprintf(text + used, "input %c_i: B_r x d\n", 'A' + k);
    used += sprintf(text + used, "output Z_i = A + B\nkernel k\n  for every row block i\n    load A_i, B_i\n");
    for (int k = 0; k < n; k++) used += sprintf(text + used, "    store %c_i = A_i\n", 'P' + k);
    used += sprintf(text + used, "    store Z_i = A_i + B_i\n");
    Program p;
    assert_int_equal(program_read(&p, text, (size_t)used, "mine.walk", fresh_error()),
                     n == 8 ? STATUS_OK : STATUS_BAD_FILE);
    assert_true(n != 9 || strstr(test_error.message, "more than 24 tensors"));
  }
}

/* What lies in HBM between kernels, N = 48, d = 8: U in fp32 and a, of each part, stored without splits too; fa2-split
 * stores no part then. */
TEST(parts_lie_in_hbm_where_they_are_stored) {
  Program *p = own_program("algorithm parts\ntensor U_is: B_r x d_v fp32\nkernel part\n  for every split s\n"
                           "    for every row block i\n      load Q_i\n      a_i, U_is = 0\n"
                           "      for each column block j of i in s\n        load K_j, V_j\n        P = e^(Q_i K_j^T)\n"
                           "        a_i += row sum of P; U_is += P V_j\n      store U_is\n      store a_is = a_i\n"
                           "kernel join\n  for every row block i\n    n, O_i = 0\n    for each split s\n"
                           "      load a_is, U_is\n      n += a_is; O_i += U_is\n    store O_i = O_i / n\n");
  const struct {
    const Schedule *schedule;
    int64_t n_splits;
    Wide bytes;
  } ROWS[] = {{p, 1, 48 * 8 * 4 + 48 * 4},
              {p, 3, 3 * (48 * 8 * 4 + 48 * 4)},
              {schedule_find("fa2-split"), 1, 0},
              {schedule_find("fa2-split"), 3, 3 * (48 * 8 * 4 + 48 * 4)}};
  EACH (k, ROWS) {
    Plan plan;
    bool overflow = false;
    const Tiling tiling = {.B_r = 16, .B_c = 8, .n_splits = ROWS[k].n_splits};
    must(plan_make(&plan, &(Shape){.N_q = 48, .d = 8}, &tiling, NULL));
    assert_true(schedule_intermediate_bytes(ROWS[k].schedule, &plan, &overflow) == ROWS[k].bytes);
  }
  free(p);
}

/* Its events add up to its totals at every step, under masks of every kind, and every step is found. */
TEST(its_prefixes_are_its_events) {
  Program *p = own_program(OWN_FUSED);
  Rand r = {3};
  for (int n = 0; n < 60; n++) {
    Shape shape = {.N_q = rand_in(&r, 1, 30), .N_k = rand_in(&r, 1, 30), .d = 4, .causal = rand_in(&r, 0, 1)};
    if (rand_in(&r, 0, 1)) shape.window = rand_in(&r, 1, 20);
    Pattern *pattern =
        rand_in(&r, 0, 1) ? pattern_named("strided:3:4", (PatternMatrix){shape.N_q, shape.N_k, false}, NULL) : NULL;
    shape.pattern = pattern;
    Plan plan;
    const Tiling tiling = {.B_r = rand_in(&r, 1, 9), .B_c = rand_in(&r, 1, 9)};
    must(plan_make(&plan, &shape, &tiling, NULL));
    Traffic folded = {0}, counted;
    Cursor cursor = {0}, sought;
    Event event, again;
    for (uint64_t step = 0;; step++) {
      place_traffic(p, &plan, step, &counted);
      assert_true(traffic_equal(&folded, &counted));
      assert_true(schedule_seek(p, &plan, &sought, step));
      if (!schedule_next(p, &plan, &cursor, &event)) break;
      assert_true(schedule_next(p, &plan, &sought, &again));
      assert_memory_equal(&event, &again, sizeof event);
      traffic_add(&folded, p, &event);
    }
    free(pattern);
  }
  free(p);
}
