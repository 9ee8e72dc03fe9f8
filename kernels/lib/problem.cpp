#include "kernels/lib/problem.h"

#include <math.h>
#include <string.h>

enum { PAGE_KEYS = 16 };

const Rung *rung_find(const Rung *const *rungs, int n_rungs, const char *name) {
  for (int r = 0; r < n_rungs; r++)
    if (!strcmp(rungs[r]->name, name)) return rungs[r];
  return nullptr;
}

bool rung_takes_d(const Rung &rung, int64_t d) {
  bool takes = rung.head_dims[0] == 0;
  for (int i = 0; i < 4 && rung.head_dims[i]; i++) takes |= rung.head_dims[i] == d;
  return takes;
}

bool rung_takes_block(const Rung &rung, Block b) {
  bool takes = rung.blocks[0].B_r == 0;
  for (int i = 0; i < 8 && rung.blocks[i].B_r; i++) takes |= rung.blocks[i].B_r == b.B_r && rung.blocks[i].B_c == b.B_c;
  return takes;
}

Block rung_block(const Rung &rung, Block asked, int64_t d, Dtype dtype) {
  const bool has_one = rung.blocks[0].B_r && !rung.blocks[1].B_r;
  if (asked.B_r && asked.B_c && !has_one) return asked;
  return rung.default_block ? rung.default_block((int)d, dtype_bytes(dtype)) : rung.blocks[0];
}

Attention attention_of(const Shape &s) {
  Attention a = {};
  a.batch = (int)s.batch, a.heads = (int)s.heads, a.kv_heads = (int)s.kv_heads;
  a.N_q = (int)s.N_q, a.N_k = (int)s.N_k, a.d = (int)s.d;
  a.causal = s.causal;
  return a;
}

static size_t pages_per_sequence(const Shape &s) { return (size_t)ceil_div(s.N_k, PAGE_KEYS); }

/* Any order of pages will do: each sequence's lie one batch apart, the last first. */
static std::vector<int> page_table(const Shape &s) {
  const int n = (int)pages_per_sequence(s);
  std::vector<int> table;
  for (int b = 0; b < s.batch; b++)
    for (int i = 0; i < n; i++) table.push_back((n - 1 - i) * (int)s.batch + b);
  return table;
}

/* K or V, [page][KV head][key][d]. */
static std::vector<unsigned char> in_pages(const Shape &s, const std::vector<int> &table,
                                           const std::vector<unsigned char> &dense) {
  const size_t row = (size_t)(s.d * dtype_bytes(s.dtype)), kv_heads = (size_t)s.kv_heads, n = pages_per_sequence(s);
  std::vector<unsigned char> stored(table.size() * PAGE_KEYS * kv_heads * row, 0xff);
  for (size_t head = 0; head < (size_t)s.batch * kv_heads; head++)
    for (size_t key = 0; key < (size_t)s.N_k; key++) {
      const size_t page = (size_t)table[head / kv_heads * n + key / PAGE_KEYS];
      memcpy(&stored[((page * kv_heads + head % kv_heads) * PAGE_KEYS + key % PAGE_KEYS) * row],
             &dense[(head * (size_t)s.N_k + key) * row], row);
    }
  return stored;
}

Problem::Problem(const Rung &rung, const Shape &s, Block block, const Inputs *inputs, const Training *training)
    : a(attention_of(s)), more() {
  const int n_splits = block.n_splits ? block.n_splits : 1;
  const size_t size = (size_t)dtype_bytes(s.dtype), rows = (size_t)(s.batch * s.heads * s.N_q), d = (size_t)s.d;
  const size_t padded = (size_t)(s.batch * s.heads * ceil_div(s.N_q, block.B_r) * block.B_r);
  const size_t scores = rung.keeps_scores ? rows * (size_t)s.N_k * size : 0,
               statistics = rung.keeps_stats ? rows * sizeof(float) : 0;
  const size_t parts = n_splits > 1 ? rows * (size_t)n_splits * sizeof(float) : 0;
  if (rung.pages_keys) table = page_table(s);
  if (rung.pages_keys && inputs) {
    K_pages = in_pages(s, table, inputs->K);
    V_pages = in_pages(s, table, inputs->V);
  }
  const size_t keys =
      rung.pages_keys ? table.size() * PAGE_KEYS * (size_t)s.kv_heads * d * size : k_bytes(s); /* of K, and of V */
  const size_t q = q_bytes(s), trained_q = rung.trains ? q : 0, trained_k = rung.trains ? k_bytes(s) : 0;
  const auto put = [&](ProblemPiece piece, const char *name, auto *pointer, size_t bytes, const void *given = nullptr) {
    pieces[piece] = {name, (void **)pointer, bytes, given};
  };
  put(PIECE_Q, "Q", &a.Q, q, inputs ? inputs->Q.data() : nullptr);
  put(PIECE_K, "K", &a.K, keys, !inputs ? nullptr : rung.pages_keys ? K_pages.data() : inputs->K.data());
  put(PIECE_V, "V", &a.V, keys, !inputs ? nullptr : rung.pages_keys ? V_pages.data() : inputs->V.data());
  put(PIECE_O, "O", &a.O, q, training ? training->O.data() : nullptr);
  put(PIECE_S, "S", &a.S, scores);
  put(PIECE_P, "P", &a.P, scores);
  put(PIECE_M, "m", &a.m, statistics);
  put(PIECE_L, "l", &a.l, statistics);
  put(PIECE_COUNTS, "counts", &a.counts, sizeof counts, &counts);
  put(PIECE_O_PARTS, "parts of O", &more.O_parts, parts * d);
  put(PIECE_L_PARTS, "parts of L", &more.L_parts, parts);
  put(PIECE_PAGES, "pages", &more.pages, table.size() * sizeof(int), table.data());
  put(PIECE_dO, "dO", &more.dO, trained_q, training ? training->dO.data() : nullptr);
  put(PIECE_SUMS, "L", &more.L, rung.trains ? rows * sizeof(float) : 0, training ? training->L.data() : nullptr);
  put(PIECE_dQ, "dQ", &more.dQ, trained_q);
  put(PIECE_dK, "dK", &more.dK, trained_k);
  put(PIECE_dV, "dV", &more.dV, trained_k);
  put(PIECE_STATISTICS, "statistics", &more.stats, rung.trains ? 2 * padded * sizeof(float) : 0);
  put(PIECE_dQ_SUMS, "sums of dQ", &more.dQ_sums, rung.trains ? padded * d * sizeof(float) : 0);
  more.n_splits = n_splits;
  more.page_keys = PAGE_KEYS;
  a.B_r = block.B_r, a.B_c = block.B_c;
  a.scale = 1 / sqrtf((float)s.d);
  a.more = &more;
}

Verdict problem_verdict(const Rung &rung, const Shape &s, const Inputs &inputs, const Training &training,
                        const void *const left[3], int64_t row_step) {
  const double limit = tolerance(rung, s.dtype);
  return rung.trains ? gradients_check(s, training, left[0], left[1], left[2], limit)
                     : output_check(s, inputs, left[0], row_step, limit);
}
