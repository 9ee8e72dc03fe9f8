#include "kernels/counters/predict.h"

#include <math.h>

#include "kernels/counters/l2_counters.h"

enum { SECTOR_BYTES = 32 };

const PredictedName PREDICTED_NAMES[PREDICT_COUNT] = {
    {"HBM reads", 0.10, COUNTER_HBM_READ, 1},         {"fabric", 0.05, COUNTER_FABRIC_SECTORS, SECTOR_BYTES},
    {"L2 sectors", 0.10, COUNTER_L2_READ_SECTORS, 1}, {"L2 hit rate", 0.01, COUNTER_LOOKUP_HIT, 1},
    {"time at best", 0, COUNTER_TIME, 1e-9},
};

static Status predict_draw(Prediction *prediction, const Problem *problem, const Schedule *schedule, const Gpu *gpu,
                           Error *error) {
  Simulation s;
  Status status = simulate(&s, problem, schedule, error);
  if (!status) status = simulation_l2(&s, problem, gpu, error);
  if (status) return status;
  simulation_time(&s, gpu);
  *prediction = (Prediction){{NAN, NAN, NAN, NAN, s.timing.run.bound_s}};
  if (!s.has_l2) return STATUS_OK;
  const L2Counters l2 = l2_counters_of(&s, gpu);
  *prediction = (Prediction){
      {l2.hbm_read_bytes, l2.fabric_bytes, l2.l2_read_bytes / SECTOR_BYTES, l2.hit_rate, s.timing.run.bound_s}};
  return STATUS_OK;
}

Status predict(Prediction *prediction, const Problem *run, const Schedule *schedule, const Gpu *gpu, uint32_t draws,
               Error *error) {
  Problem problem = *run;
  problem.machine = (Machine){.sram_bytes = gpu->shared_bytes_per_cta, .l2_bytes = gpu->l2_bytes, .n_SM = gpu->n_sm};
  problem.profiled = true;
  Prediction mean = {{0}};
  for (problem.draw = 0; problem.draw == 0 || problem.draw < draws; problem.draw++) {
    Prediction p;
    const Status status = predict_draw(&p, &problem, schedule, gpu, error);
    if (status) return status;
    for (int q = 0; q < PREDICT_COUNT; q++) mean.value[q] += (p.value[q] - mean.value[q]) / (problem.draw + 1);
  }
  *prediction = mean;
  return STATUS_OK;
}

Prediction predict_measured(const CounterRow *row) {
  Prediction p;
  for (int q = 0; q < PREDICT_COUNT; q++) {
    const Counter c = PREDICTED_NAMES[q].counter;
    p.value[q] = row->known[c] ? (double)row->value[c] * PREDICTED_NAMES[q].unit : NAN;
  }
  const double misses = row->known[COUNTER_LOOKUP_MISS] ? (double)row->value[COUNTER_LOOKUP_MISS] : NAN;
  p.value[PREDICT_HIT_RATE] /= p.value[PREDICT_HIT_RATE] + misses; /* of none: not known */
  return p;
}

double predict_error(PredictedQuantity quantity, double predicted, double measured) {
  if (quantity == PREDICT_HIT_RATE) return predicted - measured;
  const double of = quantity == PREDICT_TIME ? predicted : measured,
               off = quantity == PREDICT_TIME ? measured - predicted : predicted - measured;
  return off == 0 ? 0 : of > 0 ? off / of : off > 0 ? 1 : -1;
}
