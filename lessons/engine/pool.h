/* Texts that stay where they are, and are freed together. Zeros: empty. */
#ifndef TILEWALK_LESSONS_ENGINE_POOL_H
#define TILEWALK_LESSONS_ENGINE_POOL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  struct PoolBlock *blocks;
} Pool;

/* A copy of text[0..length) with a final zero; NULL: no memory. */
const char *pool_add(Pool *pool, const char *text, size_t length);

void pool_free(Pool *pool);

/* Makes room for `needed` items in a growing array, doubling; false: no memory, nothing changed. */
bool pool_grow_array(void **items, size_t *capacity, size_t needed, size_t item_bytes);

#endif
