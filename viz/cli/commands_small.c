/* The small program's commands: those that print and need no library to draw with. See viz/cli/three_programs.h.
 *
 * Linked ahead of the library, what stands here is taken instead of commands.c and chart_file.c. */
#include "viz/cli/chart_file.h"
#include "viz/cli/command.h"
#include "viz/cli/three_programs.h"

extern const Command COMMAND_ADVISE, COMMAND_ALGORITHMS, COMMAND_GPUS, COMMAND_KERNELS, COMMAND_KVCACHE, COMMAND_REPLAY,
    COMMAND_ROOFLINE, COMMAND_SIM, COMMAND_SOFTMAX, COMMAND_SWEEP, COMMAND_TOUR, COMMAND_TRACE, COMMAND_WARP;

const Command *const COMMANDS[] = {
    &COMMAND_TOUR,    &COMMAND_SIM,   &COMMAND_SWEEP,  &COMMAND_ADVISE, &COMMAND_ROOFLINE, &COMMAND_SOFTMAX,
    &COMMAND_KVCACHE, &COMMAND_TRACE, &COMMAND_REPLAY, &COMMAND_WARP,   &COMMAND_GPUS,     &COMMAND_ALGORITHMS,
    &COMMAND_KERNELS, NULL,
};

const bool PROGRAM_IS_SMALL = true;

static Status drawn_by_full(const char *path, Error *error) {
  return error_set(error, STATUS_BAD_REQUEST, "'%.200s' is a picture, which tilewalk-full draws; give it with -o",
                   path);
}

/* main turns into the full program before a chart is drawn; what gets here says so. */
Status chart_file_save(Chart *chart, const ChartRequest *how, const char *path, const char *title, const char *state,
                       Error *error) {
  (void)chart;
  (void)how;
  (void)title;
  (void)state;
  return drawn_by_full(path, error);
}

Status bars_file_save(const Bars *bars, const ChartRequest *how, const char *path, const char *title, const char *state,
                      Error *error) {
  (void)bars;
  (void)how;
  (void)title;
  (void)state;
  return drawn_by_full(path, error);
}
