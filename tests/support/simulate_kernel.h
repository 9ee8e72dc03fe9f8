/* What `tilewalk sim --gpu h200 --kernel NAME` makes of a shape, for tests; fails the test where it cannot be
 * simulated. Include it after cmocka.h. */
#ifndef TILEWALK_TESTS_SUPPORT_SIMULATE_KERNEL_H
#define TILEWALK_TESTS_SUPPORT_SIMULATE_KERNEL_H

#include "sim/simulate.h"
#include "tests/support/open_gpu.h"
#include "tests/support/open_profile.h"

static inline Simulation simulate_kernel(const char *kernel, Shape shape) {
  static Gpu gpu;
  static Profile profile; /* the launch's words are in it */
  Error error = {0};
  Problem problem = {.shape = shape};
  Simulation s;
  gpu = open_gpu("h200");
  profile = open_profile(kernel);
  Status status = profile_config(&profile, &problem.shape, &problem.launch, &error);
  problem.tiling.B_r = problem.launch.block_q, problem.tiling.B_c = problem.launch.block_k;
  problem.machine.sram_bytes = gpu.shared_bytes_per_cta;
  if (!status) status = simulate(&s, &problem, profile.schedule, &error);
  if (!status) status = simulation_l2(&s, &problem, &gpu, &error);
  if (status) fail_msg("%s", error.message);
  assert_true(s.has_l2);
  return s;
}

#endif
