#include "sim/algorithms/stream.h"

#include <math.h>
#include <string.h>

enum { LONG_KEYS = 65536, TILES_APART = 4 };
#define ALIKE 0.95 /* of granules over which a ragged last one is spread, so much is one of full size */

/* Of a row of Q or K, and of one of V or O. */
static double row_bytes(const Plan *p) { return (double)p->shape.d * p->element_bytes; }
static double value_bytes(const Plan *p) { return (double)p->shape.d_v * p->element_bytes; }

static void read_granule(StreamStep *step, const Stream *s, StreamKind kind, int64_t n) {
  step->access->reads[step->access->n_reads++] = (uint64_t)(s->first[kind] + n);
}

static void write_granule(StreamStep *step, const Stream *s, StreamKind kind, int64_t n) {
  step->access->writes[step->access->n_writes++] = (uint64_t)(s->first[kind] + n);
}

enum { PRODUCT_S = 1, PRODUCT_O = 2, BOTH_PRODUCTS = PRODUCT_S | PRODUCT_O };

/* Arithmetic of so many tiles of S: Q K^T, P V or both, and the exponentials. */
static void add_tiles(StreamStep *step, const Stream *s, double n_tiles, int products, bool exps) {
  if (products & PRODUCT_S) step->flops += n_tiles * s->score_flops;
  if (products & PRODUCT_O) step->flops += n_tiles * s->value_flops;
  if (exps) step->exps += n_tiles * s->tile_scores;
}

static void set_head(const Stream *s, StreamSlot *slot, int64_t batch, int64_t head) {
  const Shape *shape = &s->plan->shape;
  slot->head = batch * shape->heads + head;
  slot->kv_head = batch * shape->kv_heads + head / (shape->heads / shape->kv_heads);
}

static int64_t parts_of_d(const Plan *p) { return ceil_div(p->shape.d_v, p->tiling.B_c); }

/* ---- fa2, fa2-split ------------------------------------------------------------------------------- */

static bool combines(const Stream *s) { return s->n_kernels == 2; }

static int64_t walk_pieces(const Stream *s) { return s->n_heads * s->launch->n_row_blocks * s->launch->n_splits; }

static void walk_begin(const Stream *s, StreamSlot *slot, int64_t piece) {
  const Plan *p = s->plan;
  const LaunchPiece at = launch_piece(s->launch, piece);
  set_head(s, slot, at.batch, at.head);
  Span span = band_row(&p->band, p->tiling.B_r, p->tiling.B_c, at.row_block).computed;
  if (combines(s)) {
    const int64_t begin = at.split * p->tiles_per_split, end = begin + p->tiles_per_split;
    if (span.begin < begin) span.begin = begin;
    if (span.end > end) span.end = end;
  }
  slot->row_block = at.row_block;
  slot->split = at.split;
  slot->left = 0;
  if (span.end <= span.begin) return;
  const int64_t first = span.begin / s->merge * s->rounds, end = ceil_div(span.end, s->merge) * s->rounds;
  const bool back = s->goes_back || s->launch->config.walk == WALK_REVERSED;
  slot->tiles = span;
  slot->left = end - first;
  slot->at = back ? end - 1 : first;
  slot->step = back ? -1 : 1;
}

/* Of the granule that comes next, those that the piece computes. */
static int64_t tiles_in_next(const Stream *s, const StreamSlot *slot) {
  if (s->rounds > 1) return 1;
  const int64_t first = slot->at * s->merge, end = first + s->merge;
  return (end < slot->tiles.end ? end : slot->tiles.end) - (first > slot->tiles.begin ? first : slot->tiles.begin);
}

static int64_t row_of(const Stream *s, const StreamSlot *slot) { return slot->head * s->plan->T_r + slot->row_block; }

static void walk_next(const Stream *s, StreamSlot *slot, StreamStep *step) {
  if (slot->left > 0) {
    if (slot->fresh) {
      read_granule(step, s, STREAM_Q, row_of(s, slot));
      if (s->kinds[STREAM_SPILL].n > 0) write_granule(step, s, STREAM_SPILL, slot->number);
    } else if (s->launch->config.reloads_q) {
      step->access->renewed = (uint64_t)(s->first[STREAM_Q] + row_of(s, slot)) + 1;
    }
    slot->fresh = false;
    read_granule(step, s, STREAM_KV, slot->kv_head * s->n_cols + slot->at);
    const double n_tiles = (double)tiles_in_next(s, slot);
    slot->at += slot->step;
    slot->left--;
    if (s->rounds == 1 || slot->left % s->rounds == 0) add_tiles(step, s, n_tiles, BOTH_PRODUCTS, true);
  }
  if (slot->left > 0) return;
  if (combines(s))
    write_granule(step, s, STREAM_PARTIAL, row_of(s, slot) * s->plan->tiling.n_splits + slot->split);
  else
    write_granule(step, s, STREAM_O, row_of(s, slot));
  slot->busy = false;
}

static int64_t row_pieces(const Stream *s) { return s->n_heads * s->plan->T_r; }

static void combine_begin(const Stream *s, StreamSlot *slot, int64_t piece) {
  slot->head = piece; /* a row block, counted through all heads */
  slot->at = 0;
  slot->left = s->plan->tiling.n_splits;
}

static void combine_next(const Stream *s, StreamSlot *slot, StreamStep *step) {
  for (int n = 0; n < CLOCK_ACCESSES_MAX && slot->left > 0; n++, slot->left--)
    read_granule(step, s, STREAM_PARTIAL, slot->head * s->plan->tiling.n_splits + slot->at++);
  if (slot->left > 0) return;
  write_granule(step, s, STREAM_O, slot->head);
  slot->busy = false;
}

/* ---- fa1 ------------------------------------------------------------------------------------------ */

static int64_t head_pieces(const Stream *s) { return s->n_heads; }

static void fa1_begin(const Stream *s, StreamSlot *slot, int64_t piece) {
  const LaunchPiece at = launch_piece(s->launch, piece);
  set_head(s, slot, at.batch, at.head);
  slot->outer = -1; /* the initialisation */
  slot->at = 0;
  slot->left = s->n_rows;
}

/* Goes to the next tile of K and V that a row sees; the last one ends the piece. */
static void fa1_next_tile(const Stream *s, StreamSlot *slot) {
  const Plan *p = s->plan;
  while (++slot->outer < p->T_c) {
    const Span rows = band_row(&p->keys, p->tiling.B_c, p->tiling.B_r, slot->outer).computed;
    if (rows.end <= rows.begin) continue;
    slot->at = rows.begin / s->merge;
    slot->left = ceil_div(rows.end, s->merge) - slot->at;
    slot->fresh = true;
    return;
  }
  slot->busy = false;
}

static void fa1_next(const Stream *s, StreamSlot *slot, StreamStep *step) {
  const int64_t rows = slot->head * s->n_rows;
  if (slot->outer < 0) {
    for (int n = 0; n < CLOCK_ACCESSES_MAX && slot->left > 0; n++, slot->left--)
      write_granule(step, s, STREAM_O, rows + slot->at++);
  } else {
    if (slot->fresh) read_granule(step, s, STREAM_KV, slot->kv_head * s->n_cols + slot->outer);
    slot->fresh = false;
    read_granule(step, s, STREAM_Q, rows + slot->at);
    read_granule(step, s, STREAM_O, rows + slot->at);
    write_granule(step, s, STREAM_O, rows + slot->at);
    add_tiles(step, s, (double)s->merge, BOTH_PRODUCTS, true);
    slot->at++;
    slot->left--;
  }
  if (slot->left == 0) fa1_next_tile(s, slot);
}

/* ---- standard ------------------------------------------------------------------------------------- */

static void standard_head(const Stream *s, StreamSlot *slot, int64_t head) {
  set_head(s, slot, head / s->plan->shape.heads, head % s->plan->shape.heads);
}

static int64_t score(const Stream *s, const StreamSlot *slot, int64_t col) {
  return (slot->head * s->plan->T_r + slot->row_block) * s->n_cols + col;
}

static int64_t scores_pieces(const Stream *s) { return s->n_heads * s->plan->T_r * s->n_cols; }

static void scores_begin(const Stream *s, StreamSlot *slot, int64_t piece) {
  standard_head(s, slot, piece / (s->plan->T_r * s->n_cols));
  slot->row_block = piece / s->n_cols % s->plan->T_r;
  slot->at = piece % s->n_cols;
}

static void scores_next(const Stream *s, StreamSlot *slot, StreamStep *step) {
  read_granule(step, s, STREAM_Q, slot->head * s->plan->T_r + slot->row_block);
  read_granule(step, s, STREAM_KV, slot->kv_head * s->n_cols + slot->at);
  write_granule(step, s, STREAM_S, score(s, slot, slot->at));
  add_tiles(step, s, (double)s->merge, PRODUCT_S, false);
  slot->busy = false;
}

static void softmax_begin(const Stream *s, StreamSlot *slot, int64_t piece) {
  standard_head(s, slot, piece / s->plan->T_r);
  slot->row_block = piece % s->plan->T_r;
  slot->at = 0;
}

static void softmax_next(const Stream *s, StreamSlot *slot, StreamStep *step) {
  const int64_t col = slot->at % s->n_cols;
  read_granule(step, s, STREAM_S, score(s, slot, col));
  if (slot->at >= s->n_cols) write_granule(step, s, STREAM_P, score(s, slot, col));
  add_tiles(step, s, (double)s->merge, 0, true);
  slot->busy = ++slot->at < 2 * s->n_cols;
}

static int64_t values_pieces(const Stream *s) { return row_pieces(s) * parts_of_d(s->plan); }

static void values_begin(const Stream *s, StreamSlot *slot, int64_t piece) {
  const int64_t parts = parts_of_d(s->plan);
  softmax_begin(s, slot, piece / parts);
  slot->split = piece % parts;
}

static void values_next(const Stream *s, StreamSlot *slot, StreamStep *step) {
  const int64_t parts = parts_of_d(s->plan);
  read_granule(step, s, STREAM_P, score(s, slot, slot->at));
  read_granule(step, s, STREAM_V, (slot->kv_head * s->n_cols + slot->at) * parts + slot->split);
  add_tiles(step, s, (double)s->merge / (double)parts, PRODUCT_O, false);
  slot->busy = ++slot->at < s->n_cols;
  if (!slot->busy)
    write_granule(step, s, STREAM_O, (slot->head * s->plan->T_r + slot->row_block) * parts + slot->split);
}

/* ---- The table ------------------------------------------------------------------------------------ */

static const StreamKernel WALK[] = {{walk_pieces, walk_begin, walk_next}, {row_pieces, combine_begin, combine_next}};
static const StreamKernel FA1[] = {{head_pieces, fa1_begin, fa1_next}};
static const StreamKernel STANDARD[] = {{scores_pieces, scores_begin, scores_next},
                                        {row_pieces, softmax_begin, softmax_next},
                                        {values_pieces, values_begin, values_next}};

static void set_kind(Stream *s, StreamKind kind, int64_t n, double all_bytes) {
  s->kinds[kind] = (HierarchyKind){.n = (uint64_t)n, .bytes = all_bytes / (double)n};
}

/* Whether pieces of one head, counted through all batches, come before those of the next. */
static bool heads_in_turn(const Stream *s) {
  const LaunchOrder order = s->launch->config.order;
  return s->kernels == STANDARD || order == ORDER_QUERY_HEAD_BATCH ||
         (order == ORDER_QUERY_BATCH_HEAD && s->plan->shape.batch == 1);
}

/* What comes and goes by itself of Q and O is no larger than of K and V. */
static void part_rows(Stream *s, StreamKind kind) {
  const HierarchyKind *kv = &s->kinds[STREAM_KV];
  const double tile_bytes = kv->bytes / kv->n_tensors / (kv->n_tiles ? kv->n_tiles : 1);
  s->kinds[kind].n_tiles = (uint32_t)fmin(ceil(s->kinds[kind].bytes / tile_bytes * ALIKE), HIERARCHY_TILES_MAX);
}

/* Granules are of equal size: a ragged last tile is spread over all. Of heads that are not walked there are none. */
static void set_kinds(Stream *s) {
  const Plan *p = s->plan;
  const bool standard = s->kernels == STANDARD;
  int64_t all = p->shape.batch * p->shape.heads, all_kv = p->shape.batch * p->shape.kv_heads;
  if (s->n_heads < all && heads_in_turn(s)) {
    all_kv = ceil_div(s->n_heads, p->shape.heads / p->shape.kv_heads);
    all = s->n_heads;
  }
  const double row = row_bytes(p), row_v = value_bytes(p), queries = (double)all * (double)p->shape.N_q,
               keys = (double)all_kv * (double)p->shape.N_k;
  set_kind(s, STREAM_KV, all_kv * s->n_cols, keys * (standard ? row : row + row_v));
  s->kinds[STREAM_KV].n_tensors = standard ? 1 : 2;
  const int64_t apart = p->shape.N_k > LONG_KEYS ? 2 : TILES_APART; /* more takes time */
  if (s->kernels == WALK) s->kinds[STREAM_KV].n_tiles = (uint32_t)(s->merge < apart ? s->merge : apart);
  set_kind(s, STREAM_Q, all * s->n_rows, queries * row);
  if (s->kernels == WALK &&
      s->launch->config
          .reloads_q) { /* parts as small as those of Q, which stay: larger ones would have room where Q leaves none */
    const double parts = ceil(s->kinds[STREAM_KV].bytes / 2 / s->kinds[STREAM_Q].bytes);
    s->kinds[STREAM_KV].n_tiles = (uint32_t)fmin(parts, p->shape.N_k > LONG_KEYS ? 4 : HIERARCHY_TILES_MAX);
  }
  if (s->kernels == FA1)
    set_kind(s, STREAM_O, all * s->n_rows, queries * (row_v + 2 * STATS_BYTES));
  else
    set_kind(s, STREAM_O, all * s->n_rows * (standard ? parts_of_d(p) : 1), queries * row_v);
  if (s->n_kernels == 2) {
    const double partial = (double)p->shape.d_v * 4 + STATS_BYTES; /* fp32, and a log-sum-exp */
    set_kind(s, STREAM_PARTIAL, all * s->n_rows * p->tiling.n_splits, queries * (double)p->tiling.n_splits * partial);
  }
  if (standard) {
    const double scores = queries * (double)p->shape.N_k * p->element_bytes;
    set_kind(s, STREAM_S, all * s->n_rows * s->n_cols, scores);
    set_kind(s, STREAM_P, all * s->n_rows * s->n_cols, scores);
    set_kind(s, STREAM_V, all_kv * s->n_cols * parts_of_d(p), keys * row_v);
  }
  if (s->kernels == WALK) {
    part_rows(s, STREAM_Q);
    part_rows(s, STREAM_O);
  }
  const LaunchConfig *kernel = &s->launch->config;
  if (kernel->spill_block_bytes > 0 && s->kernels == WALK && !combines(s))
    s->kinds[STREAM_SPILL] =
        (HierarchyKind){.n = (uint64_t)s->launch->n_slots, .bytes = (double)kernel->spill_block_bytes};
  for (int k = 1; k < STREAM_KIND_COUNT; k++) s->first[k] = s->first[k - 1] + (int64_t)s->kinds[k - 1].n;
}

static double steps_per_head(const Stream *s) {
  const Plan *p = s->plan;
  const Tiling *t = &p->tiling;
  if (s->kernels == STANDARD) return (double)p->T_r * (double)s->n_cols * (3 + (double)parts_of_d(p));
  if (s->kernels == FA1)
    return (double)s->n_rows / CLOCK_ACCESSES_MAX +
           (double)band_count(&p->keys, t->B_c, t->B_r * s->merge, p->T_c).computed;
  const BandCount tiles = band_count(&p->band, t->B_r, t->B_c * s->merge, p->T_r);
  const double walk = (double)tiles.computed * (double)s->rounds +
                      (double)tiles.n_empty; /* a row block without keys stores its zeros in one step */
  return combines(s) ? walk + (double)p->T_r * (double)t->n_splits : walk; /* of a split: about */
}

/* In which a tile of K and V is loaded. */
static int64_t rounds_of(const Plan *p, const LaunchConfig *kernel) {
  const double tile_bytes = (double)p->tiling.B_c * (row_bytes(p) + value_bytes(p));
  if (!kernel->waits || kernel->round_bytes == 0 || (double)kernel->round_bytes >= tile_bytes) return 1;
  return (int64_t)ceil(tile_bytes / (double)kernel->round_bytes);
}

/* The next loop or move from an operation on: what CTAs ask of memory does not depend on the arithmetic between. */
static const ProgramOp *next_move(const Schedule *s, int *op) {
  while (*op < s->n_ops) {
    const ProgramOp *o = &s->ops[(*op)++];
    if (o->kind == OP_LOOP || o->kind == OP_END) return o;
    if (o->when & WHEN_LSE) continue; /* of log-sum-exps the stream knows nothing */
    if (o->kind == OP_EVENT && (o->event == EVENT_LOAD || o->event == EVENT_STORE)) return o;
  }
  return NULL;
}

static bool moves_alike(const Schedule *a, const Schedule *b) {
  int at_a = 0, at_b = 0;
  for (;;) {
    const ProgramOp *x = next_move(a, &at_a), *y = next_move(b, &at_b);
    if (!x || !y) return !x && !y;
    if (x->kind != y->kind || x->when != y->when || x->kernel != y->kernel || x->loops != y->loops) return false;
    if (x->kind == OP_LOOP &&
        (x->dim != y->dim || x->of != y->of || x->in_split != y->in_split || x->every != y->every))
      return false;
    if (x->kind == OP_EVENT && (x->event != y->event || x->tensor != y->tensor || x->once != y->once ||
                                x->words != y->words || x->is_fp32 != y->is_fp32))
      return false;
  }
}

static bool goes_back(const Schedule *s) {
  for (int op = 0; op < s->n_ops; op++)
    if (s->ops[op].kind == OP_LOOP && s->ops[op].backwards) return true;
  return false;
}

const char *stream_form(const Schedule *schedule) {
  for (int k = 0; k < N_SCHEDULES; k++)
    if (schedule == SCHEDULES[k] || moves_alike(schedule, SCHEDULES[k])) /* backwards: only where a launch can, too */
      return goes_back(schedule) && (!SCHEDULES[k]->skips || SCHEDULES[k]->whole_head) ? NULL : SCHEDULES[k]->name;
  return NULL;
}

bool stream_make(Stream *stream, const Schedule *schedule, const Plan *plan, const Launch *launch, int64_t merge,
                 int64_t n_heads) {
  Stream s = {.plan = plan, .launch = launch, .merge = merge, .rounds = 1, .n_kernels = 1, .kernels = WALK};
  s.n_heads = n_heads ? n_heads : plan->shape.batch * plan->shape.heads;
  s.goes_back = goes_back(schedule);
  s.n_rows = plan->T_r;
  s.n_cols = ceil_div(plan->T_c, merge);
  const char *form = stream_form(schedule);
  if (!form || plan->mask.pattern) return false;
  if (strcmp(form, "standard") == 0) {
    s.kernels = STANDARD;
    s.n_kernels = 3;
  } else if (strcmp(form, "fa1") == 0) {
    s.kernels = FA1;
    s.n_rows = ceil_div(plan->T_r, merge);
    s.n_cols = plan->T_c;
  } else if (strcmp(form, "fa2-split") == 0) {
    s.n_kernels = plan->tiling.n_splits > 1 ? 2 : 1;
  } else {
    const int64_t rounds = rounds_of(plan, &launch->config);
    s.rounds = rounds > merge ? rounds / merge : 1;
    s.merge = rounds > merge ? 1 : merge / rounds;
    s.n_cols = ceil_div(plan->T_c, s.merge) * s.rounds;
  }
  s.tile_scores = (double)plan->tiling.B_r * (double)plan->tiling.B_c;
  s.score_flops = 2 * s.tile_scores * (double)plan->shape.d;
  s.value_flops = 2 * s.tile_scores * (double)plan->shape.d_v;
  set_kinds(&s);
  s.steps_per_head = steps_per_head(&s);
  s.accesses_per_step = s.kernels == FA1 ? 6 : s.kernels == STANDARD ? 3 : 1;
  *stream = s;
  return true;
}

double stream_standard_read_bytes(const Plan *p) {
  const double row = row_bytes(p), row_v = value_bytes(p), N_q = (double)p->shape.N_q, N_k = (double)p->shape.N_k,
               scores = N_q * N_k * p->element_bytes;
  const double per_head = (double)p->T_c * N_q * row + (double)p->T_r * N_k * row + 2 * scores /* softmax */
                          + (double)parts_of_d(p) * scores + (double)p->T_r * N_k * row_v;
  return per_head * (double)p->shape.batch * (double)p->shape.heads;
}
