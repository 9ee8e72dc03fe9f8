/* Setting up a stream: what the CTAs of each kernel do with their blocks, and how much that is. */
#include <math.h>

#include "sim/l2/stream_blocks.h"

enum { LONG_KEYS = 65536, TILES_APART = 4 };
#define ALIKE 0.95 /* of granules over which a ragged last one is spread, so much is one of full size */
#define MOST  ((Wide)1 << 58)

static int64_t clamped(Wide n) { return n < MOST ? (int64_t)n : (int64_t)MOST; }

static int64_t parts_of_d(const Plan *p) { return ceil_div(p->shape.d_v, p->tiling.B_c); }

/* ---- Kernels ------------------------------------------------------------------------------------------------ */

static bool is_work(const ProgramOp *op) {
  return op->kind == OP_EVENT && (op->products_d || op->products_dv || op->n_products || op->n_exps);
}

static bool runs(const StreamBlocks *b, int kernel) { return !(b->schedule->kernels[kernel].when & ~b->when); }

static int n_running(const StreamBlocks *b) {
  int n = 0;
  for (int k = 0; k < b->schedule->n_kernels; k++) n += runs(b, k);
  return n;
}

/* The loop beside which a loop's body has no other loop and stores nothing; -1: there is none. */
static int only_loop(const Schedule *s, const ProgramKernel *kernel, int parent) {
  int only = -1;
  for (int op = kernel->first_op; op < kernel->end_op; op++) {
    if (s->ops[op].parent != parent) continue;
    if (s->ops[op].kind == OP_EVENT && s->ops[op].event == EVENT_STORE) return -1;
    if (s->ops[op].kind != OP_LOOP) continue;
    if (only >= 0) return -1;
    only = op;
  }
  return only;
}

/* Loops whose iterations are CTAs; returns the innermost, or -1: a head is one CTA. */
static int find_ctas(const Schedule *s, const ProgramKernel *kernel, StreamKernel *to) {
  int inner = -1;
  for (int op; (op = only_loop(s, kernel, inner)) >= 0 && s->ops[op].every && !s->ops[op].in_split; inner = op) {
    to->dims[to->n_dims++] = s->ops[op].dim;
    to->of = s->ops[op].of;
    to->diagonal |= s->ops[op].diagonal;
  }
  return inner;
}

static bool is_among(const StreamKernel *k, Dim dim) {
  for (int n = 0; n < k->n_dims; n++)
    if (k->dims[n] == dim) return true;
  return false;
}

/* Whether a launch's pieces are the CTAs of this kernel. */
static bool is_launch(const Stream *s, const StreamBlocks *b, const ProgramKernel *kernel, const StreamKernel *k) {
  bool d = false, d_v = false;
  for (int op = kernel->first_op; op < kernel->end_op; op++) {
    d |= b->schedule->ops[op].products_d > 0;
    d_v |= b->schedule->ops[op].products_dv > 0;
  }
  if (!d || !d_v || s->over_heads) return false;
  if (s->launch->config.whole_head) return k->n_dims == 0;
  if (s->merged == DIM_I) return false;
  const bool splits = is_among(k, DIM_S);
  return is_among(k, DIM_I) && !is_among(k, DIM_J) && (splits || s->launch->n_splits == 1);
}

/* The parts of d_v of a kernel that does nothing but P V, with blocks that no other kernel moves. */
static int64_t parts_of(const Stream *s, const StreamBlocks *b, int kernel, const StreamKernel *k) {
  const Schedule *schedule = b->schedule;
  bool multiplies = false;
  for (int n = schedule->kernels[kernel].first_op; n < schedule->kernels[kernel].end_op; n++) {
    const ProgramOp *op = &schedule->ops[n];
    if (op->products_d || op->n_exps) return 1;
    multiplies |= op->products_dv > 0;
    if (stream_block_moves(b, op) && op->width == SIDE_DV && b->kernels[op->moved[0]] != 1 << kernel) return 1;
  }
  return multiplies && k->n_dims > 0 ? parts_of_d(s->plan) : 1;
}

/* Inputs by keys are shared by the query heads of a KV head. */
static bool is_of_kv_head(const ProgramName *n) { return n->is_input && n->rows == SIDE_COLS; }

static void set_move(const Stream *s, const StreamBlocks *b, const ProgramOp *op, int name, StreamOp *to) {
  const ProgramName *n = &b->schedule->names[name];
  const StreamKernel *kernel = &s->kernels[s->n_kernels];
  to->kind = op->event == EVENT_LOAD ? STREAM_READ : STREAM_WRITE;
  to->first = b->kind[name];
  to->of_kv_head = is_of_kv_head(n);
  to->in_parts = op->width == SIDE_DV && kernel->parts > 1;
  Wide blocks = to->in_parts ? wide(kernel->parts) : 1;
  static const Dim INNER_FIRST[] = {DIM_S, DIM_J, DIM_I, DIM_H};
  for (size_t k = 0; k < COUNT_OF(INNER_FIRST); k++) {
    const Dim dim = INNER_FIRST[k];
    if (!(n->subscripts >> dim & 1)) continue;
    to->per[dim] = clamped(blocks);
    blocks = wide(clamped(blocks * wide(s->n[dim])));
  }
  to->per_head = clamped(blocks);
}

/* CTAs of a cluster, as the kernel's description says, or the program. */
static void find_cluster(const Stream *s, const Schedule *schedule, int kernel, StreamKernel *to) {
  const ProgramLaunch *l = &schedule->launches[kernel];
  const LaunchConfig *c = &s->launch->config;
  const bool described = kernel == 0 && c->cluster > 0;
  to->cluster = described ? (c->cluster > 1 ? c->cluster : 0) : l->cluster;
  to->cluster_dim = (Dim)(described ? c->cluster_dim : l->cluster_dim);
  to->shared = described ? c->shared_names : l->shared;
}

/* A load of what CTAs of a cluster share. */
static void set_cluster(const Schedule *schedule, const StreamKernel *k, const ProgramOp *op, StreamOp *to) {
  to->cluster = (uint8_t)k->cluster;
  to->cluster_dim = (uint8_t)k->cluster_dim;
  for (int loop = op->parent; loop >= 0; loop = schedule->ops[loop].parent) to->cluster_of |= schedule->ops[loop].of;
}

/* Of a line's blocks those that lead, as long as there is room for all that is no move. A load that needs a loop has
 * that of the program until its place is known. */
static int add_moves(Stream *s, const StreamBlocks *b, const ProgramOp *op, int at) {
  for (int k = 0; k < op->n_moved; k++) {
    const int name = op->moved[k];
    if (b->leader[name] != name || at >= PROGRAM_OPS_MAX) continue;
    s->ops[at] = (StreamOp){.needs = (int8_t)(op->needs < 0 ? -1 : -2 - op->needs)};
    set_move(s, b, op, name, &s->ops[at]);
    const StreamKernel *kernel = &s->kernels[s->n_kernels];
    if (kernel->cluster && (kernel->shared & name_bit(name)) && s->ops[at].kind == STREAM_READ)
      set_cluster(b->schedule, kernel, op, &s->ops[at]);
    at++;
  }
  return at;
}

/* The last operation so far that is work in the same body; NULL: there is none. */
static StreamOp *work_in_body(StreamOp *ops, int body, int end) {
  for (int at = end - 1; at >= body; at--) {
    if (ops[at].kind == STREAM_NEXT || ops[at].kind == STREAM_LOOP) return NULL;
    if (ops[at].kind == STREAM_WORK) return &ops[at];
  }
  return NULL;
}

/* At the end of a loop: what its body is. A loop in which nothing happens is left out. */
static int close_loop(StreamOp *ops, int loop, int end) {
  StreamOp *l = &ops[loop];
  l->innermost = l->gathers = true;
  for (int at = loop + 1; at < end; at++) {
    l->innermost &= ops[at].kind != STREAM_LOOP;
    l->gathers &= ops[at].kind != STREAM_WORK;
    l->reads = (uint8_t)(l->reads + (ops[at].kind == STREAM_READ));
    l->writes = (uint8_t)(l->writes + (ops[at].kind == STREAM_WRITE && !ops[at].is_spill));
  }
  if (l->gathers && l->reads + l->writes == 0 && l->innermost) return loop;
  l->jump = (uint8_t)(end + 1);
  ops[end] = *l;
  ops[end].kind = STREAM_NEXT;
  ops[end].jump = (uint8_t)(loop + 1 + (ops[loop + 1].kind == STREAM_WRITE && ops[loop + 1].is_spill));
  return end + 1;
}

static bool is_reversed(const Stream *s, const ProgramOp *loop) {
  return loop->backwards || (loop->either_way && s->launch->config.walk == WALK_REVERSED);
}

/* Tiles that a step works on, a part of d_v as that part of one, where it is always the same: all of a granule. Of row
 * blocks, and under a pattern, those that are computed: 0. */
static double fixed_tiles(const Stream *s, const StreamKernel *k) {
  const bool counts = (k->by_launch && k->n_dims > 0) || s->plan->mask.pattern;
  return counts && s->merge > 1 ? 0 : (double)s->merge / (double)k->parts;
}

/* FLOPs of products that are not rows x columns x d or d_v. */
static double other_products(const Stream *s, const Schedule *schedule, const ProgramOp *op) {
  double sum = 0;
  for (int n = op->first_product; n < op->first_product + op->n_products; n++) {
    const uint8_t *sides = schedule->products[n].sides;
    sum += 2 * (double)schedule_side(schedule, s->plan, sides[0]) * (double)schedule_side(schedule, s->plan, sides[1]) *
           (double)schedule_side(schedule, s->plan, sides[2]);
  }
  return sum;
}

/* What a CTA of the kernel does, from ops[at] on. Returns the place after it. */
static int compile(Stream *s, const StreamBlocks *b, int kernel, int at) {
  const Schedule *schedule = b->schedule;
  StreamKernel *k = &s->kernels[s->n_kernels];
  const int ctas = find_ctas(schedule, &schedule->kernels[kernel], k);
  k->by_launch = is_launch(s, b, &schedule->kernels[kernel], k);
  k->parts = k->by_launch ? 1 : parts_of(s, b, kernel, k);
  k->first_op = (uint8_t)at;
  k->of_program = (uint8_t)kernel;
  for (int n = 0; n < k->n_dims; n++)
    k->back[k->dims[n]] = schedule_ctas_go_back(schedule, s->plan, kernel, (Dim)k->dims[n]);
  find_cluster(s, schedule, kernel, k);
  int8_t place[PROGRAM_OPS_MAX]; /* of a loop */
  memset(place, -1, sizeof place);
  bool spills = k->by_launch && k->n_dims > 0 && spills_held(&s->launch->config.spills) > 0 && n_running(b) == 1;
  int body = at;
  for (int n = schedule->kernels[kernel].first_op; n < schedule->kernels[kernel].end_op; n++) {
    const ProgramOp *op = &schedule->ops[n];
    StreamOp *to = &s->ops[at];
    if (op->kind == OP_LOOP && n > ctas) {
      *to = (StreamOp){.kind = STREAM_LOOP,
                       .dim = op->dim,
                       .of = op->of,
                       .in_split = op->in_split,
                       .diagonal = op->diagonal,
                       .step = is_reversed(s, op) ? -1 : 1,
                       .has_pattern = op->of && s->plan->mask.pattern};
      place[n] = (int8_t)at++;
      if (spills) s->spills = true;
      if (spills) s->ops[at++] = (StreamOp){.kind = STREAM_WRITE, .first = STREAM_SPILL, .is_spill = true};
      spills = false;
      body = at;
    } else if (op->kind == OP_END && op->parent >= 0 && place[op->parent] >= 0) {
      at = close_loop(s->ops, place[op->parent], at);
      body = at;
    } else if (stream_block_moves(b, op)) {
      at = add_moves(s, b, op, at);
    } else if (is_work(op)) {
      StreamOp *sum = work_in_body(s->ops, body, at);
      if (!sum) {
        sum = to;
        *sum = (StreamOp){.kind = STREAM_WORK, .n_tiles = fixed_tiles(s, k)};
        at++;
      }
      const double parts = sum->n_tiles > 0 ? 1 : (double)k->parts;
      const Shape *shape = &s->plan->shape;
      const double deep = op->products_d * (double)shape->d + op->products_dv * (double)shape->d_v;
      sum->flops += (2 * s->tile_scores * deep + other_products(s, schedule, op)) / parts;
      sum->exps += op->n_exps * s->tile_scores / parts;
    }
  }
  for (int n = k->first_op; n < at; n++)
    if (s->ops[n].kind == STREAM_READ && s->ops[n].needs < -1) s->ops[n].needs = place[-2 - s->ops[n].needs];
  k->end_op = (uint8_t)at;
  s->ops[at] = (StreamOp){.kind = STREAM_END};
  return at + 1;
}

/* The read of Q outside the loops of a kernel that asks for it again. */
static void find_query(Stream *s, StreamKernel *k) {
  if (!k->by_launch || k->n_dims == 0 || !s->launch->config.reloads_q) return;
  for (int at = k->first_op; at < k->end_op && s->ops[at].kind != STREAM_LOOP && !k->query_op; at++)
    if (s->ops[at].kind == STREAM_READ && s->ops[at].first == STREAM_Q) k->query_op = (uint8_t)(at + 1);
}

static void compile_kernels(Stream *s, const StreamBlocks *b) {
  int at = 0;
  memset(s->kernels, 0, sizeof s->kernels);
  memset(s->ops, 0, sizeof s->ops);
  s->n_kernels = 0;
  s->by_rows = s->spills = false;
  for (int kernel = 0; kernel < b->schedule->n_kernels; kernel++) {
    if (!runs(b, kernel)) continue;
    StreamKernel *k = &s->kernels[s->n_kernels];
    at = compile(s, b, kernel, at);
    find_query(s, k);
    Wide pieces = wide(s->n_heads) * wide(k->parts);
    if (k->by_launch && k->n_dims > 0) pieces *= wide(s->launch->n_row_blocks) * wide(s->launch->n_splits);
    for (int n = 0; n < k->n_dims && !k->by_launch; n++) pieces = wide(clamped(pieces * wide(s->n[k->dims[n]])));
    k->n_pieces = clamped(pieces);
    s->by_rows |= k->by_launch && k->n_dims > 0;
    s->n_kernels++;
  }
  s->combines = s->by_rows && s->n_kernels > 1;
}

/* ---- Sizes ------------------------------------------------------------------------------------------------- */

static double side_of(const Schedule *s, const Plan *p, Side side, uint8_t subscripts) {
  const bool whole = (side == SIDE_ROWS && subscripts & IN_I) || (side == SIDE_COLS && subscripts & IN_J);
  return (double)(whole ? schedule_side_whole(s, p, (int)side) : schedule_side(s, p, (int)side));
}

/* All blocks of a name, of one head. */
static double name_bytes(const Schedule *s, const Plan *p, const ProgramName *n) {
  const double element =
      n->cols == SIDE_ONE || n->is_fp32 ? STATS_BYTES : plan_element(p, s->tensors[n->tensor].operand);
  double blocks = n->subscripts & IN_S ? (double)p->tiling.n_splits : 1; /* the other sides have them in */
  if (n->subscripts & IN_H) blocks *= (double)schedule_group(p);
  if (n->subscripts & IN_I && n->rows != SIDE_ROWS && n->cols != SIDE_ROWS) blocks *= (double)p->T_r;
  if (n->subscripts & IN_J && n->rows != SIDE_COLS && n->cols != SIDE_COLS) blocks *= (double)p->T_c;
  return side_of(s, p, (Side)n->rows, n->subscripts) * side_of(s, p, (Side)n->cols, n->subscripts) * blocks * element;
}

/* Whether pieces of one head, counted through all batches, come before those of the next. */
static bool heads_in_turn(const Stream *s) {
  const LaunchOrder order = s->launch->config.order;
  bool launched = false;
  for (int k = 0; k < s->n_kernels; k++) launched |= s->kernels[k].by_launch;
  return !launched || order == ORDER_QUERY_HEAD_BATCH || (order == ORDER_QUERY_BATCH_HEAD && s->plan->shape.batch == 1);
}

/* Bytes of a tile: of one of its tensors. */
static double tile_bytes(const HierarchyKind *k) {
  return k->bytes / (k->n_tensors ? k->n_tensors : 1) / (k->n_tiles ? k->n_tiles : 1);
}

/* Of row blocks over K and V: what follows each other in a granule. What comes and goes by itself of Q and O is no
 * larger than of K and V. Where Q is renewed, parts are as small as those of Q, which stay: larger ones would have room
 * where Q leaves none. */
static void part_kinds(Stream *s) {
  static const StreamKind KEYS[] = {STREAM_KV, STREAM_V}, ROWS[] = {STREAM_Q, STREAM_O};
  const bool is_long = s->plan->shape.N_k > LONG_KEYS;
  for (int k = 0; k < 2; k++) {
    HierarchyKind *keys = &s->kinds[KEYS[k]];
    if (!keys->n) continue;
    const int64_t apart = is_long ? 2 : TILES_APART; /* more takes time */
    keys->n_tiles = (uint32_t)(s->merge < apart ? s->merge : apart);
    if (s->launch->config.reloads_q && s->kinds[STREAM_Q].n) {
      keys->n_tiles = 1;
      const double parts = ceil(tile_bytes(keys) / s->kinds[STREAM_Q].bytes);
      keys->n_tiles = (uint32_t)fmin(parts, is_long ? 4 : HIERARCHY_TILES_MAX);
    }
  }
  const double tile = tile_bytes(&s->kinds[STREAM_KV]);
  for (int k = 0; k < 2; k++)
    if (s->kinds[ROWS[k]].n)
      s->kinds[ROWS[k]].n_tiles = (uint32_t)fmin(ceil(s->kinds[ROWS[k]].bytes / tile * ALIKE), HIERARCHY_TILES_MAX);
}

/* Granules are of equal size: a ragged last tile is spread over all. Of heads that are not walked there are none. */
static void set_kinds(Stream *s, const StreamBlocks *b) {
  const Shape *shape = &s->plan->shape;
  int64_t all = s->all_heads, all_kv = shape->batch * shape->kv_heads;
  if (s->n_heads < all && heads_in_turn(s)) { /* and those of a group that come between them */
    const int64_t group = s->launch->config.group_heads > 1 ? s->launch->config.group_heads : 1,
                  walked = ceil_div(s->n_heads, group) * group < all ? ceil_div(s->n_heads, group) * group : all;
    all_kv = ceil_div(walked, all / all_kv);
    all = walked;
  }
  double bytes[PROGRAM_NAMES_MAX] = {0};
  for (int name = 0; name < b->schedule->n_names; name++)
    if (b->leader[name] >= 0) bytes[b->leader[name]] += name_bytes(b->schedule, s->plan, &b->schedule->names[name]);
  for (int at = 0; at < STREAM_OPS_MAX; at++) {
    const StreamOp *op = &s->ops[at];
    if ((op->kind != STREAM_READ && op->kind != STREAM_WRITE) || op->is_spill) continue;
    HierarchyKind *kind = &s->kinds[op->first];
    kind->n = (uint64_t)clamped(wide(op->of_kv_head ? all_kv : all) * wide(op->per_head));
  }
  for (int name = 0; name < b->schedule->n_names; name++) {
    if (b->leader[name] != name) continue;
    const ProgramName *n = &b->schedule->names[name];
    HierarchyKind *kind = &s->kinds[b->kind[name]];
    const double heads = (double)(is_of_kv_head(n) ? all_kv : all);
    kind->bytes = heads * bytes[name] / (double)kind->n;
    for (int v = 0; v < b->schedule->n_names && is_of_kv_head(n); v++)
      if (v != name && b->leader[v] == name) kind->n_tensors = 2;
    if (n->is_stored && n->is_loaded)
      s->between_bytes = fmax(s->between_bytes, kind->bytes * ((double)kind->n / (double)all));
  }
  if (s->by_rows) part_kinds(s);
  if (s->spills)
    s->kinds[STREAM_SPILL] =
        (HierarchyKind){.n = (uint64_t)s->launch->n_slots, .bytes = (double)spills_held(&s->launch->config.spills)};
}

/* ---- How many steps ----------------------------------------------------------------------------------------- */

/* The iterations of the innermost loop of several, in a head. */
static double iterations(const Stream *s, uint8_t dims, bool of, bool in_split) {
  int64_t splits = (dims & IN_S) && !in_split ? s->plan->tiling.n_splits : 1;
  if (dims & IN_H) splits *= s->n[DIM_H];
  if (!of) return (double)splits * (dims & IN_I ? (double)s->n[DIM_I] : 1) * (dims & IN_J ? (double)s->n[DIM_J] : 1);
  const Tiling *t = &s->plan->tiling;
  const int64_t B_r = t->B_r * (s->merged == DIM_I ? s->merge : 1), B_c = t->B_c * (s->merged == DIM_J ? s->merge : 1);
  const MaskTiles tiles = {B_r, B_c, {0, ceil_div(s->plan->shape.N_q, B_r)}, {0, ceil_div(s->plan->shape.N_k, B_c)}};
  return (double)splits * (double)mask_count(&s->plan->mask, &tiles).computed * (double)s->rounds;
}

/* Row blocks that see no key store their zeros in one step. */
static double empty_rows(const Stream *s) {
  const Tiling *t = &s->plan->tiling;
  const MaskTiles tiles = {t->B_r, t->B_c, {0, s->plan->T_r}, {0, s->plan->T_c}};
  return (double)(wide(s->plan->T_r) - mask_rows_seen(&s->plan->mask, &tiles).blocks);
}

/* About. What a loop without work stores goes out many at a time; what it loads is counted one by one, for time. */
static double kernel_steps(const Stream *s, const StreamKernel *k) {
  uint8_t dims = 0;
  bool of = k->of, loops = false, masked = true;
  double steps = 0;
  for (int n = 0; n < k->n_dims; n++) dims |= (uint8_t)(1 << k->dims[n]);
  const uint8_t of_cta = dims;
  for (int at = k->first_op; at < k->end_op; at++) {
    const StreamOp *op = &s->ops[at];
    if (op->kind == STREAM_NEXT) {
      dims &= (uint8_t) ~(1 << op->dim);
      if ((dims & of_cta) == dims) of = k->of;
    }
    if (op->kind != STREAM_LOOP) continue;
    dims |= (uint8_t)(1 << op->dim);
    of |= op->of;
    if (!op->innermost) continue;
    loops = true;
    masked &= op->of;
    steps += iterations(s, dims, of, op->in_split) / (op->gathers && !op->reads ? CLOCK_ACCESSES_MAX : 1);
  }
  if (!loops) steps = iterations(s, dims, of, false);
  if (k->by_launch && k->n_dims > 0 && masked) steps += empty_rows(s);
  return steps * (double)k->parts;
}

static double accesses_per_step(const Stream *s) {
  double most = 1;
  for (int k = 0; k < s->n_kernels; k++) {
    int outside = 0, inside = 0;
    for (int at = s->kernels[k].first_op; at < s->kernels[k].end_op; at++) {
      const StreamOp *op = &s->ops[at];
      outside += op->kind == STREAM_READ || op->kind == STREAM_WRITE;
      if (op->kind == STREAM_LOOP && op->innermost && op->reads + op->writes > inside) inside = op->reads + op->writes;
    }
    most = fmax(most, inside ? inside : outside);
  }
  return most;
}

/* ---- */

/* The side that the innermost loop over tiles runs over: of the kernel with most work. */
static Dim find_merged(const StreamBlocks *b) {
  const Schedule *s = b->schedule;
  Dim dim = DIM_J;
  int most = 0;
  for (int op = 0; op < s->n_ops; op++) {
    const ProgramOp *o = &s->ops[op];
    if (o->kind != OP_LOOP || !runs(b, o->kernel) || ((o->loops | 1 << o->dim) & (IN_I | IN_J)) != (IN_I | IN_J))
      continue;
    int products = 0;
    for (int n = op; n < o->end; n++) products += s->ops[n].products_d + s->ops[n].products_dv;
    if (products <= most) continue;
    most = products;
    dim = (Dim)o->dim;
  }
  return dim;
}

/* In which a tile of K and V is loaded: of split keys not known. */
static int64_t find_rounds(const Stream *s, const StreamBlocks *b) {
  const LaunchConfig *kernel = &s->launch->config;
  if (!s->by_rows || b->schedule->splits || !kernel->waits || kernel->round_bytes == 0) return 1;
  for (int name = 0; name < b->schedule->n_names; name++)
    if (b->leader[name] == name && (b->schedule->names[name].subscripts & IN_J) && b->kind[name] != STREAM_KV) return 1;
  const double tile = (double)s->plan->tiling.B_c * plan_key_bytes(s->plan);
  return (double)kernel->round_bytes >= tile ? 1 : (int64_t)ceil(tile / (double)kernel->round_bytes);
}

static void set_granules(Stream *s) {
  const Plan *p = s->plan;
  s->n[DIM_I] = ceil_div(p->T_r, s->merged == DIM_I ? s->merge : 1);
  s->n[DIM_J] = ceil_div(p->T_c, s->merged == DIM_J ? s->merge : 1) * s->rounds;
  s->n[DIM_S] = p->tiling.n_splits;
  s->n[DIM_H] = schedule_group(p);
}

/* Granules of one kind follow those of another. */
static void place_kinds(Stream *s) {
  int64_t first[STREAM_KIND_COUNT] = {0};
  for (int k = 1; k < STREAM_KIND_COUNT; k++) first[k] = first[k - 1] + (int64_t)s->kinds[k - 1].n;
  for (int at = 0; at < STREAM_OPS_MAX; at++)
    if (s->ops[at].kind == STREAM_READ || s->ops[at].kind == STREAM_WRITE) s->ops[at].first = first[s->ops[at].first];
}

bool stream_make(Stream *stream, const Schedule *schedule, const Plan *plan, const Launch *launch, int64_t merge,
                 int64_t n_heads) {
  StreamBlocks b;
  Stream s = {.plan = plan, .launch = launch, .merge = schedule->diagonal ? 1 : merge, .rounds = 1};
  s.over_heads = schedule->over_heads;
  NameSet shared = 0;
  for (int k = 0; k < schedule->n_kernels; k++) {
    find_cluster(&s, schedule, k, &s.kernels[0]);
    shared |= s.kernels[0].shared;
  }
  if (!stream_blocks_find(&b, schedule, schedule_when(plan), shared)) return false;
  s.all_heads = (int64_t)schedule_heads(schedule, &plan->shape);
  s.n_heads = n_heads ? n_heads : s.all_heads;
  s.merged = find_merged(&b);
  s.tile_scores = (double)plan->tiling.B_r * (double)plan->tiling.B_c;
  set_granules(&s);
  compile_kernels(&s, &b);
  const int64_t rounds = schedule->diagonal ? 1 : find_rounds(&s, &b);
  if (rounds > 1) {
    s.rounds = rounds > merge ? rounds / merge : 1;
    s.merge = rounds > merge ? 1 : merge / rounds;
    set_granules(&s);
    compile_kernels(&s, &b);
  }
  s.stores_again = stream_blocks_stored_again(&b);
  set_kinds(&s, &b);
  place_kinds(&s);
  for (int k = 0; k < s.n_kernels; k++) s.steps_per_head += kernel_steps(&s, &s.kernels[k]);
  s.accesses_per_step = launch->config.whole_head ? CLOCK_ACCESSES_MAX : accesses_per_step(&s);
  *stream = s;
  return true;
}
