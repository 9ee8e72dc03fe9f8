/* The rows, and what is read and written by rules of their own. */
#include "sim/question/question.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/algorithms/shipped.h"
#include "sim/base/text_add.h"
#include "sim/base/nearest.h"
#include "sim/base/size.h"

const char *const LAYER_KINDS[] = {"any", "full", "window", "chunk", NULL};
static const char *const FORMS[] = {"auto", "absorbed", "expanded", NULL};
static const char *const PACKS[] = {"auto", "on", "off", NULL};
static const char *const RINGS[] = {"ring", "striped", "zigzag", NULL};

/* ---- The shape --------------------------------------------------------------------------------------------- */

static bool get_N(const void *target, char *text, size_t size) {
  const Question *q = target;
  snprintf(text, size, "%jd", q->shape.N_q ? q->shape.N_q : q->pages.n ? 1 : QUESTION_DEFAULT_N);
  return true;
}

static bool get_d(const void *target, char *text, size_t size) {
  const Question *q = target;
  snprintf(text, size, "%jd", q->shape.d ? q->shape.d : QUESTION_DEFAULT_D);
  return q->shape.d || !*q->model;
}

/* A default that is given counts beside a model. */
static bool get_dtype(const void *target, char *text, size_t size) {
  const Question *q = target;
  snprintf(text, size, "%s", dtype_name(q->shape.dtype));
  return q->shape.dtype != DTYPE_FP16 || (*q->model && q->has_dtype);
}

/* 1, or to which corner: bottom-right (1) or top-left. */
static Status set_causal(void *target, const char *value, Error *error) {
  Shape *shape = &((Question *)target)->shape;
  const bool top_left = strcmp(value, "top-left") == 0;
  if (!top_left && strcmp(value, "bottom-right") != 0 && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
    return error_refuse(error, "'%s' is no corner; a causal mask is aligned to bottom-right (the default) or top-left",
                        quote_text(value).text);
  shape->causal = strcmp(value, "0") != 0;
  shape->top_left = top_left;
  return STATUS_OK;
}

/* A side of a window: -1, 0, or a number of keys. */
static Status window_side(const char *text, size_t length, int64_t *side, Error *error) {
  char copy[40];
  if (length == 0 || length >= sizeof copy)
    return error_refuse(error, "a window is W, or LEFT,RIGHT with 0, -1 (no limit) or keys for each");
  memcpy(copy, text, length);
  copy[length] = '\0';
  if (strcmp(copy, "-1") == 0 || strcmp(copy, "0") == 0) {
    *side = *copy == '-' ? -1 : 0;
    return STATUS_OK;
  }
  return size_parse_count(copy, side, error);
}

/* W keys, or LEFT,RIGHT as FlashAttention's window_size. */
static Status set_window(void *target, const char *value, Error *error) {
  Shape *shape = &((Question *)target)->shape;
  const char *comma = strchr(value, ',');
  shape->sided = comma != NULL;
  shape->window = shape->left = shape->right = 0;
  if (!comma) return size_parse_count(value, &shape->window, error);
  const Status status = window_side(value, (size_t)(comma - value), &shape->left, error);
  return status ? status : window_side(comma + 1, strlen(comma + 1), &shape->right, error);
}

static bool get_causal(const void *target, char *text, size_t size) {
  const Shape *shape = &((const Question *)target)->shape;
  snprintf(text, size, "%s", shape->top_left ? "top-left" : "1");
  return shape->causal;
}

static bool get_window(const void *target, char *text, size_t size) {
  const Shape *s = &((const Question *)target)->shape;
  if (s->sided)
    snprintf(text, size, "%jd,%jd", s->left, s->right);
  else
    snprintf(text, size, "%jd", s->window);
  return s->sided || s->window;
}

/* ---- Algorithms and tiles ---------------------------------------------------------------------------------- */

static Status name_algorithm(Question *r, const Schedule *schedule, Error *error) {
  for (int k = 0; k < r->n_algorithms; k++)
    if (r->algorithms[k] == schedule) return error_refuse(error, "'%s' is named twice", schedule->name);
  if (r->n_algorithms == QUESTION_ALGORITHMS_MAX)
    return error_refuse(error, "more than %d algorithms at once", QUESTION_ALGORITHMS_MAX);
  r->algorithms[r->n_algorithms++] = schedule;
  return STATUS_OK;
}

static Status unknown_algorithm(const char *word, const QuestionFiles *files, Error *error) {
  const Quote shown = quote_text(word);
  Nearest nearest = {.word = word};
  char all[128] = "", meant[160];
  for (int k = 0; k < N_PROGRAMS; k++) nearest_offer(&nearest, SCHEDULES[k]->name);
  shipped_names(SHIPPED_ALL, ", ", all, sizeof all);
  if (*word && !nearest.n_parts && files->kernel_called && files->kernel_called(word, shown.text, error))
    return error->status;
  nearest_list(&nearest, meant, sizeof meant);
  return error_refuse(error, "there is no algorithm '%s'%s%s%s; there are %s and more (tilewalk list algorithms)",
                      shown.text, *meant ? " (did you mean " : "", meant, *meant ? "?)" : "", all);
}

Status question_set_algorithm(void *target, const char *value, const QuestionFiles *files, Error *error) {
  Question *q = target;
  q->n_algorithms = 0;
  if (strcmp(value, "all") == 0) {
    for (int k = 0; k < N_SCHEDULES; k++) q->algorithms[q->n_algorithms++] = SCHEDULES[k];
    return STATUS_OK;
  }
  for (const char *p = value;; p++) {
    char word[OPTION_VALUE_CHARS_MAX + 1];
    const size_t length = strcspn(p, ",");
    snprintf(word, sizeof word, "%.*s", (int)length, p);
    const Schedule *schedule = schedule_find(word);
    Status status = STATUS_OK;
    if (files->program && question_is_path(word)) status = files->program(word, &schedule, error);
    if (!status) status = schedule ? name_algorithm(q, schedule, error) : unknown_algorithm(word, files, error);
    p += length;
    if (status || !*p) return status;
  }
}

static bool get_algorithm(const void *target, char *text, size_t size) {
  const Question *q = target;
  *text = '\0';
  for (int k = 0; k < q->n_algorithms; k++) text_add(text, size, "%s%s", k ? "," : "", schedule_word(q->algorithms[k]));
  return q->n_algorithms > 0;
}

static Status set_block(void *target, const char *value, Error *error) {
  Question *r = target;
  r->algorithm1_blocks = strcmp(value, "paper") == 0;
  r->largest_block = strcmp(value, "largest") == 0;
  r->block = 0;
  return r->algorithm1_blocks || r->largest_block ? STATUS_OK : size_parse_count(value, &r->block, error);
}

static bool get_block(const void *target, char *text, size_t size) {
  const Question *q = target;
  snprintf(text, size, q->algorithm1_blocks ? "paper" : q->largest_block ? "largest" : "%jd", q->block);
  return q->algorithm1_blocks || q->largest_block || q->block;
}

/* ---- Launch and L2 ----------------------------------------------------------------------------------------- */

static Status set_without(void *target, const char *value, Error *error) {
  return refinements_parse(value, &((Question *)target)->without, error);
}

static Status set_pace(void *target, const char *value, Error *error) {
  Question *r = target;
  r->skew_turns = 0;
  r->in_step = strcmp(value, "time") != 0;
  if (!r->in_step || strcmp(value, "step") == 0) return STATUS_OK;
  if (strncmp(value, "skew:", 5) == 0 && !size_parse_count(value + 5, &r->skew_turns, NULL) && r->skew_turns <= 1 << 20)
    return STATUS_OK;
  return error_refuse(
      error,
      "'%s' is no pace; give time, step, or skew:N for N tiles (up to 1048576) between the first CTA and the last",
      quote_text(value).text);
}

static bool get_without(const void *target, char *text, size_t size) {
  const Question *q = target;
  refinements_text(q->without, text, size);
  return q->without != 0;
}

static bool get_pace(const void *target, char *text, size_t size) {
  const Question *q = target;
  snprintf(text, size, q->skew_turns ? "skew:%jd" : "step", q->skew_turns);
  return q->in_step;
}

/* ---- Scenes ------------------------------------------------------------------------------------------------ */

static Status set_scene(void *target, const char *value, Error *error) {
  int k = scene_find(value);
  if (k < 0 && options_name(SCENE_NAMES, "is no scene", value, &k, error)) return error->status;
  Question *q = target;
  snprintf(q->scene, sizeof q->scene, "%s", SCENE_NAMES[k]);
  if (strcmp(value, "ring") == 0 && q->ring.n == 0) q->ring.n = 4; /* a scene's name once, with ranks of its own */
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
  Question *r = target;
  char whole[32];
  const char *point = strchr(value, '.');
  if (!point) {
    r->step_thousandths = 0;
    return set_whole(value, &r->step, error);
  }
  const size_t length = (size_t)(point - value), digits = strspn(point + 1, "0123456789");
  if (length == 0 || length >= sizeof whole || digits < 1 || digits > 3 || point[1 + digits])
    return error_refuse(error, "'%s' is no step; give a number such as 122, or 122.25 to be between two",
                        quote_text(value).text);
  memcpy(whole, value, length);
  whole[length] = '\0';
  int thousandths = 0;
  for (size_t k = 1; k <= 3; k++) thousandths = 10 * thousandths + (k <= digits ? point[k] - '0' : 0);
  const Status status = set_whole(whole, &r->step, error);
  if (!status) r->step_thousandths = thousandths;
  return status;
}

/* Without zeros at the end. */
static bool get_step(const void *target, char *text, size_t size) {
  const Question *q = target;
  int n = snprintf(text, size, "%jd.%03d", q->step, q->step_thousandths);
  while (text[n - 1] == '0') text[--n] = '\0';
  if (text[n - 1] == '.') text[--n] = '\0';
  return q->step || q->step_thousandths;
}

/* A line has + between them. */
static Status set_lengths(void *target, const char *value, Error *error) {
  ServedPages *p = &((Question *)target)->pages;
  Lengths *l = lengths_read(value, strlen(value), "--lengths", error);
  if (!l) return error->status;
  Status status = STATUS_OK;
  if (l->n < 2 || l->n > SERVED_SEQUENCES_MAX)
    status = error_refuse(error, "%jd lengths; the scene shows 2 to %d sequences", l->n, SERVED_SEQUENCES_MAX);
  else if (l->longest > SHAPE_MAX_N)
    status = error_set(error, STATUS_TOO_LARGE, "a sequence has at most %jd tokens", SHAPE_MAX_N);
  for (p->n = 0; !status && p->n < l->n; p->n++) p->lengths[p->n] = l->lengths[p->n];
  free(l);
  return status;
}

static bool get_lengths(const void *target, char *text, size_t size) {
  const ServedPages *p = &((const Question *)target)->pages;
  *text = '\0';
  for (int64_t k = 0; k < p->n; k++) text_add(text, size, "%s%jd", k ? "+" : "", p->lengths[k]);
  return p->n > 0;
}

/* ---- The rows ---------------------------------------------------------------------------------------------- */

const Option QUESTION_SHAPE_OPTIONS[] = {
    OPTION_ROW("seq-len", "N",
               "Sequence length: queries, and keys too unless --seq-len-k says otherwise. 4K is 4096. Default 4096.",
               .letter = 'N', OPTION_COUNT(Question, shape.N_q), .get = get_N),
    OPTION_ROW("seq-len-k", "N",
               "Number of keys, when it differs from the number of queries (decode: -N 1 --seq-len-k 8K).",
               OPTION_COUNT(Question, shape.N_k)),
    OPTION_ROW("head-dim", "D", "Head dimension. Default 128.", .letter = 'd', OPTION_COUNT(Question, shape.d),
               .get = get_d),
    OPTION_ROW("head-dim-v", "D", "Head dimension of V and O, where it is another one (MLA: -d 192 --head-dim-v 128).",
               OPTION_COUNT(Question, shape.d_v)),
    OPTION_ROW("batch", "COUNT", "Batch size. Default 1.", OPTION_COUNT(Question, shape.batch)),
    OPTION_ROW("heads", "COUNT", "Query heads. Default 1.", OPTION_COUNT(Question, shape.heads)),
    OPTION_ROW("kv-heads", "COUNT",
               "Key and value heads: fewer than --heads is GQA, 1 is MQA. Default: as many as --heads.",
               OPTION_COUNT(Question, shape.kv_heads)),
    OPTION_ROW("model", "NAME|FILE",
               "Heads, KV heads, head dimension, causal mask, window or chunk, latent and data type of a model: a "
               "name from 'tilewalk "
               "kvcache --list', a name on the Hugging Face Hub, a config.json or a description file. Options given "
               "beside it win.",
               OPTION_TEXT(Question, model, "the name of the model"), .choices = "@models", .thing = THING_MODEL),
    OPTION_ROW(
        "layer", "KIND",
        "Of a model: layers that see all tokens (full), those of a window, or those of a chunk. Default: full, where "
        "there are any.",
        OPTION_CHOICE(Question, layer, "is no kind of layers"), .names = LAYER_KINDS),
    OPTION_ROW("mla", "FORM",
               "A model with MLA: absorbed (one latent for all heads, V inside K), expanded (K and V of every head), "
               "or auto: absorbed where there are more keys than queries. Default auto.",
               OPTION_CHOICE(Question, mla, "is no form of MLA"), .names = FORMS),
    OPTION_ROW("v-in-k", "[=0|1]",
               "V is the first --head-dim-v elements of K, as in absorbed MLA: it is read and kept as a part of K. "
               "Default: where one KV head of d = 576 has values of 512, DeepSeek's latent, it is; else not.",
               OPTION_FLAG(Question, shape.v_in_k), .given = offsetof(Question, has_v_in_k), .choices = "0 1"),
    OPTION_ROW("kv-dtype", "TYPE",
               "Data type of K and V in memory, where it is another one: a cache of fp8 or int8 under queries of bf16. "
               "Default: --dtype.",
               OPTION_CHOICE(Question, shape.kv_dtype, "is no data type"),
               .given = offsetof(Question, shape.has_kv_dtype), .names = KV_NAMES),
    OPTION_ROW("dtype", "TYPE",
               "Data type of Q, K, V, S, P, O: fp32, fp16, bf16 or fp8, of which O is bf16. Default fp16.",
               OPTION_CHOICE(Question, shape.dtype, "is no data type"), .given = offsetof(Question, has_dtype),
               .names = DTYPE_NAMES, .get = get_dtype),
    OPTION_ROW("causal", "[=CORNER]",
               "A query sees the keys up to its own position. Where there are more keys than queries, the last query "
               "sees all: aligned to bottom-right, the default. --causal=top-left: query i sees keys 0 to i.",
               .set = set_causal, .get = get_causal, .choices = "top-left bottom-right"),
    OPTION_ROW("mask", "KIND|FILE",
               "What may be seen, besides --causal and --window: documents:LENGTH,... (or one length for all, or a "
               "file of lengths), sink:KEYS and prefix:KEYS (the first keys, too), strided:4 (every fourth block of "
               "64), strided:4:128, or a file whose lines are of '#' and '.' signs.",
               OPTION_TEXT(Question, mask, "the mask, one of " PATTERN_NAMES " and files,"),
               .choices = "documents:1024 sink:64 prefix:64 strided:4", .thing = THING_MASK),
    OPTION_ROW("window", "W|LEFT,RIGHT",
               "Sliding window. LEFT,RIGHT: keys before a query's own position and after it, -1 for no limit, "
               "as FlashAttention's window_size. W: keys less than W away, on both sides: 2 W - 1 of them, with "
               "--causal W.",
               .set = set_window, .get = get_window),
    {0},
};

const Option QUESTION_TILING_OPTIONS[] = {
    OPTION_ROW("algorithm", "LIST",
               "Algorithms, separated by commas: standard, fa1, fa2, fa2-split, all, or a program of your own: "
               "./mine.walk.",
               .set_found = question_set_algorithm, .get = get_algorithm, .choices = "@algorithms",
               .thing = THING_PROGRAM),
    OPTION_ROW("block", "B",
               "Rows of Q and of K, V in a tile: B_r = B_c = B. 'paper' takes the sizes of FlashAttention's Algorithm "
               "1; 'largest' the largest that fits. Default: the largest power of two up to 128 that fits.",
               .set = set_block, .get = get_block),
    OPTION_ROW("block-q", "B_r", "Rows of Q in a tile (also --br).", .also = "br", OPTION_COUNT(Question, tiling.B_r)),
    OPTION_ROW("block-k", "B_c", "Rows of K and V in a tile (also --bc).", .also = "bc",
               OPTION_COUNT(Question, tiling.B_c)),
    OPTION_ROW("kernel", "NAME|FILE",
               "Tile and launch as a known kernel does (fa2-sm90, cudnn-sm90, mem-efficient-sm90, fa3-sm90, fa2_async, "
               "...: assets/kernels) or as a description file says; blocks given beside it win.",
               OPTION_TEXT(Question, kernel, "the name of the kernel"), .choices = "@kernels", .thing = THING_KERNEL),
    OPTION_ROW("pack-gqa", "WHEN",
               "Where query heads share K and V, make those of a KV head rows of one tile, so that each key is read "
               "once for all: auto (as the kernel does; without one, where rows of a tile would lie idle, and where "
               "keys are split), on or off. Default auto.",
               OPTION_CHOICE(Question, pack, "is no way to pack heads"), .names = PACKS),
    OPTION_ROW("splits", "COUNT",
               "fa2-split: into how many parts the keys are split. Default: enough to fill the machine.",
               OPTION_COUNT(Question, tiling.n_splits)),
    OPTION_SWITCH("lse", "fa2, fa2-split: also write the N log-sum-exp values that training needs.",
                  OPTION_FLAG(Question, tiling.lse)),
    {0},
};

const Option QUESTION_MACHINE_OPTIONS[] = {
    OPTION_ROW("sram", "SIZE", "SRAM for one CTA's tiles, such as 192K or 96KiB. Default: the machine's.",
               OPTION_SIZE(Question, sram_bytes), .to.what = "no SRAM at all holds no tile; give a size such as 192K"),
    OPTION_ROW(
        "gpu", "NAME|FILE",
        "The machine: a name from 'tilewalk list gpus', or a description file; sim takes several, with commas, and "
        "shows them side by side. Default: paper.",
        OPTION_TEXT(Question, gpu, "the name of the GPU"), .choices = "@gpus", .thing = THING_GPU),
    OPTION_ROW("state", "LINE",
               "All of the above as one line, 'N=64 d=16 block=8 causal=1'; options given beside it win.",
               .keys = QUESTION_SCENE_OPTIONS),
    {0},
};

const Option QUESTION_EXPERT_OPTIONS[] = {
    OPTION_ROW("l2", "SIZE", "L2, all partitions, in place of the machine's.", OPTION_SIZE(Question, l2_bytes)),
    OPTION_ROW("ctas-per-sm", "COUNT",
               "CTAs that an SM runs at once, for L2. Default: what the kernel, or its tiles, leave room for.",
               OPTION_COUNT(Question, ctas_per_sm)),
    OPTION_ROW(
        "order", "ORDER",
        "How CTAs are numbered, for L2; the first word runs fastest. Default: the kernel's, or query-head-batch.",
        OPTION_CHOICE(Question, order, "is no order of CTAs, fastest first"), .given = offsetof(Question, has_order),
        .names = LAUNCH_ORDER_NAMES),
    OPTION_ROW("walk", "WALK", "Over K and V, for L2: forward or reversed. Default: the kernel's, or forward.",
               OPTION_CHOICE(Question, walk, "is no walk over K and V"), .given = offsetof(Question, has_walk),
               .names = LAUNCH_WALK_NAMES),
    OPTION_ROW("pace", "PACE",
               "How CTAs advance, for L2: time (each by its arithmetic and by what it waits for), step (all in step), "
               "or skew:N, where the last of the first wave begins N tiles after the first. Default time.",
               .set = set_pace, .get = get_pace, .choices = "time step skew:8 skew:64"),
    OPTION_ROW("without", "PART,...",
               "Leave parts of the model of L2 out, to see what they explain: clock, partitions, coalescer, ... "
               "(sim/l2/MODEL.md lists all).",
               .set = set_without, .get = get_without, .choices = "clock partitions coalescer placement sets"),
    {0},
};

const Option QUESTION_SCENE_OPTIONS[] = {
    OPTION_ROW("scene", "SCENE", "{}. Default walk.", OPTION_TEXT(Question, scene, ""), .set = set_scene,
               .names = SCENE_NAMES),
    {.name = "chart", .argument = "CHART"}, /* of older state lines, as is the next */
    {.name = "zoom", .argument = "LEVEL"},
    OPTION_ROW("step", "STEP", "After that many events; 122.25 is between two. Default 0.", .set = set_step,
               .get = get_step),
    OPTION_ROW("seed", "SEED", "Seed of Q, K and V. Default 0.",
               OPTION_NUMBER(Question, seed, "the number", 0, INT64_MAX)),
    OPTION_ROW("row", "ROW", "Which row of a row block the softmax shows, from 1. Default: the middle one.",
               OPTION_NUMBER(Question, row, "the row", 1, INT32_MAX)),
    OPTION_SWITCH("without-max", "Leave the maximum out, and see what overflows.", OPTION_FLAG(Question, without_max)),
    OPTION_ROW("q-scale", "COUNT",
               "Multiply Q, and so the scores. Default 1; without the maximum 6, so that something overflows.",
               OPTION_NUMBER(Question, q_scale, "what Q is multiplied by", 1, 1000)),
    OPTION_ROW("lengths", "LIST",
               "Sequences in scene many, such as 1000,257. They decode at once, 2 to 16 of them; the walk is the "
               "longest one's.",
               .set = set_lengths, .get = get_lengths),
    OPTION_ROW("page", "TOKENS", "Tokens of a page in it. Default 16.",
               OPTION_NUMBER(Question, pages.page, "a page", 1, KVCACHE_MAX_PAGE)),
    OPTION_ROW("prefix", "TOKENS", "Tokens that its sequences begin with alike.",
               OPTION_NUMBER(Question, pages.prefix, "the prefix", 1, KVCACHE_MAX_PAGE)),
    OPTION_ROW("chunk", "TOKENS", "Tokens of a chunk of a prompt in it. Default: a row block.",
               OPTION_NUMBER(Question, pages.chunk, "a chunk", 1, KVCACHE_MAX_PAGE)),
    OPTION_ROW("ranks", "P", "GPUs in a ring, in scene many; with a scheme 4.",
               OPTION_NUMBER(Question, ring.n, "how many ranks there are", 1, RING_RANKS_MAX)),
    OPTION_ROW("scheme", "NAME", "Their tokens: {}. Default ring.", OPTION_CHOICE(Question, ring.scheme, "is no ring"),
               .names = RINGS),
    {0},
};

typedef struct {
  Question question;
} Alone;
const OptionSet QUESTION_SETS[] = {QUESTION_OPTION_SETS(Alone, question), {0}};

const char *question_state(const Question *q, char text[QUESTION_STATE_BYTES]) {
  return options_state(QUESTION_SETS, q, text, QUESTION_STATE_BYTES);
}
