/* Fuzz target for gunzip: any bytes are refused with a sentence, or give a text that is no longer than allowed. */
#include "tests/fuzz/fuzz.h"
#include "sim/base/gunzip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = NULL;
  size_t n_text = 0;
  Error error = {0};
  const Status status = gunzip(data, size, 100000, "f", &text, &n_text, &error);
  if (status ? text != NULL || error.message[0] == 0 : n_text > 100000 || text[n_text] != 0) abort();
  free(text);
  return 0;
}
