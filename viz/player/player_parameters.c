#include "sim/base/text_add.h"
#include "sim/algorithms/shipped.h"
#include "viz/player/player.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "viz/request/description.h"
#include "viz/text/number.h"

/* Keys of the state line; a whole problem has none. */
static const char *const KEYS[PARAMETER_COUNT] = {"",        "algorithm", "N",   "d",     "block-q",
                                                  "block-k", "sram",      "gpu", "heads", "dtype"};

static const Option *row_of(Parameter which) { return option_named(QUESTION_SETS, KEYS[which], strlen(KEYS[which])); }

const char *parameter_wants(Parameter which) {
  const Option *row = row_of(which);
  return row ? row->help : "";
}

/* ---- Whole problems -------------------------------------------------------------------------------------- */

static const struct {
  const char *name, *line, *remark;
  const Schedule *(*algorithm)(void); /* NULL: the default one */
} PRESETS[] = {
    {"first look", "N=64 d=16 causal=1 block=8", "8 x 8 tiles, small enough to follow every one", NULL},
    {"naive", "N=64 d=16 block=8", "S and P go to HBM and come back", shipped_unfused},
    {"ragged", "N=100 d=24 causal=1 block-q=16 block-k=32", "nothing divides anything", NULL},
    {"GPT-2 small", "N=1024 d=64 heads=12 causal=1 block=128", "12 heads of 64, 1,024 tokens", NULL},
    {"Llama 3 8B", "N=8192 d=128 heads=32 kv-heads=8 dtype=bf16 causal=1 block-q=128 block-k=64",
     "GQA: 32 query heads share 8 of K and V", NULL},
    {"sliding window", "N=16384 d=128 causal=1 window=4096 block=128", "a query sees 4,096 keys", NULL},
    {"decode", "N=1 seq-len-k=8192 d=128 block-q=1 block-k=128 splits=8",
     "one new token against 8,192 keys, in 8 parts", shipped_splitting},
    {"long context", "N=65536 d=128 causal=1 block=64", "1,024 x 1,024 tiles", NULL},
    {"too large a block", "N=4096 d=128 block=512", "the tiles do not fit SRAM", NULL},
};
enum { N_PRESETS = sizeof PRESETS / sizeof *PRESETS };

static void preset_line(int k, char *line, size_t size) {
  const Schedule *s = PRESETS[k].algorithm ? PRESETS[k].algorithm() : shipped_default();
  snprintf(line, size, "algorithm=%s %s", s->name, PRESETS[k].line);
}

/* The one whose line the state is, but for seed and place; or -1. Their lines are in the state's order. */
static int present_preset(const Player *p) {
  char now[REQUEST_STATE_BYTES], line[256];
  player_state(p, now);
  for (int k = 0; k < N_PRESETS; k++) {
    preset_line(k, line, sizeof line);
    const size_t length = strlen(line);
    const char *rest = now + length;
    if (strncmp(now, line, length) != 0) continue;
    if (!*rest || !strncmp(rest, " seed=", 6) || !strncmp(rest, " scene=", 7) || !strncmp(rest, " step=", 6)) return k;
  }
  return -1;
}

static bool set_preset(Player *p, const char *name) {
  for (int k = 0; k < N_PRESETS; k++) {
    if (strcmp(PRESETS[k].name, name) != 0) continue;
    const Request fresh = {.seed = p->request.seed};
    char line[256];
    preset_line(k, line, sizeof line);
    if (!player_take_line(p, &fresh, line)) return false;
    const bool fits = p->now.fits;
    char reason[ERROR_MESSAGE_BYTES];
    memcpy(reason, p->message, sizeof reason);
    player_seek(p, 0);
    if (!fits) player_say(p, true, "%s", reason);
    return true;
  }
  player_say(p, true, "There is no such problem in the list");
  return false;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

const char *parameter_value(const Player *p, Parameter which, char text[PARAMETER_VALUE_BYTES]) {
  const SnapshotGrid *g = &p->now.grid;
  const Shape *shape = &p->request.shape;
  const int64_t heads = shape->heads ? shape->heads : 1;
  const int preset = which == PARAMETER_PRESET ? present_preset(p) : -1;
  const char *name = "";
  Number value = {""};
  switch (which) {
  case PARAMETER_PRESET: name = preset < 0 ? "own problem" : PRESETS[preset].name; break;
  case PARAMETER_ALGORITHM: name = p->request.algorithms[0]->name; break;
  case PARAMETER_N: value = number_tokens(wide(g->N_q)); break;
  case PARAMETER_D: value = number_count(wide(g->d)); break;
  case PARAMETER_BLOCK_Q: value = number_digits(wide(g->B_r)); break;
  case PARAMETER_BLOCK_K: value = number_digits(wide(g->B_c)); break;
  case PARAMETER_SRAM: value = number_bytes(p->now.sram_capacity_bytes); break;
  case PARAMETER_GPU: name = *p->request.gpu ? p->request.gpu : "paper"; break;
  case PARAMETER_HEADS:
    value = number_digits(wide(heads));
    if (shape->kv_heads && shape->kv_heads != heads) value = number_text("%s/%" PRId64, value.text, shape->kv_heads);
    break;
  case PARAMETER_DTYPE: name = dtype_name(shape->dtype); break;
  default: break;
  }
  snprintf(text, PARAMETER_VALUE_BYTES, which == PARAMETER_GPU ? "%.60s%s" : "%s%s", name, value.text);
  return text;
}

/* ---- Typing ---------------------------------------------------------------------------------------------- */

/* Options that the algorithm would refuse. */
static void drop_what_it_ignores(Request *r, const Schedule *schedule) {
  r->kernel[0] = '\0'; /* it follows one algorithm */
  if (schedule && !schedule->splits) r->tiling.n_splits = 0;
  if (schedule && !schedule->writes_lse) r->tiling.lse = false;
}

bool parameter_set(Player *p, Parameter which, const char *text) {
  char line[2 * PLAYER_ENTRY_BYTES];
  if (which == PARAMETER_PRESET) return set_preset(p, text);
  snprintf(line, sizeof line, "%s=", KEYS[which]);
  Request r = p->request;
  for (; *text && strlen(line) < PLAYER_ENTRY_BYTES; text++) {
    const bool is_gqa = which == PARAMETER_HEADS && *text == '/';                       /* 32/8 */
    if (*text != ' ') text_add(line, sizeof line, is_gqa ? " kv-heads=" : "%c", *text); /* 96 KiB */
  }
  if (which == PARAMETER_GPU || which == PARAMETER_SRAM) r.sram_bytes = 0;           /* a GPU brings its own */
  if (strcmp(line, "sram=machine") == 0 || strcmp(line, "sram=") == 0) *line = '\0'; /* the default */
  if (which == PARAMETER_HEADS) r.shape.kv_heads = 0;
  if (which == PARAMETER_ALGORITHM) drop_what_it_ignores(&r, schedule_find(strchr(line, '=') + 1));
  if (which == PARAMETER_BLOCK_Q || which == PARAMETER_BLOCK_K) { /* the other side stays */
    r.block = 0;
    r.algorithm1_blocks = r.largest_block = false;
    r.tiling.B_r = p->now.grid.B_r;
    r.tiling.B_c = p->now.grid.B_c;
  }
  return player_take_line(p, &r, line);
}

/* ---- Steps ----------------------------------------------------------------------------------------------- */

void parameter_scale_N(Player *p, int direction) {
  Request r = p->request;
  int64_t *const N[] = {&r.shape.N_q, &r.shape.N_k};
  r.shape.N_q = p->now.grid.N_q;
  if (direction < 0 && r.shape.N_q <= 1) {
    player_say(p, true, "Not possible: N is 1, and there is nothing smaller");
    return;
  }
  for (int k = 0; k < 2; k++)
    if (*N[k]) *N[k] = direction > 0 ? *N[k] * 2 : max64(1, *N[k] / 2);
  player_apply(p, &r);
}

void parameter_next_algorithm(Player *p, int direction) {
  int at = 0;
  while (at < N_PROGRAMS && SCHEDULES[at] != p->request.algorithms[0]) at++;
  for (int k = 1; k < N_PROGRAMS; k++)
    if (parameter_set(p, PARAMETER_ALGORITHM, SCHEDULES[(at + N_PROGRAMS + direction * k) % N_PROGRAMS]->name)) return;
}

/* ---- Lists ----------------------------------------------------------------------------------------------- */

static void add_choice(Choice *choices, int *n, const char *name, const char *remark) {
  if (*n == CHOICES_MAX) return;
  snprintf(choices[*n].name, sizeof choices->name, "%s", name);
  snprintf(choices[(*n)++].remark, sizeof choices->remark, "%s", remark);
}

int parameter_choices(const Player *p, Parameter which, Choice choices[CHOICES_MAX], int *at) {
  DescriptionNames *names = which == PARAMETER_GPU ? calloc(1, sizeof *names) : NULL;
  const Option *row = row_of(which);
  char now[PARAMETER_VALUE_BYTES], bytes[32] = "";
  int n = 0;
  if (names && !description_names("gpus", names, NULL))
    for (int k = 0; k < names->n; k++) add_choice(choices, &n, names->names[k], "");
  for (int k = 0; which == PARAMETER_PRESET && k < N_PRESETS; k++)
    add_choice(choices, &n, PRESETS[k].name, PRESETS[k].remark);
  for (int k = 0; which == PARAMETER_ALGORITHM && k < N_PROGRAMS; k++) add_choice(choices, &n, SCHEDULES[k]->name, "");
  for (int k = 0; row && row->names && row->names[k]; k++) {
    if (which == PARAMETER_DTYPE) snprintf(bytes, sizeof bytes, "%d bytes an element", (int)dtype_bytes((Dtype)k));
    add_choice(choices, &n, row->names[k], bytes);
  }
  parameter_value(p, which, now);
  *at = n - 1;
  while (*at > 0 && strcmp(choices[*at].name, now) != 0) --*at;
  free(names);
  return n;
}
