/* Quantities as texts and claims write them: numbers, and units with a factor.
 *
 *     MB = 10^6 bytes, MiB = 2^20 bytes: never mixed here, though often by authors; so every
 * decimal unit of bytes knows its binary sister.
 *
 * Formatting is the same in every locale, ASCII only, at most four significant digits unless said
 * otherwise. */
#ifndef TILEWALK_LESSONS_ENGINE_QUANTITY_H
#define TILEWALK_LESSONS_ENGINE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  const char *name;   /* as written */
  double factor;      /* to the base unit: bytes, FLOP/s, B/s, or 1 */
  const char *sister; /* the unit it is mistaken for: MB for MiB and back; NULL: none */
} Unit;

/* The unit of that name; NULL: it has no factor ("rows", "x", "loads"). */
const Unit *unit_find(const char *name);

/* The unit that `name` must have been meant as when it differs only in the case of letters ("Mb",
 * "mib"); else NULL. */
const Unit *unit_misspelt(const char *name);

/* "1,048,576", "12.54", "0.3679", "1.5e-07". */
void quantity_number(double value, char *text, size_t size);

/* With that many digits after the point: "1.3205". */
void quantity_fixed(double value, int decimals, char *text, size_t size);

/* Bytes in the unit that fits: "66 MiB", or with `binary` off "69.21 MB". */
void quantity_bytes(double bytes, bool binary, char *text, size_t size);

/* Whether the value is whole, but for the rounding of a few operations. */
bool quantity_is_whole(double value);

#endif
