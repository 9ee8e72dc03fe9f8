#include "viz/text/number.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text_add.h"

enum { SIGNIFICANT = 4, WIDE_DIGITS = 40, SMALL = 3, PREFIXES = 9 };
static const char *const SI[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E", "Z", "Y"}; /* SMALL below one */

/* Appends `tail` to the text; what does not fit is cut. */
static void add(Number *number, const char *tail) { text_add(number->text, sizeof number->text, "%s", tail); }

Number number_text(const char *format, ...) {
  Number number;
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(number.text, sizeof number.text, format, arguments) >= NUMBER_CHARS)
    strcpy(number.text + NUMBER_CHARS - 4, "...");
  va_end(arguments);
  return number;
}

/* The decimal digits of `value`, with a comma before every third from the right if asked for. */
static Number wide_text(Wide value, bool separators) {
  char reversed[WIDE_DIGITS + WIDE_DIGITS / 3];
  int length = 0, n_digits = 0;
  do {
    if (separators && n_digits > 0 && n_digits % 3 == 0) reversed[length++] = ',';
    reversed[length++] = (char)('0' + (int)(value % 10));
    n_digits++;
    value /= 10;
  } while (value > 0);
  Number number = {""};
  for (int i = 0; i < length; i++) number.text[i] = reversed[length - 1 - i];
  return number;
}

Number number_count(Wide count) { return wide_text(count, true); }
Number number_digits(Wide count) { return wide_text(count, false); }

Number number_of(Wide count, const char *what) {
  return number_text("%s %s%s", number_count(count).text, what, count == 1 ? "" : "s");
}

/* Drops the zeros at the end of a fraction: "1.500" becomes "1.5", "2.0" becomes "2". Those of an exponent stay. */
static void trim_zeros(Number *number) {
  if (!strchr(number->text, '.') || strchr(number->text, 'e')) return;
  size_t length = strlen(number->text);
  while (number->text[length - 1] == '0') length--;
  if (number->text[length - 1] == '.') length--;
  number->text[length] = '\0';
}

/* whole + remainder / unit, rounded to four significant digits in integer arithmetic. Returns false
 * if it rounds up to `limit` or more, so that the caller takes the next unit. Needs unit <= 2^80,
 * so that remainder * 1000 fits. */
static bool scaled_text(Wide whole, Wide remainder, Wide unit, Wide limit, Number *number) {
  int decimals = whole >= 1000 ? 0 : whole >= 100 ? 1 : whole >= 10 ? 2 : 3;
  Wide power = 1;
  for (int i = 0; i < decimals; i++) power *= 10;
  Wide numerator = remainder * power;
  bool exact = numerator % unit == 0;
  Wide digits = (numerator + unit / 2) / unit; /* the decimals as one integer, 0 to power */
  Wide rounded = whole + digits / power;
  digits %= power;
  if (rounded >= limit) return false;
  /* 9.9996 became 10.000: one digit fewer. The lost digit is a zero. */
  if (decimals > 0 && rounded != whole && (rounded == 10 || rounded == 100 || rounded == 1000)) decimals--;
  *number = rounded < 10000 ? number_digits(rounded) : number_count(rounded);
  if (decimals > 0) *number = number_text("%s.%0*d", number->text, decimals, (int)digits);
  if (exact) trim_zeros(number);
  return true;
}

/* The largest prefix whose rounded value is below `base` wins; the last one takes whatever is left. */
static Number in_units(Wide value, Wide base, const char *const prefixes[PREFIXES], const char *unit) {
  Wide size = 1;
  for (int i = 0;; i++, size *= base) {
    const bool last = i == PREFIXES - 1;
    Number number;
    if (!last && value / size >= base) continue;
    if (scaled_text(value / size, value % size, size, last ? ~(Wide)0 : base, &number))
      return number_text("%s %s%s", number.text, prefixes[i], unit);
  }
}

Number number_bytes(Wide bytes) {
  static const char *const BINARY[PREFIXES] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"};
  return in_units(bytes, 1024, BINARY, "B");
}

Number number_bytes_decimal(Wide bytes) { return in_units(bytes, 1000, SI + SMALL, "B"); }
Number number_flops(Wide flops) { return in_units(flops, 1000, SI + SMALL, "FLOP"); }
Number number_bytes_exact(Wide bytes) { return number_text("%s B", number_count(bytes).text); }

Number number_tokens(Wide tokens) {
  static const char *const units[] = {"", "K", "M", "G", "T"};
  Wide unit = (Wide)1 << 40;
  for (int i = 4; i > 0; i--, unit >>= 10) {
    /* Exact to one decimal: a half is the only tenth that is a whole number of binary pieces. */
    if (tokens < unit || tokens % (unit / 2) != 0) continue;
    if (tokens / unit >= 10000) break;
    return number_text("%s%s%s", number_digits(tokens / unit).text, tokens % unit ? ".5" : "", units[i]);
  }
  return number_count(tokens);
}

/* The first n significant decimal digits of |value| and its power of ten, free of the locale's
 * decimal sign: |value| ~ 0.DIGITS * 10^point. Needs a finite value and 1 <= n <= 17. */
typedef struct {
  char digits[20];
  int point;
} Decimal;

static Decimal decimal_of(double value, int n) {
  char text[64];
  snprintf(text, sizeof text, "%.*e", n - 1, fabs(value));
  Decimal decimal = {"", 0};
  int length = 0;
  const char *p = text;
  for (; *p && *p != 'e'; p++)
    if (*p >= '0' && *p <= '9' && length < n) decimal.digits[length++] = *p;
  if (*p == 'e') decimal.point = (int)strtol(p + 1, NULL, 10) + 1;
  return decimal;
}

/* Digits in plain notation with separators in the whole part. */
static Number decimal_text(const Decimal *decimal, bool negative) {
  Number number = number_text("%s", negative ? "-" : "");
  int n = (int)strlen(decimal->digits);
  int whole = decimal->point > 0 ? decimal->point : 1;
  for (int i = 0; i < whole; i++) {
    char digit[2] = {decimal->point > 0 && i < n ? decimal->digits[i] : '0', '\0'};
    if (i > 0 && (whole - i) % 3 == 0) add(&number, ",");
    add(&number, digit);
  }
  if (n <= decimal->point) return number;
  add(&number, ".");
  for (int i = decimal->point; i < 0; i++) add(&number, "0");
  add(&number, decimal->digits + (decimal->point > 0 ? decimal->point : 0));
  return number;
}

/* Answers values that have no digits. */
static bool is_special(double value, Number *number) {
  if (isnan(value)) return *number = number_text("n/a"), true;
  if (isinf(value)) return *number = number_text("%s", value < 0 ? "-inf" : "inf"), true;
  return false;
}

Number number_double(double value, int digits) {
  Number number;
  if (is_special(value, &number)) return number;
  if (digits < 1) digits = 1;
  if (digits > 17) digits = 17;
  Decimal decimal = decimal_of(value, digits);
  bool negative = value < 0;
  if (value == 0) return number_text("0");
  if (decimal.point > -4 && decimal.point <= 9) return decimal_text(&decimal, negative);
  Decimal mantissa = decimal;
  mantissa.point = 1;
  return number_text("%se%+03d", decimal_text(&mantissa, negative).text, decimal.point - 1);
}

Number number_exact_double(double value) {
  if (isnan(value)) return number_text("nan");
  if (isinf(value)) return number_text("%s", value < 0 ? "-inf" : "inf");
  if (value == floor(value) && fabs(value) < 0x1p53) return number_text("%.0f", value); /* 120 and not 1.2e+02 */
  char text[64] = "";
  /* 15 come back as they were, so where they are enough the fewest are those without zeros behind; not so near 0 */
  int digits = fabs(value) < DBL_MIN ? 1 : 15;
  for (; digits < 17; digits++) {
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    if (strtod(text, NULL) == value) break;
  }
  for (const char *last = strchr(text, 'e') - 1; digits > 1 && digits < 16 && *last == '0'; last--) digits--;
  snprintf(text, sizeof text, "%.*g", digits, value);
  for (char *p = text; *p; p++)
    if (!strchr("0123456789+-e.", *p)) *p = '.'; /* the locale's decimal sign */
  return number_text("%s", text);
}

/* In full, with its sign; below 10^38. */
static Number rounded(double value) {
  return number_text("%s%s", value < 0 ? "-" : "", number_count((Wide)round(fabs(value))).text);
}

Number number_trimmed(double value, int digits) {
  Number number = number_double(value, digits);
  trim_zeros(&number);
  return number;
}

Number number_ratio(double ratio) {
  Number number;
  if (is_special(ratio, &number)) return number;
  const Decimal decimal = decimal_of(ratio, 3);
  if (ratio != 0 && decimal.point > -3 && decimal.point <= 3)
    number = decimal_text(&decimal, ratio < 0);
  else if (decimal.point > 3 && fabs(ratio) < 1e15)
    number = rounded(ratio);
  else
    number = number_double(ratio, 3);
  return number_text("%sx", number.text);
}

Number number_ratio_of(Wide a, Wide b) {
  if (b == 0) return number_text("%s", a == 0 ? "n/a" : "inf");
  return number_ratio((double)a / (double)b);
}

Number number_percent(double fraction) {
  Number number;
  if (is_special(fraction, &number)) return number;
  if (fraction == 0) return number_text("0%%");
  if (fraction == 1) return number_text("100%%");
  if (fraction > 0 && fraction < 0.0005) return number_text("<0.1%%");
  if (fraction < 1 && fraction >= 0.9995) return number_text(">99.9%%");
  /* One decimal: tenths of a percent as an integer, with halves away from zero. */
  const double tenths = round(fabs(fraction) * 1000);
  if (tenths > 1e15) return number_text("%s%%", number_double(fraction * 100, SIGNIFICANT).text);
  return number_text("%s%s.%d%%", fraction < 0 ? "-" : "", number_count((Wide)tenths / 10).text,
                     (int)((Wide)tenths % 10));
}

/* value * 10^(3 * k) with the best of the prefixes up to k = last. */
static Number prefixed(double value, int last, const char *unit) {
  Decimal decimal = decimal_of(value, SIGNIFICANT);
  int power = decimal.point - 1; /* of the leading digit */
  int k = value == 0 ? 0 : power >= 0 ? power / 3 : -((2 - power) / 3);
  if (k < -SMALL) k = -SMALL;
  if (k > last) k = last;
  decimal.point -= 3 * k;
  /* Outside the prefixes: plain digits while they stay short, else powers of ten. */
  Number number = decimal.point > -4 && decimal.point <= 9 ? decimal_text(&decimal, value < 0)
                                                           : number_double(value / pow(10, 3 * k), SIGNIFICANT);
  trim_zeros(&number);
  const bool is_plain = !*SI[k + SMALL] && !*unit;
  return number_text("%s%s%s%.16s", number.text, is_plain ? "" : " ", SI[k + SMALL], unit);
}

Number number_si(double value, const char *unit) {
  Number number;
  return is_special(value, &number) ? number : prefixed(value, PREFIXES - 1, unit);
}

Number number_seconds(double seconds) {
  Number number;
  if (is_special(seconds, &number)) return number;
  if (fabs(seconds) >= 999.95 && fabs(seconds) < 1e15) return number_text("%s s", rounded(seconds).text);
  return prefixed(seconds, 0, "s");
}
