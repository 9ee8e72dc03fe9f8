#include "sim/ranks.h"

#include "sim/algorithms/rank_program.h"
#include "sim/algorithms/shipped.h"

#include <math.h>

const char *const SCHEME_NAMES[SCHEME_COUNT + 1] = {"ring", "striped", "zigzag", "ulysses", "tensor", "offload", NULL};

static int kv_element_bytes(const Shape *s) { return dtype_bytes(s->has_kv_dtype ? s->kv_dtype : s->dtype); }

/* Bytes of K and V of one token, all heads. */
static double ranks_token_bytes(const Shape *s) {
  return (double)s->kv_heads * (double)(s->d + (s->v_in_k ? 0 : s->d_v)) * kv_element_bytes(s);
}

double ranks_hiding_tokens(const Shape *s, const Gpu *gpu, double link_bytes_per_s) {
  const double rate = timing_rate(gpu, TIME_MATH, s->dtype), pair = (double)s->heads * simulation_pair_flops(s);
  return rate > 0 ? rate * ranks_token_bytes(s) / (link_bytes_per_s * pair) : (double)NAN;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------ */

/* A ring's share of the work of rank r with the keys of rank k. */
static RankPart part_of(const Ranks *ranks, int64_t r, int64_t k) {
  return rank_part((RankLayout)ranks->scheme, ranks->shape.causal, ranks->tokens, r, k);
}

static RankPieceKind kind_of(const Ranks *ranks, const RankPart *part) {
  const int64_t rows = part->rows.end - part->rows.begin, keys = part->keys.end - part->keys.begin;
  if (rows == 0) return RANK_PIECE_NONE;
  if (part->causal) return rows == ranks->tokens ? RANK_PIECE_CAUSAL : RANK_PIECE_STRICT;
  return rows < ranks->tokens ? RANK_PIECE_ROWS : keys < ranks->tokens ? RANK_PIECE_KEYS : RANK_PIECE_FULL;
}

static Shape part_shape(const Ranks *ranks, const RankPart *part) {
  Shape s = ranks->shape;
  s.N_q = part->rows.end - part->rows.begin;
  s.N_k = part->keys.end - part->keys.begin;
  s.causal = part->causal;
  return s;
}

/* A kernel's time asks for its launch, not for what its CTAs find in L2. Bytes are a program's, where there is one, by
 * the kernel's tiles. */
static Status make_piece(Ranks *ranks, RankPiece *piece, const Shape *shape, const Schedule *program,
                         const Problem *problem, Error *error) {
  Problem part = *problem;
  Simulation run, counted;
  part.shape = *shape;
  Status status = shape_complete(&part.shape, error);
  if (!status) status = simulate(&run, &part, program && !part.kernel ? program : planner_algorithm(&part), error);
  if (status) return status;
  const LaunchConfig config = simulation_launch(&run);
  run.has_launch = part.kernel && !launch_make(&run.launch, &run.plan.shape, &config, &ranks->gpu, NULL);
  simulation_time(&run, &ranks->gpu);
  counted = run;
  if (program && part.kernel) {
    part.kernel = NULL;
    part.tiling = (Tiling){.B_r = run.plan.tiling.B_r, .B_c = run.plan.tiling.B_c};
    status = simulate(&counted, &part, program, error);
    if (status) return status;
  }
  const Shape *s = &part.shape;
  const Mask mask = mask_of_shape(s);
  *piece = (RankPiece){.pairs = wide(s->batch) * wide(s->heads) * mask_pairs(&mask),
                       .read_bytes = counted.read_bytes,
                       .write_bytes = counted.write_bytes,
                       .bound_s = run.timing.least_s,
                       .predicted_s = run.timing.predicted_s,
                       .binds = run.timing.floor.bound,
                       .kind = run.timing.kind};
  for (int k = 0; program && k < program->n_tensors; k++)
    if (program->tensors[k].role == TENSOR_BETWEEN)
      piece->carried_bytes += counted.traffic.read[k] + counted.traffic.write[k];
  if (program) piece->traffic = counted.traffic;
  return STATUS_OK;
}

/* Of the first two ranks, every kind that there is. */
static Status make_ring_pieces(Ranks *ranks, const Schedule *program, const Problem *problem, Error *error) {
  bool made[RANK_PIECE_COUNT] = {true};
  Status status = STATUS_OK;
  for (int64_t r = 0; r < ranks->n && r < 2; r++)
    for (int64_t k = 0; k < ranks->n && k < 3 && !status; k++) {
      const RankPart part = part_of(ranks, r, k);
      const RankPieceKind kind = kind_of(ranks, &part);
      const Shape shape = part_shape(ranks, &part);
      if (made[kind]) continue;
      made[kind] = true;
      status = make_piece(ranks, &ranks->pieces[kind], &shape, program, problem, error);
    }
  return status;
}

/* By stage; before and after the steps a rank has its own keys, whatever the mask. */
static Status make_program_pieces(Ranks *ranks, const Problem *problem, Error *error) {
  Schedule only;
  Shape own = ranks->shape;
  own.N_q = own.N_k = ranks->tokens;
  own.causal = false;
  RankPiece *const around[] = {[STAGE_BEFORE] = &ranks->before, [STAGE_AFTER] = &ranks->after};
  rank_kernels_alone(ranks->program, rank_stage_kernels(ranks->program, STAGE_STEPS), &only);
  Status status = make_ring_pieces(ranks, &only, problem, error);
  for (RankStage stage = STAGE_BEFORE; stage <= STAGE_AFTER && !status; stage += STAGE_AFTER - STAGE_BEFORE) {
    const unsigned kernels = rank_stage_kernels(ranks->program, stage);
    if (!kernels) continue;
    rank_kernels_alone(ranks->program, kernels, &only);
    status = make_piece(ranks, around[stage], &own, &only, problem, error);
  }
  return status;
}

/* What a program's rank sends, and keeps between steps. */
static Status hold_program(Ranks *ranks, Error *error) {
  const Schedule *p = ranks->program;
  const Shape *s = &ranks->shape;
  Shape own = *s;
  Plan plan;
  bool overflow = false;
  own.N_q = own.N_k = ranks->tokens;
  const Status status = plan_make(&plan, &own, &(Tiling){.B_r = 1, .B_c = 1, .n_splits = 1}, error);
  if (status) return status;
  ranks->carried_bytes = wide(s->batch) * wide(s->heads) * schedule_intermediate_bytes(p, &plan, &overflow);
  ranks->second_bytes = 0;
  for (int k = 0; k < p->ranks.n_lines; k++)
    for (int n = 0; n < p->n_names && p->ranks.lines[k].kind == RANK_SEND; n++) {
      const ProgramName *name = &p->names[n];
      if (!(p->ranks.lines[k].names & name_bit(n))) continue;
      const int element = name->is_fp32 ? STATS_BYTES : plan_element(&plan, p->tensors[name->tensor].operand);
      const Wide bytes = wide(s->batch) * wide(name->is_input ? s->kv_heads : s->heads) * wide(element) *
                         wide(schedule_side_whole(p, &plan, name->rows)) *
                         wide(schedule_side_whole(p, &plan, name->cols));
      ranks->second_bytes += bytes;
      ranks->sent_bytes[0][name->tensor] += bytes;
      if (!p->ranks.lines[k].not_last) ranks->sent_bytes[1][name->tensor] += bytes;
    }
  for (int last = 0; last < 2; last++)
    for (int k = 0; k < p->n_tensors; k++) ranks->exchange_bytes[last] += ranks->sent_bytes[last][k];
  return STATUS_OK;
}

/* Where there are fewer KV heads than ranks, several have a copy of one. */
static void share_heads(Ranks *ranks) {
  ranks->shape.heads /= ranks->n;
  ranks->shape.kv_heads = ranks->shape.kv_heads * ranks->kv_copies / ranks->n;
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
  if (ranks->scheme == SCHEME_ULYSSES) /* heads of all tokens beside tokens of all heads */
    ranks->second_bytes = ranks->q_bytes + wide(ranks->kv_copies) * (ranks->k_bytes + ranks->v_bytes) + ranks->o_bytes;
}

/* ---- Sizes that go together -------------------------------------------------------------------------------- */

static Status refuse_sizes(const Ranks *ranks, Error *error) {
  const Shape *s = &ranks->shape;
  const char *name = SCHEME_NAMES[ranks->scheme];
  const int64_t parts = ranks->scheme == SCHEME_ZIGZAG ? 2 * ranks->n : ranks->n;
  const bool by_tokens = scheme_is_ring(ranks->scheme) || ranks->scheme == SCHEME_ULYSSES;
  const bool by_heads = ranks->scheme == SCHEME_ULYSSES || ranks->scheme == SCHEME_TENSOR;
  if (by_tokens && s->N_q != s->N_k)
    return error_refuse(error,
                        "%s: a rank holds queries and keys of the same tokens, and there are "
                        "%jd and %jd; leave out --seq-len-k, or take --scheme tensor",
                        name, s->N_q, s->N_k);
  if (by_tokens && s->N_q % parts)
    return error_refuse(error, "%s: %jd tokens are not %jd equal parts; give -N %jd", name, s->N_q, parts,
                        ceil_div(s->N_q, parts) * parts);
  if (by_heads && (s->heads % ranks->n || (s->kv_heads % ranks->n && ranks->n % s->kv_heads)))
    return error_refuse(
        error,
        "%s: %jd query heads and %jd KV heads are not shared out evenly among "
        "%jd ranks; a divisor of the query heads that divides the KV heads, or is divided by them, is right",
        name, s->heads, s->kv_heads, ranks->n);
  if (scheme_is_ring(ranks->scheme) && (s->window || s->sided || s->pattern || s->top_left))
    return error_refuse(
        error,
        "%s: blocks are causal, whole or masked; windows and other masks are not modelled between ranks. "
        "Leave out --window and --mask, or take --scheme ulysses",
        name);
  return STATUS_OK;
}

/* Of a layer, the mean of all kinds. */
static Wide offload_pairs(const Serving *serving, const ServingPart *part) {
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(&serving->cache, groups);
  Wide sum = 0;
  for (int g = 0; g < n; g++) {
    Shape shape;
    if (!serving_shape(serving, &groups[g], part, &shape)) continue;
    const Mask mask = mask_of_shape(&shape);
    sum += wide(groups[g].layers) * wide(shape.batch) * wide(shape.heads) * mask_pairs(&mask);
  }
  return sum / wide(kvcache_layers(&serving->cache));
}

static Status make_offload(Ranks *ranks, const RanksAsked *asked, Error *error) {
  const Serving *serving = asked->serving;
  const ServingPart part = {.queries = ranks->shape.N_q, .keys = ranks->shape.N_k, .count = ranks->shape.batch};
  ServingStep step;
  const Status status = serving_step(serving, &part, 1, (double)part.count, &step, error);
  if (status) return status;
  const double layers = (double)kvcache_layers(&serving->cache);
  ranks->weights_bytes = (Wide)serving_weights_bytes(serving);
  ranks->cache_bytes = kvcache_seek(&serving->cache, part.keys).bytes * wide(part.count);
  const double all = (double)(ranks->weights_bytes + ranks->cache_bytes), room = (double)gpu_usable_bytes(&ranks->gpu);
  ranks->away = all > room ? 1 - room / all : 0;
  ranks->n_steps = kvcache_layers(&serving->cache) + 1;
  ranks->pieces[RANK_PIECE_FULL] =
      (RankPiece){.pairs = offload_pairs(serving, &part),
                  .read_bytes = (Wide)((step.weight_bytes + (double)step.kv_bytes) / layers),
                  .bound_s = (step.matrix_s + step.attention.bound_s) / layers,
                  .predicted_s = (double)NAN,
                  .binds = step.matrix_s > step.attention.bound_s ? step.flop_s > step.weight_s ? TIME_MATH : TIME_HBM
                                                                  : step.attention.bound};
  return STATUS_OK;
}

Status ranks_make(Ranks *ranks, const RanksAsked *asked, Error *error) {
  *ranks = (Ranks){.scheme = asked->scheme,
                   .n = asked->n ? asked->n : 1,
                   .program = asked->program,
                   .shape = asked->problem->shape,
                   .gpu = *asked->gpu,
                   .link = *asked->link};
  Status status = shape_complete(&ranks->shape, error);
  if (status) return status;
  if (asked->program && asked->program->declares)
    return error_refuse(error, "%s declares its own tensors; ranks are counted of programs of Q, K, V and O alone",
                        asked->program->name);
  if (ranks->n < 1 || ranks->n > RANKS_MAX)
    return error_refuse(error, "%jd ranks; there are 1 to %d", ranks->n, RANKS_MAX);
  status = refuse_sizes(ranks, error);
  if (status) return status;
  Shape *s = &ranks->shape;
  ranks->tokens = s->N_q;
  if (ranks->program)
    ranks->scheme = (Scheme)ranks->program->ranks.layout;
  else if (scheme_is_ring(ranks->scheme))
    ranks->program = shipped_sharing();
  if (asked->scheme == SCHEME_OFFLOAD) return make_offload(ranks, asked, error);
  ranks->kv_copies = s->kv_heads < ranks->n ? ranks->n / s->kv_heads : 1;
  if (asked->scheme == SCHEME_TENSOR) share_heads(ranks);
  if (asked->scheme != SCHEME_TENSOR) ranks->tokens = s->N_q / ranks->n;
  hold(ranks);
  if (asked->scheme == SCHEME_ULYSSES) share_heads(ranks);
  ranks->n_steps = scheme_is_ring(asked->scheme) ? ranks->n : asked->scheme == SCHEME_ULYSSES ? 3 : 2 * ranks->n - 1;
  if (!scheme_is_ring(ranks->scheme))
    return make_piece(ranks, &ranks->pieces[RANK_PIECE_FULL], s, NULL, asked->problem, error);
  if (ranks->n > 1) status = hold_program(ranks, error);
  return status ? status : make_program_pieces(ranks, asked->problem, error);
}

/* ---- Steps ------------------------------------------------------------------------------------------------- */

static RankStep ring_step(const Ranks *ranks, int64_t t, int64_t r) {
  const int64_t k = (r - t + ranks->n) % ranks->n;
  const bool is_last = t + 1 == ranks->n;
  const RankPart part = part_of(ranks, r, k);
  RankStep s = {.keys_of = k, .piece = kind_of(ranks, &part)};
  const RankPiece *p = &ranks->pieces[s.piece];
  s.sent_bytes = s.received_bytes = ranks->exchange_bytes[is_last];
  const RankPiece *around[] = {t == 0 ? &ranks->before : NULL, p, is_last ? &ranks->after : NULL};
  for (int i = 0; i < 3; i++)
    if (around[i]) {
      s.hbm_bytes += around[i]->read_bytes + around[i]->write_bytes;
      s.carried_bytes += around[i]->carried_bytes;
    }
  return s;
}

/* All-to-all: of what a rank has, one part stays. */
static Wide to_others(const Ranks *ranks, Wide bytes) { return bytes / wide(ranks->n) * wide(ranks->n - 1); }

static RankStep other_step(const Ranks *ranks, int64_t t) {
  RankStep s = {.keys_of = -1};
  if (ranks->scheme == SCHEME_ULYSSES) {
    if (t == 1) s.piece = RANK_PIECE_FULL;
    if (t == 0)
      s.sent_bytes = to_others(ranks, ranks->q_bytes + wide(ranks->kv_copies) * (ranks->k_bytes + ranks->v_bytes));
    if (t == 2) s.sent_bytes = to_others(ranks, ranks->o_bytes);
    s.received_bytes = s.sent_bytes;
  } else if (ranks->scheme == SCHEME_TENSOR) {
    /* rows of as many elements as all heads have, once around to add and once to share; o_bytes: of heads / P, a P-th
     * of the rows' bytes */
    if (t == 0) s.piece = RANK_PIECE_FULL;
    if (t > 0) s.sent_bytes = s.received_bytes = ranks->o_bytes;
  } else {
    if (t > 0) s.piece = RANK_PIECE_FULL;
    if (t + 1 < ranks->n_steps)
      s.received_bytes =
          (Wide)(ranks->away * (double)(ranks->weights_bytes + ranks->cache_bytes) / (double)(ranks->n_steps - 1));
  }
  s.hbm_bytes = ranks->pieces[s.piece].read_bytes + ranks->pieces[s.piece].write_bytes;
  return s;
}

RankStep ranks_step(const Ranks *ranks, int64_t t, int64_t r) {
  return scheme_is_ring(ranks->scheme) ? ring_step(ranks, t, r) : other_step(ranks, t);
}

static void add_traffic(RankTensor tensors[TENSORS_MAX], const Traffic *t, int64_t times) {
  for (int k = 0; k < TENSORS_MAX; k++) {
    tensors[k].read += wide(times) * t->read[k];
    tensors[k].write += wide(times) * t->write[k];
  }
}

void ranks_tensors(const Ranks *ranks, RankTensor tensors[TENSORS_MAX]) {
  const int64_t n = ranks->n;
  int64_t times[RANK_PIECE_COUNT] = {0};
  memset(tensors, 0, TENSORS_MAX * sizeof *tensors);
  for (int64_t r = 0; r < n; r++)
    for (int64_t t = 0; t < n; t++) times[ring_step(ranks, t, r).piece]++;
  for (int kind = 0; kind < RANK_PIECE_COUNT; kind++) add_traffic(tensors, &ranks->pieces[kind].traffic, times[kind]);
  add_traffic(tensors, &ranks->before.traffic, n);
  add_traffic(tensors, &ranks->after.traffic, n);
  for (int k = 0; k < TENSORS_MAX; k++)
    tensors[k].sent = wide(n) * (wide(n - 1) * ranks->sent_bytes[0][k] + ranks->sent_bytes[1][k]);
}

Status ranks_links(Simulation *run, const Problem *problem, int64_t n, const GpuLink *link, const Gpu *gpu,
                   Error *error) {
  Ranks ranks;
  Gpu paper;
  RankTensor tensors[TENSORS_MAX];
  run->links = (RankLinks){0};
  if (!run->schedule->ranks.is_said) return STATUS_OK;
  if (!gpu || gpu->n_sm == 0) gpu_paper(&paper), gpu = &paper;
  const RanksAsked asked = {.n = n, .problem = problem, .gpu = gpu, .link = link, .program = run->schedule};
  const Status status = ranks_make(&ranks, &asked, error);
  if (status) return status;
  RankLinks *l = &run->links;
  l->n = ranks.n;
  memcpy(l->link, link->name, sizeof l->link);
  ranks_tensors(&ranks, tensors);
  for (int k = 0; k < run->schedule->n_tensors; k++) {
    l->sent[k] = tensors[k].sent;
    l->sent_bytes += tensors[k].sent;
    l->boundary_bytes += tensors[k].read + tensors[k].write;
  }
  l->rank_bytes = l->sent_bytes / wide(ranks.n);
  for (int64_t t = 0; t < ranks.n; t++)
    l->bound_s += link_bound_s(link, (double)ranks.exchange_bytes[t + 1 == ranks.n]);
  return STATUS_OK;
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
