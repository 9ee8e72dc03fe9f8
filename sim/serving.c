#include "sim/serving.h"

#include <math.h>
#include <stdlib.h>

#include "sim/algorithms/shipped.h"

static const char *const EVICT_NAMES[EVICT_COUNT] = {"none", "streaming", "h2o"};

const char *evict_name(EvictKind kind) { return EVICT_NAMES[kind]; }

int64_t evict_kept(const Evict *e, int64_t tokens) {
  const int64_t kept = e->first + e->last;
  return e->kind == EVICT_NONE || tokens < kept ? tokens : kept;
}

static double n_gpus_of(const Serving *s) { return s->n_gpus ? (double)s->n_gpus : 1; }

/* ---- Attention --------------------------------------------------------------------------------------------- */

static Dtype shape_dtype(KvDtype dtype) {
  return dtype == KV_FP32 ? DTYPE_FP32 : dtype == KV_FP16 ? DTYPE_FP16 : DTYPE_BF16;
}

/* Decode reads the latent, of which V is a part; a prompt has K and V of every head (DeepSeek-V2, section 2.1.2). */
static void latent_heads(const Serving *s, const KvGroup *g, bool decodes, Shape *shape) {
  const KvModel *m = s->model;
  shape->kv_heads = decodes ? 1 : shape->heads;
  shape->d = decodes ? g->latent : kvmodel_key_dim(m);
  shape->d_v = decodes ? m->mla_latent : kvmodel_value_dim(m);
  shape->v_in_k = decodes;
}

/* Each query sees all keys of the part. */
static bool is_decode(const ServingPart *part) { return part->queries == 1 || part->is_prefix; }

/* Keys that at least one of a part's queries sees: a window reaches back from the first query. */
static int64_t keys_seen(const KvGroup *g, const ServingPart *part) {
  int64_t reach = part->keys;
  if (g->window && part->is_prefix) reach = g->window > part->after ? g->window - part->after : 0;
  if (g->window && !part->is_prefix) reach = g->window + part->queries - 1;
  if (part->queries == 1 && !part->is_prefix) return kvcache_group_tokens(g, part->keys);
  return reach < part->keys ? reach : part->keys;
}

bool serving_shape(const Serving *s, const KvGroup *g, const ServingPart *part, Shape *shape) {
  const bool decodes = is_decode(part);
  const int bits = kvcache_dtype_bits(s->cache.dtype);
  *shape = (Shape){.batch = part->count,
                   .heads = ceil_div(s->model->heads, s->n_gpus ? s->n_gpus : 1),
                   .kv_heads = g->kv_heads,
                   .N_q = part->queries,
                   .N_k = decodes ? keys_seen(g, part) : part->keys,
                   .d = g->d,
                   .d_v = g->d_v ? g->d_v : g->d,
                   .causal = !decodes,
                   .window = decodes || g->chunked || g->window >= part->keys ? 0 : g->window,
                   .dtype = shape_dtype(s->cache.dtype)};
  if (g->latent) latent_heads(s, g, decodes, shape);
  if (bits <= 8) shape->kv_dtype = DTYPE_FP8, shape->has_kv_dtype = true;
  return shape->N_k > 0 && shape->N_k <= SHAPE_MAX_N && shape->heads > 0 && shape->heads % shape->kv_heads == 0;
}

/* Bytes of K and V that the shape has for what the cache holds in fewer bits, or with scales. */
static double bytes_beyond_shape(const Serving *s, const KvGroup *g, const ServingPart *part, const Shape *shape) {
  if (kvcache_dtype_bits(s->cache.dtype) == 8 && !s->cache.group) return 0;
  if (kvcache_dtype_bits(s->cache.dtype) > 8) return 0;
  const double a_token = (double)shape->kv_heads * (double)(shape->d + (shape->v_in_k ? 0 : shape->d_v));
  return ((double)kvcache_group_bytes(&s->cache, g) - a_token) * (double)keys_seen(g, part) * (double)part->count;
}

/* Adds `layers` layers of one run. */
static void add_run(ServingStep *sum, const Simulation *run, double layers, double extra_bytes, const Gpu *gpu) {
  const TimeBound *floor = &run->timing.floor;
  TimeBound *all = &sum->attention;
  for (int p = 0; p < TIME_PART_COUNT; p++) {
    const double rate = p == TIME_HBM || p == TIME_L2 ? timing_rate(gpu, (TimePart)p, DTYPE_FP16) : 0;
    const double extra = rate > 0 ? extra_bytes / rate : 0;
    if (!isnan(floor->part_s[p])) all->part_s[p] += layers * (floor->part_s[p] + extra);
  }
  all->bound_s += layers * floor->bound_s;
  sum->boundary_read_bytes += wide((int64_t)layers) * run->read_bytes;
  if (isnan(run->timing.predicted_s)) sum->has_prediction = false;
  sum->predicted_s += layers * run->timing.predicted_s;
  if (run->timing.kind == TIME_EXTRAPOLATED) sum->kind = TIME_EXTRAPOLATED;
}

/* A floor is the least of what any algorithm needs: few heads leave SMs without work unless keys are split. */
static Status lower_floor(Simulation *run, Problem *problem, const Gpu *gpu, Error *error) {
  Simulation split;
  problem->kernel = NULL;
  const Status status = simulate(&split, problem, shipped_splitting(), error);
  if (status) return status;
  simulation_time(&split, gpu);
  if (split.timing.floor.bound_s < run->timing.floor.bound_s) run->timing.floor = split.timing.floor;
  return STATUS_OK;
}

static Status add_part(const Serving *s, const KvGroup *g, const ServingPart *part, ServingStep *step, bool *is_exact,
                       Error *error) {
  const bool predicts = step->has_prediction;
  Problem problem = {.machine = machine_of_gpu(s->gpu),
                     .kernel = predicts ? s->kernel : NULL,
                     .launch = {.order = ORDER_QUERY_HEAD_BATCH, .rows = ROWS_LONGEST_FIRST}};
  Simulation run;
  if (!serving_shape(s, g, part, &problem.shape)) return STATUS_OK;
  const double extra = bytes_beyond_shape(s, g, part, &problem.shape);
  const Schedule *algorithm = predicts ? planner_algorithm(&problem) : shipped_default();
  Status status = simulate(&run, &problem, algorithm, error);
  if (!status && predicts) status = simulation_l2(&run, &problem, s->gpu, error);
  if (status) return status;
  simulation_time(&run, s->gpu);
  status = lower_floor(&run, &problem, s->gpu, error);
  if (status) return status;
  add_run(step, &run, (double)g->layers, extra, s->gpu);
  if (extra != 0) *is_exact = false;
  step->kv_bytes +=
      wide(g->layers) * wide(kvcache_group_bytes(&s->cache, g)) * wide(keys_seen(g, part)) * wide(part->count);
  return STATUS_OK;
}

/* Layers that attend in chunks: a prompt falls into its chunks, each by itself. */
static Status add_chunks(const Serving *s, const KvGroup *g, const ServingPart *part, ServingStep *step, bool *is_exact,
                         Error *error) {
  int64_t from = part->keys - part->queries;
  Status status = STATUS_OK;
  while (from < part->keys && !status) {
    const int64_t begin = from / g->window * g->window, whole = (part->keys - from) / g->window;
    const bool many = from == begin && whole > 0;
    const int64_t end = begin + g->window < part->keys ? begin + g->window : part->keys;
    const ServingPart piece = {.queries = end - from, .keys = end - begin, .count = part->count * (many ? whole : 1)};
    status = add_part(s, g, &piece, step, is_exact, error);
    from = many ? begin + whole * g->window : end;
  }
  return status;
}

/* Decodes of unequal lengths are one launch (sim/time/batch.h). */
static Status predict_batch(const Serving *s, const KvGroup *g, const ServingPart *parts, int64_t n, ServingStep *step,
                            Error *error) {
  Problem problem = {.machine = machine_of_gpu(s->gpu), .kernel = s->kernel};
  BatchRun run;
  int64_t sequences = 0;
  for (int64_t k = 0; k < n; k++) sequences += parts[k].count;
  Lengths *all = malloc(sizeof *all + (size_t)sequences * sizeof *all->lengths);
  if (!all) return error_no_memory(error, "for %jd lengths", sequences);
  all->n = 0;
  for (int64_t k = 0; k < n; k++)
    for (int64_t c = 0; c < parts[k].count; c++) all->lengths[all->n++] = keys_seen(g, &parts[k]);
  qsort(all->lengths, (size_t)all->n, sizeof *all->lengths, ascending_int64);
  serving_shape(s, g, &parts[0], &problem.shape);
  problem.shape.batch = 0;
  problem.shape.N_k = 0;
  const Status status = batch_run(&run, &problem, all, BATCH_PACKED, s->kernel->schedule, s->gpu, error);
  free(all);
  if (status) return status;
  step->predicted_s += (double)g->layers * run.seconds;
  if (run.kind == TIME_EXTRAPOLATED) step->kind = TIME_EXTRAPOLATED;
  if (!run.timed || run.kind == TIME_BOUND) step->has_prediction = false;
  return STATUS_OK;
}

static bool are_decodes(const ServingPart *parts, int64_t n) {
  for (int64_t k = 0; k < n; k++)
    if (parts[k].queries != 1 || parts[k].is_prefix || parts[k].keys < 1) return false;
  return n > 1;
}

/* Where parts or kinds of layers differ in what binds them, the sum of all levels' times binds: the kernels may
 * overlap. Of one part, the bound as sim says it, its busiest SM included. */
static void bind(TimeBound *all, bool is_exact) {
  all->bound = TIME_NONE;
  double most = 0;
  for (int p = 0; p < TIME_PART_COUNT; p++)
    if (all->part_s[p] > most) most = all->part_s[p], all->bound = (TimePart)p;
  if (!is_exact) all->bound_s = most;
}

Status serving_attention(const Serving *s, const ServingPart *parts, int64_t n, ServingStep *step, Error *error) {
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n_groups = kvcache_groups(&s->cache, groups);
  bool is_exact = n == 1;
  step->attention.bound = TIME_NONE;
  step->has_prediction = s->kernel && n == 1; /* sequences of unequal lengths are one launch, not a sum of them */
  step->kind = TIME_PREDICTED;
  for (int64_t k = 0; k < n; k++) {
    for (int g = 0; g < n_groups; g++) {
      const bool in_chunks = groups[g].chunked && !is_decode(&parts[k]);
      const Status status = (in_chunks ? add_chunks : add_part)(s, &groups[g], &parts[k], step, &is_exact, error);
      if (status) return status;
    }
  }
  bind(&step->attention, is_exact);
  if (!s->kernel || !are_decodes(parts, n)) return STATUS_OK;
  step->has_prediction = true;
  step->predicted_s = 0;
  Status status = STATUS_OK;
  for (int g = 0; g < n_groups && !status; g++) status = predict_batch(s, &groups[g], parts, n, step, error);
  return status;
}

/* ---- Matrices ---------------------------------------------------------------------------------------------- */

/* One table of words, and all of them. A tied table is looked up, and is the output's matrix too. */
static double table_parameters(const KvModel *m) { return (double)m->hidden * (double)m->vocab; }
static double tables_parameters(const KvModel *m) { return table_parameters(m) * (m->embedding_tables == 1 ? 1 : 2); }

static double table_bytes_of(const Serving *s) { return s->table_bytes > 0 ? s->table_bytes : s->weight_bytes; }

void serving_take_weights(Serving *s, const KvDtype *asked) {
  const KvModel *m = s->model;
  KvDtype dtype = KV_BF16;
  kvcache_dtype_from_name(m->weights_dtype, &dtype);
  if (asked) dtype = *asked;
  const int bits = kvcache_dtype_bits(dtype);
  const double published = (double)m->weights_bytes / (double)m->parameters;
  s->weight_bytes = bits / 8.0;
  s->table_bytes = 0;
  if (m->weights_bytes && !asked) {
    if (fabs(published / s->weight_bytes - 1) > 0.005) s->weight_bytes = published; /* else rounded in print */
  } else if (bits < 16) {
    s->weight_bytes += dtype == KV_INT4 ? 2 / 128.0 : 0;
    s->table_bytes = 2;
  }
  s->products = dtype == KV_FP8 ? DTYPE_FP8 : DTYPE_BF16;
  if (s->gpu && gpu_flops_per_s(s->gpu, s->products, true) <= 0) s->products = DTYPE_FP16;
}

double serving_weights_bytes(const Serving *s) {
  const KvModel *m = s->model;
  const double tables = tables_parameters(m);
  return round((((double)m->parameters - tables) * s->weight_bytes + tables * table_bytes_of(s)) / n_gpus_of(s));
}

/* Experts of a layer that the tokens need, expected where each chooses k of E at random: E (1 - (1 - k/E)^tokens). One
 * expert has `each` weights in all layers: total = shared + E each, active = shared + k each. */
static void add_matrices(const Serving *s, ServingStep *step) {
  const KvModel *m = s->model;
  const double n = n_gpus_of(s), E = (double)m->experts, k = (double)m->experts_per_token, all = (double)m->parameters,
               active = m->active_parameters ? (double)m->active_parameters : all,
               each = E > k ? (all - active) / (E - k) : 0;
  const double hbm = timing_rate(s->gpu, TIME_HBM, s->products), rate = timing_rate(s->gpu, TIME_MATH, s->products);
  const double head = table_parameters(m), body = active - tables_parameters(m);
  step->experts = E > 0 ? E * (1 - pow(1 - k / E, step->tokens)) : 0;
  step->weight_bytes =
      ((body + (step->experts - k) * each) * s->weight_bytes + (step->outputs > 0 ? head : 0) * table_bytes_of(s)) / n;
  step->flops = 2 * (body * step->tokens + head * step->outputs) / n;
  step->weight_s = hbm > 0 ? step->weight_bytes / hbm : NAN;
  step->flop_s = rate > 0 ? step->flops / rate : NAN;
  step->matrix_s = fmax(step->weight_s, step->flop_s);
}

/* ---- All-reduce -------------------------------------------------------------------------------------------- */

/* After attention and after the MLP of each layer: `tokens` rows of 16 bits; a ring's GPU sends 2 (n - 1) / n of them
 * (Patarasuk and Yuan, JPDC 2009). */
static void add_sent(const Serving *s, ServingStep *step) {
  const double n = n_gpus_of(s), rows = 2 * (double)kvcache_layers(&s->cache) * step->tokens;
  step->sent_bytes = n > 1 ? rows * (double)s->model->hidden * 2 * 2 * (n - 1) / n : 0;
  step->sent_s = n == 1 ? 0 : s->gpu->link_bytes_per_s > 0 ? step->sent_bytes / (s->gpu->link_bytes_per_s / 2) : NAN;
}

/* ---- Steps ------------------------------------------------------------------------------------------------- */

Status serving_step(const Serving *s, const ServingPart *parts, int64_t n, double outputs, ServingStep *step,
                    Error *error) {
  *step = (ServingStep){.outputs = outputs};
  const Status status = serving_attention(s, parts, n, step, error);
  if (status) return status;
  for (int64_t k = 0; k < n; k++)
    if (!parts[k].is_prefix) step->tokens += (double)parts[k].queries * (double)parts[k].count;
  add_matrices(s, step);
  add_sent(s, step);
  step->bound_s = step->matrix_s + step->attention.bound_s + (isnan(step->sent_s) ? 0 : step->sent_s);
  return STATUS_OK;
}

static void add_step(ServingStep *sum, const ServingStep *one) {
  sum->attention.bound_s += one->attention.bound_s;
  sum->attention.bound = one->attention.bound; /* of the last chunk, which sees most */
  sum->tokens += one->tokens, sum->outputs += one->outputs;
  sum->weight_bytes += one->weight_bytes, sum->flops += one->flops;
  sum->weight_s += one->weight_s, sum->flop_s += one->flop_s, sum->matrix_s += one->matrix_s;
  sum->experts = one->experts;
  sum->kv_bytes += one->kv_bytes;
  sum->boundary_read_bytes += one->boundary_read_bytes;
  sum->has_prediction &= one->has_prediction;
  sum->predicted_s += one->predicted_s;
  if (one->kind == TIME_EXTRAPOLATED) sum->kind = TIME_EXTRAPOLATED;
  sum->sent_bytes += one->sent_bytes, sum->sent_s += one->sent_s;
  sum->bound_s += one->bound_s;
}

Status serving_prompt(const Serving *s, int64_t prompt, int64_t cached, int64_t chunk, ServingStep *sum,
                      int64_t *n_chunks, Error *error) {
  const int64_t new_tokens = prompt - cached, each = chunk ? chunk : new_tokens;
  *sum = (ServingStep){.attention = {.bound = TIME_NONE}, .has_prediction = true, .kind = TIME_PREDICTED};
  if (ceil_div(new_tokens, each) > SERVING_CHUNKS_MAX)
    return error_set(error, STATUS_TOO_LARGE, "%jd tokens in chunks of %jd are more than %jd chunks; take larger ones",
                     new_tokens, each, SERVING_CHUNKS_MAX);
  for (int64_t at = cached; at < prompt; at += each) {
    const int64_t end = at + each < prompt ? at + each : prompt;
    const ServingPart part = {.queries = end - at, .keys = end, .count = 1};
    ServingStep one;
    const Status status = serving_step(s, &part, 1, end == prompt, &one, error);
    if (status) return status;
    add_step(sum, &one);
  }
  if (n_chunks) *n_chunks = ceil_div(new_tokens, each);
  return STATUS_OK;
}
