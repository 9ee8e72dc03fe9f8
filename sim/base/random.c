#include "sim/base/random.h"

#include <math.h>

#include "sim/base/checked.h"

enum { PHILOX_ROUNDS = 10 };

static const double tau = 6.283185307179586476925286766559; /* one full turn */

RandomBlock random_philox(RandomBlock counter, uint32_t key0, uint32_t key1) {
  /* Multipliers and key increments: table 2 of the paper's reference code (Random123, philox.h). */
  const uint32_t multiplier0 = 0xd2511f53, multiplier1 = 0xcd9e8d57;
  const uint32_t increment0 = 0x9e3779b9, increment1 = 0xbb67ae85;
  for (int round = 0; round < PHILOX_ROUNDS; round++) {
    uint64_t product0 = (uint64_t)multiplier0 * counter.word[0];
    uint64_t product1 = (uint64_t)multiplier1 * counter.word[2];
    counter = (RandomBlock){{(uint32_t)(product1 >> 32) ^ counter.word[1] ^ key0, (uint32_t)product1,
                             (uint32_t)(product0 >> 32) ^ counter.word[3] ^ key1, (uint32_t)product0}};
    key0 += increment0;
    key1 += increment1;
  }
  return counter;
}

/* The counter is (index, stream), the key is the seed, so no two elements ever share a block. */
static RandomBlock block_at(uint64_t seed, uint64_t stream, uint64_t index) {
  RandomBlock counter = {{(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)}};
  return random_philox(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
}

static uint64_t low_half(RandomBlock block) { return (uint64_t)block.word[1] << 32 | block.word[0]; }

static uint64_t high_half(RandomBlock block) { return (uint64_t)block.word[3] << 32 | block.word[2]; }

static double to_unit_interval(uint64_t bits) { return ((double)(bits >> 12) + 0.5) * 0x1p-52; }

uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index) { return low_half(block_at(seed, stream, index)); }

double random_uniform(uint64_t seed, uint64_t stream, uint64_t index) {
  return to_unit_interval(random_bits(seed, stream, index));
}

int64_t random_between(uint64_t seed, uint64_t stream, uint64_t index, int64_t low, int64_t high) {
  uint64_t span = (uint64_t)high - (uint64_t)low; /* one less than how many values there are */
  uint64_t bits = random_bits(seed, stream, index);
  if (span == UINT64_MAX) return (int64_t)bits;
  return (int64_t)((uint64_t)low + mul_high_long(bits, span + 1));
}

double random_normal(uint64_t seed, uint64_t stream, uint64_t index) {
  RandomBlock block = block_at(seed, stream, index);
  double radius = sqrt(-2.0 * log(to_unit_interval(low_half(block))));
  return radius * cos(tau * to_unit_interval(high_half(block)));
}

double random_outlier(uint64_t seed, uint64_t stream, uint64_t index) {
  /* Three independent draws: the stream's top two bits, which no caller needs, tell them apart. */
  const uint64_t choose = UINT64_C(1) << 63, wide = UINT64_C(1) << 62;
  double value = random_normal(seed, stream, index);
  if (random_uniform(seed, stream ^ choose, index) >= 0.001) return value;
  return value + 10.0 * random_normal(seed, stream ^ wide, index);
}
