#include "viz/request/request_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/nearest.h"
#include "sim/algorithms/shipped.h"
#include "viz/scene/view.h"
#include "sim/base/quote.h"
#include "sim/base/size.h"
#include "viz/request/description.h"
#include "viz/request/own_masks.h"
#include "viz/request/own_programs.h"

const char *const PACK_NAMES[PACK_COUNT + 1] = {"auto", "on", "off", NULL};

static Status set_kv_dtype(void *target, const char *value, Error *error) {
  Shape *shape = &((Request *)target)->shape;
  shape->has_kv_dtype = dtype_from_name(value, &shape->kv_dtype);
  if (shape->has_kv_dtype) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST, "'%s' is no data type; there are fp32, fp16, bf16 and fp8",
                   quote_text(value).text);
}

static Status set_mla(void *target, const char *value, Error *error) {
  Request *r = target;
  r->is_absorbed = strcmp(value, "absorbed") == 0;
  r->is_expanded = strcmp(value, "expanded") == 0;
  if (r->is_absorbed || r->is_expanded || strcmp(value, "auto") == 0) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST, "'%s' is no form of MLA; there are auto, absorbed and expanded",
                   quote_text(value).text);
}

static Status set_dtype(void *target, const char *value, Error *error) {
  ((Request *)target)->has_dtype = true;
  if (dtype_from_name(value, &((Request *)target)->shape.dtype)) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST, "'%s' is no data type; there are fp32, fp16, bf16 and fp8",
                   quote_text(value).text);
}

static Status set_block(void *target, const char *value, Error *error) {
  Request *r = target;
  if (strcmp(value, "paper") == 0) {
    r->algorithm1_blocks = true;
    return STATUS_OK;
  }
  return size_parse_count(value, &r->block, error);
}

static Status set_sram(void *target, const char *value, Error *error) {
  Request *r = target;
  const Status status = size_parse(value, &r->sram_bytes, error);
  if (!status && r->sram_bytes == 0)
    return error_set(error, STATUS_BAD_REQUEST, "no SRAM at all holds no tile; give a size such as 192K");
  return status;
}

static Status set_order(void *target, const char *value, Error *error) {
  Request *r = target;
  r->has_order = launch_order_from_name(value, &r->order);
  if (r->has_order) return STATUS_OK;
  return error_set(
      error, STATUS_BAD_REQUEST,
      "'%s' is no order of CTAs; there are query-batch-head, query-head-batch, head-query-batch and head-batch-query "
      "(the first runs fastest)",
      quote_text(value).text);
}

static Status set_walk(void *target, const char *value, Error *error) {
  Request *r = target;
  r->has_walk = launch_walk_from_name(value, &r->walk);
  if (r->has_walk) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST, "'%s' is no walk over K and V; there are forward and reversed",
                   quote_text(value).text);
}

static Status set_without(void *target, const char *value, Error *error) {
  return refinements_parse(value, &((Request *)target)->without, error);
}

static Status set_pace(void *target, const char *value, Error *error) {
  Request *r = target;
  r->skew_turns = 0;
  r->in_step = strcmp(value, "time") != 0;
  if (!r->in_step || strcmp(value, "step") == 0) return STATUS_OK;
  if (strncmp(value, "skew:", 5) == 0 && !size_parse_count(value + 5, &r->skew_turns, NULL) && r->skew_turns <= 1 << 20)
    return STATUS_OK;
  return error_set(
      error, STATUS_BAD_REQUEST,
      "'%s' is no pace; give time, step, or skew:N for N tiles (up to 1048576) between the first CTA and the last",
      quote_text(value).text);
}

static Status set_scene(void *target, const char *value, Error *error) {
  Request *r = target;
  int k = scene_find(value);
  const Status status = k < 0 ? options_name(SCENE_NAMES, "is no scene", value, &k, error) : STATUS_OK;
  if (!status) snprintf(r->scene, sizeof r->scene, "%s", SCENE_NAMES[k]);
  return status;
}

static Status set_nothing(void *target, const char *value, Error *error) {
  (void)target, (void)value, (void)error;
  return STATUS_OK;
}

static Status set_whole(const char *value, int64_t *out, Error *error) {
  long long number;
  const Status status = options_count("the number", value, 0, INT64_MAX, &number, error);
  if (!status) *out = number;
  return status;
}

/* "122", or "122.25": a quarter of the way from step 122 to 123. */
static Status set_step(void *target, const char *value, Error *error) {
  Request *r = target;
  char whole[32];
  const char *point = strchr(value, '.');
  if (!point) {
    r->step_thousandths = 0;
    return set_whole(value, &r->step, error);
  }
  const size_t length = (size_t)(point - value), digits = strspn(point + 1, "0123456789");
  if (length == 0 || length >= sizeof whole || digits < 1 || digits > 3 || point[1 + digits])
    return error_set(error, STATUS_BAD_REQUEST,
                     "'%s' is no step; give a number such as 122, or 122.25 to be between two", quote_text(value).text);
  memcpy(whole, value, length);
  whole[length] = '\0';
  int thousandths = 0;
  for (size_t k = 1; k <= 3; k++) thousandths = 10 * thousandths + (k <= digits ? point[k] - '0' : 0);
  const Status status = set_whole(whole, &r->step, error);
  if (!status) r->step_thousandths = thousandths;
  return status;
}

static const char *const RINGS[] = {"ring", "striped", "zigzag", NULL};
static const char *const CLOCKS[] = {"bytes", "time", NULL};

static Status no_file(const char *value, const char *what, Error *error) {
  return error_set(error, STATUS_BAD_REQUEST, "'%s' names a file; %s of one's own are named on the command line alone",
                   quote_text(value).text, what);
}

static Status shipped_algorithms(const char *value, Error *error) {
  for (const char *p = value;; p++) {
    const size_t length = strcspn(p, ",");
    if (own_program_is_path(p, length)) return no_file(value, "programs", error);
    p += length;
    if (!*p) return STATUS_OK;
  }
}

static Status shipped_mask(const char *value, Error *error) {
  return own_mask_is_file(value) ? no_file(value, "masks", error) : STATUS_OK;
}

const Option REQUEST_SHAPE_OPTIONS[] = {
    {.name = "seq-len",
     .letter = 'N',
     .argument = "N",
     OPTION_COUNT(Request, shape.N_q),
     .help = "Sequence length: queries, and keys too unless --seq-len-k says otherwise. 4K is 4096. Default 4096."},
    {.name = "seq-len-k",
     .argument = "N",
     OPTION_COUNT(Request, shape.N_k),
     .help = "Number of keys, when it differs from the number of queries (decode: -N 1 --seq-len-k 8K)."},
    {.name = "head-dim",
     .letter = 'd',
     .argument = "D",
     OPTION_COUNT(Request, shape.d),
     .help = "Head dimension. Default 128."},
    {.name = "head-dim-v",
     .argument = "D",
     OPTION_COUNT(Request, shape.d_v),
     .help = "Head dimension of V and O, where it is another one (MLA: -d 192 --head-dim-v 128)."},
    {.name = "batch", .argument = "COUNT", OPTION_COUNT(Request, shape.batch), .help = "Batch size. Default 1."},
    {.name = "heads", .argument = "COUNT", OPTION_COUNT(Request, shape.heads), .help = "Query heads. Default 1."},
    {.name = "kv-heads",
     .argument = "COUNT",
     OPTION_COUNT(Request, shape.kv_heads),
     .help = "Key and value heads: fewer than --heads is GQA, 1 is MQA. Default: as many as --heads."},
    {.name = "model",
     .argument = "NAME|FILE",
     OPTION_TEXT(Request, model, "the name of the model"),
     .choices = "@models",
     .shipped = description_shipped_model,
     .help = "Heads, KV heads, head dimension, window, latent and data type of a model: a name from 'tilewalk "
             "kvcache --list', a name on the Hugging Face Hub, a config.json or a description file. Options given "
             "beside it win."},
    {.name = "mla",
     .argument = "FORM",
     .set = set_mla,
     .choices = "auto absorbed expanded",
     .help = "A model with MLA: absorbed (one latent for all heads, V inside K), expanded (K and V of every head), "
             "or auto: absorbed where there are more keys than queries. Default auto."},
    {.name = "v-in-k",
     .argument = "[=0|1]",
     OPTION_FLAG(Request, shape.v_in_k),
     .given = offsetof(Request, has_v_in_k),
     .choices = "0 1",
     .help = "V is the first --head-dim-v elements of K, as in absorbed MLA: it is read and kept as a part of K. "
             "Default: where one KV head of d = 576 has values of 512, DeepSeek's latent, it is; else not."},
    {.name = "kv-dtype",
     .argument = "TYPE",
     .set = set_kv_dtype,
     .choices = "fp32 fp16 bf16 fp8",
     .help = "Data type of K and V in memory, where it is another one: a cache of fp8 under queries of bf16. "
             "Default: --dtype."},
    {.name = "dtype",
     .argument = "TYPE",
     .set = set_dtype,
     .choices = "fp32 fp16 bf16 fp8",
     .help = "Data type of Q, K, V, S, P, O: fp32, fp16, bf16 or fp8, of which O is bf16. Default fp16."},
    {.name = "causal",
     .argument = "[=CORNER]",
     .set = set_causal,
     .choices = "top-left bottom-right",
     .help = "A query sees the keys up to its own position. Where there are more keys than queries, the last query "
             "sees all: aligned to bottom-right, the default. --causal=top-left: query i sees keys 0 to i."},
    {.name = "mask",
     .argument = "KIND|FILE",
     .set = set_mask,
     .choices = "documents:1024 sink:64 prefix:64 strided:4",
     .shipped = shipped_mask,
     .help = "What may be seen, besides --causal and --window: documents:LENGTH,... (or one length for all, or a "
             "file of lengths), sink:KEYS and prefix:KEYS (the first keys, too), strided:4 (every fourth block of "
             "64), strided:4:128, or a file whose lines are of '#' and '.' signs."},
    {.name = "window",
     .argument = "W|LEFT,RIGHT",
     .set = set_window,
     .help = "Sliding window. LEFT,RIGHT: keys before a query's own position and after it, -1 for no limit, "
             "as FlashAttention's window_size. W: keys less than W away, on both sides: 2 W - 1 of them, with "
             "--causal W."},
    {0},
};

const Option REQUEST_TILING_OPTIONS[] = {
    {.name = "algorithm",
     .argument = "LIST",
     .set = set_algorithm,
     .choices = "@algorithms",
     .shipped = shipped_algorithms,
     .help = "Algorithms, separated by commas: standard, fa1, fa2, fa2-split, all, or a program of your own: "
             "./mine.walk."},
    {.name = "block",
     .argument = "B",
     .set = set_block,
     .help = "Rows of Q and of K, V in a tile: B_r = B_c = B. 'paper' takes the sizes of FlashAttention's Algorithm "
             "1. Default: the largest power of two up to 128 that fits."},
    {.name = "block-q",
     .argument = "B_r",
     OPTION_COUNT(Request, tiling.B_r),
     .help = "Rows of Q in a tile (also --br)."},
    {.name = "br", .argument = "B_r", OPTION_COUNT(Request, tiling.B_r)},
    {.name = "block-k",
     .argument = "B_c",
     OPTION_COUNT(Request, tiling.B_c),
     .help = "Rows of K and V in a tile (also --bc)."},
    {.name = "bc", .argument = "B_c", OPTION_COUNT(Request, tiling.B_c)},
    {.name = "kernel",
     .argument = "NAME|FILE",
     OPTION_TEXT(Request, kernel, "the name of the kernel"),
     .choices = "@kernels",
     .shipped = description_shipped_kernel,
     .help = "Tile and launch as a known kernel does (fa2-sm90, cudnn-sm90, mem-efficient-sm90, fa3-sm90, fa2_async, "
             "...: assets/kernels) or as a description file says; blocks given beside it win."},
    {.name = "pack-gqa",
     .argument = "WHEN",
     OPTION_CHOICE(Request, pack, "is no way to pack heads"),
     .names = PACK_NAMES,
     .help = "Where query heads share K and V, make those of a KV head rows of one tile, so that each key is read "
             "once for all: auto (as the kernel does; without one, where rows of a tile would lie idle, and where "
             "keys are split), on or off. Default auto."},
    {.name = "splits",
     .argument = "COUNT",
     OPTION_COUNT(Request, tiling.n_splits),
     .help = "fa2-split: into how many parts the keys are split. Default: enough to fill the machine."},
    {.name = "lse",
     OPTION_FLAG(Request, tiling.lse),
     .help = "fa2, fa2-split: also write the N log-sum-exp values that training needs."},
    {0},
};

const Option REQUEST_MACHINE_OPTIONS[] = {
    {.name = "sram",
     .argument = "SIZE",
     .set = set_sram,
     .help = "SRAM for one CTA's tiles, such as 192K or 96KiB. Default: the machine's."},
    {.name = "gpu",
     .argument = "NAME|FILE",
     OPTION_TEXT(Request, gpu, "the name of the GPU"),
     .choices = "@gpus",
     .shipped = description_shipped_gpu,
     .help = "The machine: a name from 'tilewalk gpus', or a description file; sim takes several, with commas, and "
             "shows them side by side. Default: paper."},
    {.name = "state",
     .argument = "LINE",
     .set = options_set_state,
     .help = "All of the above as one line, 'N=64 d=16 block=8 causal=1'; options given beside it win."},
    {.name = "seed",
     .argument = "SEED",
     OPTION_NUMBER(Request, seed, "the number", 0, INT64_MAX),
     .state_only = true,
     .help = "Seed of random inputs."},
    {.name = "scene", .argument = "SCENE", .set = set_scene, .state_only = true, .help = "Which scene to show."},
    {.name = "chart", .argument = "CHART", .set = set_nothing, .state_only = true, .help = "Of older state lines: 'sweep' draws charts."},
    {.name = "step", .argument = "STEP", .set = set_step, .state_only = true, .help = "At which step."},
    {.name = "row",
     .argument = "ROW",
     OPTION_NUMBER(Request, row, "the row", 1, INT32_MAX),
     .state_only = true,
     .help = "Which row."},
    {.name = "zoom",
     .argument = "LEVEL",
     OPTION_NUMBER(Request, zoom, "how far in", 0, SCENE_ZOOMS_MAX),
     .state_only = true,
     .help = "How far in."},
    {.name = "without-max",
     OPTION_FLAG(Request, without_max),
     .state_only = true,
     .help = "Softmax without the maximum."},
    {.name = "q-scale",
     .argument = "COUNT",
     OPTION_NUMBER(Request, q_scale, "what Q is multiplied by", 1, 1000),
     .state_only = true,
     .help = "What Q is multiplied by."},
    {.name = "clock",
     .argument = "CLOCK",
     OPTION_CHOICE(Request, by_time, "is no clock"),
     .names = CLOCKS,
     .state_only = true,
     .help = "What the race runs on."},
    {.name = "lengths", .argument = "LIST", .set = set_lengths, .state_only = true, .help = "Of sequences served."},
    {.name = "page", .argument = "TOKENS", .set = set_page, .state_only = true, .help = "Of a page served."},
    {.name = "prefix", .argument = "TOKENS", .set = set_prefix, .state_only = true, .help = "That they share."},
    {.name = "chunk", .argument = "TOKENS", .set = set_chunk, .state_only = true, .help = "Of a prompt at a time."},
    {.name = "ranks",
     .argument = "P",
     OPTION_NUMBER(Request, ring.n, "how many ranks there are", 1, RING_RANKS_MAX),
     .state_only = true,
     .help = "GPUs in a ring."},
    {.name = "scheme",
     .argument = "NAME",
     OPTION_CHOICE(Request, ring.scheme, "is no ring"),
     .names = RINGS,
     .state_only = true,
     .help = "Which tokens each has."},
    {0},
};

const Option REQUEST_EXPERT_OPTIONS[] = {
    {.name = "ctas-per-sm",
     .argument = "COUNT",
     OPTION_COUNT(Request, ctas_per_sm),
     .help = "CTAs that an SM runs at once, for L2. Default: what the kernel, or its tiles, leave room for."},
    {.name = "order",
     .argument = "ORDER",
     .set = set_order,
     .choices = "query-batch-head query-head-batch head-query-batch head-batch-query",
     .help = "How CTAs are numbered, for L2; the first word runs fastest. Default: the kernel's, or query-head-batch."},
    {.name = "walk",
     .argument = "WALK",
     .set = set_walk,
     .choices = "forward reversed",
     .help = "Over K and V, for L2: forward or reversed. Default: the kernel's, or forward."},
    {.name = "pace",
     .argument = "PACE",
     .set = set_pace,
     .choices = "time step skew:8 skew:64",
     .help = "How CTAs advance, for L2: time (each by its arithmetic and by what it waits for), step (all in step), "
             "or skew:N, where the last of the first wave begins N tiles after the first. Default time."},
    {.name = "without",
     .argument = "PART,...",
     .set = set_without,
     .choices = "clock partitions coalescer placement sets",
     .help = "Leave parts of the model of L2 out, to see what they explain: clock, partitions, coalescer, ... "
             "(sim/l2/MODEL.md lists all)."},
    {0},
};

const Option REQUEST_SCENE_OPTIONS[] = {
    {.name = "scene", .argument = "SCENE", .set = set_scene, .names = SCENE_NAMES, .help = "{}. Default main."},
    {.name = "step",
     .argument = "STEP",
     .set = set_step,
     .help = "After that many events; 122.25 is between two. Default 0."},
    {.name = "seed",
     .argument = "SEED",
     OPTION_NUMBER(Request, seed, "the number", 0, INT64_MAX),
     .help = "Seed of Q, K and V. Default 0."},
    {.name = "row",
     .argument = "ROW",
     OPTION_NUMBER(Request, row, "the row", 1, INT32_MAX),
     .help = "Which row of a row block the softmax shows, from 1. Default: the middle one."},
    {.name = "zoom",
     .argument = "LEVEL",
     OPTION_NUMBER(Request, zoom, "how far in", 0, SCENE_ZOOMS_MAX),
     .help = "How far in: of pipeline 0 is a tile, 1 a row block, 2 the whole CTA, 3 a tile at either d; of zoom 0 is "
             "all levels, 1 the head, 2 the tile, 3 the row, 4 the warp, 5 the banks. Default 0."},
    {.name = "without-max",
     OPTION_FLAG(Request, without_max),
     .help = "Leave the maximum out, and see what overflows."},
    {.name = "q-scale",
     .argument = "COUNT",
     OPTION_NUMBER(Request, q_scale, "what Q is multiplied by", 1, 1000),
     .help = "Multiply Q, and so the scores. Default 1; without the maximum 6, so that something overflows."},
    {.name = "clock",
     .argument = "CLOCK",
     OPTION_CHOICE(Request, by_time, "is no clock"),
     .names = CLOCKS,
     .help = "What the race runs on: bytes, or the least time of each algorithm at the GPU's peak rates. Default "
             "bytes."},
    {.name = "lengths",
     .argument = "LIST",
     .set = set_lengths,
     .help = "Sequences in the serving scene, such as 1000,257. They decode at once, 2 to 16 of them; the walk is the "
             "longest one's."},
    {.name = "page", .argument = "TOKENS", .set = set_page, .help = "Tokens of a page in it. Default 16."},
    {.name = "prefix", .argument = "TOKENS", .set = set_prefix, .help = "Tokens that its sequences begin with alike."},
    {.name = "chunk",
     .argument = "TOKENS",
     .set = set_chunk,
     .help = "Tokens of a chunk of a prompt in it. Default: a row block."},
    {.name = "ranks",
     .argument = "P",
     OPTION_NUMBER(Request, ring.n, "how many ranks there are", 1, RING_RANKS_MAX),
     .help = "GPUs in the ring scene. Default 4."},
    {.name = "scheme",
     .argument = "NAME",
     OPTION_CHOICE(Request, ring.scheme, "is no ring"),
     .names = RINGS,
     .help = "Their tokens: {}. Default ring."},
    {0},
};

const Option OUTPUT_FORMAT_OPTIONS[] = {
    {.name = "json", OPTION_FLAG(OutputRequest, json), .help = "Print JSON."},
    {.name = "csv", OPTION_FLAG(OutputRequest, csv), .help = "Print CSV with a heading line."},
    {0},
};

const Option OUTPUT_FILE_OPTIONS[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     OPTION_TEXT(OutputRequest, output, "the file name"),
     .help = "Write to FILE."},
    {0},
};

Status output_request_check(const OutputRequest *output, Error *error) {
  if (output->json && output->csv)
    return error_set(error, STATUS_BAD_REQUEST, "--json and --csv are two formats for one output; give one of them");
  if ((output->json || output->csv) && strncmp(output->output, "-.", 2) == 0)
    return error_set(error, STATUS_BAD_REQUEST, "-o %.16s sends the picture to the output, where --%s goes; give one",
                     output->output, output->json ? "json" : "csv");
  return STATUS_OK;
}
