/* What scenes work out from a request alone, kept from frame to frame, so that a frame at a new step costs little.
 *
 *     SceneMemo *memo = memo_new();                    NULL when there is no memory, which is as good as none
 *     SceneView view = {.memo = memo, ...};            scene_draw looks there first
 *     memo_free(memo);
 *
 * A memo never changes what is drawn: everything in it is compared with what it was made for, and made again when that
 * differs. Not from two threads at once. */
#ifndef TILEWALK_VIZ_SCENE_SCENE_CACHE_H
#define TILEWALK_VIZ_SCENE_SCENE_CACHE_H

#include "viz/scene/pen.h"
#include "viz/scene/pile.h"

SceneMemo *memo_new(void);
void memo_free(SceneMemo *memo);

/* From the memo, or without one put into *room; in *room they are the caller's to free. */
const Piles *memo_piles(SceneMemo *memo, const Snapshot *now, int only, Piles *room); /* as piles_make */

#endif
