/* The CPU twins of kernels/lib/ptx_hopper.cuh, each in the strictest reading that the PTX ISA allows:
 *
 *     TMA load      the destination is garbage from the issue on; data come only once every thread that can run has
 *                   run, and somebody waits at the copy's barrier
 *     TMA store     memory is written when the thread that issued it waits for it, and never if it does not
 *     wgmma         accumulators are garbage from the issue until the wait; operands are read at the issue, and must be
 *                   the same at the wait
 *     fences        wgmma after any wait, or the first, or with registers written since, wants wgmma_fence;
 *                   what ordinary stores wrote wants proxy_fence before TMA or wgmma read it;
 *                   barriers want mbarrier_init_fence
 *     setmaxnreg    takes what others gave; waits for ever if they did not
 *
 * What breaks a rule is noted as machine.complaint. Not modelled: thread block clusters, multicast, other swizzles. */
#ifndef TILEWALK_KERNELS_SIMT_HOPPER_H
#define TILEWALK_KERNELS_SIMT_HOPPER_H

#include <map>

/* A tensor of 16-bit elements, [heads][rows][d], and the rows of the boxes in which TMA copies it. */
struct TensorMap {
  unsigned char *tensor;
  int d, rows, heads, box_rows;
};

static inline __attribute__((unused)) bool tensor_map_make(TensorMap *map, const void *tensor, int d, int rows,
                                                           int heads, int box_rows) {
  *map = {(unsigned char *)const_cast<void *>(tensor), d, rows, heads, box_rows};
  return d % BOX_COLUMNS == 0 && box_rows <= 256;
}
static inline __attribute__((unused)) int count_sms() { return 2; }

namespace simt {

enum { GROUP = 128, REGISTERS = 64 * 1024 };

struct Mbarrier {
  int arrivals, missing; /* a phase's, and those not yet in */
  long long bytes;       /* expected and not yet in */
  unsigned phase;
  bool fenced;
  int initialiser, at_barrier; /* thread; how many block barriers came before */
};

struct Transfer { /* by TMA, under way */
  TensorMap map;
  uint32_t shared, barrier;
  int column, row, head;
  int thread; /* stores: who issued it */
  bool committed;
  std::vector<unsigned char> seen; /* stores: what shared memory held at the issue */
  unsigned char *memory = nullptr; /* not a box of a tensor, but so many bytes in a row; stores of such add fp32 */
  int row_bytes = 0;

  int bytes() const { return memory ? row_bytes : map.box_rows * BOX_ROW_BYTES; }
};

struct WgmmaLane { /* what one thread gives */
  float *c;
  const uint32_t *a; /* NULL: in shared memory */
  uint64_t a_matrix, b_matrix;
};

struct Wgmma { /* under way */
  float *c[GROUP];
  const uint32_t *a[GROUP];
  std::vector<float> before, product; /* [lane][n]; before: what C held, unless a wgmma before this one brings it */
  bool add, waits_for_c;
  std::vector<uint32_t> places;    /* 2-byte elements of shared memory that it reads */
  std::vector<uint16_t> contents;  /* and what they held */
  std::vector<uint32_t> registers; /* A's */
  int n, group;
};

struct Warpgroup {
  std::map<const uint32_t *, std::vector<uint32_t>> operands; /* registers named as A, and what the last fence saw */
  int arrived = 0, line = 0;
  void *arguments[GROUP];
  std::vector<Wgmma> flight;
  int n_commits = 0;
  bool fenced = false;
};

struct Named {
  int arrived = 0, expected = 0, waiting = 0;
};

struct Hopper {
  std::map<uint32_t, Mbarrier> barriers;
  std::vector<Transfer> loads, stores;
  std::vector<Warpgroup> groups;
  Named named[16];
  int free_registers;
  std::vector<int> registers; /* a thread's, by warp */
};
inline Hopper hopper;

inline uint32_t swizzled(uint32_t address) { return address ^ (address >> 7 & 7) << 4; }

inline void mbarrier_check(Mbarrier *b, const void *key) {
  if (b->missing < 0) complain("more arrivals at an mbarrier than its phase takes");
  if (b->missing || b->bytes) return;
  b->phase++;
  b->missing = b->arrivals;
  wake(key);
}

/* NULL, with a complaint, where there is none or its init has no fence yet. */
inline Mbarrier *mbarrier_at(uint32_t address, int line) {
  const auto found = hopper.barriers.find(address);
  if (found == hopper.barriers.end() || !found->second.fenced) {
    complain("line " + std::to_string(line) + " uses an mbarrier before its init and fence are done");
    return nullptr;
  }
  Mbarrier *b = &found->second;
  if (b->initialiser != machine.current->linear && b->at_barrier == machine.n_barriers_passed)
    complain("line " + std::to_string(line) + " uses an mbarrier with no __syncthreads since another thread's init");
  return b;
}

/* Between shared memory and the tensor, piece by piece: move(shared, in tensor or NULL where outside). */
template <class Move> inline void each_piece(const Transfer &t, Move move) {
  for (int at = 0; t.memory && at < t.row_bytes; at += 16)
    move(machine.shared + t.shared + (uint32_t)at, t.memory + at);
  if (t.memory) return;
  for (int r = 0; r < t.map.box_rows; r++)
    for (int piece = 0; piece < BOX_ROW_BYTES / 16; piece++) {
      const int row = t.row + r, column = t.column + 8 * piece;
      const bool inside = row < t.map.rows && column < t.map.d && t.head < t.map.heads;
      const long long at = ((long long)t.head * t.map.rows + row) * t.map.d + column;
      move(machine.shared + swizzled(t.shared + (uint32_t)(r * BOX_ROW_BYTES + piece * 16)),
           inside ? t.map.tensor + 2 * at : nullptr);
    }
}

inline bool nobody_runs() { /* one load whose barrier somebody waits for */
  Hopper &h = hopper;
  const int n = (int)h.loads.size();
  for (int i = 0; i < n; i++) {
    const int at = machine.descending ? n - 1 - i : i;
    const Transfer load = h.loads[(size_t)at];
    Mbarrier *b = &h.barriers[load.barrier];
    bool wanted = false;
    for (const Thread &t : machine.threads) wanted |= t.state == Thread::ASLEEP && t.sleeps_on == b;
    if (!wanted) continue;
    each_piece(load, [](unsigned char *shared, const unsigned char *from) {
      if (from)
        memcpy(shared, from, 16);
      else
        memset(shared, 0, 16);
    });
    h.loads.erase(h.loads.begin() + at);
    b->bytes -= load.bytes();
    mbarrier_check(b, b);
    return true;
  }
  return false;
}

inline void begin_block() {
  const int n = (int)machine.threads.size(), launched = REGISTERS / n / 8 * 8;
  hopper = Hopper();
  hopper.groups.resize((size_t)((n + GROUP - 1) / GROUP));
  hopper.registers.assign((size_t)(n / WARP), launched < 256 ? launched : 255);
  hopper.free_registers = 0;
}

inline void end_block() {
  for (const Warpgroup &g : hopper.groups)
    if (!g.flight.empty()) complain("a wgmma is under way as its block ends");
  for (const Named &b : hopper.named)
    if (b.arrived) complain("a named barrier is left with arrivals that nobody waited for");
}

/* Hooks the above into the machine, as the program starts. */
inline const bool hopper_ready = [] {
  machine.begin_block = begin_block;
  machine.nobody_runs = nobody_runs;
  machine.end_block = end_block;
  return true;
}();

inline Warpgroup &this_warpgroup() { return hopper.groups[(size_t)(machine.current->linear / GROUP)]; }

/* All threads of a warpgroup arrive; the last one runs `work` on what they brought. */
template <class Work> inline void meet_warpgroup(void *arguments, int line, Work work) {
  Warpgroup &g = this_warpgroup();
  if (g.arrived == 0) g.line = line;
  if (g.line != line) complain("threads of one warpgroup meet at different lines");
  g.arguments[machine.current->linear % GROUP] = arguments;
  if (++g.arrived < GROUP) return sleep_on(&g, line);
  work(g);
  g.arrived = 0;
  wake(&g);
}

/* Has somebody written here without a fence since? */
inline bool is_unfenced(uint32_t begin, uint32_t end) {
  for (const Thread &t : machine.threads)
    for (const uint32_t at : t.stores)
      if (at >= begin && at < end) return true;
  return false;
}

/* Element (line, k) of a matrix of 16 along k. along_k: k runs along the rows of 128 bytes, else the lines do. */
inline uint32_t matrix_place(uint64_t matrix, int line, int k, bool along_k) {
  const uint32_t start = (uint32_t)(matrix & 0x3fff) << 4, columns = (uint32_t)(matrix >> 16 & 0x3fff) << 4;
  const uint32_t eights = (uint32_t)(matrix >> 32 & 0x3fff) << 4;
  if (along_k) return swizzled(start + (uint32_t)(line / 8) * eights + (uint32_t)(line % 8 * BOX_ROW_BYTES + 2 * k));
  return swizzled(start + (uint32_t)(line / BOX_COLUMNS) * columns + (uint32_t)(k / 8) * eights +
                  (uint32_t)(k % 8 * BOX_ROW_BYTES + line % BOX_COLUMNS * 2));
}

/* Reads a matrix of `lines` by 16 and notes what was read. */
template <class T> inline void matrix_read(Wgmma *w, uint64_t matrix, int lines, bool along_k, float *to) {
  if (matrix >> 62 != 1) complain("a wgmma matrix is not swizzled in rows of 128 bytes");
  uint32_t begin = ~0u, end = 0;
  for (int i = 0; i < lines; i++)
    for (int k = 0; k < 16; k++) {
      const uint32_t place = matrix_place(matrix, i, k, along_k);
      uint16_t bits;
      memcpy(&bits, machine.shared + place, 2);
      w->places.push_back(place);
      w->contents.push_back(bits);
      to[16 * i + k] = to_float(T{bits});
      if (place < begin) begin = place;
      if (place >= end) end = place + 2;
    }
  if (is_unfenced(begin, end)) complain("wgmma reads what ordinary stores wrote, without proxy_fence");
}

/* The row and the column of C's element e of a thread of the warpgroup. */
inline int row_of(int thread, int e) { return thread / 32 * 16 + thread % 32 / 4 + e / 2 % 2 * 8; }
inline int column_of(int thread, int e) { return e / 4 * 8 + thread % 4 * 2 + e % 2; }

/* n: columns of C. */
template <class T> inline void wgmma_issue(Warpgroup &g, int n, bool add, bool a_along_k, bool b_along_k) {
  Wgmma w = {};
  const WgmmaLane &first = *(WgmmaLane *)g.arguments[0];
  if (!g.fenced) complain("wgmma without wgmma_fence, line " + std::to_string(g.line));
  std::vector<float> A(64 * 16), B((size_t)n * 16);
  for (int t = 0; t < GROUP; t++) {
    const WgmmaLane &lane = *(WgmmaLane *)g.arguments[t];
    if (lane.a_matrix != first.a_matrix || lane.b_matrix != first.b_matrix)
      complain("threads of a warpgroup name different matrices");
    w.c[t] = lane.c;
    w.a[t] = lane.a;
    const auto seen = g.operands.find(lane.a);
    if (lane.a && seen == g.operands.end())
      g.operands[lane.a] = {lane.a, lane.a + 4};
    else if (lane.a && memcmp(seen->second.data(), lane.a, 16))
      complain("wgmma takes registers written since wgmma_fence, line " + std::to_string(g.line));
    for (int e = 0; e < 8 && lane.a; e++) { /* pairs as in mma_m16n8k16: rows g, g + 8, then 8 columns on */
      if (e < 4) w.registers.push_back(lane.a[e]);
      const int row = t / 32 * 16 + t % 32 / 4 + e / 2 % 2 * 8, k = t % 4 * 2 + e % 2 + e / 4 * 8;
      A[(size_t)(16 * row + k)] = to_float(T{(uint16_t)(lane.a[e / 2] >> 16 * (e % 2))});
    }
  }
  if (!first.a) matrix_read<T>(&w, first.a_matrix, 64, a_along_k, A.data());
  matrix_read<T>(&w, first.b_matrix, n, b_along_k, B.data());
  w.n = n / 2;
  w.add = add;
  w.group = g.n_commits;
  for (const Wgmma &other : g.flight) w.waits_for_c |= other.c[0] == w.c[0];
  for (int t = 0; t < GROUP; t++)
    for (int e = 0; e < w.n; e++) {
      const float *a = &A[(size_t)(16 * row_of(t, e))], *b = &B[(size_t)(16 * column_of(t, e))];
      float sum = 0;
      for (int k = 0; k < 16; k++) sum += a[k] * b[k];
      w.product.push_back(sum);
      if (!w.waits_for_c) w.before.push_back(w.c[t][e]);
      w.c[t][e] = NAN;
    }
  g.flight.push_back(w);
}

/* The oldest wgmma ends: its sum goes to the registers, or to the next one that adds to them. */
inline void wgmma_end(Warpgroup &g) {
  Wgmma w = std::move(g.flight.front());
  g.flight.erase(g.flight.begin());
  for (size_t i = 0; i < w.places.size(); i++)
    if (memcmp(machine.shared + w.places[i], &w.contents[i], 2)) {
      complain("shared memory changes while a wgmma reads it");
      break;
    }
  for (int t = 0; t < GROUP && w.a[0]; t++)
    if (memcmp(w.a[t], &w.registers[(size_t)(4 * t)], 16)) complain("registers change while a wgmma reads them");
  if (w.add)
    for (size_t i = 0; i < w.product.size(); i++) w.product[i] += w.before[i];
  for (Wgmma &next : g.flight)
    if (next.c[0] == w.c[0]) {
      next.before = std::move(w.product);
      return;
    }
  for (int t = 0; t < GROUP; t++) memcpy(w.c[t], &w.product[(size_t)(t * w.n)], sizeof(float) * (size_t)w.n);
}

inline void set_registers(int n, bool give, int line) {
  Thread *self = machine.current;
  struct Args {
    int n, warp, line;
    bool give;
  } mine = {n, self->warp, line, give};
  /* A warp that takes waits until there is enough; each lane asks for itself. */
  meet_warp(&mine, line, [](void **) {});
  int &have = hopper.registers[(size_t)mine.warp];
  if (n % 8 || n < 24 || n > 256 || (give ? n > have : n < have)) {
    if (self->lane == 0) complain("setmaxnreg at line " + std::to_string(line) + " asks for what cannot be");
    return;
  }
  if (self->lane == 0) {
    while (hopper.free_registers < (n - have) * WARP) sleep_on(&hopper.free_registers, line);
    hopper.free_registers -= (n - have) * WARP;
    have = n;
    wake(&hopper.free_registers);
  }
  meet_warp(&mine, line, [](void **) {});
}

} // namespace simt

#define TW_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

TW_DEVICE void mbarrier_init(uint32_t barrier, int arrivals, TW_SITE) {
  if (simt::is_dropped(file, line)) return;
  simt::hopper.barriers[barrier] = {
      arrivals, arrivals, 0, 0, false, simt::machine.current->linear, simt::machine.n_barriers_passed};
}
TW_DEVICE void mbarrier_init_fence(TW_SITE) {
  if (simt::is_dropped(file, line)) return;
  for (auto &entry : simt::hopper.barriers)
    if (entry.second.initialiser == simt::machine.current->linear) entry.second.fenced = true;
}
TW_DEVICE void mbarrier_arrive(uint32_t barrier, TW_SITE) {
  if (simt::is_dropped(file, line)) return;
  simt::Mbarrier *b = simt::mbarrier_at(barrier, line);
  if (!b) return;
  b->missing--;
  simt::mbarrier_check(b, b);
}
TW_DEVICE void mbarrier_arrive_expect(uint32_t barrier, int bytes, TW_SITE) {
  if (simt::is_dropped(file, line)) return;
  simt::Mbarrier *b = simt::mbarrier_at(barrier, line);
  if (!b) return;
  b->bytes += bytes;
  b->missing--;
  simt::mbarrier_check(b, b);
}
TW_DEVICE void mbarrier_wait(uint32_t barrier, int parity, TW_SITE) {
  if (simt::is_dropped(file, line)) return;
  simt::Mbarrier *b = simt::mbarrier_at(barrier, line);
  while (b && (b->phase & 1) == (unsigned)parity) simt::sleep_on(b, line);
  simt::this_warpgroup().fenced = false;
}

TW_DEVICE void tma_load(uint32_t to, const TensorMap *map, uint32_t barrier, int column, int row, int head, TW_SITE) {
  if (simt::is_dropped(file, line) || !simt::mbarrier_at(barrier, line)) return;
  memset(simt::machine.shared + to, 0xff, (size_t)(map->box_rows * BOX_ROW_BYTES));
  simt::hopper.loads.push_back({*map, to, barrier, column, row, head, simt::machine.current->linear, true, {}});
}
TW_DEVICE void tma_store(const TensorMap *map, uint32_t from, int column, int row, int head, TW_SITE) {
  if (simt::is_dropped(file, line)) return;
  const uint32_t bytes = (uint32_t)(map->box_rows * BOX_ROW_BYTES);
  const unsigned char *at = simt::machine.shared + from;
  if (simt::is_unfenced(from, from + bytes)) simt::complain("TMA stores what has no proxy_fence behind it");
  simt::hopper.stores.push_back(
      {*map, from, 0, column, row, head, simt::machine.current->linear, false, {at, at + bytes}});
}
TW_DEVICE void bulk_load(uint32_t to, const void *from, int bytes, uint32_t barrier, TW_SITE) {
  if (simt::is_dropped(file, line) || !simt::mbarrier_at(barrier, line)) return;
  memset(simt::machine.shared + to, 0xff, (size_t)bytes);
  simt::hopper.loads.push_back({{}, to, barrier, 0, 0, 0, simt::machine.current->linear, true, {}});
  simt::hopper.loads.back().memory = (unsigned char *)const_cast<void *>(from);
  simt::hopper.loads.back().row_bytes = bytes;
}
TW_DEVICE void bulk_add(float *to, uint32_t from, int bytes, TW_SITE) {
  if (simt::is_dropped(file, line)) return;
  const unsigned char *at = simt::machine.shared + from;
  if (simt::is_unfenced(from, from + (uint32_t)bytes)) simt::complain("TMA adds what has no proxy_fence behind it");
  simt::hopper.stores.push_back({{}, from, 0, 0, 0, 0, simt::machine.current->linear, false, {at, at + bytes}});
  simt::hopper.stores.back().memory = (unsigned char *)to;
  simt::hopper.stores.back().row_bytes = bytes;
}
TW_DEVICE void tma_store_commit(TW_SITE) {
  if (simt::is_dropped(file, line)) return;
  for (simt::Transfer &t : simt::hopper.stores) t.committed |= t.thread == simt::machine.current->linear;
}
TW_DEVICE void tma_store_wait(TW_SITE) {
  if (simt::is_dropped(file, line)) return;
  std::vector<simt::Transfer> left;
  for (const simt::Transfer &t : simt::hopper.stores) {
    if (t.thread != simt::machine.current->linear || !t.committed) {
      left.push_back(t);
      continue;
    }
    if (memcmp(simt::machine.shared + t.shared, t.seen.data(), t.seen.size()))
      simt::complain("shared memory changes while TMA stores it");
    simt::each_piece(t, [&t](const unsigned char *shared, unsigned char *to) {
      if (!t.memory && to) memcpy(to, shared, 16);
      for (int e = 0; t.memory && e < 4; e++) ((float *)to)[e] += ((const float *)shared)[e];
    });
  }
  simt::hopper.stores.swap(left);
}
TW_DEVICE void proxy_fence(TW_SITE) {
  if (!simt::is_dropped(file, line)) simt::machine.current->stores.clear();
}

TW_DEVICE void named_barrier(int id, int threads, bool waits, int line) {
  simt::Named &b = simt::hopper.named[id];
  if (b.arrived && b.expected != threads) simt::complain("a named barrier is met by different numbers of threads");
  b.expected = threads;
  b.waiting += waits;
  if (waits) simt::this_warpgroup().fenced = false;
  if (++b.arrived < threads) {
    if (waits) simt::sleep_on(&b, line);
    return;
  }
  if (!b.waiting) simt::complain("nobody waits at a named barrier that is complete");
  b.arrived = b.waiting = 0;
  simt::wake(&b);
}
TW_DEVICE void barrier_sync(int id, int threads, TW_SITE) {
  if (!simt::is_dropped(file, line)) named_barrier(id, threads, true, line);
}
TW_DEVICE void barrier_arrive(int id, int threads, TW_SITE) {
  if (!simt::is_dropped(file, line)) named_barrier(id, threads, false, line);
}

template <int N> inline void registers_give(TW_SITE) {
  if (!simt::is_dropped(file, line)) simt::set_registers(N, true, line);
}
template <int N> inline void registers_take(int line = __builtin_LINE()) { simt::set_registers(N, false, line); }

TW_DEVICE void wgmma_fence(TW_SITE) {
  if (simt::is_dropped(file, line)) return;
  simt::meet_warpgroup(nullptr, line, [](simt::Warpgroup &g) {
    g.fenced = true;
    for (auto &operand : g.operands) memcpy(operand.second.data(), operand.first, 16);
  });
}
TW_DEVICE void wgmma_commit(TW_SITE) {
  if (simt::is_dropped(file, line)) return;
  simt::meet_warpgroup(nullptr, line, [](simt::Warpgroup &g) { g.n_commits++; });
}
template <int N> inline void wgmma_wait(TW_SITE) {
  if (simt::is_dropped(file, line)) return;
  simt::meet_warpgroup(nullptr, line, [](simt::Warpgroup &g) {
    while (!g.flight.empty() && g.flight.front().group < g.n_commits - N) simt::wgmma_end(g);
    g.fenced = false;
  });
}
template <int N> inline void wgmma_done(float (&)[N]) {}

template <class T, bool ADD>
inline void wgmma_n128(float (&c)[64], uint64_t a, uint64_t b, int line = __builtin_LINE()) {
  simt::WgmmaLane mine = {c, nullptr, a, b};
  simt::meet_warpgroup(&mine, line, [](simt::Warpgroup &g) { simt::wgmma_issue<T>(g, 128, ADD, true, true); });
}
template <class T, bool ADD>
inline void wgmma_n64(float (&c)[32], uint64_t a, uint64_t b, int line = __builtin_LINE()) {
  simt::WgmmaLane mine = {c, nullptr, a, b};
  simt::meet_warpgroup(&mine, line, [](simt::Warpgroup &g) { simt::wgmma_issue<T>(g, 64, ADD, true, true); });
}
template <class T, bool ADD>
inline void wgmma_turned(float (&c)[32], uint64_t a, uint64_t b, int line = __builtin_LINE()) {
  simt::WgmmaLane mine = {c, nullptr, a, b};
  simt::meet_warpgroup(&mine, line, [](simt::Warpgroup &g) { simt::wgmma_issue<T>(g, 64, ADD, false, false); });
}
template <class T, int N>
inline void wgmma_rows(float (&c)[N], const uint32_t (&a)[4], uint64_t b, int line = __builtin_LINE()) {
  simt::WgmmaLane mine = {c, a, 0, b};
  simt::meet_warpgroup(&mine, line, [](simt::Warpgroup &g) { simt::wgmma_issue<T>(g, 2 * N, true, true, false); });
}

#undef TW_SITE
#endif
