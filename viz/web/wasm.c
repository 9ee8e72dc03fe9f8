/* What clang's code and wasi-libc want of a program without a main. */
#include <iconv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

uintptr_t __stack_chk_guard = 0x2f1d3c5b; /* wasm has no stack to smash: locals that matter are out of memory's reach */
_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void) { abort(); }

/* A page has no environment. */
char *getenv(const char *name) { return (void)name, NULL; }

/* WASI gives no time of one's own: all that passes. */
clock_t clock(void) {
  struct timespec now = {0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * CLOCKS_PER_SEC + now.tv_nsec / (1000000000 / CLOCKS_PER_SEC);
}

/* Nor files of one's own: one in memory, as large as what a page reads. */
FILE *tmpfile(void) { return fmemopen(NULL, 32 << 20, "w+"); }

/* A page's text is UTF-8: the C library's tables of other encodings, an eighth of whole.wasm, stay out of it. */
iconv_t iconv_open(const char *to, const char *from) {
  (void)to, (void)from;
  return (iconv_t)-1;
}
size_t iconv(iconv_t how, char **from, size_t *left, char **to, size_t *room) {
  (void)how, (void)from, (void)left, (void)to, (void)room;
  return (size_t)-1;
}
