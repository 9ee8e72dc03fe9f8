/* Replays a fuzz target without a fuzzer, so that `make test` keeps every target alive with any compiler.
 *
 *     replay_<stem> CORPUS...     each a file, or a folder of files; a missing one counts as empty
 *
 * Runs the empty input, a few general seeds, every corpus file and, for each of these, a fixed number of
 * mutations that depend on nothing but the input: a failure repeats. `make fuzz` is the real search. */
#define _POSIX_C_SOURCE 200809L /* scandir */
#include <dirent.h>
#include "tests/fuzz/fuzz.h"

enum { INPUT_MAX_BYTES = 1 << 16, MUTATIONS_PER_SEED = 256, EDITS_MAX = 4 };

static size_t n_inputs;

/* A copy of exactly the right size, so that the address sanitizer sees the first byte read past the end. */
static void run(const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size ? size : 1);
  if (!copy) abort();
  memcpy(copy, data, size);
  LLVMFuzzerTestOneInput(copy, size);
  free(copy);
  n_inputs++;
}

/* xorshift64: no more than variety is asked of it. */
static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* One edit of the `size` bytes at `data` (room for INPUT_MAX_BYTES); returns the new size. */
static size_t edit(uint8_t *data, size_t size, uint64_t *state) {
  static const char *const tokens[] = {"-1",    "0",        "99999999999999999999",
                                       "1e999", "nan",      "\n",
                                       "\"",    "{",        "[[[",
                                       "\\u0",  "\xff\xfe", "\0\0",
                                       "%s",    ",,,",      "```",
                                       "\xc3"};
  size_t at = size ? next(state) % size : 0;
  size_t rest = size - at;
  switch (next(state) % 6) {
  case 0: /* flip a bit */
    if (size) data[at] = (uint8_t)(data[at] ^ (1u << (next(state) % 8)));
    return size;
  case 1: /* set a byte */
    if (size) data[at] = (uint8_t)next(state);
    return size;
  case 2: return at; /* cut the end off */
  case 3: {          /* take some bytes out */
    size_t n = rest ? next(state) % rest : 0;
    memmove(data + at, data + at + n, rest - n);
    return size - n;
  }
  case 4: { /* repeat what stands here */
    size_t n = rest ? next(state) % rest + 1 : 0;
    if (size + n > INPUT_MAX_BYTES) return size;
    memmove(data + at + n, data + at, rest);
    return size + n;
  }
  default: { /* put a nasty token in */
    const char *token = tokens[next(state) % (sizeof tokens / sizeof tokens[0])];
    size_t n = *token ? strlen(token) : 2;
    if (size + n > INPUT_MAX_BYTES) return size;
    memmove(data + at + n, data + at, rest);
    memcpy(data + at, token, n);
    return size + n;
  }
  }
}

static void run_with_mutations(const uint8_t *seed, size_t size) {
  static uint8_t data[INPUT_MAX_BYTES];
  uint64_t state = 0x9e3779b97f4a7c15u ^ size;
  for (size_t i = 0; i < size; i++) state = (state ^ seed[i]) * 0x100000001b3u + 1;
  run(seed, size);
  for (int i = 0; i < MUTATIONS_PER_SEED; i++) {
    size_t mutated = size;
    memcpy(data, seed, size);
    uint64_t n_edits = 1 + next(&state) % EDITS_MAX;
    while (n_edits-- > 0) mutated = edit(data, mutated, &state);
    run(data, mutated);
  }
}

static void run_file(const char *path) {
  static uint8_t data[INPUT_MAX_BYTES];
  FILE *file = fopen(path, "rb");
  if (!file) return;
  size_t size = fread(data, 1, sizeof data, file); /* a longer file is replayed up to the limit */
  fclose(file);
  run_with_mutations(data, size);
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }
static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static void run_path(const char *path) {
  struct dirent **entries = NULL;
  int n = scandir(path, &entries, is_visible, by_name);
  if (n < 0) {
    run_file(path);
    return;
  }
  for (int i = 0; i < n; i++) {
    char inner[4096];
    int length = snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
    if (length > 0 && (size_t)length < sizeof inner) run_file(inner);
    free(entries[i]);
  }
  free(entries);
}

int main(int argc, char **argv) {
  static const char *const seeds[] = {
      "", "{}", "[1, 2.5, \"x\"]\n", "name: value\n", "a,b,c\n1,2,3\n", "# Title\n\n```ask\n```\n", "64 MiB"};
  for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++)
    run_with_mutations((const uint8_t *)seeds[i], strlen(seeds[i]));
  for (int i = 1; i < argc; i++) run_path(argv[i]);
  printf("%zu inputs\n", n_inputs);
  return 0;
}
