// A matrix of N x N, transposed three ways: the stores of the first take a sector for each lane; the tile of the second
// makes its lanes want one bank; a word of padding mends that.
// tilewalk: grid 8,8
// tilewalk: block 32,8
// tilewalk: arg N=i32:256
// tilewalk: arg x=f32[65536]:iota
// tilewalk: arg y=f32[65536]:none
// tilewalk: entry transpose_plain
extern "C" __global__ void transpose_plain(int N, const float *x, float *y) {
  int column = blockIdx.x * 32 + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += 8) {
    int row = blockIdx.y * 32 + k;
    y[column * N + row] = x[row * N + column];
  }
}

// tilewalk: entry transpose_tiled
extern "C" __global__ void transpose_tiled(int N, const float *x, float *y) {
  __shared__ float tile[32][32];
  for (int k = threadIdx.y; k < 32; k += 8)
    tile[k][threadIdx.x] = x[(blockIdx.y * 32 + k) * N + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8)
    y[(blockIdx.x * 32 + k) * N + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][k];
}

// tilewalk: entry transpose_padded
extern "C" __global__ void transpose_padded(int N, const float *x, float *y) {
  __shared__ float tile[32][33];
  for (int k = threadIdx.y; k < 32; k += 8)
    tile[k][threadIdx.x] = x[(blockIdx.y * 32 + k) * N + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8)
    y[(blockIdx.x * 32 + k) * N + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][k];
}
