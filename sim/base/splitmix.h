/* One step of Vigna's splitmix64 (2015): mixes a counter into 64 evenly spread bits, in a few nanoseconds. For hashes
 * and for what is drawn inside a model; sim/base/random.h is for numbers that people see. */
#ifndef TILEWALK_SIM_BASE_SPLITMIX_H
#define TILEWALK_SIM_BASE_SPLITMIX_H

#include <stdint.h>

#define SPLITMIX_STEP 0x9e3779b97f4a7c15u /* from one counter to the next */

static inline uint64_t mix(uint64_t x) {
  x += SPLITMIX_STEP;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* About normal, mean 0, standard deviation 1, from 64 random bits: four uniform numbers of 16 (Irwin-Hall). */
static inline double about_normal(uint64_t bits) {
  const uint64_t odd_and_even = (bits & 0xffff0000ffff) + (bits >> 16 & 0xffff0000ffff); /* two sums at once */
  const double sum = (double)(uint32_t)(odd_and_even + (odd_and_even >> 32));
  return (sum / 65536 - 2) * 1.7320508075688772;
}

#endif
