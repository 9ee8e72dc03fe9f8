/* What --lint says of the words of questions and tasks. Part of lessons/engine/lesson_lint.h. */
#include <stdio.h>
#include <string.h>

#include "lessons/engine/equation.h"
#include "lessons/engine/lesson_lint_inner.h"
#include "sim/base/ascii.h"

enum { HINT_WORDS_MIN = 3, NEAR_WORDS = 6 };

static void check_no_link(Lint *l, LessonText text, const char *what, const char *id) {
  if (text.offset && strstr(lesson_text(l->lesson, text), "]("))
    lint_report(l, text.line,
                "the %s of '%s' has a link, which is printed as it is written; link the term in the prose", what, id);
}

/* Words of text[0..length). */
static int n_words(const char *text, size_t length) {
  int n = 0;
  for (const char *p = text; p < text + length; p++)
    n += ascii_is_alnum((unsigned char)*p) && (p == text || !ascii_is_alnum((unsigned char)p[-1]));
  return n;
}

/* The first of these that stands there as a word; NULL. */
static const char *first_word_of(const char *text, const char *const *words, size_t n) {
  for (const char *p = text; *p; p++) {
    if (p > text && ascii_is_alnum((unsigned char)p[-1])) continue;
    for (size_t k = 0; k < n; k++) {
      const size_t length = strlen(words[k]);
      if (strncmp(p, words[k], length) == 0 && !ascii_is_alnum((unsigned char)p[length])) return p;
    }
  }
  return NULL;
}

/* "And with d = 96?", "How many bytes does it read?": nobody knows who meets the question alone, in an export. */
static void check_context(Lint *l, const LessonAsk *ask) {
  static const char *const GO_ON[] = {"And", "So", "But", "Then"}, *const POINT[] = {"it",   "its",   "they",
                                                                                     "them", "these", "this"};
  const char *text = lesson_text(l->lesson, ask->prompt), *at = first_word_of(text, GO_ON, 4);
  if (ask->is_prediction) return;
  if (at != text) at = first_word_of(text, POINT, 4);
  const size_t before = at ? (size_t)(at - text) : 0;
  const bool has_noun = before && (memchr(text, '.', before) || memchr(text, ',', before) ||
                                   memchr(text, ':', before) || n_words(text, before) >= NEAR_WORDS);
  if (at && !has_noun)
    lint_report(l, ask->prompt.line, "the prompt of '%s' cannot stand alone: '%.*s' points at what was said before",
                ask->id, (int)strcspn(at, " ,.?"), at);
}

void lint_ask_words(Lint *l, const LessonAsk *ask) {
  Answer typed;
  const char *answer = lesson_text(l->lesson, ask->answer);
  check_no_link(l, ask->prompt, "prompt", ask->id);
  check_no_link(l, ask->explain, "explain", ask->id);
  for (int k = 0; k < ask->n_choices; k++) check_no_link(l, ask->choice[k].text, "option", ask->id);
  for (int k = 0; k < ask->n_wrong; k++) check_no_link(l, ask->wrong[k].text, "diagnosis", ask->id);
  for (int k = 0; k < ask->n_hints; k++) {
    check_no_link(l, ask->hint[k], "hint", ask->id);
    const char *hint = lesson_text(l->lesson, ask->hint[k]);
    if (n_words(hint, strlen(hint)) < HINT_WORDS_MIN)
      lint_report(l, ask->hint[k].line, "the hint '%s' of '%s' says nothing; ask what would bring the learner there",
                  hint, ask->id);
  }
  if (ask->kind == LESSON_NUMBER && answer_parse(answer, strlen(answer), &typed, NULL) == STATUS_OK)
    lint_report(l, ask->answer.line, "the answer of '%s' is typed in: %s; compute it", ask->id, answer);
  check_context(l, ask);
}

void lint_equations(Lint *l, const char *text, int line) {
  char found[EQUATION_BYTES];
  if (equation_is_false(text, found)) lint_report(l, line, "it says '%s', and that is not so", found);
}

const char *lint_odd_move(const Lint *l, const LessonTask *task, int index, bool *is_meant) {
  static const char *const MOVES[] = {"N=8",      "N=65536",  "d=8",     "d=4096",     "heads=64", "batch=64",
                                      "window=1", "causal=1", "block=1", "dtype=fp32", "dtype=fp8"};
  if (index == sizeof MOVES / sizeof *MOVES) return NULL;
  const char *const texts[] = {lesson_text(l->lesson, task->solution),
                               task->only.offset ? lesson_text(l->lesson, task->only) : ""};
  const size_t length = strcspn(MOVES[index], "=");
  *is_meant = false;
  for (int t = 0; t < 2; t++)
    for (const char *p = texts[t]; (p = strstr(p, "")) != NULL && *p; p++)
      if ((p == texts[t] || strchr(" ,", p[-1])) && strncmp(p, MOVES[index], length) == 0 && strchr("=-, ", p[length]))
        *is_meant = true; /* block-q is a kind of block */
  return MOVES[index];
}
