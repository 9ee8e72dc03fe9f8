/* The PTX machine on kernels of a few lines, whose counts and results are worked out by hand. */
#include "tests/support/test.h"
#include "kernels/ptx/ptx.h"

#define HEAD ".version 7.2\n.target sm_80\n.address_size 64\n"
#define BODY(text)                                                                                                     \
  HEAD ".visible .entry k(.param .u64 out) {\n"                                                                        \
       ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .f32 %f<20>; .reg .b64 %d<20>;\n"                    \
       ".shared .align 16 .b8 sh[4096];\n"                                                                             \
       "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d2, %d0, %d1;\n" text "\n}\n"

enum { N = 64 };

static uint32_t out[N];
static PtxTotals totals;

/* Runs the entry with one block of `threads` on N words of zeros. */
static Status run(const char *text, int threads, Error *error) {
  PtxModule *module = NULL;
  PtxKernel *kernel = NULL;
  PtxResult result = {0};
  memset(out, 0, sizeof out);
  Status status = ptx_module_load(ALL_OF(text), "t.ptx", &module, error);
  if (!status) status = ptx_kernel_new(module, 0, &kernel, error);
  if (!status) {
    const PtxArgument argument = {.kind = PTX_BUFFER, .bytes = out, .n_bytes = sizeof out, .name = "out"};
    const PtxLaunch launch = {.block = {threads}, .arguments = &argument, .n_arguments = 1, .max_lanes = 1 << 25};
    status = ptx_run(kernel, &launch, &result, error);
  }
  totals = result.totals;
  ptx_result_free(&result);
  ptx_kernel_free(kernel);
  ptx_module_free(module);
  return status;
}

static void runs(const char *text, int threads) { must(run(text, threads, fresh_error())); }
static void refused(const char *text, Status status, const char *message) {
  must_refuse(run(text, 32, fresh_error()), status, message);
}

/* What is not known, or does not fit, is refused with its line and its word. */
TEST(test_refusals) {
  refused(BODY("tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [t, {%f4,%f5}];"), STATUS_BAD_FILE,
          "t.ptx:8: 'tex.2d.v4.f32.f32' is not modelled");
  refused(BODY("add.s64 %d3, %d0, %r0;"), STATUS_BAD_FILE, "t.ptx:8: '%r0' has 32 bits, where add.s64 takes 64");
  refused(BODY("add.s32 %r1, %r0, %p0;"), STATUS_BAD_FILE, "'%p0' is a predicate, where add.s32 takes 32 bits");
  refused(BODY("add.s32 %r1, %r99, 1;"), STATUS_BAD_FILE, "'%r99' is no register that is declared here");
  refused(BODY("bra nowhere;"), STATUS_BAD_FILE, "'nowhere' is no label here");
  refused(BODY("ld.global.v3.u32 {%r1,%r2,%r3}, [%d0];"), STATUS_BAD_FILE, "'v3' is a suffix that is not modelled");
  refused(HEAD ".visible .entry k(.param .u64 out) {\nret\n}\n", STATUS_BAD_FILE, "'}' where ';' is meant");
  refused("hello", STATUS_BAD_FILE, "t.ptx:1: 'hello' is not known here");
  refused(".version 7.2\n.target sm_100\n", STATUS_BAD_FILE, "'sm_100' is not modelled");
}

/* Lanes part at an odd-even branch, meet again, and each has its own result. */
TEST(test_divergence) {
  runs(BODY("and.b32 %r1, %r0, 1; setp.eq.s32 %p0, %r1, 0; mov.u32 %r2, 100;\n"
            "@%p0 bra even; add.s32 %r2, %r0, 1000; bra.uni both;\n"
            "even: add.s32 %r2, %r0, 2000;\n"
            "both: st.global.u32 [%d2], %r2; ret;"),
       32);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], i + (i % 2 ? 1000 : 2000));
  assert_int_equal(totals.divergent_branches, 1);
  assert_int_equal(totals.by_kind[PTX_GLOBAL_STORE].requests, 1); /* together again */
  assert_int_equal(totals.by_kind[PTX_GLOBAL_STORE].sectors, 4);
}

/* As clang may lay them out: the place where two branches meet lies before one of them, in a loop of three turns. */
TEST(test_blocks_out_of_order) {
  runs(BODY("and.b32 %r1, %r0, 1; setp.eq.s32 %p0, %r1, 0; mov.u32 %r3, 0; bra.uni turn;\n"
            "both: st.global.u32 [%d2], %r2; add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, 3;\n"
            "@%p1 bra turn; ret;\n"
            "turn: mov.u32 %r2, %r3; @!%p0 bra both;\n"
            "bra.uni odd;\n"
            "odd: add.s32 %r2, %r0, 2000; bra.uni both;"),
       32);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], i % 2 ? 2 : i + 2000);
  assert_int_equal(totals.by_kind[PTX_GLOBAL_STORE].requests, 3); /* all lanes together, each turn */
  assert_int_equal(totals.by_kind[PTX_GLOBAL_STORE].sectors, 12);
  assert_int_equal(totals.divergent_branches, 3);
}

/* Predicates that are constants; LLVM writes true as -1. */
TEST(test_constant_predicates) {
  runs(
      BODY("mov.pred %p1, -1; mov.pred %p2, 0; mov.u32 %r1, 1; @%p1 add.s32 %r1, %r1, 10; @%p2 add.s32 %r1, %r1, 100;\n"
           "st.global.u32 [%d2], %r1; ret;"),
      32);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], 11);
}

/* Two warps reverse an array through shared memory; without conflicts, then with lanes 128 bytes apart: one bank. */
TEST(test_shared_memory) {
  runs(BODY("mov.u32 %r1, sh; shl.b32 %r2, %r0, 2; add.s32 %r3, %r1, %r2; st.shared.u32 [%r3], %r0;\n"
            "bar.sync 0; sub.s32 %r4, 252, %r2; add.s32 %r5, %r1, %r4; ld.shared.u32 %r6, [%r5];\n"
            "st.global.u32 [%d2], %r6; ret;"),
       64);
  for (uint32_t i = 0; i < 64; i++) assert_int_equal(out[i], 63 - i);
  assert_int_equal(totals.by_kind[PTX_SHARED_LOAD].wavefronts, 2);
  assert_int_equal(totals.by_kind[PTX_SHARED_LOAD].conflicts, 0);
  assert_int_equal(totals.barriers, 1);
  runs(BODY("mov.u32 %r1, sh; shl.b32 %r2, %r0, 7; add.s32 %r3, %r1, %r2; st.shared.u32 [%r3], %r0; ret;"), 32);
  assert_int_equal(totals.by_kind[PTX_SHARED_STORE].wavefronts, 32);
  assert_int_equal(totals.by_kind[PTX_SHARED_STORE].conflicts, 31);
}

/* Four loads that fill 16 aligned bytes are one request; a broadcast of 16 bytes has two wavefronts; a store between
 * parts them. */
TEST(test_merged_loads) {
  runs(BODY("mov.u32 %r1, sh; ld.shared.u32 %r2, [%r1]; ld.shared.u32 %r3, [%r1+4];\n"
            "ld.shared.u32 %r4, [%r1+8]; ld.shared.u32 %r5, [%r1+12]; ret;"),
       32);
  assert_int_equal(totals.by_kind[PTX_SHARED_LOAD].requests, 1);
  assert_int_equal(totals.by_kind[PTX_SHARED_LOAD].wavefronts, 2);
  runs(BODY("mov.u32 %r1, sh; ld.shared.u32 %r2, [%r1]; st.shared.u32 [%r1+64], %r2; ld.shared.u32 %r3, [%r1+4]; ret;"),
       32);
  assert_int_equal(totals.by_kind[PTX_SHARED_LOAD].requests, 2);
}

/* A lock that each lane takes in turn, and a loop without an end. */
TEST(test_spinning) {
  runs(BODY("take: atom.global.cas.b32 %r1, [%d0], 0, 1; setp.ne.s32 %p0, %r1, 0; @%p0 bra take;\n"
            "ld.volatile.global.u32 %r2, [%d0+4]; add.s32 %r2, %r2, 1; st.volatile.global.u32 [%d0+4], %r2;\n"
            "atom.global.exch.b32 %r3, [%d0], 0; ret;"),
       32);
  assert_int_equal(out[1], 32);
  refused(BODY("again: bra again;"), STATUS_TOO_LARGE,
          "t.ptx:8: 33554432 instructions of lanes ran: the budget is spent");
  refused(BODY("setp.ne.s32 %p0, %r0, 3; @%p0 bar.sync 0, 64; ret;"), STATUS_BAD_REQUEST,
          "waits at a barrier for a thread that never comes");
}

/* Outside every buffer: the thread, the place. */
TEST(test_out_of_bounds) {
  refused(BODY("ld.global.u32 %r1, [%d2+132]; ret;"), STATUS_BAD_REQUEST,
          "thread 31 of block 0 reads 0 bytes past the end of out");
  refused(BODY("ld.global.u32 %r1, [%d2+2]; ret;"), STATUS_BAD_REQUEST, "no multiple of 4");
  refused(BODY("mov.u32 %r1, 4096; ld.shared.u32 %r2, [%r1]; ret;"), STATUS_BAD_REQUEST,
          "shared memory at byte 4096; the block has 4096 bytes");
}

/* fma.rm of expf's reduction, conversions and halves: bits worked out by hand. */
TEST(test_numbers) {
  runs(BODY("mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f33000000; fma.rm.f32 %f2, %f1, 0fBF800000, %f0; st.global.f32 "
            "[%d0], %f2;\n"
            "add.rp.f32 %f3, %f0, %f1; st.global.f32 [%d0+4], %f3;\n"
            "cvt.rn.f16.f32 %h0, 0f3F801000; cvt.u32.u16 %r1, %h0; st.global.u32 [%d0+8], %r1;\n"
            "cvt.rzi.s32.f32 %r2, 0fCF800000; st.global.u32 [%d0+12], %r2;\n"
            "mov.u32 %r3, 0; div.u32 %r4, %r0, %r3; st.global.u32 [%d0+16], %r4;\n"
            "cvt.s32.s8 %r5, 200; st.global.u32 [%d0+20], %r5;\n"
            "cvt.rz.f32.s32 %f4, 16777219; st.global.f32 [%d0+24], %f4; cvt.rp.f32.s32 %f4, -16777219; st.global.f32 "
            "[%d0+28], %f4;\n"
            "cvt.rm.f32.f64 %f4, 0d3FEFFFFFFFFFF000; st.global.f32 [%d0+32], %f4;\n"
            "cvt.rn.f16.f64 %h0, 0d3FF0020000000001; cvt.rm.f16.f32 %h1, 0fBF801001; mov.b32 %r1, {%h0, %h1};\n"
            "st.global.u32 [%d0+36], %r1; mov.b64 %d3, 0dFFF8000000000001; cvt.rzi.s32.f64 %r2, %d3;\n"
            "st.global.u32 [%d0+40], %r2; cvt.u32.s8 %d3, %r5; st.global.u64 [%d0+48], %d3;\n"
            "cvt.sat.u8.s64 %r2, -5; cvt.rz.f16.u64 %h0, %d3; cvt.u32.u16 %r3, %h0; st.global.v2.u32 [%d0+56], {%r2, "
            "%r3}; ret;"),
       1);
  static const uint32_t BITS[16] = {
      0x3f7fffff,                         /* 1 - 2^-25, down */
      0x3f800001,                         /* 1 + 2^-25, up */
      0x3c00,                             /* a tie goes to even */
      0x80000000,                         /* -2^32 saturates */
      0xffffffff,                         /* by zero */
      0xffffffc8, 0x4b800001,             /* 2^24 + 3: to + 2, and + 4 to nearest */
      0xcb800001, 0x3f7fffff,             /* 1 - 2^-41, down */
      0xbc013c01,                         /* rounded once: above a tie; these, too, as on an H200 */
      0x80000000, 0,          0xffffffc8, /* 200 as s8 and u32, then by u32's sign */
      0,          0,          0x7bff,
  };
  EACH (k, BITS) assert_int_equal(out[k], BITS[k]);
  refused(BODY("cvt.rz.f64.s64 %d0, %d1; ret;"), STATUS_BAD_FILE, "this rounding of these types");
}

/* Lanes that add to one address send its sector again. */
TEST(test_reductions) {
  runs(BODY("and.b32 %r1, %r0, 3; mul.wide.u32 %d3, %r1, 32; add.s64 %d4, %d0, %d3;\n"
            "red.global.add.u32 [%d4], 1; ret;"),
       32);
  assert_int_equal(out[0], 8);
  assert_int_equal(out[24], 8);
  assert_int_equal(totals.by_kind[PTX_GLOBAL_REDUCE].sectors, 32); /* 4 sectors, 8 lanes at one address of each */
}
