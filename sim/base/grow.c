#include "sim/base/grow.h"

#include <stdint.h>
#include <stdlib.h>

bool grow_array(void **items, size_t *capacity, size_t needed, size_t item_bytes) {
  if (needed <= *capacity) return true;
  size_t wanted = *capacity ? *capacity : 16;
  while (wanted < needed) {
    if (wanted > SIZE_MAX / 2) return false;
    wanted *= 2;
  }
  if (wanted > SIZE_MAX / item_bytes) return false;
  void *grown = realloc(*items, wanted * item_bytes);
  if (!grown) return false;
  *items = grown;
  *capacity = wanted;
  return true;
}
