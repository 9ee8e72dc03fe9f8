/* Loops and conditions of a program. */

#include "sim/algorithms/language/reader.h"

Status reader_add_op(Reader *r, OpKind kind, ProgramOp **op) {
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

Status reader_close_loops(Reader *r, int indent) {
  while (r->n_open > 0 && r->open[r->n_open - 1].indent >= indent) {
    const OpenLoop loop = r->open[r->n_open - 1];
    if (loop.body < 0)
      return reader_fail(r, "the loop of line %d has no lines in it; indent what it repeats",
                         r->p->lines[r->p->ops[loop.op].line].number);
    ProgramOp *end;
    Status status = reader_add_op(r, OP_END, &end);
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

static Status read_switch(Reader *r, uint8_t *when) {
  if (reader_take(r, "lse")) {
    *when |= WHEN_LSE;
    return STATUS_OK;
  }
  r->at++; /* splits */
  const bool more = reader_take(r, ">");
  if (!more && !reader_take(r, "=")) return reader_fail(r, "after 'splits' comes '> 1' or '= 1'");
  if (!reader_take(r, "1")) return reader_fail(r, "after 'splits' comes '> 1' or '= 1'");
  *when |= more ? WHEN_SPLIT : WHEN_WHOLE;
  return STATUS_OK;
}

Status condition_read(Reader *r, uint8_t *when, int16_t *test) {
  *when = 0;
  if (test) *test = 0;
  if (!reader_take(r, "when")) return STATUS_OK;
  do {
    int node;
    Status status;
    if (reader_is(r, "lse") || reader_is(r, "splits"))
      status = read_switch(r, when);
    else if (!test)
      return reader_fail(r,
                         "a condition here is lse, splits > 1 or splits = 1, joined by and; what moves never depends "
                         "on values");
    else if (*test)
      return reader_fail(r, "one comparison of values chooses the rows of a line");
    else if (!(status = expression_test(r, &node)))
      *test = (int16_t)(node + 1);
    if (status) return status;
  } while (reader_take(r, "and"));
  if ((*when & WHEN_SPLIT) && (*when & WHEN_WHOLE)) return reader_fail(r, "splits > 1 and splits = 1 cannot both hold");
  return STATUS_OK;
}

/* ---- Loops ------------------------------------------------------------------------------------------------ */

static Status read_dim(Reader *r, uint8_t *dim) {
  static const char USAGE[] = "row block i, column block j, split s, head h";
  static const struct {
    const char *first, *second, *variable;
  } DIMS[] = {{"row", "block", "i"}, {"column", "block", "j"}, {"split", "", "s"}, {"head", "", "h"}};
  for (int d = 0; d < DIM_COUNT; d++) {
    if (!reader_take(r, DIMS[d].first)) continue;
    *dim = (uint8_t)d;
    const Status status = *DIMS[d].second ? reader_expect(r, DIMS[d].second, USAGE) : STATUS_OK;
    return status ? status : reader_expect(r, DIMS[d].variable, USAGE);
  }
  return reader_fail(r, "a loop runs over 'row block i', 'column block j', 'split s' or 'head h'");
}

/* `with column block j`: along the diagonal of tiles. */
static Status read_with(Reader *r, ProgramOp *loop) {
  uint8_t other;
  if (!reader_take(r, "with")) return STATUS_OK;
  const Status status = read_dim(r, &other);
  if (status) return status;
  if ((1 << loop->dim | 1 << other) != (IN_I | IN_J))
    return reader_fail(r, "'row block i with column block j' is the diagonal; other blocks do not go together");
  loop->dim = DIM_I;
  loop->diagonal = true;
  return STATUS_OK;
}

static Status read_order(Reader *r, ProgramOp *loop) {
  if (!reader_take(r, ",")) return STATUS_OK;
  loop->backwards = reader_take(r, "last");
  loop->either_way = !loop->backwards && reader_take(r, "either");
  if ((loop->backwards && reader_take(r, "first")) || (loop->either_way && reader_take(r, "way"))) return STATUS_OK;
  return reader_fail(r, "after the comma comes 'either way' (a launch may walk the blocks backwards) or 'last first'");
}

static Status check_loop(Reader *r, const ProgramOp *op) {
  const uint8_t around = reader_loops(r);
  if (r->n_open == PROGRAM_DEPTH_MAX || (around & reader_dims(op)))
    return reader_fail(r, "a loop around this one runs over the same blocks already");
  if (op->every && r->n_open && !r->p->ops[r->open[r->n_open - 1].op].every)
    return reader_fail(r, "'every' (a CTA each) stands inside 'each' (in turn); CTAs are the outer loops");
  if (op->of && (op->dim > DIM_J || op->diagonal)) return reader_fail(r, "'of' belongs to row and column blocks");
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

static Status read_what(Reader *r, ProgramOp *loop) {
  loop->every = reader_take(r, "every");
  if (!loop->every && !reader_take(r, "each"))
    return reader_fail(r, "after 'for' comes 'every' (in parallel, a CTA each) or 'each' (in turn)");
  Status status = read_dim(r, &loop->dim);
  if (!status) status = read_with(r, loop);
  if (status) return status;
  if (reader_take(r, "of")) {
    loop->of = true;
    if (!reader_take(r, loop->dim == DIM_J ? "i" : "j"))
      return reader_fail(r, "'%s of %s': the tiles that the mask lets the other side see",
                         loop->dim == DIM_J ? "column block j" : "row block i", loop->dim == DIM_J ? "i" : "j");
  }
  if (reader_take(r, "in")) {
    loop->in_split = true;
    if (!reader_take(r, "s")) return reader_fail(r, "after 'in' comes s, the split");
  }
  if (!(status = read_order(r, loop))) status = reader_finish(r);
  return status ? status : check_loop(r, loop);
}

Status loop_read(Reader *r, int indent) {
  ProgramOp loop = {0};
  Status status = read_what(r, &loop);
  if (status) return status;
  if (r->n_open == 0) r->p->n_passes++;
  for (int k = 0; k < 2; k++) { /* enters; tests */
    ProgramOp *op;
    if ((status = reader_add_op(r, k ? OP_TEST : OP_LOOP, &op))) return status;
    op = &r->p->ops[r->p->n_ops - 1];
    op->dim = loop.dim, op->of = loop.of, op->in_split = loop.in_split, op->diagonal = loop.diagonal;
    op->either_way = loop.either_way, op->backwards = loop.backwards, op->every = loop.every;
    if (k == 0) r->open[r->n_open++] = (OpenLoop){.op = (int8_t)(r->p->n_ops - 1), .indent = indent, .body = -1};
  }
  return STATUS_OK;
}
