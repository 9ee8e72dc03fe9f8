/* Of many cases that go the same way `make test` tries a third, and all of them where TILEWALK_DEPTH is 2 or more: at
 * night. With sanitizers a test takes three times as long: a third at any depth. */
#ifndef TILEWALK_TESTS_SUPPORT_SANITIZED_H
#define TILEWALK_TESTS_SUPPORT_SANITIZED_H

#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
enum { SLOWER = 3 };
#else
enum { SLOWER = 1 };
#endif

static inline int one_of(void) {
  const char *depth = getenv("TILEWALK_DEPTH");
  return SLOWER > 1 || !depth || atoi(depth) < 2 ? 3 : 1;
}
#define ONE_OF one_of()

#endif
