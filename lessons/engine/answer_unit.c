/* Units of answers. Part of lessons/engine/answer.h. */
#include <math.h>

#include "lessons/engine/answer.h"
#include "sim/base/ascii.h"
#include "sim/base/quote.h"

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
