#include "kernels/counters/ncu_number.h"

#include <string.h>

#include "sim/base/ascii.h"
#include "sim/base/checked.h"

enum { MAX_CHARACTERS = 64, MAX_DIGITS = 20 };

/* A cell with digits, '.' and ',' alone: blanks and apostrophes between groups of three are taken out. */
typedef struct {
  char text[MAX_CHARACTERS];
  size_t length;
  int exponent; /* of "1.5e+09" */
} Bare;

/* How long a blank or an apostrophe is that begins here; 0: neither. With the no-break spaces of French and the
 * apostrophe of Swiss locales, in UTF-8 and Latin-1. */
static size_t group_mark(const char *at, size_t left) {
  static const char *const marks[] = {" ", "'", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89", "\xe2\x80\x99", "\xa0"};
  for (size_t i = 0; i < COUNT_OF(marks); i++)
    if (left >= strlen(marks[i]) && !memcmp(at, marks[i], strlen(marks[i]))) return strlen(marks[i]);
  return 0;
}

static bool three_digits(const char *at, size_t left) {
  return left >= 3 && ascii_is_digit(at[0]) && ascii_is_digit(at[1]) && ascii_is_digit(at[2]) &&
         (left == 3 || !ascii_is_digit(at[3]));
}

/* "e+09" */
static bool take_exponent(const char *at, size_t left, Bare *bare) {
  const bool has_sign = left > 1 && (at[1] == '-' || at[1] == '+');
  const size_t first = has_sign ? 2 : 1;
  if (first == left || left - first > 3) return false;
  for (size_t i = first; i < left; i++) {
    if (!ascii_is_digit(at[i])) return false;
    bare->exponent = 10 * bare->exponent + (at[i] - '0');
  }
  if (has_sign && at[1] == '-') bare->exponent = -bare->exponent;
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

static bool make_bare(NcuField field, Bare *bare) {
  *bare = (Bare){.length = 0};
  field = without_decoration(field);
  bool grouped = false;
  for (size_t i = 0; i < field.length;) {
    const char c = field.at[i];
    const size_t mark = group_mark(field.at + i, field.length - i);
    if (mark) {
      /* after one to three digits, or another group, and before three digits */
      if (!bare->length || bare->length > (grouped ? MAX_CHARACTERS : 3) || memchr(bare->text, '.', bare->length) ||
          memchr(bare->text, ',', bare->length) || !three_digits(field.at + i + mark, field.length - i - mark))
        return false;
      grouped = true;
      i += mark;
      continue;
    }
    if ((c == 'e' || c == 'E') && bare->length) return take_exponent(field.at + i, field.length - i, bare);
    if ((!ascii_is_digit(c) && c != '.' && c != ',') || bare->length == MAX_CHARACTERS) return false;
    bare->text[bare->length++] = c;
    i++;
  }
  return bare->length > 0;
}

/* Digits in groups of three with `mark` between, the first of one to three. */
static bool is_grouped(const char *text, size_t length, char mark) {
  const size_t first = length % 4;
  if (first == 0) return false;
  for (size_t i = 0; i < length; i++)
    if (i % 4 == first ? text[i] != mark : !ascii_is_digit(text[i])) return false;
  return true;
}

/* Whether the number can be read with this decimal mark; *dot: where that is, or the length. */
static bool reads(const Bare *b, char decimal, size_t *dot) {
  const char group = decimal == '.' ? ',' : '.';
  const char *mark = memchr(b->text, decimal, b->length);
  const size_t whole = mark ? (size_t)(mark - b->text) : b->length;
  *dot = whole;
  for (size_t i = whole + 1; i < b->length; i++)
    if (!ascii_is_digit(b->text[i])) return false;
  if (mark && (whole + 1 == b->length || whole == 0)) return false; /* "1." and ".5": ncu writes neither */
  if (!memchr(b->text, group, whole)) return true;
  return is_grouped(b->text, whole, group) && !(whole > 1 && b->text[0] == '0');
}

NcuReading ncu_number_reading(NcuField field) {
  Bare b;
  size_t dot;
  NcuReading reading = {false, false, 0};
  if (!make_bare(field, &b)) return reading;
  for (size_t i = 0; i < b.length; i++)
    if (!ascii_is_digit(b.text[i])) reading.mark = b.text[i];
  reading.by_point = reads(&b, '.', &dot);
  reading.by_comma = reads(&b, ',', &dot);
  return reading;
}

/* Whether a field is one of the words, apart by '|'. */
static bool is_one_of(NcuField field, const char *words) {
  for (const char *at = words;; at++) {
    const size_t length = strcspn(at, "|");
    if (length == field.length && !memcmp(at, field.at, length)) return true;
    at += length;
    if (!*at) return false;
  }
}

bool ncu_number_is_missing(NcuField field) {
  return is_one_of(without_decoration(field),
                   "|n/a|N/A|nan|-nan|NaN|-nan(ind)|nan(ind)|-|none|no value|inf|-inf|NULL|None");
}

static const struct {
  NcuDimension dimension;
  uint64_t times;
  const char *names;
} BASES[] = {
    {NCU_UNIT_BYTE, 1, "byte|bytes|B"},
    {NCU_UNIT_SECTOR, 1, "sector|sectors"},
    {NCU_UNIT_SECOND, 1000000000, "second|seconds|sec|s"},
    {NCU_UNIT_RATIO, 10000, "%|percent|pct"},
    {NCU_UNIT_RATIO, 1000000, "ratio"},
    {NCU_UNIT_COUNT, 1, "|inst|instruction|instructions|register/thread|thread|block|request|conflict|bank|SM|count"},
};

static const struct {
  const char *prefix;
  uint64_t times;
  int tenths;
} PREFIXES[] = {{"", 1, 0},     {"Ki", 1024, 0}, {"Mi", 1048576, 0}, {"Gi", 1073741824, 0}, {"Ti", 1099511627776, 0},
                {"K", 1000, 0}, {"k", 1000, 0},  {"M", 1000000, 0},  {"G", 1000000000, 0},  {"T", 1000000000000, 0},
                {"m", 1, 3},    {"u", 1, 6},     {"n", 1, 9},        {"\xc2\xb5", 1, 6},    {"\xce\xbc", 1, 6},
                {"\xb5", 1, 6}};

/* Takes the end off a field that has more than that; true: it did. */
static bool without_end(NcuField *field, const char *end) {
  const size_t n = strlen(end);
  const bool has_end = field->length > n && !memcmp(field->at + field->length - n, end, n);
  if (has_end) field->length -= n;
  return has_end;
}

bool ncu_unit_parse(NcuField field, NcuUnit *unit) {
  field = ncu_field_trim(field);
  without_end(&field, "/block"); /* shared memory is given per block */
  const bool is_rate = without_end(&field, "/second") || without_end(&field, "/sec") || without_end(&field, "/s");
  for (size_t p = 0; p < COUNT_OF(PREFIXES); p++) {
    const size_t n = strlen(PREFIXES[p].prefix);
    if (field.length < n || memcmp(field.at, PREFIXES[p].prefix, n)) continue;
    const NcuField rest = {field.at + n, field.length - n};
    for (size_t b = 0; b < COUNT_OF(BASES); b++) {
      if (!is_one_of(rest, BASES[b].names) || (n && !rest.length)) continue;
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

bool ncu_count_parse(NcuField field, char decimal, const NcuUnit *unit, NcuCount *count) {
  Bare b;
  size_t dot;
  if (!make_bare(field, &b) || !reads(&b, decimal, &dot)) return false;
  Wide digits = 0;
  int decimals = -b.exponent, n_digits = 0;
  for (size_t i = 0; i < b.length; i++) {
    if (!ascii_is_digit(b.text[i])) continue;
    if (i > dot) decimals++;
    if (digits == 0 && b.text[i] == '0') continue;
    if (++n_digits > MAX_DIGITS) { /* 22255250.000000000000: zeros say nothing; other digits beyond are cut */
      if (i < dot) return false;
      decimals--;
      n_digits--;
      continue;
    }
    digits = 10 * digits + (unsigned)(b.text[i] - '0');
  }
  decimals += unit->tenths;
  Wide value = digits * unit->times, step = unit->times, left = 0;
  for (; decimals < 0; decimals++) {
    if (value > UINT64_MAX) return false;
    value *= 10;
    step = step > UINT64_MAX ? step : step * 10;
  }
  bool has_fraction = false;
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
