/* Masks against their definition, pair by pair: bands, sides, top left, blocks, documents, sinks, prefixes, files. */
#include "tests/support/test.h"
#include "sim/numbers/reference.h"
#include "tests/support/rand.h"
#include "viz/request/own.h"

enum { MAX_N = 40, N_DOCUMENTS = 5 };

/* A mask is kept for its matrix alone: anchored at the other corner it is another. */
TEST(masks_are_kept_apart) {
  const Pattern *one, *other, *again;
  Shape shape = {.N_q = 8, .N_k = 16};
  must(own_mask("strided:4", &shape, &one, NULL));
  shape.top_left = true;
  must(own_mask("strided:4", &shape, &other, NULL));
  assert_true(other->matrix.top_left && !one->matrix.top_left);
  must(own_mask("strided:4", &shape, &again, NULL));
  assert_ptr_equal(again, other);
}

/* Written out: what the options say of query i and key j. */
static bool in_band(const Shape *s, int64_t p, int64_t j) {
  if (s->causal && j > p) return false;
  if (s->window && (j <= p - s->window || (!s->causal && j >= p + s->window))) return false;
  return !s->sided || !((s->left >= 0 && j < p - s->left) || (s->right >= 0 && j > p + s->right));
}

/* A pattern as its text says it. */
typedef struct {
  char name[64];
  char kind; /* 0: none; s(trided), d(ocuments), k (sink), p(refix) */
  int64_t stride, block, keys, lengths[N_DOCUMENTS];
  Pattern *made;
} Text;

static bool allowed(const Shape *s, const Text *t, int64_t i, int64_t j) {
  const int64_t group = s->group ? s->group : 1, query = i / group, /* of packed heads */
      p = s->top_left ? query : query + s->N_k - s->N_q / group;
  if (t->kind == 'p') return in_band(s, p, j) || j < t->keys;
  if (t->kind == 'k') { /* without the window's left end */
    Shape open = *s;
    if (open.window && !open.causal) open.sided = true, open.right = open.window - 1;
    open.window = 0, open.left = -1;
    return in_band(s, p, j) || (j < t->keys && in_band(&open, p, j));
  }
  if (!in_band(s, p, j)) return false;
  if (t->kind == 's') {
    const int64_t rows = ceil_div(s->N_q, t->block), cols = ceil_div(s->N_k, t->block);
    return (i / t->block + (s->top_left ? 0 : cols - rows) - j / t->block) % t->stride == 0;
  }
  if (t->kind != 'd') return true;
  int64_t begin = 0;
  for (int k = 0; k < N_DOCUMENTS; begin += t->lengths[k++]) {
    const int64_t end = begin + t->lengths[k];
    if (j >= begin && j < end) return p >= begin && p < end;
  }
  return false;
}

static Shape random_shape(Rand *r) {
  Shape s = {.N_q = rand_in(r, 1, MAX_N), .N_k = rand_in(r, 1, MAX_N), .d = 1, .causal = rand_in(r, 0, 1)};
  s.top_left = rand_in(r, 0, 2) == 0;
  const int64_t kind = rand_in(r, 0, 2);
  if (kind == 1) s.window = rand_in(r, 1, 20);
  if (kind == 2) s.sided = true, s.left = rand_in(r, -1, 9), s.right = rand_in(r, -1, 9);
  return s;
}

/* Freed by the caller: t->made. */
static Mask random_mask(Rand *r, Shape *s, Text *t) {
  static const char KINDS[] = {0, 's', 'd', 'k', 'p'};
  *t = (Text){.kind = KINDS[rand_in(r, 0, 4)]};
  if (t->kind == 's') {
    t->stride = rand_in(r, 1, 4), t->block = rand_in(r, 1, 7);
    snprintf(t->name, sizeof t->name, "strided:%d:%d", (int)t->stride, (int)t->block);
  } else if (t->kind == 'd') {
    s->N_k = 0;
    for (int k = 0; k < N_DOCUMENTS; k++) s->N_k += t->lengths[k] = rand_in(r, 1, MAX_N / N_DOCUMENTS);
    snprintf(t->name, sizeof t->name, "documents:%d,%d,%d,%d,%d", (int)t->lengths[0], (int)t->lengths[1],
             (int)t->lengths[2], (int)t->lengths[3], (int)t->lengths[4]);
  } else if (t->kind) {
    t->keys = rand_in(r, 1, MAX_N);
    snprintf(t->name, sizeof t->name, "%s:%d", t->kind == 'k' ? "sink" : "prefix", (int)t->keys);
  }
  if (!t->kind && rand_in(r, 0, 1)) s->group = rand_in(r, 1, 7), s->N_q = s->group * ceil_div(s->N_q, s->group);
  if (t->kind) {
    t->made = pattern_named(t->name, (PatternMatrix){s->N_q, s->N_k, s->top_left}, fresh_error());
    must(!t->made);
  }
  s->pattern = t->made;
  return mask_of_shape(s);
}

/* A tile is full, partial or skipped by the pairs in it, whatever its size; pairs, queries and keys are counted one by
 * one. */
TEST(masks_are_their_pairs) {
  Rand r = {1};
  for (int n = 0; n < 6000; n++) {
    Shape s = random_shape(&r);
    Text text;
    const Mask m = random_mask(&r, &s, &text);
    const int64_t row0 = rand_in(&r, 0, s.N_q - 1), col0 = rand_in(&r, 0, s.N_k - 1);
    const int64_t row1 = rand_in(&r, row0 + 1, s.N_q), col1 = rand_in(&r, col0 + 1, s.N_k);
    int64_t in_tile = 0, in_all = 0, queries = 0;
    bool key_is_seen[MAX_N] = {false};
    for (int64_t i = 0; i < s.N_q; i++) {
      bool sees = false;
      const Span reach = mask_columns(&m, i);
      for (int64_t j = 0; j < s.N_k; j++) {
        const bool is = allowed(&s, &text, i, j);
        assert_true(mask_allows(&m, i, j) == is && (s.group || reference_sees(&s, i, j) == is));
        assert_true(!is || (j >= reach.begin && j < reach.end));
        in_all += is;
        in_tile += is && i >= row0 && i < row1 && j >= col0 && j < col1;
        sees = sees || is;
        key_is_seen[j] = key_is_seen[j] || is;
      }
      queries += sees;
    }
    int64_t keys = 0;
    for (int j = 0; j < MAX_N; j++) keys += key_is_seen[j];
    assert_true(mask_pairs(&m) == wide(in_all));
    assert_true(mask_queries_seeing(&m) == wide(queries));
    assert_true(mask_keys_seen(&m) == wide(keys));
    const TileKind want = in_tile == 0                               ? TILE_SKIPPED
                          : in_tile == (row1 - row0) * (col1 - col0) ? TILE_FULL
                                                                     : TILE_PARTIAL;
    assert_int_equal(mask_tile(&m, row0, row1, col0, col1), want);
    free(text.made);
  }
}

/* Counts of a rectangle of tiles are the sums over its tiles, with a pattern too. */
TEST(counts_are_sums_over_tiles) {
  Rand r = {2};
  for (int n = 0; n < 6000; n++) {
    Shape s = random_shape(&r);
    Text text;
    const Mask m = random_mask(&r, &s, &text);
    const int64_t B_r = rand_in(&r, 1, 9), B_c = rand_in(&r, 1, 9);
    const int64_t T_r = ceil_div(s.N_q, B_r), T_c = ceil_div(s.N_k, B_c);
    const int64_t i0 = rand_in(&r, 0, T_r - 1), j0 = rand_in(&r, 0, T_c - 1);
    const MaskTiles t = {B_r, B_c, {i0, rand_in(&r, i0, T_r)}, {j0, rand_in(&r, j0, T_c)}};
    MaskCount sum = {0};
    Wide rows_seen = 0, cols_seen = 0;
    bool col_has[MAX_N] = {false};
    for (int64_t i = t.rows.begin; i < t.rows.end; i++) {
      bool has = false;
      for (int64_t j = t.cols.begin; j < t.cols.end; j++) {
        const int64_t row1 = (i + 1) * B_r < s.N_q ? (i + 1) * B_r : s.N_q,
                      col1 = (j + 1) * B_c < s.N_k ? (j + 1) * B_c : s.N_k;
        const TileKind kind = mask_tile(&m, i * B_r, row1, j * B_c, col1);
        sum.tiles++;
        if (kind == TILE_SKIPPED) continue;
        sum.computed++;
        sum.full += kind == TILE_FULL;
        sum.rows += wide(row1 - i * B_r);
        sum.cols += wide(col1 - j * B_c);
        sum.area += wide(row1 - i * B_r) * wide(col1 - j * B_c);
        has = col_has[j] = true;
      }
      rows_seen += has;
    }
    for (int j = 0; j < MAX_N; j++) cols_seen += col_has[j];
    int64_t longest_row = 0, longest_col = 0;
    Plan plan;
    must(plan_make(&plan, &s, &(Tiling){.B_r = B_r, .B_c = B_c}, NULL));
    for (int64_t i = 0; i < T_r; i++) {
      const MaskTiles row = {B_r, B_c, {i, i + 1}, {0, T_c}};
      const int64_t tiles = (int64_t)mask_count(&m, &row).computed;
      assert_int_equal(plan_row_tiles(&plan, i).computed, tiles);
      if (tiles > longest_row) longest_row = tiles;
    }
    for (int64_t j = 0; j < T_c; j++) {
      const MaskTiles col = {B_r, B_c, {0, T_r}, {j, j + 1}};
      const int64_t tiles = (int64_t)mask_count(&m, &col).computed;
      if (tiles > longest_col) longest_col = tiles;
    }
    assert_int_equal(mask_longest_row(&m, B_r, B_c), longest_row);
    assert_int_equal(mask_longest_col(&m, B_r, B_c), longest_col);
    const MaskCount count = mask_count(&m, &t);
    assert_memory_equal(&count, &sum, sizeof sum);
    assert_true(mask_rows_seen(&m, &t).blocks == rows_seen);
    assert_true(mask_cols_seen(&m, &t).blocks == cols_seen);
    free(text.made);
  }
}

/* Tiles left out of 16 x 16 and 64 x 64 blocks of 128, as FlexAttention prints its block masks' sparsity (PyTorch 2.11,
 * in percent). A "sliding" window of 512 there is q - k <= 512: 513 keys. */
TEST(flex_attention_leaves_out_the_same_tiles) {
  /* The mask, causal, window; tiles left out of 2K and of 8K tokens; percent of either. The prefix is six blocks of
   * keys: 15 tiles more than causal has. */
  const char *rows = "- 1 0 120 2016 46.88 49.22\n"
                     "documents:1000 0 0 112 3486 43.75 85.11\n"
                     "documents:1000 1 0 176 3759 68.75 91.77\n"
                     "- 1 513 186 3786 72.66 92.43\n"
                     "sink:64 1 513 175 3727 68.36 90.99\n"
                     "strided:4:128 0 0 192 3072 75.00 75.00\n"
                     "prefix:700 1 0 105 2001 41.02 48.85";
  char mask[32];
  int causal, window, skipped_2k, skipped_8k;
  double percent_2k, percent_8k;
  while (test_row(&rows, "%31s %d %d %d %d %lf %lf", mask, &causal, &window, &skipped_2k, &skipped_8k, &percent_2k,
                  &percent_8k))
    for (int large = 0; large <= 1; large++) {
      const int64_t N = large ? 8192 : 2048, T = N / 128, want = large ? skipped_8k : skipped_2k;
      Shape s = {.N_q = N, .N_k = N, .d = 128, .causal = causal, .window = window};
      Pattern *pattern = *mask != '-' ? pattern_named(mask, (PatternMatrix){N, N, false}, NULL) : NULL;
      s.pattern = pattern;
      const Mask m = mask_of_shape(&s);
      const MaskTiles all = {128, 128, {0, T}, {0, T}};
      const MaskCount count = mask_count(&m, &all);
      assert_true(count.tiles - count.computed == wide(want));
      const double percent = 100.0 * (double)want / (double)(T * T);
      assert_near(percent, large ? percent_8k : percent_2k, 0.006);
      free(pattern);
    }
}

/* A million tokens in a thousand documents: row block by row block, not tile by tile. */
TEST(a_million_tokens) {
  const int64_t N = 1000000;
  Pattern *pattern = pattern_named("documents:1000", (PatternMatrix){N, N, false}, NULL);
  const Shape s = {.N_q = N, .N_k = N, .d = 128, .causal = true, .pattern = pattern};
  const Mask m = mask_of_shape(&s);
  assert_true(mask_pairs(&m) == wide(1000) * wide(1000 * 1001 / 2));
  const MaskTiles all = {
      125, 125, {0, N / 125}, {0, N / 125}}; /* 8 x 8 tiles a document, half of them and the diagonal */
  assert_true(mask_count(&m, &all).computed == wide(1000) * wide(36));
  assert_int_equal(mask_longest_row(&m, 125, 125), 8);
  assert_int_equal(mask_longest_col(&m, 125, 125), 8);
  free(pattern);
}

/* Rows of digits, four cells each: of row r and column c those are seen where 7 r + c * c is a multiple of 3, which is
 * 924 (c is one), 000 and 6da (c is none) in turn. The last row and column are cut, a digit has cells beyond them. */
TEST(painted_masks) {
  enum { N_q = 37, N_k = 43, B = 4 };
  Pattern *p =
      pattern_named("painted:4:9240006da9240006da9240006da924", (PatternMatrix){N_q, N_k, false}, fresh_error());
  must(!p);
  const Shape s = {.N_q = N_q, .N_k = N_k, .d = 1, .pattern = p};
  const Mask m = mask_of_shape(&s);
  for (int row = 0; row < N_q; row++)
    for (int col = 0; col < N_k; col++)
      assert_int_equal(mask_allows(&m, row, col), (row / B * 7 + (col / B) * (col / B)) % 3 == 0);
  free(p);
}

TEST(files_of_blocks) {
  static const char TEXT[] = "block 2\n#.\n.#\n##\n";
  Pattern *p = pattern_read(TEXT, sizeof TEXT - 1, "m.txt", (PatternMatrix){5, 4, false}, fresh_error());
  assert_non_null(p);
  const Shape s = {.N_q = 5, .N_k = 4, .d = 1, .pattern = p};
  const Mask m = mask_of_shape(&s);
  assert_true(mask_allows(&m, 1, 1) && !mask_allows(&m, 1, 2) && mask_allows(&m, 4, 0) && mask_allows(&m, 2, 3));
  assert_true(mask_pairs(&m) == 4 + 4 + 4); /* two blocks of 2 x 2, and the last row's four keys */
  free(p);
  static const TextSays BAD[] = {
      {"block x\n", "m.txt:1: after 'block' comes one whole number"},
      {"block 2\n#.\n", "m.txt:3: the file ends after 1 of 3 lines"},
      {"block 2\n#.#\n", "m.txt:2: N_q = 5 and N_k = 4 need 3 lines of 2 blocks of 2"},
      {"block 2\n#x\n", "m.txt:2: a line has # for a block that is seen"},
  };
  EACH (k, BAD) {
    assert_null(pattern_read(ALL_OF(BAD[k].text), "m.txt", (PatternMatrix){5, 4, false}, fresh_error()));
    assert_begins(BAD[k].says);
  }
  const char *names =
      "documents:|documents:0|documents:60,5|documents:4;60|documents:x|sink:|sink:0|sink:4x|prefix|prefix:-1||"
      "strided|strided:|strided:0|strided:4:|strided:4:0|strided:4x|painted|painted:8|painted:8:|painted:0:ff|"
      "painted:16:f000f00|painted:16:0g00|painted:16:0F00|painted:16:0f0000";
  char name[TEST_TEXT];
  while (test_next(&names, name)) assert_null(pattern_named(name, (PatternMatrix){64, 64, false}, NULL));
  assert_null(
      pattern_named("strided:4:1", (PatternMatrix){1 << 20, 1 << 20, false}, fresh_error())); /* too many blocks */
}

/* A pattern is of a matrix, and goes with no other. */
TEST(a_mask_of_another_matrix_is_refused) {
  Pattern *pattern = pattern_named("strided:2:4", (PatternMatrix){64, 32, false}, NULL);
  for (int k = 0; k < 3; k++) {
    Shape shape = {.N_q = k == 1 ? 60 : 64, .N_k = k == 2 ? 30 : 32, .d = 8, .pattern = pattern};
    assert_int_equal(shape_complete(&shape, NULL), k ? STATUS_BAD_REQUEST : STATUS_OK);
  }
  free(pattern);
}
