#include "sim/l2/stream_blocks.h"

/* Of log-sum-exps under a condition the stream knows nothing. */
bool stream_block_moves(const StreamBlocks *b, const ProgramOp *op) {
  return op->kind == OP_EVENT && op->moves && !(op->when & (WHEN_LSE | ~b->when));
}

static bool moves(const ProgramOp *op, int name) {
  for (int k = 0; k < op->n_moved; k++)
    if (op->moved[k] == name) return true;
  return false;
}

/* How often a body moves a name as an operation does. */
static int times_moved(const StreamBlocks *b, const ProgramOp *as, int name) {
  const Schedule *s = b->schedule;
  int n = 0;
  for (int k = 0; k < s->n_ops; k++) {
    const ProgramOp *op = &s->ops[k];
    if (!stream_block_moves(b, op) || op->event != as->event || op->parent != as->parent || op->kernel != as->kernel)
      continue;
    for (int m = 0; m < op->n_moved; m++) n += op->moved[m] == name;
  }
  return n;
}

/* Whether `other` comes and goes wherever `name` does, and as often. */
static bool goes_along(const StreamBlocks *b, int name, int other) {
  const Schedule *s = b->schedule;
  for (int k = 0; k < s->n_ops; k++) {
    if (!stream_block_moves(b, &s->ops[k]) || !moves(&s->ops[k], name)) continue;
    if (times_moved(b, &s->ops[k], other) != times_moved(b, &s->ops[k], name)) return false;
  }
  return true;
}

static bool is_moved(const StreamBlocks *b, int name) {
  for (int k = 0; k < b->schedule->n_ops; k++)
    if (stream_block_moves(b, &b->schedule->ops[k]) && moves(&b->schedule->ops[k], name)) return true;
  return false;
}

/* V goes with K, statistics with the block of O that they belong to or with other statistics. */
static int find_leader(const StreamBlocks *b, int name) {
  const ProgramName *names = b->schedule->names, *n = &names[name];
  const ProgramTensor *tensors = b->schedule->tensors;
  for (int k = 0; k < b->schedule->n_names; k++) {
    if (k == name || names[k].subscripts != n->subscripts || (b->shared >> k & 1) != (b->shared >> name & 1) ||
        !is_moved(b, k) || !goes_along(b, k, name))
      continue;
    const ProgramTensor *mine = &tensors[n->tensor], *other = &tensors[names[k].tensor];
    if (mine->is_stats && other->role == TENSOR_OUTPUT && other->rows == SIDE_ROWS) return k;
    if (mine->is_stats && other->is_stats && k < name && goes_along(b, name, k)) return k;
    if (mine->operand == OPERAND_V && other->operand == OPERAND_K && goes_along(b, name, k)) return k;
  }
  return name;
}

static bool is_by_tiles(const ProgramTensor *t) { return t->rows == SIDE_ROWS && t->cols == SIDE_COLS; }

/* Of matrices by tiles the first is S, the next P. */
static int usual_kind(const Schedule *s, const ProgramName *n) {
  const ProgramTensor *t = &s->tensors[n->tensor];
  int before = 0;
  for (int k = 0; k < n->tensor; k++) before += is_by_tiles(&s->tensors[k]);
  switch (t->operand) {
  case OPERAND_Q: return STREAM_Q;
  case OPERAND_K: return STREAM_KV;
  case OPERAND_V: return STREAM_V;
  default: break;
  }
  if (is_by_tiles(t)) return before == 0 ? STREAM_S : before == 1 ? STREAM_P : STREAM_KIND_COUNT;
  if (t->role == TENSOR_OUTPUT && t->rows == SIDE_ROWS) return n->subscripts & IN_S ? STREAM_PARTIAL : STREAM_O;
  return STREAM_KIND_COUNT;
}

/* The usual ones first, then the others where there is room. */
static bool find_kinds(StreamBlocks *b) {
  bool taken[STREAM_KIND_COUNT] = {[STREAM_SPILL] = true};
  for (int round = 0; round < 2; round++)
    for (int name = 0; name < b->schedule->n_names; name++) {
      if (b->leader[name] != name || b->kind[name] < STREAM_KIND_COUNT) continue;
      int kind = usual_kind(b->schedule, &b->schedule->names[name]);
      if (round == 0 && (kind == STREAM_KIND_COUNT || taken[kind])) continue;
      if (round == 1)
        for (kind = 0; kind < STREAM_KIND_COUNT && taken[kind]; kind++) {
        }
      if (kind == STREAM_KIND_COUNT) return false;
      b->kind[name] = (uint8_t)kind;
      taken[kind] = true;
    }
  return true;
}

bool stream_blocks_find(StreamBlocks *b, const Schedule *schedule, uint8_t when, NameSet shared) {
  *b = (StreamBlocks){.schedule = schedule, .when = when, .shared = shared};
  memset(b->kind, STREAM_KIND_COUNT, sizeof b->kind);
  for (int name = 0; name < schedule->n_names; name++)
    b->leader[name] = (int8_t)(is_moved(b, name) ? find_leader(b, name) : -1);
  for (int name = 0; name < schedule->n_names; name++) /* statistics of statistics that go with O */
    if (b->leader[name] >= 0) b->leader[name] = b->leader[b->leader[name]];
  for (int k = 0; k < schedule->n_ops; k++)
    for (int n = 0; n < schedule->ops[k].n_moved && stream_block_moves(b, &schedule->ops[k]); n++)
      b->kernels[schedule->ops[k].moved[n]] |= (uint8_t)(1 << schedule->ops[k].kernel);
  return find_kinds(b);
}

bool stream_exists(const Schedule *schedule) {
  StreamBlocks whole, split;
  return stream_blocks_find(&whole, schedule, WHEN_LSE | WHEN_WHOLE, 0) &&
         stream_blocks_find(&split, schedule, WHEN_LSE | WHEN_SPLIT, 0);
}

bool stream_blocks_stored_again(const StreamBlocks *b) {
  const Schedule *s = b->schedule;
  const int once = b->when & WHEN_WHOLE ? IN_S : 0; /* a loop over one split */
  uint64_t stored = 0;
  for (int k = 0; k < s->n_ops; k++) {
    const ProgramOp *op = &s->ops[k];
    if (!stream_block_moves(b, op) || op->event == EVENT_LOAD) continue;
    const uint64_t name = UINT64_C(1) << op->moved[0];
    if ((stored & name) || (op->loops & ~(s->names[op->moved[0]].subscripts | once))) return true;
    stored |= name;
  }
  return false;
}
