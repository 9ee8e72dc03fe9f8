#include "sim/algorithms/schedule.h"

#include <stdio.h>
#include <string.h>
#include "sim/base/text_add.h"

/* What articles call it. */
static const char *const ALIASES[][2] = {{"naive", "standard"}};

const Schedule *schedule_find(const char *name) {
  for (size_t k = 0; k < COUNT_OF(ALIASES); k++)
    if (strcmp(ALIASES[k][0], name) == 0) name = ALIASES[k][1];
  for (int k = 0; k < N_PROGRAMS; k++)
    if (strcmp(SCHEDULES[k]->name, name) == 0) return SCHEDULES[k];
  return NULL;
}

Status schedule_takes(const Schedule *s, const Plan *plan, Error *error) {
  const Shape *shape = &plan->shape;
  if (s->diagonal && (plan->tiling.B_r != plan->tiling.B_c || shape->N_q != shape->N_k))
    return error_refuse(
        error, "%s walks the diagonal of tiles, row block i with column block i; it takes B_r = B_c and N_q = N_k",
        s->name);
  if (s->diagonal && (!shape->causal || shape->window || shape->sided || shape->pattern))
    return error_refuse(
        error,
        "%s walks the diagonal: what is before it is seen, what is after it hidden; it takes --causal and no "
        "other mask",
        s->name);
  if (s->declares && !plan_keys_are_plain(plan))
    return error_refuse(
        error,
        "%s declares its own tensors, so --v-in-k and --kv-dtype do not say which are meant; write it in the "
        "program",
        s->name);
  for (int k = 0; k < s->n_nodes; k++) {
    const ProgramNode *n = &s->nodes[k];
    if (n->kind != NODE_FIRST) continue;
    const int64_t first = schedule_side(s, plan, n->cols), all = schedule_side(s, plan, s->nodes[n->a].cols);
    if (first > all)
      return error_refuse(error,
                          "%s takes the first %lld columns of %lld; the first must be no more (--head-dim-v, -d)",
                          s->name, (long long)first, (long long)all);
  }
  return STATUS_OK;
}

PairCost schedule_pair_cost(const Schedule *s, const Plan *plan) {
  const double d = (double)plan->shape.d, d_v = (double)plan->shape.d_v;
  PairCost cost = {.is_all = !s->diagonal};
  for (int k = 0; k < s->n_ops; k++) {
    const ProgramOp *op = &s->ops[k];
    if (op->kind != OP_EVENT || (op->when & ~schedule_when(plan))) continue;
    cost.flops += 2 * (op->products_d * d + op->products_dv * d_v);
    cost.exps += op->n_exps;
    cost.is_all &= op->n_products == 0;
  }
  return cost;
}

bool schedule_stores(const Schedule *s, const Plan *plan, int name) {
  for (int op = 0; op < s->n_ops; op++)
    for (int k = 0; k < s->ops[op].n_moved; k++)
      if (event_goes_out(s->ops[op].event) && s->ops[op].moved[k] == name && !(s->ops[op].when & ~schedule_when(plan)))
        return true;
  return false;
}

/* Values of a block's row that lie in HBM between a store and a load. */
Wide schedule_intermediate_bytes(const Schedule *s, const Plan *plan, bool *overflow) {
  Wide sum = 0;
  for (int k = 0; k < s->n_names; k++) {
    const ProgramName *n = &s->names[k];
    if (!n->is_loaded || n->is_output || !schedule_stores(s, plan, k)) continue;
    Wide bytes = n->is_fp32 ? STATS_BYTES : wide(plan->element_bytes);
    bytes = checked_mul(bytes, wide(schedule_side_whole(s, plan, n->rows)), overflow);
    bytes = checked_mul(bytes, wide(schedule_side_whole(s, plan, n->cols)), overflow);
    bytes = checked_mul(bytes, wide(schedule_matrices(plan, n)), overflow);
    sum = checked_add(sum, bytes, overflow);
  }
  return sum;
}

int schedule_main_kernel(const Schedule *s) {
  int most = -1, main = 0;
  for (int k = 0; k < s->n_kernels; k++) {
    int n = 0;
    for (int op = s->kernels[k].first_op; op < s->kernels[k].end_op; op++)
      n += s->ops[op].products_d + s->ops[op].products_dv;
    if (n > most) most = n, main = k;
  }
  return main;
}

static NameSet moved_names(const Schedule *s, unsigned when) {
  NameSet names = 0;
  for (int op = 0; op < s->n_ops; op++)
    for (int k = 0; k < s->ops[op].n_moved && !(s->ops[op].when & ~when); k++) names |= name_bit(s->ops[op].moved[k]);
  return names;
}

const char *schedule_moved_title(const Schedule *s, unsigned when, int tensor, const char *between, char *text,
                                 size_t size) {
  const NameSet moved = moved_names(s, when);
  *text = '\0';
  for (int n = 0; n < s->n_names && s->tensors[tensor].is_stats; n++) {
    char letters[sizeof s->names[n].text];
    if (s->names[n].tensor != tensor || !(moved & name_bit(n))) continue;
    snprintf(letters, sizeof letters, "%.*s", (int)strcspn(s->names[n].text, "_'"), s->names[n].text);
    if (!strstr(text, letters)) text_add(text, size, "%s%s", *text ? between : "", letters);
  }
  if (!*text) snprintf(text, size, "%s", s->tensors[tensor].title);
  return text;
}

bool schedule_ctas_go_back(const Schedule *s, const Plan *plan, int kernel, Dim dim) {
  for (int op = s->kernels[kernel].first_op; op < s->kernels[kernel].end_op; op++)
    if (s->ops[op].kind == OP_LOOP && s->ops[op].every && s->ops[op].dim == dim)
      return schedule_backwards(plan, &s->ops[op]);
  return false;
}

bool schedule_owns_columns(const Schedule *s) {
  const ProgramKernel *k = &s->kernels[schedule_main_kernel(s)];
  bool rows = false, columns = false;
  for (int op = k->first_op; op < k->end_op; op++) {
    if (s->ops[op].kind != OP_LOOP || !s->ops[op].every) continue;
    rows |= s->ops[op].dim == DIM_I;
    columns |= s->ops[op].dim == DIM_J;
  }
  return columns && !rows;
}
