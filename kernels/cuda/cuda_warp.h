/* What the lanes of a warp do together, atomics, and loads and stores with a cache hint. */
#pragma once

/* --- shuffles: 4 bytes by shfl.sync; 8 bytes as two of them, as nvcc does --- */
#define TW_SHUFFLE(NAME, MODE, CLAMP)                                                                                  \
  TW_DEVICE unsigned tw_##NAME(unsigned mask, unsigned v, unsigned b, int width) {                                     \
    unsigned d;                                                                                                        \
    asm volatile("shfl.sync." MODE ".b32 %0, %1, %2, %3, %4;"                                                          \
                 : "=r"(d)                                                                                             \
                 : "r"(v), "r"(b), "r"((unsigned)((32 - width) << 8 | CLAMP)), "r"(mask));                             \
    return d;                                                                                                          \
  }                                                                                                                    \
  template <typename T> TW_DEVICE T NAME(unsigned mask, T v, int b, int width = 32) {                                  \
    static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");                                                  \
    unsigned words[(sizeof(T) + 3) / 4] = {};                                                                          \
    __builtin_memcpy(words, &v, sizeof v);                                                                             \
    for (unsigned &word : words) word = tw_##NAME(mask, word, (unsigned)b, width);                                     \
    __builtin_memcpy(&v, words, sizeof v);                                                                             \
    return v;                                                                                                          \
  }
TW_SHUFFLE(__shfl_sync, "idx", 31)
TW_SHUFFLE(__shfl_up_sync, "up", 0)
TW_SHUFFLE(__shfl_down_sync, "down", 31)
TW_SHUFFLE(__shfl_xor_sync, "bfly", 31)
#define __shfl(v, ...)      __shfl_sync(~0u, v, __VA_ARGS__)
#define __shfl_up(v, ...)   __shfl_up_sync(~0u, v, __VA_ARGS__)
#define __shfl_down(v, ...) __shfl_down_sync(~0u, v, __VA_ARGS__)
#define __shfl_xor(v, ...)  __shfl_xor_sync(~0u, v, __VA_ARGS__)

/* --- votes --- */
TW_DEVICE unsigned __ballot_sync(unsigned mask, int p) {
  unsigned d;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }" : "=r"(d) : "r"(p), "r"(mask));
  return d;
}
TW_DEVICE int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
TW_DEVICE int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, !p) == 0; }
TW_REGISTER(__activemask, unsigned, volatile, "activemask.b32 %0;", "=r")
TW_REGISTER(__lanemask_lt, unsigned, , "mov.u32 %0, %%lanemask_lt;", "=r")
TW_REGISTER(tw_lane, unsigned, , "mov.u32 %0, %%laneid;", "=r")
template <typename T> TW_DEVICE unsigned __match_any_sync(unsigned mask, T v) {
  unsigned d;
  if constexpr (sizeof(T) == 8)
    asm volatile("match.any.sync.b64 %0, %1, %2;"
                 : "=r"(d)
                 : "l"(__builtin_bit_cast(unsigned long long, v)), "r"(mask));
  else
    asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(d) : "r"(__builtin_bit_cast(unsigned, v)), "r"(mask));
  return d;
}
template <typename T> TW_DEVICE unsigned __match_all_sync(unsigned mask, T v, int *all) {
  const unsigned same = __match_any_sync(mask, v);
  return (*all = __all_sync(mask, same == mask)) ? mask : 0;
}
#define TW_REDUX(NAME, T, OP)                                                                                          \
  TW_DEVICE T NAME(unsigned mask, T v) {                                                                               \
    T d;                                                                                                               \
    asm volatile("redux.sync." OP " %0, %1, %2;" : "=r"(d) : "r"(v), "r"(mask));                                       \
    return d;                                                                                                          \
  }
TW_REDUX(__reduce_add_sync, int, "add.s32")
TW_REDUX(__reduce_add_sync, unsigned, "add.u32")
TW_REDUX(__reduce_min_sync, int, "min.s32")
TW_REDUX(__reduce_min_sync, unsigned, "min.u32")
TW_REDUX(__reduce_max_sync, int, "max.s32")
TW_REDUX(__reduce_max_sync, unsigned, "max.u32")
TW_REDUX(__reduce_and_sync, unsigned, "and.b32")
TW_REDUX(__reduce_or_sync, unsigned, "or.b32")
TW_REDUX(__reduce_xor_sync, unsigned, "xor.b32")

/* --- atomics. One without a use of its result becomes a reduction (red), as nvcc makes it. --- */
#define TW_ATOMIC(NAME, T, B, BUILTIN)                                                                                 \
  TW_DEVICE T NAME(T *p, T v) { return (T)BUILTIN((B *)p, (B)v); }
TW_ATOMIC(atomicAdd, int, int, __nvvm_atom_add_gen_i)
TW_ATOMIC(atomicAdd, unsigned, int, __nvvm_atom_add_gen_i)
TW_ATOMIC(atomicAdd, unsigned long long, long long, __nvvm_atom_add_gen_ll)
TW_ATOMIC(atomicAdd, float, float, __nvvm_atom_add_gen_f)
TW_ATOMIC(atomicAdd, double, double, __nvvm_atom_add_gen_d)
TW_DEVICE int atomicSub(int *p, int v) { return atomicAdd(p, -v); }
TW_DEVICE unsigned atomicSub(unsigned *p, unsigned v) { return atomicAdd(p, 0u - v); }
TW_ATOMIC(atomicExch, int, int, __nvvm_atom_xchg_gen_i)
TW_ATOMIC(atomicExch, unsigned, int, __nvvm_atom_xchg_gen_i)
TW_ATOMIC(atomicExch, unsigned long long, long long, __nvvm_atom_xchg_gen_ll)
TW_ATOMIC(atomicMax, int, int, __nvvm_atom_max_gen_i)
TW_ATOMIC(atomicMax, unsigned, unsigned, __nvvm_atom_max_gen_ui)
TW_ATOMIC(atomicMax, long long, long long, __nvvm_atom_max_gen_ll)
TW_ATOMIC(atomicMax, unsigned long long, unsigned long long, __nvvm_atom_max_gen_ull)
TW_ATOMIC(atomicMin, int, int, __nvvm_atom_min_gen_i)
TW_ATOMIC(atomicMin, unsigned, unsigned, __nvvm_atom_min_gen_ui)
TW_ATOMIC(atomicMin, long long, long long, __nvvm_atom_min_gen_ll)
TW_ATOMIC(atomicMin, unsigned long long, unsigned long long, __nvvm_atom_min_gen_ull)
TW_ATOMIC(atomicAnd, int, int, __nvvm_atom_and_gen_i)
TW_ATOMIC(atomicAnd, unsigned, int, __nvvm_atom_and_gen_i)
TW_ATOMIC(atomicOr, int, int, __nvvm_atom_or_gen_i)
TW_ATOMIC(atomicOr, unsigned, int, __nvvm_atom_or_gen_i)
TW_ATOMIC(atomicXor, int, int, __nvvm_atom_xor_gen_i)
TW_ATOMIC(atomicXor, unsigned, int, __nvvm_atom_xor_gen_i)
TW_ATOMIC(atomicInc, unsigned, unsigned, __nvvm_atom_inc_gen_ui)
TW_ATOMIC(atomicDec, unsigned, unsigned, __nvvm_atom_dec_gen_ui)
TW_DEVICE float atomicExch(float *p, float v) { return __int_as_float(atomicExch((int *)p, __float_as_int(v))); }
#define TW_CAS(T, B, BUILTIN)                                                                                          \
  TW_DEVICE T atomicCAS(T *p, T old, T v) { return (T)BUILTIN((B *)p, (B)old, (B)v); }
TW_CAS(int, int, __nvvm_atom_cas_gen_i)
TW_CAS(unsigned, int, __nvvm_atom_cas_gen_i)
TW_CAS(unsigned long long, long long, __nvvm_atom_cas_gen_ll)
#define atomicAdd_block   atomicAdd
#define atomicAdd_system  atomicAdd
#define atomicSub_system  atomicSub
#define atomicExch_system atomicExch
#define atomicMax_system  atomicMax
#define atomicMin_system  atomicMin
#define atomicInc_system  atomicInc
#define atomicDec_system  atomicDec
#define atomicCAS_system  atomicCAS
#define atomicAnd_system  atomicAnd
#define atomicOr_system   atomicOr
#define atomicXor_system  atomicXor

/* --- textures and surfaces: words that no machine here knows: a kernel that runs into one is refused by it --- */
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
#define TW_TEXTURE(NAME)                                                                                               \
  template <typename T, typename... A> TW_DEVICE T NAME(cudaTextureObject_t t, A...) {                                 \
    asm volatile(#NAME " [%0];" ::"l"(t));                                                                             \
    return T();                                                                                                        \
  }
TW_TEXTURE(tex1Dfetch)
TW_TEXTURE(tex1D)
TW_TEXTURE(tex2D)
TW_TEXTURE(tex3D)
TW_TEXTURE(tex2DLayered)
TW_TEXTURE(tex2DLod)
TW_TEXTURE(tex3DLod)
TW_TEXTURE(texCubemap)
TW_TEXTURE(surf2Dread)
template <typename T, typename... A> TW_DEVICE void surf2Dread(T *to, cudaSurfaceObject_t s, A...) {
  *to = surf2Dread<T>(s);
}
template <typename T, typename... A> TW_DEVICE void surf2Dwrite(T, cudaSurfaceObject_t s, A...) {
  asm volatile("surf2Dwrite [%0];" ::"l"(s));
}

/* --- loads and stores with a hint: the same bytes, so plain ones of the whole object --- */
template <typename T> TW_DEVICE T __ldg(const T *p) {
  return *(const T *)(const __attribute__((address_space(1))) T *)p;
}
template <typename T> TW_DEVICE T tw_load(const T *p) { return *p; }
template <typename T, typename V> TW_DEVICE void tw_store(T *p, V v) { *p = v; }
#define __ldcs(p)    tw_load(p)
#define __ldca(p)    tw_load(p)
#define __ldcg(p)    tw_load(p)
#define __ldlu(p)    tw_load(p)
#define __ldcv(p)    tw_load(p)
#define __stcs(p, v) tw_store(p, v)
#define __stcg(p, v) tw_store(p, v)
#define __stwb(p, v) tw_store(p, v)
#define __stwt(p, v) tw_store(p, v)

/* --- cp.async by its C++ names --- */
TW_DEVICE void __pipeline_memcpy_async(void *shared, const void *global, size_t size, size_t = 0) {
  const unsigned to = (unsigned)__cvta_generic_to_shared(shared);
  if (size == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
  else if (size == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(global) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(global) : "memory");
}
TW_DEVICE void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
#define __pipeline_wait_prior(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
