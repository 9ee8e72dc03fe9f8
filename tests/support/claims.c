#include "tests/support/claims.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/random.h"
#include "sim/numbers/attention.h"
#include "tests/support/implied.h"
#include "viz/text/number.h"

enum { VALUES = 6, VALUE_BYTES = 160 };
typedef struct {
  const ClaimRun *r;
  const Event *e; /* the present one; NULL: before the first */
  uint64_t step;
  char v[VALUES][VALUE_BYTES]; /* what stands in the braces of the pattern */
} Said;

/* ---- The run ------------------------------------------------------------------------------------------------- */

static void put_label(const Program *p, int name, const Event *e, char *text) {
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
  r->labels = calloc(r->n + 1, sizeof *r->labels);
  for (uint64_t k = 0; k < r->n; k++) {
    const ProgramOp *op = &r->schedule->ops[r->events[k].op];
    for (int n = 0; n < op->n_moved && r->events[k].kind != EVENT_SKIP; n++)
      put_label(r->schedule, op->moved[n], &r->events[k], r->labels[k][n]);
  }
  if (stage->K) fill_scores(r);
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
    put_label(s->r->schedule, n, s->e, text);
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
  for (int64_t col = col0; col < col1; col++) {
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

/* ---- Claims: the run ----------------------------------------------------------------------------------------------
 */

static Wide bytes_until(const Said *s, uint64_t end) {
  Wide sum = 0;
  for (uint64_t k = 0; k < end; k++) sum += s->r->events[k].bytes;
  return sum;
}

static bool c_start(const Said *s) {
  for (uint64_t k = 0; k < s->r->n; k++) /* what is loaded and never stored, by base */
    for (int n = 0; is_load(&s->r->events[k]) && n < CLAIM_MOVED_MAX && *s->r->labels[k][n]; n++) {
      const size_t length = strcspn(s->r->labels[k][n], "[");
      bool is_stored = false;
      for (uint64_t other = 0; other < s->r->n; other++)
        for (int o = 0; is_store(&s->r->events[other]) && o < CLAIM_MOVED_MAX; o++)
          is_stored |= strcspn(s->r->labels[other][o], "[") == length &&
                       memcmp(s->r->labels[other][o], s->r->labels[k][n], length) == 0;
      char base[CLAIM_LABEL_BYTES + 4];
      sprintf(base, "%.*s,", (int)length, s->r->labels[k][n]);
      char listed[300];
      sprintf(listed, "%s,", s->v[0]);
      if (is_stored != !strstr(listed, base)) return false;
    }
  return s->step == 0;
}
static bool c_whole(const Said *s) { return s->step == 0 && is_bytes(s->v[0], bytes_until(s, s->r->n)); }
static bool c_end(const Said *s) { return s->step == s->r->n && strcmp(s->v[0], number_count(s->r->n).text) == 0; }
static bool c_crossed(const Said *s) { return s->step == s->r->n && is_bytes(s->v[0], bytes_until(s, s->r->n)); }
static bool c_so_far(const Said *s) {
  return is_bytes(s->v[0], bytes_until(s, s->step)) && is_bytes(s->v[1], bytes_until(s, s->r->n));
}

/* ---- Claims: loads and stores ---------------------------------------------------------------------------------------
 */

static bool c_comes_back(const Said *s) {
  return is_load(s->e) && is_moved(s, s->v[0]) && is_bytes(s->v[1], s->e->bytes) && times(s, false, BEFORE) > 0;
}
static bool c_load(const Said *s) { return is_load(s->e) && is_moved(s, s->v[0]) && is_bytes(s->v[1], s->e->bytes); }

static bool is_nth_load(const Said *s, const char *nth, const char *of) {
  return is_load(s->e) && is_count(nth, times(s, true, BEFORE) + 1) && is_count(of, times(s, true, ALL));
}

static bool c_stored_by(const Said *s) {
  const Event *last = NULL;
  for (uint64_t k = 0; k < s->e->step; k++)
    if (is_store(&s->r->events[k]) && moves(s->r, k, s->r->labels[s->e->step][0])) last = &s->r->events[k];
  return last && kernel_of(s->r, last) != kernel_of(s->r, s->e) && strcmp(kernel_name(s->r, last), s->v[0]) == 0 &&
         is_nth_load(s, s->v[1], s->v[2]);
}
static bool c_stored_before(const Said *s) { return times(s, false, BEFORE) > 0 && is_nth_load(s, s->v[0], s->v[1]); }
static bool c_once(const Said *s) { return is_load(s->e) && times(s, true, ALL) == 1; }
static bool c_first_of(const Said *s) {
  return is_load(s->e) && times(s, true, BEFORE) == 0 && is_count(s->v[0], times(s, true, ALL)) &&
         times(s, true, ALL) > 1;
}
static bool c_nth_load(const Said *s) { return is_nth_load(s, s->v[0], s->v[1]); }

/* "K", or "O_is" where other names of these letters are moved. */
static bool is_called(const Said *s, const Event *e, const char *base) {
  const Schedule *p = s->r->schedule;
  const ProgramOp *op = &p->ops[e->op];
  if (e->bytes == 0 || op->n_moved != 1) return false;
  const char *name = p->names[op->moved[0]].text;
  if (strchr(base, '_')) return strcmp(name, base) == 0;
  return strcspn(name, "_") == strlen(base) && strncmp(name, base, strlen(base)) == 0;
}
static Wide bytes_of_base(const Said *s, const char *base, bool loads) {
  Wide sum = 0;
  for (uint64_t k = 0; k <= s->e->step; k++)
    if ((loads ? is_load(&s->r->events[k]) : is_store(&s->r->events[k])) && is_called(s, &s->r->events[k], base))
      sum += s->r->events[k].bytes;
  return sum;
}
static bool is_base(const Said *s, const char *base) {
  for (uint64_t k = 0; k < s->r->n; k++) { /* nothing else moves the name, with others */
    const ProgramOp *op = &s->r->schedule->ops[s->r->events[k].op];
    if (is_load(&s->r->events[k]) != is_load(s->e)) continue;
    for (int n = 0; s->r->events[k].bytes && op->n_moved > 1 && n < op->n_moved; n++)
      if (op->moved[n] == s->r->schedule->ops[s->e->op].moved[0]) return false;
  }
  return is_called(s, s->e, base);
}
static bool c_nth_load_read(const Said *s) {
  return is_nth_load(s, s->v[0], s->v[1]) && is_base(s, s->v[3]) && is_bytes(s->v[2], bytes_of_base(s, s->v[3], true));
}

/* Loaded before, in this kernel, but not since the loop over `dim` came to its present iteration. */
static bool is_again(const Said *s, int dim) {
  const Schedule *p = s->r->schedule;
  bool fixed[DIM_COUNT] = {false}, is_inside = true, has_dim = false;
  for (int loop = p->ops[s->e->op].parent; loop >= 0; loop = p->ops[loop].parent) {
    if (p->ops[loop].dim == dim) is_inside = false, has_dim = true;
    fixed[p->ops[loop].dim] = !is_inside;
  }
  bool in_kernel = false;
  for (uint64_t k = 0; k < s->e->step; k++) {
    const Event *a = &s->r->events[k];
    if (!is_load(a) || !moves(s->r, k, s->r->labels[s->e->step][0]) || kernel_of(s->r, a) != kernel_of(s->r, s->e))
      continue;
    in_kernel = true;
    if ((!fixed[DIM_I] || a->i == s->e->i) && (!fixed[DIM_J] || a->j == s->e->j) &&
        (!fixed[DIM_S] || a->split == s->e->split))
      return false;
  }
  return in_kernel && has_dim;
}
static bool c_again_row(const Said *s) {
  return is_moved(s, s->v[0]) && is_count(s->v[1], s->e->i) && is_bytes(s->v[2], s->e->bytes) && is_load(s->e) &&
         is_again(s, DIM_I);
}
static bool c_again_column(const Said *s) {
  return is_moved(s, s->v[0]) && is_count(s->v[1], s->e->j) && is_bytes(s->v[2], s->e->bytes) && is_load(s->e) &&
         is_again(s, DIM_J);
}
static bool c_again_part(const Said *s) {
  return is_moved(s, s->v[0]) && is_part(s, s->v[1]) && is_count(s->v[2], s->r->plan.tiling.n_splits) &&
         is_bytes(s->v[3], s->e->bytes) && is_load(s->e) && is_again(s, DIM_S);
}
static bool c_again_kernel(const Said *s) {
  bool elsewhere = false;
  for (uint64_t k = 0; k < s->e->step; k++) {
    if (!is_load(&s->r->events[k]) || !moves(s->r, k, s->r->labels[s->e->step][0])) continue;
    if (kernel_of(s->r, &s->r->events[k]) == kernel_of(s->r, s->e)) return false;
    elsewhere = true;
  }
  return elsewhere && is_load(s->e) && is_moved(s, s->v[0]) && strcmp(s->v[1], kernel_name(s->r, s->e)) == 0 &&
         is_bytes(s->v[2], s->e->bytes);
}
static bool c_again(const Said *s) { return c_load(s) && times(s, true, BEFORE) > 0; }
static bool c_earlier_loop(const Said *s) {
  bool is = false;
  for (uint64_t k = 0; k < s->e->step; k++)
    is |= is_load(&s->r->events[k]) && moves(s->r, k, s->r->labels[s->e->step][0]) && s->r->events[k].op != s->e->op;
  return is && is_nth_load(s, s->v[0], s->v[1]);
}

static bool c_store(const Said *s) {
  for (int n = 0; n < CLAIM_MOVED_MAX && *s->r->labels[s->e->step][n]; n++)
    if (!strstr(s->v[0], s->r->labels[s->e->step][n])) return false;
  return is_store(s->e) && is_bytes(s->v[1], s->e->bytes);
}
static bool c_add_in_HBM(const Said *s) {
  char text[256];
  return is_store(s->e) && is_moved(s, s->v[0]) && is_bytes(s->v[1], s->e->bytes) &&
         strncmp(line_text(s->r, s->e->line, text), "add ", 4) == 0;
}
static bool is_nth_store(const Said *s) {
  return is_store(s->e) && is_count(s->v[0], times(s, false, BEFORE) + 1) && is_count(s->v[1], times(s, false, ALL));
}
static bool c_nth_store(const Said *s) { return is_nth_store(s); }
static bool c_read_by(const Said *s) {
  for (uint64_t k = s->e->step + 1; k < s->r->n; k++)
    if (is_load(&s->r->events[k]) && moves(s->r, k, s->r->labels[s->e->step][0]))
      return is_store(s->e) && strcmp(kernel_name(s->r, &s->r->events[k]), s->v[0]) == 0 &&
             kernel_of(s->r, &s->r->events[k]) != kernel_of(s->r, s->e);
  return false;
}
static bool c_read_by_written(const Said *s) {
  return c_read_by(s) && is_base(s, s->v[2]) && is_bytes(s->v[1], bytes_of_base(s, s->v[2], false));
}
static bool c_to_come(const Said *s) {
  return is_store(s->e) && times(s, true, AFTER) > 0 && is_count(s->v[0], times(s, true, AFTER));
}
static bool is_only_store(const Said *s) {
  return is_store(s->e) && times(s, false, ALL) == 1 && times(s, true, AFTER) == 0;
}
static bool c_only_store(const Said *s) { return is_only_store(s); }
static bool c_only_store_of(const Said *s) {
  Wide size = 0; /* each block once, of the run without a mask */
  const int name = s->r->schedule->ops[s->e->op].moved[0];
  for (uint64_t k = 0; k < s->r->n_dense; k++) {
    const Event *a = &s->r->dense[k];
    if (!is_store(a) || !is_called(s, a, s->v[2])) continue;
    bool is_new = true;
    for (uint64_t earlier = 0; earlier < k; earlier++) {
      char here[CLAIM_LABEL_BYTES], there[CLAIM_LABEL_BYTES];
      if (s->r->dense[earlier].op != a->op &&
          !(is_store(&s->r->dense[earlier]) && is_called(s, &s->r->dense[earlier], s->v[2])))
        continue;
      put_label(s->r->schedule, name, a, here);
      put_label(s->r->schedule, name, &s->r->dense[earlier], there);
      is_new &= strcmp(here, there) != 0;
    }
    if (is_new) size += a->bytes;
  }
  return is_only_store(s) && is_base(s, s->v[2]) && is_bytes(s->v[0], bytes_of_base(s, s->v[2], false)) &&
         is_bytes(s->v[1], size);
}
static bool c_last_store(const Said *s) {
  return is_store(s->e) && times(s, false, AFTER) == 0 && times(s, true, AFTER) == 0 && times(s, false, ALL) > 1 &&
         is_count(s->v[0], times(s, false, ALL));
}

/* ---- Claims: products and masks
 * -------------------------------------------------------------------------------------- */

static bool is_flops(const Said *s, const char *text) {
  return s->e->flops > 0 && strcmp(text, number_flops(s->e->flops).text) == 0;
}
static bool c_every(const Said *s) {
  char text[256], written[64];
  const int a = name_of(s, s->v[0]), b = name_of(s, s->v[1]);
  if (a < 0 || b < 0) return false;
  sprintf(written, "%s %s^T", s->r->schedule->names[a].text, s->r->schedule->names[b].text);
  const char *at = strstr(line_text(s->r, s->e->line, text), written);
  return at && !strstr(at + strlen(written), "^T");
}
static bool never_moves(const Said *s) { /* what the line sets first */
  char text[256];
  line_text(s->r, s->e->line, text);
  text[strcspn(text, " ")] = '\0';
  for (uint64_t k = 0; k < s->r->n; k++)
    for (int n = 0; n < s->r->schedule->ops[s->r->events[k].op].n_moved; n++)
      if (s->r->events[k].bytes &&
          strcmp(s->r->schedule->names[s->r->schedule->ops[s->r->events[k].op].moved[n]].text, text) == 0)
        return false;
  return true;
}
static bool are_scores(const Said *s) { /* masked, or their row maximum taken */
  char text[256], a[300], b[300];
  line_text(s->r, s->e->line, text);
  text[strcspn(text, " ")] = '\0';
  sprintf(a, "mask %s", text);
  sprintf(b, "row max of %s)", text);
  return strstr(s->r->schedule->text, a) || strstr(s->r->schedule->text, b);
}
static bool c_flops_in_vain(const Said *s) { return is_flops(s, s->v[0]) && is_tile(s->e) && rows_seeing(s) == 0; }
static bool c_in_vain(const Said *s) { return is_tile(s->e) && s->e->kind != EVENT_SKIP && rows_seeing(s) == 0; }
static bool c_flops_hidden(const Said *s) {
  return is_flops(s, s->v[0]) && is_count(s->v[1], area(s->e)) && is_count(s->v[2], hidden(s)) && hidden(s) > 0 &&
         are_scores(s);
}
static bool is_area(const Said *s, int k) {
  return is_count(s->v[k], s->e->row1 - s->e->row0) && is_count(s->v[k + 1], s->e->col1 - s->e->col0) && area(s->e) > 0;
}
static bool c_scores(const Said *s) { return is_area(s, 0) && is_flops(s, s->v[2]) && are_scores(s); }
static bool c_scores_on_chip(const Said *s) { return c_scores(s) && never_moves(s); }
static bool c_pairs(const Said *s) { return is_flops(s, s->v[0]) && is_area(s, 1); }
static bool c_pairs_on_chip(const Said *s) { return c_pairs(s) && never_moves(s); }
static bool c_flops(const Said *s) { return is_flops(s, s->v[0]); }
static bool c_values(const Said *s) { return is_area(s, 0); }

/* "mask S" and "mask A = 0". */
static bool is_masked(const Said *s, const char *value) {
  char text[256];
  const char *set = strstr(line_text(s->r, s->e->line, text), " = ");
  return strcmp(value, set ? set + 3 : "−∞") == 0;
}
static bool is_mask(const Said *s) { return s->e->kind == EVENT_MASK; }
static bool c_mask_all(const Said *s) {
  return is_mask(s) && is_count(s->v[0], area(s->e)) && is_moved(s, s->v[1]) && rows_seeing(s) == 0;
}
static bool c_mask_row(const Said *s) {
  int64_t row;
  return is_mask(s) && row_of(s, s->v[0], &row) && keys_here(s, row) == 0 &&
         is_count(s->v[1], s->e->col1 - s->e->col0) && is_masked(s, s->v[2]);
}
static bool c_keeps(const Said *s) {
  int64_t row;
  return is_mask(s) && row_of(s, s->v[0], &row) && keys_here(s, row) > 0 && is_count(s->v[1], keys_here(s, row)) &&
         is_count(s->v[2], s->e->col1 - s->e->col0);
}
static bool c_mask_hides(const Said *s) {
  return is_mask(s) && hidden(s) > 0 && is_count(s->v[0], hidden(s)) && is_count(s->v[1], area(s->e));
}
static bool c_rows_see(const Said *s) {
  return is_mask(s) && is_count(s->v[0], rows_seeing(s)) && is_count(s->v[1], s->e->row1 - s->e->row0);
}
static int64_t shown_row(const Said *s) {
  const int64_t asked = s->r->stage->config.row_in_block, height = s->e->row1 - s->e->row0;
  const int64_t row = asked ? asked - 1 : height / 2;
  return s->e->row0 + (row < height ? row : height - 1);
}
/* All that is hidden from the row of the sentence before: by which table, and on which side. */
static bool hidden_by(const Said *s, bool by_blocks, int side) {
  const ClaimRun *r = s->r;
  const int64_t row = shown_row(s), own = row + (r->plan.shape.top_left ? 0 : r->plan.shape.N_k - r->plan.shape.N_q);
  int64_t n = 0;
  for (int64_t col = s->e->col0; col < s->e->col1; col++) {
    const size_t at = (size_t)(row * r->plan.shape.N_k + col);
    if (r->seen[at]) continue;
    n++;
    if (by_blocks ? !r->in_band[at] : r->in_band[at]) return false;
    if (!by_blocks && (side > 0 ? col <= own : col >= own)) return false;
  }
  return is_mask(s) && n > 0 && is_count(s->v[0], n) && is_masked(s, s->v[1]);
}
static bool c_after(const Said *s) { return hidden_by(s, false, 1); }
static bool c_ahead(const Said *s) { return hidden_by(s, false, -1); }
static bool c_blocks(const Said *s) { return hidden_by(s, true, 0); }
static bool c_masked(const Said *s) { return is_mask(s) && is_masked(s, s->v[0]); }

/* ---- Claims: maxima
 * -------------------------------------------------------------------------------------------------- */

static bool is_name(const Said *s, const char *label) { return name_of(s, label) >= 0; }

/* The line has "max(OLD, row max of T)" or "max(OLD, BEST)". */
static bool is_max_of(const Said *s, const char *old, const char *best) {
  char text[256], written[96];
  const int a = name_of(s, old), b = best ? name_of(s, best) : -1;
  if (a < 0 || (best && b < 0)) return false;
  sprintf(written, best ? "max(%s, %s)" : "max(%s, row max of ", s->r->schedule->names[a].text,
          best ? s->r->schedule->names[b].text : "");
  return strstr(line_text(s->r, s->e->line, text), written) != NULL;
}
static bool is_max(const char *a, const char *b, const char *c) {
  double x, y, z;
  return real(a, &x) && real(b, &y) && real(c, &z) && z == fmax(x, y);
}
static bool c_max_tile(const Said *s) {
  const int64_t row = shown_row(s);
  if (!is_max_of(s, s->v[0], NULL) || !is_max(s->v[1], s->v[2], s->v[3])) return false;
  return !s->r->scores ||
         ((!s->r->is_online || is_near(s->v[1], before(s, row).m)) && is_near(s->v[2], here(s, row).m));
}
static bool c_max_value(const Said *s) {
  const int64_t row = shown_row(s), part = s->e->split;
  if (!is_max_of(s, s->v[0], s->v[2]) || !is_max(s->v[1], s->v[3], s->v[4])) return false;
  return !is_known(s) || s->e->j >= 0 ||
         (is_near(s->v[1], parts_until(s, row, part, -INFINITY).m) && is_near(s->v[3], lse_of_part(s, row, part)));
}
static bool c_max_left_out(const Said *s) { return is_without_max(s) && is_name(s, s->v[0]) && is_near(s->v[1], 0); }
static bool c_best(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_near(s->v[1], here(s, row).m);
}
static bool c_stays_unseen(const Said *s) { /* a maximum or a sum */
  int64_t row;
  if (!row_of(s, s->v[0], &row) || keys_here(s, row) != 0 || !is_name(s, s->v[1]) || !is_tile(s->e)) return false;
  char text[256], kept[128];
  const char *max = strstr(line_text(s->r, s->e->line, text), " = max(");
  if (max) { /* what the line sets is what it is compared with next: "m_i = m'" */
    sprintf(kept, "%.*s = %.*s", (int)strcspn(max + 7, ","), max + 7, (int)(max - text), text);
    if (!strstr(s->r->schedule->text, kept) || strchr("+-*/ ", strstr(s->r->schedule->text, kept)[strlen(kept)]))
      return false;
  }
  if (!is_known(s)) return is_real(s->v[2]);
  const Softmax x = before(s, row), y = after(s, row);
  const bool is_m = strstr(s->v[1], "m") != NULL;
  return is_near(s->v[2], is_m ? x.m : x.l) && (is_m ? x.m == y.m : x.l == y.l);
}
static bool is_first(const Said *s, int64_t row) {
  return is_tile(s->e) && keys(s, row, BEFORE) == 0 && keys_here(s, row) > 0;
}
static bool c_first_max_part(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_first(s, row) && is_part(s, s->v[1]) && is_near(s->v[2], here(s, row).m);
}
/* Without "part": in no earlier part either. */
static bool first_of_all(const Said *s, int64_t row) {
  for (uint64_t k = 0; k < s->e->step; k++) {
    const Event *a = &s->r->events[k];
    if (a->op == s->e->op && a->kind == s->e->kind && a->i == s->e->i &&
        keys_of(s->r, s->r->seen, row, a->col0, a->col1) > 0)
      return false;
  }
  return true;
}
static bool c_first_max(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_first(s, row) && first_of_all(s, row) && is_near(s->v[1], here(s, row).m);
}
static bool c_until_larger(const Said *s) { return is_name(s, s->v[0]) && is_near(s->v[1], after(s, shown_row(s)).m); }
static bool c_larger(const Said *s) {
  int64_t row;
  double now, old;
  return row_of(s, s->v[0], &row) && real(s->v[1], &now) && real(s->v[2], &old) && before(s, row).m < here(s, row).m &&
         isfinite(before(s, row).m) && is_near(s->v[1], here(s, row).m) && is_near(s->v[2], before(s, row).m);
}
static bool c_not_larger(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && here(s, row).m <= before(s, row).m + 2e-3;
}
static bool c_row_part(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_part(s, s->v[1]) && is_count(s->v[2], s->r->plan.tiling.n_splits);
}
static bool c_row(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row);
}
static bool c_rows(const Said *s) { return is_count(s->v[0], s->e->row1 - s->e->row0) && s->e->row1 > s->e->row0; }

/* ---- Claims: scaling, adding, dividing
 * -------------------------------------------------------------------------------- */

/* A statement of the line that sets `name` with this operator: "O_i +=". */
static bool sets_with(const char *line, const char *name, const char *operation) {
  char statement[256];
  const char *at = line;
  while (*at) {
    const size_t n = strcspn(at, ";");
    sprintf(statement, "%.*s", (int)n, at);
    const char *sign = strstr(statement, operation);
    for (const char *found = statement; sign && (found = strstr(found, name)) && found < sign; found++)
      if ((found == statement || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", found[-1])) &&
          !strchr("'_abcdefghijklmnopqrstuvwxyz", found[strlen(name)] ? found[strlen(name)] : ' '))
        return true;
    at += n + (at[n] == ';');
  }
  return false;
}
static bool is_sum_of_itself(const char *line, const char *name) { /* "T = ... T ... + ..." */
  char statement[256], head[64];
  sprintf(head, "%s = ", name);
  for (const char *at = line; *at;) {
    const size_t n = strcspn(at, ";");
    sprintf(statement, "%.*s", (int)n, at + strspn(at, " "));
    if (strncmp(statement, head, strlen(head)) == 0 && strstr(statement + strlen(head), name) &&
        strstr(statement, " + "))
      return true;
    at += n + (at[n] == ';');
  }
  return false;
}
static bool adds_to(const Said *s, const Event *a, int name) {
  char text[256];
  if (a->kind == EVENT_SKIP || kernel_of(s->r, a) != kernel_of(s->r, s->e)) return false;
  line_text(s->r, a->line, text);
  return sets_with(text, s->r->schedule->names[name].text, " += ") ||
         is_sum_of_itself(text, s->r->schedule->names[name].text);
}

/* Loops around a line of the text, from the "for" lines above it. */
static uint8_t loops_of_line(const ClaimRun *r, int line) {
  uint8_t loops = 0;
  int indent = r->schedule->lines[line].indent;
  for (int k = line - 1; k >= 0 && indent > 0; k--) {
    char text[256];
    if (r->schedule->lines[k].indent >= indent) continue;
    indent = r->schedule->lines[k].indent;
    line_text(r, k, text);
    if (strstr(text, "row block i")) loops |= IN_I;
    if (strstr(text, "column block j")) loops |= IN_J;
    if (strstr(text, "split s")) loops |= IN_S;
    if (strstr(text, "head h")) loops |= IN_H;
  }
  return loops;
}

/* What a sum belongs to: the loops around the line of this kernel that begins it anew; else its subscripts. */
static uint8_t scope_of_sum(const Said *s, int name) {
  const Schedule *p = s->r->schedule;
  uint8_t scope = p->names[name].subscripts;
  for (int line = s->e->line - 1; line >= 0; line--) {
    char text[256], *at = text;
    line_text(s->r, line, text);
    if (strncmp(text, "kernel ", 7) == 0) break;
    if (strncmp(text, "store ", 6) == 0) at += 6;
    for (char *statement = strtok(at, ";"); statement; statement = strtok(NULL, ";")) {
      char *set = strstr(statement, " = "), written[80], value[256];
      if (!set || strncmp(text, "for", 3) == 0) continue;
      for (char *comma = at; (comma = strchr(comma, ',')) && at != text;) *comma = ' '; /* store m_i = -inf, l_i = 0 */
      snprintf(written, sizeof written, " %.*s,", (int)(set - statement), statement);
      for (char *c = written; *c; c++)
        if (*c == ',') *c = ' ';
      snprintf(value, sizeof value, "%s ", set + 2);
      char own[32];
      snprintf(own, sizeof own, " %s ", p->names[name].text);
      if (strstr(written, own) && !strstr(value, own)) return loops_of_line(s->r, line);
      if (at != text && strstr(set, own)) return loops_of_line(s->r, line);
    }
  }
  return scope;
}

static int64_t additions(const Said *s, int name, When when) {
  const uint8_t own = scope_of_sum(s, name);
  int64_t n = 0;
  for (uint64_t k = 0; k < s->r->n; k++) {
    const Event *a = &s->r->events[k], *e = s->e;
    if (!adds_to(s, a, name) || (when == BEFORE && k >= e->step)) continue;
    if (((own & IN_I) && a->i != e->i) || ((own & IN_J) && a->j != e->j) || ((own & IN_S) && a->split != e->split) ||
        ((own & IN_H) && a->head != e->head))
      continue;
    n++;
  }
  return n;
}
static bool c_added(const Said *s) {
  const int name = name_of(s, s->v[2]);
  return name >= 0 && adds_to(s, s->e, name) && is_count(s->v[0], additions(s, name, BEFORE) + 1) &&
         is_count(s->v[1], additions(s, name, ALL));
}
static bool c_tile_added(const Said *s) { return is_tile(s->e) && c_added(s); }
static int divided(const Said *s, char *divisor) { /* the name T of "T = T / U" */
  char text[256];
  line_text(s->r, s->e->line, text);
  for (int n = 0; n < s->r->schedule->n_names; n++)
    for (int u = 0; u < s->r->schedule->n_names; u++) {
      char written[64];
      const char *T = s->r->schedule->names[n].text, *U = s->r->schedule->names[u].text;
      sprintf(written, "%s = %s / %s", T, T, U);
      if (strcmp(text, written) != 0) continue;
      put_label(s->r->schedule, u, s->e, divisor);
      return n;
    }
  return -1;
}
static bool is_divisor(const Said *s, const char *label, const char *value) {
  char divisor[CLAIM_LABEL_BYTES] = "";
  double x0;
  if (divided(s, divisor) < 0 || strcmp(divisor, label) != 0) return false;
  if (!is_known(s) || !strstr(s->r->schedule->text, "mask ")) return real(value, &x0);
  const int64_t row = shown_row(s);
  if (s->e->j >= 0) return is_near(value, after(s, row).l);
  const Plan *p = &s->r->plan;
  const bool in_part = has_parts(s), has_combine = p->tiling.n_splits > 1 && !in_part;
  Softmax x = {-INFINITY, 0};
  const int64_t per = p->tiles_per_split * p->tiling.B_c, N = p->shape.N_k;
  if (has_combine)
    return is_near(value,
                   parts_until(s, row, p->tiling.n_splits, parts_until(s, row, p->tiling.n_splits, -INFINITY).m).l);
  if (in_part)
    see(s, row, s->e->split * per < N ? s->e->split * per : N,
        (s->e->split + 1) * per < N ? (s->e->split + 1) * per : N, &x);
  else
    see(s, row, 0, N, &x);
  return is_near(value, x.l);
}
static bool are_added(const Said *s, const char *added, const char *of) {
  char divisor[CLAIM_LABEL_BYTES];
  const int name = divided(s, divisor);
  return name >= 0 && additions(s, name, ALL) > 0 && (!added || is_count(added, additions(s, name, BEFORE))) &&
         is_count(of, additions(s, name, ALL)) &&
         (added ? additions(s, name, BEFORE) < additions(s, name, ALL)
                : additions(s, name, BEFORE) == additions(s, name, ALL));
}
static bool c_divide_for_now(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_divisor(s, s->v[1], s->v[2]) && are_added(s, s->v[3], s->v[4]);
}
static bool c_are_added(const Said *s) { return are_added(s, s->v[0], s->v[1]); }
static bool c_divide_done(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_divisor(s, s->v[1], s->v[2]) && are_added(s, NULL, s->v[3]) &&
         is_name(s, s->v[4]);
}
static bool c_done(const Said *s) { return are_added(s, NULL, s->v[0]) && is_name(s, s->v[1]); }
static bool c_value(const Said *s) { /* divided by it, or set */
  int64_t row;
  char divisor[CLAIM_LABEL_BYTES];
  if (!row_of(s, s->v[0], &row) || !is_name(s, s->v[1])) return false;
  return divided(s, divisor) >= 0 ? is_divisor(s, s->v[1], s->v[2]) : is_real(s->v[2]) && !strstr(s->v[2], "not");
}
static bool c_not_a_number(const Said *s) {
  int64_t row;
  if (!s->r->is_online) return row_of(s, s->v[0], &row) && is_name(s, s->v[1]); /* of a wrong program: not judged */
  if (!row_of(s, s->v[0], &row) || !is_name(s, s->v[1])) return false;
  for (int64_t col = 0; col < s->r->plan.shape.N_k; col++)
    if (s->r->seen[row * s->r->plan.shape.N_k + col] && exp(s->r->scores[row * s->r->plan.shape.N_k + col]) > 65000)
      return true;
  return false;
}
static bool c_empty_row(const Said *s) {
  int64_t row;
  char divisor[CLAIM_LABEL_BYTES];
  if (!row_of(s, s->v[0], &row) || divided(s, divisor) < 0 || !is_name(s, s->v[1])) return false;
  const Plan *p = &s->r->plan;
  const int64_t per = p->tiles_per_split * p->tiling.B_c, N = p->shape.N_k;
  const int64_t begin = has_parts(s) ? s->e->split * per : 0, end = has_parts(s) ? begin + per : N;
  return keys_of(s->r, s->r->seen, row, begin < N ? begin : N, end < N ? end : N) == 0;
}

static bool c_was_divided(const Said *s) {
  int64_t row;
  const int name = name_of(s, s->v[0]);
  bool is = false;
  for (uint64_t k = 0; name >= 0 && k < s->e->step; k++) {
    char text[256], written[64];
    sprintf(written, "%s = %s / ", s->r->schedule->names[name].text, s->r->schedule->names[name].text);
    is |= s->r->events[k].i == s->e->i &&
          strncmp(line_text(s->r, s->r->events[k].line, text), written, strlen(written)) == 0;
  }
  if (!is || !row_of(s, s->v[1], &row)) return false;
  if (!is_known(s)) return is_real(s->v[2]);
  const Softmax was = before(s, row), now = after(s, row);
  return is_near(s->v[2], was.l * factor_of(was.m, now.m));
}
static bool is_scale(const Said *s) {
  char text[256];
  return strstr(line_text(s->r, s->e->line, text), " *= ") != NULL;
}
static bool c_no_key_yet(const Said *s) {
  int64_t row;
  return is_scale(s) && row_of(s, s->v[0], &row) && keys(s, row, BEFORE) == 0 && first_of_all(s, row);
}
static bool c_no_key_yet_part(const Said *s) {
  int64_t row;
  return is_scale(s) && row_of(s, s->v[0], &row) && keys(s, row, BEFORE) == 0 && is_part(s, s->v[1]);
}
static bool c_times_1(const Said *s) {
  int64_t row;
  if (!is_scale(s) || !row_of(s, s->v[0], &row)) return false;
  return !is_known(s) || here(s, row).m <= before(s, row).m + 2e-3;
}
static bool is_factor(const Said *s, int64_t row, const char *text) {
  return !is_known(s) ? is_real(text) : is_near(text, factor_of(before(s, row).m, after(s, row).m));
}
static bool c_times(const Said *s) {
  int64_t row;
  return is_scale(s) && row_of(s, s->v[0], &row) && is_factor(s, row, s->v[1]) && keys(s, row, BEFORE) > 0;
}
static bool c_times_from_to(const Said *s) {
  int64_t row;
  if (!c_times(s) || !row_of(s, s->v[0], &row) || !is_name(s, s->v[2])) return false;
  const Softmax was = before(s, row), now = after(s, row);
  return !is_known(s) || (is_near(s->v[3], was.l) && is_near(s->v[4], was.l * factor_of(was.m, now.m)));
}
static bool c_overflow(const Said *s) {
  int64_t row, n = 0;
  if (!row_of(s, s->v[2], &row) || !is_count(s->v[1], s->e->col1 - s->e->col0)) return false;
  if (!s->r->is_online) return true; /* of a wrong program: not judged */
  for (int64_t col = s->e->col0; s->r->scores && col < s->e->col1; col++)
    n += s->r->seen[row * s->r->plan.shape.N_k + col] && exp(s->r->scores[row * s->r->plan.shape.N_k + col]) >= 65520;
  return n > 0 && is_count(s->v[0], n) && is_without_max(s);
}
static bool c_unseen_tile(const Said *s) {
  int64_t row;
  char text[256];
  if (!row_of(s, s->v[0], &row) || keys_here(s, row) != 0 || !is_tile(s->e)) return false;
  line_text(s->r, s->e->line, text);
  for (int name = 0; name < s->r->schedule->n_names; name++)
    if (adds_to(s, s->e, name) && is_count(s->v[1], additions(s, name, BEFORE) + 1) &&
        is_count(s->v[2], additions(s, name, ALL)))
      return true;
  return false;
}
static bool c_unseen(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_tile(s->e) && keys_here(s, row) == 0;
}
static bool c_sees(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_tile(s->e) && keys_here(s, row) > 0 && is_count(s->v[1], keys_here(s, row)) &&
         is_count(s->v[2], s->e->col1 - s->e->col0);
}
static bool is_sum(const Said *s, int64_t row, const char *label, const char *text) {
  const int name = name_of(s, label);
  if (name < 0 || !adds_to(s, s->e, name)) return false;
  return is_known(s) ? is_near(text, after(s, row).l) : is_real(text);
}
static bool is_all(const Said *s, int64_t row, const char *n) {
  return keys(s, row, AFTER) == 0 && keys_here(s, row) > 0 && is_count(n, keys(s, row, ALL));
}
static bool c_all_part(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_all(s, row, s->v[1]) && is_part(s, s->v[2]) && is_sum(s, row, s->v[3], s->v[4]);
}
static bool c_all(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_all(s, row, s->v[1]) && is_sum(s, row, s->v[2], s->v[3]) &&
         is_count(s->v[1], keys_of(s->r, s->r->seen, row, 0, s->r->plan.shape.N_k));
}
static bool c_first_part(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_first(s, row) && is_part(s, s->v[1]) && is_sum(s, row, s->v[2], s->v[3]);
}
static bool c_first(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_first(s, row) && first_of_all(s, row) && is_sum(s, row, s->v[1], s->v[2]) &&
         is_count(s->v[3], keys(s, row, AFTER));
}
static bool c_from_to(const Said *s) {
  int64_t row;
  char text[256];
  if (!row_of(s, s->v[0], &row) || !is_sum(s, row, s->v[1], s->v[3]) || !is_count(s->v[4], keys(s, row, AFTER)))
    return false;
  const Softmax was = before(s, row), now = after(s, row);
  const bool is_scaled = strstr(line_text(s->r, s->e->line, text), " += ") != NULL; /* by another line, before */
  return is_known(s) ? is_near(s->v[2], is_scaled ? was.l * factor_of(was.m, now.m) : was.l) : is_real(s->v[2]);
}
static bool c_part_added(const Said *s) {
  int64_t row;
  const int64_t n = s->r->plan.tiling.n_splits;
  if (!row_of(s, s->v[0], &row) || !is_part(s, s->v[1]) || !is_count(s->v[2], n) || s->e->j >= 0 ||
      !is_name(s, s->v[4]))
    return false;
  if (!is_known(s)) return is_real(s->v[3]) && is_real(s->v[5]);
  const double m = parts_until(s, row, n, -INFINITY).m;
  return is_near(s->v[3], factor_of(lse_of_part(s, row, s->e->split), m)) &&
         is_near(s->v[5], parts_until(s, row, s->e->split + 1, m).l);
}

/* ---- Claims: skips
 * ------------------------------------------------------------------------------------------------------ */

static bool is_nth_skip(const Said *s) {
  int64_t nth = 0, of = 0;
  const bool by_row = s->r->schedule->ops[s->e->op].dim == DIM_J;
  for (uint64_t k = 0; k < s->r->n; k++) {
    const Event *a = &s->r->events[k];
    if (a->kind != EVENT_SKIP || a->op != s->e->op || a->split != s->e->split ||
        (by_row ? a->i != s->e->i : a->j != s->e->j))
      continue;
    of++;
    nth += k <= s->e->step;
  }
  return s->e->kind == EVENT_SKIP && is_count(s->v[0], nth) && is_count(s->v[1], of) && rows_seeing(s) == 0;
}
static bool c_skip_row(const Said *s) {
  return is_nth_skip(s) && s->r->schedule->ops[s->e->op].dim == DIM_J && is_count(s->v[2], s->e->i) && !has_parts(s);
}
static bool c_skip_part(const Said *s) {
  return is_nth_skip(s) && s->r->schedule->ops[s->e->op].dim == DIM_J && is_count(s->v[2], s->e->i) &&
         is_part(s, s->v[3]);
}
static bool c_skip_column(const Said *s) {
  return is_nth_skip(s) && s->r->schedule->ops[s->e->op].dim == DIM_I && is_count(s->v[2], s->e->j);
}

/* What the walk without a mask has loaded or stored when it leaves this tile, less what this one has. */
static Wide spared(const Said *s, bool loads) {
  Wide all = 0, sum = 0, mine = 0;
  const int loop = s->r->schedule->ops[s->e->op].parent;
  for (uint64_t k = 0; k < s->r->n_dense; k++) {
    const Event *a = &s->r->dense[k];
    if (loads ? is_load(a) : is_store(a)) all += a->bytes;
    if (a->i == s->e->i && a->j == s->e->j && a->split == s->e->split && s->r->schedule->ops[a->op].parent == loop)
      sum = all;
  }
  for (uint64_t k = 0; k < s->step; k++)
    if (loads ? is_load(&s->r->events[k]) : is_store(&s->r->events[k])) mine += s->r->events[k].bytes;
  return sum - mine;
}
static bool c_spared(const Said *s) {
  return s->e->kind == EVENT_SKIP && is_bytes(s->v[0], spared(s, true)) && spared(s, false) == 0;
}
static bool c_spared_both(const Said *s) {
  return s->e->kind == EVENT_SKIP && is_bytes(s->v[0], spared(s, true)) && is_bytes(s->v[1], spared(s, false)) &&
         spared(s, false) > 0;
}

/* ---- The list
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct {
  const char *pattern;
  bool (*holds)(const Said *said);
  bool needs_event;
} Claim;

/* The more particular first: the first that matches is what is said. */
static const Claim CLAIMS[] = {
    {"Row {}, part {} of {}: times {}; {} becomes {}.", c_part_added, true},
    {"Row {}, part {} of {}.", c_row_part, true},
    {"Nothing has moved yet: {} are in HBM.", c_start, false},
    {"This run moves {} between HBM and SRAM.", c_whole, false},
    {"All {} steps are done.", c_end, true},
    {"{} crossed between HBM and SRAM in all.", c_crossed, true},
    {"{} of {} have moved so far.", c_so_far, true},
    {"{} comes back from HBM: {}.", c_comes_back, true},
    {"Load {} from HBM: {}.", c_load, true},
    {"Kernel {} stored it; load {} of {}.", c_stored_by, true},
    {"It was stored before; load {} of {} of this block.", c_stored_before, true},
    {"The whole run loads it only once.", c_once, true},
    {"The first of {} loads of this block.", c_first_of, true},
    {"Load {} again, for row block {}: {}.", c_again_row, true},
    {"Load {} again, for column block {}: {}.", c_again_column, true},
    {"Load {} again, for part {} of {}: {}.", c_again_part, true},
    {"Load {} again, for kernel {}: {}.", c_again_kernel, true},
    {"Load {} again: {}.", c_again, true},
    {"Load {} of {} of this block; {} of {} so far.", c_nth_load_read, true},
    {"Load {} of {} of this block.", c_nth_load, true},
    {"An earlier loop loaded it too; load {} of {}.", c_earlier_loop, true},
    {"Write {} of {} to this block.", c_nth_store, true},
    {"Add to {} in HBM: {}.", c_add_in_HBM, true},
    {"Kernel {} loads it; {} of {} written so far.", c_read_by_written, true},
    {"Kernel {} loads it.", c_read_by, true},
    {"Loads of this block still to come: {}.", c_to_come, true},
    {"Its only store, and no load follows: {} of {} of {}.", c_only_store_of, true},
    {"Its only store, and no load follows.", c_only_store, true},
    {"The last of its {} stores; no load follows.", c_last_store, true},
    {"Store {} of {} of this block.", c_nth_store, true},
    {"Store {}: {}.", c_store, true},
    {"Every row of {} meets every row of {}.", c_every, true},
    {"No row sees a key here: computed in vain.", c_in_vain, true},
    {"No row sees a key here: {} in vain.", c_flops_in_vain, true},
    {"{} for {} scores; the mask hides {} of them.", c_flops_hidden, true},
    {"{} × {} scores from {}; they never leave the chip.", c_scores_on_chip, true},
    {"{} × {} scores from {}.", c_scores, true},
    {"{} for {} × {} pairs; it never leaves the chip.", c_pairs_on_chip, true},
    {"{} for {} × {} pairs.", c_pairs, true},
    {"{} × {} values.", c_values, true},
    {"All {} scores of {} get masked.", c_mask_all, true},
    {"Row {} sees no key here: its {} scores become {}.", c_mask_row, true},
    {"Row {} keeps {} of {} scores.", c_keeps, true},
    {"{} of {} rows see a key.", c_rows_see, true},
    {"{} keys come after it: their scores become {}.", c_after, true},
    {"{} keys lie before its window: their scores become {}.", c_ahead, true},
    {"The pattern hides {} keys: their scores become {}.", c_blocks, true},
    {"A masked score becomes {}.", c_masked, true},
    {"The mask hides {} of {} scores.", c_mask_hides, true},
    {"The maximum is left out: {} is {}.", c_max_left_out, true},
    {"The best score of row {} here is {}.", c_best, true},
    {"Row {} sees no key here: {} stays {}.", c_stays_unseen, true},
    {"First keys row {} sees in part {}: best score {}.", c_first_max_part, true},
    {"First keys row {} sees: best score {}.", c_first_max, true},
    {"{} = {}, until a larger score comes.", c_until_larger, true},
    {"max({} {}, best score {}) = {}.", c_max_tile, true},
    {"Row {} has a larger maximum: {}, not {}.", c_larger, true},
    {"Row {} has no larger score here: its maximum stays.", c_not_larger, true},
    {"A maximum for each of {} rows.", c_rows, true},
    {"{} was divided before; row {}: times {}.", c_was_divided, true},
    {"Row {} has seen no key of part {} yet: nothing to scale.", c_no_key_yet_part, true},
    {"Row {} has seen no key yet: nothing to scale.", c_no_key_yet, true},
    {"Row {}: times 1, nothing changes.", c_times_1, true},
    {"Row {}: times {}; {} goes from {} to {}.", c_times_from_to, true},
    {"Row {}: times {}.", c_times, true},
    {"A factor for each of {} rows.", c_rows, true},
    {"{} of {} exponentials of row {} overflow {}.", c_overflow, true},
    {"Row {} sees no key here; tile {} of {}.", c_unseen_tile, true},
    {"Row {} has seen all {} keys of part {}: {} = {}.", c_all_part, true},
    {"Row {} has seen all its {} keys: {} = {}.", c_all, true},
    {"First keys of row {} in part {}: {} = {}.", c_first_part, true},
    {"First keys of row {}: {} = {}; {} keys to come.", c_first, true},
    {"Row {}: {} goes from {} to {}; {} keys to come.", c_from_to, true},
    {"Tile {} of {} is added to {}.", c_tile_added, true},
    {"Addition {} of {} to {}.", c_added, true},
    {"Row {} of {} is not a number; {} = {}.", c_not_a_number, true},
    {"Row {} sees no key: its {} is 0.", c_empty_row, true},
    {"Row {}: {} = {}; {} of {} tiles are added.", c_divide_for_now, true},
    {"{} of {} tiles are added.", c_are_added, true},
    {"Row {}: {} = {}; all {} additions to {} are done.", c_divide_done, true},
    {"All {} additions to {} are done.", c_done, true},
    {"Row {}: {} = {}.", c_value, true},
    {"Row {} sees no key here.", c_unseen, true},
    {"Row {} sees {} of {} keys here.", c_sees, true},
    {"Row {}.", c_row, true},
    {"Skip {} of {}, row block {}, part {}: no row sees these keys.", c_skip_part, true},
    {"Skip {} of {}, row block {}: no row sees these keys.", c_skip_row, true},
    {"Skip {} of {}, column block {}: no row sees these keys.", c_skip_column, true},
    {"So far {} were not loaded, {} not stored.", c_spared_both, true},
    {"So far {} were not loaded.", c_spared, true},
    {"max({} {}, {} {}) = {}.", c_max_value, true},
    {"It takes {}.", c_flops, true},
};
enum { N_CLAIMS = sizeof CLAIMS / sizeof *CLAIMS };

int claims_count(void) { return N_CLAIMS; }
const char *claim_pattern(int claim) { return CLAIMS[claim].pattern; }

/* {} takes as little as it can. */
static bool match(const char *pattern, const char *text, char v[VALUES][VALUE_BYTES], int n) {
  while (*pattern && strncmp(pattern, "{}", 2) != 0)
    if (*pattern++ != *text++) return false;
  if (!*pattern) return !*text;
  pattern += 2;
  for (size_t length = 1; length < VALUE_BYTES && length <= strlen(text); length++) {
    snprintf(v[n], VALUE_BYTES, "%.*s", (int)length, text);
    if (match(pattern, text + length, v, n + 1)) return true;
  }
  return false;
}

int claim_of(const char *text) {
  char v[VALUES][VALUE_BYTES];
  for (int k = 0; k < N_CLAIMS; k++)
    if (match(CLAIMS[k].pattern, text, v, 0)) return k;
  return -1;
}

/* A line of the program, or a statement of it: the same without subscripts here and indices there, and each name with
 * the indices of its blocks. */
static void plain(const char *from, bool is_program, char *to) {
  static const struct {
    const char *written, *printed;
  } SIGNS[] = {{"sqrt(d)", "√d"}, {"^T", "ᵀ"},    {" - ", " − "}, {"-inf", "−∞"},
               {"inf", "∞"},      {" x ", " × "}, {"'", "′"}};
  while (*from) {
    bool replaced = false;
    for (size_t k = 0; is_program && k < sizeof SIGNS / sizeof *SIGNS && !replaced; k++) {
      if (strncmp(from, SIGNS[k].written, strlen(SIGNS[k].written)) != 0) continue;
      to += sprintf(to, "%s", SIGNS[k].printed);
      from += strlen(SIGNS[k].written);
      replaced = true;
    }
    if (replaced) continue;
    if (is_program && *from == '_' && from[1] && strchr("ijsh", from[1])) {
      from++;
      while (*from && strchr("ijsh", *from)) from++;
    } else if (!is_program && *from == '[') {
      from += strcspn(from, "]") + 1;
    } else {
      *to++ = *from++;
    }
  }
  *to = '\0';
}
static bool is_line(const Said *s, const char *text) {
  char mine[256], said[256], line[256], bare[256];
  const size_t n = strlen(text);
  if (n < 2 || n >= sizeof mine || text[n - 1] != '.') return false;
  sprintf(mine, "%.*s", (int)n - 1, text);
  for (const char *open = mine; (open = strchr(open, '[')); open++) { /* "O[2,1]" is a name's block here */
    const char *start = open;
    while (start > mine && !strchr(" ,;(-", start[-1])) start--;
    char label[64];
    snprintf(label, sizeof label, "%.*s]", (int)(strchr(open, ']') - start), start);
    if (name_of(s, label) < 0) return false;
  }
  plain(mine, false, said);
  plain(line_text(s->r, s->e->line, line), true, bare);
  const char *at = strstr(bare, said);
  return at && (at == bare || at[-1] == ' ') &&
         (!at[strlen(said)] || at[strlen(said)] == ';' || at[strlen(said)] == ' ');
}

bool claim_holds(const ClaimRun *r, uint64_t step, const char *text, char *why) {
  Said s = {.r = r, .e = step ? &r->events[step - 1] : NULL, .step = step};
  for (int k = 0; k < N_CLAIMS; k++) {
    if (!match(CLAIMS[k].pattern, text, s.v, 0)) continue;
    const bool holds = (s.e || !CLAIMS[k].needs_event) && CLAIMS[k].holds(&s);
    snprintf(why, CLAIM_WHY_BYTES, "%s '%s'", holds ? "true:" : "false:", CLAIMS[k].pattern);
    return holds;
  }
  const bool holds = s.e && is_line(&s, text);
  snprintf(why, CLAIM_WHY_BYTES, holds ? "a line" : "no claim, and no line of the program");
  return holds;
}
