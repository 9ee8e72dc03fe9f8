#include "lessons/engine/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct PoolBlock {
  struct PoolBlock *before;
  size_t used, capacity;
  char bytes[];
};

const char *pool_add(Pool *pool, const char *text, size_t length) {
  enum { BLOCK_BYTES = 4096 };
  struct PoolBlock *block = pool->blocks;
  if (!block || length >= block->capacity - block->used) {
    const size_t capacity = length < BLOCK_BYTES ? BLOCK_BYTES : length + 1;
    block = length < SIZE_MAX / 2 ? malloc(sizeof *block + capacity) : NULL;
    if (!block) return NULL;
    *block = (struct PoolBlock){pool->blocks, 0, capacity};
    pool->blocks = block;
  }
  char *const copy = block->bytes + block->used;
  memcpy(copy, text, length);
  copy[length] = '\0';
  block->used += length + 1;
  return copy;
}

void pool_free(Pool *pool) {
  while (pool->blocks) {
    struct PoolBlock *const before = pool->blocks->before;
    free(pool->blocks);
    pool->blocks = before;
  }
}
