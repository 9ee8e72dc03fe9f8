#include "sim/simulate.h"

#include "sim/l2/stream.h"

#include <math.h>

enum { FP32_BYTES = 4 };

static SramSizes sizes_of(const Shape *shape, int64_t B_r, int64_t B_c) {
  return (SramSizes){B_r, B_c, shape->d, shape->d_v, dtype_bytes(shape->dtype), shape->v_in_k, NULL};
}

int64_t default_block(const Schedule *schedule, const Shape *shape, int64_t sram_bytes) {
  const SramSizes sizes = sizes_of(shape, 0, 0);
  const int64_t largest = sram_max_block(schedule, &sizes, wide(sram_bytes));
  int64_t block = 128;
  while (block > 1 && block > largest) block /= 2;
  return block;
}

Wide simulation_accumulator_bytes(const Simulation *s) {
  return s->sram.accumulators / wide(s->plan.element_bytes) * FP32_BYTES;
}

Held simulation_held(const Machine *m, const Schedule *s, int64_t B_r, int64_t B_c, const Shape *shape) {
  const SramSizes sizes = sizes_of(shape, B_r, B_c);
  const SramBudget b = sram_budget(s, &sizes);
  const bool has_room = m->register_bytes == 0 || b.registers <= wide(m->register_bytes);
  if (b.bytes <= wide(m->sram_bytes) && has_room) return b.registers > 0 ? HELD_REGISTERS : HELD_SRAM;
  if (m->register_bytes == 0 || b.inputs > wide(m->sram_bytes)) return HELD_NOWHERE;
  const Wide accumulators = b.accumulators / wide(sizes.element_bytes) * FP32_BYTES;
  if (accumulators <= wide(m->tensor_memory_bytes)) return HELD_TENSOR;
  return accumulators + b.columns + b.registers <= wide(m->register_bytes) ? HELD_REGISTERS : HELD_NOWHERE;
}

static int64_t largest_held(const Machine *m, const Schedule *s, const Shape *shape) {
  const SramSizes sizes = sizes_of(shape, 0, 0);
  int64_t low = sram_max_block(s, &sizes, wide(m->sram_bytes)), high = low + 1; /* not far, as a rule */
  while (high < PLAN_MAX_BLOCK && simulation_held(m, s, high, high, shape) != HELD_NOWHERE) high += high - low;
  if (high > PLAN_MAX_BLOCK) high = PLAN_MAX_BLOCK;
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (simulation_held(m, s, middle, middle, shape) != HELD_NOWHERE)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* A kernel that is described holds its own tiles as it is launched. */
static bool kernel_holds(const Problem *p, const Tiling *t) {
  const LaunchConfig *c = &p->launch;
  return c->threads > 0 && c->shared_bytes > 0 && t->B_r == c->block_q && t->B_c == c->block_k &&
         c->shared_bytes <= p->machine.sram_bytes &&
         (p->machine.register_bytes == 0 || c->registers_per_thread * c->threads * 4 <= p->machine.register_bytes);
}

/* Packs where the kernel does: an algorithm whose CTAs own row blocks, unless it is asked for of any. */
static bool packs(const Problem *problem, const Schedule *schedule, const Tiling *t) {
  const Shape *shape = &problem->shape;
  if (problem->pack != PACK_AUTO) return problem->pack == PACK_ON;
  if (schedule->whole_head || !schedule->skips || t->B_r < 1) return false;
  const bool has_window = shape->window > 0 || (shape->sided && (shape->left >= 0 || shape->right >= 0));
  return packing_packs(problem->launch.packing, shape->N_q, shape->heads / shape->kv_heads, t->B_r, has_window,
                       schedule->splits && t->n_splits != 1);
}

static Tiling complete_blocks(const Problem *problem, const Schedule *schedule) {
  const Shape *shape = &problem->shape;
  Tiling t = problem->tiling;
  int64_t block = default_block(schedule, shape, problem->machine.sram_bytes);
  if (problem->largest_block) {
    const SramSizes sizes = sizes_of(shape, 0, 0);
    block = sram_max_block(schedule, &sizes, wide(problem->machine.sram_bytes));
    if (block < 1) block = 1;
  }
  if (t.B_r == 0) t.B_r = block;
  if (t.B_c == 0) t.B_c = block;
  if (!schedule->splits) t.n_splits = 1;
  if (!schedule->writes_lse) t.lse = false;
  t.reversed = problem->launch.walk == WALK_REVERSED;
  return t;
}

static Tiling complete_splits(const Problem *problem, const Shape *shape, Tiling t) {
  if (t.n_splits == 0 && t.B_r > 0 && t.B_c > 0) {
    const Wide n_ctas = wide(ceil_div(shape->N_q, t.B_r)) * wide(shape->batch) * wide(shape->heads);
    t.n_splits = split_choose(n_ctas, problem->machine.n_SM, ceil_div(shape->N_k, t.B_c));
  }
  return t;
}

/* The matrices of one name, of all heads. Inputs of keys exist once per KV head. */
static Wide stored_bytes(const Simulation *s, const ProgramName *n, bool *overflow) {
  const Plan *plan = &s->plan;
  const bool of_keys = n->is_input && n->rows == SIDE_COLS && !s->schedule->over_heads;
  const Wide heads =
      of_keys ? wide(plan->shape.batch) * wide(plan->shape.kv_heads) : schedule_heads(s->schedule, &plan->shape);
  Wide bytes = n->is_fp32 ? STATS_BYTES : wide(plan_element(plan, s->schedule->tensors[n->tensor].operand));
  bytes = checked_mul(bytes, wide(schedule_side_whole(s->schedule, plan, n->rows)), overflow);
  bytes = checked_mul(bytes, wide(schedule_side_whole(s->schedule, plan, n->cols)), overflow);
  bytes = checked_mul(bytes, wide(schedule_matrices(plan, n)), overflow);
  return checked_mul(bytes, heads, overflow);
}

double simulation_others_bytes(const Simulation *s) {
  const int main = schedule_main_kernel(s->schedule);
  bool overflow = false;
  double bytes = 0;
  for (int k = 0; k < s->schedule->n_kernels; k++)
    for (int op = s->schedule->kernels[k].first_op; k != main && op < s->schedule->kernels[k].end_op; op++)
      for (int n = 0; s->schedule->ops[op].moves && n < s->schedule->ops[op].n_moved; n++)
        bytes += (double)stored_bytes(s, &s->schedule->names[s->schedule->ops[op].moved[n]], &overflow);
  return bytes;
}

/* Inputs and outputs exist once, whatever the algorithm. */
static void add_storage(Simulation *s, bool *overflow) {
  const Schedule *schedule = s->schedule;
  const Wide heads = schedule_heads(schedule, &s->plan.shape);
  s->inputs_bytes = s->outputs_bytes = 0;
  for (int k = 0; k < schedule->n_names; k++) {
    const ProgramName *n = &schedule->names[k];
    Wide *sum = n->is_input ? &s->inputs_bytes : &s->outputs_bytes;
    if (n->is_input ? n->is_loaded : n->is_output && schedule_stores(schedule, &s->plan, k))
      *sum = checked_add(*sum, stored_bytes(s, n, overflow), overflow);
  }
  if (s->plan.tiling.lse && !schedule->declares)
    s->outputs_bytes = checked_add(s->outputs_bytes, heads * wide(s->plan.shape.N_q) * STATS_BYTES, overflow);
  s->intermediates_bytes = checked_mul(heads, schedule_intermediate_bytes(schedule, &s->plan, overflow), overflow);
}

/* Tiles under a pattern of blocks are counted one by one: here for all that ask for all of them, and who listens hears
 * of it. Rows and columns are counted for about as long again. */
static void count_blocks(Plan *plan, const Listener *listener) {
  enum { PARTS = 2 };
  MaskCount all = {0};
  if (!plan->mask.pattern || plan->mask.pattern->kind != PATTERN_BLOCKS) return;
  for (int64_t i = 0; i < plan->T_r; i++) {
    const MaskCount row = plan_count(plan, (Span){i, i + 1}, (Span){0, plan->T_c});
    all.tiles += row.tiles;
    all.computed += row.computed, all.full += row.full;
    all.rows += row.rows, all.cols += row.cols;
    all.area += row.area;
    if (listener) listener->hear(listener->context, (double)(i + 1) / (double)plan->T_r / PARTS);
  }
  plan->all = all;
}

Status simulate(Simulation *simulation, const Problem *problem, const Schedule *schedule, Error *error) {
  Problem p = *problem;
  const Profile *kernel = planner_kernel(problem, schedule);
  Status status = planner_launch(&p, schedule, error);
  if (status) return status;
  p.tiling = complete_blocks(&p, schedule);
  if (p.pack == PACK_ON && p.shape.pattern && p.shape.heads > p.shape.kv_heads)
    return error_refuse(error, "heads cannot be packed under a mask of blocks; leave one of them out");
  if (packs(&p, schedule, &p.tiling)) p.shape = shape_packed(&p.shape);
  p.tiling = complete_splits(&p, &p.shape, p.tiling);
  Simulation s = {.schedule = schedule, .machine = p.machine, .config = p.launch, .kernel = kernel};
  status = plan_make(&s.plan, &p.shape, &p.tiling, error);
  if (!status) status = schedule_takes(schedule, &s.plan, error);
  if (status) return status;
  count_blocks(&s.plan, p.listener);

  const Tiling *t = &s.plan.tiling;
  const SramSizes sizes = sizes_of(&p.shape, t->B_r, t->B_c);
  s.sram = sram_budget(schedule, &sizes);
  s.held = kernel_holds(&p, t) ? HELD_KERNEL : simulation_held(&p.machine, schedule, t->B_r, t->B_c, &p.shape);
  s.fits = s.held != HELD_NOWHERE;
  s.max_block = largest_held(&p.machine, schedule, &p.shape);

  bool overflow = false;
  s.loads = schedule_loads(schedule, &s.plan);
  for (int k = 0; k < schedule->n_tensors; k++)
    if (p.shape.v_in_k && schedule->tensors[k].operand == OPERAND_V) s.loads.of[k] = 0;
  schedule_traffic(schedule, &s.plan, &s.traffic, &overflow);
  traffic_scale(&s.traffic, schedule_heads(schedule, &s.plan.shape), &overflow);
  s.read_bytes = traffic_read_bytes(&s.traffic, &overflow);
  s.write_bytes = traffic_write_bytes(&s.traffic, &overflow);
  s.total_bytes = checked_add(s.read_bytes, s.write_bytes, &overflow);
  add_storage(&s, &overflow);
  if (overflow)
    return error_set(error, STATUS_TOO_LARGE,
                     "the totals of this problem do not fit 128 bits; a shorter sequence or fewer heads would");
  s.intensity_flops_per_byte = (double)s.traffic.flops / (double)s.total_bytes;
  *simulation = s;
  return STATUS_OK;
}

/* What a kernel moves besides its schedule (sim/l2/overheads.h) belongs to the code that walks row blocks over K and V:
 * another algorithm asked for in the same run is other code. */
static void forget_extra(LaunchConfig *c) {
  c->reads_tables = c->reloads_q = c->clips_k = false;
  c->spills = (Spills){0};
  c->pull_bytes = 0;
  c->time = (TimeLaw){0};
}

#define DRAWS_APART 1000003u /* one launch is walked with many seeds in a row */

static void simulation_order_ctas(const Simulation *s, int kernel, LaunchConfig *c) {
  if (s->kernel) return;
  if (schedule_ctas_go_back(s->schedule, &s->plan, kernel, c->of_columns ? DIM_J : DIM_I)) c->rows = ROWS_DESCENDING;
  c->splits_descending = schedule_ctas_go_back(s->schedule, &s->plan, kernel, DIM_S);
}

LaunchConfig simulation_launch(const Simulation *s) {
  LaunchConfig c = s->config;
  c.block_q = s->plan.tiling.B_r;
  c.block_k = s->plan.tiling.B_c;
  c.n_splits = s->plan.tiling.n_splits;
  c.whole_head = s->schedule->whole_head;
  c.of_columns = schedule_owns_columns(s->schedule);
  if (c.of_columns || c.whole_head) c.group_heads = 0;
  simulation_order_ctas(s, schedule_main_kernel(s->schedule), &c);
  if (c.whole_head || !s->schedule->skips) forget_extra(&c);
  if (!c.threads && !c.shared_bytes && !c.ctas_per_sm && s->fits) {
    const ProgramLaunch *said = &s->schedule->launches[s->sram.kernel];
    const bool as_said = s->sram.bytes <= wide(s->machine.sram_bytes); /* else accumulators go into registers too */
    c.shared_bytes = (int64_t)(as_said ? s->sram.bytes : s->sram.inputs);
    c.threads = said->threads;
    if (said->threads) c.registers_per_thread = (int64_t)(s->sram.registers / 4 / said->threads);
  }
  return c;
}

/* As many on an SM as are asked for, unless the kernel is known to need more room. */
static Status check_ctas(const Simulation *s, const Problem *problem, const LaunchConfig *config, const Gpu *gpu,
                         Error *error) {
  LaunchConfig free = *config;
  Occupancy most;
  free.ctas_per_sm = 0;
  if (!problem->asked.ctas_per_sm || !s->kernel) return STATUS_OK;
  const Status status = launch_occupancy(&most, &free, gpu, error);
  if (status || problem->asked.ctas_per_sm <= most.ctas_per_sm) return status;
  return error_refuse(error, "an SM of %s has room for %lld CTAs of this kernel (%s), not %lld", gpu->name,
                      (long long)most.ctas_per_sm, occupancy_limit_name(most.binds),
                      (long long)problem->asked.ctas_per_sm);
}

Status simulation_l2(Simulation *s, const Problem *problem, const Gpu *gpu, Error *error) {
  s->has_l2 = s->has_launch = s->has_chiplets = false;
  if (gpu->l2_bytes == 0) return STATUS_OK;
  if (!stream_exists(s->schedule)) return STATUS_OK; /* its CTAs' requests are not modelled */
  const LaunchConfig config = simulation_launch(s);
  Error inner = {0};
  Status status = check_ctas(s, problem, &config, gpu, error);
  if (status) return status;
  status = launch_make(&s->launch, &s->plan.shape, &config, gpu, &inner);
  s->has_launch = !status;
  if (!status && gpu->l2_partitions > 2) {
    s->has_chiplets = chiplets_run(&s->chiplets, &s->launch, &s->plan, gpu);
    return STATUS_OK;
  }
  if (!status) {
    s->overheads = overheads_of(&s->launch, &s->plan);
    L2RunConfig l2 = l2_run_config(gpu, s->plan.shape.dtype);
    l2.overheads = s->overheads;
    l2.in_step = problem->in_step || refinement_in(problem->without, REFINEMENT_CLOCK);
    l2.skew_turns = problem->skew_turns;
    l2.profiled = problem->profiled;
    l2.once = problem->once;
    l2.placement = problem->placement;
    l2.first_gpc = problem->first_gpc;
    l2.without = problem->without;
    l2.seed = (uint64_t)problem->draw * DRAWS_APART;
    l2.listener = problem->listener;
    status = l2_run(&s->l2, s->schedule, &s->launch, &s->plan, &l2, &inner);
  }
  s->has_l2 = !status;
  if (!status || status == STATUS_TOO_LARGE) return STATUS_OK;
  return error_pass(error, &inner);
}

Wide simulation_storage_bytes(const Simulation *s) {
  return s->inputs_bytes + s->outputs_bytes + s->intermediates_bytes; /* below 2^127 each, and totals were checked */
}

int64_t simulation_blind_queries(const Simulation *s) {
  const Shape shape = shape_unpacked(&s->plan.shape);
  const Mask mask = mask_of_shape(&shape);
  const MaskTiles all = {1, 1, {0, shape.N_q}, {0, shape.N_k}};
  if (shape.pattern && shape.pattern->kind == PATTERN_BLOCKS) return 0;
  return shape.N_q - (int64_t)mask_rows_seen(&mask, &all).elements;
}

double simulation_l2_share(const Simulation *s) {
  return s->l2.read_bytes > 0 ? 1 - s->l2.hbm_read_bytes / s->l2.read_bytes : 0;
}

double simulation_hbm_write_bytes(const Simulation *s) { return s->l2.hbm_write_bytes + s->l2.left_dirty_bytes; }

double simulation_needed_bytes(const Shape *s) {
  const Mask mask = mask_of_shape(s);
  const double rows = (double)mask_queries_seeing(&mask), keys = (double)mask_keys_seen(&mask);
  const double d = (double)s->d, d_v = (double)s->d_v, batch = (double)s->batch, e = dtype_bytes(s->dtype);
  const double out = dtype_out_bytes(s->dtype);
  const double kv = (double)dtype_bytes(s->has_kv_dtype ? s->kv_dtype : s->dtype) * (d + (s->v_in_k ? 0 : d_v));
  return batch * ((double)s->heads * (e * rows * d + out * (double)s->N_q * d_v) + (double)s->kv_heads * keys * kv);
}

double lower_bound_bytes(const Shape *shape, int64_t sram_bytes) {
  const double e = dtype_bytes(shape->dtype), M = (double)sram_bytes / e, d = (double)shape->d,
               d_v = (double)shape->d_v;
  const double once = simulation_needed_bytes(shape), batch = (double)shape->batch;
  const Mask mask = mask_of_shape(shape);
  const double least = fmin(d, d_v); /* proved for d_v = d; a wider side moves no less */
  return fmax(once, batch * (double)shape->heads * (double)mask_pairs(&mask) * least * least / M * e);
}
