/* Runs as lines of CSV: values picked from the report by their paths. */
#include <stdio.h>
#include <string.h>

#include "sim/report.h"
#include "viz/cli/run_tables_parts.h"
#include "viz/text/number.h"

/* CSV's columns, and where their values stand in the report of a run. A value that a run has not is empty. */
static const struct {
  const char *name, *path;
} CSV_COLUMNS[] = {
    {"algorithm", "algorithm"},
    {"seq_q", "shape.seq_q"},
    {"seq_k", "shape.seq_k"},
    {"head_dim", "shape.head_dim"},
    {"block_q", "block_q"},
    {"block_k", "block_k"},
    {"full", "tiles.full"},
    {"partial", "tiles.partial"},
    {"skipped", "tiles.skipped"},
    {"read_bytes", "traffic.read_bytes"},
    {"write_bytes", "traffic.write_bytes"},
    {"total_bytes", "traffic.total_bytes"},
    {"sram_bytes", "sram.bytes"},
    {"fits", "sram.fits"},
    {"max_block", "sram.max_block"},
    {"intermediates_bytes", "storage.intermediates_bytes"},
    {"flops", "flops"},
    {"intensity_flops_per_byte", "intensity_flops_per_byte"},
    {"machine", "machine"},
    {"hbm_read_bytes", "hbm.read_bytes"},
    {"hbm_write_bytes", "hbm.write_bytes"},
    {"l2_read_bytes", "l2.read_bytes"},
    {"l2_write_bytes", "l2.write_bytes"},
    {"l2_hit_rate", "l2.hit_rate"},
    {"fabric_bytes", "l2.fabric_bytes"},
    {"ctas", "launch.ctas"},
    {"ctas_per_sm", "launch.ctas_per_sm"},
    {"waves", "launch.waves"},
    {"bound", "time.bound"},
    {"bound_s", "time.bound_s"},
    {"least_s", "time.least_s"},
    {"predicted_s", "time.predicted_s"},
    {"seconds", "time.seconds"},
    {"time_is", "time.kind"},
    {"ranks", "links.ranks"},
    {"link", "links.link"},
    {"link_bytes", "links.sent_bytes"},
    {"link_rank_bytes", "links.rank_bytes"},
    {"link_bound_s", "links.bound_s"},
};

enum { N_CSV_COLUMNS = sizeof CSV_COLUMNS / sizeof *CSV_COLUMNS, CSV_VALUE_BYTES = 64 };

/* A sink that keeps the values of these columns. */
typedef struct {
  char path[256], values[N_CSV_COLUMNS][CSV_VALUE_BYTES];
} Columns;

static void leave(void *context) {
  Columns *c = context;
  char *dot = strrchr(c->path, '.');
  *(dot ? dot : c->path) = '\0';
}

static void enter(void *context, const char *key) {
  Columns *c = context;
  const size_t used = strlen(c->path);
  snprintf(c->path + used, sizeof c->path - used, "%s%s", used ? "." : "", key ? key : "");
}

static void take_text(void *context, const char *key, const char *value) {
  Columns *c = context;
  enter(c, key);
  for (int k = 0; k < N_CSV_COLUMNS; k++)
    if (strcmp(c->path, CSV_COLUMNS[k].path) == 0) snprintf(c->values[k], CSV_VALUE_BYTES, "%s", value);
  leave(c);
}

static void take_whole(void *context, const char *key, Wide value) {
  take_text(context, key, number_digits(value).text);
}

static void take_real(void *context, const char *key, double value) {
  take_text(context, key, number_exact_double(value).text);
}

static void take_flag(void *context, const char *key, bool value) { take_text(context, key, value ? "true" : "false"); }
static void take_null(void *context, const char *key) { take_text(context, key, ""); }

void run_tables_lines(Document *d, const Simulation *runs, int n) {
  TableColumn columns[N_CSV_COLUMNS];
  for (int c = 0; c < N_CSV_COLUMNS; c++) columns[c] = (TableColumn){.csv = CSV_COLUMNS[c].name};
  Table *t = document_table(d, DOCUMENT_CSV, NULL, columns, N_CSV_COLUMNS);
  for (int k = 0; k < n && d->form == DOCUMENT_CSV; k++) {
    Columns c = {.path = ""};
    const ReportSink sink = {&c, enter, enter, leave, take_whole, take_real, take_text, take_flag, take_null};
    report_shape(&sink, "shape", &runs[k].plan.shape);
    report_run(&sink, NULL, &runs[k]);
    take_text(&c, "machine", runs[k].machine.name);
    for (int v = 0; v < N_CSV_COLUMNS; v++) table_text(t, ROLE_PLAIN, c.values[v]);
  }
}
