/* Faults of kernels: what is broken is named with its lines, what is sound stays silent. The kernels lie in
 * tests/support/kernels; the lines that must be named have marks there. Needs clang. */
#include "tests/support/test.h"
#include "kernels/ptx/ptx_argument.h"
#include "viz/compile/cuda_compile.h"
#include "viz/request/assets.h"

#define FOLDER "tests/support/kernels/"
enum { NAME_BYTES = 64 };

static bool no_clang(void) {
  char found[CLANG_NAME_BYTES];
  return !clang_find(found);
}

static char *source_of(const char *path) {
  char *text = NULL;
  size_t n;
  Error error = {0};
  if (file_read(path, 1 << 20, &text, &n, &error)) fail_msg("%s", error.message);
  return text;
}

/* The number of the line that `at` lies in; 0 for NULL. */
static int line_of(const char *text, const char *at) {
  int line = at ? 1 : 0;
  for (const char *p = text; at && p < at; p++) line += *p == '\n';
  return line;
}

static PtxModule *module_of(const char *path, const char *text) {
  const CudaSource source = {.path = path, .text = text, .length = strlen(text)};
  CudaResult result;
  PtxModule *module = NULL;
  Error error = {0};
  if (cuda_compile(&source, &result, &error)) fail_msg("%s", error.message);
  if (ptx_module_load(result.ptx, result.length, path, &module, &error)) fail_msg("%s", error.message);
  free(result.ptx);
  return module;
}

/* Runs an entry over in[128] and out[128] of the launch that broken.cu tells, with faults. */
static void run(const PtxModule *module, const char *name, float *in, float *out, PtxKernel **kernel,
                PtxResult *result) {
  Error error = {0};
  int32_t n = 128;
  const int entry = ptx_find_entry(module, name);
  assert_true(entry >= 0);
  Spec spec = {0};
  if (spec_parse("f32[128]:normal:1", &spec, &error)) fail_msg("%s", error.message);
  spec_fill(&spec, in);
  memset(out, 0, 128 * sizeof *out);
  if (ptx_kernel_new(module, entry, kernel, &error)) fail_msg("%s: %s", name, error.message);
  const PtxArgument arguments[] = {
      {.kind = PTX_BUFFER, .bytes = in, .n_bytes = 512, .name = "in", .read_only = true},
      {.kind = PTX_BUFFER, .bytes = out, .n_bytes = 512, .name = "out", .uninitialised = true},
      {.kind = PTX_SCALAR, .bytes = &n, .n_bytes = 4}};
  const PtxLaunch launch = {
      .grid = {2, 1, 1}, .block = {64, 1, 1}, .arguments = arguments, .n_arguments = 3, .faults = true};
  if (ptx_run(*kernel, &launch, result, &error)) fail_msg("%s: %s", name, error.message);
}

/* Whether a fault of that kind was found at that line, with the other line where one is given. */
static bool found(const PtxKernel *kernel, const PtxResult *result, const char *kind, int line, int other) {
  for (int32_t f = 0; f < result->n_faults; f++) {
    const PtxFault *fault = &result->faults[f];
    const int at = ptx_instruction(kernel, fault->pc).line,
              with = fault->other_pc < 0 ? 0 : ptx_instruction(kernel, fault->other_pc).line;
    char said[16];
    snprintf(said, sizeof said, "line %d", at);
    if (strcmp(fault->kind, kind) == 0 && at == line && (!other || with == other) && strstr(fault->message, said))
      return true;
  }
  return false;
}

static void fail_with(const char *name, const char *wanted, const PtxResult *result) {
  print_error("%s: wanted %s; found\n", name, wanted);
  for (int32_t f = 0; f < result->n_faults; f++)
    print_error("  %s: %s (%d)\n", result->faults[f].kind, result->faults[f].message, (int)result->faults[f].count);
}

/* "__global__ void NAME(" at p: the name. */
static void name_at(const char *p, char name[NAME_BYTES]) {
  p = strstr(p, "void ") + 5;
  snprintf(name, NAME_BYTES, "%.*s", (int)strcspn(p, "("), p);
}

TEST(the_broken_are_named) {
  if (no_clang()) skip();
  char *text = source_of(FOLDER "broken.cu");
  PtxModule *module = module_of(FOLDER "broken.cu", text);
  int n = 0, missed = 0;
  for (const char *p = text; (p = strstr(p, "// fault: ")) != NULL; n++) {
    char kind[32], name[NAME_BYTES], wanted[96];
    p += 10;
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(p, "\n"), p);
    name_at(p, name);
    const char *end = strstr(p, "\n}\n"), *a = strstr(p, "/*A*/"), *b = strstr(p, "/*B*/");
    const int line = line_of(text, a), other = b && b < end ? line_of(text, b) : 0;
    float in[128], out[128];
    PtxKernel *kernel;
    PtxResult result;
    run(module, name, in, out, &kernel, &result);
    snprintf(wanted, sizeof wanted, "%s at %d, %d", kind, line, other);
    /* what happens at one place is told by whoever comes later */
    if (!found(kernel, &result, kind, line, other) && !(other && found(kernel, &result, kind, other, line)))
      fail_with(name, wanted, &result), missed++;
    ptx_result_free(&result);
    ptx_kernel_free(kernel);
  }
  assert_in_range(n, 20, 100);
  assert_int_equal(missed, 0);
  ptx_module_free(module);
  free(text);
}

TEST(the_sound_are_silent) {
  if (no_clang()) skip();
  char *text = source_of(FOLDER "sound.cu");
  PtxModule *module = module_of(FOLDER "sound.cu", text);
  int n = 0, noisy = 0;
  for (const char *p = text; (p = strstr(p, "__global__ void ")) != NULL; n++, p++) {
    char name[NAME_BYTES];
    float in[128], out[128];
    PtxKernel *kernel;
    PtxResult result;
    name_at(p, name);
    run(module, name, in, out, &kernel, &result);
    if (result.n_faults) fail_with(name, "silence", &result), noisy++;
    ptx_result_free(&result);
    ptx_kernel_free(kernel);
  }
  assert_in_range(n, 20, 100);
  assert_int_equal(noisy, 0);
  ptx_module_free(module);
  free(text);
}

/* --- compute-sanitizer --- */

typedef struct {
  int errors; /* of all four tools */
  int lines[4];
} Verdict;

/* What compute-sanitizer said on an H100 (assets/counters/h100/faults). */
static Verdict recorded_verdict(const char *kernel) {
  Verdict v = {0};
  char line[256], key[NAME_BYTES + 16];
  FILE *file = fopen("assets/counters/h100/faults/first.csv", "r");
  assert_non_null(file);
  const int n = snprintf(key, sizeof key, "%s,", kernel);
  bool there = false;
  while (!there && fgets(line, sizeof line, file)) there = strncmp(line, key, (size_t)n) == 0;
  fclose(file);
  if (!there) fail_msg("no verdict on %s", kernel);
  int e[4];
  const int read = sscanf(line + n, "%d,%d,%d,%d,%d %d %d %d", &e[0], &e[1], &e[2], &e[3], &v.lines[0], &v.lines[1],
                          &v.lines[2], &v.lines[3]);
  assert_true(read >= 4);
  v.errors = e[0] + e[1] + e[2] + e[3];
  return v;
}

static bool names_one_of(const PtxKernel *kernel, const PtxResult *result, const int lines[4]) {
  for (int32_t f = 0; f < result->n_faults; f++)
    for (int k = 0; k < 4; k++) {
      const int32_t other = result->faults[f].other_pc;
      if (lines[k] && (ptx_instruction(kernel, result->faults[f].pc).line == lines[k] ||
                       (other >= 0 && ptx_instruction(kernel, other).line == lines[k])))
        return true;
    }
  return false;
}

/* Than the recording; its tools do not look at registers. */
static bool is_newer(const char *kernel) {
  return strstr("register_without_a_value value_in_some_lanes value_in_time", kernel) != NULL;
}

/* Each fault that it found is found here, at one of its lines; it and we are silent on the sound kernels. */
TEST(beside_compute_sanitizer) {
  if (no_clang()) skip();
  int n_theirs = 0, n_ours = 0, missed = 0;
  for (int sound = 0; sound < 2; sound++) {
    const char *path = sound ? FOLDER "sound.cu" : FOLDER "broken.cu";
    char *text = source_of(path);
    PtxModule *module = module_of(path, text);
    for (const char *p = text; (p = strstr(p, "__global__ void ")) != NULL; p++) {
      char name[NAME_BYTES], recorded[NAME_BYTES + 8];
      float in[128], out[128];
      PtxKernel *kernel;
      PtxResult result;
      name_at(p, name);
      if (is_newer(name)) continue;
      snprintf(recorded, sizeof recorded, "%s_%s", sound ? "sound" : "broken", name);
      const Verdict v = recorded_verdict(recorded);
      run(module, name, in, out, &kernel, &result);
      n_theirs += v.errors > 0, n_ours += result.n_faults > 0;
      if (sound) assert_int_equal(v.errors, 0);
      if (v.errors > 0 && !names_one_of(kernel, &result, v.lines)) fail_with(name, "its line", &result), missed++;
      ptx_result_free(&result);
      ptx_kernel_free(kernel);
    }
    ptx_module_free(module);
    free(text);
  }
  assert_int_equal(missed, 0);
  assert_int_equal(n_theirs, 19); /* of 26: it sees no races of blocks, no shared memory that nobody wrote */
  assert_int_equal(n_ours, 26);
}

/* --- the student's kernel --- */

typedef struct {
  const char *mistake;
  const char *mark, *from, *to; /* in the line with the mark */
  int less_shared, more_blocks; /* of the launch */
  const char *kind, *at, *with; /* what must be reported, at the lines of these marks */
} Mistake;

static char *changed(const char *text, const Mistake *m) {
  const char *mark = strstr(text, m->mark), *line = mark;
  assert_non_null(mark);
  while (line > text && line[-1] != '\n') line--;
  const char *at = strstr(line, m->from);
  assert_true(at && at < mark);
  char *copy = calloc(strlen(text) + strlen(m->to) + 1, 1);
  memcpy(copy, text, (size_t)(at - text));
  strcat(copy, m->to);
  return strcat(copy, at + strlen(m->from));
}

enum { N = 128, D = 32, B_C = 32, BLOCK = 64 };

static void run_student(const PtxModule *module, const Mistake *m, PtxKernel **kernel, PtxResult *result) {
  static float x[4][N * D];
  int32_t n = N, d = D, b_c = B_C;
  float scale = 1 / sqrtf(D);
  Error error = {0};
  for (int a = 0; a < 3; a++) {
    char text[64];
    Spec spec = {0};
    snprintf(text, sizeof text, "f32[%d]:normal:%d", N * D, a + 1);
    assert_int_equal(spec_parse(text, &spec, &error), STATUS_OK);
    spec_fill(&spec, x[a]);
  }
  memset(x[3], 0, sizeof x[3]);
  const PtxArgument arguments[] = {
      {.kind = PTX_SCALAR, .bytes = &n, .n_bytes = 4},
      {.kind = PTX_SCALAR, .bytes = &d, .n_bytes = 4},
      {.kind = PTX_SCALAR, .bytes = &b_c, .n_bytes = 4},
      {.kind = PTX_SCALAR, .bytes = &scale, .n_bytes = 4},
      {.kind = PTX_BUFFER, .bytes = x[0], .n_bytes = sizeof x[0], .name = "Q"},
      {.kind = PTX_BUFFER, .bytes = x[1], .n_bytes = sizeof x[1], .name = "K"},
      {.kind = PTX_BUFFER, .bytes = x[2], .n_bytes = sizeof x[2], .name = "V"},
      {.kind = PTX_BUFFER, .bytes = x[3], .n_bytes = sizeof x[3], .name = "O", .uninitialised = true}};
  const PtxLaunch launch = {.grid = {N / BLOCK + m->more_blocks, 1, 1},
                            .block = {BLOCK, 1, 1},
                            .dynamic_shared_bytes = (2 * B_C + 2 * BLOCK) * D * 4 - m->less_shared,
                            .arguments = arguments,
                            .n_arguments = 8,
                            .faults = true};
  if (ptx_kernel_new(module, 0, kernel, &error)) fail_msg("%s: %s", m->mistake, error.message);
  if (ptx_run(*kernel, &launch, result, &error)) fail_msg("%s: %s", m->mistake, error.message);
}

TEST(the_students_mistakes) {
  if (no_clang()) skip();
  static const Mistake MISTAKES[] = {
      {"none", "/*zero o*/", "", "", 0, 0, NULL, NULL, NULL},
      {"first barrier missing", "/*first barrier*/", "__syncthreads();", "", 0, 0, "race", "/*load*/", "/*sums*/"},
      {"second barrier missing", "/*second barrier*/", "__syncthreads();", "", 0, 0, "race", "/*scores*/", "/*load*/"},
      {"O not set to 0", "/*zero o*/", "o[e] = 0;", "", 0, 0, "uninitialised", "/*sums*/", NULL},
      {"one turn too many", "/*loop*/", "e < Bc", "e <= Bc", 0, 0, "out of bounds", "/*load*/", NULL},
      {"shared memory 256 bytes too short", "/*zero o*/", "", "", 256, 0, "out of bounds", "/*zero o*/", NULL},
      {"barrier of some", "/*second barrier*/", "__syncthreads();", "if (t < 40) __syncthreads();", 0, 0, "barrier",
       "/*first barrier*/", "/*second barrier*/"},
      {"row without blockIdx", "/*store*/", "+ i)", "+ t)", 0, 0, "race", "/*store*/", "/*store*/"},
      {"one block too many", "/*zero o*/", "", "", 0, 1, "out of bounds", "/*load q*/", NULL},
  };
  char *text = source_of(FOLDER "student.cu");
  int missed = 0;
  for (size_t i = 0; i < sizeof MISTAKES / sizeof *MISTAKES; i++) {
    const Mistake *m = &MISTAKES[i];
    char *source = changed(text, m);
    PtxModule *module = module_of(FOLDER "student.cu", source);
    PtxKernel *kernel;
    PtxResult result;
    run_student(module, m, &kernel, &result);
    const int line = m->at ? line_of(source, strstr(source, m->at)) : 0,
              other = m->with ? line_of(source, strstr(source, m->with)) : 0;
    if (m->kind
            ? !found(kernel, &result, m->kind, line, other) && !(other && found(kernel, &result, m->kind, other, line))
            : result.n_faults > 0)
      fail_with(m->mistake, m->kind ? m->kind : "silence", &result), missed++;
    ptx_result_free(&result);
    ptx_kernel_free(kernel);
    ptx_module_free(module);
    free(source);
  }
  free(text);
  assert_int_equal(missed, 0);
}
