/* Fuzz target for arguments of a launch: any text is a spec whose elements can be filled and read, or is refused with
 * one line. */
#include "tests/fuzz/fuzz.h"
#include "kernels/ptx/ptx_argument.h"
#include "sim/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  Spec spec = {0};
  Error error = {0};
  require(text != NULL);
  memcpy(text, data, size);
  text[size] = '\0';
  if (spec_parse(text, &spec, &error)) {
    require(error.status == STATUS_BAD_REQUEST && utf8_is_text(error.message, strlen(error.message)));
  } else {
    require(spec.type >= 0 && spec.type < SPEC_N_TYPES && spec.n >= 0);
    require(spec.n <= SPEC_MAX_BYTES / spec_type_bytes(spec.type) && (spec.n > 0 || spec.fill == SPEC_FILE));
    require((spec.fill == SPEC_FILE) == (spec.file[0] != '\0'));
    if (spec.n > 64) spec.n = 64;
    const size_t bytes = (size_t)(spec.n * spec_type_bytes(spec.type));
    char *room = calloc(1, bytes + 1);
    require(room != NULL);
    spec_fill(&spec, room);
    for (int64_t i = 0; i < spec.n; i++) (void)spec_element(spec.type, room, i);
    free(room);
  }
  free(text);
  return 0;
}
