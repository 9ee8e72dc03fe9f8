/* Moments of a run by what happens, so that a story is right at any size:
 *
 *     start    end
 *     load,Q,2              just after the second load of a block of Q; load,Q,2,before: just before it
 *     new-max,stats,last    after the last; kinds are those of events, with - for a blank */
#ifndef TILEWALK_VIZ_STORY_MOMENT_H
#define TILEWALK_VIZ_STORY_MOMENT_H

#include "viz/scene/snapshot.h"

/* Walks looked through: longer runs are refused. */
#define MOMENT_EVENTS_MAX ((uint64_t)1 << 22)

/* The step of a moment. Errors: no such words; it does not come, or the run is too long to look for it. */
Status moment_step(const Stage *stage, const char *moment, uint64_t *step, Error *error);

#endif
