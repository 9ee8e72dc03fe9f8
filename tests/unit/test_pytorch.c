/* Outputs, log-sum-exps and gradients against PyTorch's, in fp64: tests/recorded/pytorch.tsv, which pytorch.py beside
 * it writes. Masks of either corner, windows, grouped heads, softcap, sinks. */
#include "tests/support/test.h"
#include "tests/support/attention_view.h"

enum { N_MOST = 64, D_MOST = 16, LINE_BYTES = 1 << 14 };

typedef struct {
  Shape shape;
  AttentionConfig config;
  int head;
  double O[N_MOST * D_MOST], L[N_MOST];
} Case;

static double value_of(const char *line, const char *key, double otherwise) {
  const char *at = strstr(line, key);
  return at ? atof(at + strlen(key)) : otherwise;
}

static void read_case(const char *line, Case *c) {
  *c = (Case){.shape = {.N_q = (int64_t)value_of(line, " N_q=", 0),
                        .N_k = (int64_t)value_of(line, " N_k=", 0),
                        .d = (int64_t)value_of(line, " d=", 0),
                        .d_v = (int64_t)value_of(line, " d_v=", 0),
                        .heads = (int64_t)value_of(line, " heads=", 1),
                        .kv_heads = (int64_t)value_of(line, " kv_heads=", 1),
                        .causal = value_of(line, " causal=", 0) > 0,
                        .top_left = value_of(line, " top_left=", 0) > 0,
                        .left = (int64_t)value_of(line, " left=", -1),
                        .right = (int64_t)value_of(line, " right=", -1)}};
  c->shape.sided = c->shape.left >= 0 || c->shape.right >= 0;
  c->config.softmax.softcap = value_of(line, " softcap=", 0);
  c->config.softmax.has_sink = strstr(line, " sink=") != NULL;
  c->config.softmax.sink = value_of(line, " sink=", 0);
}

/* As pytorch.py does. */
static void fill(Attention *a, const char *name, int tensor, int64_t head, int64_t rows, int64_t cols) {
  double values[N_MOST * D_MOST];
  for (int64_t i = 0; i < rows; i++)
    for (int64_t c = 0; c < cols; c++)
      values[i * cols + c] =
          (double)((i * 37 + c * 101 + head * 59 + tensor * 17 + 1) * 48271 % 2147483647 % 129 - 64) / 32;
  attention_set_input(a, name, values);
}

/* Where `what` of the program differs most from the numbers that follow. */
static void compare(const Case *c, const char *program, const char *what, const double *right, int64_t rows,
                    int64_t cols) {
  const Shape *s = &c->shape;
  const bool is_backward = what[0] == 'd';
  Plan plan;
  size_t bytes;
  Attention *a;
  Cursor cursor = {0};
  Error error = {0};
  const Schedule *schedule = schedule_find(program);
  const Tiling tiling = {.B_r = 4, .B_c = 3, .n_splits = 2, .lse = true};
  must(plan_make(&plan, s, &tiling, &error));
  must(attention_bytes(&plan, schedule, &bytes, &error));
  void *memory = malloc(bytes);
  if (attention_start(memory, &plan, schedule, &c->config, &a, &error)) fail_msg("%s", error.message);
  const int64_t group = c->head * s->kv_heads / s->heads;
  fill(a, "Q", 0, c->head, s->N_q, s->d);
  fill(a, "K", 1, group, s->N_k, s->d);
  fill(a, "V", 2, group, s->N_k, s->d_v);
  if (is_backward) {
    fill(a, "dO", 3, c->head, s->N_q, s->d_v);
    attention_set_input(a, "O", c->O);
    attention_set_input(a, "L", c->L);
  }
  if (attention_walk(a, schedule, &cursor, UINT64_MAX, &error)) fail_msg("%s", error.message);
  const AttentionView is = *what == 'L' ? attention_stored(a, "L_i", 0) : attention_in_hbm(a, what);
  assert_non_null(is.values);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = 0; k < cols; k++) {
      const double x = is.values[i * is.stride + k], y = right[i * cols + k];
      if (x != y && !(fabs(x - y) < 1e-12))
        fail_msg("%s, N %d x %d, causal %d: %s[%d][%d] is %.15g, by PyTorch %.15g", program, (int)s->N_q, (int)s->N_k,
                 s->causal, what, (int)i, (int)k, x, y);
    }
  free(memory);
}

TEST(attention_is_pytorchs) {
  static const char *const FORWARD[] = {"standard", "fa1", "fa2", "fa2-split", "fa3", "lazy"},
                           *const BACKWARD[] = {"fa2-backward", "fa2-backward-twice"};
  static char line[LINE_BYTES];
  static Case c;
  int n_cases = 0, n_rows = 0;
  FILE *file = fopen("tests/recorded/pytorch.tsv", "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    char what[4];
    int at;
    if (strncmp(line, "case", 4) == 0) read_case(line, &c), n_cases++;
    if (*line == '#' || strncmp(line, "case", 4) == 0) continue;
    assert_int_equal(sscanf(line, "%3s %d%n", what, &c.head, &at), 2);
    const bool of_keys = strcmp(what, "dK") == 0 || strcmp(what, "dV") == 0;
    const int64_t rows = of_keys ? c.shape.N_k : c.shape.N_q, cols = *what == 'L' ? 1
                                                                     : strchr("OV", what[strlen(what) - 1])
                                                                         ? c.shape.d_v
                                                                         : c.shape.d;
    double values[N_MOST * D_MOST];
    char *from = line + at;
    for (int64_t k = 0; k < rows * cols; k++) values[k] = strtod(from, &from);
    assert_int_equal(*from, '\n');
    if (*what == 'O') memcpy(c.O, values, sizeof c.O);
    if (*what == 'L') memcpy(c.L, values, sizeof c.L);
    if (*what == 'd')
      for (int k = 0; k < 2; k++) compare(&c, BACKWARD[k], what, values, rows, cols);
    else
      for (int k = *what == 'L' ? 2 : 0; k < (*what == 'L' ? 4 : 6); k++)
        compare(&c, FORWARD[k], what, values, rows, cols);
    n_rows++;
  }
  fclose(file);
  assert_true(n_cases == 17 && n_rows == 71);
}
