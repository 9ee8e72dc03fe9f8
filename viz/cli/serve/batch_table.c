#include "viz/cli/serve/service.h"

#include "viz/request/assets.h"

enum { FILE_BYTES_MAX = 1 << 24 };

Lengths *batch_lengths(const char *text, Error *error) {
  if (!strchr(text, '/') && !strchr(text, '.')) return lengths_read(text, strlen(text), "--lengths", error);
  char *file;
  size_t n;
  if (file_read(text, FILE_BYTES_MAX, &file, &n, error)) return NULL;
  Lengths *lengths = lengths_read(file, n, text, error);
  free(file);
  return lengths;
}

/* ---- The figures of a run: an object of JSON, a line of CSV, a column for people -------------------------------- */

static const char RUNS[] = "&algorithm|&layout|&tokens|&ctas|&idle_ctas|"
                           "&tiles|&read_bytes|&write_bytes|&flops|&waves";
/* For people: the first two are the heading, and those from BESIDES on have a row where they are more than 0. */
static const char *const LABELS[] = {"",
                                     "",
                                     "tokens",
                                     "CTAs with work",
                                     "CTAs without",
                                     "tiles computed",
                                     "read",
                                     "written",
                                     "FLOPs",
                                     "waves",
                                     "registers, tables: read",
                                     "registers, tables: written",
                                     "read from HBM",
                                     "written to HBM",
                                     "takes",
                                     "the time is"};
enum { TOKENS = 2, TILES = 5, FLOPS = 8, BESIDES = 10, N_FIGURES = COUNT_OF(LABELS) };
enum { RUNS_MAX = BATCH_LAYOUT_COUNT * REQUEST_ALGORITHMS_MAX };

static void take_figures(const BatchRun *r, FigureValue values[N_FIGURES]) {
  const FigureValue none = {0};
  const double hbm = r->has_l2;
  const FigureValue all[N_FIGURES] = {
      IN_WORD(r->schedule->name),
      IN_WORD(batch_layout_name(r->layout)),
      IN_COUNT(r->tokens),
      IN_COUNT(r->ctas),
      IN_COUNT(r->idle),
      IN_COUNT(r->traffic.tiles[TILE_FULL] + r->traffic.tiles[TILE_PARTIAL]),
      IN_BYTES(r->read_bytes),
      IN_BYTES(r->write_bytes),
      IN_FLOPS(r->traffic.flops),
      r->n_slots ? IN_RATE((double)r->ctas / (double)r->n_slots) : none, /* CTAs with work over those at once */
      IN_BYTES(fmax(r->besides_read_bytes, 0) + 0.5),
      IN_BYTES(fmax(r->besides_write_bytes, 0) + 0.5),
      IN_BYTES(hbm * r->hbm_read_bytes + 0.5),
      IN_BYTES(hbm * r->hbm_write_bytes + 0.5),
      r->timed ? IN_SECONDS(r->seconds) : none,
      r->timed ? IN_WORD(time_kind_name(r->kind)) : none,
  };
  memcpy(values, all, sizeof all);
}

static void add_rows(Table *t, FigureValue values[][N_FIGURES], int n, bool details) {
  for (int f = TOKENS; f < N_FIGURES; f++) {
    bool any = false;
    if (!details && (f == TILES || f == FLOPS)) continue;
    for (int k = 0; k < n; k++) {
      const FigureValue *v = &values[k][f];
      any = any || (f >= BESIDES && v->unit == UNIT_BYTES ? v->whole > 0 : v->unit != UNIT_NONE);
    }
    if (any) table_text(t, ROLE_PLAIN, LABELS[f]);
    for (int k = 0; any && k < n; k++) figure_cell(t, &values[k][f]);
  }
}

static void add_notes(Table *t, const BatchRun *runs, int n, bool details) {
  for (const BatchRun *r = runs; r < runs + n && runs->timed; r++) {
    const BatchRun *first = &runs[(r - runs) % BATCH_LAYOUT_COUNT]; /* what it says is said once */
    if (r != first && r->kind == first->kind && r->why == first->why && r->why) continue;
    if (r->kind == TIME_PREDICTED && r->error.n_runs)
      table_note(t, "%s: of %jd %s half are within %.1f %%, nine in ten within %.1f %%.", batch_layout_name(r->layout),
                 r->error.n_runs,
                 time_regime_is_held_out(r->regime) ? "held-out runs of its sort"
                                                    : "runs of its sort, to which it was fitted,",
                 (double)r->error.median_permille / 10, (double)r->error.nine_permille / 10);
    else if (r->why)
      table_note(t, "%s: %s, as %s.", batch_layout_name(r->layout),
                 r->kind == TIME_BOUND ? "a bound" : time_kind_name(r->kind), r->why);
  }
  if (details)
    table_note(t, "Padded, every sequence is as long as the longest. Packed, each is as long as it is: its tiles begin "
                  "where it does, and a grid with CTAs for the longest has some without work.");
}

static void put_more(Document *d, const BatchRun *r) {
  const Schedule *s = r->schedule;
  put_values(d, "traffic{");
  for (int out = 0; out < 2; out++) {
    put_values(d, out ? "write{" : "read{");
    for (int t = 0; t < s->n_tensors; t++)
      put_values(d, "%:w", s->tensors[t].text, out ? r->traffic.write[t] : r->traffic.read[t]);
    put_end(d);
  }
  put_values(d, r->has_l2 ? "} hbm{read_bytes:w write_bytes:w}" : "} hbm{read_bytes:0 write_bytes:0}",
             (Wide)(r->hbm_read_bytes + 0.5), (Wide)(r->hbm_write_bytes + 0.5));
  put_values(d, "time{seconds:f kind:s}", r->timed ? r->seconds : (double)NAN,
             r->timed ? time_kind_name(r->kind) : NULL);
}

static void fill(Document *d, const BatchRun *runs, int n, const Lengths *lengths) {
  FigureValue values[RUNS_MAX][N_FIGURES];
  TableColumn columns[1 + RUNS_MAX] = {{.heading = ""}};
  char headings[RUNS_MAX][PROGRAM_WORD_BYTES + 16];
  for (int k = 0; k < n; k++) {
    take_figures(&runs[k], values[k]);
    snprintf(headings[k], sizeof *headings, "%s\n%s", values[k][0].word, values[k][1].word);
    columns[k + 1] = (TableColumn){.heading = headings[k], .right = true};
  }
  put_values(d, "sequences:i shortest:i longest:i kind:s", lengths->n, lengths->shortest, lengths->longest, "counted");
  Table *t = document_table(d, DOCUMENT_TEXT, NULL, columns, n + 1);
  const double ratio = (double)runs->read_bytes / (double)runs[1].read_bytes;
  char less[112] = "as much as";
  if (ratio >= 1.005) snprintf(less, sizeof less, "%s less than", number_ratio(ratio).text);
  table_title(t, "Packed, %s reads %s padded (%s vs %s).\n%s of %s to %s tokens, %s in all: counted",
              runs[1].schedule->name, less, number_bytes(runs[1].read_bytes).text, number_bytes(runs->read_bytes).text,
              number_of(wide(lengths->n), "sequence").text, number_count(wide(lengths->shortest)).text,
              number_count(wide(lengths->longest)).text, number_count(lengths_sum(lengths)).text);
  add_rows(t, values, n, d->details);
  add_notes(t, runs, n, d->details);
  t = put_table(d, DOCUMENT_CSV | DOCUMENT_JSON, "runs", RUNS);
  for (int k = 0; k < n; k++) {
    for (int f = 0; f < BESIDES; f++) figure_cell(t, &values[k][f]);
    put_row(d, t);
    put_more(d, &runs[k]);
    put_end(d);
  }
}

Status batch_table(const Request *request, const char *text, Document *d, Error *error) {
  Request r = *request;
  Problem problem;
  Gpu gpu;
  BatchRun runs[RUNS_MAX];
  int n = 0;
  Status status = request_algorithms(&r, REQUEST_ONE, error);
  if (!status) status = request_problem(&r, &problem, &gpu, error);
  if (status) return status;
  Lengths *lengths = batch_lengths(text, error);
  if (!lengths) return error->status;
  problem.shape.N_q = r.shape.N_q;
  problem.shape.N_k = 0;
  for (int a = 0; a < r.n_algorithms && !status; a++)
    for (int layout = 0; layout < BATCH_LAYOUT_COUNT && !status; layout++)
      status =
          batch_run(&runs[n++], &problem, lengths, (BatchLayout)layout, r.algorithms[a], *r.gpu ? &gpu : NULL, error);
  if (!status) fill(d, runs, n, lengths);
  free(lengths);
  return status;
}
