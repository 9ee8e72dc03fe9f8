/* Rung 1: standard attention, one thread per number.
 *
 *     S = scale Q K^T       one thread per score reads a row of Q and a row of K
 *     P = softmax(S)        one warp per row: maximum, sum, quotient, each a walk through the row
 *     O = P V               one thread per element of O reads a row of P and a column of V
 *
 * Teaches: what attention is, in three short kernels, and how much an innocent program asks of memory. S and P
 * are N x N matrices that go through HBM. Masked scores are computed like the others and replaced.
 *
 * Moves, per head and in bytes of e each, as the threads ask for it:
 *     reads   Q: N_q N_k d   K: N_q N_k d   S: 3 N_q N_k   P: N_q N_k d   V: N_q N_k d
 *     writes  S: N_q N_k     P: N_q N_k     O: N_q d
 * which is d/2 times the 4 N^2 + 4 N d of the `standard` schedule (each matrix once per pass), its lower line. L1 and
 * the L2 hide most of the difference: neighbouring threads ask for the same rows.
 * Leaves to the next rung: reading each row once per tile, not once per number. */
#include "kernels/lib/operands.cuh"

namespace TW_BUILD {

/* Pass 1. Grid: keys / 32, queries / 8, heads; a block is 32 keys x 8 queries. */
template <class T> __global__ void naive_scores(const Attention a) {
  const int j = (int)(blockIdx.x * 32 + threadIdx.x % 32), i = (int)(blockIdx.y * 8 + threadIdx.x / 32);
  if (i >= a.N_q || j >= a.N_k) return;
  const Head<T> h = head_of<T>(a, (int)blockIdx.z);
  float s = 0;
  for (int k = 0; k < a.d; k++)
    s += to_float(hbm_read_cached(a, KERNEL_Q, &h.Q[(long long)i * a.d + k])) *
         to_float(hbm_read_cached(a, KERNEL_K, &h.K[(long long)j * a.d + k]));
  hbm_write(a, KERNEL_S, &h.S[(long long)i * a.N_k + j], j < keys_seen(a, i) ? s * a.scale : minus_infinity());
}

/* Pass 2. One warp per row. */
template <class T> __global__ void naive_softmax(const Attention a) {
  const int i = (int)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32), lane = (int)threadIdx.x % 32;
  if (i >= a.N_q) return;
  const Head<T> h = head_of<T>(a, (int)blockIdx.z);
  const T *S = h.S + (long long)i * a.N_k;
  float m = minus_infinity(), l = 0;
  for (int j = lane; j < a.N_k; j += 32) m = fmaxf(m, to_float(hbm_read_cached(a, KERNEL_S, &S[j])));
  m = warp_max(m);
  if (m == minus_infinity()) m = 0; /* the row sees no key */
  for (int j = lane; j < a.N_k; j += 32) l += expf(to_float(hbm_read_cached(a, KERNEL_S, &S[j])) - m);
  l = warp_sum(l);
  for (int j = lane; j < a.N_k; j += 32) {
    const float e = expf(to_float(hbm_read_cached(a, KERNEL_S, &S[j])) - m);
    hbm_write(a, KERNEL_P, &h.P[(long long)i * a.N_k + j], l == 0 ? 0 : e / l);
  }
}

/* Pass 3. Grid: d / 32, queries / 8, heads. */
template <class T> __global__ void naive_values(const Attention a) {
  const int k = (int)(blockIdx.x * 32 + threadIdx.x % 32), i = (int)(blockIdx.y * 8 + threadIdx.x / 32);
  if (i >= a.N_q || k >= a.d) return;
  const Head<T> h = head_of<T>(a, (int)blockIdx.z);
  float o = 0;
  for (int j = 0; j < a.N_k; j++)
    o += to_float(hbm_read_cached(a, KERNEL_P, &h.P[(long long)i * a.N_k + j])) *
         to_float(hbm_read_cached(a, KERNEL_V, &h.V[(long long)j * a.d + k]));
  hbm_write(a, KERNEL_O, &h.O[(long long)i * a.d + k], o);
}

template <class T> static bool run_type(const Attention &a) {
  const unsigned heads = (unsigned)(a.batch * a.heads), rows = (unsigned)(a.N_q + 7) / 8;
  return launch<naive_scores<T>>(dim3((unsigned)(a.N_k + 31) / 32, rows, heads), dim3(256), 0, a) &&
         launch<naive_softmax<T>>(dim3(rows, 1, heads), dim3(256), 0, a) &&
         launch<naive_values<T>>(dim3((unsigned)(a.d + 31) / 32, rows, heads), dim3(256), 0, a);
}

static bool run(const Attention &a, Dtype dtype) {
  return dtype == DTYPE_FP32 ? run_type<float>(a) : dtype == DTYPE_FP16 ? run_type<fp16>(a) : run_type<bf16>(a);
}

extern const Rung STANDARD_NAIVE;
const Rung STANDARD_NAIVE = {
    .number = 1,
    .name = "standard_naive",
    .title = "standard attention, one thread per number",
    .oldest_sm = 75,
    .keeps_scores = true,
    .takes_fp32 = true,
    .blocks = {{1, 1}},
    .run = run,
};

} // namespace TW_BUILD
