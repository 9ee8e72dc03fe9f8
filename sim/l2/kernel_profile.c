#include "sim/l2/kernel_profile.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/path.h"
#include "sim/algorithms/language/read.h"
#include "sim/algorithms/shipped.h"

const int64_t PROFILE_D[PROFILE_D_COUNT] = {64, 96, 128, 192, 256};

#define TEXT(key, member, help)                                                                                        \
  { key, KEYFILE_TEXT, offsetof(Profile, member), false, 0, 0, help, NULL }

#define WORD(key, member, words, help)                                                                                 \
  { key, KEYFILE_WORD, offsetof(Profile, member), false, 0, 0, help, words }

#define YES(key, member, help)                                                                                         \
  { key, KEYFILE_YES, offsetof(Profile, member), false, 0, 0, help, NULL }

#define COUNT(key, member, max, help)                                                                                  \
  { key, KEYFILE_COUNT, offsetof(Profile, member), false, 1, max, help, NULL }

#define BYTES(key, member, help)                                                                                       \
  { key, KEYFILE_BYTES, offsetof(Profile, member), false, 1, 1e9, help, NULL }

/* A row of one tile's keys. Ranges hold anything a GPU could run, and catch a wrong unit. */
#define NUMBER(prefix, tile, member, max, help) COUNT(prefix #member, tile.member, max, help)
#define TIMED(prefix, tile, member, max, help)  COUNT(prefix "time_" #member, tile.law.member, max, help)

#define TILE(prefix, tile)                                                                                             \
  NUMBER(prefix, tile, block_q, 65536, "rows of Q in a tile (B_r)"),                                                   \
      NUMBER(prefix, tile, block_k, 65536, "rows of K and V in a tile (B_c)"),                                         \
      NUMBER(prefix, tile, threads, 65536, "threads of a CTA"),                                                        \
      COUNT(prefix "registers", tile.registers_per_thread, 65536, "registers of a thread"),                            \
      BYTES(prefix "shared", tile.shared_bytes, "shared memory of a CTA"),                                             \
      NUMBER(prefix, tile, ctas_per_sm, 4096, "CTAs on an SM, where the kernel limits them"),                          \
      BYTES(prefix "split_spill_tile", tile.split_spill_tile_bytes,                                                    \
            "registers spilled, without a mask, where a CTA has several tiles of the split keys, for each"),           \
      NUMBER(prefix, tile, alone_permille, 1000,                                                                       \
             "of the peak rate of products that a CTA reaches that has an SM to itself"),                              \
      NUMBER(prefix, tile, ahead_percent, 100, "of a step, before which it asks for what it needs then"),              \
      NUMBER(prefix, tile, slot_spread_permille, 1000, "how unevenly the CTAs of an SM share it"),                     \
      NUMBER(prefix, tile, start_cycles, 100000, "that the first arithmetic of a launch takes longer, on average"),    \
      NUMBER(prefix, tile, step_spread_cycles, 100000,                                                                 \
             "by which a step varies by itself where SMs are full, one standard deviation"),                           \
      NUMBER(prefix, tile, busy_spread_cycles, 100000,                                                                 \
             "by which a step varies besides where all SMs are at work, one standard deviation"),                      \
      NUMBER(prefix, tile, split_step_spread_cycles, 100000, "the same of the kernel that splits the keys"),           \
      NUMBER(prefix, tile, clocks_permille, 100, "by which the fastest GPC's clock is ahead of the slowest's"),        \
      TIMED(prefix, tile, start_ns, 1000000, "launch and latency of each kernel"),                                     \
      TIMED(prefix, tile, tile_ns, 1000000, "from the end of one tile to the next on an SM full of CTAs"),             \
      TIMED(prefix, tile, alone_ns, 1000000, "a tile of a CTA that has an SM to itself"),                              \
      TIMED(prefix, tile, block_permille, 100000, "of a tile, what a CTA takes before and after its tiles"),           \
      TIMED(prefix, tile, mask_permille, 100000, "of a tile, what a mask takes a row block besides"),                  \
      TIMED(prefix, tile, ragged_permille, 1000,                                                                       \
            "by which every tile takes longer where the keys are no multiple of 128 and no mask is there"),            \
      TIMED(prefix, tile, power_permille, 1000, "by which a long launch takes longer, because the clock falls"),       \
      TIMED(prefix, tile, softmax_tile_ns, 1000000, "of three kernels, a tile of the softmax"),                        \
      TIMED(prefix, tile, row_ns, 1000000, "and a row of it besides"),                                                 \
      TIMED(prefix, tile, varlen_permille, 100000,                                                                     \
            "what a row block under a mask takes besides where sequences lie behind one another"),                     \
      TIMED(prefix, tile, window_permille, 100000, "what a row block under a window takes besides, of a tile"),        \
      TIMED(prefix, tile, window_tile_permille, 10000, "by which a tile takes longer under a window"),                 \
      TIMED(prefix, tile, mask_tile_permille, 10000, "by which a tile takes longer under a mask"),                     \
      TIMED(prefix, tile, partial_permille, 100000, "by which a tile that the mask crosses takes longer besides"),     \
      TIMED(prefix, tile, idle_ns, 1000000, "a CTA without work"),                                                     \
      TIMED(prefix, tile, others_permille, 100000,                                                                     \
            "what the kernels before and after take, of their bytes over HBM's bandwidth"),                            \
      NUMBER(prefix, tile, group_heads, 65536, "heads whose row blocks are taken in turn"),                            \
      NUMBER(prefix, tile, split_block_q, 65536, "B_r of the kernel that splits the keys"),                            \
      NUMBER(prefix, tile, split_block_k, 65536, "B_c of the kernel that splits the keys"),                            \
      NUMBER(prefix, tile, split_threads, 65536, "threads of its CTAs"),                                               \
      NUMBER(prefix, tile, split_registers, 65536, "registers of its threads"),                                        \
      BYTES(prefix "split_shared", tile.split_shared_bytes, "shared memory of its CTAs"),                              \
      NUMBER(prefix, tile, split_time_start_ns, 1000000,                                                               \
             "launch and latency of it, and of the kernel that combines, of one query"),                               \
      NUMBER(prefix, tile, split_time_part_ns, 100000, "and for each part that is combined, besides"),                 \
      NUMBER(prefix, tile, split_time_tile_ns, 1000000,                                                                \
             "from the end of one of its tiles to the next on an SM full of CTAs"),                                    \
      TEXT(prefix "spill", tile.spill_text[BUILD_EVEN],                                                                \
           "bytes of registers that a CTA of t tiles spills: 3072 t + 11264; 1: 13312; reload 100"),                   \
      TEXT(prefix "uneven_spill", tile.spill_text[BUILD_UNEVEN], "the same where rows or keys are not whole tiles"),   \
      TEXT(prefix "window_spill", tile.spill_text[BUILD_WINDOW], "the same under a window")

/* What a regime's runs say of the time (time_regime_is_held_out). */
#define ERRORS(regime, at)                                                                                             \
  COUNT("time_" regime "_runs", time_errors[at].n_runs, 1000000, "recorded runs that its time was compared with"),     \
      COUNT("time_" regime "_median_permille", time_errors[at].median_permille, 1000,                                  \
            "largest error of the time of half of them"),                                                              \
      COUNT("time_" regime "_nine_permille", time_errors[at].nine_permille, 1000,                                      \
            "largest error of the time of nine tenths of them")

#define SPILL_MAX 1000000000

enum {
  TILE_NUMBERS = 40,
  TILE_KEYS = TILE_NUMBERS + BUILD_COUNT,
  TILE_FIRST = 62,
  TILE_SHARED = 4
}; /* the last: of a tile's keys */

static const KeyfileField FIELDS[] = {
    {"name", KEYFILE_NAME, offsetof(Profile, name), false, 0, 0, "the name that --kernel takes", NULL},
    TEXT("product", product, "the full name"),
    TEXT("algorithm", algorithm, "the schedule it follows; fa2 where it is left out"),
    WORD("order", order, LAUNCH_ORDER_NAMES,
         "which index runs fastest as CTAs are numbered; query-head-batch where it is left out"),
    WORD("rows", rows, LAUNCH_ROWS_NAMES, "row blocks: ascending, descending or longest-first"),
    WORD("walk", walk, LAUNCH_WALK_NAMES, "over K and V: forward or reversed"),
    YES("persistent", persistent, "yes: CTAs pull work until none is left"),
    YES("waits", waits, "yes: asks for a tile when it needs it, and waits"),
    BYTES("round", round_bytes, "of K and V, asked for at once by a kernel that waits, before it asks for more"),
    COUNT("latency_cycles", latency_cycles, 1e6,
          "that a tile takes a CTA that waits besides, in which others of its SM can work"),
    YES("steady", steady, "yes: the older of an SM's CTAs gets ahead with every step, not now and then"),
    COUNT("slip_percent", slip_percent, 1000, "of a tile, by which the older of an SM's CTAs gets ahead at once"),
    YES("reloads_q", reloads_q, "yes: Q is read again for every tile of K and V"),
    YES("clips_k", clips_k, "yes: columns that no row of a block sees are not read"),
    YES("lse", lse, "yes: writes the log-sum-exp of every row too"),
    WORD("packs", packing, PACKING_NAMES,
         "query heads of a KV head as rows of one tile: never, one-query, fill or always"),
    WORD("splits", splitting, SPLITTING_NAMES,
         "keys of small grids, by another kernel: never, fill, power-of-two or fewest"),
    TEXT("launch", launch_text, "how its CTAs go about the algorithm's lines: stages 2 of K_j, V_j; consumers 2 of i"),
    TEXT("beside", beside, "the kernel that runs standard attention in the same library"),
    COUNT("split_ctas_per_sm", split_ctas_per_sm, 32, "CTAs of that kernel meant to run on an SM"),
    COUNT("percent_of_peak", percent_of_peak, 100, "of the peak rate of products that it reaches"),
    TEXT("runs_on", runs_on, "the compute capability that it is built for; 8.0+: and all later ones"),
    TEXT("dtypes", dtypes, "types of which there are builds: fp16, bf16"),
    YES("tables", reads_tables, "yes: reads lists of the blocks that its mask leaves"),
    YES("blocks", takes_blocks, "no: it has no masks of blocks"),
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
     "read, and written, to pull a piece of work", NULL},
    TEXT("note", note, "what this description leaves out"),
    TEXT("tile", tile_text, "rows of Q and of K and V in a tile, for every d: 128 x 64"),
    COUNT("threads", every.threads, 65536, "threads of a CTA"),
    COUNT("registers", every.registers_per_thread, 65536, "registers of a thread"),
    BYTES("shared", every.shared_bytes, "shared memory of a CTA"),
    COUNT("ctas_per_sm", every.ctas_per_sm, 4096, "CTAs on an SM, where the kernel limits them"),
    TILE("d64_", tiles[0][0]),
    TILE("d64_causal_", tiles[0][1]),
    TILE("d96_", tiles[1][0]),
    TILE("d96_causal_", tiles[1][1]),
    TILE("d128_", tiles[2][0]),
    TILE("d128_causal_", tiles[2][1]),
    TILE("d192_", tiles[3][0]),
    TILE("d192_causal_", tiles[3][1]),
    TILE("d256_", tiles[4][0]),
    TILE("d256_causal_", tiles[4][1]),
    TILE("d192_v128_", tiles[PROFILE_MLA][0]),
    TILE("d192_v128_causal_", tiles[PROFILE_MLA][1]),
};

_Static_assert(COUNT_OF(FIELDS) == PROFILE_FIELD_COUNT, "one row for each field");
_Static_assert(TILE_FIRST + 2 * PROFILE_TILES * TILE_KEYS == PROFILE_FIELD_COUNT, "TILE_KEYS keys a tile");

const KeyfileField *profile_fields(int *n_fields) {
  *n_fields = PROFILE_FIELD_COUNT;
  return FIELDS;
}

const KeyfileNote *profile_note(const Profile *profile, const char *key) {
  return keyfile_note(FIELDS, profile->notes, key);
}

typedef struct {
  Profile *p;
  const char *display_name;
  Error *error;
} Check;

#define REFUSE(check, key, ...)                                                                                        \
  keyfile_refuse((check)->display_name, profile_note((check)->p, key)->line, (check)->error, __VA_ARGS__)

static Status refuse_schedule(const Check *c) {
  const char *names[64] = {NULL};
  for (int i = 0; i < N_PROGRAMS && i < 63; i++) names[i] = SCHEDULES[i]->name;
  return keyfile_refuse_word(c->display_name, profile_note(c->p, "algorithm")->line, c->error, "algorithm",
                             c->p->algorithm, names);
}

static Status check_words(const Check *c) {
  Profile *p = c->p;
  p->schedule = schedule_find(p->algorithm);
  if (!p->schedule) return refuse_schedule(c);
  if (*p->launch_text && program_launch_read(p->schedule, 0, p->launch_text, c->display_name,
                                             profile_note(p, "launch")->line, &p->launch, c->error))
    return STATUS_BAD_FILE;
  if (p->latency_cycles && !p->waits)
    return REFUSE(c, "latency_cycles",
                  "a kernel that asks ahead hides what its tiles wait; give waits = yes too, or no latency_cycles");
  if (p->slip_percent && p->steady)
    return REFUSE(c, "slip_percent",
                  "a CTA that gets ahead steadily does not slip; give one of steady and slip_percent");
  if (p->round_bytes && !p->waits)
    return REFUSE(c, "round",
                  "round says how much a kernel asks for before it waits; give waits = yes too, or no round");
  return STATUS_OK;
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
                              FIELDS[field].name, quote_text(t->spill_text[b]).text);
    }
  }
  return STATUS_OK;
}

/* "128 x 64", "128x64" or "128, 64". */
static Status read_every(const Check *c) {
  Profile *p = c->p;
  static const char *const keys[] = {"threads", "registers", "shared", "ctas_per_sm"};
  for (size_t i = 0; i < COUNT_OF(keys); i++)
    if (!*p->tile_text && profile_note(p, keys[i])->line)
      return REFUSE(c, keys[i], "%s is said of every tile, but there is none: give tile = 128 x 64 too", keys[i]);
  if (!*p->tile_text) return STATUS_OK;
  int64_t sides[2];
  char *at;
  sides[0] = strtoll(p->tile_text, &at, 10);
  at += strspn(at, " ");
  at += *at && strchr("xX,", *at);
  sides[1] = strtoll(at, &at, 10);
  if (*at || sides[0] < 1 || sides[1] < 1 || sides[0] > 65536 || sides[1] > 65536)
    return REFUSE(c, "tile", "tile = %s is no pair of rows and keys; write tile = 128 x 64 (B_r x B_c)",
                  quote_text(p->tile_text).text);
  p->every.block_q = sides[0];
  p->every.block_k = sides[1];
  for (int d = 0; d < PROFILE_TILES; d++)
    if (!p->tiles[d][0].block_q && !first_line(p, d, 0) && !first_line(p, d, 1)) p->tiles[d][0] = p->every;
  return STATUS_OK;
}

/* A short description has the name of its file. */
static void complete_short(Profile *p, const char *display_name) {
  if (!*p->algorithm) snprintf(p->algorithm, sizeof p->algorithm, "%s", shipped_default()->name);
  if (*p->name) return;
  snprintf(p->name, sizeof p->name, "%.64s", path_base(display_name));
  for (char *c = p->name; *c; c++)
    if (!strchr(KEYFILE_LETTERS, *c)) *c = '-';
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
  read.order = ORDER_QUERY_HEAD_BATCH;
  read.takes_blocks = true;
  const Check check = {&read, display_name, error};
  Status status =
      keyfile_parse_unsourced(buffer, length, display_name, FIELDS, PROFILE_FIELD_COUNT, &read, read.notes, error);
  complete_short(&read, display_name);
  if (!status) status = check_words(&check);
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
