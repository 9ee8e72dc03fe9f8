/* What claims ask of a run: counts, keys, and online softmax from its definition. For claims.c alone. */
#ifndef TILEWALK_TESTS_SUPPORT_CLAIMS_ASKED_H
#define TILEWALK_TESTS_SUPPORT_CLAIMS_ASKED_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/numbers/attention.h"
#include "tests/support/claims.h"
#include "viz/text/number.h"

enum { VALUES = 6, VALUE_BYTES = 160 };
typedef struct {
  const ClaimRun *r;
  const Event *e; /* the present one; NULL: before the first */
  uint64_t step;
  char v[VALUES][VALUE_BYTES]; /* what stands in the braces of the pattern */
} Said;

/* ---- What is asked of it --------------------------------------------------------------------------------------- */

static bool whole(const char *text, int64_t *n) {
  char *end;
  *n = strtoll(text, &end, 10);
  return end > text && !*end;
}

static bool is_count(const char *text, int64_t n) {
  int64_t said;
  return whole(text, &said) && said == n;
}

static bool is_bytes(const char *text, Wide bytes) { return strcmp(text, number_bytes(bytes).text) == 0; }

static bool real(const char *text, double *x) {
  char plain[VALUE_BYTES];
  bool negative = strncmp(text, "−", 3) == 0;
  snprintf(plain, sizeof plain, "%s", negative ? text + 3 : text);
  if (strcmp(plain, "not a number") == 0) {
    *x = NAN;
    return true;
  }
  if (strcmp(plain, "∞") == 0) {
    *x = negative ? -INFINITY : INFINITY;
    return true;
  }
  char *end;
  *x = strtod(plain, &end);
  if (negative) *x = -*x;
  return end > plain && !*end;
}

/* As printed: two decimals, and computed in fp16 or fp32 rather than fp64. */
static bool is_near(const char *text, double x) {
  double said;
  if (!real(text, &said)) return false;
  if (!isfinite(x) || !isfinite(said)) return said == x || (isnan(x) && isnan(said));
  return fabs(said - x) <= 0.006 + 0.006 * fabs(x);
}

static bool is_real(const char *text) {
  double x;
  return real(text, &x) && !isnan(x);
}

static const char *line_text(const ClaimRun *r, int line, char *text) {
  const ProgramLine *l = &r->schedule->lines[line];
  sprintf(text, "%.*s", (int)l->length, r->schedule->text + l->begin);
  return text;
}

static int kernel_of(const ClaimRun *r, const Event *e) { return r->schedule->ops[e->op].kernel; }
static const char *kernel_name(const ClaimRun *r, const Event *e) { return r->schedule->kernels[kernel_of(r, e)].name; }
static bool is_load(const Event *e) { return e->kind == EVENT_LOAD; }
static bool is_store(const Event *e) { return e->kind != EVENT_SKIP && e->kind != EVENT_LOAD && e->bytes > 0; }

static bool moves(const ClaimRun *r, uint64_t k, const char *label) {
  for (int n = 0; n < CLAIM_MOVED_MAX; n++)
    if (strcmp(r->labels[k][n], label) == 0) return true;
  return false;
}

typedef enum { BEFORE, AFTER, ALL } When;

/* How often the present event's first block is loaded or stored; several blocks must agree. -1: they do not. */
static int64_t times(const Said *s, bool loads, When when) {
  const ClaimRun *r = s->r;
  int64_t counts[CLAIM_MOVED_MAX] = {0};
  for (int n = 0; n < CLAIM_MOVED_MAX && *r->labels[s->e->step][n]; n++) {
    for (uint64_t k = 0; k < r->n; k++) {
      if (when == BEFORE && k >= s->e->step) continue;
      if (when == AFTER && k <= s->e->step) continue;
      if ((loads ? is_load(&r->events[k]) : is_store(&r->events[k])) && moves(r, k, r->labels[s->e->step][n]))
        counts[n]++;
    }
    if (counts[n] != counts[0]) return -1;
  }
  return counts[0];
}

static bool is_moved(const Said *s, const char *said) {
  char all[CLAIM_MOVED_MAX * CLAIM_LABEL_BYTES + 16] = "";
  for (int n = 0; n < CLAIM_MOVED_MAX && *s->r->labels[s->e->step][n]; n++) {
    if (n) strcat(all, ", ");
    strcat(all, s->r->labels[s->e->step][n]);
  }
  return strcmp(all, said) == 0;
}

/* A name of the program with this label here; -1: none. */
static int name_of(const Said *s, const char *label) {
  for (int n = 0; n < s->r->schedule->n_names; n++) {
    char text[CLAIM_LABEL_BYTES];
    claim_label(s->r->schedule, n, s->e, text);
    if (strcmp(text, label) == 0) return n;
  }
  return -1;
}

static int64_t keys_of(const ClaimRun *r, const bool *table, int64_t row, int64_t begin, int64_t end) {
  int64_t n = 0;
  for (int64_t col = begin; col < end; col++) n += table[row * r->plan.shape.N_k + col];
  return n;
}

static int64_t rows_seeing(const Said *s) {
  int64_t n = 0;
  for (int64_t row = s->e->row0; row < s->e->row1; row++)
    n += keys_of(s->r, s->r->seen, row, s->e->col0, s->e->col1) > 0;
  return n;
}

static int64_t area(const Event *e) { return (e->row1 - e->row0) * (e->col1 - e->col0); }

static int64_t hidden(const Said *s) {
  int64_t n = area(s->e);
  for (int64_t row = s->e->row0; row < s->e->row1; row++) n -= keys_of(s->r, s->r->seen, row, s->e->col0, s->e->col1);
  return n;
}

/* The row of the sentence: that which is computed. */
static bool row_of(const Said *s, const char *text, int64_t *row) {
  return whole(text, row) && *row >= s->e->row0 && *row < s->e->row1;
}

static bool is_tile(const Event *e) { return e->i >= 0 && e->j >= 0; }

/* Of this line: tiles of the row block, in this part, that come before the present one, after it, or both and it. */
static bool beside(const Said *s, uint64_t k, When when) {
  const Event *a = &s->r->events[k], *e = s->e;
  if (a->op != e->op || a->kind != e->kind || a->i != e->i || a->split != e->split) return false;
  return when == ALL || (when == BEFORE ? k < e->step : k > e->step);
}

static int64_t keys(const Said *s, int64_t row, When when) {
  int64_t n = 0;
  for (uint64_t k = 0; k < s->r->n; k++)
    if (beside(s, k, when)) n += keys_of(s->r, s->r->seen, row, s->r->events[k].col0, s->r->events[k].col1);
  return n;
}

static int64_t keys_here(const Said *s, int64_t row) { return keys_of(s->r, s->r->seen, row, s->e->col0, s->e->col1); }

static bool has_parts(const Said *s) {
  if (s->r->plan.tiling.n_splits < 2) return false;
  for (int loop = s->r->schedule->ops[s->e->op].parent; loop >= 0; loop = s->r->schedule->ops[loop].parent)
    if (s->r->schedule->ops[loop].dim == DIM_S) return true;
  return false;
}

static bool is_part(const Said *s, const char *text) { return has_parts(s) && is_count(text, s->e->split + 1); }

/* ---- Values: online softmax from its definition ------------------------------------------------------------------ */

typedef struct {
  double m, l;
} Softmax;

static void see(const Said *s, int64_t row, int64_t col0, int64_t col1, Softmax *x) {
  const ClaimRun *r = s->r;
  if (!r->scores) x->m = x->l = NAN; /* nothing is known */
  for (int64_t col = col0; col < col1 && r->scores; col++) {
    const double score = r->scores[row * r->plan.shape.N_k + col];
    if (!r->counts[row * r->plan.shape.N_k + col]) continue;
    const double m = fmax(x->m, score);
    x->l = x->l * exp(x->m - m) + exp(score - m);
    x->m = m;
  }
}

static Softmax before(const Said *s, int64_t row) {
  Softmax x = {-INFINITY, 0};
  for (uint64_t k = 0; k < s->r->n; k++)
    if (beside(s, k, BEFORE)) see(s, row, s->r->events[k].col0, s->r->events[k].col1, &x);
  return x;
}

static Softmax here(const Said *s, int64_t row) {
  Softmax x = {-INFINITY, 0};
  see(s, row, s->e->col0, s->e->col1, &x);
  return x;
}

static Softmax after(const Said *s, int64_t row) {
  Softmax x = before(s, row);
  see(s, row, s->e->col0, s->e->col1, &x);
  return x;
}

/* log of the sum of e^score over the keys of a part; and the sum over parts up to one, against their maximum. */
static double lse_of_part(const Said *s, int64_t row, int64_t part) {
  const Plan *p = &s->r->plan;
  const int64_t per = p->tiles_per_split * p->tiling.B_c, N = p->shape.N_k;
  Softmax x = {-INFINITY, 0};
  see(s, row, part * per < N ? part * per : N, (part + 1) * per < N ? (part + 1) * per : N, &x);
  return x.l > 0 ? x.m + log(x.l) : -INFINITY;
}

static Softmax parts_until(const Said *s, int64_t row, int64_t end, double m) {
  Softmax x = {m, 0};
  for (int64_t part = 0; part < end; part++) {
    const double L = lse_of_part(s, row, part);
    if (isinf(m)) x.m = fmax(x.m, L);
    x.l += L == -INFINITY ? 0 : exp(L - m);
  }
  return x;
}

static bool is_without_max(const Said *s) { return s->r->stage->config.without_max; }
static bool is_known(const Said *s) { return s->r->is_online && s->r->scores && !is_without_max(s); }

/* What is known of e^(x - y) where x is -infinity: 0. */
static double factor_of(double x, double y) { return x == -INFINITY ? 0 : exp(x - y); }

#endif
