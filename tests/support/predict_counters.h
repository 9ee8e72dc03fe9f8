/* What the counters of one profiled launch would say, for tests that hold recordings against it. */
#ifndef TILEWALK_TESTS_SUPPORT_PREDICT_COUNTERS_H
#define TILEWALK_TESTS_SUPPORT_PREDICT_COUNTERS_H

#include "kernels/counters/l2_counters.h"

/* For a problem with its launch and tiling filled in, problem->without left out. STATUS_TOO_LARGE where simulation_l2
 * has no answer; *counters is unchanged on error. */
static inline Status predict_counters(L2Counters *counters, const Problem *problem, const Schedule *schedule,
                                      const Gpu *gpu, Error *error) {
  Problem profiled = *problem;
  profiled.profiled = true;
  Simulation s;
  Status status = simulate(&s, &profiled, schedule, error);
  if (!status) status = simulation_l2(&s, &profiled, gpu, error);
  if (status) return status;
  if (!s.has_l2)
    return error_set(error, STATUS_TOO_LARGE, "the L2 of %s has no answer to a problem of this kind or size",
                     gpu->name);
  *counters = l2_counters_of(&s, gpu);
  return STATUS_OK;
}

#endif
