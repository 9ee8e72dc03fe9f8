/* Reads program text: sim/algorithms/LANGUAGE.md says how one is written.
 *
 *     Program program;
 *     Error error = {0};
 *     if (program_read(&program, text, length, "mine.walk", &error)) puts(error.message);
 *
 * Text is untrusted: sizes are bounded by the enums of program.h, time is linear in the text, and nothing is allocated.
 * Errors name the file and the line, say what is wrong and what would be right. */
#ifndef TILEWALK_SIM_ALGORITHMS_LANGUAGE_READ_H
#define TILEWALK_SIM_ALGORITHMS_LANGUAGE_READ_H

#include <stddef.h>

#include "sim/algorithms/program.h"

/* Reads text[0..length) into *program; `file` is what errors call it. Writes *program only on success.
 * Errors: STATUS_BAD_FILE, one line. */
Status program_read(Program *program, const char *text, size_t length, const char *file, Error *error);

/* The same, but for races between CTAs, which it lets pass: for what looks for them another way. */
Status program_read_racing(Program *program, const char *text, size_t length, const char *file, Error *error);

/* Reads lines of a launch apart by semicolons, "stages 2 of K_j, V_j; consumers 2 of i", of a kernel of the program:
 * what a kernel's description says of itself. `file` and `line` are what errors name. Writes *launch only on
 * success. */
Status program_launch_read(const Program *program, int kernel, const char *text, const char *file, int line,
                           ProgramLaunch *launch, Error *error);

#endif
