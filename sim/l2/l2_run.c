#include "sim/l2/l2_run.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/splitmix.h"
#include "sim/l2/l2_run_parts.h"

enum { PERCENT_OF_PEAK = 50 }; /* of the products' peak rate, where the kernel is not known: assumed */

enum {
  TIMES_MOST = 256,
  TIMES_LONGEST = 2 /* as many walks as take the steps of this many of the longest heads, */,
  TIMES_HEADS = 2 /* but of several heads this many */
};

/* With which GPC one walk begins and the next: two, and four, that come nearest to the mean of all, in the model of 120
 * shapes of five kernels; all of eight come before one comes again. */
static const uint32_t FIRST_GPCS[PLACEMENT_GPCS_MAX] = {0, 7, 1, 4, 2, 3, 5, 6};

/* What is drawn where the caller names no other numbers: of twenty draws one of those whose predictions come nearest to
 * the mean of all, of the 424 shapes that were recorded (what was counted has no say in it). */
enum { USUAL_DRAW = 3 * 1000003 };

enum { DRAW_COUNTER = 1 << 20, DRAW_SIDES, DRAW_GPCS }; /* of when CTAs start; below them: a TPC's */
enum { SMS_OF_TPC = 2, PULLING_MOST = 4096 /* CTAs that are brought in order: it takes the square of their number */ };

#define START_CYCLES   140.0 /* where the kernel's are not known: as those of fa2_async, assumed */
#define PUT_BACK_BYTES 5e6   /* a profiler's, at most (is_put_back) */

/* How far apart the first CTAs of a launch start, one standard deviation: one side and the other, GPCs of a side, TPCs
 * of a GPC (assets/counters/h200/waves/first.csv); and how much longer an atomic takes to the
 * other side, one way (h200/placement: 190 cycles there and back). */
#define STARTS_SIDES_NS 69.0

#define STARTS_GPCS_NS 22.0
#define STARTS_TPCS_NS 27.0
#define COUNTER_FAR_NS 48.0

#define CLOCKS_APART                                                                                                   \
  2.9 /* times as far as placement.h says, where all SMs have one CTA: 0.39 %, one standard deviation */

L2RunConfig l2_run_config(const Gpu *gpu, Dtype dtype) {
  L2RunConfig c = {.l2_bytes = gpu->l2_bytes,
                   .l2_partitions = gpu->l2_partitions,
                   .side_capacity_bytes = (double)gpu->l2_room_bytes / 2};
  const double clock = gpu->clock_hz, sms = (double)gpu->n_sm;
  if (clock <= 0 || sms <= 0) return c;
  c.flops_per_cycle = timing_rate(gpu, TIME_MATH, dtype) / clock / sms;
  c.exps_per_cycle = timing_rate(gpu, TIME_EXP, dtype) / clock / sms;
  c.l2_bytes_per_cycle = gpu->l2_bytes_per_s / clock;
  c.hbm_bytes_per_cycle = gpu_hbm_bytes_per_s(gpu) / clock;
  return c;
}

static bool left_out(const Run *r, Refinement refinement) { return refinement_in(r->config->without, refinement); }

/* ---- The program of a slot ------------------------------------------------------------------------ */

/* A CTA alone on its SM takes products and exponentials in turn; with others there, one's products fill the gaps of
 * another's exponentials, until a unit has no time left: the tensor cores at the rate that the kernel reaches. Of a
 * kernel that waits, that rate has waiting in it, and its CTAs share their SM as they come to work (clock.h). */
static Work work_of(const Run *r, double flops, double exps) {
  const double products = flops * r->cycles_per_flop, specials = exps * r->cycles_per_exp,
               reached = products * r->slower;
  return (Work){.alone = r->alone_slower > 0 ? products * r->alone_slower : products + specials,
                .share = reached > specials ? reached : specials};
}

static double work_cycles(Work work, double sharing) {
  const double shared = sharing * work.share;
  return work.alone > shared ? work.alone : shared;
}

/* At half of the way, and at its end before slots run empty, what has been counted is put aside. */
static void note_progress(Run *r, const Clock *clock) {
  const int64_t begun = r->next_piece[0];
  if (r->half.steps == 0 && (begun >= r->half.piece || r->steps >= r->stop_steps / 2)) {
    r->half.steps = r->steps;
    r->half.counted = clock_so_far(clock);
  }
  if (r->end.steps == 0 && (begun >= r->end.piece || r->steps >= r->stop_steps)) {
    r->end.steps = r->steps;
    r->end.counted = clock_so_far(clock);
  }
}

static int has_work(Work work) { return work.alone + work.share > 0; }

/* A step that asks ahead works on what the one before has asked for; with it work the CTAs of its SM that have
 * something to work on. */
static double work_on_owed(Slot *slot, Work next) {
  const Work owed = slot->owed;
  const double cycles = work_cycles(owed, (double)*slot->active);
  slot->owed = next;
  *slot->active += has_work(next) - has_work(owed);
  return cycles;
}

/* How far the walk is in its k-th kernel. */
static void tell(const Run *r, uint32_t k) {
  const double begun = (double)r->next_piece[k] / (double)r->stream.kernels[k].n_pieces;
  r->listener->hear(r->listener->context, fmax((k + begun) / r->stream.n_kernels, r->steps / r->stop_steps));
}

static bool next_step(void *context, const Clock *clock, uint32_t at, ClockStep *next) {
  Run *r = context;
  Slot *taker = &r->slots[at];
  StreamSlot *slot = &taker->stream;
  const uint32_t k = clock_kernel(clock);
  if (!slot->busy) {
    if (k == 0 && r->end.steps == 0) note_progress(r, clock);
    if (r->next_piece[k] >= r->stream.kernels[k].n_pieces || r->steps >= r->stop_steps) {
      next->work_cycles = work_on_owed(taker, (Work){0});
      return next->work_cycles > 0;
    }
    if (taker->ended) { /* the next CTA is not there at once; or it stays, and has yet to be told its next piece */
      taker->ended = false;
      next->is_replaced = !r->launch->config.persistent;
      next->wait_cycles = next->is_replaced ? CLOCK_HANDOVER_CYCLES : CLOCK_HIT_CYCLES;
      return true;
    }
    stream_begin(&r->stream, (int)k, slot, r->next_piece[k]++);
    slot->number = at;
  }
  if (r->steps >= r->stop_steps) {
    note_progress(r, clock);
    return false;
  }
  StreamStep step = {.access = next};
  stream_next(&r->stream, slot, &step);
  r->steps++;
  if (r->listener && ((int64_t)r->steps & 4095) == 0) tell(r, k);
  taker->ended = !slot->busy && !r->config->in_step && !r->replaces_at_once;
  if (r->forgets_q) next->renewed = 0;
  if (r->row_end_cycles && !slot->busy)
    r->row_end_cycles[slot->head * r->stream.n[DIM_I] + slot->at[DIM_I]] = clock_so_far(clock).cycles;
  const Work work = work_of(r, step.flops, step.exps);
  if (r->launch->config.waits && step.flops + step.exps > 0) next->latency_cycles = r->latency_cycles;
  next->work_cycles =
      r->launch->config.waits ? fmax(work_cycles(work, 1) - r->hidden_cycles, 0) : work_on_owed(taker, work);
  return true;
}

/* ---- The whole ------------------------------------------------------------------------------------ */

static uint32_t slots_at_work(const Run *r) {
  int64_t n = 1;
  for (int k = 0; k < r->stream.n_kernels; k++)
    if (r->stream.kernels[k].n_pieces > n) n = r->stream.kernels[k].n_pieces;
  return (uint32_t)(n < r->launch->n_slots ? n : r->launch->n_slots);
}

/* Before it runs a launch again, ncu puts back what it wrote; where that is little, a launch of one wave begins with
 * the first GPC then, whatever ran before: all that were counted with up to 4.2 MB, none with 6.3 MB and more
 * (h200/l2, h200/later, h200/begins-replayed). */
static bool is_put_back(const Run *r) {
  const Plan *p = r->stream.plan;
  const double written = (double)(p->shape.batch * p->shape.heads) * (double)p->shape.N_q * (double)p->shape.d_v *
                         plan_element(p, OPERAND_OUT);
  return r->config->profiled && !r->config->once && !left_out(r, REFINEMENT_FIRST_GPC) &&
         r->launch->n_ctas <= r->launch->n_slots && written <= PUT_BACK_BYTES;
}

/* A launch begins where the one before left off: anywhere. */
static uint32_t first_gpc(const Run *r, int time) {
  if (r->config->first_gpc) return r->config->first_gpc - 1;
  return is_put_back(r) ? 0 : FIRST_GPCS[time % PLACEMENT_GPCS_MAX];
}

/* Whether the kernel takes all the power there is; who has been told the clocks under it need not ask. */
static bool is_busy(const Run *r) {
  return r->launch->config.clocks_permille > 0 && !left_out(r, REFINEMENT_BUSY_CLOCKS) &&
         !placement_knows_clocks(r->config->placement);
}

/* How many times as far apart as PLACEMENT_BUSY_CLOCKS_PPM says. */
static double busy_apart(const Run *r) {
  int32_t most = PLACEMENT_BUSY_CLOCKS_PPM[0], least = most;
  for (int g = 1; g < PLACEMENT_GPCS_MAX; g++) {
    most = PLACEMENT_BUSY_CLOCKS_PPM[g] > most ? PLACEMENT_BUSY_CLOCKS_PPM[g] : most;
    least = PLACEMENT_BUSY_CLOCKS_PPM[g] < least ? PLACEMENT_BUSY_CLOCKS_PPM[g] : least;
  }
  return (double)r->launch->config.clocks_permille * 1000 / (most - least);
}

/* Where the slots are: measured on a GPU of 132 SMs, else assumed. */
static void deal(Run *r, uint32_t n, int time) {
  const bool known = r->launch->n_sm == 132 && !left_out(r, REFINEMENT_PLACEMENT);
  const Placement *placement = r->config->placement ? r->config->placement : &PLACEMENT_H200;
  placement_deal(known ? placement : NULL, (uint32_t)r->launch->n_sm, first_gpc(r, time), r->places, n);
  if (!is_busy(r)) return;
  for (uint32_t i = 0; i < n; i++)
    r->places[i].clock_ppm =
        (int32_t)(busy_apart(r) * PLACEMENT_BUSY_CLOCKS_PPM[r->places[i].gpc % PLACEMENT_GPCS_MAX]);
}

/* Of the whole launch, where every SM has its part of the products, at the rate that the kernel reaches. */
static double launch_cycles(const Run *r) {
  const Plan *p = r->stream.plan;
  const double computed = (double)plan_count(p, (Span){0, p->T_r}, (Span){0, p->T_c}).computed;
  const double scores =
      computed * (double)p->tiling.B_r * (double)p->tiling.B_c * (double)(p->shape.batch * p->shape.heads);
  return scores * 2 * (double)(p->shape.d + p->shape.d_v) * r->cycles_per_flop * r->slower / (double)r->launch->n_sm;
}

/* How many times as far apart as places say. */
static double gpc_clock_scale(const Run *r, uint32_t n) {
  const uint32_t n_sm = (uint32_t)r->launch->n_sm;
  if (placement_knows_clocks(r->config->placement) || is_busy(r)) return 1;
  return n <= n_sm ? CLOCKS_APART * n / n_sm : placement_clocks_apart(launch_cycles(r));
}

/* How the CTAs of a kernel that waits for its data share an SM, and how long they wait for a round. */
static void set_waiting(const Run *r, ClockConfig *p) {
  const double round = (double)r->launch->config.round_bytes,
               asked = round > 0 ? fmin(round, CLOCK_SPREAD_BYTES) : CLOCK_SPREAD_BYTES;
  const double sooner = CLOCK_STREAM_CYCLES * (1 - asked / CLOCK_SPREAD_BYTES);
  p->miss_cycles = CLOCK_MISS_CYCLES - sooner;
  p->streaming_cycles = CLOCK_STREAMING_CYCLES - sooner;
  p->waiting_weight = CLOCK_WAITING_WEIGHT;
  p->out_of_step_spread = CLOCK_OUT_OF_STEP_SPREAD / sqrt((double)r->stream.merge);
}

static ClockConfig clock_config(const Run *r, uint32_t n) {
  const L2RunConfig *c = r->config;
  const bool one = c->l2_partitions == 1 || left_out(r, REFINEMENT_PARTITIONS);
  const uint32_t n_sm = (uint32_t)r->launch->n_sm,
                 per_sm = (n + n_sm - 1) / n_sm; /* at most: they are dealt to all SMs in turns */
  ClockConfig p = {.n_ctas = n,
                   .ctas_per_sm = per_sm,
                   .slots_per_sm = (uint32_t)r->launch->occupancy.ctas_per_sm,
                   .n_kernels = (uint32_t)r->stream.n_kernels,
                   .flushed = c->profiled,
                   .in_step = c->in_step,
                   .skew_cycles = (double)c->skew_turns,
                   .prefetches = !r->launch->config.waits,
                   .shared_work = r->launch->config.waits,
                   .starts_together = !c->in_step,
                   .gpc_clocks_differ = true,
                   .gpc_clock_scale = gpc_clock_scale(r, n),
                   .l2_bytes_per_cycle = c->l2_bytes_per_cycle / (one ? 1 : 2),
                   .hbm_bytes_per_cycle = c->hbm_bytes_per_cycle,
                   .seed = c->seed + USUAL_DRAW};
  memcpy(p.hierarchy.kinds, r->stream.kinds, sizeof r->stream.kinds);
  p.hierarchy.one_partition = one;
  p.hierarchy.is_not_put_back = !c->profiled || c->once;
  p.hierarchy.side_capacity_bytes = c->side_capacity_bytes > 0 ? c->side_capacity_bytes : (double)c->l2_bytes / 2;
  p.hierarchy.side_resident_bytes = fmin(c->overheads.resident_bytes / 2, 0.99 * p.hierarchy.side_capacity_bytes);
  p.hierarchy.side_ways = c->side_ways;
  const Tiling *t = &r->stream.plan->tiling;
  const double scores = (double)r->stream.merge * (double)t->B_r * (double)t->B_c; /* of a step */
  const Work longest = work_of(r, scores * 2 * (double)(r->stream.plan->shape.d + r->stream.plan->shape.d_v), scores);
  p.tick_cycles = fmax(8, work_cycles(longest, per_sm) / 1024);
  p.request_spread = CLOCK_REQUEST_SPREAD * sqrt(r->stream.kinds[STREAM_KV].bytes / CLOCK_SPREAD_BYTES);
  const LaunchConfig *kernel = &r->launch->config;
  const double ahead = per_sm > 1 ? CLOCK_JITTER_CYCLES_SHARED : CLOCK_JITTER_CYCLES_PREFETCH;
  const bool is_full = per_sm >= r->launch->occupancy.ctas_per_sm;
  const double by_itself = kernel->step_spread_cycles && is_full ? (double)kernel->step_spread_cycles
                           : kernel->waits                       ? CLOCK_JITTER_CYCLES
                                                                 : ahead;
  const double of_merged = sqrt((double)r->stream.merge / (double)r->stream.rounds);
  p.jitter_cycles = by_itself * of_merged;
  p.full_jitter_cycles = (double)kernel->busy_spread_cycles * n / (double)r->launch->n_slots * of_merged;
  p.code_fetch_cycles = kernel->start_cycles ? (double)kernel->start_cycles : START_CYCLES;
  p.prefetch_lead = 0.01 * (double)kernel->ahead_percent;
  p.age_spread = (double)kernel->slot_spread_permille / 1000;
  p.steady_aging = kernel->steady;
  p.steps_per_turn = 1 / (double)r->stream.merge;
  p.slip_steps =
      (kernel->slip_percent ? 0.01 * (double)kernel->slip_percent : CLOCK_SLIP_STEPS) / (double)r->stream.merge;
  p.start_lag_cycles = CLOCK_START_LAG_CYCLES;
  if (kernel->waits) set_waiting(r, &p);
  refinements_leave_out(c->without, &p);
  return p;
}

static L2Run totals(const ClockResult *p) {
  return (L2Run){.read_bytes = p->bytes.read_bytes,
                 .write_bytes = p->bytes.write_bytes,
                 .l2_read_bytes = p->l2_read_bytes,
                 .own_miss_bytes = p->l2_miss_bytes,
                 .fabric_bytes = p->bytes.fabric_bytes,
                 .hbm_read_bytes = p->bytes.hbm_read_bytes,
                 .hbm_write_bytes = p->bytes.hbm_write_bytes,
                 .left_dirty_bytes = p->dirty_bytes,
                 .cycles = p->cycles,
                 .simulated = 1};
}

static void add_part(L2Run *to, const L2Run *from, double part) {
#define ADD(field) to->field += from->field * part;
  L2_RUN_FIELDS(ADD)
#undef ADD
}

static void divide(L2Run *sum, int n) {
#define DIVIDE(field) sum->field /= n;
  L2_RUN_FIELDS(DIVIDE)
#undef DIVIDE
}

/* What is not walked goes on as the second half did, step for step; where kernels follow each other, as all of it did.
 */
static void go_on(const Run *r, L2Run *t, double all_steps) {
  const bool halved = r->stream.n_kernels == 1 && r->end.steps > r->half.steps;
  const L2Run from = halved ? totals(&r->half.counted) : (L2Run){0}, to = halved ? totals(&r->end.counted) : *t;
  const double factor = (all_steps - r->steps) / (halved ? r->end.steps - r->half.steps : r->steps);
  const double left_dirty_bytes = t->left_dirty_bytes;
  add_part(t, &to, factor);
  add_part(t, &from, -factor);
  t->hbm_write_bytes +=
      t->left_dirty_bytes - left_dirty_bytes; /* no more is left: what L2 took up so far falls out from here on */
  t->left_dirty_bytes = left_dirty_bytes;
  t->simulated = r->steps / all_steps;
}

/* How often a launch is walked, each time with other numbers drawn: short ones differ most from one time to the next;
 * and those of several heads by the GPC with which they begin. An even number, so that two cores are done at the same
 * time. Where a second kernel combines, half as often: its beginning takes as long as the steps of a short launch. */
static int times_to_walk(const Run *r) {
  if (r->config->in_step || (r->stream.n_kernels > 1 && !r->stream.combines) || r->launch->config.whole_head) return 1;
  const double times = TIMES_LONGEST * l2_steps_of_head(r, r->stream.plan) /
                       (r->stream.steps_per_head * (double)r->stream.n_heads * r->stream.n_kernels);
  const int least = r->stream.n_heads > 1 && r->stream.n_kernels == 1 ? TIMES_HEADS : 1;
  const int even = times < TIMES_MOST ? (int)times / 2 * 2 : TIMES_MOST;
  return even > least ? even : least;
}

static bool take_slots(Run *r, uint32_t n) {
  r->slots = calloc(n, sizeof *r->slots);
  r->places = calloc(n, sizeof *r->places);
  r->active = calloc((size_t)r->launch->n_sm, sizeof *r->active);
  return r->slots && r->places && r->active;
}

static void give_slots_back(Run *r) {
  free(r->slots);
  free(r->places);
  free(r->active);
}

/* When a CTA comes to the counter that it pulls its work from: as its code came to its side, its GPC and its TPC, and
 * as far as the counter is. */
static double comes_ns(const Place *place, uint64_t seed) {
  const uint64_t drawn = mix(seed), counter_side = mix(drawn + DRAW_COUNTER) & 1,
                 gpc = mix(drawn + DRAW_GPCS + place->gpc), tpc = mix(drawn + place->sm / SMS_OF_TPC);
  const double later = STARTS_SIDES_NS / 2 * about_normal(mix(drawn + DRAW_SIDES));
  return (place->side ? later : -later) + STARTS_GPCS_NS * about_normal(gpc) + STARTS_TPCS_NS * about_normal(tpc) +
         (place->side != counter_side) * COUNTER_FAR_NS;
}

static void come_as_they_start(Place *places, uint32_t n, uint64_t seed) {
  for (uint32_t i = 1; i < n; i++) {
    const Place place = places[i];
    const double comes = comes_ns(&place, seed);
    uint32_t at = i;
    for (; at > 0 && comes_ns(&places[at - 1], seed) > comes; at--) places[at] = places[at - 1];
    places[at] = place;
  }
}

static Status walk_slots(Run *r, ClockConfig *clock, int time, L2Run *walked, Error *error) {
  ClockResult counted;
  deal(r, clock->n_ctas, time);
  clock->places = r->places;
  clock->seed += (uint64_t)time;
  if (r->launch->config.pull_bytes > 0 && clock->n_ctas <= PULLING_MOST && !r->config->in_step &&
      !left_out(r, REFINEMENT_PULL_ORDER))
    come_as_they_start(r->places, clock->n_ctas, clock->seed);
  clock->hierarchy.seed = clock->seed; /* where tensors lie is luck too */
  for (uint32_t i = 0; i < clock->n_ctas; i++) r->slots[i].active = &r->active[r->places[i].sm];
  const Status status = clock_run(clock, next_step, r, &counted, error);
  if (status) return status;
  const bool all = r->stream.n_heads == r->stream.all_heads && r->steps < r->stop_steps;
  *walked = totals(&counted);
  if (!all) go_on(r, walked, r->stream.steps_per_head * (double)r->stream.all_heads);
  return STATUS_OK;
}

/* The time-th of several. */
static Status walk(Run r, ClockConfig clock, int time, L2Run *walked, Error *error) {
  const bool taken = take_slots(&r, clock.n_ctas);
  if (time == 0 && r.stream.by_rows && !r.stream.combines) r.row_end_cycles = r.config->row_end_cycles;
  if (time == 0) r.listener = r.config->listener;
  const Status status =
      taken ? walk_slots(&r, &clock, time, walked, error) : error_no_memory(error, "for %u CTAs at once", clock.n_ctas);
  give_slots_back(&r);
  return status;
}

/* Of what a tile takes of an SM full of CTAs, at the rate that the kernel reaches, what is waiting for its rounds, and
 * its latency: some of it passes while others work. */
static double hidden_cycles(const Run *r) {
  const double full = (double)r->launch->occupancy.ctas_per_sm;
  const double latency = r->latency_cycles;
  return (double)r->stream.rounds * (CLOCK_HIT_CYCLES / full + CLOCK_CROWDING_CYCLES) + latency / full;
}

static Status walk_all(const Run *r, L2Run *mean, Error *error) {
  const ClockConfig clock = clock_config(r, slots_at_work(r));
  const int times = times_to_walk(r);
  L2Run walked[TIMES_MOST];
  Status status = STATUS_OK;
#pragma omp parallel for schedule(dynamic) if (times > 1)
  for (int time = 0; time < times; time++) {
    Error failed = {0};
    const Status one = walk(*r, clock, time, &walked[time], &failed);
    if (!one) continue;
#pragma omp critical
    status = error_pass(error, &failed);
  }
  if (status) return status;
  *mean = (L2Run){0};
  for (int time = 0; time < times; time++) add_part(mean, &walked[time], 1);
  divide(mean, times);
  return STATUS_OK;
}

Status l2_run(L2Run *result, const Schedule *schedule, const Launch *launch, const Plan *plan,
              const L2RunConfig *config, Error *error) {
  Status status = l2_check(launch, plan, config, error);
  if (status) return status;
  const int64_t percent = launch->config.percent_of_peak ? launch->config.percent_of_peak : PERCENT_OF_PEAK;
  Run r = {.launch = launch,
           .config = config,
           .slower = 100 / (double)percent,
           .replaces_at_once = refinement_in(config->without, REFINEMENT_HANDOVER),
           .forgets_q = refinement_in(config->without, REFINEMENT_Q_RENEWAL)};
  if (launch->config.alone_permille && !left_out(&r, REFINEMENT_ALONE_RATE))
    r.alone_slower = 1000 / (double)launch->config.alone_permille;
  if (config->flops_per_cycle > 0) r.cycles_per_flop = 1 / config->flops_per_cycle;
  if (config->exps_per_cycle > 0) r.cycles_per_exp = 1 / config->exps_per_cycle;
  status = l2_choose_walk(&r, schedule, plan, error);
  if (status) return status;
  if (launch->n_slots > CLOCK_CTAS_MAX) return l2_refuse_large((double)launch->n_slots, error);
  if (!left_out(&r, REFINEMENT_LATENCY)) r.latency_cycles = (double)(r.stream.merge * launch->config.latency_cycles);
  if (launch->config.waits) r.hidden_cycles = hidden_cycles(&r);
  L2Run mean;
  status = walk_all(&r, &mean, error);
  if (status) return status;
  l2_exact(&mean, schedule, &r.stream, config);
  mean.kernels = r.stream.n_kernels;
  *result = mean;
  return STATUS_OK;
}

double l2_run_hit_rate(const L2Run *t) {
  const double all = t->l2_read_bytes + t->write_bytes;
  return all > 0 ? 1 - t->own_miss_bytes / all : 1;
}
