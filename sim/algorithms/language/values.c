/* Expressions: typed values of tiles; in declarations, of whole matrices.
 *
 *     sum      =  product { (+|-) product }
 *     product  =  factor { (x|/| ) factor }          two factors side by side: a matrix product, or by a value a row
 *     factor   =  [-] atom { ^T }
 *     atom     =  number | inf | d | N_k | name | ( sum ) | e^factor | 2^factor | log factor | max(sum, sum) | ...
 *              |  row max of factor | row sum of factor | first d_v of factor
 *
 * A value has two sides, such as B_r x d. A side of 1 stands for all (a value a row), as in the papers. While shapes
 * are looked for, sides may be unknown: then nothing is refused, and beside a factor such a value stays unknown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/language/reader.h"

enum { DEPTH_MAX = 24 }; /* of parentheses */

static Status read_sum(Reader *r, int depth, int *node);

static Status add_node(Reader *r, ProgramNode node, int *index) {
  if (r->p->n_nodes == PROGRAM_NODES_MAX)
    return reader_fail(r, "the program computes more than %d values", PROGRAM_NODES_MAX);
  *index = r->p->n_nodes;
  r->p->nodes[r->p->n_nodes++] = node;
  return STATUS_OK;
}

static const ProgramNode *node_at(const Reader *r, int node) { return &r->p->nodes[node]; }
static bool is_scalar(const ProgramNode *n) { return n->rows == SIDE_ONE && n->cols == SIDE_ONE; }
static bool is_unknown(const ProgramNode *n) { return n->rows == SIDE_UNKNOWN; }

#define SIDES(n) reader_side(r, (n)->rows), reader_side(r, (n)->cols)

static Status add_typed(Reader *r, NodeKind kind, int rows, int cols, int a, int b, int *node) {
  return add_node(r,
                  (ProgramNode){.kind = (uint8_t)kind,
                                .rows = (uint8_t)rows,
                                .cols = (uint8_t)cols,
                                .a = (int16_t)a,
                                .b = (int16_t)b,
                                .name = -1},
                  node);
}

static Status add_unknown(Reader *r, NodeKind kind, int a, int b, int *node) {
  return add_typed(r, kind, SIDE_UNKNOWN, SIDE_UNKNOWN, a, b, node);
}

/* Two values element by element: equal sides, or 1. An unknown one may have one column, or all. */
static Status add_pair(Reader *r, NodeKind kind, int a, int b, int *node) {
  const ProgramNode *x = node_at(r, a), *y = node_at(r, b);
  if (is_unknown(x) || is_unknown(y)) {
    const ProgramNode *known = is_unknown(x) ? y : x;
    if (is_unknown(known) || is_scalar(known)) return add_unknown(r, kind, a, b, node);
    return add_typed(r, kind, known->rows, known->cols, a, b, node);
  }
  const bool rows = x->rows == y->rows || x->rows == SIDE_ONE || y->rows == SIDE_ONE;
  const bool cols = x->cols == y->cols || x->cols == SIDE_ONE || y->cols == SIDE_ONE;
  if ((!rows || !cols) && r->learns) return add_unknown(r, kind, a, b, node);
  if (!rows || !cols)
    return reader_fail(r, "a value of %s x %s meets one of %s x %s; both sides must be equal, or 1", SIDES(x),
                       SIDES(y));
  return add_typed(r, kind, x->rows == SIDE_ONE ? y->rows : x->rows, x->cols == SIDE_ONE ? y->cols : x->cols, a, b,
                   node);
}

static Status add_one(Reader *r, NodeKind kind, int a, int cols, int *node) {
  return add_typed(r, kind, node_at(r, a)->rows, is_unknown(node_at(r, a)) ? SIDE_UNKNOWN : cols, a, -1, node);
}

static Status add_same(Reader *r, NodeKind kind, int a, int *node) {
  return add_one(r, kind, a, node_at(r, a)->cols, node);
}

/* A factor beside a factor: a value a row, or a matrix product. */
static Status add_beside(Reader *r, int a, int b, int *node) {
  const ProgramNode *x = node_at(r, a), *y = node_at(r, b);
  if (is_unknown(x) || is_unknown(y)) return add_unknown(r, NODE_MATMUL, a, b, node);
  const bool fits = x->cols == y->rows && x->cols != SIDE_ONE;
  const bool by_row =
      (x->cols == SIDE_ONE || y->cols == SIDE_ONE) && !fits && x->kind != NODE_TRANSPOSE && y->kind != NODE_TRANSPOSE;
  if (is_scalar(x) || is_scalar(y) || by_row) return add_pair(r, NODE_TIMES, a, b, node);
  if (x->cols == y->rows) return add_typed(r, NODE_MATMUL, x->rows, y->cols, a, b, node);
  if (r->learns) return add_unknown(r, NODE_MATMUL, a, b, node);
  const char *help = y->kind != NODE_TRANSPOSE && x->cols == y->cols   ? "; transpose the second: ^T"
                     : x->kind != NODE_TRANSPOSE && x->rows == y->rows ? "; transpose the first: ^T"
                                                                       : " (element by element is written x)";
  return reader_fail(r, "a product of %s x %s with %s x %s: the inner sides differ%s", SIDES(x), SIDES(y), help);
}

static Status read_number(Reader *r, int *node) {
  const char *text = reader_word(r);
  char *end;
  const double value = strcmp(text, "inf") == 0 ? INFINITY : strtod(text, &end);
  if (!isinf(value) && *end != '\0') return reader_fail(r, "'%s' is no number", text);
  r->at++;
  return add_node(r, (ProgramNode){.kind = NODE_NUMBER, .value = value, .a = -1, .b = -1, .name = -1}, node);
}

static Status read_factor(Reader *r, int depth, int *node);

/* What follows `e^`, `log`, `row max of`: a factor. */
static Status read_operand(Reader *r, int depth, int *node) { return read_factor(r, depth + 1, node); }

static Status read_row(Reader *r, int depth, int *node) {
  const bool is_max = reader_take(r, "max");
  if (!is_max && !reader_take(r, "sum")) return reader_fail(r, "after 'row' comes 'max of' or 'sum of'");
  int a;
  Status status = reader_expect(r, "of", "'row max of S', 'row sum of P'");
  if (!status) status = read_operand(r, depth, &a);
  if (status) return status;
  if (node_at(r, a)->cols == SIDE_ONE && !r->learns)
    return reader_fail(r, "a value of one column has no row to go along");
  return add_one(r, is_max ? NODE_ROW_MAX : NODE_ROW_SUM, a, SIDE_ONE, node);
}

static Status read_max(Reader *r, int depth, int *node) {
  int a, b;
  Status status = reader_expect(r, "(", "max(m_i, row max of S)");
  if (!status) status = read_sum(r, depth + 1, &a);
  if (!status) status = reader_expect(r, ",", "max takes two values");
  if (!status) status = read_sum(r, depth + 1, &b);
  if (!status) status = reader_expect(r, ")", "max takes two values");
  return status ? status : add_pair(r, NODE_MAX, a, b, node);
}

/* `first d_v of K_j`: its first columns. */
static Status read_first(Reader *r, int depth, int *node) {
  int side, a;
  if (!reader_side_at(r, &side)) return reader_fail(r, "after 'first' comes how many columns: 'first d_v of K_j'");
  r->at++;
  Status status = reader_expect(r, "of", "'first d_v of K_j'");
  if (!status) status = read_operand(r, depth, &a);
  if (status) return status;
  const ProgramNode *x = node_at(r, a);
  if (!r->learns && (x->cols == SIDE_ONE || side == SIDE_ROWS || side == SIDE_COLS))
    return reader_fail(r, "'first %s of' a value of %s x %s; it takes d, d_v or a size of columns that are more",
                       reader_side(r, side), SIDES(x));
  return add_one(r, NODE_FIRST, a, side, node);
}

static Status add_name(Reader *r, int name, int *node) {
  const ProgramName *n = &r->p->names[name];
  return add_node(
      r, (ProgramNode){.kind = NODE_NAME, .rows = n->rows, .cols = n->cols, .a = -1, .b = -1, .name = (int16_t)name},
      node);
}

static Status read_name(Reader *r, int *node) {
  int name;
  Status status;
  if (r->in_formula) {
    status = reader_whole(r, &name);
  } else {
    status = reader_name(r, "a value", &name);
    if (!status) status = name_read(r, name);
  }
  return status ? status : add_name(r, name, node);
}

/* ---- Formulas of declarations ------------------------------------------------------------------------------ */

enum { ARGUMENTS_MAX = 4 };

static Status read_arguments(Reader *r, int depth, const char *usage, int n, int *nodes) {
  Status status = reader_expect(r, "(", usage);
  for (int k = 0; k < n && !status; k++) {
    if (k) status = reader_expect(r, ",", usage);
    if (!status) status = read_sum(r, depth + 1, &nodes[k]);
  }
  return status ? status : reader_expect(r, ")", usage);
}

static bool are_sides(const Reader *r, int node, int rows, int cols) {
  return node_at(r, node)->rows == rows && node_at(r, node)->cols == cols;
}

/* attention(Q, K, V); gradient(Q, K, V, dO): the same, and what comes back to O. */
static Status read_attention(Reader *r, int depth, bool is_gradient, int *node) {
  int n[ARGUMENTS_MAX], first, second;
  Status status =
      read_arguments(r, depth, is_gradient ? "gradient(Q, K, V, dO)" : "attention(Q, K, V)", is_gradient ? 4 : 3, n);
  if (status) return status;
  const int d = node_at(r, n[0])->cols, d_v = node_at(r, n[2])->cols;
  if (!r->learns &&
      (!are_sides(r, n[0], SIDE_ROWS, d) || !are_sides(r, n[1], SIDE_COLS, d) || !are_sides(r, n[2], SIDE_COLS, d_v) ||
       d == SIDE_ONE || d_v == SIDE_ONE || (is_gradient && !are_sides(r, n[3], SIDE_ROWS, d_v))))
    return reader_fail(r, "%s takes B_r x d, B_c x d, B_c x d_v%s; these are %s x %s, %s x %s, %s x %s",
                       is_gradient ? "gradient" : "attention", is_gradient ? " and B_r x d_v" : "",
                       SIDES(node_at(r, n[0])), SIDES(node_at(r, n[1])), SIDES(node_at(r, n[2])));
  for (int k = 0; k < 3; k++)
    if (!r->p->operands[k] && node_at(r, n[k])->kind == NODE_NAME)
      r->p->operands[k] = (uint8_t)(node_at(r, n[k])->name + 1);
  if (!is_gradient) {
    status = add_unknown(r, NODE_ARGUMENTS, n[1], n[2], &second);
    return status ? status : add_typed(r, NODE_ATTENTION, SIDE_ROWS, d_v, n[0], second, node);
  }
  status = add_unknown(r, NODE_ARGUMENTS, n[0], n[1], &first);
  if (!status) status = add_unknown(r, NODE_ARGUMENTS, n[2], n[3], &second);
  return status ? status : add_typed(r, NODE_GRADIENT, SIDE_ROWS, d, first, second, node);
}

static Status read_masked(Reader *r, int depth, int *node) {
  int a, b = -1;
  Status status = reader_expect(r, "(", "mask(Q K^T), mask(Q K^T, 0)");
  if (!status) status = read_sum(r, depth + 1, &a);
  if (!status && reader_take(r, ",")) status = read_sum(r, depth + 1, &b);
  if (!status) status = reader_expect(r, ")", "mask(Q K^T), mask(Q K^T, 0)");
  if (status) return status;
  const ProgramNode *x = node_at(r, a);
  if (!r->learns && (x->rows != SIDE_ROWS || x->cols != SIDE_COLS))
    return reader_fail(r, "mask takes scores, B_r x B_c; this value is %s x %s", SIDES(x));
  if (b >= 0 && !is_scalar(node_at(r, b))) return reader_fail(r, "what a mask leaves is one number");
  return add_typed(r, NODE_MASKED, x->rows, x->cols, a, b, node);
}

static Status read_softmax(Reader *r, int depth, int *node) {
  int a;
  const Status status = read_arguments(r, depth, "softmax(Q K^T / sqrt(d))", 1, &a);
  return status ? status : add_same(r, NODE_SOFTMAX, a, node);
}

static Status read_formula_word(Reader *r, int depth, int *node, bool *is_one) {
  *is_one = true;
  if (reader_take(r, "attention")) return read_attention(r, depth, false, node);
  if (reader_take(r, "gradient")) return read_attention(r, depth, true, node);
  if (reader_take(r, "softmax")) return read_softmax(r, depth, node);
  if (reader_take(r, "mask")) return read_masked(r, depth, node);
  *is_one = false;
  return STATUS_OK;
}

/* ---- Factors ----------------------------------------------------------------------------------------------- */

static bool is_power_of(const Reader *r, const char *base) {
  return reader_is(r, base) && r->at + 1 < r->n_words && strcmp(r->words[r->at + 1].text, "^") == 0;
}

static bool is_root_of_d(const Reader *r) {
  return r->at + 2 < r->n_words && reader_is(r, "(") && strcmp(r->words[r->at + 1].text, "d") == 0 &&
         strcmp(r->words[r->at + 2].text, ")") == 0;
}

/* A function of one factor, by its first words. */
static Status read_function(Reader *r, int depth, int *node, bool *is_one) {
  static const struct {
    const char *word;
    NodeKind kind;
  } FUNCTIONS[] = {{"log", NODE_LOG}, {"tanh", NODE_TANH}, {"sigmoid", NODE_SIGMOID}, {"sqrt", NODE_SQRT}};
  int kind = -1, a;
  for (size_t k = 0; k < COUNT_OF(FUNCTIONS) && kind < 0; k++)
    if (reader_take(r, FUNCTIONS[k].word)) kind = (int)FUNCTIONS[k].kind;
  if (kind < 0 && (is_power_of(r, "e") || is_power_of(r, "2"))) {
    kind = reader_is(r, "e") ? NODE_EXP : NODE_EXP2;
    r->at += 2;
  }
  *is_one = kind >= 0;
  if (kind < 0) return STATUS_OK;
  if (kind == NODE_SQRT && is_root_of_d(r)) {
    r->at += 3;
    return add_typed(r, NODE_SQRT_D, SIDE_ONE, SIDE_ONE, -1, -1, node);
  }
  const Status status = read_operand(r, depth, &a);
  return status ? status : add_same(r, (NodeKind)kind, a, node);
}

/* d, B_c, N_k: as a number. */
static Status read_length(Reader *r, int *node, bool *is_one) {
  int side = reader_is(r, "N_q") ? LENGTH_N_Q : reader_is(r, "N_k") ? LENGTH_N_K : -1;
  *is_one = side >= 0 || reader_side_at(r, &side);
  if (!*is_one) return STATUS_OK;
  r->at++;
  return add_node(r, (ProgramNode){.kind = NODE_LENGTH, .a = -1, .b = -1, .name = (int16_t)side}, node);
}

static Status read_atom(Reader *r, int depth, int *node) {
  Status status;
  bool is_one;
  if (depth > DEPTH_MAX) return reader_fail(r, "more than %d parentheses within each other", DEPTH_MAX);
  if (reader_at_end(r)) return reader_fail(r, "the line ends where a value should follow");
  if ((status = read_function(r, depth, node, &is_one)) || is_one) return status;
  if (r->words[r->at].kind == WORD_NUMBER || reader_is(r, "inf")) return read_number(r, node);
  if (reader_take(r, "(")) {
    status = read_sum(r, depth + 1, node);
    return status ? status : reader_expect(r, ")", "every parenthesis is closed");
  }
  if (reader_take(r, "row")) return read_row(r, depth, node);
  if (reader_take(r, "max")) return read_max(r, depth, node);
  if (reader_take(r, "first")) return read_first(r, depth, node);
  if ((status = read_length(r, node, &is_one)) || is_one) return status;
  if (r->in_formula && ((status = read_formula_word(r, depth, node, &is_one)) || is_one)) return status;
  if (r->words[r->at].kind != WORD_NAME) return reader_fail(r, "'%s' stands where a value should", reader_word(r));
  return read_name(r, node);
}

static Status read_factor(Reader *r, int depth, int *node) {
  if (reader_take(r, "-")) {
    int a;
    const Status status = read_operand(r, depth, &a);
    return status ? status : add_same(r, NODE_NEGATE, a, node);
  }
  Status status = read_atom(r, depth, node);
  while (!status && reader_take(r, "^T"))
    status = add_typed(r, NODE_TRANSPOSE, node_at(r, *node)->cols, node_at(r, *node)->rows, *node, -1, node);
  return status;
}

static bool factor_follows(const Reader *r) {
  static const char *const ENDS[] = {"when", "x", "once", "of", "and"};
  if (reader_at_end(r)) return false;
  for (size_t k = 0; k < COUNT_OF(ENDS); k++)
    if (reader_is(r, ENDS[k])) return false;
  return r->words[r->at].kind != WORD_SYMBOL || reader_is(r, "(");
}

static Status read_product(Reader *r, int depth, int *node) {
  Status status = read_factor(r, depth, node);
  while (!status) {
    const bool times = reader_take(r, "x"), divide = !times && reader_take(r, "/");
    if (!times && !divide && !factor_follows(r)) break;
    int b;
    status = read_factor(r, depth, &b);
    if (status) break;
    status =
        times || divide ? add_pair(r, times ? NODE_TIMES : NODE_DIVIDE, *node, b, node) : add_beside(r, *node, b, node);
  }
  return status;
}

static Status read_sum(Reader *r, int depth, int *node) {
  Status status = read_product(r, depth, node);
  while (!status) {
    const bool add = reader_take(r, "+");
    if (!add && !reader_take(r, "-")) break;
    int b;
    status = read_product(r, depth, &b);
    if (!status) status = add_pair(r, add ? NODE_ADD : NODE_SUBTRACT, *node, b, node);
  }
  return status;
}

Status expression_read(Reader *r, int *root) { return read_sum(r, 0, root); }

Status expression_test(Reader *r, int *root) {
  int a, b;
  Status status = read_sum(r, 0, &a);
  if (status) return status;
  const bool greater = reader_take(r, ">");
  if (!greater && !reader_take(r, "<"))
    return reader_fail(r, "after 'when' comes a comparison of two values, such as m' > m_i + 8, or lse, splits > 1, "
                          "splits = 1");
  if ((status = read_sum(r, 0, &b))) return status;
  if ((status = add_pair(r, NODE_GREATER, greater ? a : b, greater ? b : a, root))) return status;
  const ProgramNode *n = node_at(r, *root);
  if (r->learns || n->cols == SIDE_ONE) return STATUS_OK;
  return reader_fail(r, "'when' chooses rows; the comparison is %s x %s and should have one column", SIDES(n));
}
