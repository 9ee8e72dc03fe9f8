/* The open question: typing, hints and grading. Part of lessons/engine/lesson_session.h. */
#include <stdlib.h>

#include "lessons/engine/lesson_session_inner.h"
#include "lessons/engine/lesson_read.h"
#include "sim/base/ascii.h"
#include "sim/base/text_add.h"

bool lesson_session_is_typed(const LessonSession *s, int ask) {
  return ask >= 0 && s->lesson.asks[ask].kind == LESSON_NUMBER;
}

void lesson_session_type(LessonSession *s, const char *text) {
  const int ask = lesson_session_ask(s);
  if (!lesson_session_is_typed(s, ask)) return;
  char *typed = s->answers[ask].typed;
  size_t used = s->answers[ask].is_stale ? 0 : strlen(typed);
  s->answers[ask].is_stale = false;
  for (; *text && used + 1 < LESSON_TYPED_BYTES; text++)
    if ((unsigned char)*text >= 32 && *text != 127) typed[used++] = *text;
  while (used > 0 && *text && ((unsigned char)typed[used - 1] & 0x80)) used--; /* no half of a character */
  typed[used] = '\0';
  session_changed(s);
}

void lesson_session_erase(LessonSession *s) {
  const int ask = lesson_session_ask(s);
  if (ask < 0) return;
  LessonAnswer *a = &s->answers[ask];
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
  const int ask = lesson_session_ask(s), task = lesson_session_task(s);
  if (ask >= 0) {
    const LessonAsk *a = &s->lesson.asks[ask];
    const LessonWork *work = a->kind == LESSON_WORK ? &s->questions[ask].work : NULL;
    return (Hints){&s->answers[ask].hints, a->hint, work, work ? work->n_hints : a->n_hints};
  }
  if (task < 0) return (Hints){NULL, NULL, NULL, 0};
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
static int place_of(const LessonSession *s, int ask, const char *typed) {
  if (s->lesson.asks[ask].kind != LESSON_CHOICE || !*typed || typed[1]) return -1;
  const int place = ascii_lower(*typed) - 'a';
  return place >= 0 && place < s->questions[ask].n_choices ? place : -1;
}

/* What is handed in of a question: the first answer, or a file that passes. "Nearly" is asked again. */
static void keep_first(LessonSession *s, int ask, const char *typed, LessonVerdict verdict) {
  const LessonAsk *a = &s->lesson.asks[ask];
  const bool stands = verdict == LESSON_NOT_RIGHT || verdict == LESSON_DIAGNOSED;
  if (a->is_prediction || s->answers[ask].is_from_before || strlen(typed) >= LESSON_HANDED_IN_BYTES) return;
  if (verdict != LESSON_RIGHT && (!stands || a->kind == LESSON_WORK)) return;
  lesson_progress_first(&s->progress, s->lesson.name, a->id, typed);
  session_failed(s, lesson_progress_save(&s->progress, &s->error));
}

void lesson_session_grade(LessonSession *s, const char *typed) {
  const int ask = lesson_session_ask(s);
  LessonGrade g;
  session_changed(s);
  const bool is_graded = ask >= 0 && session_open_ask(s, ask) &&
                         !session_failed(s, lesson_run_grade(&s->run, &s->questions[ask], typed, &g, &s->error));
  if (is_graded) {
    const int place = place_of(s, ask, typed);
    LessonAnswer *a = &s->answers[ask];
    a->has_verdict = a->is_stale = true;
    a->verdict = g.verdict;
    a->said_at = s->version;
    snprintf(a->said, sizeof a->said, "%s", g.message);
    if (s->lesson.asks[ask].kind == LESSON_NUMBER || s->lesson.asks[ask].is_prediction)
      snprintf(a->typed, sizeof a->typed, "%.*s", LESSON_TYPED_BYTES - 1,
               place >= 0 ? s->questions[ask].choice[place] : typed);
    if (g.verdict == LESSON_NOT_RIGHT || g.verdict == LESSON_DIAGNOSED) session_missed(s, ask);
    keep_first(s, ask, typed, g.verdict);
    a->tries += g.verdict != LESSON_UNREADABLE;
    a->is_resolved = g.verdict == LESSON_RIGHT || (s->lesson.asks[ask].is_prediction && g.verdict != LESSON_UNREADABLE);
    a->is_right = g.verdict == LESSON_RIGHT;
    a->resolved_at = s->version;
    if (a->is_resolved && s->lesson.asks[ask].is_prediction)
      session_pass(s);
    else if (a->is_resolved)
      session_keep_answer(s, ask);
    else if (place >= 0)
      a->tried |= 1u << place;
    if (a->verdict == LESSON_NOT_RIGHT && !a->is_resolved && s->lesson.asks[ask].kind != LESSON_WORK)
      lesson_session_hint(s); /* a file is judged at every save: there hints are asked for */
  }
}

void session_choose(LessonSession *s, int place) {
  const int ask = lesson_session_ask(s);
  if (ask < 0 || place < 0 || place >= s->questions[ask].n_choices) return;
  LessonAnswer *a = &s->answers[ask];
  if (s->lesson.asks[ask].kind == LESSON_CHOICE) {
    if (!(a->tried & 1u << place)) lesson_session_grade(s, (const char[]){(char)('a' + place), '\0'});
    return;
  }
  if (s->lesson.asks[ask].kind != LESSON_ORDER) return;
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
  const int ask = lesson_session_ask(s);
  if (ask < 0) return;
  const LessonAnswer *a = &s->answers[ask];
  char typed[LESSON_TYPED_BYTES] = "";
  if (s->lesson.asks[ask].kind == LESSON_WORK) {
    if (s->written && s->written_for == ask) lesson_session_grade(s, s->written);
    return;
  }
  if (s->lesson.asks[ask].kind == LESSON_ORDER) {
    if (a->n_order < s->questions[ask].n_choices) return;
    for (int k = 0; k < a->n_order; k++) text_add(typed, sizeof typed, "%c ", 'a' + a->order[k]);
  } else if (lesson_session_is_typed(s, ask)) {
    const char *from = a->typed;
    while (ascii_is_space(*from)) from++;
    snprintf(typed, sizeof typed, "%s", from);
  }
  if (*typed) lesson_session_grade(s, typed);
}
