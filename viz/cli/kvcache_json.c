/* The JSON of `tilewalk kvcache`. */
#include "sim/machine/timing.h"
#include "viz/cli/json_sink.h"
#include "viz/cli/kvcache_sizes.h"

static void put(const ReportSink *k, const char *key, int64_t value) { k->whole(k->context, key, wide(value)); }

/* Layers by kind. "window" or "chunk": tokens that each keeps at most; 0: all. */
static void report_groups(const ReportSink *k, const KvCache *c) {
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(c, groups);
  k->open_array(k->context, "groups");
  for (int g = 0; g < n; g++) {
    k->open_object(k->context, NULL);
    put(k, "layers", groups[g].layers);
    put(k, "kv_heads", groups[g].kv_heads);
    put(k, "head_dim", groups[g].d);
    put(k, "value_dim", groups[g].d_v ? groups[g].d_v : groups[g].d);
    put(k, "latent", groups[g].latent);
    put(k, "window", groups[g].chunked ? 0 : groups[g].window);
    put(k, "chunk", groups[g].chunked ? groups[g].window : 0);
    put(k, "bytes_per_token_per_layer", kvcache_group_bytes(c, &groups[g]));
    k->close(k->context);
  }
  k->close(k->context);
}

static void report_cache(const ReportSink *k, const KvCache *c) {
  k->open_object(k->context, "cache");
  put(k, "layers", kvcache_layers(c));
  put(k, "kv_heads", c->kv_heads);
  put(k, "head_dim", c->d);
  put(k, "latent", c->latent);
  k->text(k->context, "dtype", kvcache_dtype_name(c->dtype));
  put(k, "group", c->group);
  put(k, "scale_bytes", c->scale_bytes);
  put(k, "window", c->window);
  put(k, "window_layers", c->window_layers);
  put(k, "page_tokens", c->page_tokens);
  report_groups(k, c);
  k->close(k->context);
}

static void report_allocation(const ReportSink *k, const KvRequest *r, const KvSizes *got) {
  const KvPaged *p = &got->paged;
  k->open_object(k->context, "paged");
  k->whole(k->context, "pages", p->pages);
  k->whole(k->context, "window_pages", p->window_pages);
  k->whole(k->context, "bytes", p->paged_bytes);
  k->whole(k->context, "waste_bytes", p->paged_bytes - p->used_bytes);
  k->whole(k->context, "table_bytes", p->table_bytes);
  k->close(k->context);
  k->open_object(k->context, "contiguous");
  put(k, "max_tokens", r->max_tokens);
  k->whole(k->context, "bytes", p->contiguous_bytes);
  k->whole(k->context, "waste_bytes", p->contiguous_bytes - p->used_bytes);
  k->close(k->context);
  if (r->n_lengths) return;
  const KvBlocks b = kvcache_blocks(got->size.window_tokens, r->block);
  put(k, "last_page_tokens", got->state.last_page_tokens);
  put(k, "window_tokens", got->size.window_tokens);
  k->open_object(k->context, "blocks");
  put(k, "block", r->block);
  put(k, "n_blocks", b.n_blocks);
  put(k, "last_tokens", b.last_tokens);
  k->close(k->context);
}

static void report_alternatives(const ReportSink *k, const KvRequest *r) {
  Alternative list[ALTERNATIVES_MAX];
  const int n = kv_sizes_alternatives(r, list);
  const Wide asked = kv_sizes_bytes(r, &r->cache);
  k->open_array(k->context, "alternatives");
  for (int a = 0; a < n; a++) {
    const Wide bytes = kv_sizes_bytes(r, &list[a].cache);
    k->open_object(k->context, NULL);
    k->text(k->context, "name", list[a].name);
    k->whole(k->context, "bytes", bytes);
    k->real(k->context, "ratio", kv_sizes_share(bytes, asked));
    k->close(k->context);
  }
  k->close(k->context);
}

static void report_steps(const ReportSink *k, const KvRequest *r) {
  KvState s = kvcache_seek(&r->cache, r->tokens);
  k->open_array(k->context, "steps");
  for (int64_t n = 0; n < r->n_steps; n++) {
    const KvAppend did = kvcache_append(&r->cache, &s);
    k->open_object(k->context, NULL);
    put(k, "token", did.token);
    put(k, "page", did.page);
    put(k, "slot", did.slot);
    k->flag(k->context, "new_page", did.new_page);
    k->flag(k->context, "window_token_dropped", did.window_token_dropped);
    k->flag(k->context, "window_page_freed", did.window_page_freed);
    k->whole(k->context, "bytes", s.bytes);
    k->whole(k->context, "page_bytes", s.page_bytes);
    k->close(k->context);
  }
  k->close(k->context);
}

/* What a reader should know: why there is no cache, what is left out, keys that were not used. */
static void report_notes(const ReportSink *k, const KvModel *m) {
  k->open_array(k->context, "notes");
  if (*m->no_cache) k->text(k->context, NULL, m->no_cache);
  if (*m->limits) k->text(k->context, NULL, m->limits);
  for (int i = 0; i < m->n_remarks; i++) k->text(k->context, NULL, m->remarks[i]);
  if (*m->unused) {
    char text[KVMODEL_REMARK_BYTES + 64];
    snprintf(text, sizeof text, KVRECKON_UNUSED, m->unused);
    k->text(k->context, NULL, text);
  }
  k->close(k->context);
}

/* What each sequence keeps beside K and V of its tokens. */
static void report_fixed(const ReportSink *k, const KvModel *m) {
  k->open_array(k->context, "fixed");
  for (int i = 0; i < m->n_fixed; i++) {
    k->open_object(k->context, NULL);
    k->text(k->context, "what", m->fixed[i].what);
    put(k, "layers", m->fixed[i].layers);
    put(k, "bytes_per_layer", m->fixed[i].bytes);
    k->whole(k->context, "bytes", wide(m->fixed[i].layers) * wide(m->fixed[i].bytes));
    k->close(k->context);
  }
  k->close(k->context);
}

static void report_serving(const ReportSink *k, const KvRequest *r) {
  put(k, "gpus", r->n_gpus);
  put(k, "in_flight_tokens", r->in_flight);
  if (r->weights_bytes)
    k->whole(k->context, "weights_bytes", kv_sizes_weights(r));
  else
    k->null(k->context, "weights_bytes");
  if (!r->budget_bytes) return;
  const KvFit fit = kv_sizes_fit(r);
  k->open_object(k->context, "budget");
  put(k, "bytes", r->budget_bytes);
  if (fit.any_length)
    k->null(k->context, "tokens");
  else
    put(k, "tokens", fit.tokens);
  if (!r->n_lengths) {
    put(k, "sequences", fit.n_sequences);
    k->whole(k->context, "sequence_bytes", fit.sequence_bytes);
  }
  k->close(k->context);
}

Status kv_sizes_json(const KvRequest *r, const KvSizes *got, FILE *out, Error *error) {
  double step_s = 0;
  const Status status = kv_sizes_step(r, &step_s, error);
  if (status) return status;
  JsonSink json = {0};
  const ReportSink sink = json_sink(&json), *k = &sink;
  k->open_object(k->context, NULL);
  put(k, "tilewalk", 1);
  if (r->has_model)
    k->text(k->context, "model", r->model.name);
  else
    k->null(k->context, "model");
  report_cache(k, &r->cache);
  put(k, "sequences", got->paged.n_sequences);
  k->whole(k->context, "tokens", got->paged.tokens);
  put(k, "bytes_per_token_per_layer", kvcache_bytes_per_layer(&r->cache));
  k->whole(k->context, "bytes_per_token", kvcache_bytes_per_token(&r->cache));
  k->whole(k->context, "bytes", got->paged.used_bytes);
  report_allocation(k, r, got);
  if (r->has_gpu) {
    k->open_object(k->context, "gpu");
    k->text(k->context, "name", r->gpu.name);
    put(k, "hbm_bytes", r->gpu.hbm_bytes);
    k->real(k->context, "share_of_hbm", kv_sizes_share(got->paged.used_bytes, wide(r->gpu.hbm_bytes)));
    k->real(k->context, "read_s", (double)got->paged.used_bytes / timing_rate(&r->gpu, TIME_HBM, DTYPE_FP16));
    if (step_s > 0) k->real(k->context, "attention_step_s", step_s);
    k->close(k->context);
  }
  if (r->has_model) {
    report_fixed(k, &r->model);
    k->whole(k->context, "fixed_bytes", kv_sizes_fixed(r));
    report_notes(k, &r->model);
  }
  report_serving(k, r);
  report_alternatives(k, r);
  if (r->n_steps) report_steps(k, r);
  k->close(k->context);
  return json_print(json_result(&json), out, error);
}

Status kv_sizes_list_json(const KvModel *models, int n, FILE *out, Error *error) {
  JsonSink json = {0};
  const ReportSink sink = json_sink(&json), *k = &sink;
  k->open_object(k->context, NULL);
  put(k, "tilewalk", 1);
  k->open_array(k->context, "models");
  for (int m = 0; m < n; m++) {
    const KvCache cache = kvmodel_cache(&models[m]);
    k->open_object(k->context, NULL);
    k->text(k->context, "name", models[m].name);
    k->text(k->context, "product", models[m].product);
    report_cache(k, &cache);
    put(k, "heads", models[m].heads);
    put(k, "max_tokens", models[m].max_tokens);
    k->whole(k->context, "bytes_per_token", kvcache_bytes_per_token(&cache));
    k->close(k->context);
  }
  k->close(k->context);
  k->close(k->context);
  return json_print(json_result(&json), out, error);
}
