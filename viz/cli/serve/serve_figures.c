/* What `tilewalk serve` says: memory of each GPU, a prompt, a step of decode; each with its kind and its reason. */
#include "viz/cli/serve/service.h"

static const char COUNTED[] = "counted", BOUND[] = "bound", ASSUMED[] = "assumed";

/* ---- Memory ------------------------------------------------------------------------------------------------ */

/* What lies in the memory of one GPU of so many. */
typedef struct {
  Kept kept;
  double weights, scores, fixed, prompt, all;
} Taken;

static Wide saved_bytes(const Service *s, const Kept *kept) { return kept->prefix_bytes * wide(s->n - 1); }

static Taken take_memory(const Service *s, const Serving *serving) {
  Taken t = {.kept = service_kept(s, &serving->cache),
             .weights = serving_weights_bytes(serving),
             .fixed = (double)service_fixed_bytes(s, serving->n_gpus) * (double)s->n};
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(&serving->cache, groups);
  for (int g = 0; s->evict.kind == EVICT_H2O && g < n; g++) /* H2O's sums for each kept token and KV head, in fp32 */
    t.scores +=
        4 * (double)groups[g].layers * (double)(groups[g].latent ? 1 : groups[g].kv_heads) * (double)t.kept.tokens;
  if (s->adds_prompt) {
    const KvState prompt = kvcache_seek(&serving->cache, s->prompt);
    t.prompt = (double)(prompt.page_bytes - t.kept.prefix_bytes + prompt.table_bytes);
  }
  t.all = t.weights + t.prompt + (double)(t.kept.page_bytes - saved_bytes(s, &t.kept)) + t.scores + t.fixed +
          (double)t.kept.table_bytes;
  return t;
}

/* The fewest GPUs that hold it, of numbers that heads divide over; 0: even a GPU for each head is too few. */
static int64_t least_gpus(const Service *s) {
  for (int64_t n = 1; n <= s->model.heads; n++) {
    Serving each = s->serving;
    each.n_gpus = n, each.cache = s->whole;
    if (s->model.heads % n || kvcache_share(&each.cache, n, NULL)) continue;
    if (take_memory(s, &each).all <= (double)gpu_usable_bytes(&s->gpu)) return n;
  }
  return 0;
}

/* Returns the bytes that are left. */
static double memory_figures(const Service *s, Figures *f) {
  const Serving *serving = &s->serving;
  const Taken t = take_memory(s, serving);
  const int64_t held = evict_kept(&s->evict, s->longest), least = least_gpus(s);
  const KvState longest = kvcache_seek(&serving->cache, held);
  const double usable = (double)gpu_usable_bytes(&s->gpu), hbm = (double)gpu_memory_bytes(&s->gpu),
               left = usable - t.all;
  const double shared = (double)t.kept.prefix_bytes;
  const double one = (double)longest.page_bytes + t.fixed / (double)s->n - shared;
  figures_section(f, "memory", "Memory of each GPU");
  figures_add(f,
              "hbm_bytes:F {s}|memory of each GPU|{s}'s description{s}\n"
              "reserve_bytes:F assumed|kept from programs|by context and driver\n"
              "weights_bytes:F counted|weights|{i} parameters of {s} B\n"
              "token_bytes:W counted|cache of one token|kvcache: all layers, {s}\n"
              "kv_bytes:W counted|KV cache|kvcache: {w} tokens\n"
              "page_bytes:W counted|the same in pages|pages of {d} tokens; the longest's last page holds {d}\n"
              "table_bytes:W counted|tables of pages|4 B a page (vLLM: int32)",
              hbm, s->gpu.hbm_reported_bytes ? "measured" : "datasheet", s->gpu.name,
              s->gpu.hbm_reported_bytes ? ", as its driver reports" : "", hbm - usable, t.weights, s->model.parameters,
              number_trimmed(serving->weight_bytes, 3).text, kvcache_bytes_per_token(&serving->cache),
              kvcache_dtype_name(serving->cache.dtype), t.kept.used_bytes, t.kept.tokens, t.kept.page_bytes,
              serving->cache.page_tokens, longest.last_page_tokens, t.kept.table_bytes);
  if (s->prefix)
    figures_add(f, "shared_bytes:W counted|saved by the prefix|its whole pages, kept once and not {i} times",
                saved_bytes(s, &t.kept), s->n);
  if (s->evict.kind)
    figures_add(f, "kept_tokens:i counted|tokens that stay|of {i}, {s}: {d} and the last {d}", held, s->longest,
                evict_name(s->evict.kind), s->evict.first, s->evict.last);
  if (t.scores > 0) figures_add(f, "score_bytes:F assumed|sums of scores|fp32 a kept token and KV head", t.scores);
  if (t.fixed > 0) figures_add(f, "fixed_bytes:F counted|states|kvcache: whatever the length", t.fixed);
  if (s->adds_prompt)
    figures_add(f, "prompt_bytes:F counted|cache of the new prompt|its pages and their table", t.prompt);
  figures_add(f,
              "left_bytes:F assumed|{s}|{s}{s} is taken\n"
              "sequences_that_fit:f assumed|sequences that fit|of the longest's size{s}\n"
              "least_gpus:i assumed|{s}|{s}",
              fabs(left), left >= 0 ? "left" : "lacking",
              left >= 0 ? "for activations; " : "it does not fit: ", number_text("%.1f %%", 100 * t.all / usable).text,
              fmax(0, floor((usable - t.weights - t.prompt - shared) / one)), shared > 0 ? ", one prefix" : "", least,
              least ? "fits from --tp" : "numbers of GPUs that fit",
              least ? "the fewest that heads divide over"
                    : number_text("up to one for each of %jd heads", s->model.heads).text);
  return left;
}

/* ---- Times ------------------------------------------------------------------------------------------------- */

/* The longest of what comes one after the other. */
static const char *binds(const ServingStep *s) {
  static const char *const ATTENTION[TIME_PART_COUNT] = {
      [TIME_HBM] = "attention: HBM", [TIME_MATH] = "attention: products", [TIME_EXP] = "attention: exponentials"};
  const double sent = isnan(s->sent_s) ? 0 : s->sent_s;
  const int bound = (int)s->attention.bound;
  if (sent >= s->matrix_s && sent >= s->attention.bound_s) return "link";
  if (s->attention.bound_s > s->matrix_s)
    return bound >= 0 && bound < TIME_PART_COUNT && ATTENTION[bound] ? ATTENTION[bound] : "attention: SRAM or L2";
  return s->weight_s >= s->flop_s ? "weights: HBM" : "matrices: products";
}

static void step_figures(const Service *s, const ServingStep *step, const Figures *f) {
  const KvModel *m = &s->model;
  int n;
  const KeyfileField *fields = kvmodel_fields(&n);
  const char *how = m->experts || keyfile_note(fields, m->notes, "vocab")->assumed ? ASSUMED : COUNTED;
  const bool by_bytes = step->weight_s >= step->flop_s;
  const double rate = timing_rate(&s->gpu, by_bytes ? TIME_HBM : TIME_MATH, s->serving.products);
  figures_add(f,
              "weight_bytes:F {s}|weights read|{s}\n"
              "flops:o {s}|FLOPs of the matrices|2 a weight and token\n"
              "matrix_s:t {s}|matrices|{s} at {s}\n"
              "kv_bytes:W counted|K and V read|kvcache: what queries see\n"
              "attention_s:t bound|attention|sim's floor: {s}, all layers",
              step->weight_bytes, how,
              m->experts
                  ? number_text("%.1f of %jd experts a layer, where routing is uniform", step->experts, m->experts).text
                  : "all but the input's table of words, once a pass",
              step->flops, how, step->matrix_s, m->experts ? ASSUMED : BOUND, by_bytes ? "HBM" : "products",
              number_si(rate, by_bytes ? "B/s" : "FLOP/s").text, step->kv_bytes, step->attention.bound_s,
              step->attention.bound == TIME_NONE ? "nothing" : timing_term_title(step->attention.bound));
  if (s->has_kernel && step->has_prediction)
    figures_add(f,
                "attention_predicted_s:t {s}|attention, predicted|by {s}'s costs; sim says their error\n"
                "boundary_read_bytes:W counted|reads by its tiles|across the SRAM boundary, all layers",
                step->predicted_s, time_kind_name(step->kind), s->kernel.name, step->boundary_read_bytes);
  if (s->n_gpus == 1) return;
  figures_add(f, "sent_bytes:F {s}|sent by each GPU|two all-reduces a layer, rows of {d} x 2 B", step->sent_bytes,
              keyfile_note(fields, m->notes, "hidden")->assumed ? ASSUMED : COUNTED, m->hidden);
  if (isnan(step->sent_s)) return;
  const bool assumed = gpu_note(&s->gpu, "link")->assumed;
  figures_add(f, "sent_s:t {s}|all-reduces|half of the link's {s}{s}", step->sent_s, assumed ? ASSUMED : BOUND,
              number_si(s->gpu.link_bytes_per_s, "B/s").text, assumed ? ", assumed" : "");
}

/* Chunks' extra cost as two papers count it: loads of chunks' K and V, each chunk's own included (Sarathi, arXiv
 * 2308.16369) or those of earlier chunks alone (Sarathi-Serve, arXiv 2403.02310); and all chunks' time over that of the
 * whole prompt. */
static Status chunk_figures(const Service *s, const ServingStep *chunked, int64_t n_chunks, const Figures *f,
                            Error *error) {
  ServingStep whole;
  const Status status = serving_prompt(&s->serving, s->prompt, s->shared, 0, &whole, NULL, error);
  if (status) return status;
  const int64_t n = n_chunks;
  figures_add(f,
              "chunks:i counted|chunks|of {i} tokens\n"
              "chunk_loads:i counted|loads of chunks' K and V|n (n + 1) / 2, its own included; the first's {d} times "
              "(Sarathi)\n"
              "chunk_reloads:i counted|of them, of earlier ones|n (n - 1) / 2, as Sarathi-Serve counts\n"
              "kv_ratio:x counted|K and V against one pass|bytes over bytes\n"
              "time_ratio:x assumed|time against one pass|sum over sum",
              n, s->chunk, n * (n + 1) / 2, n, n * (n - 1) / 2, (double)chunked->kv_bytes / (double)whole.kv_bytes,
              chunked->bound_s / whole.bound_s);
  return STATUS_OK;
}

static Status prompt_figures(const Service *s, Figures *f, double *time_s, Error *error) {
  ServingStep step;
  int64_t n_chunks;
  figures_section(f, "prompt", "A prompt: time to first token");
  Status status = serving_prompt(&s->serving, s->prompt, s->shared, s->chunk, &step, &n_chunks, error);
  if (status) return status;
  step_figures(s, &step, f);
  if (s->chunk) status = chunk_figures(s, &step, n_chunks, f, error);
  *time_s = step.bound_s;
  figures_add(f,
              "time_s:*t assumed|time to first token|one prompt of {i} tokens{s}, alone\n"
              "binds:s |bottleneck|the longest of the above",
              *time_s, s->prompt, s->prefix ? ", prefix cached" : "", binds(&step));
  return status;
}

/* A step of every sequence; the prefix apart, once for all of them. */
static Status token_figures(const Service *s, Figures *f, double *time_s, Error *error) {
  ServingStep step;
  int64_t n;
  ServingPart *parts = service_decode(s, &n, error);
  if (!parts) return error->status;
  if (s->shared)
    parts[n++] = (ServingPart){
        .queries = s->n, .keys = s->shared, .count = 1, .is_prefix = true, .after = s->runs[0].tokens - s->shared};
  figures_section(f, "token", "A step of decode: time a token");
  Status status = serving_step(&s->serving, parts, n, (double)s->n, &step, error);
  if (status) return free(parts), status;
  const double scores_s = 2 * take_memory(s, &s->serving).scores / timing_rate(&s->gpu, TIME_HBM, DTYPE_FP16);
  *time_s = step.bound_s + scores_s;
  step_figures(s, &step, f);
  if (s->prefix)
    figures_add(f,
                "prefix_saved_bytes:F counted|reads saved by the prefix|its whole pages are read once for all queries "
                "(Hydragen, arXiv 2402.05099)",
                (double)kvcache_seek(&s->serving.cache, s->shared).bytes * (double)(s->n - 1));
  if (scores_s > 0) figures_add(f, "scores_s:t bound|sums of scores|read and written once a step", scores_s);
  figures_add(f,
              "time_s:*t assumed|time a token|{s} at once\n"
              "tokens_per_s:r assumed|tokens a second|of all sequences\n"
              "binds:s |bottleneck|the longest of the above",
              *time_s, number_of(wide(s->n), "sequence").text, (double)s->n / *time_s, binds(&step));
  if (s->chunk) { /* decodes that a prompt's last chunk rides with, which sees most (Sarathi's batches) */
    const int64_t queries = min64(s->chunk, s->prompt - s->shared);
    parts[n] = (ServingPart){.queries = queries, .keys = s->prompt, .count = 1};
    status = serving_step(&s->serving, parts, n + 1, (double)s->n + 1, &step, error);
    if (!status)
      figures_add(f, "with_chunk_s:t assumed|the same with a chunk|the prompt's last {i} tokens in the same step",
                  step.bound_s, queries);
  }
  free(parts);
  return status;
}

/* ---- The answer -------------------------------------------------------------------------------------------- */

Status serve_figures(const Service *s, Document *d, Error *error) {
  Figures f = figures_new(d, true, " |value>|kind|from~",
                          " memory.weights_bytes memory.kv_bytes memory.prompt_bytes memory.left_bytes "
                          "memory.sequences_that_fit memory.least_gpus prompt.time_s prompt.binds token.time_s "
                          "token.tokens_per_s token.binds ");
  const int64_t first = s->runs[0].tokens;
  put_values(d, "model:s gpu:s gpus:i sequences:i tokens:w", s->model.name, s->gpu.name, s->n_gpus, s->n,
             s->all_tokens);
  const double left = memory_figures(s, &f);
  const bool fits = left >= 0;
  double prompt_s = 0, token_s = 0;
  f.is_muted = !fits; /* a kernel that does not run there is refused all the same */
  Status status = prompt_figures(s, &f, &prompt_s, error);
  if (!status) status = token_figures(s, &f, &token_s, error);
  if (status) return status;
  const Number says = number_text(fits ? "first token after %s, %s a token" : "does not fit, %s are lacking",
                                  (fits ? number_seconds(prompt_s) : number_bytes((Wide)-left)).text,
                                  number_seconds(token_s).text),
               longest = first == s->longest ? (Number){0} : number_text(" to %s", number_count(wide(s->longest)).text),
               context = service_context(s);
  table_title(f.table, "%s on %jd x %s: %s.\n%s of %s%s tokens%s", s->model.product, s->n_gpus, s->gpu.name, says.text,
              number_of(wide(s->n), "sequence").text, number_count(wide(first)).text, longest.text,
              d->details ? "" : "; --details has every figure");
  if (!fits)
    table_note(f.table, "No times: weights and caches do not fit these GPUs.");
  else
    table_note(
        f.table,
        "Times are estimates: bounds of matrices, attention and all-reduces one after the other. Runs in which they "
        "overlap are faster; norms, activations and launches, which are left out, take time.%s",
        s->model.experts ? " Tokens choose experts at random." : "");
  if (*context.text) table_note(f.table, "%s", context.text);
  if (*s->model.limits) table_note(f.table, "Note: %s.", s->model.limits);
  return STATUS_OK;
}
