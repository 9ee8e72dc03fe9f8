#include "sim/problem/mask.h"

Mask mask_of_shape(const Shape *shape) { return (Mask){.band = band_of_shape(shape), .pattern = shape->pattern}; }

static int64_t edge(int64_t blocks, int64_t B, int64_t n) { return min64(blocks * B, n); }

static bool is_of_blocks(const Mask *m) { return m->pattern && m->pattern->kind == PATTERN_BLOCKS; }

static Span overlap(Span a, Span b) {
  const Span s = {max64(a.begin, b.begin), min64(a.end, b.end)};
  return s.end > s.begin ? s : (Span){0, 0};
}

/* ---- Ranges: a row sees one range of columns, and with a sink or a prefix the first columns too ------------ */

/* What rows [row0, row1) see: columns that any of them sees, and those that all see. Both ends of both ranges move
 * right from row to row, so that the first and the last row say it, and no column between them is left out. */
typedef struct {
  Span any, all;
  int64_t first_any, first_all; /* of the first columns */
} Sight;

/* The columns of the documents of the keys' positions [p0, p1]. */
static Span documents_of(const Mask *m, int64_t p0, int64_t p1) {
  return (Span){pattern_document(m->pattern, p0).begin, pattern_document(m->pattern, p1).end};
}

static Sight sight_of(const Mask *m, int64_t row0, int64_t row1) {
  const Span first = band_columns(&m->band, row0), last = band_columns(&m->band, row1 - 1);
  Sight s = {.any = {first.begin, last.end}, .all = {last.begin, first.end}};
  if (!m->pattern) return s;
  const int64_t to_position = m->band.offset; /* of a row: the key with which it stands */
  if (m->pattern->kind == PATTERN_DOCUMENTS) {
    const int64_t in0 = max64(row0, -to_position), in1 = min64(row1, m->pattern->matrix.N_k - to_position);
    if (in1 <= in0) return (Sight){0}; /* beside all documents */
    const Span known = {band_columns(&m->band, in0).begin, band_columns(&m->band, in1 - 1).end};
    const int64_t p0 = in0 + to_position, p1 = in1 - 1 + to_position;
    s.any = overlap(known, documents_of(m, p0, p1));
    s.all = in0 > row0 || in1 < row1
                ? (Span){0, 0}
                : overlap(s.all, (Span){documents_of(m, p1, p1).begin, documents_of(m, p0, p0).end});
    return s;
  }
  const int64_t keys = min64(m->pattern->keys, m->band.cols);
  const bool is_sink = m->pattern->kind == PATTERN_SINK; /* no key to the right of the band */
  s.first_any = is_sink ? min64(keys, last.end) : keys;
  s.first_all = is_sink ? min64(keys, first.end) : keys;
  if (s.all.begin <= s.first_any) s.all.begin = 0; /* the two meet */
  return s;
}

static TileKind tile_of_sight(const Sight *s, int64_t col0, int64_t col1) {
  if (col1 <= s->first_all || (col0 >= s->all.begin && col1 <= s->all.end)) return TILE_FULL;
  return col0 < s->first_any || (col0 < s->any.end && col1 > s->any.begin) ? TILE_PARTIAL : TILE_SKIPPED;
}

/* Runs of column tiles of a row block, from the left, apart from each other. */
typedef struct {
  Span computed[2], full[2];
} Runs;

static void join(Span *runs, Span first, Span second) {
  if (first.end <= first.begin) first = (Span){0, 0};
  if (second.end <= second.begin) second = (Span){first.end, first.end};
  const bool meet = second.begin <= first.end;
  runs[0] = meet ? (Span){min64(first.begin, second.begin), max64(first.end, second.end)} : first;
  runs[1] = meet ? (Span){0, 0} : second;
}

static Runs runs_of(const Mask *m, int64_t B_r, int64_t B_c, int64_t i) {
  const int64_t cols = m->band.cols;
  const Sight s = sight_of(m, i * B_r, edge(i + 1, B_r, m->band.rows));
  const Span any = s.any.end > s.any.begin ? (Span){s.any.begin / B_c, ceil_div(s.any.end, B_c)} : (Span){0, 0};
  const Span all = {ceil_div(s.all.begin, B_c), s.all.end >= cols ? ceil_div(cols, B_c) : s.all.end / B_c};
  const int64_t first = s.first_all >= cols ? ceil_div(cols, B_c) : s.first_all / B_c;
  Runs r;
  join(r.computed, (Span){0, ceil_div(s.first_any, B_c)}, any);
  join(r.full, (Span){0, first}, all);
  return r;
}

/* Rows that see a column of [col0, col1): a range, too. */
static Span rows_seeing(const Mask *m, int64_t col0, int64_t col1) {
  const Band keys = band_transpose(&m->band);
  const Span all = {0, m->band.rows};
  Span rows = {band_columns(&keys, col0).begin, band_columns(&keys, col1 - 1).end};
  if (!m->pattern) return overlap(rows, all);
  if (m->pattern->kind == PATTERN_DOCUMENTS) {
    const Span documents = documents_of(m, col0, col1 - 1);
    return overlap(rows, (Span){documents.begin - m->band.offset, documents.end - m->band.offset});
  }
  if (col0 < m->pattern->keys) rows.end = m->band.rows;
  if (col0 < m->pattern->keys && m->pattern->kind == PATTERN_PREFIX) rows.begin = 0;
  return overlap(rows, all);
}

/* ---- One tile --------------------------------------------------------------------------------------------- */

/* Allowed cells of a pattern of blocks that the tile touches, and all that it touches. */
static PatternCells cells_of(const Mask *m, int64_t row0, int64_t row1, int64_t col0, int64_t col1) {
  return pattern_cells(m->pattern, row0, row1, col0, col1);
}

/* Whether a pair of the tile is in an allowed block and in the band: block row by block row of those that the band
 * shows a column to, each of which it shows one range. */
static bool blocks_meet_band(const Mask *m, int64_t row0, int64_t row1, int64_t col0, int64_t col1) {
  const int64_t block = m->pattern->block;
  const Band keys = band_transpose(&m->band);
  row1 = min64(row1, band_columns(&keys, col1 - 1).end);
  for (int64_t row = max64(row0, band_columns(&keys, col0).begin); row < row1;) {
    const int64_t end = min64(row1, (row / block + 1) * block);
    const int64_t c0 = max64(col0, band_columns(&m->band, row).begin),
                  c1 = min64(col1, band_columns(&m->band, end - 1).end);
    if (c1 > c0 && cells_of(m, row, end, c0, c1).allowed > 0) return true;
    row = end;
  }
  return false;
}

TileKind mask_tile(const Mask *m, int64_t row0, int64_t row1, int64_t col0, int64_t col1) {
  if (!m->pattern) return band_tile(&m->band, row0, row1, col0, col1);
  if (!is_of_blocks(m)) {
    const Sight s = sight_of(m, row0, row1);
    return tile_of_sight(&s, col0, col1);
  }
  const PatternCells cells = cells_of(m, row0, row1, col0, col1);
  if (cells.allowed == 0) return TILE_SKIPPED; /* of most tiles, before the band costs time */
  const TileKind band = band_tile(&m->band, row0, row1, col0, col1);
  if (band == TILE_SKIPPED || cells.allowed == cells.all) return band;
  return band == TILE_FULL || blocks_meet_band(m, row0, row1, col0, col1) ? TILE_PARTIAL : TILE_SKIPPED;
}

bool mask_allows(const Mask *m, int64_t row, int64_t col) {
  return mask_tile(m, row, row + 1, col, col + 1) == TILE_FULL;
}

Span mask_columns(const Mask *m, int64_t row) {
  if (!m->pattern || is_of_blocks(m)) return band_columns(&m->band, row);
  const Sight s = sight_of(m, row, row + 1);
  if (s.first_any == 0) return s.any;
  return (Span){0, s.any.end > s.any.begin ? max64(s.any.end, s.first_any) : s.first_any};
}

/* ---- A rectangle of a band -------------------------------------------------------------------------------- */

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

/* ---- A rectangle of a pattern ------------------------------------------------------------------------------ */

/* Adds n tiles of a row block with that many columns in all. */
static void add_tiles(MaskCount *c, Wide n, Wide rows, Wide cols) {
  c->computed += n;
  c->rows += n * rows;
  c->cols += cols;
  c->area += rows * cols;
}

/* Row block by row block of those that see anything: its runs. */
static MaskCount count_ranges(const Mask *m, const MaskTiles *t) {
  const Span seeing = rows_seeing(m, t->cols.begin * t->B_c, edge(t->cols.end, t->B_c, m->band.cols));
  const Span rows = overlap(t->rows, (Span){seeing.begin / t->B_r, ceil_div(seeing.end, t->B_r)});
  MaskCount c = {0};
  for (int64_t i = rows.begin; i < rows.end; i++) {
    const Runs r = runs_of(m, t->B_r, t->B_c, i);
    const Wide height = wide(edge(i + 1, t->B_r, m->band.rows) - i * t->B_r);
    for (int k = 0; k < 2; k++) {
      const Span computed = overlap(r.computed[k], t->cols), full = overlap(r.full[k], t->cols);
      c.full += wide(full.end - full.begin);
      add_tiles(&c, wide(computed.end - computed.begin), height,
                wide(edge(computed.end, t->B_c, m->band.cols) - edge(computed.begin, t->B_c, m->band.cols)));
    }
  }
  return c;
}

/* Tile by tile, but for stretches of a row block of which nothing is allowed. */
static MaskCount count_blocks(const Mask *m, const MaskTiles *t) {
  enum { STRETCH = 16 };
  MaskCount c = {0};
  for (int64_t i = t->rows.begin; i < t->rows.end; i++) {
    const int64_t row0 = i * t->B_r, row1 = edge(i + 1, t->B_r, m->band.rows);
    for (int64_t first = t->cols.begin, end; first < t->cols.end; first = end) {
      end = min64(first + STRETCH, t->cols.end);
      if (cells_of(m, row0, row1, first * t->B_c, edge(end, t->B_c, m->band.cols)).allowed == 0) continue;
      for (int64_t j = first; j < end; j++) {
        const int64_t col0 = j * t->B_c, col1 = edge(j + 1, t->B_c, m->band.cols);
        const TileKind kind = mask_tile(m, row0, row1, col0, col1);
        if (kind == TILE_SKIPPED) continue;
        c.full += kind == TILE_FULL;
        add_tiles(&c, 1, wide(row1 - row0), wide(col1 - col0));
      }
    }
  }
  return c;
}

static MaskCount count_pattern(const Mask *m, const MaskTiles *t) {
  return is_of_blocks(m) ? count_blocks(m, t) : count_ranges(m, t);
}

MaskCount mask_count(const Mask *m, const MaskTiles *t) {
  if (is_empty(t)) return (MaskCount){0};
  MaskCount c = m->pattern ? count_pattern(m, t) : count_band(&m->band, t);
  c.tiles = wide(t->rows.end - t->rows.begin) * wide(t->cols.end - t->cols.begin);
  return c;
}

static MaskTiles transposed(const MaskTiles *t) {
  return (MaskTiles){.B_r = t->B_c, .B_c = t->B_r, .rows = t->cols, .cols = t->rows};
}

/* A block of one side has a computed tile where the whole of it, as one tile, is computed. */
MaskSeen mask_rows_seen(const Mask *m, const MaskTiles *t) {
  MaskSeen seen = {0};
  if (is_empty(t)) return seen;
  if (!m->pattern) return seen_band(&m->band, t);
  const int64_t col0 = t->cols.begin * t->B_c, col1 = edge(t->cols.end, t->B_c, m->band.cols);
  for (int64_t i = t->rows.begin; i < t->rows.end; i++) {
    const int64_t row0 = i * t->B_r, row1 = edge(i + 1, t->B_r, m->band.rows);
    if (mask_tile(m, row0, row1, col0, col1) == TILE_SKIPPED) continue;
    seen.blocks++;
    seen.elements += wide(row1 - row0);
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
  const int64_t row0 = t->rows.begin * t->B_r, row1 = edge(t->rows.end, t->B_r, m->band.rows);
  for (int64_t j = t->cols.begin; j < t->cols.end; j++) {
    const int64_t col0 = j * t->B_c, col1 = edge(j + 1, t->B_c, m->band.cols);
    if (mask_tile(m, row0, row1, col0, col1) == TILE_SKIPPED) continue;
    seen.blocks++;
    seen.elements += wide(col1 - col0);
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
    const Span rows = rows_seeing(m, j * B_c, edge(j + 1, B_c, m->band.cols));
    const int64_t tiles = is_of_blocks(m)         ? (int64_t)count_blocks(m, &t).computed
                          : rows.end > rows.begin ? ceil_div(rows.end, B_r) - rows.begin / B_r
                                                  : 0;
    longest = max64(longest, tiles);
  }
  return longest;
}

/* ---- Pairs, queries and keys ------------------------------------------------------------------------------- */

static Wide pairs_of(const Band *b, int64_t row0, int64_t row1, int64_t col0, int64_t col1) {
  row0 = max64(row0, 0), row1 = min64(row1, b->rows);
  if (row1 <= row0 || col1 <= col0) return 0;
  const Band part = band_part(b, row0, col0, row1 - row0, col1 - col0);
  return band_pairs(&part);
}

/* Blocks that are seen, each cut by the band. */
static Wide pairs_of_blocks(const Mask *m) {
  const Pattern *p = m->pattern;
  Wide pairs = 0;
  for (int64_t i = 0; i < p->rows; i++)
    for (int64_t j = 0; j < p->cols; j++) {
      const int64_t row0 = i * p->block, row1 = edge(i + 1, p->block, p->matrix.N_q), col0 = j * p->block,
                    col1 = edge(j + 1, p->block, p->matrix.N_k);
      if (pattern_cells(p, row0, row1, col0, col1).allowed == 0) continue;
      const MaskTiles cell = {1, 1, {row0, row1}, {col0, col1}};
      pairs += count_band(&m->band, &cell).computed;
    }
  return pairs;
}

Wide mask_pairs(const Mask *m) {
  const Pattern *p = m->pattern;
  const Band *b = &m->band;
  if (!p) return band_pairs(b);
  if (p->kind == PATTERN_BLOCKS) return pairs_of_blocks(m);
  if (p->kind == PATTERN_DOCUMENTS) {
    Wide pairs = 0;
    for (int64_t begin = 0; begin < p->matrix.N_k;) {
      const int64_t end = pattern_document(p, begin).end;
      pairs += pairs_of(b, begin - b->offset, end - b->offset, begin, end);
      begin = end;
    }
    return pairs;
  }
  Band open = *b; /* without a left end */
  open.before = b->rows + b->cols;
  const Wide first = p->kind == PATTERN_SINK ? pairs_of(&open, 0, b->rows, 0, p->keys) : wide(b->rows) * wide(p->keys);
  return band_pairs(b) + first - pairs_of(b, 0, b->rows, 0, p->keys);
}

/* Side of the squares in which queries and keys are looked for. */
static int64_t grain_of(const Mask *m) {
  return is_of_blocks(m) && max64(m->band.rows, m->band.cols) > (int64_t)1 << 22 ? m->pattern->block : 1;
}

Wide mask_queries_seeing(const Mask *m) {
  const int64_t grain = grain_of(m);
  const MaskTiles all = all_tiles(m, grain, grain);
  if (!m->pattern || is_of_blocks(m)) return mask_rows_seen(m, &all).elements;
  if (m->pattern->kind == PATTERN_PREFIX) return wide(m->band.rows);
  if (m->pattern->kind == PATTERN_DOCUMENTS) { /* each sees the key with which it stands */
    const Span rows =
        overlap((Span){-m->band.offset, m->pattern->matrix.N_k - m->band.offset}, (Span){0, m->band.rows});
    return wide(rows.end - rows.begin);
  }
  Mask open = {.band = m->band}; /* a row that sees a key sees the first one, were there no left end */
  open.band.before = m->band.rows + m->band.cols;
  return mask_queries_seeing(&open);
}

Wide mask_keys_seen(const Mask *m) {
  const int64_t grain = grain_of(m);
  const MaskTiles all = all_tiles(m, grain, grain);
  if (!m->pattern || is_of_blocks(m)) return mask_cols_seen(m, &all).elements;
  const Sight s = sight_of(m, 0, m->band.rows); /* no key between them is left out */
  Span runs[2];
  join(runs, (Span){0, s.first_any}, s.any);
  return wide(runs[0].end - runs[0].begin) + wide(runs[1].end - runs[1].begin);
}
