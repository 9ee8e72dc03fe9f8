/* What the coalescer in front of L2 makes of requests for the same lines: launches in which chosen SMs ask at chosen
 * moments, one launch after another, for a profiler that counts the sectors that reach L2.
 *
 *     step        0             1             2 ...       each begins 12000 cycles after the one before, on every SM
 *     SM 0        [16 KiB]      [16 KiB]      [16 KiB]    a CTA asks for all of a step's data at once, and waits
 *     SM 16           [16 KiB]      [16 KiB]      ...     D cycles later, the same data
 *
 * A clock for all: thread 0 of each CTA catches edges of the timer that all SMs share in two bursts 200 us apart, and
 * lays a line through them, its SM's clock against the timer. All agree on a moment for step 0; from then on each
 * counts cycles of its own.
 *
 *     nothing CTAS BYTES warm|cold    nobody asks: what the clocks, and the warming, cost besides
 *     pair A B                        SMs A and B at once
 *     apart A B warm|cold D           SM B, a number of cycles after SM A
 *     spread CTAS BYTES warm|cold W   every SM, CTAS on each, each with an offset of its own in [0, W)
 *                                     (kernels/probes/spread.h)
 *
 * Warm: before the clocks are set, two SMs on different sides of L2 read all data, which L2 then has; cold: the data
 * are in HBM, if the profiler empties L2 before each launch. A step takes 16 KiB, or as many bytes as said; no two
 * steps share data.
 *
 *     name,readers,step_bytes,steps,warm_bytes,wait_cycles,longest_wait_cycles
 *     pair 0 17,2,16384,64,2097152,632,671      2 CTAs read 64 steps; warming read 2 MiB; the wait from asking to
 *                                               having, mean and longest */
// Compiled for sm_80 and later: Turing lacks what it uses.
#include "kernels/lib/cuda_calls.h"
#include "kernels/probes/granule.cuh"

extern "C" {
#include "kernels/probes/spread.h"
}

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace {

enum {
  THREADS = GRANULE_THREADS,
  CTAS_PER_SM_MOST = 2,
  OWN_SHARED_BYTES = 1024 /* room for the kernel's own few words */
};
enum { STEPS = 64, PERIOD_CYCLES = 12000, STEP_BYTES = 16384, STEP_BYTES_MOST = 32768 };
enum { BURSTS = 2, EDGES = 24 /* of a burst */, BURSTS_APART_NS = 200000, START_AFTER_NS = 10000, LOOK_EVERY_NS = 500 };
enum {
  WARMING_SMS = 2,
  ON_SIDE_0 = 0,
  ON_SIDE_1 = 2
}; /* SMs of an H200 and an H100: assets/counters/h200/placement/first.csv */

/* Where CTAs wait for each other. */
struct Meeting {
  alignas(128) unsigned came;
  alignas(128) unsigned set;
  alignas(128) unsigned long long start_ns;
  unsigned wrong; /* a step began too late */
};

struct Wait {
  unsigned long long cycles; /* of all steps */
  unsigned longest;
};

/* A place is an SM and a slot on it: slot x n_sms + SM. */
struct Reading {
  unsigned char *pool;
  const int *offsets; /* of each place, in cycles from the beginning of a step; negative: it does not read */
  unsigned *ctas_on_sm;
  Meeting *meeting;
  Wait *waits; /* of each place */
  unsigned n_sms, n_places;
  int step_bytes, warm;
};

__device__ void read_step(const Reading &r, int step) {
  read_granule(r.pool + (size_t)step * (size_t)r.step_bytes, r.step_bytes);
  __syncthreads();
}

/* Until every CTA has come; they look seldom, since each look is a read of L2. */
__device__ void meet(unsigned *came) {
  __threadfence();
  atomicAdd(came, 1u);
  while (*(volatile unsigned *)came < gridDim.x) __nanosleep(LOOK_EVERY_NS);
  __threadfence();
}

/* This SM's clock at the moment that all CTAs agree on. One thread calls it. */
__device__ long long agree_on_start(Meeting *meeting) {
  meet(&meeting->came);
  const unsigned long long zero_ns = global_ns();
  const unsigned long long zero_cycles = (unsigned long long)clock64();
  unsigned long long ns = zero_ns, cycles;
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0; /* ns and cycles since zero */
  for (int burst = 0; burst < BURSTS; burst++) {
    while (ns < zero_ns + (unsigned)burst * BURSTS_APART_NS) ns = global_ns();
    for (int e = 0; e < EDGES; e++) {
      note_edge(&ns, &cycles);
      const double x = (double)(ns - zero_ns), y = (double)(cycles - zero_cycles);
      sum_x += x, sum_y += y, sum_xx += x * x, sum_xy += x * y;
    }
  }
  const double n = BURSTS * EDGES, cycles_per_ns = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
  atomicMax(&meeting->start_ns, ns + START_AFTER_NS);
  meet(&meeting->set);
  const unsigned long long start_ns = *(volatile unsigned long long *)&meeting->start_ns;
  return (long long)zero_cycles + (long long)((sum_y + cycles_per_ns * (n * (double)(start_ns - zero_ns) - sum_x)) / n);
}

__global__ void __launch_bounds__(THREADS) read_at_once(const Reading r) {
  __shared__ unsigned place_of_all;
  __shared__ long long start_of_all;
  if (threadIdx.x == 0) {
    const unsigned sm = this_sm();
    place_of_all = sm < r.n_sms ? atomicAdd(r.ctas_on_sm + sm, 1u) * r.n_sms + sm : r.n_places;
  }
  __syncthreads();
  const unsigned place = place_of_all;
  if (r.warm && (place == ON_SIDE_0 || place == ON_SIDE_1))
    for (int step = 0; step < STEPS; step++) read_step(r, step);
  if (threadIdx.x == 0) start_of_all = agree_on_start(r.meeting);
  __syncthreads();
  if (place >= r.n_places || r.offsets[place] < 0) return;
  const long long first = start_of_all + r.offsets[place];
  Wait wait = {0, 0};
  for (int step = 0; step < STEPS; step++) {
    const long long at = first + (long long)step * PERIOD_CYCLES;
    long long now = clock64();
    if (now > at) r.meeting->wrong = 1;
    while (now < at) now = clock64();
    read_step(r, step);
    const unsigned waited = (unsigned)(clock64() - now);
    wait.cycles += waited;
    wait.longest = max(wait.longest, waited);
  }
  if (threadIdx.x == 0) r.waits[place] = wait;
}

class Launcher {
public:
  explicit Launcher(const cudaDeviceProp &the_gpu)
      : gpu(the_gpu), n_sms((unsigned)gpu.multiProcessorCount), pool(STEPS * STEP_BYTES_MOST, "the data of the steps"),
        offsets(n_places(CTAS_PER_SM_MOST), "the offsets"), ctas_on_sm(n_sms, "the CTAs of each SM"),
        meeting(1, "the meeting of the CTAs"), waits(n_places(CTAS_PER_SM_MOST), "the waits") {
    pool.fill(1);
    GPU(cudaFuncSetAttribute(read_at_once, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)gpu.sharedMemPerBlockOptin - OWN_SHARED_BYTES));
    GPU(cudaFuncSetAttribute(read_at_once, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared));
  }
  std::vector<int> nobody() const { return std::vector<int>(n_places(CTAS_PER_SM_MOST), -1); }
  void run(const std::string &name, int ctas_per_sm, int step_bytes, bool warm, const std::vector<int> &when);

private:
  size_t n_places(int ctas_per_sm) const { return (size_t)ctas_per_sm * n_sms; }
  cudaDeviceProp gpu;
  unsigned n_sms;
  GpuArray<unsigned char> pool;
  GpuArray<int> offsets;
  GpuArray<unsigned> ctas_on_sm;
  GpuArray<Meeting> meeting;
  GpuArray<Wait> waits;
};

/* `when`: the offset of each place, negative where nobody reads. */
void Launcher::run(const std::string &name, int ctas_per_sm, int step_bytes, bool warm, const std::vector<int> &when) {
  const size_t shared_bytes = shared_bytes_for(gpu, ctas_per_sm) - OWN_SHARED_BYTES;
  int resident = 0;
  GPU(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, read_at_once, THREADS, shared_bytes));
  if (resident != ctas_per_sm)
    refuse("--coalescer: %d CTAs fit an SM of this GPU where %d are needed", resident, ctas_per_sm);
  offsets.put(when);
  ctas_on_sm.fill(0);
  meeting.fill(0);
  waits.fill(0);
  const Reading r = {
      pool.data,  offsets.data, ctas_on_sm.data, meeting.data, waits.data, n_sms, (unsigned)n_places(ctas_per_sm),
      step_bytes, warm};
  read_at_once<<<(unsigned)n_places(ctas_per_sm), THREADS, shared_bytes>>>(r);
  gpu_done();
  const std::vector<Wait> waited = waits.get(when.size());
  if (meeting.get()[0].wrong) refuse("%s: a step began before the one before it had ended", name.c_str());
  unsigned readers = 0, longest = 0;
  unsigned long long cycles = 0;
  for (size_t place = 0; place < when.size(); place++) {
    if (when[place] < 0) continue;
    if (!waited[place].cycles) refuse("no CTA came to run on SM %zu: is another program using the GPU?", place % n_sms);
    readers++, cycles += waited[place].cycles, longest = std::max(longest, waited[place].longest);
  }
  printf("coalescer,%s,%u,%d,%d,%d,%.0f,%u\n", name.c_str(), readers, step_bytes, STEPS,
         warm ? WARMING_SMS * STEPS * step_bytes : 0, readers ? (double)cycles / readers / STEPS : 0, longest);
  fflush(stdout); /* a profiler writes between the lines */
}

/* Words with blanks between. */
template <class... Words> std::string words(Words... list) {
  std::ostringstream line;
  ((line << (line.tellp() > 0 ? " " : "") << list), ...);
  return line.str();
}

const char *const TEMPERATURES[] = {"cold", "warm"};

void run_nothing(Launcher &launcher) {
  for (int ctas = 1; ctas <= CTAS_PER_SM_MOST; ctas++)
    for (int bytes = STEP_BYTES; bytes <= STEP_BYTES_MOST; bytes *= 2)
      for (int warm = 1; warm >= 0; warm--)
        launcher.run(words("nothing", ctas, bytes, TEMPERATURES[warm]), ctas, bytes, warm, launcher.nobody());
}

void run_two(Launcher &launcher, const std::string &name, unsigned a, unsigned b, bool warm, int later) {
  std::vector<int> when = launcher.nobody();
  when[a] = 0, when[b] = later;
  launcher.run(name, 1, STEP_BYTES, warm, when);
}

void run_pairs(Launcher &launcher, unsigned n_sms) {
  for (const unsigned a : {0u, 120u})
    for (unsigned b = 0; a < n_sms && b < n_sms; b++)
      if (a != b) run_two(launcher, words("pair", a, b), a, b, true, 0);
}

void run_apart(Launcher &launcher, unsigned a, unsigned b, bool warm) {
  for (const int later :
       {0, 25, 50, 75, 100, 125, 150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 1000, 1200, 1500})
    run_two(launcher, words("apart", a, b, TEMPERATURES[warm], later), a, b, warm, later);
}

/* Of a TPC, of a GPC, and of two sides, where what the first asks for is on its way to both. */
void run_apart(Launcher &launcher) {
  for (const unsigned b : {1u, 16u})
    for (int warm = 1; warm >= 0; warm--) run_apart(launcher, 0, b, warm);
  run_apart(launcher, ON_SIDE_0, ON_SIDE_1, false);
  run_apart(launcher, ON_SIDE_1, ON_SIDE_0, false);
}

void run_spread(Launcher &launcher, unsigned n_sms) {
  for (int ctas = 1; ctas <= CTAS_PER_SM_MOST; ctas++)
    for (int bytes = STEP_BYTES; bytes <= STEP_BYTES_MOST; bytes *= 2)
      for (int warm = 1; warm >= 0; warm--)
        for (const unsigned window : {0u, 100u, 200u, 400u, 800u, 1600u, 3200u, 6400u}) {
          std::vector<int> when = launcher.nobody();
          for (unsigned place = 0; place < (unsigned)ctas * n_sms; place++)
            when[place] = (int)spread_offset(place % n_sms, place / n_sms, window);
          launcher.run(words("spread", ctas, bytes, TEMPERATURES[warm], window), ctas, bytes, warm, when);
        }
}

} // namespace

void coalescer_run() {
  const cudaDeviceProp gpu = ampere_or_later("--coalescer");
  const unsigned n_sms = (unsigned)gpu.multiProcessorCount;
  if (n_sms <= 16) refuse("--coalescer needs more than 16 SMs; this GPU has %u", n_sms);
  Launcher launcher(gpu);
  puts("coalescer,name,readers,step_bytes,steps,warm_bytes,wait_cycles,longest_wait_cycles");
  run_nothing(launcher);
  run_pairs(launcher, n_sms);
  run_apart(launcher);
  run_spread(launcher, n_sms);
}
