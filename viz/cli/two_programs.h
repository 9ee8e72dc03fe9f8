/* The programs that make up tilewalk: two mains over one library.
 *
 *     tilewalk        main_small.c: prints; no library to draw with, linked statically where possible, so that it
 *                     starts in 2 ms instead of 20
 *     tilewalk-full   main.c: all commands, with cairo, pango, SDL2, Lua, C++
 *
 * Only the first is on the path. It has the commands of its own table; for everything else, and where -o asks for a
 * file, it turns into the second. */
#ifndef TILEWALK_VIZ_CLI_TWO_PROGRAMS_H
#define TILEWALK_VIZ_CLI_TWO_PROGRAMS_H

#include "viz/cli/command.h"

#ifndef TILEWALK_VERSION /* the Makefile says which: of the tag, or of the changelog */
#define TILEWALK_VERSION "unknown"
#endif

/* Runs the command that argv names and prints its one-line reason if it fails. `commands`: what this program has, NULL
 * at the end. `drawing`: NULL in the small program. Returns the exit status. */
int program_main(const Command *const *commands, const Drawing *drawing, int argc, char **argv);

#endif
