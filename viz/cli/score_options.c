#include "viz/cli/score_options.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "sim/base/quote.h"
#include "sim/base/size.h"

Status score_parse(const char *text, size_t length, double *score, Error *error) {
  const bool negative = length > 0 && text[0] == '-';
  const char *const digits = text + negative;
  const size_t n = length - negative;
  Decimal decimal;
  if (negative && n == 3 && strncmp(digits, "inf", 3) == 0) {
    *score = -INFINITY;
    return STATUS_OK;
  }
  if (n == 0 || decimal_read(digits, n, &decimal) != n)
    return error_refuse(error, "'%s' is no score; scores are numbers such as 3 or -1.5, or -inf for a masked one",
                        quote(text, length).text);
  *score = negative ? -decimal_value(decimal) : decimal_value(decimal);
  return STATUS_OK;
}

Status score_parse_sink(const char *text, double *sink, Error *error) {
  const Status status = score_parse(text, strlen(text), sink, error);
  if (status || isfinite(*sink)) return status;
  return error_refuse(error, "a sink of -inf is none; leave it out");
}

Status score_parse_cap(const char *text, double *cap, Error *error) {
  const Status status = score_parse(text, strlen(text), cap, error);
  if (status || (isfinite(*cap) && *cap > 0)) return status;
  return error_refuse(error, "a cap is a number above 0, such as 50; scores stay between -50 and 50");
}
