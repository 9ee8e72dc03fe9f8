/* tilewalk kvcache and serve: how large a model's KV cache is and how it grows; what fits the GPUs that serve the
 * model, and how long prompt and token take at least. */

#include "sim/base/size.h"
#include "viz/cli/command.h"
#include "viz/cli/serve/service.h"

/* "streaming:4+2044", "h2o:512+512". */
static Status set_evict(void *target, const char *value, Error *error) {
  Evict *e = &((Service *)target)->evict;
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
  return error_refuse(error,
                      "'%s' is no way to drop tokens; give streaming:SINKS+RECENT or h2o:HEAVY+RECENT, such as "
                      "streaming:4+2044",
                      quote_text(value).text);
}

static const Option SERVED_OPTIONS[] = {
    OPTION_ROW("model", "NAME|FILE",
               "The model: a name from `kvcache --list`, a config.json of Hugging Face, or a description file. Default "
               "llama-3.1-70b; of kvcache llama-2-70b.",
               OPTION_TEXT(Service, model_name, "the name"), .choices = "@models"),
    OPTION_ROW(
        "gpu", "NAME|FILE",
        "Serve: default h100-sxm. Kvcache: also say what part of its memory the cache takes, and how long reading "
        "it once takes.",
        OPTION_TEXT(Service, gpu_name, "the name"), .choices = "@gpus"),
    OPTION_ROW("tp", "COUNT",
               "GPUs that share out heads and weights (tensor parallelism): figures are of each. Default 1.",
               OPTION_NUMBER(Service, n_gpus, "the count", 1, KVCACHE_MAX_HEADS)),
    OPTION_ROW("seq-len", "N", "Tokens that each sequence has. Default 4096; of kvcache the model's context length.",
               .also = "context", .letter = 'N', OPTION_COUNT(Service, tokens)),
    OPTION_ROW("batch", "COUNT", "How many sequences. Default 1.",
               OPTION_NUMBER(Service, batch, "the count", 1, KVCACHE_MAX_BATCH)),
    OPTION_ROW("lengths", "LIST|FILE", "Instead: the length of each, such as 3001,777,512x8, or a file of them.",
               OPTION_TEXT(Service, lengths, "the list of lengths")),
    OPTION_ROW("dtype", "TYPE", "Type of the cache: {}. Default: the model's.", .also = "kv-dtype",
               OPTION_CHOICE(Service, whole.dtype, "is no data type of a cache"), .given = offsetof(Service, has_dtype),
               .names = KV_DTYPE_NAMES),
    OPTION_ROW("group", "COUNT", "Elements of a row that share a scale (quantised caches). Default: no scales.",
               OPTION_COUNT(Service, whole.group)),
    OPTION_ROW("scale-bytes", "COUNT", "Bytes of one scale: 2 is fp16, 4 with a zero point. Default 2.",
               OPTION_COUNT(Service, whole.scale_bytes)),
    OPTION_ROW("page", "TOKENS", "Page size of paged allocation. Default 16.",
               OPTION_COUNT(Service, whole.page_tokens)),
    {0},
};

/* ---- Kvcache ----------------------------------------------------------------------------------------------- */

static const Option LAYER_OPTIONS[] = {
    OPTION_SWITCH("strict", "Nothing more: keys that may bear on the cache and are not understood are always refused.",
                  OPTION_FLAG(Service, is_strict)),
    OPTION_SWITCH("list", "List the known models.", OPTION_FLAG(Service, lists)),
    OPTION_ROW("layers", "COUNT", "Layers with attention, in place of the model's.",
               OPTION_COUNT(Service, whole.layers)),
    OPTION_ROW("kv-heads", "COUNT", "K and V heads, in place of the model's.", OPTION_COUNT(Service, whole.kv_heads)),
    OPTION_ROW("head-dim", "D", "Head dimension, in place of the model's.", .letter = 'd',
               OPTION_COUNT(Service, whole.d)),
    OPTION_ROW("window", "W", "Tokens that a layer with a sliding window keeps.", OPTION_COUNT(Service, whole.window)),
    OPTION_ROW("window-layers", "COUNT", "How many layers have the window. Default: the model's, or all.",
               OPTION_COUNT(Service, whole.window_layers)),
    {0},
};

static const Option MEMORY_OPTIONS[] = {
    OPTION_ROW("max-tokens", "N", "What contiguous allocation reserves for each sequence. Default: the context length.",
               OPTION_NUMBER(Service, max_tokens, "the count", 1, KVCACHE_MAX_TOKENS)),
    OPTION_ROW("block", "B", "Rows that attention reads at once. Default 128.", OPTION_COUNT(Service, block)),
    OPTION_ROW("append", "COUNT", "Append so many more tokens and show each step.",
               OPTION_NUMBER(Service, n_steps, "the count", 1, SERVICE_STEPS_MAX)),
    OPTION_ROW("budget", "SIZE",
               "Memory of each GPU for the cache, such as 60GiB: how many tokens and sequences it holds.",
               OPTION_SIZE(Service, budget_bytes), .to.what = "a budget of 0 bytes; give a size such as 60GiB"),
    OPTION_ROW("weights", "SIZE",
               "Weights of the whole model, beside the cache. Default: the model's, where its file has them.",
               OPTION_SIZE(Service, weights_bytes), .to.what = "weights of 0 bytes; give a size such as 60GiB"),
    OPTION_ROW("in-flight", "TOKENS",
               "Tokens of a sequence in one batch: while a prompt is read in pieces, a window keeps that many more, "
               "less one. Default 1.",
               OPTION_NUMBER(Service, in_flight, "the count", 1, KVCACHE_MAX_TOKENS / 2)),
    {0},
};

static const OptionSet KVCACHE_SETS[] = {
    {"Model and sequences", SERVED_OPTIONS, 0},
    {"Layers", LAYER_OPTIONS, 0},
    {"Memory", MEMORY_OPTIONS, 0},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(Service, output)},
    {0},
};

static Status answer(Service *s, bool serves, Document *d, Error *error) {
  Status status = service_complete(s, serves, error);
  if (!status) status = (serves ? serve_figures : kvcache_figures)(s, d, error);
  service_free(s);
  return status;
}

static Status answer_kvcache(void *options, Document *d, Io *io, Error *error) {
  Service *s = options;
  (void)io;
  return s->lists ? kvcache_list(d, error) : answer(s, false, d, error);
}

const Command COMMAND_KVCACHE = {
    .name = "kvcache",
    .group = "ask",
    .summary = "a model's KV cache: its size, and what shrinks it",
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
    .options_bytes = sizeof(Service),
    .sets = KVCACHE_SETS,
    .apart = "lengths ! seq-len batch; append ! lengths",
    .answer = answer_kvcache,
};

/* ---- Serve ------------------------------------------------------------------------------------------------- */

static const Option LOAD_OPTIONS[] = {
    OPTION_ROW("weights-dtype", "TYPE",
               "Type of the weights. Default: as published. fp8 is multiplied in fp8, int8 and int4 in 16 bits.",
               OPTION_CHOICE(Service, weights_dtype, "is no data type"), .given = offsetof(Service, has_weights_dtype),
               .names = KV_DTYPE_NAMES),
    OPTION_ROW("kernel", "NAME|FILE", "Also predict the time of attention by this kernel's costs.",
               OPTION_TEXT(Service, kernel_name, "the name of the kernel"), .choices = "@kernels"),
    OPTION_ROW("prompt", "N", "Tokens of a new prompt. Default: the longest.",
               OPTION_NUMBER(Service, prompt, "the count", 1, SHAPE_MAX_N)),
    OPTION_ROW("chunk", "N", "The prompt comes in chunks of so many tokens.", OPTION_COUNT(Service, chunk)),
    OPTION_ROW(
        "prefix", "N",
        "Tokens that all sequences begin with: their whole pages are kept once, read once, and known to the prompt.",
        OPTION_COUNT(Service, prefix)),
    OPTION_ROW("evict", "HOW", "Tokens that stay: streaming:SINKS+RECENT (StreamingLLM) or h2o:HEAVY+RECENT.",
               .set = set_evict),
    OPTION_SWITCH("printed", "Instead: figures that papers and projects print, beside what is computed for them.",
                  OPTION_FLAG(Service, is_printed)),
    {0},
};

static const OptionSet SERVE_SETS[] = {
    {"Model and sequences", SERVED_OPTIONS, 0},
    {"Load", LOAD_OPTIONS, 0},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(Service, output)},
    {0},
};

Status serve_of_line(const char *line, Document *d, Error *error) {
  Service *s = calloc(1, sizeof *s);
  if (!s) return error_no_memory(error, "for a request");
  OptionParser parser = request_parser(SERVE_SETS, s);
  Status status = options_parse_state(&parser, line, error);
  if (!status) status = answer(s, true, d, error);
  free(s);
  return status;
}

static Status answer_serve(void *options, Document *d, Io *io, Error *error) {
  (void)io;
  return ((Service *)options)->is_printed ? serve_printed(d, error) : answer(options, true, d, error);
}

const Command COMMAND_SERVE = {
    .name = "serve",
    .group = "ask",
    .summary = "a model on GPUs: what fits, time to the first token",
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
    .options_bytes = sizeof(Service),
    .sets = SERVE_SETS,
    .apart = "lengths ! seq-len batch; prefix ! evict",
    .answer = answer_serve,
};
