#include "sim/many_ctas.h"

#include <stdlib.h>
#include <string.h>

enum { SIDES = 2, DEFAULT_MAX_STEPS = 6000000, HEAD_MAX_STEPS = 64000000 };

/* ---- LRU over half tiles -------------------------------------------------------------------------- */

/* A unit is a tile of K with its tile of V, a block of Q, or a block of O. Item 2 u + h is the half of unit u whose home is
 * side h. Each side keeps its items in a ring, last used first, that starts and ends at `sentinel`. */
typedef struct {
  int32_t before, after; /* after < 0: not here */
} Link;

typedef struct {
  Link *links;
  int64_t used_bytes;
} Side;

typedef struct {
  Side sides[SIDES];
  int n_sides;
  int32_t sentinel;
  int64_t side_bytes;
  int32_t first_Q, first_O;                    /* units */
  int64_t kv_half_bytes, q_half_bytes; /* of an item; O as Q */
  int64_t own_misses, fabric, hbm_read, hbm_write; /* bytes */
} L2;

static int64_t item_bytes(const L2 *l2, int32_t item) { return item < 2 * l2->first_Q ? l2->kv_half_bytes : l2->q_half_bytes; }

static void take_out(Link *links, int32_t item) {
  links[links[item].before].after = links[item].after;
  links[links[item].after].before = links[item].before;
}

static void put_first(Link *links, int32_t sentinel, int32_t item) {
  const int32_t first = links[sentinel].after;
  links[item] = (Link){sentinel, first};
  links[first].before = item;
  links[sentinel].after = item;
}

/* An O item is dirty for as long as it is here: nobody reads it. */
static void push_out_last(L2 *l2, Side *side) {
  const int32_t last = side->links[l2->sentinel].before;
  take_out(side->links, last);
  side->links[last].after = -1;
  side->used_bytes -= item_bytes(l2, last);
  if (last >= 2 * l2->first_O) l2->hbm_write += l2->q_half_bytes;
}

/* True when it was there. */
static bool touch(L2 *l2, Side *side, int32_t item) {
  const bool hit = side->links[item].after >= 0;
  if (hit) take_out(side->links, item);
  put_first(side->links, l2->sentinel, item);
  if (hit) return true;
  side->used_bytes += item_bytes(l2, item);
  while (side->used_bytes > l2->side_bytes) push_out_last(l2, side);
  return false;
}

static void read_unit(L2 *l2, int s, int32_t unit) {
  Side *own = &l2->sides[s];
  const int32_t near = 2 * unit + s, far = near ^ 1;
  if (own->links[l2->sentinel].after == far && own->links[far].after == near) return; /* just read: nothing would change */
  const int64_t half = item_bytes(l2, near);
  if (!touch(l2, own, near)) {
    l2->own_misses += half;
    l2->hbm_read += half;
  }
  if (touch(l2, own, far)) return;
  l2->own_misses += half;
  if (l2->n_sides == 1) {
    l2->hbm_read += half;
    return;
  }
  l2->fabric += half;
  if (!touch(l2, &l2->sides[s ^ 1], far)) l2->hbm_read += half;
}

/* Each half goes to its home. */
static void write_unit(L2 *l2, int s, int32_t unit) {
  for (int home = 0; home < SIDES; home++) {
    const int at = l2->n_sides == 1 ? 0 : home;
    touch(l2, &l2->sides[at], 2 * unit + home);
    if (at != s) l2->fabric += l2->q_half_bytes;
  }
}

/* ---- The turns ------------------------------------------------------------------------------------ */

typedef struct {
  int32_t unit, step; /* the next tile of K and V, and +1 or -1 to the one after */
  int32_t left;       /* tiles still to read; 0: free */
  int32_t wait;       /* turns before the first piece */
  int32_t piece_unit; /* row block, counted through all heads */
  int32_t side;
} Slot;

typedef struct {
  const Launch *launch;
  const Plan *plan;
  L2 l2;
  Slot *slots;
  int64_t n_used_slots;
  int64_t next_piece, n_pieces; /* n_pieces: that are walked */
  int64_t reads, q_reads, o_writes; /* units, walked */
} Run;

/* Gives the slot its next piece; row blocks that see no key only store zeros and take no turn. False: none is left. */
static bool start_piece(Run *r, Slot *slot) {
  const Launch *l = r->launch;
  const Plan *plan = r->plan;
  const int64_t group = plan->shape.heads / plan->shape.kv_heads;
  while (r->next_piece < r->n_pieces) {
    const LaunchPiece p = launch_piece(l, r->next_piece++);
    const int64_t block = (p.batch * plan->shape.heads + p.head) * plan->T_r + p.row_block;
    const int64_t kv_head = p.batch * plan->shape.kv_heads + p.head / group;
    const Span span = band_row(&plan->band, plan->tiling.B_r, plan->tiling.B_c, p.row_block).computed;
    slot->piece_unit = (int32_t)block;
    if (span.end <= span.begin) {
      write_unit(&r->l2, slot->side, r->l2.first_O + slot->piece_unit);
      r->o_writes++;
      continue;
    }
    slot->left = (int32_t)(span.end - span.begin);
    slot->unit = (int32_t)(kv_head * plan->T_c + launch_walk_tile(l, span, 0));
    slot->step = l->config.walk == WALK_REVERSED ? -1 : 1;
    read_unit(&r->l2, slot->side, r->l2.first_Q + slot->piece_unit);
    r->q_reads++;
    return true;
  }
  return false;
}

/* One turn of one slot; false when it has nothing left to do. */
static bool advance(Run *r, Slot *slot) {
  if (slot->wait > 0) {
    slot->wait--;
    return true;
  }
  if (slot->left == 0 && !start_piece(r, slot)) return false;
  read_unit(&r->l2, slot->side, slot->unit);
  r->reads++;
  slot->unit += slot->step;
  if (--slot->left > 0) return true;
  write_unit(&r->l2, slot->side, r->l2.first_O + slot->piece_unit);
  r->o_writes++;
  return true;
}

static ManyCtas totals(const Run *r) {
  const L2 *l2 = &r->l2;
  ManyCtas t = {.own_miss_bytes = (double)l2->own_misses, .fabric_bytes = (double)l2->fabric, .hbm_read_bytes = (double)l2->hbm_read,
                .hbm_write_bytes = (double)l2->hbm_write};
  t.read_bytes = (double)r->reads * 2 * (double)l2->kv_half_bytes + (double)r->q_reads * 2 * (double)l2->q_half_bytes;
  t.write_bytes = (double)r->o_writes * 2 * (double)l2->q_half_bytes;
  return t;
}

/* Runs turn after turn until all pieces are done; the totals at the turn in which piece n_half begins go to *half. */
static void run_turns(Run *r, int64_t n_half, ManyCtas *half, int64_t *half_reads) {
  for (bool busy = true; busy;) {
    busy = false;
    for (int64_t s = 0; s < r->n_used_slots; s++) busy |= advance(r, &r->slots[s]);
    if (*half_reads < 0 && r->next_piece >= n_half) {
      *half = totals(r);
      *half_reads = r->reads;
    }
  }
}

/* ---- The whole ------------------------------------------------------------------------------------ */

static Status check(const Launch *l, const Plan *plan, const ManyCtasConfig *c, Error *error) {
  if (c->l2_partitions != 1 && c->l2_partitions != 2)
    return error_set(error, STATUS_BAD_REQUEST, "an L2 of %lld partitions is not modelled; give 1 or 2", (long long)c->l2_partitions);
  if (c->skew_turns < 0 || c->skew_turns > 1 << 20)
    return error_set(error, STATUS_BAD_REQUEST, "a skew of %lld turns is not possible; give 0 to %d", (long long)c->skew_turns, 1 << 20);
  if (l->n_splits != 1 || l->config.whole_head || l->config.block_q != plan->tiling.B_r || l->config.block_k != plan->tiling.B_c ||
      l->n_row_blocks != plan->T_r || l->heads != plan->shape.heads || l->batch != plan->shape.batch)
    return error_set(error, STATUS_BAD_REQUEST, "the launch and the plan must be of one problem, with equal blocks and no splits");
  return STATUS_OK;
}

/* How many pieces to walk: all, or as many whole heads as come to max_steps, at least two of them and the first wave. */
static int64_t choose_pieces(const Launch *l, double reads_per_head, int64_t max_steps) {
  const int64_t n_heads = l->n_pieces / l->n_row_blocks;
  const double wanted = (double)max_steps / reads_per_head;
  int64_t heads = wanted < 2 ? 2 : wanted < (double)n_heads ? (int64_t)wanted : n_heads;
  const int64_t waves = ceil_div(4 * l->n_slots, l->n_row_blocks);
  if (heads < waves) heads = waves;
  return heads < n_heads ? heads * l->n_row_blocks : l->n_pieces;
}

static void release(Run *r) {
  for (int s = 0; s < SIDES; s++) free(r->l2.sides[s].links);
  free(r->slots);
}

static Status prepare(Run *r, const ManyCtasConfig *c, Error *error) {
  const Plan *plan = r->plan;
  const int64_t row = plan->shape.d * plan->element_bytes, n_heads = plan->shape.batch * plan->shape.heads;
  const int64_t n_kv = plan->shape.batch * plan->shape.kv_heads * plan->T_c, n_units = n_kv + 2 * n_heads * plan->T_r;
  r->l2.n_sides = (int)c->l2_partitions;
  r->l2.side_bytes = c->l2_bytes / c->l2_partitions;
  r->l2.first_Q = (int32_t)n_kv;
  r->l2.first_O = (int32_t)(n_kv + n_heads * plan->T_r);
  r->l2.sentinel = (int32_t)(2 * n_units);
  r->l2.kv_half_bytes = plan->tiling.B_c * row;
  r->l2.q_half_bytes = plan->tiling.B_r * row / 2;
  const size_t n_items = (size_t)(2 * n_units + 1);
  for (int s = 0; s < r->l2.n_sides; s++) {
    r->l2.sides[s].links = malloc(n_items * sizeof(Link));
    if (!r->l2.sides[s].links) return error_set(error, STATUS_NO_MEMORY, "no memory for an L2 of %zu half tiles", n_items);
    memset(r->l2.sides[s].links, 0xFF, n_items * sizeof(Link));
    r->l2.sides[s].links[r->l2.sentinel] = (Link){r->l2.sentinel, r->l2.sentinel};
  }
  r->n_used_slots = r->launch->n_slots < r->n_pieces ? r->launch->n_slots : r->n_pieces;
  r->slots = calloc((size_t)r->n_used_slots, sizeof *r->slots);
  if (!r->slots) return error_set(error, STATUS_NO_MEMORY, "no memory for %lld CTAs at once", (long long)r->n_used_slots);
  for (int64_t s = 0; s < r->n_used_slots; s++) {
    r->slots[s].wait = (int32_t)(c->skew_turns * s / r->n_used_slots);
    r->slots[s].side = r->l2.n_sides == 1 ? 0 : (int32_t)(launch_sm(r->launch, s) & 1);
  }
  return STATUS_OK;
}

/* What is not walked goes on as the second half did, read for read. */
static void go_on(ManyCtas *t, const ManyCtas *half, double half_reads, double reads, double all_reads) {
  const double factor = (all_reads - reads) / (reads - half_reads);
  double *const to[] = {&t->read_bytes, &t->write_bytes, &t->own_miss_bytes, &t->fabric_bytes, &t->hbm_read_bytes, &t->hbm_write_bytes};
  const double from[] = {half->read_bytes, half->write_bytes, half->own_miss_bytes, half->fabric_bytes, half->hbm_read_bytes, half->hbm_write_bytes};
  for (int i = 0; i < 6; i++) *to[i] += (*to[i] - from[i]) * factor;
}

Status many_ctas_run(ManyCtas *result, const Launch *launch, const Plan *plan, const ManyCtasConfig *c, Error *error) {
  Status status = check(launch, plan, c, error);
  if (status) return status;
  const double n_heads = (double)(launch->n_pieces / launch->n_row_blocks);
  const double per_head = (double)band_count(&plan->band, plan->tiling.B_r, plan->tiling.B_c, plan->T_r).computed;
  const double all_reads = per_head * n_heads, n_units = n_heads * ((double)plan->T_c + 2 * (double)plan->T_r);
  if (per_head > HEAD_MAX_STEPS || n_units > 1e8 || launch->n_slots > 1 << 20)
    return error_set(error, STATUS_TOO_LARGE, "a head of %.3g tiles takes too long to walk through L2; a shorter sequence or larger blocks do not", per_head);
  Run r = {.launch = launch, .plan = plan};
  r.n_pieces = per_head < 1 ? launch->n_pieces : choose_pieces(launch, per_head, c->max_steps ? c->max_steps : DEFAULT_MAX_STEPS);
  status = prepare(&r, c, error);
  if (!status) {
    ManyCtas half = {0};
    int64_t half_reads = -1;
    run_turns(&r, r.n_pieces / 2, &half, &half_reads);
    ManyCtas t = totals(&r);
    t.simulated = all_reads > 0 ? (double)r.reads / all_reads : 1;
    if (r.n_pieces < launch->n_pieces) go_on(&t, &half, (double)half_reads, (double)r.reads, all_reads);
    t.left_dirty_bytes = t.write_bytes - t.hbm_write_bytes;
    *result = t;
  }
  release(&r);
  return status;
}

double many_ctas_hit_rate(const ManyCtas *t) {
  const double all = t->read_bytes + t->write_bytes;
  return all > 0 ? 1 - t->own_miss_bytes / all : 1;
}
