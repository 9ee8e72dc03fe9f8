/* Labels in one column, moved up and down as little as they can so that they do not overlap: plain geometry. */
#ifndef TILEWALK_VIZ_CHART_CHART_PLACE_H
#define TILEWALK_VIZ_CHART_CHART_PLACE_H

enum { PLACE_COLUMN_MAX = 64 };

/* Moves `n` labels of the given height (n <= PLACE_COLUMN_MAX), centred on y[i], so that each is at
 * least `height` from the next and all lie between `top` and `bottom`; the sum of squared distances
 * from where they wished to be is the least possible. Order is kept; equal wishes keep the order of
 * the array. Labels that cannot all fit overlap evenly. */
void place_column(double *y, int n, double height, double top, double bottom);

#endif
