#include "sim/problem/layout.h"

#include "sim/base/checked.h"

/* Places a tensor of `bytes` behind what is there: returns its address and moves *end to the next line. */
static uint64_t place(Wide *end, Wide bytes) {
  const Wide base = *end;
  *end = (base + bytes + LAYOUT_LINE_BYTES - 1) / LAYOUT_LINE_BYTES * LAYOUT_LINE_BYTES;
  return (uint64_t)base;
}

Status layout_make(Layout *layout, const Plan *plan, Error *error) {
  const Wide N_q = wide(plan->shape.N_q), N_k = wide(plan->shape.N_k), splits = wide(plan->tiling.n_splits);
  const Wide d = wide(plan->shape.d), d_v = wide(plan->shape.d_v), row = d * wide(plan->element_bytes),
             row_v = d_v * wide(plan->element_bytes), scores = N_q * N_k * wide(plan->element_bytes);
  Wide end = 0;
  *layout = (Layout){.element_bytes = (uint64_t)plan->element_bytes};
  for (int t = 0; t < TENSOR_COUNT; t++) {
    const bool is_score = t == TENSOR_S || t == TENSOR_P, values = t == TENSOR_V || t == TENSOR_O;
    const Wide width = is_score ? N_k : values ? d_v : d;
    layout->row_bytes[t] = t == TENSOR_STATS ? (uint64_t)STATS_BYTES : (uint64_t)(width * wide(plan->element_bytes));
  }
  layout->base[TENSOR_Q] = place(&end, N_q * row);
  layout->base[TENSOR_K] = place(&end, N_k * row);
  layout->base[TENSOR_V] = place(&end, N_k * row_v);
  layout->base[TENSOR_O] = place(&end, N_q * row_v);
  layout->base[TENSOR_S] = place(&end, scores);
  layout->base[TENSOR_P] = place(&end, scores);
  layout->base[TENSOR_STATS] = place(&end, N_q * STATS_BYTES);
  layout->l_base = place(&end, N_q * STATS_BYTES);
  layout->partial_O_base = place(&end, splits * N_q * d_v * LAYOUT_PARTIAL_BYTES);
  layout->partial_lse_base = place(&end, splits * N_q * STATS_BYTES);
  if (end >> 62 != 0)
    return error_set(error, STATUS_TOO_LARGE,
                     "the tensors of one head do not fit 62 bits of address; a shorter sequence would");
  return STATUS_OK;
}

uint64_t layout_address(const Layout *layout, Tensor tensor, int64_t row, int64_t column) {
  return layout->base[tensor] + (uint64_t)row * layout->row_bytes[tensor] + (uint64_t)column * layout->element_bytes;
}
