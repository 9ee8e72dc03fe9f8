/* Hopper's instructions in the PTX machine: kernels of a few lines, against plain loops. */
#include "tests/support/test.h"
#include "kernels/ptx/ptx.h"
#include "sim/numbers/precision.h"

/* out: words to write; in: words to read; map: a tensor map of `in`. %r0: the thread; %d0: out; %d1: in; %d2: the map.
 */
#define FIRST                                                                                                          \
  ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 dyn[];\n"                           \
  ".visible .entry k(.param .u64 out, .param .u64 in, .param .align 64 .b8 map[128]) {\n"                              \
  ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .f32 %f<80>; .reg .b64 %d<20>;\n"                         \
  ".shared .align 16 .b8 bar[64];\n"                                                                                   \
  "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; mov.b64 %d3, map; cvta.param.u64 %d2, %d3;\n"                      \
  "mov.u32 %r0, %tid.x; mov.u32 %r1, bar; mov.u32 %r2, dyn;\n"
#define LAST         "\nret;\n}\n"
#define BODY(text)   FIRST text LAST
#define WAIT(parity) WAIT_AT("%r1", parity)
#define WAIT_AT(place, parity)                                                                                         \
  "{ .reg .pred ended; again: mbarrier.try_wait.parity.shared::cta.b64 ended, [" place "], " parity                    \
  "; @ended bra over; bra again; over: }\n"
#define INIT(n)                                                                                                        \
  "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1], " n                                              \
  "; @%p0 fence.mbarrier_init.release.cluster; bar.sync 0;\n"

enum { WORDS = 16384, SHARED = 65536 };

typedef struct {
  const char *text;
  int32_t blocks, threads, cluster;
  const PtxTensorMap *map;
  bool faults;
} Launch;

typedef struct {
  uint32_t out[WORDS], in[WORDS];
  Error error;
  PtxTotals totals;
  int32_t n_faults;
  PtxFault faults[PTX_MAX_FAULTS];
} Memory;

static Status run(const Launch *l, Memory *m) {
  PtxModule *module = NULL;
  PtxKernel *kernel = NULL;
  PtxResult result = {0};
  _Alignas(64) unsigned char map[PTX_TENSOR_MAP_BYTES] = {0};
  PtxArgument arguments[] = {
      {.kind = PTX_BUFFER, .bytes = m->out, .n_bytes = sizeof m->out, .name = "out"},
      {.kind = PTX_BUFFER, .bytes = m->in, .n_bytes = sizeof m->in, .name = "in"},
      {.kind = PTX_SCALAR, .bytes = map, .n_bytes = sizeof map, .name = "map"},
  };
  const PtxLaunch launch = {.grid = {l->blocks},
                            .block = {l->threads},
                            .cluster = {l->cluster},
                            .dynamic_shared_bytes = SHARED,
                            .arguments = arguments,
                            .n_arguments = 3,
                            .max_lanes = 1 << 25,
                            .faults = l->faults};
  Status status = STATUS_OK;
  if (l->map) {
    PtxTensorMap placed = *l->map;
    placed.address += ptx_buffer_address(&launch, 1);
    status = ptx_tensor_map(&placed, map, &m->error);
  }
  if (!status) status = ptx_module_load(ALL_OF(l->text), "t.ptx", &module, &m->error);
  if (!status) status = ptx_kernel_new(module, 0, &kernel, &m->error);
  if (!status) status = ptx_run(kernel, &launch, &result, &m->error);
  if (!status && result.n_faults) status = STATUS_BAD_FILE;
  m->n_faults = result.n_faults;
  memcpy(m->faults, result.faults, sizeof m->faults);
  m->totals = result.totals;
  ptx_result_free(&result);
  ptx_kernel_free(kernel);
  ptx_module_free(module);
  return status;
}

static Memory *memory(void) {
  Memory *m = calloc(1, sizeof *m);
  assert_non_null(m);
  return m;
}

static void right(const Launch *l, Memory *m) { assert_true(!run(l, m)); }

static void is_told(const Launch *l, const char *message) { /* the error, or one of the faults */
  Memory *m = memory();
  assert_true(run(l, m));
  bool found = strstr(m->error.message, message);
  for (int32_t f = 0; f < m->n_faults; f++) found |= strstr(m->faults[f].message, message) != NULL;
  assert_true(found);
  free(m);
}

/* By one thread. */
static void wrong(const char *text, const char *message) {
  is_told(&(Launch){.text = text, .blocks = 1, .threads = 1}, message);
}

/* Warp 1 writes, arrives; warp 0 waits, reads. Twice: the second phase has the other parity. */
TEST(test_mbarrier) {
  Memory *m = memory();
  right(
      &(Launch){
          .text = BODY(
              INIT("32") "@%p0 mbarrier.init.shared::cta.b64 [%r1+8], 32; bar.sync 0; add.s32 %r9, %r1, 8;\n"
                         "shl.b32 %r3, %r0, 2; add.s32 %r4, %r2, %r3; setp.lt.u32 %p1, %r0, 32; @%p1 bra wait;\n"
                         "add.s32 %r5, %r0, 1000; st.shared.u32 [%r4], %r5;\n"
                         "mbarrier.arrive.shared::cta.b64 _, [%r1];\n" WAIT_AT("%r9", "0") //
              "add.s32 %r5, %r0, 2000; st.shared.u32 [%r4], %r5; mbarrier.arrive.shared::cta.b64 %d5, [%r1];\n"
              "bra end; wait:\n" WAIT(
                  "0") "ld.shared.u32 %r5, [%r4+128]; cvt.u64.u32 %d4, %r3;\n"
                       "add.s64 %d4, %d0, %d4; st.global.u32 [%d4], %r5; mbarrier.arrive.shared::cta.b64 _, [%r9];\n" //
              WAIT("1") "ld.shared.u32 %r5, [%r4+128]; st.global.u32 [%d4+128], %r5; end:\n"),
          .blocks = 1,
          .threads = 64},
      m);
  for (uint32_t i = 0; i < 64; i++) assert_int_equal(m->out[i], 1032 + i / 32 * 1000 + i % 32);
  free(m);
  wrong(BODY(INIT("2") "mbarrier.arrive.shared::cta.b64 _, [%r1], 1;" WAIT("0")),
        "waits for a phase of an mbarrier that never ends");
  wrong(BODY("mbarrier.arrive.shared::cta.b64 _, [%r1];"), "nobody initialised it");
  wrong(BODY(INIT("1") "mbarrier.arrive.shared::cta.b64 _, [%r1], 2;"), "wants no more arrivals");
  wrong(BODY("mbarrier.init.shared::cta.b64 [%r1+4], 1;"), "no multiple of 8");
}

/* A wait may give up: a warp that looks at a barrier which its own later arrival completes. */
TEST(test_impatience) {
  Memory *m = memory();
  right(&(Launch){.text = BODY(INIT("1") "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;\n"
                                         "mbarrier.arrive.shared::cta.b64 _, [%r1];\n" WAIT("0") //
                               "selp.u32 %r3, 5, 7, %p1; st.global.u32 [%d0], %r3;"),
                  .blocks = 1,
                  .threads = 1},
        m);
  assert_int_equal(m->out[0], 7);
  free(m);
}

/* 256 bytes in, out at another place, and added there as floats. */
TEST(test_bulk) {
  Memory *m = memory();
  for (int i = 0; i < 64; i++) {
    const float x = 0.5f * (float)i;
    memcpy(&m->in[i], &x, 4);
    memcpy(&m->out[128 + i], &x, 4);
  }
  right(&(Launch){.text =
                      BODY(INIT("1") "@!%p0 bra end; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;\n"
                                     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], "
                                     "256, [%r1];\n" WAIT("0") //
                           "cp.async.bulk.global.shared::cta.bulk_group [%d0+64], [%r2], 256;\n"
                           "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d0+512], [%r2], 256;\n"
                           "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; end:"),
                  .blocks = 1,
                  .threads = 32},
        m);
  for (int i = 0; i < 64; i++) {
    float x, y;
    memcpy(&x, &m->out[16 + i], 4);
    memcpy(&y, &m->out[128 + i], 4);
    assert_true(x == 0.5f * (float)i && y == (float)i);
  }
  assert_int_equal(m->totals.bulk_read_bytes, 256);
  assert_int_equal(m->totals.bulk_write_bytes, 512);
  free(m);
  wrong(BODY(INIT("1") "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], "
                       "40, [%r1];"),
        "no multiple of 16");
  wrong(BODY(INIT("1") "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], "
                       "[%d1+65520], 32, [%r1];"),
        "in no argument");
}

/* A box of 16 x 64 halves at (32, -3) of a tensor of 72 x 20: rows above and columns beyond arrive as zeros; a row of
 * 128 bytes has its 16-byte pieces at piece xor row % 8. */
TEST(test_tensor) {
  Memory *m = memory();
  const PtxTensorMap map = {0, "f16", 2, {72, 20}, {2, 144}, {64, 16}, 128, false};
  uint16_t tensor[20][72];
  for (int y = 0; y < 20; y++)
    for (int x = 0; x < 72; x++) tensor[y][x] = (uint16_t)(1000 * y + x + 1);
  memcpy(m->in, tensor, sizeof tensor);
  right(&(Launch){.text = BODY(INIT("1") "@!%p0 bra wait; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 2048;\n"
                                         "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                                         "[%r2], [%d2, {32, -3}], [%r1]; wait:\n" WAIT("0") //
                               "shl.b32 %r3, %r0, 2; mov.u32 %r6, 0; more: add.s32 %r4, %r2, %r3;\n"
                               "ld.shared.u32 %r5, [%r4]; cvt.u64.u32 %d4, %r3; add.s64 %d4, %d0, %d4;\n"
                               "st.global.u32 [%d4], %r5; add.s32 %r3, %r3, 128; setp.lt.u32 %p3, %r3, 2048;\n"
                               "@%p3 bra more;"),
                  .blocks = 1,
                  .threads = 32,
                  .map = &map},
        m);
  uint16_t got[16][64];
  memcpy(got, m->out, sizeof got);
  for (int y = 0; y < 16; y++)
    for (int x = 0; x < 64; x++) {
      const int at_y = y - 3, at_x = x + 32, piece = (x / 8) ^ (y % 8);
      const int wanted = at_y < 0 || at_x >= 72 ? 0 : 1000 * at_y + at_x + 1;
      assert_int_equal(got[y][8 * piece + x % 8], (uint16_t)wanted);
    }
  assert_int_equal(m->totals.bulk_read_bytes, 13 * 40 * 2);
  free(m);
  unsigned char bytes[PTX_TENSOR_MAP_BYTES];
  PtxTensorMap bad = map;
  bad.box[0] = 32;
  assert_int_equal(ptx_tensor_map(&bad, bytes, fresh_error()), STATUS_BAD_REQUEST);
  bad = map, bad.strides_bytes[1] = 100;
  assert_int_equal(ptx_tensor_map(&bad, bytes, fresh_error()), STATUS_BAD_REQUEST);
  wrong(BODY(INIT("1") "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                       "[%r2], [%d1, {0, 0}], [%r1];"),
        "names a tensor map that is none");
}

/* ---- wgmma ---- */

typedef struct {
  int n, span; /* columns; swizzle in bytes, 0: none */
  bool a_across, b_across, a_registers, is_bf16, is_negative;
  int lead, stride;
} Product;

static uint16_t half_of(const Product *p, int x) {
  return (uint16_t)precision_to_bits(p->is_bf16 ? PRECISION_BF16 : PRECISION_FP16, x);
}

/* Where element (line, k) of an operand lies, as the drawings of the PTX ISA have it: core matrices of 8 x 16 bytes,
 * rows of the swizzle's span. */
static int place(const Product *p, bool across, int line, int k) {
  const int s = p->span;
  int at;
  if (!s)
    at = line / 8 * p->stride + k / 8 * p->lead + (across ? k % 8 * 16 + line % 8 * 2 : line % 8 * 16 + k % 8 * 2);
  else if (!across)
    at = line / 8 * p->stride + line % 8 * s + 2 * k;
  else
    at = line / (s / 2) * p->lead + k / 8 * p->stride + k % 8 * s + line % (s / 2) * 2;
  if (s) at ^= (at >> 7 & (s / 16 - 1)) << 4;
  return at;
}

/* D = A B, then D += A B, and both once more by a scale-d that is negated; all threads of a warpgroup; A at byte 0 of
 * shared memory, B at 32768. */
static void product(Product p) {
  Memory *m = memory();
  char text[20000], d[2000] = "", store[6000] = "", multiply[2][2200];
  unsigned char shared[SHARED] = {0};
  int A[64][16], B[16][256];
  for (int i = 0; i < p.n / 2; i++) {
    sprintf(d + strlen(d), "%s%%f%d", i ? ", " : "", i);
    sprintf(store + strlen(store), "st.global.f32 [%%d5+%d], %%f%d; ", 4 * i, i);
  }
  for (int y = 0; y < 64; y++)
    for (int k = 0; k < 16; k++) {
      A[y][k] = (y * 7 + k * 3) % 11 - 5;
      const uint16_t v = half_of(&p, A[y][k]);
      if (!p.a_registers) memcpy(shared + place(&p, p.a_across, y, k), &v, 2);
    }
  for (int x = 0; x < p.n; x++)
    for (int k = 0; k < 16; k++) {
      B[k][x] = (x * 5 + k * 13) % 9 - 4;
      const uint16_t v = half_of(&p, B[k][x]);
      memcpy(shared + 32768 + place(&p, p.b_across, x, k), &v, 2);
    }
  memcpy(m->in, shared, sizeof shared);
  const uint64_t mode = p.span == 128 ? 1 : p.span == 64 ? 2 : p.span == 32 ? 3 : 0;
  const uint64_t descriptor = (uint64_t)(p.lead >> 4) << 16 | (uint64_t)(p.stride >> 4) << 32 | mode << 62;
  if (p.a_registers) { /* as mma's: lane 4 g + t has of rows g and g + 8 columns 2 t, 2 t + 1 and those 8 further */
    for (int t = 0; t < 128; t++)
      for (int r = 0; r < 4; r++) {
        const int y = t / 32 * 16 + t % 32 / 4 + r % 2 * 8, k = t % 4 * 2 + r / 2 * 8;
        m->in[4 * t + r] = half_of(&p, A[y][k]) | (uint32_t)half_of(&p, A[y][k + 1]) << 16;
      }
  }
  for (int k = 0; k < 2; k++)
    sprintf(multiply[k], "wgmma.mma_async.sync.aligned.m64n%dk16.f32.%s {%s}, %s, %%d7, %s%%p4, 1, %d%s, %d;\n", p.n,
            p.is_bf16 ? "bf16.bf16" : "f16.f16", d, p.a_registers ? "{%r10, %r11, %r12, %r13}" : "%d6", k ? "!" : "",
            p.is_negative ? -1 : 1,
            p.a_registers ? ""
            : p.a_across  ? ", 1"
                          : ", 0",
            p.b_across);
  sprintf(text,
          "%sshl.b32 %%r3, %%r0, 2; more: add.s32 %%r4, %%r2, %%r3; cvt.u64.u32 %%d4, %%r3; add.s64 %%d4, %%d1, %%d4;\n"
          "ld.global.u32 %%r5, [%%d4]; st.shared.u32 [%%r4], %%r5; add.s32 %%r3, %%r3, 512;\n"
          "setp.lt.u32 %%p3, %%r3, 65536; @%%p3 bra more; fence.proxy.async.shared::cta; bar.sync 0;\n"
          "mul.wide.u32 %%d4, %%r0, 16; add.s64 %%d4, %%d1, %%d4;\n"
          "ld.global.v4.u32 {%%r10, %%r11, %%r12, %%r13}, [%%d4];\n"
          "cvt.u64.u32 %%d8, %%r2; shr.u64 %%d8, %%d8, 4; or.b64 %%d6, %%d8, %llu; add.s64 %%d7, %%d6, 2048;\n"
          "mul.wide.u32 %%d5, %%r0, %d; add.s64 %%d5, %%d0, %%d5;\n"
          "setp.ne.u32 %%p4, %%r0, %%r0; wgmma.fence.sync.aligned;\n%ssetp.eq.u32 %%p4, %%r0, %%r0;\n%s%s"
          "setp.ne.u32 %%p4, %%r0, %%r0;\n%s"
          "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n%s" LAST,
          FIRST, (unsigned long long)descriptor, p.n / 2 * 4, multiply[0], multiply[0], multiply[1], multiply[1],
          store);
  right(&(Launch){.text = text, .blocks = 1, .threads = 128, .faults = p.n <= 32}, m);
  for (int t = 0; t < 128; t++)
    for (int e = 0; e < p.n / 2; e++) {
      const int y = t / 32 * 16 + t % 32 / 4 + e / 2 % 2 * 8, x = e / 4 * 8 + t % 4 * 2 + e % 2;
      int sum = 0;
      float got;
      for (int k = 0; k < 16; k++) sum += A[y][k] * B[k][x];
      memcpy(&got, &m->out[t * (p.n / 2) + e], 4);
      if (p.is_negative) sum = -sum;
      assert_true(got == (float)(2 * sum));
    }
  free(m);
}

TEST(test_wgmma) {
  product((Product){.n = 8, .lead = 128, .stride = 256});
  product((Product){.n = 64, .span = 128, .stride = 1024});
  product((Product){.n = 64, .span = 64, .stride = 512, .is_bf16 = true});
  product((Product){.n = 32, .span = 32, .stride = 256, .is_negative = true});
  product((Product){.n = 128, .span = 64, .stride = 512, .lead = 1024, .b_across = true, .a_registers = true});
  product((Product){.n = 64, .span = 32, .stride = 256, .lead = 512, .a_across = true, .b_across = true});
  product((Product){.n = 16, .stride = 256, .lead = 128, .a_across = true, .b_across = true, .is_bf16 = true});
}

/* Two blocks of a cluster: each writes to the other's shared memory, waits for all, reads its own. */
TEST(test_cluster) {
  Memory *m = memory();
  right(&(Launch){.text = BODY(
                      "mov.u32 %r5, %cluster_ctarank; xor.b32 %r6, %r5, 1; mapa.shared::cluster.u32 %r7, %r2, %r6;\n"
                      "barrier.cluster.arrive; barrier.cluster.wait; shl.b32 %r3, %r0, 2; add.s32 %r8, %r7, %r3;\n"
                      "mad.lo.u32 %r9, %r5, 100, %r0; st.shared::cluster.u32 [%r8], %r9;\n"
                      "barrier.cluster.arrive.release; barrier.cluster.wait.acquire; add.s32 %r10, %r2, %r3;\n"
                      "ld.shared.u32 %r11, [%r10]; mov.u32 %r12, %ctaid.x; shl.b32 %r12, %r12, 8;\n"
                      "add.s32 %r12, %r12, %r3; cvt.u64.u32 %d4, %r12; add.s64 %d4, %d0, %d4;\n"
                      "st.global.u32 [%d4], %r11;"),
                  .blocks = 4,
                  .threads = 64,
                  .cluster = 2},
        m);
  for (uint32_t b = 0; b < 4; b++)
    for (uint32_t t = 0; t < 64; t++) assert_int_equal(m->out[64 * b + t], (1 - b % 2) * 100 + t);
  free(m);
}

/* One copy for both blocks of a cluster: memory is read once, each block's barrier counts. */
TEST(test_multicast) {
  Memory *m = memory();
  for (uint32_t i = 0; i < 32; i++) m->in[i] = 77 + i;
  right(&(Launch){.text = BODY(
                      INIT("1") "@!%p0 bra ready; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 128; ready:\n"
                                "barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r5, %cluster_ctarank;\n"
                                "setp.eq.u32 %p2, %r5, 0; and.pred %p2, %p2, %p0; mov.u16 %h1, 3;\n"
                                "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                                ".multicast::cluster [%r2], [%d1], 128, [%r1], %h1;\n" WAIT("0") //
                      "shl.b32 %r3, %r0, 2; add.s32 %r10, %r2, %r3; ld.shared.u32 %r11, [%r10];\n"
                      "shl.b32 %r12, %r5, 7; add.s32 %r12, %r12, %r3; cvt.u64.u32 %d4, %r12;\n"
                      "add.s64 %d4, %d0, %d4; st.global.u32 [%d4], %r11;\n"
                      "barrier.cluster.arrive; barrier.cluster.wait;"),
                  .blocks = 2,
                  .threads = 32,
                  .cluster = 2},
        m);
  for (uint32_t i = 0; i < 64; i++) assert_int_equal(m->out[i], 77 + i % 32);
  assert_int_equal(m->totals.bulk_read_bytes, 128);
  free(m);
}

/* ---- faults ---- */

#define LOAD                                                                                                           \
  "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 1024;\n"                                                   \
  "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], 1024, [%r1];\n"
#define ADDRESS "shl.b32 %r3, %r0, 2; add.s32 %r4, %r2, %r3; mul.wide.u32 %d4, %r0, 4; add.s64 %d4, %d0, %d4;\n"
#define READ    "ld.shared.u32 %r5, [%r4]; st.global.u32 [%d4], %r5;\n"
#define STORE   "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r2], 256;\n"
#define DONE    "@%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group.read 0;\n"
#define MATRIX                                                                                                         \
  "cvt.u64.u32 %d8, %r2; shr.u64 %d8, %d8, 4; or.b64 %d8, %d8, 68720001024; mov.f32 %f0, 0f00000000;\n"                \
  "mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n"
#define MULTIPLY "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d8, %d8, 1, 1, 1, 0, 0;\n"
#define FILL                                                                                                           \
  "mov.u32 %r6, 0; fill: add.s32 %r7, %r4, %r6; st.shared.u32 [%r7], %r6; add.s32 %r6, %r6, 512;\n"                    \
  "setp.lt.u32 %p3, %r6, 4096; @%p3 bra fill;\n"
#define FENCE "fence.proxy.async.shared::cta; bar.sync 0;\n"

/* Each sound kernel is silent; each mistake is named with its lines. Line 10 is the first of the text. */
TEST(test_faults) {
  static const char *const sound[] = {
      BODY(INIT("1") LOAD ADDRESS WAIT("0") READ),
      BODY(INIT("1") ADDRESS "st.shared.u32 [%r4], %r0;" FENCE STORE DONE "bar.sync 0; st.shared.u32 [%r4], %r0;"),
      BODY(ADDRESS MATRIX FILL FENCE
           "wgmma.fence.sync.aligned;" MULTIPLY MULTIPLY
           "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.f32 [%d4], %f0;"),
  };
  static const TextSays broken[] = {
      {BODY(INIT("1") LOAD ADDRESS "bar.sync 0;" READ),
       "before the copy of line 12 has arrived (a wait at its mbarrier)"},
      {BODY(INIT("1") LOAD ADDRESS "setp.ge.u32 %p3, %r0, 32; @%p3 bra past;" WAIT("0") "past:" READ),
       "with no barrier between"},
      {BODY(INIT("1") LOAD ADDRESS "@%p0 st.shared.u32 [%r4], %r0;" WAIT("0")),
       "before the copy of line 12 has arrived"},
      {BODY("setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1], 1; bar.sync 0;\n" LOAD WAIT("0")),
       "made at line 10 with no fence.mbarrier_init since"},
      {BODY(
           "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared::cta.b64 [%r1], 128; mbarrier.arrive.shared::cta.b64 _, "
           "[%r1];" WAIT("0")),
       "made at line 10 with no barrier between"},
      {BODY(INIT("1") ADDRESS "st.shared.u32 [%r4], %r0; bar.sync 0;" STORE DONE),
       "a bulk copy reads shared memory at byte 1024, which thread 0 wrote at line 12 with no fence.proxy.async since"},
      {BODY(INIT("1") ADDRESS "st.shared.u32 [%r4], %r0;" FENCE STORE "bar.sync 0; st.shared.u32 [%r4], %r4;" DONE),
       "which the copy of line 13 may still read (cp.async.bulk.wait_group)"},
      {BODY(INIT("1") ADDRESS "st.shared.u32 [%r4], %r0;" FENCE STORE),
       "ends while this copy still reads shared memory"},
      {BODY(ADDRESS MATRIX FILL FENCE
            "wgmma.fence.sync.aligned;" MULTIPLY
            "wgmma.commit_group.sync.aligned; st.global.f32 [%d4], %f0; wgmma.wait_group.sync.aligned 0;"),
       "line 17: reads a register of the wgmma of line 16 before its sum has arrived (wgmma.wait_group)"},
      {BODY(ADDRESS MATRIX FILL FENCE
            "wgmma.fence.sync.aligned;" MULTIPLY
            "wgmma.commit_group.sync.aligned; st.shared.u32 [%r4], %r4; wgmma.wait_group.sync.aligned 0;"),
       "which the wgmma of line 16 may still read (wgmma.wait_group)"},
      {BODY(ADDRESS MATRIX FILL FENCE MULTIPLY
            "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.f32 [%d4], %f0;"),
       "wgmma takes registers that were touched with no wgmma.fence since"},
      {BODY(ADDRESS MATRIX FILL
            "bar.sync 0; wgmma.fence.sync.aligned;" MULTIPLY
            "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.f32 [%d4], %f0;"),
       "which thread 0 wrote at line 13 with no fence.proxy.async since"},
      {BODY(ADDRESS MATRIX FILL FENCE "wgmma.fence.sync.aligned;" MULTIPLY "wgmma.commit_group.sync.aligned;"),
       "ends while this wgmma still reads shared memory"},
  };
  EACH (k, sound) {
    Memory *m = memory();
    right(&(Launch){.text = sound[k], .blocks = 1, .threads = 128, .faults = true}, m);
    free(m);
  }
  EACH (k, broken)
    is_told(&(Launch){.text = broken[k].text, .blocks = 1, .threads = 128, .faults = true}, broken[k].says);
}

/* What is not modelled is refused with its line and word. */
TEST(test_refusals) {
  wrong(BODY("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r3, %r4, %r5, %r6}, %d1, %d2, 1;"),
        "t.ptx:10: 'wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8' is not modelled: its shape and types");
  wrong(BODY("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
             "[%r2], [%d2, {%r3, %r4, %r5}], [%r1], {%h1};"),
        "is not modelled");
  wrong(BODY("mbarrier.pending_count.b64 %r3, %d1;"), "is not modelled");
}
