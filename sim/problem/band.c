#include "sim/problem/band.h"

static int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }
static int64_t clamp64(int64_t x, int64_t low, int64_t high) { return max64(low, min64(x, high)); }

/* How far a side of the window reaches; -1: as far as there are keys. */
static int64_t reach(int64_t side, int64_t unlimited) { return side < 0 ? unlimited : min64(side, unlimited); }

Band band_of_shape(const Shape *shape) {
  const int64_t group = shape->group > 0 ? shape->group : 1, queries = shape->N_q / group;
  const int64_t unlimited = queries + shape->N_k;
  const int64_t both = shape->window > 0 ? shape->window - 1 : -1;
  return (Band){.rows = shape->N_q,
                .cols = shape->N_k,
                .before = reach(shape->sided ? shape->left : both, unlimited),
                .after = shape->causal ? 0 : reach(shape->sided ? shape->right : both, unlimited),
                .offset = shape->top_left ? 0 : shape->N_k - queries,
                .row_group = group,
                .col_group = 1};
}

Band band_transpose(const Band *b) {
  return (Band){.rows = b->cols,
                .cols = b->rows,
                .before = b->after,
                .after = b->before,
                .offset = -b->offset,
                .row_group = b->col_group,
                .col_group = b->row_group,
                .row_phase = b->col_phase,
                .col_phase = b->row_phase};
}

Band band_part(const Band *b, int64_t row0, int64_t col0, int64_t rows, int64_t cols) {
  Band part = *b;
  part.rows = rows;
  part.cols = cols;
  if (b->row_group == 1 && b->col_group == 1) {
    part.offset += row0 - col0;
  } else {
    part.row_phase += row0;
    part.col_phase += col0;
  }
  return part;
}

/* How far the diagonal column of a row lies right of the part's first one, and `by` positions beyond it. */
static int64_t column_at(const Band *b, int64_t row, int64_t by) {
  return ((row + b->row_phase) / b->row_group + b->offset + by) * b->col_group - b->col_phase;
}

Span band_columns(const Band *b, int64_t row) {
  return (Span){clamp64(column_at(b, row, -b->before), 0, b->cols),
                clamp64(column_at(b, row, b->after + 1), 0, b->cols)};
}

TileKind band_tile(const Band *b, int64_t row0, int64_t row1, int64_t col0, int64_t col1) {
  const Span first = band_columns(b, row0), last = band_columns(b, row1 - 1);
  if (col1 <= first.begin || col0 >= last.end) return TILE_SKIPPED;
  if (last.begin <= col0 && first.end >= col1) return TILE_FULL;
  return TILE_PARTIAL;
}

BandRow band_row(const Band *b, int64_t B_r, int64_t B_c, int64_t i) {
  const int64_t row0 = i * B_r, row1 = min64(row0 + B_r, b->rows);
  const Span first = band_columns(b, row0), last = band_columns(b, row1 - 1);
  BandRow row = {{0, 0}, {0, 0}};
  if (last.end <= first.begin) return row;
  row.computed = (Span){first.begin / B_c, ceil_div(last.end, B_c)};
  row.full.begin = ceil_div(last.begin, B_c);
  row.full.end = first.end == b->cols ? ceil_div(b->cols, B_c) : first.end / B_c;
  if (row.full.end <= row.full.begin) row.full = (Span){row.computed.begin, row.computed.begin};
  return row;
}

/* ---- Counting: sums of floors of linear functions ------------------------------------------------ */

/* Sum over i in [0, n) of floor((a i + b) / m), for a, b >= 0 and m > 0.
 * The Euclid-like recurrence for lattice points under a line (Graham, Knuth, Patashnik, "Concrete
 * Mathematics", 3.5): take whole multiples out, then exchange the axes. O(log m) steps. */
static Wide floor_sum(int64_t n, int64_t m, int64_t a, int64_t b) {
  Wide sum = 0;
  for (;;) {
    if (a >= m) {
      sum += wide(n) * wide(n - 1) / 2 * wide(a / m);
      a %= m;
    }
    if (b >= m) {
      sum += wide(n) * wide(b / m);
      b %= m;
    }
    const int64_t top = a * n + b; /* a column of the matrix, in parts of a group: it fits */
    if (top < m) return sum;
    n = top / m;
    b = top % m;
    const int64_t swap = m;
    m = a;
    a = swap;
  }
}

/* One edge of the band seen from the row blocks: the column x(i) = floor((a i + b) / div), cut to [0, limit]. */
typedef struct {
  int64_t a, b, div, limit;
} Edge;

/* The edge `by` positions from the diagonal, of row `row` of each block. */
static Edge edge_of(const Band *b, int64_t B_r, int64_t row, int64_t by) {
  const int64_t position = b->offset + by, first = row + b->row_phase;
  if (b->row_group == 1)
    return (Edge){B_r * b->col_group, (first + position) * b->col_group - b->col_phase, 1, b->cols};
  return (Edge){B_r, first + (position - b->col_phase) * b->row_group, b->row_group, b->cols};
}

/* The first i in [0, n] at which x(i) >= x, before it is cut. */
static int64_t edge_reaches(const Edge *e, int64_t x, int64_t n) {
  return e->b >= x * e->div ? 0 : min64(n, ceil_div(x * e->div - e->b, e->a));
}

/* Sum over i in [i0, i1) of floor((x(i) + round) / m); round = m - 1 makes it a ceiling. */
static Wide edge_sum(const Edge *e, int64_t i0, int64_t i1, int64_t m, int64_t round) {
  const int64_t start = clamp64(edge_reaches(e, 0, i1), i0, i1);
  const int64_t stop = clamp64(edge_reaches(e, e->limit, i1), start, i1);
  const Wide flat = wide(i1 - stop) * wide((e->limit + round) / m);
  if (stop == start) return flat;
  return flat + floor_sum(stop - start, m * e->div, e->a, e->a * start + e->b + round * e->div);
}

/* Full tiles in row blocks [0, n): per block max(0, E - S) with S = ceil(low(i) / B_c), where low is the
 * first column that all rows of the block see, and E = floor(high(i) / B_c), or all tiles once the
 * first row sees the last column. The maximum with 0 matters only where the band is narrower than a tile. */
static Wide count_full(const Edge *low, const Edge *high, int64_t B_c, int64_t n) {
  const int64_t T_c = ceil_div(high->limit, B_c);
  const int64_t low_moves = edge_reaches(low, 0, n); /* before: low is 0 */
  const int64_t high_moves = edge_reaches(high, 0, n), high_stops = edge_reaches(high, high->limit, n);
  Wide sum = 0;
  /* high at its limit: every S is at most T_c */
  sum += wide(n - high_stops) * wide(T_c) - edge_sum(low, high_stops, n, B_c, B_c - 1);
  /* high moves, low still at 0 */
  const int64_t both = clamp64(low_moves, high_moves, high_stops);
  sum += edge_sum(high, high_moves, both, B_c, 0);
  /* Both move, at a distance w or w - 1 (where a step of the staircase lies between them). Below a tile's width no tile
   * is full. Else E - S = floor(high / B_c) - floor((low - 1) / B_c) - 1 is at least 0, as high - (low - 1) >= B_c. */
  const int64_t w = floor_div(high->b - low->b + high->div - 1, high->div);
  if (w < B_c || both == high_stops) return sum;
  return sum + edge_sum(high, both, high_stops, B_c, 0) - edge_sum(low, both, high_stops, B_c, B_c - 1);
}

/* Adds block i, counted directly, to *count. */
static void count_one(const Band *b, int64_t B_r, int64_t B_c, int64_t i, BandCount *count) {
  const BandRow row = band_row(b, B_r, B_c, i);
  if (row.computed.end <= row.computed.begin) {
    count->n_empty++;
    return;
  }
  const Wide cols = wide(min64(row.computed.end * B_c, b->cols) - row.computed.begin * B_c);
  const Wide rows = wide(min64((i + 1) * B_r, b->rows) - i * B_r);
  count->rows += wide(row.computed.end - row.computed.begin) * rows;
  count->computed += wide(row.computed.end - row.computed.begin);
  count->full += wide(row.full.end - row.full.begin);
  count->cols += cols;
  count->area += cols * rows;
}

int64_t band_before_the_end(const Band *b, int64_t B_r, int64_t n) {
  const Edge low = edge_of(b, B_r, 0, -b->before);
  return edge_reaches(&low, b->cols, n);
}

BandCount band_count(const Band *b, int64_t B_r, int64_t B_c, int64_t n) {
  BandCount count = {0};
  const int64_t seen = band_before_the_end(b, B_r, n);
  const int64_t whole = min64(seen, b->rows / B_r); /* blocks of exactly B_r rows */
  const int64_t T_c = ceil_div(b->cols, B_c);
  const Edge first_low = edge_of(b, B_r, 0, -b->before), first_high = edge_of(b, B_r, 0, b->after + 1);
  const Edge last_low = edge_of(b, B_r, B_r - 1, -b->before), last_high = edge_of(b, B_r, B_r - 1, b->after + 1);
  count.computed = edge_sum(&last_high, 0, whole, B_c, B_c - 1) - edge_sum(&first_low, 0, whole, B_c, 0);
  count.full = count_full(&last_low, &first_high, B_c, whole);
  count.n_empty = edge_reaches(&last_high, 1, whole) + (n - seen);
  const int64_t to_last_tile = whole - edge_reaches(&last_high, (T_c - 1) * B_c + 1, whole);
  count.rows = count.computed * wide(B_r);
  count.cols = count.computed * wide(B_c) - wide(T_c * B_c - b->cols) * wide(to_last_tile);
  count.area = count.cols * wide(B_r);
  if (seen > whole) count_one(b, B_r, B_c, whole, &count);
  return count;
}

int64_t band_n_empty(const Band *b, int64_t B_r, int64_t B_c, int64_t n) {
  const int64_t seen = band_before_the_end(b, B_r, n), whole = min64(seen, b->rows / B_r);
  const Edge last_high = edge_of(b, B_r, B_r - 1, b->after + 1);
  const int64_t n_empty = edge_reaches(&last_high, 1, whole) + (n - seen);
  if (seen == whole) return n_empty;
  const BandRow row = band_row(b, B_r, B_c, whole);
  return n_empty + (row.computed.end <= row.computed.begin);
}

static int64_t row_length(const Band *b, int64_t B_r, int64_t B_c, int64_t i) {
  const BandRow row = band_row(b, B_r, B_c, i);
  return row.computed.end - row.computed.begin;
}

int64_t band_longest_row(const Band *b, int64_t B_r, int64_t B_c) {
  const int64_t T_r = ceil_div(b->rows, B_r), whole = b->rows / B_r;
  const Edge low = edge_of(b, B_r, 0, -b->before), high = edge_of(b, B_r, B_r - 1, b->after + 1);
  /* While one end of the band stands still the length is monotone: the ends of such stretches suffice. */
  const int64_t marks[] = {0, edge_reaches(&low, 0, whole), edge_reaches(&high, b->cols, whole), whole};
  int64_t longest = 0;
  for (int k = 0; k < 4; k++) {
    for (int64_t i = marks[k] - 1; i <= marks[k]; i++) {
      if (i >= 0 && i < T_r) longest = max64(longest, row_length(b, B_r, B_c, i));
    }
  }
  /* While both ends move, the length takes two neighbouring values only: the larger one is the mean, rounded up. */
  const int64_t start = marks[1], stop = marks[2];
  if (start < stop) {
    const Wide total = edge_sum(&high, start, stop, B_c, B_c - 1) - edge_sum(&low, start, stop, B_c, 0);
    const Wide n = wide(stop - start);
    longest = max64(longest, (int64_t)((total + n - 1) / n));
  }
  return longest;
}

Wide band_pairs(const Band *b) { return band_count(b, 1, 1, b->rows).computed; }
