#define _GNU_SOURCE /* strcasestr */
#include "lessons/engine/lesson_lint.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "lessons/engine/equation.h"
#include "lessons/engine/lesson_read.h"
#include "lessons/engine/quantity.h"
#include "sim/base/ascii.h"
#include "sim/base/text_add.h"

enum {
  ASKS_MIN = 3,
  MINUTES_MIN = 5,
  MINUTES_MAX = 45,
  FINDINGS_MAX = 60,
  HINT_WORDS_MIN = 3,
  NEAR_WORDS = 6,
  LEARNERS = 12,
  ANSWERS_MIN = 10, /* of LEARNERS */
  REPEATS_MAX = 2,
  TOKEN_BYTES = 64,
  LITERAL_MAX = 1000 /* of bytes, FLOPs, seconds that may be typed in */
};

/* A lesson gone through once: with the draws of one variant, or as the sheet of one learner. */
typedef struct {
  const Lesson *lesson;
  const LessonHooks *hooks;
  int n_findings;
  bool has_glossary, no_memory;
  bool is_first, is_strict; /* strict: no number is drawn from a range, where some of many may coincide */
  bool awaits_picture;      /* a prediction was made, and its picture is to come */
  Error *rehearsed;         /* of a rehearsal: its first error, and nothing is found; NULL: it is none */
  Error why;                /* what `failed` looks at, and forgets */
  LessonRun run;
  LessonQuestion q, other;
  const LessonAsk *ask; /* of q */
  LessonGrade grade;
  char state[LESSON_STATE_BYTES];
  char text[LESSON_PROSE_BYTES], prose[LESSON_PROSE_BYTES]; /* a text filled in; what stands before a question */
  double answers[LESSON_ASKS_MAX][LEARNERS];                /* to the marked questions */
  int n_repeats[LESSON_ASKS_MAX];                           /* sheets on which it is printed before the question, */
  char repeat[LESSON_ASKS_MAX][TOKEN_BYTES];                /* and as what on the last of them */
} Lint;

/* ---- Findings */

static void say(Lint *l, const char *message) {
  if (!l->rehearsed && ++l->n_findings <= FINDINGS_MAX) l->hooks->finding(l->hooks->context, message);
}

static void report(Lint *l, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void report(Lint *l, int line, const char *format, ...) {
  char text[ERROR_MESSAGE_BYTES], message[ERROR_MESSAGE_BYTES + 128];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  snprintf(message, sizeof message, "%s:%d: %s", l->lesson->file, line, text);
  say(l, message);
}

/* Reports the error in l->why; true: there is one. `line`: of a hook's refusal, which has no position yet; 0: it
 * carries file and line. */
static bool failed(Lint *l, Status status, int line) {
  const Error why = l->why;
  l->why = (Error){0};
  if (why.status == STATUS_NO_MEMORY)
    l->no_memory = true;
  else if (status && l->rehearsed && line)
    keyfile_refuse(l->lesson->file, line, l->rehearsed, "%s", why.message);
  else if (status && l->rehearsed)
    error_pass(l->rehearsed, &why);
  else if (status && line)
    report(l, line, "%s", why.message);
  else if (status)
    say(l, why.message);
  return status != STATUS_OK;
}

/* ---- The page as it is written: a row is what is wrong, if it is, and where */

/* The show that a prediction waits for comes before the next question. */
static bool show_follows(const Lesson *lesson, size_t block) {
  for (size_t k = block + 1; k < lesson->n_blocks && lesson->blocks[k].kind != LESSON_ASK; k++)
    if (lesson->blocks[k].kind == LESSON_SHOW) return true;
  return false;
}

/* 0.001, 0.003, 0.01: what is doubled or halved is none, so a tolerance does not slip. */
static bool is_step(double amount) {
  const double first = amount / pow(10, floor(log10(amount) + 1e-9));
  return fabs(first - 1) < 1e-6 || fabs(first - 3) < 1e-6;
}

static int n_words(const char *text, size_t length) {
  int n = 0;
  for (const char *p = text; p < text + length; p++) n += ascii_is_alnum(*p) && (p == text || !ascii_is_alnum(p[-1]));
  return n;
}

/* The first of four words that stands there; NULL. */
static const char *first_word_of(const char *text, const char *const words[4]) {
  for (const char *p = text; *p; p++) {
    if (p > text && ascii_is_alnum(p[-1])) continue;
    for (size_t k = 0; k < 4; k++) {
      const size_t length = strlen(words[k]);
      if (ascii_same_n(p, words[k], length) && !ascii_is_alnum(p[length])) return p;
    }
  }
  return NULL;
}

/* "And with d = 96?", "How many bytes does it read?": nobody knows who meets the question alone, in an export. What
 * points so; NULL. */
static const char *points_back(const char *text) {
  static const char *const GO_ON[] = {"And", "So", "But", "Then"}, *const POINT[] = {"it", "its", "they", "them"};
  const char *at = first_word_of(text, GO_ON);
  if (at != text) at = first_word_of(text, POINT);
  const size_t before = at ? (size_t)(at - text) : 0;
  const bool has_noun = before && (memchr(text, '.', before) || memchr(text, ',', before) ||
                                   memchr(text, ':', before) || n_words(text, before) >= NEAR_WORDS);
  return has_noun ? NULL : at;
}

/* A number in a text, and the word behind it. */
typedef struct {
  const char *number, *word;
  int n, n_word;
} Found;

/* The next one at or behind *p, which moves on behind it. */
static bool next_number(const char **p, const char *text, Found *f) {
  for (; **p; ++*p) {
    const bool begins =
        ascii_is_digit(**p) && (*p == text || (!ascii_is_alnum((*p)[-1]) && !strchr("._^-/", (*p)[-1])));
    if (!begins) continue;
    f->number = *p;
    f->n = (int)strspn(*p, "0123456789.,");
    while (f->number[f->n - 1] == '.' || f->number[f->n - 1] == ',') f->n--;
    *p += f->n;
    f->word = *p + strspn(*p, " ");
    f->n_word = (int)strcspn(f->word, " .,;:!?()*|\n");
    return f->n < 24;
  }
  return false;
}

static bool is_allowed(const LessonAsk *ask, const char *token) {
  for (int k = 0; k < ask->n_allow; k++)
    if (strcmp(ask->allow[k].text, token) == 0) return true;
  return false;
}

/* A figure with a unit is computed, or quoted from a claim: "134 MB". Sizes of an element are what they are. So is
 * every number in a sentence with one of four words: "64 splits are best"; other words are not looked for. `ask`: NULL:
 * of no question. */
static void check_figures(Lint *l, const LessonAsk *ask, LessonText text) {
  static const char *const RECOMMENDS[4] = {"best", "fastest", "advised", "recommended"};
  int depth = 0;
  bool in_code = false;
  char *to = l->text, number[TOKEN_BYTES], unit[ANSWER_UNIT_BYTES];
  Found f;
  for (const char *p = lesson_text(text); *p && to + 1 < l->text + sizeof l->text; p++) {
    in_code ^= *p == '`';
    depth += (*p == '{') - (*p == '}' && depth);
    *to++ = depth || in_code || *p == '}' ? '#' : *p; /* computed, or a name */
  }
  *to = '\0';
  for (const char *p = l->text; next_number(&p, l->text, &f);) {
    AnswerUnit u;
    Answer typed;
    snprintf(number, sizeof number, "%.*s", f.n, f.number);
    snprintf(unit, sizeof unit, "%.*s", f.n_word, f.word);
    const char *sentence = f.number;
    while (sentence > l->text && !strchr(".\n", sentence[-1])) sentence--;
    const char *recommends = first_word_of(sentence, RECOMMENDS);
    if (recommends && recommends < p + strcspn(p, ".\n") && !(ask && is_allowed(ask, number)))
      report(l, text.line, "'%s %s' is recommended, and typed in; have advise{...} compute it", number, unit);
    if (answer_unit(unit, &u, NULL) || u.dimension < ANSWER_BYTES ||
        answer_parse(number, strlen(number), &typed, NULL) ||
        typed.number * fmax(u.factor, 1 / u.factor) < LITERAL_MAX || (ask && is_allowed(ask, number)))
      continue;
    if (!l->hooks->is_claimed || !l->hooks->is_claimed(l->hooks->context, number, unit))
      report(l, text.line, "'%s %s'%s%s%s is typed in, and no claim prints it; compute it%s%s", number, unit,
             ask ? " of '" : "", ask ? ask->id : "", ask ? "'" : "", ask ? ", or add 'allow: " : "", ask ? number : "");
  }
}

/* What is said with a question: its figures, and no links. */
static void check_texts(Lint *l, const LessonAsk *ask) {
  struct {
    LessonText text;
    const char *what;
  } rows[2 + LESSON_HINTS_MAX + LESSON_WRONG_MAX + ANSWER_CHOICES_MAX] = {{ask->prompt, "prompt"},
                                                                          {ask->explain, "explain"}};
  size_t n = 2;
  for (int k = 0; k < ask->n_hints; k++) rows[n].text = ask->hint[k], rows[n++].what = "hint";
  for (int k = 0; k < ask->n_wrong; k++) rows[n].text = ask->wrong[k].text, rows[n++].what = "diagnosis";
  const size_t n_with_figures = n;
  for (int k = 0; k < ask->n_choices; k++) rows[n].text = ask->choice[k].text, rows[n++].what = "option";
  for (size_t k = 0; k < n; k++) {
    if (strstr(lesson_text(rows[k].text), "]("))
      report(l, rows[k].text.line,
             "the %s of '%s' has a link, which is printed as it is written; link the term in the prose", rows[k].what,
             ask->id);
    if (k < n_with_figures) check_figures(l, ask, rows[k].text);
  }
}

static void check_written(Lint *l, const LessonAsk *ask, size_t block) {
  const char *answer = ask->answer.text, *back = points_back(lesson_text(ask->prompt));
  Answer typed;
  const struct {
    bool is_wrong;
    const char *before, *behind; /* the question's name */
  } RULES[] = {
      {ask->is_prediction && !show_follows(l->lesson, block), "nothing is shown after the prediction",
       "; put a show before the next question"},
      {!ask->n_hints && ask->kind != LESSON_WORK, "the question", " has no hint"},
      {!ask->explain.text && !ask->is_prediction, "the question", " has no explain"},
      {ask->tolerance.amount > 0 && !is_step(ask->tolerance.amount), "the tolerance of",
       " begins with neither 1 nor 3, such as 0.3%: half and twice as much are no steps"},
  };
  for (size_t k = 0; k < COUNT_OF(RULES); k++)
    if (RULES[k].is_wrong) report(l, ask->line, "%s '%s'%s", RULES[k].before, ask->id, RULES[k].behind);
  if (ask->kind == LESSON_NUMBER && answer_parse(answer, strlen(answer), &typed, NULL) == STATUS_OK)
    report(l, ask->answer.line, "the answer of '%s' is typed in: %s; compute it", ask->id, answer);
  if (back && !ask->is_prediction)
    report(l, ask->prompt.line, "the prompt of '%s' cannot stand alone: '%.*s' points at what was said before", ask->id,
           (int)strcspn(back, " ,.?"), back);
  for (int k = 0; k < ask->n_hints; k++) {
    const char *hint = ask->hint[k].text;
    if (n_words(hint, strlen(hint)) < HINT_WORDS_MIN)
      report(l, ask->hint[k].line, "the hint '%s' of '%s' says nothing; ask what would bring the learner there", hint,
             ask->id);
  }
  check_texts(l, ask);
}

static void check_header(Lint *l) {
  const Lesson *lesson = l->lesson;
  const int line = lesson->title.line;
  int n_teacher = 0, n_shows = 0, n_predictions = 0;
  for (size_t k = 0; k < lesson->n_blocks; k++) {
    const LessonBlock *b = &lesson->blocks[k];
    n_teacher += b->kind == LESSON_TEACHER;
    n_shows += b->kind == LESSON_SHOW;
    if (b->kind != LESSON_ASK) continue;
    n_predictions += lesson->asks[b->ask].is_prediction;
    check_written(l, &lesson->asks[b->ask], k);
  }
  if (lesson->minutes < MINUTES_MIN || lesson->minutes > MINUTES_MAX)
    report(l, line, "the lesson takes %d minutes; %d to %d are right", lesson->minutes, MINUTES_MIN, MINUTES_MAX);
  if (lesson->n_asks < ASKS_MIN)
    report(l, line, "the lesson has %zu questions; at least %d are asked for", lesson->n_asks, ASKS_MIN);
  if (!n_predictions)
    report(l, line, "nothing is predicted before it is shown; add a question of kind predict, and a show after it");
  if (!n_shows) report(l, line, "the lesson has no picture; add a show");
  if (n_teacher != 1) report(l, line, "the lesson has %d teacher blocks; it needs one", n_teacher);
}

static void check_link(void *context, const char *target, size_t length, int line) {
  Lint *l = context;
  if (length >= 11 && memcmp(target, "glossary.md", 11) == 0) l->has_glossary = true;
  if (l->hooks->check_link) failed(l, l->hooks->check_link(l->hooks->context, target, length, &l->why), line);
}

static void check_links(Lint *l) {
  const LessonLinks links = {l, check_link};
  for (size_t k = 0; k < l->lesson->n_blocks; k++) {
    const LessonBlock *b = &l->lesson->blocks[k];
    if (b->kind != LESSON_PROSE && b->kind != LESSON_TASK && b->kind != LESSON_TEACHER) continue;
    const char *text = b->text.text;
    check_figures(l, NULL, b->text);
    failed(l, lesson_check_markdown(text, strlen(text), l->lesson->file, b->text.line, &links, &l->why), 0);
  }
  if (!l->has_glossary)
    report(l, l->lesson->title.line, "no term is linked to the glossary; write [tile](glossary.md#tile)");
}

/* ---- Answers that stand in texts ----------------------------------------------------------------------------- */

/* How it would be judged, with its word or without. */
static AnswerVerdict verdict_of(const LessonQuestion *q, const Found *f, bool with_word, Answer *typed) {
  char token[TOKEN_BYTES];
  AnswerVerdict verdict = ANSWER_WRONG;
  typed->unit.dimension = ANSWER_PLAIN;
  if (with_word && (f->n_word == 0 || f->n_word > 24)) return verdict;
  snprintf(token, sizeof token, "%.*s%s%.*s", f->n, f->number, with_word ? " " : "", with_word ? f->n_word : 0,
           f->word);
  if (answer_parse(token, strlen(token), typed, NULL) || answer_judge(&q->key, typed, &verdict, NULL))
    verdict = ANSWER_WRONG;
  return verdict;
}

/* Whether a number in the text would be graded right, or nearly. */
static bool holds_answer(const LessonQuestion *q, const char *text) {
  Found f;
  Answer typed;
  for (const char *p = text; next_number(&p, text, &f);)
    for (int with_word = 1; with_word >= 0; with_word--)
      if (verdict_of(q, &f, with_word, &typed) <= ANSWER_ROUGH) return true;
  return false;
}

/* Whether a number in the text, perhaps only one with its unit, would be graded right; `token` is that number. Single
 * digits stand everywhere. */
static bool gives_away(const Lint *l, bool wants_unit, const char *text, char token[TOKEN_BYTES]) {
  const LessonQuestion *q = &l->q;
  const LessonAsk *ask = l->ask;
  const bool is_plain = q->key.unit.dimension == ANSWER_PLAIN,
             is_whole = quantity_is_whole(q->key.value / q->key.unit.factor);
  const char *own = ask->unit.name;
  Found f;
  for (const char *p = text; next_number(&p, text, &f);) {
    if (f.n < 2 || (wants_unit && is_plain && (!*own || strncmp(f.word, own, strlen(own)) != 0))) continue;
    for (int with_word = 1; with_word >= wants_unit; with_word--) {
      Answer typed;
      if (!with_word && is_whole && is_plain && f.n_word && ascii_is_alpha(*f.word)) continue;
      snprintf(token, TOKEN_BYTES, "%.*s", f.n, f.number);
      if (verdict_of(q, &f, with_word, &typed) == ANSWER_RIGHT) {
        if (!is_allowed(ask, token)) return true;
        break;
      }
      if (with_word && typed.unit.dimension != ANSWER_PLAIN) break; /* a unit of its own was judged */
    }
  }
  return false;
}

static void check_given_away(Lint *l, const char *text, const char *where, int line) {
  const LessonAsk *ask = l->ask;
  char token[TOKEN_BYTES];
  if (ask->kind == LESSON_CHOICE && strcmp(where, "hint") == 0 && strlen(l->q.answer) >= 8 &&
      strcasestr(text, l->q.answer))
    report(l, line, "a hint of '%s' holds the right choice, word for word", ask->id);
  if (ask->kind == LESSON_NUMBER && gives_away(l, false, text, token))
    report(l, line, "the %s of '%s' gives the answer away: %s; if it stands there for another reason, add 'allow: %s'",
           where, ask->id, token, token);
}

/* ---- One variant of the draws, from top to bottom ------------------------------------------------------------ */

static void check_equations(Lint *l, const char *text, int line) {
  char found[EQUATION_BYTES];
  if (equation_is_false(text, found)) report(l, line, "it says '%s', and that is not so", found);
}

/* Fills a text in, into l->text. */
static bool fill(Lint *l, LessonText text) {
  return !failed(l, lesson_run_fill(&l->run, text, l->text, sizeof l->text, &l->why), 0);
}

static void check_wrong(Lint *l) {
  const LessonQuestion *q = &l->q;
  const LessonAsk *ask = l->ask;
  for (int k = 0; k < ask->n_wrong; k++) {
    const LessonWrong *a = &q->wrong[k];
    const int line = ask->wrong[k].key.line;
    const char *written = ask->wrong[k].key.text;
    const Answer typed = {.number = a->value / q->key.unit.factor, .digits = 99};
    AnswerVerdict verdict = ANSWER_WRONG;
    if (!a->is_known && l->is_strict) report(l, line, "the wrong answer '%s' of '%s' is right", written, ask->id);
    if (ask->kind == LESSON_NUMBER && a->is_known) answer_judge(&q->key, &typed, &verdict, NULL);
    if (verdict == ANSWER_RIGHT) /* it would never be diagnosed */
      report(l, line, "the wrong answer '%s' of '%s' lies within the tolerance", written, ask->id);
    for (int other = 0; other < k && l->is_strict; other++) {
      const LessonWrong *b = &q->wrong[other];
      const bool same = ask->kind == LESSON_NUMBER
                            ? fabs(a->value - b->value) <= 1e-9 * fabs(a->value)
                            : memcmp(a->order, b->order, (size_t)q->n_named * sizeof *a->order) == 0;
      if (same)
        report(l, line, "the wrong answers on lines %d and %d of '%s' are the same", ask->wrong[other].key.line, line,
               ask->id);
    }
  }
}

/* What is typed for the right answer (-1), or for a wrong one. */
static void type_answer(const LessonQuestion *q, LessonKind kind, int k, char typed[WORK_TEXT_BYTES]) {
  *typed = '\0';
  if (kind == LESSON_NUMBER)
    snprintf(typed, WORK_TEXT_BYTES, "%.17g %s", (k < 0 ? q->key.value : q->wrong[k].value) / q->key.unit.factor,
             q->key.unit.name);
  else if (k < 0 && kind == LESSON_CHOICE)
    text_add(typed, WORK_TEXT_BYTES, "%c", 'a' + q->right);
  else if (k < 0)
    text_add(typed, WORK_TEXT_BYTES, "%s", kind == LESSON_WORK ? q->work.reference : q->answer);
  else
    for (int c = 0; c < q->n_named; c++)
      text_add(typed, WORK_TEXT_BYTES, "%s%c", c ? " " : "", 'a' + q->wrong[k].order[c]);
}

/* What is said after an answer must be computable too: the right one and each wrong one are graded. */
static void check_grades(Lint *l) {
  const LessonAsk *ask = l->ask;
  if (l->rehearsed) {
    failed(l, lesson_run_explain(&l->run, &l->q, l->text, LESSON_MESSAGE_BYTES, &l->why), 0);
    for (int k = 0; k < ask->n_wrong; k++) fill(l, ask->wrong[k].text);
    return;
  }
  for (int k = -1; k < ask->n_wrong; k++) {
    char typed[WORK_TEXT_BYTES];
    if (k >= 0 && !l->q.wrong[k].is_known) continue;
    type_answer(&l->q, ask->kind, k, typed);
    if (failed(l, lesson_run_grade(&l->run, &l->q, typed, &l->grade, &l->why), 0)) return;
    if (k < 0 && l->grade.verdict != LESSON_RIGHT)
      report(l, ask->line, "the right answer of '%s', typed as '%s', is not graded right: %s", ask->id, typed,
             l->grade.message);
    else if (k >= 0 && l->grade.verdict != LESSON_DIAGNOSED)
      report(l, ask->wrong[k].key.line, "the wrong answer '%s' of '%s' gets no diagnosis", typed, ask->id);
    else
      check_equations(l, l->grade.message, k < 0 ? ask->explain.line : ask->wrong[k].text.line);
  }
  if (ask->kind == LESSON_NUMBER && !failed(l, lesson_run_grade(&l->run, &l->q, l->q.answer, &l->grade, &l->why), 0) &&
      l->grade.verdict != LESSON_RIGHT)
    report(l, ask->line, "the answer of '%s', printed as '%s', is not graded right", ask->id, l->q.answer);
}

static void check_ask(Lint *l, int index) {
  const LessonAsk *ask = l->ask = &l->lesson->asks[index];
  if (failed(l, lesson_run_question(&l->run, index, &l->q, &l->why), 0)) return;
  check_wrong(l);
  check_equations(l, l->q.prompt, ask->prompt.line);
  l->awaits_picture = ask->is_prediction;
  check_given_away(l, l->prose, "prose before the question", ask->line);
  check_given_away(l, l->q.prompt, "prompt", ask->prompt.line);
  for (int k = 0; k < ask->n_hints; k++)
    if (fill(l, ask->hint[k])) {
      check_given_away(l, l->text, "hint", ask->hint[k].line);
      check_equations(l, l->text, ask->hint[k].line);
    }
  check_grades(l);
  l->prose[0] = '\0'; /* what is said with it may give the next away */
  for (int k = 0; k < l->q.n_choices; k++) text_add(l->prose, sizeof l->prose, "%s\n", l->q.choice[k]);
}

/* A number that is predicted stands in its picture, or below it. */
static void check_picture(Lint *l, const LessonBlock *b, const LessonShow *show) {
  char *picture = NULL;
  if (!l->awaits_picture || !l->hooks->picture) return;
  l->awaits_picture = false;
  if (l->ask->kind != LESSON_NUMBER) return;
  const Status status = l->hooks->picture(l->hooks->context, l->state, show, &picture);
  if (status == STATUS_NO_MEMORY) l->no_memory = true;
  if (!status && !holds_answer(&l->q, picture) &&
      !(b->caption.text && fill(l, b->caption) && holds_answer(&l->q, l->text)))
    report(l, b->text.line, "the picture does not hold what '%s' predicts, %s, and neither does its caption",
           l->ask->id, l->q.answer);
  free(picture);
}

/* The state can be shown, and its run is as long as the steps of the show. */
static Status look_at_run(void *data, const LessonView *view, Error *error) {
  const LessonShow *show = data;
  if (!show || !show->has_steps || show->scene == SCENE_SOFTMAX || (uint64_t)show->first < view->n_steps)
    return STATUS_OK;
  return error_refuse(error, "steps begin at %lld, and the run has %llu events", (long long)show->first,
                      (unsigned long long)view->n_steps);
}

static void check_state(Lint *l, const LessonBlock *b, LessonShow *show) {
  if (l->hooks->look_at)
    failed(l, l->hooks->look_at(l->hooks->context, l->state, "", look_at_run, show, &l->why), b->text.line);
}

/* ---- Tasks --------------------------------------------------------------------------------------------------- */

typedef struct {
  Lint *lint;
  const LessonTask *task;
  bool done, is_broken; /* is_broken: the condition itself; reported with its place */
} Look;

static Status look(void *data, const LessonView *view, Error *error) {
  Look *k = data;
  const Status status = lesson_task_check(&k->lint->run, k->task, view, &k->done, error);
  k->is_broken = status != STATUS_OK;
  return status;
}

/* Whether the task is done after a change of the state. `line`: 0: a change that cannot be made does nothing; else it
 * is reported, and *is_known is false. */
static bool is_done_at(Lint *l, const LessonTask *task, const char *change, int line, bool *is_known) {
  Look k = {.lint = l, .task = task};
  const Status status = l->hooks->look_at(l->hooks->context, l->state, change, look, &k, &l->why);
  if (line || l->why.status == STATUS_NO_MEMORY) *is_known &= !failed(l, status, k.is_broken ? 0 : line);
  l->why = (Error){0};
  return !status && k.done;
}

/* Whether a change's key stands among the keys of a text. */
static bool names_key(const char *text, const char *change) {
  const size_t length = strcspn(change, "=");
  for (const char *p = text; *p; p++)
    if ((p == text || strchr(" ,", p[-1])) && strncmp(p, change, length) == 0 && strchr("=-, ", p[length]))
      return true; /* block-q is a kind of block */
  return false;
}

/* What no author means may not do the task; one whose solution has its key may be done by it. */
static void check_odd_moves(Lint *l, const LessonTask *task) {
  static const char *const MOVES[] = {"N=8",      "N=65536",  "d=8",     "d=4096",     "heads=64", "batch=64",
                                      "window=1", "causal=1", "block=1", "dtype=fp32", "dtype=fp8"};
  bool is_known = true;
  for (size_t k = 0; k < COUNT_OF(MOVES); k++)
    if (!names_key(task->solution.text, MOVES[k]) && is_done_at(l, task, MOVES[k], 0, &is_known))
      report(l, task->until.line, "the task is done by '%s', too; pin it in 'until'", MOVES[k]);
}

static void check_task(Lint *l, const LessonTask *task) {
  char change[LESSON_STATE_BYTES];
  bool is_known = true;
  for (int k = 0; k < task->n_hints; k++) fill(l, task->hint[k]);
  if (task->explain.text) fill(l, task->explain);
  if (!task->until.text) return;
  if (!task->n_hints) report(l, task->line, "the task has no hint");
  if (failed(l, lesson_task_solution(&l->run, task, change, sizeof change, &l->why), 0) || !l->hooks->look_at) return;
  const bool at_start = is_done_at(l, task, "", task->line, &is_known);
  const bool at_end = is_known && is_done_at(l, task, change, task->solution.line, &is_known);
  if (!is_known) return;
  if (at_start) report(l, task->until.line, "the task is done before it begins: 'until' is true at its start");
  if (!at_end) report(l, task->solution.line, "the solution does not solve the task: 'until' is false there");
  if (l->is_first && !at_start && at_end) check_odd_moves(l, task);
}

/* ---- Blocks -------------------------------------------------------------------------------------------------- */

static void check_block(Lint *l, const LessonBlock *b) {
  LessonShow show;
  switch (b->kind) {
  case LESSON_PROSE:
  case LESSON_TASK:
    if (!fill(l, b->text)) return;
    check_equations(l, l->text, b->text.line);
    text_add(l->prose, sizeof l->prose, "\n%s", l->text);
    if (b->kind == LESSON_TASK) check_task(l, &l->lesson->tasks[b->task]);
    return;
  case LESSON_TEACHER: fill(l, b->text); return;
  case LESSON_STATE:
    if (!failed(l, lesson_run_state(&l->run, b, l->state, sizeof l->state, &l->why), 0)) check_state(l, b, NULL);
    return;
  case LESSON_SHOW:
    if (!failed(l, lesson_run_show(&l->run, b, &show, &l->why), 0))
      check_state(l, b, &show), check_picture(l, b, &show);
    if (b->caption.text && fill(l, b->caption)) check_equations(l, l->text, b->caption.line);
    return;
  case LESSON_ASK: check_ask(l, b->ask); return;
  default: return;
  }
}

static void check_blocks(Lint *l) {
  l->awaits_picture = false;
  l->prose[0] = l->state[0] = '\0';
  for (size_t k = 0; k < l->lesson->n_blocks && !l->no_memory && !(l->rehearsed && l->rehearsed->status); k++)
    check_block(l, &l->lesson->blocks[k]);
  lesson_run_end(&l->run);
}

static void check_variant(Lint *l, const ExpressionLimits *limits, int variant) {
  l->is_first = variant == 0;
  l->is_strict = l->is_first || !l->lesson->has_range;
  if (!failed(l, lesson_run_start_variant(&l->run, l->lesson, limits, variant, &l->why), 0)) check_blocks(l);
}

/* ---- Sheets: what twelve learners are given -------------------------------------------------------------------
 *
 * To every marked question they have answers of their own, or the lesson says why not: with 50 values to draw from, at
 * least ten of twelve differ. And what is printed on the way is no later answer: not on the page's sheet, and on
 * REPEATS_MAX of the learners' at most, where numbers may coincide. */

/* Whether `text` has a line that stands in neither of the two others; without their indentation. */
static bool has_line_beside(const char *text, const char *a, const char *b) {
  for (const char *line = text + strspn(text, " \n"); *line; line += strspn(line, " \n")) {
    const size_t length = strcspn(line, "\n");
    bool is_there = false;
    for (int k = 0; k < 2; k++)
      for (const char *p = k ? b : a; *(p += strspn(p, " \n")) && !is_there; p += strcspn(p, "\n"))
        is_there = strcspn(p, "\n") == length && memcmp(p, line, length) == 0;
    if (!is_there) return true;
    line += length;
  }
  return false;
}

/* Two programs on one sheet: what one lacks must not stand in the other as it begins. */
static Status check_programs(Lint *l, int a) {
  const Lesson *lesson = l->lesson;
  Status status = STATUS_OK;
  for (int b = 0; b < (int)lesson->n_asks && !status; b++) {
    if (b == a || lesson->asks[b].kind != LESSON_WORK) continue;
    status = lesson_run_question(&l->run, b, &l->other, &l->why);
    if (!status && !has_line_beside(l->q.work.reference, l->q.work.start, l->other.work.start))
      report(l, lesson->asks[a].line, "what '%s' asks for stands in the program that '%s' begins with",
             lesson->asks[a].id, lesson->asks[b].id);
  }
  return status;
}

/* Learner 0 has the numbers of the page. */
static Status check_sheet_ask(Lint *l, int a, int learner) {
  const LessonAsk *ask = l->ask = &l->lesson->asks[a];
  char token[TOKEN_BYTES];
  const bool is_work = ask->kind == LESSON_WORK;
  Status status = lesson_run_question(&l->run, a, &l->q, &l->why);
  if (status) return status;
  if (learner > 0)
    l->answers[a][learner - 1] = is_work ? (double)(lesson_run_stream(l->q.own, "", "") >> 11) : l->q.key.value;
  if (is_work) return learner ? STATUS_OK : check_programs(l, a);
  if (ask->kind == LESSON_NUMBER && !ask->is_prediction && gives_away(l, true, l->prose, token)) {
    l->n_repeats[a] += learner ? 1 : 1 + REPEATS_MAX;
    memcpy(l->repeat[a], token, sizeof token);
  }
  text_add(l->prose, sizeof l->prose, "%s\n", l->q.answer);
  if (!ask->explain.text) return STATUS_OK;
  status = lesson_run_explain(&l->run, &l->q, l->text, LESSON_MESSAGE_BYTES, &l->why);
  text_add(l->prose, sizeof l->prose, "%s\n", l->text);
  return status;
}

static Status check_sheet(Lint *l, const ExpressionLimits *limits, int learner) {
  const Lesson *lesson = l->lesson;
  l->prose[0] = '\0';
  Status status = lesson_run_start(&l->run, lesson, limits, LESSON_PAGE_SEED + (uint64_t)learner, &l->why);
  for (size_t k = 0; k < lesson->n_blocks && !status; k++) {
    const LessonBlock *b = &lesson->blocks[k];
    if (b->kind == LESSON_ASK) status = check_sheet_ask(l, b->ask, learner);
    if (b->kind != LESSON_SHOW || !b->caption.text) continue;
    status = lesson_run_fill(&l->run, b->caption, l->text, LESSON_MESSAGE_BYTES, &l->why);
    text_add(l->prose, sizeof l->prose, "%s\n", l->text);
  }
  lesson_run_end(&l->run);
  return status;
}

static int n_different(const double *values, int n) {
  int different = 0;
  for (int k = 0, first; k < n; k++) {
    for (first = 0; first < k && values[first] != values[k];) first++;
    different += first == k;
  }
  return different;
}

static void check_sheets(Lint *l, const ExpressionLimits *limits) {
  for (int k = 0; k <= LEARNERS; k++)
    if (failed(l, check_sheet(l, limits, k), 0)) return;
  for (size_t a = 0; a < l->lesson->n_asks; a++) {
    const LessonAsk *ask = &l->lesson->asks[a];
    const int n = n_different(l->answers[a], LEARNERS);
    if (!ask->is_prediction && !ask->fixed.text && n < ANSWERS_MIN)
      report(l, ask->line,
             "%d learners have %d answer%s to '%s'; draw from 50 values or more ('draw: N from 1024 to 8192 by 64'), "
             "or say why not with 'fixed: ...'",
             LEARNERS, n, n == 1 ? "" : "s", ask->id);
    if (l->n_repeats[a] > REPEATS_MAX)
      report(l, ask->line, "the answer to '%s' is printed before it: %s; draw other numbers, or add 'allow: %s'",
             ask->id, l->repeat[a], l->repeat[a]);
  }
}

/* ---- All of it: what does not depend on the draws comes once, and variants stop at the first that has findings --- */

Status lesson_lint(const Lesson *lesson, const ExpressionLimits *limits, const LessonHooks *hooks, int *n_findings,
                   Error *error) {
  Lint *l = calloc(1, sizeof *l);
  if (!l) return error_no_memory(error, "to check %s", lesson->file);
  l->lesson = lesson;
  l->hooks = hooks;
  check_header(l);
  check_links(l);
  const int before = l->n_findings;
  for (int k = 0; k < lesson->n_variants && l->n_findings == before && !l->no_memory; k++) check_variant(l, limits, k);
  if (l->n_findings == before && !l->no_memory) check_sheets(l, limits);
  *n_findings = l->n_findings;
  const bool no_memory = l->no_memory;
  free(l);
  return no_memory ? error_no_memory(error, "to check %s", lesson->file) : STATUS_OK;
}

Status lesson_rehearse(const Lesson *lesson, const ExpressionLimits *limits, const LessonHooks *hooks, uint64_t seed,
                       Error *error) {
  Error first = {0};
  Lint *l = calloc(1, sizeof *l);
  if (!l) return error_no_memory(error, "for a lesson");
  *l = (Lint){.lesson = lesson, .hooks = hooks, .rehearsed = &first};
  if (!failed(l, lesson_run_start(&l->run, lesson, limits, seed, &l->why), 0)) check_blocks(l);
  if (l->no_memory) error_no_memory(&first, "for a lesson");
  free(l);
  return error_pass(error, &first);
}
