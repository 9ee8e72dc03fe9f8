/* Loads and stores as addresses: the Dinero text format, for any cache simulator.
 *
 * The tensors of one head lie one after the other from address 0, each row by row, each starting on a line of 128 bytes:
 *
 *     Q | K | V | O | S | P | m | l | partial O of each split (fp32) | their log-sum-exps
 *
 * A tile becomes one record for each line of 128 bytes it touches, in rising order. Only loads and stores are
 * written; what stays in SRAM has no address. */
#ifndef TILEWALK_VIZ_CLI_TRACE_DIN_H
#define TILEWALK_VIZ_CLI_TRACE_DIN_H

#include <stdio.h>

#include "sim/schedule.h"

typedef struct {
  FILE *out;
  const Plan *plan;
  uint64_t base[TENSOR_COUNT]; /* of each tensor; stats: m, and l behind it */
  uint64_t l_base, partial_O_base, partial_lse_base;
} DinTrace;

/* STATUS_TOO_LARGE when the tensors of one head do not fit 62 bits of address. */
Status din_trace_begin(DinTrace *trace, FILE *out, const Plan *plan, Error *error);
void din_trace_event(const DinTrace *trace, const Event *event);

#endif
