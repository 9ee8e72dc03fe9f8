/* What was compared: a table for people, and every item for programs. */
#include "viz/cli/crosscheck/crosscheck.h"

#include <stdlib.h>

void crosscheck_free(Crosscheck *c) {
  free(c->items);
  free(c->errors);
  free(c->why);
  *c = (Crosscheck){0};
}

Status crosscheck_add(Crosscheck *c, const CrosscheckItem *item, Error *error) {
  if (!grow_array((void **)&c->items, &c->capacity, c->n_items + 1, sizeof *c->items) ||
      !grow_array((void **)&c->errors, &c->errors_capacity, c->n_items + 1, sizeof *c->errors))
    return error_no_memory(error, "for the comparisons");
  c->items[c->n_items++] = *item;
  c->is_bad |= item->must_hold && !item->holds;
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
  if (!c->why) return error_no_memory(error, "for the causes");
  const bool has_some = c->n_why && c->why[c->n_why - 1].n_run == c->n_runs;
  if (!n_causes || (!has_some && c->n_why == CROSSCHECK_WHY_MAX)) return STATUS_OK;
  CrosscheckWhy *why = &c->why[has_some ? c->n_why - 1 : c->n_why++];
  why->n_run = c->n_runs;
  snprintf(why->kernel, sizeof why->kernel, "%.63s", row->kernel);
  crosscheck_shape_text(shape, tiling, why->run, sizeof why->run);
  for (int i = 0; i < n_causes && why->n_causes < CAUSES_MAX; i++) why->causes[why->n_causes++] = causes[i];
  return STATUS_OK;
}

/* A kernel that splits the keys has lines of its own: it is described only in part. So have the upper rungs, which were
 * recorded elsewhere. */
static const char *title_of(Counter counter, const Tiling *tiling, bool on_h100) {
  if (on_h100) return counter == COUNTER_BOUNDARY_READ ? "read, rungs 8 to 11, H100" : "written, rungs 8 to 11, H100";
  if (tiling->n_splits <= 1) return COUNTER_NAMES[counter].title;
  switch (counter) {
  case COUNTER_BOUNDARY_READ: return "read, keys split";
  case COUNTER_BOUNDARY_WRITE: return "written, keys split";
  case COUNTER_L2_WRITE_SECTORS: return "sectors written, keys split";
  default: return COUNTER_NAMES[counter].title;
  }
}

CrosscheckItem crosscheck_item(const char *kernel, const Shape *shape, const Tiling *tiling, const char *quantity) {
  CrosscheckItem item = {.shape = *shape, .tiling = *tiling, .quantity = quantity};
  snprintf(item.kernel, sizeof item.kernel, "%.63s", kernel);
  return item;
}

Status crosscheck_add_row(Crosscheck *c, const CounterRow *row, const KernelModel *model, const Shape *shape,
                          const Tiling *tiling, Error *error) {
  Comparison found[COMPARISONS_MAX];
  int n = 0;
  bool all_hold = true;
  Status status = counter_compare(row, model, shape, tiling, found, &n, error);
  for (int i = 0; i < n && !status; i++) {
    if (c->on_h100 && found[i].counter > COUNTER_BOUNDARY_WRITE) continue;
    CrosscheckItem item = crosscheck_item(row->kernel, shape, tiling, title_of(found[i].counter, tiling, c->on_h100));
    item.is_range = found[i].kind == COMPARE_RANGE;
    item.must_hold = found[i].must_hold;
    item.holds = found[i].holds;
    item.low = (double)found[i].low;
    item.high = (double)found[i].high;
    item.measured = (double)found[i].measured;
    item.error = found[i].error;
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
  for (int q = 0; q < PREDICT_COUNT && !status; q++) {
    if (isnan(prediction->value[q] + measured.value[q])) continue;
    const double off = predict_error((PredictedQuantity)q, prediction->value[q], measured.value[q]),
                 band = PREDICTED_NAMES[q].band;
    CrosscheckItem item = crosscheck_item(row->kernel, shape, tiling, PREDICTED_NAMES[q].name);
    item.holds = band > 0 ? fabs(off) <= band : off >= 0;
    item.low = item.high = prediction->value[q];
    item.measured = measured.value[q];
    item.error = off;
    item.is_prediction = true;
    item.predicted = (PredictedQuantity)q;
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

/* A count, a rate or a time as the next cell: rounded for people, in full for programs. */
static void value_cell(Table *t, const CrosscheckItem *i, double value) {
  if (i->is_prediction && i->predicted == PREDICT_HIT_RATE)
    table_number(t, ROLE_PLAIN, number_percent, value);
  else if (i->is_prediction && i->predicted == PREDICT_TIME)
    table_number(t, ROLE_PLAIN, number_seconds, value);
  else
    table_whole(t, ROLE_PLAIN, number_count, (Wide)(value + 0.5));
}

void crosscheck_shape_text(const Shape *s, const Tiling *t, char *text, size_t size) {
  char heads[32] = "", keys[32] = "", batch[32] = "";
  if (s->batch > 1) snprintf(batch, sizeof batch, "batch %jd ", s->batch);
  if (s->heads > 1) snprintf(heads, sizeof heads, "heads %jd/%jd ", s->heads, s->kv_heads);
  if (s->N_k != s->N_q) snprintf(keys, sizeof keys, "/%jd", s->N_k);
  snprintf(text, size, "N %jd%s d %jd %s%s%s%s %jdx%jd", s->N_q, keys, s->d, batch, heads, dtype_name(s->dtype),
           s->causal ? " causal" : "", t->B_r, t->B_c);
}

static void put_item(Document *d, const Table *t, const CrosscheckItem *i) {
  const Shape *s = &i->shape;
  put_row(d, t);
  put_values(d, "shape{batch:i heads:i kv_heads:i seq_q:i seq_k:i head_dim:i dtype:s causal:b}", s->batch, s->heads,
             s->kv_heads, s->N_q, s->N_k, s->d, dtype_name(s->dtype), s->causal);
  put_values(d, "block_q:i block_k:i must_hold:b", i->tiling.B_r, i->tiling.B_c, i->must_hold);
  put_end(d);
}

/* What was predicted and counted: for people under a heading for each kernel and shape, for programs line by line. */
static Table *add_items(Document *d, const Crosscheck *c) {
  Table *t = put_table(d, DOCUMENT_ALL, "comparisons",
                       "&kernel|;shape|quantity~=quantity|predicted>~&model_low|"
                       "&model_high|counted>&measured|difference>&error|"
                       "verdict~=verdict");
  char before[256] = "";
  for (const CrosscheckItem *i = c->items; i < c->items + c->n_items; i++) {
    char shape[160], heading[256], off[32];
    const bool is_time = i->is_prediction && i->predicted == PREDICT_TIME;
    crosscheck_shape_text(&i->shape, &i->tiling, shape, sizeof shape);
    snprintf(heading, sizeof heading, "%s  %s", i->kernel, shape);
    if (strcmp(heading, before)) table_group(t, "%s", heading);
    memcpy(before, heading, sizeof before);
    if (is_time)
      snprintf(off, sizeof off, "%.2f x", 1 + i->error);
    else
      snprintf(off, sizeof off, "%.3f%%", fabs(i->error) < 5e-6 ? 0 : i->error * 100); /* no "-0.000" */
    put_cells(t, "sss", i->kernel, shape, i->quantity);
    if (i->low < i->high && d->form == DOCUMENT_TEXT) /* a count: of 80 columns a second one leaves the table too few */
      table_format(t, ROLE_PLAIN, "%s to %s", number_count((Wide)(i->low + 0.5)).text,
                   number_count((Wide)(i->high + 0.5)).text);
    else
      value_cell(t, i, i->low);
    value_cell(t, i, i->high);
    value_cell(t, i, i->measured);
    table_real(t, ROLE_PLAIN, i->error, off);
    put_cells(t, "@s", role_of(i), verdict_of(i));
    put_item(d, t, i);
  }
  return t;
}

static void add_summary(Document *d, Table *t, const CrosscheckSummary *s, bool is_time) {
  char median[32], worst[32];
  if (!s->n) return;
  snprintf(median, sizeof median, is_time ? "%.1f x" : "%.3f%%", is_time ? 1 + s->median : 100 * s->median);
  snprintf(worst, sizeof worst, is_time ? "%.1f x" : "%.3f%%", is_time ? 1 + s->worst : 100 * s->worst);
  put_cells(t, "swww", s->quantity, (Wide)s->n, (Wide)s->n_exact, (Wide)s->n_holding);
  table_real(t, ROLE_PLAIN, s->median, median);
  table_real(t, ROLE_PLAIN, s->worst, worst);
  if (s->n_holding == s->n)
    table_text(t, ROLE_GOOD,
               is_time       ? "bound"
               : s->is_range ? (s->n_exact ? "exact or in range" : "in range")
                             : "holds");
  else
    table_format(t, s->must_hold ? ROLE_BAD : ROLE_WARN, "%zu of %zu hold", s->n_holding, s->n);
  put_row(d, t);
  put_values(d, "must_hold:b", s->must_hold);
  put_end(d);
}

static void add_group(Document *d, Table *t, const char *heading, const CrosscheckGroup *g, int n_quantities) {
  if (!g->n) return;
  table_group(t, heading, CROSSCHECK_LONG_N);
  for (int q = 0; q < n_quantities; q++) add_summary(d, t, &g->quantities[q], q == PREDICT_TIME);
}

/* The laws by quantity, the first of them in a sentence. A sample leaves out ranges that hold: they say little. */
static void add_laws(Document *d, const Crosscheck *c, Table *t) {
  const char *done[COMPARISONS_MAX * 4];
  int n_done = 0;
  for (const CrosscheckItem *i = c->items; i < c->items + c->n_items; i++) {
    bool known = i->is_prediction || crosscheck_says_nothing(i) || n_done == COMPARISONS_MAX * 4;
    for (int k = 0; k < n_done && !known; k++) known = !strcmp(done[k], i->quantity);
    if (known) continue;
    CrosscheckSummary s = {.quantity = done[n_done++] = i->quantity};
    crosscheck_summarise(c, NULL, &s);
    if (n_done == 1)
      table_title(t, "%s: exact in %s of %s runs, %.3f %% off at worst.\n%s", s.quantity, number_count(s.n_exact).text,
                  number_count(s.n).text, 100 * s.worst, c->title);
    if (!c->samples || !s.is_range || s.n_exact || s.worst > 0) add_summary(d, t, &s, false);
  }
}

/* The predictions: for people below the laws, of a sample those of long launches alone. */
static Status add_predictions(Document *d, const Crosscheck *c, Table *t, Error *error) {
  CrosscheckSummaries all;
  const Status status = crosscheck_summaries(c, &all, error);
  if (!status && d->form == DOCUMENT_JSON) {
    crosscheck_put_predictions(d, &all, c->gpu);
  } else if (!status && all.n) {
    const int n_quantities = c->samples ? PREDICT_TIME : PREDICT_COUNT;
    add_group(d, t, "Predicted behind L2, N from %d on", &all.groups[all.n - 2], n_quantities);
    if (!c->samples) {
      add_group(d, t, "Predicted behind L2, N below %d", &all.groups[all.n - 1], PREDICT_COUNT);
      add_group(d, t, "Means of a shape's recordings, N from %d on", &all.of_means[all.n - 2], PREDICT_TIME);
    }
  }
  crosscheck_summaries_free(&all);
  return status;
}

/* A line for each quantity. */
static Status add_quantities(Document *d, const Crosscheck *c, Table **table, Error *error) {
  Table *t = *table = put_table(d, DOCUMENT_TEXT | DOCUMENT_JSON, "summary",
                                "quantity~=quantity|runs>=runs|exact>=exact|=holding|median error>=median_error|"
                                "worst error>=worst_error|verdict~");
  add_laws(d, c, t);
  const Status status = add_predictions(d, c, t, error);
  table_note(t,
             "%zu kernel runs. Exact: equal to the last byte. Of a range, an error is from its near end. Predictions "
             "hold within %.0f %% (HBM reads, L2 sectors), %.0f %% (fabric), %.0f point (hit rate).%s",
             c->n_runs, 100 * PREDICTED_NAMES[PREDICT_HBM_READ].band, 100 * PREDICTED_NAMES[PREDICT_FABRIC].band,
             100 * PREDICTED_NAMES[PREDICT_HIT_RATE].band,
             c->samples ? " A sample was predicted; --all: every run." : "");
  return status;
}

static void add_causes(Table *t, const Crosscheck *c) {
  for (const CrosscheckWhy *w = c->why; w < c->why + c->n_why; w++) {
    table_note(t, "Likely causes: %s  %s", w->kernel, w->run);
    for (int i = 0; i < w->n_causes; i++) table_note(t, "%d %s", i + 1, w->causes[i].text);
  }
}

static void put_why(Document *d, const Crosscheck *c) {
  put_values(d, "why[");
  for (const CrosscheckWhy *w = c->why; w < c->why + c->n_why; w++) {
    put_values(d, "{kernel:s run:s causes[", w->kernel, w->run);
    for (const Cause *i = w->causes; i < w->causes + w->n_causes; i++)
      put_values(d, "{cause:s text:s read_bytes:f write_bytes:f off:f}", cause_name(i->kind), i->text, i->read,
                 i->write, i->off);
    put_values(d, "]}");
  }
  put_end(d);
}

Status crosscheck_fill(Document *d, const Crosscheck *c, Error *error) {
  enum { RUNS_SHOWN = 8 };
  const bool is_text = d->form == DOCUMENT_TEXT, are_many = c->n_runs > RUNS_SHOWN;
  Table *t = NULL;
  Status status = STATUS_OK;
  put_values(d, "source:s runs:w holds:b notes[", c->title, (Wide)c->n_runs, !c->is_bad);
  for (int i = 0; i < c->n_notes; i++) put_values(d, ":s", c->notes[i]);
  put_end(d);
  for (int i = 0; i < c->n_notes && is_text; i++) document_line(d, ROLE_PLAIN, "%s", c->notes[i]);
  if (c->n_notes) document_gap(d);
  if (d->form == DOCUMENT_JSON || (is_text && are_many)) status = add_quantities(d, c, &t, error);
  if (t) add_causes(t, c);
  if (!is_text || d->details || !are_many) {
    Table *items = add_items(d, c);
    if (!t) table_title(items, "%s", c->title), add_causes(items, c);
  }
  put_why(d, c);
  return status;
}
