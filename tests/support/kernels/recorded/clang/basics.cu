#include <cuda_fp16.h>
extern "C" {
__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void strided_copy(int n, int stride, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[(long long)i * stride % n];
}
__global__ void transpose_naive(int n, const float *x, float *y) {
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) y[c * n + r + k] = x[(r + k) * n + c];
}
__global__ void transpose_tiled(int n, const float *x, float *y) {
  __shared__ float t[32][32];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) t[threadIdx.y + k][threadIdx.x] = x[(r + k) * n + c];
  __syncthreads();
  int c2 = blockIdx.y * 32 + threadIdx.x, r2 = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) y[(r2 + k) * n + c2] = t[threadIdx.x][threadIdx.y + k];
}
__global__ void transpose_padded(int n, const float *x, float *y) {
  __shared__ float t[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) t[threadIdx.y + k][threadIdx.x] = x[(r + k) * n + c];
  __syncthreads();
  int c2 = blockIdx.y * 32 + threadIdx.x, r2 = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) y[(r2 + k) * n + c2] = t[threadIdx.x][threadIdx.y + k];
}
__global__ void row_softmax(int n, const float *x, float *y) {
  __shared__ float part[32];
  const float *a = x + (long long)blockIdx.x * n;
  float *b = y + (long long)blockIdx.x * n;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  float m = -INFINITY, l = 0;
  for (int j = threadIdx.x; j < n; j += blockDim.x) m = fmaxf(m, a[j]);
  for (int o = 16; o; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  if (lane == 0) part[warp] = m;
  __syncthreads();
  m = lane < warps ? part[lane] : -INFINITY;
  for (int o = 16; o; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  __syncthreads();
  for (int j = threadIdx.x; j < n; j += blockDim.x) l += expf(a[j] - m);
  for (int o = 16; o; o /= 2) l += __shfl_xor_sync(~0u, l, o);
  if (lane == 0) part[warp] = l;
  __syncthreads();
  l = lane < warps ? part[lane] : 0;
  for (int o = 16; o; o /= 2) l += __shfl_xor_sync(~0u, l, o);
  for (int j = threadIdx.x; j < n; j += blockDim.x) b[j] = expf(a[j] - m) / l;
}
__global__ void histogram(int n, const int *x, int *bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i] % 64], 1);
}
__global__ void matmul_tiled(int n, const float *A, const float *B, float *C) {
  __shared__ float a[16][16], b[16][16];
  int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
  float s = 0;
  for (int k = 0; k < n; k += 16) {
    a[threadIdx.y][threadIdx.x] = A[r * n + k + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = B[(k + threadIdx.y) * n + c];
    __syncthreads();
    for (int e = 0; e < 16; e++) s += a[threadIdx.y][e] * b[e][threadIdx.x];
    __syncthreads();
  }
  C[r * n + c] = s;
}
__global__ void attention_rows(int N, int d, float scale, const float *Q, const float *K, const float *V,
                               float *O) { /* a thread a query, causal, two passes over scores it computes again */
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float m = -INFINITY, l = 0;
  for (int j = 0; j <= i; j++) {
    float s = 0;
    for (int k = 0; k < d; k++) s += Q[i * d + k] * K[j * d + k];
    s *= scale;
    float mm = fmaxf(m, s);
    l = l * expf(m - mm) + expf(s - mm);
    m = mm;
  }
  for (int k = 0; k < d; k++) O[i * d + k] = 0;
  for (int j = 0; j <= i; j++) {
    float s = 0;
    for (int k = 0; k < d; k++) s += Q[i * d + k] * K[j * d + k];
    float p = expf(s * scale - m) / l;
    for (int k = 0; k < d; k++) O[i * d + k] += p * V[j * d + k];
  }
}
__global__ void flash_student(int N, int d, int Bc, float scale, const float *Q, const float *K, const float *V,
                              float *O) { /* a thread a query row of a block, K and V in shared memory, fp32, causal */
  extern __shared__ float sh[];
  float *k = sh, *v = sh + Bc * d, *q = v + Bc * d, *o = q + blockDim.x * d;
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  const float *Qh = Q + (long long)blockIdx.y * N * d, *Kh = K + (long long)blockIdx.y * N * d,
              *Vh = V + (long long)blockIdx.y * N * d;
  float *Oh = O + (long long)blockIdx.y * N * d;
  for (int e = t; e < blockDim.x * d; e += blockDim.x) {
    q[e] = Qh[(long long)blockIdx.x * blockDim.x * d + e];
    o[e] = 0;
  }
  float m = -INFINITY, l = 0;
  for (int j0 = 0; j0 <= (int)(blockIdx.x * blockDim.x + blockDim.x - 1); j0 += Bc) {
    __syncthreads();
    for (int e = t; e < Bc * d; e += blockDim.x) {
      k[e] = Kh[j0 * d + e];
      v[e] = Vh[j0 * d + e];
    }
    __syncthreads();
    for (int j = 0; j < Bc && j0 + j <= i; j++) {
      float s = 0;
      for (int c = 0; c < d; c++) s += q[t * d + c] * k[j * d + c];
      s *= scale;
      float mm = fmaxf(m, s), f = expf(m - mm), p = expf(s - mm);
      l = l * f + p;
      m = mm;
      for (int c = 0; c < d; c++) o[t * d + c] = o[t * d + c] * f + p * v[j * d + c];
    }
  }
  __syncthreads();
  for (int c = 0; c < d; c++) Oh[(long long)i * d + c] = o[t * d + c] / l;
}
__global__ void half_dot(int n, const __half *x, const __half *y,
                         float *out) { /* vector loads, fp16 arithmetic, one atomic a warp */
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 8; i += gridDim.x * blockDim.x) {
    uint4 a = ((const uint4 *)x)[i], b = ((const uint4 *)y)[i];
    const __half2 *p = (const __half2 *)&a, *q = (const __half2 *)&b;
    for (int e = 0; e < 4; e++) {
      float2 u = __half22float2(p[e]), w = __half22float2(q[e]);
      s += u.x * w.x + u.y * w.y;
    }
  }
  for (int o = 16; o; o /= 2) s += __shfl_down_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) atomicAdd(out, s);
}
}
