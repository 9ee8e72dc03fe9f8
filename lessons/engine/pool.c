#include "lessons/engine/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool pool_grow_array(void **items, size_t *capacity, size_t needed, size_t item_bytes) {
  if (needed <= *capacity) return true;
  size_t more = *capacity ? *capacity : 16;
  while (more < needed) {
    if (more > SIZE_MAX / 2) return false;
    more *= 2;
  }
  if (more > SIZE_MAX / item_bytes) return false;
  void *const grown = realloc(*items, more * item_bytes);
  if (!grown) return false;
  *items = grown;
  *capacity = more;
  return true;
}

static bool reserve(Pool *pool, size_t more) {
  void *bytes = pool->bytes;
  if (more > SIZE_MAX / 4 || !pool_grow_array(&bytes, &pool->capacity, pool->used + more + 2, 1)) return false;
  pool->bytes = bytes;
  if (pool->used == 0) pool->bytes[pool->used++] = '\0';
  return true;
}

bool pool_add(Pool *pool, const char *text, size_t length, size_t *offset) {
  if (!reserve(pool, length)) return false;
  *offset = pool->used;
  memcpy(pool->bytes + pool->used, text, length);
  pool->used += length;
  pool->bytes[pool->used++] = '\0';
  return true;
}

bool pool_extend(Pool *pool, const char *text, size_t length) {
  if (!reserve(pool, length)) return false;
  memcpy(pool->bytes + pool->used - 1, text, length);
  pool->used += length;
  pool->bytes[pool->used - 1] = '\0';
  return true;
}

const char *pool_text(const Pool *pool, size_t offset) { return offset ? pool->bytes + offset : ""; }

void pool_free(Pool *pool) {
  free(pool->bytes);
  *pool = (Pool){0};
}
