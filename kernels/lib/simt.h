/* CUDA threads on a CPU: one fiber per thread, so that a .cu file compiled by g++ runs as it stands.
 *
 *     launch(kernel, grid, block, shared_bytes, arguments)
 *       for each block of the grid, one after another:
 *         for each warpgroup of the block, or each warp: run its lanes, in turn, until all wait at a barrier or have
 *         ended
 *
 * Modelled: barriers that count arrivals; warps that meet at shuffles, votes, ldmatrix and mma (in lockstep
 * there, free to drift apart between); shared memory that starts as garbage (NaN bits); cp.async in its
 * strictest reading: the destination is garbage from the issue on, and each thread's copies happen only
 * when that thread waits for them. A kernel that forgets a barrier or a wait therefore reads NaNs here,
 * every time, where a GPU would mostly be lucky. Warps and lanes run in ascending or descending order, since
 * a race shows in one of the two.
 * Not modelled: time, caches, memory ordering weaker than one thread at a time, thread block clusters, and
 * shuffles of part of a warp: blocks are made of whole warps, and all 32 lanes take part.
 *
 * Faults: tests take a barrier or wait out by naming its source line (Machine::drop_line), and thereby
 * show that the checks notice. The one mutable global is the machine itself: it stands for the hardware. */
#ifndef TILEWALK_KERNELS_SIMT_H
#define TILEWALK_KERNELS_SIMT_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define __global__ static
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

namespace simt {

enum { WARP = 32, STACK_BYTES = 256 * 1024, SHARED_BYTES = 227 * 1024 }; /* 227 KiB: as on Hopper */

/* A stack and the point where it was left. */
struct Fiber {
#if defined(__x86_64__)
  void *stack_pointer = nullptr;
#else
  ucontext_t context;
#endif
  std::vector<unsigned char> stack;
  void *fake_stack = nullptr; /* of the address sanitizer */
};

struct AsyncCopy {
  void *to;
  const void *from;
  int bytes; /* read; the rest of the 16 is zero-filled */
  int group; /* the commit it belongs to */
};

struct Thread {
  Fiber fiber;
  dim3 index;
  int linear, lane, warp;
  enum { RUNS, AT_BARRIER, AT_WARP, ASLEEP, DONE } state;
  const void *sleeps_on; /* what sleep_on was given */
  int waits_at;          /* source line, for the message about a deadlock */
  std::vector<AsyncCopy> copies;
  int n_commits;
  std::vector<uint32_t> stores; /* addresses in shared memory that TMA and wgmma may not see yet */
};

/* Threads that meet: a block's barrier or a warp's collective. */
struct Meeting {
  int arrived = 0, line = 0;
  void *arguments[WARP];
};

struct Site { /* a barrier or wait in a kernel's source */
  std::string file;
  int line;
  bool operator<(const Site &o) const { return file != o.file ? file < o.file : line < o.line; }
};

struct Machine {
  /* What a test sets. */
  bool descending = false;
  int drop_line = 0;     /* 0: nothing is dropped */
  std::string drop_file; /* end of the path */
  /* What a test reads. */
  std::set<Site> sites;  /* barriers and waits met since the test cleared it */
  std::string complaint; /* first misuse seen: deadlock, collective of a diverged warp; "" if none */
  /* The block that runs. */
  dim3 grid, block, block_index;
  Fiber main;
  std::vector<Thread> threads;
  std::vector<Meeting> warps;
  Meeting barrier;
  int n_barriers_passed = 0; /* by the whole block */
  Thread *current = nullptr;
  int n_alive = 0;
  void (*body)(void *) = nullptr;
  void *body_arguments = nullptr;
  std::vector<unsigned char> shared_storage;
  unsigned char *shared = nullptr;
  /* Of a later architecture (kernels/lib/simt_hopper.h): what begins with a block, and what happens once no thread can
   * run (false: nothing more), and what must be true as it ends. */
  void (*begin_block)() = nullptr;
  bool (*nobody_runs)() = nullptr;
  void (*end_block)() = nullptr;
};

inline Machine machine;

#if defined(__x86_64__)
/* Saves what the calling convention says a function must keep, changes stacks, restores. */
__attribute__((naked, noinline)) static void swap_stacks(void ** /*save*/, void * /*load*/) {
  __asm__("pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
          "movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
          "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret\n");
}
#endif

inline void switch_fiber(Fiber *from, Fiber *to) {
#if defined(__SANITIZE_ADDRESS__)
  const bool is_main = to == &machine.main; /* the main stack: the sanitizer knows it */
  __sanitizer_start_switch_fiber(&from->fake_stack, is_main ? nullptr : to->stack.data(),
                                 is_main ? 0 : to->stack.size());
#endif
#if defined(__x86_64__)
  swap_stacks(&from->stack_pointer, to->stack_pointer);
#else
  swapcontext(&from->context, &to->context);
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
#endif
}

inline void complain(const std::string &text) {
  if (machine.complaint.empty()) machine.complaint = text;
}

/* Gives the other threads a turn until somebody sets this thread's state to RUNS. */
inline void wait_turn(decltype(Thread::state) state, int line) {
  Thread *self = machine.current;
  self->state = state;
  self->waits_at = line;
  switch_fiber(&self->fiber, &machine.main);
}

/* The same until somebody wakes those who sleep on `what`. */
inline void sleep_on(const void *what, int line) {
  machine.current->sleeps_on = what;
  wait_turn(Thread::ASLEEP, line);
}
inline void wake(const void *what) {
  for (Thread &t : machine.threads)
    if (t.state == Thread::ASLEEP && t.sleeps_on == what) t.state = Thread::RUNS;
}

inline void release_barrier() {
  machine.n_barriers_passed++;
  machine.barrier.arrived = 0;
  for (Thread &t : machine.threads)
    if (t.state == Thread::AT_BARRIER) t.state = Thread::RUNS;
}

inline void fiber_entry() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  Thread *self = machine.current;
  machine.body(machine.body_arguments);
  self->state = Thread::DONE;
  machine.n_alive--;
  if (machine.barrier.arrived && machine.barrier.arrived == machine.n_alive) release_barrier();
  switch_fiber(&self->fiber, &machine.main);
  abort(); /* a finished thread is never resumed */
}

inline void fiber_start(Fiber *fiber) {
  if (fiber->stack.empty()) fiber->stack.resize(STACK_BYTES);
#if defined(__x86_64__)
  uintptr_t top = ((uintptr_t)fiber->stack.data() + STACK_BYTES) & ~(uintptr_t)15;
  void **slots = (void **)top;
  slots[-1] = nullptr; /* where fiber_entry would return to; keeps the stack aligned as after a call */
  slots[-2] = (void *)fiber_entry;
  for (int i = 3; i <= 8; i++) slots[-i] = nullptr; /* the six registers that swap_stacks pops */
  fiber->stack_pointer = &slots[-8];
#else
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack.data();
  fiber->context.uc_stack.ss_size = fiber->stack.size();
  fiber->context.uc_link = nullptr;
  makecontext(&fiber->context, fiber_entry, 0);
#endif
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(fiber->stack.data(), fiber->stack.size());
#endif
}

/* True when a test wants this barrier or wait left out. Notes the site. */
inline bool is_dropped(const char *file, int line) {
  machine.sites.insert({file, line});
  if (line != machine.drop_line) return false;
  const std::string path = file, &end = machine.drop_file;
  return path.size() >= end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0;
}

/* All 32 lanes arrive, each with a pointer to its own operands; the last one runs `work` on them all. */
template <class Work> inline void meet_warp(void *arguments, int line, Work work) {
  Thread *self = machine.current;
  Meeting &meeting = machine.warps[(size_t)self->warp];
  if (meeting.arrived == 0) meeting.line = line;
  if (meeting.line != line) complain("lanes of one warp meet at different lines");
  meeting.arguments[self->lane] = arguments;
  if (++meeting.arrived < WARP) {
    wait_turn(Thread::AT_WARP, line);
    return;
  }
  work(meeting.arguments);
  meeting.arrived = 0;
  Thread *lanes = &machine.threads[(size_t)(self->warp * WARP)];
  for (int i = 0; i < WARP; i++) lanes[i].state = Thread::RUNS;
}

/* Gives each lane of a warp a turn; false when none can run. */
inline bool run_lanes(int warp) {
  bool ran = false;
  for (int i = 0; i < WARP; i++) {
    Thread &t = machine.threads[(size_t)(warp * WARP + (machine.descending ? WARP - 1 - i : i))];
    if (t.state != Thread::RUNS) continue;
    machine.current = &t;
    ran = true;
    switch_fiber(&machine.main, &t.fiber);
  }
  return ran;
}

/* The same for each warp of a warpgroup, as far as it gets; counted from the other end when descending. */
inline bool run_warps(int first, int end) {
  bool ran = false;
  for (int w = first; w < end; w++)
    while (run_lanes(machine.descending ? (int)machine.warps.size() - 1 - w : w)) ran = true;
  return ran;
}

/* Runs the threads of one block to their end, each warpgroup as far as it gets or, descending, each warp: the orders in
 * which races show best. */
inline void run_block() {
  Machine &m = machine;
  const int n = (int)m.threads.size();
  m.n_alive = n;
  m.barrier = Meeting();
  m.warps.assign((size_t)(n / WARP), Meeting());
  for (int i = 0; i < n; i++) {
    Thread &t = m.threads[(size_t)i];
    t.index = dim3((unsigned)i % m.block.x, (unsigned)i / m.block.x % m.block.y, (unsigned)i / (m.block.x * m.block.y));
    t.linear = i;
    t.lane = i % WARP;
    t.warp = i / WARP;
    t.state = Thread::RUNS;
    t.copies.clear();
    t.n_commits = 0;
    t.stores.clear();
    fiber_start(&t.fiber);
  }
  if (m.begin_block) m.begin_block();
  while (m.n_alive > 0) {
    bool ran = false;
    for (int first = 0; first < n / WARP; first += 4) {
      const int end = first + 4 < n / WARP ? first + 4 : n / WARP;
      while (run_warps(first, end)) {
        ran = true;
        if (m.descending) break;
      }
    }
    if (!m.complaint.empty()) return;
    if (ran || (m.nobody_runs && m.nobody_runs())) continue;
    for (Thread &t : m.threads)
      if (t.state != Thread::DONE) complain("deadlock: a thread waits for ever at line " + std::to_string(t.waits_at));
    return;
  }
  if (m.end_block) m.end_block();
}

inline void shared_prepare(size_t bytes) {
  Machine &m = machine;
  if (m.shared_storage.empty()) m.shared_storage.resize(SHARED_BYTES + 1024);
  m.shared = (unsigned char *)(((uintptr_t)m.shared_storage.data() + 1023) & ~(uintptr_t)1023);
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(m.shared, SHARED_BYTES);
#endif
  memset(m.shared, 0xff, bytes); /* NaN in every floating-point format */
#if defined(__SANITIZE_ADDRESS__)
  __asan_poison_memory_region(m.shared + bytes, SHARED_BYTES - bytes);
#endif
}

template <class Argument> inline void (*kernel_now)(Argument) = nullptr;

} // namespace simt

#define threadIdx (simt::machine.current->index)
#define blockIdx  (simt::machine.block_index)
#define blockDim  (simt::machine.block)
#define gridDim   (simt::machine.grid)

inline void __syncthreads(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (simt::is_dropped(file, line)) return;
  if (++simt::machine.barrier.arrived < simt::machine.n_alive)
    simt::wait_turn(simt::Thread::AT_BARRIER, line);
  else
    simt::release_barrier();
}

inline void __syncwarp(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (simt::is_dropped(file, line)) return;
  simt::meet_warp(nullptr, line, [](void **) {});
}

template <class T> inline T __shfl_xor_sync(unsigned, T value, int mask, int line = __builtin_LINE()) {
  struct {
    T in, out;
    int mask;
  } mine = {value, value, mask};
  using Lane = decltype(mine);
  simt::meet_warp(&mine, line, [](void **lanes) {
    for (int i = 0; i < simt::WARP; i++) {
      Lane *lane = (Lane *)lanes[i];
      lane->out = ((Lane *)lanes[i ^ lane->mask])->in;
    }
  });
  return mine.out;
}

template <class T> inline T __shfl_sync(unsigned, T value, int lane, int line = __builtin_LINE()) {
  struct {
    T value;
    int from;
  } mine = {value, lane};
  using Lane = decltype(mine);
  simt::meet_warp(&mine, line, [](void **lanes) {
    T values[simt::WARP];
    for (int i = 0; i < simt::WARP; i++) values[i] = ((Lane *)lanes[((Lane *)lanes[i])->from])->value;
    for (int i = 0; i < simt::WARP; i++) ((Lane *)lanes[i])->value = values[i];
  });
  return mine.value;
}

inline int __any_sync(unsigned, int predicate, int line = __builtin_LINE()) {
  int mine = predicate;
  simt::meet_warp(&mine, line, [](void **lanes) {
    int any = 0;
    for (int i = 0; i < simt::WARP; i++) any |= *(int *)lanes[i] != 0;
    for (int i = 0; i < simt::WARP; i++) *(int *)lanes[i] = any;
  });
  return mine;
}

inline void atomicAdd(unsigned long long *sum, unsigned long long value) { *sum += value; }
inline unsigned atomicInc(unsigned *count, unsigned last) { /* returns the old count; after `last` comes 0 */
  const unsigned old = *count;
  *count = old >= last ? 0 : old + 1;
  return old;
}

/* Runs a kernel that takes one argument by value. Returns false on misuse (simt::machine.complaint). */
template <class Argument>
inline bool launch(void (*kernel)(Argument), dim3 grid, dim3 block, size_t shared_bytes, const Argument &argument) {
  simt::Machine &m = simt::machine;
  m.grid = grid;
  m.block = block;
  m.threads.resize((size_t)(block.x * block.y * block.z));
  if (m.threads.size() % simt::WARP || shared_bytes > simt::SHARED_BYTES) {
    simt::complain("a block is not made of whole warps, or asks for too much shared memory");
    return false;
  }
  static const Argument *argument_now;
  argument_now = &argument;
  simt::kernel_now<Argument> = kernel;
  m.body = [](void *) { simt::kernel_now<Argument>(*argument_now); };
  for (unsigned z = 0; z < grid.z; z++)
    for (unsigned y = 0; y < grid.y; y++)
      for (unsigned x = 0; x < grid.x; x++) {
        m.block_index = dim3(x, y, z);
        simt::shared_prepare(shared_bytes);
        simt::run_block();
        if (!m.complaint.empty()) return false;
      }
  return true;
}

template <class Argument>
inline bool launch_after(void (*kernel)(Argument), dim3 grid, dim3 block, size_t bytes, const Argument &argument) {
  return launch(kernel, grid, block, bytes, argument);
}

#endif
