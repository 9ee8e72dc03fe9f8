/* Arguments of a launch as people write them: kernels/ptx/ptx_argument.h. */
#include "tests/support/test.h"
#include "kernels/ptx/ptx_argument.h"

static Spec parsed(const char *text) {
  Spec spec = {0};
  must(spec_parse(text, &spec, fresh_error()));
  return spec;
}

TEST(numbers) {
  const struct {
    const char *text;
    SpecType type;
    int64_t whole;
    double value;
  } cases[] = {
      {"i32:256", SPEC_I32, 256, 0},
      {"i32:-2147483648", SPEC_I32, INT32_MIN, 0},
      {"u32:4294967295", SPEC_U32, 4294967295, 0},
      {"i64:0", SPEC_I64, 0, 0},
      {"u64:0xffffffffffffffff", SPEC_U64, -1, 0},
      {"u8:0x1F", SPEC_U8, 31, 0},
      {"f32:0.125", SPEC_F32, 0, 0.125},
      {"f32:-1e-3", SPEC_F32, 0, -1e-3},
      {"f64:-inf", SPEC_F64, 0, -INFINITY},
      {"f16:2", SPEC_F16, 0, 2},
  };
  EACH (i, cases) {
    const Spec s = parsed(cases[i].text);
    assert_false(s.is_buffer);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.type, cases[i].type);
    assert_int_equal(s.whole, cases[i].whole);
    assert_true(s.value == cases[i].value);
  }
}

TEST(buffers) {
  Spec s = parsed("f16[64*128]:zero:0"); /* as in recorded launches: a seed that is not used */
  assert_true(s.is_buffer && s.n == 8192 && s.type == SPEC_F16 && s.fill == SPEC_VALUE && s.value == 0);
  s = parsed("f32[64K]:normal:7");
  assert_true(s.n == 65536 && s.fill == SPEC_NORMAL && s.seed == 7);
  s = parsed("f16[]:../o.bin");
  assert_true(s.is_buffer && s.n == 0 && s.fill == SPEC_FILE);
  assert_string_equal(s.file, "../o.bin");
  s = parsed("data.bin");
  assert_true(s.is_buffer && s.type == SPEC_F32 && s.fill == SPEC_FILE);
  s = parsed("f32[4]:none");
  assert_true(s.fill == SPEC_NONE);
}

/* The first and last numbers of seed 1, and one of each type, as recorded beside the H100's counters. */
TEST(the_stated_numbers) {
  static const double FIRST[] = {-0.5937304496765137,  -1.068826675415039, 0.32169079780578613, -0.2958493232727051,
                                 -0.04493379592895508, 1.3145105838775635, -0.6090359687805176, -0.33566951751708984};
  float x[8];
  Spec s = parsed("f32[8]:normal:1");
  spec_fill(&s, x);
  for (int i = 0; i < 8; i++) assert_true(x[i] == (float)FIRST[i]);
  uint16_t h[3];
  s = parsed("f16[3]:normal:1");
  spec_fill(&s, h);
  assert_int_equal(h[0], 0xb8c0); /* -0.59375 = -1.1875 x 2^-1, the nearest to -0.59373 */
  int32_t k[3];
  s = parsed("i32[3]:iota");
  spec_fill(&s, k);
  assert_true(k[0] == 0 && k[1] == 1 && k[2] == 2);
  s = parsed("i32[3]:-5");
  spec_fill(&s, k);
  assert_true(k[2] == -5 && spec_element(SPEC_I32, k, 2) == -5);
  s = parsed("f32[2]:-inf:0");
  spec_fill(&s, x);
  assert_true(x[1] == -INFINITY);
}

/* int:3 over 65,536 elements, their remainders of 64 counted: the bins that the H100 returned. */
TEST(the_histogram) {
  static const int FIRST[] = {1004, 1078, 1053, 1008, 1025, 1030, 1055, 1022},
                   LAST[] = {990, 994, 1015, 968, 945, 944, 991, 1036};
  static int32_t x[65536];
  int bins[64] = {0};
  const Spec s = parsed("i32[65536]:int:3");
  spec_fill(&s, x);
  for (int i = 0; i < 65536; i++) {
    assert_in_range(x[i], 0, 999);
    bins[x[i] % 64]++;
  }
  assert_memory_equal(bins, FIRST, sizeof FIRST);
  assert_memory_equal(bins + 56, LAST, sizeof LAST);
}

TEST(refused) {
  static const char *const TEXTS[] = {"",
                                      "256",
                                      "i32",
                                      "i32:",
                                      "i32:0.5",
                                      "u32:-1",
                                      "i8:128",
                                      "i32:2147483648",
                                      "f32:1e",
                                      "f32:x",
                                      "f33:1",
                                      "f32[4",
                                      "f32[4]",
                                      "f32[4]:",
                                      "f32[]:zero",
                                      "f32[0]:zero",
                                      "f32[-1]:zero",
                                      "f32[4*]:zero",
                                      "f32[4]:normal",
                                      "f32[4]:normal:",
                                      "f32[4]:normal:-1",
                                      "i32[4]:normal:1",
                                      "f32[4]:zero:1",
                                      "f32[4]:random:1",
                                      "f32[1T]:zero",
                                      "f64[0x10]:zero",
                                      "f32[99999999999*99999999999]:zero",
                                      "map:f16",
                                      "map:f16[64x64]:64x64:128",
                                      "map:f16[64x64]:64x64:100:zero",
                                      "map:f16[64x64]:64x32:128:zero",
                                      "map:f16[64x64]:64:128:zero",
                                      "map:f16[64x60]:64x64:0:zero",
                                      "map:f16[64x]:64x64:0:zero",
                                      "map:f16[8x8x8x8x8x8]:8x8x8x8x8x8:0:zero",
                                      "map:f16[0x64]:64x64:128:zero",
                                      "map:f16[64x64]:300x64:128:zero",
                                      "map:f16[64x64]:64x64:128:normal"};
  EACH (i, TEXTS) {
    Spec spec = {.n = 77};
    assert_true(spec_parse(TEXTS[i], &spec, fresh_error()) == STATUS_BAD_REQUEST);
    assert_int_equal(spec.n, 77);
    assert_true(strncmp(test_error.message, "the argument '", 14) == 0 && !strchr(test_error.message, '\n'));
  }
}

TEST(tensor_maps) {
  const Spec s = parsed("map:bf16[3x100x64]:1x16x32:64:normal:7");
  assert_true(s.is_map && s.is_buffer && s.fill == SPEC_NORMAL && s.seed == 7);
  assert_int_equal(s.n, 3 * 100 * 64);
  assert_string_equal(s.map.type, "bf16");
  assert_int_equal(s.map.rank, 3);
  assert_int_equal(s.map.sizes[0], 64);
  assert_int_equal(s.map.sizes[2], 3);
  assert_int_equal(s.map.strides_bytes[1], 128);
  assert_int_equal(s.map.strides_bytes[2], 12800);
  assert_int_equal(s.map.box[0], 32);
  assert_int_equal(s.map.box[1], 16);
  assert_int_equal(s.map.swizzle_bytes, 64);
  const PtxParameter map = {.width_bytes = 1, .size_bytes = 128}, pointer = {.width_bytes = 8, .size_bytes = 8};
  assert_null(spec_mismatch(&s, &map));
  assert_non_null(spec_mismatch(&s, &pointer));
}

TEST(widths_of_parameters) {
  const PtxParameter four = {.width_bytes = 4, .size_bytes = 4}, pointer = {.width_bytes = 8, .size_bytes = 8},
                     structure = {.width_bytes = 1, .size_bytes = 40};
  const Spec number = parsed("f32:1"), buffer = parsed("f16[4]:zero"), wide = parsed("i64:1");
  assert_null(spec_mismatch(&number, &four));
  assert_null(spec_mismatch(&buffer, &pointer));
  assert_null(spec_mismatch(&wide, &pointer));
  assert_string_equal(spec_mismatch(&buffer, &four), "it takes 4 bytes: i32, u32 or f32");
  assert_non_null(spec_mismatch(&number, &pointer));
  assert_non_null(spec_mismatch(&buffer, &structure));
}
