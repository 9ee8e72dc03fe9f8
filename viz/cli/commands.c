/* The table of commands: to add one, write viz/cli/command_NAME.c and add its row. */
#include "viz/cli/command.h"

extern const Command COMMAND_SIM, COMMAND_SOFTMAX, COMMAND_TRACE;

const Command *const COMMANDS[] = {
    &COMMAND_SIM,
    &COMMAND_SOFTMAX,
    &COMMAND_TRACE,
    NULL,
};
