/* Inside lessons/: what the parts of lesson_session.h share. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_SESSION_INNER_H
#define TILEWALK_LESSONS_ENGINE_LESSON_SESSION_INNER_H

#include "lessons/engine/lesson_session.h"

void session_changed(LessonSession *s);

/* Of what noted its error in s->error, where the first stays: whether there was one, which changes the page. */
bool session_failed(LessonSession *s, Status status);

/* Computes a question: when it is asked, and again before its texts are filled in, which know its drawn numbers. */
bool session_open_ask(LessonSession *s, int ask);

/* Goes on behind what is open. */
void session_pass(LessonSession *s);

/* Adds the answer as it stands to the record. */
void session_keep_answer(LessonSession *s, int ask);

/* The first answer was wrong, or the right one is asked for: it is to be practised. */
void session_missed(LessonSession *s, int ask);

/* The open question: a choice or an item of an order, by its place; what was put in. */
void session_choose(LessonSession *s, int place);
void session_check(LessonSession *s);

#endif
