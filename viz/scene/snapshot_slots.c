/* What lies in SRAM: the events of the present outer iteration, replayed from where it matters. */
#include "sim/algorithms/walk/walk.h"
#include "viz/scene/snapshot_parts.h"

static SnapshotSlot *slot_of(Snapshot *now, int tensor) {
  SnapshotSlot *slots = now->slots;
  if (tensor == TENSOR_P) tensor = TENSOR_S;
  /* Standard's third pass uses the room of its first: V takes K's place, O takes Q's. */
  if (tensor == TENSOR_V && !slots[TENSOR_V].is_used) tensor = TENSOR_K;
  if (tensor == TENSOR_O && !slots[TENSOR_O].is_used) tensor = TENSOR_Q;
  return slots[tensor].is_used ? &slots[tensor] : NULL;
}

static void fill(Snapshot *now, int tensor, const Event *e) {
  SnapshotSlot *slot = slot_of(now, tensor);
  if (!slot) return;
  const bool by_rows = tensor == TENSOR_Q || tensor == TENSOR_O || tensor == TENSOR_STATS;
  const bool by_cols = tensor == TENSOR_K || tensor == TENSOR_V;
  const uint64_t rows = (uint64_t)(e->row1 - e->row0), cols = (uint64_t)(e->col1 - e->col0);
  const uint64_t d = (uint64_t)now->grid.d, element = (uint64_t)now->grid.element_bytes;
  slot->tensor = (uint8_t)tensor;
  slot->holds_P = tensor == TENSOR_P;
  slot->is_filled = slot->is_touched = true;
  slot->i = by_cols ? -1 : e->i;
  slot->j = by_rows ? -1 : e->j;
  slot->row0 = by_cols ? 0 : e->row0;
  slot->row1 = by_cols ? 0 : e->row1;
  slot->col0 = by_rows ? 0 : e->col0;
  slot->col1 = by_rows ? 0 : e->col1;
  slot->held_bytes = tensor == TENSOR_STATS ? rows * 2 * STATS_BYTES
                     : by_rows              ? rows * d * element
                     : by_cols              ? cols * d * element
                                            : rows * cols * element;
}

static void clear(SnapshotSlot *slot, int tensor) {
  slot->tensor = (uint8_t)tensor;
  slot->is_filled = slot->is_touched = slot->holds_P = false;
  slot->i = slot->j = -1;
  slot->row0 = slot->row1 = slot->col0 = slot->col1 = 0;
  slot->held_bytes = 0;
}

static void apply(Snapshot *now, const Event *e) {
  switch (e->kind) {
  case EVENT_LOAD:
  case EVENT_STORE: fill(now, e->tensor, e); break;
  case EVENT_PRODUCT:
    fill(now, TENSOR_S, e);
    if (!now->slots[TENSOR_K].is_filled || now->slots[TENSOR_K].j != e->j) fill(now, TENSOR_K, e);
    break;
  case EVENT_MASK: fill(now, TENSOR_S, e); break;
  case EVENT_NEW_MAX: fill(now, TENSOR_STATS, e); break;
  case EVENT_RESCALE:
    fill(now, TENSOR_STATS, e);
    fill(now, TENSOR_O, e);
    break;
  case EVENT_ACCUMULATE:
    if (e->col1 > e->col0) {
      fill(now, TENSOR_P, e);
      fill(now, TENSOR_V, e);
    }
    fill(now, TENSOR_O, e);
    fill(now, TENSOR_STATS, e);
    break;
  case EVENT_NORMALISE: fill(now, e->tensor, e); break;
  default: break;
  }
}

static void apply_next(Snapshot *now, const Event *e, bool *leaving) {
  for (int t = 0; t < TENSOR_COUNT; t++) {
    now->slots[t].is_touched = false;
    if (leaving[t]) clear(&now->slots[t], t);
    leaving[t] = false;
  }
  apply(now, e);
  const SnapshotSlot *slot = e->kind == EVENT_STORE ? slot_of(now, e->tensor) : NULL;
  if (slot) leaving[slot - now->slots] = true;
}

/* Replays events from the cursor to `step`, or until the walk comes to operation `until`. */
static void replay(const Stage *stage, Cursor *cursor, uint64_t step, int until, Snapshot *now, bool *leaving) {
  Event event;
  while (cursor->step < step && cursor->op != until &&
         schedule_next(stage_schedule(stage), stage_plan(stage), cursor, &event))
    apply_next(now, &event, leaving);
}

/* The iteration of a loop over tiles from which on a replay sees all that is alive: the one before the present one, or
 * the last that computed something. */
static int64_t start_of_replay(const Schedule *s, const Plan *plan, const Cursor *c, int loop) {
  enum { LOOKED_BACK = 4096 };
  const ProgramOp *op = &s->ops[loop];
  const Dim dim = (Dim)op->dim;
  Cursor back = *c;
  if (!op->of) return c->at[dim] > 0 ? c->at[dim] - 1 : 0;
  for (int64_t n = 0; back.at[dim] > 0 && n < LOOKED_BACK; n++) {
    back.at[dim]--;
    walk_set_block(plan, op, &back);
    if (back.tile != TILE_SKIPPED && back.at[dim] < c->at[dim]) break;
  }
  return back.at[dim];
}

static void empty_slots(const Stage *stage, Snapshot *now) {
  const SramBudget *b = &stage->run.sram;
  const Wide *const sizes = b->of;
  for (int t = 0; t < TENSOR_COUNT; t++) {
    clear(&now->slots[t], t);
    now->slots[t].is_used = sizes[t] > 0;
    now->slots[t].in_registers = t >= TENSOR_S;
    now->slots[t].slot_bytes = (uint64_t)sizes[t];
  }
  now->sram_bytes = (uint64_t)b->bytes;
  now->sram_capacity_bytes = (uint64_t)stage->run.machine.sram_bytes;
}

/* What is alive is what the loops around the present event have done before its iterations: each body up to the next
 * loop inwards, then the iterations of the innermost from where it matters. */
void snapshot_fill_slots(const Stage *stage, Snapshot *now) {
  const Schedule *s = stage_schedule(stage);
  const Plan *plan = stage_plan(stage);
  bool leaving[TENSOR_COUNT] = {false};
  int chain[PROGRAM_DEPTH_MAX], n = 0;
  Cursor at;
  empty_slots(stage, now);
  if (!now->has_event || now->step == now->n_steps) return;
  Event event;
  schedule_seek(s, plan, &at, now->step - 1);
  schedule_next(s, plan, &at, &event);
  if (event.kind == EVENT_SKIP) at.at[s->ops[event.op].dim]--; /* the walk has gone on already */
  for (int loop = s->ops[now->event.op].parent; loop >= 0; loop = s->ops[loop].parent) chain[n++] = loop;
  for (int k = n - 1; k >= 0; k--) {
    Cursor c = at;
    for (int inner = 0; inner < k; inner++) walk_leave_blocks(&c, (Dim)s->ops[chain[inner]].dim);
    c.op = (uint8_t)(chain[k] + 1);
    if (k == 0) c.at[s->ops[chain[0]].dim] = start_of_replay(s, plan, &at, chain[0]);
    c.step = (uint64_t)place_step(s, plan, &c);
    replay(stage, &c, now->step, k > 0 ? chain[k - 1] : -1, now, leaving);
  }
}
