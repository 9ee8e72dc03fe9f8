/* Running rungs here: tilewalk-kernels, and ncu around it, for --live; the processor for --cpu. */
#ifndef TILEWALK_VIZ_CLI_CROSSCHECK_CROSSCHECK_LIVE_H
#define TILEWALK_VIZ_CLI_CROSSCHECK_CROSSCHECK_LIVE_H

#include "viz/cli/crosscheck/crosscheck_judge.h"

/* Runs every rung of the ladder that takes the shape on this computer's GPU, counting, and under ncu if there is one.
 * judge: predicts what ncu counts; NULL: no predictions. kernels: the program tilewalk-kernels; "": beside `program`,
 * else in PATH. *with_ncu: whether ncu ran. */
Status crosscheck_live(Crosscheck *crosscheck, Judge *judge, const Request *request, const char *kernels,
                       const char *program, bool *with_ncu, Error *error);

/* Runs a rung on this computer's processor, and adds its output and the bytes it counts. */
Status crosscheck_cpu_run(Crosscheck *c, const char *rung, const Shape *shape, const Tiling *tiling, Error *error);

#endif
