/* The figures of a run as a document: the keys of `sim --json` are the paths of sim/answer/figure.h.
 *
 * A report walks FIGURES and hands every value, with its key, to a sink. The JSON writer and the lessons' answer
 * expressions are sinks, so a lesson asks for exactly what the JSON says: runs, traffic.read.K, ... */
#ifndef TILEWALK_SIM_ANSWER_REPORT_H
#define TILEWALK_SIM_ANSWER_REPORT_H

#include <stdarg.h>

#include "sim/simulate.h"

typedef struct Figure Figure; /* sim/answer/figure.h */

/* key is NULL for the members of an array and for the outermost value. */
typedef struct {
  void *context;
  void (*open)(void *context, const char *key, bool is_array);
  void (*close)(void *context);
  void (*value)(void *context, const char *key, const Figure *value); /* not IS_ABSENT */
} ReportSink;

/* Values by a pattern of KEY:TYPE with blanks between:
 *
 *     report_values(sink, "name:s link{bytes_per_s:f assumed:b} sizes[:i :i]", name, rate, assumed, m, n);
 *
 * TYPE as of report_value; { } and [ ] open and close a container, perhaps in another call. The key % is an argument;
 * in an array there is none. KEY*i and KEY*F are lists: a pointer to int64_t or double (NULL: null), and how many. */
void report_values(const ReportSink *sink, const char *pattern, ...);
void report_values_of(const ReportSink *sink, const char *pattern, va_list *of);

/* The next argument: s text or NULL, b bool, n int, i or d int64_t, u uint64_t, w Wide, 0 null, and doubles: f is null
 * where it is not finite, r absent there, F "inf", "-inf" or "nan"; others are as they are. */
Figure report_value(char type, va_list *of);

/* {"batch", "heads", "kv_heads", "seq_q", "seq_k", "head_dim", "head_dim_v", "dtype", "causal", "window",
 * "window_left", "window_right", "aligned"}, of a packed shape as it was asked for; a side without limit is null */
void report_shape(const ReportSink *sink, const char *key, const Simulation *run);

/* One member of "runs". */
void report_run(const ReportSink *sink, const char *key, const Simulation *run);

/* "shape", "machine" and "runs"; all runs answer the same problem. n_runs >= 1. */
void report_answers(const ReportSink *sink, const Simulation *runs, int n_runs);

/* The whole document of `sim --json`, version 1: an object with these and "tilewalk". */
void report_document(const ReportSink *sink, const Simulation *runs, int n_runs);

#endif
