/* Blocks ordered by fences and flags, and not; masks of warps; equal values. Asked by tests/commands/order.txt, from
 * recorded/order.ptx: `tilewalk kernel order.cu --ptx`. Four blocks of 64 threads. */
// tilewalk: grid 4 block 64
// tilewalk: arg f32[256]:normal:1 arg f32[4]:zero arg u32[2]:zero arg f32[4]:zero
extern "C" {
#define T threadIdx.x
#define B blockIdx.x

__device__ float block_sum(const float *x) {
  __shared__ float s[64];
  s[T] = x[B * 64 + T];
  __syncthreads();
  for (int h = 32; h; h /= 2) {
    if (T < h) s[T] += s[T + h];
    __syncthreads();
  }
  return s[0];
}

__global__ void last_block(const float *x, float *part, unsigned *count, float *out) {
  __shared__ bool last;
  const float sum = block_sum(x);
  if (T == 0) {
    part[B] = sum;
    __threadfence();
    last = atomicAdd(count, 1) == 3;
  }
  __syncthreads();
  if (last && T < 4) out[T] = part[T];
}

__global__ void last_block_without_fence(const float *x, float *part, unsigned *count, float *out) {
  __shared__ bool last;
  const float sum = block_sum(x);
  if (T == 0) {
    part[B] = sum;
    last = atomicAdd(count, 1) == 3;
  }
  __syncthreads();
  if (last && T < 4) out[T] = part[T];
}

__global__ void flag(const float *x, float *data, volatile unsigned *ready, float *out) {
  if (T) return;
  if (B == 0) {
    data[0] = 42;
    __threadfence();
    *ready = 1;
  } else {
    while (!*ready) {
    }
    __threadfence();
    out[B] = data[0];
  }
}

__global__ void flag_without_fence(const float *x, float *data, volatile unsigned *ready, float *out) {
  if (T) return;
  if (B == 0) {
    data[0] = 42;
    *ready = 1;
  } else {
    while (!*ready) {
    }
    __threadfence();
    out[B] = data[0];
  }
}

__global__ void written_after_release(const float *x, float *data, unsigned *count, float *out) {
  if (T) return;
  if (B == 0) {
    data[0] = 1;
    __threadfence();
    atomicAdd(count, 1u);
    data[0] = 2;
  } else if (atomicAdd(count, 0u)) {
    out[B] = data[0];
  }
}

__global__ void passed_on(const float *x, float *data, unsigned *count,
                          float *out) { /* block 1 passes on what block 0 gave */
  if (T) return;
  if (B == 0) data[0] = 1;
  __threadfence();
  if (B < 2) {
    while (atomicAdd(&count[0], 0u) != B) {
    }
    __threadfence();
    atomicAdd(&count[B], 1u);
  } else {
    while (!atomicAdd(&count[1], 0u)) {
    }
    out[B] = data[0];
  }
}

__global__ void outside_its_mask(const float *x, float *data, unsigned *count, float *out) {
  const float other = __shfl_xor_sync(0x7fffffffu, x[B * 64 + T], 1);
  if (T == 0) out[B] = other;
}

__global__ void one_line_one_value(const float *x, float *data, unsigned *count, float *out) {
  if (x[B * 64 + T] > -5) data[0] = 3;
}

__global__ void two_lines_one_value(const float *x, float *data, unsigned *count, float *out) {
  if (T == 0) data[B] = 3;
  asm volatile("" ::: "memory");
  if (T == 32) data[B] = 3;
}
}
