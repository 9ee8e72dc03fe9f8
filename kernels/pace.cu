/* How evenly the CTAs of a kernel go: the marked build of two rungs, in which each CTA notes its SM and when it starts and ends.
 *
 *     SM 5   slot 0   CTA 3 ----------->|CTA 270 ---------->|CTA 533 ...       wave 0, wave 1, wave 2
 *            slot 1     CTA 135 ----------->|CTA 401 ----------->| ...
 *
 * CTAs that find an SM with room take its next slot, in order of arrival: wave 0. A later one takes the slot whose CTA ended last
 * before it started. A CTA's pace is its cycles divided by its tiles of K and V; times are those of its first warp.
 *
 * From the same marks: the clock of each SM, its cycles over its nanoseconds, from when the last SM has begun until the first has
 * ended. SMs of a GPC share a clock, which under load is its own. `idle` is one CTA to an SM that only waits:
 *
 *     rung,d,N,heads,smid,cycles_per_ns
 *     fa2_async,64,65536,4,17,1.815360
 *     idle,0,0,0,17,1.980018 */
#include "kernels/gpu.h"
#include "kernels/pass.h"
#include "kernels/ptx.cuh"

#include <algorithm>
#include <iterator>
#include <map>
#include <math.h>
#include <utility>
#include <vector>

namespace marked {
extern const Rung FA2_TENSOR, FA2_ASYNC;
}

namespace {

enum { LAUNCHES = 3 /* the last one counts */, SLACK_NS = 200 /* of the timers of two CTAs */ };
enum { IDLE_LAUNCHES = 100 /* likewise: clocks settle */, IDLE_NS = 1000000, WARP = 32 };

struct Walk {
  const Rung *rung;
  int d, N, heads;
};

struct Place {
  int wave, slot;
};

struct Spread {
  double mean, sd;
};

Spread spread_of(const std::vector<double> &x) {
  double sum = 0, squares = 0;
  for (const double y : x) sum += y;
  const double mean = sum / (double)x.size();
  for (const double y : x) squares += (y - mean) * (y - mean);
  return {mean, sqrt(squares / (double)x.size())};
}

std::vector<Mark> run_marked(const Walk &walk) {
  Pass pass(walk.rung, walk.d, walk.N, walk.heads, false);
  for (int i = 1; i < LAUNCHES; i++) pass.run_marked();
  return pass.run_marked();
}

/* Of each CTA. */
std::vector<Place> places_of(const std::vector<Mark> &marks) {
  std::vector<size_t> order(marks.size());
  for (size_t c = 0; c < order.size(); c++) order[c] = c;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return marks[a].start_ns < marks[b].start_ns; });
  std::map<unsigned, std::vector<size_t>> latest; /* CTA of each slot of each SM */
  std::vector<Place> places(marks.size());
  for (const size_t c : order) {
    std::vector<size_t> &slots = latest[marks[c].sm];
    size_t found = slots.size();
    for (size_t s = 0; s < slots.size(); s++) {
      const unsigned long long end_ns = marks[slots[s]].end_ns;
      if (end_ns > marks[c].start_ns + SLACK_NS) continue;
      if (found == slots.size() || end_ns > marks[slots[found]].end_ns) found = s;
    }
    const bool first = found == slots.size();
    places[c] = {first ? 0 : places[slots[found]].wave + 1, (int)found};
    if (first) slots.push_back(c);
    else slots[found] = c;
  }
  return places;
}

void print_pace(const Walk &walk) {
  const std::vector<Mark> marks = run_marked(walk);
  const std::vector<Place> places = places_of(marks);
  unsigned long long begin_ns = marks[0].start_ns;
  for (const Mark &m : marks) begin_ns = std::min(begin_ns, m.start_ns);
  std::map<std::pair<int, int>, std::pair<std::vector<double>, std::vector<double>>> groups; /* wave, slot: cycles a tile, start (us) */
  for (size_t c = 0; c < marks.size(); c++) {
    auto &group = groups[{places[c].wave, places[c].slot}];
    group.first.push_back((double)(marks[c].end_cycles - marks[c].start_cycles) / marks[c].tiles);
    group.second.push_back((double)(marks[c].start_ns - begin_ns) / 1e3);
  }
  for (const auto &group : groups) {
    const Spread cycles = spread_of(group.second.first), start = spread_of(group.second.second);
    printf("%s,%d,%d,%d,%d,%d,%zu,%.1f,%.1f,%.2f\n", walk.rung->name, walk.d, walk.N, walk.heads, group.first.first, group.first.second,
           group.second.first.size(), cycles.mean, cycles.sd, start.sd);
  }
}

__global__ void idle_sm(Mark *marks) {
  if (threadIdx.x) return;
  Mark mark = {this_sm(), 0, 0, 0, 0, 0};
  note_edge(&mark.start_ns, &mark.start_cycles);
  while (global_ns() < mark.start_ns + IDLE_NS) {}
  note_edge(&mark.end_ns, &mark.end_cycles);
  marks[blockIdx.x] = mark;
}

std::vector<Mark> run_idle(const cudaDeviceProp &gpu) {
  std::vector<Mark> marks((size_t)gpu.multiProcessorCount);
  const size_t shared_bytes = shared_bytes_for(gpu, 1);
  GpuBuffer on_gpu;
  on_gpu.take(marks.size() * sizeof(Mark), "the marks of CTAs");
  GPU(cudaFuncSetAttribute(idle_sm, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes));
  for (int i = 0; i < IDLE_LAUNCHES; i++) {
    idle_sm<<<(unsigned)marks.size(), WARP, shared_bytes>>>((Mark *)on_gpu.data);
    GPU(cudaGetLastError());
    GPU(cudaDeviceSynchronize());
  }
  GPU(cudaMemcpy(marks.data(), on_gpu.data, marks.size() * sizeof(Mark), cudaMemcpyDeviceToHost));
  return marks;
}

typedef std::map<unsigned long long, unsigned long long> Clock; /* of one SM: cycles by ns */

/* Between two readings by a straight line. */
double cycles_at(const Clock &clock, unsigned long long ns) {
  const auto after = clock.lower_bound(ns);
  if (after->first == ns) return (double)after->second;
  const auto before = std::prev(after);
  const double part = (double)(ns - before->first) / (double)(after->first - before->first);
  return (double)before->second + part * (double)(after->second - before->second);
}

void print_clocks(const char *rung, int d, int N, int heads, const std::vector<Mark> &marks) {
  std::map<unsigned, Clock> clocks;
  for (const Mark &m : marks) {
    clocks[m.sm][m.start_ns] = m.start_cycles;
    clocks[m.sm][m.end_ns] = m.end_cycles;
  }
  unsigned long long begin_ns = 0, end_ns = ~0ull;
  for (const auto &sm : clocks) {
    begin_ns = std::max(begin_ns, sm.second.begin()->first);
    end_ns = std::min(end_ns, sm.second.rbegin()->first);
  }
  for (const auto &sm : clocks)
    printf("%s,%d,%d,%d,%u,%.6f\n", rung, d, N, heads, sm.first,
           (cycles_at(sm.second, end_ns) - cycles_at(sm.second, begin_ns)) / (double)(end_ns - begin_ns));
}

} // namespace

void clocks_print() {
  const Walk walks[] = {{&marked::FA2_ASYNC, 64, 65536, 4}, {&marked::FA2_ASYNC, 128, 65536, 4}, {&marked::FA2_ASYNC, 128, 32768, 4},
                        {&marked::FA2_TENSOR, 64, 65536, 4}};
  const cudaDeviceProp gpu = ampere_or_later("--clocks");
  puts("rung,d,N,heads,smid,cycles_per_ns");
  for (const Walk &walk : walks) print_clocks(walk.rung->name, walk.d, walk.N, walk.heads, run_marked(walk));
  print_clocks("idle", 0, 0, 0, run_idle(gpu));
}

void pace_print() {
  const Walk walks[] = {{&marked::FA2_ASYNC, 64, 65536, 4},   {&marked::FA2_ASYNC, 64, 65536, 16}, {&marked::FA2_ASYNC, 128, 16384, 4},
                        {&marked::FA2_ASYNC, 128, 65536, 1},  {&marked::FA2_TENSOR, 64, 65536, 4}, {&marked::FA2_TENSOR, 128, 16384, 4},
                        /* launches of few waves, or of less than one */
                        {&marked::FA2_ASYNC, 64, 4096, 1},    {&marked::FA2_ASYNC, 64, 4096, 4},   {&marked::FA2_ASYNC, 64, 8192, 4},
                        {&marked::FA2_ASYNC, 64, 16384, 4},   {&marked::FA2_ASYNC, 64, 32768, 1},  {&marked::FA2_ASYNC, 128, 4096, 1},
                        {&marked::FA2_ASYNC, 128, 4096, 4},   {&marked::FA2_ASYNC, 128, 8192, 4},  {&marked::FA2_ASYNC, 128, 32768, 1},
                        {&marked::FA2_TENSOR, 64, 4096, 1},   {&marked::FA2_TENSOR, 64, 16384, 1}, {&marked::FA2_TENSOR, 128, 4096, 1},
                        {&marked::FA2_TENSOR, 128, 16384, 1}};
  ampere_or_later("--pace");
  puts("rung,d,N,heads,wave,slot,ctas,cycles_per_tile_mean,cycles_per_tile_sd,start_sd_us");
  for (const Walk &walk : walks) print_pace(walk);
}
