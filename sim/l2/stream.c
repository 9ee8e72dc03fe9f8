/* Walking a stream: one step a call. */
#include "sim/l2/stream.h"

static int64_t merged_on(const Stream *s, Dim dim) { return dim == s->merged ? s->merge : 1; }
static int64_t rounds_of(const Stream *s, Dim dim) { return dim == DIM_J ? s->rounds : 1; }

/* ---- What the mask lets a CTA see -------------------------------------------------------------------------- */

static bool is_seen(const Stream *s, int64_t i, int64_t n_i, int64_t j, int64_t n_j) {
  const Plan *p = s->plan;
  const int64_t B_r = p->tiling.B_r, B_c = p->tiling.B_c;
  return mask_tile(&p->mask, i * B_r, min64((i + n_i) * B_r, p->shape.N_q), j * B_c,
                   min64((j + n_j) * B_c, p->shape.N_k)) != TILE_SKIPPED;
}

/* Whether the slot's granules of rows and columns have a pair that the mask allows. */
static bool sees(const Stream *s, const StreamSlot *slot) {
  const int64_t n_i = merged_on(s, DIM_I), n_j = merged_on(s, DIM_J);
  return is_seen(s, slot->at[DIM_I] * n_i, n_i, slot->at[DIM_J] / s->rounds * n_j, n_j);
}

/* Of the tiles of a row block those of its documents, of which there may be thousands; or with the first columns. */
static Span of_rows(const Stream *s, int64_t i, Span tiles) {
  const Plan *p = s->plan;
  const int64_t rows = p->tiling.B_r * merged_on(s, DIM_I), B_c = p->tiling.B_c;
  const Span first = mask_columns(&p->mask, i * rows),
             last = mask_columns(&p->mask, min64((i + 1) * rows, p->shape.N_q) - 1);
  if (last.end <= last.begin) return tiles;
  return (Span){max64(tiles.begin, first.begin / B_c), min64(tiles.end, ceil_div(last.end, B_c))};
}

/* The tiles that a loop runs over; under a pattern some of them are left out later, one by one. */
static Span tiles_of_loop(const Stream *s, const StreamSlot *slot, const StreamOp *loop) {
  const Plan *p = s->plan;
  if (loop->dim == DIM_S) return (Span){0, p->tiling.n_splits};
  if (loop->dim == DIM_H) return (Span){0, s->n[DIM_H]};
  Span tiles = {0, loop->dim == DIM_I ? p->T_r : p->T_c};
  if (loop->in_split) {
    tiles.begin = min64(slot->at[DIM_S] * p->tiles_per_split, p->T_c);
    tiles.end = min64(tiles.begin + p->tiles_per_split, p->T_c);
  }
  if (!loop->of) return tiles;
  if (p->mask.pattern && p->mask.pattern->kind != PATTERN_BLOCKS)
    return loop->dim == DIM_J ? of_rows(s, slot->at[DIM_I], tiles) : tiles;
  const int64_t B_r = p->tiling.B_r, B_c = p->tiling.B_c;
  const Span seen = loop->dim == DIM_J
                        ? band_row(&p->band, B_r * merged_on(s, DIM_I), B_c, slot->at[DIM_I]).computed
                        : band_row(&p->keys, B_c * merged_on(s, DIM_J), B_r, slot->at[DIM_J] / s->rounds).computed;
  return (Span){max64(tiles.begin, seen.begin), min64(tiles.end, seen.end)};
}

/* To the next iteration; false: there is none. */
static inline bool go_on(StreamSlot *slot, const StreamOp *loop) {
  slot->at[loop->dim] += loop->step;
  if (loop->diagonal) slot->at[DIM_J] = slot->at[DIM_I];
  return --slot->left[loop->dim] > 0;
}

/* From here to an iteration that the pattern lets be seen. */
static bool find_seen(const Stream *s, StreamSlot *slot, const StreamOp *loop) {
  while (!sees(s, slot))
    if (!go_on(slot, loop)) return false;
  return true;
}

/* Its first iteration; false: it has none. */
static bool enter(const Stream *s, StreamSlot *slot, const StreamOp *loop) {
  const Dim dim = (Dim)loop->dim;
  const Span tiles = tiles_of_loop(s, slot, loop);
  if (tiles.end <= tiles.begin) return false;
  const int64_t first = tiles.begin / merged_on(s, dim) * rounds_of(s, dim),
                end = ceil_div(tiles.end, merged_on(s, dim)) * rounds_of(s, dim);
  if (dim == s->merged) slot->tiles = tiles;
  slot->at[dim] = loop->step < 0 ? end - 1 : first;
  slot->left[dim] = end - first;
  if (loop->diagonal) slot->at[DIM_J] = slot->at[DIM_I];
  return !loop->has_pattern || find_seen(s, slot, loop);
}

static bool has_tile(const Stream *s, const StreamSlot *slot, const StreamOp *loop) {
  StreamSlot probe = *slot;
  return enter(s, &probe, loop);
}

/* ---- Pieces ------------------------------------------------------------------------------------------------ */

static void set_head(const Stream *s, StreamSlot *slot, int64_t batch, int64_t head) {
  const Shape *shape = &s->plan->shape;
  const int64_t heads = s->over_heads ? shape->kv_heads : shape->heads;
  slot->head = batch * heads + head;
  slot->kv_head = batch * shape->kv_heads + head / (heads / shape->kv_heads);
}

static void begin_by_loops(const Stream *s, const StreamKernel *kernel, StreamSlot *slot, int64_t piece) {
  slot->part = piece % kernel->parts;
  piece /= kernel->parts;
  for (int k = kernel->n_dims - 1; k >= 0; k--) {
    const Dim dim = kernel->dims[k];
    slot->at[dim] = kernel->back[dim] ? s->n[dim] - 1 - piece % s->n[dim] : piece % s->n[dim];
    piece /= s->n[dim];
  }
  set_head(s, slot, 0, piece); /* counted through all batches */
}

void stream_begin(const Stream *s, int k, StreamSlot *slot, int64_t piece) {
  const StreamKernel *kernel = &s->kernels[k];
  if (kernel->by_launch) {
    const LaunchPiece at = launch_piece(s->launch, piece);
    set_head(s, slot, at.batch, at.head);
    slot->at[DIM_I] = at.row_block;
    slot->at[DIM_S] = at.split;
    slot->part = 0;
  } else {
    begin_by_loops(s, kernel, slot, piece);
  }
  if (kernel->diagonal) slot->at[DIM_J] = slot->at[DIM_I];
  slot->tiles = (Span){0, s->merged == DIM_I ? s->plan->T_r : s->plan->T_c};
  slot->query_op = kernel->query_op;
  slot->op = kernel->of && !sees(s, slot) ? kernel->end_op : kernel->first_op;
  slot->busy = slot->fresh = true;
}

/* ---- Steps ------------------------------------------------------------------------------------------------- */

static inline uint64_t granule(const StreamOp *op, const StreamSlot *slot) {
  return (uint64_t)(op->first + (op->of_kv_head ? slot->kv_head : slot->head) * op->per_head +
                    slot->at[DIM_I] * op->per[DIM_I] + slot->at[DIM_J] * op->per[DIM_J] +
                    slot->at[DIM_S] * op->per[DIM_S] + slot->at[DIM_H] * op->per[DIM_H] +
                    (op->in_parts ? slot->part : 0));
}

/* Tiles of S in the slot's granules, masked ones left out. */
static double tiles_at(const Stream *s, const StreamSlot *slot) {
  const int64_t at = slot->at[s->merged], first = max64(at * s->merge, slot->tiles.begin),
                end = min64((at + 1) * s->merge, slot->tiles.end);
  if (!s->plan->mask.pattern) return (double)(end - first);
  const Span merged = {first, end}, i = {slot->at[DIM_I], slot->at[DIM_I] + 1},
             j = {slot->at[DIM_J], slot->at[DIM_J] + 1};
  return (double)plan_count(s->plan, s->merged == DIM_I ? merged : i, s->merged == DIM_J ? merged : j).computed;
}

/* Of CTAs that share a block the last that loads it asks. */
static bool another_asks(const Stream *s, const StreamSlot *slot, const StreamOp *op) {
  const Dim dim = (Dim)op->cluster_dim;
  const int64_t at = slot->at[dim], end = min64((at / op->cluster + 1) * op->cluster, s->n[dim]);
  StreamSlot other = *slot;
  for (other.at[dim] = end - 1; other.at[dim] > at; other.at[dim]--)
    if ((!op->cluster_of || sees(s, &other)) && (op->needs < 0 || has_tile(s, &other, &s->ops[op->needs]))) return true;
  return false;
}

static inline void work(const Stream *s, const StreamSlot *slot, const StreamOp *op, StreamStep *step) {
  if (s->rounds > 1 && (slot->left[DIM_J] - 1) % s->rounds != 0) return;
  const double n_tiles = op->n_tiles > 0 ? op->n_tiles : tiles_at(s, slot);
  step->flops += n_tiles * op->flops;
  step->exps += n_tiles * op->exps;
}

/* Whether a step has room for one more iteration of a loop. */
static bool has_room(const StreamOp *loop, const ClockStep *access) {
  return access->n_reads + loop->reads <= CLOCK_ACCESSES_MAX && access->n_writes + loop->writes <= CLOCK_ACCESSES_MAX;
}

/* Up to the end of the step: goes through what follows until a new one has to begin, and returns the place of that. */
static const StreamOp *walk(const Stream *s, StreamSlot *slot, StreamStep *step) {
  ClockStep *access = step->access;
  bool is_over = false; /* with the last iteration of a loop: stores may follow, and no more */
  for (const StreamOp *op = &s->ops[slot->op];; op++) { /* the most frequent first, for speed */
    if (op->kind == STREAM_READ) {
      if (op->needs >= 0 && !has_tile(s, slot, &s->ops[op->needs])) continue;
      if (op->cluster && another_asks(s, slot, op)) continue;
      if (is_over || access->n_reads == CLOCK_ACCESSES_MAX) return op;
      access->reads[access->n_reads++] = granule(op, slot);
    } else if (op->kind == STREAM_WORK) {
      if (is_over) return op;
      work(s, slot, op, step);
    } else if (op->kind == STREAM_NEXT) {
      if (!go_on(slot, op) || (op->has_pattern && !find_seen(s, slot, op))) {
        is_over |= op->innermost;
        continue;
      }
      if (op->innermost && !(op->gathers && has_room(op, access))) return &s->ops[op->jump];
      op = &s->ops[op->jump] - 1;
    } else if (op->kind == STREAM_WRITE) {
      if (access->n_writes == CLOCK_ACCESSES_MAX) return op;
      access->writes[access->n_writes++] = op->is_spill ? (uint64_t)(op->first + slot->number) : granule(op, slot);
    } else if (op->kind == STREAM_LOOP) {
      if (!enter(s, slot, op))
        op = &s->ops[op->jump] - 1;
      else if (is_over && op->innermost)
        return op + 1;
    } else {
      slot->busy = false;
      return op;
    }
  }
}

void stream_next(const Stream *s, StreamSlot *slot, StreamStep *step) {
  if (slot->query_op && !slot->fresh) step->access->renewed = granule(&s->ops[slot->query_op - 1], slot) + 1;
  slot->op = (uint8_t)(walk(s, slot, step) - s->ops);
  slot->fresh = false;
}
