/* What was compared: a table for people, and every item for programs. */
#include "viz/cli/crosscheck/crosscheck.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "viz/text/number.h"

void crosscheck_free(Crosscheck *c) {
  free(c->items);
  free(c->why);
  *c = (Crosscheck){0};
}

Status crosscheck_add(Crosscheck *c, const CrosscheckItem *item, Error *error) {
  if (c->n_items == c->capacity) {
    const size_t more = c->capacity ? 2 * c->capacity : 64;
    CrosscheckItem *items = realloc(c->items, more * sizeof *items);
    if (!items) return error_set(error, STATUS_NO_MEMORY, "no memory for the comparisons");
    c->items = items;
    c->capacity = more;
  }
  c->items[c->n_items++] = *item;
  if (item->must_hold && !item->holds) c->is_bad = true;
  return STATUS_OK;
}

void crosscheck_note(Crosscheck *c, const char *format, ...) {
  char text[sizeof c->notes[0]];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  for (int i = 0; i < c->n_notes; i++)
    if (!strcmp(c->notes[i], text)) return;
  if (c->n_notes < CROSSCHECK_NOTES_MAX) memcpy(c->notes[c->n_notes++], text, sizeof text);
}

bool crosscheck_says_nothing(const CrosscheckItem *i) {
  return i->is_range && !i->is_prediction && i->holds && i->high > 10 * i->low;
}

Status crosscheck_add_causes(Crosscheck *c, const CounterRow *row, const Shape *shape, const Tiling *tiling,
                             const Cause *causes, int n_causes, Error *error) {
  if (!c->why) c->why = calloc(CROSSCHECK_WHY_MAX, sizeof *c->why);
  if (!c->why) return error_set(error, STATUS_NO_MEMORY, "no memory for the causes");
  const bool has_some = c->n_why && c->why[c->n_why - 1].n_run == c->n_runs;
  if (!n_causes || (!has_some && c->n_why == CROSSCHECK_WHY_MAX)) return STATUS_OK;
  CrosscheckWhy *why = &c->why[has_some ? c->n_why - 1 : c->n_why++];
  why->n_run = c->n_runs;
  snprintf(why->kernel, sizeof why->kernel, "%.*s", (int)sizeof why->kernel - 1, row->kernel);
  crosscheck_shape_text(shape, tiling, why->run, sizeof why->run);
  for (int i = 0; i < n_causes && why->n_causes < CAUSES_MAX; i++) why->causes[why->n_causes++] = causes[i];
  return STATUS_OK;
}

/* A kernel that splits the keys has lines of its own: it is described only in part. So have the upper rungs, which were
 * recorded elsewhere. */
static const char *title_of(Counter counter, const Tiling *tiling, bool on_h100) {
  if (on_h100 && counter == COUNTER_BOUNDARY_READ) return "read, rungs 8 to 11, H100";
  if (on_h100 && counter == COUNTER_BOUNDARY_WRITE) return "written, rungs 8 to 11, H100";
  if (tiling->n_splits <= 1) return COUNTER_NAMES[counter].title;
  switch (counter) {
  case COUNTER_BOUNDARY_READ: return "read, keys split";
  case COUNTER_BOUNDARY_WRITE: return "written, keys split";
  case COUNTER_L2_WRITE_SECTORS: return "sectors written, keys split";
  default: return COUNTER_NAMES[counter].title;
  }
}

Status crosscheck_add_row(Crosscheck *c, const CounterRow *row, const KernelModel *model, const Shape *shape,
                          const Tiling *tiling, Error *error) {
  Comparison found[COMPARISONS_MAX];
  int n = 0;
  bool all_hold = true;
  Status status = counter_compare(row, model, shape, tiling, found, &n, error);
  for (int i = 0; i < n && status == STATUS_OK; i++) {
    CrosscheckItem item = {.shape = *shape,
                           .tiling = *tiling,
                           .quantity = title_of(found[i].counter, tiling, c->on_h100),
                           .is_range = found[i].kind == COMPARE_RANGE,
                           .must_hold = found[i].must_hold,
                           .holds = found[i].holds,
                           .low = (double)found[i].low,
                           .high = (double)found[i].high,
                           .measured = (double)found[i].measured,
                           .error = found[i].error};
    snprintf(item.kernel, sizeof item.kernel, "%.*s", (int)sizeof item.kernel - 1, row->kernel);
    status = crosscheck_add(c, &item, error);
    all_hold &= found[i].holds;
  }
  c->n_runs++;
  /* Where HBM alone was counted a range says little: what lies above once is explained too. */
  const bool hbm_alone = row->known[COUNTER_HBM_READ] && !row->known[COUNTER_BOUNDARY_READ];
  if (status || !c->explains || (all_hold && !hbm_alone)) return status;
  Cause causes[CAUSES_MAX];
  status = counter_explain(row, model, shape, tiling, &c->context, causes, &n, error);
  return status ? status : crosscheck_add_causes(c, row, shape, tiling, causes, n, error);
}

Status crosscheck_add_predictions(Crosscheck *c, const CounterRow *row, const Shape *shape, const Tiling *tiling,
                                  const Prediction *prediction, Error *error) {
  const Prediction measured = predict_measured(row);
  Status status = STATUS_OK;
  for (int q = 0; q < PREDICT_COUNT && status == STATUS_OK; q++) {
    if (!prediction->known[q] || !measured.known[q]) continue;
    const double off = predict_error((PredictedQuantity)q, prediction->value[q], measured.value[q]),
                 band = PREDICTED_NAMES[q].band;
    CrosscheckItem item = {.shape = *shape,
                           .tiling = *tiling,
                           .quantity = PREDICTED_NAMES[q].name,
                           .holds = band > 0 ? fabs(off) <= band : off >= 0,
                           .low = prediction->value[q],
                           .high = prediction->value[q],
                           .measured = measured.value[q],
                           .error = off,
                           .is_prediction = true,
                           .predicted = (PredictedQuantity)q};
    snprintf(item.kernel, sizeof item.kernel, "%.*s", (int)sizeof item.kernel - 1, row->kernel);
    status = crosscheck_add(c, &item, error);
  }
  return status;
}

static const char *verdict_of(const CrosscheckItem *i) {
  if (!i->holds) return i->must_hold ? "DIFFERS" : "outside";
  if (i->is_prediction) return PREDICTED_NAMES[i->predicted].band > 0 ? "within" : "bound";
  if (crosscheck_says_nothing(i)) return "says nothing";
  return i->is_range ? "in range" : i->error == 0 ? "exact" : "within 0.1 %";
}

static TextRole role_of(const CrosscheckItem *i) {
  if (crosscheck_says_nothing(i)) return ROLE_DIM;
  return i->holds ? ROLE_GOOD : i->must_hold ? ROLE_BAD : ROLE_WARN;
}

static Number number_of(const CrosscheckItem *i, double value) {
  if (i->is_prediction && i->predicted == PREDICT_HIT_RATE) return number_percent(value);
  if (i->is_prediction && i->predicted == PREDICT_TIME) return number_seconds(value);
  return number_count((Wide)(value + 0.5));
}

static Number model_text(const CrosscheckItem *i) {
  Number text = {""};
  if (i->low == i->high) return number_of(i, i->low);
  snprintf(text.text, sizeof text.text, "%.40s to %.40s", number_of(i, i->low).text, number_of(i, i->high).text);
  return text;
}

/* For programs: bytes and counts whole, rates and seconds with all their digits. */
static Number exact_text(const CrosscheckItem *i, double value) {
  const bool is_real = i->is_prediction && (i->predicted == PREDICT_HIT_RATE || i->predicted == PREDICT_TIME);
  return is_real ? number_exact_double(value) : number_digits((Wide)(value + 0.5));
}

void crosscheck_shape_text(const Shape *s, const Tiling *t, char *text, size_t size) {
  char heads[32] = "", keys[32] = "", batch[32] = "";
  if (s->batch > 1) snprintf(batch, sizeof batch, "batch %" PRId64 " ", s->batch);
  if (s->heads > 1) snprintf(heads, sizeof heads, "heads %" PRId64 "/%" PRId64 " ", s->heads, s->kv_heads);
  if (s->N_k != s->N_q) snprintf(keys, sizeof keys, "/%" PRId64, s->N_k);
  snprintf(text, size, "N %" PRId64 "%s d %" PRId64 " %s%s%s%s %" PRId64 "x%" PRId64, s->N_q, keys, s->d, batch, heads,
           dtype_name(s->dtype), s->causal ? " causal" : "", t->B_r, t->B_c);
}

/* For people: predicted, counted, difference, verdict, under a heading for each kernel and shape. */
static Table *add_items(Document *d, const Crosscheck *c) {
  static const TableColumn COLUMNS[] = {{.heading = "quantity", .shrink = TABLE_WRAP},
                                        {.heading = "predicted", .right = true, .shrink = TABLE_WRAP},
                                        {.heading = "counted", .right = true},
                                        {.heading = "difference", .right = true},
                                        {.heading = "verdict", .shrink = TABLE_WRAP}};
  Table *t = document_table(d, DOCUMENT_TEXT, NULL, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  char before[256] = "";
  for (const CrosscheckItem *i = c->items; i < c->items + c->n_items; i++) {
    char shape[160], heading[256];
    crosscheck_shape_text(&i->shape, &i->tiling, shape, sizeof shape);
    snprintf(heading, sizeof heading, "%s  %s", i->kernel, shape);
    if (strcmp(heading, before)) table_group(t, "%s", heading);
    memcpy(before, heading, sizeof before);
    table_text(t, ROLE_PLAIN, i->quantity);
    table_text(t, ROLE_PLAIN, model_text(i).text);
    table_text(t, ROLE_PLAIN, number_of(i, i->measured).text);
    if (i->is_prediction && i->predicted == PREDICT_TIME)
      table_format(t, ROLE_PLAIN, "%.2f x", 1 + i->error);
    else
      table_format(t, ROLE_PLAIN, "%.3f%%", fabs(i->error) < 5e-6 ? 0 : i->error * 100); /* no "-0.000" */
    table_text(t, role_of(i), verdict_of(i));
  }
  return t;
}

static void add_summary(Table *t, const CrosscheckSummary *s, bool is_time) {
  if (!s->n) return;
  table_text(t, ROLE_PLAIN, s->quantity);
  table_count(t, ROLE_PLAIN, s->n);
  table_count(t, ROLE_PLAIN, s->n_exact);
  if (is_time) {
    table_format(t, ROLE_PLAIN, "%.1f x", 1 + s->median);
    table_format(t, ROLE_PLAIN, "%.1f x", 1 + s->worst);
  } else {
    table_format(t, ROLE_PLAIN, "%.3f%%", 100 * s->median);
    table_format(t, ROLE_PLAIN, "%.3f%%", 100 * s->worst);
  }
  if (s->n_holding == s->n)
    table_text(t, ROLE_GOOD,
               is_time       ? "bound"
               : s->is_range ? (s->n_exact ? "exact or in range" : "in range")
                             : "holds");
  else
    table_format(t, s->must_hold ? ROLE_BAD : ROLE_WARN, "%zu of %zu hold", s->n_holding, s->n);
}

static void add_group(Table *t, const char *heading, const CrosscheckGroup *g) {
  if (!g->n) return;
  table_group(t, heading, CROSSCHECK_LONG_N);
  for (int q = 0; q < PREDICT_COUNT; q++) add_summary(t, &g->quantities[q], q == PREDICT_TIME);
}

/* The laws by quantity; where `t` is NULL, for JSON. errors: room for all items. */
static void add_laws(Document *d, const Crosscheck *c, Table *t, double *errors) {
  const char *done[COMPARISONS_MAX * 4];
  int n_done = 0;
  for (const CrosscheckItem *i = c->items; i < c->items + c->n_items; i++) {
    bool known = i->is_prediction || crosscheck_says_nothing(i) || n_done == COMPARISONS_MAX * 4;
    for (int k = 0; k < n_done && !known; k++) known = !strcmp(done[k], i->quantity);
    if (known) continue;
    CrosscheckSummary s = {.quantity = done[n_done++] = i->quantity};
    crosscheck_summarise(c, NULL, &s, errors);
    if (t)
      add_summary(t, &s, false);
    else
      put_json(d, NULL,
               json_pack("{s:s, s:I, s:I, s:I, s:f, s:f, s:b}", "quantity", s.quantity, "runs", (json_int_t)s.n,
                         "exact", (json_int_t)s.n_exact, "holding", (json_int_t)s.n_holding, "median_error", s.median,
                         "worst_error", s.worst, "must_hold", (int)s.must_hold));
  }
}

/* For people, of many runs: a line for each quantity. */
static Status add_quantities(Document *d, const Crosscheck *c, double *errors, Table **table, Error *error) {
  static const TableColumn COLUMNS[] = {
      {.heading = "quantity", .shrink = TABLE_WRAP}, {.heading = "runs", .right = true},
      {.heading = "exact", .right = true},           {.heading = "median error", .right = true},
      {.heading = "worst error", .right = true},     {.heading = "verdict", .shrink = TABLE_WRAP}};
  CrosscheckGroup *groups, *of_means = NULL;
  Crosscheck means = {0};
  size_t n, n_means = 0;
  Status status = crosscheck_groups(c, &groups, &n, error);
  if (status == STATUS_OK) status = crosscheck_means(c, &means, &of_means, &n_means, error);
  Table *t = *table = document_table(d, DOCUMENT_TEXT, NULL, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  add_laws(d, c, t, errors);
  if (n) add_group(t, "Predicted behind L2, N from %d on", &groups[n - 2]);
  if (n) add_group(t, "Predicted behind L2, N below %d", &groups[n - 1]);
  if (n_means) add_group(t, "Means of a shape's recordings, N from %d on", &of_means[n_means - 2]);
  table_note(t,
             "%zu kernel runs. Exact: equal to the last byte or instruction. Of a range, an error is from its "
             "near end. A prediction holds within %.0f %% (HBM reads, L2 sectors), %.0f %% (fabric), %.0f point (hit "
             "rate); one that does not is no failure. --details shows each run, --markdown each kernel.",
             c->n_runs, 100 * PREDICTED_NAMES[PREDICT_HBM_READ].band, 100 * PREDICTED_NAMES[PREDICT_FABRIC].band,
             100 * PREDICTED_NAMES[PREDICT_HIT_RATE].band);
  free(groups);
  free(of_means);
  crosscheck_free(&means);
  return status;
}

static void add_title_and_causes(Table *t, const Crosscheck *c, const char *title) {
  table_title(t, "%s", title);
  for (const CrosscheckWhy *w = c->why; w < c->why + c->n_why; w++) {
    table_note(t, "Likely causes: %s  %s", w->kernel, w->run);
    for (int i = 0; i < w->n_causes; i++) table_note(t, "%d %s", i + 1, w->causes[i].text);
  }
}

/* For programs: every line complete in itself. */
static void add_lines(Document *d, const Crosscheck *c) {
  static const TableColumn COLUMNS[] = {{.csv = "kernel"},    {.csv = "shape"},      {.csv = "quantity"},
                                        {.csv = "model_low"}, {.csv = "model_high"}, {.csv = "measured"},
                                        {.csv = "error"},     {.csv = "verdict"}};
  Table *t = document_table(d, DOCUMENT_CSV, NULL, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  for (size_t n = 0; n < c->n_items; n++) {
    const CrosscheckItem *i = &c->items[n];
    char shape[160];
    crosscheck_shape_text(&i->shape, &i->tiling, shape, sizeof shape);
    table_text(t, ROLE_PLAIN, i->kernel);
    table_text(t, ROLE_PLAIN, shape);
    table_text(t, ROLE_PLAIN, i->quantity);
    table_text(t, ROLE_PLAIN, exact_text(i, i->low).text);
    table_text(t, ROLE_PLAIN, exact_text(i, i->high).text);
    table_text(t, ROLE_PLAIN, exact_text(i, i->measured).text);
    table_format(t, ROLE_PLAIN, "%.6g", i->error);
    table_text(t, ROLE_PLAIN, verdict_of(i));
  }
}

static void put_why(Document *d, const Crosscheck *c) {
  put_array(d, "why");
  for (const CrosscheckWhy *w = c->why; w < c->why + c->n_why; w++) {
    put_object(d, NULL);
    put_text(d, "kernel", w->kernel);
    put_text(d, "run", w->run);
    put_array(d, "causes");
    for (const Cause *i = w->causes; i < w->causes + w->n_causes; i++)
      put_json(d, NULL,
               json_pack("{s:s, s:s, s:f, s:f, s:f}", "cause", cause_name(i->kind), "text", i->text, "read_bytes",
                         i->read, "write_bytes", i->write, "off", i->off));
    put_end(d);
    put_end(d);
  }
  put_end(d);
}

static json_t *value_json(const CrosscheckItem *i, double value) {
  const bool is_real = i->is_prediction && (i->predicted == PREDICT_HIT_RATE || i->predicted == PREDICT_TIME);
  return is_real ? json_real(value) : table_json_whole((Wide)(value + 0.5));
}

static json_t *item_json(const CrosscheckItem *i) {
  return json_pack(
      "{s:s, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:b}, s:I, s:I, s:s, s:o, s:o, s:o, s:f, s:b, s:s}", "kernel",
      i->kernel, "shape", "batch", (json_int_t)i->shape.batch, "heads", (json_int_t)i->shape.heads, "kv_heads",
      (json_int_t)i->shape.kv_heads, "seq_q", (json_int_t)i->shape.N_q, "seq_k", (json_int_t)i->shape.N_k, "head_dim",
      (json_int_t)i->shape.d, "dtype", dtype_name(i->shape.dtype), "causal", (int)i->shape.causal, "block_q",
      (json_int_t)i->tiling.B_r, "block_k", (json_int_t)i->tiling.B_c, "quantity", i->quantity, "model_low",
      value_json(i, i->low), "model_high", value_json(i, i->high), "measured", value_json(i, i->measured), "error",
      i->error, "must_hold", (int)i->must_hold, "verdict", verdict_of(i));
}

Status crosscheck_fill(Document *d, const Crosscheck *c, const char *title, const char *gpu, bool details,
                       Error *error) {
  enum { RUNS_SHOWN = 8 };
  Status status = STATUS_OK;
  if (d->form == DOCUMENT_CSV) {
    add_lines(d, c);
    return status;
  }
  double *errors = malloc((c->n_items + 1) * sizeof *errors);
  if (!errors) return error_set(error, STATUS_NO_MEMORY, "no memory for the summary");
  if (d->form == DOCUMENT_JSON) {
    put_text(d, "source", title);
    put_whole(d, "runs", c->n_runs);
    put_flag(d, "holds", !c->is_bad);
    put_array(d, "summary");
    add_laws(d, c, NULL, errors);
    put_end(d);
    status = crosscheck_put_predictions(d, c, gpu, error);
    put_array(d, "comparisons");
    for (size_t n = 0; n < c->n_items; n++) put_json(d, NULL, item_json(&c->items[n]));
    put_end(d);
    put_why(d, c);
    put_array(d, "notes");
    for (int i = 0; i < c->n_notes; i++) put_text(d, NULL, c->notes[i]);
    put_end(d);
  } else {
    Table *t;
    for (int i = 0; i < c->n_notes; i++) document_line(d, ROLE_PLAIN, "%s", c->notes[i]);
    if (c->n_notes) document_gap(d);
    if (details || c->n_runs <= RUNS_SHOWN)
      t = add_items(d, c);
    else
      status = add_quantities(d, c, errors, &t, error);
    add_title_and_causes(t, c, title);
  }
  free(errors);
  return status;
}
