/* What lies beyond SRAM and within it: L2, of the whole launch, and registers. Both are worked out once for a problem.
 */
#include "viz/scene/snapshot_parts.h"

static Wide whole(double bytes) { return (Wide)(bytes + 0.5); }

/* The figures that `tilewalk sim --gpu` prints: all CTAs of all heads at once. */
static Status fill_l2(Stage *stage, Error *error) {
  const StageConfig *c = &stage->config;
  SnapshotL2 *l2 = &stage->l2;
  Simulation launch;
  Error inner = {0};
  l2->capacity_bytes = (uint64_t)c->gpu.l2_bytes;
  if (c->gpu.l2_bytes == 0) return STATUS_OK;
  l2->is_awaited = c->l2_later;
  if (l2->is_awaited) return STATUS_OK;
  const Status status = simulation_answer(&launch, &c->problem, c->schedule, &c->gpu, &inner);
  if (status == STATUS_NO_MEMORY) return error_pass(error, &inner);
  if (status) return STATUS_OK;
  l2->least_s = launch.timing.least_s;
  l2->predicted_s = launch.timing.predicted_s > 0 ? launch.timing.predicted_s : 0;
  if (!launch.has_l2) return STATUS_OK; /* a CTA that does not fit, or a launch that is too large to walk */
  l2->is_known = true;
  l2->asked_read_bytes = whole(launch.l2.read_bytes);
  l2->asked_write_bytes = whole(launch.l2.write_bytes);
  l2->hbm_read_bytes = whole(launch.l2.hbm_read_bytes);
  l2->hbm_write_bytes = whole(simulation_hbm_write_bytes(&launch)); /* sooner or later: see sim/answer/report.c */
  l2->fabric_bytes = whole(launch.l2.fabric_bytes);
  l2->hit_rate = l2_run_hit_rate(&launch.l2);
  return STATUS_OK;
}

void stage_give_l2(Stage *stage, const SnapshotL2 *l2) { stage->l2 = *l2; }

/* What are no inputs as fast kernels hold it: accumulators in fp32. */
static void fill_registers(Stage *stage) {
  enum { REGISTER_BYTES = 4 };
  stage->register_bytes =
      (uint64_t)(simulation_accumulator_bytes(&stage->run) + stage->run.sram.columns + stage->run.sram.registers);
  stage->register_capacity_bytes = (uint64_t)stage->config.gpu.registers_per_sm * REGISTER_BYTES;
}

Status stage_fill_levels(Stage *stage, Error *error) {
  stage->roles = snapshot_roles(stage_schedule(stage));
  live_find(stage_schedule(stage), schedule_when(stage_plan(stage)), stage->live);
  fill_registers(stage);
  return fill_l2(stage, error);
}
