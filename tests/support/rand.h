/* A small deterministic generator for random test shapes (xorshift64*, Vigna 2016): same numbers everywhere. */
#ifndef TILEWALK_TESTS_SUPPORT_RAND_H
#define TILEWALK_TESTS_SUPPORT_RAND_H

#include <stdint.h>

typedef struct {
  uint64_t state; /* any value but 0 */
} Rand;

static inline uint64_t rand_next(Rand *r) {
  r->state ^= r->state >> 12;
  r->state ^= r->state << 25;
  r->state ^= r->state >> 27;
  return r->state * 0x2545F4914F6CDD1Du;
}

/* A whole number in [low, high]. */
static inline int64_t rand_in(Rand *r, int64_t low, int64_t high) {
  return low + (int64_t)((rand_next(r) >> 16) % (uint64_t)(high - low + 1));
}

#endif
