#include "kernels/lib/run_on_cpu.h"

#include <math.h>
#include <string.h>

#include "kernels/lib/ladder_launch.h"
#include "kernels/lib/verify_backward.h"

/* K and V in pages of 16 keys of all KV heads, in an order that is not theirs; what no key fills is NaN. */
struct Pages {
  enum { KEYS = 16 };
  std::vector<unsigned char> K, V;
  std::vector<int> table;
};

static void pages_fill(const Shape &s, const Inputs &inputs, Pages *p) {
  const size_t row = (size_t)s.d * (size_t)dtype_bytes(s.dtype),
               per_sequence = (size_t)(s.N_k + Pages::KEYS - 1) / Pages::KEYS;
  const size_t n = (size_t)s.batch * per_sequence, kv_heads = (size_t)s.kv_heads;
  p->K.assign(n * kv_heads * Pages::KEYS * row, 0xff);
  p->V = p->K;
  for (size_t i = 0; i < n; i++) p->table.push_back((int)(n - 1 - i));
  for (size_t b = 0; b < (size_t)s.batch; b++)
    for (size_t h = 0; h < kv_heads; h++)
      for (size_t key = 0; key < (size_t)s.N_k; key++) {
        const size_t page = (size_t)p->table[b * per_sequence + key / Pages::KEYS];
        const size_t to = ((page * kv_heads + h) * Pages::KEYS + key % Pages::KEYS) * row;
        const size_t from = ((b * kv_heads + h) * (size_t)s.N_k + key) * row;
        memcpy(&p->K[to], &inputs.K[from], row);
        memcpy(&p->V[to], &inputs.V[from], row);
      }
}

/* A backward pass: what it is given, and what it leaves. */
struct Gradients {
  Training given;
  std::vector<unsigned char> dQ, dK, dV;
  std::vector<float> stats, dQ_sums;
};

static void gradients_start(const Shape &s, Block block, const Inputs &inputs, Gradients *g) {
  training_fill(s, 7, false, inputs, &g->given);
  g->dQ.assign(q_bytes(s), 0xff);
  g->dK.assign(k_bytes(s), 0xff);
  g->dV.assign(k_bytes(s), 0xff);
  const size_t padded = (size_t)(s.batch * s.heads * ceil_div(s.N_q, block.B_r) * block.B_r);
  g->stats.assign(2 * padded, NAN);
  g->dQ_sums.assign(padded * (size_t)s.d, NAN);
}

/* All that a rung's kernels read and write, in the machine's memory, and the pointers to it. */
struct Tensors {
  std::vector<MachinePiece> pieces;
  std::vector<void **> pointers;
  template <class P, class T> void add(P *pointer, const char *name, const std::vector<T> &v, bool is_written) {
    pieces.push_back({name, (void *)v.data(), v.size() * sizeof(T), is_written});
    pointers.push_back((void **)pointer);
  }
  void place() {
    for (size_t i = 0; i < pieces.size(); i++) *pointers[i] = machine_address(pieces, i);
  }
};

CpuRun run_on_cpu(const Rung &rung, const Shape &s, Block block, const Inputs &inputs, const CpuSetting &setting) {
  CpuRun result = {};
  const size_t scores = rung.keeps_scores ? (size_t)(s.batch * s.heads * s.N_q * s.N_k * dtype_bytes(s.dtype)) : 0;
  const size_t stats = rung.keeps_stats ? (size_t)(s.batch * s.heads * s.N_q) : 0;
  std::vector<unsigned char> O(q_bytes(s), 0xff), S(scores, 0xff), P(scores, 0xff); /* 0xff...: NaN in every type */
  std::vector<float> m(stats, NAN), l(stats, NAN);
  std::vector<Counts> counts(1);
  More more = {};
  more.n_splits = block.n_splits ? block.n_splits : 1;
  const size_t rows = (size_t)(s.batch * s.heads * s.N_q),
               parts = rung.default_splits ? rows * (size_t)more.n_splits : 0;
  std::vector<float> O_parts(parts * (size_t)s.d, NAN), L_parts(parts, NAN);
  Pages pages;
  if (rung.pages_keys) pages_fill(s, inputs, &pages);
  Gradients g;
  if (rung.trains) gradients_start(s, block, inputs, &g);
  Attention a = {};
  Tensors t;
  t.add(&a.Q, "Q", inputs.Q, true);
  t.add(&a.K, "K", rung.pages_keys ? pages.K : inputs.K, true);
  t.add(&a.V, "V", rung.pages_keys ? pages.V : inputs.V, true);
  t.add(&a.O, "O", rung.trains ? g.given.O : O, rung.trains);
  t.add(&a.S, "S", S, false);
  t.add(&a.P, "P", P, false);
  t.add(&a.m, "m", m, false);
  t.add(&a.l, "l", l, false);
  t.add(&a.counts, "counts", counts, true);
  t.add(&more.O_parts, "parts of O", O_parts, false);
  t.add(&more.L_parts, "parts of L", L_parts, false);
  t.add(&more.pages, "pages", pages.table, true);
  t.add(&more.dO, "dO", g.given.dO, true);
  t.add(&more.L, "L", g.given.L, true);
  t.add(&more.dQ, "dQ", g.dQ, false);
  t.add(&more.dK, "dK", g.dK, false);
  t.add(&more.dV, "dV", g.dV, false);
  t.add(&more.stats, "statistics", g.stats, false);
  t.add(&more.dQ_sums, "sums of dQ", g.dQ_sums, false);
  t.place();
  a.batch = (int)s.batch;
  a.heads = (int)s.heads;
  a.kv_heads = (int)s.kv_heads;
  a.N_q = (int)s.N_q;
  a.N_k = (int)s.N_k;
  a.d = (int)s.d;
  a.causal = s.causal;
  a.B_r = block.B_r;
  a.B_c = block.B_c;
  a.scale = 1 / sqrtf((float)s.d);
  more.page_keys = Pages::KEYS;
  a.more = &more;
  device = Device();
  device.memory = t.pieces;
  device.folder = setting.folder;
  device.faults = setting.faults;
  device.omitted = setting.omitted;
  const bool ran = rung.run(a, s.dtype);
  result.complaint = device.complaint;
  result.sites = device.sites;
  result.counts = counts[0];
  if (!ran && result.complaint.empty()) result.complaint = "the rung refused the shape or block";
  result.verdict = rung.trains
                       ? gradients_check(s, g.given, g.dQ.data(), g.dK.data(), g.dV.data(), tolerance(rung, s.dtype))
                       : output_check(s, inputs, O.data(), 1, tolerance(rung, s.dtype));
  return result;
}
