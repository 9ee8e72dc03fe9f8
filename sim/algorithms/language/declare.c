/* Declarations: what a tensor is for, its shape, and after `=` what it must be.
 *
 *     input  K_j, V_j: B_c x d
 *     input  O_i, L_i = attention(Q, K, V)
 *     output dQ_i, dK_j, dV_j = gradient(Q, K, V, dO)
 *     tensor A_i fp32
 *     size   c = 16 */
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/language/reader.h"

static Status read_side(Reader *r, uint8_t *side) {
  int at;
  if (reader_take(r, "1")) {
    *side = SIDE_ONE;
    return STATUS_OK;
  }
  if (!reader_side_at(r, &at)) return reader_fail(r, "a shape is two of B_r, B_c, d, d_v, 1 or a size: 'B_r x d'");
  r->at++;
  *side = (uint8_t)at;
  return STATUS_OK;
}

static Status add(Reader *r, TensorRole role, int *name) {
  static const char *const WHAT[] = {"tensor", "input", "output"};
  Program *p = r->p;
  const char *text = reader_word(r);
  uint8_t subscripts;
  if (reader_at_end(r) || r->words[r->at].kind != WORD_NAME || strchr(text, '\''))
    return reader_fail(r, "after '%s' come names of blocks, such as Q_i", WHAT[role]);
  Status status = reader_subscripts(r, text, true, &subscripts);
  if (status) return status;
  const int n_before = p->n_names;
  if ((status = reader_add_name(r, text, subscripts, name))) return status;
  if (p->n_names == n_before) return reader_fail(r, "'%s' is declared twice", text);
  if (p->n_declarations == PROGRAM_DECLARATIONS_MAX)
    return reader_fail(r, "the program declares more than %d tensors", PROGRAM_DECLARATIONS_MAX);
  p->declarations[p->n_declarations++] = (ProgramDeclaration){
      .role = (uint8_t)role, .name = (uint8_t)*name, .line = (uint8_t)(p->n_lines ? p->n_lines - 1 : 0)};
  p->names[*name].is_input = role == TENSOR_INPUT;
  p->names[*name].is_output = role == TENSOR_OUTPUT;
  r->at++;
  return STATUS_OK;
}

/* Rows and columns of a formula's k-th result. */
static Status result_sides(Reader *r, int node, int k, int n, uint8_t *rows, uint8_t *cols) {
  const ProgramNode *f = &r->p->nodes[node];
  const int most = f->kind == NODE_ATTENTION ? 2 : f->kind == NODE_GRADIENT ? 3 : 1;
  *rows = f->rows, *cols = f->cols;
  if (n > most) return reader_fail(r, "the formula gives %d, and %d names stand before it", most, n);
  if (f->kind == NODE_ATTENTION && k == 1) *cols = SIDE_ONE; /* L */
  if (f->kind != NODE_GRADIENT || k == 0) return STATUS_OK;
  const ProgramNode *arguments = &r->p->nodes[k == 1 ? f->a : f->b];
  const ProgramNode *like = &r->p->nodes[k == 1 ? arguments->b : arguments->a];
  *rows = like->rows, *cols = like->cols;
  return STATUS_OK;
}

static void set_sides(ProgramName *n, int rows, int cols, bool is_fp32) {
  n->rows = (uint8_t)rows, n->cols = (uint8_t)cols;
  n->is_fp32 = is_fp32 || (cols == SIDE_ONE && rows != SIDE_UNKNOWN);
}

/* The subscripts of a block have those of its sides. */
static Status check_block(Reader *r, const ProgramName *n) {
  const uint8_t needed = sides_blocks(n->rows, n->cols);
  if (needed & ~n->subscripts)
    return reader_fail(r, "'%s' is %s x %s; write its block: %.*s_%s", n->text, reader_side(r, n->rows),
                       reader_side(r, n->cols), (int)strcspn(n->text, "_"), n->text,
                       needed == (IN_I | IN_J) ? "ij"
                       : needed == IN_I        ? "i"
                                               : "j");
  return STATUS_OK;
}

static Status read_formula(Reader *r, const int *names, int n, bool has_shape) {
  Program *p = r->p;
  int node;
  r->in_formula = true;
  const TensorRole role = (TensorRole)p->declarations[p->n_declarations - n].role;
  for (int k = 0; k < n; k++) p->names[names[k]].is_input = false; /* no formula is over what it makes */
  Status status = expression_read(r, &node);
  for (int k = 0; k < n; k++) p->names[names[k]].is_input = role == TENSOR_INPUT;
  r->in_formula = false;
  for (int k = 0; k < n && !status; k++) {
    uint8_t rows, cols;
    ProgramDeclaration *d = &p->declarations[p->n_declarations - n + k];
    ProgramName *name = &p->names[names[k]];
    d->formula = (int16_t)(node + 1);
    d->result = (uint8_t)k;
    if ((status = result_sides(r, node, k, n, &rows, &cols))) break;
    if (has_shape && !r->learns && (rows != name->rows || cols != name->cols))
      return reader_fail(r, "'%s' is declared %s x %s, and its formula gives %s x %s", name->text,
                         reader_side(r, name->rows), reader_side(r, name->cols), reader_side(r, rows),
                         reader_side(r, cols));
    if (!has_shape && rows != SIDE_UNKNOWN) set_sides(name, rows, cols, name->is_fp32);
  }
  return status;
}

/* The names of a line, their shape, type and formula. */
static Status read_body(Reader *r, TensorRole role) {
  int names[PROGRAM_DECLARATIONS_MAX], n = 0;
  uint8_t rows = SIDE_UNKNOWN, cols = SIDE_UNKNOWN;
  Status status;
  do {
    if ((status = add(r, role, &names[n]))) return status;
    n++;
  } while (reader_take(r, ","));
  const bool has_shape = reader_take(r, ":");
  if (has_shape) {
    if ((status = read_side(r, &rows)) || (status = reader_expect(r, "x", "a shape is 'B_r x d'")) ||
        (status = read_side(r, &cols)))
      return status;
  }
  const bool fp32 = reader_take(r, "fp32");
  for (int k = 0; k < n; k++) {
    ProgramName *name = &r->p->names[names[k]];
    if (has_shape) set_sides(name, rows, cols, fp32);
    name->is_fp32 |= fp32;
  }
  const bool has_formula = reader_take(r, "=");
  if (has_formula && role == TENSOR_BETWEEN)
    return reader_fail(r, "a 'tensor' is set by the program; only inputs and outputs have a formula");
  if (has_formula && (status = read_formula(r, names, n, has_shape))) return status;
  if (!has_formula && !has_shape && role == TENSOR_INPUT)
    return reader_fail(r, "an input has a shape, 'input %s: B_r x d', or a formula, '= attention(Q, K, V)'",
                       r->p->names[names[0]].text);
  for (int k = 0; k < n && !r->learns && !status; k++)
    if (has_shape || has_formula) status = check_block(r, &r->p->names[names[k]]);
  if (status || reader_at_end(r)) return status;
  return reader_fail(r,
                     "'%s' is too much here; a declaration is 'input Q_i: B_r x d', then fp32, then '= FORMULA', and "
                     "fp32 is the one type that can be asked for",
                     reader_word(r));
}

Status declaration_read(Reader *r, TensorRole role) {
  if (r->p->n_kernels) return reader_fail(r, "'input', 'output' and 'tensor' stand before the first kernel");
  r->p->declares |= role != TENSOR_BETWEEN;
  return read_body(r, role);
}

Status size_read(Reader *r) {
  Program *p = r->p;
  int side;
  const char *text = reader_word(r);
  if (p->n_kernels || p->n_declarations) return reader_fail(r, "'size' stands before the first input");
  if (p->n_sizes == PROGRAM_SIZES_MAX) return reader_fail(r, "the program names more than %d sizes", PROGRAM_SIZES_MAX);
  if (reader_at_end(r) || r->words[r->at].kind != WORD_NAME || strlen(text) >= sizeof p->sizes[0].text ||
      strpbrk(text, "_'") || reader_side_at(r, &side))
    return reader_fail(r, "'size c = 16' names a side; its name is letters and digits, and no other side's");
  ProgramSize *size = &p->sizes[p->n_sizes];
  strcpy(size->text, text);
  r->at++;
  const Status status = reader_expect(r, "=", "'size c = 16'");
  if (status) return status;
  char *end;
  const long value = strtol(reader_word(r), &end, 10);
  if (reader_at_end(r) || *end || value < 1 || value > SIZE_MOST)
    return reader_fail(r, "a size is a whole number from 1 to %d", SIZE_MOST);
  size->value = (int32_t)value;
  p->n_sizes++;
  r->at++;
  return reader_finish(r);
}

/* ---- What a program begins with that declares nothing ------------------------------------------------------ */

Status declarations_imply(Reader *r) {
  static const struct {
    TensorRole role;
    const char *text;
  } LINES[] = {{TENSOR_INPUT, "Q_i: B_r x d"},
               {TENSOR_INPUT, "K_j: B_c x d"},
               {TENSOR_INPUT, "V_j: B_c x d_v"},
               {TENSOR_OUTPUT, "O_i = attention(Q, K, V)"}};
  if (r->p->declares) {
    for (int k = 0; k < r->p->n_declarations; k++) r->p->names[r->p->declarations[k].name].is_declared = true;
    return STATUS_OK;
  }
  Word kept[WORDS_MAX];
  const int n_kept = r->n_words, at = r->at;
  memcpy(kept, r->words, sizeof kept);
  Status status = STATUS_OK;
  for (size_t k = 0; k < COUNT_OF(LINES) && !status; k++) {
    status = reader_words(r, LINES[k].text, strlen(LINES[k].text));
    if (!status) status = read_body(r, LINES[k].role);
  }
  memcpy(r->words, kept, sizeof kept);
  r->n_words = n_kept, r->at = at;
  return status;
}
