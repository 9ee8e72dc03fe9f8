#include "sim/machine/warp.h"

#include "sim/machine/bank.h"

#include <stddef.h>

static bool is_active(const WarpAccess *access, uint32_t lane) { return access->active >> lane & 1; }

/* --- patterns --- */

uint64_t warp_swizzle(uint64_t offset, WarpSwizzle swizzle) {
  static const uint64_t low_bits[] = {0, 1, 3, 7};
  return offset ^ (offset >> 7 & low_bits[swizzle]) << 4;
}

uint64_t warp_tile_address(const WarpTile *tile, uint64_t row, uint64_t byte_in_row) {
  const uint64_t offset = row * (tile->row_bytes + tile->pad_bytes) + byte_in_row;
  return tile->base + warp_swizzle(offset, tile->swizzle);
}

WarpAccess warp_strided(uint64_t base, int64_t stride_bytes, uint32_t element_bytes) {
  WarpAccess access = {.active = UINT32_MAX, .element_bytes = element_bytes};
  for (uint64_t lane = 0; lane < WARP_LANES; lane++) access.address[lane] = base + lane * (uint64_t)stride_bytes;
  return access;
}

WarpAccess warp_column(const WarpTile *tile, uint64_t column, uint32_t element_bytes) {
  WarpAccess access = {.active = UINT32_MAX, .element_bytes = element_bytes};
  for (uint64_t lane = 0; lane < WARP_LANES; lane++)
    access.address[lane] = warp_tile_address(tile, lane, column * element_bytes);
  return access;
}

Status warp_check(const WarpAccess *access, Error *error) {
  const uint32_t bytes = access->element_bytes;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16)
    return error_refuse(error, "a lane moves 1, 2, 4, 8 or 16 bytes, not %u", bytes);
  for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
    if (!is_active(access, lane)) continue;
    if (access->address[lane] % bytes)
      return error_refuse(error, "lane %u asks for %u bytes at address %llu, which is no multiple of %u", lane, bytes,
                          (unsigned long long)access->address[lane], bytes);
  }
  return STATUS_OK;
}

/* --- global memory --- */

/* Sorts the active lanes' addresses into `sorted`; returns how many. */
static uint32_t sort_addresses(const WarpAccess *access, uint64_t sorted[WARP_LANES]) {
  uint32_t n = 0;
  for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
    if (!is_active(access, lane)) continue;
    uint32_t place = n++;
    for (; place > 0 && sorted[place - 1] > access->address[lane]; place--) sorted[place] = sorted[place - 1];
    sorted[place] = access->address[lane];
  }
  return n;
}

WarpGlobal warp_global(const WarpAccess *access) {
  uint64_t sorted[WARP_LANES];
  WarpGlobal result = {.active_lanes = sort_addresses(access, sorted)};
  for (uint32_t i = 0; i < result.active_lanes; i++) { /* aligned elements are the same or apart */
    const uint64_t last = i ? sorted[i - 1] : 0;
    result.used_bytes += i == 0 || sorted[i] != last ? access->element_bytes : 0;
    result.sectors += i == 0 || sorted[i] / WARP_SECTOR_BYTES != last / WARP_SECTOR_BYTES;
    result.lines += i == 0 || sorted[i] / WARP_LINE_BYTES != last / WARP_LINE_BYTES;
  }
  result.requested_bytes = (uint64_t)result.active_lanes * access->element_bytes;
  result.moved_bytes = (uint64_t)result.sectors * WARP_SECTOR_BYTES;
  if (result.used_bytes) result.overfetch = (double)result.moved_bytes / (double)result.used_bytes;
  return result;
}

/* --- shared memory --- */

/* Whether lanes n and n ^ distance ask for the same address wherever both take part. */
static bool same_in_pairs(const WarpAccess *access, uint32_t distance) {
  for (uint32_t lane = 0; lane < WARP_LANES; lane++)
    if (is_active(access, lane) && is_active(access, lane ^ distance) &&
        access->address[lane] != access->address[lane ^ distance])
      return false;
  return true;
}

static uint32_t lanes_in_a_part(const WarpAccess *access) {
  if (access->element_bytes <= WARP_BANK_BYTES) return WARP_LANES;
  const uint32_t lanes = WARP_BANKS * WARP_BANK_BYTES / access->element_bytes;
  const bool paired = !access->is_store && (same_in_pairs(access, 1) || same_in_pairs(access, 2));
  return paired ? 2 * lanes : lanes;
}

WarpShared warp_shared(const WarpAccess *access) {
  BankWords w;
  bank_words(access->address, access->active, (int)access->element_bytes, (int)lanes_in_a_part(access), &w);
  uint32_t n = 0;
  for (uint32_t lane = 0; lane < WARP_LANES; lane++) n += is_active(access, lane);
  return (WarpShared){.active_lanes = n,
                      .parts = (uint32_t)w.n_parts,
                      .wavefronts = (uint32_t)w.n_passes,
                      .conflicts = (uint32_t)(w.n_passes - w.n_parts),
                      .ways = (uint32_t)w.ways,
                      .worst_bank = (uint32_t)w.worst_bank};
}

/* --- names --- */

const char *const WARP_SWIZZLES[] = {"none", "32B", "64B", "128B", NULL};
