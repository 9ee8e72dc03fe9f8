/* What the files of a request share. */
#ifndef TILEWALK_VIZ_REQUEST_REQUEST_PARTS_H
#define TILEWALK_VIZ_REQUEST_REQUEST_PARTS_H

#include "viz/request/request.h"

enum { REQUEST_DEFAULT_N = 4096, REQUEST_DEFAULT_D = 128 };

extern const char *const PACK_NAMES[PACK_COUNT];

#endif
