#include "sim/report.h"

#include <math.h>
#include <stddef.h>

#include "sim/problem/pattern.h"

enum { REPORT_VERSION = 1 };

/* How far a side of the window reaches; no limit is null. */
static void report_side(const ReportSink *k, const char *key, const Shape *s, int64_t side, int64_t other) {
  const int64_t reach = s->sided ? side : s->window > 0 ? other : -1;
  if (reach < 0)
    k->null(k->context, key);
  else
    k->whole(k->context, key, wide(reach));
}

void report_shape(const ReportSink *k, const char *key, const Shape *given) {
  const Shape as_asked = shape_unpacked(given), *shape = &as_asked;
  k->open_object(k->context, key);
  k->whole(k->context, "batch", wide(shape->batch));
  k->whole(k->context, "heads", wide(shape->heads));
  k->whole(k->context, "kv_heads", wide(shape->kv_heads));
  k->whole(k->context, "seq_q", wide(shape->N_q));
  k->whole(k->context, "seq_k", wide(shape->N_k));
  k->whole(k->context, "head_dim", wide(shape->d));
  k->whole(k->context, "head_dim_v", wide(shape->d_v ? shape->d_v : shape->d));
  k->text(k->context, "dtype", dtype_name(shape->dtype));
  k->flag(k->context, "v_in_k", shape->v_in_k);
  k->text(k->context, "kv_dtype", dtype_name(shape->has_kv_dtype ? shape->kv_dtype : shape->dtype));
  k->flag(k->context, "causal", shape->causal);
  k->whole(k->context, "window", wide(shape->window));
  report_side(k, "window_left", shape, shape->left, shape->window - 1);
  report_side(k, "window_right", shape, shape->causal && shape->right != 0 ? 0 : shape->right,
              shape->causal ? 0 : shape->window - 1);
  if (shape->pattern) k->text(k->context, "mask", shape->pattern->name);
  k->text(k->context, "aligned", shape->top_left ? "top-left" : "bottom-right");
  k->close(k->context);
}

static void report_sram(const ReportSink *k, const Simulation *run) {
  k->open_object(k->context, "sram");
  k->whole(k->context, "bytes", run->sram.bytes);
  k->whole(k->context, "capacity_bytes", wide(run->machine.sram_bytes));
  static const char *const HELD[HELD_COUNT] = {"nowhere", "sram", "registers", "tensor-memory", "kernel"};
  k->flag(k->context, "fits", run->fits);
  k->text(k->context, "held", HELD[run->held]);
  k->whole(k->context, "max_block", wide(run->max_block));
  k->open_object(k->context, "items");
  for (int t = 0; t < run->schedule->n_values; t++) {
    const ProgramTensor *tensor = &run->schedule->tensors[t];
    if (tensor->is_listed || run->sram.of[t]) k->whole(k->context, tensor->text, run->sram.of[t]);
  }
  k->close(k->context);
  k->close(k->context);
}

static void report_tiles(const ReportSink *k, const Simulation *run) {
  const Wide *tiles = run->traffic.tiles;
  k->open_object(k->context, "tiles");
  k->whole(k->context, "total", tiles[TILE_FULL] + tiles[TILE_PARTIAL] + tiles[TILE_SKIPPED]);
  k->whole(k->context, "full", tiles[TILE_FULL]);
  k->whole(k->context, "partial", tiles[TILE_PARTIAL]);
  k->whole(k->context, "skipped", tiles[TILE_SKIPPED]);
  k->close(k->context);
  k->open_object(k->context, "loads_per_block");
  for (int t = 0; t < run->schedule->n_tensors; t++)
    if (run->schedule->tensors[t].role == TENSOR_INPUT)
      k->whole(k->context, run->schedule->tensors[t].text, wide(run->loads.of[t]));
  k->close(k->context);
}

static void report_tensors(const ReportSink *k, const char *key, const Schedule *s, const Wide *bytes) {
  k->open_object(k->context, key);
  for (int t = 0; t < s->n_tensors; t++) k->whole(k->context, s->tensors[t].text, bytes[t]);
  k->close(k->context);
}

static void report_totals(const ReportSink *k, const Simulation *run) {
  k->whole(k->context, "read_bytes", run->read_bytes);
  k->whole(k->context, "write_bytes", run->write_bytes);
  k->whole(k->context, "total_bytes", run->total_bytes);
}

static void report_traffic(const ReportSink *k, const Simulation *run) {
  k->open_object(k->context, "traffic");
  report_tensors(k, "read", run->schedule, run->traffic.read);
  report_tensors(k, "write", run->schedule, run->traffic.write);
  if (run->traffic.added) k->whole(k->context, "added_bytes", run->traffic.added);
  report_totals(k, run);
  k->close(k->context);
}

static void report_l2(const ReportSink *k, const Simulation *run) {
  k->open_object(k->context, "l2");
  k->whole(k->context, "read_bytes", (Wide)(run->l2.read_bytes + 0.5));
  k->whole(k->context, "write_bytes", (Wide)(run->l2.write_bytes + 0.5));
  k->real(k->context, "not_hbm_share", simulation_l2_share(run));
  k->real(k->context, "hit_rate", l2_run_hit_rate(&run->l2));
  k->whole(k->context, "fabric_bytes", (Wide)(run->l2.fabric_bytes + 0.5));
  k->close(k->context);
}

/* Without a model of L2 every byte that crosses the SRAM boundary is a byte of HBM traffic. With one, what is written
 * and still in L2 when the kernel ends counts as written to HBM: sooner or later it is. */
static void report_levels(const ReportSink *k, const Simulation *run) {
  k->open_object(k->context, "hbm");
  if (run->has_l2) {
    const Wide read = (Wide)(run->l2.hbm_read_bytes + 0.5), written = (Wide)(simulation_hbm_write_bytes(run) + 0.5);
    k->whole(k->context, "read_bytes", read);
    k->whole(k->context, "write_bytes", written);
    k->whole(k->context, "total_bytes", read + written);
  } else {
    report_totals(k, run);
  }
  k->close(k->context);
  if (!run->has_l2) {
    k->null(k->context, "l2");
    if (run->timed && run->machine.l2_bytes > 0) k->flag(k->context, "hbm_is_upper_bound", true);
  }
  if (!run->has_launch) {
    k->null(k->context, "launch");
    return;
  }
  if (run->has_l2) report_l2(k, run);
  if (run->has_chiplets) {
    k->open_object(k->context, "chiplets");
    k->whole(k->context, "read_bytes", (Wide)(run->chiplets.read_bytes + 0.5));
    k->whole(k->context, "missed_bytes", (Wide)(run->chiplets.missed_bytes + 0.5));
    k->real(k->context, "hit_rate", chiplets_hit_rate(&run->chiplets));
    k->close(k->context);
  }
  k->open_object(k->context, "launch");
  k->whole(k->context, "ctas", wide(run->launch.n_ctas));
  k->whole(k->context, "ctas_per_sm", wide(run->launch.occupancy.ctas_per_sm));
  k->text(k->context, "limited_by", occupancy_limit_name(run->launch.occupancy.binds));
  k->whole(k->context, "waves", wide(run->launch.n_waves));
  k->real(k->context, "tail_fill", run->launch.tail_fill);
  k->close(k->context);
}

/* What a kernel moves besides its schedule, so that rows add up to what L2 serves. */
static void report_overheads(const ReportSink *k, const Simulation *run) {
  if (!run->has_l2) {
    k->null(k->context, "overheads");
    return;
  }
  const Overheads *e = &run->overheads;
  const double read = run->l2.read_bytes - (double)run->read_bytes, spilled = e->write_bytes - e->atomic_bytes;
  k->open_object(k->context, "overheads");
  k->real(k->context, "read_bytes", read);
  k->real(k->context, "write_bytes", run->l2.write_bytes - (double)run->write_bytes);
  k->real(k->context, "reread_bytes", read > 0 ? read : 0);
  k->real(k->context, "spilled_bytes", spilled);
  k->real(k->context, "pulled_bytes", e->atomic_bytes);
  k->close(k->context);
}

static void real_or_null(const ReportSink *k, const char *key, double value) {
  if (isnan(value))
    k->null(k->context, key);
  else
    k->real(k->context, key, value);
}

/* The second boundary of a program with `ranks`; null where they cannot share the problem out. */
static void report_links(const ReportSink *k, const Simulation *run) {
  const RankLinks *l = &run->links;
  if (*l->why) k->null(k->context, "links");
  if (!l->n) return;
  k->open_object(k->context, "links");
  k->whole(k->context, "ranks", wide(l->n));
  k->text(k->context, "link", l->link);
  report_tensors(k, "sent", run->schedule, l->sent);
  k->whole(k->context, "sent_bytes", l->sent_bytes);
  k->whole(k->context, "rank_bytes", l->rank_bytes);
  k->whole(k->context, "boundary_bytes", l->boundary_bytes);
  k->real(k->context, "bound_s", l->bound_s);
  k->close(k->context);
}

/* A part whose rate is not known is null. */
static void report_bound(const ReportSink *k, const TimeBound *b) {
  static const char *const KEYS[TIME_PART_COUNT] = {"hbm_s", "l2_s", "sram_s", "math_s", "exp_s"};
  for (int part = 0; part < TIME_PART_COUNT; part++) real_or_null(k, KEYS[part], b->part_s[part]);
  k->real(k->context, "busiest_sm_s", b->busiest_s);
  k->real(k->context, "l2_port_s", b->port_s);
  k->real(k->context, "kernels_s", b->kernels_s);
  k->text(k->context, "bound", timing_term_key(timing_term(b)));
  k->real(k->context, "bound_s", b->bound_s);
}

/* Of a prediction: what it was compared with, or why it is one of none. */
static void report_error(const ReportSink *k, const Timing *t) {
  const bool compared = t->kind != TIME_BOUND && t->error.n_runs > 0;
  k->open_object(k->context, "error");
  if (t->kind == TIME_PREDICTED || compared)
    k->text(k->context, "regime", time_regime_name(t->regime));
  else
    k->null(k->context, "regime");
  const bool held_out = time_regime_is_held_out(t->regime);
  k->whole(k->context, "held_out_runs", wide(compared && held_out ? t->error.n_runs : 0));
  k->whole(k->context, "fitted_runs", wide(compared && !held_out ? t->error.n_runs : 0));
  real_or_null(k, "median", compared ? (double)t->error.median_permille / 1000 : (double)NAN);
  real_or_null(k, "nine_tenths", compared ? (double)t->error.nine_permille / 1000 : (double)NAN);
  if (t->why)
    k->text(k->context, "why", t->why);
  else
    k->null(k->context, "why");
  k->close(k->context);
}

static void report_time(const ReportSink *k, const Simulation *run) {
  if (!run->timed) {
    k->null(k->context, "time");
    return;
  }
  k->open_object(k->context, "time");
  report_bound(k, &run->timing.run);
  k->open_object(k->context, "floor");
  report_bound(k, &run->timing.floor);
  k->close(k->context);
  k->text(k->context, "computes_in", dtype_name(run->timing.computes_in));
  k->real(k->context, "least_s", run->timing.least_s);
  real_or_null(k, "predicted_s", run->timing.predicted_s);
  k->text(k->context, "kind", time_kind_name(run->timing.kind));
  k->real(k->context, "seconds", run->timing.seconds);
  report_error(k, &run->timing);
  k->close(k->context);
}

void report_run(const ReportSink *k, const char *key, const Simulation *run) {
  k->open_object(k->context, key);
  k->text(k->context, "algorithm", run->schedule->name);
  k->whole(k->context, "block_q", wide(run->plan.tiling.B_r));
  k->whole(k->context, "block_k", wide(run->plan.tiling.B_c));
  k->whole(k->context, "splits", wide(run->plan.tiling.n_splits));
  k->whole(k->context, "packed_heads", wide(run->plan.shape.group));
  report_sram(k, run);
  report_tiles(k, run);
  report_traffic(k, run);
  report_levels(k, run);
  report_overheads(k, run);
  k->open_object(k->context, "storage");
  k->whole(k->context, "inputs_bytes", run->inputs_bytes);
  k->whole(k->context, "outputs_bytes", run->outputs_bytes);
  k->whole(k->context, "intermediates_bytes", run->intermediates_bytes);
  const Wide stored = simulation_storage_bytes(run), capacity = wide(run->machine.hbm_bytes);
  if (capacity) {
    k->whole(k->context, "capacity_bytes", capacity);
    k->flag(k->context, "fits", stored <= capacity);
  } else {
    k->null(k->context, "capacity_bytes");
    k->null(k->context, "fits");
  }
  k->close(k->context);
  k->whole(k->context, "queries_without_keys", wide(simulation_blind_queries(run)));
  k->whole(k->context, "flops", run->traffic.flops);
  k->real(k->context, "intensity_flops_per_byte", run->intensity_flops_per_byte);
  report_time(k, run);
  report_links(k, run);
  k->close(k->context);
}

void report_answers(const ReportSink *k, const Simulation *runs, int n_runs) {
  report_shape(k, "shape", &runs[0].plan.shape);
  k->open_object(k->context, "machine");
  k->text(k->context, "name", runs[0].machine.name);
  k->whole(k->context, "sram_bytes", wide(runs[0].machine.sram_bytes));
  k->whole(k->context, "l2_bytes", wide(runs[0].machine.l2_bytes));
  k->close(k->context);
  k->open_array(k->context, "runs");
  for (int i = 0; i < n_runs; i++) report_run(k, NULL, &runs[i]);
  k->close(k->context);
}

void report_document(const ReportSink *k, const Simulation *runs, int n_runs) {
  k->open_object(k->context, NULL);
  k->whole(k->context, "tilewalk", REPORT_VERSION);
  report_answers(k, runs, n_runs);
  k->close(k->context);
}
