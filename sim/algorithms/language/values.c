/* Expressions: typed values of tiles.
 *
 *     sum      =  product { (+|-) product }
 *     product  =  factor { (x|/| ) factor }          two factors side by side: a matrix product, or by a value a row
 *     factor   =  [-] atom [^T]
 *     atom     =  number | inf | name | ( sum ) | e^factor | log factor | max(sum, sum) | sqrt(d)
 *              |  row max of factor | row sum of factor
 *
 * A value has two sides, such as B_r x d. A side of 1 stands for all (a value a row), as in the papers. */
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

#define SIDES(n) side_name((Side)(n)->rows), side_name((Side)(n)->cols)

/* Two values element by element: equal sides, or 1. */
static Status add_pair(Reader *r, NodeKind kind, int a, int b, int *node) {
  const ProgramNode *x = node_at(r, a), *y = node_at(r, b);
  const bool rows = x->rows == y->rows || x->rows == SIDE_ONE || y->rows == SIDE_ONE;
  const bool cols = x->cols == y->cols || x->cols == SIDE_ONE || y->cols == SIDE_ONE;
  if (!rows || !cols)
    return reader_fail(r, "a value of %s x %s meets one of %s x %s; both sides must be equal, or 1", SIDES(x),
                       SIDES(y));
  return add_node(r,
                  (ProgramNode){.kind = (uint8_t)kind,
                                .rows = x->rows == SIDE_ONE ? y->rows : x->rows,
                                .cols = x->cols == SIDE_ONE ? y->cols : x->cols,
                                .a = (int16_t)a,
                                .b = (int16_t)b,
                                .name = -1},
                  node);
}

static Status add_one(Reader *r, NodeKind kind, int a, Side cols, int *node) {
  return add_node(r,
                  (ProgramNode){.kind = (uint8_t)kind,
                                .rows = node_at(r, a)->rows,
                                .cols = (uint8_t)cols,
                                .a = (int16_t)a,
                                .b = -1,
                                .name = -1},
                  node);
}

/* A factor beside a factor. `transposed`: ^T stands at b. */
static Status add_beside(Reader *r, int a, int b, bool transposed, int *node) {
  const ProgramNode *x = node_at(r, a), *y = node_at(r, b);
  const uint8_t y_rows = transposed ? y->cols : y->rows, y_cols = transposed ? y->rows : y->cols;
  if (!transposed && (is_scalar(x) || is_scalar(y) || x->cols == SIDE_ONE || y->cols == SIDE_ONE))
    return add_pair(r, NODE_TIMES, a, b, node);
  if (x->cols != y_rows) {
    const bool helps = !transposed && x->cols == y->cols;
    return reader_fail(r, "a product of %s x %s with %s x %s: the inner sides differ%s", SIDES(x),
                       side_name((Side)y_rows), side_name((Side)y_cols),
                       helps ? "; transpose the second: ^T" : " (element by element is written x)");
  }
  return add_node(r,
                  (ProgramNode){.kind = NODE_MATMUL,
                                .rows = x->rows,
                                .cols = y_cols,
                                .b_transposed = transposed,
                                .a = (int16_t)a,
                                .b = (int16_t)b,
                                .name = -1},
                  node);
}

static Status read_number(Reader *r, int *node) {
  const char *text = reader_word(r);
  char *end;
  const double value = strcmp(text, "inf") == 0 ? INFINITY : strtod(text, &end);
  if (!isinf(value) && *end != '\0') return reader_fail(r, "'%s' is no number", text);
  r->at++;
  return add_node(r, (ProgramNode){.kind = NODE_NUMBER, .value = value, .a = -1, .b = -1, .name = -1}, node);
}

static Status read_factor(Reader *r, int depth, int *node, bool *transposed);

/* What follows `e^`, `log`, `row max of`: a factor. */
static Status read_operand(Reader *r, int depth, int *node) {
  bool transposed = false;
  Status status = read_factor(r, depth + 1, node, &transposed);
  if (!status && transposed) return reader_fail(r, "^T belongs to the second factor of a product");
  return status;
}

static Status read_row(Reader *r, int depth, int *node) {
  const bool is_max = reader_take(r, "max");
  if (!is_max && !reader_take(r, "sum")) return reader_fail(r, "after 'row' comes 'max of' or 'sum of'");
  int a;
  Status status = reader_expect(r, "of", "'row max of S', 'row sum of P'");
  if (!status) status = read_operand(r, depth, &a);
  if (status) return status;
  if (node_at(r, a)->cols == SIDE_ONE) return reader_fail(r, "a value of one column has no row to go along");
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

static Status read_name(Reader *r, int *node) {
  int name;
  Status status = reader_name(r, "a value", &name);
  if (!status) status = name_read(r, name);
  if (status) return status;
  const ProgramName *n = &r->p->names[name];
  return add_node(
      r, (ProgramNode){.kind = NODE_NAME, .rows = n->rows, .cols = n->cols, .a = -1, .b = -1, .name = (int16_t)name},
      node);
}

static Status read_atom(Reader *r, int depth, int *node) {
  int a;
  Status status;
  if (depth > DEPTH_MAX) return reader_fail(r, "more than %d parentheses within each other", DEPTH_MAX);
  if (reader_at_end(r)) return reader_fail(r, "the line ends where a value should follow");
  if (r->words[r->at].kind == WORD_NUMBER || reader_is(r, "inf")) return read_number(r, node);
  if (reader_take(r, "(")) {
    status = read_sum(r, depth + 1, node);
    return status ? status : reader_expect(r, ")", "every parenthesis is closed");
  }
  if (reader_take(r, "row")) return read_row(r, depth, node);
  if (reader_take(r, "max")) return read_max(r, depth, node);
  if (reader_take(r, "log")) {
    status = read_operand(r, depth, &a);
    return status ? status : add_one(r, NODE_LOG, a, (Side)node_at(r, a)->cols, node);
  }
  if (reader_take(r, "sqrt")) {
    status = reader_expect(r, "(", "sqrt(d)");
    if (!status) status = reader_expect(r, "d", "sqrt(d) is the only root");
    if (!status) status = reader_expect(r, ")", "sqrt(d)");
    return status ? status : add_node(r, (ProgramNode){.kind = NODE_SQRT_D, .a = -1, .b = -1, .name = -1}, node);
  }
  if (reader_is(r, "e") && r->at + 1 < r->n_words && strcmp(r->words[r->at + 1].text, "^") == 0) {
    r->at += 2;
    status = read_operand(r, depth, &a);
    return status ? status : add_one(r, NODE_EXP, a, (Side)node_at(r, a)->cols, node);
  }
  if (r->words[r->at].kind != WORD_NAME) return reader_fail(r, "'%s' stands where a value should", reader_word(r));
  return read_name(r, node);
}

static Status read_factor(Reader *r, int depth, int *node, bool *transposed) {
  if (reader_take(r, "-")) {
    int a;
    const Status status = read_operand(r, depth, &a);
    return status ? status : add_one(r, NODE_NEGATE, a, (Side)node_at(r, a)->cols, node);
  }
  const Status status = read_atom(r, depth, node);
  *transposed = !status && reader_take(r, "^T");
  return status;
}

static bool factor_follows(const Reader *r) {
  static const char *const ENDS[] = {"when", "x", "once", "of"};
  if (reader_at_end(r)) return false;
  for (size_t k = 0; k < sizeof ENDS / sizeof *ENDS; k++)
    if (reader_is(r, ENDS[k])) return false;
  return r->words[r->at].kind != WORD_SYMBOL || reader_is(r, "(");
}

static Status read_product(Reader *r, int depth, int *node) {
  bool transposed = false;
  Status status = read_factor(r, depth, node, &transposed);
  if (!status && transposed) return reader_fail(r, "^T belongs to the second factor of a product: Q_i K_j^T");
  while (!status) {
    const bool times = reader_take(r, "x"), divide = !times && reader_take(r, "/");
    if (!times && !divide && !factor_follows(r)) break;
    int b;
    status = read_factor(r, depth, &b, &transposed);
    if (status) break;
    if (transposed && (times || divide)) return reader_fail(r, "^T belongs to a matrix product: Q_i K_j^T");
    if (times || divide)
      status = add_pair(r, times ? NODE_TIMES : NODE_DIVIDE, *node, b, node);
    else
      status = add_beside(r, *node, b, transposed, node);
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
