/* Quantities as texts and claims write them.
 *
 * Formatting is the same in every locale, ASCII only, at most four significant digits unless said
 * otherwise. */
#ifndef TILEWALK_LESSONS_ENGINE_QUANTITY_H
#define TILEWALK_LESSONS_ENGINE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

/* The unit of bytes that this one is mistaken for: MB for MiB, and back; NULL: none. */
const char *quantity_sister(const char *unit);

/* "1,048,576", "12.54", "0.3679", "1.5e-07". */
void quantity_number(double value, char *text, size_t size);

/* With that many digits after the point: "1.3205". */
void quantity_fixed(double value, int decimals, char *text, size_t size);

/* Bytes in the unit that fits: "66 MiB", or with `binary` off "69.21 MB". */
void quantity_bytes(double bytes, bool binary, char *text, size_t size);

/* Whether the value is whole, but for the rounding of a few operations. */
bool quantity_is_whole(double value);

#endif
