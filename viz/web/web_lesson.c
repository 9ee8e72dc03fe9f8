/* Lessons in a page: the session that terminal and window have too, its page (lessons/engine/lesson_page.h) as HTML.
 *
 *     web_lesson_press("check", 0)  ->  session  ->  web_lesson_page() = "<p>...<button data-press=...>"
 */
#include <stdlib.h>

#include "lessons/engine/lesson_class.h"
#include "viz/lesson/lesson_library.h"
#include "viz/lesson/lesson_player.h"
#include "viz/story/story_file.h"
#include "viz/web/lesson_html.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"

static LessonSession session;
static Html html;
static LessonPlayer beside;
static bool is_open;

/* What the learner's page says, as HTML; valid until the next call. What comes last is in <section id="open">. */
EXPORT const char *web_lesson_page(void) {
  if (!is_open) return "";
  html.session = &session;
  lesson_html_page(&html);
  return html_text(&html);
}

/* ---- What a learner does --------------------------------------------------------------------------------- */

/* `seed`: the learner's own number; "": the one that the lesson was begun with, or 1. Returns "", or why not. */
EXPORT const char *web_lesson_open(const char *name, bool restart, const char *seed) {
  static Error error;
  const LessonSessionOptions options = {.restart = restart, .has_seed = *seed, .seed = strtoull(seed, NULL, 10)};
  if (is_open) lesson_session_close(&session);
  error = (Error){0};
  is_open = !lesson_player_open(&session, name, &options, stderr, &error);
  beside.player = web_player();
  const LessonViewer viewer = lesson_player_viewer(&beside);
  if (is_open)
    lesson_session_start(&session, &viewer);
  else
    lesson_session_close(&session);
  web_changed();
  return error.message;
}

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
  html.out.used = 0;
  char *text = is_open ? lesson_progress_hand_in(&session.progress, session.lesson.name, student, &n) : NULL;
  if (text && n) html_put(&html, "%s", text);
  free(text);
  return html_text(&html);
}

/* ---- Lists ----------------------------------------------------------------------------------------------- */

static void put_story(void *document, const char *name, const char *title) {
  put_values(document, "{name:s title:s}", name, title);
}

static Status put_graded(void *document, const ClassRow *row, Error *error) {
  (void)error;
  put_values(document, "{student:s lesson:s id:s answer:s verdict:s remark:s seed:u counts:b right:b}", row->student,
             row->lesson, row->id, row->answer, row->verdict, row->remark, row->seed, row->counts, row->is_right);
  return STATUS_OK;
}

/* What was handed in (lessons/engine/lesson_submission.h), graded with the seeds that it names: {"rows": [{"student",
 * "lesson", "id", "answer", "verdict", "remark", "seed", "counts", "right"}...]}, or {"error"}. */
EXPORT const char *web_lesson_grade(const char *text, const char *file) {
  const ClassRules rules = {.load = lesson_load_named, .limits = &LESSON_LIMITS, .seed = 1, .trust_seeds = true};
  Submission submission = {0};
  ClassSum sum;
  Error error = {0};
  Document *d = web_begin();
  put_values(d, "rows[");
  Status status = submission_add(&submission, text, strlen(text), file, &error);
  if (!status) status = lesson_class_grade(&submission, &rules, put_graded, d, &sum, &error);
  submission_free(&submission);
  put_end(d);
  if (status) put_values(d, "error:s", error.message);
  return web_end();
}

/* {"lessons": [{"name", "title", "idea", "minutes", "right", "counted", "begun", "finished"}...], "stories": [{"name",
 * "title"}...]} */
EXPORT const char *web_lesson_list(void) {
  LessonShelf shelf = {0};
  LessonProgress progress;
  Error error = {0};
  Document *d = web_begin();
  const bool has_progress = !lesson_progress_open(&progress, stderr, &error);
  put_values(d, "lessons[");
  while (lesson_next(&shelf, &error)) {
    const Lesson *l = &shelf.lesson;
    if (shelf.why.status) continue;
    const LessonStanding s = has_progress ? lesson_progress_of(&progress, l->name) : (LessonStanding){0};
    put_values(d, "{name:s title:s idea:s minutes:n right:n counted:n begun:b finished:b}", l->name, l->title.text,
               l->idea.text, l->minutes, s.n_right, lesson_n_counted(l), s.has_begun, s.is_finished);
  }
  lesson_progress_close(&progress);
  put_values(d, "] stories[");
  story_list(put_story, d, NULL);
  return web_end();
}

/* An entry of the glossary as HTML; "" none. */
EXPORT const char *web_lesson_glossary(const char *anchor) {
  char heading[256], text[4096];
  Error error = {0};
  if (lesson_glossary(anchor, heading, sizeof heading, text, sizeof text, &error)) return "";
  html.out.used = 0;
  html_put(&html, "<h3>%e</h3>\n", heading);
  html_markdown(&html, text);
  return html_text(&html);
}
