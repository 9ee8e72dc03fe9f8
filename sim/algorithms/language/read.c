/* The lines of a program: header, kernels, loops and statements. */
#include "sim/algorithms/language/read.h"

#include <math.h>
#include <string.h>

#include "sim/algorithms/language/reader.h"
#include "sim/base/quote.h"

/* ---- Operations ------------------------------------------------------------------------------------------ */

static Status add_op(Reader *r, OpKind kind, ProgramOp **op) {
  Program *p = r->p;
  if (p->n_ops == PROGRAM_OPS_MAX) return reader_fail(r, "the program has more than %d steps", PROGRAM_OPS_MAX);
  *op = &p->ops[p->n_ops++];
  **op = (ProgramOp){.kind = (uint8_t)kind,
                     .line = (uint8_t)(p->n_lines - 1),
                     .kernel = (uint8_t)(p->n_kernels - 1),
                     .pass = (uint8_t)(p->n_passes - (p->n_passes > 0)),
                     .loops = reader_loops(r),
                     .parent = (int8_t)(r->n_open ? r->open[r->n_open - 1].op : -1),
                     .end = -1,
                     .needs = -1};
  return STATUS_OK;
}

static Status close_loops(Reader *r, int indent) {
  while (r->n_open > 0 && r->open[r->n_open - 1].indent >= indent) {
    const OpenLoop loop = r->open[r->n_open - 1];
    if (loop.body < 0)
      return reader_fail(r, "the loop of line %d has no lines in it; indent what it repeats",
                         r->p->lines[r->p->ops[loop.op].line].number);
    ProgramOp *end;
    Status status = add_op(r, OP_END, &end);
    if (status) return status;
    end->end = (int8_t)(loop.op + 1);
    end->line = r->p->ops[loop.op].line;
    r->p->ops[loop.op].end = r->p->ops[loop.op + 1].end = (int8_t)(r->p->n_ops - 1);
    for (int n = 0; n < r->p->n_names; n++) {
      Definition *d = &r->definitions[n];
      if (d->is_known && d->loops >= r->n_open) {
        d->is_known = false;
        d->ended = r->p->lines[r->p->ops[loop.op].line].number;
      }
    }
    r->n_open--;
  }
  return STATUS_OK;
}

/* ---- Conditions ------------------------------------------------------------------------------------------- */

static Status read_when(Reader *r, uint8_t *when) {
  *when = 0;
  if (!reader_take(r, "when")) return STATUS_OK;
  do {
    if (reader_take(r, "lse")) {
      *when |= WHEN_LSE;
      continue;
    }
    if (!reader_take(r, "splits")) return reader_fail(r, "a condition is lse, splits > 1 or splits = 1, joined by and");
    const bool more = reader_take(r, ">");
    if (!more && !reader_take(r, "=")) return reader_fail(r, "after 'splits' comes '> 1' or '= 1'");
    if (!reader_take(r, "1")) return reader_fail(r, "after 'splits' comes '> 1' or '= 1'");
    *when |= more ? WHEN_SPLIT : WHEN_WHOLE;
  } while (reader_take(r, "and"));
  if ((*when & WHEN_SPLIT) && (*when & WHEN_WHOLE)) return reader_fail(r, "splits > 1 and splits = 1 cannot both hold");
  return STATUS_OK;
}

static Status at_end(Reader *r) {
  return reader_at_end(r) ? STATUS_OK : reader_fail(r, "'%s' is too much on this line", reader_word(r));
}

/* ---- Loops ------------------------------------------------------------------------------------------------ */

static Status read_dim(Reader *r, ProgramOp *op) {
  static const struct {
    const char *first, *second, *variable;
  } DIMS[] = {{"row", "block", "i"}, {"column", "block", "j"}, {"split", "", "s"}};
  for (int d = 0; d < DIM_COUNT; d++) {
    if (!reader_take(r, DIMS[d].first)) continue;
    op->dim = (uint8_t)d;
    if (*DIMS[d].second && reader_expect(r, DIMS[d].second, "row block i, column block j, split s"))
      return r->error ? r->error->status : STATUS_BAD_FILE;
    return reader_expect(r, DIMS[d].variable, "row block i, column block j, split s");
  }
  return reader_fail(r, "a loop runs over 'row block i', 'column block j' or 'split s'");
}

static Status check_loop(Reader *r, const ProgramOp *op) {
  const uint8_t around = reader_loops(r);
  if (r->n_open == PROGRAM_DEPTH_MAX || (around & (1 << op->dim)))
    return reader_fail(r, "a loop around this one runs over the same blocks already");
  if (op->every && r->n_open && !r->p->ops[r->open[r->n_open - 1].op].every)
    return reader_fail(r, "'every' (a CTA each) stands inside 'each' (in turn); CTAs are the outer loops");
  if (op->of && op->dim == DIM_S) return reader_fail(r, "'of' belongs to row and column blocks");
  if (op->of && !(around & (op->dim == DIM_J ? IN_I : IN_J)))
    return reader_fail(r, "'of %s' needs the loop over %s around it", op->dim == DIM_J ? "i" : "j",
                       op->dim == DIM_J ? "row block i" : "column block j");
  if (op->in_split && (op->dim != DIM_J || !(around & IN_S)))
    return reader_fail(r, "'in s' belongs to column blocks inside a loop over split s");
  if (op->of && (around & IN_S) && op->dim == DIM_J && !op->in_split)
    return reader_fail(r, "a masked loop inside the loop over split s walks all keys in every split; add 'in s'");
  if (op->of && (around & IN_S) && op->dim == DIM_I)
    return reader_fail(r, "'row block i of j' inside a loop over split s is not counted; put the loop over s inside");
  return STATUS_OK;
}

static Status read_loop(Reader *r, int indent) {
  ProgramOp *op, loop = {0}, *test;
  const bool every = reader_take(r, "every");
  if (!every && !reader_take(r, "each"))
    return reader_fail(r, "after 'for' comes 'every' (in parallel, a CTA each) or 'each' (in turn)");
  loop.every = every;
  Status status = read_dim(r, &loop);
  if (status) return status;
  if (reader_take(r, "of")) {
    loop.of = true;
    if (!reader_take(r, loop.dim == DIM_J ? "i" : "j"))
      return reader_fail(r, "'%s of %s': the tiles that the mask lets the other side see",
                         loop.dim == DIM_J ? "column block j" : "row block i", loop.dim == DIM_J ? "i" : "j");
  }
  if (reader_take(r, "in")) {
    loop.in_split = true;
    if (!reader_take(r, "s")) return reader_fail(r, "after 'in' comes s, the split");
  }
  if (reader_take(r, ",")) {
    loop.backwards = reader_take(r, "last");
    loop.either_way = !loop.backwards && reader_take(r, "either");
    if ((!loop.backwards || !reader_take(r, "first")) && (!loop.either_way || !reader_take(r, "way")))
      return reader_fail(r,
                         "after the comma comes 'either way' (a launch may walk the blocks backwards) or 'last first'");
  }
  if (!(status = at_end(r))) status = check_loop(r, &loop);
  if (status) return status;
  if (r->n_open == 0) r->p->n_passes++;
  if ((status = add_op(r, OP_LOOP, &op))) return status;
  const int at = r->p->n_ops - 1;
  op->dim = loop.dim, op->of = loop.of, op->in_split = loop.in_split;
  op->either_way = loop.either_way, op->backwards = loop.backwards, op->every = loop.every;
  r->open[r->n_open++] = (OpenLoop){.op = (int8_t)at, .indent = indent, .body = -1};
  if ((status = add_op(r, OP_TEST, &test))) return status;
  test->dim = loop.dim, test->of = loop.of, test->in_split = loop.in_split;
  test->either_way = loop.either_way, test->backwards = loop.backwards, test->every = loop.every;
  return STATUS_OK;
}

/* ---- Loads and stores ------------------------------------------------------------------------------------- */

/* What an operation says of the bytes of a name's tile. */
static void set_tile(ProgramOp *op, const ProgramName *n) {
  const bool width = n->cols == SIDE_D || n->cols == SIDE_DV;
  op->rows = n->rows == SIDE_ROWS || n->cols == SIDE_ROWS;
  op->cols = n->rows == SIDE_COLS || n->cols == SIDE_COLS;
  op->width = width ? n->cols : (uint8_t)SIDE_ONE;
  op->is_fp32 = n->is_fp32;
  if (n->cols == SIDE_ONE) op->words++;
}

static Status can_move(Reader *r, const ProgramName *n, bool is_load) {
  if (n->tensor >= TENSOR_COUNT || strchr(n->text, '\''))
    return reader_fail(r, "'%s' has no place in HBM; only blocks of Q, K, V, S, P, O, m, l and L have", n->text);
  if (!n->subscripts) return reader_fail(r, "'%s' names no block; write %s_i or %s_ij", n->text, n->text, n->text);
  const uint8_t needed = (uint8_t)((n->rows == SIDE_ROWS ? IN_I : IN_J) | (n->cols == SIDE_COLS ? IN_J : 0));
  if ((n->subscripts & (IN_I | IN_J)) != needed)
    return reader_fail(r, "'%s' is %s x %s; it is a block of %s", n->text, side_name((Side)n->rows),
                       side_name((Side)n->cols),
                       needed == IN_I   ? "i"
                       : needed == IN_J ? "j"
                                        : "i and j");
  if (!is_load && n->is_input) return reader_fail(r, "'%s' is an input; it is never stored", n->text);
  if (is_load && !n->is_input && !n->is_stored)
    return reader_fail(r, "'%s' is loaded, but no line above has stored it", n->text);
  return STATUS_OK;
}

/* A name joins the move before it on this line when both are undeclared statistics of the same rows: one event. */
static bool joins(const Reader *r, const ProgramOp *op, int name) {
  if (!op || op->n_moved == PROGRAM_MOVED_MAX) return false;
  const ProgramName *a = &r->p->names[op->moved[0]], *b = &r->p->names[name];
  if (a->is_declared || b->is_declared) return false;
  return a->cols == SIDE_ONE && b->cols == SIDE_ONE && a->subscripts == b->subscripts;
}

static Status add_assign(Reader *r, AssignKind kind, int name, int value) {
  if (r->p->n_assigns == PROGRAM_ASSIGNS_MAX)
    return reader_fail(r, "the program sets more than %d values", PROGRAM_ASSIGNS_MAX);
  r->p->assigns[r->p->n_assigns++] =
      (ProgramAssign){.kind = (uint8_t)kind, .name = (uint8_t)name, .value = (int16_t)value};
  return STATUS_OK;
}

/* Whether a value of these sides can become the name's; a scalar fills all of it. */
static Status check_sides(Reader *r, int name, int value) {
  ProgramName *n = &r->p->names[name];
  const ProgramNode *v = &r->p->nodes[value];
  if (n->rows == SIDE_COUNT) {
    n->rows = v->rows, n->cols = v->cols;
    return STATUS_OK;
  }
  const bool rows = v->rows == n->rows || v->rows == SIDE_ONE, cols = v->cols == n->cols || v->cols == SIDE_ONE;
  if (rows && cols) return STATUS_OK;
  return reader_fail(r, "'%s' is %s x %s and the value %s x %s", n->text, side_name((Side)n->rows),
                     side_name((Side)n->cols), side_name((Side)v->rows), side_name((Side)v->cols));
}

static Status read_stored_value(Reader *r, int name, ProgramOp *op) {
  int value;
  if (!reader_take(r, "=")) return name_read(r, name);
  Status status = expression_read(r, &value);
  if (!status) status = check_sides(r, name, value);
  if (!status) status = add_assign(r, ASSIGN_SET, name, value);
  if (status) return status;
  op->n_assigns = (uint8_t)(r->p->n_assigns - op->first_assign);
  return STATUS_OK;
}

static Status read_move(Reader *r, bool is_load) {
  const int first = r->p->n_ops;
  ProgramOp *op = NULL;
  do {
    int name;
    Status status = reader_name(r, is_load ? "what is loaded" : "what is stored", &name);
    if (status) return status;
    ProgramName *n = &r->p->names[name];
    if ((status = can_move(r, n, is_load))) return status;
    if (!joins(r, op, name)) {
      if ((status = add_op(r, OP_EVENT, &op))) return status;
      op->event = is_load ? EVENT_LOAD : EVENT_STORE;
      op->first_assign = r->p->n_assigns;
    }
    op->moved[op->n_moved++] = (uint8_t)name;
    set_tile(op, n);
    if (!is_load) {
      r->p->n_ops--; /* what it reads, it reads in this step */
      status = read_stored_value(r, name, op);
      r->p->n_ops++;
      if (status) return status;
      n->is_stored = true;
    } else {
      n->is_loaded = true;
    }
    if ((status = name_defined(r, name))) return status;
  } while (reader_take(r, ","));
  const bool once = is_load && reader_take(r, "once");
  uint8_t when;
  Status status = read_when(r, &when);
  for (int k = first; k < r->p->n_ops; k++) {
    r->p->ops[k].when = when;
    r->p->ops[k].once = once;
  }
  return status ? status : at_end(r);
}

/* ---- Arithmetic ------------------------------------------------------------------------------------------- */

static Status read_mask(Reader *r) {
  int name;
  ProgramOp *op;
  Status status = reader_name(r, "the scores to mask", &name);
  if (!status) status = name_read(r, name);
  if (!status) status = at_end(r);
  if (status) return status;
  const ProgramName *n = &r->p->names[name];
  if (n->rows != SIDE_ROWS || n->cols != SIDE_COLS || (reader_loops(r) & (IN_I | IN_J)) != (IN_I | IN_J))
    return reader_fail(r, "'%s' is no tile of scores, B_r x B_c of one i and j; a mask belongs to those", n->text);
  if ((status = add_op(r, OP_EVENT, &op))) return status;
  op->event = EVENT_MASK;
  op->partial_only = true;
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

static Status read_assignment(Reader *r) {
  int names[TARGETS_MAX], n, value;
  Status status = read_targets(r, names, &n);
  if (status) return status;
  const AssignKind kind = reader_take(r, "+=") ? ASSIGN_ADD : reader_take(r, "*=") ? ASSIGN_TIMES : ASSIGN_SET;
  if (kind == ASSIGN_SET && !reader_take(r, "="))
    return reader_fail(r, "%s%s%s stands where '=', '+=' or '*=' should",
                       reader_at_end(r) ? "the end of the line" : "'", reader_word(r), reader_at_end(r) ? "" : "'");
  if ((status = expression_read(r, &value))) return status;
  for (int k = 0; k < n; k++) {
    if (r->p->names[names[k]].is_input)
      return reader_fail(r, "'%s' is an input; give the result another name", r->p->names[names[k]].text);
    if (kind != ASSIGN_SET && (status = name_read(r, names[k]))) return status;
    if ((status = check_sides(r, names[k], value)) || (status = add_assign(r, kind, names[k], value)) ||
        (status = name_defined(r, names[k])))
      return status;
  }
  return STATUS_OK;
}

/* What the values of a line are made of. */
typedef struct {
  int products, row_products, maxima, divisions, exps, copies;
} Content;

static void look_at(const Program *p, int node, Content *c) {
  const ProgramNode *n = &p->nodes[node];
  c->products += n->kind == NODE_MATMUL && n->cols == SIDE_COLS;
  c->row_products += n->kind == NODE_MATMUL && n->cols != SIDE_COLS;
  c->maxima += n->kind == NODE_MAX || n->kind == NODE_ROW_MAX;
  c->divisions += n->kind == NODE_DIVIDE && p->nodes[n->b].kind != NODE_SQRT_D;
  c->exps += n->kind == NODE_EXP && n->rows == SIDE_ROWS && n->cols == SIDE_COLS;
  if (n->a >= 0) look_at(p, n->a, c);
  if (n->b >= 0) look_at(p, n->b, c);
}

static bool is_constant(const Program *p, int node) {
  const ProgramNode *n = &p->nodes[node];
  return n->kind == NODE_NUMBER || (n->kind == NODE_NEGATE && is_constant(p, n->a));
}

/* The kind of event that a line is, by what it computes. */
static void set_arithmetic(Reader *r, ProgramOp *op) {
  const Program *p = r->p;
  Content c = {0};
  int set = 0, times = 0;
  for (int k = op->first_assign; k < op->first_assign + op->n_assigns; k++) {
    const ProgramAssign *a = &p->assigns[k];
    set += a->kind == ASSIGN_SET, times += a->kind == ASSIGN_TIMES;
    look_at(p, a->value, &c);
  }
  op->products_d = (uint8_t)c.products;
  op->products_dv = (uint8_t)c.row_products;
  op->n_exps = (uint8_t)c.exps;
  op->event = c.row_products  ? EVENT_ACCUMULATE
              : c.products    ? EVENT_PRODUCT
              : c.maxima      ? EVENT_NEW_MAX
              : times && !set ? EVENT_RESCALE
              : c.divisions   ? EVENT_NORMALISE
                              : EVENT_ACCUMULATE;
}

static Status read_arithmetic(Reader *r) {
  ProgramOp *op;
  const uint8_t first = r->p->n_assigns;
  Status status;
  do {
    if ((status = read_assignment(r))) return status;
  } while (reader_take(r, ";"));
  uint8_t when;
  status = read_when(r, &when);
  if (!status) status = at_end(r);
  if (!status) status = add_op(r, OP_EVENT, &op);
  if (status) return status;
  op->when = when;
  op->first_assign = first;
  op->n_assigns = (uint8_t)(r->p->n_assigns - first);
  bool all_constant = true;
  for (int k = first; k < r->p->n_assigns; k++)
    all_constant &= r->p->assigns[k].kind == ASSIGN_SET && is_constant(r->p, r->p->assigns[k].value);
  if (all_constant)
    op->kind = OP_SET;
  else
    set_arithmetic(r, op);
  const bool product = op->products_d || op->products_dv;
  if (product && (op->loops & (IN_I | IN_J)) != (IN_I | IN_J))
    return reader_fail(r, "a matrix product belongs to a tile; put it inside loops over i and j");
  return STATUS_OK;
}

/* ---- Lines ------------------------------------------------------------------------------------------------ */

static Status copy_text(Reader *r, char *to, size_t size, const char *what) {
  const ProgramLine *line = &r->p->lines[r->p->n_lines - 1];
  const char *text = r->p->text + line->begin;
  size_t skip = strcspn(text, " \n"), length;
  while (skip < line->length && text[skip] == ' ') skip++;
  length = line->length > skip ? line->length - skip : 0;
  if (*to) return reader_fail(r, "there are two lines '%s'", what);
  if (length == 0 || length >= size) return reader_fail(r, "after '%s' come 1 to %d characters", what, (int)size - 1);
  memcpy(to, text + skip, length);
  return STATUS_OK;
}

static Status read_algorithm(Reader *r) {
  Program *p = r->p;
  const Status status = copy_text(r, p->name, sizeof p->name, "algorithm");
  if (status) return status;
  if (strspn(p->name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != strlen(p->name))
    return reader_fail(r, "an algorithm's name has lower-case letters, digits, - and _ only");
  return STATUS_OK;
}

static Status read_tensor(Reader *r) {
  const char *text = reader_word(r);
  Program *p = r->p;
  if (p->n_kernels) return reader_fail(r, "'tensor' stands before the first kernel");
  if (p->n_names == PROGRAM_NAMES_MAX || strlen(text) >= sizeof p->names[0].text || !*text ||
      (text[0] != 'O' && text[0] != 'S' && text[0] != 'P'))
    return reader_fail(r, "'tensor O_is fp32' says that parts of O lie in HBM in fp32; S and P likewise");
  ProgramName *n = &p->names[p->n_names++];
  *n = (ProgramName){.is_fp32 = true, .rows = SIDE_ROWS, .tensor = TENSOR_O, .cols = SIDE_DV};
  strcpy(n->text, text);
  if (text[0] != 'O') n->tensor = text[0] == 'S' ? TENSOR_S : TENSOR_P, n->cols = SIDE_COLS;
  const char *at = strchr(text, '_');
  for (at = at ? at + 1 : ""; *at; at++) {
    const char *const found = strchr("ijs", *at);
    if (!found) return reader_fail(r, "'%s' has a subscript '%c'; there are i, j and s", text, *at);
    n->subscripts |= (uint8_t)(1 << (found - "ijs"));
  }
  r->at++;
  const Status status = reader_expect(r, "fp32", "the one type that can be asked for");
  return status ? status : at_end(r);
}

static Status read_default(Reader *r) {
  do {
    if (reader_take(r, "alone"))
      r->p->is_default = true;
    else if (reader_take(r, "compared"))
      r->p->is_compared = true;
    else
      return reader_fail(r, "after 'default' comes alone (where one is shown), compared (where several are), or both");
  } while (reader_take(r, ","));
  return at_end(r);
}

static Status read_kernel(Reader *r) {
  Program *p = r->p;
  Status status = close_loops(r, 0);
  if (status) return status;
  if (!p->name[0]) return reader_fail(r, "the program begins with 'algorithm NAME'");
  if (p->n_kernels == PROGRAM_KERNELS_MAX)
    return reader_fail(r, "the program has more than %d kernels", PROGRAM_KERNELS_MAX);
  ProgramKernel *k = &p->kernels[p->n_kernels++];
  *k = (ProgramKernel){.first_op = p->n_ops};
  if (reader_at_end(r) || r->words[r->at].kind != WORD_NAME) return reader_fail(r, "after 'kernel' comes its name");
  strcpy(k->name, reader_word(r));
  r->at++;
  for (int n = 0; n < p->n_names; n++) r->definitions[n] = (Definition){0};
  status = read_when(r, &k->when);
  return status ? status : at_end(r);
}

static Status read_header(Reader *r, bool *is_header) {
  Program *p = r->p;
  *is_header = true;
  if (reader_take(r, "algorithm")) return read_algorithm(r);
  if (reader_take(r, "title")) return copy_text(r, p->title, sizeof p->title, "title");
  if (reader_take(r, "summary")) return copy_text(r, p->summary, sizeof p->summary, "summary");
  if (reader_take(r, "source")) return copy_text(r, p->source, sizeof p->source, "source");
  if (reader_take(r, "tensor")) return read_tensor(r);
  if (reader_take(r, "default")) return read_default(r);
  if (reader_take(r, "kernel")) return read_kernel(r);
  *is_header = false;
  return STATUS_OK;
}

/* Closes the loops that a line's indentation ends, and holds it against that of its block. */
static Status enter_block(Reader *r, int indent) {
  if (r->p->n_kernels == 0) return reader_fail(r, "before the first loop comes 'kernel NAME'");
  if (indent == 0) return reader_fail(r, "the lines of a kernel are indented");
  Status status = close_loops(r, indent);
  if (status) return status;
  if (r->n_open == 0) return STATUS_OK;
  OpenLoop *loop = &r->open[r->n_open - 1];
  if (loop->body < 0) {
    loop->body = indent;
    loop->body_line = r->number;
  }
  if (loop->body == indent) return STATUS_OK;
  return reader_fail(r, "the line is indented by %d, but its block by %d (line %d)", indent, loop->body,
                     loop->body_line);
}

static Status read_statement(Reader *r, int indent) {
  Status status = enter_block(r, indent);
  if (status) return status;
  if (reader_take(r, "for")) return read_loop(r, indent);
  if (r->n_open == 0) return reader_fail(r, "a statement stands inside a loop over blocks");
  if (reader_take(r, "load")) return read_move(r, true);
  if (reader_take(r, "store")) return read_move(r, false);
  if (reader_take(r, "mask")) return read_mask(r);
  return read_arithmetic(r);
}

/* What the header words are is looked at before the line is cut into words: titles hold anything. */
static bool is_free_text(const char *line, size_t length) {
  static const char *const WORDS[] = {"algorithm", "title", "summary", "source"};
  for (size_t k = 0; k < sizeof WORDS / sizeof *WORDS; k++) {
    const size_t n = strlen(WORDS[k]);
    if (length > n && strncmp(line, WORDS[k], n) == 0 && line[n] == ' ') return true;
  }
  return false;
}

static Status read_line(Reader *r, size_t begin, size_t length) {
  Program *p = r->p;
  size_t indent = 0;
  const char *line = p->text + begin;
  while (indent < length && line[indent] == ' ') indent++;
  const char *comment = memchr(line, '#', length);
  if (comment) length = (size_t)(comment - line);
  while (length > indent && line[length - 1] == ' ') length--;
  if (length == indent) return STATUS_OK;
  if (p->n_lines == PROGRAM_LINES_MAX) return reader_fail(r, "the program has more than %d lines", PROGRAM_LINES_MAX);
  p->lines[p->n_lines++] = (ProgramLine){
      .begin = (uint16_t)(begin + indent), .length = (uint16_t)(length - indent), .number = (uint8_t)r->number};
  const bool free_text = indent == 0 && is_free_text(line, length);
  Status status = reader_words(r, line + indent, free_text ? strcspn(line, " ") : length - indent);
  bool is_header = false;
  if (!status && indent == 0) status = read_header(r, &is_header);
  if (!status && !is_header) status = read_statement(r, (int)indent);
  const bool opens = r->n_words > 0 && strcmp(r->words[0].text, "for") == 0;
  p->lines[p->n_lines - 1].indent = (uint8_t)(is_header ? 0 : r->n_open + 1 - opens);
  return status;
}

static Status check_text(Reader *r, const char *text, size_t length) {
  if (length >= PROGRAM_TEXT_BYTES)
    return error_set(r->error, STATUS_BAD_FILE, "%s: a program has at most %d bytes; this one has %zu",
                     quote(r->file, strlen(r->file)).text, PROGRAM_TEXT_BYTES - 1, length);
  for (size_t k = 0; k < length; k++) {
    r->number += text[k] == '\n';
    if (text[k] == '\t') return reader_fail(r, "a tab; indent with spaces");
    if ((unsigned char)text[k] < ' ' && text[k] != '\n' && text[k] != '\r')
      return reader_fail(r, "a control character; a program is plain text");
    if (r->number > 255) return reader_fail(r, "the program has more than 255 lines");
  }
  return STATUS_OK;
}

static Status read_program(Program *program, const char *text, size_t length, const char *file, bool may_race,
                           Error *error) {
  Error own = {0};
  Program p = {0};
  Reader r = {.file = file, .p = &p, .error = error ? error : &own, .number = 1};
  Status status = check_text(&r, text, length);
  if (status) return status;
  memcpy(p.text, text, length);
  for (size_t k = 0; k < length; k++)
    if (p.text[k] == '\r') p.text[k] = ' ';
  r.number = 0;
  for (size_t begin = 0; begin < length && !status;) {
    const char *newline = memchr(p.text + begin, '\n', length - begin);
    const size_t end = newline ? (size_t)(newline - p.text) : length;
    r.number++;
    status = read_line(&r, begin, end - begin);
    begin = end + 1;
  }
  r.number += status == STATUS_OK;
  if (!status) status = close_loops(&r, 0);
  if (!status) status = program_complete(&r);
  if (!status && !may_race) status = races_check(&r);
  if (!status) *program = p;
  return status;
}

Status program_read(Program *program, const char *text, size_t length, const char *file, Error *error) {
  return read_program(program, text, length, file, false, error);
}

Status program_read_racing(Program *program, const char *text, size_t length, const char *file, Error *error) {
  return read_program(program, text, length, file, true, error);
}
