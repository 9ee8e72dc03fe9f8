/* tilewalk-full: every command. */
#include "viz/cli/two_programs.h"
#ifdef TILEWALK_WINDOW
#include "viz/window/kernel_window.h"
#endif

int main(int argc, char **argv) {
  Drawing drawing = DRAWING;
#ifdef TILEWALK_WINDOW
  drawing.kernel_window = kernel_window_run;
#endif
  return program_main(COMMANDS, &drawing, argc, argv);
}
