#include "kernels/counters/ncu.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "sim/base/size.h"

const CounterName COUNTER_NAMES[COUNTER_COUNT] = {
    {"l1tex__m_xbar2l1tex_read_bytes.sum", "byte", "read across the boundary"},
    {"l1tex__m_l1tex2xbar_write_bytes.sum", "byte", "written across it"},
    {"lts__t_sectors_srcunit_tex_op_read.sum", "sector", "sectors read from L2"},
    {"lts__t_sectors_srcunit_tex_op_write.sum", "sector", "sectors written to L2"},
    {"lts__t_sectors_srcunit_ltcfabric.sum", "sector", "sectors across the fabric"},
    {"dram__bytes_read.sum", "byte", "read from HBM"},
    {"dram__bytes_write.sum", "byte", "written to HBM"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "", "bank conflicts, loads"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "", "bank conflicts, stores"},
    {"sm__inst_executed_pipe_tensor_op_hmma.sum", "inst", "tensor instructions"},
    {"gpu__time_duration.sum", "ns", "time"},
    {"lts__t_sectors_srcunit_tex_lookup_hit.sum", "sector", "looks in L2 that hit"},
    {"lts__t_sectors_srcunit_tex_lookup_miss.sum", "sector", "looks in L2 that miss"},
    {"counted_read_bytes", "byte", "bytes counted, read"},
    {"counted_write_bytes", "byte", "bytes counted, written"},
};

enum { COLUMN_RUNG, COLUMN_DTYPE, COLUMN_CAUSAL, COLUMN_KERNEL, N_TEXT_COLUMNS };
static const char *const TEXT_COLUMNS[N_TEXT_COLUMNS] = {"rung", "dtype", "causal", "Kernel Name"};
enum {
  COLUMN_BATCH,
  COLUMN_HEADS,
  COLUMN_KV_HEADS,
  COLUMN_N_Q,
  COLUMN_N_K,
  COLUMN_D,
  COLUMN_B_R,
  COLUMN_B_C,
  COLUMN_SPLITS,
  N_SIZE_COLUMNS
};
static const char *const SIZE_COLUMNS[N_SIZE_COLUMNS] = {"batch",    "heads",   "kv_heads", "seq_q", "seq_k",
                                                         "head_dim", "block_q", "block_k",  "splits"};

/* Where the columns are; -1: not there. */
typedef struct {
  int n_columns;
  int text[N_TEXT_COLUMNS], size[N_SIZE_COLUMNS], counter[COUNTER_COUNT];
} Layout;

typedef struct {
  const char *at;
  size_t length;
} Field;

typedef struct {
  const char *text;
  size_t length, at;
  int64_t line;   /* of the line last taken */
  Field *fields;  /* NCU_MAX_COLUMNS */
  char *unquoted; /* room for one line's quoted fields */
} Reader;

static bool field_is(Field field, const char *word) {
  return field.length == strlen(word) && memcmp(field.at, word, field.length) == 0;
}

static Status fail(const Reader *r, Error *error, const char *why) {
  return error_set(error, STATUS_BAD_FILE, "line %" PRId64 ": %s", r->line, why);
}

/* The next line without its end; false at the end of the text. */
static bool take_line(Reader *r, Field *line) {
  if (r->at >= r->length) return false;
  const char *begin = r->text + r->at, *end = memchr(begin, '\n', r->length - r->at);
  size_t length = end ? (size_t)(end - begin) : r->length - r->at;
  r->at += length + (end != NULL);
  r->line++;
  if (length && begin[length - 1] == '\r') length--;
  *line = (Field){begin, length};
  return true;
}

static bool is_skipped(Field line) {
  return line.length == 0 || line.at[0] == '#' || (line.length > 1 && line.at[0] == '=' && line.at[1] == '=');
}

/* One field from *at on, of a line that ends at `end`. False: a quote is never closed, or something follows it. */
static bool take_field(const char **at, const char *end, char **store, Field *field) {
  const char *p = *at;
  if (p == end || *p != '"') {
    const char *comma = memchr(p, ',', (size_t)(end - p));
    *field = (Field){p, (size_t)((comma ? comma : end) - p)};
    *at = comma ? comma : end;
    return true;
  }
  char *out = *store;
  for (p++;; p++) {
    if (p == end) return false;
    if (*p == '"' && (p + 1 == end || p[1] != '"')) break;
    if (*p == '"') p++; /* "" is a quote */
    *(*store)++ = *p;
  }
  *field = (Field){out, (size_t)(*store - out)};
  *at = p + 1;
  return *at == end || **at == ',';
}

/* Splits a line into r->fields. */
static Status split(Reader *r, Field line, int *n_fields, Error *error) {
  const char *at = line.at, *end = line.at + line.length;
  char *store = r->unquoted;
  for (int n = 0;; at++) {
    if (n == NCU_MAX_COLUMNS) return fail(r, error, "more than 8192 columns; this is not a file of ncu's");
    if (!take_field(&at, end, &store, &r->fields[n++]))
      return fail(r, error, "a quoted field is not closed; the file is cut off or damaged");
    if (at == end) {
      *n_fields = n;
      return STATUS_OK;
    }
  }
}

static int column_of(const Reader *r, int n_fields, const char *name) {
  for (int c = 0; c < n_fields; c++)
    if (field_is(r->fields[c], name)) return c;
  return -1;
}

/* Whether the fields name columns of one of the two layouts. */
static bool read_header(const Reader *r, int n_fields, Layout *layout) {
  layout->n_columns = n_fields;
  int n_counters = 0;
  for (int i = 0; i < N_TEXT_COLUMNS; i++) layout->text[i] = column_of(r, n_fields, TEXT_COLUMNS[i]);
  for (int i = 0; i < N_SIZE_COLUMNS; i++) layout->size[i] = column_of(r, n_fields, SIZE_COLUMNS[i]);
  for (int i = 0; i < COUNTER_COUNT; i++) {
    layout->counter[i] = column_of(r, n_fields, COUNTER_NAMES[i].metric);
    n_counters += layout->counter[i] >= 0;
  }
  return n_counters > 0 && (layout->text[COLUMN_RUNG] >= 0 || layout->text[COLUMN_KERNEL] >= 0);
}

static Status find_header(Reader *r, Layout *layout, Error *error) {
  Field line;
  while (take_line(r, &line)) {
    if (is_skipped(line) || !memchr(line.at, ',', line.length)) continue;
    int n_fields;
    if (split(r, line, &n_fields, NULL)) continue; /* a line of the profiled program */
    if (column_of(r, n_fields, "Metric Name") >= 0)
      return fail(r, error, "this is ncu's page of details; make the file with `ncu --csv --page raw`");
    if (!read_header(r, n_fields, layout)) continue;
    if (layout->text[COLUMN_RUNG] < 0) return STATUS_OK;
    for (int i = 0; i < N_SIZE_COLUMNS; i++)
      if ((layout->size[i] < 0 && i != COLUMN_SPLITS) || layout->text[COLUMN_DTYPE] < 0 ||
          layout->text[COLUMN_CAUSAL] < 0)
        return fail(r, error,
                    "a column of the shape is missing; a recorded file has rung, dtype, batch, heads, kv_heads, "
                    "seq_q, seq_k, head_dim, causal, block_q and block_k");
    return STATUS_OK;
  }
  return fail(r, error,
              "no header with a counter that is known here before the end of the file; make it with `ncu --csv "
              "--page raw --print-units base --metrics l1tex__m_xbar2l1tex_read_bytes.sum,...`");
}

static Status check_units(Reader *r, const Layout *layout, Error *error) {
  Field line;
  int n_fields;
  if (!take_line(r, &line)) return fail(r, error, "the file ends after its header; a line of units must follow");
  const Status status = split(r, line, &n_fields, error);
  if (status) return status;
  if (n_fields != layout->n_columns)
    return fail(r, error, "not as many units as columns; the file is cut off or damaged");
  for (int i = 0; i < COUNTER_COUNT; i++) {
    if (layout->counter[i] < 0) continue;
    const Field unit = r->fields[layout->counter[i]];
    if (!field_is(unit, COUNTER_NAMES[i].unit))
      return error_set(error, STATUS_BAD_FILE,
                       "line %" PRId64 ": %s is in '%s', not '%s'; run ncu with --print-units base", r->line,
                       COUNTER_NAMES[i].metric, quote(unit.at, unit.length).text, COUNTER_NAMES[i].unit);
  }
  return STATUS_OK;
}

/* Digits, plain or with a comma before each group of three; ".00" may follow. */
static bool whole_number(Field f, uint64_t *value) {
  const char *point = memchr(f.at, '.', f.length);
  const size_t length = point ? (size_t)(point - f.at) : f.length;
  const bool grouped = memchr(f.at, ',', length) != NULL;
  uint64_t sum = 0;
  if (length == 0) return false;
  for (size_t i = 0; i < length; i++) {
    const bool comma_here = grouped && (length - i) % 4 == 0;
    if (comma_here ? f.at[i] != ',' || i == 0 : f.at[i] < '0' || f.at[i] > '9') return false;
    if (comma_here) continue;
    const unsigned digit = (unsigned)(f.at[i] - '0');
    if (sum > (UINT64_MAX - digit) / 10) return false;
    sum = sum * 10 + digit;
  }
  for (size_t i = length + 1; i < f.length; i++)
    if (f.at[i] != '0') return false;
  *value = sum;
  return !point || f.length > length + 1;
}

static Status read_counters(const Reader *r, const Layout *layout, CounterRow *row, Error *error) {
  for (int i = 0; i < COUNTER_COUNT; i++) {
    if (layout->counter[i] < 0) continue;
    const Field field = r->fields[layout->counter[i]];
    if (field_is(field, "n/a")) continue; /* this GPU does not have it */
    if (!whole_number(field, &row->value[i]))
      return error_set(error, STATUS_BAD_FILE,
                       "line %" PRId64
                       ": %s is '%s', not a whole number as ncu writes it (1234 or 1,234); run ncu with "
                       "LC_ALL=C and --print-units base",
                       r->line, COUNTER_NAMES[i].metric, quote(field.at, field.length).text);
    row->known[i] = true;
  }
  return STATUS_OK;
}

static Status read_size(const Reader *r, const Layout *layout, int column, int64_t *size, Error *error) {
  const Field field = r->fields[layout->size[column]];
  uint64_t value;
  if (!whole_number(field, &value) || value < 1 || value > (uint64_t)SHAPE_MAX_N)
    return error_set(error, STATUS_BAD_FILE, "line %" PRId64 ": %s is '%s'; a count from 1 on belongs there", r->line,
                     SIZE_COLUMNS[column], quote(field.at, field.length).text);
  *size = (int64_t)value;
  return STATUS_OK;
}

static Status read_shape(const Reader *r, const Layout *layout, CounterRow *row, Error *error) {
  int64_t *const sizes[N_SIZE_COLUMNS] = {&row->shape.batch, &row->shape.heads, &row->shape.kv_heads,
                                          &row->shape.N_q,   &row->shape.N_k,   &row->shape.d,
                                          &row->tiling.B_r,  &row->tiling.B_c,  &row->tiling.n_splits};
  for (int i = 0; i < N_SIZE_COLUMNS; i++) {
    if (layout->size[i] < 0) continue; /* splits */
    const Status status = read_size(r, layout, i, sizes[i], error);
    if (status) return status;
  }
  const Field dtype = r->fields[layout->text[COLUMN_DTYPE]], causal = r->fields[layout->text[COLUMN_CAUSAL]];
  char name[8] = "";
  if (dtype.length < sizeof name) memcpy(name, dtype.at, dtype.length);
  if (!dtype_from_name(name, &row->shape.dtype)) return fail(r, error, "the dtype is none of fp16, bf16, fp32, fp8");
  if (!field_is(causal, "0") && !field_is(causal, "1")) return fail(r, error, "causal is neither 0 nor 1");
  row->shape.causal = field_is(causal, "1");
  row->has_shape = true;
  Plan plan; /* nothing later has to check again */
  Error why = {0};
  if (plan_make(&plan, &row->shape, &row->tiling, &why))
    return error_set(error, STATUS_BAD_FILE, "line %" PRId64 ": %.200s", r->line, why.message);
  return STATUS_OK;
}

static Status read_row(Reader *r, const Layout *layout, Field line, CounterRow *row, Error *error) {
  int n_fields;
  Status status = split(r, line, &n_fields, error);
  if (status) return status;
  if (n_fields != layout->n_columns)
    return error_set(error, STATUS_BAD_FILE,
                     "line %" PRId64 ": %d fields under %d columns; the file is cut off or damaged", r->line, n_fields,
                     layout->n_columns);
  if (r->text[r->at - 1] != '\n') return fail(r, error, "the last line has no end; the file is cut off");
  *row = (CounterRow){.line = r->line};
  const bool recorded = layout->text[COLUMN_RUNG] >= 0;
  const Field name = r->fields[layout->text[recorded ? COLUMN_RUNG : COLUMN_KERNEL]];
  for (size_t i = 0; i < name.length && i + 1 < sizeof row->kernel; i++)
    row->kernel[i] = name.at[i] >= 32 && name.at[i] < 127 ? name.at[i] : '?';
  status = recorded ? read_shape(r, layout, row, error) : STATUS_OK;
  return status ? status : read_counters(r, layout, row, error);
}

static Status grow(CounterTable *table, size_t *capacity, Error *error) {
  if (table->n_rows < *capacity) return STATUS_OK;
  if (table->n_rows == NCU_MAX_ROWS)
    return error_set(error, STATUS_TOO_LARGE, "more than %d rows; profile fewer kernels at a time", NCU_MAX_ROWS);
  const size_t more = *capacity ? 2 * *capacity : 64;
  CounterRow *rows = realloc(table->rows, more * sizeof *rows);
  if (!rows) return error_set(error, STATUS_NO_MEMORY, "no memory for %zu rows of counters", more);
  table->rows = rows;
  *capacity = more;
  return STATUS_OK;
}

static Status read_table(Reader *r, CounterTable *table, Error *error) {
  Layout layout = {0};
  size_t capacity = 0;
  Field line;
  Status status = find_header(r, &layout, error);
  if (status == STATUS_OK) status = check_units(r, &layout, error);
  while (status == STATUS_OK && take_line(r, &line)) {
    if (is_skipped(line)) continue;
    status = grow(table, &capacity, error);
    if (status == STATUS_OK) status = read_row(r, &layout, line, &table->rows[table->n_rows], error);
    if (status == STATUS_OK) table->n_rows++;
  }
  if (status == STATUS_OK && table->n_rows == 0) status = fail(r, error, "no row of counters follows the units");
  return status;
}

Status counter_table_from_buffer(CounterTable *table, const char *text, size_t length, Error *error) {
  *table = (CounterTable){0};
  if (length > NCU_MAX_BYTES)
    return error_set(error, STATUS_TOO_LARGE, "the file is larger than 64 MiB; profile fewer kernels at a time");
  Reader r = {.text = text, .length = length};
  r.fields = malloc(NCU_MAX_COLUMNS * sizeof *r.fields);
  r.unquoted = malloc(length + 1);
  Status status = STATUS_OK;
  if (!r.fields || !r.unquoted) status = error_set(error, STATUS_NO_MEMORY, "no memory to read the counters");
  if (status == STATUS_OK) status = read_table(&r, table, error);
  free(r.fields);
  free(r.unquoted);
  if (status) counter_table_free(table);
  return status;
}

void counter_table_free(CounterTable *table) {
  free(table->rows);
  *table = (CounterTable){0};
}
