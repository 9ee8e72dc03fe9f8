#include "sim/l2/overheads.h"

Overheads overheads_of(const Launch *l, const Plan *plan) {
  const LaunchConfig *c = &l->config;
  const int64_t B_r = plan->tiling.B_r, last = plan->T_r - 1, ragged = plan->T_r * B_r - plan->shape.N_q;
  const MaskTiles all = {B_r, plan->tiling.B_c, {0, plan->T_r}, {0, plan->T_c}},
                  bottom = {B_r, plan->tiling.B_c, {last, plan->T_r}, {0, plan->T_c}};
  const MaskCount n = mask_count(&plan->mask, &all);
  const int64_t end = (int64_t)mask_count(&plan->mask, &bottom).computed;
  const double heads = (double)plan->shape.batch * (double)plan->shape.heads,
               blocks = (double)mask_rows_seen(&plan->mask, &all).blocks;
  const double row_bytes = (double)plan->shape.d * plan->element_bytes, tiles = (double)n.computed;
  const double key_bytes = plan_key_bytes(plan);
  const double spilled_tiles = heads * (double)c->spill_tile_bytes * tiles,
               spilled_blocks = heads * (double)c->spill_block_bytes * blocks;
  Overheads overheads = {.write_bytes = spilled_tiles + spilled_blocks, .block_write_bytes = spilled_blocks};
  if (c->reloads_q) { /* rows x tiles of each block, without the first tile; the last block may be ragged */
    const double again = (tiles - blocks) * (double)B_r, missing = end > 0 ? (double)((end - 1) * ragged) : 0;
    overheads.read_bytes = heads * row_bytes * (again - missing);
  }
  if (c->clips_k && !plan->mask.pattern) { /* of a block that a pattern hides a part not known */
    const double left = (double)(n.cols - band_count(&plan->band, B_r, 1, plan->T_r).cols);
    overheads.read_bytes -= heads * key_bytes * left;
  }
  if (c->persistent) {
    const double pulls = (double)l->n_pieces + (double)l->n_ctas;
    overheads.read_bytes += pulls * (double)c->pull_bytes;
    overheads.write_bytes += pulls * (double)c->pull_bytes;
    overheads.atomic_bytes = pulls * (double)c->pull_bytes;
  }
  const int64_t at_work = l->n_slots < l->n_pieces ? l->n_slots : l->n_pieces;
  overheads.resident_bytes = (double)at_work * 1.5 * (double)c->spill_tile_bytes;
  return overheads;
}
