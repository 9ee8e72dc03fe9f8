/* Finding a place: down the loops, past all that is over before it. */
#include "sim/algorithms/walk/place.h"

/* The line through the last two counts: where it meets what is wanted. */
typedef struct {
  double x0, y0, x1, y1;
} Secant;

/* An iteration strictly between two: where the secant says, and every fourth time halfway, so that it ends soon. */
static int64_t between(int64_t low, int64_t high, const Secant *l, double wanted, int nth) {
  if (nth % 4 == 3 || l->y1 == l->y0) return low + (high - low) / 2;
  const double x = l->x1 + (wanted - l->y1) * (l->x1 - l->x0) / (l->y1 - l->y0);
  return x < (double)(low + 1) ? low + 1 : x >= (double)(high - 1) ? high - 1 : (int64_t)x;
}

/* The iterations of a loop that are over after *left, of all that the loop counts, and what is left of these. */
static int64_t find_iteration(const Schedule *s, const Plan *plan, int loop, const Cursor *c, PlaceBlocks *r,
                              const CountForm *form, Wide all, Wide *left) {
  const ProgramOp *op = &s->ops[loop];
  const int64_t split = c->split > 0 ? c->split : 0;
  int64_t low = 0, high = c->n[op->dim]; /* low iterations take no more than *left, high more */
  Wide before = 0;
  Secant line = {0, 0, (double)high, (double)all};
  for (int nth = 0; high - low > 1; nth++) {
    const int64_t middle = between(low, high, &line, (double)*left, nth);
    r->of[op->dim] = count_iterations(s, plan, loop, split, 0, middle);
    const Wide n = count_by_form(s, plan, form, r);
    line = (Secant){line.x1, line.y1, (double)middle, (double)n};
    if (n <= *left) {
      low = middle;
      before = n;
    } else {
      high = middle;
    }
  }
  *left -= before;
  return low;
}

/* Moves the cursor to the last place before which no more than `wanted` is counted; the rest of it is returned. */
static Wide descend(const Schedule *s, const Plan *plan, Cursor *c, CountWhat what, Wide wanted) {
  PlaceBlocks r = place_all_blocks(plan);
  CountForm form;
  Wide left = wanted;
  *c = (Cursor){0};
  walk_begin(c);
  while (s->ops[c->op].kind != OP_STOP) {
    const ProgramOp *op = &s->ops[c->op];
    const bool is_loop = op->kind == OP_LOOP;
    count_form(s, plan, c->op, is_loop ? op->end : c->op + 1, what, &form);
    const Wide n = count_by_form(s, plan, &form, &r);
    if (n <= left) {
      left -= n;
      c->op = (uint8_t)(is_loop ? op->end + 1 : c->op + 1);
      continue;
    }
    if (!is_loop) break;
    walk_enter_loop(plan, op, c);
    const int loop = c->op++;
    c->at[op->dim] = find_iteration(s, plan, loop, c, &r, &form, n, &left);
    if (what == COUNT_STEPS && left == 0) break; /* before the test */
    walk_set_block(plan, op, c);
    r.of[op->dim] = count_iterations(s, plan, loop, c->split > 0 ? c->split : 0, c->at[op->dim], c->at[op->dim] + 1);
    c->op++;
  }
  c->done = s->ops[c->op].kind == OP_STOP;
  return left;
}

Wide place_step(const Schedule *s, const Plan *plan, const Cursor *c) {
  const PlaceBlocks all = place_all_blocks(plan);
  CountPart parts[COUNT_PARTS_MAX];
  const int n = count_parts(s, plan, c, &all, parts);
  Wide steps = 0;
  for (int k = 0; k < n; k++) {
    CountForm form;
    count_form(s, plan, parts[k].first, parts[k].end, COUNT_STEPS, &form);
    steps += count_by_form(s, plan, &form, &parts[k].blocks);
  }
  return steps;
}

bool schedule_seek(const Schedule *s, const Plan *plan, Cursor *c, uint64_t step) {
  *c = (Cursor){0};
  if (step == 0) return true;
  const Wide left = descend(s, plan, c, COUNT_STEPS, step);
  c->step = step - (uint64_t)left;
  return left == 0;
}

uint64_t place_of_bytes(const Schedule *s, const Plan *plan, Wide bytes) {
  Cursor c;
  descend(s, plan, &c, COUNT_BYTES, bytes);
  return (uint64_t)place_step(s, plan, &c);
}
