#include "lessons/engine/equation.h"

#include <math.h>
#include <stdio.h>

#include "lessons/engine/answer.h"
#include "lessons/engine/expression.h"
#include "sim/base/ascii.h"
#include "sim/base/text_add.h"

/* The number at *at, which moves on behind it: 1,024.5, with its percent sign. `slack`: half of one in its last
 * digit. */
static double read_number(const char **at, double *slack) {
  Answer a = {0};
  size_t n = strspn(*at, "0123456789.,");
  while (n && !ascii_is_digit((*at)[n - 1])) n--;
  const size_t blanks = strspn(*at + n, " ");
  if ((*at)[n + blanks] == '%') n += blanks + 1;
  if (answer_parse(*at, n, &a, NULL)) n = 0;
  *at += n;
  *slack = a.slack * a.unit.factor;
  return a.number * a.unit.factor;
}

/* Where the sum that ends at `end` begins: as far back as there are its signs alone. */
static const char *begin_of(const char *text, const char *end) {
  const char *p = end;
  while (p > text && (ascii_is_digit(p[-1]) || (p[-1] && strchr(" .,+-x*/^()%e", p[-1])))) p--;
  if (p > text && ascii_is_alnum(p[-1])) { /* "lines 4": the word before is no part of it */
    while (p < end && *p != ' ') p++;
  }
  while (p < end && strchr(" .,)%+x*/^", *p)) p++;
  return p;
}

/* "= 64 blocks", "= 4 for each": a word, and no unit such as us or MiB, which would scale the number. */
static bool is_word(const char *p) {
  enum { SHORTEST = 3 };
  int n = 0;
  while (ascii_is_lower(p[n])) n++;
  return n >= SHORTEST && !ascii_is_alnum(p[n]);
}

/* [from, end) in Lua: x multiplies, and so does what stands before a parenthesis; false: it is no sum, or too long. */
static bool translate(const char *from, const char *end, char *to, size_t size) {
  bool has_operator = false;
  *to = '\0';
  char before = '(';
  for (const char *p = from; p < end; p++) {
    const char *put = (const char[]){*p, '\0'};
    if (*p == ',') put = ""; /* groups digits */
    if (*p == 'x') put = "*";
    if (*p == '%') put = "/100";
    if (*p == 'e' && ascii_is_digit(before)) return false;
    if (*p == 'e') put = "2.718281828459045";
    if (*p == '(' && (ascii_is_digit(before) || before == ')')) put = "*(";
    has_operator = has_operator || (before != '(' && *put && strchr("+-*/^", *put) && *p != '%');
    text_add(to, size, "%s", put);
    if (*p != ' ') before = *p;
  }
  return has_operator && strlen(to) + 1 < size;
}

bool equation_is_false(const char *text, char found[EQUATION_BYTES]) {
  for (const char *equals = strchr(text, '='); equals; equals = strchr(equals + 1, '=')) {
    const char *left = begin_of(text, equals), *right = equals + 1 + strspn(equals + 1, " ");
    char sum[1024];
    ExpressionValue value;
    if (!ascii_is_digit(*right) || !translate(left, equals, sum, sizeof sum) ||
        expression_eval(sum, NULL, &value, NULL) || value.kind != EXPRESSION_NUMBER)
      continue;
    double slack;
    const double printed = read_number(&right, &slack);
    const char *after = right + strspn(right, " ");
    const bool ends = !*after || strchr(".,:;)=", *after) || is_word(after);
    if (!ends || fabs(*value.numbers - printed) <= slack * (1 + 1e-6) + 1e-9 * fabs(*value.numbers)) continue;
    snprintf(found, EQUATION_BYTES, "%.*s", (int)(right - left < EQUATION_BYTES ? right - left : EQUATION_BYTES - 1),
             left);
    return true;
  }
  return false;
}
