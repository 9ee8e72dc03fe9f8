/* Finding a step: down the loops, by halves. */
#include "sim/algorithms/walk/count.h"

/* The iterations of a loop that are over after `steps` of its events, and what is left of these. */
static int64_t find_iteration(const Schedule *s, const Plan *plan, int loop, const Cursor *c, CountRanges *r,
                              Wide *steps) {
  const ProgramOp *op = &s->ops[loop];
  const int64_t split = c->split > 0 ? c->split : 0;
  int64_t low = 0, high = c->n[op->dim]; /* low iterations take no more than *steps, high more */
  Wide before = 0;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    r->of[op->dim] = count_iterations(s, plan, loop, split, 0, middle);
    const Wide n = count_steps(s, plan, loop, op->end, r);
    if (n <= *steps) {
      low = middle;
      before = n;
    } else {
      high = middle;
    }
  }
  *steps -= before;
  return low;
}

bool schedule_seek(const Schedule *s, const Plan *plan, Cursor *c, uint64_t step) {
  CountRanges r = count_all(plan);
  Wide left = step;
  *c = (Cursor){0};
  if (step == 0) return true;
  walk_begin(c);
  while (s->ops[c->op].kind != OP_STOP) {
    const ProgramOp *op = &s->ops[c->op];
    if (op->kind != OP_LOOP) {
      const Wide n = op->kind == OP_EVENT ? count_steps(s, plan, c->op, c->op + 1, &r) : 0;
      if (n > left) break;
      left -= n;
      c->op++;
      continue;
    }
    const Wide n = count_steps(s, plan, c->op, op->end, &r);
    if (n <= left) {
      left -= n;
      c->op = (uint8_t)(op->end + 1);
      continue;
    }
    walk_enter_loop(plan, op, c);
    const int loop = c->op++;
    c->at[op->dim] = find_iteration(s, plan, loop, c, &r, &left);
    if (left == 0) break; /* before the test */
    walk_set_block(plan, op, c);
    r.of[op->dim] = count_iterations(s, plan, loop, c->split > 0 ? c->split : 0, c->at[op->dim], c->at[op->dim] + 1);
    c->op++;
  }
  c->step = step - (uint64_t)left;
  c->done = s->ops[c->op].kind == OP_STOP;
  return left == 0;
}
