/* A page of a story: a scene, one sentence below it, and a prediction beside it before it plays.
 *
 *     Why is FlashAttention fast?                              7 of 13
 *     ======= ======= ====### ------- -------                           a segment a beat
 *     +---------------------------+ +--------------------+
 *     | the scene; what is not    | | Before it plays:   |
 *     | lit is dimmed             | | predict            |
 *     +---------------------------+ +--------------------+
 *     One block of queries stays. Keys and values stream past it.
 *
 * A question of times over piles has no card: its flag is dragged along the first pile.
 *
 * Pure: a function of the beat and of how far it is, so that it can be scrubbed and saved. */
#ifndef TILEWALK_VIZ_STORY_STORY_PAGE_H
#define TILEWALK_VIZ_STORY_STORY_PAGE_H

#include "lessons/engine/story.h"
#include "viz/request/request.h"
#include "viz/scene/pen.h"
#include "viz/scene/scene.h"

/* Moments of a run by what happens, so that a story is right at any size:
 *
 *     start    end
 *     load,Q,2              just after the second load of a block of Q; load,Q,2,before: just before it
 *     new-max,stats,last    after the last; kinds are those of events, with - for a blank */

/* Walks looked through: longer runs are refused. */
#define MOMENT_EVENTS_MAX ((uint64_t)1 << 22)

/* The step of a moment. Errors: no such words; it does not come, or the run is too long to look for it. */
Status moment_step(const Stage *stage, const char *moment, uint64_t *step, Error *error);

/* A beat that is ready to be drawn. */
typedef struct {
  const StoryTold *told; /* not the scene's own */
  int beat;
  Request request;
  Stage stage;
  SceneKind scene;
  SceneView view; /* bare, and with a memo of its own */
  uint64_t from, to;
  Snapshot now;
} StoryScene;

/* How the person stands: asked and not yet answered, or told what is right. */
typedef struct {
  bool asking;       /* the card is there */
  const char *typed; /* so far; NULL: nothing */
  const char *said;  /* of the answer, under it; NULL: nothing */
  const char *help;  /* the line at the bottom; NULL: none */
  double part;       /* of the beat, 0 to 1 */
} StoryMoment;

/* Where the choices of the card were drawn; none: nothing to choose from. And where a guess is a place: once to its
 * right end, and further; empty: nowhere. */
typedef struct {
  Box choices[ANSWER_CHOICES_MAX];
  int n;
  Box flag;
} StoryPlaces;

/* Makes the stage and finds the moments; `scene` is zero. Free it even after an error. Errors begin with the story's
 * file and line. */
Status story_scene_open(StoryScene *scene, const Lesson *story, const StoryTold *told, int beat, Error *error);
void story_scene_free(StoryScene *scene);

/* Whether each part that the beat lights is in the picture, at its end; an error names the one that is not. */
Status story_scene_check(StoryScene *scene, const Lesson *story, Error *error);

/* Puts the run where it is at that part of the beat. */
void story_scene_show(StoryScene *scene, double part);

/* `places`, or NULL, is filled. */
void story_page_draw(const StoryScene *scene, const StoryMoment *moment, cairo_t *cr, double width, double height,
                     const Theme *theme, StoryPlaces *places);

#endif
