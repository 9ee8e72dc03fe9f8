/* Watches other people's kernels from outside, without touching their code; kernels/collect/others.py loads this as a
 * library.
 *
 *     watch_*   when a kernel stores its row blocks: one CTA polls the first word of each block of O, which the caller
 *               has set to something that no result is. It tells how evenly the CTAs of a kernel go. The watcher takes
 *               a place on one SM.
 *     clock_*   how fast the clocks of some SMs run under a kernel: on each of them a CTA that takes all of its shared
 *               memory stands beside the kernel and reads its clock and the time, twice. The kernel has the other
 *               SMs. */
#include "kernels/lib/cuda_calls.h"
#include "kernels/lib/ptx_inline.cuh"

#include <string.h>

namespace {

enum { THREADS = 1024 };
enum { CLOCK_SMS = 256 /* at most */, CLOCK_MARKS = 2, SHARED_BYTES = 227 * 1024, NAP_NS = 1000 };

struct Watch {
  const volatile uint32_t *words; /* of O */
  size_t stride, head_stride;     /* words from one row block to the next, from one head to the next */
  int n, n_of_head;
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
      if (w.words[(size_t)(i % w.n_of_head) * w.stride + (size_t)(i / w.n_of_head) * w.head_stride] != w.unset)
        w.stored_ns[i] = global_ns();
      else
        all = false;
    }
  }
}

/* Cycles and time at each mark of each watched SM, and how many marks the host has asked for so far. */
struct Clocks {
  bool watched[CLOCK_SMS];
  unsigned long long cycles[CLOCK_SMS][CLOCK_MARKS], ns[CLOCK_SMS][CLOCK_MARKS];
  volatile int asked, n_there;
};

__global__ void watch_clocks(Clocks *c) {
  const unsigned sm = this_sm();
  if (sm >= CLOCK_SMS || !c->watched[sm]) return;
  atomicAdd_system((int *)&c->n_there, 1);
  for (int mark = 0; mark < CLOCK_MARKS; mark++) {
    while (c->asked <= mark) __nanosleep(NAP_NS);
    c->ns[sm][mark] = global_ns();
    c->cycles[sm][mark] = (unsigned long long)clock64();
  }
}

Watch running;
Clocks *clocks;
cudaStream_t stream;

} // namespace

/* Begins to watch n row blocks of `words`, n_of_head to a head, `stride` 4-byte words apart, those of the next head
 * `head_stride` words on, all of them still `unset`, for limit_s seconds at most; returns when the watcher runs. One at
 * a time. */
extern "C" void watch_begin(const void *words, size_t stride, size_t head_stride, int n, int n_of_head, uint32_t unset,
                            double limit_s) {
  int *started;
  GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  GPU(cudaHostAlloc((void **)&started, sizeof *started, cudaHostAllocMapped));
  running = {(const volatile uint32_t *)words,    stride,  head_stride, n, n_of_head, unset,
             (unsigned long long)(limit_s * 1e9), nullptr, started};
  GPU(cudaMalloc((void **)&running.stored_ns, (size_t)n * sizeof *running.stored_ns));
  GPU(cudaMemset(running.stored_ns, 0, (size_t)n * sizeof *running.stored_ns));
  *running.started = 0;
  GPU(cudaDeviceSynchronize());
  watch<<<1, THREADS, 0, stream>>>(running);
  GPU(cudaGetLastError());
  while (!*running.started && cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
}

/* Waits for the watcher and copies the times, n of them. */
extern "C" void watch_end(unsigned long long *stored_ns) {
  GPU(cudaStreamSynchronize(stream));
  GPU(cudaMemcpy(stored_ns, running.stored_ns, (size_t)running.n * sizeof *stored_ns, cudaMemcpyDeviceToHost));
  GPU(cudaFree(running.stored_ns));
  GPU(cudaFreeHost((void *)running.started));
  GPU(cudaStreamDestroy(stream));
}

/* Begins to watch the clocks of n SMs, named by their %smid, on a GPU that is idle; returns when all of them are
 * watched. One at a time. */
extern "C" void clock_begin(const int *sms, int n) {
  int device, n_sm;
  GPU(cudaGetDevice(&device));
  GPU(cudaDeviceGetAttribute(&n_sm, cudaDevAttrMultiProcessorCount, device));
  GPU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  GPU(cudaHostAlloc((void **)&clocks, sizeof *clocks, cudaHostAllocMapped));
  memset(clocks, 0, sizeof *clocks);
  for (int i = 0; i < n; i++) clocks->watched[sms[i]] = true;
  GPU(cudaFuncSetAttribute(watch_clocks, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
  watch_clocks<<<n_sm, 1, SHARED_BYTES, stream>>>(clocks);
  GPU(cudaGetLastError());
  while (clocks->n_there < n && cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
}

/* The next of two marks. After the second the watched SMs are free. */
extern "C" void clock_mark(void) { clocks->asked = clocks->asked + 1; }

/* Waits for the watchers; cycles per ns between the marks, in the order of the SMs given; 0: not watched. */
extern "C" void clock_end(const int *sms, int n, double *cycles_per_ns) {
  GPU(cudaStreamSynchronize(stream));
  for (int i = 0; i < n; i++) {
    const unsigned long long *cycles = clocks->cycles[sms[i]], *ns = clocks->ns[sms[i]];
    cycles_per_ns[i] = ns[1] > ns[0] ? (double)(cycles[1] - cycles[0]) / (double)(ns[1] - ns[0]) : 0;
  }
  GPU(cudaFreeHost(clocks));
  GPU(cudaStreamDestroy(stream));
}
