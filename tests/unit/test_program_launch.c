/* `launch`: what it says of SRAM, by hand; that it changes no event and no count; what is refused; and in the
 * description of a kernel. */
#include "tests/support/test.h"
#include "sim/algorithms/language/read.h"
#include "tests/support/open_profile.h"
#include "tests/support/rand.h"

static const char BODY[] = "algorithm mine\nkernel forward\n  for every row block i\n    load Q_i\n"
                           "    O_i, l_i = 0; m_i = -inf\n    for each column block j of i\n      load K_j, V_j\n"
                           "      S = Q_i K_j^T / sqrt(d)\n      mask S\n      m' = max(m_i, row max of S)\n"
                           "      l_i, O_i *= e^(m_i - m')\n"
                           "      P = e^(S - m'); l_i += row sum of P; O_i += P V_j; m_i = m'\n"
                           "    store O_i = O_i / l_i\n";

static Status read_with(const char *lines, Program *p, Error *error) {
  const char *text = test_text("%s%s", BODY, lines);
  return program_read(p, ALL_OF(text), "mine.walk", error);
}

#define FORWARD "launch forward\n  "

/* ---- What it changes ------------------------------------------------------------------------------------- */

/* 8 x 16 tiles of d = 32 and d_v = 24 in two bytes; a value in registers takes four. */
TEST(places_by_hand) {
  enum {
    Q = 8 * 32 * 2,
    K = 16 * 32 * 2,
    V = 16 * 24 * 2,
    O = 8 * 24 * 2,
    S = 8 * 16 * 2,
    COLUMNS = 2 * 8 * 4,
    ALL = Q + K + V + O + S + COLUMNS
  };
  static const SramSizes SIZES = {.B_r = 8, .B_c = 16, .d = 32, .d_v = 24, .element_bytes = 2};
  static const struct {
    const char *lines;
    int sram, registers;
  } CASES[] = {
      {"", ALL, 0},
      {FORWARD "stages 1 of K_j\n", ALL, 0},
      {FORWARD "stages 2 of K_j\n", ALL + K, 0},
      {FORWARD "stages 3 of K_j, V_j\n", ALL + 2 * K + 2 * V, 0},
      {FORWARD "stages 3 of K_j\n  stages 2 of V_j\n", ALL + 2 * K + V, 0},
      {FORWARD "registers O_i\n", ALL - O, 2 * O},
      {FORWARD "registers S\n", ALL - S, 2 * S},                /* P takes its place there */
      {FORWARD "registers S, P\n", ALL - S, 2 * S},             /* no second one */
      {FORWARD "registers P\n", ALL, 2 * S},                    /* and S stays where it is */
      {FORWARD "registers m_i, l_i\n", ALL - COLUMNS, COLUMNS}, /* in fp32 anyway */
      {FORWARD "registers S, O_i, m_i, l_i\n", Q + K + V, 2 * S + 2 * O + COLUMNS},
      {FORWARD "consumers 2 of i\n  threads 384\n", ALL, 0},
      {FORWARD "S beside P\n", ALL + S, 0}, /* P takes the place of one */
      {FORWARD "S beside m'\n  registers S\n", ALL - S, 4 * S},
      {FORWARD "share K_j, V_j by 2\n", ALL, 0},
  };
  static Program p;
  EACH (k, CASES) {
    must(read_with(CASES[k].lines, &p, fresh_error()));
    const SramBudget b = sram_budget(&p, &SIZES);
    assert_true((int)b.bytes == CASES[k].sram && (int)b.registers == CASES[k].registers);
  }
}

/* What is said of each kernel holds for that one. */
TEST(each_kernel_has_its_own) {
  static Program p;
  static const char SPLIT[] = "launch combine\n  registers O_i\nlaunch splits\n  stages 4 of K_j\n  threads 128\n";
  char text[2 * PROGRAM_TEXT_BYTES];
  snprintf(text, sizeof text, "%s%s", schedule_find("fa2-split")->text, SPLIT);
  must(program_read(&p, ALL_OF(text), "split.walk", fresh_error()));
  int n = 0;
  for (int name = 0; name < p.n_names; name++) {
    n += p.launches[0].stages[name] == 4 && strcmp(p.names[name].text, "K_j") == 0;
    assert_int_equal(p.launches[1].stages[name], 0);
    if (p.launches[1].registers >> name & 1) assert_string_equal(p.names[name].text, "O_i");
  }
  assert_int_equal(n, 1);
  assert_int_equal(p.launches[0].threads, 128);
  assert_true(p.launches[0].registers == 0 && p.launches[1].registers != 0 && p.launches[1].threads == 0);
}

/* FlashAttention-3 is FlashAttention-2 launched otherwise: event by event, count by count. */
TEST(no_event_changes) {
  Rand r = {5};
  const Schedule *with = schedule_find("fa3"), *without = schedule_find("fa2");
  for (int k = 0; k < 300; k++) {
    const Shape shape = {.N_q = rand_in(&r, 1, 60),
                         .N_k = rand_in(&r, 1, 60),
                         .d = rand_in(&r, 1, 20),
                         .causal = rand_in(&r, 0, 1),
                         .window = rand_in(&r, 0, 3) ? 0 : rand_in(&r, 1, 20)};
    const Tiling tiling = {.B_r = rand_in(&r, 1, 20), .B_c = rand_in(&r, 1, 20), .lse = rand_in(&r, 0, 1)};
    Plan plan;
    Cursor a = {0}, b = {0};
    Event x, y;
    must(plan_make(&plan, &shape, &tiling, NULL));
    for (bool more = true; more;) {
      more = schedule_next(with, &plan, &a, &x);
      assert_int_equal(schedule_next(without, &plan, &b, &y), more);
      x.line = y.line; /* of another page */
      if (more) assert_memory_equal(&x, &y, sizeof x);
    }
  }
}

/* What a step ahead needs must be there: here the state H, of the same step as P. */
TEST(what_comes_too_late) {
  static const char LATE[] = "algorithm late\ninput Q_i: B_r x d\ninput K_j: B_c x d\ninput V_j: B_c x d_v\n"
                             "output O_i: B_r x d_v\nkernel forward\n  for every row block i\n    load Q_i\n"
                             "    O_i = 0\n    H = 0\n    for each column block j of i\n      load K_j, V_j\n"
                             "      S = Q_i (K_j + H)^T\n      P = e^S\n      O_i += P V_j\n      H = K_j\n"
                             "    store O_i\nlaunch forward\n  S beside P\n";
  static Program p;
  assert_int_equal(program_read(&p, LATE, sizeof LATE - 1, "late.walk", fresh_error()), STATUS_BAD_FILE);
  assert_string_equal(test_error.message,
                      "late.walk:19: 'S' of the next step needs this step's 'H', so it cannot begin "
                      "before that is there");
}

#define STAGES "'stages 2 of K_j, V_j': copies in flight"
#define SHARE  "'share K_j, V_j by 2': CTAs of a cluster, of which one asks L2 for what all load"
#define BESIDE "'S beside P': the product S of the next step is made while this one makes P"
#define BOTH   "; both are set in one 'each' loop, S by a product on a line before that of P"

/* ---- What is refused ------------------------------------------------------------------------------------- */

TEST(refusals) {
  static const char *const CASES[] = {
      "launch backward\n => 14: after 'launch' comes the name of a kernel above, such as 'forward'",
      "launch\n => 14: after 'launch' comes the name of a kernel above, such as 'forward'",
      "launch forward now\n => 14: 'now' is too much on this line",
      FORWARD "threads 1\nlaunch forward\n => 16: there are two launches of 'forward'",
      "launch forward\nstages 2 of K_j\n => 15: the lines of a launch are indented",
      FORWARD "stage 2 of K_j\n => 15: 'stage' begins no line of a launch; did you mean 'stages'?",
      FORWARD "order j\n => 15: 'order' begins no line of a launch; there are stages, consumers, registers, threads, "
              "share, and S beside P",
      FORWARD "stages 9 of K_j\n => 15: " STAGES "; the number is a whole one from 1 to 8",
      FORWARD "stages K_j\n => 15: " STAGES "; the number is a whole one from 1 to 8",
      FORWARD "stages 2 K_j\n => 15: 'K_j' stands where 'of' should: " STAGES,
      FORWARD "stages 2 of\n => 15: the line ends where a name should follow: " STAGES,
      FORWARD "stages 2 of W_j\n => 15: kernel 'forward' has no 'W_j'; " STAGES,
      FORWARD
      "stages 2 of Q_i\n => 15: no line inside an 'each' loop loads 'Q_i', so there is one copy; stages are of what "
      "does",
      FORWARD
      "stages 2 of S\n => 15: no line inside an 'each' loop loads 'S', so there is one copy; stages are of what does",
      FORWARD "stages 2 of K_j, K_j\n => 15: the stages of 'K_j' are said twice",
      FORWARD
      "stages 2 of K_j\n  registers K_j\n => 16: 'K_j' has stages, which lie in SRAM; take it out of one of the lines",
      FORWARD
      "registers K_j\n  stages 2 of K_j\n => 16: 'K_j' is in registers, and stages lie in SRAM; take it out of one "
      "of the lines",
      FORWARD
      "registers\n => 15: the line ends where a name should follow: 'registers S, O_i': what lives there, and not in "
      "SRAM",
      FORWARD
      "consumers 2 of s\n => 15: 'consumers 2 of i': warpgroups that share the rows of a tile; 'of j', its columns",
      FORWARD "consumers 2 of i\n  consumers 3 of i\n => 16: consumers are said twice",
      FORWARD "threads 2000\n => 15: 'threads 384': of a CTA; the number is a whole one from 1 to 1024",
      FORWARD "threads 128 256\n => 15: '256' is too much on this line",
      FORWARD "K_j beside S\n => 15: " BESIDE BOTH,
      FORWARD "P beside S\n => 15: " BESIDE BOTH,
      FORWARD "S beside\n => 15: the line ends where a name should follow: " BESIDE,
      FORWARD "S beside P\n  S beside m'\n => 16: what is made a step ahead is said twice",
      FORWARD
      "share Q_i by 2\n => 15: each CTA of 'forward' loads a 'Q_i' of its own; what is shared, all CTAs of a cluster "
      "load",
      FORWARD "share S by 2\n => 15: kernel 'forward' does not load 'S'; " SHARE,
      FORWARD "share K_j\n => 15: the line ends where 'by' should follow: " SHARE,
      FORWARD "share K_j by 1\n => 15: " SHARE "; the number is a whole one from 2 to 8",
      FORWARD "share K_j by 2\n  share V_j by 2\n => 16: what CTAs share is said twice",
      FORWARD "threads 128\nkernel more\n => 16: kernels come before the first 'launch'; put this one above it",
  };
  static Program p;
  EACH_SAYS (row, CASES) {
    assert_true(read_with(row.text, &p, fresh_error()));
    assert_string_equal(test_error.message + strlen("mine.walk:"), row.says);
  }
  static const char EARLY[] = "algorithm early\nlaunch forward\n";
  assert_int_equal(program_read(&p, EARLY, sizeof EARLY - 1, "early.walk", fresh_error()), STATUS_BAD_FILE);
  assert_string_equal(test_error.message, "early.walk:2: 'launch' comes after the kernels");
}

/* ---- In a kernel's description --------------------------------------------------------------------------- */

/* Q, and two stages of K and V, where `shared` was written out before: hopper/tile_size.h's tiles in fp16. */
TEST(shared_memory_follows) {
  const Profile fa3 = open_profile("fa3-sm90");
  static const int64_t SHARED_KIB[PROFILE_TILES][2] = {{120, 88},  {144, 144}, {208, 160},
                                                       {216, 216}, {224, 224}, {208, 208}};
  for (int d = 0; d < PROFILE_TILES; d++)
    for (int causal = 0; causal < 2; causal++)
      assert_int_equal(fa3.tiles[d][causal].shared_bytes, SHARED_KIB[d][causal] * 1024);
  assert_int_equal(fa3.launch.consumers, 2);
  const Profile fa2 = open_profile("fa2-sm90"); /* one of each */
  assert_int_equal(fa2.tiles[0][0].shared_bytes, 48 * 1024);
  assert_int_equal(fa2.tiles[2][0].shared_bytes, 64 * 1024);
  const Profile wgmma = open_profile("fa2_wgmma"); /* what is written out wins: there are barriers too */
  assert_int_equal(wgmma.tiles[2][0].shared_bytes, 164864);
}

TEST(a_description_names_its_line) {
  static const struct {
    const char *launch, *what;
  } CASES[] = {
      {"stages 2 of X_j", "k:2: kernel 'forward' has no 'X_j'; " STAGES},
      {"stages 2 of K_j; pipes 3",
       "k:2: 'pipes' begins no line of a launch; there are stages, consumers, registers, threads, share, and S "
       "beside P"},
      {"stages 2 of K_j;; threads 128",
       "k:2: '' begins no line of a launch; there are stages, consumers, registers, threads, share, and S beside P"},
  };
  static Profile profile;
  EACH (k, CASES) {
    char text[256];
    const int n = snprintf(text, sizeof text, "tile = 128 x 64\nlaunch = %s\n", CASES[k].launch);
    assert_int_equal(profile_parse(text, (size_t)n, "k", &profile, fresh_error()), STATUS_BAD_FILE);
    assert_string_equal(test_error.message, CASES[k].what);
  }
  static const char RIGHT[] = "tile = 128 x 64\nlaunch = stages 2 of K_j, V_j; registers S, O_i, m_i, l_i\n";
  must(profile_parse(RIGHT, sizeof RIGHT - 1, "k", &profile, fresh_error()));
  assert_int_equal(profile.tiles[2][1].shared_bytes, (128 + 2 * 2 * 64) * 128 * 2);
}
