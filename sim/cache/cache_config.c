/* What a cache may be: the defaults and the checks. */
#include "sim/cache/cache_private.h"

#define CACHE_MAX_LINES ((uint64_t)1 << 31)

enum { MASKS_MAX_LINE_BYTES = 65536, TREE_MAX_WAYS = 64 };

static Status check_sizes(const CacheConfig *c, Error *error) {
  if (c->line_bytes % c->sector_bytes || c->line_bytes / c->sector_bytes > CACHE_MAX_SECTORS_PER_LINE)
    return error_refuse(error,
                        "cache: a line of %llu bytes cannot have sectors of %llu: a line holds 1 to "
                        "%d whole sectors",
                        (unsigned long long)c->line_bytes, (unsigned long long)c->sector_bytes,
                        CACHE_MAX_SECTORS_PER_LINE);
  const uint64_t lines = c->size_bytes / c->line_bytes;
  if (!lines || lines * c->line_bytes != c->size_bytes || lines % c->ways)
    return error_refuse(error,
                        "cache: %llu bytes are not a whole number of sets of %llu ways x %llu bytes; the nearest "
                        "size below is %llu",
                        (unsigned long long)c->size_bytes, (unsigned long long)c->ways,
                        (unsigned long long)c->line_bytes,
                        (unsigned long long)(lines / c->ways * c->ways * c->line_bytes));
  if (lines > CACHE_MAX_LINES)
    return error_set(error, STATUS_TOO_LARGE, "cache: %llu lines are more than the %llu that can be simulated",
                     (unsigned long long)lines, (unsigned long long)CACHE_MAX_LINES);
  if (c->line_bytes > MASKS_MAX_LINE_BYTES && !c->no_byte_masks)
    return error_refuse(error, "cache: lines of %llu bytes are too long for byte masks (at most %d); set no_byte_masks",
                        (unsigned long long)c->line_bytes, MASKS_MAX_LINE_BYTES);
  return STATUS_OK;
}

static Status check_choices(const CacheConfig *c, Error *error) {
  if ((unsigned)c->index > CACHE_INDEX_RANDOM || (unsigned)c->policy > CACHE_RANDOM ||
      (unsigned)c->layout > CACHE_LAYOUT_BY_SET)
    return error_refuse(error, "cache: index, policy or layout is none of its named values");
  if (c->vector_bytes && c->vector_bytes != 16 && c->vector_bytes != 32 && c->vector_bytes != 64)
    return error_refuse(error, "cache: vectors of %u bytes; 16, 32 or 64 are known", c->vector_bytes);
  if (c->address_bits < 8 || c->address_bits > 64)
    return error_refuse(error, "cache: addresses of %u bits; 8 to 64 are modelled", c->address_bits);
  if (c->policy == CACHE_TREE_PLRU && (log2_exact(c->ways) == NO_SHIFT || c->ways > TREE_MAX_WAYS))
    return error_refuse(error, "cache: tree-PLRU needs a power of two of ways, at most %d, not %llu", TREE_MAX_WAYS,
                        (unsigned long long)c->ways);
  return STATUS_OK;
}

Status cache_config_resolve(const CacheConfig *config, CacheConfig *resolved, Error *error) {
  CacheConfig c = *config;
  if (!c.size_bytes) c.size_bytes = 2 << 20;
  if (!c.ways) c.ways = 16;
  if (!c.line_bytes) c.line_bytes = 128;
  if (!c.sector_bytes)
    c.sector_bytes = c.line_bytes % 32 || c.line_bytes / 32 > CACHE_MAX_SECTORS_PER_LINE ? c.line_bytes : 32;
  if (!c.address_bits) c.address_bits = 48;
  Status status = check_sizes(&c, error);
  if (!status) status = check_choices(&c, error);
  if (status) return status;
  const uint64_t sets = c.size_bytes / c.line_bytes / c.ways;
  if (!c.xor_shift_bits) c.xor_shift_bits = sets > 1 ? log2_up(sets) : 1;
  if (c.layout == CACHE_LAYOUT_AUTO)
    c.layout = c.index == CACHE_INDEX_RANDOM || c.policy != CACHE_LRU || sets < 16 || c.ways > CACHE_SEARCH_MAX_WAYS
                   ? CACHE_LAYOUT_BY_SET
                   : CACHE_LAYOUT_BY_POSITION;
  const uint32_t host = c.layout == CACHE_LAYOUT_BY_POSITION ? cache_host_vector_bytes() : 16;
  if (!c.vector_bytes || c.vector_bytes > host) c.vector_bytes = host;
  *resolved = c;
  return STATUS_OK;
}
