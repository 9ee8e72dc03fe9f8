/* How evenly the CTAs of an SM share it: the ended build of two rungs, in which each CTA notes its SM's clock at its
 * end and nothing else, so that it runs as unmarked; each launch under a profiler, whose counters say whether it did.
 *
 *     SM 5   CTA 0 ------------------------>|CTA 396 ------>    the first CTAs of an SM start together:
 *            CTA 132 ---------------------->|CTA 397 -->        by their ends, who was ahead
 *            CTA 264 ---------------------------->|CTA 398
 *
 *     rung,d,N,heads,launch        to which the profiler's counters are joined
 *     ,,,,cta,smid,end_cycles      its CTAs, since the first of its SM's ended */
// Compiled for sm_80 and later: Turing lacks what it uses.
#include "kernels/lib/cuda_calls.h"
#include "kernels/lib/pass.h"

#include <map>

namespace ended {
extern const Rung FA2_TENSOR, FA2_ASYNC;
}

namespace {

enum { LAUNCHES = 2 };

void run_launches(const Measured &launch) {
  Pass pass(launch);
  for (int i = 0; i < LAUNCHES; i++) {
    const std::vector<Mark> marks = pass.run_marked();
    std::map<unsigned, unsigned long long> first; /* of each SM */
    for (const Mark &mark : marks) {
      const auto at = first.emplace(mark.sm, mark.end_cycles).first;
      at->second = std::min(at->second, mark.end_cycles);
    }
    printf("ends,%s,%d,%d,%d,launch\n", launch.rung->name, launch.d, launch.N, launch.heads);
    for (size_t c = 0; c < marks.size(); c++)
      printf("ends:,,,,%zu,%u,%llu\n", c, marks[c].sm, marks[c].end_cycles - first[marks[c].sm]);
    fflush(stdout); /* a profiler writes between the lines */
  }
}

} // namespace

void ends_run() {
  ampere_or_later("--ends");
  puts("ends,rung,d,N,heads,launch");
  puts("ends:,,,,cta,smid,end_cycles");
  for (const int d : {64, 128}) {
    run_launches({&ended::FA2_TENSOR, d, 16384, 4});
    run_launches({&ended::FA2_ASYNC, d, 16384, 4});
  }
}
