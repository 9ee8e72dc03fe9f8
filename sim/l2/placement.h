/* Where the CTAs of a launch run: which SM, which side of L2, and who else is there.
 *
 * CTAs are dealt out in layers: one to each SM before any SM gets its second. A launch smaller than a layer is spread
 * over the GPCs as evenly as they have room, one SM of each TPC before the second; then each GPC in turn gets all that
 * is meant for it. So neighbours in launch order mostly share a GPC, and with it a side of L2. The turns go on from one
 * launch to the next: a launch begins with the GPC after that to which the last CTA of the one before came, the SMs
 * that come first in each layer left aside. After a launch of one wave the next begins as it did, for the last turn is
 * that of the GPC before; in one of several waves the last CTA comes to whichever SM is free first.
 *
 * Measured on H200 (assets/counters/h200/placement/first.csv): %smid of every CTA of launches of 4 to 528 CTAs, one to
 * four to an SM, and the side of every SM by the latency of atomics, mostly 66 on each. Most H200 that were asked, and
 * two H100 SXM (h100/placement), had the same GPCs on the same sides, and the SMs that a launch begins with in one of
 * them: there they share its coalescer and its clock. On one card those are of three GPCs (h200/placement/other.csv: 12
 * to 18 SMs a GPC), on another only the sides differ (h200/placement/third.csv), on a fourth both may, and one side has
 * 64 SMs, the other 68 (h200/placement/fourth.csv): which SMs of a chip are sold as good differs from card to card.
 *
 * A GPC's clock differs from the others'. In launches of many waves by up to 0.4 %, one standard deviation of 0.01 to
 * 0.15 % (h200/clocks, h100/clocks), the more the busier the machine. Which GPC is slow differs from card to
 * card and from run to run: here as in one launch of h200/clocks (fa2_async, d = 128, N = 65,536), also of GPUs
 * whose GPCs are not known (assumed). Just after the machine was idle they are further apart, mostly in the same order:
 * 0.39 % in launches of 128 CTAs on another card, a correlation of 0.7 (h200/steps, tests/model/test_steps.c). In
 * between they settle: under PyTorch's FlashAttention-2 and memory-efficient kernel the fastest and the slowest of a
 * card are 0.75 % apart in launches of up to 4 million cycles, 0.35 % in those of 50, 0.2 % in those of 350
 * (h200/others-places, tests/model/test_places.c). Under cuDNN's, which takes all the power there is, they stay
 * apart, by 1.4 % (d = 64) and 2.0 % (d = 128; 0.8 to 2.6 in launches of 50 ms) on five cards, mostly the same GPCs
 * ahead: PLACEMENT_BUSY_CLOCKS_PPM is the mean of four cards, on each of which one SM of each GPC was watched beside
 * the kernel (h200/gpcs and three more, tests/model/test_places.c). That decides what cuDNN reads where it just
 * does not fit: 2.7 to 3.6 GB on ten cards (N = 65,536, d = 128, 16 heads); a card whose clocks are told (clocks_ppm)
 * is predicted. */
#ifndef TILEWALK_SIM_PLACEMENT_H
#define TILEWALK_SIM_PLACEMENT_H

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

/* How far apart clocks are in a launch of so many cycles: so many times as far as PLACEMENT_CLOCKS_PPM says. */
double placement_clocks_apart(double cycles);

/* The places of a launch's first n CTAs, all at work at once, where the GPC first_gpc has its turn first (any number:
 * modulo the number of GPCs). NULL: CTA i runs on SM i modulo n_sms, sides by turns. */
void placement_deal(const Placement *placement, uint32_t n_sms, uint32_t first_gpc, Place *places, uint32_t n);

#endif
