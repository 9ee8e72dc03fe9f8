#include "viz/cli/serve/service.h"

#include "viz/request/description.h"

/* ---- The model --------------------------------------------------------------------------------------------- */

static void take(int64_t *to, int64_t value) {
  if (!*to) *to = value;
}

/* What the options give goes before what the model has. */
static void override(Service *s) {
  const KvModel *m = &s->model;
  const KvCache model = kvmodel_cache(m);
  KvCache *c = &s->whole;
  const bool plain = c->kv_heads || c->d, expands = model.latent && plain; /* K and V where the model has a latent */
  take(&c->layers, model.layers);
  memcpy(c->more, model.more, sizeof c->more);
  c->n_more = model.n_more;
  take(&c->kv_heads, expands ? m->kv_heads : model.kv_heads);
  if (!c->d) c->d_v = expands ? kvmodel_value_dim(m) : model.d_v;
  take(&c->d, expands ? kvmodel_key_dim(m) : model.d);
  if (!plain) c->latent = model.latent;
  if (!c->window && !c->window_layers) c->window_layers = model.window_layers;
  if (!c->window) c->window = model.window, c->chunked = model.chunked;
  if (!s->has_dtype) c->dtype = model.dtype;
}

static Status refuse_model(const Service *s, bool serves, int n_own, Error *error) {
  const KvModel *m = &s->model;
  const bool changes = n_own || s->whole.window || s->whole.window_layers;
  if (n_own < 3 && kvmodel_check_cache(m, error)) return error->status;
  if (*m->no_cache && changes) return error_refuse(error, "%.80s: %s", m->name, m->no_cache);
  if (kvmodel_cache(m).n_more && changes)
    return error_refuse(
        error,
        "%.80s has layers of several kinds, so --layers, --kv-heads, --head-dim and --window do not say "
        "which; leave them out, or change a copy of the model's file",
        m->name);
  if (m->heads % s->n_gpus)
    return error_refuse(error, "--tp %jd: %.60s has %jd query heads, which do not divide evenly over those GPUs",
                        s->n_gpus, m->name, m->heads);
  if (!serves) return STATUS_OK;
  if (*m->no_cache || !m->heads)
    return error_refuse(error, "%.80s has no cache to serve from: %.90s", m->name,
                        *m->no_cache ? m->no_cache : "it has no attention heads");
  if (!m->parameters || !m->hidden || !m->vocab)
    return error_refuse(error,
                        "%.80s: %s, so its matrices are not known; give a description (as in assets/models) with "
                        "'parameters', 'hidden' and 'vocab'",
                        m->name,
                        *m->no_weights ? m->no_weights : "'parameters', 'hidden' and 'vocab' are not all given");
  return STATUS_OK;
}

/* What is kept of a window while a batch with more tokens of the sequence is in flight: the last token's window begins
 * at the first one's. */
static void widen_windows(KvCache *c, int64_t in_flight) {
  if (c->window && !c->chunked) c->window += in_flight - 1;
  for (int g = 0; g < c->n_more; g++)
    if (c->more[g].window && !c->more[g].chunked) c->more[g].window += in_flight - 1;
}

static Status complete_model(Service *s, bool serves, Error *error) {
  KvCache *c = &s->whole;
  const int n_own = (c->layers != 0) + (c->kv_heads != 0) + (c->d != 0);
  s->has_model = *s->model_name || !n_own;
  if (!s->has_model && n_own < 3)
    return error_refuse(
        error, "a cache of your own needs --layers, --kv-heads and --head-dim; or name a --model to start from");
  if (s->has_model) {
    const char *name = *s->model_name ? s->model_name : serves ? "llama-3.1-70b" : "llama-2-70b";
    if (description_model(name, &s->model, error) || refuse_model(s, serves, n_own, error)) return error->status;
    override(s);
  }
  if (kvcache_complete(c, error)) return error->status;
  widen_windows(c, s->in_flight);
  s->serving.cache = *c;
  return kvcache_share(&s->serving.cache, s->n_gpus, error);
}

static Status complete_machine(Service *s, bool serves, Error *error) {
  s->has_gpu = serves || *s->gpu_name;
  s->has_kernel = *s->kernel_name != '\0';
  const char *gpu = *s->gpu_name ? s->gpu_name : "h100-sxm";
  if ((s->has_gpu && (serves ? description_timed_gpu : description_gpu)(gpu, &s->gpu, error)) ||
      (s->has_kernel && description_kernel(s->kernel_name, &s->kernel, error)))
    return error->status;
  s->serving.model = &s->model;
  s->serving.gpu = s->has_gpu ? &s->gpu : NULL;
  s->serving.kernel = s->has_kernel ? &s->kernel : NULL;
  s->serving.n_gpus = s->n_gpus;
  if (s->has_model && s->model.parameters) {
    serving_take_weights(&s->serving, s->has_weights_dtype ? &s->weights_dtype : NULL);
    take(&s->weights_bytes, (int64_t)(serving_weights_bytes(&s->serving) * (double)s->n_gpus));
  }
  take(&s->weights_bytes, s->model.weights_bytes);
  return STATUS_OK;
}

/* ---- The sequences ----------------------------------------------------------------------------------------- */

/* Neighbours of one length are one run. Sorted for a service, which does not ask in which order they were typed. */
static Status runs_of_lengths(Service *s, bool serves, Error *error) {
  Lengths *all = batch_lengths(s->lengths, error);
  if (!all) return error->status;
  if (serves) qsort(all->lengths, (size_t)all->n, sizeof *all->lengths, ascending_int64);
  s->runs = malloc((size_t)all->n * sizeof *s->runs);
  for (int64_t k = 0; s->runs && k < all->n; k++) {
    if (!k || all->lengths[k] != all->lengths[k - 1]) s->runs[s->n_runs++] = (ServedRun){all->lengths[k], 0};
    s->runs[s->n_runs - 1].count++;
  }
  free(all);
  return s->runs ? STATUS_OK : error_no_memory(error, "for the lengths");
}

static Status complete_sequences(Service *s, bool serves, Error *error) {
  const int64_t most = serves ? SHAPE_MAX_N : KVCACHE_MAX_TOKENS - SERVICE_STEPS_MAX;
  if (*s->lengths && runs_of_lengths(s, serves, error)) return error->status;
  if (!*s->lengths) {
    take(&s->tokens, s->has_model && !serves ? s->model.max_tokens : 4096);
    take(&s->batch, 1);
    s->runs = malloc(sizeof *s->runs);
    if (!s->runs) return error_no_memory(error, "for a sequence");
    s->runs[s->n_runs++] = (ServedRun){s->tokens, s->batch};
  }
  for (int64_t k = 0; k < s->n_runs; k++) {
    s->n += s->runs[k].count;
    s->all_tokens += wide(s->runs[k].count) * wide(s->runs[k].tokens);
    s->longest = max64(s->longest, s->runs[k].tokens);
  }
  if (s->longest > most)
    return error_set(error, STATUS_TOO_LARGE, "a sequence of %jd tokens; at most %jd are computed", s->longest, most);
  return STATUS_OK;
}

/* What contiguous allocation reserves, and what is appended. */
static Status complete_growth(Service *s, Error *error) {
  const int64_t grown = s->longest + s->n_steps;
  take(&s->max_tokens, s->has_model && s->model.max_tokens > grown ? s->model.max_tokens : grown);
  take(&s->block, 128);
  if (s->max_tokens < s->longest)
    return error_refuse(error, "--max-tokens %jd is less than a sequence of %jd tokens; reserve at least that",
                        s->max_tokens, s->longest);
  return STATUS_OK;
}

static Status complete_prompt(Service *s, Error *error) {
  s->adds_prompt = s->prompt > 0;
  take(&s->prompt, s->longest);
  const int64_t shortest = min64(s->runs->tokens, s->prompt);
  if (s->prefix >= shortest)
    return error_refuse(error, "--prefix %jd: a sequence of %jd tokens must have some of its own behind it", s->prefix,
                        shortest);
  s->shared = kvcache_shared(&s->whole, s->prefix);
  return STATUS_OK;
}

Status service_complete(Service *s, bool serves, Error *error) {
  take(&s->n_gpus, 1);
  take(&s->in_flight, 1);
  if (complete_model(s, serves, error) || complete_machine(s, serves, error) || complete_sequences(s, serves, error))
    return error->status;
  return (serves ? complete_prompt : complete_growth)(s, error);
}

void service_free(Service *s) { free(s->runs); }

/* ---- What is kept ------------------------------------------------------------------------------------------ */

Kept service_kept(const Service *s, const KvCache *c) {
  Kept sum = {0};
  for (int64_t k = 0; k < s->n_runs; k++) {
    const Wide n = wide(s->runs[k].count);
    const KvState one = kvcache_seek(c, evict_kept(&s->evict, s->runs[k].tokens));
    sum.tokens += n * wide(one.tokens), sum.pages += n * wide(one.pages);
    sum.window_pages += n * wide(one.window_pages), sum.used_bytes += n * one.bytes;
    sum.page_bytes += n * one.page_bytes, sum.table_bytes += n * one.table_bytes;
  }
  sum.prefix_bytes = kvcache_seek(c, s->shared).page_bytes;
  return sum;
}

Wide service_fixed_bytes(const Service *s, int64_t n_gpus) {
  Wide sum = 0;
  for (int i = 0; s->has_model && i < s->model.n_fixed; i++)
    sum += wide(s->model.fixed[i].layers) * wide(ceil_div(s->model.fixed[i].bytes, n_gpus));
  return sum;
}

ServingPart *service_decode(const Service *s, int64_t *n, Error *error) {
  ServingPart *parts = malloc(((size_t)s->n_runs + 2) * sizeof *parts);
  if (!parts) error_no_memory(error, "for the sequences");
  *n = 0;
  for (const ServedRun *r = s->runs; parts && r < s->runs + s->n_runs; r++) {
    const int64_t keys = evict_kept(&s->evict, r->tokens) - s->shared;
    if (keys) parts[(*n)++] = (ServingPart){.queries = 1, .keys = keys, .count = r->count};
  }
  return parts;
}

Number service_context(const Service *s) {
  const KvModel *m = &s->model;
  const Number most = number_count(wide(m->max_tokens));
  if (s->has_model && m->max_tokens_assumed && s->longest >= m->max_tokens)
    return number_text("The model's file gives no context length: %s tokens are assumed.", most.text);
  if (s->has_model && s->longest > m->max_tokens)
    return number_text("This model was made for at most %s tokens.", most.text);
  return number_text("%s", "");
}
