/* The commands that print and need no library to draw with: those of the small program and of the library. */
#ifndef TILEWALK_VIZ_CLI_COMMANDS_PRINT_H
#define TILEWALK_VIZ_CLI_COMMANDS_PRINT_H

#include "viz/cli/command.h"

extern const Command *const COMMANDS_PRINT[]; /* ends with NULL */

#endif
