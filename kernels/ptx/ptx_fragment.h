/* Fragments of matrices in registers, and their product: mma and wgmma. Compiled into both hot loops; inside
 * kernels/ptx only. */
#ifndef TILEWALK_KERNELS_PTX_PTX_FRAGMENT_H
#define TILEWALK_KERNELS_PTX_PTX_FRAGMENT_H

#include <string.h>

#include "kernels/ptx/ptx_machine.h"
#include "kernels/ptx/ptx_numbers.h"

/* Elements of a register. */
static inline int32_t per_register(int32_t type) { return 4 / ptx_type_bytes[type]; }

#define INLINE static inline __attribute__((always_inline))

/* The elements of the registers of a fragment, 32 lanes each, as floats: out[element][lane]. */
INLINE void unpack(int32_t type, const uint32_t *v, float out[4][LANES]) {
  switch (type) {
  case T_F16:
    for (int l = 0; l < LANES; l++) out[0][l] = half_float(v[l] & 0xffff);
    for (int l = 0; l < LANES; l++) out[1][l] = half_float(v[l] >> 16);
    break;
  case T_BF16:
    for (int l = 0; l < LANES; l++) out[0][l] = bf16_float(v[l]);
    for (int l = 0; l < LANES; l++) out[1][l] = bits_float(v[l] & 0xffff0000u);
    break;
  case T_TF32:
    for (int l = 0; l < LANES; l++) out[0][l] = bits_float(v[l] & 0xffffe000u);
    break;
  default:
    for (int j = 0; j < 4; j++)
      for (int l = 0; l < LANES; l++) {
        const uint32_t byte = v[l] >> 8 * j & 255;
        out[j][l] = type == T_E4M3   ? e4m3_float(byte)
                    : type == T_E5M2 ? e5m2_float(byte)
                    : type == T_S8   ? (float)(int8_t)byte
                                     : (float)byte;
      }
  }
}

INLINE void unpack_a(int32_t type, int32_t e, int32_t n_a, const int32_t *list, const char *R, float A[16][32]) {
  float v[4][LANES];
  for (int32_t r = 0; r < n_a; r++) {
    unpack(type, (const uint32_t *)(R + list[r]), v);
    for (int l = 0; l < LANES; l++)
      for (int32_t j = 0; j < e; j++) A[(l >> 2) + 8 * (r & 1)][e * (l & 3) + 4 * e * (r >> 1) + j] = v[j][l];
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
