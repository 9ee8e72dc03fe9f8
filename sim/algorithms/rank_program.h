/* What a program with `ranks` comes to: its kernels by stage, which tokens a rank has, and what of a block of keys from
 * another rank its queries see under a causal mask.
 *
 *     contiguous   0000 1111 2222 3333       keys of earlier ranks whole, of its own half, of later ones nothing
 *     striped      0123 0123 0123 0123       half of every block; of later ranks without the diagonal
 *     zigzag       00 11 22 33 33 22 11 00   earlier ranks: the first half of the keys; later: the last of the rows */
#ifndef TILEWALK_SIM_ALGORITHMS_RANK_PROGRAM_H
#define TILEWALK_SIM_ALGORITHMS_RANK_PROGRAM_H

#include "sim/algorithms/program.h"

/* Rows of rank g that see keys of rank k, and those keys, as both count their own tokens. Where it is causal, row
 * rows.begin + n sees keys.begin + 0 to n. Nothing: both are empty. */
typedef struct {
  Span rows, keys;
  bool causal;
} RankPart;
RankPart rank_part(RankLayout layout, bool causal, int64_t tokens, int64_t g, int64_t k);

/* The token that is number `at` of those of rank g, of n ranks with `tokens` each. */
int64_t rank_token(RankLayout layout, int64_t n, int64_t tokens, int64_t g, int64_t at);

/* The kernels that ranks run before the steps, in each, or after them, a bit each; and the program of some kernels
 * alone: lines of others never happen. */
typedef enum { STAGE_BEFORE = 0, STAGE_STEPS, STAGE_AFTER } RankStage;
unsigned rank_stage_kernels(const Program *program, RankStage stage);
void rank_kernels_alone(const Program *program, unsigned kernels, Program *alone);

#endif
