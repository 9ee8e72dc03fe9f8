/* Whether a sentence is true at a step: each claim proved from the stored events of the whole run, a table of what each
 * query sees of each key, and scores computed anew. It reads the text, not the facts it was made from, and shares no
 * code with viz/scene/facts.c, line_facts.c and narration.c: loops over everything, as slow as they are obvious.
 *
 * The list of claims is CLAIMS in claims.c: each pattern of words, and what must then hold (claims_moves.h,
 * claims_scores.h, claims_sums.h). Words that match no pattern are false. */
#ifndef TILEWALK_TESTS_SUPPORT_CLAIMS_H
#define TILEWALK_TESTS_SUPPORT_CLAIMS_H

#include "viz/scene/snapshot.h"

enum { CLAIM_MOVED_MAX = 4, CLAIM_LABEL_BYTES = 48, CLAIM_WHY_BYTES = 256 };

typedef struct {
  const Stage *stage;
  const Schedule *schedule;
  Plan plan;
  Event *events, *dense; /* of the run; of the same run without a mask */
  uint64_t n, n_dense;
  bool *seen, *in_band, *in_blocks; /* N_q x N_k: by both, by causal and window, by the pattern */
  bool *counts;                     /* what enters the program's values: all where no line masks */
  double *scores;                   /* N_q x N_k, where computed */
  bool is_online;                   /* m and l are those of online softmax: their values are computed anew */
  char (*labels)[CLAIM_MOVED_MAX][CLAIM_LABEL_BYTES];
} ClaimRun;

/* The stage must outlive it. */
void claim_run_open(ClaimRun *run, const Stage *stage, bool is_online);
void claim_run_close(ClaimRun *run);

/* A name as narration writes it at an event: "S[0,3]". */
void claim_label(const Program *program, int name, const Event *event, char *text);

/* Whether a sentence said at a step is true; else why not. */
bool claim_holds(const ClaimRun *run, uint64_t step, const char *text, char *why);

int claims_count(void);
const char *claim_pattern(int claim);
int claim_of(const char *text); /* which of them a text is; -1: none but a line of the program */

#endif
