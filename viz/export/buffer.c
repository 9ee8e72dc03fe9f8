#include "viz/export/buffer.h"

#include "viz/text/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_add(ByteBuffer *buffer, const void *bytes, size_t n) {
  void *block = buffer->bytes;
  if (buffer->failed || n == 0) return;
  if (n > (size_t)-1 - buffer->used || !grow_array(&block, &buffer->capacity, buffer->used + n, 1)) {
    buffer->failed = true;
    return;
  }
  buffer->bytes = block;
  memcpy(buffer->bytes + buffer->used, bytes, n);
  buffer->used += n;
}

void buffer_add_text(ByteBuffer *buffer, const char *text) { buffer_add(buffer, text, strlen(text)); }

void buffer_add_format(ByteBuffer *buffer, const char *format, ...) {
  char text[512]; /* longer results are cut */
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length > 0) buffer_add(buffer, text, strlen(text));
}

void buffer_free(ByteBuffer *buffer) {
  free(buffer->bytes);
  *buffer = (ByteBuffer){0};
}
