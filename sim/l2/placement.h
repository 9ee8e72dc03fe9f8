/* Where the CTAs of a launch run: which SM, which side of L2, and who else is there.
 *
 * CTAs are dealt in layers: one to each SM before any SM gets its second. A layer is spread over the GPCs as evenly as
 * they have room, one SM of each TPC before the second. GPCs take turns, and each turn deals all that is meant for that
 * GPC: neighbours in launch order mostly share a GPC, and a side of L2. The turns go on from one launch to the next.
 *
 * Measured (assets/counters/h200/placement): %smid of every CTA in launches of 4 to 528, and each SM's side by the
 * latency of atomics. Most H200 that were asked, and two H100 SXM (h100/placement), are laid out as PLACEMENT_H200;
 * three cards differ, as which SMs of a chip are sold as good differs.
 *
 * Each GPC has its own clock under load: up to 0.4 % apart in launches of many waves, settling with time (h200/clocks,
 * h200/others-places). Under cuDNN's kernel, which takes all the power, 1.4 % (d = 64) and 2.0 % (d = 128) apart:
 * PLACEMENT_BUSY_CLOCKS_PPM is the mean of four cards (h200/gpcs). Which GPC is fast differs from card to card; a card
 * whose clocks are told (clocks_ppm) is predicted. Of GPUs whose GPCs are not known, sides by turns (assumed). */
#ifndef TILEWALK_SIM_L2_PLACEMENT_H
#define TILEWALK_SIM_L2_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

enum { PLACEMENT_SIDES = 2, PLACEMENT_GPCS_MAX = 8, PLACEMENT_FIRST_TPCS = 4 };

typedef struct {
  uint32_t sm;       /* SMs of a TPC, then of a GPC, are next to each other */
  uint32_t side;     /* of L2 */
  uint32_t gpc;      /* SMs of one ask L2 through one coalescer and share a clock */
  uint32_t layer;    /* CTAs that came to this SM before */
  int32_t clock_ppm; /* of the GPC under load, against the mean */
} Place;

typedef struct {
  uint32_t n_sms, side;
} PlacementGpc;

/* The SMs of a GPU. */
typedef struct {
  uint32_t first[PLACEMENT_FIRST_TPCS];  /* the GPCs of the TPCs that are dealt to before all others in each layer */
  PlacementGpc gpcs[PLACEMENT_GPCS_MAX]; /* but for those */
  uint32_t n_gpcs;
  int32_t clocks_ppm[PLACEMENT_GPCS_MAX]; /* of this card's GPCs under the kernel in question, against their mean; all
                                             0: not known */
} Placement;

/* H200 with 132 SMs, as most that were asked, and an H100 SXM; and three cards that differ. */
extern const Placement PLACEMENT_H200, PLACEMENT_H200_OTHER, PLACEMENT_H200_THIRD, PLACEMENT_H200_FOURTH;

extern const int32_t PLACEMENT_CLOCKS_PPM[PLACEMENT_GPCS_MAX]; /* of GPCs under load, against the mean */
extern const int32_t
    PLACEMENT_BUSY_CLOCKS_PPM[PLACEMENT_GPCS_MAX]; /* the same under a kernel that takes all the power there is */

/* Whether it says how fast the clocks of its GPCs are. */
bool placement_knows_clocks(const Placement *placement);

/* How far apart clocks are in a launch of n cycles, as a multiple of what PLACEMENT_CLOCKS_PPM says. */
double placement_clocks_apart(double cycles);

/* The places of a launch's first n CTAs, all at work at once, where the GPC first_gpc has its turn first (any number:
 * modulo the number of GPCs). NULL: CTA i runs on SM i modulo n_sms, sides by turns. */
void placement_deal(const Placement *placement, uint32_t n_sms, uint32_t first_gpc, Place *places, uint32_t n);

#endif
