/* The table of commands: to add one, write viz/cli/command_NAME.c and add its row. Fourteen have a group; what else has
 * a name of two words is one of these with an option. */
#include "viz/cli/command.h"

const Command *const COMMANDS[] = {
    &COMMAND_TOUR,    &COMMAND_VIEW,   &COMMAND_RENDER,     &COMMAND_SIM,      &COMMAND_SWEEP,      &COMMAND_ADVISE,
    &COMMAND_KVCACHE, &COMMAND_SERVE,  &COMMAND_SOFTMAX,    &COMMAND_KERNEL,   &COMMAND_CROSSCHECK, &COMMAND_TRACE,
    &COMMAND_LESSON,  &COMMAND_LIST,   &COMMAND_STORY,      &COMMAND_ROOFLINE, &COMMAND_RANKS,      &COMMAND_ELIGIBLE,
    &COMMAND_WARP,    &COMMAND_REPLAY, &COMMAND_PRACTICE,   &COMMAND_CHECK,    &COMMAND_GPUS,       &COMMAND_ALGORITHMS,
    &COMMAND_KERNELS, &COMMAND_DOCTOR, &COMMAND_COMPLETION, &COMMAND_NAMES,    &COMMAND_COMPLETE,   NULL,
};
