/* tilewalk-full: every command. */
#include "viz/cli/chart_file.h"
#include "viz/cli/two_programs.h"

int main(int argc, char **argv) { return program_main(COMMANDS, &DRAWING, argc, argv); }
