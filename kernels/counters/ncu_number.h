/* Numbers and units of counter files: what a cell stands for, as an interval that rounding leaves.
 *
 *     545.572864 Mbyte   545,572,864 bytes, exactly: the last digit stands for one byte
 *     4.564326 Gbyte     4,564,326,000 bytes, 500 more or less
 *     134,221,568        commas between groups of three ...
 *     134.221.568        ... or points, blanks, apostrophes, as the locale has it
 *
 * "1,234" alone could be read both ways. Which mark is the decimal one is found from the whole file: one cell that can
 * be read in one way only (33,26; 1,234,567; 0.5) settles all others. */
#ifndef TILEWALK_KERNELS_COUNTERS_NCU_NUMBER_H
#define TILEWALK_KERNELS_COUNTERS_NCU_NUMBER_H

#include "kernels/counters/ncu_text.h"

/* How a cell can be read as a number: with a point as the decimal mark, with a comma. */
typedef struct {
  bool by_point, by_comma;
  char mark; /* '.' or ',', where it has one; 0: neither, and both ways agree */
} NcuReading;
NcuReading ncu_number_reading(NcuField field);

/* The cell is empty, or says that there is no value: n/a, nan, -. */
bool ncu_number_is_missing(NcuField field);

typedef enum {
  NCU_UNIT_NONE = 0,
  NCU_UNIT_BYTE,
  NCU_UNIT_SECTOR,
  NCU_UNIT_SECOND,
  NCU_UNIT_RATIO,
  NCU_UNIT_COUNT,
  NCU_UNIT_BYTE_RATE /* bytes a second */
} NcuDimension;

/* value = number x times / 10^tenths, in the base unit: byte, sector, ns, a millionth, one. */
typedef struct {
  NcuDimension dimension;
  uint64_t times;
  int tenths;
  uint64_t atom; /* what cannot be divided, in base units: 32 for sectors counted in bytes */
} NcuUnit;

/* "Mbyte", "ns", "usecond", "%", "sector", "KiB", ... False: no unit that is known. */
bool ncu_unit_parse(NcuField field, NcuUnit *unit);

/* A count in base units, and how far rounding lets the true one be from it. */
typedef struct {
  uint64_t value, slack;
} NcuCount;

/* decimal: '.' or ',', the decimal mark. False: not a number read so, negative, or 2^64 and more. */
bool ncu_count_parse(NcuField field, char decimal, const NcuUnit *unit, NcuCount *count);

#endif
