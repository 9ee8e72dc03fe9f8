#include "viz/request/request.h"

#include "viz/request/own_masks.h"
#include "viz/request/own_programs.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/shipped.h"
#include "sim/base/nearest.h"
#include "sim/base/quote.h"
#include "sim/base/size.h"
#include "viz/request/description.h"
#include "viz/text/number.h"

enum { DEFAULT_N = 4096, DEFAULT_D = 128 };

/* ---- Setters -------------------------------------------------------------------------------------- */

#define SET_COUNT(function, member)                                                                                    \
  static Status function(void *target, const char *value, Error *error) {                                              \
    return size_parse_count(value, &((Request *)target)->member, error);                                               \
  }
SET_COUNT(set_N_q, shape.N_q)
SET_COUNT(set_N_k, shape.N_k)
SET_COUNT(set_d, shape.d)
SET_COUNT(set_d_v, shape.d_v)
SET_COUNT(set_batch, shape.batch)
SET_COUNT(set_heads, shape.heads)
SET_COUNT(set_kv_heads, shape.kv_heads)
SET_COUNT(set_block_q, tiling.B_r)
SET_COUNT(set_block_k, tiling.B_c)
SET_COUNT(set_splits, tiling.n_splits)
SET_COUNT(set_ctas_per_sm, ctas_per_sm)

static Status set_mask(void *target, const char *value, Error *error) {
  Request *r = target;
  if (!*value || strlen(value) >= sizeof r->mask)
    return error_set(error, STATUS_BAD_REQUEST,
                     "'%s' is no mask; there are strided:STRIDE, strided:STRIDE:BLOCK and files",
                     quote(value, strlen(value)).text);
  strcpy(r->mask, value);
  return STATUS_OK;
}

/* 1, or to which corner: bottom-right (1) or top-left. */
static Status set_causal(void *target, const char *value, Error *error) {
  Shape *shape = &((Request *)target)->shape;
  const bool top_left = strcmp(value, "top-left") == 0;
  if (!top_left && strcmp(value, "bottom-right") != 0 && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
    return error_set(error, STATUS_BAD_REQUEST,
                     "'%s' is no corner; a causal mask is aligned to bottom-right (the default) or top-left",
                     quote(value, strlen(value)).text);
  shape->causal = strcmp(value, "0") != 0;
  shape->top_left = top_left;
  return STATUS_OK;
}

/* A side of a window: -1, 0, or a number of keys. */
static Status window_side(const char *text, size_t length, int64_t *side, Error *error) {
  char copy[40];
  if (length == 0 || length >= sizeof copy)
    return error_set(error, STATUS_BAD_REQUEST, "a window is W, or LEFT,RIGHT with 0, -1 (no limit) or keys for each");
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
  Shape *shape = &((Request *)target)->shape;
  const char *comma = strchr(value, ',');
  shape->sided = comma != NULL;
  shape->window = shape->left = shape->right = 0;
  if (!comma) return size_parse_count(value, &shape->window, error);
  const Status status = window_side(value, (size_t)(comma - value), &shape->left, error);
  return status ? status : window_side(comma + 1, strlen(comma + 1), &shape->right, error);
}

static const char *const PACK_NAMES[PACK_COUNT] = {"auto", "on", "off"};

static Status set_pack(void *target, const char *value, Error *error) {
  for (int k = 0; k < PACK_COUNT; k++) {
    if (strcmp(value, PACK_NAMES[k]) != 0) continue;
    ((Request *)target)->pack = (Pack)k;
    return STATUS_OK;
  }
  return error_set(error, STATUS_BAD_REQUEST, "'%s' is no way to pack heads; there are auto, on and off",
                   quote(value, strlen(value)).text);
}

static Status set_lse(void *target, const char *value, Error *error) {
  return options_flag("lse", value, &((Request *)target)->tiling.lse, error);
}

static Status set_dtype(void *target, const char *value, Error *error) {
  if (dtype_from_name(value, &((Request *)target)->shape.dtype)) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST, "'%s' is no data type; there are fp32, fp16, bf16 and fp8",
                   quote(value, strlen(value)).text);
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

static Status set_text(char *out, size_t size, const char *what, const char *value, Error *error) {
  const size_t length = strlen(value);
  if (length == 0) return error_set(error, STATUS_BAD_REQUEST, "%s is empty", what);
  if (length >= size) return error_set(error, STATUS_BAD_REQUEST, "%s has more than %zu characters", what, size - 1);
  memcpy(out, value, length + 1);
  return STATUS_OK;
}

static Status set_gpu(void *target, const char *value, Error *error) {
  Request *r = target;
  return set_text(r->gpu, sizeof r->gpu, "the name of the GPU", value, error);
}

static Status set_kernel(void *target, const char *value, Error *error) {
  Request *r = target;
  return set_text(r->kernel, sizeof r->kernel, "the name of the kernel", value, error);
}

static Status set_order(void *target, const char *value, Error *error) {
  Request *r = target;
  r->has_order = launch_order_from_name(value, &r->order);
  if (r->has_order) return STATUS_OK;
  return error_set(
      error, STATUS_BAD_REQUEST,
      "'%s' is no order of CTAs; there are query-batch-head, query-head-batch, head-query-batch and head-batch-query "
      "(the first runs fastest)",
      quote(value, strlen(value)).text);
}

static Status set_walk(void *target, const char *value, Error *error) {
  Request *r = target;
  r->has_walk = launch_walk_from_name(value, &r->walk);
  if (r->has_walk) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST, "'%s' is no walk over K and V; there are forward and reversed",
                   quote(value, strlen(value)).text);
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
      quote(value, strlen(value)).text);
}

static Status set_scene(void *target, const char *value, Error *error) {
  static const char *const SCENES[] = {"main",     "tiles", "hierarchy", "softmax", "causal", "charts",
                                       "timeline", "code",  "race",      "warp",    "decode"};
  Request *r = target;
  for (size_t k = 0; k < sizeof SCENES / sizeof *SCENES; k++)
    if (strcmp(value, SCENES[k]) == 0) return set_text(r->scene, sizeof r->scene, "the scene", value, error);
  return error_set(error, STATUS_BAD_REQUEST,
                   "'%s' is no scene; there are main, tiles, hierarchy, softmax, causal, charts, timeline, code, race, "
                   "warp and decode",
                   quote(value, strlen(value)).text);
}

static Status set_chart(void *target, const char *value, Error *error) {
  static const char *const CHARTS[] = {"all", "traffic", "misses", "roofline", "blocks"};
  Request *r = target;
  for (size_t k = 0; k < sizeof CHARTS / sizeof *CHARTS; k++) {
    if (strcmp(value, CHARTS[k]) != 0) continue;
    snprintf(r->chart, sizeof r->chart, "%s", k ? value : ""); /* all is the default, which the state leaves out */
    return STATUS_OK;
  }
  return error_set(error, STATUS_BAD_REQUEST, "'%s' is no chart; there are all, traffic, misses, roofline and blocks",
                   quote(value, strlen(value)).text);
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
                     "'%s' is no step; give a number such as 122, or 122.25 to be between two",
                     quote(value, strlen(value)).text);
  memcpy(whole, value, length);
  whole[length] = '\0';
  int thousandths = 0;
  for (size_t k = 1; k <= 3; k++) thousandths = 10 * thousandths + (k <= digits ? point[k] - '0' : 0);
  const Status status = set_whole(whole, &r->step, error);
  if (!status) r->step_thousandths = thousandths;
  return status;
}

static Status set_row(void *target, const char *value, Error *error) {
  long long row;
  const Status status = options_count("the row", value, 1, INT32_MAX, &row, error);
  if (!status) ((Request *)target)->row = row;
  return status;
}

static Status set_q_scale(void *target, const char *value, Error *error) {
  long long scale;
  const Status status = options_count("what Q is multiplied by", value, 1, 1000, &scale, error);
  if (!status) ((Request *)target)->q_scale = scale;
  return status;
}

static Status set_without_max(void *target, const char *value, Error *error) {
  return options_flag("without-max", value, &((Request *)target)->without_max, error);
}

static Status set_seed(void *target, const char *value, Error *error) {
  return set_whole(value, &((Request *)target)->seed, error);
}

static Status name_algorithm(Request *r, const Schedule *schedule, Error *error) {
  for (int k = 0; k < r->n_algorithms; k++)
    if (r->algorithms[k] == schedule)
      return error_set(error, STATUS_BAD_REQUEST, "'%s' is named twice", schedule->name);
  if (r->n_algorithms == REQUEST_ALGORITHMS_MAX)
    return error_set(error, STATUS_BAD_REQUEST, "more than %d algorithms at once", REQUEST_ALGORITHMS_MAX);
  r->algorithms[r->n_algorithms++] = schedule;
  return STATUS_OK;
}

/* A word that begins the name of a kernel, as "fa3" does: whose algorithm it runs. False: there is none. */
static bool is_kernel(const char *word, const char *shown, Error *error) {
  DescriptionNames *known = malloc(sizeof *known);
  Profile *profile = malloc(sizeof *profile);
  bool found = false;
  if (known && profile && description_names("kernels", known, NULL) == STATUS_OK)
    for (int k = 0; !found && k < known->n; k++) {
      if (strncmp(known->names[k], word, strlen(word)) != 0) continue;
      if (description_kernel(known->names[k], profile, NULL)) continue;
      found = true;
      error_set(error, STATUS_BAD_REQUEST,
                "there is no algorithm '%s': %s is a kernel, which moves the tiles of %s; give --kernel %s "
                "--algorithm %s",
                shown, known->names[k], profile->schedule->name, known->names[k], profile->schedule->name);
    }
  free(profile);
  free(known);
  return found;
}

static Status unknown_algorithm(const char *word, const char *shown, Error *error) {
  Nearest nearest = {.word = word};
  char all[128] = "", meant[160];
  for (int k = 0; k < N_SCHEDULES; k++) {
    nearest_offer(&nearest, SCHEDULES[k]->name);
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", k ? ", " : "", SCHEDULES[k]->name);
  }
  if (*word && !nearest.n_parts && is_kernel(word, shown, error)) return error->status;
  nearest_list(&nearest, meant, sizeof meant);
  return error_set(error, STATUS_BAD_REQUEST, "there is no algorithm '%s'%s%s%s; there are %s", shown,
                   *meant ? " (did you mean " : "", meant, *meant ? "?)" : "", all);
}

static Status add_algorithm(Request *r, const char *name, size_t length, Error *error) {
  if (own_program_is_path(name, length)) {
    char path[512];
    if (length >= sizeof path)
      return error_set(error, STATUS_BAD_REQUEST, "'%s' is too long for a path", quote(name, length).text);
    snprintf(path, sizeof path, "%.*s", (int)length, name);
    const Schedule *own;
    const Status status = own_program_read(path, &own, error);
    return status ? status : name_algorithm(r, own, error);
  }
  char copy[32];
  snprintf(copy, sizeof copy, "%.*s", (int)(length < sizeof copy ? length : sizeof copy - 1), name);
  const Schedule *schedule = length < sizeof copy ? schedule_find(copy) : NULL;
  if (!schedule) return unknown_algorithm(copy, quote(name, length).text, error);
  return name_algorithm(r, schedule, error);
}

static Status set_algorithm(void *target, const char *value, Error *error) {
  Request *r = target;
  r->n_algorithms = 0;
  if (strcmp(value, "all") == 0) {
    for (int k = 0; k < N_SCHEDULES; k++) r->algorithms[r->n_algorithms++] = SCHEDULES[k];
    return STATUS_OK;
  }
  for (const char *p = value;;) {
    const size_t length = strcspn(p, ",");
    const Status status = add_algorithm(r, p, length, error);
    if (status) return status;
    if (!p[length]) return STATUS_OK;
    p += length + 1;
  }
}

/* ---- Tables --------------------------------------------------------------------------------------- */

const Option REQUEST_SHAPE_OPTIONS[] = {
    {"seq-len", 'N', "N",
     "Sequence length: queries, and keys too unless --seq-len-k says otherwise. 4K is 4096. Default 4096.", set_N_q,
     false, false, NULL},
    {"seq-len-k", 0, "N", "Number of keys, when it differs from the number of queries (decode: -N 1 --seq-len-k 8K).",
     set_N_k, false, false, NULL},
    {"head-dim", 'd', "D", "Head dimension. Default 128.", set_d, false, false, NULL},
    {"head-dim-v", 0, "D", "Head dimension of V and O, where it is another one (MLA: -d 192 --head-dim-v 128).",
     set_d_v, false, false, NULL},
    {"batch", 0, "COUNT", "Batch size. Default 1.", set_batch, false, false, NULL},
    {"heads", 0, "COUNT", "Query heads. Default 1.", set_heads, false, false, NULL},
    {"kv-heads", 0, "COUNT", "Key and value heads: fewer than --heads is GQA, 1 is MQA. Default: as many as --heads.",
     set_kv_heads, false, false, NULL},
    {"dtype", 0, "TYPE", "Data type of Q, K, V, S, P, O: fp32, fp16, bf16 or fp8. Default fp16.", set_dtype, false,
     false, "fp32 fp16 bf16 fp8"},
    {"causal", 0, "[=CORNER]",
     "A query sees the keys up to its own position. Where there are more keys than queries, the last query sees all: "
     "aligned to bottom-right, the default. --causal=top-left: query i sees keys 0 to i.",
     set_causal, false, false, "top-left bottom-right"},
    {"mask", 0, "KIND|FILE",
     "Blocks that may be seen, besides --causal and --window: strided:4 (every fourth block of 64), strided:4:128, or "
     "a file whose lines are of '#' and '.' signs.",
     set_mask, false, false, "strided:4"},
    {"window", 0, "W|LEFT,RIGHT",
     "Sliding window. LEFT,RIGHT: so many keys before a query's own position and after it, -1 for no limit, as "
     "FlashAttention's window_size. W: keys less than W away, on both sides: 2 W - 1 of them, with --causal W.",
     set_window, false, false, NULL},
    {0},
};

const Option REQUEST_TILING_OPTIONS[] = {
    {"algorithm", 0, "LIST",
     "Algorithms, separated by commas: standard, fa1, fa2, fa2-split, all, or a program of your own: ./mine.walk.",
     set_algorithm, false, false, "@algorithms"},
    {"block", 0, "B",
     "Rows of Q and of K, V in a tile: B_r = B_c = B. 'paper' takes the sizes of FlashAttention's Algorithm 1. "
     "Default: the largest power of two up to 128 that fits.",
     set_block, false, false, NULL},
    {"block-q", 0, "B_r", "Rows of Q in a tile (also --br).", set_block_q, false, false, NULL},
    {"br", 0, "B_r", NULL, set_block_q, false, false, NULL},
    {"block-k", 0, "B_c", "Rows of K and V in a tile (also --bc).", set_block_k, false, false, NULL},
    {"bc", 0, "B_c", NULL, set_block_k, false, false, NULL},
    {"kernel", 0, "NAME|FILE",
     "Tile and launch as a known kernel does (fa2-sm90, cudnn-sm90, mem-efficient-sm90, fa3-sm90, fa2_async, ...: "
     "assets/kernels) or as a description file says; blocks given beside it win.",
     set_kernel, false, false, "@kernels"},
    {"pack-gqa", 0, "WHEN",
     "Where query heads share K and V, make those of a KV head rows of one tile, so that each key is read once for "
     "all: "
     "auto (as the kernel does; without one, where rows of a tile would lie idle, and where keys are split), on or "
     "off. "
     "Default auto.",
     set_pack, false, false, "auto on off"},
    {"splits", 0, "COUNT", "fa2-split: into how many parts the keys are split. Default: enough to fill the machine.",
     set_splits, false, false, NULL},
    {"lse", 0, NULL, "fa2, fa2-split: also write the N log-sum-exp values that training needs.", set_lse, false, false,
     NULL},
    {0},
};

const Option REQUEST_MACHINE_OPTIONS[] = {
    {"sram", 0, "SIZE", "SRAM for one CTA's tiles, such as 192K or 96KiB. Default: the machine's.", set_sram, false,
     false, NULL},
    {"gpu", 0, "NAME|FILE",
     "The machine: a name from 'tilewalk gpus', or a description file; sim takes several, with commas, and shows them "
     "side by "
     "side. Default: paper.",
     set_gpu, false, false, "@gpus"},
    {"state", 0, "LINE", "All of the above as one line, 'N=64 d=16 block=8 causal=1'; options given beside it win.",
     options_set_state, false, false, NULL},
    {"seed", 0, "SEED", "Seed of random inputs.", set_seed, false, true, NULL},
    {"scene", 0, "SCENE", "Which scene to show.", set_scene, false, true, NULL},
    {"chart", 0, "CHART", "Which of the charts.", set_chart, false, true, NULL},
    {"step", 0, "STEP", "At which step.", set_step, false, true, NULL},
    {"row", 0, "ROW", "Which row.", set_row, false, true, NULL},
    {"without-max", 0, NULL, "Softmax without the maximum.", set_without_max, false, true, NULL},
    {"q-scale", 0, "COUNT", "What Q is multiplied by.", set_q_scale, false, true, NULL},
    {0},
};

const Option REQUEST_EXPERT_OPTIONS[] = {
    {"ctas-per-sm", 0, "COUNT",
     "CTAs that an SM runs at once, for L2. Default: what the kernel, or its tiles, leave room for.", set_ctas_per_sm,
     false, false, NULL},
    {"order", 0, "ORDER",
     "How CTAs are numbered, for L2; the first word runs fastest. Default: the kernel's, or query-head-batch.",
     set_order, false, false, "query-batch-head query-head-batch head-query-batch head-batch-query"},
    {"walk", 0, "WALK", "Over K and V, for L2: forward or reversed. Default: the kernel's, or forward.", set_walk,
     false, false, "forward reversed"},
    {"pace", 0, "PACE",
     "How CTAs advance, for L2: time (each by its arithmetic and by what it waits for), step (all in step), or skew:N, "
     "where the last "
     "of the first wave begins N tiles after the first. Default time.",
     set_pace, false, false, "time step skew:8 skew:64"},
    {"without", 0, "PART,...",
     "Leave parts of the model of L2 out, to see what they explain: clock, partitions, coalescer, ... "
     "(sim/l2/MODEL.md lists all).",
     set_without, false, false, "clock partitions coalescer placement sets"},
    {0},
};

const Option REQUEST_SCENE_OPTIONS[] = {
    {"scene", 0, "SCENE",
     "main, tiles, hierarchy, softmax, causal, charts, timeline, code, warp or decode. Default main.", set_scene, false,
     false, "main tiles hierarchy softmax causal charts timeline code warp decode"},
    {"chart", 0, "CHART", "Which chart fills the charts scene: traffic, misses, roofline or blocks. Default all.",
     set_chart, false, false, "all traffic misses roofline blocks"},
    {"step", 0, "STEP", "The moment after so many events; 122.25 is a quarter of the way to the next. Default 0.",
     set_step, false, false, NULL},
    {"seed", 0, "SEED", "Seed of Q, K and V. Default 0.", set_seed, false, false, NULL},
    {"row", 0, "ROW", "Which row of a row block the softmax shows, from 1. Default: the middle one.", set_row, false,
     false, NULL},
    {"without-max", 0, NULL, "Leave the maximum out of the softmax, and see what overflows.", set_without_max, false,
     false, NULL},
    {"q-scale", 0, "COUNT",
     "Multiply Q, and so the scores. Default 1; without the maximum 6, so that something overflows.", set_q_scale,
     false, false, NULL},
    {0},
};

/* ---- From request to problem ---------------------------------------------------------------------- */

static Status resolve_blocks(const Request *r, Problem *p, Error *error) {
  const bool one = r->block || r->algorithm1_blocks;
  if (one && (r->tiling.B_r || r->tiling.B_c))
    return error_set(error, STATUS_BAD_REQUEST,
                     "--block sets both sides of a tile, and --block-q or --block-k sets one of them "
                     "again; give either");
  if (r->block) p->tiling.B_r = p->tiling.B_c = r->block;
  if (r->algorithm1_blocks) {
    const Tiling t = tiling_algorithm1(p->machine.sram_bytes, dtype_bytes(p->shape.dtype), p->shape.d);
    p->tiling.B_r = t.B_r;
    p->tiling.B_c = t.B_c;
  }
  return STATUS_OK;
}

/* Whether the algorithm of the run splits the keys. */
static bool names_split(const Request *r) { return r->n_algorithms == 1 && r->algorithms[0]->splits; }

/* The launch: the kernel's, or a usual one; single options override it. The kernel's blocks hold where none are given.
 */
static Status resolve_launch(const Request *r, const Gpu *gpu, Problem *p, Error *error) {
  LaunchConfig c = {.order = ORDER_QUERY_HEAD_BATCH, .rows = ROWS_LONGEST_FIRST};
  if (*r->kernel) {
    Profile *const profile = calloc(1, sizeof *profile);
    if (!profile) return error_set(error, STATUS_NO_MEMORY, "no memory for a kernel description");
    Status status = description_kernel(r->kernel, profile, error);
    if (!status) status = profile_config(profile, &p->shape, &c, error);
    if (!status && profile->lse) p->tiling.lse = true;
    if (!status && names_split(r)) {
      if (!p->tiling.n_splits) p->tiling.n_splits = profile_splits(profile, &p->shape, gpu->n_sm);
      profile_become_split(profile, &p->shape, p->tiling.n_splits, &c);
    }
    free(profile);
    if (status) return status;
    if (p->tiling.B_r == 0) p->tiling.B_r = c.block_q;
    if (p->tiling.B_c == 0) p->tiling.B_c = c.block_k;
  }
  if (r->ctas_per_sm > 4096)
    return error_set(error, STATUS_BAD_REQUEST, "%" PRId64 " CTAs on an SM are not possible; give 1 to 4096",
                     r->ctas_per_sm);
  if (strcmp(gpu->compute_capability, "9.0") != 0) c.spill_tile_bytes = c.spill_block_bytes = 0; /* of builds for 9.0 */
  if (r->ctas_per_sm) { /* what was asked for, unless the kernel is known to need more */
    Occupancy most;
    const Status status = *r->kernel && gpu->l2_bytes ? launch_occupancy(&most, &c, gpu, error) : STATUS_OK;
    if (status) return status;
    if (*r->kernel && gpu->l2_bytes && r->ctas_per_sm > most.ctas_per_sm)
      return error_set(error, STATUS_BAD_REQUEST,
                       "an SM of %s has room for %" PRId64 " CTAs of this kernel (%s), not %" PRId64, gpu->name,
                       most.ctas_per_sm, occupancy_limit_name(most.binds), r->ctas_per_sm);
    c.ctas_per_sm = r->ctas_per_sm;
    if (!*r->kernel) c.threads = c.registers_per_thread = c.shared_bytes = 0;
  }
  if (r->has_order) c.order = r->order;
  if (r->has_walk) c.walk = r->walk;
  p->launch = c;
  p->in_step = r->in_step;
  p->without = r->without;
  p->skew_turns = r->skew_turns;
  return STATUS_OK;
}

Status request_problem(const Request *r, Problem *problem, Gpu *gpu, Error *error) {
  Gpu *const loaded = calloc(1, sizeof *loaded);
  if (!loaded) return error_set(error, STATUS_NO_MEMORY, "no memory for a GPU description");
  Problem p = {.shape = r->shape, .tiling = r->tiling, .pack = r->pack};
  if (p.shape.N_q == 0) p.shape.N_q = DEFAULT_N;
  if (p.shape.d == 0) p.shape.d = DEFAULT_D;
  Status status = shape_complete(&p.shape, error);
  if (!status && p.pack == PACK_ON && p.shape.heads == p.shape.kv_heads)
    status =
        error_set(error, STATUS_BAD_REQUEST,
                  "--pack-gqa on has no effect here: every query head has K and V of its own; give fewer --kv-heads "
                  "than --heads");
  if (!status) status = description_gpu(r->gpu, loaded, error);
  if (!status) {
    snprintf(p.machine.name, sizeof p.machine.name, "%.*s", MACHINE_NAME_BYTES - 1, loaded->name);
    p.machine.sram_bytes = r->sram_bytes ? r->sram_bytes : loaded->shared_bytes_per_cta;
    p.machine.l2_bytes = loaded->l2_bytes;
    p.machine.n_SM = loaded->n_sm;
    if (strcmp(loaded->vendor, "none") != 0) { /* teaching machines keep all tiles in SRAM, as the papers do */
      p.machine.register_bytes = 4 * loaded->registers_per_sm;
      p.machine.tensor_memory_bytes = loaded->tensor_memory_bytes;
    }
    status = resolve_blocks(r, &p, error);
  }
  if (!status && *r->mask) status = own_mask(r->mask, p.shape.N_q, p.shape.N_k, &p.shape.pattern, error);
  if (!status) status = resolve_launch(r, loaded, &p, error);
  if (!status) {
    *problem = p;
    if (gpu) *gpu = *loaded;
  }
  free(loaded);
  return status;
}

Status request_has_effect(const Request *r, const Gpu *gpu, Error *error) {
  const char *option = r->ctas_per_sm ? "--ctas-per-sm"
                       : r->has_order ? "--order"
                       : r->has_walk  ? "--walk"
                       : r->in_step   ? "--pace"
                                      : NULL;
  if (!option || gpu->l2_bytes > 0) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST,
                   "%s has no effect here: %s has no L2 whose traffic it could change; name a GPU with --gpu", option,
                   gpu->name);
}

Status request_set_algorithms(Request *r, const char *names, Error *error) { return set_algorithm(r, names, error); }

static const Schedule *splitting_schedule(void) {
  for (int k = 0; k < N_SCHEDULES; k++)
    if (SCHEDULES[k]->splits) return SCHEDULES[k];
  return NULL;
}

/* The algorithm that a kernel follows here: small grids go to the one that splits the keys, where its description has
 * one. */
static Status algorithm_of_kernel(const Request *r, const Profile *profile, const Schedule **schedule, Error *error) {
  *schedule = profile->schedule;
  Shape shape = r->shape;
  if (shape.N_q == 0) shape.N_q = DEFAULT_N;
  if (shape.d == 0) shape.d = DEFAULT_D;
  if (r->block || r->tiling.B_r || r->tiling.B_c || r->algorithm1_blocks || *r->mask) return STATUS_OK;
  if (shape_complete(&shape, NULL)) return STATUS_OK; /* said where the problem is made */
  if (r->pack == PACK_OFF) shape.kv_heads = shape.heads;
  Gpu *const gpu = calloc(1, sizeof *gpu);
  if (!gpu) return error_set(error, STATUS_NO_MEMORY, "no memory for a GPU description");
  const Status status = description_gpu(r->gpu, gpu, error);
  const bool splits = r->tiling.n_splits > 1 || (!r->tiling.n_splits && profile_splits(profile, &shape, gpu->n_sm) > 1);
  free(gpu);
  if (!status && splits && profile->splitting != SPLITTING_NEVER) *schedule = splitting_schedule();
  return status;
}

/* A kernel follows one algorithm: the default, and what must be among those that are named. */
static Status kernel_algorithm(Request *r, Error *error) {
  Profile *const profile = calloc(1, sizeof *profile);
  if (!profile) return error_set(error, STATUS_NO_MEMORY, "no memory for a kernel description");
  const Schedule *follows = NULL;
  Status status = description_kernel(r->kernel, profile, error);
  if (!status) status = algorithm_of_kernel(r, profile, &follows, error);
  if (!status && r->n_algorithms == 0) r->algorithms[r->n_algorithms++] = follows;
  bool named = false;
  for (int k = 0; k < r->n_algorithms; k++)
    named = named || r->algorithms[k] == profile->schedule || (profile->splitting != SPLITTING_NEVER && names_split(r));
  if (!status && !named)
    status = error_set(error, STATUS_BAD_REQUEST,
                       "--kernel %s follows %s, which --algorithm does not name; leave one of them out",
                       quote(r->kernel, strlen(r->kernel)).text, profile->schedule->name);
  free(profile);
  return status;
}

Status request_algorithms(Request *r, RequestDefault which, Error *error) {
  const Status status = *r->kernel ? kernel_algorithm(r, error) : STATUS_OK;
  if (status) return status;
  if (r->n_algorithms == 0 && which == REQUEST_COMPARED)
    r->n_algorithms = shipped_compared(r->algorithms, (int)(sizeof r->algorithms / sizeof *r->algorithms));
  if (r->n_algorithms == 0) r->algorithms[r->n_algorithms++] = shipped_default();
  char names[128];
  bool splits = false, lse = false;
  for (int k = 0; k < r->n_algorithms; k++) {
    splits = splits || r->algorithms[k]->splits;
    lse = lse || r->algorithms[k]->writes_lse;
  }
  if (r->tiling.n_splits && !splits)
    return error_set(error, STATUS_BAD_REQUEST,
                     "--splits has no effect here: only %s splits the keys; add --algorithm %s",
                     shipped_names(SHIPPED_SPLITS, " and ", names, sizeof names), shipped_splitting()->name);
  if (r->tiling.lse && !lse)
    return error_set(error, STATUS_BAD_REQUEST, "--lse has no effect here: only %s write it; name one with --algorithm",
                     shipped_names(SHIPPED_WRITES_LSE, " and ", names, sizeof names));
  return STATUS_OK;
}

/* ---- From request to scene ------------------------------------------------------------------------ */

void request_choose_small(Request *r) {
  if (r->shape.N_q || r->shape.N_k || r->shape.d || r->block || r->tiling.B_r || r->tiling.B_c || r->algorithm1_blocks)
    return;
  r->shape.N_q = 64;
  r->shape.d = 16;
  r->shape.causal = true;
  r->block = 8;
}

/* The algorithm whose steps are walked. Of several, which race, the one that moves most: when it is done, all are. */
static Status choose_shown(const Request *r, StageConfig *config, Error *error) {
  Wide most = 0;
  config->schedule = r->algorithms[0];
  for (int k = 0; k < r->n_algorithms && r->n_algorithms > 1; k++) {
    Simulation run;
    Problem head = config->problem;
    const Status status = simulate(&run, &head, r->algorithms[k], error);
    if (status) return status;
    config->rivals[config->n_rivals++] = r->algorithms[k];
    if (run.total_bytes <= most) continue;
    most = run.total_bytes;
    config->schedule = r->algorithms[k];
  }
  return STATUS_OK;
}

Status request_stage(Request *r, bool without_max, int64_t row_in_block, Stage *stage, Error *error) {
  StageConfig config = {.seed = (uint64_t)r->seed,
                        .l2_later = r->l2_later,
                        .row_in_block = row_in_block ? row_in_block : r->row,
                        .without_max = without_max,
                        .q_scale = r->q_scale};
  memset(stage, 0, sizeof *stage);
  Status status = request_algorithms(r, REQUEST_ONE, error);
  if (status) return status;
  if (r->n_algorithms > SNAPSHOT_RUNS_MAX)
    return error_set(error, STATUS_BAD_REQUEST, "a race has at most %d algorithms; name fewer with --algorithm",
                     SNAPSHOT_RUNS_MAX);
  if ((status = request_problem(r, &config.problem, &config.gpu, error))) return status;
  if ((status = choose_shown(r, &config, error))) return status;
  if ((status = stage_make(stage, &config, error))) return status;
  if ((uint64_t)r->step > stage->n_steps)
    return error_set(error, STATUS_BAD_REQUEST, "step %" PRId64 " is beyond the end: %s has %s steps here", r->step,
                     config.schedule->name, number_count(stage->n_steps).text);
  return STATUS_OK;
}

/* ---- The one-line state --------------------------------------------------------------------------- */

static void put(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(char *text, const char *format, ...) {
  const size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, REQUEST_STATE_BYTES - used, format, arguments);
  va_end(arguments);
}

static void put_count(char *text, const char *key, int64_t value, int64_t left_out) {
  if (value != left_out) put(text, " %s=%" PRId64, key, value);
}

/* "step=122.25", without zeros at its end. */
static void put_between(char *text, const Request *r) {
  int digits = 3, part = r->step_thousandths;
  for (; part % 10 == 0; part /= 10) digits--;
  put(text, " step=%" PRId64 ".%0*d", r->step, digits, part);
}

const char *request_state(const Request *r, char text[REQUEST_STATE_BYTES]) {
  text[0] = '\0';
  for (int k = 0; k < r->n_algorithms; k++)
    put(text, "%s%s", k ? "," : " algorithm=", own_program_word(r->algorithms[k]));
  put(text, " N=%" PRId64, r->shape.N_q ? r->shape.N_q : DEFAULT_N);
  put_count(text, "seq-len-k", r->shape.N_k, 0);
  put(text, " d=%" PRId64, r->shape.d ? r->shape.d : DEFAULT_D);
  put_count(text, "head-dim-v", r->shape.d_v, 0);
  put_count(text, "batch", r->shape.batch, 0);
  put_count(text, "heads", r->shape.heads, 0);
  put_count(text, "kv-heads", r->shape.kv_heads, 0);
  if (r->shape.dtype != DTYPE_FP16) put(text, " dtype=%s", dtype_name(r->shape.dtype));
  if (r->shape.causal) put(text, r->shape.top_left ? " causal=top-left" : " causal=1");
  if (r->shape.sided) put(text, " window=%" PRId64 ",%" PRId64, r->shape.left, r->shape.right);
  put_count(text, "window", r->shape.window, 0);
  if (*r->mask) put(text, " mask=%s", r->mask);
  if (r->algorithm1_blocks) put(text, " block=paper");
  put_count(text, "block", r->block, 0);
  put_count(text, "block-q", r->tiling.B_r, 0);
  put_count(text, "block-k", r->tiling.B_c, 0);
  if (r->pack != PACK_AUTO) put(text, " pack-gqa=%s", PACK_NAMES[r->pack]);
  put_count(text, "splits", r->tiling.n_splits, 0);
  if (r->tiling.lse) put(text, " lse=1");
  put_count(text, "sram", r->sram_bytes, 0);
  if (*r->gpu) put(text, " gpu=%s", r->gpu);
  if (*r->kernel) put(text, " kernel=%s", r->kernel);
  put_count(text, "ctas-per-sm", r->ctas_per_sm, 0);
  if (r->has_order) put(text, " order=%s", launch_order_name(r->order));
  if (r->in_step && r->skew_turns)
    put(text, " pace=skew:%" PRId64, r->skew_turns);
  else if (r->in_step)
    put(text, " pace=step");
  if (r->without) {
    char parts[REFINEMENTS_TEXT_BYTES];
    refinements_text(r->without, parts, sizeof parts);
    put(text, " without=%s", parts);
  }
  if (r->has_walk) put(text, " walk=%s", launch_walk_name(r->walk));
  put_count(text, "seed", r->seed, 0);
  if (*r->scene) put(text, " scene=%s", r->scene);
  if (*r->chart) put(text, " chart=%s", r->chart);
  if (r->step_thousandths)
    put_between(text, r);
  else
    put_count(text, "step", r->step, 0);
  put_count(text, "row", r->row, 0);
  if (r->without_max) put(text, " without-max=1");
  put_count(text, "q-scale", r->q_scale, 0);
  memmove(text, text + 1, strlen(text));
  return text;
}

/* ---- Output --------------------------------------------------------------------------------------- */

static Status set_json(void *target, const char *value, Error *error) {
  return options_flag("json", value, &((OutputRequest *)target)->json, error);
}

static Status set_csv(void *target, const char *value, Error *error) {
  return options_flag("csv", value, &((OutputRequest *)target)->csv, error);
}

static Status set_output(void *target, const char *value, Error *error) {
  OutputRequest *o = target;
  return set_text(o->output, sizeof o->output, "the file name", value, error);
}

const Option OUTPUT_FORMAT_OPTIONS[] = {
    {"json", 0, NULL, "Print JSON.", set_json, false, false, NULL},
    {"csv", 0, NULL, "Print CSV with a heading line.", set_csv, false, false, NULL},
    {0},
};

const Option OUTPUT_FILE_OPTIONS[] = {
    {"output", 'o', "FILE", "Write to FILE.", set_output, false, false, NULL},
    {0},
};

Status output_request_check(const OutputRequest *output, Error *error) {
  if (output->json && output->csv)
    return error_set(error, STATUS_BAD_REQUEST, "--json and --csv are two formats for one output; give one of them");
  return STATUS_OK;
}
