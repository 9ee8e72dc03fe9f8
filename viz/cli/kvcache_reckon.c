#include "viz/cli/kvcache_reckon.h"

#include <stdio.h>
#include <string.h>

Status kvreckon(const KvRequest *r, Reckoned *out, Error *error) {
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
  p->used_bytes *= batch, p->paged_bytes *= batch, p->contiguous_bytes *= batch;
  return STATUS_OK;
}

Wide kvreckon_fixed(const KvRequest *r) {
  Wide sum = 0;
  for (int i = 0; r->has_model && i < r->model.n_fixed; i++)
    sum += wide(r->model.fixed[i].layers) * wide(r->model.fixed[i].bytes);
  return sum * wide(r->n_lengths ? r->n_lengths : r->batch);
}

/* The same cache with so many K and V heads in every layer, or without any window. */
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

int kvreckon_alternatives(const KvRequest *r, Alternative list[ALTERNATIVES_MAX]) {
  int n = 0;
  const KvCache *asked = &r->cache;
  KvCache c = *asked;
  if (!kvcache_layers(asked)) return 0;
  if (r->has_model) { /* one K and V head for each query head */
    c = with_kv_heads(c, r->model.heads);
    c.latent = 0, c.d = asked->latent ? r->model.d : asked->d;
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
Wide kvreckon_bytes(const KvRequest *r, const KvCache *cache) {
  if (r->n_lengths == 0) return kvcache_seek(cache, r->tokens).bytes * wide(r->batch);
  Wide sum = 0;
  for (int i = 0; i < r->n_lengths; i++) sum += kvcache_seek(cache, r->lengths[i]).bytes;
  return sum;
}
