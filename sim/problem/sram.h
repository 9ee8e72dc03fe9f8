/* The SRAM budget: which tiles live on chip at the same time, how large they are, what is the largest block that fits.
 *
 * Counted as the papers do: whole tiles of Q, K, V, S and O in the data type, and m and l in fp32.
 * Not counted: double buffers, padding against bank conflicts, fp32 accumulators in registers. Those are
 * choices of a particular kernel; its own launch description carries them. */
#ifndef TILEWALK_SIM_SRAM_H
#define TILEWALK_SIM_SRAM_H

#include "sim/base/checked.h"
#include "sim/problem/plan.h"

/* Which tiles an algorithm keeps in SRAM at once. S holds P as well, which overwrites it. */
typedef struct {
  bool Q, K, V, S, O, stats;
} SramTiles;

typedef struct {
  Wide Q, K, V, S, O, stats; /* bytes of each tile kept; 0 where the algorithm keeps none */
  Wide bytes;                /* their sum */
} SramBudget;

/* The budget of `tiles` at block sizes B_r and B_c. */
SramBudget sram_budget(SramTiles tiles, int64_t B_r, int64_t B_c, int64_t d, int64_t d_v, int element_bytes);

/* The largest B with B_r = B_c = B whose budget is at most capacity_bytes; 0 when even one row is too much.
 * At most PLAN_MAX_BLOCK. */
int64_t sram_max_block(SramTiles tiles, int64_t d, int64_t d_v, int element_bytes, Wide capacity_bytes);

#endif
