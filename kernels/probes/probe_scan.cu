/* Runs the scans of kernels/probes/scan_lists.h, one launch each, for a profiler that counts what L2 and HBM move.
 *
 *     128 threads    one granule: 8 rounds of 16 bytes a thread, into shared memory past L1 (cp.async.cg), or stored
 *                    then a barrier, work_cycles of spinning, a barrier, and the next granule
 *
 * Shared memory is asked for beyond need, so that two CTAs find room on an SM, as in attention's own kernels. */
// Compiled for sm_80 and later: Turing lacks what it uses.
#include "kernels/lib/cuda_calls.h"
#include "kernels/probes/granule.cuh"

extern "C" {
#include "kernels/probes/scan_lists.h"
}

namespace {

enum { THREADS = GRANULE_THREADS, SHARED_BYTES = 90 * 1024 };

struct Scan {
  const uint32_t *ops;
  const ScanPart *parts;
  unsigned char *pool;
  uint32_t work_cycles;
};

__device__ void store_granule(unsigned char *to, uint4 x) {
#pragma unroll
  for (int at = 0; at < SCAN_GRANULE_BYTES; at += GRANULE_ROUND_BYTES) store_global_16(to + 16 * threadIdx.x + at, x);
}

__global__ void __launch_bounds__(THREADS) scan_granules(const Scan s) {
  for (int k = 0; k < SCAN_PARTS; k++) {
    const ScanPart part = s.parts[blockIdx.x * SCAN_PARTS + k];
    for (uint32_t at = part.begin; at < part.end; at++) {
      const uint32_t op = s.ops[at];
      unsigned char *granule = s.pool + (size_t)scan_op_granule(op, blockIdx.x) * SCAN_GRANULE_BYTES;
      if (scan_op_stores(op))
        store_granule(granule, make_uint4(op, at, blockIdx.x, threadIdx.x));
      else
        read_granule(granule, SCAN_GRANULE_BYTES);
      __syncthreads();
      if (s.work_cycles) spin(s.work_cycles);
      __syncthreads();
    }
  }
}

struct Study {
  const char *name;
  unsigned char *pool;
};

void run_scan(void *context, const ScanList *scan) {
  const Study *study = (const Study *)context;
  const GpuArray<uint32_t> ops(scan->n_ops, "the list of a scan");
  const GpuArray<ScanPart> parts(scan->n_ctas * SCAN_PARTS, "the parts of a scan");
  ops.put(scan->ops, ops.n);
  parts.put(scan->parts, parts.n);
  const Scan s = {ops.data, parts.data, study->pool, scan->work_cycles};
  scan_granules<<<scan->n_ctas, THREADS, SHARED_BYTES>>>(s);
  gpu_done();
  printf("%s,%s\n", study->name, scan->name);
  fflush(stdout); /* a profiler writes between the lines */
}

void run_all(const char *name, bool (*each)(ScanVisit *visit, void *context)) {
  ampere_or_later("--scan");
  const GpuArray<unsigned char> pool((size_t)SCAN_POOL_GRANULES * SCAN_GRANULE_BYTES, "the pool of the scans");
  pool.fill(1);
  GPU(cudaFuncSetAttribute(scan_granules, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
  Study study = {name, pool.data};
  printf("%s,name\n", name);
  if (!each(run_scan, &study)) refuse("no memory for the lists of the scans");
}

} // namespace

void scans_run() { run_all("scan", scan_lists_each); }

void scan_places_run() { run_all("scan-places", scan_lists_each_place); }
