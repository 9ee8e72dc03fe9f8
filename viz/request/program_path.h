/* Where the running program lies: Linux's /proc/self/exe, and what macOS has for it. */
#ifndef TILEWALK_VIZ_REQUEST_PROGRAM_PATH_H
#define TILEWALK_VIZ_REQUEST_PROGRAM_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* The program's folder without a '/' at the end; false, with errno, where the system does not tell or it is too
 * long. */
bool program_folder(char *folder, size_t size);

/* Cuts the last name off a path; false when it has none. */
bool path_to_folder(char *path);

#endif
