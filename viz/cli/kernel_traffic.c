#include "viz/cli/kernel_traffic.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/splitmix.h"

enum { SMS_A_COALESCER = 4, WRITES = 255 }; /* SMs: Hopper's; sim/l2/MODEL.md */
#define CAPACITY_MAX ((uint64_t)1 << 26)

static bool grow(KernelTraffic *t) {
  const uint64_t capacity = t->capacity ? 2 * t->capacity : 1 << 16;
  uint64_t *keys = capacity > CAPACITY_MAX ? NULL : calloc(capacity, sizeof *keys);
  uint8_t *sectors = keys ? calloc(capacity, 1) : NULL;
  if (!sectors) {
    free(keys);
    return false;
  }
  for (uint64_t k = 0; k < t->capacity; k++) {
    if (!t->keys[k]) continue;
    uint64_t at = mix(t->keys[k]) & (capacity - 1);
    while (keys[at]) at = (at + 1) & (capacity - 1);
    keys[at] = t->keys[k], sectors[at] = t->sectors[k];
  }
  free(t->keys);
  free(t->sectors);
  t->keys = keys, t->sectors = sectors, t->capacity = capacity;
  return true;
}

void kernel_traffic_take(void *context, int32_t sm, PtxTraffic kind, uint64_t address, uint32_t sectors) {
  KernelTraffic *t = context;
  if (t->trouble || (t->n * 2 >= t->capacity && !grow(t))) {
    t->trouble = true;
    return;
  }
  const uint64_t group = kind == PTX_READ_SECTORS ? (uint64_t)(sm / SMS_A_COALESCER) : WRITES;
  const uint64_t key = ((address >> 7) << 8 | group) + 1;
  uint64_t at = mix(key) & (t->capacity - 1);
  while (t->keys[at] && t->keys[at] != key) at = (at + 1) & (t->capacity - 1);
  if (!t->keys[at]) t->keys[at] = key, t->n++;
  const uint8_t fresh = (uint8_t)(sectors & 15 & ~(uint32_t)t->sectors[at]);
  t->sectors[at] |= fresh;
  *(kind == PTX_READ_SECTORS ? &t->read_low_sectors : &t->written_sectors) += (uint64_t)__builtin_popcount(fresh);
}

void kernel_traffic_free(KernelTraffic *t) {
  free(t->keys);
  free(t->sectors);
  memset(t, 0, sizeof *t);
}
