#include "sim/l2/overheads.h"

enum { ROWS_COUNTED = 1 << 16 };

/* Beyond what a CTA of t tiles spills by the rule, those with few tiles: which row blocks these are is seen one by one;
 * of very many, at both ends, where a mask leaves less, while those between are as the middle one. */
static double few_bytes(const Plan *plan, const Spills *s) {
  const int64_t ends = plan->T_r < ROWS_COUNTED ? plan->T_r : ROWS_COUNTED, head = ends - ends / 2;
  double bytes = 0;
  if (!s->few_bytes[1] && !s->few_bytes[2] && !s->few_bytes[3]) return 0;
  for (int64_t k = 0; k <= ends; k++) {
    const bool is_middle = k == ends;
    const int64_t i = is_middle ? plan->T_r / 2 : k < head ? k : plan->T_r - ends + k;
    const int64_t t = plan_row_tiles(plan, i).computed, n = is_middle ? plan->T_r - ends : 1;
    if (t < 1 || t >= SPILLS_FEW || !s->few_bytes[t]) continue;
    bytes += (double)n * (double)(s->few_bytes[t] - s->tile_bytes * t - s->block_bytes);
  }
  return bytes;
}

enum { SECTOR = 32, TABLE_ENTRY = 4, IDS_BYTES = 1024 };

static double sectors_of(int64_t n_blocks) {
  const int64_t a_sector = SECTOR / TABLE_ENTRY, n = (n_blocks + a_sector - 1) / a_sector;
  return (double)(SECTOR * (n > 1 ? n : 1));
}

/* Of a head, what a kernel of block masks reads to find its blocks (FlexAttention): the numbers of full and of partial
 * ones, both lists, and for documents the ids of rows and keys (8 B each) where it has partial ones. */
static double table_bytes(const Plan *plan) {
  const bool is_masked = plan->mask.pattern || plan->shape.causal || plan->shape.window || plan->shape.sided;
  const bool has_ids = plan->mask.pattern && plan->mask.pattern->kind == PATTERN_DOCUMENTS;
  const int64_t n_seen = plan->T_r < ROWS_COUNTED ? plan->T_r : ROWS_COUNTED;
  double bytes = 0;
  if (!is_masked) return (double)plan->T_r * SECTOR;
  for (int64_t i = 0; i < n_seen; i++) {
    const PlanTiles t = plan_row_tiles(plan, i);
    bytes += 2 * SECTOR + sectors_of(t.computed - t.partial) + sectors_of(t.partial);
    if (has_ids && t.partial) bytes += IDS_BYTES * (double)(t.partial + 1);
  }
  return bytes * (double)plan->T_r / (double)n_seen;
}

Overheads overheads_of(const Launch *l, const Plan *plan) {
  const LaunchConfig *c = &l->config;
  const int64_t B_r = plan->tiling.B_r, last = plan->T_r - 1, ragged = plan->T_r * B_r - plan->shape.N_q;
  const MaskTiles all = {B_r, plan->tiling.B_c, {0, plan->T_r}, {0, plan->T_c}};
  const MaskCount n = plan_count(plan, all.rows, all.cols);
  const int64_t end = (int64_t)plan_count(plan, (Span){last, plan->T_r}, all.cols).computed;
  const double heads = (double)plan->shape.batch * (double)plan->shape.heads,
               blocks = (double)mask_rows_seen(&plan->mask, &all).blocks;
  const double row_bytes = (double)plan->shape.d * plan->element_bytes, tiles = (double)n.computed;
  const double key_bytes = plan_key_bytes(plan);
  const double spilled_tiles = heads * ((double)c->spills.tile_bytes * tiles + few_bytes(plan, &c->spills)),
               spilled_blocks = heads * (double)c->spills.block_bytes * blocks;
  Overheads overheads = {.write_bytes = spilled_tiles + spilled_blocks,
                         .block_write_bytes = heads * (double)spills_held(&c->spills) * blocks};
  if (c->reloads_q) { /* rows x tiles of each block, without the first tile; the last block may be ragged */
    const double again = (tiles - blocks) * (double)B_r, missing = end > 0 ? (double)((end - 1) * ragged) : 0;
    overheads.read_bytes = heads * row_bytes * (again - missing);
  }
  if (c->reads_tables) overheads.read_bytes += heads * table_bytes(plan);
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
  if (heads * blocks > (double)l->n_slots)
    overheads.read_bytes += (heads * blocks - (double)l->n_slots) * (double)c->spills.reload_bytes;
  const int64_t at_work = l->n_slots < l->n_pieces ? l->n_slots : l->n_pieces;
  overheads.resident_bytes = (double)at_work * 1.5 * (double)c->spills.tile_bytes;
  return overheads;
}
