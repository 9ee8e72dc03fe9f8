/* Device printf: the format and its arguments, as vprintf finds them in a thread's memory. */
#include <stdio.h>
#include <string.h>

#include "kernels/ptx/ptx_access.h"

enum { MAX_PRINTED_BYTES = 1 << 20, MAX_LINE_BYTES = 1024 };

typedef struct {
  char text[MAX_LINE_BYTES];
  int32_t n;
} Line;

static void put(Line *line, const char *text, size_t n) {
  if (n > (size_t)(MAX_LINE_BYTES - 1 - line->n)) n = (size_t)(MAX_LINE_BYTES - 1 - line->n);
  memcpy(line->text + line->n, text, n);
  line->n += (int32_t)n;
}

/* The argument at *at, aligned to its size; 0 where there is none. */
static uint64_t argument(Run *run, const Block *b, const Warp *w, int l, uint64_t *at, int32_t bytes) {
  uint64_t v = 0;
  *at = (*at + (uint64_t)bytes - 1) / (uint64_t)bytes * (uint64_t)bytes;
  const char *p = access_generic(run, b, w, l, *at, bytes);
  if (p) memcpy(&v, p, (size_t)bytes);
  *at += (uint64_t)bytes;
  return v;
}

static void put_string(Run *run, const Block *b, const Warp *w, int l, uint64_t from, Line *line) {
  for (const char *p; line->n < MAX_LINE_BYTES - 1 && (p = access_generic(run, b, w, l, from++, 1)) != NULL && *p;)
    put(line, p, 1);
}

/* One conversion, at "%": writes it and gives the place behind it. Its flags, width and precision are passed on. */
static uint64_t conversion(Run *run, const Block *b, const Warp *w, int l, uint64_t format, uint64_t *at, Line *line) {
  char spec[24] = "%", text[400];
  int32_t n = 1, longs = 0;
  const char *p;
  while ((p = access_generic(run, b, w, l, format, 1)) != NULL && *p && strchr("0123456789.-+ #lhzjt", *p) && n < 12) {
    if (*p == 'l' || *p == 'z' || *p == 'j' || *p == 't')
      longs++;
    else if (*p != 'h')
      spec[n++] = *p;
    format++;
  }
  if (!p || !*p) return format;
  const char kind = *p;
  double d;
  uint64_t v;
  spec[n] = 0;
  if (strchr("feEgGaA", kind)) {
    v = argument(run, b, w, l, at, 8);
    memcpy(&d, &v, sizeof d);
    snprintf(spec + n, sizeof spec - (size_t)n, "%c", kind);
    snprintf(text, sizeof text, spec, d);
  } else if (strchr("diuxXoc", kind)) {
    v = argument(run, b, w, l, at, longs ? 8 : 4);
    if (!longs && (kind == 'd' || kind == 'i')) v = (uint64_t)(int64_t)(int32_t)(uint32_t)v;
    snprintf(spec + n, sizeof spec - (size_t)n, kind == 'c' ? "c" : "ll%c", kind);
    if (kind == 'c')
      snprintf(text, sizeof text, spec, (int)(v & 127));
    else
      snprintf(text, sizeof text, spec, (long long)v);
  } else if (kind == 's') {
    put_string(run, b, w, l, argument(run, b, w, l, at, 8), line);
    return format + 1;
  } else if (kind == 'p') {
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)argument(run, b, w, l, at, 8));
  } else {
    snprintf(text, sizeof text, "%c", kind);
  }
  put(line, text, strlen(text));
  return format + 1;
}

void warp_print(Run *run, const Block *b, const Warp *w, const Ins *i, uint32_t m) {
  if (!run->launch->print) return;
  for (; m && run->printed_bytes < MAX_PRINTED_BYTES; m &= m - 1) {
    const int l = __builtin_ctz(m);
    uint64_t at = LOCAL_WINDOW + (uint64_t)i->imm, format = argument(run, b, w, l, &at, 8);
    at = LOCAL_WINDOW + (uint64_t)i->target;
    at = argument(run, b, w, l, &at, 8);
    Line line = {.n = 0};
    for (const char *p; line.n < MAX_LINE_BYTES - 1 && (p = access_generic(run, b, w, l, format, 1)) != NULL && *p;) {
      format++;
      if (*p == '%')
        format = conversion(run, b, w, l, format, &at, &line);
      else
        put(&line, p, 1);
    }
    run->printed_bytes += line.n;
    run->launch->print(run->launch->print_context, line.text, (size_t)line.n);
  }
}
