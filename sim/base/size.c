#include "sim/base/size.h"

#include "sim/base/checked.h"
#include "sim/base/quote.h"

typedef struct {
  const char *name; /* in lower case */
  int64_t factor;
  bool for_counts;
} Unit;

static const Unit UNITS[] = {
    {"", 1, true},
    {"b", 1, false},
    {"byte", 1, false},
    {"bytes", 1, false},
    {"k", (int64_t)1 << 10, true},
    {"m", (int64_t)1 << 20, true},
    {"g", (int64_t)1 << 30, true},
    {"t", (int64_t)1 << 40, true},
    {"kib", (int64_t)1 << 10, false},
    {"mib", (int64_t)1 << 20, false},
    {"gib", (int64_t)1 << 30, false},
    {"tib", (int64_t)1 << 40, false},
    {"kb", 1000, false},
    {"mb", 1000000, false},
    {"gb", 1000000000, false},
    {"tb", 1000000000000, false},
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

enum { MAX_SIGNIFICANT = 19, MAX_EXPONENT = 400 };

/* The digits of a number, its point and its fraction. Returns the characters taken, 0 on no number
 * or too many digits. Zeros are held back until a digit other than zero follows, so they cost
 * nothing. */
static size_t read_mantissa(const char *text, size_t length, Decimal *decimal) {
  size_t i = 0;
  int n_digits = 0, held_zeros = 0, n_significant = 0, n_fraction = 0;
  bool in_fraction = false;
  decimal->digits = 0;
  for (; i < length && i <= MAX_EXPONENT; i++) {
    if (text[i] == '.' && !in_fraction) {
      in_fraction = true;
      continue;
    }
    if (!is_digit(text[i])) break;
    n_digits++;
    n_fraction += in_fraction;
    if (text[i] == '0') {
      held_zeros += n_significant > 0;
      continue;
    }
    n_significant += held_zeros + 1;
    if (n_significant > MAX_SIGNIFICANT) return 0;
    for (; held_zeros > 0; held_zeros--) decimal->digits *= 10;
    decimal->digits = decimal->digits * 10 + (uint64_t)(text[i] - '0');
  }
  decimal->exponent10 = decimal->digits ? held_zeros - n_fraction : 0;
  return n_digits && i <= MAX_EXPONENT ? i : 0;
}

size_t decimal_read(const char *text, size_t length, Decimal *decimal) {
  size_t i = read_mantissa(text, length, decimal);
  if (i == 0 || i >= length || lower(text[i]) != 'e') return i;
  size_t e = i + 1;
  const bool negative = e < length && text[e] == '-';
  if (e < length && (text[e] == '-' || text[e] == '+')) e++;
  if (e >= length || !is_digit(text[e])) return i; /* an e that is not an exponent is somebody's unit */
  int exponent = 0;
  for (; e < length && is_digit(text[e]); e++) {
    exponent = exponent * 10 + (text[e] - '0');
    if (exponent > MAX_EXPONENT) return 0;
  }
  if (decimal->digits) decimal->exponent10 += negative ? -exponent : exponent;
  return decimal->exponent10 < -MAX_EXPONENT || decimal->exponent10 > MAX_EXPONENT ? 0 : e;
}

double decimal_value(Decimal decimal) {
  double value = (double)decimal.digits, power = 1;
  int n = decimal.exponent10 < 0 ? -decimal.exponent10 : decimal.exponent10;
  for (; n > 22; n -= 22) value = decimal.exponent10 < 0 ? value / 1e22 : value * 1e22;
  for (; n > 0; n--) power *= 10; /* exact up to 1e22 */
  return decimal.exponent10 < 0 ? value / power : value * power;
}

/* digits x 10^exponent10 x factor, as a whole number of at most 2^63 - 1; `rounds` to the nearest, as 5.38 GiB is. */
static Status scale(Decimal decimal, int64_t factor, bool rounds, int64_t *value) {
  bool overflow = false;
  Wide product = checked_mul(decimal.digits, (Wide)factor, &overflow);
  for (int e = decimal.exponent10; e > 0 && product != 0 && !overflow; e--)
    product = checked_mul(product, 10, &overflow);
  if (overflow) return STATUS_TOO_LARGE;
  for (int e = decimal.exponent10; e < 0; e++) {
    if (product % 10 != 0 && !rounds) return STATUS_BAD_REQUEST;
    product = (product + (e == -1 ? 5 : 0)) / 10;
  }
  if (product > INT64_MAX) return STATUS_TOO_LARGE;
  *value = (int64_t)product;
  return STATUS_OK;
}

static const Unit *find_unit(const char *name, size_t length) {
  for (size_t u = 0; u < COUNT_OF(UNITS); u++) {
    if (strlen(UNITS[u].name) != length) continue;
    size_t i = 0;
    while (i < length && lower(name[i]) == UNITS[u].name[i]) i++;
    if (i == length) return &UNITS[u];
  }
  return NULL;
}

/* Says which of the usual slips made `text` no number; *error is filled. */
static Status refuse_number(const char *text, size_t length, const char *what, Error *error) {
  const Quote q = quote(text, length);
  if (length == 0) return error_refuse(error, "an empty text is not a %s; write one such as 4096 or 192K", what);
  if (text[0] == '-')
    return error_refuse(error, "'%s': a %s cannot be negative; write one such as 4096 or 192K", q.text, what);
  if (is_digit(text[0]) || (text[0] == '.' && length > 1 && is_digit(text[1])))
    return error_refuse(error, "'%s': the number is too long; write at most 19 digits that count, such as 1.5M",
                        q.text);
  return error_refuse(error, "'%s' is not a %s: it must begin with a digit, such as 4096 or 192K", q.text, what);
}

static Status refuse_unit(const char *text, size_t length, const char *unit, size_t unit_length, bool counting,
                          Error *error) {
  const Quote q = quote(text, length), u = quote(unit, unit_length);
  if (unit[0] == ',')
    return error_refuse(error, "'%s': no comma in a number; write the decimal sign as a point and no thousands sign",
                        q.text);
  if (counting)
    return error_refuse(error, "'%s': '%s' does not belong to a count; only K, M, G, T (binary: 4K = 4096) may follow",
                        q.text, u.text);
  return error_refuse(error,
                      "'%s': unknown unit '%s'; known are K, M, G, T and KiB ... TiB (binary), kB ... "
                      "TB (decimal), B",
                      q.text, u.text);
}

static Status parse(const char *text, bool counting, int64_t *value, Error *error) {
  const char *what = counting ? "count" : "size";
  size_t length = strlen(text);
  while (length && is_blank(text[length - 1])) length--;
  while (length && is_blank(*text)) text++, length--;

  Decimal decimal;
  const size_t n = decimal_read(text, length, &decimal);
  if (n == 0) return refuse_number(text, length, what, error);
  size_t u = n;
  while (u < length && is_blank(text[u])) u++;
  const Unit *unit = find_unit(text + u, length - u);
  if (!unit || (counting && !unit->for_counts)) return refuse_unit(text, length, text + u, length - u, counting, error);
  const Quote q = quote(text, length);
  if (text[length - 1] == 'b')
    return error_refuse(error, "'%s': a small b may mean bits; write B for bytes, as in 64 KiB or 141 GB", q.text);
  int64_t whole = 0;
  const Status status = scale(decimal, unit->factor, !counting && unit->factor > 1, &whole);
  if (status == STATUS_TOO_LARGE)
    return error_set(error, status, "'%s' is too large: a %s is at most 2^63 - 1, about 9.2e18", q.text, what);
  if (status)
    return error_set(error, status, "'%s' is not a whole number%s; write one that is, such as 1.5K (1536)", q.text,
                     counting ? "" : " of bytes");
  if (counting && whole == 0) return error_refuse(error, "'%s': a count is at least 1", q.text);
  *value = whole;
  return STATUS_OK;
}

Status size_parse(const char *text, int64_t *size_bytes, Error *error) { return parse(text, false, size_bytes, error); }

Status size_parse_count(const char *text, int64_t *count, Error *error) { return parse(text, true, count, error); }
