#include "viz/cli/trace_din.h"

#include "sim/cache/din.h"

Status din_trace_begin(DinTrace *t, FILE *out, const Plan *plan, Error *error) {
  *t = (DinTrace){.out = out, .plan = plan};
  return layout_make(&t->layout, plan, error);
}

/* The bytes [address, address + bytes), cut at lines. */
static void write_range(const DinTrace *t, DinLabel label, uint64_t address, uint64_t bytes) {
  char text[64 * DIN_TEXT_BYTES];
  size_t length = 0;
  while (bytes > 0) {
    const uint64_t room = LAYOUT_LINE_BYTES - address % LAYOUT_LINE_BYTES, take = bytes < room ? bytes : room;
    const DinRecord record = {.address = address, .size_bytes = (uint32_t)take, .label = label};
    length += din_print(&record, text + length);
    address += take;
    bytes -= take;
    if (bytes > 0 && length + DIN_TEXT_BYTES <= sizeof text) continue;
    fwrite(text, 1, length, t->out);
    length = 0;
  }
}

/* Whether O and the statistics of this event are those of a split, kept in fp32 until they are combined. */
static bool is_partial(const DinTrace *t, const Event *e) {
  return t->plan->tiling.n_splits > 1 && (e->pass == 0 || e->kind == EVENT_LOAD);
}

static void write_stats(const DinTrace *t, const Event *e, DinLabel label, uint64_t first, uint64_t rows) {
  const uint64_t bytes = rows * STATS_BYTES, offset = first * STATS_BYTES;
  if (is_partial(t, e)) {
    write_range(t, label,
                t->layout.partial_lse_base + (uint64_t)e->split * (uint64_t)t->plan->shape.N_q * STATS_BYTES + offset,
                bytes);
    return;
  }
  write_range(t, label, t->layout.base[TENSOR_STATS] + offset, bytes);
  if (e->bytes > bytes) write_range(t, label, t->layout.l_base + offset, bytes); /* m and l both */
}

void din_trace_event(const DinTrace *t, const Event *e) {
  if (e->kind != EVENT_LOAD && e->kind != EVENT_STORE) return;
  const DinLabel label = e->kind == EVENT_LOAD ? DIN_READ : DIN_WRITE;
  const Shape *shape = &t->plan->shape;
  const bool values = e->tensor == TENSOR_V || e->tensor == TENSOR_O;
  const uint64_t element = (uint64_t)t->plan->element_bytes, d = (uint64_t)(values ? shape->d_v : shape->d),
                 N_q = (uint64_t)t->plan->shape.N_q;
  const uint64_t row0 = (uint64_t)e->row0, rows = (uint64_t)(e->row1 - e->row0);
  const uint64_t cols = (uint64_t)(e->col1 - e->col0);
  const Tensor tensor = (Tensor)e->tensor;
  switch (e->tensor) {
  case TENSOR_K:
  case TENSOR_V: write_range(t, label, layout_address(&t->layout, tensor, e->col0, 0), cols * d * element); break;
  case TENSOR_S:
  case TENSOR_P:
    for (int64_t row = e->row0; row < e->row1; row++)
      write_range(t, label, layout_address(&t->layout, tensor, row, e->col0), cols * element);
    break;
  case TENSOR_STATS: write_stats(t, e, label, row0, rows); break;
  case TENSOR_O:
    if (is_partial(t, e)) {
      write_range(t, label, t->layout.partial_O_base + ((uint64_t)e->split * N_q + row0) * d * LAYOUT_PARTIAL_BYTES,
                  rows * d * LAYOUT_PARTIAL_BYTES);
      break;
    }
    /* fall through */
  default: write_range(t, label, layout_address(&t->layout, tensor, e->row0, 0), rows * d * element); break;
  }
}
