#include "sim/algorithms/layout.h"

#include "sim/algorithms/schedule.h"

/* Places `bytes` behind what is there: returns their address and moves *end to the next line. */
static uint64_t place(Wide *end, Wide bytes) {
  const Wide base = *end;
  *end = (base + bytes + LAYOUT_LINE_BYTES - 1) / LAYOUT_LINE_BYTES * LAYOUT_LINE_BYTES;
  return (uint64_t)base;
}

typedef enum { GROUP_INPUTS = 0, GROUP_OUTPUTS, GROUP_TILES, GROUP_OTHERS, GROUP_COLUMNS, GROUP_PARTS, N_GROUPS } Group;

static Group group_of(const Program *p, const ProgramName *n) {
  if (n->subscripts & IN_S) return GROUP_PARTS;
  if (n->is_input) return GROUP_INPUTS;
  if (p->tensors[n->tensor].is_stats) return GROUP_COLUMNS;
  if (p->tensors[n->tensor].role == TENSOR_OUTPUT) return GROUP_OUTPUTS;
  return sides_are_tile(n->rows, n->cols) ? GROUP_TILES : GROUP_OTHERS;
}

/* Whether a name has a place: it is loaded or stored, or has room all the same. */
static bool layout_has(const Program *p, int name) {
  const ProgramName *n = &p->names[name];
  return n->is_loaded || n->is_stored || (n->tensor < p->n_tensors && sides_are_tile(n->rows, n->cols));
}

/* An earlier name of the same matrix; -1: none. Columns are apart. */
static int same_before(const Program *p, int name) {
  const ProgramName *n = &p->names[name];
  for (int k = 0; k < name && !p->tensors[n->tensor].is_stats; k++)
    if (p->names[k].tensor == n->tensor && layout_has(p, k) && group_of(p, &p->names[k]) == group_of(p, n)) return k;
  return -1;
}

static void place_name(Layout *l, const Program *p, const Plan *plan, int name, Wide *end) {
  const ProgramName *n = &p->names[name];
  const int same = same_before(p, name);
  const Wide element = sides_are_column(n->rows, n->cols) || n->is_fp32
                           ? STATS_BYTES
                           : wide(plan_element(plan, p->tensors[n->tensor].operand));
  const Wide row = wide(schedule_side_whole(p, plan, n->cols)) * element,
             matrix = wide(schedule_side_whole(p, plan, n->rows)) * row;
  const Wide n_parts = n->subscripts & IN_S ? wide(plan->tiling.n_splits) : 1;
  l->element_bytes[name] = (uint8_t)element;
  l->row_bytes[name] = (uint64_t)row;
  l->split_bytes[name] = n_parts > 1 ? (uint64_t)matrix : 0;
  l->base[name] = same >= 0 ? l->base[same] : place(end, n_parts * matrix);
}

/* The papers' m and l have room even where neither is moved. */
static void leave_room_for_columns(const Program *p, const Plan *plan, int n_columns, Wide *end) {
  for (int t = 0; t < p->n_tensors; t++)
    for (int k = n_columns; p->tensors[t].is_stats && p->tensors[t].is_listed && k < 2; k++)
      place(end, wide(plan->shape.N_q) * STATS_BYTES);
}

Status layout_make(Layout *layout, const Program *p, const Plan *plan, Error *error) {
  Wide end = 0;
  *layout = (Layout){.base = {0}};
  for (int group = 0; group < N_GROUPS; group++) {
    int n = 0;
    for (int k = 0; k < p->n_values * p->n_names; k++) { /* tensors in their order, and the names of each */
      const int name = k % p->n_names;
      const ProgramName *of = &p->names[name];
      if (of->tensor != k / p->n_names || !layout_has(p, name) || (int)group_of(p, of) != group) continue;
      place_name(layout, p, plan, name, &end);
      n++;
    }
    if (group == GROUP_COLUMNS) leave_room_for_columns(p, plan, n, &end);
  }
  if (end >> 62 != 0)
    return error_set(error, STATUS_TOO_LARGE,
                     "the tensors of one head do not fit 62 bits of address; a shorter sequence would");
  return STATUS_OK;
}

uint64_t layout_address(const Layout *l, int name, int64_t split, int64_t row, int64_t column) {
  return l->base[name] + (uint64_t)split * l->split_bytes[name] + (uint64_t)row * l->row_bytes[name] +
         (uint64_t)column * l->element_bytes[name];
}
