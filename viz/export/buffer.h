/* Bytes that grow: where encoders write when the whole file is made in memory. The first failure
 * sticks. */
#ifndef TILEWALK_VIZ_EXPORT_BUFFER_H
#define TILEWALK_VIZ_EXPORT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  unsigned char *bytes;
  size_t used, capacity;
  bool failed; /* memory ran out */
} ByteBuffer;  /* all zero: empty */

void buffer_add(ByteBuffer *buffer, const void *bytes, size_t n);
void buffer_add_text(ByteBuffer *buffer, const char *text);
void buffer_add_format(ByteBuffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text between tags or in quotes. XML 1.0 has no way to write control characters: they are left out. Bytes that are no
 * UTF-8 and U+FFFE, U+FFFF, which it has not either, become U+FFFD. */
void buffer_add_escaped(ByteBuffer *buffer, const char *text, size_t n);
void buffer_free(ByteBuffer *buffer);

#endif
