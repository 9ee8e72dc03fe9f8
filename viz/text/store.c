#include "viz/text/store.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `bytes` more, after the empty string that opens every store. Returns its offset, 0 on
 * failure. */
static size_t reserve(TextStore *store, size_t bytes) {
  if (store->status) return 0;
  size_t start = store->used ? store->used : 1;
  void *block = store->bytes;
  if (bytes > SIZE_MAX - start || !grow_array(&block, &store->capacity, start + bytes, sizeof(char))) {
    store->status = STATUS_NO_MEMORY;
    return 0;
  }
  store->bytes = block;
  store->bytes[0] = '\0';
  store->used = start + bytes;
  return start;
}

size_t text_store_add(TextStore *store, const char *text) {
  if (!text || !*text) return 0;
  size_t bytes = strlen(text) + 1;
  size_t offset = reserve(store, bytes);
  if (offset) memcpy(store->bytes + offset, text, bytes);
  return offset;
}

size_t text_store_format(TextStore *store, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  size_t offset = length > 0 ? reserve(store, (size_t)length + 1) : 0;
  if (offset) vsnprintf(store->bytes + offset, (size_t)length + 1, format, again);
  va_end(again);
  return offset;
}

const char *text_store_get(const TextStore *store, size_t offset) {
  return store->bytes && offset < store->used ? store->bytes + offset : "";
}

void text_store_free(TextStore *store) {
  free(store->bytes);
  *store = (TextStore){0};
}
