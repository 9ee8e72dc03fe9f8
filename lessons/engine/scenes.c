#include "lessons/engine/scenes.h"

#include <stddef.h>

#define SCENE_NAME(id, name) name,
const char *const SCENE_NAMES[SCENE_COUNT + 1] = {SCENES(SCENE_NAME) NULL};
