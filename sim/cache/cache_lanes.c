/* The fast path: many neighbouring sets at once.
 *
 * A tile is a run of lines, and neighbouring lines lie in neighbouring sets and share their tag.
 * With all sets' fronts side by side in memory, then all sets' second places, and so on
 * (CACHE_LAYOUT_BY_POSITION), one vector instruction does for 4 to 16 sets what plain code does for
 * one:
 *
 *     position 0   [set 0][set 1][set 2][set 3]...    a vector holds one position of many sets;
 *     position 1   [set 0][set 1][set 2][set 3]...    the list update moves every lane one place
 *     ...                                             down until that lane has found its line
 *
 * Where a line is new to sixteen neighbouring sets, or last in all of them, nothing moves: the ring
 * of their places turns (CACHE_GROUP_SETS, cache_private.h).
 *
 * The vectors are the compiler's generic ones, so this is portable C; x86 builds also hold versions
 * for AVX2 and AVX-512, chosen once by cache_new. All versions give the same lines in the same
 * order.
 */
#include "sim/cache/cache_private.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HOST_HAS_CHOICE 1
#include <cpuid.h>
#endif

static inline bool any_bit(const uint64_t *parts, int n) {
  uint64_t any = 0;
  for (int i = 0; i < n; i++) any |= parts[i];
  return any != 0;
}

static void cache_count_run(CacheState *state, uint64_t lines, uint64_t line_misses, uint64_t sector_misses,
                            CacheKind kind) {
  CacheCounts *counts = &state->counts;
  counts->lines_touched += lines;
  counts->line_misses += line_misses;
  if (kind == CACHE_READ) {
    counts->read_sectors += lines * state->sectors_per_line;
    counts->read_sector_misses += sector_misses;
  } else {
    counts->write_sectors += lines * state->sectors_per_line;
    counts->write_sector_absent += sector_misses;
  }
}

#define WORD         uint32_t
#define VECTOR_BYTES 16
#define RUN(x)       x##_32_in_16
#define TARGET
#include "sim/cache/cache_run.h"

#define WORD         uint64_t
#define VECTOR_BYTES 16
#define RUN(x)       x##_64_in_16
#define TARGET
#include "sim/cache/cache_run.h"

#ifdef HOST_HAS_CHOICE
#define WORD         uint32_t
#define VECTOR_BYTES 32
#define RUN(x)       x##_32_in_32
#define TARGET       __attribute__((target("avx2")))
#include "sim/cache/cache_run.h"

#define WORD         uint64_t
#define VECTOR_BYTES 32
#define RUN(x)       x##_64_in_32
#define TARGET       __attribute__((target("avx2")))
#include "sim/cache/cache_run.h"

#define WORD         uint32_t
#define VECTOR_BYTES 64
#define RUN(x)       x##_32_in_64
#define TARGET       __attribute__((target("avx512f")))
#include "sim/cache/cache_run.h"

#define WORD         uint64_t
#define VECTOR_BYTES 64
#define RUN(x)       x##_64_in_64
#define TARGET       __attribute__((target("avx512f")))
#include "sim/cache/cache_run.h"

/* Asks the processor, and whether the operating system keeps the wide registers (Intel SDM vol.
 * 1, 14.3 and 15.2: XCR0 bits 1-2 for AVX, 5-7 for AVX-512). */
uint32_t cache_host_vector_bytes(void) {
  unsigned a, b, c, d, kept, kept_high;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 16;
  __asm__("xgetbv" : "=a"(kept), "=d"(kept_high) : "c"(0));
  if ((kept & 6) != 6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 16;
  if ((b & bit_AVX512F) && (kept & 0xe0) == 0xe0) return 64;
  return b & bit_AVX2 ? 32 : 16;
}

void cache_run(CacheState *state, uint64_t set, uint64_t n, uint64_t tag, CacheKind kind) {
  const bool narrow = state->word_bits == 32;
  switch (state->config.vector_bytes) {
  case 64: (narrow ? run_32_in_64 : run_64_in_64)(state, set, n, tag, kind); return;
  case 32: (narrow ? run_32_in_32 : run_64_in_32)(state, set, n, tag, kind); return;
  default: (narrow ? run_32_in_16 : run_64_in_16)(state, set, n, tag, kind); return;
  }
}
#else
uint32_t cache_host_vector_bytes(void) { return 16; }

void cache_run(CacheState *state, uint64_t set, uint64_t n, uint64_t tag, CacheKind kind) {
  (state->word_bits == 32 ? run_32_in_16 : run_64_in_16)(state, set, n, tag, kind);
}
#endif
