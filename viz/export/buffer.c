#include "viz/export/buffer.h"

#include "sim/base/utf8.h"
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
  char text[512] = ""; /* longer results are cut */
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  buffer_add_text(buffer, text);
}

void buffer_add_escaped(ByteBuffer *out, const char *text, size_t left) {
  for (size_t n = 1; left > 0; text += n, left -= n) {
    n = utf8_sequence((const unsigned char *)text, left);
    if (n == 0 || (n == 3 && (memcmp(text, "\xEF\xBF\xBE", 3) == 0 || memcmp(text, "\xEF\xBF\xBF", 3) == 0))) {
      buffer_add_text(out, "\xEF\xBF\xBD");
      n = n ? n : 1;
      continue;
    }
    switch (*text) {
    case '&': buffer_add_text(out, "&amp;"); break;
    case '<': buffer_add_text(out, "&lt;"); break;
    case '>': buffer_add_text(out, "&gt;"); break;
    case '"': buffer_add_text(out, "&quot;"); break;
    default:
      if ((unsigned char)*text >= 0x20 || *text == '\n' || *text == '\t') buffer_add(out, text, n);
    }
  }
}

void buffer_free(ByteBuffer *buffer) {
  free(buffer->bytes);
  *buffer = (ByteBuffer){0};
}
