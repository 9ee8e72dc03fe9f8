#include "sim/placement.h"

#include <stdbool.h>

/* Sides by the latency of atomics: medians of about 320 cycles to the own side and 510 to the other (assets/counters/h200_placement.csv). */
const Placement PLACEMENT_H200 = {.first = {8, 0}, .n_gpcs = 8, .gpcs = {{8, 0}, {16, 1}, {16, 1}, {16, 1}, {16, 0}, {16, 0}, {18, 0}, {18, 1}}};

enum { GROUP_SMS = 8, GROUP_SMS_MOST = 9 };
enum { BATCHES_BEFORE = 5, BATCHES_BETWEEN = 6 }; /* of GPCs, before and between the next turns of the first SMs, in full layers [measured] */

typedef struct {
  Place *at, *end;
} Dealer;

/* Where an SM is, in the order of GPCs and of SMs within them. */
typedef struct {
  uint32_t sm, group;
} Start;

static uint32_t groups_of(uint32_t n_sms) { return n_sms > GROUP_SMS_MOST ? 2 : 1; }

/* The next n CTAs go to TPCs of one GPC, one to each while that is enough. */
static void deal_batch(Dealer *d, const PlacementGpc *gpc, Start start, uint32_t n, uint32_t layer) {
  const uint32_t tpcs = gpc->n_sms / 2, twice = n > tpcs ? n - tpcs : 0, groups = groups_of(gpc->n_sms);
  for (uint32_t tpc = 0, dealt = 0; dealt < n; tpc++)
    for (uint32_t at = 2 * tpc; at < 2 * tpc + (tpc < twice ? 2 : 1) && dealt < n; at++, dealt++)
      if (d->at < d->end) *d->at++ = (Place){start.sm + at, gpc->side, start.group + at * groups / gpc->n_sms, layer};
}

/* How many of a layer's n CTAs each GPC gets: in turns, while it has TPCs without one, then while it has SMs without one. */
static void share_out(const Placement *p, uint32_t n, uint32_t *shares) {
  for (uint32_t g = 0; g < p->n_gpcs; g++) shares[g] = 0;
  for (uint32_t full = 0; full < 2; full++)
    for (bool any = true; any && n > 0;) {
      any = false;
      for (uint32_t g = 0; g < p->n_gpcs && n > 0; g++)
        if (shares[g] < p->gpcs[g].n_sms / (full ? 1 : 2)) shares[g]++, n--, any = true;
    }
}

void placement_deal(const Placement *p, uint32_t n_sms, Place *places, uint32_t n) {
  if (!p) {
    for (uint32_t i = 0; i < n; i++) {
      const uint32_t sm = i % n_sms, side = sm % PLACEMENT_SIDES;
      places[i] = (Place){sm, side, sm / (PLACEMENT_SIDES * GROUP_SMS) * PLACEMENT_SIDES + side, i / n_sms};
    }
    return;
  }
  Dealer d = {places, places + n};
  uint32_t all = p->first.n_sms, first_layer = 0, batches = 0;
  for (uint32_t g = 0; g < p->n_gpcs; g++) all += p->gpcs[g].n_sms;
  const uint32_t full_layers = n / all;
  for (uint32_t layer = 0; d.at < d.end; layer++) {
    const bool full = layer < full_layers;
    if (first_layer == layer) deal_batch(&d, &p->first, (Start){0, 0}, p->first.n_sms, first_layer++);
    uint32_t shares[PLACEMENT_GPCS_MAX];
    Start start = {p->first.n_sms, groups_of(p->first.n_sms)};
    share_out(p, full ? all : (uint32_t)(d.end - d.at), shares);
    for (uint32_t g = 0; g < p->n_gpcs; g++) {
      deal_batch(&d, &p->gpcs[g], start, shares[g], layer);
      if (full && first_layer < full_layers && ++batches == BATCHES_BEFORE + BATCHES_BETWEEN * (first_layer - 1))
        deal_batch(&d, &p->first, (Start){0, 0}, p->first.n_sms, first_layer++);
      start.sm += p->gpcs[g].n_sms;
      start.group += groups_of(p->gpcs[g].n_sms);
    }
  }
}
