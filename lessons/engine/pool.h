/* Texts that stay where they are, and are freed together. Zeros: empty. */
#ifndef TILEWALK_LESSONS_ENGINE_POOL_H
#define TILEWALK_LESSONS_ENGINE_POOL_H

#include "sim/base/grow.h"

typedef struct {
  struct PoolBlock *blocks;
} Pool;

/* A copy of text[0..length) with a final zero; NULL: no memory. */
const char *pool_add(Pool *pool, const char *text, size_t length);

void pool_free(Pool *pool);

#endif
