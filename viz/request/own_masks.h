/* Masks by name or file: `--mask strided:4`, `--mask ./blocks.txt`. */
#ifndef TILEWALK_VIZ_REQUEST_OWN_MASKS_H
#define TILEWALK_VIZ_REQUEST_OWN_MASKS_H

#include "sim/base/error.h"
#include "sim/problem/pattern.h"

enum { OWN_MASK_BYTES = 256 };

/* The pattern for a matrix of N_q x N_k. It lives until so many others have been asked for that nobody shows it any
 * more. Errors: no such mask or file, a file of another size (with its line), too many blocks. */
Status own_mask(const char *name, int64_t N_q, int64_t N_k, const Pattern **pattern, Error *error);

#endif
