/* L2s of chiplets: each caches all of memory for its own SMs, and shares nothing with the others (AMD's XCDs).
 *
 *     CTA    0 .. r-1 | r .. 2r-1 | ...      runs of r CTAs go to one chiplet after the other
 *     XCD       0          1      ...  7, 0, ...
 *
 * What a chiplet's CTAs share of K and V comes once into its L2, if they run at once: so the order of CTAs decides. A
 * head's row blocks side by side on one chiplet read K and V once for all of them; spread over heads, each reads its
 * own (arXiv 2511.02132; ROCm/FlyDSL pull request 919: 2.36 % and 93.62 % of hits on an MI355X).
 *
 * Modelled: waves of CTAs on each chiplet that go through K and V in step; what fits its L2 stays for the next wave.
 * Not modelled: CTAs that drift apart (the measured 93.62 % are 96.8 % here), the memory-side cache behind the L2s. */
#ifndef TILEWALK_SIM_L2_CHIPLETS_H
#define TILEWALK_SIM_L2_CHIPLETS_H

#include "sim/l2/launch.h"

typedef struct {
  double read_bytes;   /* asked of all L2s: Q, K and V of every CTA */
  double missed_bytes; /* of it, what was not there: read from behind them */
} Chiplets;

/* False where it says nothing: no chiplets, a persistent kernel, split keys, a mask other than causal, more than 2^20
 * CTAs. */
bool chiplets_run(Chiplets *chiplets, const Launch *launch, const Plan *plan, const Gpu *gpu);

static inline double chiplets_hit_rate(const Chiplets *c) {
  return c->read_bytes > 0 ? 1 - c->missed_bytes / c->read_bytes : 0;
}

#endif
