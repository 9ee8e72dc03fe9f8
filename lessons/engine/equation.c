#include "lessons/engine/equation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/ascii.h"

enum { DEPTH_MAX = 20 };

/* ---- The value of [p, end) */

typedef struct {
  const char *p, *end;
  int depth, n_operators;
  bool failed;
} Sum;

static double sum(Sum *s);

static void skip_blanks(Sum *s) {
  while (s->p < s->end && *s->p == ' ') s->p++;
}

static bool take(Sum *s, const char *signs) {
  skip_blanks(s);
  if (s->p == s->end || !*s->p || !strchr(signs, *s->p)) return false;
  s->p++;
  return true;
}

/* 1,024.5; with its percent sign. `slack`: half of one in its last digit. */
static double number(const char **at, const char *end, double *slack) {
  double value = 0, unit = 1;
  bool behind = false;
  const char *p = *at;
  for (; p < end; p++) {
    const bool groups = *p == ',' && !behind && end - p > 3 && ascii_is_digit((unsigned char)p[1]);
    if (ascii_is_digit((unsigned char)*p)) {
      value = 10 * value + (*p - '0');
      if (behind) unit /= 10;
    } else if (*p == '.' && !behind && p + 1 < end && ascii_is_digit((unsigned char)p[1])) {
      behind = true;
    } else if (!groups) {
      break;
    }
  }
  const char *percent = p;
  double scale = 1;
  while (percent < end && *percent == ' ') percent++;
  if (percent < end && *percent == '%') p = percent + 1, scale = 0.01;
  *at = p;
  *slack = 0.5 * unit * scale;
  return value * unit * scale;
}

static double atom(Sum *s) {
  double slack;
  if (take(s, "(")) {
    if (++s->depth > DEPTH_MAX) s->failed = true;
    const double value = s->failed ? 0 : sum(s);
    s->depth--;
    if (!take(s, ")")) s->failed = true;
    return value;
  }
  if (take(s, "-")) return -atom(s);
  if (take(s, "e")) return 2.718281828459045;
  skip_blanks(s);
  if (s->p == s->end || !ascii_is_digit((unsigned char)*s->p)) {
    s->failed = true;
    return 0;
  }
  return number(&s->p, s->end, &slack);
}

static double power(Sum *s) {
  const double base = atom(s);
  if (s->failed || !take(s, "^")) return base;
  s->n_operators++;
  return pow(base, atom(s));
}

static double product(Sum *s) {
  double value = power(s);
  while (!s->failed) {
    skip_blanks(s);
    const bool juxtaposed = s->p < s->end && *s->p == '(';
    if (take(s, "x*") || juxtaposed)
      value *= power(s);
    else if (take(s, "/"))
      value /= power(s);
    else
      break;
    s->n_operators++;
  }
  return value;
}

static double sum(Sum *s) {
  double value = product(s);
  while (!s->failed) {
    if (take(s, "+"))
      value += product(s);
    else if (take(s, "-"))
      value -= product(s);
    else
      break;
    s->n_operators++;
  }
  return value;
}

/* ---- Finding them */

/* Where the sum that ends at `end` begins: as far back as there are its signs alone. */
static const char *begin_of(const char *text, const char *end) {
  const char *p = end;
  while (p > text && (ascii_is_digit((unsigned char)p[-1]) || (p[-1] && strchr(" .,+-x*/^()%e", p[-1])))) p--;
  if (p > text && ascii_is_alnum((unsigned char)p[-1])) { /* "lines 4": the word before is no part of it */
    while (p < end && *p != ' ') p++;
  }
  while (p < end && strchr(" .,)%+x*/^", *p)) p++;
  return p;
}

/* "= 64 blocks", "= 4 for each": a word, and no unit such as us or MiB, which would scale the number. */
static bool is_word(const char *p) {
  enum { SHORTEST = 3 };
  int n = 0;
  while (ascii_is_lower((unsigned char)p[n])) n++;
  return n >= SHORTEST && !ascii_is_alnum((unsigned char)p[n]);
}

bool equation_is_false(const char *text, char found[EQUATION_BYTES]) {
  for (const char *equals = strchr(text, '='); equals; equals = strchr(equals + 1, '=')) {
    const char *left = begin_of(text, equals), *right = equals + 1, *const end = text + strlen(text);
    Sum s = {.p = left, .end = equals};
    const double value = sum(&s);
    skip_blanks(&s);
    if (s.failed || s.p != equals || !s.n_operators) continue;
    while (*right == ' ') right++;
    if (!ascii_is_digit((unsigned char)*right)) continue;
    double slack;
    const double printed = number(&right, end, &slack);
    const char *after = right + strspn(right, " ");
    const bool ends = !*after || strchr(".,:;)=", *after) || is_word(after);
    if (!ends || fabs(value - printed) <= slack * (1 + 1e-6) + 1e-9 * fabs(value)) continue;
    snprintf(found, EQUATION_BYTES, "%.*s", (int)(right - left < EQUATION_BYTES ? right - left : EQUATION_BYTES - 1),
             left);
    return true;
  }
  return false;
}
