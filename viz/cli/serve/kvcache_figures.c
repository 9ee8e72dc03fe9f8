/* What `tilewalk kvcache` says: sizes, pages, what a budget holds; other caches, sequences or steps beside it. */
#include "viz/cli/serve/service.h"

#include "viz/request/description.h"

static double share(Wide part, Wide whole) { return whole ? (double)part / (double)whole : 0; }

/* Bytes of weights on each GPU. */
static Wide weights_of(const Service *s) { return wide(ceil_div(s->weights_bytes, s->n_gpus)); }

/* ---- The cache itself -------------------------------------------------------------------------------------- */

static void put_cache(Document *d, const KvCache *c) {
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(c, groups);
  put_values(d, "cache{layers:i kv_heads:i head_dim:i latent:i dtype:s group:i scale_bytes:i", kvcache_layers(c),
             c->kv_heads, c->d, c->latent, kvcache_dtype_name(c->dtype), c->group, c->scale_bytes);
  put_values(d, "window:i window_layers:i page_tokens:i groups[", c->window, c->window_layers, c->page_tokens);
  for (const KvGroup *g = groups; g < groups + n; g++)
    put_values(d, "{layers:i kv_heads:i head_dim:i value_dim:i latent:i window:i chunk:i bytes_per_token_per_layer:i}",
               g->layers, g->kv_heads, g->d, g->d_v ? g->d_v : g->d, g->latent, g->chunked ? 0 : g->window,
               g->chunked ? g->window : 0, kvcache_group_bytes(c, g));
  put_values(d, "]}");
}

/* "8 KV heads of d = 128", "a latent of 576". */
static Number row_of(const KvGroup *g) {
  if (g->latent) return number_text("a latent of %jd", g->latent);
  return number_text(g->d_v && g->d_v != g->d ? "%s of d = %jd and %jd" : "%s of d = %jd",
                     number_of(wide(g->kv_heads), "KV head").text, g->d, g->d_v);
}

/* A row for each kind of layers, where there are several. */
static void size_figures(const Service *s, const Kept *kept, const Figures *f) {
  const KvCache *c = &s->serving.cache;
  KvGroup groups[KVCACHE_GROUPS_MAX] = {0};
  const int n = kvcache_groups(c, groups);
  const int64_t scales = kvcache_group_scales(c, groups);
  for (const KvGroup *g = groups; n > 1 && g < groups + n; g++) {
    Wide held = 0;
    for (int64_t i = 0; i < s->n_runs; i++)
      held += wide(s->runs[i].count) * wide(kvcache_group_tokens(g, s->runs[i].tokens));
    figures_add(f, ":W |{s} with {s}{s}|{s}; {w} tokens", wide(g->layers) * wide(kvcache_group_bytes(c, g)) * held,
                number_of(wide(g->layers), "layer").text,
                g->chunked  ? "chunks of "
                : g->window ? "a window of "
                            : "all tokens",
                g->window ? number_count(wide(g->window)).text : "", row_of(g).text, held);
  }
  figures_add(f,
              "bytes_per_token_per_layer:I |{s}|{s}, {s}{s}{s}\n"
              "bytes_per_token:W |one token|{s}\n"
              "bytes:W |all tokens|{s} = {s}",
              kvcache_group_bytes(c, groups), c->n_more ? "" : "one token, one layer", row_of(groups).text,
              kvcache_dtype_name(c->dtype), scales ? "; scales of " : "", scales ? number_bytes(wide(scales)).text : "",
              kvcache_bytes_per_token(c), number_of(wide(kvcache_layers(c)), "layer").text, kept->used_bytes,
              number_bytes_exact(kept->used_bytes).text, number_bytes_decimal(kept->used_bytes).text);
}

static void page_figures(const Service *s, const Kept *kept, const Figures *f) {
  const KvCache *c = &s->serving.cache;
  const bool any = kvcache_layers(c) > 0;
  const Wide reserved = wide(s->n) * kvcache_most_bytes(c, s->max_tokens), used = kept->used_bytes;
  const KvState state = kvcache_seek(c, s->longest);
  const int64_t blocks = ceil_div(state.window_tokens, s->block),
                last = blocks ? state.window_tokens - (blocks - 1) * s->block : 0;
  figures_add(f,
              "paged.pages:w |{s}|of {i} tokens; the longest's last holds {d}\n"
              "paged.window_pages:w |{s}|of the longest a windowed layer holds {i}\n"
              "paged.bytes:W |{s}|{%} unused\n"
              "paged.waste_bytes:W\npaged.table_bytes:W\ncontiguous.max_tokens:i\n"
              "contiguous.bytes:W |{s}|contiguous, {i} tokens each; {%} unused\n"
              "contiguous.waste_bytes:W",
              kept->pages, any ? "pages" : "", c->page_tokens, state.last_page_tokens, kept->window_pages,
              kept->window_pages ? "pages, windowed" : "", state.window_tokens, kept->page_bytes, any ? "in pages" : "",
              share(kept->page_bytes - used, kept->page_bytes), kept->page_bytes - used, kept->table_bytes,
              s->max_tokens, reserved, any ? "reserved" : "", s->max_tokens, share(reserved - used, reserved),
              reserved - used);
  if (!*s->lengths)
    figures_add(f,
                "last_page_tokens:i\nwindow_tokens:i\nblocks.block:i\n"
                "blocks.n_blocks:i |{s}|of {i} rows; the last holds {i}\n"
                "blocks.last_tokens:i",
                state.last_page_tokens, state.window_tokens, s->block, blocks, any ? "blocks to read" : "", s->block,
                last, last);
}

/* ---- The machine ------------------------------------------------------------------------------------------- */

/* Attention of all layers for one new token of every sequence, at least. 0: no model says the query heads. */
static Status step_of(const Service *s, double *seconds, Error *error) {
  ServingStep step = {0};
  int64_t n;
  if (!s->has_model || !s->has_gpu || !s->model.heads || !kvcache_layers(&s->whole)) return STATUS_OK;
  ServingPart *parts = service_decode(s, &n, error);
  if (!parts) return error->status;
  const Status status = serving_attention(&s->serving, parts, n, &step, error);
  free(parts);
  if (!status) *seconds = step.attention.bound_s;
  return status;
}

/* Caches are kept in whole pages, with their tables. */
static void gpu_figures(const Service *s, const Kept *kept, double step_s, const Figures *f) {
  if (!s->has_gpu) return;
  const double rate = timing_rate(&s->gpu, TIME_HBM, DTYPE_FP16);
  const Wide memory = wide(gpu_memory_bytes(&s->gpu)), usable = wide(gpu_usable_bytes(&s->gpu)),
             fixed = service_fixed_bytes(s, s->n_gpus) * wide(s->n), used = kept->used_bytes + fixed,
             all = used + weights_of(s);
  const bool fits = all - kept->used_bytes + kept->page_bytes + kept->table_bytes <= usable;
  figures_add(f,
              "gpu.name:s\ngpu.hbm_bytes:W\ngpu.usable_bytes:W\ngpu.share_of_hbm:%\n"
              ":@% |part of its memory|of {W}, {W} usable{s}{s}\n"
              "gpu.read_s:t |reading K and V once|for each new token of all sequences, at {s}",
              s->gpu.name, memory, usable, share(kept->used_bytes, memory), fits ? ROLE_PLAIN : ROLE_BAD,
              share(all, memory), memory, usable, s->weights_bytes ? ", with weights" : "; weights come on top",
              used > usable ? ": does not fit, even without weights"
              : fits        ? ""
                            : ": does not fit, in pages and tables",
              (double)kept->used_bytes / rate, number_si(rate, "B/s").text);
  if (step_s > 0)
    figures_add(f,
                "gpu.attention_step_s:t |attention of one step|at least: all layers, as sim says of one; Q and O too",
                step_s);
}

static void model_figures(const Service *s, const Figures *f) {
  Document *d = f->document;
  const KvModel *m = &s->model;
  if (!s->has_model) return;
  put_values(d, "fixed[");
  for (int i = 0; i < m->n_fixed; i++) {
    const int64_t layers = m->fixed[i].layers, each = ceil_div(m->fixed[i].bytes, s->n_gpus);
    put_values(d, "{what:s layers:i bytes_per_layer:i bytes:w}", m->fixed[i].what, layers, each,
               wide(layers) * wide(each));
    figures_add(f, ":W |{s}|{s}, each sequence, whatever its length", wide(layers) * wide(each), m->fixed[i].what,
                number_of(wide(layers), "layer").text);
  }
  put_values(d, "] fixed_bytes:w notes[", service_fixed_bytes(s, s->n_gpus) * wide(s->n));
  const Number context = service_context(s);
  const char *const said[] = {m->no_cache, m->limits, context.text};
  for (int i = 0; i < 3 + m->n_remarks; i++) {
    const char *text = i < 3 ? said[i] : m->remarks[i - 3];
    if (!*text) continue;
    put_values(d, ":s", text);
    table_note(f->table, i == 2 ? "%s" : "Note: %s.", text);
  }
  put_end(d);
}

static void budget_figures(const Service *s, const Figures *f) {
  if (!s->budget_bytes) return;
  const KvCache *c = &s->serving.cache;
  const Wide budget = wide(s->budget_bytes), fixed = service_fixed_bytes(s, s->n_gpus),
             one = kvcache_seek(c, s->longest).page_bytes + fixed;
  const int64_t page = c->page_tokens;
  const int64_t most = KVCACHE_MAX_TOKENS / page; /* pages of one sequence */
  int64_t n = 0;
  for (int64_t step = KVCACHE_MAX_TOKENS; step; step /= 2)
    if (n + step <= most && kvcache_most_bytes(c, (n + step) * page) + fixed <= budget) n += step;
  figures_add(f, "budget.bytes:W |a budget|of each GPU, for the cache", budget);
  if (n == most)
    figures_add(f, "budget.tokens:0 |holds tokens, at most|any length: every layer has a window");
  else
    figures_add(f, "budget.tokens:i |holds tokens, at most|of one sequence, whole pages", n * page);
  if (!*s->lengths)
    figures_add(f, "budget.sequences:w |or sequences|of {i} tokens each\nbudget.sequence_bytes:W",
                one ? budget / one : 0, s->longest, one);
}

/* ---- What stands beside it --------------------------------------------------------------------------------- */

/* The same cache with kv_heads K and V heads in every layer. */
static KvCache with_kv_heads(KvCache c, int64_t kv_heads) {
  c.kv_heads = kv_heads;
  for (int g = 0; g < c.n_more; g++) c.more[g].kv_heads = kv_heads;
  return c;
}

/* A row, but for what is the same as asked for. */
static void offer(const Service *s, Table *t, const char *name, KvCache c) {
  const KvCache *asked = &s->serving.cache;
  if (kvcache_complete(&c, NULL) || (*name && memcmp(&c, asked, sizeof c) == 0)) return;
  const Wide bytes = service_kept(s, &c).used_bytes;
  put_cells(t, "sWW*x", *name ? name : "as asked", kvcache_bytes_per_token(&c), bytes,
            share(bytes, service_kept(s, asked).used_bytes));
}

/* JSON says elsewhere what was asked for. */
static void add_alternatives(Document *d, const Service *s) {
  static const struct {
    const char *name;
    KvDtype dtype;
    int group;
  } TYPES[] = {{"16 bits an element", KV_FP16, 0},
               {"8 bits an element", KV_INT8, 0},
               {"4 bits an element", KV_INT4, 0},
               {"4 bits, an fp16 scale for 64 elements", KV_INT4, 64}};
  const KvCache *asked = &s->serving.cache;
  KvCache c = *asked;
  Table *t = put_table(d, DOCUMENT_ALL, "alternatives",
                       "instead;cache=name|one token>;token_bytes|all>&bytes|against it>&ratio");
  if (!kvcache_layers(asked)) return;
  if (d->form != DOCUMENT_JSON) offer(s, t, "", c);
  if (s->has_model) {
    c = with_kv_heads(c, s->model.heads / s->n_gpus);
    if (asked->latent) c.latent = 0, c.d = kvmodel_key_dim(&s->model), c.d_v = kvmodel_value_dim(&s->model);
    if (c.group > c.d) c.group = c.scale_bytes = 0;
    offer(s, t, "a K and V head for each query head (MHA)", c);
  }
  if (!asked->latent) offer(s, t, "one K and V head (MQA)", with_kv_heads(*asked, 1));
  c = *asked, c.window = c.window_layers = 0, c.chunked = false;
  for (int g = 0; g < c.n_more; g++) c.more[g].window = 0;
  offer(s, t, "without the window", c);
  c = *asked, c.scale_bytes = 0;
  for (size_t k = 0; k < COUNT_OF(TYPES); k++) {
    c.dtype = TYPES[k].dtype, c.group = TYPES[k].group;
    if (kvcache_dtype_bits(c.dtype) == kvcache_dtype_bits(asked->dtype)) c.dtype = asked->dtype;
    offer(s, t, TYPES[k].name, c);
  }
}

static void add_sequences(Document *d, const Service *s) {
  Table *t = put_table(d, DOCUMENT_TABLES, NULL,
                       "sequence>|tokens>|pages>|last holds>|used>;used_bytes|in pages>;page_bytes|"
                       "unused>;unused_share");
  int64_t number = 0;
  for (int64_t k = 0; k < s->n_runs; k++) {
    const KvState one = kvcache_seek(&s->serving.cache, s->runs[k].tokens);
    for (int64_t i = 0; i < s->runs[k].count; i++)
      put_cells(t, "iiiiWW%", number++, one.tokens, one.pages ? one.pages : one.window_pages, one.last_page_tokens,
                one.bytes, one.page_bytes, share(one.page_bytes - one.bytes, one.page_bytes));
  }
}

static void add_steps(Document *d, const Service *s) {
  Table *t = put_table(d, DOCUMENT_ALL, "steps",
                       "token>=token|page>=page|slot>=slot|=new_page|=window_token_dropped|=window_page_freed|"
                       "in use>&bytes|in pages>&page_bytes|what happened~;event");
  KvState state = kvcache_seek(&s->serving.cache, s->tokens);
  for (int64_t n = 0; n < s->n_steps; n++) {
    const KvAppend did = kvcache_append(&s->serving.cache, &state);
    put_cells(t, "iiibbbWW", did.token, did.page, did.slot, did.new_page, did.window_token_dropped,
              did.window_page_freed, state.bytes, state.page_bytes);
    table_format(
        t, ROLE_DIM, "%s%s%s%s", did.new_page ? "new page" : "", did.new_page && did.window_token_dropped ? ", " : "",
        did.window_token_dropped ? "oldest leaves the window" : "", did.window_page_freed ? ", its page freed" : "");
  }
}

/* ---- The answer -------------------------------------------------------------------------------------------- */

Status kvcache_figures(const Service *s, Document *d, Error *error) {
  const Kept kept = service_kept(s, &s->serving.cache);
  const bool any = kvcache_layers(&s->serving.cache) > 0;
  double step_s = 0;
  const Status status = d->form == DOCUMENT_CSV ? STATUS_OK : step_of(s, &step_s, error);
  if (status) return status;
  const Figures f = figures_new(d, false, "KV cache|size>|how~",
                                " bytes_per_token bytes paged.bytes contiguous.bytes weights_bytes gpu.read_s "
                                "gpu.attention_step_s budget.tokens budget.sequences ");
  table_title(f.table, "%s keeps %s of K and V for %s, %s.", s->has_model ? s->model.product : "A cache of one's own",
              any ? number_bytes(kept.used_bytes).text : "nothing", number_of(wide(s->n), "sequence").text,
              number_of(kept.tokens, "token").text);
  if (!d->details) table_note(f.table, "--details has every figure.");
  put_values(d, "model:s", s->has_model ? s->model.name : NULL);
  put_cache(d, &s->serving.cache);
  put_values(d, "sequences:i tokens:w", s->n, kept.tokens);
  size_figures(s, &kept, &f);
  page_figures(s, &kept, &f);
  gpu_figures(s, &kept, step_s, &f);
  model_figures(s, &f);
  put_values(d, "gpus:i in_flight_tokens:i", s->n_gpus, s->in_flight);
  if (s->weights_bytes)
    figures_add(&f, "weights_bytes:W |weights|beside it{s}; --weights says otherwise", weights_of(s),
                s->n_gpus > 1 ? ", on each GPU" : "");
  else
    figures_add(&f, "weights_bytes:0");
  budget_figures(s, &f);
  if (s->n_gpus > 1)
    table_note(f.table, "On each of %jd GPUs: heads are shared out%s.", s->n_gpus,
               s->whole.latent ? ", but a latent is kept by each" : "");
  const bool others = !s->n_steps && !*s->lengths;
  if (s->has_gpu || s->budget_bytes) document_details(d);
  if (any || !others) document_gap(d);
  if (d->form == DOCUMENT_JSON || (others && any)) add_alternatives(d, s);
  if (s->n_steps) add_steps(d, s);
  if (*s->lengths) add_sequences(d, s);
  return STATUS_OK;
}

/* ---- The models -------------------------------------------------------------------------------------------- */

static void add_model(Document *d, Table *t, const KvModel *m) {
  const KvCache cache = kvmodel_cache(m);
  put_cells(t, "*ssii", m->name, m->product, kvcache_layers(&cache), m->heads);
  if (cache.latent)
    put_cells(t, "si", "MLA", cache.latent);
  else
    put_cells(t, "ii", cache.kv_heads, cache.d);
  if (cache.window)
    table_whole(t, ROLE_PLAIN, number_tokens, wide(cache.window));
  else
    table_empty(t, true);
  table_whole(t, ROLE_PLAIN, number_tokens, wide(m->max_tokens));
  put_cells(t, "WW", kvcache_bytes_per_token(&cache), kvcache_seek(&cache, m->max_tokens).bytes);
  put_row(d, t);
  put_cache(d, &cache);
  put_end(d);
}

Status kvcache_list(Document *d, Error *error) {
  struct {
    DescriptionNames known;
    KvModel model;
  } *all = calloc(1, sizeof *all);
  Table *t = put_table(d, DOCUMENT_ALL, "models",
                       "model=name|=product|layers>|heads>=heads|KV heads>|d>|window>|"
                       "tokens>;context=max_tokens|one token>;token_bytes=bytes_per_token|all>;bytes");
  table_title(t, "Known models; --model takes the name");
  table_note(t,
             "'tokens' are the model's longest context, and 'all' the cache there. The sources are in assets/models.");
  Status status = all ? description_names("models", &all->known, error) : error_no_memory(error, "for all models");
  for (int n = 0; !status && n < all->known.n; n++) {
    status = description_model(all->known.names[n], &all->model, error);
    if (!status) add_model(d, t, &all->model);
  }
  free(all);
  return status;
}
