/* Packed files, known by their first bytes, so that they can be named for what they are. */
#ifndef TILEWALK_SIM_BASE_PACKED_H
#define TILEWALK_SIM_BASE_PACKED_H

#include <stddef.h>

enum { PACKED_BYTES = 512 }; /* enough of a beginning */

typedef struct {
  const char *name;   /* "gzip"; NULL: not packed, as far as is known */
  const char *unpack; /* a command that writes what is in it, less the file's name: "gunzip -c" */
} Packed;

Packed packed_of(const void *bytes, size_t n);

#endif
