/* A forward pass in fp16 of one batch, with inputs of its own, for programs that measure a rung. */
#ifndef TILEWALK_KERNELS_PASS_H
#define TILEWALK_KERNELS_PASS_H

#include "kernels/lib/cuda_calls.h"
#include "kernels/lib/rung.h"

#include <math.h>
#include <vector>

class Pass {
public:
  Attention attention = {};

  Pass(const Rung *the_rung, int d, int N, int heads, bool causal) : rung(the_rung) {
    const size_t elements = (size_t)heads * (size_t)N * (size_t)d;
    const Block block = rung->default_block ? rung->default_block(d, 2) : rung->blocks[0];
    Q.take(2 * elements, "Q");
    K.take(2 * elements, "K");
    V.take(2 * elements, "V");
    O.take(2 * elements, "O");
    fill_normal(Q.data, elements, 2, false, 1);
    fill_normal(K.data, elements, 2, false, 2);
    fill_normal(V.data, elements, 2, false, 3);
    Attention &a = attention;
    a.Q = Q.data, a.K = K.data, a.V = V.data, a.O = O.data;
    a.batch = 1, a.heads = a.kv_heads = heads;
    a.N_q = a.N_k = N, a.d = d;
    a.causal = causal;
    a.B_r = block.B_r, a.B_c = block.B_c;
    a.scale = 1 / sqrtf((float)d);
  }

  size_t n_ctas() const {
    return (size_t)attention.heads * (size_t)((attention.N_q + attention.B_r - 1) / attention.B_r);
  }

  void run() const {
    if (!rung->run(attention, DTYPE_FP16))
      refuse("%s did not start: %s", rung->name, cudaGetErrorString(cudaGetLastError()));
    GPU(cudaDeviceSynchronize());
  }

  /* Of a build that marks its CTAs: what they noted. */
  std::vector<Mark> run_marked() {
    std::vector<Mark> noted(n_ctas());
    if (!marks.data) marks.take(noted.size() * sizeof(Mark), "the marks of CTAs");
    attention.marks = (Mark *)marks.data;
    run();
    GPU(cudaMemcpy(noted.data(), marks.data, noted.size() * sizeof(Mark), cudaMemcpyDeviceToHost));
    return noted;
  }

private:
  const Rung *rung;
  GpuBuffer Q, K, V, O, marks;
};

#endif
