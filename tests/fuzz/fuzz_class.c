/* Fuzz target for hand-ins: any bytes are rows that are graded or say why not, or are refused with one line. Every text
 * of a row is one line of clean UTF-8; no name of a lesson is taken for a path; the sums are those of the rows. */
#include "tests/fuzz/fuzz.h"
#include "lessons/engine/lesson_class.h"
#include "sim/base/utf8.h"

static const char LESSON[] = "# T\n- idea: one\n- minutes: 5\n- draw: N from 2, 3\n\n```ask sum\nprompt: p\nanswer: 2 "
                             "* N\nunit: MiB\nhint: h\nwrong: N -> "
                             "one\nexplain: e\n```\n\n```ask way\nkind: order\nprompt: p\nitem: one | A.\nitem: two | "
                             "B.\nitem: six | C.\nanswer: 'one "
                             "two six'\nhint: h\nexplain: e\n```\n";

static Status load(void *context, const char *name, Lesson *lesson, Error *error) {
  (void)context;
  if (strcmp(name, "t") == 0) return lesson_from_buffer(lesson, LESSON, sizeof LESSON - 1, "t.md", error);
  return error_set(error, STATUS_BAD_REQUEST, "there is no lesson '%s'", name);
}

static Status take(void *data, const ClassRow *row, Error *error) {
  ClassSum *sum = data;
  const char *const texts[] = {row->student, row->lesson, row->id, row->answer, row->verdict, row->remark};
  (void)error;
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) require(utf8_is_text(texts[k], strlen(texts[k])));
  require(!row->is_error || (*row->remark && !row->counts));
  require(row->is_error || strcmp(row->lesson, "t") == 0);
  sum->n_errors += row->is_error;
  sum->n_counted += row->counts;
  sum->n_right += row->is_right;
  sum->n_unanswered += strcmp(row->verdict, "unanswered") == 0;
  return STATUS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const ExpressionLimits LIMITS = {.max_steps = 100000, .max_memory_bytes = 1 << 20};
  Submission s = {0};
  ClassSum sum, own = {0};
  Error error = {0};
  if (size == 0) return 0;
  const ClassRules rules = {.load = load,
                            .limits = &LIMITS,
                            .seed = 1,
                            .key = data[0] % 3 == 1 ? "a long key" : NULL,
                            .trust_seeds = data[0] % 3 == 2};
  char *text = malloc(size);
  require(text != NULL);
  memcpy(text, data + 1, size - 1);
  if (submission_add(&s, text, size - 1, "f.csv", &error)) {
    require(strncmp(error.message, "f.csv:", 6) == 0 && utf8_is_text(error.message, strlen(error.message)));
  } else {
    require(lesson_class_grade(&s, &rules, take, &own, &sum, &error) == STATUS_OK);
    require(memcmp(&sum, &own, sizeof sum) == 0 && sum.n_right <= sum.n_counted);
  }
  submission_free(&s);
  free(text);
  return 0;
}
