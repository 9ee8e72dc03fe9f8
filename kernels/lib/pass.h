/* A pass in fp16 of one batch, with inputs of its own, for programs that measure a rung. */
#ifndef TILEWALK_KERNELS_LIB_PASS_H
#define TILEWALK_KERNELS_LIB_PASS_H

#include "kernels/lib/cuda_calls.h"
#include "kernels/lib/rung.h"

#include <cuda_fp16.h>
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
    if (rung->trains) take_gradients(elements);
  }

  size_t n_ctas() const {
    return (size_t)attention.heads * (size_t)((attention.N_q + attention.B_r - 1) / attention.B_r);
  }

  void start() const {
    if (!rung->run(attention, DTYPE_FP16))
      refuse("%s did not start: %s", rung->name, cudaGetErrorString(cudaGetLastError()));
  }
  void run() const {
    start();
    GPU(cudaDeviceSynchronize());
  }

  /* O, or of a backward pass dK. */
  std::vector<__half> result() const {
    std::vector<__half> x((size_t)attention.heads * (size_t)attention.N_q * (size_t)attention.d);
    GPU(cudaMemcpy(x.data(), rung->trains ? dK.data : O.data, x.size() * sizeof(__half), cudaMemcpyDeviceToHost));
    return x;
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
  GpuBuffer Q, K, V, O, marks, dO, L, dQ, dK, dV, stats, dQ_sums;
  More more = {};

  void take_gradients(size_t elements) {
    const size_t heads = (size_t)attention.heads, rows = (size_t)attention.N_q, d = (size_t)attention.d,
                 B_r = (size_t)attention.B_r, padded = (rows + B_r - 1) / B_r * B_r;
    const std::vector<float> sums(heads * rows, logf((float)attention.N_k) + 0.5f); /* the mean of normal scores */
    dO.take(2 * elements, "dO");
    dQ.take(2 * elements, "dQ");
    dK.take(2 * elements, "dK");
    dV.take(2 * elements, "dV");
    L.take(heads * rows * sizeof(float), "L");
    stats.take(2 * heads * padded * sizeof(float), "L and D");
    dQ_sums.take(heads * padded * d * sizeof(float), "the sums of dQ");
    fill_normal(O.data, elements, 2, false, 4);
    fill_normal(dO.data, elements, 2, false, 5);
    GPU(cudaMemcpy(L.data, sums.data(), sums.size() * sizeof(float), cudaMemcpyHostToDevice));
    more.dO = dO.data, more.L = (const float *)L.data;
    more.dQ = dQ.data, more.dK = dK.data, more.dV = dV.data;
    more.stats = (float *)stats.data, more.dQ_sums = (float *)dQ_sums.data;
    attention.more = &more;
  }
};

#endif
