/* When the CTAs of a kernel ask for tiles of K and V: the timed build of two rungs, in which each CTA notes its SM's
 * clock at each ask, and at its start and end the timer that all SMs share as well; a launch each, for a profiler that
 * counts what reaches L2.
 *
 *     SM 0    CTA 0     o--0----1------2------3---- ... ||||      o start, 0 1 2 ... asks, | edges of the timer
 *     SM 16   CTA 1       o--0----1-------2------3---- ... ||||
 *
 * One axis for all: a CTA's asks lie between its start and its end as the cycles of its SM's clock do. That clock is
 * its GPC's and changes with the load (kernels/probes/probe_pace.cu); the timer steps 32 ns on an H200, so a start is
 * known to 30 cycles.
 *
 *     rung,d,N,heads,causal,launch                                 to which the profiler's counters are joined
 *     rung,d,N,heads,causal,cta,smid,tiles,ask_0,ask_1,ask_2,...   its CTAs: on which SM, how many tiles, and when it
 *                                                                  asks for some of them, in cycles since the first
 *                                                                  CTA started, empty where it has fewer
 *
 * --steps-shared prints the same, its lines beginning with that, of launches in which SMs have one, two or three CTAs,
 * or some have one more than others. */
// Compiled for sm_80 and later: Turing lacks what it uses.
#include "kernels/lib/cuda_calls.h"
#include "kernels/lib/pass.h"

namespace timed {
extern const Rung FA2_TENSOR, FA2_ASYNC;
}

namespace {

const int TILES[] = {0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192};

std::vector<Timing> run_timed(const Measured &launch) {
  Pass pass(launch);
  if (launch.N > TIMING_ASKS * pass.attention.B_c) refuse("--steps: N = %d has more tiles than are noted", launch.N);
  const GpuArray<Timing> timings(pass.n_ctas(), "the times of CTAs");
  pass.attention.marks = timings.data;
  pass.run();
  return timings.get();
}

/* Of the timer. */
unsigned long long step_ns(const std::vector<Timing> &ctas) {
  unsigned long long least = ~0ull;
  for (const Timing &cta : ctas)
    for (int e = 1; e < TIMING_EDGES; e++) least = std::min(least, cta.edges[e].ns - cta.edges[e - 1].ns);
  return least;
}

/* A CTA's own clock against the timer: from its start, somewhere in a step of the timer, to the mean of the edges after
 * its end. */
struct Clock {
  double start_ns, ns, cycles; /* since zero_ns, and how long */
  Clock(const Timing &cta, unsigned long long zero_ns, unsigned long long step) {
    start_ns = (double)(cta.start_ns - zero_ns) + (double)step / 2;
    double end_ns = 0;
    cycles = 0;
    for (const Instant &edge : cta.edges) {
      end_ns += (double)(edge.ns - zero_ns) / TIMING_EDGES;
      cycles += (double)(edge.cycles - cta.start_cycles) / TIMING_EDGES;
    }
    ns = end_ns - start_ns;
  }
};

void print_steps(const char *study, const Measured &launch) {
  const std::vector<Timing> timings = run_timed(launch);
  const unsigned long long step = step_ns(timings);
  unsigned long long zero_ns = ~0ull;
  for (const Timing &cta : timings) zero_ns = std::min(zero_ns, cta.start_ns);
  double ns = 0, cycles = 0; /* of all */
  for (const Timing &cta : timings) {
    const Clock clock(cta, zero_ns, step);
    ns += clock.ns, cycles += clock.cycles;
  }
  const std::string row = launch.row();
  printf("%s,%s,launch\n", study, row.c_str());
  for (size_t c = 0; c < timings.size(); c++) {
    const Timing &cta = timings[c];
    const Clock clock(cta, zero_ns, step);
    printf("%s:%s,%zu,%u,%u", study, row.c_str(), c, cta.sm, cta.tiles);
    for (const int j : TILES) {
      putchar(',');
      if ((unsigned)j >= cta.tiles) continue;
      const double asks_ns =
          clock.start_ns + (double)(cta.asks[j] - cta.start_cycles) * clock.ns / clock.cycles - (double)step / 2;
      printf("%.0f", asks_ns * cycles / ns);
    }
    putchar('\n');
  }
  fflush(stdout); /* a profiler writes between the lines */
}

void print_headings(const char *study) {
  printf("%s,rung,d,N,heads,causal,launch\n%s:rung,d,N,heads,causal,cta,smid,tiles", study, study);
  for (const int j : TILES) printf(",ask_%d", j);
  putchar('\n');
}

} // namespace

void steps_run() {
  ampere_or_later("--steps");
  print_headings("steps");
  for (const bool causal : {false, true}) {
    for (const int d : {64, 128}) {
      for (const Measured &launch :
           {Measured{&timed::FA2_ASYNC, d, 4096, 1, causal}, Measured{&timed::FA2_ASYNC, d, 4096, 4, causal},
            Measured{&timed::FA2_ASYNC, d, 8192, 1, causal}, Measured{&timed::FA2_ASYNC, d, 16384, 1, causal},
            Measured{&timed::FA2_TENSOR, d, 4096, 1, causal}})
        print_steps("steps", launch);
    }
  }
}

/* 4224 queries of two to six heads, 66 row blocks each: one CTA to each of an H200's 132 SMs; two to half of them; two;
 * three to half; three. And of three heads of 5120, of which 24 SMs have one CTA and the others two. */
void steps_shared_run() {
  ampere_or_later("--steps-shared");
  print_headings("steps-shared");
  for (const bool causal : {false, true}) {
    for (const int d : {64, 128}) {
      for (int heads = 2; heads <= 6; heads++)
        print_steps("steps-shared", {&timed::FA2_TENSOR, d, 4224, heads, causal});
      print_steps("steps-shared", {&timed::FA2_TENSOR, d, 5120, 3, causal});
    }
  }
}
