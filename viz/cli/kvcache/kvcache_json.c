/* What only JSON has of `tilewalk kvcache`. */
#include "sim/machine/timing.h"
#include "viz/cli/kvcache/kvcache_sizes.h"

/* Layers by kind. "window" or "chunk": tokens that each keeps at most; 0: all. */
static void put_groups(Document *d, const KvCache *c) {
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(c, groups);
  put_array(d, "groups");
  for (int g = 0; g < n; g++) {
    put_object(d, NULL);
    put_count(d, "layers", groups[g].layers);
    put_count(d, "kv_heads", groups[g].kv_heads);
    put_count(d, "head_dim", groups[g].d);
    put_count(d, "value_dim", groups[g].d_v ? groups[g].d_v : groups[g].d);
    put_count(d, "latent", groups[g].latent);
    put_count(d, "window", groups[g].chunked ? 0 : groups[g].window);
    put_count(d, "chunk", groups[g].chunked ? groups[g].window : 0);
    put_count(d, "bytes_per_token_per_layer", kvcache_group_bytes(c, &groups[g]));
    put_end(d);
  }
  put_end(d);
}

static void put_cache(Document *d, const KvCache *c) {
  put_object(d, "cache");
  put_count(d, "layers", kvcache_layers(c));
  put_count(d, "kv_heads", c->kv_heads);
  put_count(d, "head_dim", c->d);
  put_count(d, "latent", c->latent);
  put_text(d, "dtype", kvcache_dtype_name(c->dtype));
  put_count(d, "group", c->group);
  put_count(d, "scale_bytes", c->scale_bytes);
  put_count(d, "window", c->window);
  put_count(d, "window_layers", c->window_layers);
  put_count(d, "page_tokens", c->page_tokens);
  put_groups(d, c);
  put_end(d);
}

static void put_allocation(Document *d, const KvRequest *r, const KvSizes *got) {
  const KvPaged *p = &got->paged;
  put_object(d, "paged");
  put_whole(d, "pages", p->pages);
  put_whole(d, "window_pages", p->window_pages);
  put_whole(d, "bytes", p->paged_bytes);
  put_whole(d, "waste_bytes", p->paged_bytes - p->used_bytes);
  put_whole(d, "table_bytes", p->table_bytes);
  put_end(d);
  put_object(d, "contiguous");
  put_count(d, "max_tokens", r->max_tokens);
  put_whole(d, "bytes", p->contiguous_bytes);
  put_whole(d, "waste_bytes", p->contiguous_bytes - p->used_bytes);
  put_end(d);
  if (r->n_lengths) return;
  const KvBlocks b = kvcache_blocks(got->size.window_tokens, r->block);
  put_count(d, "last_page_tokens", got->state.last_page_tokens);
  put_count(d, "window_tokens", got->size.window_tokens);
  put_object(d, "blocks");
  put_count(d, "block", r->block);
  put_count(d, "n_blocks", b.n_blocks);
  put_count(d, "last_tokens", b.last_tokens);
  put_end(d);
}

/* What a reader should know: why there is no cache, what is left out. */
static void put_notes(Document *d, const KvModel *m) {
  put_array(d, "notes");
  if (*m->no_cache) put_text(d, NULL, m->no_cache);
  if (*m->limits) put_text(d, NULL, m->limits);
  for (int i = 0; i < m->n_remarks; i++) put_text(d, NULL, m->remarks[i]);
  put_end(d);
}

/* What each sequence keeps beside K and V of its tokens. */
static void put_fixed(Document *d, const KvModel *m) {
  put_array(d, "fixed");
  for (int i = 0; i < m->n_fixed; i++) {
    put_object(d, NULL);
    put_text(d, "what", m->fixed[i].what);
    put_count(d, "layers", m->fixed[i].layers);
    put_count(d, "bytes_per_layer", m->fixed[i].bytes);
    put_whole(d, "bytes", wide(m->fixed[i].layers) * wide(m->fixed[i].bytes));
    put_end(d);
  }
  put_end(d);
}

static void put_serving(Document *d, const KvRequest *r) {
  put_count(d, "gpus", r->n_gpus);
  put_count(d, "in_flight_tokens", r->in_flight);
  if (r->weights_bytes)
    put_whole(d, "weights_bytes", kv_sizes_weights(r));
  else
    put_null(d, "weights_bytes");
  if (!r->budget_bytes) return;
  const KvFit fit = kv_sizes_fit(r);
  put_object(d, "budget");
  put_count(d, "bytes", r->budget_bytes);
  if (fit.any_length)
    put_null(d, "tokens");
  else
    put_count(d, "tokens", fit.tokens);
  if (!r->n_lengths) {
    put_count(d, "sequences", fit.n_sequences);
    put_whole(d, "sequence_bytes", fit.sequence_bytes);
  }
  put_end(d);
}

void kv_sizes_put(Document *d, const KvRequest *r, const KvSizes *got, double step_s) {
  put_text(d, "model", r->has_model ? r->model.name : NULL);
  put_cache(d, &r->cache);
  put_count(d, "sequences", got->paged.n_sequences);
  put_whole(d, "tokens", got->paged.tokens);
  put_count(d, "bytes_per_token_per_layer", kvcache_bytes_per_layer(&r->cache));
  put_whole(d, "bytes_per_token", kvcache_bytes_per_token(&r->cache));
  put_whole(d, "bytes", got->paged.used_bytes);
  put_allocation(d, r, got);
  if (r->has_gpu) {
    put_object(d, "gpu");
    put_text(d, "name", r->gpu.name);
    put_count(d, "hbm_bytes", r->gpu.hbm_bytes);
    put_real(d, "share_of_hbm", kv_sizes_share(got->paged.used_bytes, wide(r->gpu.hbm_bytes)));
    put_real(d, "read_s", (double)got->paged.used_bytes / timing_rate(&r->gpu, TIME_HBM, DTYPE_FP16));
    if (step_s > 0) put_real(d, "attention_step_s", step_s);
    put_end(d);
  }
  if (r->has_model) {
    put_fixed(d, &r->model);
    put_whole(d, "fixed_bytes", kv_sizes_fixed(r));
    put_notes(d, &r->model);
  }
  put_serving(d, r);
}

void kv_sizes_put_models(Document *d, const KvModel *models, int n) {
  put_array(d, "models");
  for (int m = 0; m < n; m++) {
    const KvCache cache = kvmodel_cache(&models[m]);
    put_object(d, NULL);
    put_text(d, "name", models[m].name);
    put_text(d, "product", models[m].product);
    put_cache(d, &cache);
    put_count(d, "heads", models[m].heads);
    put_count(d, "max_tokens", models[m].max_tokens);
    put_whole(d, "bytes_per_token", kvcache_bytes_per_token(&cache));
    put_end(d);
  }
  put_end(d);
}
