#include "viz/cli/trace_din.h"

#include "sim/din.h"

enum { LINE_BYTES = 128, PARTIAL_BYTES = 4 };

/* Places a tensor of `bytes` behind what is there: returns its address and moves *end to the next line. */
static uint64_t place(Wide *end, Wide bytes) {
  const Wide base = *end;
  *end = (base + bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
  return (uint64_t)base;
}

Status din_trace_begin(DinTrace *t, FILE *out, const Plan *plan, Error *error) {
  const Wide N_q = wide(plan->shape.N_q), N_k = wide(plan->shape.N_k), splits = wide(plan->tiling.n_splits);
  const Wide d = wide(plan->shape.d), row = d * wide(plan->element_bytes), scores = N_q * N_k * wide(plan->element_bytes);
  Wide end = 0;
  *t = (DinTrace){.out = out, .plan = plan};
  t->base[TENSOR_Q] = place(&end, N_q * row);
  t->base[TENSOR_K] = place(&end, N_k * row);
  t->base[TENSOR_V] = place(&end, N_k * row);
  t->base[TENSOR_O] = place(&end, N_q * row);
  t->base[TENSOR_S] = place(&end, scores);
  t->base[TENSOR_P] = place(&end, scores);
  t->base[TENSOR_STATS] = place(&end, N_q * STATS_BYTES);
  t->l_base = place(&end, N_q * STATS_BYTES);
  t->partial_O_base = place(&end, splits * N_q * d * PARTIAL_BYTES);
  t->partial_lse_base = place(&end, splits * N_q * STATS_BYTES);
  if (end >> 62 != 0)
    return error_set(error, STATUS_TOO_LARGE, "the tensors of one head do not fit 62 bits of address; a shorter sequence would");
  return STATUS_OK;
}

/* The bytes [address, address + bytes), cut at lines. */
static void write_range(const DinTrace *t, DinLabel label, uint64_t address, uint64_t bytes) {
  while (bytes > 0) {
    const uint64_t room = LINE_BYTES - address % LINE_BYTES, take = bytes < room ? bytes : room;
    char text[DIN_TEXT_BYTES];
    const DinRecord record = {.address = address, .size_bytes = (uint32_t)take, .label = label};
    fwrite(text, 1, din_print(&record, text), t->out);
    address += take;
    bytes -= take;
  }
}

/* Whether O and the statistics of this event are those of a split, kept in fp32 until they are combined. */
static bool is_partial(const DinTrace *t, const Event *e) {
  return t->plan->tiling.n_splits > 1 && (e->pass == 0 || e->kind == EVENT_LOAD);
}

static void write_stats(const DinTrace *t, const Event *e, DinLabel label, uint64_t first, uint64_t rows) {
  const uint64_t bytes = rows * STATS_BYTES, offset = first * STATS_BYTES;
  if (is_partial(t, e)) {
    write_range(t, label, t->partial_lse_base + (uint64_t)e->split * (uint64_t)t->plan->shape.N_q * STATS_BYTES + offset, bytes);
    return;
  }
  write_range(t, label, t->base[TENSOR_STATS] + offset, bytes);
  if (e->bytes > bytes) write_range(t, label, t->l_base + offset, bytes); /* m and l both */
}

void din_trace_event(const DinTrace *t, const Event *e) {
  if (e->kind != EVENT_LOAD && e->kind != EVENT_STORE) return;
  const DinLabel label = e->kind == EVENT_LOAD ? DIN_READ : DIN_WRITE;
  const uint64_t element = (uint64_t)t->plan->element_bytes, d = (uint64_t)t->plan->shape.d, N_q = (uint64_t)t->plan->shape.N_q;
  const uint64_t row0 = (uint64_t)e->row0, rows = (uint64_t)(e->row1 - e->row0);
  const uint64_t col0 = (uint64_t)e->col0, cols = (uint64_t)(e->col1 - e->col0);
  const uint64_t base = t->base[e->tensor];
  switch (e->tensor) {
  case TENSOR_K:
  case TENSOR_V: write_range(t, label, base + col0 * d * element, cols * d * element); break;
  case TENSOR_S:
  case TENSOR_P:
    for (uint64_t row = row0; row < row0 + rows; row++)
      write_range(t, label, base + (row * (uint64_t)t->plan->shape.N_k + col0) * element, cols * element);
    break;
  case TENSOR_STATS: write_stats(t, e, label, row0, rows); break;
  case TENSOR_O:
    if (is_partial(t, e)) {
      write_range(t, label, t->partial_O_base + ((uint64_t)e->split * N_q + row0) * d * PARTIAL_BYTES, rows * d * PARTIAL_BYTES);
      break;
    }
    /* fall through */
  default: write_range(t, label, base + row0 * d * element, rows * d * element); break;
  }
}
