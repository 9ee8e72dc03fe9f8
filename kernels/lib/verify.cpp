#include "kernels/lib/verify.h"

#include <algorithm>
#include <math.h>
#include <string.h>

extern "C" {
#include "sim/numbers/precision.h"
#include "sim/base/random.h"
}

size_t q_bytes(const Shape &s) { return (size_t)(s.batch * s.heads * s.N_q * s.d) * (size_t)dtype_bytes(s.dtype); }
size_t k_bytes(const Shape &s) { return (size_t)(s.batch * s.kv_heads * s.N_k * s.d) * (size_t)dtype_bytes(s.dtype); }

static Precision precision_of(Dtype dtype) {
  return dtype == DTYPE_FP32 ? PRECISION_FP32 : dtype == DTYPE_FP16 ? PRECISION_FP16 : PRECISION_BF16;
}

double element_store(Dtype dtype, void *elements, size_t index, double number) {
  const size_t size = (size_t)dtype_bytes(dtype);
  const uint64_t bits = precision_to_bits(precision_of(dtype), number);
  memcpy((unsigned char *)elements + index * size, &bits, size); /* little endian, as CUDA's hosts are */
  return precision_from_bits(precision_of(dtype), bits);
}

double element_value(Dtype dtype, const void *elements, size_t index) {
  const size_t size = (size_t)dtype_bytes(dtype);
  uint64_t bits = 0;
  memcpy(&bits, (const unsigned char *)elements + index * size, size);
  return precision_from_bits(precision_of(dtype), bits);
}

void fill(std::vector<unsigned char> *to, std::vector<float> *values, size_t bytes, Dtype dtype, uint64_t seed,
          uint64_t stream, bool outliers) {
  to->resize(bytes);
  values->resize(bytes / (size_t)dtype_bytes(dtype));
  for (size_t e = 0; e < values->size(); e++)
    (*values)[e] = (float)element_store(dtype, to->data(), e,
                                        outliers ? random_outlier(seed, stream, e) : random_normal(seed, stream, e));
}

void inputs_fill(const Shape &s, uint64_t seed, bool outliers, Inputs *inputs) {
  fill(&inputs->Q, &inputs->q, q_bytes(s), s.dtype, seed, STREAM_Q, outliers);
  fill(&inputs->K, &inputs->k, k_bytes(s), s.dtype, seed, STREAM_K, outliers);
  fill(&inputs->V, &inputs->v, k_bytes(s), s.dtype, seed, STREAM_V, outliers);
}

int64_t kv_head_of(const Shape &s, int64_t head) {
  return head / s.heads * s.kv_heads + head % s.heads / (s.heads / s.kv_heads);
}

int64_t keys_seen(const Shape &s, int64_t i) { return s.causal ? std::max<int64_t>(0, i + 1 + s.N_k - s.N_q) : s.N_k; }

double dot(const float *x, const float *y, int64_t d) {
  double sum[4] = {0, 0, 0, 0};
  int64_t k = 0;
  for (; k + 4 <= d; k += 4)
    for (int64_t e = 0; e < 4; e++) sum[e] += (double)x[k + e] * (double)y[k + e];
  for (; k < d; k++) sum[0] += (double)x[k] * (double)y[k];
  return sum[0] + sum[1] + sum[2] + sum[3];
}

double attend(const float *q, const float *K, const float *V, int64_t n, int64_t d, std::vector<double> *O,
              std::vector<double> *scores) {
  double top = -INFINITY, sum = 0;
  O->assign((size_t)d, 0.0);
  scores->resize((size_t)n);
  for (int64_t j = 0; j < n; j++) top = fmax(top, (*scores)[(size_t)j] = dot(q, K + j * d, d) / sqrt((double)d));
  for (const double score : *scores) sum += exp(score - top);
  const double L = top + log(sum);
  for (int64_t j = 0; j < n; j++) {
    const double P = exp((*scores)[(size_t)j] - L);
    for (int64_t k = 0; k < d; k++) (*O)[(size_t)k] += P * (double)V[j * d + k];
  }
  return L;
}

/* Scores kept in 16 bits, and O rounded after every tile, cost accuracy: measured on the shapes of the tests, the
 * worst rows stay below half of these. */
double tolerance(const Rung &rung, Dtype dtype) {
  const double unit = dtype == DTYPE_FP32 ? 0x1p-23 : dtype == DTYPE_FP16 ? 0x1p-10 : 0x1p-7;
  const double factor = dtype == DTYPE_FP32 ? 64 : rung.keeps_scores || rung.keeps_stats ? 12 : 4;
  return unit * factor;
}

double judge_row(Dtype dtype, const double *wanted, const void *got, size_t first, int64_t d, double limit,
                 double besides, int64_t head, int64_t row, Verdict *v) {
  double error = 0, size = 0;
  for (int64_t k = 0; k < d; k++) {
    const double r = wanted[k], x = element_value(dtype, got, first + (size_t)k);
    error += (x - r) * (x - r);
    size += r * r;
  }
  const double allowed = limit * sqrt(size) + besides;
  double relative = allowed > 0 ? limit * sqrt(error) / allowed : error == 0 ? 0 : INFINITY;
  if (!(relative < INFINITY)) relative = INFINITY; /* NaN too */
  if (!(relative <= limit)) v->right = false;
  if (relative > v->worst_row) v->worst_row = relative, v->head = head, v->row = row;
  v->rows_checked++;
  return error;
}

Verdict output_check(const Shape &s, const Inputs &inputs, const void *O, int64_t row_step, double limit) {
  Verdict v = {true, 0, 0, 0, 0, 0};
  std::vector<double> wanted, scores;
  double squares = 0;
  for (int64_t head = 0; head < s.batch * s.heads; head++)
    for (int64_t i = 0; i < s.N_q; i += row_step) {
      const size_t first = (size_t)((head * s.N_q + i) * s.d), keys = (size_t)(kv_head_of(s, head) * s.N_k * s.d);
      attend(&inputs.q[first], &inputs.k[keys], &inputs.v[keys], keys_seen(s, i), s.d, &wanted, &scores);
      squares += judge_row(s.dtype, wanted.data(), O, first, s.d, limit, 0, head, i, &v);
    }
  v.rmse = sqrt(squares / (double)(v.rows_checked * s.d));
  return v;
}
