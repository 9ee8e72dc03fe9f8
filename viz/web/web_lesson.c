/* Lessons in a page: the session that terminal and window have too, its page (lessons/engine/lesson_page.h) as HTML.
 *
 *     web_lesson_press("check", 0)  ->  session  ->  web_lesson_page() = "<p>...<button data-press=...>"
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/lesson_class.h"
#include "lessons/engine/lesson_file.h"
#include "viz/lesson/lesson_library.h"
#include "viz/lesson/lesson_player.h"
#include "viz/web/lesson_html.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"

static LessonSession session;
static Html html;
static LessonPlayer beside;
static bool is_open;
static Error lesson_error;

/* What the learner's page says, as HTML; valid until the next call. What comes last is in <section id="open">. */
EXPORT const char *web_lesson_page(void) {
  if (!is_open) return "";
  html.session = &session;
  lesson_html_page(&html);
  return html.text ? html.text : "";
}

/* ---- What a learner does --------------------------------------------------------------------------------- */

/* `seed`: the learner's own number; "": the one that the lesson was begun with, or 1. */
EXPORT bool web_lesson_open(const char *name, bool restart, const char *seed) {
  const LessonSessionOptions options = {.restart = restart, .has_seed = *seed, .seed = strtoull(seed, NULL, 10)};
  if (is_open) lesson_session_close(&session);
  lesson_error = (Error){0};
  is_open = !lesson_player_open(&session, name, &options, stderr, &lesson_error);
  beside.player = web_player();
  const LessonViewer viewer = lesson_player_viewer(&beside);
  if (is_open)
    lesson_session_start(&session, &viewer);
  else
    lesson_session_close(&session);
  web_changed();
  return is_open;
}

EXPORT const char *web_lesson_error(void) { return lesson_error.message; }
EXPORT const char *web_lesson_title(void) { return is_open ? session.lesson.title.text : ""; }

/* What stands in the field. */
EXPORT void web_lesson_type(const char *text) {
  const int ask = is_open ? lesson_session_ask(&session) : -1;
  if (ask < 0) return;
  if (session.lesson.asks[ask].kind == LESSON_WORK) {
    lesson_session_write(&session, text);
    return;
  }
  session.answers[ask].typed[0] = '\0';
  session.answers[ask].is_stale = false;
  lesson_session_type(&session, text);
}

/* "choose" and "play" with a number, "check", "hint", "next", "back". */
EXPORT void web_lesson_press(const char *what, int number) {
  for (int act = 0; is_open && act < HTML_ACTS; act++)
    if (strcmp(what, html_act_name((LessonAct)act)) == 0) lesson_session_press(&session, (LessonAct)act, number);
  web_changed();
}

/* The player may have moved: whether the page says something else now. */
EXPORT bool web_lesson_look(void) { return is_open && lesson_session_look(&session); }

/* What a student hands in of this lesson, as JSON; "" nothing was answered yet. */
EXPORT const char *web_lesson_hand_in(const char *student) {
  int n = 0;
  html.n = 0;
  html_put(&html, "");
  char *text = is_open ? lesson_progress_hand_in(&session.progress, session.lesson.name, student, &n) : NULL;
  if (text && n) html_put(&html, text);
  free(text);
  return html.text;
}

/* ---- Lists ----------------------------------------------------------------------------------------------- */

static Status put_row(void *rows, const ClassRow *row, Error *error) {
  (void)error;
  json_array_append_new(rows, json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:b,s:b}", "student", row->student, "lesson",
                                        row->lesson, "id", row->id, "answer", row->answer, "verdict", row->verdict,
                                        "remark", row->remark, "seed", (json_int_t)row->seed, "counts", row->counts,
                                        "right", row->is_right));
  return STATUS_OK;
}

/* What was handed in (lessons/engine/lesson_submission.h), graded with the seeds that it names: [{"student", "lesson",
 * "id", "answer", "verdict", "remark", "seed", "counts", "right"}...], or "" and web_lesson_error. */
EXPORT const char *web_lesson_grade(const char *text, const char *file) {
  const ClassRules rules = {.load = lesson_load_named, .limits = &LESSON_LIMITS, .seed = 1, .trust_seeds = true};
  Submission submission = {0};
  ClassSum sum;
  json_t *rows = json_array();
  lesson_error = (Error){0};
  Status status = submission_add(&submission, text, strlen(text), file, &lesson_error);
  if (!status) status = lesson_class_grade(&submission, &rules, put_row, rows, &sum, &lesson_error);
  submission_free(&submission);
  const char *graded = web_json(rows);
  return status || !graded ? "" : graded;
}

/* [{"name", "title", "idea", "minutes", "right", "counted", "begun", "finished"}...] */
EXPORT const char *web_lesson_list(void) {
  LessonShelf shelf = {0};
  LessonProgress progress;
  Error error = {0};
  json_t *rows = json_array();
  const bool has_progress = !lesson_progress_open(&progress, stderr, &error);
  while (lesson_next(&shelf, &error)) {
    const Lesson *l = &shelf.lesson;
    if (shelf.why.status) continue;
    const LessonStanding s = has_progress ? lesson_progress_of(&progress, l->name) : (LessonStanding){0};
    json_array_append_new(rows, json_pack("{s:s,s:s,s:s,s:i,s:i,s:i,s:b,s:b}", "name", l->name, "title", l->title.text,
                                          "idea", l->idea.text, "minutes", l->minutes, "right", s.n_right, "counted",
                                          lesson_n_counted(l), "begun", s.has_begun, "finished", s.is_finished));
  }
  lesson_progress_close(&progress);
  const char *text = web_json(rows);
  return text ? text : "[]";
}

/* An entry of the glossary as HTML; "" none. */
EXPORT const char *web_lesson_glossary(const char *anchor) {
  char heading[256], text[4096];
  Error error = {0};
  if (lesson_glossary(anchor, heading, sizeof heading, text, sizeof text, &error)) return "";
  html.n = 0;
  html_put(&html, "<h3>");
  html_escaped(&html, heading);
  html_put(&html, "</h3>\n");
  html_markdown(&html, text);
  return html.text;
}
