/* Exact counts of one request: 32-byte sectors, wavefronts in shared memory.
 *
 * Sectors: distinct ones of the active lanes. Wavefronts: a request of up to 4 bytes a lane is one group of 32 lanes;
 * of 8 bytes two half-warps, but one group where each active lane shares its address with lane xor 1 (or each with lane
 * xor 2); of 16 bytes the same rule in each half-warp, between its two quarters. A group costs the most distinct words
 * in one bank. Measured on an H100; ../../assets/counters/h100/kernels has the counters. */
#include <string.h>

#include "kernels/ptx/ptx_machine.h"

/* A set of up to 256 numbers. */
typedef struct {
  uint64_t keys[512];
  uint8_t used[512];
  uint32_t n;
} Set;

static bool set_add(Set *s, uint64_t key, uint32_t *at) {
  uint32_t h = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 55);
  for (;; h = (h + 1) & 511) {
    if (!s->used[h]) {
      s->used[h] = 1, s->keys[h] = key, s->n++;
      *at = h;
      return true;
    }
    if (s->keys[h] == key) {
      *at = h;
      return false;
    }
  }
}

uint32_t site_sectors(const uint64_t address[LANES], uint32_t mask, int32_t bytes) {
  const uint64_t first = address[__builtin_ctz(mask)] >> 5;
  uint64_t low = 0, high = 0; /* sectors first - 64 ... first + 63 */
  bool near = true;
  FOR_LANES (l, mask) {
    for (uint64_t s = address[l] >> 5; s <= (address[l] + (uint64_t)bytes - 1) >> 5; s++) {
      const uint64_t forth = s - first, back = first - s;
      if (forth < 64)
        high |= (uint64_t)1 << forth;
      else if (back <= 64)
        low |= (uint64_t)1 << (back - 1);
      else
        near = false;
    }
  }
  if (near) return (uint32_t)(__builtin_popcountll(low) + __builtin_popcountll(high));
  Set set;
  uint32_t at;
  memset(set.used, 0, sizeof set.used);
  set.n = 0;
  FOR_LANES (l, mask) {
    for (uint64_t s = address[l] >> 5; s <= (address[l] + (uint64_t)bytes - 1) >> 5; s++) set_add(&set, s, &at);
  }
  return set.n;
}

/* Lanes that add to one address one after another send its sector again: the sum over sectors of the most lanes at one
 * address. */
uint32_t site_atomic_sectors(const uint64_t address[LANES], uint32_t mask) {
  Set addresses, sectors;
  uint32_t at, lanes[512], most[512], sum = 0;
  memset(addresses.used, 0, sizeof addresses.used);
  memset(sectors.used, 0, sizeof sectors.used);
  addresses.n = sectors.n = 0;
  FOR_LANES (l, mask) {
    const uint64_t a = address[l];
    if (set_add(&addresses, a, &at)) lanes[at] = 0;
    const uint32_t n = ++lanes[at];
    if (set_add(&sectors, a >> 5, &at)) most[at] = 0;
    if (n > most[at]) most[at] = n;
  }
  for (uint32_t h = 0; h < 512; h++)
    if (sectors.used[h]) sum += most[h];
  return sum;
}

static uint32_t group_cost(const uint64_t address[LANES], uint32_t mask, int32_t bytes) {
  uint64_t words[32][64];
  uint32_t n[32] = {0}, most = 0;
  FOR_LANES (l, mask) {
    for (uint64_t w = address[l] >> 2; w <= (address[l] + (uint64_t)bytes - 1) >> 2; w++) {
      const uint32_t bank = (uint32_t)w & 31;
      uint32_t k = 0;
      while (k < n[bank] && words[bank][k] != w) k++;
      if (k < n[bank]) continue;
      words[bank][n[bank]++] = w;
      if (n[bank] > most) most = n[bank];
    }
  }
  return most;
}

/* Each active lane of the mask has the address of its neighbour at distance `step`. */
static bool paired(const uint64_t address[LANES], uint32_t mask, int step) {
  FOR_LANES (l, mask) {
    if ((mask >> (l ^ step) & 1) && address[l] != address[l ^ step]) return false;
  }
  return true;
}

uint32_t site_wavefronts(const uint64_t address[LANES], uint32_t mask, int32_t bytes, uint32_t *groups) {
  uint32_t cost = 0, n = 0;
  const int32_t whole = bytes <= 4 ? 32 : bytes == 8 ? 32 : 16, part = bytes <= 4 ? 32 : whole / 2;
  for (int32_t at = 0; at < 32; at += whole) {
    const uint32_t lanes = mask & (whole == 32 ? ~0u : 0xffffu << at);
    if (!lanes) continue;
    const bool one = part == whole || paired(address, lanes, 1) || paired(address, lanes, 2);
    for (int32_t p = at; p < at + whole; p += one ? whole : part) {
      const uint32_t group = one ? lanes : lanes & (((1u << part) - 1) << p);
      if (!group) continue;
      cost += group_cost(address, group, bytes);
      n++;
    }
  }
  *groups = n;
  return cost;
}

uint32_t site_matrix_wavefronts(const uint64_t address[LANES], int32_t matrices) {
  uint32_t cost = 0;
  for (int32_t k = 0; k < matrices; k++) cost += group_cost(address, 0xffu << 8 * k, 16);
  return cost;
}

const Buffer *run_buffer(const Run *run, uint64_t address, uint64_t bytes) {
  int32_t low = 0, high = run->n_buffers; /* sorted by address */
  while (low < high) {
    const int32_t middle = (low + high) / 2;
    if (run->buffers[middle].address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (!low) return NULL;
  const Buffer *b = &run->buffers[low - 1];
  return address - b->address <= b->bytes && bytes <= b->bytes - (address - b->address) ? b : NULL;
}
