/* The hot loop: one warp's instructions, each a loop over 32 lanes.
 *
 * Compiled once for each instruction set (PTX_ISA in ptx_machine.h). A warp is a list of fragments (pc,
 * mask). The one with the smallest pc runs until it comes to another's pc, and they merge. In loops that wait for
 * somebody this would starve the one waited for: after SPIN_TURNS turns the fragment with the largest pc runs, and a
 * lone warp yields. */

#include "kernels/ptx/ptx_locate.h"
#include "kernels/ptx/ptx_numbers.h"
#include "kernels/ptx/ptx_ops.h"
#include "kernels/ptx/ptx_registers.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

enum { SPIN_TURNS = 2000 };

static inline uint32_t mask_of(const uint32_t t[LANES]) { /* of words that are 0 or all ones */
#ifdef __AVX2__
  uint32_t m = 0;
  for (int k = 0; k < 4; k++) m |= (uint32_t)_mm256_movemask_ps(_mm256_loadu_ps((const float *)t + 8 * k)) << 8 * k;
  return m;
#else
  uint32_t m = 0;
  for (int l = 0; l < LANES; l++) m |= (t[l] & 1) << l;
  return m;
#endif
}

static inline void spread(uint32_t M[LANES], uint32_t mask) { LOOP M[l] = 0u - (mask >> l & 1); }

static inline void blend32(uint32_t *restrict d, const uint32_t *restrict t, const uint32_t *restrict M) {
  LOOP d[l] = (d[l] & ~M[l]) | (t[l] & M[l]);
}

static inline void blend64(uint64_t *restrict d, const uint64_t *restrict t, const uint32_t *restrict M) {
  LOOP {
    const uint64_t m = (uint64_t)(int64_t)(int32_t)M[l];
    d[l] = (d[l] & ~m) | (t[l] & m);
  }
}

/* ---- lanes and memory ---- */

static inline char *lane_at(const Where *where, int l) {
  return where->split ? where->lane[l] : where->host + where->shape->offset[l];
}

static inline uint64_t extended(const char *p, int bytes, bool is_signed) {
  switch (bytes) {
  case 1: return is_signed ? (uint64_t)(int64_t) * (const int8_t *)p : *(const uint8_t *)p;
  case 2: return is_signed ? (uint64_t)(int64_t) * (const int16_t *)p : *(const uint16_t *)p;
  case 4: return is_signed ? (uint64_t)(int64_t) * (const int32_t *)p : *(const uint32_t *)p;
  default: return *(const uint64_t *)p;
  }
}

static inline void load_words(char *R, const int32_t *list, int vec, const Where *where, uint32_t mask) {
  if (where->split) {
    FOR_LANES (l, mask) {
      for (int e = 0; e < vec; e++) ((uint32_t *)(R + list[e]))[l] = ((const uint32_t *)where->lane[l])[e];
    }
    return;
  }
  const char *host = where->host;
  const int32_t *offset = where->shape->offset;
  if (mask == ~0u && where->shape->kind == SHAPE_BROADCAST) {
    for (int e = 0; e < vec; e++) {
      uint32_t *d = (uint32_t *)(R + list[e]);
      const uint32_t v = ((const uint32_t *)host)[e];
      LOOP d[l] = v;
    }
  } else if (mask == ~0u && vec == 1) {
    uint32_t *d = (uint32_t *)(R + list[0]);
    if (where->shape->kind == SHAPE_CONTIGUOUS) {
      memcpy(d, host, WORD_BYTES);
    } else {
      _Pragma("GCC unroll 8") for (int l = 0; l < LANES; l++) d[l] = *(const uint32_t *)(host + offset[l]);
    }
  } else if (mask == ~0u && vec == 4) {
    uint32_t *d0 = (uint32_t *)(R + list[0]), *d1 = (uint32_t *)(R + list[1]), *d2 = (uint32_t *)(R + list[2]),
             *d3 = (uint32_t *)(R + list[3]);
    for (int l = 0; l < LANES; l++) {
      const uint32_t *p = (const uint32_t *)(host + offset[l]);
      d0[l] = p[0], d1[l] = p[1], d2[l] = p[2], d3[l] = p[3];
    }
  } else {
    FOR_LANES (l, mask) {
      const uint32_t *p = (const uint32_t *)(host + offset[l]);
      for (int e = 0; e < vec; e++) ((uint32_t *)(R + list[e]))[l] = p[e];
    }
  }
}

static void load_lanes(char *R, const Ins *i, const int32_t *list, const Where *where, uint32_t mask) {
  const bool sign = i->is_signed;
  FOR_LANES (l, mask) {
    const char *p = lane_at(where, l);
    for (int e = 0; e < i->vec; e++) {
      const uint64_t v = extended(p + e * i->bytes, i->bytes, sign);
      lane_set(R + list[e], i->mode & MODE_LONG, l, i->mode & MODE_SHORT ? v & 0xffff : v);
    }
  }
}

static void store_lanes(const char *R, const Ins *i, const int32_t *list, const Where *where, uint32_t mask) {
  if (i->bytes == 4 && i->vec == 1 && !(i->mode & MODE_LONG) && mask == ~0u && !where->split &&
      where->shape->kind == SHAPE_CONTIGUOUS) {
    memcpy(where->host, R + list[0], WORD_BYTES);
    return;
  }
  FOR_LANES (l, mask) {
    char *p = lane_at(where, l);
    for (int e = 0; e < i->vec; e++) {
      const uint64_t v = lane_get(R + list[e], i->mode & MODE_LONG, l);
      switch (i->bytes) {
      case 1: *(uint8_t *)p = (uint8_t)v; break;
      case 2: *(uint16_t *)p = (uint16_t)v; break;
      case 4: *(uint32_t *)p = (uint32_t)v; break;
      default: *(uint64_t *)p = v; break;
      }
      p += i->bytes;
    }
  }
}

/* ---- fragments ---- */

/* The fragment that runs next, taken out of the list; false: none. */
static bool next_fragment(Warp *w, int32_t *pc, uint32_t *mask, int32_t *stop) {
  if (!w->n_run && !warp_resume(w)) return false;
  int32_t best = 0;
  for (int32_t k = 1; k < w->n_run; k++)
    if (w->spinning ? w->run[k].pc > w->run[best].pc : w->run[k].pc < w->run[best].pc) best = k;
  *pc = w->run[best].pc;
  *mask = w->run[best].mask;
  w->run[best] = w->run[--w->n_run];
  for (int32_t k = 0; k < w->n_run;) { /* others at the same place join it */
    if (w->run[k].pc == *pc) {
      *mask |= w->run[k].mask;
      w->run[k] = w->run[--w->n_run];
    } else {
      k++;
    }
  }
  *stop = INT32_MAX;
  for (int32_t k = 0; k < w->n_run; k++)
    if (w->run[k].pc > *pc && w->run[k].pc < *stop) *stop = w->run[k].pc;
  return true;
}

static inline void put_back(Warp *w, int32_t pc, uint32_t mask) {
  if (mask) w->run[w->n_run++] = (Fragment){pc, mask, 0};
}

#define A  (((const uint32_t *)a)[l])
#define B  (((const uint32_t *)b)[l])
#define C  (((const uint32_t *)c)[l])
#define D  (((const uint32_t *)e)[l])
#define SA ((int32_t)A)
#define SB ((int32_t)B)
#define SC ((int32_t)C)
#define HA ((int32_t)(int16_t)A)
#define HB ((int32_t)(int16_t)B)
#define FA (((const float *)a)[l])
#define FB (((const float *)b)[l])
#define FC (((const float *)c)[l])
#define LA (((const uint64_t *)a)[l])
#define LB (((const uint64_t *)b)[l])
#define LC (((const uint64_t *)c)[l])
#define TA ((int64_t)LA)
#define TB ((int64_t)LB)
#define GA (((const double *)a)[l])
#define GB (((const double *)b)[l])
#define GC (((const double *)c)[l])
#define K  (i->imm)
#define PC (pc_mask >> l & 1)

#define PLACES                                                                                                         \
  const char *const a = R + i->a, *const b = R + i->b, *const c = R + i->c, *const e = R + i->target;                  \
  (void)a, (void)b, (void)c, (void)e;

#define RESULT_W(E)                                                                                                    \
  {                                                                                                                    \
    PLACES uint32_t *const d = full ? (uint32_t *)(R + i->d) : T32;                                                    \
    LOOP d[l] = (uint32_t)(E);                                                                                         \
    goto done32;                                                                                                       \
  }
#define RESULT_H(E)                                                                                                    \
  {                                                                                                                    \
    PLACES uint32_t *const d = full ? (uint32_t *)(R + i->d) : T32;                                                    \
    LOOP d[l] = (uint32_t)(E)&0xffff;                                                                                  \
    goto done32;                                                                                                       \
  }
#define RESULT_F(E)                                                                                                    \
  {                                                                                                                    \
    PLACES float *const d = full ? (float *)(R + i->d) : (float *)T32;                                                 \
    LOOP d[l] = (E);                                                                                                   \
    goto done32;                                                                                                       \
  }
#define RESULT_L(E)                                                                                                    \
  {                                                                                                                    \
    PLACES uint64_t *const d = full ? (uint64_t *)(R + i->d) : T64;                                                    \
    LOOP d[l] = (uint64_t)(E);                                                                                         \
    goto done64;                                                                                                       \
  }
#define RESULT_G(E)                                                                                                    \
  {                                                                                                                    \
    PLACES double *const d = full ? (double *)(R + i->d) : (double *)T64;                                              \
    LOOP d[l] = (E);                                                                                                   \
    goto done64;                                                                                                       \
  }
#define RESULT_S(E)                                                                                                    \
  {                                                                                                                    \
    const uint32_t pc_mask = P[i->c];                                                                                  \
    RESULT_W(E)                                                                                                        \
  }
#define RESULT_T(E)                                                                                                    \
  {                                                                                                                    \
    const uint32_t pc_mask = P[i->c];                                                                                  \
    RESULT_L(E)                                                                                                        \
  }
#define RESULT_U(E)                                                                                                    \
  {                                                                                                                    \
    const uint32_t pc_mask = P[i->c];                                                                                  \
    RESULT_H(E)                                                                                                        \
  }
#define RESULT_P(E)                                                                                                    \
  {                                                                                                                    \
    PLACES LOOP T32[l] = (E) ? ~0u : 0u;                                                                               \
    goto done_compare;                                                                                                 \
  }

WarpState PTX_ISA(ptx_warp_run)(Run *run, Block *block, Warp *w) {
  const Ins *const code = run->registers ? ptx_registers_code(run->registers) : run->code;
  char *const R = run->arena + w->file;
  uint32_t *const P = (uint32_t *)(R + run->kernel->file_bytes);
  const int32_t *const lists = run->kernel->lists;
  PtxCounts *const counts = run->result->counts;
  _Alignas(64) uint32_t T32[LANES];
  _Alignas(64) uint64_t T64[LANES];
  _Alignas(64) uint32_t M[LANES];
  uint32_t M_mask = 0, mask = 0;
  int32_t pc = 0, stop = 0;
  spread(M, 0);
pick:
  if (!next_fragment(w, &pc, &mask, &stop)) return w->n_wait ? WARP_WAITS : WARP_DONE;
  for (;;) {
    if (pc >= stop) {
      put_back(w, pc, mask);
      w->spinning = false;
      goto pick;
    }
    const Ins *i = &code[pc];
    uint32_t m = mask;
    if (i->guard >= 0) m &= i->guard_not ? ~P[i->guard] : P[i->guard];
    counts[pc].executed++;
    counts[pc].lanes += (uint32_t)__builtin_popcount(m);
    const bool full = m == w->alive;
    if (!m) {
      pc++;
      continue;
    }
    if (!full && M_mask != m) spread(M, m), M_mask = m;
  watched:
    switch (i->op) {
#define X(name, text, result, operands, expression)                                                                    \
  case O_##name: RESULT_##result(expression)
      PTX_ARITHMETIC(X)
#undef X
#define PA P[i->a]
#define PB P[i->b]
#define X(name, text, operands, expression)                                                                            \
  case O_##name: {                                                                                                     \
    const uint32_t result = (expression);                                                                              \
    P[i->d] = (P[i->d] & ~m) | (result & m);                                                                           \
    pc++;                                                                                                              \
    continue;                                                                                                          \
  }
      PTX_PREDICATE_OPS(X)
#undef X
#define LOCATE(KIND)                                                                                                   \
  Where where;                                                                                                         \
  const Request r = {                                                                                                  \
      i->wide, i->space, i->bytes * i->vec, (uint32_t)(i->bytes * i->vec - 1), i->imm, i->site, KIND, i->counted, i};  \
  if (m != ~0u && M_mask != m) spread(M, m), M_mask = m;                                                               \
  if (!locate(run, block, w, pc, &r, R + i->a, m, M, &counts[pc], &where)) return WARP_ERROR;
    case O_LD: {
      LOCATE(PTX_LOAD)
      const uint32_t allowed = where.split ? where.mask : m;
      if (i->bytes == 4 && !(i->mode & MODE_LONG))
        load_words(R, lists + i->ext, i->vec, &where, allowed);
      else
        load_lanes(R, i, lists + i->ext, &where, allowed);
      if (allowed != m) access_zero(run, w, i, m & ~allowed);
      if (run->is_followed && access_follow(run, block, w, pc, &r, R + i->a, m)) {
        put_back(w, pc + 1, mask);
        return WARP_REQUEST;
      }
      pc++;
      continue;
    }
    case O_ST: {
      LOCATE(PTX_STORE)
      store_lanes(R, i, lists + i->ext, &where, where.split ? where.mask : m);
      if (run->is_followed && access_follow(run, block, w, pc, &r, R + i->a, m)) {
        put_back(w, pc + 1, mask);
        return WARP_REQUEST;
      }
      pc++;
      continue;
    }
    case O_WATCHED:
      ptx_registers_check(run, block, w, pc, mask, m);
      i = &run->code[pc];
      goto watched;
    case O_BRA:
      if (!run_jumps(run, pc, i->target, m)) {
        put_back(w, pc, mask);
        return WARP_ERROR;
      }
      if (m == mask) {
        if (i->target <= pc) {
          if (i->mode & MODE_SPINS && ++w->turns > SPIN_TURNS) {
            put_back(w, i->target, mask);
            w->turns = 0;
            if (w->n_run == 1) return WARP_YIELDS;
            w->spinning = true;
            goto pick;
          }
          if (w->spinning) {
            put_back(w, i->target, mask);
            w->spinning = false;
            goto pick;
          }
          if (w->n_run) { /* one that waits at a smaller pc may be met */
            put_back(w, i->target, mask);
            goto pick;
          }
        }
        pc = i->target;
        continue;
      }
      run->divergent++;
      put_back(w, i->target, m);
      put_back(w, pc + 1, mask & ~m);
      if (i->mode & MODE_SPINS && ++w->turns > SPIN_TURNS) w->turns = 0, w->spinning = true;
      goto pick;
    case O_EXIT:
      run->lanes_left -= (int64_t)(pc + 1) * __builtin_popcount(m);
      warp_exit(run, block, w, m);
      put_back(w, pc + 1, mask & ~m);
      goto pick;
    case O_MMA:
      if (!full && !warp_together(w, pc, m, ~0u)) {
        put_back(w, pc + 1, mask & ~m);
        goto pick;
      }
      PTX_ISA(mma_run)(i, lists, R);
      pc++;
      continue;
    case O_WGMMA:
      if (!full && !warp_together(w, pc, m, ~0u)) {
        put_back(w, pc + 1, mask & ~m);
        goto pick;
      }
      if (!PTX_ISA(wgmma_run)(run, block, w, pc, m)) {
        put_back(w, pc, mask);
        return WARP_ERROR;
      }
      pc++;
      continue;
    case O_NOP: pc++; continue;
    default: { /* what is rare: ptx_warp_ops.c */
      if (m != ~0u && M_mask != m) spread(M, m), M_mask = m;
      const StepResult step = warp_step(run, block, w, pc, m, mask);
      switch (step) {
      case STEP_NEXT: pc++; continue;
      case STEP_REQUEST: put_back(w, pc + 1, mask); return WARP_REQUEST;
      case STEP_PARKED: put_back(w, pc + 1, mask & ~m); goto pick;
      case STEP_JUMPED: goto pick;
      default: put_back(w, pc, mask); return WARP_ERROR;
      }
    }
    }
  done32:
    if (!full) blend32((uint32_t *)(R + i->d), T32, M);
    pc++;
    continue;
  done64:
    if (!full) blend64((uint64_t *)(R + i->d), T64, M);
    pc++;
    continue;
  done_compare : {
    uint32_t r = mask_of(T32);
    if (i->mode & CMP_NOT) r = ~r;
    uint32_t q = ~r;
    if (i->mode & (CMP_AND | CMP_OR | CMP_XOR)) {
      const uint32_t c = i->mode & CMP_C_NOT ? ~P[i->c] : P[i->c];
      r = i->mode & CMP_AND ? r & c : i->mode & CMP_OR ? r | c : r ^ c;
      q = i->mode & CMP_AND ? q & c : i->mode & CMP_OR ? q | c : q ^ c;
    }
    P[i->d] = (P[i->d] & ~m) | (r & m);
    if (i->ext >= 0) P[i->ext] = (P[i->ext] & ~m) | (q & m);
    pc++;
    continue;
  }
  }
}
