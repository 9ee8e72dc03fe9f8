/* Predictions over all runs: a group per kernel and mask, with the median and the worst error of each quantity. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void crosscheck_summarise(const Crosscheck *c, const CrosscheckGroup *g, CrosscheckSummary *summary, double *errors) {
  CrosscheckSummary s = {.quantity = summary->quantity};
  for (const CrosscheckItem *i = c->items; i < c->items + c->n_items; i++) {
    if (i->is_prediction != (g != NULL) || strcmp(i->quantity, s.quantity)) continue;
    if (g ? !belongs(i, g) : crosscheck_says_nothing(i)) continue;
    errors[s.n++] = i->error;
    s.n_exact += i->error == 0 && i->low == i->high;
    s.n_holding += i->holds;
    s.must_hold |= i->must_hold;
    s.is_range |= i->is_range;
    if (!s.where || fabs(i->error) > s.worst) s.where = i;
    s.worst = fmax(s.worst, fabs(i->error));
  }
  if (s.n) s.median_signed = median(errors, s.n);
  for (size_t i = 0; i < s.n; i++) errors[i] = fabs(errors[i]);
  if (s.n) s.median = median(errors, s.n);
  *summary = s;
}

static void summarise(const Crosscheck *c, CrosscheckGroup *g, double *errors) {
  g->n = 0;
  for (int q = 0; q < PREDICT_COUNT; q++) {
    CrosscheckSummary *s = &g->quantities[q];
    s->quantity = PREDICTED_NAMES[q].name;
    crosscheck_summarise(c, g, s, errors);
    if (s->n > g->n) g->n = s->n;
  }
}

static double *room_for_errors(const Crosscheck *c, Error *error) {
  double *room = malloc((c->n_items + 1) * sizeof *room);
  if (!room) error_set(error, STATUS_NO_MEMORY, "no memory for the summary of predictions");
  return room;
}

static Status find_groups(const Crosscheck *c, CrosscheckGroup **groups, size_t *n_groups, Error *error) {
  enum { GROUPS_MAX = 64 };
  CrosscheckGroup *found = calloc(GROUPS_MAX + 2, sizeof *found);
  double *errors = room_for_errors(c, error);
  size_t n = 0, kept = 0;
  *groups = found;
  *n_groups = 0;
  if (!found || !errors) {
    free(errors);
    return error_set(error, STATUS_NO_MEMORY, "no memory for the summary of predictions");
  }
  for (size_t i = 0; i < c->n_items; i++) { /* a kernel's run without a mask comes before those with one */
    const CrosscheckItem *item = &c->items[i];
    bool known = !item->is_prediction || n + 2 > GROUPS_MAX;
    for (size_t k = 0; k < n && !known; k++) known = !strcmp(found[k].kernel, item->kernel);
    for (int causal = 0; causal < 2 && !known; causal++)
      found[n++] = (CrosscheckGroup){item->kernel, causal, CROSSCHECK_LONG_N, INT64_MAX, 0, {{0}}};
  }
  for (size_t k = 0; k < n; k++) {
    summarise(c, &found[k], errors);
    if (found[k].n) found[kept++] = found[k];
  }
  found[kept] = (CrosscheckGroup){.min_N = CROSSCHECK_LONG_N, .max_N = INT64_MAX};
  found[kept + 1] = (CrosscheckGroup){.max_N = CROSSCHECK_LONG_N};
  for (size_t k = kept; k < kept + 2; k++) summarise(c, &found[k], errors);
  free(errors);
  if (n) *n_groups = kept + 2;
  return STATUS_OK;
}

/* Recordings of one run, and predictions of one quantity, next to each other. */
static int by_run(const void *left, const void *right) {
  const CrosscheckItem *a = *(CrosscheckItem *const *)left, *b = *(CrosscheckItem *const *)right;
  if (a->predicted != b->predicted) return a->predicted < b->predicted ? -1 : 1;
  const int kernels = strcmp(a->kernel, b->kernel),
            shapes = kernels ? kernels : memcmp(&a->shape, &b->shape, sizeof a->shape);
  if (shapes) return shapes;
  if (a->tiling.B_r != b->tiling.B_r) return a->tiling.B_r < b->tiling.B_r ? -1 : 1;
  return (a->tiling.B_c > b->tiling.B_c) - (a->tiling.B_c < b->tiling.B_c);
}

/* Adds what comes of n recordings of a run to a crosscheck; values: room for n. */
typedef Status AddRun(Crosscheck *to, CrosscheckItem *const *items, size_t n, double *values, Error *error);

/* How far each is from their median; of two, neither is the median. A time is not predicted, it is bounded. */
static Status add_deviations(Crosscheck *deviations, CrosscheckItem *const *items, size_t n, double *values,
                             Error *error) {
  Status status = STATUS_OK;
  if (n < 3 || items[0]->predicted == PREDICT_TIME) return status;
  for (size_t i = 0; i < n; i++) values[i] = items[i]->measured;
  const double middle = median(values, n);
  for (size_t i = 0; i < n && !status; i++) {
    CrosscheckItem item = *items[i];
    item.error = predict_error(item.predicted, item.measured, middle);
    status = crosscheck_add(deviations, &item, error);
  }
  return status;
}

static Status add_mean(Crosscheck *means, CrosscheckItem *const *items, size_t n, double *values, Error *error) {
  (void)values;
  CrosscheckItem mean = *items[0];
  double predicted = 0, measured = 0;
  if (mean.predicted == PREDICT_TIME) return STATUS_OK;
  for (size_t i = 0; i < n; i++) {
    predicted += items[i]->low / (double)n;
    measured += items[i]->measured / (double)n;
  }
  mean.low = mean.high = predicted;
  mean.measured = measured;
  mean.error = predict_error(mean.predicted, predicted, measured);
  mean.holds = fabs(mean.error) <= PREDICTED_NAMES[mean.predicted].band;
  return crosscheck_add(means, &mean, error);
}

static Status for_each_run(const Crosscheck *c, AddRun *add, Crosscheck *to, Error *error) {
  CrosscheckItem **items = malloc((c->n_items + 1) * sizeof *items);
  double *values = room_for_errors(c, error);
  Status status = items && values ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for the repeated runs");
  size_t n = 0;
  for (size_t i = 0; i < c->n_items && !status; i++)
    if (c->items[i].is_prediction) items[n++] = &c->items[i];
  if (n) qsort(items, n, sizeof *items, by_run);
  for (size_t first = 0, end; first < n && !status; first = end) {
    for (end = first + 1; end < n && by_run(&items[first], &items[end]) == 0;) end++;
    status = add(to, items + first, end - first, values, error);
  }
  free(items);
  free(values);
  return status;
}

Status crosscheck_spread(const Crosscheck *c, CrosscheckGroup *spread, Error *error) {
  Crosscheck deviations = {0};
  Status status = for_each_run(c, add_deviations, &deviations, error);
  double *errors = room_for_errors(&deviations, error);
  *spread = (CrosscheckGroup){.min_N = CROSSCHECK_LONG_N, .max_N = INT64_MAX};
  if (!status && errors) summarise(&deviations, spread, errors);
  for (int q = 0; q < PREDICT_COUNT; q++) spread->quantities[q].where = NULL; /* of `deviations` */
  crosscheck_free(&deviations);
  free(errors);
  return errors ? status : STATUS_NO_MEMORY;
}

static Status find_means(const Crosscheck *c, CrosscheckSummaries *all, Error *error) {
  all->n_means = all->n;
  all->of_means = malloc((all->n + 1) * sizeof *all->of_means);
  if (!all->of_means) return error_set(error, STATUS_NO_MEMORY, "no memory for the means");
  if (all->n) memcpy(all->of_means, all->groups, all->n * sizeof *all->of_means);
  Status status = for_each_run(c, add_mean, &all->means, error);
  double *errors = status ? NULL : room_for_errors(&all->means, error);
  for (size_t k = 0; errors && k < all->n_means; k++) summarise(&all->means, &all->of_means[k], errors);
  free(errors);
  return errors ? STATUS_OK : STATUS_NO_MEMORY;
}

Status crosscheck_summaries(const Crosscheck *c, bool with_means, CrosscheckSummaries *all, Error *error) {
  *all = (CrosscheckSummaries){0};
  const Status status = find_groups(c, &all->groups, &all->n, error);
  return status || !with_means ? status : find_means(c, all, error);
}

void crosscheck_summaries_free(CrosscheckSummaries *all) {
  crosscheck_free(&all->means);
  free(all->groups);
  free(all->of_means);
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
  put_groups(d, "means", s->of_means, s->n_means);
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
  for (size_t k = 0; k + 1 < all->n_means; k++)
    if (all->of_means[k].quantities[PREDICT_HBM_READ].n)
      print_group(out, NULL, &all->of_means[k], all->of_means[k].quantities[PREDICT_HBM_READ].n);
  const CrosscheckSummary *in_all = all->of_means[all->n_means - 2].quantities;
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
  CrosscheckGroup spread;
  Status status = crosscheck_summaries(c, true, &all, error);
  if (!status) status = crosscheck_spread(c, &spread, error);
  if (!status) {
    fprintf(out, "| kernel | runs | %s\n", QUANTITIES);
    for (size_t k = 0; k < all.n; k++)
      if (all.groups[k].quantities[PREDICT_HBM_READ].n) print_group(out, NULL, &all.groups[k], all.groups[k].n);
    if (spread.n) print_group(out, "*the counters themselves*", &spread, spread.n);
    if (spread.n) print_means(&all, out);
    fprintf(out, "\n| prediction | outside its band | worst error, %% | where |\n| --- | ---: | ---: | --- |\n");
    if (all.n) print_worst(&all.groups[all.n - 2], out);
  }
  crosscheck_summaries_free(&all);
  return status;
}
