#include "sim/numbers/softmax.h"

#include "sim/base/random.h"

#define LOG2_E 1.4426950408889634

static Precision accumulator_of(const SoftmaxConfig *config) { return precision_accumulator(config->precision); }

SoftmaxState softmax_start(const SoftmaxConfig *config) {
  if (!config->has_sink) return (SoftmaxState){.m = config->without_max ? 0 : -INFINITY};
  const double sink = precision_computed(accumulator_of(config), config->sink), m = config->without_max ? 0 : sink;
  return (SoftmaxState){.m = m, .l = softmax_exponential(config, sink, m)};
}

double softmax_capped(Precision precision, double score, double cap) {
  if (score == -INFINITY) return score;
  const Precision accumulator = precision_accumulator(precision);
  const double part = precision_computed(accumulator, tanh(precision_computed(accumulator, score / cap)));
  return precision_computed(accumulator, cap * part);
}

double softmax_new_max(const SoftmaxConfig *config, double m, double block_max) {
  if (config->without_max) return 0;
  const double grows = (block_max - m) * (config->powers_of_two ? 1 : LOG2_E);
  return grows > 0 && grows <= config->rescale_above ? m : fmax(m, block_max);
}

double softmax_exponential(const SoftmaxConfig *config, double score, double m) {
  if (score == -INFINITY) return 0; /* masked, even while m is -infinity too */
  Precision accumulator = accumulator_of(config);
  double exponent = precision_computed(accumulator, score - m);
  return precision_computed(accumulator, config->powers_of_two ? exp2(exponent) : exp(exponent));
}

static double softmax_factor(const SoftmaxConfig *config, double m_old, double m_new) {
  return softmax_exponential(config, m_old, m_new); /* m_old = -infinity: 0 */
}

double softmax_divide(const SoftmaxConfig *config, double O, double l) {
  return l == 0 ? 0 : precision_computed(accumulator_of(config), O / l);
}

static double largest_score(Precision accumulator, const double *scores, int64_t n) {
  double largest = -INFINITY;
  for (int64_t k = 0; k < n; k++) largest = fmax(largest, precision_computed(accumulator, scores[k]));
  return largest;
}

/* O += weight x value, for one key. */
static void add_weighted(const SoftmaxConfig *config, double weight, const double *value, int64_t d, double *O) {
  Precision accumulator = accumulator_of(config);
  for (int64_t c = 0; c < d; c++) {
    double stored = precision_round(config->precision, value[c]);
    O[c] = precision_multiply_add(accumulator, weight, stored, O[c]);
  }
}

SoftmaxStep softmax_step(const SoftmaxConfig *config, SoftmaxState *state, const double *scores, int64_t n,
                         const double *values, int64_t d, double *weights, double *O) {
  Precision accumulator = accumulator_of(config);
  bool with_output = values && O;
  SoftmaxStep step = {.block = state->n_blocks, .first = state->n_scores, .n = n};

  /* 1. and 2. */
  step.block_max = largest_score(accumulator, scores, n);
  step.m_old = state->m;
  step.m_new = softmax_new_max(config, state->m, step.block_max);
  step.factor = softmax_factor(config, step.m_old, step.m_new);
  step.l_old = state->l;
  step.l_scaled = precision_computed(accumulator, state->l * step.factor);
  if (with_output)
    for (int64_t c = 0; c < d; c++) O[c] = precision_computed(accumulator, O[c] * step.factor);

  /* 3. and 4. */
  for (int64_t k = 0; k < n; k++) {
    double score = precision_computed(accumulator, scores[k]);
    double exponential = softmax_exponential(config, score, step.m_new);
    double weight = precision_round(config->precision, exponential);
    step.n_masked += score == -INFINITY;
    step.n_overflowed += precision_overflows(config->precision, exponential);
    step.block_sum = precision_computed(accumulator, step.block_sum + exponential);
    if (weights) weights[k] = weight;
    if (with_output) add_weighted(config, weight, values + k * d, d, O);
  }
  step.l_new = precision_computed(accumulator, step.l_scaled + step.block_sum);

  state->m = step.m_new;
  state->l = step.l_new;
  state->n_blocks++;
  state->n_scores += n;
  return step;
}

void softmax_finish(const SoftmaxConfig *config, const SoftmaxState *state, double *O, int64_t d) {
  for (int64_t c = 0; c < d; c++) O[c] = precision_round(config->precision, softmax_divide(config, O[c], state->l));
}

void softmax_count_rescales(const SoftmaxConfig *config, int64_t rows, int64_t n, int64_t block, double spread,
                            uint64_t seed, int64_t *rows_at, int64_t *warps_at) {
  enum { WARP = 32 };
  for (int64_t first = 0, at = 0; first < n; first += block, at++) rows_at[at] = warps_at[at] = 0;
  for (int64_t warp = 0; warp < rows; warp += WARP) {
    double m[WARP];
    for (int lane = 0; lane < WARP; lane++) m[lane] = softmax_start(config).m;
    for (int64_t first = 0, at = 0; first < n; first += block, at++) {
      const int64_t before = rows_at[at];
      for (int64_t row = warp; row < rows && row < warp + WARP; row++) {
        double block_max = -INFINITY;
        for (int64_t k = first; k < n && k < first + block; k++)
          block_max = fmax(block_max, spread * random_normal(seed, 0, (uint64_t)(row * n + k)));
        const double m_old = m[row - warp];
        m[row - warp] = softmax_new_max(config, m_old, block_max);
        rows_at[at] += first > 0 && m[row - warp] > m_old;
      }
      warps_at[at] += rows_at[at] > before;
    }
  }
}

void softmax_reference(const double *scores, int64_t n, const double *values, int64_t d, double *weights, double *O) {
  double m = -INFINITY, l = 0;
  for (int64_t k = 0; k < n; k++) m = fmax(m, scores[k]);
  for (int64_t k = 0; k < n; k++) l += scores[k] == -INFINITY ? 0 : exp(scores[k] - m);
  if (O) memset(O, 0, (size_t)d * sizeof *O);
  for (int64_t k = 0; k < n; k++) {
    double weight = scores[k] == -INFINITY ? 0 : exp(scores[k] - m) / l;
    if (weights) weights[k] = weight;
    for (int64_t c = 0; O && values && c < d; c++) O[c] += weight * values[k * d + c];
  }
}
