#include "lessons/engine/lesson_run.h"

#include <math.h>
#include <stdio.h>

#include "lessons/engine/lesson_read.h"
#include "lessons/engine/expression_sandbox.h"
#include "sim/base/random.h"

/* One lesson's questions and texts together: a fifth of a second or so. */
#define LESSON_STEPS (2 * EXPRESSION_STEPS)

/* ---- Draws */

/* A stream of its own for each lesson and drawn name (FNV-1a of both). */
uint64_t lesson_run_stream(const char *lesson, const char *scope, const char *name) {
  const char *const parts[] = {lesson, scope, name};
  uint64_t hash = 0xcbf29ce484222325u;
  for (int k = 0; k < 3; k++)
    for (const char *p = parts[k];; p++) {
      hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
      if (!*p) break;
    }
  return hash;
}

/* Variants take a short list from its beginning, and a range at its ends and then all over it. */
static int draw_index(const LessonRun *run, const LessonDraw *draw, const char *scope) {
  if (run->variant >= 0 && !draw->is_range) return run->variant % draw->n;
  if (run->variant == 1) return draw->n - 1;
  if (run->variant == 0 || (run->variant < 0 && run->seed == LESSON_PAGE_SEED)) return 0;
  const uint64_t seed = run->variant > 1 ? (uint64_t)run->variant : run->seed;
  return (int)random_between(seed, lesson_run_stream(run->lesson->name, scope, draw->name), 0, 0, draw->n - 1);
}

/* 1.2 and not 1.2000000000000002, which would be printed so in a state. */
static double tidy(double x) { return round(x * 1e9) / 1e9; }

static ExpressionValue value_of(const char *text) {
  ExpressionValue v = {.kind = EXPRESSION_TEXT};
  Answer number;
  if (answer_parse(text, strlen(text), &number, NULL) == STATUS_OK && !*number.unit.name) {
    v.kind = EXPRESSION_NUMBER;
    v.n = 1;
    v.numbers[0] = number.number;
  }
  snprintf(v.text, sizeof v.text, "%s", text);
  return v;
}

void lesson_run_draw(LessonRun *run, const LessonDraw *draws, int n_draws, const char *scope, Error *error) {
  for (const LessonDraw *d = draws; d < draws + n_draws; d++) {
    const int index = draw_index(run, d, scope);
    ExpressionValue v = {.kind = EXPRESSION_NUMBER, .n = 1, .numbers = {tidy(d->first + index * d->step)}};
    if (!d->is_range) v = value_of(d->value[index].text);
    expression_scope_set(run->scope, d->name, &v, error);
  }
}

/* ---- Start and end */

static Status start(LessonRun *run, const ExpressionLimits *limits, Error *error) {
  const Lesson *l = run->lesson;
  ExpressionLimits own = limits ? *limits : (ExpressionLimits){0};
  Error why = {0};
  char source[EXPRESSION_SOURCE_BYTES];
  ExpressionValue ignored;
  run->workshop = own.workshop;
  own.file = l->file;
  if (!own.max_steps) own.max_steps = LESSON_STEPS;
  if (!expression_scope_open(&run->scope, &own, &why)) lesson_run_draw(run, l->draw, l->n_draws, "", &why);
  for (const LessonBlock *b = l->blocks; b < l->blocks + l->n_blocks && !why.status; b++) {
    if (b->kind != LESSON_SETUP) continue;
    if (strlen(b->text.text) + 16 > sizeof source)
      keyfile_refuse(l->file, b->text.line, &why, "the setup is longer than %d bytes", EXPRESSION_SOURCE_BYTES - 16);
    snprintf(source, sizeof source, "%s\nreturn true", b->text.text);
    expression_scope_eval(run->scope, source, strlen(source), b->text.line, &ignored, &why);
  }
  if (why.status) lesson_run_end(run);
  return error_pass(error, &why);
}

Status lesson_run_start(LessonRun *run, const Lesson *lesson, const ExpressionLimits *limits, uint64_t seed,
                        Error *error) {
  *run = (LessonRun){.lesson = lesson, .seed = seed, .variant = -1};
  return start(run, limits, error);
}

Status lesson_run_start_variant(LessonRun *run, const Lesson *lesson, const ExpressionLimits *limits, int variant,
                                Error *error) {
  *run = (LessonRun){.lesson = lesson, .variant = variant};
  return start(run, limits, error);
}

void lesson_run_end(LessonRun *run) {
  if (run->scope) expression_scope_close(run->scope);
  run->scope = NULL;
}

void lesson_run_refill(LessonRun *run) { run->scope->steps_left = run->scope->limits.max_steps; }

/* ---- Texts */

Status lesson_run_fill(LessonRun *run, LessonText text, char *filled, size_t size, Error *error) {
  const char *source = lesson_text(text);
  if (strlen(source) > EXPRESSION_SOURCE_BYTES)
    return keyfile_refuse(run->lesson->file, text.line, error,
                          "the text that begins here is longer than %d bytes; put a heading or a picture between",
                          EXPRESSION_SOURCE_BYTES);
  return expression_scope_fill(run->scope, source, strlen(source), text.line, filled, size, error);
}

Status lesson_run_line(LessonRun *run, LessonText text, char *filled, size_t size, Error *error) {
  const Status status = lesson_run_fill(run, text, filled, size, error);
  if (!status) lesson_one_line(filled);
  return status;
}

Status lesson_run_state(LessonRun *run, const LessonBlock *block, char *state, size_t size, Error *error) {
  const Status status = lesson_run_line(run, block->text, state, size, error);
  if (!status) lesson_plain_numbers(state);
  return status;
}

Status lesson_run_show(LessonRun *run, const LessonBlock *block, LessonShow *show, Error *error) {
  char line[LESSON_LINE_BYTES];
  Error inner = {0};
  Status status = lesson_run_line(run, block->text, line, sizeof line, error);
  if (!status && lesson_show_parse(line, show, NULL, &inner))
    status = keyfile_refuse(run->lesson->file, block->text.line, error, "%s", inner.message);
  return status;
}
