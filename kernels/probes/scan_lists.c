/* Makes the lists, one after the other, in one Builder: operations first, then each CTA's stretches of them. */
#include "kernels/probes/scan_lists.h"

#include "sim/base/splitmix.h"
#include "sim/base/text_add.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 64 /* granules */, MAX_OPS = 1 << 20, MAX_CTAS = 2048 };

/* Where things lie in the pool, in granules: far enough apart for the largest scan. */
enum { OWN_AT = 256 * MIB, V_AT = 300 * MIB, Q_AT = 602 * MIB, O_AT = 904 * MIB, HOT_AT = 1206 * MIB };

/* One scan under construction, and its visitor. */
typedef struct {
  ScanVisit *visit;
  void *context;
  ScanList list;
  uint32_t ops[MAX_OPS];
  ScanPart parts[MAX_CTAS * SCAN_PARTS];
  bool taken[SCAN_POOL_GRANULES];          /* pieces of `scattered` */
  uint32_t k_at, v_at, q_at, o_at, hot_at; /* where they begin */
  uint32_t place;                          /* of scan_lists_each_place; 0: elsewhere */
} Builder;

static uint32_t next_random(uint64_t *state) {
  const uint64_t random = mix(*state);
  *state += SPLITMIX_STEP;
  return (uint32_t)(random >> 32);
}

static void begin(Builder *b, uint32_t n_ctas, uint32_t work_cycles) {
  assert(n_ctas <= MAX_CTAS);
  b->list = (ScanList){.n_ctas = n_ctas, .work_cycles = work_cycles, .ops = b->ops, .parts = b->parts};
  memset(b->parts, 0, sizeof b->parts);
}

static void add(Builder *b, uint32_t op) {
  assert(b->list.n_ops < MAX_OPS);
  b->ops[b->list.n_ops++] = op;
}

/* n granules a CTA that no other CTA has. */
static ScanPart add_own(Builder *b, uint32_t n, uint32_t op) {
  const uint32_t first = b->list.n_ops;
  for (uint32_t i = 0; i < n; i++) add(b, (op | SCAN_PLUS_CTA) + i * b->list.n_ctas);
  return (ScanPart){first, b->list.n_ops};
}

static void set_part(Builder *b, uint32_t cta, uint32_t k, ScanPart part) { b->parts[cta * SCAN_PARTS + k] = part; }

static void set_part_of_all(Builder *b, uint32_t k, ScanPart part) {
  for (uint32_t c = 0; c < b->list.n_ctas; c++) set_part(b, c, k, part);
}

/* Every CTA goes through the whole list, so often. */
static void read_all(Builder *b, uint32_t times) {
  for (uint32_t k = 0; k < times; k++) set_part_of_all(b, k, (ScanPart){0, b->list.n_ops});
}

/* n MiB from there on. */
static void add_stretch(Builder *b, uint32_t at, uint32_t mib) {
  for (uint32_t i = 0; i < mib * MIB; i++) add(b, at + i);
}

/* Names the list and hands it over. V elsewhere than usual is said, and a place. */
__attribute__((format(printf, 2, 3))) static void finish(Builder *b, const char *name, ...) {
  va_list arguments;
  va_start(arguments, name);
  vsnprintf(b->list.name, sizeof b->list.name, name, arguments);
  va_end(arguments);
  if (b->place)
    text_add(b->list.name, sizeof b->list.name, " place %u", b->place);
  else if (b->v_at != V_AT)
    text_add(b->list.name, sizeof b->list.name, " v %u", b->v_at / MIB);
  b->visit(b->context, &b->list);
}

/* Each piece at a random multiple of 2 MiB in its own share of the pool. */
static void pieces(Builder *b, uint32_t n_pieces, uint32_t mib, uint32_t seed) {
  const uint32_t page = 2 * MIB, share = SCAN_POOL_GRANULES / n_pieces, piece = mib * MIB / n_pieces;
  uint64_t random = 1000 * seed + n_pieces;
  begin(b, SCAN_SLOTS, 0);
  for (uint32_t p = 0; p < n_pieces; p++) {
    const uint32_t at = p * share + next_random(&random) % (share / page - (piece + page - 1) / page) * page;
    for (uint32_t i = 0; i < piece; i++) add(b, at + i);
  }
  read_all(b, 2);
  finish(b, b->place ? "pieces %u mib %u" : "pieces %u mib %u seed %u", n_pieces, mib, seed);
}

/* Pieces of `piece` granules, each at a multiple of its size. */
static void scattered(Builder *b, uint32_t piece, uint32_t mib) {
  uint64_t random = 7 + mib + 1000 * b->place;
  begin(b, SCAN_SLOTS, 0);
  memset(b->taken, 0, sizeof b->taken);
  while (b->list.n_ops < mib * MIB) {
    const uint32_t p = next_random(&random) % (SCAN_POOL_GRANULES / piece);
    if (b->taken[p]) continue;
    b->taken[p] = true;
    for (uint32_t i = 0; i < piece; i++) add(b, p * piece + i);
  }
  read_all(b, 2);
  finish(b, "scattered kib %u mib %u", piece * (SCAN_GRANULE_BYTES / 1024), mib);
}

static void between(Builder *b, bool store, uint32_t mib, uint32_t own) {
  begin(b, SCAN_SLOTS, 0);
  add_stretch(b, 0, mib);
  const ScanPart a = {0, b->list.n_ops};
  set_part_of_all(b, 0, a);
  set_part_of_all(b, 1, add_own(b, own, OWN_AT | (store ? SCAN_STORES : 0)));
  set_part_of_all(b, 2, a);
  finish(b, "between %s a %u own %u", store ? "write" : "read", mib, own);
}

typedef enum { HOT_NONE, HOT_READ /* the CTA's first granule of Q */, HOT_STORE /* a granule of the CTA's slot */ } Hot;
static const char *const HOT_WORDS[] = {"none", "read", "write"};

/* Besides: with V at several places, so far from K; and at places where all of it lies elsewhere. */
typedef enum { AT_V = 1, AT_PLACES = 2, AT_V_AND_PLACES = 3 } Again;

/* K and V of a head are mib / 2 MiB each; a CTA is one row of one head. */
typedef struct {
  uint32_t mib, rows, heads;
  bool ascending; /* the shortest rows first */
  bool backward;  /* from the last key to the first */
  uint32_t own;   /* granules of Q read before the walk, and of O stored after it */
  Hot hot;        /* after each granule of K and V */
  uint32_t work_cycles;
  Again again;
} Rows;

static const Rows ROWS[] = {
    {32, 1024, 2, 1, 0, 0, HOT_NONE, 3000, AT_PLACES},
    {32, 1024, 2, 1, 0, 1, HOT_NONE, 3000, 0},
    {32, 1024, 2, 1, 0, 1, HOT_READ, 3000, AT_V_AND_PLACES},
    {32, 1024, 2, 1, 0, 1, HOT_READ, 1000, 0},
    {28, 896, 2, 1, 0, 1, HOT_NONE, 3000, 0},
    {28, 896, 2, 1, 0, 1, HOT_READ, 3000, 0},
    {16, 256, 4, 1, 1, 0, HOT_NONE, 3000, AT_V_AND_PLACES},
    {16, 256, 4, 1, 1, 2, HOT_NONE, 3000, 0},
    {16, 256, 4, 1, 1, 2, HOT_STORE, 3000, AT_V_AND_PLACES},
    {16, 256, 4, 1, 1, 2, HOT_READ, 3000, AT_PLACES},
    {16, 256, 4, 1, 1, 2, HOT_STORE, 500, 0},
    {8, 128, 8, 1, 1, 2, HOT_NONE, 3000, 0},
    {8, 128, 8, 1, 1, 2, HOT_STORE, 3000, AT_V_AND_PLACES},
    {32, 512, 2, 1, 1, 2, HOT_NONE, 1000, 0},
    {32, 512, 2, 1, 1, 2, HOT_STORE, 1000, AT_V_AND_PLACES},
    {16, 256, 4, 0, 0, 2, HOT_NONE, 3000, 0},
    {8, 128, 8, 0, 0, 2, HOT_NONE, 3000, 0},
    {32, 512, 2, 0, 0, 2, HOT_NONE, 1000, AT_PLACES},
    {16, 512, 2, 0, 0, 1, HOT_NONE, 1000, AT_PLACES},
    {16, 256, 4, 0, 1, 0, HOT_NONE, 4000, 0},
    {16, 256, 4, 0, 1, 2, HOT_NONE, 4000, AT_PLACES},
    {16, 256, 4, 1, 0, 2, HOT_NONE, 4000, 0},
    {8, 128, 8, 1, 1, 0, HOT_NONE, 4000, 0},
    {32, 512, 2, 1, 1, 0, HOT_NONE, 1000, AT_PLACES},
    {32, 512, 2, 1, 0, 0, HOT_NONE, 1000, 0},
    {32, 512, 2, 1, 0, 0, HOT_NONE, 4000, 0},
    {24, 384, 2, 1, 1, 0, HOT_NONE, 1000, 0},
    {24, 384, 2, 1, 0, 0, HOT_NONE, 1000, AT_PLACES},
    {28, 448, 2, 1, 0, 0, HOT_NONE, 1000, 0},
    /* recorded when all numbers of the model had been chosen */
    {32, 768, 2, 1, 1, 2, HOT_STORE, 2000, 0},
    {24, 384, 3, 1, 1, 2, HOT_STORE, 2000, AT_V_AND_PLACES},
    {24, 384, 3, 1, 1, 2, HOT_READ, 2000, AT_V_AND_PLACES},
    {20, 320, 4, 1, 1, 2, HOT_STORE, 1000, AT_V},
    {32, 512, 2, 1, 0, 1, HOT_READ, 2000, AT_PLACES},
    {24, 512, 3, 1, 0, 1, HOT_READ, 2000, AT_V},
    {28, 448, 3, 1, 0, 1, HOT_STORE, 1000, AT_V_AND_PLACES},
    {32, 512, 2, 0, 0, 2, HOT_STORE, 1000, 0},
};

static void rows(Builder *b, const Rows *r) {
  const uint32_t n_keys = r->mib * MIB / 2, per_key = r->hot ? 3 : 2;
  begin(b, r->rows * r->heads, r->work_cycles);
  for (uint32_t h = 0; h < r->heads; h++)
    for (uint32_t i = 0; i < n_keys; i++) {
      const uint32_t key = h * n_keys + (r->backward ? n_keys - 1 - i : i);
      add(b, b->k_at + key);
      add(b, b->v_at + key);
      if (r->hot == HOT_READ) add(b, SCAN_PLUS_CTA | b->q_at);
      if (r->hot == HOT_STORE) add(b, SCAN_STORES | SCAN_PLUS_SLOT | b->hot_at);
    }
  for (uint32_t c = 0; c < b->list.n_ctas; c++) {
    const uint32_t h = c / r->rows, row = r->ascending ? c % r->rows : r->rows - 1 - c % r->rows;
    const uint32_t seen = n_keys * (row + 1) / r->rows, first = h * n_keys + (r->backward ? n_keys - seen : 0);
    set_part(b, c, 1, (ScanPart){per_key * first, per_key * (first + seen)});
  }
  set_part_of_all(b, 0, add_own(b, r->own, b->q_at));
  set_part_of_all(b, 2, add_own(b, r->own, SCAN_STORES | b->o_at));
  finish(b, "rows %u heads %u mib %u %s %s own %u hot %s work %u", r->rows, r->heads, r->mib,
         r->ascending ? "ascending" : "descending", r->backward ? "backward" : "forward", r->own, HOT_WORDS[r->hot],
         r->work_cycles);
}

static void stores(Builder *b, uint32_t own, uint32_t times) {
  begin(b, SCAN_SLOTS, 0);
  const ScanPart part = add_own(b, own, SCAN_STORES);
  for (uint32_t k = 0; k < times; k++) set_part_of_all(b, k, part);
  finish(b, "stores own %u times %u", own, times);
}

/* One buffer twice, and after each granule of it a granule of the CTA's own. */
static void hot(Builder *b, Hot kind, uint32_t mib) {
  begin(b, SCAN_SLOTS, 0);
  for (uint32_t i = 0; i < mib * MIB; i++) {
    add(b, i);
    if (kind == HOT_READ) add(b, SCAN_PLUS_CTA | HOT_AT);
    if (kind == HOT_STORE) add(b, SCAN_STORES | SCAN_PLUS_CTA | HOT_AT);
  }
  read_all(b, 2);
  finish(b, "hot %s mib %u", HOT_WORDS[kind], mib);
}

/* A number of CTAs alone on the machine, all reading the same 4 MiB. */
static void few(Builder *b, uint32_t n_ctas) {
  begin(b, n_ctas, 0);
  add_stretch(b, 0, 4);
  read_all(b, 1);
  finish(b, "few %u", n_ctas);
}

/* A, some MiB of other things, A, some more, A. */
static void read_again(Builder *b, uint32_t n_ctas, uint32_t before_mib, uint32_t after_mib) {
  enum { A_MIB = 8, B_AT = 200 * MIB, C_AT = 400 * MIB };
  begin(b, n_ctas, 0);
  add_stretch(b, 0, A_MIB), add_stretch(b, B_AT, before_mib), add_stretch(b, 0, A_MIB), add_stretch(b, C_AT, after_mib),
      add_stretch(b, 0, A_MIB);
  read_all(b, 1);
}

static void renewed(Builder *b, uint32_t after_mib) {
  read_again(b, SCAN_SLOTS, 16, after_mib);
  finish(b, "renewed a 8 b 16 c %u", after_mib);
}

static void far(Builder *b, uint32_t between_mib) {
  read_again(b, 1, between_mib, between_mib);
  finish(b, "far a 8 between %u", between_mib);
}

static void strided(Builder *b, uint32_t stride, uint32_t mib) {
  begin(b, SCAN_SLOTS, 0);
  for (uint32_t i = 0; i < mib * MIB; i++) add(b, i * stride);
  read_all(b, 3);
  finish(b, "strided one of %u mib %u", stride, mib);
}

/* Rows from the last key to the first, the shortest first, without what is a CTA's own. */
static void turns(Builder *b, uint32_t mib, uint32_t n_rows, uint32_t heads) {
  const uint32_t n_keys = mib * MIB / 2, n = n_rows * heads;
  uint32_t row[SCAN_SLOTS], left[SCAN_SLOTS] = {0}, next = 0;
  begin(b, 1, 0);
  for (bool busy = true; busy;) {
    busy = false;
    for (uint32_t slot = 0; slot < SCAN_SLOTS; slot++) {
      if (left[slot] == 0) {
        if (next == n) continue;
        row[slot] = next++;
        left[slot] = n_keys * (row[slot] % n_rows + 1) / n_rows;
      }
      const uint32_t key = row[slot] / n_rows * n_keys + --left[slot];
      add(b, key);
      add(b, b->v_at + key);
      busy = true;
    }
  }
  read_all(b, 1);
  finish(b, "turns %u heads %u mib %u", n_rows, heads, mib);
}

static Builder *open(ScanVisit *visit, void *context) {
  Builder *b = malloc(sizeof *b);
  if (!b) return b;
  b->visit = visit;
  b->context = context;
  b->k_at = 0, b->v_at = V_AT, b->q_at = Q_AT, b->o_at = O_AT, b->hot_at = HOT_AT;
  b->place = 0;
  return b;
}

/* Rows that come again so, and turns. */
static void each_walk(Builder *b, Again again) {
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
    if (!again || ROWS[i].again & again) rows(b, &ROWS[i]);
  if (!again) return;
  turns(b, 16, 256, 4);
  turns(b, 24, 384, 3);
}

bool scan_lists_each(ScanVisit *visit, void *context) {
  static const uint32_t V_MIB[] = {74, 130, 212, 366, 438, 530}; /* any even numbers */
  Builder *b = open(visit, context);
  if (!b) return false;
  for (uint32_t n = 1; n <= 8; n *= 2)
    for (uint32_t mib = 20; mib <= 34; mib += 2)
      for (uint32_t seed = 1; seed <= (n == 1 ? 1 : 3); seed++) pieces(b, n, mib, seed);
  for (uint32_t piece = 128; piece >= 1; piece = piece > 16 ? 16 : piece / 16)
    for (uint32_t mib = 20; mib <= 36; mib += 4) scattered(b, piece, mib);
  for (int store = 0; store < 2; store++)
    for (uint32_t mib = 16; mib <= 24; mib += 4)
      for (uint32_t own = 1; own <= 6; own++) between(b, store, mib, own);
  each_walk(b, 0);
  for (uint32_t own = 2; own <= 16; own *= 2)
    for (uint32_t times = 1; times <= 2; times++) stores(b, own, times);
  for (uint32_t n = 1; n <= 128; n *= 2) few(b, n);
  for (Hot kind = HOT_NONE; kind <= HOT_STORE; kind++)
    for (uint32_t mib = 16; mib <= 32; mib += 2) hot(b, kind, mib);
  for (uint32_t c = 4; c <= 28; c += 3) renewed(b, c);
  for (uint32_t between = 28; between <= 44; between += 8) far(b, between);
  for (uint32_t stride = 1; stride <= 16; stride = stride == 4 ? 16 : 2 * stride)
    for (uint32_t mib = 16; mib <= 28; mib += 4) strided(b, stride, mib);
  turns(b, 16, 256, 4);
  turns(b, 24, 384, 3);
  for (size_t place = 0; place < sizeof V_MIB / sizeof *V_MIB; place++) {
    b->v_at = V_MIB[place] * MIB;
    each_walk(b, AT_V);
  }
  free(b);
  return true;
}

/* Each tensor at a random multiple of 2 MiB in its own share of the pool. */
static void go_to_place(Builder *b, uint32_t place) {
  enum { TENSORS = 5, SHARE = SCAN_POOL_GRANULES / TENSORS / (2 * MIB) * (2 * MIB), LARGEST = 128 * MIB };
  uint32_t *const at[TENSORS] = {&b->k_at, &b->v_at, &b->q_at, &b->o_at, &b->hot_at};
  uint64_t random = 100 + place;
  b->place = place;
  for (uint32_t t = 0; t < TENSORS; t++)
    *at[t] = t * SHARE + next_random(&random) % ((SHARE - LARGEST) / (2 * MIB)) * (2 * MIB);
}

bool scan_lists_each_place(ScanVisit *visit, void *context) {
  Builder *b = open(visit, context);
  if (!b) return false;
  for (uint32_t place = 1; place <= SCAN_PLACES; place++) {
    go_to_place(b, place);
    each_walk(b, AT_PLACES);
    for (uint32_t n = 1; n <= 8; n *= 2)
      for (uint32_t mib = 26; mib <= 32; mib += 2) pieces(b, n, mib, 10 + place);
    for (uint32_t piece = 256; piece >= 1; piece /= 4)
      for (uint32_t mib = 24; mib <= 28; mib += 4) scattered(b, piece, mib);
  }
  free(b);
  return true;
}
