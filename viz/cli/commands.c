/* The table of commands: to add one, write viz/cli/command_NAME.c and add its row. */
#include "viz/cli/command.h"

extern const Command COMMAND_CHECK, COMMAND_DOCTOR, COMMAND_GPUS, COMMAND_KVCACHE, COMMAND_SIM, COMMAND_SOFTMAX, COMMAND_SWEEP, COMMAND_TOUR, COMMAND_TRACE;
extern const Command COMMAND_MAN, COMMAND_COMPLETE_BASH, COMMAND_COMPLETE_ZSH; /* hidden */

const Command *const COMMANDS[] = {
    &COMMAND_TOUR,
    &COMMAND_SIM,
    &COMMAND_SWEEP,
    &COMMAND_SOFTMAX,
    &COMMAND_KVCACHE,
    &COMMAND_CHECK,
    &COMMAND_TRACE,
    &COMMAND_GPUS,
    &COMMAND_DOCTOR,
    &COMMAND_MAN,
    &COMMAND_COMPLETE_BASH,
    &COMMAND_COMPLETE_ZSH,
    NULL,
};
