/* Headers of counter tables: what each column is for, by its name, and in which unit it is. */
#include <string.h>

#include "kernels/counters/ncu_inner.h"
#include "sim/base/ascii.h"

#define MEMBER(of_row) (int)offsetof(CounterRow, of_row)

/* Names of columns and metrics but for counters and rates, whose names are in counter_names.c. */
static const struct {
  Role role;
  int index;
  const char *names[14];
} NAMES[] = {
    {ROLE_ID, 0, {"ID"}},
    {ROLE_PROCESS, 0, {"Process ID"}},
    {ROLE_KERNEL, 0, {"Kernel Name", "Kernel", "Function Name", "Demangled Name"}},
    {ROLE_BLOCK, 0, {"Block Size"}},
    {ROLE_GRID, 0, {"Grid Size"}},
    {ROLE_CC, 0, {"CC"}},
    {ROLE_METRIC_NAME, 0, {"Metric Name"}},
    {ROLE_METRIC_UNIT, 0, {"Metric Unit"}},
    {ROLE_METRIC_VALUE, 0, {"Metric Value"}},
    {ROLE_IDENTITY,
     0,
     {"Process Name", "Host Name", "Kernel Time", "Context", "Stream", "Device", "Section Name", "Rule Name",
      "Rule Type", "Rule Description", "Estimated Speedup Type", "Estimated Speedup"}},
    {ROLE_DEVICE, 0, {"Device Name", "device__attribute_display_name"}},
    {ROLE_FACT, MEMBER(grid[0]), {"launch__grid_dim_x"}},
    {ROLE_FACT, MEMBER(grid[1]), {"launch__grid_dim_y"}},
    {ROLE_FACT, MEMBER(grid[2]), {"launch__grid_dim_z"}},
    {ROLE_FACT, MEMBER(block[0]), {"launch__block_dim_x"}},
    {ROLE_FACT, MEMBER(block[1]), {"launch__block_dim_y"}},
    {ROLE_FACT, MEMBER(block[2]), {"launch__block_dim_z"}},
    {ROLE_CC_MAJOR, 0, {"device__attribute_compute_capability_major"}},
    {ROLE_CC_MINOR, 0, {"device__attribute_compute_capability_minor"}},
    {ROLE_FACT, MEMBER(n_sm), {"device__attribute_multiprocessor_count"}},
    {ROLE_FACT, MEMBER(registers), {"launch__registers_per_thread", "Registers Per Thread"}},
    {ROLE_FACT,
     MEMBER(dynamic_shared_bytes),
     {"launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block"}},
    {ROLE_RUNG, 0, {"rung"}},
    {ROLE_DTYPE, 0, {"dtype"}},
    {ROLE_CAUSAL, 0, {"causal"}},
    {ROLE_SIZE, MEMBER(shape.batch), {"batch"}},
    {ROLE_SIZE, MEMBER(shape.heads), {"heads"}},
    {ROLE_SIZE, MEMBER(shape.kv_heads), {"kv_heads"}},
    {ROLE_SIZE, MEMBER(shape.N_q), {"seq_q"}},
    {ROLE_SIZE, MEMBER(shape.N_k), {"seq_k"}},
    {ROLE_SIZE, MEMBER(shape.d), {"head_dim"}},
    {ROLE_SIZE, MEMBER(tiling.B_r), {"block_q"}},
    {ROLE_SIZE, MEMBER(tiling.B_c), {"block_k"}},
    {ROLE_SPLITS, MEMBER(tiling.n_splits), {"splits"}},
};
enum { N_NAMES = sizeof NAMES / sizeof *NAMES };

static bool same_word(NcuField field, const char *word) { /* letters of either case, '_' for a blank */
  size_t i = 0;
  for (; i < field.length && word[i]; i++)
    if (ascii_lower(field.at[i]) != ascii_lower(word[i]) && !(field.at[i] == '_' && word[i] == ' ')) return false;
  return i == field.length && !word[i];
}

/* Old reports, and people, leave out ".sum". */
static bool is_metric(NcuField name, const char *metric) {
  const size_t length = strlen(metric);
  const bool sums = length > 4 && !strcmp(metric + length - 4, ".sum");
  return ncu_field_is(name, metric) || (sums && name.length == length - 4 && !memcmp(name.at, metric, name.length));
}

Column ncu_column_of(NcuField name) {
  for (int c = 0; c < COUNTER_COUNT; c++)
    if (is_metric(name, COUNTER_NAMES[c].metric)) return (Column){.role = ROLE_COUNTER, .index = c};
  for (int a = 0; a < N_COUNTER_ALIASES; a++)
    if (ncu_field_is(name, COUNTER_ALIASES[a].metric))
      return (Column){.role = ROLE_COUNTER, .index = (int)COUNTER_ALIASES[a].counter};
  for (int i = 0; i < N_NAMES; i++)
    for (const char *const *known = NAMES[i].names; *known; known++)
      if (same_word(name, *known)) return (Column){.role = NAMES[i].role, .index = NAMES[i].index, .name = *known};
  for (int r = 0; r < N_COUNTER_RATES; r++)
    if (ncu_field_is(name, COUNTER_RATES[r].metric)) return (Column){.role = ROLE_RATE, .index = COUNTER_RATES[r].rate};
  return (Column){.role = ROLE_IGNORED};
}

void ncu_ignore(Parser *p, NcuField name) {
  CounterTable *t = p->table;
  char text[NCU_DEVICE_BYTES];
  if (p->surveys || !name.length) return;
  ncu_field_copy(name, text, sizeof text);
  for (int i = 0; i < t->n_ignored; i++)
    if (!strcmp(t->ignored[i], text)) return;
  t->ignored_more |= t->n_ignored == NCU_MAX_IGNORED;
  if (t->n_ignored < NCU_MAX_IGNORED) memcpy(t->ignored[t->n_ignored++], text, sizeof text);
}

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
    Column column = ncu_column_of(split_unit(p->text.fields[c], &unit_text));
    /* The first column of a counter is the one that counts. */
    if (column.role == ROLE_COUNTER && column_with(l, ROLE_COUNTER, column.index) >= 0) column.role = ROLE_IDENTITY;
    column.unit_text = unit_text;
    if (column.role == ROLE_COUNTER) {
      l->has_units |= unit_text.length && ncu_unit_parse(unit_text, &column.unit);
      l->n_counters++;
    }
    l->columns[l->n_columns++] = column;
  }
  l->id = column_with(l, ROLE_ID, 0);
  l->metric = column_with(l, ROLE_METRIC_NAME, 0);
  l->unit = column_with(l, ROLE_METRIC_UNIT, 0);
  l->value = column_with(l, ROLE_METRIC_VALUE, 0);
  l->page = column_with(l, ROLE_RUNG, 0) >= 0 ? PAGE_RECORDED : PAGE_RAW;
  if (l->metric >= 0 && l->value >= 0) l->page = PAGE_DETAILS;
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
  if (l->metric >= 0 && l->value < 0)
    for (int c = 0; c < l->n_columns; c++)
      if (same_word(ncu_field_trim(p->text.fields[c]), "Average"))
        return ncu_fail(
            line, error,
            "a summary over launches (least, most, average); export the launches: leave out --print-summary");
  *is_header = (has_kernel || l->id >= 0) && (l->page == PAGE_DETAILS || l->n_counters > 0);
  if (has_kernel && l->id >= 0 && !*is_header && !p->around.useless_header) p->around.useless_header = line;
  return STATUS_OK;
}

/* Words of which every header has one. */
static bool names_columns(const NcuText *text) {
  static const char *const words[] = {"__", "Kernel", "Name", "rung", "counted_", "kernel"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (ncu_text_has(text, words[i])) return true;
  return false;
}

/* Under the first of the three delimiters that makes two fields of it or more. */
Status ncu_try_header(Parser *p, bool *is_header, Error *error) {
  Layout *l = p->tried;
  *is_header = false;
  if (!names_columns(&p->text)) return STATUS_OK;
  for (const char *delimiter = ",;\t"; *delimiter; delimiter++) {
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
      if (l->columns[c].role == ROLE_IGNORED) ncu_ignore(p, ncu_field_trim(p->text.fields[c]));
    return status;
  }
  return STATUS_OK;
}

Status ncu_unit_for(const Parser *p, int counter, NcuField field, NcuUnit *unit, Error *error) {
  const CounterName *name = &COUNTER_NAMES[counter];
  if (ncu_unit_parse(field, unit)) {
    const NcuDimension want = name->dimension;
    if (unit->dimension == want) return STATUS_OK;
    if (want == NCU_UNIT_BYTE && unit->dimension == NCU_UNIT_SECTOR) {
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
  return ncu_fail(p->text.line_number, error, "%s is in '%s', which is no unit of it (%s or a multiple belongs there)",
                  name->metric, quote(field.at, field.length).text, *name->unit ? name->unit : "a count without one");
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
  if (split == NCU_SPLIT_OPEN)
    return ncu_fail(t->line_number, error, "a quoted field is not closed; the file is cut off or damaged");
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
  for (int c = 0; status == STATUS_OK && c < l->n_columns; c++) {
    Column *column = &l->columns[c];
    const NcuField text = in_header ? column->unit_text : p->text.fields[c];
    column->unit_known = text.length && ncu_unit_parse(text, &column->unit);
    if (column->role != ROLE_COUNTER) continue;
    status = ncu_unit_for(p, column->index, text, &column->unit, error);
    column->unit_known = true;
  }
  return status;
}
