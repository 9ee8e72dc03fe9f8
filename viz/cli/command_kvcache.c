/* tilewalk kvcache: how large a model's KV cache is, how it grows, and what paging saves. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "sim/batch.h"
#include "viz/cli/reply.h"
#include "viz/cli/command.h"
#include "viz/request/description.h"
#include "viz/cli/kvcache/kvcache_report.h"
#include "viz/request/request.h"

#define DEFAULT_MODEL "llama-2-70b"

typedef struct {
  OutputRequest output;
  KvRequest request;
  char model[REQUEST_NAME_BYTES], gpu[REQUEST_NAME_BYTES];
  bool list, strict, dtype_given;
} KvOptions;

/* --- Setters --- */

static Status set_lengths(void *target, const char *value, Error *error) {
  KvRequest *r = &((KvOptions *)target)->request;
  r->n_lengths = 0;
  Lengths *l = lengths_read(value, strlen(value), "the list", error);
  if (!l) return error->status;
  const Status status = l->n > KV_REQUEST_LENGTHS_MAX
                            ? error_set(error, STATUS_TOO_LARGE, "more than %d sequences", KV_REQUEST_LENGTHS_MAX)
                            : STATUS_OK;
  for (; !status && r->n_lengths < l->n; r->n_lengths++) r->lengths[r->n_lengths] = l->lengths[r->n_lengths];
  free(l);
  return status;
}

/* --- From options to a cache --- */

/* What the options give goes before what the model has. */
static void override(KvOptions *o, const KvCache *model) {
  KvCache *c = &o->request.cache;
  const bool plain = c->kv_heads || c->d; /* asked for K and V where the model has a latent */
  if (!c->layers) c->layers = model->layers;
  memcpy(c->more, model->more, sizeof c->more);
  c->n_more = model->n_more;
  const bool expands = model->latent && plain;
  if (!c->kv_heads) c->kv_heads = expands ? o->request.model.kv_heads : model->kv_heads;
  if (!c->d) {
    c->d_v = expands ? kvmodel_value_dim(&o->request.model) : model->d_v;
    c->d = expands ? kvmodel_key_dim(&o->request.model) : model->d;
  }
  if (!plain) c->latent = model->latent;
  if (!c->window && !c->window_layers) c->window_layers = model->window_layers;
  if (!c->window) {
    c->window = model->window;
    c->chunked = model->chunked;
  }
  if (!o->dtype_given) c->dtype = model->dtype;
}

static Status resolve_model(KvOptions *o, Error *error) {
  KvRequest *r = &o->request;
  KvCache *c = &r->cache;
  const int n_own = (c->layers != 0) + (c->kv_heads != 0) + (c->d != 0);
  if (!*o->model && n_own > 0) {
    if (n_own < 3)
      return error_set(error, STATUS_BAD_REQUEST,
                       "a cache of your own needs --layers, --kv-heads and --head-dim; or name a "
                       "--model to start from");
    return STATUS_OK;
  }
  const Status status = description_model(*o->model ? o->model : DEFAULT_MODEL, &r->model, error);
  if (status != STATUS_OK) return status;
  r->has_model = true;
  if (n_own < 3 && kvmodel_check_cache(&r->model, error)) return error->status;
  const KvCache cache = kvmodel_cache(&r->model);
  if (*r->model.no_cache && (n_own || c->window || c->window_layers))
    return error_set(error, STATUS_BAD_REQUEST, "%.80s: %s", r->model.name, r->model.no_cache);
  if (cache.n_more && (n_own || c->window || c->window_layers))
    return error_set(error, STATUS_BAD_REQUEST,
                     "%.80s has layers of several kinds, so --layers, --kv-heads, --head-dim and --window do not say "
                     "which; leave them out, or change a copy of the model's file",
                     r->model.name);
  override(o, &cache);
  return STATUS_OK;
}

static int64_t longest(const KvRequest *r) {
  int64_t most = r->n_lengths ? 0 : r->tokens;
  for (int i = 0; i < r->n_lengths; i++) most = r->lengths[i] > most ? r->lengths[i] : most;
  return most;
}

/* What is kept of a window while a batch with more tokens of the sequence is in flight: the last token's window begins
 * at the first one's. */
static void widen_windows(KvCache *c, int64_t in_flight) {
  if (c->window && !c->chunked) c->window += in_flight - 1;
  for (int g = 0; g < c->n_more; g++)
    if (c->more[g].window && !c->more[g].chunked) c->more[g].window += in_flight - 1;
}

/* What each of the GPUs keeps. */
static Status resolve_serving(KvRequest *r, Error *error) {
  if (!r->n_gpus) r->n_gpus = 1;
  if (!r->in_flight) r->in_flight = 1;
  if (r->in_flight > KVCACHE_MAX_TOKENS / 2 || r->n_gpus > KVCACHE_MAX_HEADS)
    return error_set(error, STATUS_TOO_LARGE, "--in-flight and --tp are at most %" PRId64 " and %" PRId64,
                     KVCACHE_MAX_TOKENS / 2, KVCACHE_MAX_HEADS);
  if (r->has_model && !r->weights_bytes) r->weights_bytes = r->model.weights_bytes;
  if (r->has_model && r->model.heads % r->n_gpus)
    return error_set(error, STATUS_BAD_REQUEST,
                     "--tp %" PRId64 ": %.60s has %" PRId64 " query heads, which do not divide evenly over those GPUs",
                     r->n_gpus, r->model.name, r->model.heads);
  widen_windows(&r->cache, r->in_flight);
  for (int i = 0; r->has_model && i < r->model.n_fixed; i++)
    r->model.fixed[i].bytes = ceil_div(r->model.fixed[i].bytes, r->n_gpus);
  return kvcache_share(&r->cache, r->n_gpus, error);
}

static Status resolve(KvOptions *o, Error *error) {
  KvRequest *r = &o->request;
  if (r->n_lengths && (r->tokens || r->batch))
    return error_set(error, STATUS_BAD_REQUEST,
                     "--lengths gives the length of each sequence; leave out --seq-len and --batch");
  if (r->n_lengths && r->n_steps)
    return error_set(error, STATUS_BAD_REQUEST, "--append follows one sequence; leave out --lengths");
  if (r->n_steps > KV_REQUEST_STEPS_MAX)
    return error_set(error, STATUS_BAD_REQUEST, "--append is %" PRId64 "; at most %d steps are shown", r->n_steps,
                     KV_REQUEST_STEPS_MAX);
  Status status = resolve_model(o, error);
  if (status == STATUS_OK) status = kvcache_complete(&r->cache, error);
  if (status == STATUS_OK) status = resolve_serving(r, error);
  if (status == STATUS_OK && *o->gpu) {
    status = description_gpu(o->gpu, &r->gpu, error);
    r->has_gpu = true;
  }
  if (status != STATUS_OK) return status;
  if (!r->tokens && !r->n_lengths) r->tokens = r->has_model ? r->model.max_tokens : 4096;
  if (!r->batch) r->batch = 1;
  if (!r->block) r->block = 128;
  if (r->batch > KVCACHE_MAX_BATCH)
    return error_set(error, STATUS_TOO_LARGE, "--batch is %" PRId64 "; at most %" PRId64, r->batch, KVCACHE_MAX_BATCH);
  if (longest(r) > KVCACHE_MAX_TOKENS - KV_REQUEST_STEPS_MAX)
    return error_set(error, STATUS_TOO_LARGE, "a sequence of %" PRId64 " tokens; at most %" PRId64 " are computed",
                     longest(r), KVCACHE_MAX_TOKENS - KV_REQUEST_STEPS_MAX);
  if (!r->max_tokens) {
    r->max_tokens = longest(r) + r->n_steps;
    if (r->has_model && r->model.max_tokens > r->max_tokens) r->max_tokens = r->model.max_tokens;
  }
  if (r->max_tokens < longest(r))
    return error_set(error, STATUS_BAD_REQUEST,
                     "--max-tokens %" PRId64 " is less than a sequence of %" PRId64 " tokens; reserve at least that",
                     r->max_tokens, longest(r));
  return STATUS_OK;
}

static int run_kvcache(void *options, Io *io, Error *error) {
  KvOptions *o = options;
  if (output_request_check(&o->output, error)) return EXIT_BAD_REQUEST;
  if (!o->list && resolve(o, error)) return EXIT_BAD_REQUEST;
  Document d = reply_new(&o->output);
  const Status status = o->list ? kvcache_list(&d, error) : kvcache_report(&o->request, &d, error);
  return reply_print(&d, status, io, error) ? EXIT_BAD_REQUEST : EXIT_DONE;
}

static const Option MODEL_OPTIONS[] = {
    {.name = "model",
     .argument = "NAME|FILE",
     OPTION_TEXT(KvOptions, model, "the name"),
     .choices = "@models",
     .help =
         "The model: a name from --list, a config.json of Hugging Face, or a description file. Default " DEFAULT_MODEL
         "."},
    {.name = "strict",
     OPTION_FLAG(KvOptions, strict),
     .help = "Nothing more: keys that may bear on the cache and are not understood are always refused."},
    {.name = "list", OPTION_FLAG(KvOptions, list), .help = "List the known models."},
    {.name = "layers",
     .argument = "COUNT",
     OPTION_COUNT(KvOptions, request.cache.layers),
     .help = "Layers with attention, in place of the model's."},
    {.name = "kv-heads",
     .argument = "COUNT",
     OPTION_COUNT(KvOptions, request.cache.kv_heads),
     .help = "K and V heads, in place of the model's."},
    {.name = "head-dim",
     .letter = 'd',
     .argument = "D",
     OPTION_COUNT(KvOptions, request.cache.d),
     .help = "Head dimension, in place of the model's."},
    {.name = "window",
     .argument = "W",
     OPTION_COUNT(KvOptions, request.cache.window),
     .help = "Tokens that a layer with a sliding window keeps."},
    {.name = "window-layers",
     .argument = "COUNT",
     OPTION_COUNT(KvOptions, request.cache.window_layers),
     .help = "How many layers have the window. Default: the model's, or all."},
    {0},
};

static const Option CACHE_OPTIONS[] = {
    {.name = "seq-len",
     .letter = 'N',
     .argument = "N",
     OPTION_COUNT(KvOptions, request.tokens),
     .help = "Tokens in the cache. Default: the model's context length."},
    {.name = "batch",
     .argument = "COUNT",
     OPTION_COUNT(KvOptions, request.batch),
     .help = "Sequences of that length. Default 1."},
    {.name = "lengths",
     .argument = "LIST",
     .set = set_lengths,
     .help = "Sequences of these lengths: 512,1K, or 512x8 for eight of them."},
    {.name = "dtype",
     .argument = "TYPE",
     OPTION_CHOICE(KvOptions, request.cache.dtype, "is no data type of a cache"),
     .given = offsetof(KvOptions, dtype_given),
     .names = KV_DTYPE_NAMES,
     .help = "{}. Default: the model's."},
    {.name = "group",
     .argument = "COUNT",
     OPTION_COUNT(KvOptions, request.cache.group),
     .help = "Elements of a row that share a scale (quantised caches). Default: no scales."},
    {.name = "scale-bytes",
     .argument = "COUNT",
     OPTION_COUNT(KvOptions, request.cache.scale_bytes),
     .help = "Bytes of one scale: 2 is fp16, 4 with a zero point. Default 2."},
    {.name = "page",
     .argument = "TOKENS",
     OPTION_COUNT(KvOptions, request.cache.page_tokens),
     .help = "Page size of paged allocation. Default 16."},
    {.name = "max-tokens",
     .argument = "N",
     OPTION_COUNT(KvOptions, request.max_tokens),
     .help = "What contiguous allocation reserves for each sequence. Default: the context length."},
    {.name = "block",
     .argument = "B",
     OPTION_COUNT(KvOptions, request.block),
     .help = "Rows that attention reads at once. Default 128."},
    {.name = "append",
     .argument = "COUNT",
     OPTION_COUNT(KvOptions, request.n_steps),
     .help = "Append so many more tokens and show each step."},
    {.name = "gpu",
     .argument = "NAME|FILE",
     OPTION_TEXT(KvOptions, gpu, "the name"),
     .choices = "@gpus",
     .help = "Also say what part of this GPU's memory it takes and how long reading it once takes."},
    {0},
};

static const Option SERVING_OPTIONS[] = {
    {.name = "budget",
     .argument = "SIZE",
     OPTION_SIZE(KvOptions, request.budget_bytes),
     .to.what = "a budget of 0 bytes; give a size such as 60GiB",
     .help = "Memory of each GPU for the cache, such as 60GiB: how many tokens and sequences it holds."},
    {.name = "tp",
     .argument = "COUNT",
     OPTION_COUNT(KvOptions, request.n_gpus),
     .help = "GPUs that share out the heads (tensor parallelism): everything is what each of them keeps."},
    {.name = "weights",
     .argument = "SIZE",
     OPTION_SIZE(KvOptions, request.weights_bytes),
     .to.what = "weights of 0 bytes; give a size such as 60GiB",
     .help = "Weights of the whole model, beside the cache. Default: the model's, where its file has them."},
    {.name = "in-flight",
     .argument = "TOKENS",
     OPTION_COUNT(KvOptions, request.in_flight),
     .help = "Tokens of a sequence in one batch: while a prompt is read in pieces, a window keeps that many more, "
             "less one. Default 1."},
    {0},
};

static const OptionSet SETS[] = {
    {"Model", MODEL_OPTIONS, 0},
    {"Cache", CACHE_OPTIONS, 0},
    {"Serving", SERVING_OPTIONS, 0},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(KvOptions, output)},
    {0},
};

const Command COMMAND_KVCACHE = {
    .name = "kvcache",
    .summary = "KV cache of a model: size, growth, pages",
    .usage = "[--model NAME] [-N TOKENS] [OPTION...]",
    .description = "Computes what a model keeps for the tokens it has seen: 2 x layers x KV heads x d x bytes per "
                   "element, for every token; what other data types and head counts would make of it; and what "
                   "allocation in pages saves against reserving the longest sequence for each.",
    .examples = "  # Llama 2 70B at 100,000 tokens\n"
                "  tilewalk kvcache --model llama-2-70b -N 100000\n\n"
                "  # any model of the Hugging Face Hub, from its config.json\n"
                "  printf '{\"num_hidden_layers\": 2, \"num_attention_heads\": 8, \"hidden_size\": 512}' | tilewalk "
                "kvcache --model - -N 32K\n\n"
                "  # does it fit an H100, and how long does one token take to read it?\n"
                "  tilewalk kvcache --model llama-3.1-70b --batch 4 -N 32K --gpu h100-sxm\n\n"
                "  # serving: what 60 GiB of each of four GPUs hold, at 8,192 tokens a sequence\n"
                "  tilewalk kvcache --model llama-3.1-70b --tp 4 --budget 60GiB -N 8K --gpu h100-sxm\n\n"
                "  # 4-bit values with one fp16 scale for 64 of them\n"
                "  tilewalk kvcache --model llama-3-8b --dtype int4 --group 64\n\n"
                "  # token by token across a page boundary, with a sliding window of 8\n"
                "  tilewalk kvcache --layers 1 --kv-heads 1 -d 4 --window 8 --page 4 -N 14 --append 6\n\n"
                "  # four users, paged against contiguous\n"
                "  tilewalk kvcache --lengths 100,2000,317,4000 --page 16\n",
    .options_bytes = sizeof(KvOptions),
    .sets = SETS,
    .run = run_kvcache,
};
