#include "kernels/counters/kernel_model.h"

#include <string.h>

#include "sim/algorithms/schedule.h"

const KernelModel KERNEL_MODELS[] = {
    {.name = "standard_naive", .schedule = "standard", .only_block = 1},
    {.name = "standard_tiled", .schedule = "standard", .bypasses_l1 = true, .only_block = 64},
    {.name = "fa1", .schedule = "fa1", .bypasses_l1 = true},
    {.name = "fa2_scalar", .schedule = "fa2", .bypasses_l1 = true},
    {.name = "fa2_causal", .schedule = "fa2", .skips_masked = true, .bypasses_l1 = true},
    {.name = "fa2_tensor", .schedule = "fa2", .skips_masked = true, .bypasses_l1 = true},
    {.name = "fa2_async", .schedule = "fa2", .skips_masked = true, .bypasses_l1 = true},
};
const int N_KERNEL_MODELS = (int)(sizeof KERNEL_MODELS / sizeof *KERNEL_MODELS);

const KernelModel *kernel_model_find(const char *name) {
  for (int i = 0; i < N_KERNEL_MODELS; i++)
    if (!strcmp(KERNEL_MODELS[i].name, name)) return &KERNEL_MODELS[i];
  return NULL;
}

static Status narrowed(const Wide *wide_bytes, uint64_t *bytes, Error *error) {
  for (int t = 0; t < TENSOR_COUNT; t++) {
    if (wide_bytes[t] > UINT64_MAX)
      return error_set(error, STATUS_TOO_LARGE,
                       "the kernel would move 2^64 bytes of %s or more: choose a smaller shape",
                       tensor_name((Tensor)t));
    bytes[t] = (uint64_t)wide_bytes[t];
  }
  return STATUS_OK;
}

static Status finish(Traffic *per_head, const Shape *shape, bool overflow, KernelTraffic *traffic, Error *error) {
  traffic_scale(per_head, wide(shape->batch) * wide(shape->heads), &overflow);
  if (overflow) return error_set(error, STATUS_TOO_LARGE, "the traffic does not fit 128 bits: choose a smaller shape");
  Status status = narrowed(per_head->read, traffic->read, error);
  return status ? status : narrowed(per_head->write, traffic->write, error);
}

/* Elements per head; the formulas in the heads of kernels/ladder/standard_naive.cu and standard_tiled.cu. */
static void standard_kernel(const Plan *plan, bool tiled, Traffic *t, bool *overflow) {
  const Wide N_q = wide(plan->shape.N_q), N_k = wide(plan->shape.N_k), d = wide(plan->shape.d);
  const Wide e = (Wide)(unsigned)plan->element_bytes;
  const Wide scores = checked_mul(N_q * N_k, e, overflow), scores_d = checked_mul(scores, d, overflow);
  const Wide T_r = wide(ceil_div(plan->shape.N_q, 64)), T_c = wide(ceil_div(plan->shape.N_k, 64));
  const Wide T_d = wide(ceil_div(plan->shape.d, 64));
  t->read[TENSOR_Q] = tiled ? T_c * N_q * d * e : scores_d;
  t->read[TENSOR_K] = t->read[TENSOR_V] = tiled ? T_r * N_k * d * e : scores_d;
  t->read[TENSOR_S] = checked_mul(scores, tiled ? 2 : 3, overflow);
  t->read[TENSOR_P] = tiled ? checked_mul(scores, T_d, overflow) : scores_d;
  t->write[TENSOR_S] = t->write[TENSOR_P] = scores;
  t->write[TENSOR_O] = N_q * d * e;
}

Status kernel_model_traffic(const KernelModel *model, const Shape *shape, const Tiling *tiling, KernelTraffic *traffic,
                            Error *error) {
  if (strcmp(model->schedule, "standard")) return kernel_model_ideal(model, shape, tiling, traffic, error);
  Shape unmasked = *shape;
  unmasked.causal = false;
  Plan plan;
  const Status status = plan_make(&plan, &unmasked, tiling, error);
  if (status) return status;
  bool overflow = false;
  Traffic per_head = {0};
  standard_kernel(&plan, !strcmp(model->name, "standard_tiled"), &per_head, &overflow);
  return finish(&per_head, &plan.shape, overflow, traffic, error);
}

Status kernel_model_ideal(const KernelModel *model, const Shape *shape, const Tiling *tiling, KernelTraffic *traffic,
                          Error *error) {
  Shape walked = *shape;
  if (!model->skips_masked) walked.causal = false;
  Plan plan;
  const Status status = plan_make(&plan, &walked, tiling, error);
  if (status) return status;
  bool overflow = false;
  Traffic per_head = {0};
  schedule_find(model->schedule)->traffic(&plan, &per_head, &overflow);
  return finish(&per_head, &plan.shape, overflow, traffic, error);
}

static uint64_t sum(const uint64_t *bytes) {
  uint64_t total = 0;
  for (int t = 0; t < TENSOR_COUNT; t++) total += bytes[t];
  return total;
}

uint64_t kernel_traffic_read(const KernelTraffic *traffic) { return sum(traffic->read); }
uint64_t kernel_traffic_write(const KernelTraffic *traffic) { return sum(traffic->write); }
