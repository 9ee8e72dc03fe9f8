/* A rung's problem in the GPU's memory: of the harness, and of programs that measure a rung. */
#ifndef TILEWALK_KERNELS_LIB_PASS_H
#define TILEWALK_KERNELS_LIB_PASS_H

#include "kernels/lib/cuda_calls.h"
#include "kernels/lib/problem.h"
#include "sim/base/splitmix.h"

#include <math.h>

/* One batch in fp16, by the rung's default block. */
struct Measured {
  const Rung *rung;
  int d, N, heads;
  bool causal = false;

  std::string row() const { /* rung,d,N,heads,causal: how the rows of studies begin */
    char text[96];
    snprintf(text, sizeof text, "%s,%d,%d,%d,%d", rung->name, d, N, heads, causal);
    return text;
  }
};

class Pass {
  const Rung &rung;
  const Shape shape;
  Problem problem;
  GpuArray<unsigned char> buffers[N_PIECES], unused[PIECE_O + 1];
  GpuArray<Mark> marks;

  static Shape shape_of(const Measured &m) {
    Shape s = {};
    s.batch = 1, s.heads = s.kv_heads = m.heads;
    s.N_q = s.N_k = m.N, s.d = m.d;
    s.causal = m.causal;
    return s;
  }

public:
  Attention &attention = problem.a;

  /* apart: 0, or the seed of how many pages lie unused before each of Q, K, V and O. */
  Pass(const Rung &the_rung, const Shape &the_shape, Block block, const Inputs *inputs = nullptr,
       const Training *training = nullptr, uint64_t apart = 0)
      : rung(the_rung), shape(the_shape), problem(rung, shape, block, inputs, training) {
    enum : size_t { PAGE_BYTES = 2 << 20, PAGES_BETWEEN = 64 };
    for (int i = 0; i < N_PIECES; i++) {
      const auto &piece = problem.pieces[i];
      if (apart && i <= PIECE_O)
        unused[i].take((1 + mix(4 * apart + (uint64_t)i) % PAGES_BETWEEN) * PAGE_BYTES, "what lies between tensors");
      buffers[i].take(piece.bytes, piece.name);
      *piece.pointer = buffers[i].data;
      if (piece.given)
        buffers[i].put(piece.given, piece.bytes);
      else if (inputs)
        buffers[i].fill(0xff); /* NaN in every type */
    }
  }

  /* With inputs of its own. */
  explicit Pass(const Measured &m) : Pass(*m.rung, shape_of(m), rung_block(*m.rung, {0, 0}, m.d, DTYPE_FP16)) {
    fill_inputs();
  }

  void fill_inputs() const {
    static const ProblemPiece INPUTS[] = {PIECE_Q, PIECE_K, PIECE_V, PIECE_O, PIECE_dO};
    const int size = dtype_bytes(shape.dtype);
    for (unsigned i = 0; i < (rung.trains ? 5 : 3); i++)
      fill_normal(buffers[INPUTS[i]].data, problem.pieces[INPUTS[i]].bytes / (size_t)size, size,
                  shape.dtype == DTYPE_BF16, i + 1);
    if (!rung.trains) return;
    const std::vector<float> L(problem.pieces[PIECE_SUMS].bytes / sizeof(float),
                               logf((float)shape.N_k) + 0.5f); /* the mean of normal scores */
    buffers[PIECE_SUMS].put(L.data(), L.size() * sizeof(float));
  }

  size_t n_ctas() const { return (size_t)shape.heads * (size_t)ceil_div(shape.N_q, attention.B_r); }

  void start() const {
    if (!rung.run(attention, shape.dtype))
      refuse("%s did not start: %s", rung.name, cudaGetErrorString(cudaGetLastError()));
  }
  void run() const {
    start();
    GPU(cudaDeviceSynchronize());
  }

  std::vector<unsigned char> fetched(ProblemPiece piece) const { return buffers[piece].get(); }

  /* Of a build that marks its CTAs: what they noted. */
  std::vector<Mark> run_marked() {
    if (!marks.data) marks.take(n_ctas(), "the marks of CTAs");
    attention.marks = marks.data;
    run();
    return marks.get();
  }
};

#endif
