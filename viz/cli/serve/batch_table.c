#include "viz/cli/serve/batch_table.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/request/assets.h"
#include "viz/text/number.h"

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

static Status check(const Request *r, Error *error) {
  const char *beside = *r->mask ? "--mask" : r->shape.batch ? "--batch" : r->shape.N_k ? "--seq-len-k" : NULL;
  if (!beside) return STATUS_OK;
  return error_refuse(
      error,
      "%s cannot stand beside --lengths, which says how many sequences there are and how many keys each "
      "has; leave one of them out",
      beside);
}

/* The figures of a run: a row of the table for people, a column of CSV, a key of JSON. */
typedef struct {
  const char *label, *key;
  void (*add)(Table *, TextRole, Wide);
  size_t at; /* 0: tiles that are computed */
} Field;

static const Field FIELDS[] = {{"tokens", "tokens", table_count, offsetof(BatchRun, tokens)},
                               {"CTAs with work", "ctas", table_count, offsetof(BatchRun, ctas)},
                               {"CTAs without", "idle_ctas", table_count, offsetof(BatchRun, idle)},
                               {"tiles computed", "tiles", table_count, 0},
                               {"read", "read_bytes", table_bytes, offsetof(BatchRun, read_bytes)},
                               {"written", "write_bytes", table_bytes, offsetof(BatchRun, write_bytes)},
                               {"FLOPs", "flops", table_flops, offsetof(BatchRun, traffic.flops)}};
enum { N_FIELDS = sizeof FIELDS / sizeof *FIELDS };

static void add_cell(Table *t, const Field *f, const BatchRun *r) {
  Wide value = r->traffic.tiles[TILE_FULL] + r->traffic.tiles[TILE_PARTIAL];
  if (f->at) memcpy(&value, (const char *)r + f->at, sizeof value);
  f->add(t, f->add == table_bytes ? ROLE_ACCENT : ROLE_PLAIN, value);
}

/* CTAs with work over those at work at once; 0: not known. */
static double waves_of(const BatchRun *r) { return r->n_slots ? (double)r->ctas / (double)r->n_slots : 0; }

/* Of a kernel on a GPU: what is predicted, 0 where nothing is known. */
static const struct {
  const char *label;
  size_t at;
} BESIDES[] = {{"registers, tables: read", offsetof(BatchRun, besides_read_bytes)},
               {"the same, written", offsetof(BatchRun, besides_write_bytes)},
               {"read from HBM", offsetof(BatchRun, hbm_read_bytes)},
               {"written to HBM", offsetof(BatchRun, hbm_write_bytes)}};
enum { N_BESIDES = sizeof BESIDES / sizeof *BESIDES };

static void add_besides(Table *t, int row, const BatchRun *runs, int n) {
  Wide bytes[BATCH_LAYOUT_COUNT * REQUEST_ALGORITHMS_MAX] = {0}, any = 0;
  for (int k = 0; k < n; k++) {
    double value;
    memcpy(&value, (const char *)&runs[k] + BESIDES[row].at, sizeof value);
    if (runs[k].has_l2 || row < 2) bytes[k] = (Wide)(fmax(value, 0) + 0.5);
    any += bytes[k];
  }
  if (!any) return;
  put_cells(t, "s", BESIDES[row].label);
  for (int k = 0; k < n; k++) put_cells(t, "W", bytes[k]);
}

static void add_time(Table *t, const BatchRun *runs, int n) {
  if (!runs[0].timed) return;
  put_cells(t, "s", "takes");
  for (int k = 0; k < n; k++) put_cells(t, "*t", runs[k].seconds);
  put_cells(t, "s", "the time is");
  for (int k = 0; k < n; k++) put_cells(t, "~s", time_kind_name(runs[k].kind));
  for (int k = 0; k < n; k++) {
    const BatchRun *r = &runs[k];
    if (r->kind == TIME_PREDICTED && r->error.n_runs)
      table_note(t, "%s: of %" PRId64 " %s half are within %.1f %%, nine in ten within %.1f %%.",
                 batch_layout_name(r->layout), r->error.n_runs,
                 time_regime_is_held_out(r->regime) ? "held-out runs of its sort"
                                                    : "runs of its sort, to which it was fitted,",
                 (double)r->error.median_permille / 10, (double)r->error.nine_permille / 10);
    else if (r->why)
      table_note(t, "%s: %s, as %s.", batch_layout_name(r->layout),
                 r->kind == TIME_BOUND ? "a bound" : time_kind_name(r->kind), r->why);
  }
}

static void add_comparison(Document *d, const BatchRun *runs, int n, const Lengths *lengths) {
  TableColumn columns[1 + BATCH_LAYOUT_COUNT * REQUEST_ALGORITHMS_MAX] = {{.heading = ""}};
  char headings[BATCH_LAYOUT_COUNT * REQUEST_ALGORITHMS_MAX][PROGRAM_WORD_BYTES + 16];
  for (int k = 0; k < n; k++) {
    snprintf(headings[k], sizeof *headings, "%s\n%s", runs[k].schedule->name, batch_layout_name(runs[k].layout));
    columns[k + 1] = (TableColumn){.heading = headings[k], .right = true};
  }
  Table *t = document_table(d, DOCUMENT_TEXT, NULL, columns, n + 1);
  table_title(t, "%s sequences of %s to %s tokens, %s in all: counted", number_count(wide(lengths->n)).text,
              number_count(wide(lengths->shortest)).text, number_count(wide(lengths->longest)).text,
              number_count(lengths_sum(lengths)).text);
  for (int f = 0; f < N_FIELDS; f++) {
    put_cells(t, "s", FIELDS[f].label);
    for (int k = 0; k < n; k++) add_cell(t, &FIELDS[f], &runs[k]);
  }
  if (runs[0].n_slots) {
    put_cells(t, "s", "waves");
    for (int k = 0; k < n; k++) table_double(t, ROLE_PLAIN, waves_of(&runs[k]), 3);
  }
  for (int f = 0; f < N_BESIDES; f++) add_besides(t, f, runs, n);
  add_time(t, runs, n);
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

/* A line of CSV, an object of JSON for each run. */
static void add_runs(Document *d, const BatchRun *runs, int n) {
  TableColumn columns[N_FIELDS + 3] = {{.csv = "algorithm", .key = "algorithm"}, {.csv = "layout", .key = "layout"}};
  for (int f = 0; f < N_FIELDS; f++) columns[f + 2] = (TableColumn){.csv = FIELDS[f].key, .key = FIELDS[f].key};
  columns[N_FIELDS + 2] = (TableColumn){.csv = "waves", .key = "waves"};
  Table *t = document_table(d, DOCUMENT_CSV | DOCUMENT_JSON, "runs", columns, N_FIELDS + 3);
  for (int k = 0; k < n; k++) {
    put_cells(t, "ss", runs[k].schedule->name, batch_layout_name(runs[k].layout));
    for (int f = 0; f < N_FIELDS; f++) add_cell(t, &FIELDS[f], &runs[k]);
    if (runs[k].n_slots)
      table_double(t, ROLE_PLAIN, waves_of(&runs[k]), 6);
    else
      table_empty(t, false);
    put_row(d, t);
    put_more(d, &runs[k]);
    put_end(d);
  }
}

static void fill(Document *d, const BatchRun *runs, int n, const Lengths *lengths) {
  put_values(d, "sequences:i shortest:i longest:i kind:s", lengths->n, lengths->shortest, lengths->longest, "counted");
  add_comparison(d, runs, n, lengths);
  add_runs(d, runs, n);
}

Status batch_table(const Request *request, const char *text, Document *d, Error *error) {
  Request r = *request;
  Problem problem;
  Gpu gpu;
  BatchRun runs[BATCH_LAYOUT_COUNT * REQUEST_ALGORITHMS_MAX];
  int n = 0;
  Status status = check(&r, error);
  if (!status) status = request_algorithms(&r, REQUEST_ONE, error);
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
