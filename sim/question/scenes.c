#include "sim/question/scenes.h"

#include <stddef.h>

#define SCENE_NAME(id, name) name,
const char *const SCENE_NAMES[SCENE_COUNT + 1] = {SCENES(SCENE_NAME) NULL};
const char *const CHART_NAMES[CHART_KIND_COUNT + 1] = {"all", "traffic", "misses", "roofline", "blocks", NULL};
