/* JSON's keys are the paths: what a path begins with, an object, is opened by its row. */
#include "sim/answer/report.h"

#include <math.h>
#include <stdio.h>

#include "sim/answer/figure.h"

enum { DEPTH_MAX = 5 };

/* ---- Values by a pattern ---- */

/* clang gives wasm's variadic functions a Wide as two halves, and looks for it where it would be whole. */
static Wide next_wide(va_list *of) {
#ifdef __wasm__
  const uint64_t low = va_arg(*of, uint64_t);
  return low + ((Wide)va_arg(*of, uint64_t) << 64);
#else
  return va_arg(*of, Wide);
#endif
}

static Figure text_or_null(const char *text) { return (Figure){.is = text ? IS_TEXT : IS_NULL, .text = text}; }

static Figure real_of(char type, double x) {
  if (isfinite(x) || !strchr("frF", type)) return (Figure){.is = IS_REAL, .real = x};
  if (type == 'F') return text_or_null(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
  return (Figure){.is = type == 'f' ? IS_NULL : IS_ABSENT};
}

Figure report_value(char type, va_list *of) {
  switch (type) {
  case '0': return text_or_null(NULL);
  case 's': return text_or_null(va_arg(*of, const char *));
  case 'b': return (Figure){.is = IS_FLAG, .flag = va_arg(*of, int)};
  case 'n': return (Figure){.is = IS_WHOLE, .whole = (Wide)va_arg(*of, int)};
  case 'd':
  case 'i': return (Figure){.is = IS_WHOLE, .whole = (Wide)va_arg(*of, int64_t)};
  case 'u': return (Figure){.is = IS_WHOLE, .whole = va_arg(*of, uint64_t)};
  case 'w': return (Figure){.is = IS_WHOLE, .whole = next_wide(of)};
  default: return real_of(type, va_arg(*of, double));
  }
}

/* Numbers, and how many. */
static void put_list(const ReportSink *k, const char *key, char type, va_list *of) {
  const int64_t *wholes = type == 'i' ? va_arg(*of, const int64_t *) : NULL;
  const double *reals = type == 'i' ? NULL : va_arg(*of, const double *);
  const int64_t n = va_arg(*of, int64_t);
  const Figure none = text_or_null(NULL);
  if (!wholes && !reals) {
    k->value(k->context, key, &none);
    return;
  }
  k->open(k->context, key, true);
  for (int64_t at = 0; at < n; at++) {
    const Figure one = reals ? real_of(type, reals[at]) : (Figure){.is = IS_WHOLE, .whole = wide(wholes[at])};
    k->value(k->context, NULL, &one);
  }
  k->close(k->context);
}

void report_values_of(const ReportSink *k, const char *p, va_list *of) {
  for (char word[64]; *(p += strspn(p, " ")); p++) {
    const size_t n = strcspn(p, ":*{[]}");
    snprintf(word, sizeof word, "%.*s", (int)n, p);
    const char *const key = *p == '%' ? va_arg(*of, const char *) : n ? word : NULL;
    p += n + (p[n] == ':');
    if (*p == '{' || *p == '[') {
      k->open(k->context, key, *p == '[');
    } else if (*p == '}' || *p == ']') {
      k->close(k->context);
    } else if (*p == '*') {
      put_list(k, key, *++p, of);
    } else {
      const Figure value = report_value(*p, of);
      if (value.is) k->value(k->context, key, &value);
    }
  }
}

void report_values(const ReportSink *k, const char *pattern, ...) {
  va_list of;
  va_start(of, pattern);
  report_values_of(k, pattern, &of);
  va_end(of);
}

/* ---- Runs ---- */

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
        if (f.is) k->value(k->context, f.member ? f.member : name, &f);
      }
      continue;
    }
    const Figure f = figure_of(run, row, 0);
    if (f.is == IS_WHOLE) {
      k->open(k->context, name, false), keys_at[++depth] = strlen(row->path) + 1;
      continue;
    }
    if (f.is == IS_NULL) k->value(k->context, name, &f);
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
  k->open(k->context, key, false);
  put_rows(k, NULL, run, first, end);
  k->close(k->context);
}

void report_answers(const ReportSink *k, const Simulation *runs, int n_runs) {
  put_rows(k, NULL, runs, FIGURES, figure_row("algorithm"));
  report_values(k, "runs[");
  for (int i = 0; i < n_runs; i++) report_run(k, NULL, &runs[i]);
  report_values(k, "]");
}

void report_document(const ReportSink *k, const Simulation *runs, int n_runs) {
  report_values(k, "{tilewalk:n", 1);
  report_answers(k, runs, n_runs);
  report_values(k, "}");
}
