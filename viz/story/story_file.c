#include "viz/story/story_file.h"

#include <stdlib.h>

#include "viz/lesson/lesson_library.h"

static const char FOLDER[] = "lessons/stories";

Lesson *story_read(const char *text, size_t length, const char *file, Error *error) {
  Lesson *story = calloc(1, sizeof *story);
  if (!story) error_no_memory(error, "for a story");
  if (story && lesson_from_buffer(story, text, length, file, error)) {
    free(story);
    story = NULL;
  }
  return story;
}

void story_free(Lesson *story) {
  if (story) lesson_free(story);
  free(story);
}

Lesson *story_open(const char *name, Error *error) {
  char relative[300], path[ASSETS_PATH_BYTES], *text;
  size_t length;
  snprintf(path, sizeof path, "%s", name);
  snprintf(relative, sizeof relative, "%s/%s.md", FOLDER, name);
  if (!strpbrk(name, "/.") && assets_find(path, sizeof path, relative, NULL)) {
    error_refuse(
        error,
        "there is no story '%s'; `tilewalk tour --story --list` has them, and a file has a / or a dot in its name",
        quote_text(name).text);
    return NULL;
  }
  if (file_read(path, LESSON_FILE_BYTES + 1, &text, &length, error)) return NULL;
  Lesson *story = story_read(text, length, path, error);
  free(text);
  return story;
}

Status story_list(void (*take)(void *data, const char *name, const char *title), void *data, Error *error) {
  LessonFiles *names;
  Status status = lesson_names(FOLDER, ".md", false, &names, error);
  for (int k = 0; !status && k < names->n; k++) {
    Lesson *story = story_open(names->names[k], error);
    if (story)
      take(data, names->names[k], story->title.text);
    else
      status = error->status;
    story_free(story);
  }
  free(names);
  return status;
}
