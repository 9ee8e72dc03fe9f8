/* The scenes, in the order of their keys. Each is a file viz/scene/scene_NAME.c, which says in const Scene NAME_SCENE
 * how it is drawn and what it tells; help, completion, menus and lessons take the rest from this list. */
#ifndef TILEWALK_SIM_QUESTION_SCENES_H
#define TILEWALK_SIM_QUESTION_SCENES_H

#define SCENES(SCENE)                                                                                                  \
  SCENE(WALK, "walk") /* one table, what lies on chip, one line of the program */                                      \
  SCENE(SOFTMAX, "softmax")                                                                                            \
  SCENE(TIME, "time")   /* of one CTA, recorded or modelled */                                                         \
  SCENE(PILES, "piles") /* what several algorithms carry, beside each other */                                         \
  SCENE(BANK, "bank")   /* a column of a tile on the banks of shared memory */                                         \
  SCENE(MANY, "many")   /* one cache, and many who read it: sequences, splits or GPUs */

#define SCENE_KIND(id, name) SCENE_##id,
typedef enum { SCENES(SCENE_KIND) SCENE_COUNT } SceneKind;
#undef SCENE_KIND

extern const char *const SCENE_NAMES[SCENE_COUNT + 1]; /* "walk", ...; ends with NULL */

/* The scene of a name, or of what a scene was called before: a SceneKind, or -1. */
int scene_find(const char *name);

#endif
