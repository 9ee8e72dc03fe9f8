/* The table of tensors: what is moved, counted and shown under one name. Made once a program is read, so that rows come
 * in order of declaration whatever the order of use. */
#include <string.h>

#include "sim/algorithms/language/reader.h"
#include "sim/algorithms/sram.h"

/* The name without subscripts and prime. */
static void letters_of(const char *text, char *letters) {
  const size_t n = strcspn(text, "_'");
  memcpy(letters, text, n);
  letters[n] = '\0';
}

/* The papers' letters, in a program that declares nothing. */
static bool is_letter(const ProgramName *n, const char *letters) {
  return strcspn(n->text, "_'") == 1 && strchr(letters, n->text[0]);
}

/* A column of the rows that nobody has declared, moved or not. */
static bool is_statistic(const ProgramName *n) {
  return !n->is_declared && n->rows == SIDE_ROWS && n->cols == SIDE_ONE;
}

/* The row of that text, added if need be. */
static int row_of(Program *p, const char *text) {
  for (int t = 0; t < p->n_values; t++)
    if (strcmp(p->tensors[t].text, text) == 0) return t;
  ProgramTensor *t = &p->tensors[p->n_values];
  *t = (ProgramTensor){.rows = SIDE_COUNT, .is_fp32 = true};
  strcpy(t->text, text);
  strcpy(t->title, text);
  return p->n_values++;
}

static ProgramTensor *row_of_name(Program *p, const ProgramName *n) {
  char letters[sizeof n->text];
  letters_of(n->text, letters);
  return &p->tensors[row_of(p, letters)];
}

static void add_rows(Program *p, bool (*is_wanted)(const Program *, const ProgramName *)) {
  for (int n = 0; n < p->n_names; n++)
    if (!is_statistic(&p->names[n]) && is_wanted(p, &p->names[n])) row_of_name(p, &p->names[n]);
}

static bool is_declared(const Program *p, const ProgramName *n) { return n->is_declared && p->declares; }
static bool is_own_moved(const Program *p, const ProgramName *n) {
  return (n->is_loaded || n->is_stored) && (p->declares || !is_letter(n, "O"));
}
static bool is_any(const Program *p, const ProgramName *n) {
  (void)n;
  return p->n_names > 0;
}

/* What statistics are called where there is room for their names. */
_Static_assert(PROGRAM_NAMES_MAX + 7 <= VALUES_MAX && VALUES_MAX <= 64, "a row a name, and a bit a row");

/* Whether it has a place of its own in a kernel's SRAM: not in registers, nor where another was. */
static bool has_place(const Program *p, int name) {
  for (int k = 0; k < p->n_kernels; k++)
    if (sram_place(p, k, name) == name) return true;
  return false;
}

static void list_statistics(const Program *p, ProgramTensor *t) {
  char letters[sizeof p->names[0].text];
  for (int n = 0; n < p->n_names; n++) {
    if (!is_statistic(&p->names[n]) || !has_place(p, n)) continue;
    letters_of(p->names[n].text, letters);
    const size_t used = strlen(t->title);
    if (strstr(t->title, letters) || used + 2 + strlen(letters) >= sizeof t->title) continue;
    if (used) strcat(t->title, ", ");
    strcat(t->title, letters);
  }
}

/* Those of the papers' programs in the papers' order; L is what becomes of them. */
static bool are_m_and_l(const Program *p) {
  unsigned seen = 0;
  for (int n = 0; n < p->n_names; n++) {
    if (!is_statistic(&p->names[n])) continue;
    const char *at = strchr("mlL", p->names[n].text[0]);
    if (!at || (p->names[n].text[1] && !strchr("_'", p->names[n].text[1]))) return false;
    seen |= 1u << (at - "mlL");
  }
  return (seen & 3) == 3;
}

static void add_statistics(Program *p, bool implied) {
  ProgramTensor *t = &p->tensors[row_of(p, "stats")];
  *t = (ProgramTensor){.text = "stats", .rows = SIDE_ROWS, .cols = SIDE_ONE, .is_fp32 = true, .is_stats = true};
  t->is_listed = implied;
}

void program_name_statistics(Program *p) {
  for (int k = 0; k < p->n_values; k++) {
    ProgramTensor *t = &p->tensors[k];
    if (t->is_stats && t->is_listed && are_m_and_l(p))
      strcpy(t->title, "m, l");
    else if (t->is_stats)
      list_statistics(p, t);
  }
}

/* A program that declares nothing has the papers' tensors, moved or not; SRAM lists them, but P, which takes the place
 * of S. */
static void find_rows(Program *p) {
  static const char *const IMPLIED[] = {"Q", "K", "V", "S", "P"};
  const bool implied = !p->declares;
  bool statistics = false, moved = implied;
  for (size_t k = 0; implied && k < COUNT_OF(IMPLIED); k++) p->tensors[row_of(p, IMPLIED[k])].is_listed = k < 4;
  add_rows(p, is_declared);
  add_rows(p, is_own_moved);
  if (implied) p->tensors[row_of(p, "O")].is_listed = true;
  for (int n = 0; n < p->n_names; n++) {
    const ProgramName *name = &p->names[n];
    statistics |= is_statistic(name);
    moved |= is_statistic(name) && (name->is_loaded || name->is_stored);
  }
  if (moved) add_statistics(p, implied);
  p->n_tensors = p->n_values;
  if (statistics && !moved) add_statistics(p, implied);
  add_rows(p, is_any);
}

static void describe_rows(Program *p) {
  for (int k = 0; k < p->n_names; k++) {
    ProgramName *n = &p->names[k];
    ProgramTensor *t = is_statistic(n) ? &p->tensors[row_of(p, "stats")] : row_of_name(p, n);
    n->tensor = (uint8_t)(t - p->tensors);
    t->is_moved |= n->is_loaded || n->is_stored;
    if (t->is_stats) continue;
    if (t->rows == SIDE_COUNT) t->rows = n->rows, t->cols = n->cols;
    t->is_fp32 &= n->is_fp32;
    if (n->is_input || n->is_output) t->role = n->is_input ? TENSOR_INPUT : TENSOR_OUTPUT;
    if (t->role == TENSOR_OUTPUT) t->operand = OPERAND_OUT;
  }
}

/* ---- What an operation writes ----------------------------------------------------------------------------- */

/* Of a line of arithmetic: what its last product makes; else the last value of more than one column; else the last. */
static uint8_t written_by(const Program *p, const ProgramOp *op) {
  int most = -1;
  uint8_t name = 0;
  for (int k = op->first_assign; k < op->first_assign + op->n_assigns; k++) {
    const ProgramAssign *a = &p->assigns[k];
    const int rank = node_holds(p, a->value, NODE_MATMUL) ? 2 : p->names[a->name].cols != SIDE_ONE;
    if (rank >= most) most = rank, name = a->name;
  }
  return name;
}

/* A skipped tile is one of what the loop's first product would have made; without one, of what its first line makes. */
static uint8_t skipped_by(const Program *p, int test) {
  for (int op = test + 1; op < p->ops[test].end; op++)
    if (p->ops[op].products_d || p->ops[op].products_dv) return written_by(p, &p->ops[op]);
  for (int op = test + 1; op < p->ops[test].end; op++)
    if (p->ops[op].kind == OP_EVENT) return p->ops[op].n_moved ? p->ops[op].moved[0] : written_by(p, &p->ops[op]);
  return 0;
}

static bool makes_tile(const Program *p, int node) {
  const ProgramNode *n = &p->nodes[node];
  return (n->kind == NODE_MATMUL && sides_are_tile(n->rows, n->cols)) || (n->a >= 0 && makes_tile(p, n->a)) ||
         (n->b >= 0 && makes_tile(p, n->b));
}

/* Tiles are counted by the first product of a loop's body that makes one. */
static void find_counted(Program *p, int op) {
  ProgramOp *o = &p->ops[op];
  for (int k = o->first_assign; k < o->first_assign + o->n_assigns && o->kind == OP_EVENT; k++)
    o->counts_tile |= makes_tile(p, p->assigns[k].value);
  for (int before = 0; before < op; before++)
    if (p->ops[before].counts_tile && p->ops[before].parent == o->parent) o->counts_tile = false;
}

Status program_tensors(Reader *r) {
  Program *p = r->p;
  find_rows(p);
  if (p->n_tensors > TENSORS_MAX) return reader_fail(r, "the program has more than %d tensors in HBM", TENSORS_MAX);
  describe_rows(p);
  for (int k = 0; k < 3; k++)
    if (p->operands[k]) p->tensors[p->names[p->operands[k] - 1].tensor].operand = (uint8_t)(OPERAND_Q + k);
  for (int k = 0; k < p->n_ops; k++) {
    ProgramOp *op = &p->ops[k];
    if (op->kind == OP_EVENT) op->name = op->n_moved ? op->moved[0] : written_by(p, op);
    if (op->kind == OP_TEST) op->name = skipped_by(p, k);
    if (op->kind == OP_EVENT || op->kind == OP_TEST) op->tensor = p->names[op->name].tensor;
    op->operand = p->tensors[op->tensor].operand;
    find_counted(p, k);
  }
  return STATUS_OK;
}
