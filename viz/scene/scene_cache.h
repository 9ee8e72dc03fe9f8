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
#include "viz/scene/timeline.h"

SceneMemo *memo_new(void);
void memo_free(SceneMemo *memo);

/* From the memo, or without one put into *room; in *room they are the caller's to free. */
const Timeline *memo_timeline(SceneMemo *memo, const Snapshot *now, Timeline *room);
const Piles *memo_piles(SceneMemo *memo, const Snapshot *now, Piles *room);

/* Draws the part of a scene that stays from step to step into `body`, and says where its plane lies. Where there is a
 * memo and the page is one of pixels it is drawn once and copied from then on. `what` is from the memo: the request's
 * numbers. */
typedef void DrawStill(const Pen *pen, Box body, const void *what, Box *plane);
void memo_draw_still(const Pen *pen, Box body, DrawStill *draw, const void *what, Box *plane);

#endif
