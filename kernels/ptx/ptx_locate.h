/* Where a request goes, fast: the shape that its instruction had last time. Inside kernels/ptx only, compiled into the
 * hot loop. */
#ifndef TILEWALK_KERNELS_PTX_PTX_LOCATE_H
#define TILEWALK_KERNELS_PTX_PTX_LOCATE_H

#include "kernels/ptx/ptx_access.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#if defined __clang__
#define LOOP _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < LANES; l++)
#else
#define LOOP _Pragma("GCC ivdep") for (int l = 0; l < LANES; l++)
#endif

static inline __attribute__((always_inline)) bool same_shape(const Shape *p, const char *base, bool wide, uint32_t mask,
                                                             const uint32_t *M, uint64_t first) {
  if (p->mask != mask) return false;
#ifdef __AVX2__
  const __m256i *v = (const __m256i *)base, *delta_v = (const __m256i *)p->delta;
  __m256i unlike = _mm256_setzero_si256();
  if (wide && mask == ~0u) {
    const __m256i f = _mm256_set1_epi64x((int64_t)first);
    for (int k = 0; k < 8; k++)
      unlike = _mm256_or_si256(
          unlike, _mm256_xor_si256(_mm256_sub_epi64(_mm256_loadu_si256(v + k), f), _mm256_loadu_si256(delta_v + k)));
    return _mm256_testz_si256(unlike, unlike);
  }
  if (!wide && mask == ~0u) {
    const __m256i f = _mm256_set1_epi32((int32_t)(uint32_t)first);
    for (int k = 0; k < 4; k++)
      unlike = _mm256_or_si256(
          unlike, _mm256_xor_si256(_mm256_sub_epi32(_mm256_loadu_si256(v + k), f), _mm256_loadu_si256(delta_v + k)));
    return _mm256_testz_si256(unlike, unlike);
  }
#endif
  if (wide) {
    const uint64_t *a = (const uint64_t *)base;
    uint64_t differ = 0;
    if (mask == ~0u) {
      LOOP differ |= (a[l] - first) ^ p->delta[l];
    } else {
      LOOP differ |= ((a[l] - first) ^ p->delta[l]) & (uint64_t)(int64_t)(int32_t)M[l];
    }
    return differ == 0;
  }
  const uint32_t *a = (const uint32_t *)base, *delta = (const uint32_t *)p->delta, f = (uint32_t)first;
  uint32_t differ = 0;
  if (mask == ~0u) {
    LOOP differ |= (a[l] - f) ^ delta[l];
  } else {
    LOOP differ |= ((a[l] - f) ^ delta[l]) & M[l];
  }
  return differ == 0;
}

/* The lanes' places in memory, and the shape, whose counts are taken. False: the run has failed. */
static inline __attribute__((always_inline)) bool locate(Run *run, const Block *b, const Warp *w, int32_t pc,
                                                         const Request *r, const char *base, uint32_t mask,
                                                         const uint32_t *M, PtxCounts *c, Where *where) {
  const int f = __builtin_ctz(mask);
  const uint64_t first = lane_get(base, r->wide, f);
  const uint64_t address = first + (uint64_t)r->offset;
  Site *s = &run->sites[r->site];
  Shape *p = &s->shape[s->last];
  if (!same_shape(p, base, r->wide, mask, M, first) || !(p->any_low || p->low == (uint32_t)(address & 31))) {
    p = &s->shape[s->last ^ 1];
    if (!same_shape(p, base, r->wide, mask, M, first) || !(p->any_low || p->low == (uint32_t)(address & 31)))
      access_shape(p, r, base, mask, address);
    s->last ^= 1;
  }
  where->shape = p;
  where->first = address;
  where->split = false;
  where->host = NULL;
  if (p->kind != SHAPE_FAR && !(p->misaligned | (address & r->align))) {
    const int64_t at = (int64_t)(uint32_t)address;
    if (r->space == SPACE_SHARED) {
      if (at + p->min >= 0 && at + p->max <= run->shared_bytes) where->host = run->arena + b->shared + at;
    } else if (address + (uint64_t)p->min >= s->low && address + (uint64_t)p->max <= s->high) {
      where->host = (char *)(s->bias + (uintptr_t)address);
    }
  }
  if (!(where->host && (!run->shadow || access_in_order(run, b, w, pc, r, mask, where))) &&
      !access_slowly(run, b, w, pc, r, base, mask, where))
    return false;
  if (r->counted && !where->split) {
    c->requests++;
    if (r->kind != PTX_ATOMIC) c->sectors += p->sectors; /* an atomic's are counted where it is done */
    c->wavefronts += p->wavefronts, c->conflicts += p->wavefronts - p->groups;
  }
  return true;
}

#endif
