#include "kernels/counters/compare.h"

#include "sim/algorithms/shipped.h"

enum { SECTOR_BYTES = 32, FLOPS_PER_MMA = 2 * 16 * 8 * 16 };

/* HBM is also read for instructions and kernel parameters: seen up to 46 KB on an H200, allowed 64 KB. */
enum { HBM_OVERHEAD_BYTES = 64 * 1024 };

KernelModel kernel_model_of_schedule(const char *schedule, const Overheads *overheads) {
  return (KernelModel){.name = schedule,
                       .schedule = schedule,
                       .spills = overheads != NULL,
                       .extra_read_bytes = overheads ? (int64_t)overheads->read_bytes : 0,
                       .extra_write_bytes = overheads ? (int64_t)overheads->write_bytes : 0,
                       .extra_atomic_bytes = overheads ? (int64_t)overheads->atomic_bytes : 0};
}

typedef struct {
  const CounterRow *row;
  Comparison *comparisons;
  int n;
} Compared;

static void add(Compared *to, Counter counter, CompareKind kind, bool must_hold, uint64_t low, uint64_t high) {
  const CounterRow *row = to->row;
  if (!row->known[counter]) return;
  const uint64_t measured = row->value[counter], slack = row->slack[counter];
  const uint64_t beyond = measured < low ? low - measured : measured > high ? measured - high : 0;
  const uint64_t off = beyond > slack ? beyond - slack : 0; /* what the file's rounding leaves is no difference */
  const double end = (double)(measured < low ? low : high);
  const bool is_count = counter == COUNTER_COUNTED_READ || counter == COUNTER_COUNTED_WRITE;
  const double error = off == 0 ? 0 : end > 0 ? (double)off / end : 1;
  to->comparisons[to->n++] = (Comparison){.counter = counter,
                                          .kind = kind,
                                          .must_hold = must_hold,
                                          .low = low,
                                          .high = high,
                                          .measured = measured,
                                          .error = measured < low ? -error : error,
                                          .holds = error <= (is_count ? 0 : COMPARE_TOLERANCE)};
}

/* mma instructions of the computed tiles; rows and columns count as padded to whole tiles. */
static uint64_t tensor_instructions(const KernelModel *model, const Plan *plan) {
  Shape padded = plan->shape;
  Tiling tiling = plan->tiling;
  Plan whole;
  if (plan->shape.N_q % tiling.B_r || plan->shape.N_k % tiling.B_c || plan_make(&whole, &padded, &tiling, NULL))
    return 0;
  bool overflow = false;
  Traffic traffic = {0};
  schedule_traffic(schedule_find(model->schedule), &whole, &traffic, &overflow);
  const Wide n = traffic.flops / FLOPS_PER_MMA * wide(plan->shape.heads) * wide(plan->shape.batch);
  return overflow || n > UINT64_MAX ? 0 : (uint64_t)n;
}

/* Of the bytes of S and P, how many may be counted twice: a piece of a row begins and ends within sectors, and none is
 * shorter than one. */
static uint64_t torn_bytes(const KernelModel *model, const Plan *plan, const uint64_t bytes[KERNEL_TENSORS]) {
  const bool torn =
      schedule_find(model->schedule) == shipped_unfused() && plan->shape.N_k * plan->element_bytes % SECTOR_BYTES != 0;
  return torn ? bytes[KERNEL_S] + bytes[KERNEL_P] : 0;
}

/* Someone else's standard attention: its products read Q, K and V again for each of their tiles, whose size is not
 * known; 64 x 64 is taken for small. */
static uint64_t products_again(const KernelModel *model, const Shape *shape, const Tiling *tiling) {
  KernelTraffic least, most;
  if (strcmp(model->name, shipped_unfused()->name) || kernel_model_traffic(model, shape, tiling, &least, NULL) ||
      kernel_model_traffic(kernel_model_find("standard_tiled"), shape, tiling, &most, NULL))
    return 0;
  const uint64_t a = kernel_traffic_read(&least), b = kernel_traffic_read(&most);
  return b > a ? b - a : 0;
}

/* What crosses the boundary besides what the kernel asks for, as an H100 counted it (assets/counters/h100: hopper,
 * more, hopper-more): rows of boxes outside Q, sectors of a counter, the sum of a split, whose 4 bytes take a sector;
 * and entries of a page table, which come through L1 in sectors, or not at all where L1 has them. */
typedef struct {
  uint64_t read, written, least_spared, most_read; /* the last two: of the range, below and above `read` */
} Beside;

static Beside beside_of(const KernelModel *model, const Plan *plan, const KernelTraffic *traffic) {
  const Shape *s = &plan->shape;
  const uint64_t heads = (uint64_t)(s->batch * s->heads), blocks = heads * (uint64_t)ceil_div(s->N_q, plan->tiling.B_r);
  const uint64_t rows_outside = blocks * (uint64_t)plan->tiling.B_r - heads * (uint64_t)s->N_q;
  const uint64_t taken = model->takes_blocks ? blocks * SECTOR_BYTES : 0, pages = traffic->read[KERNEL_PAGES];
  const uint64_t sums = model->counted ? traffic->write[KERNEL_STATS] / STATS_BYTES : 0;
  const bool is_split = schedule_find(model->schedule) == shipped_splitting();
  return (Beside){
      .read = taken + (model->reads_boxes ? rows_outside * (uint64_t)(s->d * plan->element_bytes) : 0),
      .written = taken + (is_split ? sums * (SECTOR_BYTES - STATS_BYTES) : 0),
      .least_spared = pages,
      .most_read = 7 * pages,
  };
}

Status counter_compare(const CounterRow *row, const KernelModel *model, const Shape *shape, const Tiling *tiling,
                       Comparison comparisons[COMPARISONS_MAX], int *n_comparisons, Error *error) {
  KernelTraffic traffic;
  Plan plan;
  *n_comparisons = 0;
  Status status = plan_make(&plan, shape, tiling, error);
  if (!status) status = kernel_model_traffic(model, shape, tiling, &traffic, error);
  if (status) return status;
  const uint64_t asked = kernel_traffic_read(&traffic) + (uint64_t)model->extra_read_bytes; /* may take away */
  const uint64_t written = kernel_traffic_write(&traffic) + (uint64_t)model->extra_write_bytes;
  const uint64_t torn_read = torn_bytes(model, &plan, traffic.read),
                 torn_written = torn_bytes(model, &plan, traffic.write);
  const uint64_t most = asked + products_again(model, shape, tiling);
  const uint64_t row_bytes = (uint64_t)plan.shape.d * (uint64_t)plan.element_bytes;
  const uint64_t queries = (uint64_t)(plan.shape.batch * plan.shape.heads * plan.shape.N_q);
  const uint64_t keys = (uint64_t)(plan.shape.batch * plan.shape.kv_heads * plan.shape.N_k);
  const uint64_t once = (queries + 2 * keys) * row_bytes;
  Compared to = {row, comparisons, 0};
  add(&to, COUNTER_COUNTED_READ, COMPARE_EQUAL, true, asked, asked);
  add(&to, COUNTER_COUNTED_WRITE, COMPARE_EQUAL, true, written, written);
  const Beside beside = beside_of(model, &plan, &traffic);
  const bool reaches_l2 = !model->hits_l1 || model->counted; /* what of it does not is in `beside` */
  add(&to, COUNTER_BOUNDARY_READ,
      reaches_l2 && !torn_read && most == asked && !beside.most_read ? COMPARE_EQUAL : COMPARE_RANGE,
      (plan.tiling.n_splits <= 1 || model->counted) && most == asked,
      reaches_l2 ? asked + beside.read - beside.least_spared : once, most + torn_read + beside.read + beside.most_read);
  add(&to, COUNTER_BOUNDARY_WRITE, torn_written ? COMPARE_RANGE : COMPARE_EQUAL, !model->spills,
      written + beside.written, written + torn_written + beside.written);
  plan.shape.causal = shape->causal && !model->walks_masked;
  const uint64_t mma = model->uses_mma ? tensor_instructions(model, &plan) : 0;
  if (mma) add(&to, COUNTER_HMMA, COMPARE_EQUAL, true, mma, mma);
  add(&to, COUNTER_L2_READ_SECTORS, COMPARE_RANGE, false, once / SECTOR_BYTES, (most + torn_read) / SECTOR_BYTES);
  const uint64_t stored = (written - (uint64_t)model->extra_atomic_bytes) / SECTOR_BYTES;
  add(&to, COUNTER_L2_WRITE_SECTORS, torn_written ? COMPARE_RANGE : COMPARE_EQUAL, false, stored,
      stored + torn_written / SECTOR_BYTES);
  add(&to, COUNTER_HBM_READ, COMPARE_RANGE, false, once, most + torn_read + HBM_OVERHEAD_BYTES);
  add(&to, COUNTER_HBM_WRITE, COMPARE_RANGE, false, 0, written + torn_written);
  add(&to, COUNTER_HBM_TOTAL, COMPARE_RANGE, false, once,
      most + torn_read + HBM_OVERHEAD_BYTES + written + torn_written);
  *n_comparisons = to.n;
  return STATUS_OK;
}
