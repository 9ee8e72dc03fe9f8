#include "viz/kernel/kernel_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text_add.h"
#include "viz/kernel/kernel_lines.h"

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
  if (status == STATUS_OK) status = ptx_run(l->kernel, &launch, &result, error);
  if (status == STATUS_OK && result.watch_pc < 0)
    snprintf(r->wrong_by, sizeof r->wrong_by, "nobody");
  else if (status == STATUS_OK) {
    const PtxInstruction at = ptx_instruction(l->kernel, result.watch_pc);
    snprintf(r->wrong_by, sizeof r->wrong_by, "line %d, thread %d of block %lld", at.line ? at.line : at.ptx_line,
             result.watch_thread, (long long)result.watch_block);
  }
  ptx_result_free(&result);
  return status;
}

/* Faults are looked for in a run of its own: of code in which no loads are merged, as each keeps its line. Where the
 * plain run broke off, the counts are this one's. */
static Status find_faults(KernelReport *r, PtxLaunch launch, Error *error) {
  PtxResult result = {0};
  launch.faults = true, launch.l1 = false;
  Status status = kernel_launch_refill(r->launch, error);
  if (status == STATUS_OK) status = ptx_run(r->launch->kernel, &launch, &result, error);
  if (status == STATUS_OK && r->is_broken) {
    ptx_result_free(&r->result);
    r->result = result;
    return STATUS_OK;
  }
  memcpy(r->result.faults, result.faults, sizeof result.faults);
  r->result.n_faults = result.n_faults;
  ptx_result_free(&result);
  return status;
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
  if (launch.faults) launch.print = NULL, launch.faults = false;
  if (status) return status;
  status = ptx_run(l->kernel, &launch, &r->result, error);
  r->is_broken = l->launch.faults && status == STATUS_BAD_REQUEST;
  if (r->is_broken) r->has_caches = false;
  if (l->launch.faults && (!status || r->is_broken)) status = find_faults(r, l->launch, error);
  if (status) return status;
  if (r->has_caches) kernel_traffic_finish(&r->traffic);
  kernel_output_find(l);
  r->is_judged = l->request->like[0] != '\0';
  if (r->is_judged) status = kernel_output_judge(l, &r->verdict, error);
  if (status == STATUS_OK && r->is_judged && r->verdict.wrong >= 0) status = find_writer(r, error);
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
             "It is not attention: %lld of %lld elements of O are wrong; the first was last written by %s.",
             (long long)v->n_wrong, (long long)v->n, r->wrong_by);
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

static void open_object(const ReportSink *k, const char *key) { k->open_object(k->context, key); }

static void end(const ReportSink *k) { k->close(k->context); }

static void text(const ReportSink *k, const char *key, const char *value) { k->text(k->context, key, value); }

static void whole(const ReportSink *k, const char *key, uint64_t value) { k->whole(k->context, key, value); }

static void figure(const ReportSink *k, const char *key, double value) { /* JSON has no word for what is no number */
  if (isfinite(value)) k->real(k->context, key, value);
}

static void open_kind(const ReportSink *k, const char *key, const char *kind) {
  open_object(k, key);
  text(k, "kind", kind);
}

static void put_global(const ReportSink *k, const char *key, const PtxCounts *c) {
  open_object(k, key);
  whole(k, "requests", c->requests), whole(k, "sectors", c->sectors);
  end(k);
}

static void put_shared(const ReportSink *k, const char *key, const PtxCounts *c) {
  open_object(k, key);
  whole(k, "requests", c->requests), whole(k, "wavefronts", c->wavefronts), whole(k, "conflicts", c->conflicts);
  end(k);
}

static void put_launch(const KernelReport *r, const ReportSink *k) {
  const PtxLaunch *launch = &r->launch->launch;
  text(k, "kernel", r->launch->name);
  text(k, "entry", ptx_entry_name(r->launch->module, r->launch->entry));
  for (int which = 0; which < 2; which++) {
    k->open_array(k->context, which ? "block" : "grid");
    for (int d = 0; d < 3; d++) whole(k, NULL, (uint64_t)(which ? launch->block : launch->grid)[d]);
    end(k);
  }
  whole(k, "dynamic_shared_bytes", (uint64_t)launch->dynamic_shared_bytes);
  k->flag(k->context, "by_clang", r->launch->by_clang);
}

static void put_counts(const KernelReport *r, const ReportSink *k) {
  const PtxTotals *t = &r->result.totals;
  const PtxCounts load = kernel_counts(t, PTX_GLOBAL_LOAD, PTX_ASYNC_COPY),
                  reduce = kernel_counts(t, PTX_GLOBAL_ATOMIC, PTX_GLOBAL_REDUCE),
                  store = kernel_counts(t, PTX_SHARED_STORE, PTX_SHARED_ATOMIC);
  open_kind(k, "global", "counted");
  put_global(k, "load", &load), put_global(k, "store", &t->by_kind[PTX_GLOBAL_STORE]), put_global(k, "reduce", &reduce);
  end(k);
  open_kind(k, "shared", "counted");
  put_shared(k, "load", &t->by_kind[PTX_SHARED_LOAD]), put_shared(k, "store", &store);
  end(k);
  open_kind(k, "local", "counted");
  put_global(k, "load", &t->by_kind[PTX_LOCAL_LOAD]), put_global(k, "store", &t->by_kind[PTX_LOCAL_STORE]);
  end(k);
  open_kind(k, "bulk", "counted");
  whole(k, "read_bytes", t->bulk_read_bytes), whole(k, "write_bytes", t->bulk_write_bytes);
  end(k);
  open_object(k, "branches");
  whole(k, "executed", t->branches), whole(k, "taken", t->taken_branches), whole(k, "divergent", t->divergent_branches);
  end(k);
}

static void put_caches(const KernelReport *r, const ReportSink *k) {
  const PtxTotals *t = &r->result.totals;
  const KernelTraffic *m = &r->traffic;
  const LineL2Counts *c = &m->counts;
  const uint64_t read = kernel_hbm_read_bytes(r);
  open_kind(k, "l1", "predicted");
  whole(k, "sectors_from_l2", t->l1_sectors_from_l2), whole(k, "reloaded_after_store", t->l1_reloaded_after_store);
  if (t->l1_load_sectors) figure(k, "hit_rate", (double)t->l1_hit_sectors / (double)t->l1_load_sectors);
  end(k);
  open_kind(k, "l2", "predicted");
  text(k, "gpu", r->launch->gpu.name);
  whole(k, "read_sectors", m->read_sectors);
  whole(k, "read_sectors_low", m->read_least_sectors), whole(k, "read_sectors_high", m->read_most_sectors);
  whole(k, "write_sectors", c->writes), whole(k, "reduce_sectors", c->reductions);
  whole(k, "fabric_sectors", c->fabric);
  k->flag(k->context, "in_parts", m->in_parts);
  if (c->reads) figure(k, "hit_rate", (double)c->hits / (double)c->reads);
  end(k);
  open_kind(k, "hbm", "predicted");
  whole(k, "read_bytes", read), whole(k, "read_bytes_high", read + c->partly_written * SECTOR_BYTES);
  whole(k, "write_bytes", c->hbm_writes * SECTOR_BYTES);
  whole(k, "write_bytes_high", (c->hbm_writes + c->dirty) * SECTOR_BYTES);
  whole(k, "least_read_bytes", t->distinct_pairs * PAIR_BYTES);
  end(k);
}

static void put_occupancy(const KernelReport *r, const ReportSink *k) {
  OccupancyRange o;
  if (!kernel_occupancy(r->launch, &o)) return;
  open_kind(k, "occupancy", "bound");
  whole(k, "blocks_low", (uint64_t)o.least.ctas_per_sm), whole(k, "blocks_high", (uint64_t)o.most.ctas_per_sm);
  figure(k, "warps_low", o.least.warps_fraction), figure(k, "warps_high", o.most.warps_fraction);
  text(k, "binds", occupancy_limit_name(o.most.binds));
  end(k);
}

static void put_line(const KernelReport *r, const ReportSink *k, const KernelLine *l) {
  const char *file = l->file ? ptx_source_file(r->launch->module, l->file) : NULL;
  if (file && r->launch->by_clang && l->file == kernel_main_file(r->launch)) /* clang saw a copy */
    file = r->launch->request->file;
  open_object(k, NULL);
  whole(k, "line", (uint64_t)l->line);
  text(k, "file", file ? file : "");
  text(k, "text", l->text);
  open_object(k, "global");
  put_global(k, "load", &l->load), put_global(k, "store", &l->store), put_global(k, "reduce", &l->reduce);
  end(k);
  open_object(k, "shared");
  put_shared(k, "load", &l->shared_load), put_shared(k, "store", &l->shared_store);
  end(k);
  put_global(k, "local", &l->local);
  whole(k, "asked_bytes", l->asked_bytes), whole(k, "warps", l->executed), whole(k, "lanes", l->lanes);
  end(k);
}

static void put_faults(const KernelReport *r, const ReportSink *k) {
  k->open_array(k->context, "faults");
  for (int32_t f = 0; f < r->result.n_faults; f++) {
    const PtxFault *fault = &r->result.faults[f];
    const PtxInstruction at = ptx_instruction(r->launch->kernel, fault->pc);
    const int32_t other = fault->other_pc >= 0 ? ptx_instruction(r->launch->kernel, fault->other_pc).line : 0;
    open_kind(k, NULL, fault->kind);
    text(k, "message", fault->message);
    whole(k, "line", (uint64_t)(at.line ? at.line : at.ptx_line));
    whole(k, "count", fault->count);
    if (other) whole(k, "other_line", (uint64_t)other);
    end(k);
  }
  end(k);
}

static void put_output(const KernelReport *r, const ReportSink *k) {
  const OutputSums s = kernel_output_sums(r->launch);
  const OutputVerdict *v = &r->verdict;
  if (r->launch->out < 0) {
    k->null(k->context, "output");
    return;
  }
  open_object(k, "output");
  text(k, "argument", r->launch->argument_names[r->launch->out]);
  whole(k, "number", (uint64_t)r->launch->out);
  figure(k, "sum", s.sum), figure(k, "weighted_sum", s.weighted_sum), figure(k, "max", s.max);
  if (r->is_judged) {
    k->flag(k->context, "agrees", v->wrong < 0);
    figure(k, "largest_error", v->largest_error), figure(k, "tolerance", v->tolerance);
  }
  if (r->is_judged && v->wrong >= 0) {
    whole(k, "wrong", (uint64_t)v->n_wrong);
    open_object(k, "first_wrong");
    whole(k, "element", (uint64_t)v->wrong);
    text(k, "by", r->wrong_by);
    figure(k, "is", v->is), figure(k, "should", v->should);
    end(k);
  }
  end(k);
}

Status kernel_report_put(const KernelReport *r, const ReportSink *k, Error *error) {
  int n;
  KernelLine *lines = kernel_lines(r->launch, &r->result, &n);
  if (!lines) return error_no_memory(error, "for the table of lines");
  char verdict[KERNEL_VERDICT_BYTES];
  kernel_report_verdict(r, lines, n, verdict);
  text(k, "verdict", verdict);
  put_launch(r, k);
  put_counts(r, k);
  if (r->has_caches) put_caches(r, k);
  put_occupancy(r, k);
  k->open_array(k->context, "lines");
  for (int line = 0; line < n; line++) put_line(r, k, &lines[line]);
  end(k);
  put_faults(r, k);
  put_output(r, k);
  k->open_array(k->context, "notes");
  for (int note = 0; note < r->launch->n_notes; note++) text(k, NULL, r->launch->notes[note]);
  end(k);
  free(lines);
  return STATUS_OK;
}
