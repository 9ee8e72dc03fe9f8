/* Options that are scores: of a row, of a sink, of a cap. */
#ifndef TILEWALK_VIZ_CLI_SCORE_OPTIONS_H
#define TILEWALK_VIZ_CLI_SCORE_OPTIONS_H

#include <stddef.h>

#include "sim/base/error.h"

/* One score: a decimal number with an optional sign, or -inf for a masked one. */
Status score_parse(const char *text, size_t length, double *score, Error *error);

/* --sink: a score that belongs to no key. Not -inf. */
Status score_parse_sink(const char *text, double *sink, Error *error);

/* --softcap: above 0. */
Status score_parse_cap(const char *text, double *cap, Error *error);

#endif
