/* Where each CTA of a launch of several waves, or of one, runs: the marked build of two rungs, each launch under a
 * profiler that counts what crosses between the sides of L2 in the same launch.
 *
 *     SM 5   CTA 0 ------------------>|CTA 264 ---------------->|   which GPC has its turn first, and on which side of
 *            CTA 132 ------------------>|CTA 265 ---->|             L2 the CTAs of a head are: that differs from launch
 *                                                                   to launch
 *
 *     rung,d,N,heads,causal,launch      to which the profiler's counters are joined
 *     ,,,,,cta,smid,start_ns            its CTAs: where each ran, and when it started after the first, by the timer
 *                                       that all SMs share
 *
 *     rung,d,N,heads,causal,smids       of one wave: where each CTA ran. Before each runs a kernel of one CTA too many
 *                                       for one wave; it runs where the program lets one end before all others, and the
 *                                       next launch begins with the GPC after */
// Compiled for sm_80 and later: Turing lacks what it uses.
#include "kernels/lib/cuda_calls.h"
#include "kernels/lib/pass.h"
#include "kernels/lib/ptx_inline.cuh"

namespace marked {
extern const Rung FA2_TENSOR, FA2_ASYNC;
}

namespace {

enum { LAUNCHES = 4, GPCS = 8, BEGINS = 2 * GPCS, SPIN_CYCLES = 400000 };

void print_launch(const Measured &launch, const std::vector<Mark> &marks) {
  unsigned long long zero_ns = ~0ull;
  for (const Mark &mark : marks) zero_ns = std::min(zero_ns, mark.start_ns);
  printf("waves,%s,launch\n", launch.row().c_str());
  for (size_t c = 0; c < marks.size(); c++)
    printf("waves:,,,,,%zu,%u,%llu\n", c, marks[c].sm, marks[c].start_ns - zero_ns);
  fflush(stdout); /* a profiler writes between the lines */
}

void run_launches(const Measured &launch) {
  Pass pass(launch);
  for (int i = 0; i < LAUNCHES; i++) print_launch(launch, pass.run_marked());
}

__global__ void leave_off_at(unsigned smid) {
  const long long until = clock64() + SPIN_CYCLES;
  while (clock64() < until && this_sm() != smid) {
  }
}

void run_begins(const Measured &launch, const cudaDeviceProp &gpu) {
  const int slots = 2 * gpu.multiProcessorCount;
  Pass pass(launch);
  for (int i = 0; i < BEGINS; i++) {
    leave_off_at<<<slots + 1, gpu.maxThreadsPerMultiProcessor / 2>>>(
        (unsigned)(2 * (i % GPCS))); /* that SM is of GPC i (sim/l2/placement.h) */
    gpu_done();
    const std::vector<Mark> marks = pass.run_marked();
    printf("begins,%s,", launch.row().c_str());
    for (size_t c = 0; c < marks.size(); c++) printf("%s%u", c ? " " : "", marks[c].sm);
    printf("\n");
    fflush(stdout);
  }
}

} // namespace

void waves_run() {
  ampere_or_later("--waves");
  puts("waves,rung,d,N,heads,causal,launch");
  puts("waves:,,,,,cta,smid,start_ns");
  const Measured launches[] = {{&marked::FA2_ASYNC, 64, 16384, 4, true},
                               {&marked::FA2_ASYNC, 128, 8192, 4, true},
                               {&marked::FA2_ASYNC, 128, 16384, 4, true},
                               {&marked::FA2_ASYNC, 128, 32768, 4, false},
                               {&marked::FA2_TENSOR, 128, 16384, 4, false}};
  for (const Measured &launch : launches) run_launches(launch);
}

void begins_run() {
  const cudaDeviceProp gpu = ampere_or_later("--begins");
  puts("begins,rung,d,N,heads,causal,smids");
  const Measured launches[] = {{&marked::FA2_ASYNC, 128, 10240, 3, true}, {&marked::FA2_ASYNC, 128, 5120, 6, true},
                               {&marked::FA2_ASYNC, 128, 5120, 3, true},  {&marked::FA2_ASYNC, 64, 10240, 3, true},
                               {&marked::FA2_ASYNC, 128, 8192, 4, true},  {&marked::FA2_ASYNC, 128, 10240, 3, false},
                               {&marked::FA2_ASYNC, 128, 4096, 4, true},  {&marked::FA2_ASYNC, 128, 12288, 2, true},
                               {&marked::FA2_TENSOR, 128, 5120, 3, true}, {&marked::FA2_TENSOR, 64, 5120, 3, true},
                               {&marked::FA2_TENSOR, 128, 4096, 4, true}, {&marked::FA2_TENSOR, 128, 8192, 2, true}};
  for (const Measured &launch : launches) run_begins(launch, gpu);
}
