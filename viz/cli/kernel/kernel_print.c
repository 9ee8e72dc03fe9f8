#include "viz/cli/kernel/kernel_print.h"

#include <stdlib.h>

#include "sim/base/text_add.h"
#include "viz/cli/counter_file.h"
#include "viz/kernel/kernel_advice.h"

enum { LINES_SHOWN = 12, LINES_ON_SCREEN = 5, SECTOR_BYTES = 32 };

/* --- the table of memories --- */

static const struct {
  const char *name;
  PtxRequestKind a, b; /* the same: that one alone */
  bool is_shared;
} MEMORIES[] = {{"global load", PTX_GLOBAL_LOAD, PTX_ASYNC_COPY, false},
                {"global store", PTX_GLOBAL_STORE, PTX_GLOBAL_STORE, false},
                {"global atomic", PTX_GLOBAL_ATOMIC, PTX_GLOBAL_REDUCE, false},
                {"local (spills)", PTX_LOCAL_LOAD, PTX_LOCAL_STORE, false},
                {"shared load", PTX_SHARED_LOAD, PTX_SHARED_LOAD, true},
                {"shared store", PTX_SHARED_STORE, PTX_SHARED_ATOMIC, true}};

static void put_memories(Document *d, const KernelReport *r) {
  Table *t = put_table(d, DOCUMENT_TEXT, NULL, "memory|requests>|sectors>|a request>|bytes>|wavefronts>|conflicts>");
  const int32_t *g = r->launch->launch.grid, *b = r->launch->launch.block;
  table_title(t, "%s: grid %d x %d x %d, blocks of %d x %d x %d threads", r->launch->name, g[0], g[1], g[2], b[0], b[1],
              b[2]);
  for (size_t m = 0; m < COUNT_OF(MEMORIES); m++) {
    const PtxCounts c = kernel_counts(&r->result.totals, MEMORIES[m].a, MEMORIES[m].b);
    if (!c.requests) continue;
    put_cells(t, "su", MEMORIES[m].name, c.requests);
    if (MEMORIES[m].is_shared) {
      put_cells(t, "---u@u", c.wavefronts, c.conflicts ? ROLE_WARN : ROLE_PLAIN, c.conflicts);
    } else {
      put_cells(t, "ug*U--", c.sectors, (double)c.sectors / (double)c.requests, c.sectors * SECTOR_BYTES);
    }
  }
}

/* --- more of it --- */

/* By the keys of --json. */
static const ValueRow MORE[] = {
    {"blocks an SM, at least", "occupancy.blocks_low", NULL, 'u'},
    {"blocks an SM, at most", "occupancy.blocks_high", "as registers allow: --registers", 'u'},
    {"warps of an SM, at least", "occupancy.warps_low", NULL, '%'},
    {"warps of an SM, at most", "occupancy.warps_high", NULL, '%'},
    {"limited by", "occupancy.binds", NULL, 's'},
    {"read by bulk copies", "bulk.read_bytes", NULL, 'U'},
    {"written by bulk copies", "bulk.write_bytes", NULL, 'U'},
    {"L1 hit rate", "l1.hit_rate", NULL, '%'},
    {"loaded sectors that may miss L1", "l1.reloaded_after_store", "stored shortly before", 'u'},
    {"L2 is that of", "l2.gpu", NULL, 's'},
    {"sectors read from L2", "l2.read_sectors", NULL, 'u'},
    {"  at least", "l2.read_sectors_low", "as requests coincide", 'u'},
    {"  at most", "l2.read_sectors_high", "as requests coincide", 'u'},
    {"L2 hit rate", "l2.hit_rate", NULL, '%'},
    {"read from HBM", "hbm.read_bytes", "with code and parameters", 'U'},
    {"  at most", "hbm.read_bytes_high", "where sectors stored in part are filled first", 'U'},
    {"written to HBM", "hbm.write_bytes", NULL, 'U'},
    {"with what is still in L2", "hbm.write_bytes_high", NULL, 'U'},
    {"branches", "branches.executed", "counted", 'u'},
    {"  that split a warp", "branches.divergent", "counted", 'u'},
    {"output", "output.argument", NULL, 's'},
    {"its sum", "output.sum", NULL, 'f'},
    {"its largest magnitude", "output.max", NULL, 'f'},
    {"largest error against fp64", "output.largest_error", "of the largest |O|", 'f'},
    {"tolerance", "output.tolerance", "of the largest |O|", 'f'},
    {"elements that are off by more", "output.wrong", NULL, 'u'},
    {0},
};

static void put_more(Document *d, const KernelReport *r, const json_t *values, const KernelLine *lines, int n) {
  double executed = 0, lanes = 0;
  put_value_rows(put_table(d, DOCUMENT_TEXT, NULL, "on the whole|value>|kind~"), values, MORE);
  for (int k = 0; k < n; k++) executed += (double)lines[k].executed, lanes += (double)lines[k].lanes;
  if (r->result.totals.divergent_branches && executed > 0)
    document_line(d, ROLE_PLAIN, "%s of lanes were active.", number_percent(lanes / (32 * executed)).text);
  const OutputVerdict *v = &r->verdict;
  const int64_t head_dim = r->launch->request->d, N = r->launch->request->N;
  if (r->launch->out < 0) document_line(d, ROLE_WARN, "The kernel changed no buffer.");
  if (r->launch->out < 0 || !r->is_judged || v->wrong < 0) return;
  document_line(d, ROLE_BAD, "The first is O[head %jd][row %jd][column %jd]: %s, should be %s%s%s.",
                v->wrong / head_dim / N, v->wrong / head_dim % N, v->wrong % head_dim, number_double(v->is, 6).text,
                number_double(v->should, 6).text, r->wrong_by[0] ? "; last written by " : "", r->wrong_by);
}

static void put_faults(Document *d, const KernelReport *r) {
  if (r->is_broken)
    document_line(d, ROLE_DIM,
                  "Counts are of a run that leaves out accesses out of bounds and merges no loads, as ptxas may.");
  for (int32_t f = 1; f < r->result.n_faults; f++) { /* the first is the verdict */
    const PtxFault *fault = &r->result.faults[f];
    document_line(d, ROLE_BAD, fault->count > 1 ? "%s: %s (%s times)" : "%s: %s", fault->kind, fault->message,
                  number_count(fault->count).text);
  }
}

/* Whether a load or store of the line ran; a line may have several copies. */
static bool is_reached(const KernelReport *r, PtxInstruction line) {
  for (int32_t pc = 0; pc < r->result.n_instructions; pc++) {
    const PtxInstruction at = ptx_instruction(r->launch->kernel, pc);
    if (at.line == line.line && at.file == line.file && r->result.kinds[pc] && r->result.counts[pc].executed)
      return true;
  }
  return false;
}

/* Silence says nothing of loads and stores that no thread reached. */
static void put_unreached(Document *d, const KernelReport *r) {
  const int32_t main_file = kernel_main_file(r->launch);
  int32_t last = 0;
  char names[200] = "";
  for (int32_t pc = 0; pc < r->result.n_instructions; pc++) {
    const PtxInstruction at = ptx_instruction(r->launch->kernel, pc);
    if (!r->result.kinds[pc] || r->result.counts[pc].executed || at.line == last || at.file != main_file) continue;
    last = at.line;
    if (!is_reached(r, at)) text_add(names, sizeof names, "%s%d", *names ? ", " : "", last);
  }
  if (*names)
    document_line(d, ROLE_DIM, "No thread reached the loads and stores of line %s: of them nothing is known.", names);
}

/* --- the table of lines --- */

/* Of all that a line moves. */
static PtxCounts global_of(const KernelLine *l) {
  PtxCounts all = l->load;
  ptx_counts_add(&all, &l->store);
  ptx_counts_add(&all, &l->reduce);
  return all;
}
static PtxCounts shared_of(const KernelLine *l) {
  PtxCounts all = l->shared_load;
  ptx_counts_add(&all, &l->shared_store);
  return all;
}

static void line_row(Table *t, const KernelLaunch *l, const KernelLine *k) {
  char name[64];
  const PtxCounts global = global_of(k), shared = shared_of(k);
  kernel_line_name(l, k, name, sizeof name);
  put_cells(t, "*s?U", name, global.sectors * SECTOR_BYTES);
  const double a_request = (double)global.sectors / (double)global.requests;
  put_cells(t, global.requests ? "@g" : "-", a_request > 16.5 ? ROLE_WARN : ROLE_PLAIN, a_request);
  const double used = global.sectors ? (double)k->asked_bytes / ((double)global.sectors * SECTOR_BYTES) : 0,
               lanes = k->executed ? (double)k->lanes / (32 * (double)k->executed) : 0;
  put_cells(t, used > 0 ? "@%" : "-", used < 0.5 ? ROLE_WARN : ROLE_PLAIN, used > 1 ? 1.0 : used);
  put_cells(t, shared.wavefronts ? "u@u" : "--", shared.wavefronts,
            shared.conflicts * 4 > shared.wavefronts ? ROLE_WARN : ROLE_PLAIN, shared.conflicts);
  put_cells(t, "@%~s", lanes < 0.5 ? ROLE_WARN : ROLE_PLAIN, lanes, k->text);
}

static void put_lines(Document *d, const KernelReport *r, const KernelLine *lines, int n) {
  const int64_t asked = r->launch->request->lines, most = asked ? asked : d->details ? LINES_SHOWN : LINES_ON_SCREEN;
  Table *t = put_table(d, DOCUMENT_TABLES, NULL,
                       "line>|bytes>|sectors /\nrequest>;sectors_a_request|used>|wavefronts>|conflicts>|lanes>|"
                       "source!");
  int shown = 0;
  for (int k = 0; k < n && (shown < most || d->form == DOCUMENT_CSV); k++) {
    if (lines[k].cost <= 0) continue;
    line_row(t, r->launch, &lines[k]);
    shown++;
  }
  t->is_muted = !shown;
  table_title(t, "Source lines by cost");
  table_note(t, "%s",
             d->details ? "Cost: sectors / 4 + wavefronts, the passes through L1. Bytes are sectors x 32 of global "
                          "memory; used: of them, those that lanes asked for; lanes: active ones."
                        : "--details: occupancy, L1, L2, HBM, output, all lines.");
}

/* What to look at in the line of most cost that wastes something. */
static Status put_advice(Document *d, const KernelReport *r, const KernelLine *lines, int n, Error *error) {
  for (int k = 0; k < n && k < LINES_SHOWN; k++) {
    const KernelLine *l = &lines[k];
    const PtxCounts global = global_of(l), shared = shared_of(l);
    const uint64_t moved = global.sectors * SECTOR_BYTES;
    const bool banks = 4 * shared.wavefronts >= global.sectors && 2 * shared.conflicts > shared.wavefronts;
    if (!banks && (!l->asked_bytes || global.sectors < 2 * global.requests || moved <= 2 * l->asked_bytes)) continue;
    char advice[KERNEL_ADVICE_BYTES] = "", name[64];
    const Status status = r->is_broken ? STATUS_OK : kernel_advice(r->launch, l, banks, advice, error);
    kernel_line_name(r->launch, l, name, sizeof name);
    if (!status && *advice)
      document_line(d, ROLE_WARN, "%s", advice);
    else if (!status && !banks)
      document_line(
          d, ROLE_WARN,
          "Line %s moves %s bytes for each that its lanes ask for: let neighbouring lanes touch neighbouring words.",
          name, number_double((double)moved / (double)l->asked_bytes, 3).text);
    return status;
  }
  return STATUS_OK;
}

static Status put_text(Document *d, const KernelReport *r, const json_t *values, const KernelLine *lines, int n,
                       Error *error) {
  document_line(d, kernel_report_is_bad(r) ? ROLE_BAD : ROLE_GOOD, "%s",
                json_string_value(json_object_get(values, "verdict")));
  const Status status = put_advice(d, r, lines, n, error);
  document_gap(d);
  put_memories(d, r);
  if (d->details) document_gap(d), put_more(d, r, values, lines, n);
  put_faults(d, r);
  if (r->launch->launch.faults) put_unreached(d, r);
  for (int k = 0; k < r->launch->n_notes; k++) document_line(d, ROLE_DIM, "Note: %s.", r->launch->notes[k]);
  document_gap(d);
  return status;
}

Status kernel_put(Document *d, const KernelReport *r, Error *error) {
  Document values = document_new(DOCUMENT_JSON);
  const ReportSink sink = document_sink(d->form == DOCUMENT_JSON ? d : &values);
  int n;
  KernelLine *lines = kernel_lines(r->launch, &r->result, &n);
  Status status = lines ? kernel_report_put(r, &sink, error) : error_no_memory(error, "for the table of lines");
  if (!status && d->form == DOCUMENT_TEXT) status = put_text(d, r, values.open[0], lines, n, error);
  if (!status) put_lines(d, r, lines, n);
  document_free(&values);
  free(lines);
  return status;
}

static int by_place(const void *a, const void *b) {
  const KernelLine *x = a, *y = b;
  return x->file != y->file ? x->file - y->file : x->line - y->line;
}

Status kernel_put_counts(Document *d, const KernelReport *r, Error *error) {
  int n;
  char name[64];
  KernelLine *lines = kernel_lines(r->launch, &r->result, &n);
  if (!lines) return error_no_memory(error, "for the table of lines");
  qsort(lines, (size_t)n, sizeof *lines, by_place);
  Table *t = put_table(d, DOCUMENT_CSV, NULL,
                       "line|executed|lanes|global requests|sectors|asked bytes|shared requests|wavefronts|conflicts|"
                       "local sectors|source");
  for (const KernelLine *l = lines; l < lines + n; l++) {
    const PtxCounts global = global_of(l), shared = shared_of(l);
    kernel_line_name(r->launch, l, name, sizeof name);
    put_cells(t, "suuuuuuuuus", name, l->executed, l->lanes, global.requests, global.sectors, l->asked_bytes,
              shared.requests, shared.wavefronts, shared.conflicts, l->local.sectors, l->text);
  }
  free(lines);
  return STATUS_OK;
}

/* --- beside what ncu counted --- */

/* A counter as it is here. */
typedef struct {
  Counter counter;
  bool predicted;
  uint64_t value;
} Here;

enum { HERE = 8, HERE_WITHOUT_CACHES = 3 };

static void counters_here(const KernelReport *r, Here here[HERE]) {
  const PtxTotals *t = &r->result.totals;
  const KernelTraffic *m = &r->traffic;
  const Here all[HERE] = {
      {COUNTER_GLOBAL_READ, false, SECTOR_BYTES * kernel_counts(t, PTX_GLOBAL_LOAD, PTX_ASYNC_COPY).sectors},
      {COUNTER_CONFLICTS_LOAD, false, t->by_kind[PTX_SHARED_LOAD].conflicts},
      {COUNTER_CONFLICTS_STORE, false, t->by_kind[PTX_SHARED_STORE].conflicts},
      {COUNTER_L2_WRITE_SECTORS, false, m->counts.writes},
      {COUNTER_L2_RED_SECTORS, false, kernel_counts(t, PTX_GLOBAL_ATOMIC, PTX_GLOBAL_REDUCE).sectors},
      {COUNTER_BOUNDARY_READ, true, SECTOR_BYTES * t->l1_sectors_from_l2},
      {COUNTER_L2_READ_SECTORS, true, m->read_sectors},
      {COUNTER_HBM_READ, true, kernel_hbm_read_bytes(r)}};
  memcpy(here, all, sizeof all);
}

/* The row's kernel is this one: its name holds the other's. */
static bool is_of(const KernelReport *r, const CounterRow *row) {
  const char *entry = ptx_entry_name(r->launch->module, r->launch->entry);
  char plain[256];
  snprintf(plain, sizeof plain, "%s", r->launch->name);
  plain[strcspn(plain, "<")] = '\0';
  return strstr(row->kernel, entry) != NULL || strstr(row->kernel, plain) != NULL;
}

static bool same_grid(const KernelReport *r, const CounterRow *row) {
  for (int k = 0; k < 3; k++)
    if (row->grid[k] && row->grid[k] != r->launch->launch.grid[k]) return false;
  return true;
}

static void add_row(Document *d, Table *t, const CounterRow *row, const Here *h, bool *differs) {
  const uint64_t is = h->value, should = row->value[h->counter], slack = row->slack[h->counter];
  const bool equal = is + slack >= should && should + slack >= is;
  const TextRole role = equal ? ROLE_GOOD : h->predicted ? ROLE_PLAIN : ROLE_BAD;
  put_cells(t, "s~suu", COUNTER_NAMES[h->counter].title, h->predicted ? "predicted" : "counted", is, should);
  put_cells(t, should ? "@%" : "-", role, (double)is / (double)should - 1);
  put_row(d, t);
  put_values(d, "metric:s equal:b", COUNTER_NAMES[h->counter].metric, equal);
  put_end(d);
  *differs |= !h->predicted && !equal;
}

Status kernel_put_beside(Document *d, const KernelReport *r, const char *path, bool *differs, Error *error) {
  CounterTable table;
  Here here[HERE];
  const int n = r->has_caches ? HERE : HERE_WITHOUT_CACHES;
  int n_launches = 0, n_shared = 0;
  Status status = counter_file_read(path, &table, error);
  if (status) return status;
  counters_here(r, here);
  put_values(d, "kernel:s launches[", r->launch->name);
  for (size_t k = 0; k < table.n_rows; k++) {
    const CounterRow *row = &table.rows[k];
    if (!is_of(r, row) || !same_grid(r, row)) continue;
    n_launches++;
    put_values(d, "{");
    Table *t = put_table(d, DOCUMENT_ALL, "counters", "counter~=counter| &kind|here>=here|ncu>=ncu|error>=error");
    table_title(t, "%.80s beside line %jd of %.80s", r->launch->name, row->line, path);
    for (int h = 0; h < n; h++)
      if (row->known[here[h].counter]) add_row(d, t, row, &here[h], differs), n_shared++;
    put_end(d);
  }
  put_end(d);
  if (!n_launches)
    status = error_refuse(error, "%.200s has no launch of '%.80s' with this grid", path, r->launch->name);
  else if (!n_shared)
    status = error_refuse(error, "%.200s has none of the counters that are known here, such as %s", path,
                          COUNTER_NAMES[COUNTER_L2_READ_SECTORS].metric);
  counter_table_free(&table);
  return status;
}
