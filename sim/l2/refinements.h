/* The parts of the model of L2 that can be left out. `--without NAME` leaves one out; the table of sim/l2/MODEL.md says
 * what each models, its constants, where they are from, and what the predictions lose without it (`make ablations`).
 *
 * The first five are the core that the papers' models have or could have; the others are refinements of it. */
#ifndef TILEWALK_SIM_L2_REFINEMENTS_H
#define TILEWALK_SIM_L2_REFINEMENTS_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  REFINEMENT_CLOCK = 0,
  REFINEMENT_PARTITIONS,
  REFINEMENT_COALESCER,
  REFINEMENT_PLACEMENT,
  REFINEMENT_SETS,
  REFINEMENT_FAR_RENEWAL,
  REFINEMENT_Q_RENEWAL,
  REFINEMENT_SPILLED_ROOM,
  REFINEMENT_COLD_STORES,
  REFINEMENT_UNKNOWN_HOME,
  REFINEMENT_WAIT_SPREAD,
  REFINEMENT_LASTING_SPREAD,
  REFINEMENT_WORK_SPREAD,
  REFINEMENT_STEP_SPREAD,
  REFINEMENT_BUSY_SPREAD,
  REFINEMENT_FIRST_CODE,
  REFINEMENT_SIDES_APART,
  REFINEMENT_GPC_CLOCKS,
  REFINEMENT_BUSY_CLOCKS,
  REFINEMENT_SLOTS,
  REFINEMENT_LAG,
  REFINEMENT_MISSED_TURNS,
  REFINEMENT_HANDOVER,
  REFINEMENT_AHEAD,
  REFINEMENT_ALONE_RATE,
  REFINEMENT_SHARED_SM,
  REFINEMENT_UNLIKE_SPREAD,
  REFINEMENT_LATENCY,
  REFINEMENT_PULL_ORDER,
  REFINEMENT_FIRST_GPC,
  N_REFINEMENTS
} Refinement;

/* A set of them: bit r is REFINEMENT r. 0: none is left out. */
typedef uint32_t Refinements;

static inline Refinements refinement_bit(Refinement refinement) { return UINT32_C(1) << refinement; }
static inline bool refinement_in(Refinements set, Refinement refinement) { return set >> refinement & 1; }

extern const char *const REFINEMENT_NAMES[N_REFINEMENTS]; /* what --without takes */

/* Names joined by commas. STATUS_BAD_REQUEST names the word that is none, and the nearest one; *set is unchanged. */
Status refinements_parse(const char *text, Refinements *set, Error *error);

/* Writes the names joined by commas; size: of text, at least REFINEMENTS_TEXT_BYTES for any set. */
enum { REFINEMENTS_TEXT_BYTES = 512 };
void refinements_text(Refinements set, char *text, size_t size);

/* Takes them out of the clock's configuration. Those that are decided elsewhere (where CTAs are dealt, how steps are
 * made) are left to sim/l2/l2_run.c. */
struct ClockConfig;
void refinements_leave_out(Refinements set, struct ClockConfig *config);

#endif
