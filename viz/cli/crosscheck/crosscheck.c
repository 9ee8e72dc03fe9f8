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

static Status keep_why(Crosscheck *c, const CrosscheckWhy *why, Error *error) {
  if (!c->why) c->why = calloc(CROSSCHECK_WHY_MAX, sizeof *c->why);
  if (!c->why) return error_set(error, STATUS_NO_MEMORY, "no memory for the causes");
  if (c->n_why < CROSSCHECK_WHY_MAX) c->why[c->n_why++] = *why;
  return STATUS_OK;
}

Status crosscheck_add_cause(Crosscheck *c, const CounterRow *row, const Shape *shape, const Tiling *tiling,
                            const Cause *cause, Error *error) {
  CrosscheckWhy why = {.shape = *shape, .tiling = *tiling, .causes = {*cause}, .n_causes = 1};
  snprintf(why.kernel, sizeof why.kernel, "%.*s", (int)sizeof why.kernel - 1, row->kernel);
  for (size_t n = 0; n < c->n_why; n++) {
    CrosscheckWhy *w = &c->why[n];
    if (strcmp(w->kernel, why.kernel) || memcmp(&w->shape, shape, sizeof *shape)) continue;
    if (w->n_causes < CAUSES_MAX) w->causes[w->n_causes++] = *cause;
    return STATUS_OK;
  }
  return keep_why(c, &why, error);
}

/* Looks for causes where a count is not as the model says. */
static Status explain(Crosscheck *c, const CounterRow *row, const KernelModel *model, const Shape *shape,
                      const Tiling *tiling, bool holds, Error *error) {
  CrosscheckWhy why = {.shape = *shape, .tiling = *tiling};
  snprintf(why.kernel, sizeof why.kernel, "%.*s", (int)sizeof why.kernel - 1, row->kernel);
  const Status status = counter_explain(row, model, shape, tiling, &c->context, why.causes, &why.n_causes, error);
  if (status) return status;
  if (why.n_causes == 0) {
    if (!holds) c->n_unexplained++;
    return STATUS_OK;
  }
  return keep_why(c, &why, error);
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
  if (status == STATUS_OK && c->explains && (!all_hold || hbm_alone))
    status = explain(c, row, model, shape, tiling, all_hold, error);
  return status;
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

void crosscheck_shape_text(const CrosscheckItem *i, char *text, size_t size) {
  char heads[32] = "", keys[32] = "", batch[32] = "";
  if (i->shape.batch > 1) snprintf(batch, sizeof batch, "batch %" PRId64 " ", i->shape.batch);
  if (i->shape.heads > 1)
    snprintf(heads, sizeof heads, "heads %" PRId64 "/%" PRId64 " ", i->shape.heads, i->shape.kv_heads);
  if (i->shape.N_k != i->shape.N_q) snprintf(keys, sizeof keys, "/%" PRId64, i->shape.N_k);
  snprintf(text, size, "N %" PRId64 "%s d %" PRId64 " %s%s%s%s %" PRId64 "x%" PRId64, i->shape.N_q, keys, i->shape.d,
           batch, heads, dtype_name(i->shape.dtype), i->shape.causal ? " causal" : "", i->tiling.B_r, i->tiling.B_c);
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
    crosscheck_shape_text(i, shape, sizeof shape);
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

/* For people: a heading for each kernel and shape, its quantities under it. */
static void add_details(Document *d, const Crosscheck *c) {
  static const TableColumn COLUMNS[] = {{.heading = "quantity", .shrink = TABLE_WRAP},
                                        {.heading = "model", .right = true, .shrink = TABLE_WRAP},
                                        {.heading = "measured", .right = true},
                                        {.heading = "error", .right = true},
                                        {.heading = "verdict", .shrink = TABLE_WRAP}};
  Table *t = document_table(d, DOCUMENT_TEXT, NULL, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  char before[256] = "";
  for (size_t n = 0; n < c->n_items; n++) {
    const CrosscheckItem *i = &c->items[n];
    char shape[160], heading[256];
    crosscheck_shape_text(i, shape, sizeof shape);
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
  document_gap(d);
}

/* One quantity over all runs. */
typedef struct {
  const char *quantity;
  bool must_hold, is_range;
  size_t n, n_exact, n_holding;
  double median, worst;
  const CrosscheckItem *where; /* the worst */
} Summary;

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool is_first(const Crosscheck *c, size_t n) {
  if (c->items[n].is_prediction || crosscheck_says_nothing(&c->items[n])) return false;
  for (size_t i = 0; i < n; i++)
    if (!c->items[i].is_prediction && !crosscheck_says_nothing(&c->items[i]) &&
        !strcmp(c->items[i].quantity, c->items[n].quantity))
      return false;
  return true;
}

static Summary summarise(const Crosscheck *c, const char *quantity, double *errors) {
  Summary s = {.quantity = quantity};
  for (size_t n = 0; n < c->n_items; n++) {
    const CrosscheckItem *i = &c->items[n];
    if (i->is_prediction || crosscheck_says_nothing(i) || strcmp(i->quantity, quantity)) continue;
    errors[s.n++] = fabs(i->error);
    s.n_exact += i->error == 0 && i->low == i->high;
    s.n_holding += i->holds;
    s.must_hold |= i->must_hold;
    s.is_range |= i->is_range;
    if (!s.where || fabs(i->error) > s.worst) {
      s.worst = fabs(i->error);
      s.where = i;
    }
  }
  qsort(errors, s.n, sizeof *errors, by_value);
  s.median = errors[s.n / 2];
  return s;
}

static void percent_cell(Table *t, double value) {
  char shown[32];
  snprintf(shown, sizeof shown, "%.3f%%", value * 100);
  table_real(t, ROLE_PLAIN, value, shown);
}

static void add_summary_row(Table *t, const Summary *s) {
  table_text(t, ROLE_PLAIN, s->quantity);
  table_count(t, ROLE_PLAIN, s->n);
  table_count(t, ROLE_PLAIN, s->n_exact);
  table_count(t, ROLE_PLAIN, s->n_holding);
  percent_cell(t, s->median);
  percent_cell(t, s->worst);
  table_flag(t, ROLE_PLAIN, s->must_hold, "", "");
  if (s->n_holding == s->n)
    table_text(t, ROLE_GOOD, s->is_range ? (s->n_exact ? "exact or in range" : "in range") : "holds");
  else
    table_format(t, s->must_hold ? ROLE_BAD : ROLE_WARN, "%zu of %zu hold", s->n_holding, s->n);
}

/* errors: room for all items. */
static void add_summary(Document *d, const Crosscheck *c, const char *title, bool details, double *errors) {
  static const TableColumn COLUMNS[] = {{.heading = "quantity", .key = "quantity", .shrink = TABLE_WRAP},
                                        {.heading = "runs", .key = "runs", .right = true},
                                        {.heading = "exact", .key = "exact", .right = true},
                                        {.key = "holding"},
                                        {.heading = "median error", .key = "median_error", .right = true},
                                        {.heading = "worst error", .key = "worst_error", .right = true},
                                        {.key = "must_hold"},
                                        {.heading = "verdict", .shrink = TABLE_WRAP}};
  Table *t = document_table(d, DOCUMENT_TEXT | DOCUMENT_JSON, "summary", COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  table_title(t, "%s", title);
  for (size_t n = 0; n < c->n_items; n++) {
    if (!is_first(c, n)) continue;
    const Summary s = summarise(c, c->items[n].quantity, errors);
    add_summary_row(t, &s);
  }
  table_note(t,
             "%zu kernel run%s. Exact: equal to the model to the last byte or instruction. Where the model is a range, "
             "an error is the distance from its near end.%s",
             c->n_runs, c->n_runs == 1 ? "" : "s", details ? "" : " --details shows what was measured in each.");
}

static void add_why(Document *d, const Crosscheck *c) {
  static const TableColumn COLUMNS[] = {{.heading = "why", .right = true},
                                        {.heading = "likely cause, and what it would give", .shrink = TABLE_WRAP}};
  if (c->n_why == 0) return;
  Table *t = document_table(d, DOCUMENT_TEXT, NULL, COLUMNS, 2);
  for (size_t n = 0; n < c->n_why; n++) {
    const CrosscheckWhy *w = &c->why[n];
    const CrosscheckItem item = {.shape = w->shape, .tiling = w->tiling};
    char shape[160];
    crosscheck_shape_text(&item, shape, sizeof shape);
    table_group(t, "%s  %s", w->kernel, shape);
    for (int i = 0; i < w->n_causes; i++) {
      table_format(t, ROLE_PLAIN, "%d", i + 1);
      table_text(t, i ? ROLE_DIM : ROLE_ACCENT, w->causes[i].text);
    }
  }
  table_note(t, "Each cause is computed alone; the first fits best with the least taken for granted.");
  document_gap(d);
}

static void put_why(Document *d, const Crosscheck *c) {
  if (d->form != DOCUMENT_JSON) return;
  put_array(d, "why");
  for (size_t n = 0; n < c->n_why; n++) {
    const CrosscheckWhy *w = &c->why[n];
    const CrosscheckItem item = {.shape = w->shape, .tiling = w->tiling};
    char shape[160];
    crosscheck_shape_text(&item, shape, sizeof shape);
    put_object(d, NULL);
    put_text(d, "kernel", w->kernel);
    put_text(d, "run", shape);
    put_array(d, "causes");
    for (int i = 0; i < w->n_causes; i++)
      put_json(d, NULL,
               json_pack("{s:s, s:s, s:f, s:f, s:f}", "cause", cause_name(w->causes[i].kind), "text", w->causes[i].text,
                         "read_bytes", w->causes[i].read, "write_bytes", w->causes[i].write, "off", w->causes[i].off));
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

/* For people what the file said comes first, then why counts differ. */
Status crosscheck_fill(Document *d, const Crosscheck *c, const char *title, const char *gpu, bool details,
                       Error *error) {
  double *errors = malloc((c->n_items + 1) * sizeof *errors);
  if (!errors) return error_set(error, STATUS_NO_MEMORY, "no memory for the summary");
  for (int i = 0; i < c->n_notes; i++) document_line(d, ROLE_PLAIN, "%s", c->notes[i]);
  if (c->n_notes) document_gap(d);
  if (details) add_details(d, c);
  add_why(d, c);
  put_text(d, "source", title);
  put_whole(d, "runs", c->n_runs);
  put_flag(d, "holds", !c->is_bad);
  add_summary(d, c, title, details, errors);
  free(errors);
  const Status status = d->form == DOCUMENT_CSV ? STATUS_OK : crosscheck_fill_predictions(d, c, gpu, error);
  if (status) return status;
  put_array(d, "comparisons");
  for (size_t n = 0; n < c->n_items && d->form == DOCUMENT_JSON; n++) put_json(d, NULL, item_json(&c->items[n]));
  put_end(d);
  put_why(d, c);
  put_array(d, "notes");
  for (int i = 0; i < c->n_notes; i++) put_text(d, NULL, c->notes[i]);
  put_end(d);
  add_lines(d, c);
  return STATUS_OK;
}
