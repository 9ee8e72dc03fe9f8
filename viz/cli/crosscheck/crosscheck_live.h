/* Running tilewalk-kernels, and ncu around it, from `tilewalk crosscheck --live`. */
#ifndef TILEWALK_VIZ_CLI_CROSSCHECK_CROSSCHECK_LIVE_H
#define TILEWALK_VIZ_CLI_CROSSCHECK_CROSSCHECK_LIVE_H

#include "viz/cli/crosscheck/crosscheck_judge.h"

/* Runs every rung of the ladder that takes the shape on this computer's GPU, counting, and under ncu if there is one.
 * judge: predicts what ncu counts; NULL: no predictions. kernels: the program tilewalk-kernels; "": beside `program`,
 * else in PATH. *with_ncu: whether ncu ran. */
Status crosscheck_live(Crosscheck *crosscheck, Judge *judge, const Request *request, const char *kernels,
                       const char *program, bool *with_ncu, Error *error);

#endif
