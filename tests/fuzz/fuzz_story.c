/* Fuzz target for stories: any bytes are a story, or refused with one line that begins with the file. */
#include "tests/fuzz/fuzz.h"
#include "lessons/engine/story.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Error error = {0};
  Story *story = story_read((const char *)data, size, "f", &error);
  if (!story) {
    if (strncmp(error.message, "f:", 2) != 0 || strchr(error.message, '\n')) abort();
    return 0;
  }
  const ExpressionLimits limits = {.max_steps = 100000};
  StoryTold *told = story_tell(story, 0, &limits, &error);
  if (told && (told->n < 1 || told->n > STORY_BEATS_MAX)) abort();
  free(told);
  story_free(story);
  return 0;
}
