/* Tasks that are answered with a kernel: references against plain loops, starts and mutants told what is wrong with
 * them, rewritings let pass, and kernels that play with the grader ended with a word.
 *
 *     RECORD=1            compiles reference and mutants of each task to lessons/tasks/NAME.ptx (clang)
 *     TILEWALK_DEPTH=N  all mutants, N - 1 made ones of each reference, and all rewritings, as CUDA (clang) */
#include "tests/support/test.h"
#include "tests/support/sanitized.h"
#include <time.h>

#include "kernels/ptx/ptx_argument.h"
#include "sim/base/ascii.h"
#include "viz/compile/cuda_compile.h"
#include "viz/lesson/kernel_judge.h"
#include "viz/lesson/lesson_workshop.h"
#include "viz/request/assets.h"

static const char *const TASKS[] = {"map",     "block-sum", "row-sums", "transpose", "padding",
                                    "softmax", "online",    "multiply", "attention", "merge"};
enum { N_TASKS = sizeof TASKS / sizeof *TASKS, PTX_BYTES = 4 << 20 };

static ProgramTask *task_of(const char *name) {
  Error error = {0};
  ProgramTask *task = task_open(name, &error);
  if (!task) fail_msg("%s", error.message);
  return task;
}

static TaskJudgement judge(const char *name, const ProgramTask *task, const char *text) {
  TaskJudgement j;
  Error error = {0};
  if (task_judge(name, task, text, strlen(text), "mine.cu", &j, &error)) fail_msg("%s: %s", name, error.message);
  return j;
}

/* ---- What is recorded ---- */

static uint64_t hash_of(const char *text) {
  uint64_t h = 1469598103934665603u;
  for (; *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211u;
  return h;
}

/* Without debug information, which a judge does not look at. */
static void write_recorded(const char *name, const char *head, char *ptx) {
  char path[256];
  snprintf(path, sizeof path, "lessons/tasks/%s.ptx", name);
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fputs(head, out);
  char *end = strstr(ptx, "\n\t.section");
  if (end) end[1] = '\0';
  for (char *line = ptx, *next; *line; line = next) {
    next = line + strcspn(line, "\n");
    if (*next) *next++ = '\0';
    const char *word = line + strspn(line, " \t");
    static const char *const DEBUG[] = {"//", ".loc", ".file", "$L__tmp", "$L__func", "Ltmp", "Lfunc"};
    bool is_debug = !*word;
    for (size_t d = 0; d < sizeof DEBUG / sizeof *DEBUG; d++)
      is_debug = is_debug || strncmp(word, DEBUG[d], strlen(DEBUG[d])) == 0;
    if (!is_debug) fprintf(out, "%s\n", line);
  }
  fclose(out);
}

/* The PTX beside each task is of that task: its first line names a hash of the source. */
TEST(recorded_ptx_is_of_its_task) {
  char *source = malloc(KERNEL_TASK_SOURCE_BYTES), head[128];
  assert_non_null(source);
  for (int k = 0; k < N_TASKS; k++) {
    Error error = {0};
    ProgramTask *task = task_of(TASKS[k]);
    assert_int_equal(kernel_task_source(task, source, &error), STATUS_OK);
    snprintf(head, sizeof head, "// reference and mutants of %s.task, source %016llx\n", TASKS[k],
             (unsigned long long)hash_of(source));
    if (getenv("RECORD")) {
      const CudaSource cuda = {.path = "task.cu", .text = source, .length = strlen(source)};
      CudaResult compiled;
      if (cuda_compile(&cuda, &compiled, &error)) fail_msg("%s: %s", TASKS[k], error.message);
      write_recorded(TASKS[k], head, compiled.ptx);
      free(compiled.ptx);
    }
    char path[256], *text;
    size_t length;
    snprintf(path, sizeof path, "lessons/tasks/%s.ptx", TASKS[k]);
    if (file_read(path, PTX_BYTES, &text, &length, &error)) fail_msg("%s", error.message);
    if (strncmp(text, head, strlen(head)) != 0) fail_msg("%s is not of %s.task; RECORD=1 writes it", path, TASKS[k]);
    free(text);
    free(task);
  }
  free(source);
}

/* Variant k of the recorded module as an answer in PTX: of its name are the letters alone. */
static char *recorded_answer(const char *name, const ProgramTask *task, int k) {
  char path[256], *text, from[96];
  size_t length;
  Error error = {0};
  snprintf(path, sizeof path, "lessons/tasks/%s.ptx", name);
  if (file_read(path, PTX_BYTES, &text, &length, &error)) fail_msg("%s", error.message);
  const int n = snprintf(from, sizeof from, "%s_%d", task->entry, k);
  for (char *p = text; (p = strstr(p, task->entry)); p += 1)
    if (strncmp(p, from, (size_t)n) == 0 && !ascii_is_digit((unsigned char)p[n]))
      memmove(p + strlen(task->entry), p + n, strlen(p + n) + 1); /* ENTRY_k is ENTRY now */
    else
      *p = 'x'; /* another variant */
  return text;
}

TEST(references_pass_and_mutants_are_told_what_they_are) {
  const int step = test_depth() > 1 ? 1 : 4 * ONE_OF; /* all of them by hand */
  int n = 0, own = 0;
  for (int t = 0; t < N_TASKS; t++) {
    ProgramTask *task = task_of(TASKS[t]);
    for (int k = 0; k <= task->n_mutants; k += k ? step : 1 + t % step) {
      char *answer = recorded_answer(TASKS[t], task, k);
      const TaskJudgement j = judge(TASKS[t], task, answer);
      free(answer);
      if (k == 0 && j.verdict) fail_msg("%s: the reference is %s: %s", TASKS[t], task_verdict_name(task, &j), j.why);
      if (k == 0) continue;
      if (!j.verdict)
        fail_msg("%s: mutant '%s' => '%s' passes", TASKS[t], task->mutants[k - 1].find, task->mutants[k - 1].replace);
      if (j.mutant < 0) fail_msg("%s: mutant '%s' gets no word: %s", TASKS[t], task->mutants[k - 1].replace, j.why);
      n++;
      own += j.mutant == k - 1;
    }
    free(task);
  }
  print_message("%d mutants get a word, %d their own\n", n, own);
  assert_true(n >= 60 / step && 10 * own >= 8 * n);
}

/* ---- References against plain loops in fp64 ---- */

enum { ARGUMENTS = 8 };
typedef struct {
  Spec spec[ARGUMENTS];
  void *bytes[ARGUMENTS];
  int n;
} Inputs;

static double at(const Inputs *in, int a, int64_t i) { return spec_element(in->spec[a].type, in->bytes[a], i); }
static int64_t whole(const Inputs *in, int a) { return ((const int32_t *)in->bytes[a])[0]; }

static double scale_add(const Inputs *in, int64_t i) { return at(in, 1, 0) * at(in, 2, i) + at(in, 3, i); }

static double block_sum(const Inputs *in, int64_t b) {
  double s = 0;
  for (int64_t i = 256 * b; i < 256 * b + 256 && i < whole(in, 0); i++) s += at(in, 1, i);
  return s;
}

static double row_sums(const Inputs *in, int64_t row) {
  double s = 0;
  for (int64_t c = 0; c < whole(in, 1); c++) s += at(in, 2, row * whole(in, 1) + c);
  return s;
}

static double transposed(const Inputs *in, int64_t i) {
  const int64_t n = whole(in, 0);
  return at(in, 1, i % n * n + i / n);
}

static double softmax(const Inputs *in, int64_t i) {
  const int64_t n = whole(in, 0), row = i / n;
  double m = -INFINITY, l = 0;
  for (int64_t j = 0; j < n; j++) m = fmax(m, at(in, 1, 0) * at(in, 2, row * n + j));
  for (int64_t j = 0; j < n; j++) l += exp(at(in, 1, 0) * at(in, 2, row * n + j) - m);
  return exp(at(in, 1, 0) * at(in, 2, i) - m) / l;
}

static double product(const Inputs *in, int64_t i) {
  const int64_t n = whole(in, 0);
  double s = 0;
  for (int64_t k = 0; k < n; k++) s += at(in, 1, i / n * n + k) * at(in, 2, k * n + i % n);
  return s;
}

static double attended(const Inputs *in, int64_t i) {
  const int64_t N = whole(in, 0), row = i / 32, c = i % 32;
  double m = -INFINITY, l = 0, o = 0, s[256];
  for (int64_t j = 0; j < N; j++) {
    s[j] = 0;
    for (int64_t k = 0; k < 32; k++) s[j] += at(in, 1, 0) * at(in, 2, row * 32 + k) * at(in, 3, j * 32 + k);
    m = fmax(m, s[j]);
  }
  for (int64_t j = 0; j < N; j++) l += exp(s[j] - m), o += exp(s[j] - m) * at(in, 4, j * 32 + c);
  return o / l;
}

static double merged(const Inputs *in, int64_t i) {
  const int64_t rows = whole(in, 0), splits = whole(in, 1), row = i / 64;
  double l = 0, o = 0, m = -INFINITY;
  for (int64_t s = 0; s < splits; s++) m = fmax(m, at(in, 2, s * rows + row));
  for (int64_t s = 0; s < splits; s++) {
    const double f = exp(at(in, 2, s * rows + row) - m);
    l += f * at(in, 3, s * rows + row), o += f * at(in, 4, (s * rows + row) * 64 + i % 64);
  }
  return o / l;
}

static void check_reference(const char *name, const ProgramTask *task, int state,
                            double expected(const Inputs *in, int64_t i)) {
  char words[PROGRAM_TASK_LINE_BYTES], *rest = words, *ptx = recorded_answer(name, task, 0);
  Inputs in = {.n = 0}, out = {.n = 0};
  PtxLaunch launch = {.n_arguments = 0};
  PtxArgument arguments[ARGUMENTS] = {{0}};
  PtxModule *module;
  PtxKernel *kernel;
  PtxResult result;
  Error error = {0};
  int result_of = -1;
  strcpy(words, task->states[state]);
  for (char *word; (word = strtok_r(rest, " ", &rest));) {
    if (sscanf(word, "grid=%d,%d", &launch.grid[0], &launch.grid[1]) ||
        sscanf(word, "block=%d,%d", &launch.block[0], &launch.block[1]) || sscanf(word, "out=%d", &result_of))
      continue;
    assert_int_equal(strncmp(word, "arg=", 4), 0);
    for (Inputs *side = &in;; side = &out) { /* what is read, and what the kernel writes into */
      assert_int_equal(spec_parse(word + 4, &side->spec[side->n], &error), STATUS_OK);
      side->bytes[side->n] = calloc((size_t)side->spec[side->n].n + 1, 8);
      spec_fill(&side->spec[side->n], side->bytes[side->n]);
      side->n++;
      if (side == &out) break;
    }
    const int a = in.n - 1;
    arguments[a] = (PtxArgument){.kind = in.spec[a].is_buffer ? PTX_BUFFER : PTX_SCALAR,
                                 .bytes = out.bytes[a],
                                 .n_bytes = in.spec[a].n * spec_type_bytes(in.spec[a].type)};
  }
  launch.arguments = arguments, launch.n_arguments = in.n;
  assert_int_equal(ptx_module_load(ptx, strlen(ptx), name, &module, &error), STATUS_OK);
  assert_int_equal(ptx_kernel_new(module, ptx_find_entry(module, task->entry), &kernel, &error), STATUS_OK);
  if (ptx_run(kernel, &launch, &result, &error)) fail_msg("%s: %s", name, error.message);
  const Spec *spec = &in.spec[result_of];
  for (int64_t i = 0; i < spec->n; i++) {
    const double is = spec_element(spec->type, out.bytes[result_of], i), should = expected(&in, i);
    if (!(fabs(is - should) <= 2e-5 * (1 + fabs(should))))
      fail_msg("%s, element %d: %g, by loops %g", name, (int)i, is, should);
  }
  ptx_result_free(&result);
  ptx_kernel_free(kernel);
  ptx_module_free(module);
  for (int a = 0; a < in.n; a++) free(in.bytes[a]), free(out.bytes[a]);
  free(ptx);
}

TEST(references_compute_what_plain_loops_do) {
  double (*const EXPECTED[N_TASKS])(const Inputs *, int64_t) = {scale_add, block_sum, row_sums, transposed, transposed,
                                                                softmax,   softmax,   product,  attended,   merged};
  for (int t = 0; t < N_TASKS; t++) {
    ProgramTask *task = task_of(TASKS[t]);
    for (int k = 0; k < task->n_states; k++) check_reference(TASKS[t], task, k, EXPECTED[t]);
    free(task);
  }
}

/* ---- Kernels that play with the grader: each ends at once, with a word ---- */

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define HEAD                                                                                                           \
  ".version 7.2\n.target sm_80\n.address_size 64\n"                                                                    \
  ".visible .entry scale_add(.param .u32 a, .param .f32 b, .param .u64 c, .param .u64 d)\n{\n"                         \
  ".reg .b64 %rd<9>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .pred %p<3>;\n"

#ifdef __SANITIZE_ADDRESS__
#define LIMIT_S 60 /* the sanitizers take their time */
#else
#define LIMIT_S 6 /* a tenth and less on a quiet machine */
#endif

TEST(kernels_that_play_with_the_grader_end_with_a_word) {
  char *huge = malloc(1 << 20);
  assert_non_null(huge);
  strcpy(huge, HEAD);
  for (size_t n = strlen(huge); n < 900000; n += 21) strcpy(huge + n, "add.s32 %r1, %r1, 1;\n");
  strcat(huge, "ret;\n}\n");
  const struct {
    const char *text, *says;
  } ROWS[] = {
      {HEAD "L: bra L;\n}\n", "it does not end"}, /* endless */
      {HEAD "L: add.s32 %r1, %r1, 1;\nbar.sync 0;\nbra L;\n}\n", "it does not end"},
      {HEAD "mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra L;\nbar.sync 0;\nL: ret;\n}\n",
       ""}, /* waits for nobody */
      {huge, "more than 20,000 instructions"},
      {HEAD "ld.param.u64 %rd1, [d];\nmov.f32 %f1, 0f3F000000;\nst.global.f32 [%rd1], %f1;\nret;\n}\n",
       ""}, /* a constant */
      {HEAD "ld.param.u64 %rd1, [d];\nadd.s64 %rd1, %rd1, 1048576;\nld.global.f32 %f1, [%rd1];\n"
            "st.global.f32 [%rd1], %f1;\nret;\n}\n",
       "past the end of y"}, /* looks for the answers */
      {HEAD "ret;\n}\n", "should be"},
      {".version 7.2\n.target sm_80\n.address_size 64\n.visible .entry scale_add(.param .u64 a)\n{\nret;\n}\n",
       "its parameters are not those"},
      {".version 7.2\n.target sm_80\n.address_size 64\n.visible .entry other()\n{\nret;\n}\n",
       "has no kernel 'scale_add'"},
      {"\x7f\x45LF.version", ""},
      {"", ""},
  };
  ProgramTask *task = task_of("map");
  for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++) {
    const double began = seconds();
    const TaskJudgement j = judge("map", task, ROWS[k].text);
    if (!j.verdict || !*j.why || !strstr(j.why, ROWS[k].says))
      fail_msg("row %zu is %s: %s", k, task_verdict_name(task, &j), j.why);
    if (seconds() - began > LIMIT_S) fail_msg("row %zu took %.1f s", k, seconds() - began);
  }
  free(huge);
  free(task);
}

/* Replaces the `which`th of `find` behind the kernel's head; false: there are fewer. */
static bool replace_one(const char *text, const char *find, const char *replace, int which, char *to, size_t size) {
  const char *p = strchr(text, '{');
  for (p = strstr(p, find); p && which; which--) p = strstr(p + 1, find);
  const char *line = p;
  while (line && line > text && line[-1] != '\n') line--;
  if (!p || strstr(line, "__shared__ ") == line + strspn(line, " ")) return false;
  snprintf(to, size, "%.*s%s%s", (int)(p - text), text, replace, p + strlen(find));
  return true;
}

/* ---- Kernels that meet the sectors by other means (clang) ---- */

#define SOFTMAX "extern \"C\" __global__ void row_softmax(int n, float scale, const float *S, float *P) {\n"
#define ROW                                                                                                            \
  "const int t = threadIdx.x; const float *row = S + blockIdx.x * n; float *out = P + blockIdx.x * n;\n"               \
  "float m = -INFINITY, l = 0;\n"

TEST(cheats_are_refused) {
  static const char *const ROWS[][2] = {
      {SOFTMAX
       "__shared__ float kept[4200];\n" ROW
       "for (int j = t; j < n; j += blockDim.x) kept[j] = row[j] * scale;\n__syncthreads();\n"
       "for (int j = 0; j < n; j++) m = fmaxf(m, kept[j]);\nfor (int j = 0; j < n; j++) l += expf(kept[j] - m);\n"
       "for (int j = t; j < n; j += blockDim.x) out[j] = expf(kept[j] - m) / l;\n}\n",
       "shared: "},
      {SOFTMAX
       "__shared__ float part[128]; float kept[64];\n" ROW
       "for (int j = t, k = 0; j < n; j += blockDim.x) kept[k++] = row[j] * scale, m = fmaxf(m, kept[k - 1]);\n"
       "part[t] = m;\n__syncthreads();\nfor (int k = 0; k < blockDim.x; k++) m = fmaxf(m, part[k]);\n"
       "__syncthreads();\nfor (int j = t, k = 0; j < n; j += blockDim.x) l += expf(kept[k++] - m);\npart[t] = l;\n"
       "__syncthreads();\nl = 0;\nfor (int k = 0; k < blockDim.x; k++) l += part[k];\n"
       "for (int j = t, k = 0; j < n; j += blockDim.x) out[j] = expf(kept[k++] - m) / l;\n}\n",
       "local: "},
      {SOFTMAX ROW "if (t > 0) return;\nfor (int j = 0; j < n; j++) { const float now = fmaxf(m, row[j] * scale);\n"
                   "l = l * expf(m - now) + expf(row[j] * scale - now); m = now; }\n"
                   "for (int j = 0; j < n; j++) out[j] = expf(row[j] * scale - m) / l;\n}\n",
       "sectors: "},
  };
  ProgramTask *task = task_of("online");
  char clang[CLANG_NAME_BYTES], text[PROGRAM_TASK_PROGRAM_BYTES];
  for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS && clang_find(clang); k++) {
    const TaskJudgement j = judge("online", task, ROWS[k][0]);
    if (j.verdict != TASK_DEMAND || !strstr(j.why, ROWS[k][1])) fail_msg("cheat %zu: %s", k, j.why);
  }
  if (clang_find(clang)) { /* made for the rows that are shown */
    assert_true(replace_one(task->reference, "j < n", "j < 300", 0, text, sizeof text));
    assert_int_not_equal(judge("online", task, text).verdict, TASK_SOLVED);
  }
  free(task);
}

/* ---- Made mutants, and rewritings, as CUDA ---- */

static const char *const SLIPS[][2] = {
    {" < ", " <= "},
    {" < ", " > "},
    {" + ", " - "},
    {" - ", " + "},
    {" * ", " + "},
    {" / ", " * "},
    {" % ", " / "},
    {"threadIdx.x", "threadIdx.y"},
    {"threadIdx.x", "0"},
    {"blockIdx.x", "0"},
    {"blockIdx.y", "blockIdx.x"},
    {"32", "16"},
    {"32", "31"},
    {"16", "8"},
    {"256", "128"},
    {"128", "64"},
    {" = 0", " = 1"},
    {"fmaxf", "fminf"},
    {" && ", " || "},
    {" += ", " = "},
    {"__syncthreads();", ""},
    {"expf(", "("},
    {"tx", "ty"},
    {"ty", "tx"},
    {"column", "row"},
    {"[t]", "[0]"},
    {" ? ", " ? 2 * "},
    {"[k]", "[0]"},
    {"-INFINITY", "0"},
    {" == 0", " == 1"},
    {" = m;", " = 0;"},
    {"[i]", "[i + 1]"},
    {" s ", " t "},
    {"lane", "row"},
    {"j0 + r", "r"},
    {" n ", " 32 "},
    {"half", "256"},
    {" / 2", " / 4"},
    {"k + ", ""},
    {" * scale", ""},
    {"x[i]", "y[i]"},
    {"y[i]", "x[i]"},
    {" + y[i]", ""},
    {"blockDim.x", "gridDim.x"},
    {"blockDim.x", "32"},
    {"blockIdx.x", "1"},
    {" < n", " < n / 2"},
    {" < n", " < n - 1"},
    {" < ", " == "},
    {"[i]", "[i / 2]"},
    {" = a", " = -a"},
    {" * ", " / "},
    {" * ", " * 2 * "},
    {"[i]", "[0]"},
    {"(i < ", "(1 + i < "},
};
/* Made mutants that pass, and should. */
static const char *const EQUIVALENT[] = {
    "if (i <= n - 1)", /* i < n, of whole numbers */
    "i <= n - 1 ?",
    "x <= n - 1 &&",
    "blockIdx.x * 2 * 128 +",
    "k < 31; k += 8",        /* 24 is the last either way */
    "k <= n; k += 16",       /* a tile more, of zeros */
    "if (lane == 1)",        /* after the exchange each lane has the sum, the same to the bit: a + b is b + a */
    "if (t == 1)\n    sum[", /* the last barrier is passed: any thread may store */
    "m = -INFINITY, l = 1;", /* e^-inf times it is 0 */
    "o[c] = 1;",
    "j <= n - 1;",
    "c <= 32;",                     /* clang knows that there is no o[32]: it makes the same */
    "float s = 1;\n      for (int", /* softmax does not see what is added to all scores */
};
static const char *const REWRITINGS[][2] = {
    {"blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x + blockDim.x * blockIdx.x"},
    {"a * x[i] + y[i]", "fmaf(a, x[i], y[i])"},
    {"(i < n)", "(!(i >= n))"},
    {"half /= 2", "half >>= 1"},
    {"half > 0", "half >= 1"},
    {"const int ", "int "},
    {"float s = 0;", "float s = 0.0f;"},
    {"__syncthreads();", "__syncthreads(); __syncthreads();"},
    {"32", "(31 + 1)"},
    {"c += 32", "c = c + 32"},
    {"part[t] += part[t + half]", "part[t] = part[t] + part[t + half]"},
    {" / l", " * (1 / l)"},
    {"128", "(2 * 64)"},
    {"m = now;", "m = fmaxf(m, now);"},
    {"k < 32", "k <= 31"},
    {"e < 16", "e != 16"},
    {"threadIdx.x", "(int)threadIdx.x"},
    {" / sum", " * (1.f / sum)"},
    {"    ", "  /* a comment */  "},
    {"row * d + c", "c + d * row"},
    {"float ", "float /* fp32 */ "},
    {"x < n && y + k < n", "y + k < n && x < n"},
    {"o[c] * f + p * v[r][c]", "p * v[r][c] + f * o[c]"},
    {"l * f + p", "p + f * l"},
    {"(row + k) * n + column", "column + n * (k + row)"},
    {"s = 0; s < splits; s++", "s = splits - 1; s >= 0; s--"},
    {"== 0", "< 1"},
    {"sum += a[ty][e] * b[e][tx]", "sum = fmaf(a[ty][e], b[e][tx], sum)"},
    {"k += 16", "k = k + 16"},
    {"half = 128", "half = 256 / 2"},
};

TEST(made_mutants_are_refused_and_rewritings_pass) {
  const int each = test_depth() - 1;
  char clang[CLANG_NAME_BYTES], text[PROGRAM_TASK_PROGRAM_BYTES];
  int all = 0, refused = 0, unreadable = 0, told = 0, equivalent = 0, rewritten = 0;
  uint64_t seed = 53;
  if (!each || !clang_find(clang)) return; /* clang takes a quarter of a second for each */
  for (int t = 0; t < N_TASKS; t++) {
    ProgramTask *task = task_of(TASKS[t]);
    char(*made)[PROGRAM_TASK_PROGRAM_BYTES] = calloc((size_t)each, sizeof *made);
    assert_non_null(made);
    int n = 0;
    for (int tries = 0; n < each && tries < 40000; tries++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const char *const *slip = SLIPS[(seed >> 33) % (sizeof SLIPS / sizeof *SLIPS)];
      if (!replace_one(task->reference, slip[0], slip[1], (int)((seed >> 50) % 8), made[n], sizeof *made)) continue;
      for (uint64_t slips = (seed >> 20) % 3; slips > 0; slips--) { /* up to two more */
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const char *const *more = SLIPS[(seed >> 33) % (sizeof SLIPS / sizeof *SLIPS)];
        if (replace_one(made[n], more[0], more[1], (int)((seed >> 50) % 8), text, sizeof text)) strcpy(made[n], text);
      }
      bool is_new = strcmp(made[n], task->reference) != 0; /* a slip may undo another */
      for (int other = 0; other < n && is_new; other++) is_new = strcmp(made[other], made[n]) != 0;
      n += is_new;
    }
    int here = 0;
    for (int k = 0; k < n; k++) {
      const TaskJudgement j = judge(TASKS[t], task, made[k]);
      bool is_equivalent = false;
      for (size_t e = 0; e < sizeof EQUIVALENT / sizeof *EQUIVALENT; e++)
        is_equivalent |= !j.verdict && strstr(made[k], EQUIVALENT[e]);
      equivalent += is_equivalent, all += !is_equivalent;
      here += j.verdict != TASK_SOLVED, unreadable += j.verdict == TASK_UNREADABLE, told += j.mutant >= 0;
      if (!j.verdict && !is_equivalent) print_message("%s: passes:\n%s\n", TASKS[t], made[k]);
    }
    refused += here;
    print_message("%s: %d of %d mutants refused\n", TASKS[t], here, n);
    for (size_t w = 0; w < sizeof REWRITINGS / sizeof *REWRITINGS; w++) {
      if (!replace_one(task->reference, REWRITINGS[w][0], REWRITINGS[w][1], 0, text, sizeof text)) continue;
      const TaskJudgement j = judge(TASKS[t], task, text);
      if (j.verdict) fail_msg("%s, '%s' is %s: %s", TASKS[t], REWRITINGS[w][1], task_verdict_name(task, &j), j.why);
      rewritten++;
    }
    free(made);
    free(task);
  }
  print_message("%d of %d made mutants are refused (%d by clang), %d more are equivalent, %d get a sentence\n", refused,
                all, unreadable, equivalent, told);
  print_message("%d rewritings pass\n", rewritten);
  assert_true(100 * refused >= 95 * all && rewritten >= 50);
}
