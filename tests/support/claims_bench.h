/* For tests of claims and verdicts: an entry by its id, and the verdict on a value; where there is
 * none, the running test fails. Include cmocka.h first. */
#ifndef TILEWALK_TESTS_SUPPORT_CLAIMS_BENCH_H
#define TILEWALK_TESTS_SUPPORT_CLAIMS_BENCH_H

#include "lessons/engine/claims.h"

static inline const ClaimEntry *find(const Claims *claims, const char *id) {
  Error error = {0};
  const size_t k = claims_find(claims, id, &error);
  if (k == claims->n_entries) fail_msg("%s", error.message);
  return &claims->entries[k];
}

static inline Verdict judge(const Claimed *claimed, const ExpressionValue *value) {
  Judgement j;
  Error error = {0};
  if (verdict_judge(claimed, value, &j, &error)) fail_msg("%s", error.message);
  return j.verdict;
}

#endif
