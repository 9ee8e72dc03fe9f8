/* Online softmax: one row of scores, taken block by block, without ever seeing the whole row.
 *
 *     scores   x x x x | x x x x | x x x        each block: 1. m_new  = max(m, largest score)
 *                block 0   block 1  block 2                 2. factor = e^(m - m_new)
 *                                                           3. l = l factor + sum of e^(x - m_new)
 *     state    m   largest score so far                     4. O = O factor + sum of e^(x - m_new) v
 *              l   sum of e^(x - m)            at the end:  5. O = O / l
 *              O   sum of e^(x - m) v
 *
 * (Milakov and Gimelshein 2018, arXiv 1805.02867, algorithm 3; with O as in FlashAttention-2,
 * arXiv 2307.08691, algorithm 1, where the division comes once, at the end.)
 *
 * Modelled: the arithmetic of a GPU kernel in a chosen precision. Scores are what the product leaves
 * in its accumulators: fp32, never rounded further (fp64 for fp64). m, l, O and the exponentials are
 * fp32; l adds the exponentials before, the product with V takes them after rounding to the stored
 * precision; V is rounded to it on the way in and O on the way out.
 * Not modelled: the order in which threads and tensor cores add (here: from left to right), the GPU's
 * exponential (good to 2 ulps; here it is rounded correctly but for rare cases), and l = NaN, for
 * which FlashAttention-2 leaves O undivided. */
#ifndef TILEWALK_SIM_NUMBERS_SOFTMAX_H
#define TILEWALK_SIM_NUMBERS_SOFTMAX_H

#include "sim/numbers/precision.h"

/* Zero is fp64, with the maximum subtracted, base e. */
typedef struct {
  Precision precision; /* what V, P and O are stored in */
  bool without_max;    /* m stays 0, so e^x overflows: fp32 above x = 88.72, an fp16 P above 11.09 */
  bool powers_of_two;  /* 2^x in place of e^x: whole scores and values then make every step exact in
                           fp64, which is how tests show that rescaling changes nothing */
  bool has_sink; /* a score that belongs to no key, learned for each head (gpt-oss, FlashAttention-3's s_aux): it */
  double sink;   /* takes part in m and l, and has no value; weights then add up to less than 1 */
  double rescale_above; /* m stays where the new maximum is up to 2^this times as large in the exponentials: then P
                           is up to 2^this, and nothing is rescaled (FlashAttention-4, flash_attn/cute/softmax.py: 8);
                           0: m is always the largest score */
  double softcap;       /* of attention's scores: see softmax_capped; 0: none. softmax_step takes scores as they are */
} SoftmaxConfig;

typedef struct {
  double m, l;
  int64_t n_blocks, n_scores; /* taken so far */
} SoftmaxState;

/* What one block did. */
typedef struct {
  int64_t block, first, n;     /* block number; its scores are [first, first + n) of the row */
  int64_t n_masked;            /* scores of -infinity */
  int64_t n_overflowed;        /* exponentials too large for the stored precision */
  double block_max;            /* -infinity when every score is masked */
  double m_old, m_new, factor; /* factor is 0 while m_old is -infinity: there is nothing to rescale */
  double block_sum;            /* of the exponentials */
  double l_old, l_scaled, l_new;
} SoftmaxStep;

SoftmaxState softmax_start(const SoftmaxConfig *config);

/* A score as a kernel with a cap sees it: cap tanh(score / cap), in the precision's accumulator (Gemma 2, arXiv
 * 2408.00118, section 2; FlashAttention's softcap). -infinity stays: masks come after the cap. cap > 0. */
double softmax_capped(Precision precision, double score, double cap);

/* Takes the next `n` scores. With `values` (n rows of d numbers), `O` (d numbers, zero at the start) is
 * rescaled and accumulated; both may be NULL. `weights`, unless NULL, receives the n exponentials as
 * the product with V sees them. */
SoftmaxStep softmax_step(const SoftmaxConfig *config, SoftmaxState *state, const double *scores, int64_t n,
                         const double *values, int64_t d, double *weights, double *O);

/* Step 5: O / l, stored. A row whose every score is masked has l = 0 and becomes 0. */
void softmax_finish(const SoftmaxConfig *config, const SoftmaxState *state, double *O, int64_t d);

/* The steps as they happen inside a kernel; softmax_step is made of them. */
double softmax_new_max(const SoftmaxConfig *config, double m, double block_max);
double softmax_exponential(const SoftmaxConfig *config, double score, double m);
double softmax_divide(const SoftmaxConfig *config, double O, double l); /* not yet stored */

/* Of `rows` rows of n scores, normal with mean 0 and standard deviation `spread`: how many rescale at each block, the
 * first left out, and in how many warps of 32 of them at least one does (the correction warps of FlashAttention-4 vote:
 * all lanes rescale or none). Both have room for ceil(n / block) numbers. Score k of row r is element r n + k of a
 * stream of `seed` (sim/base/random.h). */
void softmax_count_rescales(const SoftmaxConfig *config, int64_t rows, int64_t n, int64_t block, double spread,
                            uint64_t seed, int64_t *rows_at, int64_t *warps_at);

/* Softmax of the whole row at once, in fp64, from the definition: `weights` (n numbers that add up to 1)
 * and O = weights x values, each unless NULL. All masked: zeros. */
void softmax_reference(const double *scores, int64_t n, const double *values, int64_t d, double *weights, double *O);

#endif
