/* The GPU from the harness's side: every call checked, memory that frees itself, one line and exit 2 on trouble. */
#ifndef TILEWALK_KERNELS_LIB_CUDA_CALLS_H
#define TILEWALK_KERNELS_LIB_CUDA_CALLS_H

#include <algorithm>
#include <cuda_runtime.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <vector>

/* The request was wrong or cannot be met here: one line on stderr, exit status 2. */
[[noreturn]] __attribute__((format(printf, 1, 2))) static inline void refuse(const char *format, ...) {
  fputs("tilewalk-kernels: ", stderr);
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(2);
}

static inline void gpu_check(cudaError_t status, const char *what) {
  if (status != cudaSuccess) refuse("%s failed: %s", what, cudaGetErrorString(status));
}
#define GPU(call) gpu_check(call, #call)

/* For a mode whose kernels need Ampere or later. */
static inline cudaDeviceProp ampere_or_later(const char *mode) {
  cudaDeviceProp gpu;
  GPU(cudaGetDeviceProperties(&gpu, 0));
  if (gpu.major < 8) refuse("%s needs compute capability 8.0; this GPU has %d.%d", mode, gpu.major, gpu.minor);
  return gpu;
}

/* The most shared memory of which `ctas_per_sm` CTAs, and no more, find room on an SM. */
static inline size_t shared_bytes_for(const cudaDeviceProp &gpu, int ctas_per_sm) {
  const size_t bytes = gpu.sharedMemPerMultiprocessor / (size_t)ctas_per_sm - gpu.reservedSharedMemPerBlock;
  const size_t whole = bytes / 1024 * 1024;
  return whole < gpu.sharedMemPerBlockOptin ? whole : gpu.sharedMemPerBlockOptin;
}

/* After a launch: that it began; and that all before is done. */
static inline void gpu_started() { GPU(cudaGetLastError()); }
static inline void gpu_done() {
  gpu_started();
  GPU(cudaDeviceSynchronize());
}

/* An array in the GPU's memory. */
template <class T> struct GpuArray {
  T *data = nullptr;
  size_t n = 0;
  GpuArray() = default;
  GpuArray(size_t count, const char *what) { take(count, what); }
  GpuArray(const GpuArray &) = delete;
  ~GpuArray() { cudaFree(data); }
  void take(size_t count, const char *what) {
    n = count;
    if (n == 0) return;
    size_t free_bytes = 0, total_bytes = 0;
    if (cudaMalloc((void **)&data, n * sizeof(T)) == cudaSuccess) return;
    cudaGetLastError();
    cudaMemGetInfo(&free_bytes, &total_bytes);
    refuse("%s needs %.2f GiB of GPU memory and %.2f GiB are free: choose a smaller N, batch or number of heads", what,
           (double)(n * sizeof(T)) / 0x1p30, (double)free_bytes / 0x1p30);
  }
  void fill(int byte) const {
    if (n) GPU(cudaMemset(data, byte, n * sizeof(T)));
  }
  void put(const void *from, size_t count) const {
    if (count) GPU(cudaMemcpy(data, from, count * sizeof(T), cudaMemcpyHostToDevice));
  }
  void put(const std::vector<T> &from) const { put(from.data(), from.size()); }
  std::vector<T> get() const { return get(n); }
  std::vector<T> get(size_t count) const {
    std::vector<T> values(count);
    if (count) GPU(cudaMemcpy(values.data(), data, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
};

template <class T> T median(std::vector<T> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

struct GpuTimer {
  cudaEvent_t start, stop;
  GpuTimer() {
    GPU(cudaEventCreate(&start));
    GPU(cudaEventCreate(&stop));
  }
  ~GpuTimer() {
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
  }
  void begin() { GPU(cudaEventRecord(start)); }
  double end_ms() {
    float ms = 0;
    GPU(cudaEventRecord(stop));
    GPU(cudaEventSynchronize(stop));
    GPU(cudaEventElapsedTime(&ms, start, stop));
    return (double)ms;
  }
};

/* The studies of kernels/probes, each described in the head of its file and in --help. */
void placement_print();
void scans_run();
void scan_places_run();
void sets_print();
void replacement_print();
void spills_run();
void coalescer_run();
void pace_print();
void clocks_print();
void steps_run();
void steps_shared_run();
void ends_run();
void waves_run();
void begins_run();
void stamps_print();

/* Numbers that look normal, made on the GPU; for timing only. Any element size of 2 (fp16 or bf16 by `bf16`) or 4. */
void fill_normal(void *elements, size_t n, int element_bytes, bool bf16, unsigned seed);

#endif
