#include "viz/text/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Doubles up to here convert to 128-bit integers. */
static const double WIDE_LIMIT = 1e38;

static bool is_count(double value) {
  return value >= 0 && value < WIDE_LIMIT;
}

Number value_text(ValueKind kind, double value) {
  bool count = is_count(value);
  Wide whole = count ? (Wide)round(value) : 0;
  switch (kind) {
  case VALUE_BYTES: return count ? number_bytes(whole) : number_double(value, 4);
  case VALUE_COUNT: return count ? number_count(whole) : number_double(value, 4);
  case VALUE_TOKENS: return count ? number_tokens(whole) : number_double(value, 4);
  case VALUE_FLOPS: return count ? number_flops(whole) : number_double(value, 4);
  case VALUE_SECONDS: return number_seconds(value);
  case VALUE_FLOP_RATE: return number_si(value, "FLOP/s");
  case VALUE_BYTE_RATE: return number_si(value, "B/s");
  case VALUE_FACTOR: return number_ratio(value);
  case VALUE_PERCENT: return number_percent(value);
  case VALUE_NUMBER: break;
  }
  return number_double(value, 4);
}

/* Drops the zeros behind the point, wherever in the text the number ends: "2.00x" is "2x". */
static Number without_zeros(Number number) {
  char *point = strchr(number.text, '.');
  if (!point) return number;
  size_t digits = strspn(point + 1, "0123456789");
  char *end = point + 1 + digits, *keep = end;
  while (keep > point + 1 && keep[-1] == '0')
    keep--;
  if (keep == point + 1) keep = point;
  memmove(keep, end, strlen(end) + 1);
  return number;
}

Number value_tick_text(ValueKind kind, double value) {
  if (kind == VALUE_NUMBER && value != 0) {
    Number number = number_double(value, 6);
    return without_zeros(number);
  }
  if (kind == VALUE_BYTES && value > 0 && value < 1) return number_double(value, 3);
  return without_zeros(value_text(kind, value));
}
