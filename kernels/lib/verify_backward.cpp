#include "kernels/lib/verify_backward.h"

#include <atomic>
#include <math.h>
#include <thread>

/* Calls work(i) for each i below n, on all processors. */
template <class Work> static void in_parallel(int64_t n, const Work &work) {
  std::atomic<int64_t> next(0);
  const auto run = [&] {
    for (int64_t i = next++; i < n; i = next++) work(i);
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < std::thread::hardware_concurrency(); t++) threads.emplace_back(run);
  run();
  for (std::thread &thread : threads) thread.join();
}

/* What both sweeps use. */
struct Pass {
  const Shape &s;
  const Inputs &in;
  std::vector<float> dO, O;
  std::vector<double> D;

  double scale() const { return 1 / sqrt((double)s.d); }
};

/* O, L, D and dQ of one row of one query head. */
static void sweep_row(Pass *p, int64_t row, Training *t) {
  const Shape &s = p->s;
  const int64_t d = s.d, head = row / s.N_q, n = keys_seen(s, row % s.N_q), kv = kv_head_of(s, head);
  const float *q = &p->in.q[(size_t)(row * d)], *K = &p->in.k[(size_t)(kv * s.N_k * d)],
              *V = &p->in.v[(size_t)(kv * s.N_k * d)], *g = &p->dO[(size_t)(row * d)];
  std::vector<double> scores, out;
  const double exact = attend(q, K, V, n, d, &out, &scores);
  const float L = t->L[(size_t)row] = n ? (float)exact : INFINITY;
  for (int64_t k = 0; k < d; k++)
    p->O[(size_t)(row * d + k)] = (float)element_store(s.dtype, t->O.data(), (size_t)(row * d + k), out[(size_t)k]);
  const double D = p->D[(size_t)row] = dot(g, &p->O[(size_t)(row * d)], d);
  for (int64_t j = 0; j < n; j++) {
    const double P = exp(scores[(size_t)j] - (double)L), dP = dot(g, V + j * d, d), dS = P * (dP - D);
    for (int64_t k = 0; k < d; k++) t->dQ.values[(size_t)(row * d + k)] += p->scale() * dS * (double)K[j * d + k];
    const double square = dot(K + j * d, K + j * d, d) / (double)d;
    t->dQ.terms[(size_t)row] += P * (fabs(dP) + fabs(D)) * sqrt(square);
    t->dQ.squares[(size_t)row] += square;
  }
}

/* dK and dV of one key of one KV head. */
static void sweep_key(const Pass &p, int64_t at, Training *t) {
  const Shape &s = p.s;
  const int64_t d = s.d, kv = at / s.N_k, j = at % s.N_k, group = s.heads / s.kv_heads;
  const float *key = &p.in.k[(size_t)(at * d)], *v = &p.in.v[(size_t)(at * d)];
  for (int64_t row = kv * group * s.N_q; row < (kv + 1) * group * s.N_q; row++) {
    if (j >= keys_seen(s, row % s.N_q)) continue;
    const float *q = &p.in.q[(size_t)(row * d)], *g = &p.dO[(size_t)(row * d)];
    const double P = exp(p.scale() * dot(q, key, d) - (double)t->L[(size_t)row]), dP = dot(g, v, d);
    const double D = p.D[(size_t)row], dS = P * (dP - D);
    for (int64_t k = 0; k < d; k++) {
      t->dK.values[(size_t)(at * d + k)] += p.scale() * dS * (double)q[k];
      t->dV.values[(size_t)(at * d + k)] += P * (double)g[k];
    }
    const double square = dot(q, q, d) / (double)d;
    t->dK.terms[(size_t)at] += P * (fabs(dP) + fabs(D)) * sqrt(square);
    t->dK.squares[(size_t)at] += square;
    t->dV.terms[(size_t)at] += P * sqrt(dot(g, g, d));
    t->dV.squares[(size_t)at] += dot(g, g, d);
  }
}

void training_fill(const Shape &s, uint64_t seed, bool outliers, const Inputs &inputs, Training *t) {
  const size_t rows = (size_t)(s.batch * s.heads * s.N_q), keys = (size_t)(s.batch * s.kv_heads * s.N_k),
               d = (size_t)s.d;
  Pass p = {s, inputs, {}, std::vector<float>(rows * d), std::vector<double>(rows)};
  fill(&t->dO, &p.dO, q_bytes(s), s.dtype, seed, STREAM_dO, outliers);
  t->O.assign(q_bytes(s), 0);
  t->L.assign(rows, 0);
  t->dQ = {std::vector<double>(rows * d), std::vector<double>(rows), std::vector<double>(rows)};
  t->dK = {std::vector<double>(keys * d), std::vector<double>(keys), std::vector<double>(keys)};
  t->dV = t->dK;
  in_parallel((int64_t)rows, [&](int64_t row) { sweep_row(&p, row, t); });
  in_parallel((int64_t)keys, [&](int64_t key) { sweep_key(p, key, t); });
}

/* Adds one gradient's rows to the verdict, and the squares of its errors to *squares. */
static void check(const Shape &s, const Gradient &wanted, const void *got, int64_t N, double limit, Verdict *v,
                  double *squares) {
  for (size_t row = 0; row < wanted.terms.size(); row++) {
    const size_t first = row * (size_t)s.d;
    const double step = s.dtype == DTYPE_FP16 ? 0x1p-24 * (sqrt(wanted.squares[row]) + sqrt((double)s.d)) : 0;
    *squares += judge_row(s.dtype, &wanted.values[first], got, first, s.d, limit,
                          limit * wanted.terms[row] / 1024 + step, (int64_t)row / N, (int64_t)row % N, v);
  }
}

Verdict gradients_check(const Shape &s, const Training &t, const void *dQ, const void *dK, const void *dV,
                        double limit) {
  Verdict v = {true, 0, 0, 0, 0, 0};
  double squares = 0;
  check(s, t.dQ, dQ, s.N_q, limit, &v, &squares);
  check(s, t.dK, dK, s.N_k, limit, &v, &squares);
  check(s, t.dV, dV, s.N_k, limit, &v, &squares);
  v.rmse = sqrt(squares / (double)(v.rows_checked * s.d));
  return v;
}
