#include "lessons/engine/class_key.h"

#include <string.h>

#include "sim/base/ascii.h"

typedef struct {
  uint64_t v[4];
} Sip;

static uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

static void sip_round(Sip *s) {
  uint64_t *v = s->v;
  v[0] += v[1], v[1] = rotate(v[1], 13), v[1] ^= v[0], v[0] = rotate(v[0], 32);
  v[2] += v[3], v[3] = rotate(v[3], 16), v[3] ^= v[2];
  v[0] += v[3], v[3] = rotate(v[3], 21), v[3] ^= v[0];
  v[2] += v[1], v[1] = rotate(v[1], 17), v[1] ^= v[2], v[2] = rotate(v[2], 32);
}

static uint64_t little(const unsigned char *bytes, size_t n) {
  uint64_t word = 0;
  for (size_t k = 0; k < n; k++) word |= (uint64_t)bytes[k] << (8 * k);
  return word;
}

static void absorb(Sip *s, uint64_t word) {
  s->v[3] ^= word;
  sip_round(s);
  sip_round(s);
  s->v[0] ^= word;
}

uint64_t siphash(const unsigned char key[16], const void *bytes, size_t length) {
  const uint64_t k0 = little(key, 8), k1 = little(key + 8, 8);
  const unsigned char *p = bytes;
  size_t left = length;
  Sip s = {{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}};
  for (; left >= 8; left -= 8, p += 8) absorb(&s, little(p, 8));
  absorb(&s, little(p, left) | (uint64_t)length << 56);
  s.v[2] ^= 0xFF;
  for (int round = 0; round < 4; round++) sip_round(&s);
  return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}

void class_fold(const char *name, char folded[CLASS_NAME_BYTES]) {
  size_t used = 0;
  for (const char *p = name; *p && used + 1 < CLASS_NAME_BYTES; p++) {
    if (!ascii_is_space(*p))
      folded[used++] = (char)ascii_lower(*p);
    else if (used && folded[used - 1] != ' ')
      folded[used++] = ' ';
  }
  while (used && folded[used - 1] == ' ') used--;
  folded[used] = '\0';
}

uint64_t class_seed(const char *key, const char *student) {
  static const unsigned char NONE[16] = {0}, ONE[16] = {1};
  unsigned char bytes[16];
  char name[CLASS_NAME_BYTES];
  const uint64_t halves[2] = {siphash(NONE, key, strlen(key)), siphash(ONE, key, strlen(key))};
  for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (unsigned char)(halves[k / 8] >> (8 * (k % 8)));
  class_fold(student, name);
  const uint64_t seed = 1 + siphash(bytes, name, strlen(name)) % 999999999;
  return seed < CLASS_SEED_MIN ? 999999999 + seed : seed;
}
