#include "lessons/engine/lesson_run.h"

#include <math.h>
#include <stdio.h>

#include "lessons/engine/lesson_read.h"
#include "lessons/engine/expression_sandbox.h"
#include "sim/base/random.h"
#include "sim/base/text_add.h"

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

/* Gives every drawn name its value. */
static void draw(LessonRun *run, const LessonDraw *draws, int n_draws, const char *scope, Error *error) {
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
  if (!expression_scope_open(&run->scope, &own, &why)) draw(run, l->draw, l->n_draws, "", &why);
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

const char *lesson_verdict_name(LessonVerdict verdict) {
  static const char *const NAMES[LESSON_VERDICT_COUNT] = {"right", "nearly", "diagnosed", "wrong", "unreadable"};
  return NAMES[verdict];
}

/* ---- Questions: their answers are computed */

static const LessonAsk *ask_of(const LessonRun *run, const LessonQuestion *q) { return &run->lesson->asks[q->ask]; }

static Status eval(LessonRun *run, LessonText text, ExpressionValue *value, Error *error) {
  const char *source = lesson_text(text);
  return expression_scope_eval(run->scope, source, strlen(source), text.line, value, error);
}

#define REFUSE(text, ...) keyfile_refuse(run->lesson->file, (text).line, error, __VA_ARGS__)

static Status compute_number(LessonRun *run, LessonQuestion *q, const ExpressionValue *v, Error *error) {
  const LessonAsk *ask = ask_of(run, q);
  if (v->kind != EXPRESSION_NUMBER) return REFUSE(ask->answer, "the answer of '%s' must be a number", ask->id);
  q->key = (AnswerKey){v->numbers[0], ask->unit, ask->tolerance};
  if (!isfinite(q->key.value)) return REFUSE(ask->answer, "the answer of '%s' is not a finite number", ask->id);
  answer_text(&q->key, q->key.value, q->answer, sizeof q->answer);
  return STATUS_OK;
}

/* The place of the choice with that key; -1. */
static int place_of(const LessonRun *run, const LessonQuestion *q, const char *key, size_t length) {
  const LessonAsk *ask = ask_of(run, q);
  for (int p = 0; p < q->n_choices; p++) {
    const char *own = ask->choice[q->written[p]].key.text;
    if (strlen(own) == length && memcmp(own, key, length) == 0) return p;
  }
  return -1;
}

static Status compute_choice(LessonRun *run, LessonQuestion *q, const ExpressionValue *v, Error *error) {
  const LessonAsk *ask = ask_of(run, q);
  if (v->kind != EXPRESSION_TEXT && v->kind != EXPRESSION_FLAG)
    return REFUSE(ask->answer, "the answer of '%s' must be the key of an option, or true or false", ask->id);
  const char *truth = v->flag ? "yes" : "no", *key = v->kind == EXPRESSION_TEXT ? v->text : truth;
  q->right = place_of(run, q, key, strlen(key));
  if (q->right < 0)
    return REFUSE(ask->answer, "the answer of '%s' is '%s', and no option has that key", ask->id, quote_text(key).text);
  snprintf(q->answer, sizeof q->answer, "%s", q->choice[q->right]);
  return STATUS_OK;
}

/* Reads keys in an order; false when they are not all there, each once. */
static bool order_of_keys(const LessonRun *run, const LessonQuestion *q, const char *keys, int *order) {
  int n = 0;
  for (const char *p = keys + strspn(keys, " ,\n"); *p; p += strspn(p, " ,\n")) {
    const size_t length = strcspn(p, " ,\n");
    const int place = place_of(run, q, p, length);
    if (place < 0 || n == q->n_choices) return false;
    for (int k = 0; k < n; k++)
      if (order[k] == place) return false;
    order[n++] = place;
    p += length;
  }
  return n == q->n_choices;
}

void lesson_order(const LessonQuestion *q, int order[ANSWER_CHOICES_MAX]) {
  for (int n = 0; n < q->n_choices; n++) {
    int at = n;
    for (; at > 0 && q->rank[order[at - 1]] > q->rank[n]; at--) order[at] = order[at - 1];
    order[at] = n;
  }
}

static Status compute_order(LessonRun *run, LessonQuestion *q, const ExpressionValue *v, Error *error) {
  const LessonAsk *ask = ask_of(run, q);
  int order[ANSWER_CHOICES_MAX] = {0};
  if (v->kind == EXPRESSION_TEXT) {
    if (!order_of_keys(run, q, v->text, order))
      return REFUSE(ask->answer, "the answer of '%s' must name the key of every item once; it is '%s'", ask->id,
                    quote_text(v->text).text);
    for (int k = 0; k < q->n_choices; k++) q->rank[order[k]] = k;
  } else if (v->kind == EXPRESSION_LIST && v->n == q->n_choices) {
    for (int p = 0; p < q->n_choices; p++) q->rank[p] = v->numbers[q->written[p]];
  } else {
    return REFUSE(ask->answer, "the answer of '%s' must be its keys in order, or a list of %d numbers", ask->id,
                  q->n_choices);
  }
  lesson_order(q, order);
  for (int k = 0; k < q->n_choices; k++) text_add(q->answer, sizeof q->answer, "%s%c", k ? " " : "", 'a' + order[k]);
  return STATUS_OK;
}

/* What the workshop says of a question's task. */
static Status pass(const LessonRun *run, const LessonQuestion *q, const Error *own, Error *error) {
  const LessonText answer = ask_of(run, q)->answer;
  return own->status == STATUS_NO_MEMORY || !own->status ? error_pass(error, own) : REFUSE(answer, "%s", own->message);
}

static void open_work(LessonRun *run, LessonQuestion *q, Error *error) {
  const LessonAsk *ask = ask_of(run, q);
  Error own = {0};
  if (!run->workshop)
    error_refuse(&own, "programs and kernels are not judged here");
  else
    run->workshop->open(ask->answer.text, &q->work, &own);
  if (pass(run, q, &own, error)) return;
  if (!ask->prompt.text) text_add(q->prompt, sizeof q->prompt, "%s. %s", q->work.title, q->work.prompt);
  snprintf(q->answer, sizeof q->answer, "%.200s", q->work.title);
  if (ask->state.text && !lesson_run_line(run, ask->state, q->own, sizeof q->own, error)) lesson_plain_numbers(q->own);
}

/* Items are shuffled, by the seed; options, too, so that a letter that was copied tells nothing. */
static void place_choices(const LessonRun *run, LessonQuestion *q) {
  const LessonAsk *ask = ask_of(run, q);
  q->n_choices = ask->n_choices;
  q->n_named = ask->kind == LESSON_CHOICE ? 1 : q->n_choices;
  for (int k = 0; k < q->n_choices; k++) q->written[k] = k;
  const bool in_place = run->seed == LESSON_PAGE_SEED || run->variant >= 0 || ask->is_prediction;
  if (ask->kind != LESSON_ORDER && in_place) return;
  const uint64_t stream = lesson_run_stream(run->lesson->name, ask->id, "order");
  for (int k = q->n_choices - 1; k > 0; k--) {
    const int other = (int)random_between(run->seed, stream, (uint64_t)k, 0, k);
    const int kept = q->written[k];
    q->written[k] = q->written[other];
    q->written[other] = kept;
  }
}

static bool is_right(const LessonQuestion *q, const int *order) {
  if (q->n_named == 1) return *order == q->right;
  for (int k = 1; k < q->n_choices; k++)
    if (q->rank[order[k]] < q->rank[order[k - 1]]) return false;
  return true;
}

/* A literal as people write it, else an expression. */
static void wrong_number(LessonRun *run, const LessonQuestion *q, LessonText text, LessonWrong *wrong, Error *error) {
  const char *literal = lesson_text(text);
  Answer typed;
  AnswerVerdict verdict = ANSWER_WRONG;
  ExpressionValue v = {0};
  if (answer_parse(literal, strlen(literal), &typed, NULL) == STATUS_OK &&
      answer_judge(&q->key, &typed, &verdict, NULL) == STATUS_OK)
    wrong->value = answer_value(&q->key, &typed);
  else if (eval(run, text, &v, error) || v.kind != EXPRESSION_NUMBER)
    REFUSE(text, "a wrong answer must be a number, or a value such as 64 MiB");
  else
    wrong->value = v.numbers[0];
  wrong->is_known = isfinite(wrong->value) && fabs(wrong->value - q->key.value) > 1e-9 * fabs(q->key.value);
}

static void compute_wrong(LessonRun *run, LessonQuestion *q, int k, Error *error) {
  const LessonAsk *ask = ask_of(run, q);
  const LessonText text = ask->wrong[k].key;
  const char *key = lesson_text(text);
  const bool is_choice = ask->kind == LESSON_CHOICE;
  LessonWrong *wrong = &q->wrong[k];
  if (ask->kind == LESSON_NUMBER) {
    wrong_number(run, q, text, wrong, error);
    return;
  }
  if (is_choice) *wrong->order = place_of(run, q, key, strlen(key));
  if (is_choice ? *wrong->order < 0 : !order_of_keys(run, q, key, wrong->order))
    REFUSE(text, is_choice ? "'%s' is the key of no option" : "'%s' does not name the key of every item once",
           quote_text(key).text);
  else
    wrong->is_known = !is_right(q, wrong->order);
}

Status lesson_run_question(LessonRun *run, int index, LessonQuestion *q, Error *error) {
  static Status (*const COMPUTE[])(LessonRun *, LessonQuestion *, const ExpressionValue *,
                                   Error *) = {compute_number, compute_choice, compute_order};
  *q = (LessonQuestion){.ask = index};
  const LessonAsk *ask = ask_of(run, q);
  ExpressionValue v;
  draw(run, ask->draw, ask->n_draws, ask->id, error);
  if (ask->prompt.text) lesson_run_line(run, ask->prompt, q->prompt, sizeof q->prompt, error);
  place_choices(run, q);
  for (int p = 0; p < q->n_choices; p++)
    lesson_run_line(run, ask->choice[q->written[p]].text, q->choice[p], sizeof q->choice[p], error);
  if (ask->kind == LESSON_WORK && !error->status) open_work(run, q, error);
  if (ask->kind != LESSON_WORK && !eval(run, ask->answer, &v, error)) COMPUTE[ask->kind](run, q, &v, error);
  for (int k = 0; k < ask->n_wrong && !error->status; k++) compute_wrong(run, q, k, error);
  return error->status;
}

/* ---- What is typed is graded */

static void unreadable(LessonGrade *grade, const Error *why) {
  *grade = (LessonGrade){.verdict = LESSON_UNREADABLE, .wrong = -1};
  snprintf(grade->message, sizeof grade->message, "%s", why->message);
}

/* One of the question's texts, which may name its answer. */
static Status say(LessonRun *run, const LessonQuestion *q, LessonText text, char *filled, size_t size, Error *error) {
  const LessonAsk *ask = ask_of(run, q);
  ExpressionValue v = {.kind = EXPRESSION_TEXT};
  filled[0] = '\0';
  if (!text.text) return STATUS_OK;
  draw(run, ask->draw, ask->n_draws, ask->id, error); /* another may have drawn since */
  snprintf(v.text, sizeof v.text, "%.*s", EXPRESSION_TEXT_BYTES - 1, q->answer);
  if (ask->kind == LESSON_NUMBER) v = (ExpressionValue){.kind = EXPRESSION_NUMBER, .n = 1, .numbers = {q->key.value}};
  expression_scope_set(run->scope, "answer", &v, error);
  return lesson_run_line(run, text, filled, size, error);
}

static Status grade_number(LessonRun *run, const LessonQuestion *q, const char *text, LessonGrade *grade,
                           Error *error) {
  const LessonAsk *ask = ask_of(run, q);
  AnswerMistakes mistakes = {.n = ask->n_wrong};
  AnswerGrade g;
  Error why = {0};
  char explains[LESSON_MESSAGE_BYTES], slip[ANSWER_NOTE_BYTES];
  if (say(run, q, ask->explain, explains, sizeof explains, error)) return error->status;
  for (int k = 0; k < ask->n_wrong; k++) mistakes.value[k] = q->wrong[k].is_known ? q->wrong[k].value : NAN;
  if (answer_grade(&q->key, &mistakes, explains, text, &g, &why)) return unreadable(grade, &why), STATUS_OK;
  *grade = (LessonGrade){.verdict = LESSON_NOT_RIGHT, .wrong = g.mistake};
  const char *said = "";
  if (g.verdict == ANSWER_RIGHT)
    grade->verdict = LESSON_RIGHT;
  else if (g.mistake >= 0)
    grade->verdict = LESSON_DIAGNOSED;
  else if (g.verdict == ANSWER_ROUGH)
    grade->verdict = LESSON_NEARLY, said = "Right as far as it goes. Give one digit more.";
  else if (g.verdict == ANSWER_OTHER_UNIT)
    grade->verdict = LESSON_NEARLY, said = "The number is right in the other unit: MB and GB count "
                                           "in thousands, MiB and GiB in steps of 1,024.";
  else if (answer_slip(&q->key, &g.typed, slip))
    grade->verdict = LESSON_DIAGNOSED, said = slip;
  else if (g.verdict == ANSWER_NEAR)
    said = "Close, within five percent.";
  const char *note = grade->verdict != LESSON_RIGHT || !g.typed.note_if_wrong ? g.typed.note : "";
  snprintf(grade->message, sizeof grade->message, "%s%s%s", said, *said && *note ? " " : "", note);
  return STATUS_OK;
}

static void grade_choice(const LessonRun *run, const LessonQuestion *q, const char *text, LessonGrade *grade) {
  const LessonAsk *ask = ask_of(run, q);
  AnswerChoices choices = {.n = q->n_choices};
  for (int p = 0; p < q->n_choices; p++) {
    choices.key[p] = ask->choice[q->written[p]].key.text;
    choices.text[p] = q->choice[p];
  }
  Error why = {0};
  int order[ANSWER_CHOICES_MAX];
  if ((ask->kind == LESSON_ORDER ? answer_order : answer_choice)(&choices, text, order, &why)) {
    unreadable(grade, &why);
    return;
  }
  *grade = (LessonGrade){.verdict = is_right(q, order) ? LESSON_RIGHT : LESSON_NOT_RIGHT, .wrong = -1};
  for (int k = 0; k < ask->n_wrong && grade->verdict == LESSON_NOT_RIGHT; k++)
    if (q->wrong[k].is_known && memcmp(order, q->wrong[k].order, (size_t)q->n_named * sizeof *order) == 0)
      grade->verdict = LESSON_DIAGNOSED, grade->wrong = k;
}

static void grade_work(const LessonRun *run, const LessonQuestion *q, const char *text, LessonGrade *grade,
                       Error *error) {
  Error own = {0};
  run->workshop->judge(ask_of(run, q)->answer.text, run->seed, q->own, text, q->work.file, grade, &own);
  pass(run, q, &own, error);
}

Status lesson_run_explain(LessonRun *run, const LessonQuestion *q, char *text, size_t size, Error *error) {
  return say(run, q, ask_of(run, q)->explain, text, size, error);
}

Status lesson_run_grade(LessonRun *run, const LessonQuestion *q, const char *typed, LessonGrade *grade, Error *error) {
  const LessonAsk *ask = ask_of(run, q);
  LessonText said = {0};
  char filled[LESSON_MESSAGE_BYTES];
  if (ask->kind == LESSON_WORK)
    grade_work(run, q, typed, grade, error);
  else if (ask->kind == LESSON_NUMBER)
    grade_number(run, q, typed, grade, error);
  else
    grade_choice(run, q, typed, grade);
  if (error->status) return error->status;
  if (grade->verdict == LESSON_RIGHT) said = ask->explain;
  if (grade->verdict == LESSON_DIAGNOSED && grade->wrong >= 0) said = ask->wrong[grade->wrong].text;
  if (!say(run, q, said, filled, sizeof filled, error))
    text_add(grade->message, sizeof grade->message, "%s%s", *grade->message && *filled ? " " : "", filled);
  return error->status;
}
