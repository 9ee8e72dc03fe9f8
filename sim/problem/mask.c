#include "sim/problem/mask.h"

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

Mask mask_of_shape(const Shape *shape) { return (Mask){.band = band_of_shape(shape), .pattern = shape->pattern}; }

TileKind mask_tile(const Mask *m, int64_t row0, int64_t row1, int64_t col0, int64_t col1) {
  const TileKind band = band_tile(&m->band, row0, row1, col0, col1);
  if (!m->pattern || band == TILE_SKIPPED) return band;
  const PatternCells cells = pattern_cells(m->pattern, row0, row1, col0, col1);
  if (cells.allowed == 0) return TILE_SKIPPED;
  return cells.allowed == cells.all ? band : TILE_PARTIAL;
}

bool mask_allows(const Mask *m, int64_t row, int64_t col) {
  return mask_tile(m, row, row + 1, col, col + 1) == TILE_FULL;
}

/* ---- A rectangle of a band -------------------------------------------------------------------------------- */

static int64_t edge(int64_t blocks, int64_t B, int64_t n) { return min64(blocks * B, n); }

/* The rectangle as a band of its own: its diagonal moves with its corner. */
static Band part_of(const Band *b, const MaskTiles *t) {
  const int64_t row0 = edge(t->rows.begin, t->B_r, b->rows), col0 = edge(t->cols.begin, t->B_c, b->cols);
  return band_part(b, row0, col0, edge(t->rows.end, t->B_r, b->rows) - row0, edge(t->cols.end, t->B_c, b->cols) - col0);
}

/* Row blocks that begin to see left of the band's last column. */
static int64_t before_the_end(const Band *b, int64_t B_r) {
  return band_before_the_end(b, B_r, ceil_div(b->rows, B_r));
}

static bool is_empty(const MaskTiles *t) { return t->rows.end <= t->rows.begin || t->cols.end <= t->cols.begin; }

static Span overlap(Span a, Span b) {
  const Span s = {max64(a.begin, b.begin), min64(a.end, b.end)};
  return s.end > s.begin ? s : (Span){0, 0};
}

/* One row block: spans, without sums. */
static MaskCount count_row(const Band *b, const MaskTiles *t) {
  const BandRow row = band_row(b, t->B_r, t->B_c, t->rows.begin);
  const Span computed = overlap(row.computed, t->cols), full = overlap(row.full, t->cols);
  const Wide rows = wide(edge(t->rows.end, t->B_r, b->rows) - t->rows.begin * t->B_r);
  MaskCount c = {.computed = wide(computed.end - computed.begin), .full = wide(full.end - full.begin)};
  c.cols = wide(edge(computed.end, t->B_c, b->cols) - edge(computed.begin, t->B_c, b->cols));
  c.rows = c.computed * rows;
  c.area = c.cols * rows;
  return c;
}

static MaskCount count_band(const Band *whole, const MaskTiles *t) {
  if (t->rows.end - t->rows.begin == 1) return count_row(whole, t);
  const Band b = part_of(whole, t);
  const BandCount c = band_count(&b, t->B_r, t->B_c, before_the_end(&b, t->B_r));
  return (MaskCount){.computed = c.computed, .full = c.full, .rows = c.rows, .cols = c.cols, .area = c.area};
}

static MaskSeen seen_band(const Band *whole, const MaskTiles *t) {
  const Band b = part_of(whole, t);
  const int64_t n = before_the_end(&b, t->B_r);
  const int64_t first = min64(n, band_n_empty(&b, t->B_r, t->B_c, n));
  return (MaskSeen){wide(n - first), wide(edge(n, t->B_r, b.rows) - edge(first, t->B_r, b.rows))};
}

/* ---- A pattern: tile by tile ------------------------------------------------------------------------------ */

static TileKind tile_at(const Mask *m, const MaskTiles *t, int64_t i, int64_t j) {
  return mask_tile(m, i * t->B_r, edge(i + 1, t->B_r, m->band.rows), j * t->B_c, edge(j + 1, t->B_c, m->band.cols));
}

static MaskCount count_pattern(const Mask *m, const MaskTiles *t) {
  MaskCount c = {0};
  for (int64_t i = t->rows.begin; i < t->rows.end; i++)
    for (int64_t j = t->cols.begin; j < t->cols.end; j++) {
      const TileKind kind = tile_at(m, t, i, j);
      if (kind == TILE_SKIPPED) continue;
      const Wide rows = wide(edge(i + 1, t->B_r, m->band.rows) - i * t->B_r),
                 cols = wide(edge(j + 1, t->B_c, m->band.cols) - j * t->B_c);
      c.computed++;
      c.full += kind == TILE_FULL;
      c.rows += rows;
      c.cols += cols;
      c.area += rows * cols;
    }
  return c;
}

static bool row_is_seen(const Mask *m, const MaskTiles *t, int64_t i) {
  for (int64_t j = t->cols.begin; j < t->cols.end; j++)
    if (tile_at(m, t, i, j) != TILE_SKIPPED) return true;
  return false;
}

static bool col_is_seen(const Mask *m, const MaskTiles *t, int64_t j) {
  for (int64_t i = t->rows.begin; i < t->rows.end; i++)
    if (tile_at(m, t, i, j) != TILE_SKIPPED) return true;
  return false;
}

/* ---- */

MaskCount mask_count(const Mask *m, const MaskTiles *t) {
  if (is_empty(t)) return (MaskCount){0};
  MaskCount c = m->pattern ? count_pattern(m, t) : count_band(&m->band, t);
  c.tiles = wide(t->rows.end - t->rows.begin) * wide(t->cols.end - t->cols.begin);
  return c;
}

static MaskTiles transposed(const MaskTiles *t) {
  return (MaskTiles){.B_r = t->B_c, .B_c = t->B_r, .rows = t->cols, .cols = t->rows};
}

MaskSeen mask_rows_seen(const Mask *m, const MaskTiles *t) {
  MaskSeen seen = {0};
  if (is_empty(t)) return seen;
  if (!m->pattern) return seen_band(&m->band, t);
  for (int64_t i = t->rows.begin; i < t->rows.end; i++) {
    if (!row_is_seen(m, t, i)) continue;
    seen.blocks++;
    seen.elements += wide(edge(i + 1, t->B_r, m->band.rows) - i * t->B_r);
  }
  return seen;
}

MaskSeen mask_cols_seen(const Mask *m, const MaskTiles *t) {
  MaskSeen seen = {0};
  if (is_empty(t)) return seen;
  if (!m->pattern) {
    const Band keys = band_transpose(&m->band);
    const MaskTiles turned = transposed(t);
    return seen_band(&keys, &turned);
  }
  for (int64_t j = t->cols.begin; j < t->cols.end; j++) {
    if (!col_is_seen(m, t, j)) continue;
    seen.blocks++;
    seen.elements += wide(edge(j + 1, t->B_c, m->band.cols) - j * t->B_c);
  }
  return seen;
}

static MaskTiles all_tiles(const Mask *m, int64_t B_r, int64_t B_c) {
  return (MaskTiles){B_r, B_c, {0, ceil_div(m->band.rows, B_r)}, {0, ceil_div(m->band.cols, B_c)}};
}

int64_t mask_longest_row(const Mask *m, int64_t B_r, int64_t B_c) {
  if (!m->pattern) return band_longest_row(&m->band, B_r, B_c);
  MaskTiles t = all_tiles(m, B_r, B_c);
  int64_t longest = 0;
  for (int64_t i = 0, n = t.rows.end; i < n; i++) {
    t.rows = (Span){i, i + 1};
    longest = max64(longest, (int64_t)count_pattern(m, &t).computed);
  }
  return longest;
}

int64_t mask_longest_col(const Mask *m, int64_t B_r, int64_t B_c) {
  if (!m->pattern) {
    const Band keys = band_transpose(&m->band);
    return band_longest_row(&keys, B_c, B_r);
  }
  MaskTiles t = all_tiles(m, B_r, B_c);
  int64_t longest = 0;
  for (int64_t j = 0, n = t.cols.end; j < n; j++) {
    t.cols = (Span){j, j + 1};
    longest = max64(longest, (int64_t)count_pattern(m, &t).computed);
  }
  return longest;
}

Wide mask_pairs(const Mask *m) {
  if (!m->pattern) return band_pairs(&m->band);
  const Pattern *p = m->pattern; /* blocks of the pattern that are seen, each cut by the band */
  Wide pairs = 0;
  for (int64_t i = 0; i < p->rows; i++)
    for (int64_t j = 0; j < p->cols; j++) {
      const int64_t row0 = i * p->block, row1 = edge(i + 1, p->block, p->N_q), col0 = j * p->block,
                    col1 = edge(j + 1, p->block, p->N_k);
      if (pattern_cells(p, row0, row1, col0, col1).allowed == 0) continue;
      const MaskTiles cell = {1, 1, {row0, row1}, {col0, col1}};
      pairs += count_band(&m->band, &cell).computed;
    }
  return pairs;
}
