/* The speaker's page: what a teacher sees beside what the class sees.
 *
 *     Now    what happens, and why            [ the scene, small ]
 *                                                  12:34
 *     Next   what the next step will say         step 123 of 276 */
#ifndef TILEWALK_VIZ_SCENE_SPEAKER_H
#define TILEWALK_VIZ_SCENE_SPEAKER_H

#include "viz/scene/scene.h"

typedef struct {
  const Stage *stage;
  SceneKind scene;
  const Snapshot *now;
  SceneView view;    /* as the class sees it */
  double elapsed_s;  /* on the speaker's clock; below 0: there is none */
  const char *state; /* one line; NULL: none */
} SpeakerPage;

void speaker_draw(const SpeakerPage *page, cairo_t *cr, double width, double height, const Theme *theme);

#endif
