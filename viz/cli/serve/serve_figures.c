#include "viz/cli/serve/serve_figures.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/text/number.h"

void serve_point(ServeRequest *r) {
  r->serving.model = &r->model;
  r->serving.gpu = &r->gpu;
  r->serving.kernel = r->has_kernel ? &r->kernel : NULL;
}

static const char COUNTED[] = "counted", BOUND[] = "bound", ASSUMED[] = "assumed";

/* The one that is filled in next; the caller gives its value. */
static Figure *add(Figures *f, const char *section, const char *key, const char *label, const char *kind,
                   const char *format, ...) __attribute__((format(printf, 6, 7)));
static Figure *add(Figures *f, const char *section, const char *key, const char *label, const char *kind,
                   const char *format, ...) {
  Figure *one = &f->list[f->n < FIGURES_MAX ? f->n++ : FIGURES_MAX - 1];
  va_list arguments;
  *one = (Figure){.section = section, .key = key, .label = label, .kind = kind};
  va_start(arguments, format);
  vsnprintf(one->from, sizeof one->from, format, arguments);
  va_end(arguments);
  return one;
}

#define ADD(what, amount, section, key, label, kind, ...)                                                              \
  do {                                                                                                                 \
    Figure *added = add(f, section, key, label, kind, __VA_ARGS__);                                                    \
    added->form = what;                                                                                                \
    added->value = amount;                                                                                             \
  } while (0)

/* ---- Memory ------------------------------------------------------------------------------------------------ */

/* Of the sequences' caches on one GPU. */
typedef struct {
  Wide used_bytes, page_bytes, table_bytes, shared_bytes;
  Wide tokens;
} Stored;

/* Whole pages of the prefix are kept once: vLLM's and SGLang's caches of prefixes share no part of a page. */
static int64_t shared_tokens(const ServeRequest *r) { return r->prefix / r->whole.page_tokens * r->whole.page_tokens; }

static Stored store(const ServeRequest *r, const Serving *serving) {
  const KvCache *c = &serving->cache;
  const Lengths *all = r->lengths;
  Stored s = {0};
  for (int64_t k = 0; k < all->n; k++) {
    const int64_t kept = evict_kept(&r->evict, all->lengths[k]);
    const KvState one = kvcache_seek(c, kept);
    s.tokens += wide(kept);
    s.used_bytes += one.bytes, s.page_bytes += one.page_bytes, s.table_bytes += one.table_bytes;
  }
  s.shared_bytes = kvcache_seek(c, shared_tokens(r)).page_bytes * wide(all->n - 1);
  return s;
}

static double fixed_bytes(const ServeRequest *r, const Serving *serving) {
  double sum = 0;
  for (int i = 0; i < r->model.n_fixed; i++) sum += (double)r->model.fixed[i].layers * (double)r->model.fixed[i].bytes;
  return sum / (double)serving->n_gpus;
}

/* Scores that H2O sums up for each kept token and KV head, in fp32 (assumed). */
static double score_bytes(const ServeRequest *r, const Serving *serving) {
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(&serving->cache, groups);
  double rows = 0, kept = 0;
  for (int g = 0; g < n; g++) rows += (double)groups[g].layers * (double)(groups[g].latent ? 1 : groups[g].kv_heads);
  for (int64_t k = 0; k < r->lengths->n; k++) kept += (double)evict_kept(&r->evict, r->lengths->lengths[k]);
  return r->evict.kind == EVICT_H2O ? 4 * rows * kept : 0;
}

/* What lies in the memory of one GPU. */
typedef struct {
  Stored kept;
  double weights, scores, fixed, all;
} Taken;

static Taken take_memory(const ServeRequest *r, const Serving *s) {
  Taken t = {.kept = store(r, s),
             .weights = serving_weights_bytes(s),
             .scores = score_bytes(r, s),
             .fixed = fixed_bytes(r, s) * (double)r->lengths->n};
  t.all =
      t.weights + (double)(t.kept.page_bytes - t.kept.shared_bytes) + t.scores + t.fixed + (double)t.kept.table_bytes;
  return t;
}

/* The fewest GPUs that hold it, of numbers that heads divide over; 0: even a GPU for each head is too few. */
static int64_t least_gpus(const ServeRequest *r) {
  for (int64_t n = 1; n <= r->model.heads; n++) {
    Serving s = r->serving;
    s.n_gpus = n, s.cache = r->whole;
    if (r->model.heads % n || kvcache_share(&s.cache, n, NULL)) continue;
    if (take_memory(r, &s).all <= (double)r->gpu.hbm_bytes) return n;
  }
  return 0;
}

/* Returns whether it fits. */
static bool add_memory(const ServeRequest *r, Figures *f) {
  static const char S[] = "memory";
  const Serving *s = &r->serving;
  const Taken taken = take_memory(r, s);
  const Stored kept = taken.kept;
  const int64_t longest = r->lengths->lengths[r->lengths->n - 1], held = evict_kept(&r->evict, longest);
  const double hbm = (double)r->gpu.hbm_bytes, left = hbm - taken.all;
  const double shared = (double)kvcache_seek(&s->cache, shared_tokens(r)).page_bytes,
               one = (double)kvcache_seek(&s->cache, held).page_bytes + fixed_bytes(r, s) - shared;
  const int64_t least = least_gpus(r);
  ADD(FIGURE_BYTES, hbm, S, "hbm_bytes", "memory of each GPU", COUNTED, "%s's description", r->gpu.name);
  ADD(FIGURE_BYTES, taken.weights, S, "weights_bytes", "weights", COUNTED, "%s parameters of %.3g B, over %lld GPU%s",
      number_count(wide(r->model.parameters)).text, s->weight_bytes, (long long)s->n_gpus, s->n_gpus > 1 ? "s" : "");
  ADD(FIGURE_BYTES, (double)kvcache_bytes_per_token(&s->cache), S, "token_bytes", "cache of one token", COUNTED,
      "kvcache: all layers, %s", kvcache_dtype_name(s->cache.dtype));
  ADD(FIGURE_BYTES, (double)kept.used_bytes, S, "kv_bytes", "KV cache", COUNTED, "kvcache: %s tokens",
      number_count(kept.tokens).text);
  ADD(FIGURE_BYTES, (double)kept.page_bytes, S, "page_bytes", "the same in pages", COUNTED,
      "pages of %lld tokens; the longest's last page holds %lld", (long long)s->cache.page_tokens,
      (long long)kvcache_seek(&s->cache, held).last_page_tokens);
  ADD(FIGURE_BYTES, (double)kept.table_bytes, S, "table_bytes", "tables of pages", COUNTED, "4 B a page (vLLM: int32)");
  if (r->prefix)
    ADD(FIGURE_BYTES, (double)kept.shared_bytes, S, "shared_bytes", "saved by the prefix", COUNTED,
        "its whole pages, kept once and not %s times", number_count(wide(r->lengths->n)).text);
  if (r->evict.kind)
    ADD(FIGURE_COUNT, (double)held, S, "kept_tokens", "tokens that stay", COUNTED, "of %s, %s: %lld and the last %lld",
        number_count(wide(longest)).text, evict_name(r->evict.kind), (long long)r->evict.first,
        (long long)r->evict.last);
  if (taken.scores > 0)
    ADD(FIGURE_BYTES, taken.scores, S, "score_bytes", "sums of scores", ASSUMED, "fp32 a kept token and KV head");
  if (taken.fixed > 0)
    ADD(FIGURE_BYTES, taken.fixed, S, "fixed_bytes", "states", COUNTED, "kvcache: whatever the length");
  ADD(FIGURE_BYTES, fabs(left), S, "left_bytes", left >= 0 ? "left" : "lacking", COUNTED, "%s%.1f %% is taken",
      left >= 0 ? "for activations; " : "it does not fit: ", 100 * taken.all / hbm);
  ADD(FIGURE_COUNT, fmax(0, floor((hbm - taken.weights - shared) / one)), S, "sequences_that_fit", "sequences that fit",
      COUNTED, "of the longest's size, beside the weights%s", shared > 0 ? " and one prefix" : "");
  ADD(FIGURE_COUNT, (double)least, S, "least_gpus", least ? "fits from --tp" : "numbers of GPUs that fit", COUNTED,
      least ? "the fewest GPUs that heads divide over" : "up to one for each of %lld heads", (long long)r->model.heads);
  return left >= 0;
}

/* ---- Times ------------------------------------------------------------------------------------------------- */

static void add_prediction(const ServeRequest *r, const ServingStep *step, const char *section, Figures *f) {
  if (!r->has_kernel || !step->has_prediction) return;
  ADD(FIGURE_SECONDS, step->predicted_s, section, "attention_predicted_s", "attention, predicted",
      time_kind_name(step->kind), "by %s's costs; sim says how far off they are", r->kernel.name);
  ADD(FIGURE_BYTES, (double)step->boundary_read_bytes, section, "boundary_read_bytes", "reads by its tiles", COUNTED,
      "across the SRAM boundary, all layers");
}

/* The longest of what comes one after the other. */
static const char *binds(const ServingStep *s) {
  const double sent = isnan(s->sent_s) ? 0 : s->sent_s;
  if (sent >= s->matrix_s && sent >= s->attention.bound_s) return "link";
  if (s->attention.bound_s > s->matrix_s) {
    switch (s->attention.bound) {
    case TIME_HBM: return "attention: HBM";
    case TIME_MATH: return "attention: products";
    case TIME_EXP: return "attention: exponentials";
    default: return "attention: SRAM or L2";
    }
  }
  return s->weight_s >= s->flop_s ? "weights: HBM" : "matrices: products";
}

/* Whether a figure of the card's description names no source. */
static bool is_assumed(const Gpu *gpu, const char *name) {
  int n;
  const KeyfileField *fields = gpu_fields(&n);
  for (int f = 0; f < n; f++)
    if (strcmp(fields[f].name, name) == 0) return gpu->notes[f].assumed;
  return false;
}

/* The kind of what follows from a number of the model's description, which may say that it was assumed. */
static const char *kind_by(const KvModel *m, size_t member, const char *kind) {
  int n;
  const KeyfileField *fields = kvmodel_fields(&n);
  for (int k = 0; k < n; k++)
    if (fields[k].offset == member && m->notes[k].assumed) return ASSUMED;
  return kind;
}

static void add_step(const ServeRequest *r, const ServingStep *s, const char *section, Figures *f) {
  const char *how = r->model.experts ? ASSUMED : kind_by(&r->model, offsetof(KvModel, vocab), COUNTED);
  if (r->model.experts)
    ADD(FIGURE_BYTES, s->weight_bytes, section, "weight_bytes", "weights read", how,
        "%.1f of %lld experts a layer, where routing is uniform", s->experts, (long long)r->model.experts);
  else
    ADD(FIGURE_BYTES, s->weight_bytes, section, "weight_bytes", "weights read", how,
        "all but the input's table of words, once a pass");
  ADD(FIGURE_FLOPS, s->flops, section, "flops", "FLOPs of the matrices", how, "2 a weight and token");
  ADD(FIGURE_SECONDS, s->matrix_s, section, "matrix_s", "matrices", r->model.experts ? ASSUMED : BOUND, "%s at %s",
      s->weight_s >= s->flop_s ? "HBM" : "products",
      s->weight_s >= s->flop_s ? number_si(timing_rate(&r->gpu, TIME_HBM, r->serving.products), "B/s").text
                               : number_si(timing_rate(&r->gpu, TIME_MATH, r->serving.products), "FLOP/s").text);
  ADD(FIGURE_BYTES, (double)s->kv_bytes, section, "kv_bytes", "K and V read", COUNTED, "kvcache: what queries see");
  ADD(FIGURE_SECONDS, s->attention.bound_s, section, "attention_s", "attention", BOUND, "sim's floor: %s, all layers",
      s->attention.bound == TIME_NONE ? "nothing" : timing_term_title(s->attention.bound));
  add_prediction(r, s, section, f);
  if (r->serving.n_gpus == 1) return;
  ADD(FIGURE_BYTES, s->sent_bytes, section, "sent_bytes", "sent by each GPU",
      kind_by(&r->model, offsetof(KvModel, hidden), COUNTED), "two all-reduces a layer, rows of %lld x 2 B",
      (long long)r->model.hidden);
  if (!isnan(s->sent_s))
    ADD(FIGURE_SECONDS, s->sent_s, section, "sent_s", "all-reduces", BOUND, "half of the link's %s%s",
        number_si(r->gpu.link_bytes_per_s, "B/s").text, is_assumed(&r->gpu, "link") ? ", assumed" : "");
}

static void add_word(Figures *f, const char *section, const char *key, const char *label, const char *word,
                     const char *from) {
  Figure *one = add(f, section, key, label, "", "%s", from);
  one->form = FIGURE_WORD;
  one->word = word;
}

/* Chunks' extra cost as two papers count it: loads of chunks' K and V, each chunk's own included (Sarathi, arXiv
 * 2308.16369) or those of earlier chunks alone (Sarathi-Serve, arXiv 2403.02310); and all chunks' time over that of the
 * whole prompt. */
static Status add_chunks(const ServeRequest *r, const ServingStep *chunked, int64_t n_chunks, Figures *f,
                         Error *error) {
  static const char S[] = "prompt";
  ServingStep whole;
  const Status status = serving_prompt(&r->serving, r->prompt, r->prefix, 0, &whole, NULL, error);
  if (status) return status;
  const double n = (double)n_chunks;
  ADD(FIGURE_COUNT, n, S, "chunks", "chunks", COUNTED, "of %s tokens", number_count(wide(r->chunk)).text);
  ADD(FIGURE_COUNT, n * (n + 1) / 2, S, "chunk_loads", "loads of chunks' K and V", COUNTED,
      "n (n + 1) / 2, its own included; the first's %lld times (Sarathi)", (long long)n_chunks);
  ADD(FIGURE_COUNT, n * (n - 1) / 2, S, "chunk_reloads", "of them, of earlier ones", COUNTED,
      "n (n - 1) / 2, as Sarathi-Serve counts");
  ADD(FIGURE_RATIO, (double)chunked->kv_bytes / (double)whole.kv_bytes, S, "kv_ratio", "K and V against one pass",
      COUNTED, "bytes over bytes");
  ADD(FIGURE_RATIO, chunked->bound_s / whole.bound_s, S, "time_ratio", "time against one pass", BOUND,
      "bound over bound");
  return STATUS_OK;
}

static Status add_prompt(const ServeRequest *r, Figures *f, Error *error) {
  static const char S[] = "prompt";
  ServingStep step;
  int64_t n_chunks;
  Status status = serving_prompt(&r->serving, r->prompt, r->prefix, r->chunk, &step, &n_chunks, error);
  if (status) return status;
  add_step(r, &step, S, f);
  if (r->chunk) status = add_chunks(r, &step, n_chunks, f, error);
  ADD(FIGURE_SECONDS, step.bound_s, S, "time_s", "time to first token", r->model.experts ? ASSUMED : BOUND,
      "one prompt of %s tokens%s, alone", number_count(wide(r->prompt)).text, r->prefix ? ", prefix cached" : "");
  add_word(f, S, "binds", "bottleneck", binds(&step), "the longest of the above");
  return status;
}

/* Decodes that a chunk of a prompt rides with (Sarathi's batches): the prompt's last chunk, which sees most. */
static Status add_chunk_beside(const ServeRequest *r, ServingPart *parts, int64_t n, Figures *f, Error *error) {
  ServingStep step;
  const int64_t queries = r->chunk < r->prompt - r->prefix ? r->chunk : r->prompt - r->prefix;
  parts[n] = (ServingPart){.queries = queries, .keys = r->prompt, .count = 1};
  const Status status = serving_step(&r->serving, parts, n + 1, (double)r->lengths->n + 1, &step, error);
  if (!status)
    ADD(FIGURE_SECONDS, step.bound_s, "token", "with_chunk_s", "the same with a chunk",
        r->model.experts ? ASSUMED : BOUND, "the prompt's last %s tokens in the same step",
        number_count(wide(queries)).text);
  return status;
}

/* Sequences of like length together; the prefix apart, once for all of them. */
static ServingPart *parts_of(const ServeRequest *r, int64_t *n) {
  const Lengths *all = r->lengths;
  ServingPart *parts = malloc(((size_t)all->n + 2) * sizeof *parts); /* a prefix, and a chunk */
  *n = 0;
  for (int64_t k = 0, end; parts && k < all->n; k = end) {
    for (end = k + 1; end < all->n && all->lengths[end] == all->lengths[k];) end++;
    const int64_t keys = evict_kept(&r->evict, all->lengths[k]) - r->prefix;
    parts[(*n)++] = (ServingPart){.queries = 1, .keys = keys, .count = end - k};
  }
  if (parts && r->prefix)
    parts[(*n)++] = (ServingPart){
        .queries = all->n, .keys = r->prefix, .count = 1, .is_prefix = true, .after = all->lengths[0] - r->prefix};
  return parts;
}

static Status add_token(const ServeRequest *r, Figures *f, Error *error) {
  static const char S[] = "token";
  ServingStep step;
  int64_t n;
  ServingPart *parts = parts_of(r, &n);
  if (!parts) return error_set(error, STATUS_NO_MEMORY, "no memory for %lld sequences", (long long)r->lengths->n);
  Status status = serving_step(&r->serving, parts, n, (double)r->lengths->n, &step, error);
  if (status) {
    free(parts);
    return status;
  }
  const double scores_s = 2 * score_bytes(r, &r->serving) / timing_rate(&r->gpu, TIME_HBM, DTYPE_FP16);
  add_step(r, &step, S, f);
  if (r->prefix)
    ADD(FIGURE_BYTES, (double)kvcache_seek(&r->serving.cache, r->prefix).bytes * (double)(r->lengths->n - 1), S,
        "prefix_saved_bytes", "reads saved by the prefix", COUNTED,
        "it is read once for all queries (Hydragen, arXiv 2402.05099)");
  if (scores_s > 0)
    ADD(FIGURE_SECONDS, scores_s, S, "scores_s", "sums of scores", BOUND, "read and written once a step");
  ADD(FIGURE_SECONDS, step.bound_s + scores_s, S, "time_s", "time a token", r->model.experts ? ASSUMED : BOUND,
      "%s sequence%s at once", number_count(wide(r->lengths->n)).text, r->lengths->n == 1 ? "" : "s");
  ADD(FIGURE_RATE, (double)r->lengths->n / (step.bound_s + scores_s), S, "tokens_per_s", "tokens a second, at most",
      r->model.experts ? ASSUMED : BOUND, "of all sequences");
  add_word(f, S, "binds", "bottleneck", binds(&step), "the longest of the above");
  if (r->chunk) status = add_chunk_beside(r, parts, n, f, error);
  free(parts);
  return status;
}

Status serve_figures(const ServeRequest *r, Figures *f, Error *error) {
  f->n = 0;
  const bool fits = add_memory(r, f);
  const int n = f->n;
  Status status = add_prompt(r, f, error);
  if (!status) status = add_token(r, f, error);
  if (!fits) f->n = n; /* what does not run has no times */
  return status;
}

const Figure *serve_figure(const Figures *f, const char *path) {
  char one[96];
  for (int k = 0; k < f->n; k++) {
    snprintf(one, sizeof one, "%s.%s", f->list[k].section, f->list[k].key);
    if (strcmp(one, path) == 0) return &f->list[k];
  }
  return NULL;
}
