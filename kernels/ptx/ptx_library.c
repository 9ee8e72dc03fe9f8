/* Functions of the C library: device code that tw_cuda.h makes calls them, by "tw_library_" and their names. */
#define _DEFAULT_SOURCE /* j0, y0 */
#include <math.h>
#include <string.h>

#include "kernels/ptx/ptx_access.h"
#include "kernels/ptx/ptx_decode.h"

static double jn_of(double n, double x) { return jn((int)n, x); }
static double yn_of(double n, double x) { return yn((int)n, x); }
static double ldexp_of(double x, double n) { return ldexp(x, (int)n); }

static const struct {
  const char *name;
  double (*one)(double), (*two)(double, double); /* of so many numbers */
} FUNCTIONS[] = {
#define ONE(NAME) {#NAME, .one = NAME},
    ONE(exp) ONE(exp2) ONE(expm1) ONE(log) ONE(log2) ONE(log10) ONE(log1p) ONE(logb) ONE(sin) ONE(cos) ONE(tan)
        ONE(asin) ONE(acos) ONE(atan) ONE(sinh) ONE(cosh) ONE(tanh) ONE(asinh) ONE(acosh) ONE(atanh) ONE(cbrt) ONE(erf)
            ONE(erfc) ONE(lgamma) ONE(tgamma) ONE(j0) ONE(j1) ONE(y0) ONE(y1){"pow", .two = pow},
    {"atan2", .two = atan2},
    {"fmod", .two = fmod},
    {"remainder", .two = remainder},
    {"jn", .two = jn_of},
    {"yn", .two = yn_of},
    {"ldexp", .two = ldexp_of},
};

int32_t library_find(Word name, int32_t *n_taken) {
  static const char BEGIN[] = "tw_library_";
  const int32_t n = sizeof BEGIN - 1;
  if (name.n <= n || memcmp(name.at, BEGIN, (size_t)n)) return -1;
  for (size_t f = 0; f < sizeof FUNCTIONS / sizeof *FUNCTIONS; f++) {
    if (!word_is((Word){name.at + n, name.n - n}, FUNCTIONS[f].name)) continue;
    *n_taken = FUNCTIONS[f].one ? 1 : 2;
    return (int32_t)f;
  }
  return -1;
}

void warp_library(Run *run, const Block *b, const Warp *w, const Ins *i, uint32_t mask) {
  FOR_LANES (l, mask) {
    const int64_t places[] = {i->a, i->b, i->imm}; /* in local memory: what it takes, and what it gives */
    char *at[3];
    double x, y;
    for (int k = 0; k < 3; k++) at[k] = access_generic(run, b, w, l, LOCAL_WINDOW + (uint64_t)places[k], sizeof x);
    if (!at[0] || !at[1] || !at[2]) continue;
    memcpy(&x, at[0], sizeof x), memcpy(&y, at[1], sizeof y);
    x = FUNCTIONS[i->mode].one ? FUNCTIONS[i->mode].one(x) : FUNCTIONS[i->mode].two(x, y);
    memcpy(at[2], &x, sizeof x);
  }
}
