#include "tests/support/made_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool is_taken(const Maker *m, const char *letters) {
  static const char *const WORDS[] = {"e", "d", "x", "i", "j", "s", "h", "T", "d_v"};
  for (int k = 0; k < m->n_values; k++)
    if (strcmp(m->values[k].letters, letters) == 0) return true;
  for (size_t k = 0; k < sizeof WORDS / sizeof *WORDS; k++)
    if (strcmp(WORDS[k], letters) == 0) return true;
  return false;
}

static int value(Maker *m, Shape_ shape, const char *subscripts) {
  static const char ALL[] = "ABCDFGHKLMNPQRSUVWXYZabcfgkmnpquvwyz";
  Value *v = &m->values[m->n_values];
  do {
    const int n = (int)rand_in(m->r, 1, 2);
    for (int k = 0; k < n; k++) v->letters[k] = ALL[rand_in(m->r, 0, (int64_t)strlen(ALL) - 1)];
    v->letters[n] = '\0';
  } while (is_taken(m, v->letters));
  strcpy(v->text, v->letters);
  strcat(v->text, subscripts);
  v->shape = shape;
  return m->n_values++;
}

static int primed(Maker *m, int of) {
  Value *v = &m->values[m->n_values];
  *v = m->values[of];
  strcpy(v->text, v->letters);
  strcat(v->text, "'");
  v->is_primed = true;
  return m->n_values++;
}

static Record *line(Maker *m, int loop, const char *format, ...) __attribute__((format(printf, 3, 4)));
static Record *line(Maker *m, int loop, const char *format, ...) {
  Record *r = &m->records[m->n_records++];
  assert_true(m->n_records < RECORDS);
  *r = (Record){.kernel = m->kernel, .loop = loop, .moved = -1};
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->text, sizeof r->text, format, arguments);
  va_end(arguments);
  return r;
}

static const char *t(const Maker *m, int value_) { return m->values[value_].text; }

static void move(Maker *m, int loop, bool out, int v) {
  Record *r = line(m, loop, "%s %s", out ? "store" : "load", t(m, v));
  r->moved = v;
  r->out = out;
  if (out)
    r->reads = bit(v);
  else
    r->sets = bit(v);
}

static bool flip(Maker *m) { return rand_in(m->r, 0, 1); }

/* Q, K, V, O by other names: one kernel of online softmax, or of sums of weights against an own tensor. */
static void make_forward(Maker *m, int Q, int K, int V, int O, int own) {
  const int S = value(m, TILE, ""), P = value(m, TILE, ""), top = value(m, COLUMN, "_i"), sum = value(m, COLUMN, "_i");
  const int new_top = primed(m, top);
  move(m, 0, false, Q);
  Record *r = line(m, 0, "%s, %s = 0; %s = -inf", t(m, O), t(m, sum), t(m, top));
  r->sets = bit(O) | bit(sum) | bit(top);
  const int V_comes = (int)rand_in(m->r, 0, 4); /* anywhere before it is used */
  if (V_comes == 0) move(m, 1, false, V);
  move(m, 1, false, K);
  r = line(m, 1, "%s = %s %s^T / sqrt(d)", t(m, S), t(m, Q), t(m, K));
  r->reads = bit(Q) | bit(K), r->sets = bit(S), r->flops_d = 1, r->is_first_product = true;
  if (V_comes == 1) move(m, 1, false, V);
  if (m->of[m->kernel] || flip(m)) {
    r = line(m, 1, "mask %s", t(m, S));
    r->reads = bit(S), r->masks = true;
  }
  if (V_comes == 2) move(m, 1, false, V);
  r = line(m, 1, "%s = max(%s, row max of %s)", t(m, new_top), t(m, top), t(m, S));
  r->reads = bit(top) | bit(S), r->sets = bit(new_top);
  int extra = -1; /* another tile, which nothing needs but a further one */
  if (flip(m)) {
    extra = value(m, TILE, "");
    r = line(m, 1, "%s = %s + %s", t(m, extra), t(m, S), t(m, S));
    r->reads = bit(S), r->sets = bit(extra), r->takes = bit(S);
    if (flip(m)) {
      const int more = value(m, TILE, "");
      r = line(m, 1, "%s = e^(%s - %s)", t(m, more), t(m, extra), t(m, new_top));
      r->reads = bit(extra) | bit(new_top), r->sets = bit(more), r->takes = bit(extra), r->exps = 1;
    }
  }
  if (V_comes == 3) move(m, 1, false, V);
  r = line(m, 1, "%s, %s *= e^(%s - %s)", t(m, sum), t(m, O), t(m, top), t(m, new_top));
  r->reads = bit(sum) | bit(O) | bit(top) | bit(new_top), r->sets = bit(sum) | bit(O);
  r = line(m, 1, "%s = e^(%s - %s)", t(m, P), t(m, S), t(m, new_top));
  r->reads = bit(S) | bit(new_top), r->sets = bit(P), r->takes = bit(S), r->exps = 1;
  if (V_comes == 4) move(m, 1, false, V);
  const int order = (int)rand_in(m->r, 0, 2);
  for (int k = 0; k < 3; k++) {
    switch ((k + order) % 3) {
    case 0:
      r = line(m, 1, "%s += row sum of %s", t(m, sum), t(m, P));
      r->reads = bit(sum) | bit(P), r->sets = bit(sum);
      break;
    case 1:
      r = line(m, 1, "%s += %s %s", t(m, O), t(m, P), t(m, V));
      r->reads = bit(O) | bit(P) | bit(V), r->sets = bit(O), r->flops_dv = 1;
      break;
    default:
      r = line(m, 1, "%s = %s", t(m, top), t(m, new_top));
      r->reads = bit(new_top), r->sets = bit(top);
      break;
    }
  }
  r = line(m, 2, "%s = %s / %s", t(m, O), t(m, O), t(m, sum));
  r->reads = bit(O) | bit(sum), r->sets = bit(O);
  move(m, 2, true, O);
  if (own >= 0) {
    r = line(m, 2, "store %s = %s + log %s", t(m, own), t(m, top), t(m, sum));
    r->moved = own, r->out = true, r->reads = bit(top) | bit(sum), r->sets = bit(own), r->takes = bit(top) | bit(sum);
  }
}

/* A second kernel reads the own tensor and makes another output by a pass of its own. */
static void make_again(Maker *m, int Q, int K, int V, int O, int own) {
  const int S = value(m, TILE, "");
  move(m, 0, false, Q);
  move(m, 0, false, own);
  Record *r = line(m, 0, "%s = 0", t(m, O));
  r->sets = bit(O);
  const bool V_first = flip(m);
  if (V_first) move(m, 1, false, V);
  move(m, 1, false, K);
  r = line(m, 1, "%s = %s %s^T / sqrt(d)", t(m, S), t(m, Q), t(m, K));
  r->reads = bit(Q) | bit(K), r->sets = bit(S), r->flops_d = 1, r->is_first_product = true;
  r = line(m, 1, "mask %s", t(m, S));
  r->reads = bit(S), r->masks = true;
  if (!V_first) move(m, 1, false, V);
  r = line(m, 1, "%s += e^(%s - %s) %s", t(m, O), t(m, S), t(m, own), t(m, V));
  r->reads = bit(O) | bit(S) | bit(own) | bit(V), r->sets = bit(O), r->flops_dv = 1, r->exps = 1;
  move(m, 2, true, O);
}

static void put(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(char *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + strlen(text), TEXT - strlen(text), format, arguments);
  va_end(arguments);
}

void made_program(Maker *m, Rand *r, bool judged, char *text) {
  static const char *const WALKS[] = {"", ", either way", ", last first"};
  *m = (Maker){.r = r};
  for (int k = 0; k < 2; k++) m->of[k] = rand_in(r, 0, 1), m->walk[k] = WALKS[rand_in(r, 0, 2)];
  const int Q = value(m, ROWS_D, "_i"), K = value(m, KEYS_D, "_j"), V = value(m, KEYS_DV, "_j"),
            O = value(m, ROWS_DV, "_i"), again = value(m, ROWS_DV, "_i");
  m->n_kernels = (int)rand_in(r, 1, 2);
  const int own = m->n_kernels == 2 || flip(m) ? value(m, COLUMN, "_i") : -1;
  make_forward(m, Q, K, V, O, own);
  m->kernel = 1;
  if (m->n_kernels == 2) make_again(m, Q, K, V, again, own);
  char operands[48];
  snprintf(operands, sizeof operands, "(%s, %s, %s)", m->values[Q].letters, m->values[K].letters, m->values[V].letters);
  *text = '\0';
  put(text, "algorithm random\ninput %s: B_r x d\ninput %s: B_c x d\ninput %s: B_c x d_v\n", t(m, Q), t(m, K), t(m, V));
  put(text, "output %s: B_r x d_v%s%s\n", t(m, O), judged ? " = attention" : "", judged ? operands : "");
  if (m->n_kernels == 2) put(text, "output %s: B_r x d_v\n", t(m, again));
  for (int kernel = 0; kernel < m->n_kernels; kernel++) {
    put(text, "kernel k%d\n  for every row block i\n", kernel);
    int loop = 0;
    for (int k = 0; k < m->n_records; k++) {
      const Record *rec = &m->records[k];
      if (rec->kernel != kernel) continue;
      if (rec->loop == 1 && loop == 0)
        put(text, "    for each column block j%s%s\n", m->of[kernel] ? " of i" : "", m->walk[kernel]);
      loop = rec->loop;
      put(text, "%s%s\n", loop == 1 ? "      " : "    ", rec->text);
    }
  }
}

int made_record(const Maker *m, const Program *p, const Event *e) {
  const ProgramLine *l = &p->lines[e->line];
  for (int k = 0; k < m->n_records; k++)
    if (m->records[k].kernel == p->ops[e->op].kernel && strlen(m->records[k].text) == l->length &&
        strncmp(m->records[k].text, p->text + l->begin, l->length) == 0)
      return k;
  return -1;
}
