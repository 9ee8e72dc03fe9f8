/* The baseline beside rung 2: standard attention as an eager framework runs it, two batched cuBLAS products with a
 * softmax kernel between them; S and P in HBM. Not a rung: cuBLAS's own traffic is not counted.
 *
 * cuBLAS is opened when first needed, so that the program runs without it. Its matrices are stored by columns: a
 * row-major X is its X^T, so S^T = K Q^T and O^T = V^T P^T are what is asked. */
#include "kernels/lib/operands.cuh"
#include "kernels/lib/cuda_calls.h"

#include <cublas_v2.h>
#include <dlfcn.h>

namespace {

using CreateFunction = cublasStatus_t(cublasHandle_t *);
using GemmFunction = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void *,
                                    const void *, cudaDataType, int, long long, const void *, cudaDataType, int,
                                    long long, const void *, void *, cudaDataType, int, long long, int,
                                    cublasComputeType_t, cublasGemmAlgo_t);
struct Cublas {
  cublasHandle_t handle;
  GemmFunction *gemm;
};

/* Opened once for the life of the program; gemm is NULL when there is no cuBLAS. */
const Cublas &cublas() {
  static const Cublas opened = [] {
    Cublas c = {};
    void *library = nullptr;
    for (const char *name :
         {"libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.13", "libcublas.so.12", "libcublas.so"})
      if (!library) library = dlopen(name, RTLD_NOW);
    if (!library) return c;
    const auto create = (CreateFunction *)dlsym(library, "cublasCreate_v2");
    const auto gemm = (GemmFunction *)dlsym(library, "cublasGemmStridedBatchedEx");
    if (create && gemm && create(&c.handle) == CUBLAS_STATUS_SUCCESS) c.gemm = gemm;
    return c;
  }();
  return opened;
}

/* One block of 256 threads per row of S; scores of a row beyond the causal diagonal count as -infinity. */
template <class T> __global__ void __launch_bounds__(256) eager_softmax(const Attention a) {
  __shared__ float tops[8], sums[8];
  const plain::Head<T> h = plain::head_of<T>(a, (int)blockIdx.y);
  const int i = (int)blockIdx.x, seen = plain::keys_seen(a, i), warp = (int)threadIdx.x / 32;
  const T *S = h.S + (long long)i * a.N_k;
  T *P = h.P + (long long)i * a.N_k;
  float m = plain::minus_infinity(), l = 0;
  for (int j = (int)threadIdx.x; j < seen; j += 256) {
    const float s = to_float(S[j]), m_new = fmaxf(m, s);
    l = l * __expf(m - m_new) + __expf(s - m_new);
    m = m_new;
  }
  const float top = plain::warp_max(m);
  l = plain::warp_sum(top == plain::minus_infinity() || m == plain::minus_infinity() ? 0 : l * __expf(m - top));
  if (threadIdx.x % 32 == 0) {
    tops[warp] = top;
    sums[warp] = l;
  }
  __syncthreads();
  float row_top = plain::minus_infinity(), row_sum = 0;
  for (int w = 0; w < 8; w++) row_top = fmaxf(row_top, tops[w]);
  for (int w = 0; w < 8; w++)
    if (sums[w] > 0) row_sum += sums[w] * __expf(tops[w] - row_top);
  for (int j = (int)threadIdx.x; j < a.N_k; j += 256)
    from_float(j < seen ? __expf(to_float(S[j]) - row_top) / row_sum : 0.0f, &P[j]);
}

template <class T> bool run_type(const Attention &a, cudaDataType type) {
  const Cublas &c = cublas();
  const int heads = a.batch * a.heads;
  const float one = 1, zero = 0;
  const long long rows = (long long)a.N_q * a.d, keys = (long long)a.N_k * a.d, scores = (long long)a.N_q * a.N_k;
  if (c.gemm(c.handle, CUBLAS_OP_T, CUBLAS_OP_N, a.N_k, a.N_q, a.d, &a.scale, a.K, type, a.d, keys, a.Q, type, a.d,
             rows, &zero, a.S, type, a.N_k, scores, heads, CUBLAS_COMPUTE_32F,
             CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS)
    return false;
  eager_softmax<T><<<dim3((unsigned)a.N_q, (unsigned)heads), 256>>>(a);
  if (cudaPeekAtLastError() != cudaSuccess) return false;
  return c.gemm(c.handle, CUBLAS_OP_N, CUBLAS_OP_N, a.d, a.N_q, a.N_k, &one, a.V, type, a.d, keys, a.P, type, a.N_k,
                scores, &zero, a.O, type, a.d, rows, heads, CUBLAS_COMPUTE_32F,
                CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
}

bool run(const Attention &a, Dtype dtype) {
  if (dtype == DTYPE_FP32) return run_type<float>(a, CUDA_R_32F);
  return dtype == DTYPE_FP16 ? run_type<fp16>(a, CUDA_R_16F) : run_type<bf16>(a, CUDA_R_16BF);
}

} // namespace

bool eager_cublas_available() { return cublas().gemm != nullptr; }

extern const Rung EAGER_CUBLAS;
const Rung EAGER_CUBLAS = {
    .number = 0,
    .name = "eager_cublas",
    .title = "baseline: cuBLAS products and a softmax kernel",
    .oldest_sm = 75,
    .keeps_scores = true,
    .takes_fp32 = true,
    .blocks = {{1, 1}},
    .run = run,
};
