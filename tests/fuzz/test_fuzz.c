/* Each fuzz target without a fuzzer, so that `make test` keeps it alive with any compiler: a few general seeds, what
 * lies in its corpus and, of each of these, a fixed number of mutations that depend on nothing but the input, so that a
 * failure repeats. `build/tests/test_fuzz gpu` replays one; `make fuzz` is the real search. */
#include <glob.h>
#include "tests/support/test.h"
#include "tests/support/sanitized.h"
#include "tests/fuzz/fuzz.h"

enum { INPUT_MAX_BYTES = 1 << 16, EDITS_MAX = 4 };

/* xorshift64: no more than variety is asked of it. */
static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* One edit of the `size` bytes at `data` (room for INPUT_MAX_BYTES); returns the new size. */
static size_t edit(uint8_t *data, size_t size, uint64_t *state) {
  static const char *const TOKENS[] = {"-1",    "0",        "99999999999999999999",
                                       "1e999", "nan",      "\n",
                                       "\"",    "{",        "[[[",
                                       "\\u0",  "\xff\xfe", "\0\0",
                                       "%s",    ",,,",      "```",
                                       "\xc3"};
  const size_t at = size ? next(state) % size : 0, rest = size - at;
  const uint64_t how = next(state) % 6;
  size_t n = how < 3 || !rest ? 0 : next(state) % rest;
  const char *token = TOKENS[next(state) % COUNT_OF(TOKENS)];
  if (how == 2) return at; /* the end is cut off */
  if (how < 2) {           /* a bit is flipped, a byte set */
    if (size) data[at] = (uint8_t)(how ? next(state) : data[at] ^ (1u << (next(state) % 8)));
    return size;
  }
  if (how == 3) { /* some bytes are taken out */
    memmove(data + at, data + at + n, rest - n);
    return size - n;
  }
  /* what stands here is repeated, or a nasty token put in */
  if (how == 4)
    n += rest > 0;
  else
    n = *token ? strlen(token) : 2;
  if (size + n > INPUT_MAX_BYTES) return size;
  memmove(data + at + n, data + at, rest);
  if (how == 5) memcpy(data + at, token, n);
  return size + n;
}

static void run_with_mutations(const FuzzTarget *target, const uint8_t *seed, size_t size) {
  static uint8_t data[INPUT_MAX_BYTES];
  uint64_t state = 0x9e3779b97f4a7c15u ^ size;
  for (size_t i = 0; i < size; i++) state = (state ^ seed[i]) * 0x100000001b3u + 1;
  fuzz_try(target, seed, size);
  for (int n = ONE_OF > 1 ? 64 : 256; n > 0; n--) {
    size_t mutated = size;
    memcpy(data, seed, size);
    for (uint64_t edits = 1 + next(&state) % EDITS_MAX; edits > 0; edits--) mutated = edit(data, mutated, &state);
    fuzz_try(target, data, mutated);
  }
}

static void replay(void **state) {
  static const char *const SEEDS[] = {
      "", "{}", "[1, 2.5, \"x\"]\n", "name: value\n", "a,b,c\n1,2,3\n", "# Title\n\n```ask\n```\n", "64 MiB"};
  static uint8_t data[INPUT_MAX_BYTES];
  const FuzzTarget *target = *state;
  char pattern[80];
  glob_t files;
  EACH (i, SEEDS) run_with_mutations(target, (const uint8_t *)SEEDS[i], strlen(SEEDS[i]));
  snprintf(pattern, sizeof pattern, "tests/fuzz/corpus/%s/*", target->name);
  assert_int_equal(glob(pattern, 0, NULL, &files), 0); /* each target has seeds */
  for (size_t i = 0; i < files.gl_pathc; i++) {
    FILE *file = fopen(files.gl_pathv[i], "rb");
    assert_non_null(file);
    run_with_mutations(target, data, fread(data, 1, sizeof data, file));
    fclose(file);
  }
  globfree(&files);
}

int main(int argc, char **argv) {
  struct CMUnitTest fuzz[64] = {0};
  size_t n = 0;
  for (const FuzzTarget *t = fuzz_targets; t; t = t->next)
    fuzz[n++] = (struct CMUnitTest){.name = t->name, .test_func = replay, .initial_state = (void *)t};
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  return cmocka_run_group_tests(fuzz, NULL, NULL);
}
