/* tilewalk: the commands that print and need no library to draw with. See viz/cli/two_programs.h. */
#include "viz/cli/commands_print.h"
#include "viz/cli/two_programs.h"

int main(int argc, char **argv) { return program_main(COMMANDS_PRINT, NULL, argc, argv); }
