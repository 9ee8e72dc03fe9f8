/* Functions with real numbers: softmax, attention, normal, uniform. */
#include <assert.h>

#include "lessons/engine/expression_sandbox.h"
#include "sim/algorithms/shipped.h"
#include "sim/numbers/accuracy.h"
#include "sim/numbers/attention.h"
#include "sim/base/random.h"

enum { SCORES_MAX = 4096, STEPS_PER_SCORE = 20 };

static void push_list(lua_State *lua, const double *numbers, int64_t n) {
  lua_createtable(lua, (int)n, 0);
  for (int64_t k = 0; k < n; k++) {
    lua_pushnumber(lua, numbers[k]);
    lua_rawseti(lua, -2, k + 1);
  }
}

/* Sets field `key` of the table on top to a list of numbers. */
static void set_list(lua_State *lua, const char *key, const double *numbers, int64_t n) {
  push_list(lua, numbers, n);
  lua_setfield(lua, -2, key);
}

/* Sets field `key` of the table on top to the value below it. */
static void set_below(lua_State *lua, const char *key) {
  lua_insert(lua, -2);
  lua_setfield(lua, -2, key);
}

/* Reads the list on top into numbers[0..n). */
static void read_numbers(lua_State *lua, const char *what, double *numbers, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    if (lua_rawgeti(lua, -1, k + 1) != LUA_TNUMBER)
      sandbox_fail(lua, "softmax: item %d of %s is a %s; it must be a number", (int)k + 1, what,
                   luaL_typename(lua, -1));
    numbers[k] = lua_tonumber(lua, -1);
    lua_pop(lua, 1);
  }
}

static double *scratch(lua_State *lua, int64_t n_numbers) {
  double *numbers = lua_newuserdatauv(lua, (size_t)(n_numbers > 0 ? n_numbers : 1) * sizeof *numbers, 0);
  memset(numbers, 0, (size_t)n_numbers * sizeof *numbers);
  return numbers;
}

/* ---- softmax ----------------------------------------------------------------------------------------------------- */

typedef struct {
  int64_t block;
  char precision[ARGUMENT_TEXT_BYTES];
  bool no_max, powers_of_two;
} SoftmaxRequest;

static const Option SOFTMAX_ROWS[] = {
    {.name = "block", OPTION_COUNT(SoftmaxRequest, block)},
    {.name = "precision", OPTION_TEXT(SoftmaxRequest, precision, "the precision")},
    {.name = "no-max", OPTION_FLAG(SoftmaxRequest, no_max)},
    {.name = "powers-of-two", OPTION_FLAG(SoftmaxRequest, powers_of_two)},
    {0},
};

typedef struct {
  SoftmaxConfig config;
  int64_t n, d, block;
  double *scores, *values, *weights, *O;
} Row;

/* The list argument `name` stays on the stack; its length, -1 when it is not given. */
static int64_t list_length(lua_State *lua, const char *name) {
  const int type = arguments_push(lua, name);
  if (type == LUA_TNIL) return -1;
  if (type != LUA_TTABLE)
    sandbox_fail(lua, "softmax: %s is a %s; it must be a list in braces", name, luaL_typename(lua, -1));
  return (int64_t)lua_rawlen(lua, -1);
}

static void read_values(lua_State *lua, Row *row) {
  const int64_t n = list_length(lua, "values");
  const int list = lua_gettop(lua);
  if (n < 0) return;
  if (n != row->n)
    sandbox_fail(lua, "softmax: %d rows of values for %d scores; there must be one for each", (int)n, (int)row->n);
  if (lua_rawgeti(lua, list, 1) != LUA_TTABLE)
    sandbox_fail(lua, "softmax: values must be a list of rows, {{1, 2}, {3, 4}}");
  row->d = (int64_t)lua_rawlen(lua, -1);
  if (row->d < 1 || row->d > SCORES_MAX)
    sandbox_fail(lua, "softmax: a row of values needs 1 to %d numbers", SCORES_MAX);
  sandbox_charge(lua, (double)row->n * (double)row->d * STEPS_PER_SCORE);
  row->values = scratch(lua, row->n * row->d);
  row->O = scratch(lua, row->d);
  for (int64_t k = 0; k < n; k++) {
    if (lua_rawgeti(lua, list, k + 1) != LUA_TTABLE || (int64_t)lua_rawlen(lua, -1) != row->d)
      sandbox_fail(lua, "softmax: row %d of values does not hold %d numbers like the first", (int)k + 1, (int)row->d);
    read_numbers(lua, "a row of values", row->values + k * row->d, row->d);
    lua_pop(lua, 1);
  }
}

static Row read_row(lua_State *lua) {
  SoftmaxRequest r = {.precision = "fp64"};
  static const char *const LISTS[] = {"scores", "values", NULL};
  arguments_read(lua, "softmax", (const OptionSet[]){{"scores", SOFTMAX_ROWS, 0}, {0}}, &r, LISTS);
  Row row = {.config = {.without_max = r.no_max, .powers_of_two = r.powers_of_two}};
  Error error = {0};
  if (precision_from_name(r.precision, &row.config.precision, &error)) sandbox_refuse(lua, "softmax", &error);
  row.n = list_length(lua, "scores");
  if (row.n < 1 || row.n > SCORES_MAX)
    sandbox_fail(lua, "softmax: scores must be a list of 1 to %d numbers", SCORES_MAX);
  row.block = r.block && r.block < row.n ? r.block : row.n;
  sandbox_charge(lua, (double)row.n * STEPS_PER_SCORE);
  const int list = lua_gettop(lua);
  row.scores = scratch(lua, row.n);
  row.weights = scratch(lua, row.n);
  lua_pushvalue(lua, list);
  read_numbers(lua, "scores", row.scores, row.n);
  lua_pop(lua, 1);
  read_values(lua, &row);
  return row;
}

static void push_step(lua_State *lua, const Row *row, const SoftmaxStep *step) {
  sandbox_push_numbers(lua, "a step of softmax has no", SANDBOX_NUMBER(*step, block), SANDBOX_NUMBER(*step, n),
                       SANDBOX_NUMBER(*step, n_overflowed), SANDBOX_NUMBER(*step, block_max),
                       SANDBOX_NUMBER(*step, m_old), SANDBOX_NUMBER(*step, m_new), SANDBOX_NUMBER(*step, factor),
                       SANDBOX_NUMBER(*step, block_sum), SANDBOX_NUMBER(*step, l_old), SANDBOX_NUMBER(*step, l_scaled),
                       SANDBOX_NUMBER(*step, l_new));
  set_list(lua, "exponentials", row->weights + step->first, step->n);
  if (row->O) set_list(lua, "O", row->O, row->d);
}

/* softmax{scores=..., block=...}: m, l and O of the row, every step with its block's exponentials
 * and O before the division, and under `reference` the softmax of the whole row at once. */
static int numbers_softmax(lua_State *lua) {
  Row row = read_row(lua);
  SoftmaxState state = softmax_start(&row.config);
  lua_createtable(lua, (int)ceil_div(row.n, row.block), 0);
  for (int64_t first = 0; first < row.n; first += row.block) {
    const int64_t n = row.n - first < row.block ? row.n - first : row.block;
    const SoftmaxStep step =
        softmax_step(&row.config, &state, row.scores + first, n, row.values ? row.values + first * row.d : NULL, row.d,
                     row.weights + first, row.O);
    push_step(lua, &row, &step);
    lua_rawseti(lua, -2, state.n_blocks);
  }
  sandbox_push_numbers(lua, "softmax gives no", SANDBOX_NUMBER(state, m), SANDBOX_NUMBER(state, l));
  set_below(lua, "steps");
  if (row.O) {
    softmax_finish(&row.config, &state, row.O, row.d);
    set_list(lua, "O", row.O, row.d);
  }
  sandbox_push_rows(lua, "the reference has no", (const SandboxNumber[]){{0}});
  softmax_reference(row.scores, row.n, row.values, row.d, row.weights, row.O);
  set_list(lua, "weights", row.weights, row.n);
  if (row.O) set_list(lua, "O", row.O, row.d);
  lua_setfield(lua, -2, "reference");
  return 1;
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

typedef struct {
  Question question;
  int64_t seed;
  char precision[ARGUMENT_TEXT_BYTES];
  int inputs;
  bool no_max;
} AttentionRequest;

static const char *const INPUTS[] = {"normal", "outliers", NULL};

static const Option ATTENTION_ROWS[] = {
    {.name = "seed", OPTION_NUMBER(AttentionRequest, seed, "the seed", 0, INT64_MAX)},
    {.name = "precision", OPTION_TEXT(AttentionRequest, precision, "the precision")},
    {.name = "inputs", OPTION_CHOICE(AttentionRequest, inputs, "are no inputs"), .names = INPUTS},
    {.name = "no-max", OPTION_FLAG(AttentionRequest, no_max)},
    {0},
};

static const OptionSet ATTENTION_SETS[] = {{"N", QUESTION_SHAPE_OPTIONS, offsetof(AttentionRequest, question)},
                                           {"", QUESTION_TILING_OPTIONS, offsetof(AttentionRequest, question)},
                                           {"", ATTENTION_ROWS, 0},
                                           {0}};

/* The first output that is judged. */
static const ProgramDeclaration *judged(lua_State *lua, const Schedule *s) {
  for (int k = 0; k < s->n_declarations; k++)
    if (s->declarations[k].role == TENSOR_OUTPUT && s->declarations[k].formula) return &s->declarations[k];
  sandbox_fail(lua, "attention: '%s' does not say what its output must be", s->name);
  return NULL;
}

static void push_result(lua_State *lua, const Attention *a, uint64_t n_events) {
  const ProgramDeclaration *output = judged(lua, a->schedule);
  assert(output); /* else judged does not return */
  const ProgramName *name = &a->schedule->names[output->name];
  const int64_t rows = schedule_side_whole(a->schedule, &a->plan, name->rows),
                cols = schedule_side_whole(a->schedule, &a->plan, name->cols);
  const double *O = attention_matrix(a, output->name, 0);
  double *exact = scratch(lua, rows * cols);
  Accuracy accuracy = {0};
  if (!attention_reference(a, output, 0, exact)) sandbox_refuse(lua, "attention", &(Error){.status = STATUS_NO_MEMORY});
  lua_createtable(lua, (int)rows, 0);
  for (int64_t row = 0; row < rows; row++) {
    accuracy_add(&accuracy, a->config.softmax.precision, O + row * cols, exact + row * cols, cols);
    push_list(lua, O + row * cols, cols);
    lua_rawseti(lua, -2, row + 1);
  }
  sandbox_push_numbers(lua, "attention gives no", {"events", (double)n_events}, {"rmse", accuracy_rmse(&accuracy)},
                       {"largest_error", accuracy.largest}, SANDBOX_NUMBER(accuracy, largest_ulps),
                       SANDBOX_NUMBER(accuracy, n), SANDBOX_NUMBER(accuracy, n_rounded),
                       SANDBOX_NUMBER(accuracy, n_not_finite));
  set_below(lua, "O");
}

/* attention{...}: one head with random inputs, computed event by event: O, and how far it is from
 * the exact result. */
static int numbers_attention(lua_State *lua) {
  AttentionRequest r = {.question = {.shape = {.N_q = 64, .d = 16}}};
  Question *const q = &r.question;
  Error error = {0};
  Plan plan;
  arguments_read(lua, "attention", ATTENTION_SETS, &r, NULL);
  const Schedule *s = q->n_algorithms ? q->algorithms[0] : shipped_default();
  if (q->n_algorithms > 1 || q->shape.batch > 1 || q->shape.heads > 1)
    sandbox_fail(lua, "attention: it is of one algorithm and one head");
  AttentionConfig config = {.softmax = {.precision = attention_precision(q->shape.dtype), .without_max = r.no_max}};
  if (*r.precision && precision_from_name(r.precision, &config.softmax.precision, &error))
    sandbox_refuse(lua, "attention", &error);
  if (q->block) q->tiling.B_r = q->tiling.B_c = q->block;
  if (!q->tiling.B_r) q->tiling.B_r = 16;
  if (!q->tiling.B_c) q->tiling.B_c = 16;
  if (plan_make(&plan, &q->shape, &q->tiling, &error)) sandbox_refuse(lua, "attention", &error);
  sandbox_charge(lua, 1000 + 2 * (double)plan.shape.N_q * (double)plan.shape.N_k * (double)plan.shape.d +
                          50 * (double)schedule_n_steps(s, &plan));
  size_t bytes = 0;
  if (attention_bytes(&plan, s, &bytes, &error)) sandbox_refuse(lua, "attention", &error);
  Attention *attention = NULL;
  void *memory = lua_newuserdatauv(lua, bytes, 0);
  if (attention_start(memory, &plan, s, &config, &attention, &error)) sandbox_refuse(lua, "attention", &error);
  attention_fill(attention, r.inputs ? INPUT_OUTLIERS : INPUT_NORMAL, (uint64_t)r.seed, 0, 0);
  Cursor cursor = {0};
  if (attention_walk(attention, s, &cursor, UINT64_MAX, &error)) sandbox_refuse(lua, "attention", &error);
  push_result(lua, attention, cursor.step);
  return 1;
}

/* ---- Random numbers ---------------------------------------------------------------------------------------------- */

static int push_random(lua_State *lua, double of(uint64_t seed, uint64_t stream, uint64_t index)) {
  uint64_t whole[2];
  for (int k = 0; k < 2; k++) {
    const double number = lua_type(lua, k + 1) == LUA_TNUMBER ? lua_tonumber(lua, k + 1) : -1;
    if (!(number >= 0 && number < 9e15) || number != floor(number))
      sandbox_fail(lua, "normal and uniform take (seed, index), two whole numbers, 0 or more");
    whole[k] = (uint64_t)number;
  }
  lua_pushnumber(lua, of(whole[0], 0, whole[1]));
  return 1;
}

/* normal(seed, index), uniform(seed, index): element `index` of a fixed random sequence. */
static int numbers_normal(lua_State *lua) { return push_random(lua, random_normal); }
static int numbers_uniform(lua_State *lua) { return push_random(lua, random_uniform); }

const luaL_Reg LIBRARY_NUMBERS[] = {{"softmax", numbers_softmax},
                                    {"attention", numbers_attention},
                                    {"normal", numbers_normal},
                                    {"uniform", numbers_uniform},
                                    {NULL, NULL}};
