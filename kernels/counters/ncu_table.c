/* Tables of counters: what each column is for, by its name, in which unit it is, and what a cell says of a launch. */

#include "kernels/counters/ncu_inner.h"
#include "sim/base/ascii.h"

#define MEMBER(of_row) (int)offsetof(CounterRow, of_row)

/* Names of columns and metrics, apart by '|'; those of counters are in counter_names.c. */
static const struct {
  Role role;
  int index;
  const char *names;
} NAMES[] = {
    {ROLE_DIGITS, MEMBER(id), "ID"},
    {ROLE_DIGITS, MEMBER(process), "Process ID"},
    {ROLE_KERNEL, 0, "Kernel Name|Kernel|Function Name|Demangled Name"},
    {ROLE_TRIPLE, MEMBER(block), "Block Size"},
    {ROLE_TRIPLE, MEMBER(grid), "Grid Size"},
    {ROLE_CC, 0, "CC"},
    {ROLE_METRIC, METRIC_NAME, "Metric Name"},
    {ROLE_METRIC, METRIC_UNIT, "Metric Unit"},
    {ROLE_METRIC, METRIC_VALUE, "Metric Value"},
    {ROLE_IDENTITY, 0,
     "Process Name|Host Name|Kernel Time|Context|Stream|Device|Section Name|Rule Name|Rule Type|Rule Description|"
     "Estimated Speedup Type|Estimated Speedup"},
    {ROLE_DEVICE, 0, "Device Name|device__attribute_display_name"},
    {ROLE_FACT, MEMBER(grid[0]), "launch__grid_dim_x"},
    {ROLE_FACT, MEMBER(grid[1]), "launch__grid_dim_y"},
    {ROLE_FACT, MEMBER(grid[2]), "launch__grid_dim_z"},
    {ROLE_FACT, MEMBER(block[0]), "launch__block_dim_x"},
    {ROLE_FACT, MEMBER(block[1]), "launch__block_dim_y"},
    {ROLE_FACT, MEMBER(block[2]), "launch__block_dim_z"},
    {ROLE_CC_MAJOR, 0, "device__attribute_compute_capability_major"},
    {ROLE_CC_MINOR, 0, "device__attribute_compute_capability_minor"},
    {ROLE_FACT, MEMBER(n_sm), "device__attribute_multiprocessor_count"},
    {ROLE_FACT, MEMBER(registers), "launch__registers_per_thread|Registers Per Thread"},
    {ROLE_FACT, MEMBER(dynamic_shared_bytes), "launch__shared_mem_per_block_dynamic|Dynamic Shared Memory Per Block"},
    {ROLE_RATE, COUNTER_BOUNDARY_READ, "l1tex__m_xbar2l1tex_read_bytes.sum.per_second"},
    {ROLE_RATE, COUNTER_HBM_READ,
     "dram__bytes_read.sum.per_second|dram__bytes_op_read.sum.per_second|fbpa__dram_read_bytes.sum.per_second"},
    {ROLE_RATE, COUNTER_HBM_WRITE,
     "dram__bytes_write.sum.per_second|dram__bytes_op_write.sum.per_second|fbpa__dram_write_bytes.sum.per_second"},
    {ROLE_RATE, COUNTER_HBM_TOTAL, "dram__bytes.sum.per_second|Memory Throughput"}, /* another of that label is in % */
    {ROLE_RUNG, 0, "rung"},
    {ROLE_DTYPE, 0, "dtype"},
    {ROLE_CAUSAL, 0, "causal"},
    {ROLE_SIZE, MEMBER(shape.batch), "batch"},
    {ROLE_SIZE, MEMBER(shape.heads), "heads"},
    {ROLE_SIZE, MEMBER(shape.kv_heads), "kv_heads"},
    {ROLE_SIZE, MEMBER(shape.N_q), "seq_q"},
    {ROLE_SIZE, MEMBER(shape.N_k), "seq_k"},
    {ROLE_SIZE, MEMBER(shape.d), "head_dim"},
    {ROLE_SIZE, MEMBER(tiling.B_r), "block_q"},
    {ROLE_SIZE, MEMBER(tiling.B_c), "block_k"},
    {ROLE_SPLITS, MEMBER(tiling.n_splits), "splits"},
};
enum { N_NAMES = COUNT_OF(NAMES) };

/* Whether a field is one of the names: letters of either case, '_' for a blank. Old reports, and people, leave out
 * ".sum". */
static bool is_named(NcuField field, const char *names) {
  for (const char *at = names; *at; at += *at == '|') {
    const size_t length = strcspn(at, "|");
    const bool is_short = length == field.length + 4 && !strncmp(at + field.length, ".sum", 4);
    size_t i = length == field.length || is_short ? 0 : SIZE_MAX;
    while (i < field.length && (ascii_lower(field.at[i]) == ascii_lower(at[i]) || (field.at[i] == '_' && at[i] == ' ')))
      i++;
    if (i == field.length) return true;
    at += length;
  }
  return false;
}

static Column column_of(NcuField name) {
  for (int c = 0; c < COUNTER_COUNT; c++)
    if (is_named(name, COUNTER_NAMES[c].metric) || is_named(name, COUNTER_NAMES[c].aliases))
      return (Column){.role = ROLE_COUNTER, .index = c};
  for (int i = 0; i < N_NAMES; i++)
    if (is_named(name, NAMES[i].names))
      return (Column){.role = NAMES[i].role, .index = NAMES[i].index, .name = NAMES[i].names};
  return (Column){.role = ROLE_IGNORED};
}

/* Notes a column, or a metric, that says nothing here. */
static void ignore(Parser *p, NcuField name) {
  CounterTable *t = p->table;
  char text[NCU_DEVICE_BYTES];
  if (p->surveys || !name.length) return;
  ncu_field_copy(name, text, sizeof text);
  for (int i = 0; i < t->n_ignored; i++)
    if (!strcmp(t->ignored[i], text)) return;
  t->ignored_more |= t->n_ignored == NCU_MAX_IGNORED;
  if (t->n_ignored < NCU_MAX_IGNORED) memcpy(t->ignored[t->n_ignored++], text, sizeof text);
}

/* ---- Headers ---- */

/* "Duration [us]" and "Duration (us)": the name alone, and the unit. */
static NcuField split_unit(NcuField field, NcuField *unit) {
  field = ncu_field_trim(field);
  const char last = field.length ? field.at[field.length - 1] : 0;
  if (last != ']' && last != ')') return field;
  for (size_t i = field.length - 1; i > 1; i--) {
    if (field.at[i] != (last == ']' ? '[' : '(')) continue;
    *unit = (NcuField){field.at + i + 1, field.length - i - 2};
    return ncu_field_trim((NcuField){field.at, i});
  }
  return field;
}

/* Where the first column of that role is; -1: nowhere. */
static int column_with(const Layout *l, Role role, int index) {
  for (int c = 0; c < l->n_columns; c++)
    if (l->columns[c].role == role && l->columns[c].index == index) return c;
  return -1;
}

static void read_columns(Parser *p, Layout *l) {
  l->n_columns = 0;
  l->n_counters = 0;
  l->has_units = false;
  for (int c = 0; c < p->text.n_fields; c++) {
    NcuField unit_text = {"", 0};
    Column column = column_of(split_unit(p->text.fields[c], &unit_text));
    /* The first column of a counter is the one that counts. */
    if (column.role == ROLE_COUNTER && column_with(l, ROLE_COUNTER, column.index) >= 0) column.role = ROLE_IDENTITY;
    column.unit_text = unit_text;
    if (column.role == ROLE_COUNTER) {
      l->has_units |= unit_text.length && ncu_unit_parse(unit_text, &column.unit);
      l->n_counters++;
    }
    l->columns[l->n_columns++] = column;
  }
  l->id = column_with(l, ROLE_DIGITS, MEMBER(id));
  for (int k = 0; k < METRIC_PARTS; k++) l->metric[k] = column_with(l, ROLE_METRIC, k);
  l->page = column_with(l, ROLE_RUNG, 0) >= 0 ? PAGE_RECORDED : PAGE_RAW;
  if (l->metric[METRIC_NAME] >= 0 && l->metric[METRIC_VALUE] >= 0) l->page = PAGE_DETAILS;
}

/* Whether the columns are those of a table of counters. */
static Status check_columns(Parser *p, const Layout *l, bool *is_header, Error *error) {
  const int64_t line = p->text.line_number;
  if (l->page == PAGE_RECORDED) {
    *is_header = l->n_counters > 0;
    for (int i = 0; *is_header && i < N_NAMES; i++)
      if (NAMES[i].role >= ROLE_FIRST_NEEDED && column_with(l, NAMES[i].role, NAMES[i].index) < 0)
        return ncu_fail(line, error,
                        "a column of the shape is missing; a recorded file has rung, dtype, batch, heads, kv_heads, "
                        "seq_q, seq_k, head_dim, causal, block_q and block_k");
    return STATUS_OK;
  }
  const bool has_kernel = column_with(l, ROLE_KERNEL, 0) >= 0;
  for (int c = 0; l->metric[METRIC_NAME] >= 0 && l->metric[METRIC_VALUE] < 0 && c < l->n_columns; c++)
    if (is_named(ncu_field_trim(p->text.fields[c]), "Average"))
      return ncu_fail(line, error,
                      "a summary over launches (least, most, average); export the launches: leave out --print-summary");
  *is_header = (has_kernel || l->id >= 0) && (l->page == PAGE_DETAILS || l->n_counters > 0);
  if (has_kernel && l->id >= 0 && !*is_header && !p->around.useless_header) p->around.useless_header = line;
  return STATUS_OK;
}

/* Under the first of the three delimiters that makes two fields of it or more. */
Status ncu_try_header(Parser *p, bool *is_header, Error *error) {
  static const char *const words[] = {"__", "Kernel", "Name", "rung", "counted_", "kernel"}; /* each header has one */
  Layout *l = p->tried;
  bool names_columns = false;
  *is_header = false;
  for (size_t i = 0; i < COUNT_OF(words); i++) names_columns |= ncu_text_has(&p->text, words[i]);
  for (const char *delimiter = ",;\t"; *delimiter && names_columns; delimiter++) {
    const NcuSplit split = ncu_text_split(&p->text, *delimiter);
    if (split == NCU_SPLIT_TOO_MANY && ncu_text_has(&p->text, "Kernel Name"))
      return ncu_fail(p->text.line_number, error, "more than %d columns; choose fewer with --metrics", NCU_MAX_COLUMNS);
    if (split != NCU_SPLIT_OK || p->text.n_fields < 2) continue;
    read_columns(p, l);
    l->delimiter = *delimiter;
    l->is_quoted = p->text.line[0] == '"';
    const Status status = check_columns(p, l, is_header, error);
    if (!*is_header) return status;
    p->tried = p->layout;
    p->layout = l;
    p->semicolons |= *delimiter == ';';
    for (int c = 0; l->page != PAGE_RECORDED && c < l->n_columns; c++)
      if (l->columns[c].role == ROLE_IGNORED) ignore(p, ncu_field_trim(p->text.fields[c]));
    return status;
  }
  return STATUS_OK;
}

/* ---- Units ---- */

/* Which unit a counter's cell is in; refuses one that it cannot have. */
static Status unit_for(const Parser *p, int counter, NcuField field, NcuUnit *unit, Error *error) {
  static const char *const base[] = {[NCU_UNIT_BYTE] = "byte",
                                     [NCU_UNIT_SECTOR] = "sector",
                                     [NCU_UNIT_SECOND] = "ns",
                                     [NCU_UNIT_RATIO] = "%",
                                     [NCU_UNIT_COUNT] = "no unit, inst"};
  const NcuDimension want = COUNTER_NAMES[counter].dimension;
  if (ncu_unit_parse(field, unit)) {
    const bool is_count = unit->dimension == NCU_UNIT_COUNT;
    if (unit->dimension == want || (want == NCU_UNIT_SECTOR && is_count && field.length)) return STATUS_OK;
    if (want == NCU_UNIT_BYTE && unit->dimension == NCU_UNIT_SECTOR) {
      unit->times *= 32;
      unit->atom = 32;
      return STATUS_OK;
    }
    if (want == NCU_UNIT_RATIO && is_count) { /* ".ratio" has no unit, of which 1 is all */
      *unit = (NcuUnit){NCU_UNIT_RATIO, 1000000, 0, 1};
      return STATUS_OK;
    }
  }
  return ncu_fail(p->text.line_number, error, "%s is in '%s', which is no unit of it (%s or a multiple belongs there)",
                  COUNTER_NAMES[counter].metric, quote(field.at, field.length).text, base[want]);
}

/* The line of units under a header. */
static Status read_unit_line(Parser *p, const Layout *l, Error *error) {
  NcuText *t = &p->text;
  int64_t id;
  bool got = true;
  do {
    const Status status = ncu_text_line(t, &got, error);
    if (status) return status;
    if (!got) return ncu_fail(t->line_number, error, "the file ends after its header; a line of units must follow");
  } while (ncu_is_skipped(t) || (l->is_quoted && t->line[0] != '"' && t->line[0] != l->delimiter));
  const NcuSplit split = ncu_text_split(t, l->delimiter);
  if (split == NCU_SPLIT_OPEN) return ncu_fail(t->line_number, error, NCU_NOT_CLOSED);
  if (l->page == PAGE_RAW && l->id >= 0 && split == NCU_SPLIT_OK && t->n_fields > l->id &&
      ncu_digits(t->fields[l->id], &id))
    return ncu_fail(t->line_number, error,
                    "a row follows the header at once; ncu writes a line of units between, which says whether "
                    "1 is a byte or a Mbyte");
  if (split != NCU_SPLIT_OK || t->n_fields != l->n_columns)
    return ncu_fail(t->line_number, error, "not as many units as columns; the file is cut off or damaged");
  return STATUS_OK;
}

Status ncu_read_units(Parser *p, Error *error) {
  Layout *l = p->layout;
  const bool in_header = l->page == PAGE_RAW && l->has_units;
  if (l->page == PAGE_DETAILS) return STATUS_OK;
  Status status = in_header ? STATUS_OK : read_unit_line(p, l, error);
  for (int c = 0; !status && c < l->n_columns; c++) {
    Column *column = &l->columns[c];
    const NcuField text = in_header ? column->unit_text : p->text.fields[c];
    column->unit_known = (text.length && ncu_unit_parse(text, &column->unit)) || column->role == ROLE_COUNTER;
    if (column->role == ROLE_COUNTER) status = unit_for(p, column->index, text, &column->unit, error);
  }
  return status;
}

/* ---- Rows ---- */

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

/* What a column, or a metric, says in this cell of the row. */
static Status take(Parser *p, const Column *column, NcuField cell, CounterRow *row, Error *error) {
  static const NcuUnit PLAIN = {NCU_UNIT_COUNT, 1, 0, 1};
  const NcuUnit *unit = column->unit_known ? &column->unit : &PLAIN;
  const int at = column->index;
  void *const member = (char *)row + at;
  if (p->surveys) {
    const bool is_whole = column->role == ROLE_COUNTER && unit->times == unit->atom && !unit->tenths;
    if (column->unit_known) survey(p, cell, is_whole && unit->dimension != NCU_UNIT_RATIO);
    return STATUS_OK;
  }
  if (column->role >= ROLE_RUNG && !row->has_shape) return STATUS_OK;
  NcuCount count = {0};
  char text[8];
  const bool is_number = ncu_count_parse(cell, p->decimal, unit, &count);
  switch (column->role) {
  case ROLE_DIGITS: ncu_digits(cell, member); break;
  case ROLE_KERNEL:
    if (row->has_shape) break; /* fall through */
  case ROLE_RUNG: ncu_field_copy(cell, row->kernel, sizeof row->kernel); break;
  case ROLE_TRIPLE: read_triple(cell, member); break;
  case ROLE_CC: read_capability(cell, row); break;
  case ROLE_DEVICE: ncu_field_copy(ncu_field_trim(cell), row->device, sizeof row->device); break;
  case ROLE_CC_MAJOR:
    if (is_number && count.value < 1000) row->capability = 10 * (int)count.value + row->capability % 10;
    break;
  case ROLE_CC_MINOR:
    if (is_number && count.value < 10) row->capability = row->capability / 10 * 10 + (int)count.value;
    break;
  case ROLE_FACT:
    if (is_number && count.value <= (uint64_t)1 << 40) memcpy(member, &count.value, sizeof(int64_t));
    break;
  case ROLE_COUNTER:
    if (ncu_number_is_missing(cell) || !column->unit_known) break; /* this GPU, or this pass, does not have it */
    if (!is_number)
      return bad_cell(p, COUNTER_NAMES[at].metric, cell,
                      p->decimal == '.' ? "a number like 1234 or 1,234.5" : "a number like 1234 or 1.234,5", error);
    if (row->known[at]) break; /* the first one counts */
    row->known[at] = true;
    row->value[at] = count.value;
    row->slack[at] = count.slack;
    break;
  case ROLE_RATE: /* a throughput in % says nothing of bytes */
    if (!is_number || unit->dimension != NCU_UNIT_BYTE_RATE || row->rate[at] || count.value >= (uint64_t)1 << 50) break;
    row->rate[at] = count.value;
    row->rate_slack[at] = count.slack;
    break;
  case ROLE_SPLITS:
  case ROLE_SIZE:
    if (!is_number || count.slack || count.value < 1 || count.value > (uint64_t)SHAPE_MAX_N)
      return bad_cell(p, column->name, cell, "a count from 1 on", error);
    memcpy(member, &count.value, sizeof(int64_t));
    break;
  case ROLE_DTYPE:
    ncu_field_copy(cell, text, sizeof text);
    if (!dtype_from_name(text, &row->shape.dtype))
      return ncu_fail(p->text.line_number, error, "the dtype is none of fp16, bf16, fp32, fp8");
    break;
  case ROLE_CAUSAL:
    row->shape.causal = ncu_field_is(cell, "1");
    if (!row->shape.causal && !ncu_field_is(cell, "0"))
      return ncu_fail(p->text.line_number, error, "causal is neither 0 nor 1");
    break;
  default: break;
  }
  return STATUS_OK;
}

/* One metric of a launch: a row of the page of details. */
static Status read_metric(Parser *p, CounterRow *row, Error *error) {
  const NcuField *fields = p->text.fields;
  const int *metric = p->layout->metric;
  const NcuField name = ncu_field_trim(fields[metric[METRIC_NAME]]), cell = fields[metric[METRIC_VALUE]];
  const NcuField unit = metric[METRIC_UNIT] >= 0 ? fields[metric[METRIC_UNIT]] : (NcuField){"", 0};
  Column column = column_of(name);
  column.unit_known = unit.length && ncu_unit_parse(unit, &column.unit);
  if (column.role == ROLE_IGNORED) ignore(p, name);
  if (column.role < ROLE_FACT) column.role = ROLE_IDENTITY;
  if (column.role == ROLE_COUNTER && !ncu_number_is_missing(cell)) {
    const Status status = unit_for(p, column.index, unit, &column.unit, error);
    if (status) return status;
    column.unit_known = true;
  }
  return take(p, &column, cell, row, error);
}

Status ncu_read_row(Parser *p, Error *error) {
  const Layout *l = p->layout;
  const bool is_metric = l->page == PAGE_DETAILS;
  CounterRow fresh = {.line = p->text.line_number,
                      .report = p->table->n_reports - 1,
                      .kernel = "(no name)",
                      .has_shape = l->page == PAGE_RECORDED};
  Status status = STATUS_OK;
  if (is_metric && !ncu_field_trim(p->text.fields[l->metric[METRIC_NAME]]).length) return STATUS_OK; /* advice */
  for (int c = 0; !status && c < l->n_columns; c++) status = take(p, &l->columns[c], p->text.fields[c], &fresh, error);
  Plan plan; /* nothing later has to check again */
  Error why = {0};
  if (!status && !p->surveys && fresh.has_shape && plan_make(&plan, &fresh.shape, &fresh.tiling, &why))
    status = ncu_fail(fresh.line, error, "%s", why.message);
  CounterRow *row = p->surveys ? &fresh : is_metric ? ncu_rows_open(&p->rows, &fresh) : NULL;
  if (!status && !row) status = ncu_rows_add(&p->rows, &fresh, &row, error);
  return status || !is_metric ? status : read_metric(p, row, error);
}
