/* What follows from a whole program: loads that happen only if a loop has a tile, what `once` leaves out, and how its
 * kernels are launched. */
#include <string.h>

#include "sim/algorithms/language/reader.h"
#include "sim/algorithms/sram.h"

static bool is_read_by(const Reader *r, int name, int op) { return r->read_in[name][op / 8] >> op % 8 & 1; }

static bool lies_in(const Program *p, int op, int loop) { return op > loop && op < p->ops[loop].end; }

/* A load used only inside one masked loop happens only if that loop has a tile: rows that see no key load nothing. */
static void find_needs(Reader *r, int load) {
  Program *p = r->p;
  int only = -1;
  for (int k = 0; k < p->ops[load].n_moved; k++) {
    const int name = p->ops[load].moved[k];
    for (int op = load + 1; op < p->n_ops && p->ops[op].kernel == p->ops[load].kernel; op++) {
      if (p->ops[op].parent != p->ops[load].parent &&
          !lies_in(p, op, p->ops[load].parent < 0 ? op : p->ops[load].parent))
        break;
      if (!is_read_by(r, name, op)) continue;
      int loop = p->ops[op].parent; /* of the loops around the reader, the one beside the load */
      while (loop >= 0 && p->ops[loop].parent != p->ops[load].parent) loop = p->ops[loop].parent;
      if (loop < 0 || (only >= 0 && only != loop)) return;
      only = loop;
    }
  }
  if (only >= 0 && p->ops[only].of) p->ops[load].needs = (int8_t)only;
}

/* `once`: counted where the loops beside the block's own begin, unless an earlier line has counted it. */
static Status find_once(Reader *r, int load) {
  Program *p = r->p;
  ProgramOp *op = &p->ops[load];
  const ProgramName *n = &p->names[op->moved[0]];
  for (int k = p->kernels[op->kernel].first_op; k < load; k++)
    if (p->ops[k].kind == OP_EVENT && p->ops[k].event == EVENT_LOAD && p->ops[k].moved[0] == op->moved[0])
      op->never = true;
  op->first = (uint8_t)(op->loops & ~n->subscripts);
  for (int loop = op->parent; loop >= 0; loop = p->ops[loop].parent) {
    if (p->ops[loop].diagonal)
      return reader_fail(r, "line %d: 'once' along the diagonal; each block comes once there anyway",
                         p->lines[op->line].number);
    if (p->ops[loop].of)
      return reader_fail(r, "line %d: 'once' inside a masked loop: which block comes first depends on the mask",
                         p->lines[op->line].number);
  }
  return STATUS_OK;
}

static Status check_kernel(Reader *r, int k) {
  Program *p = r->p;
  ProgramKernel *kernel = &p->kernels[k];
  if (kernel->first_op == kernel->end_op) return reader_fail(r, "kernel '%s' has no lines", kernel->name);
  int n_outer = 0, last = -1;
  for (int op = kernel->first_op; op < kernel->end_op; op++) {
    n_outer += p->ops[op].kind == OP_LOOP && p->ops[op].parent < 0;
    if (p->ops[op].kind != OP_LOOP || !p->ops[op].every) continue;
    if (kernel->n_every && p->ops[op].parent != last) {
      r->number = p->lines[p->ops[op].line].number;
      return reader_fail(r,
                         "CTAs of a kernel are one nest of 'every', and line %d has one beside this; that is another "
                         "kernel",
                         p->lines[p->ops[last].line].number);
    }
    kernel->n_every++;
    last = op;
  }
  if (kernel->n_every && n_outer > 1)
    return reader_fail(r, "kernel '%s' has CTAs ('every') and a second loop beside them; that is another kernel",
                       kernel->name);
  return STATUS_OK;
}

/* ---- Outputs, tensors, heads ------------------------------------------------------------------------------ */

static int line_number(const Program *p, int line) { return p->lines[line].number; }

static Status check_declarations(Reader *r) {
  const Program *p = r->p;
  for (int k = 0; k < p->n_declarations; k++) {
    const ProgramDeclaration *d = &p->declarations[k];
    const ProgramName *n = &p->names[d->name];
    if (d->role == TENSOR_OUTPUT && !n->is_stored)
      return reader_fail(r, "the program never stores %s, %s; 'store %s'", n->text,
                         p->declares ? "an output" : "the result", n->text);
    if (d->role != TENSOR_BETWEEN || n->kernels) continue;
    r->number = line_number(p, d->line);
    return reader_fail(r, "no line uses '%s'; leave it out", n->text);
  }
  return STATUS_OK;
}

static Status check_moved(Reader *r, int op) {
  const Program *p = r->p;
  for (int k = 0; k < p->ops[op].n_moved; k++) {
    const ProgramName *n = &p->names[p->ops[op].moved[k]];
    if (n->rows != SIDE_ONE || n->cols != SIDE_ONE) continue;
    r->number = line_number(p, p->ops[op].line);
    return reader_fail(r,
                       "'%s' is only ever set to numbers, so its shape is not known; declare it: 'tensor %s: B_r x 1'",
                       n->text, n->text);
  }
  return STATUS_OK;
}

/* In a program that declares nothing, the L that it stores is the log-sum-exp of attention. */
static void imply_L(Program *p) {
  if (p->declares || p->n_declarations == PROGRAM_DECLARATIONS_MAX) return;
  const ProgramDeclaration O = p->declarations[p->n_declarations - 1];
  for (int n = 0; n < p->n_names; n++)
    if (strcmp(p->names[n].text, "L_i") == 0 && p->names[n].is_stored)
      p->declarations[p->n_declarations++] = (ProgramDeclaration){
          .role = TENSOR_OUTPUT, .name = (uint8_t)n, .line = O.line, .result = 1, .formula = O.formula};
}

/* A program loops over query heads in all of its kernels, or in none. */
static Status find_heads(Reader *r) {
  Program *p = r->p;
  for (int k = 0; k < p->n_kernels; k++) {
    bool has = false;
    for (int op = p->kernels[k].first_op; op < p->kernels[k].end_op; op++)
      has |= p->ops[op].kind == OP_LOOP && p->ops[op].dim == DIM_H;
    if (k == 0) p->over_heads = has;
    if (has != p->over_heads)
      return reader_fail(r, "kernel '%s' loops over 'head h' and '%s' does not; all do, or none",
                         p->kernels[has ? k : 0].name, p->kernels[has ? 0 : k].name);
  }
  return STATUS_OK;
}

/* ---- The whole -------------------------------------------------------------------------------------------- */

static void describe_loops(Program *p, ProgramOp *o) {
  p->skips |= o->of;
  p->splits |= o->kind == OP_LOOP && o->dim == DIM_S;
  p->diagonal |= o->kind == OP_LOOP && o->diagonal;
  p->whole_head &= !o->every;
  for (int loop = o->kind == OP_END ? -1 : o->parent; loop >= 0; loop = p->ops[loop].parent) {
    o->masked |= p->ops[loop].of;
    o->columns_split |= p->ops[loop].in_split;
    o->diagonal |= p->ops[loop].diagonal;
  }
}

static Status describe_event(Reader *r, int op) {
  ProgramOp *o = &r->p->ops[op];
  if (o->event == EVENT_LOAD) find_needs(r, op);
  if (o->once && find_once(r, op)) return STATUS_BAD_FILE;
  o->moves = o->event == EVENT_LOAD || o->event == EVENT_STORE || o->event == EVENT_ADD;
  o->fixed_bytes = (uint8_t)(o->words ? o->words * STATS_BYTES : o->is_fp32 ? STATS_BYTES : 0);
  o->is_checked = o->when || o->partial_only || o->once || o->needs >= 0;
  return o->moves ? check_moved(r, op) : STATUS_OK;
}

Status program_complete(Reader *r) {
  Program *p = r->p;
  Status status;
  if (!p->name[0]) return reader_fail(r, "the text holds no program; it begins with 'algorithm NAME'");
  if (!p->n_kernels) return reader_fail(r, "the program has no kernel; 'kernel NAME' begins one");
  if (!p->title[0]) memcpy(p->title, p->name, sizeof p->name);
  for (int k = 0; k < p->n_kernels; k++) {
    p->kernels[k].end_op = k + 1 < p->n_kernels ? p->kernels[k + 1].first_op : p->n_ops;
    if ((status = check_kernel(r, k))) return status;
  }
  if ((status = check_declarations(r)) || (status = find_heads(r))) return status;
  imply_L(p);
  p->whole_head = true;
  for (int op = 0; op < p->n_ops; op++) {
    ProgramOp *o = &p->ops[op];
    o->when |= p->kernels[o->kernel].when;
    p->writes_lse |= (o->when & WHEN_LSE) != 0;
    describe_loops(p, o);
    if (o->kind == OP_EVENT && (status = describe_event(r, op))) return status;
  }
  if (p->n_ops == PROGRAM_OPS_MAX) return reader_fail(r, "the program has more than %d steps", PROGRAM_OPS_MAX);
  if (program_tensors(r)) return STATUS_BAD_FILE;
  sram_find_places(p);
  program_name_statistics(p);
  p->ops[p->n_ops++] = (ProgramOp){.kind = OP_STOP, .parent = -1, .end = -1, .needs = -1};
  return STATUS_OK;
}
