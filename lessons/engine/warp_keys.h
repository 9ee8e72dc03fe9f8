/* One access of a warp in words: warp{stride=4} in expressions, scene=bank stride=4 in a show. Inside lessons/. */
#ifndef TILEWALK_LESSONS_ENGINE_WARP_KEYS_H
#define TILEWALK_LESSONS_ENGINE_WARP_KEYS_H

#include "sim/machine/warp.h"
#include "sim/question/option.h"

typedef struct {
  int64_t stride, bytes, column, row_bytes, pad_bytes; /* 0: not given, but for the first and third */
  bool has_stride, has_column;
  WarpSwizzle swizzle;
} WarpKeys; /* zeros: nothing is given */

extern const Option WARP_KEYS[];

Status warp_keys_access(const WarpKeys *keys, WarpAccess *access, Error *error);

#endif
