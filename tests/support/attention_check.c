#include "tests/support/attention_check.h"

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

Accuracy attention_accuracy(const Attention *a, const Attention *exact, double *scratch) {
  Accuracy accuracy = {0};
  for (int64_t row = 0; row < a->plan.shape.N_q; row++) {
    attention_reference_row(exact ? exact : a, row, scratch);
    accuracy_add(&accuracy, a->config.softmax.precision, row_of(a, "O", row), scratch, a->plan.shape.d_v);
  }
  return accuracy;
}
