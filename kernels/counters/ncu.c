#include "kernels/counters/ncu.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/counters/ncu_rows.h"
#include "sim/base/quote.h"
#include "sim/base/size.h"

/* What a column, or a metric of the page of details, is for. */
enum {
  ROLE_IGNORED = 0, /* a metric that says nothing here */
  ROLE_IDENTITY,    /* a column that every page has, and that is not needed */
  ROLE_ID,
  ROLE_PROCESS,
  ROLE_KERNEL,
  ROLE_BLOCK,
  ROLE_GRID,
  ROLE_CC,
  ROLE_METRIC_NAME,
  ROLE_METRIC_UNIT,
  ROLE_METRIC_VALUE,
  ROLE_DEVICE,
  ROLE_FIRST_FACT,
  ROLE_GRID_X = ROLE_FIRST_FACT,
  ROLE_GRID_Y,
  ROLE_GRID_Z,
  ROLE_BLOCK_X,
  ROLE_BLOCK_Y,
  ROLE_BLOCK_Z,
  ROLE_CC_MAJOR,
  ROLE_CC_MINOR,
  ROLE_N_SM,
  ROLE_REGISTERS,
  ROLE_SHARED,
  ROLE_LAST_FACT = ROLE_SHARED,
  ROLE_FIRST_RATE,
  ROLE_LAST_RATE = ROLE_FIRST_RATE + NCU_RATES - 1,
  ROLE_RUNG,
  ROLE_DTYPE,
  ROLE_CAUSAL,
  ROLE_FIRST_SIZE,
  ROLE_FIRST_COUNTER = ROLE_FIRST_SIZE + 16
};

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

enum { SIZE_SPLITS = 8, N_SIZES = 9 };
static const char *const SIZE_COLUMNS[N_SIZES] = {"batch",    "heads",   "kv_heads", "seq_q", "seq_k",
                                                  "head_dim", "block_q", "block_k",  "splits"};

typedef enum { PAGE_RAW, PAGE_DETAILS, PAGE_RECORDED } Page;

/* A table's header, and the units under it. */
typedef struct {
  Page page;
  char delimiter;
  bool is_quoted; /* its names stand in quotes */
  bool has_units; /* in the header itself: "Duration [us]" */
  int n_columns, id, n_counters;
  int32_t process_id, metric, unit, value;
  uint16_t role[NCU_MAX_COLUMNS];
  NcuUnit units[NCU_MAX_COLUMNS];
  bool unit_known[NCU_MAX_COLUMNS];
} Layout;

/* Where marks were seen whose meaning says which one is the decimal mark. */
typedef struct {
  int64_t line; /* 0: nowhere */
  Quote cell;
} Sight;

enum { SURE_POINT, SURE_COMMA, LIKELY_POINT, LIKELY_COMMA, OPEN_POINT, OPEN_COMMA, N_SIGHTS };

typedef struct {
  NcuText text;
  CounterTable *table;
  NcuRows rows;
  Layout *layout;
  bool surveys; /* the first time through: only which mark is the decimal one */
  Sight sights[N_SIGHTS];
  char decimal;
  bool semicolons;        /* between fields, somewhere */
  int64_t useless_header; /* the first header without a counter that is used */
  int64_t text_page;      /* a line as ncu prints them without --csv */
  int64_t said_line;      /* where ncu says what went wrong; 0: nowhere */
  char said[160];         /* the first of it, printable */
  bool no_permission, none_profiled;
  int64_t foreign_line; /* of another profiler; 0: none */
  int foreign;          /* in FOREIGN */
} Parser;

/* Tables that other profilers write, by a text of their head. */
static const struct {
  const char *mark, *what;
} FOREIGN[] = {
    {"NVPROF is profiling", "nvprof's output: it knows no GPU after Volta, and its counters have other names"},
    {"\"Invocations\",\"Metric Name\"",
     "nvprof's output: it knows no GPU after Volta, and its counters have other names"},
    {"Total Time (ns),Instances", "a sum of nsys (cuda_gpu_kern_sum): it has the times of kernels, and no bytes"},
    {"Start (ns),Duration (ns)", "a trace of nsys (cuda_gpu_trace): it has the times of kernels, and no bytes"},
    {"Time (%),Total Time (ns)", "a sum of nsys: it has times, and no bytes"},
};
enum { N_FOREIGN = sizeof FOREIGN / sizeof *FOREIGN };

static Status fail(const Parser *p, Error *error, const char *why) {
  return error_set(error, STATUS_BAD_FILE, "line %" PRId64 ": %s", p->text.line_number, why);
}

/* --- names --- */

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

static int role_of(NcuField name) {
  const int counter = counter_role(name);
  if (counter) return counter;
  for (size_t i = 0; i < sizeof COLUMNS / sizeof *COLUMNS; i++)
    if (same_word(name, COLUMNS[i].name)) return COLUMNS[i].role;
  for (int r = 0; r < N_COUNTER_RATES; r++)
    if (ncu_field_is(name, COUNTER_RATES[r].metric)) return ROLE_FIRST_RATE + COUNTER_RATES[r].rate;
  return ROLE_IGNORED;
}

static void ignore(Parser *p, NcuField name) {
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

static void note(Parser *p, const char *format, int64_t line) {
  CounterTable *t = p->table;
  if (!p->surveys && t->n_notes < NCU_MAX_NOTES) snprintf(t->notes[t->n_notes++], sizeof t->notes[0], format, line);
}

/* --- headers --- */

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
    if (ncu_field_is(name, SIZE_COLUMNS[i])) return ROLE_FIRST_SIZE + i;
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
    l->role[c] = (uint16_t)(recorded ? recorded_role(name) : role_of(name));
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
        return fail(p, error,
                    "a column of the shape is missing; a recorded file has rung, dtype, batch, heads, kv_heads, "
                    "seq_q, seq_k, head_dim, causal, block_q and block_k");
    return STATUS_OK;
  }
  const bool named = column_with(l, ROLE_KERNEL) >= 0 || l->id >= 0;
  if (l->metric >= 0 && l->value < 0 && has_column(p, n_fields, "Average"))
    return fail(p, error,
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
static Status try_header(Parser *p, bool *is_header, Error *error) {
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
      return fail(p, error, "more than 8192 columns; choose fewer with --metrics");
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

/* --- lines --- */

static bool begins(const Parser *p, const char *with) {
  return p->text.length >= strlen(with) && !memcmp(p->text.line, with, strlen(with));
}

/* Lines of ncu's own: what went wrong, whatever language the program speaks. */
static void listen(Parser *p) {
  NcuText *t = &p->text;
  const bool is_error = begins(p, "==ERROR==") || ncu_text_has(t, "ERR_NVGPUCTRPERM");
  p->none_profiled |= ncu_text_has(t, "No kernels were profiled");
  p->no_permission |= ncu_text_has(t, "ERR_NVGPUCTRPERM");
  if (!is_error || p->said_line) return;
  p->said_line = t->line_number;
  size_t from = begins(p, "==ERROR==") ? strlen("==ERROR==") : 0, n = 0;
  while (from < t->length && t->line[from] == ' ') from++;
  for (; from < t->length && n + 1 < sizeof p->said; from++, n++)
    p->said[n] = t->line[from] >= 32 && t->line[from] < 127 ? t->line[from] : '?';
  p->said[n] = '\0';
}

static bool is_skipped(const Parser *p) {
  size_t blanks = 0;
  while (blanks < p->text.length && (p->text.line[blanks] == ' ' || p->text.line[blanks] == '\t')) blanks++;
  return blanks == p->text.length || p->text.line[0] == '#' || begins(p, "==");
}

static bool is_digits(NcuField f) {
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

/* A row of a table whose header is quoted begins with a number in quotes. */
static bool begins_a_row(const Parser *p) {
  const Layout *l = p->layout;
  if (l->page == PAGE_RECORDED) return true;
  if (!l->is_quoted) return p->text.length && p->text.line[0] >= '0' && p->text.line[0] <= '9';
  if (!p->text.length || p->text.line[0] != '"') return false;
  return p->text.length == 1 || (p->text.line[1] >= '0' && p->text.line[1] <= '9') || l->id != 0;
}

enum { JOINS_MAX = 64 };

/* Splits the line, with as many lines behind it as a field in quotes goes on for. *is_row false: something else. */
static Status split_row(Parser *p, int *n_fields, bool *is_row, Error *error) {
  const Layout *l = p->layout;
  bool quoted = false, got = true;
  *is_row = false;
  NcuSplit split = ncu_text_split(&p->text, l->delimiter, n_fields, &quoted);
  for (int i = 0; split == NCU_SPLIT_OPEN && begins_a_row(p) && i < JOINS_MAX; i++) {
    const Status status = ncu_text_join(&p->text, &got, error);
    if (status) return status;
    if (!got) return fail(p, error, "a quoted field is not closed; the file is cut off or damaged");
    split = ncu_text_split(&p->text, l->delimiter, n_fields, &quoted);
  }
  if (split != NCU_SPLIT_OK) {
    if (!begins_a_row(p)) return STATUS_OK;
    return fail(p, error,
                split == NCU_SPLIT_OPEN ? "a quoted field is not closed; the file is cut off or damaged"
                                        : "more than 8192 fields; the file is damaged");
  }
  const bool has_id = l->id >= 0 && l->id < *n_fields && is_digits(p->text.fields[l->id]);
  *is_row = l->page == PAGE_RECORDED || has_id || (l->id < 0 && *n_fields == l->n_columns) ||
            (l->is_quoted && *n_fields != l->n_columns && begins_a_row(p) && l->id < 0);
  if (!*is_row) return STATUS_OK;
  /* ncu before 2023 leaves the columns of rules off a metric's row. */
  const bool is_short = l->page == PAGE_DETAILS && *n_fields<l->n_columns && * n_fields> l->value &&
                        *n_fields > l->unit && *n_fields > l->metric && p->text.has_end;
  for (int c = *n_fields; is_short && c < l->n_columns; c++) p->text.fields[c] = (NcuField){"", 0};
  if (*n_fields != l->n_columns && !is_short)
    return error_set(error, STATUS_BAD_FILE,
                     "line %" PRId64 ": %d fields under %d columns; the file is cut off or damaged",
                     p->text.line_number, *n_fields, l->n_columns);
  if (!p->text.has_end && (l->page == PAGE_RECORDED || (l->is_quoted && !quoted)))
    return fail(p, error, "the last line has no end; the file is cut off");
  if (!p->text.has_end && !quoted)
    note(p, "line %" PRId64 " has no end; if the file was cut off there, its last number is short.",
         p->text.line_number);
  return STATUS_OK;
}

/* Which unit a cell is in; refuses one that the counter cannot have. */
static Status unit_for(const Parser *p, int counter, NcuField field, NcuUnit *unit, Error *error) {
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

static Status read_units(Parser *p, Error *error) {
  Layout *l = p->layout;
  if (l->page == PAGE_DETAILS || (l->page == PAGE_RAW && l->has_units)) return STATUS_OK;
  bool got = true;
  int n_fields;
  bool quoted;
  do {
    const Status status = ncu_text_line(&p->text, &got, error);
    if (status) return status;
    if (!got) return fail(p, error, "the file ends after its header; a line of units must follow");
  } while (is_skipped(p) || (l->is_quoted && p->text.line[0] != '"' && p->text.line[0] != l->delimiter));
  const NcuSplit split = ncu_text_split(&p->text, l->delimiter, &n_fields, &quoted);
  if (split == NCU_SPLIT_OPEN) return fail(p, error, "a quoted field is not closed; the file is cut off or damaged");
  if (l->page == PAGE_RAW && l->id >= 0 && split == NCU_SPLIT_OK && n_fields > l->id &&
      is_digits(p->text.fields[l->id]))
    return fail(p, error,
                "a row follows the header at once; ncu writes a line of units between, which says whether "
                "1 is a byte or a Mbyte");
  if (split != NCU_SPLIT_OK || n_fields != l->n_columns)
    return fail(p, error, "not as many units as columns; the file is cut off or damaged");
  for (int c = 0; c < n_fields; c++) {
    if (l->role[c] >= ROLE_FIRST_COUNTER) {
      const Status status = unit_for(p, l->role[c] - ROLE_FIRST_COUNTER, p->text.fields[c], &l->units[c], error);
      if (status) return status;
      l->unit_known[c] = true;
    } else {
      l->unit_known[c] = p->text.fields[c].length && ncu_unit_parse(p->text.fields[c], &l->units[c]);
    }
  }
  return STATUS_OK;
}

/* --- the first time through: which mark is the decimal one --- */

static void see(Parser *p, int sight, NcuField cell) {
  if (!p->sights[sight].line) p->sights[sight] = (Sight){p->text.line_number, quote(cell.at, cell.length)};
}

/* is_whole: the cell holds a count in its base unit, which has no fraction. */
static void survey_cell(Parser *p, NcuField cell, bool is_whole) {
  if (!memchr(cell.at, '.', cell.length) && !memchr(cell.at, ',', cell.length)) return;
  switch (ncu_number_kind(cell)) {
  case NCU_DECIMAL_POINT: see(p, SURE_POINT, cell); break;
  case NCU_DECIMAL_COMMA: see(p, SURE_COMMA, cell); break;
  case NCU_EITHER_POINT: see(p, is_whole ? LIKELY_COMMA : OPEN_POINT, cell); break;
  case NCU_EITHER_COMMA: see(p, is_whole ? LIKELY_POINT : OPEN_COMMA, cell); break;
  default: break;
  }
}

static bool is_whole_unit(const NcuUnit *unit) {
  return unit->times == 1 && unit->tenths == 0 && unit->dimension != NCU_UNIT_RATIO;
}

static void survey_row(Parser *p) {
  const Layout *l = p->layout;
  if (l->page == PAGE_DETAILS) {
    NcuUnit unit;
    const NcuField unit_field = l->unit >= 0 ? p->text.fields[l->unit] : (NcuField){0};
    const int role = role_of(ncu_field_trim(p->text.fields[l->metric]));
    if (unit_field.length && ncu_unit_parse(unit_field, &unit))
      survey_cell(p, p->text.fields[l->value], role >= ROLE_FIRST_COUNTER && is_whole_unit(&unit));
    return;
  }
  for (int c = 0; c < l->n_columns; c++)
    if (l->unit_known[c])
      survey_cell(p, p->text.fields[c], l->role[c] >= ROLE_FIRST_COUNTER && is_whole_unit(&l->units[c]));
}

static Status two_marks(const Sight *point, const Sight *comma, Error *error) {
  return error_set(error, STATUS_BAD_FILE,
                   "line %" PRId64 ": '%.20s' has a decimal point, and '%.20s' in line %" PRId64
                   " a decimal comma; export all with one locale (LC_ALL=C)",
                   point->line, point->cell.text, comma->cell.text, comma->line);
}

static Status choose_decimal(Parser *p, Error *error) {
  const Sight *s = p->sights;
  p->decimal = '.';
  for (int level = SURE_POINT; level <= LIKELY_POINT; level += 2) {
    if (s[level].line && s[level + 1].line) return two_marks(&s[level], &s[level + 1], error);
    if (s[level].line || s[level + 1].line) {
      p->decimal = s[level].line ? '.' : ',';
      return STATUS_OK;
    }
  }
  if (s[OPEN_POINT].line && s[OPEN_COMMA].line) return two_marks(&s[OPEN_POINT], &s[OPEN_COMMA], error);
  if (p->semicolons && s[OPEN_COMMA].line) {
    p->decimal = ',';
    return STATUS_OK;
  }
  if (s[OPEN_COMMA].line)
    return error_set(error, STATUS_BAD_FILE,
                     "line %" PRId64
                     ": '%.20s' can be read with a decimal comma and with a comma between thousands, and "
                     "nothing else in the file says which; export with --print-units base or LC_ALL=C",
                     s[OPEN_COMMA].line, s[OPEN_COMMA].cell.text);
  return STATUS_OK;
}

/* --- cells --- */

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
    case ROLE_ID: row->id = is_digits(cell) ? digits_of(cell) : 0; break;
    case ROLE_PROCESS: row->process = is_digits(cell) ? digits_of(cell) : 0; break;
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
  const int role = role_of(name);
  NcuUnit unit;
  if (role >= ROLE_FIRST_COUNTER) {
    if (ncu_number_is_missing(cell)) return STATUS_OK;
    const Status status = unit_for(p, role - ROLE_FIRST_COUNTER, unit_field, &unit, error);
    return status ? status : read_counter(p, role - ROLE_FIRST_COUNTER, cell, &unit, row, error);
  }
  const bool known = ncu_unit_parse(unit_field, &unit);
  if (role == ROLE_DEVICE || (role >= ROLE_FIRST_FACT && role <= ROLE_LAST_FACT))
    read_fact(p, role, cell, known ? &unit : NULL, row);
  else if (role >= ROLE_FIRST_RATE && role <= ROLE_LAST_RATE)
    read_rate(p, role - ROLE_FIRST_RATE, cell, known ? &unit : NULL, row);
  else if (role == ROLE_IGNORED)
    ignore(p, name);
  return STATUS_OK;
}

static Status read_size(const Parser *p, int column, int64_t *size, Error *error) {
  static const NcuUnit plain = {NCU_UNIT_COUNT, 1, 0, 1};
  const NcuField field = p->text.fields[column];
  NcuCount count;
  if (!ncu_count_parse(field, p->decimal, &plain, &count) || count.slack || count.value < 1 ||
      count.value > (uint64_t)SHAPE_MAX_N)
    return bad_cell(p, SIZE_COLUMNS[p->layout->role[column] - ROLE_FIRST_SIZE], field, "a count from 1 on", error);
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
  if (dtype.length < sizeof name) memcpy(name, dtype.at, dtype.length);
  if (!dtype_from_name(name, &row->shape.dtype)) return fail(p, error, "the dtype is none of fp16, bf16, fp32, fp8");
  if (!ncu_field_is(causal, "0") && !ncu_field_is(causal, "1")) return fail(p, error, "causal is neither 0 nor 1");
  row->shape.causal = ncu_field_is(causal, "1");
  row->has_shape = true;
  Plan plan; /* nothing later has to check again */
  Error why = {0};
  if (plan_make(&plan, &row->shape, &row->tiling, &why))
    return error_set(error, STATUS_BAD_FILE, "line %" PRId64 ": %.200s", p->text.line_number, why.message);
  return STATUS_OK;
}

/* --- rows --- */

static Status read_row(Parser *p, Error *error) {
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

static bool is_text_page(const Parser *p) {
  return ncu_text_has(&p->text, "Section: ") ||
         (ncu_text_has(&p->text, ", Context ") && ncu_text_has(&p->text, ", CC "));
}

static void ignore_columns(Parser *p) {
  const Layout *l = p->layout;
  if (l->page == PAGE_RECORDED) return;
  for (int c = 0; c < l->n_columns; c++)
    if (l->role[c] == ROLE_IGNORED) ignore(p, ncu_field_trim(p->text.fields[c]));
}

static void recognise(Parser *p) {
  for (int k = 0; k < N_FOREIGN && !p->foreign_line; k++) {
    if (!ncu_text_has(&p->text, FOREIGN[k].mark)) continue;
    p->foreign = k;
    p->foreign_line = p->text.line_number;
  }
}

/* The whole file, once. */
static Status walk(Parser *p, Error *error) {
  bool in_table = false;
  p->table->n_reports = 0;
  for (;;) {
    bool got, is_header = false, is_row = false;
    int n_fields = 0;
    Status status = ncu_text_line(&p->text, &got, error);
    if (status) return status;
    if (!got) return STATUS_OK;
    if (p->surveys) listen(p);
    if (p->surveys && !in_table) recognise(p);
    if (is_skipped(p)) continue;
    if (!in_table || !begins_a_row(p) || begins(p, "rung")) {
      status = try_header(p, &is_header, error);
      if (status) return status;
    }
    if (is_header) {
      ncu_rows_end_report(&p->rows);
      p->table->n_reports++;
      ignore_columns(p);
      status = read_units(p, error);
      in_table = true;
    } else if (in_table && begins_a_row(p)) {
      status = split_row(p, &n_fields, &is_row, error);
      if (status == STATUS_OK && is_row && p->surveys) survey_row(p);
      if (status == STATUS_OK && is_row && !p->surveys) status = read_row(p, error);
    } else if (!p->text_page && is_text_page(p)) {
      p->text_page = p->text.line_number;
    }
    if (status) return status;
  }
}

/* Why there is no table, in the order of what helps most. */
static Status no_table(const Parser *p, Error *error) {
  if (p->no_permission)
    return error_set(
        error, STATUS_BAD_FILE,
        "line %" PRId64 ": no permission for the GPU's counters, ncu says (ERR_NVGPUCTRPERM), so none are in "
        "the file; an administrator sets NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia, or ncu "
        "runs as root (a container: with --cap-add SYS_ADMIN)",
        p->said_line);
  if (p->said_line)
    return error_set(error, STATUS_BAD_FILE, "line %" PRId64 ": ncu counted nothing: %.160s", p->said_line, p->said);
  if (p->none_profiled)
    return fail(p, error,
                "ncu profiled no kernel: the program launched none, or --kernel-name and --launch-skip left all out");
  if (p->foreign_line)
    return error_set(error, STATUS_BAD_FILE,
                     "line %" PRId64 ": this is %s; count them with `ncu --csv --page raw` (`tilewalk crosscheck "
                     "--help` has the command)",
                     p->foreign_line, FOREIGN[p->foreign].what);
  if (p->useless_header)
    return error_set(
        error, STATUS_BAD_FILE,
        "line %" PRId64
        ": none of the columns is a counter that is used here; `tilewalk crosscheck --help` names them and "
        "the one ncu command that records them",
        p->useless_header);
  if (p->text_page)
    return error_set(error, STATUS_BAD_FILE,
                     "line %" PRId64 ": this is what ncu prints for people; run it again with --csv --page raw, or "
                     "`ncu --import FILE.ncu-rep --csv --page raw`",
                     p->text_page);
  return fail(p, error,
              "no header with a counter that is known here before the end of the file; make it with `ncu --csv "
              "--page raw --print-units base --metrics l1tex__m_xbar2l1tex_read_bytes.sum,...`");
}

/* Some kernels were counted all the same. */
static void note_said(Parser *p) {
  CounterTable *t = p->table;
  if (t->n_notes < NCU_MAX_NOTES)
    snprintf(t->notes[t->n_notes++], sizeof t->notes[0], "line %" PRId64 ": ncu says: %.160s", p->said_line, p->said);
}

static Status walk_twice(Parser *p, Error *error) {
  p->surveys = true;
  Status status = walk(p, error);
  if (status == STATUS_OK && p->table->n_reports == 0) return no_table(p, error);
  if (status == STATUS_OK) status = choose_decimal(p, error);
  if (status == STATUS_OK) status = ncu_text_rewind(&p->text, error);
  p->surveys = false;
  if (status == STATUS_OK) status = walk(p, error);
  if (status == STATUS_OK && p->said_line) note_said(p);
  if (status == STATUS_OK) status = ncu_rows_finish(&p->rows, p->table, error);
  if (status == STATUS_OK && p->table->n_rows == 0)
    status = fail(p, error,
                  "no row of counters follows the header; the program launched no kernel, or the file is cut "
                  "off");
  return status;
}

Status counter_table_read(CounterTable *table, const NcuSource *source, Error *error) {
  *table = (CounterTable){0};
  Parser p = {.table = table, .layout = calloc(1, sizeof *p.layout)};
  Status status = p.layout ? ncu_text_open(&p.text, source, error)
                           : error_set(error, STATUS_NO_MEMORY, "no memory to read the counters");
  if (status == STATUS_OK) status = walk_twice(&p, error);
  ncu_text_free(&p.text);
  ncu_rows_free(&p.rows);
  free(p.layout);
  if (status) counter_table_free(table);
  return status;
}

typedef struct {
  const char *text;
  size_t length, at;
} Buffer;

static size_t read_buffer(void *context, char *to, size_t room) {
  Buffer *b = context;
  const size_t n = b->length - b->at < room ? b->length - b->at : room;
  if (n) memcpy(to, b->text + b->at, n);
  b->at += n;
  return n;
}

static bool rewind_buffer(void *context) {
  ((Buffer *)context)->at = 0;
  return true;
}

Status counter_table_from_buffer(CounterTable *table, const char *text, size_t length, Error *error) {
  Buffer buffer = {.text = text, .length = length};
  const NcuSource source = {read_buffer, rewind_buffer, &buffer};
  return counter_table_read(table, &source, error);
}

void counter_table_free(CounterTable *table) {
  free(table->rows);
  *table = (CounterTable){0};
}
