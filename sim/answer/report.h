/* The figures of a run as a document: the keys of `sim --json` are the paths of sim/answer/figure.h.
 *
 * A report walks FIGURES and hands every value, with its key, to a sink. The JSON writer and the lessons' answer
 * expressions are sinks, so a lesson asks for exactly what the JSON says: runs, traffic.read.K, ... */
#ifndef TILEWALK_SIM_ANSWER_REPORT_H
#define TILEWALK_SIM_ANSWER_REPORT_H

#include "sim/simulate.h"

/* key is NULL for the members of an array and for the outermost value. */
typedef struct {
  void *context;
  void (*open_object)(void *context, const char *key);
  void (*open_array)(void *context, const char *key);
  void (*close)(void *context);
  void (*whole)(void *context, const char *key, Wide value);
  void (*real)(void *context, const char *key, double value);
  void (*text)(void *context, const char *key, const char *value);
  void (*flag)(void *context, const char *key, bool value);
  void (*null)(void *context, const char *key);
} ReportSink;

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
