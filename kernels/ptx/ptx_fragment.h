/* Fragments of matrices in registers, and their product: mma and wgmma. Compiled into both hot loops; inside
 * kernels/ptx only. */
#ifndef TILEWALK_KERNELS_PTX_PTX_FRAGMENT_H
#define TILEWALK_KERNELS_PTX_PTX_FRAGMENT_H

#include "kernels/ptx/ptx_machine.h"
#include "kernels/ptx/ptx_numbers.h"

/* Elements of a register. */
static inline int32_t per_register(int32_t type) { return 4 / ptx_type_bytes[type]; }

#define INLINE static inline __attribute__((always_inline))

/* Elements of a type, side by side in so many bytes, as floats. */
INLINE void widen(int32_t type, const void *restrict from, int32_t n_bytes, float *restrict to) {
  const uint16_t *halves = from;
  const uint32_t *words = from;
  const uint8_t *bytes = from;
  switch (type) {
  case T_F16:
    for (int32_t k = 0; k < n_bytes / 2; k++) to[k] = half_float(halves[k]);
    break;
  case T_BF16:
    for (int32_t k = 0; k < n_bytes / 2; k++) to[k] = bf16_float(halves[k]);
    break;
  case T_TF32:
    for (int32_t k = 0; k < n_bytes / 4; k++) to[k] = bits_float(words[k] & 0xffffe000u);
    break;
  default:
    for (int32_t k = 0; k < n_bytes; k++)
      to[k] = type == T_E4M3   ? e4m3_float(bytes[k])
              : type == T_E5M2 ? e5m2_float(bytes[k])
              : type == T_S8   ? (float)(int8_t)bytes[k]
                               : (float)bytes[k];
  }
}

/* e elements a register: four lanes have a row's 4 e, side by side. */
INLINE void unpack_a(int32_t type, int32_t e, int32_t n_a, const int32_t *list, const char *R, float A[16][32]) {
  float t[WORD_BYTES];
  for (int32_t r = 0; r < n_a; r++) {
    widen(type, R + list[r], WORD_BYTES, t);
    for (int y = 0; y < 8; y++) memcpy(&A[y + 8 * (r & 1)][4 * e * (r >> 1)], t + 4 * e * y, 16 * (size_t)e);
  }
}

typedef float Row __attribute__((vector_size(32)));

/* S = A B: four rows at once, so that sums need not wait for each other. */
INLINE void multiply(int32_t n, const float A[16][32], const float B[32][8], float S[16][8]) {
  for (int y = 0; y < 16; y += 4) {
    Row s[4] = {{0}};
    for (int32_t k = 0; k < n; k++) {
      Row b;
      memcpy(&b, B[k], sizeof b);
      for (int r = 0; r < 4; r++) s[r] += A[y + r][k] * b;
    }
    memcpy(S[y], s, sizeof s);
  }
}

/* D = C + sign x S, n_d registers of two halves or of one float; c NULL: of nothing. */
INLINE void add_to(bool halves, int32_t n_d, const int32_t *d, const int32_t *c, char *R, float sign,
                   const float S[16][8]) {
  for (int32_t r = 0; r < n_d; r++) {
    uint32_t *to = (uint32_t *)(R + d[r]);
    const uint32_t *from = c ? (const uint32_t *)(R + c[r]) : NULL;
    for (int g = 0; g < 8; g++)
      for (int t = 0; t < 4; t++) {
        const uint32_t old = from ? from[4 * g + t] : 0;
        const float *s = &S[g + 8 * (halves ? r : r >> 1)][2 * t];
        to[4 * g + t] = halves ? float_half(half_float(old & 0xffff) + sign * s[0]) |
                                     float_half(half_float(old >> 16) + sign * s[1]) << 16
                               : float_bits(bits_float(old) + sign * s[r & 1]);
      }
  }
}

#endif
