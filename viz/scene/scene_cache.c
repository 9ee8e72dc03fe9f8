#include "viz/scene/scene_cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a request is told apart by: everything in a snapshot that does not depend on the step. Filled over zeros, so
 * that bytes can be compared. */
typedef struct {
  Problem problem;
  Shape launched;
  Gpu gpu;
  const Schedule *schedule, *schedules[SNAPSHOT_RUNS_MAX];
  int n_runs;
  Tiling tilings[SNAPSHOT_RUNS_MAX];
  double least_s, predicted_s; /* which may come later than the rest */
} MemoKey;

/* What a picture is told apart by, for one request. */
typedef struct {
  const Theme *theme;
  Box body;
  double unit;
  DrawStill *draw;
  bool presentation;
} PictureKey;

struct SceneMemo {
  bool has_key, has_timeline, has_piles;
  MemoKey key, sought;
  Timeline timeline;
  Piles piles;
  struct {
    cairo_surface_t *surface;
    PictureKey key;
    Box plane;
  } picture;
};

SceneMemo *memo_new(void) { return calloc(1, sizeof(SceneMemo)); }

static void drop_picture(SceneMemo *memo) {
  if (memo->picture.surface) cairo_surface_destroy(memo->picture.surface);
  memo->picture.surface = NULL;
}

static void forget(SceneMemo *memo) {
  drop_picture(memo);
  if (memo->has_timeline) timeline_free(&memo->timeline);
  if (memo->has_piles) piles_free(&memo->piles);
  memo->has_timeline = memo->has_piles = false;
}

void memo_free(SceneMemo *memo) {
  if (memo) forget(memo);
  free(memo);
}

static void fill_key(MemoKey *key, const Snapshot *now) {
  memset(key, 0, sizeof *key);
  memcpy(&key->problem, &now->problem, sizeof key->problem);
  memcpy(&key->launched, &now->launched, sizeof key->launched);
  memcpy(&key->gpu, &now->gpu, sizeof key->gpu);
  key->schedule = now->schedule;
  key->least_s = now->l2.least_s;
  key->predicted_s = now->l2.predicted_s;
  key->n_runs = now->n_runs;
  for (int k = 0; k < now->n_runs; k++) {
    key->schedules[k] = now->runs[k].schedule;
    memcpy(&key->tilings[k], &now->runs[k].tiling, sizeof key->tilings[k]);
  }
}

/* Forgets all that was made for another request. */
static void turn_to(SceneMemo *memo, const Snapshot *now) {
  fill_key(&memo->sought, now);
  if (memo->has_key && memcmp(&memo->key, &memo->sought, sizeof memo->key) == 0) return;
  forget(memo);
  memcpy(&memo->key, &memo->sought, sizeof memo->key);
  memo->has_key = true;
}

const Timeline *memo_timeline(SceneMemo *memo, const Snapshot *now, Timeline *room) {
  if (memo) turn_to(memo, now);
  if (memo && memo->has_timeline) return &memo->timeline;
  timeline_make(memo ? &memo->timeline : room, now);
  if (memo) memo->has_timeline = true;
  return memo ? &memo->timeline : room;
}

const Piles *memo_piles(SceneMemo *memo, const Snapshot *now, Piles *room) {
  if (memo) turn_to(memo, now);
  if (memo && memo->has_piles) return &memo->piles;
  piles_make(memo ? &memo->piles : room, now);
  if (memo) memo->has_piles = true;
  return memo ? &memo->piles : room;
}

/* ---- Pictures -------------------------------------------------------------------------------------------- */

/* A picture of whole pixels can be copied where pixels are asked for, and not shifted by a part of one. */
static bool can_copy(cairo_t *cr) {
  cairo_matrix_t m;
  double x_scale, y_scale;
  cairo_surface_t *target = cairo_get_target(cr);
  cairo_get_matrix(cr, &m);
  cairo_surface_get_device_scale(target, &x_scale, &y_scale);
  return cairo_surface_get_type(target) == CAIRO_SURFACE_TYPE_IMAGE && x_scale == 1 && y_scale == 1 && m.xx == 1 &&
         m.yy == 1 && m.xy == 0 && m.yx == 0 && m.x0 == floor(m.x0) && m.y0 == floor(m.y0);
}

static bool is_same(const PictureKey *a, const PictureKey *b) {
  return a->theme == b->theme && a->unit == b->unit && a->draw == b->draw && a->presentation == b->presentation &&
         a->body.x == b->body.x && a->body.y == b->body.y && a->body.width == b->body.width &&
         a->body.height == b->body.height;
}

static void draw_picture(const Pen *pen, const PictureKey *key, const void *what) {
  SceneMemo *memo = pen->view->memo;
  Pen on = *pen;
  drop_picture(memo);
  cairo_surface_t *to = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)key->body.width, (int)key->body.height);
  memo->picture.surface = to;
  memo->picture.key = *key;
  memo->picture.plane = (Box){0};
  on.cr = cairo_create(to);
  theme_use(on.cr, pen->theme->background, 1);
  cairo_paint(on.cr);
  cairo_translate(on.cr, -key->body.x, -key->body.y); /* hatches are laid from the page's corner on */
  key->draw(&on, key->body, what, &memo->picture.plane);
  cairo_destroy(on.cr);
  cairo_surface_flush(to);
}

void memo_draw_still(const Pen *pen, Box body, DrawStill *draw, const void *what, Box *plane) {
  SceneMemo *memo = pen->view->memo;
  const PictureKey key = {
      .theme = pen->theme, .body = body, .unit = pen->unit, .draw = draw, .presentation = pen->view->presentation};
  *plane = (Box){0};
  if (!memo || body.width < 1 || body.height < 1 || !can_copy(pen->cr)) {
    draw(pen, body, what, plane);
    return;
  }
  if (!memo->picture.surface || !is_same(&memo->picture.key, &key)) draw_picture(pen, &key, what);
  cairo_set_source_surface(pen->cr, memo->picture.surface, body.x, body.y);
  cairo_rectangle(pen->cr, body.x, body.y, body.width, body.height);
  cairo_fill(pen->cr);
  *plane = memo->picture.plane;
}
