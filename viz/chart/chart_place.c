#include "viz/chart/chart_place.h"

#include <assert.h>
#include <math.h>

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
