/* Rows of counter tables: what each cell says of a launch, and which mark in its numbers is the decimal one. */
#include <string.h>

#include "kernels/counters/ncu_inner.h"
#include "sim/base/ascii.h"

static const NcuUnit PLAIN = {NCU_UNIT_COUNT, 1, 0, 1};

static Status bad_cell(const Parser *p, const char *name, NcuField cell, const char *what, Error *error) {
  return ncu_fail(p->text.line_number, error, "%s is '%s'; %s belongs there", name, quote(cell.at, cell.length).text,
                  what);
}

/* Marks in a number may settle which one is the decimal mark of the whole file. is_whole: it counts in a unit without
 * parts, so a mark stands between thousands. */
static void survey(Parser *p, NcuField cell, bool is_whole) {
  if (!memchr(cell.at, '.', cell.length) && !memchr(cell.at, ',', cell.length)) return;
  const NcuReading reading = ncu_number_reading(cell);
  const bool both = reading.by_point && reading.by_comma;
  if (both ? !reading.mark : !reading.by_point && !reading.by_comma) return;
  int level = SURE;
  bool comma = reading.by_comma;
  if (both) {
    level = is_whole ? LIKELY : OPEN;
    comma = (reading.mark == ',') != is_whole;
  }
  Sight *sight = &p->sights[level][comma];
  if (!sight->line) *sight = (Sight){p->text.line_number, quote(cell.at, cell.length)};
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

/* What a column, or a metric, says in this cell; unit: NULL where none is known. */
static Status read_value(Parser *p, const Column *column, NcuField cell, const NcuUnit *unit, CounterRow *row,
                         Error *error) {
  const bool counts = column->role == ROLE_COUNTER;
  NcuCount count;
  if (p->surveys && unit)
    survey(p, cell, counts && unit->times == unit->atom && !unit->tenths && unit->dimension != NCU_UNIT_RATIO);
  if (p->surveys) return STATUS_OK;
  if (counts) return read_counter(p, column->index, cell, unit, row, error);
  if (column->role == ROLE_DEVICE) ncu_field_copy(ncu_field_trim(cell), row->device, sizeof row->device);
  const bool is_rate = column->role == ROLE_RATE, is_fact = column->role >= ROLE_CC_MAJOR && column->role <= ROLE_FACT;
  if ((!is_rate && !is_fact) || !ncu_count_parse(cell, p->decimal, unit ? unit : &PLAIN, &count)) return STATUS_OK;
  if (is_rate) { /* a throughput in % says nothing of bytes */
    if (!unit || unit->dimension != NCU_UNIT_BYTE_RATE || row->rate[column->index] || count.value >= (uint64_t)1 << 50)
      return STATUS_OK;
    row->rate[column->index] = count.value;
    row->rate_slack[column->index] = count.slack;
    return STATUS_OK;
  }
  if (column->role == ROLE_CC_MAJOR && count.value < 1000)
    row->capability = 10 * (int)count.value + row->capability % 10;
  if (column->role == ROLE_CC_MINOR && count.value < 10) row->capability = row->capability / 10 * 10 + (int)count.value;
  if (column->role == ROLE_FACT && count.value <= (uint64_t)1 << 40)
    memcpy((char *)row + column->index, &count.value, sizeof(int64_t));
  return STATUS_OK;
}

/* "(128, 1, 1)", "(128; 1; 1)", "128x1x1" */
static void read_triple(NcuField cell, int64_t triple[3]) {
  int n = 0;
  bool in_number = false;
  int64_t found[3] = {0, 1, 1};
  for (size_t i = 0; i < cell.length; i++) {
    const bool digit = ascii_is_digit(cell.at[i]);
    if (digit && !in_number && n++ < 3) found[n - 1] = 0;
    if (n > 3) return;
    if (digit && found[n - 1] < 100000000000) found[n - 1] = 10 * found[n - 1] + (cell.at[i] - '0');
    in_number = digit;
  }
  if (n && found[0] > 0 && found[1] > 0 && found[2] > 0) memcpy(triple, found, sizeof found);
}

/* "9.0" */
static void read_capability(NcuField cell, CounterRow *row) {
  char text[16];
  int major, minor, length = -1;
  cell = ncu_field_trim(cell);
  if (cell.length >= sizeof text) return;
  ncu_field_copy(cell, text, sizeof text);
  if (ascii_is_digit(*text) && sscanf(text, "%3d%*1[.,]%1d%n", &major, &minor, &length) == 2 &&
      length == (int)cell.length)
    row->capability = 10 * major + minor;
}

/* Columns that every page of ncu has. */
static void read_identity(const Parser *p, CounterRow *row) {
  const Layout *l = p->layout;
  strcpy(row->kernel, "(no name)");
  for (int c = 0; c < l->n_columns; c++) {
    const NcuField cell = p->text.fields[c];
    switch (l->columns[c].role) {
    case ROLE_ID: ncu_digits(cell, &row->id); break;
    case ROLE_PROCESS: ncu_digits(cell, &row->process); break;
    case ROLE_KERNEL: ncu_field_copy(cell, row->kernel, sizeof row->kernel); break;
    case ROLE_BLOCK: read_triple(cell, row->block); break;
    case ROLE_GRID: read_triple(cell, row->grid); break;
    case ROLE_CC: read_capability(cell, row); break;
    default: break;
    }
  }
}

/* One metric of a launch: a row of the page of details. */
static Status read_metric(Parser *p, CounterRow *row, Error *error) {
  const Layout *l = p->layout;
  const NcuField name = ncu_field_trim(p->text.fields[l->metric]), cell = p->text.fields[l->value];
  const NcuField unit_field = l->unit >= 0 ? p->text.fields[l->unit] : (NcuField){"", 0};
  const Column column = ncu_column_of(name);
  NcuUnit unit;
  bool known = unit_field.length && ncu_unit_parse(unit_field, &unit);
  if (column.role == ROLE_IGNORED) ncu_ignore(p, name);
  if (column.role == ROLE_COUNTER && !ncu_number_is_missing(cell)) {
    const Status status = ncu_unit_for(p, column.index, unit_field, &unit, error);
    if (status) return status;
    known = true;
  }
  return read_value(p, &column, cell, known ? &unit : NULL, row, error);
}

/* The shape of a run that Tilewalk recorded. */
static Status read_shape(const Parser *p, CounterRow *row, Error *error) {
  const Layout *l = p->layout;
  NcuField dtype = {"", 0}, causal = dtype;
  for (int c = 0; c < l->n_columns; c++) {
    const Column *column = &l->columns[c];
    const NcuField cell = p->text.fields[c];
    NcuCount count;
    if (column->role == ROLE_DTYPE) dtype = cell;
    if (column->role == ROLE_CAUSAL) causal = cell;
    if (column->role == ROLE_RUNG) ncu_field_copy(cell, row->kernel, sizeof row->kernel);
    if (column->role != ROLE_SIZE && column->role != ROLE_SPLITS) continue;
    if (!ncu_count_parse(cell, p->decimal, &PLAIN, &count) || count.slack || count.value < 1 ||
        count.value > (uint64_t)SHAPE_MAX_N)
      return bad_cell(p, column->name, cell, "a count from 1 on", error);
    memcpy((char *)row + column->index, &count.value, sizeof(int64_t));
  }
  char name[8];
  const int64_t line = p->text.line_number;
  ncu_field_copy(dtype, name, sizeof name);
  if (!dtype_from_name(name, &row->shape.dtype))
    return ncu_fail(line, error, "the dtype is none of fp16, bf16, fp32, fp8");
  row->shape.causal = ncu_field_is(causal, "1");
  if (!row->shape.causal && !ncu_field_is(causal, "0")) return ncu_fail(line, error, "causal is neither 0 nor 1");
  row->has_shape = true;
  Plan plan; /* nothing later has to check again */
  Error why = {0};
  return plan_make(&plan, &row->shape, &row->tiling, &why) ? ncu_fail(line, error, "%s", why.message) : STATUS_OK;
}

Status ncu_read_row(Parser *p, Error *error) {
  const Layout *l = p->layout;
  CounterRow fresh = {.line = p->text.line_number, .report = p->table->n_reports - 1};
  CounterRow *row = p->surveys ? &fresh : NULL;
  Status status = STATUS_OK;
  if (l->page == PAGE_DETAILS && !ncu_field_trim(p->text.fields[l->metric]).length) return STATUS_OK; /* advice */
  if (!row && l->page == PAGE_RECORDED) status = read_shape(p, &fresh, error);
  if (!row && l->page != PAGE_RECORDED) read_identity(p, &fresh);
  if (!row && l->page == PAGE_DETAILS) row = ncu_rows_open(&p->rows, &fresh);
  if (status == STATUS_OK && !row) status = ncu_rows_add(&p->rows, &fresh, &row, error);
  if (status == STATUS_OK && l->page == PAGE_DETAILS) return read_metric(p, row, error);
  for (int c = 0; status == STATUS_OK && c < l->n_columns; c++) {
    const Column *column = &l->columns[c];
    status = read_value(p, column, p->text.fields[c], column->unit_known ? &column->unit : NULL, row, error);
  }
  return status;
}
