/* Options that are scores: of a row, of a sink, of a cap; and in what they are stored. */
#ifndef TILEWALK_VIZ_CLI_SCORE_OPTIONS_H
#define TILEWALK_VIZ_CLI_SCORE_OPTIONS_H

#include "sim/numbers/softmax.h"
#include "sim/question/option.h"

typedef struct {
  SoftmaxConfig softmax;
  bool any; /* one of these was given */
} ScoreOptions;

extern const Option SCORE_OPTIONS[];

/* One score: a decimal number with an optional sign, or -inf for a masked one. */
Status score_parse(const char *text, size_t length, double *score, Error *error);

#endif
