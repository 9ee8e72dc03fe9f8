#include "sim/numbers/quantised.h"

#include <stdlib.h>

#include "sim/base/random.h"

enum { BLOCK = 128, SIGNS = 3 }; /* rows of a block: FlashAttention-3's B_r; the stream of R's signs */

const QuantisedRow QUANTISED_TABLE[QUANTISED_ROWS] = {
    {"fp16, standard attention", {PRECISION_FP16, PRECISION_FP16, true, false, 0}, 3.2e-4},
    {"fp16, FlashAttention-3", {PRECISION_FP16, PRECISION_FP16, false, false, 0}, 1.9e-4},
    {"fp8, standard attention", {PRECISION_E4M3, PRECISION_FP16, true, false, 0}, 2.4e-2},
    {"fp8, FlashAttention-3", {PRECISION_E4M3, PRECISION_E4M3, false, true, BLOCK}, 9.1e-3},
    {"fp8, without block scales", {PRECISION_E4M3, PRECISION_E4M3, false, true, 0}, 9.3e-3},
    {"fp8, without the rotation", {PRECISION_E4M3, PRECISION_E4M3, false, false, BLOCK}, 2.4e-2},
};

void quantised_round(Precision stored, int64_t block, double *x, int64_t rows, int64_t d) {
  const PrecisionFormat *format = precision_format(stored);
  const int64_t step = block > 0 ? block * d : rows * d;
  for (int64_t at = 0; at < rows * d; at += step) {
    const int64_t end = at + step < rows * d ? at + step : rows * d;
    double most = 0;
    for (int64_t k = at; k < end; k++) most = fmax(most, fabs(x[k]));
    const bool is_scaled = format->bits == 8 && most > 0;
    const double scale = is_scaled ? most / precision_from_bits(stored, format->largest) : 1;
    for (int64_t k = at; k < end; k++) x[k] = scale * precision_round(stored, x[k] / scale);
  }
}

void quantised_rotate(uint64_t seed, double *x, int64_t rows, int64_t d) {
  for (int64_t row = 0; row < rows; row++) {
    double *v = x + row * d;
    for (int64_t c = 0; c < d; c++) v[c] *= (random_uniform(seed, SIGNS, (uint64_t)c) < 0.5 ? -1 : 1) / sqrt((double)d);
    for (int64_t half = 1; half < d; half *= 2)
      for (int64_t c = 0; c < d; c++) {
        if (c & half) continue;
        const double a = v[c], b = v[c + half];
        v[c] = a + b;
        v[c + half] = a - b;
      }
  }
}

typedef struct {
  QuantisedShape shape;
  double *inputs[3]; /* Q, K, V, as drawn; N x d */
  double *stored[3]; /* as rounded */
  double *p;         /* of a row: N */
  double *exact, *O; /* queries x d */
} Work;

static void store(Work *w, const QuantisedForm *form, uint64_t seed) {
  const int64_t N = w->shape.N, d = w->shape.d;
  for (int t = 0; t < 3; t++) {
    double *x = w->stored[t];
    memcpy(x, w->inputs[t], (size_t)(N * d) * sizeof *x);
    if (form->rotates && t < 2) quantised_rotate(seed, x, N, d);
    if (form->stored != PRECISION_FP64) quantised_round(form->stored, form->block, x, N, d);
  }
}

/* Scores of a row into w->p: in the accumulator, or stored. */
static void score(Work *w, const QuantisedForm *form, const double *q, const double *K) {
  const int64_t N = w->shape.N, d = w->shape.d;
  const Precision accumulator = precision_accumulator(form->stored);
  for (int64_t j = 0; j < N; j++) {
    double sums[4] = {0};
    for (int64_t c = 0; c < d; c++) sums[c % 4] += q[c] * K[j * d + c];
    const double s = precision_computed(accumulator, sums[0] + sums[1] + sums[2] + sums[3]);
    const double stored = form->is_standard ? precision_round(form->weights, s) : s;
    const double scaled = precision_computed(accumulator, stored / sqrt((double)d));
    w->p[j] = form->is_standard ? precision_round(form->weights, scaled) : scaled;
  }
}

static void attend(Work *w, const QuantisedForm *form, double *O) {
  const int64_t N = w->shape.N, d = w->shape.d;
  const Precision accumulator = precision_accumulator(form->stored);
  memset(O, 0, (size_t)(w->shape.queries * d) * sizeof *O);
  for (int64_t row = 0; row < w->shape.queries; row++, O += d) {
    double m = -INFINITY, l = 0;
    score(w, form, w->stored[0] + row * d, w->stored[1]);
    for (int64_t j = 0; j < N; j++) m = fmax(m, w->p[j]);
    for (int64_t j = 0; j < N; j++) l += w->p[j] = precision_computed(accumulator, exp(w->p[j] - m));
    const double before = form->is_standard ? l : 1;
    for (int64_t j = 0; j < N; j++) {
      const double p = precision_round(form->weights, w->p[j] / before);
      for (int64_t c = 0; c < d && p != 0; c++) O[c] += p * w->stored[2][j * d + c];
    }
    for (int64_t c = 0; c < d; c++) {
      O[c] = precision_computed(accumulator, O[c]) / (l / before);
      if (form->stored != PRECISION_FP64) O[c] = precision_round(PRECISION_FP16, O[c]);
    }
  }
}

static void compare(Work *w, uint64_t seed, Accuracy *accuracies) {
  const QuantisedForm exact = {.stored = PRECISION_FP64, .weights = PRECISION_FP64};
  const int64_t n = w->shape.N * w->shape.d;
  for (uint64_t t = 0; t < 3; t++)
    for (int64_t k = 0; k < n; k++) w->inputs[t][k] = random_outlier(seed, t, (uint64_t)k);
  store(w, &exact, seed);
  attend(w, &exact, w->exact);
  for (int k = 0; k < QUANTISED_ROWS; k++) {
    store(w, &QUANTISED_TABLE[k].form, seed);
    attend(w, &QUANTISED_TABLE[k].form, w->O);
    accuracy_add(&accuracies[k], PRECISION_FP16, w->O, w->exact, w->shape.queries * w->shape.d);
  }
}

Status quantised_errors(const QuantisedShape *shape, uint64_t seed, Accuracy *accuracies, Error *error) {
  const int64_t one = shape->N * shape->d, few = shape->queries * shape->d;
  double *numbers = malloc((size_t)(6 * one + 2 * few + shape->N) * sizeof *numbers);
  if (!numbers) return error_no_memory(error, "for N = %jd, d = %jd", shape->N, shape->d);
  Work w = {.shape = *shape, .p = numbers + 6 * one};
  for (int t = 0; t < 3; t++) {
    w.inputs[t] = numbers + t * one;
    w.stored[t] = numbers + (3 + t) * one;
  }
  w.exact = w.p + shape->N;
  w.O = w.exact + few;
  compare(&w, seed, accuracies);
  free(numbers);
  return STATUS_OK;
}
