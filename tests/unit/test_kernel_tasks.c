/* Tasks that are answered with a kernel: references against plain loops, starts and mutants told what is wrong with
 * them, rewritings let pass, and kernels that play with the grader ended with a word.
 *
 *     RECORD=1            compiles reference and mutants of each task to lessons/tasks/NAME.ptx (clang)
 *     TILEWALK_DEPTH=2    all mutants
 * Kernels that are right for what is shown alone, or meet the sectors by other means: tests/commands/judge.txt. */
#include "tests/support/test.h"
#include "tests/support/sanitized.h"

#include "kernels/ptx/ptx_argument.h"
#include "sim/base/ascii.h"
#include "viz/compile/cuda_compile.h"
#include "viz/lesson/kernel_judge.h"
#include "viz/lesson/lesson_workshop.h"

static const char *const TASKS[] = {"map",     "block-sum", "row-sums", "transpose", "padding",
                                    "softmax", "online",    "multiply", "attention", "merge"};
enum { N_TASKS = COUNT_OF(TASKS), PTX_BYTES = 4 << 20 };

static ProgramTask *task_of(const char *name) {
  ProgramTask *task = task_open(name, fresh_error());
  must(!task);
  return task;
}

static TaskJudgement judge(const char *name, ProgramTask *task, const char *text) {
  TaskJudgement j;
  must(task_draw(task, 0, ALL_OF(text), fresh_error()) ||
       task_judge(name, task, ALL_OF(text), "mine.cu", &j, fresh_error()));
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
  FILE *out = fopen(test_text("lessons/tasks/%s.ptx", name), "w");
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
    EACH (d, DEBUG) is_debug = is_debug || strncmp(word, ALL_OF(DEBUG[d])) == 0;
    if (!is_debug) fprintf(out, "%s\n", line);
  }
  fclose(out);
}

/* The PTX beside each task is of that task: its first line names a hash of the source. */
TEST(recorded_ptx_is_of_its_task) {
  char *source = malloc(KERNEL_TASK_SOURCE_BYTES), head[128];
  assert_non_null(source);
  for (int k = 0; k < N_TASKS; k++) {
    ProgramTask *task = task_of(TASKS[k]);
    must(kernel_task_source(task, source, fresh_error()));
    snprintf(head, sizeof head, "// reference and mutants of %s.task, source %016llx\n", TASKS[k],
             (unsigned long long)hash_of(source));
    if (getenv("RECORD")) {
      const CudaSource cuda = {.path = "task.cu", .text = source, .length = strlen(source)};
      CudaResult compiled;
      must(cuda_compile(&cuda, &compiled, fresh_error()));
      write_recorded(TASKS[k], head, compiled.ptx);
      free(compiled.ptx);
    }
    char path[256], *text;
    size_t length;
    snprintf(path, sizeof path, "lessons/tasks/%s.ptx", TASKS[k]);
    must(file_read(path, PTX_BYTES, &text, &length, fresh_error()));
    if (strncmp(text, ALL_OF(head)) != 0) fail_msg("%s is not of %s.task; RECORD=1 writes it", path, TASKS[k]);
    free(text);
    free(task);
  }
  free(source);
}

/* Variant k of a recorded module as an answer in PTX: of its name are the letters alone. */
static char *answer_of(const char *recorded, const ProgramTask *task, int k) {
  char *text = malloc(strlen(recorded) + 1), from[96];
  assert_non_null(text);
  strcpy(text, recorded);
  const int n = snprintf(from, sizeof from, "%s_%d", task->entry, k);
  for (char *p = text; (p = strstr(p, task->entry)); p += 1)
    if (strncmp(p, from, (size_t)n) == 0 && !ascii_is_digit((unsigned char)p[n]))
      memmove(p + strlen(task->entry), p + n, strlen(p + n) + 1); /* ENTRY_k is ENTRY now */
    else
      *p = 'x'; /* another variant */
  return text;
}

static char *recorded_answer(const char *name, const ProgramTask *task, int k) {
  char *text;
  size_t length;
  must(file_read(test_text("lessons/tasks/%s.ptx", name), PTX_BYTES, &text, &length, fresh_error()));
  char *answer = answer_of(text, task, k);
  free(text);
  return answer;
}

TEST(references_pass_and_mutants_are_told_what_they_are) {
  const int step = test_depth() > 1 ? 1 : 4 * SLOWER; /* all of them by hand */
  int n = 0, own = 0;
  for (int t = 0; t < N_TASKS; t++) {
    ProgramTask *task = task_of(TASKS[t]);
    for (int k = 0; k <= task->n_mutants; k += k ? step : 1 + t % step) {
      char *answer = recorded_answer(TASKS[t], task, k);
      const TaskJudgement j = judge(TASKS[t], task, answer);
      free(answer);
      assert_true(k != 0 || !j.verdict);
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

static double values[ARGUMENTS][1 << 16]; /* of the inputs: loops read each many times */
static double at(const Inputs *in, int a, int64_t i) { return (void)in, values[a][i]; }
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
      must(spec_parse(word + 4, &side->spec[side->n], &error));
      side->bytes[side->n] = calloc((size_t)side->spec[side->n].n + 1, 8);
      spec_fill(&side->spec[side->n], side->bytes[side->n]);
      side->n++;
      if (side == &out) break;
    }
    const int a = in.n - 1;
    assert_in_range(in.spec[a].n, 0, COUNT_OF(values[a]));
    for (int64_t i = 0; i < in.spec[a].n; i++) values[a][i] = spec_element(in.spec[a].type, in.bytes[a], i);
    arguments[a] = (PtxArgument){.kind = in.spec[a].is_buffer ? PTX_BUFFER : PTX_SCALAR,
                                 .bytes = out.bytes[a],
                                 .n_bytes = in.spec[a].n * spec_type_bytes(in.spec[a].type)};
  }
  launch.arguments = arguments, launch.n_arguments = in.n;
  must(ptx_module_load(ALL_OF(ptx), name, &module, &error));
  must(ptx_kernel_new(module, ptx_find_entry(module, task->entry), &kernel, &error));
  if (ptx_run(kernel, &launch, &result, &error)) fail_msg("%s: %s", name, error.message);
  const Spec *spec = &in.spec[result_of];
  const int64_t step = task->is_hidden[state] ? 1 + spec->n / 400 : 1; /* of large ones some */
  for (int64_t i = 0; i < spec->n; i += step) {
    const double is = spec_element(spec->type, out.bytes[result_of], i), should = expected(&in, i);
    assert_true(is == should || (isnan(is) && isnan(should)) || fabs(is - should) <= 2e-5 * (1 + fabs(should)));
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
  EACH (k, ROWS) {
    const double began = test_seconds();
    const TaskJudgement j = judge("map", task, ROWS[k].text);
    assert_true(j.verdict && *j.why && strstr(j.why, ROWS[k].says));
    assert_true(test_seconds() - began <= LIMIT_S);
  }
  free(huge);
  free(task);
}
