#include "tests/support/attention_check.h"

#include <math.h>
#include <string.h>

#include "sim/numbers/reference.h"

static const double *row_of(const Attention *a, const char *tensor, int64_t row) {
  const AttentionView view = attention_in_hbm(a, tensor);
  return view.values + row * view.stride;
}

static double score(const Attention *a, int64_t query, int64_t key) {
  const int64_t d = a->plan.shape.d;
  const double *q = row_of(a, "Q", query), *k = row_of(a, "K", key);
  double sum = 0;
  for (int64_t c = 0; c < d; c++) sum += q[c] * k[c];
  const double x = sum * (a->config.scale != 0 ? a->config.scale : 1 / sqrt((double)d)),
               cap = a->config.softmax.softcap;
  return cap > 0 ? cap * tanh(x / cap) : x;
}

void attention_reference_row(const Attention *a, int64_t row, double *O) {
  const Shape *shape = &a->plan.shape;
  const SoftmaxConfig *config = &a->config.softmax;
  double largest = config->has_sink ? config->sink : -INFINITY, l = 0;
  for (int64_t c = 0; c < shape->d_v; c++) O[c] = 0;
  for (int64_t key = 0; key < shape->N_k; key++)
    if (reference_sees(shape, row, key)) largest = fmax(largest, score(a, row, key));
  if (config->has_sink) l = config->powers_of_two ? exp2(config->sink - largest) : exp(config->sink - largest);
  for (int64_t key = 0; key < shape->N_k; key++) {
    if (!reference_sees(shape, row, key)) continue;
    const double x = score(a, row, key) - largest;
    const double weight = config->powers_of_two ? exp2(x) : exp(x);
    const double *v = row_of(a, "V", key);
    l += weight;
    for (int64_t c = 0; c < shape->d_v; c++) O[c] += weight * v[c];
  }
  for (int64_t c = 0; c < shape->d_v && l > 0; c++) O[c] /= l;
}

/* The score as the kernel computes it. */
static double computed_score(const Attention *a, int64_t query, int64_t key) {
  const Precision accumulator = precision_accumulator(a->config.softmax.precision);
  const int64_t d = a->plan.shape.d;
  const double *q = row_of(a, "Q", query), *k = row_of(a, "K", key);
  double sum = 0;
  for (int64_t c = 0; c < d; c++) sum = precision_multiply_add(accumulator, q[c], k[c], sum);
  const double x = precision_computed(accumulator, sum * a->evaluate.scale), cap = a->config.softmax.softcap;
  return cap > 0 ? softmax_capped(a->config.softmax.precision, x, cap) : x;
}

void attention_one_pass_row(const Attention *a, int64_t row, double *O) {
  const Shape *shape = &a->plan.shape;
  const SoftmaxConfig *config = &a->config.softmax;
  const Precision accumulator = precision_accumulator(config->precision);
  double largest = -INFINITY, l = 0;
  for (int64_t c = 0; c < shape->d_v; c++) O[c] = 0;
  for (int64_t key = 0; key < shape->N_k; key++)
    if (reference_sees(shape, row, key)) largest = fmax(largest, computed_score(a, row, key));
  const SoftmaxState start = softmax_start(config);
  const double m = softmax_new_max(config, start.m, largest);
  if (start.l > 0) l = precision_computed(accumulator, start.l * softmax_factor(config, start.m, m));
  for (int64_t key = 0; key < shape->N_k; key++) {
    if (!reference_sees(shape, row, key)) continue;
    const double exponential = softmax_exponential(config, computed_score(a, row, key), m);
    const double p = precision_round(config->precision, exponential);
    const double *v = row_of(a, "V", key);
    l = precision_computed(accumulator, l + exponential);
    for (int64_t c = 0; c < shape->d_v; c++) O[c] = precision_multiply_add(accumulator, p, v[c], O[c]);
  }
  for (int64_t c = 0; c < shape->d_v; c++) O[c] = precision_round(config->precision, softmax_divide(config, O[c], l));
}

Accuracy attention_accuracy(const Attention *a, const Attention *exact, double *scratch) {
  Accuracy accuracy = {0};
  for (int64_t row = 0; row < a->plan.shape.N_q; row++) {
    attention_reference_row(exact ? exact : a, row, scratch);
    accuracy_add(&accuracy, a->config.softmax.precision, row_of(a, "O", row), scratch, a->plan.shape.d_v);
  }
  return accuracy;
}

OnePassComparison attention_compare_one_pass(const Attention *a, double *scratch) {
  const int64_t d = a->plan.shape.d_v;
  OnePassComparison comparison = {.n_rows = a->plan.shape.N_q};
  for (int64_t row = 0; row < a->plan.shape.N_q; row++) {
    attention_one_pass_row(a, row, scratch);
    accuracy_add(&comparison.gap, a->config.softmax.precision, row_of(a, "O", row), scratch, d);
    comparison.n_rows_that_differ += memcmp(scratch, row_of(a, "O", row), (size_t)d * sizeof *scratch) != 0;
  }
  return comparison;
}
