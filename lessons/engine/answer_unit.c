/* Units of answers. Part of lessons/engine/answer.h. */
#include <stdio.h>
#include <string.h>

#include "lessons/engine/answer.h"
#include "sim/base/ascii.h"
#include "sim/base/quote.h"

typedef struct {
  const char *name;
  AnswerDimension dimension;
} Base;

/* The longest that fits wins, so "bytes/s" stands before "bytes". */
static const Base BASES[] = {
    {"bytes per second", ANSWER_BYTES_PER_S},
    {"bytes/s", ANSWER_BYTES_PER_S},
    {"FLOP per byte", ANSWER_FLOP_PER_BYTE},
    {"FLOPs per byte", ANSWER_FLOP_PER_BYTE},
    {"FLOP/byte", ANSWER_FLOP_PER_BYTE},
    {"FLOPs/byte", ANSWER_FLOP_PER_BYTE},
    {"FLOP/s", ANSWER_FLOP_PER_S},
    {"FLOPs/s", ANSWER_FLOP_PER_S},
    {"FLOP/B", ANSWER_FLOP_PER_BYTE},
    {"FLOPs/B", ANSWER_FLOP_PER_BYTE},
    {"FLOPs", ANSWER_FLOP}, /* of any other case, but for the next */
    {"FLOPS", ANSWER_FLOP_PER_S},
    {"FLOP", ANSWER_FLOP},
    {"B/s", ANSWER_BYTES_PER_S},
    {"bytes", ANSWER_BYTES},
    {"byte", ANSWER_BYTES},
    {"B", ANSWER_BYTES},
    {"seconds", ANSWER_SECONDS},
    {"second", ANSWER_SECONDS},
    {"sec", ANSWER_SECONDS},
    {"s", ANSWER_SECONDS},
};
enum { N_BASES = sizeof BASES / sizeof *BASES };

typedef struct {
  const char *name;
  double factor, sister;
} Prefix;

static const Prefix PREFIXES[] = {
    {"", 1, 0},
    {"k", 1e3, 1024},
    {"K", 1e3, 1024},
    {"M", 1e6, 1048576},
    {"G", 1e9, 1073741824},
    {"T", 1e12, 1099511627776},
    {"P", 1e15, 1125899906842624},
    {"E", 1e18, 1152921504606846976},
    {"Ki", 1024, 1e3},
    {"Mi", 1048576, 1e6},
    {"Gi", 1073741824, 1e9},
    {"Ti", 1099511627776, 1e12},
    {"Pi", 1125899906842624, 1e15},
    {"kibi", 1024, 1e3},
    {"mebi", 1048576, 1e6},
    {"gibi", 1073741824, 1e9},
    {"kilo", 1e3, 1024},
    {"mega", 1e6, 1048576},
    {"giga", 1e9, 1073741824},
    {"tera", 1e12, 1099511627776},
    {"m", 1e-3, 0},
    {"u", 1e-6, 0},
    {"n", 1e-9, 0},
    {"milli", 1e-3, 0},
    {"micro", 1e-6, 0},
    {"nano", 1e-9, 0},
};
enum { N_PREFIXES = sizeof PREFIXES / sizeof *PREFIXES };

static bool same(const char *a, const char *b, size_t n, bool any_case) {
  return any_case ? ascii_same_n(a, b, n) : strncmp(a, b, n) == 0;
}

/* Small prefixes go with seconds alone, and seconds with no others: nobody means a megasecond. */
static bool go_together(const Prefix *prefix, const Base *base) {
  const bool small = prefix->factor < 1, plain = prefix->factor == 1;
  if (base->dimension == ANSWER_SECONDS) return small || plain;
  if (*base->name == 'b') return plain || (strlen(prefix->name) > 2 && !small); /* "megabytes", not "Mbytes" */
  return !small;
}

static bool find(const char *text, bool any_case, AnswerUnit *unit) {
  const size_t length = strlen(text);
  for (int p = 0; p < N_PREFIXES; p++)
    for (int b = 0; b < N_BASES; b++) {
      const size_t n = strlen(PREFIXES[p].name), m = strlen(BASES[b].name);
      if (n + m != length || !go_together(&PREFIXES[p], &BASES[b])) continue;
      if (!same(text, PREFIXES[p].name, n, any_case) || !same(text + n, BASES[b].name, m, any_case)) continue;
      unit->dimension = BASES[b].dimension;
      unit->factor = PREFIXES[p].factor;
      unit->sister = unit->dimension == ANSWER_BYTES || unit->dimension == ANSWER_BYTES_PER_S ? PREFIXES[p].sister : 0;
      return true;
    }
  return false;
}

static bool is_share(const char *text, AnswerUnit *unit) {
  static const struct {
    const char *name;
    double factor;
  } SHARES[] = {{"%", 0.01},  {"percent", 0.01}, {"per cent", 0.01}, {"x", 1},          {"X", 1},      {"times", 1},
                {"-fold", 1}, {"fold", 1},       {"times less", 1},  {"times more", 1}, {"x less", 1}, {"x more", 1}};
  for (size_t k = 0; k < sizeof SHARES / sizeof *SHARES; k++) {
    if (strcmp(SHARES[k].name, text) != 0) continue;
    unit->dimension = ANSWER_SHARE;
    unit->factor = SHARES[k].factor;
    return true;
  }
  return false;
}

/* "Mb", "Gbit", "kbps": bits, which nobody is asked for here. */
static bool is_bits(const char *text) {
  const size_t length = strlen(text);
  if (length == 2 && strchr("kKMGT", text[0]) && text[1] == 'b') return true;
  if (length == 3 && strchr("KMGT", text[0]) && text[1] == 'i' && text[2] == 'b') return true;
  const size_t prefix = length && strchr("kKMGT", text[0]) ? 1 : 0;
  const char *rest = text + prefix;
  return strcmp(rest, "bit") == 0 || strcmp(rest, "bits") == 0 || strcmp(rest, "bps") == 0 || strcmp(rest, "b/s") == 0;
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
  const bool known = length == 0 || find(text, false, &u) || is_share(text, &u) || find(text, true, &u);
  for (size_t k = 0; !known && k < length; k++)
    if (!ascii_is_alpha(text[k]) && text[k] != ' ' && text[k] != '-' && text[k] != '_')
      return error_refuse(error, "'%s' is no unit that is known here", quote(text, length).text);
  *unit = u;
  return STATUS_OK;
}
