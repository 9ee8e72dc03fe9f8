/* Races: what two CTAs of a kernel do to the same block. CTAs run in any order, so such a program has no result.
 *
 *     for every column block j            a CTA for each j, beside all others
 *       for each row block i of j
 *         store O_i                       its block does not depend on j: all CTAs store it
 *
 * A kernel's `every` loops are one nest, and a CTA is one iteration of all of them. Two CTAs differ in the index of at
 * least one loop; a name whose subscripts have all of them is therefore a block of one CTA alone. */
#include "sim/algorithms/language/reader.h"

static const char *const VARIABLE[DIM_COUNT] = {"i", "j", "s", "h"};

static int number_of(const Program *p, int op) { return p->lines[p->ops[op].line].number; }

/* The loop of a kernel that tells CTAs apart which a stored name does not; -1: there is none. With splits = 1 a loop
 * over splits has one iteration. */
static int loop_without(const Program *p, int store, int name) {
  const ProgramOp *o = &p->ops[store];
  const ProgramKernel *kernel = &p->kernels[o->kernel];
  for (int op = kernel->first_op; op < kernel->end_op; op++) {
    const ProgramOp *loop = &p->ops[op];
    if (loop->kind != OP_LOOP || !loop->every || (p->names[name].subscripts & reader_dims(loop))) continue;
    if (loop->dim == DIM_S && (o->when & WHEN_WHOLE)) continue;
    return op;
  }
  return -1;
}

/* The first line of its kernel that loads a name; -1: none does. */
static int load_of(const Program *p, int kernel, int name) {
  for (int op = p->kernels[kernel].first_op; op < p->kernels[kernel].end_op; op++)
    for (int k = 0; k < p->ops[op].n_moved && p->ops[op].event == EVENT_LOAD; k++)
      if (p->ops[op].moved[k] == name) return op;
  return -1;
}

static Status fail_at(Reader *r, int store, int name, int loop) {
  const Program *p = r->p;
  const char *variable = VARIABLE[p->ops[loop].dim], *text = p->names[name].text;
  const int load = load_of(p, p->ops[store].kernel, name);
  r->number = number_of(p, store);
  if (load >= 0)
    return reader_fail(
        r,
        "a race: CTAs that differ only in %s store '%s' here and load it in line %d; line %d makes them, "
        "with 'for each' there they are one CTA",
        variable, text, number_of(p, load), number_of(p, loop));
  return reader_fail(r,
                     "a race: CTAs that differ only in %s store the same block '%s'; line %d makes them, with 'for "
                     "each' there they are one CTA",
                     variable, text, number_of(p, loop));
}

/* Additions of many CTAs to one block are atomic; but what they add to is loaded and stored in other kernels. */
static Status fail_beside_add(Reader *r, int add, int name, int load) {
  const Program *p = r->p;
  r->number = number_of(p, add);
  return reader_fail(r,
                     "a race: CTAs add to the same block '%s', and line %d of this kernel loads it; load it in a later "
                     "kernel",
                     p->names[name].text, number_of(p, load));
}

Status races_check(Reader *r) {
  const Program *p = r->p;
  for (int op = 0; op < p->n_ops; op++) {
    const ProgramOp *o = &p->ops[op];
    if (o->kind != OP_EVENT || (o->event != EVENT_STORE && o->event != EVENT_ADD)) continue;
    for (int k = 0; k < o->n_moved; k++) {
      const int name = o->moved[k], loop = loop_without(p, op, name), load = load_of(p, o->kernel, name);
      if (loop < 0) continue;
      if (o->event == EVENT_STORE) return fail_at(r, op, name, loop);
      if (load >= 0) return fail_beside_add(r, op, name, load);
    }
  }
  return STATUS_OK;
}
