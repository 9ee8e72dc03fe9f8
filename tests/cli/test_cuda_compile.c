/* A stranger's .cu to PTX by clang alone, and the half of it that is cut away. Needs clang; the cutter does not. */
#define _DEFAULT_SOURCE
#include <sys/stat.h>

#include "tests/support/scratch.h"
#include "tests/support/test.h"
#include "viz/compile/cuda_compile.h"
#include "viz/kernel/kernel_signature.h"
#include "viz/compile/source_cut.h"

/* --- what can be left out --- */

/* Brackets that never close, literals that never end: nothing is read or written beyond the text. */
TEST(parts_of_anything) {
  static const char *const TEXTS[] = {"",
                                      "{",
                                      "}",
                                      "int f(",
                                      "int f() {",
                                      "\"",
                                      "R\"(",
                                      "/*",
                                      "#define",
                                      "#define X \\",
                                      "a'",
                                      "((((",
                                      "namespace {",
                                      "extern \"C\" {",
                                      "struct S {",
                                      ")))){}",
                                      "struct S {int a;"};
  EACH (i, TEXTS) {
    const size_t n = strlen(TEXTS[i]);
    SourcePart parts[8];
    char *exact = malloc(n ? n : 1); /* a block of just that size, so that reading past it is seen */
    memcpy(exact, TEXTS[i], n);
    const int n_parts = source_parts(exact, n, parts, 8);
    for (int k = 0; k < n_parts; k++) assert_true(parts[k].begin < parts[k].end && parts[k].end <= n);
    for (int k = 0; k < n_parts; k++) source_blank(exact, n, &parts[k]);
    free(exact);
  }
}

/* --- signatures --- */

TEST(names_and_types) {
  static const char SOURCE[] = "// __global__ void k(int wrong)\n"
                               "template <typename T, int N>\n__global__ void __launch_bounds__(256) k(const T "
                               "*__restrict__ x, /* in, out */ float *y, int n = 3,\n"
                               "    std::array<int, 4> a, const int s[]);\n__global__ void kk(void) {}\n";
  Signature s;
  assert_true(signature_find(SOURCE, sizeof SOURCE - 1, "k", &s));
  assert_int_equal(s.n, 5);
  assert_string_equal(s.parameters[0].name, "x");
  assert_true(s.parameters[0].is_const && !s.parameters[1].is_const);
  assert_string_equal(s.parameters[1].name, "y");
  assert_string_equal(s.parameters[2].name, "n");
  assert_string_equal(s.parameters[2].type, "int");
  assert_string_equal(s.parameters[3].type, "std::array<int, 4>");
  assert_string_equal(s.parameters[4].name, "s");
  assert_false(signature_find(SOURCE, sizeof SOURCE - 1, "wrong", &s));
  char plain[64];
  signature_plain_name("_ZN2my5sgemmILi64EEviPKf", plain, sizeof plain);
  assert_string_equal(plain, "sgemm");
  signature_plain_name("_Z11sgemm_naiveiiifPKfS0_fPf", plain, sizeof plain);
  assert_string_equal(plain, "sgemm_naive");
  signature_plain_name("saxpy", plain, sizeof plain);
  assert_string_equal(plain, "saxpy");
}

/* --- clang --- */

static Status compile(const char *text, const char *template_name, CudaResult *result, Error *error) {
  const CudaSource source = {.path = "k.cu", .text = text, .length = strlen(text), .template_name = template_name};
  return cuda_compile(&source, result, error);
}

static bool no_clang(void) {
  char found[CLANG_NAME_BYTES];
  return !clang_find(found);
}

/* The words of CUDA that kernels use: each must come out as the instruction that nvcc makes of it. */
TEST(the_header) {
  if (no_clang()) skip();
  static const char SOURCE[] =
      "#include <cstdio>\n#include <vector>\n#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n#include "
      "<cuda_bf16.h>\n"
      "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <assert.h>\n"
      "namespace cg = cooperative_groups;\n"
      "__constant__ float table[8];\n"
      "__global__ void k(float4 *v, const float4 *w, __half *h, __nv_bfloat16 *b, float *f, int *n, double *d) {\n"
      "  extern __shared__ float sh[];\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  assert(i >= 0);\n"
      "  v[i] = w[i + 1];\n"
      "  float4 u = __ldg(&w[i]); f[0] = u.x;\n"
      "  h[i] = __hadd(h[i], __float2half(1.5f)); b[i] = __float2bfloat16(f[i]);\n"
      "  f[i] = expf(f[i]) + max(f[0], 1.0f) + std::max(2.0f, f[1]) + table[i & 7];\n"
      "  atomicAdd(&n[0], max(3u, 4)); n[1] = __shfl_xor_sync(0xffffffff, n[i], 16) + __ballot_sync(~0u, i & 1);\n"
      "  auto tile = cg::tiled_partition<32>(cg::this_thread_block());\n"
      "  f[2] = cg::reduce(tile, f[i], cg::plus<float>()); sh[threadIdx.x] = f[i]; __syncthreads(); f[3] = sh[0];\n"
      "  d[i] = exp(d[i]); if (i == 0) printf(\"%f\\n\", f[0]);\n"
      "}\n"
      "int main() { std::vector<float> x(4); float *p; cudaMalloc(&p, 4); k<<<dim3(2, 2), 32, 128>>>(nullptr, nullptr, "
      "nullptr, nullptr, p, nullptr, nullptr);\n"
      "  return cudaDeviceSynchronize(); }\n";
  static const char *const WORDS[] = {
      "ld.global.v4.f32",   "st.global.v4.f32", "add.f16",        "cvt.rn.bf16.f32", "ex2.approx.ftz.f32",
      "shfl.sync.bfly.b32", "vote.sync.ballot", "bar.sync",       "vprintf",         "__assertfail",
      "atom.global.add",    ".extern .shared",  "tw_library_exp", "ld.const.f32",    ".loc\t1 15 "};
  CudaResult result;
  must(compile(SOURCE, NULL, &result, fresh_error()));
  EACH (k, WORDS)
    if (!strstr(result.ptx, WORDS[k])) fail_msg("no %s", WORDS[k]);
  assert_int_equal(result.n_notes, 0);
  assert_false(result.is_cut);
  free(result.ptx);
}

TEST(templates_by_name) {
  if (no_clang()) skip();
  CudaResult result;
  static const char SOURCE[] =
      "namespace my { template <int D, typename T> __global__ void k(T *p) { p[threadIdx.x] = D; } }\n";
  must(compile(SOURCE, "my::k<4, float>", &result, fresh_error()));
  assert_string_equal(result.entry, "_ZN2my1kILi4EfEEvPT0_");
  assert_non_null(strstr(result.ptx, ".entry _ZN2my1kILi4EfEEvPT0_"));
  assert_null(strstr(result.ptx, "tw_the_entry"));
  free(result.ptx);
}

/* What does not compile goes, with a note: the host's half, a member, a kernel that is not asked for; lines keep their
 * numbers. */
TEST(what_does_not_compile_is_left_out) {
  if (no_clang()) skip();
  static const struct {
    const char *source, *entry;
    int n_notes;
    const char *ptx[3], *not_ptx; /* ptx[0]: a message, where it begins with k.cu */
  } CASES[] = {
      {"#include <torch/types.h>\n#include <cuda.h>\n__global__ void k(float *p) {\n  p[threadIdx.x] = 1;\n}\n"
       "torch::Tensor forward(torch::Tensor q) {\n  k<<<1, 32>>>(q.data_ptr<float>());\n  return q;\n}\n",
       NULL,
       2,
       {".entry _Z1kPf", ".loc\t1 4"},
       NULL},
      {"#include <torch/all.h>\nusing namespace torch::indexing;\n#define HD __host__ __device__\n#define "
       "CHECK(x) do { "
       "host(x); } while (0)\n"
       "namespace ns {\nHD float twice(float x) { return 2 * x; }\n"
       "template <typename T> __global__ void k(T *p) { if (p) { p[0] = twice(\"}\"[0]); } }\n"
       "torch::Tensor helper(torch::Tensor q, int n);\n}\n/* } */ torch::Tensor forward(torch::Tensor q) {\n"
       "  ns::k<<<1, 32>>>(q.data_ptr<float>()); // }\n  auto s = R\"x(})x\"; char c = '}';\n  return q;\n}\n"
       "extern \"C\" {\n__device__ int kept() { return 1; }\nint gone() { return no; }\n}\n"
       "PYBIND11_MODULE(NAME, m) { m.def(\"f\", &forward); }\n__constant__ float table[4] = {1, 2, 3, 4};\n"
       "__global__ void j(float *p) { p[0] = ns::twice(table[1]) + kept(); }\n",
       NULL,
       2,
       {".entry _Z1jPf", "table"},
       NULL},
      {"struct S {\n  float a;\n  at::Tensor b() { return {}; }\n};\n__global__ void k(S s, float *p) { *p = s.a; }\n",
       NULL,
       1,
       {".entry _Z1k1SPf"},
       NULL},
      {"__global__ void bad(float *p) { *p = nosuch; }\n__global__ void k(float *p) { *p = 1; }\n",
       "k",
       1,
       {".entry _Z1kPf"},
       "bad"},
      {"__global__ void bad(float *p) { *p = nosuch; }\n__global__ void k(float *p) { *p = 1; }\n",
       "bad",
       0,
       {"k.cu:1: use of undeclared identifier 'nosuch'"},
       NULL},
      {"template <typename T> void f(T x) { x.no(); }\nvoid g() { f(1); }\n__global__ void k(float *p) { *p = 1; }\n",
       NULL,
       1,
       {".entry _Z1kPf"},
       NULL},
  };
  EACH (i, CASES) {
    const CudaSource source = {
        .path = "k.cu", .text = CASES[i].source, .length = strlen(CASES[i].source), .entry = CASES[i].entry};
    const bool refused = strncmp(CASES[i].ptx[0], "k.cu", 4) == 0;
    CudaResult result;
    if (!!cuda_compile(&source, &result, fresh_error()) != refused) fail_msg("%zu: %s", i, test_error.message);
    if (refused) assert_string_equal(test_error.message, CASES[i].ptx[0]);
    for (int k = 0; k < 3 && CASES[i].ptx[k] && !refused; k++)
      if (!strstr(result.ptx, CASES[i].ptx[k])) fail_msg("%zu: no %s", i, CASES[i].ptx[k]);
    if (CASES[i].not_ptx) assert_null(strstr(result.ptx, CASES[i].not_ptx));
    if (!refused && result.n_notes != CASES[i].n_notes) fail_msg("%zu: %d notes", i, result.n_notes);
    assert_int_equal(result.is_cut, !refused);
    free(result.ptx);
  }
}

TEST(mistakes_have_a_line) {
  if (no_clang()) skip();
  static const struct {
    const char *source, *template_name, *message;
  } CASES[] = {
      {"__global__ void k(float *p) {\n  p[0] = nosuch;\n}\n", NULL, "k.cu:2: use of undeclared identifier 'nosuch'"},
      {"__global__ void k(float *p) {}\n", "j<4>", "k.cu:3: "},
      {"#error stop here\n", NULL, "k.cu:1: stop here"},
  };
  EACH (i, CASES) {
    CudaResult result;
    assert_int_equal(compile(CASES[i].source, CASES[i].template_name, &result, fresh_error()), STATUS_BAD_FILE);
    assert_begins(CASES[i].message);
    free(result.ptx);
  }
}

/* A macro that is four of the one before, fifteen times over, is stopped: the answer to a task has a second of CPU. */
TEST(a_macro_bomb_is_stopped) {
  if (no_clang()) skip();
  char text[1024] = "#define A0 1+\n";
  for (int k = 1; k < 16; k++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "#define A%d A%d A%d A%d A%d\n", k, k - 1, k - 1, k - 1,
             k - 1);
  strcat(text, "__global__ void k(int *p) { p[0] = A15 0; }\n");
  CudaResult result;
  const CudaSource source = {.path = "k.cu", .text = text, .length = strlen(text), .alone = true};
  assert_int_equal(cuda_compile(&source, &result, fresh_error()), STATUS_TOO_LARGE);
  assert_said("clang was stopped after 1 s of CPU");
  free(result.ptx);
}

static void write_text(const char *folder, const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

/* A stranger's file reads what lies below its folder, below -I, and the system's headers; nothing of it is printed. */
TEST(reads_stay_below) {
  if (no_clang()) skip();
  static const struct {
    const char *first_lines;
    bool allows, alone;
    const char *said; /* NULL: it compiles, as "TWO" is from lib/two.h */
  } CASES[] = {
      {"#include \"lib/two.h\"\n", false, false, NULL},
      {"#include <cstdint>\n#include \"two.h\"\n", true, false, NULL},
      {"#include \"../kernel/lib/two.h\"\n", false, false, NULL},
      {"#include \"lib/two.h\"\n", false, true, ":2: use of undeclared identifier 'TWO'"},
      {"\n#include \"/etc/passwd\"\n", false, false, ":2: it includes /etc/passwd, which does not lie below"},
      {"#include </etc/passwd>\n", false, true, ":1: it includes /etc/passwd, which"},
      {"#include <../../etc/passwd>\n", false, false, ":1: it includes /etc/passwd, which"},
      {"#define F \"/etc/passwd\"\n#\\\ninclude F\n", false, false, ":1: it includes /etc/passwd, which"},
      {"#include \"lib/link.h\"\n", false, false, ": it includes /etc/passwd, which"},
      {"#include \"/no/such.h\"\n", false, false, ":1: it includes /no/such.h, which"},
      {"#include \"../two.h\"\n", false, false, ":1: it includes "},
#define GHOST "#include \"ghost.h\"\n#if __has_include(\"ghost.h\")\n#include \"/etc/passwd\"\n#endif\n"
      {GHOST, false, false, ":3: it includes /etc/passwd, which"},
      {GHOST, false, true, ":3: it includes /etc/passwd, which"},
  };
  char folder[SCRATCH_BYTES], path[128], below[128];
  assert_true(scratch_folder(folder));
  snprintf(path, sizeof path, "%s/kernel", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(below, sizeof below, "-I%s/kernel/lib", folder);
  assert_int_equal(mkdir(below + 2, 0700), 0);
  write_text(folder, "two.h", "#define TWO 2\n");
  write_text(path, "lib/two.h", "#define TWO 2\n");
  snprintf(path, sizeof path, "%s/kernel/lib/link.h", folder);
  assert_int_equal(symlink("/etc/passwd", path), 0);
  snprintf(path, sizeof path, "%s/kernel/k.cu", folder);
  EACH (i, CASES) {
    char text[300];
    const char *const words[] = {below};
    snprintf(text, sizeof text, "%s__global__ void k(float *p) { p[0] = TWO; }\n", CASES[i].first_lines);
    CudaResult result;
    const CudaSource source = {.path = path,
                               .text = text,
                               .length = strlen(text),
                               .words = words,
                               .n_words = CASES[i].allows,
                               .alone = CASES[i].alone};
    const Status status = cuda_compile(&source, &result, fresh_error());
    if (!CASES[i].said != !status) fail_msg("%s: %s", text, test_error.message);
    if (status && (!strstr(test_error.message, CASES[i].said) || strstr(test_error.message, "root")))
      fail_msg("%s: %s", text, test_error.message);
    free(result.ptx);
  }
  static const char *const MADE[] = {"kernel/lib/link.h", "kernel/lib/two.h", "kernel/lib", "kernel", "two.h", ""};
  EACH (i, MADE) {
    snprintf(path, sizeof path, "%s/%s", folder, MADE[i]);
    assert_int_equal(remove(path), 0);
  }
}
