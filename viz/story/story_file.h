/* Finding a story: by name among those that come with Tilewalk, or a file. */
#ifndef TILEWALK_VIZ_STORY_STORY_FILE_H
#define TILEWALK_VIZ_STORY_STORY_FILE_H

#include "lessons/engine/story.h"

#define STORY_USUAL "why-fast"

/* Reads it; freed by story_free. NULL with *error: no such name or file, or it is no story. */
Lesson *story_open(const char *name, Error *error);
Lesson *story_read(const char *text, size_t length, const char *file, Error *error);
void story_free(Lesson *story);

/* Calls back with the names of those that come with Tilewalk, and their titles. */
Status story_list(void (*take)(void *data, const char *name, const char *title), void *data, Error *error);

#endif
