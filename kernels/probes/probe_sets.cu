/* Which lines share a set of L2: lines are read until the fewest are left that push a given one out, as many as a set
 * has room for beside it; all but one of these and any other line push it out again if that one shares the set too.
 *
 *     read line     read others     read line: 300 cycles, still there; 460 and more, it has been pushed out
 *
 * One CTA alone on the GPU, so one side of L2: a line with its home on the other side is held as a copy, and is found
 * in the far home when that is gone. Of every line one sector is read: it takes the room of the line. Before the line
 * is timed another of its page is read, so that its address is known how to translate.
 *
 *     line,hit_cycles,miss_cycles,ways,others     the line, of 2^24; how long it took to read it there and pushed out;
 *                                                 how many push it out; and all that share its set, with blanks between
 *
 * And what a set keeps, of lines that share it, one read after another:
 *
 *     order,n,reads,hits     circle: n lines over and over; again: a line, 8 others, the line, n more, the line */
// Compiled for sm_80 and later: Turing lacks what it uses.
#include "kernels/lib/cuda_calls.h"

#include "sim/base/splitmix.h"

namespace {

enum { THREADS = 512, LINE_BYTES = 128, BLOCK_LINES = 128, GROUPS = 24, TRIES = 3, PAGE_LINES = 16384 };
enum : uint32_t {
  POOL_LINES = 1u << 24,
  FIRST_LINES = 420000 /* 27 for each of 15360 sets */,
  OTHERS_MAX = 4096,
  TESTS_MOST = 6000
};
enum { MISS_CYCLES = 80 /* more than a hit: a copy from the far home takes 160 more, and a hit varies by 10 */ };

const uint32_t PROBED[] = {0, 2, 8, 64, 1024, 8192, 131072, 2097152};

/* Lines to be read besides a range of them and a stretch of the pool. */
struct Lines {
  const uint32_t *lines;
  uint32_t n, skip_begin, skip_end, begin, end;
};

struct Probe {
  const unsigned char *pool;
  uint32_t line;
  int miss_cycles; /* from here on it is no hit */
};

__device__ uint32_t read_line(const unsigned char *pool, uint32_t line) {
  uint32_t value;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(pool + (size_t)line * LINE_BYTES) : "memory");
  return value;
}

/* The pool holds ones: what is read is waited for, and never stored. */
__device__ uint32_t never;
__device__ void use(uint32_t value) {
  asm volatile("" ::"r"(value) : "memory");
  if (value == 0xdeadbeef) never = value;
}

__device__ int timed_read(const Probe &p) {
  use(read_line(p.pool, p.line ^ (PAGE_LINES / 2 + 77)));
  __threadfence();
  const long long begin = clock64();
  use(read_line(p.pool, p.line));
  return (int)(clock64() - begin);
}

/* How long the line takes to read after others. All threads get the answer. */
__device__ int cycles_after(const Probe &p, const Lines &others) {
  __shared__ int cycles;
  uint32_t sum = 0;
  __syncthreads();
  if (threadIdx.x == 0) use(read_line(p.pool, p.line));
  __threadfence();
  __syncthreads();
#pragma unroll 4
  for (uint32_t i = threadIdx.x; i < others.n; i += THREADS)
    if (i < others.skip_begin || i >= others.skip_end) sum |= read_line(p.pool, others.lines[i]);
  for (uint32_t line = others.begin + threadIdx.x; line < others.end; line += THREADS) sum |= read_line(p.pool, line);
  use(sum);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) cycles = timed_read(p);
  __syncthreads();
  return cycles;
}

/* Once, and where it seems so, five times more, of which most decide. */
__device__ bool push_out(const Probe &p, const Lines &others) {
  if (cycles_after(p, others) < p.miss_cycles) return false;
  int yes = 0;
  for (int i = 0; i < 5; i++) yes += cycles_after(p, others) >= p.miss_cycles;
  return yes >= 3;
}

__global__ void __launch_bounds__(THREADS) time_line(Probe p, Lines others, int *cycles, int n) {
  for (int i = 0; i < n; i++) {
    const int one = cycles_after(p, others);
    if (threadIdx.x == 0) cycles[i] = one;
  }
}

/* One after another: whether each was there. */
__global__ void read_in_turn(Probe p, const uint32_t *lines, uint32_t n, uint32_t *hits) {
  for (uint32_t i = 0; i < n; i++) {
    p.line = lines[i];
    hits[i] = timed_read(p) < p.miss_cycles;
  }
}

/* Leaves groups out, then smaller ones, as long as the others push the line out without. */
__global__ void __launch_bounds__(THREADS)
    reduce(Probe p, uint32_t *lines, uint32_t *spare, uint32_t n, uint32_t *left) {
  uint32_t *from = lines, *to = spare, tests = 0;
  for (uint32_t groups = GROUPS; tests < TESTS_MOST; groups *= 2) {
    const uint32_t n_groups = min(groups, n);
    bool found = false;
    for (uint32_t g = 0; g < n_groups && !found; g++, tests++) {
      const uint32_t begin = (uint32_t)((uint64_t)n * g / n_groups), end = (uint32_t)((uint64_t)n * (g + 1) / n_groups);
      found = push_out(p, {from, n, begin, end, 0, 0});
      if (!found) continue;
      n -= end - begin;
      for (uint32_t i = threadIdx.x; i < n; i += THREADS) to[i] = from[i < begin ? i : i + (end - begin)];
      __threadfence();
      __syncthreads();
      uint32_t *const was = from;
      from = to, to = was;
    }
    if (found)
      groups = GROUPS / 2;
    else if (n_groups == n)
      break;
  }
  for (uint32_t i = threadIdx.x; i < n; i += THREADS) lines[i] = from[i];
  if (threadIdx.x == 0) *left = n;
}

/* All lines of the pool that push the line out with all but the last of its set: block by block, then line by line. */
__global__ void __launch_bounds__(THREADS)
    find_others(Probe p, const uint32_t *set, uint32_t ways, uint32_t *others, uint32_t *n_others) {
  uint32_t n = 0;
  for (uint32_t block = 0; block < POOL_LINES; block += BLOCK_LINES) {
    if (block / BLOCK_LINES != p.line / BLOCK_LINES && !push_out(p, {set, ways - 1, 0, 0, block, block + BLOCK_LINES}))
      continue;
    for (uint32_t line = block; line < block + BLOCK_LINES; line++) {
      if (line == p.line || !push_out(p, {set, ways - 1, 0, 0, line, line + 1})) continue;
      if (threadIdx.x == 0 && n < OTHERS_MAX) others[n] = line;
      n++;
    }
  }
  if (threadIdx.x == 0) *n_others = min(n, (uint32_t)OTHERS_MAX);
}

/* Any lines but those near the one that is probed, in any order. */
std::vector<uint32_t> any_lines(uint32_t probed, uint64_t seed) {
  std::vector<uint32_t> lines;
  for (uint64_t i = 0; lines.size() < FIRST_LINES; i++) {
    const uint32_t line = (uint32_t)(mix(mix(seed) + i) % POOL_LINES);
    if (line / BLOCK_LINES != probed / BLOCK_LINES) lines.push_back(line);
  }
  return lines;
}

struct Study {
  GpuArray<unsigned char> pool{(size_t)POOL_LINES * LINE_BYTES, "the pool of lines"};
  GpuArray<uint32_t> lines{FIRST_LINES, "a list of lines"}, spare{FIRST_LINES, "a list of lines"},
      others{OTHERS_MAX, "a list of lines"}, answers{64, "answers"};
  Study() { pool.fill(1); }

  int median_cycles(const Probe &p, uint32_t n) const {
    enum { TIMES = 31 };
    time_line<<<1, THREADS>>>(p, {lines.data, n, 0, 0, 0, 0}, (int *)answers.data, TIMES);
    gpu_started();
    return (int)median(answers.get(TIMES));
  }

  /* How many are left of many that push the line out: `lines` begins with them. */
  uint32_t push_out_with_few(const Probe &p, uint64_t seed) const {
    const std::vector<uint32_t> many = any_lines(p.line, seed);
    lines.put(many);
    reduce<<<1, THREADS>>>(p, lines.data, spare.data, (uint32_t)many.size(), answers.data);
    gpu_started();
    return answers.get(1)[0];
  }

  struct Set {
    Probe probe;
    int hit_cycles, miss_cycles;
    uint32_t ways;
    std::vector<uint32_t> others; /* none: not told apart from the rest in time */
  };

  Set find(uint32_t line) const {
    enum { FEW = 64 };
    Set set = {{pool.data, line, 0}, 0, 0, FEW + 1, {}};
    set.hit_cycles = median_cycles(set.probe, 0);
    set.probe.miss_cycles = set.hit_cycles + MISS_CYCLES;
    for (uint64_t seed = 0; seed < TRIES && set.ways > FEW; seed++)
      set.ways = push_out_with_few(set.probe, TRIES * line + seed);
    if (set.ways > FEW) return set;
    set.miss_cycles = median_cycles(set.probe, set.ways);
    find_others<<<1, THREADS>>>(set.probe, lines.data, set.ways, others.data, answers.data);
    gpu_started();
    set.others = others.get(answers.get(1)[0]);
    return set;
  }

  void print(uint32_t line) const {
    const Set set = find(line);
    if (set.others.empty()) return;
    printf("%u,%d,%d,%u,", line, set.hit_cycles, set.miss_cycles, set.ways);
    for (size_t i = 0; i < set.others.size(); i++) printf(i ? " %u" : "%u", set.others[i]);
    puts("");
    fflush(stdout);
  }

  std::vector<uint32_t> hits(const Set &set, const std::vector<uint32_t> &turns) const {
    lines.put(turns);
    read_in_turn<<<1, 1>>>(set.probe, lines.data, (uint32_t)turns.size(), spare.data);
    gpu_started();
    return spare.get(turns.size());
  }

  void print_circle(const Set &set, uint32_t n) const {
    enum { ROUNDS = 60, FIRST = 20 /* before they count */ };
    std::vector<uint32_t> turns;
    for (uint32_t i = 0; i < ROUNDS * n; i++) turns.push_back(set.others[i % n]);
    const std::vector<uint32_t> found = hits(set, turns);
    uint32_t sum = 0;
    for (uint32_t i = FIRST * n; i < ROUNDS * n; i++) sum += found[i];
    printf("circle,%u,%u,%u\n", n, (ROUNDS - FIRST) * n, sum);
  }

  /* After many others of the set, so that nothing is left of the time before. */
  void print_again(const Set &set, uint32_t n) const {
    enum { TIMES = 20, BETWEEN = 8, MANY = 40 };
    const uint32_t *between = &set.others[TIMES], *more = between + BETWEEN, *many = more + MANY;
    uint32_t sum = 0;
    for (uint32_t time = 0; time < TIMES; time++) {
      const uint32_t line = set.others[time];
      std::vector<uint32_t> turns(many, many + MANY);
      turns.push_back(line);
      turns.insert(turns.end(), between, between + BETWEEN);
      turns.push_back(line);
      turns.insert(turns.end(), more, more + n);
      turns.push_back(line);
      sum += hits(set, turns).back();
    }
    printf("again,%u,%d,%u\n", n, TIMES, sum);
  }
};

} // namespace

void sets_print() {
  ampere_or_later("--sets");
  const Study study;
  puts("line,hit_cycles,miss_cycles,ways,others");
  for (uint32_t line : PROBED) study.print(line);
}

void replacement_print() {
  enum { MOST = 24 };
  ampere_or_later("--replacement");
  const Study study;
  const Study::Set set = study.find(PROBED[0]);
  if (set.others.size() < 128)
    refuse("--replacement: of the lines that share a set with the first, %zu were found; at least 128 are needed",
           set.others.size());
  puts("order,n,reads,hits");
  for (uint32_t n = 4; n <= MOST; n++) study.print_circle(set, n);
  for (uint32_t n = 4; n <= MOST; n++) study.print_again(set, n);
}
