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
  must(file_read(path, 1 << 20, &text, &n, fresh_error()));
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
  must(cuda_compile(&source, &result, fresh_error()));
  must(ptx_module_load(result.ptx, result.length, path, &module, fresh_error()));
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

/* What broken.cu says of a kernel: "// fault: KIND" before it, and the marks of one or two lines inside. */
static bool is_named(const char *text, const char *before, const char *at, const PtxKernel *kernel,
                     const PtxResult *result) {
  char kind[32];
  const char *fault = strstr(before, "// fault: "), *a = strstr(at, "/*A*/"), *b = strstr(at, "/*B*/");
  assert_true(fault && fault < at && a);
  snprintf(kind, sizeof kind, "%.*s", (int)strcspn(fault + 10, "\n"), fault + 10);
  const int line = line_of(text, a), other = b && b < strstr(at, "\n}\n") ? line_of(text, b) : 0;
  /* what happens at one place is told by whoever comes later */
  return found(kernel, result, kind, line, other) || (other && found(kernel, result, kind, other, line));
}

/* The broken are named, the sound are silent; and where compute-sanitizer found a fault, one of its lines is named. */
TEST(the_broken_are_named_and_the_sound_are_silent) {
  if (no_clang()) skip();
  int n_theirs = 0, n[2] = {0}, missed = 0;
  for (int sound = 0; sound < 2; sound++) {
    const char *path = sound ? FOLDER "sound.cu" : FOLDER "broken.cu";
    char *text = source_of(path), *before = text;
    PtxModule *module = module_of(path, text);
    for (char *p = text; (p = strstr(p, "__global__ void ")) != NULL; before = p++) {
      char name[NAME_BYTES], recorded[NAME_BYTES + 8];
      float in[128], out[128];
      PtxKernel *kernel;
      PtxResult result;
      name_at(p, name);
      snprintf(recorded, sizeof recorded, "%s_%s", sound ? "sound" : "broken", name);
      run(module, name, in, out, &kernel, &result);
      const Verdict v = is_newer(name) ? (Verdict){0} : recorded_verdict(recorded);
      n_theirs += v.errors > 0, n[sound]++;
      const bool right = sound ? !result.n_faults && !v.errors : is_named(text, before, p, kernel, &result);
      if (!right || (v.errors > 0 && !names_one_of(kernel, &result, v.lines)))
        fail_with(name, sound ? "silence" : "its lines", &result), missed++;
      ptx_result_free(&result);
      ptx_kernel_free(kernel);
    }
    ptx_module_free(module);
    free(text);
  }
  assert_int_equal(missed, 0);
  assert_int_equal(n_theirs, 19); /* of 26: it sees no races of blocks, no shared memory that nobody wrote */
  assert_true(n[0] >= 26 && n[1] >= 20);
}
