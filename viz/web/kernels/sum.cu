// The sum of each block's 256 numbers, with a mistake: look for faults.
// tilewalk: grid 16
// tilewalk: block 256
// tilewalk: arg x=f32[4096]:normal:1
// tilewalk: arg sums=f32[16]:none
extern "C" __global__ void sum(const float *x, float *sums) {
  __shared__ float part[256];
  int t = threadIdx.x;
  part[t] = x[blockIdx.x * 256 + t];
  for (int by = 128; by > 0; by /= 2) {
    if (t < by) part[t] += part[t + by];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}
