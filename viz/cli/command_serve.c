/* tilewalk serve: a model on GPUs, what it keeps, reads and computes, and how long prompt and token take at least. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "sim/base/size.h"
#include "viz/cli/serve/batch_table.h"
#include "viz/cli/command.h"
#include "viz/cli/reply.h"
#include "viz/cli/serve/serve_figures.h"
#include "viz/cli/serve/serve_printed.h"
#include "viz/request/description.h"

#define DEFAULT_MODEL "llama-3.1-70b"
#define DEFAULT_GPU   "h100-sxm"

typedef struct {
  OutputRequest output;
  char model[REQUEST_NAME_BYTES], gpu[REQUEST_NAME_BYTES], kernel[REQUEST_NAME_BYTES], lengths[4096];
  int64_t n_gpus, batch, context, prompt, chunk, prefix, page, group;
  bool has_kv_dtype, has_weights_dtype, printed;
  KvDtype kv_dtype, weights_dtype;
  Evict evict;
} ServeOptions;

/* ---- Setters ----------------------------------------------------------------------------------------------- */

/* "streaming:4+2044", "h2o:512+512". */
static Status set_evict(void *target, const char *value, Error *error) {
  Evict *e = &((ServeOptions *)target)->evict;
  char first[32], last[32];
  for (int kind = EVICT_NONE + 1; kind < EVICT_COUNT; kind++) {
    const size_t n = strlen(evict_name((EvictKind)kind));
    if (strncmp(value, evict_name((EvictKind)kind), n) != 0 || value[n] != ':') continue;
    int end = 0;
    if (sscanf(value + n + 1, "%31[^+]+%31[^+]%n", first, last, &end) != 2 || value[n + 1 + (size_t)end]) break;
    e->kind = (EvictKind)kind;
    const Status status = size_parse_count(first, &e->first, error);
    return status ? status : size_parse_count(last, &e->last, error);
  }
  return error_set(error, STATUS_BAD_REQUEST,
                   "'%s' is no way to drop tokens; give streaming:SINKS+RECENT or h2o:HEAVY+RECENT, such as "
                   "streaming:4+2044",
                   quote_text(value).text);
}

/* ---- From options to a request ----------------------------------------------------------------------------- */

static Status resolve_model(const ServeOptions *o, ServeRequest *r, Error *error) {
  Status status = description_model(*o->model ? o->model : DEFAULT_MODEL, &r->model, error);
  if (status) return status;
  const KvModel *m = &r->model;
  if (kvmodel_check_cache(m, error)) return error->status;
  if (*m->no_cache || !m->heads)
    return error_set(error, STATUS_BAD_REQUEST, "%.80s has no cache to serve from: %.90s", m->name,
                     *m->no_cache ? m->no_cache : "it has no attention heads");
  if (!m->parameters || !m->hidden || !m->vocab)
    return error_set(error, STATUS_BAD_REQUEST,
                     "%.80s: %s, so its matrices are not known; give a description (as in assets/models) with "
                     "'parameters', 'hidden' and 'vocab'",
                     m->name, *m->no_weights ? m->no_weights : "'parameters', 'hidden' and 'vocab' are not all given");
  r->whole = kvmodel_cache(m);
  if (o->has_kv_dtype) r->whole.dtype = o->kv_dtype;
  r->whole.group = o->group;
  r->whole.page_tokens = o->page;
  return kvcache_complete(&r->whole, error);
}

/* Bytes of a weight as published, or of the type asked for; products in 8 bits only of fp8. */
static void resolve_weights(const ServeOptions *o, ServeRequest *r) {
  Serving *s = &r->serving;
  const KvModel *m = &r->model;
  KvDtype dtype = KV_BF16;
  kvcache_dtype_from_name(m->weights_dtype, &dtype);
  if (o->has_weights_dtype) dtype = o->weights_dtype;
  s->weight_bytes = m->weights_bytes && !o->has_weights_dtype ? (double)m->weights_bytes / (double)m->parameters
                                                              : kvcache_dtype_bits(dtype) / 8.0;
  s->products = dtype == KV_FP8 ? DTYPE_FP8 : DTYPE_BF16;
  if (gpu_flops_per_s(&r->gpu, s->products, true) <= 0) s->products = DTYPE_FP16;
}

static Status resolve_machine(const ServeOptions *o, ServeRequest *r, Error *error) {
  Serving *s = &r->serving;
  Status status = description_gpu(*o->gpu ? o->gpu : DEFAULT_GPU, &r->gpu, error);
  s->n_gpus = o->n_gpus ? o->n_gpus : 1;
  if (!status && (s->n_gpus < 1 || s->n_gpus > KVCACHE_MAX_HEADS || r->model.heads % s->n_gpus))
    status =
        error_set(error, STATUS_BAD_REQUEST,
                  "--tp %" PRId64 ": %.60s has %" PRId64 " query heads, which do not divide evenly over those GPUs",
                  s->n_gpus, r->model.name, r->model.heads);
  if (!status && *o->kernel) status = description_kernel(o->kernel, &r->kernel, error);
  r->has_kernel = *o->kernel != '\0';
  s->cache = r->whole;
  if (!status) status = kvcache_share(&s->cache, s->n_gpus, error);
  if (!status && timing_rate(&r->gpu, TIME_MATH, DTYPE_FP16) <= 0)
    status = error_set(
        error, STATUS_BAD_REQUEST,
        "%.60s's description has no rate of products, so no time can be said; name a GPU (tilewalk gpus)", r->gpu.name);
  if (!status) resolve_weights(o, r);
  return status;
}

static int shorter(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Sorted: a service does not ask in which order they were typed. */
static Status resolve_lengths(const ServeOptions *o, ServeRequest *r, Error *error) {
  if (*o->lengths && (o->batch || o->context))
    return error_set(error, STATUS_BAD_REQUEST,
                     "--lengths gives the length of each sequence; leave out --context and --batch");
  char text[96];
  snprintf(text, sizeof text, "%" PRId64 "x%" PRId64, o->context ? o->context : 4096, o->batch ? o->batch : 1);
  r->lengths = *o->lengths ? batch_lengths(o->lengths, error) : lengths_read(text, strlen(text), "--batch", error);
  if (!r->lengths) return error->status;
  qsort(r->lengths->lengths, (size_t)r->lengths->n, sizeof *r->lengths->lengths, shorter);
  return STATUS_OK;
}

static Status resolve_load(const ServeOptions *o, ServeRequest *r, Error *error) {
  const Status status = resolve_lengths(o, r, error);
  if (status) return status;
  const int64_t shortest = r->lengths->shortest, longest = r->lengths->longest;
  r->prompt = o->prompt ? o->prompt : longest;
  r->chunk = o->chunk;
  r->prefix = o->prefix;
  r->evict = o->evict;
  if (r->prefix && r->evict.kind)
    return error_set(error, STATUS_BAD_REQUEST, "--prefix and --evict: what is dropped is no longer shared; give one");
  if (r->prefix >= shortest || r->prefix >= r->prompt)
    return error_set(error, STATUS_BAD_REQUEST,
                     "--prefix %" PRId64 ": a sequence of %" PRId64 " tokens must have some of its own behind it",
                     r->prefix, shortest < r->prompt ? shortest : r->prompt);
  if (r->prompt > SHAPE_MAX_N) return error_set(error, STATUS_TOO_LARGE, "--prompt is at most %" PRId64, SHAPE_MAX_N);
  return STATUS_OK;
}

static Status resolve(const ServeOptions *o, ServeRequest *r, Error *error) {
  Status status = resolve_model(o, r, error);
  if (!status) status = resolve_machine(o, r, error);
  if (!status) status = resolve_load(o, r, error);
  if (!status) serve_point(r);
  return status;
}

static int run_serve(void *options, Io *io, Error *error) {
  const ServeOptions *o = options;
  if (output_request_check(&o->output, error)) return EXIT_BAD_REQUEST;
  Document d = reply_new(&o->output);
  if (o->printed) return reply_print(&d, serve_printed(&d, error), io, error) ? EXIT_BAD_REQUEST : EXIT_DONE;
  Figures figures;
  ServeRequest *r = calloc(1, sizeof *r);
  Status status = r ? resolve(o, r, error) : error_set(error, STATUS_NO_MEMORY, "no memory for a request");
  if (!status) status = serve_figures(r, &figures, error);
  if (!status) serve_fill(&d, r, &figures);
  status = reply_print(&d, status, io, error);
  if (r) free(r->lengths);
  free(r);
  return status ? EXIT_BAD_REQUEST : EXIT_DONE;
}

static const Option MODEL_OPTIONS[] = {
    {.name = "model",
     .argument = "NAME|FILE",
     OPTION_TEXT(ServeOptions, model, "the name of the model"),
     .choices = "@models",
     .help = "The model, by name or by a description file with its parameters. Default " DEFAULT_MODEL "."},
    {.name = "weights-dtype",
     .argument = "TYPE",
     OPTION_CHOICE(ServeOptions, weights_dtype, "is no data type"),
     .given = offsetof(ServeOptions, has_weights_dtype),
     .names = KV_DTYPE_NAMES,
     .help = "Type of the weights. Default: as published. fp8 is multiplied in fp8, int8 and int4 in 16 bits."},
    {.name = "gpu",
     .argument = "NAME|FILE",
     OPTION_TEXT(ServeOptions, gpu, "the name of the GPU"),
     .choices = "@gpus",
     .help = "Default " DEFAULT_GPU "."},
    {.name = "tp",
     .argument = "COUNT",
     OPTION_COUNT(ServeOptions, n_gpus),
     .help = "GPUs that share out heads and weights. Default 1."},
    {.name = "kernel",
     .argument = "NAME|FILE",
     OPTION_TEXT(ServeOptions, kernel, "the name of the kernel"),
     .choices = "@kernels",
     .help = "Also predict the time of attention by this kernel's costs."},
    {0},
};

static const Option LOAD_OPTIONS[] = {
    {.name = "batch",
     .argument = "COUNT",
     OPTION_COUNT(ServeOptions, batch),
     .help = "Sequences that decode at once. Default 1."},
    {.name = "context",
     .letter = 'N',
     .argument = "N",
     OPTION_COUNT(ServeOptions, context),
     .help = "Tokens that each of them has. Default 4096."},
    {.name = "lengths",
     .argument = "LIST|FILE",
     OPTION_TEXT(ServeOptions, lengths, "the list of lengths"),
     .help = "Instead: the length of each, such as 3001,777,512x8, or a file of them."},
    {.name = "prompt",
     .argument = "N",
     OPTION_COUNT(ServeOptions, prompt),
     .help = "Tokens of a new prompt. Default: the longest."},
    {.name = "chunk",
     .argument = "N",
     OPTION_COUNT(ServeOptions, chunk),
     .help = "The prompt comes in chunks of so many tokens."},
    {.name = "prefix",
     .argument = "N",
     OPTION_COUNT(ServeOptions, prefix),
     .help = "Tokens that all sequences begin with: kept once, read once, and known to the prompt."},
    {0},
};

static const Option CACHE_OPTIONS[] = {
    {.name = "kv-dtype",
     .argument = "TYPE",
     OPTION_CHOICE(ServeOptions, kv_dtype, "is no data type"),
     .given = offsetof(ServeOptions, has_kv_dtype),
     .names = KV_DTYPE_NAMES,
     .help = "Type of the cache. Default: the model's."},
    {.name = "group",
     .argument = "COUNT",
     OPTION_COUNT(ServeOptions, group),
     .help = "Elements of a row that share an fp16 scale. Default: no scales."},
    {.name = "page", .argument = "TOKENS", OPTION_COUNT(ServeOptions, page), .help = "Tokens of a page. Default 16."},
    {.name = "evict",
     .argument = "HOW",
     .set = set_evict,
     .help = "Tokens that stay: streaming:SINKS+RECENT (StreamingLLM) or h2o:HEAVY+RECENT."},
    {.name = "printed",
     OPTION_FLAG(ServeOptions, printed),
     .help = "Instead: figures that papers and projects print, beside what is computed for them."},
    {0},
};

static const OptionSet SETS[] = {
    {"Model and machine", MODEL_OPTIONS, 0},
    {"Load", LOAD_OPTIONS, 0},
    {"Cache", CACHE_OPTIONS, 0},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(ServeOptions, output)},
    {0},
};

const Command COMMAND_SERVE = {
    .name = "serve",
    .summary = "a model on GPUs: what fits, time to first token, time a token",
    .usage = "[--model NAME] [--gpu NAME] [--tp COUNT] [OPTION...]",
    .description = "Computes what a model keeps on each GPU, how many GPUs it takes, and the least time of a prompt "
                   "and of a step of decode: "
                   "weights and matrices as bytes and FLOPs over the machine's rates, attention as `tilewalk sim` says "
                   "it, all-reduces over the link. Each figure says what it is (counted, a bound, predicted, assumed) "
                   "and what it comes from.",
    .examples = "  # Llama 3.1 70B on eight H100s, 32 sequences of 32,768 tokens\n"
                "  tilewalk serve --model llama-3.1-70b --gpu h100 --tp 8 --batch 32 --context 32K\n\n"
                "  # the prompt in chunks of 2,048 tokens\n"
                "  tilewalk serve --model llama-3-8b --gpu h100 --prompt 32K --chunk 2K\n\n"
                "  # a cache of 4 bits, a scale for 64 elements; or 4 sinks and the last 2,044 tokens\n"
                "  tilewalk serve --model llama-3-8b --batch 64 -N 16K --kv-dtype int4 --group 64\n"
                "  tilewalk serve --model llama-3-8b --batch 64 -N 16K --evict streaming:4+2044\n",
    .options_bytes = sizeof(ServeOptions),
    .sets = SETS,
    .run = run_serve,
};

/* ---- Figures in print -------------------------------------------------------------------------------------- */

Status serve_of_line(const char *line, Figures *figures, Error *error) {
  ServeOptions o = {0};
  OptionParser parser = request_parser(SETS, &o);
  ServeRequest *r = calloc(1, sizeof *r);
  if (!r) return error_set(error, STATUS_NO_MEMORY, "no memory for a request");
  Status status = options_parse_state(&parser, line, error);
  if (!status) status = resolve(&o, r, error);
  if (!status) status = serve_figures(r, figures, error);
  free(r->lengths);
  free(r);
  return status;
}
