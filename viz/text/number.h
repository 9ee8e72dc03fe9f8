/* Numbers as people read them, the same in every locale.
 *
 * Every function returns a small struct that holds the text, so that a call is written where the
 * text is needed:   printf("%s\n", number_bytes(total).text);
 *
 * Rules, once for all:
 * - Rounded values have four significant digits (three where said so). A whole count that is shown
 *   exactly drops its trailing zeros, a rounded one keeps them: "132 MiB" is exactly 132 MiB, "132.0
 *   MiB" is nearly so. A double cannot tell: SI values and times always drop them, ratios always keep
 *   them.
 * - A value that rounds up to the next unit is written in it: 1024 KiB is never seen, 1 MiB is.
 * - Halves round away from zero.
 * - The decimal sign is a point, the thousands sign a comma, whatever the locale says.
 * - A double that is not a number reads "n/a", an infinite one "inf" or "-inf".
 * - Only ASCII is used, so that the text may go to a file, a pipe or a terminal.
 *
 * Parsing sizes that people type is the business of the command line, not of this file. */
#ifndef TILEWALK_VIZ_TEXT_NUMBER_H
#define TILEWALK_VIZ_TEXT_NUMBER_H

#include "sim/base/checked.h"

enum { NUMBER_CHARS = 96 }; /* room for a 128-bit count with separators and a unit */

typedef struct {
  char text[NUMBER_CHARS]; /* ASCII, ends with a zero byte */
} Number;

/* Bytes in binary units: "512 B", "1.5 KiB", "132 MiB", "1.627 GiB", ... up to YiB. */
Number number_bytes(Wide bytes);

/* Bytes in decimal units, as papers and data sheets count: "138.4 MB", "80 GB", ... up to YB. */
Number number_bytes_decimal(Wide bytes);

/* Every byte: "138,412,032 B". */
Number number_bytes_exact(Wide bytes);

/* A count in full with thousands separators: "1,048,576". */
Number number_count(Wide count);

/* Any words; what does not fit is cut, ends in ... and is no number. */
__attribute__((format(printf, 1, 2))) Number number_text(const char *format, ...);

/* "1 token", "4,096 tokens". */
Number number_of(Wide count, const char *what);

/* A count in full without separators, for CSV and JSON: "1048576". */
Number number_digits(Wide count);

/* A length of a sequence in binary K, M, G where that is exact and short, else as number_count:
 * 4096 is "4K", 1536 is "1.5K", 131072 is "128K", 1000 is "1,000". */
Number number_tokens(Wide tokens);

/* a / b as a factor with at least three digits: "2.00x", "0.125x", "16.5x", "148x", "1,234x". 0 / 0
 * is "n/a". */
Number number_ratio(double ratio);
Number number_ratio_of(Wide a, Wide b);

/* A part of one as a percentage with one decimal: "56.3%". Only exactly 0 and exactly 1 read "0%"
 * and "100%"; what would round to them reads "<0.1%" or ">99.9%". */
Number number_percent(double fraction);

/* A value with an SI prefix before `unit` (at most 16 characters are used): (9.89e14, "FLOP/s") is
 * "989 TFLOP/s", (3.35e12, "B/s") is "3.35 TB/s". Prefixes run from n to Y. An empty unit leaves
 * the prefix: "989 T". */
Number number_si(double value, const char *unit);

/* FLOPs counted: "34.36 GFLOP". */
Number number_flops(Wide flops);

/* A time: "0 s", "12.5 us", "1.25 ms", "3.5 s"; from 1000 s on in full seconds: "86,400 s". */
Number number_seconds(double seconds);

/* A double with `digits` significant digits (1 to 17) in plain notation where it is readable (1e-4
 * <= |x| < 1e9), else as "1.5e-07". Trailing zeros of the fraction stay. */
Number number_double(double value, int digits);
Number number_trimmed(double value, int digits); /* they go */

/* The shortest text that reads back as the same double, for CSV and JSON: "0.1", "1e+300", "nan",
 * "inf". */
Number number_exact_double(double value);

#endif
