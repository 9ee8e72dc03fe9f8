/* The open question: typing, hints and grading. Part of lessons/engine/lesson_session.h. */
#include <stdlib.h>

#include "lessons/engine/lesson_session_inner.h"
#include "lessons/engine/lesson_read.h"
#include "sim/base/ascii.h"
#include "sim/base/text_add.h"

bool lesson_session_is_typed(const LessonSession *s, int ask) {
  return ask >= 0 && s->lesson.asks[ask].kind == LESSON_NUMBER;
}

/* The open question, as it is written, computed, and left by the learner; `n` -1: none is open. */
typedef struct {
  int n;
  const LessonAsk *ask;
  const LessonQuestion *q;
  LessonAnswer *a;
} Open;

static Open open_of(const LessonSession *s) {
  const int n = lesson_session_ask(s);
  return n < 0 ? (Open){.n = n} : (Open){n, &s->lesson.asks[n], &s->questions[n], &s->answers[n]};
}

void lesson_session_type(LessonSession *s, const char *text) {
  const Open o = open_of(s);
  if (!lesson_session_is_typed(s, o.n)) return;
  char *typed = o.a->typed;
  size_t used = o.a->is_stale ? 0 : strlen(typed);
  o.a->is_stale = false;
  for (; *text && used + 1 < LESSON_TYPED_BYTES; text++)
    if ((unsigned char)*text >= 32 && *text != 127) typed[used++] = *text;
  while (used > 0 && *text && ((unsigned char)typed[used - 1] & 0x80)) used--; /* no half of a character */
  typed[used] = '\0';
  session_changed(s);
}

void lesson_session_erase(LessonSession *s) {
  LessonAnswer *a = open_of(s).a;
  if (!a) return;
  if (a->n_order > 0) a->n_order--;
  a->is_stale = false;
  size_t n = strlen(a->typed);
  while (n > 0 && ((unsigned char)a->typed[n - 1] & 0xC0) == 0x80) n--;
  a->typed[n ? n - 1 : 0] = '\0';
  session_changed(s);
}

void lesson_session_write(LessonSession *s, const char *text) {
  const int ask = lesson_session_ask(s);
  char *own = ask >= 0 ? malloc(strlen(text) + 1) : NULL;
  if (!own) return;
  free(s->written);
  s->written = strcpy(own, text);
  s->written_for = ask;
}

/* Of what is open: the hints that were given, and all that there are: the lesson's, or those of a task that asks for a
 * file. */
typedef struct {
  LessonHints *given; /* NULL: nothing is open */
  const LessonText *written;
  const LessonWork *work; /* NULL: they are the lesson's */
  int n;
} Hints;

static Hints hints_of(const LessonSession *s) {
  const Open o = open_of(s);
  const int task = lesson_session_task(s);
  if (o.a && o.ask->kind == LESSON_WORK) return (Hints){&o.a->hints, NULL, &o.q->work, o.q->work.n_hints};
  if (o.a) return (Hints){&o.a->hints, o.ask->hint, NULL, o.ask->n_hints};
  if (task < 0) return (Hints){.n = 0};
  return (Hints){&s->deeds[task].hints, s->lesson.tasks[task].hint, NULL, s->lesson.tasks[task].n_hints};
}

int lesson_session_hints_left(const LessonSession *s) {
  const Hints h = hints_of(s);
  return h.given ? h.n - h.given->n : 0;
}

bool lesson_session_hint(LessonSession *s) {
  char text[LESSON_MESSAGE_BYTES];
  const Hints h = hints_of(s);
  const int ask = lesson_session_ask(s), n = h.given ? h.given->n : 0;
  if (n >= h.n || (ask >= 0 && !session_open_ask(s, ask))) return false;
  if (h.work)
    snprintf(text, sizeof text, "%s", h.work->hint[n]);
  else
    lesson_session_fill(s, h.written[n], text, sizeof text);
  if (s->error.status) return false;
  lesson_one_line(text);
  snprintf(h.given->text[n], LESSON_HINT_BYTES, "%.*s", LESSON_HINT_BYTES - 1, text);
  session_changed(s);
  h.given->at[h.given->n++] = s->version;
  return true;
}

/* The place of a choice that is named by its letter; -1. */
static int place_of(const Open *o, const char *typed) {
  const int place = o->ask->kind == LESSON_CHOICE && *typed && !typed[1] ? ascii_lower(*typed) - 'a' : -1;
  return place < o->q->n_choices ? place : -1;
}

/* What is handed in of a question: the first answer, or a file that passes. "Nearly" is asked again. */
static void keep_first(LessonSession *s, const Open *o, const char *typed) {
  const LessonVerdict verdict = o->a->verdict;
  const bool stands = (verdict == LESSON_NOT_RIGHT || verdict == LESSON_DIAGNOSED) && o->ask->kind != LESSON_WORK;
  if (o->ask->is_prediction || o->a->is_from_before || strlen(typed) >= LESSON_HANDED_IN_BYTES ||
      (verdict != LESSON_RIGHT && !stands))
    return;
  lesson_progress_first(&s->progress, s->lesson.name, o->ask->id, typed);
  session_failed(s, lesson_progress_save(&s->progress, &s->error));
}

void lesson_session_grade(LessonSession *s, const char *typed) {
  const Open o = open_of(s);
  LessonAnswer *a = o.a;
  LessonGrade g;
  session_changed(s);
  if (!a || !session_open_ask(s, o.n) || session_failed(s, lesson_run_grade(&s->run, o.q, typed, &g, &s->error)))
    return;
  const bool predicts = o.ask->is_prediction, is_wrong = g.verdict == LESSON_NOT_RIGHT || g.verdict == LESSON_DIAGNOSED;
  const int place = place_of(&o, typed);
  a->has_verdict = a->is_stale = true;
  a->verdict = g.verdict;
  a->said_at = s->version;
  snprintf(a->said, sizeof a->said, "%s", g.message);
  if (o.ask->kind == LESSON_NUMBER || predicts)
    snprintf(a->typed, sizeof a->typed, "%.*s", LESSON_TYPED_BYTES - 1, place >= 0 ? o.q->choice[place] : typed);
  if (is_wrong) session_missed(s, o.n);
  keep_first(s, &o, typed);
  a->tries += g.verdict != LESSON_UNREADABLE;
  a->is_right = g.verdict == LESSON_RIGHT;
  a->is_resolved = a->is_right || (predicts && g.verdict != LESSON_UNREADABLE);
  a->resolved_at = s->version;
  if (a->is_resolved && predicts)
    session_pass(s);
  else if (a->is_resolved)
    session_keep_answer(s, o.n);
  else if (place >= 0)
    a->tried |= 1u << place;
  if (g.verdict == LESSON_NOT_RIGHT && !a->is_resolved && o.ask->kind != LESSON_WORK)
    lesson_session_hint(s); /* a file is judged at every save: there hints are asked for */
}

void session_choose(LessonSession *s, int place) {
  const Open o = open_of(s);
  LessonAnswer *a = o.a;
  if (!a || place < 0 || place >= o.q->n_choices) return;
  if (o.ask->kind == LESSON_CHOICE) {
    if (!(a->tried & 1u << place)) lesson_session_grade(s, (const char[]){(char)('a' + place), '\0'});
    return;
  }
  if (o.ask->kind != LESSON_ORDER) return;
  session_changed(s);
  if (a->is_stale) a->n_order = 0; /* the order was graded: another begins */
  a->is_stale = false;
  int at = 0;
  while (at < a->n_order && a->order[at] != place) at++;
  if (at < a->n_order)
    a->n_order = at; /* taken back, with what came after it */
  else
    a->order[a->n_order++] = place;
}

void session_check(LessonSession *s) {
  const Open o = open_of(s);
  char typed[LESSON_TYPED_BYTES] = "";
  if (!o.a) return;
  if (o.ask->kind == LESSON_WORK && s->written && s->written_for == o.n) lesson_session_grade(s, s->written);
  if (o.ask->kind == LESSON_NUMBER) snprintf(typed, sizeof typed, "%s", o.a->typed + strspn(o.a->typed, " \t\n\v\f\r"));
  for (int k = 0; o.ask->kind == LESSON_ORDER && o.a->n_order == o.q->n_choices && k < o.a->n_order; k++)
    text_add(typed, sizeof typed, "%c ", 'a' + o.a->order[k]);
  if (*typed) lesson_session_grade(s, typed);
}
