#include "sim/problem/plan.h"

static Status check_block(const char *what, int64_t block, Error *error) {
  if (block < 1) return error_refuse(error, "%s is %jd rows; a block holds at least 1 row", what, block);
  if (block > PLAN_MAX_BLOCK)
    return error_set(error, STATUS_TOO_LARGE, "%s is %jd rows; at most %jd is modelled", what, block, PLAN_MAX_BLOCK);
  return STATUS_OK;
}

Status plan_make(Plan *plan, const Shape *shape, const Tiling *tiling, Error *error) {
  Plan p = {.shape = *shape, .tiling = *tiling};
  Status status = shape_complete(&p.shape, error);
  if (!status) status = check_block("the query block B_r", p.tiling.B_r, error);
  if (!status) status = check_block("the key block B_c", p.tiling.B_c, error);
  if (status) return status;
  if (p.tiling.n_splits == 0) p.tiling.n_splits = 1;
  if (p.tiling.n_splits < 1 || p.tiling.n_splits > PLAN_MAX_SPLITS)
    return error_refuse(error, "%jd splits asked for; between 1 and %jd are possible", p.tiling.n_splits,
                        PLAN_MAX_SPLITS);
  p.T_r = ceil_div(p.shape.N_q, p.tiling.B_r);
  p.T_c = ceil_div(p.shape.N_k, p.tiling.B_c);
  p.tiles_per_split = ceil_div(p.T_c, p.tiling.n_splits);
  p.element_bytes = dtype_bytes(p.shape.dtype);
  p.kv_bytes[0] = dtype_bytes(p.shape.kv_dtype);
  p.kv_bytes[1] = p.shape.v_in_k ? 0 : p.kv_bytes[0];
  p.band = band_of_shape(&p.shape);
  p.keys = band_transpose(&p.band);
  p.mask = mask_of_shape(&p.shape);
  *plan = p;
  return STATUS_OK;
}

Tiling tiling_algorithm1(int64_t sram_bytes, int element_bytes, int64_t d) {
  int64_t B_c = ceil_div(sram_bytes / element_bytes, 4 * d);
  if (B_c < 1) B_c = 1;
  return (Tiling){.B_r = B_c < d ? B_c : d, .B_c = B_c};
}

static int64_t length(Span span) { return span.end > span.begin ? span.end - span.begin : 0; }

static PlanTiles of_band(const Band *band, int64_t B_r, int64_t B_c, int64_t i) {
  const BandRow row = band_row(band, B_r, B_c, i);
  return (PlanTiles){length(row.computed), length(row.computed) - length(row.full)};
}

MaskCount plan_count(const Plan *p, Span rows, Span cols) {
  const MaskTiles tiles = {p->tiling.B_r, p->tiling.B_c, rows, cols};
  const bool is_all = length(rows) == p->T_r && length(cols) == p->T_c;
  return is_all && p->all.tiles ? p->all : mask_count(&p->mask, &tiles);
}

static PlanTiles of_mask(const Plan *p, Span rows, Span cols) {
  const MaskCount n = plan_count(p, rows, cols);
  return (PlanTiles){(int64_t)n.computed, (int64_t)(n.computed - n.full)};
}

PlanTiles plan_row_tiles(const Plan *p, int64_t i) {
  if (p->mask.pattern) return of_mask(p, (Span){i, i + 1}, (Span){0, p->T_c});
  return of_band(&p->band, p->tiling.B_r, p->tiling.B_c, i);
}

PlanTiles plan_column_tiles(const Plan *p, int64_t j) {
  if (p->mask.pattern) return of_mask(p, (Span){0, p->T_r}, (Span){j, j + 1});
  return of_band(&p->keys, p->tiling.B_c, p->tiling.B_r, j);
}
