/* Watches from outside when a kernel stores its row blocks: one CTA polls the first word of each block of O, which the caller has
 * set to something that no result is. It tells how evenly the CTAs of a kernel go without touching its code; kernels/others.py
 * loads this as a library. The watcher takes a place on one SM. */
#include "kernels/gpu.h"
#include "kernels/ptx.cuh"

#include <stdint.h>

namespace {

enum { THREADS = 256 };

struct Watch {
  const volatile uint32_t *words; /* of O */
  size_t stride;                  /* words from one row block to the next */
  int n;
  uint32_t unset;
  unsigned long long limit_ns;
  unsigned long long *stored_ns; /* of each row block; 0: not seen */
  volatile int *started;
};

__global__ void __launch_bounds__(THREADS) watch(const Watch w) {
  const unsigned long long start = global_ns();
  if (threadIdx.x == 0) *w.started = 1;
  for (bool all = false; !all && global_ns() - start < w.limit_ns;) {
    all = true;
    for (int i = (int)threadIdx.x; i < w.n; i += THREADS) {
      if (w.stored_ns[i]) continue;
      if (w.words[i * w.stride] != w.unset) w.stored_ns[i] = global_ns();
      else all = false;
    }
  }
}

Watch running;
cudaStream_t stream;

} // namespace

/* Begins to watch n row blocks of `words`, `stride` 4-byte words apart, all of them still `unset`, for limit_s seconds at most;
 * returns when the watcher runs. One at a time. */
extern "C" void watch_begin(const void *words, size_t stride, int n, uint32_t unset, double limit_s) {
  int *started;
  GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  GPU(cudaHostAlloc((void **)&started, sizeof *started, cudaHostAllocMapped));
  running = {(const volatile uint32_t *)words, stride, n, unset, (unsigned long long)(limit_s * 1e9), nullptr, started};
  GPU(cudaMalloc((void **)&running.stored_ns, (size_t)n * sizeof *running.stored_ns));
  GPU(cudaMemset(running.stored_ns, 0, (size_t)n * sizeof *running.stored_ns));
  *running.started = 0;
  GPU(cudaDeviceSynchronize());
  watch<<<1, THREADS, 0, stream>>>(running);
  GPU(cudaGetLastError());
  while (!*running.started && cudaStreamQuery(stream) == cudaErrorNotReady) {}
}

/* Waits for the watcher and copies the times, n of them. */
extern "C" void watch_end(unsigned long long *stored_ns) {
  GPU(cudaStreamSynchronize(stream));
  GPU(cudaMemcpy(stored_ns, running.stored_ns, (size_t)running.n * sizeof *stored_ns, cudaMemcpyDeviceToHost));
  GPU(cudaFree(running.stored_ns));
  GPU(cudaFreeHost((void *)running.started));
  GPU(cudaStreamDestroy(stream));
}
