#include "sim/l2/placement.h"

#include <math.h>

/* Sides by the latency of atomics: medians of about 320 cycles to the own side and 510 to the other
 * (assets/counters/h200/placement/first.csv). */
const Placement PLACEMENT_H200 = {.n_gpcs = 8,
                                  .gpcs = {{8, 0}, {16, 1}, {16, 1}, {16, 1}, {16, 0}, {16, 0}, {18, 0}, {18, 1}}};

/* h200/placement/other.csv; the GPCs of the first TPCs by their clocks. */
const Placement PLACEMENT_H200_OTHER = {
    .n_gpcs = 8,
    .first = {5, 0, 0, 4},
    .gpcs = {{8, 0}, {16, 1}, {16, 1}, {16, 1}, {16, 1}, {16, 0}, {18, 0}, {18, 0}}};

/* h200/placement/third.csv. */
const Placement PLACEMENT_H200_THIRD = {
    .n_gpcs = 8, .gpcs = {{8, 0}, {16, 0}, {16, 1}, {16, 1}, {16, 1}, {16, 0}, {18, 1}, {18, 0}}};

/* h200/placement/fourth.csv; which GPCs the first TPCs are of, but for their sides, as PLACEMENT_H200_OTHER (assumed).
 */
const Placement PLACEMENT_H200_FOURTH = {
    .n_gpcs = 8,
    .first = {5, 0, 0, 4},
    .gpcs = {{8, 0}, {16, 1}, {16, 0}, {16, 1}, {16, 1}, {16, 0}, {18, 0}, {18, 1}}};

/* As in one launch (placement.h). */
const int32_t PLACEMENT_CLOCKS_PPM[PLACEMENT_GPCS_MAX] = {-920, -1580, -160, 400, 790, 1380, 2080, -1990};

/* The mean of four cards (placement.h). */
const int32_t PLACEMENT_BUSY_CLOCKS_PPM[PLACEMENT_GPCS_MAX] = {-6265, -6442, 83, -344, -1754, 8202, 14643, -8123};

/* Of placement_clocks_apart [measured]: the range of PLACEMENT_CLOCKS_PPM is 0.41 %. */
#define UNSETTLED_RANGE 0.0075
#define SETTLES_AFTER   4e6 /* cycles */
#define SETTLING        0.3 /* the power of time with which the range falls from then on */

double placement_clocks_apart(double cycles) {
  const double apart =
      UNSETTLED_RANGE / 1e-6 / (PLACEMENT_CLOCKS_PPM[6] - PLACEMENT_CLOCKS_PPM[7]); /* the fastest and the slowest */
  return cycles > SETTLES_AFTER ? apart * pow(SETTLES_AFTER / cycles, SETTLING) : apart;
}

enum { GPC_SMS = 16 }; /* of a GPU whose GPCs are not known: assumed */
enum {
  BATCHES_BEFORE = 5,
  BATCHES_BETWEEN = 6
}; /* of GPCs, before and between the next turns of the first SMs, in full layers [measured] */

typedef struct {
  Place *at, *end;
} Dealer;

bool placement_knows_clocks(const Placement *p) {
  for (int g = 0; p && g < PLACEMENT_GPCS_MAX; g++)
    if (p->clocks_ppm[g]) return true;
  return false;
}

static int32_t clock_of(const Placement *p, uint32_t g) {
  return placement_knows_clocks(p) ? p->clocks_ppm[g] : PLACEMENT_CLOCKS_PPM[g];
}

/* The next n CTAs go to TPCs of one GPC, one to each while that is enough; its SMs are numbered from `sm`. */
static void deal_batch(Dealer *d, const Placement *p, uint32_t g, uint32_t sm, uint32_t n, uint32_t layer) {
  const PlacementGpc *gpc = &p->gpcs[g];
  const uint32_t tpcs = gpc->n_sms / 2, twice = n > tpcs ? n - tpcs : 0;
  for (uint32_t tpc = 0, dealt = 0; dealt < n; tpc++)
    for (uint32_t at = 2 * tpc; at < 2 * tpc + (tpc < twice ? 2 : 1) && dealt < n; at++, dealt++)
      if (d->at < d->end) *d->at++ = (Place){sm + at, gpc->side, g, layer, clock_of(p, g)};
}

/* One to each SM of the TPCs that come first. */
static void deal_first(Dealer *d, const Placement *p, uint32_t layer) {
  for (uint32_t sm = 0; sm < 2 * PLACEMENT_FIRST_TPCS && d->at < d->end; sm++) {
    const uint32_t g = p->first[sm / 2];
    *d->at++ = (Place){sm, p->gpcs[g].side, g, layer, clock_of(p, g)};
  }
}

/* How many of a layer's n CTAs each GPC gets: in turns, while it has TPCs without one, then while it has SMs without
 * one. */
static void share_out(const Placement *p, uint32_t n, uint32_t *shares) {
  for (uint32_t g = 0; g < p->n_gpcs; g++) shares[g] = 0;
  for (uint32_t full = 0; full < 2; full++)
    for (bool any = true; any && n > 0;) {
      any = false;
      for (uint32_t g = 0; g < p->n_gpcs && n > 0; g++)
        if (shares[g] < p->gpcs[g].n_sms / (full ? 1 : 2)) shares[g]++, n--, any = true;
    }
}

void placement_deal(const Placement *p, uint32_t n_sms, uint32_t first_gpc, Place *places, uint32_t n) {
  if (!p) {
    for (uint32_t i = 0; i < n; i++) {
      const uint32_t sm = i % n_sms, side = sm % PLACEMENT_SIDES;
      const uint32_t gpc = sm / (PLACEMENT_SIDES * GPC_SMS) * PLACEMENT_SIDES + side;
      places[i] = (Place){sm, side, gpc, i / n_sms, PLACEMENT_CLOCKS_PPM[gpc % PLACEMENT_GPCS_MAX]};
    }
    return;
  }
  Dealer d = {places, places + n};
  uint32_t all = 2 * PLACEMENT_FIRST_TPCS, first_layer = 0, batches = 0, first_sms[PLACEMENT_GPCS_MAX];
  for (uint32_t g = 0; g < p->n_gpcs; g++) {
    first_sms[g] = all;
    all += p->gpcs[g].n_sms;
  }
  const uint32_t full_layers = n / all;
  for (uint32_t layer = 0; d.at < d.end; layer++) {
    const bool full = layer < full_layers;
    if (first_layer == layer) deal_first(&d, p, first_layer++);
    uint32_t shares[PLACEMENT_GPCS_MAX];
    share_out(p, full ? all : (uint32_t)(d.end - d.at), shares);
    for (uint32_t turn = 0; turn < p->n_gpcs; turn++) {
      const uint32_t g = (first_gpc + turn) % p->n_gpcs;
      deal_batch(&d, p, g, first_sms[g], shares[g], layer);
      if (full && first_layer < full_layers && ++batches == BATCHES_BEFORE + BATCHES_BETWEEN * (first_layer - 1))
        deal_first(&d, p, first_layer++);
    }
  }
}
