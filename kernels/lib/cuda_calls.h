/* The GPU from the harness's side: every call checked, memory that frees itself, one line and exit 2 on trouble. */
#ifndef TILEWALK_KERNELS_LIB_CUDA_CALLS_H
#define TILEWALK_KERNELS_LIB_CUDA_CALLS_H

#include <cuda_runtime.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>

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

struct GpuBuffer {
  void *data = nullptr;
  GpuBuffer() = default;
  GpuBuffer(const GpuBuffer &) = delete;
  GpuBuffer &operator=(const GpuBuffer &) = delete;
  ~GpuBuffer() { cudaFree(data); }
  void take(size_t bytes, const char *what) {
    if (bytes == 0) return;
    size_t free_bytes = 0, total_bytes = 0;
    if (cudaMalloc(&data, bytes) == cudaSuccess) return;
    cudaGetLastError();
    cudaMemGetInfo(&free_bytes, &total_bytes);
    refuse("%s needs %.2f GiB of GPU memory and %.2f GiB are free: choose a smaller N, batch or number of heads", what,
           (double)bytes / 0x1p30, (double)free_bytes / 0x1p30);
  }
};

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

/* The side of L2 of each SM, and the SMs on which the CTAs of a launch run, as CSV (kernels/probes/probe_placement.cu).
 */
void placement_print();

/* Runs each scan of kernels/counters/scan_lists.h once and prints its name (kernels/probes/probe_scan.cu). */
void scans_run();

/* The same for the lists that come at several places. */
void scan_places_run();

/* Which lines share a set of L2, as CSV (kernels/probes/probe_sets.cu). */
void sets_print();

/* What a set of L2 keeps of lines that are read in turn, as CSV (kernels/probes/probe_sets.cu). */
void replacement_print();

/* Runs each launch of kernels/probes/probe_spills.cu once and prints its name. */
void spills_run();

/* Runs each launch of kernels/probes/probe_coalescer.cu once and prints its name. */
void coalescer_run();

/* How many cycles the CTAs of the rungs with tensor cores take for a tile, as CSV (kernels/probes/probe_pace.cu). */
void pace_print();

/* The clock of each SM, under load and idle, as CSV (kernels/probes/probe_pace.cu). */
void clocks_print();

/* When the CTAs of the rungs with tensor cores ask for tiles of K and V, a launch each, for a profiler
 * (kernels/probes/probe_steps.cu). */
void steps_run();

/* The same where SMs have more than one CTA, or some one more than others. */
void steps_shared_run();

/* When those of an SM end that began together, by its clock (kernels/probes/probe_ends.cu). */
void ends_run();

/* Where and when the CTAs of the same rungs run in launches of several waves, each beside its fabric traffic
 * (kernels/probes/probe_waves.cu). */
void waves_run();

/* Where they run in launches of one wave that begin with each GPC in turn, likewise. */
void begins_run();

/* The SM's clock at moments of each tile of the rungs that copy behind their products, as CSV
 * (kernels/probes/probe_stamps.cu). */
void stamps_print();

/* Numbers that look normal, made on the GPU; for timing only. Any element size of 2 (fp16 or bf16 by `bf16`) or 4. */
void fill_normal(void *elements, size_t n, int element_bytes, bool bf16, unsigned seed);

#endif
