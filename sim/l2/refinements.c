#include "sim/l2/refinements.h"

#include <stdio.h>

#include "sim/base/text_add.h"
#include "sim/base/nearest.h"
#include "sim/base/quote.h"
#include "sim/l2/clock.h"

const char *const REFINEMENT_NAMES[N_REFINEMENTS] = {
    "clock",       "partitions",   "coalescer",     "placement",    "sets",        "far-renewal",
    "q-renewal",   "spilled-room", "cold-stores",   "unknown-home", "wait-spread", "lasting-spread",
    "work-spread", "step-spread",  "busy-spread",   "first-code",   "sides-apart", "gpc-clocks",
    "busy-clocks", "slots",        "lag",           "missed-turns", "handover",    "ahead",
    "alone-rate",  "shared-sm",    "unlike-spread", "latency",      "pull-order",  "first-gpc"};

static Status unknown(const char *word, size_t length, Error *error) {
  char typed[64] = "";
  snprintf(typed, sizeof typed, "%.*s", length < sizeof typed ? (int)length : 0, word);
  Nearest nearest = {.word = typed};
  for (int r = 0; r < N_REFINEMENTS; r++) nearest_offer(&nearest, REFINEMENT_NAMES[r]);
  return error_refuse(error,
                      "'%s' is no part of the model of L2 that can be left out%s%s; "
                      "sim/l2/MODEL.md lists them: clock, partitions, coalescer, ...",
                      quote(word, length).text, nearest.best ? "; did you mean " : "",
                      nearest.best ? nearest.best : "");
}

Status refinements_parse(const char *text, Refinements *set, Error *error) {
  Refinements found = 0;
  for (const char *word = text;; word++) {
    const size_t length = strcspn(word, ",");
    int r = 0;
    while (r < N_REFINEMENTS &&
           (strlen(REFINEMENT_NAMES[r]) != length || strncmp(word, REFINEMENT_NAMES[r], length) != 0))
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
  *text = '\0';
  for (int r = 0; r < N_REFINEMENTS; r++)
    if (refinement_in(set, (Refinement)r)) text_add(text, size, "%s%s", *text ? "," : "", REFINEMENT_NAMES[r]);
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
