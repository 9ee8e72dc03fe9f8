/* What lies in SRAM: of the values that are still to be read, the blocks of the loops around the present event. */
#include "viz/scene/snapshot_parts.h"

static SramSizes sizes_of(const Stage *stage) {
  const Plan *p = stage_plan(stage);
  return (SramSizes){p->tiling.B_r, p->tiling.B_c, p->shape.d, p->shape.d_v, p->element_bytes, p->shape.v_in_k, NULL};
}

static void clear(SnapshotSlot *slot, int tensor) {
  *slot = (SnapshotSlot){.tensor = (uint8_t)tensor, .i = -1, .j = -1};
}

static void empty_slots(const Stage *stage, Snapshot *now) {
  const Schedule *s = stage_schedule(stage);
  const SramSizes sizes = sizes_of(stage);
  const SramBudget b = sram_budget_of_kernel(s, now->has_event ? s->ops[now->event.op].kernel : 0, &sizes);
  for (int t = 0; t < s->n_values; t++) {
    SnapshotSlot *slot = &now->slots[t];
    clear(slot, t);
    slot->is_used = b.of[t] + b.in_registers[t] > 0;
    slot->slot_bytes = (uint64_t)(b.of[t] + b.in_registers[t]);
    slot->sram_bytes = (uint64_t)b.of[t];
  }
  now->sram_bytes = (uint64_t)b.bytes;
  now->sram_capacity_bytes = (uint64_t)stage->run.machine.sram_bytes;
}

static int64_t length_of(const Stage *stage, const Event *e, uint8_t side) {
  if (side == SIDE_ROWS) return e->row1 - e->row0;
  return side == SIDE_COLS ? e->col1 - e->col0 : schedule_side(stage_schedule(stage), stage_plan(stage), side);
}

/* `counted`: places whose bytes are in held_bytes already. */
static void fill(const Stage *stage, Snapshot *now, int name, bool is_made, NameSet *counted) {
  const Schedule *s = stage_schedule(stage);
  const Event *e = &now->event;
  const ProgramName *n = &s->names[name];
  const int place = sram_place(s, s->ops[e->op].kernel, name);
  if (place < 0) return;
  SnapshotSlot *slot = &now->slots[s->names[place].tensor];
  const bool rows = sides_have(n->rows, n->cols, SIDE_ROWS), cols = sides_have(n->rows, n->cols, SIDE_COLS);
  const bool is_column = sides_are_column(n->rows, n->cols);
  const uint64_t bytes = (uint64_t)(length_of(stage, e, n->rows) * length_of(stage, e, n->cols)) *
                         (uint64_t)(is_column || !slot->sram_bytes ? STATS_BYTES : now->grid.element_bytes);
  const bool is_new = !(*counted & name_bit(place));
  slot->held_bytes = s->tensors[n->tensor].is_stats ? slot->held_bytes + (is_new ? bytes : 0) : bytes;
  *counted |= name_bit(place);
  slot->is_filled = true;
  slot->is_touched |= is_made;
  slot->tensor = n->tensor;
  slot->i = rows ? e->i : -1;
  slot->j = cols ? e->j : -1;
  slot->row0 = rows ? e->row0 : 0;
  slot->row1 = rows ? e->row1 : 0;
  slot->col0 = cols ? e->col0 : 0;
  slot->col1 = cols ? e->col1 : 0;
}

/* Those that a load would have brought which happens only if a loop has a tile, where it has none. */
static NameSet never_loaded(const Stage *stage, const Event *e) {
  const Schedule *s = stage_schedule(stage);
  const Cursor at = {.i = e->i, .j = e->j, .split = e->split};
  NameSet names = 0;
  for (int op = s->kernels[s->ops[e->op].kernel].first_op; op < e->op; op++)
    if (s->ops[op].kind == OP_EVENT && s->ops[op].needs >= 0 &&
        !walk_has_tile(stage_plan(stage), &s->ops[s->ops[op].needs], &at))
      for (int k = 0; k < s->ops[op].n_moved; k++) names |= name_bit(s->ops[op].moved[k]);
  return names;
}

void snapshot_fill_slots(const Stage *stage, Snapshot *now) {
  const Schedule *s = stage_schedule(stage);
  const Event *e = &now->event;
  empty_slots(stage, now);
  if (!now->has_event || now->step == now->n_steps) return;
  const bool skips = e->kind == EVENT_SKIP;
  NameSet made = skips ? 0 : live_sets(s, e->op), there = stage->live[e->op], counted = 0;
  if (event_goes_out(e->kind) || e->kind == EVENT_MASK)
    for (int k = 0; k < s->ops[e->op].n_moved; k++) made |= name_bit(s->ops[e->op].moved[k]);
  there &= ~never_loaded(stage, e);
  for (int name = 0; name < s->n_names; name++)
    if (there & ~made & name_bit(name)) fill(stage, now, name, false, &counted);
  for (int name = 0; name < s->n_names; name++)
    if (made & name_bit(name)) fill(stage, now, name, true, &counted);
}

/* ---- Values by what they are ------------------------------------------------------------------------------- */

SnapshotLies snapshot_lies(const Snapshot *now, int tensor) {
  const ProgramTensor *t = &now->schedule->tensors[tensor];
  static const SnapshotLies LIES[] = {LIES_APART, LIES_BY_ROWS, LIES_BY_KEYS, LIES_BY_TILES};
  return LIES[sides_blocks(t->rows, t->cols)];
}

Wide snapshot_tensor_bytes(const Snapshot *now, int tensor) {
  const ProgramTensor *t = &now->schedule->tensors[tensor];
  if (t->is_stats) return wide(now->grid.N_q) * 2 * STATS_BYTES;
  const Wide each = t->is_fp32 || t->cols == SIDE_ONE ? STATS_BYTES : wide(now->grid.element_bytes);
  const Plan *plan = snapshot_own_run(now)->plan;
  return wide(schedule_side_whole(now->schedule, plan, t->rows)) *
         wide(schedule_side_whole(now->schedule, plan, t->cols)) * each;
}

int snapshot_values(const Snapshot *now, bool (*is_wanted)(const Snapshot *, int), int values[VALUES_MAX]) {
  const Schedule *s = now->schedule;
  int n = 0;
  for (int group = 0; group < 4; group++)
    for (int t = 0; t < s->n_values; t++) {
      const ProgramTensor *v = &s->tensors[t];
      const int own = v->is_stats ? 3 : v->role == TENSOR_INPUT ? 0 : v->role == TENSOR_OUTPUT ? 2 : 1;
      if (own == group && is_wanted(now, t)) values[n++] = t;
    }
  return n;
}

static uint64_t rows_of(const Schedule *s, NameSet names) {
  uint64_t rows = 0;
  for (int name = 0; name < s->n_names; name++)
    if (names & name_bit(name)) rows |= (uint64_t)1 << s->names[name].tensor;
  return rows;
}

uint64_t snapshot_subjects(const Snapshot *now, const Event *e) {
  if (e->kind == EVENT_SKIP) return 0;
  if (event_moves(e->kind)) return (uint64_t)1 << e->tensor;
  return rows_of(now->schedule, live_reads(now->schedule, e->op) | live_sets(now->schedule, e->op));
}
