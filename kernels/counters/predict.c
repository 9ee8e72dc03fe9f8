#include "kernels/counters/predict.h"

#include "kernels/counters/l2_counters.h"

enum { SECTOR_BYTES = 32 };

const PredictedName PREDICTED_NAMES[PREDICT_COUNT] = {
    {"HBM reads", 0.10}, {"fabric", 0.05}, {"L2 sectors", 0.10}, {"L2 hit rate", 0.01}, {"time at best", 0},
};

static void set(Prediction *p, PredictedQuantity quantity, double value) {
  p->known[quantity] = true;
  p->value[quantity] = value;
}

static Status predict_draw(Prediction *prediction, const PredictedRun *run, uint32_t draw, Error *error) {
  const Gpu *gpu = run->gpu;
  Problem problem = {.shape = run->shape,
                     .tiling = run->tiling,
                     .machine = {.sram_bytes = gpu->shared_bytes_per_cta, .l2_bytes = gpu->l2_bytes, .n_SM = gpu->n_sm},
                     .launch = run->launch,
                     .without = run->without,
                     .in_step = run->in_step,
                     .skew_turns = run->skew_turns,
                     .placement = run->placement,
                     .profiled = true,
                     .once = run->once,
                     .draw = draw};
  Simulation s;
  Status status = simulate(&s, &problem, run->schedule, error);
  if (status == STATUS_OK) status = simulation_l2(&s, &problem, gpu, error);
  if (status) return status;
  *prediction = (Prediction){0};
  simulation_time(&s, gpu);
  set(prediction, PREDICT_TIME, s.timing.run.bound_s);
  if (!s.has_l2) return STATUS_OK;
  const L2Counters l2 = l2_counters_of(&s, gpu);
  set(prediction, PREDICT_HBM_READ, l2.hbm_read_bytes);
  set(prediction, PREDICT_FABRIC, l2.fabric_bytes);
  set(prediction, PREDICT_L2_SECTORS, l2.l2_read_bytes / SECTOR_BYTES);
  set(prediction, PREDICT_HIT_RATE, l2.hit_rate);
  return STATUS_OK;
}

Status predict(Prediction *prediction, const PredictedRun *run, Error *error) {
  const uint32_t draws = run->draws ? run->draws : 1;
  Prediction mean = {0};
  for (uint32_t draw = 0; draw < draws; draw++) {
    Prediction p;
    const Status status = predict_draw(&p, run, draw, error);
    if (status) return status;
    for (int q = 0; q < PREDICT_COUNT; q++)
      if (p.known[q]) set(&mean, (PredictedQuantity)q, mean.value[q] + (p.value[q] - mean.value[q]) / (draw + 1));
  }
  *prediction = mean;
  return STATUS_OK;
}

Prediction predict_measured(const CounterRow *row) {
  Prediction p = {0};
  if (row->known[COUNTER_HBM_READ]) set(&p, PREDICT_HBM_READ, (double)row->value[COUNTER_HBM_READ]);
  if (row->known[COUNTER_FABRIC_SECTORS])
    set(&p, PREDICT_FABRIC, (double)row->value[COUNTER_FABRIC_SECTORS] * SECTOR_BYTES);
  if (row->known[COUNTER_L2_READ_SECTORS]) set(&p, PREDICT_L2_SECTORS, (double)row->value[COUNTER_L2_READ_SECTORS]);
  const double hits = (double)row->value[COUNTER_LOOKUP_HIT], looks = hits + (double)row->value[COUNTER_LOOKUP_MISS];
  if (row->known[COUNTER_LOOKUP_HIT] && row->known[COUNTER_LOOKUP_MISS] && looks > 0)
    set(&p, PREDICT_HIT_RATE, hits / looks);
  if (row->known[COUNTER_TIME]) set(&p, PREDICT_TIME, (double)row->value[COUNTER_TIME] * 1e-9);
  return p;
}

double predict_error(PredictedQuantity quantity, double predicted, double measured) {
  if (quantity == PREDICT_HIT_RATE) return predicted - measured;
  const double of = quantity == PREDICT_TIME ? predicted : measured,
               off = quantity == PREDICT_TIME ? measured - predicted : predicted - measured;
  return off == 0 ? 0 : of > 0 ? off / of : off > 0 ? 1 : -1;
}
