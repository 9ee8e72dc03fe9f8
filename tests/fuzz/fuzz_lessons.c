/* Fuzz targets of lessons: their files, what learners type, what classes hand in, and what is kept of it. Code in files
 * is run on a small budget, so that many inputs are tried and each ends. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv, open_memstream */
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"
#include "lessons/engine/claims.h"
#include "lessons/engine/equation.h"
#include "lessons/engine/lesson_class.h"
#include "lessons/engine/lesson_export.h"
#include "lessons/engine/program_task.h"
#include "lessons/engine/story.h"
#include "tests/support/scratch.h"
#include "viz/lesson/lesson_view.h"
#include "viz/paper/lesson_flow.h"
#include "viz/text/markdown.h"
#include "viz/text/warp_picture.h"

static const ExpressionLimits LIMITS = {.file = "f.md", .max_steps = 50000};

/* What a learner types: a number with a finite value, which is right for itself. */
FUZZ(answer_number, TEXT, "lessons/engine/answer") {
  static const char *const UNITS[] = {"", "MiB", "%", "x", "loads", "us", "TFLOP/s"};
  Answer a;
  Error error = {0};
  if (answer_parse(text, size, &a, &error)) return require_text(&error, "");
  require(isfinite(a.number) && a.digits >= 1 && a.slack >= 0);
  EACH (u, UNITS) {
    AnswerKey key = {.value = 64};
    AnswerVerdict verdict;
    char shown[64];
    require(answer_unit(UNITS[u], &key.unit, NULL) == STATUS_OK);
    if (answer_judge(&key, &a, &verdict, &error))
      require_text(&error, "");
    else
      require(verdict <= ANSWER_WRONG);
    key.value = answer_value(&key, &a);
    if (answer_judge(&key, &a, &verdict, NULL) == STATUS_OK) require(verdict == ANSWER_RIGHT);
    answer_text(&key, key.value, shown, sizeof shown);
  }
}

/* A choice, an order. */
FUZZ(answer_choice, TEXT, "lessons/engine/answer") {
  static const AnswerChoices CHOICES = {
      .key = {"smaller", "same", "larger"}, .text = {"It falls.", "It stays.", "It grows."}, .n = 3};
  int chosen = -1, order[ANSWER_CHOICES_MAX];
  Error error = {0}, refused = {0};
  if (answer_choice(&CHOICES, text, &chosen, &error))
    require_text(&error, "");
  else
    require(chosen >= 0 && chosen < 3);
  if (answer_order(&CHOICES, text, order, &refused))
    require_text(&refused, "");
  else
    require(order[0] != order[1] && order[1] != order[2] && order[0] != order[2]);
}

/* Tolerances, what a question shows, hand-ins. */
FUZZ(answer, TEXT, "lessons/engine/answer lessons/engine/show_line lessons/engine/lesson_submission") {
  AnswerTolerance tolerance;
  LessonShow show;
  WarpPicture picture;
  Submission submission = {0};
  Error errors[3] = {{0}};
  if (answer_tolerance(text, &tolerance, &errors[0])) require_text(&errors[0], "");
  if (lesson_show_parse(text, &show, NULL, &errors[1]))
    require_text(&errors[1], "");
  else if (show.scene == SCENE_BANK) {
    warp_picture_memory(&show.warp, &picture);
    require(picture.n > 0 && picture.n <= WARP_PICTURE_LINES);
    require(!show.warp_in_banks || !warp_picture_banks(&show.warp, &picture, NULL));
  }
  if (submission_add(&submission, text, size, "class.csv", &errors[2])) require_text(&errors[2], "");
  submission_free(&submission);
}

/* Files of claims and questions: each entry is judged or refused with file and line. */
FUZZ(claims, BYTES, "lessons/engine/claims") {
  Claims claims = {0};
  Error error = {0};
  const bool is_refused = claims_read(&claims, text, size, "f", &error) != STATUS_OK;
  if (is_refused) require_line(&error, "f:");
  require(is_refused == (claims.n_entries == 0));
  for (size_t k = 0; k < claims.n_entries && k < 8; k++) {
    const ClaimEntry *e = &claims.entries[k];
    char why[CLAIMS_TEXT_BYTES], said[512];
    Error reason = {0};
    if (claims_compute(&claims, k, &LIMITS, &reason)) {
      require_line(&reason, "f:");
      continue;
    }
    claims_why(&claims, e, why, sizeof why);
    require(e->is_computed && e->verdict < VERDICT_COUNT && e->n_parts >= 1);
    require(e->verdict == VERDICT_HOLDS || e->is_question || *why);
    for (int p = 0; p < e->n_parts; p++) {
      const ClaimPart *part = claims_part(&claims, e, p);
      verdict_computed_text(&part->claimed, &part->value, said, sizeof said);
      require(part->judgement.verdict <= e->verdict);
    }
  }
  claims_free(&claims);
}

/* Hand-ins: rows that are graded or say why not. Every text of a row is one line of clean UTF-8; no name of a lesson is
 * taken for a path; the sums are those of the rows. */
static Status load(const char *name, Lesson *lesson, Error *error) {
  static const char LESSON[] =
      "# T\n- idea: one\n- minutes: 5\n- draw: N from 2, 3\n\n```ask sum\nprompt: p\nanswer: 2 "
      "* N\nunit: MiB\nhint: h\nwrong: N -> "
      "one\nexplain: e\n```\n\n```ask way\nkind: order\nprompt: p\nitem: one | A.\nitem: two | "
      "B.\nitem: six | C.\nanswer: 'one "
      "two six'\nhint: h\nexplain: e\n```\n";
  if (strcmp(name, "t") == 0) return lesson_from_buffer(lesson, LESSON, sizeof LESSON - 1, "t.md", error);
  return error_refuse(error, "there is no lesson '%s'", name);
}

static Status take(void *data, const ClassRow *row, Error *error) {
  ClassSum *sum = data;
  const char *const texts[] = {row->student, row->lesson, row->id, row->answer, row->verdict, row->remark};
  (void)error;
  EACH (k, texts) require(utf8_is_text(texts[k], strlen(texts[k])));
  require(row->is_error ? *row->remark && !row->counts : strcmp(row->lesson, "t") == 0);
  sum->n_errors += row->is_error;
  sum->n_counted += row->counts;
  sum->n_right += row->is_right;
  sum->n_unanswered += strcmp(row->verdict, "unanswered") == 0;
  return STATUS_OK;
}

FUZZ(class, BYTES, "lessons/engine/lesson_class") { /* the first byte says how seeds are known */
  Submission s = {0};
  ClassSum sum, own = {0};
  Error error = {0};
  if (size == 0) return;
  const int way = (uint8_t)*text % 3;
  const ClassRules rules = {
      .load = load, .limits = &LIMITS, .seed = 1, .key = way == 1 ? "a long key" : NULL, .trust_seeds = way == 2};
  if (submission_add(&s, text + 1, size - 1, "f.csv", &error)) {
    require_text(&error, "f.csv:");
  } else {
    require(lesson_class_grade(&s, &rules, take, &own, &sum, &error) == STATUS_OK);
    require(memcmp(&sum, &own, sizeof sum) == 0 && sum.n_right <= sum.n_counted);
  }
  submission_free(&s);
}

/* Equations in texts: one that is not so is shown in one piece, or there is none. */
FUZZ(equation, TEXT, "lessons/engine/equation") {
  char found[EQUATION_BYTES] = "", again[EQUATION_BYTES] = "";
  if (!equation_is_false(text, found)) return;
  require(*found && strlen(found) < sizeof found && strchr(text, '=')); /* a long one is cut */
  require(equation_is_false(text, again) && strcmp(found, again) == 0);
}

/* Export of questions: each that is written is closed, and nothing but text and newlines is written. */
FUZZ(export, BYTES, "lessons/engine/lesson_export") {
  Lesson lesson;
  char *out = NULL;
  size_t n = 0, open = 0, closed = 0;
  if (lesson_from_buffer(&lesson, text, size, "f.md", NULL)) return;
  FILE *stream = open_memstream(&out, &n);
  require(stream != NULL);
  lesson_export_moodle(&lesson, &LIMITS, (ExportDraws){1, 0}, stream, NULL);
  fclose(stream);
  for (size_t k = 0; k < n; k++) {
    open += out[k] == '<';
    closed += out[k] == '>';
    require(open - closed <= 1); /* a mark ends before another begins: text has none */
    require((unsigned char)out[k] >= 32 || out[k] == '\n' || out[k] == '\t');
  }
  require(open == closed);
  free(out);
  lesson_free(&lesson);
}

static void finding(void *context, const char *message) {
  (void)context;
  require(strncmp(message, "fuzzed.md:", 10) == 0);
}

/* Whatever the lesson's state, a small problem: that any state is refused or shown is the target `request`. */
static Status look_at_small(void *context, const char *state, const char *change,
                            Status (*look)(void *data, const LessonView *view, Error *error), void *data,
                            Error *error) {
  (void)state;
  return lesson_look(context, "N=16 d=4 block=8 causal=1", *change ? "step=12" : "", look, data, error);
}

/* Every text as the viewer takes it apart: spans and links lie within their piece, cells within their table. */
static void take_apart(const Lesson *lesson) {
#ifdef TILEWALK_WINDOW
  Flow flow = {0};
  for (size_t k = 0; k < lesson->n_blocks; k++)
    if (lesson->blocks[k].kind == LESSON_PROSE || lesson->blocks[k].kind == LESSON_TASK)
      flow_markdown(&flow, lesson->blocks[k].text.text);
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
#endif
}

static void answer_all(const Lesson *lesson, LessonRun *run) {
  static const char *const TYPED[] = {"a", "64 MiB", "b a", "1/2", ""};
  LessonQuestion *q = malloc(sizeof *q);
  LessonGrade *grade = malloc(sizeof *grade);
  require(q && grade);
  for (int k = 0; k < (int)lesson->n_asks; k++) {
    Error refused = {0};
    if (lesson_run_question(run, k, q, &refused)) {
      require_text(&refused, "");
      continue;
    }
    EACH (t, TYPED)
      if (lesson_run_grade(run, q, TYPED[t], grade, &refused)) require_text(&refused, "");
  }
  free(q);
  free(grade);
}

/* Lesson files: each can be drawn, filled in, asked and graded. */
FUZZ(lesson, BYTES, "lessons/engine/lesson lessons/engine/lesson_lint viz/lesson/lesson_view") {
  const LessonHooks hooks = {.finding = finding, .look_at = look_at_small};
  Lesson lesson;
  LessonRun run;
  Error error = {0};
  int n = 0;
  if (lesson_from_buffer(&lesson, text, size, "fuzzed.md", &error)) return require_text(&error, "fuzzed.md:");
  take_apart(&lesson);
  require(lesson_lint(&lesson, &LIMITS, &hooks, &n, &error) == STATUS_OK);
  if (lesson_run_start(&run, &lesson, &LIMITS, 7, &error)) {
    require_text(&error, "");
  } else {
    answer_all(&lesson, &run);
    lesson_run_end(&run);
  }
  lesson_free(&lesson);
}

static void link_found(void *context, const char *target, size_t length, int line) {
  (void)target;
  require(line >= 1 && length <= *(const size_t *)context + strlen("mailto:")); /* <a@b> gets it */
}

/* Markdown: printed within bounds, and a lesson's prose is checked. */
FUZZ(markdown, TEXT, "lessons/engine/lesson viz/text/markdown") {
  char *out = NULL;
  size_t n = 0;
  Error error = {0};
  const LessonLinks links = {&size, link_found};
  const TextStyle plain = {.width = 40};
  if (lesson_check_markdown(text, size, "f.md", 1, &links, &error)) require_line(&error, "f.md:");
  FILE *stream = open_memstream(&out, &n);
  require(stream && text_markdown(stream, &plain, text, size, &error) == STATUS_OK);
  fclose(stream);
  free(out);
}

/* Tasks: every mutant of one has room. */
FUZZ(program_task, BYTES, "lessons/engine/program_task") {
  char program[PROGRAM_TASK_PROGRAM_BYTES];
  Error error = {0};
  ProgramTask *task = program_task_read(text, size, "f", &error);
  if (!task) return require_text(&error, "f:");
  for (int k = 0; k < task->n_mutants; k++)
    require(!program_task_mutant(task, k, program, NULL) && strlen(program) < sizeof program);
  free(task);
}

/* The record of progress: any bytes in its place are read, left alone or set aside; what is done then is kept, unless
 * it was said that it is not; and bytes that were set aside are still there. */
static char home[SCRATCH_BYTES], record[SCRATCH_BYTES + 40], aside[SCRATCH_BYTES + 60];

static void remove_record(void) {
  char path[sizeof aside];
  unlink(record);
  unlink(aside);
  snprintf(path, sizeof path, "%s.lock", record);
  unlink(path);
}

static void leave(void) {
  remove_record();
  *strrchr(record, '/') = '\0';
  rmdir(record);
  rmdir(home);
}

static void enter(void) {
  if (*home) return remove_record();
  require(scratch_folder(home));
  setenv("XDG_STATE_HOME", home, 1);
  snprintf(record, sizeof record, "%s/tilewalk", home);
  require(mkdir(record, 0700) == 0);
  strcat(record, "/lessons.json");
  snprintf(aside, sizeof aside, "%s.damaged-1", record);
  atexit(leave);
}

static void has(const char *path, const char *data, size_t size) {
  FILE *file = fopen(path, "rb");
  char *there = malloc(size + 1);
  require(file && there && fread(there, 1, size + 1, file) == size && (!size || memcmp(there, data, size) == 0));
  fclose(file);
  free(there);
}

FUZZ(progress, BYTES, "lessons/engine/lesson_progress lessons/engine/record") {
  char said[2048] = "";
  LessonProgress p;
  Error error = {0};
  enter();
  FILE *file = fopen(record, "wb"), *warnings = fmemopen(said, sizeof said - 1, "w");
  require(file && fwrite(text, 1, size, file) == size && fclose(file) == 0);
  require(warnings && lesson_progress_open(&p, warnings, &error) == STATUS_OK);
  if (!lesson_progress_of(&p, "fuzzed").has_begun) lesson_progress_begin(&p, "fuzzed", 7);
  lesson_progress_practised(&p, "ridge", practice_answered(lesson_progress_skill(&p, "ridge"), PRACTICE_RIGHT, 20000));
  lesson_progress_answer(&p, "fuzzed", "id", true, 1, 0);
  require(lesson_progress_save(&p, &error) == STATUS_OK);
  const bool is_kept = !p.has_warned;
  lesson_progress_close(&p);
  fclose(warnings);
  if (strstr(said, "set aside")) has(aside, text, size);
  if (!is_kept) return has(record, text, size);
  require(lesson_progress_open(&p, stderr, &error) == STATUS_OK);
  require(!p.has_warned && lesson_progress_is_right(&p, "fuzzed", "id"));
  lesson_progress_close(&p);
}

/* A source without any of these cannot write what looks like an address but by showing one. */
static bool may_write_hex(const char *source) { return strpbrk(source, "x%\\") || strstr(source, "char"); }

/* Expressions have a value within its bounds, and so has a text with them in braces. No value shows an address. */
FUZZ(sandbox, TEXT, "lessons/engine/expression") {
  static char filled[4096];
  ExpressionScope *scope;
  ExpressionValue v = {0};
  Error error = {0}, other = {0};
  require(!expression_scope_open(&scope, &LIMITS, NULL));
  if (expression_scope_eval(scope, text, size, 1, &v, &error)) {
    require_text(&error, "f.md:");
  } else {
    require(v.kind > EXPRESSION_NONE && v.kind <= EXPRESSION_SERIES && v.n >= 0 && v.n <= EXPRESSION_NUMBERS_MAX);
    require(v.kind != EXPRESSION_TEXT || (memchr(v.text, 0, sizeof v.text) && utf8_is_text(v.text, strlen(v.text))));
    require(v.kind != EXPRESSION_TEXT || may_write_hex(text) || !strstr(v.text, "0x"));
  }
  if (expression_scope_fill(scope, text, size, 1, filled, sizeof filled, &other)) require_text(&other, "f.md:");
  expression_scope_close(scope);
}

FUZZ(story, BYTES, "lessons/engine/story") {
  Error error = {0};
  Lesson story;
  if (lesson_from_buffer(&story, text, size, "f", &error)) return require_line(&error, "f:");
  StoryTold *told = story_tell(&story, 0, &LIMITS, &error);
  require(!told || (told->n >= 1 && told->n <= STORY_BEATS_MAX));
  free(told);
  lesson_free(&story);
}
