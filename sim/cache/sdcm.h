/* A set-associative LRU cache whose set index nobody knows: the chance of a hit in closed form.
 *
 * If every block goes to any of the S = B / A sets with equal chance, a use at reuse distance D (D
 * other blocks since the last use, see reuse.h) hits exactly when fewer than A of those D fell into
 * its own set:
 *
 *     P(hit | D) = sum over a < A of C(D, a) (A/B)^a (1 - A/B)^(D - a)
 *
 * with A ways and B blocks of capacity. This is Smith's associativity model (A. J. Smith, IEEE
 * Trans. Software Eng. 4(2), 1978), called SDCM since Brehob and Enbody (1999). A binomial tail: 1
 * while D < A, about 1/2 near D = B, and steeper the more ways there are; with one set a step at D
 * = A, which is Mattson's.
 *
 * Modelled: LRU, an evenly spreading hash.
 * Not modelled: that tiles fill sets more evenly than chance does, so for a plain modulo index use
 * cache.h or tile_cache.h. */
#ifndef TILEWALK_SIM_SDCM_H
#define TILEWALK_SIM_SDCM_H

#include <stdint.h>

/* The chance, 0 to 1, that a use at distance `d` hits. `ways` >= 1 and a divisor of `blocks` for
 * the formula to mean a cache; any ways <= blocks is computed. */
double sdcm_hit_probability(uint64_t d, uint64_t ways, uint64_t blocks);

/* Expected misses of a trace with these uses at each distance (histogram[d], d < n) and first uses.
 */
double sdcm_misses(const uint64_t *histogram, uint64_t n, uint64_t first_uses, uint64_t ways, uint64_t blocks);

#endif
