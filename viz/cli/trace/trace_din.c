#include "viz/cli/trace/trace.h"

#include "sim/cache/din.h"

static Status begin(Trace *t, Error *error) { return layout_make(&t->layout, t->schedule, t->plan, error); }

/* The bytes [address, address + bytes), cut at lines. */
static void write_range(const Trace *t, DinLabel label, uint64_t address, uint64_t bytes) {
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

static int64_t length_of(const Trace *t, uint8_t side, int64_t rows, int64_t cols) {
  switch (side) {
  case SIDE_ROWS: return rows;
  case SIDE_COLS: return cols;
  case SIDE_D: return t->plan->shape.d;
  case SIDE_DV: return t->plan->shape.d_v;
  default: return 1;
  }
}

/* The rows of a block, each by itself where they are parts of longer ones. */
static void write_block(const Trace *t, DinLabel label, const Event *e, int name) {
  const ProgramName *n = &t->schedule->names[name];
  const int64_t row0 = length_of(t, n->rows, e->row0, e->col0), row1 = length_of(t, n->rows, e->row1, e->col1);
  const int64_t first = n->rows == SIDE_ROWS || n->rows == SIDE_COLS ? row0 : 0, n_rows = row1 - first;
  const bool is_part = n->cols == SIDE_ROWS || n->cols == SIDE_COLS;
  const int64_t col0 = is_part ? length_of(t, n->cols, e->row0, e->col0) : 0,
                n_cols = length_of(t, n->cols, e->row1, e->col1) - col0;
  const uint64_t bytes = (uint64_t)n_cols * t->layout.element_bytes[name];
  if (!is_part) write_range(t, label, layout_address(&t->layout, name, e->split, first, 0), (uint64_t)n_rows * bytes);
  for (int64_t row = first; is_part && row < first + n_rows; row++)
    write_range(t, label, layout_address(&t->layout, name, e->split, row, col0), bytes);
}

static void event(Trace *t, const Event *e) {
  const ProgramOp *op = &t->schedule->ops[e->op];
  if (e->bytes == 0) return;
  for (int k = 0; k < op->n_moved; k++) write_block(t, e->kind == EVENT_LOAD ? DIN_READ : DIN_WRITE, e, op->moved[k]);
}

const TraceFormat DIN_TRACE = {"", "", begin, event};
