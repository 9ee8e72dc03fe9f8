/* What fuzz targets share: their list, and what must be true of an answer.
 *
 *     FUZZ(gpu, BYTES, "sim/machine/gpu sim/machine/link") { require(...); }
 *
 * is the target `gpu` with the seeds in tests/fuzz/corpus/gpu. It gets `size` bytes at `text`: TEXT ends in a zero byte
 * behind them; behind BYTES, the sanitizer sees the first byte that is read. The search also tries the words of the
 * readers that are named (fuzz.sh). */
#ifndef TILEWALK_TESTS_FUZZ_FUZZ_H
#define TILEWALK_TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/utf8.h"
#include "tests/support/each.h"

enum { BYTES, TEXT };

typedef struct FuzzTarget {
  const char *name, *readers;
  int ends; /* BYTES or TEXT */
  void (*try)(char *text, size_t size);
  struct FuzzTarget *next;
} FuzzTarget;

#define FUZZ(target, kind, words)                                                                                      \
  static void try_##target(char *text, size_t size);                                                                   \
  __attribute__((constructor)) static void list_##target(void) {                                                       \
    static FuzzTarget it = {.name = #target, .readers = words, .ends = kind, .try = try_##target};                     \
    fuzz_list(&it);                                                                                                    \
  }                                                                                                                    \
  static void try_##target(__attribute__((unused)) char *text, __attribute__((unused)) size_t size)

extern const FuzzTarget *fuzz_targets;
void fuzz_list(FuzzTarget *target);
void fuzz_try(const FuzzTarget *target, const uint8_t *data, size_t size);

#define require(truth) fuzz_require(truth, #truth, __func__)
static inline void fuzz_require(bool truth, const char *claim, const char *where) {
  if (truth) return;
  fprintf(stderr, "%s: it should be so: %s\n", where, claim);
  abort();
}

/* A refusal is one line, which begins with the file's name where it has one. Names in it may be of any bytes. */
static inline void require_line(const Error *error, const char *begin) {
  require(error->status && *error->message && strncmp(error->message, begin, strlen(begin)) == 0);
  for (const char *c = error->message; *c; c++) require((unsigned char)*c >= 32 && *c != 127);
}
static inline void require_text(const Error *error, const char *begin) {
  require_line(error, begin);
  require(utf8_is_text(error->message, strlen(error->message)));
}

#endif
