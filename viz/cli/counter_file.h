/* Reads a file of counters (kernels/counters/ncu.h) from a path, of any length, in bounded memory. */
#ifndef TILEWALK_VIZ_CLI_COUNTER_FILE_H
#define TILEWALK_VIZ_CLI_COUNTER_FILE_H

#include "kernels/counters/ncu.h"

/* path: "-" is standard input. A pipe is put aside into a temporary file, as it is read twice. Errors name the path.
 * *table is for counter_table_free, and empty on error. */
Status counter_file_read(const char *path, CounterTable *table, Error *error);

/* Puts what is left of a file that cannot be read twice, a pipe, into a temporary one in its place, which is at its
 * end; false: there is no room, or it has more bytes than `most`. The old one is closed, but for stdin. */
bool file_put_aside(FILE **file, uint64_t most);

#endif
