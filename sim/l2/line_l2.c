#include "sim/l2/line_l2.h"

#include <stdlib.h>

#include "sim/base/splitmix.h"
#include "sim/cache/cache.h"

enum {
  USUAL_WAYS = 16, /* of a GPU that does not say: an H200's (hierarchy.h) */
  PARTS_BITS = 16, /* lines stored of which is known which words (assumed: as many) */
};

/* A line stored lately: who reads those words again finds them at its home, whatever else the sector has. Recorded:
 * launches that add to a row word by word hit (assets/counters/h100/public, row_softmax and forward_kernel). */
typedef struct {
  uint64_t line;
  uint32_t words;
} Parts;

struct LineL2 {
  uint32_t n_sides;
  CacheState *sides[LINE_L2_SIDES];
  LineL2Counts counts;
  Parts parts[1 << PARTS_BITS]; /* by a hash of the line */
};

/* Of the four sectors of a line. */
static uint32_t ones(uint32_t sectors) { return (uint32_t)(0x4332322132212110u >> 4 * sectors & 15); }

static Parts *parts_of(LineL2 *l2, uint64_t address) {
  const uint64_t line = address / LINE_L2_LINE_BYTES;
  return &l2->parts[mix(line) >> (64 - PARTS_BITS)];
}

static uint32_t home_of(const LineL2 *l2, uint64_t address) {
  return l2->n_sides == 1 ? 0 : (uint32_t)(mix(address / LINE_L2_LINE_BYTES) & 1);
}

Status line_l2_new(LineL2 **l2, const Gpu *gpu, Error *error) {
  *l2 = NULL;
  if (gpu->l2_bytes <= 0) return error_refuse(error, "nothing is known of the L2 of '%s'; take another GPU", gpu->name);
  if (gpu->l2_line_bytes && gpu->l2_line_bytes != LINE_L2_LINE_BYTES)
    return error_refuse(error, "the L2 of %s has lines of %lld bytes; this model has 128", gpu->name,
                        (long long)gpu->l2_line_bytes);
  LineL2 *new = calloc(1, sizeof *new);
  if (!new) return error_no_memory(error, "for L2");
  new->n_sides = gpu->l2_partitions == 2 ? 2 : 1;
  const uint64_t ways = gpu->l2_ways > 0 ? (uint64_t)gpu->l2_ways : USUAL_WAYS,
                 room = (uint64_t)(gpu->l2_room_bytes ? gpu->l2_room_bytes : gpu->l2_bytes) / new->n_sides,
                 set_bytes = ways *LINE_L2_LINE_BYTES, n_sets = room / set_bytes > 0 ? room / set_bytes : 1;
  Status status = STATUS_OK;
  for (uint32_t s = 0; s < new->n_sides && !status; s++) {
    const CacheConfig config = {.size_bytes = n_sets * set_bytes,
                                .ways = ways,
                                .line_bytes = LINE_L2_LINE_BYTES,
                                .sector_bytes = LINE_L2_SECTOR_BYTES,
                                .index = CACHE_INDEX_RANDOM,
                                .seed = s + 1};
    status = cache_new(&new->sides[s], &config, error);
  }
  if (!status)
    *l2 = new;
  else
    line_l2_free(new);
  return status;
}

void line_l2_free(LineL2 *l2) {
  if (!l2) return;
  for (uint32_t s = 0; s < LINE_L2_SIDES; s++) free(l2->sides[s]);
  free(l2);
}

/* Sectors of a line that the cache lacked, now there. */
static uint32_t fetch(CacheState *cache, uint64_t address, uint32_t sectors) {
  uint32_t fetched = 0;
  while (sectors) { /* runs of neighbours */
    const uint32_t first = (uint32_t)__builtin_ctz(sectors), n = (uint32_t)__builtin_ctz(~(sectors >> first));
    CacheEvent event;
    cache_access_line(cache, address + first * LINE_L2_SECTOR_BYTES, n * LINE_L2_SECTOR_BYTES, CACHE_READ, &event);
    fetched |= event.fetched_sectors;
    sectors &= ~(((1u << n) - 1) << first);
  }
  return fetched;
}

/* Sectors come in pairs: of a pair that lacks one, both are asked for. */
static uint32_t pairs_of(uint32_t sectors) {
  const uint32_t pairs = (sectors | sectors >> 1) & 5;
  return pairs | pairs << 1;
}

/* The home has these sectors now; those that it lacked. */
static uint32_t fetch_home(LineL2 *l2, uint32_t home, uint64_t address, uint32_t sectors) {
  const uint32_t missed = fetch(l2->sides[home], address, sectors),
                 other = fetch(l2->sides[home], address, pairs_of(missed) & ~missed);
  l2->counts.hbm_reads += ones(missed) + ones(other);
  return missed;
}

/* The same of the copy on the other side. */
static uint32_t fetch_copy(LineL2 *l2, uint32_t home, uint64_t address, uint32_t sectors) {
  const uint32_t missed = fetch(l2->sides[!home], address, sectors);
  if (!missed) return 0;
  const uint32_t all = missed | fetch(l2->sides[!home], address, pairs_of(missed) & ~missed);
  fetch_home(l2, home, address, all);
  l2->counts.fabric += ones(all);
  return missed;
}

void line_l2_read(LineL2 *l2, uint32_t side, uint64_t address, uint32_t words) {
  const uint32_t sectors = line_l2_sectors(words), home = home_of(l2, address);
  const Parts *parts = parts_of(l2, address);
  if (parts->line == address / LINE_L2_LINE_BYTES && !(words & ~parts->words)) {
    l2->counts.reads += ones(sectors), l2->counts.hits += ones(sectors);
    l2->counts.fabric += l2->n_sides == 2 && home != side ? ones(sectors) : 0;
    return;
  }
  const uint32_t missed = l2->n_sides == 1 || home == side ? fetch_home(l2, home, address, sectors)
                                                           : fetch_copy(l2, home, address, sectors);
  l2->counts.reads += ones(sectors);
  l2->counts.hits += ones(sectors & ~missed);
}

static void store(LineL2 *l2, uint32_t side, uint64_t address, uint32_t words) {
  const uint32_t sectors = line_l2_sectors(words), home = home_of(l2, address);
  uint32_t absent = 0;
  for (uint32_t w = words; w;) { /* runs of words */
    const uint32_t first = (uint32_t)__builtin_ctz(w), rest = ~(w >> first),
                   n = rest ? (uint32_t)__builtin_ctz(rest) : 32;
    CacheEvent event;
    cache_access_line(l2->sides[home], address + 4 * first, 4 * n, CACHE_WRITE, &event);
    absent |= event.absent_sectors;
    w &= n == 32 ? 0 : ~(((1u << n) - 1) << first);
  }
  for (uint32_t s = 0; s < 4; s++) l2->counts.partly_written += absent >> s & 1 && (words >> 8 * s & 255) != 255;
  Parts *parts = parts_of(l2, address);
  if (parts->line != address / LINE_L2_LINE_BYTES) *parts = (Parts){address / LINE_L2_LINE_BYTES, 0};
  parts->words |= words;
  if (l2->n_sides == 1) return;
  cache_purge(l2->sides[!home], address, LINE_L2_LINE_BYTES, true);
  if (home != side) l2->counts.fabric += ones(sectors);
}

void line_l2_write(LineL2 *l2, uint32_t side, uint64_t address, uint32_t words) {
  const uint32_t sectors = line_l2_sectors(words);
  l2->counts.writes += ones(sectors);
  store(l2, side, address, words);
}

void line_l2_reduce(LineL2 *l2, uint32_t side, uint64_t address, uint32_t words) {
  const uint32_t sectors = line_l2_sectors(words);
  l2->counts.reductions += ones(sectors);
  fetch_home(l2, home_of(l2, address), address, sectors);
  store(l2, side, address, words);
}

LineL2Counts line_l2_counts(const LineL2 *l2) {
  LineL2Counts counts = l2->counts;
  for (uint32_t s = 0; s < l2->n_sides; s++) {
    const CacheState *side = l2->sides[s];
    counts.hbm_writes += side->counts.written_back_sectors;
    for (uint64_t set = 0; set < side->sets; set++)
      for (uint64_t way = 0; way < side->config.ways; way++)
        counts.dirty += ones(cache_peek(side, set, way).dirty_sectors);
  }
  return counts;
}
