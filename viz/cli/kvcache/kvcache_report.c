#include "viz/cli/kvcache/kvcache_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "viz/request/description.h"
#include "viz/cli/kvcache/kvcache_sizes.h"
#include "sim/machine/timing.h"
#include "viz/text/number.h"

/* --- Tables for people --- */

static void describe(Table *t, const KvRequest *r) {
  const KvCache *c = &r->cache;
  char row[128], window[256] = "", scales[96] = "";
  if (!kvcache_layers(c)) {
    table_title(t, "%s: no KV cache", r->has_model ? r->model.product : "");
    return;
  }
  if (c->latent)
    snprintf(row, sizeof row, "a latent of %" PRId64 " elements", c->latent);
  else
    snprintf(row, sizeof row, "%" PRId64 " KV head%s of d = %" PRId64, c->kv_heads, c->kv_heads == 1 ? "" : "s", c->d);
  if (c->n_more) {
    table_title(t, "%s: %" PRId64 " layers of %d kinds, %s%s", r->has_model ? r->model.product : "", kvcache_layers(c),
                kvcache_groups(c, (KvGroup[KVCACHE_GROUPS_MAX]){0}), kvcache_dtype_name(c->dtype), scales);
    return;
  }
  if (c->window)
    snprintf(window, sizeof window, ", %s %s", c->chunked ? "chunks of" : "window", number_count(wide(c->window)).text);
  if (c->window && c->window_layers < c->layers)
    snprintf(window + strlen(window), sizeof window - strlen(window), " in %" PRId64, c->window_layers);
  if (c->group) snprintf(scales, sizeof scales, ", %" PRId64 " B for %" PRId64 " elements", c->scale_bytes, c->group);
  table_title(t, "%s%s%" PRId64 " layer%s, %s, %s%s%s", r->has_model ? r->model.product : "", r->has_model ? ": " : "",
              c->layers, c->layers == 1 ? "" : "s", row, kvcache_dtype_name(c->dtype), scales, window);
}

/* A row for each kind of layers. */
static void group_rows(Table *t, const KvRequest *r) {
  const KvCache *c = &r->cache;
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(c, groups);
  for (int g = 0; n > 1 && g < n; g++) {
    const KvGroup *k = &groups[g];
    char row[96], v[32] = "", keeps[96] = "all tokens";
    if (k->d_v && k->d_v != k->d) snprintf(v, sizeof v, " and %" PRId64, k->d_v);
    if (k->latent)
      snprintf(row, sizeof row, "a latent of %" PRId64, k->latent);
    else
      snprintf(row, sizeof row, "%" PRId64 " KV head%s of d = %" PRId64 "%s", k->kv_heads, k->kv_heads == 1 ? "" : "s",
               k->d, v);
    if (k->window)
      snprintf(keeps, sizeof keeps, k->chunked ? "chunks of %s" : "a window of %s", number_count(wide(k->window)).text);
    table_format(t, ROLE_PLAIN, "%" PRId64 " layer%s with %s", k->layers, k->layers == 1 ? "" : "s", keeps);
    if (r->n_lengths)
      table_bytes(t, ROLE_PLAIN, wide(k->layers) * wide(kvcache_group_bytes(c, k)));
    else
      table_bytes(t, ROLE_PLAIN,
                  wide(k->layers) * wide(kvcache_group_bytes(c, k)) * wide(kvcache_group_tokens(k, r->tokens)));
    if (r->n_lengths)
      table_format(t, ROLE_DIM, "%s, a token", row);
    else
      table_format(t, ROLE_DIM, "%s; %s tokens each", row, number_count(wide(kvcache_group_tokens(k, r->tokens))).text);
  }
}

static void size_rows(Table *t, const KvRequest *r, const KvSizes *k) {
  const KvCache *c = &r->cache;
  const int bits = kvcache_dtype_bits(c->dtype);
  char scales[96] = "";
  if (c->group)
    snprintf(scales, sizeof scales, ", %" PRId64 " B of scales",
             kvcache_bytes_per_layer(c) - kvcache_element_bytes_per_layer(c));
  group_rows(t, r);
  if (!kvcache_layers(c)) {
    table_format(t, ROLE_PLAIN, "%s tokens", number_count(k->paged.tokens).text);
    table_bytes(t, ROLE_ACCENT, 0);
    table_text(t, ROLE_DIM, "");
    return;
  }
  if (!c->n_more) {
    table_text(t, ROLE_PLAIN, "one token, one layer");
    table_bytes(t, ROLE_PLAIN, wide(kvcache_bytes_per_layer(c)));
  }
  if (c->n_more)
    ;
  else if (c->latent)
    table_format(t, ROLE_DIM, "%" PRId64 " elements of %d bits%s", c->latent, bits, scales);
  else if (c->d_v && c->d_v != c->d)
    table_format(t, ROLE_DIM, "%" PRId64 " x (%" PRId64 " + %" PRId64 ") elements of %d bits%s", c->kv_heads, c->d,
                 c->d_v, bits, scales);
  else
    table_format(t, ROLE_DIM, "2 x %" PRId64 " x %" PRId64 " elements of %d bits%s", c->kv_heads, c->d, bits, scales);
  table_text(t, ROLE_PLAIN, "one token");
  table_bytes(t, ROLE_PLAIN, kvcache_bytes_per_token(c));
  table_format(t, ROLE_DIM, "%" PRId64 " layer%s", kvcache_layers(c), kvcache_layers(c) == 1 ? "" : "s");
  const Number tokens = number_count(wide(r->tokens));
  if (r->n_lengths)
    table_format(t, ROLE_PLAIN, "%d sequences, %s tokens", r->n_lengths, number_count(k->paged.tokens).text);
  else if (r->batch > 1)
    table_format(t, ROLE_PLAIN, "%" PRId64 " x %s tokens", r->batch, tokens.text);
  else
    table_format(t, ROLE_PLAIN, "%s token%s", tokens.text, r->tokens == 1 ? "" : "s");
  table_bytes(t, ROLE_ACCENT, k->paged.used_bytes);
  if (k->paged.used_bytes < 1000)
    table_text(t, ROLE_DIM, "");
  else
    table_format(t, ROLE_DIM, "%s = %s", number_bytes_exact(k->paged.used_bytes).text,
                 number_bytes_decimal(k->paged.used_bytes).text);
  if (!c->window || r->n_lengths || c->n_more || c->window_layers < c->layers) return;
  table_text(t, ROLE_PLAIN, "a windowed layer holds");
  table_format(t, ROLE_PLAIN, "%s", number_count(wide(k->size.window_tokens)).text);
  table_format(t, ROLE_DIM, "of %s tokens", tokens.text);
}

static void paged_row(Table *t, const KvRequest *r, const KvSizes *k) {
  const KvPaged *p = &k->paged;
  const Number unused = number_percent(kv_sizes_share(p->paged_bytes - p->used_bytes, p->paged_bytes));
  char last[64] = "";
  if (!r->n_lengths) snprintf(last, sizeof last, ", the last holds %" PRId64, k->state.last_page_tokens);
  table_format(t, ROLE_PLAIN, "in pages of %s tokens", number_count(wide(r->cache.page_tokens)).text);
  table_bytes(t, ROLE_PLAIN, p->paged_bytes);
  if (p->pages && p->window_pages)
    table_format(t, ROLE_DIM, "%s pages, %s where there is a window%s; %s unused", number_count(p->pages).text,
                 number_count(p->window_pages).text, last, unused.text);
  else
    table_format(t, ROLE_DIM, "%s pages%s; %s unused", number_count(p->pages ? p->pages : p->window_pages).text, last,
                 unused.text);
}

static void allocation_rows(Table *t, const KvRequest *r, const KvSizes *k) {
  const KvPaged *p = &k->paged;
  paged_row(t, r, k);
  table_format(t, ROLE_PLAIN, "reserved for %s tokens", number_count(wide(r->max_tokens)).text);
  table_bytes(t, ROLE_PLAIN, p->contiguous_bytes);
  table_format(t, ROLE_DIM, "contiguous; %s unused",
               number_percent(kv_sizes_share(p->contiguous_bytes - p->used_bytes, p->contiguous_bytes)).text);
  if (r->n_lengths) return;
  const KvBlocks b = kvcache_blocks(k->size.window_tokens, r->block);
  table_format(t, ROLE_PLAIN, "read in blocks of %s rows", number_count(wide(r->block)).text);
  table_format(t, ROLE_PLAIN, "%s", number_count(wide(b.n_blocks)).text);
  table_format(t, ROLE_DIM, "the last holds %s%s", number_count(wide(b.last_tokens)).text,
               r->cache.window ? " (a windowed layer)" : "");
}

/* What a budget holds. */
static void budget_rows(Table *t, const KvRequest *r) {
  const KvFit fit = kv_sizes_fit(r);
  table_format(t, ROLE_PLAIN, "a budget of %s holds", number_bytes(wide(r->budget_bytes)).text);
  if (fit.any_length)
    table_text(t, ROLE_ACCENT, "any length");
  else
    table_format(t, ROLE_ACCENT, "%s tokens", number_count(wide(fit.tokens)).text);
  table_text(t, ROLE_DIM,
             fit.any_length ? "of one sequence: every layer has a window" : "of one sequence, whole pages");
  if (r->n_lengths) return;
  table_format(t, ROLE_PLAIN, "or of %s tokens each", number_count(wide(r->tokens)).text);
  table_format(t, ROLE_ACCENT, "%s sequence%s", number_count(wide(fit.n_sequences)).text,
               fit.n_sequences == 1 ? "" : "s");
  table_format(t, ROLE_DIM, "%s each, in pages", number_bytes(fit.sequence_bytes).text);
}

static void weights_rows(Table *t, const KvRequest *r) {
  if (!r->weights_bytes) return;
  table_text(t, ROLE_PLAIN, "weights");
  table_bytes(t, ROLE_PLAIN, kv_sizes_weights(r));
  table_format(t, ROLE_DIM, "beside it%s; --weights says otherwise", r->n_gpus > 1 ? ", on each GPU" : "");
}

/* Caches are kept in whole pages, with their tables. */
static void gpu_rows(Table *t, const KvRequest *r, const KvPaged *p, double step_s) {
  const Wide memory_bytes = wide(r->gpu.hbm_bytes), used_bytes = p->used_bytes + kv_sizes_fixed(r),
             all = used_bytes + kv_sizes_weights(r), kept = all - p->used_bytes + p->paged_bytes + p->table_bytes;
  const bool fits = kept <= memory_bytes;
  const char *how = used_bytes > memory_bytes ? ": does not fit, even without weights"
                    : !fits                   ? ": does not fit, in pages and their tables"
                    : r->weights_bytes        ? ""
                                              : "; weights come on top";
  table_format(t, ROLE_PLAIN, "share of %s's memory", r->gpu.name);
  table_format(t, fits ? ROLE_PLAIN : ROLE_BAD, "%s", number_percent(kv_sizes_share(all, memory_bytes)).text);
  table_format(t, ROLE_DIM, "of %s%s%s", number_bytes_decimal(memory_bytes).text,
               r->weights_bytes ? ", with weights" : "", how);
  table_text(t, ROLE_PLAIN, "reading it once takes");
  table_seconds(t, ROLE_PLAIN, (double)used_bytes / timing_rate(&r->gpu, TIME_HBM, DTYPE_FP16));
  table_format(t, ROLE_DIM, "for each new token of all sequences, at %s",
               number_si(timing_rate(&r->gpu, TIME_HBM, DTYPE_FP16), "B/s").text);
  if (step_s <= 0) return;
  table_text(t, ROLE_PLAIN, "attention of one step");
  table_seconds(t, ROLE_PLAIN, step_s);
  table_text(t, ROLE_DIM, "at least: all layers, as sim says of one; Q and O too");
}

/* States and the like, which do not grow. */
static void fixed_rows(Table *t, const KvRequest *r) {
  const KvModel *m = &r->model;
  for (int i = 0; r->has_model && i < m->n_fixed; i++) {
    table_text(t, ROLE_PLAIN, m->fixed[i].what);
    table_bytes(t, ROLE_PLAIN, wide(m->fixed[i].layers) * wide(m->fixed[i].bytes));
    table_format(t, ROLE_DIM, "%" PRId64 " layer%s, each sequence, whatever its length", m->fixed[i].layers,
                 m->fixed[i].layers == 1 ? "" : "s");
  }
}

static void model_notes(Table *t, const KvModel *m) {
  if (*m->no_cache) table_note(t, "Note: %s.", m->no_cache);
  if (*m->limits) table_note(t, "Note: %s.", m->limits);
  for (int i = 0; i < m->n_remarks; i++) table_note(t, "Note: %s.", m->remarks[i]);
}

static void add_sizes(Document *d, const KvRequest *r, const KvSizes *k, double step_s) {
  static const TableColumn COLUMNS[] = {
      {.heading = "KV cache"}, {.heading = "size", .right = true}, {.heading = "how", .shrink = TABLE_WRAP}};
  Table *t = document_table(d, DOCUMENT_TEXT, NULL, COLUMNS, 3);
  describe(t, r);
  size_rows(t, r, k);
  fixed_rows(t, r);
  table_rule(t);
  if (kvcache_layers(&r->cache)) allocation_rows(t, r, k);
  weights_rows(t, r);
  if (r->budget_bytes) budget_rows(t, r);
  if (r->has_gpu) gpu_rows(t, r, &k->paged, step_s);
  if (r->has_model && !r->n_lengths && r->tokens > r->model.max_tokens)
    table_note(t, KVCACHE_BEYOND(&r->model), number_count(wide(r->model.max_tokens)).text);
  if (r->has_model) model_notes(t, &r->model);
  if (r->n_gpus > 1)
    table_note(t, "On each of %" PRId64 " GPUs: heads are shared out%s.", r->n_gpus,
               r->cache.latent ? ", but a latent is kept by each" : "");
}

/* JSON says elsewhere what was asked for. */
static void add_alternatives(Document *d, const KvRequest *r) {
  static const TableColumn COLUMNS[] = {{.heading = "instead", .csv = "cache", .key = "name"},
                                        {.heading = "one token", .csv = "token_bytes", .right = true},
                                        {.heading = "all", .csv = "bytes", .key = "bytes", .right = true},
                                        {.heading = "against it", .csv = "ratio", .key = "ratio", .right = true}};
  Alternative list[ALTERNATIVES_MAX];
  const int n = kv_sizes_alternatives(r, list);
  const Wide asked = kv_sizes_bytes(r, &r->cache);
  Table *t = document_table(d, DOCUMENT_ALL, "alternatives", COLUMNS, 4);
  for (int a = d->form == DOCUMENT_JSON ? 0 : -1; a < n; a++) {
    const KvCache *cache = a < 0 ? &r->cache : &list[a].cache;
    const Wide bytes = kv_sizes_bytes(r, cache);
    table_text(t, ROLE_PLAIN, a < 0 ? "as asked" : list[a].name);
    table_bytes(t, ROLE_PLAIN, kvcache_bytes_per_token(cache));
    table_bytes(t, ROLE_PLAIN, bytes);
    table_ratio(t, ROLE_ACCENT, kv_sizes_share(bytes, asked));
  }
}

static void add_sequences(Document *d, const KvRequest *r) {
  static const TableColumn COLUMNS[] = {{.heading = "sequence", .right = true},
                                        {.heading = "tokens", .right = true},
                                        {.heading = "pages", .right = true},
                                        {.heading = "last holds", .right = true},
                                        {.heading = "used", .csv = "used_bytes", .right = true},
                                        {.heading = "in pages", .csv = "page_bytes", .right = true},
                                        {.heading = "unused", .csv = "unused_share", .right = true}};
  Table *t = document_table(d, DOCUMENT_TABLES, NULL, COLUMNS, 7);
  for (int i = 0; i < r->n_lengths; i++) {
    const KvState s = kvcache_seek(&r->cache, r->lengths[i]);
    table_count(t, ROLE_PLAIN, wide(i));
    table_count(t, ROLE_PLAIN, wide(s.tokens));
    table_count(t, ROLE_PLAIN, wide(s.pages ? s.pages : s.window_pages));
    table_count(t, ROLE_PLAIN, wide(s.last_page_tokens));
    table_bytes(t, ROLE_PLAIN, s.bytes);
    table_bytes(t, ROLE_PLAIN, s.page_bytes);
    table_percent(t, ROLE_PLAIN, kv_sizes_share(s.page_bytes - s.bytes, s.page_bytes));
  }
}

static void add_steps(Document *d, const KvRequest *r) {
  static const TableColumn COLUMNS[] = {
      {.heading = "token", .key = "token", .right = true},
      {.heading = "page", .key = "page", .right = true},
      {.heading = "slot", .key = "slot", .right = true},
      {.key = "new_page"},
      {.key = "window_token_dropped"},
      {.key = "window_page_freed"},
      {.heading = "in use", .csv = "bytes", .key = "bytes", .right = true},
      {.heading = "in pages", .csv = "page_bytes", .key = "page_bytes", .right = true},
      {.heading = "what happened", .csv = "event", .shrink = TABLE_WRAP}};
  Table *t = document_table(d, DOCUMENT_ALL, "steps", COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  KvState s = kvcache_seek(&r->cache, r->tokens);
  for (int64_t n = 0; n < r->n_steps; n++) {
    const KvAppend did = kvcache_append(&r->cache, &s);
    char event[96] = "";
    if (did.new_page) snprintf(event, sizeof event, "new page");
    if (did.window_token_dropped)
      snprintf(event + strlen(event), sizeof event - strlen(event), "%soldest leaves the window", *event ? ", " : "");
    if (did.window_page_freed) snprintf(event + strlen(event), sizeof event - strlen(event), ", its page freed");
    table_count(t, ROLE_PLAIN, wide(did.token));
    table_count(t, ROLE_PLAIN, wide(did.page));
    table_count(t, ROLE_PLAIN, wide(did.slot));
    table_flag(t, ROLE_PLAIN, did.new_page, "", "");
    table_flag(t, ROLE_PLAIN, did.window_token_dropped, "", "");
    table_flag(t, ROLE_PLAIN, did.window_page_freed, "", "");
    table_bytes(t, ROLE_PLAIN, s.bytes);
    table_bytes(t, ROLE_PLAIN, s.page_bytes);
    table_text(t, ROLE_DIM, event);
  }
}

/* --- The two entry points --- */

Status kvcache_report(const KvRequest *r, Document *d, Error *error) {
  KvSizes got;
  double step_s = 0;
  Status status = kv_sizes(r, &got, error);
  if (!status && d->form != DOCUMENT_CSV) status = kv_sizes_step(r, &step_s, error);
  if (status) return status;
  kv_sizes_put(d, r, &got, step_s);
  add_sizes(d, r, &got, step_s);
  if (d->form == DOCUMENT_JSON || r->n_steps || r->n_lengths || kvcache_layers(&r->cache)) document_gap(d);
  if (d->form == DOCUMENT_JSON || (!r->n_steps && !r->n_lengths && kvcache_layers(&r->cache))) add_alternatives(d, r);
  if (r->n_steps)
    add_steps(d, r);
  else if (r->n_lengths)
    add_sequences(d, r);
  return STATUS_OK;
}

static void add_models(Document *d, const KvModel *models, int n) {
  static const TableColumn COLUMNS[] = {{.heading = "model"},
                                        {.heading = "layers", .right = true},
                                        {.heading = "heads", .right = true},
                                        {.heading = "KV heads", .right = true},
                                        {.heading = "d", .right = true},
                                        {.heading = "window", .right = true},
                                        {.heading = "tokens", .csv = "context", .right = true},
                                        {.heading = "one token", .csv = "token_bytes", .right = true},
                                        {.heading = "all", .csv = "bytes", .right = true}};
  Table *t = document_table(d, DOCUMENT_TABLES, NULL, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  table_title(t, "Known models; --model takes the name");
  for (int m = 0; m < n; m++) {
    const KvCache cache = kvmodel_cache(&models[m]);
    table_text(t, ROLE_ACCENT, models[m].name);
    table_count(t, ROLE_PLAIN, wide(kvcache_layers(&cache)));
    table_count(t, ROLE_PLAIN, wide(models[m].heads));
    if (cache.latent)
      table_text(t, ROLE_PLAIN, "MLA");
    else
      table_count(t, ROLE_PLAIN, wide(cache.kv_heads));
    table_count(t, ROLE_PLAIN, wide(cache.latent ? cache.latent : cache.d));
    if (cache.window)
      table_tokens(t, ROLE_PLAIN, wide(cache.window));
    else
      table_empty(t, true);
    table_tokens(t, ROLE_PLAIN, wide(models[m].max_tokens));
    table_bytes(t, ROLE_PLAIN, kvcache_bytes_per_token(&cache));
    table_bytes(t, ROLE_PLAIN, kvcache_seek(&cache, models[m].max_tokens).bytes);
  }
  table_note(t,
             "'tokens' are the model's longest context, and 'all' the cache there. The sources are in assets/models.");
}

Status kvcache_list(Document *d, Error *error) {
  DescriptionNames *known = malloc(sizeof *known);
  KvModel *models = calloc(DESCRIPTION_NAMES_MAX, sizeof *models);
  int n = 0;
  Status status = known && models ? description_names("models", known, error)
                                  : error_set(error, STATUS_NO_MEMORY, "no memory for the list of models");
  for (; status == STATUS_OK && n < known->n; n++) status = description_model(known->names[n], &models[n], error);
  if (status == STATUS_OK) {
    kv_sizes_put_models(d, models, n);
    add_models(d, models, n);
  }
  free(models);
  free(known);
  return status;
}
