#include "viz/cli/kernel/kernel_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "viz/document/document.h"
#include "viz/kernel/kernel_lines.h"
#include "viz/text/number.h"
#include "viz/text/print.h"

enum { LINES_SHOWN = 12, LINES_ON_SCREEN = 5, SECTOR_BYTES = 32 };

/* --- the table of memories --- */

static void memory_row(Table *t, const char *name, const PtxCounts *c, bool shared) {
  if (!c->requests) return;
  if (shared) {
    put_cells(t, "su---u@u", name, c->requests, c->wavefronts, c->conflicts ? ROLE_WARN : ROLE_PLAIN, c->conflicts);
    return;
  }
  put_cells(t, "suu", name, c->requests, c->sectors);
  table_double(t, ROLE_PLAIN, (double)c->sectors / (double)c->requests, 3);
  put_cells(t, "*U--", c->sectors * SECTOR_BYTES);
}

static Status print_memories(const KernelReport *r, Io *io, Error *error) {
  const PtxTotals *totals = &r->result.totals;
  Table t = table_of("memory|requests>|sectors>|a request>|bytes>|wavefronts>|conflicts>");
  const PtxCounts load = kernel_counts(totals, PTX_GLOBAL_LOAD, PTX_ASYNC_COPY),
                  reduce = kernel_counts(totals, PTX_GLOBAL_ATOMIC, PTX_GLOBAL_REDUCE),
                  store = kernel_counts(totals, PTX_SHARED_STORE, PTX_SHARED_ATOMIC),
                  local = kernel_counts(totals, PTX_LOCAL_LOAD, PTX_LOCAL_STORE);
  const int32_t *g = r->launch->launch.grid, *b = r->launch->launch.block;
  table_title(&t, "%s: grid %d x %d x %d, blocks of %d x %d x %d threads", r->launch->name, g[0], g[1], g[2], b[0],
              b[1], b[2]);
  memory_row(&t, "global load", &load, false);
  memory_row(&t, "global store", &totals->by_kind[PTX_GLOBAL_STORE], false);
  memory_row(&t, "global atomic", &reduce, false);
  memory_row(&t, "local (spills)", &local, false);
  memory_row(&t, "shared load", &totals->by_kind[PTX_SHARED_LOAD], true);
  memory_row(&t, "shared store", &store, true);
  const Status status = table_print(&t, io->out, &io->style, error);
  table_free(&t);
  return status;
}

/* --- sentences --- */

static void line(Io *io, TextRole role, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void line(Io *io, TextRole role, const char *format, ...) {
  char text[600];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  text_paragraph(io->out, &io->style, role, 0, text);
}

static Number bytes_of(uint64_t sectors) { return number_bytes((Wide)sectors * SECTOR_BYTES); }

static void print_occupancy(const KernelReport *r, Io *io) {
  OccupancyRange o;
  if (!kernel_occupancy(r->launch, &o)) return;
  const char *binds = occupancy_limit_name(o.most.binds);
  if (o.known || o.least.ctas_per_sm == o.most.ctas_per_sm)
    line(io, ROLE_PLAIN, "Occupancy (bound): %" PRId64 " %s an SM, %s of its warps; %s bounds it.", o.least.ctas_per_sm,
         o.least.ctas_per_sm == 1 ? "block" : "blocks", number_percent(o.least.warps_fraction).text,
         occupancy_limit_name(o.least.binds));
  else
    line(io, ROLE_PLAIN,
         "Occupancy (bound): %" PRId64 " to %" PRId64
         " blocks an SM, %s to %s of its warps, as registers allow (PTX does "
         "not say how many: --registers); then %s bounds it.",
         o.least.ctas_per_sm, o.most.ctas_per_sm, number_percent(o.least.warps_fraction).text,
         number_percent(o.most.warps_fraction).text, binds);
}

static void print_traffic(const KernelReport *r, Io *io) {
  const PtxTotals *t = &r->result.totals;
  if (t->bulk_read_bytes || t->bulk_write_bytes)
    line(io, ROLE_PLAIN, "Bulk copies (counted): %s read, %s written.", number_bytes(t->bulk_read_bytes).text,
         number_bytes(t->bulk_write_bytes).text);
  if (!r->has_caches) return;
  if (t->l1_load_sectors)
    line(io, ROLE_PLAIN, "L1 (predicted): %s of %s loaded sectors hit%s.",
         number_percent((double)t->l1_hit_sectors / (double)t->l1_load_sectors).text,
         number_count(t->l1_load_sectors).text,
         t->l1_reloaded_after_store
             ? "; some were stored shortly before, where the hardware follows no rule we know, and may miss"
             : "");
  const KernelTraffic *m = &r->traffic;
  const LineL2Counts *c = &m->counts;
  const Number least = bytes_of(m->read_least_sectors), most_read = bytes_of(m->read_most_sectors);
  const bool one = strcmp(least.text, most_read.text) == 0;
  if (c->reads)
    line(io, ROLE_PLAIN, "L2 of %s (predicted): %s read, of which %s hit%s%s%s%s%s.", r->launch->gpu.name,
         bytes_of(m->read_sectors).text, number_percent((double)c->hits / (double)c->reads).text,
         one ? "" : "; between ", one ? "" : least.text, one ? "" : " and ", one ? "" : most_read.text,
         one ? "" : ", as requests coincide");
  char most[160] = "";
  if (c->partly_written)
    snprintf(most, sizeof most, ", or up to %s where sectors stored in part are filled first",
             bytes_of(c->hbm_reads + c->partly_written).text);
  const Number read = number_bytes((Wide)kernel_hbm_read_bytes(r)),
               own = number_bytes((Wide)(kernel_hbm_read_bytes(r) - c->hbm_reads * SECTOR_BYTES));
  line(io, ROLE_PLAIN, "HBM (predicted): %s read, of it %s of code and parameters%s; %s written, %s more still in L2.",
       read.text, own.text, most, bytes_of(c->hbm_writes).text, bytes_of(c->dirty).text);
}

static void print_divergence(const KernelReport *r, const KernelLine *lines, int n, Io *io) {
  const PtxTotals *t = &r->result.totals;
  double executed = 0, lanes = 0;
  for (int k = 0; k < n; k++) executed += (double)lines[k].executed, lanes += (double)lines[k].lanes;
  if (t->branches && t->divergent_branches && executed > 0)
    line(io, ROLE_PLAIN, "Divergence: %s of %s branches split a warp; %s of lanes were active.",
         number_count(t->divergent_branches).text, number_count(t->branches).text,
         number_percent(lanes / (32 * executed)).text);
}

static void print_output(const KernelReport *r, Io *io) {
  const KernelLaunch *l = r->launch;
  if (l->out < 0) {
    line(io, ROLE_WARN, "Output: the kernel changed no buffer.");
    return;
  }
  const OutputSums s = kernel_output_sums(l);
  line(io, ROLE_PLAIN, "Output %s: sum %s, largest magnitude %s.", l->argument_names[l->out],
       number_double(s.sum, 6).text, number_double(s.max, 6).text);
  const OutputVerdict *v = &r->verdict;
  if (!r->is_judged) return;
  if (v->wrong < 0) {
    line(io, ROLE_GOOD, "It is attention: the largest error against fp64 is %s of the largest |O| (tolerance %s).",
         number_double(v->largest_error, 3).text, number_double(v->tolerance, 2).text);
    return;
  }
  const int64_t d = l->request->d, N = l->request->N;
  line(io, ROLE_BAD, "It is not attention: %s of %s elements are off by more than %s of the largest |O|.",
       number_count(wide(v->n_wrong)).text, number_count(wide(v->n)).text, number_double(v->tolerance, 2).text);
  line(io, ROLE_BAD, "The first is O[head %" PRId64 "][row %" PRId64 "][column %" PRId64 "]: %s, should be %s%s%s.",
       v->wrong / d / N, v->wrong / d % N, v->wrong % d, number_double(v->is, 6).text, number_double(v->should, 6).text,
       r->wrong_by[0] ? "; last written by " : "", r->wrong_by);
}

static void print_faults(const KernelReport *r, Io *io) {
  if (r->is_broken)
    line(io, ROLE_DIM, "Counts are of a run that leaves out accesses out of bounds and merges no loads, as ptxas may.");
  for (int32_t f = 1; f < r->result.n_faults; f++) { /* the first is the verdict */
    const PtxFault *fault = &r->result.faults[f];
    line(io, ROLE_BAD, "%s: %s%s%s%s", fault->kind, fault->message, fault->count > 1 ? " (" : "",
         fault->count > 1 ? number_count(fault->count).text : "", fault->count > 1 ? " times)" : "");
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
static void print_unreached(const KernelReport *r, Io *io) {
  const int32_t main_file = kernel_main_file(r->launch);
  int32_t last = 0;
  char names[200] = "";
  for (int32_t pc = 0; pc < r->result.n_instructions; pc++) {
    const PtxInstruction at = ptx_instruction(r->launch->kernel, pc);
    const size_t used = strlen(names);
    if (!r->result.kinds[pc] || r->result.counts[pc].executed || at.line == last || at.file != main_file) continue;
    last = at.line;
    if (!is_reached(r, at)) snprintf(names + used, sizeof names - used, "%s%d", used ? ", " : "", last);
  }
  if (*names) line(io, ROLE_DIM, "No thread reached the loads and stores of line %s: of them nothing is known.", names);
}

/* --- the table of lines --- */

static void ratio_cell(Table *t, uint64_t a, uint64_t b, double warn) {
  if (!b)
    table_empty(t, true);
  else
    table_double(t, (double)a / (double)b > warn ? ROLE_WARN : ROLE_PLAIN, (double)a / (double)b, 3);
}

static void line_row(Table *t, const KernelLaunch *l, const KernelLine *k) {
  char name[64];
  const uint64_t sectors = k->load.sectors + k->store.sectors + k->reduce.sectors,
                 requests = k->load.requests + k->store.requests + k->reduce.requests,
                 wavefronts = k->shared_load.wavefronts + k->shared_store.wavefronts,
                 conflicts = k->shared_load.conflicts + k->shared_store.conflicts;
  kernel_line_name(l, k, name, sizeof name);
  put_cells(t, "*s?U", name, sectors * SECTOR_BYTES);
  ratio_cell(t, sectors, requests, 16.5);
  const double used = sectors ? (double)k->asked_bytes / ((double)sectors * SECTOR_BYTES) : 0,
               lanes = k->executed ? (double)k->lanes / (32 * (double)k->executed) : 0;
  put_cells(t, used > 0 ? "@%" : "-", used < 0.5 ? ROLE_WARN : ROLE_PLAIN, used > 1 ? 1.0 : used);
  put_cells(t, wavefronts ? "u@u" : "--", wavefronts, conflicts * 4 > wavefronts ? ROLE_WARN : ROLE_PLAIN, conflicts);
  put_cells(t, "@%~s", lanes < 0.5 ? ROLE_WARN : ROLE_PLAIN, lanes, k->text);
}

static Status print_lines(const KernelReport *r, const KernelLine *lines, int n, bool csv, bool details, Io *io,
                          Error *error) {
  const int64_t most = r->launch->request->lines ? r->launch->request->lines : details ? LINES_SHOWN : LINES_ON_SCREEN;
  Table t = table_of("line>|bytes>|sectors /\nrequest>;sectors_a_request|used>|wavefronts>|conflicts>|lanes>|source!");
  int shown = 0;
  if (!csv) table_title(&t, "Source lines by cost");
  for (int k = 0; k < n && (shown < most || csv); k++) {
    if (lines[k].cost <= 0) continue;
    line_row(&t, r->launch, &lines[k]);
    shown++;
  }
  if (!csv && details)
    table_note(&t, "Cost: sectors / 4 + wavefronts, the passes through L1. Bytes are sectors x 32 of global memory; "
                   "used: of them, those that lanes asked for; lanes: active ones.");
  else if (!csv)
    table_note(&t, "--details: occupancy, L1, L2, HBM, output, all lines.");
  const Status status = !shown ? STATUS_OK
                        : csv  ? table_csv(&t, io->out, error)
                               : table_print(&t, io->out, &io->style, error);
  table_free(&t);
  return status;
}

/* What to look at in the line of most cost that wastes something. */
static void print_advice(const KernelReport *r, const KernelLine *lines, int n, Io *io) {
  for (int k = 0; k < n && k < LINES_SHOWN; k++) {
    const KernelLine *l = &lines[k];
    char name[64];
    const double wavefronts = (double)(l->shared_load.wavefronts + l->shared_store.wavefronts),
                 conflicts = (double)(l->shared_load.conflicts + l->shared_store.conflicts),
                 moved = (double)(l->load.sectors + l->store.sectors + l->reduce.sectors) * SECTOR_BYTES;
    kernel_line_name(r->launch, l, name, sizeof name);
    if (wavefronts >= moved / SECTOR_BYTES / 4 && conflicts > wavefronts / 2) {
      line(io, ROLE_WARN,
           "Line %s takes %s passes over the banks where 1 would do: its lanes want different words of one bank. Pad "
           "the "
           "rows by a word, or swizzle them ('tilewalk kernel --warp --stride 32 --pad 1' shows how).",
           name, number_double(wavefronts / (wavefronts - conflicts), 3).text);
      return;
    }
    const double requests = (double)(l->load.requests + l->store.requests + l->reduce.requests),
                 neighbours = (double)(l->load.sectors + l->store.sectors + l->reduce.sectors) / requests;
    if (l->asked_bytes && neighbours >= 2 && moved > 2 * (double)l->asked_bytes) {
      line(io, ROLE_WARN,
           "Line %s moves %s bytes for each that its lanes ask for: let neighbouring lanes touch neighbouring words.",
           name, number_double(moved / (double)l->asked_bytes, 3).text);
      return;
    }
  }
}

Status kernel_print(const KernelReport *r, bool csv, bool details, Io *io, Error *error) {
  int n;
  KernelLine *lines = kernel_lines(r->launch, &r->result, &n);
  if (!lines) return error_set(error, STATUS_NO_MEMORY, "no memory for the table of lines");
  Status status = STATUS_OK;
  if (!csv) {
    char verdict[KERNEL_VERDICT_BYTES];
    kernel_report_verdict(r, lines, n, verdict);
    line(io, kernel_report_is_bad(r) ? ROLE_BAD : ROLE_GOOD, "%s", verdict);
    print_advice(r, lines, n, io);
    fputc('\n', io->out);
    status = print_memories(r, io, error);
    if (details) {
      fputc('\n', io->out);
      print_occupancy(r, io);
      print_traffic(r, io);
      print_divergence(r, lines, n, io);
      print_output(r, io);
    }
    print_faults(r, io);
    if (r->launch->launch.faults) print_unreached(r, io);
    for (int k = 0; k < r->launch->n_notes; k++) line(io, ROLE_DIM, "Note: %s.", r->launch->notes[k]);
    fputc('\n', io->out);
  }
  if (!status) status = print_lines(r, lines, n, csv, details, io, error);
  free(lines);
  return status;
}

static int by_place(const void *a, const void *b) {
  const KernelLine *x = a, *y = b;
  return x->file != y->file ? (x->file > y->file) - (x->file < y->file) : (x->line > y->line) - (x->line < y->line);
}

Status kernel_print_counts(const KernelReport *r, FILE *out, Error *error) {
  int n;
  char name[64];
  KernelLine *lines = kernel_lines(r->launch, &r->result, &n);
  if (!lines) return error_set(error, STATUS_NO_MEMORY, "no memory for the table of lines");
  qsort(lines, (size_t)n, sizeof *lines, by_place);
  Table t = table_of("line|executed|lanes|global requests|sectors|asked bytes|shared requests|wavefronts|conflicts|"
                     "local sectors|source");
  for (int k = 0; k < n; k++) {
    const KernelLine *l = &lines[k];
    const uint64_t counts[] = {l->executed,
                               l->lanes,
                               l->load.requests + l->store.requests + l->reduce.requests,
                               l->load.sectors + l->store.sectors + l->reduce.sectors,
                               l->asked_bytes,
                               l->shared_load.requests + l->shared_store.requests,
                               l->shared_load.wavefronts + l->shared_store.wavefronts,
                               l->shared_load.conflicts + l->shared_store.conflicts,
                               l->local.sectors};
    kernel_line_name(r->launch, l, name, sizeof name);
    table_text(&t, ROLE_PLAIN, name);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) table_digits(&t, ROLE_PLAIN, counts[c]);
    table_text(&t, ROLE_PLAIN, l->text);
  }
  const Status status = table_csv(&t, out, error);
  table_free(&t);
  free(lines);
  return status;
}

Status kernel_print_json(const KernelReport *r, FILE *out, Error *error) {
  Document d = document_new(DOCUMENT_JSON);
  const ReportSink sink = document_sink(&d);
  Status status = kernel_report_put(r, &sink, error);
  if (!status) status = document_print(&d, out, NULL, error);
  document_free(&d);
  return status;
}
