/* A trace through one cache on several cores.
 *
 *     text     piece 0 | piece 1 | ...      cut at line ends; each thread reads one piece
 *     records  ------> | ------> | ...      then each thread runs all records, in their order,
 *     cache    part 0    part 1    ...      through its own part of the sets (sim/cache/cache.h)
 *
 * The counts are those of one thread, exactly, however many there are. */
#ifndef TILEWALK_VIZ_CLI_REPLAY_REPLAY_TEAM_H
#define TILEWALK_VIZ_CLI_REPLAY_REPLAY_TEAM_H

#include "sim/cache/cache.h"
#include "sim/cache/din.h"

enum { REPLAY_THREADS_MAX = 64 };

typedef struct {
  uint32_t n_threads;
  CacheState *parts[REPLAY_THREADS_MAX];    /* one for each thread */
  DinRecord *records;                       /* room for one round of every thread */
  DinParser parser;                         /* of the lines that were run */
  uint64_t n_records, n_stores, n_accesses; /* a modify is a store, and two accesses */
  uint64_t left;                            /* records still to run; 0: the rest of the text is passed over */
} ReplayTeam;

/* The threads that this machine offers (the cores that this process may use), at most as many
 * as this cache has parts. */
uint32_t replay_team_threads(const CacheConfig *cache);

/* A team of `n_threads` (1 to REPLAY_THREADS_MAX, and no more than cache_most_parts) before an
 * empty cache. The format, where it is named, is put into team->parser afterwards. `default_bytes` as in DinParser;
 * `limit` records at most. The caller calls replay_team_free, also after STATUS_NO_MEMORY. */
Status replay_team_init(ReplayTeam *team, const CacheConfig *cache, uint32_t n_threads, uint32_t default_bytes,
                        uint64_t limit, Error *error);
void replay_team_free(ReplayTeam *team);

/* Runs one round of whole lines from the beginning of `text`; *used and `is_last` as in din_parse.
 * Nothing is used where no line is whole. STATUS_BAD_FILE at a line that cannot be read, as
 * din_parse says it. */
Status replay_team_run(ReplayTeam *team, const char *text, size_t bytes, bool is_last, size_t *used, Error *error);

/* The counts of all parts; `accesses` are records. */
CacheCounts replay_team_counts(const ReplayTeam *team);

#endif
