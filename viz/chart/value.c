#include "viz/chart/value.h"

#include <math.h>
#include <string.h>

/* Doubles up to here convert to 128-bit integers. */
static const double WIDE_LIMIT = 1e38;

static bool is_count(double value) { return value >= 0 && value < WIDE_LIMIT; }

Number value_text(ValueKind kind, double value) {
  bool count = is_count(value);
  Wide whole = count ? (Wide)round(value) : 0;
  switch (kind) {
  case VALUE_BYTES: return count ? number_bytes(whole) : number_double(value, 4);
  case VALUE_COUNT: return count ? number_count(whole) : number_double(value, 4);
  case VALUE_TOKENS: return count ? number_tokens(whole) : number_double(value, 4);
  case VALUE_SECONDS: return number_seconds(value);
  case VALUE_FLOP_RATE: return number_si(value, "FLOP/s");
  case VALUE_NUMBER: break;
  }
  return number_double(value, 4);
}

/* Drops the zeros behind the point, wherever in the text the number ends: "2.00 s" is "2 s". */
static Number without_zeros(Number number) {
  char *point = strchr(number.text, '.');
  if (!point) return number;
  size_t digits = strspn(point + 1, "0123456789");
  char *end = point + 1 + digits, *keep = end;
  while (keep > point + 1 && keep[-1] == '0') keep--;
  if (keep == point + 1) keep = point;
  memmove(keep, end, strlen(end) + 1);
  return number;
}

/* For values so large that no unit keeps them short: powers of ten. */
static Number power_text(ValueKind kind, double value) {
  static const char *const units[] = {
      [VALUE_BYTES] = " B", [VALUE_SECONDS] = " s", [VALUE_FLOP_RATE] = " FLOP/s", [VALUE_NUMBER] = NULL};
  return number_text("%s%s", number_double(value, 2).text, units[kind] ? units[kind] : "");
}

Number value_tick_text(ValueKind kind, double value) {
  enum { SHORT = 13 };
  Number number;
  if (kind == VALUE_NUMBER && value != 0)
    number = without_zeros(number_double(value, 6));
  else if (kind == VALUE_BYTES && value > 0 && value < 1)
    number = number_double(value, 3);
  else
    number = without_zeros(value_text(kind, value));
  return strlen(number.text) <= SHORT ? number : power_text(kind, value);
}
