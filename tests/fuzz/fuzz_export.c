/* Fuzz target for the export of questions: whatever a lesson holds, each question that is written is closed, and
 * nothing but text and newlines is written. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "tests/fuzz/fuzz.h"
#include "lessons/engine/lesson_export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const ExpressionLimits LIMITS = {.max_steps = 100000, .max_memory_bytes = 1 << 20};
  Lesson lesson;
  char *out = NULL;
  size_t n = 0;
  if (lesson_from_buffer(&lesson, (const char *)data, size, "f.md", NULL)) return 0;
  FILE *stream = open_memstream(&out, &n);
  require(stream != NULL);
  const Status status = lesson_export_gift(&lesson, &LIMITS, (ExportDraws){1, 0}, stream, NULL);
  fclose(stream);
  size_t open = 0, closed = 0;
  for (size_t k = 0; k < n; k++) {
    const bool is_escaped = k > 0 && out[k - 1] == '\\' && !(k > 1 && out[k - 2] == '\\');
    if (out[k] == '/' && (k == 0 || out[k - 1] == '\n')) /* a remark, with the lesson's title */
      while (k + 1 < n && out[k] != '\n') k++;
    open += out[k] == '{' && !is_escaped;
    closed += out[k] == '}' && !is_escaped;
    require((unsigned char)out[k] >= 32 || out[k] == '\n' || out[k] == '\t');
  }
  if (!status && !memchr(out, '\\', n)) require(open == closed && open <= lesson.n_asks);
  free(out);
  lesson_free(&lesson);
  return 0;
}
