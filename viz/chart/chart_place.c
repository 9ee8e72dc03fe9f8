#include "viz/chart/chart_place.h"

#include <assert.h>
#include <math.h>

/* ---- the column of end labels ---- */

/* Subtracting i * height from the i-th label turns "at least a height apart" into "not falling", so
 * this is isotonic regression, and pooling adjacent violators solves it (Ayer et al. 1955; Barlow
 * et al. 1972). */
typedef struct {
  double sum;
  int n;
} Pool;

static double mean(Pool pool) { return pool.sum / pool.n; }

/* The order of the wishes, by insertion: short lists, and equal ones keep their order. */
static void sort_by_wish(const double *y, int n, int *order) {
  for (int i = 0; i < n; i++) {
    int at = i;
    for (; at > 0 && y[order[at - 1]] > y[i]; at--) order[at] = order[at - 1];
    order[at] = i;
  }
}

void place_column(double *y, int n, double height, double top, double bottom) {
  assert(n <= PLACE_COLUMN_MAX);
  if (n == 0) return;
  if (n * height > bottom - top) height = (bottom - top) / n;
  int order[PLACE_COLUMN_MAX], n_pools = 0;
  Pool pools[PLACE_COLUMN_MAX];
  sort_by_wish(y, n, order);
  for (int i = 0; i < n; i++) {
    pools[n_pools++] = (Pool){y[order[i]] - i * height, 1};
    while (n_pools > 1 && mean(pools[n_pools - 2]) > mean(pools[n_pools - 1])) {
      n_pools--;
      pools[n_pools - 1].sum += pools[n_pools].sum;
      pools[n_pools - 1].n += pools[n_pools].n;
    }
  }
  double low = top + height / 2, high = bottom - height / 2 - (n - 1) * height;
  int i = 0;
  for (int p = 0; p < n_pools; p++) {
    double level = fmin(fmax(mean(pools[p]), low), fmax(high, low));
    for (int k = 0; k < pools[p].n; k++, i++) y[order[i]] = level + i * height;
  }
}

/* ---- words on the plane ---- */

void place_add_box(PlaceMap *map, PlaceBox box) {
  if (map->n_boxes < PLACE_BOXES_MAX) map->boxes[map->n_boxes++] = box;
}

void place_add_segment(PlaceMap *map, double x1, double y1, double x2, double y2) {
  if (map->n_segments == PLACE_SEGMENTS_MAX) return;
  map->segments[map->n_segments++] = (struct PlaceSegment){x1, y1, x2, y2};
}

/* One side of Liang and Barsky's clipping (1984): keeps the part of the segment where p * t <= q.
 */
static bool clip_side(double p, double q, double *from, double *to) {
  if (p == 0) return q >= 0;
  double t = q / p;
  if (p < 0 && t > *from) *from = t;
  if (p > 0 && t < *to) *to = t;
  return *from <= *to;
}

bool place_crosses(const PlaceBox *box, double x1, double y1, double x2, double y2) {
  double dx = x2 - x1, dy = y2 - y1, from = 0, to = 1;
  return clip_side(-dx, x1 - box->x, &from, &to) && clip_side(dx, box->x + box->width - x1, &from, &to) &&
         clip_side(-dy, y1 - box->y, &from, &to) && clip_side(dy, box->y + box->height - y1, &from, &to);
}

static double overlap(double a, double a_length, double b, double b_length) {
  double shared = fmin(a + a_length, b + b_length) - fmax(a, b);
  return shared > 0 ? shared : 0;
}

static double shared_area(const PlaceBox *a, const PlaceBox *b) {
  return overlap(a->x, a->width, b->x, b->width) * overlap(a->y, a->height, b->y, b->height);
}

void place_nearest(const PlaceBox *box, double *x, double *y) {
  *x = fmin(fmax(*x, box->x), box->x + box->width);
  *y = fmin(fmax(*y, box->y), box->y + box->height);
}

/* Do two segments cross? By the sides on which the ends of each lie of the other. */
static bool segments_cross(const struct PlaceSegment *a, const struct PlaceSegment *b) {
  double ax = a->x2 - a->x1, ay = a->y2 - a->y1, bx = b->x2 - b->x1, by = b->y2 - b->y1;
  double b1 = ax * (b->y1 - a->y1) - ay * (b->x1 - a->x1), b2 = ax * (b->y2 - a->y1) - ay * (b->x2 - a->x1);
  double a1 = bx * (a->y1 - b->y1) - by * (a->x1 - b->x1), a2 = bx * (a->y2 - b->y1) - by * (a->x2 - b->x1);
  return (b1 > 0) != (b2 > 0) && (a1 > 0) != (a2 > 0);
}

/* A line from the anchor to the words: short is good, through other words is bad. It starts a
 * little off the anchor, which lies on a line itself. */
static double leader_cost(const PlaceMap *map, const PlaceBox *box, const double *anchor) {
  double x = anchor[0], y = anchor[1];
  place_nearest(box, &x, &y);
  double distance = hypot(x - anchor[0], y - anchor[1]), cost = 0.2 * distance / box->height;
  struct PlaceSegment leader = {anchor[0] + 0.15 * (x - anchor[0]), anchor[1] + 0.15 * (y - anchor[1]), x, y};
  if (distance < box->height) return cost;
  for (int i = 0; i < map->n_boxes; i++)
    if (place_crosses(&map->boxes[i], leader.x1, leader.y1, leader.x2, leader.y2)) cost += 10;
  for (int i = 0; i < map->n_segments; i++)
    if (segments_cross(&leader, &map->segments[i])) cost += 0.4;
  return cost;
}

/* What a place costs: text over text is worst, then text outside the plane, then text over lines.
 */
static double cost_of(const PlaceMap *map, const PlaceBox *box) {
  double area = box->width * box->height, cost = 0;
  for (int i = 0; i < map->n_boxes; i++) cost += 100 * shared_area(box, &map->boxes[i]) / area;
  cost += 100 * (1 - shared_area(box, &map->bounds) / area);
  for (int i = 0; i < map->n_segments; i++) {
    const struct PlaceSegment *s = &map->segments[i];
    if (place_crosses(box, s->x1, s->y1, s->x2, s->y2)) cost += 2.5;
  }
  return cost;
}

PlaceBox place_best(PlaceMap *map, const PlaceBox *candidates, int n, const double *anchor) {
  int best = 0;
  double least = INFINITY;
  for (int i = 0; i < n; i++) {
    double cost = cost_of(map, &candidates[i]);
    if (anchor) cost += leader_cost(map, &candidates[i], anchor);
    if (cost < least - 1e-9) {
      least = cost;
      best = i;
    }
  }
  place_add_box(map, candidates[best]);
  return candidates[best];
}
