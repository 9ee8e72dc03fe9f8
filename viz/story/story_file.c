#include "viz/story/story_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/request/assets.h"

Story *story_open(const char *name, Error *error) {
  char relative[300], path[ASSETS_PATH_BYTES];
  char *text;
  size_t length;
  if (strchr(name, '/') || strchr(name, '.')) {
    snprintf(path, sizeof path, "%s", name);
  } else {
    snprintf(relative, sizeof relative, "lessons/stories/%s.txt", name);
    if (assets_find(path, sizeof path, relative, NULL)) {
      error_set(error, STATUS_BAD_REQUEST,
                "there is no story '%s'; `tilewalk tour --story --list` has them, and a file has a "
                "/ or a dot in its name",
                quote_text(name).text);
      return NULL;
    }
  }
  if (file_read(path, STORY_BYTES_MAX + 1, &text, &length, error)) return NULL;
  Story *story = story_read(text, length, path, error);
  free(text);
  return story;
}
