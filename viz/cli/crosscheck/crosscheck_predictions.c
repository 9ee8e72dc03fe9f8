/* Predictions over all runs: a group per kernel and mask, with the median and the worst error of each quantity. */
#include <stdlib.h>

#include "viz/cli/crosscheck/crosscheck.h"

static bool belongs(const CrosscheckItem *i, const CrosscheckGroup *g) {
  return i->shape.N_q >= g->min_N && i->shape.N_q < g->max_N &&
         (!g->kernel || (!strcmp(i->kernel, g->kernel) && i->shape.causal == g->causal));
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t n) {
  qsort(values, n, sizeof *values, by_value);
  return values[n / 2];
}

void crosscheck_summarise(const Crosscheck *c, const CrosscheckGroup *g, CrosscheckSummary *summary) {
  CrosscheckSummary s = {.quantity = summary->quantity};
  for (const CrosscheckItem *i = c->items; i < c->items + c->n_items; i++) {
    if (i->is_prediction != (g != NULL) || strcmp(i->quantity, s.quantity)) continue;
    if (g ? !belongs(i, g) : crosscheck_says_nothing(i)) continue;
    c->errors[s.n++] = i->error;
    s.n_exact += i->error == 0 && i->low == i->high;
    s.n_holding += i->holds;
    s.must_hold |= i->must_hold;
    s.is_range |= i->is_range;
    if (!s.where || fabs(i->error) > s.worst) s.where = i;
    s.worst = fmax(s.worst, fabs(i->error));
  }
  if (s.n) s.median_signed = median(c->errors, s.n);
  for (size_t i = 0; i < s.n; i++) c->errors[i] = fabs(c->errors[i]);
  if (s.n) s.median = median(c->errors, s.n);
  *summary = s;
}

static void summarise(const Crosscheck *c, CrosscheckGroup *g) {
  g->n = 0;
  for (int q = 0; q < PREDICT_COUNT; q++) {
    CrosscheckSummary *s = &g->quantities[q];
    s->quantity = PREDICTED_NAMES[q].name;
    crosscheck_summarise(c, g, s);
    if (s->n > g->n) g->n = s->n;
  }
}

static void find_groups(const Crosscheck *c, CrosscheckSummaries *all) {
  CrosscheckGroup *const found = all->groups;
  size_t n = 0;
  for (const CrosscheckItem *i = c->items; i < c->items + c->n_items; i++) {
    bool known = !i->is_prediction || n == CROSSCHECK_GROUPS_MAX;
    for (size_t k = 0; k < n && !known; k++) known = !strcmp(found[k].kernel, i->kernel);
    for (int causal = 0; causal < 2 && !known; causal++) /* runs without a mask come before those with one */
      found[n++] = (CrosscheckGroup){.kernel = i->kernel, causal, CROSSCHECK_LONG_N, INT64_MAX};
  }
  for (size_t k = 0; k < n; k++) {
    summarise(c, &found[k]);
    if (found[k].n) found[all->n++] = found[k];
  }
  if (!n) return;
  found[all->n++] = (CrosscheckGroup){.min_N = CROSSCHECK_LONG_N, .max_N = INT64_MAX};
  found[all->n++] = (CrosscheckGroup){.max_N = CROSSCHECK_LONG_N};
  for (size_t k = all->n - 2; k < all->n; k++) summarise(c, &found[k]);
}

/* Recordings of one run, and predictions of one quantity, next to each other. */
static int by_run(const void *left, const void *right) {
  const CrosscheckItem *a = left, *b = right;
  if (a->predicted != b->predicted) return a->predicted < b->predicted ? -1 : 1;
  const int kernels = strcmp(a->kernel, b->kernel),
            shapes = kernels ? kernels : memcmp(&a->shape, &b->shape, sizeof a->shape);
  if (shapes) return shapes;
  if (a->tiling.B_r != b->tiling.B_r) return a->tiling.B_r < b->tiling.B_r ? -1 : 1;
  return (a->tiling.B_c > b->tiling.B_c) - (a->tiling.B_c < b->tiling.B_c);
}

/* What comes of n recordings of a run: their mean, and how far each is from their median; of two, neither is that. */
static Status add_run(CrosscheckSummaries *all, CrosscheckItem *items, size_t n, double *values, Error *error) {
  CrosscheckItem mean = items[0];
  mean.low = mean.measured = 0;
  for (size_t i = 0; i < n; i++) {
    mean.low += items[i].low / (double)n;
    mean.measured += items[i].measured / (double)n;
    values[i] = items[i].measured;
  }
  mean.high = mean.low;
  mean.error = predict_error(mean.predicted, mean.low, mean.measured);
  mean.holds = fabs(mean.error) <= PREDICTED_NAMES[mean.predicted].band;
  Status status = crosscheck_add(&all->means, &mean, error);
  const double middle = median(values, n);
  for (size_t i = 0; i < n && n > 2 && !status; i++) {
    items[i].error = predict_error(items[i].predicted, items[i].measured, middle);
    status = crosscheck_add(&all->deviations, &items[i], error);
  }
  return status;
}

/* A time is not predicted, it is bounded. */
static Status add_runs(const Crosscheck *c, CrosscheckSummaries *all, Error *error) {
  Crosscheck sorted = {0};
  Status status = STATUS_OK;
  for (const CrosscheckItem *i = c->items; i < c->items + c->n_items && !status; i++)
    if (i->is_prediction && i->predicted != PREDICT_TIME) status = crosscheck_add(&sorted, i, error);
  const size_t n = sorted.n_items;
  if (n) qsort(sorted.items, n, sizeof *sorted.items, by_run);
  for (size_t first = 0, end; first < n && !status; first = end) {
    for (end = first + 1; end < n && by_run(&sorted.items[first], &sorted.items[end]) == 0;) end++;
    status = add_run(all, sorted.items + first, end - first, sorted.errors, error);
  }
  crosscheck_free(&sorted);
  return status;
}

Status crosscheck_summaries(const Crosscheck *c, CrosscheckSummaries *all, Error *error) {
  *all = (CrosscheckSummaries){.spread = {.min_N = CROSSCHECK_LONG_N, .max_N = INT64_MAX}};
  find_groups(c, all);
  const Status status = add_runs(c, all, error);
  memcpy(all->of_means, all->groups, sizeof all->of_means);
  for (size_t k = 0; k < all->n; k++) summarise(&all->means, &all->of_means[k]);
  summarise(&all->deviations, &all->spread);
  return status;
}

void crosscheck_summaries_free(CrosscheckSummaries *all) {
  crosscheck_free(&all->means);
  crosscheck_free(&all->deviations);
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

static void put_group(Document *d, const CrosscheckGroup *g) {
  put_values(d, "{kernel:s long:b causal:b runs:w quantities[", g->kernel, g->min_N > 0, g->causal, (Wide)g->n);
  for (int q = 0; q < PREDICT_COUNT; q++) {
    const CrosscheckSummary *s = &g->quantities[q];
    if (s->n)
      put_values(d, "{quantity:s band:f runs:w within:w median_error:f worst_error:f median_signed_error:f}",
                 s->quantity, PREDICTED_NAMES[q].band, (Wide)s->n, (Wide)s->n_holding, s->median, s->worst,
                 s->median_signed);
  }
  put_values(d, "]}");
}

static void put_groups(Document *d, const char *key, const CrosscheckGroup *groups, size_t n) {
  put_values(d, "%[", key);
  for (size_t k = 0; k < n; k++) put_group(d, &groups[k]);
  put_end(d);
}

void crosscheck_put_predictions(Document *d, const CrosscheckSummaries *s, const char *gpu) {
  put_values(d, "predictions{gpu:s", gpu);
  put_groups(d, "kernels", s->groups, s->n);
  put_groups(d, "means", s->of_means, s->n);
  put_end(d);
}

/* ---- Markdown ------------------------------------------------------------------------------------- */

static const char QUANTITIES[] = "HBM reads | fabric | L2 sectors | L2 hit rate, points |\n| --- | ---: | ---: | ---: "
                                 "| ---: | ---: |";

static void print_group(FILE *out, const char *name, const CrosscheckGroup *g, size_t n) {
  if (!name && !g->kernel) name = g->min_N ? "all" : "shorter ones";
  if (name)
    fprintf(out, "| %s | %zu |", name, n);
  else
    fprintf(out, "| `%s`%s | %zu |", g->kernel, g->causal ? ", causal" : "", n);
  for (int q = 0; q < PREDICT_TIME; q++) {
    const CrosscheckSummary *s = &g->quantities[q];
    if (s->n) fprintf(out, " %.1f / %.1f", 100 * s->median, 100 * s->worst);
    fputs(" |", out);
  }
  fputc('\n', out);
}

/* A line per kernel and mask, and one for all of them; of means from CROSSCHECK_LONG_N on alone. */
static void print_means(const CrosscheckSummaries *all, FILE *out) {
  fprintf(out, "\n| kernel: means of a shape's recordings | shapes | %s\n", QUANTITIES);
  for (size_t k = 0; k + 1 < all->n; k++)
    if (all->of_means[k].quantities[PREDICT_HBM_READ].n)
      print_group(out, NULL, &all->of_means[k], all->of_means[k].quantities[PREDICT_HBM_READ].n);
  const CrosscheckSummary *in_all = all->of_means[all->n - 2].quantities;
  fprintf(out, "| *outside its band* | |");
  for (int q = 0; q < PREDICT_TIME; q++) fprintf(out, " %zu of %zu |", in_all[q].n - in_all[q].n_holding, in_all[q].n);
  fputc('\n', out);
}

static void print_worst(const CrosscheckGroup *of, FILE *out) {
  for (int q = 0; q < PREDICT_TIME; q++) {
    const CrosscheckSummary *s = &of->quantities[q];
    char shape[160];
    if (!s->where) continue;
    crosscheck_shape_text(&s->where->shape, &s->where->tiling, shape, sizeof shape);
    fprintf(out, "| %s | %zu of %zu | %.1f | `%s`, %s |\n", s->quantity, s->n - s->n_holding, s->n,
            100 * s->where->error, s->where->kernel, shape);
  }
}

Status crosscheck_print_markdown(const Crosscheck *c, FILE *out, Error *error) {
  CrosscheckSummaries all;
  const Status status = crosscheck_summaries(c, &all, error);
  if (!status) {
    fprintf(out, "| kernel | runs | %s\n", QUANTITIES);
    for (size_t k = 0; k < all.n; k++)
      if (all.groups[k].quantities[PREDICT_HBM_READ].n) print_group(out, NULL, &all.groups[k], all.groups[k].n);
    if (all.spread.n) print_group(out, "*the counters themselves*", &all.spread, all.spread.n);
    if (all.spread.n) print_means(&all, out);
    fprintf(out, "\n| prediction | outside its band | worst error, %% | where |\n| --- | ---: | ---: | --- |\n");
    if (all.n) print_worst(&all.groups[all.n - 2], out);
  }
  crosscheck_summaries_free(&all);
  return status;
}
