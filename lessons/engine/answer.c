#include "lessons/engine/answer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lessons/engine/quantity.h"
#include "sim/base/ascii.h"
#include "sim/base/quote.h"
#include "sim/base/size.h"

enum { EXACT_DIGITS = 99 };

/* ---- Cleaning: blanks and signs of other keyboards become ASCII */

typedef struct {
  const char *from, *to;
} Spelling;

static const Spelling SPELLINGS[] = {
    {"\xC2\xA0", " "},   {"\xE2\x80\x89", " "}, {"\xE2\x80\xAF", " "}, {"\xE2\x88\x92", "-"}, {"\xE2\x80\x93", "-"},
    {"\xC3\x97", "x"},   {"\xC2\xB7", "*"},     {"\xC2\xB5", "u"},     {"\xCE\xBC", "u"},     {"\xE2\x89\x88", "~"},
    {"\xC2\xBD", "1/2"}, {"\xC2\xBC", "1/4"},   {"\xC2\xBE", "3/4"},   {"\xE2\x80\x99", "'"}, {"\t", " "},
};

static Status clean(const char *text, size_t length, char *out, size_t size, Error *error) {
  size_t used = 0;
  for (size_t k = 0; k < length;) {
    const size_t n = utf8_sequence((const unsigned char *)text + k, length - k);
    if (n == 0 || (utf8_is_unsafe((const unsigned char *)text + k) && text[k] != '\t'))
      return error_refuse(error, "there are characters in it that no keyboard types; write it again");
    const char *put = text + k;
    size_t put_bytes = n;
    for (size_t s = 0; s < sizeof SPELLINGS / sizeof *SPELLINGS; s++)
      if (strlen(SPELLINGS[s].from) == n && memcmp(SPELLINGS[s].from, text + k, n) == 0) {
        put = SPELLINGS[s].to;
        put_bytes = strlen(put);
      }
    if (used + put_bytes + 1 > size)
      return error_refuse(error, "that is a long answer; write a number of at most %d characters", (int)size - 1);
    memcpy(out + used, put, put_bytes);
    used += put_bytes;
    k += n;
  }
  while (used && out[used - 1] == ' ') used--;
  out[used] = '\0';
  return STATUS_OK;
}

static const char *skip_blanks(const char *p) {
  while (*p == ' ') p++;
  return p;
}

/* ---- Numbers with separators */

typedef struct {
  double value;
  int digits;
  double slack;
} Number;

static void note(Answer *a, bool if_wrong, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void note(Answer *a, bool if_wrong, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(a->note, sizeof a->note, format, arguments);
  va_end(arguments);
  a->note_if_wrong = if_wrong;
}

/* Whether text[0..length) is digits in groups of three behind a first group of one to three. */
static bool is_grouped(const char *text, size_t length, char separator) {
  size_t run = 0, groups = 0;
  for (size_t k = 0; k <= length; k++) {
    if (k < length && ascii_is_digit(text[k])) {
      run++;
      continue;
    }
    if (k < length && text[k] != separator) return false;
    if (groups == 0 ? run < 1 || run > 3 : run != 3) return false;
    groups++;
    run = 0;
  }
  return groups > 1 && text[0] != '0';
}

static size_t count(const char *text, size_t length, char c) {
  size_t n = 0;
  for (size_t k = 0; k < length; k++) n += text[k] == c;
  return n;
}

/* How far the digits and separators reach. A blank belongs only between a digit and three more. */
static size_t number_length(const char *p) {
  size_t n = 0;
  for (;; n++) {
    const char c = p[n];
    if (ascii_is_digit(c)) continue;
    const bool digit_next = ascii_is_digit(p[n + (c != '\0')]) != 0;
    if (c == '.' && (digit_next || n > 0)) continue;
    if ((c == ',' || c == '_' || c == '\'') && n > 0 && digit_next) continue;
    if (c == ' ' && n > 0 && ascii_is_digit(p[n - 1]) && digit_next && ascii_is_digit(p[n + 2]) &&
        ascii_is_digit(p[n + 3]) && !ascii_is_digit(p[n + 4]))
      continue;
    return n;
  }
}

/* Decides what is the decimal sign and what groups digits. */
static Status find_decimal_sign(Answer *a, const char *text, size_t length, char *sign, Error *error) {
  const size_t commas = count(text, length, ','), dots = count(text, length, '.');
  const char *const comma = memchr(text, ',', length), *const dot = memchr(text, '.', length);
  const Quote shown = quote(text, length);
  *sign = '.';
  if (commas == 0 && dots <= 1) return STATUS_OK;
  if (commas == 0) {
    if (is_grouped(text, length, '.'))
      return error_refuse(error,
                          "points group the digits of '%s', but a point is the decimal sign here; "
                          "write the digits without separators",
                          shown.text);
    return error_refuse(error, "'%s' has more than one decimal point", shown.text);
  }
  if (dots == 0 && is_grouped(text, length, ',')) {
    if (commas == 1)
      note(a, true,
           "Read as %.*s%s: a comma before three digits groups thousands. For a decimal number, "
           "write a point.",
           (int)(comma - text), text, comma + 1 < text + length ? quote(comma + 1, 3).text : "");
    return STATUS_OK;
  }
  if (commas == 1 && (dots == 0 || (comma > dot && is_grouped(text, (size_t)(comma - text), '.')))) {
    *sign = ',';
    note(a, false, "The comma in %s was read as the decimal sign; Tilewalk writes a point.", shown.text);
    return STATUS_OK;
  }
  if (dots == 1 && dot > comma && is_grouped(text, (size_t)(dot - text), ',')) return STATUS_OK;
  return error_refuse(error,
                      "it is not clear what the commas in '%s' mean; write the digits without "
                      "separators, and a point as the decimal sign",
                      shown.text);
}

/* The exponent behind the digits, "e6" or "E-3"; not the E of "EB". */
static size_t exponent_length(const char *p) {
  if (*p != 'e' && *p != 'E') return 0;
  size_t n = p[1] == '+' || p[1] == '-' ? 2 : 1;
  const size_t digits = strspn(p + n, "0123456789");
  return digits ? n + digits : 0;
}

static Status read_number(Answer *a, const char **p, Number *number, Error *error) {
  const char *const text = *p;
  const size_t length = number_length(text);
  if (length == 0 || !strpbrk(text, "0123456789"))
    return error_refuse(error, "there is no number at '%s'", quote_text(text).text);
  char sign;
  if (find_decimal_sign(a, text, length, &sign, error)) return STATUS_BAD_REQUEST;
  char digits[2 * ANSWER_TEXT_BYTES];
  size_t used = 0;
  int significant = 0, decimals = 0;
  bool behind = false;
  for (size_t k = 0; k < length; k++) {
    const bool digit = ascii_is_digit(text[k]) != 0;
    if (!digit && text[k] != sign) continue;
    digits[used++] = digit ? text[k] : '.';
    behind = behind || !digit;
    decimals += digit && behind;
    significant += digit && (significant > 0 || text[k] != '0');
  }
  const size_t exponent = exponent_length(text + length);
  memcpy(digits + used, text + length, exponent);
  used += exponent;
  if (used && digits[used - 1] == '.') used--; /* the end of a sentence */
  digits[used] = '\0';
  Decimal decimal;
  if (used == 0 || decimal_read(digits, used, &decimal) != used)
    return error_refuse(error, "'%s' has more digits, or a larger exponent, than can matter",
                        quote(text, length + exponent).text);
  *number = (Number){.value = decimal_value(decimal), .digits = significant ? significant : 1};
  number->slack = 0.5 * pow(10, (exponent ? atoi(text + length + 1) : 0) - decimals);
  *p = text + length + exponent;
  return STATUS_OK;
}

/* ---- Products, powers and one fraction */

static Status read_power(Answer *a, const char **p, Number *n, Error *error) {
  Status status = read_number(a, p, n, error);
  if (status || **p != '^') return status;
  const char *q = *p + 1;
  const bool negative = *q == '-';
  q += negative;
  const size_t length = strspn(q, "0123456789");
  if (length == 0 || length > 3) return error_refuse(error, "behind '^' must stand a whole exponent, as in 2^20");
  int exponent = 0;
  for (size_t k = 0; k < length; k++) exponent = 10 * exponent + (q[k] - '0');
  *n = (Number){pow(n->value, negative ? -exponent : exponent), EXACT_DIGITS, 0};
  *p = q + length;
  return STATUS_OK;
}

/* "4 x 1024", "6.7 * 10^7". The digits are those of the factor that has fewest. */
static Status read_product(Answer *a, const char **p, Number *n, Error *error) {
  Status status = read_power(a, p, n, error);
  while (!status) {
    const char *q = skip_blanks(*p);
    if (*q != '*' && *q != 'x') break;
    q = skip_blanks(q + 1);
    if (!ascii_is_digit(*q) && *q != '.') break;
    Number other;
    status = read_power(a, &q, &other, error);
    if (status) break;
    n->slack = n->slack * other.value + other.slack * n->value;
    if (other.digits < n->digits) n->digits = other.digits;
    n->value *= other.value;
    a->is_fraction = true; /* worked out, not measured: exact below */
    *p = q;
  }
  return status;
}

static bool is_all_whole(const char *from, const char *to) { return strcspn(from, ".eE") >= (size_t)(to - from); }

static Status read_value(Answer *a, const char **p, Error *error) {
  const char *const begin = *p;
  Number n;
  Status status = read_product(a, p, &n, error);
  if (status) return status;
  const char *q = skip_blanks(*p);
  const bool divides = *q == '/' && (ascii_is_digit(*skip_blanks(q + 1)) != 0);
  if (divides) {
    q = skip_blanks(q + 1);
    Number below;
    status = read_product(a, &q, &below, error);
    if (status) return status;
    if (below.value == 0) return error_refuse(error, "nothing can be divided by 0");
    n.value /= below.value;
    a->is_fraction = true;
    *p = q;
  }
  if (!isfinite(n.value) || !isfinite(n.slack)) return error_refuse(error, "the number is too large for an answer");
  /* whole numbers multiplied or divided are exact; where a decimal took part its digits count */
  if (a->is_fraction && is_all_whole(begin, *p)) n.digits = EXACT_DIGITS, n.slack = 0;
  if (!is_all_whole(begin, *p)) a->is_fraction = false;
  a->number = n.value;
  a->digits = n.digits;
  a->slack = n.slack;
  return STATUS_OK;
}

/* ---- Units */

/* Names of one thing stand with a line between two. */
static const struct {
  const char *names;
  AnswerDimension dimension;
  double factor;
} BASES[] = {
    {"bytes per second|bytes/s|B/s", ANSWER_BYTES_PER_S, 1},
    {"FLOP per byte|FLOPs per byte|FLOP/byte|FLOPs/byte|FLOP/B|FLOPs/B", ANSWER_FLOP_PER_BYTE, 1},
    {"FLOP/s|FLOPs/s", ANSWER_FLOP_PER_S, 1},
    {"FLOPs|FLOP", ANSWER_FLOP, 1}, /* of any other case, but for the next */
    {"FLOPS", ANSWER_FLOP_PER_S, 1},
    {"bytes|byte|B", ANSWER_BYTES, 1},
    {"seconds|second|sec|s", ANSWER_SECONDS, 1},
    {"%|percent|per cent", ANSWER_SHARE, 0.01}, /* this and the next: in no other case, and with no prefix */
    {"x|X|times|-fold|fold|times less|times more|x less|x more", ANSWER_SHARE, 1},
};
enum { N_BASES = sizeof BASES / sizeof *BASES };

/* A row counts in steps of 1,000 and of 1,024; from the fourth on, which is 1, down and up. */
static const char *const PREFIXES[][2] = {
    {"n|nano", NULL},      {"u|micro", NULL},     {"m|milli", NULL}, {"", NULL},  {"k|K|kilo", "Ki|kibi"},
    {"M|mega", "Mi|mebi"}, {"G|giga", "Gi|gibi"}, {"T|tera", "Ti"},  {"P", "Pi"}, {"E", NULL}};
enum { N_PREFIXES = sizeof PREFIXES / sizeof *PREFIXES, PLAIN = 3 };

static bool is_one_of(const char *text, size_t length, const char *names, bool any_case) {
  for (const char *p = names; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
    if (strcspn(p, "|") == length && (any_case ? ascii_same_n(text, p, length) : strncmp(text, p, length) == 0))
      return true;
  return false;
}

/* Small prefixes go with seconds alone, and seconds with no others: nobody means a megasecond. `n`: letters of the
 * prefix. */
static bool go_together(int prefix, size_t n, AnswerDimension dimension, const char *base) {
  if (dimension == ANSWER_SHARE) return prefix == PLAIN;
  if (dimension == ANSWER_SECONDS) return prefix <= PLAIN;
  if (ascii_same_n(base, "by", 2)) return prefix == PLAIN || (n > 2 && prefix > PLAIN); /* "megabytes" */
  return prefix >= PLAIN;
}

static bool find(const char *text, bool any_case, AnswerUnit *unit) {
  for (size_t n = 0, length = strlen(text); n < length; n++)
    for (int p = 0; p < 2 * N_PREFIXES; p++)
      for (int b = 0; b < N_BASES; b++) {
        const char *prefix = PREFIXES[p / 2][p % 2];
        const AnswerDimension dimension = BASES[b].dimension;
        if (!prefix || (any_case && dimension == ANSWER_SHARE) || !is_one_of(text, n, prefix, any_case) ||
            !go_together(p / 2, n, dimension, text + n) || !is_one_of(text + n, length - n, BASES[b].names, any_case))
          continue;
        const bool has_sister = p / 2 > PLAIN && (dimension == ANSWER_BYTES || dimension == ANSWER_BYTES_PER_S);
        unit->dimension = dimension;
        unit->factor = BASES[b].factor * pow(p % 2 ? 1024 : 1000, p / 2 - PLAIN);
        unit->sister = has_sister ? pow(p % 2 ? 1000 : 1024, p / 2 - PLAIN) : 0;
        return true;
      }
  return false;
}

/* "Mb", "Gbit", "kbps": bits, which nobody is asked for here. */
static bool is_bits(const char *text) {
  const bool scales = *text && strchr("kKMGT", *text);
  const char *names = !scales ? "bit|bits|bps|b/s" : *text == 'k' ? "b|bit|bits|bps|b/s" : "b|ib|bit|bits|bps|b/s";
  return is_one_of(text + scales, strlen(text + scales), names, false);
}

Status answer_unit(const char *text, AnswerUnit *unit, Error *error) {
  AnswerUnit u = {.factor = 1};
  const size_t length = strlen(text);
  if (length >= ANSWER_UNIT_BYTES)
    return error_refuse(error, "'%s' is too long for a unit; write the number and its unit alone",
                        quote(text, length).text);
  memcpy(u.name, text, length + 1);
  if (is_bits(text))
    return error_refuse(error, "'%s' would be bits; write bytes with a capital B, such as MB or MiB", text);
  const bool known = length == 0 || find(text, false, &u) || find(text, true, &u);
  for (size_t k = 0; !known && k < length; k++)
    if (!ascii_is_alpha(text[k]) && text[k] != ' ' && text[k] != '-' && text[k] != '_')
      return error_refuse(error, "'%s' is no unit that is known here", quote(text, length).text);
  *unit = u;
  return STATUS_OK;
}

/* ---- The whole answer */

static Status refuse_words(const char *text, Error *error) {
  static const char *const NUMBER_WORDS[] = {"one",  "two",     "three", "four",  "five", "six",  "seven",  "eight",
                                             "nine", "ten",     "twen",  "thir",  "fort", "fift", "hund",   "thou",
                                             "half", "quarter", "doub",  "twice", "zero", "none", "a third"};
  for (size_t k = 0; k < sizeof NUMBER_WORDS / sizeof *NUMBER_WORDS; k++)
    if (ascii_same_n(text, NUMBER_WORDS[k], strlen(NUMBER_WORDS[k])))
      return error_refuse(error, "'%s' may be right, but write it in digits, such as 64, 1/2 or 2x",
                          quote_text(text).text);
  if (ascii_same_n(text, "inf", 3) || ascii_same_n(text, "nan", 3))
    return error_refuse(error, "the answer is a finite number; write it in digits");
  return error_refuse(error, "'%s' is not a number; write one such as 64, 64 MiB, 50%% or 1/2", quote_text(text).text);
}

/* "1.5 million", "2 thousand bytes", "4K": a factor between number and unit. */
static const char *read_magnitude(Answer *a, const char *p) {
  static const struct {
    const char *name;
    double factor;
  } MAGNITUDES[] = {{"thousand", 1e3}, {"million", 1e6}, {"billion", 1e9}, {"trillion", 1e12},
                    {"K", 1024},       {"k", 1024},      {"M", 1048576},   {"G", 1073741824}};
  for (size_t k = 0; k < sizeof MAGNITUDES / sizeof *MAGNITUDES; k++) {
    const size_t n = strlen(MAGNITUDES[k].name);
    if (strncmp(p, MAGNITUDES[k].name, n) != 0 || (p[n] != '\0' && p[n] != ' ')) continue;
    a->number *= MAGNITUDES[k].factor;
    a->slack *= MAGNITUDES[k].factor;
    if (n == 1) {
      char number[64];
      quantity_number(MAGNITUDES[k].factor, number, sizeof number);
      note(a, true, "%s was read as %s, as everywhere in Tilewalk.", MAGNITUDES[k].name, number);
    }
    return skip_blanks(p + n);
  }
  return p;
}

static Status check_rest(const char *p, Error *error) {
  if (strspn(p, "+-") && strcmp(p, "-fold") != 0)
    return error_refuse(error, "that is a sum or a range; write a single number");
  if (strspn(p, "^*/=(<>"))
    return error_refuse(error, "'%s' is not understood here; work it out and write a single number",
                        quote_text(p).text);
  if (strspn(p, "0123456789.,;"))
    return error_refuse(error, "two numbers stand there; write one (1.5 or 3/2, not 1 1/2)");
  return STATUS_OK;
}

Status answer_parse(const char *text, size_t length, Answer *answer, Error *error) {
  Answer a = {0};
  char cleaned[ANSWER_TEXT_BYTES];
  Status status = clean(text, length, cleaned, sizeof cleaned, error);
  if (status) return status;
  const char *p = skip_blanks(cleaned);
  if (*p == '~' || *p == '=') p = skip_blanks(p + 1);
  if (!*p) return error_refuse(error, "nothing is written there; write a number");
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') p = skip_blanks(p + 1);
  const bool starts = ascii_is_digit(*p) || (*p == '.' && ascii_is_digit(p[1]));
  if (!starts) return refuse_words(p, error);
  if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && ascii_is_hex(p[2]))
    return error_refuse(error, "hexadecimal numbers are not read; write decimal digits");
  status = read_value(&a, &p, error);
  if (status) return status;
  p = read_magnitude(&a, skip_blanks(p));
  if (*p == '.' && p[1] == '\0') p++;
  status = check_rest(p, error);
  if (!status) status = answer_unit(p, &a.unit, error);
  if (status) return status;
  if (negative) a.number = -a.number;
  if (!isfinite(a.number * (*a.unit.name ? a.unit.factor : 1)))
    return error_refuse(error, "the number is too large for an answer");
  *answer = a;
  return STATUS_OK;
}
