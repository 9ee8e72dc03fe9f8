/* tilewalk list gpus: the known GPUs, and where each of their numbers comes from. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/cli/reply.h"
#include "viz/cli/command.h"
#include "viz/request/description.h"
#include "viz/request/request.h"
#include "viz/text/number.h"

enum { GPUS_MAX = 64 };

typedef struct {
  OutputRequest output;
  char names[GPUS_MAX][REQUEST_NAME_BYTES];
  int n_names;
} GpusOptions;

static Status add_name(void *target, const char *value, Error *error) {
  GpusOptions *o = target;
  if (!*value)
    return error_set(error, STATUS_BAD_REQUEST,
                     "the name of the GPU is empty; 'tilewalk list gpus' lists the known ones");
  if (strlen(value) >= REQUEST_NAME_BYTES)
    return error_set(error, STATUS_BAD_REQUEST, "the name of the GPU has more than %d characters",
                     REQUEST_NAME_BYTES - 1);
  if (o->n_names == GPUS_MAX) return error_set(error, STATUS_BAD_REQUEST, "more than %d GPUs at once", GPUS_MAX);
  strcpy(o->names[o->n_names++], value);
  return STATUS_OK;
}

/* Without names: all that come with Tilewalk, oldest first, machines that only exist on paper at
 * the end. */
static int by_age(const void *a, const void *b) {
  const Gpu *x = a, *y = b;
  const int x_real = strcmp(x->vendor, "none") != 0, y_real = strcmp(y->vendor, "none") != 0;
  if (x_real != y_real) return y_real - x_real;
  if (x->year != y->year) return x->year < y->year ? -1 : 1;
  return strcmp(x->name, y->name);
}

static Status load_all(Gpu *gpus, int *n, Error *error) {
  DescriptionNames *known = malloc(sizeof *known);
  if (!known) return error_set(error, STATUS_NO_MEMORY, "no memory for the list of GPUs");
  Status status = description_names("gpus", known, error);
  for (int i = 0; status == STATUS_OK && i < known->n && *n < GPUS_MAX; i++)
    status = description_gpu(known->names[i], &gpus[(*n)++], error);
  free(known);
  if (status == STATUS_OK) qsort(gpus, (size_t)*n, sizeof gpus[0], by_age);
  return status;
}

/* Device memory is sold in decimal units; a size that is none is binary. */
static Number memory_size(int64_t bytes) {
  return bytes % 1000 == 0 ? number_bytes_decimal(wide(bytes)) : number_bytes(wide(bytes));
}

/* The value of a field as people read it: "60 MiB", "4.8 TB/s", "132". */
static Number shown(const Gpu *gpu, const KeyfileField *field) {
  const double value = gpu_value(gpu, field);
  switch (field->kind) {
  case KEYFILE_COUNT: return strcmp(field->name, "year") == 0 ? number_digits((Wide)value) : number_count((Wide)value);
  case KEYFILE_BYTES: return strcmp(field->name, "hbm") == 0 ? memory_size(gpu->hbm_bytes) : number_bytes((Wide)value);
  case KEYFILE_SECONDS: return number_seconds(value);
  case KEYFILE_BYTES_PER_CLOCK:
  case KEYFILE_OPS_PER_CLOCK: {
    Number number = number_exact_double(value);
    const size_t length = strlen(number.text);
    snprintf(number.text + length, sizeof number.text - length, " %s", keyfile_base_unit(field->kind));
    return number;
  }
  default: return number_si(value, keyfile_base_unit(field->kind));
  }
}

static Number exact(const Gpu *gpu, const KeyfileField *field) {
  const double value = gpu_value(gpu, field);
  const bool whole = field->kind == KEYFILE_COUNT || field->kind == KEYFILE_BYTES;
  return whole ? number_digits((Wide)value) : number_exact_double(value);
}

static const char *field_text(const Gpu *gpu, const KeyfileField *field) { return (const char *)gpu + field->offset; }

static bool is_given(const Gpu *gpu, int f) { return gpu->notes[f].line || gpu->notes[f].source[0]; }

/* --- The overview --- */

static void cell_bytes(Table *t, int64_t bytes) {
  if (bytes)
    table_bytes(t, ROLE_PLAIN, wide(bytes));
  else
    table_empty(t, true);
}

static void cell_rate(Table *t, double value, const char *unit) {
  if (value > 0)
    table_text(t, ROLE_PLAIN, number_si(value, unit).text);
  else
    table_empty(t, true);
}

static void count_sources(const Gpu *gpus, int n, int *n_numbers, int *n_assumed) {
  int n_fields;
  const KeyfileField *fields = gpu_fields(&n_fields);
  for (int g = 0; g < n; g++) {
    for (int f = 0; f < n_fields; f++) {
      if (fields[f].kind == KEYFILE_TEXT || !is_given(&gpus[g], f)) continue;
      ++*n_numbers;
      *n_assumed += gpus[g].notes[f].assumed;
    }
  }
}

static void add_overview(Document *d, const Gpu *gpus, int n) {
  static const TableColumn COLUMNS[] = {{.heading = "name"},
                                        {.heading = "SMs", .right = true},
                                        {.heading = "SRAM a CTA", .right = true},
                                        {.heading = "L2", .right = true},
                                        {.heading = "HBM", .right = true},
                                        {.heading = "bandwidth", .right = true},
                                        {.heading = "fp16 dense", .right = true}};
  Table *t = document_table(d, DOCUMENT_TEXT, NULL, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  table_title(t, "Known GPUs; --gpu takes the name");
  for (int g = 0; g < n; g++) {
    const Gpu *gpu = &gpus[g];
    if (g > 0 && strcmp(gpu->vendor, "none") == 0 && strcmp(gpus[g - 1].vendor, "none") != 0) table_rule(t);
    table_text(t, ROLE_ACCENT, gpu->name);
    table_count(t, ROLE_PLAIN, wide(gpu->n_sm));
    cell_bytes(t, gpu->shared_bytes_per_cta);
    cell_bytes(t, gpu->l2_bytes);
    table_text(t, ROLE_PLAIN, memory_size(gpu->hbm_bytes).text);
    cell_rate(t, gpu->hbm_bytes_per_s, "B/s");
    cell_rate(t, gpu->fp16_tensor_flops_per_s, "FLOP/s");
  }
  int n_numbers = 0, n_assumed = 0;
  count_sources(gpus, n, &n_numbers, &n_assumed);
  table_note(t,
             "%d numbers in all, each with its source; %d of them are assumed. 'tilewalk list gpus "
             "NAME' shows them.",
             n_numbers, n_assumed);
}

/* --- GPUs in full --- */

enum { WIDE_ENOUGH = 120 }; /* columns for a description of each field as well */

/* For people a table for each GPU and no names and words, for programs one of all. */
static void add_fields(Document *d, const Gpu *gpus, int n, bool with_help) {
  const TableColumn columns[] = {{.csv = "gpu"},
                                 {.heading = "key"},
                                 {.heading = "value", .right = true},
                                 {.heading = with_help ? "what it is" : NULL, .csv = "-"},
                                 {.csv = "unit"},
                                 {.csv = "assumed"},
                                 {.heading = "where it comes from", .csv = "source", .shrink = TABLE_WRAP}};
  Table *t = NULL;
  int n_fields;
  const KeyfileField *fields = gpu_fields(&n_fields);
  for (int g = 0; g < n; g++) {
    const Gpu *gpu = &gpus[g];
    if (g > 0) document_gap(d);
    if (g == 0 || d->form == DOCUMENT_TEXT)
      t = document_table(d, DOCUMENT_TABLES, NULL, columns, sizeof columns / sizeof *columns);
    table_title(t, "%s: %s", gpu->name, gpu->product);
    for (int f = 0; f < n_fields; f++) {
      const bool text = fields[f].kind == KEYFILE_TEXT;
      if (text ? d->form == DOCUMENT_TEXT || !*field_text(gpu, &fields[f]) : !is_given(gpu, f)) continue;
      table_text(t, ROLE_PLAIN, gpu->name);
      table_text(t, ROLE_PLAIN, fields[f].name);
      if (text)
        table_text(t, ROLE_PLAIN, field_text(gpu, &fields[f]));
      else
        table_pair(t, ROLE_ACCENT, shown(gpu, &fields[f]).text, exact(gpu, &fields[f]).text);
      table_text(t, ROLE_DIM, fields[f].help);
      table_text(t, ROLE_PLAIN, keyfile_base_unit(fields[f].kind));
      table_text(t, ROLE_PLAIN, gpu->notes[f].assumed ? "1" : "0");
      table_text(t, gpu->notes[f].assumed ? ROLE_WARN : ROLE_PLAIN, gpu->notes[f].source);
    }
  }
}

static void put_gpu(Document *d, const Gpu *gpu) {
  int n_fields;
  const KeyfileField *fields = gpu_fields(&n_fields);
  put_object(d, NULL);
  for (int f = 0; f < n_fields; f++)
    if (fields[f].kind == KEYFILE_TEXT && *field_text(gpu, &fields[f]))
      put_text(d, fields[f].name, field_text(gpu, &fields[f]));
  put_object(d, "numbers");
  for (int f = 0; f < n_fields; f++) {
    if (fields[f].kind == KEYFILE_TEXT || !is_given(gpu, f)) continue;
    const double value = gpu_value(gpu, &fields[f]);
    put_object(d, fields[f].name);
    if (fields[f].kind == KEYFILE_COUNT || fields[f].kind == KEYFILE_BYTES)
      put_whole(d, "value", (Wide)value);
    else
      put_real(d, "value", value);
    put_text(d, "unit", keyfile_base_unit(fields[f].kind));
    put_flag(d, "assumed", gpu->notes[f].assumed);
    put_text(d, "source", gpu->notes[f].source);
    put_end(d);
  }
  put_end(d);
  put_end(d);
}

/* --- The command --- */

static void fill(Document *d, const GpusOptions *o, const Gpu *gpus, int n, bool with_help) {
  put_array(d, "gpus");
  for (int g = 0; g < n; g++) put_gpu(d, &gpus[g]);
  put_end(d);
  if (d->form == DOCUMENT_TEXT && o->n_names == 0)
    add_overview(d, gpus, n);
  else
    add_fields(d, gpus, n, with_help);
}

static int run_gpus(void *options, Io *io, Error *error) {
  const GpusOptions *o = options;
  if (output_request_check(&o->output, error)) return EXIT_BAD_REQUEST;
  Gpu *gpus = calloc(GPUS_MAX, sizeof *gpus);
  if (!gpus) {
    error_set(error, STATUS_NO_MEMORY, "no memory for GPU descriptions");
    return EXIT_BAD_REQUEST;
  }
  int n = 0;
  Status status = STATUS_OK;
  if (o->n_names == 0) status = load_all(gpus, &n, error);
  for (; status == STATUS_OK && n < o->n_names; n++) status = description_gpu(o->names[n], &gpus[n], error);
  Document d = reply_new(&o->output);
  if (status == STATUS_OK) fill(&d, o, gpus, n, io->style.width >= WIDE_ENOUGH);
  status = reply_print(&d, status, io, error);
  free(gpus);
  return status ? EXIT_BAD_REQUEST : EXIT_DONE;
}

static const OptionSet SETS[] = {
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(GpusOptions, output)},
    {0},
};

const Command COMMAND_GPUS = {
    .name = "list gpus",
    .old = "gpus",
    .summary = "the known GPUs, and where each of their numbers comes from",
    .usage = "[NAME|FILE...] [OPTION...]",
    .description = "Without a name, lists the machines that --gpu knows. With names or description files, shows every "
                   "number with its source: a document, a measurement, or the word assumed. A description file of your "
                   "own is checked on the way; assets/gpus holds examples to copy.",
    .examples = "  # the machines that --gpu takes\n"
                "  tilewalk list gpus\n\n"
                "  # every number of one of them, with its source\n"
                "  tilewalk list gpus h200\n\n"
                "  # two machines for a program\n"
                "  tilewalk list gpus a100-40gb h100-sxm --json\n\n"
                "  # which numbers are only assumed\n"
                "  tilewalk list gpus --csv | grep assumed:\n",
    .options_bytes = sizeof(GpusOptions),
    .sets = SETS,
    .choices = "@gpus",
    .set_positional = add_name,
    .run = run_gpus,
};
