#include "viz/cli/kvcache/kvcache_sizes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/serving.h"

Status kv_sizes(const KvRequest *r, KvSizes *out, Error *error) {
  memset(out, 0, sizeof *out);
  if (r->n_lengths) return kvcache_paged(&r->cache, r->lengths, r->n_lengths, r->max_tokens, &out->paged, error);
  Status status = kvcache_size(&r->cache, r->tokens, &out->size, error);
  if (status == STATUS_OK) status = kvcache_paged(&r->cache, &r->tokens, 1, r->max_tokens, &out->paged, error);
  if (status != STATUS_OK) return status;
  out->state = kvcache_seek(&r->cache, r->tokens);
  const Wide batch = wide(r->batch);
  KvPaged *p = &out->paged;
  p->n_sequences = r->batch;
  p->tokens *= batch, p->pages *= batch, p->window_pages *= batch;
  p->used_bytes *= batch, p->paged_bytes *= batch, p->contiguous_bytes *= batch, p->table_bytes *= batch;
  return STATUS_OK;
}

Wide kv_sizes_fixed(const KvRequest *r) {
  Wide sum = 0;
  for (int i = 0; r->has_model && i < r->model.n_fixed; i++)
    sum += wide(r->model.fixed[i].layers) * wide(r->model.fixed[i].bytes);
  return sum * wide(r->n_lengths ? r->n_lengths : r->batch);
}

/* --- serving --- */

static Wide fixed_of_one(const KvRequest *r) {
  Wide sum = 0;
  for (int i = 0; r->has_model && i < r->model.n_fixed; i++)
    sum += wide(r->model.fixed[i].layers) * wide(r->model.fixed[i].bytes);
  return sum;
}

KvFit kv_sizes_fit(const KvRequest *r) {
  const Wide budget = wide(r->budget_bytes), fixed = fixed_of_one(r);
  const int64_t page = r->cache.page_tokens;
  KvFit fit = {0};
  int64_t low = 0, high = KVCACHE_MAX_TOKENS / page; /* pages of one sequence */
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (kvcache_most_bytes(&r->cache, middle * page) + fixed <= budget)
      low = middle;
    else
      high = middle - 1;
  }
  fit.any_length = low == KVCACHE_MAX_TOKENS / page;
  fit.tokens = low * page;
  if (r->n_lengths) return fit;
  fit.sequence_bytes = kvcache_seek(&r->cache, r->tokens).page_bytes + fixed;
  const Wide n = fit.sequence_bytes ? budget / fit.sequence_bytes : 0;
  fit.n_sequences = n > (Wide)INT64_MAX ? INT64_MAX : (int64_t)n;
  return fit;
}

Status kv_sizes_step(const KvRequest *r, double *seconds, Error *error) {
  *seconds = 0;
  if (!r->has_model || !r->has_gpu || !r->model.heads || !kvcache_layers(&r->cache)) return STATUS_OK;
  const Serving serving = {.model = &r->model, .gpu = &r->gpu, .cache = r->cache, .n_gpus = r->n_gpus};
  ServingPart parts[KV_REQUEST_LENGTHS_MAX];
  int64_t n = 0;
  for (int k = 0; k < r->n_lengths; k++)
    if (r->lengths[k]) parts[n++] = (ServingPart){.queries = 1, .keys = r->lengths[k], .count = 1};
  if (!r->n_lengths && r->tokens) parts[n++] = (ServingPart){.queries = 1, .keys = r->tokens, .count = r->batch};
  ServingStep step;
  const Status status = serving_attention(&serving, parts, n, &step, error);
  if (!status) *seconds = step.attention.bound_s;
  return status;
}

/* The same cache with kv_heads K and V heads in every layer, or without any window. */
static KvCache with_kv_heads(KvCache c, int64_t kv_heads) {
  c.kv_heads = kv_heads;
  for (int g = 0; g < c.n_more; g++) c.more[g].kv_heads = kv_heads;
  return c;
}
static KvCache without_window(KvCache c) {
  c.window = c.window_layers = 0;
  c.chunked = false;
  for (int g = 0; g < c.n_more; g++) c.more[g].window = 0;
  return c;
}

static bool has_window(const KvCache *c) {
  bool any = c->window != 0;
  for (int g = 0; g < c->n_more; g++) any |= c->more[g].window != 0;
  return any;
}

static bool same_groups(const KvCache *a, const KvCache *b) {
  for (int g = 0; g < a->n_more; g++)
    if (a->more[g].kv_heads != b->more[g].kv_heads || a->more[g].window != b->more[g].window) return false;
  return true;
}

static void offer(Alternative *list, int *n, const char *name, KvCache cache, const KvCache *asked) {
  const bool same = cache.kv_heads == asked->kv_heads && cache.d == asked->d && cache.latent == asked->latent &&
                    cache.window == asked->window && same_groups(&cache, asked) && cache.group == asked->group &&
                    kvcache_dtype_bits(cache.dtype) == kvcache_dtype_bits(asked->dtype);
  if (same || kvcache_complete(&cache, NULL) != STATUS_OK) return;
  snprintf(list[*n].name, sizeof list[*n].name, "%s", name);
  list[(*n)++].cache = cache;
}

int kv_sizes_alternatives(const KvRequest *r, Alternative list[ALTERNATIVES_MAX]) {
  int n = 0;
  const KvCache *asked = &r->cache;
  KvCache c = *asked;
  if (!kvcache_layers(asked)) return 0;
  if (r->has_model) { /* one K and V head for each query head */
    c = with_kv_heads(c, r->model.heads / r->n_gpus);
    if (asked->latent) c.latent = 0, c.d = kvmodel_key_dim(&r->model), c.d_v = kvmodel_value_dim(&r->model);
    if (c.group > c.d) c.group = c.scale_bytes = 0;
    offer(list, &n, "a K and V head for each query head (MHA)", c, asked);
  }
  if (!asked->latent) {
    c = with_kv_heads(*asked, 1);
    offer(list, &n, "one K and V head (MQA)", c, asked);
  }
  if (has_window(asked)) {
    c = without_window(*asked);
    offer(list, &n, "without the window", c, asked);
  }
  c = *asked, c.group = c.scale_bytes = 0;
  c.dtype = KV_FP16;
  offer(list, &n, "16 bits an element", c, asked);
  c.dtype = KV_INT8;
  offer(list, &n, "8 bits an element", c, asked);
  c.dtype = KV_INT4;
  offer(list, &n, "4 bits an element", c, asked);
  c.group = 64;
  offer(list, &n, "4 bits, an fp16 scale for 64 elements", c, asked);
  return n;
}

/* All sequences' bytes under another cache. */
Wide kv_sizes_bytes(const KvRequest *r, const KvCache *cache) {
  if (r->n_lengths == 0) return kvcache_seek(cache, r->tokens).bytes * wide(r->batch);
  Wide sum = 0;
  for (int i = 0; i < r->n_lengths; i++) sum += kvcache_seek(cache, r->lengths[i]).bytes;
  return sum;
}
