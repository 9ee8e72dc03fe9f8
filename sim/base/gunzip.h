/* What gzip has packed (RFC 1951, RFC 1952): one member, in memory. */
#ifndef TILEWALK_SIM_BASE_GUNZIP_H
#define TILEWALK_SIM_BASE_GUNZIP_H

#include <stddef.h>

#include "sim/base/error.h"

/* Unpacks the member at the beginning of `bytes` to *text, which the caller frees and which ends in a 0 that *n_text
 * does not count. Refuses (STATUS_BAD_FILE) what is damaged, what is more than max_bytes, and names of files, comments
 * and extra fields in its head; STATUS_NO_MEMORY. `name` is for the message. */
Status gunzip(const unsigned char *bytes, size_t n_bytes, size_t max_bytes, const char *name, char **text,
              size_t *n_text, Error *error);

#endif
