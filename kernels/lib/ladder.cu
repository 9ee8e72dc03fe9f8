/* The ladder as a library, for programs that time it beside others in one process (kernels/collect/times.py). Tensors
 * are dense, [batch][head][row][d], in GPU memory, fp16 or (bf16) bf16; kernels are started on the default stream.
 * B_r 0: the rung's default block. Returns 0, or 1: no such rung, or it did not start. */
#include "kernels/lib/rung.h"

#include <math.h>
#include <string.h>

static const Rung *rung_named(const char *name) {
  for (int r = 0; r < plain::N_RUNGS; r++)
    if (!strcmp(plain::RUNGS[r]->name, name)) return plain::RUNGS[r];
  return nullptr;
}

/* shape: batch, heads, KV heads, N_q, N_k, d. */
static Attention attention_of(const Rung &rung, const void *Q, const void *K, const void *V, void *O,
                              const int shape[6], int causal, Block block) {
  Attention a = {};
  if (!block.B_r) block = rung.default_block ? rung.default_block(shape[5], 2) : rung.blocks[0];
  a.Q = Q, a.K = K, a.V = V, a.O = O;
  a.batch = shape[0], a.heads = shape[1], a.kv_heads = shape[2];
  a.N_q = shape[3], a.N_k = shape[4], a.d = shape[5];
  a.causal = causal;
  a.B_r = block.B_r, a.B_c = block.B_c;
  a.scale = 1 / sqrtf((float)a.d);
  return a;
}

/* One forward pass. */
extern "C" int tilewalk_attention(const char *name, const void *Q, const void *K, const void *V, void *O, int batch,
                                  int heads, int kv_heads, int N_q, int N_k, int d, int causal, int bf16, int B_r,
                                  int B_c) {
  const Rung *rung = rung_named(name);
  const int shape[] = {batch, heads, kv_heads, N_q, N_k, d};
  if (!rung || rung->keeps_scores || rung->keeps_stats || rung->default_splits) return 1;
  return !rung->run(attention_of(*rung, Q, K, V, O, shape, causal, {B_r, B_c}), bf16 ? DTYPE_BF16 : DTYPE_FP16);
}

/* One backward pass. L: natural log of each row's sum of exponentials. room: fp32, for (d + 2) x (rows of all heads,
 * padded to whole row blocks). */
extern "C" int tilewalk_backward(const char *name, const void *Q, const void *K, const void *V, const void *O,
                                 const void *dO, const float *L, void *dQ, void *dK, void *dV, float *room,
                                 const int shape[6], int causal, int bf16, int B_r, int B_c) {
  const Rung *rung = rung_named(name);
  if (!rung || !rung->trains) return 1;
  Attention a = attention_of(*rung, Q, K, V, (void *)O, shape, causal, {B_r, B_c});
  More more = {};
  more.dO = dO, more.L = L;
  more.dQ = dQ, more.dK = dK, more.dV = dV;
  more.dQ_sums = room;
  more.stats = room + (size_t)a.batch * (size_t)a.heads * (size_t)((a.N_q + a.B_r - 1) / a.B_r * a.B_r) * (size_t)a.d;
  a.more = &more;
  return !rung->run(a, bf16 ? DTYPE_BF16 : DTYPE_FP16);
}
