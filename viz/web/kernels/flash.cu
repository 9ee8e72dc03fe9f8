// FlashAttention as a student writes it: a thread for each row of Q, tiles of K and V in shared memory, fp32, causal.
// tilewalk: grid 4,2
// tilewalk: block 64
// tilewalk: shared 48K
// tilewalk: like fa2
// tilewalk: N 256
// tilewalk: d 64
// tilewalk: heads 2
// tilewalk: causal
// tilewalk: arg Bc=i32:32
extern "C" __global__ void flash(int N, int d, int Bc, float scale, const float *Q, const float *K, const float *V,
                                 float *O) {
  extern __shared__ float sh[];
  float *k = sh, *v = sh + Bc * d, *q = v + Bc * d, *o = q + blockDim.x * d;
  int t = threadIdx.x, first = blockIdx.x * blockDim.x, i = first + t;
  const float *Qh = Q + blockIdx.y * N * d, *Kh = K + blockIdx.y * N * d, *Vh = V + blockIdx.y * N * d;
  for (int e = t; e < blockDim.x * d; e += blockDim.x) {
    q[e] = Qh[first * d + e];
    o[e] = 0;
  }
  float m = -INFINITY, l = 0;
  for (int j0 = 0; j0 < first + blockDim.x; j0 += Bc) {
    __syncthreads();
    for (int e = t; e < Bc * d; e += blockDim.x) k[e] = Kh[j0 * d + e], v[e] = Vh[j0 * d + e];
    __syncthreads();
    for (int j = 0; j < Bc && j0 + j <= i; j++) {
      float s = 0;
      for (int c = 0; c < d; c++) s += q[t * d + c] * k[j * d + c];
      float now = fmaxf(m, s * scale), f = expf(m - now), p = expf(s * scale - now);
      l = l * f + p, m = now;
      for (int c = 0; c < d; c++) o[t * d + c] = o[t * d + c] * f + p * v[j * d + c];
    }
  }
  __syncthreads();
  for (int c = 0; c < d; c++) O[(blockIdx.y * N + i) * d + c] = o[t * d + c] / l;
}
