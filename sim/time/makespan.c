#include "sim/time/makespan.h"

#include <math.h>
#include <stdlib.h>

enum { PIECES_MAX = 1 << 18, RESIDENTS_MAX = 32, SHARING_NORM = 6, MEMORY_NORM = 8 };

#define TOGETHER 1e-9 /* CTAs that end so near to each other, as part of the time, end together */
#define POWER_S  2e-3 /* after so long the clock has fallen halfway to where power keeps it: assumed */

/* An SM: each of its CTAs has done `done` tiles since the beginning of time. */
typedef struct {
  double now, done;
  double ends[RESIDENTS_MAX]; /* of its CTAs, in tiles done */
  int n;
} Sm;

/* The SM whose next CTA ends first is on top. */
typedef struct {
  double at;
  int32_t sm;
} Next;

typedef struct {
  const Launch *launch;
  const Sequences *of;
  const TimeLaw *law;
  double tile_s[RESIDENTS_MAX + 1]; /* of a CTA, by the number resident */
  double *costs;                    /* of each block of each plan, in tiles of the law, without splits */
  int64_t *first_cost;              /* of a plan's blocks */
  Sm *sms;
  Next *heap;     /* those with work */
  int32_t *ended; /* those that have room now */
  int64_t n_sms, n_heap, next_piece;
} Makespan;

/* ---- What a CTA costs, in tiles -------------------------------------------------------------------------- */

static double permille(int64_t n) { return (double)n / 1000; }

static bool is_masked(const Shape *s) { return s->causal || s->window || s->sided || s->pattern; }

static LaunchBuild build_of(const Plan *p) { return launch_build(&p->shape, p->tiling.B_r, p->tiling.B_c); }

static double fixed_tiles(const TimeLaw *law, const Plan *p) {
  double tiles = permille(law->block_permille);
  if (!is_masked(&p->shape)) return tiles;
  tiles += permille(law->mask_permille);
  if (p->shape.varlen) tiles += permille(law->varlen_permille);
  if (build_of(p) == BUILD_WINDOW) tiles += permille(law->window_permille);
  return tiles;
}

/* What each tile of a plan is, in tiles of the law. A kernel may check bounds in every tile where the last one is not
 * whole. */
static double size_of_tile(const TimeLaw *law, const Plan *p) {
  const double area = (double)p->tiling.B_r * (double)p->tiling.B_c;
  double size = law->tile_area ? area / (double)law->tile_area : 1;
  if (!is_masked(&p->shape) && (p->shape.varlen || p->shape.N_k % 128 != 0)) size *= 1 + permille(law->ragged_permille);
  if (is_masked(&p->shape)) size *= 1 + permille(law->mask_tile_permille);
  if (build_of(p) == BUILD_WINDOW) size *= 1 + permille(law->window_tile_permille);
  return size;
}

static double split_tiles(const Plan *p, int64_t i, int64_t split) {
  const Span computed = band_row(&p->band, p->tiling.B_r, p->tiling.B_c, i).computed;
  const int64_t first = split * p->tiles_per_split, last = first + p->tiles_per_split;
  const int64_t begin = first > computed.begin ? first : computed.begin,
                end = last < computed.end ? last : computed.end;
  return end > begin ? (double)(end - begin) : 0;
}

static int64_t n_blocks(const Makespan *m, const Plan *p) { return m->launch->config.of_columns ? p->T_c : p->T_r; }

static double piece_tiles(const Makespan *m, int64_t n) {
  const LaunchPiece piece = launch_piece(m->launch, n);
  const int32_t which = m->of->plan_of ? m->of->plan_of[piece.batch] : 0;
  const Plan *p = &m->of->plans[which];
  if (piece.row_block >= n_blocks(m, p)) return (double)m->law->idle_ns / (double)m->law->tile_ns;
  if (m->launch->n_splits == 1) return m->costs[m->first_cost[which] + piece.row_block];
  return split_tiles(p, piece.row_block, piece.split) * size_of_tile(m->law, p) + fixed_tiles(m->law, p);
}

/* ---- SMs ------------------------------------------------------------------------------------------------- */

/* A tile of a CTA alone takes alone_ns; of one among as many as fit, that many times tile_ns; between these their
 * throughputs add up as in a p-norm. Of a kernel with one CTA on an SM, alone means that other SMs have none: the fewer
 * are at work, the faster is the clock. */
static void set_tile_times(Makespan *m, SmSpeed speed) {
  const int full = (int)m->launch->occupancy.ctas_per_sm;
  const double at_work = fmin((double)m->launch->n_pieces / (double)m->launch->n_sm, 1), ns = 1e-9 * speed.slower;
  const double alone = fmax((double)(m->law->alone_ns ? m->law->alone_ns : m->law->tile_ns) * ns, speed.least_tile_s),
               all = fmax((double)m->law->tile_ns * ns, speed.least_tile_s),
               tile = full == 1 ? alone + (all - alone) * at_work : all;
  for (int n = 1; n <= full && n <= RESIDENTS_MAX; n++) {
    const double shared = n * tile;
    m->tile_s[n] = n == full ? fmax(shared, alone)
                   : n == 1
                       ? alone
                       : fmax(shared, pow(pow(alone, SHARING_NORM) + pow(shared, SHARING_NORM), 1.0 / SHARING_NORM));
  }
}

static double next_end(const Makespan *m, const Sm *sm) {
  double least = INFINITY;
  for (int k = 0; k < sm->n; k++) least = fmin(least, sm->ends[k]);
  return sm->n ? sm->now + (least - sm->done) * m->tile_s[sm->n] : INFINITY;
}

static void advance(const Makespan *m, Sm *sm, double to) {
  if (sm->n) sm->done += (to - sm->now) / m->tile_s[sm->n];
  sm->now = to;
}

static void add_cta(Sm *sm, double tiles) { sm->ends[sm->n++] = sm->done + tiles; }

/* Without the CTA that ends first. */
static void drop_first(Sm *sm) {
  int first = 0;
  for (int k = 1; k < sm->n; k++)
    if (sm->ends[k] < sm->ends[first]) first = k;
  sm->done = fmax(sm->done, sm->ends[first]);
  sm->ends[first] = sm->ends[--sm->n];
}

static void push(Makespan *m, int32_t sm) {
  const Next next = {next_end(m, &m->sms[sm]), sm};
  int64_t at = m->n_heap++;
  for (; at > 0 && m->heap[(at - 1) / 2].at > next.at; at = (at - 1) / 2) m->heap[at] = m->heap[(at - 1) / 2];
  m->heap[at] = next;
}

static int32_t pop(Makespan *m) {
  const int32_t sm = m->heap[0].sm;
  const Next last = m->heap[--m->n_heap];
  int64_t at = 0;
  for (int64_t child; (child = 2 * at + 1) < m->n_heap; at = child) {
    if (child + 1 < m->n_heap && m->heap[child + 1].at < m->heap[child].at) child++;
    if (m->heap[child].at >= last.at) break;
    m->heap[at] = m->heap[child];
  }
  m->heap[at] = last;
  return sm;
}

/* The SMs on which CTAs end now, without those CTAs. */
static int64_t take_ended(Makespan *m, double now) {
  const double about_now = now * (1 + TOGETHER);
  int64_t n = 0;
  while (m->n_heap > 0 && m->heap[0].at <= about_now) {
    const int32_t at = pop(m);
    Sm *sm = &m->sms[at];
    advance(m, sm, now);
    while (sm->n && next_end(m, sm) <= about_now) drop_first(sm);
    m->ended[n++] = at;
  }
  return n;
}

/* To the emptiest of them first. */
static void give_pieces(Makespan *m, int64_t n_ended) {
  for (int level = 0; level < m->launch->occupancy.ctas_per_sm; level++)
    for (int64_t k = 0; k < n_ended && m->next_piece < m->launch->n_pieces; k++)
      if (m->sms[m->ended[k]].n == level) add_cta(&m->sms[m->ended[k]], piece_tiles(m, m->next_piece++));
  for (int64_t k = 0; k < n_ended; k++)
    if (m->sms[m->ended[k]].n) push(m, m->ended[k]);
}

static double deal_out(Makespan *m) {
  double now = 0;
  for (int64_t k = 0; k < m->n_sms; k++) m->ended[k] = (int32_t)k;
  for (int64_t n_ended = m->n_sms; n_ended > 0; n_ended = take_ended(m, now)) {
    give_pieces(m, n_ended);
    if (m->n_heap > 0) now = m->heap[0].at;
  }
  return now;
}

/* ---- The whole ------------------------------------------------------------------------------------------- */

/* Work over slots, and the longest CTA. */
static double without_order(const Makespan *m) {
  const int64_t batch = m->launch->batch;
  double tiles = 0, longest = 0;
  for (int64_t b = 0; b < (m->of->plan_of ? batch : 1); b++) {
    const Plan *p = &m->of->plans[m->of->plan_of ? m->of->plan_of[b] : 0];
    const double computed = (double)plan_count(p, (Span){0, p->T_r}, (Span){0, p->T_c}).computed;
    const double size = size_of_tile(m->law, p), fixed = fixed_tiles(m->law, p), n = (double)n_blocks(m, p);
    const double rows = m->launch->config.of_columns ? (double)p->T_r : (double)p->tiles_per_split;
    tiles += (m->of->plan_of ? 1 : (double)batch) * (computed * size + n * (double)m->launch->n_splits * fixed);
    longest = fmax(longest, rows * size + fixed);
  }
  const int full = (int)fmin((double)m->launch->occupancy.ctas_per_sm, RESIDENTS_MAX);
  return m->tile_s[full] * (tiles * (double)m->launch->heads / (double)m->launch->n_slots + longest);
}

static bool count_costs(Makespan *m) {
  const Sequences *of = m->of;
  int64_t n = 0;
  m->first_cost = malloc((size_t)of->n_plans * sizeof *m->first_cost);
  for (int k = 0; m->first_cost && k < of->n_plans; k++) {
    m->first_cost[k] = n;
    n += n_blocks(m, &of->plans[k]);
  }
  m->costs = m->first_cost ? malloc((size_t)n * sizeof *m->costs) : NULL;
  for (int k = 0; m->costs && k < of->n_plans; k++) {
    const Plan *p = &of->plans[k];
    const double size = size_of_tile(m->law, p), fixed = fixed_tiles(m->law, p);
    for (int64_t i = 0; i < n_blocks(m, p); i++) {
      const PlanTiles t = m->launch->config.of_columns ? plan_column_tiles(p, i) : plan_row_tiles(p, i);
      const double tiles = (double)t.computed + (double)t.partial * permille(m->law->partial_permille);
      m->costs[m->first_cost[k] + i] = tiles * size + fixed;
    }
  }
  return m->costs != NULL;
}

double makespan_s(const Launch *launch, const Sequences *of, const TimeLaw *law, SmSpeed speed) {
  Makespan m = {.launch = launch, .of = of, .law = law, .n_sms = launch->n_sm};
  set_tile_times(&m, speed);
  if (launch->n_pieces > PIECES_MAX || launch->occupancy.ctas_per_sm > RESIDENTS_MAX) return without_order(&m);
  m.sms = calloc((size_t)m.n_sms, sizeof *m.sms);
  m.heap = calloc((size_t)m.n_sms, sizeof *m.heap);
  m.ended = calloc((size_t)m.n_sms, sizeof *m.ended);
  const bool is_counted = count_costs(&m);
  const double end = m.sms && m.heap && m.ended && is_counted ? deal_out(&m) : without_order(&m);
  free(m.sms);
  free(m.heap);
  free(m.ended);
  free(m.costs);
  free(m.first_cost);
  return end;
}

double makespan_kernel_s(const TimeLaw *law, double makespan, double hbm_s) {
  const double power = (double)law->power_permille / 1000 * makespan / (makespan + POWER_S);
  const double work = makespan * (1 + power), most = fmax(work, hbm_s), least = fmin(work, hbm_s);
  const double together = most > 0 ? most * pow(1 + pow(least / most, MEMORY_NORM), 1.0 / MEMORY_NORM) : 0;
  return (double)law->start_ns * 1e-9 + together;
}
