/* The backward pass as a library, for programs that time it beside others in one process (kernels/collect/times.py).
 * Tensors are dense, [batch][head][row][d], in GPU memory, fp16 or (bf16) bf16; kernels are started on the default
 * stream. Returns 0, or 1: no such rung, or it did not start. */
#include "kernels/lib/rung.h"

#include <math.h>
#include <string.h>

/* shape: batch, heads, KV heads, N_q, N_k, d. L: natural log of each row's sum of exponentials. room: fp32, for (d + 2)
 * x (rows of all heads, padded to whole row blocks). B_r 0: the rung's default block. */
extern "C" int tilewalk_backward(const char *name, const void *Q, const void *K, const void *V, const void *O,
                                 const void *dO, const float *L, void *dQ, void *dK, void *dV, float *room,
                                 const int shape[6], int causal, int bf16, int B_r, int B_c) {
  const Rung *rung = nullptr;
  for (int r = 0; r < plain::N_RUNGS; r++)
    if (!strcmp(plain::RUNGS[r]->name, name)) rung = plain::RUNGS[r];
  if (!rung || !rung->trains) return 1;
  Attention a = {};
  a.Q = Q, a.K = K, a.V = V, a.O = (void *)O;
  a.batch = shape[0], a.heads = shape[1], a.kv_heads = shape[2];
  a.N_q = shape[3], a.N_k = shape[4], a.d = shape[5];
  a.causal = causal;
  a.scale = 1 / sqrtf((float)a.d);
  const Block block = B_r ? Block{B_r, B_c} : rung->default_block(a.d, 2);
  a.B_r = block.B_r, a.B_c = block.B_c;
  More more = {};
  more.dO = dO, more.L = L;
  more.dQ = dQ, more.dK = dK, more.dV = dV;
  more.dQ_sums = room;
  more.stats = room + (size_t)a.batch * (size_t)a.heads * (size_t)((a.N_q + a.B_r - 1) / a.B_r * a.B_r) * (size_t)a.d;
  a.more = &more;
  return !rung->run(a, bf16 ? DTYPE_BF16 : DTYPE_FP16);
}
