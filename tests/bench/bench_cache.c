/* How fast the cache models go, in one run, beside the plain loop anyone would write first: on one
 * core, and with the sets of one cache shared by all cores.
 *
 * The trace: one head of FlashAttention-2, N = 4096, d = 128, fp16, blocks of 128; Q, K, V, O
 * contiguous, 1 MiB each; 128-byte records, 540,672 of them; LRU, 16 ways. Every figure is the best
 * of several repetitions, and every way of counting must give the same line misses, or the bench
 * fails. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <stdio.h>
#include <string.h>

#include "sim/cache/din.h"
#include "tests/bench/bench.h"

enum { TILES = 32, TILE_BYTES = 32768, LINE_BYTES = 128, N_TILE_READS = TILES * (2 * TILES + 2), WAYS = 16 };
enum { N_RECORDS = N_TILE_READS * (TILE_BYTES / LINE_BYTES) };

typedef struct {
  uint64_t address;
  CacheKind kind;
} Tile;

typedef struct {
  Tile tiles[N_TILE_READS];
} Trace;

/* V may lie elsewhere. */
static void make_trace(Trace *trace, uint64_t v) {
  const uint64_t mib = 1 << 20;
  Tile *tile = trace->tiles;
  for (uint64_t i = 0; i < TILES; i++) {
    *tile++ = (Tile){i * TILE_BYTES, CACHE_READ};
    for (uint64_t j = 0; j < TILES; j++) {
      *tile++ = (Tile){mib + j * TILE_BYTES, CACHE_READ};
      *tile++ = (Tile){v + j * TILE_BYTES, CACHE_READ};
    }
    *tile++ = (Tile){3 * mib + i * TILE_BYTES, CACHE_WRITE};
  }
}

/* --- the plain loop: tags and dirty flags, no sectors --- */

typedef struct {
  uint64_t sets, misses, dirty_evictions;
  uint32_t *words; /* per set WAYS of (tag + 1) << 1 | dirty, last used first */
} Plain;

static void plain_access(Plain *plain, uint64_t address, bool write) {
  const uint64_t line = address / LINE_BYTES;
  uint32_t *words = plain->words + (line & (plain->sets - 1)) * WAYS;
  const uint32_t tag = (uint32_t)(line / plain->sets + 1);
  int way = 0;
  while (way < WAYS && words[way] >> 1 != tag) way++;
  uint32_t word = tag << 1;
  if (way < WAYS) {
    word = words[way];
  } else {
    plain->misses++;
    plain->dirty_evictions += words[--way] & 1;
  }
  for (; way > 0; way--) words[way] = words[way - 1];
  words[0] = word | write;
}

static double time_plain(const Trace *trace, uint64_t size_bytes, uint64_t *misses) {
  double best = 1e9;
  Plain plain = {.sets = size_bytes / LINE_BYTES / WAYS};
  plain.words = malloc(plain.sets * WAYS * sizeof *plain.words);
  if (!plain.words) abort();
  for (int repeat = 0; repeat < 7; repeat++) {
    memset(plain.words, 0, plain.sets * WAYS * sizeof *plain.words);
    plain.misses = 0;
    const double began = now_s();
    for (const Tile *tile = trace->tiles; tile < trace->tiles + N_TILE_READS; tile++)
      for (uint64_t byte = 0; byte < TILE_BYTES; byte += LINE_BYTES)
        plain_access(&plain, tile->address + byte, tile->kind == CACHE_WRITE);
    const double seconds = now_s() - began;
    if (seconds < best) best = seconds;
  }
  free(plain.words);
  *misses = plain.misses;
  return best;
}

/* --- ours --- */

static double time_cache(const Trace *trace, const CacheConfig *config, bool by_record, uint64_t *misses) {
  double best = 1e9;
  CacheState *cache;
  if (cache_new(&cache, config, NULL) != STATUS_OK) abort();
  for (int repeat = 0; repeat < 7; repeat++) {
    cache_reset(cache);
    const double began = now_s();
    for (const Tile *tile = trace->tiles; tile < trace->tiles + N_TILE_READS; tile++)
      if (!by_record)
        cache_access_range(cache, tile->address, TILE_BYTES, tile->kind);
      else
        for (uint64_t byte = 0; byte < TILE_BYTES; byte += LINE_BYTES)
          cache_access(cache, tile->address + byte, LINE_BYTES, tile->kind);
    const double seconds = now_s() - began;
    if (seconds < best) best = seconds;
  }
  *misses = cache->counts.line_misses;
  free(cache);
  return best;
}

static int report(const char *what, double seconds, double plain_seconds, uint64_t misses, uint64_t expected) {
  printf("  %-44s %9.0f million/s   %6.2f x the plain loop\n", what, 1e-6 * N_RECORDS / seconds,
         plain_seconds / seconds);
  if (misses == expected) return 0;
  printf("  WRONG: %ju line misses, not %ju\n", misses, expected);
  return 1;
}

static int one_size(const Trace *trace, const Trace *far, uint64_t mib, uint64_t expected) {
  const CacheConfig narrow = {.size_bytes = mib << 20, .address_bits = 40}, wide = {.size_bytes = mib << 20};
  CacheConfig by_set = narrow;
  by_set.layout = CACHE_LAYOUT_BY_SET;
  uint64_t misses;
  int wrong = 0;
  const double plain = time_plain(trace, mib << 20, &misses);
  printf("%ju MiB, references of one line\n", mib);
  wrong += report("plain move-to-front loop, no sectors", plain, plain, misses, expected);
  const struct {
    const char *what;
    const Trace *trace;
    const CacheConfig *config;
    bool by_record;
  } rows[] = {
      {"cache_access_range, 40-bit addresses", trace, &narrow, false},
      {"48-bit addresses, V 128 TiB away", far, &wide, false},
      {"cache_access, by position", trace, &narrow, true},
      {"cache_access, by set", trace, &by_set, true},
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    const double seconds = time_cache(rows[i].trace, rows[i].config, rows[i].by_record, &misses);
    wrong += report(rows[i].what, seconds, plain, misses, expected);
  }
  return wrong;
}

/* The same trace as Dinero text, one line a record. */
static char *make_text(const Trace *trace, size_t *length) {
  char *text = malloc((size_t)N_RECORDS * DIN_TEXT_BYTES);
  if (!text) abort();
  *length = 0;
  for (const Tile *tile = trace->tiles; tile < trace->tiles + N_TILE_READS; tile++)
    for (uint64_t byte = 0; byte < TILE_BYTES; byte += LINE_BYTES) {
      const DinRecord record = {tile->address + byte, LINE_BYTES, tile->kind == CACHE_WRITE};
      *length += din_print(&record, text + *length);
    }
  return text;
}

/* What `tilewalk trace` does with text that is in memory. */
static int text_trace(const char *text, size_t length, uint64_t mib, uint64_t expected) {
  enum { RECORDS = 8192 };
  static DinRecord records[RECORDS];
  const CacheConfig config = {.size_bytes = mib << 20, .address_bits = 64};
  double best = 1e9;
  uint64_t misses = 0;
  for (int repeat = 0; repeat < 15; repeat++) {
    DinParser parser = {0};
    CacheState *cache;
    if (cache_new(&cache, &config, NULL)) abort();
    const double began = now_s();
    for (size_t at = 0, n, used; at < length; at += used)
      if (din_parse(&parser, text + at, length - at, true, records, RECORDS, &n, &used, NULL) ||
          din_replay(cache, records, n, NULL))
        abort();
    const double seconds = now_s() - began;
    if (seconds < best) best = seconds;
    misses = cache->counts.line_misses;
    free(cache);
  }
  printf("  Dinero text, run through %2ju MiB %13s %9.0f million lines/s%s\n", mib, "", 1e-6 * N_RECORDS / best,
         misses == expected ? "" : "  WRONG misses");
  return misses != expected;
}

int main(void) {
  Trace *trace = malloc(sizeof *trace);
  Trace *far = malloc(sizeof *far);
  if (!trace || !far) abort();
  make_trace(trace, 2 << 20);
  make_trace(far, ((uint64_t)1 << 47) + (2 << 20));
  const int wrong = one_size(trace, far, 32, 32768) + one_size(trace, far, 2, 286720);
  size_t length;
  char *text = make_text(trace, &length);
  const int wrong_text = text_trace(text, length, 32, 32768) + text_trace(text, length, 2, 286720);
  free(text);
  free(far);
  free(trace);
  return wrong + wrong_text != 0;
}
