/* The list of fuzz targets, and libFuzzer's way in: FUZZ_TARGET says which; without it, they are printed. */
#include "tests/fuzz/fuzz.h"

enum { MOST_BYTES = 1 << 16 };

const FuzzTarget *fuzz_targets;

void fuzz_list(FuzzTarget *target) {
  target->next = (FuzzTarget *)fuzz_targets;
  fuzz_targets = target;
}

void fuzz_try(const FuzzTarget *target, const uint8_t *data, size_t size) {
  if (size > MOST_BYTES) return;
  char *copy = calloc(1, size + (target->ends == TEXT || !size));
  require(copy != NULL);
  if (size) memcpy(copy, data, size);
  target->try(copy, size);
  free(copy);
}

static const FuzzTarget *chosen;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *name = getenv("FUZZ_TARGET");
  (void)argc, (void)argv;
  for (const FuzzTarget *t = fuzz_targets; t; t = t->next)
    if (!name)
      printf("%s %s\n", t->name, t->readers);
    else if (strcmp(t->name, name) == 0)
      chosen = t;
  if (!chosen) exit(name != NULL);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_try(chosen, data, size);
  return 0;
}
