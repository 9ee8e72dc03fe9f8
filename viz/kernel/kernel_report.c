#include "viz/kernel/kernel_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/text_add.h"

enum { SECTOR_BYTES = 32, PAIR_BYTES = 64, FEW_REGISTERS = 16 };

/* ---- the run ---- */

/* Who wrote the first wrong element last: the launch once more, with an eye on its address. */
static Status find_writer(KernelReport *r, Error *error) {
  KernelLaunch *l = r->launch;
  PtxResult result = {0};
  PtxLaunch launch = l->launch;
  launch.watch =
      ptx_buffer_address(&launch, l->out) + (uint64_t)(r->verdict.wrong * spec_type_bytes(l->specs[l->out].type));
  launch.faults = launch.l1 = false;
  launch.print = NULL;
  Status status = kernel_launch_refill(l, error);
  if (!status) status = ptx_run(l->kernel, &launch, &result, error);
  if (!status && result.watch_pc < 0)
    snprintf(r->wrong_by, sizeof r->wrong_by, "nobody");
  else if (!status) {
    const PtxInstruction at = ptx_instruction(l->kernel, result.watch_pc);
    snprintf(r->wrong_by, sizeof r->wrong_by, "line %d, thread %d of block %lld", at.line ? at.line : at.ptx_line,
             result.watch_thread, (long long)result.watch_block);
  }
  ptx_result_free(&result);
  return status;
}

/* The plain run's own buffers. False: no memory. */
static bool copy_buffers(const KernelLaunch *l, PtxArgument own[KERNEL_ARGUMENTS_MAX]) {
  bool fits = true;
  memcpy(own, l->arguments, sizeof l->arguments);
  for (int a = 0; a < l->n; a++) {
    own[a].bytes = calloc(1, (size_t)own[a].n_bytes + 16);
    if (own[a].bytes) memcpy(own[a].bytes, l->arguments[a].bytes, (size_t)own[a].n_bytes);
    fits &= own[a].bytes != NULL;
  }
  return fits;
}

/* Faults are looked for in a run of its own, of code in which no loads are merged, as each keeps its line: both at
 * once, on two cores. Where the plain run breaks off, the counts are the other's. */
static Status run_both(KernelReport *r, PtxLaunch plain, Error *error) {
  const KernelLaunch *l = r->launch;
  PtxArgument own[KERNEL_ARGUMENTS_MAX];
  PtxLaunch launches[2] = {plain, l->launch};
  PtxResult results[2] = {{.counts = NULL}};
  Error errors[2] = {{0}, {0}};
  launches[0].arguments = own, launches[0].faults = false, launches[0].print = NULL, launches[0].progress = NULL;
  launches[1].l1 = false;
  if (copy_buffers(l, own)) {
#pragma omp parallel for schedule(static, 1)
    for (int k = 0; k < 2; k++) ptx_run(l->kernel, &launches[k], &results[k], &errors[k]);
  } else {
    error_no_memory(&errors[1], "for the launch");
  }
  for (int a = 0; a < l->n; a++) free(own[a].bytes);
  r->is_broken = errors[0].status == STATUS_BAD_REQUEST;
  const Error *worse = &errors[r->is_broken || !errors[0].status];
  r->result = results[r->is_broken];
  memcpy(r->result.faults, results[1].faults, sizeof r->result.faults);
  r->result.n_faults = results[1].n_faults;
  ptx_result_free(&results[!r->is_broken]);
  return error_pass(error, worse);
}

Status kernel_report_make(KernelReport *r, KernelLaunch *l, Error *error) {
  const int32_t *g = l->launch.grid;
  PtxLaunch launch = l->launch;
  memset(r, 0, sizeof *r);
  r->launch = l, r->has_caches = launch.l1;
  Status status =
      r->has_caches ? kernel_traffic_new(&r->traffic, &l->gpu, (uint64_t)g[0] * (uint64_t)g[1] * (uint64_t)g[2], error)
                    : STATUS_OK;
  launch.sink = kernel_traffic_take, launch.sink_context = &r->traffic;
  if (status) return status;
  status = launch.faults ? run_both(r, launch, error) : ptx_run(l->kernel, &launch, &r->result, error);
  if (r->is_broken) r->has_caches = false;
  if (status) return status;
  if (r->has_caches) kernel_traffic_finish(&r->traffic);
  kernel_output_find(l);
  r->is_judged = l->request->like[0] != '\0';
  if (r->is_judged) status = kernel_output_judge(l, &r->verdict, error);
  if (!status && r->is_judged && r->verdict.wrong >= 0) status = find_writer(r, error);
  return status;
}

void kernel_report_free(KernelReport *r) {
  ptx_result_free(&r->result);
  kernel_traffic_free(&r->traffic);
}

bool kernel_report_is_bad(const KernelReport *r) {
  return r->result.n_faults > 0 || (r->is_judged && r->verdict.wrong >= 0);
}

void kernel_report_verdict(const KernelReport *r, const KernelLine *lines, int n, char text[KERNEL_VERDICT_BYTES]) {
  const OutputVerdict *v = &r->verdict;
  const PtxFault *fault = r->result.faults;
  uint64_t all = 0, most = 0;
  int worst = 0;
  for (int k = 0; k < n; k++) {
    const uint64_t sectors = lines[k].load.sectors + lines[k].store.sectors + lines[k].reduce.sectors;
    all += sectors;
    if (sectors > most) most = sectors, worst = k;
  }
  text[0] = '\0';
  if (r->result.n_faults > 0) {
    snprintf(text, KERNEL_VERDICT_BYTES, fault->count > 1 ? "%s: %s (%llu times)" : "%s: %s", fault->kind,
             fault->message, (unsigned long long)fault->count);
    return;
  }
  if (r->launch->launch.faults) text_add(text, KERNEL_VERDICT_BYTES, "No fault in this run. ");
  if (r->is_judged && v->wrong >= 0) {
    text_add(text, KERNEL_VERDICT_BYTES,
             "It is not attention: %lld of %lld elements of O are wrong; %s%s the first was last written by %s.",
             (long long)v->n_wrong, (long long)v->n, v->equation ? v->equation : "", v->equation ? ";" : "",
             r->wrong_by);
    return;
  }
  if (r->is_judged) text_add(text, KERNEL_VERDICT_BYTES, "It is attention. ");
  if (!most) return;
  char name[64];
  kernel_line_name(r->launch, &lines[worst], name, sizeof name);
  text_add(text, KERNEL_VERDICT_BYTES, "Line %s moves %.0f %% of the bytes.", name, 100 * (double)most / (double)all);
}

/* ---- figures ---- */

PtxCounts kernel_counts(const PtxTotals *t, PtxRequestKind a, PtxRequestKind b) {
  PtxCounts c = t->by_kind[a];
  if (a != b) ptx_counts_add(&c, &t->by_kind[b]);
  return c;
}

uint64_t kernel_hbm_read_bytes(const KernelReport *r) {
  return r->traffic.counts.hbm_reads * SECTOR_BYTES + kernel_launch_bytes(ptx_n_instructions(r->launch->kernel));
}

bool kernel_occupancy(const KernelLaunch *l, OccupancyRange *range) {
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

/* ---- by keys ---- */

static void put_global(const ReportSink *k, const char *key, const PtxCounts *c) {
  report_values(k, "%{requests:u sectors:u}", key, c->requests, c->sectors);
}

static void put_shared(const ReportSink *k, const char *key, const PtxCounts *c) {
  report_values(k, "%{requests:u wavefronts:u conflicts:u}", key, c->requests, c->wavefronts, c->conflicts);
}

static void put_counts(const KernelReport *r, const ReportSink *k) {
  const PtxTotals *t = &r->result.totals;
  const PtxCounts load = kernel_counts(t, PTX_GLOBAL_LOAD, PTX_ASYNC_COPY),
                  reduce = kernel_counts(t, PTX_GLOBAL_ATOMIC, PTX_GLOBAL_REDUCE),
                  store = kernel_counts(t, PTX_SHARED_STORE, PTX_SHARED_ATOMIC);
  report_values(k, "global{kind:s", "counted");
  put_global(k, "load", &load), put_global(k, "store", &t->by_kind[PTX_GLOBAL_STORE]), put_global(k, "reduce", &reduce);
  report_values(k, "} shared{kind:s", "counted");
  put_shared(k, "load", &t->by_kind[PTX_SHARED_LOAD]), put_shared(k, "store", &store);
  report_values(k, "} local{kind:s", "counted");
  put_global(k, "load", &t->by_kind[PTX_LOCAL_LOAD]), put_global(k, "store", &t->by_kind[PTX_LOCAL_STORE]);
  report_values(k, "} bulk{kind:s read_bytes:u write_bytes:u} branches{executed:u taken:u divergent:u}", "counted",
                t->bulk_read_bytes, t->bulk_write_bytes, t->branches, t->taken_branches, t->divergent_branches);
}

static double part_of(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : (double)NAN; }

static void put_caches(const KernelReport *r, const ReportSink *k) {
  const PtxTotals *t = &r->result.totals;
  const KernelTraffic *m = &r->traffic;
  const LineL2Counts *c = &m->counts;
  const uint64_t read = kernel_hbm_read_bytes(r);
  report_values(k, "l1{kind:s sectors_from_l2:u reloaded_after_store:u hit_rate:r}", "predicted", t->l1_sectors_from_l2,
                t->l1_reloaded_after_store, part_of(t->l1_hit_sectors, t->l1_load_sectors));
  report_values(k, "l2{kind:s gpu:s read_sectors:u read_sectors_low:u read_sectors_high:u", "predicted",
                r->launch->gpu.name, m->read_sectors, m->read_least_sectors, m->read_most_sectors);
  report_values(k, "write_sectors:u reduce_sectors:u fabric_sectors:u in_parts:b hit_rate:r}", c->writes, c->reductions,
                c->fabric, m->in_parts, part_of(c->hits, c->reads));
  report_values(k, "hbm{kind:s read_bytes:u read_bytes_high:u write_bytes:u write_bytes_high:u least_read_bytes:u}",
                "predicted", read, read + c->partly_written * SECTOR_BYTES, c->hbm_writes * SECTOR_BYTES,
                (c->hbm_writes + c->dirty) * SECTOR_BYTES, t->distinct_pairs * PAIR_BYTES);
}

static void put_line(const KernelReport *r, const ReportSink *k, const KernelLine *l) {
  const char *file = l->file ? ptx_source_file(r->launch->module, l->file) : NULL;
  if (file && r->launch->by_clang && l->file == kernel_main_file(r->launch)) /* clang saw a copy */
    file = r->launch->request->file;
  report_values(k, "{line:n file:s text:s global{", l->line, file ? file : "", l->text);
  put_global(k, "load", &l->load), put_global(k, "store", &l->store), put_global(k, "reduce", &l->reduce);
  report_values(k, "} shared{");
  put_shared(k, "load", &l->shared_load), put_shared(k, "store", &l->shared_store);
  report_values(k, "}");
  put_global(k, "local", &l->local);
  report_values(k, "asked_bytes:u warps:u lanes:u}", l->asked_bytes, l->executed, l->lanes);
}

static void put_fault(const KernelReport *r, const ReportSink *k, const PtxFault *fault) {
  const PtxInstruction at = ptx_instruction(r->launch->kernel, fault->pc);
  const int32_t other = fault->other_pc >= 0 ? ptx_instruction(r->launch->kernel, fault->other_pc).line : 0;
  report_values(k, "{kind:s message:s line:n count:u", fault->kind, fault->message, at.line ? at.line : at.ptx_line,
                fault->count);
  report_values(k, other ? "other_line:n}" : "}", other);
}

static void put_output(const KernelReport *r, const ReportSink *k) {
  const OutputSums s = kernel_output_sums(r->launch);
  const OutputVerdict *v = &r->verdict;
  const int out = r->launch->out;
  report_values(k, out < 0 ? "output:0" : "output{");
  if (out < 0) return;
  report_values(k, "argument:s number:n sum:r weighted_sum:r max:r", r->launch->argument_names[out], out, s.sum,
                s.weighted_sum, s.max);
  if (r->is_judged)
    report_values(k, "agrees:b largest_error:r tolerance:r", v->wrong < 0, v->largest_error, v->tolerance);
  if (r->is_judged && v->wrong >= 0)
    report_values(k, "wrong:i first_wrong{element:i by:s is:r should:r}", (int64_t)v->n_wrong, (int64_t)v->wrong,
                  r->wrong_by, v->is, v->should);
  report_values(k, "}");
}

Status kernel_report_put(const KernelReport *r, const ReportSink *k, Error *error) {
  int n;
  KernelLine *lines = kernel_lines(r->launch, &r->result, &n);
  if (!lines) return error_no_memory(error, "for the table of lines");
  const PtxLaunch *l = &r->launch->launch;
  OccupancyRange o;
  char verdict[KERNEL_VERDICT_BYTES];
  kernel_report_verdict(r, lines, n, verdict);
  report_values(k, "verdict:s kernel:s entry:s grid[:n :n :n] block[:n :n :n]", verdict, r->launch->name,
                ptx_entry_name(r->launch->module, r->launch->entry), l->grid[0], l->grid[1], l->grid[2], l->block[0],
                l->block[1], l->block[2]);
  report_values(k, "dynamic_shared_bytes:i by_clang:b", (int64_t)l->dynamic_shared_bytes, r->launch->by_clang);
  put_counts(r, k);
  if (r->has_caches) put_caches(r, k);
  if (kernel_occupancy(r->launch, &o))
    report_values(k, "occupancy{kind:s blocks_low:i blocks_high:i warps_low:r warps_high:r binds:s}", "bound",
                  o.least.ctas_per_sm, o.most.ctas_per_sm, o.least.warps_fraction, o.most.warps_fraction,
                  occupancy_limit_name(o.most.binds));
  report_values(k, "lines[");
  for (int line = 0; line < n; line++) put_line(r, k, &lines[line]);
  report_values(k, "] faults[");
  for (int32_t f = 0; f < r->result.n_faults; f++) put_fault(r, k, &r->result.faults[f]);
  report_values(k, "]");
  put_output(r, k);
  report_values(k, "notes[");
  for (int note = 0; note < r->launch->n_notes; note++) report_values(k, ":s", r->launch->notes[note]);
  report_values(k, "]");
  free(lines);
  return STATUS_OK;
}
