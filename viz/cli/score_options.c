#include "viz/cli/score_options.h"

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

static Status set_sink(void *target, const char *value, Error *error) {
  SoftmaxConfig *c = &((ScoreOptions *)target)->softmax;
  c->has_sink = true;
  const Status status = score_parse(value, strlen(value), &c->sink, error);
  if (status || isfinite(c->sink)) return status;
  return error_refuse(error, "a sink of -inf is none; leave it out");
}

static Status set_softcap(void *target, const char *value, Error *error) {
  double *cap = &((ScoreOptions *)target)->softmax.softcap;
  const Status status = score_parse(value, strlen(value), cap, error);
  if (status || (isfinite(*cap) && *cap > 0)) return status;
  return error_refuse(error, "a cap is a number above 0, such as 50; scores stay between -50 and 50");
}

static Status set_precision(void *target, const char *value, Error *error) {
  return precision_from_name(value, &((ScoreOptions *)target)->softmax.precision, error);
}

#define GIVEN .given = offsetof(ScoreOptions, any)

const Option SCORE_OPTIONS[] = {
    OPTION_ROW("sink", "SCORE",
               "A score that belongs to no key (gpt-oss): it takes part in m and l, so weights add up to less than 1.",
               .set = set_sink, GIVEN),
    OPTION_ROW("softcap", "C", "Scores become C tanh(score / C) first (Gemma 2 has 50).", .set = set_softcap, GIVEN),
    OPTION_ROW("precision", "TYPE",
               "fp64, fp32, bf16, fp16, or fp8 (e4m3) and e5m2: what P, V and O are stored in. Default fp32; a program "
               "is tried in fp64.",
               .set = set_precision, .choices = "fp64 fp32 bf16 fp16 fp8 e5m2", GIVEN),
    {0},
};
