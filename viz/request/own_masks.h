/* Masks by name or file: `--mask strided:4`, `--mask documents:./lengths.txt`, `--mask ./blocks.txt`. */
#ifndef TILEWALK_VIZ_REQUEST_OWN_MASKS_H
#define TILEWALK_VIZ_REQUEST_OWN_MASKS_H

#include <stdbool.h>

#include "sim/base/error.h"
#include "sim/problem/pattern.h"
#include "sim/problem/shape.h"

enum { OWN_MASK_BYTES = 256 };

/* The pattern for the matrix of a completed shape. It lives until enough others have been asked for that nobody shows
 * it any more. Errors: no such mask or file, a file of another size (with its line), too many blocks. */
Status own_mask(const char *name, const Shape *shape, const Pattern **pattern, Error *error);

#endif
