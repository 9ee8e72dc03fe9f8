#include "viz/story/story_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/request/assets.h"

static const char FOLDER[] = "lessons/stories";

Lesson *story_read(const char *text, size_t length, const char *file, Error *error) {
  Lesson *story = calloc(1, sizeof *story);
  if (!story) error_set(error, STATUS_NO_MEMORY, "no memory for a story");
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

typedef struct {
  char names[16][64];
  int n;
} Names;

static bool take_name(void *data, const char *name) {
  Names *names = data;
  const size_t n = strlen(name);
  if (n > 3 && n < sizeof *names->names && strcmp(name + n - 3, ".md") == 0)
    snprintf(names->names[names->n++], sizeof *names->names, "%.*s", (int)n - 3, name);
  return names->n < 16;
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

Status story_list(void (*take)(void *data, const char *name, const char *title), void *data, Error *error) {
  Names names = {.n = 0};
  Status status = assets_list(FOLDER, take_name, &names, error);
  qsort(names.names, (size_t)names.n, sizeof *names.names, by_name);
  for (int k = 0; k < names.n && !status; k++) {
    Lesson *story = story_open(names.names[k], error);
    if (story)
      take(data, names.names[k], lesson_text(story, story->title));
    else
      status = error->status;
    story_free(story);
  }
  return status;
}
