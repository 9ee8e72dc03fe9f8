/* What every fuzz target begins with: the usual headers, its entry, and what must be true of an answer. */
#ifndef TILEWALK_TESTS_FUZZ_FUZZ_H
#define TILEWALK_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(int truth) {
  if (!truth) abort();
}

#endif
