/* A student's attention: a thread a row of Q, K and V in shared memory, fp32, causal. tests/cli/test_faults.c breaks it
 * in eight ways, by its marks. */
extern "C" __global__ void student(int N, int d, int Bc, float scale, const float *Q, const float *K, const float *V,
                                   float *O) {
  extern __shared__ float sh[];
  float *k = sh, *v = sh + Bc * d, *q = v + Bc * d, *o = q + blockDim.x * d;
  const int t = threadIdx.x, first = blockIdx.x * blockDim.x, i = first + t;
  const float *Qh = Q + blockIdx.y * N * d, *Kh = K + blockIdx.y * N * d, *Vh = V + blockIdx.y * N * d;
  for (int e = t; e < (int)blockDim.x * d; e += blockDim.x) {
    q[e] = Qh[first * d + e]; /*load q*/
    o[e] = 0;                 /*zero o*/
  }
  float m = -INFINITY, l = 0;
  for (int j0 = 0; j0 < first + (int)blockDim.x; j0 += Bc) {
    __syncthreads();                                /*first barrier*/
    for (int e = t; e < Bc * d; e += blockDim.x)    /*loop*/
      k[e] = Kh[j0 * d + e], v[e] = Vh[j0 * d + e]; /*load*/
    __syncthreads();                                /*second barrier*/
    for (int j = 0; j < Bc && j0 + j <= i; j++) {
      float s = 0;
      for (int c = 0; c < d; c++) s += q[t * d + c] * k[j * d + c]; /*scores*/
      const float now = fmaxf(m, s * scale), f = expf(m - now), p = expf(s * scale - now);
      l = l * f + p, m = now;
      for (int c = 0; c < d; c++) o[t * d + c] = o[t * d + c] * f + p * v[j * d + c]; /*sums*/
    }
  }
  __syncthreads();                                                                /*last barrier*/
  for (int c = 0; c < d; c++) O[(blockIdx.y * N + i) * d + c] = o[t * d + c] / l; /*store*/
}
