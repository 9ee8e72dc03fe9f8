/* JSON's keys are the paths: what a path begins with, an object, is opened by its row. */
#include "sim/answer/report.h"

#include <string.h>

#include "sim/answer/figure.h"

enum { REPORT_VERSION = 1, DEPTH_MAX = 5 };

static void put(const ReportSink *k, const char *key, const Figure *f) {
  if (f->is == IS_NULL) k->null(k->context, key);
  if (f->is == IS_WHOLE) k->whole(k->context, key, f->whole);
  if (f->is == IS_REAL) k->real(k->context, key, f->real);
  if (f->is == IS_TEXT) k->text(k->context, key, f->text);
  if (f->is == IS_FLAG) k->flag(k->context, key, f->flag);
}

static bool is_end(const FigureRow *row) { return row->path && !*row->path; }

/* The rows from `row` to `end`. A group that the run has not is left out as a whole. */
static void put_rows(const ReportSink *k, const char *key, const Simulation *run, const FigureRow *row,
                     const FigureRow *end) {
  size_t keys_at[DEPTH_MAX] = {0}; /* in the paths of the groups that are open */
  int depth = 0;
  for (; row != end; row++, key = NULL) {
    if (is_end(row)) {
      k->close(k->context), depth--;
      continue;
    }
    const char *name = key ? key : row->path + keys_at[depth];
    if (row->unit != UNIT_NONE) {
      const int n = *name == '*' ? run->schedule->n_values : 1;
      for (int m = 0; m < n; m++) {
        const Figure f = figure_of(run, row, m);
        put(k, f.member ? f.member : name, &f);
      }
      continue;
    }
    const Figure f = figure_of(run, row, 0);
    if (f.is == IS_WHOLE) {
      k->open_object(k->context, name), keys_at[++depth] = strlen(row->path) + 1;
      continue;
    }
    if (f.is == IS_NULL) k->null(k->context, name);
    for (int within = 1; within; within += is_end(row) ? -1 : row->unit == UNIT_NONE) row++;
  }
}

/* FIGURES begins with the shape; the machine and the run follow. */
void report_shape(const ReportSink *k, const char *key, const Simulation *run) {
  put_rows(k, key, run, FIGURES, figure_row("machine"));
}

void report_run(const ReportSink *k, const char *key, const Simulation *run) {
  const FigureRow *first = figure_row("algorithm"), *end = first;
  while (end->path) end++;
  k->open_object(k->context, key);
  put_rows(k, NULL, run, first, end);
  k->close(k->context);
}

void report_answers(const ReportSink *k, const Simulation *runs, int n_runs) {
  put_rows(k, NULL, runs, FIGURES, figure_row("algorithm"));
  k->open_array(k->context, "runs");
  for (int i = 0; i < n_runs; i++) report_run(k, NULL, &runs[i]);
  k->close(k->context);
}

void report_document(const ReportSink *k, const Simulation *runs, int n_runs) {
  k->open_object(k->context, NULL);
  k->whole(k->context, "tilewalk", REPORT_VERSION);
  report_answers(k, runs, n_runs);
  k->close(k->context);
}
