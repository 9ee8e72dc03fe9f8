/* tilewalk: the commands that print and need no library to draw with. See viz/cli/two_programs.h. */
#include "viz/cli/two_programs.h"

extern const Command COMMAND_ADVISE, COMMAND_ALGORITHMS, COMMAND_GPUS, COMMAND_KERNEL, COMMAND_KERNELS, COMMAND_KVCACHE,
    COMMAND_REPLAY, COMMAND_ROOFLINE, COMMAND_SIM, COMMAND_SOFTMAX, COMMAND_SWEEP, COMMAND_TOUR, COMMAND_TRACE,
    COMMAND_WARP;

static const Command *const PRINT[] = {
    &COMMAND_TOUR,    &COMMAND_SIM,        &COMMAND_SWEEP,  &COMMAND_ADVISE,  &COMMAND_ROOFLINE,
    &COMMAND_SOFTMAX, &COMMAND_KVCACHE,    &COMMAND_TRACE,  &COMMAND_REPLAY,  &COMMAND_WARP,
    &COMMAND_GPUS,    &COMMAND_ALGORITHMS, &COMMAND_KERNEL, &COMMAND_KERNELS, NULL,
};

int main(int argc, char **argv) { return program_main(PRINT, NULL, argc, argv); }
