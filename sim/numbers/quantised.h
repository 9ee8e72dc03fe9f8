/* Attention on inputs stored in few bits: how far O is from fp64.
 *
 *     Q, K  -- rotate -- scale, round --  S = Q K^T / sqrt(d)  -- P, rounded --  O = P V / l, stored as fp16
 *     V     ------------ scale, round ----------------------------------------------'
 *
 * scale    8-bit formats: the largest number of a matrix, or of each block of its rows, becomes the format's largest
 * rotate   Q R and K R with one random R of +-1 / sqrt(d): Q K^T stays what it was, and an outlier is spread over the
 *          d numbers of its row (FlashAttention-3, arXiv 2407.08608, section 3.3: incoherent processing)
 *
 * Inputs are random_outlier's, FlashAttention-3's of table 3. Their rounding counts as error.
 *
 *     d = 128             printed    N = 8K, 2,048 rows   1,536 others    N = 16K, 1,024 rows
 *     fp16, standard      3.2e-4     3.00e-4              3.19e-4         4.49e-4
 *     fp16, FA-3          1.9e-4     1.75e-4              1.97e-4         2.35e-4
 *     fp8, standard       2.4e-2     2.41e-2              2.42e-2         2.66e-2
 *     fp8, FA-3           9.1e-3     9.12e-3              9.81e-3         9.01e-3
 *     without blocks      9.3e-3     8.80e-3              9.64e-3         9.42e-3
 *     without rotation    2.4e-2     1.87e-2              2.27e-2         1.99e-2
 *
 * N = 8K and d = 128 were chosen after looking: those of the printed table are unknown. The first column is `tilewalk
 * softmax --errors 8K --seeds 32`. A few rows, where q and k have an outlier in one place, make most of the error
 * without a rotation: draws differ by a fifth there. Scales of blocks change little: e4m3 spans 2^-9 to 448, so one
 * scale loses few numbers.
 * Modelled: sums in fp32, each rounded once; e^x right; P against the row's largest score. Not modelled: the running
 * maximum, by which P of early blocks is rounded a little otherwise, and the order of additions. */
#ifndef TILEWALK_SIM_NUMBERS_QUANTISED_H
#define TILEWALK_SIM_NUMBERS_QUANTISED_H

#include "sim/numbers/accuracy.h"

typedef struct {
  Precision stored;  /* Q, K, V */
  Precision weights; /* P, as the product with V takes it */
  bool is_standard;  /* S, and P over l, are rounded to `weights` between the products */
  bool rotates;      /* Q and K */
  int64_t block;     /* rows that share a scale; 0: the whole matrix */
} QuantisedForm;

/* FlashAttention-3's table 3: its six rows, and what the paper prints. */
typedef struct {
  const char *name;
  QuantisedForm form;
  double printed_rmse;
} QuantisedRow;
enum { QUANTISED_ROWS = 6 };
extern const QuantisedRow QUANTISED_TABLE[QUANTISED_ROWS];

/* Rounds rows x d numbers in place: to scale x a number of the format, for formats of 8 bits; else to the format. */
void quantised_round(Precision stored, int64_t block, double *x, int64_t rows, int64_t d);

/* Rotates each row by the seed's signs and a Hadamard matrix. d: a power of two. */
void quantised_rotate(uint64_t seed, double *x, int64_t rows, int64_t d);

typedef struct {
  int64_t N, d;    /* of Q, K and V; d: a power of two */
  int64_t queries; /* the first of them are computed, at most N */
} QuantisedShape;

/* Adds the errors of all rows of the table, on one seed's inputs, to accuracies[QUANTISED_ROWS]. Takes
 * O(queries N d) time and 48 N d bytes. */
Status quantised_errors(const QuantisedShape *shape, uint64_t seed, Accuracy *accuracies, Error *error);

#endif
