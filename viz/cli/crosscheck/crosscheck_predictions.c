/* Predictions over all runs: a line per kernel and mask, with the median and the worst error of each quantity. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "viz/cli/crosscheck/crosscheck.h"
#include "viz/text/number.h"

static bool belongs(const CrosscheckItem *i, const CrosscheckGroup *g) {
  return i->is_prediction && i->shape.N_q >= g->min_N && i->shape.N_q < g->max_N &&
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

/* errors: room for all items. */
static void summarise(const Crosscheck *c, CrosscheckGroup *g, double *errors) {
  g->n = 0;
  for (int q = 0; q < PREDICT_COUNT; q++) {
    PredictionSummary s = {0};
    for (size_t i = 0; i < c->n_items; i++) {
      const CrosscheckItem *item = &c->items[i];
      if (!belongs(item, g) || item->predicted != (PredictedQuantity)q) continue;
      errors[s.n++] = item->error;
      s.n_within += item->holds;
      if (!s.where || fabs(item->error) > s.worst) s.where = item;
      s.worst = fmax(s.worst, fabs(item->error));
    }
    if (s.n) {
      s.median_signed = median(errors, s.n);
      for (size_t i = 0; i < s.n; i++) errors[i] = fabs(errors[i]);
      s.median = median(errors, s.n);
    }
    if (s.n > g->n) g->n = s.n;
    g->quantities[q] = s;
  }
}

Status crosscheck_groups(const Crosscheck *c, CrosscheckGroup **groups, size_t *n_groups, Error *error) {
  enum { GROUPS_MAX = 64 };
  CrosscheckGroup *found = calloc(GROUPS_MAX + 2, sizeof *found);
  double *errors = malloc((c->n_items + 1) * sizeof *errors);
  size_t n = 0;
  if (!found || !errors) {
    free(found);
    free(errors);
    return error_set(error, STATUS_NO_MEMORY, "no memory for the summary of predictions");
  }
  for (size_t i = 0; i < c->n_items; i++) { /* a kernel's run without a mask comes before those with one */
    const CrosscheckItem *item = &c->items[i];
    bool known = !item->is_prediction || n + 2 > GROUPS_MAX;
    for (size_t k = 0; k < n && !known; k++) known = !strcmp(found[k].kernel, item->kernel);
    if (known) continue;
    found[n++] = (CrosscheckGroup){.kernel = item->kernel, .min_N = CROSSCHECK_LONG_N, .max_N = INT64_MAX};
    found[n++] =
        (CrosscheckGroup){.kernel = item->kernel, .causal = true, .min_N = CROSSCHECK_LONG_N, .max_N = INT64_MAX};
  }
  size_t kept = 0;
  for (size_t k = 0; k < n; k++) {
    summarise(c, &found[k], errors);
    if (found[k].n) found[kept++] = found[k];
  }
  found[kept] = (CrosscheckGroup){.min_N = CROSSCHECK_LONG_N, .max_N = INT64_MAX};
  found[kept + 1] = (CrosscheckGroup){.max_N = CROSSCHECK_LONG_N};
  summarise(c, &found[kept], errors);
  summarise(c, &found[kept + 1], errors);
  free(errors);
  *groups = found;
  *n_groups = n ? kept + 2 : 0;
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

/* How far each is from their median. */
static Status add_deviations(Crosscheck *deviations, CrosscheckItem *const *items, size_t n, double *values,
                             Error *error) {
  enum { REPEATS_LEAST = 3 }; /* of two, neither is the median */
  Status status = STATUS_OK;
  if (n < REPEATS_LEAST) return status;
  for (size_t i = 0; i < n; i++) values[i] = items[i]->measured;
  const double middle = median(values, n);
  for (size_t i = 0; i < n && status == STATUS_OK; i++) {
    CrosscheckItem item = *items[i];
    item.error = predict_error(item.predicted, item.measured, middle);
    item.holds = true;
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
  double *values = malloc((c->n_items + 1) * sizeof *values);
  Status status = items && values ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for the repeated runs");
  size_t n = 0;
  for (size_t i = 0; i < c->n_items && status == STATUS_OK; i++)
    if (c->items[i].is_prediction) items[n++] = &c->items[i];
  if (n) qsort(items, n, sizeof *items, by_run);
  for (size_t first = 0, end; first < n && status == STATUS_OK; first = end) {
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
  CrosscheckGroup *groups = NULL;
  size_t n_groups = 0;
  if (status == STATUS_OK) status = crosscheck_groups(&deviations, &groups, &n_groups, error);
  *spread = n_groups ? groups[n_groups - 2] : (CrosscheckGroup){0};
  for (int q = 0; q < PREDICT_COUNT; q++) spread->quantities[q].where = NULL; /* of `deviations` */
  spread->quantities[PREDICT_TIME].n = 0; /* a time is not predicted, it is bounded */
  free(groups);
  crosscheck_free(&deviations);
  return status;
}

Status crosscheck_means(const Crosscheck *c, Crosscheck *means, CrosscheckGroup **groups, size_t *n_groups,
                        Error *error) {
  *means = (Crosscheck){0};
  *groups = NULL;
  Status status = for_each_run(c, add_mean, means, error);
  if (status == STATUS_OK) status = crosscheck_groups(c, groups, n_groups, error);
  double *errors = malloc((means->n_items + 1) * sizeof *errors);
  if (status == STATUS_OK && !errors)
    status = error_set(error, STATUS_NO_MEMORY, "no memory for the means of recordings");
  for (size_t k = 0; status == STATUS_OK && k < *n_groups; k++) summarise(means, &(*groups)[k], errors);
  free(errors);
  if (status == STATUS_OK) return STATUS_OK;
  free(*groups);
  *groups = NULL;
  crosscheck_free(means);
  return status;
}

static void group_name(const CrosscheckGroup *g, const char *quotes, char *name, size_t size) {
  if (g->kernel)
    snprintf(name, size, "%s%s%s%s", quotes, g->kernel, quotes, g->causal ? ", causal" : "");
  else
    snprintf(name, size, g->min_N ? "all" : "shorter ones");
}

static void add_cell(Table *table, const PredictionSummary *s, PredictedQuantity q) {
  const bool good = s->n_within == s->n;
  if (!s->n)
    table_empty(table, true);
  else if (q == PREDICT_TIME)
    table_format(table, ROLE_PLAIN, "%.1f x", 1 + s->median_signed);
  else
    table_format(table, good ? ROLE_GOOD : ROLE_WARN, s->worst < 0.0995 ? "%.1f/%.1f" : "%.1f/%.0f", 100 * s->median,
                 100 * s->worst);
}

static void add_cells(Table *table, const CrosscheckGroup *g) {
  table_count(table, ROLE_PLAIN, g->n);
  for (int q = 0; q < PREDICT_COUNT; q++) add_cell(table, &g->quantities[q], (PredictedQuantity)q);
}

static const char *ablation_name(int w) { return w ? REFINEMENTS[w - 1].name : "whole model"; }

static void add_row(Table *t, TextRole role, const char *name, const CrosscheckGroup *g) {
  table_text(t, role, name);
  add_cells(t, g);
}

/* Recordings of one run against their median, and means of them, where a run was recorded more than once. */
static Status add_recordings(Table *t, const Crosscheck *c, Error *error) {
  CrosscheckGroup spread, *of_means = NULL;
  Crosscheck means = {0};
  size_t n;
  Status status = crosscheck_spread(c, &spread, error);
  if (status || !spread.n) return status;
  add_row(t, ROLE_DIM, "the counters themselves", &spread);
  status = crosscheck_means(c, &means, &of_means, &n, error);
  if (of_means) add_row(t, ROLE_PLAIN, "all, means of recordings", &of_means[n - 2]);
  free(of_means);
  crosscheck_free(&means);
  return status;
}

static Status add_table(Document *d, const Crosscheck *c, const CrosscheckGroup *groups, size_t n, const char *gpu,
                        Error *error) {
  static const TableColumn COLUMNS[] = {
      {.heading = "kernel", .shrink = TABLE_WRAP}, {.heading = "runs", .right = true},
      {.heading = "HBM reads", .right = true},     {.heading = "fabric", .right = true},
      {.heading = "sectors", .right = true},       {.heading = "hit rate", .right = true},
      {.heading = "time", .right = true}};
  document_gap(d);
  Table *t = document_table(d, DOCUMENT_TEXT, NULL, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  table_title(t, "the model of %s's L2, N from %d on: median/worst error in %%", gpu, CROSSCHECK_LONG_N);
  for (size_t k = 0; k < n; k++) {
    const CrosscheckGroup *g = &groups[k];
    char name[128];
    if (!g->n) continue;
    if (!g->kernel && g->min_N) table_rule(t);
    group_name(g, "", name, sizeof name);
    add_row(t, ROLE_PLAIN, name, g);
  }
  const Status status = add_recordings(t, c, error);
  for (int w = 0; c->has_ablations && w <= N_REFINEMENTS; w++) {
    if (w == 0) table_group(t, "All of those, with parts of the model left out");
    add_row(t, ROLE_PLAIN, ablation_name(w), &c->ablations[w]);
  }
  table_note(
      t,
      "Within: %.0f %% for HBM reads, %.0f %% for the fabric, %.0f %% for sectors read from L2, %.0f point for the "
      "hit rate (its errors are in points). The counters themselves: recordings of one run against their median. "
      "Means: those of a run's recordings, and of their predictions. Time: measured over the least time, median. A "
      "prediction outside its band is no failure; --details shows which runs.",
      100 * PREDICTED_NAMES[PREDICT_HBM_READ].band, 100 * PREDICTED_NAMES[PREDICT_FABRIC].band,
      100 * PREDICTED_NAMES[PREDICT_L2_SECTORS].band, 100 * PREDICTED_NAMES[PREDICT_HIT_RATE].band);
  return status;
}

static json_t *summary_json(const PredictionSummary *s, PredictedQuantity q) {
  return json_pack("{s:s, s:f, s:I, s:I, s:f, s:f, s:f}", "quantity", PREDICTED_NAMES[q].name, "band",
                   PREDICTED_NAMES[q].band, "runs", (json_int_t)s->n, "within", (json_int_t)s->n_within, "median_error",
                   s->median, "worst_error", s->worst, "median_signed_error", s->median_signed);
}

static json_t *group_json(const CrosscheckGroup *g) {
  json_t *quantities = json_array();
  for (int q = 0; q < PREDICT_COUNT; q++)
    if (g->quantities[q].n) json_array_append_new(quantities, summary_json(&g->quantities[q], (PredictedQuantity)q));
  return json_pack("{s:s?, s:b, s:b, s:I, s:o}", "kernel", g->kernel, "long", (int)(g->min_N > 0), "causal",
                   (int)g->causal, "runs", (json_int_t)g->n, "quantities", quantities);
}

static Status put_predictions(Document *d, const Crosscheck *c, const CrosscheckGroup *groups, size_t n,
                              const char *gpu, Error *error) {
  Crosscheck means;
  CrosscheckGroup *of_means;
  size_t n_means;
  const Status status = crosscheck_means(c, &means, &of_means, &n_means, error);
  if (status) return status;
  put_object(d, "predictions");
  put_text(d, "gpu", gpu);
  put_array(d, "kernels");
  for (size_t k = 0; k < n; k++) put_json(d, NULL, group_json(&groups[k]));
  put_end(d);
  put_array(d, "means");
  for (size_t k = 0; k < n_means; k++) put_json(d, NULL, group_json(&of_means[k]));
  put_end(d);
  if (c->has_ablations) {
    put_object(d, "ablations");
    for (int w = 0; w <= N_REFINEMENTS; w++) put_json(d, ablation_name(w), group_json(&c->ablations[w]));
    put_end(d);
  } else {
    put_null(d, "ablations");
  }
  put_end(d);
  free(of_means);
  crosscheck_free(&means);
  return STATUS_OK;
}

Status crosscheck_fill_predictions(Document *d, const Crosscheck *c, const char *gpu, Error *error) {
  CrosscheckGroup *groups;
  size_t n;
  Status status = crosscheck_groups(c, &groups, &n, error);
  if (status) return status;
  if (d->form == DOCUMENT_JSON)
    status = put_predictions(d, c, groups, n, gpu, error);
  else if (n)
    status = add_table(d, c, groups, n, gpu, error);
  free(groups);
  return status;
}

/* ---- Markdown ------------------------------------------------------------------------------------- */

static void markdown_cells(FILE *out, const CrosscheckGroup *g) {
  for (int q = 0; q < PREDICT_TIME; q++) {
    const PredictionSummary *s = &g->quantities[q];
    if (s->n)
      fprintf(out, " %.1f / %.1f |", 100 * s->median, 100 * s->worst);
    else
      fprintf(out, " |");
  }
  fputc('\n', out);
}

static void markdown_worst(FILE *out, const PredictionSummary *s, PredictedQuantity q) {
  char shape[160];
  if (!s->where) return;
  crosscheck_shape_text(s->where, shape, sizeof shape);
  fprintf(out, "| %s | %zu of %zu | %.1f | `%s`, %s |\n", PREDICTED_NAMES[q].name, s->n - s->n_within, s->n,
          100 * s->where->error, s->where->kernel, shape);
}

/* A line per kernel and mask, and one for all of them, of runs from CROSSCHECK_LONG_N on. */
static Status print_means(const Crosscheck *c, FILE *out, Error *error) {
  Crosscheck means;
  CrosscheckGroup *groups;
  size_t n;
  const Status status = crosscheck_means(c, &means, &groups, &n, error);
  if (status) return status;
  fprintf(
      out,
      "\n| kernel: means of a shape's recordings | shapes | HBM reads | fabric | L2 sectors | L2 hit rate, points |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: |\n");
  for (size_t k = 0; k + 1 < n; k++) {
    const CrosscheckGroup *g = &groups[k];
    char name[128];
    if (!g->quantities[PREDICT_HBM_READ].n) continue;
    group_name(g, "`", name, sizeof name);
    fprintf(out, "| %s | %zu |", name, g->quantities[PREDICT_HBM_READ].n);
    markdown_cells(out, g);
  }
  const PredictionSummary *all = groups[n - 2].quantities;
  fprintf(out, "| *outside its band* | |");
  for (int q = 0; q < PREDICT_TIME; q++) fprintf(out, " %zu of %zu |", all[q].n - all[q].n_within, all[q].n);
  fputc('\n', out);
  free(groups);
  crosscheck_free(&means);
  return STATUS_OK;
}

void crosscheck_print_ablations(const Crosscheck *c, FILE *out) {
  fprintf(out, "| without | models | constants | source | HBM reads | fabric | L2 sectors | L2 hit rate, points |\n"
               "| --- | --- | --- | --- | ---: | ---: | ---: | ---: |\n");
  for (int w = 0; w <= N_REFINEMENTS; w++) {
    const RefinementRow *row = w ? &REFINEMENTS[w - 1] : NULL;
    if (row)
      fprintf(out, "| `%s` | %s | %s | %s |", row->name, row->models, row->constants, row->source);
    else
      fprintf(out, "| *nothing* | the whole model, %zu shapes | | |", c->ablations[w].quantities[PREDICT_HBM_READ].n);
    markdown_cells(out, &c->ablations[w]);
  }
}

Status crosscheck_print_markdown(const Crosscheck *c, FILE *out, Error *error) {
  CrosscheckGroup *groups;
  size_t n;
  Status status = crosscheck_groups(c, &groups, &n, error);
  if (status) return status;
  fprintf(out, "| kernel | runs | HBM reads | fabric | L2 sectors | L2 hit rate, points |\n| --- | ---: | ---: | ---: "
               "| ---: | ---: |\n");
  for (size_t k = 0; k < n; k++) {
    const CrosscheckGroup *g = &groups[k];
    if (!g->quantities[PREDICT_HBM_READ].n) continue;
    char name[128];
    group_name(g, "`", name, sizeof name);
    fprintf(out, "| %s | %zu |", name, g->quantities[PREDICT_HBM_READ].n);
    markdown_cells(out, g);
  }
  CrosscheckGroup spread;
  status = crosscheck_spread(c, &spread, error);
  if (spread.n) {
    fprintf(out, "| *the counters themselves* | %zu |", spread.n);
    markdown_cells(out, &spread);
  }
  if (status == STATUS_OK && spread.n) status = print_means(c, out, error);
  fprintf(out, "\n| prediction | outside its band | worst error, %% | where |\n| --- | ---: | ---: | --- |\n");
  for (int q = 0; n && q < PREDICT_TIME; q++) markdown_worst(out, &groups[n - 2].quantities[q], (PredictedQuantity)q);
  free(groups);
  return status;
}
