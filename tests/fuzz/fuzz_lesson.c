/* Fuzz target for lesson files: any bytes are either a lesson that can be drawn, filled in, asked
 * and graded, or refused with one printable line that begins with the file's name and a line. Work
 * is bounded, so every input ends. */
#include "tests/fuzz/fuzz.h"
#include "lessons/engine/lesson_lint.h"
#include "viz/lesson/lesson_view.h"
#ifdef TILEWALK_WINDOW
#include "viz/paper/lesson_flow.h"
#include "sim/base/utf8.h"
#endif

static void check_message(const Error *error) {
  const size_t length = strlen(error->message);
  require(length > 0);
  require(utf8_is_text(error->message, length));
}

static void finding(void *context, const char *message) {
  (void)context;
  require(strncmp(message, "fuzzed.md:", 10) == 0);
}

/* Whatever the lesson's state, a small problem: that any state is refused or shown is tests/fuzz/fuzz_request.c. */
static Status look_at_small(void *context, const char *state, const char *change,
                            Status (*look)(void *data, const LessonView *view, Error *error), void *data,
                            Error *error) {
  (void)state;
  return lesson_look(context, "N=16 d=4 block=8 causal=1", *change ? "step=12" : "", look, data, error);
}

/* Little work for each expression, so that many inputs are tried. */
static const ExpressionLimits LIMITS = {.max_steps = 100000, .max_memory_bytes = 1 << 20};

#ifdef TILEWALK_WINDOW
/* Every text as the viewer takes it apart: spans and links lie within their piece, cells within their table. */
static void take_apart(const Lesson *lesson) {
  Flow flow = {0};
  for (size_t k = 0; k < lesson->n_blocks; k++)
    if (lesson->blocks[k].kind == LESSON_PROSE || lesson->blocks[k].kind == LESSON_TASK)
      flow_markdown(&flow, lesson_text(lesson, lesson->blocks[k].text));
  require(flow.store.status == STATUS_OK && flow.text_bytes <= FLOW_TEXT_BYTES + 64);
  for (size_t k = 0; k < flow.n; k++) {
    const FlowPiece *p = &flow.pieces[k];
    const size_t length = strlen(text_store_get(&flow.store, p->text));
    for (size_t n = p->first_span; n < p->first_span + p->n_spans; n++)
      require(flow.spans[n].begin < flow.spans[n].end && flow.spans[n].end <= length);
    require(p->first_cell + (size_t)(p->n_columns * p->n_rows) <= flow.n_cells);
  }
  for (size_t k = 0; k < flow.n_links; k++) require(flow.links[k].piece < flow.n);
  flow_free(&flow);
}
#endif

static void use(const Lesson *lesson) {
#ifdef TILEWALK_WINDOW
  take_apart(lesson);
#endif
  const LessonHooks hooks = {.finding = finding, .look_at = look_at_small};
  Error error = {0};
  int n = 0;
  require(lesson_lint(lesson, &LIMITS, &hooks, &n, &error) == STATUS_OK);
  LessonRun run;
  if (lesson_run_start(&run, lesson, &LIMITS, 7, &error)) {
    check_message(&error);
    return;
  }
  LessonQuestion *q = malloc(sizeof *q);
  LessonGrade *grade = malloc(sizeof *grade);
  require(q && grade);
  for (size_t k = 0; k < lesson->n_asks; k++) {
    static const char *const TYPED[] = {"a", "64 MiB", "b a", "1/2", ""};
    Error refused = {0};
    if (lesson_run_question(&run, (int)k, q, &refused)) {
      check_message(&refused);
      continue;
    }
    for (size_t t = 0; t < sizeof TYPED / sizeof *TYPED; t++)
      if (lesson_run_grade(&run, q, TYPED[t], grade, &refused)) check_message(&refused);
  }
  free(q);
  free(grade);
  lesson_run_end(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Lesson lesson;
  Error error = {0};
  if (size > 1 << 16) return 0;
  if (lesson_from_buffer(&lesson, (const char *)data, size, "fuzzed.md", &error)) {
    check_message(&error);
    require(strncmp(error.message, "fuzzed.md:", 10) == 0);
    return 0;
  }
  use(&lesson);
  lesson_free(&lesson);
  return 0;
}
