#include "sim/l2/refinements.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/nearest.h"
#include "sim/base/quote.h"
#include "sim/l2/clock.h"

const RefinementRow REFINEMENTS[N_REFINEMENTS] = {
    [REFINEMENT_CLOCK] = {"clock", "CTAs advance in time: each waits for its data, works, and requests the next tile.",
                          "hit 525 cycles, and 160 for each CTA of the SM; HBM 625 more; other partition 200 more",
                          "h200/l2-scan"},
    [REFINEMENT_PARTITIONS] = {"partitions", "L2 has two partitions; both keep a copy of what all SMs read.",
                               "29.3 MiB a side", "h200/sets, h200/replacement"},
    [REFINEMENT_COALESCER] = {"coalescer", "Requests of a GPC's SMs for one granule reach L2 as one.",
                              "4 requests, 70 cycles; from HBM until 450 cycles before its last line",
                              "h200/coalescer; 450 fitted to h200/l2-scan"},
    [REFINEMENT_PLACEMENT] = {"placement", "CTAs run on the SMs, GPCs and sides to which the card deals them.",
                              "GPCs of 8 to 18 SMs, their sides", "h200/placement"},
    [REFINEMENT_SETS] = {"sets", "A side is many sets, each an LRU list, which tensors fill unevenly.",
                         "16 lines a set; none in one of 5 stretches", "h200/sets, h200/replacement"},
    [REFINEMENT_FAR_RENEWAL] = {"far-renewal", "A request from the other partition refreshes the line in its home too.",
                                "none", "h200/scan"},
    [REFINEMENT_Q_RENEWAL] = {"q-renewal", "A kernel that reads Q with every tile keeps it at the front of its set.",
                              "none", "h200/scan-places"},
    [REFINEMENT_SPILLED_ROOM] = {"spilled-room", "Registers spilled for each tile take room in L2 all the time.",
                                 "1.5 times their bytes", "h200/spills"},
    [REFINEMENT_COLD_STORES] = {"cold-stores",
                                "The first store of a line that a profiler has put back moves more over the fabric.",
                                "5 %", "h200/scan; nothing in h200/l2-one-pass"},
    [REFINEMENT_UNKNOWN_HOME] =
        {"unknown-home",
         "For a while the home does not know what the other partition has requested, and counts a "
         "miss.",
         "85 cycles", "h200/coalescer"},
    [REFINEMENT_WAIT_SPREAD] = {"wait-spread", "Each wait takes a little more or less.", "16 % for 16 KiB",
                                "h200/l2-scan"},
    [REFINEMENT_LASTING_SPREAD] = {"lasting-spread", "Some CTAs wait a little longer for good.", "0.45 %",
                                   "h200/l2-scan"},
    [REFINEMENT_WORK_SPREAD] = {"work-spread", "Some CTAs compute a little longer for good.", "0.02 %", "h200/pace"},
    [REFINEMENT_STEP_SPREAD] = {"step-spread", "Each step takes a little more or less.",
                                "15 cycles that wait; 20 that ask ahead, 55 on a shared SM; or the kernel's",
                                "h200/pace, h200/steps, h200/others-one-pass"},
    [REFINEMENT_BUSY_SPREAD] = {"busy-spread", "Steps of cuDNN's kernel vary more, the more SMs are at work.",
                                "15 and 27 cycles", "h200/others-one-pass"},
    [REFINEMENT_FIRST_CODE] = {"first-code", "The first time through its code a TPC waits for instructions.",
                               "140 cycles, or the kernel's; exponential (assumed)", "h200/steps"},
    [REFINEMENT_SIDES_APART] = {"sides-apart", "The first tile is there for one side after the other.", "95 cycles",
                                "h200/steps"},
    [REFINEMENT_GPC_CLOCKS] = {"gpc-clocks", "Each GPC under load has its own clock.",
                               "up to 0.4 %; settles after 4 million cycles", "h200/clocks, h200/others-places"},
    [REFINEMENT_BUSY_CLOCKS] = {"busy-clocks", "A kernel that takes all the power sets the clocks further apart.",
                                "1.4 % with d = 64, 2.0 % with 128", "h200/gpcs, h200/others-places"},
    [REFINEMENT_SLOTS] = {"slots", "The CTAs of an SM share it unevenly: the older gets ahead.",
                          "0.4 to 8 %, by kernel; half a step at once", "h200/ends, h200/stores"},
    [REFINEMENT_LAG] = {"lag", "Of CTAs that ask ahead, each is behind the one before it on its SM.", "720 cycles",
                        "h200/pace, h200/ends"},
    [REFINEMENT_MISSED_TURNS] = {"missed-turns", "Of two CTAs that take places together, one may miss a turn.",
                                 "1 in 5", "h200/ends"},
    [REFINEMENT_HANDOVER] = {"handover", "A CTA that ends is not replaced at once.", "1100 cycles",
                             "h200/ends, h200/pace"},
    [REFINEMENT_AHEAD] = {"ahead", "A kernel with room for one tile of V asks for it in the middle of a step.",
                          "33 and 40 % of a step, by kernel", "the kernel's source, h200/others-one-pass"},
    [REFINEMENT_ALONE_RATE] = {"alone-rate", "A CTA that has its SM to itself works at a rate of its own.",
                               "26 to 32 % of the peak, by kernel", "h200/steps, h200/others-one-pass"},
    [REFINEMENT_SHARED_SM] = {"shared-sm", "A CTA that waits for its data takes a part of its SM all the same.",
                              "0.7 of one that works", "h200/steps-shared"},
    [REFINEMENT_UNLIKE_SPREAD] = {"unlike-spread",
                                  "The work of such CTAs varies more, the more others are out of step with it.", "3 %",
                                  "h200/steps-shared"},
    [REFINEMENT_LATENCY] = {"latency", "A tile takes such a CTA a time besides, in which others work.", "750 cycles",
                            "h200/steps-shared"},
    [REFINEMENT_PULL_ORDER] = {"pull-order", "CTAs that pull their work get it in the order in which they start.",
                               "sides 69 ns apart, GPCs 22, TPCs 27; far counter 48", "h200/waves, h200/placement"},
    [REFINEMENT_FIRST_GPC] = {"first-gpc", "Under a profiler a launch that stores little begins with the first GPC.",
                              "5 MB", "h200/begins-replayed"},
};

static Status unknown(const char *word, size_t length, Error *error) {
  char typed[64] = "";
  snprintf(typed, sizeof typed, "%.*s", length < sizeof typed ? (int)length : 0, word);
  Nearest nearest = {.word = typed};
  for (int r = 0; r < N_REFINEMENTS; r++) nearest_offer(&nearest, REFINEMENTS[r].name);
  return error_set(error, STATUS_BAD_REQUEST,
                   "'%s' is no part of the model of L2 that can be left out%s%s; "
                   "sim/l2/MODEL.md lists them: clock, partitions, coalescer, ...",
                   quote(word, length).text, nearest.best ? "; did you mean " : "", nearest.best ? nearest.best : "");
}

Status refinements_parse(const char *text, Refinements *set, Error *error) {
  Refinements found = 0;
  for (const char *word = text;; word++) {
    const size_t length = strcspn(word, ",");
    int r = 0;
    while (r < N_REFINEMENTS &&
           (strlen(REFINEMENTS[r].name) != length || strncmp(word, REFINEMENTS[r].name, length) != 0))
      r++;
    if (r == N_REFINEMENTS) return unknown(word, length, error);
    found |= refinement_bit((Refinement)r);
    word += length;
    if (!*word) break;
  }
  *set = found;
  return STATUS_OK;
}

void refinements_text(Refinements set, char *text, size_t size) {
  size_t at = 0;
  *text = '\0';
  for (int r = 0; r < N_REFINEMENTS; r++)
    if (refinement_in(set, (Refinement)r) && at < size)
      at += (size_t)snprintf(text + at, size - at, "%s%s", at ? "," : "", REFINEMENTS[r].name);
}

/* Below zero is none, for numbers whose zero is the usual. */
static void none(Refinements set, Refinement refinement, double *number) {
  if (refinement_in(set, refinement)) *number = -1;
}

static void zero(Refinements set, Refinement refinement, double *number) {
  if (refinement_in(set, refinement)) *number = 0;
}

void refinements_leave_out(Refinements set, ClockConfig *c) {
  if (!set) return;
  if (refinement_in(set, REFINEMENT_COALESCER)) c->join_max = 1;
  if (refinement_in(set, REFINEMENT_SETS)) c->hierarchy.side_ways = -1;
  if (refinement_in(set, REFINEMENT_FAR_RENEWAL)) c->hierarchy.far_renews_nothing = true;
  if (refinement_in(set, REFINEMENT_COLD_STORES)) c->hierarchy.is_not_put_back = true;
  if (refinement_in(set, REFINEMENT_GPC_CLOCKS)) c->gpc_clocks_differ = false;
  zero(set, REFINEMENT_SPILLED_ROOM, &c->hierarchy.side_resident_bytes);
  zero(set, REFINEMENT_SLOTS, &c->age_spread);
  zero(set, REFINEMENT_LAG, &c->start_lag_cycles);
  zero(set, REFINEMENT_AHEAD, &c->prefetch_lead);
  zero(set, REFINEMENT_SHARED_SM, &c->waiting_weight);
  zero(set, REFINEMENT_UNLIKE_SPREAD, &c->out_of_step_spread);
  none(set, REFINEMENT_UNKNOWN_HOME, &c->stale_home_cycles);
  none(set, REFINEMENT_WAIT_SPREAD, &c->request_spread);
  none(set, REFINEMENT_LASTING_SPREAD, &c->cta_wait_spread);
  none(set, REFINEMENT_WORK_SPREAD, &c->cta_work_spread);
  none(set, REFINEMENT_STEP_SPREAD, &c->jitter_cycles);
  none(set, REFINEMENT_BUSY_SPREAD, &c->full_jitter_cycles);
  none(set, REFINEMENT_FIRST_CODE, &c->code_fetch_cycles);
  none(set, REFINEMENT_SIDES_APART, &c->side_start_cycles);
  none(set, REFINEMENT_MISSED_TURNS, &c->missed_turn_rate);
}
