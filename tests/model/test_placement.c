/* Where CTAs run, against the places that an H200 gave them. */
#include "tests/support/test.h"
#include "sim/l2/placement.h"
#include "tests/support/open_asset.h"

enum { SMS = 132, MOST = 4 * SMS, LAYOUTS = 5 };
static const Placement *const ALL[LAYOUTS] = {NULL, &PLACEMENT_H200, &PLACEMENT_H200_OTHER, &PLACEMENT_H200_THIRD,
                                              &PLACEMENT_H200_FOURTH};

/* And it is always on one side and in one GPC. */
TEST(every_sm_gets_one_before_any_gets_two) {
  static Place all[SMS], by_sm[SMS], places[MOST];
  for (int layout = 0; layout < LAYOUTS; layout++) {
    uint32_t in_gpc[SMS] = {0};
    placement_deal(ALL[layout], SMS, 0, all, SMS);
    for (uint32_t i = 0; i < SMS; i++) {
      by_sm[all[i].sm] = all[i];
      assert_true(all[i].gpc < SMS && ++in_gpc[all[i].gpc] <= 18);
    }
    for (uint32_t n = 1; n <= MOST; n++) {
      uint32_t on_sm[SMS] = {0}, on_side[PLACEMENT_SIDES] = {0};
      placement_deal(ALL[layout], SMS, 0, places, n);
      for (uint32_t i = 0; i < n; i++) {
        assert_true(places[i].sm < SMS && places[i].side < PLACEMENT_SIDES);
        const Place *same = &by_sm[places[i].sm];
        assert_true(places[i].side == same->side && places[i].gpc == same->gpc);
        assert_int_equal(places[i].layer, on_sm[places[i].sm]++);
        on_side[places[i].side]++;
      }
      for (uint32_t sm = 0; sm < SMS; sm++) assert_true(on_sm[sm] == n / SMS || on_sm[sm] == (n + SMS - 1) / SMS);
      if (n % SMS == 0) assert_int_equal(on_side[0], (ALL[layout] == &PLACEMENT_H200_FOURTH ? 64 : 66) * n / SMS);
    }
  }
}

/* 4 of a launch of 32 run on each GPC, but for the eight SMs that are dealt to first; side by side, as atomics told. */
TEST(a_small_launch_is_spread_over_gpcs) {
  static const char SIDES[] = "00000000000111111111000000000111";
  Place places[32];
  placement_deal(&PLACEMENT_H200, SMS, 0, places, 32);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(places[i].side, SIDES[i] - '0');
  for (uint32_t i = 8; i < 32; i++) assert_int_equal(places[i].sm % 2, 0); /* one SM of a TPC */
}

/* The recorded cards. */
static const struct {
  const char *name;
  const Placement *placement;
  bool is_numbered, has_clocks; /* its SMs; its GPCs were not told by a coalescer */
  double other_side;            /* of all CTAs */
  uint32_t first_gpcs;          /* seen, a bit each; 0: launches are not compared */
} CARDS[] = {{"counters/h200/placement/first.csv", &PLACEMENT_H200, true, false, 0.001, 0xff},
             {"counters/h100/placement/first.csv", &PLACEMENT_H200, false, false, 0.001,
              1}, /* an H100 SXM has as many SMs, at the same places */
             {"counters/h200/placement/other.csv", &PLACEMENT_H200_OTHER, true, true, 0.023, 1},
             {"counters/h200/placement/third.csv", &PLACEMENT_H200_THIRD, true, true, 0.001, 1},
             {"counters/h200/placement/fourth.csv", &PLACEMENT_H200_FOURTH, true, false, 0, 0}};

/* assets/counters/h200/placement/first.csv and the like: the side of each SM, and the SMs of launches, in their order.
 * SMs are told apart by their turn in the launch of one CTA to an SM; the eight that come first come in one of two
 * orders.
 */
enum { FIRST_SMS = 2 * PLACEMENT_FIRST_TPCS };

typedef struct {
  int side[SMS];
  Place at[SMS];      /* by %smid, as the model has it */
  uint32_t first_gpc; /* of the next launch, if it is */
  bool known;
  uint32_t n_sides, n_launches, n_ctas, elsewhere, other_side, first_gpcs;
} Recorded;

/* With which GPC the launch of one CTA to an SM began: by the sides of its SMs. */
static void find_places(Recorded *r, const Placement *placement, const int smids[SMS]) {
  uint32_t fewest = SMS;
  for (uint32_t first_gpc = 0; first_gpc < placement->n_gpcs; first_gpc++) {
    Place places[SMS];
    uint32_t other_side = 0;
    placement_deal(placement, SMS, first_gpc, places, SMS);
    for (uint32_t i = FIRST_SMS; i < SMS; i++) other_side += (uint32_t)r->side[smids[i]] != places[i].side;
    if (other_side >= fewest) continue;
    fewest = other_side;
    for (uint32_t i = 0; i < SMS; i++) r->at[smids[i]] = places[i];
  }
  assert_int_equal(fewest, 0);
}

/* The turns go on behind the GPC of the last CTA; the SMs that come first have none. */
static void take_turns(Recorded *r, const Placement *placement, const int *smids, uint32_t n) {
  for (uint32_t i = n; i-- > 0;) {
    const Place *last = &r->at[smids[i]];
    if (last->sm < FIRST_SMS) continue;
    r->first_gpc = (last->gpc + 1) % placement->n_gpcs;
    r->known = true;
    return;
  }
}

/* Of one wave, or the first wave. */
static void compare_launch(Recorded *r, const Placement *placement, const int *smids, uint32_t n) {
  static Place places[MOST];
  placement_deal(placement, SMS, r->first_gpc, places, n);
  for (uint32_t i = 0; i < n; i++) {
    const Place *place = &r->at[smids[i]];
    r->elsewhere += place->sm != places[i].sm && (place->sm >= FIRST_SMS || places[i].sm >= FIRST_SMS);
    r->other_side += (uint32_t)r->side[smids[i]] != places[i].side;
  }
  r->n_launches++;
  r->n_ctas += n;
  r->first_gpcs |= 1u << r->first_gpc;
}

static void read_recorded(Recorded *r, const Placement *placement, const char *name, bool found) {
  static char line[8192];
  FILE *file = open_asset(name);
  while (fgets(line, sizeof line, file)) {
    int side, smid, start = 0;
    double near, far;
    uint32_t per_sm, n;
    if (sscanf(line, "sm,%d,%lf,%lf,,,%d", &side, &near, &far, &smid) == 4) {
      assert_true(smid >= 0 && smid < SMS && far > 1.3 * near);
      r->side[smid] = side;
      r->n_sides++;
    } else if (sscanf(line, "launch,,,,%u,%u,%n", &per_sm, &n, &start) == 2 && start) {
      static int smids[MOST];
      assert_true(n <= MOST && per_sm > 0);
      char *rest = line + start;
      for (uint32_t i = 0; i < n; i++) {
        smids[i] = (int)strtol(rest, &rest, 10);
        assert_true(smids[i] >= 0 && smids[i] < SMS);
      }
      const uint32_t slots = per_sm * SMS;
      if (!found && per_sm == 1 && n == SMS) find_places(r, placement, smids);
      if (found && r->known) compare_launch(r, placement, smids, n < slots ? n : slots);
      if (found) take_turns(r, placement, smids, n);
    }
  }
  fclose(file);
}

/* The last 22 CTAs of one launch of 400, whose fourth layer is all but empty, ran elsewhere: the SMs that come first
 * had their fourth turn a little earlier. Of the card whose first SMs are of several GPCs, every other launch begins
 * with them in the other order: half of them are then on the other side. On the first card some launches come after one
 * of more than a wave, that ended at each of the GPCs. */
TEST(places_are_the_recorded_ones) {
  EACH (i, CARDS) {
    if (!CARDS[i].first_gpcs) continue;
    Recorded r = {.n_sides = 0};
    read_recorded(&r, CARDS[i].placement, CARDS[i].name, false);
    r.n_sides = 0;
    read_recorded(&r, CARDS[i].placement, CARDS[i].name, true);
    assert_int_equal(r.n_sides, SMS);
    assert_true(r.n_launches > 100 && r.n_ctas > 15000);
    assert_int_equal(r.first_gpcs, CARDS[i].first_gpcs);
    if (test_depth() > 1)
      print_message("%s: %u launches, %u CTAs, %u elsewhere, %u on the other side\n", CARDS[i].name, r.n_launches,
                    r.n_ctas, r.elsewhere, r.other_side);
    assert_true(r.elsewhere <= 2 * 22 && r.other_side <= CARDS[i].other_side * r.n_ctas);
  }
}

/* SMs are numbered by TPCs, one of each GPC after the other while it has some; those that launches begin with come
 * last. So the sides of the SMs alone tell how large the GPCs are, and where. */
TEST(sides_are_numbered_through_the_gpcs) {
  EACH (i, CARDS) {
    if (!CARDS[i].is_numbered) continue;
    static Recorded r;
    const Placement *p = CARDS[i].placement;
    memset(&r, 0, sizeof r);
    read_recorded(&r, p, CARDS[i].name, true);
    assert_int_equal(r.n_sides, SMS);
    int smid = 0, first_on[2] = {0}, last_on[2] = {0};
    for (uint32_t round = 0; round < SMS / 2; round++)
      for (uint32_t g = 0; g < p->n_gpcs; g++)
        for (uint32_t sm = 2 * round; sm < 2 * round + 2 && sm < p->gpcs[g].n_sms; sm++)
          assert_int_equal(r.side[smid++], p->gpcs[g].side);
    assert_int_equal(smid, SMS - FIRST_SMS);
    for (int tpc = 0; tpc < PLACEMENT_FIRST_TPCS; tpc++)
      first_on[p->gpcs[p->first[tpc]].side]++, last_on[r.side[smid + 2 * tpc]]++;
    assert_memory_equal(first_on, last_on, sizeof first_on);
  }
}

/* Of the cards whose GPCs were not told by a coalescer: SMs of a GPC count cycles from one moment, other GPCs from
 * others. */
TEST(SMs_of_a_GPC_have_one_clock) {
  EACH (i, CARDS) {
    if (!CARDS[i].has_clocks) continue;
    static char line[8192];
    Place places[SMS];
    int gpc[SMS], clocks = 0, start;
    bool dealt = false;
    long long clock[SMS];
    placement_deal(CARDS[i].placement, SMS, 0, places, SMS);
    FILE *file = open_asset(CARDS[i].name);
    for (int smid; fgets(line, sizeof line, file);) {
      long long cycles;
      start = 0;
      if (sscanf(line, "clock,,,,,,%d %lld", &smid, &cycles) == 2 && smid >= 0 && smid < SMS)
        clock[smid] = cycles, clocks++;
      if (dealt || sscanf(line, "launch,,,,1,132,%n", &start) != 0 || !start) continue;
      dealt = true; /* the first of two orders */
      char *smids = line + start;
      for (int turn = 0; turn < SMS; turn++) {
        const long at = strtol(smids, &smids, 10);
        assert_true(at >= 0 && at < SMS);
        gpc[at] = (int)places[turn].gpc;
      }
    }
    fclose(file);
    assert_true(dealt);
    assert_int_equal(clocks, SMS);
    for (int a = 0; a < SMS; a++)
      for (int b = 0; b < SMS; b++) assert_int_equal(gpc[a] == gpc[b], llabs(clock[a] - clock[b]) < 1000);
  }
}
