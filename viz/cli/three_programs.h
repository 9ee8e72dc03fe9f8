/* The programs that make up tilewalk: the same objects, linked three times.
 *
 *     tilewalk          prints: no library to draw with, linked statically where possible, so that it starts at once
 *     tilewalk-full     all commands, with cairo, pango, Lua, C++
 *     tilewalk-window   all of that with SDL2, some forty libraries more
 *
 * Only the first is on the path. It knows the commands of viz/cli/commands_small.c; for everything else it turns into
 * the second, which turns into the third for the window. */
#ifndef TILEWALK_VIZ_CLI_THREE_PROGRAMS_H
#define TILEWALK_VIZ_CLI_THREE_PROGRAMS_H

#include <stdbool.h>

#include "sim/base/error.h"

#ifndef TILEWALK_VERSION /* the Makefile says which: of the tag, or of the changelog */
#define TILEWALK_VERSION "unknown"
#endif

/* Whether this is the small program. */
extern const bool PROGRAM_IS_SMALL;

/* Whether the small program can answer such arguments (after the command's name): no file is drawn. */
bool program_only_prints(int argc, char *const *argv);

/* Starts tilewalk-SUFFIX, which stands beside this program or in ../lib/tilewalk, with these arguments. Returns only
 * when that fails, STATUS_BAD_REQUEST. */
Status program_become(const char *suffix, char *const *argv, Error *error);

#endif
