/* Kernels with one mistake each, for tests/cli/test_faults.c: 2 blocks of 64 threads over in[128], out[128]; `out`
 * counts as never written. Behind each name: the kind that must be reported, at the line with the mark A, and with the
 * line of B where there is one. */
#define T ((int)threadIdx.x)
#define I ((int)(blockIdx.x * 64 + threadIdx.x))
extern "C" {
// fault: race
__global__ void reversed_without_barrier(const float *in, float *out, int n) {
  __shared__ float s[64];
  s[T] = in[I];           /*B*/
  out[I] = s[63 - T] * 2; /*A*/
}

// fault: race
__global__ void tree_without_barrier(const float *in, float *out, int n) {
  __shared__ float s[64];
  s[T] = in[I]; /*B*/
  for (int by = 32; by > 0; by /= 2) {
    if (T < by) s[T] += s[T + by]; /*A*/
    __syncthreads();
  }
  if (T == 0) out[blockIdx.x] = s[0];
}

// fault: race
__global__ void shifted_in_place(const float *in, float *out, int n) {
  __shared__ float s[65];
  s[T] = in[I];
  if (T == 0) s[64] = 0;
  __syncthreads();
  const float next = s[T + 1]; /*B*/
  s[T] = next + 1;             /*A*/
  __syncthreads();
  out[I] = s[T];
}

// fault: race
__global__ void two_warps_one_place(const float *in, float *out, int n) {
  __shared__ float s[32];
  s[T % 32] = in[I]; /*A*/ /*B*/
  __syncthreads();
  out[I] = s[T % 32];
}

// fault: relies on lockstep
__global__ void two_lanes_one_place(const float *in, float *out, int n) {
  __shared__ float s[32];
  s[T / 2] = in[I]; /*A*/ /*B*/
  __syncthreads();
  out[I] = s[T / 2];
}

// fault: uninitialised
__global__ void padding_is_read(const float *in, float *out, int n) {
  __shared__ float s[66];
  s[T + 1] = in[I];
  __syncthreads();
  out[I] = s[T] + s[T + 1] + s[T + 2]; /*A*/
}

// fault: uninitialised
__global__ void adds_to_nothing(const float *in, float *out, int n) { out[I] += in[I]; /*A*/ }

// fault: out of bounds
__global__ void one_too_far(const float *in, float *out, int n) { out[I] = in[I] - in[I + 1]; /*A*/ }

// fault: out of bounds
__global__ void one_before(const float *in, float *out, int n) { out[I] = in[I] - in[I - 1]; /*A*/ }

// fault: out of bounds
__global__ void no_guard(const float *in, float *out, int n) {
  for (int k = 0; k < 2; k++) out[I + k * 64] = in[I]; /*A*/
}

// fault: out of bounds
__global__ void shared_too_short(const float *in, float *out, int n) {
  __shared__ float s[64];
  s[T] = in[I];
  __syncthreads();
  out[I] = s[T + n - 127]; /*A*/
}

// fault: barrier
__global__ void barriers_of_two_branches(const float *in, float *out, int n) {
  __shared__ float s[64];
  s[T] = in[I];
  if (T < 40) {
    __syncthreads(); /*B*/
    out[I] = s[63 - T];
  } else {
    out[I] = 1;
    __syncthreads(); /*A*/
  }
}

// fault: barrier
__global__ void left_before_the_barrier(const float *in, float *out, int n) {
  __shared__ float s[64];
  s[T] = in[I];
  if (T >= 40) return;
  __syncthreads(); /*A*/
  out[I] = s[39 - T];
}

// fault: race
__global__ void every_block_writes(const float *in, float *out, int n) {
  if (T == 0) out[0] = in[I]; /*A*/ /*B*/
}

// fault: race
__global__ void other_block_is_read(const float *in, float *out, int n) {
  out[I] = in[I];                             /*B*/
  out[I] = out[(I + 64) % 128] + in[127 - I]; /*A*/
}

// fault: race
__global__ void zeroed_without_barrier(const float *in, float *out, int n) {
  __shared__ int sum;
  if (T == 33) sum = 0;            /*A*/
  atomicAdd(&sum, (int)in[I] + 3); /*B*/
  __syncthreads();
  out[I] = (float)sum;
}

// fault: race
__global__ void counted_without_atomics(const float *in, float *out, int n) {
  __shared__ int count;
  if (T == 0) count = 0;
  __syncthreads();
  if (in[I] > -3 && T % 32 == 0) count = count + 1 + T; /*A*/ /*B*/
  __syncthreads();
  out[I] = (float)count;
}

// fault: race
__global__ void one_buffer_too_few(const float *in, float *out, int n) {
  __shared__ float s[64];
  float sum = 0;
  for (int k = 0; k < 4; k++) {
    s[T] = in[I] + k; /*A*/
    __syncthreads();
    sum += s[63 - T]; /*B*/
  }
  out[I] = sum;
}

// fault: in flight
__global__ void copy_never_waited_for(const float *in, float *out, int n) {
  __shared__ float s[64];
  __pipeline_memcpy_async(&s[T], &in[I], 4); /*B*/
  __pipeline_commit();
  __syncthreads();
  out[I] = s[T]; /*A*/
}

// fault: in flight
__global__ void copy_of_the_last_group(const float *in, float *out, int n) {
  __shared__ float s[2][64];
  __pipeline_memcpy_async(&s[0][T], &in[I], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&s[1][T], &in[127 - I], 4); /*B*/
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  out[I] = s[0][63 - T] + s[1][T]; /*A*/
}

// fault: race
__global__ void copy_without_barrier(const float *in, float *out, int n) {
  __shared__ float s[64];
  __pipeline_memcpy_async(&s[T], &in[I], 4); /*B*/
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[I] = s[63 - T]; /*A*/
}

// fault: relies on lockstep
__global__ void warp_without_syncwarp(const float *in, float *out, int n) {
  __shared__ volatile float s[64];
  s[T] = in[I];
  __syncthreads();
  if (T < 32) {
    s[T] = s[T] + s[T + 32]; /*B*/
    s[T] = s[T] + s[T ^ 16]; /*A*/
  }
  if (T == 0) out[blockIdx.x] = s[0];
}

// fault: race
__global__ void global_without_barrier(const float *in, float *out, int n) {
  out[I] = in[I];                                       /*B*/
  out[I] = out[blockIdx.x * 64 + 63 - T] + in[127 - I]; /*A*/
}

// fault: race
__global__ void flag_without_atomics(const float *in, float *out, int n) {
  if (blockIdx.x == 0) {
    out[64 + T] = in[I]; /*B*/
    __threadfence();
  } else {
    out[T] = out[64 + T]; /*A*/
  }
}

// fault: out of bounds
__global__ void const_is_written(const float *in, float *out, int n) {
  const_cast<float *>(in)[I] = 1; /*A*/
  out[I] = 2;
}

// fault: race
__global__ void bins_without_atomics(const float *in, float *out, int n) {
  __shared__ int bins[4];
  if (T < 4) bins[T] = 0;
  __syncthreads();
  const int b = in[I] > 0;
  if (T % 32 == 5) bins[b * 0] += 1 + T; /*A*/ /*B*/
  __syncthreads();
  out[I] = (float)bins[T & 3];
}

// fault: uninitialised
__global__ void register_without_a_value(const float *in, float *out, int n) {
  float x = in[I];
  asm volatile("{ .reg .f32 sum; add.f32 sum, sum, %0; mov.f32 %0, sum; }" : "+f"(x)); /*B*/
  out[I] = x;                                                                          /*A*/
}

// fault: uninitialised
__global__ void value_in_some_lanes(const float *in, float *out, int n) {
  float x = in[I];
  asm volatile("{ .reg .pred p; .reg .f32 y; setp.gt.f32 p, %0, 0f00000000; @p mov.f32 y, %0; mov.f32 %0, y; }"
               : "+f"(x));
  out[I] = x * 2; /*A*/
}
}
