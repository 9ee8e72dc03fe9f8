/* A run of which claims are proved: its events, what each query sees of each key, and scores computed anew. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/random.h"
#include "sim/numbers/attention.h"
#include "sim/numbers/program_check.h"
#include "tests/support/claims.h"
#include "tests/support/implied.h"

void claim_label(const Program *p, int name, const Event *e, char *text) {
  const char *at = p->names[name].text;
  size_t n = 0;
  for (; *at && *at != '_'; at++) {
    if (*at == '\'')
      n += (size_t)sprintf(text + n, "′");
    else
      text[n++] = *at;
  }
  text[n] = '\0';
  const bool is_tile = p->names[name].rows == SIDE_ROWS && p->names[name].cols == SIDE_COLS && e->i >= 0 && e->j >= 0;
  const char *subscripts = *at ? at + 1 : is_tile ? "ij" : "";
  for (const char *s = subscripts; *s; s++)
    n += (size_t)sprintf(text + n, "%s%" PRId64, s == subscripts ? "[" : ",",
                         *s == 'i'   ? e->i
                         : *s == 'j' ? e->j
                         : *s == 'h' ? e->head
                                     : (int64_t)e->split);
  if (*subscripts) sprintf(text + n, "]");
}

static Event *walk(const Schedule *s, const Plan *plan, uint64_t *n) {
  Cursor cursor = {0};
  size_t room = 1024;
  Event *events = malloc(room * sizeof *events);
  for (*n = 0; schedule_next(s, plan, &cursor, &events[*n]);)
    if (++*n == room) events = realloc(events, (room *= 2) * sizeof *events);
  return events;
}

static bool in_band(const Shape *s, int64_t row, int64_t col) {
  const int64_t own = row + (s->top_left ? 0 : s->N_k - s->N_q);
  if (s->causal && col > own) return false;
  if (s->sided) return (s->left < 0 || col >= own - s->left) && (s->causal || s->right < 0 || col <= own + s->right);
  if (!s->window) return true;
  return col > own - s->window && (s->causal || col < own + s->window);
}

static int64_t own_key(const Shape *s, int64_t row) { return row + (s->top_left ? 0 : s->N_k - s->N_q); }

/* What a pattern hides: blocks off its strides, other documents. */
static bool in_pattern(const Shape *s, int64_t row, int64_t col) {
  const Pattern *p = s->pattern;
  if (!p || p->kind == PATTERN_SINK || p->kind == PATTERN_PREFIX) return true;
  if (p->kind == PATTERN_BLOCKS) return pattern_cells(p, row, row + 1, col, col + 1).allowed > 0;
  const int64_t own = own_key(s, row);
  if (own < 0 || own >= s->N_k) return false;
  int64_t begin = 0; /* "documents:5,3,8" */
  for (const char *at = strchr(p->name, ':') + 1; begin <= own;) {
    char *end;
    const int64_t length = strtoll(at, &end, 10);
    if (own < begin + length) return col >= begin && col < begin + length;
    begin += length;
    at = *end ? end + 1 : at; /* one length is that of each */
  }
  return false;
}

/* What it shows although the band hides it. */
static bool is_shown(const Shape *s, int64_t row, int64_t col) {
  const Pattern *p = s->pattern;
  if (p->kind == PATTERN_PREFIX) return col < p->keys;
  return p->kind == PATTERN_SINK && col < p->keys && (!s->causal || col <= own_key(s, row)) &&
         (!(s->window || s->sided) || s->causal ||
          col <= own_key(s, row) + (s->sided ? (s->right < 0 ? s->N_k : s->right) : s->window - 1));
}

static void fill_scores(ClaimRun *r) {
  const StageConfig *c = &r->stage->config;
  const Shape *s = &r->plan.shape;
  const Precision stored = attention_precision(s->dtype);
  r->scores = malloc((size_t)(s->N_q * s->N_k) * sizeof *r->scores);
  for (int64_t row = 0; row < s->N_q; row++)
    for (int64_t col = 0; col < s->N_k; col++) {
      double sum = 0;
      for (int64_t k = 0; k < s->d; k++)
        sum += precision_round(stored,
                               (double)c->q_scale * random_normal(c->seed, IMPLIED_Q, (uint64_t)(row * s->d + k))) *
               precision_round(stored, random_normal(c->seed, IMPLIED_K, (uint64_t)(col * s->d + k)));
      r->scores[row * s->N_k + col] = sum / sqrt((double)s->d);
    }
}

/* What a formula takes the softmax of; -1: there is none. */
static int softmax_in(const Schedule *s, int node) {
  const ProgramNode *n = &s->nodes[node];
  if (n->kind == NODE_SOFTMAX) return n->a;
  const int a = n->a >= 0 ? softmax_in(s, n->a) : -1;
  return a >= 0 || n->b < 0 ? a : softmax_in(s, n->b);
}

/* Of a program whose head is followed as a whole: by its output's formula, whatever its lines do. Hidden ones do not
 * matter: what each query sees is known. */
static void fill_formula_scores(ClaimRun *r) {
  const Schedule *s = r->schedule;
  for (int k = 0; k < s->n_declarations && !r->scores; k++) {
    ProgramDeclaration d = s->declarations[k];
    if (d.role != TENSOR_OUTPUT || !d.formula) continue;
    const int scores = softmax_in(s, d.formula - 1);
    if (s->nodes[d.formula - 1].kind == NODE_ATTENTION) {
      fill_scores(r);
    } else if (scores >= 0) {
      d.formula = (int16_t)(scores + 1);
      for (int n = 0; n < s->n_names; n++) /* a name of that shape */
        if (s->names[n].rows == SIDE_ROWS && s->names[n].cols == SIDE_COLS) d.name = (uint8_t)n;
      r->scores = malloc((size_t)(r->plan.shape.N_q * r->plan.shape.N_k) * sizeof *r->scores);
      if (!attention_reference(r->stage->head, &d, 0, r->scores)) abort();
    }
  }
  int problem = 0;
  r->is_online = r->scores && program_is_right(s, NULL, &problem);
}

void claim_run_open(ClaimRun *r, const Stage *stage, bool is_online) {
  *r = (ClaimRun){.stage = stage, .schedule = stage->run.schedule, .plan = stage->run.plan, .is_online = is_online};
  const Shape *s = &r->plan.shape;
  const size_t area = (size_t)(s->N_q * s->N_k);
  r->events = walk(r->schedule, &r->plan, &r->n);
  Shape open = *s;
  Plan dense;
  open.causal = open.sided = open.top_left = false;
  open.window = 0;
  open.pattern = NULL;
  if (plan_make(&dense, &open, &r->plan.tiling, NULL)) abort();
  r->dense = walk(r->schedule, &dense, &r->n_dense);
  r->seen = malloc(area), r->in_band = malloc(area), r->in_blocks = malloc(area);
  for (int64_t row = 0; row < s->N_q; row++)
    for (int64_t col = 0; col < s->N_k; col++) {
      const size_t at = (size_t)(row * s->N_k + col);
      r->in_band[at] = in_band(s, row, col);
      r->in_blocks[at] = in_pattern(s, row, col);
      r->seen[at] = r->in_band[at] && r->in_blocks[at];
      if (s->pattern && is_shown(s, row, col)) r->seen[at] = r->in_band[at] = r->in_blocks[at] = true;
    }
  const bool is_masked = strstr(r->schedule->text, "mask ") != NULL; /* or hidden scores count like others */
  r->counts = malloc(area);
  for (size_t at = 0; at < area; at++) r->counts[at] = r->seen[at] || !is_masked;
  r->labels = calloc((size_t)r->n + 1, sizeof *r->labels);
  for (uint64_t k = 0; k < r->n; k++) {
    const ProgramOp *op = &r->schedule->ops[r->events[k].op];
    for (int n = 0; n < op->n_moved && r->events[k].kind != EVENT_SKIP; n++)
      claim_label(r->schedule, op->moved[n], &r->events[k], r->labels[k][n]);
  }
  if (stage->head)
    fill_formula_scores(r);
  else if (stage->K)
    fill_scores(r);
}

void claim_run_close(ClaimRun *r) {
  free(r->events);
  free(r->dense);
  free(r->seen);
  free(r->in_band);
  free(r->in_blocks);
  free(r->counts);
  free(r->scores);
  free(r->labels);
}
