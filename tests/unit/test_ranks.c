/* Attention on several GPUs: pairs token by token, bytes by hand, and times beside H200s.
 *
 *     TILEWALK_DEPTH=2 build/tests/test_ranks     prints model and measurement row by row (sim/RANKS.md) */
#include <time.h>

#include "tests/support/test.h"
#include "sim/algorithms/language/read.h"
#include "sim/numbers/program_check.h"
#include "sim/ranks.h"
#include "tests/support/open_gpu.h"
#include "tests/support/open_profile.h"
#include "tests/support/recorded_rows.h"

static GpuLink open_link(const char *name) {
  static char text[KEYFILE_MAX_BYTES];
  GpuLink link;
  FILE *file = open_asset(test_text("links/%s", name));
  const size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  must(link_parse(text, length, name, &link, fresh_error()));
  return link;
}

static Gpu gpu;
static GpuLink nvlink4;
static Profile fa2;
static Ranks ranks;

static int open_all(void **state) {
  (void)state;
  gpu = open_gpu("h200");
  nvlink4 = open_link("nvlink4");
  fa2 = open_profile("fa2-sm90");
  return 0;
}
GROUP(open_all, NULL)

static void make(Scheme scheme, int64_t n, const Shape *shape, const Profile *kernel) {
  const Problem problem = {.shape = *shape, .machine = machine_of_gpu(&gpu), .kernel = kernel};
  const RanksAsked asked = {.scheme = scheme, .n = n, .problem = &problem, .gpu = &gpu, .link = &nvlink4};
  must(ranks_make(&ranks, &asked, fresh_error()));
}

/* ---- Tokens ------------------------------------------------------------------------------------------------ */

/* Who has a token, said apart from the code. */
static int64_t owner(Scheme scheme, int64_t token, int64_t N, int64_t n) {
  if (scheme == SCHEME_STRIPED) return token % n;
  if (scheme == SCHEME_RING) return token / (N / n);
  const int64_t chunk = token / (N / (2 * n));
  return chunk < n ? chunk : 2 * n - 1 - chunk;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------- */

typedef struct {
  Wide sent, received, carried, pairs;
  double busy_s, last_s;
} Fold;

static void fold(void *data, int64_t t, int64_t r, const RankStep *step, const RankTimes *x) {
  Fold *f = data;
  (void)t, (void)r;
  f->sent += step->sent_bytes, f->received += step->received_bytes, f->carried += step->carried_bytes;
  f->pairs += ranks.pieces[step->piece].pairs;
  f->busy_s += x->kernel_s;
  f->last_s = fmax(f->last_s, fmax(x->kernel_end_s, x->exchange_end_s));
}

/* By hand, of 8 heads, 2 KV heads, d = 64, fp16, 1,024 tokens, 4 ranks. */
TEST(bytes_by_hand) {
  const Shape shape = {.N_q = 1024, .d = 64, .heads = 8, .kv_heads = 4, .causal = true};
  static const struct {
    Scheme scheme;
    int64_t sent, carried;
  } CASES[] = {
      {SCHEME_RING, 3 * 4 * 256 * 4 * 64 * 2 * 2, /* read and written in 1 + 2 + 3 + 4 steps, before and after them */
       (10 * 2 + 4 * 2) * 8 * 256 * (64 * 4 + 8)},
      {SCHEME_STRIPED, 3 * 4 * 256 * 4 * 64 * 2 * 2, /* in six of 16 steps a token sees no key */
       8 * (64 * 4 + 8) * (10 * 2 * 256 + 6 * 2 * 255 + 4 * 2 * 256)},
      {SCHEME_ULYSSES, 4 * 3 * (256 / 4) * (8 + 4 + 4 + 8) * 64 * 2, 0}, /* three quarters of Q, K, V, O go */
      {SCHEME_TENSOR, 4 * 6 * 1024 * 8 * 64 * 2 / 4, 0},                 /* 2 (P - 1) / P of the output's rows */
  };
  EACH (c, CASES) {
    Fold f = {0};
    make(CASES[c].scheme, 4, &shape, NULL);
    const double total = ranks_walk(&ranks, CLOCK_BOUND, fold, &f);
    assert_int_equal((int64_t)f.sent, CASES[c].sent);
    assert_int_equal((int64_t)f.received, CASES[c].sent);
    assert_int_equal((int64_t)f.carried, CASES[c].carried);
    assert_int_equal((int64_t)f.pairs, 8 * 1024 * 1025 / 2);
    assert_true(total == f.last_s && f.busy_s <= 4 * total);
  }
}

/* A rank that exchanges waits for the ranks beside it, or for all of them where each sends to each. */
static void waits(void *data, int64_t t, int64_t r, const RankStep *step, const RankTimes *x) {
  static double ends[2][8]; /* of the step before, and of this one */
  const double *before = ends[(t + 1) % 2];
  int *n_late = data;
  (void)step;
  ends[t % 2][r] = fmax(x->kernel_end_s, x->exchange_end_s);
  if (x->exchange_s <= 0 || t == 0) return;
  double latest = before[r];
  for (int64_t other = 0; other < ranks.n; other++)
    if (ranks.scheme == SCHEME_ULYSSES || (other - r + ranks.n + 1) % ranks.n <= 2)
      latest = fmax(latest, before[other]);
  *n_late += latest > before[r];
  assert_near(x->exchange_end_s - latest, x->exchange_s, 1e-12);
}

TEST(ranks_wait_for_those_that_they_exchange_with) {
  const Shape shape = {.N_q = 1 << 18, .d = 128, .heads = 32, .kv_heads = 8, .causal = true};
  int n_late = 0;
  make(SCHEME_RING, 8, &shape, NULL);
  ranks_walk(&ranks, CLOCK_BOUND, waits, &n_late);
  assert_true(n_late > 0); /* the first ranks see few keys, and wait for the others */
}

/* ---- Programs ---------------------------------------------------------------------------------------------- */

/* The shipped ring with one part of its text replaced. */
static Status read_ring(Program *p, const char *from, const char *to, Error *error) {
  char text[2 * PROGRAM_TEXT_BYTES];
  const char *ring = schedule_find("ring-attention")->text, *at = strstr(ring, from);
  assert_non_null(at);
  snprintf(text, sizeof text, "%.*s%s%s", (int)(at - ring), ring, to, at + strlen(from));
  return program_read(p, ALL_OF(text), "mine.walk", error);
}

static void make_program(const Program *p, int64_t n, const Shape *shape) {
  const Problem problem = {
      .shape = *shape, .machine = machine_of_gpu(&gpu), .tiling = {.B_r = 4, .B_c = 4, .n_splits = 1}};
  const RanksAsked asked = {.n = n, .problem = &problem, .gpu = &gpu, .link = &nvlink4, .program = p};
  must(ranks_make(&ranks, &asked, fresh_error()));
}

/* Every scheme, mask and step against all pairs of tokens. What a program sends and computes in each step is what its
 * scheme does, and 2 N / G d (G - 1) elements a rank by hand. A is written once before the steps, read and written in
 * each that has pairs, read once after them; its tokens are those that see keys then. */
TEST(a_program_sends_what_its_scheme_does) {
  static Program p;
  static const char *const LAYOUTS[] = {"contiguous", "striped", "zigzag"};
  enum { A_RANK = 8, D = 16, HEADS = 4, KV_HEADS = 2, BATCH = 3 };
  for (int scheme = SCHEME_RING; scheme <= SCHEME_ZIGZAG; scheme++)
    for (int64_t n = 1; n <= 5; n++)
      for (int causal = 0; causal < 2; causal++) {
        const Shape shape = {
            .N_q = A_RANK * n, .d = D, .heads = HEADS, .kv_heads = KV_HEADS, .batch = BATCH, .causal = causal};
        RankStep steps[5][5];
        int64_t pairs[5][5], rows = 0, A = 0;
        make((Scheme)scheme, n, &shape, NULL);
        for (int64_t t = 0; t < n; t++)
          for (int64_t r = 0; r < n; r++) {
            steps[t][r] = ranks_step(&ranks, t, r);
            pairs[t][r] = 0;
            for (int64_t q = 0; q < A_RANK * n; q++) { /* rows of r that see a key of r - t */
              int64_t seen = 0;
              for (int64_t k = 0; k < A_RANK * n && owner((Scheme)scheme, q, A_RANK * n, n) == r; k++)
                seen += owner((Scheme)scheme, k, A_RANK * n, n) == (r - t + n) % n && (!causal || k <= q);
              pairs[t][r] += HEADS * BATCH * seen;
              rows += seen > 0;
            }
            assert_int_equal((int64_t)ranks.pieces[steps[t][r].piece].pairs, pairs[t][r]);
          }
        must(read_ring(&p, "contiguous", LAYOUTS[scheme], NULL));
        make_program(&p, n, &shape);
        for (int64_t t = 0; t < n; t++)
          for (int64_t r = 0; r < n; r++) {
            const RankStep step = ranks_step(&ranks, t, r);
            assert_int_equal((int64_t)step.sent_bytes, (int64_t)steps[t][r].sent_bytes);
            assert_int_equal((int64_t)step.received_bytes, (int64_t)steps[t][r].received_bytes);
            assert_int_equal((int64_t)ranks.pieces[step.piece].pairs, pairs[t][r]);
            assert_int_equal(step.keys_of, steps[t][r].keys_of);
          }
        RankTensor tensors[TENSORS_MAX];
        ranks_tensors(&ranks, tensors);
        for (int k = 0; k < p.n_tensors; k++) {
          const bool travels = !strcmp(p.tensors[k].text, "K") || !strcmp(p.tensors[k].text, "V");
          const int64_t sent = travels ? n * (n - 1) * A_RANK * D * 2 * KV_HEADS * BATCH : 0;
          assert_int_equal((int64_t)tensors[k].sent, sent);
          if (!strcmp(p.tensors[k].text, "A")) A = (int64_t)(tensors[k].read + tensors[k].write);
        }
        assert_int_equal(A, 2 * (n * A_RANK + rows) * D * 4 * HEADS * BATCH);
        Wide hbm = 0, all = 0;
        for (int k = 0; k < p.n_tensors; k++) all += tensors[k].read + tensors[k].write;
        for (int64_t t = 0; t < n; t++)
          for (int64_t r = 0; r < n; r++) hbm += ranks_step(&ranks, t, r).hbm_bytes;
        assert_true(hbm == all);
      }
}

/* Ring attention with other names: columns that go to HBM and back have theirs, m' and an unmoved L have none there. */
TEST(columns_are_called_as_the_program_does) {
  static const char *const NEW[][2] = {
      {"ring-attention", "ring-by-others"}, {"m_i", "b_i"}, {"m'", "n'"}, {"l_i", "z_i"}, {"L_i", "E_i"}};
  static Program program;
  char text[PROGRAM_TEXT_BYTES], title[64];
  const Schedule *ring = schedule_find("ring-attention");
  snprintf(text, sizeof text, "%s", ring->text);
  EACH (k, NEW)
    for (char *at = text; (at = strstr(at, NEW[k][0]));) memcpy(at, ALL_OF(NEW[k][1]));
  must(program_read(&program, ALL_OF(text), "own", fresh_error()));
  for (int t = 0; t < ring->n_tensors; t++) {
    const bool is_columns = ring->tensors[t].is_stats;
    assert_string_equal(schedule_moved_title(ring, WHEN_WHOLE, t, ", ", title, sizeof title),
                        is_columns ? "m, l" : ring->tensors[t].title);
    assert_string_equal(schedule_moved_title(&program, WHEN_WHOLE, t, ", ", title, sizeof title),
                        is_columns ? "b, z" : ring->tensors[t].title);
    if (is_columns) assert_string_equal(program.tensors[t].title, "b, z");
  }
}

/* Exchanged in every step, blocks come home in the last one: G instead of G - 1. */
TEST(a_last_exchange_is_counted) {
  static Program p;
  const Shape shape = {.N_q = 64, .d = 16, .heads = 2};
  RankTensor tensors[TENSORS_MAX];
  const char *const EXCHANGE = "      send K_j, V_j to g+1 when t < G-1\n      run part\n      receive K_j, V_j from "
                               "g-1 when t < G-1\n";
  must(read_ring(&p, EXCHANGE, "      send K_j, V_j to g+1\n      run part\n      receive K_j, V_j from g-1\n", NULL));
  assert_true(program_verdict(&p, NULL).is_right);
  make_program(&p, 4, &shape);
  ranks_tensors(&ranks, tensors);
  Wide sent = 0;
  for (int k = 0; k < p.n_tensors; k++) sent += tensors[k].sent;
  assert_int_equal((int64_t)sent, 4 * 4 * 2 * 16 * 16 * 2 * 2);
}

/* O of each rank against the formula; and programs that are well formed and wrong. */
TEST(numbers_of_all_ranks_are_judged) {
  static const struct {
    const char *from, *to, *what;
  } CASES[] = {
      {"contiguous", "contiguous", "on 1, 2 and 3 ranks"},
      {"contiguous", "striped", "on 1, 2 and 3 ranks"},
      {"contiguous", "zigzag", "on 1, 2 and 3 ranks"},
      {"      send K_j, V_j to g+1 when t < G-1\n      run part\n      receive K_j, V_j from",
       "      send K_j to g+1 when t < G-1\n      run part\n      receive K_j from", "O is wrong: on 2 ranks, row "},
      {"      run part\n      receive K_j, V_j from g-1 when t < G-1\n",
       "      receive K_j, V_j from g-1 when t < G-1\n      run part\n", "O is wrong: on 2 ranks, row "},
  };
  static Program p;
  EACH (k, CASES) {
    must(read_ring(&p, CASES[k].from, CASES[k].to, NULL));
    const ProgramVerdict v = program_verdict(&p, NULL);
    assert_int_equal(v.is_right, k < 3);
    assert_has(v.text, CASES[k].what);
  }
}

TEST(what_ranks_cannot_do_is_refused) {
  static const char SEND[] = "      send K_j, V_j to g+1 when t < G-1\n", RUN[] = "      run part\n",
                    RECEIVE[] = "      receive K_j, V_j from g-1 when t < G-1\n";
  static const struct {
    const char *from, *to, *what;
  } CASES[] = {
      {SEND, "",
       "36: 'K_j' is received before any rank has sent it in this step, so all wait for ever; put 'send K_j to g+1' "
       "above this line"},
      {RECEIVE, "", "35: 'K_j' is sent, and no line receives it; 'receive K_j from g-1' below this line"},
      {SEND, "      send K_j, V_j to g+1\n",
       "37: 'K_j' is sent in the last step and not received; both lines end alike, 'when t < G-1' or without"},
      {SEND, "      send Q_i to g+1\n", "35: 'Q_i' is no column block; rows stay with their rank, and columns travel"},
      {SEND, "      send S to g+1\n", "35: 'S' is no block that a kernel loads or stores; what travels lies in HBM"},
      {SEND, "      send K_j, K_j to g+1\n", "35: 'K_j' is named twice"},
      {SEND, "      send K_j to g-1\n", "35: '-' stands where '+' should: 'send K_j, V_j to g+1'"},
      {RUN, "", "37: kernels are run as they stand above, each once; the next is 'part'"},
      {RUN, "      run part\n      run part\n",
       "37: kernels are run as they stand above, each once; the next is 'finish'"},
      {"    run finish", "", "36: ranks never run kernel 'finish'; 'run finish'"},
      {RUN, "      rum part\n", "36: 'rum' begins no line of what ranks do; did you mean 'run'?"},
      {RUN, "      run parts\n", "36: after 'run' comes the name of a kernel above, such as 'begin'"},
      {RUN, "     run part\n", "36: the line is indented by 5, but its block by 6"},
      {"    run begin\n", "    send K_j to g+1\n", "33: 'send K_j, V_j to g+1' stands inside 'for each step t'"},
      {"contiguous", "random", "32: 'for every rank g, contiguous'; striped and zigzag share the tokens out otherwise"},
      {"    run finish", "    run finish\nkernel late\n",
       "39: kernels come before the first 'ranks'; put this one "
       "above it"},
      {"    run finish", "    run finish\nranks\n", "39: what ranks do is said twice"},
      {"    for each step t\n", "    for each step t\n      for each step t\n", "35: steps are not inside other steps"},
      {"tensor A_i fp32\n", "ranks\n", "6: 'ranks' comes after the kernels that ranks run"},
  };
  static Program p;
  EACH (k, CASES) {
    assert_int_equal(read_ring(&p, CASES[k].from, CASES[k].to, fresh_error()), STATUS_BAD_FILE);
    assert_string_equal(test_error.message, test_text("mine.walk:%s", CASES[k].what));
  }
}

/* What a kernel stores while it is on its way. */
TEST(a_race_with_the_link_is_refused) {
  static const char TEXT[] = "algorithm mine\n"
                             "input K_j: B_c x d\n"
                             "output W_j = K + K\n"
                             "kernel first\n"
                             "  for every column block j\n"
                             "    load K_j\n"
                             "    store W_j = K_j\n"
                             "kernel second\n"
                             "  for every column block j\n"
                             "    load K_j, W_j\n"
                             "    store W_j = W_j + K_j\n"
                             "ranks\n"
                             "  for every rank g\n"
                             "    run first\n"
                             "    for each step t\n"
                             "      send W_j to g+1\n"
                             "      run second\n"
                             "      receive W_j from g-1\n";
  static Program p;
  assert_int_equal(program_read(&p, TEXT, sizeof TEXT - 1, "mine.walk", fresh_error()), STATUS_BAD_FILE);
  assert_string_equal(test_error.message,
                      "mine.walk:17: a race: kernel 'second' stores 'W_j' while line 16 sends it; send it "
                      "below this line, or run the kernel below line 18");
}

/* ---- Figures of papers ------------------------------------------------------------------------------------- */

/* Ring Attention (arXiv 2310.01889), table 2: c = F / B. Four of five rows follow, to their digits. */
TEST(ring_attentions_table) {
  static const struct {
    double flops, bytes_per_s, printed_c, printed_s; /* thousands */
    bool follows;
  } ROWS[] = {{312e12, 300e9, 1.0, 6.2, true},
              {312e12, 12.5e9, 24.5, 149.5, false}, /* 24.96 and 149.8 */
              {123e12, 112e9, 1.1, 6.6, true},
              {275e12, 268e9, 1.0, 6.2, true},
              {196e12, 186e9, 1.1, 6.3, true}};
  EACH (k, ROWS) {
    Gpu other = gpu;
    Shape shape = {.N_q = 1, .d = 128};
    other.fp16_tensor_flops_per_s = ROWS[k].flops;
    must(shape_complete(&shape, NULL));
    const double c = ranks_hiding_tokens(&shape, &other, ROWS[k].bytes_per_s) / 1000;
    assert_near(c, ROWS[k].flops / ROWS[k].bytes_per_s / 1000, 1e-9);
    assert_int_equal(fabs(c - ROWS[k].printed_c) <= 0.05 && fabs(6 * c - ROWS[k].printed_s) <= 0.05, ROWS[k].follows);
  }
}

/* ---- What is refused ---------------------------------------------------------------------------------------- */

TEST(a_link_is_measured_or_not) {
  static const char HALF[] =
      "name = a\nbandwidth = 1 GB/s # assumed\nlatency = 1 us # assumed\ncall = 1 us # assumed\n";
  GpuLink link;
  assert_true(link_parse(HALF, sizeof HALF - 1, "a", &link, fresh_error()) != STATUS_OK);
  assert_said("a:4: 1 of 7 measured constants");
  assert_int_equal(link_parse("nosuch = 1\n", 11, "a", &link, fresh_error()), STATUS_BAD_FILE);
  link = open_link("ib-ndr");
  assert_true(isnan(link_predicted_s(&link, 1)) && fabs(link_bound_s(&link, 50e9) - 1.000001) < 1e-12);
}

/* ---- H200s ------------------------------------------------------------------------------------------------- */

static RecordedRows row;

/* A column; in the first recording, of two ranks, it has another name. */
static double either(const char *column, const char *in_first) {
  return recorded_number(&row, *recorded_cell(&row, column) ? column : in_first);
}

static void at_ranks_end(void *data, int64_t t, int64_t r, const RankStep *step, const RankTimes *x) {
  (void)t, (void)step;
  ((double *)data)[r] = fmax(x->kernel_end_s, x->exchange_end_s);
}

/* A block as it was timed alone, an exchange alone, the ring. */
static void model(int64_t P, double ms[3]) {
  double ends[4] = {0};
  const Shape shape = {.N_q = P * recorded_whole(&row, "N_per_rank"),
                       .d = recorded_whole(&row, "d"),
                       .heads = (int64_t)either("heads", "H"),
                       .causal = recorded_is(&row, "causal", "1")};
  make(SCHEME_RING, P, &shape, &fa2);
  assert_int_equal((int64_t)(ranks.k_bytes + ranks.v_bytes), recorded_whole(&row, "kv_bytes"));
  ranks_walk(&ranks, CLOCK_PREDICTED, at_ranks_end, ends);
  ms[0] = 1e3 * (nvlink4.call_s + ranks.pieces[shape.causal ? RANK_PIECE_CAUSAL : RANK_PIECE_FULL].predicted_s);
  ms[1] = 1e3 * link_predicted_s(&nvlink4, recorded_number(&row, "kv_bytes"));
  ms[2] = 1e3 * ends[recorded_whole(&row, "rank")];
}

/* Of so many rows of P ranks, how many figures are beyond a tenth; sim/RANKS.md says which and why. */
TEST(h200s_beside_the_model) {
  static const char *const NAMES[] = {"block", "exchange", "ring"};
  const char *recorded = "first 2 20 1 3 4\n"
                         "again 2 20 1 16 6\n"
                         "fresh 2 28 7 14 6\n"
                         "fresh 4 56 13 47 12";
  char name[16];
  int P, n, known[3];
  while (test_row(&recorded, "%15s %d %d %d %d %d", name, &P, &n, &known[0], &known[1], &known[2])) {
    static Errors off[3];
    int misses[3] = {0};
    memset(off, 0, sizeof off);
    for (recorded_open(&row, test_text("counters/h200/ring/%s.csv", name)); recorded_next(&row);) {
      double ms[3];
      if (*recorded_cell(&row, "ranks") && recorded_whole(&row, "ranks") != P) continue;
      model(P, ms);
      if (test_depth() > 1)
        printf("| %d | %s | %d x %s | %s | %s ", P, recorded_cell(&row, "N_per_rank"), (int)either("heads", "H"),
               recorded_cell(&row, "d"), recorded_is(&row, "causal", "1") ? "yes" : "no", recorded_cell(&row, "rank"));
      for (int f = 0; f < 3; f++) {
        const double was = f == 0   ? either("block_ms", "compute_block_ms")
                           : f == 1 ? either("exchange_ms", "send_ms")
                                    : recorded_number(&row, "ring_ms"),
                     percent = 100 * (ms[f] / was - 1);
        const char *bold = fabs(percent) > 10 ? "**" : "";
        misses[f] += *bold != '\0';
        errors_add(&off[f], ms[f], was);
        if (test_depth() > 1) printf("| %.4g | %.4g | %s%+.1f%s ", ms[f], was, bold, percent, bold);
      }
      if (test_depth() > 1) puts("|");
    }
    for (int f = 0; f < 3; f++) {
      assert_int_equal(off[f].n, n);
      if (test_depth() > 1)
        printf("%s, %d ranks, %s: median %.1f, worst %.1f, %d of %d within 10 %%\n", name, P, NAMES[f],
               100 * errors_part(&off[f], 0.5), 100 * errors_part(&off[f], 1), n - misses[f], n);
      if (misses[f] > known[f])
        fail_msg("%s, %d ranks, %s: %d of %d beyond 10 %%, %d are known", name, P, NAMES[f], misses[f], n, known[f]);
    }
  }
}
