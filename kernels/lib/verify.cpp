#include "kernels/lib/verify.h"

#include <math.h>
#include <string.h>

extern "C" {
#include "sim/numbers/precision.h"
#include "sim/base/random.h"
}

enum { STREAM_Q = 1, STREAM_K, STREAM_V };

size_t q_bytes(const Shape &s) { return (size_t)(s.batch * s.heads * s.N_q * s.d) * (size_t)dtype_bytes(s.dtype); }
size_t k_bytes(const Shape &s) { return (size_t)(s.batch * s.kv_heads * s.N_k * s.d) * (size_t)dtype_bytes(s.dtype); }

static Precision precision_of(Dtype dtype) {
  return dtype == DTYPE_FP32 ? PRECISION_FP32 : dtype == DTYPE_FP16 ? PRECISION_FP16 : PRECISION_BF16;
}

static void fill(std::vector<unsigned char> *to, size_t bytes, Dtype dtype, uint64_t seed, uint64_t stream,
                 bool outliers) {
  to->resize(bytes);
  const size_t size = (size_t)dtype_bytes(dtype);
  for (size_t e = 0; e < bytes / size; e++) {
    const double x = outliers ? random_outlier(seed, stream, e) : random_normal(seed, stream, e);
    const uint64_t bits = precision_to_bits(precision_of(dtype), x);
    memcpy(to->data() + e * size, &bits, size); /* little endian, as CUDA's hosts are */
  }
}

void inputs_fill(const Shape &shape, uint64_t seed, bool outliers, Inputs *inputs) {
  fill(&inputs->Q, q_bytes(shape), shape.dtype, seed, STREAM_Q, outliers);
  fill(&inputs->K, k_bytes(shape), shape.dtype, seed, STREAM_K, outliers);
  fill(&inputs->V, k_bytes(shape), shape.dtype, seed, STREAM_V, outliers);
  inputs_decode(shape.dtype, inputs);
}

static void decode(Dtype dtype, const std::vector<unsigned char> &from, std::vector<float> *to) {
  to->resize(from.size() / (size_t)dtype_bytes(dtype));
  for (size_t e = 0; e < to->size(); e++) (*to)[e] = (float)element_value(dtype, from.data(), e);
}

void inputs_decode(Dtype dtype, Inputs *inputs) {
  decode(dtype, inputs->Q, &inputs->q);
  decode(dtype, inputs->K, &inputs->k);
  decode(dtype, inputs->V, &inputs->v);
}

double element_value(Dtype dtype, const void *elements, size_t index) {
  const size_t size = (size_t)dtype_bytes(dtype);
  uint64_t bits = 0;
  memcpy(&bits, (const unsigned char *)elements + index * size, size);
  return precision_from_bits(precision_of(dtype), bits);
}

void reference_row(const Shape &s, const Inputs &inputs, int64_t head, int64_t i, std::vector<double> *row) {
  const int64_t kv_head = head / s.heads * s.kv_heads + head % s.heads / (s.heads / s.kv_heads);
  const int64_t seen = s.causal ? i + 1 + s.N_k - s.N_q : s.N_k, d = s.d;
  const float *q = &inputs.q[(size_t)((head * s.N_q + i) * d)], *K = &inputs.k[(size_t)(kv_head * s.N_k * d)],
              *V = &inputs.v[(size_t)(kv_head * s.N_k * d)];
  row->assign((size_t)d, 0.0);
  if (seen <= 0) return;
  std::vector<double> score((size_t)seen);
  double top = -INFINITY, sum = 0;
  for (int64_t j = 0; j < seen; j++) {
    double x = 0;
    for (int64_t k = 0; k < d; k++) x += (double)q[k] * (double)K[j * d + k];
    score[(size_t)j] = x / sqrt((double)d);
    top = fmax(top, score[(size_t)j]);
  }
  for (double &x : score) sum += x = exp(x - top);
  for (int64_t j = 0; j < seen; j++)
    for (int64_t k = 0; k < d; k++) (*row)[(size_t)k] += score[(size_t)j] / sum * (double)V[j * d + k];
}

/* Scores kept in 16 bits, and O rounded after every tile, cost accuracy: measured on the shapes of the tests, the
 * worst rows stay below half of these. */
double tolerance(const Rung &rung, Dtype dtype) {
  const double unit = dtype == DTYPE_FP32 ? 0x1p-23 : dtype == DTYPE_FP16 ? 0x1p-10 : 0x1p-7;
  const double factor = dtype == DTYPE_FP32 ? 64 : rung.keeps_scores || rung.keeps_stats ? 12 : 4;
  return unit * factor;
}

Verdict output_check(const Shape &s, const Inputs &inputs, const void *O, int64_t row_step, double limit) {
  Verdict v = {true, 0, 0, 0, 0, 0};
  std::vector<double> row;
  double squares = 0;
  for (int64_t head = 0; head < s.batch * s.heads; head++)
    for (int64_t i = 0; i < s.N_q; i += row_step, v.rows_checked++) {
      reference_row(s, inputs, head, i, &row);
      double error = 0, size = 0;
      for (int64_t k = 0; k < s.d; k++) {
        const double o = element_value(s.dtype, O, (size_t)((head * s.N_q + i) * s.d + k)), r = row[(size_t)k];
        error += (o - r) * (o - r);
        size += r * r;
      }
      squares += error;
      double relative = size > 0 ? sqrt(error / size) : error == 0 ? 0 : INFINITY;
      if (!(relative < INFINITY)) relative = INFINITY; /* NaN too */
      if (!(relative <= limit)) v.right = false;
      if (!(relative <= v.worst_row)) {
        v.worst_row = relative;
        v.head = head;
        v.row = i;
      }
    }
  v.rmse = sqrt(squares / (double)(v.rows_checked * s.d));
  return v;
}
