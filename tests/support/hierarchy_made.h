/* A two-sided L2 on the heap, for tests. */
#ifndef TILEWALK_TESTS_SUPPORT_HIERARCHY_MADE_H
#define TILEWALK_TESTS_SUPPORT_HIERARCHY_MADE_H

#include "tests/support/test.h"
#include "sim/l2/hierarchy.h"

static inline Hierarchy *make(const HierarchyConfig *config) {
  Hierarchy *h = malloc(hierarchy_state_bytes(config));
  assert_non_null(h);
  must(hierarchy_init(h, config, NULL));
  return h;
}

static inline bool near(double a, double b) { return fabs(a - b) <= 1e-9 * (1 + fabs(b)); }

#endif
