/* What a page of a lesson says, in reading order: one document for the terminal, the window and the browser, which draw
 * its parts each in their own way.
 *
 *     session  --lesson_page_make-->  parts: heading, prompt, options, field, verdict, hints, buttons, figure, ...
 *
 * Of each part it is known when it was said, so that a terminal can print what is new. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_PAGE_H
#define TILEWALK_LESSONS_ENGINE_LESSON_PAGE_H

#include "lessons/engine/lesson_session.h"

typedef enum {
  PART_TITLE = 0,
  PART_IDEA,
  PART_PROSE,   /* Markdown */
  PART_HEADING, /* of a question or a task */
  PART_PROMPT,  /* words with `code` */
  PART_OPTION,  /* words: its letter */
  PART_FIELD,   /* where a number, a letter, an order is typed; words: the unit, of which number: a count; text: what is
                 typed. Of a file: its name, and what is in it */
  PART_CODE,    /* text: a program that passes */
  PART_ANSWERED,  /* words: "Your answer", text: what it was */
  PART_PREDICTED, /* the same of a prediction, before its show */
  PART_VERDICT,   /* words: "Right.", text: more about it */
  PART_ANSWER,    /* the same: words "The answer is 64 MiB", without a full stop */
  PART_REVEAL,    /* the same after a show, words "The answer: 64 MiB" */
  PART_HINT,      /* words: "Hint 1 of 2.", text */
  PART_FIGURE,    /* the show of its block */
  PART_TO_DO,     /* a task waits; the same beside a viewer */
  PART_BUTTON,    /* text */
  PART_END,       /* words: "3 of 4" right */
} LessonPartKind;

typedef enum { TONE_PLAIN = 0, TONE_GOOD, TONE_WARN, TONE_BAD, TONE_ACCENT } LessonTone;
typedef enum { LOOK_NORMAL = 0, LOOK_MAIN, LOOK_OFF, LOOK_RIGHT, LOOK_WRONG, LOOK_TAKEN } LessonLook;

typedef struct {
  LessonPartKind kind;
  LessonKind ask; /* of a question's parts: its kind */
  LessonTone tone;
  LessonLook look; /* of an option or a button */
  const char *words, *text;
  LessonAct act; /* what a press on it does, with `number` */
  int number;
  int place; /* of an option in an order, from 1; 0: none */
  size_t block;
  unsigned at; /* the version of the session when it was said; 0: it came with its block */
} LessonPart;

/* Zeros: empty. */
typedef struct {
  Pool pool;
  LessonPart *parts;
  size_t n, capacity;
  size_t open; /* the first part of the block that is open, or of the last one */
  char filled[LESSON_PROSE_BYTES];
} LessonPage;

/* Makes the page that the session is on. The first error of the lesson stays in the session, and ends the page. */
void lesson_page_make(LessonPage *page, LessonSession *session);
void lesson_page_free(LessonPage *page);

#endif
