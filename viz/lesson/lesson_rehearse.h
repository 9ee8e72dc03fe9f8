/* All that a lesson computes for one learner, once: so that what cannot be run is refused at the
 * start. */
#ifndef TILEWALK_VIZ_LESSON_LESSON_REHEARSE_H
#define TILEWALK_VIZ_LESSON_LESSON_REHEARSE_H

#include "viz/lesson/lesson_library.h"

/* Every text filled in, every answer computed, every state opened and every show found in it. The
 * first error, with file and line. */
Status lesson_rehearse(const Lesson *lesson, uint64_t seed, Error *error);

#endif
