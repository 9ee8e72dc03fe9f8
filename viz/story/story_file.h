/* Finding a story: by name among those that come with Tilewalk, or a file. */
#ifndef TILEWALK_VIZ_STORY_STORY_FILE_H
#define TILEWALK_VIZ_STORY_STORY_FILE_H

#include "lessons/engine/story.h"

#define STORY_USUAL "why-fast"

/* Reads it; freed by story_free. NULL with *error: no such name or file, or it is no story. */
Story *story_open(const char *name, Error *error);

#endif
