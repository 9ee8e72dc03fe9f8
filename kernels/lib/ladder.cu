/* The ladder as a library, for programs that time it beside others in one process (kernels/collect/times.py).
 */
#include "kernels/lib/rung.h"

#include <math.h>
#include <string.h>

/* Starts one forward pass on the default stream. Tensors are dense, [batch][head][row][d], in GPU memory, fp16 or
 * (bf16) bf16. B_r 0: the rung's default block. Returns 0, or 1: no such rung, or it did not start. */
extern "C" int tilewalk_attention(const char *name, const void *Q, const void *K, const void *V, void *O, int batch,
                                  int heads, int kv_heads, int N_q, int N_k, int d, int causal, int bf16, int B_r,
                                  int B_c) {
  for (int r = 0; r < plain::N_RUNGS; r++) {
    const Rung &rung = *plain::RUNGS[r];
    if (strcmp(rung.name, name) || rung.keeps_scores || rung.keeps_stats || rung.default_splits) continue;
    Block block = rung.default_block ? rung.default_block(d, 2) : rung.blocks[0];
    if (B_r) block.B_r = B_r, block.B_c = B_c;
    Attention a = {};
    a.Q = Q, a.K = K, a.V = V, a.O = O;
    a.batch = batch, a.heads = heads, a.kv_heads = kv_heads;
    a.N_q = N_q, a.N_k = N_k, a.d = d;
    a.causal = causal;
    a.B_r = block.B_r, a.B_c = block.B_c;
    a.scale = 1 / sqrtf((float)d);
    return !rung.run(a, bf16 ? DTYPE_BF16 : DTYPE_FP16);
  }
  return 1;
}
