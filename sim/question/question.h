/* The question: what is asked, as a plain struct. */
#ifndef TILEWALK_SIM_QUESTION_QUESTION_H
#define TILEWALK_SIM_QUESTION_QUESTION_H

#include "sim/question/scenes.h"
#include "sim/ranks.h"

/* What the scene `serving` adds to the problem: sequences that decode, or a prompt in chunks, with a cache in pages. */
enum { SERVED_SEQUENCES_MAX = 16 };
typedef struct {
  int64_t n, lengths[SERVED_SEQUENCES_MAX]; /* tokens of each sequence; n 0: as the problem's batch */
  int64_t page;                             /* tokens; 0: kvcache's default */
  int64_t prefix;                           /* tokens that all of them begin with */
  int64_t chunk;                            /* tokens of a prompt at a time; 0: a row block */
} ServedPages;

/* What the scene `ring` adds: ranks that share the tokens. */
enum { RING_RANKS_MAX = 64 };
typedef struct {
  int64_t n; /* 0: 4 */
  Scheme scheme;
} RingRanks;

#endif
