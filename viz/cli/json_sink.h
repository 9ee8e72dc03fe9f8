/* Results as JSON: the sink of sim/report.h that builds a jansson value.
 *
 * Whole numbers up to 2^63 - 1 are JSON integers. Larger ones (2^31 tokens and 128 heads move 2^72 bytes) are
 * written as JSON numbers with an exponent, rounded to the nearest double, because the library counts in 64 bits. */
#ifndef TILEWALK_VIZ_CLI_JSON_SINK_H
#define TILEWALK_VIZ_CLI_JSON_SINK_H

#include <jansson.h>
#include <stdio.h>

#include "sim/report.h"

enum { JSON_SINK_DEPTH = 16 };

typedef struct {
  json_t *open[JSON_SINK_DEPTH]; /* the containers being filled, outermost first; open[0] is the result */
  int depth;
  bool failed; /* out of memory */
} JsonSink;

/* A sink that fills *json (start with zeros). */
ReportSink json_sink(JsonSink *json);

/* What it was filled with, for the caller to json_decref or json_print; NULL, and nothing left: no memory. */
json_t *json_result(JsonSink *json);

/* An integer if it fits, else a real. NULL: no memory. */
json_t *json_wide(Wide value);

/* Prints the document, indented, with a newline, and releases it. It begins with "tilewalk": 1, the version of the
 * form, whether it was given that or not. NULL means that building it failed. */
Status json_print(json_t *json, FILE *out, Error *error);

/* The same with so many digits: 15 leave a printed 1.553 what it is. */
Status json_print_digits(json_t *json, int digits, FILE *out, Error *error);

#endif
