/* mma: one warp's product of two small matrices.
 *
 * Fragments as the PTX ISA draws them (section "Matrix Fragments for mma"): with g = lane / 4, t = lane % 4 and e
 * elements a register, register r of A holds row g + 8 (r % 2) and columns e t + 4 e (r / 2) ...; of B rows e t + 4 e r
 * ... of column g; of C and D row g + 8 (r / 2), columns 2 t and 2 t + 1. Departs from the hardware: products are
 * summed one after another in fp32; tensor cores align and cut them. */

#include "kernels/ptx/ptx_fragment.h"

#ifndef PTX_AVX2
int32_t mma_results(const Ins *i) {
  const int32_t n = i->imm == 8 ? 2 : 4;
  return i->bytes == T_F16 ? n / 2 : n;
}
#endif

INLINE void unpack_b(const Ins *i, int32_t e, int32_t n_b, const int32_t *list, const char *R, float B[32][8]) {
  float t[WORD_BYTES];
  for (int32_t r = 0; r < n_b; r++) {
    widen(i->mode, R + list[r], WORD_BYTES, t);
    for (int32_t k = 0; k < 4 * e; k++)
      for (int g = 0; g < 8; g++) B[4 * e * r + k][g] = t[4 * e * g + k];
  }
}

static void multiply_doubles(const int32_t *list, char *R) { /* m8n8k4 */
  double A[8][4], B[4][8];
  for (int l = 0; l < LANES; l++) {
    A[l >> 2][l & 3] = ((const double *)(R + list[2]))[l];
    B[l & 3][l >> 2] = ((const double *)(R + list[3]))[l];
  }
  for (int r = 0; r < 2; r++)
    for (int l = 0; l < LANES; l++) {
      double s = ((const double *)(R + list[4 + r]))[l];
      for (int k = 0; k < 4; k++) s = fma(A[l >> 2][k], B[k][2 * (l & 3) + r], s);
      ((double *)(R + list[r]))[l] = s;
    }
}

static void results_integer(const Ins *i, int32_t n_d, const int32_t *d, const int32_t *c, char *R,
                            const float A[16][32], const float B[32][8]) {
  for (int32_t r = 0; r < n_d; r++)
    for (int l = 0; l < LANES; l++) {
      const int y = (l >> 2) + 8 * (r >> 1), x = 2 * (l & 3) + (r & 1);
      int64_t s = ((const int32_t *)(R + c[r]))[l];
      for (int k = 0; k < i->vec; k++) s += (int32_t)A[y][k] * (int32_t)B[k][x];
      if (i->target) s = s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s; /* .satfinite */
      ((uint32_t *)(R + d[r]))[l] = (uint32_t)s;
    }
}

void PTX_ISA(mma_run)(const Ins *i, const int32_t *lists, char *R) {
  const int32_t *list = lists + i->ext;
  const int32_t n_d = mma_results(i), n_b = i->space > 1 ? i->space / 2 : 1;
  const int32_t *a = list + n_d, *b = a + i->space, *c = b + n_b;
  float A[16][32], B[32][8], S[16][8];
  if (i->type == T_F64) {
    multiply_doubles(list, R);
    return;
  }
  if (i->space == 4 && per_register(i->type) == 2) { /* the usual one, with constants */
    unpack_a(i->type, 2, 4, a, R, A);
    unpack_b(i, 2, 2, b, R, B);
  } else {
    unpack_a(i->type, per_register(i->type), i->space, a, R, A);
    unpack_b(i, per_register(i->type), n_b, b, R, B);
  }
  if (i->type == T_S8 || i->type == T_U8) {
    results_integer(i, n_d, list, c, R, A, B);
    return;
  }
  if (i->vec == 16)
    multiply(16, A, B, S);
  else
    multiply(i->vec, A, B, S);
  if (i->bytes == T_F16)
    add_to(true, n_d, list, c, R, 1, S);
  else
    add_to(false, 4, list, c, R, 1, S);
}
