#include "sim/ranks.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const SCHEME_NAMES[SCHEME_COUNT + 1] = {"ring", "striped", "zigzag", "ulysses", "tensor", "offload", NULL};

static int kv_element_bytes(const Shape *s) { return dtype_bytes(s->has_kv_dtype ? s->kv_dtype : s->dtype); }

double ranks_token_bytes(const Shape *s) {
  return (double)s->kv_heads * (double)(s->d + (s->v_in_k ? 0 : s->d_v)) * kv_element_bytes(s);
}

double ranks_hiding_tokens(const Shape *s, const Gpu *gpu, double link_bytes_per_s) {
  const double rate = timing_rate(gpu, TIME_MATH, s->dtype), pair = (double)s->heads * simulation_pair_flops(s);
  return rate > 0 ? rate * ranks_token_bytes(s) / (link_bytes_per_s * pair) : (double)NAN;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------ */

static Shape piece_shape(const Ranks *ranks, RankPieceKind kind) {
  Shape s = ranks->shape;
  if (!scheme_is_ring(ranks->scheme)) return s; /* its share of heads is there already */
  s.N_q = kind == RANK_PIECE_ROWS ? ranks->tokens / 2 : ranks->tokens;
  s.N_k = kind == RANK_PIECE_KEYS ? ranks->tokens / 2 : ranks->tokens;
  s.causal = kind == RANK_PIECE_CAUSAL || kind == RANK_PIECE_STRICT;
  return s;
}

/* A kernel's time asks for its launch, not for what its CTAs find in L2. Without the diagonal there are as many tiles,
 * and a pair a query less. */
static Status make_piece(Ranks *ranks, RankPieceKind kind, const Problem *problem, Error *error) {
  Problem part = *problem;
  Simulation run;
  part.shape = piece_shape(ranks, kind);
  Status status = shape_complete(&part.shape, error);
  if (!status) status = simulate(&run, &part, planner_algorithm(&part), error);
  if (status) return status;
  const LaunchConfig config = simulation_launch(&run);
  run.has_launch = part.kernel && !launch_make(&run.launch, &run.plan.shape, &config, &ranks->gpu, NULL);
  simulation_time(&run, &ranks->gpu);
  const Shape *s = &part.shape;
  const Wide heads = wide(s->batch) * wide(s->heads);
  const Mask mask = mask_of_shape(s);
  ranks->pieces[kind] =
      (RankPiece){.pairs = heads * (mask_pairs(&mask) - (kind == RANK_PIECE_STRICT ? wide(s->N_q) : 0)),
                  .read_bytes = run.read_bytes,
                  .write_bytes = run.write_bytes,
                  .bound_s = run.timing.least_s,
                  .predicted_s = run.timing.predicted_s,
                  .binds = run.timing.floor.bound,
                  .kind = run.timing.kind};
  return STATUS_OK;
}

/* What rank r does with the keys of rank k. */
static RankPieceKind ring_piece(const Ranks *ranks, int64_t r, int64_t k) {
  if (!ranks->shape.causal) return RANK_PIECE_FULL;
  switch (ranks->scheme) {
  case SCHEME_STRIPED: return k <= r ? RANK_PIECE_CAUSAL : RANK_PIECE_STRICT;
  case SCHEME_ZIGZAG: return k == r ? RANK_PIECE_CAUSAL : k < r ? RANK_PIECE_KEYS : RANK_PIECE_ROWS;
  default: return k == r ? RANK_PIECE_CAUSAL : k < r ? RANK_PIECE_FULL : RANK_PIECE_NONE;
  }
}

static Status make_pieces(Ranks *ranks, const Problem *problem, Error *error) {
  bool needed[RANK_PIECE_COUNT] = {false};
  Status status = STATUS_OK;
  if (scheme_is_ring(ranks->scheme))
    for (int64_t r = 0; r < ranks->n && r < 2; r++) /* of the first two ranks, every kind that there is */
      for (int64_t k = 0; k < ranks->n && k < 3; k++) needed[ring_piece(ranks, r, k)] = true;
  else
    needed[RANK_PIECE_FULL] = true;
  for (int kind = RANK_PIECE_FULL; kind < RANK_PIECE_COUNT && !status; kind++)
    if (needed[kind]) status = make_piece(ranks, (RankPieceKind)kind, problem, error);
  return status;
}

/* ---- Who holds what ---------------------------------------------------------------------------------------- */

static void hold(Ranks *ranks) {
  const Shape *s = &ranks->shape;
  const Wide rows = wide(s->batch) * wide(s->heads) * wide(ranks->tokens),
             keys = wide(s->batch) * wide(s->kv_heads) *
                    wide(scheme_is_ring(ranks->scheme) || ranks->scheme == SCHEME_ULYSSES ? ranks->tokens : s->N_k);
  ranks->q_bytes = rows * wide(s->d) * wide(dtype_bytes(s->dtype));
  ranks->o_bytes = rows * wide(s->d_v) * wide(dtype_out_bytes(s->dtype));
  ranks->k_bytes = keys * wide(s->d) * wide(kv_element_bytes(s));
  ranks->v_bytes = s->v_in_k ? 0 : keys * wide(s->d_v) * wide(kv_element_bytes(s));
  if (scheme_is_ring(ranks->scheme) && ranks->n > 1) {
    ranks->carried_bytes = rows * wide(4 * s->d_v + 8);
    ranks->second_bytes = ranks->k_bytes + ranks->v_bytes;
  }
  if (ranks->scheme == SCHEME_ULYSSES) /* heads of all tokens beside tokens of all heads */
    ranks->second_bytes = ranks->q_bytes + ranks->k_bytes + ranks->v_bytes + ranks->o_bytes;
}

/* ---- Sizes that go together -------------------------------------------------------------------------------- */

static Status refuse_sizes(const Ranks *ranks, Error *error) {
  const Shape *s = &ranks->shape;
  const char *name = SCHEME_NAMES[ranks->scheme];
  const int64_t parts = ranks->scheme == SCHEME_ZIGZAG ? 2 * ranks->n : ranks->n;
  const bool by_tokens = scheme_is_ring(ranks->scheme) || ranks->scheme == SCHEME_ULYSSES;
  const bool by_heads = ranks->scheme == SCHEME_ULYSSES || ranks->scheme == SCHEME_TENSOR;
  if (by_tokens && s->N_q != s->N_k)
    return error_set(error, STATUS_BAD_REQUEST,
                     "%s: a rank holds queries and keys of the same tokens, and there are %" PRId64 " and %" PRId64
                     "; leave out --seq-len-k, or take --scheme tensor",
                     name, s->N_q, s->N_k);
  if (by_tokens && s->N_q % parts)
    return error_set(error, STATUS_BAD_REQUEST,
                     "%s: %" PRId64 " tokens are not %" PRId64 " equal parts; give -N %" PRId64, name, s->N_q, parts,
                     ceil_div(s->N_q, parts) * parts);
  if (by_heads && (s->heads % ranks->n || s->kv_heads % ranks->n))
    return error_set(error, STATUS_BAD_REQUEST,
                     "%s: %" PRId64 " query heads and %" PRId64 " KV heads are not shared out evenly among %" PRId64
                     " ranks; a divisor of both is right",
                     name, s->heads, s->kv_heads, ranks->n);
  if (scheme_is_ring(ranks->scheme) && (s->window || s->sided || s->pattern || s->top_left))
    return error_set(error, STATUS_BAD_REQUEST,
                     "%s: blocks are causal, whole or masked; windows and other masks are not modelled between ranks. "
                     "Leave out --window and --mask, or take --scheme ulysses",
                     name);
  return STATUS_OK;
}

static Status make_offload(Ranks *ranks, const RanksAsked *asked, Error *error) {
  const Serving *serving = asked->serving;
  const ServingPart part = {.queries = ranks->shape.N_q, .keys = ranks->shape.N_k, .count = ranks->shape.batch};
  ServingStep step;
  const Status status = serving_step(serving, &part, 1, (double)part.count, &step, error);
  if (status) return status;
  const double layers = (double)serving->model->layers;
  ranks->weights_bytes = (Wide)serving_weights_bytes(serving);
  ranks->cache_bytes = kvcache_seek(&serving->cache, part.keys).bytes * wide(part.count);
  const double all = (double)(ranks->weights_bytes + ranks->cache_bytes), room = (double)ranks->gpu.hbm_bytes;
  ranks->away = all > room ? 1 - room / all : 0;
  ranks->n_steps = serving->model->layers + 1;
  ranks->pieces[RANK_PIECE_FULL] =
      (RankPiece){.read_bytes = (Wide)((step.weight_bytes + (double)step.kv_bytes) / layers),
                  .bound_s = (step.matrix_s + step.attention.bound_s) / layers,
                  .predicted_s = (double)NAN,
                  .binds = step.matrix_s > step.attention.bound_s ? step.flop_s > step.weight_s ? TIME_MATH : TIME_HBM
                                                                  : step.attention.bound};
  return STATUS_OK;
}

Status ranks_make(Ranks *ranks, const RanksAsked *asked, Error *error) {
  *ranks = (Ranks){.scheme = asked->scheme,
                   .n = asked->n ? asked->n : 1,
                   .shape = asked->problem->shape,
                   .gpu = *asked->gpu,
                   .link = *asked->link};
  Status status = shape_complete(&ranks->shape, error);
  if (status) return status;
  if (ranks->n < 1 || ranks->n > RANKS_MAX)
    return error_set(error, STATUS_BAD_REQUEST, "%" PRId64 " ranks; there are 1 to %d", ranks->n, RANKS_MAX);
  status = refuse_sizes(ranks, error);
  if (status) return status;
  Shape *s = &ranks->shape;
  ranks->tokens = s->N_q;
  if (asked->scheme == SCHEME_OFFLOAD) return make_offload(ranks, asked, error);
  if (asked->scheme == SCHEME_TENSOR) s->heads /= ranks->n, s->kv_heads /= ranks->n;
  if (asked->scheme != SCHEME_TENSOR) ranks->tokens = s->N_q / ranks->n;
  hold(ranks);
  if (asked->scheme == SCHEME_ULYSSES) s->heads /= ranks->n, s->kv_heads /= ranks->n;
  ranks->n_steps = scheme_is_ring(asked->scheme) ? ranks->n : asked->scheme == SCHEME_ULYSSES ? 3 : 2 * ranks->n - 1;
  return make_pieces(ranks, asked->problem, error);
}

/* ---- Steps ------------------------------------------------------------------------------------------------- */

static RankStep ring_step(const Ranks *ranks, int64_t t, int64_t r) {
  const int64_t k = (r - t + ranks->n) % ranks->n;
  const bool is_last = t + 1 == ranks->n;
  RankStep s = {.keys_of = k, .piece = ring_piece(ranks, r, k)};
  s.sent_bytes = s.received_bytes = is_last ? 0 : ranks->k_bytes + ranks->v_bytes;
  if (s.piece == RANK_PIECE_NONE) return s;
  const bool is_more = ranks->scheme == SCHEME_RING && ranks->shape.causal ? t < r : !is_last;
  s.carried_bytes = (t > 0 ? ranks->carried_bytes : 0) + (is_more ? ranks->carried_bytes : 0);
  return s;
}

/* All-to-all: of what a rank has, one part stays. */
static Wide to_others(const Ranks *ranks, Wide bytes) { return bytes / wide(ranks->n) * wide(ranks->n - 1); }

RankStep ranks_step(const Ranks *ranks, int64_t t, int64_t r) {
  RankStep s = {.keys_of = -1};
  switch (ranks->scheme) {
  case SCHEME_ULYSSES:
    if (t == 1) s.piece = RANK_PIECE_FULL;
    if (t == 0) s.sent_bytes = to_others(ranks, ranks->q_bytes + ranks->k_bytes + ranks->v_bytes);
    if (t == 2) s.sent_bytes = to_others(ranks, ranks->o_bytes);
    s.received_bytes = s.sent_bytes;
    return s;
  case SCHEME_TENSOR: /* rows of as many elements as all heads have, once around to add and once to share */
    if (t == 0) s.piece = RANK_PIECE_FULL;
    if (t > 0) s.sent_bytes = s.received_bytes = ranks->o_bytes; /* o_bytes: of heads / P, a P-th of the rows' bytes */
    return s;
  case SCHEME_OFFLOAD:
    if (t > 0) s.piece = RANK_PIECE_FULL;
    if (t + 1 < ranks->n_steps)
      s.received_bytes =
          (Wide)(ranks->away * (double)(ranks->weights_bytes + ranks->cache_bytes) / (double)(ranks->n_steps - 1));
    return s;
  default: return ring_step(ranks, t, r);
  }
}

/* ---- When -------------------------------------------------------------------------------------------------- */

/* A kernel beside an exchange that holds SMs until `busy_s` from the kernel's start. */
static double slowed(const Ranks *ranks, double kernel_s, double busy_s) {
  const double left = 1 - fmin(0.9, (double)ranks->link.sms / (double)ranks->gpu.n_sm);
  if (busy_s <= 0) return kernel_s;
  return kernel_s / left <= busy_s ? kernel_s / left : kernel_s + busy_s * (1 - left);
}

static RankTimes times_of(const Ranks *ranks, RanksClock clock, const RankStep *step, double start_s) {
  const RankPiece *p = &ranks->pieces[step->piece];
  const double bytes = (double)(step->sent_bytes > step->received_bytes ? step->sent_bytes : step->received_bytes);
  RankTimes x = {.start_s = start_s, .kernel_end_s = start_s, .exchange_end_s = start_s};
  if (clock == CLOCK_BOUND) {
    x.kernel_s = p->bound_s;
    x.kernel_end_s = start_s + x.kernel_s;
    x.exchange_s = link_bound_s(&ranks->link, bytes);
    return x;
  }
  x.exchange_s = bytes > 0 ? link_predicted_s(&ranks->link, bytes) : 0;
  if (step->piece == RANK_PIECE_NONE) return x;
  const double begins_s = (bytes > 0 ? ranks->link.start_s : 0) + ranks->link.call_s;
  x.kernel_s = p->predicted_s;
  x.kernel_end_s = start_s + begins_s + slowed(ranks, x.kernel_s, x.exchange_s - begins_s);
  return x;
}

static bool is_predicted(const Ranks *ranks) {
  if (ranks->n > 1 && ranks->link.ramp_bytes == 0) return false;
  for (int kind = RANK_PIECE_FULL; kind < RANK_PIECE_COUNT; kind++)
    if (isnan(ranks->pieces[kind].predicted_s)) return false;
  return true;
}

bool ranks_is_extrapolated(const Ranks *ranks) {
  for (int kind = RANK_PIECE_FULL; kind < RANK_PIECE_COUNT; kind++)
    if (ranks->pieces[kind].kind == TIME_EXTRAPOLATED) return true;
  return ranks->n > 2 || !scheme_is_ring(ranks->scheme) || ranks->second_bytes > wide(ranks->link.most_bytes);
}

/* Who a rank waits for at the end of a step in which it exchanges: the ranks before and behind it, or all of them. */
static double exchanged(const Ranks *ranks, const double *starts_s, int64_t r, double exchange_s) {
  const int64_t n = ranks->n;
  double latest = starts_s[r];
  if (ranks->scheme == SCHEME_ULYSSES)
    for (int64_t k = 0; k < n; k++) latest = fmax(latest, starts_s[k]);
  else if (ranks->scheme != SCHEME_OFFLOAD)
    latest = fmax(latest, fmax(starts_s[(r + n - 1) % n], starts_s[(r + 1) % n]));
  return latest + exchange_s;
}

double ranks_walk(const Ranks *ranks, RanksClock clock, RankVisit *visit, void *data) {
  double starts_s[RANKS_MAX] = {0}, next_s[RANKS_MAX], last = 0;
  if (clock == CLOCK_PREDICTED && !is_predicted(ranks)) return (double)NAN;
  for (int64_t t = 0; t < ranks->n_steps; t++) {
    for (int64_t r = 0; r < ranks->n; r++) {
      const RankStep step = ranks_step(ranks, t, r);
      RankTimes x = times_of(ranks, clock, &step, starts_s[r]);
      if (x.exchange_s > 0) x.exchange_end_s = exchanged(ranks, starts_s, r, x.exchange_s);
      next_s[r] = fmax(x.kernel_end_s, x.exchange_end_s);
      last = fmax(last, next_s[r]);
      if (visit) visit(data, t, r, &step, &x);
    }
    memcpy(starts_s, next_s, (size_t)ranks->n * sizeof *starts_s);
  }
  return last;
}
