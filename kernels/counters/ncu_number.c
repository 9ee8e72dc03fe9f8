#include "kernels/counters/ncu_number.h"

#include <string.h>

#include "sim/base/ascii.h"
#include "sim/base/checked.h"

enum { MAX_DIGITS = 20 };

/* "e+09" */
static bool take_exponent(const char *at, size_t left, int *decimals) {
  const bool has_sign = left > 1 && (at[1] == '-' || at[1] == '+');
  const size_t first = has_sign ? 2 : 1;
  int exponent = 0;
  if (first == left || left - first > 3) return false;
  for (size_t i = first; i < left; i++) {
    if (!ascii_is_digit(at[i])) return false;
    exponent = 10 * exponent + (at[i] - '0');
  }
  *decimals += has_sign && at[1] == '-' ? exponent : -exponent;
  return true;
}

/* What follows " (" or " {" lists instances of the metric; "(!)" before it marks a warning. */
static NcuField without_decoration(NcuField field) {
  field = ncu_field_trim(field);
  if (field.length > 3 && !memcmp(field.at, "(!)", 3))
    field = ncu_field_trim((NcuField){field.at + 3, field.length - 3});
  for (size_t i = 1; i < field.length; i++)
    if ((field.at[i] == '(' || field.at[i] == '{') && field.at[i - 1] == ' ') field.length = i - 1;
  return ncu_field_trim(field);
}

bool ncu_number_is_missing(NcuField field) {
  static const char *const words[] = {"",  "n/a",  "N/A",      "nan", "-nan", "NaN",  "-nan(ind)", "nan(ind)",
                                      "-", "none", "no value", "inf", "-inf", "NULL", "None"};
  field = without_decoration(field);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (ncu_field_is(field, words[i])) return true;
  return false;
}

static const struct {
  const char *name;
  NcuDimension dimension;
  uint64_t times;
} BASES[] = {
    {"byte", NCU_UNIT_BYTE, 1},
    {"bytes", NCU_UNIT_BYTE, 1},
    {"B", NCU_UNIT_BYTE, 1},
    {"sector", NCU_UNIT_SECTOR, 1},
    {"sectors", NCU_UNIT_SECTOR, 1},
    {"second", NCU_UNIT_SECOND, 1000000000},
    {"seconds", NCU_UNIT_SECOND, 1000000000},
    {"sec", NCU_UNIT_SECOND, 1000000000},
    {"s", NCU_UNIT_SECOND, 1000000000},
    {"%", NCU_UNIT_RATIO, 10000},
    {"percent", NCU_UNIT_RATIO, 10000},
    {"pct", NCU_UNIT_RATIO, 10000},
    {"ratio", NCU_UNIT_RATIO, 1000000},
    {"", NCU_UNIT_COUNT, 1},
    {"inst", NCU_UNIT_COUNT, 1},
    {"instruction", NCU_UNIT_COUNT, 1},
    {"instructions", NCU_UNIT_COUNT, 1},
    {"register/thread", NCU_UNIT_COUNT, 1},
    {"thread", NCU_UNIT_COUNT, 1},
    {"block", NCU_UNIT_COUNT, 1},
    {"request", NCU_UNIT_COUNT, 1},
    {"conflict", NCU_UNIT_COUNT, 1},
    {"bank", NCU_UNIT_COUNT, 1},
    {"SM", NCU_UNIT_COUNT, 1},
    {"count", NCU_UNIT_COUNT, 1},
};

static const struct {
  const char *prefix;
  uint64_t times;
  int tenths;
} PREFIXES[] = {{"", 1, 0},     {"Ki", 1024, 0}, {"Mi", 1048576, 0}, {"Gi", 1073741824, 0}, {"Ti", 1099511627776, 0},
                {"K", 1000, 0}, {"k", 1000, 0},  {"M", 1000000, 0},  {"G", 1000000000, 0},  {"T", 1000000000000, 0},
                {"m", 1, 3},    {"u", 1, 6},     {"n", 1, 9},        {"\xc2\xb5", 1, 6},    {"\xce\xbc", 1, 6},
                {"\xb5", 1, 6}};

bool ncu_unit_parse(NcuField field, NcuUnit *unit) {
  field = ncu_field_trim(field);
  static const char PER_BLOCK[] = "/block"; /* shared memory is given per block */
  const size_t per = sizeof PER_BLOCK - 1;
  if (field.length > per && !memcmp(field.at + field.length - per, PER_BLOCK, per)) field.length -= per;
  static const char *const PER_SECOND[] = {"/second", "/sec", "/s"};
  bool is_rate = false;
  for (size_t i = 0; i < sizeof PER_SECOND / sizeof *PER_SECOND && !is_rate; i++) {
    const size_t n = strlen(PER_SECOND[i]);
    is_rate = field.length > n && !memcmp(field.at + field.length - n, PER_SECOND[i], n);
    if (is_rate) field.length -= n;
  }
  for (size_t p = 0; p < sizeof PREFIXES / sizeof *PREFIXES; p++) {
    const size_t n = strlen(PREFIXES[p].prefix);
    if (field.length < n || memcmp(field.at, PREFIXES[p].prefix, n)) continue;
    const NcuField rest = {field.at + n, field.length - n};
    for (size_t b = 0; b < sizeof BASES / sizeof *BASES; b++) {
      if (!ncu_field_is(rest, BASES[b].name) || (n && !rest.length)) continue;
      const bool divides = PREFIXES[p].tenths > 0;
      if (divides && BASES[b].dimension != NCU_UNIT_SECOND) continue;
      if (PREFIXES[p].times > (uint64_t)1000000000000000000 / BASES[b].times) continue; /* a thousand years */
      uint64_t times = BASES[b].times * PREFIXES[p].times;
      int tenths = PREFIXES[p].tenths;
      for (; tenths && times % 10 == 0; tenths--) times /= 10;
      if (is_rate && BASES[b].dimension != NCU_UNIT_BYTE) return false;
      *unit = (NcuUnit){is_rate ? NCU_UNIT_BYTE_RATE : BASES[b].dimension, times, tenths, 1};
      return true;
    }
  }
  return false;
}

bool ncu_count_parse(NcuField field, const NcuUnit *unit, NcuCount *count) {
  const bool is_whole = unit->times == unit->atom && !unit->tenths && unit->dimension != NCU_UNIT_RATIO;
  Wide digits = 0;
  int decimals = 0, n_digits = 0, run = 0, whole = 0; /* run: of digits since the last mark */
  bool grouped = false, point = false, has_fraction = false;
  field = without_decoration(field);
  for (size_t i = 0; i < field.length; i++) {
    const char c = field.at[i];
    if (c == ',' || c == '.') { /* groups have three digits, the first one to three */
      if (point || !run || (grouped ? run != 3 : c == ',' && run > 3) || (c == ',' && field.at[0] == '0')) return false;
      *(c == ',' ? &grouped : &point) = true;
      run = 0;
      continue;
    }
    if ((c == 'e' || c == 'E') && run) {
      if (!take_exponent(field.at + i, field.length - i, &decimals)) return false;
      break;
    }
    if (!ascii_is_digit(c)) return false;
    run++;
    whole += !point;
    decimals += point;
    has_fraction |= point && c != '0';
    if (digits == 0 && c == '0') continue;
    if (++n_digits > MAX_DIGITS) { /* 22255250.000000000000: zeros say nothing; other digits beyond are cut */
      if (!point) return false;
      decimals--;
      n_digits--;
      continue;
    }
    digits = 10 * digits + (unsigned)(c - '0');
  }
  if (!run || (grouped && !point && run != 3)) return false;
  /* "1.234" bytes, "1,234" Mbyte: as other locales group thousands, or part them */
  if (is_whole ? point && !grouped && run == 3 && whole <= 3 && has_fraction : grouped && !point) return false;
  decimals += unit->tenths;
  Wide value = digits * unit->times, step = unit->times, left = 0;
  for (; decimals < 0; decimals++) {
    if (value > UINT64_MAX) return false;
    value *= 10;
    step = step > UINT64_MAX ? step : step * 10;
  }
  has_fraction = false;
  for (; decimals > 0; decimals--) {
    left = value % 10;
    has_fraction |= left != 0;
    value /= 10;
    step /= 10;
  }
  if (value > UINT64_MAX || (step > 1 && step > UINT64_MAX)) return false;
  const bool rounded = step > unit->atom;
  *count =
      (NcuCount){(uint64_t)value + (left >= 5 && value < UINT64_MAX), rounded ? (uint64_t)(step / 2) : has_fraction};
  return true;
}
