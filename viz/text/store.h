/* Text kept by offset in one growing block, so that the objects built on it have one thing to free
 * and no pointer into themselves. The first failure sticks: afterwards additions do nothing and
 * give offset 0, which is always the empty string. */
#ifndef TILEWALK_VIZ_TEXT_STORE_H
#define TILEWALK_VIZ_TEXT_STORE_H

#include "sim/base/error.h"
#include "sim/base/grow.h"

#include <stdarg.h>

typedef struct {
  Status status;
  char *bytes; /* NULL while empty */
  size_t used, capacity;
} TextStore; /* all zero: empty and ready */

/* Copies a string (NULL is the empty string) and returns its offset. */
size_t text_store_add(TextStore *store, const char *text);

/* The same from a printf format. */
size_t text_store_format(TextStore *store, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

/* The string at an offset; valid until the next addition. */
const char *text_store_get(const TextStore *store, size_t offset);

void text_store_free(TextStore *store);

#endif
