/* How evenly the CTAs of a kernel go: the marked build of two rungs, in which each CTA notes its SM and when it starts
 * and ends.
 *
 *     SM 5   slot 0   CTA 3 ----------->|CTA 270 ---------->|CTA 533 ...       wave 0, wave 1, wave 2
 *            slot 1     CTA 135 ----------->|CTA 401 ----------->| ...
 *
 * CTAs come to an SM in their order. Those that find room take its next slot: wave 0. A later one takes the slot that
 * is free the longest. A CTA's pace is its cycles divided by its tiles of K and V; its start is given in cycles after
 * the one before it in its slot ended (after), its end in cycles after that of slot 0 of its SM in the wave (behind).
 * Times are those of its first warp.
 *
 * From the same marks: the clock of each SM, its cycles over its nanoseconds, from when the last SM has begun until the
 * first has ended. SMs of a GPC share a clock, which under load is its own. `idle` is one CTA to an SM that only waits:
 *
 *     rung,d,N,heads,smid,cycles_per_ns
 *     fa2_async,64,65536,4,17,1.815360
 *     idle,0,0,0,17,1.980018 */
// Compiled for sm_80 and later: Turing lacks what it uses.
#include "kernels/lib/cuda_calls.h"
#include "kernels/lib/pass.h"
#include "kernels/lib/ptx_inline.cuh"

#include <iterator>
#include <map>
#include <utility>

namespace marked {
extern const Rung FA2_TENSOR, FA2_ASYNC;
}

namespace {

enum { LAUNCHES = 3 /* the last one counts */ };
enum { IDLE_LAUNCHES = 100 /* likewise: clocks settle */, IDLE_NS = 1000000, WARP = 32 };

struct Place {
  int wave, slot;
  size_t before; /* the CTA before it in its slot; itself, in wave 0 */
};

/* Of the CTAs of a wave and slot. */
struct Group {
  std::vector<double> tile_cycles, start_us, after_cycles, behind_cycles;
};

struct Spread {
  double mean, sd;
};

Spread spread_of(const std::vector<double> &x) {
  double sum = 0, squares = 0;
  if (x.empty()) return {0, 0};
  for (const double y : x) sum += y;
  const double mean = sum / (double)x.size();
  for (const double y : x) squares += (y - mean) * (y - mean);
  return {mean, sqrt(squares / (double)x.size())};
}

std::vector<Mark> run_marked(const Measured &walk) {
  Pass pass(walk);
  for (int i = 1; i < LAUNCHES; i++) pass.run_marked();
  return pass.run_marked();
}

/* Of each CTA. */
std::vector<Place> places_of(const std::vector<Mark> &marks) {
  std::map<unsigned, std::vector<size_t>> latest; /* CTA of each slot of each SM */
  std::vector<Place> places(marks.size());
  for (size_t c = 0; c < marks.size(); c++) {
    std::vector<size_t> &slots = latest[marks[c].sm];
    size_t found = 0;
    for (size_t s = 1; s < slots.size(); s++)
      if (marks[slots[s]].end_cycles < marks[slots[found]].end_cycles) found = s;
    const bool first = slots.empty() || marks[slots[found]].end_cycles > marks[c].start_cycles;
    places[c] = first ? Place{0, (int)slots.size(), c} : Place{places[slots[found]].wave + 1, (int)found, slots[found]};
    if (first)
      slots.push_back(c);
    else
      slots[found] = c;
  }
  return places;
}

void print_pace(const Measured &walk) {
  const std::vector<Mark> marks = run_marked(walk);
  const std::vector<Place> places = places_of(marks);
  unsigned long long begin_ns = marks[0].start_ns;
  for (const Mark &m : marks) begin_ns = std::min(begin_ns, m.start_ns);
  std::map<std::pair<unsigned, int>, unsigned long long> leader_ends; /* of each SM and wave: that of slot 0 */
  for (size_t c = 0; c < marks.size(); c++)
    if (places[c].slot == 0) leader_ends[{marks[c].sm, places[c].wave}] = marks[c].end_cycles;
  std::map<std::pair<int, int>, Group> groups; /* by wave and slot */
  for (size_t c = 0; c < marks.size(); c++) {
    const Mark &m = marks[c], &before = marks[places[c].before];
    Group &group = groups[{places[c].wave, places[c].slot}];
    group.tile_cycles.push_back((double)(m.end_cycles - m.start_cycles) / m.tiles);
    group.start_us.push_back((double)(m.start_ns - begin_ns) / 1e3);
    if (places[c].wave > 0) group.after_cycles.push_back((double)m.start_cycles - (double)before.end_cycles);
    const auto leader = leader_ends.find({m.sm, places[c].wave});
    if (leader != leader_ends.end()) group.behind_cycles.push_back((double)m.end_cycles - (double)leader->second);
  }
  for (const auto &at : groups) {
    const Group &g = at.second;
    const Spread tile = spread_of(g.tile_cycles), after = spread_of(g.after_cycles),
                 behind = spread_of(g.behind_cycles);
    printf("%s,%d,%d,%d,%d,%d,%zu,%.1f,%.1f,%.2f,%.0f,%.0f,%.0f,%.0f\n", walk.rung->name, walk.d, walk.N, walk.heads,
           at.first.first, at.first.second, g.tile_cycles.size(), tile.mean, tile.sd, spread_of(g.start_us).sd,
           after.mean, after.sd, behind.mean, behind.sd);
  }
}

__global__ void idle_sm(Mark *marks) {
  if (threadIdx.x) return;
  Mark mark = {this_sm(), 0, 0, 0, 0, 0};
  note_edge(&mark.start_ns, &mark.start_cycles);
  while (global_ns() < mark.start_ns + IDLE_NS) {
  }
  note_edge(&mark.end_ns, &mark.end_cycles);
  marks[blockIdx.x] = mark;
}

std::vector<Mark> run_idle(const cudaDeviceProp &gpu) {
  const GpuArray<Mark> marks((size_t)gpu.multiProcessorCount, "the marks of CTAs");
  const size_t shared_bytes = shared_bytes_for(gpu, 1);
  GPU(cudaFuncSetAttribute(idle_sm, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes));
  for (int i = 0; i < IDLE_LAUNCHES; i++) {
    idle_sm<<<(unsigned)marks.n, WARP, shared_bytes>>>(marks.data);
    gpu_done();
  }
  return marks.get();
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
  const Measured walks[] = {{&marked::FA2_ASYNC, 64, 65536, 4},
                            {&marked::FA2_ASYNC, 128, 65536, 4},
                            {&marked::FA2_ASYNC, 128, 32768, 4},
                            {&marked::FA2_TENSOR, 64, 65536, 4}};
  const cudaDeviceProp gpu = ampere_or_later("--clocks");
  puts("rung,d,N,heads,smid,cycles_per_ns");
  for (const Measured &walk : walks) print_clocks(walk.rung->name, walk.d, walk.N, walk.heads, run_marked(walk));
  print_clocks("idle", 0, 0, 0, run_idle(gpu));
}

void pace_print() {
  const Measured walks[] = {{&marked::FA2_ASYNC, 64, 65536, 4},
                            {&marked::FA2_ASYNC, 64, 65536, 16},
                            {&marked::FA2_ASYNC, 128, 16384, 4},
                            {&marked::FA2_ASYNC, 128, 65536, 1},
                            {&marked::FA2_TENSOR, 64, 65536, 4},
                            {&marked::FA2_TENSOR, 128, 16384, 4},
                            {&marked::FA2_ASYNC, 64, 16384, 32},
                            {&marked::FA2_ASYNC, 128, 4096, 16},
                            {&marked::FA2_ASYNC, 128, 8192, 16},
                            /* launches of few waves, or of less than one */
                            {&marked::FA2_ASYNC, 64, 4096, 1},
                            {&marked::FA2_ASYNC, 64, 4096, 4},
                            {&marked::FA2_ASYNC, 64, 8192, 4},
                            {&marked::FA2_ASYNC, 64, 16384, 4},
                            {&marked::FA2_ASYNC, 64, 32768, 1},
                            {&marked::FA2_ASYNC, 128, 4096, 1},
                            {&marked::FA2_ASYNC, 128, 4096, 4},
                            {&marked::FA2_ASYNC, 128, 8192, 4},
                            {&marked::FA2_ASYNC, 128, 32768, 1},
                            {&marked::FA2_TENSOR, 64, 4096, 1},
                            {&marked::FA2_TENSOR, 64, 16384, 1},
                            {&marked::FA2_TENSOR, 128, 4096, 1},
                            {&marked::FA2_TENSOR, 128, 16384, 1}};
  ampere_or_later("--pace");
  puts("rung,d,N,heads,wave,slot,ctas,cycles_per_tile_mean,cycles_per_tile_sd,start_sd_us,after_cycles_mean,"
       "after_cycles_sd,behind_cycles_mean,behind_cycles_sd");
  for (const Measured &walk : walks) print_pace(walk);
}
