/* Texts by offset in one growing block: no pointer into itself, one thing to free. Zeros: empty,
 * and offset 0 is always the empty text. */
#ifndef TILEWALK_LESSONS_ENGINE_POOL_H
#define TILEWALK_LESSONS_ENGINE_POOL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  char *bytes;
  size_t used, capacity;
} Pool;

/* Adds text[0..length) and a final zero; false: no memory, nothing changed. */
bool pool_add(Pool *pool, const char *text, size_t length, size_t *offset);

/* Adds more to the text that was added last. */
bool pool_extend(Pool *pool, const char *text, size_t length);

/* The text at an offset; valid until the next addition. */
const char *pool_text(const Pool *pool, size_t offset);

void pool_free(Pool *pool);

/* Makes room for `needed` items in a growing array, doubling; false: no memory, nothing changed. */
bool pool_grow_array(void **items, size_t *capacity, size_t needed, size_t item_bytes);

#endif
