#include "sim/answer/figure.h"

#include <math.h>

#include "sim/algorithms/shipped.h"

/* ---- How a figure is read -------------------------------------------------------------------------------------- */

#define READER(name) static void name(const Simulation *run, const FigureRow *row, int member, Figure *f)
#define UNUSED       (void)row, (void)member
#define FIELD(type)  (*(const type *)(const void *)((const char *)run + row->at))

static void whole(Figure *f, Wide value) { f->is = IS_WHOLE, f->whole = value; }
static void text(Figure *f, const char *value) { f->is = value ? IS_TEXT : IS_NULL, f->text = value; }
static void flag(Figure *f, bool value) { f->is = IS_FLAG, f->flag = value; }
static void real(Figure *f, double value) { f->is = isnan(value) ? IS_NULL : IS_REAL, f->real = value; }

#define VALUE(name, is, value)                                                                                         \
  READER(name) { UNUSED, is(f, value); }

VALUE(wide_at, whole, FIELD(Wide))
VALUE(count_at, whole, wide(FIELD(int64_t)))
VALUE(int_at, whole, wide(FIELD(int)))
VALUE(rounded_at, whole, (Wide)(FIELD(double) + 0.5))
VALUE(real_at, real, FIELD(double))
VALUE(flag_at, flag, FIELD(bool))
VALUE(text_at, text, (const char *)run + row->at) /* a field of characters */

/* Of the shape as it was asked for, without packed heads. */
READER(asked_at) {
  (void)member;
  const Shape s = shape_unpacked(&run->plan.shape);
  whole(f, wide(*(const int64_t *)(const void *)((const char *)&s + row->at)));
}

READER(values_dim) {
  UNUSED;
  const Shape *s = &run->plan.shape;
  whole(f, wide(s->d_v ? s->d_v : s->d));
}

VALUE(dtype, text, dtype_name(run->plan.shape.dtype))
READER(kv_dtype) {
  UNUSED;
  const Shape *s = &run->plan.shape;
  text(f, dtype_name(s->has_kv_dtype ? s->kv_dtype : s->dtype));
}

/* How far a side of the window reaches. */
static void side(Figure *f, const Shape *s, int64_t sided, int64_t other) {
  const int64_t reach = s->sided ? sided : s->window > 0 ? other : -1;
  if (reach < 0)
    f->is = IS_NULL;
  else
    whole(f, wide(reach));
}
READER(window_left) {
  UNUSED;
  const Shape s = shape_unpacked(&run->plan.shape);
  side(f, &s, s.left, s.window - 1);
}
READER(window_right) {
  UNUSED;
  const Shape s = shape_unpacked(&run->plan.shape);
  side(f, &s, s.causal && s.right != 0 ? 0 : s.right, s.causal ? 0 : s.window - 1);
}

READER(mask_name) {
  UNUSED;
  if (run->plan.shape.pattern) text(f, run->plan.shape.pattern->name);
}
VALUE(aligned, text, run->plan.shape.top_left ? "top-left" : "bottom-right")
VALUE(algorithm, text, run->schedule->name)

READER(held) {
  static const char *const HELD[HELD_COUNT] = {"nowhere", "sram", "registers", "tensor-memory", "kernel"};
  UNUSED, text(f, HELD[run->held]);
}

/* Of the tensors of the program, or of values on chip too. */
static const ProgramTensor *tensor(const Simulation *run, int member, Figure *f) {
  const ProgramTensor *t = &run->schedule->tensors[member];
  f->member = t->text;
  return t;
}
READER(place) {
  if (tensor(run, member, f)->is_listed || run->sram.of[member]) whole(f, (&FIELD(Wide))[member]);
}
READER(moved) {
  tensor(run, member, f);
  if (member < run->schedule->n_tensors) whole(f, (&FIELD(Wide))[member]);
}
READER(block_loads) {
  (void)row;
  if (tensor(run, member, f)->role == TENSOR_INPUT && member < run->schedule->n_tensors)
    whole(f, wide(run->loads.of[member]));
}

VALUE(tiles, whole, run->traffic.tiles[TILE_FULL] + run->traffic.tiles[TILE_PARTIAL] + run->traffic.tiles[TILE_SKIPPED])
READER(added) {
  UNUSED;
  if (run->traffic.added) whole(f, run->traffic.added);
}

/* All that is read and written of the tensors of a role. */
READER(of_role) {
  (void)member;
  Wide sum = 0;
  for (int t = 0; t < run->schedule->n_tensors; t++)
    if (run->schedule->tensors[t].role == (TensorRole)row->at) sum += run->traffic.read[t] + run->traffic.write[t];
  whole(f, sum);
}

/* Whether L2, of which nothing is known, keeps what HBM would move. */
static bool is_unwalked(const Simulation *run) { return !run->has_l2 && run->timed && run->machine.l2_bytes > 0; }
/* Without L2, HBM moves what crosses SRAM's boundary; what an L2 that was not asked leaves is not known. */
static void behind_l2(const Simulation *run, double bytes, Wide across, Figure *f) {
  if (run->has_l2 || is_unwalked(run))
    whole(f, (Wide)(bytes + 0.5));
  else if (run->machine.l2_bytes > 0)
    f->is = IS_NULL;
  else
    whole(f, across);
}
READER(hbm_read) { UNUSED, behind_l2(run, simulation_hbm_bytes(run).read, run->read_bytes, f); }
READER(hbm_written) { UNUSED, behind_l2(run, simulation_hbm_bytes(run).written, run->write_bytes, f); }
READER(hbm_total) {
  Figure read, written;
  hbm_read(run, row, member, &read), hbm_written(run, row, member, &written);
  f->is = read.is, f->whole = read.whole + written.whole;
}
READER(lower_bound) {
  UNUSED;
  if (is_unwalked(run)) flag(f, true);
}

VALUE(l2_total, whole, (Wide)(run->l2.read_bytes + 0.5) + (Wide)(run->l2.write_bytes + 0.5))
VALUE(l2_share, real, simulation_l2_share(run))
VALUE(l2_rate, real, l2_run_hit_rate(&run->l2))
VALUE(all_walked, flag, run->l2.simulated >= 1)
VALUE(chiplets_rate, real, chiplets_hit_rate(&run->chiplets))
/* SMs beyond the CTAs: the peak rates of all are not theirs. */
static int64_t idle(const Simulation *run) {
  const int64_t sms = run->launch.n_sm, ctas = run->launch.n_ctas;
  return run->has_launch && sms > ctas ? sms - ctas : 0;
}
VALUE(idle_sms, whole, wide(idle(run)))
VALUE(occupancy, text, occupancy_limit_name(run->launch.occupancy.binds))

/* What a kernel moves besides its schedule, so that rows add up to what L2 serves. */
static double read_besides(const Simulation *run) { return run->l2.read_bytes - (double)run->read_bytes; }
VALUE(besides, real, read_besides(run))
VALUE(written_besides, real, run->l2.write_bytes - (double)run->write_bytes)
VALUE(reread, real, fmax(0, read_besides(run)))
VALUE(unasked, real, fmax(0, -read_besides(run)))
VALUE(spilled, real, run->overheads.write_bytes - run->overheads.atomic_bytes)

READER(memory) {
  UNUSED;
  if (run->machine.hbm_bytes)
    whole(f, wide(run->machine.hbm_bytes));
  else
    f->is = IS_NULL;
}
VALUE(stored, whole, simulation_storage_bytes(run))
READER(runs) {
  memory(run, row, member, f);
  if (f->is == IS_WHOLE) flag(f, simulation_storage_bytes(run) <= f->whole);
}
VALUE(blind, whole, wide(simulation_blind_queries(run)))

/* Of a TimeBound. A part whose rate is not known is null. */
READER(bound_term) {
  (void)member;
  text(f, timing_term_key(timing_term(&FIELD(TimeBound))));
}
/* The run in a roofline: FLOPs for each byte behind SRAM, and the rate that its longest part leaves. */
static double flops_for(const Simulation *run, double amount) {
  return amount > 0 ? (double)run->traffic.flops / amount : (double)NAN;
}
READER(per_hbm_byte) {
  UNUSED;
  const HbmBytes hbm = simulation_hbm_bytes(run);
  real(f, flops_for(run, hbm.read + hbm.written));
}
READER(per_l2_byte) {
  UNUSED;
  const bool walked = run->has_l2;
  const double bytes =
      walked ? run->l2.read_bytes + run->l2.write_bytes : (double)run->read_bytes + (double)run->write_bytes;
  real(f, isnan(run->timing.run.part_s[TIME_L2]) ? (double)NAN : flops_for(run, bytes));
}
VALUE(attainable, real, flops_for(run, run->timing.run.bound_s))
VALUE(of_peak, real, run->timing.run.part_s[TIME_MATH] / run->timing.run.bound_s)
VALUE(computes_in, text, dtype_name(run->timing.computes_in))
VALUE(time_kind, text, time_kind_name(run->timing.kind))

static bool has_softmax(const Schedule *s, int node) {
  if (node < 0) return false;
  const ProgramNode *n = &s->nodes[node];
  return n->kind == NODE_SOFTMAX || n->kind == NODE_ATTENTION || has_softmax(s, n->a) || has_softmax(s, n->b);
}

/* 1 of attention, 2.5 of its gradients, 0 of anything else. */
static double papers_passes(const Schedule *s) {
  double most = s->declares ? 0 : 1;
  for (int k = 0; k < s->n_declarations; k++) {
    const ProgramDeclaration *d = &s->declarations[k];
    if (d->role != TENSOR_OUTPUT || !d->formula) continue;
    const bool is_gradient = s->nodes[d->formula - 1].kind == NODE_GRADIENT;
    most = fmax(most, is_gradient ? 2.5 : has_softmax(s, d->formula - 1) ? 1 : 0);
  }
  return most;
}

/* FLOPs as the papers count them: 2 d + 2 d_v for each pair of query and key, half of all pairs under a causal mask; of
 * the backward pass 2.5 times as many (FlashAttention-2, section 4.1). Of other masks, the pairs that may be seen. */
READER(papers_rate) {
  UNUSED;
  const Shape *s = &run->plan.shape;
  double pairs = (double)s->N_q * (double)s->N_k / (s->causal ? 2 : 1);
  if (s->pattern || s->window || s->sided) {
    const Mask mask = mask_of_shape(s);
    pairs = (double)mask_pairs(&mask);
  }
  const double flops =
      papers_passes(run->schedule) * simulation_pair_flops(s) * (double)s->batch * (double)s->heads * pairs;
  real(f, flops > 0 && run->timing.seconds > 0 ? flops / run->timing.seconds : (double)NAN);
}

/* Of a prediction: what it was compared with, or why it is one of none. */
static bool is_compared(const Timing *t) { return t->kind != TIME_BOUND && t->error.n_runs > 0; }
READER(regime) {
  UNUSED;
  const Timing *t = &run->timing;
  text(f, t->kind == TIME_PREDICTED || is_compared(t) ? time_regime_name(t->regime) : NULL);
}
READER(compared_runs) { /* at: whether those that were held out */
  (void)member;
  const Timing *t = &run->timing;
  whole(f, wide(is_compared(t) && time_regime_is_held_out(t->regime) == (bool)row->at ? t->error.n_runs : 0));
}
READER(error_at) {
  (void)member;
  real(f, is_compared(&run->timing) ? (double)FIELD(int64_t) / 1000 : (double)NAN);
}
VALUE(why_no_time, text, run->timing.why)

/* ---- The figures ----------------------------------------------------------------------------------------------- */

#define GROUP(path)                                                                                                    \
  { path, UNIT_NONE, KIND_LAW, NULL, 0, "" }
#define END                   GROUP("")
#define ROW(path, unit, kind) path, UNIT_##unit, KIND_##kind
#define AT(reader, field)     reader, offsetof(Simulation, field)
#define READER_OF(field)                                                                                               \
  _Generic(((const Simulation *)0)->field, Wide                                                                        \
           : wide_at, int64_t                                                                                          \
           : count_at, int                                                                                             \
           : int_at, double                                                                                            \
           : real_at, bool                                                                                             \
           : flag_at, default                                                                                          \
           : text_at)
#define FIELD_ROW(path, unit, kind, field, why)                                                                        \
  { ROW(path, unit, kind), AT(READER_OF(field), field), why }
#define FIGURE_BY(path, unit, kind, of, field, why)                                                                    \
  { ROW(path, unit, kind), AT(of, field), why }
#define FIGURE(path, unit, kind, of, why)                                                                              \
  { ROW(path, unit, kind), of, 0, why }

/* The times of a bound, by its parts. */
#define BOUND(path, field, whose)                                                                                      \
  FIELD_ROW(path "hbm_s", SECONDS, BOUND, field.part_s[TIME_HBM], whose "bytes at HBM's bandwidth"),                   \
      FIELD_ROW(path "l2_s", SECONDS, BOUND, field.part_s[TIME_L2], whose "bytes at L2's bandwidth"),                  \
      FIELD_ROW(path "sram_s", SECONDS, BOUND, field.part_s[TIME_SRAM], whose "bytes at SRAM's ports"),                \
      FIELD_ROW(path "math_s", SECONDS, BOUND, field.part_s[TIME_MATH], whose "products"),                             \
      FIELD_ROW(path "exp_s", SECONDS, BOUND, field.part_s[TIME_EXP], whose "exponentials"),                           \
      FIELD_ROW(path "busiest_sm_s", SECONDS, BOUND, field.busiest_s, whose "tensor cores of the SM with most work"),  \
      FIELD_ROW(path "l2_port_s", SECONDS, BOUND, field.port_s, whose "L2 port of the SM with most work"),             \
      FIELD_ROW(path "kernels_s", SECONDS, BOUND, field.kernels_s, whose "kernel sequence"),                           \
      FIGURE_BY(path "bound", WORD, BOUND, bound_term, field, whose "longest part"),                                   \
      FIELD_ROW(path "bound_s", SECONDS, BOUND, field.bound_s, whose "time at peak rates")

const FigureRow FIGURES[] = {
    GROUP("shape"),
    {ROW("shape.batch", COUNT, ASKED), asked_at, offsetof(Shape, batch), "sequences"},
    {ROW("shape.heads", COUNT, ASKED), asked_at, offsetof(Shape, heads), "query heads"},
    {ROW("shape.kv_heads", COUNT, ASKED), asked_at, offsetof(Shape, kv_heads), "heads of K and V"},
    {ROW("shape.seq_q", COUNT, ASKED), asked_at, offsetof(Shape, N_q), "queries"},
    {ROW("shape.seq_k", COUNT, ASKED), asked_at, offsetof(Shape, N_k), "keys"},
    {ROW("shape.head_dim", COUNT, ASKED), asked_at, offsetof(Shape, d), "elements of a query and a key"},
    FIGURE("shape.head_dim_v", COUNT, ASKED, values_dim, "elements of a value"),
    FIGURE("shape.dtype", WORD, ASKED, dtype, "type of Q, K, V, O"),
    FIELD_ROW("shape.v_in_k", FLAG, ASKED, plan.shape.v_in_k, "V is the beginning of K"),
    FIGURE("shape.kv_dtype", WORD, ASKED, kv_dtype, "type of K and V"),
    FIELD_ROW("shape.causal", FLAG, ASKED, plan.shape.causal, "a query sees no later key"),
    {ROW("shape.window", COUNT, ASKED), asked_at, offsetof(Shape, window), "keys that a query sees"},
    FIGURE("shape.window_left", COUNT, ASKED, window_left, "earlier keys that a query sees"),
    FIGURE("shape.window_right", COUNT, ASKED, window_right, "later keys that a query sees"),
    FIGURE("shape.mask", WORD, ASKED, mask_name, "pattern of blocks"),
    FIGURE("shape.aligned", WORD, ASKED, aligned, "corner of the causal mask"),
    END,

    GROUP("machine"),
    FIELD_ROW("machine.name", WORD, ASKED, machine.name, "machine"),
    FIELD_ROW("machine.sram_bytes", BYTES, DATASHEET, machine.sram_bytes, "SRAM of an SM"),
    FIELD_ROW("machine.l2_bytes", BYTES, DATASHEET, machine.l2_bytes, "L2, all partitions"),
    END,

    FIGURE("algorithm", WORD, ASKED, algorithm, "algorithm"),
    FIELD_ROW("block_q", COUNT, ASKED, plan.tiling.B_r, "rows of a query block"),
    FIELD_ROW("block_k", COUNT, ASKED, plan.tiling.B_c, "rows of a key block"),
    FIELD_ROW("splits", COUNT, ASKED, plan.tiling.n_splits, "parts of the keys"),
    FIELD_ROW("packed_heads", COUNT, ASKED, plan.shape.group, "heads packed as rows of Q"),
    GROUP("sram"),
    FIELD_ROW("sram.bytes", BYTES, LAW, sram.bytes, "bytes of SRAM that a CTA's tiles take"),
    FIELD_ROW("sram.capacity_bytes", BYTES, DATASHEET, machine.sram_bytes, "SRAM of an SM"),
    FIELD_ROW("sram.fits", FLAG, LAW, fits, "the tiles have room"),
    FIGURE("sram.held", WORD, LAW, held, "where the tiles are held"),
    FIELD_ROW("sram.max_block", COUNT, LAW, max_block, "largest B_r = B_c with room"),
    GROUP("sram.items"),
    FIGURE_BY("sram.items.*", BYTES, LAW, place, sram.of, "bytes of SRAM that the tile takes"),
    END,
    END,
    GROUP("tiles"),
    FIGURE("tiles.total", COUNT, LAW, tiles, "tiles of a head"),
    FIELD_ROW("tiles.full", COUNT, LAW, traffic.tiles[TILE_FULL], "tiles without a mask"),
    FIELD_ROW("tiles.partial", COUNT, LAW, traffic.tiles[TILE_PARTIAL], "tiles partly masked"),
    FIELD_ROW("tiles.skipped", COUNT, LAW, traffic.tiles[TILE_SKIPPED], "tiles skipped"),
    END,
    GROUP("loads_per_block"),
    FIGURE("loads_per_block.*", COUNT, LAW, block_loads, "loads of a block"),
    END,
    GROUP("traffic"),
    GROUP("traffic.read"),
    FIGURE_BY("traffic.read.*", BYTES, LAW, moved, traffic.read, "bytes read across the SRAM boundary"),
    END,
    GROUP("traffic.write"),
    FIGURE_BY("traffic.write.*", BYTES, LAW, moved, traffic.write, "bytes written across the SRAM boundary"),
    END,
    {ROW("traffic.inputs_bytes", BYTES, LAW), of_role, TENSOR_INPUT, "bytes of inputs across the SRAM boundary"},
    {ROW("traffic.intermediates_bytes", BYTES, LAW), of_role, TENSOR_BETWEEN,
     "bytes of intermediates across the SRAM boundary"},
    {ROW("traffic.outputs_bytes", BYTES, LAW), of_role, TENSOR_OUTPUT, "bytes of outputs across the SRAM boundary"},
    FIGURE("traffic.added_bytes", BYTES, LAW, added, "bytes added to what lies in HBM"),
    FIELD_ROW("traffic.read_bytes", BYTES, LAW, read_bytes, "bytes read across the SRAM boundary"),
    FIELD_ROW("traffic.write_bytes", BYTES, LAW, write_bytes, "bytes written across the SRAM boundary"),
    FIELD_ROW("traffic.total_bytes", BYTES, LAW, total_bytes, "bytes across the SRAM boundary, read and written"),
    END,
    GROUP("hbm"),
    FIGURE("hbm.read_bytes", BYTES, BEHIND_L2, hbm_read, "bytes read from HBM"),
    FIGURE("hbm.write_bytes", BYTES, BEHIND_L2, hbm_written, "bytes written to HBM"),
    FIGURE("hbm.total_bytes", BYTES, BEHIND_L2, hbm_total, "bytes between L2 and HBM, read and written"),
    END,
    GROUP("l2"),
    FIGURE_BY("l2.read_bytes", BYTES, WALK, rounded_at, l2.read_bytes, "bytes read from L2"),
    FIGURE_BY("l2.write_bytes", BYTES, WALK, rounded_at, l2.write_bytes, "bytes written to L2"),
    FIGURE("l2.total_bytes", BYTES, WALK, l2_total, "bytes between SMs and L2, read and written"),
    FIGURE("l2.not_hbm_share", SHARE, WALK, l2_share, "of what SMs read, the part that HBM did not serve"),
    FIGURE("l2.hit_rate", SHARE, WALK, l2_rate, "L2 hit rate, as ncu counts it"),
    FIGURE("l2.all_walked", FLAG, LAW, all_walked, "all heads were walked through L2"),
    FIGURE_BY("l2.fabric_bytes", BYTES, WALK, rounded_at, l2.fabric_bytes, "bytes from the other L2 partition"),
    END,
    FIGURE("hbm_is_lower_bound", FLAG, LAW, lower_bound, "L2 is not modelled: HBM moves at least this"),
    GROUP("chiplets"),
    FIGURE_BY("chiplets.read_bytes", BYTES, WALK, rounded_at, chiplets.read_bytes, "bytes read from L2s"),
    FIGURE_BY("chiplets.missed_bytes", BYTES, WALK, rounded_at, chiplets.missed_bytes, "bytes L2s missed"),
    FIGURE("chiplets.hit_rate", SHARE, WALK, chiplets_rate, "hits of looks into the L2s"),
    END,
    GROUP("launch"),
    FIELD_ROW("launch.ctas", COUNT, LAW, launch.n_ctas, "CTAs"),
    FIELD_ROW("launch.sms", COUNT, DATASHEET, launch.n_sm, "SMs"),
    FIGURE("launch.idle_sms", COUNT, LAW, idle_sms, "SMs that no CTA is left for"),
    FIELD_ROW("launch.ctas_per_sm", COUNT, LAW, launch.occupancy.ctas_per_sm, "CTAs resident on an SM"),
    FIGURE("launch.limited_by", WORD, LAW, occupancy, "resource that limits the CTAs of an SM"),
    FIELD_ROW("launch.waves", COUNT, LAW, launch.n_waves, "waves of CTAs"),
    FIELD_ROW("launch.tail_fill", SHARE, LAW, launch.tail_fill, "part of the last wave that is filled"),
    END,
    GROUP("overheads"),
    FIGURE("overheads.read_bytes", BYTES, WALK, besides, "bytes read from L2 besides the program's"),
    FIGURE("overheads.write_bytes", BYTES, WALK, written_besides, "bytes written to L2 besides the program's"),
    FIGURE("overheads.reread_bytes", BYTES, WALK, reread, "bytes of blocks that CTAs ask for again"),
    FIGURE("overheads.unasked_bytes", BYTES, WALK, unasked, "bytes of the program that no CTA asks L2 for"),
    FIGURE("overheads.spilled_bytes", BYTES, WALK, spilled, "bytes of spilled registers"),
    FIELD_ROW("overheads.pulled_bytes", BYTES, WALK, overheads.atomic_bytes, "bytes by which CTAs pull work"),
    END,
    GROUP("storage"),
    FIELD_ROW("storage.inputs_bytes", BYTES, LAW, inputs_bytes, "bytes of inputs in HBM"),
    FIELD_ROW("storage.outputs_bytes", BYTES, LAW, outputs_bytes, "bytes of outputs in HBM"),
    FIELD_ROW("storage.intermediates_bytes", BYTES, LAW, intermediates_bytes, "bytes of intermediates in HBM"),
    FIGURE("storage.kept_bytes", BYTES, LAW, stored, "bytes that a run keeps in HBM"),
    FIGURE("storage.capacity_bytes", BYTES, DATASHEET, memory,
           "HBM that a program can have: the machine's, less a GiB for context and driver"),
    FIGURE("storage.fits", FLAG, LAW, runs, "HBM has room for what the run keeps"),
    END,
    FIGURE("queries_without_keys", COUNT, LAW, blind, "queries that see no key"),
    FIELD_ROW("flops", FLOPS, LAW, traffic.flops, "FLOPs of products"),
    FIELD_ROW("intensity_flops_per_byte", RATE, LAW, intensity_flops_per_byte,
              "FLOPs for each byte across the SRAM boundary"),
    GROUP("time"),
    BOUND("time.", timing.run, "this run: "),
    FIGURE("time.hbm_flops_per_byte", RATE, BEHIND_L2, per_hbm_byte, "FLOPs for each byte of HBM"),
    FIGURE("time.l2_flops_per_byte", RATE, BEHIND_L2, per_l2_byte, "FLOPs for each byte of L2"),
    FIGURE("time.attainable_flop_rate", FLOP_RATE, BOUND, attainable, "FLOP/s at peak rates"),
    FIGURE("time.of_peak", SHARE, BOUND, of_peak, "of the products' peak rate"),
    GROUP("time.floor"),
    BOUND("time.floor.", timing.floor, "any run: "),
    END,
    FIGURE("time.computes_in", WORD, DATASHEET, computes_in, "type of the products"),
    FIELD_ROW("time.least_s", SECONDS, BOUND, timing.least_s, "seconds that no run is below"),
    FIELD_ROW("time.predicted_s", SECONDS, TIME, timing.predicted_s, "seconds, predicted"),
    FIGURE("time.kind", WORD, TIME, time_kind, "kind of the time"),
    FIELD_ROW("time.seconds", SECONDS, TIME, timing.seconds, "seconds"),
    FIGURE("time.papers_flop_rate", FLOP_RATE, TIME, papers_rate, "FLOP/s as the papers count them"),
    GROUP("time.error"),
    FIGURE("time.error.regime", WORD, LAW, regime, "sort of run"),
    {ROW("time.error.held_out_runs", COUNT, LAW), compared_runs, true, "recorded runs, kept out of the fit"},
    {ROW("time.error.fitted_runs", COUNT, LAW), compared_runs, false, "recorded runs that were fitted"},
    FIGURE_BY("time.error.median", SHARE, LAW, error_at, timing.error.median_permille, "half are as near"),
    FIGURE_BY("time.error.nine_tenths", SHARE, LAW, error_at, timing.error.nine_permille, "9 of 10 are as near"),
    FIGURE("time.error.why", WORD, LAW, why_no_time, "why no time is predicted, or it is extrapolated"),
    END,
    END,
    GROUP("links"),
    FIELD_ROW("links.ranks", COUNT, ASKED, links.n, "GPUs"),
    FIELD_ROW("links.link", WORD, ASKED, links.link, "link between neighbours"),
    GROUP("links.sent"),
    FIGURE_BY("links.sent.*", BYTES, LAW, moved, links.sent, "bytes that all ranks send"),
    END,
    FIELD_ROW("links.sent_bytes", BYTES, LAW, links.sent_bytes, "bytes that all ranks send"),
    FIELD_ROW("links.rank_bytes", BYTES, LAW, links.rank_bytes, "bytes that a rank sends"),
    FIELD_ROW("links.boundary_bytes", BYTES, LAW, links.boundary_bytes,
              "bytes across the SRAM boundaries of all ranks"),
    FIELD_ROW("links.bound_s", SECONDS, BOUND, links.bound_s, "seconds of one link at its data sheet's rate"),

    END,
    {0},
};

/* ---- Asking ---------------------------------------------------------------------------------------------------- */

const FigureRow *figure_row(const char *path) {
  for (const FigureRow *row = FIGURES; row->path; row++)
    if (*row->path == *path && strcmp(row->path, path) == 0) return row; /* most differ in the first letter */
  return NULL;
}

int figure_members(const Simulation *run, const FigureRow *row) {
  return row->path[strlen(row->path) - 1] == '*' ? run->schedule->n_values : 1;
}

FigureNeed figure_needs(const FigureRow *row) {
  static const struct {
    const char *group;
    FigureNeed needs;
  } OF[] = {{"l2", NEED_L2},         {"overheads", NEED_L2}, {"chiplets", NEED_CHIPLETS},
            {"launch", NEED_LAUNCH}, {"time", NEED_TIME},    {"links", NEED_LINKS}};
  const size_t n = strcspn(row->path, ".");
  for (size_t k = 0; k < COUNT_OF(OF); k++)
    if (strncmp(row->path, OF[k].group, n) == 0 && !OF[k].group[n]) return OF[k].needs;
  return NEED_NOTHING;
}

static FigureIs met(const Simulation *run, const FigureRow *row) {
  switch (figure_needs(row)) {
  case NEED_L2: return run->has_l2 ? IS_WHOLE : IS_NULL;
  case NEED_LAUNCH: return run->has_launch ? IS_WHOLE : IS_NULL;
  case NEED_CHIPLETS: return run->has_launch && run->has_chiplets ? IS_WHOLE : IS_ABSENT;
  case NEED_TIME: return run->timed ? IS_WHOLE : IS_NULL;
  case NEED_LINKS: return run->links.n ? IS_WHOLE : *run->links.why ? IS_NULL : IS_ABSENT;
  default: return IS_WHOLE;
  }
}

Figure figure_of(const Simulation *run, const FigureRow *row, int member) {
  Figure figure = {.is = met(run, row)};
  if (row->unit == UNIT_NONE) return figure;
  const bool has = figure.is == IS_WHOLE;
  figure.is = IS_ABSENT;
  if (has) row->of(run, row, member, &figure);
  return figure;
}

Figure figure_named(const Simulation *run, const FigureRow *row, const char *member) {
  for (int m = figure_members(run, row) - 1; m >= 0; m--) {
    const Figure figure = figure_of(run, row, m);
    if (!member || (figure.member && strcmp(figure.member, member) == 0)) return figure;
  }
  return (Figure){0};
}

double figure_number(const Figure *f) {
  return f->is == IS_WHOLE ? (double)f->whole : f->is == IS_REAL ? f->real : f->is == IS_FLAG ? f->flag : (double)NAN;
}

FigureKind figure_kind(const Simulation *run, const FigureRow *row) {
  static const FigureKind OF_TIME[TIME_KIND_COUNT] = {KIND_BOUND, KIND_EXTRAPOLATED, KIND_PREDICTED};
  if (row->kind == KIND_TIME) return OF_TIME[run->timing.kind];
  if (row->kind != KIND_BEHIND_L2) return row->kind;
  if (is_unwalked(run)) return KIND_BOUND;
  return run->has_l2 ? KIND_WALK : KIND_LAW;
}

bool figure_comparable(const Simulation *a, const Simulation *b, const FigureRow *row) {
  if (figure_needs(row) != NEED_TIME) return programs_are_alike(a->schedule, b->schedule);
  if (a->timing.kind == TIME_BOUND && (idle(a) || idle(b))) return false;
  return timing_comparable(&a->timing, &b->timing);
}
