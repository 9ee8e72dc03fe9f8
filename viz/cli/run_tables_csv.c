/* Runs as lines of CSV: figures by their paths. */
#include "sim/answer/figure.h"
#include "viz/cli/run_tables_parts.h"
#include "viz/text/number.h"

/* CSV's columns, and the paths of their values. A value that a run has not is empty. */
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
    {"machine", "machine.name"},
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

enum { N_CSV_COLUMNS = sizeof CSV_COLUMNS / sizeof *CSV_COLUMNS };

void run_tables_lines(Document *d, const Simulation *runs, int n) {
  TableColumn columns[N_CSV_COLUMNS];
  for (int c = 0; c < N_CSV_COLUMNS; c++) columns[c] = (TableColumn){.csv = CSV_COLUMNS[c].name};
  Table *t = document_table(d, DOCUMENT_CSV, NULL, columns, N_CSV_COLUMNS);
  if (d->form != DOCUMENT_CSV) return;
  const FigureRow *rows[N_CSV_COLUMNS];
  for (int c = 0; c < N_CSV_COLUMNS; c++) rows[c] = figure_row(CSV_COLUMNS[c].path);
  for (int k = 0; k < n; k++)
    for (int c = 0; c < N_CSV_COLUMNS; c++) {
      const Figure f = figure_of(&runs[k], rows[c], 0);
      table_text(t, ROLE_PLAIN,
                 f.is == IS_WHOLE  ? number_digits(f.whole).text
                 : f.is == IS_REAL ? number_exact_double(f.real).text
                 : f.is == IS_TEXT ? f.text
                 : f.is == IS_FLAG ? (f.flag ? "true" : "false")
                                   : "");
    }
}
