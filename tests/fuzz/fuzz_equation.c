/* Fuzz target for equations in texts: any text holds one that is not so, which is shown in one piece, or none. */
#include "tests/fuzz/fuzz.h"
#include "lessons/engine/equation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1), found[EQUATION_BYTES] = "";
  require(text != NULL);
  memcpy(text, data, size);
  text[size] = '\0';
  if (equation_is_false(text, found)) {
    require(*found && strlen(found) < sizeof found && strchr(text, '=')); /* a long one is cut */
    char again[EQUATION_BYTES] = "";
    require(equation_is_false(text, again) && strcmp(found, again) == 0);
  }
  free(text);
  return 0;
}
