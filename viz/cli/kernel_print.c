#include "viz/cli/kernel_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/l2/launch.h"
#include "viz/cli/kernel_lines.h"
#include "viz/document/document.h"
#include "viz/text/number.h"
#include "viz/text/print.h"

enum { LINES_SHOWN = 12, SECTOR_BYTES = 32, PAIR_BYTES = 64, FEW_REGISTERS = 16 };

static PtxCounts sum(const PtxTotals *t, PtxRequestKind a, PtxRequestKind b) {
  PtxCounts c = t->by_kind[a];
  const PtxCounts *more = &t->by_kind[b];
  if (a == b) return c;
  c.executed += more->executed, c.lanes += more->lanes, c.requests += more->requests;
  c.sectors += more->sectors, c.wavefronts += more->wavefronts, c.conflicts += more->conflicts;
  return c;
}

/* --- the table of memories --- */

static void memory_row(Table *t, const char *name, const PtxCounts *c, bool shared) {
  if (!c->requests) return;
  table_text(t, ROLE_PLAIN, name);
  table_count(t, ROLE_PLAIN, c->requests);
  if (shared) {
    table_empty(t, true), table_empty(t, true), table_empty(t, true);
    table_count(t, ROLE_PLAIN, c->wavefronts);
    table_count(t, c->conflicts ? ROLE_WARN : ROLE_PLAIN, c->conflicts);
  } else {
    table_count(t, ROLE_PLAIN, c->sectors);
    table_double(t, ROLE_PLAIN, (double)c->sectors / (double)c->requests, 3);
    table_bytes(t, ROLE_ACCENT, (Wide)c->sectors * SECTOR_BYTES);
    table_empty(t, true), table_empty(t, true);
  }
}

static Status print_memories(const KernelReport *r, Io *io, Error *error) {
  const PtxTotals *totals = &r->result->totals;
  Table t = table_new((TableColumn[]){{.heading = "memory"},
                                      {.heading = "requests", .right = true},
                                      {.heading = "sectors", .right = true},
                                      {.heading = "a request", .right = true},
                                      {.heading = "bytes", .right = true},
                                      {.heading = "wavefronts", .right = true},
                                      {.heading = "conflicts", .right = true}},
                      7);
  const PtxCounts load = sum(totals, PTX_GLOBAL_LOAD, PTX_ASYNC_COPY),
                  reduce = sum(totals, PTX_GLOBAL_ATOMIC, PTX_GLOBAL_REDUCE),
                  store = sum(totals, PTX_SHARED_STORE, PTX_SHARED_ATOMIC),
                  local = sum(totals, PTX_LOCAL_LOAD, PTX_LOCAL_STORE);
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

uint64_t kernel_hbm_read_bytes(const KernelReport *r) {
  return r->traffic->counts.hbm_reads * SECTOR_BYTES + kernel_launch_bytes(ptx_n_instructions(r->launch->kernel));
}

typedef struct {
  Occupancy least, most;
  bool known; /* registers were given: one figure */
} OccupancyRange;

/* Of an SM of the GPU: with the registers that were given, else between all that a thread may have and few. */
static bool occupancy_range(const KernelLaunch *l, OccupancyRange *range) {
  const Gpu *gpu = &l->gpu;
  const int32_t *b = l->launch.block;
  const int64_t threads = (int64_t)b[0] * b[1] * b[2], given = l->request->registers,
                room = gpu->registers_per_sm / ((threads + 31) / 32 * 32) / 8 * 8,
                most = gpu->registers_per_thread < room ? gpu->registers_per_thread : room;
  LaunchConfig config = {.block_q = 1, .block_k = 1, .threads = threads};
  config.shared_bytes = ptx_kernel_static_shared(l->kernel) + l->launch.dynamic_shared_bytes;
  config.registers_per_thread = given ? given : most;
  if (launch_occupancy(&range->least, &config, gpu, NULL)) return false;
  if (!given) config.registers_per_thread = FEW_REGISTERS;
  range->known = given;
  return launch_occupancy(&range->most, &config, gpu, NULL) == STATUS_OK;
}

static void print_occupancy(const KernelReport *r, Io *io) {
  OccupancyRange o;
  if (!occupancy_range(r->launch, &o)) return;
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
  const PtxTotals *t = &r->result->totals;
  if (t->bulk_read_bytes || t->bulk_write_bytes)
    line(io, ROLE_PLAIN, "Bulk copies (counted): %s read, %s written.", number_bytes(t->bulk_read_bytes).text,
         number_bytes(t->bulk_write_bytes).text);
  if (!r->traffic) return;
  if (t->l1_load_sectors)
    line(io, ROLE_PLAIN, "L1 (predicted): %s of %s loaded sectors hit%s.",
         number_percent((double)t->l1_hit_sectors / (double)t->l1_load_sectors).text,
         number_count(t->l1_load_sectors).text,
         t->l1_reloaded_after_store
             ? "; some were stored shortly before, where the hardware follows no rule we know, and may miss"
             : "");
  const KernelTraffic *m = r->traffic;
  const LineL2Counts *c = &m->counts;
  if (c->reads)
    line(io, ROLE_PLAIN, "L2 of %s (predicted): %s read, of which %s hit; between %s and %s, as requests coincide.",
         r->launch->gpu.name, bytes_of(m->read_sectors).text, number_percent((double)c->hits / (double)c->reads).text,
         bytes_of(m->read_least_sectors).text, bytes_of(m->read_most_sectors).text);
  char most[160] = "";
  if (c->partly_written)
    snprintf(most, sizeof most, ", or up to %s where sectors stored in part are filled first",
             bytes_of(c->hbm_reads + c->partly_written).text);
  line(io, ROLE_PLAIN, "HBM (predicted): %s read%s; %s written, and up to %s more later, which L2 still holds.",
       number_bytes((Wide)kernel_hbm_read_bytes(r)).text, most, bytes_of(c->hbm_writes).text, bytes_of(c->dirty).text);
}

static void print_divergence(const KernelReport *r, const KernelLine *lines, int n, Io *io) {
  const PtxTotals *t = &r->result->totals;
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
  const OutputVerdict *v = r->verdict;
  if (!v) return;
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
  if (!r->launch->request->faults) return;
  for (int32_t f = 0; f < r->result->n_faults; f++) {
    const PtxFault *fault = &r->result->faults[f];
    line(io, ROLE_BAD, "%s: %s%s%s%s", fault->kind, fault->message, fault->count > 1 ? " (" : "",
         fault->count > 1 ? number_count(fault->count).text : "", fault->count > 1 ? " times)" : "");
  }
  if (!r->result->n_faults) line(io, ROLE_GOOD, "No faults found.");
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
  table_text(t, ROLE_ACCENT, name);
  if (sectors)
    table_bytes(t, ROLE_PLAIN, (Wide)sectors * SECTOR_BYTES);
  else
    table_empty(t, true);
  ratio_cell(t, sectors, requests, 16.5);
  if (sectors && k->asked_bytes) {
    const double used = (double)k->asked_bytes / ((double)sectors * SECTOR_BYTES);
    table_percent(t, used < 0.5 ? ROLE_WARN : ROLE_PLAIN, used > 1 ? 1 : used);
  } else
    table_empty(t, true);
  if (wavefronts)
    table_count(t, ROLE_PLAIN, wavefronts);
  else
    table_empty(t, true);
  if (wavefronts)
    table_count(t, conflicts * 4 > wavefronts ? ROLE_WARN : ROLE_PLAIN, conflicts);
  else
    table_empty(t, true);
  const double lanes = k->executed ? (double)k->lanes / (32 * (double)k->executed) : 0;
  table_percent(t, lanes < 0.5 ? ROLE_WARN : ROLE_PLAIN, lanes);
  table_text(t, ROLE_DIM, k->text);
}

static Status print_lines(const KernelReport *r, const KernelLine *lines, int n, Io *io, Error *error) {
  const int64_t most = r->launch->request->lines ? r->launch->request->lines : LINES_SHOWN;
  Table t = table_new((TableColumn[]){{.heading = "line", .right = true},
                                      {.heading = "bytes", .right = true},
                                      {.heading = "sectors /\nrequest", .csv = "sectors_a_request", .right = true},
                                      {.heading = "used", .right = true},
                                      {.heading = "wavefronts", .right = true},
                                      {.heading = "conflicts", .right = true},
                                      {.heading = "lanes", .right = true},
                                      {.heading = "source", .shrink = TABLE_CUT}},
                      8);
  const bool csv = r->launch->request->output.csv;
  int shown = 0;
  if (!csv) table_title(&t, "Source lines, the dearest first");
  for (int k = 0; k < n && (shown < most || csv); k++) {
    if (lines[k].cost <= 0) continue;
    line_row(&t, r->launch, &lines[k]);
    shown++;
  }
  if (!csv)
    table_note(&t, "Dear: sectors / 4 + wavefronts, the passes through L1. Bytes are sectors x 32 of global memory; "
                   "used: of them, those that lanes asked for; lanes: active ones.");
  const Status status = !shown ? STATUS_OK
                        : csv  ? table_csv(&t, io->out, error)
                               : table_print(&t, io->out, &io->style, error);
  table_free(&t);
  return status;
}

/* What to look at in the dearest line that wastes something. */
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
           "rows by a word, or swizzle them ('tilewalk warp --stride 32 --pad 1' shows how).",
           name, number_double(wavefronts / (wavefronts - conflicts), 3).text);
      return;
    }
    if (l->asked_bytes && moved > 2 * (double)l->asked_bytes) {
      line(io, ROLE_WARN,
           "Line %s moves %s bytes for each that its lanes ask for: let neighbouring lanes touch neighbouring words.",
           name, number_double(moved / (double)l->asked_bytes, 3).text);
      return;
    }
  }
}

Status kernel_print(const KernelReport *r, Io *io, Error *error) {
  int n;
  KernelLine *lines = kernel_lines(r->launch, r->result, &n);
  if (!lines) return error_set(error, STATUS_NO_MEMORY, "no memory for the table of lines");
  Status status = STATUS_OK;
  if (!r->launch->request->output.csv) {
    status = print_memories(r, io, error);
    fputc('\n', io->out);
    print_occupancy(r, io);
    print_traffic(r, io);
    print_divergence(r, lines, n, io);
    print_output(r, io);
    print_faults(r, io);
    for (int k = 0; k < r->launch->n_notes; k++) line(io, ROLE_DIM, "Note: %s.", r->launch->notes[k]);
    fputc('\n', io->out);
  }
  if (status == STATUS_OK) status = print_lines(r, lines, n, io, error);
  if (status == STATUS_OK && !r->launch->request->output.csv) print_advice(r, lines, n, io);
  free(lines);
  return status;
}

/* --- JSON --- */

#define INT(x) ((json_int_t)(x))

static json_t *global_json(const PtxCounts *c) {
  return json_pack("{s:I, s:I}", "requests", INT(c->requests), "sectors", INT(c->sectors));
}
static json_t *shared_json(const PtxCounts *c) {
  return json_pack("{s:I, s:I, s:I}", "requests", INT(c->requests), "wavefronts", INT(c->wavefronts), "conflicts",
                   INT(c->conflicts));
}

static json_t *lines_json(const KernelReport *r) {
  int n;
  KernelLine *lines = kernel_lines(r->launch, r->result, &n);
  json_t *array = lines ? json_array() : NULL;
  for (int k = 0; array && k < n; k++) {
    const KernelLine *l = &lines[k];
    const char *file = l->file ? ptx_source_file(r->launch->module, l->file) : NULL;
    json_t *one =
        json_pack("{s:i, s:s, s:s, s:{s:o, s:o, s:o}, s:{s:o, s:o}, s:o, s:I, s:I, s:I}", "line", l->line, "file",
                  file ? file : "", "text", l->text, "global", "load", global_json(&l->load), "store",
                  global_json(&l->store), "reduce", global_json(&l->reduce), "shared", "load",
                  shared_json(&l->shared_load), "store", shared_json(&l->shared_store), "local", global_json(&l->local),
                  "asked_bytes", INT(l->asked_bytes), "warps", INT(l->executed), "lanes", INT(l->lanes));
    if (!one || json_array_append_new(array, one)) {
      json_decref(array);
      array = NULL;
    }
  }
  free(lines);
  return array;
}

static json_t *faults_json(const KernelReport *r) {
  json_t *array = json_array();
  for (int32_t f = 0; array && f < r->result->n_faults; f++) {
    const PtxFault *fault = &r->result->faults[f];
    const PtxInstruction at = ptx_instruction(r->launch->kernel, fault->pc);
    const int32_t other = fault->other_pc >= 0 ? ptx_instruction(r->launch->kernel, fault->other_pc).line : 0;
    json_t *one = json_pack("{s:s, s:s, s:i, s:I}", "kind", fault->kind, "message", fault->message, "line",
                            at.line ? at.line : at.ptx_line, "count", INT(fault->count));
    if (one && other) json_object_set_new(one, "other_line", json_integer(other));
    json_array_append_new(array, one);
  }
  return array;
}

static json_t *output_json(const KernelReport *r) {
  const OutputSums s = kernel_output_sums(r->launch);
  if (r->launch->out < 0) return json_null();
  json_t *json =
      json_pack("{s:s, s:i}", "argument", r->launch->argument_names[r->launch->out], "number", r->launch->out);
  json_object_set_new(json, "sum", json_real(s.sum)); /* none where it is no number: JSON has no word for it */
  json_object_set_new(json, "weighted_sum", json_real(s.weighted_sum));
  json_object_set_new(json, "max", json_real(s.max));
  const OutputVerdict *v = r->verdict;
  if (!v) return json;
  json_object_set_new(json, "agrees", json_boolean(v->wrong < 0));
  json_object_set_new(json, "largest_error", json_real(v->largest_error));
  json_object_set_new(json, "tolerance", json_real(v->tolerance));
  if (v->wrong >= 0) {
    json_t *first = json_pack("{s:I, s:s}", "element", INT(v->wrong), "by", r->wrong_by);
    json_object_set_new(first, "is", json_real(v->is));
    json_object_set_new(first, "should", json_real(v->should));
    json_object_set_new(json, "wrong", json_integer(v->n_wrong));
    json_object_set_new(json, "first_wrong", first);
  }
  return json;
}

static json_t *dimensions_json(const int32_t d[3]) { return json_pack("[i, i, i]", d[0], d[1], d[2]); }

/* The figures of the caches; kinds beside them. */
static void add_caches(const KernelReport *r, json_t *json) {
  const PtxTotals *t = &r->result->totals;
  if (!r->traffic) return;
  json_t *l1 = json_pack("{s:s, s:I, s:I}", "kind", "predicted", "sectors_from_l2", INT(t->l1_sectors_from_l2),
                         "reloaded_after_store", INT(t->l1_reloaded_after_store));
  if (t->l1_load_sectors)
    json_object_set_new(l1, "hit_rate", json_real((double)t->l1_hit_sectors / (double)t->l1_load_sectors));
  const KernelTraffic *m = r->traffic;
  const LineL2Counts *c = &m->counts;
  json_t *l2 =
      json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "kind", "predicted", "gpu", r->launch->gpu.name,
                "read_sectors", INT(m->read_sectors), "read_sectors_low", INT(m->read_least_sectors),
                "read_sectors_high", INT(m->read_most_sectors), "write_sectors", INT(c->writes), "reduce_sectors",
                INT(c->reductions), "fabric_sectors", INT(c->fabric), "in_parts", (int)m->in_parts);
  if (c->reads) json_object_set_new(l2, "hit_rate", json_real((double)c->hits / (double)c->reads));
  const uint64_t read = kernel_hbm_read_bytes(r);
  json_t *hbm =
      json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "kind", "predicted", "read_bytes", INT(read), "read_bytes_high",
                INT(read + c->partly_written * SECTOR_BYTES), "write_bytes", INT(c->hbm_writes * SECTOR_BYTES),
                "write_bytes_high", INT((c->hbm_writes + c->dirty) * SECTOR_BYTES), "least_read_bytes",
                INT(t->distinct_pairs * PAIR_BYTES));
  json_object_set_new(json, "l1", l1);
  json_object_set_new(json, "l2", l2);
  json_object_set_new(json, "hbm", hbm);
}

Status kernel_print_json(const KernelReport *r, FILE *out, Error *error) {
  const PtxTotals *t = &r->result->totals;
  const PtxLaunch *launch = &r->launch->launch;
  const PtxCounts load = sum(t, PTX_GLOBAL_LOAD, PTX_ASYNC_COPY), reduce = sum(t, PTX_GLOBAL_ATOMIC, PTX_GLOBAL_REDUCE),
                  store = sum(t, PTX_SHARED_STORE, PTX_SHARED_ATOMIC);
  json_t *json = json_pack("{s:i, s:s, s:s, s:o, s:o, s:I, s:b}", "tilewalk", 1, "kernel", r->launch->name, "entry",
                           ptx_entry_name(r->launch->module, r->launch->entry), "grid", dimensions_json(launch->grid),
                           "block", dimensions_json(launch->block), "dynamic_shared_bytes",
                           INT(launch->dynamic_shared_bytes), "by_clang", (int)r->launch->by_clang);
  if (!json) return error_set(error, STATUS_NO_MEMORY, "no memory for the output");
  json_object_set_new(json, "global",
                      json_pack("{s:s, s:o, s:o, s:o}", "kind", "counted", "load", global_json(&load), "store",
                                global_json(&t->by_kind[PTX_GLOBAL_STORE]), "reduce", global_json(&reduce)));
  json_object_set_new(json, "shared",
                      json_pack("{s:s, s:o, s:o}", "kind", "counted", "load", shared_json(&t->by_kind[PTX_SHARED_LOAD]),
                                "store", shared_json(&store)));
  json_object_set_new(json, "local",
                      json_pack("{s:s, s:o, s:o}", "kind", "counted", "load", global_json(&t->by_kind[PTX_LOCAL_LOAD]),
                                "store", global_json(&t->by_kind[PTX_LOCAL_STORE])));
  json_object_set_new(json, "bulk",
                      json_pack("{s:s, s:I, s:I}", "kind", "counted", "read_bytes", INT(t->bulk_read_bytes),
                                "write_bytes", INT(t->bulk_write_bytes)));
  json_object_set_new(json, "branches",
                      json_pack("{s:I, s:I}", "taken", INT(t->branches), "divergent", INT(t->divergent_branches)));
  add_caches(r, json);
  OccupancyRange o;
  if (occupancy_range(r->launch, &o))
    json_object_set_new(json, "occupancy",
                        json_pack("{s:s, s:I, s:I, s:f, s:f, s:s}", "kind", "bound", "blocks_low",
                                  INT(o.least.ctas_per_sm), "blocks_high", INT(o.most.ctas_per_sm), "warps_low",
                                  o.least.warps_fraction, "warps_high", o.most.warps_fraction, "binds",
                                  occupancy_limit_name(o.most.binds)));
  json_object_set_new(json, "lines", lines_json(r));
  json_object_set_new(json, "faults", faults_json(r));
  json_object_set_new(json, "output", output_json(r));
  json_t *notes = json_array();
  for (int k = 0; notes && k < r->launch->n_notes; k++) json_array_append_new(notes, json_string(r->launch->notes[k]));
  json_object_set_new(json, "notes", notes);
  Document d = document_new(DOCUMENT_JSON);
  put_members(&d, json);
  const Status status = document_print(&d, out, NULL, error);
  document_free(&d);
  return status;
}
