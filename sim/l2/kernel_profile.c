#include "sim/l2/kernel_profile.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/nearest.h"
#include "sim/base/quote.h"
#include "sim/algorithms/language/read.h"
#include "sim/algorithms/shipped.h"

const int64_t PROFILE_D[PROFILE_D_COUNT] = {64, 96, 128, 192, 256};

#define TEXT(key, member, required, help)                                                                              \
  { key, KEYFILE_TEXT, offsetof(Profile, member), required, 0, 0, help }
#define COUNT(key, member, max, help)                                                                                  \
  { key, KEYFILE_COUNT, offsetof(Profile, member), false, 1, max, help }

#define BYTES(key, member, help)                                                                                       \
  { key, KEYFILE_BYTES, offsetof(Profile, member), false, 1, 1e9, help }

/* The rows of one tile. Ranges hold anything a GPU could run, and catch a wrong unit. */
#define TILE(prefix, d, causal)                                                                                        \
  COUNT(prefix "block_q", tiles[d][causal].block_q, 65536, "rows of Q in a tile (B_r)"),                               \
      COUNT(prefix "block_k", tiles[d][causal].block_k, 65536, "rows of K and V in a tile (B_c)"),                     \
      COUNT(prefix "threads", tiles[d][causal].threads, 65536, "threads of a CTA"),                                    \
      COUNT(prefix "registers", tiles[d][causal].registers_per_thread, 65536, "registers of a thread"),                \
      BYTES(prefix "shared", tiles[d][causal].shared_bytes, "shared memory of a CTA"),                                 \
      COUNT(prefix "ctas_per_sm", tiles[d][causal].ctas_per_sm, 4096, "CTAs on an SM, where the kernel limits them"),  \
      BYTES(prefix "split_spill_tile", tiles[d][causal].split_spill_tile_bytes,                                        \
            "registers spilled, without a mask, where a CTA has several tiles of the split keys, for each"),           \
      COUNT(prefix "alone_permille", tiles[d][causal].alone_permille, 1000,                                            \
            "of the peak rate of products that a CTA reaches that has an SM to itself"),                               \
      COUNT(prefix "ahead_percent", tiles[d][causal].ahead_percent, 100,                                               \
            "of a step, before which it asks for what it needs then"),                                                 \
      COUNT(prefix "slot_spread_permille", tiles[d][causal].slot_spread_permille, 1000,                                \
            "how unevenly the CTAs of an SM share it"),                                                                \
      COUNT(prefix "start_cycles", tiles[d][causal].start_cycles, 100000,                                              \
            "that the first arithmetic of a launch takes longer, on average"),                                         \
      COUNT(prefix "step_spread_cycles", tiles[d][causal].step_spread_cycles, 100000,                                  \
            "by which a step varies by itself where SMs are full, one standard deviation"),                            \
      COUNT(prefix "busy_spread_cycles", tiles[d][causal].busy_spread_cycles, 100000,                                  \
            "by which a step varies besides where all SMs are at work, one standard deviation"),                       \
      COUNT(prefix "split_step_spread_cycles", tiles[d][causal].split_step_spread_cycles, 100000,                      \
            "the same of the kernel that splits the keys"),                                                            \
      COUNT(prefix "clocks_permille", tiles[d][causal].clocks_permille, 100,                                           \
            "by which the fastest GPC's clock is ahead of the slowest's"),                                             \
      COUNT(prefix "time_start_ns", tiles[d][causal].time_start_ns, 1000000, "launch and latency of each kernel"),     \
      COUNT(prefix "time_tile_ns", tiles[d][causal].time_tile_ns, 1000000,                                             \
            "from the end of one tile to the next on an SM full of CTAs"),                                             \
      COUNT(prefix "time_alone_ns", tiles[d][causal].time_alone_ns, 1000000,                                           \
            "a tile of a CTA that has an SM to itself"),                                                               \
      COUNT(prefix "time_block_permille", tiles[d][causal].time_block_permille, 100000,                                \
            "of a tile, what a CTA takes before and after its tiles"),                                                 \
      COUNT(prefix "time_mask_permille", tiles[d][causal].time_mask_permille, 100000,                                  \
            "of a tile, what a mask takes a row block besides"),                                                       \
      COUNT(prefix "time_ragged_permille", tiles[d][causal].time_ragged_permille, 1000,                                \
            "by which every tile takes longer where the keys are no multiple of 128 and no mask is there"),            \
      COUNT(prefix "time_power_permille", tiles[d][causal].time_power_permille, 1000,                                  \
            "by which a long launch takes longer, because the clock falls"),                                           \
      COUNT(prefix "time_softmax_tile_ns", tiles[d][causal].time_softmax_tile_ns, 1000000,                             \
            "of three kernels, a tile of the softmax"),                                                                \
      COUNT(prefix "time_row_ns", tiles[d][causal].time_row_ns, 1000000, "and a row of it besides"),                   \
      COUNT(prefix "time_varlen_permille", tiles[d][causal].time_varlen_permille, 100000,                              \
            "what a row block under a mask takes besides where sequences lie behind one another"),                     \
      COUNT(prefix "time_window_permille", tiles[d][causal].time_window_permille, 100000,                              \
            "what a row block under a window takes besides, of a tile"),                                               \
      COUNT(prefix "time_window_tile_permille", tiles[d][causal].time_window_tile_permille, 10000,                     \
            "by which a tile takes longer under a window"),                                                            \
      COUNT(prefix "time_mask_tile_permille", tiles[d][causal].time_mask_tile_permille, 10000,                         \
            "by which a tile takes longer under a mask"),                                                              \
      COUNT(prefix "time_partial_permille", tiles[d][causal].time_partial_permille, 100000,                            \
            "by which a tile that the mask crosses takes longer besides"),                                             \
      COUNT(prefix "time_idle_ns", tiles[d][causal].time_idle_ns, 1000000, "a CTA without work"),                      \
      COUNT(prefix "time_others_permille", tiles[d][causal].time_others_permille, 100000,                              \
            "what the kernels before and after take, of their bytes over HBM's bandwidth"),                            \
      COUNT(prefix "group_heads", tiles[d][causal].group_heads, 65536, "heads whose row blocks are taken in turn"),    \
      COUNT(prefix "split_block_q", tiles[d][causal].split_block_q, 65536, "B_r of the kernel that splits the keys"),  \
      COUNT(prefix "split_block_k", tiles[d][causal].split_block_k, 65536, "B_c of the kernel that splits the keys"),  \
      COUNT(prefix "split_threads", tiles[d][causal].split_threads, 65536, "threads of its CTAs"),                     \
      COUNT(prefix "split_registers", tiles[d][causal].split_registers, 65536, "registers of its threads"),            \
      BYTES(prefix "split_shared", tiles[d][causal].split_shared_bytes, "shared memory of its CTAs"),                  \
      COUNT(prefix "split_time_start_ns", tiles[d][causal].split_time_start_ns, 1000000,                               \
            "launch and latency of it, and of the kernel that combines, of one query"),                                \
      COUNT(prefix "split_time_tile_ns", tiles[d][causal].split_time_tile_ns, 1000000,                                 \
            "from the end of one of its tiles to the next on an SM full of CTAs"),                                     \
      TEXT(prefix "spill", tiles[d][causal].spill_text[BUILD_EVEN], false,                                             \
           "bytes of registers that a CTA of t tiles spills: 3072 t + 11264; 1: 13312; reload 100"),                   \
      TEXT(prefix "uneven_spill", tiles[d][causal].spill_text[BUILD_UNEVEN], false,                                    \
           "the same where rows or keys are not whole tiles"),                                                         \
      TEXT(prefix "window_spill", tiles[d][causal].spill_text[BUILD_WINDOW], false, "the same under a window")
/* What a regime's runs say of the time (time_regime_is_held_out). */
#define ERRORS(regime, at)                                                                                             \
  COUNT("time_" regime "_runs", time_errors[at].n_runs, 1000000, "recorded runs that its time was compared with"),     \
      COUNT("time_" regime "_median_permille", time_errors[at].median_permille, 1000,                                  \
            "how far off the time of half of them is at most"),                                                        \
      COUNT("time_" regime "_nine_permille", time_errors[at].nine_permille, 1000,                                      \
            "how far off the time of nine tenths of them is at most")

#define SPILL_MAX 1000000000
enum {
  TILE_NUMBERS = 39,
  TILE_KEYS = TILE_NUMBERS + BUILD_COUNT,
  TILE_FIRST = 62,
  TILE_SHARED = 4
}; /* the last: of a tile's keys */

static const KeyfileField FIELDS[] = {
    TEXT("name", name, false, "the name that --kernel takes"),
    TEXT("product", product, false, "the full name"),
    TEXT("algorithm", algorithm, false, "the schedule it follows; fa2 where it is left out"),
    TEXT("order", order_text, false,
         "which index runs fastest as CTAs are numbered; query-head-batch where it is left out"),
    TEXT("rows", rows_text, false, "row blocks: ascending, descending or longest-first"),
    TEXT("walk", walk_text, false, "over K and V: forward or reversed"),
    TEXT("persistent", persistent_text, false, "yes: CTAs pull work until none is left"),
    TEXT("waits", waits_text, false, "yes: asks for a tile when it needs it, and waits"),
    {"round", KEYFILE_BYTES, offsetof(Profile, round_bytes), false, 1, 1e9,
     "of K and V, asked for at once by a kernel that waits, before it asks for more"},
    {"latency_cycles", KEYFILE_COUNT, offsetof(Profile, latency_cycles), false, 1, 1e6,
     "that a tile takes a CTA that waits besides, in which others of its SM can work"},
    TEXT("steady", steady_text, false, "yes: the older of an SM's CTAs gets ahead with every step, not now and then"),
    {"slip_percent", KEYFILE_COUNT, offsetof(Profile, slip_percent), false, 1, 1000,
     "of a tile, by which the older of an SM's CTAs gets ahead at once"},
    TEXT("reloads_q", reloads_q_text, false, "yes: Q is read again for every tile of K and V"),
    TEXT("clips_k", clips_k_text, false, "yes: columns that no row of a block sees are not read"),
    TEXT("lse", lse_text, false, "yes: writes the log-sum-exp of every row too"),
    TEXT("packs", packs_text, false, "query heads of a KV head as rows of one tile: never, one-query, fill or always"),
    TEXT("splits", splits_text, false, "keys of small grids, by another kernel: never, fill, power-of-two or fewest"),
    TEXT("launch", launch_text, false,
         "how its CTAs go about the algorithm's lines: stages 2 of K_j, V_j; consumers 2 of i"),
    TEXT("beside", beside, false, "the kernel that runs standard attention in the same library"),
    {"split_ctas_per_sm", KEYFILE_COUNT, offsetof(Profile, split_ctas_per_sm), false, 1, 32,
     "CTAs of that kernel meant to run on an SM"},
    {"percent_of_peak", KEYFILE_COUNT, offsetof(Profile, percent_of_peak), false, 1, 100,
     "of the peak rate of products that it reaches"},
    TEXT("runs_on", runs_on, false, "the compute capability that it is built for; 8.0+: and all later ones"),
    TEXT("dtypes", dtypes, false, "types of which there are builds: fp16, bf16"),
    TEXT("tables", tables_text, false, "yes: reads lists of the blocks that its mask leaves"),
    TEXT("blocks", blocks_text, false, "no: it has no masks of blocks"),
    ERRORS("decode", REGIME_DECODE),
    ERRORS("split", REGIME_SPLIT),
    ERRORS("few", REGIME_FEW),
    ERRORS("grouped", REGIME_GROUPED),
    ERRORS("short_causal", REGIME_SHORT_CAUSAL),
    ERRORS("short", REGIME_SHORT),
    ERRORS("long", REGIME_LONG),
    ERRORS("varlen", REGIME_VARLEN),
    ERRORS("window", REGIME_WINDOW),
    ERRORS("card", REGIME_CARD),
    {"pull", KEYFILE_BYTES, offsetof(Profile, pull_bytes), false, 1, 65536,
     "read, and written, to pull a piece of work"},
    TEXT("note", note, false, "what this description leaves out"),
    TEXT("tile", tile_text, false, "rows of Q and of K and V in a tile, for every d: 128 x 64"),
    COUNT("threads", every.threads, 65536, "threads of a CTA"),
    COUNT("registers", every.registers_per_thread, 65536, "registers of a thread"),
    {"shared", KEYFILE_BYTES, offsetof(Profile, every.shared_bytes), false, 1, 1e9, "shared memory of a CTA"},
    COUNT("ctas_per_sm", every.ctas_per_sm, 4096, "CTAs on an SM, where the kernel limits them"),
    TILE("d64_", 0, 0),
    TILE("d64_causal_", 0, 1),
    TILE("d96_", 1, 0),
    TILE("d96_causal_", 1, 1),
    TILE("d128_", 2, 0),
    TILE("d128_causal_", 2, 1),
    TILE("d192_", 3, 0),
    TILE("d192_causal_", 3, 1),
    TILE("d256_", 4, 0),
    TILE("d256_causal_", 4, 1),
    TILE("d192_v128_", PROFILE_MLA, 0),
    TILE("d192_v128_causal_", PROFILE_MLA, 1),
};
_Static_assert(sizeof FIELDS / sizeof FIELDS[0] == PROFILE_FIELD_COUNT, "one row for each field");
_Static_assert(TILE_FIRST + 2 * PROFILE_TILES * TILE_KEYS == PROFILE_FIELD_COUNT, "TILE_KEYS keys a tile");

const KeyfileField *profile_fields(int *n_fields) {
  *n_fields = PROFILE_FIELD_COUNT;
  return FIELDS;
}

static int field_index(const char *key) {
  for (int f = 0; f < PROFILE_FIELD_COUNT; f++)
    if (strcmp(FIELDS[f].name, key) == 0) return f;
  assert(0 && "the key exists");
  return 0;
}

const KeyfileNote *profile_note(const Profile *profile, const char *key) { return &profile->notes[field_index(key)]; }

/* ---- What must hold ------------------------------------------------------------------------------- */

typedef struct {
  Profile *p;
  const char *display_name;
  Error *error;
} Check;

#define REFUSE(check, key, ...)                                                                                        \
  keyfile_refuse((check)->display_name, profile_note((check)->p, key)->line, (check)->error, __VA_ARGS__)

/* "there is no order 'x'; there are a, b and c", with a guess where one is near. */
static Status refuse_word(const Check *c, const char *key, const char *word, const char *(*name)(int), int n) {
  char all[160] = "";
  const Quote typed = quote(word, strlen(word));
  Nearest nearest = {.word = typed.text};
  for (int i = 0; i < n; i++) {
    nearest_offer(&nearest, name(i));
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", name(i));
  }
  if (nearest.best) return REFUSE(c, key, "there is no %s '%s'; did you mean '%s'?", key, typed.text, nearest.best);
  return REFUSE(c, key, "there is no %s '%s'; there are %s", key, typed.text, all);
}

static const char *order_at(int i) { return launch_order_name((LaunchOrder)i); }
static const char *rows_at(int i) { return launch_rows_name((LaunchRows)i); }
static const char *walk_at(int i) { return launch_walk_name((LaunchWalk)i); }
static const char *packing_at(int i) { return packing_name((Packing)i); }
static const char *splitting_at(int i) { return splitting_name((Splitting)i); }
static const char *schedule_at(int i) { return SCHEDULES[i]->name; }
static const char *yes_no_at(int i) { return i ? "no" : "yes"; }

static Status read_yes_no(const Check *c, const char *key, const char *text, bool *flag) {
  *flag = strcmp(text, "yes") == 0;
  if (*flag || !*text || strcmp(text, "no") == 0) return STATUS_OK;
  return refuse_word(c, key, text, yes_no_at, 2);
}

static Status read_words(const Check *c) {
  static const char ALLOWED[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  Profile *p = c->p;
  if (p->name[strspn(p->name, ALLOWED)])
    return REFUSE(c, "name",
                  "name is taken on the command line, so it has only letters, digits, '-', '_' and '.'; put the full "
                  "name in 'product'");
  p->schedule = schedule_find(p->algorithm);
  if (!p->schedule) return refuse_word(c, "algorithm", p->algorithm, schedule_at, N_PROGRAMS);
  if (*p->launch_text && program_launch_read(p->schedule, 0, p->launch_text, c->display_name,
                                             profile_note(p, "launch")->line, &p->launch, c->error))
    return STATUS_BAD_FILE;
  if (!launch_order_from_name(p->order_text, &p->order))
    return refuse_word(c, "order", p->order_text, order_at, ORDER_COUNT);
  if (*p->rows_text && !launch_rows_from_name(p->rows_text, &p->rows))
    return refuse_word(c, "rows", p->rows_text, rows_at, ROWS_COUNT);
  if (*p->walk_text && !launch_walk_from_name(p->walk_text, &p->walk))
    return refuse_word(c, "walk", p->walk_text, walk_at, WALK_COUNT);
  Status status = read_yes_no(c, "persistent", p->persistent_text, &p->persistent);
  if (!status) status = read_yes_no(c, "waits", p->waits_text, &p->waits);
  if (!status) status = read_yes_no(c, "steady", p->steady_text, &p->steady);
  if (!status && p->latency_cycles && !p->waits)
    return REFUSE(c, "latency_cycles",
                  "a kernel that asks ahead hides what its tiles wait; give waits = yes too, or no latency_cycles");
  if (!status && p->slip_percent && p->steady)
    return REFUSE(c, "slip_percent",
                  "a CTA that gets ahead steadily does not slip; give one of steady and slip_percent");
  if (!status && p->round_bytes && !p->waits)
    return REFUSE(c, "round",
                  "round says how much a kernel asks for before it waits; give waits = yes too, or no round");
  if (!status) status = read_yes_no(c, "reloads_q", p->reloads_q_text, &p->reloads_q);
  if (!status) status = read_yes_no(c, "clips_k", p->clips_k_text, &p->clips_k);
  if (!status) status = read_yes_no(c, "lse", p->lse_text, &p->lse);
  if (!status) status = read_yes_no(c, "tables", p->tables_text, &p->reads_tables);
  bool has_blocks = true;
  if (!status && *p->blocks_text) status = read_yes_no(c, "blocks", p->blocks_text, &has_blocks);
  p->has_no_blocks = !has_blocks;
  if (!status && *p->packs_text && !packing_from_name(p->packs_text, &p->packing))
    return refuse_word(c, "packs", p->packs_text, packing_at, PACKING_COUNT);
  if (!status && *p->splits_text && !splitting_from_name(p->splits_text, &p->splitting))
    return refuse_word(c, "splits", p->splits_text, splitting_at, SPLITTING_COUNT);
  return status;
}

/* The fields of tile (d, causal) start here in the table, and so in the notes. */
static int first_field(int d, int causal) { return TILE_FIRST + (2 * d + causal) * TILE_KEYS; }

static int64_t *tile_value(Profile *p, int d, int causal, int key) {
  return (int64_t *)(void *)((char *)p + FIELDS[first_field(d, causal) + key].offset);
}

static int first_line(const Profile *p, int d, int causal) {
  for (int key = 0; key < TILE_KEYS; key++)
    if (p->notes[first_field(d, causal) + key].line) return p->notes[first_field(d, causal) + key].line;
  return 0;
}

/* "A t + B; T: BYTES; reload BYTES; held BYTES": A t, B or both, and any of the rest. */
static bool read_spill(const char *text, Spills *s) {
  const char *at = text;
  while (*at) {
    char *end;
    const int64_t sign = *at == '-' ? -1 : 1;
    const bool is_reload = strncmp(at, "reload ", 7) == 0, is_held = strncmp(at, "held ", 5) == 0;
    at += is_reload ? 7 : is_held ? 5 : (size_t)strspn(at, "+- ");
    if (*at < '0' || *at > '9') return false;
    const int64_t n = strtoll(at, &end, 10);
    if (n > SPILL_MAX) return false;
    if (is_reload) {
      s->reload_bytes = n;
    } else if (is_held) {
      s->held_bytes = n;
    } else if (*end == ':') {
      if (n >= SPILLS_FEW) return false;
      s->few_bytes[n] = strtoll(end + 1, &end, 10);
      if (s->few_bytes[n] < 1 || s->few_bytes[n] > SPILL_MAX) return false;
    } else if (strncmp(end, " t", 2) == 0) {
      s->tile_bytes = n;
      end += 2;
    } else {
      s->block_bytes = sign * n;
    }
    at = end + strspn(end, "; ");
  }
  return s->tile_bytes + s->block_bytes >= 0 || s->few_bytes[1] > 0;
}

/* What is not said of a mask holds as without one, and what is not said of a build as of the one before it. */
static Status read_spills(const Check *c, int d) {
  for (int causal = 0; causal < 2; causal++) {
    ProfileTile *t = &c->p->tiles[d][causal];
    for (int b = 0; b < BUILD_COUNT; b++) {
      const int field = first_field(d, causal) + TILE_NUMBERS + b;
      const bool of_plain = causal && *c->p->tiles[d][0].spill_text[b];
      if (!*t->spill_text[b])
        t->spills[b] = of_plain || b == 0 ? c->p->tiles[d][0].spills[b] : t->spills[b - 1];
      else if (!read_spill(t->spill_text[b], &t->spills[b]))
        return keyfile_refuse(c->display_name, c->p->notes[field].line, c->error,
                              "%s = %s says no bytes; write 3072 t + 11264; 1: 13312; reload 100 (t: tiles of a CTA)",
                              FIELDS[field].name, quote(t->spill_text[b], strlen(t->spill_text[b])).text);
    }
  }
  return STATUS_OK;
}

/* "128 x 64", "128x64" or "128, 64". */
static Status read_every(const Check *c) {
  Profile *p = c->p;
  static const char *const keys[] = {"threads", "registers", "shared", "ctas_per_sm"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (!*p->tile_text && profile_note(p, keys[i])->line)
      return REFUSE(c, keys[i], "%s is said of every tile, but there is none: give tile = 128 x 64 too", keys[i]);
  if (!*p->tile_text) return STATUS_OK;
  int64_t sides[2] = {0};
  const char *at = p->tile_text;
  for (int i = 0; i < 2; i++) {
    for (; *at >= '0' && *at <= '9' && sides[i] <= 65536; at++) sides[i] = 10 * sides[i] + (*at - '0');
    while (*at == ' ') at++;
    if (i == 0 && (*at == 'x' || *at == ',' || *at == 'X')) at++;
    while (i == 0 && *at == ' ') at++;
  }
  if (*at || sides[0] < 1 || sides[1] < 1 || sides[0] > 65536 || sides[1] > 65536)
    return REFUSE(c, "tile", "tile = %s is no pair of rows and keys; write tile = 128 x 64 (B_r x B_c)",
                  quote(p->tile_text, strlen(p->tile_text)).text);
  p->every.block_q = sides[0];
  p->every.block_k = sides[1];
  for (int d = 0; d < PROFILE_TILES; d++)
    if (!p->tiles[d][0].block_q && !first_line(p, d, 0) && !first_line(p, d, 1)) p->tiles[d][0] = p->every;
  return STATUS_OK;
}

/* A short description has the name of its file. */
static void complete_short(Profile *p, const char *display_name) {
  static const char ALLOWED[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  if (!*p->algorithm) snprintf(p->algorithm, sizeof p->algorithm, "%s", shipped_default()->name);
  if (!*p->order_text) strcpy(p->order_text, "query-head-batch");
  if (*p->name) return;
  const char *base = strrchr(display_name, '/');
  snprintf(p->name, sizeof p->name, "%.64s", base ? base + 1 : display_name);
  for (char *c = p->name; *c; c++)
    if (!strchr(ALLOWED, *c)) *c = '-';
  if (!*p->name) strcpy(p->name, "kernel");
}

/* Both sides or none; a causal key falls back to the plain one, so there must be a plain tile. */
static Status check_tile(const Check *c, int d) {
  Profile *p = c->p;
  const ProfileTile *plain = &p->tiles[d][0];
  char name[16];
  snprintf(name, sizeof name, "%lld%s", d == PROFILE_MLA ? 192 : (long long)PROFILE_D[d],
           d == PROFILE_MLA ? "_v128" : "");
  for (int causal = 0; causal < 2; causal++) {
    const int line = first_line(p, d, causal);
    if (line && (!plain->block_q || !plain->block_k))
      return keyfile_refuse(
          c->display_name, line, c->error,
          "a tile for d = %.*s has no two sides; give d%s_block_q and d%s_block_k, or none of its keys",
          (int)strcspn(name, "_"), name, name, name);
  }
  for (int key = 0; key < TILE_NUMBERS; key++)
    if (*tile_value(p, d, 1, key) == 0) *tile_value(p, d, 1, key) = *tile_value(p, d, 0, key);
  return read_spills(c, d);
}

/* What a kernel that waits does not have: it asks for nothing ahead, and has waiting in what it takes alone. */
static Status check_waits(const Check *c) {
  for (int f = TILE_FIRST; c->p->waits && f < PROFILE_FIELD_COUNT; f++)
    if (c->p->notes[f].line && !strstr(FIELDS[f].name, "time_") &&
        (strstr(FIELDS[f].name, "ahead_percent") || strstr(FIELDS[f].name, "alone_permille")))
      return REFUSE(c, FIELDS[f].name, "%s is said of kernels that do not wait; give one of it and waits = yes",
                    FIELDS[f].name);
  return STATUS_OK;
}

/* What of its tiles is in shared memory, by what the launch says. */
static void find_shared(Profile *p, int d) {
  for (int causal = 0; causal < 2; causal++) {
    ProfileTile *t = &p->tiles[d][causal];
    if (!p->launch.is_said || !t->block_q || p->every.shared_bytes) continue;
    bool is_given = false;
    for (int k = 0; k <= causal; k++) is_given |= p->notes[first_field(d, k) + TILE_SHARED].line != 0;
    const SramSizes sizes = {.B_r = t->block_q,
                             .B_c = t->block_k,
                             .d = d == PROFILE_MLA ? 192 : PROFILE_D[d],
                             .d_v = d == PROFILE_MLA ? 128 : PROFILE_D[d],
                             .element_bytes = 2,
                             .launch = &p->launch};
    if (!is_given) t->shared_bytes = (int64_t)sram_budget_of_kernel(p->schedule, 0, &sizes).bytes;
  }
}

Status profile_parse(const char *buffer, size_t length, const char *display_name, Profile *profile, Error *error) {
  Profile read;
  memset(&read, 0, sizeof read);
  const Check check = {&read, display_name, error};
  Status status =
      keyfile_parse_unsourced(buffer, length, display_name, FIELDS, PROFILE_FIELD_COUNT, &read, read.notes, error);
  complete_short(&read, display_name);
  if (!status) status = read_words(&check);
  if (!status) status = read_every(&check);
  bool any = false;
  for (int d = 0; !status && d < PROFILE_TILES; d++) {
    status = check_tile(&check, d);
    if (!status) find_shared(&read, d);
    any = any || read.tiles[d][0].block_q;
  }
  if (!status) status = check_waits(&check);
  if (!status && !any)
    status =
        keyfile_refuse(display_name, 0, error,
                       "no tile is given; write tile = 128 x 64 (B_r x B_c), or one for some d, such as d128_block_q "
                       "and d128_block_k");
  if (status) return status;
  if (!*read.product) memcpy(read.product, read.name, sizeof read.product);
  *profile = read;
  return STATUS_OK;
}

/* ---- Use ------------------------------------------------------------------------------------------ */

/* Libraries build kernels for these sizes of head and pad a head up to the next: d = 80 runs the kernel of 96, if the
 * description has that one. A tile that is said of every d holds beyond them too. */
const ProfileTile *profile_tile(const Profile *profile, int64_t d, bool causal) {
  for (int i = 0; i < PROFILE_D_COUNT; i++)
    if (d <= PROFILE_D[i]) return profile->tiles[i][causal].block_q ? &profile->tiles[i][causal] : NULL;
  return profile->every.block_q ? &profile->every : NULL;
}

/* The tile for a shape. Of heads with a narrower V there is one. */
static const ProfileTile *tile_of(const Profile *p, const Shape *shape) {
  if (!shape->d_v || shape->d_v == shape->d) return profile_tile(p, shape->d, shape->causal);
  const ProfileTile *narrow = &p->tiles[PROFILE_MLA][shape->causal];
  if (narrow->block_q && shape->d > 128 && shape->d <= 192 && shape->d_v <= 128) return narrow;
  return p->every.block_q ? &p->every : NULL;
}

bool profile_has_tile(const Profile *profile, const Shape *shape) { return tile_of(profile, shape) != NULL; }

static TimeLaw law_of(const Profile *p, const ProfileTile *t, const Shape *shape, bool is_split) {
  TimeLaw law = {.start_ns = t->time_start_ns,
                 .tile_ns = t->time_tile_ns,
                 .alone_ns = t->time_alone_ns,
                 .block_permille = t->time_block_permille,
                 .mask_permille = t->time_mask_permille,
                 .ragged_permille = t->time_ragged_permille,
                 .power_permille = t->time_power_permille,
                 .softmax_tile_ns = t->time_softmax_tile_ns,
                 .row_ns = t->time_row_ns,
                 .varlen_permille = t->time_varlen_permille,
                 .window_permille = t->time_window_permille,
                 .window_tile_permille = t->time_window_tile_permille,
                 .mask_tile_permille = t->time_mask_tile_permille,
                 .partial_permille = t->time_partial_permille,
                 .idle_ns = t->time_idle_ns,
                 .others_permille = t->time_others_permille,
                 .tile_area = t->block_q * t->block_k};
  if (is_split && shape->N_q == 1 && t->split_time_start_ns) law.start_ns = t->split_time_start_ns;
  if (is_split && t->split_time_tile_ns) {
    law.tile_ns = t->split_time_tile_ns;
    law.tile_area = t->split_block_q * t->split_block_k;
  }
  memcpy(law.errors, p->time_errors, sizeof law.errors);
  return law;
}

Status profile_config(const Profile *profile, const Shape *shape, LaunchConfig *config, Error *error) {
  const ProfileTile *t = tile_of(profile, shape);
  if (!t && shape->d_v && shape->d_v != shape->d)
    return error_set(
        error, STATUS_BAD_REQUEST, "%s is described for %s; leave --head-dim-v or the kernel out", profile->name,
        profile->tiles[PROFILE_MLA][0].block_q ? "heads of V as large as those of K, and for d = 192 with V of 128"
                                               : "heads of V as large as those of K");
  if (!t) {
    char listed[64] = "";
    for (int i = 0; i < PROFILE_D_COUNT; i++)
      if (profile->tiles[i][0].block_q)
        snprintf(listed + strlen(listed), sizeof listed - strlen(listed), "%s%lld", *listed ? ", " : "",
                 (long long)PROFILE_D[i]);
    return error_set(error, STATUS_BAD_REQUEST,
                     "%s has no tile for d = %lld; its description has d = %s, and kernels choose others between them",
                     profile->name, (long long)shape->d, listed);
  }
  *config = (LaunchConfig){.order = profile->order,
                           .rows = profile->rows,
                           .walk = profile->walk,
                           .persistent = profile->persistent,
                           .whole_head = profile->schedule->whole_head,
                           .group_heads = t->group_heads,
                           .of_columns = schedule_owns_columns(profile->schedule),
                           .block_q = t->block_q,
                           .block_k = t->block_k,
                           .threads = t->threads,
                           .registers_per_thread = t->registers_per_thread,
                           .shared_bytes = t->shared_bytes,
                           .ctas_per_sm = t->ctas_per_sm,
                           .waits = profile->waits,
                           .round_bytes = profile->round_bytes,
                           .latency_cycles = profile->latency_cycles,
                           .steady = profile->steady,
                           .slip_percent = profile->slip_percent,
                           .ahead_percent = t->ahead_percent,
                           .reads_tables = profile->reads_tables,
                           .reloads_q = profile->reloads_q,
                           .clips_k = profile->clips_k,
                           .spills = t->spills[launch_build(shape, t->block_q, t->block_k)],
                           .alone_permille = t->alone_permille,
                           .slot_spread_permille = t->slot_spread_permille,
                           .start_cycles = t->start_cycles,
                           .step_spread_cycles = t->step_spread_cycles,
                           .busy_spread_cycles = t->busy_spread_cycles,
                           .clocks_permille = t->clocks_permille,
                           .time = law_of(profile, t, shape, false),
                           .packing = profile->packing,
                           .may_split = t->split_step_spread_cycles > 0,
                           .pull_bytes = profile->pull_bytes,
                           .cluster = !profile->launch.is_said  ? 0
                                      : profile->launch.cluster ? profile->launch.cluster
                                                                : 1,
                           .cluster_dim = profile->launch.cluster_dim,
                           .shared_names = profile->launch.shared,
                           .percent_of_peak = profile->percent_of_peak};
  return STATUS_OK;
}

/* ---- Split keys ----------------------------------------------------------------------------------- */

/* FlashAttention-3 takes its small tile for few rows alone (use_one_mma_wg); else the one that it has without
 * splits. */
static bool splits_with_own_tile(const Profile *profile, const ProfileTile *t, const Shape *shape) {
  const int64_t rows = shape->N_q * (shape->group > 1 ? 1 : shape->heads / shape->kv_heads);
  return t->split_block_q && t->split_block_k && (profile->splitting != SPLITTING_HOPPER || rows <= t->split_block_q);
}

/* Heads whose keys exceed what FlashAttention-3 takes L2 for, read by rows that go over the SMs twice. */
static int64_t hopper_long_splits(const Shape *shape, Wide n_row_blocks, int64_t n_SM) {
  const int64_t L2 = 50 << 20, bytes = shape->N_k * (shape->d + shape->d_v) * dtype_bytes(shape->dtype);
  if (bytes <= L2 || n_row_blocks < 2 * wide(n_SM) || shape->causal || shape->window || shape->sided) return 1;
  return ceil_div(bytes, L2) < 128 ? ceil_div(bytes, L2) : 128;
}

int64_t profile_splits(const Profile *profile, const Shape *shape, int64_t n_SM) {
  const ProfileTile *t = tile_of(profile, shape);
  if (!t || !t->split_block_q || !t->split_block_k || profile->splitting == SPLITTING_NEVER || shape->pattern) return 1;
  if (profile->splitting == SPLITTING_POWER_OF_TWO && shape->N_q > 1) return 1; /* of one query alone (launch.h) */
  const bool is_own = splits_with_own_tile(profile, t, shape), is_hopper = profile->splitting == SPLITTING_HOPPER;
  const int64_t B_r = is_own ? t->split_block_q : t->block_q, B_c = is_own ? t->split_block_k : t->block_k;
  const bool has_window = shape->window > 0 || (shape->sided && (shape->left >= 0 || shape->right >= 0));
  const Shape packed =
      packing_packs(profile->packing, shape->N_q, shape->heads / shape->kv_heads, B_r, has_window, true)
          ? shape_packed(shape)
          : *shape;
  const Wide row_blocks = wide(ceil_div(packed.N_q, B_r)),
             n_ctas = wide(packed.batch) * wide(packed.heads) * row_blocks;
  if (is_hopper && (has_window || 5 * n_ctas >= 4 * wide(n_SM))) return hopper_long_splits(shape, row_blocks, n_SM);
  return splitting_choose(profile->splitting, n_ctas, n_SM, profile->split_ctas_per_sm, ceil_div(shape->N_k, B_c));
}

/* Of spilled registers a description says those of CTAs that have several tiles and no mask. */
void profile_become_split(const Profile *profile, const Shape *shape, int64_t n_splits, LaunchConfig *c) {
  const ProfileTile *t = tile_of(profile, shape);
  if (!t) return; /* no split is chosen without a tile */
  const bool is_own = splits_with_own_tile(profile, t, shape);
  const int64_t block_k = is_own ? t->split_block_k : c->block_k;
  const bool several_tiles = ceil_div(shape->N_k, block_k) > n_splits;
  if (is_own) {
    c->block_q = t->split_block_q;
    c->block_k = t->split_block_k;
    c->threads = t->split_threads;
    c->registers_per_thread = t->split_registers;
  }
  if (is_own || profile->splitting != SPLITTING_HOPPER) c->shared_bytes = t->split_shared_bytes;
  c->time = law_of(profile, t, shape, true);
  c->n_splits = n_splits;
  c->persistent = false;
  c->cluster = 1;
  c->ctas_per_sm = c->pull_bytes = 0;
  c->slot_spread_permille = 0;
  c->alone_permille = c->ahead_percent = c->start_cycles = c->busy_spread_cycles = 0;
  c->step_spread_cycles = t->split_step_spread_cycles;
  c->spills = (Spills){.tile_bytes = !shape->causal && several_tiles ? t->split_spill_tile_bytes : 0};
}
