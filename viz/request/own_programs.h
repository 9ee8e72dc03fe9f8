/* Programs of one's own: `--algorithm ./mine.walk`. */
#ifndef TILEWALK_VIZ_REQUEST_OWN_PROGRAMS_H
#define TILEWALK_VIZ_REQUEST_OWN_PROGRAMS_H

#include "sim/algorithms/schedule.h"
#include "sim/base/error.h"

enum { OWN_PROGRAMS_MAX = 8 };

/* Reads a program; it lives until the process ends, and the same path gives the same one as long as the file has not
 * changed. Errors: no such file, too long, what the language refuses (with file and line), more than OWN_PROGRAMS_MAX.
 */
Status own_program_read(const char *path, const Schedule **schedule, Error *error);

/* Forgets all programs but those named, and frees them: nothing else may point to them any more. For a front end in
 * which programs are edited, and would fill the places one by one. */
void own_programs_forget_but(const Schedule *const *used, int n);

#endif
