/* What scenes work out from a request alone, kept from frame to frame, so that a frame at a new step costs little.
 *
 *     SceneMemo *memo = memo_new();                    NULL when there is no memory, which is as good as none
 *     SceneView view = {.memo = memo, ...};            scene_draw looks there first
 *     memo_free(memo);
 *
 * A memo never changes what is drawn: everything in it is compared with what it was made for, and made again when that
 * differs. Not from two threads at once. */
#ifndef TILEWALK_VIZ_SCENE_MEMO_H
#define TILEWALK_VIZ_SCENE_MEMO_H

#include "viz/scene/chart_panels.h"
#include "viz/scene/scene.h"

SceneMemo *memo_new(void);
void memo_free(SceneMemo *memo);

/* The numbers of the charts, from the memo or put into *room. */
const ChartNumbers *memo_charts(SceneMemo *memo, const Snapshot *now, ChartNumbers *room);

/* The still part of the charts scene as a picture that lies on the page's pixels one to one; NULL: draw it. A hit also gives
 * back where its planes lie. Keeping one takes it over. */
typedef struct {
  const Theme *theme;
  Box body; /* where on the page it lies */
  double unit;
  ChartKind chart;
  bool presentation;
} ChartLayerKey;
cairo_surface_t *memo_layer(SceneMemo *memo, const ChartLayerKey *key, ChartPlaces *places);
void memo_keep_layer(SceneMemo *memo, const ChartLayerKey *key, cairo_surface_t *layer, const ChartPlaces *places);

#endif
