/* Kernels without a mistake, for tests/cli/test_faults.c: nothing may be reported. The launch is that of broken.cu;
 * what they compute in out[0..128) is beside each name: the same sums, made another way by the test. */
#define T ((int)threadIdx.x)
#define I ((int)(blockIdx.x * 64 + threadIdx.x))
__device__ int done, lock_word, flag_word;
__device__ float partial[2], held;
extern "C" {
__global__ void reversed(const float *in, float *out, int n) {
  __shared__ float s[64];
  s[T] = in[I];
  __syncthreads();
  out[I] = s[63 - T];
}

__global__ void tree(const float *in, float *out, int n) {
  __shared__ float s[64];
  s[T] = in[I];
  __syncthreads();
  for (int by = 32; by > 0; by /= 2) {
    if (T < by) s[T] += s[T + by];
    __syncthreads();
  }
  out[I] = s[0];
}

__global__ void tree_that_ends_in_a_warp(const float *in, float *out, int n) {
  __shared__ float s[64];
  s[T] = in[I];
  __syncthreads();
  if (T < 32) {
    float v = s[T] + s[T + 32];
    for (int by = 16; by > 0; by /= 2) v += __shfl_down_sync(~0u, v, by);
    if (T == 0) s[0] = v;
  }
  __syncthreads();
  out[I] = s[0];
}

__global__ void warp_with_syncwarp(const float *in, float *out, int n) {
  __shared__ float s[64];
  s[T] = in[I];
  for (int by = 16; by > 0; by /= 2) {
    __syncwarp();
    const float other = s[T ^ by];
    __syncwarp();
    s[T] += other;
  }
  out[I] = s[T];
}

__global__ void two_buffers(const float *in, float *out, int n) {
  __shared__ float s[2][64];
  float sum = 0;
  for (int k = 0; k < 4; k++) {
    s[k & 1][T] = in[I] + k;
    __syncthreads();
    sum += s[k & 1][63 - T];
  }
  out[I] = sum;
}

__global__ void copies(const float *in, float *out, int n) {
  __shared__ float s[2][64];
  __pipeline_memcpy_async(&s[0][T], &in[I], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&s[1][T], &in[127 - I], 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  float sum = s[0][63 - T];
  __pipeline_wait_prior(0);
  __syncthreads();
  out[I] = sum + s[1][63 - T];
}

__global__ void own_copy(const float *in, float *out, int n) {
  __shared__ float s[64];
  __pipeline_memcpy_async(&s[T], &in[I], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[I] = s[T];
}

__global__ void shared_bins(const float *in, float *out, int n) {
  __shared__ int bins[4];
  if (T < 4) bins[T] = 0;
  __syncthreads();
  atomicAdd(&bins[(in[I] > 0) + 2 * (in[I] > 1)], 1);
  __syncthreads();
  out[I] = (float)bins[T & 3];
}

__global__ void same_value_from_all(const float *in, float *out, int n) {
  __shared__ int any;
  if (T == 0) any = 0;
  __syncthreads();
  if (in[I] > -3) any = 1;
  __syncthreads();
  out[I] = (float)any;
}

__global__ void last_block_sums(const float *in, float *out, int n) {
  __shared__ bool last;
  float v = in[I];
  for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(~0u, v, by);
  out[I] = v;
  if (T == 0) {
    partial[blockIdx.x] = v;
    __threadfence();
    last = atomicAdd(&done, 1) == 1;
  }
  __syncthreads();
  if (last && T == 0) out[I] = partial[0] + partial[1];
}

__global__ void guarded(const float *in, float *out, int n) {
  for (int i = I; i < n; i += 128) out[i] = i + 1 < n ? in[i] - in[i + 1] : in[i];
}

__global__ void whole_warps_leave(const float *in, float *out, int n) {
  __shared__ float s[32];
  if (T >= 32) {
    out[I] = 0;
    return;
  }
  s[T] = in[I];
  __syncwarp();
  out[I] = s[31 - T];
}

__global__ void named_barriers(const float *in, float *out, int n) {
  __shared__ float s[64];
  if (T < 32) { /* one warp makes, the other takes */
    s[T] = in[I];
    s[T + 32] = in[I + 32];
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    out[I] = 1;
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[I] = s[T - 32] + s[T];
  }
}

__global__ void transposed(const float *in, float *out, int n) {
  __shared__ float s[8][9];
  s[T / 8][T % 8] = in[I];
  __syncthreads();
  out[I] = s[T % 8][T / 8];
}

__global__ void softmax_row(const float *in, float *out, int n) {
  __shared__ float part[2];
  float m = in[I], l;
  for (int by = 16; by > 0; by /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, by));
  if (T % 32 == 0) part[T / 32] = m;
  __syncthreads();
  m = fmaxf(part[0], part[1]);
  __syncthreads();
  const float e = l = expf(in[I] - m);
  for (int by = 16; by > 0; by /= 2) l += __shfl_xor_sync(~0u, l, by);
  if (T % 32 == 0) part[T / 32] = l;
  __syncthreads();
  out[I] = e / (part[0] + part[1]);
}

__global__ void locked(const float *in, float *out, int n) {
  if (T == 0) {
    while (atomicCAS(&lock_word, 0, 1) != 0) {
    }
    __threadfence();
    held = held + 1;
    __threadfence();
    atomicExch(&lock_word, 0);
  }
  out[I] = in[I];
}

__global__ void waits_for_a_flag(const float *in, float *out, int n) {
  if (blockIdx.x == 0) {
    out[T] = in[I];
    __syncthreads();
    if (T == 0) {
      __threadfence();
      atomicExch(&flag_word, 1);
    }
  } else {
    if (T == 0)
      while (atomicAdd(&flag_word, 0) == 0) {
      }
    __syncthreads();
    out[I] = out[T];
  }
}

__global__ void global_with_barrier(const float *in, float *out, int n) {
  out[I] = in[I];
  __syncthreads();
  const float other = out[blockIdx.x * 64 + 63 - T];
  __syncthreads();
  out[I] = other;
}

__global__ void global_atomics(const float *in, float *out, int n) {
  out[I] = 0;
  __syncthreads();
  atomicAdd(&out[blockIdx.x * 64], in[I]);
}

__global__ void product_of_tiles(const float *in, float *out, int n) {
  __shared__ float a[8][8], b[8][8];
  const int r = T / 8, c = T % 8;
  float sum = 0;
  for (int k = 0; k < 2; k++) {
    a[r][c] = in[k * 64 + T];
    b[r][c] = in[127 - k * 64 - T];
    __syncthreads();
    for (int e = 0; e < 8; e++) sum += a[r][e] * b[e][c];
    __syncthreads();
  }
  out[I] = sum;
}

__global__ void value_in_time(const float *in, float *out, int n) {
  float x = in[I];
  asm volatile("{ .reg .pred p; .reg .f32 y, z; setp.gt.f32 p, %0, 0f00000000; mov.f32 z, y; @p neg.f32 z, %0;\n"
               "  @!p mov.f32 z, %0; @p add.f32 y, z, 0f3f800000; @p add.f32 z, y, z; mov.f32 %0, z; }"
               : "+f"(x));
  out[I] = x;
}
}
