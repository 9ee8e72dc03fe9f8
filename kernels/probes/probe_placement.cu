/* Where things are on this GPU: on which side of L2 each SM, and on which SM each CTA of a launch.
 *
 *     SM 0 ... 65     side 0 --- its half of L2 ---+    an address has its home in one half; an SM of the other side
 *                                                  | fabric                         waits longer for it
 *     SM 66 ... 131   side 1 --- its half of L2 ---+
 *
 * Sides: one CTA, on the SM in question, measures the latency of atomicAdd to 256 addresses, best of four each; atomics
 * are done where the address has its home. SMs that see the same addresses near and far are on one side.
 * Places: every CTA notes its SM and stays until all have started; dynamic shared memory says how many fit on an SM.
 * Two launches of each size, as successive ones differ; then some again, after launches with one CTA too many for one
 * wave, which runs where the program lets one end before all others: a launch begins with the GPC after that of the
 * last CTA before it. Rows are in the order of launches.
 *
 *     row,side,near_cycles,far_cycles,ctas_per_sm,ctas,smids
 *     sm,0,325,522,,,17               an SM: its side (SM 0's is 0), the median latencies, its number (%smid)
 *     launch,,,,1,4,128 129 130 131   a launch: how many CTAs fit on an SM, how many there are, on which SM each ran */
#include "kernels/lib/cuda_calls.h"
#include "kernels/lib/ptx_inline.cuh"

#include <math.h>
#include <set>
#include <utility>

namespace {

enum {
  ADDRESSES = 256,
  ADDRESS_STEP = 1024 + 32 /* words */,
  LAUNCHES = 2,
  SPIN_CYCLES = 400000,
  CTAS_PER_SM = 8 /* so that one comes to each */,
  ENDS = 16
};
const unsigned NO_SM = ~0u;

__global__ void note_place(unsigned *smids, unsigned free_first) {
  if (threadIdx.x == 0) smids[blockIdx.x] = this_sm();
  if (this_sm() == free_first) return;
  const long long until = clock64() + SPIN_CYCLES;
  while (clock64() < until) {
  }
}

/* Latencies in cycles, seen from SM `smid`; of the CTAs that come to run there, the first one measures. */
__global__ void measure_latency(unsigned *words, unsigned smid, unsigned *taken, unsigned *cycles) {
  if (this_sm() != smid || threadIdx.x || atomicExch(taken, 1u)) return;
  for (int i = 0; i < ADDRESSES; i++) {
    unsigned best = ~0u;
    for (int k = 0; k < 4; k++) {
      const long long begin = clock64();
      const unsigned was = atomicAdd(words + i * ADDRESS_STEP, 1u);
      const long long end = clock64() + (was == 0x7fffffff); /* never equal: the clock is read after the answer */
      best = min(best, (unsigned)(end - begin));
    }
    cycles[i] = best;
  }
}

double mean(const std::vector<unsigned> &x) {
  double sum = 0;
  for (const unsigned y : x) sum += y;
  return sum / (double)x.size();
}

double covariance(const std::vector<unsigned> &x, const std::vector<unsigned> &y) {
  const double x_mean = mean(x), y_mean = mean(y);
  double sum = 0;
  for (size_t i = 0; i < x.size(); i++) sum += (x[i] - x_mean) * (y[i] - y_mean);
  return sum;
}

/* Of the latencies below their mean, or of the others: near addresses and far ones lie 200 cycles apart. */
unsigned median_of(const std::vector<unsigned> &cycles, bool near) {
  std::vector<unsigned> part;
  for (const unsigned c : cycles)
    if ((c < mean(cycles)) == near) part.push_back(c);
  return part.empty() ? 0 : median(part);
}

/* On which SM each CTA ran; `shared_bytes` each. CTAs of SM `free_first` do not stay. */
std::vector<unsigned> places(int ctas, size_t shared_bytes, unsigned free_first = NO_SM) {
  const GpuArray<unsigned> smids((size_t)ctas, "the places of CTAs");
  note_place<<<ctas, 128, shared_bytes>>>(smids.data, free_first);
  gpu_started();
  return smids.get();
}

void print_sides(const std::set<unsigned> &smids) {
  const GpuArray<unsigned> words(ADDRESSES * ADDRESS_STEP, "the latencies"), taken(1, "a mark"),
      answer(ADDRESSES, "the latencies");
  words.fill(0);
  std::vector<unsigned> first;
  for (const unsigned smid : smids) {
    taken.fill(0);
    measure_latency<<<CTAS_PER_SM *(int)smids.size(), 32>>>(words.data, smid, taken.data, answer.data);
    gpu_started();
    if (!taken.get()[0]) refuse("no CTA came to run on SM %u: is another program using the GPU?", smid);
    const std::vector<unsigned> cycles = answer.get();
    if (first.empty()) first = cycles;
    printf("sm,%d,%u,%u,,,%u\n", covariance(first, cycles) < 0, median_of(cycles, true), median_of(cycles, false),
           smid);
  }
}

void print_launch(int ctas_per_sm, const std::vector<unsigned> &smids) {
  printf("launch,,,,%d,%zu,", ctas_per_sm, smids.size());
  for (size_t i = 0; i < smids.size(); i++) printf("%s%u", i ? " " : "", smids[i]);
  puts("");
}

} // namespace

void placement_print() {
  cudaDeviceProp gpu;
  GPU(cudaGetDeviceProperties(&gpu, 0));
  const int n = gpu.multiProcessorCount;
  GPU(cudaFuncSetAttribute(note_place, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)gpu.sharedMemPerBlockOptin));
  GPU(cudaFuncSetAttribute(note_place, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
  const std::vector<unsigned> one_each = places(n, shared_bytes_for(gpu, 1));
  std::set<int> sizes = {4, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 200, 256, 300, 400};
  for (int k = 1; k <= 4; k++) sizes.insert(k * n);
  puts("row,side,near_cycles,far_cycles,ctas_per_sm,ctas,smids");
  print_sides(std::set<unsigned>(one_each.begin(), one_each.end()));
  for (int ctas_per_sm = 1; ctas_per_sm <= 4; ctas_per_sm++)
    for (const int ctas : sizes)
      for (int launch = 0; launch < LAUNCHES && ctas <= n * ctas_per_sm; launch++)
        print_launch(ctas_per_sm, places(ctas, shared_bytes_for(gpu, ctas_per_sm)));
  const std::pair<int, int> again[] = {{1, 32},  {1, 64},    {1, 112}, {1, n},    {2, 200},
                                       {2, 256}, {2, 2 * n}, {3, 300}, {3, 3 * n}};
  for (int i = 0; i < ENDS; i++) {
    const unsigned free_first = one_each[(size_t)(8 + i * (n - 8) / ENDS)];
    print_launch(1, places(n + 1, shared_bytes_for(gpu, 1), free_first));
    for (const auto &launch : again)
      print_launch(launch.first, places(launch.second, shared_bytes_for(gpu, launch.first)));
  }
}
