/* Sizes and counts as people type them: "192K", "141 GB", "1.5M", "4096".
 *
 *     K  M  G  T        binary    192K   = 196,608      (what programmers mean)
 *     KiB MiB GiB TiB   binary    64 KiB = 65,536
 *     kB KB MB GB TB    decimal   141 GB = 141,000,000,000   (what data sheets mean)
 *     B or nothing      bytes
 *
 * A fraction or an exponent is fine where the result is a whole number: 1.5K, 0.5 MB, 1e6. The
 * decimal sign is a point in every locale, and there is no thousands sign. Reading is exact: no
 * floating point.
 *
 * Not read: signs (a size is not negative), hexadecimal, "kb" and "Mb" (a small b may
 * mean bits). */
#ifndef TILEWALK_SIM_BASE_SIZE_H
#define TILEWALK_SIM_BASE_SIZE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

/* A size in bytes, 0 to 2^63 - 1. *size_bytes is unchanged on error. The message begins with the
 * text in quotes; a caller that knows an option's or a file's name puts it in front. */
Status size_parse(const char *text, int64_t *size_bytes, Error *error);

/* A count (N, d, heads): 1 to 2^63 - 1, bare or with K, M, G, T, which are binary: 4K = 4096. */
Status size_parse_count(const char *text, int64_t *count, Error *error);

/* An unsigned decimal number, exactly: digits x 10^exponent10. */
typedef struct {
  uint64_t digits; /* below 10^19, no trailing zero */
  int exponent10;  /* -400 to 400 */
} Decimal;

/* Reads a number ("12", "0.5", ".5", "1e6") at the start of text[0..length). Returns how many
 * characters it took; 0 when there is none, or one with more than 19 significant digits or an
 * exponent out of range. */
size_t decimal_read(const char *text, size_t length, Decimal *decimal);

/* The nearest double (exactly rounded while digits < 2^53 and |exponent10| <= 22). */
double decimal_value(Decimal decimal);

#endif
