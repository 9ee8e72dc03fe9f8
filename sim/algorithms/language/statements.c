/* Statements of a program: moves, masks, arithmetic. One line is one event, but for moves: one a tile. */
#include <string.h>

#include "sim/algorithms/language/language_words.h"
#include "sim/algorithms/language/reader.h"

/* ---- What values are made of ------------------------------------------------------------------------------- */

typedef struct {
  int tiles, row_products; /* products that make B_c columns, and others */
  int maxima, divisions;
} Content;

static Status add_product(Reader *r, ProgramOp *op, const ProgramNode *n) {
  Program *p = r->p;
  const uint8_t sides[3] = {n->rows, p->nodes[n->a].cols, n->cols};
  int rows = 0, cols = 0, other = SIDE_ONE;
  for (int k = 0; k < 3; k++) {
    rows += sides[k] == SIDE_ROWS, cols += sides[k] == SIDE_COLS;
    if (sides[k] != SIDE_ROWS && sides[k] != SIDE_COLS) other = sides[k];
  }
  if (r->learns) return STATUS_OK;
  if (rows > 1 || cols > 1)
    return reader_fail(r, "a product of %s x %s with %s x %s has %s on two sides; that is not counted", //
                       reader_side(r, sides[0]), reader_side(r, sides[1]), reader_side(r, sides[1]),
                       reader_side(r, sides[2]), rows > 1 ? "B_r" : "B_c");
  if ((rows && !(op->loops & IN_I)) || (cols && !(op->loops & IN_J)))
    return reader_fail(r, "a matrix product over %s belongs inside a loop over %s", rows ? "B_r" : "B_c",
                       rows && !(op->loops & IN_I) ? "row block i" : "column block j");
  if (rows && cols && (other == SIDE_D || other == SIDE_DV)) {
    ++*(other == SIDE_D ? &op->products_d : &op->products_dv);
    return STATUS_OK;
  }
  if (p->n_products == PROGRAM_PRODUCTS_MAX)
    return reader_fail(r, "the program has more than %d products of other sides", PROGRAM_PRODUCTS_MAX);
  if (!op->n_products) op->first_product = p->n_products;
  op->n_products++;
  memcpy(p->products[p->n_products++].sides, sides, sizeof sides);
  return STATUS_OK;
}

static bool is_exponential(const ProgramNode *n) {
  const bool takes = n->kind == NODE_EXP || n->kind == NODE_EXP2 || n->kind == NODE_TANH || n->kind == NODE_SIGMOID;
  return takes && sides_are_tile(n->rows, n->cols);
}

static Status look_at(Reader *r, ProgramOp *op, int node, Content *c) {
  const Program *p = r->p;
  const ProgramNode *n = &p->nodes[node];
  Status status = STATUS_OK;
  c->tiles += n->kind == NODE_MATMUL && n->cols == SIDE_COLS;
  c->row_products += n->kind == NODE_MATMUL && n->cols != SIDE_COLS;
  c->maxima += n->kind == NODE_MAX || n->kind == NODE_ROW_MAX;
  c->divisions += n->kind == NODE_DIVIDE && p->nodes[n->b].kind != NODE_SQRT_D && !node_is_constant(p, n->b);
  op->n_exps = (uint8_t)(op->n_exps + is_exponential(n));
  if (n->kind == NODE_MATMUL) status = add_product(r, op, n);
  if (!status && n->a >= 0) status = look_at(r, op, n->a, c);
  if (!status && n->b >= 0) status = look_at(r, op, n->b, c);
  return status;
}

/* Products and exponentials of what an operation sets, and what else is in it. */
static Status look_at_all(Reader *r, ProgramOp *op, Content *c) {
  Status status = STATUS_OK;
  *c = (Content){0};
  for (int k = op->first_assign; k < op->first_assign + op->n_assigns && !status; k++)
    status = look_at(r, op, r->p->assigns[k].value, c);
  return status;
}

/* ---- Loads, stores, additions ------------------------------------------------------------------------------ */

static bool is_other_side(int side) { return side != SIDE_ROWS && side != SIDE_COLS && side != SIDE_ONE; }

/* What an operation says of the bytes of a name's tile. */
static void set_tile(ProgramOp *op, const ProgramName *n) {
  op->rows = sides_have(n->rows, n->cols, SIDE_ROWS);
  op->cols = sides_have(n->rows, n->cols, SIDE_COLS);
  op->width = is_other_side(n->cols) ? n->cols : is_other_side(n->rows) ? n->rows : (uint8_t)SIDE_ONE;
  op->height = is_other_side(n->cols) && is_other_side(n->rows) ? n->rows : (uint8_t)SIDE_ONE;
  op->is_fp32 = n->is_fp32;
  if (n->cols == SIDE_ONE) op->words++;
}

/* Its subscripts are those of its sides; a state of d x d_v may have any. */
static Status check_block(Reader *r, const ProgramName *n) {
  const uint8_t needed = sides_blocks(n->rows, n->cols);
  const char *block = needed == IN_I ? "i" : needed == IN_J ? "j" : "ij";
  if (r->learns || !needed || (n->subscripts & (IN_I | IN_J)) == needed) return STATUS_OK;
  if (!n->subscripts) return reader_fail(r, "'%s' names no block; write %s_%s", n->text, n->text, block);
  return reader_fail(r, "'%s' is %s x %s; it is a block of %s", n->text, reader_side(r, n->rows),
                     reader_side(r, n->cols), needed == (IN_I | IN_J) ? "i and j" : block);
}

static Status can_move(Reader *r, int name, EventKind kind) {
  const ProgramName *n = &r->p->names[name];
  const uint8_t before = (uint8_t)((1 << (r->p->n_kernels - 1)) - 1);
  if (strchr(n->text, '\''))
    return reader_fail(r, "'%s' has a prime and so lives on chip alone; give what moves a name without one", n->text);
  if (kind != EVENT_LOAD && n->is_input) return reader_fail(r, "'%s' is an input; it is never stored", n->text);
  if (kind == EVENT_LOAD && !n->is_input && !n->is_stored)
    return reader_fail(r, "'%s' is loaded, but no line above has stored it", n->text);
  if (kind == EVENT_ADD && !(r->set_in[name] & before))
    return reader_fail(r, "'%s' is added to, but no kernel above has set it; 'store %s = 0' in one", n->text, n->text);
  return check_block(r, n);
}

/* A name joins the move before it on this line when both are undeclared statistics of the same rows: one event. */
static bool joins(const Reader *r, const ProgramOp *op, int name) {
  if (!op || op->n_moved == PROGRAM_MOVED_MAX) return false;
  const ProgramName *a = &r->p->names[op->moved[0]], *b = &r->p->names[name];
  if (a->is_declared || b->is_declared) return false;
  return a->cols == SIDE_ONE && b->cols == SIDE_ONE && a->rows == b->rows && a->subscripts == b->subscripts;
}

static Status add_assign(Reader *r, AssignKind kind, int name, int value) {
  if (r->p->n_assigns == PROGRAM_ASSIGNS_MAX)
    return reader_fail(r, "the program sets more than %d values", PROGRAM_ASSIGNS_MAX);
  r->p->assigns[r->p->n_assigns++] =
      (ProgramAssign){.kind = (uint8_t)kind, .name = (uint8_t)name, .value = (int16_t)value};
  return STATUS_OK;
}

/* After a store or an addition: its value, or the name's own. */
static Status read_moved_value(Reader *r, int name, ProgramOp *op) {
  int value;
  Content c;
  if (!reader_take(r, "=")) return name_read(r, name);
  Status status = expression_read(r, &value);
  if (!status) status = name_takes(r, name, r->p->nodes[value].rows, r->p->nodes[value].cols);
  if (!status) status = add_assign(r, ASSIGN_SET, name, value);
  if (status) return status;
  op->n_assigns = (uint8_t)(r->p->n_assigns - op->first_assign);
  op->products_d = op->products_dv = op->n_exps = op->n_products = 0;
  return look_at_all(r, op, &c);
}

static Status read_moved(Reader *r, EventKind kind, ProgramOp **op) {
  static const char *const WHAT[EVENT_KIND_COUNT] = {
      [EVENT_LOAD] = "what is loaded", [EVENT_STORE] = "what is stored", [EVENT_ADD] = "what is added to"};
  int name;
  Status status = reader_name(r, WHAT[kind], &name);
  if (!status) status = can_move(r, name, kind);
  if (status) return status;
  ProgramName *n = &r->p->names[name];
  if (!joins(r, *op, name)) {
    if ((status = reader_add_op(r, OP_EVENT, op))) return status;
    (*op)->event = (uint8_t)kind;
    (*op)->first_assign = r->p->n_assigns;
  }
  (*op)->moved[(*op)->n_moved++] = (uint8_t)name;
  if (kind == EVENT_LOAD) {
    n->is_loaded = true;
  } else {
    r->p->n_ops--; /* what it reads, it reads in this step */
    status = read_moved_value(r, name, *op);
    r->p->n_ops++;
    if (status) return status;
    n->is_stored = true;
    r->set_in[name] |= (uint8_t)(1 << (r->p->n_kernels - 1));
  }
  set_tile(*op, n);
  return name_defined(r, name);
}

Status move_read(Reader *r, EventKind kind) {
  const int first = r->p->n_ops;
  ProgramOp *op = NULL;
  Status status;
  do {
    if ((status = read_moved(r, kind, &op))) return status;
  } while (reader_take(r, ","));
  const bool once = kind == EVENT_LOAD && reader_take(r, "once");
  uint8_t when;
  status = condition_read(r, &when, NULL);
  for (int k = first; k < r->p->n_ops; k++) {
    r->p->ops[k].when = when;
    r->p->ops[k].once = once;
  }
  return status ? status : reader_finish(r);
}

/* ---- Arithmetic ------------------------------------------------------------------------------------------- */

Status mask_read(Reader *r) {
  int name, value = -1;
  ProgramOp *op;
  Status status = reader_name(r, "the scores to mask", &name);
  if (!status) status = name_read(r, name);
  if (!status && reader_take(r, "=")) status = expression_read(r, &value);
  if (!status) status = reader_finish(r);
  if (status) return status;
  const ProgramName *n = &r->p->names[name];
  if (n->is_input)
    return reader_fail(r, "'%s' is an input, which stays as it is; mask a copy: 'A = %s', then 'mask A'", n->text,
                       n->text);
  if (value >= 0 && !node_is_constant(r->p, value))
    return reader_fail(r, "what a mask leaves is one number: 'mask S = 0'");
  if (!r->learns &&
      (n->rows != SIDE_ROWS || n->cols != SIDE_COLS || (reader_loops(r) & (IN_I | IN_J)) != (IN_I | IN_J)))
    return reader_fail(r, "'%s' is no tile of scores, B_r x B_c of one i and j; a mask belongs to those", n->text);
  if ((status = reader_add_op(r, OP_EVENT, &op))) return status;
  op->event = EVENT_MASK;
  op->partial_only = true;
  op->value = (int16_t)(value + 1);
  op->moved[op->n_moved++] = (uint8_t)name;
  return STATUS_OK;
}

enum { TARGETS_MAX = 4 };

static Status read_targets(Reader *r, int *names, int *n) {
  *n = 0;
  do {
    if (*n == TARGETS_MAX) return reader_fail(r, "at most %d names are set at once", TARGETS_MAX);
    Status status = reader_name(r, "a name to set", &names[*n]);
    if (status) return status;
    ++*n;
  } while (reader_take(r, ","));
  return STATUS_OK;
}

/* *fresh: a name that had no value before; -1: none. */
static Status read_assignment(Reader *r, int *fresh) {
  int names[TARGETS_MAX], n, value;
  Status status = read_targets(r, names, &n);
  if (status) return status;
  const AssignKind kind = reader_take(r, "+=") ? ASSIGN_ADD : reader_take(r, "*=") ? ASSIGN_TIMES : ASSIGN_SET;
  const bool sets = kind != ASSIGN_SET || reader_take(r, "=");
  const char *near = sets || r->at > 1 || reader_at_end(r) ? NULL : words_nearest(r->words[0].text, WORDS_LINE);
  if (near) return reader_fail(r, "'%s' begins no line of a kernel; did you mean '%s'?", r->words[0].text, near);
  if (!sets)
    return reader_fail(r, "%s%s%s stands where '=', '+=' or '*=' should",
                       reader_at_end(r) ? "the end of the line" : "'", reader_word(r), reader_at_end(r) ? "" : "'");
  if ((status = expression_read(r, &value))) return status;
  for (int k = 0; k < n; k++) {
    if (r->p->names[names[k]].is_input)
      return reader_fail(r, "'%s' is an input, which stays as it is; give the result another name",
                         r->p->names[names[k]].text);
    if (kind != ASSIGN_SET && (status = name_read(r, names[k]))) return status;
    if (!r->definitions[names[k]].is_known) *fresh = names[k];
    if ((status = name_takes(r, names[k], r->p->nodes[value].rows, r->p->nodes[value].cols)) ||
        (status = add_assign(r, kind, names[k], value)) || (status = name_defined(r, names[k])))
      return status;
  }
  return STATUS_OK;
}

/* A name that rows keep where the comparison does not hold needs a value before. */
static Status check_chosen(Reader *r, const ProgramOp *op, int fresh) {
  const Program *p = r->p;
  if (fresh >= 0)
    return reader_fail(r, "'%s' has no value in the rows that 'when' leaves out; set it above this line",
                       p->names[fresh].text);
  for (int k = op->first_assign; k < op->first_assign + op->n_assigns && !r->learns; k++) {
    const ProgramName *n = &p->names[p->assigns[k].name];
    if (n->rows != p->nodes[op->value - 1].rows)
      return reader_fail(r, "'when' chooses rows of %s, and '%s' is %s x %s",
                         reader_side(r, p->nodes[op->value - 1].rows), n->text, reader_side(r, n->rows),
                         reader_side(r, n->cols));
    if (r->definitions[p->assigns[k].name].is_known && name_read(r, p->assigns[k].name)) return STATUS_BAD_FILE;
  }
  return STATUS_OK;
}

/* The kind of event that a line is, by what it computes. */
static EventKind kind_of(const Program *p, const ProgramOp *op, const Content *c) {
  int set = 0, times = 0;
  for (int k = op->first_assign; k < op->first_assign + op->n_assigns; k++)
    set += p->assigns[k].kind == ASSIGN_SET, times += p->assigns[k].kind == ASSIGN_TIMES;
  return c->row_products ? EVENT_ACCUMULATE
         : c->tiles      ? EVENT_PRODUCT
         : c->maxima     ? EVENT_NEW_MAX
         : times && !set ? EVENT_RESCALE
         : c->divisions  ? EVENT_NORMALISE
                         : EVENT_ACCUMULATE;
}

Status arithmetic_read(Reader *r) {
  ProgramOp *op;
  const uint8_t first = r->p->n_assigns;
  int fresh = -1;
  Status status;
  do {
    if ((status = read_assignment(r, &fresh))) return status;
  } while (reader_take(r, ";"));
  uint8_t when;
  int16_t test;
  status = condition_read(r, &when, &test);
  if (!status) status = reader_finish(r);
  if (!status) status = reader_add_op(r, OP_EVENT, &op);
  if (status) return status;
  op->when = when;
  op->value = test;
  op->first_assign = first;
  op->n_assigns = (uint8_t)(r->p->n_assigns - first);
  if (test && (status = check_chosen(r, op, fresh))) return status;
  bool all_constant = !test;
  for (int k = first; k < r->p->n_assigns; k++)
    all_constant &= r->p->assigns[k].kind == ASSIGN_SET && node_is_constant(r->p, r->p->assigns[k].value);
  if (all_constant) {
    op->kind = OP_SET;
    return STATUS_OK;
  }
  if (r->n_open == 0) return reader_fail(r, "outside loops names are set to numbers alone, such as H = 0");
  Content c;
  if ((status = look_at_all(r, op, &c))) return status;
  op->event = (uint8_t)kind_of(r->p, op, &c);
  return STATUS_OK;
}
