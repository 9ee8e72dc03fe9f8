/* wgmma: a warp's sixteen rows of what four warps multiply.
 *
 * Operands in shared memory lie as a descriptor says: 16-byte pieces, eight of which (one below the other) make a core
 * matrix. With `line` a row of A or a column of B, c a piece of its 32 bytes of K, s the swizzle's span:
 *
 *     along K     no swizzle: line / 8 * stride + line % 8 * 16 + c * lead;
 *                 else: line / 8 * stride + line % 8 * s + c * 16
 *     along lines no swizzle: line / 8 * stride + k / 8 * lead + k % 8 * 16;
 *                 else: line / (s / 2) * lead + k / 8 * stride + k % 8 * s + line % (s / 2) * 2
 *
 * and the pieces change places as bulk copies put them (ptx_bulk.c). Source: PTX ISA, "Asynchronous Warpgroup Level
 * Matrix Shared Memory Layout". A and D in registers are as mma's. Acts as it is issued. Departs from the hardware: as
 * ptx_mma.c. */
#include "kernels/ptx/ptx_fragment.h"
#include "kernels/ptx/ptx_async.h"

#ifndef PTX_AVX2
int32_t wgmma_results(const Ins *i) { return i->vec == T_F16 ? i->target / 4 : i->target / 2; }
#endif

typedef struct {
  uint32_t start, lead, stride, span;
} Matrix;

static Matrix matrix_of(uint64_t descriptor) {
  static const uint32_t spans[] = {0, 128, 64, 32};
  return (Matrix){(uint32_t)(descriptor & 0x3fff) << 4, (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
                  (uint32_t)(descriptor >> 32 & 0x3fff) << 4, spans[descriptor >> 62]};
}

INLINE uint32_t place(const Matrix *m, uint32_t at) { return (uint32_t)swizzled(at, m->span); }

/* Piece c of a line's 32 bytes of K. */
INLINE uint32_t piece_along(const Matrix *m, uint32_t line, uint32_t c) {
  const uint32_t at = m->start + line / 8 * m->stride;
  return m->span ? place(m, at + line % 8 * m->span + c * 16) : at + line % 8 * 16 + c * m->lead;
}

/* Lines 8 g to 8 g + 7 at one k. */
INLINE uint32_t piece_across(const Matrix *m, uint32_t k, uint32_t g) {
  const uint32_t row = m->span / 16;
  return m->span ? place(m, m->start + g / row * m->lead + k / 8 * m->stride + k % 8 * m->span + g % row * 16)
                 : m->start + g * m->stride + k / 8 * m->lead + k % 8 * 16;
}

/* Eight lines (from 8 g) of an operand: the places of their pieces. Along K: line by line, two each; across: k by k. */
INLINE void pieces(const Matrix *m, bool across, uint32_t g, uint32_t at[16]) {
  for (uint32_t n = 0; n < 16; n++) at[n] = across ? piece_across(m, n, g) : piece_along(m, 8 * g + n / 2, n % 2);
}

/* Eight lines as floats [line][k], of `n_k`. False: outside shared memory. */
INLINE bool eight_lines(const char *shared, int64_t shared_bytes, int32_t type, const Matrix *m, bool across,
                        uint32_t g, float to[8][32], int32_t n_k) {
  uint32_t at[16], most = 0;
  _Alignas(uint32_t) unsigned char raw[256];
  float t[256];
  pieces(m, across, g, at);
  for (int n = 0; n < 16; n++) most = at[n] > most ? at[n] : most;
  if ((int64_t)most + 16 > shared_bytes) return false;
  for (int n = 0; n < 16; n++) memcpy(raw + 16 * n, shared + at[n], 16);
  widen(type, raw, sizeof raw, t);
  for (int32_t line = 0; line < 8; line++)
    for (int32_t k = 0; k < n_k; k++) to[line][k] = across ? t[8 * k + line] : t[n_k * line + k];
  return true;
}

static void tell(Run *run, Block *b, const Warp *w, int32_t pc, const Matrix *m, bool across, uint32_t g, uint32_t n) {
  for (uint32_t from = g; from < g + n; from += 2) {
    PtxAccess a = {.pc = pc,
                   .space = PTX_SPACE_SHARED,
                   .kind = PTX_LOAD,
                   .block = b->index,
                   .warp = w->index,
                   .bytes = 16,
                   .async = PTX_ASYNC_WGMMA,
                   .lane1 = 1,
                   .memory = (const unsigned char *)run->arena + b->shared};
    uint32_t at[LANES];
    pieces(m, across, from, at);
    pieces(m, across, from + 1 < g + n ? from + 1 : from, at + 16);
    a.mask = from + 1 < g + n ? ~0u : 0xffffu;
    for (int k = 0; k < LANES; k++) a.address[k] = at[k];
    ptx_shadow_access(run->shadow, &a);
  }
}

static bool outside(Run *run, Block *b, int32_t pc) {
  return run_fails(run, pc, "block %lld multiplies a matrix that ends outside shared memory", (long long)b->index);
}

/* A's sixteen rows of this warp, from shared memory. */
INLINE bool rows_of_a(Run *run, Block *b, const Warp *w, int32_t pc, uint64_t descriptor, float A[16][32]) {
  const Ins *i = &run->code[pc];
  const Matrix m = matrix_of(descriptor);
  const uint32_t g = 2 * ((uint32_t)w->index % 4);
  const bool across = i->mode & WGMMA_A_ACROSS;
  if (run->shadow) tell(run, b, w, pc, &m, across, g, 2);
  for (uint32_t half = 0; half < 2; half++)
    if (!eight_lines(run->arena + b->shared, run->shared_bytes, i->type, &m, across, g + half, A + 8 * half,
                     32 / ptx_type_bytes[i->type]))
      return outside(run, b, pc);
  return true;
}

bool PTX_ISA(wgmma_run)(Run *run, Block *b, Warp *w, int32_t pc, uint32_t mask) {
  const Ins *i = &run->code[pc];
  char *R = run->arena + w->file;
  const uint32_t *P = (const uint32_t *)(R + run->kernel->file_bytes);
  const int32_t *list = run->kernel->lists + i->ext;
  const int l = __builtin_ctz(mask), n_k = 32 / ptx_type_bytes[i->type];
  const bool keeps = ((P[i->c] >> l & 1) != 0) != ((i->mode & WGMMA_SCALE_NOT) != 0), half = i->vec == T_F16;
  const float sign = i->mode & WGMMA_MINUS ? -1 : 1;
  const bool across = i->mode & WGMMA_B_ACROSS;
  const Matrix m = matrix_of(((const uint64_t *)(R + i->b))[l]);
  float A[16][32], B[32][8], columns[8][32], S[16][8];
  if (mask != ~0u)
    return run_fails(run, pc, "a wgmma of %d threads; all 32 of a warp are right", __builtin_popcount(mask));
  if (i->mode & WGMMA_A_REGISTERS)
    unpack_a(i->type, per_register(i->type), 4, list + wgmma_results(i), R, A);
  else if (!rows_of_a(run, b, w, pc, ((const uint64_t *)(R + i->a))[l], A))
    return false;
  if (run->shadow) tell(run, b, w, pc, &m, across, 0, (uint32_t)i->target / 8);
  for (int32_t g = 0; g < i->target / 8; g++) {
    if (!eight_lines(run->arena + b->shared, run->shared_bytes, i->bytes, &m, across, (uint32_t)g, columns, n_k))
      return outside(run, b, pc);
    for (int32_t k = 0; k < n_k; k++)
      for (int c = 0; c < 8; c++) B[k][c] = columns[c][k];
    if (n_k == 16)
      multiply(16, A, B, S);
    else
      multiply(n_k, A, B, S);
    const int32_t *d = list + (half ? 2 : 4) * g, *c = keeps ? d : NULL;
    if (half)
      add_to(true, 2, d, c, R, sign, S);
    else
      add_to(false, 4, d, c, R, sign, S);
  }
  return true;
}
