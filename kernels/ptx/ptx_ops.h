/* The arithmetic: one row an operation.
 *
 *   X(NAME, "spellings", result, "operands", expression of one lane)
 *
 * Spellings are the opcodes without what changes nothing here (.rn, .ftz, .approx, .full, .lo, .uni; .sat is an
 * operation of its own). Result: H 16 bits, W 32, F float, L 64, G double, P a predicate; U, S, T: H, W, L by a
 * predicate. Operands: h 16 bits, w 32, l 64, p a predicate's mask. In an expression A, B, C, D are operands as
 * unsigned words, SA signed, FA float; LA, TA, GA the same of 64 bits; HA sign-extended from 16; PC the mask of a
 * predicate; K the immediate. */
#ifndef TILEWALK_KERNELS_PTX_PTX_OPS_H
#define TILEWALK_KERNELS_PTX_PTX_OPS_H

#include "kernels/ptx/ptx_machine.h"

#define H2(x, y)             (((x)&0xffff) | (y) << 16)
#define HALF2(E_LOW, E_HIGH) H2(float_half(E_LOW), float_half(E_HIGH))
#define BF2(E_LOW, E_HIGH)   H2(float_bf16(E_LOW), float_bf16(E_HIGH))
#define HF                   half_float
#define BF                   bf16_float

/* Rows by type. A comparison: equal, below, not above; of floats also whether both are numbers, and not equal. */
#define PTX_COMPARED(X, T, IN, a, b)                                                                                   \
  X(EQ_##T, "", P, IN, a == b)                                                                                         \
  X(LT_##T, "", P, IN, a < b)                                                                                          \
  X(LE_##T, "", P, IN, a <= b)                                                                                         \
  X(NUM_##T, "", P, IN, a == a && b == b)                                                                              \
  X(NE_##T, "", P, IN, a<b || a> b)

#define PTX_SIGN(X, T, TEXT, R, IN, F, x, y, a, b)                                                                     \
  X(LT_##T, "", P, IN, x < y)                                                                                          \
  X(LE_##T, "", P, IN, x <= y)                                                                                         \
  X(MIN_##T, "min." TEXT, R, IN, x < y ? a : b)                                                                        \
  X(MAX_##T, "max." TEXT, R, IN, x > y ? a : b)                                                                        \
  X(DIV_##T, "div." TEXT, R, IN, div_##F(x, y))                                                                        \
  X(REM_##T, "rem." TEXT, R, IN, rem_##F(x, y))

/* Integers: a, b, c without a sign, x and y with it; BY: the bits that they are divided in. */
#define PTX_WIDTH(X, N, R, IN, BY, a, b, c, x, y)                                                                      \
  X(ADD##N, "add.s" #N " add.u" #N " add.b" #N, R, IN IN, a + b)                                                       \
  X(SUB##N, "sub.s" #N " sub.u" #N " sub.b" #N, R, IN IN, a - b)                                                       \
  X(MUL##N, "mul.s" #N " mul.u" #N, R, IN IN, a *b)                                                                    \
  X(MAD##N, "mad.s" #N " mad.u" #N, R, IN IN IN, a *b + c)                                                             \
  X(AND##N, "and.b" #N, R, IN IN, a &b)                                                                                \
  X(OR##N, "or.b" #N, R, IN IN, a | b)                                                                                 \
  X(XOR##N, "xor.b" #N, R, IN IN, a ^ b)                                                                               \
  X(NOT##N, "not.b" #N, R, IN, ~a)                                                                                     \
  X(ABS_S##N, "abs.s" #N, R, IN, x < 0 ? 0u - a : a)                                                                   \
  X(NEG_S##N, "neg.s" #N, R, IN, 0u - a)                                                                               \
  X(EQ##N, "", P, IN IN, a == b)                                                                                       \
  PTX_SIGN(X, S##N, "s" #N, R, IN IN, s##BY, x, y, a, b)                                                               \
  PTX_SIGN(X, U##N, "u" #N, R, IN IN, u##BY, a, b, a, b)

#define PTX_FLOAT(X, N, R, IN, SUFFIX, a, b, c)                                                                        \
  X(ADD_F##N, "add.f" #N, R, IN IN, a + b)                                                                             \
  X(SUB_F##N, "sub.f" #N, R, IN IN, a - b)                                                                             \
  X(MUL_F##N, "mul.f" #N, R, IN IN, a *b)                                                                              \
  X(FMA_F##N, "fma.f" #N " mad.f" #N, R, IN IN IN, fma##SUFFIX(a, b, c))                                               \
  X(DIV_F##N, "div.f" #N, R, IN IN, a / b)                                                                             \
  X(RCP_F##N, "rcp.f" #N, R, IN, 1 / a)                                                                                \
  X(SQRT_F##N, "sqrt.f" #N, R, IN, sqrt##SUFFIX(a))                                                                    \
  X(RSQRT_F##N, "rsqrt.f" #N, R, IN, 1 / sqrt##SUFFIX(a))                                                              \
  X(MIN_F##N, "min.f" #N, R, IN IN, min_f##N(a, b))                                                                    \
  X(MAX_F##N, "max.f" #N, R, IN IN, max_f##N(a, b))                                                                    \
  PTX_COMPARED(X, F##N, IN IN, a, b)

#define PTX_DIRECTED(X, OP, TEXT, IN, a, b, c)                                                                         \
  X(OP##_RZ_F32, TEXT ".rz.f32", F, IN, fma_directed(a, b, c, 0))                                                      \
  X(OP##_RM_F32, TEXT ".rm.f32", F, IN, fma_directed(a, b, c, -1))                                                     \
  X(OP##_RP_F32, TEXT ".rp.f32", F, IN, fma_directed(a, b, c, 1))

/* One half or two in a word, worked out in float: F takes a half, S shifts to it. */
#define PTX_HALVES(X, OP, TEXT, HALF_IN, PAIR_IN, OF)                                                                  \
  X(OP##_F16, TEXT ".f16", H, HALF_IN, float_half(OF(HF, )))                                                           \
  X(OP##_F16X2, TEXT ".f16x2", W, PAIR_IN, HALF2(OF(HF, ), OF(HF, >> 16)))                                             \
  X(OP##_BF16, TEXT ".bf16", H, HALF_IN, float_bf16(OF(BF, )))                                                         \
  X(OP##_BF16X2, TEXT ".bf16x2", W, PAIR_IN, BF2(OF(BF, ), OF(BF, >> 16)))
#define PTX_SUM(F, S)        F(A S) + F(B S)
#define PTX_DIFFERENCE(F, S) F(A S) - F(B S)
#define PTX_PRODUCT(F, S)    F(A S) * F(B S)
#define PTX_FUSED(F, S)      (float)((double)F(A S) * F(B S) + F(C S))
#define PTX_MIN(F, S)        min_f32(F(A S), F(B S))
#define PTX_MAX(F, S)        max_f32(F(A S), F(B S))
#define PTX_EX2(F, S)        ex2(F(A S))
#define PTX_TANH(F, S)       tanhf(F(A S))

#define PTX_ARITHMETIC(X)                                                                                              \
  X(MOV32, "mov.b32 mov.u32 mov.s32 mov.f32 abs.u32", W, "w", A)                                                       \
  X(MOV64, "mov.b64 mov.u64 mov.s64 mov.f64", L, "l", LA)                                                              \
  X(MOV16, "mov.b16 mov.u16 mov.s16 mov.f16 mov.bf16", H, "h", A)                                                      \
  PTX_WIDTH(X, 32, W, "w", 32, A, B, C, SA, SB)                                                                        \
  PTX_WIDTH(X, 64, L, "l", 64, LA, LB, LC, TA, TB)                                                                     \
  PTX_WIDTH(X, 16, H, "h", 32, (A & 0xffff), (B & 0xffff), C, HA, HB)                                                  \
  X(MULHI_S32, "mul.hi.s32", W, "ww", mul_high_signed(SA, SB))                                                         \
  X(MULHI_U32, "mul.hi.u32", W, "ww", mul_high(A, B))                                                                  \
  X(MADHI_S32, "mad.hi.s32", W, "www", mul_high_signed(SA, SB) + C)                                                    \
  X(MADHI_U32, "mad.hi.u32", W, "www", mul_high(A, B) + C)                                                             \
  X(MULWIDE_S32, "mul.wide.s32", L, "ww", (uint64_t)((int64_t)SA * SB))                                                \
  X(MULWIDE_U32, "mul.wide.u32", L, "ww", (uint64_t)A *B)                                                              \
  X(MADWIDE_S32, "mad.wide.s32", L, "wwl", (uint64_t)((int64_t)SA * SB) + LC)                                          \
  X(MADWIDE_U32, "mad.wide.u32", L, "wwl", (uint64_t)A *B + LC)                                                        \
  X(MUL24_S32, "mul24.s32", W, "ww", (uint32_t)(((int32_t)(A << 8) >> 8) * (int64_t)((int32_t)(B << 8) >> 8)))         \
  X(MUL24_U32, "mul24.u32", W, "ww", (A & 0xffffff) * (B & 0xffffff))                                                  \
  X(MAD24_S32, "mad24.s32", W, "www", (uint32_t)(((int32_t)(A << 8) >> 8) * (int64_t)((int32_t)(B << 8) >> 8)) + C)    \
  X(MAD24_U32, "mad24.u32", W, "www", (A & 0xffffff) * (B & 0xffffff) + C)                                             \
  X(MULHI_S64, "mul.hi.s64", L, "ll", mul_high_long_signed(TA, TB))                                                    \
  X(MULHI_U64, "mul.hi.u64", L, "ll", mul_high_long(LA, LB))                                                           \
  X(MULHI_S16, "mul.hi.s16", H, "hh", (uint32_t)(HA * HB) >> 16)                                                       \
  X(MULHI_U16, "mul.hi.u16", H, "hh", (A * B) >> 16)                                                                   \
  X(MULWIDE_S16, "mul.wide.s16", W, "hh", (uint32_t)(HA * HB))                                                         \
  X(MULWIDE_U16, "mul.wide.u16", W, "hh", A *B)                                                                        \
  X(MADWIDE_S16, "mad.wide.s16", W, "hhw", (uint32_t)(HA * HB) + C)                                                    \
  X(MADWIDE_U16, "mad.wide.u16", W, "hhw", A *B + C)                                                                   \
  X(SAD_S32, "sad.s32", W, "www", C + (SA < SB ? B - A : A - B))                                                       \
  X(SAD_U32, "sad.u32", W, "www", C + (A < B ? B - A : A - B))                                                         \
  X(CNOT32, "cnot.b32", W, "w", A == 0)                                                                                \
  X(SHL32, "shl.b32", W, "ww", shl32(A, B))                                                                            \
  X(SHR_U32, "shr.u32 shr.b32", W, "ww", shr32(A, B))                                                                  \
  X(SHR_S32, "shr.s32", W, "ww", sar32(SA, B))                                                                         \
  X(SHL64, "shl.b64", L, "lw", shl64(LA, B))                                                                           \
  X(SHR_U64, "shr.u64 shr.b64", L, "lw", shr64(LA, B))                                                                 \
  X(SHR_S64, "shr.s64", L, "lw", sar64(TA, B))                                                                         \
  X(SHL16, "shl.b16", H, "hw", shl32(A, B))                                                                            \
  X(SHR_U16, "shr.u16 shr.b16", H, "hw", shr32(A, B))                                                                  \
  X(SHR_S16, "shr.s16", H, "hw", sar32(HA, B))                                                                         \
  X(SHF_L_WRAP, "shf.l.wrap.b32", W, "www", shf_left(A, B, C & 31))                                                    \
  X(SHF_R_WRAP, "shf.r.wrap.b32", W, "www", shf_right(A, B, C & 31))                                                   \
  X(SHF_L_CLAMP, "shf.l.clamp.b32", W, "www", shf_left(A, B, C))                                                       \
  X(SHF_R_CLAMP, "shf.r.clamp.b32", W, "www", shf_right(A, B, C))                                                      \
  X(LOP3, "lop3.b32", W, "wwwk", lop3(A, B, C, (uint32_t)K))                                                           \
  X(PRMT, "prmt.b32", W, "www", prmt(A, B, C))                                                                         \
  X(BFE_U32, "bfe.u32", W, "www", bfe_u32(A, B, C))                                                                    \
  X(BFE_S32, "bfe.s32", W, "www", bfe_s32(A, B, C))                                                                    \
  X(BFE_U64, "bfe.u64", L, "lww", bfe_u64(LA, B, C))                                                                   \
  X(BFE_S64, "bfe.s64", L, "lww", bfe_s64(LA, B, C))                                                                   \
  X(BFI32, "bfi.b32", W, "wwww", bfi32(A, B, C, D))                                                                    \
  X(BFI64, "bfi.b64", L, "llww", bfi64(LA, LB, C, D))                                                                  \
  X(BMSK_CLAMP, "bmsk.clamp.b32", W, "ww", bfi32(~0u, 0, A, B))                                                        \
  X(BREV32, "brev.b32", W, "w", brev32(A))                                                                             \
  X(BREV64, "brev.b64", L, "l", brev64(LA))                                                                            \
  X(POPC32, "popc.b32", W, "w", popc32(A))                                                                             \
  X(POPC64, "popc.b64", W, "l", popc32((uint32_t)LA) + popc32((uint32_t)(LA >> 32)))                                   \
  X(CLZ32, "clz.b32", W, "w", clz32(A))                                                                                \
  X(CLZ64, "clz.b64", W, "l", clz64(LA))                                                                               \
  X(BFIND_U32, "bfind.u32", W, "w", 31 - clz32(A))                                                                     \
  X(BFIND_S32, "bfind.s32", W, "w", 31 - clz32(SA < 0 ? ~A : A))                                                       \
  X(BFIND_U64, "bfind.u64", W, "l", 63 - clz64(LA))                                                                    \
  X(BFIND_S64, "bfind.s64", W, "l", 63 - clz64(TA < 0 ? ~LA : LA))                                                     \
  X(BFINDSH_U32, "bfind.shiftamt.u32", W, "w", A ? clz32(A) : ~0u)                                                     \
  X(DP4A_SS, "dp4a.s32.s32", W, "www", dp4a(A, B, C, 1, 1))                                                            \
  X(DP4A_SU, "dp4a.s32.u32", W, "www", dp4a(A, B, C, 1, 0))                                                            \
  X(DP4A_US, "dp4a.u32.s32", W, "www", dp4a(A, B, C, 0, 1))                                                            \
  X(DP4A_UU, "dp4a.u32.u32", W, "www", dp4a(A, B, C, 0, 0))                                                            \
  X(SELP32, "selp.b32 selp.u32 selp.s32 selp.f32", S, "wwp", PC ? A : B)                                               \
  X(SELP64, "selp.b64 selp.u64 selp.s64 selp.f64", T, "llp", PC ? LA : LB)                                             \
  X(SELP16, "selp.b16 selp.u16 selp.s16 selp.f16", U, "hhp", PC ? A : B)                                               \
  X(SLCT_S32, "slct.b32.s32 slct.u32.s32 slct.s32.s32 slct.f32.s32", W, "www", SC >= 0 ? A : B)                        \
  X(SLCT_F32, "slct.b32.f32 slct.u32.f32 slct.s32.f32 slct.f32.f32", W, "www", FC >= 0 ? A : B)                        \
  PTX_FLOAT(X, 32, F, "w", f, FA, FB, FC)                                                                              \
  PTX_FLOAT(X, 64, G, "l", , GA, GB, GC)                                                                               \
  PTX_COMPARED(X, F16, "hh", HF(A), HF(B))                                                                             \
  PTX_COMPARED(X, BF16, "hh", BF(A), BF(B))                                                                            \
  PTX_DIRECTED(X, FMA, "fma", "www", FA, FB, FC)                                                                       \
  PTX_DIRECTED(X, ADD, "add", "ww", FA, 1, FB)                                                                         \
  PTX_DIRECTED(X, SUB, "sub", "ww", FA, 1, -FB)                                                                        \
  PTX_DIRECTED(X, MUL, "mul", "ww", FA, FB, 0)                                                                         \
  X(SIN_F32, "sin.f32", F, "w", sinf(FA))                                                                              \
  X(COS_F32, "cos.f32", F, "w", cosf(FA))                                                                              \
  X(LG2_F32, "lg2.f32", F, "w", log2f(FA))                                                                             \
  X(EX2_F32, "ex2.f32", F, "w", ex2(FA))                                                                               \
  X(TANH_F32, "tanh.f32", F, "w", tanhf(FA))                                                                           \
  X(MIN_NAN_F32, "min.NaN.f32", F, "ww", min_nan_f32(FA, FB))                                                          \
  X(MAX_NAN_F32, "max.NaN.f32", F, "ww", max_nan_f32(FA, FB))                                                          \
  X(ABS_F32, "abs.f32", W, "w", A & 0x7fffffffu)                                                                       \
  X(NEG_F32, "neg.f32", W, "w", A ^ 0x80000000u)                                                                       \
  X(COPYSIGN_F32, "copysign.f32", W, "ww", (B & 0x7fffffffu) | (A & 0x80000000u))                                      \
  X(TESTP_FINITE, "testp.finite.f32", P, "w", (A & 0x7f800000u) != 0x7f800000u)                                        \
  X(TESTP_INFINITE, "testp.infinite.f32", P, "w", (A & 0x7fffffffu) == 0x7f800000u)                                    \
  X(TESTP_NAN, "testp.notanumber.f32", P, "w", (A & 0x7fffffffu) > 0x7f800000u)                                        \
  X(ABS_F64, "abs.f64", L, "l", LA & 0x7fffffffffffffffu)                                                              \
  X(NEG_F64, "neg.f64", L, "l", LA ^ 0x8000000000000000u)                                                              \
  X(COPYSIGN_F64, "copysign.f64", L, "ll", (LB & 0x7fffffffffffffffu) | (LA & 0x8000000000000000u))                    \
  PTX_HALVES(X, ADD, "add", "hh", "ww", PTX_SUM)                                                                       \
  PTX_HALVES(X, SUB, "sub", "hh", "ww", PTX_DIFFERENCE)                                                                \
  PTX_HALVES(X, MUL, "mul", "hh", "ww", PTX_PRODUCT)                                                                   \
  PTX_HALVES(X, FMA, "fma", "hhh", "www", PTX_FUSED)                                                                   \
  PTX_HALVES(X, MIN, "min", "hh", "ww", PTX_MIN)                                                                       \
  PTX_HALVES(X, MAX, "max", "hh", "ww", PTX_MAX)                                                                       \
  PTX_HALVES(X, EX2, "ex2", "h", "w", PTX_EX2)                                                                         \
  PTX_HALVES(X, TANH, "tanh", "h", "w", PTX_TANH)                                                                      \
  X(NEG_F16, "neg.f16 neg.bf16", H, "h", A ^ 0x8000u)                                                                  \
  X(ABS_F16, "abs.f16 abs.bf16", H, "h", A & 0x7fffu)                                                                  \
  X(NEG_F16X2, "neg.f16x2 neg.bf16x2", W, "w", A ^ 0x80008000u)                                                        \
  X(ABS_F16X2, "abs.f16x2 abs.bf16x2", W, "w", A & 0x7fff7fffu)                                                        \
  /* mov of vectors */                                                                                                 \
  X(PACK64, "", L, "ww", (uint64_t)B << 32 | A)                                                                        \
  X(PACK32, "", W, "hh", (B & 0xffff) << 16 | (A & 0xffff))                                                            \
  X(HIGH64, "", W, "l", (uint32_t)(LA >> 32))                                                                          \
  X(HIGH32, "", H, "w", A >> 16)                                                                                       \
  X(BYTE32, "", H, "w", (A >> (K & 31)) & 255)                                                                         \
  X(PACK8, "", W, "wh", A | (B & 255) << (K & 31))                                                                     \
  /* cvt, as kernels have it often; ptx_convert.c has the others */                                                    \
  X(EXT_S32, "cvt.s64.s32 cvt.u64.s32", L, "w", (uint64_t)(int64_t)SA)                                                 \
  X(EXT_U32, "cvt.u64.u32 cvt.s64.u32", L, "w", A)                                                                     \
  X(EXT_S16, "cvt.s32.s16", W, "h", (uint32_t)HA)                                                                      \
  X(EXT_U16, "cvt.u32.u16 cvt.s32.u16", W, "h", A & 0xffff)                                                            \
  X(TRUNC64, "cvt.u32.u64 cvt.s32.s64 cvt.u32.s64 cvt.s32.u64", W, "l", (uint32_t)LA)                                  \
  X(LOW16, "cvt.u16.u32 cvt.s16.s32", H, "w", A)                                                                       \
  X(F32_S32, "cvt.f32.s32", F, "w", (float)SA)                                                                         \
  X(F32_U32, "cvt.f32.u32", F, "w", (float)A)                                                                          \
  X(S32_F32, "cvt.rzi.s32.f32", W, "w", (uint32_t)float_s32(FA))                                                       \
  X(U32_F32, "cvt.rzi.u32.f32", W, "w", float_u32(FA))                                                                 \
  X(F64_F32, "cvt.f64.f32", G, "w", (double)FA)                                                                        \
  X(F32_F64, "cvt.f32.f64", F, "l", (float)GA)                                                                         \
  X(F32_F16, "cvt.f32.f16", F, "h", HF(A))                                                                             \
  X(F16_F32, "cvt.f16.f32", H, "w", float_half(FA))                                                                    \
  X(F32_BF16, "cvt.f32.bf16", F, "h", BF(A))                                                                           \
  X(BF16_F32, "cvt.bf16.f32", H, "w", float_bf16(FA))                                                                  \
  X(TF32_F32, "cvt.rna.tf32.f32", W, "w", float_tf32(FA))                                                              \
  X(F16X2_F32, "cvt.f16x2.f32", W, "ww", HALF2(FB, FA))                                                                \
  X(BF16X2_F32, "cvt.bf16x2.f32", W, "ww", BF2(FB, FA))                                                                \
  X(SAT_F32, "cvt.sat.f32.f32", F, "w", saturate(FA))

/* Predicates: 32 lanes at once. PA, PB, PK: masks. */
#define PTX_PREDICATE_OPS(X)                                                                                           \
  X(MOV_PRED, "mov.pred", "p", PA)                                                                                     \
  X(NOT_PRED, "not.pred", "p", ~PA)                                                                                    \
  X(AND_PRED, "and.pred", "pp", PA &PB)                                                                                \
  X(OR_PRED, "or.pred", "pp", PA | PB)                                                                                 \
  X(XOR_PRED, "xor.pred", "pp", PA ^ PB)

enum {
  O_BEFORE_ARITHMETIC = O_FIRST_ARITHMETIC - 1,
#define X(name, text, result, operands, expression) O_##name,
  PTX_ARITHMETIC(X)
#undef X
#define X(name, text, operands, expression) O_##name,
      PTX_PREDICATE_OPS(X)
#undef X
          N_OPS
};

/* Ins.mode of a comparison: negated; combined with the predicate c (its own negation), then q = ext, or -1. */
enum { CMP_NOT = 1, CMP_AND = 2, CMP_OR = 4, CMP_XOR = 8, CMP_C_NOT = 16 };

typedef struct {
  const char *spellings;
  char result;
  const char *operands;
} OpRow;
extern const OpRow ptx_op_rows[]; /* by op, less O_FIRST_ARITHMETIC */

#endif
