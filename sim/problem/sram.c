#include "sim/problem/sram.h"

SramBudget sram_budget(SramTiles tiles, int64_t B_r, int64_t B_c, int64_t d, int64_t d_v, int element_bytes) {
  const Wide e = wide(element_bytes);
  const Wide rows = wide(B_r) * wide(d) * e, cols = wide(B_c) * wide(d) * e;
  const Wide rows_v = wide(B_r) * wide(d_v) * e, cols_v = wide(B_c) * wide(d_v) * e;
  SramBudget b = {
      .Q = tiles.Q ? rows : 0,
      .K = tiles.K ? cols : 0,
      .V = tiles.V ? cols_v : 0,
      .S = tiles.S ? wide(B_r) * wide(B_c) * e : 0,
      .O = tiles.O ? rows_v : 0,
      .stats = tiles.stats ? wide(B_r) * 2 * STATS_BYTES : 0,
  };
  b.bytes = b.Q + b.K + b.V + b.S + b.O + b.stats;
  return b;
}

int64_t sram_max_block(SramTiles tiles, int64_t d, int64_t d_v, int element_bytes, Wide capacity_bytes) {
  int64_t fits = 0, too_large = PLAN_MAX_BLOCK + 1;
  while (too_large - fits > 1) {
    const int64_t B = fits + (too_large - fits) / 2;
    if (sram_budget(tiles, B, B, d, d_v, element_bytes).bytes <= capacity_bytes)
      fits = B;
    else
      too_large = B;
  }
  return fits;
}
