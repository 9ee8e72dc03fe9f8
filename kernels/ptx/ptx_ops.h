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

#define PTX_ARITHMETIC(X)                                                                                              \
  X(MOV32, "mov.b32 mov.u32 mov.s32 mov.f32 abs.u32", W, "w", A)                                                       \
  X(MOV64, "mov.b64 mov.u64 mov.s64 mov.f64", L, "l", LA)                                                              \
  X(MOV16, "mov.b16 mov.u16 mov.s16 mov.f16 mov.bf16", H, "h", A)                                                      \
  X(ADD32, "add.s32 add.u32 add.b32", W, "ww", A + B)                                                                  \
  X(SUB32, "sub.s32 sub.u32 sub.b32", W, "ww", A - B)                                                                  \
  X(MUL32, "mul.s32 mul.u32", W, "ww", A *B)                                                                           \
  X(MAD32, "mad.s32 mad.u32", W, "www", A *B + C)                                                                      \
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
  X(ADD64, "add.s64 add.u64 add.b64", L, "ll", LA + LB)                                                                \
  X(SUB64, "sub.s64 sub.u64 sub.b64", L, "ll", LA - LB)                                                                \
  X(MUL64, "mul.s64 mul.u64", L, "ll", LA *LB)                                                                         \
  X(MAD64, "mad.s64 mad.u64", L, "lll", LA *LB + LC)                                                                   \
  X(MULHI_S64, "mul.hi.s64", L, "ll", mul_high_long_signed(TA, TB))                                                    \
  X(MULHI_U64, "mul.hi.u64", L, "ll", mul_high_long(LA, LB))                                                           \
  X(ADD16, "add.s16 add.u16", H, "hh", A + B)                                                                          \
  X(SUB16, "sub.s16 sub.u16", H, "hh", A - B)                                                                          \
  X(MUL16, "mul.s16 mul.u16", H, "hh", A *B)                                                                           \
  X(MAD16, "mad.s16 mad.u16", H, "hhh", A *B + C)                                                                      \
  X(MULHI_S16, "mul.hi.s16", H, "hh", (uint32_t)(HA * HB) >> 16)                                                       \
  X(MULHI_U16, "mul.hi.u16", H, "hh", (A * B) >> 16)                                                                   \
  X(MULWIDE_S16, "mul.wide.s16", W, "hh", (uint32_t)(HA * HB))                                                         \
  X(MULWIDE_U16, "mul.wide.u16", W, "hh", A *B)                                                                        \
  X(MADWIDE_S16, "mad.wide.s16", W, "hhw", (uint32_t)(HA * HB) + C)                                                    \
  X(MADWIDE_U16, "mad.wide.u16", W, "hhw", A *B + C)                                                                   \
  X(DIV_S32, "div.s32", W, "ww", div_s32(SA, SB))                                                                      \
  X(DIV_U32, "div.u32", W, "ww", div_u32(A, B))                                                                        \
  X(REM_S32, "rem.s32", W, "ww", rem_s32(SA, SB))                                                                      \
  X(REM_U32, "rem.u32", W, "ww", rem_u32(A, B))                                                                        \
  X(DIV_S64, "div.s64", L, "ll", div_s64(TA, TB))                                                                      \
  X(DIV_U64, "div.u64", L, "ll", div_u64(LA, LB))                                                                      \
  X(REM_S64, "rem.s64", L, "ll", rem_s64(TA, TB))                                                                      \
  X(REM_U64, "rem.u64", L, "ll", rem_u64(LA, LB))                                                                      \
  X(DIV_S16, "div.s16", H, "hh", div_s32(HA, HB))                                                                      \
  X(DIV_U16, "div.u16", H, "hh", div_u32(A, B))                                                                        \
  X(REM_S16, "rem.s16", H, "hh", rem_s32(HA, HB))                                                                      \
  X(REM_U16, "rem.u16", H, "hh", rem_u32(A, B))                                                                        \
  X(MIN_S32, "min.s32", W, "ww", (uint32_t)(SA < SB ? SA : SB))                                                        \
  X(MAX_S32, "max.s32", W, "ww", (uint32_t)(SA > SB ? SA : SB))                                                        \
  X(MIN_U32, "min.u32", W, "ww", A < B ? A : B)                                                                        \
  X(MAX_U32, "max.u32", W, "ww", A > B ? A : B)                                                                        \
  X(MIN_S64, "min.s64", L, "ll", (uint64_t)(TA < TB ? TA : TB))                                                        \
  X(MAX_S64, "max.s64", L, "ll", (uint64_t)(TA > TB ? TA : TB))                                                        \
  X(MIN_U64, "min.u64", L, "ll", LA < LB ? LA : LB)                                                                    \
  X(MAX_U64, "max.u64", L, "ll", LA > LB ? LA : LB)                                                                    \
  X(MIN_S16, "min.s16", H, "hh", HA < HB ? A : B)                                                                      \
  X(MAX_S16, "max.s16", H, "hh", HA > HB ? A : B)                                                                      \
  X(MIN_U16, "min.u16", H, "hh", A < B ? A : B)                                                                        \
  X(MAX_U16, "max.u16", H, "hh", A > B ? A : B)                                                                        \
  X(ABS_S32, "abs.s32", W, "w", SA < 0 ? 0u - A : A)                                                                   \
  X(NEG_S32, "neg.s32", W, "w", 0u - A)                                                                                \
  X(ABS_S64, "abs.s64", L, "l", TA < 0 ? 0u - LA : LA)                                                                 \
  X(NEG_S64, "neg.s64", L, "l", 0u - LA)                                                                               \
  X(ABS_S16, "abs.s16", H, "h", HA < 0 ? 0u - A : A)                                                                   \
  X(NEG_S16, "neg.s16", H, "h", 0u - A)                                                                                \
  X(SAD_S32, "sad.s32", W, "www", C + (SA < SB ? B - A : A - B))                                                       \
  X(SAD_U32, "sad.u32", W, "www", C + (A < B ? B - A : A - B))                                                         \
  X(AND32, "and.b32", W, "ww", A &B)                                                                                   \
  X(OR32, "or.b32", W, "ww", A | B)                                                                                    \
  X(XOR32, "xor.b32", W, "ww", A ^ B)                                                                                  \
  X(NOT32, "not.b32", W, "w", ~A)                                                                                      \
  X(CNOT32, "cnot.b32", W, "w", A == 0)                                                                                \
  X(AND64, "and.b64", L, "ll", LA &LB)                                                                                 \
  X(OR64, "or.b64", L, "ll", LA | LB)                                                                                  \
  X(XOR64, "xor.b64", L, "ll", LA ^ LB)                                                                                \
  X(NOT64, "not.b64", L, "l", ~LA)                                                                                     \
  X(AND16, "and.b16", H, "hh", A &B)                                                                                   \
  X(OR16, "or.b16", H, "hh", A | B)                                                                                    \
  X(XOR16, "xor.b16", H, "hh", A ^ B)                                                                                  \
  X(NOT16, "not.b16", H, "h", ~A)                                                                                      \
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
  X(ADD_F32, "add.f32", F, "ww", FA + FB)                                                                              \
  X(SUB_F32, "sub.f32", F, "ww", FA - FB)                                                                              \
  X(MUL_F32, "mul.f32", F, "ww", FA *FB)                                                                               \
  X(FMA_F32, "fma.f32 mad.f32", F, "www", fmaf(FA, FB, FC))                                                            \
  X(FMA_RZ_F32, "fma.rz.f32", F, "www", fma_directed(FA, FB, FC, 0))                                                   \
  X(FMA_RM_F32, "fma.rm.f32", F, "www", fma_directed(FA, FB, FC, -1))                                                  \
  X(FMA_RP_F32, "fma.rp.f32", F, "www", fma_directed(FA, FB, FC, 1))                                                   \
  X(ADD_RZ_F32, "add.rz.f32", F, "ww", fma_directed(FA, 1, FB, 0))                                                     \
  X(ADD_RM_F32, "add.rm.f32", F, "ww", fma_directed(FA, 1, FB, -1))                                                    \
  X(ADD_RP_F32, "add.rp.f32", F, "ww", fma_directed(FA, 1, FB, 1))                                                     \
  X(SUB_RZ_F32, "sub.rz.f32", F, "ww", fma_directed(FA, 1, -FB, 0))                                                    \
  X(SUB_RM_F32, "sub.rm.f32", F, "ww", fma_directed(FA, 1, -FB, -1))                                                   \
  X(SUB_RP_F32, "sub.rp.f32", F, "ww", fma_directed(FA, 1, -FB, 1))                                                    \
  X(MUL_RZ_F32, "mul.rz.f32", F, "ww", fma_directed(FA, FB, 0, 0))                                                     \
  X(MUL_RM_F32, "mul.rm.f32", F, "ww", fma_directed(FA, FB, 0, -1))                                                    \
  X(MUL_RP_F32, "mul.rp.f32", F, "ww", fma_directed(FA, FB, 0, 1))                                                     \
  X(DIV_F32, "div.f32", F, "ww", FA / FB)                                                                              \
  X(RCP_F32, "rcp.f32", F, "w", 1 / FA)                                                                                \
  X(SQRT_F32, "sqrt.f32", F, "w", sqrtf(FA))                                                                           \
  X(RSQRT_F32, "rsqrt.f32", F, "w", 1 / sqrtf(FA))                                                                     \
  X(SIN_F32, "sin.f32", F, "w", sinf(FA))                                                                              \
  X(COS_F32, "cos.f32", F, "w", cosf(FA))                                                                              \
  X(LG2_F32, "lg2.f32", F, "w", log2f(FA))                                                                             \
  X(EX2_F32, "ex2.f32", F, "w", ex2(FA))                                                                               \
  X(TANH_F32, "tanh.f32", F, "w", tanhf(FA))                                                                           \
  X(MIN_F32, "min.f32", F, "ww", min_f32(FA, FB))                                                                      \
  X(MAX_F32, "max.f32", F, "ww", max_f32(FA, FB))                                                                      \
  X(MIN_NAN_F32, "min.NaN.f32", F, "ww", min_nan_f32(FA, FB))                                                          \
  X(MAX_NAN_F32, "max.NaN.f32", F, "ww", max_nan_f32(FA, FB))                                                          \
  X(ABS_F32, "abs.f32", W, "w", A & 0x7fffffffu)                                                                       \
  X(NEG_F32, "neg.f32", W, "w", A ^ 0x80000000u)                                                                       \
  X(COPYSIGN_F32, "copysign.f32", W, "ww", (B & 0x7fffffffu) | (A & 0x80000000u))                                      \
  X(SAT_F32, "", F, "w", saturate(FA))                                                                                 \
  X(TESTP_FINITE, "testp.finite.f32", P, "w", (A & 0x7f800000u) != 0x7f800000u)                                        \
  X(TESTP_INFINITE, "testp.infinite.f32", P, "w", (A & 0x7fffffffu) == 0x7f800000u)                                    \
  X(TESTP_NAN, "testp.notanumber.f32", P, "w", (A & 0x7fffffffu) > 0x7f800000u)                                        \
  X(ADD_F64, "add.f64", G, "ll", GA + GB)                                                                              \
  X(SUB_F64, "sub.f64", G, "ll", GA - GB)                                                                              \
  X(MUL_F64, "mul.f64", G, "ll", GA *GB)                                                                               \
  X(FMA_F64, "fma.f64 mad.f64", G, "lll", fma(GA, GB, GC))                                                             \
  X(DIV_F64, "div.f64", G, "ll", GA / GB)                                                                              \
  X(RCP_F64, "rcp.f64", G, "l", 1 / GA)                                                                                \
  X(SQRT_F64, "sqrt.f64", G, "l", sqrt(GA))                                                                            \
  X(RSQRT_F64, "rsqrt.f64", G, "l", 1 / sqrt(GA))                                                                      \
  X(MIN_F64, "min.f64", G, "ll", min_f64(GA, GB))                                                                      \
  X(MAX_F64, "max.f64", G, "ll", max_f64(GA, GB))                                                                      \
  X(ABS_F64, "abs.f64", L, "l", LA & 0x7fffffffffffffffu)                                                              \
  X(NEG_F64, "neg.f64", L, "l", LA ^ 0x8000000000000000u)                                                              \
  X(COPYSIGN_F64, "copysign.f64", L, "ll", (LB & 0x7fffffffffffffffu) | (LA & 0x8000000000000000u))                    \
  X(ADD_F16, "add.f16", H, "hh", float_half(HF(A) + HF(B)))                                                            \
  X(SUB_F16, "sub.f16", H, "hh", float_half(HF(A) - HF(B)))                                                            \
  X(MUL_F16, "mul.f16", H, "hh", float_half(HF(A) * HF(B)))                                                            \
  X(FMA_F16, "fma.f16", H, "hhh", float_half((float)((double)HF(A) * HF(B) + HF(C))))                                  \
  X(NEG_F16, "neg.f16 neg.bf16", H, "h", A ^ 0x8000u)                                                                  \
  X(ABS_F16, "abs.f16 abs.bf16", H, "h", A & 0x7fffu)                                                                  \
  X(MIN_F16, "min.f16", H, "hh", float_half(min_f32(HF(A), HF(B))))                                                    \
  X(MAX_F16, "max.f16", H, "hh", float_half(max_f32(HF(A), HF(B))))                                                    \
  X(EX2_F16, "ex2.f16", H, "h", float_half(ex2(HF(A))))                                                                \
  X(TANH_F16, "tanh.f16", H, "h", float_half(tanhf(HF(A))))                                                            \
  X(ADD_F16X2, "add.f16x2", W, "ww", HALF2(HF(A) + HF(B), HF(A >> 16) + HF(B >> 16)))                                  \
  X(SUB_F16X2, "sub.f16x2", W, "ww", HALF2(HF(A) - HF(B), HF(A >> 16) - HF(B >> 16)))                                  \
  X(MUL_F16X2, "mul.f16x2", W, "ww", HALF2(HF(A) * HF(B), HF(A >> 16) * HF(B >> 16)))                                  \
  X(FMA_F16X2, "fma.f16x2", W, "www",                                                                                  \
    HALF2((float)((double)HF(A) * HF(B) + HF(C)), (float)((double)HF(A >> 16) * HF(B >> 16) + HF(C >> 16))))           \
  X(NEG_F16X2, "neg.f16x2 neg.bf16x2", W, "w", A ^ 0x80008000u)                                                        \
  X(ABS_F16X2, "abs.f16x2 abs.bf16x2", W, "w", A & 0x7fff7fffu)                                                        \
  X(MIN_F16X2, "min.f16x2", W, "ww", HALF2(min_f32(HF(A), HF(B)), min_f32(HF(A >> 16), HF(B >> 16))))                  \
  X(MAX_F16X2, "max.f16x2", W, "ww", HALF2(max_f32(HF(A), HF(B)), max_f32(HF(A >> 16), HF(B >> 16))))                  \
  X(EX2_F16X2, "ex2.f16x2", W, "w", HALF2(ex2(HF(A)), ex2(HF(A >> 16))))                                               \
  X(TANH_F16X2, "tanh.f16x2", W, "w", HALF2(tanhf(HF(A)), tanhf(HF(A >> 16))))                                         \
  X(ADD_BF16, "add.bf16", H, "hh", float_bf16(BF(A) + BF(B)))                                                          \
  X(SUB_BF16, "sub.bf16", H, "hh", float_bf16(BF(A) - BF(B)))                                                          \
  X(MUL_BF16, "mul.bf16", H, "hh", float_bf16(BF(A) * BF(B)))                                                          \
  X(FMA_BF16, "fma.bf16", H, "hhh", float_bf16((float)((double)BF(A) * BF(B) + BF(C))))                                \
  X(MIN_BF16, "min.bf16", H, "hh", float_bf16(min_f32(BF(A), BF(B))))                                                  \
  X(MAX_BF16, "max.bf16", H, "hh", float_bf16(max_f32(BF(A), BF(B))))                                                  \
  X(EX2_BF16, "ex2.bf16", H, "h", float_bf16(ex2(BF(A))))                                                              \
  X(TANH_BF16, "tanh.bf16", H, "h", float_bf16(tanhf(BF(A))))                                                          \
  X(ADD_BF16X2, "add.bf16x2", W, "ww", BF2(BF(A) + BF(B), BF(A >> 16) + BF(B >> 16)))                                  \
  X(SUB_BF16X2, "sub.bf16x2", W, "ww", BF2(BF(A) - BF(B), BF(A >> 16) - BF(B >> 16)))                                  \
  X(MUL_BF16X2, "mul.bf16x2", W, "ww", BF2(BF(A) * BF(B), BF(A >> 16) * BF(B >> 16)))                                  \
  X(FMA_BF16X2, "fma.bf16x2", W, "www",                                                                                \
    BF2((float)((double)BF(A) * BF(B) + BF(C)), (float)((double)BF(A >> 16) * BF(B >> 16) + BF(C >> 16))))             \
  X(MIN_BF16X2, "min.bf16x2", W, "ww", BF2(min_f32(BF(A), BF(B)), min_f32(BF(A >> 16), BF(B >> 16))))                  \
  X(MAX_BF16X2, "max.bf16x2", W, "ww", BF2(max_f32(BF(A), BF(B)), max_f32(BF(A >> 16), BF(B >> 16))))                  \
  X(EX2_BF16X2, "ex2.bf16x2", W, "w", BF2(ex2(BF(A)), ex2(BF(A >> 16))))                                               \
  X(TANH_BF16X2, "tanh.bf16x2", W, "w", BF2(tanhf(BF(A)), tanhf(BF(A >> 16))))                                         \
  /* mov of vectors */                                                                                                 \
  X(PACK64, "", L, "ww", (uint64_t)B << 32 | A)                                                                        \
  X(PACK32, "", W, "hh", (B & 0xffff) << 16 | (A & 0xffff))                                                            \
  X(HIGH64, "", W, "l", (uint32_t)(LA >> 32))                                                                          \
  X(HIGH32, "", H, "w", A >> 16)                                                                                       \
  X(LOW16, "", H, "w", A)                                                                                              \
  X(BYTE32, "", H, "w", (A >> (K & 31)) & 255)                                                                         \
  X(PACK8, "", W, "wh", A | (B & 255) << (K & 31))                                                                     \
  /* cvt */                                                                                                            \
  X(EXT_S8, "", W, "w", (uint32_t)(int8_t)A)                                                                           \
  X(EXT_U8, "", W, "w", A & 255)                                                                                       \
  X(EXT_S16, "", W, "w", (uint32_t)(int16_t)A)                                                                         \
  X(EXT_U16, "", W, "w", A & 0xffff)                                                                                   \
  X(EXT_S32, "", L, "w", (uint64_t)(int64_t)SA)                                                                        \
  X(EXT_U32, "", L, "w", A)                                                                                            \
  X(TRUNC64, "", W, "l", (uint32_t)LA)                                                                                 \
  X(SAT_S32_S64, "", W, "l", clamp_s(TA, INT32_MIN, INT32_MAX))                                                        \
  X(SAT_INT, "", W, "w", clamp_s(SA, (int32_t)K, (int32_t)(K >> 32)))                                                  \
  X(SAT_UINT, "", W, "w", clamp_s(A, (int32_t)K, (int32_t)(K >> 32)))                                                  \
  X(F32_S32, "", F, "w", (float)SA)                                                                                    \
  X(F32_U32, "", F, "w", (float)A)                                                                                     \
  X(F32_S64, "", F, "l", (float)TA)                                                                                    \
  X(F32_U64, "", F, "l", (float)LA)                                                                                    \
  X(F64_S32, "", G, "w", (double)SA)                                                                                   \
  X(F64_U32, "", G, "w", (double)A)                                                                                    \
  X(F64_S64, "", G, "l", (double)TA)                                                                                   \
  X(F64_U64, "", G, "l", (double)LA)                                                                                   \
  X(S32_F32, "", W, "w", (uint32_t)float_s32(FA))                                                                      \
  X(U32_F32, "", W, "w", float_u32(FA))                                                                                \
  X(S64_F32, "", L, "w", (uint64_t)double_s64(FA))                                                                     \
  X(U64_F32, "", L, "w", double_u64(FA))                                                                               \
  X(S32_F64, "", W, "l", (uint32_t)double_s32(GA))                                                                     \
  X(U32_F64, "", W, "l", double_u32(GA))                                                                               \
  X(S64_F64, "", L, "l", (uint64_t)double_s64(GA))                                                                     \
  X(U64_F64, "", L, "l", double_u64(GA))                                                                               \
  X(F64_F32, "", G, "w", (double)FA)                                                                                   \
  X(F32_F64, "", F, "l", (float)GA)                                                                                    \
  X(RNI_F32, "", F, "w", rintf(FA))                                                                                    \
  X(RZI_F32, "", F, "w", truncf(FA))                                                                                   \
  X(RMI_F32, "", F, "w", floorf(FA))                                                                                   \
  X(RPI_F32, "", F, "w", ceilf(FA))                                                                                    \
  X(RNI_F64, "", G, "l", rint(GA))                                                                                     \
  X(RZI_F64, "", G, "l", trunc(GA))                                                                                    \
  X(RMI_F64, "", G, "l", floor(GA))                                                                                    \
  X(RPI_F64, "", G, "l", ceil(GA))                                                                                     \
  X(F32_F16, "", F, "h", HF(A))                                                                                        \
  X(F16_F32, "", H, "w", float_half(FA))                                                                               \
  X(F16_F32_RZ, "", H, "w", float_half_rz(FA))                                                                         \
  X(F32_BF16, "", F, "h", BF(A))                                                                                       \
  X(BF16_F32, "", H, "w", float_bf16(FA))                                                                              \
  X(BF16_F32_RZ, "", H, "w", A >> 16)                                                                                  \
  X(TF32_F32, "", W, "w", float_tf32(FA))                                                                              \
  X(F16X2_F32, "", W, "ww", HALF2(FB, FA))                                                                             \
  X(BF16X2_F32, "", W, "ww", BF2(FB, FA))                                                                              \
  X(F16X2_F32_RZ, "", W, "ww", H2(float_half_rz(FB), float_half_rz(FA)))                                               \
  X(BF16X2_F32_RZ, "", W, "ww", H2(B >> 16, A >> 16))                                                                  \
  X(RELU_F16X2, "", W, "w", H2(A & 0x8000 ? 0u : A, A >> 31 ? 0u : A >> 16))                                           \
  X(E4M3X2_F32, "", H, "ww", float_e4m3(FB) | float_e4m3(FA) << 8)                                                     \
  X(E5M2X2_F32, "", H, "ww", float_e5m2(FB) | float_e5m2(FA) << 8)                                                     \
  X(F16X2_E4M3X2, "", W, "h", HALF2(e4m3_float(A), e4m3_float(A >> 8)))                                                \
  X(F16X2_E5M2X2, "", W, "h", H2(A << 8 & 0xff00, A & 0xff00))                                                         \
  X(E4M3X2_F16X2, "", H, "w", float_e4m3(HF(A)) | float_e4m3(HF(A >> 16)) << 8)                                        \
  X(E5M2X2_F16X2, "", H, "w", float_e5m2(HF(A)) | float_e5m2(HF(A >> 16)) << 8)                                        \
  /* setp, set: a negated or swapped one is another's */                                                               \
  X(EQ32, "", P, "ww", A == B)                                                                                         \
  X(LT_S32, "", P, "ww", SA < SB)                                                                                      \
  X(LE_S32, "", P, "ww", SA <= SB)                                                                                     \
  X(LT_U32, "", P, "ww", A < B)                                                                                        \
  X(LE_U32, "", P, "ww", A <= B)                                                                                       \
  X(EQ64, "", P, "ll", LA == LB)                                                                                       \
  X(LT_S64, "", P, "ll", TA < TB)                                                                                      \
  X(LE_S64, "", P, "ll", TA <= TB)                                                                                     \
  X(LT_U64, "", P, "ll", LA < LB)                                                                                      \
  X(LE_U64, "", P, "ll", LA <= LB)                                                                                     \
  X(EQ16, "", P, "hh", (A & 0xffff) == (B & 0xffff))                                                                   \
  X(LT_S16, "", P, "hh", HA < HB)                                                                                      \
  X(LE_S16, "", P, "hh", HA <= HB)                                                                                     \
  X(LT_U16, "", P, "hh", (A & 0xffff) < (B & 0xffff))                                                                  \
  X(LE_U16, "", P, "hh", (A & 0xffff) <= (B & 0xffff))                                                                 \
  X(EQ_F32, "", P, "ww", FA == FB)                                                                                     \
  X(LT_F32, "", P, "ww", FA < FB)                                                                                      \
  X(LE_F32, "", P, "ww", FA <= FB)                                                                                     \
  X(NUM_F32, "", P, "ww", FA == FA && FB == FB)                                                                        \
  X(NE_F32, "", P, "ww", FA<FB || FA> FB)                                                                              \
  X(EQ_F64, "", P, "ll", GA == GB)                                                                                     \
  X(LT_F64, "", P, "ll", GA < GB)                                                                                      \
  X(LE_F64, "", P, "ll", GA <= GB)                                                                                     \
  X(NUM_F64, "", P, "ll", GA == GA && GB == GB)                                                                        \
  X(NE_F64, "", P, "ll", GA<GB || GA> GB)                                                                              \
  X(EQ_F16, "", P, "hh", HF(A) == HF(B))                                                                               \
  X(LT_F16, "", P, "hh", HF(A) < HF(B))                                                                                \
  X(LE_F16, "", P, "hh", HF(A) <= HF(B))                                                                               \
  X(NUM_F16, "", P, "hh", HF(A) == HF(A) && HF(B) == HF(B))                                                            \
  X(NE_F16, "", P, "hh", HF(A) < HF(B) || HF(A) > HF(B))                                                               \
  X(EQ_BF16, "", P, "hh", BF(A) == BF(B))                                                                              \
  X(LT_BF16, "", P, "hh", BF(A) < BF(B))                                                                               \
  X(LE_BF16, "", P, "hh", BF(A) <= BF(B))                                                                              \
  X(NUM_BF16, "", P, "hh", BF(A) == BF(A) && BF(B) == BF(B))                                                           \
  X(NE_BF16, "", P, "hh", BF(A) < BF(B) || BF(A) > BF(B))

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
