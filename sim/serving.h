/* A language model at work on GPUs: what a step of it reads, computes and sends, and how long that takes at least.
 *
 *     a step     one pass through all layers for some new tokens of some sequences:
 *                a prompt or a chunk of it (queries > 1), one new token of every sequence (queries = 1), or both
 *
 *     matrices   every weight once from HBM, 2 FLOPs a weight and token      the slower of the two binds
 *     attention  each kind of layers as sim/planner.h plans it               each level's bytes, products, exponentials
 *     all-reduce two a layer where GPUs share out the heads                  bytes that a GPU sends, over its link
 *
 * The three are added up as if they came one after the other: an estimate, since they may overlap. A GPU of n_gpus has
 * its share of heads, weights and cache (tensor parallelism, Shoeybi et al., Megatron-LM, arXiv 1909.08053).
 *
 * Modelled: the above, on one GPU of those that share. Not modelled: norms, rotary embeddings, activations in HBM,
 * launches, sampling, the router of experts, MLA's products that expand the latent of earlier chunks. All of them add
 * time. */
#ifndef TILEWALK_SIM_SERVING_H
#define TILEWALK_SIM_SERVING_H

#include "sim/time/batch.h"
#include "sim/machine/kvmodel.h"

/* What of a sequence's cache is dropped while it decodes. */
typedef enum {
  EVICT_NONE = 0,
  EVICT_STREAMING, /* the first tokens and the last ones stay (Xiao et al., StreamingLLM, arXiv 2309.17453) */
  EVICT_H2O,       /* those that got most attention stay, and the last ones (Zhang et al., H2O, arXiv 2306.14048) */
  EVICT_COUNT
} EvictKind;

const char *evict_name(EvictKind kind); /* "none", "streaming", "h2o" */

typedef struct {
  EvictKind kind;
  int64_t first; /* sinks, or heavy hitters */
  int64_t last;  /* recent tokens */
} Evict;

/* Tokens that a sequence of `tokens` keeps. */
int64_t evict_kept(const Evict *evict, int64_t tokens);

/* A model on GPUs. */
typedef struct {
  const KvModel *model;
  const Gpu *gpu;
  const Profile *kernel; /* that runs attention; NULL: none, and no time of it is predicted */
  KvCache cache;         /* what each GPU keeps: kvcache_share() was called */
  int64_t n_gpus;        /* that share out heads and weights; 0: 1 */
  double weight_bytes;   /* of one weight: 2, 1, 0.5 */
  double table_bytes;    /* of one in tables of words; 0: the same */
  Dtype products;        /* that weights are multiplied in */
} Serving;

/* `count` sequences that each bring `queries` new tokens, the last of `keys`. */
typedef struct {
  int64_t queries, keys, count;
  bool is_prefix; /* the keys are shared: one query of each of `queries` sequences sees all of them. Their new tokens
                     are other parts' */
  int64_t after;  /* then: keys of each sequence behind the prefix, which a window sees first */
} ServingPart;

/* What a step comes to, on each GPU. */
typedef struct {
  double tokens, outputs; /* new ones, and those whose logits are computed */

  double weight_bytes; /* read */
  double experts;      /* of a layer that are read: expected where routing is uniform; 0: not a mixture of experts */
  double flops;        /* of the matrices */
  double weight_s, flop_s, matrix_s; /* the last is the larger */

  Wide kv_bytes;            /* of the cache, read by attention: each key and value that is seen once */
  TimeBound attention;      /* all layers */
  bool has_prediction;      /* of one part, or of decodes alone, by a kernel whose time is known */
  double predicted_s;       /* of attention by the kernel, all layers */
  TimeKind kind;            /* of that: extrapolated where any part is */
  Wide boundary_read_bytes; /* across the SRAM boundary, by the kernel's tiles */

  double sent_bytes; /* by each GPU; a ring's all-reduce */
  double sent_s;     /* NAN: the link's rate is not known */

  double bound_s; /* bounds added up: matrices, attention and, where known, what is sent */
} ServingStep;

/* One layer of a kind, as sim is asked for it. False: nothing to ask (a type that sim has no name for is asked as fp8,
 * and the bytes of K and V are counted apart). */
bool serving_shape(const Serving *serving, const KvGroup *group, const ServingPart *part, Shape *shape);

/* Attention alone: all layers of `n` parts, added to a step of zeros. */
Status serving_attention(const Serving *serving, const ServingPart *parts, int64_t n, ServingStep *step, Error *error);

/* A whole step. The model must have parameters (kvmodel.h). outputs: logits are computed for that many tokens. */
Status serving_step(const Serving *serving, const ServingPart *parts, int64_t n, double outputs, ServingStep *step,
                    Error *error);

/* A prompt of `prompt` tokens, of which the first `cached` have their K and V already, in chunks of at most `chunk`
 * (0: all at once): the steps' sum. *n_chunks, if not NULL: how many. At most SERVING_CHUNKS_MAX. */
#define SERVING_CHUNKS_MAX ((int64_t)1 << 14)
Status serving_prompt(const Serving *serving, int64_t prompt, int64_t cached, int64_t chunk, ServingStep *sum,
                      int64_t *n_chunks, Error *error);

/* Bytes of the model's weights as published, or in a type of fewer bits (NULL: none is asked for), and what they are
 * multiplied in. Of fewer than 16 bits tables of words keep 16, and int4 has an fp16 scale for 128 weights (AWQ, GPTQ:
 * the usual group). Needs the model's parameters. */
void serving_take_weights(Serving *serving, const KvDtype *asked);

/* Weights that a GPU keeps, and those that one token is multiplied with, the output's included. */
double serving_weights_bytes(const Serving *serving);

#endif
