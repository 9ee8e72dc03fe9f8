#include "sim/question/scenes.h"

#include <string.h>

#include "sim/base/word_list.h"

#define SCENE_NAME(id, name) name,
const char *const SCENE_NAMES[SCENE_COUNT + 1] = {SCENES(SCENE_NAME) NULL};

/* Names that lessons, links and state lines of others still have. */
static const struct {
  const char *name;
  SceneKind now;
} OLDER[] = {{"main", SCENE_WALK},      {"tiles", SCENE_WALK},    {"causal", SCENE_WALK},   {"code", SCENE_WALK},
             {"hierarchy", SCENE_WALK}, {"charts", SCENE_PILES},  {"race", SCENE_PILES},    {"strip", SCENE_PILES},
             {"zoom", SCENE_BANK},      {"timeline", SCENE_TIME}, {"pipeline", SCENE_TIME}, {"decode", SCENE_MANY},
             {"serving", SCENE_MANY},   {"ring", SCENE_MANY},     {"warp", SCENE_BANK}};

int scene_find(const char *name) {
  for (size_t k = 0; k < sizeof OLDER / sizeof *OLDER; k++)
    if (strcmp(name, OLDER[k].name) == 0) return (int)OLDER[k].now;
  return word_list_find(SCENE_NAMES, name);
}
