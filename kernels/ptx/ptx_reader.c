/* Mistakes with their place, and the names of types. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/ptx/ptx_reader.h"

const uint8_t ptx_type_bytes[] = {0, 1, 1, 1, 2, 2,  2, 2, 2, 4, 4, 4, 4, 4, 4,
                                  4, 8, 8, 8, 8, 16, 0, 1, 1, 2, 2, 0, 0, 0};

bool ptx_reader_fails(Reader *r, const char *format, ...) {
  char text[ERROR_MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (!r->status) r->status = error_set(r->error, STATUS_BAD_FILE, "%s:%d: %s", r->module->name, r->c.line, text);
  return false;
}

bool ptx_reader_refuses(Reader *r, Word w, const char *why) {
  if (w.n == 0) {
    char c = cursor_peek(&r->c);
    if (!c) return ptx_reader_fails(r, "the text ends too early");
    return ptx_reader_fails(r, "'%c' %s", c, why ? why : "where a word is meant");
  }
  return ptx_reader_fails(r, "'%.*s' %s", w.n < 80 ? w.n : 80, w.at, why);
}

bool ptx_reader_no_memory(Reader *r) {
  if (!r->status) r->status = error_set(r->error, STATUS_NO_MEMORY, "%s: no memory", r->module->name);
  return false;
}

bool ptx_reader_grow(Reader *r, void *array, int32_t n, int32_t *capacity, size_t size, int32_t limit,
                     const char *what) {
  void **p = array;
  if (n < *capacity) return true;
  if (n >= limit) return ptx_reader_fails(r, "more than %d %s", limit, what);
  const int32_t more = 2 * *capacity + 64;
  void *grown = realloc(*p, (size_t)more * size);
  if (!grown) return ptx_reader_no_memory(r);
  *p = grown, *capacity = more;
  return true;
}

bool ptx_reader_expect(Reader *r, char symbol) {
  if (cursor_take(&r->c, symbol)) return true;
  Cursor here = r->c;
  const Word w = cursor_word(&here);
  if (w.n) return ptx_reader_fails(r, "'%.*s' where '%c' is meant", w.n < 80 ? w.n : 80, w.at, symbol);
  const char c = cursor_peek(&r->c);
  if (!c) return ptx_reader_fails(r, "the text ends where '%c' is meant", symbol);
  return ptx_reader_fails(r, "'%c' where '%c' is meant", c, symbol);
}

Type type_of(Word name) {
  static const char *const names[] = {"",     "b8",   "u8",   "s8",    "b16",    "u16",    "s16", "f16", "bf16", "b32",
                                      "u32",  "s32",  "f32",  "f16x2", "bf16x2", "tf32",   "b64", "u64", "s64",  "f64",
                                      "b128", "pred", "e4m3", "e5m2",  "e4m3x2", "e5m2x2", "s4",  "u4",  "b1"};
  for (size_t i = 1; i < sizeof names / sizeof *names; i++)
    if (word_is(name, names[i])) return (Type)i;
  return T_NONE;
}

PtxClass type_class(Type type) {
  switch (type) {
  case T_U8:
  case T_U16:
  case T_U32:
  case T_U64: return PTX_UNSIGNED;
  case T_S8:
  case T_S16:
  case T_S32:
  case T_S64: return PTX_SIGNED;
  case T_F16:
  case T_BF16:
  case T_F32:
  case T_F64:
  case T_F16X2:
  case T_BF16X2:
  case T_TF32: return PTX_FLOAT;
  default: return PTX_BITS;
  }
}
