/* A mask in words, for headings: "causal, window 512, sink:64". */
#ifndef TILEWALK_VIZ_TEXT_MASK_TEXT_H
#define TILEWALK_VIZ_TEXT_MASK_TEXT_H

#include <stddef.h>

#include "sim/problem/shape.h"

enum { MASK_TEXT_BYTES = 256 };

/* Writes what hides keys in a completed shape, apart by commas; "" where nothing does. Returns text. */
const char *mask_text(const Shape *shape, char *text, size_t size);

#endif
