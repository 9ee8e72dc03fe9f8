#include "sim/numbers/attention_check.h"

#include <math.h>
#include <string.h>

#include "sim/numbers/attention_parts.h"

/* The mask, written from its description in sim/problem/shape.h and not from the bands that the schedules use. */
static bool is_seen(const Shape *shape, int64_t query, int64_t key) {
  const int64_t own = query + shape->N_k - shape->N_q; /* the query's own position among the keys */
  if (shape->causal && key > own) return false;
  if (shape->window == 0) return true;
  if (shape->causal) return key > own - shape->window;
  return key > own - shape->window && key < own + shape->window;
}

static double score(const Attention *a, int64_t query, int64_t key) {
  const int64_t d = a->plan.shape.d;
  const double *q = const_part(a, AT_Q) + query * d, *k = const_part(a, AT_K) + key * d;
  double sum = 0;
  for (int64_t c = 0; c < d; c++) sum += q[c] * k[c];
  return sum * (a->config.scale != 0 ? a->config.scale : 1 / sqrt((double)d));
}

void attention_reference_row(const Attention *a, int64_t row, double *O) {
  const Shape *shape = &a->plan.shape;
  double largest = -INFINITY, l = 0;
  for (int64_t c = 0; c < shape->d; c++) O[c] = 0;
  for (int64_t key = 0; key < shape->N_k; key++)
    if (is_seen(shape, row, key)) largest = fmax(largest, score(a, row, key));
  for (int64_t key = 0; key < shape->N_k; key++) {
    if (!is_seen(shape, row, key)) continue;
    const double x = score(a, row, key) - largest;
    const double weight = a->config.softmax.powers_of_two ? exp2(x) : exp(x);
    l += weight;
    for (int64_t c = 0; c < shape->d; c++) O[c] += weight * const_part(a, AT_V)[key * shape->d + c];
  }
  for (int64_t c = 0; c < shape->d && l > 0; c++) O[c] /= l;
}

/* The score as the kernel computes it. */
static double computed_score(const Attention *a, int64_t query, int64_t key) {
  const Precision accumulator = precision_accumulator(a->config.softmax.precision);
  const int64_t d = a->plan.shape.d;
  const double *q = const_part(a, AT_Q) + query * d, *k = const_part(a, AT_K) + key * d;
  double sum = 0;
  for (int64_t c = 0; c < d; c++) sum = precision_multiply_add(accumulator, q[c], k[c], sum);
  return precision_computed(accumulator, sum * a->scale);
}

void attention_one_pass_row(const Attention *a, int64_t row, double *O) {
  const Shape *shape = &a->plan.shape;
  const SoftmaxConfig *config = &a->config.softmax;
  const Precision accumulator = precision_accumulator(config->precision);
  double largest = -INFINITY, l = 0;
  for (int64_t c = 0; c < shape->d; c++) O[c] = 0;
  for (int64_t key = 0; key < shape->N_k; key++)
    if (is_seen(shape, row, key)) largest = fmax(largest, computed_score(a, row, key));
  const double m = softmax_new_max(config, -INFINITY, largest);
  for (int64_t key = 0; key < shape->N_k; key++) {
    if (!is_seen(shape, row, key)) continue;
    const double exponential = softmax_exponential(config, computed_score(a, row, key), m);
    const double p = precision_round(config->precision, exponential);
    const double *v = const_part(a, AT_V) + key * shape->d;
    l = precision_computed(accumulator, l + exponential);
    for (int64_t c = 0; c < shape->d; c++) O[c] = precision_multiply_add(accumulator, p, v[c], O[c]);
  }
  for (int64_t c = 0; c < shape->d; c++) O[c] = precision_round(config->precision, softmax_divide(config, O[c], l));
}

static const double *O_row_in_hbm(const Attention *a, int64_t row) {
  return const_part(a, AT_O) + row * a->plan.shape.d;
}

Accuracy attention_accuracy(const Attention *a, const Attention *exact, double *scratch) {
  Accuracy accuracy = {0};
  for (int64_t row = 0; row < a->plan.shape.N_q; row++) {
    attention_reference_row(exact ? exact : a, row, scratch);
    accuracy_add(&accuracy, a->config.softmax.precision, O_row_in_hbm(a, row), scratch, a->plan.shape.d);
  }
  return accuracy;
}

OnePassComparison attention_compare_one_pass(const Attention *a, double *scratch) {
  const int64_t d = a->plan.shape.d;
  OnePassComparison comparison = {.n_rows = a->plan.shape.N_q};
  for (int64_t row = 0; row < a->plan.shape.N_q; row++) {
    attention_one_pass_row(a, row, scratch);
    accuracy_add(&comparison.gap, a->config.softmax.precision, O_row_in_hbm(a, row), scratch, d);
    comparison.n_rows_that_differ += memcmp(scratch, O_row_in_hbm(a, row), (size_t)d * sizeof *scratch) != 0;
  }
  return comparison;
}
