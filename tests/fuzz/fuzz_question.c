/* Questions to the library in one line, as anybody types them: parted into words, and refused in one line. Only what
 * comes before a command is run is fuzzed, and the cheapest command: files are not opened, nothing is computed. */
#include <stdbool.h>
#include "tests/fuzz/fuzz.h"
#include "sim/base/utf8.h"
#include "viz/library/tilewalk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *line = malloc(size + 8);
  if (!line || size > 1 << 16) return free(line), 0;
  for (int known = 0; known < 2; known++) {
    const char *command = known ? "gpus " : "none ";
    memcpy(line, command, 5);
    memcpy(line + 5, data, size);
    line[5 + size] = '\0';
    if (known) line[5 + strcspn(line + 5, "/.")] = '\0';
    TilewalkAnswer *a = tilewalk_ask_line(line);
    require(a != NULL && tilewalk_status(a) >= 0 && tilewalk_status(a) <= 2);
    require(known || tilewalk_status(a) == 2);
    require(tilewalk_status(a) != 2 || *tilewalk_error(a));
    require(utf8_is_text(tilewalk_error(a), tilewalk_status(a) == 2 ? strlen(tilewalk_error(a)) : 0));
    require(tilewalk_status(a) != 2 || tilewalk_length(a) == 0);
    tilewalk_free(a);
  }
  free(line);
  return 0;
}
