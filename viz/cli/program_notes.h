/* A word on programs of one's own beside their figures: what a wrong program moves is true of it, and of no attention.
 */
#ifndef TILEWALK_VIZ_CLI_PROGRAM_NOTES_H
#define TILEWALK_VIZ_CLI_PROGRAM_NOTES_H

#include "viz/cli/io.h"
#include "viz/request/request.h"

/* One line on io->err for a model with several kinds of layers, where the request does not say which: the kind that is
 * meant. */
Status layer_note(const Request *request, Io *io, Error *error);

/* One line on io->err for each program with `ranks`, whose figures are of one GPU; and one for each program of one's
 * own whose outputs are not what they must be (sim/numbers/program_check.h): "mine.walk: O is wrong: ...". */
void program_notes(const Schedule *const *schedules, int n, Io *io);

#endif
