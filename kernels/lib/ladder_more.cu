/* Decode and the backward pass as a library, for programs that time them beside others in one process
 * (kernels/collect/times.py). Tensors are dense, [batch][head][row][d], in GPU memory, fp16 or (bf16) bf16;
 * kernels are started on the default stream. Both return 0, or 1: no such rung, or it did not start. */
#include "kernels/lib/rung.h"

#include <math.h>
#include <string.h>

static const Rung *find(const char *name) {
  for (int r = 0; r < plain::N_RUNGS; r++)
    if (!strcmp(plain::RUNGS[r]->name, name)) return plain::RUNGS[r];
  return nullptr;
}

static Attention attention_of(const void *Q, const void *K, const void *V, const void *O, const int shape[6],
                              int causal) {
  Attention a = {};
  a.Q = Q, a.K = K, a.V = V, a.O = (void *)O;
  a.batch = shape[0], a.heads = shape[1], a.kv_heads = shape[2];
  a.N_q = shape[3], a.N_k = shape[4], a.d = shape[5];
  a.causal = causal;
  a.scale = 1 / sqrtf((float)a.d);
  return a;
}

/* shape: batch, heads, KV heads, N_q, N_k, d. parts: room for splits x rows of O x (d + 1) fp32. splits: 0 for as many
 * as fill n_sms SMs; what was used is left there. */
extern "C" int tilewalk_decode(const char *name, const void *Q, const void *K, const void *V, void *O, float *parts,
                               const int shape[6], int causal, int bf16, int n_sms, int *splits) {
  const Rung *rung = find(name);
  if (!rung || !rung->default_splits || rung->pages_keys) return 1;
  Attention a = attention_of(Q, K, V, O, shape, causal);
  a.B_r = rung->blocks[0].B_r, a.B_c = rung->blocks[0].B_c;
  if (!*splits) *splits = rung->default_splits(a, n_sms);
  More more = {};
  more.n_splits = *splits;
  more.L_parts = parts;
  more.O_parts = parts + (((size_t)a.batch * (size_t)(a.heads * a.N_q * *splits) + 63) & ~(size_t)63);
  a.more = &more;
  return !rung->run(a, bf16 ? DTYPE_BF16 : DTYPE_FP16);
}

/* L: natural log of each row's sum of exponentials. room: fp32, for (d + 2) x (rows of all heads, padded to whole row
 * blocks). B_r 0: the rung's default block. */
extern "C" int tilewalk_backward(const char *name, const void *Q, const void *K, const void *V, const void *O,
                                 const void *dO, const float *L, void *dQ, void *dK, void *dV, float *room,
                                 const int shape[6], int causal, int bf16, int B_r, int B_c) {
  const Rung *rung = find(name);
  if (!rung || !rung->trains) return 1;
  Attention a = attention_of(Q, K, V, O, shape, causal);
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
