/* Headers of counter tables, and what their names are for. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernels/counters/ncu_inner.h"

static const struct {
  const char *name;
  int role;
} COLUMNS[] = {
    {"ID", ROLE_ID},
    {"Process ID", ROLE_PROCESS},
    {"Kernel Name", ROLE_KERNEL},
    {"kernel_name", ROLE_KERNEL},
    {"Kernel", ROLE_KERNEL},
    {"Function Name", ROLE_KERNEL},
    {"Demangled Name", ROLE_KERNEL},
    {"Block Size", ROLE_BLOCK},
    {"Grid Size", ROLE_GRID},
    {"CC", ROLE_CC},
    {"Metric Name", ROLE_METRIC_NAME},
    {"Metric Unit", ROLE_METRIC_UNIT},
    {"Metric Value", ROLE_METRIC_VALUE},
    {"Process Name", ROLE_IDENTITY},
    {"Host Name", ROLE_IDENTITY},
    {"Kernel Time", ROLE_IDENTITY},
    {"Context", ROLE_IDENTITY},
    {"Stream", ROLE_IDENTITY},
    {"Device", ROLE_IDENTITY},
    {"Section Name", ROLE_IDENTITY},
    {"Rule Name", ROLE_IDENTITY},
    {"Rule Type", ROLE_IDENTITY},
    {"Rule Description", ROLE_IDENTITY},
    {"Estimated Speedup Type", ROLE_IDENTITY},
    {"Estimated Speedup", ROLE_IDENTITY},
    {"Device Name", ROLE_DEVICE},
    {"device__attribute_display_name", ROLE_DEVICE},
    {"launch__grid_dim_x", ROLE_GRID_X},
    {"launch__grid_dim_y", ROLE_GRID_Y},
    {"launch__grid_dim_z", ROLE_GRID_Z},
    {"launch__block_dim_x", ROLE_BLOCK_X},
    {"launch__block_dim_y", ROLE_BLOCK_Y},
    {"launch__block_dim_z", ROLE_BLOCK_Z},
    {"device__attribute_compute_capability_major", ROLE_CC_MAJOR},
    {"device__attribute_compute_capability_minor", ROLE_CC_MINOR},
    {"device__attribute_multiprocessor_count", ROLE_N_SM},
    {"launch__registers_per_thread", ROLE_REGISTERS},
    {"Registers Per Thread", ROLE_REGISTERS},
    {"launch__shared_mem_per_block_dynamic", ROLE_SHARED},
    {"Dynamic Shared Memory Per Block", ROLE_SHARED},
};

static const struct {
  const char *name;
  int role;
} RECORDED_COLUMNS[] = {{"rung", ROLE_RUNG}, {"dtype", ROLE_DTYPE}, {"causal", ROLE_CAUSAL}};

const char *const NCU_SIZE_COLUMNS[N_SIZES] = {"batch",    "heads",   "kv_heads", "seq_q", "seq_k",
                                               "head_dim", "block_q", "block_k",  "splits"};

Status ncu_fail(const Parser *p, Error *error, const char *why) {
  return error_set(error, STATUS_BAD_FILE, "line %" PRId64 ": %s", p->text.line_number, why);
}

static bool same_word(NcuField field, const char *word) { /* letters of either case, '_' for a blank */
  for (size_t i = 0; i < field.length; i++) {
    const char a = field.at[i], b = word[i];
    const char low_a = a >= 'A' && a <= 'Z' ? (char)(a + 32) : a, low_b = b >= 'A' && b <= 'Z' ? (char)(b + 32) : b;
    if (!b || (low_a != low_b && !(a == '_' && b == ' '))) return false;
  }
  return !word[field.length];
}

static int counter_role(NcuField name) {
  for (int c = 0; c < COUNTER_COUNT; c++) {
    const char *metric = COUNTER_NAMES[c].metric;
    const size_t length = strlen(metric);
    if (ncu_field_is(name, metric)) return ROLE_FIRST_COUNTER + c;
    /* old reports, and people, leave out ".sum" */
    if (length > 4 && name.length == length - 4 && !memcmp(name.at, metric, name.length) &&
        !strcmp(metric + length - 4, ".sum"))
      return ROLE_FIRST_COUNTER + c;
  }
  for (int a = 0; a < N_COUNTER_ALIASES; a++)
    if (ncu_field_is(name, COUNTER_ALIASES[a].metric)) return ROLE_FIRST_COUNTER + (int)COUNTER_ALIASES[a].counter;
  return ROLE_IGNORED;
}

int ncu_role_of(NcuField name) {
  const int counter = counter_role(name);
  if (counter) return counter;
  for (size_t i = 0; i < sizeof COLUMNS / sizeof *COLUMNS; i++)
    if (same_word(name, COLUMNS[i].name)) return COLUMNS[i].role;
  for (int r = 0; r < N_COUNTER_RATES; r++)
    if (ncu_field_is(name, COUNTER_RATES[r].metric)) return ROLE_FIRST_RATE + COUNTER_RATES[r].rate;
  return ROLE_IGNORED;
}

void ncu_ignore(Parser *p, NcuField name) {
  CounterTable *t = p->table;
  if (p->surveys || !name.length) return;
  char text[NCU_DEVICE_BYTES];
  size_t n = 0;
  for (; n < name.length && n + 1 < sizeof text; n++) text[n] = name.at[n] >= 32 && name.at[n] < 127 ? name.at[n] : '?';
  text[n] = '\0';
  for (int i = 0; i < t->n_ignored; i++)
    if (!strcmp(t->ignored[i], text)) return;
  if (t->n_ignored == NCU_MAX_IGNORED)
    t->ignored_more = true;
  else
    memcpy(t->ignored[t->n_ignored++], text, n + 1);
}

/* "Duration [us]" and "Duration (us)": the name alone, and the unit. */
static NcuField split_unit(NcuField field, NcuField *unit) {
  *unit = (NcuField){0};
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

static bool is_recorded(const Parser *p, int n_fields) {
  for (int c = 0; c < n_fields; c++)
    if (ncu_field_is(p->text.fields[c], "rung")) return true;
  return false;
}

static int recorded_role(NcuField name) {
  for (size_t i = 0; i < sizeof RECORDED_COLUMNS / sizeof *RECORDED_COLUMNS; i++)
    if (ncu_field_is(name, RECORDED_COLUMNS[i].name)) return RECORDED_COLUMNS[i].role;
  for (int i = 0; i < N_SIZES; i++)
    if (ncu_field_is(name, NCU_SIZE_COLUMNS[i])) return ROLE_FIRST_SIZE + i;
  return counter_role(name);
}

static int column_with(const Layout *l, int role) {
  for (int c = 0; c < l->n_columns; c++)
    if (l->role[c] == role) return c;
  return -1;
}

/* The first column of a counter is the one that counts. */
static void drop_repeats(Layout *l) {
  bool seen[COUNTER_COUNT] = {false};
  for (int c = 0; c < l->n_columns; c++) {
    const int counter = l->role[c] - ROLE_FIRST_COUNTER;
    if (counter < 0) continue;
    if (seen[counter]) l->role[c] = ROLE_IDENTITY;
    seen[counter] = true;
  }
}

static void read_roles(const Parser *p, int n_fields, Layout *l) {
  const bool recorded = is_recorded(p, n_fields);
  l->page = recorded ? PAGE_RECORDED : PAGE_RAW;
  l->n_columns = n_fields;
  l->n_counters = 0;
  l->has_units = false;
  for (int c = 0; c < n_fields; c++) {
    NcuField unit;
    const NcuField name = split_unit(p->text.fields[c], &unit);
    l->role[c] = (uint16_t)(recorded ? recorded_role(name) : ncu_role_of(name));
    l->unit_known[c] = unit.length && ncu_unit_parse(unit, &l->units[c]);
    l->has_units |= l->unit_known[c] && l->role[c] >= ROLE_FIRST_COUNTER;
    l->n_counters += l->role[c] >= ROLE_FIRST_COUNTER;
  }
  drop_repeats(l);
  l->id = column_with(l, ROLE_ID);
  l->process_id = column_with(l, ROLE_PROCESS);
  l->metric = column_with(l, ROLE_METRIC_NAME);
  l->unit = column_with(l, ROLE_METRIC_UNIT);
  l->value = column_with(l, ROLE_METRIC_VALUE);
  if (l->metric >= 0 && l->value >= 0) l->page = PAGE_DETAILS;
}

static bool has_column(const Parser *p, int n_fields, const char *name) {
  for (int c = 0; c < n_fields; c++)
    if (same_word(ncu_field_trim(p->text.fields[c]), name)) return true;
  return false;
}

static Status check_header(Parser *p, const Layout *l, int n_fields, bool *is_header, Error *error) {
  if (l->page == PAGE_RECORDED) {
    *is_header = l->n_counters > 0;
    for (int i = 0; i < N_SIZES && *is_header; i++)
      if (i != SIZE_SPLITS && (column_with(l, ROLE_FIRST_SIZE + i) < 0 || column_with(l, ROLE_DTYPE) < 0 ||
                               column_with(l, ROLE_CAUSAL) < 0))
        return ncu_fail(p, error,
                        "a column of the shape is missing; a recorded file has rung, dtype, batch, heads, kv_heads, "
                        "seq_q, seq_k, head_dim, causal, block_q and block_k");
    return STATUS_OK;
  }
  const bool named = column_with(l, ROLE_KERNEL) >= 0 || l->id >= 0;
  if (l->metric >= 0 && l->value < 0 && has_column(p, n_fields, "Average"))
    return ncu_fail(p, error,
                    "a summary over launches (least, most, average); export the launches: leave out --print-summary");
  if (l->page == PAGE_DETAILS) {
    *is_header = named;
    return STATUS_OK;
  }
  *is_header = named && l->n_counters > 0;
  if (named && l->id >= 0 && column_with(l, ROLE_KERNEL) >= 0 && !*is_header && !p->useless_header)
    p->useless_header = p->text.line_number;
  return STATUS_OK;
}

/* Words of which every header has one. */
static bool names_columns(const NcuText *text) {
  static const char *const words[] = {"__", "Kernel", "Name", "rung", "counted_", "kernel"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (ncu_text_has(text, words[i])) return true;
  return false;
}

/* Whether the line is a header, under any of the three delimiters. */
Status ncu_try_header(Parser *p, bool *is_header, Error *error) {
  static const char DELIMITERS[] = {',', ';', '\t'};
  const char first = p->text.length ? p->text.line[0] : 0;
  Layout *l = p->layout;
  *is_header = false;
  for (size_t i = 0; i < sizeof DELIMITERS; i++) {
    if (!memchr(p->text.line, DELIMITERS[i], p->text.length)) continue;
    /* split works in place, and what it took apart cannot be split again: only a line whose fields name columns */
    int n_fields;
    bool quoted;
    const NcuSplit split = ncu_text_peek(&p->text, DELIMITERS[i], &n_fields);
    if (split == NCU_SPLIT_TOO_MANY && ncu_text_has(&p->text, "Kernel Name"))
      return ncu_fail(p, error, "more than 8192 columns; choose fewer with --metrics");
    if (split != NCU_SPLIT_OK || n_fields < 2) continue;
    if (!names_columns(&p->text)) continue;
    ncu_text_split(&p->text, DELIMITERS[i], &n_fields, &quoted);
    read_roles(p, n_fields, l);
    l->delimiter = DELIMITERS[i];
    l->is_quoted = first == '"';
    const Status status = check_header(p, l, n_fields, is_header, error);
    p->semicolons |= *is_header && l->delimiter == ';';
    return status; /* the line is taken apart */
  }
  return STATUS_OK;
}
