/* The commands that print and need no library to draw with. */
#include "viz/cli/commands_print.h"

const Command *const COMMANDS_PRINT[] = {
    &COMMAND_TOUR,
    &COMMAND_SIM,
    &COMMAND_SWEEP,
    &COMMAND_ADVISE,
    &COMMAND_ROOFLINE,
    &COMMAND_SOFTMAX,
    &COMMAND_KVCACHE,
    &COMMAND_RANKS,
    &COMMAND_TRACE,
    &COMMAND_REPLAY,
    &COMMAND_WARP,
    &COMMAND_GPUS,
    &COMMAND_ALGORITHMS,
    &COMMAND_KERNEL,
    &COMMAND_KERNELS,

    NULL,
};
