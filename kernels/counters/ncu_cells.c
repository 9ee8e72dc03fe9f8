/* Cells of counter tables: counters, facts of the launch, shapes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernels/counters/ncu_inner.h"
#include "sim/base/size.h"

bool ncu_is_digits(NcuField f) {
  f = ncu_field_trim(f);
  for (size_t i = 0; i < f.length; i++)
    if (f.at[i] < '0' || f.at[i] > '9') return false;
  return f.length > 0 && f.length <= 18;
}

static int64_t digits_of(NcuField f) {
  int64_t value = 0;
  f = ncu_field_trim(f);
  for (size_t i = 0; i < f.length; i++) value = 10 * value + (f.at[i] - '0');
  return value;
}

/* Which unit a cell is in; refuses one that the counter cannot have. */
Status ncu_unit_for(const Parser *p, int counter, NcuField field, NcuUnit *unit, Error *error) {
  const CounterName *name = &COUNTER_NAMES[counter];
  if (ncu_unit_parse(field, unit)) {
    const NcuDimension want = name->dimension;
    if (unit->dimension == want) return STATUS_OK;
    if (want == NCU_UNIT_BYTE && unit->dimension == NCU_UNIT_SECTOR) {
      unit->dimension = NCU_UNIT_BYTE;
      unit->times *= 32;
      unit->atom = 32;
      return STATUS_OK;
    }
    if (want == NCU_UNIT_RATIO && unit->dimension == NCU_UNIT_COUNT) { /* ".ratio" has no unit, of which 1 is all */
      *unit = (NcuUnit){NCU_UNIT_RATIO, 1000000, 0, 1};
      return STATUS_OK;
    }
    if (want == NCU_UNIT_SECTOR && unit->dimension == NCU_UNIT_COUNT && field.length) return STATUS_OK;
  }
  return error_set(error, STATUS_BAD_FILE,
                   "line %" PRId64 ": %s is in '%s', which is no unit of it (%s or a multiple belongs there)",
                   p->text.line_number, name->metric, quote(field.at, field.length).text,
                   *name->unit ? name->unit : "a count without one");
}

static Status bad_cell(const Parser *p, const char *name, NcuField cell, const char *what, Error *error) {
  return error_set(error, STATUS_BAD_FILE, "line %" PRId64 ": %s is '%s'; %s belongs there", p->text.line_number, name,
                   quote(cell.at, cell.length).text, what);
}

static Status read_counter(const Parser *p, int counter, NcuField cell, const NcuUnit *unit, CounterRow *row,
                           Error *error) {
  if (ncu_number_is_missing(cell)) return STATUS_OK; /* this GPU, or this pass, does not have it */
  NcuCount count;
  if (!ncu_count_parse(cell, p->decimal, unit, &count))
    return bad_cell(p, COUNTER_NAMES[counter].metric, cell,
                    p->decimal == '.' ? "a number like 1234 or 1,234.5" : "a number like 1234 or 1.234,5", error);
  if (row->known[counter]) return STATUS_OK; /* the first one counts */
  row->known[counter] = true;
  row->value[counter] = count.value;
  row->slack[counter] = count.slack;
  return STATUS_OK;
}

/* "(128, 1, 1)", "(128; 1; 1)", "128x1x1" */
static void read_triple(NcuField cell, int64_t triple[3]) {
  int n = 0;
  bool in_number = false;
  int64_t found[3] = {0, 1, 1};
  for (size_t i = 0; i < cell.length; i++) {
    const char c = cell.at[i];
    const bool digit = c >= '0' && c <= '9';
    if (digit && !in_number && n++ < 3) found[n - 1] = 0;
    if (n > 3) return;
    if (digit && found[n - 1] < 100000000000) found[n - 1] = 10 * found[n - 1] + (c - '0');
    in_number = digit;
  }
  if (n && found[0] > 0 && found[1] > 0 && found[2] > 0) memcpy(triple, found, sizeof found);
}

static void read_capability(NcuField cell, CounterRow *row) {
  int64_t parts[3] = {0};
  if (!memchr(cell.at, '.', cell.length) && !memchr(cell.at, ',', cell.length)) return;
  cell = ncu_field_trim(cell);
  char text[16];
  if (cell.length >= sizeof text) return;
  memcpy(text, cell.at, cell.length);
  for (size_t i = 0, part = 0; i < cell.length; i++) {
    if (text[i] == '.' || text[i] == ',')
      part++;
    else if (text[i] >= '0' && text[i] <= '9' && part < 2)
      parts[part] = 10 * parts[part] + (text[i] - '0');
    else
      return;
    if (part > 1) return;
  }
  if (parts[0] < 1000 && parts[1] < 10) row->capability = (int)(10 * parts[0] + parts[1]);
}

static void copy_text(NcuField from, char *to, size_t size) {
  size_t i = 0;
  for (; i < from.length && i + 1 < size; i++) to[i] = from.at[i] >= 32 && from.at[i] < 127 ? from.at[i] : '?';
  to[i] = '\0';
}

static void read_fact(const Parser *p, int role, NcuField cell, const NcuUnit *unit, CounterRow *row) {
  static const NcuUnit plain = {NCU_UNIT_COUNT, 1, 0, 1};
  NcuCount count;
  if (role == ROLE_DEVICE) {
    copy_text(ncu_field_trim(cell), row->device, sizeof row->device);
    return;
  }
  if (!ncu_count_parse(cell, p->decimal, unit ? unit : &plain, &count) || count.value > (uint64_t)1 << 40) return;
  const int64_t value = (int64_t)count.value;
  switch (role) {
  case ROLE_GRID_X:
  case ROLE_GRID_Y:
  case ROLE_GRID_Z: row->grid[role - ROLE_GRID_X] = value; break;
  case ROLE_BLOCK_X:
  case ROLE_BLOCK_Y:
  case ROLE_BLOCK_Z: row->block[role - ROLE_BLOCK_X] = value; break;
  case ROLE_CC_MAJOR:
    if (value < 1000) row->capability = (int)(10 * value + row->capability % 10);
    break;
  case ROLE_CC_MINOR:
    if (value < 10) row->capability = row->capability / 10 * 10 + (int)value;
    break;
  case ROLE_N_SM: row->n_sm = value; break;
  case ROLE_REGISTERS: row->registers = value; break;
  default:
    row->dynamic_shared_bytes = value;
    row->has_dynamic_shared = true;
    break;
  }
}

/* Bytes a second; a throughput in % says nothing of bytes. */
static void read_rate(const Parser *p, int rate, NcuField cell, const NcuUnit *unit, CounterRow *row) {
  NcuCount count;
  if (!unit || unit->dimension != NCU_UNIT_BYTE_RATE || row->rate[rate]) return;
  if (!ncu_count_parse(cell, p->decimal, unit, &count) || count.value >= (uint64_t)1 << 50) return;
  row->rate[rate] = count.value;
  row->rate_slack[rate] = count.slack;
}

/* Columns that every page has. */
static void read_identity(const Parser *p, CounterRow *row) {
  const Layout *l = p->layout;
  copy_text((NcuField){"(no name)", 9}, row->kernel, sizeof row->kernel);
  for (int c = 0; c < l->n_columns; c++) {
    const NcuField cell = p->text.fields[c];
    switch (l->role[c]) {
    case ROLE_ID: row->id = ncu_is_digits(cell) ? digits_of(cell) : 0; break;
    case ROLE_PROCESS: row->process = ncu_is_digits(cell) ? digits_of(cell) : 0; break;
    case ROLE_KERNEL: copy_text(cell, row->kernel, sizeof row->kernel); break;
    case ROLE_BLOCK: read_triple(cell, row->block); break;
    case ROLE_GRID: read_triple(cell, row->grid); break;
    case ROLE_CC: read_capability(cell, row); break;
    default: break;
    }
  }
}

static Status read_raw(Parser *p, CounterRow *row, Error *error) {
  const Layout *l = p->layout;
  for (int c = 0; c < l->n_columns; c++) {
    const int role = l->role[c];
    if (role >= ROLE_FIRST_COUNTER) {
      const Status status = read_counter(p, role - ROLE_FIRST_COUNTER, p->text.fields[c], &l->units[c], row, error);
      if (status) return status;
    } else if (role == ROLE_DEVICE || (role >= ROLE_FIRST_FACT && role <= ROLE_LAST_FACT)) {
      read_fact(p, role, p->text.fields[c], l->unit_known[c] ? &l->units[c] : NULL, row);
    } else if (role >= ROLE_FIRST_RATE && role <= ROLE_LAST_RATE) {
      read_rate(p, role - ROLE_FIRST_RATE, p->text.fields[c], l->unit_known[c] ? &l->units[c] : NULL, row);
    }
  }
  return STATUS_OK;
}

/* One metric of a launch. */
static Status read_metric(Parser *p, CounterRow *row, Error *error) {
  const Layout *l = p->layout;
  const NcuField name = ncu_field_trim(p->text.fields[l->metric]), cell = p->text.fields[l->value];
  const NcuField unit_field = l->unit >= 0 ? p->text.fields[l->unit] : (NcuField){"", 0};
  const int role = ncu_role_of(name);
  NcuUnit unit;
  if (role >= ROLE_FIRST_COUNTER) {
    if (ncu_number_is_missing(cell)) return STATUS_OK;
    const Status status = ncu_unit_for(p, role - ROLE_FIRST_COUNTER, unit_field, &unit, error);
    return status ? status : read_counter(p, role - ROLE_FIRST_COUNTER, cell, &unit, row, error);
  }
  const bool known = ncu_unit_parse(unit_field, &unit);
  if (role == ROLE_DEVICE || (role >= ROLE_FIRST_FACT && role <= ROLE_LAST_FACT))
    read_fact(p, role, cell, known ? &unit : NULL, row);
  else if (role >= ROLE_FIRST_RATE && role <= ROLE_LAST_RATE)
    read_rate(p, role - ROLE_FIRST_RATE, cell, known ? &unit : NULL, row);
  else if (role == ROLE_IGNORED)
    ncu_ignore(p, name);
  return STATUS_OK;
}

static Status read_size(const Parser *p, int column, int64_t *size, Error *error) {
  static const NcuUnit plain = {NCU_UNIT_COUNT, 1, 0, 1};
  const NcuField field = p->text.fields[column];
  NcuCount count;
  if (!ncu_count_parse(field, p->decimal, &plain, &count) || count.slack || count.value < 1 ||
      count.value > (uint64_t)SHAPE_MAX_N)
    return bad_cell(p, NCU_SIZE_COLUMNS[p->layout->role[column] - ROLE_FIRST_SIZE], field, "a count from 1 on", error);
  *size = (int64_t)count.value;
  return STATUS_OK;
}

static Status read_shape(const Parser *p, CounterRow *row, Error *error) {
  const Layout *l = p->layout;
  int64_t *const sizes[N_SIZES] = {&row->shape.batch, &row->shape.heads, &row->shape.kv_heads,
                                   &row->shape.N_q,   &row->shape.N_k,   &row->shape.d,
                                   &row->tiling.B_r,  &row->tiling.B_c,  &row->tiling.n_splits};
  NcuField dtype = {0}, causal = {0};
  for (int c = 0; c < l->n_columns; c++) {
    const int role = l->role[c];
    if (role == ROLE_DTYPE) dtype = p->text.fields[c];
    if (role == ROLE_CAUSAL) causal = p->text.fields[c];
    if (role == ROLE_RUNG) copy_text(p->text.fields[c], row->kernel, sizeof row->kernel);
    if (role < ROLE_FIRST_SIZE || role >= ROLE_FIRST_SIZE + N_SIZES) continue;
    const Status status = read_size(p, c, sizes[role - ROLE_FIRST_SIZE], error);
    if (status) return status;
  }
  char name[8] = "";
  if (dtype.at && dtype.length < sizeof name) memcpy(name, dtype.at, dtype.length);
  if (!dtype_from_name(name, &row->shape.dtype))
    return ncu_fail(p, error, "the dtype is none of fp16, bf16, fp32, fp8");
  if (!ncu_field_is(causal, "0") && !ncu_field_is(causal, "1")) return ncu_fail(p, error, "causal is neither 0 nor 1");
  row->shape.causal = ncu_field_is(causal, "1");
  row->has_shape = true;
  Plan plan; /* nothing later has to check again */
  Error why = {0};
  if (plan_make(&plan, &row->shape, &row->tiling, &why))
    return error_set(error, STATUS_BAD_FILE, "line %" PRId64 ": %.200s", p->text.line_number, why.message);
  return STATUS_OK;
}

Status ncu_read_row(Parser *p, Error *error) {
  const Layout *l = p->layout;
  CounterRow *row = NULL, fresh = {.line = p->text.line_number, .report = p->table->n_reports - 1};
  Status status = STATUS_OK;
  if (l->page == PAGE_RECORDED) {
    status = read_shape(p, &fresh, error);
  } else {
    read_identity(p, &fresh);
    if (l->page == PAGE_DETAILS) {
      if (!ncu_field_trim(p->text.fields[l->metric]).length) return STATUS_OK; /* a rule's advice */
      row = ncu_rows_open(&p->rows, &fresh);
    }
  }
  if (status == STATUS_OK && !row) status = ncu_rows_add(&p->rows, &fresh, &row, error);
  if (status) return status;
  status = l->page == PAGE_DETAILS ? read_metric(p, row, error) : read_raw(p, row, error);
  if (status) return status;
  return STATUS_OK;
}
